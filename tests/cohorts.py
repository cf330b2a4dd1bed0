"""Mixed cohorts for the tests: every likelihood, clusters, missing values."""

import numpy as np
import pandas as pd

from clinclust import Feature, FeatureSchema

LIKELIHOODS = ("bernoulli", "binomial", "categorical", "poisson", "geometric", "exponential", "gaussian")
TRIALS = 4
LEVELS = ("a", "b", "c")


def _draw(rng, likelihood, groups, n_groups):
    n = groups.size
    if likelihood == "bernoulli":
        return (rng.random(n) < rng.beta(0.6, 0.6, n_groups)[groups]).astype(float)
    if likelihood == "binomial":
        return rng.binomial(TRIALS, rng.beta(0.6, 0.6, n_groups)[groups]).astype(float)
    if likelihood == "categorical":
        weights = rng.dirichlet([0.6] * len(LEVELS), n_groups)
        return (rng.random((n, 1)) > weights.cumsum(axis=1)[groups]).sum(axis=1).clip(0, len(LEVELS) - 1).astype(float)
    if likelihood == "poisson":
        return rng.poisson(rng.gamma(1, 5, n_groups)[groups]).astype(float)
    if likelihood == "geometric":
        return rng.geometric(rng.beta(1, 1, n_groups).clip(0.02)[groups]) - 1.0
    if likelihood == "exponential":
        return rng.exponential(rng.gamma(1, 5, n_groups)[groups])
    return rng.normal(rng.normal(100, 40, n_groups)[groups], 10.0)


def feature(name, likelihood, **fields):
    if likelihood == "binomial":
        fields.setdefault("trials", TRIALS)
    if likelihood == "categorical":
        fields.setdefault("levels", LEVELS)
    return Feature(name=name, likelihood=likelihood, **fields)


def mixed_cohort(seed, n, likelihoods=LIKELIHOODS, n_groups=3, missing=0.1):
    """Return (frame, schema, columns for the oracle, groups); constant and empty columns are left out.

    The schema is None when no column is left.
    """
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n)
    features, frame, columns = [], {}, {}
    for index, likelihood in enumerate(likelihoods):
        values = _draw(rng, likelihood, groups, n_groups)
        values[rng.random(n) < missing] = np.nan
        if np.unique(values[~np.isnan(values)]).size < 2:
            continue
        name = f"{likelihood}_{index}"
        features.append(feature(name, likelihood))
        columns[name] = (likelihood, TRIALS if likelihood == "binomial" else None, values)
        if likelihood == "categorical":
            texts = np.array([*LEVELS, None], dtype=object)
            frame[name] = texts[np.where(np.isnan(values), len(LEVELS), values).astype(int)]
        else:
            frame[name] = values
    return pd.DataFrame(frame), FeatureSchema(features) if features else None, columns, groups


def random_hyperparameters(rng, columns):
    """Return a random prior for every feature, by name."""
    drawn = {}
    for name, (likelihood, _, values) in columns.items():
        if likelihood in ("bernoulli", "binomial", "geometric"):
            drawn[name] = {"a": rng.gamma(2), "b": rng.gamma(2)}
        elif likelihood == "categorical":
            drawn[name] = {"concentrations": rng.gamma(2, size=len(LEVELS)).tolist()}
        elif likelihood in ("poisson", "exponential"):
            drawn[name] = {"shape": rng.gamma(2), "rate": rng.gamma(2)}
        else:
            scale = np.nanstd(values)
            drawn[name] = {
                "mean": np.nanmean(values) + scale * rng.normal(),
                "kappa": rng.gamma(2),
                "shape": rng.gamma(2),
                "rate": scale**2 * rng.gamma(2),
            }
    return drawn
