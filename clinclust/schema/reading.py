"""Read one column according to its feature: typed values, and the cells at fault."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.cell_text import (
    LONGEST_NUMBER,
    canonical_text,
    compile_short,
    number_of,
    numbers_of,
    without_letters,
)
from clinclust.files.number_notation import BEYOND_A_LIMIT, number_as_written, with_plain_spaces
from clinclust.schema.expectations import Kind, largest, limits, transform_limit
from clinclust.schema.feature import Feature

_NUMBER_FIRST = compile_short(r"(?P<number>[^0-9]*[0-9][0-9.,' ]*(?<! ))(?P<rest>.+)")
_ID_DTYPE = pd.StringDtype(na_value=np.nan)  # the dtype "str" of pandas 3


@dataclass(frozen=True)
class Reading:
    """A column (N,) as given, its typed values, and its faults: rows, bool (N,), by kind, at most one kind per row."""

    cells: pd.Series
    typed: pd.Series
    faults: dict[Kind, NDArray[np.bool_]] = field(default_factory=dict)


@dataclass(frozen=True)
class TextCells:
    """A column as text: row i holds ``texts[codes[i]]``; -1 = no value. Texts may repeat."""

    codes: NDArray[np.intp]
    texts: list[str]

    def pick(self, of_text: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the rows whose text is marked in `of_text`, bool (N,); False for cells without a value."""
        return np.append(of_text, False)[self.codes]


def read_column(feature: Feature, missing_codes: tuple[str, ...], column: pd.Series) -> Reading:
    """Read one column of a table; `missing_codes` are all texts that mean missing."""
    if feature.is_id:
        return _read_id(missing_codes, column)
    if feature.levels is not None:
        return _read_levels(feature, feature.levels, missing_codes, column)
    return _read_numbers(feature, missing_codes, column)


def text_cells(column: pd.Series, *, truth_as_number: bool = False) -> TextCells:
    """Return a column as canonical text; with `truth_as_number`, True and False become ``1`` and ``0``."""

    def text(value: object) -> str:
        is_truth = truth_as_number and isinstance(value, (bool, np.bool_))
        return canonical_text(int(bool(value)) if is_truth else value)

    codes: Any
    uniques: Any
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.intp)
        texts = [text(value) for value in column.cat.categories]
    elif _holds_text_only(column):
        codes, uniques = pd.factorize(column)
        texts = [value.strip() for value in uniques.to_numpy(dtype=object)]
    elif column.dtype == object:
        # 1, 1.0 and True are equal and have one hash, so convert them to text before the factorization.
        cells = [None if _is_missing(value) else text(value) for value in column]
        codes, uniques = pd.factorize(np.array(cells, dtype=object))
        texts = uniques.tolist()
    else:
        codes, uniques = pd.factorize(column)
        texts = [text(value) for value in uniques]
    return TextCells(np.asarray(codes, dtype=np.intp), texts)


def _holds_text_only(column: pd.Series) -> bool:
    if column.dtype == object:
        return pd.api.types.infer_dtype(column, skipna=True) == "string"
    return isinstance(column.dtype, pd.StringDtype)


def _is_missing(value: object) -> bool:
    return pd.api.types.is_scalar(value) and bool(pd.isna(value))  # type: ignore[call-overload]


def _read_id(missing_codes: tuple[str, ...], column: pd.Series) -> Reading:
    cells = text_cells(column)
    is_code = np.array([text in missing_codes for text in cells.texts], dtype=bool)
    missing = (cells.codes < 0) | cells.pick(is_code)
    texts = np.array([*cells.texts, None], dtype=object)[cells.codes]
    texts[missing] = None
    values = pd.Series(texts, index=column.index, name=column.name, dtype=_ID_DTYPE)
    return Reading(column, values, _only_present({"observed": missing}))


