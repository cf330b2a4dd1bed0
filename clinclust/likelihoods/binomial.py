"""Binomial likelihood with a Beta(a, b) prior, for scores 0 .. trials (Raykov et al. 2016, eqs. 25-27)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import Declaration, Example, Likelihood, observed_columns, steps_of_scale
from clinclust.priors.conjugate import Beta, log_beta

_SHORT = 16
"""Trials up to which the compiled functions fill all levels at once (`FEW`)."""


@dataclass(frozen=True)
class Binomial(Likelihood):
    """Number of successes in `trials` trials that share one unknown probability."""

    trials: int

    name = "binomial"
    title = "binomial (ordered scales)"
    alternatives: ClassVar[tuple[str, ...]] = ("ordinal", "categorical")
    prior = Beta
    kernel = 0
    is_whole = True
    is_scale = True
    most_steps = 10_000
    takes = frozenset({"levels", "trials", "minimum", "maximum"})
    drafted_for = frozenset({"scale", "levels"})
    n_statistics = 2

    @classmethod
    def of(cls, declaration: Declaration) -> Binomial:
        """Return the likelihood of a feature with its number of trials."""
        trials = steps_of_scale(declaration)
        assert trials is not None  # the schema rejects a binomial feature without trials
        return cls(trials)

    def levels(self, values: Array) -> Array | None:
        """Return the levels 0 .. trials, including those not observed; of a long scale, only the observed ones."""
        return np.arange(self.trials + 1.0) if self.trials <= _SHORT else super().levels(values)

    def statistics(self, values: Array) -> Array:
        """Return T(x) = (x, trials - x), float64 (n, 2)."""
        return observed_columns(values, values, self.trials - values)

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return the log of the binomial coefficient, ln [trials! / (x! (trials - x)!)], float64 (n,)."""
        log_h = -math.log(self.trials + 1.0) - log_beta(values + 1.0, self.trials - values + 1.0)
        return np.where(np.isnan(values), 0.0, log_h)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return (a, b) with a + b = 2, whose mean a / (a + b) is the observed proportion of successes."""
        # A prior as strong as one subject, of `trials` trials, would prevent clusters at the ends of a long scale.
        proportion = float(np.nanmean(values)) / self.trials
        return np.array([2.0 * proportion, 2.0 * (1.0 - proportion)])

    def predictive(self, posterior: Array) -> Any:
        """Return the beta-binomial distribution."""
        from scipy.stats import betabinom

        return betabinom(self.trials, *posterior)

    def mode(self, posterior: Array) -> float:
        """Return the score with the highest predictive probability."""
        levels = np.arange(self.trials + 1.0)
        return float(levels[self.predictive(posterior).pmf(levels).argmax()])

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return probabilities of success, (R, 1), from beta posteriors."""
        first, second = posteriors.T
        return np.asarray(rng.beta(first, second))[:, None]

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean score, a beta variable times the number of trials."""
        from scipy.stats import beta

        return {"mean": beta(*posteriors.T, scale=self.trials)}

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n scores for each probability, float64 (R, n)."""
        return rng.binomial(self.trials, parameters, size=(len(parameters), n)).astype(np.float64)

    def given(self, parameters: Array) -> Any:
        """Return the binomial distribution."""
        from scipy.stats import binom

        return binom(self.trials, parameters[..., 0])

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return examples of scales with few and with many steps."""
        return tuple(_example(trials) for trials in (4, 30))


def _example(trials: int) -> Example:
    return Example(
        fields={"trials": trials},
        prior={"a": 1.3, "b": 0.4},
        draw=lambda rng, prior, n: rng.binomial(trials, rng.beta(prior[0], prior[1], n)).astype(float),
        column=lambda rng, groups, k: rng.binomial(trials, rng.beta(0.6, 0.6, k)[groups]).astype(float),
        random_prior=lambda rng, values: {"a": rng.gamma(2), "b": rng.gamma(2)},
        edge_cases=((0.0, 1.0), (trials - 1.0, trials), (0.0, trials) * 3),
    )
