"""Measures (features, or single levels of them) and their summaries in each group of subjects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.frame import ALL_SUBJECTS, Record, is_missing
from clinclust.comparisons.t_tests import Times, moments

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature, FeatureSchema

Columns = dict[str, tuple["pd.Series[Any]", "Rows"]]
"""The validated column of each feature, with its rows."""

SUMMARY = ("n", "missing", "mean", "deviation", "variance", "median", "q1", "q3")
_QUARTILES = np.array([0.25, 0.5, 0.75])


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a column, in groups."""

    group_of: NDArray[np.int64]
    """(R,) the group of each row, 0 to G - 1."""
    n_groups: int
    times: NDArray[np.int64] | None = None
    """(R,) the number of subjects that each row counts for; None = one."""

    @cached_property
    def groups(self) -> list[NDArray[np.intp]]:
        """The rows of all subjects, then those of each group."""
        of_each = [np.flatnonzero(self.group_of == group) for group in range(self.n_groups)]
        return [np.arange(self.group_of.size), *of_each]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(G,) the number of subjects in each group."""
        return np.array([self.number(rows) for rows in self.groups[1:]], dtype=np.int64)

    def number(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> int:
        """Return the number of subjects in some rows."""
        return np.arange(self.group_of.size)[rows].size if self.times is None else int(self.times[rows].sum())


@dataclass(frozen=True)
class Measure:
    """A feature, or one level of it, as `scores`, (R,), to average over subjects: 1 with the level, 0 without."""

    feature: Feature
    level: str | None
    scores: NDArray[np.float64]
    rows: Rows

    @property
    def part(self) -> str | None:
        """Which part of a feature with point masses it describes, ``"spike"`` or ``"rest"``; None for others."""
        if not self.feature.is_part:
            return None
        return "rest" if self.level is None else "spike"

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest possible value of a scale; (NaN, NaN) for other features."""
        return self.feature.ends or (np.nan, np.nan)

    @property
    def at_ends(self) -> int | None:
        """The number of subjects at the lowest or at the highest value of a scale, of the fewer; None for others."""
        if self.feature.ends is None:
            return None
        return min(self.rows.number(self.scores == end) for end in self.scale)

    @property
    def step(self) -> float:
        """The distance of which all differences of levels that are numbers are multiples; NaN for other features."""
        known = self.feature.level_numbers
        return np.nan if known is None else known.step

    @property
    def is_whole(self) -> bool:
        """Whether every observed value is a whole number, whatever the likelihood."""
        observed = self.scores[~np.isnan(self.scores)]
        return bool((observed == np.floor(observed)).all())

    @property
    def centre(self) -> float:
        """An observed value of a gaussian feature, whose values may all be far from 0; 0 for other features."""
        observed = self.scores[~np.isnan(self.scores)] if self.feature.traits.is_real else self.scores[:0]
        return float(observed[0]) if observed.size else 0.0


def whole_features(columns: Columns, schema: FeatureSchema) -> Iterator[Measure]:
    """Yield a measure without a level for each feature to compare, in schema order."""
    for feature in schema.reported:
        column, rows = columns[feature.name]
        yield Measure(feature, None, feature.described(column), rows)


def part_measures(columns: Columns, schema: FeatureSchema) -> Iterator[Measure]:
    """Yield a measure without a level for each part of the features to compare, in schema order (`Feature.parts`)."""
    for whole in whole_features(columns, schema):
        if whole.feature.point_masses:
            column, rows = columns[whole.feature.name]
            yield from (Measure(part, None, part.scores(column), rows) for part in whole.feature.parts)
        else:
            yield whole


def measures(features: Iterable[Measure]) -> Iterator[Measure]:
    """Yield a measure for each level of categorical, for the second level of Bernoulli, and for each other feature."""
    for whole in features:
        feature, scores = whole.feature, whole.scores
        if feature.traits.is_nominal:
            for code, level in enumerate(feature.levels or ()):
                yield replace(whole, level=level, scores=np.where(np.isnan(scores), np.nan, scores == code))
        else:
            yes = (feature.levels or ("0", "1"))[1] if feature.traits.is_yes_no else None
            yield replace(whole, level=yes)


