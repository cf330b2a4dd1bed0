"""Columns of a table that others determine, or that measure nearly the same, and what a schema should do about them.

Three questions are asked: is a column determined by one other (`same_measurement`), by several (`formulas`), or does it
measure nearly the same as another? What is determined is described, and what is nearly the same is one block. The
evidence alone decides, never a name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Whole
from clinclust.drafting.redundancy.findings import Redundancy, applied, block_name, looks
from clinclust.drafting.redundancy.formulas import LEAST_SHARE, formulas, holds_in
from clinclust.drafting.redundancy.same_measurement import (
    Kinds,
    Relation,
    Scored,
    candidates,
    groups_of_nearly_same,
    needed_evidence,
    rank_correlation,
    relation,
)
from clinclust.files.cell_text import shortened
from clinclust.files.listed import listed
from clinclust.schema.feature import block_key

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema.feature import Feature
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["Redundancy", "applied", "looks", "redundancies"]

P = ParamSpec("P")
T = TypeVar("T")

_FOLLOWED = ("outcome", "arm", "time", "site")  # a column has such a role too if a column of it determines it
_SAMPLED = 4000  # subjects in which nothing may contradict, before all are looked at
_MOST_CELLS = 2_000_000  # of the sample: of more than 500 columns it has fewer subjects
_FEWEST_SAMPLED = 500
_SEED = 0
_MOST_LOST = 0.05  # of the subjects that have a value: beyond it, no column is given up for another
_HOW = {
    "equal": "equals",
    "opposite": "says the opposite of",
    "recoded": "has other names for the levels of",
    "reversed": "is reversed and else the same as",
    "unit": "has another unit than",
    "transform": "is a transform of",
    "coarser": "is a coarser form of",
    "limits": "is, but for values at its limits, a coarser form of",
    "levels": "is determined by the levels of",
}


def redundancies(frame: pd.DataFrame, schema: FeatureSchema) -> list[Redundancy]:
    """Return what the columns of a table that `schema.validate` returned repeat of each other, in its order.

    Clustered features are compared with each other, and with outcomes, arms, times and sites. Columns are searched in
    a sample of the subjects, drawn with a fixed seed, and what is found is looked at in all.

    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> from clinclust.drafting.redundancy import applied, redundancies
    >>> nodes = np.random.default_rng(0).poisson(3, 200)
    >>> cohort = pd.DataFrame({"nodes": nodes, "four_or_more_nodes": (nodes >= 4).astype(int)})
    >>> kinds = {"nodes": "poisson", "four_or_more_nodes": "bernoulli"}
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood=kind) for name, kind in kinds.items()])
    >>> found = redundancies(schema.validate(cohort), schema)
    >>> [finding.reason for finding in found]
    ['four_or_more_nodes is a coarser form of nodes in all 200 subjects']
    >>> [feature.role for feature in applied(schema, found)]
    ['cluster', 'describe']
    """
    found: list[Redundancy] = []
    with np.errstate(all="ignore"):  # numbers may be of any size; what is not finite is no evidence
        compared = _guarded(_Compared, frame, schema)
        if compared is None or len(compared.names) < 2:
            return []
        for question in (_by_one, _by_several, _nearly_same):
            found += _guarded(question, compared, found) or []
    position = {feature.name: place for place, feature in enumerate(schema)}
    return sorted(found, key=lambda one: (position[one.columns[0]], one.columns))


def _guarded(ask: Callable[P, T], *args: P.args, **options: P.kwargs) -> T | None:
    """Return an answer, or None if asking fails: a fault in one comparison must not cost a draft."""
    try:
        return ask(*args, **options)
    except MemoryError:
        raise
    except Exception:
        logging.getLogger(__name__).debug("a comparison of columns failed", exc_info=True)
        return None


class _Compared:
    """The scores of the columns that are compared: in a sample of the subjects, and in all of them on demand."""

    def __init__(self, frame: pd.DataFrame, schema: FeatureSchema) -> None:
        n = len(frame)
        self.n_subjects = n
        self.features: list[Feature] = []
        n_columns = sum(feature.name in frame.columns for feature in schema)
        n_sampled = max(_FEWEST_SAMPLED, min(_SAMPLED, _MOST_CELLS // max(n_columns, 1)))
        rows = np.random.default_rng(_SEED).permutation(n)[:n_sampled]
        self.is_sample = n > n_sampled
        sampled = frame.iloc[rows]  # shuffled even if it is all: the rows of one subject follow each other in a table
        scores: list[Array] = []
        self.frame = frame if self.is_sample else sampled
        for feature in schema:
            if feature.name not in frame.columns or feature.role not in ("cluster", *_FOLLOWED):
                continue
            column = _guarded(_scores, feature, sampled)
            if column is not None and np.unique(column[~np.isnan(column)]).size > 1:
                self.features.append(feature)
                scores.append(column)
        self.sample: Array = np.column_stack(scores) if scores else np.zeros((len(sampled), 0))
        self.names = [feature.name for feature in self.features]
        self.clustered = np.array([feature.role == "cluster" for feature in self.features], dtype=bool)
        self.n_levels = np.array([np.unique(column[~np.isnan(column)]).size for column in self.sample.T], dtype=int)
        self.n_observed = (~np.isnan(self.sample)).sum(axis=0)
        nominal = [feature.likelihood is None or feature.traits.is_nominal for feature in self.features]
        levels = [feature.likelihood is None or feature.levels is not None for feature in self.features]
        self.kinds = Kinds(~np.array(nominal, dtype=bool) | (self.n_levels == 2), ~np.array(levels, dtype=bool))
        self.n, self.r = rank_correlation(self.sample, self.kinds.ordered)
        self.subjects = _subjects(self.frame, schema)
        self.taken = {block_key(feature.block) for feature in schema if feature.block is not None}
        self._whole: dict[int, Array] = {}

    def whole(self, index: int) -> Array:
        if not self.is_sample:
            return self.sample[:, index]
        if index not in self._whole:
            self._whole[index] = _scores(self.features[index], self.frame)
        return self._whole[index]

    def relation(self, x: int, y: int) -> Relation | None:
        """Return how y is determined by x in all subjects, if it surely is; the sample is asked first."""
        one, other = ((bool(self.kinds.ordered[i]), bool(self.kinds.number[i])) for i in (x, y))
        x_and_y = Scored(self.sample[:, x], *one), Scored(self.sample[:, y], *other)
        if self.is_sample and relation(*x_and_y) is None:
            return None
        said = relation(Scored(self.whole(x), *one), Scored(self.whole(y), *other), self.subjects)
        return None if said is None or said.evidence < needed_evidence(len(self.names)) else said

    def preference(self, index: int) -> tuple[bool, int, int, int]:
        """Return what a column is kept for: its role, few missing values, many different ones, its place."""
        return not self.clustered[index], int(self.n_observed[index]), int(self.n_levels[index]), -index

    def left(self, found: list[Redundancy]) -> NDArray[np.bool_]:
        """Return which columns are clustered and neither determined nor in a block by these findings, bool (C,)."""
        gone = {name for one in found for name in (one.columns if one.block else one.described)}
        return np.asarray(self.clustered & [name not in gone for name in self.names], dtype=bool)

    def block(self, names: tuple[str, ...]) -> str:
        blocks = {feature.block for feature in self.features if feature.name in names and feature.block is not None}
        return blocks.pop() if len(blocks) == 1 else block_name(names, self.taken)

    def lost(self, source: int, target: int) -> int:
        return int((np.isnan(self.whole(source)) & ~np.isnan(self.whole(target))).sum())

    def in_all(self, n: int) -> str:
        return f"in all {n:,} subjects" if n == self.n_subjects else f"in all {n:,} subjects who have these values"

    def in_order(self, members: set[int]) -> tuple[str, ...]:
        return tuple(self.names[index] for index in sorted(members))


def _scores(feature: Feature, frame: pd.DataFrame) -> Array:
    column = frame[feature.name]
    if feature.likelihood is not None:
        return feature.scores(column)
    codes = column.astype("category").cat.codes.to_numpy(dtype=np.float64)
    return np.where(codes < 0, np.nan, codes)


def _subjects(frame: pd.DataFrame, schema: FeatureSchema) -> Whole | None:
    """Return who each row is of, by the first identifier, if some subjects have several rows."""
    codes = (frame[one.name].astype("category").cat.codes for one in schema.ids if one.name in frame.columns)
    return next((np.asarray(one, dtype=np.int64) for one in codes if one.duplicated().any()), None)


def _by_one(compared: _Compared, _: list[Redundancy]) -> list[Redundancy]:
    """Return the columns that one other determines. Of two that determine each other, the better one is kept."""
    sources: dict[int, list[int]] = {}
    for x, y in candidates(compared.sample, compared.kinds, compared.r):
        if compared.clustered[y]:
            sources.setdefault(y, []).append(x)
    found: list[Redundancy] = []
    results: set[int] = set()
    for y in sorted(sources, key=compared.preference, reverse=True):
        for x in sorted(set(sources[y]) - results, key=compared.preference, reverse=True):
            said = _guarded(compared.relation, x, y)
            if said is not None and not (said.one_to_one and compared.preference(x) < compared.preference(y)):
                results.add(y)
                found.append(_determined(compared, x, y, said))
                break
    return found


def _determined(compared: _Compared, x: int, y: int, said: Relation) -> Redundancy:
    source, target, columns = compared.names[x], compared.names[y], compared.in_order({x, y})
    is_named_otherwise = said.how == "equal" and compared.features[x].levels != compared.features[y].levels
    how = _HOW["recoded" if is_named_otherwise else said.how]
    reason = f"{shortened(target)} {how} {shortened(source)} {compared.in_all(said.n)}"
    if not compared.clustered[x]:
        return Redundancy(columns, "determined", reason, target, role=compared.features[x].role)
    lost = compared.lost(x, y)
    if lost <= _MOST_LOST * (said.n + lost):
        return Redundancy(columns, "determined", reason, target)
    reason += f"; but {lost:,} have no value in {shortened(source)}"
    return Redundancy(columns, "determined", reason, target, block=compared.block(columns))


def _by_several(compared: _Compared, found: list[Redundancy]) -> list[Redundancy]:
    left = compared.left(found)
    results = []
    for formula in formulas(compared.sample, left & compared.kinds.ordered):
        y, x = compared.whole(formula.target), np.column_stack([compared.whole(i) for i in formula.sources])
        n, holds = holds_in(formula, y, x)
        if holds >= LEAST_SHARE * n:
            among = f"in all {n:,} subjects" if holds == n else f"in {holds:,} of {n:,} subjects"
            target, of = compared.names[formula.target], listed(compared.in_order(set(formula.sources)))
            columns = compared.in_order({formula.target, *formula.sources})
            reason = f"{shortened(target)} is {formula.how} {of} {among}"
            results.append(Redundancy(columns, "computed", reason, target))
    return results


def _nearly_same(compared: _Compared, found: list[Redundancy]) -> list[Redundancy]:
    left = np.flatnonzero(compared.left(found) & compared.kinds.ordered)
    results = []
    for group in groups_of_nearly_same(compared.n[np.ix_(left, left)], compared.r[np.ix_(left, left)]):
        members = left[group]
        size = np.abs(compared.r[np.ix_(members, members)])[np.triu_indices(len(group), 1)]
        names = compared.in_order(set(members.tolist()))
        least, most = f"{size.min():.2f}", f"{size.max():.2f}"
        between = least if least == most else f"{least} to {most}"
        reason = f"{listed(names)} measure nearly the same (rank correlation {between})"
        results.append(Redundancy(names, "nearly the same", reason, block=compared.block(names)))
    return results
