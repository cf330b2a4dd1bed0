"""Rows are chosen as the condition says, without code being run; and one for each subject."""

import operator
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError
from clinclust.files.conditions import Matching, Reader, parsed
from clinclust.files.row_choice import repeated_subjects
from clinclust.files.text_table import TableRead

VISITS = pd.DataFrame(
    {
        "id": ["a", "a", "b", "c", "b"],
        "visit": ["baseline", "month 6", "baseline", "", "month 6"],
        "age": ["61", "61.5", "9", "<5", ""],
        "seen": ["2024-05-31", "2024-11-30", "2023-01-01", "2022-12-31", ""],
        "Age at onset": ["50", "50", "10", "3", "10"],
    }
)


def rows(condition, frame=VISITS):
    return np.flatnonzero(Matching(Reader(TableRead(frame))).of(parsed(condition))).tolist()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("visit == 'baseline'", [0, 2]),
        ("visit = 'baseline'", [0, 2]),
        ('visit != "baseline"', [1, 4]),
        ('visit != "baseline" or visit is missing', [1, 3, 4]),
        ("visit <> 'baseline' and visit is not missing", [1, 4]),
        ("age > 9", [0, 1]),
        ("age >= 9", [0, 1, 2]),
        ("9 <= age", [0, 1, 2]),
        ("9 <= age < 61.5", [0, 2]),
        ("age == 61.0", [0]),
        ("age == '<5'", [3]),
        ("age is missing", [4]),
        ("not age is missing", [0, 1, 2, 3]),
        ("id in ('a', 'c')", [0, 1, 3]),
        ("id not in ['a', 'c']", [2, 4]),
        ("age in (9, 61)", [0, 2]),
        ("seen >= '2023-01-01'", [0, 1, 2]),
        ("10 < `Age at onset`", [0, 1]),
        ("'baseline' == visit", [0, 2]),
        ("`Age at onset` == 50 or visit is missing and id == 'c'", [0, 1, 3]),
        ("(`Age at onset` == 50 or visit is missing) and id == 'c'", [3]),
        ("not not id == 'a'", [0, 1]),
        ("NOT id == 'a' AND visit IS MISSING", [3]),
    ],
)
def test_a_condition_is_met_by_the_rows_that_it_means(condition, expected):
    assert rows(condition) == expected


SIGNS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
numbers = st.integers(-3, 3)


@st.composite
def conditions(draw, depth=3):
    """Return a condition as text, and the function of (x, y) that it means."""
    kind = draw(st.sampled_from(["compare", "turned", "not", "and", "or", "in"] if depth else ["compare"]))
    if kind == "compare":
        name, sign, number = draw(st.sampled_from("xy")), draw(st.sampled_from(list(SIGNS))), draw(numbers)
        return f"{name} {sign} {number}", lambda row: SIGNS[sign](row[name], number)
    if kind == "turned":
        sign, number = draw(st.sampled_from(list(SIGNS))), draw(numbers)
        return f"{number} {sign} `y`", lambda row: SIGNS[sign](number, row["y"])
    if kind == "in":
        among = draw(st.lists(numbers, min_size=1, max_size=3))
        return f"x in ({', '.join(map(str, among))})", lambda row: row["x"] in among
    left, means = draw(conditions(depth - 1))
    if kind == "not":
        return f"not ({left})", lambda row: not means(row)
    right, also = draw(conditions(depth - 1))
    joined = all if kind == "and" else any
    return f"({left}) {kind} ({right})", lambda row: joined((means(row), also(row)))


@given(conditions(), st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))
def test_conditions_agree_with_python(condition, cells):
    text, means = condition
    frame = pd.DataFrame([{"x": str(x), "y": str(y)} for x, y in cells])
    assert rows(text, frame) == [k for k, (x, y) in enumerate(cells) if means({"x": x, "y": y})]


