"""Markov chains of partitions against the exact posterior over all partitions of a few subjects."""

from threading import Event

import numpy as np
import pandas as pd
import pytest
from oracles import partitions
from problems import problem_of
from scipy.special import gammaln
from scored import few

import clinclust as cc
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.sampling import chains
from clinclust.engine.sampling.chains import Chain, divide_or_merge, draw_concentration, far_first, run_chains
from clinclust.engine.search.plan import SearchCancelled, SearchPlan

N_SUBJECTS, N_BATCHES = 6, 40


def in_order(labels):
    first = {}
    return tuple(first.setdefault(label, len(first)) for label in labels)


@pytest.mark.parametrize(("n_subjects", "n_clusters", "n_draws"), few([(20, 6, 1000), (20, 1, 4000), (20, 6, 4000)], 1))
def test_the_concentration_is_drawn_from_its_posterior(n_subjects, n_clusters, n_draws):
    """p(N0 | N, K) is that of N0^K Gamma(N0) / Gamma(N0 + N) times the exponential prior with mean 3, by quadrature."""
    u = np.linspace(-25.0, 8.0, 20_001)
    at = np.exp(u)
    log_density = (n_clusters + 1) * u + gammaln(at) - gammaln(at + n_subjects) - at / 3.0
    weights = np.exp(log_density - log_density.max())
    rng, concentration, drawn = np.random.default_rng(0), 3.0, []
    for _ in range(n_draws):
        concentration = draw_concentration(concentration, n_subjects, n_clusters, rng)
        drawn.append(np.log(concentration))
    for power in (1, 2):
        batches = (np.array(drawn) ** power).reshape(N_BATCHES, -1).mean(axis=1)
        expected = (weights @ u**power) / weights.sum()
        assert abs(batches.mean() - expected) < 4.0 * batches.std(ddof=1) / np.sqrt(N_BATCHES)


def posed(coarsening=1.0, seed=0):
    """Six subjects in two groups, a feature of each likelihood, some values missing."""
    rng = np.random.default_rng(seed)
    group = np.arange(N_SUBJECTS) // 3
    columns = {
        "gaussian": rng.normal(1.5 * group),
        "bernoulli": np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
        "binomial": rng.binomial(4, 0.3 + 0.4 * group).astype(float),
        "categorical": rng.choice(["a", "b", "c"], N_SUBJECTS),
        "ordinal": rng.choice(["a", "b", "c"], N_SUBJECTS),
        "poisson": rng.poisson(1.0 + 2.0 * group).astype(float),
        "negative_binomial": rng.poisson(2.0, N_SUBJECTS).astype(float),
        "geometric": rng.geometric(0.4, N_SUBJECTS) - 1.0,
        "exponential": rng.exponential(1.0 + group),
    }
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})
    for place, name in enumerate(columns):
        frame.loc[place % N_SUBJECTS, name] = None
    more = {
        "binomial": {"trials": 4},
        "categorical": {"levels": ("a", "b", "c")},
        "ordinal": {"levels": ("a", "b", "c")},
    }
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood=name, **more.get(name, {})) for name in columns])
    return problem_of(frame, schema, concentration=1.0, coarsening=coarsening)


def exact(problem):
    """The posterior probability of every partition."""
    every = [in_order(list(labels)) for labels in partitions(N_SUBJECTS)]
    joints = [log_joint(problem, new_partition(problem.cohort.arrays, np.array(labels))) for labels in every]
    weights = np.exp(joints - np.max(joints))
    return dict(zip(every, weights / weights.sum(), strict=True))


def assert_drawn_from(expected, drawn):
    """Each probability lies within five standard errors of its share of the draws; errors by means of batches."""
    z = []
    for labels, probability in expected.items():
        hits = np.array([each == labels for each in drawn], dtype=float)
        batches = hits.reshape(N_BATCHES, -1).mean(axis=1)
        error = max(batches.std(ddof=1) / np.sqrt(N_BATCHES), np.sqrt(probability / len(drawn)), 1.0 / len(drawn))
        z.append((hits.mean() - probability) / error)
    assert np.abs(z).max() < 5.0
    assert np.sqrt(np.mean(np.square(z))) < 1.3


@pytest.mark.simulation
@pytest.mark.parametrize(("coarsening", "n_draws"), few([(0.4, 2400), (1.0, 8000), (0.4, 8000)], 1))
def test_a_chain_draws_from_the_posterior_of_all_partitions(coarsening, n_draws):
    problem = posed(coarsening)
    chain = Chain(problem, np.zeros(N_SUBJECTS, dtype=np.int64), np.random.default_rng(1), False, n_draws)
    chain.run(n_draws, Event())
    drawn = [in_order(labels.tolist()) for labels, _ in chain.kept]
    assert_drawn_from(exact(problem), drawn)
    assert chain.n_accepted > 0


