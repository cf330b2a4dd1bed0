"""The weak hyperprior that keeps hyperparameters proper when they are estimated from the data.

Every hyperparameter that nobody stated is log-normal around its default, and the prior mean of a Gaussian feature
is normal around its default in units of the feature's standard deviation:

    u = ln theta                    (positive hyperparameters)
    u = mean / standard deviation   (the mean of a Gaussian feature)
    u ~ Normal(u of the default, 1)

Densities are those of u. Given a partition, theta is learned from the clusters, one draw of the prior each, and a
standard deviation of 1 says about as much as one of them: the information that one cluster holds on ln kappa is at
most 1/2, on ln rate about the shape, 1 or 2 by default. In u the log marginals grow at most in proportion to |u|, the
hyperprior falls with its square: whatever the data, the maximum is finite, and no hyperparameter runs to 0 or infinity.
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
    """The hyperprior of a cohort's flat prior; every array is (H,), on the encoded scale.

    Attributes
    ----------
    centre : float64 (H,)
        The default hyperparameters.
    location : bool (H,)
        The prior means of Gaussian features, the only hyperparameters that need not be positive.
    free : bool (H,)
        What nobody stated.
    """

    centre: Array
    location: NDArray[np.bool_]
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem) -> Hyperprior:
        """Return the hyperprior around the present hyperparameters; what a feature's schema states is not free."""
        location, free = [], []
        encoding = problem.cohort.encoding
        for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True):
            names = likelihood.hyperparameter_names
            location += [name == "mean" for name in names]
            free += [name not in (feature.prior or {}) for name in names]
        return cls(problem.model.prior, np.array(location, dtype=bool), np.array(free, dtype=bool))

    def offsets(self, prior: Array, places: Places | slice = slice(None)) -> Array:
        """Return u - u of the default, of all hyperparameters or of those at some places."""
        location, centre = self.location[places], self.centre[places]
        ratio = np.where(location, 1.0, prior) / np.where(location, 1.0, centre)
        return np.where(location, prior - centre, np.log(ratio))

    def prior_at(self, offsets: Array, places: Places | slice = slice(None)) -> Array:
        """Return the hyperparameters at these offsets."""
        location, centre = self.location[places], self.centre[places]
        return np.where(location, centre + offsets, centre * np.exp(np.where(location, 0.0, offsets)))

    def slopes(self, prior: Array, places: Places | slice = slice(None)) -> Array:
        """Return d theta / d u: theta itself, and 1 for a location."""
        return np.where(self.location[places], 1.0, prior)

    def log_density(self, prior: Array) -> float:
        """Return the log density of u, summed over what is free."""
        offsets = self.offsets(prior)[self.free]
        return -0.5 * float((offsets**2).sum()) - 0.5 * math.log(2.0 * math.pi) * offsets.size


def with_prior(problem: Problem, prior: Array) -> Problem:
    """Return the problem with other hyperparameters; what a feature's schema states keeps every digit."""
    encoding = problem.cohort.encoding
    named = named_hyperparameters(encoding, prior)
    for feature in encoding.features:
        stated = problem.hyperparameters[feature.name]
        named[feature.name].update({name: stated[name] for name in feature.prior or {}})
    # The numbers by name are what a person sees and may give back, so the flat ones follow from them.
    flat = flat_prior(encoding, named)
    return replace(
        problem,
        cohort=problem.cohort.with_prior(flat),
        hyperparameters=named,
        model=problem.model._replace(prior=flat),
    )
