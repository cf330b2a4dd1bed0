"""Established rules for the number of clusters: stability, prediction strength, the gap statistic, BIC of a mixture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust import MAPDP, FeatureSchema
from clinclust.methods import PublishedMAPDP

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

__all__ = ["PEERS"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_MOST = 8
_N_BOOTSTRAP, _LEAST_JACCARD = 20, 0.75
_N_HALVINGS, _LEAST_STRENGTH = 10, 0.8
_N_REFERENCES = 20
_LIKELIHOODS = {"gaussian": "gaussian_diag_nan"}
"""StepMix has no counts and no ordered levels: both are categories there."""


def stable(frame: pd.DataFrame, schema: FeatureSchema, seed: int) -> Labels:
    """Cut the tree of a fit into the most subtypes with a mean bootstrap Jaccard of .75 or more each (Hennig 2007).

    Each of 20 bootstrap samples is fitted anew, with its tree cut to the same number, and the subtype most like each of
    the original ones is sought among the subjects that were drawn.
    """
    rng = np.random.default_rng(seed)
    tree = _fit(frame, schema, seed).tree_
    drawn = [rng.integers(0, len(frame), len(frame)) for _ in range(_N_BOOTSTRAP)]
    again = [_fit(frame.iloc[rows].reset_index(drop=True), schema, seed).tree_ for rows in drawn]
    for n_clusters in range(tree.n_subtypes, 1, -1):
        labels = tree.subtype_of(n_clusters)[tree.labels]
        jaccard = [
            _most_alike(labels[rows], other.subtype_of(min(n_clusters, other.n_subtypes))[other.labels], n_clusters)
            for rows, other in zip(drawn, again, strict=True)
        ]
        if np.mean(jaccard, axis=0).min() >= _LEAST_JACCARD:
            return labels
    return np.zeros(len(frame), dtype=np.int64)


def _fit(frame: pd.DataFrame, schema: FeatureSchema, seed: int) -> MAPDP:
    return PublishedMAPDP(schema, coarsening="auto", n_restarts=2, n_jobs=1, random_state=seed, progress=False).fit(
        frame
    )


def _most_alike(labels: Labels, others: Labels, n_clusters: int) -> Array:
    """Return the largest Jaccard index of each cluster with any of the others, float64 (K,)."""
    both = np.zeros((n_clusters, int(others.max()) + 1))
    np.add.at(both, (labels, others), 1.0)
    either = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
    return np.asarray((both / np.maximum(either, 1.0)).max(axis=1))


def predicted(frame: pd.DataFrame, schema: FeatureSchema, seed: int) -> Labels:
    """Take the largest number whose prediction strength is at least .8 (Tibshirani and Walther 2005), by K-means."""
    values, rng = _numbers(frame, schema), np.random.default_rng(seed)
    orders = [rng.permutation(len(values)) for _ in range(_N_HALVINGS)]
    for n_clusters in range(_MOST, 1, -1):
        strengths = [_strength(values[order], n_clusters, seed) for order in orders]
        if np.mean(strengths) >= _LEAST_STRENGTH:
            return _k_means(values, n_clusters, seed).labels_.astype(np.int64)
    return np.zeros(len(frame), dtype=np.int64)


def _strength(values: Array, n_clusters: int, seed: int) -> float:
    """Return the least share of pairs of a cluster of one half that the clusters of the other half keep together."""
    one, other = np.array_split(values, 2)
    own = _k_means(other, n_clusters, seed).labels_
    foretold = _k_means(one, n_clusters, seed).predict(other)
    shares = []
    for cluster in range(n_clusters):
        together = np.bincount(foretold[own == cluster]).astype(np.float64)
        n_pairs = together.sum() * (together.sum() - 1.0)
        shares.append(1.0 if n_pairs == 0.0 else float((together * (together - 1.0)).sum() / n_pairs))
    return min(shares)


def gap(frame: pd.DataFrame, schema: FeatureSchema, seed: int) -> Labels:
    """Take the number that the gap statistic gives (Tibshirani, Walther and Hastie 2001), by K-means.

    The reference is uniform in the box of the principal axes; the rule is that of one standard error.
    """
    values, rng = _numbers(frame, schema), np.random.default_rng(seed)
    centred = values - values.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2]
    low, high = (bound(centred @ axes.T, axis=0) for bound in (np.min, np.max))
    references = [rng.uniform(low, high, centred.shape) for _ in range(_N_REFERENCES)]
    gaps, errors = [], []
    for n_clusters in range(1, _MOST + 2):
        expected = [np.log(_k_means(table, n_clusters, seed).inertia_) for table in references]
        gaps.append(np.mean(expected) - np.log(_k_means(centred, n_clusters, seed).inertia_))
        errors.append(np.std(expected) * np.sqrt(1.0 + 1.0 / _N_REFERENCES))
        if n_clusters > 1 and gaps[-2] >= gaps[-1] - errors[-1]:
            return _k_means(centred, n_clusters - 1, seed).labels_.astype(np.int64)
    return _k_means(centred, _MOST, seed).labels_.astype(np.int64)


def _k_means(values: Array, n_clusters: int, seed: int) -> KMeans:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=5, random_state=seed).fit(values)


def _numbers(frame: pd.DataFrame, schema: FeatureSchema) -> Array:
    """Return the table as standardised numbers, counts as logarithms, means for missing values."""
    columns = []
    for feature in schema:
        column = frame[feature.name].to_numpy(dtype=np.float64)
        column = np.log1p(column) if feature.likelihood == "negative_binomial" else column
        column = (column - np.nanmean(column)) / max(float(np.nanstd(column)), 1e-9)
        columns.append(np.where(np.isnan(column), 0.0, column))
    return np.column_stack(columns)


def by_bic(frame: pd.DataFrame, schema: FeatureSchema, seed: int) -> Labels:
    """Take the mixture of 1 to 8 components with the lowest BIC, by StepMix with three starts each."""
    from stepmix import StepMix

    of_feature = {feature.name: _LIKELIHOODS.get(feature.likelihood, "categorical_nan") for feature in schema}
    names = sorted(of_feature, key=of_feature.__getitem__)
    values = frame[names].to_numpy(dtype=np.float64)
    measurement = {
        kind: {"model": kind, "n_columns": list(of_feature.values()).count(kind)}
        for kind in sorted({*of_feature.values()})
    }
    models = [
        StepMix(k, measurement=measurement, n_init=3, random_state=seed, verbose=0, progress_bar=0).fit(values)
        for k in range(1, _MOST + 1)
    ]
    best = min(models, key=lambda model: model.bic(values))
    return np.unique(best.predict(values), return_inverse=True)[1].astype(np.int64)


PEERS: Mapping[str, tuple[str, str, Callable[[pd.DataFrame, FeatureSchema, int], Labels]]] = {
    "Jaccard": ("our tree, cut where each subtype has a mean bootstrap Jaccard of at least .75", "clinclust", stable),
    "prediction strength": ("K-means, the largest K with a prediction strength of at least .8", "sklearn", predicted),
    "gap": ("K-means, K by the gap statistic", "sklearn", gap),
    "BIC": ("mixed mixture by StepMix, 1 to 8 components by BIC", "stepmix", by_bic),
}
"""Rules by name: what each is, the package that it needs, and the function from table, schema and seed to labels."""
