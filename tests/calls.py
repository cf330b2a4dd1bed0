"""How much work a call does, in calls of functions: the same on every machine, however busy."""

import sys

__all__ = ["calls_of"]


def calls_of(function, *arguments):
    """Return how many functions, written in Python or in C, `function(*arguments)` calls in this thread."""
    count = 0

    def seen(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return count
