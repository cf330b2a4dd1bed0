"""Save a fitted model, and load it back, without pickle: text in JSON, numbers in npz."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.files.writing import atomic_write

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["load", "save"]

_FORMAT = 3
_TEXT, _NUMBERS = "model.json", "model.npz"
_MODEL_NUMBERS = ("concentration", "discount", "coarsening")
_FITTED_ARRAYS = ("labels_", "membership_", "log_joint_trace_", "outlying_")


def save(model: MAPDP, folder: Path) -> Path:
    """Do the work of `MAPDP.save`, which documents it."""
    numbers = io.BytesIO()
    np.savez_compressed(numbers, allow_pickle=False, **_arrays(model))
    checksum = hashlib.sha256(numbers.getvalue()).hexdigest()
    text = json.dumps({**_text(model), "sha256_of_npz": checksum}, indent=1, allow_nan=False, default=_plain)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; a model is saved to a folder")
    folder.mkdir(parents=True, exist_ok=True)
    # Both are complete before one takes its place; the checksum tells files of different models apart.
    with atomic_write(folder / _NUMBERS) as numbers_path, atomic_write(folder / _TEXT) as text_path:
        numbers_path.write_bytes(numbers.getvalue())
        text_path.write_text(text, encoding="utf-8")
    return folder


def _arrays(model: MAPDP) -> dict[str, Any]:
    clusters = model.clusters_
    arrays: dict[str, Any] = {"sizes": clusters.sizes, "statistics": clusters.statistics, "prior": clusters.model.prior}
    arrays.update({name: getattr(model, name) for name in _FITTED_ARRAYS})
    arrays |= {"tree_joins": model.tree_.joins, "tree_evidence": model.tree_.evidence}
    if model.fit_.resolution_path_ is not None:
        arrays["path_labels"] = model.fit_.resolution_path_.labels
    if not isinstance(model.init, str):
        # Which subjects start together is all that labels say.
        arrays["init"] = pd.factorize(np.asarray(model.init))[0].astype(np.int64)
    return arrays


def _text(model: MAPDP) -> dict[str, Any]:
    from clinclust import __version__

    encoding = model.clusters_.encoding
    parameters = {name: value for name, value in model.get_params().items() if name != "schema"}
    # The seed that was used stands for a generator, whose state cannot be written down.
    parameters["random_state"] = model.random_seed_
    if model.hyperparameters is not None and not isinstance(model.hyperparameters, str):
        parameters["hyperparameters"] = {name: dict(named) for name, named in model.hyperparameters.items()}
    if not isinstance(model.init, str):
        del parameters["init"]
    path = model.fit_.resolution_path_
    return {
        "clinclust_model": _FORMAT,
        "clinclust_version": __version__,
        "schema": model.schema_.to_yaml(),
        "parameters": parameters,
        "features": [feature.name for feature in encoding.features],
        "centres": encoding.centres.tolist(),
        "scales": encoding.scales.tolist(),
        **{name: getattr(model, f"{name}_") for name in _MODEL_NUMBERS},
        "hyperparameters": model.hyperparameters_,
        "kept_out": model.kept_out_,
        "log_joint": model.log_joint_,
        "leave_one_out_nll": model.leave_one_out_nll_,
        "feature_relevance": model.feature_relevance_.to_dict(),
        "selected_features": model.selected_features_,
        "restarts": model.restarts_.to_dict("list"),
        "tuning": model.tuning_.to_dict("list"),
        "outlying_share": model.outlying_share_,
        "resolution_path": None if path is None else {"steps": path.steps.to_dict("list"), "chosen": path.chosen},
        "random_seed": model.random_seed_,
    }


def load(folder: Path) -> MAPDP:
    """Do the work of `MAPDP.load`, which documents it."""
    for name in (_TEXT, _NUMBERS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no saved model: {name} is missing")
    try:
        text = json.loads((folder / _TEXT).read_text(encoding="utf-8"))
        if not isinstance(text, dict) or "clinclust_model" not in text:
            raise ValueError(f"{_TEXT} was not written by clinclust")
        if text["clinclust_model"] != _FORMAT:
            raise ValueError(f"its format is {text['clinclust_model']}, and this version reads {_FORMAT}")
        numbers = (folder / _NUMBERS).read_bytes()
        if hashlib.sha256(numbers).hexdigest() != text["sha256_of_npz"]:
            raise ValueError(f"{_NUMBERS} is damaged, or belongs to another model than {_TEXT}")
        with np.load(io.BytesIO(numbers), allow_pickle=False) as archive:
            arrays = dict(archive)
        return _model(text, arrays)
    except KeyError as error:
        raise ValueError(f"{folder} holds no model that can be read: {error} is missing") from error
    except (TypeError, AttributeError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{folder} holds no model that can be read: {error}") from error


def _model(text: dict[str, Any], arrays: dict[str, Any]) -> MAPDP:
    from clinclust.engine.kernels.model import Model
    from clinclust.engine.problem.encoding import Encoding
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.resolution_path import ResolutionPath
    from clinclust.estimators.subtype_tree import SubtypeTree
    from clinclust.schema import FeatureSchema

    schema = FeatureSchema.from_yaml(text["schema"])
    encoding = Encoding(
        tuple(schema[name] for name in text["features"]), np.array(text["centres"]), np.array(text["scales"])
    )
    model = MAPDP(schema, **text["parameters"])
    if "init" in arrays:
        model.init = arrays["init"]
    numbers = {name: float(text[name]) for name in _MODEL_NUMBERS}
    path = text["resolution_path"]
    model.fit_ = Fit(
        schema_=schema,
        random_seed_=text["random_seed"],
        clusters_=Clusters(
            encoding,
            Model(arrays["prior"], **numbers),
            arrays["sizes"],
            arrays["statistics"],
            float(text["outlying_share"]),
        ),
        tree_=SubtypeTree(arrays["labels_"], arrays["tree_joins"], arrays["tree_evidence"]),
        resolution_path_=None
        if path is None
        else ResolutionPath(pd.DataFrame(path["steps"]), arrays["path_labels"], path["chosen"]),
        hyperparameters_=text["hyperparameters"],
        kept_out_=text["kept_out"],
        log_joint_=text["log_joint"],
        leave_one_out_nll_=text["leave_one_out_nll"],
        feature_relevance_=pd.Series(text["feature_relevance"], name="relevance", dtype=np.float64),
        selected_features_=text["selected_features"],
        restarts_=pd.DataFrame(text["restarts"]),
        tuning_=pd.DataFrame(text["tuning"]),
        **{name: arrays[name] for name in _FITTED_ARRAYS},
    )
    return model


def _plain(value: object) -> object:
    """Return what JSON can hold of a number or array that NumPy made."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model cannot be saved with {type(value).__name__} among its parameters")
