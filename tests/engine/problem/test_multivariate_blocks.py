"""Blocks of multivariate Gaussian features: the textbook's joint and predictive, and laws of the factors."""

import warnings

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import quick_fit
from problems import problem_of, scores_of
from scipy import stats
from scipy.special import multigammaln

import clinclust as cc
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.problem.problem import log_joint
from clinclust.priors.normal_wishart import NormalWishart

NAMES = ("height", "weight", "waist")
SCALES = np.array([0.1, 10.0, 1e4])


def block_schema(names=NAMES, **others):
    features = [cc.Feature(name=name, likelihood="multivariate_gaussian", block="size") for name in names]
    return cc.FeatureSchema([*features, *(cc.Feature(name=name, likelihood=kind) for name, kind in others.items())])


def measured(seed, n, n_groups=2, p=3):
    """Return correlated columns of very different units, float64 (n, p), and the group of each row."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % n_groups
    mixed = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + rng.normal(0, 3, (n_groups, p))[groups]
    return (mixed + 4.0) * SCALES[:p], groups


def a_prior(seed, p=3):
    """Return (mean, kappa, degrees, scatter) of a block, in the units of `measured`."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p)) * SCALES[:p, None]
    return (
        rng.normal(size=p) * SCALES[:p],
        rng.gamma(2.0),
        p - 1 + rng.gamma(2.0),
        root @ root.T + np.diag(SCALES[:p] ** 2),
    )


def by_feature(prior, names=NAMES):
    mean, kappa, degrees, scatter = prior
    return {
        name: {
            "mean": float(mean[place]),
            "kappa": float(kappa),
            "degrees": float(degrees),
            "scatter": scatter[place, : place + 1].tolist(),
        }
        for place, name in enumerate(names)
    }


def updated(prior, values):
    """Return the posterior (mean, kappa, degrees, scatter), by the textbook (Murphy 2012, eqs. 4.209-4.214)."""
    mean, kappa, degrees, scatter = prior
    n = len(values)
    if n == 0:
        return prior
    average = values.mean(axis=0)
    within = (values - average).T @ (values - average)
    apart = average - mean
    return (
        (kappa * mean + n * average) / (kappa + n),
        kappa + n,
        degrees + n,
        scatter + within + kappa * n / (kappa + n) * np.outer(apart, apart),
    )


def log_marginal(prior, values):
    """Return the log marginal of rows (n, p) by the textbook (Murphy 2007, eq. 266)."""
    (_, kappa, degrees, scatter), (n, p) = prior, values.shape
    _, kappa_n, degrees_n, scatter_n = updated(prior, values)
    return (
        -0.5 * n * p * np.log(np.pi)
        + multigammaln(0.5 * degrees_n, p)
        - multigammaln(0.5 * degrees, p)
        + 0.5 * degrees * np.linalg.slogdet(scatter)[1]
        - 0.5 * degrees_n * np.linalg.slogdet(scatter_n)[1]
        + 0.5 * p * (np.log(kappa) - np.log(kappa_n))
    )


def log_predictive(prior, values, new):
    """Return the log density of a new row after rows (n, p), by scipy's multivariate t (Raykov et al. 2016, eq. 20)."""
    mean, kappa, degrees, scatter = updated(prior, values)
    free = degrees - mean.size + 1
    scatter = scatter / np.outer(SCALES, SCALES)  # scipy takes a matrix of very different units for a singular one
    t = stats.multivariate_t(mean / SCALES, scatter * (kappa + 1) / (kappa * free), df=free)
    return t.logpdf(new / SCALES) - np.log(SCALES).sum()


def crp(labels):
    """Return the log probability of a partition alone, with a concentration of 2."""
    return oracles.log_joint({}, labels, {}, 2.0)


def posed(values, prior=None, names=NAMES, concentration=2.0):
    frame, schema = pd.DataFrame(values, columns=list(names)), block_schema(names)
    given = None if prior is None else by_feature(prior, names)
    return problem_of(frame, schema, given, concentration=concentration)


