"""The report as an Excel workbook: cells, tables and sheets."""

from __future__ import annotations

import re
import shutil
import tempfile
import textwrap
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from threading import RLock
from typing import IO, Any, NamedTuple

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.filters import AutoFilter
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.table import Table as ExcelTable
from openpyxl.worksheet.table import TableColumn
from openpyxl.worksheet.worksheet import Worksheet as ExcelSheet
from openpyxl.writer.excel import ExcelWriter

from clinclust.errors import InputError, visible
from clinclust.files.writing import atomic_write
from clinclust.reporting.layout import WITHHELD, WORDS, Sheet, Span, Table, Value, excel_format, number_text, print_name

# Cells of a worksheet, row by row, and their named styles. Every text in a cell of a workbook passes this module.

_INK, _QUIET, _RULE = "1F2933", "52606D", "BCCCDC"
BLUE = "0072B2"  # blue of Okabe and Ito (2008), whose colours readers with any kind of colour vision can distinguish
_HEADING, _BAND = "DCE6F0", "F0F4F8"


def _register_styles(workbook: Workbook) -> None:
    """Add the named styles to a workbook; a user can change a named style for all its cells at once."""
    top, across = Alignment(vertical="top"), Alignment(horizontal="centerContinuous")
    # The indent separates a text from the number to its left.
    aligned = Alignment(vertical="top", horizontal="left", indent=1)
    wrapped = Alignment(vertical="top", horizontal="left", indent=1, wrap_text=True)
    right = Alignment(vertical="top", horizontal="right", wrap_text=True)
    plain, bold = (Font(name="Calibri", size=11, color=_INK, bold=is_bold) for is_bold in (False, True))
    quiet = Font(name="Calibri", size=11, color=_QUIET)
    none = PatternFill()
    heading, band = (PatternFill("solid", fgColor=colour) for colour in (_HEADING, _BAND))
    rule = Border(bottom=Side(style="thin", color=_RULE))
    for name, font, alignment, fill, border in (
        ("title", Font(name="Calibri", size=16, color=_INK, bold=True), top, none, Border()),
        ("note", quiet, top, none, Border()),
        ("caption", Font(name="Calibri", size=13, color=_INK, bold=True), top, none, Border()),
        ("group", bold, across, heading, Border()),
        ("heading", bold, wrapped, heading, rule),
        ("number heading", bold, right, heading, rule),
        ("band", bold, aligned, band, rule),
        ("text", plain, wrapped, none, rule),
        ("running text", plain, aligned, none, rule),
        ("number", plain, top, none, rule),
        ("plain", plain, Alignment(), none, Border()),
        ("withheld", quiet, right, none, rule),
        ("printed", plain, Alignment(vertical="top", horizontal="right"), none, rule),
    ):
        workbook.add_named_style(NamedStyle(f"clinclust {name}", font, fill, border, alignment))


_LONGEST_TEXT = 32_767
_LINE_HEIGHT, _GREATEST_HEIGHT = 15.0, 409.0
_WRAPPED = ("heading", "number heading", "text")
# Excel reads _x0041_ as the character with this hexadecimal code, unless the underscore itself is escaped.
_ESCAPE_LOOKALIKE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


class Cell(NamedTuple):
    """A cell before it is written: value, name of the style, and number format."""

    value: Value
    style: str
    number_format: str = "General"


@lru_cache(maxsize=100_000)
def _safe_text(text: str) -> str:
    """Return a text escaped so that a spreadsheet program shows exactly this text."""
    return _ESCAPE_LOOKALIKE.sub("_x005F_", visible(text))


def _height(cell: Cell, width: float) -> float:
    """Return the height of a cell in points. It is set because programs fit row heights differently, or not at all."""
    if cell.style in ("title", "caption"):
        return 1.5 * _LINE_HEIGHT
    if not isinstance(cell.value, str) or cell.style not in _WRAPPED:
        return _LINE_HEIGHT
    # The indent of a text, or the bold letters of a heading, take the width of two characters.
    width = max(1, int(width) - 2)
    return _LINE_HEIGHT * sum(
        len(textwrap.wrap(line, width)) if len(line) > width else 1 for line in cell.value.splitlines()
    )


