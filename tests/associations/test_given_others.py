"""The analysis of covariance that tells a difference from the relation to other features."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from clinclust.associations.associate import given_others

NAN = np.nan


def drawn(seed, n=300, shift=0.0, slope=0.5):
    rng = np.random.default_rng([20, seed])
    others = rng.normal(size=(n, 3))
    groups = (others[:, 0] + others[:, 1] > 0).astype(np.int64) + (others[:, 2] > 1)
    own = slope * others.sum(axis=1) + shift * groups + rng.normal(size=n)
    return own[:, None], others, groups


@pytest.mark.parametrize("n_missing", [0, 30])
def test_it_is_the_analysis_of_covariance_of_statsmodels(n_missing):
    own, others, groups = drawn(0, shift=0.4)
    own[:n_missing] = NAN
    others = np.column_stack([others, np.random.default_rng(24).normal(size=300)])
    frame = pd.DataFrame(others, columns=list("abcd")).assign(y=own, g=groups)
    frame[["a2", "b2", "c2", "d2"]] = (frame[list("abcd")] - frame[list("abcd")].mean()) ** 2
    frame = frame.dropna()
    inside = frame.groupby("g").transform(lambda column: column - column.mean())
    related = inside.corr()["y"].drop("y") ** 2 * len(inside) > 1
    assert {"a", "b", "c"} <= set(related.index[related])
    assert not related["d"]
    frame["along"] = sum(frame[name] * inside.corr()["y"][name] / inside[name].std() for name in "abcd")
    terms = " + ".join([*related.index[related], "along"])
    expected = anova_lm(ols(f"y ~ {terms} + C(g)", frame).fit(), typ=2).loc["C(g)", "PR(>F)"]
    assert given_others(own, others, groups).p == pytest.approx(expected, rel=1e-8)


def test_what_the_others_explain_is_no_difference_and_what_is_added_is_one():
    alike = np.array([given_others(*drawn(seed)).p for seed in range(200)])
    added = np.array([given_others(*drawn(seed, shift=0.8)).p for seed in range(50)])
    assert np.mean(alike <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(added <= 0.01) > 0.9


def test_a_curved_relation_is_explained_too():
    def curved(seed):
        rng = np.random.default_rng([21, seed])
        other = rng.normal(size=(300, 1))
        groups = (np.abs(other[:, 0]) > 1).astype(np.int64)
        return given_others(other**2 + rng.normal(size=(300, 1)), other, groups).p

    assert np.mean([curved(seed) <= 0.05 for seed in range(200)]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


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
