"""Hyperparameters and concentration estimated from the data: optima, and what never falls."""

import numpy as np
import pandas as pd
import pytest
from cohorts import mixed_cohort, quick_fit
from problems import mixed_problem, problem_of
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from scored import few

from clinclust import MAPDP, FeatureSchema, log_joint
from clinclust.engine.joint_estimates.resolution import (
    alternate,
    concentration_mode,
    deal_folds,
    log_concentration_hyperprior,
    starts_among,
)
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.problem.problem import log_crp
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.engine.search.plan import Budget, SearchPlan
from clinclust.engine.search.settle import run_restarts, search_starts
from clinclust.methods import PublishedMAPDP


@pytest.mark.parametrize(("n", "k"), [(2, 1), (50, 1), (100, 5), (1000, 12), (40, 40)])
def test_newtons_mode_is_that_of_scipy(n, k):
    def negative(u):
        return -(k * u + gammaln(np.exp(u)) - gammaln(np.exp(u) + n) + log_concentration_hyperprior(np.exp(u)))

    grid = np.linspace(-12, 8, 2001)
    around = grid[np.argmin([negative(u) for u in grid])]
    expected = minimize_scalar(negative, bounds=(around - 0.1, around + 0.1), options={"xatol": 1e-9}).x
    assert np.log(concentration_mode(n, k)) == pytest.approx(expected, abs=1e-5)


def test_the_extended_joint_never_falls():
    problem = mixed_problem(4, 80)
    starts = search_starts(80, np.random.SeedSequence(0).spawn(3))

    def search(problem, starts):
        return run_restarts(problem, starts, SearchPlan(n_jobs=1, refine=False))

    restarts = search(problem, starts)
    before = max(restart.log_joint for restart in restarts) + log_concentration_hyperprior(problem.model.concentration)
    after, found = alternate(problem, restarts, starts, search, Budget())
    best = max(found, key=lambda restart: restart.log_joint)
    assert best.log_joint + log_concentration_hyperprior(after.model.concentration) > before
    assert (np.diff(best.trace) >= 0).all()
    assert best.trace[-1] == best.log_joint
    assert best.log_joint == pytest.approx(joint_of(after, new_partition(after.cohort.arrays, best.labels)), rel=1e-12)


WAYS = [
    {"concentration": "map", "hyperparameters": "greedy"},
    {"hyperparameters": "greedy"},
    {"concentration": "cross-validation"},
    {"concentration": "map"},
]


@pytest.mark.simulation
@pytest.mark.parametrize("way", few(WAYS, 3))
def test_every_way_fits_together_and_comes_back_from_disk(way, tmp_path, monkeypatch):
    monkeypatch.setattr("clinclust.estimators.fitting.N_FOLDS", 2)
    monkeypatch.setattr("clinclust.estimators.fitting.CONCENTRATIONS", (0.3, 10.0))
    frame, schema, _, _ = mixed_cohort(5, n=24)
    models = [PublishedMAPDP(schema, n_restarts=1, random_state=1, n_jobs=jobs, **way).fit(frame) for jobs in (1, 2)]
    first, second = models
    assert first.labels_.tobytes() == second.labels_.tobytes()
    assert first.membership_.tobytes() == second.membership_.tobytes()
    assert first.hyperparameters_ == second.hyperparameters_
    pd.testing.assert_frame_equal(first.tuning_, second.tuning_, check_exact=True)
    expected = log_joint(frame, first.labels_, schema, first.hyperparameters_, first.concentration_)
    assert first.log_joint_ == pytest.approx(expected, rel=1e-10)
    assert first.log_joint_ == first.restarts_["log_joint"].max() == first.log_joint_trace_[-1]
    assert (np.diff(first.log_joint_trace_) >= 0).all()
    assert first.tuning_["concentration"][first.tuning_["chosen"]].tolist() == [first.concentration_]
    loaded = MAPDP.load(first.save(tmp_path / "model"))
    assert loaded.predict_proba(frame).tobytes() == first.predict_proba(frame).tobytes()
    assert (loaded.concentration_, loaded.hyperparameters_) == (first.concentration_, first.hyperparameters_)
    pd.testing.assert_frame_equal(loaded.tuning_, first.tuning_, check_exact=True)
    assert loaded.fit(frame).labels_.tobytes() == first.labels_.tobytes()


def test_what_the_schema_states_stays():
    frame, schema, _, _ = mixed_cohort(3, n=60)
    stated = {"poisson_3": {"rate": 0.3}, "gaussian_6": {"mean": 101.3, "shape": 2.7}}
    features = [
        type(feature)(**{**feature.content(), "prior": stated[feature.name]}) if feature.name in stated else feature
        for feature in schema
    ]
    model = quick_fit(frame, FeatureSchema(features), hyperparameters="greedy")
    default = quick_fit(frame, FeatureSchema(features))
    for name, named in stated.items():
        assert {key: model.hyperparameters_[name][key] for key in named} == named
    assert model.hyperparameters_["poisson_3"]["shape"] != default.hyperparameters_["poisson_3"]["shape"]


def test_everybody_is_held_out_once_and_the_density_is_that_of_a_model_of_the_others():
    from clinclust.engine.joint_estimates.resolution import held_out_log_density

    frame, schema, _, groups = mixed_cohort(2, n=60, missing=0.0)
    problem = problem_of(frame, schema)
    order = problem.cohort.order
    folds = list(deal_folds(60, 5, np.random.default_rng(0)))
    assert sorted(np.concatenate([held_out for _, held_out in folds])) == list(range(60))
    training, held_out = folds[0]
    labels = np.unique(groups[order][training], return_inverse=True)[1]
    found = held_out_log_density(problem.restricted_to(training), labels, problem.restricted_to(held_out))
    named = problem.hyperparameters
    for row in range(3):
        both = frame.iloc[order[np.append(training, held_out[row])]]
        joints = [log_joint(both, [*labels, k], schema, named) for k in range(labels.max() + 2)]
        alone = log_joint(frame.iloc[order[training]], labels, schema, named)
        assert found[row] == pytest.approx(np.logaddexp.reduce(joints) - alone, rel=1e-7)
    starts = starts_among(search_starts(60, np.random.SeedSequence(0).spawn(2)), training)
    assert all(sorted(start.order) == list(range(training.size)) for start in starts)
    assert log_crp(np.bincount(labels).astype(float), 3.0) < 0
