"""Simulated cohorts on which a search can take long: many partitions of nearly the same log joint.

None of them consists of a few separated groups. The model, whose features are independent given the cluster, describes
each by many clusters, and there are thousands of ways to cut a continuum that differ by a few nats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from clinclust import Feature, FeatureSchema

__all__ = ["NEAR_TIED", "dependent_survey", "easy_cohort", "exponential_as_gaussian", "skewed_measurements"]

Table = tuple[pd.DataFrame, FeatureSchema]

_PRESSURES, _INCOMES, _SCALES, _BINARIES, _OTHERS = 8, 3, 20, 24, 15
_MISSING = 0.08


def dependent_survey(n_subjects: int = 5000, seed: int = 0) -> Table:
    """Draw a survey of 70 dependent columns: five latent factors, repeated measurements, skewed incomes, many scales.

    The eight blood pressures correlate at .9, and the three incomes are lognormal, declared Gaussian.
    """
    rng = np.random.default_rng([seed, 1])
    factors = rng.normal(size=(n_subjects, 5))
    features, columns = [], {}

    def add(name: str, values: np.ndarray, likelihood: str, **fields: object) -> None:
        values = values.astype(float)
        values[rng.random(n_subjects) < _MISSING] = np.nan
        features.append(Feature(name=name, likelihood=likelihood, **fields))
        columns[name] = values

    def liability(strength: float) -> np.ndarray:
        loadings = rng.normal(size=5) * (rng.random(5) < 0.5)
        loadings *= np.sqrt(strength / max(1e-9, float(loadings @ loadings)))
        return factors @ loadings + np.sqrt(1.0 - strength) * rng.normal(size=n_subjects)

    pressure, wealth = liability(0.3), liability(0.4)
    for number in range(_PRESSURES):
        repeated = np.sqrt(0.9) * pressure + np.sqrt(0.1) * rng.normal(size=n_subjects)
        add(f"pressure_{number}", np.round(125.0 + 18.0 * repeated), "gaussian")
    for number in range(_INCOMES):
        add(f"income_{number}", np.exp(10.0 + 0.8 * wealth + 0.4 * rng.normal(size=n_subjects)), "gaussian")
    for number in range(_SCALES):
        cuts = np.sort(rng.normal(size=4))
        add(f"scale_{number}", np.digitize(liability(0.5), cuts), "binomial", trials=4)
    for number in range(_BINARIES):
        add(f"binary_{number}", liability(0.4) > rng.normal(), "bernoulli")
    for number in range(_OTHERS):
        if number % 3 == 0:
            add(f"count_{number}", rng.poisson(np.exp(0.5 + 0.7 * liability(0.5))), "poisson")
        elif number % 3 == 1:
            add(f"time_{number}", rng.exponential(np.exp(0.5 * liability(0.5))), "exponential")
        else:
            add(f"laboratory_{number}", liability(0.5) * 3.0 + 10.0, "gaussian")
    return pd.DataFrame(columns), FeatureSchema(features)


def skewed_measurements(n_subjects: int = 17549, seed: int = 0) -> Table:
    """Draw five measurements along a curved surface, with skewed margins and heavy tails, declared Gaussian."""
    rng = np.random.default_rng([seed, 2])
    size, age = rng.normal(size=(2, n_subjects))
    noise = 0.3 * rng.normal(size=(n_subjects, 5))
    noise[:, 2] = 0.3 * rng.standard_t(3, size=n_subjects)
    noise[:, 0] = 0.0
    return _as_gaussian(np.column_stack([np.exp(0.5 * size), size, size**2, age, age * size]) + noise)


def exponential_as_gaussian(n_subjects: int = 400, seed: int = 0) -> Table:
    """Draw ten independent exponential columns, declared Gaussian."""
    return _as_gaussian(np.random.default_rng([seed, 3]).exponential(size=(n_subjects, 10)))


def easy_cohort(n_subjects: int = 5000, seed: int = 0) -> Table:
    """Draw five separated groups in twenty Gaussian columns."""
    rng = np.random.default_rng([seed, 4])
    groups = rng.integers(5, size=n_subjects)
    return _as_gaussian(2.0 * rng.normal(size=(5, 20))[groups] + rng.normal(size=(n_subjects, 20)))


def _as_gaussian(values: np.ndarray) -> Table:
    names = [f"x{number}" for number in range(values.shape[1])]
    return pd.DataFrame(values, columns=names), FeatureSchema(
        [Feature(name=name, likelihood="gaussian") for name in names]
    )


NEAR_TIED: dict[str, Callable[[], Table]] = {
    "survey of 70 dependent columns": dependent_survey,
    "skewed, heavy-tailed measurements": skewed_measurements,
    "exponential values as Gaussian": exponential_as_gaussian,
    "separated groups": easy_cohort,
}
"""A table and its schema by what it is."""
