"""A condition is met by the rows that it means, in the notation of the column, without code being run."""

import datetime
import operator

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from hypothesis import example, given
from hypothesis import strategies as st

from clinclust.errors import InputError
from clinclust.files.conditions import Reader, name_in_condition, parsed, text_in_condition
from clinclust.files.text_table import TableRead

SIGNS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
VISITS = pd.DataFrame(read_beside(__file__)["visits"])


def find_rows(condition, frame=VISITS):
    return np.flatnonzero(Reader(TableRead(frame), None, None).find_rows(parsed(condition))).tolist()


@pytest.mark.parametrize(("condition", "expected"), cases_beside(__file__, "conditions"))
def test_a_condition_is_met_by_the_rows_that_it_means(condition, expected):
    assert find_rows(condition) == expected


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
    assert find_rows(text, frame) == [k for k, (x, y) in enumerate(cells) if means({"x": x, "y": y})]


@given(
    st.text(max_size=30)
    | st.lists(st.sampled_from([*"()`'\"=<>!,", "and", "or", "not", "in", "age", "is", "1"])).map(" ".join)
)
def test_any_text_is_a_condition_or_one_short_error(text):
    try:
        find_rows(text)
    except InputError as error:
        assert len(str(error)) < 1000  # noqa: PT017 - some texts are conditions


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        *cases_beside(__file__, "no_conditions"),
        ("(" * 999 + "age == 1" + ")" * 999, "more than 50 'not' or parentheses"),
        ("not " * 999 + "age == 1", "more than 50 'not' or parentheses"),
        ("age == 1 or " * 999 + "age == 1", "at most 5,000 are read"),
    ],
)
def test_what_is_no_condition_is_refused_with_the_place(condition, words):
    with pytest.raises(InputError, match=words):
        find_rows(condition)


def rows(condition, decimal=None, dates=None, **columns):
    read = TableRead(pd.DataFrame(columns))
    return np.flatnonzero(Reader(read, decimal, dates).find_rows(parsed(condition))).tolist()


WRITERS = {
    "point": lambda x: f"{x:.2f}",
    "comma": lambda x: f"{x:.2f}".replace(".", ","),
    "commas and point": lambda x: f"{x:,.2f}",
    "points and comma": lambda x: f"{x:,.2f}".translate(str.maketrans(",.", ".,")),
    "apostrophes": lambda x: f"{x:,.2f}".replace(",", "'"),
    "narrow spaces": lambda x: f"{x:,.2f}".replace(",", "\u202f").replace(".", ","),
}


@pytest.mark.parametrize("writer", WRITERS)
@given(st.lists(st.integers(0, 10**8).map(lambda x: x / 100), min_size=1, max_size=8), st.integers(0, 10**8))
def test_numbers_are_compared_whatever_their_notation(writer, numbers, limit):
    """The oracle compares the numbers themselves. The limit is written as the cells are, and with a point."""
    limit /= 100
    cells = [WRITERS[writer](number) for number in [*numbers, 1234.56]]  # so that the notation is clear
    expected = [place for place, number in enumerate([*numbers, 1234.56]) if number > limit]
    assert rows(f'x > "{WRITERS[writer](limit)}"', x=cells) == expected
    assert rows(f"x > {limit:.2f}", x=cells) == expected
    assert rows(f"x > {limit:.2f}".replace(".", ","), x=cells) == expected


DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 12, 31))
DATE_WRITERS = read_beside(__file__)["dates"]
CLEAR = datetime.date(2020, 3, 25)


