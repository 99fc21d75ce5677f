"""A discriminative layer over the posteriors of a grammar: from the edges of a span to how likely it is a bracket."""

from spacy_lpcfg.stacking.fitting import LayerSettings
from spacy_lpcfg.stacking.layer import SpanLayer
from spacy_lpcfg.stacking.learner import StackedLearner
from spacy_lpcfg.stacking.parser import StackedParser
from spacy_lpcfg.stacking.stacked import Stacked

__all__ = ["LayerSettings", "SpanLayer", "Stacked", "StackedLearner", "StackedParser"]
