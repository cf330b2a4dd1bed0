"""`log_joint_` is one quantity under every combination of options: the end of the trace, and `clinclust.log_joint`.

Where missing values were filled, the trace ends at the joint of the completed table instead.
"""

import itertools
import warnings

import numpy as np
from cohorts import EVERY_LIKELIHOOD, mixed_cohort, with_blocks

import clinclust as cc
from attack.attempts import Attack
from clinclust.engine.joint_estimates.outlying import best_outlying, none_outlying, without_outlying
from clinclust.engine.joint_estimates.resolution import best_inclusion, log_inclusion
from clinclust.engine.problem.problem import log_joint, pose
from clinclust.estimators.parameters import combination_problems

N = 24
CHOICES = {
    "hyperparameters": (None, "greedy"),
    "concentration": (0.7, "map", "cross-validation"),
    "coarsening": (1.0, 0.4, "auto"),
    "block_weights": (None, "auto", {"block 0": 0.3, "block 1": 0.8}),
    "outlying_share": (None, 0.05),
    "select_features": (False, True),
    "init": ("search", "single", "given"),
    "missing": ("marginal", "mode"),
    "n_clusters": (None,),
}
COMBINATIONS = [
    given
    for values in itertools.product(*CHOICES.values())
    if not combination_problems(given := dict(zip(CHOICES, values, strict=True)))
]


def fitted(seed, given):
    """Return a cohort, its schema, and the model fitted to it under a combination of options."""
    frame, schema, _, groups = mixed_cohort(seed, N, EVERY_LIKELIHOOD)
    schema = with_blocks(schema)
    options = {**given, "init": groups if given["init"] == "given" else given["init"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CohortWarning)
        return frame, schema, cc.methods.PublishedMAPDP(schema, **options, n_restarts=2, random_state=seed).fit(frame)


def joint_with(
    frame, labels, schema, hyperparameters=None, concentration=3.0, *, select_features=False, outlying_share=0.0,
    outlying=None, **numbers,
):  # fmt: skip
    """Return `clinclust.log_joint` with the best selection of features, or with outlying values (the best if None)."""
    if not select_features and outlying_share == 0.0:
        return cc.log_joint(frame, labels, schema, hyperparameters, concentration, **numbers)
    frame = schema.validate(frame, warn=False)
    problem = pose(frame, schema, hyperparameters, concentration, **numbers)
    codes = np.unique(np.asarray(labels)[problem.cohort.order], return_inverse=True)[1]
    if select_features:
        _, included = best_inclusion(problem, codes)
        selected = problem.with_features(included)
        return log_joint(selected, selected.partition(codes)) + log_inclusion(int(included.sum()), included.size)
    if outlying is None:
        return best_outlying(problem, codes, none_outlying(problem), outlying_share)[1]
    mask = outlying[:, schema.places(problem.cohort.encoding.features)][problem.cohort.order]
    kept = without_outlying(problem, mask, outlying_share)
    return log_joint(kept, kept.partition(codes))


def joint_of(frame, schema, model, given, **others):
    """Return the joint of the model's partition under what the model states."""
    return joint_with(
        frame,
        model.labels_,
        schema,
        model.hyperparameters_,
        model.concentration_,
        coarsening=model.coarsening_,
        block_weights=model.block_weights_,
        **{"select_features": given["select_features"], "outlying_share": model.outlying_share_, **others},
    )


def broken(seed, given):
    """Return what of the law does not hold for a fit, or None."""
    frame, schema, model = fitted(seed, given)
    outlying = {"outlying": model.outliers_} if model.outlying_share_ > 0 else {}
    stated, trace, joint = model.log_joint_, model.log_joint_trace_, joint_of(frame, schema, model, given, **outlying)
    searched = model.completed_log_joint_ if given["missing"] == "mode" else stated
    if not searched == trace[-1] == model.restarts_["log_joint"].max():
        return f"joint of the search {searched!r}, trace {trace[-1]!r}, restarts {model.restarts_['log_joint'].max()!r}"
    if abs(stated - joint) > 1e-12 * abs(joint) + 1e-9:
        return f"log_joint_ {stated!r}, but clinclust.log_joint {joint!r}"
    return None if (np.diff(trace) >= -1e-8).all() else f"the trace falls by {-np.diff(trace).min()}"


def _tries(count, rng, folder):
    for place in range(count):
        given = COMBINATIONS[place % len(COMBINATIONS)]
        what = broken(int(rng.integers(2**31)), given)
        yield what and f"{given}: {what}"


ATTACKS = (Attack("numbers: the joint of a fit under every combination of options", _tries, smoke=1, full=576),)
