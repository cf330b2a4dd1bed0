# ruff: noqa: E501 - tables of cases read best with one case a line
"""What notes decide of a feature: nothing in a column is lost, and what they do not agree with is said."""

import warnings

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from schema_strategies import messy_frames
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.from_notes import declared
from clinclust.drafting.orders import order_of
from clinclust.drafting.yes_no import no_before_yes
from clinclust.errors import CohortWarning
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.dictionaries.units import unit_in
from clinclust.schema import FeatureSchema


def said_of(cells, **notes):
    """Return what notes decide of a column of these cells, each three times."""
    texts = list(dict.fromkeys(map(str, cells)))
    return declared(ColumnNotes(**notes), texts, np.array([3 * list(map(str, cells)).count(text) for text in texts]))


SEVERITY = (("0", "none"), ("1", "mild"), ("2", "severe"))
SEX = (("1", "male"), ("2", "female"))
SETTLED = {
    "labels are the levels, in the order of the file": (SEX, "12", {"levels": ["male", "female"], "synonyms": {"1": "male", "2": "female"}}),
    "yes comes second": ((("1", "Yes"), ("2", "No")), "12", {"likelihood": "bernoulli", "levels": ["No", "Yes"]}),
    "in German too": ((("1", "vorhanden"), ("2", "nicht vorhanden")), "12", {"levels": ["nicht vorhanden", "vorhanden"]}),
    "three without an order": ((("a", "A1"), ("b", "B7"), ("c", "C")), "abc", {"likelihood": "categorical", "levels": ["A1", "B7", "C"]}),
    "a value that is not listed": (SEX, "123", {"likelihood": "categorical", "levels": ["male", "female", "3"]}),
    "a word for missing": (SEX, ["1", "2", "refused"], {"levels": ["male", "female"], "missing_codes": ["refused"]}),
    "cells that hold labels": (SEX, ["male", "FEMALE"], {"levels": ["male", "female"], "synonyms": {"1": "male", "2": "female", "FEMALE": "female"}}),
    "codes written in another way": (SEX, ["1.0", "02"], {"synonyms": {"1": "male", "1.0": "male", "2": "female", "02": "female"}}),
    "labels that are codes of others": ((("1", "2"), ("2", "1")), "12", {"levels": ["1", "2"], "description": "1 = 2; 2 = 1"}),
    "one value only": (SEX, "1", {"role": "ignore"}),
}  # fmt: skip


@scored(SETTLED)
def test_levels_are_settled_by_notes(name):
    levels, cells, fields = SETTLED[name]
    result = said_of(cells, levels=levels)
    assert result.kind == "settled"
    assert {field: result.fields[field] for field in fields} == fields


@scored(
    [
        (SEVERITY, None, "012", ["none", "mild", "severe"]),
        (SEVERITY[::-1], None, "012", ["none", "mild", "severe"]),
        ((("3", "red"), ("1", "green"), ("2", "amber")), "ordinal", "123", ["green", "amber", "red"]),
        ((("c", "red"), ("a", "green"), ("b", "amber")), "ordinal", "abc", ["red", "green", "amber"]),
        ((("0", "not at all"), ("1", "1"), ("2", "2"), ("3", "very much so")), None, "0123", ["not at all", "1", "2", "very much so"]),
        ((("0", "none"), ("1", "mild"), ("3", "severe")), None, "0123", ["none", "mild", "2", "severe"]),
    ],
)  # fmt: skip
def test_an_order_is_kept_for_the_choice_by_evidence(levels, kind, cells, expected):
    result = said_of(cells, levels=levels, kind=kind)
    assert (result.kind, result.fields["levels"]) == ("ordered", expected)
    assert "likelihood" not in result.fields


@scored(
    [
        ({"minimum": 0.0, "maximum": 10.0}, [1, 2, 3.5], "number", {"minimum": 0.0, "maximum": 10.0}, ""),
        ({"minimum": 0.0, "maximum": 3.0}, [1, 2, 3.5], "number", {}, "3 values are not at least 0 and at most 3"),
        ({"missing_codes": ("-9",)}, [1, 2, "-9.0"], "number", {"missing_codes": ["-9", "-9.0"]}, ""),
        ({}, ["1,5", "2,25", "3"], "number", {"decimal": ","}, "decimal comma"),
        ({}, ["1,5", "2.25", "3.125"], "open", {}, "no numbers"),
        ({}, [1, 2, 3, "<5"], "number", {"censored": "limit"}, "limit of detection"),
        ({"unit": "mg"}, ["1 mg", "2 mg", "3"], "number", {"unit": "mg"}, ""),
        ({}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5, "lost"], "number", {"missing_codes": ["lost"]}, "'lost'"),
        ({}, ["one", "two", "3"], "open", {}, "no numbers"),
        ({}, [7, 7], "settled", {"role": "ignore"}, "the same value"),
        ({"role": "describe"}, [1, 2, 3], "number", {"role": "describe"}, ""),
    ],
)
def test_numbers_are_compared_with_the_values(notes, cells, kind, fields, words):
    result = said_of(cells, kind="number", **notes)
    assert result.kind == kind
    assert {field: result.fields.get(field) for field in fields} == fields
    assert ("minimum" in result.fields) == ("minimum" in fields)
    assert words in "; ".join([result.reason, *result.looks])


