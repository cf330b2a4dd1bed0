"""The subtype table: summaries of every feature in all subjects and in each subtype ("Table 1" of a paper)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from textwrap import wrap
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import pandas as pd

import clinclust.arguments as arguments
from clinclust.arguments import BY_FEATURE, TEXT, TEXTS, WHOLE, accepting, either
from clinclust.arrays import Code
from clinclust.comparisons.compare import FEWEST_TESTED, compare_cohort
from clinclust.comparisons.frame import ALL_SUBJECTS, WITHHELD, Record, is_missing, is_suppressed
from clinclust.data import Language, Style, speaking
from clinclust.errors import InputError, missing_package, refuse, visible
from clinclust.estimators.fit import FEW, MEANING_OF_MARKS
from clinclust.estimators.subtype_model import SubtypeModel, cohort_of, fewest_subjects, require_fitted
from clinclust.files.writing import write_text
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.compared import (
    NOTHING,
    OF_PAIRS,
    Compared,
    ComparedFeature,
    Summary,
    decimals_of,
    default_summary,
    p_text,
    possible_summaries,
    print_level,
    print_quartiles,
    summary_text,
    text_of,
)
from clinclust.reporting.documents import html_fragment, html_page
from clinclust.reporting.layout import (
    WORDS,
    Column,
    Held,
    Marked,
    Sheet,
    Table,
    as_value,
    capitalised,
    listed,
    percent,
    print_figure,
    tests_in_words,
    translate,
)

__all__ = ["SubtypeTable", "subtype_table"]

# The choices of `subtype_table`: checked, and planned line by line before numbers become text.

ColumnName: TypeAlias = Literal["missing", "all", "subtypes", "smd", "p", "validated"]


def clean(text: str) -> str:
    """Return a text from the data in one line, without characters that hide or reorder other characters."""
    return " ".join(visible(text).split())


def _print_text(text: str) -> str:
    """Return a sentence with p and quartiles as the cells have them: "Descriptive P", "median (Q1-Q3)"."""
    text = re.sub(r"\[Q1.+?Q3\]", print_quartiles("Q1", "Q3"), text)
    return re.sub(r"\bp\b", WORDS["numbers"]["p"], text)


@dataclass(frozen=True)
class Line:
    """A line of the table: a feature, the heading of its levels, or a level."""

    kind: Literal["feature", "heading", "level"]
    feature: ComparedFeature
    summary: Summary
    level: str | None = None

    @property
    def records(self) -> dict[int, Record]:
        """Summaries by subtype; for a heading those of the first level."""
        if self.kind == "level" and self.feature.levels:
            return self.feature.levels[self.level]
        return self.feature.any_level if self.kind == "heading" else self.feature.summaries[self.level]

    @property
    def level_text(self) -> str:
        """The level as printed."""
        return clean(print_level(self.level or ""))

    @property
    def title(self) -> str:
        """Label of the feature with its unit and, unless it is a plain yes, the level that is counted."""
        suffix = self.feature.suffix(self.level) if self.kind == "feature" else ""
        feature = replace(self.feature, scored="") if self.kind == "heading" else self.feature
        return clean(feature.title + suffix)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What `subtype_table` is asked for: its arguments, and marks by subtype."""

    associations: pd.DataFrame | None = None
    names: Mapping[int, str] | None = None
    features: Sequence[str] | None = None
    subtypes: Sequence[int] | None = None
    between: tuple[int, int] | None = None
    summaries: Mapping[str, Summary] | Summary | None = None
    columns: Sequence[str] | None = None
    decimals: Mapping[str, int] | int | None = None
    title: str | None = None
    marks: Mapping[int, Sequence[str]] = field(default_factory=dict)
    codes: Mapping[int, Code] = field(default_factory=dict)

    def code(self, subtype: int) -> Code:
        """Return what a subtype is called (`MAPDP.codes_`)."""
        return self.codes.get(subtype, subtype)


