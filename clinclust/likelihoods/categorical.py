"""Categorical likelihood with a Dirichlet prior, for L levels without order (Raykov et al. 2016, eqs. 23-24)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import Declaration, Example, Likelihood
from clinclust.priors.conjugate import Dirichlet


@dataclass(frozen=True)
class _Shares:
    """The levels 0 .. L - 1 with shares (..., L)."""

    shares: Array

    def cdf(self, levels: Array) -> Array:
        """Return the share of levels up to these, float64 (...)."""
        is_below = np.arange(self.shares.shape[-1]) <= np.asarray(levels)[..., None]
        return np.asarray((self.shares * is_below).sum(axis=-1))

    def ppf(self, shares: Array) -> Array:
        """Return the first level up to which there is this share, float64 (...)."""
        up_to = self.shares.cumsum(axis=-1)[..., :-1]
        return np.asarray((np.asarray(shares)[..., None] > up_to).sum(axis=-1), dtype=np.float64)


@dataclass(frozen=True)
class OfLevels(Likelihood):
    """One of `n_levels` levels, coded 0 .. n_levels - 1, each with a probability of its own."""

    n_levels: int

    counts_levels = True

    @property
    def n_statistics(self) -> int:
        """Number of levels, L."""
        return self.n_levels

    def levels(self, values: Array) -> Array:
        """Return the codes of the declared levels, 0 .. L - 1, including levels not observed."""
        return np.arange(float(self.n_levels))

    def statistics(self, values: Array) -> Array:
        """Return T(x), the indicators of the levels, float64 (n, L)."""
        return np.equal(values[:, None], self.levels(values)).astype(np.float64)

    @abstractmethod
    def probabilities(self, posterior: Array) -> Array:
        """Return the predictive probability of each level, float64 (L,)."""

    def predictive(self, posterior: Array) -> Any:
        """Return the distribution over the codes."""
        from scipy.stats import rv_discrete

        return rv_discrete(values=(np.arange(self.n_levels), self.probabilities(posterior)))

    def draw(self, posterior: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n draws of a new value, float64 (n,)."""
        return np.asarray(self.draw_given(self.probabilities(posterior)[None], n, rng)[0])

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n levels for each set of shares (R, L), float64 (R, n)."""
        drawn = rng.random((len(parameters), n))
        return np.asarray((drawn[:, None, :] >= parameters.cumsum(axis=1)[:, :-1, None]).sum(axis=1), dtype=np.float64)

    def given(self, parameters: Array) -> Any:
        """Return the distribution over the codes."""
        return _Shares(parameters)

    def mode(self, posterior: Array) -> float:
        """Return the code of the level with the highest predictive probability."""
        return float(self.probabilities(posterior).argmax())


@dataclass(frozen=True)
class Categorical(OfLevels):
    """One of `n_levels` levels, coded 0 .. n_levels - 1."""

    name = "categorical"
    title = "categorical"
    also_called = ("nominal", "multinomial", "factor", "unordered", "categories")
    prior = Dirichlet
    kernel = 4
    is_share = True
    is_nominal = True
    takes = frozenset({"levels"})
    drafted_for = frozenset({"scale", "levels"})
    effect_sizes = "shares"
    contrasts = ("counts",)
    summary = "n"

    @classmethod
    def of(cls, declaration: Declaration) -> Categorical:
        """Return the likelihood of a feature with its declared levels, including those not observed."""
        assert declaration.levels is not None  # the schema rejects a categorical feature without levels
        return cls(len(declaration.levels))

    @classmethod
    def hyperparameter_lengths(cls, declaration: Declaration) -> dict[str, int | None]:
        """Return the name and length of the concentrations: one for each level."""
        return {"concentrations": len(declaration.levels or ())}

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        """The name of the concentrations, once for each level."""
        return ("concentrations",) * self.n_levels

    def default_hyperparameters(self, values: Array) -> Array:
        """Return concentrations that sum to L: 1/2 for each level, plus L/2 times its observed frequency."""
        observed = values[~np.isnan(values)].astype(np.int64)
        counts = np.bincount(observed, minlength=self.n_levels)
        return np.asarray(0.5 + 0.5 * self.n_levels * counts / counts.sum())

    def probabilities(self, posterior: Array) -> Array:
        """Return the mean of the Dirichlet posterior."""
        return np.asarray(posterior / posterior.sum())

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return shares of the levels, (R, L), from Dirichlet posteriors."""
        return np.array([rng.dirichlet(posterior) for posterior in posteriors]).reshape(posteriors.shape)

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the probability of each level."""
        from scipy.stats import beta

        return {"probability": beta(posteriors, posteriors.sum(axis=1, keepdims=True) - posteriors)}

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return the concentrations in the order of the levels."""
        return {"concentrations": hyperparameters.tolist()}

    def from_dict(self, given: Mapping[str, Any], default: Array) -> Array:
        """Return the given concentrations, or the default without any."""
        return np.array(given.get("concentrations", default), dtype=np.float64)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of three levels, the last of which is rare."""
        return (
            Example(
                fields={"levels": ("a", "b", "c")},
                prior={"concentrations": [0.5, 2.0, 0.2]},
                draw=lambda rng, prior, n: np.array([rng.choice(3, p=rng.dirichlet(prior)) for _ in range(n)], float),
                column=_column,
                random_prior=lambda rng, values: {"concentrations": rng.gamma(2, size=3).tolist()},
                edge_cases=((0.0, 1.0), (2.0, 2.0, 0.0, np.nan)),
            ),
        )


def _column(rng: np.random.Generator, groups: Any, n_groups: int) -> Array:
    weights = rng.dirichlet([0.6] * 3, n_groups)
    drawn = (rng.random((groups.size, 1)) > weights.cumsum(axis=1)[groups]).sum(axis=1)
    return np.asarray(drawn.clip(0, 2), dtype=np.float64)
