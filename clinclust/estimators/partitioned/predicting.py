"""Predictions for a table in partitions, each where it lies."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from clinclust.errors import InputError
from clinclust.estimators.partitioned.fit import PartitionedFit

NAMES = {"predict": "subtype", "score_samples": "log_density"}
"""Name of the series that a method returns; others return a DataFrame."""


def in_partitions(model: Any, method: str, table: Any, **arguments: Any) -> Any:
    """Return the Dask series or DataFrame of what a method of a fitted model returns for each partition of a table."""
    model._require_fit()
    if arguments.get("how") == "draw":
        raise InputError("how='draw': every partition would get the same draws; impute the partitions one by one")
    light = copy.copy(model)
    light.fit_ = _without_subjects(model.fit_)
    light._rows = None
    first = table.head(1, npartitions=-1)
    if not len(first):
        raise InputError("the table has no rows in any of its partitions; check how the files were read or filtered")
    call = partial(_of_partition, method=method, model=light, arguments=arguments)
    meta = call(first).iloc[:0]
    return table.map_partitions(partial(_of_any_partition, call=call, empty=meta), meta=meta, enforce_metadata=False)


def _without_subjects(fit: Any) -> PartitionedFit:
    """Return what predictions need of a fit, which is sent to the workers."""
    nothing = dict.fromkeys(("cluster_labels_", "cluster_membership_", "outliers_", "resolution_path_"))
    fields = {name: getattr(fit, name) for name in fit.__dataclass_fields__ if name not in ("in_sample_", "sample_")}
    return PartitionedFit(**(fields | nothing), in_sample_=None, sample_=None)  # type: ignore[arg-type]


def _of_any_partition(frame: pd.DataFrame, call: Callable[[pd.DataFrame], Any], empty: Any) -> Any:
    return call(frame) if len(frame) else empty


def _of_partition(frame: pd.DataFrame, method: str, model: Any, arguments: dict[str, Any]) -> Any:
    found = getattr(model, method)(frame, **arguments)
    if isinstance(found, pd.DataFrame):
        return found
    if found.ndim == 1:
        return pd.Series(found, index=frame.index, name=NAMES[method])
    return pd.DataFrame(np.asarray(found), index=frame.index, columns=model.get_feature_names_out())
