"""Permutations: of whole persons that have several rows, and of values that are too few for the usual p."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit
from scipy import stats
from scored import few

import clinclust as cc
from clinclust.associations.refit import contrast_by_person, contrast_of_few
from clinclust.comparisons.differences import contrast_of
from clinclust.files.row_choice import SEVERAL_ROWS, repeated_subjects


def visits(seed, n_persons=60, n_visits=4, shift=0.0):
    """Persons with four visits that differ between persons more than between visits; noise in between."""
    rng = np.random.default_rng([8, seed])
    person = np.repeat(np.arange(n_persons), n_visits)
    half = (person % 2).astype(float)
    frame = pd.DataFrame(rng.normal(size=(person.size, 4)) + 3.0 * half[:, None]).rename(columns="x{}".format)
    own = rng.normal(size=n_persons)[person]
    frame["noise"] = 0.9 * own + 0.4 * rng.normal(size=person.size) + shift * half
    frame["who"] = np.array([f"p{number}" for number in person])
    frame["visit"] = np.tile(np.arange(n_visits), n_persons).astype(str)
    frame["row"] = np.arange(person.size).astype(str)
    features = [cc.Feature(name=name, likelihood="gaussian") for name in frame.columns[:5]]
    features += [cc.Feature(name=name, role="id") for name in ("who", "visit", "row")]
    return frame, cc.FeatureSchema(features)


@pytest.mark.simulation
def test_rows_of_one_person_are_permuted_together():
    by_person, by_row = [], []
    for seed in range(30):
        frame, schema = visits(seed)
        model = quick_fit(frame, schema, n_restarts=1)
        options = {"n_restarts": 2, "progress": False}
        found = cc.validated_associations(model, frame, **options).set_index("feature")
        assert found["test"].dropna().str.endswith(", persons permuted").all()
        assert (found.loc["x0":"x3", "p"] < 1e-3).all()
        by_person.append(found.loc["noise", "p"])
        independent = cc.validated_associations(model, frame, persons="row", **options)
        by_row.append(independent.set_index("feature").loc["noise", "p"])
    assert np.mean(np.array(by_row) < 0.05) > 0.15
    assert np.mean(np.array(by_person) < 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 30)


@pytest.mark.simulation
def test_persons_are_known_from_the_ids_the_column_or_the_rows():
    frame, schema = visits(0, shift=2.0)
    model = quick_fit(frame, schema, n_restarts=1)
    options = {"n_restarts": 2, "progress": False}
    expected = cc.validated_associations(model, frame, **options)
    pd.testing.assert_frame_equal(cc.validated_associations(model, frame, persons="who", **options), expected)
    with pytest.raises(ValueError, match=r"persons: the table has no column 'whom'. Did you mean 'who'\?"):
        cc.validated_associations(model, frame, persons="whom")


def test_permutations_of_persons_are_those_of_scipy_where_each_has_one_row():
    rng = np.random.default_rng(5)
    groups = np.repeat([0, 1], [12, 18])
    values = rng.normal(size=30) + 0.7 * groups
    for kind in ("student", "rank"):
        scores = stats.rankdata(values) if kind == "rank" else values
        expected = stats.permutation_test(
            (scores[groups == 0], scores[groups == 1]),
            lambda a, b, axis: np.abs(a.mean(axis=axis) - b.mean(axis=axis)),
            alternative="greater",
            vectorized=True,
            n_resamples=9999,
            rng=np.random.default_rng(0),
        ).pvalue
        found = contrast_by_person(values, groups, kind, np.arange(30))
        assert found.p == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 900))


RARE_GROUPS = np.repeat([0, 1, 2, 3], [190, 3, 3, 4])


@pytest.mark.parametrize(("kind", "n_tables"), few([("student", 100), ("student", 300), ("rank", 300)], 1))
def test_rare_values_in_small_groups_have_p_by_permutations(kind, n_tables):
    rng = np.random.default_rng([16, kind == "rank"])
    usual, permuted = [], []
    for _ in range(n_tables):
        events = rng.poisson(0.05, RARE_GROUPS.size)
        values = events * (rng.exponential(size=events.size) if kind == "rank" else 1.0)
        usual.append(contrast_of(values, RARE_GROUPS, kind).p)
        found = contrast_of_few(values, RARE_GROUPS, kind)
        assert found.test.endswith(", values permuted")
        assert np.isnan(found.df)
        permuted.append(found.p)
    assert np.mean(np.array(usual) <= 0.01) > 0.02
    assert np.mean(np.array(permuted) <= 0.01) <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / n_tables)


def test_the_usual_p_of_values_that_are_near_normal_for_their_number_stays():
    rng = np.random.default_rng(17)
    groups = np.repeat([0, 1, -1], [100, 97, 3])
    skewed = rng.exponential(size=200)
    assert contrast_of_few(skewed, groups, "student") == contrast_of(skewed, groups, "student")
    assert contrast_of_few(skewed, RARE_GROUPS, "student").test == "ANOVA, values permuted"
    normal = rng.permutation(stats.norm.ppf((np.arange(200) + 0.5) / 200))
    for values in (normal, np.where(rng.random(200) < 0.1, np.nan, normal)):
        assert contrast_of_few(values, RARE_GROUPS, "student") == contrast_of(values, RARE_GROUPS, "student")
        assert contrast_of_few(values, RARE_GROUPS, "welch").test.endswith("Welch's ANOVA, values permuted")
        assert contrast_of_few(values, groups, "welch") == contrast_of(values, groups, "welch")
    answers = rng.integers(0, 2, 200).astype(float)
    assert contrast_of_few(answers, RARE_GROUPS, "counts") == contrast_of(answers, RARE_GROUPS, "counts")


@pytest.mark.parametrize("kind", ["student", "welch"])
@pytest.mark.parametrize("n_large", [60, 400])  # random tables, random orders
def test_permutations_of_values_are_those_of_scipy(n_large, kind):
    rng = np.random.default_rng(6)
    groups = np.append(np.repeat([1, 0], [6, n_large]), [-1, 2])  # a group of one takes no part
    values = np.append(rng.exponential(size=n_large + 6), [50.0, 60.0])
    values[:6] += 0.5
    values[3] = np.nan
    a, b = (values[(groups == group) & ~np.isnan(values)] for group in (0, 1))
    expected = stats.permutation_test(
        (a, b),
        lambda a, b, axis: np.abs(stats.ttest_ind(a, b, axis=axis, equal_var=kind == "student").statistic),
        alternative="greater",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(0),
    ).pvalue
    found = contrast_of_few(values, groups, kind)
    assert found.test == f"{kind.title()}'s t, values permuted"
    assert found.p == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 900))


@pytest.mark.parametrize(("step", "n_tables"), few([(0.0, 60), (0.0, 150), (1.0, 150)], 1))  # few values, many orders
def test_wider_spread_in_few_is_no_difference_of_means(step, n_tables):
    """Welch's statistic is permuted: with the sum of squares of one variance, 40% of these p are at most .05."""
    rng, groups, found = np.random.default_rng(18), np.repeat([0, 1], [140, 14]), []
    for _ in range(n_tables):
        values = rng.normal(size=groups.size) * np.where(groups, 3.0, 1.0)
        found.append(contrast_of_few(values if step else np.rint(values), groups, "welch"))
    assert all(each.test == "Welch's t, values permuted" for each in found)
    assert 0.005 < np.mean([each.p <= 0.05 for each in found]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_tables)


