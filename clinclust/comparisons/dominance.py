"""Columns that nearly are the partition: subtypes that are, for example, the men and the women."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import FRAME, MODEL, accepting
from clinclust.comparisons.cohort_columns import CohortColumn, cohort_columns, condition_on, ignored_columns
from clinclust.estimators.fitted_cohort import cohort_of

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ColumnEvidence:
    """The log predictives of a column in every subtype, relative to all subjects; levels (N,) from 0, -1 = missing.

    ln(p(l | k) / p(l)) with p(l | k) = (n_lk + p(l)) / (n_k + 1), counted without the subject itself; 0 if missing.
    """

    def __init__(self, levels: Ints, labels: Ints) -> None:
        self.levels, self.labels, self.n_subtypes = levels, labels, int(labels.max()) + 1

    @cached_property
    def counts(self) -> Ints:
        """Numbers of subjects, int64 (L + 1, K); the last row is of missing values."""
        n_levels = int(self.levels.max(initial=-1)) + 1
        rows = np.where(self.levels < 0, n_levels, self.levels)
        cells = np.bincount(rows * self.n_subtypes + self.labels, minlength=(n_levels + 1) * self.n_subtypes)
        return cells.reshape(-1, self.n_subtypes)

    @cached_property
    def log_ratios(self) -> Floats:
        """The logs by level, subtype of the subject, and subtype, float64 (L + 1, K, K)."""
        found = np.zeros((*self.counts.shape, self.n_subtypes))
        observed, itself = self.counts[:-1], np.eye(self.n_subtypes)
        share = (observed.sum(axis=1) - 1)[:, None, None] / max(int(observed.sum()) - 1, 1)
        inside = np.maximum(observed[:, None, :] - itself, 0.0)
        of_all = np.maximum(observed.sum(axis=0) - itself, 0.0)
        # A level that no other subject has is uninformative.
        known = np.where(share > 0, share, 1.0)
        found[:-1] = np.where(share > 0, np.log((inside + known) / ((of_all + 1.0) * known)), 0.0)
        return found

    @cached_property
    def information(self) -> float:
        """The mean log ratio of the subject's own subtype, in nats: mutual information, with each subject left out."""
        own = np.diagonal(self.log_ratios, axis1=1, axis2=2)
        return float((self.counts * own).sum() / self.labels.size)

    @property
    def of_subjects(self) -> Floats:
        """The log ratios of each subject, float64 (N, K)."""
        return np.asarray(self.log_ratios[self.levels, self.labels])

    @cached_property
    def named(self) -> Ints:
        """Numbers of subjects by subtype and by the subtype that the column names, int64 (K, K)."""
        named = (_log_prior(self.counts.sum(axis=0)) + self.log_ratios).argmax(axis=2)
        found = np.zeros((self.n_subtypes, self.n_subtypes), dtype=np.int64)
        np.add.at(found, (np.broadcast_to(np.arange(self.n_subtypes), named.shape), named), self.counts)
        return found


def named_together(log_ratios: Floats, labels: Ints) -> Ints:
    """Return `ColumnEvidence.named` of columns, independent inside subtypes, from the sum of their `of_subjects`."""
    n_subtypes = log_ratios.shape[1]
    named = (_log_prior(np.bincount(labels, minlength=n_subtypes))[labels] + log_ratios).argmax(axis=1)
    return np.bincount(labels * n_subtypes + named, minlength=n_subtypes**2).reshape(n_subtypes, n_subtypes)


def _log_prior(sizes: Ints) -> Floats:
    """Return the logs of the sizes without a subject of each subtype, float64 (K, K)."""
    return np.asarray(np.log(np.maximum(sizes - np.eye(sizes.size), 0.5)))


NEARLY = 0.8
"""The share of the errors of a guess that a column avoids if it is nearly the partition, or one of its divisions."""
_STANDARD_ERRORS = 2.0  # by how many standard errors a feature makes fewer errors than all others together
_PAIRED = 8  # the most informative features are tried in pairs
_COLUMNS = ["column", "second", "told_by", "role", "alike", "groups"]
_COLUMNS += ["named_right", "largest", "explained", "others", "part"]


