"""Rows are chosen as the user says, and what is left out is told; one row for each subject."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from test_conditions import CLEAR, DATES, VISITS

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError
from clinclust.files.row_choice import RowChoice, RowCounts, repeated_subjects, rows_taken


def write(folder, frame=VISITS):
    path = folder / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def told_of(path, **options):
    """Return what is read of a file, and the warnings, which are of this package alone, without the name of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_cohort(path, **options)
    assert {warning.category for warning in caught} <= {CohortWarning}
    told = [str(warning.message) for warning in caught]
    assert all(text.startswith(f"{path.name}: ") and len(text) < 4000 for text in told)
    return frame, [text.removeprefix(f"{path.name}: ") for text in told]


def test_what_is_kept_is_told_with_the_rows_that_could_not_be_compared(tmp_path):
    frame, told = told_of(write(tmp_path), where="age > 10", only=["id", "age"])
    assert frame.to_numpy().tolist() == [["a", "61"], ["a", "61.5"]]
    assert told == [
        "1 rows are left out because their cells in 'age' are empty or do not tell whether they meet the condition, "
        "such as a number with a unit; to keep those with an empty cell, add `or ... is missing`",
        "2 of 5 rows are kept, as `where` says ('age > 10')",
        "2 of 5 columns are kept, as `only` and `drop` say",
    ]


@pytest.mark.parametrize(("options", "labels"), cases_beside(__file__, "one_row"))
def test_one_row_of_each_subject_is_kept(tmp_path, options, labels):
    frame, told = told_of(write(tmp_path), one_row_per="id", **options)
    assert frame.index.tolist() == labels
    assert "3 of 5 rows are kept: the " in told[-1]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=9), st.booleans())
def test_one_row_per_subject_agrees_with_pandas(tmp_path_factory, cells, last):
    frame = pd.DataFrame([{"id": who, "when": str(when)} for who, when in cells])
    keep = "last" if last else "first"
    found, _ = told_of(write(tmp_path_factory.mktemp("x"), frame), one_row_per="id", by="when", keep=keep)
    ordered = frame.assign(when=frame["when"].astype(int)).sort_values("when", kind="stable")
    assert found.index.tolist() == sorted(ordered.drop_duplicates("id", keep=keep).index)


