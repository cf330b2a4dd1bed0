"""Whether hazards are proportional: closed forms, and the level and power of the test."""

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


def proportional(frame, labels):
    groups = cc.Partition(labels, SCHEMA, made_by="hand")
    found = cc.compare_outcomes(groups, frame, "died", time="days")
    return found[found["measure"] == "hazards proportional"].iloc[0]


def test_the_statistic_is_that_of_residuals_by_hand():
    """Of two groups, a residual is membership less its mean of those at risk, weighed by the hazard ratio."""
    frame, labels = cohort(0, 300, crossing=True)
    cox = PHReg(frame["days"], labels, frame["died"]).fit()
    events, weight = frame["died"] == 1, np.exp(cox.params[0] * labels)
    at_risk = frame["days"].to_numpy() >= frame.loc[events, "days"].to_numpy()[:, None]
    residual = labels[events] - at_risk @ (weight * labels) / (at_risk @ weight)
    ranks = stats.rankdata(frame.loc[events, "days"])
    lean = ((ranks - ranks.mean()) * residual).sum()
    statistic = events.sum() * lean**2 * cox.cov_params()[0, 0] / ((ranks - ranks.mean()) ** 2).sum()
    row = proportional(frame, labels)
    assert row["estimate"] == pytest.approx(statistic)
    assert row["p"] == pytest.approx(stats.chi2(1).sf(statistic))
    assert row["p"] < 0.01


@pytest.mark.simulation
def test_the_level_is_kept_where_hazards_are_proportional():
    p = np.array([proportional(*cohort(seed, 300, crossing=False))["p"] for seed in range(200)], dtype=float)
    assert 0.01 < (p < 0.05).mean() < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)


def test_too_few_events_are_not_tested():
    frame, labels = cohort(1, 40, crossing=False)
    frame["died"] = (np.arange(40) % 13 == 0).astype(int)
    frame.loc[:4, "died"] = 1
    assert proportional(frame, labels)["remark"] == "not tested: too few events"
