"""Fit: the immutable results of a search, attributes of a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.engine.problem.blocks import powers_of_blocks
from clinclust.engine.problem.posterior import Clusters
from clinclust.estimators.few_subjects import NO_FLOOR, marks_of
from clinclust.estimators.fingerprint import CohortFingerprint
from clinclust.estimators.mixture import SubtypeMixture
from clinclust.estimators.resolution_path import ResolutionPath
from clinclust.estimators.subtype_tree import SubtypeTree, TreeTest
from clinclust.files.selection.row_choice import RowCounts
from clinclust.schema import FeatureSchema
from clinclust.schema.feature import of_wholes

STOPPED_EARLY = "ended by its time limit with the best partition so far; a longer search may find a better one"
"""Completes the sentence "The search was ..." in reports."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The results of a search. A fitted estimator has each field that is not None as an attribute; see `MAPDP`.

    Fields are of the clusters that the search found; `subtype_of_` maps them to subtypes. A new field must be declared
    in `saved_fields`, and an array or table in `fit_checks`.
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

    @cached_property
    def subtypes_(self) -> SubtypeMixture:
        """The subtypes as mixtures of the clusters that the search found."""
        return SubtypeMixture(self.clusters_, self.subtype_of_)

    @cached_property
    def labels_(self) -> Labels:
        """Subtype of each subject, int64 (N,)."""
        return self.subtype_of_[self.cluster_labels_] if self.subtypes_.is_merged else self.cluster_labels_

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
        from clinclust.estimators.centroids import cluster_parameters

        return cluster_parameters(self.subtypes_, self.schema_)

    @cached_property
    def merged_log_joint_(self) -> float:
        """Log joint of the partition into subtypes, in nats; `log_joint_` if no clusters were merged."""
        if not self.subtypes_.is_merged:
            return self.log_joint_
        rise = self.subtypes_.pooled.log_joint_of_partition() - self.clusters_.log_joint_of_partition()
        return self.log_joint_ + rise

    @property
    def cluster_sizes_(self) -> Labels:
        """Number of subjects in each subtype, int64 (K,)."""
        return np.bincount(self.labels_)

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


FITTED_ATTRIBUTES = (
    *(field.name for field in fields(Fit)),
    *(name for name, value in vars(Fit).items() if isinstance(value, property | cached_property)),
)
"""Names of the fields and properties of `Fit`."""
