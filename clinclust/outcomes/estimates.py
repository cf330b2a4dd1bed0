"""Models of an outcome in three steps, of predictors of subtypes, and estimates where a likelihood has no maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, digamma, expit, gammaln, log_softmax, logsumexp, softmax

from clinclust.arrays import Array, Labels, Mask
from clinclust.comparisons.differences import NORMAL_QUANTILE

LARGEST, _MOST_SIZE = 30.0, 12.0  # bounds of exponents, and of the log size, at which counts are Poisson
_EVENTS_OF_AN_INTERVAL, _MOST_INTERVALS = 8, 12  # at least so many events, at most so many intervals
# The log densities of outcomes (N, K), and their derivatives by linear predictors (N, K) and shapes (S, N, K).
Terms: TypeAlias = tuple[Array, Array, Array]


class Density(NamedTuple):
    """The density of an outcome, of N subjects (N,), or (N, 2J) as `in_intervals` returns them."""

    terms: Callable[[Array, Array, Array], Terms]  # by outcomes, linear predictors (N, K) and shape parameters (S,)
    start: Callable[[Array], tuple[float, Array]]  # an intercept, and shape parameters
    measure: str  # what is reported of a difference of linear predictors
    level: str = ""  # what is reported of the linear predictor of a subtype, if anything
    on_scale: Callable[[Array], Array] = np.exp
    on_difference: Callable[[Array], Array] = np.exp


def _normal(y: Array, eta: Array, shape: Array) -> Terms:
    log_sd = np.clip(shape[0], -LARGEST, LARGEST)
    standard = (y[:, None] - eta) * np.exp(-log_sd)
    return (-0.5 * standard**2 - log_sd, standard * np.exp(-log_sd), (standard**2 - 1.0)[None])


def _negative_binomial(y: Array, eta: Array, shape: Array) -> Terms:
    size, count = np.exp(np.clip(shape[0], -LARGEST, _MOST_SIZE) if shape.size else _MOST_SIZE), y[:, None]
    log_mean = np.clip(eta, -LARGEST, LARGEST)
    mean, share = np.exp(log_mean), np.log1p(np.exp(log_mean) / size)
    log_density = gammaln(count + size) - gammaln(size) - gammaln(count + 1.0) - size * share
    log_density += count * (log_mean - np.log(size) - share)
    of_size = digamma(count + size) - digamma(size) - share + (mean - count) / (size + mean)
    return (log_density, (count - mean) * size / (size + mean), (size * of_size)[None][: shape.size])


def _proportional_odds(y: Array, eta: Array, shape: Array) -> Terms:
    """Return those of levels 0, 1, ...; of two levels it is logistic regression."""
    steps, level = np.exp(np.clip(shape, -LARGEST, LARGEST)), y.astype(np.int64)
    cuts = np.concatenate([[-np.inf, 0.0], np.cumsum(steps), [np.inf]])
    upper, lower = cuts[level + 1][:, None] - eta, cuts[level][:, None] - eta
    chance = np.maximum(expit(upper) - expit(lower), 1e-300)
    at_upper, at_lower = expit(upper) * expit(-upper) / chance, expit(lower) * expit(-lower) / chance
    places = np.arange(shape.size)[:, None]
    in_upper, in_lower = (level > places)[:, :, None], (level > places + 1)[:, :, None]
    of_shape = steps[:, None, None] * (at_upper * in_upper - at_lower * in_lower)
    return (np.log(chance), at_lower - at_upper, of_shape)


def _piecewise_exponential(y: Array, eta: Array, shape: Array) -> Terms:
    died, exposed = np.split(y, 2, axis=1)
    log_baseline = np.concatenate([[0.0], np.clip(shape, -LARGEST, LARGEST)])
    expected = exposed * np.exp(log_baseline)
    ratio = np.exp(np.clip(eta, -LARGEST, LARGEST))
    log_density = (died @ log_baseline)[:, None] + died.sum(axis=1)[:, None] * eta
    log_density -= expected.sum(axis=1)[:, None] * ratio
    of_shape = died.T[1:, :, None] - expected.T[1:, :, None] * ratio
    return (log_density, died.sum(axis=1)[:, None] - expected.sum(axis=1)[:, None] * ratio, of_shape)


def in_intervals(event: Array, time: Array, entry: Array) -> Array:
    """Return events, 0 or 1, and times at risk in each of J intervals, side by side, (N, 2J); of times (N,)."""
    times = np.sort(time[event > 0.0])
    n_intervals = int(np.clip(times.size // _EVENTS_OF_AN_INTERVAL, 1, _MOST_INTERVALS))
    ends = np.unique(np.quantile(times, np.arange(1, n_intervals) / n_intervals)) if times.size else times
    ends = ends[ends < times.max(initial=-np.inf)]
    edges = np.concatenate([[-np.inf], ends, [np.inf]])
    place = np.searchsorted(ends, time, side="left")  # an event at an end belongs to the interval before it
    died = (place[:, None] == np.arange(edges.size - 1)) * (event > 0.0)[:, None]
    exposed = np.minimum(time[:, None], edges[1:]) - np.maximum(entry[:, None], edges[:-1])
    return np.hstack([died.astype(np.float64), np.maximum(exposed, 0.0)])


def _start_of_hazard(y: Array) -> tuple[float, Array]:
    died, exposed = (part.sum() for part in np.split(y, 2, axis=1))
    return float(np.log(max(died, 0.5) / max(exposed, 1e-12))), np.zeros(y.shape[1] // 2 - 1)


DENSITIES: dict[str, Density] = {
    "continuous": Density(_normal, lambda y: (0.0, np.zeros(1)), "mean difference", "mean", np.asarray, np.asarray),
    "binary": Density(_proportional_odds, lambda y: (0.0, np.zeros(0)), "odds ratio", "share", expit),
    "count": Density(_negative_binomial, lambda y: (np.log(max(y.mean(), 1e-3)), np.ones(1)), "rate ratio", "mean"),
    "ordered": Density(_proportional_odds, lambda y: (0.0, np.zeros(int(y.max()) - 1)), "odds ratio"),
    "survival": Density(_piecewise_exponential, _start_of_hazard, "hazard ratio"),
}
POISSON = DENSITIES["count"]._replace(start=lambda y: (np.log(max(y.mean(), 1e-3)), np.zeros(0)))  # not overdispersed

_STEP, _POLISHING, _OF_A_HESSIAN = 1e-5, 60, 3  # of numerical derivatives; most steps of Newton, and of one Hessian
_FARTHEST = 18.0  # log ratio of a subtype to all, or of the ends of a covariate, beyond which there is no maximum
_LEAST_SUBJECTS, _CONVERGED = 2, 1e-10  # for each parameter; largest mean score of a solution


class Estimates(NamedTuple):
    """Parameters (P,), first the intercepts of the K subtypes, with covariance (P, P); height is the log likelihood."""

    parameters: Array
    covariance: Array
    height: float = np.nan

    def test(self, contrasts: Array) -> dict[str, float]:
        """Return chi-squared and p of the Wald test that all contrasts (D, K) are 0; df is the rank of covariance."""
        n = contrasts.shape[1]
        differences, covariance = contrasts @ self.parameters[:n], contrasts @ self.covariance[:n, :n] @ contrasts.T
        df = int(np.linalg.matrix_rank(covariance, rtol=1e-9, hermitian=True))
        statistic = float(differences @ np.linalg.pinv(covariance, rtol=1e-12, hermitian=True) @ differences)
        return {"estimate": statistic, "p": float(chdtrc(df, statistic))} if df else {"estimate": np.nan, "p": np.nan}


def assignment_errors(membership: Array, assigned: Labels) -> Array:
    """Return the chance of each assignment (columns) of the members of each subtype (rows), by membership (N, K)."""
    joint = np.column_stack([membership[assigned == s].sum(axis=0) for s in range(membership.shape[1])])
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def outcome_by_subtype(
    density: Density,
    y: Array,
    covariates: Array,
    weights: Array,
    start: Array | None = None,
    shares: Array | None = None,
) -> Estimates | None:
    """Return the intercepts of K subtypes, the slopes of the covariates (C,), and the shape; None without a maximum.

    Covariates are (N, C) or, for each subtype, (N, K, C). Log densities count with their weights (N, K): as assigned,
    or of BCH. With columns of the `shares` (N, P) the weights are chances of the assignment, or of the features, in the
    subtypes of a mixture, whose log odds against the first subtype are linear in these columns, and come last. Those of
    ``"ml"`` depend on the covariates (Vermunt 2010), because subtypes whose members differ in a covariate are otherwise
    mixed up with its effect; those of a mixture of regressions on the features (Bakk and Kuha 2021) have no columns.
    """
    (first, shape), n_subtypes, n_covariates = density.start(y), weights.shape[1], covariates.shape[-1]
    columns, others = np.empty((len(y), 0)) if shares is None else shares, np.arange(1, n_subtypes)
    start = np.concatenate([np.full(n_subtypes, first), np.zeros(n_covariates), shape]) if start is None else start
    start = np.append(start, np.zeros(others.size * columns.shape[1]))
    of_subtypes = covariates if covariates.ndim == 3 else np.repeat(covariates[:, None], n_subtypes, axis=1)

    def evaluate(parameters: Array) -> tuple[float, Array]:
        intercepts, slopes, shapes, odds = np.split(parameters, np.cumsum([n_subtypes, n_covariates, shape.size]))
        log_density, of_eta, of_shape = density.terms(y, intercepts + of_subtypes.dot(slopes), shapes)
        counted, value, of_odds = weights, float((weights * log_density).sum()), columns
        if shares is not None:
            counted, value, of_odds = _mix(log_density, weights, columns, odds, others)
        of_eta = counted * of_eta
        of_slopes, of_shape = np.einsum("nk,nkc->nc", of_eta, of_subtypes), (counted * of_shape).sum(axis=2).T
        return value, np.hstack([of_eta, of_slopes, of_shape, of_odds])

    estimates = maximise(evaluate, start)
    if estimates is None or density.on_difference is not np.exp:
        return estimates
    intercepts, slopes, _ = np.split(estimates.parameters, [n_subtypes, n_subtypes + n_covariates])
    return None if _is_apart(intercepts - first, slopes, covariates) else estimates


def _mix(log_density: Array, chances: Array, columns: Array, odds: Array, others: Labels) -> tuple[Array, float, Array]:
    """Return memberships (N, K), log likelihood and scores of log odds, of `others` linear in the columns (N, P)."""
    log_odds = np.zeros_like(chances)
    log_odds[:, others] = columns @ odds.reshape(others.size, -1).T
    joint = log_density + np.log(np.maximum(chances, 1e-300)) + log_softmax(log_odds, axis=1)
    membership = softmax(joint, axis=1)
    change = (membership - softmax(log_odds, axis=1))[:, others, None] * columns[:, None]
    return membership, float(logsumexp(joint, axis=1).sum()), change.reshape(len(columns), -1)


def predictors_of_subtype(predictors: Array, chances: Array, versus: int) -> Estimates | None:
    """Return the multinomial log odds of each other subtype than `versus`, by intercept and slopes, (K - 1) (1 + C).

    Maximises sum_i ln sum_k pi_k(x_i) D_(k, s_i), with chances D_(k, s_i) of the assignments, over pi_k(x) = softmax of
    the log odds (Vermunt 2010).
    """
    columns, others = np.insert(predictors, 0, 1.0, axis=1), np.delete(np.arange(chances.shape[1]), versus)
    start = np.zeros(others.size * columns.shape[1])
    estimates = maximise(lambda odds: _mix(np.zeros_like(chances), chances, columns, odds, others)[1:], start)
    odds = (start if estimates is None else estimates.parameters).reshape(others.size, -1)
    return None if any(_is_apart(terms[:1], terms[1:], predictors) for terms in odds) else estimates


def _is_apart(intercepts: Array, slopes: Array, columns: Array) -> bool:
    """Return whether a share of 0 or 1 in a subtype or at an end of a column (N, C) leaves no maximum."""
    reach = np.abs(slopes) * np.ptp(columns, axis=0) if slopes.size else np.zeros(1)
    return bool(max(np.abs(intercepts).max(), reach.max()) > _FARTHEST)


def maximise(evaluate: Callable[[Array], tuple[float, Array]], start: Array) -> Estimates | None:
    """Return the parameters (P,) that maximise an objective with scores (N, P); none if there is no maximum."""
    from statsmodels.tools.numdiff import approx_fprime

    def negative(parameters: Array) -> tuple[float, Array]:
        value, scores = evaluate(parameters)
        return -value / len(scores), -scores.mean(axis=0)

    n_subjects = len(evaluate(start)[1])
    if n_subjects < _LEAST_SUBJECTS * start.size:
        return None
    with np.errstate(all="ignore"):
        at = minimize(negative, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
        for step in range(_POLISHING):
            gradient, steps = negative(at)[1], 2.0 * _STEP * np.maximum(1.0, np.abs(at))
            if step % _OF_A_HESSIAN == 0:
                hessian = approx_fprime(at, lambda near: negative(near)[1], epsilon=steps, centered=True)
            if not (np.isfinite(hessian).all() and np.linalg.cond(hessian) <= 1e10):
                return None
            if np.abs(gradient).max() <= _CONVERGED:
                break
            at = at - np.linalg.solve(hessian, gradient)
        else:
            return None
    height, scores = evaluate(at)
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ (scores.T @ scores / n_subjects) @ inverse.T / max(n_subjects - at.size, 1)
    is_maximum = np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[0] > 0.0 and (np.diag(covariance) > 0.0).all()
    return Estimates(at, covariance, height) if is_maximum else None


def group_comparable(labels: Labels, n_subtypes: int, event: Array, time: Array, entry: Array) -> tuple[Labels, Mask]:
    """Return groups of subtypes whose hazard ratios have a maximum (K,), and whether each is at risk at an event.

    With an edge from a to b if a has an event while a member of b is at risk, ratios have one in each strongly
    connected group (Ford 1957, American Mathematical Monthly 64, 28-33), and rise without end between others.
    """
    times, member = np.unique(time[event > 0.0]), labels[:, None] == np.arange(n_subtypes)
    events = ((time == times[:, None]) & (event > 0.0)).astype(np.float64) @ member
    at_risk = ((entry < times[:, None]) & (time >= times[:, None])).astype(np.float64) @ member
    edges = (events > 0.0).T.astype(np.float64) @ (at_risk > 0.0)
    groups = connected_components(edges, connection="strong")[1]
    return np.asarray(groups, dtype=np.int64), np.asarray((at_risk > 0.0).any(axis=0))


def penalise(
    y: Array, covariates: Array, assigned: Labels, versus: int, n_subtypes: int
) -> Callable[[int], list[float]] | None:
    """Return the penalised regression of yes/no or times: log ratios of K - 1 subtypes, slopes; None if singular."""
    others = np.delete(np.arange(n_subtypes), versus)
    design = np.hstack([assigned[:, None] == others, covariates, np.ones((len(assigned), 1))])
    offset, is_odds = np.zeros(len(design)), y.ndim == 1
    if not is_odds:  # one row for each subject and interval; without covariates, subjects of a subtype add up
        died, exposed = np.split(y, 2, axis=1)
        if not covariates.shape[1]:
            places = np.arange(n_subtypes)[:, None] == assigned
            died, exposed, design = places @ died, places @ exposed, places @ design > 0.0
        rows, intervals = np.nonzero(exposed > 0.0)
        design = np.hstack([design[rows], intervals[:, None] == np.arange(1, died.shape[1])])
        y, offset = died[rows, intervals], np.log(exposed[rows, intervals])
    is_singular = np.linalg.matrix_rank(design.astype(np.float64)) < design.shape[1]
    return None if is_singular else fit_penalised(design.astype(np.float64), y, offset, is_odds=is_odds)


def fit_penalised(design: Array, y: Array, offset: Array, *, is_odds: bool) -> Callable[[int], list[float]]:
    """Return the penalised likelihood of logistic or Poisson regression, as a function of the place of a parameter.

    It returns the parameter, both ends of its 95% interval, and p of the likelihood-ratio test that it is 0. With I the
    Fisher information, ln L + ln |I| / 2 (Firth 1993, Biometrika 80, 27-38) has a maximum also where a level or a
    covariate separates subjects with the event from others (Heinze and Schemper 2002, Statistics in Medicine 21,
    2409-2419; 2001, Biometrics 57, 114-119, for hazards). Intervals are of the profile, because those by standard
    errors are wrong where the likelihood is far from symmetric.
    """

    def evaluate(at: Array) -> tuple[float, Array]:
        eta = design @ at + offset
        if is_odds:
            mean = expit(eta)
            weight, bend, value = mean * (1.0 - mean), 1.0 - 2.0 * mean, y @ eta - np.logaddexp(0.0, eta).sum()
        else:
            weight = mean = np.exp(np.minimum(eta, LARGEST))
            bend, value = np.ones_like(mean), y @ eta - mean.sum()
        information = (weight[:, None] * design).T @ design
        sign, log_size = np.linalg.slogdet(information)
        if sign <= 0.0:
            return -np.inf, np.zeros(at.size)
        leverage = weight * ((design @ np.linalg.inv(information)) * design).sum(axis=1)
        return float(value + 0.5 * log_size), design.T @ (y - mean + 0.5 * leverage * bend)

    def maximise_over(start: Array, free: Mask) -> tuple[Array, float]:
        at = start.copy()

        def negative(values: Array) -> tuple[float, Array]:
            at[free] = values
            height, score = evaluate(at)
            return -height, -score[free]

        at[free] = minimize(negative, start[free], jac=True, method="BFGS", options={"gtol": 1e-8}).x
        return at, evaluate(at)[0]

    parameters, height = maximise_over(np.zeros(design.shape[1]), np.ones(design.shape[1], dtype=bool))

    def bound(place: int) -> list[float]:
        free, half, estimate = np.arange(parameters.size) != place, 0.5 * NORMAL_QUANTILE**2, float(parameters[place])

        def fall(value: float) -> float:
            return height - maximise_over(np.where(free, parameters, value), free)[1]

        def end(far: float) -> float:
            while fall(estimate + far) < half and abs(far) < LARGEST:
                far *= 2.0
            if abs(far) >= LARGEST:
                return far * np.inf
            return estimate + float(brentq(lambda step: fall(estimate + step) - half, 0.0, far, xtol=1e-6))

        return [estimate, end(-0.5), end(0.5), float(chdtrc(1, max(2.0 * fall(0.0), 0.0)))]

    return bound
