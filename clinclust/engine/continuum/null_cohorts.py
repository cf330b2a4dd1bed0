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

_ROUNDS, _STEP = 2, 1.4
"""How often the correlations are moved, and by how many times their error: ties shrink what a move changes."""
DRAWS_OF_A_ROUND = 3000
_LARGEST = 0.97


@dataclass(frozen=True)
class OnePopulation:
    """One continuous population with the margins and correlations of the subjects of a problem."""

    part: Problem
    scores: Array
    """(M, D) the subjects' normal scores; NaN = missing."""
    ascending: Whole
    """(M, D) the subjects in ascending order of each feature, those without a value last."""
    columns: Whole
    """The column of each encoded feature: the two parts of a feature have the same one, in the order of both."""
    correlation: Array
    """(D, D) correlations R of the latent normal scores."""

    def draw(self, rng: np.random.Generator) -> tuple[Problem, Array]:
        """Return the problem with a cohort of the same size drawn from the population, with the same values missing.

        Also the normal scores of its features, float64 (N, D), NaN = missing.
        """
        arrays = self.part.cohort.arrays
        latent, observed = self.subjects(rng)
        chosen = self.at(self.shares(latent))
        of_codes, of_values = np.split(self.columns, [arrays.codes.shape[1]])
        # Both parts of a feature are those of one subject: at a point mass, there is no other value.
        codes = np.take_along_axis(arrays.codes, np.take(chosen, of_codes, axis=1), axis=0)
        codes[~np.take(observed, of_codes, axis=1)] = 0
        values = np.take_along_axis(arrays.values, np.take(chosen, of_values, axis=1), axis=0)
        values[~np.take(observed, of_values, axis=1)] = np.nan
        cohort = replace(self.part.cohort, arrays=arrays._replace(codes=codes, values=values))
        scores = np.where(observed, np.take_along_axis(self.scores, chosen, axis=0), np.nan)
        return replace(self.part, cohort=cohort), scores

    def at(self, shares: Array) -> Whole:
        """Return the subjects whose values have these shares of the observed ones below them, int64 (N, D)."""
        n_values = (~np.isnan(self.scores)).sum(axis=0)
        ranks = np.minimum((shares * n_values).astype(np.int64), np.maximum(n_values - 1, 0))
        return np.take_along_axis(self.ascending, ranks, axis=0)

    def subjects(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Return latent scores of as many subjects, float64 (N, D), and whether each is observed, (N, D)."""
        return with_correlation(self.normals(len(self.scores), rng), self.correlation), ~np.isnan(self.scores)

    def shares(self, latent: Array) -> Array:
        """Return the share of the population below each latent score, float64 (N, D)."""
        return np.asarray(ndtr(latent))

    def normals(self, n_draws: int, rng: np.random.Generator) -> Array:
        """Return independent normal draws, float64 (n_draws, D)."""
        return standard_normals(n_draws, self.scores.shape[1], rng)

    def found_of(self, normals: Array) -> Array:
        """Return the correlations of what is drawn of these normals, less what they have by chance, (D, D)."""
        straight = with_correlation(normals, self.correlation)
        scores = np.take_along_axis(self.scores, self.at(self.shares(straight)), axis=0)
        by_chance = correlations(in_score_steps(straight))[0] - self.correlation
        return np.asarray(correlations(np.nan_to_num(scores))[0] - by_chance)

    def moved(self, wanted: Array, found: Array) -> Self:
        """Return the population with correlations moved towards those that give the wanted ones, not those found."""
        moved = np.clip(self.correlation + _STEP * (wanted - found), -_LARGEST, _LARGEST)
        return replace(self, correlation=nearest_correlation(with_unit_diagonal(moved)))


def one_population(part: Problem, rng: np.random.Generator) -> OnePopulation:
    """Return the one population of the subjects of a problem."""
    wholes, members = whole_columns(part.cohort)
    columns = np.empty(sum(map(len, members)), dtype=np.int64)
    for place, parts in enumerate(members):
        columns[list(parts)] = place
    scores = np.column_stack([normal_scores(column) for column in wholes])
    ascending = np.argsort(np.column_stack(wholes), axis=0, kind="stable")
    wanted = reliable_correlations(scores)
    correlation = nearest_correlation(with_unit_diagonal(wanted))
    population = OnePopulation(part, scores, ascending, columns, correlation)
    normals = population.normals(DRAWS_OF_A_ROUND, rng)
    for _ in range(_ROUNDS):
        population = population.moved(wanted, population.found_of(normals))
    return population
