"""Cases of tests that are data: the tables of `cases.toml` beside a test."""

import tomllib
from pathlib import Path


def read_beside(test):
    """Return `cases.toml` beside a test, as it is."""
    return tomllib.loads(Path(test).with_name("cases.toml").read_text(encoding="utf-8"))


def cases_beside(test, part):
    """Return the cases of a part: for each its values, a tuple unless it is one text or number."""
    return [_values(case) for case in read_beside(test)[part]]


def _values(case):
    case = list(case.values()) if isinstance(case, dict) else case
    return tuple(case) if isinstance(case, list) else case
