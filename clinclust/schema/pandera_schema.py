"""Conversion between feature schemas and pandera schemas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa

from clinclust.errors import SchemaError, did_you_mean, warn
from clinclust.files.cell_text import canonical_text, listed, number_of, numbers_of
from clinclust.likelihoods import REGISTRY, traits_of
from clinclust.roles import NEEDS_LIKELIHOOD, is_described
from clinclust.schema.feature import SENTENCES, Feature
from clinclust.schema.reading import SchemaContent, bounds_of, expectations, limits
from clinclust.schema.validation import validate

_METADATA = "clinclust"
_SCHEMA_KEYS = ("missing_codes", "title", "rows")
_COMPARISONS = ("greater_than", "greater_than_or_equal_to", "less_than", "less_than_or_equal_to", "in_range")


def to_pandera(schema: SchemaContent) -> pa.DataFrameSchema:
    """Return the pandera schema whose parser is `validate`, and whose checks every validated table passes."""
    ids = [feature.name for feature in schema.ids]
    rows = {"rows": schema.rows.as_dict()} if schema.rows else {}
    return pa.DataFrameSchema(
        {feature.name: _column(schema, feature) for feature in schema},
        parsers=pa.Parser(partial(validate, schema, warn=False)),
        strict=True if schema.other_columns == "error" else "filter",
        title=schema.title,
        metadata={_METADATA: {"missing_codes": list(schema.missing_codes), **rows}},
        unique=ids if len(ids) > 1 else None,
    )


def _column(schema: SchemaContent, feature: Feature) -> pa.Column:
    content = feature.content()
    del content["name"]
    dtype: Any = "str" if feature.is_id else "Int64" if feature.traits.is_whole and not feature.limit else "float64"
    if feature.levels is not None:
        dtype = pd.CategoricalDtype(list(feature.levels), ordered=not feature.traits.is_nominal)
    return pa.Column(
        dtype=None if feature.is_ignored else dtype,
        checks=_checks_of(feature),
        nullable=not (feature.is_id or feature.complete),
        unique=[feature] == list(schema.ids),
        required=not feature.is_ignored,
        name=feature.name,
        title=feature.label,
        description=feature.description,
        metadata={_METADATA: content},
    )


def _checks_of(feature: Feature) -> list[pa.Check]:
    """Return a check of pandera for each expectation that neither the dtype nor nullability says."""
    if feature.is_id or feature.is_ignored:
        return []
    if feature.levels is not None:
        return [pa.Check.isin(list(feature.levels), error=expectations(feature)["level"])]
    checks, masses = [], feature.point_masses
    for _, low, high, words, is_open in bounds_of(feature):
        at_least = pa.Check.gt if is_open and min(masses, default=math.inf) > low else pa.Check.ge
        low, high = min(low, *masses, low), max(high, *masses, high)  # point masses may be beyond a range
        if high == math.inf:
            checks.append(at_least(low, error=words))
        elif low == -math.inf:
            checks.append(pa.Check.le(high, error=words))
        else:
            checks.append(pa.Check.in_range(low, high, error=words))
    return checks


def from_pandera(schema: Any) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features, and the other arguments of `FeatureSchema` (see `FeatureSchema.from_pandera`)."""
    problems: list[str] = []
    if isinstance(schema, type) and issubclass(schema, pa.DataFrameModel):
        schema = schema.to_schema()
    if not isinstance(schema, pa.DataFrameSchema):
        kind = schema if isinstance(schema, type) else type(schema)
        called = f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"from_pandera needs a DataFrameSchema or DataFrameModel for pandas, not {called}")
    metadata: Any = (schema.metadata or {}).get(_METADATA, {})
    if not isinstance(metadata, Mapping):
        problems.append(f"metadata: {_METADATA!r} of the schema must be a dict, not {metadata!r}")
        metadata = {}
    for key in metadata:
        if key not in _SCHEMA_KEYS:
            problems.append(f"metadata: {key}: unknown key.{did_you_mean(str(key), _SCHEMA_KEYS)}")
    settings = {"title": schema.title, **{key: metadata[key] for key in _SCHEMA_KEYS if key in metadata}}
    of_clinclust = [parser for parser in schema.parsers if getattr(parser._parser_fn, "func", None) is validate]
    compiled: SchemaContent | None = of_clinclust[0]._parser_fn.args[0] if of_clinclust else None  # by `to_pandera`
    features, others = [], []
    for name, column in schema.columns.items():
        implied = _checks_of(compiled[name]) if compiled is not None and name in compiled else []
        checks = [check for check in column.checks if check not in implied]
        feature = _feature(name, column, checks, problems)
        if feature is not None:
            features.append(feature)
            checks = [] if feature.is_ignored else [check for check in checks if not _is_implied(feature, check)]
            others += [f"{name}: {getattr(part, 'error', None) or part.name}" for part in (*checks, *column.parsers)]
            others += [f"{name}: unique"] if column.unique and not feature.is_id else []
    if problems:
        raise SchemaError(problems)
    bare = [str(name) for name, column in schema.columns.items() if _METADATA not in (column.metadata or {})]
    if bare:
        called = f"{len(bare)} column{'' if len(bare) == 1 else 's'} without metadata for clinclust: {listed(bare)}"
        warn(SENTENCES["without_metadata"].format(columns=called))
    whole = {
        "parsers": [parser for parser in schema.parsers if parser not in of_clinclust],
        "checks": schema.checks,
        "unique": set(schema.unique or ()) - {feature.name for feature in features if feature.is_id},
        "index": schema.index,
        "drop_invalid_rows": schema.drop_invalid_rows,
    }
    others += [f"the table: {key}" for key, value in whole.items() if value]
    if others:
        warn(SENTENCES["of_pandera"].format(checks=listed(others)))
    settings["other_columns"] = "error" if schema.strict is True else "ignore"
    return features, settings


