"""The clusters of a fitted model: scores of the fitted subjects and of new subjects."""

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
    """The clusters of a fitted model, without the subjects.

    Attributes
    ----------
    encoding : Encoding
    model : Model
    sizes : float64 (K,)
        Number of subjects in each cluster.
    statistics : float64 (K, S)
        Sufficient statistics of each cluster.
    outlying_share : float
        Probability that a value is outlying, that is, drawn from the prior predictive of its feature.
    """

    encoding: Encoding
    model: Model
    sizes: Array
    statistics: Array
    outlying_share: float = 0.0

    def scores(self, values: Mapping[str, Array], *, coarsened: bool) -> Array:
        """Return ln p(z = k) + ln p(x | cluster k) of new subjects, in nats, float64 (n, K + 1).

        The last column is a new, empty cluster. Densities refer to the columns on the model's scale (Raykov et al.
        2016, appendix E): the log-sum-exp of a row is eq. 33, and its largest entry is eq. 34. If values may be
        outlying, p(x_d | cluster k) is replaced by its mixture with the prior predictive p(x_d | prior).

        Parameters
        ----------
        values : mapping
            Columns of `model_values`.
        coarsened : bool
            Whether to multiply ln p(x_d | cluster k) by the coarsening of the model and the power of the feature.
            Cluster assignment needs this. Densities need False, because powers of densities do not integrate to 1.
        """
        n_subjects = next(iter(values.values())).size
        arrays, _ = self.encoding.encode(dict(values), self.model.prior)
        n_clusters = self.sizes.size
        partition = clusters_without_subjects(arrays, self.sizes, self.statistics)
        model = self.model if coarsened else self.model.in_full()
        scores = np.zeros((n_subjects, n_clusters + 1))
        if self.outlying_share > 0.0:
            mixed_scores(arrays, model.in_full(), partition, self.outlying_share, model.exponents, scores)
        else:
            write_scores(arrays, model, partition, scores)
        scores += model.coarsening * self.encoding.log_jacobian(arrays, model.powers)[:, None]
        return np.asarray(scores - np.log(self.sizes.sum() + model.concentration), dtype=np.float64)

    def posteriors(self, feature: int) -> Array:
        """Return the posterior hyperparameters of one feature in every cluster and, in the last row, its prior.

        Returns
        -------
        float64 (K + 1, P)
            Hyperparameters on the encoded scale: the mean and rate of a Gaussian refer to its standardised values.
        """
        likelihood = self.encoding.likelihoods[feature]
        stops = np.cumsum([other.n_hyperparameters for other in self.encoding.likelihoods])
        theta = self.model.prior[stops[feature] - likelihood.n_hyperparameters : stops[feature]]
        stops = np.cumsum([other.n_statistics for other in self.encoding.likelihoods])
        sums = self.statistics[:, stops[feature] - likelihood.n_statistics : stops[feature]]
        found: Array = likelihood.prior.posterior(np.broadcast_to(theta, (sums.shape[0], theta.size)), sums)
        return np.vstack([found, theta])


def partition_of(problem: Problem, labels: NDArray[np.int64]) -> Partition:
    """Return the partition with these labels, 0 .. K - 1."""
    return new_partition(problem.cohort.arrays, labels)


def clusters_of(problem: Problem, partition: Partition, included: NDArray[np.bool_] | None = None) -> Clusters:
    """Return the clusters of a partition.

    A feature that is not included, bool (D,), has the same predictive in every cluster and in the empty cluster. Its
    prior is replaced by its posterior given all subjects, and its statistics are set to 0 in every cluster.
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
    """Return each subject's log posterior weight for each cluster without the subject, float64 (N, K).

    For a subject alone in its cluster, the weight for that cluster is the weight for a new cluster.
    """
    scores = np.zeros((problem.cohort.n_subjects, int(partition.n_clusters[0]) + 1))
    write_scores(problem.cohort.arrays, problem.model, partition, scores)
    return scores[:, :-1]


def probabilities(scores: Array) -> Array:
    """Return rows of probabilities from rows of log weights, each normalised to sum to 1."""
    weights: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
