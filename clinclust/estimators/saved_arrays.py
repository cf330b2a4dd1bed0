"""Read the arrays of a saved model: the headers of all first, so that no size is believed before it is checked.

The archive is a zip file of ``.npy`` files, as `numpy.savez_compressed` writes it. Only headers that NumPy writes for
plain numbers are read. Nothing is unpickled or evaluated, and memory is taken only for as much as the file can hold.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.estimators.array_rules import shape_problems

__all__ = ["LARGEST", "read_arrays"]

LARGEST = 64 * 2**30
"""The most bytes that all arrays of a model may have together: 64 GiB, ten million subjects with 500 subtypes."""

_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biuf][1248])', 'fortran_order': (?P<by_column>False|True), "
    rb"'shape': \((?P<shape>(?:\d{1,18}, ?)*(?:\d{1,18})?)\), \}\s*"
)
_MOST_DEFLATED = 1_100
"""Deflated bytes become at most 1,032 times as many."""


@dataclass(frozen=True)
class _Header:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    is_by_column: bool
    start: int

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_arrays(content: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name; each is contiguous by rows.

    Raises
    ------
    ValueError
        If the content is no such archive, is damaged, or its arrays are too large or do not belong together. The
        message lists all problems of the headers.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            headers = _headers(archive)
            return {name: _array(archive, name, header) for name, header in headers.items()}
    # A damaged archive also makes zipfile look for other compressions, passwords, or parts of other disks.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, KeyError) as error:
        raise InputError(f"the archive of its arrays is damaged ({error})") from error


def _headers(archive: zipfile.ZipFile) -> dict[str, _Header]:
    """Return the header of each array by name, or raise InputError with all problems."""
    headers: dict[str, _Header] = {}
    problems = []
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        header = _header(archive, entry) if entry.filename.endswith(".npy") and name not in headers else None
        if header is None:
            problems.append(f"{name[:80]!r} is no array of numbers as clinclust writes it, or is there twice")
        else:
            headers[name] = header
    total = sum(header.n_bytes for header in headers.values())
    if total > LARGEST:
        problems.append(f"its arrays have {total:,} bytes, and at most {LARGEST:,} are read")
    problems += shape_problems({name: (header.dtype, header.shape) for name, header in headers.items()}, {})
    if problems:
        raise InputError("; ".join(problems))
    return headers


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> _Header | None:
    """Return the header of one entry; None if it is none, or if the entry has another size than the header says."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.flag_bits & 1:
        return None
    if entry.file_size > _MOST_DEFLATED * (entry.compress_size + 1):
        return None
    with archive.open(entry) as file:
        magic = file.read(10)
        length = int.from_bytes(magic[8:10], "little")
        text = file.read(length)
    found = _HEADER.fullmatch(text)
    if not magic.startswith(b"\x93NUMPY\x01\x00") or found is None or len(text) != length:
        return None
    try:
        dtype = np.dtype(found["dtype"].decode())
    except TypeError:
        return None
    shape = tuple(int(size) for size in found["shape"].split(b",") if size.strip())
    header = _Header(dtype, shape, found["by_column"] == b"True", 10 + length)
    return header if header.start + header.n_bytes == entry.file_size else None


def _array(archive: zipfile.ZipFile, name: str, header: _Header) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        file.read(header.start)
        array = np.empty(math.prod(header.shape), dtype=header.dtype)
        _fill(array.view(np.uint8), file)
    if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
        raise InputError(f"{name} holds truth values other than 0 and 1")
    shaped = array.reshape(header.shape, order="F" if header.is_by_column else "C")
    return np.ascontiguousarray(shaped, dtype=header.dtype.newbyteorder("="))


def _fill(target: NDArray[np.uint8], file: IO[bytes]) -> None:
    """Read an entry to its end, where its checksum is compared."""
    place = 0
    while place < target.size:
        count = file.readinto(target[place:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError("an array ends too early")
        place += count
    file.read(1)
