"""Cohorts drawn from one continuous population with the margins and the correlations of given subjects.

A Gaussian copula: a score z is mapped to the observed value at the same quantile,

    z ~ N(0, R),   x_j = the observed value of feature j at rank floor(Phi(z_j) n_j),

with R such that the drawn values have the subjects' correlations. In a unimodal population, the first principal score
of z has the subjects' own distribution, smoothed until it has one mode (Silverman 1981, *Using kernel density estimates
to investigate multimodality*), and scaled to their variance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from clinclust.arrays import Array, Whole
from clinclust.engine.continuum.normal_scores import (
    correlations,
    first_axis,
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

_BINS = 512
_MARGIN = 3.0
"""How far the bins reach beyond the sample, in standard deviations."""
_HALVINGS = 20
UNIMODAL = "unimodal"
NULLS = ("copula", UNIMODAL)
"""Names of the kinds of one population."""
_ROUNDS = 4
_DRAWS_OF_A_ROUND = 3000
_LARGEST = 0.97


@dataclass(frozen=True)
class OnePopulation:
    """One continuous population with the margins and correlations of the subjects of a problem."""

    part: Problem
    margins: tuple[_Margin, ...]
    """The observed values of each feature."""
    correlation: Array
    """(D, D) correlations R of the latent normal scores."""
    severity: _Severity | None = None
    """Distribution of the first principal score; None = normal."""
    quantiles: Array | None = None
    """(M, D) sorted latent draws of each feature where they are not standard normal."""

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


@dataclass(frozen=True)
class _Margin:
    """The observed values of one feature in ascending order; a feature in two parts is one, in the order of both."""

    members: tuple[int, ...]
    """The encoded features: one, or the two parts of a feature."""
    subjects: Whole
    """(n_j,) the subject of each value."""
    scores: Array
    """(n_j,) normal score of each, in steps; ties share the score of their mean rank."""


@dataclass(frozen=True)
class _Severity:
    """The first principal score, drawn with one mode."""

    sample: Array
    """(n,) first principal score of each subject with an observed value."""
    bandwidth: float


def one_population(part: Problem, null: str, rng: np.random.Generator) -> OnePopulation:
    """Return the one population, of a kind in `NULLS`, of the subjects of a problem."""
    columns, members = whole_columns(part.cohort, rng)
    margins = tuple(map(_margin, columns, members))
    scores = np.column_stack([normal_scores(column) for column in columns])
    wanted = reliable_correlations(scores)
    population = OnePopulation(part, margins, nearest_correlation(with_unit_diagonal(wanted)))
    if null == UNIMODAL:
        population = replace(population, severity=_severity(scores, population.correlation))
    return _corrected(population, wanted, rng)


def critical_bandwidth(sample: Array) -> float:
    """Return the smallest bandwidth, on the scale of the sample (n,), at which its density estimate has one mode."""
    spread = float(sample.std())
    if spread == 0.0:
        return 0.0
    edges = np.linspace(sample.min() - _MARGIN * spread, sample.max() + _MARGIN * spread, _BINS + 1)
    counts = np.histogram(sample, edges)[0].astype(np.float64)
    middles = 0.5 * (edges[1:] + edges[:-1])
    squares = (middles[:, None] - middles) ** 2
    low, high = float(edges[1] - edges[0]), 4.0 * spread
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        one = _n_modes(np.einsum("ij,j->i", np.exp(-0.5 * squares / middle**2), counts)) == 1
        low, high = (low, middle) if one else (middle, high)
    return high


def _n_modes(density: Array) -> int:
    # Far from the sample, densities differ by rounding errors only.
    density = np.where(density > 1e-9 * density.max(), density, 0.0)
    signs = np.sign(np.diff(density))
    signs = signs[signs != 0.0]
    return int((signs[:-1] > signs[1:]).sum())


def unimodal_draws(sample: Array, bandwidth: float, n_draws: int, rng: np.random.Generator) -> Array:
    """Return draws from the density estimate of a sample, with mean 0 and variance 1, float64 (n_draws,)."""
    centred, variance = sample - sample.mean(), float(sample.var())
    drawn = rng.choice(centred, n_draws) + bandwidth * rng.standard_normal(n_draws)
    return np.asarray(drawn / np.sqrt(max(variance + bandwidth**2, 1e-300)))


def _corrected(population: OnePopulation, wanted: Array, rng: np.random.Generator) -> OnePopulation:
    """Return the population whose drawn values, rather than its latent scores, have the wanted correlations."""
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
    axis, _ = first_axis(correlation)
    observed = ~np.isnan(scores)
    weights = np.where(observed, axis, 0.0)
    has_some = (weights**2).sum(axis=1) > 0.0
    along = np.einsum("ij,ij->i", np.where(observed, scores, 0.0), weights)[has_some]
    along /= (weights[has_some] ** 2).sum(axis=1)
    return None if along.size == 0 or along.std() == 0.0 else _Severity(along, critical_bandwidth(along))


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
