"""Save and load a fitted model without pickle: text as JSON, numbers as npz."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.errors import InputError
from clinclust.estimators.saved_fields import Arrays, read_fields, written_fields
from clinclust.files.writing import atomic_write

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["load", "save"]

_FORMAT = 4
_TEXT, _NUMBERS = "model.json", "model.npz"
_INIT = "init"
"""Name of the array that holds the parameter `init`, if it is labels."""


def save(model: MAPDP, folder: Path) -> Path:
    """Write a fitted model to a folder and return the folder; see `MAPDP.save`."""
    from clinclust import __version__

    arrays: Arrays = {}
    text = {
        "clinclust_model": _FORMAT,
        "clinclust_version": __version__,
        "parameters": _parameters(model, arrays),
        "fit": written_fields(model.fit_, arrays),
    }
    numbers = io.BytesIO()
    np.savez_compressed(numbers, allow_pickle=False, **arrays)
    text["sha256_of_npz"] = hashlib.sha256(numbers.getvalue()).hexdigest()
    written = json.dumps(text, indent=1, allow_nan=False, default=_plain)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; a model is saved to a folder")
    folder.mkdir(parents=True, exist_ok=True)
    # Neither file is replaced before both are complete. The checksum detects files of different models.
    with atomic_write(folder / _NUMBERS) as numbers_path, atomic_write(folder / _TEXT) as text_path:
        numbers_path.write_bytes(numbers.getvalue())
        text_path.write_text(written, encoding="utf-8")
    return folder


def _parameters(model: MAPDP, arrays: Arrays) -> dict[str, Any]:
    """Return the parameters as values that JSON can represent, without the schema, which is saved with the fit."""
    parameters = {name: value for name, value in model.get_params().items() if name != "schema"}
    # JSON cannot represent a generator, so the seed that was used replaces it.
    parameters["random_state"] = model.random_seed_
    if model.hyperparameters is not None and not isinstance(model.hyperparameters, str):
        parameters["hyperparameters"] = {name: dict(named) for name, named in model.hyperparameters.items()}
    if not isinstance(model.init, str):
        # Labels matter only by which subjects share one, so codes replace them.
        arrays[_INIT] = pd.factorize(np.asarray(model.init))[0].astype(np.int64)
        del parameters["init"]
    return parameters


def load(folder: Path) -> MAPDP:
    """Return the model that `save` wrote to a folder; see `MAPDP.load`."""
    for name in (_TEXT, _NUMBERS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no saved model: {name} is missing")
    try:
        text = json.loads((folder / _TEXT).read_text(encoding="utf-8"))
        if not isinstance(text, dict) or "clinclust_model" not in text:
            raise InputError(f"{_TEXT} was not written by clinclust")
        if text["clinclust_model"] != _FORMAT:
            raise InputError(
                f"its format is {text['clinclust_model']}, and this version reads {_FORMAT}; fit the model again, or "
                f"load it with the clinclust that saved it ({text.get('clinclust_version', 'unknown version')})"
            )
        numbers = (folder / _NUMBERS).read_bytes()
        if hashlib.sha256(numbers).hexdigest() != text["sha256_of_npz"]:
            raise InputError(f"{_NUMBERS} is damaged, or belongs to another model than {_TEXT}")
        with np.load(io.BytesIO(numbers), allow_pickle=False) as archive:
            arrays = dict(archive)
        return _model(text, arrays)
    except KeyError as error:
        raise InputError(f"{folder} holds no model that can be read: {error} is missing") from error
    except (TypeError, AttributeError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{folder} holds no model that can be read: {error}") from error


def _model(text: dict[str, Any], arrays: Arrays) -> MAPDP:
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.mapdp import MAPDP

    fit = read_fields(Fit, text["fit"], arrays)
    model = MAPDP(fit.schema_, **text["parameters"])
    if _INIT in arrays:
        model.init = arrays[_INIT]
    model.fit_ = fit
    return model


def _plain(value: object) -> object:
    """Return a NumPy number or array as plain Python values, for `json.dumps`.

    Raises
    ------
    TypeError
        If the value is neither.
    """
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model cannot be saved with {type(value).__name__} among its parameters")
