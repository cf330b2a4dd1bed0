"""What a search found: subtypes as mixtures of its clusters, the tree of the clusters with its test, and the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from string import ascii_lowercase
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import is_whole
from clinclust.arrays import Array, Code, Labels
from clinclust.engine.continuum.tested_node import SMALLEST_NODE
from clinclust.engine.problem.encoding import powers_of_blocks
from clinclust.engine.problem.problem import Clusters
from clinclust.engine.search.settle import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.adjustment import Adjustment
from clinclust.estimators.cohort_table import CohortFingerprint
from clinclust.files.row_choice import RowCounts
from clinclust.likelihoods import Likelihood
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.feature import of_wholes

# The parameters of the subtypes in each feature, with intervals (Raykov et al. 2016, appendix D and eq. 32).

_TAIL = 0.025
_COLUMNS = ("feature", "parameter", "level", "subtype", "estimate", "lower", "upper")


def _rows(feature: Feature, likelihood: Likelihood, posteriors: Array) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each parameter, level and subtype; means are in the unit of the column."""
    levels = [""]  # of a mean
    if likelihood.is_yes_no:
        levels = [feature.levels[1] if feature.levels else "1"]
    elif likelihood.counts_levels:
        steps = range((feature.n_trials or 0) + 1)
        levels = list(feature.levels or (f"{feature.lowest + step:g}" for step in steps))
    for name, distribution in likelihood.parameters(posteriors).items():
        if name == "sd" and feature.transform is not None:
            continue  # no number in the unit of the column says it
        mean, lower, upper = distribution.mean(), distribution.ppf(_TAIL), distribution.ppf(1.0 - _TAIL)
        estimate = np.where(np.isfinite(mean), mean, distribution.median())  # few values may leave no finite mean
        numbers, scale = np.stack([estimate, lower, upper]), feature.level_numbers
        if name == "mean" and scale is not None and np.ptp(np.diff(scale.numbers)) < 1e-9 * scale.step:
            ends = scale.numbers[0] + numbers * (scale.numbers[1] - scale.numbers[0])  # a scale of even steps
            numbers = np.vstack([ends[:1], np.sort(ends[1:], axis=0)])
        elif name == "mean":
            numbers = feature.from_model_scale(numbers)
            name = "mean" if feature.transform is None else "back-transformed mean"
        for place, level in enumerate(levels):
            of_level = numbers[..., place] if numbers.ndim == 3 else numbers
            for subtype, row in enumerate(of_level.T.tolist(), start=1):
                yield feature.name, name, level, subtype, *row


# Mixtures of clusters: subtypes that are unions of clusters.
#
# The predictive of a subtype is the sum of those of its clusters, weighted by their sizes.


@dataclass(frozen=True, eq=False)
class SubtypeMixture:
    """The subtypes of a fit. J is the number of clusters that the search found, K that of the subtypes."""

    clusters: Clusters
    subtype_of: Labels
    """(J,) subtype of each cluster, 0 .. K - 1."""

    @cached_property
    def pooled(self) -> Clusters:
        """The subtypes as single clusters, for evidence only."""
        return self.clusters if self._is_in_order else self.clusters.pooled(self.subtype_of)

    @property
    def sizes(self) -> Array:
        """Number of subjects in each subtype, float64 (K,)."""
        return self.pooled.sizes

    def summed(self, probabilities: Array) -> Array:
        """Return the probability of each subtype from those of the clusters (n, J) and, perhaps, of a new one."""
        # A sum of several probabilities may exceed 1 by a rounding error.
        return self._joined(probabilities, lambda columns: np.minimum(columns.sum(axis=1), 1.0))

    def log_summed(self, scores: Array) -> Array:
        """Return the log weight of each subtype from those of its clusters."""
        return self._joined(scores, lambda columns: np.logaddexp.reduce(columns, axis=1))

    def _joined(self, of_clusters: Array, join: Callable[[Array], Array]) -> Array:
        """Return the columns of each subtype combined; that of a single cluster is unchanged."""
        if self._is_in_order:
            return of_clusters
        members = [np.flatnonzero(self.subtype_of == subtype) for subtype in range(int(self.subtype_of.max()) + 1)]
        columns = [of_clusters[:, it[0]] if it.size == 1 else join(of_clusters[:, it]) for it in members]
        return np.column_stack([*columns, of_clusters[:, self.subtype_of.size :]])

    @property
    def _is_in_order(self) -> bool:
        return np.array_equal(self.subtype_of, np.arange(self.subtype_of.size))


