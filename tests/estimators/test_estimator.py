"""MAPDP among the estimators of scikit-learn: its own checks, copies, and what an estimator without a fit says."""

import copy
import pickle
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse
from cohorts import LIKELIHOODS, mixed_cohort, quick_fit
from command_line import fail_with
from sklearn.base import clone, is_clusterer
from sklearn.exceptions import NotFittedError as TheirNotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from clinclust import MAPDP, CohortWarning, subtype_table, validated_associations, write_report
from clinclust.comparisons import dominant_columns
from clinclust.errors import InputError, NotFittedError
from clinclust.methods import PublishedMAPDP
from clinclust.plots import plot_effects, plot_profile, plot_tree

QUICK = {"n_restarts": 1, "n_jobs": 1, "random_state": 0, "progress": False}


def checks():
    with warnings.catch_warnings():
        # clinclust does not depend on scikit-learn, so that it meets the conventions without the base class.
        warnings.filterwarnings("ignore", "Estimator PublishedMAPDP does not inherit from")
        found = [check for _, check in estimator_checks_generator(PublishedMAPDP(**QUICK), legacy=True)]
    # One check runs only where SCIPY_ARRAY_API is set before SciPy is imported.
    return [check for check in found if check.func.__name__ != "check_array_api_input"]


CHECKS = checks()
TWO_IN_NOISE = "check_methods_sample_order_invariance"
"""This check asks for two clusters (`n_clusters`) in noise, where a search finds one."""
FINDS_TWO = {"concentration": 1e4}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.func.__name__)
@pytest.mark.filterwarnings("ignore::clinclust.CohortWarning")
def test_scikit_learns_checks_of_every_estimator(check):
    check(PublishedMAPDP(**QUICK, **(FINDS_TWO if check.func.__name__ == TWO_IN_NOISE else {})))


def test_they_are_all_there_and_a_clusterer_can_be_cross_validated():
    assert len(CHECKS) >= 39
    assert is_clusterer(PublishedMAPDP())
    values = np.random.default_rng(0).normal(np.arange(50)[:, None] % 2, size=(50, 3))
    assert np.isfinite(cross_val_score(PublishedMAPDP(**QUICK), values, cv=3)).all()


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(3, n=40, likelihoods=LIKELIHOODS)
    return quick_fit(frame, schema), frame


# --- before the fit --------------------------------------------------------------------------------------------------

AFTER_FIT = {
    "predict": lambda model, frame, folder: model.predict(frame),
    "predict_proba": lambda model, frame, folder: model.predict_proba(frame),
    "score_samples": lambda model, frame, folder: model.score_samples(frame),
    "score": lambda model, frame, folder: model.score(frame),
    "impute": lambda model, frame, folder: model.impute(frame),
    "save": lambda model, frame, folder: model.save(folder),
    "cut": lambda model, frame, folder: model.cut(2),
    "labels_": lambda model, frame, folder: model.labels_,
    "fit_": lambda model, frame, folder: model.fit_,
    "n_features_in_": lambda model, frame, folder: model.n_features_in_,
    "write_report": lambda model, frame, folder: write_report(model, frame, folder / "report.html"),
    "subtype_table": lambda model, frame, folder: subtype_table(model, frame),
    "associations": lambda model, frame, folder: validated_associations(model, frame),
    "columns": lambda model, frame, folder: dominant_columns(model, frame),
    "effects": lambda model, frame, folder: plot_effects(model, frame),
    "profile": lambda model, frame, folder: plot_profile(model, frame),
    "tree": lambda model, frame, folder: plot_tree(model),
}


@pytest.mark.parametrize("asked", AFTER_FIT)
def test_what_needs_a_fit_says_so(asked, fitted, tmp_path):
    with pytest.raises(NotFittedError, match=r"not fitted.*call") as caught:
        AFTER_FIT[asked](PublishedMAPDP(fitted[0].schema), fitted[1], tmp_path)
    for kind in (TheirNotFittedError, InputError, AttributeError):
        assert isinstance(caught.value, kind)
    assert list(tmp_path.iterdir()) == []


def test_an_estimator_without_fit_has_no_fitted_attribute():
    model = PublishedMAPDP()
    assert not hasattr(model, "labels_")
    assert getattr(model, "labels_", None) is None
    with pytest.raises(AttributeError) as caught:
        model.lables  # noqa: B018
    assert not isinstance(caught.value, NotFittedError)


