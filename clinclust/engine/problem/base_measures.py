"""Log base measures of the values of a cohort. They are the same for every partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.engine.problem.encoding import EncodedCohort

__all__ = ["log_base_measures", "log_bases"]

Array = NDArray[np.float64]


def log_base_measures(cohort: EncodedCohort, prior: Array, feature: int) -> Array:
    """Return the log base measure of each value of an encoded feature under a prior (H,), float64 (N,); 0 = missing."""
    arrays = cohort.arrays
    n_table = arrays.codes.shape[1]
    if feature < n_table:
        return arrays.level_log_base[arrays.codes[:, feature]]
    theta = prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
    column = arrays.values[:, feature - n_table]
    return cohort.encoding.likelihoods[feature].log_base_measure(column, theta)


def log_bases(cohort: EncodedCohort, prior: Array) -> Array:
    """Return what each feature adds to `EncodedCohort.log_base` at power 1, float64 (D,), under a prior (H,)."""
    arrays, scales = cohort.arrays, cohort.encoding.scales
    bases = [log_base_measures(cohort, prior, feature).sum() for feature in range(scales.size)]
    n_table = arrays.codes.shape[1]
    n_values = (~np.isnan(arrays.values)).sum(axis=0)
    jacobian = np.concatenate([np.zeros(n_table), np.log(scales[n_table:]) * n_values])
    return np.asarray(np.array(bases) - jacobian)
