"""Outcomes by subtype with the errors of assignment carried through: BCH and maximum likelihood, in three steps.

The subtypes are found first, without the outcome; then each subject is assigned to one, s_i. With p_ik the probability
of subtype k, the chance that a member of t is assigned to s is (Bolck, Croon and Hagenaars 2004, Political Analysis 12,
3-27)

    D_ts = sum_i p_it [s_i = s] / sum_i p_it

- BCH: each subject counts in every subtype, with weights w_ik = (D^-1)_(s_i, k), some below 0, whose expectation is 1
  in the subject's own subtype and 0 in others: maximise sum_ik w_ik ln f(y_i | k) (Vermunt 2010, Political Analysis 18,
  450-469; Bakk and Vermunt 2016, Structural Equation Modeling 23, 20-31).
- ML: maximise sum_i ln sum_k q_k D_(k, s_i) f(y_i | k), with the shares q of the subtypes (Vermunt 2010).
- naive: assignments are taken for known, w_ik = [s_i = k].

Standard errors are robust (sandwich, subjects independent), with D taken for known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from clinclust.arrays import Array, Labels
from clinclust.outcomes.densities import Density

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
