"""The printed table: headings, rows of texts with the marks of their footnotes, and notes, for every writer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal, TypeAlias

ColumnKind: TypeAlias = Literal["missing", "group", "smd", "descriptive p", "validated p", "validated q"]

# Widths in characters at 8.5 points: of the text on A4 portrait, of the label, and of the gap between columns.
_PORTRAIT, _LABEL, _GAP = 110, 28, 2
_WORDS_OF_A_NAME = 16
_BOLD = 1.15  # width of a bold letter relative to a digit


@dataclass(frozen=True)
class Cell:
    """A cell: its text and the marks of its footnotes."""

    text: str
    marks: str = ""


@dataclass(frozen=True)
class Heading:
    """The heading of a column: its kind, and one or more lines of text."""

    kind: ColumnKind
    lines: tuple[str, ...]

    def wrapped(self) -> list[str]:
        """Return the lines of the heading, with long text wrapped."""
        if self.kind != "group":
            return self.lines[0].split()
        first, *name, number = self.lines
        return [first, *(line for text in name for line in wrap(text, _WORDS_OF_A_NAME)), number]

    @property
    def text(self) -> str:
        """The heading in one line."""
        return self.lines[0] if len(self.lines) == 1 else f"{': '.join(self.lines[:-1])}, {self.lines[-1]}"


@dataclass(frozen=True)
class TableRow:
    """A row of the table, with one cell for each heading; `method` and `remark` belong to the validated p."""

    section: str
    feature: str
    label: Cell
    title: str
    level: str
    summary: str
    is_level: bool
    cells: Sequence[Cell]
    test: str = ""
    method: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Note:
    """A footnote, with its mark if it has one."""

    text: str
    mark: str = ""


@dataclass(frozen=True)
class PrintedTable:
    """A table as it is printed: caption, headings of all columns except the first, rows, and footnotes."""

    title: str
    headings: Sequence[Heading]
    rows: Sequence[TableRow]
    notes: Sequence[Note]

    @property
    def is_wide(self) -> bool:
        """Whether the table needs a page in landscape orientation."""
        return _LABEL + sum(width + _GAP for width in self.widths()) > _PORTRAIT

    def widths(self, *, are_tight: bool = False) -> list[int]:
        """Return the characters that each column except the first needs to keep its numbers in one line.

        `are_tight`: the percentage of a group is below its size.
        """
        needed = []
        for place, heading in enumerate(self.headings):
            cells = (len(row.cells[place].text + row.cells[place].marks) for row in self.rows)
            *bold, last = heading.wrapped()
            last = max(last.split(" ("), key=len) if are_tight else last
            last_width = len(last) if heading.kind == "group" else math.ceil(_BOLD * len(last))
            needed.append(max((last_width, *(math.ceil(_BOLD * len(line)) for line in bold), *cells)))
        return needed

    def banded(self) -> Iterator[tuple[str | None, TableRow]]:
        """Yield each row with the title of its section if it is the first of it, else with None."""
        section = ""
        for row in self.rows:
            yield None if row.section == section else row.section or "No section", row
            section = row.section
