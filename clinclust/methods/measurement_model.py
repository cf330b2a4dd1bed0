"""The measurement model of latent classes: which feature is Bernoulli, categorical or Gaussian within a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.methods.encoded import levels_in_use, numbers_of, standardised

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature

__all__ = ["MeasurementModel", "measurement_model"]

Array = NDArray[np.float64]

_MOST_LEVELS = 10
"""Different values up to which a whole number is categorical."""


@dataclass(frozen=True, eq=False)
class MeasurementModel:
    """The columns of a cohort in the order of the measurement model.

    Attributes
    ----------
    values : float64 (N, D)
        Columns of two levels (0 and 1), then those of more levels (0, 1, ...), then standardised numbers; NaN =
        missing.
    described : dict
        The measurement model in the words of StepMix.
    n_numbers : int
        Number of Gaussian columns.
    n_parameters : int
        Number of free parameters of one class.
    prepared : str
        How the columns were made, as a sentence without its full stop; it tells no number of subjects.
    """

    values: Array
    described: dict[str, dict[str, Any]]
    n_numbers: int
    n_parameters: int
    prepared: str


def measurement_model(frame: pd.DataFrame, features: Sequence[Feature]) -> MeasurementModel:
    """Return the measurement model of features, each with two different observed values at least.

    Features of two observed levels are Bernoulli. Other levels, ordered or not, and whole numbers of at most ten
    different values are categorical; other numbers are Gaussian after the transform of the schema.

    Parameters
    ----------
    frame : DataFrame, shape (N, D)
        A validated table.
    features : sequence of Feature
    """
    binary: list[Array] = []
    levels: list[Array] = []
    numbers: list[Array] = []
    for feature in features:
        values = numbers_of(frame, feature)
        codes = levels_in_use(values)
        n_levels = int(np.nanmax(codes)) + 1
        if not _has_levels(feature, n_levels):
            numbers.append(_standardised(values))
        elif n_levels == 2:
            binary.append(codes)
        else:
            levels.append(codes)
    of_kind = {"binary": ("binary_nan", binary), "levels": ("categorical_nan", levels)}
    of_kind["numbers"] = ("continuous_nan", numbers)
    table = np.column_stack([*binary, *levels, *numbers])
    return MeasurementModel(
        values=table,
        described={
            name: {"model": model, "n_columns": len(columns)} for name, (model, columns) in of_kind.items() if columns
        },
        n_numbers=len(numbers),
        n_parameters=len(binary) + sum(int(np.nanmax(codes)) for codes in levels) + 2 * len(numbers),
        prepared=_said(bool(binary), bool(levels), bool(numbers), bool(np.isnan(table).any())),
    )


def _has_levels(feature: Feature, n_levels: int) -> bool:
    traits = feature.traits
    return traits.is_yes_no or traits.is_nominal or (traits.is_whole and n_levels <= _MOST_LEVELS)


def _standardised(values: Array) -> Array:
    is_observed = ~np.isnan(values)
    found = values.copy()
    found[is_observed] = standardised(values[is_observed])
    return found


def _said(has_binary: bool, has_levels: bool, has_numbers: bool, has_missing: bool) -> str:
    kinds = (
        ("features of two levels as Bernoulli", has_binary),
        ("levels and whole numbers of few values as categorical", has_levels),
        ("other numbers as Gaussian after the transform of the schema", has_numbers),
    )
    gaps = "; the likelihood is that of the observed values" if has_missing else ""
    return f"{', '.join(text for text, is_there in kinds if is_there)}{gaps}"
