"""The number of clusters by BIC: formulas by hand and by scikit-learn, and groups of measurements that are clear."""

import numpy as np
import pytest
import sklearn.metrics
import sklearn.mixture
from scipy import stats
from sklearn.metrics import adjusted_rand_score

from clinclust import methods
from clinclust.methods.gaussian_mixture import n_parameters_of
from clinclust.methods.k_means import spherical_log_likelihood
from clinclust.methods.number_of_clusters import BIC, Candidate, best_by, numbers_to_try, separation

from .clear_groups import SCHEMA, cohort


def measurements(seed, sizes):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    # The groups differ in every column, so that standardised columns are equally wide within groups.
    places = 10.0 * np.column_stack([rng.permutation(len(sizes)) for _ in range(4)])
    return rng.normal(places[group], 1.0), group


FINDERS = {
    "KMeans": lambda: methods.KMeans(random_state=0),
    "GaussianMixture": lambda: methods.GaussianMixture(max_clusters=5, n_restarts=3, random_state=0),
    "LatentClasses": lambda: methods.LatentClasses(max_clusters=4, n_restarts=4, random_state=0),
    "MeanShift": lambda: methods.MeanShift(bandwidth=1.0),
}


@pytest.mark.parametrize("name", FINDERS)
def test_three_clear_groups_of_measurements_are_found(name):
    values, group = measurements(1, (60, 40, 30))
    model = FINDERS[name]().fit(values)
    assert model.cluster_sizes_.tolist() == [60, 40, 30]
    assert adjusted_rand_score(group, model.labels_) == 1.0


@pytest.mark.parametrize(
    "name", ["KMeans", "GaussianMixture", pytest.param("LatentClasses", marks=pytest.mark.simulation)]
)
def test_one_group_is_one(name):
    values = np.random.default_rng(2).normal(size=(150, 3))
    model = FINDERS[name]().fit(values)
    assert model.n_clusters_ == 1
    assert "a number chosen by BIC among 1 to" in model.made_by
    tried = model.tried_
    assert tried["n_clusters"].min() == 1
    assert tried.loc[tried["chosen"], "bic"].item() == tried["bic"].min()


def test_the_likelihood_of_k_means_is_that_of_spherical_gaussians():
    values, labels = measurements(3, (30, 12, 5))
    means = np.stack([values[labels == k].mean(axis=0) for k in range(3)])
    spread = np.sqrt(((values - means[labels]) ** 2).sum() / (4 * (47 - 3)))
    of_values = stats.norm.logpdf(values, means[labels], spread).sum()
    of_shares = np.log(np.bincount(labels) / 47)[labels].sum()
    assert spherical_log_likelihood(values, labels) == pytest.approx(of_values + of_shares)


def test_the_chosen_sum_of_squares_is_that_of_the_labels():
    values, _ = measurements(3, (30, 12, 15))
    model = methods.KMeans(n_clusters=3, random_state=0).fit(values)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    within = sum(
        ((members - members.mean(axis=0)) ** 2).sum() for members in (standard[model.labels_ == k] for k in range(3))
    )
    assert model.sum_of_squares_ == pytest.approx(within)
    assert model.tried_["n_clusters"].tolist() == [3]


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
def test_bic_of_a_mixture_is_that_of_scikit_learn(shape):
    values, _ = measurements(4, (40, 30))
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    theirs = sklearn.mixture.GaussianMixture(2, covariance_type=shape, random_state=0).fit(values)
    n_parameters = n_parameters_of(2, 4, shape)
    ours = Candidate(2, float(theirs.score(values)) * 70, n_parameters, theirs.predict(values))
    assert ours.bic == pytest.approx(theirs.bic(values))


def test_of_equal_criteria_the_smaller_number_wins_and_no_number_loses():
    labels = np.zeros(10, dtype=np.int64)
    one, two, none = Candidate(1, -5.0, 3, labels), Candidate(2, -5.0, 3, labels), Candidate(3, np.nan, 0, labels)
    assert best_by(BIC, [one, two, none]) is one
    assert best_by(BIC, [none, two]) is two


def test_no_more_clusters_are_tried_than_rows_differ():
    values = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]])
    assert numbers_to_try(None, 10, values) == [1, 2, 3]
    assert numbers_to_try(None, 2, values) == [1, 2]
    assert numbers_to_try(4, 2, values) == [4]


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture", "LatentClasses"])
def test_more_clusters_than_different_subjects_are_refused(name):
    values = np.array([[0.0], [1.0], [1.0], [5.5]])
    with pytest.raises(ValueError, match=r"n_clusters must be below the number of subjects that differ \(3\), not 3"):
        getattr(methods, name)(n_clusters=3).fit(values)


def test_equal_subjects_need_a_given_bandwidth():
    values = np.array([[0.0]] * 50 + [[1.0]] * 40)
    with pytest.raises(ValueError, match="bandwidth must be given"):
        methods.MeanShift().fit(values)
    assert methods.MeanShift(bandwidth=0.5).fit(values).cluster_sizes_.tolist() == [50, 40]


def test_a_kind_of_covariance_is_kept():
    frame, _ = cohort(0, 0.0)
    model = methods.GaussianMixture(SCHEMA, n_clusters=2, covariance="diag", n_restarts=2, random_state=0).fit(frame)
    assert model.covariance_ == "diag"
    assert "diagonal covariances, a number given" in model.made_by


@pytest.mark.parametrize("name", ["KMeans", "GaussianMixture"])
@pytest.mark.parametrize("criterion", ["silhouette", "calinski_harabasz"])
def test_separation_chooses_the_number_that_scikit_learn_would(name, criterion):
    values, group = measurements(5, (60, 40, 30))
    model = getattr(methods, name)(max_clusters=6, n_restarts=3, choose_by=criterion, random_state=0).fit(values)
    assert adjusted_rand_score(group, model.labels_) == 1.0
    assert {"silhouette": "silhouette width among 2 to 6", "calinski_harabasz": "Harabasz index among 2 to 6"}[
        criterion
    ] in model.made_by
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    score = {
        "silhouette": sklearn.metrics.silhouette_score,
        "calinski_harabasz": sklearn.metrics.calinski_harabasz_score,
    }[criterion]
    chosen = model.tried_[model.tried_["chosen"]]
    assert chosen[criterion].item() == pytest.approx(score(standard, model.labels_))
    assert chosen[criterion].item() == model.tried_[criterion].max()


@pytest.mark.simulation
def test_separation_of_one_cluster_is_not_defined_and_of_many_subjects_it_is_sampled():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6000, 2)) + 9.0 * (np.arange(6000) % 2)[:, None]
    assert all(np.isnan(value) for value in separation(values[:50], np.zeros(50, dtype=np.int64), 0).values())
    assert all(np.isnan(value) for value in separation(values[:50], np.arange(50), 0).values())
    found = separation(values, np.arange(6000) % 2, 0)
    assert found == separation(values, np.arange(6000) % 2, 0)
    whole = sklearn.metrics.silhouette_score(values, np.arange(6000) % 2)
    assert found["silhouette"] == pytest.approx(whole, abs=0.01)


def test_a_criterion_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="choose_by must be 'bic', 'silhouette' or 'calinski_harabasz'"):
        methods.KMeans(choose_by="elbow").fit(np.arange(10.0)[:, None])
