"""Conversion between feature schemas and pandera schemas, also those that were written for polars."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.errors import CohortWarning, SchemaError
from clinclust.files.cell_text import canonical_text, listed, number_of
from clinclust.likelihoods import REGISTRY, traits_of
from clinclust.roles import NEEDS_LIKELIHOOD, is_described
from clinclust.schema.feature import Feature
from clinclust.schema.reading import PanderaExtras, SchemaContent, limits
from clinclust.texts import did_you_mean

if TYPE_CHECKING:
    import pandera.pandas as pa


# A pandera schema for polars as the same schema for pandas; polars is needed only by who wrote it.

_SHARED = ("nullable", "unique", "required", "regex", "title", "description", "metadata")
_OF_TABLE = ("strict", "unique", "title", "metadata", "drop_invalid_rows")
_OF_CHECK = ("error", "raise_warning", "ignore_na", "n_failure_cases", "title", "description")


def in_pandas_terms(schema: Any, problems: list[str]) -> Any:
    """Return a schema or model for polars as a DataFrameSchema for pandas, and anything else unchanged.

    What is written for the data of polars, a check or parser of its own, is a problem.
    """
    theirs: Any = sys.modules.get("pandera.polars")  # a schema of this kind exists only if this was imported
    if theirs is None:
        return schema
    is_model = isinstance(schema, type) and issubclass(schema, theirs.DataFrameModel)
    found: Any = schema
    found = found.to_schema() if is_model else found
    return _converted(found, problems) if isinstance(found, theirs.DataFrameSchema) else schema


def _converted(schema: Any, problems: list[str]) -> pa.DataFrameSchema:
    import pandera.pandas as pa

    columns = {name: _column_of_polars(name, column, problems) for name, column in schema.columns.items()}
    checks = _checks("the table", schema.checks, problems)
    if schema.parsers:
        problems.append("parsers of the whole table are for polars: apply them to the table before it is validated")
    shared = {name: getattr(schema, name) for name in _OF_TABLE}
    return pa.DataFrameSchema(columns, checks=checks, **shared)


def _column_of_polars(name: str, column: Any, problems: list[str]) -> pa.Column:
    import pandera.pandas as pa

    if column.parsers:
        problems.append(f"{name}: its parsers are for polars: apply them to the table before it is validated")
    shared = {each: getattr(column, each) for each in _SHARED}
    return pa.Column(_dtype(column.dtype), _checks(name, column.checks, problems), name=name, **shared)


def _dtype(dtype: Any) -> Any:
    """Return the dtype of levels, the only one that says more than the values."""
    categories = getattr(getattr(dtype, "type", None), "categories", None)
    levels = [] if categories is None else list(categories)
    return pd.CategoricalDtype(levels) if levels else None


def _checks(about: str, checks: list[Any], problems: list[str]) -> list[pa.Check]:
    """Return the built-in checks; the others take the data of polars."""
    import pandera.pandas as pa

    found = []
    for check in checks:
        if check.registry_name is None or not pa.Check.is_builtin_check(check.registry_name):
            problems.append(
                f"{about}: the check {check.error or check.name} is a function of the data of polars; use a check of "
                "pandera, such as Check.in_range, or write it in a schema for pandas"
            )
            continue
        options = {name: getattr(check, name) for name in _OF_CHECK}
        found.append(getattr(pa.Check, check.registry_name)(**(check.statistics or {}), **options))
    return found


# Conversion between feature schemas and pandera schemas.

_METADATA = "clinclust"
_SCHEMA_KEYS = ("missing_codes", "title", "rows")
_COMPARISONS = ("greater_than", "greater_than_or_equal_to", "less_than", "less_than_or_equal_to", "in_range")


def to_pandera(schema: SchemaContent) -> pa.DataFrameSchema:
    """Return the equivalent pandera schema, whose parsers replace a raw column if every cell is sound."""
    import pandera.pandas as pa

    from clinclust.schema.pandera_parts import identifier_check, refuse_repeated

    frame, ids = dict(schema.extras.frame), [feature.name for feature in schema.ids]
    if len(ids) > 1 and "unique" not in frame:
        frame["unique"] = ids
    elif len(ids) > 1:
        frame["checks"] = [identifier_check(tuple(ids)), *frame.get("checks", [])]
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
    import pandera.pandas as pa

    from clinclust.schema.pandera_parts import Reader, checks_of, dtype_of

    content = feature.content()
    del content["name"]
    extras, reader = schema.extras, Reader(feature, schema.missing_codes_of(feature))
    return pa.Column(
        dtype=None if feature.is_ignored else dtype_of(feature, reader),
        checks=[*checks_of(feature, reader), *extras.checks.get(feature.name, [])],
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
    import pandera.pandas as pa

    from clinclust.schema.pandera_parts import is_own

    problems: list[str] = []
    schema = in_pandas_terms(schema, problems)
    if isinstance(schema, type) and issubclass(schema, pa.DataFrameModel):
        schema = schema.to_schema()
    if not isinstance(schema, pa.DataFrameSchema):
        raise TypeError(
            f"from_pandera needs a DataFrameSchema or DataFrameModel for pandas or polars, not {_called(schema)}"
        )
    settings = _settings(schema, problems)
    features, checks, parsers = [], {}, {}
    for name, column in schema.columns.items():
        feature = _feature(name, column, problems)
        if feature is None:
            continue
        features.append(feature)
        beyond = [check for check in column.checks if not (is_own(check) or _is_implied(feature, check))]
        if beyond and not feature.is_ignored:
            checks[name] = beyond
        if theirs := [parser for parser in column.parsers if not is_own(parser)]:
            parsers[name] = theirs
    if schema.drop_invalid_rows:
        problems.append("drop_invalid_rows: clinclust never drops subjects; remove it and correct the cells")
    if not all(map(is_own, schema.parsers)):
        problems.append("parsers of the whole table may move rows: apply them to the table before it is validated")
    if problems:
        raise SchemaError(problems)
    untold = [str(name) for name, column in schema.columns.items() if _METADATA not in (column.metadata or {})]
    if untold:
        called = f"{len(untold)} column{'' if len(untold) == 1 else 's'} without metadata for clinclust"
        said = f"{called}: {listed(untold)}; not clustered on or described. draft_schema(frame) proposes what they are"
        warnings.warn(said, CohortWarning, stacklevel=3)
    ids = [feature.name for feature in features if feature.is_id]
    unique = [name for name, column in schema.columns.items() if column.unique and [name] != ids]
    frame = {
        "checks": [check for check in schema.checks if not is_own(check)],
        "unique": None if set(schema.unique or ()) == set(ids) else schema.unique,
        "index": schema.index,
    }
    whole = {key: value for key, value in frame.items() if value is not None and value != []}
    settings["other_columns"] = "error" if schema.strict is True else "ignore"
    return features, settings | {"extras": PanderaExtras(checks, parsers, unique, whole)}


def _called(schema: object) -> str:
    kind = schema if isinstance(schema, type) else type(schema)
    return f"{kind.__module__}.{kind.__name__}"


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
    from clinclust.schema.pandera_parts import is_own

    likelihood = fields.get("likelihood")
    traits = traits_of(likelihood if likelihood in REGISTRY else None)
    found: dict[str, Any] = {}
    checks = [check for check in column.checks if not is_own(check)]
    categories = getattr(column.dtype, "categories", None)
    if categories is not None and "levels" in traits.takes and not {"levels", "trials"} & set(fields):
        found["levels"] = [canonical_text(category) for category in categories]
    for check in checks:
        allowed = _allowed_values(check)
        if allowed is not None and traits.is_share and "levels" not in fields:
            texts = [canonical_text(value) for value in allowed]
            if not traits.is_yes_no or set(texts) != {"0", "1"}:
                found["levels"] = texts
    has_scale = bool({"levels", "trials"} & set(fields))
    if "minimum" in traits.takes and not (traits.is_scale and has_scale):
        ranges = [bounds for check in checks if (bounds := _closed_range(check)) is not None]
        found["minimum"] = max((low for low, _ in ranges), default=-math.inf)
        found["maximum"] = min((high for _, high in ranges), default=math.inf)
    return {key: value for key, value in found.items() if value not in (-math.inf, math.inf)}


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
