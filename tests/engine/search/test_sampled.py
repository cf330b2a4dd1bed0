"""Large cohorts: scans against the plain definition, and the search among a sample."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, schema_of
from problems import mixed_problem

from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.problem import leave_one_out_scores
from clinclust.engine.search import partitioned as scanning
from clinclust.engine.search.settle import adjusted_rand_index, minimum_gain
from clinclust.methods import PublishedMAPDP


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.mark.parametrize("seed", range(3))
def test_a_scan_finds_the_best_cluster_of_everybody_and_adds_them_up(seed, pool):
    problem = mixed_problem(seed, 300, likelihoods=LIKELIHOODS * 2, missing=0.2)
    labels = np.random.default_rng(seed).integers(10, size=300)
    partition = new_partition(problem.cohort.arrays, labels)
    scores = np.zeros((300, 11))  # the last column: a new cluster, which some prefer
    write_scores(problem.cohort.arrays, problem.model, partition, scores)
    cohort = scanning.in_memory(problem, pool, may_lack_any=False).with_labels([labels.astype(np.int32)], 10)
    (found,) = cohort.place.results(cohort.scan(minimum_gain(problem)).best)
    np.testing.assert_array_equal(found.best, scores.argmax(axis=1))
    assert found.n_candidates == (found.best != labels).sum()
    fresh = new_partition(problem.cohort.arrays, found.best.astype(np.int64), found.sizes.size - 2)
    np.testing.assert_array_equal(found.sizes, fresh.sizes)
    np.testing.assert_allclose(found.statistics, fresh.statistics, rtol=1e-12, atol=1e-12)


def test_everybody_is_assigned_to_clusters_of_others(pool):
    problem = mixed_problem(2, 300)
    some = np.arange(0, 300, 3)
    labels = np.random.default_rng(0).integers(3, size=some.size)
    part = problem.restricted_to(some)
    sampled = new_partition(part.cohort.arrays, labels).sums
    best, _ = scanning.in_memory(problem, pool, may_lack_any=False).assigned(sampled).gathered()
    others = np.setdiff1d(np.arange(300), some)
    for subject in others[:40]:
        joint = problem.restricted_to(np.append(some, subject))
        # Alone in cluster 3, and so scored by what the others say of clusters 0 to 2.
        scores = leave_one_out_scores(joint, new_partition(joint.cohort.arrays, np.append(labels, 3)))
        assert best[subject] == scores[-1, :3].argmax()


def _cohort(n_subjects, rare=0.0):
    rng = np.random.default_rng(5)
    groups = rng.choice(4, size=n_subjects, p=[0.5 - rare, 0.3, 0.2, rare])
    yes = rng.random((4, 12))
    yes[3] = 1.0 - yes[0]
    frame = pd.DataFrame((rng.random((n_subjects, 12)) < yes[groups]).astype(float)).add_prefix("x")
    frame["y"] = rng.normal(2.0 * groups)
    answers = {name: "bernoulli" for name in frame if name != "y"}
    return frame, schema_of(frame, **answers), groups


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr("clinclust.engine.search.settle.N_SAMPLED", 400)
    monkeypatch.setattr("clinclust.estimators.fitting.LARGE", 1000)
    monkeypatch.setattr(scanning, "CHUNK", 256)


def test_a_sample_leads_to_the_partition_that_a_search_among_all_finds(small_samples):
    frame, schema, _ = _cohort(1500)
    model = PublishedMAPDP(schema, random_state=0, n_jobs=2).fit(frame)
    assert model.restarts_["start"].str.startswith("sample: ").all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clinclust.estimators.fitting.LARGE", 10_000)
        among_all = PublishedMAPDP(schema, random_state=0).fit(frame)
    assert not among_all.restarts_["start"].str.startswith("sample: ").any()
    assert model.log_joint_ == pytest.approx(among_all.log_joint_, abs=2.0)
    assert adjusted_rand_index(model.labels_, among_all.labels_) > 0.98
    assert (np.diff(model.log_joint_trace_) >= 0.0).all()


def test_a_subtype_too_rare_for_the_sample_is_found_among_all(small_samples):
    frame, schema, groups = _cohort(4000, rare=0.02)
    labels = PublishedMAPDP(schema, random_state=1).fit(frame).labels_
    rare = groups == 3
    (most,) = [cluster for cluster in range(labels.max() + 1) if (labels[rare] == cluster).mean() > 0.6]
    assert (labels == most).sum() < 2 * rare.sum()


def test_threads_change_no_bit_of_a_large_fit(small_samples):
    frame, schema, _ = _cohort(2000)
    fits = [PublishedMAPDP(schema, random_state=3, n_jobs=n_jobs).fit(frame) for n_jobs in (1, 2, 4)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.labels_, fits[0].labels_)
        np.testing.assert_array_equal(other.membership_, fits[0].membership_)
        assert other.log_joint_ == fits[0].log_joint_
        assert other.log_joint_trace_.tolist() == fits[0].log_joint_trace_.tolist()
