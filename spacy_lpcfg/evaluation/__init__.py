"""Evaluation of trees and probabilities: EVALB, unlabelled brackets, calibration of probabilities."""
