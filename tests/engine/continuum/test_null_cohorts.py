"""Cohorts drawn from one population: margins, missing values, correlations, and what they do not depend on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort, schema_of
from hypothesis import given
from hypothesis import strategies as st
from problems import problem_of
from scipy.special import rel_entr
from scipy.stats import ks_2samp

from clinclust import Feature, FeatureSchema
from clinclust.engine.continuum.null_cohorts import (
    correlations,
    mutual_information,
    nearest_correlation,
    one_population,
    standard_normals,
    with_correlation,
)
from clinclust.engine.problem.encoding import encoded_table


def mixed(seed, n=80, missing=0.1, **options):
    frame, schema, _, _ = mixed_cohort(seed, n, EVERY_LIKELIHOOD, missing=missing, **options)
    return problem_of(frame, schema)


def one_factor(seed, n, missing=0.0, load=0.8):
    """Return a problem of two measurements, a scale of five steps, a binary sign and a count, with one severity."""
    rng = np.random.default_rng(seed)
    z = load * rng.normal(size=(n, 1)) + np.sqrt(1.0 - load**2) * rng.normal(size=(n, 5))
    frame = pd.DataFrame(z, columns=list("abcde"))
    frame["c"] = np.digitize(frame["c"], [-1.0, -0.3, 0.4, 1.2])
    frame["d"] = (frame["d"] > 0.8).astype(int)
    frame["e"] = np.floor(np.exp(frame["e"]))
    frame = frame.mask(rng.random(frame.shape) < missing)
    scale = {"likelihood": "ordinal", "minimum": 0, "maximum": 4}
    return problem_of(frame, schema_of(frame, c=scale, d="bernoulli", e="negative_binomial"))


def population(part):
    return one_population(part, np.random.default_rng(0))


def columns_of(part):
    return list(encoded_table(part.cohort.arrays).T)


def scores_of(part, of):
    """Return the values of a cohort as normal scores of the margins of a population."""
    scores = []
    for column, own, own_scores in zip(columns_of(part), columns_of(of.part), of.scores.T, strict=True):
        score = dict(zip(own, own_scores, strict=True))
        scores.append([np.nan if np.isnan(value) else score[value] for value in column])
    return np.array(scores).T


def score_correlations(part, of):
    return correlations(scores_of(part, of))[0]


# --- what a draw keeps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_a_draw_holds_observed_values_of_each_feature_where_the_subjects_have_some(missing):
    part = mixed(1, missing=missing)
    drawn, _ = population(part).draw(np.random.default_rng(2))
    changed = 0
    for own, other in zip(columns_of(part), columns_of(drawn), strict=True):
        assert (np.isnan(own) == np.isnan(other)).all()
        assert set(other[~np.isnan(other)]) <= set(own[~np.isnan(own)])
        changed += (own[~np.isnan(own)] != other[~np.isnan(other)]).any()
    assert changed == len(columns_of(part))
    assert drawn.model is part.model


def test_the_margins_are_those_of_the_subjects():
    part = one_factor(3, 400, missing=0.1)
    made = population(part)
    draws = [made.draw(np.random.default_rng(seed))[0] for seed in range(20)]
    for place, own in enumerate(columns_of(part)):
        drawn = np.concatenate([columns_of(draw)[place] for draw in draws])
        own, drawn = own[~np.isnan(own)], drawn[~np.isnan(drawn)]
        assert ks_2samp(own, drawn).statistic < 0.03


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_correlations_are_those_of_the_subjects_although_ties_weaken_them(missing):
    part = one_factor(5, 400, missing=missing)
    made = population(part)
    wanted = score_correlations(part, made)
    draws = [score_correlations(made.draw(np.random.default_rng(seed))[0], made) for seed in range(40)]
    error = np.mean(draws, axis=0) - wanted
    # correlations of about 400 pairs count 400 / 405; the mean of 40 draws has a standard error below .01
    assert np.abs(error).max() < 0.035
    sign = [feature.name for feature in part.cohort.encoding.features].index("d")
    others = np.arange(5) != sign
    # without the rounds they would be equal
    assert made.correlation[sign, others].mean() > wanted[sign, others].mean() + 0.1


def test_a_draw_comes_with_the_normal_scores_of_its_values():
    made = population(one_factor(5, 200, missing=0.2))
    drawn, scores = made.draw(np.random.default_rng(0))
    np.testing.assert_array_equal(scores, scores_of(drawn, made))


def test_features_that_do_not_vary_among_the_subjects_stay_as_they_are():
    part = mixed(2, n=60, missing=0.0)
    part = part.restricted_to(np.zeros(12, dtype=np.int64))
    drawn, _ = population(part).draw(np.random.default_rng(0))
    assert (drawn.cohort.arrays.codes == part.cohort.arrays.codes).all()
    assert (drawn.cohort.arrays.values == part.cohort.arrays.values).all()


def test_features_without_any_value_among_the_subjects_stay_empty():
    part = one_factor(1, 60)
    values = part.cohort.arrays.values.copy()
    values[:30, 0] = np.nan
    part.cohort.arrays.codes[:30, 0] = 0
    part.cohort.arrays.values[:] = values
    part = part.restricted_to(np.arange(30))
    drawn, _ = population(part).draw(np.random.default_rng(0))
    assert (drawn.cohort.arrays.codes[:, 0] == 0).all()
    assert np.isnan(drawn.cohort.arrays.values[:, 0]).all()
    assert not np.isnan(drawn.cohort.arrays.values[:, 1]).any()


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


# --- nominal columns ----------------------------------------------------------------------------------------------


def chain(seed, n, missing=0.0):
    """Return a measurement, and nominal columns each of which depends on the one before alone."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n)
    columns = [np.digitize(age + 0.5 * rng.normal(size=n), [-0.5, 0.5])]
    for _ in range(3):
        columns.append(np.where(rng.random(n) < 0.7, np.array([2, 0, 1])[columns[-1]], rng.integers(3, size=n)))
    frame = pd.DataFrame({"age": age, **{f"c{place}": column for place, column in enumerate(columns)}})
    nominal = [Feature(name=f"c{place}", likelihood="categorical", levels=("0", "1", "2")) for place in range(4)]
    texts = frame.astype({feature.name: str for feature in nominal}).mask(rng.random(frame.shape) < missing)
    return problem_of(texts, FeatureSchema([Feature(name="age", likelihood="gaussian"), *nominal]))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_nominal_column_is_drawn_given_the_column_it_depends_on(missing):
    part = chain(0, 1000, missing)
    of, columns = population(part), columns_of(part)
    age = next(place for place, column in enumerate(columns) if len(np.unique(column)) > 5)
    parents = {column.place: column.parent for column in of.nominal}
    assert sorted(parents) == [place for place in range(5) if place != age]
    assert list(parents.values()).count(age) == 1
    assert len(set(parents.values())) == 4  # a chain

    def farthest(population):
        """Return the largest difference between the shares of levels, given the parent, in draws and in the cohort."""
        draws = [columns_of(population.draw(np.random.default_rng(seed))[0]) for seed in range(20)]
        pairs = [pair for pair in parents.items() if age not in pair]
        of_draws = [np.mean([table_of(draw[one], draw[two]) for draw in draws], axis=0) for one, two in pairs]
        return max(
            np.abs(drawn - table_of(columns[one], columns[two])).max()
            for drawn, (one, two) in zip(of_draws, pairs, strict=True)
        )

    assert farthest(of) < 0.06
    assert farthest(replace(of, nominal=())) > 0.2


def table_of(first, second):
    """Return the share of each level of the first column at each level of the second one."""
    seen = ~np.isnan(first) & ~np.isnan(second)
    return pd.crosstab(first[seen], second[seen], normalize="columns").to_numpy()


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), min_size=1, max_size=40))
def test_mutual_information_is_that_of_its_definition(pairs):
    first, second = np.array(pairs).T
    both = (first >= 0) & (second >= 0)
    joint = pd.crosstab(first[both], second[both], normalize="all").to_numpy() if both.any() else np.ones((1, 1))
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    chance = np.prod(np.array(joint.shape) - 1) / (2 * max(both.sum(), 1))
    assert mutual_information(first, second) == pytest.approx(rel_entr(joint, independent).sum() - chance, abs=1e-12)
