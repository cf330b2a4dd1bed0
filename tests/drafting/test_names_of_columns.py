"""What names say: counts and units in several languages, and third words beside two answers."""

import numpy as np
import pandas as pd
from scored import scored

import clinclust as cc
from clinclust.drafting.draft import draft_columns
from clinclust.drafting.names import is_called_a_count, is_counted_a_period, looks_measured, names_a_unit
from clinclust.likelihoods import traits_of

N = 300


def drafted(values, name):
    schema, _ = draft_columns(pd.DataFrame({name: values}).astype(str))
    return schema[name]


COUNTED = [
    *("dentes_presentes", "Linee di terapia", "behandelingen", "surfactant_giften", "moradores", "labs_ordered"),
    *("oocytes", "School exclusions", "Dialysen postoperativ", "Kopfschmerztage", "nº_FAE", "biologics_tried"),
    *("household_size", "parity", "paridad", "n_falls", "Anzahl_Medikamente", "nb_enfants", "vaccine_doses"),
    *("número_de_caídas", "aantal_opnames", "filhos", "Stürze_letztes_Jahr", "er_visits"),
]


@scored(COUNTED)
def test_what_is_counted_is_a_count_even_of_short_range(name):
    assert is_called_a_count(name)
    rng = np.random.default_rng(0)
    for values in (rng.poisson(2.5, N) + 1, rng.integers(0, 4, N), rng.poisson(3, N) * (rng.random(N) < 0.4)):
        assert traits_of(drafted(values, name).likelihood).is_count


@scored(["severity_of_falls", "drug_type", "parity_grade", "visit_score"])
def test_a_grade_of_what_is_counted_is_no_count(name):
    grades = np.random.default_rng(0).choice(5, N, p=[0.4, 0.1, 0.1, 0.1, 0.3])
    assert not traits_of(drafted(grades, name).likelihood).is_count


SAID = {
    "counted a period": ["curas por semana", "Anfälle/Monat", "capsules per day", "giorni/mese", "x/nacht"],
    "an amount a period": ["hours per week", "mg per day", "dose mg/day", "minutes/day", "cost per month"],
    "no unit, no count": ["pain_m3", "score W12", "group", "voltage clamp", "eiwitpercentage", "gl", "mgad"],
}


@scored([(name, said) for said, names in SAID.items() for name in names])
def test_names_say_counts_a_period_and_no_units_by_half_a_word(name, said):
    assert {
        "counted a period": is_counted_a_period(name),
        "an amount a period": not is_counted_a_period(name),
        "no unit, no count": not names_a_unit(name) and not is_called_a_count(name),
    }[said]


@scored(["FeNO ppb", "residu_ml", "PRA (%)", "audio (dB)", "PSA (µg/l)", "RR mmHg"])
def test_a_unit_says_measurement(name):
    assert names_a_unit(name)
    assert looks_measured(name)
    values = np.round(np.exp(np.random.default_rng(0).normal(3.3, 0.6, N))).astype(int)
    assert traits_of(drafted(values, name).likelihood).is_continuous


@scored(
    [
        ("niet verdacht", "verdacht", "onbekend"),
        ("nein", "ja", "unbek."),
        ("N", "Y", "DK"),
        ("não reagente", "reagente", "não realizado"),
        ("no", "sì", "n.v."),
        ("not tender", "tender", "not done"),
        ("stabil", "instabil", "k.A."),
    ],
)
def test_a_third_word_beside_two_answers_is_missing_and_the_draft_says_so(no, yes, third):
    values = np.random.default_rng(0).choice([no, yes, third], N, p=[0.5, 0.3, 0.2])
    schema = cc.draft_schema(pd.DataFrame({"sign": values, "other": np.arange(N) % 7}))
    assert schema["sign"].likelihood == "bernoulli"
    assert set(schema["sign"].levels) == {no, yes}
    assert schema["sign"].missing_codes == (third,)
    assert repr(third) in schema.comments["sign"]


def test_a_word_for_missing_is_a_level_beside_degrees_of_presence():
    rng = np.random.default_rng(0)
    three = drafted(rng.choice(["fehlend", "teilweise", "vorhanden"], N), "Einsicht")
    assert three.levels == ("fehlend", "teilweise", "vorhanden")
    assert drafted(rng.choice(["fehlend", "vorhanden"], N), "Reflex").levels == ("fehlend", "vorhanden")
    assert drafted(rng.choice(["fehlend", "rot", "blau"], N), "Farbe").missing_codes == ("fehlend",)


def test_codes_of_a_classification_have_no_order():
    values = np.random.default_rng(0).choice(["1.1", "1.2", "2.2", "8.2"], N)
    assert drafted(values, "Codice ICHD-3").likelihood == "categorical"
    assert drafted(np.random.default_rng(0).choice([1, 2, 3, 4, 9], N), "CS_RACA").likelihood == "categorical"


@scored(
    [
        *("Diagnosi (anno)", "Year of diagnosis", "Diagnosejahr", "gjahr", "gebjahr", "Año de nacimiento", "année"),
        *("yob", "birth_year", "Jahrgang", "ano_nascimento", "geboortejaar"),
    ],
)
@scored([(1930, 2005), (2019, 2022)])
def test_calendar_years_are_described_by_one_rule(name, first, last):
    years = np.random.default_rng(0).integers(first, last, N)
    schema, _ = draft_columns(pd.DataFrame({name: years}).astype(str))
    assert schema[name].role == "describe"
    assert "calendar years" in schema.comments[name]


@scored([("visits_per_year", 0, 9), ("sysBP", 1900, 2035), ("year", 0, 60)])
def test_other_numbers_are_no_calendar_years(name, low, high):
    assert drafted(np.random.default_rng(0).integers(low, high, N), name).role == "cluster"
