"""Unpack the one table of a gzip or zip file, within bounds."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, cast

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted
from clinclust.files.source import Source

__all__ = ["GZIP", "ZIP", "unpacked"]

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
_SMALL = 100 * 2**20
_MOST_UNPACKED = 250
"""Tables unpack to 3 to 50 times their size; deflate cannot reach more than 1032 times."""
_AT_ONCE = 2**20
_NO_TABLE = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_WORKBOOK_PARTS = ("[Content_Types].xml", "_rels/.rels", "mimetype", "META-INF/manifest.xml")
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".numbers")
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, ValueError, IndexError)


def unpacked(path: Path) -> tuple[Source, list[str]]:
    """Return the table of a file, unpacked if the file is packed, and remarks on what was unpacked.

    Raises
    ------
    InputError
        If the archive is damaged, is locked, holds no table or several, or unpacks to far more than a table would.
    """
    source = Source(path, path.suffix.lower())
    start = source.start(4)
    if start.startswith(GZIP) and source.suffix not in (".rds", ".rda", ".rdata"):
        return _from_gzip(path)
    if source.suffix == ".gz":
        raise InputError("this is not a gzip file: give it the name that it had before, such as cohort.csv")
    if start == ZIP and (source.suffix == ".zip" or not (source.suffix in _WORKBOOKS or _is_workbook(path))):
        return _from_zip(path)
    if source.suffix == ".zip":
        raise InputError("this is not a zip file: give it the name of what it is, such as cohort.csv")
    return source, []


def _from_gzip(path: Path) -> tuple[Source, list[str]]:
    inner = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
    remarks = (
        [] if path.suffix.lower() == ".gz" else ["the file is packed with gzip, although its name does not say so"]
    )
    try:
        with gzip.open(path) as stream:
            content = _bounded(cast(IO[bytes], stream), path.stat().st_size)
    except _DAMAGED as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"this gzip file is damaged ({error or 'it ends too early'}); pack it again") from None
    suffix = PurePosixPath(inner).suffix.lower()
    return _once(Source(path, suffix, content)), remarks


def _is_workbook(path: Path) -> bool:
    """Return whether a zip archive is a document of an office program, or too damaged to tell."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except _DAMAGED:
        return True
    return not names or any(name.replace("\\", "/").lstrip("/") in _WORKBOOK_PARTS for name in names)


def _from_zip(path: Path) -> tuple[Source, list[str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            entries = [entry for entry in entries if not any(part in entry.filename for part in _NO_TABLE)]
            tables = [entry for entry in entries if entry.filename[:1] != "." and entry.file_size]
            if len(tables) != 1:
                held = listed(quoted(entry.filename) for entry in tables) if tables else "no file"
                raise InputError(
                    f"this zip file holds {held}, and one table is expected: unpack it, and give the file of the table"
                )
            entry = tables[0]
            if entry.flag_bits & 1:
                raise InputError("this zip file is locked with a password: unpack it, and give the file in it")
            with archive.open(entry) as stream:
                content = _bounded(stream, entry.compress_size)
    except _DAMAGED as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"this zip file is damaged ({error or 'it ends too early'}); pack it again") from None
    source = _once(Source(path, PurePosixPath(entry.filename).suffix.lower(), content))
    return source, [f"read {quoted(entry.filename)}, the one file in this zip file"]


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
    if source.start(2) == GZIP and source.suffix not in (".rds", ".rda", ".rdata"):
        raise InputError("this file is packed twice: unpack it once, and give what was in it")
    if not source.content:
        raise InputError("the file in this archive is empty")
    return source
