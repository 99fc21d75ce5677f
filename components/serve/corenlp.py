"""Answers as a CoreNLP server gives them: sentences, tokens, tags and trees, and matches of Tregex patterns.

The names of fields and the layout of trees are those of CoreNLP's JSON and text output
(https://stanfordnlp.github.io/CoreNLP/corenlp-server.html).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy.tokens import Doc

from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.sentences import find_sentences
from spacy_lpcfg.components.sentence_rule import set_sentence_starts
from spacy_lpcfg.components.tokenization import tokenize
from spacy_lpcfg.queries import TreeIndex, TreeMatch, TreeNode
from spacy_lpcfg.trees import Tree
from spacy_lpcfg.trees.heads import rules_of_tags
from spacy_lpcfg.trees.indented import indented
from spacy_lpcfg.trees.transforms import rooted

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_lpcfg.components.parsing_pipe import ParsingPipe

ANNOTATORS = ("tokenize", "ssplit", "pos", "lemma", "parse")
"""The CoreNLP annotators whose output this package can give."""
FORMATS = ("json", "text")
MAX_CHARACTERS = 100_000
"""The longest text of a request, as in CoreNLP."""
MAX_STEPS = 300_000
"""The most nodes that the search of a request may reach, each in 10 to 50 microseconds."""
MAX_ANSWER = 10_000_000
"""The most characters of the matches of a request."""
_CUT = (
    f"These are the first {{:,}} matches: a search may reach {MAX_STEPS:,} nodes, and find {MAX_ANSWER:,} characters. "
    "Ask for a shorter text, or by a pattern that says more."
)
_DEFAULT = "tokenize,ssplit,pos,parse"
_ITEM = re.compile(r"\S+")
_SENTENCE_SETTERS = {"doc.sents", "token.is_sent_start"}
_ROOT = "ROOT"


class Request(NamedTuple):
    """The options of a request to CoreNLP's server, read from its `properties`.

    annotators (frozenset of str): Some of `ANNOTATORS`.
    by_blanks (bool): Whether the text is tokenized already, with blanks between tokens (`tokenize.whitespace`).
    by_lines (bool): Whether each line is one sentence (`ssplit.eolonly`).
    is_one (bool): Whether the whole text is one sentence (`ssplit.isOneSentence`).
    as_text (bool): Whether the answer is plain text instead of JSON.
    """

    annotators: frozenset[str]
    by_blanks: bool = False
    by_lines: bool = False
    is_one: bool = False
    as_text: bool = False

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Request:
        """Create a request from CoreNLP's properties; unsupported properties are ignored.

        properties (mapping): Values by name, as for `CoreNLP.annotate`; a flag is set by "true", in upper or lower
            case.
        RAISES (ValueError): For annotators not in `ANNOTATORS`, or an output format not in `FORMATS`.
        """
        names = str(properties.get("annotators", _DEFAULT)).replace(" ", "").split(",")
        annotators = frozenset(name for name in names if name)
        if others := sorted(annotators - set(ANNOTATORS)):
            raise ValueError(f"Expected annotators among {', '.join(ANNOTATORS)}; got {', '.join(map(shown, others))}.")
        output = str(properties.get("outputFormat", FORMATS[0])).lower()
        if output not in FORMATS:
            raise ValueError(f"Expected the output format {' or '.join(FORMATS)}, got {shown(output)}.")
        return cls(
            annotators,
            _is_true(properties, "tokenize.whitespace"),
            _is_true(properties, "ssplit.eolonly"),
            _is_true(properties, "ssplit.isOneSentence"),
            output == "text",
        )


class AnnotatedSentence(NamedTuple):
    """A sentence of the text of a request, with its tree.

    doc (Doc): The Doc that contains the sentence: a line with `ssplit.eolonly`, otherwise the whole text.
    places (list of int): The token indices in `doc` of the sentence's words, at least one.
    offsets (list of (int, int)): The start and end offset of each word, in characters of the whole text.
    tree (Tree or None): The parse tree; None if the request has neither the annotator "pos" nor "parse".
    """

    doc: Doc
    places: list[int]
    offsets: list[tuple[int, int]]
    tree: Tree | None

    @property
    def words(self) -> list[str]:
        """The words: in treebank spelling (-LRB- for a parenthesis) if there is a tree, otherwise as in the text."""
        return self.tree.words if self.tree is not None else [self.doc[i].text for i in self.places]


class CoreNLP:
    """Adapter that answers the requests of a CoreNLP client with a spaCy pipeline.

    nlp (Language): The pipeline.
    component (ParsingPipe): The parser in the pipeline.
    """

    def __init__(self, nlp: Language, component: ParsingPipe) -> None:
        self.nlp, self.component = nlp, component
        assigned = {name: set(nlp.get_pipe_meta(name).assigns) for name in nlp.pipe_names if name != component.name}
        self._splitters = [name for name, assigns in assigned.items() if assigns & _SENTENCE_SETTERS]

    def annotate(self, text: str, properties: Mapping[str, Any]) -> str | dict[str, Any]:
        """Annotate a text, for `POST /`: return a dict to send as JSON, or plain text for `outputFormat` "text".

        text (str): A text of at most `MAX_CHARACTERS` characters.
        properties (mapping): CoreNLP's properties: annotators, outputFormat, tokenize.whitespace, ssplit.eolonly,
            ssplit.isOneSentence, pipelineLanguage.
        RAISES (ValueError): If the text is too long, or an annotator, output format or language is not supported.
        """
        self._check_language(properties)
        request = Request.of(properties)
        sentences = list(self._sentences(text, request))
        if request.as_text:
            return _as_text(text, sentences, request)
        return {"sentences": [_as_json(text, number, sentence, request) for number, sentence in enumerate(sentences)]}

    def tregex(
        self, text: str, pattern: str, properties: Mapping[str, Any], has_left: Callable[[], bool] = lambda: False
    ) -> dict[str, Any]:
        """Search the parse trees of a text for a Tregex pattern, for `POST /tregex`: return the matches per sentence.

        The search stops after visiting `MAX_STEPS` nodes, or at `MAX_ANSWER` characters of matches; the answer then has
        the field "warning".

        text (str), properties (mapping): As for `annotate`; the property annotators is ignored.
        pattern (str): The Tregex pattern.
        has_left (callable): Called during the search; returns whether the client has disconnected.
        RAISES (ValueError): As in `annotate`, and if `pattern` is not a valid Tregex pattern.
        RAISES (ConnectionAbortedError): If the client has disconnected.
        """
        self._check_language(properties)
        sentences = list(self._sentences(text, Request.of({**properties, "annotators": _DEFAULT})))
        trees_of_text = [rooted(sentence.tree, _ROOT) for sentence in sentences if sentence.tree]
        rules = rules_of_tags((tag for tree in trees_of_text for tag in tree.tags), self.nlp.vocab.lang)
        index = TreeIndex.from_trees(trees_of_text, rules)
        matches: list[dict[str, Any]] = [{} for _ in sentences]
        limits = _SearchLimits(has_left)
        try:
            for match in index.search(pattern, on_step=limits.on_step):
                number = match.node.tree_number
                found = _match(text, sentences[number], match)
                limits.on_match(found)
                matches[number][str(len(matches[number]))] = {"sentIndex": number, **found}
        except _CutError:
            return {"sentences": matches, "warning": _CUT.format(sum(map(len, matches)))}
        return {"sentences": matches}

    def _check_language(self, properties: Mapping[str, Any]) -> None:
        """Raise ValueError unless `pipelineLanguage` is missing, "default", or the language of the pipeline."""
        served = (self.nlp.lang or "", type(self.nlp).__name__.lower())
        language = properties.get("pipelineLanguage", "default")
        if str(language).lower() not in (*served, "default"):
            raise ValueError(f"Expected the pipelineLanguage {' or '.join(served)}, got {shown(language)}.")

    def _sentences(self, text: str, request: Request) -> Iterator[AnnotatedSentence]:
        """Parse a text, and yield its sentences that have words.

        RAISES (ValueError): If the text has more than `MAX_CHARACTERS` characters.
        """
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"Expected a text of at most {MAX_CHARACTERS:,} characters, got {len(text):,}.")
        parts = list(_lines(text)) if request.by_lines else [(0, text)]
        docs = [self._doc(part, request) for _, part in parts]
        is_parsed = bool(request.annotators & {"pos", "parse"})
        disabled = self._splitters if request.by_lines or request.is_one else []
        disabled = disabled if is_parsed else [*disabled, self.component.name]
        parsed = self.nlp.pipe((doc for doc, _ in docs), disable=disabled)
        for doc, (start, _), (_, offsets) in zip(parsed, parts, docs, strict=True):
            positions = find_sentences(doc, self.component.spans_key).positions
            of_doc = trees(doc, self.component.spans_key) if is_parsed and len(doc) else [None] * len(positions)
            for places, tree in zip(positions, of_doc, strict=True):
                if places:
                    spans = [(start + offsets[i][0], start + offsets[i][1]) for i in places]
                    yield AnnotatedSentence(doc, places, spans, tree)

    def _doc(self, part: str, request: Request) -> tuple[Doc, list[tuple[int, int]]]:
        """Tokenize a part of the text; return the Doc, and the start and end character of each token in the part."""
        if request.by_blanks:
            items = list(_ITEM.finditer(part))
            doc = Doc(self.nlp.vocab, words=[item.group() for item in items])
            offsets = [item.span() for item in items]
        else:
            doc = tokenize(self.nlp, part)
            offsets = [(token.idx, token.idx + len(token)) for token in doc]
        if request.by_lines or request.is_one:
            set_sentence_starts(doc, [i == 0 for i in range(len(doc))])
        return doc, offsets


class _CutError(Exception):
    """Raised to stop a search that has reached `MAX_STEPS` or `MAX_ANSWER`."""


class _SearchLimits:
    """Counter of visited nodes and matched characters, which stops a search at `MAX_STEPS` or `MAX_ANSWER`.

    has_left (callable): Returns whether the client has disconnected.
    """

    def __init__(self, has_left: Callable[[], bool]) -> None:
        self.has_left = has_left
        self.n_steps = self.n_characters = 0

    def on_step(self, n_nodes: int) -> None:
        self.n_steps += n_nodes
        if self.n_steps > MAX_STEPS:
            raise _CutError
        if self.has_left():
            raise ConnectionAbortedError("The client has left.")

    def on_match(self, match: Mapping[str, Any]) -> None:
        names = (text for node in match["namedNodes"] for text in node.values())
        self.n_characters += sum(map(len, (match["match"], match["spanString"], *names)))
        if self.n_characters > MAX_ANSWER:
            raise _CutError


def _match(text: str, sentence: AnnotatedSentence, match: TreeMatch) -> dict[str, Any]:
    """Return a Tregex match as CoreNLP's JSON object, without the field "sentIndex"."""
    offsets = sentence.offsets[match.node.start : match.node.end]
    begin, end = offsets[0][0], offsets[-1][1]
    return {
        "characterOffsetBegin": begin,
        "characterOffsetEnd": end,
        "match": _indented(match.node),
        "spanString": text[begin:end],
        "namedNodes": [{name: _indented(node)} for name, node in match.names.items()],
    }


