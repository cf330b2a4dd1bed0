"""Read a table from an xlsx workbook: XML in a zip archive, read within bounds, and cells by type and format."""

from __future__ import annotations

import datetime
import math
import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import BinaryIO, Literal
from xml.etree.ElementTree import Element, iterparse

from openpyxl.styles.numbers import is_date_format, is_timedelta_format
from openpyxl.utils.cell import column_index_from_string, get_column_letter, range_boundaries
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files import cell_text, say
from clinclust.files.cell_text import Places, canonical_text, listed, quote_cell, quoted
from clinclust.files.formats import Source, guarded, read_sheet_of_table, refuse_bomb
from clinclust.files.layout import Area, SheetOptions, sheet_table
from clinclust.files.text_table import SheetRows, TableRead

_XLSX = data("file_kinds")["xlsx"]
_LARGE = ("row", "si")  # emptied when they are read, because a part may have a million of them
_REPAIR_OF_XLSX = "open it in Excel or LibreOffice, check it, and save it again as .xlsx"
_Shown = Literal["number", "date", "duration"]
_BUILT_IN: dict[str, _Shown] = {str(at): shown for shown, numbers in _XLSX["formats"].items() for at in numbers}
_ESCAPED = re.compile("_x((?![dD][89a-fA-F])[0-9a-fA-F]{4})_")  # halves of characters stay as they are
_TRUTH = {"0": "False", "1": "True", "false": "False", "true": "True"}
_YES = ("1", "true", "on")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384  # of Excel
_PLACE = re.compile(r"[0-9]{1,7}")
_MISPLACED = "rows and cells that do not follow those before them, or say a place that is none"


@cache
def _local(tag: str) -> str:
    """Return the name of an element of a workbook without its namespace; an empty text for other elements."""
    namespace, _, name = tag[1:].rpartition("}")
    return name if namespace in _XLSX["namespaces"] else ""


def _text_of(element: Element) -> str:
    """Return the text of a rich or plain text, without phonetic hints."""
    runs = (run for child in element for run in (child if _local(child.tag) == "r" else (child,)))
    return _unescaped("".join(run.text or "" for run in runs if _local(run.tag) == "t"))


