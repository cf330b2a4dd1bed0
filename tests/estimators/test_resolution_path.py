"""Resolution: the path over coarsenings, the coarsening chosen, outlying values."""

from dataclasses import replace
from itertools import pairwise
from threading import Event

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, gaussian_schema, mixed_cohort, quick_fit
from problems import problem_of
from scipy.special import logsumexp

from clinclust import Feature, FeatureSchema
from clinclust.engine.joint_estimates.outlying import best_outlying, without_outlying
from clinclust.engine.joint_estimates.resolution import independent_share
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.engine.search.plan import Budget
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.estimators.fitting import prepared, search
from clinclust.estimators.settings import Settings
from clinclust.methods import PublishedMAPDP
from clinclust.progress import SILENT


def wrong_cohort(seed, correlation=0.0, contaminated=0.0, n=240, n_features=12):
    """Return (frame, schema, groups): two subtypes of Gaussian features, dependent in blocks of four."""
    rng = np.random.default_rng(seed)
    groups = (np.arange(n) >= n // 2).astype(np.int64)
    shared = np.repeat(rng.normal(size=(n, n_features // 4)), 4, axis=1)
    values = np.sqrt(1 - correlation) * rng.normal(size=(n, n_features)) + np.sqrt(correlation) * shared
    values += 2.5 * groups[:, None] * (np.arange(n_features) % 2)
    hit = rng.random(values.shape) < contaminated
    values[hit] = 10 * rng.normal(size=hit.sum())
    names = [f"x{index}" for index in range(n_features)]
    return pd.DataFrame(values, columns=names), gaussian_schema(names), groups


def posed_with_steps(model, frame):
    """Return the problem of a cohort, and the steps of the search of a model, from the finest on."""
    settings = Settings.of(model)
    problem = prepared(settings, frame).problem
    return problem, search(problem, settings.search_plan(problem, Event(), Budget(), SILENT)).steps


@pytest.fixture(scope="module")
def contaminated():
    """Return (frame, schema, groups, model fitted automatically) of a cohort with wild values."""
    frame, schema, groups = wrong_cohort(3, correlation=0.5, contaminated=0.03)
    return frame, schema, groups, PublishedMAPDP(schema, coarsening="auto", n_restarts=3, random_state=1).fit(frame)


# --- outlying values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coarsening", [1.0, 0.4])
def test_the_joint_with_outlying_values_is_that_of_scipy(coarsening):
    frame, schema, columns, groups = mixed_cohort(4, n=24)
    problem = problem_of(frame, schema, concentration=1.7, coarsening=coarsening)
    order = problem.cohort.order
    labels = np.unique(groups, return_inverse=True)[1]
    names = [feature.name for feature in problem.cohort.encoding.features]
    observed = np.array([~np.isnan(columns[name][2][order]) for name in names]).T
    outlying = observed & (np.random.default_rng(0).random(observed.shape) < 0.2)
    share = 0.03
    kept = without_outlying(problem, outlying, share)
    found = joint_of(kept, new_partition(kept.cohort.arrays, labels[order]))

    table_order = np.argsort(order)
    kept_columns, price = {}, 0.0
    for index, name in enumerate(names):
        likelihood, trials, values = columns[name]
        out = outlying[table_order, index]
        kept_columns[name] = (likelihood, trials, np.where(out, np.nan, values))
        for value in values[out]:
            price += oracles.log_predictive(likelihood, problem.hyperparameters[name], [], value, trials)
    price += outlying.sum() * np.log(share) + (observed & ~outlying).sum() * np.log(1 - share)
    expected = oracles.log_joint(kept_columns, labels, problem.hyperparameters, 1.7, coarsening)
    assert found == pytest.approx(expected + coarsening * price, abs=1e-7)


@pytest.mark.parametrize("coarsening", [1.0, 0.5])
def test_no_change_of_a_single_value_raises_the_joint_further(coarsening):
    frame, schema, _, groups = mixed_cohort(6, n=40)
    frame.loc[3, "gaussian_6"] = 2000.0
    frame.loc[5, "poisson_3"] = 400
    problem = problem_of(frame, schema, coarsening=coarsening)
    labels = np.unique(groups[problem.cohort.order], return_inverse=True)[1]
    arrays = problem.cohort.arrays
    nothing = np.zeros((40, len(LIKELIHOODS)), dtype=bool)

    def joint(outlying):
        kept = without_outlying(problem, outlying, 0.02)
        return joint_of(kept, new_partition(kept.cohort.arrays, labels))

    outlying, reached = best_outlying(problem, labels, nothing, 0.02)
    assert outlying.sum() >= 2
    assert reached == pytest.approx(joint(outlying), abs=1e-9)
    assert reached > joint(nothing)
    for i, feature in np.argwhere(np.hstack([arrays.codes > 0, ~np.isnan(arrays.values)])):
        other = outlying.copy()
        other[i, feature] ^= True
        assert joint(other) <= reached + 1e-8


@pytest.mark.simulation
def test_wild_values_open_no_clusters_of_their_own(contaminated):
    frame, schema, groups, model = contaminated
    plain = PublishedMAPDP(schema, n_restarts=3, random_state=1).fit(frame)
    assert plain.n_clusters_ > 2
    assert model.n_clusters_ == 2
    assert adjusted_rand_index(model.labels_, groups) > 0.9
    wild = np.abs(frame.to_numpy()) > 10
    assert model.outliers_.shape == frame.shape
    assert model.outliers_[wild].all()
    clean = wrong_cohort(3, correlation=0.5)[0]
    replaced = frame.to_numpy() != clean.to_numpy()
    assert not model.outliers_[~replaced].any()
    assert model.outliers_[replaced].mean() > 0.75  # the others lie among the values of their subtype
    assert (np.diff(model.log_joint_trace_) >= -1e-9).all()
    assert model.log_joint_trace_[-1] == model.log_joint_ == model.restarts_["log_joint"].max()


def test_a_rare_subtype_far_away_is_no_slip_of_the_pen():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(150, 6))
    values[:8] += 12.0
    model = PublishedMAPDP(outlying_share=0.01, n_restarts=2, random_state=0).fit(values)
    assert model.cluster_sizes_.tolist() == [142, 8]
    assert model.coarsening_ == 1.0


def test_new_subjects_are_scored_by_the_mixture_with_the_prior(contaminated):
    frame, _, _, model = contaminated
    new = frame.iloc[:5].copy()
    new.iloc[0, 0], new.iloc[1, 2] = 1e4, np.nan
    columns = frame.mask(model.outliers_)
    scores = np.zeros((5, 3))
    for k in range(3):
        inside = model.labels_ == k
        scores[:, k] = np.log(inside.sum() or 3.0) - np.log(len(frame) + 3.0)
        for name in frame:
            h, values = model.hyperparameters_[name], columns[name][inside].dropna().to_numpy()
            for i, value in enumerate(new[name]):
                if not np.isnan(value):
                    here = oracles.log_predictive("gaussian", h, values, value, None)
                    anywhere = oracles.log_predictive("gaussian", h, [], value, None)
                    scores[i, k] += np.logaddexp(np.log(0.99) + here, np.log(0.01) + anywhere)
    np.testing.assert_allclose(model.score_samples(new), logsumexp(scores, axis=1), rtol=1e-8)
    assert (model.predict(new) >= 0).all()  # one wild value makes nobody a stranger


# --- the coarsening -------------------------------------------------------------------------------------------------


def test_the_share_of_independent_features_follows_from_the_correlations():
    frame, schema, groups = wrong_cohort(2, correlation=0.4, n=400)
    problem = problem_of(frame, schema)
    labels = groups[problem.cohort.order]
    by_group = frame.groupby(groups)
    squares = np.corrcoef(((frame - by_group.transform("mean")) / by_group.transform("std")).T) ** 2 - 1 / 398
    np.fill_diagonal(squares, 0.0)
    expected = 1 / (1 + squares.sum(axis=1).mean())
    assert independent_share(problem, labels) == pytest.approx(expected, abs=1e-10)
    assert expected == pytest.approx(1 / (1 + 3 * 0.16), abs=0.05)


def test_independent_features_ask_for_no_coarsening_whatever_their_likelihood():
    rng = np.random.default_rng(0)
    values = {"a": rng.integers(0, 2, 900), "b": rng.poisson(3, 900), "c": rng.normal(size=900)}
    letters = pd.DataFrame({"d": rng.choice(list("uvw"), 900), "e": rng.choice(list("xyz"), 900), **values})
    schema = FeatureSchema(
        [
            Feature(name="d", likelihood="categorical", levels=tuple("uvw")),
            Feature(name="e", likelihood="categorical", levels=tuple("xyz")),
            Feature(name="a", likelihood="bernoulli"),
            Feature(name="b", likelihood="poisson"),
            Feature(name="c", likelihood="gaussian"),
        ]
    )
    problem = problem_of(letters, schema)
    assert independent_share(problem, np.zeros(900, dtype=np.int64)) > 0.98
    same = problem_of(letters.assign(b=letters["a"]), schema)
    assert independent_share(same, np.zeros(900, dtype=np.int64)) == pytest.approx(1 / (1 + 2 / 5), abs=0.03)


@pytest.mark.simulation
def test_dependence_buys_clusters_unless_the_coarsening_is_chosen():
    frame, schema, groups = wrong_cohort(5, correlation=0.75)
    plain = quick_fit(frame, schema, n_restarts=3)
    model = quick_fit(frame, schema, coarsening="auto", n_restarts=3)
    assert plain.n_clusters_ > 2
    assert model.n_clusters_ == 2
    agreement = adjusted_rand_index(model.labels_, groups)
    assert agreement > max(0.85, adjusted_rand_index(plain.labels_, groups) + 0.2)
    assert model.coarsening_ < 0.6
    problem, steps = posed_with_steps(model, frame)
    for before, step in pairwise(steps):
        coarsened = replace(problem, model=problem.model._replace(coarsening=step.coarsening))
        nothing = np.zeros(frame.shape, dtype=bool)
        for labels in (step.labels, before.labels):
            assert step.winner.log_joint >= best_outlying(coarsened, labels, nothing, 0.01)[1] - 1e-6
    # Coarser steps would not change the choice.
    assert [step.borne_out for step in steps] == [False] * (len(steps) - 1) + [True]
    assert (steps[-1].coarsening, steps[-1].winner.log_joint) == (model.coarsening_, model.log_joint_)
    # The fit is that of the number chosen: no move raises its joint.
    assert (model.tree_.evidence > 0).all()
    again = quick_fit(
        frame, schema, coarsening=model.coarsening_, outlying_share=0.01, init=model.labels_, n_restarts=1
    )
    assert again.log_joint_ == pytest.approx(model.log_joint_, abs=1e-6)


# --- large cohorts ---------------------------------------------------------------------------------------------------


_MISJUDGED = [(3, 0.3), (4, 0.5), (7, 0.5)]
"""Seeds and correlations of cohorts whose sample bears out a coarsening that all subjects do not."""


def _fitted_from_a_small_sample(seed, correlation, **options):
    frame, schema, _ = wrong_cohort(seed, correlation=correlation, contaminated=0.03, n=900)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clinclust.estimators.fitting.LARGE", 500)
        patch.setattr("clinclust.engine.search.settle.N_SAMPLED", 200)
        model = quick_fit(frame, schema, coarsening="auto", n_restarts=3, **options)
        steps = posed_with_steps(model, frame)[1]
    posed = problem_of(frame, schema, coarsening=model.coarsening_)
    kept = without_outlying(posed, model.outliers_[posed.cohort.order], 0.01)
    return model, kept, model.labels_[posed.cohort.order], steps


@pytest.mark.simulation
@pytest.mark.parametrize(("seed", "correlation"), [(0, 0.3), (1, 0.5), *_MISJUDGED])
def test_the_coarsening_of_a_large_cohort_is_borne_out_by_all_its_subjects_with_any_threads(seed, correlation):
    model, kept, labels, steps = _fitted_from_a_small_sample(seed, correlation, n_jobs=1)
    assert model.coarsening_ <= independent_share(kept, labels) + 0.01
    assert [step.borne_out for step in steps] == [False] * (len(steps) - 1) + [True]
    assert (np.diff([step.coarsening for step in steps]) < 0.0).all()
    assert steps[0].winner.start.startswith("sample: ")
    assert (len(steps) > 1) == ((seed, correlation) in _MISJUDGED)
    assert (np.diff(model.log_joint_trace_) >= -1e-9).all()
    assert model.log_joint_ == pytest.approx(joint_of(kept, new_partition(kept.cohort.arrays, labels)), abs=1e-6)
    two, *_ = _fitted_from_a_small_sample(seed, correlation, n_jobs=2)
    assert model.log_joint_ == two.log_joint_
    np.testing.assert_array_equal(model.labels_, two.labels_)
    np.testing.assert_array_equal(model.outliers_, two.outliers_)
