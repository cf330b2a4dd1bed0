"""The one kind of temporary thing of this package: a private folder beside the file that is to be written.

It is named ``.clinclust-scratch-`` and 16 hexadecimal digits. Its process holds a lock on the file ``lock`` inside; the
lock ends with the process, however it ends, so that a later run can tell what a dead process left from what a living
one uses.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

from clinclust.files.system_errors import naming

__all__ = [
    "LOCK",
    "NEW",
    "OLD",
    "PLANS",
    "alone_in",
    "final_place",
    "is_scratch_name",
    "remove_scratch",
    "scratch_folder",
    "try_lock",
]

LOCK, NEW, OLD = "lock", "new", "old"
"""What lies in a scratch folder: the lock, the files to be put in place, and the files that they replace."""

PLANS = ("forward", "back")
"""Names of the plan of moves that are under way; while there is one, the folder holds the only copy of some files."""

_PREFIX = ".clinclust-scratch-"
_PASSES = 3  # a program that looks through new files may hold one for a moment
_NAME = re.compile(re.escape(_PREFIX) + "[0-9a-f]{16}")
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
    """Lock an open file without waiting, and return who holds the lock now; nobody, where the system has no locks."""
    try:
        _lock(handle, wait=False)
    except OSError as error:
        return "another" if error.errno in _HELD else "nobody"
    return "ours"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process after the other run the block for this folder, where the system can lock folders."""
    handle = None
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        _lock(handle, wait=True)
    try:
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
    """Yield a new scratch folder in `folder`, locked by this process; it is removed at the end, unless files remain.

    Only its owner can read it: it may hold data of patients in a folder that others read. If it cannot be made, the
    OSError names `shown`, the file or folder that was to be written.
    """
    with naming(shown):
        scratch, handle = _made(folder)
    try:
        with naming(shown):
            (scratch / NEW).mkdir()
            (scratch / OLD).mkdir()
        yield scratch
    finally:
        remove_scratch(scratch, handle)


def _made(folder: Path) -> tuple[Path, int]:
    """Make a scratch folder, and return it with its locked file."""
    while True:
        scratch = folder / f"{_PREFIX}{secrets.token_hex(8)}"
        scratch.mkdir(mode=0o700)
        # As long as it is not locked, another run may take it for that of a dead process: then a new one is made.
        try:
            handle = os.open(scratch / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:
            continue
        except BaseException:
            with suppress(OSError):
                scratch.rmdir()
            raise
        if try_lock(handle) != "another" and os.fstat(handle).st_nlink:
            return scratch, handle
        os.close(handle)


def remove_scratch(scratch: Path, handle: int) -> None:
    """Remove a scratch folder and then its lock, so that a removal that was cut short can be taken up again.

    A folder with a plan is kept, because its moves are not finished. What cannot be removed is left to the next run.
    """
    if any((scratch / name).exists() for name in PLANS):
        os.close(handle)
        return
    for _ in range(_PASSES):
        with suppress(OSError):
            for content in sorted(scratch.iterdir()):
                if content.is_dir() and not content.is_symlink():
                    shutil.rmtree(content, ignore_errors=True)
                elif content.name != LOCK:
                    content.unlink(missing_ok=True)
    if os.name == "nt":  # an open file cannot be removed there
        os.close(handle)
    for _ in range(_PASSES):
        with suppress(OSError):
            (scratch / LOCK).unlink(missing_ok=True)
            scratch.rmdir()
            break
    if os.name != "nt":
        os.close(handle)
