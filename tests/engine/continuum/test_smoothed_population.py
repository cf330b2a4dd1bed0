"""The smoothed population: when a density has one peak, what draws keep, and what they lose."""

import numpy as np
import pandas as pd
import pytest
from problems import problem_of
from scipy.stats import ks_2samp, kurtosis, skew, truncnorm

from clinclust import Feature, FeatureSchema
from clinclust.engine.continuum.null_cohorts import (
    SCORE_STEPS,
    conditional_draws,
    correlations,
    drawn_within_levels,
    has_one_peak,
    one_peak_bandwidth,
    one_population,
    smoothed_population,
)

D = 8


def straight_of(values, likelihood="gaussian", **bounds):
    names = [f"x{place}" for place in range(values.shape[1])]
    schema = FeatureSchema([Feature(name=name, likelihood=likelihood, **bounds) for name in names])
    part = problem_of(pd.DataFrame(values, columns=names), schema)
    return one_population(part, np.random.default_rng(0))


def smoothed(straight, seed=1):
    return smoothed_population(straight, np.random.default_rng(seed))


def along(severity, rng, load=0.9):
    return load * severity[:, None] + np.sqrt(1.0 - load**2) * rng.normal(size=(severity.size, D))


# --- peaks --------------------------------------------------------------------------------------------------------


def two_peaks(*, valley, second=1.0):
    """Return a density on a line with two peaks, and a valley that is this share of the second."""
    return np.array([0.0, 0.5, 1.0, valley * second, second, 0.3 * second, 0.0])


@pytest.mark.parametrize("n_axes", [1, 2])
def test_a_valley_counts_below_seven_tenths_of_the_lower_peak_and_a_peak_from_a_twentieth_of_the_highest(n_axes):
    def has_one(line):
        return has_one_peak(line if n_axes == 1 else np.outer([0.0, 0.4, 1.0, 0.4, 0.0], line))

    assert has_one(two_peaks(valley=0.75))
    assert not has_one(two_peaks(valley=0.6))
    assert not has_one(two_peaks(valley=0.6, second=0.08))
    assert has_one(two_peaks(valley=0.0, second=0.04))


def test_a_ridge_joins_peaks_whatever_lies_between_them():
    horseshoe = np.zeros((9, 9))
    horseshoe[1:8, [1, 7]] = horseshoe[7, 1:8] = 0.9
    horseshoe[1, [1, 7]] = 1.0
    assert has_one_peak(horseshoe)
    horseshoe[7, 4] = 0.5
    assert not has_one_peak(horseshoe)


def test_the_bandwidth_is_the_smallest_that_leaves_one_peak():
    """Of two points, 2 apart and with SD 1, the density in the middle is 2 exp(-1/(2 h^2)) / (1 + exp(-2/h^2))."""
    ends = np.repeat([-1.0, 1.0], 50)[:, None]
    h = one_peak_bandwidth(ends)
    assert 2.0 * np.exp(-0.5 / h**2) / (1.0 + np.exp(-2.0 / h**2)) == pytest.approx(0.7, abs=0.06)


def test_two_far_groups_need_more_smoothing_than_one_and_units_do_not_matter():
    rng = np.random.default_rng(3)
    one = rng.normal(size=(300, 2))
    two = one + np.where(np.arange(300) < 150, -4.0, 4.0)[:, None]
    assert one_peak_bandwidth(two) > 1.5 * one_peak_bandwidth(one)
    assert one_peak_bandwidth(7.0 - 4.0 * two) == pytest.approx(one_peak_bandwidth(two), rel=0.02)


# --- what is missing ----------------------------------------------------------------------------------------------


def test_missing_scores_are_drawn_from_their_distribution_given_the_observed_ones():
    correlation = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, -0.2], [0.3, -0.2, 1.0]])
    scores = np.tile([1.5, np.nan, np.nan], (40_000, 1))
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(3), correlation, 40_000)
    drawn = conditional_draws(scores, correlation, drawn)
    assert (drawn[:, 0] == 1.5).all()
    np.testing.assert_allclose(drawn[:, 1:].mean(axis=0), [0.9, 0.45], atol=0.02)
    wanted = np.array([[1.0, -0.2], [-0.2, 1.0]]) - np.outer([0.6, 0.3], [0.6, 0.3])
    np.testing.assert_allclose(np.cov(drawn[:, 1:].T), wanted, atol=0.02)


def test_scores_of_one_level_are_drawn_inside_it_given_the_other_ones():
    """Given a score of 1 and a correlation of .8, the upper half of a feature is N(.8, .6^2) above 0."""
    n, correlation = 40_000, np.array([[1.0, 0.8], [0.8, 1.0]])
    scores = np.column_stack([np.arange(n), np.where(np.arange(n) % 2, 600.0, -600.0)])
    latent = np.column_stack([np.ones(n), scores[:, 1] / SCORE_STEPS])
    drawn = drawn_within_levels(scores, latent, correlation, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn[:, 0], 1.0)
    upper = scores[:, 1] > 0.0
    assert ks_2samp(drawn[upper, 1], truncnorm(-0.8 / 0.6, np.inf, 0.8, 0.6).rvs(n, random_state=1)).pvalue > 0.01
    assert ks_2samp(drawn[~upper, 1], truncnorm(-np.inf, -0.8 / 0.6, 0.8, 0.6).rvs(n, random_state=1)).pvalue > 0.01


