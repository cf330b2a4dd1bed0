"""How to search: every choice that the searches share, in one frozen object."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.engine.search.one_start import RestartResult

__all__ = ["COARSENINGS", "ResolutionPlan", "SearchPlan", "n_threads"]

Labels = NDArray[np.int64]

COARSENINGS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
"""From the whole likelihood down, in steps of about a fifth and wider."""


@dataclass(frozen=True)
class ResolutionPlan:
    """Which coarsenings to search at, from fine to coarse.

    Attributes
    ----------
    coarsenings : tuple of float
        Falling, each above 0 and at most 1.
    n_fresh : int
        Fresh starts of every step after the first.
    choose : bool
        Look for the coarsening that its own partition bears out (`chosen_step`), between those given as well.
    """

    coarsenings: tuple[float, ...] = COARSENINGS
    n_fresh: int = 2
    choose: bool = False


@dataclass(frozen=True, eq=False)
class SearchPlan:
    """How to search for the partition, and what to search for beside it.

    Attributes
    ----------
    seed : int
        Of everything random.
    n_restarts : int
        Starts, at most.
    start : {"search", "single"} or int64 (N,)
        Where restarts begin: partitions of several kinds (`search_starts`), everybody in one cluster
        (`single_starts`), or these clusters, subjects as encoded (`starts_from`).
    max_sweeps : int
        Sweeps after which a search counts as not converged.
    n_jobs : int, optional
        Threads; None or -1 = one for each processor (`n_threads`). It does not change what is found.
    refine : bool
        Leave out the starts that come after the best partition was found often enough, then recombine and perturb
        the best partitions. A search among a sample always does.
    divide : bool
        Look for clusters to divide anew when none can be merged. A search among a sample always does.
    often_enough : int
        Restarts that must end at the best log joint for the rest to be left out.
    patience : int, optional
        Batches of perturbations in a row without a better partition after which refinement ends; by default 4 if
        the best partition was found often enough, else 12.
    select_features : bool
        Search for the features that differ between the clusters as well.
    outlying_share : float
        Probability, in [0, 1), that a value is outlying; above 0, search for the outlying values as well.
    resolution : ResolutionPlan, optional
        Search at several coarsenings instead of that of the problem.
    hyperparameters : {"empirical", "greedy"}, optional
        How to estimate the hyperparameters; None = those of the problem stay.
    concentration : {"map", "cross-validation"} or tuple of float, optional
        How to estimate the concentration, or which to try; None = that of the problem stays.
    cancelled : threading.Event
        When it is set, every search ends after its present sweep with what it has, not converged. An exception in the
        thread that waits for the searches (Ctrl-C) sets it.
    finished : callable, optional
        Called with each restart when it is done, on the thread that waits for the searches: for a progress bar.
    """

    seed: int = 0
    n_restarts: int = 10
    start: str | Labels = "search"
    max_sweeps: int = 200
    n_jobs: int | None = None
    refine: bool = True
    divide: bool = True
    often_enough: int = 3
    patience: int | None = None
    select_features: bool = False
    outlying_share: float = 0.0
    resolution: ResolutionPlan | None = None
    hyperparameters: str | None = None
    concentration: str | tuple[float, ...] | None = None
    cancelled: Event = field(default_factory=Event)
    finished: Callable[[RestartResult], object] | None = None

    @property
    def seeds(self) -> list[np.random.SeedSequence]:
        """One seed for each restart."""
        return np.random.SeedSequence(self.seed).spawn(self.n_restarts)

    @property
    def searches_beside(self) -> bool:
        """Whether anything is searched for beside the partition."""
        return (
            self.select_features
            or self.outlying_share > 0.0
            or self.resolution is not None
            or self.hyperparameters is not None
            or self.concentration is not None
        )


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for: None and -1 = one for each processor that this process may use."""
    if n_jobs is not None and n_jobs != -1:
        return n_jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
