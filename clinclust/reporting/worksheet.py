"""Write one sheet of a report into a workbook, row by row."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from clinclust.reporting.layout import Column, Sheet, Span, Table, Value, excel_format, number_text, visible

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell import Cell
    from openpyxl.styles import PatternFill
    from openpyxl.worksheet.worksheet import Worksheet

__all__ = ["register_styles", "write_worksheet"]

_MOST_ROWS = 1_048_576
_LONGEST_TEXT = 32_767
_A4 = 9

_INK, _QUIET, _HEADING, _BAND, _RULE = "1F2933", "52606D", "DCE6F0", "F0F4F8", "BCCCDC"
_DARKEST_SHADE = (107, 174, 214)
_SHADES = 40
_NARROWEST, _WIDEST, _LONGEST_LINE = 7, 44, 150
_LINE_HEIGHT, _GREATEST_HEIGHT = 15.0, 409.0


class _Cell(NamedTuple):
    """A cell before it is written."""

    value: Value
    style: str
    number_format: str = "General"
    shade: float | None = None


def register_styles(workbook: Workbook) -> None:
    """Give the workbook the named styles that the sheets use."""
    from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side

    top, across = Alignment(vertical="top"), Alignment(horizontal="centerContinuous")
    # The indent keeps a text apart from the number to its left.
    left = Alignment(vertical="top", horizontal="left", indent=1)
    wrapped = Alignment(vertical="top", horizontal="left", indent=1, wrap_text=True)
    right = Alignment(vertical="top", horizontal="right", wrap_text=True)
    plain, bold = (Font(name="Calibri", size=11, color=_INK, bold=is_bold) for is_bold in (False, True))
    none = PatternFill()
    heading, band = (PatternFill("solid", fgColor=colour) for colour in (_HEADING, _BAND))
    rule = Border(bottom=Side(style="thin", color=_RULE))
    for name, font, alignment, fill, border in (
        ("title", Font(name="Calibri", size=16, color=_INK, bold=True), top, none, Border()),
        ("note", Font(name="Calibri", size=11, color=_QUIET), top, none, Border()),
        ("caption", Font(name="Calibri", size=13, color=_INK, bold=True), top, none, Border()),
        ("group", bold, across, heading, Border()),
        ("heading", bold, wrapped, heading, rule),
        ("number heading", bold, right, heading, rule),
        ("band", bold, left, band, rule),
        ("text", plain, wrapped, none, rule),
        ("running text", plain, left, none, rule),
        ("number", plain, top, none, rule),
    ):
        workbook.add_named_style(NamedStyle(f"clinclust {name}", font, fill, border, alignment))


def write_worksheet(workbook: Workbook, sheet: Sheet) -> None:
    """Add the sheet to a workbook opened with ``write_only=True``.

    Raises
    ------
    ValueError
        If it has more rows, or a cell more text, than a workbook can hold.
    """
    needed = sum(len(table.rows) + len(set(table.bands)) + 5 for table in sheet.tables) + 20
    if needed > _MOST_ROWS:
        raise ValueError(
            f"sheet {sheet.name!r} needs {needed:,} rows and a workbook holds {_MOST_ROWS:,}; "
            "write an .html report, or report fewer subjects"
        )
    widths = _widths(sheet)
    line_length = min(_LONGEST_LINE, int(sum(widths)))
    notes = [line for note in sheet.notes for line in textwrap.wrap(note, line_length)]
    shared, single = sheet.shared_group_lines, len(sheet.tables) == 1
    # Title, notes, an empty row; then what stays in view: shared group headings, headings of an only table.
    above = 2 + len(notes)
    in_view = len(shared) + single
    stub = max(table.stub for table in sheet.tables) if in_view else 0

    worksheet: Worksheet = workbook.create_sheet(sheet.name)
    _set_up(worksheet, widths, f"{_letter(stub + 1)}{above + in_view + 1 if in_view else 2}")
    rows = _Rows(worksheet, widths)
    rows.add([_Cell(sheet.name, "title")])
    for line in notes:
        rows.add([_Cell(line, "note")])
    rows.add([])
    for groups in shared:
        rows.add(_group_cells(groups))
    for table in sheet.tables:
        if not single:
            rows.add([_Cell(table.caption, "caption")])
        for groups in [] if shared else table.group_lines:
            rows.add(_group_cells(groups))
        rows.add(_heading_cells(table))
        for number in range(len(table.rows)):
            if table.starts_band(number):
                rows.add([_Cell(table.bands[number], "band"), *[_Cell(None, "band")] * len(table.columns[1:])])
            rows.add(_body_cells(table, number))
        if not single:
            rows.add([])
    worksheet.print_title_rows = f"{above + 1}:{above + in_view}" if in_view else "1:1"
    if single:
        worksheet.auto_filter.ref = f"A{above + in_view}:{_letter(len(widths))}{rows.written}"


def _set_up(worksheet: Worksheet, widths: Sequence[float], first_moving_cell: str) -> None:
    """Set widths, frozen panes and printing, which must be known before the first row is written."""
    from openpyxl.worksheet.properties import PageSetupProperties

    for number, width in enumerate(widths, start=1):
        worksheet.column_dimensions[_letter(number)].width = width
    worksheet.freeze_panes = first_moving_cell
    worksheet.sheet_view.showGridLines = False
    worksheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    worksheet.page_setup.orientation = "landscape"
    worksheet.page_setup.paperSize = _A4
    for side in ("left", "right", "top", "bottom"):
        setattr(worksheet.page_margins, side, 0.5)
    worksheet.page_setup.fitToWidth, worksheet.page_setup.fitToHeight = 1, 0
    footer = worksheet.oddFooter
    assert footer is not None
    footer.left.text, footer.right.text = f"clinclust: {worksheet.title}", "Page &P of &N"


def _letter(number: int) -> str:
    from openpyxl.utils import get_column_letter

    return get_column_letter(number)


def _heading_cells(table: Table) -> list[_Cell]:
    cells = []
    for place, column in enumerate(table.columns):
        is_text = column.kind == "text" or column.overflow or place < table.stub
        cells.append(_Cell(column.title, "heading" if is_text else "number heading"))
    return cells


def _group_cells(groups: Sequence[Span]) -> list[_Cell]:
    """Each text in the first cell of its group, centred across the group (nothing is merged)."""
    cells = []
    for text, length in groups:
        style = "group" if text else "note"
        cells += [_Cell(text or None, style), *[_Cell(None, style)] * (length - 1)]
    return cells


def _body_cells(table: Table, number: int) -> list[_Cell]:
    cells = []
    shades = table.shades[number] if table.shades else [None] * len(table.columns)
    for place, (column, value, shade) in enumerate(zip(table.columns, table.rows[number], shades, strict=True)):
        if column.overflow or (place < table.stub and not isinstance(value, str)):
            style = "running text"
        else:
            style = "text" if isinstance(value, str) or column.kind == "text" else "number"
        cells.append(_Cell(value, style, excel_format(column.kind, table.decimals_of(number)), shade))
    return cells


def _widths(sheet: Sheet) -> list[float]:
    """Widths that hold every number whole, in characters; long texts wrap, overflowing ones run on."""
    widths = [float(_NARROWEST)] * max(len(table.columns) for table in sheet.tables)
    for table in sheet.tables:
        for place, column in enumerate(table.columns):
            # Bold headings, in two lines at most.
            longest_word = max(len(word) for word in column.title.split(" "))
            needed = min(_WIDEST, 1.1 * max(longest_word, len(column.title) / 2 + 1))
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


def _length(value: Value, column: Column, decimals: int) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return min(_WIDEST, max(map(len, value.splitlines()), default=0))
    return len(number_text(value, column.kind, decimals))


def _height(cell: _Cell, width: float) -> float:
    """Height in points; not every program fits it, and not with the same fonts."""
    if cell.style in ("title", "caption"):
        return 1.5 * _LINE_HEIGHT
    if not isinstance(cell.value, str) or cell.style not in ("heading", "number heading", "text"):
        return _LINE_HEIGHT
    # Texts lose two characters to the indent, headings to bold letters.
    lines = [textwrap.wrap(line, int(width) - 2) for line in cell.value.splitlines()]
    return _LINE_HEIGHT * sum(max(1, len(wrapped)) for wrapped in lines)


class _Rows:
    """The rows of a worksheet, written one after the other."""

    def __init__(self, worksheet: Worksheet, widths: Sequence[float]) -> None:
        self.worksheet = worksheet
        self.widths = widths
        self.written = 0
        self._fills: dict[int, PatternFill] = {}

    def add(self, cells: Sequence[_Cell]) -> None:
        """Write the next row, high enough for its wrapped texts."""
        self.written += 1
        height = max(map(_height, cells, self.widths), default=0)
        if height > _LINE_HEIGHT:
            self.worksheet.row_dimensions[self.written].height = min(height, _GREATEST_HEIGHT)
        self.worksheet.append([self._styled(cell, column) for column, cell in enumerate(cells, start=1)])

    def _styled(self, cell: _Cell, column: int) -> Cell:
        from openpyxl.cell import WriteOnlyCell

        written = WriteOnlyCell(self.worksheet)
        written.style = f"clinclust {cell.style}"
        if cell.shade is not None:
            written.fill = self._fill(cell.shade)
        if isinstance(cell.value, str):
            self._set_text(written, cell.value, f"{_letter(column)}{self.written}")
        elif cell.value is not None:
            written.value = cell.value
            written.number_format = cell.number_format
        return written

    def _set_text(self, cell: Cell, text: str, place: str) -> None:
        """Put a text into a cell so that it stays text; every text of a workbook passes here.

        Otherwise what begins with ``=`` becomes a formula, and ``#N/A`` an error. The order matters: setting
        the value sets the type as well. `quotePrefix` keeps the text a text when somebody edits the cell.
        """
        text = visible(text)
        if len(text.encode("utf-16-le")) > 2 * _LONGEST_TEXT:
            raise ValueError(
                f"sheet {self.worksheet.title!r}, cell {place}: the text that begins {text[:30]!r} has "
                f"{len(text):,} characters, and a cell holds {_LONGEST_TEXT:,}; shorten it"
            )
        cell.value = text
        cell.data_type = "s"
        cell.quotePrefix = True

    def _fill(self, shade: float) -> PatternFill:
        """Fill between white (0) and the darkest shade (1)."""
        from openpyxl.styles import PatternFill

        step = round(shade * _SHADES)
        if step not in self._fills:
            mixed = (round(255 - step / _SHADES * (255 - darkest)) for darkest in _DARKEST_SHADE)
            self._fills[step] = PatternFill("solid", fgColor="".join(f"{part:02X}" for part in mixed))
        return self._fills[step]