@pytest.mark.parametrize(("seed", "p"), [(0, 1), (1, 2), (2, 3), (3, 3)])
def test_the_joint_is_that_of_the_textbook(seed, p):
    values, groups = measured(seed, 14, p=p)
    prior = a_prior(seed, p)
    schema, frame = block_schema(NAMES[:p]), pd.DataFrame(values, columns=list(NAMES[:p]))
    found = cc.log_joint(frame, groups, schema, by_feature(prior, NAMES[:p]), 2.0)
    expected = crp(groups) + sum(log_marginal(prior, values[groups == k]) for k in range(2))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_scores_are_the_predictives_of_scipy(seed):
    values, groups = measured(seed, 15, n_groups=3)
    prior = a_prior(seed)
    problem = posed(values, prior)
    order = problem.cohort.order
    scores = scores_of(problem, groups[order])
    scores += problem.cohort.encoding.log_jacobian(problem.cohort.arrays)[:, None]
    for place, row in enumerate(order):
        others = np.delete(np.arange(15), row)
        for k in range(4):
            members = others[groups[others] == k]
            weight = np.log(members.size) if k < 3 else np.log(2.0)
            expected = weight + log_predictive(prior, values[members], values[row])
            assert scores[place, k] == pytest.approx(expected, abs=1e-8)


def test_later_missing_values_are_integrated_out_exactly():
    """Rows without the last feature leave the joint of the others as it is, and that of the last given the others."""
    values, groups = measured(5, 24)
    values[::3, 2] = np.nan
    prior = a_prior(5)
    mean, kappa, degrees, scatter = prior
    of_two = (mean[:2], kappa, degrees - 1, scatter[:2, :2])
    seen = ~np.isnan(values[:, 2])
    expected = crp(groups)
    for k in range(2):
        here = values[groups == k]
        full = values[(groups == k) & seen]
        expected += log_marginal(of_two, here[:, :2])
        expected += log_marginal(prior, full) - log_marginal(of_two, full[:, :2])
    frame = pd.DataFrame(values, columns=list(NAMES))
    assert cc.log_joint(frame, groups, block_schema(), by_feature(prior), 2.0) == pytest.approx(expected, abs=1e-9)


