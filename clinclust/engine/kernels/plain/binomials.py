"""Plain Python version of `clinclust.engine.kernels.binomials`, which documents the arguments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.eights import LANES

__all__ = ["eight_binomials"]

Array = NDArray[np.float64]


@subkernel
def eight_binomials(prior: Array, sums: Array, n_trials: int, numbers: Array, left_numbers: Array, work: Array) -> None:
    """Fill the predictives of every level of eight binomials, with the same number of trials n, under one cluster.

    The predictive of level x is beta-binomial, C(n, x) a^(x) b^(n - x) / (a + b)^(n), with the posterior (a, b) and
    the rising factorial y^(x) = y (y + 1) ... (y + x - 1). For the cluster without one subject at level x, each factor
    y + j becomes y - 1 - j.
    """
    n_levels = n_trials + 1
    for feature in range(LANES):
        _one_binomial(
            flat(prior, 2 * feature),
            flat(sums, 2 * feature),
            n_trials,
            flat(numbers, feature * n_levels),
            flat(left_numbers, feature * n_levels),
            flat(work, 2 * feature * n_levels),
        )


@subkernel
def _one_binomial(prior: Array, sums: Array, n: int, numbers: Array, left_numbers: Array, work: Array) -> None:
    """Fill the predictives of the levels 0 .. n of one binomial."""
    s, t = sums[0], sums[1]
    a, b = prior[0] + s, prior[1] + t
    total = a + b
    rising_b, falling_b = work, flat(work, n + 1)
    rising_b[0] = falling_b[0] = 1.0
    rising_total = falling_total = 1.0
    for j in range(n):
        rising_b[j + 1] = rising_b[j] * (b + j)
        falling_b[j + 1] = falling_b[j] * (b - 1.0 - j)
        rising_total *= total + j
        falling_total *= total - 1.0 - j
    above, below = 1.0 / rising_total, 1.0 / falling_total
    rising_a = falling_a = coefficient = 1.0
    for x in range(n + 1):
        others = n - x
        numbers[x] = rising_a * rising_b[others] * above * coefficient
        possible = s >= x and t >= others
        left_numbers[x] = falling_a * falling_b[others] * below * coefficient if possible else 1.0
        rising_a *= a + x
        falling_a *= a - 1.0 - x
        # The quotient is exact, because it is a whole number.
        coefficient = coefficient * others / (x + 1)
