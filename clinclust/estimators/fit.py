"""What a search found, frozen and complete: in a table in memory, and in one in partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import xlogy

from clinclust.arrays import Array, Code, Labels
from clinclust.engine.joint_estimates.resolution import ResolutionStep
from clinclust.engine.kernels.moves import Sums
from clinclust.engine.problem.encoding import powers_of_blocks
from clinclust.engine.problem.problem import Clusters
from clinclust.engine.search.settle import adjusted_rand_index, by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.adjustment import Adjustment
from clinclust.estimators.cohort_table import CohortFingerprint
from clinclust.estimators.mixture import NO_FLOOR, SubtypeMixture, cluster_parameters, marks_of
from clinclust.estimators.subtype_tree import SubtypeTree, TreeTest
from clinclust.files.row_choice import RowCounts
from clinclust.schema import FeatureSchema
from clinclust.schema.feature import of_wholes

if TYPE_CHECKING:
    pass


# ResolutionPath: the best partition at each coarsening of a decreasing sequence.


@dataclass(frozen=True, eq=False, repr=False)
class ResolutionPath:
    """The best partition at each coarsening of a decreasing sequence, up to the one that its partition bears out.

    Attributes
    ----------
    steps : DataFrame
        One row per step, the largest coarsening first. Columns:

        - `coarsening` : power of the likelihood;
        - `n_clusters` : number of clusters;
        - `log_joint` : coarsened log joint in nats, which the step maximises;
        - `log_joint_uncoarsened`, `log_likelihood` : log joint at coarsening 1 and sum of the log marginals, in nats;
        - `independent_share` : the coarsening zeta that corrects for dependence within the clusters;
        - `n_outlying` : number of outlying values;
        - `ari_to_previous`, `ari_to_finest` : adjusted Rand index to the previous and the first step;
        - `start` : start of the search that found the partition.
    labels : int64 (steps, N)
        The partition of each step: clusters 0, 1, ... by decreasing size, subjects in the order of the table.
    chosen : float
        The coarsening that the fit chose.
    """

    steps: pd.DataFrame
    labels: Labels
    chosen: float

    def __repr__(self) -> str:
        shown = self.steps[["coarsening", "n_clusters", "log_joint", "ari_to_previous", "ari_to_finest"]]
        text = shown.to_string(index=False)
        return f"ResolutionPath of {len(self.steps)} steps, coarsening {self.chosen:g} chosen\n{text}"


def path_of(steps: Sequence[ResolutionStep], chosen: float) -> ResolutionPath:
    """Return the steps of a search, with subjects in the order of the table."""
    found = [step.labels for step in steps]
    table = pd.DataFrame(
        {
            "coarsening": [step.coarsening for step in steps],
            "n_clusters": [int(labels.max()) + 1 for labels in found],
            "log_joint": [step.restarts[step.best].log_joint for step in steps],
            "log_joint_uncoarsened": [step.log_joint_uncoarsened for step in steps],
            "log_likelihood": [step.log_likelihood for step in steps],
            "independent_share": [step.independent_share for step in steps],
            "n_outlying": [int(step.outlying.sum()) for step in steps],
            "ari_to_previous": [adjusted_rand_index(found[max(i - 1, 0)], found[i]) for i in range(len(found))],
            "ari_to_finest": [adjusted_rand_index(found[0], labels) for labels in found],
            "start": [step.restarts[step.best].start for step in steps],
        }
    )
    in_order = [steps[0].problem.cohort.in_table_order(by_decreasing_size(labels)) for labels in found]
    return ResolutionPath(table, np.array(in_order), chosen)


# Fit: the immutable results of a search, attributes of a fitted estimator.

STOPPED_EARLY = "ended by its time limit with the best partition so far; a longer search may find a better one"
"""Completes the sentence "The search was ..." in reports."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The results of a search. A fitted estimator has each field that is not None as an attribute; see `MAPDP`.

    Fields are of the clusters that the search found; `subtype_of_` maps them to subtypes. The fields are
    saved as they are declared here; a new array or table needs a rule below.
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
    resolution_path_: ResolutionPath | None = None
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
        """Subtype of each subject, int64 (N,)."""
        return self.subtype_of_[self.cluster_labels_]

    @cached_property
    def membership_(self) -> Array:
        """Probability of each subtype for each subject, float64 (N, K)."""
        return self.subtypes_.summed(self.cluster_membership_)

    @cached_property
    def feature_relevance_(self) -> pd.Series[float]:
        """Separation of the subtypes by each feature, in nats, the largest first; descriptive."""
        features, nats = of_wholes(self.clusters_.encoding.features, self.subtypes_.pooled.relevance())
        relevance = pd.Series(nats, index=[feature.name for feature in features], name="relevance")
        return relevance.sort_values(ascending=False, kind="stable")

    @cached_property
    def cluster_parameters_(self) -> pd.DataFrame:
        """Parameters of each subtype in each feature, with 95% intervals (`MAPDP`)."""
        return cluster_parameters(self.subtypes_, self.schema_)

    @cached_property
    def merged_log_joint_(self) -> float:
        """Log joint of the partition into subtypes, in nats; `log_joint_` if no clusters were merged."""
        if not self.subtypes_.is_merged:
            return self.log_joint_
        rise = self.subtypes_.pooled.log_joint_of_partition() - self.clusters_.log_joint_of_partition()
        return self.log_joint_ + rise

    @cached_property
    def kinds_(self) -> Labels | None:
        """Kind of each subject, int64 (N,), 0, 1, ... by decreasing size: its subtype if grades of one are united.

        None if the tree was not tested.
        """
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
        """What each subtype is called: the numbers 1 .. K, or texts if kinds have grades (1a, 1b, 2)."""
        if self.grades is None:
            return [*range(1, self.n_clusters_ + 1)]
        codes: list[Code] = [""] * self.n_clusters_
        for kind, subtypes in enumerate(self.grades, start=1):
            for grade, subtype in enumerate(subtypes):
                letter = ascii_lowercase[grade % 26] * (grade // 26 + 1)  # aa after z
                codes[subtype] = f"{kind}{letter}" if len(subtypes) > 1 else f"{kind}"
        return codes

    @property
    def relative_entropy_(self) -> float:
        """1 - sum of -p ln p over subjects and subtypes / (N ln K), of the memberships p; 1 with one subtype."""
        p = self.membership_
        if p.shape[1] == 1:
            return 1.0
        return float(1.0 + xlogy(p, p).sum() / (p.shape[0] * math.log(p.shape[1])))

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
        return marks_of(self.subtypes_)

    @property
    def selected_features_(self) -> list[str]:
        """The clustered features that differ between the clusters, in the order of the schema."""
        encoded = zip(self.clusters_.encoding.features, self.clusters_.included, strict=True)
        selected = {feature.column for feature, is_included in encoded if is_included}
        return [name for name in self.schema_.names if name in selected]

    @property
    def concentration_(self) -> float:
        """The concentration N0 of the final model."""
        return self.clusters_.model.concentration

    @property
    def discount_(self) -> float:
        """The discount of the Pitman-Yor process; 0 is the Dirichlet process."""
        return self.clusters_.model.discount

    @property
    def coarsening_(self) -> float:
        """The power of the likelihood in the final model."""
        return self.clusters_.model.coarsening

    @property
    def block_weights_(self) -> dict[str, float]:
        """The weight of each block with a clustered feature, in the order of the schema."""
        found = powers_of_blocks(self.clusters_.encoding.features, self.clusters_.model.powers)
        named = dict.fromkeys(feature.block for feature in self.schema_.clustered)
        return {block: found[block] for block in named if block in found}

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

_ARRAYS_OF_ALL = ("all_subjects.sizes", "all_subjects.statistics", "all_subjects.log_joint_trace")
"""Names of the arrays that are saved in addition to those of the sample's fit."""


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedFit(Fit):
    """The fit of a table in partitions: clusters of all subjects, and the tree of those in the sample.

    `cluster_labels_` is a Dask series. Nothing else holds single subjects: membership and outliers are None.
    """

    in_sample_: Fit = field(kw_only=True)
    """The same clusters as those of the sample."""
    sample_: pd.DataFrame | None = field(kw_only=True)
    """The rows of the sample as given; None of a model that was loaded."""

    @classmethod
    def of(
        cls, in_sample: Fit, sums: Sums, labels: Any = None, sample: pd.DataFrame | None = None, **fields: Any
    ) -> Self:
        """Return the fit of all subjects; its first clusters are those of the sample, the others have no subject in it.

        `sums` are those of the clusters of all subjects, `labels` the Dask series of clusters.
        """
        sizes, statistics = sums
        clusters = replace(in_sample.clusters_, sizes=sizes, statistics=statistics)
        of_sample = {name: getattr(in_sample, name) for name in Fit.__dataclass_fields__}
        none = {"cluster_membership_": None, "outliers_": None, "leave_one_out_nll_": np.nan}
        of_all = {"cluster_labels_": labels, "clusters_": clusters, "in_sample_": in_sample, "sample_": sample}
        return cls(**(of_sample | none | of_all | fields)).with_subtypes_of(in_sample)

    def written(self, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return what is saved in addition to the fit of the sample, for JSON, and add arrays (`read`)."""
        found = (self.clusters_.sizes, self.clusters_.statistics, self.log_joint_trace_)
        arrays |= dict(zip(_ARRAYS_OF_ALL, found, strict=True))
        return {"log_joint": self.log_joint_, "stopped_early": self.stopped_early_}

    @classmethod
    def read(cls, in_sample: Fit, text: Any, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return the fit that was saved, without subjects; InputError for arrays of another sample."""
        sizes, statistics, trace = (arrays[name] for name in _ARRAYS_OF_ALL)
        joint, stopped = float(text["log_joint"]), bool(text["stopped_early"])
        in_sample_sizes = in_sample.clusters_.sizes
        if sizes.size < in_sample_sizes.size or (sizes[: in_sample_sizes.size] < in_sample_sizes).any():
            raise InputError("the clusters of all subjects are fewer or smaller than those of the sample")
        sums = sizes, statistics
        return cls.of(in_sample, sums, log_joint_=joint, log_joint_trace_=trace, stopped_early_=stopped)

    def with_subtypes_of(self, in_sample: Fit) -> Self:
        """Return the fit with the subtypes of the sample; a cluster without a subject in it is a subtype of its own.

        Subtypes have the numbers that they have in the sample, those without a subject in it the next ones.
        """
        n_more = self.clusters_.sizes.size - in_sample.subtype_of_.size
        return replace(
            self,
            in_sample_=in_sample,
            subtype_of_=np.append(in_sample.subtype_of_, in_sample.n_clusters_ + np.arange(n_more)),
            tree_=in_sample.tree_,
            tree_test_=in_sample.tree_test_,
            min_size_=in_sample.min_size_,
        )

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