def drawn_by_divisions_and_mergers(problem):
    rng, drawn_first = np.random.default_rng(2), far_first(problem)
    assert drawn_first.sum() == pytest.approx(1.0)
    partition = new_partition(problem.cohort.arrays, np.zeros(N_SUBJECTS, dtype=np.int64))
    drawn = []
    for _ in range(20_000):
        labels = divide_or_merge(problem, partition, drawn_first, rng)
        if labels is not None:
            partition = new_partition(problem.cohort.arrays, labels)
        drawn.append(in_order(partition.labels.tolist()))
    return drawn


@pytest.mark.simulation
def test_divisions_and_mergers_alone_draw_from_the_posterior():
    problem = posed(0.3)
    assert_drawn_from(exact(problem), drawn_by_divisions_and_mergers(problem))


@pytest.mark.simulation
def test_a_pair_drawn_by_its_clusters_needs_its_ratio(monkeypatch):
    monkeypatch.setattr(chains, "_log_ratio_of_pair", lambda *_: 0.0)
    problem = posed(0.3)
    with pytest.raises(AssertionError):
        assert_drawn_from(exact(problem), drawn_by_divisions_and_mergers(problem))


def test_the_probability_of_a_pair_is_counted():
    """Of clusters of 3, 2 and 1: each pair as often as `_log_ratio_of_pair` takes it to be."""
    problem = posed()
    labels = np.array([0, 0, 0, 1, 1, 2])
    partition, rng = new_partition(problem.cohort.arrays, labels), np.random.default_rng(4)
    drawn = [chains._pair_by_cluster(partition, rng) for _ in range(6000)]
    share = {pair: np.mean([tuple(each) == pair for each in drawn]) for pair in [(0, 1), (3, 4), (0, 5), (5, 3)]}
    # 1 / (2 L n (n - 1)) inside a cluster, 1 / (2 K (K - 1) n_1 n_2) between two
    expected = {(0, 1): 1 / 24, (3, 4): 1 / 8, (0, 5): 1 / 36, (5, 3): 1 / 24}
    assert share == pytest.approx(expected, abs=0.012)
    ratio = chains._log_ratio_of_pair(np.array([1.0]), np.array([3.0, 2.0]))
    assert ratio == pytest.approx(np.log((1 / (2 * 6 * 6)) / (1 / (2 * 1 * 5 * 4))))


def test_a_step_returns_the_log_joint_of_labels_without_gaps():
    problem = posed()
    chain = Chain(problem, np.arange(N_SUBJECTS), np.random.default_rng(3), draws_concentration=False)
    for _ in range(50):
        joint, labels = chain.step(), chain.partition.labels
        assert set(labels.tolist()) == set(range(labels.max() + 1))
        assert joint == pytest.approx(log_joint(problem, new_partition(problem.cohort.arrays, labels)))


STARTS = [np.zeros(N_SUBJECTS, dtype=np.int64), np.arange(N_SUBJECTS)]


def test_chains_stop_when_they_agree_and_are_the_same_on_any_number_of_threads():
    problem = posed()
    one, two = (run_chains(problem, STARTS, SearchPlan(7, max_sweeps=6400, n_jobs=n), 300) for n in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    for name, trace in one.traces.items():
        np.testing.assert_array_equal(trace, two.traces[name])
    assert one.has_converged
    assert one.n_sweeps < 6400
    assert len(one.labels) == len(one.concentrations) <= 2 * 2 * 300
    assert one.traces["log_joint"].shape == (2, one.n_sweeps - one.n_sweeps // 2)
    expected = sum(probability * (max(labels) + 1) for labels, probability in exact(problem).items())
    assert one.traces["n_clusters"].mean() == pytest.approx(expected, abs=0.25)


def test_chains_that_cannot_agree_say_so():
    found = run_chains(posed(), STARTS, SearchPlan(7, max_sweeps=6, n_jobs=1), 300)
    assert not found.has_converged
    assert found.n_sweeps == 6


def test_cancelled_chains_have_no_result():
    cancelled = Event()
    cancelled.set()
    with pytest.raises(SearchCancelled):
        run_chains(posed(), STARTS, SearchPlan(7, max_sweeps=100, n_jobs=1, cancelled=cancelled), 300)