class Rows:
    """Writes the rows of a worksheet in order, and counts them.

    One cell of openpyxl serves all of a format, as each is written before the next is asked for: making one takes
    longer than writing it.
    """

    def __init__(self, worksheet: Any, widths: Sequence[float]) -> None:
        self.worksheet = worksheet
        self.widths = widths
        self.written = 0
        self._cells: dict[tuple[str, str, bool], Any] = {}

    def add(self, cells: Sequence[Cell]) -> None:
        """Write the next row; its height fits its wrapped texts."""
        self.written += 1
        height = max(map(_height, cells, self.widths), default=0.0)
        if height > _LINE_HEIGHT:
            self.worksheet.row_dimensions[self.written].height = min(height, _GREATEST_HEIGHT)
        for column, cell in enumerate(cells, start=1):
            text = visible(str(cell.value)) if len(str(cell.value)) > _LONGEST_TEXT // 2 else ""
            if len(text.encode("utf-16-le")) // 2 > _LONGEST_TEXT:
                raise InputError(
                    f"sheet {self.worksheet.title!r}, cell {letter(column)}{self.written}: the text that begins "
                    f"{text[:30]!r} has {len(text):,} characters, and a cell holds {_LONGEST_TEXT:,}; shorten it"
                )
        self.worksheet.append(self._fill(cell) for cell in cells)

    def _fill(self, cell: Cell) -> Any:
        is_text = isinstance(cell.value, str)
        if cell.value is None and cell.style == "plain":
            return None
        key = (cell.style, "General" if is_text else cell.number_format, is_text)
        if key not in self._cells:
            self._cells[key] = made = WriteOnlyCell(self.worksheet)
            made.style, made.number_format = f"clinclust {cell.style}", key[1]
            made.quotePrefix = is_text  # a text stays a text when a user edits it
        filled = self._cells[key]
        filled.value = _safe_text(cell.value) if isinstance(cell.value, str) else cell.value
        if is_text:
            filled.data_type = "s"  # never a formula or an error, such as "=..." and "#N/A"
        return filled


# Excel tables, which have filters.

_LONGEST_HEADING = 255


def _unique_headings(table: Table) -> list[str]:
    """Return the headings in one line each, made unique by the heading of their group and, if necessary, a number."""
    titles = []
    for column in table.columns:
        # A last line of its own, as "n = 96 (40.0%)", is not broken.
        *above, last = visible(column.title).split("\n")
        space = "\N{NO-BREAK SPACE}" if above else " "
        titles.append(" ".join([*" ".join(above).split(), space.join(last.split())]) or "Column")
    folded = [title.casefold() for title in titles]
    headings: list[str] = []
    in_use: set[str] = set()
    for column, title in zip(table.columns, titles, strict=True):
        group = " ".join(visible(column.group[0]).split())
        wanted = f"{group}: {title}" if group and folded.count(title.casefold()) > 1 else title
        heading, number = wanted, 1
        while heading.casefold() in in_use:
            number += 1
            heading = f"{wanted} ({number})"
        in_use.add(heading.casefold())
        headings.append(heading)
    return headings


# Write one sheet of a report into a workbook: its tables row by row, then the colours and filters of their cells.

_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_A4 = 9
_NARROWEST, _SHORTEST_LINE, _LONGEST_LINE = 7, 90, 150
_WIDEST_OF_SEVERAL = 30  # characters of a text above or below numbers of another section

_WORKSHEETS, _ONE_WORKBOOK = WORDS["workbook"], RLock()  # the folder for temporary files is that of all threads


class Worksheet(NamedTuple):
    """A sheet of a workbook: why a reader would open it, and its sections, one below the other."""

    name: str
    reason: str
    sections: Sequence[Sheet]

    @classmethod
    def gather(cls, sheets: Sequence[Sheet]) -> list[Worksheet]:
        """Return the sheets of a workbook, of which some hold several sections of the report."""
        name_of = {section: name for name, about in _WORKSHEETS.items() for section in about["sections"]}
        gathered: dict[str, list[Sheet]] = {}
        for sheet in sheets:
            gathered.setdefault(name_of.get(sheet.name, sheet.name), []).append(sheet)
        return [
            cls(name, _WORKSHEETS[name]["reason"] if len(sections) > 1 else "", sections)
            for name, sections in gathered.items()
        ]


