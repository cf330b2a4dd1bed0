"""Every column of a cohort as a few levels, so that described, clustered and ignored ones can be compared alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.estimators.subtype_model import clustered_features
from clinclust.files.cell_text import canonical_text, numbers_of
from clinclust.files.selection.condition import name_in_condition, text_in_condition
from clinclust.files.selection.dates import date_column

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature, FeatureSchema

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_FEWEST = 10  # fewer subjects of a level or an interval are too few to say anything of their own, as in identifiers
_MOST = 32
"""The most intervals of a measurement: a cut between two subtypes misplaces at most a few percent of the subjects."""


@dataclass(frozen=True, eq=False)
class CohortColumn:
    """A column of a cohort; its role is ``ignore`` without a feature.

    `levels` are levels or intervals from 0, int64 (N,), -1 = missing; `part` is a condition that keeps the most
    frequent.
    """

    name: str
    role: str
    is_clustered: bool
    levels: Ints
    known: Mask
    part: str | None


def cohort_columns(model: SubtypeModel, cohort: pd.DataFrame, ignored: pd.DataFrame) -> list[CohortColumn]:
    """Return all columns but the identifiers: those of the schema, then those of `ignored_columns`."""
    schema, clustered = model.schema_, set(clustered_features(model))
    found = []
    for feature in schema:
        if not feature.is_id and feature.likelihood is not None and feature.name in cohort:
            levels, known, part = _of_feature(feature, cohort[feature.name])
            found.append(CohortColumn(feature.name, feature.role, feature.name in clustered, levels, known, part))
    for name in map(str, ignored.columns):
        levels, known, part = _of_cells(name, ignored[name], schema)
        found.append(CohortColumn(name, "ignore", False, levels, known, part))
    return found


def ignored_columns(table: pd.DataFrame, cohort: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that validation dropped, in the order of the validated cohort, if the index gives it."""
    names = [name for name in table.columns if isinstance(name, str) and name not in cohort.columns]
    dropped = table[[name for name in names if names.count(name) == 1]]
    if table.index.equals(cohort.index):
        return dropped
    return dropped.loc[cohort.index] if table.index.is_unique else dropped.iloc[:, :0]


def condition_on(name: str, rest: str) -> str | None:
    """Return a condition on a column; None if its name cannot be written in one."""
    written = name_in_condition(name, 0)
    return None if written == "`#0`" else f"{written} {rest}"


def _of_feature(feature: Feature, column: pd.Series) -> tuple[Ints, Mask, str | None]:
    scores = feature.scores(column)
    known = ~np.isnan(scores)
    if feature.levels is None and not feature.traits.is_yes_no:
        return _pooled(_intervals(scores)), known, None
    levels = np.where(known, scores, -1).astype(np.int64)
    texts = np.array([canonical_text(text) for text in column.astype(object).to_numpy()[known]])
    return _pooled(levels), known, _most_frequent(feature.name, texts)


def _of_cells(name: str, column: pd.Series, schema: FeatureSchema) -> tuple[Ints, Mask, str | None]:
    """Return the same of a column that was not validated: intervals if all its values are numbers, or all dates."""
    codes = schema.missing_codes_of(schema[name]) if name in schema else schema.missing_codes
    is_missing = column.isna().to_numpy(dtype=bool)
    written = [canonical_text(value) for value in column.astype(object).where(~is_missing, "").tolist()]
    texts = np.array(written, dtype=object)
    known = np.array([bool(text) and text not in codes for text in written], dtype=bool)
    numbers = np.where(known, numbers_of(written), np.nan)
    dates = None if not np.isnan(numbers[known]).any() else date_column(texts, known, None)
    if dates is None or not isinstance(dates, str):
        return _pooled(_intervals(numbers if dates is None else dates.moments)), known, None
    levels = np.full(texts.size, -1, dtype=np.int64)
    levels[known] = np.unique(texts[known].astype(str), return_inverse=True)[1]
    return _pooled(levels), known, _most_frequent(name, texts[known].astype(str))


def _most_frequent(name: str, texts: NDArray[np.str_]) -> str | None:
    if not texts.size:
        return None
    levels, counts = np.unique(texts, return_counts=True)
    text = text_in_condition(str(levels[counts.argmax()]))
    return None if text is None else condition_on(name, f"== {text}")


def _intervals(numbers: Floats) -> Ints:
    """Return the interval of each number, -1 = missing; intervals have about as many subjects."""
    known = ~np.isnan(numbers)
    values, levels = numbers[known], np.full(len(numbers), -1, dtype=np.int64)
    distinct, n_intervals = np.unique(values), max(2, min(_MOST, values.size // _FEWEST))
    cuts = distinct
    if distinct.size > n_intervals:
        cuts = np.unique(np.quantile(values, np.arange(1, n_intervals) / n_intervals, method="lower"))
    levels[known] = np.searchsorted(cuts, values)
    return levels


def _pooled(levels: Ints) -> Ints:
    """Return levels 0, 1, ... in which those of fewer than 10 subjects are one; -1 stays missing."""
    known = levels >= 0
    _, places, counts = np.unique(levels[known], return_inverse=True, return_counts=True)
    pooled = np.full(len(levels), -1, dtype=np.int64)
    renumbered = np.where(counts < _FEWEST, counts.size, np.arange(counts.size))
    pooled[known] = np.unique(renumbered[places], return_inverse=True)[1]
    return pooled
