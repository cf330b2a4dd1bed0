"""In a report with rounded counts every count is a multiple, and it says what it leaves out."""

from __future__ import annotations

import re

import pytest

from .conftest import GENERATED
from .stand_in import cohort, fitted, write_report
from .test_sharing import is_number, tables_of_page, tables_of_workbook

BASE = 5
COUNTS = {"Subjects", "n", "missing", "count", "Observed", "Missing", "Missing,<br>n", "Missing,\nn", "Count"}
"""The headings of columns of counts."""
HEADINGS = {"Feature", "Subtype", "Column", "Item"}
IN_TEXTS = re.compile(r"n = ([\d,]+)|([\d,]+) subjects|([\d,]+) \([\d.]+%\)")


@pytest.fixture(scope="module", params=["xlsx", "html"])
def reports(request, tmp_path_factory):
    """The tables of a report with rounded counts, and of one with small counts withheld."""
    frame, schema, labels = cohort(240)
    model = fitted(schema, labels, kept_out={"dementia": "the same value in every subject observed"})
    read = tables_of_workbook if request.param == "xlsx" else tables_of_page
    found = []
    for options in ({"round_to": BASE}, {}):
        path = tmp_path_factory.mktemp("rounded") / f"report.{request.param}"
        found.append(read(write_report(model, frame, path, suppress=10, generated=GENERATED, **options)))
    return found


def counts_in(tables):
    """Every number in a column of counts or in a text about subjects, with its sheet."""
    found = []
    for sheet, rows in tables.items():
        places = []
        for row in rows:
            texts = " ".join(cell for cell in row if isinstance(cell, str))
            found += [(sheet, int("".join(pair).replace(",", ""))) for pair in IN_TEXTS.findall(texts)]
            if HEADINGS & set(row):
                places = [place for place, cell in enumerate(row) if cell in COUNTS]
            else:
                cells = [row[place] for place in places if place < len(row)]
                found += [(sheet, cell) for cell in cells if is_number(cell)]
    return found


def test_every_count_is_a_multiple(reports):
    rounded, withheld = map(counts_in, reports)
    assert {(sheet, number) for sheet, number in rounded if number % BASE} == set()
    assert {"Overview", "Subtype table"} <= {sheet for sheet, _ in rounded}
    assert len(rounded) > 50
    assert sum(number % BASE != 0 for _, number in withheld) > 5


def test_what_is_a_function_of_exact_counts_is_left_out(reports):
    rounded, withheld = reports
    assert "Pairwise tests" not in rounded
    text = {
        name: " ".join(str(cell) for rows in tables.values() for row in rows for cell in row)
        for name, tables in (("rounded", rounded), ("withheld", withheld))
    }
    for said in ("Benjamini", "Student"):
        assert said in text["withheld"]
        assert said not in text["rounded"]
    notes = " ".join(str(row[0]) for row in rounded["Withheld"])
    assert "Every count is rounded to the nearest multiple of 5" in notes
    assert "effect sizes" in notes
