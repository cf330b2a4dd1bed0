"""Categorical likelihood with a Dirichlet prior: one of L levels without order (Raykov et al. 2016, eqs. 23-24)."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clinclust.likelihoods.likelihood import Array, Likelihood
from clinclust.priors import dirichlet

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Categorical"]


@dataclass(frozen=True)
class Categorical(Likelihood):
    """One of `n_levels` levels, coded 0 .. n_levels - 1."""

    n_levels: int

    name: ClassVar[str] = "categorical"
    prior: ClassVar[ModuleType] = dirichlet

    @classmethod
    def of(cls, feature: Feature) -> Categorical:
        """Return the likelihood of a feature with its declared levels, observed or not."""
        assert feature.levels is not None  # the schema refuses a categorical feature without
        return cls(len(feature.levels))

    @property
    def n_statistics(self) -> int:
        """Return the number of levels."""
        return self.n_levels

    @property
    def n_hyperparameters(self) -> int:
        """Return the number of levels."""
        return self.n_levels

    def levels(self, values: Array) -> Array:
        """Return every declared level, observed or not."""
        return np.arange(float(self.n_levels))

    def statistics(self, values: Array) -> Array:
        """Return the indicator of the level, shape (n, L)."""
        return np.equal(values[:, None], self.levels(values)).astype(np.float64)

    def log_base_measure(self, values: Array) -> Array:
        """Return 0."""
        return np.zeros(values.shape)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return concentrations that sum to the number of levels, in proportion to the observed frequencies.

        Half of the weight is spread evenly, so that a level nobody has yet keeps a chance.
        """
        observed = values[~np.isnan(values)].astype(np.int64)
        counts = np.bincount(observed, minlength=self.n_levels)
        return np.asarray(0.5 + 0.5 * self.n_levels * counts / counts.sum())

    def predictive(self, posterior: Array) -> Any:
        """Return the distribution over the level codes."""
        from scipy.stats import rv_discrete

        return rv_discrete(values=(np.arange(self.n_levels), posterior / posterior.sum()))

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return the concentrations in the order of the levels."""
        return {"concentrations": hyperparameters.tolist()}

    def from_dict(self, given: dict[str, Any], default: Array) -> Array:
        """Return the concentrations given, or the default."""
        return np.array(given.get("concentrations", default), dtype=np.float64)
