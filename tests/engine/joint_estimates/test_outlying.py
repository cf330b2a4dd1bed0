"""Outlying values: gains of single indicators, moves out of a cluster, and dissolutions against plain definitions."""

import numpy as np
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, mixed_cohort
from problems import problem_of

from clinclust import Feature, FeatureSchema
from clinclust.engine.joint_estimates import outlying as turns
from clinclust.engine.joint_estimates.outlying import (
    Changes,
    best_others,
    best_outlying,
    changes_that_raise,
    dissolve,
    none_outlying,
    raise_in_turns,
    without_outlying,
)
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.engine.search.settle import starts_from
from clinclust.likelihoods import REGISTRY

SHARE = 0.03
CONTINUOUS = [name for name, traits in REGISTRY.items() if traits.is_continuous and not traits.is_chained]


def _posed(seed, n=60, coarsening=0.7):
    frame, schema, _, _ = mixed_cohort(seed, n, likelihoods=LIKELIHOODS, missing=0.1)
    problem = problem_of(frame, schema, coarsening=coarsening)
    rng = np.random.default_rng(seed)
    arrays = problem.cohort.arrays
    missing = np.concatenate([arrays.codes == 0, np.isnan(arrays.values)], axis=1)
    outlying = ~missing & (rng.random(none_outlying(problem).shape) < 0.1)
    return problem, rng.integers(3, size=n), outlying


def _joint(problem, labels, outlying):
    kept = without_outlying(problem, outlying, SHARE)
    return log_joint(kept, new_partition(kept.cohort.arrays, labels))


@pytest.mark.parametrize("coarsening", [1.0, 0.3])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_no_value_worth_setting_aside_is_skipped(name, coarsening):
    """The gain is the difference of the scores of a subject under its cluster and under the empty one."""
    share, n_skipped = 0.02, 0
    sizes = np.array([1, 1, 2, 3, 5, 12, 40, 136])
    for seed, example in enumerate(REGISTRY[name].examples() * 12):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(sizes.size), sizes)
        column = example.column(rng, labels, sizes.size)
        column *= 10.0 ** np.where(rng.random(200) < 0.1, 3.0 * rng.random(200), 0.0)
        feature = Feature(name="x", likelihood=name, **example.fields)
        frame, schema = pd.DataFrame({"x": column}), FeatureSchema([feature])
        prior = {"x": example.random_prior(rng, column)} if seed % 2 else None
        problem = problem_of(frame, schema, prior, coarsening=coarsening)
        labels = labels[problem.cohort.order]
        arrays, scores = problem.cohort.arrays, np.zeros((200, 9))
        partition = new_partition(arrays, labels)
        of_values = arrays, problem.model, partition, none_outlying(problem), share
        computed, found = (changes_that_raise(*of_values, least).values for least in (-np.inf, 1e-6))
        write_scores(arrays, problem.model, partition, scores)
        weights = np.log(np.maximum(sizes[labels] - 1.0, 3.0 * (sizes[labels] == 1)))
        kept = scores[np.arange(200), labels] - weights
        gains = scores[:, -1] - np.log(3.0) + coarsening * np.log(share / (1.0 - share)) - kept
        np.testing.assert_array_equal(found, np.flatnonzero(gains > 1e-6))
        n_skipped += 200 - computed.size
    assert n_skipped > 100 * (seed + 1)


def test_the_best_change_of_a_cluster_and_feature_is_the_first_with_the_largest_gain():
    values, places = np.array([1, 3, 4, 7, 9]), np.array([1, 1, 0, 1, 3])
    changes = Changes(values, np.array([1.0, 3.0, 2.0, 3.0, 0.5]), places)
    np.testing.assert_array_equal(changes.best().values, [3, 4, 9])


@pytest.mark.parametrize("seed", range(3))
def test_members_leave_a_cluster_for_the_best_of_the_others(seed):
    problem, labels, _ = _posed(seed)
    arrays, partition = problem.cohort.arrays, new_partition(problem.cohort.arrays, labels)
    scores = np.zeros((60, 4))
    write_scores(arrays, problem.model, partition, scores)
    members = np.flatnonzero(labels == 1)
    found = best_others(arrays, problem.model, partition, members, 1e-300)  # a share of 0 sets no value aside
    np.testing.assert_array_equal(found, np.where(scores[members, 0] >= scores[members, 2], 0, 2))


def test_a_dissolution_raises_the_joint_and_ends_where_none_can_raise_it():
    problem, labels, _ = _posed(0)
    plan, order = SearchPlan(outlying_share=SHARE), np.arange(labels.size)
    outlying, joint = best_outlying(problem, labels, none_outlying(problem), SHARE)
    restart = RestartResult("here", labels, joint, np.array([joint]), 0, True)
    after, mask = dissolve(problem, restart, outlying, order, plan)
    assert after.log_joint >= joint
    assert (np.diff(after.trace) > 0.0).all()
    assert after.log_joint == pytest.approx(_joint(problem, after.labels, mask), abs=1e-7)
    again, same = dissolve(problem, after, mask, order, plan)
    assert again is after
    assert same is mask


def test_nothing_is_dissolved_twice_where_nothing_has_changed(monkeypatch):
    problem, labels, _ = _posed(0)
    plan = SearchPlan(outlying_share=SHARE)
    (start,) = starts_from(labels, plan.seeds[:1])
    kept, joint = best_outlying(problem, labels, none_outlying(problem), SHARE)
    restart = RestartResult("here", labels, joint, np.array([joint]), 0, True)
    ended, mask = raise_in_turns(problem, restart, kept, start, plan, look_back=False)
    begun, undisturbed = [], turns.dissolve
    monkeypatch.setattr(turns, "dissolve", lambda *given: begun.append(given[1].labels) or undisturbed(*given))
    # From the end of a search, one with all values kept comes back to it.
    again, same = raise_in_turns(problem, ended, mask, start, plan, look_back=True)
    np.testing.assert_array_equal(again.labels, ended.labels)
    np.testing.assert_array_equal(same, mask)
    assert len(begun) == 1
