"""The check of a model: planted misfits are found and mended, and right models get no advice."""

import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.check.check import COLUMNS_OF_CHECKS, advice_of, better_priors, compute_statistics
from clinclust.errors import SchemaError
from clinclust.estimators.fitting import NOTHING_COMPARED
from clinclust.estimators.subtype_model import cohort_of

MISFIT = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")
LEVELS = ("a", "b", "c")


def cohort(seed=0):
    """Three groups; some columns are not what `wrong_schema` declares, and two depend on each other."""
    rng = np.random.default_rng(seed)
    group = np.repeat([0, 1, 2], [80, 60, 40])
    common = rng.normal(size=180)
    return (
        pd.DataFrame(
            {
                "one": rng.normal(3.0 * group, 1.0),
                "two": rng.normal(-3.0 * group, 1.0),
                "crp": rng.lognormal(0.9 * group, 0.7),
                "counts": rng.negative_binomial(1.5, 1.0 / (1.0 + np.array([1.0, 4.0, 10.0])[group])).astype(float),
                "scale": rng.choice(5, 180, p=[0.4, 0.1, 0.05, 0.1, 0.35]).astype(float),
                "systolic": 2.0 * group + common + 0.5 * rng.normal(size=180),
                "diastolic": 2.0 * group + common + 0.5 * rng.normal(size=180),
                "kind": rng.choice(LEVELS, 180),
            }
        ),
        group,
    )


def wrong_schema():
    kinds = {"counts": "poisson", "scale": {"likelihood": "binomial", "trials": 4}}
    kinds["kind"] = {"likelihood": "categorical", "levels": LEVELS}
    return schema_of(["one", "two", "crp", "counts", "scale", "systolic", "diastolic"], **kinds)


@cache
def wrong_model():
    return quick_fit(cohort()[0], wrong_schema(), n_restarts=4)


@pytest.mark.simulation
@MISFIT
def test_planted_misfits_are_found_and_following_the_advice_brings_the_groups_back():
    frame, group = cohort()
    schema, model = wrong_schema(), wrong_model()
    found = cc.check.check_model(model, frame)
    assert model.n_clusters_ > 5
    assert {"crp", "counts", "scale", "systolic", "diastolic"} <= set(found.advice["feature"])
    mended = found.applied_to(schema)
    assert mended["crp"].transform == "log"
    assert mended["counts"].likelihood in ("geometric", "negative_binomial")
    assert mended["scale"].likelihood == "ordinal"
    assert mended["systolic"].block == mended["diastolic"].block is not None
    assert mended["one"] == schema["one"]
    again = quick_fit(frame, mended, n_restarts=4)
    assert again.n_clusters_ == 3
    assert adjusted_rand_score(group, again.labels_) > 0.9 > adjusted_rand_score(group, model.labels_)
    mended = cc.check.check_model(again, frame)
    assert mended.advice.empty
    assert "Nothing speaks" in mended.summary
    assert "  - {name: crp, likelihood: gaussian, transform: log}" in found.summary


@MISFIT
def test_checks_say_what_is_observed_and_what_is_expected():
    frame, _ = cohort()
    found = cc.check.check_model(wrong_model(), frame)
    checks = found.checks.set_index(["feature", "statistic"])
    scatter = checks.loc[("counts", "scatter")]
    assert scatter["p"] < 0.02
    assert scatter["distance"] > 5.0
    assert scatter["observed"] > 2.0 * scatter["expected"]
    assert f"the values vary {scatter['observed']:.3g} (variance)" in scatter["words"]
    assert checks.loc[("counts", "zeros"), "observed"] > checks.loc[("counts", "zeros"), "expected"]
    assert checks.loc[("scale", "ends"), "observed"] > checks.loc[("scale", "ends"), "expected"]
    assert checks.loc[("crp", "skewness"), "observed"] > 0.5 > abs(checks.loc[("crp", "skewness"), "expected"])
    assert "kind" not in set(found.checks["feature"])  # levels can have any distribution
    strongest = found.pairs.iloc[0]
    assert {strongest["first"], strongest["second"]} == {"systolic", "diastolic"}
    assert strongest["correlation"] > 0.6
    assert len(found.pairs) == 8 * 7 / 2
    assert found.pairs["correlation"].abs().is_monotonic_decreasing


@pytest.mark.simulation
def test_right_models_get_advice_in_few_cohorts():
    """30 cohorts of one to three groups from the model: none in 95%, so that at most 5 have any (3 SE above)."""
    n_with = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 1])
        group = rng.integers(1 + seed % 3, size=100)
        frame = pd.DataFrame(rng.normal(4.0 * group[:, None], 1.0, (100, 3)), columns=list("abc"))
        frame["d"] = rng.poisson(2.0 + 3.0 * group).astype(float)
        frame["e"] = rng.binomial(6, 0.2 + 0.2 * group).astype(float)
        frame = frame.mask(rng.random(frame.shape) < 0.05)
        kinds = {"d": "poisson", "e": {"likelihood": "binomial", "trials": 6}}
        model = quick_fit(frame, schema_of(frame, **kinds))
        n_with += not cc.check.check_model(model, frame).advice.empty
    assert n_with <= 5


