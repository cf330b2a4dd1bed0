"""Draft a column of which its file says something: what the notes leave open is chosen by the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from clinclust.drafting.declaration import Declared, joined
from clinclust.drafting.likelihood_choice import Draft, likelihood_of_levels, likelihood_of_numbers
from clinclust.drafting.noted_numbers import is_missing_code
from clinclust.likelihoods import traits_of
from clinclust.schema.as_written import number_meant
from clinclust.schema.feature import Feature

__all__ = ["completed"]

_LONGEST_SCALE = 10  # a range of more steps is that of a measurement
_OF_NUMBERS = ("decimal", "thousands", "censored")


def completed(declared: Declared, counted: dict[str, int], by_values: Draft = ({}, "")) -> Draft:
    """Return the fields of a feature, and the reason for them.

    Parameters
    ----------
    declared : Declared
    counted : dict of str to int
        The texts of the column that are not empty, with the number of cells that hold each.
    by_values : tuple of (dict, str)
        What the values alone make of the column; needed only for a declaration that is open.
    """
    if declared.kind == "settled":
        return declared.fields, declared.reason
    codes = tuple(declared.fields.get("missing_codes", ()))
    if declared.kind == "open":
        spellings = [text for text in counted if is_missing_code(text, codes)]
        fields = {**declared.fields, "missing_codes": [*codes, *spellings]} if codes else declared.fields
        return _merged(fields, *by_values, declared.reason)
    seen = {text: count for text, count in counted.items() if not is_missing_code(text, codes)}
    return (_by_levels if declared.kind == "ordered" else _by_numbers)(declared, seen)


def _by_levels(declared: Declared, seen: dict[str, int]) -> Draft:
    levels, synonyms = list(declared.fields["levels"]), declared.fields.get("synonyms", {})
    per_level = dict.fromkeys(levels, 0)
    for text, count in seen.items():
        per_level[synonyms.get(text, text)] += count
    chosen, reason = likelihood_of_levels(
        levels, np.array([*per_level.values()], dtype=np.float64), "its levels have an order"
    )
    return _merged(declared.fields, chosen, reason, declared.reason)


def _by_numbers(declared: Declared, seen: dict[str, int]) -> Draft:
    fields = declared.fields
    written = {name: fields[name] for name in (*_OF_NUMBERS, "unit") if name in fields}
    feature = Feature(name="x", likelihood="gaussian", **written)
    meant = {text: number_meant(feature, text) for text in seen}
    numbers = {text: number for text, number in meant.items() if number is not None}
    counts = np.array([seen[text] for text in numbers], dtype=np.int64)
    chosen, reason = likelihood_of_numbers(list(numbers), np.array([*numbers.values()]), counts)
    return _merged(fields, chosen, reason, declared.reason)


def _merged(declared: dict[str, Any], chosen: dict[str, Any], reason: str, said: str) -> Draft:
    """Return the declared fields that the chosen likelihood takes, and those that were chosen."""
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
    return merged, joined(said, reason)


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
