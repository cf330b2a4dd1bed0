"""Beta(a, b): the prior of a probability (Bernoulli, binomial and geometric likelihoods).

Statistics of a cluster: the sums of what each subject adds to a and to b.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, psi

from clinclust.compiled import inlined, subkernel
from clinclust.priors.rising_factorial import FEW, LOW, log_rising

__all__ = [
    "NAMES",
    "few_trials",
    "has_few_trials",
    "log_marginal",
    "log_marginal_gradient",
    "log_normalizer",
    "other_levels",
    "posterior",
]

Array = NDArray[np.float64]

NAMES = ("a", "b")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return (a, b) after the statistics; both arrays have shape (..., 2)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A(a, b) = ln B(a, b), shape (...), of parameters of shape (..., 2)."""
    return np.asarray(betaln(parameters[..., 0], parameters[..., 1]), dtype=np.float64)


@subkernel
def log_marginal(a: float, b: float, s: float, t: float) -> float:
    """Return A(posterior) - A(prior) of one cluster: what `log_normalizer` says, for kernels."""
    if s + t == 0.0:
        return 0.0
    after = math.lgamma(a + s) + math.lgamma(b + t) - math.lgamma(a + s + b + t)
    return after - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by (a, b); all arrays have shape (..., 2).

    With psi = (ln Gamma)', dA/da = psi(a) - psi(a + b).
    """

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)


@inlined
def has_few_trials(level_statistics: Array, start: int) -> bool:
    """Say whether the feature whose levels begin at row `start` is a binomial of at most FEW trials: see `few_trials`.

    Level x of a binomial adds (x, n - x) to (a, b), x = 0 .. n; value x of a geometric adds (1, x).
    """
    return bool(level_statistics[start, 0] == 0.0 and level_statistics[start, 1] <= FEW)


@inlined
def few_trials(
    a: float,
    b: float,
    s: float,
    t: float,
    start: int,
    stop: int,
    level_log_base: Array,
    predictive: Array,
    left_out: Array,
    work: Array,
) -> None:
    """Fill the log predictive of every level of a binomial under one cluster, each as ln of a number plus another.

    C(n, x) a^(x) b^(n - x) / (a + b)^(n), with x^(n) the rising factorial. The number is a product of so few factors
    that it keeps its digits, so that the logarithms of all levels can be taken at once (`clinclust.engine.lanes`).
    Arrays are those of all R levels of all features, because to take a part of an array costs more than to fill it.

    Parameters
    ----------
    a, b : float
        Hyperparameters of the prior.
    s, t : float
        The cluster's statistics.
    start, stop : int
        The feature's levels 0 .. n are rows start .. stop - 1.
    level_log_base : float64 (R,)
        Log base measure of each level.
    predictive : float64 (2, R), modified in place
        log p(level | cluster) = ln predictive[0] + predictive[1].
    left_out : float64 (2, R), modified in place
        The same for the cluster without one subject at that level; 1 and 0 where it cannot hold such a subject.
    work : float64 (4, FEW + 1), overwritten
    """
    a += s
    b += t
    n = stop - start - 1
    for product in range(4):
        work[product, 0] = 1.0
    above = below = 1.0
    for j in range(n):
        work[0, j + 1] = work[0, j] * (a + j)
        work[1, j + 1] = work[1, j] * (b + j)
        work[2, j + 1] = work[2, j] * (a - 1.0 - j)
        work[3, j + 1] = work[3, j] * (b - 1.0 - j)
        above *= a + b + j
        below *= a + b - 1.0 - j
    above = 1.0 / above
    below = 1.0 / below
    for x in range(n + 1):
        row = start + x
        predictive[0, row] = work[0, x] * work[1, n - x] * above
        predictive[1, row] = level_log_base[row]
        holds = s >= x and t >= n - x
        left_out[0, row] = work[2, x] * work[3, n - x] * below if holds else 1.0
        left_out[1, row] = level_log_base[row] if holds else 0.0


@subkernel
def other_levels(
    a: float,
    b: float,
    s: float,
    t: float,
    start: int,
    stop: int,
    level_statistics: Array,
    level_log_base: Array,
    predictive: Array,
    left_out: Array,
) -> None:
    """Fill what `few_trials` fills for a geometric, or for a binomial of many trials.

    `level_statistics`, float64 (R, 2), holds what one subject at each level adds to (a, b).
    """
    if level_statistics[start, 0] == 1.0:
        _failures(a + s, b + t, s, t, start, stop, level_statistics, level_log_base, predictive, left_out)
    else:
        _many_trials(a + s, b + t, s, t, start, stop, level_log_base, predictive, left_out)


@subkernel
def _many_trials(
    a: float,
    b: float,
    s: float,
    t: float,
    start: int,
    stop: int,
    level_log_base: Array,
    predictive: Array,
    left_out: Array,
) -> None:
    """Fill the levels 0 .. n of a binomial whose products would not be numbers any more."""
    n = stop - start - 1
    above = log_rising(a + b, n)
    below = log_rising(a + b - n, n) if s + t >= n else 0.0
    for x in range(n + 1):
        row = start + x
        predictive[0, row] = left_out[0, row] = 1.0
        predictive[1, row] = level_log_base[row] + log_rising(a, x) + log_rising(b, n - x) - above
        left_out[1, row] = 0.0
        if s >= x and t >= n - x:
            left_out[1, row] = level_log_base[row] + log_rising(a - x, x) + log_rising(b - n + x, n - x) - below


@subkernel
def _failures(
    a: float,
    b: float,
    s: float,
    t: float,
    start: int,
    stop: int,
    level_statistics: Array,
    level_log_base: Array,
    predictive: Array,
    left_out: Array,
) -> None:
    """Fill the levels of a geometric: a b^(x) / (a + b)^(x + 1), each continuing the one before."""
    here, without = a / (a + b), (a - 1.0) / (a + b - 1.0)
    folded = folded_without = last = 0.0
    for row in range(start, stop):
        x = level_statistics[row, 1]
        holds = s >= 1.0 and t >= x
        if x - last > FEW:
            folded += log_rising(b + last, x - last) - log_rising(a + b + 1.0 + last, x - last)
            if holds:
                folded_without += log_rising(b - x, x - last) - log_rising(a + b - 1.0 - x, x - last)
        else:
            for j in range(int(last), int(x)):
                here *= (b + j) / (a + b + 1.0 + j)
                if holds:
                    without *= (b - 1.0 - j) / (a + b - 2.0 - j)
        if here < LOW:
            folded += math.log(here)
            here = 1.0
        if holds and without < LOW:
            folded_without += math.log(without)
            without = 1.0
        last = x
        predictive[0, row] = here
        predictive[1, row] = level_log_base[row] + folded
        left_out[0, row] = without if holds else 1.0
        left_out[1, row] = level_log_base[row] + folded_without if holds else 0.0
