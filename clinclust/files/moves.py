"""Move a set of new files into a folder so that a death at any moment loses nothing.

The plan is written down first. From then on the moves can be finished, or taken back, by any later run: each step is
skipped if it was done already. What a move replaces waits among the old files until all moves are done.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.scratch import NEW, OLD, PLANS
from clinclust.files.system_errors import naming

__all__ = ["Plan", "carry_out", "finish", "is_plain_name", "sync_folder"]

_FORWARD, _BACK = PLANS
_SEPARATOR_OR_CONTROL = re.compile(r"[/\\:\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Plan:
    """What is to happen in a folder: which files are put in place, in order, and which are removed before.

    `stood` has the identity of each file that was there, by name.
    """

    placed: Sequence[str]
    removed: Sequence[str]
    stood: Mapping[str, str | None] = field(default_factory=dict)


def carry_out(plan: Plan, scratch: Path, folder: Path) -> None:
    """Put all new files of a scratch folder in their places in `folder`, or none: after an error all is taken back."""
    _write_down(replace(plan, stood={n: _identity(folder / n) for n in (*plan.placed, *plan.removed)}), scratch)
    try:
        _forward(plan, scratch, folder)
    except BaseException:
        (scratch / _FORWARD).replace(scratch / _BACK)
        _back(plan, scratch, folder)
        (scratch / _BACK).unlink()
        raise
    (scratch / _FORWARD).unlink()


def finish(scratch: Path, folder: Path) -> str | None:
    """Finish the moves that a dead process had begun, and return what was done; None if it had begun none.

    Raises
    ------
    InputError
        If the files no longer fit the plan, because others were written since; nothing was moved.
    OSError
        If a file cannot be moved.
    """
    for name, moves, said in ((_FORWARD, _forward, "put in place"), (_BACK, _back, "taken back")):
        if (scratch / name).exists():
            plan = _read(scratch / name)
            _check_fits(plan, scratch, folder)
            moves(plan, scratch, folder)
            (scratch / name).unlink()
            return said
    return None


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


def _forward(plan: Plan, scratch: Path, folder: Path) -> None:
    for name in plan.removed:
        _set_aside(folder / name, scratch / OLD / name)
    for name in plan.placed:
        if _is_there(scratch / NEW / name):
            with naming(folder / name):
                _keep(folder / name, scratch / OLD / name)
                (scratch / NEW / name).replace(folder / name)
    sync_folder(folder)


def _back(plan: Plan, scratch: Path, folder: Path) -> None:
    for name in plan.placed:
        if not _is_there(scratch / NEW / name) and _is_there(folder / name):
            (folder / name).replace(scratch / NEW / name)
    for name in (*plan.placed, *plan.removed):
        if _is_there(scratch / OLD / name):
            (scratch / OLD / name).replace(folder / name)
    sync_folder(folder)


def _keep(path: Path, old: Path) -> None:
    """Keep the file at `path` among the old ones, as a second link, so that its name is never without a file.

    Where a file can have one link only, it is moved.
    """
    if _is_there(old):
        return
    try:
        os.link(path, old, follow_symlinks=False)
    except (OSError, NotImplementedError):
        _set_aside(path, old)


def _set_aside(path: Path, old: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        raise IsADirectoryError(f"{path} is a folder, in the place of a file; move it away")
    with naming(path), suppress(FileNotFoundError):
        path.replace(old)


def _check_fits(plan: Plan, scratch: Path, folder: Path) -> None:
    """Raise InputError if a file that would be replaced or removed was written after the plan."""
    waiting = [name for name in plan.placed if _is_there(scratch / NEW / name)]
    anew = [
        name
        for name in (*waiting, *plan.removed)
        if _is_there(folder / name) and _identity(folder / name) != plan.stood.get(name)
    ]
    if anew:
        raise InputError(
            f"{scratch} holds files of a run that was interrupted, and files of the same names were written since: "
            f"{', '.join(anew)}; look through both, keep what you need, and remove {scratch}"
        )


def _write_down(plan: Plan, scratch: Path) -> None:
    """Write the plan so that it is there whole or not at all, after the files it speaks of are on the disk."""
    for path in (scratch / NEW).iterdir():
        with path.open("rb+") as content:
            os.fsync(content.fileno())
    sync_folder(scratch / NEW)
    draft = scratch / "plan"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(plan), file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(scratch / _FORWARD)
    sync_folder(scratch)


def _read(path: Path) -> Plan:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        plan = Plan(list(content["placed"]), list(content["removed"]), dict(content["stood"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        plan = Plan([""], [])
    if not all(isinstance(name, str) and is_plain_name(name) for name in (*plan.placed, *plan.removed)):
        raise InputError(f"{path} is damaged; look through {path.parent}, keep what you need, and remove it")
    return plan


def _identity(path: Path) -> str | None:
    """Return what tells a file from one that was written or changed later under its name; None if there is none.

    It is the SHA-256 of the content, or the target of a link, which a copy of the folder keeps.
    """
    try:
        if path.is_symlink():
            return f"link to {path.readlink()}"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None
    except OSError:  # a folder, or a file that only others can read
        return "unreadable"


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()
