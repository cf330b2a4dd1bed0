"""Feature selection: one joint of partition and features, never falling, and the features left out cost nothing."""

import itertools

import numpy as np
import oracles
import pandas as pd
import pytest
from attack.joint_law import joint_with as log_joint
from cohorts import LIKELIHOODS, mixed_cohort, quick_fit, schema_of
from problems import problem_of
from scipy import stats
from scipy.special import comb, logsumexp
from scored import few

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.engine.joint_estimates.resolution import (
    best_inclusion,
    log_inclusion,
    mutual_dependence,
    run_selecting_restarts,
)
from clinclust.engine.kernels.moves import log_marginals, new_partition
from clinclust.engine.problem.problem import log_crp
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import search_starts


def _some(seed, n_features):
    rng = np.random.default_rng(seed)
    return rng.random(n_features) < rng.uniform(0.2, 0.8)


def _toy(seed=0, n=120, n_irrelevant=30, missing=0.0):
    """Two groups, six features that tell them apart, of three likelihoods, and irrelevant ones of the same."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1], [n * 2 // 3, n - n * 2 // 3])
    features, frame = [], {}
    for index in range(6 + n_irrelevant):
        apart = groups if index < 6 else np.zeros(n, dtype=int)
        likelihood = ("bernoulli", "poisson", "gaussian")[index % 3]
        name = f"{'signal' if index < 6 else 'noise'}_{index}"
        if likelihood == "bernoulli":
            values = (rng.random(n) < np.array([0.15, 0.85])[apart]).astype(float)
        elif likelihood == "poisson":
            values = rng.poisson(np.array([2.0, 6.0])[apart]).astype(float)
        else:
            values = rng.normal(np.array([0.0, 2.0])[apart], 1.0)
        values[rng.random(n) < missing] = np.nan
        features.append(Feature(name=name, likelihood=likelihood))
        frame[name] = values
    order = rng.permutation(len(features))
    return pd.DataFrame(frame), FeatureSchema([features[i] for i in order]), groups


@pytest.fixture(scope="module")
def toy():
    frame, schema, groups = _toy(missing=0.05)
    model = quick_fit(frame, schema, select_features=True, n_restarts=4, n_jobs=1)
    return model, frame, groups


# --- a problem on some of the features ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", few(range(6), 2))
def test_a_problem_with_fewer_features_is_that_of_a_table_with_fewer_columns(seed):
    frame, schema, _, _ = mixed_cohort(seed, 30, LIKELIHOODS * 2, missing=0.2)
    whole = problem_of(frame, schema, coarsening=0.6)
    included = _some(seed, len(schema))
    included[seed] = True
    some = whole.with_features(included)
    names = [feature.name for feature in some.cohort.encoding.features]
    smaller = FeatureSchema([feature for feature in schema if feature.name in names])
    posed = problem_of(frame[list(smaller.names)], smaller, coarsening=0.6)
    assert some.hyperparameters.keys() == posed.hyperparameters.keys()
    # Fewer columns may put the subjects into another order.
    same = np.argsort(posed.cohort.order)[whole.cohort.order]
    for field in some.cohort.arrays._fields:
        found, expected = getattr(some.cohort.arrays, field), getattr(posed.cohort.arrays, field)
        assert found.dtype == expected.dtype
        assert found.flags.c_contiguous
        expected = expected[same] if field in ("codes", "values") else expected
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=field)
    np.testing.assert_allclose(some.model.prior, posed.model.prior, rtol=1e-10)


@pytest.mark.parametrize("seed", few(range(6), 2))
def test_features_left_out_have_one_distribution_for_everybody(seed):
    frame, schema, columns, _ = mixed_cohort(seed, 25, LIKELIHOODS * 2, missing=0.2)
    problem = problem_of(frame, schema, coarsening=0.6)
    included = _some(seed, len(schema))
    labels = np.random.default_rng(seed).integers(3, size=25)
    names = {f.name for f, kept in zip(problem.cohort.encoding.features, included, strict=True) if kept}

    def expected(labels, kept):
        chosen = {name: column for name, column in columns.items() if (name in names) == kept}
        return oracles.log_joint(chosen, labels, problem.hyperparameters, 3.0, 0.6)

    together = np.zeros(25, dtype=int)
    shared = expected(together, False) - oracles.log_joint({}, together, {}, 3.0, 0.6)
    some = problem.with_features(included)
    codes = np.unique(labels[problem.cohort.order], return_inverse=True)[1]
    assert joint_of(some, some.partition(codes)) == pytest.approx(expected(labels, True) + shared, rel=1e-10)


# --- the joint ----------------------------------------------------------------------------------------------------


def test_the_prior_of_the_features_sums_to_one():
    for n_features in (1, 3, 40):
        numbers = np.arange(n_features + 1)
        logs = [log_inclusion(int(n), n_features) for n in numbers]
        assert (np.exp(logs) * comb(n_features, numbers)).sum() == pytest.approx(1.0, rel=1e-12)
        # The chance of inclusion is integrated out, one feature after the other.
        assert logs[0] == pytest.approx(np.log(1 / (n_features + 1)))
        assert logs[1] == pytest.approx(np.log(1 / (n_features * (n_features + 1))))


@pytest.mark.parametrize("coarsening", [1.0, 0.5])
@pytest.mark.parametrize("seed", few(range(8), 2))
def test_the_closed_form_is_the_best_of_all_selections(seed, coarsening):
    frame, schema, _, groups = mixed_cohort(seed, 14, missing=0.2)
    problem = problem_of(frame, schema, coarsening=coarsening)
    n_features = len(problem.cohort.encoding.features)
    labels = np.random.default_rng(seed).integers(2, size=14) if seed % 2 else groups
    codes = np.unique(labels[problem.cohort.order], return_inverse=True)[1].astype(np.int64)

    def joint(included):
        some = problem.with_features(included)
        return joint_of(some, some.partition(codes)) + log_inclusion(int(included.sum()), n_features)

    selections = [np.array(bits) for bits in itertools.product([False, True], repeat=n_features)]
    best = max(joint(included) for included in selections)
    assert joint(best_inclusion(problem, codes)[1]) == pytest.approx(best, rel=1e-10)
    found = log_joint(frame, labels, schema, None, 3.0, select_features=True, coarsening=coarsening)
    assert found == pytest.approx(best, rel=1e-10)


def _best_of_all(problem):
    """Return the highest joint of all partitions and selections, from the marginals of every possible cluster."""
    arrays, model, n = problem.cohort.arrays, problem.model, problem.cohort.n_subjects
    members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    statistics = new_partition(arrays, np.arange(n)).statistics[:n]
    marginals = model.coarsening * log_marginals(arrays, model.prior, members @ statistics)
    n_features = marginals.shape[1]
    log_prior = np.array([log_inclusion(m, n_features) for m in range(n_features + 1)])
    best = -np.inf
    for labels in oracles.partitions(n):
        masks = np.bincount(labels, weights=2.0 ** np.arange(n)).astype(int)
        gains = np.sort(marginals[masks].sum(axis=0) - marginals[-1])[::-1]
        selected = (np.concatenate([[0.0], gains.cumsum()]) + log_prior).max()
        best = max(best, selected + log_crp(np.bincount(labels).astype(float), model.concentration))
    return best + marginals[-1].sum() + model.coarsening * problem.cohort.log_base


@pytest.mark.simulation
def test_the_search_finds_the_best_of_all_partitions_and_selections(some):
    found, selected, divided = [], [], []
    for seed in some(range(20), few=8):
        rng = np.random.default_rng(seed)
        likelihoods = rng.choice(LIKELIHOODS, size=int(rng.integers(3, 9)))
        frame, schema, _, _ = mixed_cohort(seed, 6, likelihoods, n_groups=2)
        numbers = {} if seed % 2 else {"coarsening": 0.8}
        problem = problem_of(frame, schema, concentration=1.0, **numbers)
        starts = search_starts(6, np.random.SeedSequence(0).spawn(10))
        restarts = run_selecting_restarts(problem, starts, SearchPlan(n_jobs=1, refine=False))
        winner = max(restarts, key=lambda restart: restart.log_joint)
        found.append(winner.log_joint >= _best_of_all(problem) - 1e-8)
        selected.append(winner.included.mean())
        divided.append(winner.labels.max() > 0)
    assert np.mean(found) >= 0.95
    assert np.any(divided)
    assert 0.0 < np.mean(selected) < 1.0


def test_dependence_is_that_of_ranks_and_of_contingency_tables():
    rng = np.random.default_rng(1)
    x = rng.normal(size=150)
    y = np.exp(x + rng.normal(size=150))
    y[rng.random(150) < 0.2] = np.nan
    kind = np.array(["a", "b", "c"])[np.digitize(x + rng.normal(size=150), [-0.7, 0.6])]
    other = np.array(["u", "v"])[(rng.random(150) < np.where(kind == "a", 0.8, 0.3)).astype(int)]
    frame = pd.DataFrame({"x": x, "y": y, "kind": kind, "other": other})

    levels = {"kind": ("a", "b", "c"), "other": ("u", "v")}
    schema = schema_of("xy", **{name: {"likelihood": "categorical", "levels": levels[name]} for name in levels})

    def score(*pair):
        arrays = problem_of(frame[list(pair)], schema.restricted_to(pair)).cohort.arrays
        scores = mutual_dependence(arrays)
        assert scores[0] == pytest.approx(scores[1], rel=1e-12)
        return scores[0] + 2 * np.log(2)

    seen = ~np.isnan(y)
    assert score("x", "y") == pytest.approx(seen.sum() * stats.spearmanr(x[seen], y[seen])[0] ** 2, rel=0.02)
    table = pd.crosstab(kind, other)
    assert score("kind", "other") == pytest.approx(stats.chi2_contingency(table, correction=False)[0] / 2, rel=1e-9)


# --- where the search begins --------------------------------------------------------------------------------------


def test_relevant_and_irrelevant_features_are_told_apart(toy):
    model, _, groups = toy
    assert model.n_clusters_ == 2
    assert max(np.mean(model.labels_ == groups), np.mean(model.labels_ != groups)) > 0.97
    assert set(model.selected_features_) == {name for name in model.schema_.names if name.startswith("signal")}
    assert model.selected_features_ == [name for name in model.schema_.names if name in model.selected_features_]
    assert set(model.feature_relevance_.index) == set(model.schema_.names)
    assert (model.feature_relevance_[model.selected_features_] > 0).all()


@pytest.mark.simulation
def test_where_nothing_is_to_be_found_nothing_is():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"x{i}": (rng.random(200) < rng.uniform(0.2, 0.8)).astype(float) for i in range(100)})
    model = quick_fit(frame, schema_of([], **dict.fromkeys(frame, "bernoulli")), select_features=True, n_restarts=4)
    assert model.n_clusters_ == 1
    assert model.selected_features_ == []
    assert model.membership_.tolist() == [[1.0]] * 200


# --- what the clusters then say -----------------------------------------------------------------------------------


def test_excluded_features_say_nothing_about_a_new_subject(toy):
    model, frame, _ = toy
    noise = [name for name in frame if name not in model.selected_features_]
    new = frame.head(20)
    changed = new.assign(**{name: new[name].to_numpy()[::-1] for name in noise})
    np.testing.assert_allclose(model.predict_proba(changed), model.predict_proba(new), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(new.assign(**dict.fromkeys(noise, np.nan))), model.predict_proba(new)
    )
    assert (np.abs(model.score_samples(changed) - model.score_samples(new)) > 1e-3).any()


def test_the_density_of_a_new_subject_shares_the_excluded_features(toy):
    model, frame, _ = toy
    new = frame.iloc[[3, 77, 110]]
    kinds = {feature.name: feature.likelihood for feature in model.schema_}

    def density(name, row, members):
        values = frame[name].to_numpy()[members]
        x = new[name].iloc[row]
        if np.isnan(x):
            return 0.0
        return oracles.log_predictive(kinds[name], model.hyperparameters_[name], values[~np.isnan(values)], x)

    sizes = [*model.cluster_sizes_, 3.0]
    found = model.score_samples(new)
    for row in range(3):
        terms = []
        for k, size in enumerate(sizes):
            own = np.flatnonzero(model.labels_ == k)
            terms.append(np.log(size / (len(frame) + 3.0)))
            for name in frame:
                terms[-1] += density(name, row, own if name in model.selected_features_ else np.arange(len(frame)))
        assert found[row] == pytest.approx(logsumexp(terms), rel=1e-9)


def test_membership_and_the_papers_quantity_leave_the_subject_out():
    frame, schema, _ = _toy(2, n=40, n_irrelevant=15, missing=0.1)
    model = quick_fit(frame, schema, select_features=True)
    kinds = {feature.name: feature.likelihood for feature in schema}
    excluded = [name for name in frame if name not in model.selected_features_]
    assert model.n_clusters_ > 1
    assert excluded

    def density(names, i, members):
        total = 0.0
        for name in names:
            x, before = frame[name].iloc[i], frame[name].to_numpy()[members]
            if not np.isnan(x):
                prior = model.hyperparameters_[name]
                total += oracles.log_predictive(kinds[name], prior, before[~np.isnan(before)], x)
        return total

    expected = -log_crp(model.cluster_sizes_.astype(float), 3.0)
    for i in range(40):
        others = np.arange(40) != i
        mine = [others & (model.labels_ == k) for k in range(model.n_clusters_)]
        densities = np.array([density(model.selected_features_, i, members) for members in mine])
        weights = np.log([members.sum() or 3.0 for members in mine]) + densities  # alone, one is weighed as new
        np.testing.assert_allclose(model.membership_[i], np.exp(weights - logsumexp(weights)), rtol=1e-8, atol=1e-12)
        expected -= densities[model.labels_[i]] + density(excluded, i, others)
    assert model.leave_one_out_nll_ == pytest.approx(expected, rel=1e-9)


def test_a_missing_value_of_an_excluded_feature_is_filled_in_alike_for_everybody(toy):
    model, frame, _ = toy
    excluded, selected = "noise_8", "signal_2"  # both Gaussian
    emptied = frame.assign(**{excluded: np.nan, selected: np.nan})
    filled = model.impute(emptied)
    assert filled[excluded].to_numpy() == pytest.approx(filled[excluded].iloc[0], rel=1e-12)
    assert filled[excluded].iloc[0] == pytest.approx(frame[excluded].mean(), abs=0.05)
    assert len(set(filled[selected])) > 2


def test_a_saved_selection_comes_back(toy, tmp_path):
    model, frame, _ = toy
    loaded = MAPDP.load(model.save(tmp_path / "model"))
    assert loaded.selected_features_ == model.selected_features_
    assert loaded.select_features is True
    assert loaded.score_samples(frame).tobytes() == model.score_samples(frame).tobytes()
    assert loaded.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    pd.testing.assert_series_equal(loaded.feature_relevance_, model.feature_relevance_, check_exact=True)
