"""The temperature of the probabilities of clusters."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema
from problems import problem_of
from scipy.special import logsumexp

from clinclust import MAPDP
from clinclust.engine.problem.problem import joint_of, leave_one_out_scores, probabilities
from clinclust.engine.sampling import chains
from clinclust.engine.search.plan import SearchCancelled, SearchPlan
from clinclust.engine.search.settle import compact
from clinclust.methods import PublishedMAPDP

NAMES = [f"x{place}" for place in range(8)]
SCHEMA = gaussian_schema(NAMES)


def cohort(seed, n, apart=0.9):
    rng = np.random.default_rng(seed)
    groups = rng.integers(2, size=n)
    return pd.DataFrame(rng.normal(apart * groups[:, None], 1.0, (n, 8)), columns=NAMES), groups


def posed(frame):
    return problem_of(frame, SCHEMA)


def test_the_average_over_draws_is_that_of_all_partitions_into_as_many_clusters(monkeypatch):
    frame, _ = cohort(0, 9, apart=1.5)
    problem = posed(frame)
    labels = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    every = [np.array(each) for each in {tuple(compact(np.array(each))) for each in product((0, 1), repeat=9)}]
    joints = np.array([joint_of(problem, each) for each in every])
    given_others = [probabilities(leave_one_out_scores(problem, problem.partition(each))) for each in every]
    matched = [chains._match_clusters(*both, labels) for both in zip(every, given_others, strict=True)]
    exact = np.einsum("p,pik->ik", np.exp(joints - logsumexp(joints)), matched)
    monkeypatch.setattr(chains, "_SWEEPS", 4000)
    _, found = chains.average_membership(problem, labels, SearchPlan(1))
    np.testing.assert_allclose(found, exact, atol=0.02)


def test_the_temperature_is_the_one_with_the_least_cross_entropy():
    frame, _ = cohort(1, 120)
    problem = posed(frame)
    labels = PublishedMAPDP(SCHEMA, n_clusters=2, random_state=1).fit(frame).labels_[problem.cohort.order]
    _, averaged = chains.average_membership(problem, labels, SearchPlan(5))
    scores = leave_one_out_scores(problem, problem.partition(labels))
    temperatures = np.linspace(1.0, 2.0, 1001)
    entropy = [-(averaged * np.log(probabilities(scores / each) + 1e-300)).sum() for each in temperatures]
    found = chains.temperature(scores, averaged, np.arange(2))
    assert 1.0 < found == pytest.approx(temperatures[np.argmin(entropy)], abs=2e-3)


def test_probabilities_of_draws_are_those_of_the_clusters_that_they_overlap():
    own = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    found = chains._match_clusters(np.array([1, 0, 0]), own, np.array([0, 1, 1]))
    np.testing.assert_array_equal(found, own[:, ::-1])
    lost = chains._match_clusters(np.zeros(3, dtype=np.int64), np.ones((3, 1)), np.array([0, 1, 1]))
    np.testing.assert_array_equal(lost, [[0.0, 1.0]] * 3)


def test_clusters_of_one_subtype_do_not_count_for_the_temperature():
    rng = np.random.default_rng(6)
    far, near = 12.0 * rng.choice([-1.0, 1.0], 200), rng.normal(0.0, 0.5, 200)
    scores = np.column_stack([far + near, far - near, -far])  # the first two are one
    averages = np.column_stack([0.5 * (far > 0.0), 0.5 * (far > 0.0), far < 0.0])
    assert chains.temperature(scores, averages, np.arange(3)) > 2.0
    assert chains.temperature(scores, averages, np.array([0, 0, 1])) == pytest.approx(1.0, abs=1e-3)


def test_one_subtype_needs_no_temperature_and_a_cancelled_run_has_none():
    model = MAPDP(SCHEMA, n_clusters=1, random_state=0, progress=False).fit(cohort(2, 30)[0])
    assert model.temperature_ == 1.0
    problem, plan = posed(cohort(2, 30)[0]), SearchPlan()
    plan.cancelled.set()
    with pytest.raises(SearchCancelled):
        chains.average_membership(problem, np.arange(30) % 2, plan)


def test_a_large_cohort_is_sampled_and_a_cluster_without_a_member_there_is_improbable(monkeypatch):
    monkeypatch.setattr(chains, "_MOST_SUBJECTS", 60)
    problem = posed(cohort(3, 300)[0])
    places, averages = chains.average_membership(problem, np.arange(300) % 2, SearchPlan())
    assert averages.shape == (places.size, 2) == (60, 2)
    rare = np.where(np.arange(300) == np.setdiff1d(np.arange(300), places)[0], 2, np.arange(300) % 2)
    _, averages = chains.average_membership(problem, rare, SearchPlan())
    np.testing.assert_array_equal(averages[:, 2], 0.0)
    np.testing.assert_allclose(averages.sum(axis=1), 1.0)


def test_members_and_new_subjects_have_the_temperature_of_the_fit_and_the_paper_none():
    frame, _ = cohort(4, 200)
    model = MAPDP(SCHEMA, n_clusters=2, random_state=0, progress=False).fit(frame)
    plain = MAPDP(SCHEMA, n_clusters=2, calibrate=False, random_state=0, progress=False).fit(frame)
    assert model.temperature_ > plain.temperature_ == PublishedMAPDP(SCHEMA).fit(frame).temperature_ == 1.0
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    odds, of_plain = (np.log(each[:, 0] / each[:, 1]) for each in (model.membership_, plain.membership_))
    np.testing.assert_allclose(model.temperature_ * odds, of_plain)
    new = cohort(5, 50)[0]
    odds, of_plain = (np.log(each.predict_proba(new)[:, :2]) @ [1.0, -1.0] for each in (model, plain))
    np.testing.assert_allclose(model.temperature_ * odds, of_plain)


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "n_cohorts"), [(100, 60), (300, 40), (2000, 6)])
def test_probabilities_are_right_as_often_as_they_say(n, n_cohorts):
    said, right = [], []
    for seed in range(n_cohorts):
        frame, groups = cohort(seed, n, apart=1.2 if n == 100 else 0.9)
        model = MAPDP(SCHEMA, n_clusters=None, random_state=0, progress=False).fit(frame)
        if model.n_clusters_ != 2:
            continue
        names = np.array([np.bincount(groups[model.labels_ == k]).argmax() for k in range(2)])
        new, of_new = cohort(1000 + seed, 500, apart=1.2 if n == 100 else 0.9)
        of_member, of_other = model.membership_, model.predict_proba(new)[:, :2]
        for chances, true in ((of_member, groups), (of_other, of_new)):
            said.append(chances.max(axis=1).mean())
            right.append((names[chances.argmax(axis=1)] == true).mean())
    assert abs(np.mean(said) - np.mean(right)) < 0.02
