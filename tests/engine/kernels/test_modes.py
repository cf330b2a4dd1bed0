"""The dip against the distances from the hulls on both sides of every possible mode, by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust.engine.kernels.modes import dip

SAMPLES = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.exponential(size=n),
    "two modes": lambda rng, n: rng.normal(size=n) + 5.0 * (rng.random(n) < 0.4),
    "heavy": lambda rng, n: rng.standard_cauchy(n),
    "ties": lambda rng, n: rng.integers(5, size=n).astype(float),
}


def ordered(name, seed, n):
    return np.sort(SAMPLES[name](np.random.default_rng(seed), n))


def farthest(values, sign):
    """Return the largest distance of ranks from the lowest of all their chords (sign 1), or the highest (-1)."""
    ranks, distances = np.arange(values.size), []
    for i in ranks:
        hull = sign * float(i)
        for a in ranks[: i + 1]:
            for b in ranks[i:]:
                if values[b] > values[a]:
                    share = (values[i] - values[a]) / (values[b] - values[a])
                    hull = min(hull, sign * (a + share * (b - a)))
        distances.append(abs(i - sign * hull))
    return max(distances)


def by_all_modes(values):
    """Return the smallest, over all modes, of the larger distance below it and above it.

    Values equal to the mode count on neither side, except the nearest to it: there the distribution function may leap.
    """
    found = []
    for mode in values:
        first, last = np.flatnonzero(values == mode)[[0, -1]]
        found.append(max(farthest(values[: first + 1], 1.0), farthest(values[last:], -1.0)))
    return min(found) / values.size


@given(name=st.sampled_from(sorted(SAMPLES)), seed=st.integers(0, 10**6), n=st.integers(2, 14))
def test_it_is_the_smallest_over_all_modes_of_the_distance_from_both_hulls(name, seed, n):
    values = ordered(name, seed, n)
    assert dip(values) == pytest.approx(by_all_modes(values), abs=1e-9)


@given(name=st.sampled_from(sorted(SAMPLES)), seed=st.integers(0, 10**6), scale=st.sampled_from([0.25, 3.0, 700.0]))
def test_it_does_not_depend_on_shift_scale_and_direction(name, seed, scale):
    values = ordered(name, seed, 60)
    assert dip(scale * values + 5.0) == pytest.approx(dip(values), abs=1e-9)
    assert dip(np.sort(-values)) == pytest.approx(dip(values), abs=1e-9)


def test_one_mode_has_no_dip_and_two_far_clumps_the_smaller_share():
    assert dip(np.linspace(-3.0, 8.0, 101)) == pytest.approx(0.0, abs=1e-12)
    triangular = np.concatenate([-1.0 + np.sqrt(np.linspace(0, 1, 50)), 1.0 - np.sqrt(np.linspace(1, 0, 50)[1:])])
    assert dip(triangular) == pytest.approx(0.0, abs=1e-12)
    for n_first in (10, 30, 50):
        clumps = np.concatenate([np.linspace(0.0, 1.0, n_first), 1e5 + np.linspace(0.0, 1.0, 100 - n_first)])
        assert dip(clumps) == pytest.approx(n_first / 100, abs=0.02)


def test_equal_values_at_the_mode_are_no_dip():
    assert dip(np.full(30, 2.0)) == 0.0
    assert dip(np.sort(np.concatenate([np.zeros(40), np.linspace(-1.0, 1.0, 10)]))) < 0.05
    assert dip(np.repeat([0.0, 1.0, 2.0], [40, 20, 40])) > 0.3


def test_its_quantile_in_uniform_samples():
    rng = np.random.default_rng(0)
    scaled = [np.sqrt(200) * dip(np.sort(rng.random(200))) for _ in range(2000)]
    assert 0.78 < np.quantile(scaled, 0.95) < 0.86
