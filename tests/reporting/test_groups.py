"""Reports of subtypes that are unions of the groups that a search found, and of those of few subjects."""

import copy

import numpy as np
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, mixed_cohort, with_groups

import clinclust as cc
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.reporting.assignments import assignment_table, tabulate_assignments
from clinclust.reporting.findings import Findings
from clinclust.reporting.sheets.methods import methods
from reporting.stand_in import sections_of

from .stand_in import texts_of

FOUND = 4


@pytest.fixture(scope="module")
def fitted():
    frame, schema, _, _ = mixed_cohort(3, n=120, likelihoods=LIKELIHOODS * 2, n_groups=FOUND, missing=0.1)
    model = cc.methods.PublishedMAPDP(schema, n_restarts=3, random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ == FOUND
    return model, schema.validate(frame)


def page_of(model, frame, folder, **options):
    options = {"associations": None, "progress": False, "overwrite": True} | options
    path = cc.write_report(model, frame, folder / "report.html", **options)
    return texts_of(path)


def methods_of(model, frame):
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_)
    return " ".join(methods(Findings(FittedCohort(model, frame), comparisons, 0.01)).paragraphs.values())


def test_first_page_methods_and_tree_say_what_was_asked_for(fitted, tmp_path):
    model, frame = fitted
    cut = model.cut(2)
    page, written = page_of(cut, frame, tmp_path), methods_of(cut, frame)
    assert "Found: 2 subtypes, made of the 4 groups that the search found, among 120 subjects" in page
    assert "The number of subtypes asked for was 2. Subtypes are made of the 4 groups" in written
    assert "whose number of groups follows from the data" in written
    sizes = " and ".join(map(str, cut.cluster_sizes_))
    joint = f"4 groups (log joint −{-model.log_joint_:.2f} nats)"
    assert f"{joint}, which make up 2 subtypes of {sizes} subjects" in written
    assert "ended at the groups that these subtypes are made of" in page
    assert "whose number of subtypes follows" not in written
    assert "Which groups are near each other" in page
    ticks = {label.get_text() for label in cc.plots.plot_tree(cut).get_yticklabels()}
    assert ticks == {
        f"group {group + 1} in Subtype {subtype + 1} (n = {size})"
        for group, (size, subtype) in enumerate(zip(np.bincount(model.labels_), cut.subtype_of_, strict=True))
    }


@pytest.mark.simulation
def test_a_report_of_the_fit_itself_does_not_speak_of_groups(fitted, tmp_path):
    model, frame = fitted
    page, written = page_of(model, frame, tmp_path), methods_of(model, frame)
    for word in ("asked for", "groups that"):
        assert word not in page + written
    asked = model.cut(FOUND)
    assert "Found: 4 subtypes, among 120" in page_of(asked, frame, tmp_path)
    assert "The number of subtypes asked for was 4." in methods_of(asked, frame)


def test_one_subtype_that_was_asked_for_is_no_lack_of_evidence(fitted, tmp_path):
    model, frame = fitted
    page = page_of(model.cut(1), frame, tmp_path)
    assert "one group, no subtypes, made of the 4 groups that the search found" in page
    assert "no evidence of subtypes" not in page


def test_unions_that_nobody_asked_for_by_number_are_told_as_unions(fitted, tmp_path):
    model, frame = fitted
    merged = with_groups(model, [0, 0, 1, 2])
    page = page_of(merged, frame, tmp_path)
    assert "Found: 3 subtypes, made of the 4 groups that the search found, among 120" in page


def test_a_shared_report_shows_no_sizes_of_groups(fitted, tmp_path):
    """The rule that withholds small counts knows the subtypes only."""
    model, frame = fitted
    page = page_of(model.cut(2), frame, tmp_path, suppress=5)
    assert "made of the 4 groups that the search found" in page
    assert "Which groups are near" not in page
    assert "in subtype 1 (n =" not in page


@pytest.mark.simulation
def test_the_workbook_says_both_numbers(fitted, tmp_path):
    model, frame = fitted
    path = cc.write_report(model.cut(2), frame, tmp_path / "report.xlsx", associations=None, progress=False)
    rows = list(sections_of(path)["Summary"].iter_rows(values_only=True))
    facts = {row[0]: row[1] for row in rows if row[0]}
    names = ("Subtypes found", "Subtypes asked for", "Groups found by the search")
    assert [facts[name] for name in names] == [2, 2, FOUND]


