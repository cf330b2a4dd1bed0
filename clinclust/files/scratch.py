"""A private folder beside the file that is to be written, named ``.clinclust-scratch-`` and 16 hexadecimal digits.

Its process holds a lock on the file ``lock`` inside, which ends with the process, however it ends: so a later run can
tell what a dead process left from what a living one uses.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clinclust.files.system_errors import naming

__all__ = [
    "LOCK",
    "NEW",
    "OLD",
    "PLAN",
    "alone_in",
    "final_place",
    "is_locked_by_us",
    "is_scratch_name",
    "remove_scratch",
    "scratch_folder",
]

LOCK, NEW, OLD, PLAN = "lock", "new", "old", "plan"
"""What lies in a scratch folder: lock, files to be put in place, copies of what they replace, plan of moves begun."""

_PREFIX = ".clinclust-scratch-"
_NAME = re.compile(re.escape(_PREFIX) + "[0-9a-f]{16}")
_PASSES = 3  # a program that looks through new files may hold one for a moment

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, wait: bool) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int, *, wait: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked_by_us(handle: int) -> bool:
    """Lock an open file without waiting; return False if another process holds it, or the system has no locks."""
    try:
        _lock(handle, wait=False)
    except OSError:
        return False
    return True


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process after the other run the block for this folder, where the system can lock folders."""
    handle = None
    try:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            _lock(handle, wait=True)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def is_scratch_name(name: str) -> bool:
    """Return whether this is the name of a scratch folder."""
    return _NAME.fullmatch(name) is not None


def final_place(path: Path) -> Path:
    """Return where a file of a scratch folder will go; any other path is returned unchanged."""
    for place, part in enumerate(path.parts):
        if is_scratch_name(part):
            inside = path.parts[place + 1 :]
            return final_place(Path(*path.parts[:place], *(inside[1:] if inside[:1] == (NEW,) else inside)))
    return path


@contextmanager
def scratch_folder(folder: Path, shown: Path) -> Iterator[Path]:
    """Yield a new scratch folder in `folder`, locked by this process; it is removed at the end, unless a plan remains.

    Only its owner can read it, because it may hold data of patients. An OSError names `shown`, what is to be written.
    """
    scratch, handle = folder / f"{_PREFIX}{secrets.token_hex(8)}", None
    try:
        with naming(shown), alone_in(folder):  # a later run never sees the folder without its lock
            scratch.mkdir(mode=0o700)
            handle = os.open(scratch / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            is_locked_by_us(handle)
            (scratch / NEW).mkdir()
            (scratch / OLD).mkdir()
        yield scratch
    finally:
        remove_scratch(scratch, handle)


def remove_scratch(scratch: Path, handle: int | None) -> None:
    """Close the lock of a scratch folder and remove it, unless a plan says that moves have not been taken back."""
    with alone_in(scratch.parent):
        if handle is not None:
            os.close(handle)
        for _ in range(_PASSES):
            if scratch.exists() and not (scratch / PLAN).exists():
                shutil.rmtree(scratch, ignore_errors=True)
