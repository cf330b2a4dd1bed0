"""Drift of a batch: no alarm without drift, what was planted is found, and odd batches work."""

import itertools

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit, schema_of
from scipy import stats

import clinclust as cc
from clinclust.drift.assess import chi_squared, compared_margins
from clinclust.errors import InputError
from clinclust.likelihoods import REGISTRY

LEVELS = ("a", "b", "c")
KINDS = {
    "gait": {"likelihood": "gaussian", "label": "Gait speed"},
    "crp": {"likelihood": "gaussian", "transform": "log"},
    "falls": {"likelihood": "poisson"},
    "stage": {"likelihood": "binomial", "trials": 4},
    "tremor": {"likelihood": "bernoulli"},
    "kind": {"likelihood": "categorical", "levels": LEVELS},
}
SCHEMA = schema_of([], **KINDS)


def people(n, seed):
    rng = np.random.default_rng(seed)
    group = (rng.random(n) < 0.4).astype(int)
    frame = pd.DataFrame(
        {
            "gait": rng.normal(4.0 * group, 1.0),
            "crp": rng.lognormal(3.0 * group, 0.8),
            "falls": rng.poisson(1.0 + 6.0 * group).astype(float),
            "stage": rng.binomial(4, 0.2 + 0.5 * group).astype(float),
            "tremor": rng.binomial(1, 0.3, n).astype(float),
            "kind": rng.choice(LEVELS, n),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.08)


@pytest.fixture(scope="module")
def cohort():
    return people(200, 0)


@pytest.fixture(scope="module")
def model(cohort):
    return quick_fit(cohort, SCHEMA)


def of_features(drift):
    return drift.features.set_index("feature")


@pytest.mark.simulation
def test_without_drift_few_batches_are_called_different():
    """40 cohorts, each fitted, with a batch of the same people: at most 7 of 40 p below .05 (binomial, .999)."""
    p = {"none of these": [], "shares of subtypes": []}
    any_q, p_missing = [], []
    for seed in range(40):
        everybody = people(180, seed + 1)
        fitted = quick_fit(everybody.iloc[:120], SCHEMA, n_restarts=1)
        drift = cc.drift.assess_drift(fitted, everybody.iloc[:120], everybody.iloc[120:])
        for row in drift.tests.itertuples():
            p[row.question].append(row.p)
        any_q.append((drift.features[["q", "q_missing"]] < 0.05).any(axis=None))
        p_missing += drift.features["p_missing"].tolist()
    most = stats.binom.ppf(0.999, 40, 0.05)
    assert all(np.sum(np.array(found) <= 0.05) <= most for found in p.values())
    assert np.sum(any_q) <= stats.binom.ppf(0.999, 40, 0.1)  # two families of features
    assert np.sum(np.array(p_missing) <= 0.05) <= stats.binom.ppf(0.999, len(p_missing), 0.05)


def test_planted_differences_are_found_and_said(model, cohort):
    new = people(120, 5)
    new["crp"] *= 4.0
    new["kind"] = np.where(np.arange(120) % 3, "c", new["kind"])
    new.loc[new.index % 2 == 0, "falls"] = np.nan
    new.loc[:29, "gait"] = 60.0
    drift = cc.drift.assess_drift(model, cohort, new)
    features = of_features(drift)
    assert set(features.index[features["q"] < 0.05]) == {"gait", "crp", "kind"}
    assert set(features.index[features["q_missing"] < 0.05]) == {"falls"}
    assert features.loc["falls", "missing_batch"] > 0.5 > 0.2 > features.loc["falls", "missing_cohort"]
    assert features.loc["crp", "effect"] > 0.5
    assert features.loc["kind", "measure"] == "Cramer's V"
    tests = drift.tests.set_index("question")
    none = drift.subtypes.iloc[-1]
    assert none["subtype"] == 0
    assert none["n_batch"] >= 30 > 3 >= none["n_cohort"]
    assert tests.loc["none of these", "p"] < 1e-6
    np.testing.assert_allclose(tests.loc["none of these", "effect"], none["share_batch"] - none["share_cohort"])
    said = drift.summary.splitlines()
    assert said[0] == "The batch has 120 subjects, the cohort 200."
    assert "more of the batch fit no subtype (p < 0.001)" in said[1]
    assert said[3].startswith("1 of 6 features is missing more or less often (q below 0.05): falls (")
    assert "Gait speed (+" in said[4]
    assert "kind (Cramer's V " in said[4]
    assert "3 of 6 features differ" not in repr(drift)
    assert "4 of 6 features differ" in repr(drift)


def test_more_of_one_subtype_is_found_among_those_with_a_subtype(model, cohort):
    pool = people(400, 8)
    batch = pool[model.predict(pool) == 1].iloc[:60]
    drift = cc.drift.assess_drift(model, cohort, batch)
    assert drift.subtypes["n_batch"].tolist() == [0, 60, 0]
    shares = drift.tests.set_index("question").loc["shares of subtypes"]
    assert shares["p"] < 1e-3
    counts = drift.subtypes.iloc[:-1][["n_cohort", "n_batch"]].to_numpy()
    np.testing.assert_allclose(shares["effect"], stats.contingency.association(counts, method="cramer"))
    assert "Shares of subtypes: 0.0% / 100.0% in the batch" in drift.summary


def test_the_numbers_of_the_batch_are_those_of_its_predictions(model, cohort):
    new = people(80, 9)
    new.iloc[:3] = np.nan
    drift = cc.drift.assess_drift(model, cohort, new)
    labels = model.predict(new.iloc[3:])
    assert drift.subtypes["n_batch"].tolist() == [*np.bincount(labels[labels >= 0], minlength=2), (labels < 0).sum()]
    assert drift.n_batch == 80
    features = of_features(drift)
    assert (features["n_batch"] == new.notna().sum()).all()
    np.testing.assert_allclose(features["missing_batch"], new.isna().mean()[features.index])
    gait = features.loc["gait"]
    shift = (new["gait"].mean() - cohort["gait"].mean()) / cohort["gait"].std(ddof=0)
    np.testing.assert_allclose(gait["effect"], shift)
    np.testing.assert_allclose(gait["p"], stats.ks_2samp(cohort["gait"].dropna(), new["gait"].dropna()).pvalue)


def test_values_never_seen_are_counted_and_taken_for_missing(model, cohort):
    new = people(50, 3).astype(object)
    blank = new.copy()
    new.loc[[1, 4], "stage"], blank.loc[[1, 4], "stage"] = 9, np.nan
    new.loc[6, "kind"], blank.loc[6, "kind"] = "z", np.nan
    drift, without = (cc.drift.assess_drift(model, cohort, batch) for batch in (new, blank))
    assert of_features(drift)["n_unseen"].to_dict() == dict.fromkeys(KINDS, 0) | {"stage": 2, "kind": 1}
    assert of_features(without)["n_unseen"].sum() == 0
    pd.testing.assert_frame_equal(drift.subtypes, without.subtypes)
    assert (of_features(drift)["n_batch"] == of_features(without)["n_batch"]).all()
    missing = of_features(without)["missing_batch"] - of_features(drift)["missing_batch"]
    np.testing.assert_allclose(missing[["stage", "kind", "gait"]], [2 / 50, 1 / 50, 0.0])
    said = drift.summary.splitlines()[-1]
    assert said == "Values that the model does not know, taken for missing: stage (2 subjects), kind (1 subject)."


@pytest.mark.parametrize("n", [1, 2, 5])
def test_batches_of_a_few_subjects_work(model, cohort, n):
    drift = cc.drift.assess_drift(model, cohort, people(n, n))
    assert drift.subtypes["n_batch"].sum() == n
    assert drift.features["p"].dropna().between(0.0, 1.0).all()
    assert f"The batch has {n} subject" in drift.summary


def test_a_feature_without_any_value_in_the_batch_is_missing_and_not_compared(model, cohort):
    drift = cc.drift.assess_drift(model, cohort, people(60, 4).assign(gait=np.nan, kind=None))
    features = of_features(drift)
    assert features.loc[["gait", "kind"], "p"].isna().all()
    assert features.loc[["gait", "kind"], "q"].isna().all()
    assert (features.loc[["gait", "kind"], "q_missing"] < 1e-6).all()
    assert features.drop(["gait", "kind"])["q"].notna().all()
    assert "Not compared, because the batch has no value: Gait speed, kind." in drift.summary
    nobody = cc.drift.assess_drift(model, cohort, people(3, 4).assign(**dict.fromkeys(KINDS)))
    assert nobody.tests["p"].isna().all()
    assert "too few subjects for a test" in nobody.summary


def test_a_feature_that_must_be_complete_may_be_missing_in_the_batch():
    frame = people(120, 2)[["gait", "crp"]].dropna()
    fitted = quick_fit(frame, schema_of([], **{name: {"complete": True, **KINDS[name]} for name in frame}))
    new = people(30, 3)[["gait", "crp"]].assign(gait=None)
    assert of_features(cc.drift.assess_drift(fitted, frame, new)).loc["gait", "missing_batch"] == 1.0


def test_one_subtype_and_a_cut_model_are_compared(model, cohort):
    drift = cc.drift.assess_drift(model.cut(1), cohort, people(40, 6))
    assert drift.subtypes["subtype"].tolist() == [1, 0]
    assert np.isnan(drift.tests["p"].iloc[1])
    assert "there is only one subtype" in drift.summary


def test_the_same_seed_gives_the_same_and_the_order_of_new_subjects_does_not_matter(model, cohort):
    new = people(60, 7)
    one = cc.drift.assess_drift(model, cohort, new)
    two = cc.drift.assess_drift(model, cohort, new.sample(frac=1.0, random_state=2))
    pd.testing.assert_frame_equal(one.features, two.features)
    pd.testing.assert_frame_equal(one.tests, two.tests)
    other = cc.drift.assess_drift(model, cohort, new, random_state=5)
    assert not other.features["p"].equals(one.features["p"])


def test_text_of_the_data_stays_on_its_line():
    frame = people(100, 2)[["gait"]].assign(grip=people(100, 3)["gait"])
    frame = frame.rename(columns={"gait": "gait\nclinclust: all is well"})
    drift = cc.drift.assess_drift(quick_fit(frame), frame, frame.iloc[:40] + 50.0)
    assert len(drift.summary.splitlines()) == 5
    assert "gait\u240aclinclust" in drift.summary


def test_what_cannot_be_compared_is_refused(model, cohort):
    new = people(20, 1)
    with pytest.raises(InputError, match="new has no rows"):
        cc.drift.assess_drift(model, cohort, new.iloc[:0])
    with pytest.raises(InputError, match="new subjects is the cohort of the fit itself"):
        cc.drift.assess_drift(model, cohort, cohort)
    with pytest.raises(InputError, match="new must be a table of pandas"):
        cc.drift.assess_drift(model, cohort, new.to_numpy())
    with pytest.raises(cc.CohortError, match="expected a column of this name"):
        cc.drift.assess_drift(model, cohort, new.drop(columns="gait"))


# --- the tests of two samples hold their level for every likelihood, ties or not, and see what differs ----------------


N_SIMULATED, ALPHA = 400, 0.05
DRAWS = {
    "bernoulli": ({}, lambda rng, n: rng.binomial(1, 0.4, n)),
    "binomial": ({"trials": 4}, lambda rng, n: rng.binomial(4, 0.3, n)),
    "ordinal": ({"trials": 5}, lambda rng, n: rng.choice(6, n, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])),
    "categorical": ({"levels": ("a", "b", "c")}, lambda rng, n: rng.choice(3, n, p=[0.5, 0.3, 0.2])),
    "poisson": ({}, lambda rng, n: rng.poisson(1.5, n)),
    "geometric": ({}, lambda rng, n: rng.geometric(0.3, n) - 1),
    "negative_binomial": ({}, lambda rng, n: rng.negative_binomial(1.0, 0.1, n)),
    "exponential": ({}, lambda rng, n: rng.exponential(2.0, n)),
    "gaussian": ({}, lambda rng, n: rng.normal(0.0, 1.0, n)),
    "multivariate_gaussian": ({}, lambda rng, n: rng.normal(0.0, 1.0, n)),
    "gaussian, rounded": ({}, lambda rng, n: rng.normal(60.0, 8.0, n).round()),
}


