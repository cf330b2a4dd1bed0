"""Write files whole or not at all: into a private folder next to their places, and from there by `os.replace`.

After an error all is as it was before. A killed process leaves a single file as it was or new. Killed between two moves
of a set, it leaves files of two runs: then the manifest, which moves last, does not match, and readers refuse them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.system_errors import PRIVATE_FOLDER, naming

__all__ = ["atomic_write", "check_place", "write_together"]

_REPLACED = ".replaced"
"""Name of the part of a private folder that holds the replaced files until all have moved."""
_OLD = 7 * 24 * 3600  # seconds; no run lasts as long
_PASSES = 3  # a program that looks through new files may hold one for a moment


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; the file replaces `path` if the block ends without an error.

    It has the name of `path` and the permissions of the file that it replaces. A link is replaced, and what it leads to
    stays. After an error `path` is unchanged.

    Raises
    ------
    OSError
        If `path` cannot be written; an error of the operating system inside the block names `path`.
    """
    path = Path(path)
    _check_file(path)
    with _private_folder(path.parent, path) as private, naming(path, instead_of=private):
        (private / path.name).touch()
        yield private / path.name
        _move(private, path.parent, [path.name])


@contextmanager
def write_together(
    folder: str | os.PathLike[str], *, replacing: Collection[str] = (), last: str | None = None
) -> Iterator[Path]:
    """Yield a temporary folder to write to; its files move to `folder` together if the block ends without an error.

    After an error `folder` is as it was before, and a folder made by this function is removed.

    Parameters
    ----------
    folder : str or path
        It is made if it does not exist.
    replacing : collection of str
        Names of files that this set replaces: those that were not written are removed.
    last : str, optional
        Name of the file that moves after all others, such as a manifest.

    Raises
    ------
    OSError
        If `folder` is a file or cannot be written; this is checked before the block begins.
    """
    folder = Path(folder)
    _refuse_impossible_name(folder)
    with naming(folder):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file, not a folder")
    for name in replacing if folder.is_dir() else ():
        _check_file(folder / name)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        with naming(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with _private_folder(folder, folder) as private:
            yield private
            names = sorted((file.name for file in private.iterdir()), key=lambda name: (name == last, name))
            with naming(folder, instead_of=private):
                _move(private, folder, names, removed=[name for name in replacing if name not in names])
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def check_place(path: Path) -> None:
    """Raise OSError, or InputError for a name that no file can have, if no file can be written at `path`.

    It is tried whether the folder can be written, and whether another program holds a file that is there already.
    """
    _check_file(path)
    with _private_folder(path.parent, path):
        pass


def _check_file(path: Path) -> None:
    """Raise an error unless a file can be made or replaced at `path`, as far as this depends on what is there.

    Renaming would replace devices, pipes and protected files.
    """
    _refuse_impossible_name(path)
    with naming(path):
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder, in the place of a file; move it away, or give another name")
        if not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
        if (path.exists() and not path.is_file()) or path.absolute().parent == Path("/dev"):
            raise OSError(f"{path} is no ordinary file, and cannot be replaced by one; give another name")
        if path.is_file() and not path.is_symlink():
            try:
                path.open("rb+").close()
            except PermissionError:
                raise PermissionError(
                    f"{path} is protected from writing, or another program has it open; close that program, allow "
                    "writing, or give another name"
                ) from None


def _refuse_impossible_name(path: Path) -> None:
    """Raise InputError if the name holds a character that no name on this system can hold."""
    try:
        possible = b"\x00" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InputError(f"{str(path)!r} cannot be the name of a file or folder here; choose another name")


class _NotPutBackError(OSError):
    """Files of two runs were left in a folder, and the private folder holds the rest of the earlier run."""


@contextmanager
def _private_folder(parent: Path, shown: Path) -> Iterator[Path]:
    """Yield a new folder in `parent`, and remove it at the end. An OSError names `shown`, what is to be written.

    Only its owner can read it, because it may hold data of patients. Those that killed processes left are removed.
    """
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            is_ours = PRIVATE_FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if is_ours and time.time() - entry.stat().st_mtime > _OLD:
                shutil.rmtree(entry, ignore_errors=True)
    with naming(shown):
        private = Path(tempfile.mkdtemp(prefix=".clinclust-", suffix=".partial", dir=parent))
    is_needed = False
    try:
        yield private
    except _NotPutBackError:
        is_needed = True
        raise
    finally:
        for _ in range(_PASSES):
            if not is_needed and private.exists():
                shutil.rmtree(private, ignore_errors=True)


def _move(private: Path, folder: Path, names: Sequence[str], removed: Sequence[str] = ()) -> None:
    """Move files of a private folder to `folder` and remove others there; after an error all are put back.

    The last move completes the set. It alone is atomic, so what it replaces need not be put aside.
    """
    for name in names:
        _check_file(folder / name)
        with (private / name).open("rb+") as content:
            os.fsync(content.fileno())
        with suppress(OSError):  # there is no file yet, or the file system keeps no permissions
            if not (folder / name).is_symlink():
                shutil.copymode(folder / name, private / name)
    replaced = private / _REPLACED
    replaced.mkdir()
    try:
        for name in (*removed, *names):
            with naming(folder / name):
                if os.path.lexists(folder / name) and name not in names[-1:]:
                    (folder / name).replace(replaced / name)
                if name in names:
                    (private / name).replace(folder / name)
    except BaseException:
        if not names or os.path.lexists(private / names[-1]):
            _put_back(private, folder, names[:-1], removed)
        raise
    with suppress(OSError):  # some systems cannot flush the names in a folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _put_back(private: Path, folder: Path, names: Sequence[str], removed: Sequence[str]) -> None:
    """Undo the moves of these files, as far as they came: what has moved is no longer in the private folder."""
    replaced = private / _REPLACED
    try:
        for name in (*removed, *names):
            with naming(folder / name):
                if os.path.lexists(replaced / name):
                    (replaced / name).replace(folder / name)
                elif name in names and not os.path.lexists(private / name):
                    (folder / name).unlink(missing_ok=True)
    except BaseException as error:
        raise _NotPutBackError(
            f"{folder} holds files of two runs, because they could be neither moved nor put back ({error}); move the "
            f"files of {replaced} to {folder} within a week to have what was there before"
        ) from error
