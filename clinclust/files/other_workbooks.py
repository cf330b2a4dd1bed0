"""Read workbooks that are not xlsx: the old xls by xlrd, xlsb and ods by python-calamine."""

from __future__ import annotations

import datetime
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clinclust.files.cell_text import canonical_text
from clinclust.files.cover_sheets import read_sheet
from clinclust.files.layout.header_groups import Area
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import Places, listed
from clinclust.files.packed import Source
from clinclust.files.reading_packages import guarded, package
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.references import letters_of

__all__ = ["read_ods_or_xlsb", "read_xls"]

_REPAIR = (
    "it is damaged, or locked with a password; open it in Excel or LibreOffice, check it, and save it as an Excel "
    "workbook (.xlsx)"
)
_ERRORS = "spreadsheet errors kept as text"
_NO_DATE = "numbers shown as dates that no date has, kept as numbers; correct them, or show them as numbers"


def read_xls(source: Source, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of a workbook of Excel 97 to 2003; see `clinclust.read_cohort`."""
    xlrd = package("xlrd", "an xls file")
    with guarded("workbook of the old format (.xls)", _REPAIR):
        book = xlrd.open_workbook(
            file_contents=source.read(), logfile=io.StringIO(), formatting_info=True, ragged_rows=True
        )
    sheets = [(each.name, each.visibility != 0) for each in book.sheets()]
    return read_sheet(sheets, sheet, options, lambda at: _xls_table(xlrd, book, at, options))


def _xls_table(xlrd: Any, book: Any, at: int, options: SheetOptions) -> TableRead:
    """Return the table of the sheet at a place, and what its reader must know."""
    chosen = book.sheet_by_index(at)
    places, rows = Places(), options.empty_rows()
    for number in range(1, chosen.nrows + 1):
        cells = enumerate(chosen.row(number - 1), 1)
        texts = [_xls_text(xlrd, cell, book.datemode, f"{letters_of(at)}{number}", places) for at, cell in cells]
        rows.add(number, texts)
    remarks = places.sentences()
    hidden_rows = [at + 1 for at, info in sorted(chosen.rowinfo_map.items()) if info.hidden and at < chosen.nrows]
    of_columns = sorted(chosen.colinfo_map.items())
    hidden_columns = [letters_of(at + 1) for at, info in of_columns if info.hidden and at < chosen.ncols]
    for what, which in (("rows", hidden_rows), ("columns", hidden_columns)):
        if which:
            remarks.append(f"hidden {what} are read like the others ({listed(which)})")
    merged = [(top + 1, left + 1, bottom, right) for top, bottom, left, right in chosen.merged_cells]
    return _table(rows, options, merged, remarks)


def _xls_text(xlrd: Any, cell: Any, datemode: int, place: str, places: Places) -> str:
    """Return the canonical text of a cell, as a cell of an xlsx file has it."""
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            moment = xlrd.xldate_as_datetime(cell.value, datemode)
        except (ValueError, OverflowError):
            places.add(_NO_DATE, place)
            return canonical_text(cell.value)
        return canonical_text(moment.time() if cell.value < 1 else moment)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        text = xlrd.error_text_from_code.get(cell.value, "#N/A")
        places.add(_ERRORS, f"{place} ({text})")
        return str(text)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return str(bool(cell.value))
    return cell.value if isinstance(cell.value, str) else canonical_text(cell.value)


def read_ods_or_xlsb(source: Source, kind: str, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of an OpenDocument or binary workbook; see `clinclust.read_cohort`."""
    python_calamine = package("python_calamine", f"an {kind} file")
    what = "OpenDocument sheet (.ods)" if kind == "ods" else "binary workbook (.xlsb)"
    lacks = (
        f"cells with errors such as #N/A are read as empty from an {kind} file, and what is hidden in it is read "
        "too; to have them listed, save it as an Excel workbook (.xlsx)"
    )
    with source.open() as file:
        with guarded(what, _REPAIR):
            book = python_calamine.CalamineWorkbook.from_filelike(file)
            sheets = [each for each in book.sheets_metadata if each.typ == python_calamine.SheetTypeEnum.WorkSheet]

        def read(at: int) -> TableRead:
            rows = options.empty_rows()
            with guarded(what, _REPAIR):
                chosen = book.get_sheet_by_name(sheets[at].name)
                for number, cells in enumerate(chosen.to_python(skip_empty_area=False), 1):
                    rows.add(
                        number, [cell if isinstance(cell, str) else canonical_text(_moment(cell)) for cell in cells]
                    )
            ranges = chosen.merged_cell_ranges or []
            merged = [(top + 1, left + 1, bottom + 1, right + 1) for (top, left), (bottom, right) in ranges]
            return _table(rows, options, merged, [lacks])

        visible = python_calamine.SheetVisibleEnum.Visible
        return read_sheet([(each.name, each.visible != visible) for each in sheets], sheet, options, read)


def _moment(cell: Any) -> Any:
    """Return a cell, a date without a time as a date and time at midnight, so that all dates are written alike."""
    is_date = isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime)
    return datetime.datetime(cell.year, cell.month, cell.day) if is_date else cell


def _table(rows: Any, options: SheetOptions, merged: Sequence[Area], remarks: list[str]) -> TableRead:
    read = sheet_table(rows, options, merged)
    return replace(read, remarks=remarks + read.remarks)
