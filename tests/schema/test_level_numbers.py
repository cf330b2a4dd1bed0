"""Levels that are numbers: which they are, and what a reader is shown of a scale."""

from __future__ import annotations

from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clinclust as cc
from clinclust.schema.feature import numbers_of_levels


@pytest.mark.parametrize(
    ("levels", "numbers", "step"),
    [
        (("0", "60", "70", "100"), (0, 60, 70, 100), 10),
        (("0 %", "10 %", "25 %"), (0, 10, 25), 5),
        (("0%", "10 %"), (0, 10), 10),
        (("1", "1.5", "2", "4"), (1, 1.5, 2, 4), 0.5),
        (("0,9", "1,0", "1,3"), (0.9, 1.0, 1.3), 0.1),
        (("4", "3", "1"), (4, 3, 1), 1),
        (("\N{MINUS SIGN}2", "0", "+2"), (-2, 0, 2), 2),
        (("Grade 1", "Grade 2", "Grade 4"), (1, 2, 4), 1),
        (("F0", "F1", "F2"), (0, 1, 2), 1),
        (("NYHA I", "NYHA II", "NYHA IV"), (1, 2, 4), 1),
        (("I", "II", "III"), (1, 2, 3), 1),
    ],
)
def test_levels_that_are_numbers_are_these_numbers(levels, numbers, step):
    found = numbers_of_levels(levels)
    assert found.numbers == numbers
    assert found.step == pytest.approx(step, abs=0)
    assert found.ends == (min(numbers), max(numbers))


@pytest.mark.parametrize(
    "levels",
    [
        ("none", "mild", "severe"),
        ("0", "1", "2+"),
        ("0-5", "6-10", "11-20"),
        ("1", "3", "2"),
        ("1", "1.0", "2"),
        ("<5", "5", "10"),
        ("I", "II", "unknown"),
        ("Grade 1", "Stage 2"),
        ("1a", "1b", "2a"),
        ("one",),
        ("5",),
    ],
)
def test_levels_that_are_not_all_numbers_of_one_kind_are_words(levels):
    assert numbers_of_levels(levels) is None


@given(st.sets(st.integers(-999, 999), min_size=2, max_size=12), st.integers(0, 2))
def test_every_number_is_whole_steps_above_the_lowest(numbers, decimals):
    written = [f"{number / 10**decimals:.{decimals}f}" for number in sorted(numbers)]
    found = numbers_of_levels(tuple(written))
    assert found.numbers == tuple(map(float, written))
    steps = (np.array(found.numbers) - found.ends[0]) / found.step
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    assert np.gcd.reduce(np.rint(steps).astype(int)) == 1


def test_a_reader_is_shown_the_numbers_and_the_model_the_ranks():
    estrogen = cc.Feature(name="er", likelihood="ordinal", levels=["0", "60", "70"], unit="%")
    column = pd.Series(["70", None, "0"], dtype=pd.CategoricalDtype(["0", "60", "70"], ordered=True))
    np.testing.assert_array_equal(estrogen.scores(column), [2, np.nan, 0])
    np.testing.assert_array_equal(estrogen.described(column), [70, np.nan, 0])
    assert (estrogen.ends, estrogen.scored) == ((0, 70), None)


@pytest.mark.parametrize(
    ("fields", "ends", "told"),
    [
        ({"likelihood": "ordinal", "levels": ["none", "mild", "severe"]}, (0, 2), "0 (none)–2 (severe)"),
        ({"likelihood": "binomial", "minimum": 1, "maximum": 4}, (1, 4), None),
        ({"likelihood": "binomial", "trials": 4}, (0, 4), None),
        ({"likelihood": "binomial", "levels": ["1", "1.5", "2"]}, (1, 2), None),
        ({"likelihood": "categorical", "levels": ["1", "2"]}, None, None),
        ({"likelihood": "gaussian"}, None, None),
    ],
)
def test_the_ends_of_a_scale_are_told_as_its_column_writes_them(fields, ends, told):
    feature = cc.Feature(name="x", **fields)
    assert (feature.ends, feature.scored) == (ends, told)


@pytest.fixture
def two_scales():
    """Two subtypes of 50: oestrogen receptors in percent, and a severity in words."""
    rng = np.random.default_rng(0)
    low = np.repeat([True, False], 50)
    levels, words = ["0", "60", "70", "80", "90", "100"], ["none", "slight", "mild", "moderate", "marked", "severe"]
    frame = pd.DataFrame(
        {
            "er": np.where(low, rng.choice(levels[:3], 100), rng.choice(levels[3:], 100)),
            "severity": np.where(low, rng.choice(words[:2], 100), rng.choice(words[2:], 100)),
        }
    )
    schema = cc.FeatureSchema(
        [
            cc.Feature(name="er", label="ER in %", likelihood="ordinal", levels=levels),
            cc.Feature(name="severity", label="Severity", likelihood="ordinal", levels=words),
        ]
    )
    return frame, low, schema


def test_the_subtype_table_prints_levels_and_says_what_scores_are(two_scales):
    frame, low, schema = two_scales
    numbers = frame["er"].astype(float)
    table = cc.subtype_table(cc.compare_subtypes(frame, 1 - low.astype(int), schema)).to_html()
    line = next(line for line in unescape(table).split("<tr>") if "ER in %" in line)
    for rows in (slice(None), low, ~low):
        q1, median, q3 = np.quantile(numbers[rows], (0.25, 0.5, 0.75))
        assert f"{median:g} [{q1:g}, {q3:g}]" in line
    assert "Severity, 0 (none)–5 (severe), mean (SD)" in unescape(table)


def test_page_and_workbook_print_levels_and_say_what_scores_are(two_scales, tmp_path):
    import openpyxl

    frame, low, schema = two_scales
    given = cc.Partition(1 - low.astype(int), schema, made_by="a clinician")
    for name in ("subtypes.html", "subtypes.xlsx"):
        cc.write_report(given, frame, tmp_path / name, progress=False)
    page = (tmp_path / "subtypes.html").read_text(encoding="utf-8")
    numbers = frame["er"].astype(float)
    assert f"↑ER in %, {numbers[~low].median():.0f} ({numbers.median():.0f})" in page
    assert "Severity, 0 (none)–5 (severe)" in page
    rows = list(openpyxl.load_workbook(tmp_path / "subtypes.xlsx")["Data"].values)
    cells = [cell for row in rows if "ER in %" in row and row[0] == "Summary" for cell in row]
    assert any(isinstance(cell, (int, float)) and cell == pytest.approx(numbers[low].mean()) for cell in cells)
