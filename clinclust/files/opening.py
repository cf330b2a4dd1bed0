"""Check that a path names a file that can be read, before anything waits for it."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.visible_text import visible
from clinclust.nearest import did_you_mean

__all__ = ["check_readable", "shown_name"]

_LONGEST_NAME = 255  # of most file systems


def shown_name(path: Path) -> str:
    """Return the name of a file for a message, without characters that hide or reorder others."""
    return _shown(path.name or str(path), _LONGEST_NAME)


def _shown(text: str, length: int) -> str:
    """Return a path on one line, cut at its end; spaces are kept, so that it can be found by what is shown."""
    text = visible(text).replace("\n", "\u240a").replace("\t", "\u2409")
    return text if len(text) <= length else text[:length] + "…"


def check_readable(path: Path, *, may_be_empty: bool = False) -> int:
    """Return the size of a file in bytes. Raise OSError if it is no regular file, and InputError if it is empty.

    Reading a pipe or a device would wait for a writer, or never end.
    """
    shown = _shown(str(path), 2 * _LONGEST_NAME)
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        hint = ""
        with suppress(OSError):
            hint = did_you_mean(path.name, [file.name for file in path.parent.iterdir()])
        raise FileNotFoundError(f"there is no file {shown}.{hint}") from None
    except (OSError, ValueError) as error:  # ValueError: the path holds a NUL
        kind = type(error) if isinstance(error, OSError) else OSError
        raise kind(f"{shown} cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(f"{shown} is a folder; give the name of a file")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{shown} is a pipe or a device, not a file; save what it gives to a file, and read that")
    if found.st_size == 0 and not may_be_empty:
        raise InputError(f"{shown_name(path)}: the file is empty")
    return found.st_size
