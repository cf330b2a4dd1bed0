"""How well each likelihood explains one column as a whole: log marginals under weak priors, for drafting only.

All values of one column are log probabilities (or densities in the column's own unit, which for whole numbers are
probabilities of cells one unit wide), so they compare.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["binomial", "categorical", "exponential", "gaussian", "geometric", "poisson"]

Values = NDArray[np.float64]


def categorical(counts: Values) -> float:
    """Levels with these counts, flat Dirichlet prior."""
    from scipy.special import gammaln

    return float(gammaln(len(counts)) - gammaln(len(counts) + counts.sum()) + gammaln(1 + counts).sum())


def binomial(counts: Values) -> float:
    """Scores 0, 1, ..., with these counts, flat beta prior; the trials are one fewer than the scores."""
    from scipy.special import betaln, gammaln

    trials, scores = len(counts) - 1, np.arange(len(counts))
    ways = gammaln(trials + 1) - gammaln(scores + 1) - gammaln(trials - scores + 1)
    successes = (counts * scores).sum()
    return float((counts * ways).sum() + betaln(1 + successes, 1 + trials * counts.sum() - successes))


def poisson(values: Values) -> float:
    """Counts, gamma prior with the strength of one subject at the observed mean."""
    from scipy.special import gammaln

    total, n, rate = values.sum(), len(values), 1 / values.mean()
    return float(
        math.log(rate) + gammaln(1 + total) - (1 + total) * math.log(rate + n) - gammaln(values + 1).sum()
    )


def geometric(values: Values) -> float:
    """Counts of failures before a success, flat beta prior."""
    from scipy.special import betaln

    return float(betaln(1 + len(values), 1 + values.sum()))


def exponential(values: Values) -> float:
    """Waiting times, gamma prior with the strength of one subject at the observed mean."""
    from scipy.special import gammaln

    total, n, rate = values.sum(), len(values), values.mean()
    return float(math.log(rate) + gammaln(1 + n) - (1 + n) * math.log(rate + total))


def gaussian(values: Values) -> float:
    """Measurements, normal-gamma prior with mean and variance as observed (kappa 10/N, shape 1)."""
    from scipy.special import gammaln

    n, variance = len(values), values.var()
    kappa = 10 / n
    return float(
        -n / 2 * math.log(2 * math.pi)
        + 0.5 * math.log(kappa / (kappa + n))
        + math.log(variance)
        + gammaln(1 + n / 2)
        - (1 + n / 2) * math.log(variance + n * variance / 2)
    )
