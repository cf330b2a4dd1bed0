"""The table as LaTeX: a longtable with the rules of booktabs, which repeats its heading on every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinclust.reporting.subtype_table.table import Cell, SubtypeTable

__all__ = ["as_latex"]

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
_CHARACTER, _GAP = 4.4, 8  # points: width of a digit in footnote size, and gap between columns


def as_latex(table: SubtypeTable) -> str:
    """Return the table with its title and notes as LaTeX."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: SubtypeTable) -> Iterator[str]:
    width, wide = len(table.headings), table.is_wide
    packages = "array, booktabs, longtable" + (", pdflscape" if wide else "")
    yield f"% needs \\usepackage[T1]{{fontenc}} and the packages {packages}"
    if wide:
        yield r"\begin{landscape}"
    yield r"\begingroup\footnotesize\setlength{\tabcolsep}{4pt}\setlength{\LTcapwidth}{\linewidth}"
    taken = round(sum(characters * _CHARACTER + _GAP for characters in table.widths()))
    first = rf">{{\raggedright\arraybackslash\hangindent=1em}}p{{\dimexpr\linewidth-{taken}pt\relax}}"
    yield rf"\begin{{longtable}}{{@{{}}{first}{'r' * width}@{{}}}}"
    yield rf"\caption{{{_text(table.title)}}}\\"
    heading = list(_heading(table))
    yield from heading
    yield r"\endfirsthead"
    yield from heading
    yield r"\endhead"
    yield r"\bottomrule"
    yield r"\endfoot"
    section = ""
    for number, row in enumerate(table.rows):
        if row.section != section:
            section = row.section
            yield r"\addlinespace" if number else ""
            title = _text(section or "No section")
            yield rf"\multicolumn{{{width + 1}}}{{@{{}}l}}{{\textbf{{{title}}}}}\\*"
        label = (r"\quad " if row.is_level else "") + _cell(row.label)
        yield f"{' & '.join([label, *map(_cell, row.cells)])}" + r"\\"
    yield r"\end{longtable}"
    yield r"\par\noindent\raggedright"
    for note in table.notes:
        yield f"{_marks(note.mark)}{_text(note.text)}\\par"
    yield r"\endgroup"
    if wide:
        yield r"\end{landscape}"


def _heading(table: SubtypeTable) -> Iterator[str]:
    yield r"\toprule"
    headings = [["Feature"], *(heading.wrapped() for heading in table.headings)]
    depth = max(map(len, headings))
    for level in range(depth):
        # Short headings are aligned at the bottom, as in printed tables.
        cells = ["" if level < depth - len(lines) else _text(lines[level - depth]) for lines in headings]
        yield " & ".join(cells) + r"\\"
    yield r"\midrule"


def _cell(cell: Cell) -> str:
    return _text(cell.text) + _marks(cell.marks)


def _marks(marks: str) -> str:
    return rf"\textsuperscript{{{_text(marks)}}}" if marks else ""


def _text(text: str) -> str:
    """Return a text escaped for LaTeX. Every text passes this function."""
    return _SPECIAL.sub(lambda match: _COMMANDS[match[0]], _NO_PICTURE.sub("?", text))
