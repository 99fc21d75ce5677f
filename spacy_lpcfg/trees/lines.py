"""Read the lines of treebank files and other texts: plain or gzipped, in any encoding that keeps ASCII."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO, Protocol, cast

from spacy_lpcfg.checks import shown
from spacy_lpcfg.storage.files import PathLike, open_file
from spacy_lpcfg.trees.errors import BrokenFileError

UTF_8 = "utf-8"
LONGEST_LINE = 2**26
"""Limit on the bytes of a line, and on the characters of a tree, which bounds memory."""
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*encoding=["']([^"']+)""")
_TOO_LONG = "Expected a line of at most {n:,} bytes, but it goes on. Is this a text, with line breaks?"


def read_lines(path: PathLike, encoding: str = UTF_8) -> Iterator[str]:
    """Yield the lines of a file, plain or gzipped (recognized by content), with their line breaks.

    Arguments and errors are those of `decode_lines`; an error in opening the file is raised as by `open_file`.
    """
    with opened(path) as file:
        yield from decode_lines(file, os.fspath(path), encoding)


@contextmanager
def opened(path: PathLike) -> Iterator[BinaryIO]:
    """Context manager: open a file for reading bytes, decompressed if it is gzipped; errors as for `open_file`."""
    with open_file(path) as file:
        is_zipped = file.peek(2)[:2] == b"\x1f\x8b"
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_zipped else file


class Readable(Protocol):
    """Protocol of a binary stream that can be read line by line, such as an open file."""

    def readline(self, size: int = ..., /) -> bytes: ...


def decode_lines(stream: Readable, path: str, encoding: str = UTF_8) -> Iterator[str]:
    """Yield the decoded lines of a binary stream, with their line breaks.

    stream (Readable): A binary stream, such as an open file; in UTF-8 it may begin with a byte order mark.
    path (str): What error messages call the stream, such as the name of its file.
    encoding (str): An encoding that keeps ASCII, such as gb18030; ignored if the stream is XML and declares one.
    RAISES (BrokenFileError): If the stream has another encoding, is damaged gzip data, or has a line of more than
        `LONGEST_LINE` bytes.
        (ValueError): If the encoding is unknown or does not keep ASCII.
    """
    number = 0
    try:
        for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise BrokenFileError(_TOO_LONG.format(n=LONGEST_LINE), path, number)
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
                encoding = _declared_encoding(line, path) or checked_encoding(encoding)
            yield line.decode(encoding)
    except UnicodeDecodeError as error:
        raise BrokenFileError(
            f"Expected {encoding.upper()}, but got the byte {error.object[error.start]:#04x}. Convert the "
            "file, for instance with iconv, or trees with `spacy-lpcfg convert --encoding gb18030` or the like.",
            path,
            number,
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BrokenFileError(
            f"Expected a complete gzip file, but it is damaged: {error}. Fetch or make the file again.",
            path,
            number + 1,
        ) from error


def checked_encoding(name: str) -> str:
    """Check that an encoding exists and keeps ASCII; return its name in lower case.

    RAISES (ValueError): If the encoding is unknown or does not keep ASCII.
    """
    try:
        is_known = "\n".encode(name) == b"\n"
    except (LookupError, UnicodeError):
        is_known = False
    if not is_known:
        raise ValueError(f"Expected an encoding that keeps ASCII, such as gb18030 or latin-1, but got {shown(name)}.")
    return name.lower()


def _declared_encoding(line: bytes, path: str) -> str | None:
    """Return the encoding that the first line of an XML file declares; None if it declares none.

    RAISES (BrokenFileError): If the declared encoding is unknown or does not keep ASCII.
    """
    declared = _XML_ENCODING.match(line)
    if declared is None:
        return None
    name = declared[1].decode("ascii", "replace")
    try:
        return checked_encoding(name)
    except ValueError as error:
        raise BrokenFileError(
            f"Expected UTF-8 or an encoding that keeps ASCII, but the file declares {shown(name)}. Convert the file, "
            "for instance with iconv.",
            path,
            1,
        ) from error
