"""Columns that must not form subtypes: by names, levels and values; and columns that only sound like them."""

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from scored import scored

from clinclust.cli.commands import in_options
from clinclust.drafting import draft_schema
from clinclust.errors import CohortWarning
from clinclust.files.text_table import ColumnNotes, add_notes

N = 120
rng = np.random.default_rng(0)
FEATURE = {"gait": rng.normal(1.1, 0.2, N).round(2), "sex": rng.choice(["f", "m"], N)}
TWO = rng.integers(0, 2, N)
DAYS = rng.integers(3, 900, N)
UNEVEN = rng.permutation(np.arange(N) < 45).astype(int) + 1  # no allocation makes such groups


def role_of(name, cells, **others):
    return draft_schema(pd.DataFrame({**FEATURE, **others, name: cells}))[name].role


ROLES_OF_TWO_VALUES = read_beside(__file__)["roles_of_two_values"]
ROLES_OF_NUMBERS = read_beside(__file__)["roles_of_numbers"]


def roles_of(names, cells):
    schema = draft_schema(pd.DataFrame({**FEATURE, **{name: rng.permutation(cells) for name in names}}))
    return {name: schema[name].role for name in names}


@scored([(role, names[part::4]) for role, names in ROLES_OF_TWO_VALUES.items() for part in range(4)])
def test_names_say_why_a_column_of_two_values_forms_no_subtypes(role, names):
    assert roles_of(names, UNEVEN) == dict.fromkeys(names, role)


@scored([(role, names[part::4]) for role, names in ROLES_OF_NUMBERS.items() for part in range(4)])
def test_names_say_which_numbers_are_times_places_and_weights(role, names):
    assert roles_of(names, DAYS) == dict.fromkeys(names, role)


@scored(cases_beside(__file__, "names"))
def test_words_count_in_tables_of_their_language_and_names_in_those_of_their_source(table):
    expected = dict(pair.split(":") for pair in table.split() if ":" in pair)
    roles = roles_of([pair.split(":")[0] for pair in table.split()], DAYS)
    assert {name: roles[name] for name in expected} == expected


def test_years_months_and_weeks_of_the_calendar_are_times_and_durations_are_none():
    cells = {
        "year": rng.integers(2015, 2020, N),
        "dxyr": rng.integers(1980, 1999, N),
        "seen": rng.integers(2001, 2012, N),
        "epi_week": rng.integers(1, 53, N),
        "month_of_admission": rng.integers(1, 13, N),
        "entered": rng.uniform(1958, 1974, N).round(3),
        "weekday": rng.integers(1, 8, N),
        "admission_hour": rng.integers(0, 24, N),
        "seen_on": rng.choice(["Mon", "Tue", "Wed", "Sat"], N),
        "cycle": rng.choice(["2011-2012", "2013-2014", "2015/16"], N),
    }
    features = {"gestational_week": rng.integers(24, 42, N), "calories": rng.integers(1000, 3000, N)}
    features |= {"sleep_hour": rng.integers(4, 10, N), "marital": rng.choice(["mar", "sep", "div"], N)}
    schema = draft_schema(pd.DataFrame({**FEATURE, **cells, **features}))
    assert {schema[name].role for name in cells} == {"time"}
    assert {schema[name].role for name in features} == {"cluster"}


