"""The numbers of one feature as a table of counts: levels and missing values in rows, groups of subjects in columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.decimals import decimals_of_mean
from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame
from clinclust.likelihoods import traits_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_SUBJECTS", "FeatureCounts", "feature_counts"]

Floats = NDArray[np.float64]

_NUMBERS = ("n", "missing", "count", "percent", "mean", "sd")


@dataclass(frozen=True)
class FeatureCounts:
    """What is shown of one feature, NaN where a number is withheld.

    G groups: all subjects first, then every subtype. L levels in the frame; a yes/no feature has one there and a
    second that everybody can subtract; a feature without levels has L = 1 row, without counts.

    Attributes
    ----------
    name, likelihood : str
    levels : tuple of str
        Empty for a feature without levels.
    subtypes : tuple of int
        Of the G groups; the first is 0.
    places : int64 (L, G)
        Rows of the frame.
    n, missing : float64 (G,)
    count, percent, mean, sd : float64 (L, G)
    scale : tuple of two float
        Ends of a binomial scale, otherwise NaN.
    decimals : int
        With which means and SDs are printed.
    is_whole : bool
        Whether every observed value is a whole number, so that sums of values are; likelihood and unit do not tell.
    """

    name: str
    likelihood: str
    levels: tuple[str, ...]
    subtypes: tuple[int, ...]
    places: NDArray[np.int64]
    n: Floats
    missing: Floats
    count: Floats
    percent: Floats
    mean: Floats
    sd: Floats
    scale: tuple[float, float]
    decimals: int
    is_whole: bool

    @property
    def is_share(self) -> bool:
        """Whether subjects are counted by level."""
        return bool(self.levels)

    @property
    def _is_yes_no(self) -> bool:
        return traits_of(self.likelihood).is_yes_no

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Cells of a group that are told apart: every level (or all observed values), then the missing ones."""
        if not self.is_share:
            return ("observed", "missing")
        other = (f"not {self.levels[0]}",) if self._is_yes_no else ()
        return (*self.levels, *other, "missing")

    @cached_property
    def table(self) -> Floats:
        """Counts of `rows` by group, (R, G); NaN where a count is withheld or follows from one that is."""
        if not self.is_share:
            return np.vstack([self.n, self.missing])
        other = [self.n - self.count[0]] if self._is_yes_no else []
        return np.vstack([self.count, *other, self.missing])

    def withheld_groups(self, sizes: Mapping[int, int | None], rounding: int | None = None) -> set[int]:
        """Return the groups of which no test can be shown: a number that it is made of is withheld, or rounded.

        Their exact means and SDs would sharpen the rounded ones, which bind the counts of all groups with a known size.
        """
        lacking = np.isnan(self.n) | (np.isnan(self.mean) & (self.n != 0)).any(axis=0)
        if self.is_share:
            lacking |= (np.isnan(self.count) & (self.n != 0)).any(axis=0)
        groups = {subtype for subtype, is_lacking in zip(self.subtypes, lacking.tolist(), strict=True) if is_lacking}
        if rounding is not None or (not self.is_share and any(sizes[group] is not None for group in groups)):
            return set(self.subtypes)
        return groups

    def without(self, n: NDArray[np.bool_], count: NDArray[np.bool_], mean: NDArray[np.bool_]) -> FeatureCounts:
        """Return the same with NaN where these are true; percentages need both their counts."""
        return replace(
            self,
            n=np.where(n, np.nan, self.n),
            missing=np.where(n, np.nan, self.missing),
            count=np.where(count, np.nan, self.count),
            percent=np.where(count | n, np.nan, self.percent),
            mean=np.where(mean, np.nan, self.mean),
            sd=np.where(mean, np.nan, self.sd),
        )


def feature_counts(comparisons: pd.DataFrame) -> Iterator[FeatureCounts]:
    """Yield the counts of every feature in a frame of `compare_subtypes`, whose rows are numbered from 0."""
    read = ComparisonsFrame(comparisons)
    for name, levels in read.summaries.items():
        first = next(iter(next(iter(levels.values())).values()))
        places = read.places(levels)
        values = {number: read.numbers(number, places) for number in _NUMBERS}
        traits = traits_of(str(first["likelihood"]))
        is_share = traits.is_share
        yield FeatureCounts(
            name=name,
            likelihood=str(first["likelihood"]),
            levels=tuple(map(str, levels)) if is_share else (),
            subtypes=(ALL_SUBJECTS, *read.subtypes),
            places=places,
            n=values["n"][0],
            missing=values["missing"][0],
            count=values["count"],
            percent=values["percent"],
            mean=values["mean"],
            sd=values["sd"],
            scale=(float(first["minimum"]), float(first["maximum"])),
            decimals=decimals_of_mean(values["sd"][0].tolist(), is_scored=is_share or traits.is_scale),
            is_whole=not is_share and bool(first["whole"]),
        )