def test_statistics_by_brute_force():
    rng = np.random.default_rng(0)
    clusters = np.sort(rng.integers(3, size=40))
    values = np.round(rng.normal(3.0 * clusters, 2.0, (5, 40)))
    feature = cc.Feature(name="counts", likelihood="poisson")
    computed = compute_statistics(values, clusters, feature, feature.traits.of(feature))
    assert set(computed) == {"scatter", "zeros", "tails"}
    means = pd.DataFrame(values.T).groupby(clusters).transform("mean").to_numpy().T
    residuals = values - means
    np.testing.assert_allclose(computed["scatter"], (residuals**2).mean(axis=1))
    np.testing.assert_allclose(computed["zeros"], (values == 0).mean(axis=1))
    spread = residuals.std(axis=1, keepdims=True)
    np.testing.assert_allclose(computed["tails"], (np.abs(residuals) >= 3.0 * spread).mean(axis=1))
    feature = cc.Feature(name="length", likelihood="gaussian")
    computed = compute_statistics(values, clusters, feature, feature.traits.of(feature))
    np.testing.assert_allclose(computed["skewness"], ((residuals / spread) ** 3).mean(axis=1))


@MISFIT
def test_what_cannot_be_checked_is_refused():
    frame, _ = cohort()
    found = cc.check.check_model(wrong_model(), frame)
    with pytest.raises(KeyError):
        found.applied_to(wrong_schema().restricted_to(["one", "two"]))
    with pytest.raises(SchemaError, match="must be those of the schema"):
        wrong_schema().with_changed([])


@pytest.mark.parametrize("n", [2, 9, 40])
def test_one_feature_few_subjects_and_a_constant_are_checked(n):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": np.r_[rng.normal(size=n), rng.normal(9.0, 1.0, n)], "same": 1.0})
    for names in (["a"], ["a", "same"]):
        schema = gaussian_schema(names)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.CohortWarning)  # of the constant
            model = quick_fit(frame[names], schema)
        found = cc.check.check_model(model, frame[names])
        assert found.pairs.empty
        assert found.advice.empty
        assert found.applied_to(schema) == schema


def counts_in_far_groups(seed):
    """Negative binomial counts of dispersion 2 in groups whose means lie far apart, beside three measurements."""
    rng = np.random.default_rng([seed, 9])
    group = np.repeat([0, 1, 2], [120, 100, 80])
    frame = pd.DataFrame(rng.normal(3.0 * group[:, None], 1.0, (300, 3)), columns=list("abc"))
    frame["visits"] = rng.negative_binomial(2.0, 1.0 / (1.0 + np.array([0.2, 3.0, 20.0])[group])).astype(float)
    return frame, schema_of("abc", visits="negative_binomial")


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(3))
def test_a_dispersion_that_holds_the_differences_between_groups_is_told_and_mended(seed):
    frame, schema = counts_in_far_groups(seed)
    model = quick_fit(frame, schema, n_restarts=4)
    assert model.n_clusters_ == 3
    assert model.hyperparameters_["visits"]["dispersion"] < 1.0  # that of all subjects together
    found = cc.check.check_model(model, frame)
    assert not found.likelihoods["is_misfit"].any()
    told = found.advice[found.advice["feature"] == "visits"]
    assert set(told["kind"]) == {"values"}
    mended = found.applied_to(schema)
    assert 1.3 < mended["visits"].prior["dispersion"] < 3.0
    again = quick_fit(frame, mended, n_restarts=4)
    assert cc.check.check_model(again, frame).advice.empty


def test_better_priors_are_those_of_the_highest_marginal():
    frame, schema = counts_in_far_groups(0)
    model = quick_fit(frame, schema, n_restarts=4)
    likelihood = schema["visits"].traits.of(schema["visits"])
    values = frame["visits"].to_numpy()

    def evidence(theta):
        return sum(likelihood.log_marginal(values[model.labels_ == k], theta) for k in range(model.n_clusters_))

    tried = likelihood.compared_hyperparameters(values)
    best = max(tried, key=evidence)
    (stated,) = better_priors(cohort_of(model, frame)).values()
    assert stated == {"dispersion": pytest.approx(best[2], rel=0.05)}
    own = np.array([model.hyperparameters_["visits"][name] for name in likelihood.hyperparameter_names])
    assert evidence(best) > evidence(own) + 5.0
    stated_schema = schema.with_changed(
        [*list(schema)[:3], cc.Feature(name="visits", likelihood="negative_binomial", prior=stated)]
    )
    assert better_priors(cohort_of(quick_fit(frame, stated_schema, n_restarts=4), frame)) == {}


