"""The plan of a search: what it says of itself."""

import numpy as np
import pytest

from clinclust.engine.search.plan import ResolutionPlan, SearchPlan, n_threads


@pytest.mark.parametrize(
    "options",
    [
        {"select_features": True},
        {"outlying_share": 0.01},
        {"resolution": ResolutionPlan()},
        {"hyperparameters": "empirical"},
        {"concentration": "map"},
        {"concentration": (1.0, 3.0)},
    ],
)
def test_a_plan_knows_whether_it_searches_for_more_than_the_partition(options):
    assert SearchPlan(**options).searches_beside
    assert not SearchPlan(start="single", n_restarts=3, refine=False, divide=False, patience=1).searches_beside


def test_the_seeds_of_a_plan_are_always_the_same():
    plan = SearchPlan(seed=7, n_restarts=3)
    expected = [seed.generate_state(2).tolist() for seed in np.random.SeedSequence(7).spawn(3)]
    for _ in range(2):
        assert [seed.generate_state(2).tolist() for seed in plan.seeds] == expected


def test_two_plans_are_cancelled_one_by_one():
    one, other = SearchPlan(), SearchPlan()
    one.cancelled.set()
    assert not other.cancelled.is_set()


def test_no_number_of_threads_and_minus_one_stand_for_all_processors():
    assert n_threads(None) == n_threads(-1) >= 1
    assert n_threads(3) == 3
