"""The grades of the tests: dependence inside subtypes, and values that are missing because of their size."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import clinclust as cc
from clinclust.associations.associate import Grade, ValidityChecks, grade_of, one_row_each, p_whatever_is_missing
from clinclust.associations.refit import Subtypes, TestRules


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
        schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
        model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
        row = cc.validated_associations(model, frame, progress=False).set_index("feature").loc["noise"]
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
        features = [cc.Feature(name=f"x{i}", likelihood="gaussian", block=block if i == 5 else None) for i in range(6)]
        features += [cc.Feature(name="copy", likelihood="gaussian", role="describe", block=block)]
        features += [cc.Feature(name="outcome", likelihood="gaussian", role="describe")]
        schema = cc.FeatureSchema(features)
        model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
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


@pytest.mark.simulation
def test_dependence_between_all_features_is_told_of_all():
    rng = np.random.default_rng(8)
    table = np.sqrt(0.3) * rng.normal(size=(200, 1)) + np.sqrt(0.7) * rng.normal(size=(200, 8))
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    found = cc.validated_associations(model, frame, progress=False)
    assert model.n_clusters_ > 1
    assert (found["p"] < 0.05).all()
    assert not (found["grade"] == "differs beyond dependence").any()


def test_slices_of_what_the_tree_found_to_be_one_continuum_are_told():
    rng = np.random.default_rng(9)
    table = np.sqrt(0.5) * rng.normal(size=(160, 1)) + np.sqrt(0.5) * rng.normal(size=(160, 6))
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    options = {"n_clusters": "distinct", "n_restarts": 2, "random_state": 0, "progress": False}
    model = cc.methods.PublishedMAPDP(schema, **options).fit(frame)
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
    *others, own = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in "abc"])

    def p_of(n):
        checks = ValidityChecks(frame[:n], others, TestRules(20))
        found = Subtypes(np.arange(n), labels[:n])
        return checks.check(own, found, np.ones(2, dtype=bool))[0]["p_given_others"]

    assert p_of(89) == pytest.approx(p_of(80), rel=1e-9)