def test_measurements_called_like_sites_and_numbered_outcomes_are_measurements():
    rng = np.random.default_rng(17)  # in which m0x rises with another by chance
    kinds = [rng.normal(5, 1, (N, 20)).round(2), rng.poisson(3, (N, 20)), rng.integers(0, 2, (N, 20))]
    cells = {f"m{k}x": kinds[k % 3][:, k // 3] for k in range(24)}
    cells |= {
        f"{word}{k}": rng.normal(5, 1, N).round(2) for word in ("lab", "unit", "ward", "batch", "y") for k in (1, 2)
    }
    schema = draft_schema(pd.DataFrame({**FEATURE, **cells}))
    assert {schema[name].role for name in cells} == {"cluster"}


def test_columns_called_alike_without_being_dates_times_or_places_form_subtypes():
    dates = pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d")
    columns = {f"VAR{k}": dates if k < 3 else rng.normal(k, 1, N).round(1) for k in range(1, 9)}
    others = {"lat": rng.choice(["L", "R", "B"], N), "ga_weeks": rng.normal(38, 2, N).round(1), "sga": TWO}
    schema = draft_schema(pd.DataFrame({**FEATURE, **columns, **others}))
    assert {schema[f"VAR{k}"].role for k in range(3, 9)} | {schema[name].role for name in others} == {"cluster"}
    assert role_of("hospital_id", rng.integers(1, 31, N)) == "site"


def test_years_of_an_exposure_are_no_time_to_its_status():
    smoked = {"smoking_status": TWO, "smoking_years": TWO * rng.integers(1, 40, N)}
    schema = draft_schema(pd.DataFrame({**FEATURE, **smoked}))
    assert {"time", "outcome"}.isdisjoint(schema[name].role for name in smoked)
    assert role_of("Status", rng.choice(["married", "never married", "widowed"], N)) == "cluster"
    assert role_of("ca125", DAYS, ca125_status=(DAYS > 300).astype(int)) == "cluster"


@scored(cases_beside(__file__, "levels_of_roles"))
def test_levels_say_what_a_column_is_whatever_its_name(levels, role):
    assert role_of("x", rng.choice(levels, N)) == role


def test_the_label_of_a_file_counts_like_the_name():
    frame = pd.DataFrame({**FEATURE, "v12": TWO})
    add_notes(frame, {"v12": ColumnNotes(label="Randomisation arm")})
    assert draft_schema(frame)["v12"].role == "arm"


def test_groups_of_equal_size_are_arms_and_others_are_not():
    assert role_of("group", [1, 2] * (N // 2)) == "arm"
    assert role_of("group", [1] * 30 + [2] * (N - 30)) == "describe"
    assert role_of("study group", [1, 2] * (N // 2)) == "arm"
    for patients_own in ("age_group", "blood group", "risk_group", "Altersgruppe"):
        assert role_of(patients_own, [1, 2] * (N // 2)) == "cluster"


def test_nearly_everybodys_yes_is_no_event_of_times_that_are_seldom_equal():
    high = rng.integers(2, 300, 400)
    low = np.where(np.arange(400) < 12, high, high // 2)
    table = {"high": high, "low": low, "insured": (np.arange(400) < 396).astype(int)}
    schema = draft_schema(pd.DataFrame({"gait": rng.normal(size=400), **table}))
    assert schema["insured"].role == "cluster"


def test_a_time_and_the_yes_or_no_beside_it_are_known_by_their_values():
    relapse = rng.integers(0, 2, N)
    days = np.where(relapse == 1, rng.integers(1, 300, N), rng.integers(200, 900, N))
    schema = draft_schema(pd.DataFrame({**FEATURE, "edrel": days, "rel": relapse}))
    assert (schema["edrel"].role, schema["rel"].role) == ("time", "outcome")
    for cells in (relapse, 1 - relapse):  # without a name of a time, it is shorter with the event, and begins near zero
        schema = draft_schema(pd.DataFrame({**FEATURE, "score": days + 100 * (cells is relapse), "x": cells}))
        assert (schema["score"].role, schema["x"].role) == ("cluster", "cluster")


def test_numbers_by_which_the_rows_are_sorted_are_sites_and_a_sorted_measurement_is_none():
    for cells, role in ((rng.integers(1, 31, N), "site"), (rng.integers(40, 70, N), "cluster")):
        assert (role_of("x", np.sort(cells)), role_of("x", rng.permutation(cells))) == (role, "cluster")


def test_starts_and_stops_of_a_subject_are_times_and_what_grows_is_none():
    start = rng.uniform(1, 20, (60, 3)).round(1).cumsum(axis=1) - 1
    height = np.sort(rng.normal(100, 9, (60, 3)), axis=1)
    table = {"id": np.repeat(np.arange(60), 3), "from": start.ravel(), "height": height.ravel()}
    schema = draft_schema(pd.DataFrame({**table, "gait": rng.normal(0, 1, 180)}))
    assert [feature.role for feature in schema] == ["ignore", "time", "cluster", "cluster"]


@pytest.mark.parametrize("typed", [str, int])
def test_a_table_of_groups_says_so_and_how_to_get_one_row_for_each_person(typed):
    groups = pd.MultiIndex.from_product([["1st", "2nd", "3rd"], ["f", "m"], ["child", "adult"]], names=list("abc"))
    table = groups.to_frame(index=False).assign(Freq=[typed(n) for n in rng.integers(0, 90, 12)])
    with pytest.warns(CohortWarning, match="ROWS ARE NOT PATIENTS: each row is a group of people"):
        schema = draft_schema(table)
    assert schema["Freq"].role == "ignore"
    assert "--count Freq takes each row as often" in in_options(schema.comments["Freq"])
    assert draft_schema(pd.concat([table, table]))["Freq"].role == "cluster"


def test_the_first_sampling_weight_of_a_survey_says_how_rows_are_drawn_by_it():
    weights = rng.lognormal(9, 0.6, (N, 3)).round(3)
    table = pd.DataFrame(weights, columns=["PWGTP", "PWGTP1", "PWGTP2"]).assign(crp=rng.normal(0, 1, N), SDMVPSU=1)
    schema = draft_schema(table.assign(SDMVPSU=rng.integers(1, 3, N)))
    assert [feature.role for feature in schema] == ["site", "site", "site", "cluster", "site"]
    assert ["--draw-by" in in_options(schema.comments[name]) for name in schema.names] == [True, *[False] * 4]


def test_what_is_recorded_at_one_level_of_an_outcome_only_is_an_outcome():
    died = rng.permutation(N) < 40
    cause, tumour = (np.where(rows, rng.choice(["heart", "other"], N), None) for rows in (died, rng.permutation(died)))
    schema = draft_schema(pd.DataFrame({**FEATURE, "died": died.astype(int), "why": cause, "place": tumour}))
    assert (schema["why"].role, schema["place"].role) == ("outcome", "cluster")


@scored([("Diagnose", ["PD", "HC"]), ("cluster", ["a", "b", "c"]), ("died", ["no", "yes"])])
def test_what_a_known_answer_or_outcome_determines_has_its_role(name, levels):
    answer = rng.choice(levels, N)
    table = {name: answer, "colour": [f"#{ord(level[-1]):06x}" for level in answer], "x": answer == levels[0]}
    roles = {draft_schema(pd.DataFrame({**FEATURE, **table}))[column].role for column in table}
    assert roles == {"outcome" if name == "died" else "describe"}
    nearly = table["x"] ^ (np.arange(N) < 4)
    assert role_of("x", nearly.astype(int), **{name: answer}) == "cluster"


def test_days_recorded_with_yes_only_are_those_of_an_event_and_years_the_history_of_a_subject():
    table = {"icu": TWO, "icu_enter_days": np.where(TWO == 1, DAYS, None)}
    table |= {"snores": DAYS % 2, "snores_years": np.where(DAYS % 2 == 1, DAYS % 41 + 30, None)}
    schema = draft_schema(pd.DataFrame({**FEATURE, **table}))
    assert [schema[name].role for name in table] == ["outcome", "time", "cluster", "cluster"]


def test_towns_and_provinces_are_places_whatever_else_their_names_say():
    towns = np.array(["Gimpo-si", "Jung-gu", "Mapo-gu"])[DAYS % 3]
    assert (role_of("city_patient_route", towns), role_of("city_size", DAYS % 3 + 1)) == ("site", "cluster")
    for name, role in {"d_country": "site", "site_region": "site", "brain_region": "cluster"}.items():
        assert role_of(name, towns) == role
    codes = rng.choice(np.arange(10_001, 99_999, 47), N)
    assert (role_of("d_zipcode", codes), role_of("d_salary", codes)) == ("site", "cluster")


@pytest.mark.parametrize(("time", "event"), [("t1", "d1"), ("time.to.cmv", "cmv"), ("dayslink", "link")])
def test_a_time_and_its_event_are_called_alike(time, event):
    schema = draft_schema(pd.DataFrame({**FEATURE, time: DAYS, event: TWO}))
    assert (schema[time].role, schema[event].role) == ("time", "outcome")


def test_a_short_word_for_time_to_relapse_counts_beside_an_event_only():
    assert (role_of("TTR", DAYS, relapse=TWO), role_of("TTR", DAYS)) == ("time", "cluster")


def test_what_is_called_as_several_outcomes_are_is_an_outcome():
    table = {f"{letter}_{event}": cells for event in ("gvhd", "rel") for letter, cells in (("t", DAYS), ("d", TWO))}
    assert (role_of("d_dea", TWO[::-1], **table), role_of("q_dea", TWO[::-1], **table)) == ("outcome", "cluster")
    assert role_of("TIMEAP", DAYS[::-1], TIMEDTH=DAYS, TIMEMI=DAYS, HOSPMI=TWO) != "cluster"


def test_arithmetic_ties_columns_to_outcomes_and_times_whatever_they_are_called():
    weight, entry = rng.normal(3.3, 0.5, N).round(2), rng.integers(600, 1000, N)
    diagnosed = rng.integers(9000, 11000, N)
    tied = {
        "grams": (weight, "outcome", {"died": (weight < 3).astype(int)}),
        "ends": (entry + DAYS, "time", {"starts": entry, "futime": DAYS}),
        "seen": (diagnosed, "time", {"date_of_death": diagnosed + DAYS}),
    }
    for name, (cells, role, others) in tied.items():
        assert role_of(name, cells, **others) == role
        assert role_of(name, rng.permutation(cells), **others) == "cluster"


def test_numbers_of_sites_are_names_and_have_no_mean():
    codes = rng.permutation(np.arange(N) % 25 + 1)
    texts = np.where(np.arange(N) % 9 == 0, "k.A.", codes.astype(str))
    table = {"hospital": codes, "ward": texts, "lat": rng.normal(50, 1, N).round(3)}
    schema = draft_schema(pd.DataFrame({**FEATURE, **table}))
    assert schema["hospital"].levels == schema["ward"].levels == tuple(map(str, range(1, 26)))
    assert schema["lat"].likelihood == "gaussian"
    assert draft_schema(pd.DataFrame({**FEATURE, "zip": 10_000 + rng.permutation(N)}))["zip"].likelihood is None


@scored(
    [
        (rng.integers(20, 70, N), lambda first: first + rng.poisson(1.5, N)),  # ages at onset and at diagnosis
        (rng.normal(80, 10, N).round(), lambda first: first + np.abs(rng.normal(40, 15, N)).round()),  # pressures
        (rng.lognormal(3, 1, N).round(), lambda first: np.where(rng.random(N) < 0.4, first, (first * 1.8).round())),
    ]
)
def test_two_columns_alone_are_no_times_although_one_is_never_above_the_other_and_often_equal(first, second):
    schema = draft_schema(pd.DataFrame({**FEATURE, "a": first, "b": second(first)}))
    assert (schema["a"].role, schema["b"].role) == ("cluster", "cluster")


def test_a_score_that_ends_at_its_ceiling_is_no_time():
    score = np.clip(30 - rng.negative_binomial(1.5, 0.25, N), 0, 30)
    assert role_of("mmse", score, impaired=np.where(score < 30, "yes", "no")) == "cluster"


@scored(["x_t0 x_t1", "egfr egfr_12m", "fev_0m fev_12m", "nihss_admission nihss_discharge", "a_baseline a_final"])
def test_of_numbered_visits_the_first_forms_subtypes(names):
    first, second = names.split()
    start = rng.normal(size=N)
    schema = draft_schema(pd.DataFrame({**FEATURE, first: start, second: start + rng.normal(size=N)}))
    assert (schema[first].role, schema[second].role) == ("cluster", "outcome")


@scored(["item_1 item_2", "V1 V2", "mds_m1 mds_m2", "q1 q2", f"q{'1' * 5000} q{'2' * 5000}"])
def test_numbered_items_are_no_visits(names):
    first, second = names.split()
    schema = draft_schema(pd.DataFrame({**FEATURE, first: rng.normal(size=N), second: rng.normal(size=N)}))
    assert (schema[first].role, schema[second].role) == ("cluster", "cluster")


def test_what_a_drug_determines_makes_it_no_site():
    drug = rng.integers(0, 26, 400)
    table = {f"of_drug_{k}": rng.integers(0, 3, 26)[drug] for k in range(4)}
    frame = pd.DataFrame({"drug": [f"drug {chr(97 + k)}" for k in drug], **table})
    assert draft_schema(frame)["drug"].role == "cluster"


def test_later_measurements_of_what_was_measured_at_baseline_are_outcomes():
    start = rng.integers(0, 40, N)
    table = {name: start + rng.integers(0, 20, N) for name in ("bdi.pre", "bdi.2m", "bdi.8m", "age2")}
    schema = draft_schema(pd.DataFrame({**FEATURE, **table}))
    assert [schema[name].role for name in table] == ["cluster", "outcome", "outcome", "cluster"]


@scored(["hb T0, hb T1", "hb_pre, hb_post", "hb bl, hb fu", "Hb vorher, Hb nachher"])
def test_changes_are_outcomes_and_so_are_all_measurements_at_a_later_visit(names):
    first, second = names.split(", ")
    start, end, age = rng.normal(13, 1, N).round(1), rng.normal(13.5, 1, N).round(1), rng.integers(20, 80, N)
    end = (0.7 * start + 0.3 * end).round(1)
    table = {first: start, second: end, "fall": (end - start).round(1), "Δhb": rng.normal(size=N)}
    table |= {name.replace("hb", "il6").replace("Hb", "il6"): rng.normal(4, 1, N) for name in (first, second)}
    ages = {name.replace("hb", "age").replace("Hb", "age"): age + (name == second) * TWO for name in (first, second)}
    schema = draft_schema(pd.DataFrame({**FEATURE, **table, **ages}))
    expected = ["cluster", "outcome", "outcome", "outcome", *["cluster", "outcome"] * 2]
    assert [schema[name].role for name in (*table, *ages)] == expected
    assert role_of("fall", rng.permutation(table["fall"]), **{first: start, second: end}) == "cluster"


def test_what_tells_the_visits_of_a_subject_apart_is_a_time():
    visits = pd.DataFrame({"id": np.repeat(np.arange(60), 3), "k": [1, 3, 5] * 60, "gait": rng.normal(0, 1, 180)})
    schema = draft_schema(visits)
    assert [feature.role for feature in schema] == ["ignore", "time", "cluster"]
    assert "one_row_per='id'" in schema.comments["id"]


def test_numbers_that_start_anew_in_each_study_are_no_subjects_with_several_rows():
    sizes = [60, 25, 35]
    table = {"trial": np.repeat([*"abc"], sizes), "patient": np.concatenate([np.arange(n) + 1 for n in sizes])}
    schema = draft_schema(pd.DataFrame({**table, **FEATURE, "note": TWO}))
    assert [feature.role for feature in schema if feature.name != "trial"] == ["ignore", *["cluster"] * 3]
    assert "one_row_per" not in schema.comments["patient"]


def test_what_repeats_and_names_subjects_tells_how_to_keep_one_row_of_each():
    rows = np.sort([*range(90), *rng.choice(90, 30, replace=False)])
    names = {"infant_id": [f"B-{row}" for row in rows], "barcode": [f"{row * 7919 % 90}x" for row in rows]}
    order = pd.Series(rows).groupby(rows).cumcount().to_numpy() + 1
    schema = draft_schema(pd.DataFrame({**names, "specimen": order, **FEATURE}))
    assert [feature.role for feature in schema] == ["ignore", "ignore", "time", "cluster", "cluster"]
    assert "one_row_per='infant_id'" in schema.comments["infant_id"]


@scored(
    [
        ("id", np.arange(N) % 8 * 37 + 5, "ignore"),
        ("ID", rng.integers(1, 12, N), "ignore"),
        ("drug_id", rng.integers(1, 30, N), "ignore"),
        ("subid", [*range(1000, 1000 + N - 1), 1000], "ignore"),
        ("prolific_pid", np.arange(N) // 2 + 166, "ignore"),
        ("patient_id", rng.permutation(10**5)[:N], "id"),
        ("x", np.arange(1, N + 1), "id"),
        ("x", np.sort(rng.choice(10**4, N, replace=False)), "id"),
        ("x", [f"{value:08x}" for value in rng.choice(2**31, N, replace=False)], "id"),
        ("Hospital number", rng.permutation(10**5)[:N], "id"),
        ("x", rng.normal(60, 9, N).round(), "cluster"),
        ("x", np.linspace(1, 2, N), "cluster"),
        ("score_patient", np.linspace(1, 2, N).round(3), "cluster"),
        ("platelets", rng.normal(250_000, 60_000, N).round(), "cluster"),
        ("MRN", [*rng.permutation(10**6)[: N - 1], 77, 77][-N:], "ignore"),
        ("x", rng.permutation(N) + 100_200, "id"),
        ("x", np.random.default_rng(9).choice(800_000, N, replace=False) + 100_000, "id"),
        ("x", np.random.default_rng(9).integers(350_010, 350_200, N), "site"),
        ("x", np.where(UNEVEN == 1, np.inf, DAYS), "time"),
        ("Kuh_Nr", np.repeat(np.random.default_rng(9).permutation(9000)[: N // 4] + 1000, 4), "ignore"),
        ("HADM_ID", [*rng.permutation(10**5)[: N - 4], *[None] * 4], "ignore"),
        ("tvparnr", rng.permutation(np.repeat(np.arange(N // 2) * 3, 2)), "ignore"),
        ("phone", [*(600_000_000 + rng.permutation(10**6)[:90]), *[None] * 30], "ignore"),
    ]
)
def test_identifiers_are_known_by_their_values(name, cells, role):
    assert role_of(name, cells) == role


def test_what_whole_families_share_is_no_feature():
    family = np.sort(rng.integers(0, 400, 600) * 7 + 11)
    codes = np.unique(family, return_inverse=True)[1]
    shared = {f"of_family_{k}": rng.permutation(rng.choice([1, 2], 600))[codes] for k in range(4)}
    frame = pd.DataFrame({"family": rng.permutation(10**4)[codes], **shared, "own": rng.normal(0, 1, 600)})
    assert draft_schema(frame)["family"].role in ("ignore", "site", "id")
    weight = rng.integers(1500, 4500, 600) // 20 * 20
    frame = pd.DataFrame({"weight": weight, "low": weight < 2500, "very": weight < 1800, "big": weight > 4000})
    assert draft_schema(frame)["weight"].role == "cluster"


@pytest.mark.parametrize(
    "cells",
    [
        pd.date_range("1950-01-01", periods=N).strftime("%Y-%m-%d"),
        pd.date_range("1950-01-01", periods=N),
        pd.date_range("2018-01-01", periods=N, freq="17D").strftime("%Y%m%d"),
        pd.date_range("1988-01-01", periods=N, freq="17D").strftime("%m%d%y"),
        [f"{day} Jan 1980" for day in range(1, 29)] * 4 + ["1 Feb 1980"] * 8,
        [f"{hour:02}:30" for hour in range(20)] * 6,
    ],
)
def test_dates_and_times_are_no_features_however_they_are_written(cells):
    assert role_of("seen", cells) == "time"


def test_roles_that_somebody_gives_come_before_all_others():
    frame = pd.DataFrame({**FEATURE, "trt": TWO, "id": np.arange(N)})
    schema = draft_schema(frame, roles={"trt": "cluster", "id": "cluster", "gait": "outcome"})
    assert [schema[name].role for name in ("trt", "id", "gait")] == ["cluster", "cluster", "outcome"]


def redcap():
    """Return an export of 60 records, two events and repeated forms, which some records have."""
    rng = np.random.default_rng(1)
    lines = []
    for record in range(1, 61):
        first = {"record_id": record, "redcap_event_name": "baseline_arm_1", "hb": round(rng.normal(13, 1), 1)}
        lines.append({**first, "age": rng.integers(30, 80), "demographics_complete": rng.choice([0, 2])})
        lines.append({**first, "redcap_event_name": "follow_up_arm_1"})
        repeated = {"redcap_repeat_instrument": "adverse_events", "hb": None, "ae_grade": rng.integers(1, 5)}
        lines += [{**first, **repeated, "redcap_repeat_instance": 1 + more} for more in range(record % 3)]
    export = pd.DataFrame(lines)
    groups = np.where(export["record_id"] % 2, "north", "south")
    return export.assign(
        redcap_data_access_group=groups, redcap_survey_identifier="", survey_timestamp="2024-01-02 10:11"
    )


def test_columns_that_redcap_adds_are_known_without_a_dictionary():
    schema = draft_schema(redcap())
    roles = {feature.name: feature.role for feature in schema}
    added = [name for name in roles if name.startswith("redcap_") or name.endswith(("_complete", "_timestamp"))]
    assert {name for name in added if roles[name] != "ignore"} == {"redcap_data_access_group"}
    assert roles["redcap_data_access_group"] == "site"
    assert roles["hb"] == "cluster"


def test_a_column_called_complete_is_of_redcap_only_in_an_export():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"hb": rng.normal(13, 1, 90).round(1), "vaccination_complete": rng.choice(["0", "1"], 90)})
    assert draft_schema(frame)["vaccination_complete"].role == "cluster"
