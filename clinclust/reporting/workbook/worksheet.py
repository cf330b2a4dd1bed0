"""Write one sheet of a report into a workbook: its tables row by row, then the colours and filters of their cells."""

from __future__ import annotations

import math
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from openpyxl import Workbook
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet._writer import WorksheetWriter  # there is no public way to choose this file
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from clinclust.errors import InputError
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Span, Table, Value, excel_format, number_text
from clinclust.reporting.workbook.cells import Cell, Rows, diverging_scale
from clinclust.reporting.workbook.objects import (
    CHART_WIDTH,
    add_chart,
    add_table,
    can_be_a_table,
    height_of,
    unique_headings,
)

_MOST_ROWS, _MOST_COLUMNS, _LONGEST_NAME = 1_048_576, 16_384, 31
_A4 = 9
_WIDEST_PAGE = 260.0  # characters that fit legibly on the width of a printed page
_WIDEST_PORTRAIT = 135.0  # characters that fit legibly on the width of an upright page
_NARROWEST, _LONGEST_LINE = 7, 150
_LINE_HEIGHT = 15.0
_POINTS_PER_CHARACTER, _PAGE_SHAPE = 5.6, 0.62  # height / width of the printed area of A4, with some reserve


@dataclass(frozen=True)
class _Placed:
    """A table that is written: the row of its headings and its last row, from 1."""

    table: Table
    heading: int
    last: int


def write_worksheet(workbook: Workbook, sheet: Sheet, folder: Path) -> None:
    """Add a sheet to a write-only workbook, its rows through a file in `folder`; ValueError if it does not fit.

    A sheet that is one table without sections is continued on further sheets ("Data 2") if it has too many rows.
    """
    sheet = replace(sheet, tables=[_with_unique_headings(sheet, table) for table in sheet.tables])
    widths = _widths(sheet)
    notes = _wrapped(sheet.notes, widths)
    shared, single = sheet.shared_group_lines, sheet.is_one_table
    above = 2 + len(notes)  # title, notes and an empty row
    in_view = len(shared) + single  # frozen rows: the shared group headings, and the headings of a single table
    for part in _parts(sheet, _MOST_ROWS - above - in_view):
        _check_size(part)
        _write_part(workbook, part, folder, widths, notes, above, in_view)


def _wrapped(notes: Sequence[str], widths: Sequence[float]) -> list[str]:
    line_length = min(_LONGEST_LINE, int(sum(widths)))
    return [line for note in notes for line in textwrap.wrap(note, line_length)]


def _with_unique_headings(sheet: Sheet, table: Table) -> Table:
    if not sheet.is_one_table or table.bands:
        return table
    titles = unique_headings(table)
    return replace(table, columns=[replace(c, title=t) for c, t in zip(table.columns, titles, strict=True)])


def _parts(sheet: Sheet, capacity: int) -> Iterator[Sheet]:
    """Yield the sheet, divided into several if its only table has more than `capacity` rows."""
    if not sheet.is_one_table or sheet.tables[0].bands or len(sheet.tables[0].rows) <= capacity:
        yield sheet
        return
    table = sheet.tables[0]
    for number, start in enumerate(range(0, len(table.rows), capacity), start=1):
        here = slice(start, start + capacity)
        part = replace(table, rows=table.rows[here], decimals=table.decimals[here])
        yield replace(sheet, name=sheet.name if number == 1 else f"{sheet.name} {number}", tables=[part])


def _check_size(sheet: Sheet) -> None:
    n_columns = max((len(table.columns) for table in sheet.tables), default=0)
    if n_columns > _MOST_COLUMNS:
        raise InputError(
            f"sheet {sheet.name!r} needs {n_columns:,} columns and a workbook holds {_MOST_COLUMNS:,}; "
            "write an .html report, or report fewer subtypes"
        )
    needed = sum(len(table.rows) + len(set(table.bands)) + 5 for table in sheet.tables) + 20
    if (not sheet.is_one_table or sheet.tables[0].bands) and needed > _MOST_ROWS:
        raise InputError(
            f"sheet {sheet.name!r} needs {needed:,} rows and a workbook holds {_MOST_ROWS:,}; "
            "write an .html report, or report fewer features"
        )
    if len(sheet.name) > _LONGEST_NAME:
        raise InputError(f"the name of sheet {sheet.name!r} is longer than the {_LONGEST_NAME} characters allowed")