def _indented(node: TreeNode) -> str:
    """Return the subtree of a node as a bracketed tree on indented lines; for a leaf, its word."""
    return (node.label if node.is_word else indented(node.tree)) + "\n"


def _is_true(properties: Mapping[str, Any], name: str) -> bool:
    return str(properties.get(name, "")).lower() == "true"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line of a text as (offset of its first character, line)."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _as_json(text: str, number: int, sentence: AnnotatedSentence, request: Request) -> dict[str, Any]:
    tokens = list(_tokens(text, sentence, request))
    if sentence.tree is None or "parse" not in request.annotators:
        return {"index": number, "tokens": tokens}
    return {"index": number, "parse": indented(rooted(sentence.tree, _ROOT)), "tokens": tokens}


def _tokens(text: str, sentence: AnnotatedSentence, request: Request) -> Iterator[dict[str, Any]]:
    """Yield each token of a sentence as CoreNLP's JSON object, with lemma and tag if the request asks for them."""
    tags = sentence.tree.tags if sentence.tree is not None else [""] * len(sentence.places)
    spans = zip(sentence.places, sentence.offsets, sentence.words, tags, strict=True)
    for k, (position, (begin, end), word, tag) in enumerate(spans):
        fields = {
            "index": k + 1,
            "word": word,
            "originalText": text[begin:end],
            "characterOffsetBegin": begin,
            "characterOffsetEnd": end,
        }
        if lemma := sentence.doc[position].lemma_ if "lemma" in request.annotators else "":
            fields["lemma"] = lemma
        if "pos" in request.annotators:
            fields["pos"] = tag
        before, after = _blanks_before(text, begin), _blanks_after(text, end)
        yield {**fields, "before": before, "after": after}