# Marks of subtypes that may be noise: few subjects, or weak evidence to their nearest other.

NO_FLOOR = 1
"""Fewest subjects of a subtype without a floor."""
FEW, WEAK = "few", "weak"
"""The marks of a subtype that may be noise, wherever it is shown."""
FEW_SUBJECTS = 5
"""Number of subjects below which a subtype is marked as few."""
WEAK_NATS = 3.0
"""Evidence in nats to the nearest other below which a subtype is marked as weak."""
MEANING_OF_MARKS = (
    f"{FEW}: fewer than {FEW_SUBJECTS} subjects; {WEAK}: less than {WEAK_NATS:g} nats of evidence between a subtype "
    "and its nearest other."
)
"""The meaning of all marks."""


def n_standing(subtypes: SubtypeMixture) -> int:
    """Return the number of subtypes, at least 1: weak pairs are merged, the least first, and few subjects left out."""
    while True:
        pairs, evidence = _all_pairs(subtypes)
        if evidence.min(initial=np.inf) >= WEAK_NATS:
            return max(1, int((subtypes.sizes >= FEW_SUBJECTS).sum()))
        first, other = pairs[evidence.argmin()].tolist()
        subtypes = replace(subtypes, subtype_of=with_joined(subtypes.subtype_of, first, other, subtypes.clusters.sizes))


def with_joined(subtype_of: Labels, kept: int, lost: int, sizes: NDArray[np.float64]) -> Labels:
    """Return the subtype of each cluster, int64 (J,), with two subtypes merged; `sizes` (J,) are of the clusters."""
    return groups_by_decreasing_size(np.where(subtype_of == lost, kept, subtype_of), sizes.astype(np.int64))


def _all_pairs(subtypes: SubtypeMixture) -> tuple[Labels, NDArray[np.float64]]:
    """Return every pair of subtypes, int64 (P, 2), and the evidence between them in nats, float64 (P,)."""
    pairs = np.column_stack(np.triu_indices(subtypes.sizes.size, 1)).astype(np.int64)
    return pairs, evidence_between(subtypes.pooled, pairs) if len(pairs) else np.zeros(0)


def evidence_between(clusters: Clusters, pairs: Labels) -> NDArray[np.float64]:
    """Return the decrease of the log joint when each pair of clusters (P, 2) is merged, in nats, float64 (P,)."""
    first, second = pairs.T
    sizes, statistics = clusters.sizes, clusters.statistics
    together = replace(clusters, sizes=sizes[first] + sizes[second], statistics=statistics[first] + statistics[second])
    apart, seat = clusters.log_joint_of_each(), np.log(clusters.model.concentration)
    return np.asarray(apart[first] + apart[second] + seat - together.log_joint_of_each(), dtype=np.float64)


# The tree of a fit's clusters, and the test of its joins against one continuous population.


