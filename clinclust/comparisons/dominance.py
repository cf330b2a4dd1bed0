"""Columns that nearly are the partition: subtypes that are, for example, the men and the women.

Every column of the cohort becomes a few levels. From the level of a subject and the subtypes of all others, it names a
subtype for each subject; what it names is compared with the subtypes of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import accepting
from clinclust.arrays import Array, Labels, Mask
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, clustered_features, cohort_of
from clinclust.files.cell_text import canonical_text, numbers_of
from clinclust.files.conditions import date_column, name_in_condition, text_in_condition
from clinclust.schema import Feature, FeatureSchema

NEARLY = 0.8
"""The share of the errors of a guess that a column avoids if it is nearly the partition, or one of its divisions."""
_OF_PLACES = 0.5
"""The same of the roles site and time: subtypes that follow the hospital or the year may be their devices. Of three
hospitals in which 20, 50 and 80% have one of two diseases, it avoids .4, and of ones without differences at most .1
(60 cohorts of 400)."""
_STANDARD_ERRORS = 2.0  # by how many standard errors a feature makes fewer errors than all others together
_AT_LEAST = 0.2  # the share of the errors of a guess that the column avoids that is named with a division
# Fewer subjects of a level or an interval are too few to say anything by themselves: each of 400 patient numbers would
# name the subtype of its one patient.
_FEWEST = 10
_MOST = 32  # intervals of a measurement: a cut between two subtypes misplaces at most a few percent of the subjects
_COLUMNS = ["column", "told_by", "role", "groups", "named_right", "largest", "explained", "others", "part"]


@accepting()
def dominant_columns(model: SubtypeModel, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of which one alone nearly is the partition or a division of it.

    A column names the subtype of each subject from its level (of numbers and dates: one of at most 32 intervals) and
    the subtypes of all other subjects at it. It is nearly the partition if Goodman and Kruskal's lambda (1954, Journal
    of the American Statistical Association 49, 732-764), with each subject left out, is at least 0.8, or 0.5 of the
    roles site and time. Subtypes may be united: a partition of each sex in the same two subtypes is divided by sex.
    Whether a value is missing is a column.
    A clustered feature is returned only if it names subtypes better, by two standard errors, than all other features
    together; those of divisions only if none nearly is the partition.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`, a `Partition`, or another partition.
    frame : DataFrame, N rows
        The cohort of the fit, with the columns that the schema ignores, such as dates.

    Returns
    -------
    DataFrame
        One row for each column, by decreasing `explained`. `told_by`: ``"value"``, or ``"missing"`` if it matters
        whether there is one; `role` (that of an unnamed column is ``"ignore"``); `groups`: the subtypes, from 1, that
        the column distinguishes, a tuple for each group; `named_right` and `largest`: the share of the subjects that it
        gives to the right group, and that of the largest group; `explained`: lambda; `others`: lambda of all other
        clustered features together, NaN of columns that were not clustered on; `part`: a condition (see `read_cohort`)
        that keeps the largest part of such a column, None if it has no levels.

    Raises
    ------
    CohortError, ValueError
        If `frame` does not fit the schema or is not the cohort of the model.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> male = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({name: rng.normal(2.5 * male, 1.0) for name in ("height", "grip", "iron")})
    >>> frame["sex"] = np.where(male, "male", "female")
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in ("height", "grip", "iron")]
    >>> sex = cc.Feature(name="sex", likelihood="bernoulli", levels=("female", "male"), role="describe")
    >>> model = cc.MAPDP(cc.FeatureSchema([*features, sex]), random_state=0).fit(frame)
    >>> cc.comparisons.dominant_columns(model, frame)[["column", "role", "groups"]].values.tolist()
    [['sex', 'describe', ((1,), (2,))]]
    """
    return find_dominant(cohort_of(model, frame), frame)


