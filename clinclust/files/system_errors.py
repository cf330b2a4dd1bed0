"""Say an error of the operating system as a sentence: which file, what happened, and what to do."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clinclust.control_characters import on_one_line
from clinclust.data import data

__all__ = ["PRIVATE_FOLDER", "naming", "plain_error", "plain_sentence"]

PRIVATE_FOLDER = re.compile(r"\.clinclust-\w+\.partial")
"""Name of a folder in which files wait for their places (`clinclust.files.writing`); a sentence names the place."""

_LONGEST_PATH = 300
_IN_A_PRIVATE_FOLDER = re.compile(rf"{PRIVATE_FOLDER.pattern}[/\\]|[/\\]{PRIVATE_FOLDER.pattern}$")
_MEANINGS = {getattr(errno, name): said for name, said in data("system_errors").items() if hasattr(errno, name)}


def plain_sentence(error: OSError, path: object = None, doing: str = "used") -> str:
    """Return what an error of the operating system says, as a sentence that names `path`, or the file of the error.

    `doing` is what was tried with it: ``written``, ``read`` or ``used``.
    """
    if _is_sentence(error):
        return str(error)
    name = path if path is not None else error.filename
    meaning = _MEANINGS.get(error.errno) or error.strerror or os.strerror(error.errno or 0)
    return meaning if name is None else f"{_shown(name)} cannot be {doing}: {meaning}"


def plain_error(error: OSError, path: object, doing: str) -> OSError:
    """Return an error of the same type and code whose message is the sentence."""
    sentence = plain_sentence(error, path, doing)
    made = type(error)(sentence) if type(error).__module__ == "builtins" else OSError(sentence)
    made.errno = error.errno
    return made


@contextmanager
def naming(path: Path, doing: str = "written", instead_of: Path | None = None) -> Iterator[None]:
    """Make an error of the operating system say in a sentence that `path` cannot be written.

    With `instead_of`, errors that name a file outside of this folder are left alone: they are about something else.
    """
    try:
        yield
    except OSError as error:
        is_elsewhere = instead_of is not None and not str(error.filename or instead_of).startswith(str(instead_of))
        if _is_sentence(error) or is_elsewhere:
            raise
        raise plain_error(error, path, doing) from error


def _is_sentence(error: OSError) -> bool:
    """Return whether an error has a message of this package and not of the system."""
    return error.errno is None or (error.strerror is None and error.filename is None)


def _shown(name: object) -> str:
    text = _IN_A_PRIVATE_FOLDER.sub("", on_one_line(os.fsdecode(name) if isinstance(name, bytes) else str(name)))
    return text if len(text) <= _LONGEST_PATH else f"{text[: _LONGEST_PATH // 2]}...{text[-_LONGEST_PATH // 2 :]}"
