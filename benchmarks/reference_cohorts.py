"""Forty simulated mixed cohorts on which searches are compared: small and large, easy and hopeless.

N 100 to 2,000, D 10 to 200, 2 to 12 subtypes of unequal size, 0 to 30% missing, every likelihood, and a share of
features that tell no subtypes apart.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from clinclust import Feature, FeatureSchema

__all__ = ["N_COHORTS", "reference_cohort"]

N_COHORTS = 40
_LIKELIHOODS = ("bernoulli", "binomial", "categorical", "poisson", "geometric", "exponential", "gaussian")
_SHARES = (0.3, 0.2, 0.15, 0.1, 0.05, 0.05, 0.15)
_TRIALS = 4
_LEVELS = ("a", "b", "c", "d")


def reference_cohort(index: int) -> tuple[pd.DataFrame, FeatureSchema, np.ndarray]:
    """Return the table, its schema and the true subtypes, int64 (N,), of cohort 0 .. 39."""
    rng = np.random.default_rng([2016, index])
    n_subjects = int(np.exp(rng.uniform(np.log(100), np.log(2000))))
    n_features = int(np.exp(rng.uniform(np.log(10), np.log(200))))
    n_groups = int(rng.integers(2, 13))
    missing = rng.uniform(0.0, 0.3) * (rng.random() < 0.75)
    separation = rng.uniform(0.8, 1.8)
    groups = rng.choice(n_groups, size=n_subjects, p=rng.dirichlet(np.full(n_groups, 2.0)))
    features, columns = [], {}
    for number in range(n_features):
        likelihood = str(rng.choice(_LIKELIHOODS, p=_SHARES))
        name = f"{likelihood}_{number}"
        effects = separation * rng.normal(size=n_groups) * (rng.random() < 0.6)
        column = _draw(rng, likelihood, effects[groups])
        column[rng.random(n_subjects) < missing] = np.nan
        fields = {"binomial": {"trials": _TRIALS}, "categorical": {"levels": _LEVELS}}.get(likelihood, {})
        features.append(Feature(name=name, likelihood=likelihood, **fields))
        if likelihood == "categorical":
            texts = np.array([*_LEVELS, None], dtype=object)
            columns[name] = texts[np.where(np.isnan(column), len(_LEVELS), column).astype(int)]
        else:
            columns[name] = column
    return pd.DataFrame(columns), FeatureSchema(features), groups


def _draw(rng: np.random.Generator, likelihood: str, effect: np.ndarray) -> np.ndarray:
    """Draw one column; `effect` is each subject's shift on the scale of the natural parameter."""
    n_subjects = effect.size
    base = rng.normal(0.0, 0.7)
    probability = 1.0 / (1.0 + np.exp(-(base + effect)))
    if likelihood == "bernoulli":
        return (rng.random(n_subjects) < probability).astype(float)
    if likelihood == "binomial":
        return rng.binomial(_TRIALS, probability).astype(float)
    if likelihood == "categorical":
        logits = rng.normal(size=len(_LEVELS)) + np.outer(effect, rng.normal(size=len(_LEVELS)))
        return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype(float)
    if likelihood == "poisson":
        return rng.poisson(3.0 * np.exp(0.5 * effect)).astype(float)
    if likelihood == "geometric":
        return rng.geometric(0.05 + 0.9 * probability).astype(float) - 1.0
    if likelihood == "exponential":
        return rng.exponential(5.0 * np.exp(0.7 * effect))
    return rng.normal(100.0 + 10.0 * effect, 10.0)
