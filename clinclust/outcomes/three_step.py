"""Outcomes by subtype with the errors of assignment carried through: BCH and maximum likelihood, in three steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtrc, digamma, expit, gammaln, log_expit, logit, softmax

from clinclust.arrays import Array, Labels

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


Method: TypeAlias = Literal["bch", "ml", "naive"]

_STEP = 1e-5
"""Of numerical derivatives of scores."""
_POLISHING = 20
_FARTHEST = 18.0
"""Log ratio of a subtype to all, or of the ends of a covariate, beyond which there is no maximum."""
_LEAST_SUBJECTS = 2
"""Fewest subjects for each parameter."""
_CONVERGED = 1e-10
"""Largest mean score of a solution."""


class Estimates(NamedTuple):
    """Parameters with their covariance; empty if there is no solution."""

    parameters: Array
    """(P,) the intercepts of the K subtypes come first."""
    covariance: Array
    """(P, P)"""

    @property
    def found(self) -> bool:
        """Whether there is a solution."""
        return self.parameters.size > 0

    def of(self, contrast: Array) -> tuple[float, float]:
        """Return the estimate and the standard error of a linear combination (P,) of the parameters."""
        return float(contrast @ self.parameters), float(np.sqrt(contrast @ self.covariance @ contrast))


NO_MAXIMUM = "not estimated: too few subjects or events, or a covariate that separates them"
NO_ESTIMATES = Estimates(np.empty(0), np.empty((0, 0)))


def assignment_errors(membership: Array, assigned: Labels) -> Array:
    """Return D, the chance of each assignment (columns) of the members of each subtype (rows), float64 (K, K).

    Membership is (N, K), assignments are 0 .. K - 1, (N,).
    """
    joint = np.column_stack([membership[assigned == s].sum(axis=0) for s in range(membership.shape[1])])
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def outcome_by_subtype(
    density: Density, y: Array, covariates: Array, errors: Array, assigned: Labels, method: Method
) -> Estimates:
    """Return the intercepts of the subtypes (K,), the slopes of the covariates (C,) and the shape parameters.

    Outcomes are (N,) or (N, 2J), covariates (N, C), the errors of assignment (K, K), assignments (N,). Of ``"ml"``, the
    log odds of the subtypes 2 .. K against the first come last.
    """
    n_subtypes, n_covariates = len(errors), covariates.shape[1]
    first, shape = density.start(y)
    start, n_shape = np.concatenate([np.full(n_subtypes, first), np.zeros(n_covariates), shape]), shape.size
    if method != "naive":  # weights below 0 make far parts of the objective rise without end
        naive = outcome_by_subtype(density, y, covariates, errors, assigned, "naive")
        start = naive.parameters if naive.found else start
    own = errors.T[assigned]  # (N, K) chance of the assignment of each subject, if it is a member of k
    weights = np.eye(n_subtypes)[assigned] if method == "naive" else np.linalg.inv(errors)[assigned]
    if method == "ml":
        shares = np.linalg.solve(errors.T, np.bincount(assigned, minlength=n_subtypes) / assigned.size)
        shares = np.log(np.maximum(shares, 0.01))
        start = np.concatenate([start, shares[1:] - shares[0]])

    def objective(parameters: Array) -> tuple[float, Array]:
        intercepts, slopes, own_shape, odds = np.split(parameters, np.cumsum([n_subtypes, n_covariates, n_shape]))
        eta = intercepts + (covariates @ slopes)[:, None]
        terms = density.terms(y, eta, own_shape)
        if method == "ml":
            shares = softmax(np.concatenate([[0.0], odds]))
            joint = terms.log_density + np.log(np.maximum(own * shares, 1e-300))
            most = joint.max(axis=1, keepdims=True)
            total = np.exp(joint - most).sum(axis=1)
            counted = np.exp(joint - most) / total[:, None]
            value, of_shares = float((np.log(total) + most[:, 0]).sum()), counted[:, 1:] - shares[1:]
        else:
            counted, value = weights, float((weights * terms.log_density).sum())
            of_shares = np.empty((len(y), 0))
        of_eta = counted * terms.of_eta
        of_slopes = of_eta.sum(axis=1)[:, None] * covariates
        of_shape = (counted * terms.of_shape).sum(axis=2).T
        return value, np.hstack([of_eta, of_slopes, of_shape, of_shares])

    found = maximised(objective, start)
    if not density.is_ratio or not found.found:
        return found
    intercepts, slopes, _ = np.split(found.parameters, [n_subtypes, n_subtypes + n_covariates])
    return NO_ESTIMATES if _is_apart(intercepts - first, slopes, covariates) else found


def predictors_of_subtype(
    predictors: Array, errors: Array, assigned: Labels, versus: int, method: Literal["ml", "naive"]
) -> Estimates:
    """Return the multinomial log odds of each other subtype than `versus`, by intercept and slopes, (K - 1) (1 + C).

    Maximises sum_i ln sum_k pi_k(x_i) D_(k, s_i) over pi_k(x) = softmax of the log odds (Vermunt 2010), for predictors
    (N, C); `"naive"` takes assignments for known.
    """
    n_subtypes = len(errors)
    own = (np.eye(n_subtypes) if method == "naive" else errors).T[assigned]
    columns = np.hstack([np.ones((len(predictors), 1)), predictors])
    others = np.delete(np.arange(n_subtypes), versus)

    def objective(parameters: Array) -> tuple[float, Array]:
        odds = np.zeros((len(columns), n_subtypes))
        odds[:, others] = columns @ parameters.reshape(others.size, -1).T
        shares = softmax(odds, axis=1)
        chance = np.maximum((shares * own).sum(axis=1), 1e-300)
        change = (shares * own / chance[:, None] - shares)[:, others]
        return float(np.log(chance).sum()), (change[:, :, None] * columns[:, None, :]).reshape(len(columns), -1)

    found = maximised(objective, np.zeros(others.size * columns.shape[1]))
    if not found.found:
        return found
    odds = found.parameters.reshape(others.size, -1)
    return NO_ESTIMATES if any(_is_apart(one[:1], one[1:], predictors) for one in odds) else found


def _is_apart(intercepts: Array, slopes: Array, columns: Array) -> bool:
    """Return whether a share of 0 or 1 in a subtype or at an end of a column (N, C) leaves no maximum."""
    reach = np.abs(slopes) * np.ptp(columns, axis=0) if slopes.size else np.zeros(1)
    return bool(max(np.abs(intercepts).max(), reach.max()) > _FARTHEST)


def maximised(objective: Callable[[Array], tuple[float, Array]], start: Array) -> Estimates:
    """Return the parameters (P,) that maximise an objective, with robust covariance; none if there is no maximum.

    The objective returns its value, and the score of each subject, float64 (N, P).
    """
    n_subjects = len(objective(start)[1])
    if n_subjects < _LEAST_SUBJECTS * start.size:
        return NO_ESTIMATES

    def negative(parameters: Array) -> tuple[float, Array]:
        value, scores = objective(parameters)
        return -value / n_subjects, -scores.sum(axis=0) / n_subjects

    with np.errstate(all="ignore"):
        found = minimize(negative, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
        for _ in range(_POLISHING):
            gradient = negative(found)[1]
            hessian = _jacobian(lambda at: negative(at)[1], found)
            if not np.isfinite(hessian).all() or np.linalg.cond(hessian) > 1e10:
                return NO_ESTIMATES
            if np.abs(gradient).max() <= _CONVERGED:
                break
            found = found - np.linalg.solve(hessian, gradient)
        else:
            return NO_ESTIMATES
    if np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[0] <= 0.0:
        return NO_ESTIMATES
    scores = objective(found)[1] / n_subjects
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ (scores.T @ scores) @ inverse.T
    if not (np.diag(covariance) > 0.0).all():
        return NO_ESTIMATES
    return Estimates(found, covariance * n_subjects / max(n_subjects - found.size, 1))


def _jacobian(function: Callable[[Array], Array], at: Array) -> Array:
    """Return the derivatives of a function (P,) -> (P,) by central differences, float64 (P, P)."""
    steps = _STEP * np.maximum(1.0, np.abs(at))
    columns = [
        (function(at + step * unit) - function(at - step * unit)) / (2.0 * step)
        for step, unit in zip(steps, np.eye(at.size), strict=True)
    ]
    return np.column_stack(columns)


class Periods(NamedTuple):
    """Estimates before and after a time, and the test that ratios are the same in both."""

    until: float
    estimates: tuple[Estimates, Estimates]
    statistic: float
    p: float


def in_two_periods(
    time: Array,
    event: Array,
    entry: Array,
    covariates: Array,
    errors: Array,
    labels: Labels,
    versus: int,
    method: Method,
) -> Periods | None:
    """Return the hazards of K subtypes in two periods; None where one of them has too few events.

    Times, events and entries are (n,), covariates (n, C), the errors of assignment (K, K), assignments (n,).
    """
    until = float(np.median(time[event > 0.0]))
    found = []
    for is_late in (False, True):
        rows = (time > until) if is_late else (entry < until)
        if np.unique(labels[rows]).size < len(errors):
            return None
        ends, begins = (time, np.maximum(entry, until)) if is_late else (np.minimum(time, until), entry)
        happened = (event > 0.0) & ((time > until) == is_late)
        y = in_intervals(ends[rows], happened[rows].astype(np.float64), begins[rows])
        estimates = outcome_by_subtype(DENSITIES["survival"], y, covariates[rows], errors, labels[rows], method)
        if not estimates.found:
            return None
        found.append(estimates)
    contrast = np.delete(np.eye(len(errors)) - np.eye(len(errors))[versus], versus, axis=0)
    means = [contrast @ one.parameters[: len(errors)] for one in found]
    spread = sum(contrast @ one.covariance[: len(errors), : len(errors)] @ contrast.T for one in found)
    apart = means[1] - means[0]
    statistic = float(apart @ np.linalg.solve(spread, apart))
    return Periods(until, (found[0], found[1]), statistic, float(chdtrc(apart.size, statistic)))
