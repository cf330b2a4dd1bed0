"""Reports of subtypes that are unions of the groups that a search found, and of those of few subjects.

What they say is one of the texts of `test_texts.py`.
"""

import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, mixed_cohort, quick_fit, schema_of, wild_cohort

import clinclust as cc
from clinclust.reporting.sheets.methods import methods
from clinclust.reporting.sheets.overview import summary

from .conftest import GENERATED
from .stand_in import compared, sections_of, texts_of, write_report

FOUND = 4


@cache
def found():
    frame, schema, _, _ = mixed_cohort(3, n=120, likelihoods=LIKELIHOODS * 2, n_groups=FOUND, missing=0.1)
    model = quick_fit(frame, schema, n_restarts=3)
    assert model.n_clusters_ == FOUND
    return model, schema.validate(frame)


def unions():
    model, frame = found()
    return model.cut(2), frame


def page_of(model, frame, folder, **options):
    return texts_of(write_report(model, frame, folder / "report.html", **options))


def test_one_subtype_that_was_asked_for_is_no_lack_of_evidence(tmp_path):
    model, frame = found()
    page = page_of(model.cut(1), frame, tmp_path)
    assert "one group, no subtypes, made of the 4 groups that the search found" in page
    assert "no evidence of subtypes" not in page


def test_a_shared_report_shows_no_sizes_of_groups(tmp_path):
    """The rule that withholds small counts knows the subtypes only."""
    page = page_of(*unions(), tmp_path, suppress=5)
    assert "made of the 4 groups that the search found" in page
    assert "Which groups are near" not in page
    assert "in subtype 1 (n =" not in page


def test_the_summary_says_both_numbers():
    facts = dict(summary(compared(*unions()), GENERATED).tables[0].rows)
    names = ("Subtypes found", "Subtypes asked for", "Groups found by the search")
    assert [facts[name] for name in names] == [2, 2, FOUND]


FLOOR = 20


@cache
def found_small():
    """Two subtypes, and three small ones that the joint tells apart; the search also found two that are merged."""
    frame = wild_cohort(8).assign(outcome=np.random.default_rng(1).normal(size=182))
    schema = schema_of(frame, outcome={"role": "describe"})
    model = quick_fit(frame, schema, n_restarts=3)
    assert model.cut(None, min_size=FLOOR).cluster_sizes_.tolist()[2:] == [9, 2, 2]
    return model, schema.validate(frame)


def small():
    model, frame = found_small()
    return model.cut(None, min_size=FLOOR), frame


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    path = tmp_path_factory.mktemp("book") / "report.xlsx"
    return sections_of(cc.write_report(*small(), path, progress=False))


def cells(sheet):
    return [str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None]


def test_they_are_described_on_every_sheet_and_tested_on_none(book):
    model, _ = small()
    for name in ("Associations", "Data"):
        note = "Subtypes 3, 4, 5 have few subjects: untested, and no part here, except among all others."
        assert note in " ".join(cells(book[name])), name
    named = "Subtype 3 (9 subjects), Subtype 4 (2 subjects) and Subtype 5 (2 subjects)"
    assert named in " ".join(cells(book["Trust"]))
    few, kinds = {"Subtype 3", "Subtype 4", "Subtype 5"}, set()
    for kind, *row in book["Data"].iter_rows(values_only=True):
        if few & set(row):
            kinds.add(kind)
    assert kinds == {"Summary"}
    marked = [row for row in book["Assignments"].iter_rows(values_only=True) if "few subjects, untested" in row]
    assert len(marked) == model.cluster_sizes_[model.untested_].sum()


@pytest.mark.parametrize("kind", ["student", "welch", "rank"])
def test_the_contrasts_are_those_of_the_other_subjects_alone(kind):
    """The oracle: take the subjects of few out of the cohort, and compare the others."""
    model, frame = small()
    # by default the shape of all values decides
    schema = cc.FeatureSchema([it.model_copy(update={"contrast": kind}) for it in model.schema_])
    comparisons = cc.compare_subtypes(frame, model.labels_, schema, min_size=model.min_size_)
    kept = ~model.untested_[model.labels_]
    alone = cc.compare_subtypes(frame[kept], model.labels_[kept], schema)
    for kind in ("contrast", "test"):
        ours, theirs = (table[table["kind"] == kind].reset_index(drop=True) for table in (comparisons, alone))
        numbers = ["statistic", "df", "p", "q"]
        pd.testing.assert_frame_equal(ours[numbers], theirs[numbers])


def test_the_subtype_table_of_a_model_and_its_report_agree():
    model, frame = small()
    table = cc.subtype_table(model, frame)
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_, min_size=FLOOR)
    assert table.to_html() == cc.subtype_table(comparisons).to_html()
    said = "subtypes 1 and 2 are compared at once; subtypes 3, 4, 5 have few subjects and are untested."
    assert said in table.to_html()


def test_a_larger_floor_of_the_report_holds_too(tmp_path):
    said = page_of(*found_small(), tmp_path, min_size=60)
    assert "Subtypes of fewer than 60 subjects take no part" in said
    assert "No two subtypes have enough subjects, so that nothing is compared." in said
    assert "there are no two subtypes of enough subjects to compare" in said


def test_the_number_that_was_asked_for_is_told_with_the_merging_of_small_groups():
    model, frame = found_small()
    for number, is_merged in ((6, True), (3, False)):
        model = model.cut(number, min_size=FLOOR)
        said = " ".join(methods(compared(model, frame, min_size=FLOOR)).paragraphs.values())
        assert f"The number of subtypes asked for was {number}." in said
        assert "with 8 groups (log joint" in said
        assert ("hardly distinct" in said) == is_merged


@pytest.mark.simulation
def test_a_shared_report_gives_no_floor_and_names_nobody(tmp_path):
    book = sections_of(write_report(*small(), tmp_path / "x.xlsx", suppress=10))
    said = " ".join(text for sheet in book.values() for text in cells(sheet))
    assert "Untested: subtypes of few subjects take no part in tests and effect sizes" in said
    assert "Small groups were merged with another where they were hardly distinct from it." in said
    assert "at once were contrasted" not in said  # every contrast is withheld, and so are the names of the tests
    for word in ("20 subjects", "5 nats", "Few subjects, untested"):
        assert word not in said


# --- associations -----------------------------------------------------------------------------------------------------


def test_validated_associations_leave_them_out():
    model, frame = small()
    quick = {"n_restarts": 3, "progress": False}
    found = cc.validated_associations(model, frame, **quick).set_index("feature")
    asked = cc.validated_associations(model, frame, min_size=3, **quick).set_index("feature")
    pd.testing.assert_frame_equal(found, asked)
    contrast = cc.compare_subtypes(frame, model.labels_, model.schema_, min_size=FLOOR).set_index("feature")
    contrast = contrast[contrast["kind"] == "contrast"].loc["outcome"]
    assert found.loc["outcome", "p"] == contrast["p"]
    assert found.loc["outcome", "n"] == (~model.untested_[model.labels_]).sum()
    free = copy.copy(model).cut(5)
    free = cc.validated_associations(free, frame, **quick).set_index("feature")
    assert free.loc["outcome", "n"] > found.loc["outcome", "n"]
    n_tested = free["n"].drop("outcome").astype(int) - found["n"].drop("outcome").astype(int)
    assert (n_tested >= 0).all()
    assert (n_tested > 0).any()
