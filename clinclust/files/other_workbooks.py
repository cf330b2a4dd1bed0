"""Read workbooks that are not xlsx: the old xls by xlrd, which damaged files do not crash, xlsb and ods by calamine."""

from __future__ import annotations

import datetime
import io
from dataclasses import replace
from typing import Any

from clinclust.files.cell_text import canonical_text
from clinclust.files.cover_sheets import read_sheet
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import Places, listed
from clinclust.files.packed import Source
from clinclust.files.reading_packages import guarded, package
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.references import letters_of

__all__ = ["read_ods_or_xlsb", "read_xls"]

_REPAIR = "open it in Excel or LibreOffice, remove a password, and save it as an Excel workbook (.xlsx)"
_ERRORS = "spreadsheet errors kept as text"
_NO_DATE = "numbers shown as dates that no date has, kept as numbers; correct them, or show them as numbers"


def read_xls(source: Source, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of a workbook of Excel 97 to 2003; see `clinclust.read_cohort`."""
    xlrd = package("xlrd", "an xls file")
    with guarded("xls workbook", _REPAIR):
        content = source.read()
        book = xlrd.open_workbook(file_contents=content, logfile=io.StringIO(), formatting_info=True, ragged_rows=True)

    def read(at: int) -> TableRead:
        chosen = book.sheet_by_index(at)
        places, rows = Places(), options.empty_rows()
        for number in range(1, chosen.nrows + 1):
            cells = enumerate(chosen.row(number - 1), 1)
            rows.add(number, [_xls_text(xlrd, c, book.datemode, f"{letters_of(k)}{number}", places) for k, c in cells])
        merged = [(top + 1, left + 1, bottom, right) for top, bottom, left, right in chosen.merged_cells]
        table = sheet_table(rows, options, merged)
        unseen = {
            "rows": [k + 1 for k, row in sorted(chosen.rowinfo_map.items()) if row.hidden and k < chosen.nrows],
            "columns": [
                letters_of(k + 1) for k, c in sorted(chosen.colinfo_map.items()) if c.hidden and k < chosen.ncols
            ],
        }
        told = [f"hidden {what} are read like the others ({listed(which)})" for what, which in unseen.items() if which]
        return replace(table, remarks=[*places.sentences(), *told, *table.remarks])

    return read_sheet([(each.name, each.visibility != 0) for each in book.sheets()], sheet, options, read)


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
        text = str(xlrd.error_text_from_code.get(cell.value, "#N/A"))
        places.add(_ERRORS, f"{place} ({text})")
        return text
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return str(bool(cell.value))
    return cell.value if isinstance(cell.value, str) else canonical_text(cell.value)


def read_ods_or_xlsb(source: Source, kind: str, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of an OpenDocument or binary workbook; see `clinclust.read_cohort`."""
    python_calamine = package("python_calamine", f"an {kind} file")
    lacks = (
        f"cells with errors such as #N/A are read as empty from an {kind} file, and what is hidden in it is read "
        "too; to have them listed, save it as an Excel workbook (.xlsx)"
    )
    with source.open() as file:
        with guarded(f"{kind} workbook", _REPAIR):
            book = python_calamine.CalamineWorkbook.from_filelike(file)
            sheets = [each for each in book.sheets_metadata if each.typ == python_calamine.SheetTypeEnum.WorkSheet]

        def read(at: int) -> TableRead:
            rows = options.empty_rows()
            with guarded(f"{kind} workbook", _REPAIR):
                chosen = book.get_sheet_by_name(sheets[at].name)
                for number, cells in enumerate(chosen.to_python(skip_empty_area=False), 1):
                    rows.add(number, list(map(_text, cells)))
                ranges = chosen.merged_cell_ranges or []
            merged = [(top + 1, left + 1, bottom + 1, right + 1) for (top, left), (bottom, right) in ranges]
            table = sheet_table(rows, options, merged)
            return replace(table, remarks=[lacks, *table.remarks])

        visible = python_calamine.SheetVisibleEnum.Visible
        return read_sheet([(each.name, each.visible != visible) for each in sheets], sheet, options, read)


def _text(cell: Any) -> str:
    """Return the canonical text of a cell, all dates alike."""
    if type(cell) is datetime.date:
        return cell.isoformat()
    return cell if isinstance(cell, str) else canonical_text(cell)
