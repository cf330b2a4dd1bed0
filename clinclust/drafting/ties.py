"""Whether a density describes rounded numbers, or they are tied too often, and whether they suffice for a scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spike", "are_dense", "is_learnt", "spike_of", "step_of_grid"]

Array = NDArray[np.float64]

_TIED = (0.2, 0.25)
"""The share of the subjects from which on one value is tied too often for a density; if named a measurement.

Four measurements rounded to half of their standard deviation, with up to 23 % of the subjects at one value, made no
subtype among 100 to 1,500 subjects; with 27 % and a coarser step they made up to seven."""
_AT_LIMIT = (0.05, 0.15)
"""The share of the subjects at the lowest or highest value from which on there is a limit; if named a measurement."""
_LEAST_SPREAD = 2.0
"""The standard deviation, in steps, below which rounding to steps shows (it is 0.3 steps)."""
_FEW = 40
"""The number of subjects below which each value is a large share by chance."""
_ON_GRID = 0.97
_FEWEST_SUBJECTS, _PER_LEVEL = 100, 1.4
"""The subjects, and the subjects a level, from which on the frequencies of a long scale can be learnt.

With 60 subjects, an ordinal likelihood of ten totals of noise found 1.8 to 3.0 subtypes, and a density 1.0 to 2.6. From
100 subjects on the ordinal found 1.0 to 1.8 with 11 to 69 levels, and true subtypes about as well as a density;
a density found up to ten subtypes in noise where many totals lie at an end (`benchmarks/sum_scores.py`)."""
_FEWEST_STEPS = 8  # a scale of fewer steps is learnt from any number of subjects
_SPIKE, _FEWEST_IN_SPIKE = 0.1, 5
"""The share of the subjects, and their number, from which on equal values are a spike."""
_SPIKE_APART, _GAP = 0.03, 0.75
"""The share that is a spike at a lowest or highest value as far from the others: the gap in SD of the others."""
_BESIDE, _TIMES, _TIMES_AT_END = 5, 3.0, 2.0
"""Beside how many values on either side, and how many times as common as each of them, a spike is: between others, and
at the lowest or highest value."""


def are_dense(values: Array, *, step: float = 1.0, is_measured: bool = False) -> bool:
    """Return whether numbers on a grid are spread so widely that a density describes them.

    Parameters
    ----------
    values : float64 (n,)
    step : float
        The distance between neighbouring possible values.
    is_measured : bool
        Whether the name says that it is a measurement, of which more may lie at a limit.
    """
    shares = np.unique(values, return_counts=True)[1] / values.size
    at_ends = max(np.mean(values == values.min()), np.mean(values == values.max()))
    spread = bool(values.std() >= _LEAST_SPREAD * step)
    return spread and (
        values.size < _FEW or bool(shares.max() < _TIED[is_measured] and at_ends < _AT_LIMIT[is_measured])
    )


def step_of_grid(values: Array) -> float:
    """Return the step to which nearly all whole numbers are rounded: 1, 2, 5, 10, 50 or 100."""
    for step in (100.0, 50.0, 10.0, 5.0, 2.0):
        if np.mean(values % step == 0) >= _ON_GRID and np.unique(values).size > 2:
            return step
    return 1.0


def is_learnt(n_subjects: int, n_levels: int) -> bool:
    """Return whether so many subjects suffice for the frequencies of a scale of so many levels."""
    return n_levels <= _FEWEST_STEPS or n_subjects >= max(_FEWEST_SUBJECTS, _PER_LEVEL * n_levels)


@dataclass(frozen=True)
class Spike:
    """A value that so many subjects share that a density would make a subtype of them.

    Attributes
    ----------
    value : float
    share : float
        The share of the subjects who have exactly this value.
    """

    value: float
    share: float


def spike_of(values: Array) -> Spike | None:
    """Return the spike of measurements (n,), if there is one: the commonest value of those that are.

    A spike is at least a tenth of the subjects, and stands out from the values beside it: rounded values are all as
    common as their neighbours. At the lowest and the highest value, which may be a limit, it is at least twice as
    common; between other values, where a limit of detection lies as soon as one of them comes from another laboratory,
    three times.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size < 2:
        return None
    fewest = max(_SPIKE * values.size, _FEWEST_IN_SPIKE)
    for place in np.argsort(-counts, kind="stable").tolist():
        if counts[place] < fewest:
            break
        beside = np.concatenate([counts[max(0, place - _BESIDE) : place], counts[place + 1 : place + 1 + _BESIDE]])
        is_end = place in (0, distinct.size - 1)
        if counts[place] >= (_TIMES_AT_END if is_end else _TIMES) * beside.max(initial=1):
            return Spike(float(distinct[place]), float(counts[place] / values.size))
    return _apart(values)


def _apart(values: Array) -> Spike | None:
    """Return the equal values at one end that a gap keeps from all others, such as half of a limit of detection.

    The gap must be wide on the plain scale and, of positive values, on the log scale: skewed values thin out.
    """
    scales = [values, np.log(values)] if values.min() > 0 else [values]
    for end in (float(values.min()), float(values.max())):
        is_end = values == end
        n = int(is_end.sum())
        if n < max(_SPIKE_APART * values.size, _FEWEST_IN_SPIKE) or n > values.size / 2:
            continue
        gaps = [float(np.abs(scale[~is_end] - scale[is_end][0]).min()) for scale in scales]
        if all(gap > _GAP * float(scale[~is_end].std()) for gap, scale in zip(gaps, scales, strict=True)):
            return Spike(end, n / values.size)
    return None
