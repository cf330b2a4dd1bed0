"""Simulated cohorts in which a severity runs through all features, alone or inside separate groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust import Feature, FeatureSchema

__all__ = ["SETTINGS", "Setting", "continuum_cohort", "measured"]

Array = NDArray[np.float64]

_N_FEATURES = 16
_FARTHEST = 8.0
"""Largest latent measurement that a count shows, so that counts stay ones that a schema takes."""
_CUTS = (-1.0, -0.3, 0.4, 1.2)
_MIXED = ("gaussian",) * 6 + ("ordinal",) * 5 + ("bernoulli",) * 3 + ("negative_binomial",) * 2
_SPREAD = 2.0
"""Standard deviation of the centres of groups, in standard deviations within groups."""


@dataclass(frozen=True)
class Setting:
    """A kind of cohort.

    Attributes
    ----------
    n_subjects, n_groups : int
    likelihoods : tuple of str
        In turn, the likelihoods of the features.
    missing : float
        Share of values missing at random.
    load : float
        Largest correlation of a feature with the severity inside a group; the smallest is half of it.
    informative : int
        Number of features in which the groups differ.
    is_skewed : bool
        Whether the severity is exponential instead of normal.
    second_share : float, optional
        Share of the second of two groups; None = all groups are equal.
    """

    n_subjects: int
    n_groups: int = 1
    likelihoods: tuple[str, ...] = ("gaussian",)
    missing: float = 0.0
    load: float = 0.8
    informative: int = 10
    is_skewed: bool = False
    second_share: float | None = None


SETTINGS = {
    "severity, Gaussian, 200": Setting(200),
    "severity, Gaussian, 500": Setting(500),
    "severity, ordinal, 200": Setting(200, likelihoods=("ordinal",)),
    "severity, ordinal, 500": Setting(500, likelihoods=("ordinal",)),
    "severity, mixed, 10% missing, 200": Setting(200, likelihoods=_MIXED, missing=0.1),
    "severity, mixed, 10% missing, 500": Setting(500, likelihoods=_MIXED, missing=0.1),
    "noise, mixed, 200": Setting(200, likelihoods=_MIXED, load=0.0),
    "noise, mixed, 500": Setting(500, likelihoods=_MIXED, load=0.0),
    "2 groups, mixed, 300": Setting(300, 2, _MIXED, 0.1, 0.6),
    "3 groups, mixed, 300": Setting(300, 3, _MIXED, 0.1, 0.6),
    "4 groups, mixed, 400": Setting(400, 4, _MIXED, 0.1, 0.6),
    "4 groups, Gaussian, 400": Setting(400, 4, load=0.6),
    "skewed severity, Gaussian, 500": Setting(500, is_skewed=True),
    "2 groups that 2 features tell, Gaussian, 300": Setting(300, 2, load=0.6, informative=2),
    "a fifth apart from a strong severity, Gaussian, 500": Setting(500, 2, load=0.95, informative=6, second_share=0.2),
}


def continuum_cohort(seed: int, setting: Setting) -> tuple[pd.DataFrame, FeatureSchema, NDArray[np.int64]]:
    """Return the table, its schema and the groups, int64 (N,)."""
    rng = np.random.default_rng(seed)
    n, n_groups = setting.n_subjects, setting.n_groups
    in_turn = np.arange(n) % n_groups
    is_second = (np.arange(n) < n * (setting.second_share or 0.0)).astype(np.int64)
    groups = rng.permutation(in_turn if setting.second_share is None else is_second)
    load = rng.uniform(0.5 * setting.load, setting.load, _N_FEATURES)
    severity = rng.exponential(size=(n, 1)) - 1.0 if setting.is_skewed else rng.normal(size=(n, 1))
    centres = np.zeros((n_groups, _N_FEATURES))
    if n_groups > 1:
        told = rng.choice(_N_FEATURES, setting.informative, replace=False)
        centres[:, told] = _centres(rng, n_groups, setting.informative)
    z = centres[groups] + load * severity + np.sqrt(1.0 - load**2) * rng.normal(size=(n, _N_FEATURES))
    likelihoods = [setting.likelihoods[place % len(setting.likelihoods)] for place in range(_N_FEATURES)]
    columns = {f"x{place}": measured(z[:, place], likelihood) for place, likelihood in enumerate(likelihoods)}
    frame = pd.DataFrame(columns).mask(rng.random((n, _N_FEATURES)) < setting.missing)
    features = [
        Feature(name=name, likelihood=likelihood, **({"minimum": 0, "maximum": 4} if likelihood == "ordinal" else {}))
        for name, likelihood in zip(frame, likelihoods, strict=True)
    ]
    return frame, FeatureSchema(features), groups


def _centres(rng: np.random.Generator, n_groups: int, n_features: int) -> Array:
    """Return centres of groups around 0; in few features, which chance may not tell apart, evenly spaced ones."""
    if n_features >= 5:
        return rng.normal(0.0, _SPREAD, (n_groups, n_features))
    steps = np.linspace(-1.0, 1.0, n_groups) * _SPREAD
    return np.column_stack([rng.permutation(steps) for _ in range(n_features)])


def measured(z: Array, likelihood: str) -> Array:
    """Return a latent measurement as a feature of this likelihood shows it."""
    if likelihood == "ordinal":
        return np.digitize(z, _CUTS).astype(np.float64)
    if likelihood == "bernoulli":
        return (z > 0.4).astype(np.float64)
    return np.floor(2.0 * np.exp(0.7 * np.minimum(z, _FARTHEST))) if likelihood == "negative_binomial" else z
