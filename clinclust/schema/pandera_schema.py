"""Conversion between feature schemas and pandera schemas, also those that were written for polars."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.engines import numpy_engine, pandas_engine
from pandera.errors import SchemaError as PanderaError
from pandera.errors import SchemaErrorReason

from clinclust.errors import SchemaError, did_you_mean, warn
from clinclust.files.cell_text import canonical_text, listed, number_of
from clinclust.likelihoods import REGISTRY, traits_of
from clinclust.roles import NEEDS_LIKELIHOOD, is_described
from clinclust.schema.feature import SENTENCES, Feature
from clinclust.schema.reading import Kind, PanderaExtras, SchemaContent, bounds_of, expectations, limits, read_column

# The parts of a compiled schema: what reads a column, what judges its cells, and its dtype.
#
# They are pandera's own kinds of parts, so that pandera can write them out, and can be pickled. Each judges by the
# reading of the column: a column with cells at fault stays unchanged but for missing values.

_OF_DTYPE: tuple[Kind, ...] = ("number", "finite", "whole")
"""What the dtype of a column asks of its cells."""


@dataclass(frozen=True)
class Reader:
    """Reads the column of a feature, as a parser of pandera; with kinds of reasons, judges it, as a check."""

    feature: Feature
    missing_codes: tuple[str, ...]
    kinds: tuple[Kind, ...] = ()

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return the typed column if every cell is sound; else the column unchanged, with None where missing.

        As a check: return which cells are not at fault for a reason of these kinds, bool (N,).
        """
        reading = read_column(self.feature, self.missing_codes, column)
        if self.kinds:
            at_fault = np.zeros(len(column), dtype=np.bool_)
            for kind in self.kinds:
                at_fault |= reading.faults.get(kind, False)
            return pd.Series(~at_fault, index=column.index)
        if not reading.faults:
            return reading.typed
        absent = reading.faults.get("observed")
        return column if absent is None else column.astype(object).where(~absent, None)


def find_distinct_rows(frame: pd.DataFrame, names: list[str]) -> pd.Series:
    """Return which rows have a combination of identifiers of their own; True where one or its column is missing."""
    if not set(names) <= set(frame.columns):
        return pd.Series(True, index=frame.index)
    return ~frame.duplicated(names, keep=False) | frame[names].isna().any(axis="columns")


def refuse_repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table; raise pandera's SchemaError for repeated names of columns."""
    repeated = list(frame.columns[frame.columns.duplicated()].unique())
    if repeated:
        message = f"column names must differ; repeated: {', '.join(map(str, repeated))}"
        reason = SchemaErrorReason.DUPLICATE_COLUMN_LABELS
        raise PanderaError(schema=None, data=frame, message=message, reason_code=reason)  # type: ignore[no-untyped-call]
    return frame


class _Judged:
    """A dtype that finds cells at fault by the reading of the column, where it has a `reader`."""

    reader: Reader | None = None

    def check(self, pandera_dtype: Any, data_container: Any = None) -> Any:
        """Return whether each cell can have the dtype; without a column, whether the dtypes are equal."""
        if self.reader is None or data_container is None:
            return super().check(pandera_dtype, data_container)  # type: ignore[misc]
        sound = self.reader(data_container)
        return bool(sound.all()) or sound


class _Float(_Judged, numpy_engine.Float64):
    """Measurements."""


class _Whole(_Judged, pandas_engine.INT64):
    """Counts and scores."""


_TextType: Any = type(pandas_engine.Engine.dtype("str"))  # another class from pandas 3 on


class _Text(_Judged, _TextType):  # type: ignore[misc]
    """Identifiers."""


class _Levels(_Judged, pandas_engine.Category):
    """Levels."""


def _choose_dtype(feature: Feature, reader: Reader) -> Any:
    """Return the dtype of a validated column."""
    dtype: Any
    if feature.is_id:
        dtype = _Text()
    elif feature.levels is not None:
        dtype = _Levels(list(feature.levels), ordered=not feature.traits.is_nominal)
    else:
        dtype = (_Whole if feature.traits.is_whole and not feature.limit else _Float)()  # type: ignore[call-arg]
    object.__setattr__(dtype, "reader", replace(reader, kinds=_OF_DTYPE))  # pandera's dtypes are frozen
    return dtype


