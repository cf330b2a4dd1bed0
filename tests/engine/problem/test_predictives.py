"""What is told of a missing value of a multivariate Gaussian block: ratios of densities, and draws."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit
from problems import problem_of
from scipy import stats

import clinclust as cc
from clinclust.engine.problem.problem import block_predictive, clusters_of, leave_one_out_scores, log_predictives
from clinclust.likelihoods import REGISTRY

NAMES = ("sys", "dia", "pulse")


def schema_of(names=NAMES):
    return cc.FeatureSchema([cc.Feature(name=name, likelihood="multivariate_gaussian", block="bp") for name in names])


def posed(seed, n=40):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) * [10.0, 5.0, 0.1] + [130.0, 80.0, 1.0]
    frame, schema = pd.DataFrame(values, columns=list(NAMES)), schema_of()
    problem = problem_of(frame, schema)
    labels = np.arange(n) % 2
    return problem, clusters_of(problem, problem.partition(labels)), labels


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("known", [(), (0,), (1,), (0, 2), (0, 1), (1, 2)])
def test_a_conditional_density_is_a_ratio_of_densities(place, known):
    """By the textbook's joint predictive of all three features, with the others integrated out."""
    known = [other for other in known if other != place]
    problem, clusters, labels = posed(1)
    values = problem.cohort.arrays.values
    others = np.isin(np.arange(3), known)
    of_clusters = block_predictive(clusters, [0, 1, 2]).given(place, others, values[:4])
    gaussian = REGISTRY["gaussian"]()
    for k in range(2):
        rows = values[labels == k]
        n = len(rows)
        kappa, degrees = 10.0 / 40 + n, 4.0 + n
        prior = 2.0 * (0.99 * np.corrcoef(values.T) + 0.01 * np.eye(3))  # values are standardised
        average = rows.mean(axis=0)
        within = (rows - average).T @ (rows - average)
        scatter = prior + within + n * (10.0 / 40) / kappa * np.outer(average, average)
        mean, free = n * average / kappa, degrees - 2
        scale = scatter * (kappa + 1) / (kappa * free)
        wanted = [*known, place]
        for row in range(4):
            t = stats.multivariate_t(mean[wanted], scale[np.ix_(wanted, wanted)], df=free)
            at = values[row, wanted]
            expected = t.logpdf(at)
            if known:
                before = stats.multivariate_t(mean[known], scale[np.ix_(known, known)], df=free)
                expected -= before.logpdf(values[row, known])
            found = gaussian.predictive(of_clusters[row, k]).logpdf(values[row, place])
            assert found == pytest.approx(expected, abs=1e-7)


@pytest.fixture(scope="module")
def with_gaps():
    rng = np.random.default_rng(5)
    groups = np.repeat([0, 1], 150)
    pressure = rng.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=300) + 8.0 * groups[:, None]
    whole = pd.DataFrame({"sys": 130 + 10 * pressure[:, 0], "dia": 80 + 5 * pressure[:, 1]})
    gaps = whole.copy()
    gaps.loc[rng.random(300) < 0.2, "dia"] = np.nan
    model = quick_fit(gaps, schema_of(("sys", "dia")), n_restarts=3)
    return model, whole, gaps


@pytest.mark.simulation
def test_imputed_values_follow_the_observed_ones_of_their_block(with_gaps):
    model, whole, gaps = with_gaps
    missing = gaps["dia"].isna()
    error = (model.impute(gaps)["dia"] - whole["dia"])[missing]
    assert error.std() < 0.45 * 5.0  # within groups the standard deviation is 5; given the other pressure 1.56


def test_drawn_values_follow_the_observed_ones_of_their_block(with_gaps):
    """Around the true regression, with its residual standard deviation of 1.56: half of them lie within 1.05.

    The median is asked for, because in some draws a subject is a cluster of its own, and its value from the prior.
    """
    model, _, gaps = with_gaps
    drawn = model.multiple_imputations(gaps, 3, random_state=0)
    groups, missing = np.repeat([0, 1], 150), gaps["dia"].isna().to_numpy()
    for table in drawn:
        expected = 80 + 40 * groups + 0.475 * (table["sys"] - 130 - 80 * groups)
        apart = (table["dia"] - expected).to_numpy()[missing]
        assert 0.6 < np.median(np.abs(apart)) < 1.6


def test_two_missing_values_of_a_subject_are_drawn_together():
    rng = np.random.default_rng(6)
    values = rng.multivariate_normal(np.zeros(3), [[1, 0, 0], [0, 1, 0.97], [0, 0.97, 1]], size=240)
    frame = pd.DataFrame(values, columns=list(NAMES))
    frame.loc[:119, ["dia", "pulse"]] = np.nan
    model = quick_fit(frame, schema_of(), n_restarts=1)
    (table,) = model.multiple_imputations(frame, 1, random_state=1)
    drawn = table.loc[:119]
    assert np.corrcoef(drawn["dia"], drawn["pulse"])[0, 1] > 0.85


def test_values_that_take_no_part_are_told():
    frame = pd.DataFrame(np.random.default_rng(7).normal(size=(30, 3)), columns=list(NAMES))
    frame.loc[:4, "sys"] = np.nan
    frame.loc[10:14, "dia"] = np.nan
    frame.loc[20:24, "pulse"] = np.nan
    with pytest.warns(cc.CohortWarning, match=r"take no part in the search.*bp: 15 value\(s\)"):
        quick_fit(frame, schema_of(), n_restarts=1)


@pytest.mark.parametrize(("name", "value"), [("select_features", True), ("missing", "mode")])
def test_what_is_not_defined_for_a_block_is_refused(name, value):
    frame = pd.DataFrame(np.random.default_rng(8).normal(size=(30, 3)), columns=list(NAMES))
    with pytest.raises(ValueError, match=rf"{name}.* cannot be combined with a block of multivariate Gaussian"):
        cc.methods.PublishedMAPDP(schema_of(), **{name: value}).fit(frame)


def test_explained_terms_of_a_block_sum_to_the_score():
    """ln p of each feature given those before it, in the cluster without the subject: together the block's density."""
    problem, clusters, labels = posed(9)
    encoding = problem.cohort.encoding
    columns = problem.cohort.arrays.values * encoding.scales + encoding.centres
    values = dict(zip(NAMES, columns.T, strict=True))
    left_out = np.ones((3, labels.size), dtype=bool)
    terms = log_predictives(clusters, values, labels, left_out).sum(axis=0)
    scores = leave_one_out_scores(problem, problem.partition(labels))
    weights = np.log(np.bincount(labels)[labels] - 1.0)
    np.testing.assert_allclose(terms, scores[np.arange(labels.size), labels] - weights, atol=1e-9)
