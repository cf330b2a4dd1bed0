"""Survival by subtype, against statsmodels, and its figure."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

import clinclust as cc
from clinclust.errors import InputError
from clinclust.outcomes import survival_curves

SCHEMA = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")


@pytest.fixture
def cohort():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [60, 40])
    time = rng.exponential(3.0 + 3.0 * (labels == 0)).round(1) + 0.1
    frame = pd.DataFrame({"x": rng.normal(size=100), "days": time, "in": (time / 3).round(2)})
    frame["died"] = np.where(rng.random(100) < 0.7, "yes", "no")
    return frame, labels, cc.Partition(labels, SCHEMA, made_by="hand")


@pytest.mark.parametrize("entry", [None, "in"])
def test_curves_are_those_of_statsmodels(cohort, entry):
    frame, labels, groups = cohort
    curves = survival_curves(groups, frame, "died", "days", event="yes", entry=entry)
    for subtype in (0, 1):
        own, curve = frame[labels == subtype], curves[curves["subtype"] == subtype + 1]
        fitted = SurvfuncRight(own["days"], own["died"] == "yes", entry=None if entry is None else own[entry])
        at = curve["events"] > 0
        np.testing.assert_allclose(curve.loc[at, "time"], fitted.surv_times)
        np.testing.assert_allclose(curve.loc[at, "survival"], fitted.surv_prob)
        np.testing.assert_array_equal(curve.loc[at, "at_risk"], fitted.n_risk)
        inside = curve["lower"].notna()
        assert (curve.loc[inside, "lower"] <= curve.loc[inside, "survival"]).all()
        assert (curve.loc[inside, "survival"] <= curve.loc[inside, "upper"]).all()
        middle = int(np.flatnonzero(at)[5])
        se = fitted.surv_prob_se[5] / abs(fitted.surv_prob[5] * np.log(fitted.surv_prob[5]))
        exact = fitted.surv_prob[5] ** np.exp(1.959964 * se)
        assert curve["lower"].iloc[middle] == pytest.approx(exact, rel=1e-5)


def test_the_figure_has_a_curve_and_numbers_at_risk_of_each_subtype(cohort):
    frame, _, groups = cohort
    curves = survival_curves(groups, frame, "died", "days", event="yes")
    ax = cc.plots.plot_survival(curves, names={2: "$frail$"}, unit="days")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Subtype 1", "$frail$"]
    assert ax.get_xticklabels()[0].get_text() == "0\n60\n40"
    assert "days" in ax.get_xlabel()
    line = ax.get_lines()[0]
    np.testing.assert_allclose(line.get_ydata()[1:], curves.query("subtype == 1")["survival"])
    with pytest.raises(InputError, match="names has 7"):
        cc.plots.plot_survival(curves, names={7: "x"})


def test_what_has_no_curve(cohort):
    frame, _, groups = cohort
    with pytest.raises(InputError, match="'days' is below 0, where"):
        survival_curves(groups, frame.assign(days=-frame["days"]), "died", "days", event="yes")
    with pytest.raises(InputError, match="no column 'dead'"):
        survival_curves(groups, frame, "dead", "days")
