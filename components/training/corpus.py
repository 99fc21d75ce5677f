"""Treebanks as spaCy corpora: Examples from files of trees, or from DocBins with trees."""

import gc
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab

from spacy_lpcfg.checks import counted, shown, whole
from spacy_lpcfg.components.doc.sentences import multiwords_of
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.components.doc.write import set_trees, text_of
from spacy_lpcfg.storage.container import read_file
from spacy_lpcfg.storage.reader import ContainerReader, MemoryBudget, TooLargeError, limit
from spacy_lpcfg.trees import Tree, TreebankError, read_trees
from spacy_lpcfg.trees.files import shared_dialect, treebank_files
from spacy_lpcfg.trees.formats import told
from spacy_lpcfg.trees.reading import checked_dialect
from spacy_lpcfg.trees.transforms import normalize_rooted

BINARY = ".spacy"

Paths = str | Path | list[str] | list[Path]
NO_PATH = "The {} has no path: set it, for example by --paths.train FILE."


class FileCorpus:
    """Base class of corpus readers of files, which raise an error for a broken tree or line, or skip it.

    path (path, list of paths, or None): Files, folders or `glob` patterns. With None, which lets a config be checked
        without files, reading raises ValueError.
    limit (int): Maximum number of Docs to read; 0 for all.
    skip_bad (bool): Whether to skip broken trees and lines, and log their number once, instead of raising
        TreebankError.

    Class attributes for messages:

    what (str): The name of the corpus, such as "treebank".
    found (str): The name of its parts, a plural in -s, such as "trees".
    expected (str): What its files should hold.
    """

    what: ClassVar[str]
    found: ClassVar[str]
    expected: ClassVar[str]

    def __init__(self, path: Paths | None, limit: int, skip_bad: bool) -> None:
        whole(0)(limit=limit)
        self.paths = [Path(p) for p in ([path] if isinstance(path, (str, Path)) else path or ())]
        self.limit = limit
        self.skip_bad = skip_bad
        self._warned = False

    def docs(self, vocab: Vocab) -> Iterator[Doc]:
        """Yield the Docs of the files: one for each tree or sentence; the Docs of a `.spacy` file as they are.

        RAISES (ValueError): If there is no path, or no file has a Doc.
        RAISES (TreebankError): For a broken tree or line, unless `skip_bad`; it names file and line.
        RAISES (FileNotFoundError): For a path where there is no file.
        """
        if not self.paths:
            raise ValueError(NO_PATH.format(self.what))
        errors: list[TreebankError] = []
        n_docs = 0
        for doc in islice(self._docs(vocab, errors.append if self.skip_bad else refuse_broken), self.limit or None):
            n_docs += 1
            yield doc
        if errors and not self._warned:
            n_broken = counted(len(errors), f"broken {self.found[:-1]} was", f"broken {self.found} were")
            logger.warning("%s skipped, the first at %s", n_broken, errors[0])
            self._warned = True
        if not n_docs:
            raise ValueError(f"No {self.found} in {', '.join(map(str, self.paths))}: expected {self.expected}.")

    def _docs(self, vocab: Vocab, on_error: Callable[[TreebankError], None]) -> Iterator[Doc]:
        raise NotImplementedError


