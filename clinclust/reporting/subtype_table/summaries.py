"""A comparisons frame feature by feature, and the summary of a feature in a group of subjects with its decimals."""

from __future__ import annotations

import math
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
from clinclust.reporting.layout import Kind, number_text
from clinclust.roles import is_described

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
        is_plain = level is None or (self.traits.is_yes_no and level.casefold() in _PLAIN_YES)
        return "" if is_plain else f": {level}"

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
        """Return Welch's t-tests of a level by pair of subtypes, the smaller number first."""
        tests = self.among.tests.get((self.name, level), {})
        return {pair: by_name["welch"] for pair, by_name in tests.items() if "welch" in by_name}

    @property
    def traits(self) -> type[Likelihood]:
        """The likelihood class of the feature."""
        return traits_of(self.likelihood)

    @property
    def has_shares(self) -> bool:
        """Whether the means of the feature are shares of subjects, because it is yes/no or has levels."""
        return self.traits.is_share

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

SUMMARY_TEXT: dict[Summary, str] = {
    "n": "n (%)",
    "mean": "mean (SD)",
    "median": "median [Q1, Q3]",
}
NOTHING = "–"

# |mean - median| / SD of a distribution with skewness 1 is .16 for a gamma and .15 for a lognormal distribution.
_SKEWED = 0.15
SDS_BETWEEN_QUARTILES = 1.349  # interquartile range of a normal distribution, in standard deviations
_FEW_SUBJECTS = 100
SUMMARY_QUANTITIES: dict[Summary, tuple[str, ...]] = {
    "n": ("count", "percent"),
    "mean": ("mean", "sd"),
    "median": ("median", "q1", "q3"),
}


def possible_summaries(feature: ComparedFeature) -> tuple[Summary, ...]:
    """Return the summaries that are possible for a feature."""
    return ("n", "mean") if feature.has_shares else ("mean", "median")


def default_summary(feature: ComparedFeature) -> Summary:
    """Return the default summary: that of the likelihood, or the median if values are skewed, else the mean."""
    if feature.is_in_parts and feature.part != "spike":
        return "median"
    if feature.traits.summary is not None:
        return feature.traits.summary
    test = feature.contrast.get("test")
    if not is_missing(test):
        return "median" if test in ("Mann-Whitney", "Kruskal-Wallis") else "mean"
    if feature.traits.is_skewed or feature.traits.contrasts[0] == "rank":
        return "median"
    if feature.traits.is_scale:
        return "mean"
    overall = feature.any_level[ALL_SUBJECTS]
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
        return decimals_in(feature.any_level, is_scored=feature.has_shares or feature.traits.is_scale)
    quartiles = [parts(record, summary) for record in feature.any_level.values()]
    if all(value == round(value) for found in quartiles if found for value in found if value is not None):
        return 0
    if overall["whole"]:  # quartiles of whole numbers are whole, or lie between two of them
        return 1
    return decimals_for((_number(overall["q3"]) - _number(overall["q1"])) / SDS_BETWEEN_QUARTILES)


def _number(value: Any) -> float:
    return math.nan if is_missing(value) else float(value)


def summary_text(record: Record, summary: Summary, decimals: int) -> str:
    """Return the text of a cell as papers print it: 12 (34.3%), 1.42 (0.88), 3.1 [1.2, 6.0]."""
    found = parts(record, summary)
    if found is None:
        return WITHHELD
    if found[0] is None:
        return NOTHING
    places_of = (0, decimals) if summary == "n" else (decimals,) * 3
    kinds: tuple[Kind, ...] = ("0" if summary == "n" else "measure", "measure", "measure")
    first, *others = (
        # A true minus sign, because a spreadsheet program reads a csv field that begins with a hyphen as a formula.
        NOTHING if value is None else number_text(value, kind, places).replace("-", "\N{MINUS SIGN}", 1)
        for value, kind, places in zip(found, kinds, places_of, strict=False)
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
