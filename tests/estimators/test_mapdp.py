"""The estimator: scikit-learn's conventions, and every number it gives against an independent computation."""

import threading
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import oracles
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from cohorts import LEVELS, TRIALS, feature, gaussian_schema, mixed_cohort, quick_fit, schema_of
from problems import mixed_problem
from scipy.special import logsumexp

from clinclust import MAPDP, CohortError, CohortWarning, Feature, FeatureSchema, Partition, compare_subtypes, log_joint
from clinclust.errors import InputError, NotFittedError
from clinclust.estimators.mapdp import NONE_OF_THESE
from clinclust.methods import PublishedMAPDP


@pytest.fixture(scope="module")
def cohort():
    """Return (frame, schema, columns for the oracle, fitted model) of 60 subjects, a tenth of the values missing."""
    frame, schema, columns, _ = mixed_cohort(11, n=60)
    model = quick_fit(frame, schema, concentration=1.7, n_restarts=6)
    assert model.n_clusters_ >= 2
    return frame, schema, columns, model


def two_groups(seed=0, sizes=(30, 20), n_features=3):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(6 * k, 1, (size, n_features)) for k, size in enumerate(sizes)])


def new_subjects(columns, n, seed=0):
    """Return (frame, columns of values) of people the model has not seen, some with values nobody had."""
    rng = np.random.default_rng(seed)
    frame, values_of = {}, {}
    for name, (likelihood, trials, values) in columns.items():
        if likelihood in ("poisson", "geometric"):
            values = rng.integers(0, 300, n).astype(float)
        elif likelihood in ("exponential", "gaussian"):
            values = rng.choice(values[~np.isnan(values)], n) * rng.uniform(0.5, 2, n)
        else:
            values = rng.integers({"bernoulli": 1, "binomial": trials, "categorical": 2}[likelihood] + 1, size=n)
        values = np.where(rng.random(n) < 0.25, np.nan, values)
        values_of[name] = values
        texts = np.array([*LEVELS, None], dtype=object)
        frame[name] = (
            texts[np.where(np.isnan(values), 3, values).astype(int)] if likelihood == "categorical" else values
        )
    return pd.DataFrame(frame), values_of


def oracle_weights(columns, model, values_of, n):
    return np.array(
        [
            oracles.log_weights(
                columns,
                model.labels_,
                model.hyperparameters_,
                model.concentration_,
                {name: values[i] for name, values in values_of.items()},
            )
            for i in range(n)
        ]
    )


# --- new subjects ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
@pytest.mark.parametrize("seed", range(2))
def test_new_subjects_agree_with_scipys_mixture(seed, cohort):
    _, _, columns, model = cohort
    new, values_of = new_subjects(columns, 12, seed)
    weights = oracle_weights(columns, model, values_of, 12)
    density = logsumexp(weights, axis=1)
    np.testing.assert_allclose(model.score_samples(new), density, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(new), np.exp(weights - density[:, None]), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(new).sum(axis=1), 1.0, rtol=1e-12)
    best = weights.argmax(axis=1)
    assert model.predict(new).tolist() == np.where(best == model.n_clusters_, NONE_OF_THESE, best).tolist()
    assert model.score(new) == pytest.approx(density.mean(), rel=1e-8)


def test_the_density_is_that_of_the_transformed_column():
    crp = np.random.default_rng(5).lognormal(1.0, 1.0, 40)
    schema = FeatureSchema([Feature(name="crp", likelihood="gaussian", transform="log")])
    model = quick_fit(pd.DataFrame({"crp": crp}), schema, n_restarts=3)
    columns = {"crp": ("gaussian", None, np.log(crp))}
    new = np.array([0.01, 1.0, 50.0])
    expected = logsumexp(oracle_weights(columns, model, {"crp": np.log(new)}, 3), axis=1)
    np.testing.assert_allclose(model.score_samples(pd.DataFrame({"crp": new})), expected, rtol=1e-8)