def _write_part(
    workbook: Workbook,
    sheet: Sheet,
    folder: Path,
    widths: Sequence[float],
    notes: Sequence[str],
    above: int,
    in_view: int,
) -> None:
    shared, single = sheet.shared_group_lines, sheet.is_one_table
    stub = max(table.stub for table in sheet.tables) if in_view else 0
    worksheet: Worksheet = workbook.create_sheet(sheet.name)
    _set_up(worksheet, widths, bool(sheet.charts), f"{letter(stub + 1)}{above + in_view + 1 if in_view else 2}")
    with _streamed(worksheet, folder) as file:
        rows = Rows(worksheet, widths, file)
        rows.add([Cell(sheet.name, "title")])
        for line in notes:
            rows.add([Cell(line, "note")])
        rows.add([])
        for groups in shared:
            rows.add(_group_cells(groups))
        placed: list[_Placed] = []
        page_top, page_height = 0.0, _PAGE_SHAPE * (_POINTS_PER_CHARACTER * sum(widths) + CHART_WIDTH)
        for number, table in enumerate(sheet.tables):
            charts = [chart for chart in sheet.charts if chart.table == number]
            n_rows = len(table.rows)
            needed = max(_LINE_HEIGHT * (n_rows + 3), *(height_of(chart, n_rows) for chart in charts), 0)
            if charts and placed and rows.height - page_top + needed > page_height:
                worksheet.row_breaks.append(Break(id=rows.written))
                page_top = rows.height - _LINE_HEIGHT  # the title is repeated on the new page
            top, top_height = rows.written + 1, rows.height
            if not single:
                rows.add([Cell(table.caption, "caption")])
            for groups in [] if shared else table.group_lines:
                rows.add(_group_cells(groups))
            placed.append(_add_rows(rows, table))
            for line in _wrapped(table.notes, widths):
                rows.add([Cell(line, "note")])
            if not single:
                rows.add([])
            for chart in charts:
                add_chart(worksheet, chart, placed[-1].heading, placed[-1].last, top, len(widths) + 2)
                while rows.height < top_height + needed + _LINE_HEIGHT:
                    rows.add([])
        for line in _wrapped(sheet.explanations, widths):
            rows.add([Cell(line, "note")])
        _refer(worksheet, placed, single)
        worksheet.print_title_rows = f"{above + 1}:{above + in_view}" if in_view else "1:1"
        if _pages_across(widths) > 1 and stub:
            worksheet.print_title_cols = f"A:{letter(stub)}"


@contextmanager
def _streamed(worksheet: Any, folder: Path) -> Iterator[IO[bytes]]:
    """Give a file in `folder` for the rows; openpyxl writes all that comes before and after them."""
    number = len(worksheet.parent.worksheets)
    path, path_of_rows = folder / f"sheet {number}.xml", folder / f"rows {number}.xml"
    with path_of_rows.open("w+b") as rows:
        yield rows
        around = BytesIO()
        writer: Any = WorksheetWriter(worksheet, out=around)
        writer.write_top()
        worksheet._writer = writer
        worksheet.close()
        before, after = re.split(b"<sheetData */>|<sheetData></sheetData>", around.getvalue())
        rows.seek(0)
        with path.open("wb") as file:
            file.write(before + b"<sheetData>")
            shutil.copyfileobj(rows, file)
            file.write(b"</sheetData>" + after)
    path_of_rows.unlink()
    # ExcelWriter puts the file of this name into the archive, and then cleans up.
    writer.out, writer.cleanup = str(path), path.unlink


def _add_rows(rows: Rows, table: Table) -> _Placed:
    rows.add(_heading_cells(table))
    heading = rows.written
    for number in range(len(table.rows)):
        if table.starts_band(number):
            rows.add([Cell(table.bands[number], "band"), *[Cell(None, "band")] * len(table.columns[1:])])
        rows.add(_body_cells(table, number))
    return _Placed(table, heading, rows.written)


