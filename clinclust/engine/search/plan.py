"""The search plan, with the options of all searches in one frozen object, and the result of one restart."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event

import numpy as np

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.search.threads import Cancelled, SearchCancelled
from clinclust.progress import SILENT, Progress

COARSENINGS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
"""The default path of coarsenings, each 14 to 33 percent below the one before."""


class Budget:
    """The time that a search may take, in seconds from now; None = no limit.

    A search asks wherever it can end with a complete result. `cut_short` remembers that the answer was yes once, so
    that the result depends on the clock.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._whole: Budget | None = None
        self.cut_short = False

    def used_up(self) -> bool:
        """Return whether the time is used up. The search is then expected to leave something out."""
        if self._ends is None or time.monotonic() < self._ends:
            return False
        self._note()
        return True

    def part(self, share: float) -> Budget:
        """Return a budget of this share of the time that is left. What cuts it short has cut the whole short."""
        part = Budget()
        part._whole = self
        if self._ends is not None:
            now = time.monotonic()
            part._ends = now + share * max(0.0, self._ends - now)
        return part

    def _note(self) -> None:
        self.cut_short = True
        if self._whole is not None:
            self._whole._note()


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
    """Name of the start."""
    labels: Labels
    """(N,) clusters 0 .. K - 1, in the order of the encoded subjects."""
    log_joint: float
    trace: Array
    """Log joint after every sweep."""
    n_sweeps: int
    converged: bool
    included: Mask | None = None
    """(D,) features that differ between the clusters; None if no feature selection took place."""

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
            after,
            start=self.start,
            trace=np.append(self.trace, after.trace),
            n_sweeps=self.n_sweeps + after.n_sweeps,
        )


@dataclass(frozen=True)
class ResolutionPlan:
    """The decreasing coarsenings at which to search."""

    coarsenings: tuple[float, ...] = COARSENINGS
    """Decreasing coarsenings, each above 0 and at most 1."""
    n_fresh: int = 2
    """Number of fresh starts at every step after the first."""
    choose: bool = False
    """Whether to add coarsenings in between, to find one that fits the dependence left by its own partition."""


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """How to search for the partition, and what to estimate in addition to it."""

    seed: int = 0
    """Seed of all random numbers."""
    n_restarts: int = 10
    """Largest number of restarts."""
    start: str | Labels = "search"
    """Where restarts begin: "search" = partitions of several kinds (`search_starts`), "single" = one cluster
    (`single_starts`), or given clusters (N,), in the order of the encoded subjects (`starts_from`)."""
    max_sweeps: int = 200
    """Number of sweeps after which a search ends as not converged."""
    n_jobs: int | None = None
    """Number of threads; None or -1 = one for each processor (`n_threads`). It does not change the result."""
    refine: bool = True
    """Whether to skip the remaining starts once the best partition was found often enough, and then to recombine and
    perturb the best ones. The search on a sample always does so, and divides."""
    divide: bool = True
    """Whether to try to divide clusters anew when none can be merged."""
    often_enough: int = 3
    """Number of restarts that must end at the best log joint for the remaining starts to be skipped."""
    finishers: int | None = None
    """Number of starts that are searched to the end: those with the highest log joint after a few sweeps. None = all.
    """
    patience: int | None = None
    """Number of successive batches of perturbations without a better partition after which refinement ends. By default
    4 if the best partition was found often enough, else 12."""
    select_features: bool = False
    """Whether to select the features that differ between the clusters."""
    outlying_share: float = 0.0
    """Probability, in [0, 1), that a value is outlying. If it is above 0, outlying values are searched for."""
    look_back: bool = True
    """Whether a search with outlying values searches once more with all values kept."""
    resolution: ResolutionPlan | None = None
    """Search at several coarsenings instead of the coarsening of the problem."""
    calibrate: bool = False
    """Whether the temperature of the probabilities of the best partition is found (`sampling.calibration`)."""
    estimate_powers: bool = False
    """Whether to estimate the weights of the blocks first (`reproduced_weights`)."""
    hyperparameters: str | None = None
    """How to estimate the hyperparameters, "empirical" or "greedy"; None = keep those of the problem."""
    concentration: str | tuple[float, ...] | None = None
    """How to estimate the concentration, "map" or "cross-validation", or the values to try; None = keep it."""
    fill_modes: bool = False
    """Whether missing values are filled with modes that count as observed (`search_filling`), instead of integrated
    out. Such a search estimates nothing else."""
    cancelled: Event = field(default_factory=Cancelled)
    """When it is set, every search ends after its present sweep, and all together end with `SearchCancelled`. Ctrl-C
    sets it (`interruptible`), and so does an exception in any of the searches."""
    budget: Budget = field(default_factory=Budget)
    """When it is used up, the search ends with the best partition so far."""
    finished: Callable[[RestartResult], object] | None = None
    """Called with each finished restart, on the thread that waits for the searches."""
    progress: Progress = SILENT
    """Reports the stages of the search."""

    @property
    def seeds(self) -> list[np.random.SeedSequence]:
        """One seed for each restart."""
        return np.random.SeedSequence(self.seed).spawn(self.n_restarts)

    def refuse_cancelled(self) -> None:
        """Raise SearchCancelled if the plan is cancelled: searches that stopped early are no result."""
        if self.cancelled.is_set():
            raise SearchCancelled("the search was cancelled")

    @property
    def searches_beside(self) -> bool:
        """Whether anything is estimated in addition to the partition."""
        return (
            self.select_features
            or self.outlying_share > 0.0
            or self.resolution is not None
            or self.hyperparameters is not None
            or self.concentration is not None
        )

    @property
    def begins_in_sample(self) -> bool:
        """Whether a large cohort is first searched in a sample: from any start, with one coarsening at most."""
        from_anywhere = isinstance(self.start, str) and self.start == "search"
        whole_path = self.resolution is not None and not self.resolution.choose
        tunes = self.select_features or self.hyperparameters is not None or self.concentration is not None
        return from_anywhere and not whole_path and not tunes


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`: None and -1 = one for each processor that this process may use."""
    if n_jobs is not None and n_jobs != -1:
        return n_jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
