"""Effect sizes with confidence intervals, of each pair of subtypes and of each subtype against everybody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.t_tests import standardised_difference

__all__ = ["effect_columns"]

Floats = NDArray[np.float64]

_QUANTILE = 1.959963984540054
"""Of the standard normal distribution, for 95% intervals."""


def effect_columns(
    summary: Mapping[str, Floats], is_share: NDArray[np.bool_], subtypes: NDArray[np.int64], pairs: NDArray[np.int64]
) -> list[dict[str, NDArray[Any]]]:
    """Return columns of shape (measures, comparisons): pairs of groups, then each subtype against the rest."""
    n, mean, variance = summary["n"], summary["mean"], summary["variance"]
    with np.errstate(all="ignore"):
        variance = np.where(is_share, mean * (1 - mean), variance)
    a, b = pairs.T
    estimate = standardised_difference(mean[:, a], mean[:, b], variance[:, a], variance[:, b])
    with np.errstate(all="ignore"):
        error = np.sqrt(1 / n[:, a] + 1 / n[:, b] + estimate**2 / (2 * (n[:, a] + n[:, b])))
        lower, upper = estimate - _QUANTILE * error, estimate + _QUANTILE * error
    return [
        {
            "kind": np.array("effect"),
            "subtype": subtypes[a],
            "versus": subtypes[b],
            "n": n[:, a] + n[:, b],
            "measure": np.array("standardised_difference"),
            "estimate": estimate,
            "lower": lower,
            "upper": upper,
        }
    ]
