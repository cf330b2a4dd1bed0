"""The log joint of any partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arguments import FRAME, LABELS, SCHEMA, accepting
from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_outlying, none_outlying, without_outlying
from clinclust.engine.joint_estimates.selection import best_inclusion, log_inclusion
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.errors import InputError
from clinclust.estimators.parameters import check_parameters, cluster_codes
from clinclust.schema import FeatureSchema


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
        _, included = best_inclusion(problem, codes)
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
