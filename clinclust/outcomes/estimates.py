"""Models of an outcome in three steps, of predictors of subtypes, and estimates where a likelihood has no maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import chdtrc, digamma, expit, gammaln, log_expit, log_softmax, logit, logsumexp, ndtri, softmax

from clinclust.arrays import Array, Labels, Mask

# Outcomes by subtype with the errors of assignment carried through: BCH and maximum likelihood, in three steps.

LARGEST = 30.0  # bound of exponents
_MOST_SIZE = 12.0  # bound of the log size, at which counts are Poisson
_EVENTS_OF_AN_INTERVAL, _MOST_INTERVALS = 8, 12  # at least so many events, at most so many intervals


class Terms(NamedTuple):
    """The log densities of outcomes (N, K), and their derivatives: (N, K) and (S, N, K)."""

    log_density: Array
    of_eta: Array
    of_shape: Array


_Start: TypeAlias = Callable[[Array], tuple[float, Array]]


class Density(NamedTuple):
    """The density of an outcome. The outcomes of N subjects are (N,), or (N, 2J) as `in_intervals` returns them.

    `terms` are by linear predictors (N, K) and shape parameters (S,), `start` is an intercept and shape parameters for
    outcomes in one group. `measure` is reported of a difference of linear predictors (a ratio is its exponential), and
    `level`, if anything, is `on_scale` of the predictor of a subtype.
    """

    terms: Callable[[Array, Array, Array], Terms]
    start: _Start
    measure: str
    level: str = ""
    on_scale: Callable[[Array], Array] = np.asarray

    @property
    def on_difference(self) -> Callable[[Array], Array]:
        """What is reported of differences of linear predictors."""
        return np.exp if self.measure.endswith("ratio") else np.asarray


def _normal(y: Array, eta: Array, shape: Array) -> Terms:
    log_sd = np.clip(shape[0], -LARGEST, LARGEST)
    standard = (y[:, None] - eta) * np.exp(-log_sd)
    return Terms(-0.5 * standard**2 - log_sd, standard * np.exp(-log_sd), (standard**2 - 1.0)[None])


def _bernoulli(y: Array, eta: Array, shape: Array) -> Terms:
    is_one = y[:, None]
    log_density = np.where(is_one > 0.0, log_expit(eta), log_expit(-eta))
    return Terms(log_density, is_one - expit(eta), np.empty((0, *eta.shape)))


def _negative_binomial(y: Array, eta: Array, shape: Array) -> Terms:
    size, count = np.exp(np.clip(shape[0], -LARGEST, _MOST_SIZE) if shape.size else _MOST_SIZE), y[:, None]
    log_mean = np.clip(eta, -LARGEST, LARGEST)
    mean, share = np.exp(log_mean), np.log1p(np.exp(log_mean) / size)
    log_density = gammaln(count + size) - gammaln(size) - gammaln(count + 1.0) - size * share
    log_density += count * (log_mean - np.log(size) - share)
    of_size = digamma(count + size) - digamma(size) - share + (mean - count) / (size + mean)
    return Terms(log_density, (count - mean) * size / (size + mean), (size * of_size)[None][: shape.size])


def _proportional_odds(y: Array, eta: Array, shape: Array) -> Terms:
    steps, level = np.exp(np.clip(shape, -LARGEST, LARGEST)), y.astype(np.int64)
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
    log_baseline = np.concatenate([[0.0], np.clip(shape, -LARGEST, LARGEST)])
    expected = exposed * np.exp(log_baseline)
    ratio = np.exp(np.clip(eta, -LARGEST, LARGEST))
    log_density = (died @ log_baseline)[:, None] + died.sum(axis=1)[:, None] * eta
    log_density -= expected.sum(axis=1)[:, None] * ratio
    of_shape = died.T[1:, :, None] - expected.T[1:, :, None] * ratio
    return Terms(log_density, died.sum(axis=1)[:, None] - expected.sum(axis=1)[:, None] * ratio, of_shape)


def in_intervals(time: Array, event: Array, entry: Array) -> Array:
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


def _start_of_levels(y: Array) -> tuple[float, Array]:
    below = np.cumsum(np.bincount(y.astype(np.int64)) / y.size)[:-1]
    cuts = logit(np.clip(below, 1e-3, 1.0 - 1e-3))
    return -float(cuts[0]), np.log(np.maximum(np.diff(cuts), 1e-3))


def _start_of_hazard(y: Array) -> tuple[float, Array]:
    died, exposed = (part.sum(axis=0) for part in np.split(y, 2, axis=1))
    logs = np.log(np.maximum(died, 0.5) / np.maximum(exposed, 1e-12))
    return float(logs[0]), logs[1:] - logs[0]


def _start_of_mean(link: Callable[[Array], Array], least: float, most: float, *shape: float) -> _Start:
    return lambda y: (float(link(np.clip(y.mean(), least, most))), np.array(shape))


DENSITIES: dict[str, Density] = {
    "continuous": Density(
        _normal, lambda y: (float(y.mean()), np.log([max(float(y.std()), 1e-6)])), "mean difference", "mean"
    ),
    "binary": Density(_bernoulli, _start_of_mean(logit, 0.01, 0.99), "odds ratio", "share", expit),
    "count": Density(_negative_binomial, _start_of_mean(np.log, 1e-3, np.inf, 1.0), "rate ratio", "mean", np.exp),
    "ordered": Density(_proportional_odds, _start_of_levels, "odds ratio"),
    "survival": Density(_piecewise_exponential, _start_of_hazard, "hazard ratio"),
}
POISSON = DENSITIES["count"]._replace(start=_start_of_mean(np.log, 1e-3, np.inf))  # of counts without overdispersion

Method: TypeAlias = Literal["bch", "ml", "features", "naive"]

_STEP, _POLISHING = 1e-5, 20  # of numerical derivatives of scores; most steps of Newton
_FARTHEST = 18.0  # log ratio of a subtype to all, or of the ends of a covariate, beyond which there is no maximum
_LEAST_SUBJECTS = 2  # for each parameter
_CONVERGED = 1e-10  # largest mean score of a solution


class Estimates(NamedTuple):
    """Parameters (P,), first the intercepts of the K subtypes, with covariance (P, P); height is the log likelihood."""

    parameters: Array
    covariance: Array
    height: float = np.nan

    def test(self, contrasts: Array) -> dict[str, float]:
        """Return chi-squared and p, from the upper tail, of the Wald test that all contrasts (D, K) are 0.

        Degrees of freedom are the rank of their covariance (D, D); NaN if this is 0.
        """
        n = contrasts.shape[1]
        differences, covariance = contrasts @ self.parameters[:n], contrasts @ self.covariance[:n, :n] @ contrasts.T
        df = int(np.linalg.matrix_rank(covariance, rtol=1e-9, hermitian=True))
        statistic = float(differences @ np.linalg.pinv(covariance, rtol=1e-12, hermitian=True) @ differences)
        return {"estimate": statistic, "p": float(chdtrc(df, statistic))} if df else {"estimate": np.nan, "p": np.nan}


def assignment_errors(membership: Array, assigned: Labels) -> Array:
    """Return D, the chance of each assignment (columns) of the members of each subtype (rows), float64 (K, K).

    Membership is (N, K), assignments are 0 .. K - 1, (N,).
    """
    joint = np.column_stack([membership[assigned == s].sum(axis=0) for s in range(membership.shape[1])])
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def outcome_by_subtype(
    density: Density,
    y: Array,
    covariates: Array,
    errors: Array,
    assigned: Labels,
    method: Method,
    has_ratio: Mask | None = None,
) -> Estimates | None:
    """Return the intercepts of the K subtypes with a ratio, bool, the slopes of the covariates (C,), and the shape.

    None if the likelihood has no maximum. Outcomes are (N,) or (N, 2J), covariates (N, C), the errors of assignment
    square, assignments (N,). Of ``"ml"``, the log odds of the subtypes 2 .. K against the first come last, an intercept
    and slopes each: the shares depend on the covariates (Vermunt 2010), because subtypes whose members differ in a
    covariate are otherwise mixed up with its effect. For ``"features"``, a mixture of regressions (Bakk and Kuha 2021),
    `errors` are the memberships (N, K), and covariates (N, K, C). Both need a ratio of every subtype.
    """
    has_ratio = np.ones(errors.shape[1], dtype=bool) if has_ratio is None else has_ratio
    is_mixture, n_subtypes, n_covariates = method in ("ml", "features"), int(has_ratio.sum()), covariates.shape[-1]
    if is_mixture and not has_ratio.all():
        return None
    first, shape = density.start(y)
    start = np.concatenate([np.full(n_subtypes, first), np.zeros(n_covariates), shape])
    if method in ("bch", "ml"):  # weights below 0 make far parts of the objective rise without end
        naive = outcome_by_subtype(density, y, covariates, np.eye(len(errors)), assigned, "naive", has_ratio)
        start = start if naive is None else naive.parameters
    weights, others, columns = errors, np.arange(1, n_subtypes), np.empty((len(y), 0))
    if method == "ml":
        weights, columns = errors.T[assigned], np.insert(covariates, 0, 1.0, axis=1)
        shares = predictors_of_subtype(covariates, errors, assigned, 0)
        start = np.append(start, np.zeros(others.size * columns.shape[1]) if shares is None else shares.parameters)
    elif not is_mixture:
        weights = np.asarray(np.linalg.inv(errors)[assigned][:, has_ratio], dtype=np.float64)
    of_subtypes = covariates if covariates.ndim == 3 else covariates[:, None]

    def evaluate(parameters: Array) -> tuple[float, Array]:
        intercepts, slopes, shapes, odds = np.split(parameters, np.cumsum([n_subtypes, n_covariates, shape.size]))
        terms = density.terms(y, intercepts + of_subtypes @ slopes, shapes)
        counted, value, of_odds = weights, float((weights * terms.log_density).sum()), columns
        if is_mixture:
            counted, value, of_odds = _mix(terms.log_density, weights, columns, odds, others)
        of_eta = counted * terms.of_eta
        scores = [of_eta, (of_eta[:, :, None] * of_subtypes).sum(axis=1), (counted * terms.of_shape).sum(axis=2).T]
        return value, np.hstack([*scores, of_odds])

    estimates = maximise(evaluate, start)
    if estimates is None or density.on_difference is not np.exp:
        return estimates
    intercepts, slopes, _ = np.split(estimates.parameters, [n_subtypes, n_subtypes + n_covariates])
    return None if _is_apart(intercepts - first, slopes, covariates) else estimates


def _mix(log_density: Array, chances: Array, columns: Array, odds: Array, others: Labels) -> tuple[Array, float, Array]:
    """Return the memberships (N, K), the log likelihood, and the scores of the log odds of a mixture.

    `chances` (N, K) are of the assignment of each subject, or of its features, if it is a member of k; the log odds of
    `others` are linear in the columns (N, P).
    """
    log_odds = np.zeros_like(chances)
    log_odds[:, others] = columns @ odds.reshape(others.size, -1).T
    joint = log_density + np.log(np.maximum(chances, 1e-300)) + log_softmax(log_odds, axis=1)
    membership = softmax(joint, axis=1)
    change = (membership - softmax(log_odds, axis=1))[:, others, None] * columns[:, None]
    return membership, float(logsumexp(joint, axis=1).sum()), change.reshape(len(columns), -1)


def predictors_of_subtype(predictors: Array, errors: Array, assigned: Labels, versus: int) -> Estimates | None:
    """Return the multinomial log odds of each other subtype than `versus`, by intercept and slopes, (K - 1) (1 + C).

    Maximises sum_i ln sum_k pi_k(x_i) D_(k, s_i) over pi_k(x) = softmax of the log odds (Vermunt 2010), for predictors
    (N, C).
    """
    chances, columns = errors.T[assigned], np.insert(predictors, 0, 1.0, axis=1)
    others = np.delete(np.arange(len(errors)), versus)
    nothing = np.zeros_like(chances)  # no outcome
    start = np.zeros(others.size * columns.shape[1])
    estimates = maximise(lambda odds: _mix(nothing, chances, columns, odds, others)[1:], start)
    odds = start.reshape(others.size, -1) if estimates is None else estimates.parameters.reshape(others.size, -1)
    return None if any(_is_apart(terms[:1], terms[1:], predictors) for terms in odds) else estimates


def _is_apart(intercepts: Array, slopes: Array, columns: Array) -> bool:
    """Return whether a share of 0 or 1 in a subtype or at an end of a column (N, C) leaves no maximum."""
    reach = np.abs(slopes) * np.ptp(columns, axis=0) if slopes.size else np.zeros(1)
    return bool(max(np.abs(intercepts).max(), reach.max()) > _FARTHEST)


def maximise(evaluate: Callable[[Array], tuple[float, Array]], start: Array) -> Estimates | None:
    """Return the parameters (P,) that maximise an objective, with robust covariance; none if there is no maximum.

    The objective returns its value, and the score of each subject, float64 (N, P).
    """
    from statsmodels.tools.numdiff import approx_fprime

    def negative(parameters: Array) -> tuple[float, Array]:
        value, scores = evaluate(parameters)
        return -value / len(scores), -scores.mean(axis=0)

    n_subjects = len(evaluate(start)[1])
    if n_subjects < _LEAST_SUBJECTS * start.size:
        return None
    with np.errstate(all="ignore"):
        at = minimize(negative, start, jac=True, method="BFGS", options={"gtol": 1e-6}).x
        for _ in range(_POLISHING):
            gradient, steps = negative(at)[1], 2.0 * _STEP * np.maximum(1.0, np.abs(at))
            hessian = approx_fprime(at, lambda near: negative(near)[1], epsilon=steps, centered=True)
            if not np.isfinite(hessian).all() or np.linalg.cond(hessian) > 1e10:
                return None
            if np.abs(gradient).max() <= _CONVERGED:
                break
            at = at - np.linalg.solve(hessian, gradient)
        else:
            return None
    if np.linalg.eigvalsh(0.5 * (hessian + hessian.T))[0] <= 0.0:
        return None
    height, scores = evaluate(at)
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ (scores.T @ scores / n_subjects) @ inverse.T / max(n_subjects - at.size, 1)
    return Estimates(at, covariance, height) if (np.diag(covariance) > 0.0).all() else None


# Times to an event: the sets at risk, the log-rank test, and hazard ratios in two periods.


class RiskSets(NamedTuple):
    """Events and subjects at risk at each of T times of an event, of K subtypes, each (T, K)."""

    events: Array
    at_risk: Array

    @classmethod
    def from_subjects(cls, time: Array, event: Array, entry: Array, labels: Labels, n_subtypes: int) -> RiskSets:
        """Count those of subjects with these times, events (0 or 1), entries and subtypes, each (N,)."""
        times = np.unique(time[event > 0.0])
        events, at_risk = (np.zeros((times.size, n_subtypes)) for _ in range(2))
        np.add.at(events, (np.searchsorted(times, time[event > 0.0]), labels[event > 0.0]), 1.0)
        for subtype in range(n_subtypes):
            rows = labels == subtype
            entered, ended = (np.searchsorted(np.sort(ends[rows]), times) for ends in (entry, time))
            at_risk[:, subtype] = entered - ended
        return cls(events, at_risk)

    def test_log_rank(self) -> dict[str, float]:
        """Return chi-squared and p of the log-rank test of K subtypes (Mantel 1966).

        Subtypes of whom nobody is at risk at a time of an event take no part.
        """
        n, d = self.at_risk.sum(axis=1), self.events.sum(axis=1)
        shares = self.at_risk / n[:, None]
        apart = (self.events - d[:, None] * shares).sum(axis=0)
        factor = d * (n - d) / np.maximum(n - 1.0, 1.0)
        covariance = np.diag(factor @ shares) - (factor[:, None] * shares).T @ shares
        return Estimates(apart, covariance).test(np.eye(apart.size))

    def group_comparable(self) -> Labels:
        """Return groups of subtypes whose hazard ratios have a maximum, int64 (K,).

        With an edge from a to b if a has an event while somebody of b is at risk, ratios have one in each strongly
        connected group (Ford 1957, American Mathematical Monthly 64, 28-33). If all of one subtype die before any of
        the other, the hazard ratio rises without end, whatever the baseline.
        """
        edges = (self.events > 0.0).T.astype(np.float64) @ (self.at_risk > 0.0)
        return np.asarray(connected_components(edges, connection="strong")[1], dtype=np.int64)


# Ratios where the likelihood has no maximum: logistic and Poisson regression with the penalty of Firth (1993).


class Penalised:
    """The penalised likelihood of a generalised linear model with its canonical link.

    It is ln L + ln |I| / 2, with I the Fisher information (Firth 1993, Biometrika 80, 27-38). It has a maximum also
    where a level or a covariate separates subjects with the event from others (Heinze and Schemper 2002, Statistics in
    Medicine 21, 2409-2419; 2001, Biometrics 57, 114-119, for hazards). Intervals are of the profile, because those by
    standard errors are wrong where the likelihood is far from symmetric.
    """

    def __init__(self, design: Array, y: Array, offset: Array, *, is_odds: bool) -> None:
        self.design, self.y, self.offset, self.is_odds = design, y, offset, is_odds
        self.parameters, self.height = self._maximise(np.zeros(design.shape[1]), np.ones(design.shape[1], dtype=bool))

    def bound(self, place: int, level: float) -> tuple[float, float, float, float]:
        """Return a parameter, both ends of its interval, and p of the likelihood-ratio test that it is 0."""
        free = np.arange(self.parameters.size) != place
        half, estimate = 0.5 * float(ndtri(0.5 + level / 2.0)) ** 2, float(self.parameters[place])

        def fall(value: float) -> float:
            start = self.parameters.copy()
            start[place] = value
            return self.height - self._maximise(start, free)[1]

        def end(far: float) -> float:
            while fall(estimate + far) < half and abs(far) < LARGEST:
                far *= 2.0
            if abs(far) >= LARGEST:
                return far * np.inf
            return estimate + float(brentq(lambda step: fall(estimate + step) - half, 0.0, far, xtol=1e-6))

        return estimate, end(-0.5), end(0.5), float(chdtrc(1, max(2.0 * fall(0.0), 0.0)))

    def _maximise(self, start: Array, free: Mask) -> tuple[Array, float]:
        """Return the parameters that maximise over the free ones, bool (P,), and the height of the maximum."""
        at = start.copy()

        def negative(values: Array) -> tuple[float, Array]:
            at[free] = values
            height, score = self._evaluate(at)
            return -height, -score[free]

        at[free] = minimize(negative, start[free], jac=True, method="BFGS", options={"gtol": 1e-8}).x
        return at, self._evaluate(at)[0]

    def _evaluate(self, at: Array) -> tuple[float, Array]:
        """Return the penalised likelihood and its score (P,)."""
        eta = self.design @ at + self.offset
        if self.is_odds:
            mean = expit(eta)
            weight, bend, value = mean * (1.0 - mean), 1.0 - 2.0 * mean, self.y @ eta - np.logaddexp(0.0, eta).sum()
        else:
            mean = np.exp(np.minimum(eta, LARGEST))
            weight, bend, value = mean, np.ones_like(mean), self.y @ eta - mean.sum()
        information = (weight[:, None] * self.design).T @ self.design
        sign, log_size = np.linalg.slogdet(information)
        if sign <= 0.0:
            return -np.inf, np.zeros(at.size)
        leverage = weight * ((self.design @ np.linalg.inv(information)) * self.design).sum(axis=1)
        score = self.design.T @ (self.y - mean + 0.5 * leverage * bend)
        return float(value + 0.5 * log_size), score


def penalise(y: Array, covariates: Array, assigned: Labels, versus: int, n_subtypes: int) -> Penalised | None:
    """Return the penalised regression of an outcome: log ratios of the other K - 1 subtypes, then slopes.

    Yes/no outcomes are (N,), times (N, 2J) as `in_intervals` returns them; None if terms determine each other.
    """
    others = np.delete(np.arange(n_subtypes), versus)
    design = np.hstack([assigned[:, None] == others, covariates, np.ones((len(assigned), 1))])
    offset, is_odds = np.zeros(len(design)), y.ndim == 1
    if not is_odds:  # one row for each subject and interval; without covariates, subjects of a subtype add up
        died, exposed = np.split(y, 2, axis=1)
        if not covariates.shape[1]:
            places = np.arange(n_subtypes)[:, None] == assigned
            died, exposed, design = places @ died, places @ exposed, places @ design > 0.0
        rows, intervals = np.nonzero(exposed > 0.0)
        later = intervals[:, None] == np.arange(1, died.shape[1])
        design = np.hstack([design[rows], later])
        y, offset = died[rows, intervals], np.log(exposed[rows, intervals])
    design = design.astype(np.float64)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    return Penalised(design, y, offset, is_odds=is_odds)
