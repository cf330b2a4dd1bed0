"""Two units in one column are told in the words of a clinic; groups of subjects are not taken for units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinclust.drafting.two_units import two_units

N = 300
MIXED = {
    "height": (lambda rng: rng.normal(1.7, 0.09, N), lambda x: 100 * x, ("m", "cm")),
    "Gewicht": (lambda rng: 75 * np.exp(rng.normal(0, 0.15, N)), lambda x: 2.2046 * x, ("kg", "lb")),
    "Kreatinin": (lambda rng: np.exp(rng.normal(0, 0.3, N)), lambda x: 88.42 * x, ("mg/dL", "µmol/L")),
    "glucose_fasting": (lambda rng: 5.5 * np.exp(rng.normal(0, 0.2, N)), lambda x: 18.016 * x, ("mmol/L", "mg/dL")),
    "LDL cholesterol": (lambda rng: 3 * np.exp(rng.normal(0, 0.25, N)), lambda x: 38.67 * x, ("mmol/L", "mg/dL")),
    "HbA1c": (lambda rng: 5 + rng.gamma(1.6, 0.8, N), lambda x: 10.929 * x - 23.5, ("%", "mmol/mol")),
    "body_temp": (lambda rng: 36.3 + rng.gamma(1.5, 0.5, N), lambda x: 1.8 * x + 32, ("°C", "°F")),
}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", MIXED)
def test_two_units_are_told_with_their_names(name, share):
    draw, convert, (lower, upper) = MIXED[name]
    rng = np.random.default_rng(2)
    values = draw(rng)
    is_upper = rng.random(N) < share
    told = two_units(name, np.where(is_upper, convert(values), values).round(2))
    assert told is not None
    assert f"look like {lower}, and" in told
    assert f"like {upper}: give all values in one unit" in told


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(MIXED)), st.integers(0, 2**32), st.booleans())
def test_one_unit_is_no_second_one(name, seed, in_upper):
    draw, convert, _ = MIXED[name]
    values = draw(np.random.default_rng(seed))
    assert two_units(name, (convert(values) if in_upper else values).round(2)) is None


GROUPS = {
    "age": lambda rng: np.where(rng.random(N) < 0.3, 18 * rng.beta(0.8, 1.2, N) + 0.1, rng.normal(55, 12, N).clip(18)),
    "height": lambda rng: np.where(rng.random(N) < 0.3, rng.normal(110, 15, N), rng.normal(170, 9, N)),
    "weight": lambda rng: np.where(rng.random(N) < 0.4, 33, 75) * np.exp(rng.normal(0, 0.2, N)),
    "temperature": lambda rng: np.where(rng.random(N) < 0.2, rng.normal(39, 0.6, N), rng.normal(36.7, 0.3, N)),
    "hba1c": lambda rng: np.where(rng.random(N) < 0.4, rng.normal(9, 1.2, N), rng.normal(5.4, 0.3, N)),
    "glucose": lambda rng: np.where(rng.random(N) < 0.3, 220, 95) * np.exp(rng.normal(0, 0.2, N)),
    "creatinine": lambda rng: np.where(rng.random(N) < 0.05, 8, 1) * np.exp(rng.normal(0, 0.3, N)),
    "disease_duration": lambda rng: rng.exponential(8, N) + 0.1,
    "estradiol": lambda rng: np.where(rng.random(N) < 0.5, 40, 200) * np.exp(rng.normal(0, 0.4, N)),
}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_subjects_are_no_units(name, seed):
    assert two_units(name, GROUPS[name](np.random.default_rng(seed)).round(1)) is None
