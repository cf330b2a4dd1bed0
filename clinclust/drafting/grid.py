"""How probable the numbers of a column are under each kind of distribution, on the grid on which they are written.

A number that is written as 1.3 is any value that rounds to it. So the probability of the interval, and not a density,
is compared between continuous and discrete distributions. With g the step of the grid of all numbers,

    log p(x | kind) = sum_i log P(x_i - g / 2 <= X < x_i + g / 2 | estimates) - (number of parameters) / 2 * log n,

where the second term approximates the integral over the parameters (Schwarz 1978, Annals of Statistics 6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr

from clinclust.arrays import Array
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.negative_binomial import NegativeBinomial
from clinclust.likelihoods.poisson import Poisson

_MOST = 200  # quantiles are judged: a kind that is nearly right must not lose by sheer number
_FINEST, _MOST_LEVELS = 9, 30
_TINY, _NARROW = 1e-300, 1e-4
_DISPERSIONS = np.exp(np.linspace(np.log(0.05), np.log(200.0), 25))
_FEWEST_AT_SPIKE = 2


class Numbers(NamedTuple):
    """The numbers of a column on their grid."""

    values: Array  # (m,) distinct, sorted
    counts: Array  # (m,) of subjects
    step: float

    @property
    def n(self) -> float:
        """The number of subjects."""
        return float(self.counts.sum())

    @property
    def are_whole(self) -> bool:
        """Whether all numbers are whole."""
        return bool((self.values == np.floor(self.values)).all())

    @property
    def median(self) -> float:
        """The median over the subjects."""
        return float(self.values[np.searchsorted(np.cumsum(self.counts), self.n / 2.0)])

    def above_zero(self) -> Numbers:
        """Return the numbers of the subjects that are not 0, or all if they are."""
        kept = self.values != 0.0
        return Numbers(self.values[kept], self.counts[kept], self.step) if kept.any() else self

    def quantiles(self) -> Numbers:
        """Return the numbers of at most 200 subjects, evenly spaced in their order, with the lowest and the highest."""
        if self.n <= _MOST:
            return self
        ranks = np.linspace(0.0, self.n - 0.5, _MOST)
        places = np.searchsorted(np.cumsum(self.counts), ranks, side="right")
        counts = np.bincount(places, minlength=self.values.size).astype(np.float64)
        return Numbers(self.values[counts > 0], counts[counts > 0], self.step)


def numbers_on_grid(values: Array, counts: Array) -> Numbers:
    """Return numbers (m,) with their counts (m,) on the grid on which they are written.

    >>> import numpy as np
    >>> from clinclust.drafting.grid import numbers_on_grid
    >>> numbers_on_grid(np.array([0.5, 1.0, 2.5]), np.ones(3)).step
    0.5
    """
    distinct, place = np.unique(values, return_inverse=True)
    summed = np.bincount(place, weights=counts, minlength=distinct.size).astype(np.float64)
    return Numbers(distinct, summed, _step(distinct))


def _step(distinct: Array) -> float:
    largest = float(np.abs(distinct).max(initial=1.0))
    for decimals in range(_FINEST + 1):
        scaled = distinct * 10.0**decimals
        if largest * 10.0 ** (decimals + 1) > 2.0**52 or np.abs(scaled - np.rint(scaled)).max(initial=0.0) < 1e-4:
            break
    whole = np.rint(np.clip(scaled, -(2.0**52), 2.0**52)).astype(np.int64)
    gaps = np.diff(whole)
    return float(np.gcd.reduce(gaps[gaps > 0]) if (gaps > 0).any() else 1) / 10.0**decimals


def log_probabilities(numbers: Numbers) -> dict[str, float]:
    """Return the log probability of the numbers under each kind of distribution that can have them.

    ``levels``: a probability for each number that occurs, if they are few. ``gaussian``, ``log`` (lognormal),
    ``exponential``. ``poisson``, ``geometric``, ``negative_binomial``, if the numbers are whole and not negative;
    those from 1 on may be counted from 1. ``spike_low_gaussian``, ``spike_low_log``, ``spike_high_gaussian``,
    ``spike_high_log``: the lowest or highest number has a probability of its own.
    """
    judged = numbers.quantiles()
    values, counts, n, half = judged.values, judged.counts, judged.n, judged.step / 2.0
    found = {"levels": _penalised(_log_shares(counts), values.size - 1, n)} if values.size <= _MOST_LEVELS else {}
    found[Gaussian.name] = _penalised(_normal(values, counts, values - half, values + half), 2, n)
    if values[0] > 0.0:
        edges = np.log(np.maximum(values - half, _TINY)), np.log(values + half)
        found["log"] = _penalised(_normal(np.log(values), counts, *edges), 2, n)
    if values[0] >= 0.0:
        steps = np.rint(values / judged.step)
        found[Exponential.name] = _penalised(_geometric(steps, counts), 1, n)
    for end in (0, -1):
        if values.size > 3 and counts[end] >= _FEWEST_AT_SPIKE:
            found |= _with_spike(judged, end)
    if judged.are_whole and values[0] >= 0.0:
        from_one = values - 1.0 if values[0] == 1.0 else values
        found[Poisson.name] = _penalised(max(_poisson(v, counts) for v in (values, from_one)), 1, n)
        found[Geometric.name] = _penalised(max(_geometric(v, counts) for v in (values, from_one)), 1, n)
        found[NegativeBinomial.name] = _penalised(max(_negative_binomial(v, counts) for v in (values, from_one)), 2, n)
    return found


def _with_spike(numbers: Numbers, end: int) -> dict[str, float]:
    """Return the log probabilities with a probability of its own for the lowest (0) or the highest (-1) number."""
    rest, counts, half = np.delete(numbers.values, end), np.delete(numbers.counts, end), numbers.step / 2.0
    mass = _log_shares(np.array([numbers.counts[end], counts.sum()]))
    name = "spike_low" if end == 0 else "spike_high"
    found = {f"{name}_gaussian": mass + _normal(rest, counts, rest - half, rest + half)}
    if rest[0] > 0.0:
        edges = np.log(np.maximum(rest - half, _TINY)), np.log(rest + half)
        found[f"{name}_log"] = mass + _normal(np.log(rest), counts, *edges)
    return {kind: _penalised(value, 3, numbers.n) for kind, value in found.items()}


def _penalised(log_likelihood: float, n_parameters: int, n: float) -> float:
    return log_likelihood - 0.5 * n_parameters * float(np.log(n))


def _log_shares(counts: Array) -> float:
    return float((counts * np.log(counts / counts.sum())).sum())


def _normal(values: Array, counts: Array, low: Array, high: Array) -> float:
    n = counts.sum()
    mean = float((values * counts).sum() / n)
    deviation = float(np.sqrt(max(((values - mean) ** 2 * counts).sum() / n, _TINY)))
    low, high = (low - mean) / deviation, (high - mean) / deviation
    # In the upper half the upper tails are subtracted, which are small and exact there; of narrow ones the density is.
    share = np.where(low > 0.0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    density = np.exp(-((low + high) ** 2) / 8.0) / np.sqrt(2.0 * np.pi) * (high - low)
    share = np.where(high - low < _NARROW, density, share)
    return float((counts * np.log(np.maximum(share, _TINY))).sum())


def _poisson(values: Array, counts: Array) -> float:
    mean = float((values * counts).sum() / counts.sum())
    if mean == 0.0:
        return 0.0
    return float((counts * (values * np.log(mean) - mean - gammaln(values + 1.0))).sum())


def _geometric(values: Array, counts: Array) -> float:
    mean = float((values * counts).sum() / counts.sum())
    if mean == 0.0:
        return 0.0
    return float((counts * (values * (np.log(mean) - np.log1p(mean)) - np.log1p(mean))).sum())


def _negative_binomial(values: Array, counts: Array) -> float:
    """Return the log likelihood at the mean of the values, and the best of some dispersions."""
    mean = float((values * counts).sum() / counts.sum())
    if mean == 0.0:
        return 0.0
    size = _DISPERSIONS[:, None]
    terms = gammaln(values + size) - gammaln(size) - gammaln(values + 1.0)
    terms = terms + size * np.log(size / (size + mean)) + values * np.log(mean / (size + mean))
    return float((terms * counts).sum(axis=1).max())
