"""The file of corrected trees, which only one server may write at a time."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from spacy_lpcfg.storage.owned_file import OwnedFile
from spacy_lpcfg.trees import Tree, read_trees
from spacy_lpcfg.trees.brackets import bracket_lines
from spacy_lpcfg.trees.transforms import unescape_token


class CorrectedTrees:
    """The given and the saved trees of the sentences of a text, and the file that they are saved to.

    path (path): The file; its trees are in the order of the text. It is written whenever a tree is saved, and no other
        process may write it until `close`.
    given (sequence of Tree): A tree for each sentence to begin with, which is in the file until another is saved in its
        place. If empty, the file has only the saved trees.
    resume (bool): Whether to continue with an existing file, which `take_saved` reads.
    RAISES (ValueError): If the file exists and `resume` is false, or if another process corrects trees in it.
    """

    def __init__(self, path: str | PathLike[str], *, given: Sequence[Tree] = (), resume: bool = False) -> None:
        self.path = Path(path)
        self.given = dict(enumerate(given))
        self.saved: dict[int, Tree] = {}
        self._file = OwnedFile(path, resume=resume)

    def close(self) -> None:
        """Release the file, so that another process may write it."""
        self._file.close()

    def get(self, position: int) -> Tree | None:
        """Return the saved tree of a sentence, or else its given tree; None if it has neither.

        position (int): The number of the sentence in the text, from 0.
        """
        return self.saved.get(position) or self.given.get(position)

    def take_saved(self, sentences: Sequence[Sequence[str]]) -> None:
        """Read the trees in the file, if it exists, as the saved trees of the sentences with the same words.

        Sentences with the same words get their trees in the order of the file. A tree that equals the given tree of its
        sentence does not count as saved.

        sentences (sequence of sequence of str): The words of all sentences of the text, in treebank spelling.
        RAISES (ValueError): If the file has a tree over other words; the file is then released.
        """
        if not self.path.exists():
            return
        places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for position in reversed(range(len(sentences))):
            places[_plain(sentences[position])].append(position)
        for tree in read_trees(self.path):
            if not places[_plain(tree.words)]:
                self.close()
                raise ValueError(
                    f"{self.path} has a tree over {' '.join(tree.words)!r}, which is no sentence to correct: resume "
                    "a file that was made of the same text."
                )
            position = places[_plain(tree.words)].pop()
            if tree != self.given.get(position):
                self.saved[position] = tree

    def save(self, position: int, tree: Tree) -> None:
        """Save the tree of a sentence: write the file with it and with the saved or given trees of the other sentences.

        position (int): The number of the sentence in the text, from 0.
        RAISES (ValueError): If the file was changed by another program.
        RAISES (OSError): If the file cannot be written.

        After an error the tree does not count as saved.
        """
        if position in self.given:
            tree = Tree.from_spans(self.given[position].words, tree.tags, tree.spans())  # which a parser may respell
        saved = {**self.saved, position: tree}
        lines = bracket_lines(tree for _, tree in sorted({**self.given, **saved}.items()))
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        self._file.write(gzip.compress(data, mtime=0) if self.path.suffix == ".gz" else data)
        self.saved = saved


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    """Return words as in text, without treebank escapes such as -LRB-."""
    return tuple(map(unescape_token, words))
