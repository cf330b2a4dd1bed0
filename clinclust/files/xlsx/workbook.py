"""Read a table from an xlsx workbook: find the sheet, read its cells, and check that each stands where it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from xml.etree.ElementTree import Element

from clinclust.errors import InputError
from clinclust.files.cover_sheets import read_sheet
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import Places, listed, quoted
from clinclust.files.packed import Source
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.archive import LOCAL, Archive, damaged
from clinclust.files.xlsx.cells import Cells, Shown, shown_by, text_of
from clinclust.files.xlsx.references import column_of, letters_of

__all__ = ["read_xlsx"]

_YES = ("1", "true", "on")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384  # of Excel
_MISPLACED_ROW = "rows whose number is not above that of the row before them, or is no row of Excel"
_MISPLACED_CELL = "cells that say another place than the one where they stand"
_AREA = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7}):\$?([A-Z]{1,3})\$?([0-9]{1,7})")


def read_xlsx(source: Source, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of an xlsx file; see `clinclust.read_cohort`. What could give a wrong cell is refused or told."""
    archive = Archive(source)
    try:
        return _read(archive, sheet, options)
    finally:
        archive.close()


def _read(archive: Archive, sheet: str | None, options: SheetOptions) -> TableRead:
    top = archive.related("") if "_rels/.rels" in archive else {}
    book = next((target for kind, target in top.values() if kind == "officeDocument"), "")
    if not book:
        raise InputError("this is not an xlsx file")
    sheets: list[tuple[str, bool, str]] = []
    has_1904 = computes_at_load = False
    for tag, element in archive.elements(book):
        if tag == "sheet":
            relation = next((value for name, value in element.items() if name.endswith("/relationships}id")), "")
            sheets.append((element.get("name", ""), element.get("state", "visible") != "visible", relation))
        elif tag == "workbookPr":
            has_1904 = element.get("date1904") in _YES
        elif tag == "calcPr":
            computes_at_load = element.get("fullCalcOnLoad") in _YES
    related = archive.related(book)
    # The others hold charts, dialogues or macros.
    sheets = [each for each in sheets if related.get(each[2], ("worksheet", ""))[0] == "worksheet"]
    if len({name for name, _, _ in sheets}) < len(sheets):
        raise damaged("two of its sheets have one name")
    parts = dict(related.values())
    shared = [text_of(element) for tag, element in _elements(archive, parts.get("sharedStrings")) if tag == "si"]
    codes: dict[str | None, str | None] = {}
    shown: list[Shown] = []
    for tag, element in _elements(archive, parts.get("styles")):
        if tag == "numFmt":
            codes.setdefault(element.get("numFmtId"), element.get("formatCode", ""))
        elif tag == "cellXfs":
            numbers = [style.get("numFmtId", "0") for style in element if LOCAL.get(style.tag) == "xf"]
            shown = [shown_by(number, codes.get(number)) for number in numbers]

    def read(at: int) -> TableRead:
        name, _, relation = sheets[at]
        if relation not in related:
            raise damaged(f"it does not say where its sheet {quoted(name)} is")
        cells = Cells(shared, shown, has_1904)
        table = _read_worksheet(archive, related[relation][1], name, cells, options)
        if not (computes_at_load and cells.n_formulas):
            return table
        told = (
            f"the program that wrote the file left its {cells.n_formulas:,} formulas to be computed when it is opened: "
            "their values may be out of date; open it in Excel or LibreOffice, save it, and read it again"
        )
        return replace(table, remarks=[told, *table.remarks])

    return read_sheet([(name, is_hidden) for name, is_hidden, _ in sheets], sheet, options, read)


def _elements(archive: Archive, part: str | None) -> Iterator[tuple[str, Element]]:
    return iter(()) if part is None else archive.elements(part)


def _read_worksheet(archive: Archive, part: str, name: str, cells: Cells, options: SheetOptions) -> TableRead:
    """Return the table of a worksheet, or raise InputError with all that is wrong with it."""
    sheet = _Sheet(cells, options)
    hidden, merged, last = [], [], ""
    for last, element in archive.elements(part):
        if last == "row":
            sheet.add(element)
        elif last == "sheetData":
            if [LOCAL.get(child.tag) for child in element] != ["row"] * sheet.n_rows:
                raise damaged("a row stands inside another, or outside of the data")
        elif last == "col" and element.get("hidden") in _YES:
            hidden.append((_whole(element.get("min", "")), _whole(element.get("max", ""))))
        elif last == "mergeCell" and (found := _AREA.fullmatch(element.get("ref", ""))):
            merged.append((int(found[2]), column_of(found[1]), int(found[4]), column_of(found[3])))
    if last != "worksheet":
        raise damaged(f"its sheet {quoted(name)} is no worksheet")
    faults = [*sheet.misplaced.sentences(), *cells.faults.sentences()]
    if faults:
        listing = "\n".join(f"  - {fault}" for fault in faults)
        raise InputError(
            f"sheet {quoted(name)} cannot be read; open the file in Excel or LibreOffice, check these, and "
            f"save it again:\n{listing}"
        )
    if not sheet.rows.first:
        raise InputError(f"sheet {quoted(name)} is empty")
    read = sheet_table(sheet.rows, options, merged)
    remarks = cells.remarks.sentences()
    if sheet.hidden:
        remarks.append(f"hidden rows are read like the others ({listed(sheet.hidden)}): delete what shall not count")
    named = zip(read.places, read.frame.columns, strict=True)
    unseen = [column for place, column in named if any(first <= place <= to for first, to in hidden)]
    if unseen:
        remarks.append(f"hidden columns are read like the others ({listed(unseen)})")
    return replace(read, remarks=remarks + read.remarks)


class _Sheet:
    """The rows of a worksheet, those of them that are hidden, and what stands in a place that cannot be."""

    def __init__(self, cells: Cells, options: SheetOptions) -> None:
        self._cells, self._width, self._last = cells, 0, 0
        self.rows = options.empty_rows()
        self.n_rows = 0
        self.hidden: list[int] = []
        self.misplaced = Places()

    def add(self, row: Element) -> None:
        """Add the cells of a row."""
        self.n_rows += 1
        given = row.get("r")
        number = self._last + 1 if given is None else _whole(given)
        if not self._last < number <= _MOST_ROWS:
            self.misplaced.add(_MISPLACED_ROW, f"row {given or number} after row {self._last}")
            return
        self._last = number
        row_text, texts, column, last_filled = str(number), [""] * self._width, 0, 0
        for cell in row:
            if LOCAL.get(cell.tag) != "c":
                continue
            place = cell.get("r")
            at = column + 1 if place is None else _column(place.removesuffix(row_text))
            if not column < at <= _MOST_COLUMNS:
                self.misplaced.add(_MISPLACED_CELL, place or f"column {at} of row {number}")
                continue
            column = at
            text = self._cells.text(place or f"{letters_of(at)}{number}", cell) if len(cell) else ""
            if text:
                texts += [""] * (at - len(texts))
                texts[at - 1] = text
                last_filled = last_filled if text.isspace() else at
        if last_filled:
            self._width = self._width or last_filled
            self.rows.add(number, texts)
            if row.get("hidden") in _YES:
                self.hidden.append(number)


@cache
def _column(letters: str) -> int:
    return column_of(letters) if re.fullmatch("[A-Z]{1,3}", letters) else 0


def _whole(text: str) -> int:
    """Return the number that the text writes in at most seven digits, otherwise 0."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 7 else 0
