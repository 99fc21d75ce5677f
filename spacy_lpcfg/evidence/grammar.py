"""The model that combines a grammar with evidence, and the creation of its parser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from spacy_lpcfg.chart.evidence_parser import EvidenceParser, EvidenceWeights
from spacy_lpcfg.chart.settings import ChartSettings
from spacy_lpcfg.checks import shown
from spacy_lpcfg.evidence.features import FeatureEvidence
from spacy_lpcfg.evidence.model import EncoderEvidence
from spacy_lpcfg.evidence.pipeline import PipelineEvidence
from spacy_lpcfg.grammar.backoff import backoff_bytes
from spacy_lpcfg.grammar.grammar import Grammar
from spacy_lpcfg.parsing.decodings import MBR, Decoding
from spacy_lpcfg.parsing.model import ModelError, ParsingModel
from spacy_lpcfg.storage.container import with_prefixes, without_prefixes
from spacy_lpcfg.storage.validation import is_number
from spacy_lpcfg.words.tag_dictionary import NO_TAGS, TagDictionary

AnyEvidence = EncoderEvidence | FeatureEvidence | PipelineEvidence
_EVIDENCE: Mapping[str, type[AnyEvidence]] = {
    evidence.kind: evidence for evidence in (EncoderEvidence, FeatureEvidence, PipelineEvidence)
}


@dataclass(frozen=True, eq=False)
class EvidenceGrammar(ParsingModel):
    """A grammar with a model of evidence (scores of labelled spans and of tags); see `EvidenceParser`.

    grammar (Grammar): The grammar; it alone gives the probabilities of words, such as surprisal.
    evidence (EncoderEvidence, FeatureEvidence or PipelineEvidence): The model that computes evidence.
    weights (EvidenceWeights): Powers of the evidence, and the tempering of the combined distribution.
    """

    grammar: Grammar
    evidence: AnyEvidence
    weights: EvidenceWeights = field(default_factory=EvidenceWeights)

    kind, version = "evidence", 1
    has_rule_marginals = has_n_best = True

    @property
    def without_evidence(self) -> Grammar:
        return self.grammar

    @property
    def labels(self) -> tuple[str, ...]:
        return self.grammar.labels

    @property
    def root_label(self) -> str:
        return self.grammar.root_label

    @property
    def words(self) -> frozenset[str]:
        return self.grammar.words

    @property
    def tags(self) -> tuple[str, ...]:
        return self.grammar.tags

    @property
    def summary(self) -> str:
        """A description of the grammar and of the evidence in English."""
        return f"{self.grammar.summary}; evidence of {self.evidence.summary}"

    @property
    def parser_bytes(self) -> float:
        return 2 * self.grammar.parser_bytes + backoff_bytes(self.grammar) + self.evidence.n_bytes

    def to_values(self) -> dict[str, Any]:
        """Return the values to store: bytes of the grammar, the weights, and the kind and values of the evidence."""
        evidence = with_prefixes({"evidence": self.evidence.to_values()})
        return {"model": self.grammar.to_bytes(), "evidence": self.evidence.kind, **asdict(self.weights), **evidence}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> EvidenceGrammar:
        names = ("span_power", "tag_power", "tau")
        (evidence,) = without_prefixes(values, ["evidence"], ("model", "evidence", *names))
        for name in names:
            if not is_number(values[name]):
                raise ModelError(f"Expected a number for {name}: copy or learn this model again.")
        if not isinstance(values["evidence"], str) or values["evidence"] not in _EVIDENCE:
            raise ModelError(f"Expected evidence of {' or '.join(_EVIDENCE)}, got {shown(values['evidence'])}.")
        weights = EvidenceWeights(**{name: float(values[name]) for name in names})
        return cls(Grammar.from_bytes(values["model"]), _EVIDENCE[values["evidence"]].from_values(evidence), weights)


def evidence_parser(
    model: EvidenceGrammar,
    decoding: Decoding = MBR,
    *,
    chart: ChartSettings = ChartSettings(),
    tau: float | None = None,
    words: TagDictionary = NO_TAGS,
) -> EvidenceParser:
    """Create the parser of a grammar with evidence; `make_parser` calls this.

    model (EvidenceGrammar): The model.
    decoding (Decoding): How one tree is chosen.
    chart (ChartSettings): Settings of pruning.
    tau (float or None): Power of the probabilities of trees, see `EvidenceWeights`; None for the tau of the model's
        weights.
    words (TagDictionary): Tags that words may have.
    RAISES (ValueError): If tau is not above 0, or the grammar lacks a tag of `words`.
    """
    weights = model.weights if tau is None else replace(model.weights, tau=tau)
    return EvidenceParser(model.grammar, model.evidence, weights, settings=chart, decoding=decoding, words=words)