def test_a_fit_that_ctrl_c_ends_leaves_the_model_as_it_was_and_the_next_has_the_same_bits(fitted, monkeypatch):
    model, (other, frame) = copy.deepcopy(fitted[0]), fitted
    before = model.fit_
    with monkeypatch.context() as patch:
        patch.setattr("clinclust.estimators.mapdp.found_fit", fail_with(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            model.set_params(random_state=1, init="single").fit(frame)
    assert model.fit_ is before
    assert model.set_params(**other.get_params()).fit(frame).log_joint_.hex() == other.log_joint_.hex()


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"concentration": 3.0, "coarsening": 1.0, "init": "search"},
        {"concentration": "map", "outlying_share": 0.02, "hyperparameters": "greedy", "n_jobs": 2},
        {"init": np.arange(40) % 3, "concentration": np.float64(2.0), "random_state": np.random.default_rng(1)},
        {"random_state": np.int64(4), "select_features": np.True_, "calibrate": np.False_},
    ],
)
def test_copies_show_the_same(parameters, fitted):
    schema = fitted[0].schema
    for model in (PublishedMAPDP(**parameters), PublishedMAPDP(schema, **parameters), fitted[0]):
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert repr(twin) == repr(model)
            assert twin._repr_html_() == model._repr_html_()
        assert repr(clone(model)) == repr(model)
    assert repr(pickle.loads(pickle.dumps(MAPDP()))) == "MAPDP()"


def test_a_generator_is_shown_without_its_address():
    assert repr(MAPDP(random_state=np.random.default_rng(0))) == "MAPDP(random_state=Generator(PCG64))"


# --- arrays ----------------------------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(12, 3))
NO_TABLES = {
    "complex": (X + 1j, "Complex data not supported"),
    "sparse": (scipy.sparse.csr_matrix(X), r"sparse data was passed.*toarray\(\)"),
    "sparse array": (scipy.sparse.coo_array(X), r"sparse data was passed.*toarray\(\)"),
    "no rows": (X[:0], "at least one row"),
    "no columns": (X[:, :0], r"0 feature\(s\) \(shape=\(12, 0\)\)"),
    "one dimension": (X[0], r"shape \(3,\). Reshape your data"),
    "three dimensions": (X[None], r"shape \(1, 12, 3\)"),
    "no dimension": (3.0, r"shape \(\)"),
    "nothing": (None, "not NoneType"),
    "a text": ("cohort.csv", "not str"),
    "a dictionary": ({"a": [1, 2]}, "not dict"),
    "ragged": ([[1, 2], [3]], "same number of values"),
    "infinite": (np.where(X > 1, np.inf, X), "finite"),
}


@cache
def fit_of_noise():
    return PublishedMAPDP(**QUICK).fit(X)


@pytest.mark.parametrize("given", NO_TABLES)
def test_what_is_no_table_is_refused_by_fit_and_predict(given):
    array, said = NO_TABLES[given]
    with pytest.raises(InputError, match=said):
        PublishedMAPDP(**QUICK).fit(array)
    model = fit_of_noise()
    for call in (model.predict, model.predict_proba, model.score_samples, model.impute):
        with pytest.raises(InputError, match=said):
            call(array)


def test_one_subject_cannot_be_clustered():
    with pytest.raises(InputError, match=r"one subject, .* \(n_samples = 1\)") as caught:
        PublishedMAPDP(**QUICK).fit(X[:1])
    assert "n_samples" not in caught.value.at_command_line


def test_masked_values_are_missing():
    masked = np.ma.array(X, mask=np.abs(X) > 1.5)
    missing = np.where(np.abs(X) > 1.5, np.nan, X)
    model, twin = PublishedMAPDP(**QUICK).fit(masked), PublishedMAPDP(**QUICK).fit(missing)
    assert model.log_joint_ == twin.log_joint_
    assert model.predict_proba(masked).tobytes() == twin.predict_proba(missing).tobytes()
    texts = np.ma.array(np.array([["a", "b"], ["b", "b"], ["c", "a"]] * 4), mask=[[0, 1], [0, 0], [0, 0]] * 4)
    assert PublishedMAPDP(**QUICK).fit(texts).schema_["x1"].levels == ("a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        assert PublishedMAPDP(**QUICK).fit(np.ma.array(X > 0, mask=X > 2)).n_features_in_ == 3
