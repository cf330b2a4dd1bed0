"""The parts of an xlsx file: XML in a zip archive, read within bounds, and the text of one cell by type and format."""

from __future__ import annotations

import datetime
import math
import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from typing import BinaryIO, Literal
from xml.etree.ElementTree import Element, iterparse

from clinclust.errors import InputError
from clinclust.files.cell_text import NUMBER, canonical_text
from clinclust.files.listed import Places, quoted
from clinclust.files.opening import guarded, refuse_bomb
from clinclust.files.workbooks import ERRORS, NO_DATE

__all__ = ["Archive", "Cells", "Shown", "local", "shown_by", "text_of"]

_NAMESPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/package/2006/relationships",
)
_LARGE = ("row", "si")  # emptied when they are read, because a part may have a million of them
_REPAIR = "open it in Excel or LibreOffice, check it, and save it again as .xlsx"
Shown = Literal["number", "date", "time", "duration"]
# The formats with a number and no code (ECMA-376, 18.8.30), among them dates of East Asian programs.
_BUILT_IN: dict[str, Shown] = {
    **{str(at): "date" for at in (14, 15, 16, 17, 22, *range(27, 32), 36, *range(50, 55), 57, 58)},
    **{str(at): "time" for at in (18, 19, 20, 21, *range(32, 36), 45, 47, 55, 56)},
    "46": "duration",
}
_NO_LETTERS_OF_DATES = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]|general|[ap]m?/[ap]m?', re.IGNORECASE)
_ESCAPED = re.compile("_x((?![dD][89a-fA-F])[0-9a-fA-F]{4})_")  # halves of characters stay as they are
_TRUTH = {"0": "False", "1": "True", "false": "False", "true": "True"}
_FAULTY = "cells with a value that their type does not have"
_NO_VALUE = "formulas without a computed value, which Excel or LibreOffice computes when it opens the file"


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


def text_of(element: Element) -> str:
    """Return the text of a rich or plain text, without phonetic hints."""
    runs = (run for child in element for run in (child if local(child.tag) == "r" else (child,)))
    return _unescaped("".join(run.text or "" for run in runs if local(run.tag) == "t"))


def _unescaped(text: str) -> str:
    """Return text in which ``_x000D_`` and the like are the characters that they stand for (ST_Xstring)."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def shown_by(number: str, code: str | None = None) -> Shown:
    """Return what a format shows a positive number as, by its number or, if it has one, its code."""
    if code is None:
        return _BUILT_IN.get(number, "number")
    positive = _NO_LETTERS_OF_DATES.sub("", code).split(";")[0].lower()
    if re.search(r"\[[hms]+\]", positive):
        return "duration"
    if re.search("[dy]", positive) or ("m" in positive and not re.search("[hs]", positive)):
        return "date"
    return "time" if re.search("[hs]", positive) else "number"


def _date_text(days: float, shown: Shown, has_1904: bool) -> str | None:
    """Return the canonical text of a number of days that is shown as a date, time or duration; None if it is none.

    Days are counted from 1 January 1904, or from 1 January 1900 as day 1, with a 29 February 1900 that never was.
    """
    try:
        length = datetime.timedelta(milliseconds=round(days * 86_400_000))
        if shown == "duration":
            return canonical_text(length)
        if days < 0 or (not has_1904 and 60 <= days < 61):
            return None
        if not length.days and (shown == "time" or not has_1904):
            return canonical_text((datetime.datetime.min + length).time())
        first = (1904, 1, 1) if has_1904 else (1899, 12, 31) if days < 60 else (1899, 12, 30)
        return canonical_text(datetime.datetime(*first) + length)
    except OverflowError:
        return None


class Cells:
    """Turns cells into canonical text; `shared` are the shared texts, `shown` what each style shows a number as.

    It records `faults` (cells that cannot be read), `remarks` (cells of which the reader must know), and `n_formulas`.
    """

    def __init__(self, shared: Sequence[str], shown: Sequence[Shown], has_1904: bool) -> None:
        self._shared, self._has_1904 = shared, has_1904
        self._shown: dict[int, Shown] = dict(enumerate(shown)) or {0: "number"}
        self.faults, self.remarks = Places(), Places()
        self.n_formulas = 0

    def text(self, place: str, cell: Element) -> str:
        """Return the text of the cell at a place such as ``B7``; an empty one after recording a fault."""
        kind, value, has_formula = cell.get("t", "n"), "", False
        for child in cell:
            tag = local(child.tag)
            if tag == "f":
                has_formula, self.n_formulas = True, self.n_formulas + 1
            elif tag == "v" or tag == "is":
                kind = "two values" if value else kind
                value = text_of(child) if tag == "is" else child.text or ""
        if has_formula and not value.strip() and not (kind == "str" and len(cell) > 1):
            self.faults.add(_NO_VALUE, place)
            return ""
        if kind == "inlineStr" or (not value.strip() and kind != "s"):
            return value
        if kind == "str":
            return _unescaped(value)
        value = value.strip()
        try:
            return self._number(place, value, cell.get("s", "0")) if kind == "n" else self._other(place, value, kind)
        except (ValueError, LookupError):
            self.faults.add(_FAULTY, f"{place} ({quoted(value)})")
            return ""

    def _number(self, place: str, value: str, style: str) -> str:
        shown = self._shown[int(style)]
        if shown == "number" and value.isascii() and value.isdecimal() and value[0] != "0":
            return value
        if not NUMBER.fullmatch(value) or not math.isfinite(float(value)):
            raise ValueError(value)
        if shown != "number":
            if (text := _date_text(float(value), shown, self._has_1904)) is not None:
                return text
            self.remarks.add(NO_DATE, place)
        return str(int(value)) if value.lstrip("+-").isdecimal() else canonical_text(float(value))

    def _other(self, place: str, value: str, kind: str) -> str:
        """Return a shared text, or that of a truth value, an error or a date in ISO form."""
        if kind == "s" and value.isdecimal():
            return self._shared[int(value)]
        if kind == "b":
            return _TRUTH[value]
        if kind == "d":
            return canonical_text(datetime.datetime.fromisoformat(value.removesuffix("Z")))
        if kind != "e":
            raise ValueError(value)
        self.remarks.add(ERRORS, f"{place} ({value})")
        return value
