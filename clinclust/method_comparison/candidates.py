"""The methods that are compared, and how each is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from clinclust.estimators.mapdp import MAPDP
from clinclust.methods import (
    DPMeans,
    GaussianMixture,
    KHarmonicMeans,
    KMeans,
    KPrototypes,
    LatentClasses,
    MeanShift,
)

if TYPE_CHECKING:
    from clinclust.methods.method import Method
    from clinclust.schema import FeatureSchema

__all__ = ["CANDIDATES", "FEWEST_SUBJECTS", "OURS", "Make", "refits_of"]

Make: TypeAlias = Callable[["FeatureSchema", int, int], "MAPDP | Method"]
"""Makes an estimator from the schema, the number of subtypes of ours, and a seed."""

OURS = "MAP-DP"
FEWEST_SUBJECTS = 20
"""Size of the smallest cohort in which methods are compared: a fifth of it is held out, and halves are clustered."""
_MOST = 10
"""Largest number of clusters that a criterion chooses from."""
_STARTS = 5

CANDIDATES: Mapping[str, Make] = MappingProxyType(
    {
        "K-means, K by BIC": lambda schema, k, seed: KMeans(
            schema, max_clusters=_MOST, n_restarts=_STARTS, random_state=seed
        ),
        "K-means, K by silhouette": lambda schema, k, seed: KMeans(
            schema, max_clusters=_MOST, choose_by="silhouette", n_restarts=_STARTS, random_state=seed
        ),
        "Gaussian mixture, K by BIC": lambda schema, k, seed: GaussianMixture(
            schema, max_clusters=_MOST, n_restarts=_STARTS, random_state=seed
        ),
        "Latent classes, K by BIC": lambda schema, k, seed: LatentClasses(
            schema, max_clusters=_MOST - 2, n_restarts=_STARTS, random_state=seed
        ),
        "Mean shift": lambda schema, k, seed: MeanShift(schema),
        "K-harmonic means, K of MAP-DP": lambda schema, k, seed: KHarmonicMeans(
            schema, k, n_restarts=_STARTS, random_state=seed
        ),
        "K-prototypes, K of MAP-DP": lambda schema, k, seed: KPrototypes(
            schema, k, n_restarts=_STARTS, random_state=seed
        ),
        "DP-means, about K of MAP-DP": lambda schema, k, seed: DPMeans(
            schema, n_clusters=k, n_restarts=_STARTS, random_state=seed
        ),
    }
)
"""Methods by the name of their row, in the order of the table."""


def refits_of(model: MAPDP, schema: FeatureSchema, seed: int) -> list[MAPDP]:
    """Return estimators with the parameters of a fitted model, to be tried in turn.

    They begin anywhere and make a shorter search. The first has the number of clusters of the model, which a search of
    other subjects may not find; the other takes what is found.
    """
    parameters = {**model.get_params(), "schema": schema, "random_state": seed, "init": "search", "progress": False}
    parameters["n_restarts"] = min(int(model.n_restarts), _STARTS)
    return [MAPDP(**{**parameters, "n_clusters": wanted}) for wanted in (model.n_clusters_, None)]