@dataclass(frozen=True)
class Plan:
    """The choices of `subtype_table`, with its defaults filled in; the features of one section are adjacent."""

    choices: Choices
    compared: Compared
    associations: Mapping[str, Record] | None
    features: Sequence[ComparedFeature]
    summaries: Mapping[str, Summary]
    subtypes: Sequence[int]
    between: tuple[int, int] | None
    marks: Mapping[int, Sequence[str]]

    @property
    def columns(self) -> list[str]:
        """The columns in order: those asked for, or all that have something to say."""
        if self.choices.columns is not None:
            return list(self.choices.columns)
        compares = len(self.compared.subtypes) > 1
        tested = compares and not self.compared.is_rounded and not self.compared.is_weighted
        validated = self.associations is not None
        shown = (True, True, compares, False, tested, validated)
        return [name for name, is_shown in zip(get_args(ColumnName), shown, strict=True) if is_shown]

    @property
    def groups(self) -> list[int]:
        """The groups of subjects that have a column, in order; 0 is all subjects."""
        of_column = {"all": [ALL_SUBJECTS], "subtypes": list(self.subtypes)}
        return [group for name in self.columns for group in of_column.get(name, ())]

    def decimals(self, line: Line) -> int:
        """Return the number of decimals of the mean, median or percentage of a line."""
        of_features = self.choices.decimals
        n_decimals = of_features.get(line.feature.name) if isinstance(of_features, Mapping) else of_features
        return decimals_of(line.feature, line.summary) if n_decimals is None else n_decimals

    def lines(self) -> Iterator[Line]:
        """Yield the lines of the table in order."""
        for feature in self.features:
            for part in feature.parts:
                summary = "n" if part.part == "spike" else self.summaries[feature.name]
                levels = part.levels if summary == "n" else {}
                if part.traits.is_nominal or levels:
                    yield Line("heading", part, summary)
                for level in levels or part.summaries:
                    yield Line("level" if part.traits.is_nominal or levels else "feature", part, summary, level)

    def bands(self, lines: Iterable[Line]) -> list[str]:
        """Return the section of each line; none if no feature has one."""
        bands = [clean(line.feature.section) for line in lines]
        return [band or _TEXTS["no_section"] for band in bands] if any(bands) else []

    def validated(self, line: Line) -> Record:
        """Return the validated association that is shown in a line; empty without one."""
        shown = line.kind in ("feature", "heading") and line.feature.part != "rest"
        return dict((self.associations or {}).get(line.feature.name, {})) if shown else {}

    def differences(self, line: Line) -> list[Record]:
        """Return the tests of the pairs of shown subtypes, or of the chosen pair, which hold their differences."""
        chosen = set(self.subtypes) if self.between is None else set(self.between)
        return [test for pair, test in line.feature.tests(line.level).items() if chosen.issuperset(pair)]

    def heading(self, group: int) -> tuple[str, ...]:
        """Return the lines of the heading of a group: its title, its name if it has one, and its size."""
        sizes = self.compared.sizes
        size, total = sizes[group], sizes[ALL_SUBJECTS]
        number = "n = [c]" if size is None else print_figure(f"n = {size:,}")
        if group == ALL_SUBJECTS:
            return (WORDS["formed"]["all_subjects"], number)
        if size is not None and total:
            is_weighted = self.compared.is_weighted
            share = self.compared.weighted_percent[group] if is_weighted else percent(size, total)
            shown = (_TEXTS["weighted_share"] if is_weighted else "{share}").format(share=print_figure(f"{share:.1f}"))
            number = ", ".join([f"{number} ({shown}{print_figure('%')})", *map(translate, self.marks.get(group, ()))])
        # A name may be a word of the table, which only the few subjects have whose number is withheld.
        name = None if size is None else (self.choices.names or {}).get(group)
        title = WORDS["formed"]["subtype"].format(code=self.choices.code(group))
        return (title, *([] if name is None else [clean(name)]), number)


def _descriptive_test(line: Line, between: tuple[int, int] | None) -> Record:
    """Return the contrast of all subtypes or, with `between`, the test of this pair; empty if a line has no test."""
    if between is None:
        return {} if line.kind == "level" else line.feature.contrast
    a, b = sorted(between)
    test = line.feature.tests(line.level).get((a, b), {})
    return test | {"test": OF_PAIRS[test["test"]]} if test else {}


_MOST_DECIMALS = 6
_OF_AN_ASSOCIATION = ("feature", "method", "p", "q", "grade", "remark")