@pytest.mark.filterwarnings("ignore:.*no observed value in any feature", "ignore:.*values lie beyond")
def test_of_a_subject_with_nothing_known_only_the_sizes_speak(cohort):
    frame, _, _, model = cohort
    nobody = pd.DataFrame({name: [None, None] for name in frame}, dtype=object)
    expected = np.append(model.cluster_sizes_, 1.7) / (60 + 1.7)
    np.testing.assert_allclose(model.predict_proba(nobody), [expected, expected], rtol=1e-13)
    np.testing.assert_allclose(model.score_samples(nobody), 0.0, atol=1e-13)


@pytest.mark.parametrize("value", [1e6, -1e100])
def test_an_extreme_outlier_is_none_of_these(value):
    model = PublishedMAPDP(random_state=0, n_restarts=3).fit(two_groups())
    outlier = [[value, value, value]]
    assert model.predict(outlier).tolist() == [NONE_OF_THESE]
    assert model.predict_proba(outlier)[0, -1] > 0.99
    assert np.isfinite(model.score_samples(outlier)).all()
    with pytest.raises(CohortError, match=r"at most 1e\+100 in absolute value"):
        model.predict([[value, 1.7e308, value]])


# --- what is said of the cohort ---------------------------------------------------------------------------------------


def test_membership_is_each_subjects_place_given_all_others(cohort):
    _, _, columns, model = cohort
    for i in range(0, 60, 3):
        subject = {name: values[i] for name, (_, _, values) in columns.items()}
        weights = oracles.log_weights(columns, model.labels_, model.hyperparameters_, 1.7, subject, left_out=i)[:-1]
        np.testing.assert_allclose(model.membership_[i], np.exp(weights - logsumexp(weights)), rtol=1e-8, atol=1e-12)


def test_a_subject_alone_in_its_cluster_is_weighed_as_a_new_one_there():
    X = np.vstack([two_groups(), [[60.0, -60.0, 60.0]]])
    schema = FeatureSchema([feature(f"x{d}", "gaussian") for d in range(3)])
    model = quick_fit(X, schema, n_restarts=6)
    assert model.cluster_sizes_.tolist() == [30, 20, 1]
    columns = {f"x{d}": ("gaussian", None, X[:, d]) for d in range(3)}
    for i in (0, 49, 50):
        subject = {f"x{d}": X[i, d] for d in range(3)}
        weights = oracles.log_weights(columns, model.labels_, model.hyperparameters_, 3.0, subject, left_out=i)
        # For subject 50 its own, emptied cluster weighs what the oracle gives to a new one.
        expected = np.exp(weights[:3] - logsumexp(weights[:3]))
        np.testing.assert_allclose(model.membership_[i], expected, rtol=1e-8, atol=1e-12)


def test_what_a_fitted_model_holds_fits_together(cohort):
    frame, schema, _, model = cohort
    assert model.labels_.dtype == np.int64
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_).tolist()
    assert (np.diff(model.cluster_sizes_) <= 0).all()
    assert model.n_clusters_ == model.cluster_sizes_.size == model.membership_.shape[1]
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.membership_.argmax(axis=1) == model.labels_).all()  # the fixed point
    restarts = model.restarts_
    columns = ["restart", "start", "log_joint", "n_clusters", "sweeps", "converged", "ari_to_best"]
    assert list(restarts.columns) == columns
    assert restarts["restart"].tolist() == list(range(1, len(restarts) + 1))
    assert not restarts["start"].iloc[:3].isin(["recombined", "perturbed"]).any()
    assert model.log_joint_ == restarts["log_joint"].max()
    assert restarts["ari_to_best"][restarts["log_joint"].idxmax()] == 1.0
    assert restarts["converged"].all()
    assert (np.diff(model.feature_relevance_) <= 0).all()
    assert (model.schema_, model.concentration_, model.random_seed_) == (schema, 1.7, 0)
    assert model.feature_names_in_.tolist() == list(schema.names) == list(frame.columns)
    assert model.n_features_in_ == len(schema)
    assert model.uninformative_ == {}


