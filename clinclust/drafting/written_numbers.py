"""Find out how a column writes its numbers: decimal commas, thousands, a unit in the cells, values beyond a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.cell_units import unit_of_cells
from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.marks import Marked, without_flags
from clinclust.drafting.negative_results import lowest_limit, negative_words, told_negative
from clinclust.drafting.no_results import normal_words, without_result
from clinclust.drafting.odd_cells import told_cells
from clinclust.drafting.products import products_of
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.limits_in_words import limits_in_words
from clinclust.files.listed import listed
from clinclust.files.number_notation import Marks, are_thousands, marks_of, number_as_written, parts_of, unit_key
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.as_written import number_meant
from clinclust.schema.feature import Feature

__all__ = ["WrittenNumbers", "best_reading", "written_numbers"]

_LEAST_SHARE = 0.9
"""The share of the cells that must write numbers, so that a column is one of numbers; no result is no cell."""


@dataclass(frozen=True)
class WrittenNumbers:
    """How a column writes its numbers, and which they are.

    Attributes
    ----------
    fields : dict
        The fields of the feature that say so: marks, unit, decimal, thousands, censored, synonyms.
    numbers : float64 ndarray, shape (len(texts),)
        The number of each text of the column; NaN for texts that write none.
    reasons, looks : list of str
        What was found, and what a person should decide.
    doubt : str or None
        Why the numbers cannot be compared, and how to repair it; None if they can.
    """

    fields: dict[str, Any]
    numbers: NDArray[np.float64]
    reasons: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    doubt: str | None = None


def written_numbers(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes its numbers; None if fewer than nine cells in ten write a number in one way.

    A column of plain numbers needs no fields. The numbers of values beyond a limit are those that stand for them.
    """
    written = best_reading(column)
    explained = {*(column.texts[place] for place in without_result(column.texts))}
    explained |= {*normal_words(column.texts, column.counts)}
    n = column.n_observed - sum(
        int(count) for text, count in zip(column.texts, column.counts, strict=True) if text in explained
    )
    n_numbers = int(column.counts[np.isfinite(written.numbers)].sum())
    return written if n_numbers and n_numbers >= _LEAST_SHARE * n else None


def best_reading(column: ObservedColumn) -> WrittenNumbers:
    """Return the way of writing numbers in which most cells of the column write one, however few these are."""
    plain = np.isfinite(column.numbers)
    if plain.all() and column.has_decimal_commas and are_thousands(column.texts):
        look = "points are read as separators of thousands, because other columns have decimal commas"
        numbers = numbers_of([text.replace(".", "") for text in column.texts])
        return WrittenNumbers({"decimal": ",", "thousands": "."}, numbers, [], [look])
    if plain.all():
        return WrittenNumbers({}, column.numbers)
    meaning = limits_in_words(column.texts, column.counts) | products_of(column.texts)
    marked = without_flags([meaning.get(text, text) for text in column.texts], column.counts)
    parts = [parts_of(text) for text in marked.texts]
    fields: dict[str, Any] = {}
    reasons: list[str] = []
    looks: list[str] = []
    if marked.marks:
        looks.append(_told_marks(column, marked))
    cells = unit_of_cells(column, parts)
    if marked.marks or cells.marks:
        fields["marks"] = [*marked.marks, *cells.marks]
    unit = cells.unit
    of_unit = [part.number for part in parts if part is not None and unit_key(part.unit) in _units(unit)]
    marks = marks_of(of_unit)
    meaning = _in_unit(meaning, unit, marks)
    if meaning:
        fields["synonyms"] = meaning
        looks.append(_told_meaning(meaning))
    looks += cells.looks
    if unit is not None:
        fields["unit"] = unit
        reasons.append(f"the cells hold the unit {shortened(unit)!r}")
    fields |= {name: mark for name, mark in (("decimal", marks.decimal), ("thousands", marks.thousands)) if mark}
    doubt = cells.doubt
    if marks.is_guess and marks.decimal is None:
        example = next(number for number in of_unit if "," in number)
        looks.append(f'{example!r} is read as thousands; if the comma is a decimal comma, write `decimal: ","` instead')
    elif marks.is_guess:
        doubt = doubt or _told_undecided(column)
    if "decimal" in fields:
        reasons.append("decimal comma")
    if any(part is not None and part[0] for part in parts):
        fields["censored"] = "half"
        looks += _beyond(column, [part[0] if part else "" for part in parts])
    return _with_negatives(column, WrittenNumbers(fields, _read(column, fields), reasons, looks, doubt))


