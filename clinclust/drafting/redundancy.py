"""Which columns are redundant: the same measurement twice, or a formula of other columns.

Three questions are asked of the columns of a table: is one determined by one other, by several, or does it measure
nearly the same as another? What is determined is described, and what is nearly the same is one block. The evidence
decides; names only tell which columns may be items of one scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, takewhile
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Whole, paired_moments
from clinclust.data import data
from clinclust.drafting.column import Look, surviving
from clinclust.drafting.kinds import step_of
from clinclust.files.cell_text import limited, listed, shortened
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import block_key

_LIMITS = SimpleNamespace(**data("drafting")["redundancy"])

# What was found of a drafted schema, how the schema is changed by it, and which of it a schema leaves open.


@dataclass(frozen=True)
class Redundancy:
    """A column that others determine, or columns that measure nearly the same."""

    columns: tuple[str, ...]  # all that it concerns, in the order of the table
    kind: Literal["determined", "computed", "nearly the same"]  # by one other column, by several, or not exactly
    reason: str  # a sentence without a full stop and without a value of the table
    target: str | None = None  # the column that the others determine; None if they measure nearly the same
    role: str = "describe"  # of the target, or that of the outcome, arm, time or site that determines it
    block: str | None = None  # that all columns get instead of a role

    @property
    def described(self) -> tuple[str, ...]:
        """The column that is no longer clustered on; empty if it is a block."""
        return () if self.target is None else (self.target,)

    def open_in(self, schema: FeatureSchema | Mapping[str, Feature]) -> list[Feature]:
        """Return the clustered features that it concerns; none if the target is not clustered, or all are one block."""
        clustered = [schema[name] for name in self.columns if name in schema and schema[name].is_clustered]
        if self.target is not None and self.target not in [feature.name for feature in clustered]:
            return []
        blocks = {feature.block for feature in clustered}
        is_settled = len(clustered) < 2 or (len(blocks) == 1 and None not in blocks)
        is_settled |= self.kind == "computed" and len(clustered) < len(self.columns)  # the others do not determine it
        return [] if is_settled and self.role == "describe" else clustered


def applied(schema: FeatureSchema, redundancies: Iterable[Redundancy]) -> FeatureSchema:
    """Return the schema with roles and blocks of these findings where it declares none; one feature stays clustered."""
    features, comments, n_clustered = {feature.name: feature for feature in schema}, {}, len(schema.clustered)
    for finding in redundancies:
        is_block, result = finding.block is not None, f", so its role is {finding.role} too"
        if is_block or finding.role == "describe":
            result = ", so they are one block" if is_block else ", so it is described and not clustered on"
        change = {"block": finding.block} if is_block else {"role": finding.role}
        for feature in finding.open_in(features):
            name = feature.name
            if feature.block is None if is_block else name == finding.target and n_clustered > 1:
                features[name] = Feature(**(feature.content() | change))
                n_clustered -= not is_block
                comments[name] = "\n".join(filter(None, (schema.comments.get(name), f"{finding.reason}{result}")))
    changed = schema.with_changed(features.values())
    changed.comments.update(comments)
    return changed


def looks(redundancies: Iterable[Redundancy], schema: FeatureSchema) -> list[Look]:
    """Return what deserves a look: the findings that the schema does not settle, with the lines to write."""
    sentences = []
    for finding in redundancies:
        if clustered := finding.open_in(schema):
            repair = f"write role: {finding.role} on the line of {listed(finding.described)}"
            if finding.block is not None:
                repair = f"write block: {finding.block} on the lines of {listed(item.name for item in clustered)}"
            sentences.append(Look(finding.columns, limited(finding.reason), repair))
    return sentences


# Evidence: how improbable a relation is by chance.

COUNTED = 1.0 / 3.0
"""How much counts of the evidence against columns without any relation: severity and subtypes make columns agree."""


def needed_evidence(n_columns: int, n_sources: int = 1) -> float:
    """Return the evidence, in nats, that one in a thousand tables of so many unrelated columns has by chance.

    It is log(1000) + log(C) + log(C choose k), for each of C columns and each set of k sources.
    """
    n = max(n_columns, n_sources + 1)
    return math.log(_LIMITS.one_table_in) + math.log(n) + math.log(math.comb(n, n_sources))


# Columns that several others determine: a total, a mean, a difference, a ratio, an index.
#
# A formula holds up to the grids on which its columns are written. How narrow these grids are compared with the spread
# of the column, in how many subjects, is the evidence. It must exceed the logarithm of the number of sets of columns.


class Formula(NamedTuple):
    """A column as a weighted sum of others, or on logarithms as a product of their powers."""

    target: int
    sources: tuple[int, ...]
    how: str  # in words that names of columns can follow
    n: int  # the number of subjects with all these columns
    n_exact: int  # in how many of them it holds
    evidence: float  # in nats; see `needed_evidence`
    rank: tuple[float, bool, float, int]  # how likely this is the result, compared with its sources


def formulas(table: Array, usable: NDArray[np.bool_]) -> list[Formula]:
    """Return the columns (N, C) computed from other usable ones, each with its formula; no result is a later source."""
    n_values = np.array([np.unique(column[~np.isnan(column)]).size for column in table.T])
    solutions: list[Formula] = []
    unsolved = usable & (n_values > 1)
    for logs, values in ((False, table), (True, np.where(table > 0, table, np.nan))):
        few_zeros = (~np.isnan(values)).sum(axis=0) > (~np.isnan(table)).sum(axis=0) / 2
        active = unsolved & few_zeros & ((n_values > _LIMITS.fewest_values) | (not logs))
        may_be_result = active & (n_values >= _LIMITS.fewest_values)
        for members in _find_sets(values, np.flatnonzero(active), np.flatnonzero(may_be_result).tolist(), logs):
            if unsolved[list(members)].all():
                options = [target for target in sorted(members) if may_be_result[target]]
                others = [[source for source in members if source != target] for target in options]
                fits = map(partial(_fit_formula, values, logs=logs), options, others)
                solutions.append(max((fit for fit in fits if fit is not None), key=lambda fit: fit.rank))
                unsolved[solutions[-1].target] = False
    return solutions


def _find_sets(values: Array, active: Whole, targets: list[int], logs: bool) -> list[tuple[int, ...]]:
    """Return each target that has a formula with the fewest columns that it needs, the smallest sets first."""
    used = np.log(values[:, active]) if logs else values[:, active]
    spread = np.nanstd(used, axis=0)
    standard = np.nan_to_num((used - np.nanmean(used, axis=0)) / spread)
    correlation = np.atleast_2d(np.nan_to_num(np.corrcoef(standard, rowvar=False)))
    sets, place = [], {int(index): at for at, index in enumerate(active)}
    for target in targets:
        chosen = _pursue(correlation, place[target], _LIMITS.most_multiplied if logs else _LIMITS.most_added)
        needed = [int(active[index]) for index in chosen]
        if len(needed) > 1 and _fit_formula(values, target, needed, logs=logs) is not None:
            for column in needed[::-1]:
                fewer = [other for other in needed if other != column]
                if fewer and _fit_formula(values, target, fewer, logs=logs) is not None:
                    needed = fewer
            if len(needed) > 1:  # one alone is another unit of the target
                sets.append((target, *needed))
    return sorted(sets, key=lambda members: (len(members), members))


def _pursue(correlation: Array, target: int, most: int) -> list[int]:
    """Return the columns that explain the target, each time the one that explains most (matching pursuit)."""
    chosen: list[int] = []
    rest, before = correlation[target].copy(), 1.0  # the covariance of each column with what is not explained
    while len(chosen) < most and before > _LIMITS.rest:
        rest[[target, *chosen]] = 0.0
        chosen.append(int(np.abs(rest).argmax()))
        weights = np.linalg.lstsq(correlation[np.ix_(chosen, chosen)], correlation[chosen, target])[0]
        rest = correlation[target] - weights @ correlation[chosen]
        now = float(rest[target])
        if before - now < now / (_LIMITS.patience * (most - len(chosen) + 1)):
            break
        before = now
    return chosen if before < _LIMITS.unexplained else []


def _fit_formula(values: Array, target: int, sources: list[int], *, logs: bool) -> Formula | None:
    """Return the formula of a column of others that surely holds, or None."""
    complete = ~np.isnan(values[:, [target, *sources]]).any(axis=1)
    y, x = values[complete, target], values[complete][:, sources]
    n, k = x.shape
    response, design = (np.log(y), np.log(x)) if logs else (y, x)
    spread, deviation = design.std(axis=0), float(response.std())
    if n < 2 * k + 5 or not (spread > 0).all() or not deviation > 0:
        return None
    design = np.column_stack([np.ones(n), (design - design.mean(axis=0)) / spread])
    slack = 1.1 + 2.0 * math.sqrt((k + 1) / n)  # the fitted weights are not the true ones
    # Levels and scores are whole without having been rounded.
    steps = np.array([step_of(column) if np.unique(column).size > _LIMITS.few_levels else 0.0 for column in x.T])
    of_target, of_sources = step_of(y) / 2.0 / (y if logs else 1.0), steps / 2.0 / (x if logs else 1.0)
    rows = np.ones(n, dtype=bool)
    for _ in range(3):  # from the second on without the subjects who are farthest off: errors of entry bend a fit
        solution = np.linalg.lstsq(design[rows], response[rows])[0]
        off, weights = np.abs(response - design @ solution), solution[1:] / spread
        tolerance = of_target + of_sources @ np.abs(weights)
        n_exact = int((off <= slack * tolerance + _LIMITS.exact * deviation).sum())
        relative = max(float(np.median(tolerance)) / deviation, _LIMITS.exact)
        evidence = COUNTED * (n_exact - k - 1 - 2 * (n - n_exact)) * math.log(2.0 / relative)
        is_sure = evidence >= needed_evidence(values.shape[1], k) and relative <= _LIMITS.coarsest
        if is_sure and n_exact >= _LIMITS.least_share * n:
            how = "computed from"
            if logs:
                how = "a product or ratio of"
            elif weights.max() > 0 and np.ptp(weights) <= _LIMITS.equal * np.abs(weights).max():
                how = "the mean of" if abs(float(weights.sum()) - 1.0) < _LIMITS.equal else "the sum of"
            # The result is what was rounded last, is a sum of several, has most digits, or comes last.
            by_own = float((off <= slack * of_target + _LIMITS.exact * deviation).mean())
            rank = (round(by_own, 1), k > 2 and how in ("the mean of", "the sum of"), -step_of(y), target)
            return Formula(target, tuple(sources), how, n, n_exact, evidence, rank)
        rows = off <= np.quantile(off, _LIMITS.trimmed)
    return None


# Columns that one other determines, or nearly: equal, opposite, recoded, coarser, in another unit, transformed.
#
# How often each value of y occurs leaves n! / prod(n_v!) ways to spread the values over the n subjects. If x determines
# y, a map from the values of x to those of y says the same. A third of the logarithm of the number of ways, less the
# logarithm of the number of maps of that kind, is the evidence in nats.

_ABOVE = np.iinfo(np.int32).max


class Relation(NamedTuple):
    """That y is determined by x in all subjects in whom both are observed."""

    n: int  # the number of these subjects
    how: str  # equal, unit, recoded, coarser or levels
    evidence: float  # in nats; see above


def relation(x: Array, y: Array, ordered: Sequence[bool], number: Sequence[bool]) -> Relation | None:
    """Return how y is determined by x, float64 (N,), NaN = missing, and how sure that is, or None if it is not.

    What is compared depends on whether each has an order, as two values always do, and is a number and no level.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    n, x, y = int(both.sum()), x[both], y[both]
    x_values, x_codes = np.unique(x, return_inverse=True)
    y_values, y_codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    n_x, n_y = x_values.size, y_values.size
    if min(n_x, n_y) < 2:
        return None
    low, high = (image[:, 0] for image in _find_ranges(x_codes, y_codes[:, None], y_codes[:, None]))
    if (low != high).any():  # then y = a + b x in all subjects, up to the grids on which both are written
        are_near = np.abs(x - y).max() <= 2.01 * min(step_of(x), step_of(y))  # as the ages at two visits
        line = None if are_near or not all(number) else _fit_formula(np.column_stack([x, y]), 1, [0], logs=False)
        return None if line is None or line.n_exact < n else Relation(n, "unit", line.evidence)
    changes = np.diff(low)
    monotone = all(ordered) and bool((changes >= 0).all() or (changes <= 0).all())
    is_binned = ordered[0] and np.count_nonzero(changes) == n_y - 1
    # A number that each level happens to have, such as the income of a district, is more than another name for it.
    is_many = n_x > _LIMITS.few_levels or (number[1] and n_y > _LIMITS.few_levels)
    maps = math.lgamma(n_x + 1.0) if n_x == n_y else n_x * math.log(n_y)  # recodings, or maps from n_x values to n_y
    maps = math.inf if is_many else maps
    if monotone or is_binned:  # bins have names unless they are ordered
        names = math.log(2.0) if monotone else math.lgamma(n_y + 1.0)
        maps = min(maps, math.log(math.comb(n_x - 1, n_y - 1)) + names)
    how = "unit" if monotone and n_y > 2 and all(number) else "recoded"
    if n_x > n_y or np.array_equal(x, y):
        how = "equal" if n_x == n_y else "coarser" if is_binned else "levels"
    return Relation(n, how, COUNTED * _log_ways(counts) - maps)


