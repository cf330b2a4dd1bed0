"""Draft a column of numbers: which cells write numbers, which are codes or words, and what the numbers are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.cell_units import several_units
from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.durations import durations_of
from clinclust.drafting.feet_and_inches import heights_of
from clinclust.drafting.marks import without_flags
from clinclust.drafting.missing_codes import odd_texts, outlying_codes, quoted
from clinclust.drafting.names import looks_coded
from clinclust.drafting.numbers import proposal_of_finite
from clinclust.drafting.odd_cells import told_odd, told_too_few
from clinclust.drafting.one_unit import exact_numbers, left_out_for_two_units
from clinclust.drafting.orders import QUANTITIES, in_order
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.suspected_codes import suspected_codes
from clinclust.drafting.units import impossible_numbers, is_never_zero
from clinclust.drafting.written_numbers import WrittenNumbers, best_reading, written_numbers
from clinclust.files.number_notation import parts_of
from clinclust.likelihoods import traits_of

_MOST_ZEROS, _FAR_FROM_ZERO = 1.0, 0.25
"""The most zeros that are missing values, per other value; the least other value, as a share of their median."""
_MOST_STEPS, _REPEATS = 11, 3
"""The most quantities that are steps of a scale, and how many subjects each needs."""

__all__ = ["among_numbers", "numbers_in_column", "proposal_of_written"]


def numbers_in_column(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes numbers, if it does, with some odd texts among them; None otherwise."""
    written = written_numbers(column)
    if written is not None and written.doubt is not None:
        written = None
    if written is not None and np.isfinite(written.numbers).all():
        return written
    lasting = durations_of(column) or heights_of(column)
    if lasting is not None or written is None:
        return None if _are_steps(column) else lasting
    return written if odd_texts(column.texts, written.numbers, column.counts) else None


def _are_steps(column: ObservedColumn) -> bool:
    """Return whether a few quantities in several units are steps of a scale, and no measurement: `3 days`, `1 week`."""
    if not 3 <= len(column.texts) <= _MOST_STEPS or column.n_observed < _REPEATS * len(column.texts):
        return False
    return _are_quantities(column)


def _are_quantities(column: ObservedColumn) -> bool:
    ordered = in_order(column.texts, column.name)
    return ordered is not None and ordered[1] == QUANTITIES


def among_numbers(column: ObservedColumn, proposal: Proposal) -> Proposal:
    """Return the proposal for a column of texts, or, if many cells are numbers, that the others are to blame."""
    is_scale = traits_of(proposal.fields.get("likelihood")).is_scale  # `10k-20k` and `500 mg` beside `1 g`
    if is_scale and (len(column.texts) <= _MOST_STEPS or not _are_quantities(column)):
        return proposal
    reading = best_reading(column)
    if reading.doubt is not None:
        return Proposal({"role": "ignore"}, "numbers that cannot be compared", (reading.doubt,))
    parts = [parts_of(text) for text in without_flags(column.texts, column.counts).texts]
    blamed = several_units(column, parts) or told_too_few(column, reading.numbers)
    if blamed is None or (looks_coded(column.name) and proposal.fields.get("role") != "ignore"):
        return proposal
    return Proposal({"role": "ignore"}, "neither numbers nor levels", (blamed,))


def proposal_of_written(column: ObservedColumn, written: WrittenNumbers) -> tuple[Proposal, list[str]]:
    """Return the proposal for a column of numbers, and the texts that are codes for missing values."""
    odd = [text for text, number in zip(column.texts, written.numbers, strict=True) if not np.isfinite(number)]
    codes, looks = _codes(column, written)
    if odd:
        looks.insert(0, told_odd(column, odd))
    left = column.without([*odd, *codes])
    number_of = dict(zip(column.texts, written.numbers.tolist(), strict=True))
    numbers = np.array([number_of[text] for text in left.texts], dtype=np.float64)
    is_measured = bool({"unit", "censored"} & set(written.fields))
    proposal = proposal_of_finite(left, numbers, has_levels=not written.fields, is_measured=is_measured)
    if traits_of(proposal.fields.get("likelihood")).is_continuous:
        exact = exact_numbers(left, numbers)
        looked = left_out_for_two_units(left, exact, proposal)
        looks += impossible_numbers(column.name, exact) if looked is proposal else []
        proposal = looked
    fields = {**written.fields, **proposal.fields}
    if "levels" in proposal.fields or "likelihood" not in proposal.fields:
        fields = dict(proposal.fields)
    reason = joined(proposal.reason, *written.reasons)
    looks = [*proposal.looks, *written.looks, *looks]
    return Proposal(fields, reason, tuple(looks), proposal.is_clear), [*odd, *codes]


def _codes(column: ObservedColumn, written: WrittenNumbers) -> tuple[list[str], list[str]]:
    """Return the texts of numbers that are codes for missing values, and what deserves a look in these and others."""
    outlying = outlying_codes(written.numbers, column.counts)
    usual = ~np.isin(written.numbers, list(outlying))
    suspected = suspected_codes(written.numbers[usual], column.counts[usual])
    zeros = _impossible_zeros(column, written.numbers)
    apart = (outlying | {one.code for one in suspected if one.is_apart}) - ({0.0} if zeros else set())
    codes = [text for text, number in zip(column.texts, written.numbers, strict=True) if number in apart]
    looks = [f"{quoted(codes)}: apart from all other values, and taken for missing"] if codes else []
    if zeros:
        told = "by the name of the column no value of it can be 0, and all others are far from it"
        looks.append(f"{quoted(zeros)}: taken for missing (`missing_codes`), because {told}")
    left = (one for one in suspected if not one.is_apart and not (zeros and one.code == 0))
    return [*codes, *zeros], [*looks, *(one.sentence() for one in left)]


def _impossible_zeros(column: ObservedColumn, numbers: NDArray[np.float64]) -> list[str]:
    """Return the texts that write 0 where no value can be 0, and all others lie far from it."""
    is_zero = numbers == 0.0
    is_other = np.isfinite(numbers) & ~is_zero
    if not is_zero.any() or not is_other.any() or not is_never_zero(column.name):
        return []
    others = np.repeat(numbers[is_other], column.counts[is_other])
    if column.counts[is_zero].sum() > _MOST_ZEROS * others.size or others.min() < _FAR_FROM_ZERO * np.median(others):
        return []
    return [text for text, is_it in zip(column.texts, is_zero, strict=True) if is_it]
