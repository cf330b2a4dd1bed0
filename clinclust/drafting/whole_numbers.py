"""Choose a likelihood for a column of whole numbers: a scale, codes, a count, or a rounded measurement.

Tied whole numbers are never given a density: a Gaussian makes a subtype of every value that many subjects share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.evidence import COUNTS, SCALES, Candidate, candidate, how_clear
from clinclust.drafting.levels import levels_in_order, proposal_of_codes, two_levels
from clinclust.drafting.measurements import measured, proposal_of_measurements
from clinclust.drafting.names import looks_coded, looks_counted, looks_measured
from clinclust.drafting.proposal import Proposal, joined
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.likelihood import LARGEST_COUNT

__all__ = ["are_whole", "proposal_of_whole_numbers"]

Array = NDArray[np.float64]


_SHORT = 10  # the most steps of a run that is a scale unless a count fits better
_HIGHEST_START = 5  # the highest number at which a short scale begins
_LONG = 100  # the most steps of a run that may be a scale
_MOST_CODES = 30
_TIED = 0.2
"""The share of the subjects from which on one value is tied too often for a density."""
_AT_LIMIT = (0.05, 0.15)
"""The share of the subjects at the lowest or highest value from which on there is a limit; if named a measurement."""
_LEAST_SPREAD = 2.0
"""The standard deviation, in steps, below which rounding to whole numbers shows (it is 0.3 steps)."""
_FAR = 30.0
"""The mean from which on whole numbers without a tie are measurements: Poisson counts are then nearly Gaussian."""
_NAMED = 5.0
"""What a name is worth, in nats."""


def are_whole(numbers: Array) -> bool:
    """Return whether all numbers are whole and not too large to be counts."""
    return bool((np.floor(numbers) == numbers).all()) and float(np.abs(numbers).max()) <= LARGEST_COUNT


def proposal_of_whole_numbers(column: ObservedColumn, numbers: Array, text_of: dict[float, str]) -> Proposal:
    """Propose a feature for whole numbers.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),)
        The number of each text.
    text_of : dict
        The text of each number; empty if some number is written in several ways, so that they cannot be levels.
    """
    distinct = np.unique(numbers)
    if len(distinct) == 2 and len(text_of) == 2 and not set(distinct) <= {0.0, 1.0}:
        return two_levels(column)
    if set(distinct) <= {0.0, 1.0}:
        return Proposal({"likelihood": Bernoulli.name}, "only 0 and 1")
    low, high = float(distinct[0]), float(distinct[-1])
    if _are_codes(column, distinct, text_of):
        levels = [text_of[number] for number in distinct.tolist()]
        reason = f"{len(levels)} numbers that are codes, by the name of the column"
        return proposal_of_codes(column, levels, reason)
    values = np.repeat(numbers, column.counts)
    if _are_few_levels(distinct, values, text_of):
        levels = [text_of[number] for number in distinct.tolist()]
        return levels_in_order(column, levels, f"{len(levels)} different numbers with gaps between them")
    if high - low <= _SHORT and not (low > _HIGHEST_START and values.std() >= _LEAST_SPREAD):
        return _short_run(column, values, low, high)
    return _long_run(column, values, low, high)


def _are_codes(column: ObservedColumn, distinct: Array, text_of: dict[float, str]) -> bool:
    """Return whether numbers are codes: by the name of the column, or all of one length with leading zeros."""
    if not 3 <= len(distinct) <= _MOST_CODES or len(text_of) < len(distinct):
        return False
    padded = len({len(text) for text in column.texts}) == 1 and any(text.startswith("0") for text in column.texts)
    return (padded and distinct[-1] > 9) or (looks_coded(column.name) and not looks_counted(column.name))


def _are_few_levels(distinct: Array, values: Array, text_of: dict[float, str]) -> bool:
    """Return whether the numbers are few, far apart and often repeated, such as doses 0, 5, 10 and 20."""
    if len(text_of) < len(distinct) or not 3 <= len(distinct) <= _SHORT + 1:
        return False
    gaps = np.diff(distinct)
    return bool(np.median(gaps) >= 2 and values.size >= 8 * len(distinct))


def _scale(values: Array, low: float, high: float) -> list[Candidate]:
    """Return the ways of modelling whole numbers as a scale."""
    declared = {"trials": int(high)} if low == 0 else {"minimum": int(low), "maximum": int(high)}
    return [candidate({"likelihood": name, **declared}, values - low) for name in SCALES]


def _counts(values: Array, low: float) -> list[Candidate]:
    if low < 0:
        return []
    return [candidate({"likelihood": name}, values) for name in COUNTS]


def _best(options: list[Candidate]) -> Candidate:
    return max(options, key=lambda option: option.evidence)


def _short_run(column: ObservedColumn, values: Array, low: float, high: float) -> Proposal:
    """Propose a scale, or a count if the values thin out as counts do."""
    scale, counts = _scale(values, low, high), _counts(values, low)
    best = _best(scale)
    what = f"whole numbers {low:.0f} to {high:.0f}"
    if counts:
        count = _best(counts)
        tilt = _NAMED if looks_counted(column.name) else 0.0
        if count.evidence + tilt > best.evidence:
            words, is_clear = how_clear(count, scale)
            return Proposal(
                count.fields, f"{what}; a count, {count.called}" + (f" ({words})" if words else ""), (), is_clear
            )
    words, is_clear = how_clear(best, [*counts, *(option for option in scale if option is not best)])
    reason = joined(f"{what}; an ordered scale, {best.called}" + (f" ({words})" if words else ""))
    hint = "if the numbers are codes without an order, write `likelihood: categorical` with `levels`"
    is_clear = is_clear or not counts or best.evidence - _best(counts).evidence > _NAMED
    return Proposal(best.fields, reason if is_clear else joined(reason, hint), (), is_clear)


def _long_run(column: ObservedColumn, values: Array, low: float, high: float) -> Proposal:
    """Propose a count, a long scale with ties at its ends, or a measurement that was rounded."""
    is_named_count = looks_counted(column.name)
    dense = _is_dense(values, low, high, _AT_LIMIT[looks_measured(column.name)])
    is_far = values.mean() >= _FAR and low > 0.1 * values.mean()
    options: list[Candidate] = []
    if not dense or not (looks_measured(column.name) or (is_far and not is_named_count)):
        options += _counts(values, low)
    if not dense and high - low <= _LONG and not is_named_count:
        options += _scale(values, low, high)[:1]
    if dense and not is_named_count:
        options += measured(values)
    if not options:
        return proposal_of_measurements(column, values)
    best = _best(options)
    count = _best(_counts(values, low) or options)
    if traits_of(best.fields["likelihood"]).is_scale and count.evidence + _NAMED > best.evidence:
        best = count
    if traits_of(best.fields["likelihood"]).is_continuous:
        return proposal_of_measurements(
            column, values, [option for option in options if option not in measured(values)]
        )
    words, is_clear = how_clear(best, [option for option in options if option is not best])
    kind = "an ordered scale" if traits_of(best.fields["likelihood"]).is_scale else "a count"
    tied = "" if dense else "; many subjects share a value, and a Gaussian would make a subtype of each such value"
    reason = f"whole numbers {low:.0f} to {high:.0f}; {kind}, {best.called}" + (f" ({words})" if words else "") + tied
    return Proposal(best.fields, reason, (), is_clear)


def _is_dense(values: Array, low: float, high: float, at_limit: float) -> bool:
    """Return whether whole numbers are spread so widely that a density describes them."""
    shares = np.unique(values, return_counts=True)[1] / values.size
    at_ends = [np.mean(values == low), np.mean(values == high)]
    few = values.size < 40  # where each value is a large share by chance
    return bool(values.std() >= _LEAST_SPREAD and (few or (shares.max() < _TIED and max(at_ends) < at_limit)))