def _check_expectations(feature: Feature, reader: Reader) -> list[pa.Check]:
    """Return a check for each expectation that neither the dtype nor nullability says.

    It judges raw cells too, and has the name and the statistics of the check of pandera that every valid column passes.
    """
    if feature.levels is not None and not feature.is_ignored:
        allowed = {"allowed_values": list(feature.levels)}
        words = expectations(feature)["level"]
        return [pa.Check(replace(reader, kinds=("level",)), name="isin", error=words, statistics=allowed)]
    checks, masses = [], feature.point_masses
    for kind, low, high, words, is_open in [] if feature.is_id or feature.is_ignored else bounds_of(feature):
        is_open = is_open and min(masses, default=math.inf) > low
        low, high = min(low, *masses, low), max(high, *masses, high)  # point masses may be beyond a range
        statistics: dict[str, Any] = {"min_value": low, "max_value": high, "include_min": True, "include_max": True}
        name = "in_range"
        if high == math.inf:
            name, statistics = "greater_than" if is_open else "greater_than_or_equal_to", {"min_value": low}
        elif low == -math.inf:
            name, statistics = "less_than_or_equal_to", {"max_value": high}
        checks.append(pa.Check(replace(reader, kinds=(kind,)), name=name, error=words, statistics=statistics))
    return checks


def _is_own(part: object) -> bool:
    """Return whether a check or parser is compiled from a schema of this package."""
    function = getattr(part, "_check_fn", getattr(part, "_parser_fn", None))
    return isinstance(function, Reader) or getattr(function, "func", function) in (refuse_repeated, find_distinct_rows)


# A pandera schema for polars as the same schema for pandas; polars is needed only by who wrote it.

_SHARED = ("nullable", "unique", "required", "regex", "title", "description", "metadata")
_OF_TABLE = ("strict", "unique", "title", "metadata", "drop_invalid_rows")
_OF_CHECK = ("error", "raise_warning", "ignore_na", "n_failure_cases", "title", "description")


def _in_pandas_terms(schema: Any, problems: list[str]) -> Any:
    """Return a schema or model for polars as a DataFrameSchema for pandas, and anything else unchanged.

    What is written for the data of polars, a check or parser of its own, is a problem.
    """
    theirs: Any = sys.modules.get("pandera.polars")  # a schema of this kind exists only if this was imported
    if theirs is None:
        return schema
    is_model = isinstance(schema, type) and issubclass(schema, theirs.DataFrameModel)
    schema = schema.to_schema() if is_model else schema
    if not isinstance(schema, theirs.DataFrameSchema):
        return schema
    columns = {}
    for name, column in schema.columns.items():
        # Of dtypes, only levels say more than the values.
        levels = getattr(getattr(column.dtype, "type", None), "categories", None)
        dtype = None if levels is None or not len(levels) else pd.CategoricalDtype(list(levels))
        shared = {key: getattr(column, key) for key in _SHARED}
        columns[name] = pa.Column(dtype, _built_in_checks(name, column, problems), name=name, **shared)
    shared = {key: getattr(schema, key) for key in _OF_TABLE}
    return pa.DataFrameSchema(columns, checks=_built_in_checks("the table", schema, problems), **shared)


def _built_in_checks(about: str, part: Any, problems: list[str]) -> list[pa.Check]:
    """Return the built-in checks of a column or table; parsers and other checks take the data of polars."""
    if part.parsers:
        problems.append(f"{about}: its parsers are for polars: apply them to the table before it is validated")
    checks = []
    for check in part.checks:
        if check.registry_name is None or not pa.Check.is_builtin_check(check.registry_name):
            problems.append(SENTENCES["of_polars"].format(about=about, check=check.error or check.name))
            continue
        options = {name: getattr(check, name) for name in _OF_CHECK}
        checks.append(getattr(pa.Check, check.registry_name)(**(check.statistics or {}), **options))
    return checks


# Conversion between feature schemas and pandera schemas.

_METADATA = "clinclust"
_SCHEMA_KEYS = ("missing_codes", "title", "rows")
_COMPARISONS = ("greater_than", "greater_than_or_equal_to", "less_than", "less_than_or_equal_to", "in_range")