def test_columns_that_say_nothing_are_kept_out_and_named():
    X = np.column_stack([two_groups(), np.ones(50), np.full(50, np.nan)])
    with pytest.warns(CohortWarning, match="x3.*x4"):
        model = PublishedMAPDP(n_restarts=3, random_state=0, progress=False).fit(X)
    assert model.uninformative_ == {"x3": "the same value in every subject observed", "x4": "no observed value"}
    assert set(model.feature_relevance_.index) == {"x0", "x1", "x2"}
    assert [model.schema_[name].likelihood for name in ("x3", "x4")] == ["bernoulli", "gaussian"]
    other = X.copy()
    other[:, 3:] = 7.0
    assert model.predict_proba(other).tobytes() == model.predict_proba(X).tobytes()


# --- hyperparameters ----------------------------------------------------------------------------------------------


def test_default_hyperparameters_are_those_documented(cohort):
    _, _, columns, model = cohort
    for name, (likelihood, _, values) in columns.items():
        x = values[~np.isnan(values)]
        m, n = x.mean(), x.size
        expected = {
            "bernoulli": {"a": 2 * m, "b": 2 * (1 - m)},
            "binomial": {"a": 2 * m / TRIALS, "b": 2 * (1 - m / TRIALS)},
            "categorical": {"concentrations": (0.5 + 1.5 * np.bincount(x.astype(int), minlength=3) / n).tolist()},
            "poisson": {"shape": m, "rate": 1.0},
            "geometric": {"a": 2.0, "b": m},
            "exponential": {"shape": 2.0, "rate": m},
            "gaussian": {"mean": m, "kappa": 10 / n, "shape": 1.0, "rate": x.var()},
        }[likelihood]
        found = model.hyperparameters_[name]
        assert set(found) == set(expected), name
        for key, value in expected.items():
            assert found[key] == pytest.approx(value, rel=1e-12), (name, key)


@pytest.mark.filterwarnings("ignore:1 feature is described clearly better")  # the counts 0 to 49 are no Poisson's
def test_code_beats_schema_beats_data():
    X = two_groups(n_features=1)
    features = [
        feature("x0", "gaussian", prior={"mean": 2.0, "kappa": 0.5}),
        feature("x1", "poisson", prior={"shape": 4.0, "rate": 2.0}),
    ]
    frame = pd.DataFrame({"x0": X[:, 0], "x1": np.arange(50)})
    given = {"x0": {"kappa": np.float32(0.25)}, "x1": {"rate": np.array(8)}}
    model = quick_fit(frame, FeatureSchema(features), hyperparameters=given)
    found = model.hyperparameters_
    assert found["x0"] == {"mean": 2.0, "kappa": 0.25, "shape": 1.0, "rate": pytest.approx(X.var())}
    assert found["x1"] == {"shape": 4.0, "rate": 8.0}


def test_everything_wrong_with_hyperparameters_is_said_at_once():
    frame, schema, _, _ = mixed_cohort(3, n=30)
    wrong = {
        "poison_3": {"shape": 1.0},
        "bernoulli_0": {"a": -1.0, "shape": 2.0},
        "categorical_2": {"concentrations": [1.0, 2.0]},
        "exponential_5": {"rate": 0.0},
        "gaussian_6": {"mean": np.nan},
    }
    with pytest.raises(ValueError, match="hyperparameters cannot be used") as error:
        PublishedMAPDP(schema, hyperparameters=wrong).fit(frame)
    for said in ("poison_3", "a must lie between", "'shape'", "3 numbers", "rate must be greater", "gaussian_6"):
        assert said in str(error.value), said
    with pytest.raises(ValueError, match="dictionary by feature"):
        PublishedMAPDP(schema, hyperparameters=[1, 2]).fit(frame)
    with pytest.raises(ValueError, match="hyperparameters of poisson_3"):
        log_joint(frame, np.zeros(30), schema, {"poisson_3": 2.0})


# --- parameters -----------------------------------------------------------------------------------------------------


