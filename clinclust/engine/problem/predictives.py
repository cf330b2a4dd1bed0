"""Predictives in a cluster: of every single value, and of missing values of a multivariate Gaussian block.

The latter are exact if no value of the block was missing in the cohort; else each regression on the features before it
rests on the subjects with its features, and the degrees of freedom are those of the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.problem.encoding import model_values
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.priors.normal_wishart import NormalWishart, parts

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.engine.problem.posterior import Clusters


def log_predictives(
    clusters: Clusters, values: Mapping[str, Array], labels: Labels, left_out: Mask | None = None
) -> Array:
    """Return ln p(x_d | a cluster) of subjects, float64 (D, n), the terms of a score; 0 where a value is missing.

    With A the log normaliser of the conjugate prior and theta_k the posterior of the cluster, it is A(theta_k + T(x)) -
    A(theta_k) + ln h(x) on the encoded scale, without the Jacobian; where values may be outlying, the mixture with the
    prior predictive. `labels` (n,) are the clusters that judge; K is the empty one. The `left_out` values (D, n) are
    taken from the statistics of the cluster first, because these hold them.
    """
    encoding, found = clusters.encoding, []
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        before = encoding.features[index - likelihood.n_before : index]
        centres, scales = encoding.standards_of(index, likelihood.n_before)
        columns = (np.column_stack([values[one.name] for one in (*before, feature)]) - centres) / scales
        # Given features one of which is missing, the value takes no part.
        column = np.where(np.isnan(columns).any(axis=1), np.nan, columns[:, -1])
        theta, sums = clusters.factor_of(index)
        held = np.vstack([sums, np.zeros(sums.shape[1])])[labels]
        # Of a feature that is the same in all clusters, one value of N counts for nothing, and in every cluster alike.
        if left_out is not None and clusters.included[index]:
            held -= likelihood.statistics_of_block(columns) * left_out[index][:, None]
        logs = _logs(likelihood, columns, likelihood.prior.posterior(theta[None, :], held), theta)
        if clusters.outlying_share > 0.0 and not likelihood.is_chained:
            share = clusters.outlying_share
            of_prior = _logs(likelihood, columns, theta[None, :], theta)
            logs = np.logaddexp(np.log1p(-share) + logs, np.log(share) + of_prior)
        found.append(np.where(np.isnan(column), 0.0, logs))
    return np.array(found).reshape(len(found), labels.size)


def _logs(likelihood: Likelihood, values: Array, posteriors: Array, theta: Array) -> Array:
    """Return the log predictives of values (n, l + 1), the feature's own last, under posteriors (n, P) or (1, P)."""
    prior = likelihood.prior
    after = prior.posterior(posteriors, likelihood.statistics_of_block(values))
    rise: Array = prior.log_normalizer(after) - prior.log_normalizer(posteriors)
    return rise + likelihood.log_base_measure(values[:, -1], theta)


@dataclass(frozen=True)
class BlockPredictive:
    """The multivariate Student t distribution of a block in each cluster; the last is a new one."""

    mean: Array
    """(K + 1, p)"""
    scale: Array
    """(K + 1, p, p)"""
    degrees: Array
    """(K + 1,) degrees of freedom."""

    def given(self, place: int, others: Mask, values: Array) -> Array:
        """Return the distribution of one feature given others, as Normal-Gamma hyperparameters, float64 (n, K + 1, 4).

        It is Student's t with nu + q degrees of freedom for q others, bool (p,), with the conditional mean of the
        normal distribution of encoded values (n, p), and its conditional variance times (nu + squared Mahalanobis
        distance of the others) / (nu + q).
        """
        n, q = len(values), int(others.sum())
        found = np.empty((n, self.degrees.size, 4))
        for k, (mean, scale, degrees) in enumerate(zip(self.mean, self.scale, self.degrees, strict=True)):
            apart = values[:, others] - mean[others]
            weights = np.linalg.solve(scale[np.ix_(others, others)], np.column_stack([scale[others, place], apart.T]))
            distance = np.einsum("nq,qn->n", apart, weights[:, 1:])
            rest = scale[place, place] - float(scale[place, others] @ weights[:, 0])
            variance = (degrees + distance) / (degrees + q) * rest
            shape = 0.5 * (degrees + q)
            found[:, k, 0] = mean[place] + np.einsum("nq,q->n", apart, weights[:, 0])
            found[:, k, 1], found[:, k, 2] = 1.0, shape
            found[:, k, 3] = 0.5 * variance * shape  # the squared scale of the predictive is 2 rate / shape
        return found


def encoded_block(frame: pd.DataFrame, encoding: Encoding, members: list[int]) -> Array:
    """Return the columns of a block of a validated frame as encoded values, float64 (n, p); NaN = missing."""
    features = tuple(encoding.features[index] for index in members)
    values = model_values(frame, features)
    columns = np.column_stack([values[feature.name] for feature in features])
    return np.asarray((columns - encoding.centres[members]) / encoding.scales[members])


def block_predictive(clusters: Clusters, members: list[int]) -> BlockPredictive:
    """Return the distribution of a block in each cluster, from `members_of_chains`."""
    n = clusters.sizes.size + 1
    mean, scale = np.zeros((n, len(members))), np.zeros((n, len(members), len(members)))
    degrees = kappa = np.ones(n)
    for place, index in enumerate(members):
        means, kappa, of_factor, scatter = parts(_posterior(clusters, index), place + 1)
        degrees = of_factor - place
        for k in range(n):
            slopes = np.linalg.solve(scatter[k, :place, :place], scatter[k, :place, place])
            rest = scatter[k, place, place] - float(slopes @ scatter[k, :place, place])
            before = scale[k, :place, :place]
            mean[k, place] = means[k, place] + float(slopes @ (mean[k, :place] - means[k, :place]))
            scale[k, place, :place] = scale[k, :place, place] = before @ slopes
            scale[k, place, place] = rest / degrees[k] + float(slopes @ before @ slopes)
    return BlockPredictive(mean, scale * ((kappa + 1.0) / kappa)[:, None, None], degrees)


def patterns_of(marked: Mask) -> Iterator[tuple[Mask, Labels]]:
    """Yield each different row of marks (p,) with the rows that have it, int64 (m,)."""
    patterns, pattern_of = np.unique(marked, axis=0, return_inverse=True)
    by_pattern = np.argsort(pattern_of.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(pattern_of.ravel(), minlength=len(patterns)))
    yield from zip(patterns, np.split(by_pattern, ends[:-1]), strict=True)


def _posterior(clusters: Clusters, index: int) -> Array:
    """Return the posterior hyperparameters of a factor in each cluster and, last, its prior, float64 (K + 1, P)."""
    theta, sums = clusters.factor_of(index)
    return NormalWishart.posterior(theta[None], np.vstack([sums, np.zeros(sums.shape[1])]))
