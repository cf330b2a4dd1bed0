"""The clusters of a fitted model: scores of the fitted subjects and of new subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.kernels.outlying_scores import mixed_scores
from clinclust.engine.kernels.partition import CohortArrays, Model, Partition, clusters_without_subjects, log_marginals
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import Encoding
from clinclust.engine.problem.objective import log_crp, relevance_of

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem


@dataclass(frozen=True)
class Clusters:
    """The clusters of a fitted model, without the subjects."""

    encoding: Encoding
    model: Model
    sizes: Array
    """(K,) number of subjects in each cluster."""
    statistics: Array
    """(K, S) sufficient statistics of each cluster, of all features."""
    included: Mask
    """(D,) the features that differ between the clusters; the others have one distribution for all subjects."""
    outlying_share: float = 0.0
    """Probability that a value is outlying, that is, drawn from the prior predictive of its feature."""
    temperature: float = 1.0
    """Divisor of the log weights of clusters for the probabilities of a subject (`sampling.calibration`)."""

    def pooled(self, into: Labels) -> Clusters:
        """Return the clusters merged into the clusters `into`, int64 (K,), 0, 1, ...: sizes and statistics add up."""
        groups = [np.flatnonzero(into == group) for group in range(int(into.max()) + 1)]
        sizes = np.array([self.sizes[members].sum() for members in groups])
        return replace(self, sizes=sizes, statistics=np.array([self.statistics[it].sum(axis=0) for it in groups]))

    def relevance(self) -> Array:
        """Return the `feature_relevance` of each encoded feature, in nats, float64 (D,)."""
        return relevance_of(self._without_subjects(), self.model.prior, self.statistics)

    def log_joint_of_partition(self) -> float:
        """Return the terms of the log joint that a merger of clusters changes, in nats."""
        model = self.model
        likelihood = float(self._counted_log_marginals()[:, self.included].sum())
        return log_crp(self.sizes, model.concentration, model.discount) + model.coarsening * likelihood

    def log_joint_of_each(self) -> Array:
        """Return the term of each cluster in the log joint of a partition, in nats, float64 (K,)."""
        model = self.model
        of_sizes = gammaln(self.sizes - model.discount) - gammaln(1.0 - model.discount)
        likelihood = self._counted_log_marginals()[:, self.included].sum(axis=1)
        return np.asarray(of_sizes + model.coarsening * likelihood, dtype=np.float64)

    def likelihood_terms(self) -> Array:
        """Return the term of each cluster and included feature in the log joint, in nats, float64 (K, D)."""
        return np.where(self.included, self.model.coarsening * self._counted_log_marginals(), 0.0)

    def _counted_log_marginals(self) -> Array:
        """Return the log marginal of each feature in each cluster times the power of the feature, float64 (K, D)."""
        return log_marginals(self._without_subjects(), self.model.prior, self.statistics) * self.model.powers

    def _without_subjects(self) -> CohortArrays:
        """Return the arrays of a cohort without subjects, with the places of the numbers of each feature."""
        none = {feature.name: np.empty(0) for feature in self.encoding.features}
        return self.encoding.encode(none, self.model.prior)[0]

    def scores(self, values: Mapping[str, Array], *, coarsened: bool) -> Array:
        """Return ln p(z = k) + ln p(x | cluster k) of new subjects, in nats, (n, K + 1); the last cluster is empty.

        Densities refer to the columns of `model_values` (Raykov et al. 2016, appendix E): the log-sum-exp of a row is
        eq. 33, and its largest entry is eq. 34. If values may be outlying, p(x_d | cluster k) is its mixture with p(x_d
        | prior). Assignment to clusters needs `coarsened`, which multiplies ln p(x_d | cluster k) by the coarsening and
        the power of the feature, and divides the sum by the temperature; densities do not integrate to 1 then.
        """
        n_subjects = next(iter(values.values())).size
        prior, statistics = self._shared()
        arrays, _ = self.encoding.encode(dict(values), prior)
        n_clusters = self.sizes.size
        partition = clusters_without_subjects(arrays, self.sizes, statistics)
        model = self.model._replace(prior=prior)
        model = model if coarsened else model.in_full()
        scores = np.zeros((n_subjects, n_clusters + 1))
        if self.outlying_share > 0.0:
            mixed_scores(arrays, model.in_full(), partition, self.outlying_share, model.exponents, scores)
        else:
            write_scores(arrays, model, partition, scores)
        scores += model.coarsening * self.encoding.log_jacobian(arrays, model.powers)[:, None]
        scores -= np.log(self.sizes.sum() + model.concentration)
        return np.asarray(scores / self.temperature if coarsened else scores, dtype=np.float64)

    def posteriors(self, feature: int) -> Array:
        """Return the encoded posterior hyperparameters of one feature in every cluster; last, its prior, (K + 1, P)."""
        theta, sums = self.of_feature(feature)
        prior = self.encoding.alone[feature].prior
        found: Array = prior.posterior(np.broadcast_to(theta, (sums.shape[0], theta.size)), sums)
        return np.vstack([found, theta])

    def of_feature(self, feature: int) -> tuple[Array, Array]:
        """Return the hyperparameters (P,) and the statistics (K, S) with which one feature is predicted by itself."""
        likelihood = self.encoding.likelihoods[feature]
        theta, sums = self.factor_of(feature)
        return likelihood.marginal_prior(theta), likelihood.marginal_statistics(sums)

    def factor_of(self, feature: int) -> tuple[Array, Array]:
        """Return the hyperparameters (P,) and the statistics (K, S) of a feature given those before it in its block."""
        return self._part_of(feature, *self._shared())

    def _part_of(self, feature: int, prior: Array, statistics: Array) -> tuple[Array, Array]:
        start, first = self.encoding.prior_start[feature:], self.encoding.statistic_start[feature:]
        return prior[start[0] : start[1]], statistics[:, first[0] : first[1]]

    def _shared(self) -> tuple[Array, Array]:
        """Return the prior (H,) and the statistics (K, S) with which values are predicted.

        A feature that is not included has its posterior given all subjects as prior, and no statistics.
        """
        if self.included.all():
            return self.model.prior, self.statistics
        prior, statistics = self.model.prior.copy(), self.statistics.copy()
        for feature in np.flatnonzero(~self.included).tolist():
            theta, sums = self._part_of(feature, prior, statistics)
            theta[:] = self.encoding.likelihoods[feature].prior.posterior(theta, sums.sum(axis=0))
            sums[:] = 0.0
        return prior, statistics


def clusters_of(problem: Problem, partition: Partition, included: Mask | None = None) -> Clusters:
    """Return the clusters of a partition; `included`, bool (D,), are the features that differ between them."""
    k = int(partition.n_clusters[0])
    encoding = problem.cohort.encoding
    included = np.ones(len(encoding.features), dtype=np.bool_) if included is None else included
    return Clusters(encoding, problem.model, partition.sizes[:k].copy(), partition.statistics[:k].copy(), included)


def leave_one_out_scores(problem: Problem, partition: Partition) -> Array:
    """Return each subject's log posterior weight for each cluster without it, (N, K); for its own alone, a new one."""
    scores = np.zeros((problem.cohort.n_subjects, int(partition.n_clusters[0]) + 1))
    write_scores(problem.cohort.arrays, problem.model, partition, scores)
    return scores[:, :-1]


def probabilities(scores: Array) -> Array:
    """Return rows of probabilities from rows of log weights, each normalised to sum to 1."""
    weights: Array = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
