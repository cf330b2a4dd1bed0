"""The log predictive density of held-out subjects, by cross-validation.

The subjects are split at random into folds. Each fold is scored with the clusters of the subjects in the other folds
(Raykov et al. 2016, appendix G, point 4, and eq. 33). The encoding and the default priors come from the whole cohort;
these priors weigh about as much as one subject.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from clinclust.engine.kernels.partition import clusters_without_subjects, new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.search.labels import compact

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.starts import Start

__all__ = ["deal_folds", "held_out_log_density", "starts_among", "training_problem"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def deal_folds(n_subjects: int, n_folds: int, rng: np.random.Generator) -> Iterator[tuple[Labels, Labels]]:
    """Yield (training, held-out) subjects of each fold, int64 arrays in ascending order.

    Every subject is held out once. If there are fewer subjects than folds, every subject forms one fold.
    """
    fold = rng.permutation(np.arange(n_subjects) % min(n_folds, n_subjects))
    for index in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


def training_problem(problem: Problem, subjects: Labels) -> Problem:
    """Return the problem of a subset of the subjects, as if they were the whole cohort.

    The log base measures of its joint are left out (`log_base` is 0).
    """
    arrays = problem.cohort.arrays
    arrays = arrays._replace(codes=arrays.codes[subjects], values=arrays.values[subjects])
    cohort = EncodedCohort(problem.cohort.encoding, arrays, 0.0, np.arange(subjects.size))
    return replace(problem, cohort=cohort)


def starts_among(starts: list[Start], subjects: Labels) -> list[Start]:
    """Return the starts restricted to a subset of the subjects."""
    position = np.full(starts[0].labels.size, -1, dtype=np.int64)
    position[subjects] = np.arange(subjects.size)
    restricted = []
    for start in starts:
        order = position[start.order]
        restricted.append(start._replace(labels=compact(start.labels[subjects]), order=order[order >= 0]))
    return restricted


def held_out_log_density(training: Problem, labels: Labels, cohort: EncodedCohort, subjects: Labels) -> Array:
    """Return ln p(x | clusters) of held-out subjects, in nats, shape (n,): the mixture of eq. 33.

    Parameters
    ----------
    training : Problem
        Problem of the M training subjects, with the model under which their clusters were found.
    labels : int64 (M,)
        Clusters of the training subjects, 0 .. K - 1.
    cohort : EncodedCohort
        All subjects.
    subjects : int64 (n,)
        Indices of the held-out subjects.
    """
    known = new_partition(training.cohort.arrays, labels)
    n_clusters = int(known.n_clusters[0])
    arrays = cohort.with_prior(training.model.prior, training.model.powers).arrays
    arrays = arrays._replace(codes=arrays.codes[subjects], values=arrays.values[subjects])
    new = clusters_without_subjects(arrays, known.sizes[:n_clusters], known.statistics[:n_clusters])
    scores = np.zeros((subjects.size, n_clusters + 1))
    # The clusters may come from powers of likelihoods, but only densities that count in full integrate to 1.
    write_scores(arrays, training.model.in_full(), new, scores)
    scores -= np.log(labels.size + training.model.concentration)
    return np.asarray(logsumexp(scores, axis=1) + cohort.encoding.log_jacobian(arrays), dtype=np.float64)
