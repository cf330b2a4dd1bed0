"""Subtypes found without some features, as if these had never been recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.outlying_search import search as search_robustly
from clinclust.engine.beside.selection import run_selecting_restarts
from clinclust.engine.problem.posterior import leave_one_out_scores, partition_of, probabilities
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.sampled import LARGE, run_sampled_restarts
from clinclust.engine.search.starts import search_starts

__all__ = ["Settings", "Subtypes", "column_keys", "search_cold", "without"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Keys = NDArray[np.uint64]


class Settings(NamedTuple):
    """How to search."""

    seed: int
    n_restarts: int
    max_sweeps: int
    outlying_share: float
    select_features: bool


class Subtypes(NamedTuple):
    """Subtypes of the subjects of a problem."""

    labels: Labels
    """(N,) 0 .. K - 1 by decreasing size."""
    membership: Array
    """(N, K) probability of each, given all other subjects; rows sum to 1."""


def column_keys(columns: Sequence[Array]) -> Keys:
    """Return a pseudo-random number for each value of each column, uint64 (D, N); equal values have equal ones."""
    from pandas.util import hash_array

    keys = np.empty((len(columns), columns[0].size), dtype=np.uint64)
    for place, column in enumerate(columns):
        # Each column by an odd factor of its own, so that the same value in two columns counts twice.
        factor = np.uint64(2 * int(np.random.SeedSequence(place).generate_state(1)[0]) + 1)
        keys[place] = hash_array(column) * factor
    return keys


def without(problem: Problem, left_out: NDArray[np.bool_], keys: Keys) -> tuple[Problem, Labels]:
    """Return the problem without some features, and the place of each of its subjects in the problem given.

    Subjects stand in an order that follows from the other features alone, so that not even the choice of random
    starts knows the values left out.

    Parameters
    ----------
    problem : Problem
    left_out : bool (D,)
        Not all of them.
    keys : uint64 (D, N)
        `column_keys` of the features as encoded, subjects as in the problem.
    """
    order = np.argsort(keys[~left_out].sum(axis=0, dtype=np.uint64), kind="stable")
    return problem.with_features(~left_out).restricted_to(order, 0), order


def search_cold(problem: Problem, settings: Settings) -> Subtypes:
    """Search from random partitions of these features on; on one thread."""
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_restarts)
    options: dict[str, Any] = {"max_sweeps": settings.max_sweeps, "n_jobs": 1}
    if settings.outlying_share > 0.0:
        starts = search_starts(problem.cohort.n_subjects, seeds)
        found = search_robustly(problem, starts, settings.outlying_share, **options)
        problem, labels = found.problem, found.restarts[found.best].labels
    elif settings.select_features:
        restarts = run_selecting_restarts(problem, search_starts(problem.cohort.n_subjects, seeds), **options)
        best = max(restarts, key=lambda restart: restart.log_joint)
        labels = best.labels
        if best.included is not None and best.included.any():
            problem = problem.with_features(best.included)
    elif problem.cohort.n_subjects >= LARGE:
        restarts = run_sampled_restarts(problem, seeds, **options)
        labels = max(restarts, key=lambda restart: restart.log_joint).labels
    else:
        # Whole clusters are merged but not divided: divisions take nine tenths of the time of a search, and from
        # random partitions of many clusters they hardly ever find anything.
        starts = [start._replace(dividing=False) for start in search_starts(problem.cohort.n_subjects, seeds)]
        restarts = run_restarts(problem, starts, **options)
        labels = max(restarts, key=lambda restart: restart.log_joint).labels
    labels = by_decreasing_size(labels)
    return Subtypes(labels, probabilities(leave_one_out_scores(problem, partition_of(problem, labels))))
