"""The weak hyperprior of hyperparameters that are estimated from the data. It keeps the estimates finite.

Every hyperparameter that the schema does not state is log-normal around its default. The prior mean of a Gaussian
feature is normal around its default, in units of the feature's standard deviation:

    u = ln theta                    (positive hyperparameters)
    u = mean / standard deviation   (the mean of a Gaussian feature)
    u ~ Normal(u of the default, 1)

The prior of a multivariate Gaussian block is not estimated.

Densities are densities of u. Given a partition, theta is learned from the clusters, and each cluster counts as one draw
from the prior. A standard deviation of 1 carries about as much information as one cluster: the information of one
cluster about ln kappa is at most 1/2, and about ln rate it is about the shape, which is 1 or 2 by default. The log
marginals grow at most in proportion to |u|, and the log hyperprior falls with u^2. The maximum is therefore finite for
all data, and no hyperparameter tends to 0 or infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.hyperparameters import flat_prior, named_hyperparameters

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["Hyperprior", "with_prior"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Hyperprior:
    """The hyperprior of the H hyperparameters of a cohort (the flat prior), on the encoded scale.

    Attributes
    ----------
    centre : float64 (H,)
        The default hyperparameters.
    location : bool (H,)
        True for the prior means of Gaussian features, the only hyperparameters that may be 0 or negative.
    free : bool (H,)
        True for hyperparameters that the schema does not state. Only these are estimated.
    """

    centre: Array
    location: NDArray[np.bool_]
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem) -> Hyperprior:
        """Return the hyperprior centred at the present hyperparameters. Those that the schema states are not free."""
        location, free = [], []
        encoding = problem.cohort.encoding
        for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True):
            names = likelihood.hyperparameter_names
            location += [likelihood.is_chained or name == "mean" for name in names]
            free += [not likelihood.is_chained and name not in (feature.prior or {}) for name in names]
        return cls(problem.model.prior, np.array(location, dtype=bool), np.array(free, dtype=bool))

    def offsets(self, prior: Array, places: Places | slice = slice(None)) -> Array:
        """Return u minus the u of the default, for all hyperparameters or for those at the indices `places`."""
        location, centre = self.location[places], self.centre[places]
        ratio = np.where(location, 1.0, prior) / np.where(location, 1.0, centre)
        return np.where(location, prior - centre, np.log(ratio))

    def prior_at(self, offsets: Array, places: Places | slice = slice(None)) -> Array:
        """Return the hyperparameters that have these offsets: the inverse of `offsets`."""
        location, centre = self.location[places], self.centre[places]
        return np.where(location, centre + offsets, centre * np.exp(np.where(location, 0.0, offsets)))

    def slopes(self, prior: Array, places: Places | slice = slice(None)) -> Array:
        """Return d theta / d u: theta for a positive hyperparameter, 1 for a prior mean."""
        return np.where(self.location[places], 1.0, prior)

    def log_density(self, prior: Array) -> float:
        """Return the log density of u, summed over the free hyperparameters."""
        offsets = self.offsets(prior)[self.free]
        return -0.5 * float((offsets**2).sum()) - 0.5 * math.log(2.0 * math.pi) * offsets.size


def with_prior(problem: Problem, prior: Array) -> Problem:
    """Return the problem with other hyperparameters, float64 (H,). Those that the schema states keep every digit."""
    encoding = problem.cohort.encoding
    named = named_hyperparameters(encoding, prior)
    for feature in encoding.features:
        stated = problem.hyperparameters[feature.name]
        named[feature.name].update({name: stated[name] for name in feature.prior or {}})
    # Users see the hyperparameters by name and may pass them back, so the flat array is computed from those numbers.
    flat = flat_prior(encoding, named)
    return replace(
        problem,
        cohort=problem.cohort.with_prior(flat, problem.model.powers),
        hyperparameters=named,
        model=problem.model._replace(prior=flat),
    )
