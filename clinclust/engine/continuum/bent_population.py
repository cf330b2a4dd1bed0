"""One continuous population that bends: features curved along a severity, with a scatter that changes along it.

With t the severity, of the subjects' own distribution smoothed until it has one mode (Silverman 1981, *Using kernel
density estimates to investigate multimodality*, Journal of the Royal Statistical Society B 43, 97-99), v and lambda the
first eigenvector and eigenvalue of R, and e ~ N(0, R - lambda v v'), the latent score of feature j is

    z_j = lambda^(1/2) v_j t + c_j (t^2 - 1) + e_j exp(h_j t + k_1 t + k_2 (|t| - .8) + g),
    g ~ N(-s, s),   s = ln(1 + w) / 4

with curvature c, slopes h of the log scatter of a feature and k of that of all, and a scale g that the features of a
subject share; w is the mean covariance of the squared standardised e of two features. t in c, h and k is at most 4 in
size. Estimates within 2^(1/2) standard errors of 0 are 0. The others are corrected by indirect inference (Gourieroux,
Monfort and Renault 1993, *Indirect inference*, Journal of Applied Econometrics 8, S85-S118) towards drawn cohorts with
the same estimates, the faster the more standard errors they are from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from clinclust.arrays import Array
from clinclust.engine.continuum.normal_scores import (
    SCORE_STEPS,
    expected_score,
    first_axis,
    nearest_correlation,
    reliable_correlations,
    with_correlation,
    with_unit_diagonal,
)
from clinclust.engine.continuum.null_cohorts import OnePopulation

_BINS = 512
_MARGIN = 3.0
"""How far the bins reach beyond the sample, in standard deviations."""
_HALVINGS = 20
_ROUNDS = 6
_STEP = 1.3
"""How far an estimate is corrected in a round, as a multiple of its difference."""
_FARTHEST = 4.0
"""Largest severity, in standard deviations, along which features bend."""
_MOST_BENT, _MOST_SCALE = 0.8, 3.0
"""Largest curvature and slope, and largest w."""
_FEWEST = 30
"""Fewest values of a feature whose bend is estimated, and fewest subjects with a severity."""
_FEWEST_VALUES, _FEWEST_FEATURES = 9, 3
"""Fewest different values of a feature, and fewest such features, whose scatter is estimated."""
_MEAN_SIZE = 0.8
"""Mean of |t| of a normal t."""
_FLOOR = 0.05
"""Added to squared residuals before their logarithm is taken."""
_MOST_SQUARE = 25.0


class Bend(NamedTuple):
    """How a population bends."""

    curvature: Array
    """c, (D,)."""
    slope: Array
    """h, (D,)."""
    common: Array
    """k, (2,)."""
    scale: Array
    """w, ()."""

    def toward(self, wanted: Bend, found: Bend, share: Bend) -> Bend:
        """Return this bend corrected by shares of the difference of the wanted from the found estimates."""
        moved = [own + part * _STEP * (to - at) for own, to, at, part in zip(self, wanted, found, share, strict=True)]
        c, h, k = (np.clip(each, -_MOST_BENT, _MOST_BENT) for each in moved[:3])
        return Bend(c, h, k, np.clip(moved[3], 0.0, _MOST_SCALE))


@dataclass(frozen=True)
class BentPopulation(OnePopulation):
    """One continuous population that bends."""

    axis: Array
    """(D,) the subjects' first axis: the direction in which a severity is higher."""
    severity: Array
    """(n,) the severity of each subject of whom something is observed."""
    bandwidth: float
    bend: Bend
    quantiles: Array
    """(M, D) sorted latent draws of each feature."""

    def with_quantiles(self, latent: Array) -> Self:
        """Return the population with the quantiles of these latent scores."""
        return replace(self, quantiles=np.sort(latent, axis=0))

    def shares(self, latent: Array) -> Array:
        """Return the share of the population below each latent score, float64 (N, D)."""
        n = len(self.quantiles)
        columns = zip(self.quantiles.T, latent.T, strict=True)
        return np.column_stack([(np.searchsorted(sample, column) + 0.5) / (n + 1) for sample, column in columns])

    def latent(self, normals: Array, rng: np.random.Generator) -> Array:
        """Return latent scores made from independent normal draws, float64 (N, D)."""
        straight = with_correlation(normals, self.correlation)
        axis, variance = first_axis(self.correlation, self.axis)
        rest = straight - np.einsum("ij,j->i", straight, axis)[:, None] * axis
        t = unimodal_draws(self.severity, self.bandwidth, len(normals), rng)[:, None]
        near, spread = np.clip(t, -_FARTHEST, _FARTHEST), 0.25 * np.log1p(self.bend.scale)
        scatter = self.bend.slope * near + np.sqrt(spread) * rng.standard_normal(t.shape) - spread
        scatter += self.bend.common[0] * near + self.bend.common[1] * (np.abs(near) - _MEAN_SIZE)
        bent = np.sqrt(variance) * t * axis + self.bend.curvature * (near**2 - 1.0)
        return np.asarray(bent + rest * np.exp(np.clip(scatter, -2.0, 2.0)))


