"""Subtypes found without some features, as if these had never been recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.posterior import leave_one_out_scores, partition_of, probabilities
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.engine.search.plan import SearchPlan
from clinclust.estimators.search import search

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["Subtypes", "cold_plan", "column_keys", "search_cold", "without"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Keys = NDArray[np.uint64]


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


def cold_plan(model: MAPDP, seed: int, n_restarts: int) -> SearchPlan:
    """Return how to search for subtypes as the model did, but from scratch, on one thread, and without refinement.

    Outlying values and features are searched for if the model did. Where they are not, whole clusters are merged but
    not divided: divisions take nine tenths of the time of a search, and from random partitions of many clusters they
    hardly ever find anything.
    """
    share, select_features = model.outlying_share_, model.select_features
    return SearchPlan(
        seed=seed,
        n_restarts=n_restarts,
        max_sweeps=model.max_sweeps,
        n_jobs=1,
        refine=False,
        divide=share > 0.0 or select_features,
        select_features=select_features,
        outlying_share=share,
    )


def search_cold(problem: Problem, plan: SearchPlan) -> Subtypes:
    """Search for the subtypes of a problem; they come with the membership probabilities of its subjects."""
    found = search(problem, plan)
    problem, included = found.problem, found.winner.included
    if included is not None and included.any():
        problem = problem.with_features(included)
    labels = by_decreasing_size(found.winner.labels)
    return Subtypes(labels, probabilities(leave_one_out_scores(problem, partition_of(problem, labels))))
