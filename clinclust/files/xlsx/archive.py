"""The parts of a workbook: XML in a zip archive, read within bounds."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import BinaryIO
from xml.etree.ElementTree import Element, iterparse

from clinclust.errors import InputError
from clinclust.files.packed import refuse_bomb
from clinclust.files.reading_packages import guarded

__all__ = ["Archive", "local"]

_NAMESPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/package/2006/relationships",
)
_LARGE = ("row", "si")  # emptied when they are read, because a part may have a million of them
_REPAIR = "open it in Excel or LibreOffice, check it, and save it again as .xlsx"


@cache
def local(tag: str) -> str:
    """Return the name of an element of a workbook without its namespace; an empty text for elements of others."""
    namespace, _, name = tag[1:].rpartition("}")
    return name if namespace in _NAMESPACES else ""


class Archive:
    """The parts of a workbook by name. Letter case in names does not matter, as in Excel."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, IndexError):
            raise InputError(f"this is not an xlsx file, or a damaged one: {_REPAIR}") from None
        self._parts = {_key(part.filename): part for part in self._zip.infolist()}

    def elements(self, name: str, *wanted: str) -> Iterator[tuple[str, Element]]:
        """Yield the wanted elements of a part, each when it is complete, with its name; InputError if it is damaged."""
        part = self._parts.get(_key(name))
        if part is None:
            raise InputError(f"this xlsx file is damaged, or none: its part {name} is missing; {_REPAIR}")
        refuse_bomb(part.compress_size, part.file_size, f"its part {name} unpacks")
        with guarded(f"xlsx file, in its part {name},", _REPAIR), self._zip.open(part) as stream:
            for _, element in iterparse(stream):  # noqa: S314 - expat bounds what entities expand to
                tag = local(element.tag)
                if tag in wanted:
                    yield tag, element
                if tag in _LARGE:
                    element.clear()

    def related(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the kind and the name of each part that a part is related to, by the id of the relation."""
        folder, name = posixpath.split(part)
        found = {}
        for _, element in self.elements(posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
            target = posixpath.join("/", folder, element.get("Target", "").replace("\\", "/"))
            found[element.get("Id", "")] = (element.get("Type", "").rpartition("/")[2], posixpath.normpath(target)[1:])
        return found


def _key(name: str) -> str:
    return posixpath.normpath("/" + name.replace("\\", "/").lstrip("/")).casefold()
