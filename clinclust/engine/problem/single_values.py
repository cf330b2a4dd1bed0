"""What the log joint of a cohort holds for single values that come from no cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.outlying_scores import prior_predictives
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.base_measures import log_base_measures

if TYPE_CHECKING:
    from clinclust.engine.kernels.model import Model
    from clinclust.engine.problem.encoding import EncodedCohort

__all__ = ["SingleValues", "single_values"]

Array = NDArray[np.float64]


class SingleValues(NamedTuple):
    """Terms of single values, whatever the partition."""

    terms: Array
    """(N, D) what the log base measure of a problem gains if the value comes from the prior: power_d * [ln m_d(x_id) -
    ln h_d(x_id)], with the log base measure h_d that the value no longer adds; 0 where missing."""
    n_observed: float
    """Number of observed values, each counted for the power of its feature."""


def single_values(cohort: EncodedCohort, model: Model) -> SingleValues:
    """Return the terms of all values of a cohort; subjects and features in encoded order."""
    arrays = cohort.arrays
    n_subjects, n_table = arrays.codes.shape
    terms = np.zeros((n_subjects, n_table + arrays.values.shape[1]))
    nobody = new_partition(arrays, np.zeros(n_subjects, dtype=np.int64))
    prior_predictives(arrays, model.in_full(), nobody, terms)
    for feature in range(terms.shape[1]):
        terms[:, feature] -= log_base_measures(cohort, model.prior, feature)
    terms *= model.powers
    observed = np.concatenate([(arrays.codes > 0).sum(axis=0), (~np.isnan(arrays.values)).sum(axis=0)])
    return SingleValues(terms, float((model.powers * observed).sum()))
