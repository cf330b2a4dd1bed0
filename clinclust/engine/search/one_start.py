"""The search from one start: sweeps, then merges and divisions of clusters, until none raises the log joint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from threading import Event, Lock
from typing import Protocol, TypeVar

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.engine.kernels.partition import Partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan
from clinclust.engine.search.settle import SweepResult, hasten, minimum_gain, settle
from clinclust.engine.search.split_merge import merge_all, merge_gains, resettle
from clinclust.engine.search.starts import Start, bisected, seated

_PAIRS_PER_CLUSTER = 2


class Attempts:
    """Outcomes of attempts to divide clusters, by what they depend on, which searches on several threads share."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._outcomes: dict[bytes, Future[Labels | None]] = {}

    def outcome(self, key: bytes, make: Callable[[], Labels | None], *, wait: bool) -> Labels | None:
        """Return the new labels of an attempt, (0,) if it failed, or None if cancelled; call `make` if no thread has.

        Without `wait`, the outcome is None as long as another thread is making the attempt.
        """
        while True:
            with self._lock:
                begun = self._outcomes.get(key)
                if begun is None:
                    mine = self._outcomes[key] = Future()
            if begun is None:
                return self._make(key, make, mine)
            if not wait and not begun.done():
                return None
            outcome = begun.result()
            if outcome is not None:
                return outcome

    def _make(self, key: bytes, make: Callable[[], Labels | None], mine: Future[Labels | None]) -> Labels | None:
        outcome = None
        try:
            outcome = make()
        finally:
            if outcome is None:  # the key is removed, so that a waiting thread makes the attempt again
                with self._lock:
                    del self._outcomes[key]
            mine.set_result(outcome)
        return outcome


def search_from(problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
    """Search from one start until no move of a subject or of a whole cluster raises the log joint.

    For a start with `ignore_size` (that of the paper), only sweeps are made. Restarts share `attempts`, because most
    end at the same partition; an outcome does not depend on the restart that makes the attempt.
    """
    enough = Either(plan.cancelled, plan.budget)
    settled = partial(settle, problem, order=start.order, max_sweeps=plan.max_sweeps, cancelled=plan.cancelled)
    found = settled(_first_labels(problem, start), ignore_size=start.ignore_size)
    trace = list(found.trace) or [log_joint(problem, found.partition)]  # empty if cancelled before the first sweep

    def divided(found: SweepResult, gains: Array) -> Labels | None:
        return _divided(problem, found, gains, start.seed, attempts, enough) if plan.divide else None

    if not start.ignore_size:
        found = merge_and_divide(problem, found, trace, settled, partial(merged, problem), divided, enough)
    return RestartResult.of(start.name, found.partition.labels, trace, converged=found.converged)


class Sweeps(Protocol):
    """Sweeps or scans that ended: `SweepResult` or `Settled`."""

    @property
    def partition(self) -> Partition:
        """The clusters, with their sizes and statistics."""

    @property
    def trace(self) -> list[float]:
        """Log joints."""

    @property
    def converged(self) -> bool:
        """Whether the sweeps ended by themselves."""


AnySweeps = TypeVar("AnySweeps", bound=Sweeps)
Changed = TypeVar("Changed")


def merge_and_divide(
    problem: Problem,
    found: AnySweeps,
    trace: list[float],
    settled: Callable[[Changed], AnySweeps],
    merged: Callable[[AnySweeps], Changed],
    divided: Callable[[AnySweeps, Array], Changed | None],
    enough: Event,
) -> AnySweeps:
    """Merge and divide clusters of sweeps that converged, and settle after each, while this raises the log joint.

    The log joints are appended to the trace. `merged` makes the merges that raise the joint; `divided` takes sweeps and
    their `merge_gains`, and returns None if no division raises it. `settled` continues from what they return.
    """
    least = minimum_gain(problem)
    while found.converged and not enough.is_set():
        gains = merge_gains(problem, found.partition)
        changed = merged(found) if gains.max() > least else divided(found, gains)
        if changed is None:
            break
        after = settled(changed)
        # What was gained must show in the joint: rounding errors of large terms could otherwise be gained for ever.
        if after.trace and after.trace[-1] <= trace[-1] + 0.5 * least:
            break
        found = after
        trace += found.trace
    return found


def merged(problem: Problem, found: SweepResult) -> Labels:
    """Return labels after all merges that raise the log joint."""
    return merge_all(problem, found.partition.labels, minimum_gain(problem))


def continued(begin: Callable[..., RestartResult], start: Start, found: RestartResult) -> RestartResult:
    """Search on with `begin` from where a search from `start` ended; return one result for both searches."""
    onward = Start(start.name, found.labels, start.seed, start.order, included=found.searched_features)
    return found.followed_by(begin(start=onward))


def _first_labels(problem: Problem, start: Start) -> Labels:
    if start.seating:
        return seated(problem, start.order)
    if start.bisecting:
        return hasten(problem, bisected(problem, np.random.default_rng(start.seed)))
    return hasten(problem, start.labels) if start.hasten else start.labels


def _groups(gains: Array) -> Iterator[list[int]]:
    """Yield groups of clusters to divide anew: each cluster alone, then pairs, in order of the loss by their merge."""
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
    """Return labels with the first group of clusters divided whose division raises the log joint; None if none."""
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
    # Other threads may still be making some of these attempts. The candidates are therefore read again in order, so
    # that the choice does not depend on the speed of the threads.
    for members, key, divide in candidates:
        division = attempts.outcome(key, divide, wait=True)
        if division is not None and division.size:
            divided = labels.copy()
            divided[members] = division + labels.max() + 1
            return compact(divided)
    return None


def _division(
    problem: Problem, labels: Labels, group: list[int], members: Labels, seed: np.random.SeedSequence, cancelled: Event
) -> tuple[bytes, Callable[[], Labels | None]]:
    """Return the key and the function of an attempt (`Attempts`) to divide a group of clusters anew."""
    division = compact(labels[members])
    n_others = int(labels.max()) + 1 - len(group)
    digest = hashlib.blake2b(members.tobytes() + division.tobytes(), digest_size=16)
    digest.update(np.float64(problem.model.concentration + n_others * problem.model.discount).tobytes())
    key = digest.digest()

    def make() -> Labels | None:
        part = problem.restricted_to(members, n_others)
        # All restarts share the entropy of one seed, so this generator depends on the group and not on the restart.
        rng = np.random.default_rng([np.random.SeedSequence(seed.entropy).generate_state(1)[0], *key])
        gain, found = resettle(part, division, rng, cancelled)
        if cancelled.is_set():
            return None
        return found if gain > minimum_gain(problem) else found[:0]

    return key, make
