"""Describe cells at fault as a table of failures, each with a repair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.cell_text import canonical_text, number_of, shortened
from clinclust.files.number_notation import BEYOND_A_LIMIT
from clinclust.files.selection.repeated_subjects import one_row_of_each
from clinclust.likelihoods import traits_of
from clinclust.nearest import did_you_mean
from clinclust.schema.expectations import Kind, expectations, transform_limit
from clinclust.schema.reading import Reading

if TYPE_CHECKING:
    from pandera.errors import SchemaError

    from clinclust.schema.feature import Feature

_ROWS_SHOWN = 5
_EXAMPLES_SHOWN = 3
_CELLS_SEARCHED = 10_000  # the number of failing cells that are searched for distinct examples

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[,_' ][0-9]{3})+(?:\.[0-9]*)?|[+-]?[0-9]+(?:_[0-9]+)+")
_WITH_UNIT = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?\s*([^\W\d_].*|[%‰°].*)")
_MARKED = re.compile(r"[^\w\s+.-]\s*[0-9]+(?:[.,][0-9]+)?|[0-9]+(?:[.,][0-9]+)?\s*[^\w\s]+(?:[A-Z]{1,2}[)\]])?")
_DATE_OR_TIME = re.compile(r"[0-9]{1,4}[-/.:][0-9]{1,2}(?:[-/.:][0-9]{1,4})?.*")
_CORRECT = "Correct the cells, or list the values under `missing_codes`."


@dataclass(frozen=True)
class Failure:
    """One kind of failure in one column, or in the table; a row of `CohortError.failures`."""

    column: str  # or "the table"
    expected: str  # the expectation that failed, in words
    rows: int = 0  # how many are at fault; 0 if the failure concerns the column or the table as a whole
    first_rows: list[Any] = field(default_factory=list)  # index labels of the first of them
    examples: list[Any] = field(default_factory=list)  # some distinct values at fault
    repair: str = _CORRECT


def failures_frame(failures: Sequence[Failure]) -> pd.DataFrame:
    """Return `CohortError.failures`, one row per failure."""
    frame = pd.DataFrame([vars(failure) for failure in failures], columns=list(Failure.__annotations__), dtype=object)
    return frame.astype({"rows": np.int64})


def column_failures(feature: Feature, reading: Reading, index: pd.Index) -> list[Failure]:
    """Return one failure for each kind of expectation that cells of a column fail; `index` labels the rows."""
    failures = []
    for kind, expected in expectations(feature).items() if reading.faults else ():
        if kind in reading.faults:
            rows = reading.faults[kind]
            examples = [] if kind == "observed" else _examples(reading.cells, rows)
            repair = _repair(feature, kind, [canonical_text(value) for value in examples])
            failures.append(_failure_of_rows(feature.name, expected, rows, index, examples, repair))
    return failures


def duplicate_identifiers(ids: list[str], typed: pd.DataFrame) -> list[Failure]:
    """Return the failure of rows with the same combination of identifiers, if any."""
    if not ids or not set(ids) <= set(typed.columns):
        return []
    keys = typed[ids]
    repeated = (keys.duplicated(keep=False) & keys.notna().all(axis="columns")).to_numpy()
    if not repeated.any():
        return []
    joined = keys[repeated].head(_CELLS_SEARCHED).agg(" / ".join, axis="columns")
    repair = (
        f"Keep one row per subject, {one_row_of_each(ids[0])}, or give the feature that tells the rows apart "
        "role: id as well."
    )
    expected, examples = f"a different {' and '.join(ids)} in every row", list(joined.unique()[:_EXAMPLES_SHOWN])
    return [_failure_of_rows(ids[0], expected, repeated, typed.index, examples, repair)]


def user_check_failure(error: SchemaError, typed: pd.DataFrame) -> Failure:
    """Return the failure of a check of a user's own pandera schema."""
    name = getattr(error, "column_name", None)
    asked = getattr(error.check, "error", None) or getattr(error.check, "name", None) or str(error.check)
    expected = f"{asked} (a check of the pandera schema)"
    repair = "Correct the cells, or change the check in the pandera schema."
    column = name or "the table"
    output = error.check_output
    if isinstance(output, pd.Series) and pd.api.types.is_bool_dtype(output.dtype):
        failing = output.index[~output.fillna(True).to_numpy(dtype=bool)]
        if pd.api.types.is_integer_dtype(failing.dtype) and failing.isin(range(len(typed))).all():
            rows = np.zeros(len(typed), dtype=bool)
            rows[failing.to_numpy()] = True
            examples = [] if name is None else _examples(typed[name], rows)
            return _failure_of_rows(column, expected, rows, typed.index, examples, repair)
    cause = getattr(error, "failure_cases", None)
    detail = f"; it could not be run: {_short(cause)}" if isinstance(cause, str) else ""
    return Failure(column, expected + detail, repair=repair)