def _write_worksheet(workbook: Workbook, worksheet: Worksheet) -> None:
    """Add a sheet to a write-only workbook: its title, and then its sections, of which each begins a page."""
    _check_size(worksheet)
    widest = _WIDEST_OF_SEVERAL if len(worksheet.sections) > 1 else _LONGEST_LINE
    sections = []
    for section in worksheet.sections:
        tables = []
        for table in section.tables:
            # The headings of a table with filters differ.
            has_filters = section.is_one_table and not table.bands
            titles = _unique_headings(table) if has_filters else [column.title for column in table.columns]
            titled = zip(table.columns, titles, strict=True)
            columns = [replace(place, title=title, widest=min(place.widest, widest)) for place, title in titled]
            tables.append(replace(table, columns=columns))
        sections.append(replace(section, tables=tables))
    first, *others = sections
    widths = [max(of_column) for of_column in zip_longest(*map(_widths, sections), fillvalue=0.0)]
    # Frozen rows: the shared group headings, and the headings of a single table.
    in_view = 0 if others else len(first.shared_group_lines) + first.is_one_table
    stub = max(table.stub for table in first.tables) if in_view else 0
    above = 2 + len(_wrapped(first.notes, widths))  # the title, the notes and an empty row
    with closing(workbook.create_sheet(print_name(worksheet.name))) as into:
        _set_up(into, widths, f"{letter(stub + 1)}{above + in_view + 1 if in_view else 2}")
        rows = Rows(into, widths)
        rows.add([Cell(print_name(worksheet.name if others else first.name), "title")])
        for line in _wrapped([worksheet.reason], widths):
            rows.add([Cell(line, "note")])
        for section in sections:
            if others:
                if section is not first:
                    into.row_breaks.append(Break(id=rows.written))
                rows.add([])
                rows.add([Cell(print_name(section.name), "title")])
            # The headings of the last table, which may be the longest one, are printed again on its further pages.
            headings = _write_section(into, section, rows, widths, is_first=section is first)
            into.print_title_rows = headings if section.is_one_table else "1:1"


def _wrapped(notes: Sequence[str], widths: Sequence[float]) -> list[str]:
    line_length = int(min(_LONGEST_LINE, max(_SHORTEST_LINE, sum(widths))))
    return [line for note in notes for line in textwrap.wrap(note, line_length)]


def _check_size(worksheet: Worksheet) -> None:
    tables = [table for section in worksheet.sections for table in section.tables]
    n_columns = max((len(table.columns) for table in tables), default=0)
    n_rows = sum(len(table.rows) + len(set(table.bands)) + 5 for table in tables) + 20 * len(worksheet.sections)
    for n, most, what, fewer in (
        (n_columns, _MOST_COLUMNS, "columns", "subtypes"),
        (n_rows, _MOST_ROWS, "rows", "features"),
    ):
        if n > most:
            raise InputError(
                f"sheet {worksheet.name!r} needs {n:,} {what} and a workbook holds {most:,}; write an .html report, or "
                f"report fewer {fewer}"
            )


