"""How good trees and probabilities are: EVALB, unlabelled brackets, calibration, significance."""
