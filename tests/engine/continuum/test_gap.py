"""A gap between two groups along the axis that tells them apart."""

import numpy as np
import pandas as pd
import pytest
from cohorts import schema_of
from problems import problem_of
from scipy.signal import find_peaks
from scipy.stats import gaussian_kde, kstest, skew, spearmanr, ttest_ind

import clinclust as cc
from clinclust.engine.continuum.null_cohorts import one_population
from clinclust.engine.continuum.tested_node import (
    best_division,
    critical_bandwidth,
    distance_between,
    find_telling_scores,
    is_discrete,
    p_of_either,
    p_of_flat_top,
    p_of_gap,
    p_of_gap_in_measurements,
    p_of_no_gap,
    p_of_one_peak,
    places_on_axis,
    scores_on_own_scales,
    share_as_extreme,
)
from clinclust.engine.kernels.modes import count_peaks

LEVEL = 0.03


def groups(distance, share=0.4, n=400, seed=0, n_telling=8):
    rng = np.random.default_rng(seed)
    away = np.r_[np.full(n_telling, distance / np.sqrt(n_telling)), np.zeros(12 - n_telling)]
    return rng.normal(size=(n, 12)) + (rng.random(n) < share)[:, None] * away


def population_of(values, likelihood="gaussian", **more):
    frame = pd.DataFrame(values, columns=[f"x{place}" for place in range(values.shape[1])])
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood=likelihood, **more) for name in frame])
    return one_population(problem_of(frame, schema), np.random.default_rng(0))


def p_of(values, seed=0, halves=None, **more):
    population = population_of(values, **more)
    halves = best_division(population.part).labels if halves is None else halves[population.part.cohort.order]
    return p_of_gap(population.part, halves, np.random.default_rng(seed), LEVEL)


@pytest.mark.parametrize("h", [0.3, 0.6, 1.0])
def test_peaks_are_those_of_a_kernel_density(h):
    x = np.concatenate([np.random.default_rng(seed).normal(place, 0.5, 100) for seed, place in enumerate((-2, 0, 3))])
    grid = np.linspace(-5.0, 6.0, 4_000)
    density = gaussian_kde(x, h / x.std(ddof=1))(grid)
    peaks, _ = find_peaks(density)
    valleys, _ = find_peaks(-density)
    below = np.concatenate([[0.0], [np.mean(x <= grid[valley]) for valley in valleys], [1.0]])
    assert count_peaks(x, h, 0.03) == max((np.diff(below) >= 0.03).sum(), 1)
    assert len(peaks) == len(valleys) + 1


def test_at_the_critical_bandwidth_the_last_two_peaks_become_one():
    x = np.random.default_rng(1).normal(np.repeat([-1.0, 1.0], 150), 0.4)
    assert count_peaks(x, 1.01 * critical_bandwidth(x), 0.03) == 1 < count_peaks(x, 0.95 * critical_bandwidth(x), 0.03)


def test_one_peak_and_two():
    rng = np.random.default_rng(2)
    one = rng.normal(size=400)
    assert p_of_one_peak(one, rng) > 0.05
    assert p_of_one_peak(np.append(one[5:], np.full(5, 9.0)), rng) > 0.05  # far values are no group
    assert p_of_one_peak(rng.normal(np.repeat([0.0, 4.0], 200)), rng, 0.01) < 0.005
    assert p_of_one_peak(np.zeros(20), rng) == 1.0


def share_with_a_gap(draw):
    """Return the share of 50 samples with a gap, and of those that Silverman's test alone would say it of."""
    shares = np.zeros(2)
    for sample in range(50):
        places = draw(np.random.default_rng([8, sample, 400]))
        p = p_of_no_gap(places, np.random.default_rng(sample), LEVEL)
        shares += [p < LEVEL, p_of_one_peak(places, np.random.default_rng(sample), 0.017) < 0.017]
    return shares / 50


def test_a_gap_is_seldom_seen_in_a_flat_top_or_a_long_tail_and_mostly_beside_a_small_group():
    flat, flat_without_dip = share_with_a_gap(lambda rng: rng.uniform(-1.0, 1.0, 400))
    assert flat <= 0.12 < flat_without_dip
    assert share_with_a_gap(lambda rng: rng.exponential(size=400) + 0.3 * rng.normal(size=400))[0] <= 0.04
    small, small_without_tail = share_with_a_gap(lambda rng: rng.normal(np.repeat([0.0, 4.0], [360, 40])))
    assert small >= 0.5 > small_without_tail
    assert share_with_a_gap(lambda rng: rng.normal(np.repeat([0.0, 3.5], [200, 200])))[0] >= 0.9


