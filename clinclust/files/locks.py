"""Locks that end with the process that holds them, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

__all__ = ["Lock", "alone_in", "try_lock"]

Lock: TypeAlias = Literal["ours", "another", "nobody"]
_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, wait: bool) -> None:
        msvcrt.locking(handle, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int, *, wait: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def try_lock(handle: int) -> Lock:
    """Lock an open file without waiting, and return who holds the lock now: this process, another, or nobody.

    Nobody holds it where the file system has no locks.
    """
    try:
        _lock(handle, wait=False)
    except OSError as error:
        return "another" if error.errno in _HELD else "nobody"
    return "ours"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process after the other run the block for this folder.

    Windows and some network folders cannot lock a folder: there the block runs without waiting.
    """
    handle = None
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        _lock(handle, wait=True)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)
