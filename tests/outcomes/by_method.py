"""Estimates of an outcome by a method, from the errors of assignment (K, K) and the assigned subtypes (N,)."""

import numpy as np

from clinclust.outcomes.estimates import outcome_by_subtype


def estimate_by_method(density, y, covariates, errors, assigned, method):
    if method == "ml":
        chances, shares = errors.T[assigned], np.insert(covariates, 0, 1.0, axis=1)
        naive = estimate_by_method(density, y, covariates, errors, assigned, "naive")
        return outcome_by_subtype(density, y, covariates, chances, naive.parameters, shares)
    naive = outcome_by_subtype(density, y, covariates, np.eye(len(errors))[assigned])
    if method == "naive":
        return naive
    start = None if naive is None else naive.parameters
    return outcome_by_subtype(density, y, covariates, np.linalg.inv(errors)[assigned], start)
