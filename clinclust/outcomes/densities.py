"""Densities of outcomes by the linear predictor of a subtype: their logarithms and derivatives.

With eta = b_k + x' gamma of a subject in subtype k, and shape parameters s that all subtypes share:

    continuous   y ~ N(eta, exp(2 s_1))
    binary       P(y = 1) = 1 / (1 + exp(-eta))
    count        y ~ negative binomial with mean exp(eta) and size exp(s_1); Poisson where there is no finite size
    ordered      P(y <= j) = 1 / (1 + exp(eta - a_j)),  a_0 = 0,  a_j = a_(j-1) + exp(s_j)        (proportional odds)
    survival     hazard exp(eta + s_j) in interval j, s_0 = 0: proportional hazards, with a baseline that is constant
                 between quantiles of the event times (Friedman 1982, Ann Stat 10, 101-113), close to Cox regression
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, expit, gammaln, log_expit, logit

from clinclust.arrays import Array

_LARGEST = 30.0
"""Bound of exponents."""
_MOST_SIZE = 12.0
"""Bound of the log size, at which counts are Poisson."""
_EVENTS_OF_AN_INTERVAL, _MOST_INTERVALS = 8, 12


class Terms(NamedTuple):
    """The log densities of outcomes, and their derivatives."""

    log_density: Array
    """(N, K)"""
    of_eta: Array
    """(N, K)"""
    of_shape: Array
    """(S, N, K)"""


class Density(NamedTuple):
    """The density of an outcome. The outcomes of N subjects are (N,), or (N, 2J) as `in_intervals` returns them."""

    terms: Callable[[Array, Array, Array], Terms]
    """Returns the terms of outcomes by linear predictors (N, K) and shape parameters (S,)."""
    start: Callable[[Array], tuple[float, Array]]
    """Returns an intercept and shape parameters (S,) for outcomes in one group."""
    measure: str
    """What is reported of a difference of linear predictors: its exponential, if this is a ratio."""
    level: str = ""
    """What `on_scale` of the linear predictor of a subtype is; empty for nothing."""
    on_scale: Callable[[Array], Array] = np.asarray

    @property
    def is_ratio(self) -> bool:
        """Whether the exponential of a difference is reported."""
        return self.measure.endswith("ratio")


def _normal(y: Array, eta: Array, shape: Array) -> Terms:
    log_sd = np.clip(shape[0], -_LARGEST, _LARGEST)
    standard = (y[:, None] - eta) * np.exp(-log_sd)
    return Terms(-0.5 * standard**2 - log_sd, standard * np.exp(-log_sd), (standard**2 - 1.0)[None])


def _bernoulli(y: Array, eta: Array, shape: Array) -> Terms:
    is_one = y[:, None]
    log_density = np.where(is_one > 0.0, log_expit(eta), log_expit(-eta))
    return Terms(log_density, is_one - expit(eta), np.empty((0, *eta.shape)))


def _negative_binomial(y: Array, eta: Array, shape: Array) -> Terms:
    size, count = np.exp(np.clip(shape[0], -_LARGEST, _MOST_SIZE)), y[:, None]
    log_mean = np.clip(eta, -_LARGEST, _LARGEST)
    mean, share = np.exp(log_mean), np.log1p(np.exp(log_mean) / size)
    log_density = gammaln(count + size) - gammaln(size) - gammaln(count + 1.0) - size * share
    log_density += count * (log_mean - np.log(size) - share)
    of_size = digamma(count + size) - digamma(size) - share + (mean - count) / (size + mean)
    return Terms(log_density, (count - mean) * size / (size + mean), (size * of_size)[None])


def _poisson(y: Array, eta: Array, shape: Array) -> Terms:
    mean, count = np.exp(np.clip(eta, -_LARGEST, _LARGEST)), y[:, None]
    return Terms(count * eta - mean - gammaln(count + 1.0), count - mean, np.empty((0, *eta.shape)))


def _proportional_odds(y: Array, eta: Array, shape: Array) -> Terms:
    steps, level = np.exp(np.clip(shape, -_LARGEST, _LARGEST)), y.astype(np.int64)
    cuts = np.concatenate([[-np.inf, 0.0], np.cumsum(steps), [np.inf]])
    upper, lower = cuts[level + 1][:, None] - eta, cuts[level][:, None] - eta
    chance = np.maximum(expit(upper) - expit(lower), 1e-300)
    at_upper, at_lower = expit(upper) * expit(-upper) / chance, expit(lower) * expit(-lower) / chance
    places = np.arange(shape.size)[:, None]
    in_upper, in_lower = (level > places)[:, :, None], (level > places + 1)[:, :, None]
    of_shape = steps[:, None, None] * (at_upper * in_upper - at_lower * in_lower)
    return Terms(np.log(chance), at_lower - at_upper, of_shape)


def _piecewise_exponential(y: Array, eta: Array, shape: Array) -> Terms:
    died, exposed = np.split(y, 2, axis=1)
    log_baseline = np.concatenate([[0.0], np.clip(shape, -_LARGEST, _LARGEST)])
    expected = exposed * np.exp(log_baseline)
    ratio = np.exp(np.clip(eta, -_LARGEST, _LARGEST))
    log_density = (died @ log_baseline)[:, None] + died.sum(axis=1)[:, None] * eta
    log_density -= expected.sum(axis=1)[:, None] * ratio
    of_shape = died.T[1:, :, None] - expected.T[1:, :, None] * ratio
    return Terms(log_density, died.sum(axis=1)[:, None] - expected.sum(axis=1)[:, None] * ratio, of_shape)


def in_intervals(time: Array, event: Array, entry: Array) -> Array:
    """Return events (N, J), 0 or 1, and times at risk (N, J) in each interval, side by side.

    Times are (N,), events 0 or 1. Each interval has at least eight events; there are at most twelve.
    """
    times = np.sort(time[event > 0.0])
    n_intervals = int(np.clip(times.size // _EVENTS_OF_AN_INTERVAL, 1, _MOST_INTERVALS))
    ends = np.unique(np.quantile(times, np.arange(1, n_intervals) / n_intervals)) if times.size else np.empty(0)
    ends = ends[ends < times[-1]] if times.size else ends
    edges = np.concatenate([[-np.inf], ends, [np.inf]])
    place = np.searchsorted(ends, time, side="left")  # an event at an end belongs to the interval before it
    died = (place[:, None] == np.arange(edges.size - 1)) * (event > 0.0)[:, None]
    exposed = np.minimum(time[:, None], edges[1:]) - np.maximum(entry[:, None], edges[:-1])
    return np.hstack([died.astype(np.float64), np.maximum(exposed, 0.0)])


def _start_of_levels(y: Array) -> tuple[float, Array]:
    below = np.cumsum(np.bincount(y.astype(np.int64)) / y.size)[:-1]
    cuts = logit(np.clip(below, 1e-3, 1.0 - 1e-3))
    return -float(cuts[0]), np.log(np.maximum(np.diff(cuts), 1e-3))


def _start_of_hazard(y: Array) -> tuple[float, Array]:
    died, exposed = (each.sum(axis=0) for each in np.split(y, 2, axis=1))
    logs = np.log(np.maximum(died, 0.5) / np.maximum(exposed, 1e-12))
    return float(logs[0]), logs[1:] - logs[0]


def _log_mean(y: Array) -> float:
    return float(np.log(max(y.mean(), 1e-3)))


_NO_SHAPE = np.empty(0)
DENSITIES: dict[str, Density] = {
    "continuous": Density(
        _normal, lambda y: (float(y.mean()), np.log([max(float(y.std()), 1e-6)])), "mean difference", "mean"
    ),
    "binary": Density(
        _bernoulli,
        lambda y: (float(logit(np.clip(y.mean(), 0.01, 0.99))), _NO_SHAPE),
        "odds ratio",
        "share",
        lambda eta: np.asarray(expit(eta)),
    ),
    "count": Density(_negative_binomial, lambda y: (_log_mean(y), np.ones(1)), "rate ratio", "mean", np.exp),
    "ordered": Density(_proportional_odds, _start_of_levels, "odds ratio"),
    "survival": Density(_piecewise_exponential, _start_of_hazard, "hazard ratio"),
}
POISSON = Density(_poisson, lambda y: (_log_mean(y), _NO_SHAPE), "rate ratio", "mean", np.exp)
"""Of counts without overdispersion."""
