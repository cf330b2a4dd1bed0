"""Several Markov chains from starts that lie far apart, run until they agree or the sweeps allowed are used up.

The chains run on threads, each with a random generator of its own, so that the number of threads does not change the
draws. After each round the first half of all draws so far is set aside as the way from the start. The rounds double in
length until every traced number has converged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.sampling.chain import FIXED, Chain, Unknown
from clinclust.engine.sampling.diagnostics import Diagnosis, diagnosed
from clinclust.engine.search.stopping import Budget
from clinclust.engine.search.threads import SearchCancelled, Threads
from clinclust.progress import Progress

if TYPE_CHECKING:
    from clinclust.engine.kernels.model import Model
    from clinclust.engine.problem.problem import Problem

__all__ = ["Chains", "SamplingPlan", "run_chains"]

Labels = NDArray[np.int64]

TRACED = ("log_joint", "concentration", "n_clusters", "largest", "second", "entropy")
"""What is traced: the log joint, the concentration, K, the two largest sizes, and the entropy of all sizes."""
_FIRST_ROUND = 100


@dataclass(frozen=True)
class SamplingPlan:
    """How long the chains run, on how many threads, and what tells them to stop.

    Attributes
    ----------
    max_sweeps : int
        The most sweeps of each chain.
    max_draws : int
        The most labels that are kept of each chain; of more, every second is dropped.
    """

    seed: int
    max_sweeps: int
    max_draws: int
    n_threads: int
    unknown: Unknown = FIXED
    cancelled: Event = field(default_factory=Event)
    budget: Budget = field(default_factory=lambda: Budget(None))
    progress: Progress = field(default_factory=lambda: Progress(False))


@dataclass(frozen=True)
class Chains:
    """The draws of all chains without the first half.

    Attributes
    ----------
    labels : int32 (C S, N)
        The clusters of each kept draw, numbered as they come, chain after chain; every `thinning`-th sweep was kept.
    models : list of Model
        The concentration and hyperparameters of each kept draw.
    traces : dict of float64 (C, sweeps)
        Each number of `TRACED`, after every sweep of the second half.
    diagnoses : dict of Diagnosis
    has_converged : bool
    n_sweeps : int
        Sweeps of each chain, the first half included.
    accepted : float
        The share of the proposed divisions and mergers that were accepted.
    """

    labels: NDArray[np.int32]
    models: list[Model]
    traces: dict[str, NDArray[np.float64]]
    diagnoses: dict[str, Diagnosis]
    n_sweeps: int
    thinning: int
    accepted: float

    @property
    def has_converged(self) -> bool:
        """Whether every traced number has converged."""
        return all(diagnosis.has_converged for diagnosis in self.diagnoses.values())


class _Recorder:
    """The draws of one chain: all traced numbers, and the labels of every `thinning`-th sweep."""

    def __init__(self, chain: Chain, max_draws: int) -> None:
        self.chain, self._most = chain, max_draws
        self.traced: list[tuple[float, ...]] = []
        self.kept: list[tuple[NDArray[np.int32], Model]] = []
        self.thinning = 1

    def run(self, n_sweeps: int, cancelled: Event) -> None:
        for _ in range(n_sweeps):
            if cancelled.is_set():
                return
            draw = self.chain.step()
            self.traced.append((draw.log_joint, draw.model.concentration, *_of_sizes(np.bincount(draw.labels))))
            if len(self.traced) % self.thinning == 0:
                self.kept.append((draw.labels.astype(np.int32), draw.model))
                if len(self.kept) > 2 * self._most:
                    self.kept = self.kept[1::2]
                    self.thinning *= 2


def _of_sizes(sizes: Labels) -> tuple[float, ...]:
    ordered = np.sort(sizes)[::-1]
    shares = ordered / ordered.sum()
    second = float(ordered[1]) if ordered.size > 1 else 0.0
    return float(ordered.size), float(ordered[0]), second, float(-(shares * np.log(shares)).sum())


def run_chains(problem: Problem, starts: Sequence[Labels], plan: SamplingPlan) -> Chains:
    """Run one chain from each start until all have converged, or the sweeps or the time allowed are used up.

    Raises
    ------
    SearchCancelled
        If `plan.cancelled` is set.
    """
    seeds = np.random.SeedSequence(plan.seed).spawn(len(starts))
    recorders = [
        _Recorder(Chain(problem, start, np.random.default_rng(seed), plan.unknown), plan.max_draws)
        for start, seed in zip(starts, seeds, strict=True)
    ]
    done, more = 0, min(_FIRST_ROUND, plan.max_sweeps)
    with Threads(plan.n_threads) as pool, plan.progress.stage("Gibbs sampling, in rounds") as advance:
        try:
            while True:
                for future in [pool.submit(recorder.run, more, plan.cancelled) for recorder in recorders]:
                    future.result()
                if plan.cancelled.is_set():
                    raise SearchCancelled
                done += more
                found = _second_halves(recorders, done)
                advance()
                more = min(done, plan.max_sweeps - done)
                if found.has_converged or more == 0 or plan.budget.used_up():
                    return found
        except BaseException:
            plan.cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _second_halves(recorders: list[_Recorder], n_sweeps: int) -> Chains:
    first = n_sweeps // 2
    traced = np.array([recorder.traced[first:] for recorder in recorders])
    traces = {name: traced[:, :, place] for place, name in enumerate(TRACED)}
    thinning = recorders[0].thinning
    n_left = n_sweeps // thinning - first // thinning
    chains = [recorder.chain for recorder in recorders]
    kept = [draw for recorder in recorders for draw in recorder.kept[len(recorder.kept) - n_left :]]
    return Chains(
        labels=np.array([labels for labels, _ in kept], dtype=np.int32),
        models=[model for _, model in kept],
        traces=traces,
        diagnoses={name: diagnosed(trace) for name, trace in traces.items()},
        n_sweeps=n_sweeps,
        thinning=thinning,
        accepted=sum(chain.n_accepted for chain in chains) / max(sum(chain.n_proposed for chain in chains), 1),
    )
