"""The two sides of a comparison, given by their moments, and its result, an effect size; elementwise on arrays."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Effect", "Side", "everybody_else", "pooled"]

Floats: TypeAlias = NDArray[np.float64]


class Side(NamedTuple):
    """One side of a comparison: numbers of observed values, means, variances (denominator n - 1), all of one shape."""

    n: Floats
    mean: Floats
    variance: Floats


class Effect(NamedTuple):
    """An effect size and the ends of its 95% confidence interval; NaN where they do not exist."""

    estimate: Floats
    lower: Floats
    upper: Floats


def pooled(a: Side, b: Side) -> Side:
    """Return both sides merged into one.

    The sum of squares about the common mean is the sum of squares of each side about its own mean, plus
    (m_b - m_a)^2 n_a n_b / n (Chan, Golub and LeVeque 1979). Only terms that are not negative are added, so there is no
    cancellation: two sides with the same single value have variance exactly 0 together.
    """
    n = a.n + b.n
    with np.errstate(all="ignore"):
        distance = np.where((a.n > 0) & (b.n > 0), b.mean - a.mean, 0.0)
        mean = np.where(a.n > 0, a.mean, b.mean) + distance * (b.n / n)
        squares = _squares(a) + _squares(b) + distance**2 * (a.n * (b.n / n))
        variance = np.where(n > 1, squares / (n - 1), np.nan)
    return Side(n, np.where(n > 0, mean, np.nan), variance)


def everybody_else(groups: Side) -> Side:
    """Return, for each group (last axis), all other groups merged into one side."""
    parts = [Side(*(moment[..., group] for moment in groups)) for group in range(groups.n.shape[-1])]
    nobody = Side(*(np.full(groups.n.shape[:-1], empty) for empty in (0.0, np.nan, np.nan)))
    before = [nobody, *accumulate(parts, pooled)]
    after = [nobody, *accumulate(reversed(parts), pooled)][::-1]
    others = [pooled(before[group], after[group + 1]) for group in range(len(parts))]
    return Side(*(np.stack(moment, axis=-1) for moment in zip(*others, strict=True)))


def _squares(side: Side) -> Floats:
    """Return the sum of squares about the mean; 0 for fewer than two values, whose variance may be NaN."""
    squares: Floats = np.where(side.n > 1, side.variance * (side.n - 1), 0.0)
    return squares