# --- which features are advised to be one block -----------------------------------------------------------------------


NAMES = list("abcdefgh")
SCHEMA = gaussian_schema(NAMES)


def blocks(correlations, schema=SCHEMA, p=1e-6):
    """Return the block of each feature that is advised one, and the rows of the advice."""
    pairs = pd.DataFrame(
        [(*pair, correlations.get("".join(pair), 0.0)) for pair in combinations(schema.names, 2)],
        columns=["first", "second", "correlation"],
    ).assign(p_of_largest=p)
    pairs = pairs.loc[pairs["correlation"].abs().sort_values(ascending=False).index]
    compared = pd.DataFrame({"feature": schema.names, "evidence": 0.0, "schema_line": None, "is_misfit": False})
    checks = pd.DataFrame(columns=COLUMNS_OF_CHECKS).astype({"p": float, "distance": float})
    advice, mended = advice_of(schema, compared, checks, pairs)
    return {name: feature.block for name, feature in mended.items()}, advice


def test_the_columns_are_those_of_the_comparison():
    assert {"feature", "evidence", "schema_line", "is_misfit"} <= set(NOTHING_COMPARED.columns)


def test_all_pairs_of_a_block_depend_on_each_other():
    found, advice = blocks({"ab": 0.7, "ac": 0.6, "bc": -0.55, "ef": 0.5})
    assert found == dict.fromkeys("abc", "depends_1") | dict.fromkeys("ef", "depends_2")
    assert advice["problem"].tolist()[0] == "depends on b, c inside the subtypes"
    assert advice["evidence"].iloc[0] == "r = 0.70 of a and b"


def test_the_ends_of_a_chain_are_in_no_common_block():
    found, advice = blocks({"ab": 0.8, "bc": 0.6, "cd": 0.7})
    assert found == dict.fromkeys("ab", "depends_1") | dict.fromkeys("cd", "depends_2")
    assert advice["feature"].tolist() == list("abcd")


def test_what_depends_too_weakly_for_a_block_is_told_without_a_line():
    found, advice = blocks({"ab": 0.7, "bc": 0.4, "ef": 0.3})
    assert found == dict.fromkeys("ab", "depends_1")
    advice = advice.set_index("feature")
    assert advice["line"].isna().to_dict() == {"a": False, "b": False, "c": True, "e": True, "f": True}
    assert advice.loc["c", "problem"] == "depends on b inside the subtypes"
    assert advice.loc["c", "evidence"] == "r = 0.40 of b and c"


def test_a_feature_with_two_problems_has_one_line_that_mends_both():
    pairs = pd.DataFrame([("a", "b", 0.9, 1e-9)], columns=["first", "second", "correlation", "p_of_largest"])
    compared = pd.DataFrame({"feature": NAMES, "declared": "gaussian", "better": "of the log", "evidence": 50.0})
    compared["schema_line"] = [f"- {{name: {name}, likelihood: gaussian, transform: log}}" for name in NAMES]
    compared["is_misfit"] = compared["feature"] == "a"
    compared.loc[1:, "evidence"] = 0.0
    checks = pd.DataFrame(columns=COLUMNS_OF_CHECKS).astype({"p": float, "distance": float})
    advice, mended = advice_of(SCHEMA, compared, checks, pairs)
    lines = advice.loc[advice["feature"] == "a", "line"]
    assert set(lines) == {"- {name: a, likelihood: gaussian, transform: log, block: depends_1}"}
    assert len(lines) == 2
    assert (mended["a"].transform, mended["a"].block) == ("log", "depends_1")


@pytest.mark.parametrize(("r", "p"), [(0.29, 1e-6), (0.9, 0.02)])
def test_what_is_weak_or_may_be_chance_is_no_block(r, p):
    found, advice = blocks({"ab": r}, p=p)
    assert found == {}
    assert advice.empty


def test_dependence_of_more_than_half_of_the_features_is_told_and_is_no_block():
    found, advice = blocks({"".join(pair): 0.6 for pair in combinations("abcde", 2)})
    assert found == {}
    assert advice["feature"].tolist() == list("abcde")
    assert advice["line"].isna().all()
    found, _ = blocks({"".join(pair): 0.6 for pair in combinations("abcd", 2)})
    assert set(found) == set("abcd")


def test_a_feature_joins_the_block_that_another_has():
    schema = SCHEMA.with_changed(
        [cc.Feature(**(f.content() | ({"block": "lipids"} if f.name == "a" else {}))) for f in SCHEMA]
    )
    found, advice = blocks({"ab": 0.6}, schema=schema)
    assert found == {"b": "lipids"}
    assert advice["feature"].tolist() == ["b"]
