"""Far values decide neither the default prior nor the scale of a measurement; without any, nothing changes."""

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scored import few
from sklearn.metrics import adjusted_rand_score

from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.likelihood import ends, winsorised, without_far_values

GAUSSIAN = REGISTRY["gaussian"]()

seeds = st.integers(0, 2**32 - 1)

COLUMNS_WITHOUT = {
    "normal": lambda rng, n: rng.normal(60, 15, n),
    "lognormal": lambda rng, n: rng.lognormal(3, 0.7, n),
    "two groups": lambda rng, n: rng.normal(np.where(np.arange(n) % 2, 0, 500), 1.0),
    "a rare distant group": lambda rng, n: np.where(np.arange(n) % 100 < 2, rng.normal(1e6, 5, n), rng.normal(0, 1, n)),
    "a spike": lambda rng, n: np.where(np.arange(n) % 200 == 0, rng.uniform(1, 1e6, n), 0.0),
    "constant": lambda rng, n: np.full(n, 7.0),
    "binary": lambda rng, n: rng.permutation(np.arange(n) % 3 == 0) * 1.0,
    "few": lambda rng, n: np.append(rng.normal(size=17), [1e9, -1e9]),
}
"""Columns in which no value is far."""


LONG_TAILS = {"lognormal", "a rare distant group"}
"""Those of them with values more than 6 standard deviations from the median, as the quartiles tell them."""


def _prior_of_all(values):
    """Return the default prior of all observed values, of the textbook."""
    observed = values[~np.isnan(values)]
    return np.array([observed.mean(), 10.0 / observed.size, 1.0, observed.var()])


