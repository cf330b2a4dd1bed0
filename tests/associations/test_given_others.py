"""The analysis of covariance that tells a difference from the relation to other features."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import logit, ols
from statsmodels.stats.anova import anova_lm

from clinclust.associations.associate import given_others as given_splines
from clinclust.associations.associate import natural_spline, normal_scores, splines_of

NAN = np.nan
FAR = 2.5 * np.repeat([[0, 0], [1, 0], [0, 1]], 3, axis=1)  # the means of six others in each of three groups


def given_others(columns, others, groups):
    return given_splines(columns, splines_of(np.where(groups[:, None] < 0, NAN, others)), groups)


def drawn(seed, n=300, shift=0.0, slope=0.5):
    rng = np.random.default_rng([20, seed])
    others = rng.normal(size=(n, 3))
    groups = (others[:, 0] + others[:, 1] > 0).astype(np.int64) + (others[:, 2] > 1)
    own = slope * others.sum(axis=1) + shift * groups + rng.normal(size=n)
    return own[:, None], others, groups


@pytest.mark.parametrize("n_missing", [0, 30])
def test_it_is_the_analysis_of_covariance_of_statsmodels(n_missing):
    own, others, groups = drawn(24, shift=0.4)  # no curve or product is related
    own[:n_missing] = NAN
    seen = ~np.isnan(own[:, 0])
    p = []
    for scale in (np.asarray, normal_scores):
        frame = pd.DataFrame(np.apply_along_axis(scale, 0, others)[seen], columns=list("abc"))
        frame = frame.assign(y=normal_scores(own[seen, 0]), g=groups[seen])
        inside = frame.groupby("g").transform(lambda column: column - column.mean())
        fit = (frame[list("abc")] @ ols("y ~ a + b + c - 1", inside).fit().params).to_numpy()
        frame[["fit1", "fit2", "fit3"]] = natural_spline(fit, 4)[:, 1:]
        model = ols("y ~ a + b + c + fit1 + fit2 + fit3 + C(g)", frame).fit()
        p.append(anova_lm(model, typ=2).loc["C(g)", "PR(>F)"])
    assert given_others(own, others, groups).p == pytest.approx(max(p), rel=1e-8)


def test_a_natural_spline_is_straight_outside_its_knots_and_curved_inside():
    values = np.append(np.linspace(0.0, 1.0, 101), NAN)
    spline = natural_spline(values, 4)
    assert np.isnan(spline[-1]).all()
    bends = np.abs(np.diff(spline[:-1], n=2, axis=0)).max(axis=1)
    assert bends[[0, 1, 2, -3, -2, -1]].max() < 1e-9 < bends[40:60].min()
    np.testing.assert_allclose(spline[:-1].T @ spline[:-1] / 101, np.eye(4), atol=1e-9)
    assert np.corrcoef(spline[:-1, 0], values[:-1])[0, 1] == pytest.approx(1.0)
    assert (natural_spline(np.ones(5), 3) == 0.0).all()


def test_of_two_values_it_is_the_ratio_of_likelihoods_of_statsmodels():
    own, others, groups = drawn(24, shift=0.4)  # no curve or product is related
    is_high = (own > own.mean()).astype(float)
    others = (others > 0).astype(float)  # as values and as normal scores they are the same
    frame = pd.DataFrame(others, columns=list("abc")).assign(y=is_high, g=groups)
    with_groups, without = (logit(f"y ~ a + b + c{g}", frame).fit(disp=False) for g in (" + C(g)", ""))
    df, df2 = 2, 300 - 6
    ratio = 2 * (with_groups.llf - without.llf) * df2 / 300
    assert given_others(is_high, others, groups).p == pytest.approx(stats.f.sf(ratio / df, df, df2), rel=0.02)


RELATIONS = {
    "cut-off": lambda x, noise, share: x[:, 0] > 0,
    "either": lambda x, noise, share: (x[:, 0] > 0.5) | (x[:, 1] > 0.5),
    "logistic": lambda x, noise, share: share < 1 / (1 + np.exp(-2 * x.mean(axis=1))),
    "sigmoid": lambda x, noise, share: 1 / (1 + np.exp(-2.5 * x.mean(axis=1))) + 0.1 * noise,
    "linear": lambda x, noise, share: x.mean(axis=1) + 0.5 * noise,
    "scale": lambda x, noise, share: np.digitize(x.mean(axis=1) + 0.4 * noise, [-0.5, 0.0, 0.5]),
}


@pytest.mark.parametrize(
    ("relation", "n_groups"), sorted({*product(RELATIONS, (2, 3))} - {("either", 3)})
)  # as steep as borders
def test_a_column_that_follows_from_the_others_is_no_difference(relation, n_groups):
    def p(seed):
        rng = np.random.default_rng([25, seed])
        groups = rng.integers(n_groups, size=400)
        others = rng.normal(size=(400, 6)) + (1.5 * groups[:, None] - 0.75 if n_groups == 2 else FAR[groups] - 0.8)
        groups = (others.sum(axis=1) > 0).astype(np.int64) if n_groups == 2 else groups
        own = RELATIONS[relation](others, rng.normal(size=400), rng.random(400))
        return given_others(own[:, None].astype(float), others, groups).p

    assert np.mean([p(seed) <= 0.05 for seed in range(30)]) <= 0.15


def test_what_the_others_explain_is_no_difference_and_what_is_added_is_one():
    alike = np.array([given_others(*drawn(seed)).p for seed in range(200)])
    added = np.array([given_others(*drawn(seed, shift=0.8)).p for seed in range(50)])
    assert np.mean(alike <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(added <= 0.01) > 0.9


def test_a_curved_relation_is_explained_too():
    rng, p = np.random.default_rng(21), []
    for _ in range(200):
        other = rng.normal(size=(300, 1))
        p.append(given_others(other**2 + rng.normal(size=(300, 1)), other, np.int64(np.abs(other[:, 0]) > 1)).p)
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_difference_that_turns_round_given_the_others_is_none():
    rng = np.random.default_rng(22)
    groups = np.repeat([0, 1], 150)
    hidden = rng.normal(size=300)
    other = hidden + 3.0 * groups + 0.1 * rng.normal(size=300)
    own = hidden + 0.5 * groups + rng.normal(size=300)
    assert given_others(own[:, None], other[:, None], groups).p == 1.0


def test_many_columns_are_adjusted_for_as_far_as_there_are_subjects():
    rng = np.random.default_rng(23)
    groups = np.repeat([0, 1], 60)
    others = rng.normal(size=(120, 200))
    others[:, 150] += groups
    own = others[:, [150]] + 0.1 * rng.normal(size=(120, 1))
    found = given_others(own, others, groups)
    assert found.strongest == 150
    assert found.correlation > 0.9
    assert found.p > 0.01


def test_missing_others_count_as_the_mean_and_nobody_outside_the_groups_counts():
    own, others, groups = drawn(1, shift=0.6)
    more = np.concatenate([own, own + 9.0]), np.concatenate([others, others - 9.0]), np.append(groups, groups * 0 - 1)
    assert given_others(*more) == given_others(own, others, groups)
    others[:, 2] = NAN
    assert given_others(own, others, groups).p == pytest.approx(given_others(own, others[:, :2], groups).p)


@pytest.mark.parametrize("what", ["no others", "one group", "constant", "missing"])
def test_what_cannot_be_tested_has_no_p(what):
    own, others, groups = drawn(2)
    own = {"constant": np.zeros_like(own), "missing": np.full_like(own, NAN)}.get(what, own)
    groups = groups * 0 if what == "one group" else groups
    assert np.isnan(given_others(own, others[:, : 0 if what == "no others" else 3], groups).p)
