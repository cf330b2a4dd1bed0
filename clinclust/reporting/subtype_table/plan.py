"""What a subtype table shows: choices, summaries of a feature, and the printed table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from textwrap import wrap
from typing import Any, Literal, TypeAlias, get_args

import pandas as pd

from clinclust.arrays import Code
from clinclust.comparisons.frame import (
    ALL_SUBJECTS,
    WITHHELD,
    ComparisonsFrame,
    Record,
    decimals_for,
    decimals_in,
    is_missing,
    is_suppressed,
)
from clinclust.errors import InputError, visible
from clinclust.likelihoods import Likelihood, traits_of
from clinclust.reporting.layout import Kind, number_text, percent
from clinclust.roles import is_described

# The printed table: headings, rows of texts with the marks of their footnotes, and notes, for every writer.

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


# A comparisons frame feature by feature, and the summary of a feature in a group of subjects with its decimals.

_PLAIN_YES = ("yes", "y", "true", "1", "present")
_NEEDED = (
    *("kind", "feature", "label", "section", "unit", "role", "likelihood", "level", "subtype", "versus", "n"),
    *("missing", "mean", "sd", "median", "q1", "q3", "count", "percent", "test", "p", "significant"),
)


@dataclass(eq=False)
class ComparedFeature:
    """The rows of a comparisons frame, `among`, about one feature.

    Summaries are by level (None without levels) and subtype (0: all subjects).
    """

    name: str
    label: str
    section: str
    unit: str
    role: str
    likelihood: str
    scored: str
    summaries: dict[str | None, dict[int, Record]]
    contrast: Record
    among: Compared
    part: str | None = None

    @property
    def title(self) -> str:
        """The label with the unit, and with what the scores mean if levels are words: a mean is one of scores."""
        with_unit = f"{self.label} ({self.unit})" if self.unit else self.label
        return f"{with_unit}, {self.scored}" if self.scored else with_unit

    def suffix(self, level: str | None) -> str:
        """Return ": " and the level after a label, or nothing for a plain yes: "Tremor", but "Sex: female"."""
        code = print_level(level or "")
        return "" if level is None or (self.traits.is_yes_no and code.casefold() in _PLAIN_YES) else f": {code}"

    @property
    def is_described(self) -> bool:
        """Whether the subtypes were not found from the feature (see `Feature.is_described`)."""
        return is_described(self.role, self.likelihood)

    @property
    def parts(self) -> tuple[ComparedFeature, ...]:
        """The feature itself or, with point masses, its two parts; the test of both is with the first."""
        if self.part is not None or not self.is_in_parts:
            return (self,)
        at = {level: records for level, records in self.summaries.items() if level is not None}
        first, second = ({level: self.summaries[level] for level in levels} for levels in (at, (None,)))
        return self._of(first, "spike"), replace(self._of(second, "rest"), contrast={})

    @property
    def is_in_parts(self) -> bool:
        """Whether the rows are those of a feature with point masses."""
        return not is_missing(self.any_level[ALL_SUBJECTS].get("part"))

    def _of(self, summaries: dict[str | None, dict[int, Record]], part: str) -> ComparedFeature:
        row = next(iter(summaries.values()))[ALL_SUBJECTS]
        about = {name: text_of(row[name]) for name in ("label", "unit", "likelihood")}
        return replace(self, **about, summaries=summaries, part=part)  # type: ignore[arg-type]

    def tests(self, level: str | None) -> dict[tuple[int, int], Record]:
        """Return the test of a level by pair of subtypes, the smaller number first: of shares mid-p, or the t-test."""
        tests = self.among.tests.get((self.name, level), {})
        return {pair: next(by_name[test] for test in _OF_PAIRS if test in by_name) for pair, by_name in tests.items()}

    @property
    def levels(self) -> dict[str | None, dict[int, Record]]:
        """The counts of each level of a scale that is counted level by level; empty for other features."""
        return {} if self.part is not None else self.among.levels.get(self.name, {})

    @property
    def has_few_steps(self) -> bool:
        """Whether this is a scale of at most seven levels, whose median hides what few have.

        Edema 0, 0.5 or 1 was 0 [0, 0] in a subtype in which .3% have it, and in one in which 21.8% do.
        """
        ends = self.any_level[ALL_SUBJECTS]
        if not self.traits.is_scale or is_missing(ends["minimum"]):
            return False
        step = 1.0 if is_missing(ends["step"]) else float(ends["step"])
        return float(ends["maximum"] - ends["minimum"]) / step < _FEW_LEVELS

    @property
    def traits(self) -> type[Likelihood]:
        """The likelihood class of the feature."""
        return traits_of(self.likelihood)

    @property
    def any_level(self) -> dict[int, Record]:
        """Summaries of the first level by subtype. All levels have the same `n` and `missing`."""
        return next(iter(self.summaries.values()))


class Compared(ComparisonsFrame):
    """A comparisons frame as the subtype table shows it; ValueError if it is none."""

    def __init__(self, frame: pd.DataFrame) -> None:
        absent = [name for name in _NEEDED if name not in getattr(frame, "columns", ())]
        if absent:
            raise InputError(
                "comparisons must be what compare_subtypes returns, or a model that is given with its frame; it lacks "
                f"{', '.join(absent)}"
            )
        super().__init__(frame)

    @cached_property
    def features(self) -> dict[str, ComparedFeature]:
        """Each feature by name."""
        return {name: self._feature(name) for name in self.summaries}

    def _feature(self, name: str) -> ComparedFeature:
        summaries = self.summaries[name]
        row = next(iter(next(iter(summaries.values())).values()))
        if not is_missing(row.get("part")):  # what is said of the whole is said of its other values
            row = {**next(iter(summaries[None].values())), "label": row["label"]}
        return ComparedFeature(
            name=name,
            **{about: text_of(row[about]) for about in ("label", "section", "unit", "role", "likelihood")},
            scored=text_of(row.get("scored")),
            summaries=summaries,
            contrast=self.contrasts.get(name, {}),
            among=self,
        )

    def are_tested(self, a: int, b: int) -> bool:
        """Return whether two subtypes were tested against each other, which needs both to be large enough."""
        pair = (min(a, b), max(a, b))
        return any(pair in pairs for pairs in self.tests.values())


def text_of(value: object) -> str:
    """Return a value of a frame as text; "" if it is missing."""
    return "" if is_missing(value) else str(value)


Summary: TypeAlias = Literal["n", "mean", "median"]

SUMMARY_TEXT: dict[Summary, str] = {"n": "n (%)", "mean": "mean (SD)", "median": "median [Q1, Q3]"}
NOTHING = "–"

# |mean - median| / SD of a distribution with skewness 1 is .16 for a gamma and .15 for a lognormal distribution.
_SKEWED = 0.15
SDS_BETWEEN_QUARTILES = 1.349  # interquartile range of a normal distribution, in standard deviations
_FEW_SUBJECTS = 100
_FEW_LEVELS = 7  # those of most rating scales (Likert 1932, Archives of Psychology 140)
SUMMARY_QUANTITIES: dict[Summary, tuple[str, ...]] = {
    "n": ("count", "percent"),
    "mean": ("mean", "sd"),
    "median": ("median", "q1", "q3"),
}


def possible_summaries(feature: ComparedFeature) -> tuple[Summary, ...]:
    """Return the summaries that are possible for a feature."""
    if feature.levels:
        return ("n", "mean", "median")
    return ("n", "mean") if feature.traits.is_share else ("mean", "median")


def default_summary(feature: ComparedFeature) -> Summary:
    """Return the default summary: that of the likelihood, the counts of a scale that has them.

    Of other features, the median if values are skewed, unless few levels or equal quartiles hide them, else the mean.
    """
    if feature.is_in_parts and feature.part != "spike":
        return "median"
    if feature.traits.summary is not None:
        return feature.traits.summary
    if feature.levels:
        return "n"
    overall = feature.any_level[ALL_SUBJECTS]
    if feature.has_few_steps or (overall["q1"] == overall["q3"] and overall["sd"] > 0.0):
        return "mean"
    test = feature.contrast.get("test")
    if not is_missing(test):
        return "median" if test in ("Mann-Whitney", "Kruskal-Wallis") else "mean"
    if feature.traits.is_skewed or feature.traits.contrasts[0] == "rank":
        return "median"
    if feature.traits.is_scale:
        return "mean"
    mean, median, sd = (overall[name] for name in ("mean", "median", "sd"))
    return "median" if abs(mean - median) > _SKEWED * sd else "mean"


def parts(record: Record, summary: Summary) -> list[float | None] | None:
    """Return the numbers of a cell, None where one does not exist; None if any number is withheld."""
    values: list[Any] = [record.get(name) for name in SUMMARY_QUANTITIES[summary]]
    found = [None if is_missing(value) else float(value) for value in values]
    return None if is_suppressed(record) and None in found else found


def decimals_of(feature: ComparedFeature, summary: Summary) -> int:
    """Return the number of decimals of the percentage, mean or median of a feature, the same in every column."""
    overall = feature.any_level[ALL_SUBJECTS]
    if summary == "n":
        subjects = overall["n"]
        return 0 if not is_missing(subjects) and subjects < _FEW_SUBJECTS else 1
    if summary == "mean":
        return decimals_in(feature.any_level, is_scored=feature.traits.is_share or feature.traits.is_scale)
    q1, q3 = (math.nan if is_missing(overall[name]) else float(overall[name]) for name in ("q1", "q3"))
    # Quartiles of whole numbers are whole, or lie between two of them.
    decimals = 1 if overall["whole"] else decimals_for((q3 - q1) / SDS_BETWEEN_QUARTILES)
    quartiles = [parts(record, summary) or () for record in feature.any_level.values()]
    values = [value for three in quartiles for value in three if value is not None]
    while decimals and all(math.isclose(value, round(value, decimals - 1), rel_tol=1e-12) for value in values):
        decimals -= 1  # 1.02 [1.015, 1.02] needs three, and not five
    return decimals


def summary_text(record: Record, summary: Summary, decimals: int) -> str:
    """Return the text of a cell as papers print it: 12 (34.3%), 1.42 (0.88), 3.1 [1.2, 6.0]."""
    values = parts(record, summary)
    if values is None:
        return WITHHELD
    if values[0] is None:
        return NOTHING
    places_of = (0, decimals) if summary == "n" else (decimals,) * 3
    kinds: tuple[Kind, ...] = ("0" if summary == "n" else "measure", "measure", "measure")
    first, *others = (
        # A true minus sign, because a spreadsheet program reads a csv field that begins with a hyphen as a formula.
        NOTHING if value is None else number_text(value, kind, places).replace("-", "\N{MINUS SIGN}")
        for value, kind, places in zip(values, kinds, places_of, strict=False)
    )
    if summary == "median":
        return f"{first} [{', '.join(others)}]"
    return f"{first} ({others[0]}%)" if summary == "n" and others[0] != NOTHING else f"{first} ({others[0]})"


def p_text(p: float) -> str:
    """Return p as journals print it: <0.001, with three decimals below 0.1, with two decimals above, or >0.99."""
    if p < 0.001:
        return "<0.001"
    if p > 0.99:
        return ">0.99"
    return f"{p:.2f}" if round(p, 3) >= 0.1 else f"{p:.3f}"


def print_level(level: str) -> str:
    """Return a level as the table prints it: 2 for 2.0, as programs write a code where another row has none."""
    return re.sub(r"^(\d+)\.0+$", r"\1", level)


# The choices of `subtype_table`: checked, and planned line by line before numbers become text.

ColumnName: TypeAlias = Literal["missing", "all", "subtypes", "smd", "p", "validated"]


def clean(text: str) -> str:
    """Return a text from the data in one line, without characters that hide or reorder other characters."""
    return " ".join(visible(text).split())


@dataclass(frozen=True)
class Line:
    """A line of the table: a feature, the heading of its levels, a level, or its missing values."""

    kind: Literal["feature", "heading", "level", "missing"]
    feature: ComparedFeature
    summary: Summary
    level: str | None = None

    @property
    def records(self) -> dict[int, Record]:
        """Summaries by subtype; for a heading or missing values those of the first level."""
        if self.kind == "level" and self.feature.levels:
            return self.feature.levels[self.level]
        return self.feature.summaries[self.level] if self.kind in ("feature", "level") else self.feature.any_level

    @property
    def has_numbers(self) -> bool:
        """Whether it has numbers of each group: a heading has those of its scale."""
        return self.kind in ("feature", "level") or (self.kind == "heading" and bool(self.feature.levels))

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
    features: Sequence[str] | str | None = None
    subtypes: Sequence[int] | None = None
    between: tuple[int, int] | None = None
    summaries: Mapping[str, Summary] | Summary | None = None
    columns: Sequence[str] | None = None
    decimals: Mapping[str, int] | int | None = None
    missing_rows: bool = False
    title: str | None = None
    marks: Mapping[int, Sequence[str]] = field(default_factory=dict)
    codes: Mapping[int, Code] = field(default_factory=dict)

    def code(self, subtype: int) -> Code:
        """Return what a subtype is called (`MAPDP.codes_`)."""
        return self.codes.get(subtype, subtype)


@dataclass(frozen=True)
class Plan:
    """The choices of `subtype_table`, with its defaults filled in; the features of one section are adjacent."""

    asked: Choices
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
        if self.asked.columns is not None:
            return list(self.asked.columns)
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

    @property
    def has_totals(self) -> bool:
        """Whether totals may be given: they hold more digits of a mean than are printed where numbers are withheld."""
        return not self.compared.withheld

    def decimals(self, line: Line) -> int:
        """Return the number of decimals of the mean, median or percentage of a line."""
        asked = self.asked.decimals
        given = asked.get(line.feature.name) if isinstance(asked, Mapping) else asked
        return decimals_of(line.feature, line.summary) if given is None else given

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
            numbers = [feature.any_level[group]["missing"] for group in self.groups]
            if self.asked.missing_rows and any(is_missing(number) or number > 0 for number in numbers):
                yield Line("missing", feature.parts[0], self.summaries[feature.name])

    def validated(self, line: Line) -> Record:
        """Return the validated association that is shown in a line; empty if there is none."""
        shown = line.kind in ("feature", "heading") and line.feature.part != "rest"
        return dict((self.associations or {}).get(line.feature.name, {})) if shown else {}

    def differences(self, line: Line) -> list[Record]:
        """Return the tests of the pairs of shown subtypes, or of the chosen pair, which hold their differences."""
        if line.kind == "missing":
            return []
        chosen = set(self.subtypes) if self.between is None else set(self.between)
        return [test for pair, test in line.feature.tests(line.level).items() if chosen.issuperset(pair)]

    def heading(self, group: int) -> tuple[str, ...]:
        """Return the lines of the heading of a group: its title, its name if it has one, and its size."""
        sizes = self.compared.sizes
        size, total = sizes[group], sizes[ALL_SUBJECTS]
        number = "n = [c]" if size is None else f"n = {size:,}"
        if group == ALL_SUBJECTS:
            return ("All subjects", number)
        if size is not None and total:
            weighted = self.compared.is_weighted
            share = f"weighted {self.compared.weighted_percent[group]:.1f}" if weighted else percent(size, total)
            number += f" ({share}%)"
            number = ", ".join([number, *self.marks.get(group, ())])
        # A name may be a word of the table, which only the few subjects have whose number is withheld.
        name = (self.asked.names or {}).get(group)
        name = None if size is None else name
        return (f"Subtype {self.asked.code(group)}", *([] if name is None else [clean(name)]), number)


def descriptive_test(line: Line, between: tuple[int, int] | None) -> Record:
    """Return the contrast of all subtypes or, with `between`, the test of this pair; empty if a line has none."""
    if line.kind == "missing":
        return {}
    if between is None:
        return {} if line.kind == "level" else line.feature.contrast
    a, b = sorted(between)
    test = line.feature.tests(line.level).get((a, b), {})
    return test | {"test": _OF_PAIRS[test["test"]]} if test else {}


_OF_PAIRS = {"mid_p": "Fisher's exact, mid-p", "welch": "Welch's t", "student": "Student's t"}
_MOST_DECIMALS = 6
_OF_AN_ASSOCIATION = ("feature", "method", "p", "q", "grade", "remark")


def check_choices(compared: Compared, asked: Choices) -> None:
    """Raise ValueError if a choice cannot be used; the message lists all problems."""
    problems: list[str] = []
    if asked.associations is not None:
        absent = [name for name in _OF_AN_ASSOCIATION if name not in getattr(asked.associations, "columns", ())]
        if absent:
            problems.append(f"associations must be what validated_associations returns; it lacks {', '.join(absent)}")
    if isinstance(asked.features, str):
        if asked.features != "significant":
            problems.append(f'features must be a list of column names or "significant", not {asked.features!r}')
    else:
        problems += _unknown("features", asked.features or (), compared.features)
        problems += _repeated("features", asked.features or ())
    if asked.subtypes is not None and not len(asked.subtypes):
        problems.append("subtypes must name at least one subtype")
    problems += _unknown("subtypes", asked.subtypes or (), compared.subtypes)
    problems += _repeated("subtypes", asked.subtypes or ())
    problems += _unknown("names", asked.names or (), compared.subtypes)
    problems += _problems_of_a_pair(compared, asked.between)
    problems += _problems_of_summaries(compared, asked.summaries)
    problems += problems_of_columns(asked.columns)
    if "validated" in (asked.columns or ()) and asked.associations is None:
        problems.append("columns: validated needs associations, from validated_associations")
    of_tests = [f"columns: {name}" for name in ("smd", "p", "validated") if name in (asked.columns or ())]
    of_tests += ['features="significant"'] * (isinstance(asked.features, str) and asked.features == "significant")
    if compared.is_weighted and of_tests:
        problems.append(f"{', '.join(of_tests)} cannot be used with weights, which have no tests and effects")
    problems += _problems_of_decimals(compared, asked.decimals)
    if problems:
        raise InputError("\n".join(problems))


def _unknown(argument: str, given: Sequence[object] | Mapping[int, str], known: object) -> list[str]:
    found = list(known)  # type: ignore[call-overload]
    unknown = [repr(name) for name in given if name not in found]
    some = ", ".join(map(str, found[:10])) + (", ..." if len(found) > 10 else "")
    return [f"{argument}: the comparisons have no {', '.join(unknown)}; they have {some}"] if unknown else []


def _repeated(argument: str, given: Sequence[object]) -> list[str]:
    twice = list(dict.fromkeys(repr(name) for name in given if list(given).count(name) > 1))
    return [f"{argument}: {', '.join(twice)} named more than once"] if twice else []


def _problems_of_a_pair(compared: Compared, between: tuple[int, int] | None) -> list[str]:
    if between is None:
        return []
    if len(between) != 2 or between[0] == between[1]:
        return [f"between must name two different subtypes, not {between!r}"]
    unknown = _unknown("between", between, compared.subtypes)
    a, b = sorted(between)
    if not unknown and not compared.are_tested(a, b):
        return [f"between: subtypes {a} and {b} were not tested against each other; see min_size of compare_subtypes"]
    return unknown


def problems_of_columns(columns: Sequence[str] | None) -> list[str]:
    """Return why these columns cannot be shown; None for the default."""
    if columns is None:
        return []
    every, problems = get_args(ColumnName), _repeated("columns", columns)
    if unknown := [repr(name) for name in columns if name not in every]:
        problems.append(f"columns: {', '.join(unknown)} is none of {', '.join(every)}")
    if not {"all", "subtypes"} & set(columns):
        problems.append("columns must name all, subtypes or both")
    return problems


def _problems_of_decimals(compared: Compared, decimals: Mapping[str, int] | int | None) -> list[str]:
    by_feature = decimals if isinstance(decimals, Mapping) else {"": decimals or 0}
    problems = _unknown("decimals", list(decimals), compared.features) if isinstance(decimals, Mapping) else []
    most = range(_MOST_DECIMALS + 1)
    wrong = [repr(number) for number in by_feature.values() if isinstance(number, bool) or number not in most]
    return problems + ([f"decimals must be from 0 to {most[-1]}, not {', '.join(wrong)}"] if wrong else [])


def _problems_of_summaries(compared: Compared, summaries: Mapping[str, Summary] | Summary | None) -> list[str]:
    every = get_args(Summary)
    if summaries is None or isinstance(summaries, str):
        wrong = summaries is not None and summaries not in every
        return [f"summaries must be one of {', '.join(every)}, not {summaries!r}"] if wrong else []
    problems = _unknown("summaries", list(summaries), compared.features)
    for name, summary in summaries.items():
        possible = possible_summaries(compared.features[name]) if name in compared.features else (summary,)
        if summary not in possible:
            problems.append(f"summaries: {name} can be shown by {' or '.join(possible)}, not {summary!r}")
    return problems
