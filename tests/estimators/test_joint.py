"""`log_joint_` is one quantity: what the trace ends at, what `clinclust.log_joint` computes, what a fit raises."""

import numpy as np
import pytest
from attack.joint_law import COMBINATIONS, N, broken, fitted, joint_of
from cohorts import EVERY_LIKELIHOOD, mixed_cohort

import clinclust as cc
from clinclust.errors import InputError


# A seventh of the combinations, with every value of every choice; the attacks try all of them.
@pytest.mark.parametrize("place", range(0, len(COMBINATIONS), 7))
def test_the_joint_of_a_fit_is_the_end_of_its_trace_and_the_joint_of_its_partition(place):
    assert broken(place, COMBINATIONS[place]) is None


def test_outlying_values_found_for_a_partition_are_no_worse_than_none():
    given = {**COMBINATIONS[0], "outlying_share": 0.05}
    frame, schema, model = fitted(3, given)
    nothing = np.zeros((N, len(schema)), dtype=bool)

    assert joint_of(frame, schema, model, given) >= joint_of(frame, schema, model, given, outlying=nothing) - 1e-9


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outlying_share": 0.1, "select_features": True}, "cannot be combined"),
        ({"outlying": np.zeros((N, 9), dtype=bool)}, "need an outlying_share"),
        ({"outlying_share": 0.1, "outlying": np.zeros((N, 2), dtype=bool)}, r"of shape \(40, 9\).*of shape \(40, 2\)"),
        ({"outlying_share": 0.1, "outlying": np.zeros((N, 9))}, "float64"),
        ({"outlying_share": 0.1, "outlying": np.ones((N, 9), dtype=bool)}, "missing, or of features"),
    ],
)
def test_outlying_values_that_cannot_be_are_refused(given, said):
    frame, schema, _, groups = mixed_cohort(1, N, EVERY_LIKELIHOOD)
    assert len(schema) == 9
    with pytest.raises(InputError, match=said):
        cc.log_joint(frame, groups, schema, **given)
