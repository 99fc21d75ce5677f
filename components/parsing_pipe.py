"""What the components that parse have in common: the trees they learn from, sentences, and trees on Docs."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_lpcfg.components.constituents import rooted_trees, set_parses, texts_of, words_of
from spacy_lpcfg.components.learned import LearnedPipe, set_sentence_starts
from spacy_lpcfg.trees import Tree, escape_tokens
from spacy_lpcfg.trees.parse import Parse

Tags = Sequence[str | None]


class TextParser:
    """A parser that takes words as they stand in a text, and spells them as its treebank did.

    parser (object): its `parse` takes words, tags or None, and settings
    known (container of str): words of the treebank
    """

    def __init__(self, parser: Any, known: Container[str]) -> None:
        self.parser = parser
        self._known = known

    def spell(self, words: Sequence[str]) -> list[str]:
        """The words in the spelling of the treebank."""
        return escape_tokens(words, known=self._known)

    def parse(self, words: Sequence[str], tags: Tags | None = None, **settings: Any) -> Parse:
        return self.parser.parse(self.spell(words), tags, **settings)


class DocParse(NamedTuple):
    """What `predict` finds out about a Doc.

    sent_starts (list of bool, or None): for each token, where the Doc had no sentence boundaries
    parses (list of Parse or None): one a sentence; None for one without words
    """

    sent_starts: list[bool] | None
    parses: list[Parse | None]


class ParsingPipe(LearnedPipe):
    """Parses each sentence of a Doc; see `constituents.py` for what it writes.

    what (str): what is learned
    command (str): the command of `spacy-lpcfg learn` that learns it
    vocab (Vocab): of the pipeline
    model (Model): what was learned
    name (str): of the component
    spans_key (str): where the trees go in `Doc.spans`
    gold_key (str): where the trees lie that are learned from
    set_tags (bool): write the tags of the trees to `token.tag_`
    tags (str): "model": the parser tags for itself; else it uses `token.tag_` where there is one
    threshold (float): score below which a span is left out; 0 keeps all
    scorer (callable): `examples -> scores`
    """

    what: ClassVar[str]
    command: ClassVar[str]

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str,
        *,
        spans_key: str,
        gold_key: str,
        set_tags: bool,
        tags: str,
        threshold: float,
        scorer: Callable[..., dict[str, Any]] | None,
    ) -> None:
        super().__init__(vocab, model, name)
        self.spans_key = spans_key
        self.gold_key = gold_key
        self.set_tags = set_tags
        self.tags = tags
        self.threshold = threshold
        self.scorer = scorer

    @property
    def parser(self) -> TextParser | None:
        """The parser by what was learned; None before training."""
        raise NotImplementedError

    @property
    def root_label(self) -> str:
        """The artificial root of the trees that were learned from; "" if they had none."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories that trees may have; () before training."""
        raise NotImplementedError

    @property
    def label_data(self) -> list[str]:
        """The categories, as `spacy init labels` saves them."""
        return list(self.labels)

    # Learning

    def gold_trees(self, examples: Iterable[Example]) -> Iterator[Tree]:
        """The trees of the reference Docs, below their roots."""
        for eg in examples:
            if self.gold_key in eg.reference.spans:
                yield from (tree for tree in rooted_trees(eg.reference, self.gold_key) if tree)

    def check_learned(self, labels: Sequence[str] | None) -> None:
        """Check that something was learned, and with no other categories than the given ones, if they are."""
        if self.learned is None:
            raise ValueError(
                f"{self.name!r} found no trees to learn from: no reference Doc has "
                f"doc.spans[{self.gold_key!r}]. Read the corpus with spacy-lpcfg.Treebank.v1, or "
                f"give a ready {self.what} in [initialize.components]."
            )
        if labels is not None and not set(labels).issuperset(self.labels):
            raise ValueError(
                f"The {self.what} has categories that the given labels have not: "
                f"{sorted(set(self.labels) - set(labels))}. Make the labels anew with `spacy init "
                "labels`, or leave them out."
            )

    # Parsing

    def predict(self, docs: Iterable[Doc]) -> list[DocParse]:
        """Parse Docs without changing them.

        docs (iterable of Doc): with or without sentence boundaries
        RETURNS (list of DocParse): one a Doc

        Raises ValueError if nothing was learned yet; never because of a text.
        """
        parser = self.ready_parser()
        found = []
        for doc in docs:
            starts, bounds = self.find_sentences(doc)
            found.append(DocParse(starts, [self._parse_sentence(parser, doc, *each) for each in bounds]))
        return found

    def ready_parser(self) -> TextParser:
        """The parser; raises ValueError if nothing was learned yet."""
        parser = self.parser
        if parser is None:
            raise ValueError(
                f"{self.name!r} has no {self.what} yet. Train it (`spacy train`, or `spacy-lpcfg learn "
                f"{self.command} TREES --output DIR`), or call nlp.initialize with trees."
            )
        return parser

    def _parse_sentence(self, parser: TextParser, doc: Doc, start: int, end: int) -> Parse | None:
        positions = words_of(doc, start, end)
        if not positions:
            return None
        tags = None if self.tags == "model" else [doc[i].tag_ or None for i in positions]
        return self.parse_words(parser, texts_of(doc, positions), tags)

    def parse_words(self, parser: TextParser, words: Sequence[str], tags: Tags | None) -> Parse:
        """The tree of a sentence by the settings of the component."""
        return parser.parse(words, tags)

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[DocParse]) -> None:
        """Write the trees, and sentence boundaries where there were none."""
        for doc, found in zip(docs, scores):
            set_sentence_starts(doc, found.sent_starts)
            set_parses(doc, found.parses, key=self.spans_key, threshold=self.threshold, set_tags=self.set_tags)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the predicted trees with the component's scorer."""
        return super().score(examples, **{"spans_key": self.spans_key, **kwargs})
