"""The finished table of `clinclust.subtype_table`: as text of many formats, and the files it can be saved as."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

import pandas as pd

from clinclust.errors import missing_package, refuse
from clinclust.files.writing import write_text
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.subtype_table.plan import Cell, PrintedTable

# The table as text: Markdown for GitHub and pandoc, LaTeX with booktabs, and HTML without script.

# Characters that begin markup, code, mathematics or a template in some flavour of Markdown. They are written as
# entities, which are text in all flavours; a backslash escape would begin mathematics in some. A full stop or a colon
# is escaped only where a bare address would become a link.
_MARKUP = re.compile(r"""[\\`*_{}\[\]<>#|~$^!&]|(?<=www)\.|:(?=//)|(?<=mailto):|(?<=xmpp):""", re.IGNORECASE)
# An entity does not prevent a link, because it is decoded before addresses are found. A comment divides the address.
_ADDRESS = re.compile(r"(?<=[\w.+-])@(?=[\w-])")
_SUPERSCRIPTS = str.maketrans("abcdefghijklm", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐ")
_HTML_INDENT = "&emsp;"


def as_markdown(table: PrintedTable) -> str:
    """Return the table with its title and notes as Markdown."""
    return "\n".join(_markdown(table)) + "\n"


def _markdown(table: PrintedTable) -> Iterator[str]:
    yield f"**{_markdown_text(table.title)}**\n"
    yield _pipes(["Feature", *("<br>".join(map(_markdown_text, heading.lines)) for heading in table.headings)])
    yield _pipes([":---", *["---:"] * len(table.headings)])
    for band, row in table.banded():
        if band:
            yield _pipes([f"**{_markdown_text(band)}**", *[""] * len(table.headings)])
        label = (_HTML_INDENT if row.is_level else "") + _markdown_text(row.label.text) + superscripts(row.label.marks)
        yield _pipes([label, *map(_markdown_number, row.cells)])
    for note in table.notes:
        yield f"\n{superscripts(note.mark)}{' ' if note.mark else ''}{_markdown_text(note.text)}"


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_number(cell: Cell) -> str:
    """Return a cell of numbers. Its text is not from the data, so only < and > are escaped and it stays readable."""
    return cell.text.replace("<", "&lt;").replace(">", "&gt;") + superscripts(cell.marks)


def superscripts(marks: str) -> str:
    """Return the marks of footnotes as superscript characters."""
    return marks.translate(_SUPERSCRIPTS)


def _markdown_text(text: str) -> str:
    """Return a text from the data escaped for Markdown. Every such text passes this function."""
    escaped = _MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)
    return _ADDRESS.sub("<!-- -->&#64;<!-- -->", escaped)


_COMMANDS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
    **{sign: rf"\{sign}" for sign in "{}$&#%_"},
    # After the end of a row, [ and * would be read as its options. A sign that is repeated could become a ligature.
    **{sign: f"{{{sign}}}" for sign in "[]*'-,?!"},
    "–": r"\textendash{}",
    "’": r"\textquoteright{}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}",
    "§": r"\textsection{}",
    "†": r"\textdagger{}",
}
_SPECIAL = re.compile("|".join(map(re.escape, _COMMANDS)))
# Unicode pictures of control characters, and the replacement character for those without a picture.
_NO_PICTURE = re.compile("[\u2400-\u2426\ufffd]")
_LATEX_CHARACTER, _LATEX_GAP = 4.4, 8  # points: width of a digit in footnote size, and gap between columns


def as_latex(table: PrintedTable) -> str:
    """Return the table with its title and notes as LaTeX."""
    return "\n".join(_latex(table)) + "\n"


def _latex(table: PrintedTable) -> Iterator[str]:
    width, wide = len(table.headings), table.is_wide
    packages = "array, booktabs, longtable" + (", pdflscape" if wide else "")
    yield f"% needs \\usepackage[T1]{{fontenc}} and the packages {packages}"
    if wide:
        yield r"\begin{landscape}"
    yield r"\begingroup\footnotesize\setlength{\tabcolsep}{4pt}\setlength{\LTcapwidth}{\linewidth}"
    taken = round(sum(characters * _LATEX_CHARACTER + _LATEX_GAP for characters in table.widths()))
    first = rf">{{\raggedright\arraybackslash\hangindent=1em}}p{{\dimexpr\linewidth-{taken}pt\relax}}"
    yield rf"\begin{{longtable}}{{@{{}}{first}{'r' * width}@{{}}}}"
    yield rf"\caption{{{_latex_text(table.title)}}}\\"
    heading = list(_latex_heading(table))
    yield from heading
    yield r"\endfirsthead"
    yield from heading
    yield r"\endhead"
    yield r"\bottomrule"
    yield r"\endfoot"
    for number, (band, row) in enumerate(table.banded()):
        if band:
            yield r"\addlinespace" if number else ""
            yield rf"\multicolumn{{{width + 1}}}{{@{{}}l}}{{\textbf{{{_latex_text(band)}}}}}\\*"
        label = (r"\quad " if row.is_level else "") + _latex_cell(row.label)
        yield f"{' & '.join([label, *map(_latex_cell, row.cells)])}" + r"\\"
    yield r"\end{longtable}"
    yield r"\par\noindent\raggedright"
    for note in table.notes:
        yield f"{_latex_marks(note.mark)}{_latex_text(note.text)}\\par"
    yield r"\endgroup"
    if wide:
        yield r"\end{landscape}"


def _latex_heading(table: PrintedTable) -> Iterator[str]:
    yield r"\toprule"
    headings = [["Feature"], *(heading.wrapped() for heading in table.headings)]
    depth = max(map(len, headings))
    for level in range(depth):
        # Short headings are aligned at the bottom, as in printed tables.
        cells = ["" if level < depth - len(lines) else _latex_text(lines[level - depth]) for lines in headings]
        yield " & ".join(cells) + r"\\"
    yield r"\midrule"


def _latex_cell(cell: Cell) -> str:
    return _latex_text(cell.text) + _latex_marks(cell.marks)


def _latex_marks(marks: str) -> str:
    return rf"\textsuperscript{{{_latex_text(marks)}}}" if marks else ""


def _latex_text(text: str) -> str:
    """Return a text escaped for LaTeX. Every text passes this function."""
    return _SPECIAL.sub(lambda match: _COMMANDS[match[0]], _NO_PICTURE.sub("?", text))


def as_fragment(table: PrintedTable) -> str:
    """Return the table as a fragment of a page."""
    return "\n".join(_fragment(table)) + "\n"


def as_page(table: PrintedTable) -> str:
    """Return the table as a complete page."""
    # A second line of defence: even if a text were not escaped, the page could not load or run anything.
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    orientation = "landscape" if table.is_wide else "portrait"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(table.title)}</title>\n"
        "<style>\n:root { color-scheme: light dark; }\nbody { margin: 2rem; }\n"
        f"@media print {{ body {{ margin: 0; }} @page {{ size: A4 {orientation}; margin: 1.5cm; }} }}\n"
        f"</style>\n</head>\n<body>\n<main>\n{as_fragment(table)}</main>\n</body>\n</html>\n"
    )


@cache
def _style() -> str:
    """Return the style, which sets no colours: the table takes those of the text around it, be it light or dark."""
    return (Path(__file__).parent / "table.css").read_text(encoding="utf-8")


def _fragment(table: PrintedTable) -> Iterator[str]:
    yield f'<div class="subtype-table" tabindex="0" role="region" aria-label="{escape(table.title)}">'
    yield f"<style>\n{_style()}</style>"
    yield f"<table>\n<caption>{escape(table.title)}</caption>\n<thead>"
    headings = []
    for heading in table.headings:
        first, *others = map(escape, heading.lines)
        headings.append(f'<th scope="col">{first}{"".join(f"<small>{line}</small>" for line in others)}</th>')
    yield f'<tr><th scope="col">Feature</th>{"".join(headings)}</tr>\n</thead>\n<tbody>'
    for number, (band, row) in enumerate(table.banded()):
        if band:
            if number:
                yield "</tbody>\n<tbody>"
            yield f'<tr><th scope="rowgroup" colspan="{len(table.headings) + 1}">{escape(band)}</th></tr>'
        level = ' class="level"' if row.is_level else ""
        cells = "".join(f"<td>{_html_cell(cell)}</td>" for cell in row.cells)
        yield f'<tr><th scope="row"{level}>{_html_cell(row.label)}</th>{cells}</tr>'
    yield "</tbody>\n</table>"
    for note in table.notes:
        yield f"<p>{_html_marks(note.mark)}{escape(note.text)}</p>"
    yield "</div>"


def _html_cell(cell: Cell) -> str:
    return escape(cell.text) + _html_marks(cell.marks)


def _html_marks(marks: str) -> str:
    return f"<sup>{escape(marks)}</sup>" if marks else ""


# SubtypeTable: the finished table of `clinclust.subtype_table`, and the file types it can be saved as.

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
