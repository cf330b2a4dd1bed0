"""Posterior predictive checks: whether values drawn from the fitted model scatter as the observed ones do.

Given the partition, the parameters of each cluster are drawn from their posterior, and as many values as were observed
in it from the likelihood with these parameters (Gelman, Meng and Stern 1996, Statistica Sinica 6, 733-807). p is the
two-sided share of replicates with a statistic at least as far out. It is conservative, because the posterior has seen
the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.engine.problem.encoding import model_values

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.likelihoods.likelihood import Likelihood
    from clinclust.schema import Feature


COLUMNS = ["feature", "likelihood", "statistic", "observed", "expected", "distance", "p", "words"]
_FEWEST = 10  # features with fewer observed values are not checked
_AT_ONCE = 4_000_000  # values that are drawn at once
_FAR = 3.0  # a value is far at so many standard deviations from the mean of its cluster


class Values(NamedTuple):
    """Values of one feature in R replicates, or the observed ones (R = 1)."""

    drawn: Array
    """(R, n) on the scale of the model."""
    residuals: Array
    """(R, n) less the mean of the cluster in the same replicate."""


class Statistic(NamedTuple):
    """A statistic, and what it says for a reader."""

    name: str
    words: str
    """Completes "inside the subtypes, ..."."""
    compute: Callable[[Values], Array]
    """Takes `Values`, returns float64 (R,)."""


def values_in(values: Array, clusters: NDArray[np.int64]) -> Values:
    """Return values, float64 (R, n), with their residuals from the means of their clusters, int64 (n,)."""
    members = np.zeros((clusters.size, int(clusters.max()) + 1))
    members[np.arange(clusters.size), clusters] = 1.0
    means = (values @ members) / np.maximum(members.sum(axis=0), 1.0)
    return Values(values, values - means[:, clusters])


def statistics_of(*, is_count: bool, is_scale: bool, is_real: bool, lowest: float, highest: float) -> list[Statistic]:
    """Return what is checked of a feature with these traits, on a scale from `lowest` to `highest`."""

    def zeros(of: Values) -> Array:
        return np.asarray((of.drawn == 0.0).mean(axis=1))

    def ends(of: Values) -> Array:
        return np.asarray(((of.drawn <= lowest) | (of.drawn >= highest)).mean(axis=1))

    share = "{{observed:.1%}} of the values {}, expected {{expected:.1%}}".format
    every = (
        (True, "scatter", "the values vary {observed:.3g} (variance), expected {expected:.3g}", _variance),
        (is_count, "zeros", share("are 0"), zeros),
        (is_scale, "ends", share("lie at an end of the scale"), ends),
        (not is_scale, "tails", share("lie 3 SD and more from their mean"), _far),
        (is_real, "skewness", "the values are skewed by {observed:.2f}, expected {expected:.2f}", _skewness),
    )
    return [Statistic(name, words, compute) for applies, name, words, compute in every if applies]


def _variance(of: Values) -> Array:
    return np.asarray((of.residuals**2).mean(axis=1))


def _spread(of: Values) -> Array:
    return np.maximum(np.sqrt(_variance(of)), 1e-300)[:, None]


def _far(of: Values) -> Array:
    return np.asarray((np.abs(of.residuals) >= _FAR * _spread(of)).mean(axis=1))


def _skewness(of: Values) -> Array:
    standardised = of.residuals / _spread(of)
    return np.asarray((standardised**2 * standardised).mean(axis=1))  # a general power takes 20 times as long


def predictive_checks(fit: Fit, cohort: pd.DataFrame, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return one row for each clustered feature and statistic, in the order of the schema, by `n_draws` replicates."""
    clusters = fit.clusters_
    values = model_values(cohort, clusters.encoding.features)
    of_feature: dict[str, list[dict[str, Any]]] = {}
    places = fit.schema_.places(clusters.encoding.features)
    for index, (feature, likelihood, place) in enumerate(
        zip(clusters.encoding.features, clusters.encoding.alone, places, strict=True)
    ):
        column = (values[feature.name] - clusters.encoding.centres[index]) / clusters.encoding.scales[index]
        kept = ~np.isnan(column) & ~fit.outliers_[:, place]
        if likelihood.is_share or likelihood.counts_levels or kept.sum() < _FEWEST:
            continue
        labels = fit.cluster_labels_[kept] if clusters.included[index] else np.zeros(int(kept.sum()), dtype=np.int64)
        of_feature[feature.column] = _checked(feature, likelihood, clusters, index, column[kept], labels, n_draws, rng)
    rows = [row for name in fit.schema_.names for row in of_feature.get(name, [])]
    return pd.DataFrame(rows, columns=COLUMNS)


def _checked(
    feature: Feature,
    likelihood: Likelihood,
    clusters: Clusters,
    index: int,
    column: Array,
    labels: NDArray[np.int64],
    n_draws: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    order = np.argsort(labels, kind="stable")
    with_values, labels = np.unique(labels[order], return_inverse=True)
    column, posteriors = column[order], clusters.posteriors(index)[with_values]
    highest = float(likelihood.highest_score(feature) or 0)
    is_count = likelihood.is_count and feature.lowest == 0.0  # counts from 1 on have no zeros
    traits = {"is_count": is_count, "is_scale": likelihood.is_scale, "is_real": likelihood.is_real}
    statistics = statistics_of(**traits, lowest=0.0, highest=highest)
    observed = [float(statistic.compute(values_in(column[None], labels))[0]) for statistic in statistics]
    drawn: list[list[Array]] = [[] for _ in statistics]
    for first in range(0, n_draws, max(_AT_ONCE // column.size, 1)):
        n = min(max(_AT_ONCE // column.size, 1), n_draws - first)
        replicates = _replicates(likelihood, posteriors, labels, n, rng)
        for kept, statistic in zip(drawn, statistics, strict=True):
            kept.append(statistic.compute(replicates))
    rows = []
    unit = clusters.encoding.scales[index]
    for statistic, here, of_draws in zip(statistics, observed, drawn, strict=True):
        replicated = np.concatenate(of_draws)
        at_least, at_most = (replicated >= here - 1e-12).sum(), (replicated <= here + 1e-12).sum()
        p = min(1.0, 2.0 * (1.0 + min(at_least, at_most)) / (1.0 + n_draws))
        spread = float(replicated.std())
        distance = abs(here - float(replicated.mean())) / spread if spread > 0.0 else 0.0
        squared = unit**2 if statistic.name == "scatter" else 1.0
        numbers = {"observed": here * squared, "expected": float(replicated.mean()) * squared, "distance": distance}
        about = {"feature": feature.column, "likelihood": likelihood.name, "statistic": statistic.name, "p": p}
        rows.append(about | numbers | {"words": statistic.words.format(**numbers)})
    return rows


def _replicates(
    likelihood: Likelihood, posteriors: Array, labels: NDArray[np.int64], n: int, rng: np.random.Generator
) -> Values:
    clusters = zip(posteriors, np.bincount(labels).tolist(), strict=True)
    drawn = [likelihood.draw_jointly(posterior, n, size, rng) for posterior, size in clusters]
    return values_in(np.concatenate(drawn, axis=1), labels)
