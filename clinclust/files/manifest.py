"""The manifest of an output folder: the checksum of each of its files, which tells whether they belong together."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clinclust.errors import InputError
from clinclust.files.writing import atomic_write

__all__ = ["MANIFEST", "changed_files", "read_manifest", "write_manifest"]

MANIFEST = "manifest.json"
"""Name of the manifest in its folder. It is put in place after all files that it lists."""

_FORMAT = 1
_SHA256 = re.compile("[0-9a-f]{64}")
_SEPARATOR_OR_CONTROL = re.compile(r"[/\\:\x00-\x1f\x7f]")
_REPAIR = "write the folder again with `clinclust fit`, or save the model again"


def write_manifest(folder: Path, names: Sequence[str], kept: Mapping[str, str] | None = None) -> None:
    """Write the checksums of files of a folder to its manifest, beside those of `kept`, by name of the file."""
    sha256s = {**(kept or {}), **{name: _sha256_of(folder / name) for name in names}}
    text = json.dumps({"clinclust_manifest": _FORMAT, "sha256": sha256s}, indent=1, sort_keys=True)
    with atomic_write(folder / MANIFEST) as path:
        path.write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that the manifest of a folder lists, by name of the file.

    Raises
    ------
    InputError
        If the manifest is missing, damaged, or lists anything but plain names of files.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{path} is missing, so the files of {folder} may not belong together; {_REPAIR}")
    try:
        sha256s = _sha256s_in(json.loads(path.read_bytes()))
    except (ValueError, RecursionError):
        sha256s = None
    if sha256s is None:
        raise InputError(f"{path} is damaged: it does not list the files of {folder} with their SHA-256; {_REPAIR}")
    return sha256s


def changed_files(folder: Path, sha256s: Mapping[str, str]) -> list[str]:
    """Return the names whose file in `folder` is missing, or has another SHA-256, in the order of `sha256s`."""
    return [
        name for name, sha256 in sha256s.items() if not (folder / name).is_file() or _sha256_of(folder / name) != sha256
    ]


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sha256s_in(content: Any) -> dict[str, str] | None:
    """Return the checksums by name if the content is that of a manifest, else None."""
    sha256s = content.get("sha256") if isinstance(content, dict) else None
    if not isinstance(sha256s, dict) or {**content, "sha256": 0} != {"clinclust_manifest": _FORMAT, "sha256": 0}:
        return None
    sound = all(
        _is_plain_name(name) and name != MANIFEST and isinstance(sha256, str) and _SHA256.fullmatch(sha256)
        for name, sha256 in sha256s.items()
    )
    return sha256s if sound and type(content["clinclust_manifest"]) is int else None


def _is_plain_name(name: str) -> bool:
    """Return whether this is the name of a file in the folder itself, on every system."""
    return name not in ("", ".", "..") and not _SEPARATOR_OR_CONTROL.search(name) and len(name) <= 255
