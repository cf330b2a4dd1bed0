"""Open a workbook as the zip archive that it is, and read the XML of its parts within bounds."""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from clinclust.errors import InputError
from clinclust.files.packed import Source

__all__ = ["LOCAL", "Archive", "damaged"]

_SMALL = 100 * 2**20
_AT_ONCE = 2**13  # larger portions keep so many elements that the garbage collector triples the time
_MOST_UNPACKED = 250
"""Sheets of numbers and words unpack to 5 to 50 times their size; deflate cannot reach more than 1032 times."""
_NAMESPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/package/2006/relationships",
)
_ELEMENTS = (
    *("worksheet", "col", "sheetData", "row", "c", "f", "v", "is", "r", "t", "mergeCell", "workbookPr", "sheet"),
    *("calcPr", "si", "numFmt", "cellXfs", "xf", "Relationship"),
)
LOCAL = {f"{{{namespace}}}{element}": element for namespace in _NAMESPACES for element in _ELEMENTS}
"""The names of the elements that are read, without namespace (transitional and strict); no others are read."""

_READ = frozenset(_ELEMENTS) - {"c", "v", "f", "t", "r", "is", "xf"}  # the others are read as their parts
_LARGE = ("row", "si")  # emptied when they are read, because a part may have a million of them


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
        self._parts: dict[str, list[zipfile.ZipInfo]] = {}
        for part in self._zip.infolist():
            self._parts.setdefault(_key(part.filename), []).append(part)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._parts

    def elements(self, name: str) -> Iterator[tuple[str, Element]]:
        """Yield the elements of a part that are read (see `LOCAL`), each when it is complete, with its name.

        Raises
        ------
        InputError
            If the part is not there, is damaged, is not XML, or unpacks to far more than a table would.
        """
        parser: XMLPullParser[Any] = XMLPullParser(("end",))
        try:
            for number, portion in enumerate(self._unpacked(name)):
                if number == 0 and b"<!DOCTYPE" in portion.replace(b"\0", b""):  # whose entities could expand
                    raise damaged("its XML declares a document type")
                parser.feed(portion)
                for _, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
                    tag = LOCAL.get(element.tag)
                    if tag in _READ:
                        yield tag, element
                    if tag in _LARGE:
                        element.clear()
            parser.close()
        except ParseError as error:
            raise damaged(f"its part {name} is not XML: {error}") from None

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the kind and the name of each part that a part is related to, by the id of the relation."""
        folder, name = posixpath.split(part)
        found = {}
        for tag, element in self.elements(posixpath.join(folder, "_rels", f"{name}.rels")):
            if tag == "Relationship" and element.get("TargetMode") != "External":
                target = posixpath.join("/", folder, element.get("Target", "").replace("\\", "/"))
                kind = element.get("Type", "").rpartition("/")[2]
                found[element.get("Id", "")] = (kind, posixpath.normpath(target).lstrip("/"))
        return found

    def _unpacked(self, name: str) -> Iterator[bytes]:
        parts = self._parts.get(_key(name), [])
        if len(parts) != 1:
            raise damaged(f"it holds the part {name} twice" if parts else f"its part {name} is missing")
        part = parts[0]
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
            portion = b"-"
            while portion:
                with _about_the_zip(f"its part {name}"):
                    portion = stream.read(_AT_ONCE)
                yield portion


def _key(name: str) -> str:
    return posixpath.normpath("/" + name.replace("\\", "/")).casefold()


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
