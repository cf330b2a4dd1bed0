"""From what a search found to the attributes of a fitted `MAPDP`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.agreement import adjusted_rand_index
from clinclust.engine.labels import by_decreasing_size
from clinclust.engine.objective import feature_relevance, leave_one_out_nll, log_crp
from clinclust.engine.posterior import clusters_of, leave_one_out_scores, partition_of, probabilities
from clinclust.engine.tree import merge_tree
from clinclust.resolution import path_of
from clinclust.subtype_tree import SubtypeTree

if TYPE_CHECKING:
    from clinclust.engine.problem import Problem
    from clinclust.schema import FeatureSchema
    from clinclust.search import Result

__all__ = ["fitted_attributes"]


def fitted_attributes(result: Result, schema: FeatureSchema) -> dict[str, Any]:
    """Return what a search says, by the name of the attribute."""
    problem, restarts = result.problem, result.restarts
    best = max(restarts, key=lambda restart: restart.log_joint)  # the first of equals
    cohort = problem.cohort
    labels = by_decreasing_size(best.labels)
    partition = partition_of(problem, labels)
    # The features left out are the same in every cluster, and cancel.
    included = np.ones(len(cohort.encoding.features), dtype=np.bool_) if best.included is None else best.included
    selected = problem if included.all() else problem.with_features(included)
    scores = leave_one_out_scores(selected, partition_of(selected, labels))
    names = {feature.name for feature in selected.cohort.encoding.features}
    sizes = np.bincount(labels)
    joins, evidence = merge_tree(selected, labels)
    outlying = np.zeros((cohort.n_subjects, len(schema)), dtype=np.bool_)
    encoded = [feature.name for feature in cohort.encoding.features]
    if result.aside.any():
        outlying[:, [schema.names.index(name) for name in encoded]] = cohort.in_table_order(result.aside)
    path = {"resolution_path_": path_of(result.steps, problem.model.coarsening)} if result.steps else {}
    return path | {
        "clusters_": replace(clusters_of(problem, partition, included), outlying_share=result.outlying_share),
        "hyperparameters_": problem.hyperparameters,
        "concentration_": problem.model.concentration,
        "discount_": problem.model.discount,
        "coarsening_": problem.model.coarsening,
        "kept_out_": problem.kept_out,
        "labels_": cohort.in_table_order(labels),
        "cluster_sizes_": sizes,
        "n_clusters_": sizes.size,
        "log_joint_": best.log_joint,
        "log_joint_trace_": best.trace,
        "membership_": cohort.in_table_order(probabilities(scores)),
        "leave_one_out_nll_": leave_one_out_nll(selected, partition, scores) + _shared_nll(problem, ~included),
        "feature_relevance_": pd.Series(
            feature_relevance(problem, partition),
            index=encoded,
            name="relevance",
        ).sort_values(ascending=False, kind="stable"),
        "selected_features_": [name for name in schema.names if name in names],
        "tree_": SubtypeTree(cohort.in_table_order(labels), joins, evidence),
        "outlying_": outlying,
        "outlying_share_": result.outlying_share,
        "tuning_": result.tried,
        "restarts_": pd.DataFrame(
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
        ),
    }


def _shared_nll(problem: Problem, shared: NDArray[np.bool_]) -> float:
    """Return what features that have one distribution for everybody add to the papers' E."""
    if not shared.any():
        return 0.0
    alike = problem.with_features(shared)
    together = partition_of(alike, np.zeros(alike.cohort.n_subjects, dtype=np.int64))
    nll = leave_one_out_nll(alike, together, leave_one_out_scores(alike, together))
    return nll + log_crp(together.sizes[:1], alike.model.concentration, alike.model.discount)
