"""Several Markov chains from overdispersed starts, run until they agree or the sweeps allowed are used up.

After each round, the first half of all draws so far is discarded; rounds double in length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from clinclust.arrays import Array, Codes, Labels
from clinclust.engine.kernels.partition import Model
from clinclust.engine.problem.problem import Problem
from clinclust.engine.sampling.chain import FIXED, Chain, Unknown
from clinclust.engine.search.labels import compact
from clinclust.engine.search.plan import Budget, SearchPlan
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.starts import search_starts
from clinclust.engine.search.threads import Cancelled, SearchCancelled, workers_or_threads
from clinclust.progress import Progress

HIGHEST_R_HAT, LEAST_DRAWS = 1.01, 400.0
"""R-hat at most 1.01 and an effective sample size of at least 400, as Vehtari et al. (2021) recommend."""
TRACED = ("log_joint", "concentration", "n_clusters", "largest", "second", "entropy")
"""The log joint, the concentration, K, the two largest sizes, and the entropy of all sizes."""
_FIRST_ROUND = 100
_BRANCH = 2004


@dataclass(frozen=True)
class SamplingPlan:
    """How long the chains run, on how many threads, and what stops them."""

    seed: int
    max_sweeps: int
    """The most sweeps of each chain."""
    max_draws: int
    """The most labels that are kept of each chain; of more, every second is dropped."""
    n_threads: int
    unknown: Unknown = FIXED
    cancelled: Event = field(default_factory=Cancelled)
    budget: Budget = field(default_factory=lambda: Budget(None))
    progress: Progress = field(default_factory=lambda: Progress(False))


class Diagnosis(NamedTuple):
    """R-hat and effective sample size of one traced number.

    The rank-normalised split R-hat and the bulk effective sample size of Vehtari, Gelman, Simpson, Carpenter and
    Burkner (2021, Bayesian Analysis 16, 667-718), computed by arviz-stats.
    """

    r_hat: float
    effective_size: float

    @property
    def has_converged(self) -> bool:
        """Whether both are as good as they should be."""
        return self.r_hat <= HIGHEST_R_HAT and self.effective_size >= LEAST_DRAWS


@dataclass(frozen=True)
class Chains:
    """The draws of all chains without the first half."""

    labels: Codes
    """(C S, N) the clusters of the kept draws, chain after chain."""
    models: list[Model]
    """The concentration and hyperparameters of each kept draw."""
    traces: dict[str, Array]
    """(C, sweeps) each number of `TRACED`, after every sweep of the second half."""
    diagnoses: dict[str, Diagnosis]
    n_sweeps: int
    """Sweeps of each chain, the first half included."""

    @property
    def has_converged(self) -> bool:
        """Whether every traced number has converged."""
        return all(diagnosis.has_converged for diagnosis in self.diagnoses.values())


def run_chains(problem: Problem, starts: Sequence[Labels], plan: SamplingPlan) -> Chains:
    """Run one chain from each start until all have converged, or the sweeps or the time allowed are used up."""
    seeds = np.random.SeedSequence(plan.seed).spawn(len(starts))
    recorders = [
        _Recorder(Chain(problem, start, np.random.default_rng(seed), plan.unknown), plan.max_draws)
        for start, seed in zip(starts, seeds, strict=True)
    ]
    done, more = 0, min(_FIRST_ROUND, plan.max_sweeps)
    with (
        workers_or_threads(plan.n_threads, plan.cancelled) as pool,
        plan.progress.stage("Gibbs sampling, in rounds") as advance,
    ):
        while True:
            futures = [pool.submit(recorder.run, more, plan.cancelled) for recorder in recorders]
            recorders = [future.result() for future in futures]
            if plan.cancelled.is_set():
                raise SearchCancelled
            done += more
            found = _second_halves(recorders, done)
            advance()
            more = min(done, plan.max_sweeps - done)
            if found.has_converged or more == 0 or plan.budget.used_up():
                return found


class _Recorder:
    """The draws of one chain: all traced numbers, and the labels of every `thinning`-th sweep."""

    def __init__(self, chain: Chain, max_draws: int) -> None:
        self.chain, self._most = chain, max_draws
        self.traced: list[tuple[float, ...]] = []
        self.kept: list[tuple[Codes, Model]] = []
        self.thinning = 1

    def run(self, n_sweeps: int, cancelled: Event) -> _Recorder:
        """Return the recorder after some more sweeps."""
        for _ in range(n_sweeps):
            if cancelled.is_set():
                break
            draw = self.chain.step()
            self.traced.append((draw.log_joint, draw.model.concentration, *_of_sizes(np.bincount(draw.labels))))
            if len(self.traced) % self.thinning == 0:
                self.kept.append((draw.labels.astype(np.int32), draw.model))
                if len(self.kept) > 2 * self._most:
                    self.kept = self.kept[1::2]
                    self.thinning *= 2
        return self


def _of_sizes(sizes: Labels) -> tuple[float, ...]:
    ordered = np.sort(sizes)[::-1]
    shares = ordered / ordered.sum()
    second = float(ordered[1]) if ordered.size > 1 else 0.0
    return float(ordered.size), float(ordered[0]), second, float(-(shares * np.log(shares)).sum())


def _second_halves(recorders: list[_Recorder], n_sweeps: int) -> Chains:
    first = n_sweeps // 2
    traced = np.array([recorder.traced[first:] for recorder in recorders])
    traces = {name: traced[:, :, place] for place, name in enumerate(TRACED)}
    thinning = recorders[0].thinning
    n_left = n_sweeps // thinning - first // thinning
    kept = [draw for recorder in recorders for draw in recorder.kept[len(recorder.kept) - n_left :]]
    return Chains(
        labels=np.array([labels for labels, _ in kept], dtype=np.int32),
        models=[model for _, model in kept],
        traces=traces,
        diagnoses={name: diagnosed(trace) for name, trace in traces.items()},
        n_sweeps=n_sweeps,
    )


def diagnosed(trace: Array) -> Diagnosis:
    """Return the diagnosis of a number in all draws, float64 (chains, draws).

    If it is the same in all draws, R-hat is 1, and each draw counts; if only within chains, R-hat is infinite.
    """
    from arviz_stats.base.array import array_stats

    n_chains, n_draws = trace.shape
    if (trace == trace[0, 0]).all():
        return Diagnosis(1.0, float(trace.size))
    if (trace == trace[:, :1]).all():
        return Diagnosis(np.inf, float(n_chains))
    if n_draws < 4:
        return Diagnosis(np.nan, np.nan)
    statistics: Any = array_stats
    axes = {"chain_axis": 0, "draw_axis": 1}
    return Diagnosis(float(statistics.rhat(trace, **axes)), float(statistics.ess(trace, **axes)))


def overdispersed_starts(problem: Problem, n_chains: int, plan: SearchPlan) -> list[Labels]:
    """Return one partition for each chain, int64 (N,).

    The first is that of a short search, the second is a single cluster, the others are random with up to N^(1/2)
    clusters: the first chain comes to the posterior from above, the others from below. The plan is that of the search.
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