def find_dominant(cohort: FittedCohort, table: pd.DataFrame) -> pd.DataFrame:
    """Return the `dominant_columns` of a cohort; `table` has the columns that its schema ignores too."""
    rows: list[dict[str, Any]] = []
    if cohort.model.cluster_sizes_.size > 1:
        labels, columns = cohort.labels, list(_read_columns(cohort, table))
        rows += _name_by_features([column for column in columns if column.is_clustered], labels)
        for column in columns:
            if not column.is_clustered:
                about = _describe(column, told_by="value", part=column.part)
                rows += _name_by_column(column.levels, labels, about)
        for column in _differently_missing(columns):
            about = _describe(column, told_by="missing", part=_write_condition(column.name, "is not missing"))
            rows += _name_by_column((~column.is_known).astype(np.int64), labels, about)
    rows.sort(key=lambda row: -row["explained"])
    return pd.DataFrame(rows, columns=_COLUMNS)


def tell_divisions(cohort: FittedCohort, table: pd.DataFrame, branches: Sequence[Mapping[int, int]]) -> pd.DataFrame:
    """Return the columns that tell the two branches of each division best: one clustered on, and one that was not.

    `branches` has the branch, 0 or 1, of each subtype 0 .. K - 1 of a division, whose place in it is `division`. A
    column that does not avoid a fifth of the errors of a guess has no row.
    """
    columns, rows = list(_read_columns(cohort, table)), list[dict[str, Any]]()
    missing = _differently_missing(columns)
    for division, branch_of in enumerate(branches):
        members = np.flatnonzero(np.isin(cohort.labels, list(branch_of)))
        of_members = np.array([branch_of[label] for label in cohort.labels[members].tolist()], dtype=np.int64)
        candidates = [(column, "value", column.levels[members]) for column in columns]
        candidates += [(column, "missing", (~column.is_known[members]).astype(np.int64)) for column in missing]
        ratings = []
        for column, told_by, levels in candidates:
            named = _name_subtypes(ColumnEvidence(levels, of_members).of_subjects, of_members)
            about = _describe(column, told_by=told_by, division=division)
            ratings.append(about | _explain(np.arange(2), of_members, named))
        for is_clustered in (True, False):
            some = [row for row in ratings if (row["role"] == "cluster" and row["told_by"] == "value") == is_clustered]
            best = max(some, key=lambda row: row["explained"], default=None)
            if best is not None and best["explained"] >= _AT_LEAST:
                rows.append(best)
    return pd.DataFrame(rows, columns=["division", "column", "told_by", "role", "named_right", "largest", "explained"])


@dataclass(frozen=True, eq=False)
class _CohortColumn:
    """A column of a cohort; its role is ``ignore`` without a feature."""

    name: str
    role: str
    is_clustered: bool
    levels: Labels  # or intervals, from 0, (N,), -1 = missing
    is_known: Mask
    part: str | None  # a condition that keeps the most frequent level


def _read_columns(cohort: FittedCohort, table: pd.DataFrame) -> Iterator[_CohortColumn]:
    """Yield all columns but the identifiers: those of the schema, then those that it ignores."""
    clustered = set(clustered_features(cohort.model))
    for feature in cohort.schema:
        if not feature.is_id and feature.likelihood is not None and feature.name in cohort.table:
            levels = _read_feature(feature, cohort.table[feature.name])
            yield _CohortColumn(feature.name, feature.role, feature.name in clustered, *levels)
    names = [name for name in table.columns if isinstance(name, str) and name not in cohort.table.columns]
    is_in_order = table.index.equals(cohort.table.index)
    for name in names if is_in_order or table.index.is_unique else ():
        if names.count(name) == 1:
            column = table[name] if is_in_order else table.loc[cohort.table.index, name]
            yield _CohortColumn(name, "ignore", False, *_read_cells(name, column, cohort.schema))


def _read_feature(feature: Feature, column: pd.Series) -> tuple[Labels, Mask, str | None]:
    scores = feature.scores(column)
    is_known = ~np.isnan(scores)
    if feature.levels is None and not feature.traits.is_yes_no:
        return _pool_rare(_cut_intervals(scores)), is_known, None
    texts = np.array([canonical_text(text) for text in column.astype(object).to_numpy()[is_known]])
    levels = np.where(is_known, scores, -1).astype(np.int64)
    return _pool_rare(levels), is_known, _keep_most_frequent(feature.name, texts)


