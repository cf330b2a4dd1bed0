"""Write files whole or not at all: into a private folder next to their places, and from there by `os.replace`.

A killed process leaves a single file as it was or new. Killed between two moves of a set, it leaves files of two runs:
then the manifest, which moves last, does not match, and readers refuse them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from clinclust.data import data
from clinclust.errors import InputError, on_one_line
from clinclust.files import say

# the name of a folder in which files wait for their places; a sentence names the place
PRIVATE_FOLDER = re.compile(r"\.clinclust-\w+\.partial")
_LONGEST_PATH = 300
_IN_A_PRIVATE_FOLDER = re.compile(rf"{PRIVATE_FOLDER.pattern}[/\\]|[/\\]{PRIVATE_FOLDER.pattern}$")
_MEANINGS = {getattr(errno, name): meaning for name, meaning in data("system_errors").items() if hasattr(errno, name)}


def plain_error(error: OSError, path: object = None, doing: str = "used") -> OSError:
    """Return an error of the same type and code whose message is a sentence: ``FILE cannot be used: MEANING``."""
    if error.errno is None or (error.strerror is None and error.filename is None):  # a sentence of this package
        return error
    path = path if path is not None else error.filename
    meaning = _MEANINGS.get(error.errno) or error.strerror or os.strerror(error.errno)
    name = _IN_A_PRIVATE_FOLDER.sub("", on_one_line(os.fsdecode(path) if isinstance(path, bytes) else str(path)))
    name = name if len(name) <= _LONGEST_PATH else f"{name[: _LONGEST_PATH // 2]}...{name[-_LONGEST_PATH // 2 :]}"
    sentence = meaning if path is None else f"{name} cannot be {doing}: {meaning}"
    plain = type(error)(sentence) if type(error).__module__ == "builtins" else OSError(sentence)
    plain.errno = error.errno
    return plain


@contextmanager
def naming(path: Path, instead_of: Path | None = None) -> Iterator[None]:
    """Make each error of the system a sentence on `path`; with `instead_of`, only if it names a file in this folder."""
    try:
        yield
    except Exception as error:
        # lxml, by which openpyxl writes, has an error of the system by its name only: "IO_ENOSPC".
        named = getattr(errno, str(error).removeprefix("IO_"), 0) if type(error).__name__ == "SerialisationError" else 0
        failure = OSError(named, os.strerror(named)) if named else error
        plain = plain_error(failure, path, "written") if isinstance(failure, OSError) else failure
        place = getattr(failure, "filename", None) or instead_of or ""
        if plain is failure or not str(place).startswith(str(instead_of or "")):
            raise
        raise plain from error


_REPLACED = ".replaced"  # the part of a private folder that holds the replaced files until all have moved
_OLD = 7 * 24 * 3600  # seconds; no run lasts as long


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; the file replaces `path` if the block ends without an error.

    It has the name and permissions of the file that it replaces. A link is replaced, not followed.
    """
    path = Path(path)
    _check_file(path)
    with _private_folder(path.parent, path) as private, naming(path, instead_of=private):
        (private / path.name).touch()
        yield private / path.name
        if path.suffix.lower() == ".xlsx":  # lxml, and so openpyxl, may be silent where a temporary file cannot grow
            with ZipFile(private / path.name) as parts:
                sheets = [name for name in parts.namelist() if name.startswith("xl/worksheets/sheet")]
                if not all(parts.read(name).endswith(b"</worksheet>") for name in sheets):
                    raise OSError(say("cut_off", path=path, folder=tempfile.gettempdir()))
        _move(private, path.parent, [path.name])


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text in UTF-8, whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def write_together(folder: str | os.PathLike[str], *, replacing: Collection[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder to write to; its files move to `folder` together if the block ends without an error.

    `folder` is made if it does not exist; after an error it is as it was before. Those files of `replacing` that were
    not written are removed. OSError is raised before the block if `folder` is a file or cannot be written.
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
            names = sorted((file.name for file in private.iterdir()), key=lambda name: (name == MANIFEST, name))
            with naming(folder, instead_of=private):
                _move(private, folder, names, removed=[name for name in replacing if name not in names])
    except BaseException:
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def check_place(path: Path) -> None:
    """Raise OSError, or InputError for an impossible name, if no file can be written at `path`."""
    _check_file(path)
    with _private_folder(path.parent, path):
        pass


def _check_file(path: Path) -> None:
    """Raise an error unless a file can be made or replaced at `path`; devices, pipes and protected files cannot."""
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
                raise PermissionError(say("protected_file", path=path)) from None


def _refuse_impossible_name(path: Path) -> None:
    with suppress(UnicodeEncodeError):
        if b"\x00" not in os.fsencode(path):
            return
    raise InputError(f"{str(path)!r} cannot be the name of a file or folder here; choose another name")


@contextmanager
def _private_folder(parent: Path, shown: Path) -> Iterator[Path]:
    """Yield a new folder in `parent` for its owner alone, and remove it at the end, with those of killed processes.

    It stays if it holds files of the earlier run that could not be put back. An OSError names `shown`, what is to be
    written.
    """
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            is_ours = PRIVATE_FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if is_ours and time.time() - entry.stat().st_mtime > _OLD:
                shutil.rmtree(entry, ignore_errors=True)
    with naming(shown):
        private = Path(tempfile.mkdtemp(prefix=".clinclust-", suffix=".partial", dir=parent))
    try:
        yield private
    finally:
        for _ in range(3):  # a program that looks through new files may hold one for a moment
            if private.exists() and not any(private.glob(f"{_REPLACED}/*")):
                shutil.rmtree(private, ignore_errors=True)


def _move(private: Path, folder: Path, names: Sequence[str], removed: Sequence[str] = ()) -> None:
    """Move files of a private folder to `folder` and remove others there; after an error all are put back."""
    for name in names:
        _check_file(folder / name)
        with (private / name).open("rb+") as content:
            os.fsync(content.fileno())
        with suppress(OSError):  # there is no file yet, or the file system keeps no permissions
            if not (folder / name).is_symlink():
                shutil.copymode(folder / name, private / name)
    (replaced := private / _REPLACED).mkdir()
    try:
        for name in (*removed, *names):
            with naming(folder / name):
                if os.path.lexists(folder / name) and name not in names[-1:]:
                    (folder / name).replace(replaced / name)
                if name in names:
                    (private / name).replace(folder / name)
    except BaseException:
        try:  # as far as they came: what has moved is no longer in the private folder
            for name in (*removed, *names[:-1]) if not names or os.path.lexists(private / names[-1]) else ():
                with naming(folder / name):
                    if os.path.lexists(replaced / name):
                        (replaced / name).replace(folder / name)
                    elif name in names and not os.path.lexists(private / name):
                        (folder / name).unlink(missing_ok=True)
        except BaseException as second:
            raise OSError(say("files_of_two_runs", folder=folder, error=second, replaced=replaced)) from second
        raise
    for _ in range(3):
        shutil.rmtree(replaced, ignore_errors=True)


@contextmanager
def interrupts_held() -> Iterator[Callable[[], None]]:
    """Yield a function that delays Ctrl-C from its call to the end of the block, where KeyboardInterrupt is raised."""
    pressed, before = list[int](), list[Any]()

    def hold() -> None:
        with suppress(ValueError):  # signal handlers can be set on the main thread only
            before.append(signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number)))

    try:
        yield hold
    finally:
        if before:
            signal.signal(signal.SIGINT, before[0])
    if pressed:
        raise KeyboardInterrupt


