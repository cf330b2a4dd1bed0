"""Parts of a command that a message suggests, quoted so that they can be pasted into the shell of this system."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import subprocess

__all__ = ["in_shell", "name_in_condition", "names_in_list", "option_in_shell", "option_words", "text_in_condition"]

_LONGEST_NAME = 200
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
"""The names that a condition reads without backticks; Python's identifiers may hold more, such as a middle dot."""


def in_shell(*words: str) -> str:
    """Return words as the shell of this system reads them."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def option_in_shell(option: str, value: str) -> str:
    """Return an option with its value: ``--by date``, and ``--by=-1`` if the value begins as an option does."""
    return in_shell(*option_words(option, value))


def option_words(option: str, value: str) -> tuple[str, ...]:
    """Return the words of an option with its value: one, if the value begins as an option does."""
    return (f"{option}={value}",) if value.startswith("-") else (option, value)


def names_in_list(*names: str) -> str:
    """Return names as an option of several names takes them: those with a comma or a quote stand in double quotes."""
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(names)
    return written.getvalue()


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