def test_labels_of_some_values_do_not_make_levels():
    result = said_of([0, 1, 2, 3, 4, 5, 99], levels=(("0", "never"), ("98", "too many")), missing_codes=("99",))
    assert result.kind == "number"
    assert result.fields["missing_codes"] == ["99"]
    assert "only some of its values have a label" in result.reason
    assert said_of([f"text {number}" for number in range(9)], levels=SEX).kind == "open"


def test_roles_are_taken_from_notes_unless_the_values_forbid():
    once = np.ones(3, dtype=int)
    assert declared(ColumnNotes(kind="id"), ["a", "b", "c"], once).fields["role"] == "id"
    repeated = declared(ColumnNotes(kind="id"), ["a", "b", "c"], np.array([1, 2, 1]))
    assert repeated.fields["role"] == "ignore"
    assert "several rows" in repeated.reason
    for notes in ({"kind": "date"}, {"kind": "text"}, {"role": "ignore", "levels": SEX}):
        assert said_of("12", label="L", block="b", **notes).fields == {"role": "ignore", "label": "L"}
    assert declared(ColumnNotes(), ["a"], once[:1]) is None


def test_levels_that_a_kind_has_without_a_list_are_those_of_the_column():
    assert said_of(["no", "yes"], kind="yes/no").fields["levels"] == ["no", "yes"]
    assert said_of([0, 1], kind="yes/no").fields["likelihood"] == "bernoulli"
    assert said_of([0, 1, 2], kind="yes/no").kind == "open"
    assert said_of(["b", "a", "c"], kind="nominal").fields["levels"] == ["a", "b", "c"]
    assert said_of([10, 9, 2], kind="ordinal").fields["levels"] == ["2", "9", "10"]
    assert said_of(["severe", "none", "mild"], kind="ordinal").fields["levels"] == ["none", "mild", "severe"]
    assert said_of(["x", "y", "z"], kind="ordinal").kind == "open"


ORDERED = [
    ["None", "Mild", "Moderate", "Severe"],
    ["keine", "leicht", "mittelgradig", "schwer"],
    ["Aucune", "Légère", "Modérée", "Sévère"],
    ["Ninguno", "Leve", "Moderado", "Grave"],
    ["Never", "Rarely", "Sometimes", "Often", "Always"],
    ["nie", "selten", "manchmal", "oft", "immer"],
    ["Jamais", "Rarement", "Parfois", "Souvent", "Toujours"],
    ["Nunca", "A veces", "Siempre"],
    ["Not at all", "Several days", "More than half the days", "Nearly every day"],
    ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
    ["NYHA I", "NYHA II", "NYHA III", "NYHA IV"],
    ["Grade 1", "Grade 2", "Grade 3"],
    ["T1", "T2a", "T2b", "T3"],
    ["I", "II", "III", "IV"],
    ["<18", "18-29", "30-49", "50+"],
    ["Younger than 18", "18-29", "30-39", "Older than 40"],
    ["0 - none", "1 - some", "2 - all of it"],
    ["0", "1", "1.5", "2"],
    ["None, at rest", "Mild (sometimes)", "Severe: always"],
    ["Never", "Former smoker", "Current"],
]


@given(st.sampled_from(ORDERED), st.randoms())
def test_the_order_of_answers_is_found_however_they_are_listed(labels, random):
    if "18-29" in labels:  # ranges count as ordered only if they rise
        assert order_of(labels) == list(range(len(labels)))
        return
    mixed = random.sample(labels, len(labels))
    order = order_of(mixed)
    assert order is not None
    assert [mixed[place] for place in order] == labels


@scored(
    [
        ["tremor", "rigid", "mixed"], ["SCA1", "SCA2", "SCA3"], ["Type 1 diabetes", "Type 2 diabetes", "none"],
        ["A", "B", "AB", "0"], ["none", "mild"], ["red", "red ", "green"], ["HLA-B27", "HLA-B51", "HLA-B8"],
        ["none", "none of these", "severe", "blue"], ["50+", "18-29", "<18"],
    ],
)  # fmt: skip
def test_names_have_no_order(labels):
    assert order_of(labels) is None


@scored([("No", "Yes"), ("nein", "Ja"), ("non", "OUI"), ("no", "Sí"), ("0", "1"), ("-", "+"), ("absent", "present")])
def test_no_is_known_from_yes_in_four_languages(no, yes):
    assert no_before_yes([no, yes]) == [0, 1]
    assert no_before_yes([yes, no]) == [1, 0]


