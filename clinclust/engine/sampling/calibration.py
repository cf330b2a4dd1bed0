"""The temperature at which probabilities of clusters hold.

Given one partition, probabilities are too certain: the partition was chosen to divide the subjects clearly, and its
clusters are not known exactly. The probabilities of a subject averaged over partitions into as many clusters, drawn
from their posterior, are right if the model is:

    P(z_i = k | X) = mean over draws of p(z_i = k | z of all others, X)          (Rao-Blackwell)

The temperature T minimises the cross entropy of these to p_ik proportional to exp(s_ik / T), with s_ik the log weights
given the partition of the fit (temperature scaling: Guo, Pleiss, Sun and Weinberger 2017, *On calibration of modern
neural networks*, ICML). It serves new subjects too.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize_scalar

from clinclust.arrays import Array, Labels
from clinclust.engine.kernels.partition import accumulate
from clinclust.engine.kernels.sweep import draw_moves
from clinclust.engine.problem.posterior import leave_one_out_scores, probabilities
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.threads import SearchCancelled

_BEFORE, _SWEEPS, _EVERY = 20, 100, 2
"""Sweeps before the first draw, sweeps after it, and sweeps of a draw."""
_MOST_SUBJECTS = 5_000
"""Number of subjects above which a sample of this size is drawn."""
_BRANCH = 1764
"""Spawn key of the random numbers."""
_LARGEST = 5.0


def temperature(problem: Problem, labels: Labels, seed: int, cancelled: Event) -> float:
    """Return the temperature of a partition, from 1 (none needed) to 5; 1 for one cluster.

    Raises SearchCancelled if `cancelled` is set.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_BRANCH,)))
    if labels.size > _MOST_SUBJECTS:
        chosen = np.sort(rng.choice(labels.size, _MOST_SUBJECTS, replace=False))
        problem, labels = problem.restricted_to(chosen, 0), compact(labels[chosen])
    if labels.max() == 0:
        return 1.0
    scores = leave_one_out_scores(problem, problem.partition(labels))
    found = np.mean([_matched(drawn, own, labels) for drawn, own in _draws(problem, labels, rng, cancelled)], axis=0)

    def cross_entropy(log_temperature: float) -> float:
        at = np.exp(-log_temperature) * (scores - scores.max(axis=1, keepdims=True))
        return float((found * (np.log(np.exp(at).sum(axis=1, keepdims=True)) - at)).sum())

    return float(np.exp(minimize_scalar(cross_entropy, bounds=(0.0, np.log(_LARGEST)), method="bounded").x))


def _draws(
    problem: Problem, labels: Labels, rng: np.random.Generator, cancelled: Event
) -> Iterator[tuple[Labels, Array]]:
    """Yield drawn partitions into at most as many clusters, and the probabilities of each subject given the others."""
    arrays, model, most = problem.cohort.arrays, problem.model, int(labels.max()) + 1
    partition, nowhere = problem.partition(labels), np.empty(0, dtype=np.int64)
    for number in range(_BEFORE + _SWEEPS):
        if cancelled.is_set():
            raise SearchCancelled("the draws were cancelled")
        order, uniforms = rng.permutation(labels.size), rng.random(labels.size)
        draw_moves(arrays, model, partition, order, 0, uniforms, nowhere, most)
        accumulate(arrays, partition)
        if number >= _BEFORE and number % _EVERY == 0:
            yield partition.labels.copy(), probabilities(leave_one_out_scores(problem, partition))


def _matched(drawn: Labels, own: Array, labels: Labels) -> Array:
    """Return probabilities of drawn clusters as those of the clusters of `labels` with most of their subjects, (N, K).

    A cluster without a drawn one has probability 0.
    """
    shared = np.zeros((int(labels.max()) + 1, own.shape[1]))
    np.add.at(shared, (labels, drawn), 1.0)
    clusters, columns = linear_sum_assignment(-shared)
    found = np.zeros((labels.size, len(shared)))
    found[:, clusters] = own[:, columns]
    return found