def likelihood_of(name):
    name, fields = name.partition(",")[0], DRAWS[name][0]
    feature = cc.Feature(name="x", likelihood=name, **fields)
    return feature.traits.of(feature)


def samples(name, rng, n, m):
    draw = DRAWS[name][1]
    return draw(rng, n).astype(float), draw(rng, m).astype(float)


def test_every_likelihood_is_tried():
    assert {name.partition(",")[0] for name in DRAWS} == set(REGISTRY)


@pytest.mark.simulation
@pytest.mark.parametrize("name", DRAWS)
def test_without_drift_p_is_small_as_often_as_it_says(name):
    """400 pairs of samples: p <= .05 in 20 of them on average, in 7 to 36 of them with a probability of .9995.

    Few values make the possible p coarse: a test may then be below its level, never above.
    """
    rng, likelihood = np.random.default_rng(20), likelihood_of(name)
    p = np.array([compared_margins(likelihood, *samples(name, rng, 150, 60), rng).p for _ in range(N_SIMULATED)])
    low, high = stats.binom.ppf([0.0005, 0.9995], N_SIMULATED, ALPHA)
    assert low <= (p <= ALPHA).sum() <= high
    assert ((p > 0.0) & (p <= 1.0)).all()
    assert abs(np.median(p) - 0.5) < 0.12