def test_every_bad_parameter_is_said_at_once():
    bad = read_beside(__file__)["bad_parameters"]
    with pytest.raises(ValueError, match="concentration") as error:
        PublishedMAPDP(**bad).fit(two_groups())
    for name in bad:
        assert name in str(error.value)
    assert set(bad) == set(PublishedMAPDP().get_params())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "concentration",
            [np.nan, np.inf, -1, "3", None, True, [], [1.0, -1.0], [[1.0, 2.0]], [1.0, "3"], {1.0: 2.0}, np.array(3)],
        ),
        ("hyperparameters", ["flat", 3.0, ["greedy"]]),
        ("coarsening", [np.nan, 1.1, -1, "1", "automatic", None, True]),
        ("block_weights", [0.5, "none", True, [0.5], {"a": 0.0}, {"a": 1.1}, {"a": np.nan}, {"a": "1"}, {"a": None}]),
        ("outlying_share", [np.nan, 1.0, -0.1, "auto", True]),
        ("n_restarts", [-1, 1.0, "3", None, True]),
        ("n_jobs", [-2, 1.5, "2", False]),
        ("random_state", [-1, 1.5, "0", True]),
        ("init", [None, 3, [[0, 1]], ""]),
    ],
)
def test_bad_values_of_one_parameter(name, values):
    for value in values:
        with pytest.raises(ValueError, match=rf"^{name} (of \w )?must be"):
            PublishedMAPDP(**{name: value}).fit(two_groups())


@pytest.mark.parametrize(("parameters", "said"), cases_beside(__file__, "apart"))
def test_parameters_that_do_not_go_together(parameters, said):
    with pytest.raises(ValueError, match="cannot be combined in one fit") as refused:
        PublishedMAPDP(**parameters).fit(two_groups())
    assert [word for word in said.split() if word not in str(refused.value)] == []


def test_unknown_parameters_are_refused_and_nothing_is_set():
    model = PublishedMAPDP()
    with pytest.raises(ValueError, match="alpha, n_components; it has schema, n_clusters, min_size, concentration"):
        model.set_params(concentration=9.0, n_components=3, alpha=1)
    assert model.concentration == 3.0
    assert model.set_params(concentration=9.0, n_jobs=1) is model
    assert (model.get_params()["concentration"], model.n_jobs) == (9.0, 1)


def test_the_random_state_decides_and_the_seed_reproduces():
    frame, schema, _, _ = mixed_cohort(5, n=16, likelihoods=("gaussian", "poisson"), missing=0.0)

    def fitted(random_state):
        model = PublishedMAPDP(schema, n_restarts=2, random_state=random_state).fit(frame)
        return model.random_seed_, model.restarts_["log_joint"].tolist(), model.labels_.tolist()

    generator = np.random.default_rng(1)
    results = [fitted(random_state) for random_state in (generator, generator, None, None, 2**100)]
    assert len({seed for seed, *_ in results}) == 5  # a generator moves on
    assert results[-1][0] == 2**100
    for result in results[1:3]:
        assert fitted(result[0]) == result
    assert fitted(np.random.default_rng(1)) == results[0]


# --- plain arrays ---------------------------------------------------------------------------------------------------


def test_a_plain_array_gets_a_schema_from_its_values():
    X = two_groups()
    mixed = np.array(
        [[row[0], row[1] > 3, i % 2, "yes" if row[2] > 3 else "no", "k"] for i, row in enumerate(X)], dtype=object
    )
    mixed[3, [0, 2, 3]] = np.nan, None, None
    model = PublishedMAPDP(random_state=0, n_restarts=3).fit(mixed)
    kinds = [feature.likelihood for feature in model.schema_]
    assert kinds == ["gaussian", "bernoulli", "bernoulli", "categorical", None]
    assert model.schema_.names == ["x0", "x1", "x2", "x3", "x4"]
    assert model.schema_["x3"].levels == ("no", "yes")
    assert model.predict(mixed).shape == (50,)
    assert PublishedMAPDP(random_state=0, n_restarts=2).fit(X > 3).n_clusters_ == 2
    assert PublishedMAPDP(random_state=0, n_restarts=2).fit((X > 3).astype(int).tolist()).n_clusters_ == 2
    assert PublishedMAPDP(random_state=0, n_restarts=2).fit(np.where(X > 3, "b", "a")).n_clusters_ == 2


