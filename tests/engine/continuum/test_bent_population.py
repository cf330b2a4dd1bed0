"""A population that bends: what is estimated of given subjects, what its draws keep, and the smoothed severity."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import find_peaks
from scipy.stats import gaussian_kde, ks_2samp, skew

from clinclust import Feature, FeatureSchema
from clinclust.engine.continuum.bent_population import (
    BentPopulation,
    bend_of,
    bent_population,
    critical_bandwidth,
    unimodal_draws,
)
from clinclust.engine.continuum.normal_scores import (
    correlations,
    first_axis,
    in_score_steps,
    nearest_correlation,
    reliable_correlations,
    with_unit_diagonal,
)
from clinclust.engine.continuum.null_cohorts import one_population
from clinclust.engine.problem.problem import pose

CURVED = 0.3 * np.array([1, 1, -1, -1, 0, 0, 0, 0])
SLOPED = CURVED[::-1]


def along_a_severity(seed, n, curvature=0.0, slope=0.0, common=(0.0, 0.0), scale=0.0, load=0.8, is_skewed=False):
    """Return eight features, (n, 8), along a severity as the module's docstring says."""
    rng = np.random.default_rng(seed)
    t = rng.exponential(size=(n, 1)) - 1.0 if is_skewed else rng.normal(size=(n, 1))
    spread = 0.25 * np.log1p(scale)
    scatter = slope * t + common[0] * t + common[1] * (np.abs(t) - 0.8)
    scatter = scatter + np.sqrt(spread) * rng.normal(size=(n, 1)) - spread
    return load * t + curvature * (t**2 - 1.0) + 0.6 * rng.normal(size=(n, 8)) * np.exp(scatter)


def straight_of(values):
    names = [f"x{place}" for place in range(values.shape[1])]
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in names])
    part = pose(schema.validate(pd.DataFrame(values, columns=names), warn=False), schema, None, 3.0)
    return one_population(part, np.random.default_rng(0))


def bent(straight, seed=1):
    return bent_population(straight, np.random.default_rng(seed))


def estimated(scores, like=None):
    """Return the bend of normal scores, and its estimates squared in standard errors."""
    correlation = nearest_correlation(with_unit_diagonal(reliable_correlations(scores)))
    _, found, squares = bend_of(scores, correlation, first_axis(correlation, like)[0])
    return found, squares


def estimated_of(values):
    return estimated(in_score_steps(values / np.nanstd(values, axis=0)))


# --- what is estimated --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_curvature_is_recovered(seed):
    found, squares = estimated_of(along_a_severity(seed, 2000, curvature=CURVED))
    np.testing.assert_allclose(found.curvature, CURVED, atol=0.08)
    assert squares.curvature[:4].min() > 100.0 * squares.curvature[4:].max()


@pytest.mark.parametrize("seed", range(3))
def test_the_slope_of_the_scatter_of_each_feature_is_recovered(seed):
    found, squares = estimated_of(along_a_severity(seed, 2000, slope=SLOPED))
    np.testing.assert_allclose(found.slope, SLOPED, atol=0.15)
    assert (np.sign(found.slope[4:]) == np.sign(SLOPED[4:])).all()
    assert np.abs(found.slope[4:]).min() > 3.0 * np.abs(found.slope[:4]).max()
    assert squares.slope[4:].min() > 50.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("common", [(0.3, 0.0), (-0.3, 0.0), (0.0, 0.4), (0.2, -0.3)])
def test_the_slope_of_the_scatter_of_all_is_recovered(seed, common):
    found, squares = estimated_of(along_a_severity(seed, 2000, common=common))
    np.testing.assert_allclose(found.common, common, atol=0.12)
    assert squares.common[np.array(common) != 0.0].min() > 100.0


@pytest.mark.parametrize("scale", [0.5, 1.5])
def test_the_scale_that_the_features_of_a_subject_share_is_recovered(scale):
    found = np.mean([estimated_of(along_a_severity(seed, 2000, scale=scale))[0].scale for seed in range(3)])
    assert found == pytest.approx(scale, rel=0.35)


def test_of_a_straight_cohort_estimates_are_within_their_standard_errors_of_0():
    found, squares = zip(*(estimated_of(along_a_severity(seed, 500)) for seed in range(20)), strict=True)
    for name in ("curvature", "slope", "common"):
        mean_square = np.mean([getattr(one, name) for one in squares])
        assert 0.5 < mean_square < 1.5, name
        assert np.abs([getattr(one, name) for one in found]).max() < 0.12
    # the residuals of D features have correlations of -1 / (D - 1)
    assert np.mean([one.scale for one in found]) == pytest.approx(2.0 / 7.0**2, abs=0.03)


def test_the_direction_of_the_axis_turns_slopes_and_leaves_the_rest():
    scores = in_score_steps(along_a_severity(0, 400, curvature=CURVED, slope=SLOPED, common=(0.2, 0.1), scale=0.5))
    correlation = nearest_correlation(with_unit_diagonal(correlations(scores)[0]))
    axis, _ = first_axis(correlation)
    (one_t, one, _), (other_t, other, _) = (bend_of(scores, correlation, way * axis) for way in (1.0, -1.0))
    np.testing.assert_allclose(one_t, -other_t, atol=1e-9)
    np.testing.assert_allclose(one.curvature, other.curvature, atol=1e-9)
    np.testing.assert_allclose(one.slope, -other.slope, atol=1e-9)
    np.testing.assert_allclose(one.common, other.common * [-1.0, 1.0], atol=1e-9)
    assert one.scale == pytest.approx(other.scale)


