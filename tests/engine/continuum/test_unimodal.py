"""Smoothing to one mode: the critical bandwidth against a plain density estimate, and the draws from it."""

import numpy as np
import pytest
from scipy.signal import find_peaks
from scipy.stats import gaussian_kde

from clinclust.engine.continuum.unimodal import critical_bandwidth, unimodal_draws

SAMPLES = {
    "two modes": lambda rng: np.concatenate([rng.normal(-2, 1, 150), rng.normal(2, 1, 150)]),
    "normal": lambda rng: rng.normal(5, 3, 300),
    "skewed": lambda rng: rng.exponential(size=400),
    "ties": lambda rng: rng.integers(4, size=300).astype(float),
}


def n_modes(sample, bandwidth):
    grid = np.linspace(sample.min() - 3 * sample.std(), sample.max() + 3 * sample.std(), 3000)
    density = gaussian_kde(sample, bandwidth / sample.std(ddof=1))(grid)
    return find_peaks(density, prominence=1e-6 * density.max())[0].size


@pytest.mark.parametrize("name", SAMPLES)
def test_just_above_the_critical_bandwidth_there_is_one_mode_and_below_it_there_are_more(name):
    sample = SAMPLES[name](np.random.default_rng(1))
    bandwidth = critical_bandwidth(sample)
    assert n_modes(sample, 1.03 * bandwidth) == 1
    assert n_modes(sample, 0.95 * bandwidth) > 1


@pytest.mark.parametrize("name", SAMPLES)
def test_the_bandwidth_moves_with_the_sample(name):
    sample = SAMPLES[name](np.random.default_rng(2))
    assert critical_bandwidth(7.0 - 4.0 * sample) == pytest.approx(4.0 * critical_bandwidth(sample), rel=0.01)


def test_two_far_groups_need_more_smoothing_than_one():
    rng = np.random.default_rng(3)
    one = rng.normal(size=300)
    two = np.concatenate([one[:150] - 3, one[150:] + 3])
    assert critical_bandwidth(two) > 3 * critical_bandwidth(one)


def test_a_sample_of_one_value_has_no_bandwidth():
    assert critical_bandwidth(np.full(20, 3.0)) == 0.0


def test_draws_are_standardised():
    rng = np.random.default_rng(4)
    sample = rng.exponential(3.0, 400)
    drawn = unimodal_draws(sample, critical_bandwidth(sample), 20_000, rng)
    assert drawn.mean() == pytest.approx(0.0, abs=0.03)
    assert drawn.var() == pytest.approx(1.0, abs=0.05)
    assert ((drawn - drawn.mean()) ** 3).mean() > 1.0
