"""Cells of a worksheet, row by row, and their named styles. Every text in a cell of a workbook passes this module."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from openpyxl import Workbook
from openpyxl.cell import Cell as ExcelCell
from openpyxl.cell import WriteOnlyCell
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.worksheet import Worksheet

from clinclust.control_characters import visible
from clinclust.errors import InputError
from clinclust.reporting.layout import HIGH, LOW, MIDDLE, Value

INK, QUIET, RULE = "1F2933", "52606D", "BCCCDC"
BLUE = "0072B2"  # blue of Okabe and Ito (2008), whose colours readers with any kind of colour vision can distinguish
_HEADING, _BAND = "DCE6F0", "F0F4F8"


def register_styles(workbook: Workbook) -> None:
    """Add the named styles to a workbook; a user can change a named style for all its cells at once."""
    top, across = Alignment(vertical="top"), Alignment(horizontal="centerContinuous")
    # The indent separates a text from the number to its left.
    left = Alignment(vertical="top", horizontal="left", indent=1)
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
        ("band", bold, left, band, rule),
        ("text", plain, wrapped, none, rule),
        ("running text", plain, left, none, rule),
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


def safe_text(text: str) -> str:
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


class Rows:
    """Writes the rows of a worksheet in order; `height` is the height in points of the rows written."""

    def __init__(self, worksheet: Worksheet, widths: Sequence[float]) -> None:
        self.worksheet = worksheet
        self.widths = widths
        self.written = 0
        self.height = 0.0
        self._styled: dict[tuple[str, str, bool], ExcelCell] = {}

    def add(self, cells: Sequence[Cell]) -> None:
        """Write the next row; its height fits its wrapped texts."""
        self.written += 1
        height = min(max(map(_height, cells, self.widths), default=0.0), _GREATEST_HEIGHT)
        self.height += max(height, _LINE_HEIGHT)
        if height > _LINE_HEIGHT:
            self.worksheet.row_dimensions[self.written].height = height
        row: Any = self._filled(cells)  # openpyxl accepts a generator, but its type stubs do not
        self.worksheet.append(row)

    def _filled(self, cells: Sequence[Cell]) -> Iterator[ExcelCell | None]:
        # The writer consumes each cell before the next, so the cells of one style are reused.
        for column, cell in enumerate(cells, start=1):
            if cell.value is None and cell.style == "plain":
                yield None
                continue
            written = self._cell(cell)
            if isinstance(cell.value, str):
                self._set_text(written, cell.value, f"{letter(column)}{self.written}")
            else:
                written.value = cell.value
            yield written

    def _cell(self, cell: Cell) -> ExcelCell:
        # Cells are cached, because setting styles would take most of the time.
        is_text = isinstance(cell.value, str)
        number_format = "General" if is_text or cell.value is None else cell.number_format
        key = (cell.style, number_format, is_text)
        if key not in self._styled:
            made = WriteOnlyCell(self.worksheet)
            made.style = f"clinclust {cell.style}"
            made.number_format = number_format
            made.quotePrefix = is_text
            self._styled[key] = made
        return self._styled[key]

    def _set_text(self, cell: ExcelCell, text: str, place: str) -> None:
        """Write a text into a cell so that it stays text; raise ValueError if it is too long."""
        # openpyxl turns "=..." into a formula and "#N/A" into an error, so the type is set after the value;
        # `quotePrefix` keeps the type when a user edits the cell.
        text = visible(text)
        if len(text.encode("utf-16-le")) > 2 * _LONGEST_TEXT:
            raise InputError(
                f"sheet {self.worksheet.title!r}, cell {place}: the text that begins {text[:30]!r} has "
                f"{len(text):,} characters, and a cell holds {_LONGEST_TEXT:,}; shorten it"
            )
        cell.value = safe_text(text)
        cell.data_type = "s"
