"""Errors in treebank files, which are raised or passed to a callback `on_error`."""

from __future__ import annotations

from collections.abc import Callable


class TreebankError(ValueError):
    """An error in a treebank file or text, with its position.

    message (str): What is wrong and how to mend it, without the position.
    path (str): The file, or the name that `parse_trees` was given for the text.
    line (int): The number of the line with the error, from 1; for a malformed tree in brackets its first line.
    """

    def __init__(self, message: str, path: str, line: int) -> None:
        super().__init__(message, path, line)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


OnError = Callable[[TreebankError], None] | None
"""The function to call with the error of a broken tree, which is then skipped; None to raise the error."""


def raise_or_report(error: TreebankError, on_error: OnError) -> None:
    """Raise the error of a malformed tree if `on_error` is None; otherwise call `on_error` with the error."""
    if on_error is None:
        raise error
    on_error(error)


class BrokenFileError(TreebankError):
    """Raised, even if there is an `on_error`, for a file that cannot be read further, such as damaged gzip data."""