def _read_cells(name: str, column: pd.Series, schema: FeatureSchema) -> tuple[Labels, Mask, str | None]:
    """Return the same of a column that was not validated: intervals if all its values are numbers, or all dates."""
    codes = schema.missing_codes_of(schema[name]) if name in schema else schema.missing_codes
    cells = [canonical_text(value) for value in column.astype(object).where(column.notna(), "").tolist()]
    texts, is_known = (
        np.array(cells, dtype=object),
        np.array([bool(it) and it not in codes for it in cells], dtype=bool),
    )
    numbers = np.where(is_known, numbers_of(cells), np.nan)
    dates = date_column(texts, is_known, None) if np.isnan(numbers[is_known]).any() else None
    if not isinstance(dates, str):
        return _pool_rare(_cut_intervals(numbers if dates is None else dates.moments)), is_known, None
    levels, known_texts = np.full(texts.size, -1, dtype=np.int64), texts[is_known].astype(str)
    levels[is_known] = np.unique(known_texts, return_inverse=True)[1]
    return _pool_rare(levels), is_known, _keep_most_frequent(name, known_texts)


def _keep_most_frequent(name: str, texts: NDArray[np.str_]) -> str | None:
    """Return a condition on a column that keeps its most frequent level."""
    if not texts.size:
        return None
    levels, counts = np.unique(texts, return_counts=True)
    text = text_in_condition(str(levels[counts.argmax()]))
    return None if text is None else _write_condition(name, f"== {text}")


def _write_condition(name: str, rest: str) -> str | None:
    """Return a condition on a column; None if its name cannot be written in one."""
    written = name_in_condition(name, 0)
    return None if written == "`#0`" else f"{written} {rest}"