@accepting(model=MODEL, frame=FRAME)
def dominant_columns(model: SubtypeModel, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of which one alone, or two together, nearly are the partition or a division of it.

    A column names the subtype of each subject from its level (of numbers and dates: one of at most 32 intervals) and
    the subtypes of all other subjects at it. It is nearly the partition if Goodman and Kruskal's lambda (1954, Journal
    of the American Statistical Association 49, 732-764), with each subject left out, is at least 0.8. Subtypes may be
    united: a partition of each sex in the same two subtypes is divided by sex. Whether a value is missing is a column.

    A clustered feature is returned only if it names subtypes better, by two standard errors, than all other features
    together. Where none is nearly the partition, the best pair that is comes in their place, if the others together
    have a lambda below 0.2; or else the features of divisions. Features are independent inside subtypes, as in the
    model.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`, a `Partition`, or another partition.
    frame : DataFrame, N rows
        The cohort of the fit, with the columns that the schema ignores, such as dates.

    Returns
    -------
    DataFrame
        One row for each column or pair, by decreasing `explained`. `column`, and `second` of a pair; `told_by`:
        ``"value"``, or ``"missing"`` if it matters whether there is one; `role` (that of an unnamed column is
        ``"ignore"``); `alike`: how many further columns are missing in the same subjects; `groups`: the subtypes, from
        1, that the column distinguishes, a tuple for each group; `named_right` and `largest`: the share of the subjects
        that it gives to the right group, and that of the largest group; `explained`: lambda; `others`: lambda of all
        other clustered features together, NaN of columns that were not clustered on; `part`: a condition (see
        `read_cohort`) that keeps the largest part of such a column, None if it has no levels.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If `frame` is not the cohort of the model.

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
    cohort = cohort_of(model, frame).table
    return dominant_in(model, cohort, ignored_columns(frame, cohort))


def dominant_in(model: SubtypeModel, cohort: pd.DataFrame, ignored: pd.DataFrame) -> pd.DataFrame:
    """Implement `dominant_columns` for a validated cohort and `ignored_columns`, both in the order of the labels."""
    import pandas as pd

    labels = np.asarray(model.labels_, dtype=np.int64)
    rows: list[dict[str, Any]] = []
    if model.cluster_sizes_.size > 1:
        columns = cohort_columns(model, cohort, ignored)
        rows += _of_features([column for column in columns if column.is_clustered], labels)
        for column in columns:
            if not column.is_clustered:
                rows += _of_column(column.levels, labels, _about(column, told_by="value", part=column.part))
        for alike in _missing_alike(columns):
            about = _about(alike[0], told_by="missing", part=condition_on(alike[0].name, "is not missing"))
            rows += _of_column((~alike[0].known).astype(np.int64), labels, about | {"alike": len(alike) - 1})
    rows.sort(key=lambda row: -row["explained"])
    return pd.DataFrame(rows, columns=_COLUMNS)


def _about(column: CohortColumn, **more: Any) -> dict[str, Any]:
    return {"column": column.name, "second": None, "role": column.role, "alike": 0, "others": np.nan, **more}


def _of_features(columns: list[CohortColumn], labels: Ints) -> list[dict[str, Any]]:
    """Return the features that alone are nearly the partition; or else the best pair; or else those of a division."""
    features = {column.name: (column, ColumnEvidence(column.levels, labels)) for column in columns}
    informative = {name: evidence for name, (_, evidence) in features.items() if evidence.information > 0}
    if len(columns) < 2 or not informative:
        return []
    together = np.sum([evidence.of_subjects for evidence in informative.values()], axis=0)

    def row(groups: Ints, *names: str) -> dict[str, Any]:
        these = np.sum([informative[name].of_subjects for name in names], axis=0)
        column, second = features[names[0]][0], names[1] if len(names) > 1 else None
        by_others = named_together(together - these, labels)
        about = _about(column, second=second, told_by="value", part=column.part)
        return about | _explained(groups, labels, named_together(these, labels), by_others)

    alone = [row(groups, name) for name, evidence in informative.items() for groups in _divisions(evidence.named)]
    alone = [one for one in alone if one["is_better"]]
    whole = [one for one in alone if len(one["groups"]) == labels.max() + 1]
    most = sorted(informative, key=lambda name: -informative[name].information)[: _PAIRED if len(columns) > 2 else 0]
    pairs = [row(np.arange(labels.max() + 1), *pair) for pair in combinations(most, 2) if not whole]
    pairs = [pair for pair in pairs if pair["explained"] >= NEARLY and pair["others"] < 1 - NEARLY]
    return whole or sorted(pairs, key=lambda pair: -pair["explained"])[:1] or alone


def _of_column(levels: Ints, labels: Ints, about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row if a column that was not clustered on is nearly the partition, or a division of it."""
    named = ColumnEvidence(levels, labels).named
    return [about | _explained(groups, labels, named) for groups in _divisions(named)][:1]


def _divisions(named: Ints) -> Iterator[Ints]:
    """Yield the group of each subtype in the partition and in a division of it, if the column nearly is that one."""
    united = named.argmax(axis=1)  # the subtype that the column most often names for each
    united = united[united]
    for groups in (np.arange(len(named)), *([united] if np.unique(united).size < len(named) else [])):
        n_wrong, n_guessed = _errors(groups, named)
        if n_guessed and n_wrong <= (1 - NEARLY) * n_guessed:
            yield groups


def _errors(groups: Ints, named: Ints) -> tuple[int, int]:
    """Return how many subjects are given to a wrong group, and how many if all are given to the largest."""
    sizes = np.bincount(groups, weights=named.sum(axis=1))
    return int(named[groups[:, None] != groups[None, :]].sum()), int(sizes.sum() - sizes.max())


def _explained(groups: Ints, labels: Ints, named: Ints, by_others: Ints | None = None) -> dict[str, Any]:
    n_wrong, n_guessed = _errors(groups, named)
    found: dict[str, Any] = {
        "groups": tuple(tuple((np.flatnonzero(groups == group) + 1).tolist()) for group in dict.fromkeys(groups)),
        "named_right": 1 - n_wrong / labels.size,
        "largest": 1 - n_guessed / labels.size,
        "explained": 1 - n_wrong / n_guessed,
    }
    if by_others is not None:
        n_others = _errors(groups, by_others)[0]
        found["others"] = 1 - n_others / n_guessed
        found["is_better"] = n_others - n_wrong > _STANDARD_ERRORS * np.sqrt(n_others + n_wrong)
    return found


def _missing_alike(columns: list[CohortColumn]) -> list[list[CohortColumn]]:
    """Return groups of columns that are missing in the same subjects, without those that are complete."""
    alike: dict[bytes, list[CohortColumn]] = {}
    for column in columns:
        if 0 < column.known.sum() < column.known.size:
            alike.setdefault(column.known.tobytes(), []).append(column)
    return list(alike.values())
