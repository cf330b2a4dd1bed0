"""Choose the sheet of a workbook that is the table, and read workbooks other than xlsx.

The old xls is read by xlrd, which damaged files do not crash; xlsb and ods by calamine.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import Places, listed, quoted
from clinclust.files.opening import Source, guarded, package
from clinclust.files.text_table import TableRead, letters_of
from clinclust.nearest import did_you_mean

_FEW_COLUMNS, _FEW_ROWS = 2, 20
"""A sheet with no more columns and fewer rows may be a cover, if another sheet has more of both."""
_MOST_READ = 12  # other sheets
_REPAIR = "open it in Excel or LibreOffice, remove a password, and save it as an Excel workbook (.xlsx)"
ERRORS = "spreadsheet errors kept as text"
NO_DATE = "numbers shown as dates that no date has, kept as numbers; correct them, or show them as numbers"


def read_sheet(
    sheets: Sequence[tuple[str, bool]], asked: str | None, options: SheetOptions, read: Callable[[int], TableRead]
) -> TableRead:
    """Return the table of the sheet that was `asked` for, by name or number, or else of the first that is one.

    `sheets` are the name of each sheet with cells and whether it is hidden; `read` reads the sheet at a place. If the
    options give the place of the table on its sheet, or are those of a codebook, the first sheet is read.
    """
    if not sheets:
        raise InputError("the file has no sheet with cells")
    names = [name for name, _ in sheets]
    if asked is not None:
        return read(_place_of(asked, names))
    visible = [at for at, (_, is_hidden) in enumerate(sheets) if not is_hidden]
    first, name = (visible or [0])[0], quoted(names[(visible or [0])[0]])
    others = [f"{other} (hidden)" if is_hidden else other for other, is_hidden in sheets if other != names[first]]
    remark = f"read the first sheet, {name}; others are {listed(others)}: choose one by `sheet`"
    try:
        found = read(first)
    except InputError as error:
        if others:
            hint = f"If {name} is no table of subjects, choose another sheet by `sheet`: {listed(others)}"
            raise InputError(f"{error.at_command_line}. {hint}") from error
        raise
    is_free = options.header_row is None and options.rows is None and options.of_subjects
    if is_free and found.frame.shape[1] <= _FEW_COLUMNS and len(found.frame) < _FEW_ROWS:
        larger = {at: table for at in visible[1 : 1 + _MOST_READ] if (table := _larger_table(read, at)) is not None}
        if len(larger) > 1:
            raise InputError(
                f"the first sheet, {name}, is no table of subjects, and others are: choose one by `sheet`: "
                f"{listed(quoted(names[at]) for at in larger)}"
            )
        for at, table in larger.items():
            remark = f"read the sheet {quoted(names[at])}: the first, {name}, is no table (`sheet` reads another)"
            found = table
    return replace(found, remarks=[remark, *found.remarks]) if others else found


def with_remarks(read: TableRead, cells: Places, hidden_rows: set[int], hidden_columns: set[int]) -> TableRead:
    """Return a table with remarks on some of its cells, and on hidden rows and columns."""
    named = zip(read.places, read.frame.columns, strict=True)
    unseen = {
        "rows": [row for row in (read.frame.index + 2).tolist() if row in hidden_rows],
        "columns": [column for place, column in named if place in hidden_columns],
    }
    hidden = [f"hidden {what} are read like the others ({listed(which)})" for what, which in unseen.items() if which]
    return replace(read, remarks=[*cells.sentences(), *hidden, *read.remarks])


def _place_of(asked: str, names: Sequence[str]) -> int:
    if asked in names:
        return names.index(asked)
    if asked.isascii() and asked.isdecimal() and len(asked) < 9 and 0 < int(asked) <= len(names):
        return int(asked) - 1
    numbered = listed(f"{number}: {name}" for number, name in enumerate(names, 1))
    raise InputError(f"there is no sheet {quoted(asked)}.{did_you_mean(asked, names)} It has {numbered}")


def _larger_table(read: Callable[[int], TableRead], at: int) -> TableRead | None:
    """Return the table of a sheet that has more columns and rows than a cover; None if it is none."""
    try:
        found = read(at)
    except InputError:
        return None
    return found if found.frame.shape[1] > _FEW_COLUMNS and len(found.frame) >= _FEW_ROWS else None


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
        hidden = [
            {at + 1 for at, info in infos.items() if info.hidden} for infos in (chosen.rowinfo_map, chosen.colinfo_map)
        ]
        return with_remarks(sheet_table(rows, options, merged), places, *hidden)

    return read_sheet([(each.name, each.visibility != 0) for each in book.sheets()], sheet, options, read)


def _xls_text(xlrd: Any, cell: Any, datemode: int, place: str, places: Places) -> str:
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            moment = xlrd.xldate_as_datetime(cell.value, datemode)
        except (ValueError, OverflowError):
            places.add(NO_DATE, place)
            return canonical_text(cell.value)
        return canonical_text(moment.time() if cell.value < 1 else moment)
    if cell.ctype == xlrd.XL_CELL_ERROR:
        text = str(xlrd.error_text_from_code.get(cell.value, "#N/A"))
        places.add(ERRORS, f"{place} ({text})")
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
    if type(cell) is datetime.date:
        return cell.isoformat()
    return cell if isinstance(cell, str) else canonical_text(cell)
