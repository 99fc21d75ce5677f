"""The file of corrected trees, which belongs to one server at a time."""

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
    """The trees that were given or saved, by the positions of their sentences in a text, and their file.

    path (path): The file, in the order of the text, written whenever a tree is saved. It belongs to this object until
        `close`.
    given (sequence of Tree): A tree for each sentence to begin with; then the file has all of them, corrected as far as
        they are saved. Without any it has those that were saved.
    resume (bool): Whether to go on with a file that is there, which `take_saved` reads.
    RAISES (ValueError): If the file exists and `resume` is false, or if another process corrects trees in it.
    """

    def __init__(self, path: str | PathLike[str], *, given: Sequence[Tree] = (), resume: bool = False) -> None:
        self.path = Path(path)
        self.given = dict(enumerate(given))
        self.saved: dict[int, Tree] = {}
        self._file = OwnedFile(path, resume=resume)

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def get(self, position: int) -> Tree | None:
        """Return the tree of a sentence that was saved, or else given."""
        return self.saved.get(position) or self.given.get(position)

    def take_saved(self, sentences: Sequence[Sequence[str]]) -> None:
        """Take the trees in the file, if it is there, as those of the sentences with the same words.

        sentences (sequence of sequence of str): The words of all sentences of the text, in treebank spelling.
        RAISES (ValueError): If the file has a tree over other words.
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
        """Write a tree, and all that were given or saved before.

        RAISES (ValueError): If the file is not as this object left it. (OSError): If it cannot be written. Then the
            tree does not count as saved.
        """
        saved = {**self.saved, position: tree}
        lines = bracket_lines(tree for _, tree in sorted({**self.given, **saved}.items()))
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        self._file.write(gzip.compress(data, mtime=0) if self.path.suffix == ".gz" else data)
        self.saved = saved


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    """Return words as in text, whatever their treebank spelling."""
    return tuple(map(unescape_token, words))
