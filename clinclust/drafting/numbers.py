"""Choose what a column of finite numbers is: yes/no, a scale, codes, a count, or a measurement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.instruments import instrument_of
from clinclust.drafting.levels import two_levels
from clinclust.drafting.measurements import proposal_of_numbers
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.totals import off_scale, proposal_of_total
from clinclust.drafting.whole_numbers import are_whole, proposal_of_whole_numbers

__all__ = ["proposal_of_finite"]


def proposal_of_finite(
    column: ObservedColumn, numbers: NDArray[np.float64], *, has_levels: bool, is_measured: bool = False
) -> Proposal:
    """Return the proposal for finite numbers; texts with units or other marks cannot be levels.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),)
    has_levels : bool
        Whether the texts may be levels.
    is_measured : bool
        Whether the numbers are measurements even if they are whole: they have a unit, or limits of detection.
    """
    if np.unique(numbers).size < 2:
        return Proposal({"role": "ignore"}, "the same value in every subject observed, apart from missing codes")
    instrument = instrument_of(column.name) if np.unique(numbers).size > 2 else None
    if instrument is None:
        return _by_values(column, numbers, has_levels=has_levels, is_measured=is_measured)
    instrument = instrument.in_use(numbers)
    off, is_look = off_scale(instrument, column, numbers)
    if not off:
        return proposal_of_total(column, numbers, instrument)
    found = _by_values(column, numbers, has_levels=has_levels, is_measured=is_measured or not instrument.step)
    if is_look:
        return replace(found, looks=(*found.looks, off))
    return replace(found, reason=joined(found.reason, off))


def _by_values(
    column: ObservedColumn, numbers: NDArray[np.float64], *, has_levels: bool, is_measured: bool
) -> Proposal:
    text_of = dict(zip(numbers.tolist(), column.texts, strict=True)) if has_levels else {}
    if len(text_of) < len(column.texts):  # some number is written in two ways
        text_of = {}
    if are_whole(numbers) and not is_measured:
        return proposal_of_whole_numbers(column, numbers, text_of)
    if len(column.texts) == 2 and text_of:
        return two_levels(column)
    return proposal_of_numbers(column, numbers, text_of)
