"""Write and read a fit by a declaration of what it holds: text as JSON, numbers as arrays.

`HELD` alone determines which classes are constructed. The archive of arrays is a zip file of ``.npy`` files, as
`numpy.savez_compressed` writes it. Headers are checked before any array is read; nothing is unpickled or evaluated.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import Model
from clinclust.engine.problem.encoding import Encoding
from clinclust.engine.problem.posterior import Clusters
from clinclust.errors import InputError, refuse
from clinclust.estimators.fingerprint import CohortFingerprint
from clinclust.estimators.fit import Fit
from clinclust.estimators.fit_checks import shape_problems
from clinclust.estimators.resolution_path import ResolutionPath
from clinclust.estimators.subtype_tree import SubtypeTree, TreeTest
from clinclust.files.selection.row_choice import RowCounts
from clinclust.schema import Feature, FeatureSchema

Arrays = dict[str, NDArray[Any]]
Result = TypeVar("Result")
Kind = Any
"""A class; (class,) is a tuple of any length, (class, None) an optional field, {str: class} a dictionary."""

HELD: dict[type, dict[str, Kind]] = {
    Fit: {
        "schema_": FeatureSchema,
        "random_seed_": int,
        "cluster_labels_": np.ndarray,
        "cluster_membership_": np.ndarray,
        "clusters_": Clusters,
        "subtype_of_": np.ndarray,
        "log_joint_": float,
        "log_joint_trace_": np.ndarray,
        "leave_one_out_nll_": float,
        "hyperparameters_": {str: dict},
        "uninformative_": {str: str},
        "tree_": SubtypeTree,
        "outliers_": np.ndarray,
        "restarts_": pd.DataFrame,
        "tuning_": pd.DataFrame,
        "versions_": {str: str},
        "cohort_fingerprint_": CohortFingerprint,
        "stopped_early_": bool,
        "row_counts_": (RowCounts, None),
        "tree_test_": (TreeTest, None),
        "resolution_path_": (ResolutionPath, None),
        "min_size_": int,
        "completed_log_joint_": (float, None),
    },
    Clusters: {
        "encoding": Encoding,
        "model": Model,
        "sizes": np.ndarray,
        "statistics": np.ndarray,
        "included": np.ndarray,
        "outlying_share": float,
        "temperature": float,
    },
    Encoding: {"features": (Feature,), "centres": np.ndarray, "scales": np.ndarray},
    Model: {
        "prior": np.ndarray,
        "powers": np.ndarray,
        "concentration": float,
        "discount": float,
        "coarsening": float,
    },
    SubtypeTree: {"labels": np.ndarray, "joins": np.ndarray, "evidence": np.ndarray},
    CohortFingerprint: {"salt": str, "digest": str, "hidden_order": np.ndarray},
    RowCounts: {"in_table": int, "not_meeting": int, "unknown": int, "further": int, "outside": int},
    TreeTest: {
        "joins": pd.DataFrame,
        "n_draws": int,
        "significance_level": float,
        "random_seed": int,
    },
    ResolutionPath: {"steps": pd.DataFrame, "labels": np.ndarray, "chosen": (float, None)},
}
"""The fields of each class, in the order of reading; the schema comes before features, which are saved as names."""

_PLAIN = (bool, int, float, str)
_KEPT_BY_JSON = (np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float64))


def written_fields(result: object, arrays: Arrays, within: str = "") -> dict[str, Any]:
    """Return the fields of an instance of a class of `HELD` by name, as values for JSON.

    Adds to `arrays` the arrays by the name of their field, which begins with `within`. TypeError for other values.
    """
    return {name: _written(getattr(result, name), arrays, f"{within}{name}") for name in HELD[type(result)]}


def _written(value: Any, arrays: Arrays, name: str) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[name] = value
        return name
    if isinstance(value, FeatureSchema):
        return value.to_yaml()
    if isinstance(value, Feature):
        return value.name
    if isinstance(value, pd.DataFrame):
        return {str(column): _written_column(value[column], arrays, f"{name}.{column}") for column in value}
    if type(value) in HELD:
        return written_fields(value, arrays, f"{name}.")
    if isinstance(value, tuple):
        return [_written(item, arrays, f"{name}.{place}") for place, item in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (*_PLAIN, dict, list)):
        return value
    raise TypeError(f"a model cannot be saved with {type(value).__name__} as {name}")


def _written_column(column: pd.Series[Any], arrays: Arrays, name: str) -> str | list[Any]:
    """Return the values of a column; where JSON would change numbers, add an array and return its name."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        if column.dtype in _KEPT_BY_JSON and column.size and np.isfinite(column).all():
            return column.tolist()
        arrays[name] = column.to_numpy()
        return name
    return [str(text) for text in column]


