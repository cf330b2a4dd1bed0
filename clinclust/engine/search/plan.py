"""What a search is asked for, and the threads on which it runs."""

from __future__ import annotations

import atexit
import contextvars
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from clinclust.arrays import Array, Labels, Mask
from clinclust.progress import SILENT, Progress

# Threads on which searches run, each with BLAS on one thread, and a wait for them that Ctrl-C ends at once.
#
# Python runs the handler of Ctrl-C on the main thread, where it can be swallowed, or leave a lock held for ever. The
# main thread therefore only waits, in one call that can be interrupted at any time. Threads do not keep a process from
# ending; a compilation cannot be stopped, and goes on in the background.

Result = TypeVar("Result")

_GRACE = 0.2  # seconds that an interrupted wait gives to the work to end by itself
_LAST_GRACE = 0.1  # seconds that the end of the process gives to cancelled work
_LOOK = 0.2  # seconds after which a wait looks for Ctrl-C by itself: on Windows a signal does not end a wait

_running: dict[SimpleQueue[Any], Event] = {}  # where results of `interruptible` will arrive, with what cancels them


class SearchCancelled(Exception):  # noqa: N818 - nothing is at fault
    """A search was cancelled, so that it has no result. No caller waits for it any more."""


class Threads(Executor):
    """A pool of threads that do not keep the process from ending, unlike those of `ThreadPoolExecutor`."""

    def __init__(self, n_threads: int, cancelled: Event | None = None) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._most, self._cancelled, self._threads = n_threads, cancelled, list[threading.Thread]()

    def submit(self, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Run a function on one of the threads, in the order of submission; return its future."""
        future: Future[Result] = Future()
        self._tasks.put((future, lambda: function(*args, **kwargs)))
        if len(self._threads) < self._most:
            self._threads.append(threading.Thread(target=_work_off, args=(self._tasks,), name="clinclust", daemon=True))
            try:
                self._threads[-1].start()  # which Ctrl-C may interrupt when the thread already works
            except RuntimeError:  # the system allows no more threads; those there do the work
                del self._threads[-1]
                self._most = len(self._threads)
                if not self._most:
                    raise
        return future

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        if error is not None and self._cancelled is not None:
            self._cancelled.set()
            self.shutdown(wait=False, cancel_futures=True)
        return super().__exit__(kind, error, trace)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads after the work submitted so far, or, with `cancel_futures`, after that which has begun."""
        with suppress(Empty):
            while cancel_futures:
                task = self._tasks.get_nowait()
                if task is not None:
                    task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads if wait else ():
            thread.join()


def _work_off(tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]) -> None:
    while (task := tasks.get()) is not None:
        future, work = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
        del task, future, work  # else the last task and its arrays would live on while the thread waits