MANIFEST = "manifest.json"
_FORMAT = 1
_SHA256 = re.compile("[0-9a-f]{64}")
# of a file in the folder itself on every system; most file systems take 255 characters
_NAME = re.compile(rf"(?!(?:\.\.?|{re.escape(MANIFEST)})\Z)[^/\\:\x00-\x1f\x7f]{{1,255}}")
_REPAIR = "write the folder again with `clinclust fit`, or save the model again"


def write_manifest(folder: Path, names: Sequence[str], kept: Mapping[str, str] | None = None) -> None:
    """Write the SHA-256 of files of a folder, and those of `kept`, to its manifest."""
    sha256s = {**(kept or {}), **{name: _sha256_of(folder / name) for name in names}}
    text = json.dumps({"clinclust_manifest": _FORMAT, "sha256": sha256s}, indent=1, sort_keys=True)
    write_text(text + "\n", folder / MANIFEST)


def read_manifest(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in the manifest of a folder; InputError if it is missing or damaged."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{path} is missing, so the files of {folder} may not belong together; {_REPAIR}")
    with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):  # of another structure
        content: Any = json.loads(path.read_bytes())
        sha256s: dict[str, str] = content["sha256"]
        is_sound = all(_SHA256.fullmatch(sha256) and _NAME.fullmatch(name) for name, sha256 in sha256s.items())
        is_known = content == {"clinclust_manifest": _FORMAT, "sha256": sha256s}
        if is_sound and is_known and type(content["clinclust_manifest"]) is int:
            return sha256s
    raise InputError(f"{path} is damaged: it does not list the files of {folder} with their SHA-256; {_REPAIR}")


@contextmanager
def rewrite_files(folder: Path, names: Collection[str]) -> Iterator[Path]:
    """Yield a temporary folder whose files move to `folder` together, as those of its manifest with these names.

    InputError if the model there was written anew meanwhile.
    """

    def read_others() -> dict[str, str]:
        files = read_manifest(folder) if (folder / "model.json").is_file() else {}
        return {name: sha256 for name, sha256 in files.items() if name not in names}

    before = read_others()
    with write_together(folder) as new:
        yield new
        if read_others() != before:
            raise InputError(say("folder_written_anew", folder=folder))
        write_manifest(new, [name for name in names if (new / name).exists()], kept=before)


def changed_files(folder: Path, sha256s: Mapping[str, str]) -> list[str]:
    """Return the names whose file in `folder` is missing or has another SHA-256."""
    return [
        name for name, sha256 in sha256s.items() if not (folder / name).is_file() or _sha256_of(folder / name) != sha256
    ]


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# What a fit withholds, so that later commands on its model withhold it too.

SHARING = "sharing.json"  # absent if nothing is withheld
TERMS = ("suppress", "round_to", "min_n", "missing_is_harmless")


def write_terms(terms: Mapping[str, Any], folder: Path) -> list[str]:
    """Write what a fit withholds, if anything; return the names of files written."""
    if not terms["suppress"]:
        return []
    write_text(json.dumps({name: terms[name] for name in TERMS}, indent=1) + "\n", folder / SHARING)
    return [SHARING]


def read_terms(folder: Path, are_sound: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return what the fit withholds of a model; InputError if the file that says so is not as the fit wrote it."""
    path = folder / SHARING
    files = read_manifest(folder) if (folder / MANIFEST).is_file() else None
    if files is None or (SHARING not in files and not path.exists()):
        return {}
    if SHARING in files and not changed_files(folder, {SHARING: files[SHARING]}):
        with path.open("rb") as file, suppress(ValueError, RecursionError):
            terms = json.loads(file.read(10_000))
            if isinstance(terms, dict) and terms.keys() == set(TERMS) and are_sound(terms):
                return terms
    raise InputError(say("terms_damaged", path=path))
