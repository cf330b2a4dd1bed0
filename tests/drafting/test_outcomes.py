# ruff: noqa: E501 - tables of cases read best with one case a line
"""Outcomes are described and not clustered on, by what they are called or what their levels say."""

import numpy as np
import pandas as pd
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.redundancy.outcome_levels import are_vital, say_who_died
from clinclust.drafting.redundancy.outcome_names import (
    is_course_name,
    is_paired,
    is_surely_outcome_name,
    is_time_name,
)

N = 200
TIMES = """DFS RFS efs EFS_time RFS_months Zeit_bis_Progress tiempo_hasta_recidiva os_months OS.time pfs pfs_days survival_time Überlebenszeit follow_up_days FU_months followup_time time_to_event
    time_to_death days_to_last_follow_up overall_survival survival_years suivi_mois temps_de_survie tiempo_de_supervivencia
    seguimiento_meses Nachbeobachtung_Monate DFS_event surv_time tempo_di_sopravvivenza progression_free_survival"""  # fmt: skip
NO_TIMES = """time_to_treatment time_to_diagnosis iop_os visus_os os follow_up_bp bmi_follow_up duration days disease_duration
    age_at_death delai_diagnostic length_of_stay css_score tage_fieber seguimiento follow_up_visit os_left"""
OUTCOMES = """event death death_30d died verstorben décès éxitus exitus relapse readmission_30d recurrence Rezidiv
    mortality_90d outcome vital_status Vitalstatus hospital_death fallecido decesso récidive 30d_readmission os_event
    in_hospital_mortality primary_outcome censored"""
NO_OUTCOMES = """family_history_death prior_relapse previous_readmission vital_capacity age_at_death mortality_risk_score
    predicted_mortality life_events adverse_events status diagnosis event_type_x relapses deathly
    antecedents_rechute relapse_rate vitamin_status smoking_status"""


MORE_TIMES = ["ueberleb_mon", "letzte Nachsorge (Mon.)", "Nachsorge Monate", "ueberleben_tage"]
MORE_OUTCOMES = [
    "Rückfall", "Rezidiv", "tot", "Verstorben (ja/nein)", "letal", "Exitus letalis", "fatal", "fatal bleeding", "Lebt", "lebt", "alive_at_followup",
    "mortalità", "mortalité à 1 an", "mortalidad 30 días", "1-year mortality", "30-day mortality", "30-Tage-Mortalität", "5 Jahre überlebt",
    "Krankenhaussterblichkeit", "DCD", "décédé", "décédé(e)", "statut vital", "estado vital", "vital status", "Vitalstatus", "esito", "esito finale",
    "Entlassung", "Entlassungsart", "Entlassart", "discharge disposition", "discharged to", "mode de sortie", "destino al alta", "modalità di dimissione",
    "progression", "Progress", "disease progression", "récidive locale", "recidiva", "relapse", "readmission", "Wiederaufnahme", "ICU death",
    "in-hospital death", "Todesursache", "cause of death", "riospedalizzazione", "PFS_event", "vivant",
]  # fmt: skip
MORE_FEATURES = [
    "family history of death", "Todesangst", "Angst vor dem Tod", "fear of death", "total", "tot_chol", "Bilirubin tot", "fatality score", "non-lethal",
    "os calcis", "Vitalkapazität", "vital signs", "prior relapse count", "progression rate", "lebt allein", "Lebt mit Partner", "in vivo", "esito biopsia",
    "nasal discharge", "discharge weight", "Entlassungsgewicht", "CRP Entlassung", "antécédent familial de décès", "Tod des Vaters", "Rezidivrisiko",
    "alta", "previous recurrence", "donor age", "suicidal ideas of death", "Anzahl Rückfälle", "durée d'évolution", "tiempo de evolución",
]  # fmt: skip


NAMES = {
    "an outcome": [*OUTCOMES.split(), *MORE_OUTCOMES],
    "a time to an outcome": [*TIMES.split(), *MORE_TIMES],
    "no outcome": NO_OUTCOMES.split(),
    "no time to an outcome": NO_TIMES.split(),
    "no outcome, time or course": MORE_FEATURES,
}


@scored([(name, said) for said, names in NAMES.items() for name in names])
def test_names_say_outcomes_and_times_to_them_and_the_same_words_beside_others_do_not(name, said):
    is_outcome, is_time = is_surely_outcome_name(name), is_time_name(name)
    assert {
        "an outcome": is_outcome or is_time,
        "a time to an outcome": is_time,
        "no outcome": not is_outcome,
        "no time to an outcome": not is_time,
        "no outcome, time or course": not (is_outcome or is_time or is_course_name(name)),
    }[said]


