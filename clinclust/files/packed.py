"""The bytes of a table: in a file of its own, or the one file in a gzip or zip file, within bounds."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted
from clinclust.files.reading_packages import guarded

__all__ = ["Source", "refuse_bomb", "unpacked"]

_SMALL = 100 * 2**20
_MOST_UNPACKED = 250
"""Tables unpack to 3 to 50 times their size; deflate cannot reach more than 1032 times."""
_NO_TABLE = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_AGAIN = "pack it again"


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

    def start(self, length: int) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(length)


def refuse_bomb(packed: int, length: int, what: str) -> None:
    """Raise InputError if so many bytes unpack to a length that no table of this size has."""
    if length > _most(packed):
        raise InputError(
            f"{what} from {packed / 2**20:,.1f} to more than {_most(packed) / 2**20:,.0f} MB, which no table does: "
            "unpack or open the file yourself, and save the table as .csv"
        )


def _most(packed: int) -> int:
    return max(_SMALL, _MOST_UNPACKED * packed)


def unpacked(path: Path) -> tuple[Source, list[str]]:
    """Return the table of a file, unpacked if the file is packed, and remarks on it.

    InputError says that an archive is damaged or locked, holds no table or several, or unpacks to far too much.
    """
    source = Source(path, path.suffix.lower())
    start = source.start(4)
    if start.startswith(b"\x1f\x8b"):
        packed, is_named = path.stat().st_size, source.suffix == ".gz"
        with guarded("gzip file", _AGAIN), gzip.open(path) as stream:
            content = stream.read(_most(packed) + 1)
        refuse_bomb(packed, len(content), "this gzip file unpacks")
        inner = Source(path, _suffix(path.name[:-3] if is_named else path.name), content)
        return inner, [] if is_named else ["the file is packed with gzip, although its name does not say so"]
    if start == b"PK\x03\x04" and source.suffix == ".zip":
        return _from_zip(path)
    if source.suffix in (".gz", ".zip"):
        raise InputError(f"this is not a {source.suffix[1:]} file: give it the name of what it is, such as cohort.csv")
    return source, []


def _from_zip(path: Path) -> tuple[Source, list[str]]:
    with guarded("zip file", f"unpack it, and give the file in it, or {_AGAIN}"), zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.file_size]
        tables = [entry for entry in entries if not any(part in entry.filename for part in _NO_TABLE)]
        if len(tables) != 1:
            held = listed(quoted(entry.filename) for entry in tables) or "no file"
            raise InputError(
                f"this zip file holds {held}, and one table is expected: unpack it, and give the file of the table"
            )
        name = tables[0].filename
        refuse_bomb(tables[0].compress_size, tables[0].file_size, "this zip file unpacks")
        return Source(path, _suffix(name), archive.read(name)), [f"read {quoted(name)}, the one file in this zip file"]


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()