def bent_population(straight: OnePopulation, rng: np.random.Generator) -> OnePopulation:
    """Return the population that bends as the subjects of a straight one do.

    It is the straight one where too few subjects have a severity.
    """
    axis, _ = first_axis(straight.correlation)
    severity, estimates, squares = bend_of(straight.scores, straight.correlation, axis)
    seen = severity[~np.isnan(severity)]
    if seen.size < _FEWEST or seen.std() == 0.0:
        return straight
    # By chance, the square of an estimate in standard errors has mean 1; up to twice that counts as noise.
    share = Bend(*(np.maximum(0.0, 1.0 - 2.0 / np.maximum(each, 1e-9)) for each in squares))
    bend = Bend(*(part * each for part, each in zip(share, estimates, strict=True)))
    of_straight = (straight.part, straight.scores, straight.margins, straight.correlation)
    quantiles = np.empty((0, len(straight.margins)))
    population = BentPopulation(*of_straight, axis, seen, critical_bandwidth(seen), bend, quantiles)
    wanted = reliable_correlations(straight.scores)
    normals, seed = population.normals(rng), int(rng.integers(2**32))
    for _ in range(_ROUNDS):
        population, drawn = population.drawn(normals, np.random.default_rng(seed))
        found = nearest_correlation(with_unit_diagonal(drawn.correlation))
        _, of_drawn, _ = bend_of(drawn.scores, found, first_axis(found, axis)[0])
        bend = population.bend.toward(estimates, of_drawn, share)
        population = replace(population.moved(wanted, drawn.correlation), bend=bend)
    return population.drawn(normals, np.random.default_rng(seed))[0]


def bend_of(scores: Array, correlation: Array, axis: Array) -> tuple[Array, Bend, Bend]:
    """Return the severity (N,), the estimated bend, and the estimates squared in standard errors, of normal scores.

    The severity is the standardised principal score along an axis (D,) of the correlations.
    """
    z, n_features = scores / SCORE_STEPS, int(scores.shape[1])
    t = expected_score(z, correlation, axis)
    t = (t - np.nanmean(t)) / max(float(np.nanstd(t)), 1e-9) if np.isfinite(t).any() else t
    near = np.clip(t, -_FARTHEST, _FARTHEST)
    z = np.where(np.isnan(t)[:, None], np.nan, z)
    n_values = np.array([np.unique(column[~np.isnan(column)]).size for column in z.T])
    is_curved = ((~np.isnan(z)).sum(axis=0) >= _FEWEST) & (n_values > 1)
    along = np.nan_to_num(np.column_stack([np.ones(t.size), near, near**2 - 1.0, np.abs(near) - _MEAN_SIZE]))
    curvature, of_curvature, left = _slopes(along[:, :3], z)
    curvature, of_curvature = np.where(is_curved, (curvature[:, -1], of_curvature[:, -1]), 0.0)
    measured = np.flatnonzero(is_curved & (n_values >= _FEWEST_VALUES))
    squares = left[:, measured] ** 2
    squares /= np.maximum(np.nanmean(squares, axis=0), 1e-9) if squares.size else 1.0
    n_seen = (~np.isnan(squares)).sum(axis=1)
    enough = n_seen >= max(2, measured.size // 3)
    slope, of_slope = np.zeros((2, n_features))
    if measured.size < _FEWEST_FEATURES or enough.sum() < _FEWEST:
        flat, nothing = np.zeros(2), np.array(0.0)
        return t, Bend(curvature, slope, flat, nothing), Bend(of_curvature, of_slope, flat, nothing)
    squares, along = squares[enough], along[enough][:, [0, 1, 3]]
    mean = np.nansum(squares, axis=1) / n_seen[enough]
    (common,), (of_common,), _ = _slopes(along, 0.5 * np.log(mean + _FLOOR)[:, None])
    own, of_own, _ = _slopes(along[:, :2], 0.5 * np.log(squares + _FLOOR) - (common[1] * along[:, 1])[:, None])
    slope[measured], of_slope[measured] = own[:, -1], of_own[:, -1]
    expected = np.exp(2.0 * (along @ common))
    scale, of_scale = _shared(np.minimum(squares, _MOST_SQUARE) / (expected / expected.mean())[:, None])
    return t, Bend(curvature, slope, common[1:], scale), Bend(of_curvature, of_slope, of_common[1:], of_scale)


def _slopes(columns: Array, values: Array) -> tuple[Array, Array, Array]:
    """Regress each of D variables (N, D), NaN = missing, on columns (N, P).

    Return the slopes (D, P), their squares in robust standard errors (White 1980), and what is left, (N, D).
    """
    n_columns = columns.shape[1]
    products = (columns[:, :, None] * columns[:, None, :]).reshape(-1, n_columns**2)
    seen, square = (~np.isnan(values)).astype(np.float64), (-1, n_columns, n_columns)
    inverse = np.linalg.pinv((seen.T @ products).reshape(square), hermitian=True)
    slopes = (inverse @ (np.nan_to_num(values).T @ columns)[:, :, None])[:, :, 0]
    left = values - columns @ slopes.T
    of_left = inverse @ ((np.nan_to_num(left) ** 2).T @ products).reshape(square) @ inverse
    errors = np.diagonal(of_left, axis1=1, axis2=2)
    return slopes, slopes**2 / np.maximum(errors, 1e-12), left


def _shared(squares: Array) -> tuple[Array, Array]:
    """Return the mean covariance of squares (N, D), NaN = missing, of two features, and its square in its errors."""
    seen = ~np.isnan(squares)
    n_pairs = (seen.sum(axis=1) - 1.0) * seen.sum(axis=1)
    centred = np.where(seen, squares - np.nanmean(squares, axis=0), 0.0)
    products = centred.sum(axis=1) ** 2 - (centred**2).sum(axis=1)
    mean = products.sum() / max(n_pairs.sum(), 1.0)
    error = np.sqrt((products**2).sum()) / max(n_pairs.sum(), 1.0)
    return np.asarray(mean), np.asarray((mean / max(error, 1e-9)) ** 2 if mean > 0.0 else 0.0)


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
