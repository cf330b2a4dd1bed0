"""How numbers and words look: tables, sections, formats, percentages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from string import Formatter
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

import clinclust.comparisons.frame as frame
import clinclust.data as words
from clinclust.data import data

# Numbers and lists in sentences, the names of tests and methods, and the works that a report may cite.


catalogue, counted, WORDS = words.catalogue, words.counted, words.WORDS
"""The sentences and headings of all reports, and numbers of things in words."""


_QUOTED = {
    key: re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(text)), re.DOTALL)
    for key, text in data("report")["quoted"].items()
}


def translate(text: Any) -> Any:
    """Return what a report quotes from a fit, a test or a schema in its own language: "few" is "klein" in German.

    The English text is one of the catalogue, or several with a semicolon between them; others stay as they are.
    """
    if not isinstance(text, str) or catalogue()["page"]["language"] == "en":
        return text
    for key, pattern in _QUOTED.items():
        if match := pattern.fullmatch(text):
            parts = {name: translate(part) for name, part in match.groupdict().items()}
            is_number = {name: re.fullmatch(r"[\d.,]+", part) for name, part in parts.items()}
            parts = {name: words.print_number(part) if is_number[name] else part for name, part in parts.items()}
            return WORDS["quoted"][key].format(**parts)
    return "; ".join(map(translate, text.split("; "))) if "; " in text else text


def listed(parts: Sequence[str], comma: str = ", ") -> str:
    """Return a list in words: "a, b and c"."""
    *most, last = parts
    return WORDS["lists"]["last"].format(most=comma.join(most), last=last) if most else last


def capitalised(text: str) -> str:
    """Return a text with a capital first letter, the others as they are: "q: p after ..." is "Q: p after ..."."""
    return text[:1].upper() + text[1:]


def name_together(titles: Sequence[str], most: int) -> str:
    """Return what some subtypes are called together: "Subtypes 1 and 2", or "2 Frail and 3 Robust"."""
    unnamed = WORDS["formed"]["subtype"].partition("{")[0]
    are_codes = len(titles) > 1 and all(title.startswith(unnamed) for title in titles)
    names = [title.removeprefix(unnamed) for title in titles] if are_codes else titles
    listing = list_first(names, most) if len(names) > most else listed(names)
    return WORDS["formed"]["subtypes"].format(codes=listing) if are_codes else listing


def list_first(names: Sequence[str], most: int, form: str = "and_more", comma: str = ", ") -> str:
    """Return the first names and how many more there are: "a, b and 3 more"."""
    shown = comma.join(names[:most])
    more = {"shown": shown, "comma": comma, "n": len(names) - most, "n_all": len(names)}
    return WORDS["lists"][form].format(**more) if len(names) > most else shown


class References:
    """Collects the works that are cited, of those in `clinclust/data/references.toml`."""

    def __init__(self) -> None:
        self._cited: set[str] = set()

    def cite(self, key: str) -> str:
        """Record that a work is cited, and return the citation for the text: author and year."""
        self._cited.add(key)
        return listed(data("references")[key]["cited"].split(" and "))

    def cite_in(self, text: str, **fields: object) -> str:
        """Return a text with its fields; a field that is not among them is the key of a work, which is cited."""
        names = {name for _, name, *_ in Formatter().parse(text) if name and name not in fields}
        return text.format(**fields, **{name: self.cite(name) for name in names})

    def listed(self) -> list[str]:
        """Return the full references of the works cited, ordered by author and year."""
        return sorted(data("references")[key]["full"] for key in self._cited)


def tests_in_words(names: Sequence[str], references: References | None) -> str:
    """Return the names of tests of the comparisons as a list in words, each with its reference if they are cited."""
    called = []
    of_parts = "Fisher's combination of "  # the tests of both parts of a feature with point masses
    for name in names:
        if name.startswith(of_parts):
            both = tests_in_words(name.removeprefix(of_parts).split(", "), references)
            called.append(WORDS["lists"]["fisher"].format(tests=both))
            continue
        # The name in a sentence, and the key of the reference.
        title, key = WORDS["tests"].get(name, (name, None))
        called.append(f"{title} ({references.cite(key)})" if references and key else title)
    return listed(called)


def measure_in_words(measure: str) -> str:
    """Return what an effect size is called; one that is not listed, by its name in the comparisons."""
    return str(WORDS["measures"].get(measure, (measure.replace("_", " "),))[0])


class Withheld(str):
    """The sign of a number that is withheld, which prints itself in every format: f"{WITHHELD:,.1f}" is "[c]"."""

    def __format__(self, spec: str) -> str:
        return str(self)


WITHHELD = Withheld(frame.WITHHELD)

_INDENT = "\N{EM SPACE}"
_SUPERSCRIPTS = str.maketrans("abcdefghijklm", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐ")


class Marked(str):
    """A text with the marks of its footnotes, as any program can show it: "0.02ᵃ". A writer may know better.

    A level is indented below its feature, and a note begins with its mark: "ᵃ Kruskal–Wallis test."
    """

    text: str
    marks: str
    is_level: bool

    def __new__(cls, text: str, marks: str = "", *, is_level: bool = False, is_note: bool = False) -> Marked:
        """Return the text with its marks."""
        raised = marks.translate(_SUPERSCRIPTS)
        shown = f"{raised} {text}".strip() if is_note else f"{_INDENT * is_level}{text}{raised}"
        marked = super().__new__(cls, shown)
        marked.text, marked.marks, marked.is_level = text, marks, is_level
        return marked

    @property
    def raised(self) -> str:
        """The marks as superscript characters."""
        return self.marks.translate(_SUPERSCRIPTS)


Value: TypeAlias = str | int | float | None
Span: TypeAlias = tuple[str, int]
Kind: TypeAlias = Literal["text", "cell", "0", "0.0", "0.00", "0.000", "p", "measure", "any"]

_WHOLE = "#,##0"
_SCIENTIFIC = "0.00E+00"
_MOST_DECIMALS = 6
_LARGEST_WHOLE = 10**15 - 1


@dataclass(frozen=True)
class Column:
    """A column of a table; `kind` is the format of its numbers, ``measure`` with the decimals of the row.

    A ``cell`` is text as a paper prints numbers, "76.5 (13.7)", in one line to the right; its title may have several,
    which are wrapped `lines`. Adjoining columns of one `group` share its heading. Text wraps after `widest` characters,
    or overflows to the right. The `key` is that of the catalogue, as "subtypes.size", in every language. A column that
    `quotes` has texts of other rooms (`translate`).
    """

    title: str
    kind: Kind = "text"
    group: tuple[str, str] = ("", "")
    overflow: bool = False
    widest: int = 44
    lines: tuple[str, ...] = ()
    key: str = ""
    quotes: bool = False

    @property
    def text(self) -> str:
        """The title in one line: "Subtype 1: Frail, n = 70 (35.0%)"."""
        first, *others = self.lines or self.title.split("\n")
        return f"{': '.join([first, *others[:-1]])}, {others[-1]}" if others else first


@dataclass(frozen=True)
class Table:
    """A table: a caption, columns with headings, and rows with one value for each column.

    `bands` (sections) and `decimals` (of ``measure`` columns; empty: 2) have an element for each row, or none. The
    first `stub` columns identify the row. A `plain` table has no rules and no wrapping. `notes` are its footnotes.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    bands: Sequence[str] = ()
    decimals: Sequence[int] = ()
    stub: int = 1
    plain: bool = False
    notes: Sequence[Marked] = ()

    def decimals_of(self, row: int) -> int:
        """Return the number of decimals of the ``measure`` columns in this row."""
        return self.decimals[row] if self.decimals else 2

    def texts(self, row: int) -> list[Marked]:
        """Return the cells of a row as they are printed."""
        decimals, texts = self.decimals_of(row), []
        for column, value in zip(self.columns, self.rows[row], strict=True):
            text = value if isinstance(value, str | None) else number_text(value, column.kind, decimals)
            texts.append(text if isinstance(text, Marked) else Marked(text or ""))
        return texts

    def starts_band(self, row: int) -> bool:
        """Return whether this row is the first of a section."""
        return bool(self.bands) and (row == 0 or self.bands[row] != self.bands[row - 1])

    def only(self, rows: Sequence[int], columns: Sequence[int]) -> Table:
        """Return the table with these rows and columns, by their indices in increasing order."""
        return replace(
            self,
            columns=[self.columns[column] for column in columns],
            rows=[[self.rows[row][column] for column in columns] for row in rows],
            bands=[self.bands[row] for row in rows] if self.bands else (),
            decimals=[self.decimals[row] for row in rows] if self.decimals else (),
            stub=sum(column < self.stub for column in columns),
        )

    @property
    def group_lines(self) -> list[list[Span]]:
        """The lines of group headings that have any text: each heading with the number of columns below it."""
        groups = [(group, len(list(columns))) for group, columns in groupby(column.group for column in self.columns)]
        lines = [[(group[line], length) for group, length in groups] for line in (0, 1)]
        return [line for line in lines if any(text for text, _ in line)]


