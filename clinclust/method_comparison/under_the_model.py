"""Any partition under the model of the schema: how well it predicts new subjects, and whether it is a continuum."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from clinclust.engine.joint_estimates.outlying_search import none_outlying
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.posterior import clusters_of, partition_of
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.one_start import RestartResult
from clinclust.engine.search.plan import SearchPlan
from clinclust.estimators.fitting import fit_of
from clinclust.estimators.search import SearchResult, tried_once
from clinclust.estimators.subtype_tree import DEFAULT_TEST
from clinclust.estimators.tested_tree import tested_tree
from clinclust.progress import SILENT

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.problem import Problem
    from clinclust.schema import FeatureSchema

__all__ = ["held_out_density", "n_distinct"]

Labels = NDArray[np.int64]

_CONCENTRATION = 3.0


def held_out_density(
    inside: pd.DataFrame, labels: Labels, outside: pd.DataFrame, schema: FeatureSchema, powers: dict[str, float]
) -> NDArray[np.float64]:
    """Return the log density of each of some subjects, in nats, under the clusters of others, float64 (m,).

    It is the log predictive of the model of the schema: each feature with its likelihood in each cluster and in a new
    one, missing values integrated out. All partitions of the same subjects are thereby compared on one scale, that of
    the columns, whatever the method that made them.

    Parameters
    ----------
    inside : DataFrame, n rows
        Validated subjects.
    labels : int64 (n,)
        Their clusters, 0 .. K - 1.
    outside : DataFrame, m rows
        Validated subjects whose density is returned.
    schema : FeatureSchema
    powers : dict
        Powers of blocks with which subjects are assigned; densities have none.
    """
    problem = _posed(inside, schema, powers)
    clusters = clusters_of(problem, partition_of(problem, labels[problem.cohort.order]))
    scores = clusters.scores(model_values(outside, clusters.encoding.features), coarsened=False)
    return np.asarray(logsumexp(scores, axis=1), dtype=np.float64)


def n_distinct(
    frame: pd.DataFrame, labels: Labels, schema: FeatureSchema, powers: dict[str, float], seed: int, n_draws: int
) -> int:
    """Return how many of the clusters of a partition are told from one continuum (`distinct_subtypes`).

    The tree is that of the clusters under the model of the schema.

    Parameters
    ----------
    frame : DataFrame, N rows
        Validated subjects.
    labels : int64 (N,)
        Their clusters, 0 .. K - 1 by decreasing size.
    schema : FeatureSchema
    powers : dict
        Powers of blocks.
    seed : int
    n_draws : int
        As in `distinct_subtypes`.
    """
    problem = _posed(frame, schema, powers)
    own = labels[problem.cohort.order]
    joint = log_joint(problem, partition_of(problem, own))
    only = RestartResult("given", own, joint, np.array([joint]), 0, True, 0.0)
    plan = SearchPlan(seed=seed, n_restarts=1)
    result = SearchResult(problem, [only], 0, tried_once(problem, [only]), none_outlying(problem))
    parameters = {**DEFAULT_TEST, "n_draws": n_draws, "random_state": seed, "n_jobs": 1}
    fit = fit_of(result, schema, plan, frame)
    tree, test = tested_tree(fit, frame, parameters, SILENT, Event(), with_unimodal=False)
    return len(test.distinct_nodes(tree))


def _posed(frame: pd.DataFrame, schema: FeatureSchema, powers: dict[str, float]) -> Problem:
    return pose(frame, schema, None, _CONCENTRATION, block_weights=powers)
