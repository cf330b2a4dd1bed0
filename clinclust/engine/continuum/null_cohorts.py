"""Cohorts drawn from one continuous population with the margins and the correlations of given subjects.

The population is a Gaussian copula. Each feature has a normal score z, the subjects' scores have the correlation matrix
R, and a drawn score is mapped to the observed value at the same quantile:

    z ~ N(0, R),   x_j = the observed value of feature j at rank floor(Phi(z_j) n_j).

A feature in two parts is one feature here, whose point masses lie among its other values.

R is chosen so that the drawn values, and not only the latent scores, have the correlations of the subjects: ties weaken
correlations, which a few rounds of drawing and correcting undo. The levels of a nominal feature are ordered by their
mean position on the principal axis of the subjects.

In a unimodal population, the first principal score of z is not normal. It has the subjects' own distribution, smoothed
until it has one mode (`clinclust.engine.continuum.unimodal`): a severity that is skewed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from clinclust.engine.continuum.latent import (
    correlations,
    nearest_correlation,
    standard_normals,
    with_correlation,
)
from clinclust.engine.continuum.normal_scores import (
    first_axis,
    in_score_steps,
    normal_scores,
    reliable_correlations,
    whole_columns,
    with_unit_diagonal,
)
from clinclust.engine.continuum.unimodal import critical_bandwidth, unimodal_draws

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["NULLS", "UNIMODAL", "OnePopulation", "one_population"]

Array = NDArray[np.float64]

UNIMODAL = "unimodal"
NULLS = ("copula", UNIMODAL)
"""Names of the kinds of one population."""

_ROUNDS = 4
_DRAWS_OF_A_ROUND = 3000
_LARGEST = 0.97


@dataclass(frozen=True)
class _Margin:
    """The observed values of one feature in ascending order; a feature in two parts is one, in the order of both."""

    members: tuple[int, ...]
    """The encoded features: one, or the two parts of a feature."""
    subjects: NDArray[np.int64]
    """(n_j,) the subject of each value."""
    scores: Array
    """(n_j,) normal score of each, in steps; ties share the score of their mean rank."""


@dataclass(frozen=True)
class _Severity:
    """The first principal score, drawn with one mode."""

    sample: Array
    """(n,) first principal score of each subject with an observed value."""
    bandwidth: float


@dataclass(frozen=True)
class OnePopulation:
    """One continuous population with the margins and correlations of the subjects of a problem.

    Attributes
    ----------
    part : Problem
        The problem of the subjects.
    margins : tuple
        The observed values of each feature.
    correlation : float64 (D, D)
        Correlations R of the latent normal scores.
    severity : _Severity or None
        Distribution of the first principal score; None = normal.
    quantiles : float64 (M, D) or None
        Sorted latent draws of each feature where they are not standard normal.
    """

    part: Problem
    margins: tuple[_Margin, ...]
    correlation: Array
    severity: _Severity | None = None
    quantiles: Array | None = None

    def draw(self, rng: np.random.Generator) -> Problem:
        """Return the problem with a cohort of the same size drawn from the population, with the same values missing."""
        arrays = self.part.cohort.arrays
        shares = self.shares(self.latent(standard_normals(self.part.cohort.n_subjects, len(self.margins), rng), rng))
        codes, values = arrays.codes.copy(), arrays.values.copy()
        n_table = codes.shape[1]
        for margin, share in zip(self.margins, shares.T, strict=True):
            if not margin.subjects.size:
                continue
            subjects = margin.subjects[_ranks(share, margin)]
            first, *_ = margin.members
            is_seen = arrays.codes[:, first] > 0 if first < n_table else ~np.isnan(arrays.values[:, first - n_table])
            # Both parts of a feature are those of one subject: at a point mass, there is no other value.
            for member in margin.members:
                if member < n_table:
                    codes[:, member] = np.where(is_seen, arrays.codes[subjects, member], 0)
                else:
                    drawn = arrays.values[subjects, member - n_table]
                    values[:, member - n_table] = np.where(is_seen, drawn, np.nan)
        cohort = replace(self.part.cohort, arrays=arrays._replace(codes=codes, values=values))
        return replace(self.part, cohort=cohort)

    def latent(self, normals: Array, rng: np.random.Generator) -> Array:
        """Return latent scores made from independent normal draws, float64 (N, D)."""
        latent = with_correlation(normals, self.correlation)
        if self.severity is None:
            return latent
        axis, variance = first_axis(self.correlation)
        own = np.einsum("ij,j->i", latent, axis)  # the last digits of a BLAS product depend on its threads
        drawn = unimodal_draws(self.severity.sample, self.severity.bandwidth, own.size, rng)
        return np.asarray(latent + (np.sqrt(variance) * drawn - own)[:, None] * axis)

    def shares(self, latent: Array) -> Array:
        """Return the share of the population below each latent score, float64 (N, D)."""
        if self.quantiles is None:
            return np.asarray(ndtr(latent))
        n = self.quantiles.shape[0]
        columns = zip(self.quantiles.T, latent.T, strict=True)
        return np.column_stack([(np.searchsorted(sample, column) + 0.5) / (n + 1) for sample, column in columns])


def one_population(part: Problem, null: str, rng: np.random.Generator) -> OnePopulation:
    """Return the one population of the subjects of a problem.

    Parameters
    ----------
    part : Problem
    null : str
        One of `NULLS`.
    rng : numpy.random.Generator
    """
    columns, members = whole_columns(part.cohort, rng)
    margins = tuple(map(_margin, columns, members))
    scores = np.column_stack([normal_scores(column) for column in columns])
    wanted = reliable_correlations(scores)
    population = OnePopulation(part, margins, nearest_correlation(with_unit_diagonal(wanted)))
    if null == UNIMODAL:
        population = replace(population, severity=_severity(scores, population.correlation))
    return _corrected(population, wanted, rng)


def _corrected(population: OnePopulation, wanted: Array, rng: np.random.Generator) -> OnePopulation:
    """Return the population whose drawn values, rather than its latent scores, have the wanted correlations.

    The same normal draws serve all rounds. Their own correlations differ from R by chance. This is known and taken off,
    because among thousands of subjects such an error would be as large as what the test must see.
    """
    normals = standard_normals(_DRAWS_OF_A_ROUND, len(population.margins), rng)
    for _ in range(_ROUNDS):
        population, latent = _with_quantiles(population, normals, rng)
        shares = population.shares(latent)
        drawn = [
            margin.scores[_ranks(share, margin)] for margin, share in zip(population.margins, shares.T, strict=True)
        ]
        by_chance = correlations(in_score_steps(latent))[0] - population.correlation
        found = correlations(np.column_stack(drawn))[0] - by_chance
        moved = np.clip(population.correlation + wanted - found, -_LARGEST, _LARGEST)
        population = replace(population, correlation=nearest_correlation(with_unit_diagonal(moved)))
    return _with_quantiles(population, normals, rng)[0]


def _with_quantiles(population: OnePopulation, normals: Array, rng: np.random.Generator) -> tuple[OnePopulation, Array]:
    """Return the population with the quantiles of its latent scores, and the latent scores of these normal draws."""
    latent = population.latent(normals, rng)
    if population.severity is not None:
        population = replace(population, quantiles=np.sort(latent, axis=0))
    return population, latent


def _severity(scores: Array, correlation: Array) -> _Severity | None:
    """Return the distribution of the first principal score; None if no feature varies."""
    axis, _ = first_axis(correlation)
    observed = ~np.isnan(scores)
    weights = np.where(observed, axis, 0.0)
    has_some = (weights**2).sum(axis=1) > 0.0
    along = np.einsum("ij,ij->i", np.where(observed, scores, 0.0), weights)[has_some]
    along /= (weights[has_some] ** 2).sum(axis=1)
    return None if along.size == 0 or along.std() == 0.0 else _Severity(along, critical_bandwidth(along))


def _ranks(shares: Array, margin: _Margin) -> NDArray[np.int64]:
    """Return the place of each share among the ordered values of a feature, int64 (N,)."""
    n_values = margin.scores.size
    return np.minimum((shares * n_values).astype(np.int64), n_values - 1)


def _margin(column: Array, members: tuple[int, ...]) -> _Margin:
    """Return the margin of a feature; one that nobody has observed has no subject, and a score that no draw shows."""
    seen = np.flatnonzero(~np.isnan(column))
    if seen.size == 0:
        return _Margin(members, seen, np.zeros(1))
    order = seen[np.argsort(column[seen], kind="stable")]
    return _Margin(members, order, normal_scores(column)[order])