def _unescaped(text: str) -> str:
    """Replace ``_x000D_`` and the like by the characters that they encode (ST_Xstring)."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def shown_by(number: str, code: str | None = None) -> _Shown:
    """Return what a format shows a positive number as, by its number or, if it has one, its code."""
    if code is None:
        return _BUILT_IN.get(number, "number")
    return "duration" if is_timedelta_format(code) else "date" if is_date_format(code) else "number"


class _Workbook:
    """The sheets of an xlsx file, each a name, whether it is hidden, and its part; its parts by name in any case."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, IndexError):
            raise InputError(f"this is not an xlsx file, or a damaged one: {_REPAIR_OF_XLSX}") from None
        self._parts = {_key(part.filename): part for part in self._zip.infolist()}
        top = self._related("").values()
        book = next((target for kind, target in top if kind == "officeDocument"), "xl/workbook.xml")
        related = self._related(book)
        self.sheets: list[tuple[str, bool, str]] = []
        self._epoch, self._computes_at_load = WINDOWS_EPOCH, False
        for tag, element in self._elements(book, "sheet", "workbookPr", "calcPr"):
            if tag == "workbookPr" and element.get("date1904") in _YES:
                self._epoch = MAC_EPOCH
            elif tag == "calcPr":
                self._computes_at_load = element.get("fullCalcOnLoad") in _YES
            elif tag == "sheet":
                relation = next((value for name, value in element.items() if name.endswith("/relationships}id")), "")
                kind, part = related.get(relation, ("", ""))
                if kind == "worksheet":  # the others hold charts, dialogues or macros
                    self.sheets.append((element.get("name", ""), element.get("state", "visible") != "visible", part))
        parts = dict(related.values())
        texts = self._elements(parts["sharedStrings"], "si") if "sharedStrings" in parts else ()
        self._shared = [_text_of(element) for _, element in texts]
        codes, self._shown = dict[str, str](), dict[int, _Shown]()
        for tag, element in self._elements(parts["styles"], "numFmt", "cellXfs") if "styles" in parts else ():
            if tag == "numFmt":
                codes.setdefault(element.get("numFmtId", ""), element.get("formatCode", ""))
            else:
                numbers = [style.get("numFmtId", "0") for style in element if _local(style.tag) == "xf"]
                self._shown = {at: shown_by(number, codes.get(number)) for at, number in enumerate(numbers)}
        self._shown = self._shown or {0: "number"}

    def _elements(self, name: str, *wanted: str) -> Iterator[tuple[str, Element]]:
        """Yield the wanted elements of a part with their names; InputError if it is damaged."""
        part = self._parts.get(_key(name))
        if part is None:
            raise InputError(f"this xlsx file is damaged, or none: its part {name} is missing; {_REPAIR_OF_XLSX}")
        refuse_bomb(part.compress_size, part.file_size, f"its part {name} unpacks")
        with guarded(f"xlsx file, in its part {name},", _REPAIR_OF_XLSX), self._zip.open(part) as stream:
            for _, element in iterparse(stream):  # noqa: S314 - expat bounds what entities expand to
                tag = _local(element.tag)
                if tag in wanted:
                    yield tag, element
                if tag in _LARGE:
                    element.clear()

    def _related(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the kind and the name of each part that a part is related to, by the id of the relation."""
        folder, name = posixpath.split(part)
        parts = {}
        for _, element in self._elements(posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
            target = posixpath.join("/", folder, element.get("Target", "").replace("\\", "/"))
            parts[element.get("Id", "")] = (element.get("Type", "").rpartition("/")[2], posixpath.normpath(target)[1:])
        return parts

    def read_sheet(self, at: int, options: SheetOptions) -> TableRead:
        """Return the table of a sheet. A cell that could be wrong is refused or reported."""
        rows, last, n_formulas, faults, errors = SheetRows(options.header_row, options.rows), 0, 0, Places(), Places()
        merged, hidden_rows, hidden_columns = list[Area](), set[int](), set[int]()
        for tag, element in self._elements(self.sheets[at][2], "row", "col", "mergeCell"):
            is_hidden = element.get("hidden") in _YES
            if tag == "row":
                stated = element.get("r", str(last + 1))
                number = int(stated) if _PLACE.fullmatch(stated) else 0
                if last < number <= _MOST_ROWS:
                    last = number
                    texts, column = list[str](), 0
                    for cell in (child for child in element if _local(child.tag) == "c"):
                        place = cell.get("r") or f"{get_column_letter(column + 1)}{number}"
                        before, column = column, _number_of_column(place.removesuffix(stated))
                        if not before < column <= _MOST_COLUMNS:
                            faults.add(_MISPLACED, place)
                            column = before
                            continue
                        if len(cell):
                            n_formulas += any(_local(child.tag) == "f" for child in cell)
                            if text := self._read_cell(place, cell, faults, errors):
                                texts += [""] * (column - len(texts))
                                texts[column - 1] = text
                    rows.add(number, texts)
                else:
                    faults.add(_MISPLACED, f"row {stated} after row {last}")
                if is_hidden:
                    hidden_rows.add(last)
            elif tag == "col" and is_hidden:
                first, to = (element.get(end, "") for end in ("min", "max"))
                if _PLACE.fullmatch(first) and _PLACE.fullmatch(to):
                    hidden_columns.update(range(int(first), min(int(to), _MOST_COLUMNS) + 1))
            elif tag == "mergeCell":
                with suppress(ValueError):
                    begin, top, end, bottom = range_boundaries(element.get("ref", ""))
                    merged.append((top or 0, begin or 0, bottom or 0, end or 0))
        name = quoted(self.sheets[at][0])
        if wrong := faults.sentences():
            check = "open the file in Excel or LibreOffice, check these, and save it again:"
            raise InputError("\n  - ".join([f"sheet {name} cannot be read; {check}", *wrong]))
        if not rows.first:
            raise InputError(f"sheet {name} is empty")
        table = sheet_table(rows, options, merged)
        unseen = {
            "rows": [row for row in (table.frame.index + 2).tolist() if row in hidden_rows],
            "columns": [name for at, name in zip(table.places, table.names, strict=True) if at in hidden_columns],
        }
        hidden = [f"hidden {what} are read like the others ({listed(at)})" for what, at in unseen.items() if at]
        is_old = self._computes_at_load and n_formulas
        old = [say("old_formulas", n_formulas=n_formulas)] if is_old else []
        return replace(table, remarks=[*old, *errors.sentences(), *hidden, *table.remarks])

    def _read_cell(self, place: str, cell: Element, faults: Places, errors: Places) -> str:
        """Return the text of the cell at a place such as ``B7``; an empty one after recording a fault."""
        kind, value, has_formula = cell.get("t", "n"), "", False
        for child in cell:
            tag = _local(child.tag)
            has_formula |= tag == "f"
            if tag == "v" or tag == "is":
                kind = "two values" if value else kind
                value = _text_of(child) if tag == "is" else child.text or ""
        if has_formula and not value.strip() and not (kind == "str" and len(cell) > 1):
            faults.add(say("formula_without_value"), place)
            return ""
        if kind == "inlineStr" or (not value.strip() and kind != "s"):
            return value
        if kind == "str":
            return _unescaped(value)
        value = value.strip()
        try:
            if kind == "n":
                return self._read_number(place, value, self._shown[int(cell.get("s", "0"))], errors)
            if kind == "s" and value.isdecimal():
                return self._shared[int(value)]
            if kind == "b":
                return _TRUTH[value]
            if kind == "d":
                return canonical_text(datetime.datetime.fromisoformat(value.removesuffix("Z")))
            if kind == "e":
                errors.add("spreadsheet errors kept as text", f"{place} ({value})")
                return value
        except (ValueError, LookupError):
            pass
        faults.add("cells with a value that their type does not have", f"{place} ({quote_cell(value)})")
        return ""

    def _read_number(self, place: str, value: str, shown: _Shown, errors: Places) -> str:
        if shown == "number" and value.isascii() and value.isdecimal() and value[0] != "0":
            return value
        if not cell_text.NUMBER.fullmatch(value) or not math.isfinite(days := float(value)):
            raise ValueError(value)
        text = str(int(value)) if value.lstrip("+-").isdecimal() else canonical_text(days)
        if shown == "number":
            return text
        # Excel counts a 29 February 1900 that never was, as day 60.
        is_date = days >= 0 and (self._epoch == MAC_EPOCH or not 60 <= days < 61)
        if is_date or shown == "duration":
            with suppress(OverflowError):
                return canonical_text(from_excel(days, self._epoch, timedelta=shown == "duration"))
        errors.add(say("no_date"), place)
        return text


def _key(name: str) -> str:
    return posixpath.normpath("/" + name.replace("\\", "/").lstrip("/")).casefold()


@cache
def _number_of_column(letters: str) -> int:
    """Return the number of a column, from 1, by its letters; 0 for other texts."""
    return column_index_from_string(letters) if re.fullmatch("[A-Z]{1,3}", letters) else 0


def read_xlsx(source: Source, options: SheetOptions) -> TableRead:
    """Read a sheet of an xlsx file; see `clinclust.read_cohort`."""
    with source.open() as file:
        book = _Workbook(file)
        sheets = [sheet[:2] for sheet in book.sheets]
        return read_sheet_of_table(sheets, options, lambda at: book.read_sheet(at, options))
