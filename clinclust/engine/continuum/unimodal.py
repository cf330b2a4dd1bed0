"""The distribution of a sample, smoothed until it has one mode (Silverman 1981).

*Using kernel density estimates to investigate multimodality*, Journal of the Royal Statistical Society B 43, 97-99. The
number of modes of a Gaussian kernel density estimate falls with its bandwidth. The critical bandwidth is the smallest
at which there is one mode. Draws from that estimate are scaled back to the variance of the sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["critical_bandwidth", "unimodal_draws"]

Array = NDArray[np.float64]

_BINS = 512
_MARGIN = 3.0
"""How far the bins reach beyond the sample, in standard deviations: there the density falls to nothing."""
_HALVINGS = 20


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
