"""Files of a command that cannot be read: each is told of, the others are read, and the command fails at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared.console import log, log_skipped, message_of, one_line

if TYPE_CHECKING:
    from spacy_lpcfg.trees.errors import OnError

Item = TypeVar("Item")


def error_of_file(file: str, error: object) -> str:
    """Return an error on one line, with the name of its file before it unless it has that already."""
    text = one_line(error)
    return text if file in text else f"{file}: {text}"


class Failures:
    """The number of files that could not be read, and the errors of broken trees that were left out.

    n_files (int): The number of all files; the error of a single one is raised as it is.
    skip_bad (bool): Whether broken trees are left out; if not, their errors say that they can be.
    """

    def __init__(self, n_files: int, *, skip_bad: bool) -> None:
        self.n_files = n_files
        self.n_failed = 0
        self._skip_bad = skip_bad
        self._broken: list[Exception] = []

    @property
    def on_error(self) -> OnError:
        """The function to call with the error of a broken tree, which keeps it; None if the error is to be raised."""
        return self._broken.append if self._skip_bad else None

    def reading(self, file: str, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items of a file up to its end, or to an error, which is logged.

        RAISES (ValueError): If no file could be read.
        """
        try:
            yield from items
        except (ValueError, OSError) as error:
            text = error_of_file(file, error)
            if self.n_files == 1:
                if text == one_line(error):
                    raise
                raise ValueError(text) from error
            self.n_failed += 1
            log(error_of_file(file, message_of(error, skip_bad=self._skip_bad)))
            if self.n_failed == self.n_files:
                self.check()

    def tell(self) -> None:
        """Log the broken trees that were left out; raise ValueError if a file could not be read."""
        log_skipped(self._broken)
        self.check()

    def check(self) -> None:
        """Raise ValueError if a file could not be read."""
        if self.n_failed:
            others = "" if self.n_failed == self.n_files else "; the others were"
            raise ValueError(f"{self.n_failed} of {counted(self.n_files, 'file')} could not be read{others}")