def _refer(worksheet: Worksheet, placed: Sequence[_Placed], single: bool) -> None:
    """Add the objects that refer to written rows: colours by value, and a filter or an Excel table."""
    for table, heading, last in ((each.table, each.heading, each.last) for each in placed):
        if table.diverging and last > heading:
            columns = [letter(column + 1) for column in table.diverging]
            where = f"{columns[0]}{heading + 1}:{columns[1]}{last}"
            worksheet.conditional_formatting.add(where, diverging_scale())
        if single:
            where = f"A{heading}:{letter(len(table.columns))}{last}"
            if any(column.kind == "cell" for column in table.columns):
                continue  # it is for reading, and its numbers are texts
            if can_be_a_table(table):
                add_table(worksheet, where, [column.title for column in table.columns])
            else:
                worksheet.auto_filter.ref = where


def _set_up(worksheet: Worksheet, widths: Sequence[float], has_charts: bool, first_moving_cell: str) -> None:
    """Set widths, frozen panes and print options."""
    for number, width in enumerate(widths, start=1):
        worksheet.column_dimensions[letter(number)].width = width
    worksheet.freeze_panes = first_moving_cell
    worksheet.sheet_view.showGridLines = False
    worksheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    is_narrow = sum(widths) <= _WIDEST_PORTRAIT and not has_charts
    worksheet.page_setup.orientation = "portrait" if is_narrow else "landscape"
    worksheet.page_setup.paperSize = _A4
    for side in ("left", "right", "top", "bottom"):
        setattr(worksheet.page_margins, side, 0.5)
    worksheet.page_setup.fitToWidth, worksheet.page_setup.fitToHeight = _pages_across(widths), 0
    footer = worksheet.oddFooter
    assert footer is not None
    footer.left.text, footer.right.text = f"clinclust: {worksheet.title}", "Page &P of &N"


def _pages_across(widths: Sequence[float]) -> int:
    return math.ceil(sum(widths) / _WIDEST_PAGE)


def _heading_cells(table: Table) -> list[Cell]:
    cells = []
    for place, column in enumerate(table.columns):
        is_text = column.kind == "text" or column.overflow or place < table.stub
        cells.append(Cell(column.title, "heading" if is_text else "number heading"))
    return cells


def _group_cells(groups: Sequence[Span]) -> list[Cell]:
    """Return the cells of group headings, each text in the first cell of its group, centred without merging."""
    cells = []
    for text, length in groups:
        style = "group" if text else "note"
        cells += [Cell(text or None, style), *[Cell(None, style)] * (length - 1)]
    return cells


def _body_cells(table: Table, number: int) -> list[Cell]:
    cells = []
    for place, (column, value) in enumerate(zip(table.columns, table.rows[number], strict=True)):
        if table.plain:
            style = "withheld" if value == WITHHELD else "plain"
        elif column.overflow or (place < table.stub and not isinstance(value, str)):
            style = "running text"
        elif column.kind == "cell":
            style = "printed"
        elif value == WITHHELD and column.kind != "text":
            style = "withheld"
        else:
            style = "text" if isinstance(value, str) or column.kind == "text" else "number"
        cells.append(Cell(value, style, excel_format(column.kind, table.decimals_of(number))))
    return cells


def _widths(sheet: Sheet) -> list[float]:
    """Return the width of each column in characters: every number fits, long texts wrap or extend to the right."""
    widths = [float(_NARROWEST)] * max((len(table.columns) for table in sheet.tables), default=1)
    if not sheet.tables:
        return [float(_LONGEST_LINE)]
    for table in sheet.tables:
        for place, column in enumerate(table.columns):
            needed = min(column.widest, 1.1 * _heading_width(column.title))
            if not column.overflow:
                for number, row in enumerate(table.rows):
                    needed = max(needed, _length(row[place], column, table.decimals_of(number)))
            widths[place] = max(widths[place], needed + (3 if column.kind == "text" else 2))
    for table in sheet.tables:
        for line in table.group_lines:
            place = 0
            for text, length in line:
                end = place + length
                lacking = len(text) * 1.2 + 2 - sum(widths[place:end])
                for column_of_group in range(place, end):
                    widths[column_of_group] += max(0.0, lacking / length)
                place = end
    return widths


def _heading_width(title: str) -> float:
    """Return the width of a bold heading, which takes its own lines, or else two at most."""
    lines = title.split("\n")
    return max(map(len, lines)) if lines[1:] else max(len(title) / 2 + 1, *map(len, title.split(" ")))


def _length(value: Value, column: Column, decimals: int) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return min(column.widest, max(map(len, value.splitlines()), default=0))
    return len(number_text(value, column.kind, decimals))