def _cut_intervals(numbers: Array) -> Labels:
    """Return the interval of each number, -1 = missing; intervals have about as many subjects."""
    is_known = ~np.isnan(numbers)
    values, levels = numbers[is_known], np.full(len(numbers), -1, dtype=np.int64)
    distinct, n_intervals = np.unique(values), max(2, min(_MOST, values.size // _FEWEST))
    cuts = distinct
    if distinct.size > n_intervals:
        cuts = np.unique(np.quantile(values, np.arange(1, n_intervals) / n_intervals, method="lower"))
    levels[is_known] = np.searchsorted(cuts, values)
    return levels


def _pool_rare(levels: Labels) -> Labels:
    """Return levels 0, 1, ... in which those of fewer than 10 subjects are one; -1 stays missing."""
    is_known = levels >= 0
    _, places, counts = np.unique(levels[is_known], return_inverse=True, return_counts=True)
    pooled = np.full(len(levels), -1, dtype=np.int64)
    renumbered = np.where(counts < _FEWEST, counts.size, np.arange(counts.size))
    pooled[is_known] = np.unique(renumbered[places], return_inverse=True)[1]
    return pooled


def _differently_missing(columns: list[_CohortColumn]) -> list[_CohortColumn]:
    """Return the first of the columns that are missing in the same subjects, without those that are complete."""
    first = {column.is_known.tobytes(): column for column in reversed(columns)}
    return [column for column in columns if first[column.is_known.tobytes()] is column and not column.is_known.all()]


class ColumnEvidence:
    """The log predictives of a column in every subtype, relative to all subjects; levels (N,) from 0, -1 = missing.

    ln(p(l | k) / p(l)) with p(l | k) = (n_lk + p(l)) / (n_k + 1), counted without the subject itself; 0 if missing.
    `information` is the mean log ratio of the subject's own subtype, in nats: mutual information.
    """

    def __init__(self, levels: Labels, labels: Labels) -> None:
        n_levels, n_subtypes = int(levels.max(initial=-1)) + 1, int(labels.max()) + 1
        counts, itself = np.zeros((n_levels, n_subtypes)), np.eye(n_subtypes)
        np.add.at(counts, (levels[levels >= 0], labels[levels >= 0]), 1.0)
        share = (counts.sum(axis=1) - 1.0)[:, None, None] / max(counts.sum() - 1.0, 1.0)
        inside = np.maximum(counts[:, None, :] - itself, 0.0)
        of_all = np.maximum(counts.sum(axis=0) - itself, 0.0)
        # A level that no other subject has is uninformative.
        positive = np.where(share > 0, share, 1.0)
        ratios = np.where(share > 0, np.log((inside + positive) / ((of_all + 1.0) * positive)), 0.0)
        # By level (the last is a missing value), subtype of the subject, and subtype: (L + 1, K, K).
        self._log_ratios = np.append(ratios, np.zeros((1, n_subtypes, n_subtypes)), axis=0)
        self._places = levels, labels
        self.information = float(self._log_ratios[levels, labels, labels].mean())

    @property
    def of_subjects(self) -> Array:
        """The log ratios of each subject, float64 (N, K)."""
        return np.asarray(self._log_ratios[self._places])


def _name_subtypes(log_ratios: Array, labels: Labels) -> Labels:
    """Return numbers of subjects by subtype and by the subtype that log ratios (N, K) name, int64 (K, K)."""
    n_subtypes = log_ratios.shape[1]
    # The prior of a subtype is its size without the subject itself.
    log_prior = np.log(np.maximum(np.bincount(labels, minlength=n_subtypes) - np.eye(n_subtypes), 0.5))
    named = (log_prior[labels] + log_ratios).argmax(axis=1)
    return np.bincount(labels * n_subtypes + named, minlength=n_subtypes**2).reshape(n_subtypes, n_subtypes)


def _describe(column: _CohortColumn, **more: Any) -> dict[str, Any]:
    return {"column": column.name, "role": column.role, "others": np.nan, **more}


def _name_by_features(columns: list[_CohortColumn], labels: Labels) -> list[dict[str, Any]]:
    """Return the features that alone are nearly the partition, or else a division of it."""
    evidence = [(column, ColumnEvidence(column.levels, labels)) for column in columns]
    informative = [(column, of_column) for column, of_column in evidence if of_column.information > 0]
    if len(columns) < 2 or not informative:
        return []
    together, rows = np.sum([of_column.of_subjects for _, of_column in informative], axis=0), []
    for column, of_column in informative:
        named = _name_subtypes(of_column.of_subjects, labels)
        by_others = _name_subtypes(together - of_column.of_subjects, labels)
        about = _describe(column, told_by="value", part=column.part)
        rows += [about | _explain(groups, labels, named, by_others) for groups in _divide(named)]
    alone = [row for row in rows if row["is_better"]]
    return [row for row in alone if len(row["groups"]) == labels.max() + 1] or alone


def _name_by_column(levels: Labels, labels: Labels, about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row if a column that was not clustered on is nearly the partition, or a division of it."""
    named = _name_subtypes(ColumnEvidence(levels, labels).of_subjects, labels)
    return [about | _explain(groups, labels, named) for groups in _divide(named, least_explained(about["role"]))][:1]


def least_explained(role: str) -> float:
    """Return the share of the errors of a guess from which on a column of a role is named."""
    return _OF_PLACES if role in ("site", "time") else NEARLY


def _divide(named: Labels, least: float = NEARLY) -> Iterator[Labels]:
    """Yield the group of each subtype in the partition and in a division of it, if the column nearly is that one."""
    united = named.argmax(axis=1)  # the subtype that the column most often names for each
    united = united[united]
    for groups in (np.arange(len(named)), *([united] if np.unique(united).size < len(named) else [])):
        n_wrong, n_guessed = _count_errors(groups, named)
        if n_guessed and n_wrong <= (1 - least) * n_guessed:
            yield groups


def _count_errors(groups: Labels, named: Labels) -> tuple[int, int]:
    """Return how many subjects are given to a wrong group, and how many if all are given to the largest."""
    sizes = np.bincount(groups, weights=named.sum(axis=1))
    return int(named[groups[:, None] != groups[None, :]].sum()), int(sizes.sum() - sizes.max())


def _explain(groups: Labels, labels: Labels, named: Labels, by_others: Labels | None = None) -> dict[str, Any]:
    n_wrong, n_guessed = _count_errors(groups, named)
    result: dict[str, Any] = {
        "groups": tuple(tuple((np.flatnonzero(groups == group) + 1).tolist()) for group in dict.fromkeys(groups)),
        "named_right": 1 - n_wrong / labels.size,
        "largest": 1 - n_guessed / labels.size,
        "explained": 1 - n_wrong / n_guessed,
    }
    if by_others is not None:
        n_others = _count_errors(groups, by_others)[0]
        result["others"] = 1 - n_others / n_guessed
        result["is_better"] = n_others - n_wrong > _STANDARD_ERRORS * np.sqrt(n_others + n_wrong)
    return result