def _write_section(
    worksheet: ExcelSheet, section: Sheet, rows: Rows, widths: Sequence[float], *, is_first: bool
) -> str:
    """Write a section, and return the rows that hold the headings of its last table, as "5:6"."""
    shared, single = section.shared_group_lines, section.is_one_table
    for line in _wrapped(section.notes, widths):
        rows.add([Cell(line, "note")])
    rows.add([])
    above, heading = rows.written, rows.written
    for groups in shared:
        rows.add(_group_cells(groups))
    for table in section.tables:
        if not single:
            rows.add([Cell(table.caption, "caption")])
        for groups in [] if shared else table.group_lines:
            rows.add(_group_cells(groups))
        is_text = [column.kind == "text" or column.overflow for column in table.columns]
        is_text[: table.stub] = [True] * table.stub
        styles = ("heading" if text else "number heading" for text in is_text)
        rows.add([Cell(column.title, style) for column, style in zip(table.columns, styles, strict=True)])
        heading = rows.written
        for row in range(len(table.rows)):
            if table.starts_band(row):
                rows.add([Cell(table.bands[row], "band"), *[Cell(None, "band")] * len(table.columns[1:])])
            rows.add(_body_cells(table, row))
        last = rows.written
        # A printed table is for reading, and its numbers are texts.
        if single and all(column.kind != "cell" for column in table.columns):
            where = f"A{heading}:{letter(len(table.columns))}{last}"
            # Excel accepts a table that has rows, no sections, and no heading that is too long.
            longest = max(len(_safe_text(column.title).encode("utf-16-le")) // 2 for column in table.columns)
            if table.rows and not table.bands and longest <= _LONGEST_HEADING:
                # An Excel table has filters and a name. openpyxl cannot read the headings back from a streamed sheet.
                excel_table = ExcelTable(displayName=re.sub(r"\W+", "_", section.name), ref=where)
                headings = enumerate((_safe_text(column.title) for column in table.columns), start=1)
                excel_table.tableColumns = [TableColumn(id=number, name=text) for number, text in headings]
                excel_table.autoFilter = AutoFilter(ref=where)
                worksheet.tables.add(excel_table)  # `add_table` would warn that headings are needed, which are there
            elif is_first:  # a sheet has one filter that is of no table
                worksheet.auto_filter.ref = where
        for line in _wrapped(table.notes, widths):
            rows.add([Cell(line, "note")])
        if not single:
            rows.add([])
    for line in _wrapped(section.explanations, widths):
        rows.add([Cell(line, "note")])
    return f"{above + 1}:{heading}"


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Let openpyxl write the sheets into this folder, and not where all users have their temporary files."""
    with _ONE_WORKBOOK:
        before, tempfile.tempdir = tempfile.tempdir, str(folder)
        try:
            yield
        finally:
            tempfile.tempdir = before


def _set_up(worksheet: ExcelSheet, widths: Sequence[float], first_moving_cell: str) -> None:
    """Set widths, frozen panes and print options: as wide as a page, however long."""
    for number, width in enumerate(widths, start=1):
        worksheet.column_dimensions[letter(number)].width = width
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
    footer.left.text, footer.right.text = f"clinclust: {worksheet.title}", WORDS["page"]["footer"]


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
            lines, words = column.title.split("\n"), column.title.split(" ")
            # A bold heading takes its own lines, or else two at most.
            of_heading = max(map(len, lines)) if lines[1:] else max(len(column.title) / 2 + 1, *map(len, words))
            needed = min(column.widest, 1.1 * of_heading)
            if not column.overflow:
                for number, row in enumerate(table.rows):
                    value, decimals = row[place], table.decimals_of(number)
                    text = (value or "") if isinstance(value, str | None) else number_text(value, column.kind, decimals)
                    needed = max(needed, min(column.widest, max(map(len, text.split("\n")))))
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


# Write the sheets of a report as an Excel workbook.

NO_DATE = datetime(1980, 1, 1, tzinfo=UTC)
"""Date of documents without a date: the earliest date that a ZIP archive can store."""


def write_workbook(sheets: Sequence[Sheet], path: Path, *, title: str, generated: datetime) -> None:
    """Write the sheets to `path`, reproducibly; ValueError, which names the sheet, if one does not fit."""
    workbook = Workbook(write_only=True)
    _register_styles(workbook)
    moment = generated.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    workbook.properties.creator = workbook.properties.lastModifiedBy = "clinclust"
    workbook.properties.title = visible(title)
    workbook.properties.subject, workbook.properties.keywords = WORDS["page"]["subject"], WORDS["page"]["keywords"]
    worksheets = Worksheet.gather(sheets)
    names = ", ".join(print_name(worksheet.name) for worksheet in worksheets)
    workbook.properties.description = WORDS["page"]["sheets"].format(names=names)
    workbook.properties.created = workbook.properties.modified = moment
    # What openpyxl writes on the way holds data of patients too: it is in the private folder of the target.
    with (
        atomic_write(path) as target,
        _temporary_files_in(target.parent),
        (target.parent / "workbook.zip").open("wb+") as written,
    ):
        for worksheet in worksheets:
            _write_worksheet(workbook, worksheet)
        # Workbook.save would replace `modified` by the time of saving.
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            ExcelWriter(workbook, archive).save()
        copy_without_times(written, target)


def copy_without_times(archive: IO[bytes], target: Path) -> None:
    """Copy a ZIP archive, such as an Office document, dating each entry `NO_DATE`."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, NO_DATE.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            with old.open(name) as content, new.open(entry, "w", force_zip64=True) as copy:
                shutil.copyfileobj(content, copy)
