"""Read a user's own pandera schema whose columns have ``metadata={"clinclust": {...}}``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from clinclust.errors import SchemaError
from clinclust.files.cell_text import canonical_text, number_of
from clinclust.likelihoods import REGISTRY, traits_of
from clinclust.nearest import did_you_mean
from clinclust.roles import NEEDS_LIKELIHOOD, is_described
from clinclust.schema.expectations import limits
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.pandera_extras import PanderaExtras
from clinclust.schema.pandera_schema import METADATA_KEY, OWN_CHECK, kind_of

if TYPE_CHECKING:
    import pandera.pandas as pa

__all__ = ["from_pandera"]

_SCHEMA_KEYS = ("missing_codes", "title", "rows")


def from_pandera(schema: pa.DataFrameSchema) -> FeatureSchema:
    """Implement `FeatureSchema.from_pandera`; see there."""
    import pandera.pandas as pa

    if not isinstance(schema, pa.DataFrameSchema):
        raise TypeError(f"from_pandera needs a pandera DataFrameSchema, not {type(schema).__name__}")
    problems: list[str] = []
    settings = _settings(schema, problems)
    features, checks, parsers = [], {}, {}
    for name, column in schema.columns.items():
        feature = _feature(name, column, problems)
        if feature is None:
            continue
        features.append(feature)
        checks[name] = [] if feature.is_ignored else _checks_beyond(feature, column)
        parsers[name] = [parser for parser in column.parsers if not _is_own(parser)]
    if schema.drop_invalid_rows:
        problems.append("drop_invalid_rows: clinclust never drops subjects; remove it and correct the cells")
    if not all(map(_is_own, schema.parsers)):
        problems.append("parsers of the whole table may move rows: apply them to the table before it is validated")
    if problems:
        raise SchemaError(problems)
    ids = [feature.name for feature in features if feature.is_id]
    unique = [name for name, column in schema.columns.items() if column.unique and [name] != ids]
    frame = {
        "checks": [check for check in schema.checks if kind_of(check) is None],
        "unique": None if set(schema.unique or ()) == set(ids) else schema.unique,
        "index": schema.index,
    }
    extras = PanderaExtras(
        {name: kept for name, kept in checks.items() if kept},
        {name: kept for name, kept in parsers.items() if kept},
        unique,
        {key: value for key, value in frame.items() if value is not None and value != []},
    )
    return FeatureSchema(
        features, **settings, other_columns="error" if schema.strict is True else "ignore"
    ).with_extras(extras)


def _settings(schema: pa.DataFrameSchema, problems: list[str]) -> dict[str, Any]:
    settings: Any = (schema.metadata or {}).get(METADATA_KEY, {})
    if not isinstance(settings, Mapping):
        problems.append(f"metadata: {METADATA_KEY!r} of the schema must be a dict, not {settings!r}")
        return {}
    for key in settings:
        if key not in _SCHEMA_KEYS:
            problems.append(f"metadata: {key}: unknown key.{did_you_mean(str(key), _SCHEMA_KEYS)}")
    known = {key: settings[key] for key in _SCHEMA_KEYS if key in settings}
    return {"title": schema.title, **known}


def _is_own(parser: pa.Parser) -> bool:
    return str(parser.name).startswith(OWN_CHECK)


def _feature(name: object, column: pa.Column, problems: list[str]) -> Feature | None:
    metadata: Any = (column.metadata or {}).get(METADATA_KEY)
    if metadata is None:
        metadata = {"role": "ignore"}
    if not isinstance(metadata, Mapping):
        problems.append(
            f"{name}: metadata {METADATA_KEY!r} must be a dict with the keys of a feature, not {metadata!r}"
        )
        return None
    if column.regex:
        problems.append(f"{name}: a column given by a regular expression has no single name; write the columns out")
        return None
    fields = {"name": name, "label": column.title, "description": column.description, **metadata}
    fields = {key: value for key, value in fields.items() if value is not None}
    role = str(metadata.get("role", "cluster"))
    if role in NEEDS_LIKELIHOOD or is_described(role, metadata.get("likelihood")):
        fields |= _from_checks(fields, column)
        if not column.nullable:
            fields.setdefault("complete", True)
    try:
        return Feature(**fields)
    except SchemaError as error:
        problems += error.problems
        return None


def _from_checks(fields: Mapping[str, Any], column: pa.Column) -> dict[str, Any]:
    """Return the fields that the metadata does not give, but the checks of the column state exactly."""
    likelihood = fields.get("likelihood")
    traits = traits_of(likelihood if likelihood in REGISTRY else None)
    found: dict[str, Any] = {}
    for check in column.checks:
        allowed = _allowed_values(check)
        if allowed is not None and traits.is_share and "levels" not in fields:
            texts = [canonical_text(value) for value in allowed]
            if not traits.is_yes_no or set(texts) != {"0", "1"}:
                found["levels"] = texts
    has_scale = bool({"levels", "trials"} & set(fields))
    if "minimum" in traits.takes and not (traits.is_scale and has_scale):
        low, high = _range_of_checks(column)
        if math.isfinite(low):
            found["minimum"] = low
        if math.isfinite(high):
            found["maximum"] = high
    return {key: value for key, value in found.items() if key not in fields}


def _allowed_values(check: pa.Check) -> list[Any] | None:
    if check.name != "isin":
        return None
    allowed = (check.statistics or {})["allowed_values"]
    if isinstance(allowed, (set, frozenset)):  # a set has no order, so use the alphabetical one
        return sorted(allowed, key=canonical_text)
    return list(allowed)


def _range_of_checks(column: pa.Column) -> tuple[float, float]:
    """Return the intersection of the closed ranges that the checks state; infinite ends if there are none."""
    low, high = -math.inf, math.inf
    for check in column.checks:
        bounds = _closed_range(check)
        if bounds is not None:
            low, high = max(low, bounds[0]), min(high, bounds[1])
    return low, high


def _closed_range(check: pa.Check) -> tuple[float, float] | None:
    """Return the closed range (for ``isin``: of whole numbers) that a check states exactly; None if it states none."""
    statistics = check.statistics or {}
    low, high = statistics.get("min_value", -math.inf), statistics.get("max_value", math.inf)
    if check.name == "in_range":
        if not (statistics["include_min"] and statistics["include_max"]):
            return None
    elif check.name == "isin":
        values = [number_of(canonical_text(value)) for value in statistics["allowed_values"]]
        if not values or sorted(values) != [float(step) for step in _steps(values)]:
            return None
        low, high = min(values), max(values)
    elif check.name not in ("greater_than_or_equal_to", "less_than_or_equal_to"):
        return None
    numeric = all(isinstance(bound, (int, float)) and not isinstance(bound, bool) for bound in (low, high))
    return (float(low), float(high)) if numeric else None


def _steps(values: list[float]) -> range:
    """Return the whole numbers from lowest to highest of `values`; an empty range if they cannot equal `values`."""
    low, high = min(values), max(values)
    return range(int(low), int(high) + 1) if low == low and high - low < len(values) else range(0)


def _checks_beyond(feature: Feature, column: pa.Column) -> list[Any]:
    """Return the checks of the user that the feature does not already imply."""
    return [check for check in column.checks if kind_of(check) is None and not _is_implied(feature, check)]


def _is_implied(feature: Feature, check: pa.Check) -> bool:
    if feature.is_id or check.raise_warning:
        return False
    if feature.levels is not None:
        return _levels_pass(feature.levels, check)
    bounds = _closed_range(check)
    if bounds is None or (check.name == "isin" and not feature.traits.is_whole):
        return False
    low, high = limits(feature)
    return bounds[0] <= low and high <= bounds[1]


def _levels_pass(levels: tuple[str, ...], check: pa.Check) -> bool:
    """Return whether every level, and so every valid cell, satisfies a built-in check of pandera."""
    allowed = _allowed_values(check)
    if allowed is not None:
        return set(levels) <= {canonical_text(value) for value in allowed}
    if check.name not in (
        "greater_than",
        "greater_than_or_equal_to",
        "less_than",
        "less_than_or_equal_to",
        "in_range",
    ):
        return False
    numbers = [number_of(level) for level in levels]
    return all(number == number for number in numbers) and bool(check(pd.Series(numbers)).check_passed)