@pytest.mark.parametrize("writer", DATE_WRITERS)
@given(st.lists(DATES, max_size=6), DATES, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_dates_are_compared_whatever_their_notation(writer, dates, limit, sign):
    dates = [*dates, CLEAR]
    cells = [date.strftime(DATE_WRITERS[writer]).zfill(10) for date in dates]
    asked = limit.strftime(DATE_WRITERS[writer].removesuffix(" 12:30"))
    expected = [place for place, date in enumerate(dates) if SIGNS[sign](date, limit)]
    assert rows(f"seen {sign} '{asked}'", seen=cells) == expected
    assert rows(f"seen {sign} '{limit.isoformat()}'", seen=cells) == expected


@pytest.mark.parametrize(("condition", "columns", "words"), cases_beside(__file__, "two_ways"))
def test_what_could_be_read_in_two_ways_is_refused(condition, columns, words):
    with pytest.raises(InputError, match=words):
        rows(condition, **columns)


def test_what_was_said_decides():
    assert rows("x > 5", decimal=",", x=["1,234", "2,345", "7,500"]) == [2]
    assert rows("x > 5", decimal=".", x=["1,234", "2,345", "7"]) == [0, 1, 2]
    assert rows("x > 5", decimal=".", x=["1,234", "2,345", "4.702"]) == [0, 1]
    assert rows("x > 0.815", x=["0,820", "0.813", "0,7"]) == [0]
    cells = ["03/04/2020", "05/01/2020"]
    assert rows("x > '2020-03-31'", dates="day-first", x=cells) == [0]
    assert rows("x > '2020-03-31'", dates="month-first", x=cells) == [1]
    with pytest.raises(InputError, match="'13/01/2020': not all cells are dates month-first"):
        rows("x > '2020-01-01'", dates="month-first", x=["13/01/2020"])


def test_a_date_without_time_means_the_whole_day():
    cells = ["2020-03-01 00:00", "2020-03-01 23:59:59", "2020-03-02"]
    assert rows("x <= '2020-03-01'", x=cells) == [0, 1]
    assert rows("x == '01.03.2020'", x=cells) == [0, 1]
    assert rows("x <= '2020-03-01 12:00'", x=cells) == [0]


def test_commas_in_a_list_keep_numbers_apart():
    assert rows("x in (1,2)", x=["1", "2", "1.2"]) == [0, 1]
    assert rows("(x > 1,2) and x < 3", x=["1", "2", "1.2"]) == [1]


@given(st.text(min_size=1, max_size=20))
@example("A·")
def test_suggested_conditions_can_be_pasted(name):
    """A condition finds its column and its text."""
    frame = pd.DataFrame({"other": ["x"], name: [name]})
    text = text_in_condition(name)
    if text is None or name == "other":
        return
    found = Reader(TableRead(frame), None, None).find_rows(parsed(f"{name_in_condition(name, 2)} == {text}"))
    assert found.tolist() == [bool(name.strip())]


LIMITS = st.sampled_from(["", "<", "<=", ">", ">="])


@given(
    st.lists(st.tuples(LIMITS, st.integers(0, 8)), min_size=1, max_size=8),
    st.integers(0, 8),
    st.sampled_from(list(SIGNS)),
)
def test_values_beyond_a_limit_are_compared_only_where_the_answer_is_certain(cells, asked, sign):
    """The oracle tries every half number that a cell may be: the answer is known if all give the same."""
    candidates = np.arange(-40, 60) / 2
    kept, opposite = [], []
    for place, (limit, number) in enumerate(cells):
        possible = candidates[SIGNS[limit](candidates, number)] if limit else np.array([float(number)])
        answers = set(SIGNS[sign](possible, asked).tolist())
        kept += [place] if answers == {True} else []
        opposite += [place] if answers == {False} else []
    texts = [f"{limit}{number}" for limit, number in cells]
    assert rows(f"x {sign} {asked}", x=texts) == kept
    assert rows(f"not x {sign} {asked}", x=texts) == opposite


@pytest.mark.parametrize(("condition", "expected"), cases_beside(__file__, "opposites"))
def test_what_is_not_known_stays_unknown_in_its_opposite(condition, expected):
    assert rows(condition, x=[">90", "40", "<80", ""], y=["a", "a", "b", ""]) == expected


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("cell", ["5 mg/L", "5 g/L", "5 %", "5 H", "5*", "ca. 5", "more than 5", "EUR 5"])
def test_a_number_with_a_unit_or_a_flag_meets_neither_a_comparison_nor_its_opposite(sign, cell):
    cells = ["4", cell, "5", "6", "n/a"]
    assert rows(f"x {sign} 5", x=cells) == [k for k in (0, 2, 3) if SIGNS[sign](k + 4 - (k > 0), 5)] + (
        [4] if sign == "!=" else []
    )
    assert 1 not in rows(f"not x {sign} 5", x=cells)


def test_a_comma_in_a_list_is_refused_where_it_may_be_a_decimal_mark():
    assert rows("crp in (1,5)", crp=["1", "5", "1.5"]) == [0, 1]
    assert rows("crp in (1, 5)", crp=["1", "5", "1,5"]) == [0, 1]
    assert rows("crp == 1,5", crp=["1", "5", "1,5"]) == [2]
    with pytest.raises(InputError, match=r"write in \(1, 5\) with a space for two numbers, or == 1,5 for one"):
        rows("crp in (1,5)", crp=["1", "5", "1,5"])


@pytest.mark.parametrize("asked", ["== '2020'", ">= 2020", "== '06.2020'", "== 2020"])
def test_a_part_of_a_date_is_refused_with_the_way_to_write_a_date(asked):
    with pytest.raises(InputError, match="'2020-01-01' <= seen <= '2020-12-31'"):
        rows(f"seen {asked}", seen=["03.06.2020", "25.06.2020"])
    assert rows(f"seen {asked}", seen=["2020", "2020"]) == [0, 1] if "06" not in asked else True
