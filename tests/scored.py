"""Tables of cases that one test asks in one go: it lists all that are wrong, and how many were asked."""

import functools
import inspect
import textwrap
import traceback

import pytest


def wrong(cases, ask):
    """Return what went wrong in each case, in the order of the table: an assertion of `ask`, or an error in it.

    A case that is a tuple holds the arguments of `ask`; any other is its one argument.
    """
    found = []
    for number, case in enumerate(cases):
        given = _arguments(case)
        try:
            ask(*given)
        except (Exception, pytest.fail.Exception) as error:
            place = traceback.extract_tb(error.__traceback__)[:2][-1]
            shown = textwrap.shorten(", ".join(map(repr, given)), 200, placeholder=" ...")
            said = textwrap.indent(str(error) or place.line, "      ")[:1500]
            found.append(f"case {number}: {shown}\n    line {place.lineno}, {type(error).__name__}:\n{said}")
    return found


def scored(cases):
    """Let a test be asked of all cases of a table in one go, and fail with those that are wrong.

    The values of a case are the first arguments of the test; any others are fixtures, which all cases share. A second
    table is asked in all combinations with the first. What a test draws should not depend on the cases before.
    """
    cases = [_arguments(case) for case in cases]
    assert cases, "a table without a case asks nothing"

    def made(test):
        inner, further = getattr(test, "asked", (test, [()]))
        table = [(*one, *other) for one in cases for other in further]
        fixtures = list(inspect.signature(inner).parameters.values())[len(table[0]) :]

        @functools.wraps(inner)
        def all_cases(**shared):
            found = wrong(table, functools.partial(inner, **shared))
            if found:
                pytest.fail("\n".join([f"{len(found)} of {len(table)} cases are wrong", *found]), pytrace=False)

        all_cases.__signature__ = inspect.Signature(fixtures)
        all_cases.asked = (inner, table)
        return all_cases

    return made


def _arguments(case):
    return case if isinstance(case, tuple) else (case,)


def few(cases, number):
    """Return the cases of a law for `parametrize`; the fast suite runs the first few, and simulations all of them."""
    marks = [[pytest.mark.simulation] * (place >= number) for place, _ in enumerate(cases)]
    return [pytest.param(*_arguments(case), marks=mark) for case, mark in zip(cases, marks, strict=True)]
