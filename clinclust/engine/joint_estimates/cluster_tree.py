"""How well a likelihood describes one feature in the clusters of a tree, and what clusters cost a feature."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.engine.problem.problem import Clusters
from clinclust.likelihoods import Likelihood


class BestLevel(NamedTuple):
    """The level of a tree at which a likelihood describes a feature best."""

    evidence: float
    """The log marginals of the groups there, less the cost of the divisions above, in nats."""
    n_groups: int
    prior: int
    """The place of the prior that was taken."""


class ClusterTree:
    """The J clusters of a fit, and the groups that arise when they are merged one after the other.

    Its nodes are the clusters, 0 .. J - 1, and the group of each join, J .. 2 J - 2; the last holds all subjects. The
    joins, int64 (J - 1, 2), and the evidence, float64 (J - 1,), are those of `merge_tree`.
    """

    def __init__(self, clusters: Clusters, joins: Labels, evidence: Array) -> None:
        self.n_clusters, self._joins = clusters.sizes.size, joins
        sizes, statistics = self.summed_up(clusters.sizes), self.summed_up(clusters.statistics)
        gains = self._gains(replace(clusters, sizes=sizes, statistics=statistics).likelihood_terms().T)
        # What a division gains, less the change of the log joint, is what it costs by the prior of partitions.
        cost, gained = gains.sum(axis=0) - evidence, np.maximum(gains, 0.0).sum(axis=0)
        self._rate = np.clip(cost / np.maximum(gained, 1e-300), 0.0, 1.0)

    def summed_up(self, of_clusters: Array) -> Array:
        """Return the sums over the clusters of each node, float64 (2 J - 1, ...), of terms of the clusters."""
        sums = np.concatenate([of_clusters, np.zeros((self.n_clusters - 1, *of_clusters.shape[1:]))])
        for node, (first, second) in enumerate(self._joins.tolist(), start=self.n_clusters):
            sums[node] = sums[first] + sums[second]
        return sums

    def charges(self, log_marginals: Array) -> Array:
        """Return the cost of each division to a feature with these log marginals (..., 2 J - 1), in nats, (..., J - 1).

        The features that gain by a division pay its cost, minus the change of ln p(z), in proportion to their gains.
        """
        return np.asarray(self._rate * np.maximum(self._gains(log_marginals), 0.0))

    def best_level(self, log_marginals: Array, charges: Array) -> BestLevel:
        """Return the level at which log marginals (P, 2 J - 1) of its groups, less the charges (P, J - 1), are most."""
        net = (self._gains(log_marginals) - charges)[:, ::-1]
        levels = np.cumsum(np.concatenate([log_marginals[:, -1:], net], axis=1), axis=1)
        prior, level = np.unravel_index(int(levels.argmax()), levels.shape)
        return BestLevel(float(levels[prior, level]), int(level) + 1, int(prior))

    def _gains(self, of_nodes: Array) -> Array:
        """Return what each division gains, (..., J - 1), of terms of the nodes, (..., 2 J - 1)."""
        first, second = self._joins.T
        return np.asarray(of_nodes[..., first] + of_nodes[..., second] - of_nodes[..., self.n_clusters :])


def log_marginals_in_tree(
    likelihood: Likelihood, values: Array, labels: Labels, tree: ClusterTree, priors: Array | None = None
) -> Array:
    """Return ln m(values in node | theta) of every node of a tree, in nats, float64 (P, 2 J - 1).

    The observed values (n,) are on the scale of the likelihood, each in a cluster 0 .. J - 1 of `labels`. By default,
    theta are the P `Likelihood.compared_hyperparameters`.
    """
    priors = likelihood.compared_hyperparameters(values) if priors is None else priors
    summed = _of_measurements if likelihood.is_continuous else _of_levels
    priors, statistics, bases = summed(likelihood, values, labels, tree.n_clusters, priors)
    normalizer, theta = likelihood.prior.log_normalizer, priors[:, None, :]
    of_nodes = likelihood.prior.posterior(theta, tree.summed_up(statistics)[None])
    return np.asarray(normalizer(of_nodes) - normalizer(theta) + tree.summed_up(bases.T).T)


def _of_levels(
    likelihood: Likelihood, values: Array, labels: Labels, n_clusters: int, priors: Array
) -> tuple[Array, Array, Array]:
    """Return the priors (P, H), and of each cluster the statistics (J, S) and the log base measures (P, J)."""
    levels, places = np.unique(values, return_inverse=True)
    counts = np.bincount(labels * levels.size + places, minlength=n_clusters * levels.size)
    counts = counts.reshape(n_clusters, levels.size).astype(np.float64)
    bases = np.broadcast_to(likelihood.log_base_measure(levels, priors[:, None]), (len(priors), levels.size))
    # Sums in a fixed order: the last digits of a BLAS product depend on its number of threads.
    return priors, np.einsum("jl,ls->js", counts, likelihood.statistics(levels)), np.einsum("pl,jl->pj", bases, counts)


def _of_measurements(
    likelihood: Likelihood, values: Array, labels: Labels, n_clusters: int, priors: Array
) -> tuple[Array, Array, Array]:
    """Return what `_of_levels` does, of standardised values, with the Jacobian of the standardisation."""
    centre, scale = likelihood.standardisation(values)
    standard = (values - centre) / scale
    encoded = np.array([likelihood.encoded_hyperparameters(theta, centre, scale) for theta in priors])

    def in_clusters(column: Array) -> Array:
        return np.bincount(labels, weights=column, minlength=n_clusters).astype(np.float64)

    statistics = np.column_stack([in_clusters(column) for column in likelihood.statistics(standard).T])
    bases = [in_clusters(likelihood.log_base_measure(standard, theta) - np.log(scale)) for theta in encoded]
    return encoded, statistics, np.array(bases)
