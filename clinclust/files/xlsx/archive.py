"""Open a workbook as the zip archive that it is, and read its parts."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol
from xml.parsers import expat

from clinclust.errors import InputError
from clinclust.files.source import Source

__all__ = ["Archive", "Attributes", "PartReader", "damaged"]

_SMALL = 100 * 2**20
_AT_ONCE = 2**18
_MOST_UNPACKED = 250
"""Sheets of numbers and words unpack to 5 to 50 times their size; deflate cannot reach more than 1032 times."""

Attributes = dict[str, str]


class PartReader(Protocol):
    """What reads the XML of a part, event by event. Names are ``"<namespace> <name>"``."""

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the beginning of an element."""

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between elements."""


def damaged(what: str) -> InputError:
    """Return the error of a workbook that breaks the rules of its format."""
    return InputError(
        f"this xlsx file is damaged ({what}); open it in Excel or LibreOffice, check it, and save it again as .xlsx"
    )


class Archive:
    """The parts of a workbook by name. Letter case in names does not matter, as in Excel."""

    def __init__(self, source: Source) -> None:
        self._file = source.open()
        try:
            with _about_the_zip("this is not an xlsx file"):
                self._zip = zipfile.ZipFile(self._file)
        except BaseException:
            self._file.close()
            raise
        self._parts: dict[str, zipfile.ZipInfo] = {}
        self._repeated: set[str] = set()
        for part in self._zip.infolist():
            key = _key(part.filename)
            if key in self._parts:
                self._repeated.add(key)
            self._parts[key] = part

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._parts

    def read(self, name: str, reader: PartReader) -> None:
        """Give the XML of a part to its reader.

        Raises
        ------
        InputError
            If the part is not there, is damaged, is not XML, or unpacks to far more than a table would.
        """
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.buffer_size = 2**16
        parser.StartElementHandler = reader.start
        parser.EndElementHandler = reader.end
        parser.CharacterDataHandler = reader.text
        parser.StartDoctypeDeclHandler = _refuse_doctype  # entities could expand without end
        try:
            for portion in self._unpacked(name):
                parser.Parse(portion)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise damaged(f"its part {name} is not XML: {error}") from None

    def _unpacked(self, name: str) -> Iterator[bytes]:
        part = self._parts.get(_key(name))
        if part is None:
            raise damaged(f"its part {name} is missing")
        if _key(name) in self._repeated:
            raise damaged(f"it holds the part {name} twice")
        if part.file_size > max(_SMALL, _MOST_UNPACKED * part.compress_size):
            raise InputError(
                f"its part {name} unpacks from {part.compress_size / 2**20:,.1f} to {part.file_size / 2**20:,.0f} MB, "
                "which no table does: save the sheet as .csv and read that"
            )
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise damaged(f"its part {name} is packed in a way that no workbook uses")
        with _about_the_zip(f"its part {name}"):
            stream = self._zip.open(part)
        with stream:
            while True:
                with _about_the_zip(f"its part {name}"):
                    portion = stream.read(_AT_ONCE)
                if not portion:
                    return
                yield portion


def _key(name: str) -> str:
    return posixpath.normpath("/" + name.replace("\\", "/")).casefold()


def _refuse_doctype(*_: object) -> None:
    raise damaged("its XML declares a document type")


@contextmanager
def _about_the_zip(what: str) -> Iterator[None]:
    """Turn what zipfile and its decompressors raise for damaged archives into InputError."""
    try:
        yield
    except NotImplementedError as error:
        raise damaged(f"{what}: {error}") from None
    except RuntimeError:  # zipfile has no better type for an encrypted part
        raise InputError("this xlsx file is locked with a password: save it without one") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError, OverflowError, IndexError) as error:
        raise damaged(f"{what}: {error or 'it ends too early'}") from None
