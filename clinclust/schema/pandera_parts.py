"""The parts of a compiled pandera schema: what reads a column, what judges its cells, and its dtype.

They are pandera's own kinds of parts, so that pandera can write them out, and can be pickled. Each judges by the
reading of the column: a column with cells at fault stays as it is but for missing values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.engines import numpy_engine, pandas_engine
from pandera.errors import SchemaError, SchemaErrorReason

from clinclust.arrays import Mask
from clinclust.schema.feature import Feature
from clinclust.schema.reading import Kind, expectations, largest, limits, read_column, transform_limit

_OF_DTYPE: tuple[Kind, ...] = ("number", "finite", "whole")
"""What the dtype of a column asks of its cells."""


@dataclass(frozen=True)
class Reader:
    """Reads the column of a feature, as a parser of pandera."""

    feature: Feature
    missing_codes: tuple[str, ...]

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return the typed column if every cell is sound; else the column as it is, with None where missing."""
        reading = read_column(self.feature, self.missing_codes, column)
        if not reading.faults:
            return reading.typed
        absent = reading.faults.get("observed")
        return column if absent is None else column.astype(object).where(~absent, None)

    def at_fault(self, column: pd.Series, *kinds: Kind) -> Mask:
        """Return which cells are at fault for a reason of these kinds, bool (N,)."""
        faults = read_column(self.feature, self.missing_codes, column).faults
        sound = np.zeros(len(column), dtype=np.bool_)
        return np.asarray(np.logical_or.reduce([faults.get(kind, sound) for kind in kinds]), dtype=np.bool_)


@dataclass(frozen=True)
class Judge:
    """Says which cells of a column are not at fault for a reason of one kind, as the function of a check."""

    reader: Reader
    kind: Kind

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return whether each cell is sound."""
        return pd.Series(~self.reader.at_fault(column, self.kind), index=column.index, dtype=bool)


@dataclass(frozen=True)
class IdentifiersDiffer:
    """Says which rows have a combination of identifiers of their own, as the function of a check."""

    names: tuple[str, ...]

    def __call__(self, frame: pd.DataFrame) -> pd.Series:
        """Return whether each row has one; True where an identifier or its column is missing."""
        if not set(self.names) <= set(frame.columns):
            return pd.Series(np.ones(len(frame), dtype=bool), index=frame.index)
        keys = frame[list(self.names)]
        return ~keys.duplicated(keep=False) | keys.isna().any(axis="columns")


def refuse_repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table; raise pandera's SchemaError for repeated names of columns."""
    repeated = list(frame.columns[frame.columns.duplicated()].unique())
    if repeated:
        message = f"column names must differ; repeated: {', '.join(map(str, repeated))}"
        reason = SchemaErrorReason.DUPLICATE_COLUMN_LABELS
        raise SchemaError(schema=None, data=frame, message=message, reason_code=reason)  # type: ignore[no-untyped-call]
    return frame


class _Judged:
    """A dtype that finds cells at fault by the reading of the column, where it has a `reader`."""

    reader: Reader | None = None

    def check(self, pandera_dtype: Any, data_container: Any = None) -> Any:
        """Return whether each cell can have the dtype; without a column, whether the dtypes are equal."""
        if self.reader is None or data_container is None:
            return super().check(pandera_dtype, data_container)  # type: ignore[misc]
        at_fault = self.reader.at_fault(data_container, *_OF_DTYPE)
        return pd.Series(~at_fault, index=data_container.index) if at_fault.any() else True


class _Float(_Judged, numpy_engine.Float64):
    """Measurements."""


class _Whole(_Judged, pandas_engine.INT64):
    """Counts and scores."""


_TextType: Any = type(pandas_engine.Engine.dtype("str"))  # another class from pandas 3 on


class _Text(_Judged, _TextType):  # type: ignore[misc]
    """Identifiers."""


class _Levels(_Judged, pandas_engine.Category):
    """Levels."""


def dtype_of(feature: Feature, reader: Reader) -> Any:
    """Return the dtype of a validated column."""
    found: Any
    if feature.is_id:
        found = _Text()
    elif feature.levels is not None:
        found = _Levels(list(feature.levels), ordered=not feature.traits.is_nominal)
    else:
        found = (_Whole if feature.traits.is_whole and not feature.limit else _Float)()  # type: ignore[call-arg]
    object.__setattr__(found, "reader", reader)  # pandera's dtypes are frozen
    return found


def checks_of(feature: Feature, reader: Reader) -> list[pa.Check]:
    """Return a check for each expectation that neither the dtype nor nullability says.

    It judges raw cells too, and has the name and the statistics of the check of pandera for validated ones.
    """
    asked = {kind: text for kind, text in expectations(feature).items() if kind not in ("observed", *_OF_DTYPE)}
    checks = []
    for kind, text in asked.items():
        name, statistics = _as_pandera_says(feature, kind)
        checks.append(pa.Check(Judge(reader, kind), name=name, error=text, statistics=statistics))
    return checks


def identifier_check(names: tuple[str, ...]) -> pa.Check:
    """Return the check of the table that no two rows have the same identifiers."""
    asked = f"a different {' and '.join(names)} in every row"
    return pa.Check(IdentifiersDiffer(names), name="identifier", error=asked, ignore_na=False)


def _as_pandera_says(feature: Feature, kind: Kind) -> tuple[str, dict[str, Any]]:
    """Return the name and the statistics of the check of pandera that every valid column passes."""
    if kind == "level":
        return "isin", {"allowed_values": list(feature.levels or ())}
    if kind == "transform":
        low, usable = transform_limit(feature)
        high, usable = math.inf, usable or min(feature.point_masses, default=math.inf) <= low
    else:
        low, high = limits(feature) if kind == "range" else (-largest(feature), largest(feature))
        low, usable = -math.inf if kind == "size" and not feature.traits.is_real else low, True
    low, high = min(low, *feature.point_masses, low), max(high, *feature.point_masses, high)  # may be beyond a range
    if not usable:
        return "greater_than", {"min_value": low}
    if high == math.inf:
        return "greater_than_or_equal_to", {"min_value": low}
    if low == -math.inf:
        return "less_than_or_equal_to", {"max_value": high}
    return "in_range", {"min_value": low, "max_value": high, "include_min": True, "include_max": True}


def is_own(part: object) -> bool:
    """Return whether a check or parser is compiled from a schema of this package."""
    function = getattr(part, "_check_fn", getattr(part, "_parser_fn", None))
    return function is refuse_repeated or isinstance(function, Reader | Judge | IdentifiersDiffer)