def _find_problems(compared: Compared, asked: Choices) -> Iterator[str]:
    """Yield why a choice cannot be used."""
    features, columns = asked.features, asked.columns or ()
    if asked.associations is not None:
        columns_of = getattr(asked.associations, "columns", ())
        if absent := [name for name in _OF_AN_ASSOCIATION if name not in columns_of]:
            yield f"associations must be what validated_associations returns; it lacks {', '.join(absent)}"
    yield from _unknown("features", features or (), compared.features)
    yield from _repeated("features", features or ())
    if asked.subtypes is not None and not len(asked.subtypes):
        yield "subtypes must name at least one subtype"
    yield from _unknown("subtypes", asked.subtypes or (), compared.subtypes)
    yield from _repeated("subtypes", asked.subtypes or ())
    yield from _unknown("names", asked.names or (), compared.subtypes)
    if asked.between is not None:
        if len(asked.between) != 2 or asked.between[0] == asked.between[1]:
            yield f"between must name two different subtypes, not {asked.between!r}"
        elif unknown := _unknown("between", asked.between, compared.subtypes):
            yield from unknown
        elif not compared.are_tested(*asked.between):
            a, b = sorted(asked.between)
            yield f"between: subtypes {a} and {b} were not tested against each other; see min_size of compare_subtypes"
    if isinstance(asked.summaries, str):
        if asked.summaries not in get_args(Summary):
            yield f"summaries must be one of {', '.join(get_args(Summary))}, not {asked.summaries!r}"
    else:
        yield from _unknown("summaries", asked.summaries or (), compared.features)
        for name, summary in (asked.summaries or {}).items():
            possible = possible_summaries(compared.features[name]) if name in compared.features else (summary,)
            if summary not in possible:
                yield f"summaries: {name} can be shown by {' or '.join(possible)}, not {summary!r}"
    yield from problems_of_columns(asked.columns)
    if "validated" in columns and asked.associations is None:
        yield "columns: validated needs associations, from validated_associations"
    of_tests = [f"columns: {name}" for name in ("smd", "p", "validated") if name in columns]
    if compared.is_weighted and of_tests:
        yield f"{', '.join(of_tests)} cannot be used with weights, which have no tests and effects"
    by_feature = asked.decimals if isinstance(asked.decimals, Mapping) else dict.fromkeys(compared.features, 0)
    yield from _unknown("decimals", by_feature, compared.features)
    decimals = [*by_feature.values(), *([asked.decimals] if isinstance(asked.decimals, int) else [])]
    most = range(_MOST_DECIMALS + 1)
    if wrong := [repr(number) for number in decimals if isinstance(number, bool) or number not in most]:
        yield f"decimals must be from 0 to {most[-1]}, not {', '.join(wrong)}"


def problems_of_columns(columns: Sequence[str] | None) -> Iterator[str]:
    """Yield why these columns cannot be shown; None for the default."""
    every = get_args(ColumnName)
    yield from _repeated("columns", columns or ())
    if unknown := [repr(name) for name in columns or () if name not in every]:
        yield f"columns: {', '.join(unknown)} is not among {', '.join(every)}"
    if columns is not None and not {"all", "subtypes"} & set(columns):
        yield "columns must name all, subtypes or both"


def _unknown(argument: str, names: Iterable[object], known: Iterable[object]) -> list[str]:
    every = list(known)
    unknown = [repr(name) for name in names if name not in every]
    some = ", ".join(map(str, every[:10])) + (", ..." if len(every) > 10 else "")
    return [f"{argument}: the comparisons have no {', '.join(unknown)}; they have {some}"] if unknown else []


def _repeated(argument: str, names: Sequence[object]) -> list[str]:
    twice = list(dict.fromkeys(repr(name) for name in names if list(names).count(name) > 1))
    return [f"{argument}: {', '.join(twice)} named more than once"] if twice else []


# The lines of the table as rows of text, and the notes below it: the meaning of cells and p-values, and the tests.

_NO_PART, _BEYOND = "§", "†"

_TEXTS = WORDS["subtype_table"]
_LABEL_WIDTH = 60  # characters of a label before it wraps in a workbook
_NAME_WIDTH = 16  # characters of a name in a heading before it wraps


