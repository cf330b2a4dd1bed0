"""Whether several Markov chains have come to the same distribution, and how many independent draws theirs are worth.

The rank-normalised split R-hat and the bulk effective sample size are those of Vehtari, Gelman, Simpson, Carpenter and
Burkner (2021, Bayesian Analysis 16, 667-718), as the package arviz-stats computes them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["HIGHEST_R_HAT", "LEAST_DRAWS", "Diagnosis", "diagnosed"]

Array = NDArray[np.float64]

HIGHEST_R_HAT, LEAST_DRAWS = 1.01, 400.0
"""What the authors ask for: R-hat at most 1.01, and an effective sample size of at least 400 in all."""


class Diagnosis(NamedTuple):
    """The diagnosis of one number that the chains traced."""

    r_hat: float
    effective_size: float

    @property
    def has_converged(self) -> bool:
        """Whether both are as good as they should be."""
        return self.r_hat <= HIGHEST_R_HAT and self.effective_size >= LEAST_DRAWS


def diagnosed(trace: Array) -> Diagnosis:
    """Return the diagnosis of a number in all draws, float64 (chains, draws).

    A number that is the same in all draws of all chains has R-hat 1, and each draw counts. One that stays the same
    within chains, but differs between them, has an infinite R-hat.
    """
    from arviz_stats.base.array import array_stats

    n_chains, n_draws = trace.shape
    if (trace == trace[0, 0]).all():
        return Diagnosis(1.0, float(trace.size))
    if (trace == trace[:, :1]).all():
        return Diagnosis(np.inf, float(n_chains))
    if n_draws < 4:
        return Diagnosis(np.nan, np.nan)
    statistics: Any = array_stats
    axes = {"chain_axis": 0, "draw_axis": 1}
    return Diagnosis(float(statistics.rhat(trace, **axes)), float(statistics.ess(trace, **axes)))
