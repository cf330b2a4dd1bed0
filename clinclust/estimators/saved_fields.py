"""Write and read a fit by a declaration of what it holds: text as JSON, numbers as arrays.

`HELD` says once which fields each class has and of which type they are. Only it decides which classes are constructed;
neither the content of a file nor an annotation does.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import Model
from clinclust.engine.problem.encoding import Encoding
from clinclust.engine.problem.posterior import Clusters
from clinclust.errors import InputError
from clinclust.estimators.fingerprint import CohortFingerprint
from clinclust.estimators.fit import Fit
from clinclust.estimators.resolution_path import ResolutionPath
from clinclust.estimators.subtype_tree import SubtypeTree
from clinclust.estimators.tree_test import TreeTest
from clinclust.files.selection.row_choice import RowCounts
from clinclust.schema import Feature, FeatureSchema

__all__ = ["HELD", "Arrays", "read_fields", "written_fields"]

Arrays = dict[str, NDArray[Any]]
Result = TypeVar("Result")
Kind = Any
"""A class; (class,) is a tuple of any length, (class, None) a field that may be None, {str: class} a dictionary."""

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
        "null": str,
        "random_seed": int,
    },
    ResolutionPath: {"steps": pd.DataFrame, "labels": np.ndarray, "chosen": (float, None)},
}
"""The fields of each class, in the order of reading: a feature is saved as its name, and the schema comes before it."""

_PLAIN = (bool, int, float, str)
_KEPT_BY_JSON = (np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float64))


def written_fields(result: object, arrays: Arrays, within: str = "") -> dict[str, Any]:
    """Return the fields of a result by name, as values that JSON can represent.

    Parameters
    ----------
    result : instance of a class of `HELD`
    arrays : dict
        Modified in place: arrays are added by the name of their field. The returned dictionary holds this name.
    within : str
        Prefix of the names of the arrays.

    Raises
    ------
    TypeError
        If a field holds a value of a type that cannot be written.
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
    """Return the values of a column; for numbers that JSON would change, add an array and return its name.

    Tables hold run times, which differ from run to run. Because these are written to JSON, equal fits have equal
    arrays.
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        if column.dtype in _KEPT_BY_JSON and column.size and np.isfinite(column).all():
            return column.tolist()
        arrays[name] = column.to_numpy()
        return name
    return [str(text) for text in column]


def read_fields(kind: type[Result], text: Any, arrays: Arrays) -> Result:
    """Return the instance of `kind`, a class of `HELD`, that `written_fields` wrote as `text` and `arrays`.

    Raises
    ------
    InputError
        If a field is missing, or its value is not of the declared type.
    """
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
        """Return the value that was written as `text`, given the declared type of its field."""
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
        """Return the array of a field. It has the name of the field, so that no two fields share one."""
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
    """Return the schema of a text; a text of one line, which could be taken for a path, gets a second line."""
    return FeatureSchema.from_yaml(f"{text}\n")


def _checked(text: Any, kind: type | tuple[type, ...], name: str) -> Any:
    # True is an int for Python, and no number in a file.
    if not isinstance(text, kind) or (isinstance(text, bool) and kind is not bool):
        raise InputError(f"{name.rstrip('.')[:80]} is {type(text).__name__}")
    return text
