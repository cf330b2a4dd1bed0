"""The concentration N0: its most probable value given a partition, and cross-validation of values that are tried.

Raykov et al. (2016, appendix G, eq. 35): with N0 ~ Gamma(a, b), given K clusters of N subjects,

    p(N0 | N, K) is proportional to Gamma(N0) / Gamma(N0 + N) N0^(K + a - 1) exp(-b N0).

The density maximised here is that of u = ln N0, with one more factor N0, as in Rasmussen (2000): it is log-concave,
with a mode above 0 for every K. With a discount, N0^K becomes the product of N0 + j discount over j = 0 .. K - 1.

In cross-validation, each fold is scored with the clusters of the other folds (point 4, and eq. 33); the encoding and
the default priors come from the whole cohort.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp, polygamma, psi

from clinclust.arrays import Array, Labels
from clinclust.engine.kernels.partition import clusters_without_subjects
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.starts import Start

DEFAULT = 3.0
"""The default concentration, which is the mean of the hyperprior."""
_SHAPE, _RATE = 1.0, 1.0 / DEFAULT
"""Shape a and rate b of the gamma hyperprior, an exponential distribution with mean 3. It weighs as one cluster."""
_MOST_STEPS = 200


def log_concentration_hyperprior(concentration: float) -> float:
    """Return the log density of ln N0 under the hyperprior, a ln b - ln Gamma(a) + a ln N0 - b N0."""
    return _SHAPE * math.log(_RATE) - math.lgamma(_SHAPE) + _SHAPE * math.log(concentration) - _RATE * concentration


def concentration_mode(n_subjects: int, n_clusters: int, discount: float = 0.0) -> float:
    """Return the N0 at the mode of p(ln N0 | N, K), found by Newton's method within a bracket, else bisection.

    With f the log density of u = ln N0, and sums over j = 1 .. K - 1:

        f'(u) = 1 + a + N0 [sum 1 / (N0 + j discount) + psi(N0) - psi(N0 + N) - b]
        f''(u) = f'(u) - (1 + a) + N0^2 [psi'(N0) - psi'(N0 + N) - sum 1 / (N0 + j discount)^2].
    """
    seats = discount * np.arange(1, n_clusters)
    low, high = math.log(1e-12), math.log(1e12)
    u = math.log(DEFAULT)
    for _ in range(_MOST_STEPS):
        concentration = math.exp(u)
        first = concentration * (
            float((1.0 / (concentration + seats)).sum())
            + float(psi(concentration) - psi(concentration + n_subjects))
            - _RATE
        )
        second = first + concentration**2 * (
            float(polygamma(1, concentration) - polygamma(1, concentration + n_subjects))
            - float((1.0 / (concentration + seats) ** 2).sum())
        )
        slope = 1.0 + _SHAPE + first
        if slope > 0.0:
            low = u
        else:
            high = u
        target = u - slope / second if second < 0.0 else math.nan
        if not low < target < high:
            target = 0.5 * (low + high)
        if abs(target - u) <= 1e-12:
            break
        u = target
    return math.exp(u)


def deal_folds(n_subjects: int, n_folds: int, rng: np.random.Generator) -> Iterator[tuple[Labels, Labels]]:
    """Yield (training, held-out) subjects of each fold, ascending; every subject is held out once."""
    fold = rng.permutation(np.arange(n_subjects) % min(n_folds, n_subjects))
    for index in range(int(fold.max()) + 1):
        yield np.flatnonzero(fold != index), np.flatnonzero(fold == index)


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
    """Return ln p(x | training clusters) of held-out subjects, in nats, float64 (n,): the mixture of eq. 33."""
    known = training.partition(labels)
    n_clusters = int(known.n_clusters[0])
    arrays = cohort.with_prior(training.model.prior, training.model.powers).arrays
    arrays = arrays._replace(codes=arrays.codes[subjects], values=arrays.values[subjects])
    new = clusters_without_subjects(arrays, known.sizes[:n_clusters], known.statistics[:n_clusters])
    scores = np.zeros((subjects.size, n_clusters + 1))
    # The clusters may come from powers of likelihoods, but only densities that count in full integrate to 1.
    write_scores(arrays, training.model.in_full(), new, scores)
    scores -= np.log(labels.size + training.model.concentration)
    return np.asarray(logsumexp(scores, axis=1) + cohort.encoding.log_jacobian(arrays), dtype=np.float64)
