"""Simulated tables as they arrive: text, with missing cells and rounded numbers, and hard for a search.

Nothing in them consists of separated groups; many partitions of each are about equally good.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from near_tied_cohorts import exponential_as_gaussian, skewed_measurements

from clinclust import FeatureSchema

__all__ = ["raw_tables", "rounded_measurements", "three_factor_survey"]

_MISSING = 0.08
_LABORATORY = ("crp", "esr", "tsh", "hba1c", "ldl", "hdl", "urea", "ferritin", "sodium", "calcium", "albumin")
_LABORATORY += ("bmi", "waist", "age")


def three_factor_survey(n_subjects: int = 5000, seed: int = 0) -> pd.DataFrame:
    """Draw 70 columns that depend on each other through three factors; eight are blood pressures of one visit."""
    rng = np.random.default_rng([seed, 11])
    factors = rng.normal(size=(n_subjects, 3))

    def liability(strength: float) -> np.ndarray:
        loadings = rng.normal(size=3)
        loadings *= np.sqrt(strength / (loadings @ loadings))
        return factors @ loadings + np.sqrt(1.0 - strength) * rng.normal(size=n_subjects)

    columns: dict[str, np.ndarray] = {}
    pressure = liability(0.3)
    for reading in range(1, 5):
        for name, mean, spread, shared in (("systolic", 125.0, 18.0, 0.9), ("diastolic", 78.0, 10.0, 0.8)):
            repeated = np.sqrt(shared) * pressure + np.sqrt(1.0 - shared) * rng.normal(size=n_subjects)
            columns[f"{name}_{reading}"] = np.round(mean + spread * repeated)
    for item in range(1, 21):
        columns[f"item_{item}"] = np.digitize(liability(0.6), np.sort(rng.normal(size=4)))
    for sign in range(1, 21):
        columns[f"sign_{sign}"] = np.where(liability(0.5) > rng.normal(), "yes", "no")
    for count in range(1, 9):
        columns[f"n_events_{count}"] = rng.poisson(np.exp(0.5 + 0.7 * liability(0.6)))
    for place, name in enumerate(_LABORATORY):
        columns[name] = np.round(10.0 + place + 3.0 * liability(0.6), 1)
    frame = pd.DataFrame(columns).astype(object)
    return frame.mask(rng.random(frame.shape) < _MISSING)


def rounded_measurements() -> pd.DataFrame:
    """Draw five dependent, skewed measurements of 17,549 subjects, rounded to one decimal as devices do."""
    return skewed_measurements()[0].round(1)


def raw_tables() -> dict[str, tuple[pd.DataFrame, FeatureSchema | None]]:
    """Return each table by what it is, with the schema that somebody declared, or None if it is drafted."""
    return {
        "400 x 10 exponential values declared Gaussian": exponential_as_gaussian(),
        "17,549 x 5 skewed measurements": (rounded_measurements(), None),
        "5,000 x 70 columns that depend on each other": (three_factor_survey(), None),
    }