def _feature(name: object, column: pa.Column, checks: list[pa.Check], problems: list[str]) -> Feature | None:
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
        fields = {**({} if column.nullable else {"complete": True}), **_from_checks(fields, column, checks), **fields}
    try:
        return Feature(**fields)
    except SchemaError as error:
        problems += error.problems
        return None


def _from_checks(fields: Mapping[str, Any], column: pa.Column, checks: list[pa.Check]) -> dict[str, Any]:
    """Return the fields that the categories and the checks of the column state exactly."""
    likelihood = fields.get("likelihood")
    traits = traits_of(likelihood if likelihood in REGISTRY else None)
    has_scale, stated = bool({"levels", "trials"} & set(fields)), dict[str, Any]()
    values = [*map(_allowed_values, checks), getattr(column.dtype, "categories", None)]
    if "levels" in traits.takes and not has_scale:
        levels = next((list(map(canonical_text, allowed)) for allowed in values if allowed is not None), [])
        if traits.is_scale and np.isfinite(numbers_of(levels)).all():
            levels.sort(key=number_of)
        stated["levels"] = [] if traits.is_yes_no and set(levels) == {"0", "1"} else levels
        has_scale = bool(levels)
    if "minimum" in traits.takes and not (traits.is_scale and has_scale):
        for check in checks:
            statistics = check.statistics or {}
            is_closed = statistics.get("include_min", True) and statistics.get("include_max", True)
            if is_closed and check.name in ("in_range", "greater_than_or_equal_to", "less_than_or_equal_to"):
                stated["minimum"] = max(stated.get("minimum", -math.inf), statistics.get("min_value", -math.inf))
                stated["maximum"] = min(stated.get("maximum", math.inf), statistics.get("max_value", math.inf))
    return {key: value for key, value in stated.items() if value not in (-math.inf, math.inf, [])}


def _allowed_values(check: pa.Check) -> list[Any] | None:
    if check.name != "isin":
        return None
    allowed = (check.statistics or {})["allowed_values"]
    # A set has no order, so use the alphabetical one.
    return sorted(allowed, key=canonical_text) if isinstance(allowed, (set, frozenset)) else list(allowed)


def _is_implied(feature: Feature, check: pa.Check) -> bool:
    """Return whether every valid cell of the feature passes a built-in check of pandera."""
    if feature.is_id or check.raise_warning or check.name not in (*_COMPARISONS, "isin"):
        return False
    low, high = limits(feature)
    values = np.array([low, high])
    if feature.levels is not None:
        allowed = _allowed_values(check)
        if allowed is not None:
            return set(feature.levels) <= {canonical_text(value) for value in allowed}
        values = np.array([number_of(level) for level in feature.levels])
    elif check.name == "isin":
        is_listed = feature.traits.is_whole and high - low < len(_allowed_values(check) or ())
        values = np.arange(low, high + 1.0) if is_listed else np.array([math.nan])
    return bool(check(pd.Series(values)).check_passed) and not np.isnan(values).any()
