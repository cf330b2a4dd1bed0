"""Laws of every method: it finds groups, with missing values, the same each time; and its columns, by hand."""

import pickle
import sys
import warnings
from html import unescape

import numpy as np
import pandas as pd
import pytest
from scored import few
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust import methods
from clinclust.errors import MissingPackageError, NotFittedError
from clinclust.methods.method import encode, fill_missing, standardise

from .clear_groups import CLUSTERED, SCHEMA, cohort

MISSING = float("nan")

# A small fit of each method that knows the number of groups, and the agreement with the true ones that it reaches.
METHODS = {
    "DPMeans": (lambda schema: methods.DPMeans(schema, n_clusters=3, random_state=0), 0.3),
    "KMeans": (lambda schema: methods.KMeans(schema, n_clusters=3, random_state=0), 0.6),
    "GaussianMixture": (
        lambda schema: methods.GaussianMixture(schema, n_clusters=3, covariance="spherical", random_state=0),
        0.6,
    ),
    "KHarmonicMeans": (lambda schema: methods.KHarmonicMeans(schema, 3, random_state=0), 0.6),
    "MeanShift": (lambda schema: methods.MeanShift(schema), 0.6),
    "SpectralDPMeans": (lambda schema: methods.SpectralDPMeans(schema, n_clusters=3, random_state=0), 0.5),
    "NormalisedCut": (lambda schema: methods.NormalisedCut(schema, penalty=0.7, random_state=0), 0.5),
    "LatentClasses": (lambda schema: methods.LatentClasses(schema, n_clusters=3, n_restarts=5, random_state=0), 0.99),
}
PACKAGES = dict.fromkeys(("KMeans", "GaussianMixture", "MeanShift", "NormalisedCut", "SpectralDPMeans"), "scikit-learn")


@pytest.fixture(scope="module", params=METHODS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(name):
    frame, group = cohort(0, 0.05)
    return METHODS[name][0](SCHEMA).fit(frame), frame, group


def test_every_public_method_is_tested():
    """The hard HDP needs a column that names centres: `test_hard_limits`."""
    assert {*METHODS, "HardHDP", "MethodComparison", "PublishedMAPDP", "compare_methods"} == set(methods.__all__)


def test_it_finds_groups_in_spite_of_missing_values(fitted, name):
    model, frame, group = fitted
    assert frame.isna().to_numpy().any()
    assert adjusted_rand_score(group, model.labels_) >= METHODS[name][1]


def test_it_is_a_subtype_model(fitted):
    model, frame, _ = fitted
    assert model.labels_.shape == (90,)
    assert model.labels_.dtype == np.int64
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_).tolist()
    assert (np.diff(model.cluster_sizes_) <= 0).all()
    assert model.n_clusters_ == model.cluster_sizes_.size
    assert model.schema_ == SCHEMA
    assert model.index_.equals(frame.index)
    assert (dict(model.names_), dict(model.uninformative_), model.fit_) == ({}, {}, None)
    assert model.prepared_ in model.made_by
    if model.membership_ is not None:
        assert model.membership_.shape == (90, model.n_clusters_)
        np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert model.labels.index.equals(frame.index)
    assert (model.labels.astype(int) == model.labels_ + 1).all()
    assert model.summary()["n"].tolist() == model.cluster_sizes_.tolist()


def test_the_same_seed_gives_the_same_bits(fitted, name):
    model, frame, _ = fitted
    again = clone(model).fit(frame)
    for attribute, value in vars(model).items():
        if attribute.endswith("_") and isinstance(value, np.ndarray | float):
            np.testing.assert_array_equal(getattr(again, attribute), value, err_msg=attribute)
    assert again.made_by == model.made_by


def test_it_can_be_cloned_pickled_and_printed(fitted, name):
    model, _, _ = fitted
    assert not hasattr(clone(model), "labels_")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.labels_, model.labels_)
    assert dict(copy.uninformative_) == {}
    assert repr(model).startswith(f"{name}(schema=")


@pytest.mark.parametrize("suppress", few([5, None], 1))
def test_a_report_says_what_made_the_subtypes(fitted, tmp_path, suppress):
    model, frame, _ = fitted
    path = cc.write_report(model, frame, tmp_path / "report.html", associations=None, suppress=suppress)
    assert f"made by {model.made_by}" in unescape(path.read_text(encoding="utf-8"))


def test_a_table_without_missing_values_and_a_column_that_says_nothing(name):
    frame, _ = cohort(1, 0.0)
    frame["gait"] = 3.0
    with pytest.warns(cc.CohortWarning, match=r"1 column cannot inform a clustering: gait"):
        model = METHODS[name][0](SCHEMA).fit(frame)
    assert dict(model.uninformative_) == {"gait": "the same value in every subject observed"}
    assert "missing" not in model.made_by


def test_a_row_without_values_gives_a_warning(name):
    frame, _ = cohort(1, 0.0)
    frame.loc["patient 7", list(CLUSTERED)] = None
    with pytest.warns(cc.CohortWarning, match=r"no observed value in any feature to cluster on: 1 row"):
        assert METHODS[name][0](SCHEMA).fit(frame).labels_.size == 90


def test_a_method_that_is_not_fitted_is_refused(name, tmp_path):
    frame, _ = cohort(1, 0.0)
    with pytest.raises(NotFittedError, match="not fitted"):
        cc.write_report(METHODS[name][0](SCHEMA), frame, tmp_path / "report.html", associations=None)


def test_parameters_at_fault_are_all_named(name):
    model = METHODS[name][0](SCHEMA)
    parameters = [key for key in model.get_params() if key != "schema"]
    model.set_params(**dict.fromkeys(parameters, "many"))
    with pytest.raises(ValueError, match="must be") as refused:
        model.fit(cohort(1, 0.0)[0])
    assert [key for key in parameters if f"{key} must be" not in str(refused.value)] == []


