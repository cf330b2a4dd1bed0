"""Rounding: counts to multiples of a base, means to the decimals that reports print, and quartiles to steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.comparisons.frame import decimals_of_mean
from clinclust.disclosure.counts import FeatureCounts
from clinclust.likelihoods import traits_of


def rounded(count: NDArray[np.float64], base: int) -> NDArray[np.float64]:
    """Return counts rounded to the nearest multiple of `base`; a tie is rounded up."""
    return np.asarray(np.floor((count + base // 2) / base) * base)


def rounding_error(base: int | None) -> tuple[int, int]:
    """Return how far below and how far above a rounded count the true count can be; (0, 0) without rounding."""
    return (0, 0) if base is None else (base // 2, base - 1 - base // 2)


def printed(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Return values rounded as reports print them: by decimal formatting of the exact binary number."""
    return np.array([float(f"{value:.{decimals}f}") for value in values.ravel()]).reshape(values.shape)


_STEPS_TO_A_QUARTER = 4.0


def step_of_quartiles(q1: float, q3: float) -> float | None:
    """Return the step of quartiles: 1, 2 or 5 times a power of ten, at most (q3 - q1) / 4; None if these are equal."""
    room = (q3 - q1) / _STEPS_TO_A_QUARTER
    if not 0.0 < room < math.inf:
        return None
    power = 10.0 ** math.floor(math.log10(room))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= room * (1.0 + 1e-9))


def rounded_quartiles(of_order: Sequence[Array], least: float = 0.0) -> list[Array]:
    """Return the medians, q1 and q3 of a feature, each (1, G), rounded by the first group whose quartiles are shown.

    With steps of at least the distance of possible values, no value between two of these tells whether n is even.
    """
    _, q1, q3 = of_order
    shown = np.flatnonzero(np.isfinite(q1[0]) & np.isfinite(q3[0]) & (q3[0] > q1[0]))
    step = step_of_quartiles(float(q1[0, shown[0]]), float(q3[0, shown[0]])) if shown.size else None
    if step is None:
        return list(of_order)
    step = max(step, least)
    decimals = max(0, 2 - math.floor(math.log10(step)))
    return [np.round(np.round(values / step) * step, decimals) for values in of_order]


def _decimals_for_every_n(counts: FeatureCounts, n: Array, base: int, fewest: int) -> int:
    """Return the most decimals with which every n that rounds to those given can have the printed mean and SD.

    Means of n values on a grid lie its step over n apart, and their SDs, with the same mean, the squared step over
    (n - 1) SD. Of values on an unknown grid, the SD takes the place of the step: few are recorded in coarser steps.
    """
    error = rounding_error(base)[0] * (2 if counts.part == "rest" else 1)  # n of the rest is a difference of two
    shown = (n[1:] - error >= fewest) & np.isfinite(counts.sd[0, 1:])  # not from the SD of all, which is withheld
    spreads, fewest_n = counts.sd[0, 1:][shown], (n[1:] - error)[shown]
    decimals = decimals_of_mean(spreads.tolist(), is_scored=traits_of(counts.likelihood).is_scale)
    spreads = printed(spreads, decimals)
    spread = spreads > 0.0
    if not spread.any():
        return decimals
    step = counts.grid[1] if counts.is_whole else spreads.max()
    apart = step / fewest_n.min()
    if counts.is_whole:
        apart = max(apart, (step**2 / ((fewest_n - 1.0) * spreads)[spread]).max())
    return min(decimals, max(0, math.floor(-math.log10(apart))))


def rounded_counts(counts: FeatureCounts, base: int, fewest: int = 2) -> FeatureCounts:
    """Return a feature with counts rounded to multiples of `base`, without the SD of counts of events.

    Means and SDs have the decimals that all n allow which round to the same; groups of fewer than `fewest` have none.
    """
    # A level without a count would show that n is exactly 0.
    of_levels = np.where(counts.n == 0, 0.0, counts.count) if counts.is_share else counts.count
    n, missing, count = (rounded(values, base) for values in (counts.n, counts.missing, of_levels))
    if counts.is_share:
        share = _quotient(np.minimum(count, n), n)
        sd = np.sqrt(share * (1.0 - share) * _quotient(n, n - 1.0))
        return replace(counts, n=n, missing=missing, count=count, percent=100.0 * share, mean=share, sd=sd)
    decimals = _decimals_for_every_n(counts, n, base, max(fewest, 2))
    mean, sd = printed(counts.mean, decimals), printed(counts.sd, decimals)
    if counts.has_total:
        mean, sd = _quotient(rounded(np.rint(counts.mean * counts.n), base), n), np.full_like(sd, np.nan)
        decimals = 2
    return replace(counts, n=n, missing=missing, mean=mean, sd=sd, decimals=decimals)


def _quotient(part: Array, whole: Array) -> Array:
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
