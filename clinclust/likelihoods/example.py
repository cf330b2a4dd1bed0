"""What a likelihood brings along for tests: priors, columns of clusters, and values at the edge of what it allows."""

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
    """A feature that declares the likelihood, and how its values come about.

    Attributes
    ----------
    fields : mapping
        What a feature declares beside the name of the likelihood: levels, trials.
    prior : mapping
        Hyperparameters by name, unlike those that would be taken from data.
    draw : callable
        Takes a generator, the hyperparameters as an array and a number n; returns n values, float64 (n,), each from a
        parameter of its own that is drawn from the prior.
    column : callable
        Takes a generator, the clusters 0 .. K - 1 of the subjects, int64 (N,), and K; returns one value for each
        subject, from a parameter of its cluster.
    random_prior : callable
        Takes a generator and a column; returns hyperparameters by name, drawn at random.
    edge_cases : tuple of tuple of float
        Columns at the edge of what the likelihood allows: few values, the lowest and the highest, far apart.
    """

    prior: Mapping[str, Any]
    draw: Callable[[Generator, Any, int], Any]
    column: Callable[[Generator, Groups, int], Any]
    random_prior: Callable[[Generator, Array], dict[str, Any]]
    edge_cases: tuple[tuple[float, ...], ...]
    fields: Mapping[str, Any] = field(default_factory=dict)
