"""What a report says of the model: the sheet Likelihoods, and the sentences of Trust."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit

import clinclust as cc
from clinclust.disclosure.counts import Rule
from clinclust.reporting.findings import Findings
from clinclust.reporting.report import as_shared, summarise_fit
from clinclust.reporting.sheets.model_check import likelihoods_sheets, on_likelihoods

from .stand_in import compared, sections_of, texts_of, words_in, write_report

FORMULA, MARKUP = "=1+1", "<b>stay</b>"
MISFIT = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")


def cohort(depend):
    """Two groups in four features; the names of two more that may depend on each other are a formula and markup."""
    rng = np.random.default_rng(0)
    means = np.repeat([0.0, 4.0], [90, 60])
    frame = pd.DataFrame({name: rng.normal(means, 1.0) for name in "abcd"})
    common = depend * rng.normal(size=150)
    return frame.assign(**{name: common + 0.5 * rng.normal(size=150) for name in (FORMULA, MARKUP)})


def fitted(frame, **declared):
    features = [cc.Feature(name=name, **declared.get(name, {"likelihood": "gaussian"})) for name in frame]
    return quick_fit(frame, cc.FeatureSchema(features))


@pytest.fixture(scope="module")
def dependent():
    frame = cohort(1.0)
    return fitted(frame), frame


@pytest.mark.simulation
def test_dependence_is_told_where_there_is_some_and_not_in_a_shared_report(dependent, tmp_path):
    model, frame = dependent
    page = write_report(model, frame, tmp_path / "x.html").read_text(encoding="utf-8")
    assert MARKUP not in page  # it stays text
    words = words_in(page)
    assert "Inside the subtypes, 2 features depend on each other, most of all" in words
    assert "which can make more subtypes than there are: see `clinclust check`." in words
    independent = cohort(0.0)
    for path in (
        write_report(fitted(independent), independent, tmp_path / "y.html"),
        write_report(*dependent, tmp_path / "z.html", suppress=10),
    ):
        assert "Inside the subtypes" not in texts_of(path)


def test_values_that_no_likelihood_describes_are_told(tmp_path):
    rng = np.random.default_rng(1)
    frame = cohort(0.0).assign(bent=rng.standard_t(2.2, 150))
    model = fitted(frame)
    check = cc.check.check_model(model, frame)
    assert check.advice[["feature", "kind"]].to_numpy().tolist() == [["bent", "values"]]
    words = texts_of(write_report(model, frame, tmp_path / "x.html"))
    assert "1 feature scatters otherwise than the model says: see `clinclust check`." in words


SAID = "2 features are described clearly better by another likelihood than the schema declares; this can invent"


def cohort_of_misfits(declared):
    """Return a model and its cohort: two subtypes, a rare one, and two features declared as `declared` says."""
    rng = np.random.default_rng(1)
    means = np.repeat([0.0, 4.0, 30.0], [150, 100, 3])
    frame = pd.DataFrame({name: rng.normal(means, 1.0) for name in "abcd"})
    frame = frame.assign(**{FORMULA: rng.lognormal(0.0, 1.0, 253), MARKUP: rng.negative_binomial(1, 0.1, 253)})
    features = [cc.Feature(name=name, likelihood="gaussian") for name in "abcd"]
    features += [cc.Feature(name=name, **fields) for name, fields in declared.items()]
    schema = cc.FeatureSchema(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quick_fit(frame, schema)
    return model, schema.validate(frame)


@pytest.fixture(scope="module")
def wrong():
    return cohort_of_misfits({FORMULA: {"likelihood": "gaussian"}, MARKUP: {"likelihood": "poisson"}})


@pytest.fixture(scope="module")
def right():
    declared = {"likelihood": "gaussian", "transform": "log"}
    return cohort_of_misfits({FORMULA: declared, MARKUP: {"likelihood": "negative_binomial"}})


@pytest.mark.simulation
def test_the_first_page_counts_them_and_the_sheet_has_the_lines(wrong, tmp_path):
    page = write_report(*wrong, tmp_path / "x.html").read_text(encoding="utf-8")
    assert MARKUP not in page  # it stays text
    words = words_in(page)
    assert f"{SAID} subtypes: change the schema lines in Likelihoods and fit again." in words
    book = sections_of(write_report(*wrong, tmp_path / "x.xlsx"))
    assert SAID in " ".join(str(cell.value) for row in book["Trust"] for cell in row if cell.value)
    rows = [[cell.value for cell in row] for row in book["Likelihoods"].iter_rows()]
    heading = next(place for place, row in enumerate(rows) if row[0] == "Feature")
    found = {row[0]: row[1:] for row in rows[heading + 1 :]}
    assert set(found) == {FORMULA, MARKUP}
    assert found[FORMULA][:2] == ["gaussian", "gaussian of the log"]
    assert found[FORMULA][2] > 20.0
    assert found[FORMULA][-1] == f"- {{name: {FORMULA}, likelihood: gaussian, transform: log}}"
    assert not [cell for row in book["Likelihoods"].iter_rows() for cell in row if cell.data_type == "f"]


def test_a_right_schema_has_no_such_sheet(right):
    findings = compared(*right)
    assert (likelihoods_sheets(findings), on_likelihoods(findings)) == ([], [])
    given = cc.Partition(right[0].labels_, right[0].schema_, made_by="a clinician")
    assert likelihoods_sheets(compared(given, right[1])) == []


def test_a_shared_report_tells_names_alone_and_nothing_of_withheld_features(wrong, monkeypatch):
    shared = compared(*wrong).for_sharing(Rule(5))
    monkeypatch.setattr(Findings, "is_withheld", lambda self, feature: feature.name == MARKUP)
    (sheet,) = as_shared(likelihoods_sheets(shared))
    assert [list(row) for row in sheet.tables[0].rows] == [[FORMULA, "gaussian", "gaussian of the log"]]
    assert on_likelihoods(shared)[0].startswith("1 feature is described clearly better")
    monkeypatch.setattr(Findings, "is_withheld", lambda self, feature: True)
    shared = compared(*wrong).for_sharing(Rule(5))
    assert (likelihoods_sheets(shared), on_likelihoods(shared)) == ([], [])


@pytest.mark.simulation
def test_few_is_marked_and_explained_everywhere_but_in_a_shared_report(right, tmp_path):
    model, frame = right
    assert model.cluster_sizes_.tolist()[2:] == [3]
    assert model.remarks_ == [(), (), ("few",)]
    words = texts_of(write_report(model, frame, tmp_path / "x.html"))
    meaning = "Marks of subtypes: few, fewer than 5 subjects."
    assert f"{meaning} Such subtypes may be noise; without them 2 subtypes are left." in words
    book = sections_of(write_report(model, frame, tmp_path / "x.xlsx"))
    for name in ("Trust", "Assignments"):
        cells = [str(cell.value) for row in book[name].iter_rows() for cell in row if cell.value is not None]
        assert meaning in " ".join(cells), name
    assert "few" in cells  # of each of the three
    table = cc.subtype_table(model, frame).to_html()
    assert "n = 3 (1.2%), few" in table
    assert "Few: fewer than 5 subjects" in table
    assert "few" in words_in(model._repr_html_()).split()
    told = "\n".join(summarise_fit(model))
    assert "3 (1.2%; few)" in told
    assert "Such subtypes may be noise; without them: 2." in told
    shared = write_report(model, frame, tmp_path / "s.html", suppress=5).read_text(encoding="utf-8")
    shown = words_in(shared)
    assert "Marks of subtypes" not in shown
    assert ", few" not in shown
    assert "are not marked here as in other reports" in shown