def _failure_of_rows(
    name: str, expected: str, rows: NDArray[np.bool_], index: pd.Index, examples: list[Any], repair: str
) -> Failure:
    first = list(index[np.flatnonzero(rows)[:_ROWS_SHOWN]])
    return Failure(name, expected, int(rows.sum()), first, examples, repair)


def _examples(column: pd.Series, rows: NDArray[np.bool_]) -> list[Any]:
    examples: dict[str, Any] = {}
    for value in column.iloc[np.flatnonzero(rows)[:_CELLS_SEARCHED]]:
        examples.setdefault(repr(value), value)
        if len(examples) == _EXAMPLES_SHOWN:
            break
    return [_short(value) for value in examples.values()]


def _short(value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float, complex)) or value is None:
        return value
    return shortened(value if isinstance(value, str) else str(value))


def _repair(feature: Feature, kind: Kind, examples: list[str]) -> str:
    if kind == "observed":
        return "Fill the cells in, or leave these rows out."
    if kind == "level":
        assert feature.levels is not None
        hints = {did_you_mean(text, feature.levels) for text in examples}
        return (
            f"{''.join(sorted(hints)).strip()} {_CORRECT[:-1]}; add to `levels` what is a level, and to `synonyms` "
            "what means one."
        ).strip()
    if kind == "number":
        return _repair_of_text(feature, examples)
    if kind == "finite":
        return _CORRECT
    if kind == "whole":
        return "Round the values, or choose a likelihood for any numbers (gaussian, exponential)."
    if kind == "size":
        return _repair_of_size(feature)
    if kind == "transform":
        limit, usable = transform_limit(feature)
        if examples and all(number_of(text) == limit for text in examples) and not usable:
            return (
                f"If many subjects have exactly {limit:g}, declare `spike: {limit:g}`: the transform then applies to "
                f"the other values. Or choose another transform than {feature.transform}."
            )
        return f"Choose another transform than {feature.transform}, or list the values under `missing_codes`."
    widen = "Raise `trials`" if feature.trials else "Change the likelihood"
    if feature.minimum is not None or feature.maximum is not None:
        widen = "Widen `minimum` and `maximum`"
    return f"{widen}, correct the cells, or list the values under `missing_codes`."


def _repair_of_size(feature: Feature) -> str:
    if not feature.traits.is_count:
        return f"Give the column in a larger unit, so that its numbers are smaller. {_CORRECT}"
    wider = [name for name in feature.traits.alternatives if traits_of(name).largest > feature.traits.largest]
    return f"Declare large counts {' or '.join([*wider[:1], 'gaussian with transform: log1p'])}. {_CORRECT}"


def _repair_of_text(feature: Feature, examples: list[str]) -> str:
    def any_like(pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(text) for text in examples)

    has_decimal_comma = any(_DECIMAL_COMMA.fullmatch(text) and not _THOUSANDS.fullmatch(text) for text in examples)
    if any_like(_THOUSANDS) and not has_decimal_comma:
        return 'If they are separators of thousands, declare that in the schema, such as `thousands: ","`. ' + _CORRECT
    if has_decimal_comma:
        return 'Declare the decimal comma in the schema: `decimal: ","`.'
    if any_like(BEYOND_A_LIMIT):
        return (
            "Values beyond a limit of detection: model in the schema whether a value was detected (`limit: below` or "
            "`limit: above`), or say what replaces them, `censored: limit`, `censored: half` (half of the limit) or "
            "`censored: missing`."
        )
    units = {found[1].strip() for found in map(_WITH_UNIT.fullmatch, examples) if found}
    if len(units) == 1:
        return f"If {shortened(units.pop())!r} is the unit, declare it in the schema (`unit`). {_CORRECT}"
    if any_like(_MARKED):
        return (
            f"If what is next to the number says nothing of its value (a flag, or a sign of an approximation), list "
            f"it under `marks`. {_CORRECT}"
        )
    if any_like(_DATE_OR_TIME):
        return "Dates and times are not numbers: compute one (such as years since), or give role: time."
    if any(text.casefold() in ("true", "false", "yes", "no") for text in examples):
        return "Use bernoulli with these two values as `levels`. " + _CORRECT
    return _CORRECT
