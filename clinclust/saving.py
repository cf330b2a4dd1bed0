"""Save a fitted model, and load it back, without pickle: text in JSON, numbers in npz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.writing import atomic_write

if TYPE_CHECKING:
    from clinclust.mapdp import MAPDP

__all__ = ["load", "save"]

_FORMAT = 1
_TEXT, _NUMBERS = "model.json", "model.npz"
_CLUSTER_ARRAYS = ("sizes", "statistics", "prior")
_FITTED_ARRAYS = ("labels_", "membership_", "log_joint_trace_")


def save(model: MAPDP, folder: Path) -> Path:
    """Do the work of `MAPDP.save`, which documents it."""
    from clinclust import __version__

    folder.mkdir(parents=True, exist_ok=True)
    clusters = model.clusters_
    parameters = {name: value for name, value in model.get_params().items() if name not in ("schema", "init")}
    text = {
        "clinclust_model": _FORMAT,
        "clinclust_version": __version__,
        "schema": model.schema_.to_yaml(),
        # The seed that was used stands for a generator, whose state cannot be written down.
        "parameters": {**parameters, "random_state": model.random_seed_, "hyperparameters": model.hyperparameters_},
        "features": [feature.name for feature in clusters.encoding.features],
        "centres": clusters.encoding.centres.tolist(),
        "scales": clusters.encoding.scales.tolist(),
        "concentration": clusters.concentration,
        "hyperparameters": model.hyperparameters_,
        "kept_out": model.kept_out_,
        "log_joint": model.log_joint_,
        "leave_one_out_nll": model.leave_one_out_nll_,
        "feature_relevance": model.feature_relevance_.to_dict(),
        "restarts": model.restarts_.to_dict("list"),
    }
    arrays = {name: getattr(clusters, name) for name in _CLUSTER_ARRAYS}
    arrays.update({name: getattr(model, name) for name in _FITTED_ARRAYS})
    with atomic_write(folder / _NUMBERS) as path:
        np.savez_compressed(path, allow_pickle=False, **arrays)
    with atomic_write(folder / _TEXT) as path:
        path.write_text(json.dumps(text, indent=1, allow_nan=False, default=_plain), encoding="utf-8")
    return folder


def load(folder: Path) -> MAPDP:
    """Do the work of `MAPDP.load`, which documents it.

    Raises
    ------
    FileNotFoundError
        If the folder holds no model.
    ValueError
        If the files are not a model of a format this version knows.
    """
    from clinclust.engine.encoding import Encoding
    from clinclust.engine.posterior import Clusters
    from clinclust.mapdp import MAPDP
    from clinclust.schema import FeatureSchema

    for name in (_TEXT, _NUMBERS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no saved model: {name} is missing")
    try:
        text: dict[str, Any] = json.loads((folder / _TEXT).read_text(encoding="utf-8"))
        if text["clinclust_model"] != _FORMAT:
            raise ValueError(f"its format is {text['clinclust_model']}, and this version reads {_FORMAT}")
        with np.load(folder / _NUMBERS, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in (*_CLUSTER_ARRAYS, *_FITTED_ARRAYS)}
        schema = FeatureSchema.from_yaml(text["schema"])
        encoding = Encoding(
            tuple(schema[name] for name in text["features"]), np.array(text["centres"]), np.array(text["scales"])
        )
        model = MAPDP(schema, **text["parameters"])
        model.clusters_ = Clusters(
            encoding, arrays["prior"], text["concentration"], arrays["sizes"], arrays["statistics"]
        )
        for name in _FITTED_ARRAYS:
            setattr(model, name, arrays[name])
        model.schema_ = schema
        model.hyperparameters_ = text["hyperparameters"]
        model.kept_out_ = text["kept_out"]
        model.concentration_ = text["concentration"]
        model.log_joint_ = text["log_joint"]
        model.leave_one_out_nll_ = text["leave_one_out_nll"]
        model.feature_relevance_ = pd.Series(text["feature_relevance"], name="relevance", dtype=np.float64)
        model.restarts_ = pd.DataFrame(text["restarts"])
    except (KeyError, TypeError, ValueError, OSError, EOFError) as error:
        raise ValueError(f"{folder} holds no model that can be read: {error}") from error
    model.random_seed_ = model.random_state  # type: ignore[assignment]  # `save` wrote a whole number
    model.cluster_sizes_ = np.bincount(model.labels_)
    model.n_clusters_ = model.cluster_sizes_.size
    model.feature_names_in_ = np.array(schema.names, dtype=object)
    model.n_features_in_ = len(schema)
    return model


def _plain(value: object) -> object:
    """Return what JSON can hold of a number or array that NumPy made."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model cannot be saved with {type(value).__name__} among its parameters")
