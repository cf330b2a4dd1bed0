"""Subtypes without events, monotone hazards, and the penalised likelihood, against closed forms and other packages."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize
from statsmodels.duration.survfunc import survdiff
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

import clinclust as cc
from clinclust.cli.fitted import summarise_outcomes
from clinclust.outcomes.estimates import fit_penalised, group_comparable, penalise

SCHEMA = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")
RNG = np.random.default_rng(5)
LABELS = np.arange(240) % 3
DIED = np.zeros(240)
for place, events in enumerate((16, 43, 0)):
    DIED[np.flatnonzero(place == LABELS)[:events]] = 1.0
DAYS = RNG.exponential(100.0, 240).round(1) + 1.0
FRAME = pd.DataFrame({"x": RNG.normal(size=240), "died": np.where(DIED > 0, "yes", "no"), "days": DAYS})
FRAME["survived"] = np.where(DIED > 0, "no", "yes")
FRAME["stays"], FRAME["age"] = DIED * RNG.poisson(3.0, 240), RNG.normal(60, 8, 240)
GROUPS = cc.Partition(LABELS, SCHEMA, made_by="hand")


def naive(*outcome, **options):
    found = cc.compare_outcomes(GROUPS, FRAME, *outcome, **options)
    return found[found["method"] == "naive"]


def row_of(found, measure, subtype, versus=None):
    rows = found[(found["measure"] == measure) & (found["subtype"] == subtype)]
    return (rows[rows["versus"].isna()] if versus is None else rows[rows["versus"] == versus]).iloc[0]


@pytest.mark.parametrize(("outcome", "measure"), [("died", "odds ratio"), ("survived", "odds ratio")])
@pytest.mark.parametrize("versus", [1, 3])
def test_a_subtype_without_events_has_shares_and_differences_and_leaves_the_ratios(outcome, measure, versus):
    found = naive(outcome, versus=versus)
    assert row_of(found, measure, 2, 1)["estimate"] > 0.0  # the ratio of the others stays
    assert "of its 80 subjects" in row_of(found, measure, 3)["remark"]
    shares = [row_of(found, "share", subtype)["estimate"] for subtype in (1, 2, 3)]
    exact = np.array([16, 43, 0]) / 80
    np.testing.assert_allclose(shares, exact if outcome == "died" else 1.0 - exact)
    other = 3 if versus == 1 else 1
    difference = row_of(found, "risk difference", other, versus)
    sign = (1.0 if outcome == "died" else -1.0) * (-1.0 if versus == 1 else 1.0)
    lower, upper = confint_proportions_2indep(16, 80, 0, 80, compare="diff", method="newcomb")
    ends = sorted(sign * end for end in (lower, upper))
    np.testing.assert_allclose([difference["lower"], difference["upper"]], ends, rtol=1e-6)
    assert difference["p"] == pytest.approx(stats.fisher_exact([[16, 64], [0, 80]]).pvalue)
    wilson = proportion_confint(16, 80, method="wilson")
    if versus == 1 and outcome == "died":
        assert row_of(found, "share", 3)["upper"] == pytest.approx(proportion_confint(0, 80, method="wilson")[1])
        regular = row_of(naive("died"), "share", 1)
        assert regular["lower"] == pytest.approx(wilson[0], abs=0.01)


def test_the_penalised_odds_ratio_adds_a_half_to_each_cell():
    """Of a table of two by two, the penalty of Firth (1993) is a half of a subject in each cell (Haldane 1956)."""
    row = row_of(naive("died", versus=1), "penalised odds ratio", 3, 1)
    assert row["estimate"] == pytest.approx((0.5 / 80.5) / (16.5 / 64.5), rel=1e-5)
    assert row["lower"] < row["estimate"] < row["upper"] < 1.0


@pytest.mark.parametrize("is_odds", [True, False])
def test_profile_intervals_are_those_of_the_penalised_likelihood_maximised_by_scipy(is_odds):
    rng = np.random.default_rng(2)
    design = np.column_stack([rng.random(60) < 0.3, rng.normal(size=60), np.ones(60)]).astype(float)
    y = np.where(design[:, 0] > 0, 0.0, rng.random(60) < 0.3).astype(float)  # the first column separates

    def height(at):
        eta = design @ at
        mean = 1.0 / (1.0 + np.exp(-eta)) if is_odds else np.exp(eta)
        weight = mean * (1.0 - mean) if is_odds else mean
        value = y @ eta - (np.log1p(np.exp(eta)) if is_odds else mean).sum()
        return value + 0.5 * np.linalg.slogdet((weight[:, None] * design).T @ design)[1]

    top = minimize(lambda at: -height(at), np.zeros(3), method="BFGS")
    estimate, lower, upper, p = fit_penalised(design, y, np.zeros(60), is_odds=is_odds)(0)
    assert estimate == pytest.approx(top.x[0], abs=1e-4)
    for end in (lower, upper, 0.0):
        profile = minimize(lambda rest, end=end: -height(np.concatenate([[end], rest])), top.x[1:], method="BFGS")
        fall = 2.0 * (profile.fun - top.fun)
        assert (
            fall == pytest.approx(stats.chi2(1).ppf(0.95), abs=1e-3)
            if end
            else stats.chi2(1).sf(fall) == pytest.approx(p, abs=1e-4)
        )


def test_counts_and_levels_of_nothing_but_the_lowest_leave_the_ratios():
    stays = cc.Feature(name="stays", likelihood="poisson", role="outcome")
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian"), stays], other_columns="ignore")
    groups = cc.Partition(LABELS, schema, made_by="hand")
    found = cc.compare_outcomes(groups, FRAME, "stays").query("method == 'naive'")
    assert row_of(found, "rate ratio", 2, 1)["estimate"] > 1.0
    assert "a count above 0" in row_of(found, "rate ratio", 3)["remark"]
    means = [row_of(found, "mean", subtype)["estimate"] for subtype in (1, 2)]
    np.testing.assert_allclose(means, FRAME["stays"].groupby(LABELS).mean()[:2], rtol=1e-3)
    levels = FRAME.assign(pain=np.where(LABELS == 2, "none", np.where(DIED > 0, "mild", "severe")))
    found = cc.compare_outcomes(GROUPS, levels, "pain").query("method == 'naive'")
    assert row_of(found, "odds ratio", 2, 1)["estimate"] > 0.0
    assert row_of(found, "odds ratio", 3)["remark"] == "no ratio: 0 of its 80 subjects have more than the lowest level"


def test_survival_without_events_in_a_subtype_keeps_the_log_rank_test_and_the_rates():
    found = naive("died", time="days")
    assert row_of(found, "hazard ratio", 2, 1)["estimate"] > 1.0
    assert row_of(found, "hazard ratio", 3)["remark"] == "no ratio: 0 of its 80 subjects have 'yes'"
    statistic, p = survdiff(DAYS, DIED, LABELS)
    row = found[found["measure"] == "log-rank"].iloc[0]
    assert (row["estimate"], row["p"]) == (pytest.approx(statistic), pytest.approx(p))
    rate, exposed = row_of(found, "events per unit of time", 3), DAYS[LABELS == 2].sum()
    assert (rate["estimate"], rate["lower"]) == (0.0, 0.0)
    assert rate["upper"] == pytest.approx(-np.log(0.025) / exposed)
    assert row_of(found, "penalised hazard ratio", 3, 1)["upper"] < 1.0
    assert any(line.startswith("Log-rank: p") for line in summarise_outcomes(found))


def test_the_penalised_hazard_ratio_of_constant_hazards_adds_half_an_event():
    """With constant hazards, the penalty of two Poisson rates is half an event each."""
    y = np.column_stack([DIED, DAYS])
    two = LABELS != 1
    penalised = penalise(y[two], np.empty((160, 0)), (LABELS[two] == 2).astype(int), 0, 2)
    exact = np.log((0.5 / DAYS[LABELS == 2].sum()) / (16.5 / DAYS[LABELS == 0].sum()))
    assert penalised(0)[0] == pytest.approx(exact, abs=1e-5)


def test_without_events_in_all_subtypes_but_one_shares_and_tests_remain():
    frame = FRAME.assign(rare=np.where((LABELS == 1) & (DIED > 0), 1, 0))
    for time in (None, "days"):
        found = cc.compare_outcomes(GROUPS, frame, "rare", time=time)
        ratios = found[found["measure"].isin(["odds ratio", "hazard ratio"])]
        assert ratios["estimate"].isna().all()
        lines = summarise_outcomes(found)
        assert any("no ratio" in line and "1, 3" in line for line in lines)
        assert found[found["measure"].isin(["log-rank", "shares alike"])]["p"].iloc[-1] < 1e-6


@pytest.mark.parametrize("covariates", [[], ["age"]])
def test_hazards_whose_events_do_not_overlap_have_no_ratio(covariates):
    early = RNG.uniform(1.0, 10.0, 240)
    frame = FRAME.assign(days=np.where(LABELS == 0, early, 100.0 * early), all=1)
    two = frame[LABELS < 2]
    groups = cc.Partition(LABELS[LABELS < 2], SCHEMA, made_by="hand")
    found = cc.compare_outcomes(groups, two, "all", time="days", event=1, covariates=covariates)
    assert found.loc[found["measure"].str.contains("hazard ratio"), "estimate"].isna().all()
    assert found["remark"].str.contains("only one side has events").any()
    assert found.loc[found["measure"] == "log-rank", "p"].iloc[0] < 1e-20
    # A third subtype that overlaps with the second keeps its ratio to that.
    found = cc.compare_outcomes(GROUPS, frame, "all", time="days", event=1).query("method == 'naive'")
    assert row_of(found, "hazard ratio", 3, 2)["estimate"] == pytest.approx(1.0, abs=0.5)
    assert "only one side" in row_of(found, "hazard ratio", 1)["remark"]


def test_the_log_rank_test_leaves_out_a_subtype_of_whom_nobody_is_at_risk_and_its_p_is_of_the_upper_tail():
    early = np.where(LABELS == 2, 0.5, np.where(LABELS == 0, 1.0, 100.0) + RNG.random(240))
    frame = FRAME.assign(days=early, died=np.where(LABELS == 2, "no", "yes"))
    row = cc.compare_outcomes(GROUPS, frame, "died", time="days", event="yes").query("measure == 'log-rank'").iloc[0]
    two = LABELS < 2
    assert row["estimate"] == pytest.approx(survdiff(early[two], np.ones(160), LABELS[two])[0])
    assert 0.0 < row["p"] < 1e-30
    assert row["p"] == pytest.approx(stats.chi2(1).sf(row["estimate"]))


@pytest.mark.parametrize("n_subtypes", [2, 3, 4])
def test_ratios_have_a_maximum_where_no_direction_lifts_the_partial_likelihood(n_subtypes):
    """By enumeration: it rises without end if no event of a set of subtypes meets anybody of the others."""
    rng, names = np.random.default_rng(n_subtypes), np.arange(n_subtypes)
    for _ in range(40):
        labels = rng.integers(n_subtypes, size=12)
        time, event = rng.integers(1, 9, 12) + 3.0 * labels * (rng.random() < 0.5), (rng.random(12) < 0.6).astype(float)
        is_whole = np.unique(group_comparable(labels, n_subtypes, event, time, np.zeros(12))[0]).size == 1
        of_subtypes, times = labels[:, None] == names, np.unique(time[event > 0])[:, None]
        events, at_risk = ((time == times) & (event > 0)) @ of_subtypes, (time >= times) @ of_subtypes
        subsets = [(code >> names & 1).astype(bool) for code in range(1, 2**n_subtypes - 1)]
        meets = [any(events[t, s].any() and at_risk[t, ~s].any() for t in range(len(events))) for s in subsets]
        assert is_whole == all(meets)
