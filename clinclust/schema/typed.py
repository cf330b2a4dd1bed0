"""Recognise a table that is already validated, so that validating it again is cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.schema.reading import ID_DTYPE, dtype_of_numbers, numbers_in, read_column

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature
    from clinclust.schema.feature_schema import FeatureSchema
    from clinclust.schema.pandera_extras import PanderaExtras

__all__ = ["is_validated"]


def is_validated(schema: FeatureSchema, frame: pd.DataFrame) -> bool:
    """Return whether validation would return this table unchanged.

    Each column is checked once, with the same functions that the pandera checks call once per check. If the schema
    holds requirements of a user's own pandera schema, the answer is False, because only pandera can check them.
    """
    expected = [feature for feature in schema if not feature.is_ignored]
    if (
        list(frame.columns) != [feature.name for feature in expected]
        or len(frame) == 0
        or _asks_for_more(schema.extras)
    ):
        return False
    identifiers = [feature.name for feature in schema.ids]
    if identifiers and frame.duplicated(subset=identifiers).any():
        return False
    columns = (column for _, column in frame.items())
    return all(
        _is_typed(feature, schema.missing_codes_of(feature), column)
        for feature, column in zip(expected, columns, strict=True)
    )


def _asks_for_more(extras: PanderaExtras) -> bool:
    return bool(extras.checks or extras.parsers or extras.unique or extras.frame)


def _is_typed(feature: Feature, missing_codes: tuple[str, ...], column: pd.Series) -> bool:
    if feature.is_id and column.dtype != ID_DTYPE:
        return False
    if feature.levels is not None and not feature.is_id:
        return _has_levels(feature, feature.levels, column)
    if feature.is_id:
        reading = read_column(feature, missing_codes, column)
        return not reading.faults and bool(reading.typed.equals(column))
    if column.dtype != dtype_of_numbers(feature):
        return False
    numbers, faults = numbers_in(feature, missing_codes, column)
    return not faults and int(np.isnan(numbers).sum()) == int(column.isna().to_numpy().sum())


def _has_levels(feature: Feature, levels: tuple[str, ...], column: pd.Series) -> bool:
    dtype = column.dtype
    if not isinstance(dtype, pd.CategoricalDtype) or dtype.categories.tolist() != list(levels):
        return False
    return dtype.ordered == (not feature.traits.is_nominal) and not (feature.complete and column.isna().any())