@pytest.mark.parametrize("name", COLUMNS_WITHOUT)
@given(seed=seeds, n=st.integers(400, 1000))
def test_without_far_values_prior_and_scale_are_those_of_all_values_to_the_bit(name, seed, n):
    values = COLUMNS_WITHOUT[name](np.random.default_rng(seed), n)
    values[:: n // 3] = np.nan
    observed = values[~np.isnan(values)]
    assert without_far_values(observed) is observed
    if name not in LONG_TAILS:
        assert GAUSSIAN.default_hyperparameters(values).tobytes() == _prior_of_all(values).tobytes()
    assert GAUSSIAN.standardisation(values) == (observed.mean(), observed.std())


def test_values_in_a_tail_count_as_its_end_in_the_prior():
    """Of 0, ..., 100 the quartiles are 25 and 75: the ends lie 6 * 50 / 1.349 from the median."""
    values = np.append(np.arange(101.0), [400.0, -900.0])
    lower, median, upper = np.percentile(values, [25, 50, 75])
    reach = 6.0 * (upper - lower) / stats.norm.ppf(0.75) / 2.0
    assert ends(values) == pytest.approx((median - reach, median + reach))
    moved = np.append(np.arange(101.0), [median + reach, median - reach])
    np.testing.assert_allclose(GAUSSIAN.default_hyperparameters(values), _prior_of_all(moved))


@given(seed=seeds, n=st.integers(400, 1000), size=st.sampled_from([10.0, 0.0, -10.0, 1e3, 1e6]))
def test_one_wrong_value_in_a_hundred_hardly_changes_the_prior(seed, n, size):
    rng = np.random.default_rng(seed)
    clean = rng.normal(140, 15, n)
    wrong = np.where(np.arange(n) % 100 == 0, size * clean, clean)
    mean, _, _, rate = GAUSSIAN.default_hyperparameters(wrong)
    assert abs(mean - clean.mean()) < 0.2 * clean.std()
    assert 0.8 < rate / clean.var() < 2.0


def test_creatinine_of_a_few_patients_on_dialysis_is_not_far():
    rng = np.random.default_rng(0)
    for share in (0.002, 0.005, 0.01, 0.02):
        values = np.where(rng.random(5000) < share, rng.normal(700, 150, 5000), rng.normal(80, 18, 5000))
        assert without_far_values(values) is values


@given(
    seed=seeds,
    n=st.integers(20, 1500),
    typos=st.lists(st.sampled_from([999.0, 9999.0, -1e6, 1e6, 1e12, -1e99]), min_size=1, max_size=8),
)
@example(seed=3, n=20, typos=[999.0])  # quartiles of 20 values are so uncertain that a clean one lies outside the ends
def test_a_slip_changes_prior_and_scale_as_much_as_its_removal(seed, n, typos):
    rng = np.random.default_rng(seed)
    clean = rng.normal(0, rng.uniform(1, 3), n)
    typos = typos[: max(1, n // 200)]
    places = np.sort(rng.integers(0, n + 1, len(typos)))
    values = np.insert(clean, places, typos)
    with_slips, without = (GAUSSIAN.default_hyperparameters(some) for some in (values, clean))
    np.testing.assert_array_equal(with_slips, without)
    assert GAUSSIAN.standardisation(values) == (clean.mean(), clean.std())
    lower, upper = ends(clean)
    if lower <= clean.min() and clean.max() <= upper:
        np.testing.assert_array_equal(with_slips, _prior_of_all(clean))


def test_few_normal_columns_have_a_value_outside_of_the_ends():
    """Where one has, the prior of the column is a little narrower: .33% of columns of 20 values, none of 200."""
    columns = np.random.default_rng(0).normal(size=(1000, 200))
    clipped = {n: sum(np.ptp(column[:n]) > np.ptp(winsorised(column[:n])) for column in columns) for n in (20, 200)}
    assert clipped[20] <= 8
    assert clipped[200] == 0


@given(seed=seeds, power=st.integers(-20, 20), sign=st.sampled_from([1.0, -1.0]), shift=st.integers(-1000, 1000))
def test_the_choice_does_not_depend_on_the_unit(seed, power, sign, shift):
    rng = np.random.default_rng(seed)
    # Whole numbers, whose multiples by powers of two and sums are exact.
    values = np.append(np.round(rng.standard_cauchy(500) * 100), [1e7, -1e6][: rng.integers(3)])
    changed = sign * 2.0**power * (values + shift)
    expected = sign * 2.0**power * (without_far_values(values) + shift)
    np.testing.assert_array_equal(without_far_values(changed), expected)


@given(seed=seeds)
def test_the_order_of_the_values_does_not_matter_and_is_kept(seed):
    rng = np.random.default_rng(seed)
    values = np.append(rng.normal(size=300), [1e5, 3e7])
    kept = without_far_values(values)
    np.testing.assert_array_equal(kept, values[:300])
    mixed = rng.permutation(values)
    np.testing.assert_array_equal(without_far_values(mixed), mixed[np.isin(mixed, kept)])


def _cohort(n=600, typos=0, size=999.0):
    """Return a table of 12 measurements in three groups, with slips in different rows and columns, and the groups."""
    rng = np.random.default_rng(1)
    groups = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    table = rng.normal(0, 0.85, (3, 12))[groups] + rng.normal(size=(n, 12))
    for place in range(typos):
        table[place, place] = size
    return pd.DataFrame(table, columns=[f"f{column}" for column in range(12)]), groups


@pytest.mark.simulation
@pytest.mark.filterwarnings("ignore:3 features are described clearly better")  # with 999 for missing
@pytest.mark.parametrize("coarsening", few(["auto", 1.0], 1))
@pytest.mark.parametrize("size", few([999.0, 1e6, 1e12], 1))
def test_slips_of_the_pen_do_not_hide_the_subtypes(coarsening, size):
    def agreement(frame):
        model = quick_fit(frame, gaussian_schema(frame), coarsening=coarsening)
        return adjusted_rand_score(groups[3:], model.labels_[3:])

    clean, groups = _cohort()
    wrong, _ = _cohort(typos=3, size=size)
    assert agreement(wrong) > agreement(clean) - 0.03 > 0.7


def test_a_rare_distant_subtype_is_found():
    frame, _ = _cohort(n=900)
    rare = np.zeros(900, dtype=bool)
    rare[:12] = True
    for column in ("f0", "f1"):
        frame.loc[rare, column] += 1000.0
    model = quick_fit(frame, gaussian_schema(frame))
    assert len(set(model.labels_[rare])) == 1
    assert not np.isin(model.labels_[~rare], model.labels_[rare]).any()