@dataclass(frozen=True, eq=False, repr=False)
class SubtypeTree:
    """The tree of the subtypes of a fit. Each step merges the two groups with the least evidence between them."""

    labels: Labels
    """(N,) subtype of each subject, in the order of the table."""
    joins: Labels
    """(K - 1, 2) the two groups of each join, numbered as in scipy: 0 .. K - 1 are subtypes, K + s is of step s."""
    evidence: Array
    """(K - 1,) decrease of the (coarsened) log joint by each join in nats; not always increasing."""

    @property
    def n_subtypes(self) -> int:
        """Number of subtypes at the tips of the tree, K."""
        return int(self.evidence.size) + 1

    @property
    def merges(self) -> pd.DataFrame:
        """DataFrame with one row for each join.

        Columns: `step` (1 .. K - 1), `first` and `second` (tuples of the merged subtypes, counted from 1), `size`
        (subjects in both), `n_subtypes` (subtypes left after the step) and `evidence` (nats).
        """
        members, sizes = self.members(), np.bincount(self.labels, minlength=self.n_subtypes)
        joins = [[members[node] for node in pair] for pair in self.joins.tolist()]
        return pd.DataFrame(
            {
                "step": np.arange(1, self.n_subtypes),
                "first": [tuple(cluster + 1 for cluster in first) for first, _ in joins],
                "second": [tuple(cluster + 1 for cluster in second) for _, second in joins],
                "size": [int(sizes[[*first, *second]].sum()) for first, second in joins],
                "n_subtypes": np.arange(self.n_subtypes - 1, 0, -1),
                "evidence": self.evidence,
            }
        )

    def subtype_of(self, n_subtypes: int) -> Labels:
        """Return the group of each of K subtypes when `n_subtypes` groups are left, int64 (K,), by decreasing size."""
        if not is_whole(n_subtypes, 1) or n_subtypes > self.n_subtypes:
            raise InputError(f"n_subtypes must be a whole number from 1 to {self.n_subtypes}, not {n_subtypes!r}")
        merged = set(self.joins[: self.n_subtypes - int(n_subtypes)].ravel().tolist())
        last = 2 * self.n_subtypes - int(n_subtypes)
        return self.group_of([node for node in range(last) if node not in merged])

    def group_of(self, nodes: Sequence[int]) -> Labels:
        """Return the number of the node above each of the K subtypes, nodes by decreasing size, int64 (K,)."""
        members = self.members()
        groups = np.zeros(self.n_subtypes, dtype=np.int64)
        for number, node in enumerate(nodes):
            groups[list(members[node])] = number
        return groups_by_decreasing_size(groups, np.bincount(self.labels, minlength=self.n_subtypes))

    def members(self) -> list[tuple[int, ...]]:
        """Return the subtypes at and below each node, ascending from 0."""
        members: list[tuple[int, ...]] = [(subtype,) for subtype in range(self.n_subtypes)]
        for first, second in self.joins.tolist():
            members.append(tuple(sorted(members[first] + members[second])))
        return members

    def __repr__(self) -> str:
        lines = [f"SubtypeTree of {self.n_subtypes} subtypes and {self.labels.size} subjects"]
        for first, second, evidence in self.merges[["first", "second", "evidence"]].to_numpy().tolist():
            weak = f" (weak: less than {WEAK_NATS:g})" if evidence < WEAK_NATS else ""
            sides = f"{', '.join(map(str, first))} with {', '.join(map(str, second))}"
            lines.append(f"  {sides}: {evidence:.1f} nats{weak}")
        return "\n".join(lines)


N_DRAWS, SIGNIFICANCE_LEVEL = 100, 0.05
"""Default parameters of the test: 200 draws decide none of 40 mixed cohorts otherwise."""
DISTINCT_LEVEL = 0.03
"""Level of the test against a continuum of any shape, below which a join is distinct (`p_of_any_shape`)."""
SHAPE_COUNTS = 3.0
"""Multiple of the p of draws of the smoothed population in that of any shape; a gap has its own (`p_of_no_gap`)."""
FEWEST_DRAWS = 20
"""Least `n_draws`."""

JOIN_DTYPES = {
    **dict.fromkeys(("step", "first_size", "second_size", "n_tested", "n_clusters", "n_parts"), "int64"),
    **dict.fromkeys(("gain", "expected", "expected_sd", "excess", "z", "p"), "float64"),
    **{"accepted": "bool", "p_any_shape": "float64", "distinct": "bool"},
}
"""The columns of `TreeTest.joins`."""


@dataclass(frozen=True, eq=False, repr=False)
class TreeTest:
    """The test of a tree from its root; parameters as in `distinct_subtypes`."""

    joins: pd.DataFrame
    """One row for each tested join, from the root on: the `step` of `SubtypeTree.merges`, and columns of
    `DistinctSubtypes.joins`."""
    n_draws: int
    significance_level: float
    random_seed: int

    def __repr__(self) -> str:
        return f"TreeTest({len(self.joins)} joins, {int(self.joins['accepted'].sum())} accepted)"

    def parted_nodes(self, tree: SubtypeTree, by: str = "accepted") -> list[int]:
        """Return the nodes of the tree that are left by the divisions that are "accepted", or "distinct"."""
        joins = self.joins.loc[self.joins[by].astype(bool), "step"]
        divided = {tree.n_subtypes + step - 1 for step in joins.tolist()}
        ahead, undivided = [2 * tree.n_subtypes - 2], []
        while ahead:
            node = ahead.pop()
            if node in divided:
                ahead += map(int, tree.joins[node - tree.n_subtypes])
            else:
                undivided.append(node)
        return undivided

    def parted_of(self, tree: SubtypeTree, by: str = "accepted") -> NDArray[np.int64]:
        """Return the node of `parted_nodes` that holds each subtype of the tree, by decreasing size, int64 (K,)."""
        return tree.group_of(self.parted_nodes(tree, by))

    def problems(self, tree: SubtypeTree) -> list[str]:
        """Return why it cannot be a test of the tree; empty if it can."""
        if not len(self.joins):  # as if the root parts one subject from all others
            sizes = [np.isin(tree.labels, tree.members()[side]).sum() for side in tree.joins[-1:].ravel()]
            return ["no join of the tree was tested"] if is_tested(tree) and min(sizes) > 1 else []
        steps, wanted = self.joins["step"].tolist(), {2 * tree.n_subtypes - 2}
        for step, is_accepted in zip(steps, self.joins["accepted"].tolist(), strict=True):
            if step < 1 or tree.n_subtypes + step - 1 not in wanted:
                return [f"step {step} of the tree was tested, but not the join above it"]
            wanted |= {int(side) for side in tree.joins[step - 1]} if is_accepted else set()
        is_below = self.joins["p"].to_numpy() < self.significance_level
        if len(set(steps)) < len(steps) or not np.array_equal(is_below, self.joins["accepted"].to_numpy()):
            return ["the joins that were accepted are not those whose p is below the significance level"]
        is_distinct = self.joins["accepted"] & (self.joins["p_any_shape"] < DISTINCT_LEVEL)
        if not np.array_equal(is_distinct, self.joins["distinct"]):
            return [f"the distinct joins are not the accepted ones whose p_any_shape is below {DISTINCT_LEVEL}"]
        return []


