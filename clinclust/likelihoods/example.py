"""Examples of a likelihood, for tests: a prior, random columns, and columns at the limits of the allowed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Example"]

Array = NDArray[np.float64]
Groups = NDArray[np.int64]
Generator = np.random.Generator


@dataclass(frozen=True)
class Example:
    """A feature that declares the likelihood, and functions that draw its values.

    Attributes
    ----------
    fields : mapping
        Fields that the feature declares in addition to the name of the likelihood, such as levels or trials.
    prior : mapping
        Hyperparameters by name, different from the defaults that would be computed from data.
    draw : callable
        Takes a generator, the hyperparameters as an array and a number n. Returns n values, float64 (n,); for each
        value, a parameter is drawn from the prior.
    column : callable
        Takes a generator, the clusters 0 .. K - 1 of the subjects, int64 (N,), and K. Returns one value for each
        subject, drawn with the parameter of its cluster.
    random_prior : callable
        Takes a generator and a column. Returns hyperparameters by name, drawn at random.
    edge_cases : tuple of tuple of float
        Columns at the limits of the allowed values: few values, lowest and highest values, values far apart.
    """

    prior: Mapping[str, Any]
    draw: Callable[[Generator, Any, int], Any]
    column: Callable[[Generator, Groups, int], Any]
    random_prior: Callable[[Generator, Array], dict[str, Any]]
    edge_cases: tuple[tuple[float, ...], ...]
    fields: Mapping[str, Any] = field(default_factory=dict)
