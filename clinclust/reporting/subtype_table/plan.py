"""The choices of `subtype_table`: checked, and planned line by line before numbers become text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import pandas as pd

from clinclust.comparisons.frame import ALL_SUBJECTS, Record, is_missing
from clinclust.control_characters import visible
from clinclust.errors import InputError
from clinclust.reporting.layout import percent
from clinclust.reporting.subtype_table.summaries import (
    Compared,
    ComparedFeature,
    Summary,
    decimals_of,
    possible_summaries,
)

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
        return self.feature.summaries[self.level] if self.kind in ("feature", "level") else self.feature.any_level

    @property
    def title(self) -> str:
        """Label of the feature with its unit and, unless it is a plain yes, the level that is counted."""
        return clean(self.feature.title + (self.feature.suffix(self.level) if self.kind == "feature" else ""))


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What `subtype_table` is asked for: its arguments, whether totals are numbers of it, and marks by subtype."""

    associations: pd.DataFrame | None = None
    names: Mapping[int, str] | None = None
    features: Sequence[str] | str | None = None
    subtypes: Sequence[int] | None = None
    between: tuple[int, int] | None = None
    summaries: Mapping[str, Summary] | Summary | None = None
    columns: Sequence[str] | None = None
    decimals: Mapping[str, int] | int | None = None
    missing_rows: bool = False
    totals: bool = True
    title: str | None = None
    marks: Mapping[int, Sequence[str]] = field(default_factory=dict)


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
        return self.asked.totals and not self.compared.is_rounded and not self.compared.withheld

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
                if part.traits.is_nominal:
                    yield Line("heading", part, summary)
                for level in part.summaries:
                    yield Line("level" if part.traits.is_nominal else "feature", part, summary, level)
            numbers = [feature.any_level[group]["missing"] for group in self.groups]
            if self.asked.missing_rows and any(is_missing(number) or number > 0 for number in numbers):
                yield Line("missing", feature.parts[0], self.summaries[feature.name])

    def descriptive(self, line: Line) -> Record:
        """Return the test whose p is shown in a line; empty if there is none."""
        return descriptive_test(line, self.between)

    def validated(self, line: Line) -> Record:
        """Return the validated association that is shown in a line; empty if there is none."""
        shown = line.kind in ("feature", "heading") and line.feature.part != "rest"
        return dict((self.associations or {}).get(line.feature.name, {})) if shown else {}

    def differences(self, line: Line) -> list[Record]:
        """Return the tests of the pairs of shown subtypes, or of the chosen pair, which hold their differences."""
        if line.kind in ("heading", "missing"):
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
            number += f" ({percent(size, total):.1f}%)"
            number = ", ".join([number, *self.marks.get(group, ())])
        # A name may be a word of the table, which only the few subjects have whose number is withheld.
        name = (self.asked.names or {}).get(group)
        name = None if size is None else name
        return (f"Subtype {group}", *([] if name is None else [clean(name)]), number)


def descriptive_test(line: Line, between: tuple[int, int] | None) -> Record:
    """Return the contrast of all subtypes or, with `between`, Welch's t-test of this pair; empty if a line has none."""
    if line.kind == "missing":
        return {}
    if between is None:
        return {} if line.kind == "level" else line.feature.contrast
    if line.kind == "heading":
        return {}
    a, b = sorted(between)
    test = line.feature.tests(line.level).get((a, b), {})
    return test | {"test": "Welch's t"} if test else {}


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
    problems += _problems_of_columns(asked)
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


def _problems_of_columns(asked: Choices) -> list[str]:
    columns, every = asked.columns, get_args(ColumnName)
    if columns is None:
        return []
    problems = _repeated("columns", columns)
    unknown = [repr(name) for name in columns if name not in every]
    if unknown:
        problems.append(f"columns: {', '.join(unknown)} is none of {', '.join(every)}")
    if not {"all", "subtypes"} & set(columns):
        problems.append("columns must name all, subtypes or both")
    if "validated" in columns and asked.associations is None:
        problems.append("columns: validated needs associations, from validated_associations")
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
