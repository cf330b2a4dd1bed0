"""Multivariate Gaussian likelihood of a block of features, with a Normal-Wishart prior.

The predictive of a block is the multivariate Student's t (Raykov et al. 2016, eqs. 18-20), computed feature by feature,
each given those before it (`clinclust.priors.normal_wishart`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clinclust.arrays import Array, Mask
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import Declaration, Example, Likelihood, ends, without_far_values
from clinclust.priors import normal_wishart
from clinclust.priors.normal_wishart import NormalWishart

_SHRINKAGE = (0.99, 0.95, 0.9, 0.8, 0.6, 0.4, 0.2)
"""Factors of the correlations in a default prior: the first with which the smallest eigenvalue is above the floor."""
_FLOOR = 0.005
"""Smallest eigenvalue of the correlations in a default prior."""
_LEAST_EIGENVALUE = 1e-10
"""Smallest eigenvalue of the correlations of a prior scatter matrix."""


@dataclass(frozen=True)
class MultivariateGaussian(Gaussian):
    """One feature of a multivariate normal block, at a place counted from 0, given the features before it."""

    place: int = 0
    size: int = 1

    name = "multivariate_gaussian"
    title = "multivariate Gaussian"
    also_called = ("multivariate_normal", "multivariate", "correlated", "mvn")
    alternatives = ()
    prior = NormalWishart
    kernel = 8
    takes = frozenset({"minimum", "maximum", "transform"})
    is_chained = True
    shared_in_block = ("kappa", "degrees")
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "mean": (-1e6, 1e6),
        "kappa": (1e-10, 1e9),
        "degrees": (1e-6, 1e8),
        "scatter": (2e-6, 2e12),
    }
    with_unit = frozenset({"mean", "scatter", "known_covariance"})
    known_parameters: ClassVar[Mapping[str, tuple[str, str]]] = {"known_covariance": ("degrees", "scatter")}
    listed_by = "one for each feature of the block up to this one"
    drafted_for = frozenset()

    def in_block(self, place: int, size: int) -> MultivariateGaussian:
        """Return the likelihood of the feature at this place of a block of this many features."""
        return MultivariateGaussian(place, size)

    @property
    def n_before(self) -> int:
        """Number of features before it in its block."""
        return self.place

    @property
    def alone(self) -> Likelihood:
        """The likelihood of the feature when nothing is known of the others of its block: Gaussian."""
        return Gaussian()

    @classmethod
    def hyperparameter_lengths(cls, declaration: Declaration) -> dict[str, int | None]:
        """Return the hyperparameters by name; `scatter` is a list whose length depends on the place in the block."""
        return {"mean": None, "kappa": None, "degrees": None, "scatter": 0}

    @property
    def n_statistics(self) -> int:  # type: ignore[override]
        """Length S of the sufficient statistic, the lower triangle of v v' with v = (1, x_0 .. x_place)."""
        return (self.place + 2) * (self.place + 3) // 2

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        """The name of each of the P hyperparameters, in the order of `clinclust.priors.normal_wishart`."""
        order = self.place + 1
        return (*["mean"] * order, "kappa", "degrees", *["scatter"] * (order * (order + 1) // 2))

    def statistics(self, values: Array) -> Array:
        """Return the sufficient statistics, float64 (n, S), of the first feature of a block from its values (n,)."""
        if self.place:
            raise TypeError("The statistics of a later feature of a block need the values of the features before it")
        return self.statistics_of_block(values[:, None])

    def statistics_of_block(self, values: Array) -> Array:
        """Return the sufficient statistics (n, S) from values up to this feature (n, l + 1); 0 where any is missing."""
        v = np.column_stack([np.ones(len(values)), values])
        statistics = normal_wishart.lower(v[:, :, None] * v[:, None, :])
        statistics[np.isnan(values).any(axis=1)] = 0.0
        return statistics

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return -(1/2) ln(pi) for each observed value."""
        return np.where(np.isnan(values), 0.0, -0.5 * math.log(math.pi))

    def default_hyperparameters(self, values: Array) -> Array:
        """Return mean, kappa, degrees and row of the scatter matrix, as those of `Gaussian` for each feature alone."""
        mean, kappa, shape, rate = super().default_hyperparameters(values)
        return self._own(mean, kappa, 2.0 * shape + self.size - 1, [0.0] * self.place + [2.0 * rate])

    def correlated(self, own: Array, spreads: Array, correlations: Array) -> Array:
        """Return default hyperparameters (P,) with the correlations of the cohort (l + 1,) in their row of the scatter.

        The prior then does not depend on whether two pressures are given, or their mean and their difference, and does
        not allow more variance given the other features than the cohort has. `spreads` (l + 1,) are the square roots of
        the diagonal.
        """
        hyperparameters = own.copy()
        hyperparameters[len(hyperparameters) - self.place - 1 :] = correlations * spreads * spreads[-1]
        return hyperparameters

    def _own(self, mean: float, kappa: float, degrees: float, row: list[float]) -> Array:
        """Return hyperparameters (P,) in which those of the features before it are not known (NaN)."""
        before = self.place * (self.place + 1) // 2
        degrees -= self.size - 1 - self.place
        return np.array([*[np.nan] * self.place, mean, kappa, degrees, *[np.nan] * before, *row], dtype=np.float64)

    def after(self, previous: Array, own: Array) -> Array:
        """Return the hyperparameters (P,) of the factor: those of the factor before it, and its own, of `from_dict`."""
        if not self.place:
            return own
        of_factor = own.copy()
        of_factor[: self.place] = previous[: self.place]
        start = self.place + 3
        triangle = self.place * (self.place + 1) // 2
        of_factor[start : start + triangle] = previous[self.place + 2 :]
        return of_factor

    def without_before(self, hyperparameters: Array, kept: Mask) -> Array:
        """Return the hyperparameters of the marginal prior without some features before it, bool (l + 1,)."""
        order = self.place + 1
        scatter = normal_wishart.symmetric(hyperparameters[order + 2 :], order)[np.ix_(kept, kept)]
        kappa, degrees = hyperparameters[order : order + 2]
        counts = [kappa, degrees - (order - kept.sum())]
        return np.concatenate([hyperparameters[:order][kept], counts, normal_wishart.lower(scatter)])

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return the hyperparameters (P,) by name: its mean, kappa and degrees of the block, its row of the scatter."""
        place = self.place
        return {
            "mean": float(hyperparameters[place]),
            "kappa": float(hyperparameters[place + 1]),
            "degrees": float(hyperparameters[place + 2]) + self.size - 1 - place,
            "scatter": hyperparameters[len(hyperparameters) - place - 1 :].tolist(),
        }

    def from_dict(self, given: Mapping[str, Any], default: Array) -> Array:
        """Return the hyperparameters (P,), those of the features before it not known (NaN); see `after`."""
        named = {**self.as_dict(default), **given}
        return self._own(named["mean"], named["kappa"], named["degrees"], list(named["scatter"]))

    def problems_of(self, given: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with hyperparameters by name because of the place in the block, one sentence each."""
        problems = []
        row = list(given.get("scatter", [0.0] * (self.place + 1)))
        if len(row) != self.place + 1:
            problems.append(
                f"scatter must hold {self.place + 1} number(s), one for each feature of its block up to this one, "
                f"not {len(row)}; give all features of the block a scatter, of length 1 to {self.size}"
            )
        degrees = float(given.get("degrees", self.size))
        if not degrees > self.size - 1:
            problems.append(
                f"degrees must be above {self.size - 1}, the number of features of its block minus 1, not {degrees:g}"
            )
        return problems

    def problems_of_factor(self, hyperparameters: Array) -> list[str]:
        """Return one sentence if the scatter matrix of the features up to this one is not positive definite."""
        order = self.place + 1
        scatter = normal_wishart.symmetric(hyperparameters[order + 2 :], order)
        spread = np.sqrt(np.maximum(np.diagonal(scatter), 0.0))
        if (spread > 0.0).all() and np.linalg.eigvalsh(scatter / np.outer(spread, spread))[0] > _LEAST_EIGENVALUE:
            return []
        return [
            "scatter is not that of a positive definite matrix: no features can have such variances and correlations"
        ]

    def encoded_hyperparameters(self, hyperparameters: Array, centre: Any, scale: Any) -> Array:
        """Return those of standardised values; centre and scale (l + 1,) are those of all features up to this one."""
        centre, scale = np.atleast_1d(centre), np.atleast_1d(scale)
        return self._rescaled(hyperparameters, (hyperparameters[: self.place + 1] - centre) / scale, 1.0 / scale)

    def stated_hyperparameters(self, encoded: Array, centre: Any, scale: Any) -> Array:
        """Return the hyperparameters on the scale of the columns: the inverse of `encoded_hyperparameters`."""
        centre, scale = np.atleast_1d(centre), np.atleast_1d(scale)
        return self._rescaled(encoded, encoded[: self.place + 1] * scale + centre, scale)

    def _rescaled(self, hyperparameters: Array, mean: Array, factor: Array) -> Array:
        rescaled = hyperparameters.copy()
        rescaled[: self.place + 1] = mean
        rescaled[self.place + 3 :] *= normal_wishart.lower(np.outer(factor, factor))
        return rescaled

    def unit_free(self, hyperparameters: Array, values: Array) -> Array:
        """Return the hyperparameters of the standardised values, but for those of the features before it (0)."""
        centre, scale = self.standardisation(values)
        standardised = np.nan_to_num(hyperparameters)
        standardised[self.place] = (standardised[self.place] - centre) / scale
        standardised[-1] /= scale**2
        return standardised

    def marginal_prior(self, hyperparameters: Array) -> Array:
        """Return the prior of `alone`, Normal-Gamma (mean, kappa, shape, rate), from the hyperparameters (..., P)."""
        mean, kappa, degrees = (hyperparameters[..., self.place + after] for after in range(3))
        return np.stack([mean, kappa, 0.5 * (degrees - self.place), 0.5 * hyperparameters[..., -1]], axis=-1)

    def marginal_statistics(self, statistics: Array) -> Array:
        """Return the statistics of `alone`, (n, sum, sum of squares), from the statistics (..., S)."""
        order = self.place + 2
        return np.stack([statistics[..., 0], statistics[..., order * (order - 1) // 2], statistics[..., -1]], axis=-1)

    def predictive(self, posterior: Array) -> Any:
        """Return Student's t distribution of the feature alone."""
        return super().predictive(self.marginal_prior(posterior))

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return means and standard deviations of the feature alone, (R, 2)."""
        return super().draw_parameters(self.marginal_prior(posteriors), rng)

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean and the standard deviation of the feature alone."""
        return super().parameters(self.marginal_prior(posteriors))

    def mode(self, posterior: Array) -> float:
        """Return the centre of the predictive of the feature alone."""
        return float(posterior[self.place])

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of measurements that are a block by themselves."""
        (gaussian,) = Gaussian.examples()
        prior = {"mean": -1.0, "kappa": 0.6, "degrees": 4.4, "scatter": [6.0]}
        return (
            Example(
                prior=prior,
                draw=lambda rng, theta, n: gaussian.draw(rng, cls().marginal_prior(theta), n),
                column=gaussian.column,
                random_prior=_random_prior,
                edge_cases=gaussian.edge_cases,
            ),
        )


def default_correlations(columns: Array) -> Array:
    """Return the correlations (p, p) of the columns of a block (n, p), shrunk until they are positive definite."""
    seen = np.column_stack([_without_far(column) for column in columns.T])
    p = seen.shape[1]
    correlations = np.eye(p)
    for first in range(p):
        for second in range(first):
            both = seen[~np.isnan(seen[:, [first, second]]).any(axis=1)][:, [first, second]]
            both = both - both.mean(axis=0) if len(both) > 2 else np.zeros((1, 2))
            size = np.sqrt((both**2).sum(axis=0))
            if (size > 0.0).all():
                correlations[first, second] = correlations[second, first] = float((both / size).prod(axis=1).sum())
    for factor in _SHRINKAGE:
        shrunk = factor * correlations + (1.0 - factor) * np.eye(p)
        if np.linalg.eigvalsh(shrunk)[0] >= _FLOOR:
            return np.asarray(shrunk)
    return np.eye(p)


def _without_far(column: Array) -> Array:
    """Return a column (n,) with outliers missing."""
    usual = without_far_values(column[~np.isnan(column)])
    low, high = ends(usual)
    return np.where((column >= max(low, usual.min())) & (column <= min(high, usual.max())), column, np.nan)


def _random_prior(rng: np.random.Generator, values: Array) -> dict[str, Any]:
    scale = np.nanstd(values)
    return {
        "mean": np.nanmean(values) + scale * rng.normal(),
        "kappa": rng.gamma(2),
        "degrees": 2.0 * rng.gamma(2),
        "scatter": [2.0 * scale**2 * rng.gamma(2)],
    }
