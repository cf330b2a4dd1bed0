"""The report as an Excel workbook: cells, tables and sheets."""

from __future__ import annotations

import re
import shutil
import textwrap
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from io import BytesIO
from itertools import starmap, zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple
from xml.sax.saxutils import escape

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet._writer import WorksheetWriter  # there is no public way to choose this file
from openpyxl.worksheet.filters import AutoFilter
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.table import Table as ExcelTable
from openpyxl.worksheet.table import TableColumn
from openpyxl.worksheet.worksheet import Worksheet as ExcelSheet
from openpyxl.writer.excel import ExcelWriter

from clinclust.errors import InputError, visible
from clinclust.files.writing import atomic_write
from clinclust.reporting.layout import (
    HIGH,
    LOW,
    MIDDLE,
    WITHHELD,
    WORDS,
    Column,
    Sheet,
    Span,
    Table,
    Value,
    excel_format,
    number_text,
    print_name,
)

# Cells of a worksheet, row by row, and their named styles. Every text in a cell of a workbook passes this module.

INK, QUIET, RULE = "1F2933", "52606D", "BCCCDC"
BLUE = "0072B2"  # blue of Okabe and Ito (2008), whose colours readers with any kind of colour vision can distinguish
_HEADING, _BAND = "DCE6F0", "F0F4F8"