@pytest.mark.simulation
def test_the_methods_say_that_refits_are_brought_to_as_many_subtypes(fitted):
    model, frame = fitted
    for one in (model, model.cut(2)):
        associations = cc.validated_associations(one, frame, n_restarts=2, progress=False)
        comparisons = cc.compare_subtypes(frame, one.labels_, one.schema_)
        findings = Findings(FittedCohort(one, frame), comparisons, 0.01, associations)
        said = f"Each search was brought to {one.n_clusters_} subtypes: more groups were merged along their tree"
        assert said in methods(findings).paragraphs["Associations"]


FLOOR = 20
QUICK = {"associations": None, "progress": False}
NAMED = "Few subjects, untested: Subtype 3 (9 subjects), Subtype 4 (2 subjects) and Subtype 5 (2 subjects)."


@pytest.fixture(scope="module")
def fitted_small():
    """Two subtypes, and three small ones that the joint tells apart; the search also found two that are merged."""
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(mean, 1, (n, 5)) for mean, n in ((0, 120), (3, 60), (12, 2))])
    values[rng.random(values.shape) < 0.01] *= 8
    frame = pd.DataFrame(values, columns=list("abcde")).assign(outcome=rng.normal(size=182))
    roles = {name: "describe" if name == "outcome" else "cluster" for name in frame}
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian", role=roles[name]) for name in frame])
    model = cc.methods.PublishedMAPDP(schema, n_restarts=3, random_state=0, progress=False).fit(frame)
    assert model.cut(None, min_size=FLOOR).cluster_sizes_.tolist()[2:] == [9, 2, 2]
    return model, schema.validate(frame)


@pytest.fixture(scope="module")
def small(fitted_small):
    model, frame = fitted_small
    return model.cut(None, min_size=FLOOR), frame


@pytest.fixture(scope="module")
def page(small, tmp_path_factory):
    return texts_of(cc.write_report(*small, tmp_path_factory.mktemp("page") / "report.html", **QUICK))


@pytest.fixture(scope="module")
def book(small, tmp_path_factory):
    path = tmp_path_factory.mktemp("book") / "report.xlsx"
    return sections_of(cc.write_report(*small, path, progress=False))


def cells(sheet):
    return [str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None]


@pytest.mark.simulation
def test_the_first_page_names_them_and_says_what_that_means(page, book):
    merged = "Groups of fewer than 20 subjects were merged with another where they were hardly distinct from it"
    for said in (page, " ".join(cells(book["Trust"]))):
        assert NAMED in said
        assert "Subtypes of fewer than 20 subjects take no part in tests and effect sizes, except among" in said
        assert merged in said
    assert "Found: 5 subtypes, made of the 8 groups that the search found" in page
    assert page.count("may be unusual subjects rather than") == 0  # said once is enough


def test_they_are_described_on_every_sheet_and_tested_on_none(small, book):
    model, _ = small
    for name in ("Associations", "Data"):
        note = "Subtypes 3, 4, 5 have few subjects: untested, and no part here, except among all others."
        assert note in " ".join(cells(book[name])), name
    few, kinds = {"Subtype 3", "Subtype 4", "Subtype 5"}, set()
    for kind, *row in book["Data"].iter_rows(values_only=True):
        if few & set(row):
            kinds.add(kind)
    assert kinds == {"Summary"}
    marked = [row for row in book["Assignments"].iter_rows(values_only=True) if "few subjects, untested" in row]
    assert len(marked) == model.cluster_sizes_[model.untested_].sum()


@pytest.mark.parametrize("kind", ["student", "welch", "rank"])
def test_the_contrasts_are_those_of_the_other_subjects_alone(kind, small):
    """The oracle: take the subjects of few out of the cohort, and compare the others."""
    model, frame = small
    # by default the shape of all values decides
    schema = cc.FeatureSchema([it.model_copy(update={"contrast": kind}) for it in model.schema_])
    comparisons = cc.compare_subtypes(frame, model.labels_, schema, min_size=model.min_size_)
    kept = ~model.untested_[model.labels_]
    alone = cc.compare_subtypes(frame[kept], model.labels_[kept], schema)
    for kind in ("contrast", "test"):
        ours, theirs = (table[table["kind"] == kind].reset_index(drop=True) for table in (comparisons, alone))
        numbers = ["statistic", "df", "p", "q"]
        pd.testing.assert_frame_equal(ours[numbers], theirs[numbers])