def _find_ranges(group: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the lowest and the highest code of each column in each level of a group, int32 (L, C).

    In `low` and `high`, int32 (N, C), a missing value is below, or above, all others; in the group it is -1.
    """
    order = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.minimum.reduceat(high[order], starts, axis=0), np.maximum.reduceat(low[order], starts, axis=0)


def _log_ways(counts: Whole) -> float:
    """Return the logarithm of the number of ways to spread values that occur so often, n! / prod(n_v!)."""
    return math.lgamma(counts.sum() + 1.0) - sum(map(math.lgamma, (counts + 1.0).tolist()))


# The three questions, asked of the columns of a table in a sample of the subjects.

_HOW: dict[str, str] = data("remarks")["follows"]


def redundancies(frame: pd.DataFrame, schema: FeatureSchema) -> list[Redundancy]:
    """Return what clustered columns of a validated table repeat of each other, and of outcomes, arms, times and sites.

    They are compared in at most 4,000 subjects, drawn with a fixed seed.
    """
    results: list[Redundancy] = []
    with np.errstate(all="ignore"), surviving():  # numbers may be of any size
        compared = _Compared(frame, schema)
        questions = (compared.find_determined, compared.find_computed, compared.find_nearly_same)
        for question in questions if len(compared.names) > 1 else ():
            with surviving():
                results += question({name for finding in results for name in finding.described})
    position = {feature.name: place for place, feature in enumerate(schema)}
    return sorted(results, key=lambda finding: (position[finding.columns[0]], finding.columns))


class _Compared:
    """The scores of the columns that are compared: (N, C) in a sample of the subjects."""

    def __init__(self, frame: pd.DataFrame, schema: FeatureSchema) -> None:
        roles = ("cluster", "outcome", "arm", "time", "site")  # a column of these has their role too
        features = [feature for feature in schema if feature.likelihood and feature.role in roles]
        present = [feature for feature in features if feature.name in frame]
        n_sampled = max(_LIMITS.fewest_sampled, min(_LIMITS.sampled, _LIMITS.most_cells // max(len(present), 1)))
        rows = np.random.default_rng(0).permutation(len(frame))[:n_sampled]
        sampled = frame.iloc[rows]  # shuffled even if it is all: the rows of one subject follow each other in a table
        self.among = " looked at" if len(frame) > n_sampled else ""
        scores = {feature: feature.scores(sampled[feature.name]) for feature in present}
        scores = {feature: of for feature, of in scores.items() if np.fmin.reduce(of) < np.fmax.reduce(of)}
        self.features, self.names = list(scores), [feature.name for feature in scores]
        if len(scores) < 2:
            return
        self.sample = np.column_stack(list(scores.values()))
        factors = [pd.factorize(column, sort=True) for column in self.sample.T]
        self.codes = np.column_stack([codes for codes, _ in factors]).astype(np.int32)  # -1 where missing
        self.n_levels = np.array([levels.size for _, levels in factors])
        self.ways = COUNTED * np.array([_log_ways(np.bincount(codes[codes >= 0])) for codes, _ in factors])
        self.n_observed = (self.codes >= 0).sum(axis=0)
        self.clustered = np.array([feature.is_clustered for feature in self.features])
        self.ordered = (self.n_levels == 2) | [not feature.traits.is_nominal for feature in self.features]
        self.number = np.array([feature.levels is None for feature in self.features])
        # The number of subjects and the rank correlation of columns in pairs, (C, C); 0 if unordered.
        ranks = pd.DataFrame(self.sample).rank().to_numpy()
        ranks = ranks - np.nanmean(ranks, axis=0)
        self.n, covariance, *variances = paired_moments(ranks, ranks)
        varying = (np.minimum(*variances) > 1e-9) & self.ordered & self.ordered[:, None]
        self.r = np.where(varying, covariance / np.sqrt(np.where(varying, np.multiply(*variances), 1.0)), 0.0)
        np.fill_diagonal(self.r, 0.0)
        self.taken = {block_key(feature.block) for feature in schema if feature.block is not None}

    def find_determined(self, _: set[str]) -> list[Redundancy]:
        """Return the columns that one other determines. Of two that determine each other, the better one is kept."""
        # Better is to have another role than clustering, few missing values, many different ones, the earlier place.
        of_column = zip(~self.clustered, self.n_observed, self.n_levels, strict=True)
        value = [(*better, -place) for place, better in enumerate(of_column)]
        determined_by: dict[int, Redundancy] = {}
        for x, y in sorted(self._find_candidates(), key=lambda pair: (value[pair[1]], value[pair[0]]), reverse=True):
            if not self.clustered[y] or not determined_by.keys().isdisjoint((x, y)):
                continue
            ordered, number = self.ordered[[x, y]].tolist(), self.number[[x, y]].tolist()
            evident = relation(self.sample[:, x], self.sample[:, y], ordered, number)
            if evident is None or evident.evidence < needed_evidence(len(self.names)):
                continue
            are_lost = self.clustered[x] and self.n_observed[y] - evident.n > _LIMITS.most_lost * self.n_observed[y]
            determines_back = evident.how not in ("coarser", "levels")
            if are_lost or (determines_back and value[x] < value[y]):
                continue
            is_named_otherwise = evident.how == "equal" and self.features[x].levels != self.features[y].levels
            how = _HOW["recoded" if is_named_otherwise else evident.how]
            among = self.among if evident.n == len(self.sample) else " who have these values"
            both = f"{shortened(self.names[y])} {how} {shortened(self.names[x])}"
            role = "describe" if self.clustered[x] else self.features[x].role
            reason = f"{both} in all {evident.n:,} subjects{among}"
            determined_by[y] = Redundancy(self._in_order({x, y}), "determined", reason, self.names[y], role)
        return list(determined_by.values())

    def _find_candidates(self) -> list[tuple[int, int]]:
        """Return the pairs (x, y) in which y may be determined by x: nothing in the first rows contradicts it."""
        codes, n_levels = self.codes[: _LIMITS.rows], self.n_levels  # `relation` looks at all
        missing_last, is_sure = np.where(codes < 0, _ABOVE, codes), self.ways >= needed_evidence(n_levels.size)
        size = np.abs(self.r)
        strongest = np.sort(size, axis=None)[-_LIMITS.most_pairs :][0]  # of a spectrum, nearly all are
        pairs = {(int(x), int(y)) for x, y in np.argwhere(size >= max(_LIMITS.nearly_linear, strongest))}
        # As x: y has one value in each of its levels. An order of y is no help here, so y must vary enough.
        determined = is_sure & ~(self.number & (n_levels > _LIMITS.few_levels))
        for group in np.flatnonzero(n_levels <= max(len(self.sample) // 2, 2)):
            # As y: its levels are ranges of an ordered x that do not overlap.
            is_coarse = n_levels[group] <= _LIMITS.few_levels and is_sure[group]
            cut = self.ordered & (n_levels > n_levels[group]) & is_coarse
            others = np.flatnonzero((determined | cut) & (np.arange(n_levels.size) != group))
            if others.size:
                low, high = _find_ranges(codes[:, group], codes[:, others], missing_last[:, others])
                pairs |= {(int(group), int(y)) for y in others[determined[others] & (high <= low).all(axis=0)]}
                order = np.argsort(low, axis=0, kind="stable")
                low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
                pairs |= {(int(x), int(group)) for x in others[cut[others] & (high[:-1] <= low[1:]).all(axis=0)]}
        return sorted(pairs)

    def find_computed(self, decided: set[str]) -> list[Redundancy]:
        """Return the columns that several others determine."""
        results = []
        for target, sources, how, n, n_exact, *_ in formulas(self.sample, self._undecided(decided)):
            among = f"in {'all' if n_exact == n else f'{n_exact:,} of'} {n:,} subjects{self.among}"
            name, columns = self.names[target], self._in_order([target, *sources])
            reason = f"{shortened(name)} is {how} {listed(self._in_order(sources))} {among}"
            results.append(Redundancy(columns, "computed", reason, name))
        return results

    def find_nearly_same(self, decided: set[str]) -> list[Redundancy]:
        """Return the groups of columns of rank correlation .8 or more on average (average linkage), each as a block.

        Less is enough of items of one scale. They share a factor, along which a fit would divide the subjects.
        """
        from scipy.cluster.hierarchy import fcluster, linkage

        undecided = np.flatnonzero(self._undecided(decided))
        n, size = self.n[np.ix_(undecided, undecided)], np.abs(self.r[np.ix_(undecided, undecided)])
        nearly = np.where(self._are_items(undecided), _LIMITS.items, _LIMITS.nearly)
        # Fisher's z is nearly normal; the tail of a normal distribution beyond z is at most exp(-z^2 / 2).
        z = np.arctanh(np.minimum(size, 0.999999)) * np.sqrt(np.maximum(n - 3.0, 0.0))
        sure = (size >= nearly) & (n >= _LIMITS.fewest_pairs) & (z**2 / 2.0 >= needed_evidence(len(undecided)))
        members = np.flatnonzero(sure.any(axis=0))
        if not members.size:
            return []
        pairs = np.ix_(members, members)
        distance = (1.0 - np.where(n >= _LIMITS.fewest_pairs, size, 0.0)[pairs]) / (1.0 - nearly[pairs])
        tree = linkage(distance[np.triu_indices(members.size, 1)], "average")
        labels = fcluster(tree, 1.0 + 1e-8, "distance")
        results, columns = [], pd.Series(undecided[members])
        for group in sorted(of_label.tolist() for _, of_label in columns.groupby(labels) if of_label.size > 1):
            r = np.abs(self.r[np.ix_(group, group)])[np.triu_indices(len(group), 1)]
            is_scale = r.mean() < _LIMITS.nearly - 1e-9
            if is_scale and len(group) < _LIMITS.fewest_items:
                continue
            between = " to ".join(sorted({f"{r.min():.2f}", f"{r.max():.2f}"}))
            names, are = self._in_order(group), "are items of one scale" if is_scale else "measure nearly the same"
            reason = f"{listed(names)} {are} (rank correlation {between})"
            results.append(Redundancy(names, "nearly the same", reason, block=self._name_block(group)))
        return results

    def _are_items(self, columns: Whole) -> NDArray[np.bool_]:
        """Return which pairs of columns may be items of one scale, bool (C, C).

        phq1 to phq9 with answers from 0 to 3 may be, and V1 to V9 not if they are nearly all columns.
        """
        scales = pd.Series([self._identify_scale(at) for at in columns], dtype=object)
        n_items, codes = scales.map(scales.value_counts()).to_numpy(np.float64), scales.factorize()[0]
        is_scale = (n_items >= _LIMITS.fewest_items) & (n_items <= _LIMITS.most_items * self.clustered.sum())
        return np.asarray((codes[:, None] == codes) & is_scale)

    def _identify_scale(self, at: int) -> str | None:
        """Return the name of a column of few answers without its numbers, with the lowest and highest answer."""
        name, answers = self.names[at], self.sample[:, at]
        stem = re.sub(r"\d+", "#", name)
        if stem == name or self.features[at].traits.is_continuous or self.n_levels[at] > _LIMITS.most_answers:
            return None
        return f"{stem} {np.fmin.reduce(answers)} {np.fmax.reduce(answers)}"

    def _undecided(self, decided: set[str]) -> NDArray[np.bool_]:
        """Return which ordered columns are clustered, and neither determined nor in a block by findings, bool (C,)."""
        return np.asarray(self.ordered & self.clustered & [name not in decided for name in self.names], dtype=bool)

    def _name_block(self, group: list[int]) -> str:
        """Return the one block of columns, or a new name from what their names begin with in common."""
        blocks = {self.features[at].block for at in group} - {None}
        if len(blocks) == 1:
            return str(blocks.pop())
        names = sorted(self.names[at] for at in group)
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(names[0], names[-1], strict=False))
        common = "".join(letter for letter, _ in pairs).rstrip("0123456789 _.-:").strip()
        has_word = sum(map(str.isalpha, common)) > 1
        numbered = (f"{common if has_word else 'block'} {number}" for number in count(1))
        options = chain([common] if has_word else [], numbered)
        name = next(option for option in options if block_key(option) not in self.taken)
        self.taken.add(block_key(name))
        return name

    def _in_order(self, members: Iterable[int]) -> tuple[str, ...]:
        """Return the names of columns in the order of the table."""
        return tuple(self.names[index] for index in sorted(members))