def test_the_dip_of_uniform_samples_has_a_uniform_p_and_that_of_two_groups_a_small_one():
    rng = np.random.default_rng(3)
    of_uniform = [p_of_flat_top(rng.uniform(-2.0, 5.0, 150), rng, LEVEL) for _ in range(100)]
    assert kstest(of_uniform, "uniform").pvalue > 0.01
    assert p_of_flat_top(rng.normal(np.repeat([0.0, 4.0], 100)), rng, 0.003) < 0.01


def test_groups_have_a_gap_and_a_severity_has_none():
    rng = np.random.default_rng(3)
    severity = 0.8 * rng.normal(size=(400, 1)) + 0.6 * rng.normal(size=(400, 12))
    assert p_of(severity) >= LEVEL
    assert p_of(groups(4.0)) < LEVEL
    assert p_of(np.where(rng.random((400, 12)) < 0.2, np.nan, groups(5.0, seed=4))) < LEVEL


def test_two_diseases_whose_severity_varies_more_have_a_gap_between_them_and_none_between_mild_and_severe():
    rng = np.random.default_rng(6)
    severity, disease = rng.normal(size=(400, 1)), rng.random(400) < 0.5
    away = np.where(np.arange(12) % 2, 1.0, -1.0)
    values = 1.5 * severity + rng.normal(size=(400, 12)) + disease[:, None] * away
    assert p_of(values, halves=disease.astype(np.int64)) < LEVEL
    assert p_of(values, halves=(severity[:, 0] > 0.0).astype(np.int64)) >= LEVEL


def test_places_are_found_without_the_subject():
    population = population_of(groups(4.0))
    halves = best_division(population.part).labels
    flipped = np.where(np.arange(400) == 7, 1 - halves, halves)
    places = [places_on_axis(population.scores, labels, np.random.default_rng(5))[0] for labels in (halves, flipped)]
    same_fold = np.isclose(*places, atol=1e-12)
    assert same_fold[7]  # its own label has no part in its place
    assert not same_fold.all()


def test_who_lacks_a_telling_feature_has_the_place_of_the_others_and_who_lacks_all_is_left_out():
    values, rng = groups(5.0, share=0.0), np.random.default_rng(7)
    halves, n_missing = rng.integers(2, size=400), np.repeat([2, 0, 8], [200, 150, 50])
    values[:, :8] += halves[:, None] * 5.0 / np.sqrt(8.0)
    values[:, :8][np.argsort(rng.random((400, 8)), axis=1) < n_missing[:, None]] = np.nan
    population = population_of(values)
    halves, n_missing = (each[population.part.cohort.order] for each in (halves, n_missing))
    places, clear = places_on_axis(population.scores, halves, rng)
    places, halves, n_missing = places[clear], halves[clear], n_missing[clear]
    assert set(n_missing) == {0, 2}
    assert clear.size > 300
    few, none = (np.diff([places[(n_missing == n) & (halves == half)].mean() for half in (0, 1)])[0] for n in (2, 0))
    assert few == pytest.approx(none, rel=0.12)


@pytest.mark.parametrize(("n_extreme", "n_draws"), [(0, 181), (1_000, 10), (50, 4_999)])
def test_draws_end_once_their_share_is_clear(n_extreme, n_draws):
    left = iter([float(n_extreme * number % 1_000 < n_extreme) for number in range(1, 5_001)])
    p = share_as_extreme(left, 1.0, 0.05)
    assert (5_000 - len(list(left)), p) == (n_draws, pytest.approx(n_extreme / 1_000, abs=0.01))


@pytest.mark.parametrize(("height", "n_draws"), [(1.75, range(20, 41)), (0.5, {10}), (6.0, {10})])
def test_few_cohorts_are_drawn_where_bandwidth_or_dip_is_far_from_theirs(height, n_draws):
    squares = np.random.default_rng(1).normal(10.0, 1.0, size=40)
    for order in ([0, 1], [1, 0]):  # whichever tells more
        left = iter(np.column_stack([squares, squares]).tolist())
        p = p_of_either(np.array([10.0 + height, 9.0])[order], left, 0.05)
        n_drawn = 40 - len(list(left))
        assert n_drawn in n_draws
        assert p == pytest.approx(ttest_ind([10.0 + height], squares[:n_drawn], alternative="greater").pvalue)


def test_the_distance_of_groups_is_that_of_their_means_in_standard_deviations_along_the_best_axis():
    rng = np.random.default_rng(3)
    halves = np.arange(2_000) % 2
    values = rng.multivariate_normal(np.zeros(2), [[1.0, 0.9], [0.9, 1.0]], 2_000)
    values[:, 0] += halves * 1.5
    mahalanobis = 1.5 / np.sqrt(1.0 - 0.9**2)
    assert distance_between(values, halves, rng) == pytest.approx(mahalanobis, rel=0.1)
    assert distance_between(values, 1 - halves, rng) == pytest.approx(mahalanobis, rel=0.1)
    assert abs(distance_between(rng.normal(size=(200, 50)), halves[:200], rng)) < 0.4