class TableRow(NamedTuple):
    """A row of the table: what it is about, its label, and its cells; `method` and `remark` are of the validated p."""

    section: str
    feature: str
    title: str
    level: str
    summary: str
    is_level: bool
    test: str
    method: str
    remark: str
    label: Marked
    cells: Sequence[Marked]


def _print_rows(plan: Plan, table: Table) -> Iterator[TableRow]:
    """Yield the rows of the table with what they are about."""
    for number, line in enumerate(plan.lines()):
        label, *cells = table.texts(number)
        validated = plan.validated(line)
        yield TableRow(
            section=clean(line.feature.section),
            feature=line.feature.name,
            title=line.title,
            level=line.level_text,
            summary="" if line.kind == "heading" else _print_text(_TEXTS["summaries"][line.summary]),
            is_level=label.is_level,
            test=text_of(_descriptive_test(line, plan.between).get("test")),
            method=text_of(validated.get("method")),
            remark=clean(text_of(validated.get("remark"))),
            label=label,
            cells=cells,
        )


def _columns_of(plan: Plan, marks: Mapping[str, str]) -> list[tuple[Column, Held]]:
    """Return the columns with what they hold of a line; `marks` are the footnote letters of the tests and methods."""
    are_described = {feature.is_described for feature in plan.features}

    def label(line: Line) -> Marked:
        if line.kind == "level":
            return Marked(line.level_text, is_level=True)
        mark = _NO_PART if line.feature.is_described and len(are_described) > 1 else ""
        return Marked(f"{line.title}, {_print_text(_TEXTS['summaries'][line.summary])}", mark)

    def summary(line: Line, group: int) -> str | None:
        record = line.records[group]
        return None if line.kind == "heading" else summary_text(record, line.summary, plan.decimals(line))

    def missing(line: Line) -> str | None:
        is_said = line.kind == "level" or line.feature.part == "rest"
        number = line.records[ALL_SUBJECTS]["missing"]
        return None if is_said else WITHHELD if is_missing(number) else print_figure(f"{int(number):,}")

    def descriptive_p(line: Line) -> str | None:
        test = _descriptive_test(line, plan.between)
        return _print_p(test, "p", marks.get(text_of(test.get("test")), "")) if test else None

    def validated_number(line: Line, name: str) -> str | None:
        if line.kind == "level" or line.feature.part == "rest":
            return None
        validated = plan.validated(line)
        is_beyond = text_of(validated.get("grade")) == "differs beyond dependence"
        mark = marks.get(text_of(validated.get("method")), "") + (_BEYOND if is_beyond else "")
        return _print_p(validated, name, mark if name == "p" else "")

    def smd(line: Line) -> str | None:
        tests = plan.differences(line)
        values = [test["standardised_difference"] for test in tests]
        sizes = [abs(value) for value in values if not is_missing(value)]
        if not tests or any(map(is_suppressed, tests)):
            return WITHHELD if tests else None
        return print_figure(f"{sum(sizes) / len(sizes):.2f}") if sizes else NOTHING

    def column(*lines: str) -> Column:
        first, *name, last = lines if lines[1:] else (*lines, "")
        wrapped = [first, *(part for text in name for part in wrap(text, _NAME_WIDTH)), last]
        return Column("\n".join(wrapped if lines[1:] else first.split()), "cell", lines=lines)

    headings = {name: _print_text(text) for name, text in _TEXTS["headings"].items()}
    held: dict[str, list[tuple[Column, Held]]] = {
        "missing": [(column(headings["missing"]), missing)],
        "smd": [(column(headings["smd"]), smd)],
        "p": [(column(headings["p"]), descriptive_p)],
        "validated": [
            (column(headings[f"validated_{name}"]), partial(validated_number, name=name)) for name in ("p", "q")
        ],
        "all": [(column(*plan.heading(ALL_SUBJECTS)), partial(summary, group=ALL_SUBJECTS))],
        "subtypes": [(column(*plan.heading(group)), partial(summary, group=group)) for group in plan.subtypes],
    }
    shown = [(name, *of_column) for name in plan.columns for of_column in held[name]]
    return [
        (Column(headings["feature"], widest=_LABEL_WIDTH, key="subtype_table.feature"), label),
        *((replace(column, key=f"subtype_table.{name}"), text) for name, column, text in shown),
    ]