def test_a_table_of_an_array_is_the_array():
    X = two_groups()
    frame = pd.DataFrame(X, index=[f"P{row}" for row in range(len(X))])
    of_array, of_frame = (PublishedMAPDP(random_state=0, n_restarts=2).fit(table) for table in (X, frame))
    assert of_frame.schema_ == of_array.schema_
    for method in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(of_frame, method)(frame), getattr(of_array, method)(X))
    assert of_frame.transform(frame).index[0] == "P0"
    assert of_frame.schema_.validate(frame).columns.tolist() == ["x0", "x1", "x2"]
    with pytest.raises(ValueError, match="X has 2 features, but MAPDP is expecting 3 features as input: x0, x1, x2"):
        of_frame.predict(frame[[0, 1]])
    with pytest.raises(ValueError, match="2 columns, the schema 3"):
        PublishedMAPDP(of_frame.schema_).fit(X[:, :2])


def test_a_table_without_a_schema_is_drafted_with_a_warning():
    frame = pd.DataFrame(two_groups(), columns=["a", "b", "c"]).round(3)
    with pytest.warns(CohortWarning, match="drafted"):
        model = PublishedMAPDP(random_state=0, n_restarts=3).fit(frame)
    assert model.cluster_sizes_.tolist() == [30, 20]


# --- starts ---------------------------------------------------------------------------------------------------------


def test_given_labels_may_be_of_any_kind():
    frame, schema, _, groups = mixed_cohort(8, n=60)
    names = np.array(["tremor", "rigid", "mixed"])[groups]
    expected = None
    for init in (groups, groups.tolist(), names, list(names), pd.Series(names, index=frame.index + 5), groups * -2.5):
        model = quick_fit(frame, schema, init=init)
        expected = expected or model.restarts_["log_joint"].tolist()
        assert model.restarts_["log_joint"].tolist() == expected
        assert set(model.restarts_["start"]) == {"given"}
        assert model.log_joint_trace_[0] >= log_joint(frame, names, schema) - 1e-8


@pytest.mark.parametrize("labels", [[0, 1], [], np.where(np.arange(60) == 4, np.nan, 1.0), [None] * 60])
def test_labels_that_do_not_fit_are_refused(labels):
    frame, schema, _, _ = mixed_cohort(8, n=60)
    with pytest.raises(ValueError, match=r"^init"):
        PublishedMAPDP(schema, init=labels).fit(frame)
    with pytest.raises(ValueError, match=r"^labels"):
        log_joint(frame, labels, schema)


def test_too_few_sweeps_are_admitted():
    frame, schema, _, _ = mixed_cohort(9, n=80)
    with pytest.warns(CohortWarning, match="after 1 sweeps; raise `max_sweeps`"):
        model = quick_fit(frame, schema, init="single", max_sweeps=1, n_restarts=3)
    assert not model.restarts_["converged"].any()
    assert (model.restarts_["sweeps"] == 1).all()


# --- the smallest cohorts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("init", ["search", "single"])
def test_the_smallest_cohorts_can_be_fitted(n, init):
    frame, schema, columns, _ = mixed_cohort(12, n=n, missing=0.0, n_groups=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)  # by chance a column is constant
        model = PublishedMAPDP(schema, init=init, random_state=0).fit(frame)
    assert sorted(set(model.labels_.tolist())) == list(range(model.n_clusters_))
    columns = {name: columns[name] for name in model.hyperparameters_}
    expected = oracles.log_joint(columns, model.labels_, model.hyperparameters_, 3.0)
    assert model.log_joint_ == pytest.approx(expected, rel=1e-9)
    best = max(oracles.log_joint(columns, labels, model.hyperparameters_, 3.0) for labels in oracles.partitions(n))
    assert init == "single" or model.log_joint_ == pytest.approx(best, rel=1e-9)


# --- being interrupted, being quiet ---------------------------------------------------------------------------------


def test_an_error_while_progress_is_shown_ends_every_thread():
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.engine.search.settle import run_restarts, search_starts

    problem = mixed_problem(1, 40)
    starts = search_starts(40, np.random.SeedSequence(0).spawn(2000))
    calls = []

    def advance():
        calls.append(True)
        raise KeyboardInterrupt

    progress = SimpleNamespace(stage=lambda *_: nullcontext(advance))
    with pytest.raises(KeyboardInterrupt):
        run_restarts(problem, starts, SearchPlan(n_jobs=2, refine=False, progress=progress))
    assert len(calls) == 1
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("clinclust")]