def to_pandera(schema: SchemaContent) -> pa.DataFrameSchema:
    """Return the equivalent pandera schema, whose parsers replace a raw column if every cell is sound."""
    frame, ids = dict(schema.extras.frame), [feature.name for feature in schema.ids]
    if len(ids) > 1 and "unique" not in frame:
        frame["unique"] = ids
    elif len(ids) > 1:
        words = f"a different {' and '.join(ids)} in every row"
        check = pa.Check(partial(find_distinct_rows, names=ids), name="identifier", error=words, ignore_na=False)
        frame["checks"] = [check, *frame.get("checks", [])]
    rows = {"rows": schema.rows.as_dict()} if schema.rows else {}
    return pa.DataFrameSchema(
        {feature.name: _column(schema, feature) for feature in schema},
        parsers=pa.Parser(refuse_repeated),
        strict=True if schema.other_columns == "error" else "filter",
        title=schema.title,
        metadata={_METADATA: {"missing_codes": list(schema.missing_codes), **rows}},
        **frame,
    )


def _column(schema: SchemaContent, feature: Feature) -> pa.Column:
    content = feature.content()
    del content["name"]
    extras, reader = schema.extras, Reader(feature, schema.missing_codes_of(feature))
    return pa.Column(
        dtype=None if feature.is_ignored else _choose_dtype(feature, reader),
        checks=[*_check_expectations(feature, reader), *extras.checks.get(feature.name, [])],
        parsers=[*extras.parsers.get(feature.name, []), *([] if feature.is_ignored else [pa.Parser(reader)])],
        nullable=not (feature.is_id or feature.complete),
        unique=feature.name in extras.unique or [feature] == list(schema.ids),
        required=not feature.is_ignored,
        name=feature.name,
        title=feature.label,
        description=feature.description,
        metadata={_METADATA: content},
    )


