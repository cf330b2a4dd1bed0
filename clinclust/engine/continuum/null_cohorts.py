"""Cohorts drawn from one continuous population with the margins and the correlations of given subjects.

A Gaussian copula: a score z is mapped to the observed value at the same quantile,

    z ~ N(0, R),   x_j = the observed value of feature j at rank floor(Phi(z_j) n_j),

with R such that the drawn values have the subjects' correlations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from clinclust.arrays import Array, Whole
from clinclust.engine.continuum.normal_scores import (
    correlations,
    in_score_steps,
    nearest_correlation,
    normal_scores,
    reliable_correlations,
    standard_normals,
    whole_columns,
    with_correlation,
    with_unit_diagonal,
)
from clinclust.engine.problem.problem import Problem

_ROUNDS = 4
DRAWS_OF_A_ROUND = 3000
_LARGEST = 0.97


@dataclass(frozen=True)
class OnePopulation:
    """One continuous population with the margins and correlations of the subjects of a problem."""

    part: Problem
    scores: Array
    """(M, D) the subjects' normal scores; NaN = missing."""
    margins: tuple[_Margin, ...]
    """The observed values of each feature."""
    correlation: Array
    """(D, D) correlations R of the latent normal scores."""

    def draw(self, rng: np.random.Generator) -> tuple[Problem, Array]:
        """Return the problem with a cohort of the same size drawn from the population, with the same values missing.

        Also the normal scores of its features, float64 (N, D), NaN = missing.
        """
        arrays = self.part.cohort.arrays
        latent, observed = self.subjects(rng)
        shares = self.shares(latent)
        codes, values, scores = (
            np.zeros_like(arrays.codes),
            np.full_like(arrays.values, np.nan),
            np.full_like(latent, np.nan),
        )
        n_table = codes.shape[1]
        for place, margin in enumerate(self.margins):
            seen = np.flatnonzero(observed[:, place])
            ranks = _ranks(shares[seen, place], margin)
            subjects = margin.subjects[ranks]
            scores[seen, place] = margin.scores[ranks]
            # Both parts of a feature are those of one subject: at a point mass, there is no other value.
            for member in margin.members:
                if member < n_table:
                    codes[seen, member] = arrays.codes[subjects, member]
                else:
                    values[seen, member - n_table] = arrays.values[subjects, member - n_table]
        cohort = replace(self.part.cohort, arrays=arrays._replace(codes=codes, values=values))
        return replace(self.part, cohort=cohort), scores

    def subjects(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Return latent scores of as many subjects, float64 (N, D), and whether each is observed, (N, D)."""
        return self.latent(self.normals(len(self.scores), rng), rng), ~np.isnan(self.scores)

    def latent(self, normals: Array, rng: np.random.Generator) -> Array:
        """Return latent scores made from independent normal draws, float64 (N, D)."""
        return with_correlation(normals, self.correlation)

    def shares(self, latent: Array) -> Array:
        """Return the share of the population below each latent score, float64 (N, D)."""
        return np.asarray(ndtr(latent))

    def normals(self, n_draws: int, rng: np.random.Generator) -> Array:
        """Return independent normal draws, float64 (n_draws, D)."""
        return standard_normals(n_draws, len(self.margins), rng)

    def found_of(self, normals: Array, rng: np.random.Generator) -> Array:
        """Return the correlations of what is drawn of these normals, less what they have by chance, (D, D)."""
        columns = zip(self.margins, self.shares(self.latent(normals, rng)).T, strict=True)
        scores = np.column_stack([margin.scores[_ranks(share, margin)] for margin, share in columns])
        straight = with_correlation(normals, self.correlation)
        by_chance = correlations(in_score_steps(straight))[0] - self.correlation
        return np.asarray(correlations(scores)[0] - by_chance)

    def moved(self, wanted: Array, found: Array) -> Self:
        """Return the population with correlations moved by the difference of the wanted from those found."""
        moved = np.clip(self.correlation + wanted - found, -_LARGEST, _LARGEST)
        return replace(self, correlation=nearest_correlation(with_unit_diagonal(moved)))


@dataclass(frozen=True)
class _Margin:
    """The observed values of one feature in ascending order; a feature in two parts is one, in the order of both."""

    members: tuple[int, ...]
    """The encoded features: one, or the two parts of a feature."""
    subjects: Whole
    """(n_j,) the subject of each value."""
    scores: Array
    """(n_j,) normal score of each, in steps; ties share the score of their mean rank."""


def one_population(part: Problem, rng: np.random.Generator) -> OnePopulation:
    """Return the one population of the subjects of a problem."""
    columns, members = whole_columns(part.cohort)
    margins = tuple(map(_margin, columns, members))
    scores = np.column_stack([normal_scores(column) for column in columns])
    wanted = reliable_correlations(scores)
    correlation = nearest_correlation(with_unit_diagonal(wanted))
    population = OnePopulation(part, scores, margins, correlation)
    normals = population.normals(DRAWS_OF_A_ROUND, rng)
    for _ in range(_ROUNDS):
        population = population.moved(wanted, population.found_of(normals, rng))
    return population


def _ranks(shares: Array, margin: _Margin) -> Whole:
    n_values = margin.scores.size
    return np.minimum((shares * n_values).astype(np.int64), n_values - 1)


def _margin(column: Array, members: tuple[int, ...]) -> _Margin:
    """Return the margin of a feature; one without observed values has no subject, and a score that is not drawn."""
    seen = np.flatnonzero(~np.isnan(column))
    if seen.size == 0:
        return _Margin(members, seen, np.zeros(1))
    order = seen[np.argsort(column[seen], kind="stable")]
    return _Margin(members, order, normal_scores(column)[order])