@scored(
    [
        (are_vital, ["alive", "dead"], True),
        (are_vital, ["lebt", "verstorben"], True),
        (are_vital, ["Vivant", "Décédé"], True),
        (are_vital, ["vivo", "éxitus"], True),
        (are_vital, ["vivo", "deceduto"], True),
        (are_vital, ["alive", "dead of disease", "dead of other cause", "lost to follow-up"], True),
        (are_vital, ["survivor", "non-survivor"], True),
        (are_vital, ["alive", "NED", "AWD", "DOD"], True),
        (are_vital, ["survivor", "unknown"], False),
        (are_vital, ["yes", "no"], False),
        (are_vital, ["dead", "resting"], False),
        (are_vital, ["low", "high"], False),
        (say_who_died, ["nach Hause", "Reha", "verstorben"], True),
        (say_who_died, ["home", "SNF", "expired"], True),
        (say_who_died, ["domicile", "SSR", "décès"], True),
        (say_who_died, ["domicilio", "éxitus", "traslado"], True),
        (say_who_died, ["guarito", "deceduto", "trasferito"], True),
        (say_who_died, ["Remission", "Progress", "Tod"], True),
        (say_who_died, ["ICU", "ward", "died in hospital"], True),
        (say_who_died, ["living donor", "deceased donor"], False),
        (say_who_died, ["divorce", "death of a parent", "job loss"], False),
        (say_who_died, ["dead", "slow", "fast"], False),
        (say_who_died, ["expired", "valid"], False),
        (say_who_died, ["low", "moderate", "deathly"], False),
    ]
)
def test_levels_of_life_and_death_are_an_outcome(say_so, levels, expected):
    assert say_so(levels) is expected


def test_os_is_a_survival_time_only_beside_others():
    assert is_paired("OS", ["OS", "PFS_months", "age"])
    assert not is_paired("OS", ["OS", "OD", "PFS"])
    assert not is_paired("os", ["os", "iop", "age"])


def test_time_and_status_are_an_outcome_only_together():
    assert is_paired("time", ["time", "status", "age"])
    assert is_paired("Status", ["time", "Status", "age"])
    assert not is_paired("time", ["time", "age"])
    assert not is_paired("status", ["status", "age"])
    assert not is_paired("age", ["time", "status", "age"])


def test_the_draft_describes_outcomes_says_why_and_how_to_change_it():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60, 9, N).round(1),
            "crp": np.exp(rng.normal(1, 1, N)).round(1),
            "status": rng.choice(["alive", "dead"], N),
            "os_months": rng.exponential(30, N).round(1),
            "event": rng.integers(0, 2, N),
            "readmission_30d": rng.choice(["yes", "no"], N),
            "smoking_status": rng.choice(["never", "former", "current"], N),
        }
    )
    schema = draft_schema(frame)
    roles = {feature.name: feature.role for feature in schema}
    described = ["status", "os_months", "event", "readmission_30d"]
    assert roles == {name: "describe" if name in described else "cluster" for name in frame}
    for name in described:
        assert "LOOK: " in schema.comments[name]
        assert "described only (write `role: cluster` to search for subtypes with it)" in schema.comments[name]
    assert "who is alive and who died" in schema.comments["status"]


@scored(
    [
        ("évolution", ["guérison", "stable", "décès"], "describe"),
        ("evolución", ["favorable", "desfavorable", "igual"], "describe"),
        ("evolución", ["aguda", "subaguda", "crónica"], "cluster"),
        ("durée d'évolution", ["3 jours", "1 semaine", "2 mois"], "cluster"),
        ("situación", ["vivo", "muerto", "perdido"], "describe"),
        ("destination", ["home", "rehab", "died"], "describe"),
        ("father", ["alive", "deceased"], "cluster"),
        ("donor", ["living", "deceased"], "cluster"),
        ("life event", ["none", "divorce", "death"], "cluster"),
        ("fear", ["pain", "death", "loss"], "cluster"),
    ],
)
def test_levels_and_name_together_say_outcome(name, levels, role):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {name: rng.choice(levels, N), "crp": rng.normal(4, 1, N), "age": rng.normal(60, 9, N).round(1)}
    )
    assert draft_schema(frame)[name].role == role


@scored(
    [
        ("Stato", ["vivo", "deceduto", "perso"]),
        ("Verlauf", ["lebt", "verstorben", "verzogen"]),
        ("Estado", ["vivo", "muerto", "perdido"]),
        ("Estado", ["vivo", "fallecido", "perdido"]),
        ("Status", ["alive", "dead", "lost"]),
    ],
)
def test_who_was_lost_is_a_level_of_the_outcome_and_not_missing(name, levels):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(levels, N), "hb": rng.normal(13, 1, N), "crp": rng.normal(5, 1, N)})
    outcome = draft_schema(frame, progress=False)[name]
    assert outcome.role == "describe"
    assert set(outcome.levels) == set(levels)
    assert not outcome.missing_codes


def test_a_sample_that_was_lost_is_missing():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"germ": rng.choice(["coli", "kleb", "perdido"], N), "hb": rng.normal(13, 1, N)})
    assert draft_schema(frame, progress=False)["germ"].missing_codes == ("perdido",)