def is_tested(tree: SubtypeTree) -> bool:
    """Return whether the tree has a join, among enough subjects for a test."""
    return tree.n_subtypes > 1 and tree.labels.size >= SMALLEST_NODE


# Fit: the immutable results of a search, attributes of a fitted estimator.

STOPPED_EARLY = "ended by its time limit with the best partition so far; a longer search may find a better one"
"""Completes the sentence "The search was ..." in reports."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The results of a search. A fitted estimator has each field that is not None as an attribute; see `MAPDP`.

    Fields are of the clusters that the search found; `subtype_of_` maps them to subtypes. They are saved as they are
    declared here; a new array or table needs a rule in `saving`.
    """

    schema_: FeatureSchema
    random_seed_: int
    cluster_labels_: Labels
    cluster_membership_: Array
    clusters_: Clusters
    subtype_of_: Labels
    log_joint_: float
    log_joint_trace_: Array
    leave_one_out_nll_: float
    hyperparameters_: dict[str, dict[str, Any]]
    uninformative_: dict[str, str]
    tree_: SubtypeTree
    outliers_: NDArray[np.bool_]
    restarts_: pd.DataFrame
    tuning_: pd.DataFrame
    versions_: dict[str, str]
    cohort_fingerprint_: CohortFingerprint
    stopped_early_: bool
    row_counts_: RowCounts | None = None
    tree_test_: TreeTest | None = None
    min_size_: int = NO_FLOOR
    completed_log_joint_: float | None = None
    prior_strength_: float = 0.0
    adjustment_: Adjustment | None = None

    def adjusted(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a validated table as the model sees it: its measurements at the averages of the adjusted columns."""
        return frame if self.adjustment_ is None else self.adjustment_.remove(frame, self.schema_)

    def restored(self, completed: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a completed table of `adjusted` as that of `frame`, which is validated and has the same rows."""
        return completed if self.adjustment_ is None else self.adjustment_.restore(completed, frame, self.schema_)

    @cached_property
    def subtypes_(self) -> SubtypeMixture:
        """The subtypes as mixtures of the clusters that the search found."""
        return SubtypeMixture(self.clusters_, self.subtype_of_)

    @cached_property
    def labels_(self) -> Labels:
        """Subtype of each subject, int64 (N,), 0 .. K - 1: by decreasing size, or kind by kind (`kinds_`)."""
        return self.subtype_of_[self.cluster_labels_]

    @cached_property
    def membership_(self) -> Array:
        """Probability of each subtype for each subject, given all other subjects, float64 (N, K)."""
        return self.subtypes_.summed(self.cluster_membership_)

    @cached_property
    def feature_relevance_(self) -> pd.Series[float]:
        """Separation by each feature, sum_k ln m_d(subtype k) - ln m_d(all), the largest first, a Series in nats."""
        features, nats = of_wholes(self.clusters_.encoding.features, self.subtypes_.pooled.relevance())
        relevance = pd.Series(nats, index=[feature.name for feature in features], name="relevance")
        return relevance.sort_values(ascending=False, kind="stable")

    @cached_property
    def cluster_parameters_(self) -> pd.DataFrame:
        """DataFrame of the centroids (appendix D and eq. 32 of the paper), by feature, parameter, level and subtype.

        Posterior means and 95% intervals, in the unit of the validated column: means and SDs of measurements, means of
        counts, durations and scales, probabilities of levels, back-transformed means. The values formed the subtypes:
        differences between subtypes are descriptive.
        """
        encoding, rows = self.clusters_.encoding, list[tuple[Any, ...]]()
        of_part = {feature.name: index for index, feature in enumerate(encoding.features)}
        for part in self.schema_.clustered_parts:
            if part.name in of_part:
                index, likelihood = of_part[part.name], encoding.alone[of_part[part.name]]
                posteriors = self.subtypes_.pooled.posteriors(index)[:-1]
                centre, scale = encoding.standards_of(index, 0)
                stated = [likelihood.stated_hyperparameters(posterior, centre, scale) for posterior in posteriors]
                rows += _rows(part, likelihood, np.array(stated))
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    @cached_property
    def kinds_(self) -> Labels | None:
        """Kind of each subject, int64 (N,), by decreasing size: its subtype if grades are united; None if untested."""
        test = self.tree_test_
        return None if test is None else test.parted_of(self.tree_, "distinct")[self.cluster_labels_]

    @cached_property
    def grades(self) -> list[list[int]] | None:
        """The subtypes 0 .. K - 1 of each kind (`kinds_`), if they are those of the test and a kind has several.

        None if the tree was not tested, every subtype is a kind of its own, or the fit was cut to another number.
        """
        test = self.tree_test_
        if test is None or self.tree_.n_subtypes != self.subtype_of_.size:
            return None
        kind_of, tested_of = (test.parted_of(self.tree_, by).tolist() for by in ("distinct", "accepted"))
        subtype_of, n_kinds = self.subtype_of_.tolist(), max(kind_of) + 1
        pairs = sorted(set(zip(kind_of, subtype_of, strict=True)))
        is_cut = len(set(zip(tested_of, subtype_of, strict=True))) > max(tested_of) + 1 or len(pairs) > self.n_clusters_
        if is_cut or n_kinds == self.n_clusters_:
            return None
        return [[subtype for kind, subtype in pairs if kind == number] for number in range(n_kinds)]

    @cached_property
    def codes_(self) -> list[Code]:
        """What each subtype is called, also in `labels`: the numbers 1 .. K, or texts if kinds have grades (1a, 2)."""
        if self.grades is None:
            return [*range(1, self.n_clusters_ + 1)]
        codes: list[Code] = [""] * self.n_clusters_
        for kind, subtypes in enumerate(self.grades, start=1):
            for grade, subtype in enumerate(subtypes):
                letter = ascii_lowercase[grade % 26] * (grade // 26 + 1)  # aa after z
                codes[subtype] = f"{kind}{letter}" if len(subtypes) > 1 else f"{kind}"
        return codes

    @property
    def cluster_sizes_(self) -> Labels:
        """Number of subjects in each subtype, int64 (K,)."""
        return self.subtypes_.sizes.astype(np.int64)

    @property
    def n_clusters_(self) -> int:
        """Number of subtypes, K."""
        return int(self.cluster_sizes_.size)

    @property
    def untested_(self) -> NDArray[np.bool_]:
        """Whether a subtype is below the floor for tests, bool (K,)."""
        return self.cluster_sizes_ < self.min_size_

    @cached_property
    def remarks_(self) -> list[tuple[str, ...]]:
        """Signs that a subtype is noise: `few` (below 5 subjects), `weak` (below 3 nats to its nearest other)."""
        pairs, evidence = _all_pairs(self.subtypes_)
        nearest = np.full(self.n_clusters_, np.inf)  # the evidence between each subtype and its nearest other
        for side in pairs.T:
            np.minimum.at(nearest, side, evidence)
        signs = ((self.subtypes_.sizes < FEW_SUBJECTS, FEW), (nearest < WEAK_NATS, WEAK))
        return [tuple(mark for is_so, mark in signs if is_so[subtype]) for subtype in range(self.n_clusters_)]

    @cached_property
    def differs(self) -> dict[str, bool]:
        """Whether each encoded feature, or part of one, differs between the clusters, by name."""
        encoded = zip(self.clusters_.encoding.features, self.clusters_.included.tolist(), strict=True)
        return {feature.name: is_included for feature, is_included in encoded}

    @property
    def selected_features_(self) -> list[str]:
        """The clustered features that differ between the clusters, in the order of the schema."""
        selected = {feature.column for feature in self.clusters_.encoding.features if self.differs[feature.name]}
        return [name for name in self.schema_.names if name in selected]

    @property
    def concentration_(self) -> float:
        """The concentration N0 of the final model."""
        return self.clusters_.model.concentration

    @property
    def coarsening_(self) -> float:
        """The power of the likelihood in the final model."""
        return self.clusters_.model.coarsening

    @property
    def block_weights_(self) -> dict[str, float]:
        """The weight of each block with a clustered feature, in the order of the schema."""
        powers = powers_of_blocks(self.clusters_.encoding.features, self.clusters_.model.powers)
        named = dict.fromkeys(feature.block for feature in self.schema_.clustered)
        return {block: powers[block] for block in named if block in powers}

    @property
    def outlying_share_(self) -> float:
        """The prior probability that a value is outlying."""
        return self.clusters_.outlying_share

    @property
    def temperature_(self) -> float:
        """Divisor of log odds of clusters in all probabilities of clusters; 1 without calibration."""
        return self.clusters_.temperature

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the schema."""
        return len(self.schema_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of the schema, object (D,)."""
        return np.array(self.schema_.names, dtype=object)


# PartitionedFit: the fit of a table in partitions, with the fit of its sample.


class AllSubjects(NamedTuple):
    """What the fit of all subjects adds to that of the sample: sums of the clusters, and the search among all."""

    sizes: Array
    statistics: Array
    log_joint_trace: Array
    stopped_early: bool


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedFit(Fit):
    """The fit of a table in partitions: clusters of all subjects, and the tree of those in the sample.

    `cluster_labels_` is a Dask series. Nothing else holds single subjects: membership and outliers have the value None.
    """

    in_sample_: Fit = field(kw_only=True)
    sample_: pd.DataFrame | None = field(kw_only=True)
    """The rows of the sample as given; None of a model that was loaded."""

    @classmethod
    def of(
        cls, in_sample: Fit, all_subjects: AllSubjects, labels: Any = None, sample: pd.DataFrame | None = None
    ) -> Self:
        """Return the fit of all subjects with the Dask series of their clusters; the first are those of the sample."""
        sizes, statistics, trace, stopped_early = all_subjects
        sampled = in_sample.clusters_.sizes
        if sizes.size < sampled.size or (sizes[: sampled.size] < sampled).any() or not trace.size:
            raise InputError("the clusters of all subjects are fewer or smaller than those of the sample")
        fields: dict[str, Any] = {name: getattr(in_sample, name) for name in Fit.__dataclass_fields__}
        fields |= {"cluster_membership_": None, "outliers_": None, "leave_one_out_nll_": np.nan}
        fields |= {"log_joint_": float(trace[-1]), "log_joint_trace_": trace, "stopped_early_": stopped_early}
        fields |= {"cluster_labels_": labels, "in_sample_": in_sample, "sample_": sample}
        fields["clusters_"] = replace(in_sample.clusters_, sizes=sizes, statistics=statistics)
        return cls(**fields).with_subtypes_of(in_sample)

    @property
    def all_subjects(self) -> AllSubjects:
        """What is saved in addition to the fit of the sample."""
        clusters = self.clusters_
        return AllSubjects(clusters.sizes, clusters.statistics, self.log_joint_trace_, self.stopped_early_)

    def with_subtypes_of(self, in_sample: Fit) -> Self:
        """Return the fit with the subtypes of the sample; clusters without a subject in it are the next subtypes."""
        n_more = self.clusters_.sizes.size - in_sample.subtype_of_.size
        subtype_of = np.append(in_sample.subtype_of_, in_sample.n_clusters_ + np.arange(n_more))
        of_sample = {name: getattr(in_sample, name) for name in ("tree_", "tree_test_", "min_size_")}
        return replace(self, in_sample_=in_sample, subtype_of_=subtype_of, **of_sample)

    @property
    def labels_(self) -> Any:
        """Subtype of each subject, a Dask series of int64 with the index of the table; None after loading."""
        labels: Any = self.cluster_labels_
        if labels is None:
            return None
        return labels.map_partitions(partial(_subtypes, subtype_of=self.subtype_of_), meta=labels._meta)

    @property
    def membership_(self) -> Any:
        """None: `predict_proba` gives the probabilities of a table in partitions."""
        return None


def _subtypes(clusters: pd.Series[Any], subtype_of: Labels) -> pd.Series[Any]:
    return pd.Series(subtype_of[clusters.to_numpy()], index=clusters.index, name=clusters.name)