def on_one_thread(function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Result:
    """Return the result of a function, which runs with BLAS on one thread."""
    with blas_on_one_thread():
        return function(*args, **kwargs)


# Looking for the loaded libraries takes longer than a small fit, so only after an import.
_libraries = lru_cache(maxsize=1)(lambda _n_modules: ThreadpoolController())


class _BlasOnOneThread:
    """BLAS on one thread while any work runs.

    The last digits of a product depend on the number of its threads, and those of several products wait for each other.
    """

    def __init__(self) -> None:
        self._lock, self._n_users = threading.Lock(), 0
        self._limits: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._n_users == 0:
                self._limits = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
            self._n_users += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    self._limits.restore_original_limits()


blas_on_one_thread = _BlasOnOneThread()


def interruptible(work: Callable[[], Result], cancelled: Event | None = None) -> Result:
    """Return the result of `work`, which runs on another thread, with BLAS on one, while the main thread waits.

    On any other thread, `work` runs at once. `cancelled` is set when the wait is interrupted. Raises KeyboardInterrupt
    within about half a second of Ctrl-C; the work may end in the background, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return on_one_thread(work)
    context = contextvars.copy_context()  # NumPy keeps its error state there
    stop = Event() if cancelled is None else cancelled
    outcome: SimpleQueue[Future[Result]] = SimpleQueue()
    pool = Threads(1)

    def deliver(future: Future[Result]) -> None:
        _running.pop(outcome, None)
        outcome.put(future)

    _running[outcome] = stop
    try:
        pool.submit(context.run, on_one_thread, work).add_done_callback(deliver)
        pool.shutdown(wait=False)
        while True:
            with suppress(Empty):
                future = outcome.get(timeout=_LOOK)
                break
    except BaseException:
        stop.set()
        pool.shutdown(wait=False)
        with suppress(Empty):
            outcome.get(timeout=_GRACE)
        raise
    try:
        return future.result()
    finally:
        del future  # else the frames in the traceback of its error, and their arrays, would live on


@atexit.register
def _end_all() -> None:
    """Cancel what still runs when the process ends, and give it a moment."""
    running = dict(_running)
    for stop in running.values():
        stop.set()
    for outcome in running:
        with suppress(Empty):
            outcome.get(timeout=_LAST_GRACE)


# The search plan, with the options of all searches in one frozen object, and the result of one restart.

_RESTARTS_IN_SHORT = 4  # largest number of restarts of a short search, as between two estimates of block weights


class Budget:
    """The time that a search may take, in seconds from now; None = no limit.

    A search asks wherever it can end with a complete result. `cut_short` remembers that the answer was yes once, so
    that the result depends on the clock.
    """

    def __init__(self, seconds: float | None = None, whole: Budget | None = None) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._whole, self.cut_short = whole, False

    def used_up(self) -> bool:
        """Return whether the time is used up. The search is then expected to leave something out."""
        if self._ends is None or time.monotonic() < self._ends:
            return False
        budget: Budget | None = self
        while budget is not None:
            budget.cut_short, budget = True, budget._whole
        return True

    def part(self, share: float) -> Budget:
        """Return a budget of this share of the time that is left. What cuts it short has cut the whole short."""
        return Budget(None if self._ends is None else share * max(0.0, self._ends - time.monotonic()), self)


class Either(Event):
    """An event that also counts as set when another event is set, or when the time of a budget is used up."""

    def __init__(self, other: Event, budget: Budget | None = None) -> None:
        super().__init__()
        self._other, self._budget = other, budget

    def is_set(self) -> bool:
        """Return whether one of them is set."""
        return super().is_set() or self._other.is_set() or (self._budget is not None and self._budget.used_up())


@dataclass(frozen=True)
class RestartResult:
    """Result of one restart: a partition that no move of the search improves, unless the search was stopped."""

    start: str
    labels: Labels  # (N,) clusters 0 .. K - 1, in the order of the encoded subjects
    log_joint: float
    trace: Array
    n_sweeps: int
    converged: bool
    included: Mask | None = None  # (D,) features that differ between the clusters; None if none were selected

    @classmethod
    def of(cls, start: str, labels: Labels, trace: list[float], *, converged: bool) -> RestartResult:
        """Return the result of sweeps with this trace."""
        return cls(start, labels, trace[-1], np.array(trace), len(trace), converged)

    @property
    def searched_features(self) -> Mask | None:
        """The features to search on with, bool (D,); None = all, also where none was selected."""
        return None if self.included is None or not self.included.any() else self.included

    def raised_to(self, joint: float, labels: Labels | None = None) -> RestartResult:
        """Return the result with a higher log joint, and with other labels if given."""
        labels = self.labels if labels is None else labels
        return replace(self, labels=labels, log_joint=joint, trace=np.append(self.trace, joint))

    def followed_by(self, after: RestartResult) -> RestartResult:
        """Return one result of this search and of one that continued it."""
        return replace(
            after, start=self.start, trace=np.append(self.trace, after.trace), n_sweeps=self.n_sweeps + after.n_sweeps
        )


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """How to search for the partition, and what to estimate in addition to it."""

    seed: int = 0
    n_restarts: int = 10
    # "search" = partitions of several kinds (`search_starts`), "single" = one cluster, as in the paper (appendix C), or
    # given clusters (N,), in the order of the encoded subjects (`starts_from`)
    start: str | Labels = "search"
    max_sweeps: int = 200  # number of sweeps after which a search ends as not converged
    n_jobs: int | None = None  # threads; None or -1 = one for each processor (`n_threads`); the result is the same
    refine: bool = True  # skip starts once the best partition was found often enough; recombine and perturb the best
    # Divide clusters when none can be merged, and after a search with outlying values search once more with all values.
    divide: bool = True
    often_enough: int = 3  # restarts that must end at the best log joint for the remaining starts to be skipped
    finishers: int | None = None  # starts that are searched to the end: the best after a few sweeps; None = all
    # Batches of perturbations in vain after which refinement ends; None = 4 if the best was found often enough, else 12
    patience: int | None = None
    select_features: bool = False  # select the features that differ between the clusters
    # If not None, find the strength of the priors and the features of a wide table before the search. Priors of these
    # features, by name, stay: they are stated in code.
    selects_first: frozenset[str] | None = None
    prior_strength: float | None = None  # the strength of the priors, if it is known, so that only features are found
    outlying_share: float = 0.0  # probability, in [0, 1), that a value is outlying; 0 = no such values are searched for
    choose_coarsening: bool = False  # search at decreasing coarsenings for the one that its own partition bears out
    estimate_powers: bool = False  # estimate the weights of the blocks first (`reproduced_weights`)
    choose_hyperparameters: bool = False  # choose the hyperparameters one after the other (`choose_greedily`)
    concentration: str | None = None  # how to estimate it, "map" or "cross-validation"; None = keep it
    # Fill missing values with modes that count as observed (`search_filling`). Such a search estimates nothing else.
    fill_modes: bool = False
    # When it is set, every search ends after its present sweep, and all together end with `SearchCancelled`. Ctrl-C
    # sets it (`interruptible`), and so does an exception in any of the searches.
    cancelled: Event = field(default_factory=Event)
    budget: Budget = field(default_factory=Budget)  # when it is used up, the search ends with the best so far
    progress: Progress = SILENT
    # What depends on its key alone: divisions of clusters, (0,) where none raises the joint, which searches share, on
    # threads that may make one twice, and averages over partitions, for the test of a tree and for its temperature.
    memory: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    @property
    def seeds(self) -> list[np.random.SeedSequence]:
        """One seed for each restart."""
        return np.random.SeedSequence(self.seed).spawn(self.n_restarts)

    def refuse_cancelled(self) -> None:
        """Raise SearchCancelled if the plan is cancelled: searches that stopped early are no result."""
        if self.cancelled.is_set():
            raise SearchCancelled("the search was cancelled")

    def shortened(self, budget: Budget, stage: str) -> SearchPlan:
        """Return the plan of a short search, which estimates only outlying values and selected features."""
        return replace(
            self,
            budget=budget,
            progress=self.progress.within(stage),
            n_restarts=min(self.n_restarts, _RESTARTS_IN_SHORT),
            refine=False,
            estimate_powers=False,
            selects_first=None,
            choose_coarsening=False,
            choose_hyperparameters=False,
            concentration=None,
        )

    @property
    def begins_in_sample(self) -> bool:
        """Whether a large cohort is first searched in a sample: from any start, with nothing tuned."""
        from_anywhere = isinstance(self.start, str) and self.start == "search"
        tunes = self.select_features or self.choose_hyperparameters or self.concentration is not None
        return from_anywhere and not tunes


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`: None and -1 = one for each processor that this process may use."""
    if n_jobs is not None and n_jobs != -1:
        return n_jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