def print_name(name: str) -> str:
    """Return the printed name of a sheet; code, and the list of what may be shared, know it by the other."""
    return str(WORDS["sections"].get(name, name))


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook, or a section of a page, with `notes` above its tables and `explanations` below."""

    name: str
    notes: Sequence[str]
    tables: Sequence[Table]
    explanations: Sequence[str] = ()

    @property
    def is_one_table(self) -> bool:
        """Whether the sheet is one table below notes, so that its headings can stay in view."""
        return len(self.tables) == 1 and not self.explanations

    @property
    def shared_group_lines(self) -> list[list[Span]]:
        """The lines of group headings that all tables share, so that they are shown once; empty if they differ."""
        if not self.tables or self.explanations:
            return []
        first, *others = (table.group_lines for table in self.tables)
        return first if all(lines == first for lines in others) else []


Held: TypeAlias = Callable[[Any], object]
"""What a column holds: a function of the thing that a row is about."""


def tabulate(
    name: str,
    things: pd.DataFrame | Iterable[Any],
    fields: Mapping[str, object] | None = None,
    /,
    **held: Held | Mapping[str, Held] | None,
) -> Table:
    """Return a table of the catalogue with a row for each thing, or for each row of a frame, as a dict.

    A column holds a function of the thing, by default what it has under the key or at the place of the column. Of a
    mapping there is a column for each title, and none of None. The caption and the headings may have `fields`.
    """
    about: Iterable[Any] = things.to_dict("records") if isinstance(things, pd.DataFrame) else things
    filled: list[tuple[Column, Held]] = []
    declared, fields = WORDS["tables"][name], fields or {}
    for place, (key, text) in enumerate(declared["columns"].items()):
        details = {"title": text} if isinstance(text, str) else dict(text)
        above, _, below = details.pop("group", "").partition(" | ")
        title, *group = (text.format(**fields) for text in (details.pop("title"), above, below))
        column = Column(title, group=(group[0], group[1]), key=f"{name}.{key}", **details)
        read = held.pop(key, partial(_read, key, place))
        if isinstance(read, Mapping):
            filled += [(replace(column, title=title), of_title) for title, of_title in read.items()]
        elif read is not None:
            filled.append((column, read))
    assert not held, f"the table {name} has no columns {', '.join(held)}"
    rows = [
        [as_value(translate(read(thing)) if column.quotes else read(thing)) for column, read in filled]
        for thing in about
    ]
    caption, stub = declared["caption"].format(**fields), declared.get("stub", 1)
    return Table(caption, [column for column, _ in filled], rows, stub=stub)


def _read(key: str, place: int, thing: Any) -> object:
    if isinstance(thing, dict):
        return thing[key]
    return thing[place] if type(thing) in (list, tuple) else getattr(thing, key)


def as_value(value: object) -> Value:
    """Return a value for a table: None unless it is a string or finite; whole numbers of over 15 digits as strings."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        return str(value)
    if isinstance(value, str):
        return value
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def excel_format(kind: Kind, decimals: int) -> str:
    """Return the number format of a cell for spreadsheet programs."""
    if kind in ("text", "cell", "any"):
        return "General"
    if kind == "p":
        return f'[<0.001]"{words.print_number("<0.001")}";[<0.1]0.000;0.00'
    if kind == "0":
        return _WHOLE
    if kind != "measure":
        return kind
    if decimals > _MOST_DECIMALS:
        return _SCIENTIFIC
    return f"0.{'0' * decimals}" if decimals else "0"


def number_text(value: float, kind: Kind, decimals: int) -> str:
    """Return a number as text, as a spreadsheet program shows it with `excel_format` in the language of the report."""
    if kind == "p":
        return words.print_number("<0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}")
    shown = excel_format(kind, decimals)
    spec = {"General": "g", _SCIENTIFIC: ".2E", _WHOLE: ",.0f"}.get(shown, f".{len(shown.partition('.')[2])}f")
    text = f"{value:{spec}}"
    return words.print_number(text if float(text.replace(",", "")) else text.lstrip("-"))


def print_figure(text: str) -> str:
    """Return a number that Python printed, as "n = 1,042", with a true minus sign and the marks of the language."""
    return words.print_number(text).replace("-", "\N{MINUS SIGN}")


def percent(part: int, whole: int) -> float:
    """Return 100 * part / whole to one decimal, a tie rounded up, in whole numbers; 0 of 0 is 0."""
    return (2000 * part + whole) // (2 * whole) / 10 if whole else 0.0


# Readers with any kind of colour vision can distinguish blue and orange, and dark text is legible on both.
LOW, MIDDLE, HIGH = "F5A742", "FFFFFF", "6BAED6"
