"""Cohorts for `imputation.py`: groups, a continuum, and two tables that ship with scikit-learn; and what is erased."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes, load_wine

import clinclust as cc

__all__ = ["COHORTS", "erased", "levels_of"]

N_SUBJECTS = 300
MIXED = (
    *(cc.Feature(name=f"measurement_{place}", likelihood="gaussian") for place in range(4)),
    *(cc.Feature(name=f"laboratory_{place}", likelihood="gaussian", transform="log") for place in range(2)),
    *(cc.Feature(name=f"count_{place}", likelihood="poisson") for place in range(2)),
    *(cc.Feature(name=f"scale_{place}", likelihood="ordinal", trials=4) for place in range(3)),
    *(cc.Feature(name=f"sign_{place}", likelihood="bernoulli", levels=("no", "yes")) for place in range(3)),
    *(cc.Feature(name=f"kind_{place}", likelihood="categorical", levels=("a", "b", "c")) for place in range(2)),
)


def from_latent(latent: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return the features of `MIXED` from normal latent values (n, 16), each with variance about 1."""
    columns = {}
    for place, feature in enumerate(MIXED):
        z = latent[:, place]
        if feature.likelihood == "gaussian":
            columns[feature.name] = np.exp(0.6 * z) if feature.transform else 10.0 + 2.0 * z
        elif feature.likelihood == "poisson":
            columns[feature.name] = rng.poisson(np.exp(0.8 + 0.6 * z))
        elif feature.likelihood == "ordinal":
            columns[feature.name] = np.searchsorted([-1.0, -0.3, 0.4, 1.2], z)
        elif feature.likelihood == "bernoulli":
            columns[feature.name] = np.where(z > 0.2, "yes", "no")
        else:
            columns[feature.name] = np.array(["a", "b", "c"], dtype=object)[np.searchsorted([-0.4, 0.6], z)]
    return pd.DataFrame(columns)


def groups(rng: np.random.Generator) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    """Return four groups whose means differ, with features that are independent in each."""
    of_subject = rng.choice(4, N_SUBJECTS, p=(0.4, 0.3, 0.2, 0.1))
    means = rng.normal(0.0, 0.9, (4, len(MIXED)))
    latent = means[of_subject] + rng.normal(0.0, 0.5, (N_SUBJECTS, len(MIXED)))
    return from_latent(latent, rng), cc.FeatureSchema(MIXED)


def continuum(rng: np.random.Generator) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    """Return one population in which two factors run through all features."""
    loadings = rng.normal(0.0, 0.6, (2, len(MIXED))) + np.array([[0.5], [0.0]])
    latent = rng.normal(size=(N_SUBJECTS, 2)) @ loadings + rng.normal(0.0, 0.5, (N_SUBJECTS, len(MIXED)))
    return from_latent(latent, rng), cc.FeatureSchema(MIXED)


def diabetes(rng: np.random.Generator) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    """Return the diabetes cohort of scikit-learn, 442 subjects, with sex as levels."""
    frame = load_diabetes(as_frame=True, scaled=False).data
    frame["sex"] = np.where(frame["sex"] == frame["sex"].min(), "1", "2")
    features = [
        cc.Feature(name=name, likelihood="bernoulli", levels=("1", "2"))
        if name == "sex"
        else cc.Feature(name=name, likelihood="gaussian")
        for name in frame
    ]
    return frame, cc.FeatureSchema(features)


def wine(rng: np.random.Generator) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    """Return the wines of scikit-learn, 178, from three growers."""
    frame = load_wine(as_frame=True).data
    frame = frame.rename(columns={"od280/od315_of_diluted_wines": "od_ratio"})
    return frame, cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])


COHORTS: dict[str, Callable[[np.random.Generator], tuple[pd.DataFrame, cc.FeatureSchema]]] = {
    "groups": groups,
    "continuum": continuum,
    "diabetes": diabetes,
    "wine": wine,
}


def levels_of(feature: cc.Feature) -> bool:
    """Return whether a value of the feature is right or wrong, and not more or less far off."""
    return feature.levels is not None


def erased(
    frame: pd.DataFrame, share: float, mechanism: str, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the table with this share of its values missing, and which are missing, bool (N, D).

    Completely at random, or by their size: the larger a value (of levels: the later), the more often it is missing.
    """
    missing = np.empty(frame.shape, dtype=bool)
    for place, name in enumerate(frame):
        sizes = (
            rankdata(frame[name].astype("category").cat.codes) if frame[name].dtype == object else frame[name].rank()
        )
        odds = (
            3.0 * (np.asarray(sizes, dtype=float) / len(frame) - 0.5)
            if mechanism == "by size"
            else np.zeros(len(frame))
        )
        shift = _shift(odds, share)
        missing[:, place] = rng.random(len(frame)) < expit(odds + shift)
    where = pd.DataFrame(missing, columns=frame.columns, index=frame.index)
    return frame.mask(where), where


def _shift(odds: np.ndarray, share: float) -> float:
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if expit(odds + middle).mean() < share else (low, middle)
    return low
