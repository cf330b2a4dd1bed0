"""SubtypeTable: the finished table with headings, rows and notes, and the file types it can be saved as."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Literal, TypeAlias

import pandas as pd

from clinclust.errors import InputError, missing_package
from clinclust.files.writing import atomic_write
from clinclust.reporting.layout import Sheet, Table

ColumnKind: TypeAlias = Literal["missing", "group", "descriptive p", "validated p", "validated q"]

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


@dataclass(frozen=True, repr=False)
class SubtypeTable:
    """A table of summaries of every feature in all subjects and in each subtype, from `clinclust.subtype_table`.

    Attributes
    ----------
    title : str
        Caption.
    headings, rows, notes : sequences
        Headings of all columns except the first, rows, and footnotes.
    numbers : pandas.DataFrame
        One row for each number: ``section``, ``feature``, ``label``, ``unit``, ``level``, ``subtype`` (0: all subjects;
        missing for p and q), ``quantity`` (as ``mean`` or ``descriptive p``), ``value`` and ``suppressed`` (withheld).
    layout : clinclust.reporting.layout.Table
        The table for the sheets of a report, with each number in its own cell.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[TableRow]
    notes: Sequence[Note]
    numbers: pd.DataFrame = field(compare=False)
    layout: Table = field(compare=False)

    @property
    def is_wide(self) -> bool:
        """Whether the table needs a page in landscape orientation."""
        return _LABEL + sum(width + _GAP for width in self.widths()) > _PORTRAIT

    def widths(self) -> list[int]:
        """Return the characters that each column except the first needs to keep its numbers in one line."""
        needed = []
        for place, heading in enumerate(self.headings):
            cells = (len(row.cells[place].text + row.cells[place].marks) for row in self.rows)
            *bold, last = heading.wrapped()
            last_width = len(last) if heading.kind == "group" else math.ceil(_BOLD * len(last))
            needed.append(max((last_width, *(math.ceil(_BOLD * len(line)) for line in bold), *cells)))
        return needed

    def banded(self) -> Iterator[tuple[str | None, TableRow]]:
        """Yield each row with the title of its section if it is the first of it, else with None."""
        section = ""
        for row in self.rows:
            yield None if row.section == section else row.section or "No section", row
            section = row.section

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as text: one row for each feature or level, with additional columns for the tests."""
        import pandas as pd

        columns: dict[str, list[str]] = {
            "Section": [row.section for row in self.rows],
            "Feature": [row.title for row in self.rows],
            "Level": [row.level for row in self.rows],
            "Summary": [row.summary for row in self.rows],
        }
        for place, heading in enumerate(self.headings):
            columns[heading.text] = [row.cells[place].text for row in self.rows]
            if heading.kind == "descriptive p":
                columns["Test"] = [row.test for row in self.rows]
        if any(heading.kind == "validated p" for heading in self.headings):
            columns["Method"] = [row.method for row in self.rows]
            columns["Remark"] = [row.remark for row in self.rows]
        return pd.DataFrame(columns, dtype="string")

    def sheet(self) -> Sheet:
        """Return the table as a sheet of a report, with numbers that are not yet formatted."""
        from clinclust.reporting.layout import Sheet

        return Sheet("Subtype table", [note.text for note in self.notes if not note.mark], [self.layout])

    def to_markdown(self) -> str:
        """Return the table as a pipe table for GitHub or pandoc, with title and notes; the text is escaped."""
        from clinclust.reporting.subtype_table.texts import as_markdown

        return as_markdown(self)

    def to_latex(self) -> str:
        """Return the table as a ``longtable`` with ``booktabs`` rules; its first line names the packages it needs."""
        from clinclust.reporting.subtype_table.texts import as_latex

        return as_latex(self)

    def to_html(self) -> str:
        """Return the table as a fragment of a web page, without script."""
        from clinclust.reporting.subtype_table.texts import as_fragment

        return as_fragment(self)

    def to_word(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as a Word document, which needs python-docx (else ImportError), and return its path."""
        try:
            import docx  # noqa: F401
        except ImportError as error:
            raise missing_package("a Word document", "python-docx") from error
        from clinclust.reporting.subtype_table.word import write_word

        path = Path(path)
        write_word(self, path)
        return path

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table to a file and return its path; the suffix is .docx, .xlsx, .html, .tex, .md or .csv.

        ValueError for another suffix; ImportError for .docx without python-docx.
        """
        path = Path(path)
        if problems := suffix_problems(path):
            raise InputError("; ".join(problems))
        _WRITERS[path.suffix.lower()](self, path)
        return path

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        frame = self.to_frame().drop(columns=["Section", "Summary"])
        notes = "\n".join(f"{note.mark} {note.text}".strip() for note in self.notes if not note.mark)
        return f"{self.title}\n{frame.to_string(index=False)}\n{notes}"


def suffix_problems(path: Path) -> list[str]:
    """Return why a subtype table cannot be saved under this name; empty if it can."""
    if path.suffix.lower() in _WRITERS:
        return []
    return [f"a subtype table ends in {', '.join(_WRITERS)}, not {path.suffix!r} ({path.name})"]


def _write_text(text: str, path: Path) -> None:
    with atomic_write(path) as target:
        target.write_text(text, encoding="utf-8", newline="\n")


def _write_page(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.subtype_table.texts import as_page

    _write_text(as_page(table), path)


def _write_csv(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.assignments import write_inert_csv

    write_inert_csv(table.to_frame(), path)


def _write_workbook(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.workbook.workbook import NO_DATE, write_workbook

    write_workbook([table.sheet()], path, title=table.title, generated=NO_DATE)


_WRITERS: dict[str, Callable[[SubtypeTable, Path], object]] = {
    ".docx": lambda table, path: table.to_word(path),
    ".xlsx": _write_workbook,
    ".html": _write_page,
    ".tex": lambda table, path: _write_text(table.to_latex(), path),
    ".md": lambda table, path: _write_text(table.to_markdown(), path),
    ".csv": _write_csv,
}
