"""The columns that the tables of a fit must have, and the kind of their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.estimators.tree_test import JOIN_DTYPES, is_tested

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["table_problems"]

_KINDS = {"whole numbers": "iu", "numbers": "iuf", "truth values": "b"}
_RESTARTS = {
    **dict.fromkeys(("restart", "n_clusters", "sweeps"), "whole numbers"),
    **dict.fromkeys(("log_joint", "seconds", "ari_to_best"), "numbers"),
    "start": "text",
    "converged": "truth values",
}
_TUNING = {**dict.fromkeys(("concentration", "n_clusters"), "numbers"), "chosen": "truth values"}
_DENSITIES = ("log_joint", "held_out_log_density")
_STEPS = {
    **dict.fromkeys(("n_clusters", "n_outlying"), "whole numbers"),
    **dict.fromkeys(("coarsening", "log_joint", "log_joint_uncoarsened", "log_likelihood"), "numbers"),
    **dict.fromkeys(("independent_share", "ari_to_previous", "ari_to_finest"), "numbers"),
    "start": "text",
}
_KIND_OF_DTYPE = {"int64": "whole numbers", "float64": "numbers", "bool": "truth values"}
_JOINS = {name: _KIND_OF_DTYPE[dtype] for name, dtype in JOIN_DTYPES.items()}


def table_problems(fit: Fit) -> list[str]:
    """Return what is wrong with the tables of a fit; empty if nothing is."""
    density = next((name for name in _DENSITIES if name in fit.tuning_), _DENSITIES[0])
    problems = [
        *_problems("restarts_", fit.restarts_, _RESTARTS),
        *_problems("tuning_", fit.tuning_, _TUNING | {density: "numbers"}),
    ]
    if fit.tree_test_ is not None:
        problems += _problems("tree_test_.joins", fit.tree_test_.joins, _JOINS, may_be_empty=not is_tested(fit.tree_))
    if fit.resolution_path_ is not None:
        problems += _problems("resolution_path_.steps", fit.resolution_path_.steps, _STEPS)
    return problems


def _problems(name: str, table: pd.DataFrame, kinds: dict[str, str], may_be_empty: bool = False) -> Iterator[str]:
    if set(table.columns) != set(kinds):
        yield f"{name} has the columns {', '.join(map(str, table.columns))[:200]}, not {', '.join(kinds)}"
        return
    if not len(table):
        if not may_be_empty:
            yield f"{name} has no rows"
        return
    for column, kind in kinds.items():
        values = table[column]
        is_text = kind == "text" and all(isinstance(value, str) for value in values)
        if not is_text and (kind == "text" or np.asarray(values).dtype.kind not in _KINDS[kind]):
            yield f"the column {column} of {name} holds no {kind}"
