"""Compute the evidence of a tree of subtypes again, from the statistics, the prior and the weights of its clusters.

The evidence depends on each of these numbers, so that a changed one does not stay unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.objective import log_crp
from clinclust.engine.problem.posterior import Clusters

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["evidence_problems"]

Array = NDArray[np.float64]

_RELATIVE = 1e-8
"""Largest difference of two evidences, relative to the log marginals that they are differences of."""


def evidence_problems(fit: Fit) -> list[str]:
    """Return a problem if the evidence of the joins does not follow from the clusters; empty if it does."""
    clusters, joins = fit.clusters_, fit.tree_.joins
    if not len(joins):
        return []
    with np.errstate(all="ignore"):
        marginals = _log_marginals(clusters, joins)
        expected = _evidence(clusters, joins, marginals)
        largest = _RELATIVE * max(1.0, float(np.abs(marginals).max()), float(clusters.sizes.sum()))
        agree = np.isfinite(marginals).all() and bool((np.abs(expected - fit.tree_.evidence) <= largest).all())
    return (
        [] if agree else ["the evidence of the tree does not follow from the statistics and the prior of the clusters"]
    )


def _log_marginals(clusters: Clusters, joins: NDArray[np.int64]) -> Array:
    """Return the log marginal of each node of the tree, without its base measure, in nats, float64 (2K - 1,)."""
    statistics = [*clusters.statistics]
    for first, second in joins.tolist():
        statistics.append(statistics[first] + statistics[second])
    nodes = Clusters(clusters.encoding, clusters.model, clusters.sizes, np.array(statistics))
    found = np.zeros(len(statistics))
    for feature, likelihood in enumerate(clusters.encoding.likelihoods):
        normalizers = np.asarray(likelihood.prior.log_normalizer(nodes.posteriors(feature)))
        found += normalizers[:-1] - normalizers[-1]
    return found


def _evidence(clusters: Clusters, joins: NDArray[np.int64], marginals: Array) -> Array:
    """Return the decrease of the log joint by each join, in nats, float64 (K - 1,)."""
    model = clusters.model
    sizes = dict(enumerate(clusters.sizes.tolist()))
    evidence = np.empty(len(joins))
    for step, (first, second) in enumerate(joins.tolist()):
        before = log_crp(np.array(list(sizes.values())), model.concentration, model.discount)
        joined = clusters.sizes.size + step
        sizes[joined] = sizes.pop(first) + sizes.pop(second)
        after = log_crp(np.array(list(sizes.values())), model.concentration, model.discount)
        apart = marginals[first] + marginals[second]
        evidence[step] = before - after + model.coarsening * (apart - marginals[joined])
    return evidence
