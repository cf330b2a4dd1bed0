"""Draw cohorts with subtypes, with repeated measurements, and with both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clinclust import Feature, FeatureSchema

WORDS = tuple(
    """fatigue pain sleep appetite cough fever nausea rash memory gait tremor vision hearing mood anxiety weight pulse
    sodium potassium calcium albumin ferritin insulin cortisol lactate urea platelets bilirubin lipase thyroid vitamin
    folate zinc copper iron glucose ketone protein globulin fibrin dimer troponin myosin renin prolactin estradiol
    leptin ghrelin resistin amylase elastase""".split()  # noqa: SIM905 - a list of fifty would fill a page
)


@dataclass(frozen=True)
class Drawn:
    """A cohort, and what is true of it."""

    frame: pd.DataFrame
    schema: FeatureSchema
    labels: np.ndarray
    repeated: tuple[str, ...]


def drawn_cohort(
    seed: int,
    n: int,
    n_features: int,
    n_subtypes: int,
    separation: float,
    *,
    mixed: bool = False,
    members: int = 0,
    rho: float = 0.0,
    named: bool = False,
    missing: float = 0.0,
    severity: float = 0.0,
) -> Drawn:
    """Draw features that depend on each other through subtypes only, and beside them one repeated measurement.

    Parameters
    ----------
    separation : float
        The standard deviation of the difference of two subtypes in a feature, in standard deviations within.
    mixed : bool
        Whether a third of the features are yes/no and a third are five-point scales, instead of all being numbers.
    members, rho : int, float
        How often the one measurement is repeated, and the correlation of two repetitions within a subtype.
    named : bool
        Whether the names of the repetitions say so.
    severity : float
        The correlation that one severity makes between all features, within subtypes.
    """
    rng = np.random.default_rng(seed)
    labels = rng.choice(n_subtypes, n, p=rng.dirichlet(np.full(n_subtypes, 5.0)))
    total = n_features + members
    means = rng.normal(size=(n_subtypes, total)) * separation / np.sqrt(2.0)
    if members:
        means[:, n_features:] = means[:, [n_features]] / max(separation, 1.0)  # alike in all repetitions, and not large
    shared = np.sqrt(severity) * rng.normal(size=(n, 1))
    noise = shared + np.sqrt(1.0 - severity) * rng.normal(size=(n, total))
    noise[:, n_features:] = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1.0 - rho) * rng.normal(size=(n, members))
    values = means[labels] + noise
    names = [WORDS[i] for i in rng.permutation(len(WORDS))[:total]]
    if named:
        names[n_features:] = [f"pressure_{i + 1}" for i in range(members)]
    kinds = np.arange(total) % 3 if mixed else np.full(total, 2)
    kinds[n_features:] = 2
    columns, features = {}, []
    for name, column, kind in zip(names, values.T, kinds, strict=True):
        columns[name], feature = _recorded(name, column, int(kind), rng)
        features.append(feature)
        columns[name][rng.random(n) < missing] = np.nan
    schema = FeatureSchema(features)
    frame = schema.validate(pd.DataFrame(columns), warn=False)
    return Drawn(frame, schema, labels, tuple(names[n_features:]))


def _recorded(name: str, column: np.ndarray, kind: int, rng: np.random.Generator) -> tuple[np.ndarray, Feature]:
    if kind == 0:
        return (column > np.quantile(column, rng.uniform(0.3, 0.8))).astype(float), Feature(
            name=name, likelihood="bernoulli"
        )
    if kind == 1:
        cuts = np.quantile(column, [0.3, 0.55, 0.75, 0.9])
        return np.searchsorted(cuts, column).astype(float), Feature(name=name, likelihood="binomial", trials=4)
    return column.round(2), Feature(name=name, likelihood="gaussian")