def test_draws_of_scales_lose_little_of_their_dependence():
    """With one score for each level, a blurred severity is cut twice: draws had .98 of the correlations."""
    rng = np.random.default_rng(5)
    levels = np.digitize(along(rng.uniform(-1.7, 1.7, size=2000), rng, 0.95), [-1.0, -0.3, 0.3, 1.0])
    straight = straight_of(levels.astype(np.float64), "ordinal", minimum=0, maximum=4)
    drawn = [correlations(smoothed(straight).draw(np.random.default_rng(seed))[1])[0].mean() for seed in range(5)]
    assert np.mean(drawn) > 0.985 * correlations(straight.scores)[0].mean()


# --- what draws keep ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def skewed():
    rng = np.random.default_rng(7)
    values = along(rng.exponential(size=1500) - 1.0, rng)
    values[rng.random(values.shape) < 0.1] = np.nan
    straight = straight_of(values)
    population = smoothed(straight)
    return straight, population, [population.draw(np.random.default_rng(seed)) for seed in range(5)]


def test_draws_have_the_values_of_the_subjects(skewed):
    straight, _, draws = skewed
    for place, column in enumerate(straight.part.cohort.arrays.values.T):
        drawn = np.concatenate([draw.cohort.arrays.values[:, place] for draw, _ in draws])
        seen, drawn = column[~np.isnan(column)], drawn[~np.isnan(drawn)]
        assert np.isin(drawn, seen).all()
        assert ks_2samp(drawn, seen).statistic < 0.05


def test_what_is_missing_in_a_draw_is_what_is_missing_of_the_subject_it_begins_from():
    """Subjects with a high first value have no second one: neither have those drawn."""
    rng = np.random.default_rng(2)
    values = along(rng.normal(size=600), rng)
    values[values[:, 0] > 0.5, 1:3] = np.nan
    population = smoothed(straight_of(values))
    drawn, scores = population.draw(np.random.default_rng(0))
    missing = np.isnan(drawn.cohort.arrays.values)
    np.testing.assert_array_equal(missing, np.isnan(scores))
    np.testing.assert_array_equal(missing[:, 1], missing[:, 2])
    assert missing.mean(axis=0) == pytest.approx(np.isnan(population.part.cohort.arrays.values).mean(axis=0), abs=0.06)
    assert scores[missing[:, 1], 0].min() > scores[~missing[:, 1], 0].mean()


def test_draws_have_the_correlations_of_the_subjects(skewed):
    straight, _, draws = skewed
    drawn = np.mean([correlations(scores)[0] for _, scores in draws], axis=0)
    assert np.abs(drawn - correlations(straight.scores)[0]).max() < 0.05


def test_draws_have_a_skewed_severity_and_normal_ones_have_not(skewed):
    straight, _, draws = skewed

    def asymmetry(scores):
        return skew(np.nanmean(scores, axis=1))

    wanted = asymmetry(straight.scores)
    assert wanted > 0.4
    assert 0.7 * wanted < np.mean([asymmetry(scores) for _, scores in draws]) < 1.05 * wanted
    assert abs(np.mean([asymmetry(straight.draw(np.random.default_rng(seed))[1]) for seed in range(5)])) < 0.1


def test_draws_of_two_far_groups_have_no_gap():
    rng = np.random.default_rng(5)
    straight = straight_of(rng.normal(size=(400, D)) + 6.0 * (np.arange(400) % 2)[:, None])

    def flatness(scores):
        return kurtosis(scores.mean(axis=1), fisher=False)

    drawn = np.mean([flatness(smoothed(straight).draw(np.random.default_rng(seed))[1]) for seed in range(3)])
    assert flatness(straight.scores) < 1.4 < 1.8 < drawn


def test_a_scale_that_the_features_of_a_subject_share_is_kept():
    rng = np.random.default_rng(11)
    straight = straight_of(np.exp(0.5 * rng.normal(size=(800, 1))) * rng.normal(size=(800, D)))

    def shared(scores):
        squares = scores**2
        return np.corrcoef(squares.T)[np.triu_indices(D, 1)].mean()

    wanted = shared(straight.scores)
    drawn = [shared(smoothed(straight).draw(np.random.default_rng(seed))[1]) for seed in range(3)]
    assert wanted > 0.15
    assert np.mean(drawn) == pytest.approx(wanted, abs=0.08)
    assert shared(straight.draw(np.random.default_rng(0))[1]) < 0.05


@pytest.mark.parametrize("n_features", [1, 2])
def test_cohorts_of_few_features_and_of_values_that_nobody_has(n_features):
    values = np.random.default_rng(0).normal(size=(40, n_features))
    values[3] = np.nan
    population = smoothed(straight_of(values))
    whole = population.within @ population.axes.T + population.beside
    assert np.isfinite(whole).all()
    assert whole[4, 0] == pytest.approx(population.scores[4, 0] / SCORE_STEPS)
    drawn, _ = population.draw(np.random.default_rng(0))
    missing = np.isnan(drawn.cohort.arrays.values)
    np.testing.assert_array_equal(missing.any(axis=1), missing.all(axis=1))
