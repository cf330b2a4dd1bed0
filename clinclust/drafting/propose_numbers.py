"""The proposal for numbers: a scale, counts or a measurement, and how values beyond a limit are declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.drafting.column import DOUBTFUL, Column, Proposal, constant, with_codes
from clinclust.drafting.grid import Numbers, numbers_on_grid
from clinclust.drafting.kinds import MOST_LEVELS, Kind, best_count, best_scale, kinds_of_numbers
from clinclust.drafting.missing import missing_numbers, quoted
from clinclust.drafting.propose_levels import is_called_nominal, nominal_of, scale_of, two_levels, two_numbers
from clinclust.drafting.written import Written
from clinclust.files.cell_text import shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.likelihood import LARGEST_MEASUREMENT

_MOST_CODES, _LONGEST_SCALE = 30, 10
_ORDERED_CODES = 0.88  # how often whole numbers that code a few levels are ordered, in tables of the field
_MUCH_BEYOND = 0.05  # share beyond a limit from which on it is a part of the feature, whether a value was found


def proposal_of_numbers(column: Column, written: Written | None) -> Proposal | None:
    """Return the proposal for a column of numbers; None if they are none, or a few levels that are written in signs."""
    if written is None:
        return None
    if written.fault:
        return Proposal({"role": "ignore"}, "numbers that cannot be compared", looks=(written.fault,))
    beyond = written.below | written.above
    if beyond.any() and len(column.texts) <= MOST_LEVELS:
        return None
    odd = [text for text, number in zip(column.texts, written.numbers, strict=True) if not np.isfinite(number)]
    if odd and len(column.texts) <= MOST_LEVELS:
        return None
    codes = missing_numbers(np.where(beyond, np.nan, written.numbers), column.counts)
    coded = [text for text, number in zip(column.texts, written.numbers.tolist(), strict=True) if number in codes]
    looks = [*written.looks]
    if odd:
        looks.append(f"{quoted(odd)}: no numbers, and taken for missing (`missing_codes`)")
    if coded:
        looks.append(f"{quoted(coded)}: apart from all other values, and taken for missing (`missing_codes`)")
    is_left = np.array([text not in {*odd, *coded} for text in column.texts], dtype=bool)
    left = column.without({*odd, *coded})
    values = written.numbers[is_left]
    if np.unique(values).size < 2:
        return constant(left)
    found = _of_values(left, values, written, beyond[is_left])
    missing = {"missing_codes": [*odd, *coded]} if odd or coded else {}
    return replace(found, fields=with_codes(found.fields, missing)).extended(*looks)


def _of_values(column: Column, values: Array, written: Written, beyond: NDArray[np.bool_]) -> Proposal:
    exact = ~beyond if np.unique(values[~beyond]).size > 2 else np.ones(values.size, dtype=bool)
    numbers = numbers_on_grid(values[exact], column.counts[exact].astype(np.float64))
    if np.abs(numbers.values).max() > LARGEST_MEASUREMENT:
        return Proposal({"role": "ignore"}, "numbers too large to be modelled", looks=("check the unit",))
    if numbers.values.size == 2 and not beyond.any():
        return two_levels(column) if len(column.texts) == 2 else two_numbers(column, values)
    is_plain = not written.fields and len(column.texts) == numbers.values.size
    if is_plain and numbers.values.size <= _MOST_CODES and numbers.are_whole and is_called_nominal(column):
        return nominal_of(column, f"{numbers.values.size} codes without order, by the name of the column", set())
    declared = _declared_scale(column.notes)
    if declared is not None and numbers.are_whole and not written.fields:
        low, high = declared
        if low <= numbers.values[0] and numbers.values[-1] <= high:
            scores = np.repeat(values - low, column.counts)
            fields = best_scale(scores, trials=int(high - low))
            if low != 0:
                fields = {"likelihood": fields["likelihood"], "minimum": low, "maximum": high}
            return Proposal(fields, f"a scale {low:g} to {high:g}, as the file declares")
    top = column.notes.maximum
    is_longer = top is not None and top > numbers.values[-1]  # the file declares more steps than the values show
    kinds = kinds_of_numbers(numbers, may_be_scale=is_plain and not is_longer)
    scores = np.array([kind.score for kind in kinds])
    shares = np.exp(scores - scores.max())
    shares = shares / shares.sum()
    proposal, probability = _of_kind(kinds[0], column, values, numbers), float(shares[0])
    other = float(shares[1]) if len(kinds) > 1 else 0.0
    is_other_scale = kinds[0].name == "scale" and other <= probability * (1.0 - _ORDERED_CODES)
    probability *= _ORDERED_CODES if kinds[0].name == "scale" else 1.0
    otherwise = ""
    if probability < DOUBTFUL and is_other_scale:
        otherwise = "likelihood: categorical, if they have no order"
    elif probability < DOUBTFUL and len(kinds) > 1:
        second = _of_kind(kinds[1], column, values, numbers).fields
        otherwise = ", ".join(f"{name}: {value}" for name, value in second.items() if name != "levels")
    fields = {**proposal.fields}
    if not {"levels", "trials"} & set(fields):
        fields |= written.fields
        fields |= _bounds(column.notes, numbers, fields)
    found = replace(proposal, fields=fields, probability=probability, otherwise=otherwise)
    found = found.extended(_outside(column.notes, numbers))
    return _with_limits(found, column, written, beyond) if beyond.any() else found


def _of_kind(kind: Kind, column: Column, values: Array, numbers: Numbers) -> Proposal:
    if kind.name == "scale":
        order = np.argsort(values, kind="stable").tolist()
        return scale_of(column, [column.texts[place] for place in order], f"{len(order)} steps of a scale")
    if kind.name == "count":
        return Proposal(best_count(np.repeat(values, column.counts)), "counts")
    what = str(kind.fields["likelihood"])
    if "transform" in kind.fields:
        what = f"right-skewed, {what} on the log scale"
    if "spike" in kind.fields:
        spike = kind.fields["spike"]
        share = float(numbers.counts[numbers.values == spike].sum() / numbers.n)
        what = f"{what} but for {spike:g} in {share:.0%}, which is a part of its own"
    return Proposal(kind.fields, f"a measurement, {what}")


def _with_limits(proposal: Proposal, column: Column, written: Written, beyond: NDArray[np.bool_]) -> Proposal:
    share = float(column.counts[beyond].sum() / column.n_observed)
    many = f"{share:.1%} of the values lie beyond a limit, such as {shortened(column.texts[int(np.argmax(beyond))])!r}"
    if share < _MUCH_BEYOND:
        return proposal.extended(f"{many}: the limit replaces them (`censored`)", censored="limit")
    ends = [end for end, which in (("below", written.below), ("above", written.above)) if which.any()]
    return proposal.extended(reason=f"{many}, which is a part of its own", limit=ends)


def _declared_scale(notes: ColumnNotes) -> tuple[float, float] | None:
    low, high = notes.minimum if notes.minimum is not None else 0.0, notes.maximum
    if high is None or low % 1 or high % 1 or not 2 <= high - low <= _LONGEST_SCALE:
        return None
    return low, high


def _bounds(notes: ColumnNotes, numbers: Numbers, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the bounds that the file declares, if the likelihood takes them and all values satisfy them."""
    takes = traits_of(fields["likelihood"]).takes
    low, high = notes.minimum, notes.maximum
    bounds = {}
    if low is not None and np.isfinite(low) and "minimum" in takes and low <= numbers.values[0]:
        bounds["minimum"] = low
    if high is not None and np.isfinite(high) and "maximum" in takes and numbers.values[-1] <= high:
        bounds["maximum"] = high
    return bounds if low is None or high is None or low < high else {}


def _outside(notes: ColumnNotes, numbers: Numbers) -> str:
    """Return how many values are outside of the range that the file declares, which only warns of them."""
    low = notes.minimum if notes.minimum is not None else -np.inf
    high = notes.maximum if notes.maximum is not None else np.inf
    n = int(numbers.counts[(numbers.values < low) | (numbers.values > high)].sum())
    asked = f"{'from' if notes.maximum is not None else 'at least'} {low:g}" if notes.minimum is not None else ""
    asked += (f" to {high:g}" if asked else f"at most {high:g}") if notes.maximum is not None else ""
    repair = "correct them, or list them under missing_codes"
    return f"{n:,} value{'s are' if n > 1 else ' is'} not {asked}, as the file asks for: {repair}" if n else ""