def _blanks_before(text: str, begin: int) -> str:
    start = begin
    while start and text[start - 1].isspace():
        start -= 1
    return text[start:begin]


def _blanks_after(text: str, end: int) -> str:
    stop = end
    while stop < len(text) and text[stop].isspace():
        stop += 1
    return text[end:stop]


def _as_text(text: str, sentences: Sequence[AnnotatedSentence], request: Request) -> str:
    n_tokens = sum(len(sentence.places) for sentence in sentences)
    parts = [f"Document: ({len(sentences)} sentences, {n_tokens} tokens)\n"]
    for number, sentence in enumerate(sentences, start=1):
        part = text[sentence.offsets[0][0] : sentence.offsets[-1][1]]
        tokens = "\n".join(map(_token_line, _tokens(text, sentence, request)))
        parts.append(f"\nSentence #{number} ({len(sentence.places)} tokens):\n{part}\n\nTokens:\n{tokens}\n")
        if sentence.tree is not None and "parse" in request.annotators:
            parts.append(f"\nConstituency parse: \n{indented(rooted(sentence.tree, _ROOT))}\n")
    return "".join(parts)


_TEXT_FIELDS = {
    "Text": "originalText",
    "CharacterOffsetBegin": "characterOffsetBegin",
    "CharacterOffsetEnd": "characterOffsetEnd",
    "PartOfSpeech": "pos",
    "Lemma": "lemma",
}


def _token_line(token: Mapping[str, Any]) -> str:
    return f"[{' '.join(f'{name}={token[field]}' for name, field in _TEXT_FIELDS.items() if field in token)}]"