def read_fields(kind: type[Result], text: Any, arrays: Arrays) -> Result:
    """Return the instance of `kind`, a class of `HELD`, that `written_fields` wrote; InputError for invalid fields."""
    return _Reader(arrays).with_fields(kind, text, "")


class _Reader:
    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._schema: FeatureSchema | None = None

    def with_fields(self, kind: type[Result], text: Any, within: str) -> Result:
        given, held = _checked(text, dict, within or "fit"), HELD[kind]
        if set(given) != set(held):
            raise InputError(f"{within.rstrip('.') or 'fit'} does not hold {', '.join(held)} and nothing else")
        return kind(**{name: self._read(held[name], given[name], f"{within}{name}") for name in held})

    def _read(self, kind: Kind, text: Any, name: str) -> Any:
        """Return the value of a field of the declared type."""
        if isinstance(kind, tuple) and kind[-1] is None:
            return None if text is None else self._read(kind[0], text, name)
        if isinstance(kind, tuple):
            places = enumerate(_checked(text, list, name))
            return tuple(self._read(kind[0], item, f"{name}.{place}") for place, item in places)
        if isinstance(kind, dict):
            items = _checked(text, dict, name).items()
            return {key: self._read(kind[str], item, f"{name}.{key}") for key, item in items}
        if kind is np.ndarray:
            return self._array(text, name)
        if kind is FeatureSchema:
            self._schema = _schema_of(_checked(text, str, name))
            return self._schema
        if kind is Feature and self._schema is not None:
            part = _checked(text, str, name)
            found = next((one for one in self._schema.parts if one.name == part), None)
            return self._schema[part] if found is None else found
        if kind is pd.DataFrame:
            columns = _checked(text, dict, name)
            return pd.DataFrame({column: self._column(columns[column], f"{name}.{column}") for column in columns})
        if kind in HELD:
            return self.with_fields(kind, text, f"{name}.")
        if kind is float:
            return float(_checked(text, (int, float), name))
        return _checked(text, kind, name)

    def _array(self, text: Any, name: str) -> NDArray[Any]:
        """Return the array of a field, which has its name."""
        if _checked(text, str, name) != name or name not in self._arrays:
            raise InputError(f"{name} has no array")
        return self._arrays[name]

    def _column(self, column: Any, name: str) -> NDArray[Any] | list[Any]:
        if isinstance(column, str):
            return self._array(column, name)
        kinds = {type(value) for value in _checked(column, list, name)}
        if len(kinds) > 1 or not kinds <= set(_PLAIN):
            raise InputError(f"{name} does not hold numbers, or texts, or truth values")
        return list(column)


def _schema_of(text: str) -> FeatureSchema:
    """Return the schema of a text; a text of one line, which could be a path, gets a second line."""
    return FeatureSchema.from_yaml(f"{text}\n")


def _checked(text: Any, kind: type | tuple[type, ...], name: str) -> Any:
    # True is an int for Python, and no number in a file.
    if not isinstance(text, kind) or (isinstance(text, bool) and kind is not bool):
        raise InputError(f"{name.rstrip('.')[:80]} is {type(text).__name__}")
    return text


LARGEST = 64 * 2**30
"""Most bytes of all arrays of a model: 64 GiB, ten million subjects with 500 subtypes."""

_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|][biuf][1248])', 'fortran_order': (?P<by_column>False|True), "
    rb"'shape': \((?P<shape>(?:\d{1,18}, ?)*(?:\d{1,18})?)\), \}\s*"
)
_MOST_DEFLATED = 1_100
"""Largest ratio of deflate."""


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
    """Return the arrays of an archive by name, contiguous by rows; InputError if it is damaged or headers are wrong."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            headers = _headers(archive)
            return {name: _array(archive, name, header) for name, header in headers.items()}
    # A damaged archive also makes zipfile look for other compressions, passwords, or parts of other disks.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, KeyError) as error:
        raise InputError(f"the archive of its arrays is damaged ({error})") from error


def _headers(archive: zipfile.ZipFile) -> dict[str, _Header]:
    """Return the header of each array by name; raise InputError with all problems."""
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
    refuse(problems)
    return headers


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> _Header | None:
    """Return the header of one entry; None if it is invalid or the size of the entry differs."""
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