def test_a_value_whose_predecessor_is_missing_takes_no_part():
    values, groups = measured(6, 20)
    gaps, without = values.copy(), values.copy()
    gaps[2, 0] = np.nan
    without[2] = np.nan
    found = [
        cc.log_joint(pd.DataFrame(rows, columns=list(NAMES)), groups, block_schema(), by_feature(a_prior(6)), 2.0)
        for rows in (gaps, without)
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_the_most_complete_features_come_first(tmp_path):
    """Then gaps that lie inside each other cost no value, and a fit says its order by the lengths of its rows."""
    values, _ = measured(8, 60)
    frame = pd.DataFrame(values, columns=list(NAMES))
    frame.loc[:19, "height"] = np.nan
    frame.loc[:9, "weight"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quick_fit(frame, block_schema(), n_restarts=1)
    turned = block_schema(("waist", "weight", "height"))
    for schema in (block_schema(), turned):
        assert cc.log_joint(frame, model.labels_, schema) == pytest.approx(model.log_joint_, abs=1e-9)
    found = model.hyperparameters_
    assert [len(found[name]["scatter"]) for name in ("waist", "weight", "height")] == [1, 2, 3]
    # Stated again they are the same prior, in this cohort and in one whose gaps would give another order.
    assert cc.log_joint(frame, model.labels_, block_schema(), found) == pytest.approx(model.log_joint_, abs=1e-9)
    whole = pd.DataFrame(values, columns=list(NAMES))
    matrix = np.zeros((3, 3))
    for row, name in enumerate(("waist", "weight", "height")):
        matrix[row, : row + 1] = matrix[: row + 1, row] = found[name]["scatter"]
    mean = np.array([found[name]["mean"] for name in NAMES])
    prior = (mean, found["height"]["kappa"], found["height"]["degrees"], matrix[::-1, ::-1])
    here, there = (cc.log_joint(whole, model.labels_, block_schema(), one) for one in (found, by_feature(prior)))
    assert here == pytest.approx(there, abs=1e-9)
    model.save(tmp_path / "model")
    again = cc.MAPDP.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.hyperparameters_ == found


def test_rows_of_a_scatter_matrix_that_say_no_order_are_refused():
    values, groups = measured(8, 20)
    frame = pd.DataFrame(values, columns=list(NAMES))
    stated = {"height": {"scatter": [1.0]}, "weight": {"scatter": [1.0]}, "waist": {"scatter": [0.0, 0.0, 1.0]}}
    with pytest.raises(
        ValueError, match=r"weight: scatter must hold 2 number.*give all features of the block a scatter"
    ):
        cc.log_joint(frame, groups, block_schema(), stated)


def test_what_is_left_of_a_block_has_the_marginal_prior():
    values, groups = measured(7, 25)
    mean, kappa, degrees, scatter = prior = a_prior(7)
    kept = np.array([True, False, True])
    smaller = posed(values, prior).with_features(kept)
    places = np.flatnonzero(kept)
    of_kept = (mean[places], kappa, degrees - 1, scatter[np.ix_(places, places)])
    alone = posed(values[:, places], of_kept, tuple(NAMES[place] for place in places))
    np.testing.assert_allclose(smaller.model.prior, alone.model.prior, rtol=1e-12)
    assert smaller.hyperparameters.keys() == {"height", "waist"}
    order = smaller.cohort.order
    partition = new_partition(smaller.cohort.arrays, groups[order])
    pooled = new_partition(smaller.cohort.arrays, np.zeros(25, dtype=np.int64))
    rise = log_joint(smaller, partition) - log_joint(smaller, pooled)
    expected = sum(log_marginal(of_kept, values[groups == k][:, places]) for k in range(2))
    expected += crp(groups) - log_marginal(of_kept, values[:, places]) - crp(np.zeros(25, dtype=int))
    assert rise == pytest.approx(expected, abs=1e-9)


def test_a_lone_far_subject_is_scored_without_itself_to_all_digits():
    values, _ = measured(10, 12)
    values[0] += 1e3 * SCALES
    prior = a_prior(10)
    problem = posed(values, prior)
    scores = scores_of(problem, np.zeros(12, dtype=np.int64))
    scores += problem.cohort.encoding.log_jacobian(problem.cohort.arrays)[:, None]
    place = int(np.flatnonzero(problem.cohort.order == 0)[0])
    expected = np.log(11) + log_predictive(prior, values[1:], values[0])
    assert scores[place, 0] == pytest.approx(expected, rel=1e-6)


def test_impossible_priors_are_all_told():
    def refused(given):
        frame = pd.DataFrame(measured(11, 10)[0], columns=list(NAMES))
        with pytest.raises(ValueError, match="The hyperparameters cannot be used") as refused:
            cc.methods.PublishedMAPDP(block_schema(), hyperparameters=given).fit(frame)
        return str(refused.value)

    given = by_feature(a_prior(11))
    given["weight"]["scatter"][0] = 1e9
    assert "weight: scatter is not that of a positive definite matrix" in refused(given)
    given["weight"] |= {"scatter": [1.0], "kappa": given["weight"]["kappa"] + 1}
    given["waist"] |= {"degrees": 1.5}
    for sentence in ("weight: scatter must hold 2 number", "weight: kappa", "waist: degrees must be above 2"):
        assert sentence in refused(given)


def test_a_block_holds_no_other_likelihood():
    chained = cc.Feature(name="height", likelihood="multivariate_gaussian", block="size")
    with pytest.raises(cc.SchemaError, match=r"falls: block: 'size' is a block of multivariate_gaussian features"):
        cc.FeatureSchema([chained, cc.Feature(name="falls", likelihood="poisson", block="size")])


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
def test_values_far_from_the_others_leave_a_scatter(far):
    """n m^2 of three values of the same size is their sum of squares, up to rounding of either sign."""
    for seed in range(40):
        values = np.full(3, far * np.random.default_rng(seed).uniform(1, 2))
        sums = np.array([3.0, values.sum(), (values**2).sum()])
        after = NormalWishart.posterior(np.array([values[0], 1.0, 2.0, 1.0]), sums)
        assert np.isfinite(NormalWishart.log_normalizer(after))
