"""Simulated cohorts of one population, and of groups that are one population each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from continuum_cohorts import measured
from numpy.typing import NDArray

from clinclust import Feature, FeatureSchema

__all__ = [
    "APART",
    "CLASSES",
    "COVERED",
    "GROUPS",
    "IN_MIXED_FEATURES",
    "NOT_COVERED",
    "OUTGROWN",
    "Cohort",
    "cohort_of_groups",
    "cohort_of_one",
]

Array = NDArray[np.float64]
Cohort = tuple[pd.DataFrame, FeatureSchema, NDArray[np.int64]]
Latent = Callable[[np.random.Generator, int], Array]

_D = 12
_MIXED = ("gaussian", "ordinal", "gaussian", "ordinal", "bernoulli", "gaussian", "ordinal", "negative_binomial")


def _one_factor(rng: np.random.Generator, load: Array, severity: Array) -> Array:
    """Return features (N, D) of variance 1: each is correlated with the severity (N,) by its loading (D,)."""
    return load * severity[:, None] + np.sqrt(1.0 - load**2) * rng.normal(size=(severity.size, load.size))


def _with(severity: Callable[[np.random.Generator, int], Array]) -> Latent:
    return lambda rng, n: _one_factor(rng, rng.uniform(0.4, 0.8, _D), severity(rng, n))


def _normal(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(size=n)


def _gamma(rng: np.random.Generator, n: int) -> Array:
    return (rng.gamma(4.0, size=n) - 4.0) / 2.0


def _exponential(rng: np.random.Generator, n: int) -> Array:
    return rng.exponential(size=n) - 1.0


def _three_classes(rng: np.random.Generator, n: int) -> Array:
    """Return three equal classes of severity in a row, 2.5 of their standard deviations apart."""
    return 1.1 * (rng.permutation(np.arange(n) % 3) - 1.0) + 0.44 * rng.normal(size=n)


def _noise(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(size=(n, _D))


def _bifactor(rng: np.random.Generator, n: int) -> Array:
    specific = 0.6 * (np.arange(3)[:, None] == np.arange(_D) % 3)
    common = 0.6 * rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) @ specific
    return np.asarray(common + np.sqrt(0.28) * rng.normal(size=(n, _D)))


def _equal(rng: np.random.Generator, n: int) -> Array:
    return _one_factor(rng, np.full(_D, np.sqrt(0.5)), rng.normal(size=n))


def _unequal(rng: np.random.Generator, n: int) -> Array:
    return _one_factor(rng, np.linspace(0.0, 0.95, _D), rng.normal(size=n))


def _multivariate_t(rng: np.random.Generator, n: int) -> Array:
    return _with(_normal)(rng, n) / np.sqrt(rng.chisquare(5.0, size=(n, 1)) / 5.0)


def _curved(rng: np.random.Generator, n: int) -> Array:
    """Return features of which a quarter is lowest where severity is average."""
    load, severity = rng.uniform(0.4, 0.8, _D), rng.normal(size=n)
    shared = np.where(np.arange(_D) % 4 == 3, (severity[:, None] ** 2 - 1.0) / np.sqrt(2.0), severity[:, None])
    return np.asarray(load * shared + np.sqrt(1.0 - load**2) * rng.normal(size=(n, _D)))


def _scatter(rng: np.random.Generator, n: int) -> Array:
    """Return features whose scatter grows with the severity."""
    load, slope, severity = rng.uniform(0.4, 0.8, _D), rng.uniform(0.15, 0.5, _D), rng.normal(size=(n, 1))
    own = np.exp(slope * severity - slope**2) * rng.normal(size=(n, _D))
    return np.asarray(load * severity + np.sqrt(1.0 - load**2) * own)


def _two_gamma_factors(rng: np.random.Generator, n: int) -> Array:
    factors = (rng.gamma(2.0, size=(n, 2)) - 2.0) / np.sqrt(2.0)
    return np.asarray(0.8 * np.repeat(factors, _D // 2, axis=1) + 0.6 * rng.normal(size=(n, _D)))


def _either_high(rng: np.random.Generator, n: int) -> Array:
    """Return features of two severities, of subjects chosen because one of these is high."""
    factors = rng.normal(size=(8 * n, 2))
    chosen = factors[(factors > 1.0).any(axis=1)][:n]
    return np.asarray(0.8 * np.repeat(chosen, _D // 2, axis=1) + 0.6 * rng.normal(size=(n, _D)))


def _growth(rng: np.random.Generator, n: int) -> Array:
    """Return features that level off with age, sooner or later."""
    return _standardised(_outgrown(rng, n))


def _outgrown(rng: np.random.Generator, n: int) -> Array:
    """Return the same features in units of which scales hold the first years only: most people are at their end."""
    age, rate = rng.uniform(0.0, 18.0, size=(n, 1)), rng.uniform(0.05, 0.3, _D)
    grown = 1.0 - np.exp(-rate * age)
    way = np.where(rng.random(_D) < 0.25, -10.0, 10.0)
    return np.asarray(way * grown + (0.5 + 1.5 * grown) * rng.normal(size=(n, _D)))


def _cascade(rng: np.random.Generator, n: int) -> Array:
    """Return biomarkers that turn abnormal one after the other."""
    stage = rng.uniform(size=(n, 1))
    return np.asarray(
        1.0 / (1.0 + np.exp(-10.0 * (stage - np.linspace(0.1, 0.9, _D)))) + 0.15 * rng.normal(size=(n, _D))
    )


def _fanning(rng: np.random.Generator, n: int) -> Array:
    """Return independent features whose spread grows with age."""
    age = rng.uniform(0.0, 18.0, size=(n, 1))
    return _standardised((1.0 + age / 6.0) * rng.normal(size=(n, _D)))


def _standardised(features: Array) -> Array:
    return np.asarray((features - features.mean(axis=0)) / features.std(axis=0))


Population = tuple[Latent, tuple[str, ...], float]
COVERED: Mapping[str, Population] = {
    "severity, Gaussian": (_with(_normal), ("gaussian",), 0.0),
    "severity, ordinal": (_with(_normal), ("ordinal",), 0.0),
    "severity, mixed, 10% missing": (_with(_normal), _MIXED, 0.1),
    "noise, mixed": (_noise, _MIXED, 0.0),
    "bifactor, Gaussian": (_bifactor, ("gaussian",), 0.0),
    "equicorrelated (.5), Gaussian": (_equal, ("gaussian",), 0.0),
    "loadings 0 to .95, Gaussian": (_unequal, ("gaussian",), 0.0),
}
"""One population that a Gaussian copula describes: latent features, the likelihoods in turn, share missing."""
NOT_COVERED: Mapping[str, Population] = {
    "skewed severity (gamma, shape 4), Gaussian": (_with(_gamma), ("gaussian",), 0.0),
    "exponential severity, Gaussian": (_with(_exponential), ("gaussian",), 0.0),
    "multivariate t, 5 df": (_multivariate_t, ("gaussian",), 0.0),
    "severity, counts with 40% more zeros": (_with(_normal), ("zero_inflated",), 0.0),
    "three ordered classes, Gaussian": (_with(_three_classes), ("gaussian",), 0.0),
    "severity, a quarter of features curved": (_curved, ("gaussian",), 0.0),
    "scatter grows with the severity": (_scatter, ("gaussian",), 0.0),
    "skewed severity (gamma, shape 4), mixed": (_with(_gamma), _MIXED, 0.0),
    "two gamma factors": (_two_gamma_factors, ("gaussian",), 0.0),
    "one of two severities high": (_either_high, ("gaussian",), 0.0),
    "growth with age": (_growth, ("gaussian",), 0.0),
    "biomarkers one after the other": (_cascade, ("gaussian",), 0.0),
    "independent, spread grows with age": (_fanning, ("gaussian",), 0.0),
}
"""Others, as above."""
IN_MIXED_FEATURES: Mapping[str, Population] = {
    f"{name}, mixed, 20% missing": (latent, _MIXED, 0.2)
    for name, (latent, likelihoods, _) in NOT_COVERED.items()
    if likelihoods == ("gaussian",)
}
"""The Gaussian ones of these in mixed features with missing values."""
OUTGROWN: Mapping[str, Population] = {"growth beyond the ends of scales, mixed, 20% missing": (_outgrown, _MIXED, 0.2)}
"""Nine tenths of the subjects are at the end of each scale."""


def _two_classes(rng: np.random.Generator, n: int) -> Array:
    """Return eight independent features in which two equal classes lie .9 standard deviations apart each."""
    return np.asarray(0.9 * rng.permutation(np.arange(n) % 2)[:, None] + rng.normal(size=(n, 8)))


def _beside_a_severity(rng: np.random.Generator, n: int) -> Array:
    """Return eight features of a strong severity; in four, two equal classes lie 2 standard deviations apart."""
    own = rng.normal(size=(n, 8))
    own[:, :4] += 2.0 * rng.permutation(np.arange(n) % 2)[:, None]
    return np.asarray(0.8 * rng.normal(size=(n, 1)) + 0.6 * own)


CLASSES: Mapping[str, Population] = {
    "two classes, .9 SD apart in 8 features": (_two_classes, ("gaussian",), 0.0),
    "two classes, 2 SD apart in 4 of 8 features of a severity": (_beside_a_severity, ("gaussian",), 0.0),
}
"""Two classes that overlap, as above."""


def _two_groups(distance: float, share: float = 0.5) -> Latent:
    """Return the features of two groups: this share of the subjects is so many SD away, in a direction by chance."""

    def drawn(rng: np.random.Generator, n: int) -> Array:
        way = rng.normal(size=_D)
        is_apart = rng.permutation(np.arange(n) < share * n)
        return np.asarray(is_apart[:, None] * distance * way / np.linalg.norm(way) + rng.normal(size=(n, _D)))

    return drawn


def _uniform(rng: np.random.Generator, n: int) -> Array:
    return np.sqrt(3.0) * rng.uniform(-1.0, 1.0, size=n)


_OF_TABLES = {"measurements": ("gaussian",), "mixed columns": _MIXED, "scales": ("ordinal",)}
APART: Mapping[str, Population] = {
    f"{name}; {table}, {missing:.0%} missing": (latent, likelihoods, missing)
    for table, likelihoods in _OF_TABLES.items()
    for missing in (0.0, 0.2)
    for name, latent in {
        "uniform severity": _with(_uniform),
        "two groups, 3.3 SD": _two_groups(3.3),
        "two groups, 3.6 SD": _two_groups(3.6),
        "two groups, 4 SD": _two_groups(4.0),
        "two groups, 5 SD": _two_groups(5.0),
        "a tenth, 5 SD away": _two_groups(5.0, 0.1),
    }.items()
}
"""A uniform severity, and two groups that differ in independent features, as above."""

GROUPS = {
    "2 groups, Gaussian, 400": (400, 2, 12, ("gaussian",), 0.0, 0.0),
    "2 groups, mixed, 10% missing, 400": (400, 2, 12, _MIXED, 0.1, 0.0),
    "4 groups, 9 Gaussian features, strong severity, 600": (600, 4, 9, ("gaussian",), 0.0, 0.8),
}
"""Groups: subjects, groups, features, likelihoods, share missing, and the correlation of all features with the severity
inside a group; 0 = one drawn from .4 to .8 for each feature."""


def cohort_of_one(seed: int, kind: str, n_subjects: int) -> Cohort:
    """Return the table of one population, its schema, and zeros, int64 (N,)."""
    kinds = {**COVERED, **NOT_COVERED, **IN_MIXED_FEATURES, **CLASSES, **APART, **OUTGROWN}
    latent, likelihoods, missing = kinds[kind]
    rng = np.random.default_rng([seed, n_subjects, list(kinds).index(kind)])
    frame, schema = _table(latent(rng, n_subjects), likelihoods, missing, rng)
    return frame, schema, np.zeros(n_subjects, dtype=np.int64)


def cohort_of_groups(seed: int, kind: str) -> Cohort:
    """Return the table of groups with a severity inside each, its schema, and the groups, int64 (N,)."""
    n, n_groups, n_features, likelihoods, missing, load = GROUPS[kind]
    rng = np.random.default_rng([seed, list(GROUPS).index(kind)])
    groups = rng.permutation(np.arange(n) % n_groups)
    loads = np.full(n_features, load) if load else rng.uniform(0.4, 0.8, n_features)
    centres = rng.normal(0.0, 2.0, (n_groups, n_features))
    z = centres[groups] + _one_factor(rng, loads, rng.normal(size=n))
    return *_table(z, likelihoods, missing, rng), groups


def _table(
    z: Array, likelihoods: tuple[str, ...], missing: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return latent features as a table, and its schema."""
    of_feature = [likelihoods[place % len(likelihoods)] for place in range(z.shape[1])]
    columns = {}
    for place, likelihood in enumerate(of_feature):
        if likelihood == "zero_inflated":
            columns[f"x{place}"] = np.floor(3.0 * np.exp(0.7 * z[:, place])) * (rng.random(len(z)) < 0.6)
        else:
            columns[f"x{place}"] = measured(z[:, place], likelihood)
    frame = pd.DataFrame(columns).mask(rng.random(z.shape) < missing)
    return frame, FeatureSchema([_feature(name, of) for name, of in zip(frame, of_feature, strict=True)])


def _feature(name: str, likelihood: str) -> Feature:
    if likelihood == "ordinal":
        return Feature(name=name, likelihood="ordinal", minimum=0, maximum=4)
    return Feature(name=name, likelihood="negative_binomial" if likelihood == "zero_inflated" else likelihood)