@pytest.mark.parametrize(("options", "words"), cases_beside(__file__, "no_choices"))
def test_a_choice_that_cannot_be_made_is_refused(tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        read_cohort(write(tmp_path), **options)


def test_repeated_subjects_are_recognised_with_a_column_of_visits():
    found = repeated_subjects(VISITS, "id")
    assert (found.n_rows, found.n_subjects, found.n_repeated, found.most_rows) == (5, 3, 2, 2)
    assert found.has_visits
    assert "2 of 3 subjects have several rows (up to 2 with the same 'id')" in found.sentence()
    assert "one_row_per='id' (the first; with keep='last' the last)" in found.sentence()
    assert not repeated_subjects(VISITS.drop(columns="visit"), "id").has_visits
    assert repeated_subjects(VISITS.iloc[[0, 2, 3]], "id") is None
    assert repeated_subjects(pd.DataFrame({"id": ["", None, "a"]}), "id") is None


def written(folder, **columns):
    path = folder / "visits.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@given(st.lists(st.tuples(st.sampled_from("abc"), DATES), min_size=1, max_size=9), st.booleans(), st.booleans())
def test_the_first_and_last_row_of_a_subject_follow_the_calendar(tmp_path_factory, cells, last, points):
    """Sorting as text would put 02.01.2021 before 31.12.2020."""
    cells = [*cells, ("d", CLEAR)]
    notation = "%d.%m.%Y" if points else "%m/%d/%Y"
    path = written(
        tmp_path_factory.mktemp("x"), id=[who for who, _ in cells], seen=[date.strftime(notation) for _, date in cells]
    )
    keep = "last" if last else "first"
    found, told = told_of(path, one_row_per="id", by="seen", keep=keep)
    ordered = pd.DataFrame(cells, columns=["id", "seen"]).sort_values("seen", kind="stable")
    assert found.index.tolist() == sorted(ordered.drop_duplicates("id", keep=keep).index)
    assert f"dates of 'seen' with the year last are read with the {'day' if points else 'month'} first" in told


@pytest.mark.parametrize(("seen", "words"), cases_beside(__file__, "no_order"))
def test_an_order_that_is_none_is_refused(tmp_path, seen, words):
    with pytest.raises(InputError, match=words):
        read_cohort(written(tmp_path, id=["a", "a"], seen=seen), one_row_per="id", by="seen")


def test_the_notation_is_told_without_values(tmp_path):
    path = written(tmp_path, crp=["5,2", "7,9", "<0,5", ""], visit=["a", "b", "a", "b"])
    _, told = told_of(path, where="crp > 5,0 or visit == 'B'")
    assert told[1:3] == [
        "the numbers of 'crp' are read with a decimal comma",
        "'visit' == 'B' is met by no row ('a', 'b'). Did you mean 'b'?",
    ]
    assert told[3].startswith("1 rows are left out because their cells in 'crp' are empty")


def test_values_that_no_cell_has_are_told_together(tmp_path):
    path = written(tmp_path, visit=["a", "b"])
    among = ", ".join(f"'x{k}'" for k in range(99))
    _, told = told_of(path, where=f"visit in ('a', {among}, 'B')")
    assert told[0] == (
        "'visit' == 'x0', 'x1', 'x2', 'x3', 'x4' and 95 more is met by no row ('a', 'b'). Did you mean 'b'?"
    )


@pytest.mark.parametrize(("condition", "words"), cases_beside(__file__, "no_rows"))
def test_a_condition_that_keeps_no_row_says_why(tmp_path, condition, words):
    visits = ["baseline", "month 6"] * 20
    names = [f"patient {k} of the ward" for k in range(40)]
    path = written(tmp_path, visit=visits, age=range(40), name=names, empty=[""] * 40)
    with pytest.raises(InputError, match=words) as refused:
        read_cohort(path, where=condition)
    assert "patient 1" not in str(refused.value)
    assert len(str(refused.value)) < 4000


def test_rows_are_counted_by_reason(tmp_path):
    path = written(tmp_path, id=list("aabbc"), age=["10", "61", "62", "", "63"])
    frame, told = told_of(path, where="age > 50", one_row_per="id")
    assert rows_taken(frame) == (RowChoice("age > 50", "id"), RowCounts(5, not_meeting=2, unknown=1))
    _, told = told_of(path, where="age != 61")
    assert "1 rows are left out because their cells in 'age' are empty" in " ".join(told)


def test_the_order_of_dates_is_kept_with_the_choice(tmp_path):
    """The same words then mean the same in a table whose dates do not tell the order."""
    frame, _ = told_of(written(tmp_path, seen=["03/25/2020", "04/03/2020"]), where="seen > '2020-03-26'")
    choice = frame.attrs["rows_taken"]["choice"]
    assert choice == {"where": "seen > '2020-03-26'", "dates": "month-first"}
    frame, _ = told_of(written(tmp_path, seen=["03/04/2020", "04/03/2020"]), **choice)
    assert frame["seen"].tolist() == ["04/03/2020"]


def test_subjects_that_differ_by_case_or_spaces_are_told(tmp_path):
    path = written(tmp_path, id=["P005", "p005", "P 005", "Q1", "Q1"], age=["10", "61", "62", "", "63"])
    frame, told = told_of(path, one_row_per="id")
    assert len(frame) == 4
    assert "2 values of 'id' differ only by case or spaces from another one" in " ".join(told)
    assert "differ only" not in " ".join(
        told_of(written(tmp_path, id=list("aab"), age=["1", "2", "3"]), one_row_per="id")[1]
    )


# Rows that represent more or fewer people than one.


def write_weights(folder, weights):
    return write(folder, pd.DataFrame({"id": range(len(weights)), "w": weights}))


def draws(path, n, **options):
    return [set(read_cohort(path, draw_by="w", draw=draw, **options)["id"].astype(int)) for draw in range(1, n + 1)]


@pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
def test_rows_are_drawn_in_proportion_to_their_weights_but_for_the_largest(tmp_path):
    weights = np.array([*range(20), 60.0])
    cut = optimize.brentq(lambda cut: np.maximum(weights - cut, 0.0).sum() - 0.02 * weights.sum(), 0.0, 60.0)
    counts = Counter(row for rows in draws(write_weights(tmp_path, weights), 400) for row in rows)
    for row, expected in enumerate(np.minimum(weights / cut, 1.0)):
        assert stats.binomtest(counts[row], 400, expected).pvalue > 0.001


@pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
def test_the_same_rows_are_drawn_in_any_order_and_all_of_equal_weight(tmp_path):
    weights = np.random.default_rng(0).lognormal(0, 0.6, 400).round(6)
    frame = pd.DataFrame({"id": range(400), "w": weights})
    first, second = draws(write(tmp_path, frame), 2)
    assert draws(write(tmp_path, frame[::-1]), 1) == [first] != [second]
    assert 80 < len(first) < 200
    assert draws(write(tmp_path, frame.assign(w=2.5)), 1) == [set(range(400))]


@pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
def test_a_row_that_stands_for_several_people_is_taken_as_often(tmp_path):
    people = pd.DataFrame({"sex": list("ffmmmm"), "age": ["1", "2", "2", "2", "2", "2"]})
    counted = people.value_counts(sort=False).reset_index(name="n")
    table = pd.concat([counted, counted.assign(n=0)], ignore_index=True)
    table.insert(0, "row", table.index + 1)  # as R writes the names of rows
    frame, told = told_of(write(tmp_path, table), count="n")
    assert frame.to_dict("list") == {"row": list("123456")} | people.to_dict("list")
    assert told == ["6 rows represent 6 people, as 'n' says"]
    assert rows_taken(frame).counts == RowCounts(6, not_drawn=3, repeated=3)


@pytest.mark.parametrize(("cells", "option", "words"), cases_beside(__file__, "no_weights"))
def test_weights_that_are_none_are_refused_with_their_rows(tmp_path, cells, option, words):
    with pytest.raises(InputError, match=words):
        read_cohort(write_weights(tmp_path, cells), **{option: "w"})


@pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
@pytest.mark.parametrize("option", ["draw_by", "count"])
def test_summaries_of_visits_stay_with_the_subjects_that_are_drawn(tmp_path, option):
    visits = pd.DataFrame({"id": np.repeat(np.arange(60), 3), "month": np.tile([0, 6, 12], 60)})
    visits = visits.assign(w=1 + visits["id"] % 4, egfr=60 + visits["id"])
    summaries = {"one_row_per": "id", "time": "month", "summarise": {"egfr": ["last"]}}
    frame = read_cohort(write(tmp_path, visits), **summaries, **{option: "w"})
    assert len(frame) != 60
    assert (frame["egfr last"] == 60 + frame["id"].astype(int)).all()
