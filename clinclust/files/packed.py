"""The bytes of a table: in a file of its own, or unpacked from a gzip or zip file, within bounds."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted

__all__ = ["Source", "unpacked"]

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_SMALL = 100 * 2**20
_MOST_UNPACKED = 250
"""Tables unpack to 3 to 50 times their size; deflate cannot reach more than 1032 times."""
_AT_ONCE = 2**20
_NO_TABLE = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_WORKBOOK_PARTS = ("[Content_Types].xml", "_rels/.rels", "mimetype", "META-INF/manifest.xml")
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".numbers")
_OF_R = (".rds", ".rda", ".rdata")
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, ValueError, IndexError)


@dataclass(frozen=True)
class Source:
    """The bytes of a table: in the file at `path`, or, if they were unpacked, in `content`.

    `suffix` is what the name of the table ends in, in lower case: ``.csv`` for ``cohort.csv.gz`` too.
    """

    path: Path
    suffix: str
    content: bytes | None = None

    def open(self) -> BinaryIO:
        """Return the bytes as a file to read, which the caller closes."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def read(self) -> bytes:
        """Return all bytes."""
        return self.path.read_bytes() if self.content is None else self.content

    def size(self) -> int:
        """Return the number of bytes."""
        return self.path.stat().st_size if self.content is None else len(self.content)

    def start(self, length: int) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(length)


def unpacked(path: Path) -> tuple[Source, list[str]]:
    """Return the table of a file, unpacked if the file is packed, and remarks on what was unpacked.

    Raises
    ------
    InputError
        If the archive is damaged, is locked, holds no table or several, or unpacks to far more than a table would.
    """
    source = Source(path, path.suffix.lower())
    start = source.start(4)
    if start.startswith(_GZIP) and source.suffix not in _OF_R:
        with _about("gzip"), gzip.open(path) as stream:
            content = _bounded(cast(IO[bytes], stream), path.stat().st_size)
        named = source.suffix == ".gz"
        inner = Source(path, PurePosixPath(path.name[:-3] if named else path.name).suffix.lower(), content)
        return _once(inner), [] if named else ["the file is packed with gzip, although its name does not say so"]
    if start == _ZIP and (source.suffix == ".zip" or not (source.suffix in _WORKBOOKS or _is_workbook(path))):
        return _from_zip(path)
    if source.suffix in (".gz", ".zip"):
        kind = "gzip" if source.suffix == ".gz" else "zip"
        raise InputError(f"this is not a {kind} file: give it the name of what it is, such as cohort.csv")
    return source, []


@contextmanager
def _about(kind: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(f"this {kind} file is damaged ({error or 'it ends too early'}); pack it again") from None


def _is_workbook(path: Path) -> bool:
    """Return whether a zip archive is a document of an office program, or too damaged to tell."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except _DAMAGED:
        return True
    return not names or any(name.replace("\\", "/").lstrip("/") in _WORKBOOK_PARTS for name in names)


def _from_zip(path: Path) -> tuple[Source, list[str]]:
    with _about("zip"), zipfile.ZipFile(path) as archive:
        tables = [
            entry
            for entry in archive.infolist()
            if entry.file_size and entry.filename[:1] != "." and not any(part in entry.filename for part in _NO_TABLE)
        ]
        if len(tables) != 1:
            held = listed(quoted(entry.filename) for entry in tables) if tables else "no file"
            raise InputError(
                f"this zip file holds {held}, and one table is expected: unpack it, and give the file of the table"
            )
        if tables[0].flag_bits & 1:
            raise InputError("this zip file is locked with a password: unpack it, and give the file in it")
        with archive.open(tables[0]) as stream:
            content = _bounded(stream, tables[0].compress_size)
    name = tables[0].filename
    source = _once(Source(path, PurePosixPath(name).suffix.lower(), content))
    return source, [f"read {quoted(name)}, the one file in this zip file"]


def _bounded(stream: IO[bytes], packed: int) -> bytes:
    """Return all that a stream unpacks, or raise InputError if it is far more than a table of this size would be."""
    most = max(_SMALL, _MOST_UNPACKED * packed)
    portions, length = [], 0
    while portion := stream.read(_AT_ONCE):
        length += len(portion)
        if length > most:
            raise InputError(
                f"{packed / 2**20:,.1f} MB unpack to more than {most / 2**20:,.0f} MB, which no table does: unpack the "
                "file yourself, look at it, and give what is in it"
            )
        portions.append(portion)
    return b"".join(portions)


def _once(source: Source) -> Source:
    """Return the source, or raise InputError if it is packed again."""
    if source.start(2) == _GZIP and source.suffix not in _OF_R:
        raise InputError("this file is packed twice: unpack it once, and give what was in it")
    if not source.content:
        raise InputError("the file in this archive is empty")
    return source
