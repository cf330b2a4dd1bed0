"""Refinement where partitions are nearly tied: new starts race, and only the best are searched to the end."""

import numpy as np
import pandas as pd
import pytest

from clinclust.engine.problem.problem import pose
from clinclust.engine.search import restarts
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.restarts import (
    Attempts,
    index_of_best,
    run_restarts,
    search_from,
    search_starts,
    starts_from,
)
from clinclust.engine.search.settle import minimum_gain
from clinclust.schema import schema_for_array


@pytest.fixture(scope="module")
def tied():
    return problem_of_ties(90, 5)


def problem_of_ties(n, d):
    """Return the problem of subjects with exponential columns as Gaussian: there are no groups, only ties."""
    values = np.random.default_rng(3).exponential(size=(n, d))
    schema = schema_for_array(values)
    frame = schema.validate(schema_frame(values, schema), warn=False)
    return pose(frame, schema, None, 3.0)


def schema_frame(values, schema):
    return pd.DataFrame(values, columns=list(schema.names))


def searched(problem, **options):
    plan = SearchPlan(**{"seed": 1, "n_jobs": 2} | options)
    return run_restarts(problem, search_starts(problem.cohort.n_subjects, plan.seeds), plan)


@pytest.fixture(scope="module")
def raced(tied):
    return searched(tied)


def test_the_winner_of_races_is_improved_by_no_move_and_no_division(tied, raced):
    assert any(restart.start == "perturbed" for restart in raced)  # the restarts did not agree
    best = raced[index_of_best(raced)]
    plan = SearchPlan()
    (start,) = starts_from(best.labels, plan.seeds[:1])
    again = search_from(tied, start, plan, Attempts())
    assert again.log_joint <= best.log_joint + minimum_gain(tied)
    assert best.converged
    assert (np.diff(best.trace) >= -1e-9).all()


def test_races_give_the_same_for_any_number_of_threads(tied, raced):
    alone = searched(tied, n_jobs=1)
    assert [restart.log_joint.hex() for restart in alone] == [restart.log_joint.hex() for restart in raced]
    assert all(np.array_equal(a.labels, b.labels) for a, b in zip(alone, raced, strict=True))


@pytest.mark.simulation
def test_races_divide_fewer_partitions_and_lose_next_to_nothing(monkeypatch):
    tied = problem_of_ties(200, 6)
    raced = searched(tied)
    monkeypatch.setattr(restarts, "_FINISHERS", 1000)
    monkeypatch.setattr(restarts, "_CLOSE", np.inf)
    monkeypatch.setattr(restarts, "_WORTHWHILE", 0.0)
    thorough = searched(tied)

    def work(found):
        return sum(restart.n_sweeps for restart in found)

    assert work(raced) < work(thorough)
    best, best_of_all = (max(restart.log_joint for restart in found) for found in (raced, thorough))
    assert best > best_of_all - 5.0


def test_a_best_partition_that_was_found_often_is_refined_without_races(monkeypatch):
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(0.0, 1.0, (60, 4)), rng.normal(8.0, 1.0, (40, 4))])
    schema = schema_for_array(values)
    problem = pose(schema.validate(schema_frame(values, schema), warn=False), schema, None, 3.0)
    raced = []
    monkeypatch.setattr(restarts.Refinement, "_raced", lambda self, results: raced.append(results) or results)
    searched(problem)
    assert not raced


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
