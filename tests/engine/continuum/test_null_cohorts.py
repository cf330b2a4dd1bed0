"""Cohorts drawn from one population: margins, missing values, correlations, and what they do not depend on."""

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import find_peaks
from scipy.stats import gaussian_kde, ks_2samp, skew

from clinclust import Feature, FeatureSchema
from clinclust.engine.continuum.normal_scores import (
    correlations,
    exact_product,
    nearest_correlation,
    standard_normals,
    with_correlation,
)
from clinclust.engine.continuum.null_cohorts import NULLS, critical_bandwidth, one_population, unimodal_draws
from clinclust.engine.problem.numeric_columns import encoded_columns
from clinclust.engine.problem.problem import pose


def posed(frame, schema):
    return pose(schema.validate(frame, warn=False), schema, None, 3.0)


def mixed(seed, n=80, missing=0.1, **options):
    frame, schema, _, _ = mixed_cohort(seed, n, EVERY_LIKELIHOOD, missing=missing, **options)
    return posed(frame, schema)


def one_factor(seed, n, missing=0.0, load=0.8, is_skewed=False):
    """Return a problem of two measurements, a scale of five steps, a binary sign and a count, with one severity."""
    rng = np.random.default_rng(seed)
    severity = rng.exponential(size=(n, 1)) - 1.0 if is_skewed else rng.normal(size=(n, 1))
    z = load * severity + np.sqrt(1.0 - load**2) * rng.normal(size=(n, 5))
    frame = pd.DataFrame(z, columns=list("abcde"))
    frame["c"] = np.digitize(frame["c"], [-1.0, -0.3, 0.4, 1.2])
    frame["d"] = (frame["d"] > 0.8).astype(int)
    frame["e"] = np.floor(np.exp(frame["e"]))
    frame = frame.mask(rng.random(frame.shape) < missing)
    likelihoods = {"c": "ordinal", "d": "bernoulli", "e": "negative_binomial"}
    features = []
    for name in frame:
        likelihood = likelihoods.get(name, "gaussian")
        limits = {"minimum": 0, "maximum": 4} if likelihood == "ordinal" else {}
        features.append(Feature(name=name, likelihood=likelihood, **limits))
    return posed(frame, FeatureSchema(features))


def population(part, null="copula", seed=0):
    return one_population(part, null, np.random.default_rng(seed))


def columns_of(part):
    return [column for column, _ in encoded_columns(part.cohort.arrays)]


def score_correlations(part, of):
    """Return correlations of the values of a cohort, as normal scores of the margins of a population."""
    scores = []
    for column, own, margin in zip(columns_of(part), columns_of(of.part), of.margins, strict=True):
        score = dict(zip(own[margin.subjects], margin.scores, strict=True))
        scores.append([np.nan if np.isnan(value) else score[value] for value in column])
    return correlations(np.array(scores).T)[0]


# --- what a draw keeps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_a_draw_holds_observed_values_of_each_feature_where_the_subjects_have_some(null, missing):
    part = mixed(1, missing=missing)
    drawn = population(part, null).draw(np.random.default_rng(2))
    changed = 0
    for own, other in zip(columns_of(part), columns_of(drawn), strict=True):
        assert (np.isnan(own) == np.isnan(other)).all()
        assert set(other[~np.isnan(other)]) <= set(own[~np.isnan(own)])
        changed += (own[~np.isnan(own)] != other[~np.isnan(other)]).any()
    assert changed == len(columns_of(part))
    assert drawn.model is part.model


@pytest.mark.parametrize("null", NULLS)
def test_the_margins_are_those_of_the_subjects(null):
    part = one_factor(3, 400, missing=0.1)
    made = population(part, null)
    draws = [made.draw(np.random.default_rng(seed)) for seed in range(20)]
    for place, own in enumerate(columns_of(part)):
        drawn = np.concatenate([columns_of(draw)[place] for draw in draws])
        own, drawn = own[~np.isnan(own)], drawn[~np.isnan(drawn)]
        assert ks_2samp(own, drawn).statistic < 0.03


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_correlations_are_those_of_the_subjects_although_ties_weaken_them(null, missing):
    part = one_factor(5, 400, missing=missing)
    made = population(part, null)
    wanted = score_correlations(part, made)
    draws = [score_correlations(made.draw(np.random.default_rng(seed)), made) for seed in range(40)]
    error = np.mean(draws, axis=0) - wanted
    # correlations of about 400 pairs count 400 / 405; the mean of 40 draws has a standard error below .01
    assert np.abs(error).max() < 0.035
    latent = one_population(part, null, np.random.default_rng(0)).correlation
    sign = [feature.name for feature in part.cohort.encoding.features].index("d")
    others = np.arange(5) != sign
    assert latent[sign, others].mean() > wanted[sign, others].mean() + 0.1  # without the rounds they would be equal