def _print_p(record: Record, name: str, marks: str) -> str:
    p = record.get(name)
    if p is None or is_missing(p):
        return WITHHELD if is_suppressed(record) else NOTHING
    return Marked(p_text(p), marks)


def _write_notes(plan: Plan, table: Table, marks: Mapping[str, str]) -> list[Marked]:
    """Return the notes of a table; `marks` are the footnote letters of the tests and methods."""
    used = list(dict.fromkeys(line.summary for line in plan.lines()))
    cells = [cell for number in range(len(table.rows)) for cell in table.texts(number)]
    texts = [text for row in table.rows for text in row[1:] if isinstance(text, str)]
    abbreviations = "; ".join(_TEXTS[summary] for summary in used if summary in ("mean", "median"))
    is_withheld = any(WITHHELD in text for text in (*texts, *(" ".join(plan.heading(group)) for group in plan.groups)))
    differences = "difference" if plan.between is not None or len(plan.subtypes) == 2 else "differences"
    is_chosen = any(feature.has_few_steps for feature in plan.features) or {"mean", "median"} <= set(used)
    is_counted = any(feature.levels for feature in plan.features)
    is_chosen &= plan.choices.summaries is None
    general = {
        _TEXTS["counts"]: "n" in used,
        f"{abbreviations}.": abbreviations,
        _TEXTS["mean_or_median"]: abbreviations and is_chosen,
        _TEXTS["levels"]: is_counted and plan.choices.summaries is None,
        _TEXTS["missing"]: "missing" in plan.columns,
        _TEXTS[differences]: "smd" in plan.columns,
        _TEXTS["withheld"]: is_withheld,
        _TEXTS["nothing"]: any(NOTHING in text for text in texts),
        capitalised(translate(MEANING_OF_MARKS)): any(map(plan.marks.get, plan.subtypes)),
        _TEXTS["weighted"]: plan.compared.is_weighted,
    }
    notes = [(" ".join(text for text, is_used in general.items() if is_used), "")]
    if plan.compared.is_rounded:
        notes.append((_TEXTS["rounded"], ""))
    elif "p" in plan.columns:
        notes.append((_descriptive(plan), ""))
    if any(_NO_PART in cell.marks for cell in cells):
        notes.append((_TEXTS["no_part"], _NO_PART))
    if "validated" in plan.columns:
        notes.append((_TEXTS["validated"], ""))
    notes += [(f"{_called(name)}.", mark) for name, mark in marks.items()]
    if any(_BEYOND in cell.marks for cell in cells):
        notes.append((_TEXTS["beyond"], _BEYOND))
    return [Marked(_print_text(text), mark, is_note=True) for text, mark in notes]


def _called(name: str) -> str:
    """Return what a test or a method is called at the beginning of a note."""
    if name in WORDS["ways"]:
        return f"{capitalised(translate(name))}: {WORDS['ways'][name]}"
    return capitalised(clean(tests_in_words([name], None)).removeprefix("the "))


def _descriptive(plan: Plan) -> str:
    tested, codes = plan.compared.tested, list(map(plan.choices.code, plan.between or plan.compared.tested))
    small = [str(plan.choices.code(subtype)) for subtype in plan.subtypes if subtype not in tested]
    if plan.between is not None:
        names = ["pair"]
    elif set(tested) == set(plan.subtypes) == set(plan.compared.subtypes):
        names = ["all"]
    elif not tested:
        names = ["no_two" if len(plan.compared.subtypes) > 1 else "one"]
    else:  # the other subtypes have too few subjects to be tested, or are not shown
        names = ["some", *["small" if len(small) == 1 else "smalls"] * bool(small)]
    of = {"some": listed(list(map(str, codes))), "pair": listed(list(map(str, codes)))} if codes else {}
    texts = (_TEXTS["compares"][name].format(codes=of.get(name, ", ".join(small))) for name in names)
    return str(_TEXTS["descriptive"].format(compares="".join(texts)))


