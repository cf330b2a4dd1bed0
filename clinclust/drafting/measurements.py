"""Choose a likelihood for a column of measurements: plain, on the log scale, or exponential."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.coarse_grids import (
    is_fine_enough,
    is_recorded_finely,
    levels_beyond,
    levels_of_percentages,
    regular_step,
)
from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.evidence import Candidate, candidate, how_clear
from clinclust.drafting.levels import levels_in_order, proposal_of_codes
from clinclust.drafting.names import looks_classified
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.ties import Spike, spike_of
from clinclust.files.limits_in_words import is_beyond_a_limit
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.far_values import without_far_values
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import LARGEST_MEASUREMENT

__all__ = ["has_logarithm", "measured", "proposal_of_measurements", "proposal_of_numbers"]

Array = NDArray[np.float64]

_MOST_LEVELS = 11
_REPEATS = 3
_AT_LIMIT = 0.1
"""The share of values at the lowest value from which on a logarithm is not taken: it would pull them apart."""
_FEWEST_FOR_TAILS, _SKEW, _HEAVY = 50, 0.9, 3.0  # subjects, skewness, and excess kurtosis
_MARGIN = (5.0, 0.02)
"""By how many nats, and nats a subject, the logarithm must be better."""


def proposal_of_numbers(column: ObservedColumn, numbers: Array, text_of: dict[float, str]) -> Proposal:
    """Propose a feature for numbers that are not all whole: a few levels, or a measurement."""
    distinct = np.unique(numbers)
    repeated = column.n_observed >= _REPEATS * len(distinct)
    if len(text_of) == len(distinct) and repeated and looks_classified(column.name):
        levels = [text_of[number] for number in distinct.tolist()]
        return proposal_of_codes(column, levels, f"{len(levels)} codes of a classification, by the name of the column")
    if len(text_of) == len(distinct) and repeated and 3 <= len(distinct) <= _MOST_LEVELS:
        if is_recorded_finely(column.name, distinct):
            return _in_few_steps(column, np.repeat(numbers, column.counts), text_of)
        levels = [text_of[number] for number in distinct.tolist()]
        return levels_in_order(column, levels, f"{len(levels)} different values, not all whole")
    return proposal_of_measurements(column, np.repeat(numbers, column.counts))


def proposal_of_few_numbers(column: ObservedColumn, values: Array, text_of: dict[float, str]) -> Proposal:
    """Propose a feature for few whole numbers that lie apart: percentages, a measurement in steps, or levels."""
    distinct = np.unique(values)
    in_percent = levels_of_percentages(column.name, distinct, text_of)
    if in_percent is not None:
        what = f"{len(distinct)} percentages in equal steps, so that those that nobody has are levels too"
        return levels_in_order(column, in_percent, what)
    if is_recorded_finely(column.name, distinct):
        return _in_few_steps(column, values, text_of)
    levels = [text_of[number] for number in distinct.tolist()]
    return levels_in_order(column, levels, f"{len(levels)} different numbers with gaps between them")


def _in_few_steps(column: ObservedColumn, values: Array, text_of: dict[float, str]) -> Proposal:
    """Propose a density for a measurement in steps that are fine enough, otherwise the levels of its whole scale."""
    distinct = np.unique(values)
    step = regular_step(distinct)
    if is_fine_enough(values, step):
        return proposal_of_measurements(column, values)
    what = (
        f"a measurement in steps of {step:g}, of which a Gaussian would make subtypes; its levels go beyond the "
        f"{len(distinct)} observed: add those that new subjects may have"
    )
    return levels_in_order(column, levels_beyond(distinct, text_of), what)


def measured(values: Array) -> list[Candidate]:
    """Return the ways of modelling measurements that hold for the values: Gaussian, its logarithm, exponential."""
    options = [candidate({"likelihood": Gaussian.name}, values)]
    if has_logarithm(values):
        logs = np.log(values)
        fields = {"likelihood": Gaussian.name, "transform": "log"}
        options.append(candidate(fields, logs, -float(logs.sum()), "gaussian of the log"))
    if values.min() >= 0:
        options.append(candidate({"likelihood": Exponential.name}, values))
    return options


def has_logarithm(values: Array) -> bool:
    """Return whether a logarithm suits values (n,): all are positive, and few of them are the lowest one."""
    low = float(values.min())
    return low > 0 and bool(np.mean(values == low) <= max(_AT_LIMIT, 2.0 / values.size))


def proposal_of_measurements(column: ObservedColumn, values: Array, others: list[Candidate] | None = None) -> Proposal:
    """Propose a feature for measurements.

    Parameters
    ----------
    column : ObservedColumn
    values : float64 (n,)
        The value of each subject observed.
    others : list of Candidate, optional
        Other ways of modelling the column, with which the choice is compared in the reason.
    """
    if np.abs(values).max() > LARGEST_MEASUREMENT:
        return Proposal({"role": "ignore"}, "numbers too large to be modelled; check the unit")
    spike = spike_of(values)
    if spike is not None:
        return _with_a_spike(column, spike)
    usual = without_far_values(values)  # one slip of the pen is no long tail
    usual = usual if usual.min() == values.min() else values  # of a value below 0 there is no logarithm
    options = measured(usual)
    plain = options[0]
    margin = max(_MARGIN[0], _MARGIN[1] * usual.size)
    best = max(options, key=lambda option: option.evidence - (0.0 if option is plain else margin))
    rest = [option for option in options if option is not best]
    words, is_clear = how_clear(best, [*rest, *(others or [])])
    called = {
        Gaussian.name: "a measurement, gaussian",
        Exponential.name: "a duration or another exponential measurement",
    }
    name = called.get(best.called, f"a right-skewed measurement, {best.called}")
    if best is plain and rest and max(option.evidence for option in rest) > best.evidence:
        words, is_clear = "its logarithm would fit better, but not clearly", False
    looks: tuple[str, ...] = (
        _tails(np.log(usual) if "transform" in best.fields else usual) if best.called != Exponential.name else ()
    )
    if np.ptp(values) > 0 and values.min() >= 0 and values.max() <= 1 and best is not plain:
        looks += ("values from 0 to 1: if they are shares, look at the values near 0 and 1",)
    return Proposal(best.fields, joined(name + (f" ({words})" if words else "")), looks, is_clear)


def _with_a_spike(column: ObservedColumn, spike: Spike) -> Proposal:
    """Return a proposal that describes a measurement with a spike, and says how it could be clustered on."""
    reason = "a measurement with a spike: a Gaussian would make a subtype of the equal values, so it is described only"
    others = ""
    if any(is_beyond_a_limit(text) for text in column.texts):
        others = (
            "; if they are the values beyond the limit, `censored: missing` instead of `role: describe` clusters on "
            "the others alone"
        )
    look = (
        f"{spike.share:.0%} of the values are exactly {spike.value:g}, so `role: describe` stands here: no subtype is "
        "formed by this column. To cluster on it, give the table a column with its values in ordered groups, of which "
        f"these are one, or with yes and no for whether a subject has this value{others}"
    )
    return Proposal({"likelihood": Gaussian.name, "role": "describe"}, reason, (look,))


def _tails(values: Array) -> tuple[str, ...]:
    """Return a sentence if a tail is longer than that of a Gaussian, so that it may become a subtype of its own."""
    if values.size < _FEWEST_FOR_TAILS:
        return ()
    centred = (values - values.mean()) / values.std()
    skewness, excess = float(np.mean(centred**3)), float(np.mean(centred**4)) - 3.0
    if abs(skewness) < _SKEW and excess < _HEAVY:
        return ()
    which = "upper" if skewness > 0 else "lower"
    return (
        f"its {which} tail is longer than that of a Gaussian and may become a subtype of its own: look whether one "
        "differs in nothing else, and then write `role: describe`",
    )
