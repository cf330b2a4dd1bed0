"""Reports of many subtypes: comparisons of pairs stand in one sheet only, and not without end."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.reporting import results
from clinclust.reporting.options import ReportOptions
from clinclust.reporting.sheets import subtypes
from clinclust.reporting.sheets.charts import effect_sizes
from clinclust.reporting.sheets.codebook import tidy_data
from clinclust.reporting.writing import gathered_findings


@pytest.fixture(scope="module")
def findings():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 30)
    frame = pd.DataFrame({f"x{column}": rng.normal(labels * (column + 1), 1.0) for column in range(4)})
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    partition = cc.Partition(labels, schema, made_by="a clinician")
    return gathered_findings(partition, schema.validate(frame), ReportOptions(associations=None))


def rows(sheet):
    return sheet.tables[0].rows


def test_all_pairs_are_shown_where_they_are_few(findings):
    assert len(rows(subtypes.pairwise_tests(findings))) == findings.n_pairwise == 4 * 10
    assert sum(row[0] == "Pairwise test" for row in rows(tidy_data(findings))) == 2 * 40


def test_many_pairs_stand_in_one_sheet_only_and_the_others_say_so(findings, monkeypatch):
    monkeypatch.setattr(results, "_MANY_PAIRS", 39)
    for sheet in (effect_sizes(findings), tidy_data(findings)):
        assert any("40 comparisons of them; the sheet Pairwise tests holds them" in note for note in sheet.notes)
    assert not any(row[0] == "Pairwise test" for row in rows(tidy_data(findings)))
    assert {row[5] for row in rows(effect_sizes(findings))} == {"All others"}
    assert len(rows(subtypes.pairwise_tests(findings))) == 40


def test_of_too_many_pairs_those_that_differ_most_clearly_are_shown(findings, monkeypatch):
    complete = rows(subtypes.pairwise_tests(findings))
    monkeypatch.setattr(subtypes, "_MOST_PAIRS", 15)
    sheet = subtypes.pairwise_tests(findings)
    p_of = [title.title for title in sheet.tables[0].columns].index("p")
    shown = [row[p_of] for row in rows(sheet)]
    assert sorted(shown) == sorted(row[p_of] for row in complete)[: len(shown)]
    assert 0 < len(shown) <= 15
    assert any(note.startswith("Of 40 comparisons, those whose p") for note in sheet.notes)
