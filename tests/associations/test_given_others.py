"""The analysis of covariance that tells a difference from the relation to other features."""

from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of
from scipy import stats
from statsmodels.formula.api import logit, ols
from statsmodels.stats.anova import anova_lm

import clinclust as cc
from clinclust.associations.associate import (
    Grade,
    ValidityChecks,
    grade_of,
    natural_spline,
    normal_scores,
    one_row_each,
    p_whatever_is_missing,
    splines_of,
)
from clinclust.associations.associate import given_others as given_splines
from clinclust.associations.refit import Subtypes, TestRules

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
    for of_own, of_others in product((np.asarray, normal_scores), repeat=2):
        frame = pd.DataFrame(np.apply_along_axis(of_others, 0, others)[seen], columns=list("abc"))
        frame = frame.assign(y=of_own(own[seen, 0]), g=groups[seen])
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
    "product": lambda x, noise, share: x[:, 0] * x[:, 1] + noise,
    "step": lambda x, noise, share: (x.mean(axis=1) > 0) + 0.1 * noise,
    "scale": lambda x, noise, share: np.digitize(x.mean(axis=1) + 0.4 * noise, [-0.5, 0.0, 0.5]),
}


@pytest.mark.parametrize(("relation", "n_groups"), list(product(RELATIONS, (2, 3))))
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


# --- the grades of the tests ------------------------------------------------------------------------------------------


@pytest.mark.simulation
def test_values_missing_by_their_size_could_undo_a_difference():
    for seed in range(8):
        rng = np.random.default_rng([6, seed])
        half = np.repeat([0.0, 1.0], 150)
        frame = pd.DataFrame(rng.normal(size=(300, 5)) + 3.0 * half[:, None]).rename(columns="x{}".format)
        noise = rng.normal(size=300)
        in_one = (half == 1) & (noise > 0.3)
        at_ends = np.where(half == 1, noise > 1.0, noise < -1.0)  # in equal shares
        frame["noise"] = np.where(at_ends if seed % 2 else in_one, np.nan, noise)
        row = cc.validated_associations(quick_fit(frame), frame, progress=False).set_index("feature").loc["noise"]
        assert row["q"] < 0.01
        assert row["p_whatever_is_missing"] > 0.05
        assert "could be undone by what is missing: whatever the values are, p is at most " in row["remark"]
        assert row["grade"] == "differs"


@pytest.mark.simulation
def test_whatever_is_missing_p_is_at_least_that_of_every_completion():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 40)
    values = rng.normal(size=120) + 0.8 * labels
    holes = values.copy()
    holes[rng.random(120) < 0.1 * (labels + 1)] = np.nan
    found, rules = Subtypes(np.arange(120), labels), TestRules(3)
    bound = p_whatever_is_missing(holes, found, rules, is_nominal=False)
    cuts = np.quantile(holes[~np.isnan(holes)], (0.25, 0.5, 0.75), method="lower")
    for _ in range(200):
        filled = np.where(np.isnan(holes), rng.choice([-9.0, 9.0, *cuts, *(cuts + 0.01)], 120), holes)
        p = [stats.chi2_contingency(pd.crosstab(filled > cut, labels), correction=False).pvalue for cut in cuts]
        assert bound >= min(1.0, 3 * min(p)) * (1 - 1e-3)
    few = Subtypes(np.arange(24), labels[::5])
    assert p_whatever_is_missing(holes[::5], few, rules, is_nominal=False) == 1.0
    full = p_whatever_is_missing(values, found, rules, is_nominal=False)
    cuts = np.quantile(values, (0.25, 0.5, 0.75), method="lower")
    p = [stats.chi2_contingency(pd.crosstab(values > cut, labels), correction=False).pvalue for cut in cuts]
    assert full == pytest.approx(3 * min(p), rel=0.01)  # nothing is missing: Pearson's chi-squared


