"""GibbsDP: what a user gets from the posterior of the partition."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cohorts import schema_of
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.errors import NotFittedError


def cohort(n=(60, 40, 12), shift=4.0, seed=1):
    """Groups that differ in four measurements, a yes/no feature that is described only, some values missing."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(n)), n)
    values = pd.DataFrame(rng.normal(shift * group[:, None], 1.0, (group.size, 4)), columns=list("abcd"))
    values = values.mask(rng.random(values.shape) < 0.05)
    values["outcome"] = np.where(rng.random(group.size) < 0.2 + 0.2 * group, "yes", "no")
    return values, group


SCHEMA = schema_of("abcd", outcome={"likelihood": "bernoulli", "levels": ("no", "yes"), "role": "describe"})


def sampler(**changes):
    return cc.GibbsDP(SCHEMA, **({"random_state": 0, "progress": False, "max_sweeps": 100} | changes))


def fitted(frame, **changes):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The chains have not come to the same distribution")
        return sampler(**changes).fit(frame)


@pytest.fixture(scope="module")
def clear():
    frame, group = cohort()
    return fitted(frame), frame, group


def test_clear_groups_are_the_point_estimate(clear):
    model, _, group = clear
    assert adjusted_rand_score(group, model.labels_) == 1.0
    assert model.cluster_sizes_.tolist() == [60, 40, 12]
    assert model.n_clusters_posterior_.sum() == pytest.approx(1.0)
    assert model.n_clusters_posterior_.idxmax() == 3
    assert model.membership_.shape == (112, 3)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1.0)
    assert model.membership_[np.arange(112), model.labels_].min() > 0.9


def test_the_same_seed_gives_the_same_draws_on_any_number_of_threads_in_any_order_of_the_table(clear):
    model, frame, _ = clear
    order = np.random.default_rng(2).permutation(len(frame))
    shuffled = fitted(frame.iloc[order], n_jobs=1)
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
    np.testing.assert_array_equal(shuffled.draws_, model.draws_[:, order])
    assert shuffled.index_.equals(frame.index[order])


def test_the_mode_and_the_mean_of_the_posterior_agree_where_groups_are_clear(clear):
    model, frame, _ = clear
    mode = cc.methods.PublishedMAPDP(SCHEMA, random_state=0, progress=False).fit(frame)
    assert adjusted_rand_score(mode.labels_, model.labels_) == 1.0
    assert model.posterior_.chains.traces["log_joint"].max() <= mode.log_joint_ + 1e-6
    np.testing.assert_allclose(model.membership_in(mode.labels_), model.membership_)
    new, _ = cohort(seed=3)
    assert (model.predict(new) == mode.predict(new)).mean() > 0.97
    assert model.score(new) == pytest.approx(mode.score(new), abs=0.2)


def test_new_subjects_that_are_like_nobody_belong_to_none(clear):
    model, frame, _ = clear
    odd = frame.head(3).assign(a=60.0, b=-60.0, c=60.0, d=-60.0)
    assert (model.predict(odd) == -1).all()
    probabilities = model.predict_proba(odd)
    assert probabilities.shape == (3, 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    with pytest.raises(cc.CohortError, match="expected a column of this name"):
        model.predict(frame.drop(columns="a"))


def test_memberships_of_overlapping_groups_are_less_sure_than_those_of_the_mode():
    frame, _ = cohort(n=(50, 50), shift=1.6)
    mode = cc.methods.PublishedMAPDP(SCHEMA, random_state=3, progress=False).fit(frame)
    assert mode.n_clusters_ == 2
    own = fitted(frame).membership_in(mode.labels_)[np.arange(100), mode.labels_]
    assert own.mean() < mode.membership_[np.arange(100), mode.labels_].mean()


@pytest.mark.simulation
def test_a_concentration_that_is_drawn_moves_and_is_reported():
    frame, group = cohort()
    model = fitted(frame, concentration="drawn", max_sweeps=120)
    drawn = model.posterior_.chains.traces["concentration"]
    assert np.unique(drawn).size > 60
    assert model.concentration_ == pytest.approx(drawn.mean())
    # Given K clusters, the mean of the concentration lies below its prior mean, 3, for 3 clusters of 112 subjects.
    assert 0.2 < model.concentration_ < 2.0
    assert adjusted_rand_score(group, model.labels_) > 0.95
    new, _ = cohort(seed=3)
    assert np.isfinite(model.score_samples(new)).all()


def test_a_sampler_of_a_fit_has_its_model():
    frame, _ = cohort()
    mode = cc.methods.PublishedMAPDP(SCHEMA, concentration="map", coarsening=0.7, random_state=0, progress=False).fit(
        frame
    )
    model = cc.GibbsDP.of(mode, random_state=1)
    assert (model.concentration, model.coarsening) == (mode.concentration_, 0.7)
    assert model.hyperparameters == mode.hyperparameters_
    assert model.schema is mode.schema_
    assert cc.GibbsDP.of(mode, concentration=1.0).concentration == 1.0


def test_chains_that_disagree_are_told():
    frame, _ = cohort()
    with pytest.warns(cc.CohortWarning, match=r"have not come to the same distribution in 6 sweeps: .*R-hat"):
        model = sampler(max_sweeps=6).fit(frame)
    assert (model.converged_, bool(model.convergence_["converged"].all())) == (False, False)
    assert model.posterior_.chains.traces["log_joint"].shape == (4, 3)


def test_a_fitted_sampler_is_a_subtype_model(clear, tmp_path):
    model, frame, _ = clear
    assert model.fit_ is None
    path = cc.write_report(model, frame, tmp_path / "posterior.html", associations=None)
    page = path.read_text(encoding="utf-8")
    assert "Gibbs sampling of a Dirichlet process mixture" in page
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_)
    assert "outcome" in str(cc.subtype_table(comparisons))
    shared = cc.write_report(model, frame, tmp_path / "shared.xlsx", suppress=10)
    assert shared.exists()


def test_everything_wrong_is_listed_at_once(clear):
    model, frame, _ = clear
    with pytest.raises(ValueError, match=r"concentration must be 'drawn' .*; n_chains must be"):
        cc.GibbsDP(SCHEMA, concentration="map", n_chains=1).fit(frame)
    with pytest.raises(NotFittedError, match="GibbsDP is not fitted yet"):
        _ = sampler().labels_
    with pytest.raises(ValueError, match="without a gap"):
        model.membership_in(np.where(model.labels_ == 1, 5, model.labels_))
    with pytest.raises(ValueError, match="GibbsDP has no parameter n_restarts"):
        sampler().set_params(n_restarts=3)
    with pytest.raises(ValueError, match="one subject"):
        sampler().fit(frame.head(1))


def test_it_is_an_estimator_of_scikit_learn():
    model = sampler(coarsening=0.2)
    assert clone(model).get_params() == model.get_params()
    assert repr(model).endswith("coarsening=0.2, max_sweeps=100, random_state=0, progress=False)")
