"""Measurements in few steps: no spike where all values are common, no Gaussian where it makes subtypes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scored import scored

import clinclust as cc
from clinclust.drafting.coarse_grids import levels_beyond, regular_step
from clinclust.drafting.ties import spike_of

N = 200


def _drafted(name, values):
    schema = cc.draft_schema(pd.DataFrame({name: values}), progress=False)
    return schema[name], schema.comments[name]


@scored(range(5))
def test_a_measurement_in_steps_of_which_all_are_common_has_no_spike_and_is_clustered_on(seed):
    lvef = np.random.default_rng(seed).choice(np.arange(30, 70, 5), N)
    assert spike_of(lvef.astype(float)) is None
    feature, comment = _drafted("LVEF", lvef)
    assert feature.role == "cluster"
    assert "exactly" not in comment


def test_a_tenth_at_the_lowest_of_rounded_values_is_no_spike_and_at_a_limit_it_is_one():
    rng = np.random.default_rng(0)
    rounded = np.repeat(np.arange(5.0, 85.0, 5.0), [20, 18, 22, 19, 21, 17, 16, 14, 12, 10, 9, 8, 6, 4, 3, 1])
    assert spike_of(rounded) is None
    at_limit = np.concatenate([np.full(20, 5.0), 5 + rng.gamma(3, 10, 180).round(1)])
    assert spike_of(at_limit).value == 5


def test_nobody_is_told_to_empty_cells_of_a_spike():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.full(60, 90.0), 90 - rng.gamma(3, 8, 140).round(1)])
    feature, comment = _drafted("egfr", values)
    assert feature.role == "describe"
    assert "empty" not in comment
    assert "ordered groups" in comment


def test_decimals_in_steps_below_their_spread_are_a_measurement():
    values = np.random.default_rng(0).normal(1.4, 0.17, N).round(1).clip(0.9, 1.9)
    assert np.unique(values).size <= 11
    feature, _ = _drafted("INR", [f"{value:.1f}" for value in values])
    assert feature.likelihood == "gaussian"


def test_decimals_in_coarse_steps_get_levels_beyond_those_observed():
    written = [f"{value:.1f}" for value in np.random.default_rng(0).normal(1.1, 0.08, N).round(1).clip(0.9, 1.3)]
    feature, comment = _drafted("INR", written)
    assert feature.likelihood == "ordinal"
    assert {"0.8", "1.0", "1.4"} <= set(feature.levels)
    assert feature.level_numbers is not None
    assert "spelling" not in comment
    assert "steps of 0.1" in comment


@pytest.mark.parametrize("name", ["EDSS", "hoehn_yahr_stage"])
def test_grades_in_halves_stay_the_levels_that_they_are(name):
    grades = np.random.default_rng(0).choice(["1", "1.5", "2", "2.5", "3"], N)
    feature, _ = _drafted(name, grades)
    assert feature.traits.is_scale


def test_percentages_in_tens_are_a_scale_from_0_to_100():
    feature, comment = _drafted("ER %", np.random.default_rng(0).choice([0, 60, 70, 80, 90, 100], N))
    assert feature.levels == tuple(map(str, range(0, 101, 10)))
    assert "percentages" in comment


@scored(
    [
        (["0.1", "0.2", "0.3"], ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
        (["0,9", "1,0", "1,1"], ["0,7", "0,8", "0,9", "1,0", "1,1", "1,2", "1,3"]),
        (["0.9", "1", "1.1"], ["0.7", "0.8", "0.9", "1", "1.1", "1.2", "1.3"]),
        (["10", "15", "25"], ["0", "5", "10", "15", "20", "25", "30", "35", "40"]),
    ],
)
def test_levels_beyond_are_written_as_the_column_writes_them(texts, expected):
    numbers = [float(text.replace(",", ".")) for text in texts]
    assert levels_beyond(np.array(numbers), dict(zip(numbers, texts, strict=True))) == expected
    assert regular_step(np.array(numbers)) == pytest.approx(numbers[1] - numbers[0])


def test_a_look_takes_no_rare_number_for_a_misspelt_one():
    from clinclust.drafting.looks import looks_of

    values = np.random.default_rng(0).choice(["1.0", "1.1", "1.2", "1.3"], N, p=[0.4, 0.4, 0.19, 0.01])
    frame = pd.DataFrame({"x": values})
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="ordinal", levels=["1.0", "1.1", "1.2", "1.3"])])
    assert not [look for look in looks_of(frame, schema.validate(frame), schema) if "fewer than" in look.what]


@pytest.mark.parametrize("sd", [0.5, 0.7])
def test_the_drafted_likelihood_divides_no_single_group_where_a_gaussian_does(sd):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.normal(size=500) for name in ("a", "b", "c")})
    frame["INR"] = (1.1 + 0.1 * np.rint(rng.normal(0, sd, 500))).round(1)
    found = {}
    drafted = cc.draft_schema(frame, progress=False)
    dense = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    for called, schema in (("drafted", drafted), ("dense", dense)):
        found[called] = cc.MAPDP(schema, random_state=0, progress=False).fit(frame).n_clusters_
    assert found["drafted"] == 1 < found["dense"]
