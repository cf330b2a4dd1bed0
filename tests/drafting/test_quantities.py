"""Levels that are quantities in several units are ordered by what they are, and never by the number they begin with."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.orders import in_order
from clinclust.drafting.orders.plain import plain
from clinclust.drafting.unit_words import factors_of

DAYS = {
    "en": {"min": 1 / 1440, "hours": 1 / 24, "days": 1, "weeks": 7, "months": 30.436875, "years": 365.2425},
    "de": {"Min.": 1 / 1440, "Std.": 1 / 24, "Tage": 1, "Wochen": 7, "Monate": 30.436875, "Jahre": 365.2425},
    "fr": {"min": 1 / 1440, "heures": 1 / 24, "jours": 1, "semaines": 7, "mois": 30.436875, "ans": 365.2425},
    "es": {"min": 1 / 1440, "horas": 1 / 24, "días": 1, "semanas": 7, "meses": 30.436875, "años": 365.2425},
    "it": {"min": 1 / 1440, "ore": 1 / 24, "giorni": 1, "settimane": 7, "mesi": 30.436875, "anni": 365.2425},
}
GRAMS = {"µg": 1e-6, "mcg": 1e-6, "mg": 1e-3, "g": 1, "kg": 1e3}
LITRES = {"µl": 1e-6, "ml": 1e-3, "mL": 1e-3, "dl": 0.1, "l": 1, "L": 1}
KINDS = [*DAYS.values(), GRAMS, LITRES]
AMOUNTS = st.sampled_from(KINDS).flatmap(
    lambda units: st.lists(
        st.tuples(st.integers(1, 90), st.sampled_from(sorted(units)), st.just(units)), min_size=3, max_size=8
    )
)
REFUSED = [
    ["1 g", "5 mg", "2 weeks"],
    ["1 week", "3 days", "2 drops"],
    ["1 Packung", "5 Zigaretten", "20 Zigaretten"],
    ["1 pill", "5 mg", "10 mg"],
    ["1 foo", "3 bar", "2 foo"],
    ["<1 g", "1-5 mg", ">5 g"],  # the first holds the second
    ["<1 week", "1-3 days", ">1 week"],
    ["1.500 mg", "2 g", "300 mg"],  # 1.5 mg or 1500 mg
    ["2 mg/day", "1 g/week", "500 mg/week"],
    ["30 min/day", "1 h/day", "2 h/week"],
    ["12 months", "1 year", "2 years"],  # a tie
    ["1. Monat", "2. Woche", "3. Woche"],
    ["no answer", "3 days", "1 week"],  # who gives no answer has not waited less than 3 days
    ["5 mg bid", "10 mg bid", "1 g qd"],
]


@given(AMOUNTS)
def test_quantities_are_ordered_by_what_they_are_in_one_unit(amounts):
    value = {f"{number} {unit}": number * units[unit] for number, unit, units in amounts}
    found = in_order(list(value), "x")
    apart = len({float(f"{one:.9g}") for one in value.values()}) == len(value)
    assert (found is not None) == apart
    if found is not None:
        assert [value[text] for text in found[0]] == sorted(value.values())


@scored(
    [
        ["12 Std.", "1 Tag", "10 Tage", "2 Wochen"],
        ["12 h", "3 j", "5 jours", "1 semaine", "2 semaines"],
        ["2 Tage", "3 Monate", "2 j"],
        ["3 días", "1 mes", "medio año", "1 año"],
        ["half an hour", "1 h", "1½ h", "one day"],
        ["30 min", "1 h 15 min", "1 day"],
        ["5 m", "1 h", "2 h"],
        ["3 days", "2 m", "1 y"],
        ["none", "5 mg", "1 g"],
        ["30 min/day", "1 h/day", "2 h/day"],
        ["<24 h", "1-7 days", "1-4 weeks", ">1 month"],
        ["<1 day", "1-3 days", "1 week"],
        ["1/month", "1x/week", "3x/day"],
    ],
)
def test_words_fractions_sums_and_rates_are_read(levels):
    assert in_order(levels[::-1], "x")[0] == levels


@scored(REFUSED)
def test_what_cannot_be_compared_has_no_order(levels):
    assert in_order(levels, "x") is None


@scored(KINDS)
def test_every_unit_is_as_much_as_it_is(units):
    found = factors_of([plain(unit) for unit in units])
    assert {unit: found[plain(unit)] for unit in units} == pytest.approx(units)


def test_a_code_before_a_word_is_still_an_order():
    assert in_order(["2 moderate", "0 none", "1 mild", "4 worst"], "x")[0][0] == "0 none"


def test_one_letter_decides_nothing_alone():
    assert factors_of(["m"]) is None
    assert factors_of(["m", "h", "years"]) is None
    assert factors_of(["m", "km"]) == {"m": 1.0, "km": 1000.0}


@pytest.mark.parametrize(
    ("levels", "first", "last"),
    [(["3 days", "1 week", "2 months"], "3 days", "2 months"), (["1 L", "250 mL", "500 mL"], "250 mL", "1 L")],
)
def test_a_few_quantities_are_drafted_as_a_scale(levels, first, last):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.choice(levels, 120), "y": rng.normal(size=120)})
    schema = draft_schema(frame)
    assert schema["x"].role == "cluster"
    assert (schema["x"].levels[0], schema["x"].levels[-1]) == (first, last)
    assert "quantities, compared in one unit" in schema.comments["x"]


def test_many_doses_in_two_units_are_no_scale_but_told():
    cells = [f"{20 * k} mg" for k in range(1, 30)] * 4 + ["1 g", "2 g"] * 10
    schema = draft_schema(pd.DataFrame({"x": cells, "y": np.random.default_rng(1).normal(size=len(cells))}))
    assert schema["x"].role == "ignore"
    assert "give all values in one unit" in schema.comments["x"]


def test_letters_behind_numbers_are_no_units():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"Station": rng.choice(["3A", "3B", "4C", "ITS"], 150), "y": rng.normal(size=150)})
    assert draft_schema(frame)["Station"].likelihood == "categorical"
