"""Quantiles of mixtures of predictives, and the shortest intervals of discrete ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.likelihoods import Likelihood

__all__ = ["mixture_cumulative", "mixture_quantiles", "shortest_intervals"]

Array = NDArray[np.float64]

_ROUNDING = 1e-12
"""A distribution function reaches a probability, but for the rounding errors of its sum."""
_MOST_STEPS = 2_000
"""Steps of the search of a root. It needs about ten, but more if the bracket is very wide."""
_EVERY, _SPARSE = 2_048, 1_024
"""Every count below the first number may be an end of an interval; of the larger ones, so many."""
_AT_ONCE = 4_000_000
"""Numbers of the distribution functions of several subjects that are held at once."""


def mixture_quantiles(likelihood: Likelihood, posteriors: Array, weights: Array, share: float) -> Array:
    """Return the smallest value of each mixture that is not exceeded with at least a probability, float64 (n,).

    It lies between the lowest and the highest such value of the parts.

    Parameters
    ----------
    likelihood : Likelihood
        Of a feature whose values have an order.
    posteriors : float64 (m, P)
        Posterior hyperparameters of each part.
    weights : float64 (n, m)
        Weight of each part for each subject; rows sum to 1.
    share : float
        The probability, above 0 and below 1.
    """
    used = weights > 0.0
    of_parts = np.array([likelihood.quantile(posterior, share) for posterior in posteriors])
    low = np.where(used, of_parts, np.inf).min(axis=1)
    high = np.where(used, of_parts, -np.inf).max(axis=1)
    if likelihood.is_continuous:
        return _roots(likelihood, posteriors, weights, share, low, high)
    while (low < high).any():
        middle = np.floor(low + (high - low) / 2.0)
        reached = mixture_cumulative(likelihood, posteriors, weights, middle) >= share - _ROUNDING
        low, high = np.where(reached, low, np.minimum(middle + 1.0, high)), np.where(reached, middle, high)
    return np.asarray(high, dtype=np.float64)


def _roots(likelihood: Likelihood, posteriors: Array, weights: Array, share: float, low: Array, high: Array) -> Array:
    """Return where the distribution functions of continuous mixtures reach a probability, between low and high (n,)."""
    from scipy.optimize import elementwise

    found, open_ = high.copy(), np.flatnonzero(low < high)
    # Rounding errors of the quantiles of the parts must not move the root out of the bracket.
    margin = 1e-9 * (high - low)[open_]
    bracket = (low[open_] - margin, high[open_] + margin)

    def excess(values: Array, rows: Array) -> Array:
        here = open_[rows.astype(np.int64)]
        return mixture_cumulative(likelihood, posteriors, weights[here], values) - share

    if open_.size:
        rows = np.arange(float(open_.size))
        result = elementwise.find_root(excess, bracket, args=(rows,), maxiter=_MOST_STEPS)
        found[open_] = np.clip(result.x, low[open_], high[open_])
    return found


def mixture_cumulative(likelihood: Likelihood, posteriors: Array, weights: Array, values: Array) -> Array:
    """Return P(x <= value) of the mixture of each subject, float64 (n,); equal values are computed once.

    Parameters
    ----------
    likelihood : Likelihood
    posteriors : float64 (m, P)
    weights : float64 (n, m)
    values : float64 (n,)
    """
    different, place = np.unique(values, return_inverse=True)
    total = np.zeros(values.size)
    for part in np.flatnonzero((weights > 0.0).any(axis=0)):
        total += weights[:, part] * likelihood.cumulative(posteriors[part], different)[place]
    return total


def shortest_intervals(
    likelihood: Likelihood, posteriors: Array, weights: Array, level: float, highest: float | None
) -> tuple[Array, Array]:
    """Return the ends of the shortest intervals of a discrete feature that hold at least a probability, float64 (n,).

    Of several equally short ones it is the most probable. Of counts above some thousands, not every one is tried as an
    end; the interval then is a little longer, and holds at least the probability too.

    Parameters
    ----------
    likelihood : Likelihood
        Of a feature whose values are whole numbers from 0 on.
    posteriors : float64 (m, P)
    weights : float64 (n, m)
    level : float
        The probability, above 0 and below 1.
    highest : float or None
        The highest value, if there is one.
    """
    ends = _possible_ends(likelihood, posteriors, weights, level, highest)
    up_to = np.array([likelihood.cumulative(posterior, ends) for posterior in posteriors])
    below = np.concatenate([np.zeros((len(posteriors), 1)), up_to[:, :-1]], axis=1)
    gaps = np.flatnonzero(np.diff(ends) > 1.0) + 1
    if gaps.size:
        below[:, gaps] = [likelihood.cumulative(posterior, ends[gaps] - 1.0) for posterior in posteriors]
    lower, upper = np.zeros(len(weights)), np.full(len(weights), ends[-1])  # a tail may be too long for any interval
    at_once = max(1, _AT_ONCE // ends.size)
    for first in range(0, len(weights), at_once):
        rows = slice(first, first + at_once)
        for row, (reached, before) in enumerate(zip(weights[rows] @ up_to, weights[rows] @ below, strict=True), first):
            last = np.searchsorted(reached, before + level - _ROUNDING)
            begins = np.flatnonzero(last < ends.size)
            if begins.size:
                last = last[begins]
                best = np.lexsort((before[begins] - reached[last], ends[last] - ends[begins]))[0]
                lower[row], upper[row] = ends[begins[best]], ends[last[best]]
    return lower, upper


def _possible_ends(
    likelihood: Likelihood, posteriors: Array, weights: Array, level: float, highest: float | None
) -> Array:
    """Return the values that may be ends of the shortest intervals, ascending from 0.

    The shortest interval is not longer than that between equal tails, and begins at most where only `level` is left.
    """
    if highest is not None:
        return np.arange(highest + 1.0)
    tails = mixture_quantiles(likelihood, posteriors, weights, (1.0 + level) / 2.0)
    longest = tails - mixture_quantiles(likelihood, posteriors, weights, (1.0 - level) / 2.0)
    top = float((mixture_quantiles(likelihood, posteriors, weights, 1.0 - level) + longest).max())
    top = max(top, float(tails.max()))
    if top < _EVERY:
        return np.arange(top + 1.0)
    return np.union1d(np.arange(float(_EVERY)), np.ceil(np.geomspace(_EVERY, top, _SPARSE)))
