"""Fit: the immutable results of a search. A fitted estimator exposes them as attributes, and saving writes them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.problem.blocks import powers_of_blocks
from clinclust.engine.problem.objective import leave_one_out_nll, log_crp, log_joint
from clinclust.engine.problem.posterior import Clusters, clusters_of, leave_one_out_scores, partition_of, probabilities
from clinclust.engine.search.agreement import adjusted_rand_index
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.engine.search.merge_tree import merge_tree
from clinclust.estimators.few_subjects import NO_FLOOR, marks_of
from clinclust.estimators.fingerprint import CohortFingerprint, fingerprint_of, salt_of
from clinclust.estimators.resolution_path import ResolutionPath, path_of
from clinclust.estimators.subtype_mixture import SubtypeMixture
from clinclust.estimators.subtype_tree import SubtypeTree
from clinclust.estimators.tree_test import TreeTest
from clinclust.estimators.versions import software_versions
from clinclust.files.selection.rows_taken import RowCounts, rows_taken
from clinclust.schema import FeatureSchema
from clinclust.schema.parts import of_wholes

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import RestartResult
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.search import SearchResult

    FloatSeries: TypeAlias = pd.Series[float]
else:
    FloatSeries = pd.Series  # pd.Series takes no type parameters at run time

__all__ = ["FITTED_ATTRIBUTES", "Fit", "fit_of"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The results of a search. A fitted estimator has each field that is not None as an attribute of the same name.

    The docstring of `MAPDP` describes the fields with their shapes and units. A field that is added here becomes an
    attribute of a fitted model, and is declared in `saved_fields` to be saved with it. An array also needs a rule
    (`array_rules`), a table its columns (`table_rules`); no other code has to change.

    Fields are what the search found. `cluster_labels_`, `cluster_membership_` and `clusters_` are of its clusters. What
    is of the subtypes follows from these fields and from `subtype_of_`, which alone says which clusters make up a
    subtype. Without a merger the two are the same.
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
    def feature_relevance_(self) -> FloatSeries:
        """How far the subtypes lie apart in each feature, in nats, the farthest first; descriptive."""
        features, nats = of_wholes(self.clusters_.encoding.features, self.subtypes_.pooled.relevance())
        relevance = pd.Series(nats, index=[feature.name for feature in features], name="relevance")
        return relevance.sort_values(ascending=False, kind="stable")

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
        """Whether a subtype has too few subjects to be tested, bool (K,)."""
        return self.cluster_sizes_ < self.min_size_

    @cached_property
    def remarks_(self) -> list[tuple[str, ...]]:
        """What suggests that a subtype is noise: `few` (below 5 subjects), `weak` (3 nats to its nearest other)."""
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
        """The power of each block with a feature that was clustered on, in the order of the schema."""
        found = powers_of_blocks(self.clusters_.encoding.features, self.clusters_.model.powers)
        named = dict.fromkeys(feature.block for feature in self.schema_.clustered)
        return {block: found[block] for block in named if block in found}

    @property
    def outlying_share_(self) -> float:
        """The prior probability that a value is outlying."""
        return self.clusters_.outlying_share

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
"""Names of the attributes that a fitted estimator has: the fields and the properties of `Fit`."""


def fit_of(result: SearchResult, schema: FeatureSchema, plan: SearchPlan, frame: pd.DataFrame) -> Fit:
    """Return the results of a search, with subjects in the order of the table and clusters by decreasing size.

    Parameters
    ----------
    result : SearchResult
    schema : FeatureSchema
    plan : SearchPlan
    frame : DataFrame, N rows
        The cohort, as the schema has validated it.
    """
    problem, best = result.problem, result.winner
    cohort = problem.cohort
    labels = by_decreasing_size(best.labels)
    partition = partition_of(problem, labels)
    # A feature that was not selected has the same distribution in every cluster. It cancels in the probabilities of
    # clusters and in the evidence of joins.
    included = np.ones(len(cohort.encoding.features), dtype=np.bool_) if best.included is None else best.included
    selected = problem if included.all() else problem.with_features(included)
    scores = leave_one_out_scores(selected, partition_of(selected, labels))
    joins, evidence = merge_tree(selected, labels)
    outlying = np.zeros((cohort.n_subjects, len(schema.parts)), dtype=np.bool_)
    if result.outlying.any():
        outlying[:, schema.places(cohort.encoding.features)] = cohort.in_table_order(result.outlying)
    labels_of_table, taken = cohort.in_table_order(labels), rows_taken(frame)
    clusters = replace(clusters_of(problem, partition, included), outlying_share=plan.outlying_share)
    return Fit(
        schema_=schema,
        random_seed_=plan.seed,
        cluster_labels_=labels_of_table,
        cluster_membership_=cohort.in_table_order(probabilities(scores)),
        clusters_=clusters,
        subtype_of_=np.arange(clusters.sizes.size),
        log_joint_=log_joint(problem, partition) if plan.fill_modes else best.log_joint,
        log_joint_trace_=best.trace,
        leave_one_out_nll_=_nll(selected, labels) + _shared_nll(problem, ~included),
        hyperparameters_=problem.hyperparameters,
        uninformative_=problem.kept_out,
        tree_=SubtypeTree(labels_of_table, joins, evidence),
        outliers_=outlying,
        restarts_=_table_of_restarts(result.restarts, best),
        tuning_=result.tuning,
        versions_=software_versions(),
        cohort_fingerprint_=fingerprint_of(frame, salt_of(schema, plan.seed, labels_of_table, clusters)),
        stopped_early_=plan.budget.cut_short,
        row_counts_=None if taken is None else taken.counts,
        resolution_path_=path_of(result.steps, problem.model.coarsening) if result.steps else None,
        completed_log_joint_=best.log_joint if plan.fill_modes else None,
    )


def _table_of_restarts(restarts: list[RestartResult], best: RestartResult) -> pd.DataFrame:
    """Return the table `MAPDP.restarts_`: one row for each restart."""
    return pd.DataFrame(
        {
            "restart": np.arange(1, len(restarts) + 1),
            "start": [restart.start for restart in restarts],
            "log_joint": [restart.log_joint for restart in restarts],
            "n_clusters": [int(restart.labels.max()) + 1 for restart in restarts],
            "sweeps": [restart.n_sweeps for restart in restarts],
            "converged": [restart.converged for restart in restarts],
            "seconds": [restart.seconds for restart in restarts],
            "ari_to_best": [adjusted_rand_index(restart.labels, best.labels) for restart in restarts],
        }
    )


def _shared_nll(problem: Problem, shared: NDArray[np.bool_]) -> float:
    """Return the contribution of the features that were not selected to the paper's E (Raykov et al. 2016, eq. 12).

    Each of these features has one distribution for all subjects. The term of the partition, ln p(z), is added back,
    because E contains it once and the selected features have already contributed it.

    Parameters
    ----------
    problem : Problem
    shared : bool (D,)
        The encoded features that were not selected.
    """
    if not shared.any():
        return 0.0
    alike, n_subjects = problem.with_features(shared), problem.cohort.n_subjects
    nll = _nll(alike, np.zeros(n_subjects, dtype=np.int64))
    return nll + log_crp(np.array([float(n_subjects)]), alike.model.concentration, alike.model.discount)


def _nll(problem: Problem, labels: Labels) -> float:
    """Return the paper's E, in which every feature counts in full."""
    in_full = problem.with_powers(np.ones_like(problem.model.powers))
    partition = partition_of(in_full, labels)
    return leave_one_out_nll(in_full, partition, leave_one_out_scores(in_full, partition))
