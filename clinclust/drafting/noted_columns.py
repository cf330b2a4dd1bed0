"""Draft a column of which its file says something: what the notes leave open is chosen by the values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.declaration import Declared
from clinclust.drafting.levels import levels_in_order
from clinclust.drafting.noted_numbers import is_missing_code
from clinclust.drafting.numbers import proposal_of_finite
from clinclust.drafting.one_unit import exact_numbers, left_out_for_two_units
from clinclust.drafting.proposal import Proposal, joined
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.as_written import number_meant
from clinclust.schema.feature import Feature

__all__ = ["completed"]

_LONGEST_SCALE = 10  # a range of more steps is that of a measurement
_OF_NUMBERS = ("decimal", "thousands", "censored")


def completed(declared: Declared, column: ObservedColumn, by_values: Callable[[ObservedColumn], Proposal]) -> Proposal:
    """Return the proposal for a column.

    Parameters
    ----------
    declared : Declared
    column : ObservedColumn
    by_values : function of an ObservedColumn
        What the values alone make of a column; asked only for a declaration that is open.
    """
    if declared.kind == "settled":
        return Proposal(declared.fields, declared.reason, declared.looks, _agrees(declared))
    codes = tuple(declared.fields.get("missing_codes", ()))
    spellings = [text for text in column.texts if is_missing_code(text, codes)]
    observed = column.without(spellings)
    if declared.kind == "open":
        fields = {**declared.fields, "missing_codes": [*codes, *spellings]} if codes else declared.fields
        return _merged(replace(declared, fields=fields), by_values(observed))
    return _merged(declared, (_by_levels if declared.kind == "ordered" else _by_numbers)(declared, observed))


def _agrees(declared: Declared) -> bool:
    """Return whether the values agree with what the file says of them."""
    return not any(part.startswith("but ") or "not among" in part for part in declared.reason.split("; "))


def _by_levels(declared: Declared, column: ObservedColumn) -> Proposal:
    levels = list(declared.fields["levels"])
    return levels_in_order(column.merged(declared.fields.get("synonyms", {})), levels, "its levels have an order")


def _by_numbers(declared: Declared, column: ObservedColumn) -> Proposal:
    written = {name: declared.fields[name] for name in (*_OF_NUMBERS, "unit") if name in declared.fields}
    feature = Feature(name="x", likelihood=Gaussian.name, **written)
    meant = {text: number_meant(feature, text) for text in column.texts}
    left = column.without([text for text, number in meant.items() if number is None])
    numbers = np.array([number for number in meant.values() if number is not None], dtype=np.float64)
    proposal = proposal_of_finite(left, numbers, has_levels=not written)
    return left_out_for_two_units(left, exact_numbers(left, numbers), proposal)


def _merged(said: Declared, proposed: Proposal) -> Proposal:
    """Return the declared fields that the chosen likelihood takes, and those that were chosen."""
    declared, chosen, reason = said.fields, proposed.fields, proposed.reason
    widened = _widened(chosen, declared.get("minimum", 0), declared.get("maximum"))
    if widened != chosen:
        chosen, reason = widened, joined(reason, "the scale has the steps that the file declares")
    takes = traits_of(chosen.get("likelihood")).takes
    kept = {name: value for name, value in declared.items() if name not in ("minimum", "maximum") or name in takes}
    if "levels" in chosen and "levels" not in declared:
        kept = {name: value for name, value in kept.items() if name not in _OF_NUMBERS}
    if {"trials", "levels", "minimum"} & set(chosen):  # a scale is declared in one way
        kept = {name: value for name, value in kept.items() if name not in ("minimum", "maximum")}
    if chosen.get("role") in ("ignore", "id"):
        kept = {name: value for name, value in kept.items() if name not in ("block", *_OF_NUMBERS)}
    codes = [*kept.pop("missing_codes", []), *chosen.get("missing_codes", [])]
    merged = {**kept, **chosen, **({"missing_codes": list(dict.fromkeys(codes))} if codes else {})}
    is_clear = proposed.is_clear and _agrees(said)
    return Proposal(merged, joined(said.reason, reason), (*said.looks, *proposed.looks), is_clear)


def _widened(chosen: dict[str, Any], low: float, high: float | None) -> dict[str, Any]:
    """Return a scale with the steps that the file declares, of which the values may show only some."""
    if high is None or high - low > _LONGEST_SCALE or low % 1 or high % 1:
        return chosen
    if "trials" in chosen and low == 0:
        return {**chosen, "trials": int(high)}
    if "minimum" in chosen and "maximum" in chosen:
        fields = {name: value for name, value in chosen.items() if name not in ("minimum", "maximum")}
        return {**fields, "trials": int(high)} if low == 0 else {**fields, "minimum": low, "maximum": high}
    return chosen
