"""The RAND example recodes the columns of statsmodels without losing or inventing anything."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from statsmodels.datasets import randhie

import clinclust as cc

EXAMPLE = Path(__file__).parents[2] / "examples" / "rand_health" / "run.py"
FILLED_IN_MEANS = [9.967326, 10.57626, 11.84267, 13.73189]


@pytest.fixture(scope="module")
def example():
    return SimpleNamespace(**runpy.run_path(str(EXAMPLE)))


@pytest.fixture(scope="module")
def raw():
    return randhie.load_pandas().data


@pytest.fixture(scope="module")
def recoded(example):
    return example.person_years()


def test_the_schema_validates_every_row(example, recoded):
    frame = cc.FeatureSchema.from_yaml(example.SCHEMA).validate(recoded)
    assert frame.shape == (20190, 10)


def test_counts_of_conditions_give_back_the_percentages(raw, recoded):
    ticked = recoded["chronic_conditions"]
    observed = ticked.notna()
    assert set(raw.loc[~observed, "disea"]) == set(FILLED_IN_MEANS)
    of_29, of_23 = ((100 * ticked[observed] / length).round(1) for length in (29, 23))
    percentage = raw.loc[observed, "disea"]
    assert (np.isclose(of_29, percentage) | np.isclose(of_23, percentage)).all()


@pytest.mark.parametrize(
    ("percentage", "ticked"), [(0.0, 0), (3.4, 1), (4.3, 1), (13.0, 3), (13.8, 4), (58.6, 17), (13.73189, np.nan)]
)
def test_one_percentage(example, percentage, ticked):
    np.testing.assert_equal(example.conditions_ticked(pd.Series([percentage])).item(), ticked)


def test_self_rated_health_keeps_the_three_indicators(example, raw, recoded):
    for indicator, answer in {"hlthg": "good", "hlthf": "fair", "hlthp": "poor"}.items():
        assert ((recoded["self_rated_health"] == answer) == (raw[indicator] == 1)).all()
    with pytest.raises(ValueError, match="more than one"):
        example.self_rated_health(pd.DataFrame({"hlthg": [1], "hlthf": [1], "hlthp": [0]}))


def test_nothing_paid_is_not_a_small_payment(raw, recoded):
    for log_dollars, flag, dollars in (("lpi", "incentive_paid", "incentive"), ("fmde", "limit_set", "limit")):
        assert (recoded[flag] == (raw[log_dollars] > 0)).all()
        assert (recoded[dollars].isna() == (recoded[flag] == 0)).all()
        back = np.log(recoded[dollars]).fillna(0)
        np.testing.assert_allclose(back, raw[log_dollars], atol=1e-3)


def test_a_physical_limitation_is_yes_no_or_unknown(raw, recoded):
    assert set(recoded["physlm"].dropna()) == {0, 1}
    assert recoded["physlm"].isna().sum() == ((raw["physlm"] > 0) & (raw["physlm"] < 1)).sum()
