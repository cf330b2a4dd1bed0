"""The notation of journals: of a subtype table, in every file that it is saved as, and of that of a report only."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside

import clinclust as cc
from clinclust.data import Style, data

from .conftest import GENERATED
from .stand_in import sections_of, write_report
from .test_languages import numbers_in, words_of


@pytest.fixture(scope="module")
def comparisons():
    rows, rise = np.arange(12_400), np.linspace(0, 1, 12_400)
    frame = pd.DataFrame({"smoker": np.where(rows % 8 < 3, "yes", "no"), "change": (4 * rise - 3).round(1)})
    frame["crp"] = (1 + rise**3 * 8 + 2 * (rows % 10 == 0)).round(1)
    frame["age"] = (40 + 30 * rise).round()
    schema = [cc.Feature(name="smoker", likelihood="bernoulli", levels=("no", "yes"))]
    schema += [cc.Feature(name=name, likelihood="gaussian", contrast="rank") for name in ("crp", "change")]
    schema = cc.FeatureSchema([*schema, cc.Feature(name="age", likelihood="gaussian")])
    return cc.compare_subtypes(frame, (rows % 10 == 0).astype(int), schema)


@pytest.mark.parametrize(("asked", "headings", "cells", "median"), cases_beside(__file__, "notations"))
def test_every_file_of_a_table_has_the_notation(asked, headings, cells, median, comparisons, tmp_path):
    columns, medians = ["all", "smd", "p"], {"crp": "median", "change": "median"}
    table = cc.subtype_table(comparisons, columns=columns, summaries=medians, **asked)
    smoker, crp, change, age = ([cell.text for cell in row.cells] for row in table.rows)
    assert [smoker[0], crp[0], change[0], *crp[1:], age[2]] == cells.split("|")
    assert [table.headings[0].lines[1], table.headings[-1].text] == headings.split("|")
    assert (table.rows[1].label.text, table.to_frame()["Summary"][1]) == (f"crp, {median}", median)
    for suffix in ("docx", "xlsx", "html"):
        texts = "|".join(words_of(table.save(tmp_path / f"t.{suffix}")))
        assert [text for text in (*cells.split("|")[:3], f"crp, {median}") if text not in texts] == [], suffix
    assert cells.split("|")[1] in table.save(tmp_path / "t.csv").read_text(encoding="utf-8")


def test_a_style_of_a_report_is_that_of_its_subtype_table_and_numbers_stay_numbers(model, frame, tmp_path):
    asked = {"generated": GENERATED, "style": "lancet"}
    book = write_report(model, frame, tmp_path / "a.xlsx", **asked)
    assert numbers_in(book) == numbers_in(write_report(model, frame, tmp_path / "b.xlsx", generated=GENERATED))
    styled = {name for name, rows in sections_of(book).items() if any("·" in str(c.value) for r in rows for c in r)}
    assert styled == {"Subtype table"}
    page = write_report(model, frame, tmp_path / "a.html", **asked).read_text(encoding="utf-8")
    before, _, after = page.partition('<section id="subtype-table">')
    assert ("·" in before, "·" in after.partition("</section>")[0]) == (False, True)


def test_styles_are_complete_have_sources_and_others_are_refused(comparisons):
    usual, journals = data("styles")["usual"], data("styles")["journals"]
    assert list(journals) == list(get_args(Style))
    assert all(set(rules) - {"sources"} <= set(usual) and rules["sources"] for rules in journals.values())
    with pytest.raises(ValueError, match="'jama' or 'lancet' or 'nejm' or 'bmj', not 'nature'; decimal must be"):
        cc.subtype_table(comparisons, style="nature", decimal=";")
