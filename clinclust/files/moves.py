"""Put a set of new files into a folder so that a death at any moment leaves all of them or, at the next start, none.

What they replace is copied, and a plan is written down, before the first file moves. While there is a plan, the folder
can be brought back to what it was; when all files are in place, the plan is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from clinclust.control_characters import on_one_line
from clinclust.errors import InputError
from clinclust.files.scratch import LOCK, NEW, OLD, PLAN, alone_in, is_locked_by_us, is_scratch_name, remove_scratch
from clinclust.files.system_errors import naming

__all__ = ["LeftoverWarning", "carry_out", "is_plain_name", "settle_leftovers", "sync_folder"]

_OPENING = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_SEPARATOR_OR_CONTROL = re.compile(r"[/\\:\x00-\x1f\x7f]")


class LeftoverWarning(UserWarning):
    """A run that died had left files in a folder; the message says what was done with them."""


def carry_out(scratch: Path, folder: Path, *, placed: Sequence[str], removed: Sequence[str]) -> None:
    """Remove files of `folder` and put new ones of a scratch folder there, in order; after an error all is undone."""
    plan = {}
    for name in (*removed, *placed):
        with naming(folder / name):
            plan[name] = [_identity(folder / name), _identity(scratch / NEW / name)]
            if plan[name][0] is not None:
                shutil.copyfile(folder / name, scratch / OLD / name, follow_symlinks=False)
                with suppress(OSError):  # the file system may keep no permissions
                    shutil.copystat(folder / name, scratch / OLD / name, follow_symlinks=False)
    try:
        _write_down(plan, scratch)
        for name in removed:
            with naming(folder / name):
                (folder / name).unlink(missing_ok=True)
        for name in placed:
            with naming(folder / name):
                (scratch / NEW / name).replace(folder / name)
        sync_folder(folder)
        (scratch / PLAN).unlink()
        sync_folder(scratch)
    except BaseException:
        _undo(scratch, folder)
        raise


def settle_leftovers(folder: Path) -> None:
    """Bring `folder` back to what it was before runs that died; what a living process uses is left alone.

    Warns
    -----
    LeftoverWarning
        For each run that had left something.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if is_scratch_name(entry.name))
    except OSError:
        return  # the folder does not exist yet, or cannot be listed
    for name in names:
        said = _settle(folder / name, folder)
        if said:
            warnings.warn(f"{on_one_line(str(folder))}: {said}", LeftoverWarning, stacklevel=3)


def _settle(scratch: Path, folder: Path) -> str | None:
    """Settle one scratch folder, and return what to say of it; None if it is not ours to touch."""
    with alone_in(folder):
        try:
            is_folder = stat.S_ISDIR(scratch.lstat().st_mode)
            if not is_folder or not {entry.name for entry in scratch.iterdir()} <= {LOCK, NEW, OLD, PLAN, "draft"}:
                return None  # this package did not make it
            handle = os.open(scratch / LOCK, _OPENING, 0o600)
        except OSError:
            return None  # it is gone, or of another user
        if not is_locked_by_us(handle):
            os.close(handle)
            return None
        try:
            said = "removed the temporary files of a run that was interrupted"
            if _undo(scratch, folder):
                said = "a run was interrupted while it moved its files here; they were taken back: run it again"
        except (InputError, OSError) as error:
            said = f"a run was interrupted while it moved its files here, and this could not be mended: {error}"
    remove_scratch(scratch, handle)
    return said


def _undo(scratch: Path, folder: Path) -> bool:
    """Take back the moves whose plan is still in a scratch folder; return whether there is one.

    InputError is raised, before anything moves, if the plan is damaged or files of these names were written since.
    """
    if not (scratch / PLAN).exists():
        return False
    plan = _read(scratch / PLAN)
    now = {name: _identity(folder / name) for name in plan}
    anew = [name for name, identity in now.items() if identity not in (None, *plan[name])]
    if anew:
        raise InputError(
            f"{scratch} holds files of a run that was interrupted, and files of the same names were written since: "
            f"{', '.join(anew)}; look through both, keep what you need, and remove {scratch}"
        )
    for name, (before, _) in plan.items():
        if before is None:
            (folder / name).unlink(missing_ok=True)
        elif now[name] != before:
            (scratch / OLD / name).replace(folder / name)
    sync_folder(folder)
    (scratch / PLAN).unlink()
    return True


def is_plain_name(name: str) -> bool:
    """Return whether this is the name of a file in the folder itself, on every system."""
    return name not in ("", ".", "..") and not _SEPARATOR_OR_CONTROL.search(name) and len(name) <= 255


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write_down(plan: dict[str, list[str | None]], scratch: Path) -> None:
    """Write the plan so that it is there whole or not at all, after the files it speaks of are on the disk."""
    draft = scratch / "draft"
    draft.write_text(json.dumps(plan), encoding="utf-8")
    for path in (*(scratch / NEW).iterdir(), *(scratch / OLD).iterdir(), draft):
        if not path.is_symlink():
            with path.open("rb+") as content:
                os.fsync(content.fileno())
    for part in (scratch / NEW, scratch / OLD):
        sync_folder(part)
    draft.replace(scratch / PLAN)
    sync_folder(scratch)


def _read(path: Path) -> dict[str, list[str | None]]:
    try:
        plan = {str(name): [before, after] for name, (before, after) in json.loads(path.read_bytes()).items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        plan = {"": []}
    if not all(map(is_plain_name, plan)):
        raise InputError(f"{path} is damaged; look through {path.parent}, keep what you need, and remove it")
    return plan


def _identity(path: Path) -> str | None:
    """Return the SHA-256 of a file, or the target of a link; None if there is neither."""
    if path.is_symlink():
        return f"link to {path.readlink()}"
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