@pytest.mark.simulation
@pytest.mark.parametrize("name", DRAWS)
def test_a_batch_of_four_never_breaks_the_level(name):
    rng, likelihood = np.random.default_rng(21), likelihood_of(name)
    p = np.array([compared_margins(likelihood, *samples(name, rng, 80, 4), rng).p for _ in range(N_SIMULATED)])
    assert (p <= ALPHA).sum() <= stats.binom.ppf(0.9995, N_SIMULATED, ALPHA)


@pytest.mark.parametrize("name", DRAWS)
def test_a_plain_difference_has_a_small_p(name):
    rng, likelihood = np.random.default_rng(22), likelihood_of(name)
    cohort, batch = samples(name, rng, 200, 100)
    largest = {"bernoulli": 1, "binomial": 4, "ordinal": 5, "categorical": 2}.get(name)
    moved = np.full(100, float(largest)) if largest else 3.0 * batch + 3.0
    found = compared_margins(likelihood, cohort, moved, rng)
    assert found.p < 1e-4, "a small p is computed from more draws"
    assert compared_margins(likelihood, cohort, batch, rng).p > 0.001


def test_permuted_tests_are_those_of_all_permutations():
    cohort, batch = np.array([0.0, 0.0, 1.0, 3.0, 3.0, 4.0]), np.array([1.0, 4.0, 4.0])
    both = np.concatenate([cohort, batch])
    for name, statistic in (("binomial", _distance), ("poisson", _distance), ("categorical", _chi_squared)):
        found = compared_margins(likelihood_of(name), cohort, batch, np.random.default_rng(0))
        chosen = [np.isin(np.arange(9), places) for places in itertools.combinations(range(9), 3)]
        of_all = np.array([statistic(both[~here], both[here]) for here in chosen])
        here = statistic(cohort, batch)
        np.testing.assert_allclose(abs(found.statistic), here)
        exact = (of_all >= here - 1e-9).mean()
        assert abs(found.p - exact) < 4.0 * np.sqrt(exact * (1.0 - exact) / 2000)


def _distance(cohort, batch):
    return stats.ks_2samp(cohort, batch).statistic


def _chi_squared(cohort, batch):
    levels = np.unique(np.concatenate([cohort, batch]))
    table = [[(side == level).sum() for level in levels] for side in (cohort, batch)]
    return stats.chi2_contingency(table, correction=False).statistic


def test_p_by_draws_is_never_0():
    for draw, name in ((np.zeros(300), "bernoulli"), (np.zeros(300), "categorical"), (np.arange(300.0), "poisson")):
        found = compared_margins(likelihood_of(name), draw, np.full(200, draw.max() + 1.0), np.random.default_rng(0))
        assert 0.0 < found.p < 1e-3, name


def test_what_cannot_be_tested_has_no_p():
    rng, some, none = np.random.default_rng(0), np.ones(5), np.empty(0)
    for name in DRAWS:
        assert compared_margins(likelihood_of(name), some, none, rng).test == ""
        assert compared_margins(likelihood_of(name), some, some, rng).test == ""
    assert chi_squared(np.array([3, 0]), np.array([2, 0]), rng).test == ""
    assert chi_squared(np.array([3, 1]), np.array([0, 0]), rng).test == ""
