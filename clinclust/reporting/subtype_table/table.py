"""The subtype table made from comparisons: the files that it can be saved as, its numbers, rows, headings and notes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Literal, cast

import pandas as pd

import clinclust.arguments as arguments
from clinclust.arguments import BY_FEATURE, TEXT, TEXTS, WHOLE, accepting, either
from clinclust.comparisons.compare import FEWEST_TESTED, compare_cohort
from clinclust.comparisons.frame import ALL_SUBJECTS, WITHHELD, Record, is_missing, is_suppressed
from clinclust.data import data
from clinclust.errors import missing_package, refuse
from clinclust.estimators.mixture import FEW, MEANING_OF_MARKS
from clinclust.estimators.subtype_model import SubtypeModel, cohort_of, fewest_subjects, require_fitted
from clinclust.files.writing import write_text
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.layout import METHODS, Column, Sheet, Table, Value, as_value, listed, tests_in_words
from clinclust.reporting.subtype_table.plan import (
    NOTHING,
    SUMMARY_TEXT,
    Cell,
    Choices,
    ColumnName,
    Compared,
    ComparedFeature,
    Heading,
    Line,
    Note,
    Plan,
    PrintedTable,
    Summary,
    TableRow,
    check_choices,
    clean,
    decimals_of,
    default_summary,
    descriptive_test,
    p_text,
    possible_summaries,
    print_level,
    summary_text,
    text_of,
)

# The table as text: Markdown for GitHub and pandoc, LaTeX with booktabs, and HTML without script.

# Characters that begin markup, code, mathematics or a template in some flavour of Markdown. They are written as
# entities, which are text in all flavours; a backslash escape would begin mathematics in some. A full stop or a colon
# is escaped only where a bare address would become a link.
_MARKUP = re.compile(r"""[\\`*_{}\[\]<>#|~$^!&]|(?<=www)\.|:(?=//)|(?<=mailto):|(?<=xmpp):""", re.IGNORECASE)
# An entity does not prevent a link, because it is decoded before addresses are found. A comment divides the address.
_ADDRESS = re.compile(r"(?<=[\w.+-])@(?=[\w-])")
_SUPERSCRIPTS = str.maketrans("abcdefghijklm", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐ")
_HTML_INDENT = "&emsp;"


def _markdown(table: PrintedTable) -> Iterator[str]:
    yield f"**{_markdown_text(table.title)}**\n"
    yield _pipes(["Feature", *("<br>".join(map(_markdown_text, heading.lines)) for heading in table.headings)])
    yield _pipes([":---", *["---:"] * len(table.headings)])
    for band, row in table.banded():
        if band:
            yield _pipes([f"**{_markdown_text(band)}**", *[""] * len(table.headings)])
        label = (_HTML_INDENT if row.is_level else "") + _markdown_text(row.label.text) + superscripts(row.label.marks)
        # The text of numbers is not from the data, so only < and > are escaped and it stays readable.
        numbers = (cell.text.replace("<", "&lt;").replace(">", "&gt;") + superscripts(cell.marks) for cell in row.cells)
        yield _pipes([label, *numbers])
    for note in table.notes:
        yield f"\n{superscripts(note.mark)}{' ' if note.mark else ''}{_markdown_text(note.text)}"


def _pipes(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


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
    headings = [["Feature"], *(heading.wrapped() for heading in table.headings)]
    depth = max(map(len, headings))
    # Short headings are aligned at the bottom, as in printed tables.
    levels = zip(*([""] * (depth - len(lines)) + list(map(_latex_text, lines)) for lines in headings), strict=True)
    heading = "\n".join([r"\toprule", *(" & ".join(cells) + r"\\" for cells in levels), r"\midrule"])
    yield f"{heading}\n\\endfirsthead\n{heading}\n\\endhead"
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


def _latex_cell(cell: Cell) -> str:
    return _latex_text(cell.text) + _latex_marks(cell.marks)


def _latex_marks(marks: str) -> str:
    return rf"\textsuperscript{{{_latex_text(marks)}}}" if marks else ""


def _latex_text(text: str) -> str:
    """Return a text escaped for LaTeX. Every text passes this function."""
    return _SPECIAL.sub(lambda match: _COMMANDS[match[0]], _NO_PICTURE.sub("?", text))


def _page(table: SubtypeTable) -> str:
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
        f"</style>\n</head>\n<body>\n<main>\n{table.to_html()}</main>\n</body>\n</html>\n"
    )


def _fragment(table: PrintedTable) -> Iterator[str]:
    yield f'<div class="subtype-table" tabindex="0" role="region" aria-label="{escape(table.title)}">'
    # It sets no colours: the table takes those of the text around it, be it light or dark.
    style = (Path(__file__).parent / "table.css").read_text(encoding="utf-8")
    yield f"<style>\n{style}</style>"
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
        return "\n".join(_markdown(self)) + "\n"

    def to_latex(self) -> str:
        """Return the table as a ``longtable`` with ``booktabs`` rules; its first line names the packages it needs."""
        return "\n".join(_latex(self)) + "\n"

    def to_html(self) -> str:
        """Return the table as a fragment of a web page, without script."""
        return "\n".join(_fragment(self)) + "\n"

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
    from clinclust.reporting.workbook import NO_DATE, write_workbook

    write_workbook([table.sheet(), table.numbers_sheet()], path, title=table.title, generated=NO_DATE)


_WRITERS: dict[str, Callable[[SubtypeTable, Path], object]] = {
    ".docx": lambda table, path: table.to_word(path),
    ".xlsx": _write_workbook,
    ".html": lambda table, path: write_text(_page(table), path),
    ".tex": lambda table, path: write_text(table.to_latex(), path),
    ".md": lambda table, path: write_text(table.to_markdown(), path),
    ".csv": lambda table, path: write_inert_csv(table.to_frame(), path),
}


# The numbers of the table: as a tidy frame, and each in its own cell for the sheet Numbers of a workbook.

_COLUMNS = {
    "n": Column("n", "0"),
    "missing": Column("Missing", "0"),
    "missing_percent": Column("Missing, %", "0.0"),
    "count": Column("Count", "0"),
    "percent": Column("%", "0.0"),
    "mean": Column("Mean", "measure"),
    "sd": Column("SD", "measure"),
    "q1": Column("Q1", "measure"),
    "median": Column("Median", "measure"),
    "q3": Column("Q3", "measure"),
    "total": Column("Total", "0"),
}
_COUNTED = ("n", "missing", "count", "percent", "mean")
_MEASURED = ("n", "missing", "mean", "sd", "q1", "median", "q3")


def numbers_of(plan: Plan) -> pd.DataFrame:
    """Return a tidy frame with one row for each number of the table, as `SubtypeTable.numbers`."""
    rows = [
        {
            "section": line.feature.section,
            "feature": line.feature.name,
            "label": line.feature.label,
            "unit": line.feature.unit,
            "level": line.level,
            **quantity,
        }
        for line in plan.lines()
        if line.kind != "missing"
        for quantity in _quantities(plan, line)
    ]
    types = dict.fromkeys(("section", "feature", "label", "unit", "level"), "string") | {
        "subtype": "Int64",
        "quantity": "string",
        "value": "float64",
        "suppressed": "boolean",
    }
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _quantities(plan: Plan, line: Line) -> Iterator[dict[str, Any]]:
    for group in plan.groups if line.has_numbers else ():
        record = line.records[group]
        for name, value in _summaries(plan, line, record).items():
            yield _quantity(group, name, value, is_suppressed(record))
    test, validated = descriptive_test(line, plan.between), plan.validated(line)
    if test:
        yield _quantity(None, "descriptive p", test["p"], is_suppressed(test))
    for name in ("p", "q") if validated else ():
        yield _quantity(None, f"validated {name}", validated[name], False)


def _summaries(plan: Plan, line: Line, record: Record) -> dict[str, Any]:
    """Return the numbers of a group: of a share its count, else mean, quartiles and the total of events."""
    if line.summary == "n" and line.kind != "heading":
        return {name: record[name] for name in _COUNTED}
    values = {name: record[name] for name in _MEASURED}
    if line.feature.traits.is_count and plan.has_totals:
        is_known = not is_missing(record["n"]) and not is_missing(record["mean"])
        values["total"] = round(record["n"] * record["mean"]) if is_known else None
    return values


def _quantity(subtype: int | None, name: str, value: Any, is_withheld: bool) -> dict[str, Any]:
    number = float("nan") if is_missing(value) else float(value)
    return {"subtype": subtype, "quantity": name, "value": number, "suppressed": is_missing(value) and is_withheld}


def numbers_table_of(plan: Plan) -> Table:
    """Return the numbers of every group, a feature or level a row, for the sheet Numbers."""
    lines = [line for line in plan.lines() if line.has_numbers]
    held = {name for line in lines for name in _cells_of_numbers(plan, line, line.records[plan.groups[0]])}
    shown = [name for name in _COLUMNS if name in held]
    columns = [Column("Feature"), Column("Level")]
    for group in plan.groups:
        *who, number = plan.heading(group)
        columns += [replace(_COLUMNS[name], group=(": ".join(who), number)) for name in shown]
    rows: list[list[Value]] = []
    for line in lines:
        row: list[Value] = [clean(line.feature.title), None if line.level is None else clean(print_level(line.level))]
        for group in plan.groups:
            record = line.records[group]
            numbers = _cells_of_numbers(plan, line, record)
            row += [_value(numbers[name], record) if name in numbers else None for name in shown]
        rows.append(row)
    bands = [clean(line.feature.section) or "No section" for line in lines]
    decimals = [decimals_of(line.feature, "mean") for line in lines]
    bands = bands if set(bands) != {"No section"} else []
    return Table("The numbers of every subtype", columns, rows, bands, decimals, stub=2)


def _cells_of_numbers(plan: Plan, line: Line, record: Record) -> dict[str, Any]:
    """Return the numbers of a group, and the percentage of its subjects without a value."""
    n, missing = record["n"], record["missing"]
    is_known = not is_missing(n) and not is_missing(missing) and n + missing > 0
    return {**_summaries(plan, line, record), "missing_percent": 100 * missing / (n + missing) if is_known else None}


def _value(number: Any, record: Record) -> Value:
    if is_missing(number):
        return WITHHELD if is_suppressed(record) else None
    return as_value(number)


# The lines of the table as rows of text, and the notes below it: the meaning of cells and p-values, and the tests.

NO_PART, BEYOND = "§", "†"

_TEXTS: dict[str, Any] = data("report")["subtype_table"]
_EMPTY = Cell("")
_HEADINGS = {
    "missing": [Heading("missing", ("Missing, n",))],
    "smd": [Heading("smd", ("SMD",))],
    "p": [Heading("descriptive p", ("Descriptive p",))],
    "validated": [Heading("validated p", ("Validated p",)), Heading("validated q", ("Validated q",))],
}


def headings_of(plan: Plan) -> Iterator[Heading]:
    """Yield the headings of the columns."""
    for name in plan.columns:
        if name in _HEADINGS:
            yield from _HEADINGS[name]
        else:
            groups = [ALL_SUBJECTS] if name == "all" else plan.subtypes
            yield from (Heading("group", plan.heading(group)) for group in groups)


def rows_of(plan: Plan, marks: Mapping[str, str]) -> Iterator[TableRow]:
    """Yield the rows of the table; `marks` are the footnote letters of the tests and methods."""
    is_described = {feature.is_described for feature in plan.features}
    for line in plan.lines():
        feature, title = line.feature, line.title
        summary = {"heading": "", "missing": "n"}.get(line.kind, SUMMARY_TEXT[line.summary])
        level = "Missing" if line.kind == "missing" else clean(print_level(line.level or ""))
        is_level = line.kind in ("level", "missing")
        label = level if is_level else f"{title}, {SUMMARY_TEXT[line.summary]}"
        mark = NO_PART if feature.is_described and len(is_described) > 1 and not is_level else ""
        test, validated = descriptive_test(line, plan.between), plan.validated(line)
        yield TableRow(
            section=clean(feature.section),
            feature=feature.name,
            label=Cell(label, mark),
            title=title,
            level=level,
            summary=summary,
            is_level=is_level,
            cells=list(_cells(plan, line, test, validated, marks)),
            test=text_of(test.get("test")),
            method=text_of(validated.get("method")),
            remark=clean(text_of(validated.get("remark"))),
        )


def _cells(plan: Plan, line: Line, test: Record, validated: Record, marks: Mapping[str, str]) -> Iterator[Cell]:
    is_within = line.kind in ("level", "missing") or line.feature.part == "rest"
    for name in plan.columns:
        if name == "missing":
            is_said = line.kind == "level" or line.feature.part == "rest"
            yield _EMPTY if is_said else Cell(_count(line.records[ALL_SUBJECTS]["missing"]))
        elif name == "smd":
            yield _smd_cell(plan.differences(line))
        elif name == "p":
            yield _p_cell(test, test.get("p"), marks.get(text_of(test.get("test")), "")) if test else _EMPTY
        elif name == "validated":
            is_beyond = text_of(validated.get("grade")) == "differs beyond dependence"
            mark = marks.get(text_of(validated.get("method")), "") + (BEYOND if is_beyond else "")
            yield _EMPTY if is_within else _p_cell(validated, validated.get("p"), mark)
            yield _EMPTY if is_within else _p_cell(validated, validated.get("q"), "")
        else:
            groups = [ALL_SUBJECTS] if name == "all" else plan.subtypes
            for record in (line.records[group] for group in groups):
                if line.kind == "heading":
                    yield _EMPTY
                elif line.kind == "missing":
                    yield Cell(_count(record["missing"]))
                else:
                    yield Cell(summary_text(record, line.summary, plan.decimals(line)))


def _smd_cell(tests: list[Record]) -> Cell:
    if not tests:
        return _EMPTY
    if any(map(is_suppressed, tests)):
        return Cell(WITHHELD)
    differences = [
        abs(test["standardised_difference"]) for test in tests if not is_missing(test["standardised_difference"])
    ]
    return Cell(f"{sum(differences) / len(differences):.2f}" if differences else NOTHING)


def _p_cell(record: Record, p: float | None, marks: str) -> Cell:
    if p is None or is_missing(p):
        return Cell(WITHHELD if is_suppressed(record) else NOTHING)
    return Cell(p_text(p), marks)


def _count(number: float) -> str:
    return WITHHELD if is_missing(number) else f"{int(number):,}"


def _mark_tests(plan: Plan) -> dict[str, str]:
    """Return the footnote letter of every test and method used: the tests first, each in the order of the table."""
    lines = list(plan.lines())
    tests = [descriptive_test(line, plan.between) for line in lines if "p" in plan.columns]
    methods = [plan.validated(line) for line in lines if "validated" in plan.columns]
    used = [test.get("test") for test in tests if not is_missing(test.get("p"))]
    used += [method.get("method") for method in methods if not is_missing(method.get("p"))]
    named = dict.fromkeys(str(name) for name in used if not is_missing(name))
    return dict(zip(named, ascii_lowercase, strict=False))


def notes_of(plan: Plan, rows: list[TableRow], marks: Mapping[str, str]) -> list[Note]:
    """Return the notes of a table; `marks` are the footnote letters of the tests and methods."""
    used = list(dict.fromkeys(line.summary for line in plan.lines()))
    texts = [cell.text for row in rows for cell in row.cells]
    abbreviations = "; ".join(_TEXTS[summary] for summary in used if summary in ("mean", "median"))
    is_withheld = any(WITHHELD in text for text in (*texts, *(" ".join(plan.heading(group)) for group in plan.groups)))
    differences = "difference" if plan.between is not None or len(plan.subtypes) == 2 else "differences"
    is_chosen = any(feature.has_few_steps for feature in plan.features) or {"mean", "median"} <= set(used)
    is_counted = any(feature.levels for feature in plan.features)
    is_chosen &= plan.asked.summaries is None
    general = {
        _TEXTS["counts"]: "n" in used,
        f"{abbreviations}.": abbreviations,
        _TEXTS["mean_or_median"]: abbreviations and is_chosen,
        _TEXTS["levels"]: is_counted and plan.asked.summaries is None,
        _TEXTS["missing"]: "missing" in plan.columns,
        _TEXTS[differences]: "smd" in plan.columns,
        _TEXTS["withheld"]: is_withheld,
        _TEXTS["nothing"]: any(NOTHING in text for text in texts),
        f"{MEANING_OF_MARKS[0].upper()}{MEANING_OF_MARKS[1:]}": any(map(plan.marks.get, plan.subtypes)),
        _TEXTS["weighted"]: plan.compared.is_weighted,
    }
    notes = [Note(" ".join(text for text, is_used in general.items() if is_used))]
    if plan.compared.is_rounded:
        notes.append(Note(_TEXTS["rounded"]))
    elif "p" in plan.columns or plan.asked.features == "significant":
        notes.append(Note(_descriptive(plan)))
    if any(NO_PART in row.label.marks for row in rows):
        notes.append(Note(_TEXTS["no_part"], NO_PART))
    if "validated" in plan.columns:
        notes.append(Note(_TEXTS["validated"]))
    notes += [Note(f"{_called(name)}.", mark) for name, mark in marks.items()]
    if any(BEYOND in cell.marks for row in rows for cell in row.cells):
        notes.append(Note(_TEXTS["beyond"], BEYOND))
    return notes


def _called(name: str) -> str:
    """Return what a test or a method is called at the beginning of a note."""
    if name in METHODS:
        return f"{name.capitalize()}: {METHODS[name]}"
    words = clean(tests_in_words([name], None)).removeprefix("the ")
    return words[:1].upper() + words[1:]


def _descriptive(plan: Plan) -> str:
    tested, codes = plan.compared.tested, list(map(plan.asked.code, plan.between or plan.compared.tested))
    small = [str(plan.asked.code(subtype)) for subtype in plan.subtypes if subtype not in tested]
    if plan.between is not None:
        names = ["pair"]
    elif set(tested) == set(plan.subtypes) == set(plan.compared.subtypes):
        names = ["all"]
    elif not tested:
        names = ["no_two" if len(plan.compared.subtypes) > 1 else "one"]
    else:  # the other subtypes have too few subjects to be tested, or are not shown
        names = ["some", *["small" if len(small) == 1 else "smalls"] * bool(small)]
    fields = {"some": listed(list(map(str, codes))), "pair": " and ".join(map(str, codes))} if codes else {}
    texts = (_TEXTS["compares"][name].format(codes=fields.get(name, ", ".join(small))) for name in names)
    text = _TEXTS["descriptive"].format(compares="".join(texts))
    if plan.asked.features == "significant":
        text += _TEXTS["significant"].format(all=len(plan.compared.features), shown=len(plan.features))
    return str(text)


# Make a subtype table from a comparisons frame alone.


@accepting(
    comparisons=either(arguments.COMPARISONS, arguments.MODEL),
    associations=arguments.FRAME_OF_TESTS,
    features=either(TEXT, TEXTS),
    summaries=either(TEXT, BY_FEATURE),
    columns=TEXTS,
    decimals=either(WHOLE, BY_FEATURE),
)
def subtype_table(
    comparisons: pd.DataFrame | SubtypeModel,
    frame: pd.DataFrame | None = None,
    *,
    associations: pd.DataFrame | None = None,
    names: Mapping[Any, str] | None = None,
    features: Sequence[str] | Literal["significant"] | None = None,
    subtypes: Sequence[int] | None = None,
    between: tuple[int, int] | None = None,
    summaries: Mapping[str, Summary] | Summary | None = None,
    columns: Sequence[ColumnName] | None = None,
    decimals: Mapping[str, int] | int | None = None,
    missing_rows: bool = False,
    title: str | None = None,
) -> SubtypeTable:
    """Return a table of summaries of every feature in all subjects and in each subtype ("Table 1" of a paper).

    Parameters
    ----------
    comparisons : pandas.DataFrame, or MAPDP, Partition or another SubtypeModel
        From `compare_subtypes`; or, with `frame`, a fitted model, whose subtypes are then compared with the defaults.
    frame : pandas.DataFrame, N rows, optional
        The cohort of the model. Rows in another order than at the fit are put back into it, with a `CohortWarning`.
    associations : pandas.DataFrame, optional
        From `validated_associations`; adds columns for the validated p and q.
    names : dict, optional
        Names of subtypes by number, for the headings: ``{1: "Tremor dominant"}``. The default names of a `Partition`
        are its labels.
    features : sequence of str, or "significant", optional
        Features to show, by column name, in this order, or those with a significant descriptive p; by default all, in
        the order of the schema. Features of one section are adjacent.
    subtypes : sequence of int, optional
        Subtypes to show, in this order; by default all.
    between : tuple of two int, optional
        Two subtypes whose Welch's t-test gives the descriptive p. By default it is of the test of all subtypes at
        once, or of the two that `subtypes` selects.
    summaries : dict or {"n", "mean", "median"}, optional
        Summary of each feature by name, or of every feature that allows it: n (%), mean (SD) or median [Q1, Q3]. By
        default yes/no features, levels and scales with rows of the kind "level" have n (%), skewed features (contrasted
        by ranks) the median, unless its quartiles are the same, and all others the mean (of a level: its share).
    columns : sequence of {"missing", "all", "subtypes", "smd", "p", "validated"}, optional
        Columns after the label, in this order: number of subjects without a value, all subjects, the subtypes,
        standardised mean difference, descriptive p, validated p and q. By default all but the SMD, each where it has
        something to say. The SMD is |difference of means| / root of the mean variance, for a level that of its share;
        the mean over all pairs of the subtypes shown, or that of `between`.
    decimals : int or dict, optional
        Decimals of means, medians and percentages, or of those of each feature by name.
    missing_rows : bool
        Whether a row below each feature holds the number of subjects without a value in every group.
    title : str, optional
        Caption of the table.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If `comparisons` is not a frame of `compare_subtypes`, `frame` is not the cohort of the model, or an argument
        cannot be used. The message lists all problems.

    Notes
    -----
    ``subtype_table(comparisons, features=[...], subtypes=[1, 2, 3, 4], between=(1, 2), summaries="mean")`` gives
    Tables 3 and 4 of Raykov et al. (2016), and adds the standard deviations and p-values that they leave out.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> comparisons = cc.compare_subtypes(frame, frail.astype(int), schema)
    >>> table = cc.subtype_table(comparisons, names={1: "Robust", 2: "Frail"})
    >>> print(table.to_frame().loc[0].tail(5).to_string())
    All subjects, n = 200                 0.981 (0.299)
    Subtype 1: Robust, n = 130 (65.0%)    1.187 (0.108)
    Subtype 2: Frail, n = 70 (35.0%)      0.599 (0.092)
    Descriptive p                                <0.001
    Test                                      Welch's t
    >>> table.save("table1.docx").name
    'table1.docx'
    """
    stated = locals()
    choices = Choices(**{item.name: stated[item.name] for item in fields(Choices) if item.name in stated})
    if frame is not None:
        model = cast("SubtypeModel", comparisons)
        require_fitted(model)
        cohort = cohort_of(model, frame, stacklevel=3)
        comparisons = compare_cohort(cohort, min_size=max(FEWEST_TESTED, fewest_subjects(model)))
        marks = {} if model.fit_ is None else dict(enumerate(model.fit_.remarks_, start=1))
        codes = dict(enumerate(model.codes_, start=1))
        numbers = {code: subtype for subtype, code in codes.items()}
        by_number = {numbers.get(code, code): name for code, name in (names or {}).items()}
        choices = replace(choices, names={**model.names_, **by_number}, marks=marks, codes=codes)
    return table_of(Compared(cast("pd.DataFrame", comparisons)), choices)


def table_of(compared: Compared, asked: Choices) -> SubtypeTable:
    """Return the table of `subtype_table`."""
    associations, between = asked.associations, asked.between
    check_choices(compared, asked)
    shown = compared.subtypes if asked.subtypes is None else list(asked.subtypes)
    if between is None and len(shown) == 2 < len(compared.subtypes) and compared.are_tested(*shown):
        between = (shown[0], shown[1])
    if asked.features == "significant":
        chosen = [feature for feature in compared.features.values() if _is_significant(feature, between)]
    else:
        chosen = [compared.features[name] for name in (compared.features if asked.features is None else asked.features)]
    sections = list(dict.fromkeys(feature.section for feature in chosen))
    chosen.sort(key=lambda feature: sections.index(feature.section))
    tests = [] if associations is None else associations.to_dict("records")
    plan = Plan(
        asked=asked,
        compared=compared,
        associations=None if associations is None else {row["feature"]: {str(k): row[k] for k in row} for row in tests},
        features=chosen,
        summaries={feature.name: _summary_of(feature, asked.summaries) for feature in chosen},
        subtypes=shown,
        between=between,
        # That a subtype has few subjects is said already of one that is not tested.
        marks={
            subtype: [mark for mark in marks if mark != FEW or subtype in compared.tested]
            for subtype, marks in asked.marks.items()
        },
    )
    footnotes = _mark_tests(plan)
    rows = list(rows_of(plan, footnotes))
    caption = "Characteristics by subtype" if asked.title is None else clean(asked.title)
    return SubtypeTable(
        title=caption,
        headings=list(headings_of(plan)),
        rows=rows,
        notes=notes_of(plan, rows, footnotes),
        numbers=numbers_of(plan),
        numbers_table=numbers_table_of(plan),
    )


def _is_significant(feature: ComparedFeature, between: tuple[int, int] | None) -> bool:
    tests = [descriptive_test(Line("feature", feature, "n", level), between) for level in feature.summaries]
    return any(not is_missing(test.get("significant")) and bool(test["significant"]) for test in tests)


def _summary_of(feature: ComparedFeature, summaries: Mapping[str, Summary] | Summary | None) -> Summary:
    if isinstance(summaries, str):
        return summaries if summaries in possible_summaries(feature) else default_summary(feature)
    return (summaries or {}).get(feature.name) or default_summary(feature)
