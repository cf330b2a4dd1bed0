"""What is compared (a feature, or one level of it) and its summary in each group of subjects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature, FeatureSchema

__all__ = ["SUMMARY", "Measure", "measures", "summarise", "whole_features"]

SUMMARY = ("n", "missing", "mean", "deviation", "variance", "median", "q1", "q3")
_QUARTILES = np.array([0.25, 0.5, 0.75])


@dataclass(frozen=True)
class Measure:
    """One thing that can be averaged over subjects.

    Attributes
    ----------
    feature : Feature
    level : str or None
        The answer whose share is taken, for Bernoulli and categorical features.
    scores : ndarray, shape (N,)
        Numbers, NaN where missing; 1 and 0 (has this answer or not) when there is a level.
    """

    feature: Feature
    level: str | None
    scores: NDArray[np.float64]

    @property
    def scale(self) -> tuple[float, float]:
        """Lowest and highest possible score of a scale, otherwise NaN."""
        trials = self.feature.n_trials
        if not self.feature.traits.is_scale or trials is None:
            return (np.nan, np.nan)
        return (self.feature.lowest, self.feature.lowest + trials)

    @property
    def is_whole(self) -> bool:
        """Whether every observed value is a whole number, whatever the likelihood."""
        observed = self.scores[~np.isnan(self.scores)]
        return bool((observed == np.floor(observed)).all())

    @property
    def centre(self) -> float:
        """A value near the others of a feature whose values may all lie far from 0; 0 for everything else."""
        observed = self.scores[~np.isnan(self.scores)] if self.feature.traits.is_real else self.scores[:0]
        return float(observed[0]) if observed.size else 0.0


def whole_features(frame: pd.DataFrame, schema: FeatureSchema) -> Iterator[Measure]:
    """Each feature to compare in a validated frame by its scores, in schema order, without a level."""
    for feature in schema:
        if feature.role in ("cluster", "describe"):
            yield Measure(feature, None, feature.scores(frame[feature.name]))


def measures(features: Iterable[Measure]) -> Iterator[Measure]:
    """Everything to average, from whole features.

    A categorical feature gives one measure per level, as Table 3 of the paper does with "Resting tremor
    (absent)".
    """
    for whole in features:
        feature, scores = whole.feature, whole.scores
        if feature.traits.is_nominal:
            for code, level in enumerate(feature.levels or ()):
                yield Measure(feature, level, np.where(np.isnan(scores), np.nan, scores == code))
        else:
            yes = (feature.levels or ("0", "1"))[1] if feature.traits.is_yes_no else None
            yield Measure(feature, yes, scores)


def summarise(measure: Measure, groups: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Summaries of the values of `measure` in each group of rows.

    Parameters
    ----------
    measure : Measure
    groups : sequence of ndarray
        Row numbers of each group.

    Returns
    -------
    ndarray, shape (number of groups, 8)
        Columns as in `SUMMARY`. The deviation is the mean less `measure.centre`: two of them can be compared where
        means of large numbers would be rounded. The variance has denominator n - 1; quartiles interpolate linearly.
    """
    centre = measure.centre
    return np.array([_summary(measure.scores[rows], centre) for rows in groups])


def _summary(values: NDArray[np.float64], centre: float) -> tuple[float, ...]:
    observed = values[~np.isnan(values)]
    n = len(observed)
    missing = len(values) - n
    if n == 0:
        return (0, missing, *[np.nan] * 6)
    observed.sort()
    if observed[0] == observed[-1]:
        # Exactly no spread, even where the mean rounds (that of three times 0.1 lies above 0.1).
        value = observed[0]
        return (n, missing, value, value - centre, 0.0 if n > 1 else np.nan, value, value, value)
    with np.errstate(all="ignore"):
        from_centre = observed - centre
        deviation, variance = from_centre.mean(), from_centre.var(ddof=1)
        # numpy.quantile, five times as fast on small samples; there are thousands of them.
        position = _QUARTILES * (n - 1)
        lower, upper = observed[position.astype(int)], observed[np.ceil(position).astype(int)]
        q1, median, q3 = lower + position % 1 * (upper - lower)
    # Squares that no double can hold (deviations near 1e-170 or 1e160) leave nothing to test with.
    variance = variance if 0 < variance < np.inf else np.nan
    return (n, missing, centre + deviation, deviation, variance, median, q1, q3)
