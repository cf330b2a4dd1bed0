"""The log joint of any partition, whether `MAPDP` found it or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from clinclust.arguments import FRAME, LABELS, SCHEMA, accepting
from clinclust.estimators.parameters import check_parameters, cluster_codes

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = ["log_joint"]


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
    select_features: bool = False,
) -> float:
    """Return the collapsed log joint ln p(X_obs, z) of any partition, in nats, all constants included.

    `MAPDP` gives the equation. Partitions of one cohort under the same parameters can be compared by it. All observed
    values count: the terms of outlying values (`outlying_share`, ``coarsening="auto"``) are not part of it.

    Parameters
    ----------
    frame : DataFrame, shape (N, D)
        A table that fits the schema.
    labels : array, shape (N,)
        Cluster of each subject. Any values are allowed; equal values mean the same cluster.
    schema : FeatureSchema
    hyperparameters : dict, optional
        As in `MAPDP`. Hyperparameters that are not given here or in the schema are set from the data.
    concentration, discount, coarsening : float
        As in `MAPDP`.
    select_features : bool
        Return the joint of the partition and of the feature selection that is best for it, as in `MAPDP`.

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
    from clinclust.engine.beside.selection import best_inclusion, log_inclusion
    from clinclust.engine.problem.objective import log_joint as joint_of
    from clinclust.engine.problem.posterior import partition_of
    from clinclust.engine.problem.problem import pose

    check_parameters(
        hyperparameters=hyperparameters,
        concentration=concentration,
        discount=discount,
        coarsening=coarsening,
        select_features=select_features,
    )
    frame = schema.validate(frame, warn=False)
    codes = cluster_codes(labels, len(frame), called="labels")
    problem = pose(frame, schema, hyperparameters, float(concentration), discount, coarsening)
    codes = codes[problem.cohort.order]
    if select_features:
        included = best_inclusion(problem, codes)
        selected = problem.with_features(included)
        return joint_of(selected, partition_of(selected, codes)) + log_inclusion(int(included.sum()), included.size)
    return joint_of(problem, partition_of(problem, codes))
