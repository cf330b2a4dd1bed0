"""The laws of the likelihoods, through the compiled kernels: score = difference of log joints = textbook predictive."""

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, in_table
from problems import assert_scores_are_differences_of_the_joint, problem_of, scores_of
from scipy.special import logsumexp

from clinclust import Feature, FeatureSchema
from clinclust.engine.kernels.predictives import Levels, fill_coefficients, fill_levels, left_out_value, log_marginal
from clinclust.engine.problem.problem import clusters_of, joint_of
from clinclust.likelihoods import REGISTRY

N = 26


def _columns():
    """Yield (likelihood, example, column of N values): drawn from clusters, and at the edge of what is allowed."""
    for name in EVERY_LIKELIHOOD:
        for place, example in enumerate(REGISTRY[name].examples()):
            yield pytest.param(name, example, None, id=f"{name}-{place}")
            for case in example.edge_cases:
                yield pytest.param(name, example, case, id=f"{name}-{place}-{'-'.join(map(str, case))}")


def _problem(name, example, case, seed, *, n_features=9, coarsening=1.0):
    """Pose nine features of one likelihood, of which eight are scored together where they are alike."""
    rng = np.random.default_rng(seed)
    features, frame, priors = [], {}, {}
    for number in range(n_features):
        values = (
            example.column(rng, rng.integers(3, size=N), 3) if case is None else rng.permutation(np.resize(case, N))
        )
        values = np.where(rng.random(N) < 0.1, np.nan, values)
        feature = Feature(name=f"x{number}", likelihood=name, **example.fields)
        features.append(feature)
        frame[feature.name] = in_table(feature, values)
        if number % 2:
            priors[feature.name] = example.random_prior(rng, values)
    schema = FeatureSchema(features)
    return problem_of(pd.DataFrame(frame), schema, priors, coarsening=coarsening)


@pytest.mark.parametrize(("name", "example", "case"), [*_columns()])
def test_a_score_is_a_difference_of_log_joints(name, example, case):
    problem = _problem(name, example, case, 0, coarsening=0.7)
    labels = np.random.default_rng(1).permutation(np.arange(N) % 4)
    size = max(1.0, abs(joint_of(problem, labels)))
    assert_scores_are_differences_of_the_joint(problem, labels, atol=1e-10 * size)


@pytest.mark.parametrize(("name", "example", "case"), [*_columns()])
def test_a_score_is_the_predictive_of_the_textbook(name, example, case):
    problem = _problem(name, example, case, 2, n_features=3)
    labels = np.random.default_rng(3).permutation(np.arange(N) % 3)
    encoding, arrays = problem.cohort.encoding, problem.cohort.arrays
    clusters = clusters_of(problem, problem.partition(labels))
    expected = np.log([*np.bincount(labels), problem.model.concentration]) + np.zeros((N, 4))
    for place, likelihood in enumerate(encoding.alone):
        for cluster, posterior in enumerate(clusters.posteriors(place)):
            predictive = likelihood.predictive(posterior)
            if likelihood.is_continuous:
                seen = arrays.values[:, place]
                values = seen**2 if likelihood.encoded(np.array([4.0]))[0] == 2.0 else seen
                log_density = predictive.logpdf(values)
            else:
                values = np.where(arrays.codes[:, place] > 0, arrays.level_values[arrays.codes[:, place]], np.nan)
                log_density = predictive.logpmf(np.nan_to_num(values))
            expected[:, cluster] += np.where(np.isnan(values), 0.0, log_density)
    scores = scores_of(problem, labels)
    others = np.arange(4) != labels[:, None]
    np.testing.assert_allclose(scores[others], expected[others], rtol=1e-8, atol=1e-8)


def test_codes_are_the_likelihoods_own():
    """Bernoulli is a binomial with one trial; every other likelihood has a code of its own."""
    codes = {name: likelihood.kernel for name, likelihood in REGISTRY.items() if name != "bernoulli"}
    assert len(set(codes.values())) == len(codes)
    assert min(codes.values()) >= 0
    assert REGISTRY["bernoulli"].kernel == codes["binomial"]


def test_a_code_that_nobody_knows_gives_nan_and_no_score():
    two, work = np.ones(2), np.zeros(300)
    unknown = 10**6
    out = [np.ones(2) for _ in range(4)]
    fill_levels.py_func(unknown, two, two, Levels(np.ones(4), two, 2, *out, work))
    assert np.isnan(logsumexp([out[0], out[1]]))
    assert np.isnan(out[1]).all()
    assert np.isnan(out[3]).all()
    here, left = np.zeros(4), np.zeros(4)
    fill_coefficients.py_func(unknown, two, two, here, 1, left, 1)
    assert np.isnan(here).all()
    assert np.isnan(left).all()
    assert np.isnan(left_out_value.py_func(unknown, two, two, 1.0))
    assert np.isnan(log_marginal.py_func(unknown, two, two, 2, work))
