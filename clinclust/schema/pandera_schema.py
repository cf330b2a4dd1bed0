"""Compile a feature schema into the pandera schema that converts and validates a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from clinclust.schema.expectations import expectations
from clinclust.schema.reading import Reading, read_column

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandera.pandas as pa

    from clinclust.schema.expectations import Kind
    from clinclust.schema.feature import Feature
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["METADATA_KEY", "OWN_CHECK", "kind_of", "to_pandera"]

METADATA_KEY = "clinclust"
OWN_CHECK = "clinclust: "
"""The prefix of the names of the checks and parsers compiled from a feature. A user's own checks do not have it."""

_CASES_KEPT = 5  # limits the message of pandera, which would otherwise list every failing cell


def to_pandera(schema: FeatureSchema) -> pa.DataFrameSchema:
    """Return the pandera schema that is equivalent to `schema`.

    A parser reads each column. If every cell is sound, the typed column replaces the raw one. Otherwise the raw column
    is kept, so that the checks can report the cells at fault. The error text of a check is its expectation.
    """
    import pandera.pandas as pa

    extras = schema.extras
    frame = dict(extras.frame)
    frame["checks"] = [*_identifier_checks(schema), *frame.get("checks", [])]
    return pa.DataFrameSchema(
        {feature.name: _column(schema, feature) for feature in schema},
        parsers=pa.Parser(_refuse_repeated, name=OWN_CHECK + "names"),
        strict=True if schema.other_columns == "error" else "filter",
        title=schema.title,
        metadata={METADATA_KEY: {"missing_codes": list(schema.missing_codes), **_rows(schema)}},
        **frame,
    )


def _rows(schema: FeatureSchema) -> dict[str, Any]:
    return {"rows": schema.rows.as_dict()} if schema.rows else {}


def kind_of(check: object) -> Kind | None:
    """Return the kind of expectation that a check tests; None for a check of the user's own."""
    name = getattr(check, "name", None)
    if not isinstance(name, str) or not name.startswith(OWN_CHECK):
        return None
    return cast("Kind", name.removeprefix(OWN_CHECK))


def _column(schema: FeatureSchema, feature: Feature) -> pa.Column:
    import pandera.pandas as pa

    content = feature.content()
    del content["name"]
    ignored = feature.is_ignored
    extras = schema.extras
    read = partial(read_column, feature, schema.missing_codes_of(feature))
    checks = [_check(read, expected.kind, expected.text) for expected in expectations(feature)]
    parsers = [] if ignored else [pa.Parser(partial(_typed_if_sound, read), name=OWN_CHECK + "read")]
    return pa.Column(
        checks=[*checks, *extras.checks.get(feature.name, [])],
        parsers=[*extras.parsers.get(feature.name, []), *parsers],
        nullable=True,
        unique=feature.name in extras.unique,
        required=not ignored,
        name=feature.name,
        title=feature.label,
        description=feature.description,
        metadata={METADATA_KEY: content},
    )


def _check(read: Callable[[pd.Series], Reading], kind: Kind, text: str) -> pa.Check:
    import pandera.pandas as pa

    return pa.Check(
        partial(_passes, read, kind),
        name=OWN_CHECK + kind,
        error=text,
        ignore_na=False,
        n_failure_cases=_CASES_KEPT,
    )


def _refuse_repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Raise the SchemaError of pandera if column names repeat, because column parsers of pandera fail on them."""
    from pandera.errors import SchemaError, SchemaErrorReason

    repeated = list(frame.columns[frame.columns.duplicated()].unique())
    if repeated:
        message = f"column names must differ; repeated: {', '.join(map(str, repeated))}"
        reason = SchemaErrorReason.DUPLICATE_COLUMN_LABELS
        raise SchemaError(schema=None, data=frame, message=message, reason_code=reason)  # type: ignore[no-untyped-call]
    return frame


def _typed_if_sound(read: Callable[[pd.Series], Reading], column: pd.Series) -> pd.Series:
    reading = read(column)
    return column if reading.faults else reading.typed


def _passes(read: Callable[[pd.Series], Reading], kind: Kind, column: pd.Series) -> pd.Series:
    at_fault = read(column).faults.get(kind)
    return pd.Series(True if at_fault is None else ~at_fault, index=column.index, dtype=bool)


def _identifier_checks(schema: FeatureSchema) -> list[Any]:
    """Return the check that no two rows have the same identifier; an empty list if no feature has the role ``id``."""
    import pandera.pandas as pa

    ids = [feature.name for feature in schema.ids]
    if not ids:
        return []

    def differ(frame: pd.DataFrame) -> pd.Series:
        if not set(ids) <= set(frame.columns):
            return pd.Series(np.ones(len(frame), dtype=bool), index=frame.index)
        keys = frame[ids]
        return ~keys.duplicated(keep=False) | keys.isna().any(axis="columns")

    expected = f"a different {' and '.join(ids)} in every row"
    return [
        pa.Check(
            differ,
            name=OWN_CHECK + "identifier",
            error=expected,
            ignore_na=False,
            n_failure_cases=_CASES_KEPT,
        )
    ]
