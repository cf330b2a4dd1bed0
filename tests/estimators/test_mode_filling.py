"""Missing values filled with modes, as in the paper: against a slow reimplementation, and what the filling does."""

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from problems import problem_of
from scored import few
from sklearn.metrics import adjusted_rand_score

from clinclust import MAPDP, CohortWarning, Feature, FeatureSchema, write_report
from clinclust.associations.refit import refit_plan
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import starts_from
from clinclust.errors import InputError
from clinclust.estimators.fitting import search
from clinclust.methods import PublishedMAPDP

QUICK = {"random_state": 0, "progress": False, "n_jobs": 1}

# The likelihoods of simulated columns are not always the best ones of these few subjects.
pytestmark = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")


@pytest.fixture(scope="module")
def forty():
    """Return a table of forty subjects, its schema, and the model whose missing values are modes."""
    frame, schema, _, _ = mixed_cohort(5, n=40, missing=0.3)
    return frame, schema, PublishedMAPDP(schema, missing="mode", n_restarts=2, **QUICK).fit(frame)


def mode_of(likelihood, hyperparameters, values, trials, most):
    """Return the most probable next value after `values`, by trying every count up to `most`, or every level."""
    if likelihood in ("exponential", "geometric"):
        return 0.0
    if likelihood in ("gaussian", "multivariate_gaussian"):
        return float(oracles.predictive(likelihood, hyperparameters, values).median())
    levels = {
        "bernoulli": lambda: 2,
        "binomial": lambda: trials + 1,
        "categorical": lambda: len(hyperparameters["concentrations"]),
        "ordinal": lambda: len(hyperparameters["lower"]) + 1,
    }
    n_levels = levels.get(likelihood, lambda: int(most) + 1)()
    return float(
        np.argmax([oracles.log_predictive(likelihood, hyperparameters, values, x, trials) for x in range(n_levels)])
    )


def swept(columns, labels, hyperparameters, concentration, visits, *, ignore_size):
    """Return the labels after each subject has moved to its best cluster, one after the other."""
    labels = labels.copy()
    for subject in visits:
        values = {name: column[2][subject] for name, column in columns.items()}
        weights = oracles.log_weights(columns, labels, hyperparameters, concentration, values, subject)
        n_first = (labels == 0).sum() - (labels[subject] == 0)
        if ignore_size and n_first > 0:
            weights[0] -= np.log(n_first)
        labels[subject] = weights.argmax()
        labels = np.unique(labels, return_inverse=True)[1]
    return labels


def fill(columns, missing, labels, hyperparameters, order, most):
    """Set each missing value in turn to the mode in its subject's cluster without this value, in place."""
    for name, (likelihood, trials, values) in columns.items():
        for subject in order[missing[name][order]]:
            others = np.flatnonzero((labels == labels[subject]) & (np.arange(labels.size) != subject))
            values[subject] = mode_of(likelihood, hyperparameters[name], values[others], trials, most[name])


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "seed"), [(12, 1), (24, 1), (24, 4)])
def test_the_search_agrees_with_a_slow_reimplementation(n, seed):
    frame, schema, columns, _ = mixed_cohort(seed, n=n, likelihoods=EVERY_LIKELIHOOD, missing=0.25)
    model = PublishedMAPDP(schema, missing="mode", n_restarts=1, **QUICK).fit(frame)
    order = problem_of(frame, schema).cohort.order
    visits = order[starts_from(np.zeros(n, dtype=np.int64), SearchPlan(seed=0, n_restarts=1).seeds)[0].order]
    missing = {name: np.isnan(values) for name, (_, _, values) in columns.items()}
    most = {name: np.nanmax(values) for name, (_, _, values) in columns.items()}
    completed = {name: (likelihood, trials, values.copy()) for name, (likelihood, trials, values) in columns.items()}
    for name, (likelihood, trials, values) in completed.items():
        observed = values[~missing[name]]
        values[missing[name]] = mode_of(likelihood, model.hyperparameters_[name], observed, trials, most[name])
    labels = np.zeros(n, dtype=np.int64)
    for place in range(model.restarts_["sweeps"].iloc[0]):
        labels = swept(completed, labels, model.hyperparameters_, 3.0, visits, ignore_size=place == 0)
        fill(completed, missing, labels, model.hyperparameters_, order, most)
    assert model.n_clusters_ > 1
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    expected = oracles.log_joint(completed, labels, model.hyperparameters_, 3.0)
    assert model.completed_log_joint_ == pytest.approx(expected, abs=1e-6)
    again = swept(completed, labels, model.hyperparameters_, 3.0, visits, ignore_size=False)
    assert adjusted_rand_score(again, labels) == 1.0