def _register_styles(workbook: Workbook) -> None:
    """Add the named styles to a workbook; a user can change a named style for all its cells at once."""
    top, across = Alignment(vertical="top"), Alignment(horizontal="centerContinuous")
    # The indent separates a text from the number to its left.
    aligned = Alignment(vertical="top", horizontal="left", indent=1)
    wrapped = Alignment(vertical="top", horizontal="left", indent=1, wrap_text=True)
    right = Alignment(vertical="top", horizontal="right", wrap_text=True)
    plain, bold = (Font(name="Calibri", size=11, color=INK, bold=is_bold) for is_bold in (False, True))
    quiet = Font(name="Calibri", size=11, color=QUIET)
    none = PatternFill()
    heading, band = (PatternFill("solid", fgColor=colour) for colour in (_HEADING, _BAND))
    rule = Border(bottom=Side(style="thin", color=RULE))
    for name, font, alignment, fill, border in (
        ("title", Font(name="Calibri", size=16, color=INK, bold=True), top, none, Border()),
        ("note", quiet, top, none, Border()),
        ("caption", Font(name="Calibri", size=13, color=INK, bold=True), top, none, Border()),
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


def diverging_scale() -> Any:
    """Return the rule that colours numbers from orange (-1 and below) through white (0) to blue (1 and above)."""
    rule: Any = ColorScaleRule  # it has no type information
    return rule(*("num", -1, LOW), *("num", 0, MIDDLE), *("num", 1, HIGH))


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


def _safe_text(text: str) -> str:
    """Return a text escaped so that a spreadsheet program shows exactly this text."""
    return _ESCAPE_LOOKALIKE.sub("_x005F_", visible(text))


@lru_cache(maxsize=100_000)
def _lines(text: str, width: int) -> int:
    return sum(max(1, len(textwrap.wrap(line, width))) for line in text.splitlines())


def _height(cell: Cell, width: float) -> float:
    """Return the height of a cell in points. It is set because programs fit row heights differently, or not at all."""
    if cell.style in ("title", "caption"):
        return 1.5 * _LINE_HEIGHT
    if not isinstance(cell.value, str) or cell.style not in _WRAPPED:
        return _LINE_HEIGHT
    # The indent of a text, or the bold letters of a heading, take the width of two characters.
    return _LINE_HEIGHT * _lines(cell.value, max(1, int(width) - 2))


@lru_cache(maxsize=100_000)
def _inline(text: str) -> tuple[str, int]:
    """Return the content of a cell that shows exactly this text, and the length of the text as Excel counts it."""
    shown = _safe_text(text)
    space = ' xml:space="preserve"' if shown != shown.strip() else ""
    content = escape(shown, {"\r": "&#13;"})
    return f"<is><t{space}>{content}</t></is>" if shown else "", len(visible(text).encode("utf-16-le")) // 2


class Rows:
    """Writes the rows of a worksheet in order, as XML, because openpyxl takes ten times as long for each cell.

    `height` is the height in points of the rows written.
    """

    def __init__(self, worksheet: ExcelSheet, widths: Sequence[float], file: IO[bytes]) -> None:
        self.worksheet = worksheet
        self.widths = widths
        self.file = file
        self.written = 0
        self.height = 0.0
        self._styles: dict[tuple[str, str, bool], int] = {}

    def add(self, cells: Sequence[Cell]) -> None:
        """Write the next row; its height fits its wrapped texts."""
        self.written += 1
        height = min(max(map(_height, cells, self.widths), default=0.0), _GREATEST_HEIGHT)
        self.height += max(height, _LINE_HEIGHT)
        own = f' ht="{height:.16g}" customHeight="1"' if height > _LINE_HEIGHT else ""
        row = "".join(starmap(self._xml, enumerate(cells, start=1)))
        text = f'<row r="{self.written}"{own}>{row}</row>'
        self.file.write(text.encode("ascii", "xmlcharrefreplace"))

    def _xml(self, column: int, cell: Cell) -> str:
        value, place = cell.value, f"{letter(column)}{self.written}"
        if value is None and cell.style == "plain":
            return ""
        begin = f'<c r="{place}" s="{self._style(cell)}"'
        # A text is never a formula or an error, such as "=..." and "#N/A".
        if isinstance(value, str):
            content, length = _inline(value)
            if length > _LONGEST_TEXT:
                text = visible(value)
                raise InputError(
                    f"sheet {self.worksheet.title!r}, cell {place}: the text that begins {text[:30]!r} has "
                    f"{len(text):,} characters, and a cell holds {_LONGEST_TEXT:,}; shorten it"
                )
            return f'{begin} t="inlineStr">{content}</c>'
        return f'{begin} t="n"></c>' if value is None else f'{begin} t="n"><v>{value:.16g}</v></c>'

    def _style(self, cell: Cell) -> int:
        """Return the number of the format in the workbook; `quotePrefix` keeps a text a text when a user edits it."""
        is_text = isinstance(cell.value, str)
        number_format = "General" if is_text or cell.value is None else cell.number_format
        key = (cell.style, number_format, is_text)
        if key not in self._styles:
            made = WriteOnlyCell(self.worksheet)
            made.style = f"clinclust {cell.style}"
            made.number_format = number_format
            made.quotePrefix = is_text
            self._styles[key] = made.style_id
        return self._styles[key]


# Excel tables, which have filters.

_LONGEST_HEADING = 255


def _in_one_line(title: str) -> str:
    """Return a heading in one line, in which a last line of its own, as "n = 96 (40.0%)", is not broken."""
    *first, last = visible(title).split("\n")
    return " ".join([*" ".join(first).split(), ("\N{NO-BREAK SPACE}" if first else " ").join(last.split())])


def _unique_headings(table: Table) -> list[str]:
    """Return the headings in one line each, made unique by the heading of their group and, if necessary, a number."""
    titles = [_in_one_line(column.title) or "Column" for column in table.columns]
    folded = [title.casefold() for title in titles]
    headings: list[str] = []
    taken: set[str] = set()
    for column, title in zip(table.columns, titles, strict=True):
        group = " ".join(visible(column.group[0]).split())
        wanted = f"{group}: {title}" if group and folded.count(title.casefold()) > 1 else title
        heading, number = wanted, 1
        while heading.casefold() in taken:
            number += 1
            heading = f"{wanted} ({number})"
        taken.add(heading.casefold())
        headings.append(heading)
    return headings


def add_table(worksheet: ExcelSheet, name: str, where: str, headings: Sequence[str]) -> None:
    """Add an Excel table, which has filters and a name, for a range as "A5:D20" whose first row holds the headings."""
    table = ExcelTable(displayName=re.sub(r"\W+", "_", name), ref=where)
    # openpyxl cannot read the headings back from a streamed sheet, so they are given here.
    table.tableColumns = [
        TableColumn(id=number, name=_safe_text(text)) for number, text in enumerate(headings, start=1)
    ]
    table.autoFilter = AutoFilter(ref=where)
    worksheet.tables.add(table)  # Worksheet.add_table would warn that headings are needed, although they are given


# Write one sheet of a report into a workbook: its tables row by row, then the colours and filters of their cells.

_MOST_ROWS, _MOST_COLUMNS, _LONGEST_NAME = 1_048_576, 16_384, 31
_A4 = 9
_NARROWEST, _LONGEST_LINE = 7, 150
_WIDEST_OF_SEVERAL = 30  # characters of a text above or below numbers of another section
_POINTS_PER_CHARACTER, _PAGE_SHAPE = 5.6, 0.62  # height / width of the printed area of A4, with some reserve


_WORKSHEETS = WORDS["workbook"]


class Worksheet(NamedTuple):
    """A sheet of a workbook: why a reader would open it, and its sections, one below the other."""

    name: str
    reason: str
    sections: Sequence[Sheet]

    @property
    def is_one_table(self) -> bool:
        """Whether its headings can stay in view."""
        return len(self.sections) == 1 and self.sections[0].is_one_table

    @property
    def tables(self) -> list[Table]:
        """The tables of all its sections."""
        return [table for section in self.sections for table in section.tables]

    @property
    def n_rows(self) -> int:
        """At least as many rows as it needs."""
        return sum(len(table.rows) + len(set(table.bands)) + 5 for table in self.tables) + 20 * len(self.sections)

    @classmethod
    def gather(cls, sheets: Sequence[Sheet]) -> list[Worksheet]:
        """Return the sheets of a workbook, of which some hold several sections of the report, as far as they can."""
        name_of = {section: name for name, about in _WORKSHEETS.items() for section in about["sections"]}
        gathered: dict[str, list[Sheet]] = {}
        for sheet in sheets:
            gathered.setdefault(name_of.get(sheet.name, sheet.name), []).append(sheet)
        worksheets: list[Worksheet] = []
        for name, sections in gathered.items():
            order = [*_WORKSHEETS.get(name, {"sections": []})["sections"], name]
            sections = [section for wanted in dict.fromkeys(order) for section in sections if section.name == wanted]
            together = cls(name, _WORKSHEETS[name]["reason"] if len(sections) > 1 else "", sections)
            can_be_together = len(sections) == 1 or together.n_rows <= _MOST_ROWS
            worksheets += [together] if can_be_together else [cls(section.name, "", [section]) for section in sections]
        return worksheets


def _write_worksheet(workbook: Workbook, worksheet: Worksheet, folder: Path) -> None:
    """Add a sheet to a write-only workbook, its rows through a file in `folder`; ValueError if it does not fit.

    A sheet that is one table without sections is continued on further sheets ("Data 2") if it has too many rows.
    """
    widest = _WIDEST_OF_SEVERAL if len(worksheet.sections) > 1 else _LONGEST_LINE
    sections = [
        replace(section, tables=[_prepared(section, table, widest) for table in section.tables])
        for section in worksheet.sections
    ]
    widths = [max(of_column) for of_column in zip_longest(*map(_widths, sections), fillvalue=0.0)]
    for part in _parts(worksheet._replace(sections=sections), widths):
        _check_size(part)
        _write_part(workbook, part, folder, widths)


def _wrapped(notes: Sequence[str], widths: Sequence[float]) -> list[str]:
    line_length = min(_LONGEST_LINE, int(sum(widths)))
    return [line for note in notes for line in textwrap.wrap(note, line_length)]


def _prepared(sheet: Sheet, table: Table, widest: int) -> Table:
    """Return a table with texts of at most this width in a line, and headings that differ if it can have filters."""
    has_filters = sheet.is_one_table and not table.bands
    titles = _unique_headings(table) if has_filters else [column.title for column in table.columns]
    columns = [replace(c, title=t, widest=min(c.widest, widest)) for c, t in zip(table.columns, titles, strict=True)]
    return replace(table, columns=columns)


def _lines_above(section: Sheet, widths: Sequence[float]) -> int:
    """Return the number of rows above the headings of the first table: the title, the notes and an empty row."""
    return 2 + len(_wrapped(section.notes, widths))


def _parts(worksheet: Worksheet, widths: Sequence[float]) -> Iterator[Worksheet]:
    """Yield the sheet, divided into several if its only table has too many rows."""
    section = worksheet.sections[0]
    capacity = _MOST_ROWS - _lines_above(section, widths) - len(section.shared_group_lines) - 1
    if not worksheet.is_one_table or section.tables[0].bands or len(section.tables[0].rows) <= capacity:
        yield worksheet
        return
    table = section.tables[0]
    for number, start in enumerate(range(0, len(table.rows), capacity), start=1):
        here, ending = slice(start, start + capacity), "" if number == 1 else f" {number}"
        part = replace(table, rows=table.rows[here], decimals=table.decimals[here])
        section = replace(section, name=worksheet.sections[0].name + ending, tables=[part])
        yield worksheet._replace(name=worksheet.name + ending, sections=[section])


def _check_size(worksheet: Worksheet) -> None:
    n_columns = max((len(table.columns) for table in worksheet.tables), default=0)
    if n_columns > _MOST_COLUMNS:
        raise InputError(
            f"sheet {worksheet.name!r} needs {n_columns:,} columns and a workbook holds {_MOST_COLUMNS:,}; "
            "write an .html report, or report fewer subtypes"
        )
    is_continued = worksheet.is_one_table and not worksheet.tables[0].bands
    if not is_continued and worksheet.n_rows > _MOST_ROWS:
        raise InputError(
            f"sheet {worksheet.name!r} needs {worksheet.n_rows:,} rows and a workbook holds {_MOST_ROWS:,}; "
            "write an .html report, or report fewer features"
        )
    if len(worksheet.name) > _LONGEST_NAME:
        raise InputError(f"the name of sheet {worksheet.name!r} is longer than the {_LONGEST_NAME} characters allowed")


def _write_part(workbook: Workbook, worksheet: Worksheet, folder: Path, widths: Sequence[float]) -> None:
    """Write a sheet: its title, and then its sections; of several, each begins a page with a title of its own."""
    first, *others = worksheet.sections
    # Frozen rows: the shared group headings, and the headings of a single table.
    in_view = 0 if others else len(first.shared_group_lines) + first.is_one_table
    stub = max(table.stub for table in first.tables) if in_view else 0
    above = _lines_above(first, widths)
    into: ExcelSheet = workbook.create_sheet(print_name(worksheet.name))
    _set_up(into, widths, f"{letter(stub + 1)}{above + in_view + 1 if in_view else 2}")
    with _streamed(into, folder) as file:
        rows = Rows(into, widths, file)
        rows.add([Cell(print_name(worksheet.name if others else first.name), "title")])
        for line in _wrapped([worksheet.reason], widths):
            rows.add([Cell(line, "note")])
        for section in worksheet.sections:
            if others:
                if section is not first:
                    into.row_breaks.append(Break(id=rows.written))
                rows.add([])
                rows.add([Cell(print_name(section.name), "title")])
            # The headings of the last table, which may be the longest one, are printed again on its further pages.
            headings = _write_section(into, section, rows, widths, is_first=section is first)
            into.print_title_rows = headings if section.is_one_table else "1:1"


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
        styles = ("heading" if each else "number heading" for each in is_text)
        rows.add([Cell(column.title, style) for column, style in zip(table.columns, styles, strict=True)])
        heading = rows.written
        for row in range(len(table.rows)):
            if table.starts_band(row):
                rows.add([Cell(table.bands[row], "band"), *[Cell(None, "band")] * len(table.columns[1:])])
            rows.add(_body_cells(table, row))
        last = rows.written
        if table.diverging and last > heading:
            first, end = (letter(column + 1) for column in table.diverging)
            worksheet.conditional_formatting.add(f"{first}{heading + 1}:{end}{last}", diverging_scale())
        # A printed table is for reading, and its numbers are texts.
        if single and all(column.kind != "cell" for column in table.columns):
            where = f"A{heading}:{letter(len(table.columns))}{last}"
            # Excel accepts a table that has rows, no sections, and no heading that is too long.
            longest = max(len(_safe_text(column.title).encode("utf-16-le")) // 2 for column in table.columns)
            if table.rows and not table.bands and longest <= _LONGEST_HEADING:
                add_table(worksheet, section.name, where, [column.title for column in table.columns])
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
        return min(column.widest, max(map(len, value.splitlines()), default=0))
    return len(number_text(value, column.kind, decimals))


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
    with atomic_write(path) as target, (target.parent / "workbook.zip").open("wb+") as written:
        for worksheet in worksheets:
            _write_worksheet(workbook, worksheet, target.parent)
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