def test_values_that_nobody_has_and_features_that_do_not_vary_have_no_bend():
    values = along_a_severity(0, 300, curvature=CURVED)
    values[:, 0], values[:, 1], values[5] = np.nan, 2.0, np.nan
    scores = in_score_steps(values)
    scores[:, 1] = 0.0
    found, _ = estimated(scores)
    assert (found.curvature[:2] == 0.0).all()
    assert (found.slope[:2] == 0.0).all()
    assert all(np.isfinite(each).all() for each in found)
    assert np.abs(found.curvature[2:4]).min() > 0.1


# --- what draws keep ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curved():
    values = along_a_severity(0, 500, curvature=CURVED, common=(0.2, 0.0))
    values[np.random.default_rng(0).random(values.shape) < 0.1] = np.nan
    straight = straight_of(values)
    population = bent(straight)
    return straight, population, [population.draw(np.random.default_rng(seed)) for seed in range(10)]


def test_draws_have_the_values_of_the_subjects_in_the_same_cells(curved):
    straight, _, draws = curved
    own = straight.part.cohort.arrays.values
    for place, column in enumerate(own.T):
        drawn = np.array([draw.cohort.arrays.values[:, place] for draw, _ in draws])
        assert (np.isnan(drawn) == np.isnan(column)).all()
        seen = column[~np.isnan(column)]
        assert np.isin(drawn[:, ~np.isnan(column)], seen).all()
        assert ks_2samp(drawn[:, ~np.isnan(column)].ravel(), seen).statistic < 0.05


def test_draws_have_the_correlations_of_the_subjects(curved):
    straight, _, draws = curved
    drawn = np.mean([correlations(scores)[0] for _, scores in draws], axis=0)
    assert np.abs(drawn - correlations(straight.scores)[0]).max() < 0.1


def test_draws_bend_as_the_subjects_do(curved):
    straight, population, draws = curved
    wanted, _ = estimated(straight.scores, population.axis)
    drawn = [estimated(scores, population.axis)[0] for _, scores in draws]
    curvature, common = (np.mean([getattr(one, name) for one in drawn], axis=0) for name in ("curvature", "common"))
    assert (np.sign(wanted.curvature[:4]) == np.sign(CURVED[:4])).all()
    np.testing.assert_allclose(curvature, wanted.curvature, atol=0.05)
    np.testing.assert_allclose(common, wanted.common, atol=0.06)
    of_straight = [estimated(straight.draw(np.random.default_rng(seed))[1], population.axis)[0] for seed in range(5)]
    assert np.abs(np.mean([one.curvature for one in of_straight], axis=0)).max() < 0.05


def test_the_same_seed_gives_the_same_bits(curved):
    straight, population, draws = curved
    again = bent(straight)
    assert all((one == other).all() for one, other in zip(again.bend, population.bend, strict=True))
    (part, scores), (other, of_other) = again.draw(np.random.default_rng(0)), draws[0]
    np.testing.assert_array_equal(scores, of_other)
    np.testing.assert_array_equal(part.cohort.arrays.values, other.cohort.arrays.values)
    assert not np.array_equal(draws[0][1], draws[1][1], equal_nan=True)


def test_a_straight_cohort_hardly_bends():
    found = [bent(straight_of(along_a_severity(seed, 400))).bend for seed in range(5)]
    assert np.abs([one.curvature for one in found]).max() < 0.1
    assert np.sqrt(np.mean(np.square([one.slope for one in found]))) < 0.06
    assert np.mean([one.scale for one in found]) < 0.05


def test_slopes_keep_their_direction_where_loadings_of_both_signs_are_as_large():
    """In some cohorts the largest loading of the subjects is positive, and that of a round of correction negative."""
    signs = np.array([1, -1] * 4)
    slope = 0.3 * np.array([1, 1, 1, 1, -1, -1, -1, -1])
    for seed in range(6):
        straight = straight_of(along_a_severity(seed, 600, slope=slope, load=0.8 * signs))
        population = bent(straight)
        wanted, _ = estimated(straight.scores, population.axis)
        drawn, _ = estimated(population.draw(np.random.default_rng(0))[1], population.axis)
        assert np.corrcoef(drawn.slope, wanted.slope)[0, 1] > 0.8
        assert np.abs(population.bend.slope).max() < 0.7


def test_a_skewed_severity_stays_skewed():
    straight = straight_of(along_a_severity(7, 2000, load=1.6, is_skewed=True))
    population = bent(straight)

    def asymmetry(of):
        latent = of.latent(of.normals(np.random.default_rng(1)), np.random.default_rng(2))
        return skew(latent @ population.axis)

    assert abs(asymmetry(straight)) < 0.1
    assert asymmetry(population) > 0.15


def test_too_few_subjects_and_a_severity_that_does_not_vary_have_the_straight_population():
    few, enough = (straight_of(along_a_severity(0, n)) for n in (29, 30))
    assert bent(few) is few
    assert isinstance(bent(enough), BentPopulation)
    straight = straight_of(along_a_severity(0, 60))
    same = straight.part.restricted_to(np.zeros(40, dtype=np.int64), 0)
    alike = one_population(same, np.random.default_rng(0))
    assert bent(alike) is alike


# --- the smoothed severity ----------------------------------------------------------------------------------------


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