def test_a_person_whose_number_of_rows_is_unique_stays_and_nothing_is_tested_if_all_do():
    values, groups = np.arange(6.0), np.array([0, 1, 1, 0, 0, 1])
    assert np.isnan(contrast_by_person(values, groups, "student", np.array([0, 1, 1, 2, 2, 2])).p)
    assert contrast_by_person(values, groups, "student", np.array([0, 1, 1, 2, 2, 3])).p <= 1.0


@pytest.mark.simulation
def test_a_report_permutes_persons_by_a_column_that_the_schema_does_not_know(tmp_path):
    frame, _ = visits(0, 30, 2, shift=2.0)
    frame = frame.drop(columns=["visit", "row"])
    frame.to_csv(tmp_path / "visits.csv", index=False)
    features = [cc.Feature(name=name, likelihood="gaussian") for name in frame.columns[:5]]
    schema = cc.FeatureSchema(features, other_columns="ignore")
    table = cc.read_cohort(tmp_path / "visits.csv")
    table.attrs[SEVERAL_ROWS] = dataclasses.asdict(repeated_subjects(table, "who"))
    with pytest.warns(cc.CohortWarning, match="ROWS ARE NOT PATIENTS"):
        model = quick_fit(table, schema, n_restarts=1)
    cc.write_report(model, table, tmp_path / "subtypes.html", progress=False)
    page = (tmp_path / "subtypes.html").read_text(encoding="utf-8")
    assert "t, persons permuted" in page
    assert "whole persons were permuted (up to 9,999 times)" in page


@pytest.mark.parametrize(("kind", "step"), [("student", 0.0), ("rank", 0.0), ("student", 1e-9)])
def test_the_order_that_is_there_is_one_of_the_permutations(kind, step):
    """So p is never 0 (Phipson and Smyth 2010), from tables of few values and from permutations of many."""
    values, groups = np.repeat([0.0, 1.0], [600, 6]) + step * np.arange(606), np.repeat([0, 1], [600, 6])
    found = contrast_of_few(values, groups, kind)
    assert found.test.endswith("values permuted")
    assert found.p == pytest.approx(1 / (1 + 9999))
