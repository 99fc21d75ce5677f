"""Tagged text (words with part-of-speech tags) for the bracketer: from Docs, from files, and as a spaCy corpus."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.bracketing.tags import UNIVERSAL, universal
from spacy_lpcfg.checks import shown
from spacy_lpcfg.components.doc.sentences import sentence_bounds
from spacy_lpcfg.components.training.corpus import BINARY, NO_PATH, FileCorpus, Paths, read_docs, without_trees
from spacy_lpcfg.trees import TreebankError
from spacy_lpcfg.trees.errors import OnError
from spacy_lpcfg.trees.files import treebank_files
from spacy_lpcfg.trees.lines import read_lines

Attr = Literal["pos", "tag"]

_SETTERS = {
    "pos": "a 'morphologizer', or a 'tagger' with an 'attribute_ruler' after it",
    "tag": "a 'tagger' or an 'lpcfg_parser'",
}
_OTHER: dict[Attr, Attr] = {"pos": "tag", "tag": "pos"}
SUFFIXES = (".tagged", ".tagged.gz", BINARY)
"""Endings of the files of a folder that are read besides treebanks."""


class Untagged(ValueError):
    """Raised for a Doc in which no word has a tag of the kind that bracketing needs."""


class DocSentence(NamedTuple):
    """A sentence of a Doc without its whitespace tokens.

    positions (list of int): Token positions of its words in the Doc.
    tagged (TaggedSentence): The texts and tags of the words.
    """

    positions: list[int]
    tagged: TaggedSentence


def doc_sentences(doc: Doc, bounds: Iterable[tuple[int, int]], attr: Attr) -> list[DocSentence]:
    """Return the words and tags of the sentences of a Doc.

    doc (Doc): A Doc with tags; a word without a tag gets the tag "".
    bounds (iterable of (int, int)): Start and end token of each sentence.
    attr ("pos" or "tag"): Whether the tags are `token.pos_` or `token.tag_`.
    RETURNS (list of DocSentence): All sentences, also those without words.
    RAISES (Untagged): If the Doc has words, but none with a tag.
    """
    texts = [token.text for token in doc]
    is_word = [bool(text) and not text.isspace() for text in texts]
    ids = doc.to_array(attr.upper()).tolist() if len(doc) else []
    if any(is_word) and not any(tag for tag, counts in zip(ids, is_word, strict=True) if counts):
        raise Untagged(_untagged(doc, attr))
    names = {tag: doc.vocab.strings[tag] if tag else "" for tag in set(ids)}
    sentences = []
    for start, end in bounds:
        positions = [i for i in range(start, end) if is_word[i]]
        words, tags = tuple(texts[i] for i in positions), tuple(names[ids[i]] for i in positions)
        sentences.append(DocSentence(positions, TaggedSentence(words, tags)))
    return sentences


def _untagged(doc: Doc, attr: Attr) -> str:
    other = _OTHER[attr]
    has_other = " It has token." + other + f"_: set attr = {other!r} to use that." if _has(doc, other) else ""
    return (
        f"Expected a Doc with token.{attr}_, but no word of {doc.text[:40]!r} has it. Put a component that sets it "
        f"before this one: {_SETTERS[attr]}.{has_other} In `spacy train`, a corpus reader such as "
        "spacy-lpcfg.TaggedText.v1 keeps the tags that a corpus has."
    )


def _has(doc: Doc, attr: Attr) -> bool:
    return any(doc.to_array(attr.upper()).tolist())


# Files -------------------------------------------------------------------------------------------


def read_sentences(
    paths: Paths,
    *,
    attr: Attr = "tag",
    on_error: OnError = None,
    dialect: str | None = None,
) -> Iterator[TaggedSentence]:
    """Yield the tagged sentences of files.

    paths (path or sequence of paths): Files, folders or `glob` patterns.
        Files: trees, or lines of `word/tag` (either may be gzipped), or `.spacy` files.
        Folders: their treebanks, and their files that end in `SUFFIXES`, in sorted order.
    attr ("pos" or "tag"): Whether the tags of Docs in `.spacy` files are `token.pos_` or `token.tag_`.
    on_error (callable or None): Called with the error of each broken tree or line, which is skipped; None raises it.
    dialect (str or None): The dialect of treebanks; None to recognize it.
    RAISES (TreebankError): For a broken tree or line; it names file and line.
    RAISES (Untagged): If no word of a Doc in a `.spacy` file has a tag.
    RAISES (ValueError): For a `.spacy` file that is damaged or not a DocBin.
    RAISES (FileNotFoundError): For a path where there is no file.
    """
    for path in map(Path, treebank_files(paths, dialect, SUFFIXES)):
        if path.suffix != BINARY:
            yield from read_tagged(path, on_error=on_error, dialect=dialect)
            continue
        for doc in read_docs(path, Vocab()):
            try:
                yield from (
                    sentence.tagged for sentence in doc_sentences(doc, sentence_bounds(doc), attr) if sentence.positions
                )
            except Untagged as error:
                raise Untagged(f"{path}: {error}") from error


class SentenceReader:
    """The reader `spacy-lpcfg.tagged_sentences.v1`: each call yields the tagged sentences of files from the start.

    path (path, list of paths, or None): As for `read_sentences`; None raises ValueError when called.
    attr ("pos" or "tag"): As for `read_sentences`.
    """

    # spaCy would pass a dataclass on as a dict
    def __init__(self, path: Paths | None, attr: Attr = "tag") -> None:
        self.path = path
        self.attr = attr

    def __call__(self) -> Iterator[TaggedSentence]:
        if not self.path:  # which a config may be checked without
            raise ValueError(NO_PATH.format(TaggedText.what))
        return read_sentences(self.path, attr=self.attr)


def read_tag_map(path: str | Path) -> dict[str, str]:
    """Read `spacy-lpcfg.tag_map.v1`: a mapping from the tags of a treebank to universal tags.

    path (path): A file with a tag and one of `UNIVERSAL` on each line, separated by blanks.
    RETURNS (dict of str to str): The universal tag of each tag.
    RAISES (TreebankError): If a line has another form; it names file and line.
    """
    tag_map = {}
    for number, line in enumerate(read_lines(path), start=1):
        items = line.split()
        if len(items) == 2 and items[1] in UNIVERSAL:
            tag_map[items[0]] = items[1]
        elif items:
            expected = f"Expected a tag and one of {', '.join(UNIVERSAL)}, separated by blanks"
            raise TreebankError(f"{expected}, but got {shown(line.strip())}.", str(path), number)
    return tag_map


# Corpora -----------------------------------------------------------------------------------------


class TaggedText(FileCorpus):
    """The corpus reader `spacy-lpcfg.TaggedText.v1`: a function of `nlp` that yields Examples of tagged sentences.

    path (path, list of paths, or None): As for `read_sentences`; None lets a config be checked without files, but
        reading then raises ValueError.
    limit, skip_bad: As for `FileCorpus`.
    """

    what, found, expected = "tagged text", "sentences", "trees or word/tag"

    def __init__(self, path: Paths | None, limit: int = 0, skip_bad: bool = False) -> None:
        super().__init__(path, limit, skip_bad)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield Examples whose predicted and reference Doc have the same words and tags; errors are as in `docs`.

        YIELDS (Example): A sentence, whose token.tag_ is the tag in the file, and token.pos_ its universal tag; or a
            Doc of a `.spacy` file, with the tags that it has.
        """
        for doc in self.docs(nlp.vocab):
            yield Example(doc.copy(), doc)

    def _docs(self, vocab: Vocab, on_error: Callable[[TreebankError], None]) -> Iterator[Doc]:
        for path in map(Path, treebank_files(self.paths, None, SUFFIXES)):
            if path.suffix == BINARY:
                yield from (without_trees(doc, tags=True) for doc in read_docs(path, vocab))
            else:
                yield from (tagged_doc(vocab, sentence) for sentence in read_tagged(path, on_error=on_error))


def tagged_doc(vocab: Vocab, sentence: TaggedSentence) -> Doc:
    """Create a Doc of one sentence, with its tags as token.tag_ and their universal tags as token.pos_."""
    words, tags = sentence
    return Doc(
        vocab,
        words=["_" if word.isspace() else word for word in words],
        tags=list(tags),
        pos=[universal(tag) for tag in tags],
        sent_starts=[i == 0 for i in range(len(words))],
    )
