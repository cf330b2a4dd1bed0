"""Simulated cohorts in which some features measure the same thing again and again, within subtypes as well.

250 to 450 subjects in 2 to 5 subtypes (or in none), 10 features that are independent within subtypes (half of them tell
subtypes apart), and blocks. The features of a block measure one quantity, whose mean may differ between subtypes, with
the correlation rho within subtypes. Features that are no measurements have quantiles of the same normal variables.

Batteries are called alike but for a number. Items of a scale share a factor, on which groups may differ; symptoms of
classes are independent within them, and correlate by the classes alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from clinclust import Feature, FeatureSchema

__all__ = ["BATTERIES", "SETTINGS", "battery_cohort", "block_cohort"]

_GAUSSIAN, _COUNT, _SCALE, _NOMINAL = "gaussian", "poisson", "binomial", "categorical"
SETTINGS: dict[str, tuple[str, list[tuple[str, int, float]]]] = {
    "8 measurements, rho .5": ("subtypes", [(_GAUSSIAN, 8, 0.5)]),
    "8 measurements, rho .8": ("subtypes", [(_GAUSSIAN, 8, 0.8)]),
    "8 measurements, rho .95": ("subtypes", [(_GAUSSIAN, 8, 0.95)]),
    "5 pairs of measurements, rho .8": ("subtypes", [(_GAUSSIAN, 2, 0.8)] * 5),
    "3 blocks of 4 measurements, rho .7": ("subtypes", [(_GAUSSIAN, 4, 0.7)] * 3),
    "6 counts, rho .8": ("subtypes", [(_COUNT, 6, 0.8)]),
    "6 scales, rho .8": ("subtypes", [(_SCALE, 6, 0.8)]),
    "6 nominal features, rho .9": ("subtypes", [(_NOMINAL, 6, 0.9)]),
    "measurements, counts and scales, 4 each, rho .8": (
        "subtypes",
        [(_GAUSSIAN, 4, 0.8), (_COUNT, 4, 0.8), (_SCALE, 4, 0.8)],
    ),
    "20 items, rho .3": ("subtypes", [(_SCALE, 20, 0.3)]),
    "blocks independent within subtypes (rho 0), 2 of 4": ("subtypes", [(_GAUSSIAN, 4, 0.0)] * 2),
    "no subtypes, 8 measurements, rho .8": ("none", [(_GAUSSIAN, 8, 0.8)]),
    "no subtypes, 20 items, rho .3": ("none", [(_SCALE, 20, 0.3)]),
    "no subtypes, 3 blocks of 4, rho .7": ("none", [(_GAUSSIAN, 4, 0.7)] * 3),
    "no subtypes, 3 blocks of one severity": ("severity", [(_GAUSSIAN, 4, 0.7)] * 3),
}
_TRIALS, _LEVELS = 6, ("a", "b", "c", "d")


def block_cohort(seed: int, setting: str) -> tuple[pd.DataFrame, FeatureSchema, np.ndarray]:
    """Return the table, its schema with blocks, and the true subtypes, int64 (N,)."""
    truth, blocks = SETTINGS[setting]
    rng = np.random.default_rng([7, seed, *setting.encode()])
    n_subjects, n_subtypes = int(rng.integers(250, 451)), int(rng.integers(2, 6)) if truth == "subtypes" else 1
    weights = rng.dirichlet(np.full(n_subtypes, 10.0))
    groups = rng.choice(n_subtypes, size=n_subjects, p=weights)
    severity = rng.normal(size=n_subjects) * (truth == "severity")
    features, frame = [], {}
    for place in range(10):
        apart = rng.normal(0.0, 1.7, n_subtypes) * (place % 2 == 0 and n_subtypes > 1)
        frame[f"single_{place}"] = apart[groups] + rng.normal(size=n_subjects)
        features.append(Feature(name=f"single_{place}", likelihood="gaussian"))
    for place, (likelihood, repeats, rho) in enumerate(blocks):
        apart = rng.normal(0.0, 1.0, n_subtypes) * (n_subtypes > 1)
        shared = 0.7 * severity + np.sqrt(1.0 - 0.49 * (truth == "severity")) * rng.normal(size=n_subjects)
        shift = rng.uniform(-0.3, 0.3, repeats)
        for again in range(repeats):
            normal = np.sqrt(rho) * shared + np.sqrt(1.0 - rho) * rng.normal(size=n_subjects)
            name = f"{likelihood}_{place}_{again}"
            frame[name], fields = _measured(likelihood, apart[groups] + shift[again], normal)
            features.append(Feature(name=name, likelihood=likelihood, block=f"block {place}", **fields))
    return pd.DataFrame(frame), FeatureSchema(features), groups.astype(np.int64)


def _measured(likelihood: str, mean: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, dict[str, object]]:
    """Return a column whose mean rises with `mean`, at the quantiles of `normal`, and what its feature declares."""
    if likelihood == _GAUSSIAN:
        return mean + normal, {}
    at = stats.norm.cdf(normal)
    if likelihood == _COUNT:
        return stats.poisson(6.0 * np.exp(0.4 * mean)).ppf(at), {}
    if likelihood == _SCALE:
        return stats.binom(_TRIALS, 1.0 / (1.0 + np.exp(-0.8 * mean))).ppf(at), {"trials": _TRIALS}
    places = np.digitize(mean + normal, [-0.7, 0.0, 0.7])
    return np.array(_LEVELS, dtype=object)[places], {"levels": _LEVELS}


class Battery(NamedTuple):
    """Which answers a cohort holds next to measurements and two answers of yes or no."""

    shift: float = 0.0  # of a group on the factors, in standard deviations; 0 without groups
    n_subjects: int = 1000
    cuts: tuple[float, ...] = (-0.4, 0.5, 1.3)  # between the answers
    severity: float = 0.0  # the correlation of the four factors
    classes: bool = False  # of eight items that share no factor
    n_measurements: int = 4


_RARE = (0.7, 1.3, 1.9)
BATTERIES = {
    "4 scales, no groups": Battery(),
    "4 scales of one severity, rare symptoms, no groups": Battery(cuts=_RARE, severity=0.5),
    "4 scales, groups 1.8 SD apart": Battery(1.8),
    "4 scales, 2.4 SD": Battery(2.4),
    "4 scales, 2.4 SD, 300 subjects": Battery(2.4, 300),
    "4 scales, 2.4 SD, rare symptoms": Battery(2.4, cuts=_RARE),
    "4 scales, 2.4 SD, yes or no": Battery(2.4, cuts=(0.7,)),
    "4 scales of one severity, 2.4 SD": Battery(2.4, severity=0.5),
    "classes, 4 other columns": Battery(classes=True, n_measurements=3),
    "classes, 5 other columns, 300 subjects": Battery(n_subjects=300, classes=True),
    "classes, 7 other columns": Battery(classes=True, n_measurements=6),
    "classes, 5 other columns, yes or no": Battery(cuts=(0.8,), classes=True),
    "classes, 7 other columns, yes or no": Battery(cuts=(0.8,), classes=True, n_measurements=6),
}


def battery_cohort(seed: int, setting: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table and the true groups, int64 (N,)."""
    battery = BATTERIES[setting]
    n_subjects, rng = battery.n_subjects, np.random.default_rng([8, seed, *setting.encode()])
    is_divided = battery.classes or battery.shift > 0.0
    groups = rng.choice(3, n_subjects, p=(0.5, 0.3, 0.2)) if is_divided else np.zeros(n_subjects, dtype=np.int64)
    frame: dict[str, np.ndarray] = {}
    if battery.classes:
        for item in range(8):
            mean = np.array([0.0, 1.6, 0.8 if item < 4 else 1.8])[groups]
            frame[f"sym{item + 1}"] = np.digitize(mean + rng.normal(size=n_subjects), battery.cuts)
    severity = rng.normal(size=n_subjects)
    for place, stem in enumerate(() if battery.classes else ("phq", "gad", "spi", "ces")):
        factor = np.sqrt(1.0 - battery.severity) * rng.normal(size=n_subjects) + np.sqrt(battery.severity) * severity
        factor += battery.shift * (groups == 1 + place // 2)
        for item in range(6):
            answer = 0.7 * factor + 0.7 * rng.normal(size=n_subjects)
            frame[f"{stem}{item + 1}"] = np.digitize(answer, battery.cuts)
    for place, name in enumerate(("crp", "hb", "alb", "wbc", "bun", "ast")[: battery.n_measurements]):
        frame[name] = np.round(10.0 + rng.normal(size=n_subjects) + 1.0 * (groups == 1 + place % 2), 2)
    frame["smoker"] = (rng.random(n_subjects) < 0.2 + 0.3 * (groups == 1)).astype(np.int64)
    return pd.DataFrame(frame), groups.astype(np.int64)
