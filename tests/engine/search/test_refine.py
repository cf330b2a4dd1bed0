"""Refinement where partitions are nearly tied."""

import numpy as np
import pandas as pd
import pytest
from problems import problem_of

from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import (
    index_of_best,
    minimum_gain,
    run_restarts,
    search_from,
    search_starts,
    starts_from,
)


@pytest.fixture(scope="module")
def tied():
    """Return the problem of subjects with exponential columns as Gaussian: there are no groups, only ties."""
    frame = pd.DataFrame(np.random.default_rng(3).exponential(size=(90, 5))).rename(columns="x{}".format)
    return problem_of(frame)


def searched(problem, **options):
    plan = SearchPlan(**{"seed": 1, "n_jobs": 2} | options)
    return run_restarts(problem, search_starts(problem.cohort.n_subjects, plan.seeds), plan)


@pytest.fixture(scope="module")
def refined(tied):
    return searched(tied)


def test_the_winner_is_improved_by_no_move_and_no_division(tied, refined):
    assert any(restart.start == "perturbed" for restart in refined)  # the restarts did not agree
    best = refined[index_of_best(refined)]
    plan = SearchPlan()
    (start,) = starts_from(best.labels, plan.seeds[:1])
    again = search_from(tied, start, plan)
    assert again.log_joint <= best.log_joint + minimum_gain(tied)
    assert best.converged
    assert (np.diff(best.trace) >= -1e-9).all()


def test_a_refinement_is_the_same_for_any_number_of_threads(tied, refined):
    alone = searched(tied, n_jobs=1)
    assert [restart.log_joint.hex() for restart in alone] == [restart.log_joint.hex() for restart in refined]
    assert all(np.array_equal(a.labels, b.labels) for a, b in zip(alone, refined, strict=True))


def test_finishers_alone_are_searched_to_the_end_and_one_of_them_is_the_best(tied):
    plan = {"refine": False, "divide": False, "n_restarts": 6}
    some, every = searched(tied, finishers=2, **plan), searched(tied, **plan)
    assert len(some) == len(every) == 6
    assert some[index_of_best(some)].converged
    assert sum(restart.n_sweeps for restart in some) <= sum(restart.n_sweeps for restart in every) + 6
    assert [r.log_joint for r in searched(tied, finishers=2, n_jobs=1, **plan)] == [r.log_joint for r in some]
    assert max(r.log_joint for r in searched(tied, finishers=6, **plan)) == pytest.approx(
        max(r.log_joint for r in every), abs=5.0
    )
