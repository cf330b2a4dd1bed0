"""Read a table from an xlsx workbook: find the sheet, read its cells, and check that each has the place it says."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from xml.etree.ElementTree import Element

from clinclust.errors import InputError
from clinclust.files.layout.header import Area
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import quoted
from clinclust.files.opening import Source
from clinclust.files.text_table import SheetRows, TableRead, column_of, letters_of
from clinclust.files.workbooks import read_sheet, with_remarks
from clinclust.files.xlsx_parts import Archive, Cells, Shown, local, shown_by, text_of

__all__ = ["read_xlsx"]

_YES = ("1", "true", "on")
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384  # of Excel
_MISPLACED = "rows and cells that do not follow those before them, or say a place that is none"
_OLD = (
    "the program that wrote the file left its {:,} formulas to be computed when it is opened: their values may be old; "
    "open it in Excel or LibreOffice, save it, and read it again"
)
_PLACE = re.compile(r"[0-9]{1,7}")
_AREA = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7}):\$?([A-Z]{1,3})\$?([0-9]{1,7})")


def read_xlsx(source: Source, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of an xlsx file; see `clinclust.read_cohort`. What could give a wrong cell is refused or told."""
    with source.open() as file:
        return _read(Archive(file), sheet, options)


def _read(archive: Archive, sheet: str | None, options: SheetOptions) -> TableRead:
    top = archive.related("").values()
    book = next((target for kind, target in top if kind == "officeDocument"), "xl/workbook.xml")
    related = archive.related(book)
    sheets: list[tuple[str, bool, str]] = []
    has_1904 = computes_at_load = False
    for tag, element in archive.elements(book, "sheet", "workbookPr", "calcPr"):
        if tag == "workbookPr":
            has_1904 = element.get("date1904") in _YES
        elif tag == "calcPr":
            computes_at_load = element.get("fullCalcOnLoad") in _YES
        else:
            relation = next((value for name, value in element.items() if name.endswith("/relationships}id")), "")
            kind, part = related.get(relation, ("", ""))
            if kind == "worksheet":  # the others hold charts, dialogues or macros
                sheets.append((element.get("name", ""), element.get("state", "visible") != "visible", part))
    parts = dict(related.values())
    texts = archive.elements(parts["sharedStrings"], "si") if "sharedStrings" in parts else ()
    shared = [text_of(element) for _, element in texts]
    shown = _styles(archive, parts["styles"]) if "styles" in parts else []

    def read(at: int) -> TableRead:
        cells = Cells(shared, shown, has_1904)
        table = _read_worksheet(archive, sheets[at][2], sheets[at][0], cells, options)
        is_old = computes_at_load and cells.n_formulas
        return replace(table, remarks=[_OLD.format(cells.n_formulas), *table.remarks]) if is_old else table

    return read_sheet([(name, is_hidden) for name, is_hidden, _ in sheets], sheet, options, read)


def _styles(archive: Archive, part: str) -> list[Shown]:
    """Return what each style of cells shows a number as."""
    codes: dict[str, str] = {}
    shown: list[Shown] = []
    for tag, element in archive.elements(part, "numFmt", "cellXfs"):
        if tag == "numFmt":
            codes.setdefault(element.get("numFmtId", ""), element.get("formatCode", ""))
        else:
            numbers = [style.get("numFmtId", "0") for style in element if local(style.tag) == "xf"]
            shown = [shown_by(number, codes.get(number)) for number in numbers]
    return shown


def _read_worksheet(archive: Archive, part: str, name: str, cells: Cells, options: SheetOptions) -> TableRead:
    """Return the table of a worksheet, or raise InputError with all that is wrong with it."""
    rows = options.empty_rows()
    merged: list[Area] = []
    hidden_rows: set[int] = set()
    hidden_columns: set[int] = set()
    last = 0
    for tag, element in archive.elements(part, "row", "col", "mergeCell"):
        if tag == "row":
            last = _add_row(rows, element, last, cells)
            if element.get("hidden") in _YES:
                hidden_rows.add(last)
        elif tag == "col" and element.get("hidden") in _YES:
            first, to = (element.get(end, "") for end in ("min", "max"))
            if _PLACE.fullmatch(first) and _PLACE.fullmatch(to):
                hidden_columns.update(range(int(first), min(int(to), _MOST_COLUMNS) + 1))
        elif tag == "mergeCell" and (found := _AREA.fullmatch(element.get("ref", ""))):
            merged.append((int(found[2]), column_of(found[1]), int(found[4]), column_of(found[3])))
    if faults := cells.faults.sentences():
        listing = "\n".join(f"  - {fault}" for fault in faults)
        raise InputError(
            f"sheet {quoted(name)} cannot be read; open the file in Excel or LibreOffice, check these, and "
            f"save it again:\n{listing}"
        )
    if not rows.first:
        raise InputError(f"sheet {quoted(name)} is empty")
    return with_remarks(sheet_table(rows, options, merged), cells.remarks, hidden_rows, hidden_columns)


def _add_row(rows: SheetRows, row: Element, last: int, cells: Cells) -> int:
    """Add the cells of a row, and return its number, or that of the last after recording a fault."""
    given = row.get("r", str(last + 1))
    number = int(given) if _PLACE.fullmatch(given) else 0
    if not last < number <= _MOST_ROWS:
        cells.faults.add(_MISPLACED, f"row {given} after row {last}")
        return last
    texts: list[str] = []
    column = 0
    for cell in row:
        if local(cell.tag) != "c":
            continue
        place = cell.get("r") or f"{letters_of(column + 1)}{number}"
        at = _column(place.removesuffix(given))
        if not column < at <= _MOST_COLUMNS:
            cells.faults.add(_MISPLACED, place)
            continue
        column = at
        if len(cell) and (text := cells.text(place, cell)):
            texts += [""] * (at - len(texts))
            texts[at - 1] = text
    rows.add(number, texts)
    return number


@cache
def _column(letters: str) -> int:
    return column_of(letters) if re.fullmatch("[A-Z]{1,3}", letters) else 0
