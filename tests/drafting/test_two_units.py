"""Two units in one column are told in the words of a clinic; groups of subjects are not taken for units."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting.draft import draft_schema
from clinclust.drafting.two_units import two_units
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

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


@scored([0.1, 0.5, 0.9])
@scored(MIXED)
def test_two_units_are_told_with_their_names(share, name):
    draw, convert, (lower, upper) = MIXED[name]
    rng = np.random.default_rng(2)
    values = draw(rng)
    is_upper = rng.random(N) < share
    told = two_units(name, np.where(is_upper, convert(values), values).round(2))
    assert told is not None
    assert told.is_certain
    assert f"look like {lower}, and" in told.said
    assert f"like {upper}: give all values in one unit" in told.said


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


@scored(range(10))
@scored(GROUPS)
def test_groups_of_subjects_are_no_units(seed, name):
    assert two_units(name, GROUPS[name](np.random.default_rng(seed)).round(1)) is None


NAMES = {
    "mmol/L": ["Glicemia", "Glucemia basal", "Glycémie à jeun", "Blutzucker", "BZ_nüchtern", "glucosio"],
    "nmol/L": ["Testosteron", "testosterone_total", "Testosterona"],
    "ng/mL": ["Vitamin D", "25-OH-Vit D", "vitamina_d", "Vitamine D", "25(OH)D"],
    "mg/dL": ["Kreatinin i.S.", "creatininemia", "Créatinine", "Harnsäure", "uricemia"],
}
DRAWN = {"mmol/L": (6, 18.016), "nmol/L": (15, 28.84), "ng/mL": (25, 2.496), "mg/dL": (3, 0)}


@scored([(unit, name) for unit in NAMES for name in NAMES[unit]])
def test_names_in_five_languages_are_known(unit, name):
    rng = np.random.default_rng(4)
    middle, factor = DRAWN[unit]
    if not factor:
        middle, factor = (1.0, 88.42) if "rea" in name or "réa" in name else (5.5, 59.48)
    values = middle * np.exp(rng.normal(0, 0.15, N))
    seen = two_units(name, np.where(rng.random(N) < 0.3, factor * values, values).round(1))
    assert seen is not None
    assert seen.is_certain
    assert unit in seen.said


@scored(
    [
        (6, 18.016, (1, 0), True),
        (1, 88.42, (2, 0), True),
        (20, 28.84, (1, 1), True),
        (5, 10, (1, 0), True),
        (5, 10, (1, 1), False),
        (6, 18.016, (1, 1), False),
        (2.3, 4.008, (2, 1), False),
    ],
)
def test_an_unknown_measurement_in_two_units_is_certain_or_told(middle, factor, decimals, is_certain):
    rng = np.random.default_rng(5)
    values = middle * np.exp(rng.normal(0, 0.12, N))
    is_upper = rng.random(N) < 0.3
    mixed = np.where(is_upper, (factor * values).round(decimals[1]), values.round(decimals[0]))
    seen = two_units("analyte_7", mixed)
    assert seen is not None
    assert seen.is_certain == is_certain


def test_two_groups_of_patients_are_hardly_ever_called_units():
    rng = np.random.default_rng(6)
    certain = told = 0
    for _ in range(400):
        apart, spread = np.exp(rng.uniform(np.log(2), np.log(20))), rng.uniform(0.08, 0.5)
        is_upper = rng.random(N) < rng.choice([0.1, 0.3, 0.5])
        values = 10 * np.where(is_upper, apart, 1.0) * np.exp(rng.normal(0, spread, N))
        seen = two_units("analyte_7", values.round(1))
        certain += seen is not None and seen.is_certain
        told += seen is not None
    assert certain <= 4
    assert 0 < told <= 120


def test_a_suspicion_of_two_units_is_told_and_stays_in_the_clustering():
    rng = np.random.default_rng(7)
    values = 5 * np.exp(rng.normal(0, 0.15, N))
    table = pd.DataFrame({"analyte_7": np.where(rng.random(N) < 0.3, 10 * values, values).round(1).astype(str)})
    schema = draft_schema(table, progress=False)
    assert schema["analyte_7"].role == "cluster"
    assert "two units" in schema.comments["analyte_7"]
    assert "role: ignore" in schema.comments["analyte_7"]


def test_what_is_left_out_for_two_units_can_be_taken_back_in_one_step():
    rng = np.random.default_rng(8)
    values = 140 * np.exp(rng.normal(0, 0.2, N))
    cells = [f"{x / 18.016:.1f}".replace(".", ",") if rng.random() < 0.2 else f"{x:.0f}" for x in values]
    table = pd.DataFrame({"Glicemia": [*cells[:-1], "n.d."]})
    feature = draft_schema(table, progress=False)["Glicemia"]
    assert feature.role == "ignore"
    taken_back = FeatureSchema([Feature(**{**feature.content(), "role": "cluster"})])
    assert taken_back.validate(table, warn=False)["Glicemia"].notna().sum() == N - 1
