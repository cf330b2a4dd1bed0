"""Values of a mixture of predictives: the mean, median and mode of a missing value that may be of several clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.estimators.mixture_quantiles import mixture_quantiles

if TYPE_CHECKING:
    from clinclust.likelihoods import Likelihood
    from clinclust.schema import Feature

__all__ = ["mixture_values"]

Array = NDArray[np.float64]

_CANDIDATES = 1025
"""Points between the lowest and the highest mode of the parts, among which the mode of a mixture is sought."""


def mixture_values(feature: Feature, likelihood: Likelihood, posteriors: Array, weights: Array, how: str) -> Array:
    """Return the mean, median or mode of a mixture for each subject, float64 (n,).

    Parameters
    ----------
    feature : Feature
    likelihood : Likelihood
    posteriors : float64 (m, P)
        Posterior hyperparameters of each cluster of the mixture.
    weights : float64 (n, m)
        Weight of each cluster for each subject; rows sum to 1.
    how : {"median", "mean", "mode"}
        Features with unordered levels get the most probable level. A mean that is not finite is replaced by the median.
    """
    parts = [likelihood.predictive(posterior) for posterior in posteriors]
    if how == "mode" or likelihood.is_nominal:
        return _modes(feature, likelihood, parts, posteriors, weights)
    if how == "mean":
        means = np.array([part.mean() for part in parts], dtype=np.float64)
        if np.isfinite(means).all():
            return np.asarray(weights @ means, dtype=np.float64)
    return mixture_quantiles(likelihood, posteriors, weights, 0.5)


def _modes(feature: Feature, likelihood: Likelihood, parts: list[Any], posteriors: Array, weights: Array) -> Array:
    """Return the most probable values: of all levels, or of the values between the modes of the parts."""
    levels = likelihood.levels(np.empty(0)) if likelihood.counts_levels else None
    if levels is None and feature.n_trials is not None:
        levels = np.arange(feature.n_trials + 1.0)
    if levels is not None:
        return _best(levels, _densities(likelihood, parts, levels), weights)
    of_parts = np.array([likelihood.mode(posterior) for posterior in posteriors])
    grid = np.linspace(of_parts.min(), of_parts.max(), _CANDIDATES)
    grid = np.union1d(of_parts, grid if likelihood.is_continuous else np.rint(grid))
    return _best(grid, _densities(likelihood, parts, grid), weights)


def _densities(likelihood: Likelihood, parts: list[Any], values: Array) -> Array:
    """Return the density or probability of each value under each part, float64 (m, values)."""
    return np.array([part.pdf(values) if likelihood.is_continuous else part.pmf(values) for part in parts])


def _best(values: Array, densities: Array, weights: Array) -> Array:
    """Return the value (V,) with the largest density, from those of each part (m, V), for each subject (n,)."""
    return np.asarray(values[(weights @ densities).argmax(axis=1)], dtype=np.float64)
