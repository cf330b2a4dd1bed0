"""One continuous population of any shape: the subjects' own distribution, smoothed until it has one peak.

With z_i the normal scores of subject i, R their correlations and e ~ N(0, R), its latent scores are draws of the
smoothed bootstrap (Silverman and Young 1987, *The bootstrap: to smooth or not to smooth?*, Biometrika 74, 469-479)

    z = (z_i + h e) / (1 + h^2)^(1/2),   i drawn with replacement,

with another h in the plane of the first two principal axes than at right angles to it. What is missing of subject i is
missing in its draw; for its place on the axes, it is drawn given what is observed. In the plane, h is the critical
bandwidth (Silverman 1981, *Using kernel density estimates to investigate multimodality*, Journal of the Royal
Statistical Society B 43, 97-99): the smallest at which the density has one peak. A further one counts if the density
falls below .7 of it on every way to a higher one. At right angles, h is N^(-1/(D+4)) (Scott 1992, *Multivariate Density
Estimation*), and e is on the scale of the subject: times the root mean square of its scores there over that of all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, label, maximum

from clinclust.arrays import Array, Labels
from clinclust.engine.continuum.normal_scores import (
    SCORE_STEPS,
    conditional_draws,
    with_correlation,
)
from clinclust.engine.continuum.null_cohorts import DRAWS_OF_A_ROUND, OnePopulation

_FARTHEST, _CELLS = 5.0, 80
"""The plane, in standard deviations from its middle, and its cells along each axis."""
_VALLEY, _LOWEST = 0.7, 0.05
"""Share of a peak below which a valley parts it from a higher one, and of the highest below which none is counted."""
_LEVELS = np.geomspace(_LOWEST * _VALLEY, _VALLEY, 40)
_LEAST, _LARGEST = 0.1, 3.0
"""Bounds of the bandwidth, in standard deviations."""
_HALVINGS = 10


@dataclass(frozen=True)
class SmoothedPopulation(OnePopulation):
    """The subjects' own distribution, smoothed."""

    axes: Array
    """(D, A) the first two principal axes, or one where there is one feature."""
    within: Array
    """(N, A) the subjects' scores along these axes."""
    beside: Array
    """(N, D) what is left of their scores."""
    bandwidth: float
    """h in the plane of the axes."""
    quantiles: Array
    """(M, D) sorted latent draws of each feature."""

    def shares(self, latent: Array) -> Array:
        """Return the share of the observed values of the population below each latent score, float64 (N, D)."""
        columns = zip(self.quantiles.T, (~np.isnan(self.quantiles)).sum(axis=0), latent.T, strict=True)
        return np.column_stack([(np.searchsorted(sample[:n], column) + 0.5) / (n + 1) for sample, n, column in columns])

    def subjects(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Return latent scores of as many subjects, float64 (N, D), and whether each is observed, (N, D)."""
        normals = self.normals(len(self.scores), rng)
        chosen = rng.integers(len(self.scores), size=len(self.scores))
        return self.blurred(chosen, normals), ~np.isnan(self.scores[chosen])

    def blurred(self, chosen: Labels, normals: Array) -> Array:
        """Return the latent scores of chosen subjects (n,), blurred by independent normal draws (n, D); (n, D)."""
        n_subjects, n_features = self.beside.shape
        noise = with_correlation(normals, self.correlation)
        within = noise @ self.axes
        scale = np.sqrt((self.beside**2).mean(axis=1) / max(float((self.beside**2).mean()), 1e-12))
        beside = scale[chosen, None] * (noise - within @ self.axes.T)
        beside = _blurred(self.beside[chosen], beside, n_subjects ** (-1.0 / (n_features + 4.0)))
        return np.asarray(beside + _blurred(self.within[chosen], within, self.bandwidth) @ self.axes.T)


def smoothed_population(straight: OnePopulation, rng: np.random.Generator) -> SmoothedPopulation:
    """Return the population of any shape of the subjects of a straight one."""
    scores = straight.scores / SCORE_STEPS
    scores = conditional_draws(scores, straight.correlation, straight.normals(len(scores), rng))
    axes = np.linalg.eigh(straight.correlation)[1][:, :-3:-1]
    within = scores @ axes
    of_straight = (straight.part, straight.scores, straight.ascending, straight.columns, straight.correlation)
    of_axes = (axes, within, scores - within @ axes.T, one_peak_bandwidth(within))
    population = SmoothedPopulation(*of_straight, *of_axes, scores)
    normals = population.normals(DRAWS_OF_A_ROUND, rng)
    chosen = rng.integers(len(scores), size=len(normals))
    latent = np.where(np.isnan(straight.scores[chosen]), np.nan, population.blurred(chosen, normals))
    return replace(population, quantiles=np.sort(latent, axis=0))


def _blurred(scores: Array, noise: Array, h: float) -> Array:
    return np.asarray((scores + h * noise) / np.sqrt(1.0 + h**2))


def one_peak_bandwidth(plane: Array) -> float:
    """Return the smallest bandwidth at which the density estimate of points, (N, 2) or (N, 1), has one peak.

    It is in standard deviations of each coordinate.
    """
    spread = plane.std(axis=0)
    standard = (plane - plane.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    edges = np.linspace(-_FARTHEST, _FARTHEST, _CELLS + 1)
    counts = np.histogramdd(np.clip(standard, -_FARTHEST, _FARTHEST), bins=[edges] * plane.shape[1])[0]
    low, high = _LEAST, _LARGEST
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if has_one_peak(_smoothed(counts, middle)) else (middle, high)
    return high


def _smoothed(counts: Array, bandwidth: float) -> Array:
    return np.asarray(gaussian_filter(counts, bandwidth * _CELLS / (2.0 * _FARTHEST), mode="constant", truncate=5.0))


def has_one_peak(density: Array) -> bool:
    """Return whether no valley of a density on a grid parts two peaks that count."""
    touching = np.ones((3,) * density.ndim)
    for level in density.max() * _LEVELS:
        parts, n_parts = label(density > level, structure=touching)
        if n_parts > 1:
            peaks = np.asarray(maximum(density, parts, np.arange(1, n_parts + 1)))
            if (peaks * _VALLEY > level).sum() > 1:
                return False
    return True
