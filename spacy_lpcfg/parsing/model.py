"""The contract of models, which learners return and files hold; each makes a parser."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from spacy_lpcfg.parsing.decodings import WELL_FORMED, Decoding, check_decoding
from spacy_lpcfg.parsing.mbr import Chain
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.well_formed import WellFormedDecoder, WellFormedParser
from spacy_lpcfg.storage.container import Stored
from spacy_lpcfg.trees.local_trees import NO_LOCAL_TREES, LocalTrees

if TYPE_CHECKING:
    from spacy_lpcfg.chart.settings import ChartSettings
    from spacy_lpcfg.isbn.settings import BeamSettings


class ParsingModel(Stored):
    """A model that makes parsers: a grammar, an ensemble, a network, a mirror image or a combination; it never changes.

    parser_class (str): module and name of its parser; parsers stand above models, and are imported when needed.
    is_network, is_mirrored (bool): whether it is made of networks, and whether it reads from right to left.
    own_tree (str): the decoding by which the model chooses its own tree when several models vote.
    bracket_cost (float): brackets less likely than this are better left out.
    """

    parser_class: ClassVar[str]
    is_network: ClassVar[bool] = False
    is_mirrored: ClassVar[bool] = False
    own_tree: ClassVar[Decoding] = "max-rule"

    if TYPE_CHECKING:  # attributes of some models, and properties of others

        @property
        def labels(self) -> tuple[str, ...]:
            """Categories of constituents."""

        @property
        def summary(self) -> str:
            """One line that tells people what the model is made of."""

        @property
        def root_label(self) -> str:
            """The artificial root of the trees that were learned from; "" if they had none."""

        @property
        def temperature(self) -> float:
            """Divisor of the log-odds of posteriors, by which these are right as often as they say."""

        @property
        def words(self) -> frozenset[str]:
            """All names under which the model knows words."""

        @property
        def parser_bytes(self) -> float:
            """About the memory that a parser by it takes, sentences aside."""

        @property
        def decodings(self) -> tuple[Decoding, ...]:
            """The ways in which its parser can choose a tree, the default first."""

        @property
        def local_trees(self) -> LocalTrees:
            """Local trees of the treebank that was learned from; `NO_LOCAL_TREES` if the model does not know them."""

        @property
        def bracket_cost(self) -> float: ...

    else:
        local_trees, bracket_cost = NO_LOCAL_TREES, 0.42

    @property
    def label_chains(self) -> frozenset[Chain]:
        """The labels that its treebank has over the same words, outermost first; of some models none are known."""
        return frozenset()

    def models_of_trees(self) -> tuple[ParsingModel, ...]:
        """The models within it that have a log-probability of each tree."""
        return ()

    def single_models(self) -> tuple[ParsingModel, ...]:
        """The grammars and networks that it is made of."""
        return (self,)

    def check_decoding(self, decoding: str) -> None:
        """RAISES (ValueError): If its parser cannot choose trees so."""
        check_decoding(decoding, self.decodings, f" for this {type(self).__name__}")

    def parser(
        self,
        *,
        decoding: Decoding | None = None,
        chart: ChartSettings | None = None,
        search: BeamSettings | None = None,
    ) -> SentenceParser:
        """The parser by this model.

        decoding (str or None): one of `decodings`, None for the first; it goes before that of the settings.
        chart (ChartSettings or None), search (BeamSettings or None): how grammars and networks prune; None for the
            defaults.
        RAISES (ValueError): If the model cannot be decoded so.
        """
        decoding = decoding or self.decodings[0]
        self.check_decoding(decoding)
        if decoding == WELL_FORMED:
            decoder = WellFormedDecoder(self.local_trees, cost=self.bracket_cost)
            return WellFormedParser(self.parser(decoding="mbr", chart=chart, search=search), decoder)
        module, _, name = self.parser_class.partition(":")
        made: SentenceParser = getattr(import_module(module), name).of(self, decoding, chart, search)
        return made


class WrappingModel(ParsingModel):
    """A model of which another is the greater part.

    model (ParsingModel): the other; labels, words, decodings and the models within are its own.
    """

    model: ParsingModel

    @property
    def labels(self) -> tuple[str, ...]:
        """Categories of constituents."""
        return self.model.labels

    @property
    def root_label(self) -> str:
        """Root label of the inner model."""
        return self.model.root_label

    @property
    def words(self) -> frozenset[str]:
        """All names under which the model knows words."""
        return self.model.words

    @property
    def decodings(self) -> tuple[Decoding, ...]:
        """Decodings of the inner model."""
        return self.model.decodings

    @property
    def local_trees(self) -> LocalTrees:
        """Local trees of the inner model."""
        return self.model.local_trees

    def single_models(self) -> tuple[ParsingModel, ...]:
        """Grammars and networks of the inner model."""
        return self.model.single_models()
