"""The table of instruments holds possible ranges, each name once, and every name is recognised."""

import math

import numpy as np
import pandas as pd
import pytest
from scored import scored

import clinclust as cc
from clinclust.drafting.instruments import instrument_of
from clinclust.drafting.instruments.recognition import _SPECIALTIES
from clinclust.drafting.names import words_of

LINES = [line for specialty in _SPECIALTIES for line in specialty.LISTED.strip().splitlines()]


NAMES = [(name.strip(), ends) for names, ends in (line.rsplit(":", 1) for line in LINES) for name in names.split("|")]


def test_every_range_is_possible_and_every_step_divides_it():
    for line in LINES:
        low, high, step = map(float, line.rsplit(":", 1)[1].split())
        assert low < high, line
        assert step == 0 or math.isclose((high - low) / step, round((high - low) / step)), line


def test_no_name_is_listed_with_two_ranges():
    known = {}
    for name, ends in NAMES:
        assert known.setdefault(tuple(words_of(name)), ends) == ends, name


@scored(NAMES)
@scored(["{}", "{} total", "{}_score", "{} baseline"])
def test_every_name_is_recognised_as_a_total(name, ends, write):
    found = instrument_of(write.format(name))
    assert found is not None
    if write == "{}":
        assert [found.low, found.high, found.step] == [float(end) for end in ends.split()]


@scored([("MoCA", 30), ("IPSS_totaal", 35), ("ESAS nausées", 10), ("Neuropatia (grado CTCAE)", 5)])
def test_capitals_words_of_a_total_and_symptoms_stand_beside_a_name(name, high):
    assert instrument_of(name).high == high


def test_a_total_of_enough_subjects_is_a_scale_and_of_few_a_measurement():
    rng = np.random.default_rng(0)
    for n, likelihood in ((60, "gaussian"), (120, "ordinal")):
        totals = rng.binomial(40, 1 / (1 + np.exp(-rng.normal(0, 1, n))))
        schema = cc.draft_schema(pd.DataFrame({"SDQ total": totals, "x": rng.normal(size=n)}))
        assert schema["SDQ total"].likelihood == likelihood


def test_a_name_of_a_score_is_no_count_and_says_so():
    rng = np.random.default_rng(1)
    totals = rng.binomial(48, 1 / (1 + np.exp(1.2 - rng.normal(0, 1, 300))))
    schema = cc.draft_schema(pd.DataFrame({"punteggio": totals, "x": rng.normal(size=300)}))
    assert schema["punteggio"].likelihood == "ordinal"
    assert "by its name the score of an instrument" in schema.comments["punteggio"]


@scored(
    [
        ("EQ5D_VAS", "EQ 5 D VAS", (0, 100, 0)),
        ("EQ VAS", "EQ VAS", (0, 100, 0)),
        ("EQ-5D-5L VAS", "EQ 5 D 5 L VAS", (0, 100, 0)),
        ("SF36 PCS", "SF 36 PCS", (0, 100, 0)),
        ("Glasgow Coma Scale", "GLASGOW COMA", (3, 15, 1)),
        ("GCS total", "GCS", (3, 15, 1)),
        ("GCS motor", "GCS MOTOR", (1, 6, 1)),
        ("mRS", "MRS", (0, 6, 1)),
        ("NIHSS", "NIHSS", (0, 42, 1)),
        ("MMSE", "MMSE", (0, 30, 1)),
        ("MoCA", "MOCA", (0, 30, 1)),
        ("HAQ", "HAQ", (0, 3, 0.125)),
        ("DAS28", "DAS 28", (0, 10, 0)),
        ("BASDAI", "BASDAI", (0, 10, 0)),
        ("Barthel", "BARTHEL", (0, 100, 5)),
        ("ECOG", "ECOG", (0, 5, 1)),
        ("Karnofsky", "KARNOFSKY", (0, 100, 10)),
        ("APGAR", "APGAR", (0, 10, 1)),
        ("HADS-D", "HADS D", (0, 21, 1)),
        ("PHQ-9", "PHQ 9", (0, 27, 1)),
        ("GAD-7", "GAD 7", (0, 21, 1)),
        ("AUDIT", "AUDIT", (0, 40, 1)),
        ("ISI", "ISI", (0, 28, 1)),
        ("ESS", "ESS", (0, 24, 1)),
        ("FSS", "FSS", (1, 7, 0)),
        ("FSS total", "FSS TOTAL", (9, 63, 1)),
        ("VAS pain", "VAS PAIN", (0, 100, 0)),
    ],
)
def test_an_instrument_is_called_what_the_column_says_and_has_its_own_ends(name, called, ends):
    found = instrument_of(name)
    assert (found.called, (found.low, found.high, found.step)) == (called, ends)


@pytest.mark.parametrize(("high", "step"), [(10, 1.0), (100, 0.0)])
def test_a_visual_analogue_scale_ends_where_its_values_do(high, step):
    values = np.random.default_rng(2).integers(0, high + 1, 150).astype(float)
    used = instrument_of("VAS pain").in_use(values)
    assert (used.high, used.step) == (high, step)
