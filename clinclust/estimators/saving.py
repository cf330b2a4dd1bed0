"""Save and load a fitted model without pickle: text as JSON, numbers as npz, the versions, and a manifest."""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import warnings
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.control_characters import visible
from clinclust.errors import CohortWarning, InputError, refuse
from clinclust.estimators.fingerprint import seal_of_subtypes
from clinclust.estimators.fit import Fit
from clinclust.estimators.fit_checks import fit_problems
from clinclust.estimators.parameters import MAPDPParameters, PublishedParameters, parameter_problems, rules_of
from clinclust.estimators.partitioned.fit import PartitionedFit
from clinclust.estimators.saved_fields import Arrays, read_arrays, read_fields, written_fields
from clinclust.files.writing import MANIFEST, changed_files, naming, read_manifest, write_manifest, write_together

if TYPE_CHECKING:
    from clinclust.estimators.estimator import Parameterised

LARGEST = 256 * 2**20
"""Most bytes of a text: 256 MiB."""


def written_text(value: object) -> str:
    """Return a value as JSON; NumPy numbers and arrays become plain ones, TypeError for others."""
    return json.dumps(value, indent=1, allow_nan=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model cannot be saved with {type(value).__name__} among its parameters")


def read_text(content: bytes) -> Any:
    """Return the value of a text; InputError if it is not strict JSON in UTF-8, or nested too deeply."""
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_named_once,
            parse_constant=_refuse_constant,
            parse_float=_finite,
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
    from clinclust import __version__

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
    written = written_text(text)
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
    for name in (_TEXT, _NUMBERS, MANIFEST):
        if not (folder / name).is_file():
            repair = f"; {_REPAIR}" if any((folder / part).is_file() for part in (_TEXT, _NUMBERS, MANIFEST)) else ""
            raise FileNotFoundError(visible(f"{folder} holds no saved model: {name} is missing{repair}"))
        _refuse_link(folder, name)
    text, numbers = _content(folder, _TEXT), (folder / _NUMBERS).read_bytes()
    listed = read_manifest(folder)
    for name, content in ((_TEXT, text), (_NUMBERS, numbers)):
        if listed.get(name) != hashlib.sha256(content).hexdigest():
            raise InputError(f"{folder} {_UNREADABLE}: {name} {_DIFFERS}")
    model = _read(folder, text, numbers)
    if (folder / _ASSIGNMENTS).is_file() and changed_files(folder, _only(listed, _ASSIGNMENTS)):
        warnings.warn(
            f"{folder / _ASSIGNMENTS} is not the file that was written with the model: it was edited since, or is of "
            "another run",
            CohortWarning,
            stacklevel=stacklevel + 1,
        )
    return model


_UNREADABLE = "holds no model that can be read"
_REPAIR = "copy the whole folder again, or fit the model again"
_DIFFERS = (
    f"is not the file that {MANIFEST} lists. It is damaged, was edited, or an interrupted run or copy mixed two "
    f"models; {_REPAIR}"
)


def _only(listed: dict[str, str], name: str) -> dict[str, str]:
    return {name: listed[name]} if name in listed else {}


def _refuse_link(folder: Path, name: str) -> None:
    """Raise InputError if a file is a link out of the folder."""
    if (folder / name).resolve().parent != folder.resolve():
        raise InputError(f"{folder / name} is a link to a file outside of the folder; put a copy in its place")


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
        raise InputError(f"{folder} {_UNREADABLE}: {_shown(error)}") from error


_LONGEST_SHOWN = 2_000


def _shown(error: Exception) -> str:
    said = str(error)
    return said if len(said) <= _LONGEST_SHOWN else f"{said[:_LONGEST_SHOWN]} ..."


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
    from clinclust import __version__

    return {
        "clinclust": __version__,
        "Python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }
