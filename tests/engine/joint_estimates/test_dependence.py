"""Powers of blocks: the joint they define, what they are for equal and for independent features, what they change."""

from dataclasses import replace

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import (
    EVERY_LIKELIHOOD,
    LIKELIHOODS,
    feature,
    gaussian_schema,
    in_table,
    mixed_cohort,
    quick_fit,
    random_hyperparameters,
    with_blocks,
)
from problems import assert_scores_are_differences_of_the_joint, joint_with_gaps, problem_of
from scored import few

from clinclust import Feature, FeatureSchema, log_joint
from clinclust.engine.joint_estimates.resolution import (
    block_weight,
    implied_weights,
    independent_share,
    reproduced_weights,
    within_clusters,
)
from clinclust.engine.problem.problem import joint_of, pose
from clinclust.engine.search.settle import adjusted_rand_index, merge_gains
from clinclust.likelihoods import REGISTRY
from clinclust.methods import PublishedMAPDP

POWERS = {"block 0": 0.25, "block 1": 0.6}


WITH_POWERS = [likelihood for likelihood in EVERY_LIKELIHOOD if not REGISTRY[likelihood].is_chained]


def posed(seed, n=30, powers=POWERS, **options):
    """Return a problem with blocks, and the columns for the oracle."""
    frame, schema, columns, _ = mixed_cohort(seed, n, **options)
    schema = with_blocks(schema)
    valid = schema.validate(frame, warn=False)
    return pose(valid, schema, None, 3.0, 0.8, powers), columns, frame, schema


def repeated(likelihood, times, seed=0, n=300, n_groups=3, block="same"):
    """Return (frame, schema, groups): one column `times` times in one block, beside four that are not repeated."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n)
    column = REGISTRY[likelihood].examples()[0].column(rng, groups, n_groups)
    features = [feature(f"same_{again}", likelihood, block=block) for again in range(times)]
    frame = {one.name: in_table(one, column) for one in features}
    for place in range(4):
        features.append(Feature(name=f"other_{place}", likelihood="gaussian"))
        frame[f"other_{place}"] = rng.normal(1.5 * rng.permutation(n_groups)[groups], 1.0)
    return pd.DataFrame(frame), FeatureSchema(features), groups


# --- the joint ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", few(range(4), 1))
def test_the_joint_is_that_of_scipy_with_the_log_marginals_of_each_block_to_its_power(seed, missing):
    _, columns, frame, schema = posed(seed, 25, missing=missing)
    rng = np.random.default_rng(seed)
    labels, hyperparameters = rng.integers(3, size=25), random_hyperparameters(rng, columns)

    def of(names, coarsening):
        some = {name: columns[name] for name in names}
        return oracles.log_joint(some, labels, hyperparameters, 2.0, coarsening=coarsening)

    prior = of([], 1.0)
    expected = prior + sum(of([one.name], 0.7 * POWERS.get(one.block, 1.0)) - prior for one in schema)
    numbers = {"coarsening": 0.7, "block_weights": POWERS}
    assert log_joint(frame, labels, schema, hyperparameters, 2.0, **numbers) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_scores_and_mergers_are_differences_of_the_joint(missing):
    problem, *_ = posed(2, likelihoods=EVERY_LIKELIHOOD * 2, missing=missing)
    labels = np.random.default_rng(2).integers(4, size=30)
    labels[:2] = 4, 5  # two subjects alone
    assert_scores_are_differences_of_the_joint(problem, labels)
    gains = merge_gains(problem, problem.partition(labels))
    for first, second in zip(*np.triu_indices(6, 1), strict=True):
        merged = joint_with_gaps(problem, np.where(labels == second, first, labels))
        assert gains[first, second] == pytest.approx(merged - joint_of(problem, labels), abs=1e-9)


# --- the powers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("likelihood", "times"), [(one, 2 + place % 3) for place, one in enumerate(WITH_POWERS)])
def test_equal_features_count_for_one(likelihood, times):
    frame, schema, groups = repeated(likelihood, times, n=3000)
    problem = problem_of(frame, schema)
    powers = implied_weights(problem, groups[problem.cohort.order])
    equal = [one.block == "same" for one in problem.cohort.encoding.features]
    assert powers[equal] == pytest.approx(1 / times, rel=0.02)
    assert (powers[np.invert(equal)] == 1.0).all()


def test_dependence_in_chunks_of_subjects_is_that_of_all_at_once(monkeypatch):
    frame, schema, _, groups = mixed_cohort(0, 300, likelihoods=LIKELIHOODS * 2, missing=0.2)
    arrays = problem_of(frame, schema).cohort.arrays
    whole = within_clusters(arrays, groups)
    monkeypatch.setattr("clinclust.engine.search.partitioned.CHUNK", 64)
    for in_chunks, at_once in zip(within_clusters(arrays, groups), whole, strict=True):
        np.testing.assert_allclose(in_chunks, at_once, rtol=1e-10, atol=1e-10)


def test_features_that_are_independent_within_clusters_count_in_full():
    rng = np.random.default_rng(1)
    groups = rng.integers(3, size=5000)
    values = rng.normal(3.0 * groups[:, None], 1.0, (5000, 6))
    names = [f"x{place}" for place in range(6)]
    schema = gaussian_schema(names, block="all")
    problem = problem_of(pd.DataFrame(values, columns=names), schema)
    within = block_weight(problem, np.arange(6), groups[problem.cohort.order])
    assert 0.97 < within <= 1.0
    assert block_weight(problem, np.arange(6), np.zeros(5000, dtype=np.int64)) < 0.25  # they differ between clusters


def test_the_unit_of_a_cluster_does_not_matter():
    """Nine rows in other units, a cluster of their own, are 3% of the dependence, not all of it."""
    rng = np.random.default_rng(5)
    labels, values = np.repeat([0, 1, 2], [150, 120, 9]), rng.normal(size=(279, 8))
    values[labels == 1, 0] += values[labels == 1, 1]

    def problem(table):
        posed = problem_of(pd.DataFrame(table, columns=list("abcdefgh")))
        return posed, labels[posed.cohort.order]

    def excess(table):
        posed, clusters = problem(table)
        return within_clusters(posed.cohort.arrays, clusters).excess

    units = rng.uniform(0.01, 100.0, size=(3, 8))[labels]
    np.testing.assert_allclose(excess(values), excess(values * units), atol=1e-9)
    rows = np.where(labels == 2, rng.uniform(20.0, 60.0, 279), 1.0)[:, None]
    assert excess(values)[0, 1] > 0.05
    assert independent_share(*problem((values + 50.0) * rows)) == pytest.approx(
        independent_share(*problem(values + 50.0)), abs=0.05
    )


def test_normal_measurements_with_one_correlation_count_for_what_the_formula_says():
    rng, rho = np.random.default_rng(3), 0.7
    values = np.sqrt(rho) * rng.normal(size=(20_000, 1)) + np.sqrt(1 - rho) * rng.normal(size=(20_000, 5))
    names = [f"x{place}" for place in range(5)]
    schema = gaussian_schema(names, block="all")
    problem = problem_of(pd.DataFrame(values, columns=names), schema)
    together = np.zeros(20_000, dtype=np.int64)
    assert block_weight(problem, np.arange(5), together) == pytest.approx(1 / (1 + 4 * rho), rel=0.02)


def test_a_block_of_one_counts_in_full():
    frame, schema, _ = repeated("gaussian", 1, n=80)
    model = quick_fit(frame, schema, block_weights="auto")
    plain = quick_fit(frame, schema)
    assert model.block_weights_ == {"same": 1.0}
    assert model.log_joint_ == plain.log_joint_


def test_powers_take_dependence_into_account_once():
    """The share of a table whose only dependence is that of equal columns is 1 at the powers of these columns."""
    frame, schema, groups = repeated("gaussian", 4, n=2000)
    problem = problem_of(frame, schema)
    labels = groups[problem.cohort.order]
    assert independent_share(problem, labels) < 0.5
    assert independent_share(problem.with_powers(implied_weights(problem, labels)), labels) > 0.97


def test_turns_end_at_powers_that_reproduce_themselves():
    frame, schema, groups = repeated("gaussian", 3)
    problem = problem_of(frame, schema)
    labels = groups[problem.cohort.order]
    tried = []

    def find(posed):
        tried.append(posed.model.powers.min())
        return posed, labels

    found = reproduced_weights(problem, find, lambda: False)
    assert found == pytest.approx(implied_weights(problem, labels), abs=0.01)
    assert 1 <= len(tried) <= 2


# --- what they change -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("likelihood", few(["gaussian", "bernoulli", "binomial", "poisson", "categorical"], 2))
@pytest.mark.parametrize("seed", few(range(2), 1))
def test_a_column_repeated_in_a_block_gives_the_subtypes_of_the_column_once(likelihood, seed):
    once, plain, _ = repeated(likelihood, 1, seed)
    often, schema, _ = repeated(likelihood, 6, seed)
    expected = quick_fit(once, plain, n_restarts=5)
    found = quick_fit(often, schema, block_weights="auto", n_restarts=5)
    assert adjusted_rand_index(found.labels_, expected.labels_) > 0.97
    assert found.n_clusters_ == expected.n_clusters_
    assert found.block_weights_["same"] == pytest.approx(1 / 6, rel=0.05)


@pytest.mark.parametrize(("times", "rho"), few([(8, 0.8), (40, 0.3)], 1))
def test_slices_of_one_quantity_are_no_subtypes(times, rho):
    rng = np.random.default_rng(8)
    values = np.sqrt(rho) * rng.normal(size=(200, 1)) + np.sqrt(1 - rho) * rng.normal(size=(200, times))
    names = [f"systolic_{place}" for place in range(times)]
    schema = gaussian_schema(names, block="pressure")
    frame = pd.DataFrame(values, columns=names)
    assert quick_fit(frame, schema, block_weights="auto", n_restarts=3).n_clusters_ == 1
    assert quick_fit(frame, schema, n_restarts=3).n_clusters_ > 1


def test_stated_powers_give_the_fit_that_estimated_them():
    frame, schema, _, _ = mixed_cohort(3, 80, LIKELIHOODS * 2)
    schema = with_blocks(schema)
    estimated = PublishedMAPDP(schema, block_weights="auto", n_restarts=4, random_state=1).fit(frame)
    stated = PublishedMAPDP(schema, n_restarts=4, random_state=1, block_weights=estimated.block_weights_).fit(frame)
    assert stated.log_joint_ == pytest.approx(estimated.log_joint_, rel=1e-12)
    assert stated.labels_.tolist() == estimated.labels_.tolist()


@pytest.mark.parametrize("options", [{}, {"outlying_share": 0.02}])
def test_new_subjects_are_assigned_with_powers_and_get_densities_without(options):
    frame, schema, groups = repeated("gaussian", 4, n=150)
    low = quick_fit(frame, schema, init=groups, n_restarts=1, block_weights={"same": 0.25}, **options)
    full = replace(low.clusters_, model=low.clusters_.model._replace(powers=np.ones_like(low.clusters_.model.powers)))
    values = {name: frame[name].to_numpy(dtype=float) for name in schema.names}
    assert np.allclose(low.clusters_.scores(dict(values), coarsened=False), full.scores(dict(values), coarsened=False))
    with_powers = low.clusters_.scores(dict(values), coarsened=True)
    assert not np.allclose(with_powers, full.scores(dict(values), coarsened=True))
    if not options:  # four equal columns at a quarter score as one column in full
        one = low.clusters_.model._replace(powers=np.where(low.clusters_.model.powers < 1, 0.25, 1.0))
        assert np.allclose(with_powers, replace(low.clusters_, model=one).scores(dict(values), coarsened=True))


def test_the_criterion_of_the_paper_counts_every_feature_in_full():
    frame, schema, groups = repeated("poisson", 3, n=60)
    options = {"init": groups, "n_restarts": 1, "random_state": 0}
    with_powers = PublishedMAPDP(schema, block_weights={"same": 0.999999}, **options).fit(frame)
    without = PublishedMAPDP(schema, **options).fit(frame)
    assert with_powers.labels_.tolist() == without.labels_.tolist()
    assert with_powers.leave_one_out_nll_ == pytest.approx(without.leave_one_out_nll_, rel=1e-12)