def test_levels_of_a_nominal_feature_are_ordered_along_the_principal_axis():
    rng = np.random.default_rng(0)
    severity = rng.normal(size=500)
    stage = np.digitize(severity + 0.3 * rng.normal(size=500), [-0.7, 0.7])
    frame = pd.DataFrame(severity[:, None] + 0.5 * rng.normal(size=(500, 4)), columns=list("abcd"))
    frame["stage"] = np.array(["m", "z", "a"])[stage]  # the order of the texts is not that of the severity
    features = [Feature(name=name, likelihood="gaussian") for name in "abcd"]
    features.append(Feature(name="stage", likelihood="categorical", levels=("a", "m", "z")))
    part = posed(frame, FeatureSchema(features))
    made = population(part)
    nominal = [feature.name for feature in part.cohort.encoding.features].index("stage")
    assert np.abs(np.delete(made.correlation[nominal], nominal)).min() > 0.5
    assert list(dict.fromkeys(columns_of(part)[nominal][made.margins[nominal].subjects])) in (
        [2.0, 3.0, 1.0],
        [1.0, 3.0, 2.0],
    )


@pytest.mark.parametrize("null", NULLS)
def test_features_that_do_not_vary_among_the_subjects_stay_as_they_are(null):
    part = mixed(2, n=60, missing=0.0)
    part = part.restricted_to(np.zeros(12, dtype=np.int64), 0)
    drawn = population(part, null).draw(np.random.default_rng(0))
    assert (drawn.cohort.arrays.codes == part.cohort.arrays.codes).all()
    assert (drawn.cohort.arrays.values == part.cohort.arrays.values).all()


@pytest.mark.parametrize("null", NULLS)
def test_features_without_any_value_among_the_subjects_stay_empty(null):
    part = one_factor(1, 60)
    values = part.cohort.arrays.values.copy()
    values[:30, 0] = np.nan
    part.cohort.arrays.codes[:30, 0] = 0
    part.cohort.arrays.values[:] = values
    part = part.restricted_to(np.arange(30), 0)
    drawn = population(part, null).draw(np.random.default_rng(0))
    assert (drawn.cohort.arrays.codes[:, 0] == 0).all()
    assert np.isnan(drawn.cohort.arrays.values[:, 0]).all()
    assert not np.isnan(drawn.cohort.arrays.values[:, 1]).any()


def test_a_unimodal_population_keeps_the_skewness_of_the_severity():
    part = one_factor(7, 2000, load=0.95, is_skewed=True)

    def asymmetry(null):
        made = population(part, null)
        latent = made.latent(standard_normals(4000, 5, np.random.default_rng(1)), np.random.default_rng(2))
        return abs(skew(latent @ np.linalg.eigh(made.correlation)[1][:, -1]))

    assert asymmetry("copula") < 0.1
    assert asymmetry("unimodal") > 0.15


# --- matrices -----------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), size=st.integers(1, 8))
def test_the_nearest_correlation_is_one_and_leaves_correlations_alone(seed, size):
    rng = np.random.default_rng(seed)
    raw = np.clip(rng.normal(size=(size, size)), -0.97, 0.97)
    raw = 0.5 * (raw + raw.T)
    np.fill_diagonal(raw, 1.0)
    found = nearest_correlation(raw)
    assert (np.diag(found) == 1.0).all()
    assert (found == found.T).all()
    assert np.linalg.eigvalsh(found).min() > 1e-3
    assert np.abs(found).max() <= 1.0 + 1e-12
    well = 0.5 * np.eye(size) + 0.5
    np.testing.assert_allclose(nearest_correlation(well), well, atol=1e-12)


def test_correlations_are_those_of_numpy_and_of_complete_pairs():
    rng = np.random.default_rng(0)
    table = np.rint(100 * rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)))
    np.testing.assert_allclose(correlations(table)[0], np.corrcoef(table.T), atol=1e-10)
    table[rng.random(table.shape) < 0.3] = np.nan
    found, n_both = correlations(table)
    both = ~np.isnan(table[:, 0]) & ~np.isnan(table[:, 1])
    assert n_both[0, 1] == both.sum()
    assert found[0, 1] == pytest.approx(np.corrcoef(table[both, 0], table[both, 1])[0, 1])


def test_products_of_normal_draws_do_not_depend_on_the_order_of_their_sums():
    rng = np.random.default_rng(0)
    loads = rng.normal(size=(60, 60))
    correlation = nearest_correlation(np.corrcoef(loads))
    normals = standard_normals(500, 60, rng)
    assert (with_correlation(normals, correlation) == with_correlation(normals[::-1], correlation)[::-1]).all()
    factor = np.rint(np.linalg.cholesky(correlation) * 2**20) / 2**20
    backwards = sum(normals[:, [place]] * factor[:, place] for place in reversed(range(60)))
    assert (with_correlation(normals, correlation) == backwards).all()


def test_many_columns_are_multiplied_to_the_same_digits_as_few():
    rng = np.random.default_rng(1)
    scores = np.rint(1024 * rng.normal(size=(300, 70)))
    assert (exact_product(scores.T, scores)[:, :60] == exact_product(scores.T, scores[:, :60])).all()


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