def summarise(measure: Measure) -> NDArray[np.float64]:
    """Return the summaries, (1 + G, 8) with the columns of `SUMMARY`, of all values and of those of each group.

    The deviation is the mean minus `measure.centre`; the variance is NaN if a float64 cannot hold it.
    """
    centre, times = measure.centre, measure.rows.times
    return np.array(
        [_summary(measure.scores[rows], None if times is None else times[rows], centre) for rows in measure.rows.groups]
    )


def weighted(measure: Measure, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the summaries as `summarise`, each subject counted with its weight, float64 (N,), but n and missing.

    The variance is sum_i w_i (x_i - mean)^2 / sum_i w_i times n / (n - 1), a quantile the smallest value that the share
    of the weights reaches.
    """
    found = summarise(measure)
    for place, rows in enumerate(measure.rows.groups):
        known = ~np.isnan(measure.scores[rows])
        values, shares = measure.scores[rows][known], weights[rows][known]
        if not shares.sum() > 0.0:
            found[place, 2:] = np.nan
            continue
        shares = shares / shares.sum()
        from_centre = values - measure.centre
        deviation = float(shares @ from_centre)
        spread = float(shares @ (from_centre - deviation) ** 2)
        order = np.argsort(values, kind="stable")
        reached = np.searchsorted(np.cumsum(shares[order]), _QUARTILES * (1.0 - 1e-12))
        q1, median, q3 = values[order][np.minimum(reached, values.size - 1)]
        variance = spread * values.size / (values.size - 1) if values.size > 1 else np.nan
        found[place, 2:] = (measure.centre + deviation, deviation, variance, median, q1, q3)
    return found


def _summary(values: NDArray[np.float64], times: Times, centre: float) -> tuple[float, ...]:
    observed = ~np.isnan(values)
    n_all = len(values) if times is None else int(times.sum())
    values, times = values[observed], None if times is None else times[observed]
    n = len(values) if times is None else int(times.sum())
    missing = n_all - n
    if n == 0:
        return (0, missing, *[np.nan] * 6)
    if times is None:
        values.sort()
    else:
        order = np.argsort(values)
        values, times = values[order], times[order]
    if values[0] == values[-1]:
        # The variance is exactly 0, even if the computed mean is rounded (the mean of three 0.1 lies above 0.1).
        value = values[0]
        return (n, missing, value, value - centre, 0.0 if n > 1 else np.nan, value, value, value)
    # The same as numpy.quantile, but five times as fast on small samples, of which there are thousands.
    position = _QUARTILES * (n - 1)
    below, above = position.astype(int), np.ceil(position).astype(int)
    if times is not None:
        below, above = (np.searchsorted(times.cumsum(), ends, side="right") for ends in (below, above))
    with np.errstate(all="ignore"):
        deviation, variance = moments(values - centre, times)
        lower, upper = values[below], values[above]
        q1, median, q3 = lower + position % 1 * (upper - lower)
    # A float64 cannot hold the squares of deviations near 1e-170 or 1e160: no test is possible then.
    variance = variance if 0 < variance < np.inf else np.nan
    return (n, missing, centre + deviation, deviation, variance, median, q1, q3)


def decimals_for(spread: float) -> int:
    """Return the number of decimals that shows a mean to about a hundredth of `spread`, the SD; 2 if there is none."""
    if not 0 < spread < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(spread)))


def decimals_of_mean(spreads: Iterable[float], *, is_scored: bool) -> int:
    """Return the decimals of mean and SD in every group: 2 for shares and scores, else by the first finite spread."""
    return 2 if is_scored else decimals_for(next((spread for spread in spreads if math.isfinite(spread)), math.nan))


def decimals_in(records: Mapping[int, Record], *, is_scored: bool) -> int:
    """Return the decimals of mean and SD of a feature from its summaries by group; of a rounded frame as it says."""
    said: Any = records[ALL_SUBJECTS].get("decimals")
    if not is_missing(said):
        return int(said)
    spreads = (row["sd"] for _, row in sorted(records.items()))
    return decimals_of_mean((math.nan if is_missing(sd) else float(sd) for sd in spreads), is_scored=is_scored)
