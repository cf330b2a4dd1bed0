"""The log joint of any partition, and the path of partitions from the largest coarsening to the smallest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arguments import FRAME, LABELS, SCHEMA, accepting
from clinclust.arrays import RandomState
from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_outlying, none_outlying, without_outlying
from clinclust.engine.joint_estimates.resolution import resolution_steps
from clinclust.engine.joint_estimates.selection import best_inclusion, log_inclusion
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.engine.search.plan import COARSENINGS, ResolutionPlan, SearchPlan, interruptible
from clinclust.errors import InputError
from clinclust.estimators.fit import ResolutionPath, path_of
from clinclust.estimators.fitting import with_powers_estimated
from clinclust.estimators.parameters import RULES, MAPDPParameters, check_parameters, cluster_codes, rules_of, seed_of
from clinclust.schema import FeatureSchema
from clinclust.schema.validation import warn_of_uninformative


@accepting(frame=FRAME, labels=LABELS, schema=SCHEMA)
def log_joint(
    frame: pd.DataFrame,
    labels: ArrayLike,
    schema: FeatureSchema,
    hyperparameters: Mapping[str, Mapping[str, Any]] | None = None,
    concentration: float = 3.0,
    *,
    discount: float = 0.0,
    coarsening: float = 1.0,
    block_weights: Mapping[str, float] | None = None,
    select_features: bool = False,
    outlying_share: float = 0.0,
    outlying: ArrayLike | None = None,
) -> float:
    """Return the collapsed log joint ln p(X_obs, z) of any partition, in nats, all constants included.

    `MAPDP` gives the equation. Partitions of one cohort under the same parameters are comparable; for the result of a
    fit it equals `log_joint_`.

    Parameters
    ----------
    frame : DataFrame, shape (N, D)
        A table that fits the schema.
    labels : array, shape (N,)
        Cluster of each subject, values of any type.
    schema : FeatureSchema
    hyperparameters : dict, optional
        As in `MAPDP`; others are set from the data.
    concentration, discount, coarsening : float
        As in `MAPDP`.
    block_weights : dict, optional
        Block weights, as `MAPDP.block_weights_`; by default 1.
    select_features : bool
        Return the joint of the partition and of the feature selection that is best for it, as in `MAPDP`.
    outlying_share : float
        As in `MAPDP`. Cannot be combined with `select_features`.
    outlying : array of bool, shape (N, D), optional
        Outlying values, as `MAPDP.outliers_`: one column for each part of a feature. By default they are found for the
        partition.

    Returns
    -------
    float

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If the labels or a parameter cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> two_subtypes, one_subtype = cc.log_joint(frame, frail, schema), cc.log_joint(frame, np.zeros(200), schema)
    >>> round(two_subtypes - one_subtype)  # nats for two subtypes
    212
    """
    check_parameters(
        hyperparameters=hyperparameters,
        concentration=concentration,
        discount=discount,
        coarsening=coarsening,
        block_weights=block_weights,
        select_features=select_features,
        outlying_share=outlying_share,
    )
    if select_features and outlying_share > 0.0:
        raise InputError("select_features and outlying_share above 0 cannot be combined")
    if outlying is not None and outlying_share == 0.0:
        raise InputError("outlying values need an outlying_share above 0")
    frame = schema.validate(frame, warn=False)
    codes = cluster_codes(labels, len(frame), called="labels")
    problem = pose(frame, schema, hyperparameters, float(concentration), discount, coarsening, block_weights)
    codes = codes[problem.cohort.order]
    if select_features:
        included = best_inclusion(problem, codes)
        selected = problem.with_features(included)
        return joint_of(selected, selected.partition(codes)) + log_inclusion(int(included.sum()), included.size)
    if outlying_share == 0.0:
        return joint_of(problem, problem.partition(codes))
    if outlying is None:
        return best_outlying(problem, codes, none_outlying(problem), outlying_share)[1]
    kept = without_outlying(problem, _encoded_mask(problem, outlying, schema, frame), outlying_share)
    return joint_of(kept, kept.partition(codes))


def _encoded_mask(problem: Problem, outlying: ArrayLike, schema: FeatureSchema, frame: pd.DataFrame) -> OutlyingMask:
    """Return outlying values (N, D) in encoded order; raise InputError if one is missing or not clustered on."""
    mask = np.asarray(outlying)
    if mask.dtype != np.bool_ or mask.shape != (len(frame), len(schema.parts)):
        raise InputError(
            f"outlying must be bool of shape {(len(frame), len(schema.parts))}, one column for each feature of the "
            f"schema, and two for one with a spike; it is {mask.dtype} of shape {mask.shape}"
        )
    features = problem.cohort.encoding.features
    encoded = mask[:, schema.places(features)]
    values = model_values(frame, features)
    if mask.sum() != (encoded & ~np.isnan(np.column_stack(list(values.values())))).sum():
        raise InputError("outlying marks values that are missing, or of features that are not clustered on")
    return encoded[problem.cohort.order]


# The best partition at each coarsening.


@accepting(frame=FRAME, schema=SCHEMA)
def resolution_path(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    hyperparameters: Mapping[str, Mapping[str, Any]] | None = None,
    concentration: float = 3.0,
    *,
    discount: float = 0.0,
    block_weights: Mapping[str, float] | str | None = "auto",
    coarsenings: Sequence[float] | None = None,
    outlying_share: float = 0.0,
    n_restarts: int = 10,
    n_fresh: int = 2,
    max_sweeps: int = 200,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> ResolutionPath:
    """Return the best partition at each coarsening of a decreasing sequence.

    Each step maximises the coarsened log joint ln p(z) + coarsening * sum_k sum_d ln m_d (Miller and Dunson 2019) with
    the search of `MAPDP`, from the partition of the step before and from fresh starts. A number of subtypes that stays
    the same over many steps does not depend on how closely the data follow the likelihoods.

    Parameters
    ----------
    frame : DataFrame, shape (N, D)
        A table that fits the schema.
    schema : FeatureSchema
    hyperparameters, concentration, discount, block_weights, outlying_share, max_sweeps, n_jobs, random_state
        As in `MAPDP`. Block weights are estimated once, at coarsening 1.
    coarsenings : sequence of float, optional
        Decreasing, each above 0 and at most 1; by default from 1 to 0.05.
    n_restarts, n_fresh : int
        Number of starts of the first step, and of fresh starts of each later step.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If a parameter cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> path = cc.resolution_path(frame, schema, random_state=0)
    >>> path.steps[["coarsening", "n_clusters"]].tail(2)
       coarsening  n_clusters
    5         0.4           2
    6         0.3           1
    """
    coarsenings = COARSENINGS if coarsenings is None else coarsenings
    check_parameters(
        RULES | {"block_weights": rules_of(MAPDPParameters)["block_weights"]},
        block_weights=block_weights,
        hyperparameters=hyperparameters,
        concentration=concentration,
        discount=discount,
        coarsenings=coarsenings,
        outlying_share=outlying_share,
        n_restarts=n_restarts,
        n_fresh=n_fresh,
        max_sweeps=max_sweeps,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    stated = None if isinstance(block_weights, str) else block_weights
    valid = schema.validate(frame, warn=False)
    problem = pose(valid, schema, hyperparameters, float(concentration), discount, block_weights=stated)
    warn_of_uninformative(problem.kept_out, problem.cohort.n_subjects)
    plan = SearchPlan(
        seed=seed_of(random_state),
        n_restarts=n_restarts,
        max_sweeps=max_sweeps,
        n_jobs=n_jobs,
        outlying_share=outlying_share,
        estimate_powers=isinstance(block_weights, str),
        resolution=ResolutionPlan(tuple(coarsenings), n_fresh),
    )

    def search() -> ResolutionPath:
        with announcing_compilation():
            posed = with_powers_estimated(problem, plan)
            return path_of(resolution_steps(posed, plan, np.random.SeedSequence(plan.seed)))

    return interruptible(search, plan.cancelled)
