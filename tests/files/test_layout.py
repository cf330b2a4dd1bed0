"""Which rows are subjects: those that somebody names, no header that is none, and no totals, wherever they stand."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_row_choice import told_of

from clinclust.errors import InputError
from clinclust.files.text_table import RowRanges, ranges_of

NAMES = ["patient", "age", "crp", "sex"]


def cohort(n, seed=0):
    rng = np.random.default_rng(seed)
    ages, sexes = rng.integers(30, 90, n), rng.choice(["m", "f"], n)
    return [
        [f"P{at:02}", str(age), f"{rng.gamma(2, 5):.1f}", sex]
        for at, (age, sex) in enumerate(zip(ages, sexes, strict=True))
    ]


def read(folder, table, **options):
    """Return what is read of these rows, and what is told."""
    path = folder / "cohort.csv"
    path.write_text("\n".join(";".join(row) for row in table) + "\n")
    frame, told = told_of(path, **options)
    return [frame.columns.tolist(), *frame.to_numpy().tolist()], " ".join(told)


ranges = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 6)), min_size=1, max_size=5)


@given(ranges, st.booleans())
def test_ranges_mean_the_rows_that_they_write(gaps_and_lengths, is_open):
    ends, at = [], 0
    for gap, length in gaps_and_lengths:
        ends.append((at + gap, at + gap + length))
        at += gap + length
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)
    meant = {number for first, last in ends for number in range(first, last + 1)}
    if is_open:
        text += f",{at + 2}-"
        meant |= set(range(at + 2, at + 99))
    rows = RowRanges.parsed(text)
    assert {number for number in range(at + 99) if number in rows} == meant


@given(st.sets(st.integers(1, 60), min_size=1), st.sets(st.integers(1, 60)))
def test_written_ranges_hold_every_row_and_none_of_those_between(kept, between):
    between -= kept
    text = ranges_of(sorted(kept), between)
    if text is not None:
        rows = RowRanges.parsed(text)
        assert all(number in rows for number in kept)
        assert not any(number in rows for number in between)


@pytest.mark.parametrize("text", ["", "x", "0-4", "4-3", "2-3,3-5", "5,2", "2-3-4", "-5", "2;5", "2-,5-6"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(InputError, match="rows="):
        RowRanges.parsed(text)


@given(st.integers(3, 40), st.integers(0, 99))
def test_a_table_without_its_header_is_asked_about_and_with_it_is_read(tmp_path_factory, n, seed):
    folder, rows = tmp_path_factory.mktemp("any"), cohort(n, seed)
    found, told = read(folder, [NAMES, *rows])
    assert (found, told) == ([NAMES, *rows], "")
    with pytest.raises(InputError, match=r"row 1 .* looks like a subject .* header_row=0"):
        read(folder, rows)
    found, told = read(folder, rows, header_row=0)
    assert found[1:] == rows


@pytest.mark.parametrize(
    ("word", "figure"),
    [
        ("Summe", np.sum),
        ("Total", np.sum),
        ("Mittelwert", np.mean),
        ("Median", np.median),
        ("SD", lambda values: np.std(values, ddof=1)),
        ("N", np.size),
        ("Maximum", np.max),
        ("min", np.min),
    ],
)
@pytest.mark.parametrize("place", [6, 12])
def test_a_total_of_the_rows_above_it_is_left_out_wherever_it_stands(tmp_path, word, figure, place):
    rows = cohort(12)
    above = np.array([[float(text) for text in row[1:3]] for row in rows[:place]])
    total = [word, *(f"{figure(above[:, at]):.2f}" for at in range(2)), ""]
    found, told = read(tmp_path, [NAMES, *rows[:place], total, *rows[place:]])
    assert found == [NAMES, *rows]
    assert f"row {place + 2} ('{word}'): totals or means of the rows above, left out" in told


@given(st.integers(0, 99), st.integers(1, 11), st.sampled_from(["Summe", "Mean", "Gesamt"]))
def test_a_total_that_agrees_with_nothing_is_asked_about_and_both_answers_are_obeyed(
    tmp_path_factory, seed, place, word
):
    folder, rows = tmp_path_factory.mktemp("any"), cohort(12, seed)
    table = [NAMES, *rows[:place], [word, "98765", "98765", ""], *rows[place:]]
    with pytest.raises(InputError, match=rf"row {place + 2} .*: the word of a total") as caught:
        read(folder, table)
    without, every = re.findall(r"rows='([0-9,-]+)'", str(caught.value))
    assert read(folder, table, rows=without)[0] == [NAMES, *rows]
    assert read(folder, table, rows=every)[0] == table


def test_every_doubt_of_a_file_is_in_one_message_with_one_answer(tmp_path):
    rows = cohort(12)
    table = [
        NAMES,
        ["Who?", "How old?", "How much?", "Which?"],
        *rows[:6],
        ["moved away", "", "", ""],
        *rows[6:],
        ["", "", "", ""],
        ["group", "mean", "sd", ""],
        ["A", "50", "3", ""],
    ]
    with pytest.raises(InputError) as caught:
        read(tmp_path, table)
    said = str(caught.value)
    assert all(words in said for words in ("row 2 holds", "row 9 (", "rows 17, 18 ("))
    assert read(tmp_path, table, rows=re.search(r"rows='([0-9,-]+)'", said)[1])[0] == [NAMES, *rows]


def test_many_doubts_make_no_long_message(tmp_path):
    rows = cohort(400)
    table = [NAMES, *(row for at, one in enumerate(rows) for row in (one, [f"remark no. {'x' * at}", "", "", ""]))]
    with pytest.raises(InputError, match="say with `rows` which rows are subjects") as caught:
        read(tmp_path, table)
    assert len(str(caught.value)) < 4000
