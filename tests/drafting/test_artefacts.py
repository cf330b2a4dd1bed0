"""What would make a subtype that is none: limits among other values, two units, factors, and codes for nothing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust import draft_schema
from clinclust.drafting.products import products_of
from clinclust.drafting.ties import spike_of
from clinclust.files.column_notes import ColumnNotes, add_notes
from clinclust.files.limits_in_words import limits_in_words

N = 240


def drafted(cells, name="x"):
    table = pd.DataFrame({name: cells, "other": np.random.default_rng(1).normal(size=len(cells))})
    schema = draft_schema(table, progress=False)
    feature = schema[name]
    values = None if feature.role == "ignore" else schema.validate(table, warn=False)[name]
    return feature, schema.comments[name], values


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("beyond", [0, 1, 4])
@pytest.mark.parametrize(("sign", "limit"), [(">", 90), ("<", 70)])
def test_a_limit_is_a_spike_however_many_values_lie_beyond_it(rng, sign, limit, beyond):
    values = rng.normal(80, 12, N).round()
    is_beyond = values > limit if sign == ">" else values < limit
    is_beyond[np.flatnonzero(is_beyond)[:beyond]] = False
    cells = [f"{sign}{limit}" if is_it else f"{value:.0f}" for value, is_it in zip(values, is_beyond, strict=True)]
    feature, comment, _ = drafted(cells, "eGFR")
    assert (feature.role, feature.likelihood, feature.censored) == ("describe", "gaussian", "half")
    assert "`role: describe` stands here" in comment
    assert "`censored: missing`" in comment


@given(st.integers(0, 10_000), st.sampled_from([0, 1]), st.sampled_from([4.0, 12.0]))
def test_rounded_values_have_no_spike(seed, decimals, spread):
    assert spike_of(np.random.default_rng(seed).normal(80, spread, 300).round(decimals)) is None


@pytest.mark.parametrize(("share", "is_spike"), [(0.02, False), (0.08, True)])
def test_few_equal_values_far_from_all_others_are_a_spike(rng, share, is_spike):
    values = rng.normal(20, 5, 300).round(1)
    values[: int(300 * share)] = 200
    assert (spike_of(values) is not None) == is_spike
    values[: int(300 * share)] = np.sort(values)[-1 - int(300 * share)]  # at the end, but beside others
    assert spike_of(values) is None


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("Größe", lambda rng: np.where(rng.random(N) < 0.3, 1, 100) * rng.normal(1.72, 0.08, N).round(2)),
        ("pct", lambda rng: np.where(rng.random(N) < 0.2, 0.01, 1) * rng.normal(50, 8, N).round()),
        ("weight", lambda rng: np.where(rng.random(N) < 0.2, 2.2046, 1) * rng.normal(75, 10, N)),
    ],
)
def test_a_column_in_two_units_is_left_out_and_told(rng, name, cells):
    feature, comment, _ = drafted(cells(rng).round(2), name)
    assert feature.role == "ignore"
    assert feature.likelihood == "gaussian"
    assert "all values in one unit in the table" in comment


def test_a_declared_number_in_two_units_is_left_out_too(rng):
    cells = np.where(rng.random(N) < 0.2, 2.2046, 1) * rng.normal(75, 10, N)
    table = pd.DataFrame({"weight": cells.round(1).astype(str)})
    add_notes(table, {"weight": ColumnNotes(kind="number")})
    assert draft_schema(table, progress=False)["weight"].role == "ignore"


@scored(
    [
        (lambda value: f"{value / 1000:.1f}x10^3", 100),
        (lambda value: f"{value / 1000:.1f} Tsd", 100),
        (lambda value: f"{value / 1000:.1f}k", 100),
        (lambda value: f"{value / 1000:.1f} × 10³", 1000),
        (lambda value: f"2x{value / 2:.0f}", 1),
    ],
)
def test_a_factor_in_some_cells_is_applied_where_it_is_certain(write, n):
    rng = np.random.default_rng(5)
    values = rng.normal(5000, 700, N).round()
    has_factor = np.arange(N) % 6 == 0
    cells = [write(value) if is_it else f"{value:.0f}" for value, is_it in zip(values, has_factor, strict=True)]
    feature, comment, read = drafted(cells)
    assert feature.unit is None
    assert "`synonyms`" in comment
    assert np.abs(read.to_numpy(dtype=float) - values).max() <= max(n, 100)


@scored(
    [
        ("hcg", "{:.1f} Tsd", "{:.0f}"),
        ("viral load", "{:.0f} Mio", "{:.0f}00"),
        ("wbc", "{:.1f} x10^3", "{:.1f}"),
        ("age", "{:.0f} months", "{:.0f}"),
        ("weight", "{:.1f} lb", "{:.2f}"),
    ],
)
@scored([0.06, 0.3])
def test_bare_numbers_do_not_get_the_unit_of_others(name, few, many, share):
    rng = np.random.default_rng(5)
    values = np.abs(rng.normal(6, 2, N)) + 1
    cells = [(few if draw < share else many).format(value) for value, draw in zip(values, rng.random(N), strict=True)]
    feature, comment, _ = drafted(cells, name)
    assert feature.unit is None
    assert feature.role == "ignore" or feature.missing_codes
    assert "unit" in comment


def test_a_unit_in_some_cells_is_that_of_all_if_the_numbers_are_alike(rng):
    forms = ["{:.1f}"] * 7 + ["{:.1f} kg", "{:.1f} Kg", "{:.1f}kg."]
    values = rng.normal(75, 12, N)
    feature, comment, read = drafted([forms[place % 10].format(value) for place, value in enumerate(values)], "weight")
    assert (feature.unit.casefold(), feature.likelihood) == ("kg", "gaussian")
    assert "168 numbers have no unit" in comment
    assert read.to_numpy(dtype=float) == pytest.approx(values.round(1))


@scored(["über 90", "more than 90", ">>90", "plus de 90", "Más de 90", "più di 90"])
def test_a_limit_in_words_is_read_as_in_signs(words):
    rng = np.random.default_rng(5)
    cells = [words if value > 90 else f"{value:.0f}" for value in rng.normal(75, 12, N)]
    feature, _, read = drafted(cells)
    assert (feature.synonyms, feature.censored) == ({words: ">90"}, "half")
    assert read.notna().all()
    assert read.max() == 90


@scored(["unter 20", "less than 20", "<<20", "moins de 20", "menos de 20", "meno di 20"])
def test_a_lower_limit_in_words_is_read_as_in_signs(words):
    assert limits_in_words(["30", words], np.array([5, 4])) == {words: "<20"}
    assert limits_in_words(["old", words], np.array([5, 4])) == {}


@scored([("o.B.", 0.3, True), ("normal", 0.4, True), ("normal", 0.7, False)])
def test_normal_beside_numbers_is_missing_and_costs_no_column(word, share, is_number):
    rng = np.random.default_rng(5)
    cells = [
        word if draw < share else f"{value:.1f}"
        for draw, value in zip(rng.random(N), rng.normal(50, 9, N), strict=True)
    ]
    feature, comment, _ = drafted(cells, "lvef")
    assert (feature.likelihood == "gaussian") == is_number
    if is_number:
        assert feature.missing_codes == (word,)
        assert "taken for missing" in comment


def test_titres_with_and_without_their_one_are_one_scale(rng):
    cells = [
        f"{'1:' if draw < 0.4 else ''}{step}"
        for draw, step in zip(rng.random(N), rng.choice([40, 80, 160, 320], N), strict=True)
    ]
    feature, comment, read = drafted(cells)
    assert (feature.likelihood, feature.levels) == ("ordinal", ("1:40", "1:80", "1:160", "1:320"))
    assert feature.synonyms["80"] == "1:80"
    assert "read as titres" in comment
    assert read.notna().all()


@scored(
    [("weight_kg", True), ("systolic_bp", True), ("heart_rate", True), ("weight_loss", False), ("x", False)],
)
def test_zeros_are_missing_only_where_nothing_living_has_them(name, is_missing):
    rng = np.random.default_rng(5)
    values = np.where(np.arange(N) % 20 == 0, 0, rng.normal(90, 9, N).round(1))
    feature, comment, _ = drafted(values, name)
    assert ("0" in feature.missing_codes) == is_missing
    assert ("'0': taken for missing" in comment) == is_missing


def test_what_a_factor_means_is_not_guessed():
    assert products_of(["5.1", "4.9", "2.1 Tsd"]) == {}  # the number alone lies among the others
    assert products_of(["152", "300", "8 Mio"]) == {}  # neither does
    assert products_of(["5.1 Tsd", "4.9 Tsd"]) == {}  # all have it
    assert products_of(["50", "40", "2x25"]) == {"2x25": "50"}
