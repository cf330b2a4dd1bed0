"""A condition and an order read numbers and dates as the column writes them, or refuse with a repair."""

import datetime
import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_rows_and_columns import told_of

from clinclust import read_cohort
from clinclust.errors import InputError
from clinclust.files.conditions import Matching, Reader, name_in_condition, parsed, text_in_condition
from clinclust.files.text_table import TableRead


def rows(condition, decimal=None, dates=None, **columns):
    read = TableRead(pd.DataFrame(columns))
    return np.flatnonzero(Matching(Reader(read, decimal, dates)).of(parsed(condition))).tolist()


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
DATE_WRITERS = {
    "iso": "%Y-%m-%d",
    "points": "%d.%m.%Y",
    "day first": "%d/%m/%Y",
    "month first": "%m/%d/%Y",
    "with time": "%d.%m.%Y 12:30",
}
SIGNS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
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


@pytest.mark.parametrize(
    ("condition", "columns", "words"),
    [
        ("x > 5", {"x": ["4,887", "5.402"]}, "may be a decimal mark or keep thousands apart: say decimal=','"),
        ("x > 5", {"x": ["0,820", "0.813", "1,234"]}, "may be a decimal mark or keep thousands apart"),
        ("x > 5", {"x": ["1,234", "2,345"]}, "may be a decimal mark or keep thousands apart: say decimal=','"),
        ("x > '5 g/L'", {"x": ["1", "2"]}, "'5 g/L', with which 'x' is compared, is no date and no number"),
        ("x > 1,234", {"x": ["1.5", "2"]}, "could be read in two ways"),
        ("x > '1.500'", {"x": ["1,5", "2"]}, "could be read in two ways"),
        ("x > 1.500", {"x": ["1.234,5", "2"]}, "could be read in two ways"),
        ("x > '2020-01-01'", {"x": ["03/04/2020"]}, "say dates='day-first' or dates='month-first'"),
        ("x > '2020-01-01'", {"x": ["13/04/2020", "04/13/2020"]}, "'04/13/2020' and '13/04/2020': not all cells"),
        ("x > '2020-01-01'", {"x": ["03.04.20"]}, "'03.04.20': not all .*, with a year of four digits; write them"),
        ("x > '2020-01-01'", {"x": ["31.02.2020"]}, "'31.02.2020': not all cells are dates"),
        ("x > '2020-01-01'", {"x": ["01.02.2020 25:00"]}, "not all cells are dates"),
        ("x > '01/02/2020'", {"x": ["2020-03-04"]}, "the date with which 'x' is compared holds '01/02/2020', and no"),
        ("x > '01.02.20'", {"x": ["2020-03-04"]}, "'x' is compared holds '01.02.20': not all"),
    ],
)
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


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (["03/04/2020", "04/03/2020"], "'seen' holds '03/04/2020', and no date in it tells .* say dates="),
        (["3.4.20", "4.3.20"], "'seen' holds '3.4.20': not all cells are dates"),
        (["2020-01-01", "soon"], "`by`: 'seen' holds neither numbers nor dates .*'soon'"),
        (["5 mg", "3 g"], "`by`: 'seen' holds neither numbers nor dates .*'5 mg'"),
    ],
)
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


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("visit == 'Baseline'", r"met by no row \('baseline', 'month 6'\)\. Did you mean 'baseline'\?"),
        ("visit == 'month6'", "Did you mean 'month 6'"),
        ("visit == 'basline'", r"\('baseline', 'month 6'\). Did you mean 'baseline'\?"),
        ("visit == 'baseline' and age > 999", "'age' > '999' is met by no row"),
        ("name == 'q'", r"'name' == 'q' is met by no row \(40 different values\)"),
        ("empty == 'x'", r"'empty' == 'x' is met by no row \(no value\)"),
        ("empty is not missing", "rows meet each part of it, and none meets all"),
    ],
)
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
    assert frame.attrs["rows_taken"] == {
        "choice": {"where": "age > 50", "one_row_per": "id"},
        "counts": {"in_table": 5, "not_meeting": 2, "unknown": 1, "further": 0, "outside": 0},
    }
    _, told = told_of(path, where="age != 61")
    assert "1 rows are left out because their cells in 'age' are empty" in " ".join(told)


def test_the_order_of_dates_is_kept_with_the_choice(tmp_path):
    """The same words then mean the same in a table whose dates do not tell the order."""
    frame, _ = told_of(written(tmp_path, seen=["03/25/2020", "04/03/2020"]), where="seen > '2020-03-26'")
    choice = frame.attrs["rows_taken"]["choice"]
    assert choice == {"where": "seen > '2020-03-26'", "dates": "month-first"}
    frame, _ = told_of(written(tmp_path, seen=["03/04/2020", "04/03/2020"]), **choice)
    assert frame["seen"].tolist() == ["04/03/2020"]


@given(st.text(min_size=1, max_size=20))
@example("A·")
def test_suggested_conditions_can_be_pasted(name):
    """A condition finds its column and its text."""
    frame = pd.DataFrame({"other": ["x"], name: [name]})
    text = text_in_condition(name)
    if text is None or name == "other":
        return
    found = Matching(Reader(TableRead(frame))).of(parsed(f"{name_in_condition(name, 2)} == {text}"))
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


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("not x > 60", [1]),
        ("not (x > 60 and y == 'a')", [1, 2]),
        ("not x > 60 or y == 'b'", [1, 2]),
        ("x > 60 or x is missing", [0, 3]),
        ("x != 40", [0]),
        ("not y in ('a')", [2]),
    ],
)
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


def test_subjects_that_differ_by_case_or_spaces_are_told(tmp_path):
    path = written(tmp_path, id=["P005", "p005", "P 005", "Q1", "Q1"], age=["10", "61", "62", "", "63"])
    frame, told = told_of(path, one_row_per="id")
    assert len(frame) == 4
    assert "2 values of 'id' differ only by case or spaces from another one" in " ".join(told)
    assert "differ only" not in " ".join(
        told_of(written(tmp_path, id=list("aab"), age=["1", "2", "3"]), one_row_per="id")[1]
    )


def test_a_condition_that_keeps_nothing_says_of_how_many_rows_it_is_not_known(tmp_path):
    path = written(tmp_path, egfr=[">90", ">90", "60", "55"], age=["1", "2", "3", "4"])
    with pytest.raises(InputError, match=r"keeps none of 4 rows.*; 2 rows are left out because"):
        told_of(path, where="egfr > 100")
