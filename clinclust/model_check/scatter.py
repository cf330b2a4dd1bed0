"""Statistics of how the values of a feature scatter inside clusters, of the observed and of replicated values at once.

Each statistic is computed from the residuals of the values from the means of their clusters, so that it does not depend
on where the clusters lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Statistic", "Values", "statistics_of"]

Array = NDArray[np.float64]

_FAR = 3.0
"""Standard deviations from the mean of its cluster from which on a value is far."""


class Values(NamedTuple):
    """Values of one feature in R replicates, or the observed ones (R = 1)."""

    values: Array
    """(R, n) on the scale of the model."""
    residuals: Array
    """(R, n) less the mean of the cluster in the same replicate."""


class Statistic(NamedTuple):
    """A statistic, and what it says for a reader."""

    name: str
    words: str
    """Completes "inside the subtypes, ..."; what is observed, and what the likelihood expects."""
    compute: Callable[[Values], Array]
    """Takes `Values`, returns float64 (R,)."""


def values_in(values: Array, clusters: NDArray[np.int64]) -> Values:
    """Return values, float64 (R, n), with their residuals from the means of their clusters, int64 (n,)."""
    members = np.zeros((clusters.size, int(clusters.max()) + 1))
    members[np.arange(clusters.size), clusters] = 1.0
    means = (values @ members) / np.maximum(members.sum(axis=0), 1.0)
    return Values(values, values - means[:, clusters])


def statistics_of(*, is_count: bool, is_scale: bool, is_real: bool, lowest: float, highest: float) -> list[Statistic]:
    """Return what is checked of a feature, by the kind of its values; nothing of levels that have any distribution.

    Parameters
    ----------
    is_count, is_scale, is_real : bool
        The traits of the likelihood.
    lowest, highest : float
        The steps at the ends of a scale.
    """
    found = [Statistic("scatter", "the values vary {observed:.3g} (variance), expected {expected:.3g}", _variance)]
    if is_count:
        found.append(Statistic("zeros", "{observed:.1%} of the values are 0, expected {expected:.1%}", _zeros))
    if is_scale:

        def ends(of: Values) -> Array:
            return np.asarray(((of.values <= lowest) | (of.values >= highest)).mean(axis=1))

        words = "{observed:.1%} of the values lie at an end of the scale, expected {expected:.1%}"
        found.append(Statistic("ends", words, ends))
    if not is_scale:
        words = "{observed:.1%} of the values lie 3 SD and more from their mean, expected {expected:.1%}"
        found.append(Statistic("tails", words, _far))
    if is_real:
        words = "the values are skewed by {observed:.2f}, expected {expected:.2f}"
        found.append(Statistic("skewness", words, _skewness))
    return found


def _variance(of: Values) -> Array:
    return np.asarray((of.residuals**2).mean(axis=1))


def _zeros(of: Values) -> Array:
    return np.asarray((of.values == 0.0).mean(axis=1))


def _spread(of: Values) -> Array:
    return np.maximum(np.sqrt(_variance(of)), 1e-300)[:, None]


def _far(of: Values) -> Array:
    return np.asarray((np.abs(of.residuals) >= _FAR * _spread(of)).mean(axis=1))


def _skewness(of: Values) -> Array:
    return np.asarray(((of.residuals / _spread(of)) ** 3).mean(axis=1))
