# ruff: noqa: E501 - tables of cases read best with one case a line
"""Outcomes are described and not clustered on, by what they are called or what their levels say."""

import numpy as np
import pandas as pd
import pytest

from clinclust.drafting import draft_schema
from clinclust.drafting.redundancy.outcome_names import are_vital, is_paired, is_surely_outcome_name, is_time_name

N = 200
TIMES = """os_months OS.time pfs pfs_days survival_time Überlebenszeit follow_up_days FU_months followup_time time_to_event
    time_to_death days_to_last_follow_up overall_survival survival_years suivi_mois temps_de_survie tiempo_de_supervivencia
    seguimiento_meses Nachbeobachtung_Monate DFS_event surv_time tempo_di_sopravvivenza progression_free_survival"""  # fmt: skip
NO_TIMES = """time_to_treatment time_to_diagnosis iop_os visus_os os follow_up_bp bmi_follow_up duration days disease_duration
    age_at_death delai_diagnostic length_of_stay css_score tage_fieber seguimiento follow_up_visit os_left"""
OUTCOMES = """event death death_30d died verstorben décès éxitus exitus relapse readmission_30d recurrence Rezidiv
    mortality_90d outcome vital_status Vitalstatus hospital_death fallecido decesso récidive 30d_readmission os_event
    in_hospital_mortality primary_outcome censored"""
NO_OUTCOMES = """family_history_death prior_relapse previous_readmission vital_capacity age_at_death mortality_risk_score
    predicted_mortality life_events adverse_events status progression diagnosis event_type_x relapses deathly
    antecedents_rechute relapse_rate vitamin_status smoking_status"""


@pytest.mark.parametrize("name", TIMES.split())
def test_times_to_an_outcome_are_known_by_name(name):
    assert is_time_name(name)


@pytest.mark.parametrize("name", NO_TIMES.split())
def test_other_times_and_sides_are_features(name):
    assert not is_time_name(name)


@pytest.mark.parametrize("name", OUTCOMES.split())
def test_outcomes_are_known_by_name(name):
    assert is_surely_outcome_name(name) or is_time_name(name)


@pytest.mark.parametrize("name", NO_OUTCOMES.split())
def test_histories_risks_and_measurements_are_features(name):
    assert not is_surely_outcome_name(name)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (["alive", "dead"], True),
        (["lebt", "verstorben"], True),
        (["Vivant", "Décédé"], True),
        (["vivo", "éxitus"], True),
        (["vivo", "deceduto"], True),
        (["alive", "dead of disease", "dead of other cause", "lost to follow-up"], True),
        (["survivor", "non-survivor"], True),
        (["survivor", "unknown"], False),
        (["yes", "no"], False),
        (["dead", "resting"], False),
        (["low", "high"], False),
    ],
)
def test_levels_that_say_who_died_are_an_outcome(levels, expected):
    assert are_vital(levels) is expected


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