# SubtypeTable: the finished table of `clinclust.subtype_table`, and the file types it can be saved as.


@dataclass(frozen=True, repr=False)
class SubtypeTable:
    """A table of summaries of every feature in all subjects and in each subtype, from `clinclust.subtype_table`.

    `table` is what a report prints, `rows` are what its rows are about, and `language` is that of its words.
    """

    table: Table
    rows: Sequence[TableRow]
    language: Language

    @property
    def title(self) -> str:
        """Caption of the table."""
        return self.table.caption

    @property
    def headings(self) -> Sequence[Column]:
        """Headings of all columns except the first."""
        return self.table.columns[1:]

    @property
    def notes(self) -> Sequence[Marked]:
        """Footnotes, each with its mark if it has one."""
        return self.table.notes

    def to_frame(self) -> pd.DataFrame:
        """Return the cells as text: one row for each feature or level, with additional columns for the tests."""
        about = {"Section": "section", "Feature": "title", "Level": "level", "Summary": "summary"}
        columns = {title: [getattr(row, name) for row in self.rows] for title, name in about.items()}
        for place, heading in enumerate(self.headings):
            columns[heading.text] = [row.cells[place].text for row in self.rows]
            if heading.key == "subtype_table.p":
                columns["Test"] = [row.test for row in self.rows]
        if any(heading.key == "subtype_table.validated" for heading in self.headings):
            columns |= {"Method": [row.method for row in self.rows], "Remark": [row.remark for row in self.rows]}
        return pd.DataFrame(columns, dtype="string")

    def sheet(self) -> Sheet:
        """Return the table as a sheet of a report."""
        return Sheet("Subtype table", [], [self.table])

    def to_html(self) -> str:
        """Return the table as a fragment of a web page, without script."""
        return html_fragment(self.table)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table to a file and return its path; the suffix is .docx, .xlsx, .html or .csv.

        ValueError for another suffix; ImportError for .docx without python-docx.
        """
        path = Path(path)
        refuse(suffix_problems(path))
        with speaking(self.language):
            _WRITERS[path.suffix.lower()](self, path)
        return path

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        frame = self.to_frame().drop(columns=["Section", "Summary"])
        notes = "\n".join(note for note in self.notes if not note.marks)
        return f"{self.title}\n{frame.to_string(index=False)}\n{notes}"


def suffix_problems(path: Path) -> list[str]:
    """Return why a subtype table cannot be saved under this name; empty if it can."""
    if path.suffix.lower() in _WRITERS:
        return []
    return [f"a subtype table ends in {', '.join(_WRITERS)}, not {path.suffix!r} ({path.name})"]


def _write_workbook(table: SubtypeTable, path: Path) -> None:
    from clinclust.reporting.workbook import NO_DATE, write_workbook

    write_workbook([table.sheet()], path, title=table.title, generated=NO_DATE)


def _write_word(table: SubtypeTable, path: Path) -> None:
    try:
        import docx  # noqa: F401
    except ImportError as error:
        raise missing_package("a Word document", "python-docx") from error
    from clinclust.reporting.word import write_word

    write_word(table.table, path)


_WRITERS: dict[str, Callable[[SubtypeTable, Path], object]] = {
    ".docx": _write_word,
    ".xlsx": _write_workbook,
    ".html": lambda table, path: write_text(html_page(table.table), path),
    ".csv": lambda table, path: write_inert_csv(table.to_frame(), path),
}


# Make a subtype table from a comparisons frame alone.


@accepting(
    comparisons=either(arguments.COMPARISONS, arguments.MODEL),
    associations=arguments.FRAME_OF_TESTS,
    features=TEXTS,
    summaries=either(TEXT, BY_FEATURE),
    columns=TEXTS,
    decimals=either(WHOLE, BY_FEATURE),
    language=arguments.one_of(*get_args(Language)),
    style=arguments.one_of(*get_args(Style)),
    decimal=arguments.one_of(",", "."),
)
def subtype_table(
    comparisons: pd.DataFrame | SubtypeModel,
    frame: pd.DataFrame | None = None,
    *,
    associations: pd.DataFrame | None = None,
    names: Mapping[Any, str] | None = None,
    features: Sequence[str] | None = None,
    subtypes: Sequence[int] | None = None,
    between: tuple[int, int] | None = None,
    summaries: Mapping[str, Summary] | Summary | None = None,
    columns: Sequence[ColumnName] | None = None,
    decimals: Mapping[str, int] | int | None = None,
    title: str | None = None,
    language: Language = "en",
    style: Style | None = None,
    decimal: Literal[",", "."] | None = None,
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
    features : sequence of str, optional
        Features to show, by column name, in this order; by default all, in the order of the schema. Features of one
        section are adjacent.
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
    title : str, optional
        Caption of the table.
    language : {"en", "de", "es", "fr", "pt"}
        Language of the headings, notes and marks in numbers: English, German, Spanish, French or Portuguese.
    style : {"jama", "lancet", "nejm", "bmj"}, optional
        Journal whose instructions numbers, p and quartiles follow, instead of the language.
    decimal : {",", "."}, optional
        Decimal mark, instead of that of the language or journal.

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
        cohort = cohort_of(model, frame)
        comparisons = compare_cohort(cohort, min_size=max(FEWEST_TESTED, fewest_subjects(model)))
        marks = {} if model.fit_ is None else dict(enumerate(model.fit_.remarks_, start=1))
        codes = dict(enumerate(model.codes_, start=1))
        numbers = {code: subtype for subtype, code in codes.items()}
        by_number = {numbers.get(code, code): name for code, name in (names or {}).items()}
        choices = replace(choices, names={**model.names_, **by_number}, marks=marks, codes=codes)
    with speaking(language, style, decimal):
        return table_of(Compared(cast("pd.DataFrame", comparisons)), choices)


def table_of(compared: Compared, asked: Choices) -> SubtypeTable:
    """Return the table of `subtype_table`."""
    associations, between = asked.associations, asked.between
    if problems := list(_find_problems(compared, asked)):
        raise InputError("\n".join(problems))
    shown = compared.subtypes if asked.subtypes is None else list(asked.subtypes)
    if between is None and len(shown) == 2 < len(compared.subtypes) and compared.are_tested(*shown):
        between = (shown[0], shown[1])
    chosen = [compared.features[name] for name in (compared.features if asked.features is None else asked.features)]
    sections = list(dict.fromkeys(feature.section for feature in chosen))
    chosen.sort(key=lambda feature: sections.index(feature.section))
    validated = [] if associations is None else associations.to_dict("records")
    summaries = asked.summaries or {}
    by_name = dict.fromkeys(compared.features, summaries) if isinstance(summaries, str) else summaries
    plan = Plan(
        choices=asked,
        compared=compared,
        associations=None if associations is None else {row["feature"]: row for row in cast("list[Record]", validated)},
        features=chosen,
        summaries={
            feature.name: summary
            if (summary := by_name.get(feature.name)) in possible_summaries(feature)
            else default_summary(feature)
            for feature in chosen
        },
        subtypes=shown,
        between=between,
        # That a subtype has few subjects is said already of one that is not tested.
        marks={
            subtype: [mark for mark in marks if mark != FEW or subtype in compared.tested]
            for subtype, marks in asked.marks.items()
        },
    )
    # A footnote letter for every test and method used: the tests first, each in the order of the table.
    tests = [_descriptive_test(line, plan.between) for line in plan.lines() if "p" in plan.columns]
    methods = [plan.validated(line) for line in plan.lines() if "validated" in plan.columns]
    names = [test.get("test") for test in tests if not is_missing(test.get("p"))]
    names += [method.get("method") for method in methods if not is_missing(method.get("p"))]
    letters = dict(
        zip(dict.fromkeys(str(name) for name in names if not is_missing(name)), ascii_lowercase, strict=False)
    )
    caption = _TEXTS["title"] if asked.title is None else clean(asked.title)
    columns, lines = _columns_of(plan, letters), list(plan.lines())
    rows = [[as_value(held(line)) for _, held in columns] for line in lines]
    table = Table(caption, [column for column, _ in columns], rows, bands=plan.bands(lines))
    table = replace(table, notes=_write_notes(plan, table, letters))
    return SubtypeTable(table, list(_print_rows(plan, table)), WORDS["page"]["language"])
