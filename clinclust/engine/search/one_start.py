"""Search from one start: settle, let whole clusters merge and divide, settle again, until nothing raises the joint."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.attempts import Attempts
from clinclust.engine.search.labels import compact
from clinclust.engine.search.seeding import bisected, seated
from clinclust.engine.search.settle import SweepResult, hasten, minimum_gain, settle
from clinclust.engine.search.split_merge import merge_all, merge_gains, resettle
from clinclust.engine.search.starts import Start

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan

__all__ = ["RestartResult", "search_from"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_PAIRS_PER_CLUSTER = 2


@dataclass(frozen=True)
class RestartResult:
    """What one restart found: a partition that no move of the search improves, unless it was stopped before."""

    start: str
    """Name of the start."""
    labels: Labels
    """(N,) clusters 0 .. K - 1, subjects as encoded."""
    log_joint: float
    trace: Array
    """Log joint after every sweep."""
    n_sweeps: int
    converged: bool
    seconds: float
    included: NDArray[np.bool_] | None = None
    """(D,) features that differ between the clusters; None = all, as nothing was selected."""


def search_from(problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
    """Search from one start until no move of a subject or of a whole cluster raises the joint.

    A start that ignores sizes (the paper's) is only swept until it settles.

    Parameters
    ----------
    problem : Problem
    start : Start
    plan : SearchPlan
    attempts : Attempts
        Groups of clusters that were divided anew. Restarts share it: most end at the same partition, and what comes
        of a group depends on the group alone, not on which restart asks first.
    """
    began = time.perf_counter()
    cancelled = plan.cancelled
    labels = _first_labels(problem, start)
    found = settle(problem, labels, start.order, plan.max_sweeps, cancelled, ignore_size=start.ignore_size)
    trace = list(found.trace) or [log_joint(problem, found.partition)]  # none if cancelled before the first sweep
    while not start.ignore_size and found.converged and not cancelled.is_set():
        gains = merge_gains(problem, found.partition)
        if gains.max() > minimum_gain(problem):
            changed: Labels | None = merge_all(problem, found.partition.labels, minimum_gain(problem))
        else:
            changed = _divided(problem, found, gains, start.seed, attempts, cancelled) if plan.divide else None
        if changed is None:
            break
        found = settle(problem, changed, start.order, plan.max_sweeps, cancelled)
        trace += found.trace
    return RestartResult(
        start=start.name,
        labels=found.partition.labels,
        log_joint=trace[-1],
        trace=np.array(trace),
        n_sweeps=len(trace),
        converged=found.converged,
        seconds=time.perf_counter() - began,
    )


def _first_labels(problem: Problem, start: Start) -> Labels:
    if start.seating:
        return seated(problem, start.order)
    if start.bisecting:
        return hasten(problem, bisected(problem, np.random.default_rng(start.seed)))
    return hasten(problem, start.labels) if start.hasten else start.labels


def _groups(gains: Array) -> Iterator[list[int]]:
    """Yield the clusters to divide anew: each alone, then pairs, those first that lose least by a merger."""
    n_clusters = gains.shape[0]
    yield from ([cluster] for cluster in range(n_clusters))
    first, second = np.triu_indices(n_clusters, k=1)
    nearest = np.argsort(-gains[first, second], kind="stable")[: _PAIRS_PER_CLUSTER * n_clusters]
    yield from ([int(first[pair]), int(second[pair])] for pair in nearest)


def _divided(
    problem: Problem,
    found: SweepResult,
    gains: Array,
    seed: np.random.SeedSequence,
    attempts: Attempts,
    cancelled: Event,
) -> Labels | None:
    """Return labels with a group of clusters divided anew, the first that raises the joint; None if none does."""
    labels = found.partition.labels
    candidates = []
    for group in _groups(gains):
        members = np.flatnonzero(np.isin(labels, group))
        if members.size > 1:
            key, divide = _division(problem, labels, group, members, seed, cancelled)
            candidates.append((members, key, divide))
            division = attempts.outcome(key, divide, wait=False)
            if cancelled.is_set() or (division is not None and division.size):
                break
    # Other searches may be at some of these; which comes first must not depend on who is faster.
    for members, key, divide in candidates:
        division = attempts.outcome(key, divide, wait=True)
        if division is not None and division.size:
            divided = labels.copy()
            divided[members] = division + labels.max() + 1
            return compact(divided)
    return None


def _division(
    problem: Problem,
    labels: Labels,
    group: list[int],
    members: Labels,
    seed: np.random.SeedSequence,
    cancelled: Event,
) -> tuple[bytes, Callable[[], Labels | None]]:
    """Return the key and the making of the attempt (`Attempts`) to divide some clusters anew."""
    division = compact(labels[members])
    n_others = int(labels.max()) + 1 - len(group)
    digest = hashlib.blake2b(members.tobytes() + division.tobytes(), digest_size=16)
    digest.update(np.float64(problem.model.concentration + n_others * problem.model.discount).tobytes())
    key = digest.digest()

    def make() -> Labels | None:
        part = problem.restricted_to(members, n_others)
        # All restarts have the entropy of the same seed, so this generator is that of the group.
        rng = np.random.default_rng([np.random.SeedSequence(seed.entropy).generate_state(1)[0], *key])
        gain, found = resettle(part, division, rng, cancelled)
        if cancelled.is_set():
            return None
        return found if gain > minimum_gain(problem) else found[:0]

    return key, make
