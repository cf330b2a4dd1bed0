"""A model as two files: how each of its fields is saved, and the folder that holds them with a manifest."""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import re
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import UnionType
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust import __version__
from clinclust.engine.kernels.moves import Model
from clinclust.engine.problem.encoding import Encoding
from clinclust.engine.problem.problem import Clusters
from clinclust.errors import CohortWarning, InputError, did_you_mean, refuse, visible
from clinclust.estimators.adjustment import Adjustment
from clinclust.estimators.cohort_table import CohortFingerprint, seal_of_subtypes
from clinclust.estimators.fit import Fit, fit_problems, shape_problems
from clinclust.estimators.joint import ResolutionPath
from clinclust.estimators.parameters import MAPDPParameters, PublishedParameters, parameter_problems, rules_of
from clinclust.estimators.partitioned.fit import PartitionedFit
from clinclust.estimators.subtype_tree import SubtypeTree, TreeTest
from clinclust.files.row_choice import RowCounts
from clinclust.files.writing import MANIFEST, changed_files, naming, read_manifest, write_manifest, write_together
from clinclust.schema import Feature, FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.estimator import Parameterised


# Write and read a fit as its classes declare it: text as JSON, numbers as arrays.
#
# The fields of a class and their types are its declaration: `sizes: Array` is an array, `tree_test_: TreeTest | None`
# the fields of another class or null. The classes of `HELD` alone are constructed. The archive of arrays is a zip file
# of ``.npy`` files, as `numpy.savez_compressed` writes it. Headers are checked before any array is read (`fit_problems`
# says how); nothing is unpickled or evaluated.

Arrays = dict[str, NDArray[Any]]
Result = TypeVar("Result")

_OF_A_FIT = (Adjustment, Clusters, Encoding, Model, SubtypeTree, CohortFingerprint, RowCounts, TreeTest, ResolutionPath)
HELD: dict[type, dict[str, Any]] = {kind: get_type_hints(kind) for kind in (Fit, *_OF_A_FIT)}
"""The types of the fields of each class, in the order of reading: the schema before features, saved as names."""

_PLAIN, _ARRAY = (bool, int, float, str), get_origin(NDArray[np.float64])  # an alias of its own from numpy 2.5 on
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

    def _read(self, kind: Any, text: Any, name: str) -> Any:
        """Return the value of a field of the declared type."""
        outer, inner = get_origin(kind), get_args(kind)
        if kind is Any:
            return text
        if outer is UnionType:
            return None if text is None else self._read(inner[0], text, name)
        if outer in (tuple, list):
            places = enumerate(_checked(text, list, name))
            return outer(self._read(inner[0], item, f"{name}.{place}") for place, item in places)
        if outer is dict:
            items = _checked(text, dict, name).items()
            return {key: self._read(inner[1], item, f"{name}.{key}") for key, item in items}
        if outer is _ARRAY:
            return self._array(text, name)
        if kind is FeatureSchema:
            # A text of one line, which could be a path, gets a second line.
            self._schema = FeatureSchema.from_yaml(f"{_checked(text, str, name)}\n")
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


def _checked(text: Any, kind: type | tuple[type, ...], name: str) -> Any:
    # True is an int for Python, and no number in a file.
    if not isinstance(text, kind) or (isinstance(text, bool) and kind is not bool):
        raise InputError(f"{name.rstrip('.')[:80]} is {type(text).__name__}")
    return text


_LARGEST_ARRAYS = 64 * 2**30
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
    if total > _LARGEST_ARRAYS:
        problems.append(f"its arrays have {total:,} bytes, and at most {_LARGEST_ARRAYS:,} are read")
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


# Save and load a fitted model without pickle: text as JSON, numbers as npz, the versions, and a manifest.

LARGEST = 256 * 2**20
"""Most bytes of a text: 256 MiB."""


