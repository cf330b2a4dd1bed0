"""The sides of a comparison by their moments, and the effect that a comparison finds, elementwise on arrays."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Effect", "Side", "everybody_else", "pooled"]

Floats: TypeAlias = NDArray[np.float64]


class Side(NamedTuple):
    """One side of a comparison: observed counts, means, variances (denominator n - 1) of one shape."""

    n: Floats
    mean: Floats
    variance: Floats


class Effect(NamedTuple):
    """An effect size with its 95% confidence interval; NaN where there is none."""

    estimate: Floats
    lower: Floats
    upper: Floats


def pooled(a: Side, b: Side) -> Side:
    """Both sides as one.

    The sum of squares about the common mean is that of each side about its own, plus what their distance adds
    (Chan, Golub and LeVeque 1979): nothing is subtracted, so nothing cancels, and two sides without spread and of the
    same value have none together.
    """
    n = a.n + b.n
    with np.errstate(all="ignore"):
        distance = np.where((a.n > 0) & (b.n > 0), b.mean - a.mean, 0.0)
        mean = np.where(a.n > 0, a.mean, b.mean) + distance * (b.n / n)
        squares = _squares(a) + _squares(b) + distance**2 * (a.n * (b.n / n))
        variance = np.where(n > 1, squares / (n - 1), np.nan)
    return Side(n, np.where(n > 0, mean, np.nan), variance)


def everybody_else(groups: Side) -> Side:
    """For each group (last axis) all the other groups as one."""
    parts = [Side(*(moment[..., group] for moment in groups)) for group in range(groups.n.shape[-1])]
    nobody = Side(*(np.full(groups.n.shape[:-1], empty) for empty in (0.0, np.nan, np.nan)))
    before = [nobody, *accumulate(parts, pooled)]
    after = [nobody, *accumulate(reversed(parts), pooled)][::-1]
    others = [pooled(before[group], after[group + 1]) for group in range(len(parts))]
    return Side(*(np.stack(moment, axis=-1) for moment in zip(*others, strict=True)))


def _squares(side: Side) -> Floats:
    """Sum of squares about the mean; one subject alone has none, whatever its variance says."""
    squares: Floats = np.where(side.n > 1, side.variance * (side.n - 1), 0.0)
    return squares
