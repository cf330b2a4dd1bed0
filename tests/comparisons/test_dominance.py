"""Laws of `dominant_columns`: what nearly is the partition is named, whatever its kind, and nothing else is."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit, schema_of
from hypothesis import given
from hypothesis import strategies as st

import clinclust as cc
from clinclust.comparisons.dominance import ColumnEvidence, tell_divisions
from clinclust.estimators.subtype_model import cohort_of

N = 300


def partition(frame, labels, *, describe=(), ignore=(), kinds=None):
    """Return the labels as a partition of features that are Gaussian, or have levels if they hold text."""

    def feature(name, column):
        if name in ignore:
            return cc.Feature(name=name, role="ignore")
        role = "describe" if name in describe else "cluster"
        if not pd.api.types.is_numeric_dtype(column):
            levels = tuple(sorted(set(column.dropna())))
            return cc.Feature(name=name, role=role, likelihood="categorical", levels=levels)
        return cc.Feature(name=name, role=role, likelihood="gaussian")

    schema = cc.FeatureSchema([feature(name, column) for name, column in frame.items()])
    by_size = np.argsort(-np.bincount(labels), kind="stable").argsort()
    return cc.Partition(by_size[labels], schema, made_by="a rule")


def noise(rng, n=N, n_features=6):
    return pd.DataFrame(rng.normal(size=(n, n_features)), columns=[f"noise{place}" for place in range(n_features)])


def named(frame, labels, **roles):
    return cc.comparisons.dominant_columns(partition(frame, labels, **roles), frame)


def as_words(rng, labels):
    return np.array(["ash", "birch", "cedar", "elm"])[labels]


def as_numbers(rng, labels):
    return np.array([3.0, -1.0, 12.0, 5.0])[labels] + rng.normal(0, 0.1, labels.size)


def as_dates(rng, labels):
    years = pd.to_datetime(np.array(["2015", "2019", "2011", "2017"]))[labels]
    return (years + pd.to_timedelta(rng.integers(0, 300, labels.size), unit="D")).strftime("%Y-%m-%d")


def as_many_sites(rng, labels):
    return np.array([f"site {site:02}" for site in 4 * rng.integers(0, 5, labels.size) + labels])


@pytest.mark.parametrize("role", ["describe", "ignore"])
@pytest.mark.parametrize("copied", [as_words, as_numbers, as_dates, as_many_sites])
@pytest.mark.parametrize("n_subtypes", [2, 4])
def test_a_noisy_recoded_incomplete_copy_is_named(copied, role, n_subtypes):
    rng = np.random.default_rng(n_subtypes)
    labels = rng.integers(0, n_subtypes, N)
    mistaken = np.where(rng.random(N) < 0.04, rng.integers(0, n_subtypes, N), labels)
    frame = noise(rng).assign(copy=copied(rng, mistaken))
    frame.loc[rng.random(N) < 0.03, "copy"] = None
    if copied is as_dates and role == "describe":
        role = "ignore"  # no schema has dates
    found = named(frame, labels, **{role: ["copy"]})
    assert found[["column", "role", "told_by"]].to_numpy().tolist() == [["copy", role, "value"]]
    assert found["groups"].item() == tuple((subtype,) for subtype in range(1, n_subtypes + 1))
    assert 0.85 < found["named_right"].item() < 1


def test_whether_values_are_missing_is_named_once_for_a_whole_form():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, N)
    asked = (labels == 1) ^ (rng.random(N) < 0.03)
    frame = noise(rng).assign(**{f"item{place}": np.where(asked, rng.normal(size=N), np.nan) for place in range(5)})
    (row,) = named(frame, labels, describe=["item4"]).to_dict("records")
    assert (row["column"], row["told_by"], row["part"]) == ("item0", "missing", "item0 is not missing")


def test_a_division_of_subtypes_that_lie_inside_each_sex_is_named():
    rng = np.random.default_rng(0)
    sex, kind = rng.integers(0, 2, N), rng.integers(0, 2, N)
    frame = noise(rng).assign(sex=np.array(["female", "male"])[sex])
    labels = 2 * sex + kind
    model = partition(frame, labels, describe=["sex"])
    (row,) = cc.comparisons.dominant_columns(model, frame).to_dict("records")
    assert sorted(map(len, row["groups"])) == [2, 2]
    assert len(set(frame["sex"][np.isin(model.labels_ + 1, row["groups"][0])])) == 1
    assert (row["explained"], row["named_right"]) == (1.0, 1.0)


def test_one_feature_that_makes_the_subtypes_alone_is_named():
    rng = np.random.default_rng(0)
    labels = (rng.random(N) < 0.4).astype(int)
    found = named(noise(rng).assign(marker=rng.normal(6 * labels, 1.0)), labels)
    assert found[["column", "role"]].to_numpy().tolist() == [["marker", "cluster"]]
    assert found["explained"].item() > 0.95 > 0.2 > found["others"].item()


def test_a_column_that_others_follow_is_named_before_them():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, N)
    frame = noise(rng).assign(**{f"follows{place}": rng.normal(1.8 * sex, 1.0) for place in range(4)})
    found = named(frame.assign(sex=np.array(["f", "m"])[sex]), sex)
    assert found["column"].tolist() == ["sex"]
    assert found["others"].item() > 0.8


def test_two_features_that_make_the_subtypes_together_are_named_each_with_its_division():
    rng = np.random.default_rng(0)
    arm, outcome = rng.integers(0, 2, N), rng.integers(0, 2, N)
    frame = noise(rng).assign(arm=np.array(["drug", "placebo"])[arm], outcome=np.array(["alive", "dead"])[outcome])
    found = named(frame, 2 * arm + outcome).set_index("column")
    assert found["groups"].to_dict() == {"arm": ((1, 2), (3, 4)), "outcome": ((1, 3), (2, 4))}
    assert (found["others"] < 0.2).all()


@pytest.mark.simulation
@pytest.mark.parametrize("distance", [1.5, 3.0, 6.0])
@pytest.mark.parametrize("n_subtypes", [2, 3])
def test_subtypes_that_differ_in_several_features_are_not_called_one(distance, n_subtypes):
    n_named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, n_subtypes, 120)
        centres = distance * rng.permuted(np.tile(np.arange(n_subtypes), (6, 1)), axis=1)
        frame = pd.DataFrame({f"f{place}": rng.normal(centre[labels]) for place, centre in enumerate(centres)})
        n_named += len(named(frame, labels)) > 0
    assert n_named == 0


@pytest.mark.parametrize("seed", range(10))
def test_noise_and_identifiers_are_never_named(seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, 150, p=(0.6, 0.3, 0.1))
    frame = noise(rng, 150, 3).assign(
        few=rng.choice(["a", "b"], 150),
        many=rng.choice([f"site {site}" for site in range(40)], 150),
        person=[f"person {row}" for row in range(150)],
        twice=[f"{label} {row // 2}" for row, label in enumerate(labels)],
        visited=as_dates(rng, rng.integers(0, 4, 150)),
        gaps=np.where(rng.random(150) < 0.3, np.nan, 1.0 * rng.integers(0, 5, 150)),
    )
    found = named(frame, labels, describe=["few", "gaps"], ignore=["many", "person", "twice", "visited"])
    assert found.empty


def test_one_group_has_no_columns_that_make_it():
    frame = noise(np.random.default_rng(0))
    found = named(frame, np.zeros(N, dtype=int))
    assert found.empty
    assert "groups" in found


@pytest.mark.parametrize("role", ["site", "describe"])
@pytest.mark.parametrize("share", [0.8, 0.65])
def test_a_site_is_named_from_half_of_the_errors_on(role, share):
    rng = np.random.default_rng(2)
    labels = np.arange(N) % 2
    frame = noise(rng).assign(ward=as_words(rng, np.where(rng.random(N) < share, labels, 1 - labels)))
    schema = partition(frame, labels, describe=["ward"]).schema_.with_roles(ward=role)
    found = cc.comparisons.dominant_columns(cc.Partition(labels, schema, made_by="a rule"), frame)
    assert found["column"].tolist() == ["ward"] * (role == "site" and share == 0.8)


def test_other_names_of_levels_change_nothing():
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, N)
    frame = noise(rng, N, 4).add(2.0 * sex, axis=0).assign(sex=np.array(["f", "m"])[sex], seen=as_dates(rng, sex))
    ignored = {"role": "ignore", "likelihood": None}
    model = quick_fit(frame, schema_of(frame, sex=ignored, seen=ignored))
    first = cc.comparisons.dominant_columns(model, frame)
    assert set(first["column"]) == {"sex", "seen"}
    second = cc.comparisons.dominant_columns(model, frame.replace({"sex": {"f": "zz", "m": "aa"}}))
    pd.testing.assert_frame_equal(first.drop(columns="part"), second.drop(columns="part"))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(2, 4))
def test_the_log_ratios_are_those_of_a_count_without_the_subject(seed, n_levels, n_subtypes):
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(n_subtypes), rng.integers(0, n_subtypes, 20)]
    levels = rng.integers(-1, n_levels, labels.size)
    evidence = ColumnEvidence(levels, labels).of_subjects
    for subject in range(labels.size):
        others = (np.arange(labels.size) != subject) & (levels >= 0)
        share = np.mean(levels[others] == levels[subject]) if others.any() else 0.0
        for subtype in range(n_subtypes):
            inside = others & (labels == subtype)
            count = np.sum(levels[inside] == levels[subject])
            expected = 0.0
            if levels[subject] >= 0 and share > 0:
                expected = np.log((count + share) / (inside.sum() + 1) / share)
            assert evidence[subject, subtype] == pytest.approx(expected, abs=1e-12)


def test_the_columns_that_tell_a_division_best_are_named():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [60, 40, 50])
    table = pd.DataFrame({"iron": rng.normal(4.0 * (labels == 2), 1.0)})
    table["sex"] = np.where(rng.random(150) < 0.1, labels == 0, labels != 0).astype(int)
    table["lab"] = np.where(labels == 1, np.nan, 1.0) + rng.integers(3, size=150)
    schema = schema_of(["iron"], sex="bernoulli", lab="poisson").with_roles(sex="describe", lab="describe")
    cohort = cohort_of(cc.Partition(labels, schema, made_by="a simulation"), table)
    told = tell_divisions(cohort, table, [{0: 0, 1: 1, 2: 1}, {1: 0, 2: 1}])
    rows = told[["division", "column", "told_by"]].values.tolist()
    assert rows == [[0, "iron", "value"], [0, "sex", "value"], [1, "iron", "value"], [1, "lab", "missing"]]
    assert told["named_right"].iloc[1] > 0.85 > told["largest"].iloc[1]
