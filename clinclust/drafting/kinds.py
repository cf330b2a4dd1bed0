"""The kinds that the numbers of a column may be, by the probability of the values and by what clinical tables hold.

A few whole numbers from 0 or 1 on are mostly the steps of a scale, small numbers from 0 or 1 on of which few are large
are mostly counts, and numbers that are large compared with their grid are mostly measurements. The constants were set
on annotated tables of the field (`benchmarks/drafting.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clinclust.arrays import Array
from clinclust.drafting.grid import Numbers, log_probabilities
from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.far_values import without_far_values
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.likelihood import LARGEST_COUNT
from clinclust.likelihoods.negative_binomial import NegativeBinomial
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.likelihoods.poisson import Poisson
from clinclust.schema.feature import Feature

MOST_LEVELS = 11
"""Whole numbers with more different values that are not declared are counts or measurements."""
_MOST_STEPS = 7  # of numbers in larger steps than 1; others are rounded: pressures in tens are no scale
_TEMPER = 0.25  # how much of the evidence counts: no column has exactly the distribution of its kind
_SCALE, _FROM_0_OR_1, _EACH_LEVEL, _GAP = 4.0, 3.0, 0.4, 6.0
_COUNT_BELOW, _COUNT_SLOPE, _COUNT_FROM, _LARGE = 4.5, 3.0, 8.0, 10.0
_FEWEST_EQUAL, _LEAST_EQUAL, _STANDS_OUT, _NEAR = 5, 0.03, 1.5, 0.5
_SPIKE = 10.0  # nats, among 200 subjects, from which on a share of equal numbers has a probability of its own
_LOG = 4.0  # nats by which another distribution of a measurement must be better than the Gaussian
_ENOUGH = 2_000
_SCALES = (Ordinal.name, Binomial.name)
_COUNTS = (Poisson.name, Geometric.name, NegativeBinomial.name)


class Kind(NamedTuple):
    """One kind that a column may be."""

    name: str  # ``scale``, ``count`` or ``measurement``
    fields: dict[str, Any]  # of the feature
    score: float  # log probability, up to a constant


def kinds_of_numbers(numbers: Numbers, *, may_be_scale: bool) -> list[Kind]:
    """Return the kinds of numbers with at least three values, the most probable first; only levels may be a scale."""
    found = log_probabilities(_without_slips(numbers.quantiles()))
    measurement, fields = _measurement(numbers, found)
    kinds = [Kind("measurement", fields, _TEMPER * measurement)]
    low, median, above_zero = float(numbers.values[0]), numbers.median, numbers.above_zero().median
    median = above_zero if above_zero > _LARGE else median  # most of them never smoked: pack-years are no counts
    # Counts whose tail is longer than that of every likelihood of counts are counts all the same.
    is_joined = numbers.values[1] - low <= 2.0 * numbers.step  # 0 far below all others is no count
    longer = ("log", "spike_low_log") if is_joined else ()
    counts = [found[name] for name in (*_COUNTS, *longer) if name in found and numbers.are_whole]
    if counts and low >= 0.0 and numbers.values[-1] <= LARGEST_COUNT:
        prior = _COUNT_SLOPE * float(np.log(_COUNT_BELOW / (1.0 + median))) - (_COUNT_FROM if low > 1.0 else 0.0)
        kinds.append(Kind("count", {}, _TEMPER * max(counts) + prior))
    n_levels = numbers.values.size
    if may_be_scale and n_levels <= (MOST_LEVELS if numbers.step <= 1.0 else _MOST_STEPS):
        n_gaps = (numbers.values[-1] - low) / numbers.step + 1.0 - n_levels
        starts = _FROM_0_OR_1 if low in (0.0, 1.0) and numbers.step == 1.0 else 0.0
        prior = _SCALE + starts - _EACH_LEVEL * n_levels - _GAP * n_gaps / n_levels
        kinds.append(Kind("scale", {}, _TEMPER * found["levels"] + prior))
    return sorted(kinds, key=lambda kind: -kind.score)


def _without_slips(numbers: Numbers) -> Numbers:
    """Return the numbers without those that are so far from the others that they must be errors of entry."""
    values = np.repeat(numbers.values, numbers.counts.astype(np.int64))
    usual = without_far_values(values)
    if usual.size == values.size:
        return numbers
    kept = (numbers.values >= usual.min()) & (numbers.values <= usual.max())
    return Numbers(numbers.values[kept], numbers.counts[kept], numbers.step) if kept.sum() > 2 else numbers


def _may_be_spike(numbers: Numbers, place: int) -> bool:
    """Return whether enough subjects have the lowest (0) or highest (-1) number, and it lies near the others.

    Far from them it is no value that subjects have: 999 among weights, or 0 among blood pressures.
    """
    if numbers.values.size <= MOST_LEVELS or numbers.counts[place] < max(_FEWEST_EQUAL, _LEAST_EQUAL * numbers.n):
        return False
    rest, counts = np.delete(numbers.values, place), np.delete(numbers.counts, place)
    if numbers.counts[place] < _STANDS_OUT * counts.max():
        return False
    spread = float(np.sqrt(np.cov(rest, fweights=counts.astype(np.int64))))
    return bool(abs(numbers.values[place] - rest[place]) <= _NEAR * spread)


def _measurement(numbers: Numbers, found: dict[str, float]) -> tuple[float, dict[str, Any]]:
    """Return the log probability of the best distribution of a measurement, and its fields."""
    options: list[tuple[float, float, dict[str, Any]]] = [(found[Gaussian.name], 0.0, {"likelihood": Gaussian.name})]
    if "log" in found and numbers.values[0] > 0.0:
        options.append((found["log"], _LOG, {"likelihood": Gaussian.name, "transform": "log"}))
    if Exponential.name in found and numbers.values[0] >= 0.0:
        options.append((found[Exponential.name], _LOG, {"likelihood": Exponential.name}))
    for end, place in (("spike_low", 0), ("spike_high", -1)):
        if not _may_be_spike(numbers, place):
            continue
        spike = {"spike": float(numbers.values[place])}
        if f"{end}_gaussian" in found:
            options.append((found[f"{end}_gaussian"], _SPIKE, {"likelihood": Gaussian.name, **spike}))
        if f"{end}_log" in found:
            fields = {"likelihood": Gaussian.name, "transform": "log", **spike}
            options.append((found[f"{end}_log"], _SPIKE + _LOG, fields))
    best = max(options, key=lambda option: option[0] - option[1])
    return best[0], best[2]


def best_count(values: Array) -> dict[str, Any]:
    """Return the likelihood of counts (n,) under which they are most probable."""
    return {"likelihood": _most_probable(_COUNTS, values, {})}


def best_scale(scores: Array, levels: list[str] | None = None, trials: int | None = None) -> dict[str, Any]:
    """Return the likelihood of the steps of a scale, counted from 0 (n,), and its levels or trials."""
    given: dict[str, Any] = {"levels": levels} if levels is not None else {"trials": trials}
    return {"likelihood": _most_probable(_SCALES, scores, given), **given}


def _most_probable(names: tuple[str, ...], values: Array, given: dict[str, Any]) -> str:
    if values.size > _ENOUGH:  # evenly spaced quantiles decide as well
        values = np.sort(values)[((np.arange(_ENOUGH) + 0.5) / _ENOUGH * values.size).astype(np.int64)]
    evidence = {name: REGISTRY[name].of(Feature(name="x", likelihood=name, **given)).evidence(values) for name in names}
    return max(names, key=lambda name: evidence[name] if np.isfinite(evidence[name]) else -np.inf)
