"""A table of cases fails with all that are wrong, and with no other."""

import pytest
from scored import scored, wrong


def is_even(number):
    assert number % 2 == 0


def test_all_wrong_cases_are_listed_with_the_line_and_what_was_asserted():
    first, second = wrong([2, 3, 4, 5], is_even)
    assert first.startswith("case 1: 3\n    line 8, AssertionError:\n")
    assert "assert (3 % 2) == 0" in first
    assert second.startswith("case 3: 5\n")


def test_an_error_or_an_error_that_does_not_come_is_wrong_too():
    def refused(number):
        with pytest.raises(ZeroDivisionError):
            assert 1 / number

    assert [line.split("\n")[0] for line in wrong([0, 1, "a"], refused)] == ["case 1: 1", "case 2: 'a'"]
    assert wrong([(1, 2)], is_even) != []  # one argument too many


def test_two_tables_are_asked_in_all_combinations_beside_fixtures(tmp_path):
    asked = []

    @scored([1, 2])
    @scored([("a", "b"), ("c", "d")])
    def a_test(number, one, other, folder):
        asked.append((number, one, other, folder))
        assert (number, one) != (2, "a")

    with pytest.raises(pytest.fail.Exception, match=r"^1 of 4 cases are wrong\ncase 2: 2, 'a', 'b'\n"):
        a_test(folder=tmp_path)
    assert asked == [(number, *pair, tmp_path) for number in (1, 2) for pair in (("a", "b"), ("c", "d"))]


def test_an_empty_table_is_an_error():
    with pytest.raises(AssertionError, match="asks nothing"):
        scored([])
