"""What is the hospital's or the study's is described and not clustered on; what is the patient's stays."""

import numpy as np
import pandas as pd
from scored import scored

import clinclust as cc
from clinclust.drafting.administration_names import is_comment_name, is_weight_name, what_it_describes

N = 240
NUMBERS = ["101", "102", "105", "117"]
STEPS = ["1", "2", "3"]
MONTHS = [str(month) for month in range(1, 13)]
VALUES = {
    "zentrum; Klinik-Nr; center_no; Site; Studienzentrum; numero centro; Station": NUMBERS,
    "intwnr; Arztnr; physician id; enfermera; Untersucher; médecin": ["Mü", "Sch", "Kl"],
    "Gerät; Charge; batch_id; scanner": ["L2201", "L2202", "L2203"],
    "erstellt_von; created by": ["anna", "bert", "carl"],
    "PLZ": ["79098", "79100", "79110", "01067"],
    "Wochentag": ["Mo", "Di", "Mi", "Do", "Fr"],
    "jour de la semaine; Visit No; Visite; wave; timepoint; Messzeitpunkt": STEPS,
    "Aufnahmemonat; mes de ingreso; month of visit": MONTHS,
}
ADMINISTRATION = {name: values for names, values in VALUES.items() for name in names.split("; ")}
OF_THE_PATIENT = {
    "performance status": STEPS,
    "site of metastasis": ["bone", "liver", "lung"],
    "Site": ["colon", "rectum", "sigmoid"],
    "device": ["pacemaker", "ICD", "CRT"],
    "device implanted": ["0", "1"],
    "Station": ["nein", "ja"],
    "Schmerzzentrum": ["0", "1"],
    "month of onset": MONTHS,
    "visits": list(map(str, range(5))),
    "Q wave": ["no", "yes"],
}


def drafted(name, values, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(values, N), "hb": rng.normal(13, 1.3, N).round(1).astype(str)})
    return cc.draft_schema(frame, progress=False)


@scored(ADMINISTRATION.items())
def test_what_is_not_the_patients_is_described_as_codes_without_order(name, values):
    schema = drafted(name, values)
    assert schema[name].role == "describe"
    assert schema[name].likelihood == "categorical"
    assert set(schema[name].levels) == set(values)
    assert "role: cluster" in schema.comments[name]


@scored(OF_THE_PATIENT.items())
def test_what_is_the_patients_stays(name, values):
    assert drafted(name, values)[name].role == "cluster"


def test_physicians_rate_and_are_no_codes():
    rng = np.random.default_rng(1)
    ratings = rng.normal(45, 20, N).clip(0, 100).round().astype(int).astype(str)
    assert drafted("Arzt", ratings)["Arzt"].role == "cluster"
    assert what_it_describes("VAS Arzt") is None


@scored(["Design weight", "sampling weight", "pspwght", "peso campionario"])
def test_weights_of_sampling_are_described(name):
    weights = np.exp(np.random.default_rng(2).normal(0, 0.4, N)).round(3).astype(str)
    assert drafted(name, weights)[name].role == "describe"


@scored(["weight", "Gewicht", "weight (kg)", "birth weight", "poids"])
def test_weights_of_bodies_are_features(name):
    assert not is_weight_name(name)


def test_whole_numbers_under_a_name_of_a_date_are_days_of_a_spreadsheet():
    days = np.random.default_rng(3).integers(43_831, 45_000, N).astype(str)
    assert drafted("Aufnahme (seriell)", days)["Aufnahme (seriell)"].role == "ignore"
    assert drafted("Thrombozyten", days)["Thrombozyten"].role == "cluster"


def test_remarks_that_few_subjects_have_are_free_text():
    remarks = np.where(np.random.default_rng(4).random(N) < 0.91, "", "sturz")
    remarks[:4] = "verlegt"
    assert is_comment_name("Bemerkung")
    assert drafted("Bemerkung", remarks)["Bemerkung"].role == "ignore"
    assert drafted("Bemerkung", ["ja", "nein"])["Bemerkung"].role == "cluster"


def test_many_sites_are_ignored_with_the_reason():
    schema = drafted("Klinik-Nr", np.arange(100, 140).astype(str))
    assert schema["Klinik-Nr"].role == "ignore"
    assert "the site" in schema.comments["Klinik-Nr"]


def test_levels_that_a_file_declares_are_kept():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"site": rng.choice(["1", "2", "3"], N), "hb": rng.normal(13, 1, N).round(1).astype(str)})
    frame.attrs["column_notes"] = {"site": {"label": "Centre", "levels": [["1", "A"], ["2", "B"], ["3", "C"]]}}
    site = cc.draft_schema(frame, progress=False)["site"]
    assert (site.role, site.label) == ("describe", "Centre")
    assert len(site.levels) == 3


def test_the_label_of_a_column_says_what_its_name_does_not():
    rng = np.random.default_rng(6)
    weights = np.exp(rng.normal(0, 0.4, N)).round(3).astype(str)
    frame = pd.DataFrame({"wt": weights, "v7": rng.choice(["1", "2", "3"], N), "hb": rng.normal(13, 1, N).round(1)})
    assert cc.draft_schema(frame, progress=False)["wt"].role == "cluster"
    frame.attrs["column_notes"] = {"wt": {"label": "Design weight"}, "v7": {"label": "Interviewer"}}
    schema = cc.draft_schema(frame, progress=False)
    assert [schema[name].role for name in ("wt", "v7", "hb")] == ["describe", "describe", "cluster"]