def test_probabilities_predictions_and_imputations_are_those_of_the_same_partition_under_marginal():
    frame, schema, _, _ = mixed_cohort(7, n=60, missing=0.1)
    marginal = PublishedMAPDP(schema, init="single", n_restarts=1, **QUICK).fit(frame)
    model = PublishedMAPDP(schema, missing="mode", init=marginal.labels_, n_restarts=1, **QUICK).fit(frame)
    assert model.labels_.tolist() == marginal.labels_.tolist()
    np.testing.assert_allclose(model.membership_, marginal.membership_, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(frame), marginal.predict_proba(frame), atol=1e-12)
    pd.testing.assert_frame_equal(model.impute(frame), marginal.impute(frame))
    assert model.log_joint_ == pytest.approx(marginal.log_joint_, abs=1e-9)
    assert model.completed_log_joint_ != pytest.approx(model.log_joint_, abs=1.0)


@pytest.mark.parametrize("seed", few(range(3), 1))
def test_without_missing_values_it_is_the_search_from_a_single_cluster(seed):
    frame, schema, _, _ = mixed_cohort(seed, n=60, likelihoods=EVERY_LIKELIHOOD, missing=0.0)
    model = PublishedMAPDP(schema, missing="mode", n_restarts=3, **QUICK).fit(frame)
    single = PublishedMAPDP(schema, init="single", n_restarts=3, **QUICK).fit(frame)
    assert model.labels_.tolist() == single.labels_.tolist()
    assert model.log_joint_ == pytest.approx(single.log_joint_, abs=1e-9)
    assert model.completed_log_joint_ == single.log_joint_
    np.testing.assert_array_equal(model.log_joint_trace_, single.log_joint_trace_)


@pytest.mark.parametrize("seed", few([1, 2, 4], 1))
def test_zeros_filled_for_missing_durations_make_a_cluster_of_the_subjects_without_them(seed):
    rng = np.random.default_rng(seed)
    days = rng.exponential(30.0, 150)
    is_missing = rng.random(150) < 0.4
    days[is_missing] = np.nan
    frame = pd.DataFrame({"days": days, "age": rng.normal(60.0, 8.0, 150)})
    schema = FeatureSchema([Feature(name="days", likelihood="exponential"), Feature(name="age", likelihood="gaussian")])
    marginal = PublishedMAPDP(schema, init="single", n_restarts=3, **QUICK).fit(frame)
    filled = PublishedMAPDP(schema, missing="mode", n_restarts=3, **QUICK).fit(frame)
    assert marginal.n_clusters_ == 1
    assert filled.n_clusters_ == 2
    assert adjusted_rand_score(filled.labels_, is_missing) > 0.85


def test_what_cannot_be_combined_is_refused_in_one_message():
    frame, schema, _, _ = mixed_cohort(0, n=20, likelihoods=("gaussian",))
    model = PublishedMAPDP(
        schema,
        missing="mode",
        coarsening="auto",
        outlying_share=0.1,
        concentration="map",
        hyperparameters="greedy",
        select_features=True,
    )
    with pytest.raises(InputError, match="missing='mode' cannot be combined with") as refused:
        model.fit(frame)
    for named in ("coarsening='auto'", "outlying_share", "concentration", "hyperparameters", "select_features"):
        assert named in str(refused.value)
    with pytest.raises(InputError, match="missing must be 'marginal' or 'mode', not 'mean'"):
        PublishedMAPDP(schema, missing="mean").fit(frame)