def _plain(value: object) -> object:
    """Return NumPy numbers and arrays as plain ones, for JSON; TypeError for others."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model cannot be saved with {type(value).__name__} among its parameters")


def read_text(content: bytes) -> Any:
    """Return the value of a text; InputError if it is not strict JSON in UTF-8, or nested too deeply."""
    try:
        return json.loads(
            content.decode("utf-8"), object_pairs_hook=_named_once, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise InputError("model.json is nested too deeply") from None
    except UnicodeDecodeError:
        raise InputError("model.json is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError(f"model.json is not JSON: line {error.lineno}: {error.msg}") from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) != len(pairs):
        raise InputError("model.json gives a name twice in one object")
    return named


def _refuse_constant(text: str) -> NoReturn:
    raise InputError(f"model.json holds {text}, which is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError("model.json holds a number that is too large")
    return number


_FORMAT = 1
_TEXT, _NUMBERS = "model.json", "model.npz"
_ASSIGNMENTS = "assignments.csv"
_INIT = "init"
"""Name of the array of the parameter `init`."""


_PARAMETERS: dict[str, type[MAPDPParameters]] = {"MAPDP": MAPDPParameters, "PublishedMAPDP": PublishedParameters}
"""The parameters of each estimator that can be saved."""


def save(model: Parameterised, fit: Fit, folder: Path) -> Path:
    """Write the parameters of a model and its fit to a folder and return it; see `MAPDP.save`."""
    parameters, estimator = model.get_params(), type(model).__name__
    problems = parameter_problems(parameters, rules_of(_PARAMETERS[estimator]))
    if problems:
        raise InputError(f"the model cannot be saved with these parameters: {'; '.join(problems)}")
    arrays: Arrays = {}
    more = {"all_subjects": fit.written(arrays)} if isinstance(fit, PartitionedFit) else {}
    fit = fit.in_sample_ if isinstance(fit, PartitionedFit) else fit
    text = {
        "clinclust_model": _FORMAT,
        "clinclust_version": __version__,
        "estimator": estimator,
        "parameters": _written_parameters(parameters, fit.random_seed_, arrays),
        "fit": written_fields(fit, arrays),
        "seal_of_subtypes": _seal(fit),
        **more,
    }
    written = json.dumps(text, indent=1, allow_nan=False, default=_plain)
    numbers = io.BytesIO()
    np.savez_compressed(numbers, **dict[str, Any](arrays))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; a model is saved to a folder")
    with write_together(folder, last=MANIFEST) as new, naming(folder, instead_of=new):
        (new / _NUMBERS).write_bytes(numbers.getvalue())
        (new / _TEXT).write_text(written, encoding="utf-8", newline="\n")
        write_manifest(new, [_TEXT, _NUMBERS])
        _read_back(new, fit)
    return folder


def _read_back(written: Path, fit: Fit) -> None:
    """Raise RuntimeError if the written files do not hold the model."""
    try:
        copy = load(written)[2]
        copy = copy.in_sample_ if isinstance(copy, PartitionedFit) else copy
        is_the_same = np.array_equal(copy.labels_, fit.labels_)
    except InputError as error:
        raise RuntimeError(f"the model was not saved, because it cannot be read back: {error}") from error
    if not is_the_same:
        raise RuntimeError("the model was not saved, because other labels are read back")


def _seal(fit: Fit) -> str:
    return seal_of_subtypes(fit.cohort_fingerprint_.salt, fit.subtype_of_, fit.min_size_)


def _written_parameters(parameters: Mapping[str, Any], seed: int, arrays: Arrays) -> dict[str, Any]:
    """Return the parameters for JSON, without the schema, which is saved with the fit."""
    # JSON cannot represent a generator, so the seed that was used replaces it.
    written = {name: value for name, value in parameters.items() if name != "schema"} | {"random_state": seed}
    if isinstance(written["hyperparameters"], Mapping):
        written["hyperparameters"] = {name: dict(named) for name, named in written["hyperparameters"].items()}
    if isinstance(written["block_weights"], Mapping):
        written["block_weights"] = {str(block): float(weight) for block, weight in written["block_weights"].items()}
    if not isinstance(written[_INIT], str):
        # Labels matter only by which subjects share one, so codes replace them.
        arrays[_INIT] = pd.factorize(np.asarray(written.pop(_INIT)))[0].astype(np.int64)
    return written


def load(folder: Path, *, stacklevel: int = 2) -> tuple[bool, dict[str, Any], Fit]:
    """Return whether a `PublishedMAPDP` was saved, its parameters and its fit from a folder; see `MAPDP.load`."""
    if not folder.is_dir():
        _refuse_what_is_no_folder(folder)
    for name in (_TEXT, _NUMBERS, MANIFEST):
        if not (folder / name).is_file():
            repair = f"; {_REPAIR}" if any((folder / part).is_file() for part in (_TEXT, _NUMBERS, MANIFEST)) else ""
            raise FileNotFoundError(visible(f"{folder} holds no saved model: {name} is missing{repair}"))
        if (folder / name).resolve().parent != folder.resolve():
            raise InputError(f"{folder / name} is a link to a file outside of the folder; put a copy in its place")
    text, numbers = _content(folder, _TEXT), (folder / _NUMBERS).read_bytes()
    listed = read_manifest(folder)
    for name, content in ((_TEXT, text), (_NUMBERS, numbers)):
        if listed.get(name) != hashlib.sha256(content).hexdigest():
            raise InputError(f"{folder} {_UNREADABLE}: {name} {_DIFFERS}")
    model = _read(folder, text, numbers)
    assignments = {name: digest for name, digest in listed.items() if name == _ASSIGNMENTS}
    if (folder / _ASSIGNMENTS).is_file() and changed_files(folder, assignments):
        warnings.warn(
            f"{folder / _ASSIGNMENTS} is not the file that was written with the model: it was edited since, or is of "
            "another run",
            CohortWarning,
            stacklevel=stacklevel + 1,
        )
    return model


def _refuse_what_is_no_folder(path: Path) -> NoReturn:
    takes = "a model (--model) is a folder that `clinclust fit`, or `save` of a fitted model, wrote"
    if path.exists():
        takes = "a model (--model) is the folder that holds it" if path.name in (_TEXT, _NUMBERS, MANIFEST) else takes
        raise NotADirectoryError(visible(f"{path} is a file; {takes}"))
    near = path.parent.iterdir() if path.parent.is_dir() else ()
    hint = did_you_mean(path.name, sorted(other.name for other in near if other.is_dir()))
    raise FileNotFoundError(visible(f"there is no folder {path}; {takes}" + (f".{hint}" if hint else "")))


_LONGEST_SHOWN = 2_000
_UNREADABLE = "holds no model that can be read"
_REPAIR = "copy the whole folder again, or fit the model again"
_DIFFERS = (
    f"is not the file that {MANIFEST} lists. It is damaged, was edited, or an interrupted run or copy mixed two "
    f"models; {_REPAIR}"
)


def _content(folder: Path, name: str) -> bytes:
    size = (folder / name).stat().st_size
    if size > LARGEST:
        raise InputError(
            f"{folder / name} has {size:,} bytes, and at most {LARGEST:,} are read: no model is that large"
        )
    return (folder / name).read_bytes()


def _checked_format(text: Any) -> dict[str, Any]:
    if not isinstance(text, dict) or "clinclust_model" not in text:
        raise InputError(f"{_TEXT} was not written by clinclust")
    given = text["clinclust_model"]
    if type(given) is not int or given != _FORMAT:
        version = str(text.get("clinclust_version", "unknown version"))
        raise InputError(
            f"its format is {str(given)[:20]}, and this version reads {_FORMAT}; fit the model "
            f"again, or load it with the clinclust that saved it ({version[:20]})"
        )
    return text


def _read(folder: Path, content: bytes, numbers: bytes) -> tuple[bool, dict[str, Any], Fit]:
    try:
        return _read_model(_checked_format(read_text(content)), read_arrays(numbers))
    except KeyError as error:
        raise InputError(f"{folder} {_UNREADABLE}: {str(error)[:200]} is missing") from error
    except (TypeError, ValueError, RecursionError) as error:
        more = " ..." if len(str(error)) > _LONGEST_SHOWN else ""
        raise InputError(f"{folder} {_UNREADABLE}: {str(error)[:_LONGEST_SHOWN]}{more}") from error


def _read_model(text: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[bool, dict[str, Any], Fit]:
    fit = read_fields(Fit, text["fit"], arrays)
    problems = fit_problems(fit, arrays)
    if text["seal_of_subtypes"] != _seal(fit):
        problems.append("the subtypes are not those that the model was saved with")
    parameters = dict(text["parameters"])
    if _INIT in arrays and _INIT not in parameters:
        parameters[_INIT] = arrays[_INIT]
    if text["estimator"] not in list(_PARAMETERS):
        problems.append(f"its estimator is not {' or '.join(_PARAMETERS)}")
    else:
        rules = rules_of(_PARAMETERS[text["estimator"]])
        if rules.keys() - {"schema"} != parameters.keys():
            problems.append(f"its parameters are not {', '.join(sorted(rules.keys() - {'schema'}))}")
        else:
            problems += parameter_problems(parameters, rules)
    refuse(problems)
    whole = PartitionedFit.read(fit, text["all_subjects"], arrays) if "all_subjects" in text else fit
    return text["estimator"] == "PublishedMAPDP", {"schema": fit.schema_, **parameters}, whole


_PACKAGES = ("numpy", "scipy", "pandas", "numba", "statsmodels", "pandera", "openpyxl")


def software_versions() -> dict[str, str]:
    """Return the versions of clinclust, Python and the required packages, by name."""
    return dict(_found())


@cache  # looking up all versions takes as long as a small fit
def _found() -> dict[str, str]:
    return {
        "clinclust": __version__,
        "Python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }
