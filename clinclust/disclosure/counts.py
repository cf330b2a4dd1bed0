"""The numbers of one feature as a table of counts: rows are levels and missing values, columns groups of subjects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame, Record, decimals_in, is_missing
from clinclust.likelihoods import traits_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_SUBJECTS", "FeatureCounts", "feature_counts"]


_NUMBERS = ("n", "missing", "count", "percent", "mean", "sd")


@dataclass(frozen=True)
class FeatureCounts:
    """The numbers shown of one feature in G groups (all subjects, then each subtype); NaN where a number is withheld.

    L is the number of levels in the frame: one for a yes/no feature; without levels, L = 1 and there are no counts.
    `places` (L, G) are row numbers in the frame; `n` and `missing` (G,) and `count`, `percent`, `mean` and `sd` (L, G)
    its columns. `scale` are the ends of a scale, or NaN; `grid` is the origin and the step of the possible values, and
    `is_whole` whether all values are on it (False for features counted by level).
    """

    name: str
    likelihood: str
    levels: tuple[str, ...]
    subtypes: tuple[int, ...]
    places: NDArray[np.int64]
    n: Array
    missing: Array
    count: Array
    percent: Array
    mean: Array
    sd: Array
    scale: tuple[float, float]
    decimals: int
    is_whole: bool
    grid: tuple[float, float] = (0.0, 1.0)
    part: str | None = None

    def given_point_masses(self, first: FeatureCounts) -> FeatureCounts:
        """Return the numbers of the other values that can be shown with those of the point masses of the feature."""
        n = first.n - first.count[0] if first.is_yes_no else first.count[0]  # the first level is that of other values
        missing = first.missing + first.n - n
        unknown = np.isnan(n) | np.isnan(missing)
        unknown[ALL_SUBJECTS] |= unknown.any()
        levels = np.broadcast_to(unknown, self.mean.shape)
        shown = self.without(unknown, np.zeros_like(levels), levels)
        n, missing = np.maximum(n, 0.0), np.maximum(missing, 0.0)  # rounded counts need not agree
        mean = shown.mean
        if self.has_total:  # a mean is the total, which may be rounded, by the n that is shown
            mean = np.where(n > 0, mean * self.n / np.maximum(n, 1.0), np.nan)
        return replace(shown, n=np.where(unknown, np.nan, n), missing=np.where(unknown, np.nan, missing), mean=mean)

    @property
    def is_share(self) -> bool:
        """Whether subjects are counted by level, so that means are shares."""
        return bool(self.levels)

    @property
    def has_total(self) -> bool:
        """Whether the values are counts of events, whose total in a group is a count too."""
        return self.is_whole and traits_of(self.likelihood).is_count

    @property
    def is_yes_no(self) -> bool:
        """Whether one level is shown, and the count of the other follows by subtraction."""
        return traits_of(self.likelihood).is_yes_no

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows: each level (or ``observed``, for a feature without levels), then ``missing``."""
        if not self.is_share:
            return ("observed", "missing")
        other = (f"not {self.levels[0]}",) if self.is_yes_no else ()
        return (*self.levels, *other, "missing")

    @cached_property
    def table(self) -> Array:
        """The counts of `rows` by group, (R, G); NaN where a count is withheld, or is computed from one that is."""
        if not self.is_share:
            return np.vstack([self.n, self.missing])
        other = [self.n - self.count[0]] if self.is_yes_no else []
        return np.vstack([self.count, *other, self.missing])

    def withheld_groups(self, sizes: Mapping[int, int | None], rounding: int | None = None) -> set[int]:
        """Return the groups whose tests use a withheld number, or would give one; all if counts are rounded."""
        lacking = np.isnan(self.n) | (np.isnan(self.mean) & (self.n != 0)).any(axis=0)
        if self.is_share:
            lacking |= (np.isnan(self.count) & (self.n != 0)).any(axis=0)
        groups = {subtype for subtype, is_lacking in zip(self.subtypes, lacking.tolist(), strict=True) if is_lacking}
        if self.is_share and rounding is None:
            return groups
        if rounding is not None or any(sizes[group] is not None for group in groups):
            return set(self.subtypes)
        # What is compared with all others is compared with withheld subtypes too, whose means it would narrow.
        return groups | ({ALL_SUBJECTS} if groups else set())

    def of_groups_shown(self, sizes: Mapping[int, int | None]) -> FeatureCounts:
        """Return a copy with NaN for every group whose size is withheld, and then for all subjects too."""
        is_withheld = np.array([sizes[subtype] is None for subtype in self.subtypes])
        is_withheld[ALL_SUBJECTS] = is_withheld.any()
        levels = np.broadcast_to(is_withheld, self.mean.shape)
        return self.without(is_withheld, levels, levels)

    def without(self, n: NDArray[np.bool_], count: NDArray[np.bool_], mean: NDArray[np.bool_]) -> FeatureCounts:
        """Return a copy with NaN where a mask is true: of n and missing (G,), count (L, G), or mean and sd (L, G)."""
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
    """Yield the counts of each feature, both parts of one with point masses, in a frame with the index 0, 1, ...."""
    read = ComparisonsFrame(comparisons)
    for name, levels, part in _parts(read):
        first = next(iter(next(iter(levels.values())).values()))
        places = read.places(levels)
        values = {number: read.numbers(number, places) for number in _NUMBERS}
        traits = traits_of(str(first["likelihood"]))
        is_share = traits.is_share
        step = float(first["step"])  # NaN but for levels that are numbers
        grid = (float(first["minimum"]), step) if step > 0 else (0.0, 1.0)
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
            decimals=decimals_in(next(iter(levels.values())), is_scored=is_share or traits.is_scale),
            is_whole=not is_share and (bool(first["whole"]) or step > 0),
            grid=grid,
            part=part,
        )


def _parts(read: ComparisonsFrame) -> Iterator[tuple[str, dict[str | None, dict[int, Record]], str | None]]:
    """Yield each feature with its summaries by level; one with point masses twice, with those of each part."""
    for name, levels in read.summaries.items():
        first = next(iter(next(iter(levels.values())).values()))
        if is_missing(first.get("part")):
            yield name, levels, None
        else:
            yield name, {level: rows for level, rows in levels.items() if level is not None}, "spike"
            yield name, {None: levels[None]}, "rest"
