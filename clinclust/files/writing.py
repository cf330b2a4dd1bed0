"""Write files so that a crash never leaves half of one, and never costs the one that was there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["atomic_write", "check_place", "write_together"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the place of `path` when the block ends without an error.

    The temporary file lies in the same folder (so that the replacement is one step of the file system) and keeps
    the suffix of `path` (some writers choose their format by it). It is flushed to disk before it replaces
    `path`; after an error it is removed and `path` is as it was.

    Raises
    ------
    FileNotFoundError
        If the folder of `path` does not exist.
    OSError
        If nothing can be written there.
    """
    path = Path(path)
    check_place(path)
    with _about(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        # mkstemp makes private files; a report is to be as readable as any other new file of this user.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        with _about(path):
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_place(path: Path) -> None:
    """Raise OSError if `path` is a folder, or its folder does not exist."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")


@contextmanager
def write_together(folder: str | os.PathLike[str], *, replacing: Collection[str] = ()) -> Iterator[Path]:
    """Give a temporary folder to write to; its files go to `folder` together when the block ends without an error.

    They take the places of files of the same names, and of all files named in `replacing`: one of these that was not
    written is gone from `folder`, so that it never stands beside files of a later run. After an error `folder` is as
    it was: made by this function, it is gone again; old files are still there.

    Raises
    ------
    OSError
        If `folder` is a file, or nothing can be written there; this is found out before the block begins.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file, not a folder")
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        with _about(folder):
            folder.mkdir(parents=True, exist_ok=True)
            scratch = tempfile.TemporaryDirectory(prefix=".clinclust-", dir=folder)
        with scratch as name:
            new, old = Path(name, "new"), Path(name, "old")
            new.mkdir()
            old.mkdir()
            yield new
            _take_places(new, folder, old, replacing)
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def _take_places(new: Path, folder: Path, old: Path, replacing: Collection[str]) -> None:
    """Move all files of `new` to `folder`, or none; what they replace, and the rest of `replacing`, goes to `old`."""
    placed: list[Path] = []
    try:
        for target in (folder / name for name in replacing if not (new / name).exists()):
            with _about(target), suppress(FileNotFoundError):
                target.replace(old / target.name)
        for file in sorted(new.iterdir()):
            target = folder / file.name
            with _about(target):
                if target.exists():
                    target.replace(old / file.name)
                placed.append(target)
                file.replace(target)
    except BaseException:
        for target in placed:
            target.unlink(missing_ok=True)
        for file in old.iterdir():
            file.replace(folder / file.name)
        raise


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Let an error of the operating system name the file that was wanted, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}") from error