def from_pandera(schema: Any) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_pandera`)."""
    problems: list[str] = []
    schema = _in_pandas_terms(schema, problems)
    if isinstance(schema, type) and issubclass(schema, pa.DataFrameModel):
        schema = schema.to_schema()
    if not isinstance(schema, pa.DataFrameSchema):
        kind = schema if isinstance(schema, type) else type(schema)
        called = f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"from_pandera needs a DataFrameSchema or DataFrameModel for pandas or polars, not {called}")
    settings = _settings(schema, problems)
    features, checks, parsers = [], {}, {}
    for name, column in schema.columns.items():
        feature = _feature(name, column, problems)
        if feature is None:
            continue
        features.append(feature)
        beyond = [check for check in column.checks if not (_is_own(check) or _is_implied(feature, check))]
        if beyond and not feature.is_ignored:
            checks[name] = beyond
        if theirs := [parser for parser in column.parsers if not _is_own(parser)]:
            parsers[name] = theirs
    if schema.drop_invalid_rows:
        problems.append("drop_invalid_rows: clinclust never drops subjects; remove it and correct the cells")
    if not all(map(_is_own, schema.parsers)):
        problems.append("parsers of the whole table may move rows: apply them to the table before it is validated")
    if problems:
        raise SchemaError(problems)
    bare = [str(name) for name, column in schema.columns.items() if _METADATA not in (column.metadata or {})]
    if bare:
        called = f"{len(bare)} column{'' if len(bare) == 1 else 's'} without metadata for clinclust: {listed(bare)}"
        warn(SENTENCES["without_metadata"].format(columns=called))
    ids = [feature.name for feature in features if feature.is_id]
    unique = [name for name, column in schema.columns.items() if column.unique and [name] != ids]
    frame = {
        "checks": [check for check in schema.checks if not _is_own(check)],
        "unique": None if set(schema.unique or ()) == set(ids) else schema.unique,
        "index": schema.index,
    }
    whole = {key: value for key, value in frame.items() if value is not None and value != []}
    settings["other_columns"] = "error" if schema.strict is True else "ignore"
    return features, settings | {"extras": PanderaExtras(checks, parsers, unique, whole)}


def _settings(schema: pa.DataFrameSchema, problems: list[str]) -> dict[str, Any]:
    settings: Any = (schema.metadata or {}).get(_METADATA, {})
    if not isinstance(settings, Mapping):
        problems.append(f"metadata: {_METADATA!r} of the schema must be a dict, not {settings!r}")
        return {}
    for key in settings:
        if key not in _SCHEMA_KEYS:
            problems.append(f"metadata: {key}: unknown key.{did_you_mean(str(key), _SCHEMA_KEYS)}")
    return {"title": schema.title, **{key: settings[key] for key in _SCHEMA_KEYS if key in settings}}


def _feature(name: object, column: pa.Column, problems: list[str]) -> Feature | None:
    metadata: Any = (column.metadata or {}).get(_METADATA)
    metadata = {"role": "ignore"} if metadata is None else metadata
    if not isinstance(metadata, Mapping):
        problems.append(f"{name}: metadata {_METADATA!r} must be a dict with the keys of a feature, not {metadata!r}")
        return None
    if column.regex:
        problems.append(f"{name}: a column given by a regular expression has no single name; write the columns out")
        return None
    fields = {"name": name, "label": column.title, "description": column.description, **metadata}
    fields = {key: value for key, value in fields.items() if value is not None}
    role = str(metadata.get("role", "cluster"))
    if role in NEEDS_LIKELIHOOD or is_described(role, metadata.get("likelihood")):
        fields = {**({} if column.nullable else {"complete": True}), **_from_checks(fields, column), **fields}
    try:
        return Feature(**fields)
    except SchemaError as error:
        problems += error.problems
        return None


def _from_checks(fields: Mapping[str, Any], column: pa.Column) -> dict[str, Any]:
    """Return the fields that the categories and the checks of the column state exactly."""
    likelihood = fields.get("likelihood")
    traits = traits_of(likelihood if likelihood in REGISTRY else None)
    stated: dict[str, Any] = {}
    checks = [check for check in column.checks if not _is_own(check)]
    categories = getattr(column.dtype, "categories", None)
    if categories is not None and "levels" in traits.takes and not {"levels", "trials"} & set(fields):
        stated["levels"] = [canonical_text(category) for category in categories]
    for check in checks:
        allowed = _allowed_values(check)
        if allowed is not None and traits.is_share and "levels" not in fields:
            texts = [canonical_text(value) for value in allowed]
            if not traits.is_yes_no or set(texts) != {"0", "1"}:
                stated["levels"] = texts
    has_scale = bool({"levels", "trials"} & set(fields))
    if "minimum" in traits.takes and not (traits.is_scale and has_scale):
        ranges = [bounds for check in checks if (bounds := _closed_range(check)) is not None]
        stated["minimum"] = max((low for low, _ in ranges), default=-math.inf)
        stated["maximum"] = min((high for _, high in ranges), default=math.inf)
    return {key: value for key, value in stated.items() if value not in (-math.inf, math.inf)}


def _allowed_values(check: pa.Check) -> list[Any] | None:
    if check.name != "isin":
        return None
    allowed = (check.statistics or {})["allowed_values"]
    # A set has no order, so use the alphabetical one.
    return sorted(allowed, key=canonical_text) if isinstance(allowed, (set, frozenset)) else list(allowed)


def _closed_range(check: pa.Check) -> tuple[float, float] | None:
    """Return the closed range (for ``isin``: of whole numbers) that a check states exactly, or None."""
    statistics = check.statistics or {}
    low, high = statistics.get("min_value", -math.inf), statistics.get("max_value", math.inf)
    if check.name == "in_range":
        if not (statistics["include_min"] and statistics["include_max"]):
            return None
    elif check.name == "isin":
        values = [number_of(canonical_text(value)) for value in statistics["allowed_values"]]
        low, high = min(values, default=math.nan), max(values, default=math.nan)
        if not high - low < len(values) or sorted(values) != [float(step) for step in range(int(low), int(high) + 1)]:
            return None
    elif check.name not in ("greater_than_or_equal_to", "less_than_or_equal_to"):
        return None
    numeric = all(isinstance(bound, (int, float)) and not isinstance(bound, bool) for bound in (low, high))
    return (float(low), float(high)) if numeric else None


def _is_implied(feature: Feature, check: pa.Check) -> bool:
    """Return whether every valid cell of the feature passes a built-in check of pandera."""
    if feature.is_id or check.raise_warning:
        return False
    if feature.levels is not None:
        allowed = _allowed_values(check)
        if allowed is not None:
            return set(feature.levels) <= {canonical_text(value) for value in allowed}
        numbers = [number_of(level) for level in feature.levels]
        return check.name in _COMPARISONS and not np.isnan(numbers).any() and check(pd.Series(numbers)).check_passed
    bounds = _closed_range(check)
    if bounds is None or (check.name == "isin" and not feature.traits.is_whole):
        return False
    low, high = limits(feature)
    return bounds[0] <= low and high <= bounds[1]
