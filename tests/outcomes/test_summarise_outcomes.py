"""Outcomes in words: every difference is in one sentence, with the numbers of its row."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.cli.fitted import summarise_outcomes


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 400)
    late = rng.weibull(4, 400)  # hazards of this group rise, those of the others do not
    frame = pd.DataFrame({"x": rng.normal(size=400), "age": rng.normal(60, 8, 400)})
    frame["days"] = np.where(group == 1, late, rng.exponential(size=400)) + 0.001
    frame["died"] = (rng.random(400) < 0.8).astype(int)
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")
    return cc.Partition(group, schema, made_by="hand"), frame


def assert_each_in_one(lines, rows):
    for row in rows.to_dict("records"):
        numbers = f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g})"
        (line,) = [line for line in lines if numbers in line]
        assert f"ubtype {row['subtype']} against {row['versus']}, " in line


def test_each_ratio_is_named_and_that_hazards_are_not_proportional(cohort):
    table = cc.compare_outcomes(*cohort, "died", time="days")
    lines = summarise_outcomes(table)
    assert_each_in_one(lines, table[table["versus"].notna() & (table["method"] == "naive")])
    assert any(line.startswith("Hazards proportional: p") for line in lines)
    assert [reason for reason in table["remark"].dropna().unique() if not any(reason in line for line in lines)] == []


def test_predictors_are_named(cohort):
    table = cc.subtype_predictors(*cohort, ["age"])
    lines = summarise_outcomes(table)
    assert_each_in_one(lines, table[table["versus"].notna()])
    assert sum("odds ratio of age" in line for line in lines) == 2
