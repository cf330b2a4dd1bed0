"""Effects of features on an outcome inside subtypes, and covariates that go with the subtypes."""

import numpy as np
import pandas as pd
import pytest
from by_method import estimate_by_method
from cohorts import gaussian_schema

import clinclust as cc
from clinclust.cli.fitted import summarise_outcomes
from clinclust.outcomes.estimates import DENSITIES

NAMES = list("abcdef")
SCHEMA = gaussian_schema(NAMES)


def comparison(seed, is_direct):
    """Six features of two groups 1.2 SDs apart; the outcome depends on the features inside groups, or on the group."""
    rng = np.random.default_rng(seed)
    group = (rng.random(400) < 0.4).astype(int)
    inside = rng.normal(size=(400, 6))
    frame = pd.DataFrame(1.2 * group[:, None] + inside, columns=NAMES)
    effect = 0.4 * inside.sum(axis=1) / np.sqrt(6) if is_direct else group
    model = cc.MAPDP(SCHEMA, n_clusters=2, random_state=0, progress=False).fit(frame)
    first = 1 + int(model.labels_[group == 0].mean() > 0.5)
    return cc.compare_outcomes(model, frame.assign(y=effect + rng.normal(size=400)), "y", versus=first)


def row_of(found, method):
    return found[(found["method"] == method) & found["versus"].notna()].iloc[0]


def test_an_outcome_that_depends_on_features_is_corrected_for_them():
    found = comparison(0, is_direct=True)
    test = found[found["measure"] == "no effects of features"].iloc[0]
    assert test["p"] < 0.001
    assert "depends on features inside subtypes" in test["remark"]
    mixture = row_of(found, "features")
    assert mixture["lower"] < 0.0 < mixture["upper"]
    assert abs(mixture["estimate"]) < abs(row_of(found, "naive")["estimate"])
    lines = [line for line in summarise_outcomes(found) if line.startswith("Subtype")]
    assert f"{mixture['estimate']:.3g} (" in lines[0]


def test_an_outcome_that_depends_on_the_subtype_alone_is_corrected_by_bch():
    found = comparison(2, is_direct=False)
    assert found.loc[found["measure"] == "no effects of features", "p"].iloc[0] > 0.01
    (line,) = [line for line in summarise_outcomes(found) if line.startswith("Subtype")]
    assert f" {row_of(found, 'bch')['estimate']:.3g} (" in line


def test_effects_of_features_are_tested_where_a_subtype_has_no_events():
    rng, group = np.random.default_rng(4), np.arange(450) % 3
    centres = 5.0 * np.array([[0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
    inside = rng.normal(size=(450, 6))
    model = cc.MAPDP(SCHEMA, n_clusters=3, random_state=0, progress=False).fit(
        pd.DataFrame(centres[group] + inside, columns=NAMES)
    )
    fell = (group < 2) & (rng.random(450) < 1.0 / (1.0 + np.exp(-inside.sum(axis=1))))
    frame = pd.DataFrame(centres[group] + inside, columns=NAMES).assign(fell=np.where(fell, "yes", "no"))
    found = cc.compare_outcomes(model, frame, "fell", versus=int(model.labels_[0]) + 1)
    assert found.loc[found["measure"] == "no effects of features", "p"].iloc[0] < 1e-6
    assert found.query("method == 'features' and versus.notna()")["estimate"].notna().sum() == 1
    rare = found.query("method == 'bch' and measure == 'share' and estimate == 0")
    assert 0.01 < rare["upper"].iloc[0] < 0.05
    assert "a subtype has no ratio" in found.query("method == 'ml'")["remark"].iloc[0]


@pytest.mark.simulation
@pytest.mark.parametrize(("is_direct", "truth"), [(True, 0.0), (False, 1.0)])
def test_the_mixture_of_regressions_holds_the_truth(is_direct, truth):
    rows = [row_of(comparison(seed, is_direct), "features") for seed in range(100, 140)]
    held = np.mean([row["lower"] < truth < row["upper"] for row in rows])
    assert held > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / 40)
    assert abs(np.mean([row["estimate"] for row in rows]) - truth) < 0.1


def slope_and_difference(seed, method):
    """A covariate whose mean differs by 1.5 between the groups; effects of the group and of the covariate are 1."""
    rng = np.random.default_rng(seed)
    errors = np.array([[0.85, 0.15], [0.2, 0.8]])
    group = (rng.random(800) < 0.4).astype(int)
    age = rng.normal(1.5 * group)
    assigned = np.where(rng.random(800) < errors[group, 1], 1, 0)
    y = group + age + rng.normal(size=800)
    found = estimate_by_method(DENSITIES["continuous"], y, age[:, None], errors, assigned, method)
    contrast = np.eye(found.parameters.size)[1] - np.eye(found.parameters.size)[0]
    return contrast @ found.parameters, np.sqrt(contrast @ found.covariance @ contrast)


@pytest.mark.parametrize("method", ["bch", "ml"])
def test_a_covariate_that_goes_with_the_subtypes_biases_no_method(method):
    results = [slope_and_difference(seed, method) for seed in range(6)]
    error = np.mean([se for _, se in results]) / np.sqrt(6)
    assert abs(np.mean([difference for difference, _ in results]) - 1.0) < 3.0 * error


@pytest.mark.simulation
@pytest.mark.parametrize("method", ["bch", "ml"])
def test_intervals_with_such_a_covariate_hold_the_truth(method):
    results = np.array([slope_and_difference(seed, method) for seed in range(100, 300)])
    held = np.abs(results[:, 0] - 1.0) < 1.96 * results[:, 1]
    assert abs(held.mean() - 0.95) < 3.0 * np.sqrt(0.95 * 0.05 / 200)
