"""The finished table: headings, rows of cells, notes; and the files it can be saved as."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, TypeAlias

from clinclust.errors import InputError
from clinclust.files.writing import atomic_write

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.reporting.layout import Sheet, Table

__all__ = ["Cell", "Heading", "Note", "SubtypeTable", "TableRow", "suffix_problems"]

ColumnKind: TypeAlias = Literal["missing", "group", "descriptive p", "validated p", "validated q"]

# Characters, at 8.5 points on A4.
_PORTRAIT, _LABEL, _GAP = 110, 28, 2
_WORDS_OF_A_NAME = 16
_BOLD = 1.15  # width of bold letters beside digits


@dataclass(frozen=True)
class Cell:
    """Text of a cell, and the marks of its footnotes."""

    text: str
    marks: str = ""


@dataclass(frozen=True)
class Heading:
    """Heading of a column of cells: its kind, and one or more lines."""

    kind: ColumnKind
    lines: tuple[str, ...]

    def wrapped(self) -> list[str]:
        """Lines, a long name in several."""
        if self.kind != "group":
            return self.lines[0].split()
        first, *name, number = self.lines
        return [first, *(line for text in name for line in wrap(text, _WORDS_OF_A_NAME)), number]

    @property
    def text(self) -> str:
        """All lines in one."""
        return self.lines[0] if len(self.lines) == 1 else f"{': '.join(self.lines[:-1])}, {self.lines[-1]}"


@dataclass(frozen=True)
class TableRow:
    """A row of the table.

    Attributes
    ----------
    section, feature : str
        Where it belongs; `feature` is the name of the column in the cohort.
    label : Cell
        Title of the feature with its unit and what its cells hold, or the level.
    title, level, summary : str
        Parts of the label: title with unit, level, and what the cells hold.
    is_level : bool
        A level under the row of its feature.
    cells : sequence of Cell
        One for each heading.
    test, method, remark : str
        Of the descriptive p; of the validated p; why the latter is doubtful or not there.
    """

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
    """Every feature in all subjects and in each subtype, as papers print it.

    Made by `clinclust.subtype_table`. Shows itself in a notebook; `save` writes a document.

    Attributes
    ----------
    title : str
        Caption.
    headings : sequence of Heading
        Of all columns but the first.
    rows : sequence of TableRow
    notes : sequence of Note
    numbers : pandas.DataFrame
        The numbers behind the cells, one a row: ``section``, ``feature``, ``label``, ``unit``, ``level``,
        ``subtype`` (0 = all subjects; missing for p and q), ``quantity`` (as ``mean`` or ``descriptive p``),
        ``value``, and ``suppressed`` where it was withheld.
    layout : clinclust.reporting.layout.Table
        The table for the sheets of a report, every number in a cell of its own.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[TableRow]
    notes: Sequence[Note]
    numbers: pd.DataFrame = field(compare=False)
    layout: Table = field(compare=False)

    @property
    def is_wide(self) -> bool:
        """Whether it needs a page in landscape."""
        return _LABEL + sum(width + _GAP for width in self.widths()) > _PORTRAIT

    def widths(self) -> list[int]:
        """Characters that each column but the first needs so that no number is broken."""
        needed = []
        for place, heading in enumerate(self.headings):
            cells = (len(row.cells[place].text + row.cells[place].marks) for row in self.rows)
            *bold, last = heading.wrapped()
            last_width = len(last) if heading.kind == "group" else math.ceil(_BOLD * len(last))
            needed.append(max((last_width, *(math.ceil(_BOLD * len(line)) for line in bold), *cells)))
        return needed

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as texts: one row a feature or level, the tests in columns of their own."""
        import pandas as pd

        kinds = [heading.kind for heading in self.headings]
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
        if "validated p" in kinds:
            columns["Method"] = [row.method for row in self.rows]
            columns["Remark"] = [row.remark for row in self.rows]
        return pd.DataFrame(columns, dtype="string")

    def sheet(self) -> Sheet:
        """Return the table as a sheet of a report, its numbers still numbers."""
        from clinclust.reporting.layout import Sheet

        return Sheet("Subtype table", [note.text for note in self.notes if not note.mark], [self.layout])

    def to_markdown(self) -> str:
        """Return a pipe table (GitHub's, pandoc's) with title and notes; no text of the data is markup."""
        from clinclust.reporting.subtype_table.markdown import as_markdown

        return as_markdown(self)

    def to_latex(self) -> str:
        """Return a ``longtable`` with the rules of ``booktabs``; its first line names the packages it needs."""
        from clinclust.reporting.subtype_table.latex import as_latex

        return as_latex(self)

    def to_html(self) -> str:
        """Return a table for a web page, without script."""
        from clinclust.reporting.subtype_table.web import as_fragment

        return as_fragment(self)

    def to_word(self, path: str | os.PathLike[str]) -> Path:
        """Write a Word document (needs ``pip install "clinclust[word]"``); the same table gives the same bytes.

        Raises
        ------
        ImportError
            If python-docx is not installed.
        """
        from clinclust.reporting.subtype_table.word import write_word

        path = Path(path)
        write_word(self, path)
        return path

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as the suffix says: .docx, .xlsx, .html, .tex, .md or .csv.

        Raises
        ------
        ValueError
            If the suffix is another.
        """
        path = Path(path)
        problems = suffix_problems(path)
        if problems:
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


def _write_document(table: SubtypeTable, path: Path) -> None:
    table.to_word(path)


def _write_page(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.subtype_table.web import as_page

    _write_text(as_page(table), path)


def _write_csv(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.assignments import write_inert_csv

    write_inert_csv(table.to_frame(), path)


def _write_workbook(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.archive import NO_DATE
    from clinclust.reporting.workbook import write_workbook

    write_workbook([table.sheet()], path, title=table.title, generated=NO_DATE)


_WRITERS: dict[str, Callable[[SubtypeTable, Path], None]] = {
    ".docx": _write_document,
    ".xlsx": _write_workbook,
    ".html": _write_page,
    ".tex": lambda table, path: _write_text(table.to_latex(), path),
    ".md": lambda table, path: _write_text(table.to_markdown(), path),
    ".csv": _write_csv,
}
