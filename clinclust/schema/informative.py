"""Find the columns that cannot inform any clustering: those without two different observed values."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import CohortWarning

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema.feature import Feature
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["informative_parts", "kept_out", "uninformative", "warn_of_uninformative"]

_NO_VALUE = "no observed value"
_NAMES_WARNED_OF = 20


def kept_out(frame: pd.DataFrame, schema: FeatureSchema) -> dict[str, str]:
    """Return the cluster features that cannot inform a clustering, as a dict from name to reason.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        A validated table.
    schema : FeatureSchema
        The schema that validated it.
    """
    return uninformative({feature.name: feature.scores(frame[feature.name]) for feature in schema.clustered})


def uninformative(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return the columns that have no two different observed values, as a dict from name to reason.

    Parameters
    ----------
    columns : dict of str to float64 (N,)
        The scores of each column; NaN = missing.
    """
    reasons = {}
    for name, column in columns.items():
        lowest, highest = np.fmin.reduce(column), np.fmax.reduce(column)  # fmin and fmax ignore NaN
        if np.isnan(lowest):
            reasons[name] = _NO_VALUE
        elif lowest == highest:
            reasons[name] = "the same value in every subject observed"
    return reasons


def informative_parts(frame: pd.DataFrame, features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the parts of features (`Feature.parts`), without parts that have no two different observed values."""
    return tuple(
        part
        for feature in features
        for part in feature.parts
        if not part.is_part or not uninformative({part.name: part.scores(frame[part.column])})
    )


def warn_of_uninformative(reasons: Mapping[str, str], n_subjects: int, stacklevel: int) -> None:
    """Issue one CohortWarning that names the columns with their reasons; no warning if there are none."""
    if n_subjects == 1:  # with one subject every column is constant, so a warning would be of no use
        reasons = {name: reason for name, reason in reasons.items() if reason == _NO_VALUE}
    if not reasons:
        return
    listed = [f"{name} ({reason})" for name, reason in reasons.items()]
    more = f" and {len(listed) - _NAMES_WARNED_OF} more" if len(listed) > _NAMES_WARNED_OF else ""
    warnings.warn(
        f"{len(listed)} column{'' if len(listed) == 1 else 's'} cannot inform a clustering: "
        f"{', '.join(listed[:_NAMES_WARNED_OF])}{more}",
        CohortWarning,
        stacklevel=stacklevel + 1,
    )