def test_a_row_without_any_value_to_cluster_on_is_told():
    frame = pd.DataFrame({"a": [1.0, 2.0, 9.0, None], "b": [1.0, 1.5, 8.0, None], "note": ["", "", "", "Total"]})
    schema = schema_of("ab", note={"role": "ignore", "likelihood": None})
    with pytest.warns(CohortWarning, match=r"no observed value in any feature to cluster on: 1 row\(s\) \(first: 3\)"):
        PublishedMAPDP(schema, random_state=0).fit(frame)


def test_a_table_whose_columns_another_package_names_is_not_read_by_position():
    pyarrow = pytest.importorskip("pyarrow")
    schema = gaussian_schema("ab")
    columns = {"a": [1.0, 2.0, 9.0, 9.5], "b": [20.0, 21.0, 90.0, 95.0]}
    expected = PublishedMAPDP(schema, random_state=0, progress=False).fit(pd.DataFrame(columns))
    table = pyarrow.table({"b": columns["b"], "a": columns["a"]})
    assert PublishedMAPDP(schema, random_state=0, progress=False).fit(table).log_joint_ == expected.log_joint_

    class Unknown:
        columns = ("b", "a")

    with pytest.raises(InputError, match=r"X is a .* Unknown, .* pass X.to_pandas\(\)"):
        PublishedMAPDP().fit(Unknown())


def test_numbers_written_as_text_and_long_doubles_are_numbers():
    values = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), np.random.default_rng(1).normal(9, 1, (20, 2))])
    expected = PublishedMAPDP(random_state=0).fit(values).labels_.tolist()
    assert PublishedMAPDP(random_state=0).fit(values.astype(str)).labels_.tolist() == expected
    assert PublishedMAPDP(random_state=0).fit(values.astype(np.longdouble)).labels_.tolist() == expected


def test_labels_are_numbered_as_in_reports_and_have_the_index_of_the_cohort(cohort):
    frame, schema, _, _ = cohort
    frame = frame.set_axis([f"p{place}" for place in range(len(frame))])
    model = quick_fit(frame, schema)
    assert model.labels.index.equals(frame.index)
    assert (model.labels.astype(int) == model.labels_ + 1).all()
    assert model.labels.cat.categories.tolist() == list(range(1, model.n_clusters_ + 1))
    compared = [compare_subtypes(frame, labels, schema) for labels in (model.labels, model.labels_)]
    pd.testing.assert_frame_equal(*compared)
    with pytest.raises(NotFittedError, match="call fit first"):
        _ = MAPDP().labels


def test_the_summary_counts_the_members_and_those_who_are_clear(cohort):
    _, schema, _, model = cohort
    found, own = model.summary(), model.membership_[np.arange(60), model.labels_]
    assert found["n"].tolist() == model.cluster_sizes_.tolist()
    assert found["percent"].sum() == pytest.approx(100.0)
    clear = [100.0 * (own[model.labels == subtype] >= 0.95).mean() for subtype in found.index]
    np.testing.assert_allclose(found["clear"], clear)
    given = Partition(["b", "a", "a"], schema, made_by="a clinician").summary()
    assert given["n"].to_dict() == {"a": 2, "b": 1}
    assert given["clear"].isna().all()


def test_new_subjects_in_another_unit_or_without_a_value_are_warned_of():
    rng = np.random.default_rng(0)
    group = np.arange(120) % 2
    frame = pd.DataFrame(
        {"hb": (13 + 2 * group + rng.normal(0, 0.7, 120)).round(1), "falls": rng.poisson(2 + 4 * group)}
    )
    schema = FeatureSchema([Feature(name="hb", likelihood="gaussian"), Feature(name="falls", likelihood="poisson")])
    model = MAPDP(schema, random_state=0, progress=False).fit(frame)
    new = frame.iloc[:20]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(new)
    with pytest.warns(CohortWarning, match="hb: 20 of 20 values lie beyond"):
        model.predict(new.assign(hb=new["hb"] * 10))
    with pytest.warns(CohortWarning, match=r"1 row \(3\) has no observed value"):
        model.predict(new.astype(float).mask(new.index.to_series() == 3))
