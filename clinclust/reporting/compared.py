"""A comparisons frame feature by feature, and the summaries of a feature as papers print them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import pandas as pd

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
from clinclust.errors import InputError
from clinclust.likelihoods import Likelihood, traits_of
from clinclust.reporting.layout import WORDS, Kind, number_text, print_figure, translate
from clinclust.roles import is_described

OF_PAIRS = {"mid_p": "Fisher's exact, mid-p", "welch": "Welch's t", "student": "Student's t"}
"""The tests of a pair of subtypes by their name in a frame, the one that is shown first; of shares it is mid-p."""
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
        label, unit, likelihood = (text_of(row[name]) for name in ("label", "unit", "likelihood"))
        return replace(self, label=translate(label), unit=unit, likelihood=likelihood, summaries=summaries, part=part)

    def tests(self, level: str | None) -> dict[tuple[int, int], Record]:
        """Return the test of a level by pair of subtypes, the smaller number first: of shares mid-p, or the t-test."""
        tests = self.among.tests.get((self.name, level), {})
        return {pair: next(by_name[test] for test in OF_PAIRS if test in by_name) for pair, by_name in tests.items()}

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
    def levels(self) -> dict[str | None, dict[int, Record]]:
        """The counts of each level of a scale that is counted level by level; empty for other features."""
        return {} if self.part is not None else self.among.levels.get(self.name, {})

    @property
    def any_level(self) -> dict[int, Record]:
        """Summaries of the first level by subtype. All levels have the same `n` and `missing`."""
        return next(iter(self.summaries.values()))


class Compared(ComparisonsFrame):
    """A comparisons frame as the subtype table shows it; ValueError if it is no such frame."""

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
        return any((min(a, b), max(a, b)) in pairs for pairs in self.tests.values())


def text_of(value: object) -> str:
    """Return a value of a frame as text; "" if it is missing."""
    return "" if is_missing(value) else str(value)


# The summary of a feature in a group of subjects, with its decimals.

Summary: TypeAlias = Literal["n", "mean", "median"]

NOTHING = "–"

# |mean - median| / SD of a distribution with skewness 1 is .16 for a gamma and .15 for a lognormal distribution.
_SKEWED = 0.15
SDS_BETWEEN_QUARTILES = 1.349  # interquartile range of a normal distribution, in standard deviations
_FEW_SUBJECTS = 100
_FEW_LEVELS = 7  # those of most rating scales (Likert 1932, Archives of Psychology 140)
_QUANTITIES: dict[Summary, tuple[str, ...]] = {
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
    """Return the default summary: the usual one, but the mean if every group has the same median, such as 0 falls."""
    summary = _choose_summary(feature)
    medians, means = ([record[name] for record in feature.any_level.values()] for name in ("median", "mean"))
    is_hidden = all(median == medians[0] for median in medians) and any(mean != means[0] for mean in means)
    return "mean" if summary == "median" and is_hidden else summary


def _choose_summary(feature: ComparedFeature) -> Summary:
    """Return the summary of the likelihood, the counts of a scale that has them.

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
    values: list[Any] = [record.get(name) for name in _QUANTITIES[summary]]
    numbers = [None if is_missing(value) else float(value) for value in values]
    return None if is_suppressed(record) and None in numbers else numbers


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
        return f"{first} {print_quartiles(*others)}"
    is_percent = summary == "n" and others[0] != NOTHING and not WORDS["numbers"]["bare_cells"]
    return f"{first} ({others[0]}{print_figure('%') if is_percent else ''})"


def print_quartiles(q1: str, q3: str) -> str:
    """Return two quartiles in brackets: [1.2, 6.0], or (1.2-6.0) in a journal; "to" instead of a dash if one is < 0."""
    marks = WORDS["numbers"]
    limits = f"{q1}{marks['range'] or marks['between']}{q3}"
    if marks["range"] == "to" or (marks["range"] and "\N{MINUS SIGN}" in limits):
        limits = WORDS["answer"]["from_to"].format(least=q1, most=q3)
    return str(limits.join(marks["brackets"]))


def p_text(p: float) -> str:
    """Return p as journals print it: <0.001, with three decimals below 0.1, with two decimals above, or >0.99."""
    marks = WORDS["numbers"]
    most = 2 + len(marks["p_below"])
    if p < 10.0**-most:
        text = f"<{10.0**-most:.{most}f}"
    else:
        text = ">0.99" if p > 0.99 else f"{p:.{2 + sum(p < bound for bound in marks['p_below'])}f}"
    return print_figure(text if marks["p_zero"] else text.replace("0.", ".", 1))


def print_level(level: str) -> str:
    """Return a level as the table prints it: 2 for 2.0, as programs write a code where another row has none."""
    return re.sub(r"^(\d+)\.0+$", r"\1", level)
