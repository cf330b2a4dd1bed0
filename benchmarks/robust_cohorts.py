"""Simulated cohorts on which the model is right, or wrong in a known way.

2 to 6 subtypes of 300 to 600 subjects, 20 to 40 features (Gaussian, Bernoulli, scales, categories, counts), six
in ten of which tell subtypes apart. They are so far apart that whoever knew the parameters, on clean data, would
label the subjects with an adjusted Rand index of .90 to .97. All features are drawn through a Gaussian copula, so that
they can depend on each other inside a subtype whatever their likelihood.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from clinclust import Feature, FeatureSchema
from clinclust.engine.search.settle import adjusted_rand_index

__all__ = ["FLAVOURS", "robust_cohort"]

FLAVOURS = {
    "clean": "as the model says",
    "dependent": "residual correlation .3 within undeclared blocks of 4 or 5 features",
    "strongly dependent": "the same with .5",
    "heavy tails": "Gaussian features follow Student's t with 3 to 5 degrees of freedom",
    "contaminated": "3% of all values drawn anew from a wide distribution",
    "all": "dependent (.3), heavy tails and contaminated",
}
_SHARES = {"gaussian": 0.4, "bernoulli": 0.25, "binomial": 0.15, "categorical": 0.1, "poisson": 0.1}
_TRIALS = 4
_LEVELS = ("a", "b", "c")
_CORRELATION = {"dependent": 0.3, "all": 0.3, "strongly dependent": 0.5}
_CONTAMINATED = 0.03


class _Truth:
    """Subtypes whose parameters are spread until they are as far apart as wanted."""

    def __init__(self, rng: np.random.Generator, n_features: int, n_subtypes: int, target: float) -> None:
        self.kinds = rng.choice(list(_SHARES), p=list(_SHARES.values()), size=n_features)
        tells = rng.random(n_features) < 0.6
        self.weights = rng.dirichlet(np.full(n_subtypes, 5.0))
        while self.weights.min() < 0.5 / n_subtypes:
            self.weights = rng.dirichlet(np.full(n_subtypes, 5.0))
        self.base = rng.normal(0, 0.7, n_features)
        self.level = rng.normal(0, 0.5, (n_features, 3))
        self.mean = rng.gamma(4, 1.0, n_features)
        self.effect = rng.normal(size=(n_subtypes, n_features)) * tells
        self.effect_on_levels = rng.normal(size=(n_subtypes, n_features, 3)) * tells[:, None]
        groups, uniform = rng.choice(n_subtypes, size=2000, p=self.weights), rng.random((2000, n_features))
        low, high = 0.05, 3.0
        for _ in range(14):
            self.separation = float(np.sqrt(low * high))
            reached = self.best_agreement(self.values(groups, uniform, None), groups)
            low, high = (self.separation, high) if reached < target else (low, self.separation)

    def _distribution(self, feature: int) -> object:
        """Return the distribution of a feature in each subtype, frozen, of shape (K, 1)."""
        effect = self.separation * self.effect[:, [feature]]
        kind = self.kinds[feature]
        if kind == "gaussian":
            return stats.norm(effect)
        if kind == "bernoulli":
            return stats.bernoulli(1 / (1 + np.exp(-self.base[feature] - 1.8 * effect)))
        if kind == "binomial":
            return stats.binom(_TRIALS, 1 / (1 + np.exp(-self.base[feature] - 1.1 * effect)))
        return stats.poisson(self.mean[feature] * np.exp(0.5 * effect))

    def _levels(self, feature: int) -> np.ndarray:
        weights = np.exp(self.level[feature] + 1.5 * self.separation * self.effect_on_levels[:, feature])
        return weights / weights.sum(axis=1, keepdims=True)

    def values(self, groups: np.ndarray, uniform: np.ndarray, freedom: np.ndarray | None) -> np.ndarray:
        """Return values (N, D) at the quantiles `uniform`; with degrees of freedom, Gaussian features follow t."""
        values = np.empty_like(uniform)
        for feature, kind in enumerate(self.kinds):
            at = uniform[:, feature]
            if kind == "categorical":
                reached = self._levels(feature).cumsum(axis=1)[groups]
                values[:, feature] = (at[:, None] > reached).sum(axis=1).clip(0, 2)
            elif kind == "gaussian" and freedom is not None:
                df = freedom[feature]
                values[:, feature] = self.separation * self.effect[groups, feature]
                values[:, feature] += stats.t.ppf(at, df) * np.sqrt((df - 2) / df)  # of standard deviation 1
            else:
                every = self._distribution(feature).ppf(np.broadcast_to(at, (self.weights.size, at.size)))
                values[:, feature] = every[groups, np.arange(groups.size)]
        return values

    def best_agreement(self, values: np.ndarray, groups: np.ndarray) -> float:
        """Return the adjusted Rand index of the labels that the true parameters give."""
        scores = np.zeros((self.weights.size, groups.size)) + np.log(self.weights)[:, None]
        for feature, kind in enumerate(self.kinds):
            column = values[:, feature]
            if kind == "categorical":
                scores += np.log(self._levels(feature)[:, column.astype(int)])
            elif kind == "gaussian":
                scores += self._distribution(feature).logpdf(column)
            else:
                scores += self._distribution(feature).logpmf(column)
        return adjusted_rand_index(scores.argmax(axis=0).astype(np.int64), groups.astype(np.int64))


def robust_cohort(seed: int, flavour: str) -> tuple[pd.DataFrame, FeatureSchema, np.ndarray]:
    """Return the table, its schema and the true subtypes, int64 (N,); a seed has the same subjects in each flavour."""
    rng = np.random.default_rng([2019, seed])
    n_subjects, n_subtypes = int(rng.integers(300, 601)), int(rng.integers(2, 7))
    n_features = int(rng.integers(20, 41))
    truth = _Truth(rng, n_features, n_subtypes, rng.uniform(0.90, 0.97))
    groups = rng.choice(n_subtypes, size=n_subjects, p=truth.weights)
    shape = (n_subjects, n_features)
    own, shared = rng.normal(size=shape), rng.normal(size=shape)
    freedom, order = rng.uniform(3, 5, n_features), rng.permutation(n_features)
    hit, wide, anew = rng.random(shape) < _CONTAMINATED, rng.normal(size=shape), rng.random(shape)
    if flavour in _CORRELATION:
        correlation, first, block = _CORRELATION[flavour], 0, 0
        while first < n_features:
            columns = order[first : first + 4 + block % 2]
            own[:, columns] *= np.sqrt(1 - correlation)
            own[:, columns] += np.sqrt(correlation) * shared[:, [block]]
            first, block = first + 4 + block % 2, block + 1
    heavy = flavour in ("heavy tails", "all")
    values = truth.values(groups, stats.norm.cdf(own), freedom if heavy else None)
    if flavour in ("contaminated", "all"):
        _contaminate(values, truth.kinds, hit, wide, anew)
    features, frame = [], {}
    for feature, kind in enumerate(truth.kinds):
        if np.unique(values[:, feature]).size < 2:
            continue
        fields = {"binomial": {"trials": _TRIALS}, "categorical": {"levels": _LEVELS}}.get(str(kind), {})
        name = f"{kind}_{feature}"
        features.append(Feature(name=name, likelihood=str(kind), **fields))
        column = values[:, feature]
        frame[name] = np.array(_LEVELS, dtype=object)[column.astype(int)] if kind == "categorical" else column
    return pd.DataFrame(frame), FeatureSchema(features), groups.astype(np.int64)


def _contaminate(values: np.ndarray, kinds: np.ndarray, hit: np.ndarray, wide: np.ndarray, anew: np.ndarray) -> None:
    """Replace the values that are hit: four standard deviations wide, or evenly over all levels or counts."""
    for feature, kind in enumerate(kinds):
        column, rows = values[:, feature], hit[:, feature]
        if kind == "gaussian":
            replaced = column.mean() + 4 * column.std() * wide[:, feature]
        else:
            highest = {"bernoulli": 1, "binomial": _TRIALS, "categorical": 2}
            top = highest.get(str(kind), 2 * np.quantile(column, 0.99))
            replaced = np.floor(anew[:, feature] * (top + 1))
        values[rows, feature] = replaced[rows]
