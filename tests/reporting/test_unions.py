"""Reports of subtypes that are unions: what was asked for is said, and nothing of the groups is called a subtype."""

from html.parser import HTMLParser

import numpy as np
import openpyxl
import pytest
from cohorts import LIKELIHOODS, mixed_cohort, with_groups

import clinclust as cc
from clinclust.reporting.findings import Findings
from clinclust.reporting.sheets.methods import methods

FOUND = 4


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(3, n=120, likelihoods=LIKELIHOODS * 2, n_groups=FOUND, missing=0.1)
    model = cc.MAPDP.as_published(schema, n_restarts=3, random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ == FOUND
    return model, schema.validate(frame)


class Words(HTMLParser):
    """The text of a page and the words for figures, in one line."""

    def __init__(self, page):
        super().__init__()
        self.parts = []
        self.feed(page)
        self.text = " ".join(" ".join(self.parts).split())

    def handle_data(self, data):
        self.parts.append(data)

    def handle_starttag(self, tag, attrs):
        self.parts.append(dict(attrs).get("aria-label") or "")


def page_of(model, frame, folder, **options):
    path = cc.write_report(model, frame, folder / "report.html", associations=None, progress=False, **options)
    return Words(path.read_text(encoding="utf-8")).text


def methods_of(model, frame):
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_)
    return " ".join(methods(Findings(model, frame, comparisons, 0.01)).paragraphs.values())


def test_first_page_and_methods_say_what_was_asked_for(fitted, tmp_path):
    model, frame = fitted
    cut = model.cut(2)
    words = "as asked for: unions of the 4 groups that the search found"
    page, written = page_of(cut, frame, tmp_path), methods_of(cut, frame)
    assert f"Found: 2 subtypes, {words}, among 120 subjects" in page
    assert f"The number of subtypes is 2, {words}. Groups were merged" in written
    assert "whose number of groups follows from the data" in written
    sizes = " and ".join(map(str, cut.cluster_sizes_))
    assert (
        f"4 groups (log joint −{-model.log_joint_:.2f} nats), which make up 2 subtypes of {sizes} subjects" in written
    )
    assert "ended at the groups that these subtypes are made of" in page
    assert "whose number of subtypes follows" not in written


def test_a_report_of_the_fit_itself_does_not_speak_of_groups(fitted, tmp_path):
    model, frame = fitted
    page, written = page_of(model, frame, tmp_path), methods_of(model, frame)
    for word in ("asked for", "unions", "groups that"):
        assert word not in page + written
    asked = model.cut(FOUND)
    assert "Found: 4 subtypes, as many as asked for, among 120" in page_of(asked, frame, tmp_path)
    assert "The number of subtypes is 4, as many as asked for." in methods_of(asked, frame)


def test_one_subtype_that_was_asked_for_is_no_lack_of_evidence(fitted, tmp_path):
    model, frame = fitted
    page = page_of(model.cut(1), frame, tmp_path)
    assert "one group, no subtypes, as asked for: the union of the 4 groups that the search found" in page
    assert "no evidence of subtypes" not in page


def test_unions_that_nobody_asked_for_by_number_are_told_as_unions(fitted, tmp_path):
    model, frame = fitted
    merged = with_groups(model, [0, 0, 1, 2])
    page = page_of(merged, frame, tmp_path)
    assert "Found: 3 subtypes: unions of the 4 groups that the search found, among 120" in page


def test_the_tree_shows_the_groups_and_their_subtypes(fitted, tmp_path):
    model, frame = fitted
    cut = model.cut(2)
    ax = cc.plot_tree(cut)
    ticks = {label.get_text() for label in ax.get_yticklabels()}
    sizes = np.bincount(model.labels_)
    assert ticks == {
        f"group {group + 1} in subtype {subtype + 1} (n = {sizes[group]})"
        for group, subtype in enumerate(cut.subtype_of_)
    }
    page = page_of(cut, frame, tmp_path)
    told = ", ".join(str(subtype + 1) for subtype in cut.subtype_of_)
    assert f"Tree of 4 groups; their subtypes, in order: {told}." in page
    assert "Which groups are near each other" in page


def test_a_shared_report_shows_no_sizes_of_groups(fitted, tmp_path):
    """The rule that withholds small counts knows the subtypes only."""
    model, frame = fitted
    page = page_of(model.cut(2), frame, tmp_path, suppress=5)
    assert "unions of the 4 groups that the search found" in page
    assert "Tree of" not in page
    assert "in subtype 1 (n =" not in page


def test_the_workbook_says_both_numbers(fitted, tmp_path):
    model, frame = fitted
    path = cc.write_report(model.cut(2), frame, tmp_path / "report.xlsx", associations=None, progress=False)
    rows = list(openpyxl.load_workbook(path)["Summary"].iter_rows(values_only=True))
    facts = {row[0]: row[1] for row in rows if row[0]}
    assert facts["Number of subtypes"] == "2, as asked for: unions of the 4 groups that the search found"
    assert facts["Groups found by the search"] == FOUND
    assert "Subtypes found" not in facts
    assert any("Groups" in row for row in rows)


def test_the_methods_say_that_refits_are_brought_to_as_many_subtypes(fitted):
    model, frame = fitted
    for one in (model, model.cut(2)):
        associations = cc.validated_associations(one, frame, n_restarts=2, progress=False)
        comparisons = cc.compare_subtypes(frame, one.labels_, one.schema_)
        findings = Findings(one, frame, comparisons, 0.01, associations)
        said = f"Each search was brought to {one.n_clusters_} subtypes: more groups were merged along their tree"
        assert said in methods(findings).paragraphs["Associations"]
