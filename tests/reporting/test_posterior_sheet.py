"""A report with draws of the posterior says how many groups there could be, and how sure each subtype is."""

import warnings

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit

import clinclust as cc
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import cohort_of
from clinclust.reporting.report import draw_posterior

from .stand_in import sections_of, texts_of, write_report


@pytest.fixture(scope="module")
def cohort():
    """Two groups that overlap, in four features."""
    rng = np.random.default_rng(0)
    means = np.repeat([0.0, 2.0], [50, 30])
    return pd.DataFrame({name: rng.normal(means, 1.0) for name in "abcd"})


@pytest.fixture(scope="module")
def model(cohort):
    return quick_fit(cohort)


@pytest.fixture(scope="module")
def drawn(model, cohort):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CohortWarning)  # so few sweeps need not agree
        return cc.GibbsDP.of(model, max_sweeps=60, random_state=0, progress=False).fit(cohort)


def test_the_first_page_has_the_numbers_of_groups_and_a_column(model, cohort, drawn, tmp_path):
    path = write_report(model, cohort, tmp_path / "x.html", posterior=drawn)
    words = texts_of(path)
    most = drawn.n_clusters_posterior_.idxmax()
    share = 100 * drawn.n_clusters_posterior_.max()
    said = f"{share:.0f}%" if 1 <= share <= 99 else "more than 99%"
    assert f"partitions drawn by their probability, {said} have {most} groups" in words
    assert "the search found 2 groups." in words
    assert "Posterior membership: the share of the drawn partitions" in words
    book = sections_of(write_report(model, cohort, tmp_path / "x.xlsx", posterior=drawn))
    first = [*book["Trust"].iter_rows(values_only=True)]
    heading = next(row for row in first if "Posterior membership" in row)
    place = heading.index("Posterior membership")
    own = drawn.membership_in(model.labels_)[np.arange(80), model.labels_]
    for subtype in (1, 2):
        row = next(row for row in first if row[0] == f"Subtype {subtype}")
        assert row[place] == pytest.approx(own[model.labels_ == subtype - 1].mean(), abs=1e-9)


def test_chains_that_do_not_agree_are_told(model, cohort, tmp_path):
    with pytest.warns(cc.CohortWarning):
        few = cc.GibbsDP.of(model, max_sweeps=20, n_chains=2, random_state=0, progress=False).fit(cohort)
    assert not few.converged_
    words = texts_of(write_report(model, cohort, tmp_path / "x.html", posterior=few))
    assert "The chains had not come to agree, so that these shares are rough." in words


def test_a_report_of_a_sampler_has_its_own_draws_and_no_second_column(cohort, drawn, tmp_path):
    book = sections_of(write_report(drawn, cohort, tmp_path / "x.xlsx"))
    first = [cell.value for row in book["Trust"] for cell in row]
    assert "Posterior membership" not in first
    said = " ".join(str(cell) for cell in first if cell)  # long sentences go on in the next row
    assert f"; the reported one has {drawn.n_clusters_} groups." in said


@pytest.mark.simulation
def test_without_draws_or_in_a_shared_report_there_is_nothing_of_them(model, cohort, drawn, tmp_path):
    plain = sections_of(write_report(model, cohort, tmp_path / "x.xlsx"))
    shared = sections_of(write_report(model, cohort, tmp_path / "y.xlsx", posterior=drawn, suppress=10))
    sampler = sections_of(write_report(drawn, cohort, tmp_path / "z.xlsx", suppress=10))
    for book in (plain, shared, sampler):
        assert not any("drawn by their probability" in str(cell.value) for row in book["Trust"] for cell in row)


def test_draws_of_another_cohort_or_none_are_refused(model, cohort, drawn, tmp_path):
    for posterior, problem in ((cc.GibbsDP(), "posterior is not fitted"), ("yes", "posterior")):
        with pytest.raises((InputError, TypeError), match=problem):
            write_report(model, cohort, tmp_path / "x.html", posterior=posterior)
    other = quick_fit(cohort.head(60), model.schema_, n_restarts=1)
    with pytest.raises(InputError, match="posterior was drawn for 80 subjects, and the model has 60"):
        write_report(other, cohort.head(60), tmp_path / "x.html", posterior=drawn)


def test_values_that_the_search_set_aside_are_missing_for_the_sampler(cohort, monkeypatch):
    wild = cohort.copy()
    wild.loc[3, "b"] = 60.0
    model = quick_fit(wild, coarsening="auto")
    assert model.outliers_[3, 1]
    given = {}

    def fit(self, table):
        given["table"], given["sampler"] = table, self
        return self

    monkeypatch.setattr(cc.GibbsDP, "fit", fit)
    draw_posterior(cohort_of(model, wild), progress=False)
    expected = wild.mask(model.outliers_)
    pd.testing.assert_frame_equal(given["table"].astype(float), expected, check_dtype=False)
    assert given["sampler"].random_state == model.random_seed_
    assert given["sampler"].coarsening == model.coarsening_


def test_true_draws_them(model, cohort, drawn, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "clinclust.reporting.report.draw_posterior", lambda *args, **options: asked.append(options) or drawn
    )
    path = write_report(model, cohort, tmp_path / "x.html", posterior=True, progress=False)
    assert asked == [{"n_jobs": None, "progress": False}]
    assert "drawn by their probability" in texts_of(path)
