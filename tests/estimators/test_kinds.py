"""Kinds and their grades: how subtypes are numbered, and that everything that shows them says the same."""

import numpy as np
import pandas as pd
import pytest

import clinclust as cc
from clinclust.errors import InputError
from clinclust.estimators.distinct_subtypes import _along_axis
from clinclust.estimators.subtype_model import cohort_of
from clinclust.reporting.assignments import tabulate_assignments


def graded_cohort(n=300, seed=1):
    """Return a table, whether a subject has the rarer of two kinds, and the severity of the other, which is uniform."""
    rng = np.random.default_rng(seed)
    is_rarer, severity = rng.random(n) < 0.3, rng.uniform(0.0, 4.0, n)
    X = rng.normal(size=(n, 8))
    X[:, :4] += 6.0 * is_rarer[:, None]
    X[:, 4:] += (severity * ~is_rarer)[:, None]
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(noise=rng.normal(size=n))
    frame.insert(0, "patient", [f"P{row}" for row in range(n)])
    frame["died"] = np.where(rng.random(n) < 0.2 + 0.1 * severity, "yes", "no")
    return frame, is_rarer, severity


@pytest.fixture(scope="module")
def graded():
    frame, is_rarer, severity = graded_cohort()
    model = cc.MAPDP(cc.draft_schema(frame), n_clusters="distinct", random_state=0, progress=False).fit(frame)
    return model, frame, is_rarer, severity


def test_grades_are_numbered_inside_their_kind_along_the_axis_that_parts_them(graded):
    model, _, is_rarer, severity = graded
    codes = ["1a", "1b", "2"]
    assert model.labels.cat.categories.tolist() == model.summary().index.tolist() == model.codes_ == codes
    assert ((model.labels == "2").to_numpy() == is_rarer).mean() > 0.98
    assert (model.labels.str[0].astype(int) - 1 == model.kinds_).all()
    assert np.bincount(model.kinds_)[0] > np.bincount(model.kinds_)[1]
    of_grades = pd.Series(severity).groupby(model.labels_).mean()[:2]
    assert abs(of_grades[0] - of_grades[1]) > 1.5


def test_three_grades_are_in_order_from_the_end_with_more_subjects_on(graded):
    model, *_ = graded
    finest = model.fit_.tree_.n_subtypes
    assert model.feature_relevance_["noise"] < 0.0  # which is no weight
    assert finest >= 3
    means = model.cut(finest).cluster_parameters_.query("feature == 'e' and parameter == 'mean'")["estimate"].to_numpy()
    ordered = _along_axis(model.cut(finest).fit_, [*range(finest)])
    assert np.array_equal(ordered, np.argsort(means)) or np.array_equal(ordered[::-1], np.argsort(means))


def test_what_is_known_of_a_subtype_has_its_number(graded, tmp_path):
    model, frame, *_ = graded
    assert (model.predict(frame) == model.labels_).mean() > 0.98
    assert (model.membership_.argmax(axis=1) == model.labels_).mean() > 0.95
    assert (np.bincount(model.labels_) == model.cluster_sizes_).all()
    parameters = model.cluster_parameters_.query("feature == 'e' and parameter == 'mean'")["estimate"]
    np.testing.assert_allclose(parameters, frame.groupby(model.labels_)["e"].mean(), atol=0.1)
    assert model.transform(frame).columns.tolist() == [*(f"subtype_{code}" for code in model.codes_), "none_of_these"]
    model.save(tmp_path / "model")
    loaded = cc.MAPDP.load(tmp_path / "model")
    assert loaded.codes_ == model.codes_
    assert (loaded.labels_ == model.labels_).all()


def test_a_cut_to_kinds_or_to_another_number_has_no_letters(graded):
    model, *_ = graded
    kinds = model.cut("kinds")
    assert kinds.codes_ == [1, 2]
    assert (kinds.labels_ == model.kinds_).all()
    assert model.cut(2).codes_ == [1, 2]
    assert model.cut("distinct").codes_ == model.codes_


def test_tables_of_subjects_subtypes_and_outcomes_say_the_codes(graded):
    model, frame, *_ = graded
    explained = model.explain(frame.head(5))
    assert explained["subtype"].unique().tolist() == list(dict.fromkeys(model.labels.head(5)))
    assert set(explained["against"]) <= {0, *model.codes_}
    outcomes = cc.outcomes.compare_outcomes(model, frame, "died", versus="1b")
    assert set(outcomes["versus"].dropna()) == {"1b"}
    with pytest.raises(InputError, match="1a, 1b, 2"):
        cc.outcomes.compare_outcomes(model, frame, "died", versus="1d")
    assignments = tabulate_assignments(cohort_of(model, frame))
    assert (assignments["subtype"].to_numpy() == model.labels.astype(str).to_numpy()).all()


@pytest.mark.simulation
def test_reports_name_subtypes_by_their_codes(graded, tmp_path):
    model, frame, *_ = graded
    table = cc.subtype_table(model, frame, names={"1b": "Severe"}, between=(1, 3)).to_frame()
    assert [column.split(",")[0] for column in table.columns if "ubtype" in column] == [
        *("Subtype 1a", "Subtype 1b: Severe", "Subtype 2")
    ]
    page = cc.write_report(model, frame, tmp_path / "page.html", names={"1b": "Severe"}).read_text()
    assert "1b Severe" in page
    assert "Subtype 3" not in page
    with pytest.raises(InputError, match="there is no subtype 3; they are 1a, 1b, 2"):
        cc.write_report(model, frame, tmp_path / "other.html", names={3: "Severe"})
    ax = cc.plots.plot_tree(model, names={"2": "Other disease"})
    assert [label.get_text().split(" (")[0] for label in ax.get_yticklabels()] == [
        *("Subtype 1a", "Subtype 1b", "Other disease")
    ]
