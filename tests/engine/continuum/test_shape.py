"""The statistics of shape: likelihood ratios against scipy, and the dip of log odds against the log joint."""

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from hypothesis import given
from hypothesis import strategies as st
from problems import problem_of
from scipy.special import logsumexp
from scipy.stats import norm

from clinclust.engine.continuum import null_cohorts
from clinclust.engine.continuum.null_cohorts import axes_in_halves, shape_of
from clinclust.engine.kernels.modes import dip
from clinclust.engine.problem.problem import joint_of


def ratio(x, delta):
    """Return the mean log likelihood ratio of two normal distributions, 2 delta apart, to one, by scipy."""
    x = (x - x.mean()) / x.std()
    two = [norm.logpdf(x, side, np.sqrt(1.0 - delta**2)) for side in (-delta, delta)]
    return np.mean(logsumexp(two, axis=0) - np.log(2.0) - norm.logpdf(x))


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_halves_are_likelihood_ratios_along_the_first_principal_components(size):
    rng = np.random.default_rng(size)
    scores = rng.gamma(2.0, size=(300, size)) @ rng.normal(size=(size, size))
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    _, axes = np.linalg.eigh(np.corrcoef(scores.T).reshape(size, size))
    wanted = [[ratio(scores @ axis, delta) for axis in axes.T[::-1][:3]] for delta in (0.7, 0.9)]
    np.testing.assert_allclose(axes_in_halves(scores), wanted, rtol=1e-6)


def test_two_groups_raise_the_ratio_along_the_axis_that_parts_them_and_one_lowers_it():
    rng = np.random.default_rng(1)
    one = 0.8 * rng.normal(size=(20_000, 1)) + 0.6 * rng.normal(size=(20_000, 6))
    assert (axes_in_halves(one) < -0.005).all()
    sides = np.where(np.arange(20_000) % 2, 0.5, -0.5)
    found = axes_in_halves(rng.normal(size=(20_000, 6)) + sides[:, None])
    assert found[0, 0] > 0.01
    assert (found[:, 1:] < -0.005).all()


def log_dip(part, halves):
    return shape_of(part, np.ones((halves.size, 1)), halves)[0]


@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.3, 0.95]))
def test_halves_are_finite_and_do_not_depend_on_the_order_of_rows_and_the_sign_of_columns(seed, missing):
    rng = np.random.default_rng(seed)
    scores = np.rint(1024 * rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)))
    scores[:, 1] = 0.0
    scores[rng.random(scores.shape) < missing] = np.nan
    found = axes_in_halves(scores)
    assert found.shape == (2, 3)
    assert np.isfinite(found).all()
    order = rng.permutation(60)
    np.testing.assert_allclose(axes_in_halves(scores[order]), found, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(axes_in_halves(scores * [1, -1, 1, -1, 1]), found, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("nothing", [0.0, np.nan])
def test_columns_of_one_value_and_empty_ones_have_a_ratio(nothing):
    assert np.isfinite(axes_in_halves(np.full((40, 4), nothing))).all()


def test_axes_with_equal_eigenvalues_that_lapack_leaves_out_count(monkeypatch):
    scores, whole = np.random.default_rng(4).normal(size=(40, 5)), null_cohorts.eigh
    expected = axes_in_halves(scores)
    some = lambda matrix, **of: [part[..., -1:] if of else part for part in whole(matrix, **of)]  # noqa: E731
    monkeypatch.setattr(null_cohorts, "eigh", some)
    np.testing.assert_allclose(axes_in_halves(scores), expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_dip_is_that_of_the_differences_in_log_joint_of_moving_one_subject(seed):
    frame, schema, _, groups = mixed_cohort(seed, 40, EVERY_LIKELIHOOD, missing=0.1)
    part = problem_of(frame, schema)
    halves = groups[part.cohort.order] % 2
    odds = []
    for subject in range(40):
        joints = []
        for half in (0, 1):
            moved = halves.copy()
            moved[subject] = half
            joints.append(joint_of(part, moved))
        odds.append(joints[1] - joints[0])
    assert log_dip(part, halves) == pytest.approx(np.log(dip(np.sort(odds))), abs=1e-6)


def test_one_half_has_the_least_dip_and_two_far_groups_a_large_one():
    rng = np.random.default_rng(0)
    groups = np.arange(80) % 2
    frame = pd.DataFrame(rng.normal(size=(80, 4)) + 9.0 * groups[:, None], columns=list("abcd"))
    part = problem_of(frame)
    halves = groups[part.cohort.order]
    for empty in (np.zeros(80, dtype=np.int64), np.ones(80, dtype=np.int64)):
        assert np.exp(log_dip(part, empty)) == pytest.approx(1e-4)
    assert np.exp(log_dip(part, halves)) > 0.3
    assert log_dip(part, 1 - halves) == pytest.approx(log_dip(part, halves), abs=1e-9)
    scores = rng.normal(size=(80, 4))
    shape = shape_of(part, scores, halves)
    assert shape[0] == log_dip(part, halves)
    np.testing.assert_array_equal(shape[1:], axes_in_halves(scores).ravel())
