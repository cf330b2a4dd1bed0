"""Hazard ratios before and after a time: the two regressions of statsmodels, and the level and power of the test."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.duration.hazard_regression import PHReg

import clinclust as cc

SCHEMA = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")


def cohort(seed, n, *, crossing):
    """Times of two groups: one dies twice as fast throughout, or three times as fast first and slower later."""
    rng = np.random.default_rng(seed)
    ill, exposure = rng.random(n) < 0.4, rng.exponential(size=n)
    late = np.where(exposure < 0.9, exposure / 3.0, 0.3 + (exposure - 0.9) / 0.7)
    time = np.where(ill, late if crossing else exposure / 2.0, exposure)
    end = rng.uniform(0.2, 3.0, n)
    frame = pd.DataFrame({"x": rng.normal(size=n), "days": np.minimum(time, end), "died": (time <= end).astype(int)})
    return frame, ill.astype(int)


def of_periods(frame, labels):
    groups = cc.Partition(labels, SCHEMA, made_by="hand")
    found = cc.compare_outcomes(groups, frame, "died", time="days")
    found = found[found["method"] == "naive"]
    ratios = found[found["measure"].str.contains("until|after", na=False)]
    return ratios, found[found["measure"] == "hazards proportional"].iloc[0]


@pytest.mark.simulation
def test_ratios_of_the_periods_are_close_to_those_of_cox_regression():
    frame, labels = cohort(0, 3000, crossing=True)
    ratios, test = of_periods(frame, labels)
    until = np.median(frame.loc[frame["died"] == 1, "days"])
    early = PHReg(np.minimum(frame["days"], until), labels, (frame["died"] == 1) & (frame["days"] <= until)).fit()
    rest = frame["days"] > until
    late = PHReg(frame.loc[rest, "days"], labels[rest], frame.loc[rest, "died"], entry=np.full(rest.sum(), until)).fit()
    assert np.log(ratios["estimate"].to_numpy(float)) == pytest.approx([early.params[0], late.params[0]], abs=0.03)
    assert ratios["se"].to_numpy(float) == pytest.approx([early.bse[0], late.bse[0]], rel=0.1)
    assert test["p"] < 1e-6
    assert f"until {until:g}" in ratios["measure"].iloc[0]


@pytest.mark.simulation
def test_the_level_is_kept_where_hazards_are_proportional():
    p = np.array([of_periods(*cohort(seed, 300, crossing=False))[1]["p"] for seed in range(200)], dtype=float)
    assert 0.01 < (p < 0.05).mean() < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)


def test_too_few_events_are_not_tested():
    frame, labels = cohort(1, 40, crossing=False)
    frame["died"] = (np.arange(40) % 13 == 0).astype(int)
    frame.loc[:4, "died"] = 1
    ratios, test = of_periods(frame, labels)
    assert ratios.empty
    assert test["remark"] == "not tested: too few events in a half"


def test_the_log_rank_test_is_that_of_two_groups_by_hand():
    """The sum over event times of observed less expected events, squared, over its hypergeometric variance."""
    frame, labels = cohort(2, 60, crossing=False)
    frame["days"] = frame["days"].round(1) + 0.1
    groups = cc.Partition(labels, SCHEMA, made_by="hand")
    found = cc.compare_outcomes(groups, frame, "died", time="days")
    row = found[found["measure"] == "log-rank"].iloc[0]
    apart = variance = 0.0
    for time in frame.loc[frame["died"] == 1, "days"].unique():
        at_risk = frame["days"] >= time
        died = (frame["days"] == time) & (frame["died"] == 1)
        n, first, d = at_risk.sum(), (at_risk & (labels == 1)).sum(), died.sum()
        apart += (died & (labels == 1)).sum() - d * first / n
        variance += d * (first / n) * (1 - first / n) * (n - d) / max(n - 1, 1)
    assert row["estimate"] == pytest.approx(apart**2 / variance)
    assert row["p"] == pytest.approx(stats.chi2(1).sf(apart**2 / variance))