def test_scales_have_a_gap_between_groups_and_none_in_a_uniform_severity():
    rng = np.random.default_rng(0)

    def in_five_steps(values):
        return np.digitize(values / values.std(axis=0), [-1.0, -0.35, 0.35, 1.0])

    severity = 0.8 * rng.uniform(-1.73, 1.73, (400, 1)) + rng.normal(size=(400, 12))
    apart = groups(6.0, share=0.5, n_telling=12) - 0.8
    assert [p_of(in_five_steps(values), likelihood="binomial", trials=4) < LEVEL for values in (severity, apart)] == [
        False,
        True,
    ]


def p_in_measurements(values, halves=None):
    part = population_of(values).part
    return p_in_measurements_of(part, best_division(part).labels if halves is None else halves[part.cohort.order])


def p_in_measurements_of(part, halves):
    return p_of_gap_in_measurements(part, halves, np.random.default_rng(0), LEVEL)


def test_a_gap_that_two_measurements_have_is_seen_on_their_own_scale():
    values = groups(4.0, n=200, n_telling=2)
    part = population_of(values).part
    halves = best_division(part).labels[np.argsort(part.cohort.order)]
    assert p_in_measurements(values, halves) < LEVEL <= p_of(values, halves=halves)
    assert p_in_measurements(values * np.geomspace(1e-3, 1e3, 12) - 7.0, halves) < LEVEL
    holes = np.where(np.random.default_rng(4).random(values.shape) < 0.2, np.nan, groups(5.0, seed=4, n=200))
    assert p_in_measurements(holes) < LEVEL


def test_measurements_keep_their_scale_and_levels_become_normal_scores():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"crp": rng.exponential(size=300), "grade": rng.integers(4, size=300)})
    schema = schema_of(["crp"], grade={"likelihood": "binomial", "trials": 3})
    cohort = problem_of(frame, schema).cohort
    discrete = is_discrete(cohort)
    scores, in_order = scores_on_own_scales(cohort, discrete), frame.iloc[cohort.order]
    crp, grade = scores[:, ~discrete].ravel(), scores[:, discrete].ravel()
    inside = crp < 2.0
    assert np.corrcoef(crp[inside], in_order["crp"][inside])[0, 1] > 0.999
    assert skew(crp) > 0.7
    assert spearmanr(grade, in_order["grade"])[0] == pytest.approx(1.0)
    assert np.unique(grade).size == 4


def test_a_column_of_levels_makes_no_gap_in_measurements():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd")).assign(sex=rng.integers(2, size=300))
    part = problem_of(frame, schema_of("abcd", sex="bernoulli"))
    halves = frame["sex"].to_numpy()[part.cohort.order].astype(np.int64)
    assert p_in_measurements_of(part, halves) >= LEVEL
    yes = population_of((groups(6.0) > 1.0).astype(int), "bernoulli").part
    assert p_in_measurements_of(yes, best_division(yes).labels) == 1.0


def test_a_limit_and_a_long_tail_make_no_gap_in_measurements():
    n_limits, n_tails = 0, 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        limit = 0.6 * rng.normal(size=(600, 1)) + 0.8 * rng.normal(size=(600, 2))
        tail = np.exp(1.2 * limit)
        limit[:, 0] = np.minimum(limit[:, 0], 1.0)  # 16% have it
        n_limits += p_in_measurements(limit, (limit[:, 0] == 1.0).astype(np.int64)) < LEVEL
        n_tails += p_in_measurements(tail, (tail[:, 0] > np.quantile(tail[:, 0], 0.93)).astype(np.int64)) < LEVEL
    assert (n_limits, n_tails) <= (0, 1)


def test_nominal_answers_have_a_gap_between_two_classes_and_none_if_all_are_the_same():
    nominal, halves = np.ones(2, dtype=np.bool_), np.arange(20) % 2
    assert find_telling_scores(np.zeros((20, 2)), nominal, nominal, halves).shape == (20, 2)
    rng, levels = np.random.default_rng(10), np.array(["a", "b", "c", "d"])
    is_second = rng.random(500) < 0.4
    of_class = np.where(np.arange(4) < 2, 4.0, 0.4) / 8.8
    both = [[rng.choice(levels, 500, p=rng.permutation(of_class)) for _ in range(2)] for _ in range(10)]
    answers = np.column_stack([np.where(is_second, *pair) for pair in both])
    assert p_of(answers, halves=is_second.astype(np.int64), likelihood="categorical", levels=tuple(levels)) < LEVEL
    assert (
        p_of(answers, halves=(answers[:, 0] == "a").astype(np.int64), likelihood="categorical", levels=tuple(levels))
        >= LEVEL
    )
