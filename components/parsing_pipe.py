"""The base class of parsing components: learning from gold trees, parsing of Docs, questions about probabilities."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab

from spacy_lpcfg.batches import in_batches
from spacy_lpcfg.checks import FUNCTION, TEXT, Check, instance_of, shown
from spacy_lpcfg.components.doc.constraints import ConstraintsOf, constraints_by_sentence, constraints_within
from spacy_lpcfg.components.doc.extensions import register_extensions
from spacy_lpcfg.components.doc.noun_chunks import offer_noun_chunks
from spacy_lpcfg.components.doc.pipe_registry import register_pipe
from spacy_lpcfg.components.doc.read import rooted_trees
from spacy_lpcfg.components.doc.sentences import DocSentences, find_sentences
from spacy_lpcfg.components.doc.surprisal import set_surprisal
from spacy_lpcfg.components.doc.write import set_parses
from spacy_lpcfg.components.model_holder import ModelHolder
from spacy_lpcfg.components.model_pipe import ModelPipe, check_not_streamed
from spacy_lpcfg.components.settings import Output
from spacy_lpcfg.components.symbol_tags import symbol_tags
from spacy_lpcfg.components.unknown_words import UnknownWords
from spacy_lpcfg.learners import learner_of
from spacy_lpcfg.learning.base import meta_of
from spacy_lpcfg.parsing.alternatives import best_bracketings
from spacy_lpcfg.parsing.constraints import NO_CONSTRAINTS, Constraints
from spacy_lpcfg.parsing.distribution import check_n_best, check_samples
from spacy_lpcfg.parsing.evidence import EvidenceSource
from spacy_lpcfg.parsing.model import ParsingModel
from spacy_lpcfg.parsing.protocol import SentenceParser
from spacy_lpcfg.parsing.query import Query, Tags
from spacy_lpcfg.parsing.result import Analysis, Distribution, Parse, Posteriors, StateVectors
from spacy_lpcfg.parsing.segmentation import Limits, SegmentingParser
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.transforms import escape_tokens

register_extensions()

ASSIGNS = ["doc.spans", "doc.sents", "token.is_sent_start", "token.tag"]
SCORE_WEIGHTS: dict[str, float | None] = {"evalb_f": 1.0, "evalb_p": 0.0, "evalb_r": 0.0, "complete_match": 0.0}

_NO_TREES = (
    "{!r} found no trees to learn from, and keeps the model that it has. Read the corpus with "
    "spacy-lpcfg.Treebank.v1 to have it learn."
)
_BATCH = 128  # sentences whose evidence is in memory at once

Answer = TypeVar("Answer")
EvidenceOf: TypeAlias = Callable[[Sequence[int], Sequence[str]], EvidenceSource]
"""Callable `(positions, words) -> evidence` for words of a Doc: their token indices and treebank spelling."""
ParserModel = TypeVar("ParserModel", bound=ParsingModel)


class DocParse(NamedTuple):
    """The parses of a Doc, as `ParsingPipe.predict` returns them.

    sentences (DocSentences): The sentences and their words.
    parses (list of Parse or None): The parse of each sentence; None for a sentence without words.
    """

    sentences: DocSentences
    parses: list[Parse | None]


class ParsingPipe(ModelPipe[ParserModel]):
    """The base class of components that parse each sentence of a Doc; see `doc/write.py` for what they write.

    gold_key (str): Key of the gold trees in `Doc.spans` from which `initialize` learns.

    Settings, which are attributes that one can assign:

    learner (Learner or str): The learner of the model. A name of `spacy_lpcfg.learners` is short for
        {"@misc": "spacy-lpcfg.Learner.v1", "name": NAME} with the pipeline's language.
    spans_key (str): Key of the parsed trees in `Doc.spans`.
    decoding (str or None): How one tree is chosen, as `spacy_lpcfg.parsing.decodings.DECODINGS` says.
    tags (str): "model": the parser chooses all tags; "given": it takes `token.tag_` where there is one. Tags that the
        component itself has written are ignored. In English, symbols that the model does not know get the tag `SYM` or
        `UH`.
    constraints (callable or None): `doc -> Constraints` on the trees of a Doc, such as `spacy-lpcfg.entities.v1`.
    pruning (ChartSettings or BeamSettings): Limits of the search for a tree, for speed.
    limits (Limits): Words, seconds and MB that a sentence may take. A sentence of more words is parsed in pieces: it
        has one tree, `n_best` and `samples` are empty for it, and its surprisals and ln P(words) are nan.
    output (Output): Settings of what is written to a Doc.
    scorer (callable or None): `examples -> scores`.

    Groups of settings are frozen: assign a changed copy, such as `replace(pipe.limits, max_words=80)`.

    The methods that ask for probabilities (`posteriors`, `n_best`, `samples`, `entropies`, `log_probabilities`,
    `surprisals`, `states`) take a tokenised Doc and do not change it; a Doc without sentence boundaries is split as for
    parsing. They return a list with an item for each sentence, None for one without words. Words are the tokens that
    are not white space, and positions count words. Tags and constraints are used as in parsing, except that
    `log_probabilities` and `surprisals` ignore them. The methods raise ValueError before training and if the model
    cannot answer, and TypeError if the argument is not a Doc.
    """

    learns_from = "trees"
    spans_key: str
    decoding: str | None
    gold_key: str
    _learner: Any
    tags: str
    constraints: ConstraintsOf | None
    limits: Limits
    output: Output
    checks: ClassVar[Mapping[str, Check]] = {
        "spans_key": TEXT,
        "constraints": FUNCTION.optional,
        "limits": instance_of("made by spacy-lpcfg.Limits.v1", Limits),
        "output": instance_of("made by spacy-lpcfg.Output.v1", Output),
        "scorer": FUNCTION.optional,
    }

    def __init__(self, vocab: Vocab, model: ModelHolder[ParserModel], name: str) -> None:
        super().__init__(vocab, model, name)
        self._unknown_words = UnknownWords()
        offer_noun_chunks(vocab)

    @property
    def parser(self) -> SegmentingParser | None:
        """The parser that uses the learned model, within the limits; None before training.

        It takes words in treebank spelling, see `spell`.
        """
        raise NotImplementedError

    def spell(self, words: Sequence[str]) -> list[str]:
        """Return words of a text in the spelling of the model's treebank, such as -LRB- for an opening parenthesis."""
        return escape_tokens(words, known=self.known_words)

    @property
    def known_words(self) -> Container[str]:
        """The vocabulary of the model, in treebank spelling; empty before training."""
        return self.learned.words if self.learned is not None else ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of constituents that trees may have; () before training."""
        raise NotImplementedError

    @property
    def label_data(self) -> list[str]:
        """The `labels` as a list, for `spacy init labels` to save."""
        return list(self.labels)

    # Learning

    @property
    def learner(self) -> Any:
        """The learner of the model; a learner set by name is created at the first access."""
        if isinstance(self._learner, str):
            from spacy_lpcfg.components.training.named_learner import make_learner  # which parsing does without

            self._learner = make_learner(self._learner, lang=self.vocab.lang or "en")
        return self._learner

    @learner.setter
    def learner(self, learner: Any) -> None:
        if isinstance(learner, str):
            learner_of(learner)
        self._learner = learner

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        model: Callable[[], ParserModel] | None = None,
        held_out: Callable[[Language], Iterable[Example]] | None = None,
    ) -> None:
        """Learn the model from the reference trees, or set a ready model.

        get_examples (callable): Returns the whole training corpus.
        nlp (Language or None): The pipeline, for its training settings. Its `meta` gets the training log, as from
            `meta_of`.
        labels (list of str or None): Labels of constituents that the model may have; None allows all.
        model (callable or None): Returns a ready model, which is used instead of learning one.
        held_out (callable or None): Returns held-out examples with trees, given `nlp`, on which the learner is tuned: a
            corpus reader such as spacy-lpcfg.Treebank.v1. None, or no `nlp`, for no tuning.

        If the examples have no trees, an existing model (also the one that comes with the package) is kept, with a
        warning.
        RAISES (ValueError): If there are neither trees nor a model, if the corpus is streamed, or if the model has
            labels that are not in `labels`.
        """
        if model is not None:
            self.learned = model()
        else:
            examples = None if held_out is None or nlp is None else held_out(nlp)
            golds = None if examples is None else list(self.gold_trees(examples))
            self._learn_from(self.gold_trees(get_examples()), nlp, golds)
        self.check_learned(labels)

    @property
    def _model_learner(self) -> Any:
        """The learner that `initialize` uses."""
        return self.learner

    def _learn_from(self, treebank: Iterator[Tree], nlp: Language | None, held_out: list[Tree] | None) -> None:
        """Learn the model from trees; without trees keep an existing model, with a warning."""
        first = next(treebank, None)
        if first is not None:
            check_not_streamed(nlp, self.what)
            self._learn(chain([first], treebank), nlp, held_out)
        elif self.learned is not None:
            self.warn_once(_NO_TREES)

    def _learn(self, treebank: Iterator[Tree], nlp: Language | None, held_out: list[Tree] | None) -> None:
        reports: list[object] = []
        self.learned = self._model_learner.fit(treebank, held_out=held_out, on_step=reports.append)
        logger.info("%s: learned a %s of %d categories", self.name, self.what, len(self.labels))
        if nlp is not None:
            nlp.meta.update(meta_of(reports))

    def gold_trees(self, examples: Iterable[Example]) -> Iterator[Tree]:
        """Yield the trees of the reference Docs, with their artificial roots.

        Docs without trees under `gold_key`, and sentences without words, are skipped.
        """
        for eg in examples:
            if self.gold_key in eg.reference.spans:
                yield from (tree for tree in rooted_trees(eg.reference, self.gold_key) if tree)

    def check_learned(self, labels: Sequence[str] | None) -> None:
        """Raise ValueError if no model was learned, or if a label of the model is not among `labels`."""
        if self.learned is None:
            raise ValueError(
                f"{self.name!r} found no trees to learn from: no reference Doc has "
                f"doc.spans[{self.gold_key!r}]. Read the corpus with spacy-lpcfg.Treebank.v1, or "
                f"give a ready {self.what} in [initialize.components]."
            )
        if labels is not None and not set(labels).issuperset(self.labels):
            raise ValueError(
                f"The {self.what} has categories that the given labels have not: "
                f"{shown(sorted(set(self.labels) - set(labels)))}. Make the labels anew with `spacy init "
                "labels`, or leave them out."
            )

    # Parsing

    def predict(self, docs: Iterable[Doc]) -> list[DocParse]:
        """Parse Docs without changing them.

        docs (iterable of Doc): Docs with or without sentence boundaries.
        RETURNS (list of DocParse): The parses of each Doc.
        RAISES (ValueError): If nothing was learned yet. No text of a Doc raises an error.
        """
        parser, docs = self.ready_parser(), list(docs)
        of_docs: list[tuple[DocSentences, list[Query | None]]] = []
        for doc, evidence_of in zip(docs, self.evidence_of(docs), strict=True):
            sentences = self._sentences(doc)
            self._unknown_words.count(
                chain.from_iterable(sentences.texts), self.known_words, self.name, self.vocab.lang
            )
            of_docs.append((sentences, list(self._queries(doc, sentences, evidence_of))))
        parses = self._parses(parser, (query for _, queries in of_docs for query in queries if query))
        return [
            DocParse(sentences, [next(parses) if query else None for query in queries])
            for sentences, queries in of_docs
        ]

    def _sentences(self, doc: Doc) -> DocSentences:
        return find_sentences(doc, self.spans_key)

    def ready_parser(self) -> SegmentingParser:
        """Return the parser.

        RAISES (ValueError): If nothing was learned yet.
        """
        self._known()
        parser = self.parser
        assert parser is not None
        return parser

    def parse(self, words: Sequence[str], tags: Tags | None = None) -> Parse:
        """Parse a sentence outside of any Doc; the settings `tags` and `constraints` are not used.

        words (sequence of str): Words as in text, punctuation included.
        tags (sequence of str or None): The tag of each word, which the parse keeps, or None for an unknown tag; None
            instead of a sequence lets the parser choose all tags.
        RETURNS (Parse): The tree with its scores.
        RAISES (ValueError): If nothing was learned yet, if there are no words, or if the numbers of words and tags
            differ.
        """
        return self.ready_parser().parse(self.query(words, tags))

    def query(
        self,
        words: Sequence[str],
        tags: Tags | None = None,
        *,
        tag_weight: float = 0.0,
        constraints: Constraints = NO_CONSTRAINTS,
        evidence: EvidenceSource | None = None,
    ) -> Query:
        """Create the parser's query for a sentence; unknown symbols without a given tag get the tag from `symbol_tags`.

        words (sequence of str): The words as in the text.
        tags, tag_weight, constraints, evidence, and errors: As for `Query`.
        """
        query = Query(self.spell(words), tags, tag_weight, constraints, evidence=evidence)
        symbols = symbol_tags(words, self.known_words, self.vocab.lang)
        if symbols is None:
            return query
        return replace(query, tags=[tag or symbol for tag, symbol in zip(tags or symbols, symbols, strict=True)])

    @property
    def tag_weight(self) -> float:
        """Factor by which tags other than a given one become less likely, as in `Query`: 0 makes given tags certain."""
        return 0.0

    def evidence_of(self, docs: Sequence[Doc]) -> list[EvidenceOf | None]:
        """Return, for each Doc, a callable that computes evidence from the pipeline's vectors; None if it has none."""
        return [None] * len(docs)

    def _queries(self, doc: Doc, sentences: DocSentences, evidence_of: EvidenceOf | None) -> Iterator[Query | None]:
        """Yield the query for each sentence of a Doc; None for a sentence without words."""
        of_sentences = None
        if self.constraints is not None:
            of_sentences = constraints_by_sentence(self.constraints(doc), sentences.bounds)
        for number, (positions, texts) in enumerate(zip(sentences.positions, sentences.texts, strict=True)):
            if not positions:
                yield None
                continue
            constraints = (
                NO_CONSTRAINTS if of_sentences is None else constraints_within(of_sentences[number], positions)
            )
            given = self._tags(sentences, positions)
            weight = self.tag_weight if given else 0.0
            query = self.query(texts, given, tag_weight=weight, constraints=constraints)
            yield query if evidence_of is None else replace(query, evidence=evidence_of(positions, query.words))

    def _tags(self, sentences: DocSentences, positions: Sequence[int]) -> Tags | None:
        """Return the given tags of the words at `positions`, None for a word without one.

        RETURNS (list of (str or None), or None): The tags; None if no word has one, or the setting `tags` is "model".
        """
        tags = [sentences.given_tags[i] or None for i in positions]
        return None if self.tags == "model" or not any(tags) else tags

    def _parses(self, parser: SentenceParser, queries: Iterable[Query]) -> Iterator[Parse]:
        """Yield the parse of each query; `_BATCH` queries are prepared at a time."""
        for batch in in_batches(queries, _BATCH):
            yield from map(parser.parse, parser.prepare(batch))

    # Probabilities

    def posteriors(self, doc: Doc) -> list[Posteriors | None]:
        """Return the posterior probabilities of each sentence's brackets and tags, except for pruned and unlikely ones.

        For brackets of the Doc's tree they equal its scores. The setting `output.threshold` is ignored.

        RETURNS (list of (Posteriors or None)): An item for each sentence; None for one without words.
        """
        return self._ask(doc, lambda parser, query: parser.posteriors(query))

    def n_best(self, doc: Doc, n: int, *, tag_variants: bool = True) -> list[list[Analysis] | None]:
        """Return the n most probable trees of each sentence, best first, with P(tree | words) and ln P(tree, words).

        See `ForestDistribution.n_best` and `IncrementalParser.n_best` for what is exact. With a belief network, trees
        differ in their brackets, and their probabilities are summed over tags; `log_probabilities` are of a tree with
        its tags.

        n (int): Maximum number of trees.
        tag_variants (bool): Whether trees that differ only in tags are listed separately; False lists only the best of
            them.
        RETURNS (list of (list of Analysis, or None)): At most n trees for each sentence; [] if the tree of the sentence
            is a fall-back, None if the sentence has no words.
        RAISES (ValueError): If n is no whole number from 1 to `MAX_N_BEST`, 10,000.
        """
        check_n_best(n)
        if tag_variants:
            return self._ask(doc, lambda parser, query: parser.n_best(query, n))
        return self._ask(doc, lambda parser, query: best_bracketings(partial(parser.n_best, query), n))

    def samples(self, doc: Doc, n: int, *, seed: int = 0) -> list[list[Tree] | None]:
        """Draw n trees of each sentence independently from P(tree | words).

        n (int): Number of trees.
        seed (int): Sentence number i (from 0) is drawn with the seed `seed` + i.
        RETURNS (list of (list of Tree or None)): n trees for each sentence; [] if the model has no tree for it, None if
            it has no words.
        RAISES (ValueError): If `n` is no whole number from 1 to `MAX_SAMPLES`, 100,000, or `seed` no whole number >= 0,
            or the model has no distribution over trees.
        """
        check_samples(n, seed)
        seeds = count(seed)
        seeded = zip(self._distributions(doc), seeds, strict=False)
        return [distribution.samples(n, seed=own_seed) if distribution else None for distribution, own_seed in seeded]

    def entropies(self, doc: Doc) -> list[float | None]:
        """Return the entropy of P(tree | words) of each sentence in bits; nan if the model has no tree for it.

        For grammars with several states per symbol, it is an upper bound (see `ForestDistribution.entropy`). For belief
        networks, it is the entropy over the trees in the beam.

        RETURNS (list of (float or None)): An item for each sentence; None for one without words.
        RAISES (ValueError): If the model has no distribution over trees.
        """
        return [distribution.entropy() if distribution else None for distribution in self._distributions(doc)]

    def log_probabilities(self, doc: Doc, trees: Sequence[Tree | None] | None = None) -> list[float | None]:
        """Return ln P(words) of each sentence in nats, or ln P(tree, words) if trees are given.

        trees (sequence of (Tree or None), or None): A tree for each sentence, with a leaf for each word; its words are
            replaced by the Doc's. None for a sentence without words.
        RETURNS (list of (float or None)): An item for each sentence: -inf if the model cannot generate the words or the
            tree; nan for ln P(words) of a sentence of more than `limits.max_words` words; None for a sentence without
            words.
        RAISES (ValueError): If the trees do not fit the sentences, or the model has no such probabilities.

        Tags and constraints on the Doc are ignored. ln P(tree, words) is exact. ln P(words) is a lower bound: by a
        grammar nearly exact (see `surprisals`), by a belief network summed over the beam only.
        """
        if trees is None:
            return self._ask(doc, lambda parser, query: parser.log_probability(query.words))
        parser, queries = self._parser_and_queries(doc)
        if len(trees) != len(queries):
            raise ValueError(f"Expected a tree or None for each of {len(queries)} sentences, got {len(trees)}.")
        return [
            parser.tree_log_probability(_with_words(tree, query.words)) if query else None
            for tree, query in zip(trees, queries, strict=True)
        ]

    def surprisals(self, doc: Doc) -> list[np.ndarray | None]:
        """Return the surprisal of the words of each sentence in bits, and of its end.

        RETURNS (list of (float64 array (n_words + 1,), or None)): An item for each sentence; None for one without
            words. The values are -log2 P(word | words before), and add up to -log2 P(words); pruning makes the sum
            too large.
        RAISES (ValueError): If the model has no surprisal, such as a spectral grammar.
        """
        return self._ask(doc, lambda parser, query: parser.surprisal(query.words))

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Return the surprisal in bits of each word of a sentence, and of its end.

        words (sequence of str): The words as in the text, at least one.
        RETURNS (float64, (n_words + 1,)): The surprisals, as in `surprisals`.
        RAISES (ValueError): If nothing was learned yet, or the model has no surprisal.
        """
        return self.ready_parser().surprisal(self.spell(words))

    def states(self, doc: Doc) -> list[list[StateVectors] | None]:
        """Return the inside and outside vectors of the constituents and words of each sentence's tree, in pre-order.

        RETURNS (list of (list of StateVectors, or None)): A list for each sentence, [] for a fall-back tree; None for a
            sentence without words.
        RAISES (ValueError): If the model is not a grammar.
        """
        return self._ask(doc, lambda parser, query: parser.states(query))

    def _distributions(self, doc: Doc) -> list[Distribution | None]:
        return self._ask(doc, lambda parser, query: parser.distribution(query))

    def _ask(self, doc: Doc, question: Callable[[SentenceParser, Query], Answer]) -> list[Answer | None]:
        """Return `question(parser, query)` for each sentence of a Doc; None for a sentence without words."""
        parser, queries = self._parser_and_queries(doc)
        return [question(parser, query) if query else None for query in queries]

    def _parser_and_queries(self, doc: Doc) -> tuple[SentenceParser, list[Query | None]]:
        parser = self.ready_parser()
        sentences = self._sentences(doc)
        return parser, list(self._queries(doc, sentences, *self.evidence_of([doc])))

    # Annotation

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[DocParse]) -> None:
        """Write trees, sentence boundaries if the Doc had none, and surprisals if `output.surprisal` is true."""
        register_pipe(self)
        output = self.output
        for doc, prediction in zip(docs, scores, strict=True):
            set_parses(
                doc,
                prediction.parses,
                sentences=prediction.sentences,
                key=self.spans_key,
                threshold=output.threshold,
                set_tags=output.set_tags,
            )
            if output.surprisal:
                set_surprisal(doc, self.spans_key, self)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the predicted trees with the component's scorer."""
        return super().score(examples, **{"spans_key": self.spans_key, "gold_key": self.gold_key, **kwargs})


def _with_words(tree: Tree | None, words: Sequence[str]) -> Tree:
    """Return a tree with its words replaced.

    words (sequence of str): The new words, in treebank spelling.
    RAISES (ValueError): If there is no tree, or its number of leaves is not the number of words.
    """
    if tree is None or len(tree) != len(words):
        n_leaves = "no tree" if tree is None else f"a tree of {len(tree)} leaves"
        raise ValueError(f"Expected a leaf for each of the sentence's {len(words)} words, got {n_leaves}.")
    return Tree.from_spans(words, tree.tags, tree.spans())
