"""What a report is before it becomes a file: sheets of tables, whose numbers are still numbers.

The modules in `sheets` fill these; `workbook` and `page` write them. A `str` in a table is text, a number gets the
format of its column, and a table holds nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

__all__ = [
    "WITHHELD",
    "Chart",
    "Column",
    "Kind",
    "Sheet",
    "Span",
    "Table",
    "Value",
    "excel_format",
    "number_text",
]

Value: TypeAlias = str | int | float | None
Span: TypeAlias = tuple[str, int]
Kind: TypeAlias = Literal["text", "0", "0.0", "0.00", "0.000", "p", "measure", "any"]

WITHHELD = "[c]"
"""The sign that takes the place of a withheld number: few subjects are behind it."""

_P_FORMAT = '[<0.001]"<0.001";[<0.1]0.000;0.00'
_SCIENTIFIC = "0.00E+00"
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
        Heading.
    kind : str
        The format of its numbers. ``measure`` takes the decimals from the row, ``any`` shows what there is.
    group : tuple of two str
        Heading above the headings of adjoining columns, in two lines; equal neighbours are one group.
    overflow : bool
        Long text runs on over the empty cells to its right instead of making the column wide.
    widest : int
        Characters after which its texts wrap.
    """

    title: str
    kind: Kind = "text"
    group: tuple[str, str] = ("", "")
    overflow: bool = False
    widest: int = 44


@dataclass(frozen=True)
class Table:
    """Rows under headings.

    Attributes
    ----------
    caption : str
    columns : sequence of Column
    rows : sequence of rows
        One value for each column; None is an empty cell.
    bands : sequence of str
        The section of each row, written as a row of its own wherever it changes; empty = no sections.
    decimals : sequence of int
        Decimals of the ``measure`` columns in each row; empty = 2 everywhere.
    shades : sequence of rows
        How dark each cell is, 0 to 1, None for no shade; empty = no shades.
    stub : int
        How many of the first columns say what a row is about.
    diverging : tuple of two int, optional
        First and last column of those that a workbook colours: from blue (-1 and below) through white (0) to
        orange (1 and above).
    plain : bool
        Whether to do without rules and wrapping, of which many thousands of rows would make a workbook slow.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    bands: Sequence[str] = ()
    decimals: Sequence[int] = ()
    shades: Sequence[Sequence[float | None]] = ()
    stub: int = 1
    diverging: tuple[int, int] | None = None
    plain: bool = False

    def decimals_of(self, row: int) -> int:
        """Decimals of the ``measure`` columns in this row."""
        return self.decimals[row] if self.decimals else 2

    def starts_band(self, row: int) -> bool:
        """Whether the section of this row differs from that of the row above."""
        return bool(self.bands) and (row == 0 or self.bands[row] != self.bands[row - 1])

    @property
    def group_lines(self) -> list[list[Span]]:
        """Lines of group headings, each text with the number of its columns; no line that would be empty."""
        groups = [(group, len(list(columns))) for group, columns in groupby(column.group for column in self.columns)]
        lines = [[(group[line], length) for group, length in groups] for line in (0, 1)]
        return [line for line in lines if any(text for text, _ in line)]


@dataclass(frozen=True)
class Chart:
    """A chart that a workbook draws of numbers that stand on the same sheet.

    Attributes
    ----------
    table : int
        Which table of the sheet it draws, beside which it stands; its first column names the bars or intervals.
    kind : {"bars", "forest"}
        Bars as long as `value`, or the interval from `value` - `below` to `value` + `above`.
    title, axis : str
        Above it, and below its axis of numbers.
    description : str
        What it shows, for those who cannot see it.
    value, below, above : int
        Columns of its numbers; the last two only of a forest plot.
    """

    table: int
    kind: Literal["bars", "forest"]
    title: str
    axis: str
    description: str
    value: int
    below: int = 0
    above: int = 0


@dataclass(frozen=True)
class Sheet:
    """A sheet of the workbook, a section of the page.

    Attributes
    ----------
    name : str
        Short fixed title (the tab).
    notes : sequence of str
        What must be read with the tables; stands above them.
    tables : sequence of Table
    charts : sequence of Chart
        Only drawn in a workbook.
    workbook_only : bool
        Whether it has no place on a page.
    """

    name: str
    notes: Sequence[str]
    tables: Sequence[Table]
    charts: Sequence[Chart] = ()
    workbook_only: bool = False

    @property
    def shared_group_lines(self) -> list[list[Span]]:
        """The group headings when every table has the same, so that they need to be shown only once."""
        first, *others = (table.group_lines for table in self.tables)
        return first if all(lines == first for lines in others) else []


def excel_format(kind: Kind, decimals: int) -> str:
    """Return the number format of a cell for spreadsheet programs."""
    if kind in ("text", "any"):
        return "General"
    if kind == "p":
        return _P_FORMAT
    if kind != "measure":
        return kind
    if decimals > _MOST_DECIMALS:
        return _SCIENTIFIC
    return f"0.{'0' * decimals}" if decimals else "0"


def number_text(value: float, kind: Kind, decimals: int) -> str:
    """Write a number as `excel_format` makes a spreadsheet program show it."""
    if kind == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
    shown = excel_format(kind, decimals)
    if shown == "General":
        return f"{value:g}"
    if shown == _SCIENTIFIC:
        return f"{value:.2E}"
    text = f"{value:.{len(shown.partition('.')[2])}f}"
    return text if float(text) else text.lstrip("-")
