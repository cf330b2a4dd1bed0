"""Starts of Markov chains: partitions that lie far apart, so that chains that agree have left them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.labels import compact
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.starts import search_starts

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan

__all__ = ["overdispersed_starts"]

Labels = NDArray[np.int64]

_BRANCH = 2004


def overdispersed_starts(problem: Problem, n_chains: int, plan: SearchPlan) -> list[Labels]:
    """Return one partition for each chain, int64 (N,).

    The first is that at which a short search of the joint ended, the second is a single cluster, the others are random
    with up to N^(1/2) clusters: a chain from them comes to the posterior from below, and that of the search from above.

    Parameters
    ----------
    problem : Problem
    n_chains : int
    plan : SearchPlan
        How the search is made; its seed is that of the random partitions too.
    """
    n_subjects = problem.cohort.n_subjects
    (found,) = run_restarts(problem, search_starts(n_subjects, plan.seeds[:1]), plan)
    starts = [compact(found.labels), np.zeros(n_subjects, dtype=np.int64)]
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,)))
    most = max(int(np.sqrt(n_subjects)), 2)
    while len(starts) < n_chains:
        n_clusters = int(rng.integers(2, most + 1))
        starts.append(compact(rng.integers(n_clusters, size=n_subjects)))
    return starts[:n_chains]
