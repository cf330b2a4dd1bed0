"""Columns that several others determine: a total, a mean, a difference, a ratio, an index.

A formula holds up to the grids on which its columns are written. How narrow these grids are compared with the spread
of the column, in how many subjects, is the evidence, of which a third counts, as in `same_measurement`. It must exceed
the logarithm of the number of sets of columns.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.drafting.redundancy.same_measurement import COUNTED, FEW_LEVELS, needed_evidence, step_of
from clinclust.graded import paired_moments

_MOST_ADDED, _MOST_MULTIPLIED, _FEWEST_VALUES = 30, 3, 5
_ROWS = 1000  # that weights are fitted to
LEAST_SHARE = 0.98  # of the subjects in whom a formula must hold: errors of entry do not hide a total
_TRIMMED = 0.9  # the share of subjects that weights are fitted to
_COARSEST = 0.25
_EXACT = 1e-6
_UNEXPLAINED, _REST, _STALLED, _PATIENCE, _STEADY = 0.25, 1e-5, 0.95, 3.0, 1e-6
_EQUAL = 0.03
_OWN = 1.5  # the fitted weights are not the true ones


class Formula(NamedTuple):
    """A column as a weighted sum of others, or on logarithms as a product of their powers."""

    target: int
    sources: tuple[int, ...]
    weights: tuple[float, ...]
    constant: float
    logs: bool
    filled: float
    """How far off the formula nine in ten subjects are, in halves of a step of the grid of the target.

    It is .9 if the target was rounded after it was computed, less if a source of it was, and more if others were.
    """
    step: float  # of the grid of the target
    steps: tuple[float, ...]  # of those of the sources
    slack: float  # in halves of a step: the fitted weights are not the true ones
    by_own: bool  # whether the grid of the target is enough, without those of its sources

    @property
    def how(self) -> str:
        """What is computed, in words that names of columns can follow."""
        weights = np.array(self.weights)
        if np.ptp(np.abs(weights)) > _EQUAL * np.abs(weights).max():
            return "computed from" if self.logs else "a weighted sum of"
        if self.logs:
            return "a product of" if weights.min() > 0 else "a ratio of"
        if weights.max() < 0:
            return "what is missing to a whole from"
        if weights.min() < 0:
            return "a difference of"
        return "the mean of" if abs(float(weights.sum()) - 1.0) < _EQUAL else "the sum of"

    @property
    def rank(self) -> tuple[float, bool, float, int]:
        """How likely this is the result: by its own rounding, as a sum of several, with most digits, the last one."""
        is_sum = len(self.weights) > 2 and self.how in ("the mean of", "the sum of")
        own = self.filled if self.filled < _OWN else -self.filled
        return round(min(own, 1.0), 1), is_sum, -self.step, self.target


def formulas(table: Array, usable: NDArray[np.bool_]) -> list[Formula]:
    """Return the columns that are computed from others, each with its formula; no result is a source of a later one.

    The rows of the table, float64 (N, C), are in random order. A usable column has an order.
    """
    n_columns, table = table.shape[1], table[:_ROWS]
    n_values = np.array([np.unique(column[~np.isnan(column)]).size for column in table.T])
    positive = np.where(table > 0, table, np.nan)
    found: list[Formula] = []
    left = usable & (n_values > 1)
    for logs, values in ((False, table), (True, positive)):
        few_zeros = (~np.isnan(values)).sum(axis=0) > (~np.isnan(table)).sum(axis=0) / 2
        active = left & few_zeros & ((n_values > _FEWEST_VALUES) | (not logs))
        targets = set(np.flatnonzero(active & (n_values >= _FEWEST_VALUES)).tolist())
        while targets:
            sets = _sets(values, np.flatnonzero(active), sorted(targets), logs, n_columns)
            new = _results(values, sets, n_values, logs, n_columns)
            found += new
            results = {formula.target for formula in new}
            # Only targets whose set has lost a column may have another one.
            targets = {members[0] for members in sets if results & set(members)} - results
            active[list(results)] = left[list(results)] = False
    return found


def _sets(
    values: Array, active: NDArray[np.int64], targets: list[int], logs: bool, n_columns: int
) -> list[tuple[int, ...]]:
    """Return each target that has a formula with the fewest columns that it needs, the smallest sets first."""
    if active.size < 3:
        return []
    used = np.log(values[:, active]) if logs else values[:, active]
    spread = np.nanstd(used, axis=0)
    standard = np.nan_to_num((used - np.nanmean(used, axis=0)) / np.where(spread > 0, spread, np.inf))
    moments = paired_moments(standard, standard)
    correlation = moments.covariance / np.sqrt(np.maximum(moments.own_variance * moments.other_variance, 1e-12))
    sets, place = [], {int(index): at for at, index in enumerate(active)}
    for target in targets:
        chosen = _pursued(correlation, place[target], _MOST_MULTIPLIED if logs else _MOST_ADDED)
        needed = _needed(values, target, [int(active[one]) for one in chosen], logs, n_columns)
        if len(needed) > 1:  # one alone is another unit of the target
            sets.append((target, *needed))
    return sorted(sets, key=lambda members: (len(members), members))


def _results(
    values: Array, sets: list[tuple[int, ...]], n_values: NDArray[np.int64], logs: bool, n_columns: int
) -> list[Formula]:
    found: list[Formula] = []
    for members in sets:
        if {formula.target for formula in found} & set(members):
            continue
        fits = [
            _formula(values, target, [source for source in members if source != target], logs, n_columns)
            for target in sorted(members)
            if n_values[target] >= _FEWEST_VALUES
        ]
        possible = [fit for fit in fits if fit is not None]
        if possible:
            found.append(max(possible, key=lambda formula: formula.rank))
    return found


def _needed(values: Array, target: int, chosen: list[int], logs: bool, n_columns: int) -> list[int]:
    """Return those of the chosen columns that a formula of the target needs; none if there is no formula."""
    if len(chosen) < 2 or _formula(values, target, chosen, logs, n_columns) is None:
        return []
    left = list(chosen)
    for column in reversed(chosen):
        fewer = [other for other in left if other != column]
        if fewer and _formula(values, target, fewer, logs, n_columns) is not None:
            left = fewer
    return left


def _formula(values: Array, target: int, sources: list[int], logs: bool, n_columns: int) -> Formula | None:
    complete = ~np.isnan(values[:, [target, *sources]]).any(axis=1)
    y, x = values[complete, target], values[complete][:, sources]
    if len(y) < 2 * len(sources) + 5:
        return None
    response, design = (np.log(y), np.log(x)) if logs else (y, x)
    middle, spread = design.mean(axis=0), design.std(axis=0)
    if not (spread > 0).all() or not response.std() > 0:
        return None
    design = np.column_stack([np.ones(len(y)), (design - middle) / spread])
    kept, fits = np.ones(len(y), dtype=bool), []
    for _ in range(3):  # from the second on without the subjects who are farthest off: errors of entry bend a fit
        solution = np.linalg.lstsq(design[kept], response[kept], rcond=None)[0]
        fits.append((solution, np.abs(response - design @ solution)))
        kept = fits[-1][1] <= np.quantile(fits[-1][1], _TRIMMED)
    least, slack = needed_evidence(n_columns, len(sources)), 1.1 + 2.0 * math.sqrt((len(sources) + 1) / len(y))
    exact, step = _EXACT * float(response.std()), step_of(y)
    # Levels and scores are whole without having been rounded.
    steps = np.array([step_of(column) if np.unique(column).size > FEW_LEVELS else 0.0 for column in x.T])
    for by_own, (solution, residual) in itertools.product((True, False), fits):
        weights = solution[1:] / spread
        own, of_others = _grids(y, x, weights, logs, step, steps)
        tolerance = own if by_own else own + of_others
        holds = int((residual <= slack * tolerance + exact).sum())
        relative = max(float(np.median(tolerance)) / float(response.std()), _EXACT)
        free = holds - len(sources) - 1 - 2 * (len(y) - holds)
        if (
            holds >= LEAST_SHARE * len(y)
            and relative <= _COARSEST
            and COUNTED * free * math.log(2.0 / relative) >= least
        ):
            constant = float(solution[0] - weights @ middle)
            filled = float(np.quantile(np.where(residual > exact, residual / np.maximum(own, exact), 0.0), _TRIMMED))
            judged = (filled, step, tuple(steps.tolist()), slack, by_own)
            return Formula(target, tuple(sources), tuple(weights.tolist()), constant, logs, *judged)
    return None


def _grids(y: Array, x: Array, weights: Array, logs: bool, step: float, steps: Array) -> tuple[Array, Array]:
    """Return by how much rounding of the target, and of the sources, may move each subject off a formula, (N,) each."""
    own = np.full(len(y), step / 2.0) / (y if logs else 1.0)
    return own, np.asarray((steps / 2.0 / (x if logs else np.ones_like(x))) @ np.abs(weights))


def holds_in(formula: Formula, y: Array, x: Array) -> tuple[int, int]:
    """Return in how many subjects a formula can be looked at, and in how many of them it holds.

    The target is float64 (N,) and its sources (N, k); NaN = missing.
    """
    seen = ~np.isnan(y) & ~np.isnan(x).any(axis=1)
    if formula.logs:
        seen &= (y > 0) & (x > 0).all(axis=1)
    y, x, weights = y[seen], x[seen], np.array(formula.weights)
    own, of_others = _grids(y, x, weights, formula.logs, formula.step, np.array(formula.steps))
    response, design = (np.log(y), np.log(x)) if formula.logs else (y, x)
    residual = np.abs(response - formula.constant - design @ weights)
    tolerance = own if formula.by_own else own + of_others
    return len(y), int((residual <= formula.slack * tolerance + _EXACT * response.std()).sum())


def _pursued(correlation: Array, target: int, most: int) -> list[int]:
    """Return the columns that explain the target, each time the one that explains most (orthogonal least squares)."""
    chosen: list[int] = []
    own = np.ones(len(correlation))  # what the chosen columns do not explain, of each column
    left, before = correlation[target].copy(), 1.0
    directions = np.zeros((most, len(correlation)))
    own[target] = 0.0
    while len(chosen) < most and before > _REST:
        gains = np.where(own > _STEADY, left**2 / np.maximum(own, _STEADY), 0.0)
        best = int(gains.argmax())
        now = before - float(gains[best])
        is_near = before < _UNEXPLAINED
        if is_near and now > _STALLED * before:
            break
        if not is_near and before - now < now / (_PATIENCE * (most - len(chosen))):
            return []
        # One step of the Cholesky decomposition: the part of the column that the chosen ones do not explain.
        direction = correlation[best] - directions[: len(chosen), best] @ directions[: len(chosen)]
        direction = direction / np.sqrt(own[best])
        left = left - direction[target] * direction
        own = np.maximum(own - direction**2, 0.0)
        own[[target, best]] = 0.0
        directions[len(chosen)] = direction
        chosen.append(best)
        before = now
    return chosen if before < _UNEXPLAINED else []
