"""Ordinal likelihood with a Dirichlet tree prior (`clinclust.priors.dirichlet_tree`), for any distribution of levels.

Observations at one level are also evidence for neighbouring levels. Clinical scales are rarely binomial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.categorical import OfLevels
from clinclust.likelihoods.likelihood import Declaration, Example, steps_of_scale
from clinclust.priors import dirichlet_tree
from clinclust.priors.dirichlet_tree import DirichletTree

_STRENGTH = 3.0
"""Weight of the first split of the default prior, in subjects; a split at depth m weighs m^2 as much, as in a Polya
tree with a density (Lavine 1992): clusters differ in where on the scale they are, and hardly in how often neighbouring
levels are used (`benchmarks/ordinal_prior.py`)."""

_TO_EQUAL = 0.25
"""Share of equal frequencies in the means of the default prior, so that levels not observed keep a probability."""

_DRAFT_STRENGTH = 4.0
"""Weight of each split where the likelihood of a column is chosen: all distributions are about as probable."""


@dataclass(frozen=True)
class Ordinal(OfLevels):
    """One of `n_levels` ordered levels, scored 0 .. n_levels - 1."""

    name = "ordinal"
    title = "ordinal (ordered scales)"
    also_called = ("ordered", "likert", "scale", "graded", "rank", "score")
    alternatives = ("binomial", "categorical")
    prior = DirichletTree
    kernel = 5
    listed_by = "one for each boundary between neighbouring levels"
    is_whole = True
    is_scale = True
    most_steps = 200
    takes = frozenset({"levels", "trials", "minimum", "maximum"})
    drafted_for = frozenset({"scale", "levels"})
    contrasts = ("rank", "welch", "student")

    @classmethod
    def of(cls, declaration: Declaration) -> Ordinal:
        """Return the likelihood of a feature with its declared levels, including those not observed."""
        steps = steps_of_scale(declaration)
        assert steps is not None  # the schema rejects an ordinal feature without a scale
        return cls(steps + 1)

    @classmethod
    def hyperparameter_lengths(cls, declaration: Declaration) -> dict[str, int | None]:
        """Return the names and lengths of `lower` and `upper`: one parameter for each of the L - 1 boundaries."""
        return dict.fromkeys(DirichletTree.NAMES, steps_of_scale(declaration) or 0)

    @property
    def hyperparameter_names(self) -> tuple[str, ...]:
        """The names of both halves, each once for each boundary."""
        return tuple(name for name in DirichletTree.NAMES for _ in range(self.n_levels - 1))

    def default_hyperparameters(self, values: Array) -> Array:
        """Return splits whose weight grows with their depth; their means are observed frequencies of both halves."""
        observed = values[~np.isnan(values)].astype(np.int64)
        counts = np.bincount(observed, minlength=self.n_levels)
        frequencies = _TO_EQUAL / self.n_levels + (1.0 - _TO_EQUAL) * counts / counts.sum()
        return _split(frequencies, _STRENGTH * np.square(dirichlet_tree.depths(self.n_levels), dtype=np.float64))

    def draft_hyperparameters(self, values: Array) -> Array:
        """Return splits of one weight for levels with equal frequencies."""
        return _split(np.full(self.n_levels, 1.0 / self.n_levels), np.full(self.n_levels - 1, _DRAFT_STRENGTH))

    def probabilities(self, posterior: Array) -> Array:
        """Return the mean probability of each level under the Dirichlet tree."""
        return dirichlet_tree.probabilities(posterior)

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return shares of the levels, (R, L), with those of each split from its beta posterior."""
        lower, upper = np.split(posteriors, 2, axis=1)
        shares = rng.beta(lower, upper)
        probabilities = [dirichlet_tree.probabilities(np.concatenate([share, 1.0 - share])) for share in shares]
        return np.array(probabilities).reshape(len(posteriors), self.n_levels)

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the probability of each level: a product of beta variables, as the beta variable of its moments.

        With the default prior, the ends of 95% intervals differ from those of the product by at most 0.005.
        """
        from scipy.stats import beta

        mean, square = dirichlet_tree.moments(posteriors)
        weight = (mean - square) / (square - mean**2)
        return {"probability": beta(mean * weight, (1.0 - mean) * weight)}

    def as_dict(self, hyperparameters: Array) -> dict[str, Any]:
        """Return the parameters of both halves by name, in the order of the boundaries."""
        lower, upper = np.split(hyperparameters, 2)
        return {"lower": lower.tolist(), "upper": upper.tolist()}

    def from_dict(self, given: Mapping[str, Any], default: Array) -> Array:
        """Return the given parameters of each half, or the default where there is no value."""
        lower, upper = np.split(np.asarray(default, dtype=np.float64), 2)
        return np.concatenate([given.get("lower", lower), given.get("upper", upper)]).astype(np.float64)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return examples of a scale with five levels, of three named levels, and of a scale from 1 to 11."""
        return (
            _example({"trials": 4}, 5),
            _example({"levels": ("none", "mild", "severe")}, 3),
            _example({"minimum": 1, "maximum": 11}, 11),
        )


def _split(frequencies: Array, strengths: Array) -> Array:
    """Return the parameters of both halves of splits with the weights `strengths`, shape (L - 1,)."""
    weights = dirichlet_tree.halves(frequencies)
    lower, upper = np.split(weights, 2)
    return np.asarray(np.tile(strengths / (lower + upper), 2) * weights)


def _example(fields: Mapping[str, Any], n_levels: int) -> Example:
    lowest = float(fields.get("minimum", 0))

    def draw(rng: np.random.Generator, prior: Any, n: int) -> Array:
        lower, upper = np.split(np.asarray(prior), 2)
        drawn = []
        for _ in range(n):
            shares = rng.beta(lower, upper)
            drawn.append(rng.choice(n_levels, p=dirichlet_tree.probabilities(np.concatenate([shares, 1.0 - shares]))))
        return np.array(drawn, dtype=np.float64)

    def column(rng: np.random.Generator, groups: Any, n_groups: int) -> Array:
        latent = rng.normal(rng.normal(0.0, 2.0, n_groups)[groups], 1.0)
        return np.asarray(lowest + np.searchsorted(np.sort(rng.normal(0.0, 1.5, n_levels - 1)), latent), np.float64)

    return Example(
        fields=fields,
        prior={"lower": [0.5 + 0.3 * place for place in range(n_levels - 1)], "upper": [1.2] * (n_levels - 1)},
        draw=draw,
        column=column,
        random_prior=lambda rng, values: {
            half: rng.gamma(2, size=n_levels - 1).tolist() for half in DirichletTree.NAMES
        },
        edge_cases=((lowest, lowest + 1.0), (lowest, lowest + n_levels - 1.0, np.nan)),
    )
