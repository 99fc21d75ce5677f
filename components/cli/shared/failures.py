"""Input files that cannot be read: each is logged, all other files are read, and the command fails at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from spacy_lpcfg.checks import counted
from spacy_lpcfg.components.cli.shared.console import log, log_skipped, message_of, one_line

if TYPE_CHECKING:
    from spacy_lpcfg.trees.errors import OnError

Item = TypeVar("Item")


def error_of_file(file: str, error: object) -> str:
    """Return the message of an error on one line; the name of the file comes first unless the message contains it."""
    text = one_line(error)
    return text if file in text else f"{file}: {text}"


class Failures:
    """Collector of errors while many files are read: it counts unreadable files, and keeps the errors of skipped trees.

    n_files (int): The number of input files; if there is only one, its error is raised instead of logged.
    skip_bad (bool): Whether broken trees are skipped; if not, their errors recommend --skip-bad.
    """

    def __init__(self, n_files: int, *, skip_bad: bool) -> None:
        self.n_files = n_files
        self.n_failed = 0
        self._skip_bad = skip_bad
        self._broken: list[Exception] = []

    @property
    def on_error(self) -> OnError:
        """Callback for readers that keeps the error of a broken tree; None without `skip_bad`, so they raise it."""
        return self._broken.append if self._skip_bad else None

    def reading(self, file: str, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items that are read from a file; a ValueError or OSError of the reader is logged, and ends them.

        RAISES (ValueError, OSError): The error itself, if there is only one file.
        RAISES (ValueError): If all files have failed.
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
        """Log the skipped trees; raise ValueError if any file could not be read."""
        log_skipped(self._broken)
        self.check()

    def check(self) -> None:
        """Raise ValueError if any file could not be read."""
        if self.n_failed:
            others = "" if self.n_failed == self.n_files else "; the others were"
            raise ValueError(f"{self.n_failed} of {counted(self.n_files, 'file')} could not be read{others}")