@given(
    st.text(max_size=30)
    | st.lists(st.sampled_from([*"()`'\"=<>!,", "and", "or", "not", "in", "age", "is", "1"])).map(" ".join)
)
def test_any_text_is_a_condition_or_one_short_error(text):
    try:
        rows(text)
    except InputError as error:
        assert len(str(error)) < 1000  # noqa: PT017 - some texts are conditions


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("", "at its end, after ''"),
        ("visit", "at its end, after 'visit'"),
        ("visit == baseline", "compares name 'visit' with name 'baseline': give one column and one value. Texts"),
        ("vist == 'baseline'", r"no column 'vist'\. Did you mean 'visit'\?"),
        ("Age at onset > 3", "at 'at onset > 3', after 'Age': .* names with spaces in backticks"),
        ("visit == 'baseline", 'cannot be understood at "\'baseline"'),
        ("visit > 'II'", "'II', with which 'visit' is compared, is no date and no number"),
        ("visit > '2024-05-31'", "'visit' holds 'baseline': not all cells are dates"),
        ("1 == 1", "compares number '1' with number '1': give one column and one value"),
        ("`Age at onset` > age", "compares name 'Age at onset' with name 'age': .* two columns are not compared"),
        ("'visit' is missing", "give one column and one value"),
        ("age == 1 age", "at 'age', after 'age == 1'"),
        ("__import__('os').system('x') == 1", 'cannot be understood at .\\.system.*, after "__import__'),
        ("system('x') == 1", "cannot be understood at .\\(.*, after 'system'"),
        ("age[0] == 1", r"cannot be understood at '\[0\] == 1', after 'age'"),
        ("age in ()", r"at '\)', after 'age in \('"),
        ("(" * 999 + "age == 1" + ")" * 999, "more than 50 'not' or parentheses"),
        ("not " * 999 + "age == 1", "more than 50 'not' or parentheses"),
        ("age == 1 or " * 999 + "age == 1", "at most 5,000 are read"),
    ],
)
def test_what_is_no_condition_is_refused_with_the_place(condition, words):
    with pytest.raises(InputError, match=words):
        rows(condition)


def write(folder, frame=VISITS):
    path = folder / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def told_of(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CohortWarning)
        frame = read_cohort(path, **options)
    return frame, [str(warning.message).removeprefix("visits.csv: ") for warning in caught]


def test_what_is_kept_is_told_with_the_rows_that_could_not_be_compared(tmp_path):
    frame, told = told_of(write(tmp_path), where="age > 10", only=["id", "age"])
    assert frame.to_numpy().tolist() == [["a", "61"], ["a", "61.5"]]
    assert told == [
        "1 rows are left out because their cells in 'age' are empty or do not tell whether they meet the condition, "
        "such as a number with a unit; to keep those with an empty cell, add `or ... is missing`",
        "2 of 5 rows are kept, as `where` says ('age > 10')",
        "2 of 5 columns are kept, as `only` and `drop` say",
    ]


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({}, [0, 2, 3]),
        ({"keep": "last"}, [1, 3, 4]),
        ({"by": "seen"}, [0, 2, 3]),
        ({"by": "seen", "keep": "last"}, [1, 2, 3]),
        ({"by": "Age at onset"}, [0, 2, 3]),
        ({"by": "Age at onset", "keep": "last"}, [1, 3, 4]),
    ],
)
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"keep": "last"}, "`keep` and `by` choose a row of a subject: give `one_row_per`"),
        ({"by": "seen"}, "`by` choose a row"),
        ({"one_row_per": "Id "}, r"no column 'Id '\. Did you mean 'id'"),
        ({"one_row_per": "age"}, r"'age' has no value in 1 rows \(first: 6\): .* where='age is not missing'"),
        ({"one_row_per": "id", "by": "age"}, r"throughout \('<5'\)"),
        ({"where": "age > 999"}, r"keeps none of 5 rows: .*'age' > '999' is met by no row \('61', '61.5', '9', '<5'\)"),
        (
            {"only": ["ID", "agee"]},
            r"no column 'ID'\. Did you mean 'id'\?, there is no column 'agee'\. Did you mean 'age'",
        ),
        ({"drop": ["id", "visit", "age", "seen", "Age at onset"]}, "leave no column"),
        ({"only": "id"}, "only must be a list of texts"),
        ({"header_row": -1}, "header_row must be the number of a row"),
        ({"decimal": ";"}, "decimal must be ',' or '.'"),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        read_cohort(write(tmp_path), **options)


def test_decimal_commas_are_compared_as_numbers(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("id;crp\n1;3,5\n2;12,0\n3;0,8\n", encoding="utf-8")
    frame, _ = told_of(path, where="crp > 3.4")
    assert frame["crp"].tolist() == ["3,5", "12,0"]


def test_repeated_subjects_are_recognised_with_a_column_of_visits():
    found = repeated_subjects(VISITS, "id")
    assert (found.n_rows, found.n_subjects, found.n_repeated, found.most_rows) == (5, 3, 2, 2)
    assert found.has_visits
    assert "2 of 3 subjects have several rows (up to 2 with the same 'id')" in found.sentence()
    assert "one_row_per='id' (the first; with keep='last' the last)" in found.sentence()
    assert not repeated_subjects(VISITS.drop(columns="visit"), "id").has_visits
    assert repeated_subjects(VISITS.iloc[[0, 2, 3]], "id") is None
    assert repeated_subjects(pd.DataFrame({"id": ["", None, "a"]}), "id") is None
