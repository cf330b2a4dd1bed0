"""Cells of a worksheet, row by row, and their named styles. Every text in a cell of a workbook passes this module."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from itertools import starmap
from typing import IO, Any, NamedTuple
from xml.sax.saxutils import escape

from openpyxl import Workbook
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


@lru_cache(maxsize=100_000)
def _inline(text: str) -> tuple[str, int]:
    """Return the content of a cell that shows exactly this text, and the length of the text as Excel counts it."""
    shown = safe_text(text)
    space = ' xml:space="preserve"' if shown != shown.strip() else ""
    content = escape(shown, {"\r": "&#13;"})
    return f"<is><t{space}>{content}</t></is>" if shown else "", len(visible(text).encode("utf-16-le")) // 2


class Rows:
    """Writes the rows of a worksheet in order, as XML, because openpyxl takes ten times as long for each cell.

    `height` is the height in points of the rows written.
    """

    def __init__(self, worksheet: Worksheet, widths: Sequence[float], file: IO[bytes]) -> None:
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