def test_two_levels_that_are_no_answers_are_neither_yes_nor_no():
    assert no_before_yes(["male", "female"]) is None


MISSING = [
    *("Unknown", "n/a", "Weiß nicht", "k. A.", "Ne sait pas", "Non renseigné", "NS/NC", "No contesta", "Don't know"),
]
ANSWERS = ["No", "None", "Nein", "Other", "unknown primary tumour", "", "Not at all"]


@scored([*((label, True) for label in MISSING), *((label, False) for label in ANSWERS)])
def test_labels_that_mean_missing_are_known_in_four_languages(label, expected):
    assert means_missing(label) == expected


@scored(
    [
        ("Weight (kg)", "kg"),
        ("CRP [mg/L]:", "mg/L"),
        ("eGFR (mL/min/1.73m2)", "mL/min/1.73m2"),
        ("BMI (kg/m²)", "kg/m²"),
        ("Since (years)", "years"),
        ("Falls (last year)", None),
        ("Sex (m)", "m"),
        ("Platelets (10^9/L)", "10^9/L"),
    ]
)
def test_the_unit_of_a_label_is_found(label, unit):
    assert unit_in(label, "") == unit


TEXTS = st.sampled_from(
    ["", "a", "b", "1", "2", "1.0", "-9", "yes", "no", "None", "unknown", " x ", "1,5", "<5", "<b>a</b>"]
)
NOTES = st.builds(
    ColumnNotes,
    label=st.none() | TEXTS,
    unit=st.none() | st.sampled_from(["kg", " ", "a"]),
    levels=st.lists(st.tuples(TEXTS, TEXTS), max_size=5).map(tuple),
    kind=st.sampled_from([None, "nominal", "ordinal", "number", "yes/no", "date", "text", "id"]),
    missing_codes=st.lists(TEXTS, max_size=2).map(tuple),
    minimum=st.none() | st.floats(-3, 3),
    maximum=st.none() | st.sampled_from([0.0, 1.0, 2.5, np.inf]),
    decimal=st.sampled_from([None, ","]),
    asked_if=st.none() | TEXTS,
    block=st.none() | TEXTS,
    role=st.sampled_from([None, "describe", "ignore"]),
    reason=st.none() | TEXTS,
)


@given(
    messy_frames() | st.lists(TEXTS, min_size=4, max_size=30).map(lambda cells: pd.DataFrame({"x": cells})), st.data()
)
def test_a_draft_by_any_notes_validates_its_own_table(frame, data):
    add_notes(frame, {str(column): data.draw(NOTES) for column in frame.columns})
    schema = draft_schema(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        schema.validate(frame)
    assert sorted(schema.names) == sorted(frame.columns)
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


def test_a_scale_has_the_steps_that_the_file_declares():
    frame = pd.DataFrame({"pain": ["2", "3", "4", "3", "5", "6"] * 20, "mood": ["2", "3", "4", "3", "5", "3"] * 20})
    add_notes(frame, {"pain": ColumnNotes(kind="number", minimum=0.0, maximum=10.0)})
    add_notes(frame, {"mood": ColumnNotes(kind="number", minimum=1.0, maximum=7.0)})
    schema = draft_schema(frame)
    pain, mood = schema["pain"], schema["mood"]
    assert (pain.trials, pain.minimum) == (10, None)
    assert (mood.minimum, mood.maximum) == (1, 7)


def test_levels_that_mean_missing_are_none_in_any_file():
    result = said_of("1289", levels=(*SEX, ("8", "n/a"), ("9", "unknown")))
    assert result.fields["missing_codes"] == ["8", "9"]
    assert "'9' (unknown)" in result.reason
    numbers = said_of([1, 2, 3, 8, 9], levels=(("8", "n/a"), ("9", "unknown")), kind="number")
    assert (numbers.kind, numbers.fields["missing_codes"]) == ("number", ["8", "9"])


@scored(["dk", "DK", "ref", "Ref.", "na", "inap", "skip"])
def test_a_short_label_that_may_mean_missing_is_told(label):
    result = said_of("1233", levels=(("1", "yes"), ("2", "no"), ("3", label)))
    assert result.fields["missing_codes"] == ["3"]
    assert sorted(result.fields["levels"]) == ["no", "yes"]
    if not means_missing(label):
        assert result.looks == (
            f"'3' ({label}): taken for missing by the label (`missing_codes`); write them under `levels` if they are answers",
        )


def test_a_short_label_beside_one_other_is_a_level():
    result = said_of("12", levels=(("1", "ref"), ("2", "alt")))
    assert sorted(result.fields["levels"]) == ["alt", "ref"]
    assert result.looks == ()


def test_labels_of_codes_alone_leave_numbers():
    result = said_of([*range(30), 98, 99], levels=(("98", "dk"), ("99", "ref")))
    assert result.fields["missing_codes"] == ["98", "99"]
    assert "'98' (dk), '99' (ref)" in result.looks[0]
