"""The schema of a plain array, whose columns have no names and no declared meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.cell_text import numbers_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import text_cells

__all__ = ["schema_for_array"]


def schema_for_array(X: NDArray[Any]) -> FeatureSchema:
    """Return the schema of a two-dimensional array, with features ``x0``, ``x1``, ....

    Parameters
    ----------
    X : ndarray, shape (N, D)
        A column of only 0 and 1, or of booleans, becomes bernoulli. A column of other numbers, or of texts that all
        write numbers, becomes gaussian. A column of other texts becomes categorical, with its distinct texts, sorted,
        as levels; it is ignored if there are fewer than two. NaN, None and empty texts are missing.

    Raises
    ------
    ValueError
        If the array is not two-dimensional.
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"a table needs two dimensions (subjects, features); this array has {X.ndim}")
    return FeatureSchema([_feature(f"x{index}", pd.Series(X[:, index])) for index in range(X.shape[1])])


def _feature(name: str, column: pd.Series) -> Feature:
    observed = column.dropna().infer_objects()
    if pd.api.types.is_bool_dtype(observed.dtype):
        return Feature(name=name, likelihood=Bernoulli.name)
    if pd.api.types.is_numeric_dtype(observed.dtype):
        binary = observed.size > 0 and observed.isin([0, 1]).all()
        return Feature(name=name, likelihood=Bernoulli.name if binary else Gaussian.name)
    levels = sorted({text for text in text_cells(observed).texts if text})
    if levels and np.isfinite(numbers_of(levels)).all():
        return _feature(name, pd.Series(numbers_of(levels)))
    if len(levels) < 2:
        return Feature(name=name, role="ignore")
    return Feature(name=name, likelihood=Categorical.name, levels=tuple(levels))
