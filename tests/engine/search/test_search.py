"""The search: exact on small cohorts, monotone always, the same for every order and number of threads."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, mixed_cohort, with_blocks
from problems import assert_scores_are_differences_of_the_joint, mixed_problem, problem_of, scores_of
from scipy.special import gammaln
from scored import few

from clinclust import Feature, FeatureSchema
from clinclust.engine.kernels.moves import log_marginals, new_partition
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.search import settle
from clinclust.engine.search.plan import SearchCancelled, SearchPlan
from clinclust.engine.search.settle import adjusted_rand_index, compact, merge_all, run_restarts, search_starts
from clinclust.estimators.fitting import search
from clinclust.methods import PublishedMAPDP


def _enumerate(n):
    """Return every partition of n subjects: the bit masks of its clusters (0 = none), and their sizes."""
    labels = np.array(list(oracles.partitions(n)))
    return np.array([np.bincount(row, weights=2.0 ** np.arange(n), minlength=n) for row in labels]).astype(int)


CLUSTERS = {n: _enumerate(n) for n in (5, 6, 7, 8)}


def best_of_all(problem):
    """Return the highest joint of all partitions, from the marginal of every possible cluster."""
    n, model = problem.cohort.n_subjects, problem.model
    members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    statistics = new_partition(problem.cohort.arrays, np.arange(n)).statistics[:n]
    weight = np.zeros(2**n)
    marginals = log_marginals(problem.cohort.arrays, model.prior, members[1:] @ statistics).sum(axis=1)
    weight[1:] = model.coarsening * marginals + gammaln(members[1:].sum(axis=1))
    opened = np.log(model.concentration) * (CLUSTERS[n] > 0).sum(axis=1)
    constant = gammaln(model.concentration) - gammaln(model.concentration + n)
    best = (weight[CLUSTERS[n]].sum(axis=1) + opened).max()
    return best + constant + model.coarsening * problem.cohort.log_base


def test_the_default_fit_finds_the_best_of_all_partitions(some):
    rng = np.random.default_rng(2016)
    found = []
    while len(found) < len(some(range(300), few=8)):
        n = int(rng.integers(5, 9))
        kinds = rng.choice(LIKELIHOODS, size=int(rng.integers(2, 8)))
        frame, schema, _, _ = mixed_cohort(int(rng.integers(2**31)), n, kinds, n_groups=int(rng.integers(1, 4)))
        if schema is None:  # by chance no column varies
            continue
        # What `fit` does by default, without what it does for the report.
        problem = problem_of(frame, schema)
        starts = search_starts(n, np.random.SeedSequence(0).spawn(PublishedMAPDP().n_restarts))
        restarts = run_restarts(problem, starts, SearchPlan(n_jobs=1))
        found.append(max(restart.log_joint for restart in restarts) >= best_of_all(problem) - 1e-8)
    assert np.mean(found) >= 0.99


@pytest.mark.parametrize("init", ["search", "single"])
@pytest.mark.parametrize("seed", few(range(3), 1))
def test_the_trace_never_falls_and_ends_at_a_fixed_point(init, seed):
    frame, schema, _, _ = mixed_cohort(seed, n=90, likelihoods=LIKELIHOODS * 2)
    model = PublishedMAPDP(schema, init=init, n_restarts=5, random_state=seed).fit(frame)
    assert (np.diff(model.log_joint_trace_) >= 0).all()
    assert model.restarts_["converged"].all()
    problem = problem_of(frame, schema)
    labels = model.labels_[problem.cohort.order]
    scores = scores_of(problem, labels)
    assert (scores.max(axis=1) - scores[np.arange(90), labels] < 1e-6).all()


OPTIONS = [{}, {"select_features": True}, {"missing": "mode"}]
OPTIONS += [{"block_weights": "auto", **more} for more in ({"select_features": True}, {"outlying_share": 0.02}, {})]
OPTIONS += [{"block_weights": "auto", "hyperparameters": "greedy"}]


@pytest.mark.parametrize("options", few(OPTIONS, 4))
def test_neither_the_number_of_threads_nor_the_order_of_the_subjects_changes_a_bit(options):
    frame, schema, _, _ = mixed_cohort(5, n=120, likelihoods=LIKELIHOODS * 2)
    shuffled, options = np.random.default_rng(0).permutation(120), {"random_state": 3, "n_restarts": 6, **options}
    first = PublishedMAPDP(with_blocks(schema), n_jobs=1, **options).fit(frame)
    second = PublishedMAPDP(with_blocks(schema), n_jobs=3, **options).fit(frame.iloc[shuffled])
    assert second.log_joint_ == first.log_joint_
    assert (np.diff(first.log_joint_trace_) >= -1e-9).all()
    assert second.selected_features_ == first.selected_features_
    assert second.block_weights_ == first.block_weights_
    assert (min(first.block_weights_.values(), default=1.0) < 1.0) == ("block_weights" in options)
    assert second.labels_.tolist() == first.labels_[shuffled].tolist()
    assert second.membership_.tobytes() == first.membership_[shuffled].tobytes()
    pd.testing.assert_frame_equal(second.restarts_, first.restarts_, check_exact=True)


def test_given_starts_travel_with_their_subjects():
    frame, schema, _, groups = mixed_cohort(8, n=60)
    shuffled = np.random.default_rng(1).permutation(60)
    first = PublishedMAPDP(schema, init=groups, random_state=3, n_restarts=3).fit(frame)
    second = PublishedMAPDP(schema, init=groups[shuffled], random_state=3, n_restarts=3).fit(frame.iloc[shuffled])
    assert second.labels_.tolist() == first.labels_[shuffled].tolist()
    assert set(first.restarts_["start"]) == {"given"}


@pytest.mark.parametrize("coarsening", few([0.5, 0.3], 1))
def test_other_models_of_partitions_are_searched_as_well(coarsening, some):
    found = []
    for seed in some(range(20), few=3):
        frame, schema, columns, _ = mixed_cohort(seed, 8, n_groups=2)
        model = PublishedMAPDP(schema, coarsening=coarsening, random_state=0).fit(frame)
        assert (np.diff(model.log_joint_trace_) >= 0).all()
        expected = oracles.log_joint(columns, model.labels_, model.hyperparameters_, 3.0, coarsening=coarsening)
        assert model.log_joint_ == pytest.approx(expected, rel=1e-9)
        problem = problem_of(frame, schema, coarsening=coarsening)
        found.append(model.log_joint_ >= best_of_all(problem) - 1e-8)
    assert np.mean(found) >= 0.95


def test_restarts_stop_when_the_best_was_found_three_times():
    rng = np.random.default_rng(0)
    X = rng.normal(np.repeat([0.0, 8.0], 40)[:, None], 1.0, (80, 5))
    restarts = PublishedMAPDP(random_state=0, n_restarts=50).fit(X).restarts_
    begun = restarts[~restarts["start"].isin(["recombined", "perturbed"])]
    best = begun["log_joint"] > begun["log_joint"].max() - 1e-6
    assert best.sum() == 3
    assert best.iloc[-1]
    assert len(PublishedMAPDP(random_state=0, n_restarts=7, init="single").fit(X).restarts_) == 7


def test_merging_goes_on_while_the_joint_rises():
    problem = mixed_problem(11, 40)
    arrays = problem.cohort.arrays
    found = merge_all(problem, np.arange(40) // 2)
    # The same by computing the joint of every merger anew.
    labels = np.arange(40) // 2
    joint = log_joint(problem, new_partition(arrays, labels))
    while True:
        merged = [np.where(labels == b, a, labels) for a in np.unique(labels) for b in np.unique(labels) if a < b]
        joints = [log_joint(problem, new_partition(arrays, compact(m))) for m in merged]
        if not joints or max(joints) <= joint:
            break
        joint, labels = max(joints), merged[int(np.argmax(joints))]
    assert found.tolist() == compact(labels).tolist()


def test_the_papers_start_is_trapped_where_the_search_is_not():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 50)
    X = rng.normal(rng.normal(0, 2.0, (4, 20))[groups], 1.0)
    search = PublishedMAPDP(random_state=0, n_restarts=3).fit(X)
    single = PublishedMAPDP(random_state=0, init="single").fit(X)
    assert search.log_joint_ > single.log_joint_ + 100
    assert adjusted_rand_index(search.labels_, groups) == 1.0


def test_agreement_is_that_of_scikit_learn():
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(3)
    for _ in range(20):
        n = int(rng.integers(1, 40))
        first, second = rng.integers(4, size=n), rng.integers(int(rng.integers(1, 5)), size=n)
        assert adjusted_rand_index(first, second) == pytest.approx(adjusted_rand_score(first, second), abs=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"select_features": True}, {"outlying_share": 0.02}, {"choose_hyperparameters": True}]
)
def test_a_cancelled_search_ends_without_a_result_and_visits_no_other_start(options):
    problem, done = mixed_problem(1, 60), []
    plan = SearchPlan(n_restarts=20, n_jobs=1, **options)
    plan.cancelled.set()
    with pytest.raises(SearchCancelled):
        search(problem, plan)
    progress = SimpleNamespace(stage=lambda *_: nullcontext(lambda: done.append(True)))
    plan = SearchPlan(n_restarts=500, n_jobs=1, start="single", refine=False, progress=progress)
    threading.Timer(0.05, plan.cancelled.set).start()
    with pytest.raises(SearchCancelled):
        search(problem, plan)
    assert len(done) < 500


def test_gains_of_mergers_do_not_depend_on_how_many_are_computed_at_once(monkeypatch):
    problem = mixed_problem(5, 40)
    labels = np.random.default_rng(0).permutation(np.arange(40) % 12)
    together = settle.merge_gains(problem, new_partition(problem.cohort.arrays, labels))

    monkeypatch.setattr(settle, "_NUMBERS_AT_ONCE", 100)
    in_portions = settle.merge_gains(problem, new_partition(problem.cohort.arrays, labels))

    assert np.isfinite(together[np.triu_indices(12, k=1)]).all()
    np.testing.assert_array_equal(in_portions, together)


def test_a_long_scale_of_few_values_is_scored_by_its_trials_not_by_its_levels():
    rng = np.random.default_rng(0)
    columns = {f"x{number}": rng.choice([0.0, 3.0, 250.0], size=30) for number in range(9)}
    frame = pd.DataFrame(columns)
    schema = FeatureSchema([Feature(name=name, likelihood="binomial", trials=250) for name in columns])
    problem = problem_of(frame, schema)
    assert problem.cohort.arrays.level_values.size == 1 + 9 * 3  # and a row for missing values
    assert_scores_are_differences_of_the_joint(problem, rng.permutation(np.arange(30) % 3), atol=1e-8)


@pytest.mark.filterwarnings("ignore:.*described clearly better by another likelihood")
@pytest.mark.parametrize("values", few([[0, 1, 100_000], [50_000, 100_000], [10_000, 20_000]], 1))
def test_a_fit_of_counts_whose_terms_are_large_ends(values):
    """Rounding errors of terms of a hundred million nats were taken for gains, again and again."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({f"x{number}": rng.choice(values, 160) for number in range(3)})
        schema = FeatureSchema([Feature(name=name, likelihood="poisson") for name in frame])
        model = PublishedMAPDP(schema, random_state=1, n_restarts=4).fit(frame)
        assert (np.diff(model.log_joint_trace_) >= -1e-4).all()
        assert model.n_clusters_ == len((frame // 10_000).drop_duplicates())  # 0 and 1 are hardly different
