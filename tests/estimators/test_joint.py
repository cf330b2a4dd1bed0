"""`log_joint_` is one quantity: what the trace ends at, what `clinclust.log_joint` computes, what a fit raises."""

import itertools
import warnings

import numpy as np
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort

import clinclust as cc
from clinclust.errors import InputError
from clinclust.estimators.parameters import combination_problems

N = 40
CHOICES = {
    "hyperparameters": (None, "empirical", "greedy"),
    "concentration": (0.7, "map", (0.5, 5.0), "cross-validation"),
    "discount": (0.0, 0.3),
    "coarsening": (1.0, 0.4, "auto"),
    "outlying_share": (None, 0.05),
    "select_features": (False, True),
    "init": ("search", "single", "given"),
}
COMBINATIONS = [
    given
    for values in itertools.product(*CHOICES.values())
    if not combination_problems(given := dict(zip(CHOICES, values, strict=True)))
]


def _fit(place, given):
    frame, schema, _, groups = mixed_cohort(place, N, EVERY_LIKELIHOOD)
    given = {**given, "init": groups if given["init"] == "given" else given["init"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CohortWarning)
        return frame, schema, cc.MAPDP(schema, **given, n_restarts=3, random_state=place).fit(frame)


def _joint_of(frame, schema, model, given, **others):
    return cc.log_joint(
        frame,
        model.labels_,
        schema,
        model.hyperparameters_,
        model.concentration_,
        discount=given["discount"],
        coarsening=model.coarsening_,
        **{"select_features": given["select_features"], "outlying_share": model.outlying_share_, **others},
    )


# A seventh of the combinations, with every value of every choice; the attacks try all of them.
@pytest.mark.parametrize("place", range(0, len(COMBINATIONS), 7))
def test_the_joint_of_a_fit_is_the_end_of_its_trace_and_the_joint_of_its_partition(place):
    given = COMBINATIONS[place]
    frame, schema, model = _fit(place, given)
    outlying = {"outlying": model.outlying_} if model.outlying_share_ > 0 else {}

    assert model.log_joint_ == model.log_joint_trace_[-1] == model.restarts_["log_joint"].max()
    assert _joint_of(frame, schema, model, given, **outlying) == pytest.approx(model.log_joint_, rel=1e-12, abs=1e-9)
    assert (np.diff(model.log_joint_trace_) >= -1e-8).all()


def test_outlying_values_found_for_a_partition_are_no_worse_than_none():
    given = {**COMBINATIONS[0], "outlying_share": 0.05}
    frame, schema, model = _fit(3, given)
    nothing = np.zeros((N, len(schema)), dtype=bool)

    assert _joint_of(frame, schema, model, given) >= _joint_of(frame, schema, model, given, outlying=nothing) - 1e-9


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outlying_share": 0.1, "select_features": True}, "cannot be combined"),
        ({"outlying": np.zeros((N, 9), dtype=bool)}, "need an outlying_share"),
        ({"outlying_share": 0.1, "outlying": np.zeros((N, 2), dtype=bool)}, r"of shape \(40, 2\)"),
        ({"outlying_share": 0.1, "outlying": np.zeros((N, 9))}, "float64"),
        ({"outlying_share": 0.1, "outlying": np.ones((N, 9), dtype=bool)}, "missing, or of features"),
    ],
)
def test_outlying_values_that_cannot_be_are_refused(given, said):
    frame, schema, _, groups = mixed_cohort(1, N, EVERY_LIKELIHOOD)
    assert len(schema) == 9
    with pytest.raises(InputError, match=said):
        cc.log_joint(frame, groups, schema, **given)
