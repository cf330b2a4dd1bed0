"""Choose a likelihood for a column of whole numbers: a scale, codes, a count, or a rounded measurement.

Tied whole numbers are never given a density: a Gaussian makes a subtype of every value that many subjects share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.evidence import COUNTS, SCALES, Candidate, candidate, how_clear
from clinclust.drafting.levels import proposal_of_codes, two_levels
from clinclust.drafting.measurements import measured, proposal_of_few_numbers, proposal_of_measurements
from clinclust.drafting.names import (
    is_called_a_count,
    is_counted_a_period,
    looks_coded,
    looks_counted,
    looks_felt,
    looks_graded,
    looks_measured,
    looks_postal,
    looks_scored,
    names_a_unit,
    names_a_year,
)
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.ties import are_dense, is_learnt, step_of_grid
from clinclust.drafting.unmodelled import POSTAL, could_be_postal_codes
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import LARGEST_COUNT

__all__ = ["are_whole", "proposal_of_whole_numbers"]

Array = NDArray[np.float64]


_SHORT = 10  # the most steps of a run that is a scale unless a count fits better
_OF_AN_ITEM = 6
"""The most steps of a run that is an item of a scale, unless its name says what is counted.

Few subjects at the upper steps are usual in items of severity, and counts then often fit better; but a count has no
highest step, and an ordinal feature takes any distribution over its steps."""
_HIGHEST_START = 5  # the highest number at which a short scale begins
_LONG = 100  # the most steps of a run that may be a scale
_MOST_CODES = 30
_WIDE = 2.0
"""The standard deviation from which on a short run far from 0 is a rounded measurement."""
_MOST_MEASURED_LEVELS = 7
"""The most levels of a column with the name of a measurement; with more it is rounded, and no scale."""
_SHARED = "many subjects share a value, and a Gaussian would make a subtype of each such value"
_FAR = 30.0
"""The mean from which on whole numbers without a tie are measurements: Poisson counts are then nearly Gaussian."""
_FIRST_YEAR, _LAST_YEAR = 1900.0, 2035.0
_YEARS = (
    "calendar years, so it is described only: when something happened is no property of a disease; to cluster on a "
    "time, compute it in the table, such as the age or the years since diagnosis"
)
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
    if names_a_year(column.name) and distinct[0] >= _FIRST_YEAR and distinct[-1] <= _LAST_YEAR:
        return Proposal({"likelihood": Gaussian.name, "role": "describe"}, _YEARS)
    if len(distinct) == 2 and len(text_of) == 2 and not set(distinct) <= {0.0, 1.0}:
        return two_levels(column)
    if set(distinct) <= {0.0, 1.0}:
        return Proposal({"likelihood": Bernoulli.name}, "only 0 and 1")
    low, high = float(distinct[0]), float(distinct[-1])
    if _are_codes(column, distinct, text_of):
        levels = [text_of[number] for number in distinct.tolist()]
        reason = f"{len(levels)} numbers that are codes, by the name of the column"
        return proposal_of_codes(column, levels, reason)
    if _are_postal(column):
        return Proposal({"role": "ignore"}, f"{len(distinct)} {POSTAL}")
    values = np.repeat(numbers, column.counts)
    per_period = is_counted_a_period(column.name) and high <= _LONG
    if (is_called_a_count(column.name) or per_period) and low >= 0:
        return _called_count(column, values, low, high)
    if _are_few_levels(column, distinct, values, text_of):
        return proposal_of_few_numbers(column, values, text_of)
    if high - low <= _SHORT and not (low > _HIGHEST_START and values.std() >= _WIDE):
        return _short_run(column, values, low, high)
    return _long_run(column, values, low, high)


def _are_codes(column: ObservedColumn, distinct: Array, text_of: dict[float, str]) -> bool:
    """Return whether numbers are codes: by the name of the column, or all of one length with leading zeros."""
    if not 3 <= len(distinct) <= _MOST_CODES or len(text_of) < len(distinct):
        return False
    padded = len({len(text) for text in column.texts}) == 1 and any(text.startswith("0") for text in column.texts)
    is_named = (looks_coded(column.name) and not looks_counted(column.name)) or _are_postal(column)
    return (padded and distinct[-1] > 9) or is_named


def _are_postal(column: ObservedColumn) -> bool:
    return looks_postal(column.name) and could_be_postal_codes(column)


def _are_few_levels(column: ObservedColumn, distinct: Array, values: Array, text_of: dict[float, str]) -> bool:
    """Return whether the numbers are few, far apart and often repeated, such as doses 0, 5, 10 and 20."""
    if len(text_of) < len(distinct) or not 3 <= len(distinct) <= _SHORT + 1:
        return False
    if looks_measured(column.name) and len(distinct) > _MOST_MEASURED_LEVELS:
        return False
    gaps = np.diff(distinct)
    if len(distinct) > _MOST_MEASURED_LEVELS and distinct[0] > 0 and len(set(gaps.tolist())) == 1:
        return False  # a measurement rounded to 5 or 10
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


def _called_count(column: ObservedColumn, values: Array, low: float, high: float) -> Proposal:
    """Propose a count for a column whose name says what is counted."""
    counts = _counts(values, low)
    best = _best(counts)
    others = [option for option in counts if option is not best] + (_scale(values, low, high) if high <= _LONG else [])
    words, is_clear = how_clear(best, others)
    reason = f"whole numbers {low:.0f} to {high:.0f}; a count by its name, {best.called}"
    tied = "" if are_dense(values) else _SHARED
    return Proposal(best.fields, joined(reason + (f" ({words})" if words else ""), tied), (), is_clear)


def _short_run(column: ObservedColumn, values: Array, low: float, high: float) -> Proposal:
    """Propose a scale, or a count if the values thin out as counts do."""
    scale = _scale(values, low, high)
    counts = _counts(values, low)
    if looks_measured(column.name) and high - low >= _MOST_MEASURED_LEVELS:
        return _long_run(column, values, low, high)
    best = _best(scale)
    what = f"whole numbers {low:.0f} to {high:.0f}"
    if counts and not looks_graded(column.name):
        count = _best(counts)
        is_named = looks_counted(column.name)
        is_item = not is_named and (high - low <= _OF_AN_ITEM or looks_felt(column.name))
        if not is_item and count.evidence + (_NAMED if is_named else 0.0) > best.evidence:
            words, is_clear = how_clear(count, scale)
            return Proposal(
                count.fields, f"{what}; a count, {count.called}" + (f" ({words})" if words else ""), (), is_clear
            )
    words, is_clear = how_clear(best, [*counts, *(option for option in scale if option is not best)])
    hint = "if the numbers are codes without an order, write `likelihood: categorical` with `levels`"
    if counts and _best(counts).evidence > best.evidence:
        words = f"few steps; {words}"
        hint = f"if the numbers count something, write `likelihood: {_best(counts).fields['likelihood']}`"
    reason = joined(f"{what}; an ordered scale, {best.called}" + (f" ({words})" if words else ""))
    is_clear = is_clear or not counts or best.evidence - _best(counts).evidence > _NAMED
    return Proposal(best.fields, reason if is_clear else joined(reason, hint), (), is_clear)


def _named_score(column: ObservedColumn, values: Array, low: float, high: float) -> Proposal:
    """Propose a scale, or with few subjects a measurement, for the total of an instrument that is not known."""
    if is_learnt(values.size, round(high - low) + 1) or not are_dense(values, step=step_of_grid(values)):
        options = _scale(values, low, high)
        best = _best(options)
        what = f"whole numbers {low:.0f} to {high:.0f}; by its name the score of an instrument"
        hint = "if the instrument has other ends, write them"
        return Proposal(best.fields, joined(what, f"an ordered scale, {best.called}", hint), (), False)
    return proposal_of_measurements(column, values, _scale(values, low, high)[:1])


def _long_run(column: ObservedColumn, values: Array, low: float, high: float) -> Proposal:
    """Propose a count, a long scale with ties at its ends, or a measurement that was rounded."""
    is_named_count, is_named_measure = looks_counted(column.name), looks_measured(column.name)
    dense = are_dense(values, step=step_of_grid(values), is_measured=is_named_measure)
    is_far = values.mean() >= _FAR and low > 0.1 * values.mean()
    if looks_scored(column.name) and high - low <= _LONG and not names_a_unit(column.name):
        return _named_score(column, values, low, high)
    options: list[Candidate] = []
    if not dense or not (is_named_measure or (is_far and not is_named_count)):
        options += _counts(values, low)
    if not dense and high - low <= _LONG and not is_named_count and not (is_named_measure and low == 0):
        options += _scale(values, low, high)[:1]
    if dense and not is_named_count:
        options += measured(values)
    if not options:
        return proposal_of_measurements(column, values)
    best = _best(options)
    count = _best(_counts(values, low) or options)
    if traits_of(best.fields["likelihood"]).is_scale and count.evidence + _NAMED > best.evidence:
        best = count
    if dense and not is_named_count and best.evidence - _best(measured(values)).evidence < _NAMED:
        best = _best(measured(values))  # a density makes no subtypes of a wide count, a Poisson does of all others
    if traits_of(best.fields["likelihood"]).is_continuous:
        return proposal_of_measurements(
            column, values, [option for option in options if option not in measured(values)]
        )
    words, is_clear = how_clear(best, [option for option in options if option is not best])
    kind = "an ordered scale" if traits_of(best.fields["likelihood"]).is_scale else "a count"
    tied = "" if dense else _SHARED
    reason = f"whole numbers {low:.0f} to {high:.0f}; {kind}, {best.called}" + (f" ({words})" if words else "")
    return Proposal(best.fields, joined(reason, tied), (), is_clear)
