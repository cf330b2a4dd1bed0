"""Words of a command that a message suggests, quoted so that they can be pasted into the shell of this system."""

from __future__ import annotations

import csv
import io
import os
import shlex
import subprocess

__all__ = ["column_in_condition", "column_word", "shell_words"]

_LONGEST_NAME = 200


def shell_words(*words: str) -> str:
    """Return words as a shell reads them.

    Examples
    --------
    >>> from clinclust.files.command_words import shell_words
    >>> print(shell_words("--one-row-per", "id"))
    --one-row-per id
    """
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def column_word(name: str, number: int | None = None) -> str:
    """Return a name as an option of names takes it: a name with a comma or a quote stands in double quotes.

    Parameters
    ----------
    name : str
    number : int, optional
        The number of the column in its file, from 1. It takes the place of a name that nobody could paste: a very long
        one, or one with characters that no terminal shows.
    """
    if number is not None and not _can_be_pasted(name):
        return f"#{number}"
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow([name])
    return written.getvalue()


def column_in_condition(name: str, number: int | None = None) -> str:
    """Return a name as a condition takes it, in backticks; see `column_word`."""
    if number is not None and ("`" in name or not _can_be_pasted(name)):
        return f"`#{number}`"
    return f"`{name}`"


def _can_be_pasted(name: str) -> bool:
    return name.isprintable() and len(name) <= _LONGEST_NAME
