"""Clusters once found: what they say of subjects, old and new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.model import Model
from clinclust.engine.kernels.outlying_scores import mixed_scores
from clinclust.engine.kernels.partition import Partition, clusters_without_subjects, new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import Encoding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.engine.problem.problem import Problem

__all__ = ["Clusters", "clusters_of", "leave_one_out_scores", "partition_of", "probabilities"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Clusters:
    """Everything a fitted model knows of its clusters, without the subjects that made them.

    Attributes
    ----------
    encoding : Encoding
    model : Model
    sizes : float64 (K,)
    statistics : float64 (K, S)
    outlying_share : float
        Probability that a value is drawn from the prior of its feature instead.
    """

    encoding: Encoding
    model: Model
    sizes: Array
    statistics: Array
    outlying_share: float = 0.0

    def scores(self, values: Mapping[str, Array], *, coarsened: bool) -> Array:
        """Return ln p(z = k) + ln p(x | cluster k) of new subjects, shape (n, K + 1).

        The last column is a cluster nobody is in yet. Densities are those of the columns on the model's scale
        (Raykov et al. 2016, appendix E): log-sum-exp over a row is eq. 33, the largest entry eq. 34. Clusters found
        with a coarsened likelihood are chosen with it as well (`coarsened`), but only whole densities integrate to 1.
        Where values may be outlying, p(x_d | cluster k) is a mixture with p(x_d | prior).
        """
        n_subjects = next(iter(values.values())).size
        arrays, _ = self.encoding.encode(dict(values), self.model.prior)
        n_clusters = self.sizes.size
        partition = clusters_without_subjects(arrays, self.sizes, self.statistics)
        model = self.model if coarsened else self.model._replace(coarsening=1.0)
        scores = np.zeros((n_subjects, n_clusters + 1))
        if self.outlying_share > 0.0:
            whole = model._replace(coarsening=1.0)
            mixed_scores(arrays, whole, partition, self.outlying_share, model.coarsening, scores)
        else:
            write_scores(arrays, model, partition, scores)
        scores += model.coarsening * self.encoding.log_jacobian(arrays)[:, None]
        return np.asarray(scores - np.log(self.sizes.sum() + model.concentration), dtype=np.float64)

    def posteriors(self, feature: int) -> Array:
        """Return the posterior hyperparameters of one feature in every cluster and, last, the prior, (K + 1, P).

        They are on the encoded scale; the mean and rate of a Gaussian refer to its standardised values.
        """
        likelihood = self.encoding.likelihoods[feature]
        stops = np.cumsum([other.n_hyperparameters for other in self.encoding.likelihoods])
        theta = self.model.prior[stops[feature] - likelihood.n_hyperparameters : stops[feature]]
        stops = np.cumsum([other.n_statistics for other in self.encoding.likelihoods])
        sums = self.statistics[:, stops[feature] - likelihood.n_statistics : stops[feature]]
        found: Array = likelihood.prior.posterior(np.broadcast_to(theta, (sums.shape[0], theta.size)), sums)
        return np.vstack([found, theta])


def partition_of(problem: Problem, labels: NDArray[np.int64]) -> Partition:
    """Return the partition that labels 0 .. K - 1 make."""
    return new_partition(problem.cohort.arrays, labels)


def clusters_of(problem: Problem, partition: Partition, included: NDArray[np.bool_] | None = None) -> Clusters:
    """Return what a partition of a cohort says of its clusters.

    A feature that is not included, bool (D,), has the same predictive in every cluster and in the empty one: its
    posterior given everybody takes the place of its prior, and no cluster adds to it.
    """
    k = int(partition.n_clusters[0])
    encoding, arrays = problem.cohort.encoding, problem.cohort.arrays
    statistics, prior = partition.statistics[:k].copy(), problem.model.prior.copy()
    if included is not None:
        likelihoods = encoding.likelihoods
        for feature in np.flatnonzero(~included):
            sums = statistics[:, arrays.statistic_start[feature] : arrays.statistic_start[feature + 1]]
            theta = prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
            theta[:] = likelihoods[feature].prior.posterior(theta, sums.sum(axis=0))
            sums[:] = 0.0
    return Clusters(encoding, problem.model._replace(prior=prior), partition.sizes[:k].copy(), statistics)


def leave_one_out_scores(problem: Problem, partition: Partition) -> Array:
    """Return each subject's log posterior weight for each cluster, without itself, shape (N, K).

    A subject alone in its cluster is weighed there as somebody new would be.
    """
    scores = np.zeros((problem.cohort.n_subjects, int(partition.n_clusters[0]) + 1))
    write_scores(problem.cohort.arrays, problem.model, partition, scores)
    return scores[:, :-1]


def probabilities(scores: Array) -> Array:
    """Turn rows of log weights into rows of probabilities."""
    weights: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
