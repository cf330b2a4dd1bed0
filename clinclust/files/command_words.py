"""Parts of a command that a message suggests, quoted so that they can be pasted into the shell of this system."""

from __future__ import annotations

import re

__all__ = ["argument", "name_in_condition", "text_in_condition"]

_LONGEST_NAME = 200
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
"""The names that a condition reads without backticks; Python's identifiers may hold more, such as a middle dot."""


def argument(name: str, value: str | list[str]) -> str:
    """Return an argument of a function as a message names it: ``by='date'``."""
    return f"{name}={value!r}"


def name_in_condition(name: str, number: int) -> str:
    """Return the name of a column as a condition takes it; its number in the file, if nobody could paste the name.

    ``age``, ```Age at visit```, ```#3```.
    """
    from clinclust.files.selection.condition import WORDS

    if _PLAIN_NAME.fullmatch(name) and name.casefold() not in WORDS and len(name) <= _LONGEST_NAME:
        return name
    return f"`{name}`" if "`" not in name and _can_be_pasted(name) else f"`#{number}`"


def text_in_condition(text: str) -> str | None:
    """Return a text as a condition takes it; None if no condition can hold it, or nobody could paste it."""
    quote = next((mark for mark in "\"'" if mark not in text), None)
    return None if quote is None or not _can_be_pasted(text) else f"{quote}{text}{quote}"


def _can_be_pasted(name: str) -> bool:
    return name.isprintable() and len(name) <= _LONGEST_NAME