@pytest.mark.parametrize("options", [{"missing": "mode"}, {"init": "single"}, {"hyperparameters": "greedy"}])
def test_published_searches_find_no_distinct_subtypes(options):
    frame, schema, _, _ = mixed_cohort(0, n=20, likelihoods=("gaussian",))
    with pytest.raises(InputError, match="cannot be combined with n_clusters='distinct'") as refused:
        PublishedMAPDP(schema, n_clusters="distinct", **options, **QUICK).fit(frame)
    assert ";" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"), [("init", "single"), ("hyperparameters", "greedy"), ("concentration", "cross-validation")]
)
def test_the_default_model_names_the_published_one_for_its_searches(name, value):
    frame, schema, _, _ = mixed_cohort(0, n=20, likelihoods=("gaussian",))
    with pytest.raises(InputError, match=f"PublishedMAPDP has this {name}"):
        MAPDP(schema, **{name: value}, **QUICK).fit(frame)
    with pytest.raises(InputError) as refused:
        MAPDP(schema, **{name: "nonsense"}, **QUICK).fit(frame)
    assert "Published" not in str(refused.value)


def test_results_of_the_papers_search_are_those_of_the_published_model_only():
    frame, schema, _, _ = mixed_cohort(0, n=20, likelihoods=("gaussian", "bernoulli"), missing=0.05)
    published = PublishedMAPDP(schema, missing="mode", **QUICK).fit(frame)
    default = MAPDP(schema, **QUICK).fit(frame)
    for name in ("leave_one_out_nll_", "completed_log_joint_"):
        assert np.isfinite(getattr(published, name))
        assert not hasattr(default, name)
        assert name not in dir(default)


def test_saving_keeps_it(forty, tmp_path):
    frame, _, model = forty
    loaded = MAPDP.load(model.save(tmp_path / "model"))
    assert loaded.missing == "mode"
    assert loaded.completed_log_joint_ == model.completed_log_joint_
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))


def test_searches_of_the_model_again_fill_values_too(forty):
    frame, schema, model = forty
    plan = refit_plan(model, 0, 2)
    assert (plan.fill_modes, plan.start, plan.finishers) == (True, "single", None)
    problem = problem_of(frame, schema)
    assert search(problem, plan).winner.log_joint == model.completed_log_joint_
    marginal = PublishedMAPDP(schema, n_restarts=1, **QUICK).fit(frame)
    assert not hasattr(marginal, "completed_log_joint_")
    assert not refit_plan(marginal, 0, 1).fill_modes


@pytest.mark.simulation
def test_reports_say_which_numbers_hold_filled_values(forty, tmp_path):
    frame, schema, filled = forty
    told = {}
    for missing, model in (("mode", filled), ("marginal", PublishedMAPDP(schema, n_restarts=1, **QUICK).fit(frame))):
        written = write_report(model, frame, tmp_path / f"{missing}.html", progress=False, associations=None)
        told[missing] = written.read_text(encoding="utf-8")
        assert ("filled in the search with modes" in told[missing]) == (missing == "mode")
        assert ("integrated out of the model" in told[missing]) == (missing == "marginal")
        assert ("The partition with the highest log joint with filled values" in told[missing]) == (missing == "mode")
    assert "with all subjects in one subtype" in told["mode"]
    assert "log joint of observed values" in told["mode"]


def test_a_fit_that_ends_before_the_filled_values_stay_says_so():
    frame, schema, _, _ = mixed_cohort(5, n=40, missing=0.3)
    with pytest.warns(CohortWarning, match="moving subjects or changing filled values after 1 sweeps"):
        PublishedMAPDP(schema, missing="mode", max_sweeps=1, n_restarts=1, **QUICK).fit(frame)