def _read(column: ObservedColumn, fields: dict[str, Any]) -> NDArray[np.float64]:
    feature = Feature(name="x", likelihood=Gaussian.name, **fields)
    meant = [number_meant(feature, text) for text in column.texts]
    return np.array([np.nan if number is None else number for number in meant], dtype=np.float64)


def _with_negatives(column: ObservedColumn, written: WrittenNumbers) -> WrittenNumbers:
    """Return how a column writes its numbers, with words such as `negative` read as values below the limit."""
    words = negative_words(column, written.numbers)
    if not words:
        return written
    as_limits = _read(column, {**written.fields, "censored": "limit"})
    is_below = np.array([(part := parts_of(text)) is not None and "<" in part[0] for text in column.texts], dtype=bool)
    limit = lowest_limit(column, written.numbers, np.where(is_below, as_limits, np.nan))
    synonyms = written.fields.get("synonyms", {}) | dict.fromkeys(words, f"<{limit:g}")
    fields = {**written.fields, "censored": "half", "synonyms": synonyms}
    looks = [*written.looks, told_negative(column, words, limit)]
    return WrittenNumbers(fields, _read(column, fields), written.reasons, looks, written.doubt)


def _told_meaning(meaning: dict[str, str]) -> str:
    shown = listed((f"{shortened(text)!r} is {meant}" for text, meant in meaning.items()), len(meaning))
    return f"read as numbers through `synonyms`: {shown}"


def _told_marks(column: ObservedColumn, marked: Marked) -> str:
    places = np.flatnonzero(marked.is_marked).tolist()
    n = int(column.counts[places].sum())
    return (
        f"{n:,} {'cell holds' if n == 1 else 'cells hold'} more than the number, such as flags, signs of an "
        f"approximation or of a titre: {told_cells(column, places)}; the number counts, and what `marks` lists does not"
    )


def _in_unit(meaning: dict[str, str], unit: str | None, marks: Marks) -> dict[str, str]:
    """Return the texts whose number has the unit of the column or none, each with its number as a schema writes it.

    Where `1x/day` is not how all cells count, `less than 1x/day` is no number of the column.
    """
    parts = {text: parts_of(meant) for text, meant in meaning.items()}
    return {
        text: part.limit + number
        for text, part in parts.items()
        if part is not None
        and unit_key(part.unit) in _units(unit)
        and (number := number_as_written(part.number, marks.decimal, marks.thousands)) is not None
    }


def _told_undecided(column: ObservedColumn) -> str:
    """Return that some numbers of a column could mean a thousand times as much, and how to repair it."""
    with_mark = [[place for place, text in enumerate(column.texts) if mark in text] for mark in ",."]
    return (
        f"the comma ({told_cells(column, with_mark[0])}) and the point ({told_cells(column, with_mark[1])}) could each "
        "be the decimal mark or keep thousands apart: write all numbers with one decimal mark and nothing between "
        "thousands in the table"
    )


def _units(unit: str | None) -> set[str]:
    return {"", unit_key(unit)} if unit is not None else {""}


def _beyond(column: ObservedColumn, signs: list[str]) -> list[str]:
    """Return how many values lie below and above limits, and what stands for them."""
    told = []
    for which, marks, stands in (("below", "<≤", "half of the limit"), ("above", ">≥", "the limit")):
        found = [place for place, sign in enumerate(signs) if sign and any(mark in sign for mark in marks)]
        if found:
            n, shown = int(column.counts[found].sum()), shortened(column.texts[found[0]])
            told.append(f"{n} values {which} a limit, such as {shown!r}: {stands} stands for them")
    other = "write `censored: limit` or `censored: missing` for the limit itself or for a missing value"
    return [*told[:-1], f"{told[-1]}; {other}"]
