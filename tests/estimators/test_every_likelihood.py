"""Every registered likelihood takes part everywhere: fit, predict, impute, save, estimate, report, share."""

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, feature, in_table, quick_fit
from oracles import log_joint as oracle_log_joint
from scored import few
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.errors import InputError
from clinclust.likelihoods import REGISTRY

every = pytest.mark.parametrize("name", EVERY_LIKELIHOOD)


def _cohort(name, seed=5, n=120, n_features=12, missing=0.1):
    """Return a table of three groups, its schema, its columns for the oracle, and the groups."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.arange(n) % 3)
    features, frame, columns = [], {}, {}
    for number in range(n_features):
        values = REGISTRY[name].examples()[0].column(rng, groups, 3)
        values = np.where(rng.random(n) < missing, np.nan, values)
        features.append(feature(f"x{number}", name))
        frame[f"x{number}"] = in_table(features[-1], values)
        columns[f"x{number}"] = (name, features[-1].n_trials, values)
    return pd.DataFrame(frame), cc.FeatureSchema(features), columns, groups


@every
def test_groups_are_found_and_new_subjects_find_theirs(name):
    frame, schema, _, groups = _cohort(name)
    known = {key: value for key, value in REGISTRY[name].examples()[0].prior.items() if key == "dispersion"}
    stated = dict.fromkeys(schema.names, known)
    model = quick_fit(frame, schema, hyperparameters=stated, n_restarts=4)
    assert model.log_joint_ >= cc.log_joint(frame, groups, schema, stated) - 1e-6
    assert model.n_clusters_ > 1
    assert adjusted_rand_score(groups, model.labels_) > 0.5
    assert (model.predict(frame) == model.labels_).mean() > 0.95
    assert (np.diff(model.log_joint_trace_) > -1e-8).all()


@every
def test_the_joint_is_that_of_subjects_seated_one_by_one_and_a_saved_model_predicts_the_same(name, tmp_path):
    frame, schema, columns, _ = _cohort(name, n=20, n_features=3)
    model = quick_fit(frame, schema)
    again = cc.MAPDP.load(model.save(tmp_path / "model"))
    assert again.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    expected = oracle_log_joint(columns, model.labels_, model.hyperparameters_, 3.0)
    assert model.log_joint_ == pytest.approx(expected, rel=1e-9)
    assert cc.log_joint(frame, model.labels_, schema) == pytest.approx(expected, rel=1e-9)


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
@pytest.mark.filterwarnings("ignore:no observed value in any feature")
@every
def test_missing_values_are_filled_in_with_possible_ones(name):
    frame, schema, _, _ = _cohort(name, n=60, n_features=3)
    model = quick_fit(frame, schema)
    for filled in (model.impute(frame), *model.multiple_imputations(frame, 1, n_sweeps=1, random_state=0)):
        assert not filled.isna().to_numpy().any()
        schema.validate(filled)


@pytest.mark.filterwarnings("ignore:no observed value in any feature")
@every
def test_it_is_reported_and_shared(name, tmp_path, some):
    frame, schema, _, _ = _cohort(name, n=60, n_features=2, missing=0.15)
    model = quick_fit(frame, schema)
    comparisons = cc.compare_subtypes(frame, model.labels_, schema)
    shared = cc.suppress_small_cells(comparisons)
    assert not cc.disclosure.audit_disclosure(shared, truth=comparisons)["disclosed"].any()
    for suppress, suffix in some([(None, "html"), (10, "xlsx"), (None, "xlsx"), (10, "html")], few=1):
        path = cc.write_report(model, frame, tmp_path / f"{suppress}.{suffix}", associations=None, suppress=suppress)
        assert path.stat().st_size > 1000
    assert REGISTRY[name].title in (tmp_path / "None.html").read_text(encoding="utf-8").replace("&#x27;", "'")
    cc.subtype_table(comparisons).save(tmp_path / "table.html")


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
@pytest.mark.parametrize("dispersion", few([1e-3, 1e6, 1.0, 1e3, 1e5], 2))
def test_a_stated_dispersion_of_any_size_gives_a_distribution(dispersion):
    rng = np.random.default_rng(0)
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="negative_binomial", prior={"dispersion": dispersion})])
    frame = pd.DataFrame({"x": rng.poisson(4, 100).astype(float)})
    model = quick_fit(frame, schema)
    below = np.exp(model.score_samples(pd.DataFrame({"x": np.arange(60_000.0)}))).sum()
    assert below == pytest.approx(1.0, abs=1e-6 if dispersion >= 1.0 else 0.05)
    if dispersion >= 1e5:  # practically Poisson, whose default prior is the stronger one
        poisson = cc.FeatureSchema([cc.Feature(name="x", likelihood="poisson")])
        assert cc.log_joint(frame, np.zeros(100), schema) == pytest.approx(
            cc.log_joint(frame, np.zeros(100), poisson), abs=5.0
        )


def _beyond(declared, values):
    """Yield columns and stated hyperparameters, of which one number is beyond what the likelihood models."""
    traits, spread = declared.traits, np.nanstd(values)
    if not traits.takes & {"levels", "trials"}:
        yield np.append(values[1:], np.ceil(1.1 * traits.largest)), {}
    if traits.is_continuous:
        yield 1e-250 * values, {}
    likelihood = traits.of(declared)
    for name, usual in likelihood.as_dict(likelihood.default_hyperparameters(values)).items():
        low, high = traits.bounds.get(name, traits.usual_bounds)
        wrong = [2.0 * high, min(low, 1e-5) / 2.0, 0.0, -1.0]
        if name == "mean":
            wrong = [usual + sign * 2.0 * high * spread for sign in (-1.0, 1.0)]
        elif name in traits.with_unit:
            wrong = [np.multiply(usual, end).tolist() for end in (20.0 * high, low / 20.0)]
        yield from ((values, {name: value}) for value in wrong)


@every
def test_numbers_beyond_what_is_modelled_are_refused_with_the_name_of_the_feature(name):
    _, schema, columns, _ = _cohort(name, n=12, n_features=2, missing=0.0)
    scores = {column: values for column, (_, _, values) in columns.items()}
    for values, prior in _beyond(schema["x1"], scores["x1"]):
        column = values if prior == {} else in_table(schema["x1"], values)
        frame, stated = pd.DataFrame({"x0": in_table(schema["x0"], scores["x0"]), "x1": column}), {"x1": prior}
        for call in (
            lambda: cc.log_joint(frame, np.arange(12) % 2, schema, stated),  # noqa: B023
            lambda: quick_fit(frame, schema, hyperparameters=stated),  # noqa: B023
        ):
            with pytest.raises(InputError, match="x1") as refused:
                call()
            assert len(str(refused.value)) < 4000


def test_priors_and_scales_beyond_their_limits_are_refused():
    with pytest.raises(cc.SchemaError, match=r"dispersion must lie between 1e-06 and 1e\+06, not 1e\+12"):
        cc.Feature(name="x", likelihood="negative_binomial", prior={"dispersion": 1e12})
    with pytest.raises(cc.SchemaError, match="at most 200 steps, not 5,000; declare a longer scale gaussian"):
        cc.Feature(name="x", likelihood="ordinal", trials=5000)
    with pytest.raises(cc.SchemaError, match="at most 10,000 steps, not 1,000,000"):
        cc.Feature(name="x", likelihood="binomial", trials=1_000_000)
