"""`log_joint_` is one quantity: what the trace ends at, what `clinclust.log_joint` computes, what a fit raises."""

import itertools

import numpy as np
import pytest
from attack.joint_law import COMBINATIONS, N, broken, fitted, joint_of
from cases import cases_beside
from cohorts import EVERY_LIKELIHOOD, mixed_cohort, with_blocks
from scored import few

import clinclust as cc
from clinclust.errors import InputError


def covering(combinations):
    """Return the places of combinations in which every two values that go together do so at least once."""
    pairs = [set(itertools.combinations([(name, repr(value)) for name, value in c.items()], 2)) for c in combinations]
    left, chosen = set.union(*pairs), []
    while left:
        chosen.append(max(range(len(pairs)), key=lambda place: len(pairs[place] & left)))
        left -= pairs[chosen[-1]]
    return chosen


# The attacks try all combinations, the simulations a set that covers every two values.
@pytest.mark.parametrize("place", few(covering(COMBINATIONS), 10))
def test_the_joint_of_a_fit_is_the_end_of_its_trace_and_the_joint_of_its_partition(place, monkeypatch):
    monkeypatch.setattr("clinclust.estimators.fitting.N_FOLDS", 2)
    monkeypatch.setattr("clinclust.estimators.fitting.CONCENTRATIONS", (0.3, 10.0))
    assert broken(place, COMBINATIONS[place]) is None


def test_outlying_values_found_for_a_partition_are_no_worse_than_none():
    given = {**COMBINATIONS[0], "outlying_share": 0.05}
    frame, schema, model = fitted(3, given)
    nothing = np.zeros((N, len(schema)), dtype=bool)

    assert joint_of(frame, schema, model, given) >= joint_of(frame, schema, model, given, outlying=nothing) - 1e-9


@pytest.mark.parametrize(
    ("powers", "said"), [*cases_beside(__file__, "no_weights"), ({1: 0.5}, "no block 1; it has block 0")]
)
def test_powers_that_cannot_be_are_refused_by_all_who_take_them(powers, said):
    frame, schema, _, groups = mixed_cohort(1, N, EVERY_LIKELIHOOD)
    schema = with_blocks(schema)
    for call in (
        lambda: cc.log_joint(frame, groups, schema, block_weights=powers),
        lambda: cc.methods.PublishedMAPDP(schema, block_weights=powers).fit(frame),
    ):
        with pytest.raises(InputError, match=said):
            call()


def test_without_blocks_in_the_schema_none_can_be_named():
    frame, schema, _, groups = mixed_cohort(1, N, EVERY_LIKELIHOOD)
    with pytest.raises(InputError, match="no block pressure; no clustered feature of it has a block"):
        cc.log_joint(frame, groups, schema, block_weights={"pressure": 0.5})
