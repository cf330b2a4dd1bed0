"""How well each likelihood explains one column as a whole: log marginals under weak priors, for drafting.

All are log probabilities, or log densities in the column's own unit (of whole numbers: of cells one unit
wide), so those of one column compare.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["binomial", "categorical", "exponential", "gaussian", "geometric", "poisson"]

Values = NDArray[np.float64]


def categorical(counts: Values) -> float:
    """Score levels with these counts, flat Dirichlet prior."""
    from scipy.special import gammaln

    return float(gammaln(len(counts)) - gammaln(len(counts) + counts.sum()) + gammaln(1 + counts).sum())


def binomial(counts: Values) -> float:
    """Score a scale 0, 1, ..., with these counts, flat beta prior; one trial fewer than steps."""
    from scipy.special import betaln, gammaln

    trials, scores = len(counts) - 1, np.arange(len(counts))
    ways = gammaln(trials + 1) - gammaln(scores + 1) - gammaln(trials - scores + 1)
    successes = (counts * scores).sum()
    return float((counts * ways).sum() + betaln(1 + successes, 1 + trials * counts.sum() - successes))


def poisson(values: Values) -> float:
    """Score counts, gamma prior with the strength of one subject at the observed mean."""
    from scipy.special import gammaln

    total, n, rate = values.sum(), len(values), 1 / values.mean()
    return float(math.log(rate) + gammaln(1 + total) - (1 + total) * math.log(rate + n) - gammaln(values + 1).sum())


def geometric(values: Values) -> float:
    """Score counts of failures before a success, flat beta prior."""
    from scipy.special import betaln

    return float(betaln(1 + len(values), 1 + values.sum()))


def exponential(values: Values) -> float:
    """Score waiting times, gamma prior with the strength of one subject at the observed mean."""
    from scipy.special import gammaln

    total, n, rate = values.sum(), len(values), values.mean()
    return float(math.log(rate) + gammaln(1 + n) - (1 + n) * math.log(rate + total))


def gaussian(values: Values) -> float:
    """Score measurements, normal-gamma prior with mean and variance as observed (kappa 10/N, shape 1)."""
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