def _read_levels(
    feature: Feature, levels: tuple[str, ...], missing_codes: tuple[str, ...], column: pd.Series
) -> Reading:
    dtype = pd.CategoricalDtype(list(levels), ordered=not feature.traits.is_nominal)
    if isinstance(column.dtype, pd.CategoricalDtype) and list(column.cat.categories) == list(levels):
        codes, unknown = column.cat.codes.to_numpy(), np.zeros(len(column), dtype=bool)
    else:
        cells = text_cells(column)
        index_of = dict.fromkeys(missing_codes, -1) | {level: index for index, level in enumerate(levels)}
        index_of |= {given: index_of[meant] for given, meant in (feature.synonyms or {}).items()}
        of_number = _by_number(index_of)
        found = [index_of[text] if text in index_of else of_number.get(number_of(text)) for text in cells.texts]
        level_of_text = [-1 if index is None else index for index in found] + [index_of.get("", -1)]
        codes = np.array(level_of_text, dtype=np.intp)[cells.codes]
        unknown = cells.pick(np.array([index is None for index in found], dtype=bool))
    typed = pd.Categorical.from_codes(codes, dtype=dtype)
    values = pd.Series(typed, index=column.index, name=column.name)
    absent = values.isna().to_numpy() & ~unknown if feature.complete else unknown & False
    return Reading(column, values, _only_present({"observed": absent, "level": unknown}))


def _by_number(index_of: dict[str, int]) -> dict[float, int]:
    """Return what each number means that one text writes: in a column with empty cells, pandas writes 2 as 2.0."""
    of_number: dict[float, set[int]] = {}
    for text, index in index_of.items():
        of_number.setdefault(number_of(text), set()).add(index)
    return {number: min(meant) for number, meant in of_number.items() if len(meant) == 1 and np.isfinite(number)}


