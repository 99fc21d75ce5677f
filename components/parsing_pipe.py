"""The base class of parsing components: gold trees, sentences, trees on Docs, probabilities."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
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
from spacy_lpcfg.parsing.constraints import NO_CONSTRAINTS
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
"""Returns the evidence for words of a Doc, given their positions in it, and the words in treebank spelling."""
ParserModel = TypeVar("ParserModel", bound=ParsingModel)


class DocParse(NamedTuple):
    """The prediction for a Doc.

    sentences (DocSentences): The sentences and their words.
    parses (list of Parse or None): The parse of each sentence; None for a sentence without words.
    """

    sentences: DocSentences
    parses: list[Parse | None]


class ParsingPipe(ModelPipe[ParserModel]):
    """The base class of components that parse each sentence of a Doc; see `doc/write.py` for what they write.

    gold_key (str): Key of the trees in `Doc.spans` that are learned from.

    Settings, which are attributes that one can assign:

    learner (Learner or str): The learner of the model. A name of `spacy_lpcfg.learners` is short for
        {"@misc": "spacy-lpcfg.Learner.v1", "name": NAME} with the pipeline's language.
    spans_key (str): Key of the trees in `Doc.spans`.
    decoding (str or None): How one tree is chosen, as `spacy_lpcfg.parsing.decodings.DECODINGS` says.
    tags (str): "model": the parser tags for itself; "given": it takes `token.tag_` where there is one. Tags that the
        component wrote itself count as none. In English, symbols that the model does not know are `SYM`.
    constraints (callable or None): `doc -> Constraints` on the trees of a Doc, such as `spacy-lpcfg.entities.v1`.
    pruning (ChartSettings or BeamSettings): Limits of the search for a tree, for speed.
    limits (Limits): Words, seconds and MB that a sentence may take. A sentence of more words is parsed in pieces: it
        has one tree, no other trees to list or draw, and nan as surprisals and log-probability.
    output (Output): Settings of what is written to a Doc.
    scorer (callable or None): `examples -> scores`.

    A group of settings is frozen: assign another one, such as `replace(pipe.limits, max_words=80)`.

    The methods that ask for probabilities (`posteriors`, `n_best`, `samples`, `entropies`, `log_probabilities`,
    `surprisals`, `states`) take a tokenised Doc and change nothing on it; without sentence boundaries it is split as
    for parsing. They return a list with an item for each sentence, None for one without words. Words are the tokens
    that are not white space; positions count them. Tags and constraints are used as in parsing. ValueError is raised
    before training and where the model has no answer, TypeError if the argument is not a Doc.
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
        """The parser by the learned model, for words in treebank spelling, within the limits; None before training."""
        raise NotImplementedError

    def spell(self, words: Sequence[str]) -> list[str]:
        """Return words of a text in the spelling of the treebank, such as -LRB- for a bracket."""
        return escape_tokens(words, known=self.known_words)

    @property
    def known_words(self) -> Container[str]:
        """The vocabulary of the model, in treebank spelling; empty before training."""
        return self.learned.words if self.learned is not None else ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories that trees may have; () before training."""
        raise NotImplementedError

    @property
    def label_data(self) -> list[str]:
        """The categories, as `spacy init labels` saves them."""
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
        """Learn the model from the reference trees, or take a learned model.

        get_examples (callable): Returns the whole training corpus.
        nlp (Language): The pipeline, for its training settings; its meta gets what `meta_of` tells of learning.
        labels (list of str): Categories that the model may have; None allows all.
        model (callable): Returns a ready model; the examples are not used.
        held_out (callable): Returns examples with trees that learners tune on, given `nlp`: a reader of a corpus, such
            as spacy-lpcfg.Treebank.v1. None for no tuning.

        Without trees in the examples a model that is already there stays, with a warning, and so
        does the one that comes with the package.
        RAISES (ValueError): If there are neither trees nor a model, if the corpus is streamed, or if the treebank has
            other categories.
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
        """Yield the trees of the reference Docs, with their artificial roots; see `rooted_trees`."""
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
        RETURNS (list of DocParse): A prediction for each Doc.
        RAISES (ValueError): If nothing was learned yet; no text of a Doc raises an error.
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
        """Return the parser, or raise an error before training.

        RAISES (ValueError): If nothing was learned yet.
        """
        self._known()
        parser = self.parser
        assert parser is not None
        return parser

    def parse(self, words: Sequence[str], tags: Tags | None = None) -> Parse:
        """Parse a sentence outside of any Doc.

        words (sequence of str): Words as in text, punctuation included.
        tags (sequence of str or None): The tag of each word, None for one that is not known; None for no tags.
        RAISES (ValueError): If nothing was learned yet, or there are no words or not as many tags.
        """
        return self.ready_parser().parse(Query(self.spell(words), tags))

    @property
    def tag_weight(self) -> float:
        """The likelihood factor of every tag but the given one, as in `Query`: 0 takes given tags as certain."""
        return 0.0

    def evidence_of(self, docs: Sequence[Doc]) -> list[EvidenceOf | None]:
        """Return the evidence for each Doc, if the model takes it from the pipeline; None without evidence."""
        return [None] * len(docs)

    def _queries(self, doc: Doc, sentences: DocSentences, evidence_of: EvidenceOf | None) -> Iterator[Query | None]:
        """Yield the query for each sentence of a Doc; None for a sentence without words."""
        of_sentences, known = None, self.known_words
        if self.constraints is not None:
            of_sentences = constraints_by_sentence(self.constraints(doc), sentences.bounds)
        for number, (positions, texts) in enumerate(zip(sentences.words, sentences.texts, strict=True)):
            if not positions:
                yield None
                continue
            constraints = (
                NO_CONSTRAINTS if of_sentences is None else constraints_within(of_sentences[number], positions)
            )
            given, symbols = self._tags(sentences, positions), symbol_tags(texts, known, self.vocab.lang)
            tags = given and symbols and [tag or symbol for tag, symbol in zip(given, symbols, strict=True)]
            weight = self.tag_weight if given else 0.0
            words = escape_tokens(texts, known=known)
            evidence = None if evidence_of is None else evidence_of(positions, words)
            yield Query(words, tags or given or symbols, weight, constraints, evidence=evidence)

    def _tags(self, sentences: DocSentences, positions: Sequence[int]) -> Tags | None:
        """Return the given tags of the words at `positions`; None if there are none, or `tags` is "model"."""
        tags = [sentences.given_tags[i] or None for i in positions]
        return None if self.tags == "model" or not any(tags) else tags

    def _parses(self, parser: SentenceParser, queries: Iterable[Query]) -> Iterator[Parse]:
        """Yield the parse of each query; sentences are prepared `_BATCH` at a time."""
        for batch in in_batches(queries, _BATCH):
            yield from map(parser.parse, parser.prepare(batch))

    # Probabilities

    def posteriors(self, doc: Doc) -> list[Posteriors | None]:
        """Return the posterior probabilities of each sentence's brackets and tags, except for pruned and unlikely ones.

        For brackets of the Doc's tree they equal its scores; `output.threshold` is ignored.
        """
        return self._ask(doc, lambda parser, query: parser.posteriors(query))

    def n_best(self, doc: Doc, n: int, *, tag_variants: bool = True) -> list[list[Analysis] | None]:
        """Return the n most probable trees of each sentence, best first, with P(tree | words) and ln P(tree, words).

        There are fewer if the parser finds fewer, and none if it falls back on a tree that is not the model's. See
        `ForestDistribution.n_best` and `IncrementalParser.n_best` for what is exact. A belief network's probabilities
        sum over the tags of the words; those of `log_probabilities` do not.

        tag_variants (bool): Whether trees that differ only in tags are listed separately; False for the best of them.
        RAISES (ValueError): If n is no whole number from 1 to `MAX_N_BEST`, 10,000.
        """
        check_n_best(n)
        if tag_variants:
            return self._ask(doc, lambda parser, query: parser.n_best(query, n))
        return self._ask(doc, lambda parser, query: best_bracketings(partial(parser.n_best, query), n))

    def samples(self, doc: Doc, n: int, *, seed: int = 0) -> list[list[Tree] | None]:
        """Draw n trees of each sentence independently from P(tree | words).

        seed (int): Sentence number i is drawn with the seed `seed` + i.
        RETURNS (list of (list of Tree or None)): n trees for each sentence; an empty list if the model has no tree for
            it, None if it has no words.
        RAISES (ValueError): If `n` is no whole number from 1 to `MAX_SAMPLES`, 100,000, or `seed` no whole number >= 0,
            or the model has no distribution over trees.
        """
        check_samples(n, seed)
        seeds = count(seed)
        seeded = zip(self._distributions(doc), seeds, strict=False)
        return [distribution.samples(n, seed=own_seed) if distribution else None for distribution, own_seed in seeded]

    def entropies(self, doc: Doc) -> list[float | None]:
        """Return the entropy of P(tree | words) of each sentence in bits; nan if the model has no tree.

        For grammars with several states per symbol, it is an upper bound (see `ForestDistribution.entropy`); for belief
        networks, the entropy over the trees in the beam.
        """
        return [distribution.entropy() if distribution else None for distribution in self._distributions(doc)]

    def log_probabilities(self, doc: Doc, trees: Sequence[Tree | None] | None = None) -> list[float | None]:
        """Return ln P(words) of each sentence in nats, or with trees ln P(tree, words).

        trees (sequence of Tree or None): A tree for each sentence, with a leaf for each word; words are the Doc's.

        Tags and constraints on the Doc are ignored. ln P(words) is as exact as `surprisals` for a grammar, and a lower
        bound for a belief network, which sums over the beam only; ln P(tree, words) is exact for both. Both are -inf if
        the model cannot generate the words or the tree.
        RAISES (ValueError): Unless trees fit sentences.
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
        """Return the surprisal of the words of each sentence in bits, and of its end, float64 (n_words + 1,).

        The surprisals of a sentence add up to -log2 P(words). Spectral grammars have no surprisal.
        """
        return self._ask(doc, lambda parser, query: parser.surprisal(query.words))

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Return the surprisal in bits of each word of a sentence as in text, and of its end, float64 (n_words + 1,).

        RAISES (ValueError): As `surprisals`.
        """
        return self.ready_parser().surprisal(self.spell(words))

    def states(self, doc: Doc) -> list[list[StateVectors] | None]:
        """Return inside and outside vectors of the constituents and words of each sentence's tree, in pre-order.

        Only grammars, of any kind, have such vectors; the list is empty for a fall-back tree.
        """
        return self._ask(doc, lambda parser, query: parser.states(query))

    def _distributions(self, doc: Doc) -> list[Distribution | None]:
        return self._ask(doc, lambda parser, query: parser.distribution(query))

    def _ask(self, doc: Doc, question: Callable[[SentenceParser, Query], Answer]) -> list[Answer | None]:
        """Return the parser's answer for each sentence of a Doc."""
        parser, queries = self._parser_and_queries(doc)
        return [question(parser, query) if query else None for query in queries]

    def _parser_and_queries(self, doc: Doc) -> tuple[SentenceParser, list[Query | None]]:
        parser = self.ready_parser()
        sentences = self._sentences(doc)
        return parser, list(self._queries(doc, sentences, *self.evidence_of([doc])))

    # Annotation

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[DocParse]) -> None:
        """Write trees, sentence boundaries if there were none, and the surprisal of tokens if it is enabled."""
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
    """Replace the words of a tree.

    words (sequence of str): The new words, in treebank spelling.
    RAISES (ValueError): If there is no tree, or not one leaf for each word.
    """
    if tree is None or len(tree) != len(words):
        n_leaves = "no tree" if tree is None else f"a tree of {len(tree)} leaves"
        raise ValueError(f"Expected a leaf for each of the sentence's {len(words)} words, got {n_leaves}.")
    return Tree.from_spans(words, tree.tags, tree.spans())
