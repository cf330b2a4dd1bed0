"""Whether hazard ratios stay the same over time: those before and after the median of the event times compared.

The scores of two periods are uncorrelated, because what happens in the later one is a martingale difference given the
earlier one (Andersen and Gill 1982, Ann Stat 10, 1100-1120). With the log hazard ratios b_1 and b_2 of a period each,
and their robust covariances V, the statistic (b_2 - b_1)' (V_1 + V_2)^-1 (b_2 - b_1) is chi-squared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from clinclust.arrays import Array, Labels
from clinclust.outcomes.densities import DENSITIES, in_intervals
from clinclust.outcomes.three_step import Estimates, Method, outcome_by_subtype


class Periods(NamedTuple):
    """Estimates before and after a time, and the test that ratios are the same in both."""

    until: float
    estimates: tuple[Estimates, Estimates]
    statistic: float
    p: float


def in_two_periods(
    time: Array,
    event: Array,
    entry: Array,
    covariates: Array,
    errors: Array,
    labels: Labels,
    versus: int,
    method: Method,
) -> Periods | None:
    """Return the hazards of K subtypes in two periods; None where one of them has too few events.

    Times, events and entries are (n,), covariates (n, C), the errors of assignment (K, K), assignments (n,).
    """
    until = float(np.median(time[event > 0.0]))
    found = []
    for is_late in (False, True):
        rows = (time > until) if is_late else (entry < until)
        if np.unique(labels[rows]).size < len(errors):
            return None
        ends, begins = (time, np.maximum(entry, until)) if is_late else (np.minimum(time, until), entry)
        happened = (event > 0.0) & ((time > until) == is_late)
        y = in_intervals(ends[rows], happened[rows].astype(np.float64), begins[rows])
        estimates = outcome_by_subtype(DENSITIES["survival"], y, covariates[rows], errors, labels[rows], method)
        if not estimates.found:
            return None
        found.append(estimates)
    contrast = np.delete(np.eye(len(errors)) - np.eye(len(errors))[versus], versus, axis=0)
    means = [contrast @ one.parameters[: len(errors)] for one in found]
    spread = sum(contrast @ one.covariance[: len(errors), : len(errors)] @ contrast.T for one in found)
    apart = means[1] - means[0]
    statistic = float(apart @ np.linalg.solve(spread, apart))
    return Periods(until, (found[0], found[1]), statistic, float(chdtrc(apart.size, statistic)))