def _read_numbers(feature: Feature, missing_codes: tuple[str, ...], column: pd.Series) -> Reading:
    missing_numbers = [number for number in map(number_of, missing_codes) if not np.isnan(number)]
    if _is_numeric(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        missing, unreadable = np.isnan(numbers), np.zeros(len(column), dtype=bool)
    else:
        cells = text_cells(column, truth_as_number=feature.traits.is_yes_no)
        codes = np.array([text in missing_codes for text in cells.texts], dtype=bool)
        of_text = np.full(len(codes) + 1, np.nan)
        of_text[:-1][~codes], absent = _numbers_meant(
            feature, [text for text in cells.texts if text not in missing_codes]
        )
        codes[~codes] = absent
        numbers = of_text[cells.codes]
        missing = (cells.codes < 0) | cells.pick(codes)
        unreadable = np.isnan(numbers) & ~missing
    if missing_numbers:
        missing = missing | np.isin(numbers, missing_numbers)
    faults = _faults_of_numbers(feature, np.where(missing, np.nan, numbers))
    if feature.complete:
        faults["observed"] = missing
    faults["number"] = unreadable
    at_fault = np.logical_or.reduce(list(faults.values()))
    values = np.where(missing | at_fault, np.nan, numbers)
    return Reading(column, _typed(feature, values, column), _only_present(faults))


def _numbers_meant(feature: Feature, texts: list[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the number that each text means (NaN if none), and which texts mean missing."""
    for_any_text = feature.synonyms or feature.decimal or feature.thousands or feature.marks
    for_some_texts = feature.unit or feature.censored or feature.limit
    if not for_any_text and (not for_some_texts or without_letters(texts)):
        return numbers_of(texts), np.zeros(len(texts), dtype=bool)
    meant = [number_meant(feature, text) for text in texts]
    absent = np.array([number is None for number in meant], dtype=bool)
    return np.array([np.nan if number is None else number for number in meant], dtype=np.float64), absent


def _is_numeric(dtype: np.dtype[Any] | pd.api.extensions.ExtensionDtype) -> bool:
    api = pd.api.types
    return api.is_numeric_dtype(dtype) and not api.is_bool_dtype(dtype) and not api.is_complex_dtype(dtype)


def _faults_of_numbers(feature: Feature, numbers: NDArray[np.float64]) -> dict[Kind, NDArray[np.bool_]]:
    if feature.point_masses:  # their values need not be in the range of the likelihood and its transform
        numbers = np.where(np.isin(numbers, feature.point_masses), np.nan, numbers)
    faults: dict[Kind, NDArray[np.bool_]] = {"finite": np.isinf(numbers)}
    sound = np.where(faults["finite"], np.nan, numbers)
    if feature.traits.is_whole:
        faults["whole"] = (np.floor(sound) != sound) & ~np.isnan(sound)
        sound = np.where(faults["whole"], np.nan, sound)
    low, high = limits(feature)
    faults["range"] = (sound < low) | (sound > high)
    faults["size"] = (np.abs(sound) > largest(feature)) & ~faults["range"]
    sound = np.where(faults["size"], np.nan, sound)
    if feature.transform is not None:
        limit, usable = transform_limit(feature)
        faults["transform"] = ((sound < limit) if usable else (sound <= limit)) & ~faults["range"]
    return faults


def _typed(feature: Feature, values: NDArray[np.float64], column: pd.Series) -> pd.Series:
    if not feature.traits.is_whole or feature.limit:
        return pd.Series(values, index=column.index, name=column.name)
    absent = np.isnan(values)
    whole = np.where(absent, 0, values).astype(np.int64)
    return pd.Series(pd.arrays.IntegerArray(whole, absent), index=column.index, name=column.name)


def _only_present(faults: dict[Kind, NDArray[np.bool_]]) -> dict[Kind, NDArray[np.bool_]]:
    return {kind: rows for kind, rows in faults.items() if rows.any()}


def number_meant(feature: Feature, text: str) -> float | None:
    """Return the number that a cell in canonical text means; NaN if it is no number, None if missing."""
    meant = (feature.synonyms or {}).get(text)  # a plain number, whatever marks the column has
    if meant is None and len(text) > LONGEST_NUMBER:
        return math.nan
    cell = without_marks(with_plain_spaces(text), feature.marks) if meant is None else meant
    limit = BEYOND_A_LIMIT.fullmatch(cell) if feature.censored is not None or feature.limit else None
    written = limit[2] if limit else cell
    number = _number(feature, written) if meant is None else number_of(written)
    if limit is None or math.isnan(number):
        return number
    is_upper = "<" in limit[1] or limit[1] == "≤"
    if feature.limit:
        beyond = -math.inf if is_upper else math.inf
        return beyond if beyond in feature.point_masses else math.nan
    return _censored(number, is_upper=is_upper, feature=feature)


def without_marks(cell: str, marks: Sequence[str]) -> str:
    """Return a cell without marks around its number; marks of letters are whole words (``H`` of ``137H``)."""
    left = None
    while left != cell:
        left = cell
        for mark in marks:
            rest = cell.removeprefix(mark)
            if rest != cell and not (mark[-1].isalpha() and rest[:1].isalpha()):
                cell = rest.lstrip()
            rest = cell.removesuffix(mark)
            if rest != cell and not (mark[0].isalpha() and rest[-1:].isalpha()):
                cell = rest.rstrip()
            cell = _without_mark_before_unit(cell, mark)
    return cell


def _without_mark_before_unit(cell: str, mark: str) -> str:
    """Return a cell without a mark between number and unit: ``6.5* mg/l``, ``6.5 H mg/l``."""
    found = _NUMBER_FIRST.match(cell)
    if found is None or not found["rest"].lstrip().startswith(mark):
        return cell
    behind = found["rest"].lstrip()[len(mark) :]
    return found["number"] + behind if behind[:1].isspace() else cell


def _number(feature: Feature, text: str) -> float:
    number = number_as_written(text, feature.decimal, feature.thousands)
    if number is None and feature.unit is not None:
        number = number_as_written(_without_unit(text, feature.unit), feature.decimal, feature.thousands)
    return math.nan if number is None else number_of(number)


def _without_unit(text: str, unit: str) -> str:
    """Return a text without the unit after it (``5 mg``) or before it (``€ 5``)."""
    unit = unit.rstrip(".") or unit
    stem = text.rstrip(".")
    if unit.casefold() == "°c" and stem.endswith("°"):  # people leave the letter out
        return stem.removesuffix("°").rstrip()
    if stem.casefold().endswith(unit.casefold()):
        return stem[: len(stem) - len(unit)].rstrip()
    return text[len(unit) :].lstrip() if text.casefold().startswith(unit.casefold()) else text


def _censored(number: float, *, is_upper: bool, feature: Feature) -> float | None:
    if feature.censored == "missing":
        return None
    if feature.censored == "limit" or not is_upper:
        return number
    return math.floor(number / 2.0) if feature.traits.is_whole else number / 2.0
