"""Examples of a likelihood, for tests: a prior, random columns, and columns at the limits of the allowed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clinclust.arrays import Array, Labels

Generator = np.random.Generator


@dataclass(frozen=True)
class Example:
    """A feature that declares the likelihood, and functions that draw its values."""

    prior: Mapping[str, Any]
    """Hyperparameters by name, different from the defaults that would be computed from data."""
    draw: Callable[[Generator, Any, int], Any]
    """From the hyperparameters as an array and n: n values (n,), each with a parameter drawn from the prior."""
    column: Callable[[Generator, Labels, int], Any]
    """From clusters 0 .. K - 1 of the subjects (N,) and K: values (N,), drawn with the parameters of the clusters."""
    random_prior: Callable[[Generator, Array], dict[str, Any]]
    """From a column: random hyperparameters by name."""
    edge_cases: tuple[tuple[float, ...], ...]
    """Columns at the limits of the allowed values."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields that the feature declares in addition, such as levels or trials."""