def test_the_subtype_table_of_a_model_and_its_report_agree(small):
    model, frame = small
    table = cc.subtype_table(model, frame)
    comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_, min_size=FLOOR)
    assert table.to_html() == cc.subtype_table(comparisons).to_html()
    said = "subtypes 1 and 2 are compared at once; subtypes 3, 4, 5 have few subjects and are untested."
    assert said in table.to_html()


def test_a_larger_floor_of_the_report_holds_too(fitted_small, tmp_path):
    model, frame = fitted_small
    path = cc.write_report(model, frame, tmp_path / "x.html", min_size=60, **QUICK)
    said = texts_of(path)
    assert "Subtypes of fewer than 60 subjects take no part" in said
    assert "No two subtypes have enough subjects, so that nothing is compared." in said
    assert "there are no two subtypes of enough subjects to compare" in said


def test_methods_say_what_was_done(small, fitted_small):
    def written(model, frame):
        comparisons = cc.compare_subtypes(frame, model.labels_, model.schema_, min_size=max(3, model.min_size_))
        findings = Findings(FittedCohort(model, frame), comparisons, 0.01, min_size=max(3, model.min_size_))
        return " ".join(methods(findings).paragraphs.values())

    said = written(*small)
    assert "Subtypes are made of the 8 groups that the search found" in said
    assert "Groups of fewer than 20 subjects were merged with another" in said
    assert "lowered the log joint by less than 5 nats" in said
    assert "All subtypes of at least 20 subjects at once were contrasted by" in said
    assert "Smaller subtypes were not tested." in said
    model, frame = fitted_small
    asked = written(model.cut(6, min_size=FLOOR), frame)
    assert "The number of subtypes asked for was 6. Subtypes are made of the 8 groups" in asked
    kept = written(model.cut(3, min_size=FLOOR), frame)
    assert "The number of subtypes asked for was 3." in kept
    assert "hardly distinct" not in kept


def test_a_report_without_few_subjects_says_nothing_of_them(fitted_small, tmp_path):
    model, frame = fitted_small
    path = cc.write_report(model.cut(2), frame, tmp_path / "x.html", **QUICK)
    said = texts_of(path)
    assert "few subjects, untested" not in said.replace("Subtypes of few subjects, untested none", "")
    assert "All subtypes at once were contrasted" in said
    for word in ("hardly distinct", "no part here", "Untested:"):
        assert word not in said
    assert "Remark" not in said


@pytest.mark.simulation
def test_a_shared_report_gives_no_floor_and_names_nobody(small, tmp_path):
    book = sections_of(cc.write_report(*small, tmp_path / "x.xlsx", suppress=10, **QUICK))
    said = " ".join(text for sheet in book.values() for text in cells(sheet))
    assert "Untested: subtypes of few subjects take no part in tests and effect sizes" in said
    assert "Small groups were merged with another where they were hardly distinct from it." in said
    assert "at once were contrasted" not in said  # every contrast is withheld, and so are the names of the tests
    for word in ("20 subjects", "5 nats", NAMED[:20], "few subjects, untested"):
        assert word not in said


# --- tables of subjects, notebook, associations -----------------------------------------------------------------------


def test_assignments_say_who_is_one_of_few(small, fitted_small):
    model, frame = small
    table = tabulate_assignments(FittedCohort(model, frame))
    assert (table["few_subjects"] == "yes").tolist() == model.untested_[model.labels_].tolist()
    labels = np.array([-1, 0, 4])  # a new subject of none of these is not one of few
    new = assignment_table(
        frame.head(3),
        model.schema_,
        labels,
        model.membership_[:3],
        np.zeros(3),
        np.array([True, True, True]),
        described_only=model.untested_,
    )
    assert new["few_subjects"].tolist() == ["no", "no", "yes"]
    plain = tabulate_assignments(FittedCohort(*fitted_small))
    assert set(plain["few_subjects"]) == {"no"}
    assert plain.columns.tolist()[:6] == table.columns.tolist()[:6]


def test_validated_associations_leave_them_out(small):
    model, frame = small
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
