"""What is compared (a feature, or one level of it) and its summary in each group of subjects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature, FeatureSchema

__all__ = ["SUMMARY", "Measure", "measures", "summarise"]

SUMMARY = ("n", "missing", "mean", "variance", "median", "q1", "q3")
_QUARTILES = np.array([0.25, 0.5, 0.75])


@dataclass(frozen=True)
class Measure:
    """One thing that can be averaged over subjects.

    Attributes
    ----------
    feature : Feature
    level : str or None
        The answer whose share is taken, for Bernoulli and categorical features.
    values : ndarray, shape (N,)
        Numbers, NaN where missing; 1 and 0 (has this answer or not) when there is a level.
    """

    feature: Feature
    level: str | None
    values: NDArray[np.float64]

    @property
    def scale(self) -> tuple[float, float]:
        """Lowest and highest possible score of a binomial feature, otherwise NaN."""
        trials = self.feature.n_trials
        if self.feature.likelihood != "binomial" or trials is None:
            return (np.nan, np.nan)
        return (self.feature.lowest, self.feature.lowest + trials)


def measures(frame: pd.DataFrame, schema: FeatureSchema) -> Iterator[Measure]:
    """Everything to compare in a validated frame, in schema order.

    A categorical feature gives one measure per level, as Table 3 of the paper does with "Resting tremor
    (absent)".
    """
    for feature in schema:
        if feature.role not in ("cluster", "describe"):
            continue
        scores = feature.scores(frame[feature.name])
        if feature.likelihood == "categorical":
            for code, level in enumerate(feature.levels or ()):
                yield Measure(feature, level, np.where(np.isnan(scores), np.nan, scores == code))
        else:
            yes = (feature.levels or ("0", "1"))[1] if feature.likelihood == "bernoulli" else None
            yield Measure(feature, yes, scores)


def summarise(values: NDArray[np.float64], groups: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Summaries of `values` in each group of rows.

    Parameters
    ----------
    values : ndarray, shape (N,)
        NaN = missing.
    groups : sequence of ndarray
        Row numbers of each group.

    Returns
    -------
    ndarray, shape (number of groups, 7)
        Columns as in `SUMMARY`. The variance has denominator n - 1; quartiles interpolate linearly.
    """
    return np.array([_summary(values[rows]) for rows in groups])


def _summary(values: NDArray[np.float64]) -> tuple[float, ...]:
    observed = values[~np.isnan(values)]
    n = len(observed)
    missing = len(values) - n
    if n == 0:
        return (0, missing, *[np.nan] * 5)
    observed.sort()
    if observed[0] == observed[-1]:
        # Exactly no spread, even where the mean rounds (that of three times 0.1 lies above 0.1).
        value = observed[0]
        return (n, missing, value, 0.0 if n > 1 else np.nan, value, value, value)
    with np.errstate(all="ignore"):
        mean, variance = observed.mean(), observed.var(ddof=1)
        # numpy.quantile, five times as fast on small samples; there are thousands of them.
        position = _QUARTILES * (n - 1)
        lower, upper = observed[position.astype(int)], observed[np.ceil(position).astype(int)]
        q1, median, q3 = lower + position % 1 * (upper - lower)
    # Squares that no double can hold (deviations near 1e-170 or 1e160) leave nothing to test with.
    return (n, missing, mean, variance if 0 < variance < np.inf else np.nan, median, q1, q3)