class Treebank(FileCorpus):
    """The corpus reader `spacy-lpcfg.Treebank.v1`: a function of `nlp` that yields an Example for each tree.

    path (path, list of paths, or None): Files of trees, gzipped or not, `.spacy` files, folders of such files, or
        `glob` patterns; None lets a config be checked without files, but reading then raises ValueError.
    limit (int): Maximum number of Docs to read: one for each tree; the Docs of a `.spacy` file as they are. 0 for
        all.
    skip_bad (bool): Whether to skip malformed trees and log their number, instead of raising TreebankError.
    gold_tags (bool): Whether the predicted Docs get the gold tags, fine and coarse, as a parser with `tags = "given"`
        and a bracketer need them.
    spans_key (str): Key of the trees in `Doc.spans`.
    dialect (str or None): One of `spacy_lpcfg.trees.formats.DIALECTS`; None to recognize it.
    functions (bool): Whether constituent labels keep their function labels, as in NP-SBJ.
    coarse_tags (bool): Whether tags are reduced to parts of speech, such as N-A to N.

    Trees in `.spacy` files are used as they are: `dialect`, `functions` and `coarse_tags` do not apply to them.
    """

    what, found = "treebank", "trees"
    expected = "bracketed trees such as (S (NP (PRP It)) (VP (VBZ works))), or a .spacy file made of them"

    def __init__(
        self,
        path: Paths | None,
        limit: int = 0,
        skip_bad: bool = False,
        gold_tags: bool = False,
        spans_key: str = KEY,
        dialect: str | None = None,
        functions: bool = False,
        coarse_tags: bool = False,
    ) -> None:
        super().__init__(path, limit, skip_bad)
        self.gold_tags = gold_tags
        self.spans_key = spans_key
        self.dialect = checked_dialect(dialect)
        self.functions = functions
        self.coarse_tags = coarse_tags

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield an Example for each Doc of `docs`; errors are as in `docs`.

        nlp (Language): The pipeline. Unless `gold_tags`, its tokenizer makes the predicted Doc where the text is known.
        YIELDS (Example): The reference has words, tags, sentence starts and trees. The predicted Doc has no trees.
        """
        for reference in self.docs(nlp.vocab):
            if self.gold_tags or reference.has_unknown_spaces or multiwords_of(reference):
                yield Example(without_trees(reference, tags=self.gold_tags), reference)
            else:
                yield Example(nlp.make_doc(reference.text), reference)

    def _docs(self, vocab: Vocab, on_error: Callable[[TreebankError], None]) -> Iterator[Doc]:
        paths = [*treebank_files(self.paths, self.dialect, (BINARY,))]
        dialect = self.dialect or shared_dialect(path for path in paths if not path.endswith(BINARY))
        dropped: Counter[str] = Counter()
        for file in map(Path, paths):
            if file.suffix == BINARY:
                yield from _with_trees(read_docs(file, vocab), file, self.spans_key)
            else:
                form: dict[str, Any] = {"dialect": dialect, "coarse_tags": self.coarse_tags}
                read = read_trees(file, on_error=on_error, dropped=dropped, **form)
                trees = map(partial(normalize_rooted, functions=self.functions), read)
                yield from (tree_to_doc(vocab, [_without_text(tree)], self.spans_key) for tree in trees if tree)
        if changed := told(dropped):
            logger.info("trees were read as %s: %s", dialect, changed)


def without_trees(doc: Doc, *, tags: bool) -> Doc:
    """Copy a Doc without its trees: its words and sentence starts, and with `tags` its fine and coarse tags."""
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc],
        sent_starts=[token.is_sent_start for token in doc],
        tags=[token.tag_ for token in doc] if tags else None,
        pos=[token.pos_ for token in doc] if tags else None,
    )


def _without_text(tree: Tree) -> Tree:
    """Remove the source text of a tree, so that the words of the treebank are used and not the words of a tokenizer."""
    return tree.with_source(tree.source._replace(text=None)) if tree.source else tree


def refuse_broken(error: TreebankError) -> None:
    """Raise the error of a malformed tree, with advice on how a config skips such trees.

    RAISES (TreebankError): Always.
    """
    raise TreebankError(f"{error.message} Or set skip_bad = true, which leaves it out.", error.path, error.line)


def tree_to_doc(vocab: Vocab, trees: Sequence[Tree], key: str = KEY) -> Doc:
    """Create a Doc with a sentence for each tree: with words as in text, tags, sentence starts and trees.

    vocab (Vocab): The vocabulary of the Doc.
    trees (sequence of Tree): Normalized trees over words in treebank form.
    key (str): Key of the trees in `doc.spans`.
    RETURNS (Doc): A Doc with these trees. It has their text if all trees have one; otherwise its spaces are unknown.
    """
    texts = [tree.source.text for tree in trees if tree.source and tree.source.text]
    is_known = len(texts) == len(trees)
    doc = Doc(
        vocab,
        words=[word for text in texts for word in text.words]
        if is_known
        else [text_of(word) for tree in trees for word in tree.words],
        spaces=[space for text in texts for space in text.spaces] if is_known else None,
        sent_starts=[not i for tree in trees for i in range(len(tree))],
    )
    set_trees(doc, trees, key)
    return doc


def read_docs(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a `.spacy` file; errors are as in `docs_of` and `read_file`."""
    yield from docs_of(read_file(path), str(path), vocab)


def docs_of(data: bytes, name: str, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a serialized DocBin.

    name (str): The name of the file, for errors.
    RAISES (ValueError): If the bytes are not a DocBin, or damaged.
    RAISES (TooLargeError): If the Docs would take more memory than is allowed.
    """
    try:
        _check_memory(data)
        for doc in DocBin(store_user_data=True).from_bytes(data).get_docs(vocab):
            _check(doc)
            yield doc
    except TooLargeError as error:
        raise TooLargeError(f"{name}: {error}") from error
    except Exception as error:
        gc.enable()  # srsly turns the garbage collection off, and leaves it off when it fails
        raise ValueError(f"{name} is no .spacy file, or damaged: copy it or make it again ({error})") from error


def _check_memory(data: bytes) -> None:
    """Check that reading the bytes of a DocBin takes no more memory than is allowed.

    RAISES (TooLargeError): If it takes more.
    RAISES (StorageError, zlib.error): If the bytes are not a DocBin.
    """
    max_bytes, budget = limit() // _COPIES, MemoryBudget()
    unzipped = zlib.decompressobj().decompress(data, max_bytes + 1)
    budget.take(_COPIES * len(unzipped))
    values = ContainerReader(unzipped, budget).read()
    lengths = np.frombuffer(values["lengths"], dtype=np.int32)
    budget.take(_DOC * len(lengths) + _TOKEN * int(lengths.max(initial=0)) + _STRING * len(values["strings"]))
    for name in ("span_groups", "user_data"):
        budget.take(_BYTE * max((len(entry or b"") for entry in values.get(name, ())), default=0))


_COPIES = 3  # of what was compressed, that there are at once
_DOC, _TOKEN, _STRING = 512, 512, 512  # bytes of a Doc before it is made, of each of its tokens, and of each string
_BYTE = 72  # bytes that each byte of msgpack may take: an empty map takes so much


def _check(doc: Doc) -> None:
    """Access all words, tags and spans, so that damage, which spaCy detects lazily, is found."""
    for token in doc:
        _ = token.text, token.tag_, token.pos_
    for group in doc.spans.values():
        _ = [(span.start, span.end, span.label_) for span in group]


def _with_trees(docs: Iterable[Doc], file: Path, key: str) -> Iterator[Doc]:
    for doc in docs:
        if key not in doc.spans:
            raise ValueError(
                f"{file}: doc.spans of a Doc has no trees under {key!r}, only {shown(sorted(doc.spans))}. "
                "Make the file with `spacy-lpcfg convert`, or set spans_key."
            )
        yield doc
