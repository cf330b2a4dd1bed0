"""Simulated cohorts with rare findings, of which a shared report must withhold small counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import clinclust as cc

__all__ = ["DESIGNS", "SharedCohort", "shared_cohort"]

DESIGNS = {
    "one rare": "12 to 35 common yes/no features and one rare one",
    "several rare": "9 common and 3 rare yes/no features, a nominal one with a rare level, few missing values",
    "rare counts": "8 common yes/no features, two counts of rare events, a score of four steps that few have, ages",
    "small subtype": "8 common and 2 rare yes/no features, and a subtype of 4 to 8 subjects",
}


@dataclass(frozen=True)
class SharedCohort:
    """A cohort with its schema and the groups that it was drawn from."""

    frame: pd.DataFrame
    schema: cc.FeatureSchema
    groups: np.ndarray


def shared_cohort(design: str, seed: int) -> SharedCohort:
    """Return a cohort of 80 to 180 subjects in two or three groups, numbered by decreasing size."""
    rng = np.random.default_rng([seed, *design.encode()])
    groups = _groups(rng, small=design == "small subtype")
    n_common = int(rng.integers(12, 36)) if design == "one rare" else 8
    features = {f"answer{place}": _yes_no(rng, groups, 0.2, 0.8) for place in range(n_common)}
    kinds = dict.fromkeys(features, "bernoulli")
    n_rare = {"one rare": 1, "several rare": 3, "small subtype": 2}.get(design, 0)
    for place in range(n_rare):
        features[f"rare{place}"], kinds[f"rare{place}"] = _yes_no(rng, groups, 0.01, 0.12), "bernoulli"
    if design == "several rare":
        features["kind"], kinds["kind"] = rng.choice(["a", "b", "c"], groups.size, p=[0.55, 0.39, 0.06]), "categorical"
        features["holes"], kinds["holes"] = _yes_no(rng, groups, 0.3, 0.7), "bernoulli"
        features["holes"][rng.choice(groups.size, int(rng.integers(2, 9)), replace=False)] = None
    if design == "rare counts":
        for place in range(2):
            rates = rng.uniform(0.01, 0.09, 4)[groups]
            features[f"events{place}"], kinds[f"events{place}"] = rng.poisson(rates), "poisson"
        features["score"], kinds["score"] = rng.binomial(4, 0.01 + 0.01 * groups), "binomial"
        features["age"], kinds["age"] = np.round(rng.normal(60 + 6 * groups, 9), 1), "gaussian"
    schema = cc.FeatureSchema(
        [
            cc.Feature(name=name, likelihood=kind, **({"trials": 4} if kind == "binomial" else {}))
            if kind != "categorical"
            else cc.Feature(name=name, likelihood=kind, levels=("a", "b", "c"))
            for name, kind in kinds.items()
        ]
    )
    return SharedCohort(pd.DataFrame(features), schema, groups)


def _groups(rng: np.random.Generator, *, small: bool) -> np.ndarray:
    sizes = [int(size) for size in sorted(rng.integers(38, 62, int(rng.integers(2, 4))), reverse=True)]
    sizes += [int(rng.integers(4, 9))] if small else []
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def _yes_no(rng: np.random.Generator, groups: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return a yes/no column; each group has a share of its own, which lies near an end of the range."""
    shares = np.where(rng.random(4) < 0.5, low, high) + rng.uniform(-0.2, 0.2, 4) * (high - low)
    return (rng.random(groups.size) < np.clip(shares, 0.005, 0.995)[groups]).astype(int).astype(object)