def test_of_persons_with_several_rows_one_row_is_taken():
    all_rows = Subtypes(np.array([4, 0, 1, 3]), np.array([0, 1, 1, 0]))
    persons = np.array([7, 7, 8, 9, 9])
    found = one_row_each(all_rows, TestRules(3, persons=persons))
    assert found.rows.tolist() == [0, 3]
    assert found.labels.tolist() == [1, 0]
    assert one_row_each(all_rows, TestRules(3)) is all_rows


def test_a_described_feature_that_depends_on_others_inside_subtypes_is_told():
    rng = np.random.default_rng(3)
    half = np.repeat([0.0, 1.0], 150)
    table = rng.normal(size=(300, 6))
    table[:, :4] += 2.0 * half[:, None]
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    frame["copy"] = 0.8 * frame["x5"] + 0.6 * rng.normal(size=300)
    frame["outcome"] = half + rng.normal(size=300)

    def found(block):
        copy = {"role": "describe", "block": block}
        schema = schema_of(frame, x5={"block": block}, copy=copy, outcome={"role": "describe"})
        model = quick_fit(frame, schema)
        return cc.validated_associations(model, frame, progress=False).set_index("feature")

    alone = found(None)
    assert alone["method"][["copy", "outcome"]].tolist() == ["direct", "direct"]
    assert alone.loc["copy", "grade"] != "differs beyond dependence"
    assert alone.loc["outcome", "grade"] == "differs beyond dependence"
    assert alone.loc["copy", "p_given_others"] > 0.01
    assert pd.isna(alone.loc["copy", "remark"])  # it does not differ, so that there is nothing to explain
    together = found("both")
    assert together["method"][["copy", "outcome"]].tolist() == ["refit", "direct"]
    assert together.loc["copy", "left_out"] == "x5"
    assert together.loc["copy", "grade"] == "not shown"


def test_slices_of_what_the_tree_found_to_be_one_continuum_are_told():
    rng = np.random.default_rng(9)
    table = np.sqrt(0.5) * rng.normal(size=(160, 1)) + np.sqrt(0.5) * rng.normal(size=(160, 6))
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    model = quick_fit(frame, n_clusters="distinct")
    assert model.n_clusters_ == 1
    found = cc.validated_associations(model.cut(2), frame, progress=False)
    assert (found["grade"] == "differs").all()
    assert found["remark"].str.startswith("these subtypes are slices of one continuum").all()


def test_the_grade_follows_p_dependence_and_missing_values():
    row = {"p": 0.001, "q": 0.002, "p_given_others": 0.01, "p_whatever_is_missing": np.nan, "agreement": 0.9}
    grades = {
        "differs beyond dependence": [{}, {"p_whatever_is_missing": 0.01}, {"agreement": np.nan}, {"agreement": pd.NA}],
        "differs": [*({"p_given_others": p} for p in (0.02, np.nan, None)), {"p_whatever_is_missing": 0.011}],
        "not shown": [{"q": 0.011}, {"q": 0.011, "p_given_others": 0.02}],
        "not tested": [{"p": np.nan, "q": np.nan}, {"p": None}, {"agreement": 0.49}],
    }
    assert tuple(grades) == get_args(Grade)
    for grade, changes in grades.items():
        assert [grade_of(row | change, 0.01) for change in changes] == [grade] * len(changes)
    assert grade_of(row, 0.001) == "not shown"


def test_a_small_subtype_has_no_influence_on_the_test_given_others():
    rng = np.random.default_rng(0)
    labels = np.append(np.arange(80) % 2, np.full(9, 2))
    frame = pd.DataFrame(rng.normal(size=(89, 3)) + np.where(labels == 2, 9.0, labels)[:, None], columns=list("abc"))
    *others, own = gaussian_schema("abc")

    def p_of(n):
        checks = ValidityChecks(frame[:n], others, TestRules(20))
        found = Subtypes(np.arange(n), labels[:n])
        return checks.check(own, found, np.ones(2, dtype=bool))[0]["p_given_others"]

    assert p_of(89) == pytest.approx(p_of(80), rel=1e-9)
