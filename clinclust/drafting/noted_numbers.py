"""Numbers as the notes on a column declare them, compared with the texts that the column holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from clinclust.drafting.declaration import Declared, about, ignored, opened
from clinclust.drafting.missing_codes import odd_texts, outlying_codes
from clinclust.drafting.negative_results import is_negative
from clinclust.drafting.proposal import joined
from clinclust.drafting.suspected_codes import suspected_codes
from clinclust.files.cell_text import number_of, shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.listed import listed
from clinclust.files.number_notation import BEYOND_A_LIMIT, number_as_written
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.as_written import number_meant
from clinclust.schema.feature import Feature
from clinclust.schema.field_types import text as sound_text

__all__ = ["declared_numbers", "is_missing_code"]


@dataclass(frozen=True)
class _Written:
    """How a column writes its numbers: the fields that say so, and the number of each text (NaN if none)."""

    fields: dict[str, Any]
    numbers: dict[str, float]
    remark: str


def declared_numbers(notes: ColumnNotes, seen: dict[str, int], said: str) -> Declared:
    """Return what the notes decide of a column of numbers.

    Parameters
    ----------
    notes : ColumnNotes
    seen : dict of str to int
        The texts of the column that are not empty, with the number of cells that hold each.
    said : str
        What the file says of the column.
    """
    missing = [text for text in seen if is_missing_code(text, notes.missing_codes)]
    written = _written(notes, [text for text in seen if text not in missing])
    suspected, looks = _suspected(written.numbers, seen)
    numbers = {text: number for text, number in written.numbers.items() if text not in suspected}
    codes = {"missing_codes": list(dict.fromkeys([*notes.missing_codes, *missing, *suspected]))}
    fields = {**about(notes), **written.fields, **(codes if codes["missing_codes"] else {})}
    unread = [text for text, number in numbers.items() if math.isnan(number)]
    if unread:
        share = sum(seen[text] for text in unread)
        told = f"but {share:,} values are no numbers, so it is drafted by its values"
        return opened(notes, said, told)
    if not numbers:
        return replace(ignored(notes, said, "no observed value"), looks=looks)
    if len(set(numbers.values())) == 1:
        return replace(ignored(notes, said, "the same value in every subject observed"), looks=looks)
    bounds, outside = _bounds(notes, numbers, seen)
    return Declared("number", {**fields, **bounds}, joined(said, written.remark, outside), looks)


def is_missing_code(text: str, codes: tuple[str, ...]) -> bool:
    """Return whether a text is one of the codes, or another way to write the number of one: ``-9.0`` for ``-9``."""
    number = number_of(text)
    return text in codes or (not math.isnan(number) and any(number_of(code) == number for code in codes))


def _written(notes: ColumnNotes, texts: list[str]) -> _Written:
    fields: dict[str, Any] = {}
    remarks = []
    decimal = notes.decimal or _decimal(texts)
    if decimal is not None:
        fields["decimal"] = decimal
        remarks.append("" if notes.decimal else "numbers with a decimal comma")
    if any(BEYOND_A_LIMIT.fullmatch(text) for text in texts):
        fields["censored"] = "limit"
        remarks.append("values beyond a limit of detection are read as the limit (censored: limit)")
    unit = {} if notes.unit is None or not notes.unit.strip() else {"unit": sound_text(notes.unit)}
    feature = Feature(name="x", likelihood=Gaussian.name, **fields, **unit)
    numbers = {text: number_meant(feature, text) for text in texts}
    return _Written(fields, {text: math.nan if it is None else it for text, it in numbers.items()}, joined(*remarks))


def _decimal(texts: list[str]) -> Literal[","] | None:
    """Return the decimal comma if texts that are no numbers become numbers by it, and none ceases to be one."""
    odd = [text for text in texts if math.isnan(number_of(text)) and "," in text]
    if not any(number_as_written(text, ",", None) is not None for text in odd):
        return None
    usual = [text for text in texts if not math.isnan(number_of(text))]
    return "," if all(number_as_written(text, ",", None) is not None for text in usual) else None


def _suspected(numbers: dict[str, float], seen: dict[str, int]) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts that look like missing codes beside these numbers, and what deserves a look in them.

    A text with digits may be a number with a mark, and a negative result is below a limit: these are left to the draft
    by the values.
    """
    texts, values = list(numbers), np.array(list(numbers.values()), dtype=np.float64)
    counts = np.array([seen[text] for text in texts], dtype=np.int64)
    odd, outlying = odd_texts(texts, values, counts), outlying_codes(values, counts)
    if any(is_negative(text) or any(map(str.isdigit, text)) for text in odd):
        odd = []
    suspected = suspected_codes(values[~np.isin(values, list(outlying))], counts[~np.isin(values, list(outlying))])
    outlying |= {one.code for one in suspected if one.is_apart}
    codes = [text for text in texts if text in odd or numbers[text] in outlying]
    shown = listed((f"{shortened(text)!r} ({seen[text]:,})" for text in codes), len(codes))
    looks = [f"taken for missing (`missing_codes`), with the number of cells: {shown}"] if codes else []
    return codes, (*looks, *(one.sentence() for one in suspected if not one.is_apart))


def _bounds(notes: ColumnNotes, numbers: dict[str, float], seen: dict[str, int]) -> tuple[dict[str, float], str]:
    """Return the bounds that all values satisfy, and a remark on values outside: a questionnaire only warns of them."""
    low, high = notes.minimum, notes.maximum
    bounds = {
        name: bound
        for name, bound in (("minimum", low), ("maximum", high))
        if bound is not None and math.isfinite(bound)
    }
    if not bounds or (low is not None and high is not None and low >= high):
        return {}, ""
    least, most = bounds.get("minimum", -math.inf), bounds.get("maximum", math.inf)
    outside = sum(seen[text] for text, number in numbers.items() if not least <= number <= most)
    if not outside:
        return bounds, ""
    span = " and ".join(f"{'at least' if name == 'minimum' else 'at most'} {bound:g}" for name, bound in bounds.items())
    verb = "value is" if outside == 1 else "values are"
    return {}, f"but {outside:,} {verb} not {span}, as it asks for: correct them, or list them under missing_codes"
