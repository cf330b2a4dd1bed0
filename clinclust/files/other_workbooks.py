"""Read workbooks that are not xlsx: the old xls by xlrd, xlsb and ods by python-calamine."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clinclust.errors import InputError, MissingPackageError
from clinclust.files.cell_text import canonical_text
from clinclust.files.cover_sheets import read_sheet
from clinclust.files.layout.header_groups import Area
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import Places, listed, quoted
from clinclust.files.source import Source
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.references import letters_of

__all__ = ["read_ods_or_xlsb", "read_xls"]

_ERRORS = "spreadsheet errors kept as text"
_NO_DATE = "numbers shown as dates that no date has, kept as numbers; correct them, or show them as numbers"
_AS_XLSX = "open it in Excel or LibreOffice, check it, and save it as an Excel workbook (.xlsx)"


def read_xls(source: Source, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of a workbook of Excel 97 to 2003; see `clinclust.read_cohort`."""
    try:
        import xlrd
    except ImportError:
        raise MissingPackageError("reading an xls file needs xlrd: pip install 'clinclust[formats]'") from None
    try:
        book = xlrd.open_workbook(
            file_contents=source.read(), logfile=io.StringIO(), formatting_info=True, ragged_rows=True
        )
    except MemoryError:
        raise
    except Exception as error:  # damaged files end in errors of many types
        raise InputError(_unreadable("workbook of the old format (.xls)", error)) from None
    sheets = [(each.name, each.visibility != 0) for each in book.sheets()]
    return read_sheet(sheets, sheet, options, lambda at: _xls_table(xlrd, book, at, options))


def _xls_table(xlrd: Any, book: Any, at: int, options: SheetOptions) -> TableRead:
    """Return the table of the sheet at a place, and what its reader must know."""
    chosen = book.sheet_by_index(at)
    places = Places()
    rows = options.empty_rows()
    for number in range(chosen.nrows):
        cells = chosen.row(number)
        rows.add(
            number + 1, [_xls_text(xlrd, cell, book.datemode, number, at, places) for at, cell in enumerate(cells)]
        )
    merged = [(top + 1, left + 1, bottom, right) for top, bottom, left, right in chosen.merged_cells]
    return _table(rows, options, merged, places.sentences() + _hidden(chosen))


def _xls_text(xlrd: Any, cell: Any, datemode: int, row: int, column: int, places: Places) -> str:
    """Return the canonical text of a cell, as a cell of an xlsx file has it."""
    place = f"{letters_of(column + 1)}{row + 1}"
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            moment = xlrd.xldate_as_datetime(cell.value, datemode)
        except (ValueError, OverflowError):
            places.add(_NO_DATE, place)
            return canonical_text(cell.value)
        if cell.value < 1:
            return canonical_text(moment.time())
        return canonical_text(moment)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        text = xlrd.error_text_from_code.get(cell.value, "#N/A")
        places.add(_ERRORS, f"{place} ({text})")
        return str(text)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return str(bool(cell.value))
    return cell.value if isinstance(cell.value, str) else canonical_text(cell.value)


def _hidden(sheet: Any) -> list[str]:
    rows = [number + 1 for number, info in sorted(sheet.rowinfo_map.items()) if info.hidden and number < sheet.nrows]
    columns = [letters_of(at + 1) for at, info in sorted(sheet.colinfo_map.items()) if info.hidden and at < sheet.ncols]
    found = (("rows", rows), ("columns", columns))
    return [f"hidden {what} are read like the others ({listed(which)})" for what, which in found if which]


def read_ods_or_xlsb(source: Source, kind: str, sheet: str | None, options: SheetOptions) -> TableRead:
    """Read a sheet of an OpenDocument or binary workbook; see `clinclust.read_cohort`."""
    try:
        import python_calamine
    except ImportError:
        raise MissingPackageError(
            f"reading an {kind} file needs python-calamine: pip install 'clinclust[formats]'"
        ) from None
    what = "OpenDocument sheet (.ods)" if kind == "ods" else "binary workbook (.xlsb)"

    def guarded(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (MemoryError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the compiled reader is no Exception
            raise InputError(_unreadable(what, error)) from None

    with source.open() as file:
        book = guarded(lambda: python_calamine.CalamineWorkbook.from_filelike(file))
        is_sheet = python_calamine.SheetTypeEnum.WorkSheet
        visible = python_calamine.SheetVisibleEnum.Visible
        sheets = [each for each in book.sheets_metadata if each.typ == is_sheet]
        lacks = (
            f"cells with errors such as #N/A are read as empty from an {kind} file, and what is hidden in it is read "
            "too; to have them listed, save it as an Excel workbook (.xlsx)"
        )

        def read(at: int) -> TableRead:
            chosen = guarded(lambda: book.get_sheet_by_name(sheets[at].name))
            rows, merged = options.empty_rows(), _merged(chosen)
            for number, cells in enumerate(guarded(lambda: chosen.to_python(skip_empty_area=False)), 1):
                rows.add(number, [_text(cell) for cell in cells])
            return _table(rows, options, merged, [lacks])

        return read_sheet([(each.name, each.visible != visible) for each in sheets], sheet, options, read)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else canonical_text(_moment(cell))


def _moment(cell: Any) -> Any:
    """Return a cell, a date without a time as a date and time at midnight, so that all dates are written alike."""
    is_date = isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime)
    return datetime.datetime(cell.year, cell.month, cell.day) if is_date else cell


def _merged(sheet: Any) -> list[Area]:
    ranges = sheet.merged_cell_ranges or []
    return [(top + 1, left + 1, bottom + 1, right + 1) for (top, left), (bottom, right) in ranges]


def _table(rows: Any, options: SheetOptions, merged: Sequence[Area], remarks: list[str]) -> TableRead:
    read = sheet_table(rows, options, merged)
    return replace(read, remarks=remarks + read.remarks)


def _unreadable(what: str, error: BaseException) -> str:
    said = quoted(next(iter(str(error).splitlines()), ""))
    why = f"{type(error).__name__}: {said}"
    return f"this {what} cannot be read ({why}): it is damaged, or locked with a password; {_AS_XLSX}"
