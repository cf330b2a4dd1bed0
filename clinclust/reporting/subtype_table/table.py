"""SubtypeTable: the finished table of `clinclust.subtype_table`, and the file types it can be saved as."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from clinclust.errors import missing_package, refuse
from clinclust.files.writing import write_text
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.subtype_table.printed import Cell, PrintedTable
from clinclust.reporting.subtype_table.texts import as_fragment, as_latex, as_markdown, as_page, superscripts

_LABEL_WIDTH = 60  # characters of a label before it wraps in a workbook
_INDENT = "\N{EM SPACE}"


@dataclass(frozen=True, repr=False)
class SubtypeTable(PrintedTable):
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
        It holds more numbers than are printed: n, missing, mean, sd, q1, median, q3, and the total of counts.
    numbers_table : clinclust.reporting.layout.Table
        The numbers of each subtype for the sheet Numbers of a workbook.
    """

    numbers: pd.DataFrame = field(compare=False)
    numbers_table: Table = field(compare=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as text: one row for each feature or level, with additional columns for the tests."""
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
        """Return the table as a sheet of a report, each cell as it is printed."""
        columns = [Column("Feature", widest=_LABEL_WIDTH)]
        columns += [Column("\n".join(heading.wrapped()), "cell") for heading in self.headings]
        rows: list[list[Value]] = []
        for row in self.rows:
            label = (_INDENT if row.is_level else "") + _marked(row.label)
            rows.append([label, *(_marked(cell) or None for cell in row.cells)])
        bands = [row.section or "No section" for row in self.rows]
        notes = [f"{superscripts(note.mark)} {note.text}".strip() for note in self.notes]
        table = Table(self.title, columns, rows, bands if set(bands) != {"No section"} else [], notes=notes)
        return Sheet("Subtype table", [], [table])

    def numbers_sheet(self) -> Sheet:
        """Return the sheet of a workbook with every number of the table in its own cell."""
        note = "The numbers behind the Subtype table, for those who calculate, each in its own cell."
        return Sheet("Numbers", [note], [self.numbers_table])

    def to_markdown(self) -> str:
        """Return the table as a pipe table for GitHub or pandoc, with title and notes; the text is escaped."""
        return as_markdown(self)

    def to_latex(self) -> str:
        """Return the table as a ``longtable`` with ``booktabs`` rules; its first line names the packages it needs."""
        return as_latex(self)

    def to_html(self) -> str:
        """Return the table as a fragment of a web page, without script."""
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
        refuse(suffix_problems(path))
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


def _marked(cell: Cell) -> str:
    return cell.text + superscripts(cell.marks)


def _write_workbook(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.workbook.workbook import NO_DATE, write_workbook

    write_workbook([table.sheet(), table.numbers_sheet()], path, title=table.title, generated=NO_DATE)


_WRITERS: dict[str, Callable[[SubtypeTable, Path], object]] = {
    ".docx": lambda table, path: table.to_word(path),
    ".xlsx": _write_workbook,
    ".html": lambda table, path: write_text(as_page(table), path),
    ".tex": lambda table, path: write_text(table.to_latex(), path),
    ".md": lambda table, path: write_text(table.to_markdown(), path),
    ".csv": lambda table, path: write_inert_csv(table.to_frame(), path),
}