def test_nothing_to_cluster_on_is_refused(name):
    described = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian", role="describe")])
    with pytest.raises(ValueError, match="No feature is left to cluster on"):
        METHODS[name][0](described).fit(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))


@pytest.mark.parametrize("method", PACKAGES)
def test_a_package_that_is_not_installed_is_named(method, monkeypatch):
    module = {"scikit-learn": "sklearn"}.get(PACKAGES[method], PACKAGES[method])
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setitem(sys.modules, module, None)
    frame, _ = cohort(1, 0.0)
    message = f"^{method} needs {PACKAGES[method]}: pip install {PACKAGES[method]}$"
    with pytest.raises(MissingPackageError, match=message), warnings.catch_warnings():
        METHODS[method][0](SCHEMA).fit(frame)


def test_a_number_that_a_method_needs_is_asked_for_by_its_fit():
    # As scikit-learn asks of estimators, each can be made without arguments.
    frame, _ = cohort(1, 0.0)
    with pytest.raises(ValueError, match="n_clusters must be a whole number of at least 1, not None"):
        methods.KHarmonicMeans().fit(frame)


@pytest.mark.parametrize("method", ["KMeans", "GaussianMixture", "LatentClasses", "KHarmonicMeans", "DPMeans"])
def test_more_clusters_than_different_subjects_are_refused(method):
    values = np.array([[0.0], [1.0], [1.0], [5.5]])
    with pytest.raises(ValueError, match=r"n_clusters must be below the number of subjects that differ \(3\), not 3"):
        getattr(methods, method)(n_clusters=3).fit(values)


@pytest.mark.parametrize("method", ["DPMeans", "SpectralDPMeans"])
@pytest.mark.parametrize("parameters", [{}, {"penalty": 0.5, "n_clusters": 3}])
def test_just_one_of_penalty_and_number_is_needed(method, parameters):
    with pytest.raises(ValueError, match=r"give either penalty or n_clusters \(how many clusters are wished\)"):
        getattr(methods, method)(SCHEMA, **parameters).fit(cohort(0, 0.0)[0])


def test_refits_keep_what_chose_the_number():
    frame, _ = cohort(2, 0.0)
    mixture = methods.GaussianMixture(SCHEMA, max_clusters=3, n_restarts=2, random_state=0).fit(frame)
    again = mixture.with_number_kept(7)
    assert (again.n_clusters, again.covariance, again.random_state) == (mixture.n_clusters_, mixture.covariance_, 7)
    spectral = methods.SpectralDPMeans(SCHEMA, penalty=60.0, random_state=0).fit(frame).with_number_kept(1)
    assert (spectral.penalty, spectral.n_clusters) == (None, 3)
    # At the penalty of the whole cohort, hardly a subject of a half-sample leaves its mean.
    means = methods.DPMeans(SCHEMA, n_clusters=3, random_state=0).fit(frame).with_number_kept(1)
    assert (means.penalty, means.n_clusters) == (None, 3)


def encode_table(frame, *features):
    schema = cc.FeatureSchema(features)
    return encode(schema.validate(pd.DataFrame(frame), warn=False), schema.clustered)


def z(*numbers):
    return (np.array(numbers, float) - np.mean(numbers)) / np.std(numbers)


def test_every_kind_of_feature_is_encoded_as_by_hand():
    table = encode_table(
        {
            "fatigue": ["no", "yes", "yes", None],
            "tremor": ["mild", "none", None, "severe"],
            "gene": ["b", None, "b", "a"],
            "crp": [1.0, np.e, np.e**4, MISSING],
            "falls": [3, 0, None, 4],
        },
        cc.Feature(name="fatigue", likelihood="bernoulli", levels=("no", "yes")),
        cc.Feature(name="tremor", likelihood="ordinal", levels=("none", "mild", "severe")),
        cc.Feature(name="gene", likelihood="categorical", levels=("a", "b", "never")),
        cc.Feature(name="crp", likelihood="gaussian", transform="log"),
        cc.Feature(name="falls", likelihood="poisson"),
    )
    expected = [z(0, 1, 1, 1), z(1, 0, 1, 2), z(0, 0, 0, 1), z(1, 1, 1, 0), z(0, 1, 4, 1), z(3, 0, 3, 4)]
    np.testing.assert_allclose(table.matrix, np.column_stack(expected), atol=1e-12)
    assert table.prepared == (
        "yes/no features as 0 and 1, ordered levels as their scores, unordered levels as one indicator each, counts "
        "and measurements after the transform of the schema, every column standardised; missing values were filled "
        "with the median or the most frequent level of the feature"
    )


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200, 1.9e307])
def test_the_unit_of_a_measurement_does_not_matter(unit):
    column = np.array([1.0, 2.0, 4.0, 9.0])
    np.testing.assert_allclose(standardise(unit * column), z(*column), rtol=1e-12, atol=1e-15)


def test_missing_values_are_filled():
    assert fill_missing(np.array([5.0, MISSING, 1.0, 2.0, 3.0]), by_frequency=False)[1] == 2.5
    assert fill_missing(np.array([5.0, MISSING, 5.0, 2.0, 2.0]), by_frequency=True)[1] == 2.0
    whole = np.array([1.0, 2.0])
    np.testing.assert_array_equal(fill_missing(whole, by_frequency=True), whole)


def test_a_column_that_does_not_vary_is_not_encoded():
    with pytest.raises(ValueError, match="x has no two different observed values"):
        encode_table({"x": [1.0, 1.0, MISSING]}, cc.Feature(name="x", likelihood="gaussian"))
