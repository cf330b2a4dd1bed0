"""Bernoulli likelihood with a Beta(a, b) prior, for yes/no features (Raykov et al. 2016, appendix A, two levels)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.likelihood import Declaration, Example


@dataclass(frozen=True)
class Bernoulli(Binomial):
    """Success or failure in a single trial: the binomial with trials = 1."""

    trials: int = 1

    name = "bernoulli"
    title = "Bernoulli (yes/no)"
    also_called = ("binary", "boolean", "dichotomous", "yes/no", "yesno", "logical", "flag")
    alternatives = ()
    is_scale = False
    is_yes_no = True
    is_share = True
    takes = frozenset({"levels"})
    drafted_for = frozenset()
    effect_sizes = "shares"
    contrasts = ("counts", "welch", "student", "rank")
    summary = "n"

    @classmethod
    def of(cls, declaration: Declaration) -> Bernoulli:
        """Return the likelihood of a yes/no feature."""
        return cls()

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the probability of yes."""
        (of_one_trial,) = super().parameters(posteriors).values()
        return {"probability": of_one_trial}

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of a yes/no column."""
        return (
            Example(
                prior={"a": 0.7, "b": 1.9},
                draw=lambda rng, prior, n: (rng.random(n) < rng.beta(prior[0], prior[1], n)).astype(float),
                column=lambda rng, groups, k: (rng.random(groups.size) < rng.beta(0.6, 0.6, k)[groups]).astype(float),
                random_prior=lambda rng, values: {"a": rng.gamma(2), "b": rng.gamma(2)},
                edge_cases=((0.0, 0.0, 1.0), (1.0, 0.0, np.nan)),
            ),
        )
