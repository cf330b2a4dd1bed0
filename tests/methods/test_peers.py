"""Peer methods: K-means, harmonic means, mean shift and mixtures by plain algorithms and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import sklearn.cluster
import sklearn.metrics
import sklearn.mixture
from cohorts import schema_of
from scipy import stats
from scored import few
from sklearn.metrics import adjusted_rand_score
from stepmix.stepmix import StepMix

import clinclust as cc
from clinclust import methods
from clinclust.methods.method import Candidate, MethodByCriterion, harmonic_means, measure_separation


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
}


@pytest.mark.simulation
@pytest.mark.parametrize("name", FINDERS)
def test_one_group_is_one(name):
    values = np.random.default_rng(2).normal(size=(150, 3))
    model = FINDERS[name]().fit(values)
    assert model.n_clusters_ == 1
    assert "a number chosen by BIC among 1 to" in model.made_by
    tried = model.tried_
    assert tried["n_clusters"].min() == 1
    assert tried.loc[tried["chosen"], "bic"].item() == tried["bic"].min()


def test_the_likelihood_of_k_means_is_that_of_spherical_gaussians():
    values, _ = measurements(3, (30, 12, 5))
    model = methods.KMeans(n_clusters=3, random_state=0).fit(values)
    values, labels = (values - values.mean(axis=0)) / values.std(axis=0), model.labels_
    means = np.stack([values[labels == k].mean(axis=0) for k in range(3)])
    within = ((values - means[labels]) ** 2).sum()
    of_values = stats.norm.logpdf(values, means[labels], np.sqrt(within / (4 * (47 - 3)))).sum()
    of_shares = np.log(np.bincount(labels) / 47)[labels].sum()
    assert model.tried_["log_likelihood"].item() == pytest.approx(of_values + of_shares)
    assert model.sum_of_squares_ == pytest.approx(within)
    assert model.tried_["n_clusters"].tolist() == [3]


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
def test_bic_of_a_mixture_is_that_of_scikit_learn(shape):
    values, _ = measurements(4, (40, 30))
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    theirs = sklearn.mixture.GaussianMixture(2, covariance_type=shape, reg_covar=1e-3, random_state=0).fit(standard)
    ours = methods.GaussianMixture(n_clusters=2, covariance=shape, random_state=0).fit(values).tried_
    assert ours["n_parameters"].item() == theirs._n_parameters()
    assert ours["bic"].item() == pytest.approx(theirs.bic(standard))


class Rehearsed(MethodByCriterion):
    """A method whose likelihoods are known."""

    _words = "a rehearsal"
    likelihoods = ()

    def _fit_candidates(self, table, n_clusters, seed):
        row = {"n_clusters": n_clusters, "log_likelihood": self.likelihoods[n_clusters - 1]}
        yield Candidate(row | {"n_parameters": 3, "converged": True}, np.arange(len(table.matrix)) % n_clusters)


@pytest.mark.parametrize(
    ("likelihoods", "best"), [((-5.0, -5.0, np.nan), 1), ((np.nan, -5.0, -6.0), 2), ((np.inf, -9.0, -1.0), 3)]
)
def test_of_equal_criteria_the_smaller_number_wins_and_no_likelihood_loses(likelihoods, best):
    model = Rehearsed(max_clusters=3)
    model.likelihoods = likelihoods
    assert model.fit(np.arange(10.0)[:, None]).n_clusters_ == best
    assert model.log_likelihood_ == likelihoods[best - 1]
    np.testing.assert_allclose(model.tried_["bic"], 3.0 * np.log(10.0) - 2.0 * np.array(likelihoods))


def test_no_more_clusters_are_tried_than_rows_differ():
    values = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]])
    for parameters, numbers in (({}, [1, 2, 3]), ({"max_clusters": 2}, [1, 2]), ({"n_clusters": 3}, [3])):
        assert methods.KMeans(**parameters, random_state=0).fit(values).tried_["n_clusters"].tolist() == numbers


@pytest.mark.parametrize("bandwidth", [0.4, 1.5, 3.0])
def test_mean_shift_has_the_clusters_of_scikit_learn(bandwidth):
    values = np.random.default_rng(0).normal(size=(120, 3)) + 3.0 * (np.arange(120) % 3 == 0)[:, None]
    values[:, 0] = np.round(values[:, 0])  # ties
    expected = sklearn.cluster.MeanShift(bandwidth=bandwidth).fit(values).labels_
    np.testing.assert_array_equal(methods.method.climb_to_modes(values, bandwidth), expected)


def test_equal_subjects_need_a_given_bandwidth():
    values = np.array([[0.0]] * 50 + [[1.0]] * 40)
    with pytest.raises(ValueError, match="bandwidth must be given"):
        methods.MeanShift().fit(values)
    assert methods.MeanShift(bandwidth=0.5).fit(values).cluster_sizes_.tolist() == [50, 40]


@pytest.mark.simulation
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
    assert all(np.isnan(value) for value in measure_separation(values[:50], np.zeros(50, dtype=np.int64), 0).values())
    assert all(np.isnan(value) for value in measure_separation(values[:50], np.arange(50), 0).values())
    sampled = measure_separation(values, np.arange(6000) % 2, 0)
    assert sampled == measure_separation(values, np.arange(6000) % 2, 0)
    whole = sklearn.metrics.silhouette_score(values, np.arange(6000) % 2)
    assert sampled["silhouette"] == pytest.approx(whole, abs=0.01)


def harmonic_objective(values, centres):
    """The loss of Zhang, Hsu and Dayal (1999), line by line."""
    total = 0.0
    for row in values:
        total += len(centres) / sum(1.0 / sum((row - centre) ** 2) for centre in centres)
    return total


@pytest.mark.parametrize("seed", few(range(10), 2))
def test_the_harmonic_objective_never_rises_and_is_that_of_the_paper(seed):
    values, _ = measurements(seed, (20, 15, 10))
    start = np.random.default_rng(seed).normal(5.0, 4.0, (4, 4))
    centres, trace = harmonic_means(values, start)
    assert len(trace) > 3
    assert (np.diff(trace) < 0.0).all()
    assert trace[0] == pytest.approx(harmonic_objective(values, start))
    assert trace[-1] == pytest.approx(harmonic_objective(values, centres))


def test_at_the_end_the_slope_of_the_harmonic_objective_is_0():
    values, _ = measurements(1, (20, 15, 10))
    start = values[[0, 20, 40]]
    centres, _ = harmonic_means(values, start)
    for place in np.ndindex(centres.shape):
        step = np.zeros_like(centres)
        step[place] = 1e-4
        slope = (harmonic_objective(values, centres + step) - harmonic_objective(values, centres - step)) / 2e-4
        assert abs(slope) < 0.05
    shifted = centres + np.array([0.5, 0.0, 0.0, 0.0])
    step = np.zeros_like(centres)
    step[:, 0] = 1e-4
    assert abs(harmonic_objective(values, shifted + step) - harmonic_objective(values, shifted - step)) / 2e-4 > 1.0


def test_clear_groups_are_found_from_starts_in_one_of_them():
    values, group = measurements(2, (60, 40, 30))
    centres, _ = harmonic_means(values, values[:3])
    nearest = ((values[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert adjusted_rand_score(group, nearest) == 1.0
    model = methods.KHarmonicMeans(None, 3, random_state=0).fit(values)
    assert model.cluster_sizes_.tolist() == [60, 40, 30]
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    for cluster, centre in enumerate(model.centres_):
        assert np.abs(standard[model.labels_ == cluster].mean(axis=0) - centre).max() < 0.2


def test_subjects_that_lie_on_centres_do_no_harm():
    values = np.array([[0.0], [0.0], [1.0], [5.0], [5.0]])
    centres, trace = harmonic_means(values, np.array([[0.0], [5.0]]))
    assert np.isfinite(centres).all()
    assert (np.diff(trace) < 0.0).all()
    assert trace[-1] == pytest.approx(harmonic_objective(values, centres))
    centres, trace = harmonic_means(values[[0, 1, 3]], np.array([[0.0], [5.0], [9.0]]))
    np.testing.assert_array_equal(centres, [[0.0], [5.0], [9.0]])
    assert trace.tolist() == [0.0]


MIXED = schema_of([], yes="bernoulli", level={"likelihood": "categorical", "levels": ("a", "b", "c")}, size="gaussian")


def mixed(seed, n):
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "yes": (rng.random(n) < np.array([0.2, 0.9])[group]).astype(float),
            "level": np.array(["a", "b", "c"], dtype=object)[np.where(rng.random(n) < 0.7, 2 * group, 1)],
            "size": rng.normal(3.0 * group, 1.0),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame[frame.notna().any(axis="columns")]


def test_latent_classes_are_those_of_stepmix():
    frame = mixed(0, 150)
    model = methods.LatentClasses(MIXED, n_clusters=2, n_restarts=4, random_state=0).fit(frame)
    table = model._encode(MIXED.validate(frame, warn=False), MIXED.clustered)
    kinds = zip(table.kinds.items(), ("categorical_nan", "continuous_nan"), strict=True)
    measurement = {kind: {"model": name, "n_columns": n} for (kind, n), name in kinds}
    options = {"abs_tol": 1e-12, "rel_tol": 1e-13, "max_iter": 3000, "progress_bar": 0, "random_state": 0}
    other = StepMix(2, measurement=measurement, n_init=4, **options).fit(table.matrix)
    assert model.log_likelihood_ == pytest.approx(other.score(table.matrix) * len(frame), rel=1e-9)
    membership = other.predict_proba(table.matrix)
    membership = membership if (membership.argmax(axis=1) == model.labels_).mean() > 0.5 else membership[:, ::-1]
    np.testing.assert_allclose(model.membership_, membership, atol=1e-5)
    assert model.tried_["n_parameters"].item() == 1 + 2 * 5  # shares; yes, levels, mean and variance of each class


def test_a_level_without_subjects_costs_no_parameter():
    frame = mixed(1, 60)
    frame.loc[frame["level"] == "b", "level"] = "c"
    tried = methods.LatentClasses(MIXED, n_clusters=1, n_restarts=1, random_state=0).fit(frame).tried_
    assert tried["n_parameters"].item() == 2 + 2  # two of two levels, and the mean and variance of the size


@pytest.mark.simulation
def test_a_class_without_variance_is_warned_of_or_refused():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.zeros(40), rng.normal(50.0, 3.0, 40)])
    schema = cc.FeatureSchema([cc.Feature(name="size", likelihood="gaussian")])
    frame = pd.DataFrame({"size": values})
    with pytest.raises(ValueError, match=r"n_clusters=2: every start ended with a class in which a measurement"):
        methods.LatentClasses(schema, n_clusters=2, n_restarts=3, random_state=0).fit(frame)
    finder = methods.LatentClasses(schema, max_clusters=2, n_restarts=3, random_state=0)
    with pytest.warns(cc.CohortWarning, match=r"LatentClasses: 2 classes: every start .* so BIC chose without"):
        finder.fit(frame)
    assert finder.n_clusters_ == 1
    assert finder.tried_["bic"].isna().tolist() == [False, True]
