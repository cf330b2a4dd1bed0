"""A report says which features depend on each other, or scatter otherwise than the model says, inside the subtypes."""

import numpy as np
import openpyxl
import pandas as pd
import pytest

import clinclust as cc

from .test_unions import Words

QUICK = {"associations": None, "progress": False}
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
    return cc.MAPDP.as_published(cc.FeatureSchema(features), n_restarts=2, random_state=0, progress=False).fit(frame)


def sheet_of(book, name):
    return [[cell.value for cell in row] for row in book[name].iter_rows()]


def test_dependence_is_told_with_the_lines_that_mend_it(tmp_path):
    frame = cohort(1.0)
    model = fitted(frame)
    page = cc.write_report(model, frame, tmp_path / "x.html", **QUICK).read_text(encoding="utf-8")
    assert MARKUP not in page  # it stays text
    words = Words(page).text
    assert "Inside the subtypes, 2 features depend on each other, most of all" in words
    assert "which can make more subtypes than there are: see Model check." in words
    book = openpyxl.load_workbook(cc.write_report(model, frame, tmp_path / "x.xlsx", progress=False))
    rows = sheet_of(book, "Model check")
    strongest = next(row for row in rows if {FORMULA, MARKUP} <= {str(cell).lstrip("'") for cell in row})
    check = cc.check_model(model, frame)
    assert strongest[2] == pytest.approx(check.pairs["correlation"].iloc[0], abs=1e-9)
    lines = {cell for row in rows for cell in row if str(cell).startswith("- {name")}
    assert lines == {f"{line}" for line in check.advice["line"]}
    assert all(cell.data_type != "f" for row in book["Model check"] for cell in row)


def test_a_model_that_fits_has_no_such_sheet_and_a_shared_report_neither(tmp_path):
    frame = cohort(0.0)
    book = openpyxl.load_workbook(cc.write_report(fitted(frame), frame, tmp_path / "x.xlsx", progress=False))
    assert "Model check" not in book.sheetnames
    frame = cohort(1.0)
    shared = cc.write_report(fitted(frame), frame, tmp_path / "y.xlsx", suppress=10, progress=False)
    book = openpyxl.load_workbook(shared)
    assert "Model check" not in book.sheetnames
    assert not any("Model check" in str(cell.value) for row in book["Overview"] for cell in row)


def test_values_that_no_likelihood_describes_are_told(tmp_path):
    rng = np.random.default_rng(1)
    frame = cohort(0.0).assign(bent=rng.standard_t(2.2, 150))
    model = fitted(frame)
    check = cc.check_model(model, frame)
    assert check.advice[["feature", "kind"]].to_numpy().tolist() == [["bent", "values"]]
    book = openpyxl.load_workbook(cc.write_report(model, frame, tmp_path / "x.xlsx", progress=False))
    told = [str(cell) for row in sheet_of(book, "Model check") for cell in row]
    assert any(words in told for words in check.checks["words"])
    first = [str(cell.value) for row in book["Overview"] for cell in row]
    assert any("1 feature scatters otherwise than the model says: see Model check." in cell for cell in first)
