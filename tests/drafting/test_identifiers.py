"""Numbers given to subjects are identifiers, and measurements that happen to differ are none."""

import numpy as np
import pandas as pd
import pytest
from scored import scored

import clinclust as cc
from clinclust.drafting.column import observed
from clinclust.drafting.identifiers import proposal_of_identifier
from clinclust.files.column_notes import ColumnNotes

MEASUREMENTS = {
    "platelets": lambda rng, n: rng.normal(250, 70, n).clip(10),
    "ntprobnp": lambda rng, n: np.exp(rng.normal(6.5, 1.3, n)),
    "steps": lambda rng, n: rng.normal(7000, 2500, n).clip(1000, 20000),
    "birthweight": lambda rng, n: rng.normal(2500, 500, n).clip(1000, 4999),
    "two groups of newborns": lambda rng, n: rng.normal(np.where(np.arange(n) % 2, 1500, 3200), 350).clip(1000, 9000),
    "endothelial cells": lambda rng, n: rng.normal(2500, 400, n),
    "cd4": lambda rng, n: rng.gamma(3, 180, n),
    "ferritin": lambda rng, n: np.exp(rng.normal(7.5, 0.35, n)),
}


def proposed(texts, name="value"):
    column = observed(name, pd.Series(texts, dtype=object), ColumnNotes())
    return proposal_of_identifier(column, column.numbers)


@scored([60, 150, 400, 2000])
@scored(MEASUREMENTS)
def test_no_measurement_is_taken_for_an_identifier(n, kind):
    for seed in range(30):
        values = np.round(MEASUREMENTS[kind](np.random.default_rng([seed, n]), n)).astype(int)
        assert proposed(values.astype(str).tolist()) is None


@pytest.mark.parametrize(("low", "high", "n"), [(1000, 9999, 200), (10_000, 60_000, 100), (100_000, 999_999, 150)])
def test_numbers_drawn_from_a_range_are_identifiers_and_the_reason_says_how_to_undo_it(low, high, n):
    drawn = np.random.default_rng(n).choice(np.arange(low, high), n, replace=False)
    found = proposed(drawn.astype(str).tolist())
    assert found.fields == {"role": "id"}
    assert "likelihood: gaussian" in found.reason
    assert proposed([*drawn[:-1].astype(str), str(drawn[0])]) is None


def test_leading_zeros_many_digits_keys_and_consecutive_numbers_identify():
    rng = np.random.default_rng(2)
    bell = np.unique(rng.normal(50_000, 9_000, 90).astype(int))
    assert proposed([f"{number:06d}" for number in bell]) is not None
    assert proposed([f"2019{number:06d}" for number in bell]) is not None
    assert proposed([f"{number:08x}" for number in rng.integers(0, 2**31, 90)]) is not None
    assert proposed(rng.permutation(np.arange(41, 131)).astype(str).tolist(), "n_episodes") is not None


@pytest.mark.parametrize("write", ["{:05d}", "{:05d}-010"])
def test_postal_codes_name_no_subject(write):
    codes = [write.format(code) for code in np.random.default_rng(3).choice(99_999, 200, replace=False)]
    schema = cc.draft_schema(pd.DataFrame({"CEP": codes, "age": np.arange(200.0) % 7}))
    assert schema["CEP"].role == "ignore"
    assert "postal codes" in schema.comments["CEP"]


@scored(["VAS Patient", "Globalurteil Patient", "EVA patient", "Pain VAS subject"])
def test_what_a_patient_rates_identifies_nobody(name):
    rng = np.random.default_rng(0)
    ratings = rng.normal(45, 20, 300).clip(0, 100).round().astype(int).astype(str)
    frame = pd.DataFrame({name: ratings, "hb": rng.normal(13, 1.3, 300).round(1).astype(str)})
    schema = cc.draft_schema(frame, progress=False)
    assert schema[name].role == "cluster"
    assert "--one-row-per" not in schema.comments[name]


def test_numbers_from_0_to_100_that_somebody_gave_identify_nobody_whatever_they_are_called():
    ratings = np.random.default_rng(0).integers(0, 101, 300).astype(str)
    other = np.random.default_rng(1).normal(13, 1, 300).round(1).astype(str)
    schema = cc.draft_schema(pd.DataFrame({"Wohlbefinden Patient": ratings, "hb": other}), progress=False)
    assert "--one-row-per" not in schema.comments["Wohlbefinden Patient"]


NAMES = [
    *("matricule", "prontuário", "ficha", "Cartella", "kindnr", "NU_NOTIFIC", "nº caso", "Pseudonym", "Fallnr"),
    *("n. paziente", "Fallnummer", "PatNr", "Aktenzeichen", "nº_historia", "NHS_number", "ssn", "IPP"),
    *("N° dossier", "Hospital number", "HospNo", "Cod. paziente", "codice paziente", "código paciente"),
    *("code patient", "n° dossier", "MRN", "NHC", "numero cartella", "Pat.-Nr", "Teilnehmer-Nr", "n° sujet"),
]


@scored(NAMES)
def test_what_is_called_a_number_of_a_subject_identifies_it_in_six_languages(name):
    rng = np.random.default_rng(0)
    for write, low, high, n in (("{}", 100_000, 400_000, 30), ("{}/D", 1000, 9999, 120), ("{}", 1000, 9999, 120)):
        codes = [write.format(number) for number in rng.choice(np.arange(low, high), n, replace=False)]
        other = rng.normal(13, 1, n).round(1).astype(str)
        frame = pd.DataFrame({name: codes, "hb": other})
        assert cc.draft_schema(frame, progress=False)[name].role == "id"
    if name == "Hospital number":  # one that several rows share may be that of the hospital
        return
    twice = pd.concat([frame, frame])
    assert "--one-row-per" in cc.draft_schema(twice, progress=False).comments[name]
