"""KPrototypes: K-means for mixed data."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.estimators.parameters import Rule, is_number
from clinclust.methods.encoded import filled, numbers_of, standardised
from clinclust.methods.installed import needed, one_thread, seed_for_scikit_learn
from clinclust.methods.method import Clustered, Given, Method
from clinclust.methods.rules import N_RESTARTS, WANTED, refuse_too_many

if TYPE_CHECKING:
    from clinclust.schema import Feature, FeatureSchema

__all__ = ["KPrototypes"]

Array = NDArray[np.float64]

_GAMMA = 0.5
"""Half the standard deviation of the numbers, in the middle of what Huang (1997) advises."""


class KPrototypes(Method):
    """K-prototypes (Huang 1997), through kmodes: K-means whose centres have means of numbers and modes of levels.

    It minimises sum_i (|x_i - mu_(z_i)|^2 + gamma * number of levels in which i differs from the mode of its cluster).
    Yes/no features and unordered levels are levels; scores of ordered levels, counts and measurements (after the
    transform of the schema) are numbers and standardised. A missing value becomes the median of its feature; of levels,
    the most frequent one. Where all features are levels it is K-modes.

    Parameters
    ----------
    schema : FeatureSchema or None
        As in `MAPDP`.
    n_clusters : int
        K.
    gamma : float, optional
        Weight of a level beside a standardised number; by default 0.5.
    n_restarts : int
        Random starts, of which the one with the lowest cost is kept.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    cost_ : float
        The minimised sum.
    labels_, n_clusters_, cluster_sizes_, membership_, schema_, uninformative_, index_, prepared_, random_seed_ :
        As of `clinclust.methods.method.Method`; `membership_` is None.

    References
    ----------
    Huang Z. Clustering large data sets with mixed numeric and categorical values. PAKDD 1997.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> from clinclust import methods
    >>> schema = cc.FeatureSchema(
    ...     [
    ...         cc.Feature(name="gait", likelihood="gaussian"),
    ...         cc.Feature(name="tremor", likelihood="bernoulli", levels=("no", "yes")),
    ...     ]
    ... )
    >>> cohort = pd.DataFrame({"gait": [1.0, 1.1, 1.2, 8.0, 8.1], "tremor": ["no", "no", "no", "yes", "yes"]})
    >>> methods.KPrototypes(schema, 2, random_state=0).fit(cohort).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    _rules = MappingProxyType(
        {
            "n_clusters": WANTED,
            "gamma": Rule(
                "a number above 0", lambda value: value is None or (is_number(value) and 0 < value < np.inf), " or None"
            ),
            "n_restarts": N_RESTARTS,
        }
    )

    cost_: float

    def __init__(
        self,
        schema: FeatureSchema | None = None,
        n_clusters: int | None = None,
        *,
        gamma: float | None = None,
        n_restarts: int = 10,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.schema = schema
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.n_restarts = n_restarts
        self.random_state = random_state

    def _clustered(self, given: Given) -> Clustered:
        levels = [feature for feature in given.features if _has_levels(feature)]
        numbers = [feature for feature in given.features if not _has_levels(feature)]
        if not levels:
            raise InputError("KPrototypes needs a yes/no feature or one with unordered levels; without, use KMeans")
        columns = [standardised(filled(numbers_of(given.frame, one), by_frequency=False)) for one in numbers]
        columns += [filled(numbers_of(given.frame, one), by_frequency=True) for one in levels]
        values = np.column_stack(columns)
        assert self.n_clusters is not None  # see `_rules`
        refuse_too_many(self.n_clusters, values)
        model = self._model(self.n_clusters, bool(numbers), given.seed)
        with one_thread("KPrototypes"):
            if numbers:
                model.fit(values, categorical=list(range(len(numbers), len(given.features))))
            else:
                model.fit(values)
        has_missing = bool(given.frame[list({one.column for one in given.features})].isna().to_numpy().any())
        prepared = _said(bool(numbers), has_missing)
        return Clustered(np.asarray(model.labels_, dtype=np.int64), prepared, facts={"cost_": float(model.cost_)})

    def _model(self, n_clusters: int, has_numbers: bool, seed: int) -> Any:
        settings = {
            "n_clusters": int(n_clusters),
            "init": "Huang",
            "n_init": int(self.n_restarts),
            "random_state": seed_for_scikit_learn(seed),
        }
        if not has_numbers:
            return needed("kmodes.kmodes", "KPrototypes").KModes(**settings)
        gamma = _GAMMA if self.gamma is None else float(self.gamma)
        return needed("kmodes.kprototypes", "KPrototypes").KPrototypes(gamma=gamma, **settings)

    def _made_by(self, found: Clustered) -> str:
        has_numbers = any(
            not _has_levels(feature) for feature in self.schema_.clustered if feature.name not in self.uninformative_
        )
        clusters = "1 cluster" if self.n_clusters_ == 1 else f"{self.n_clusters_} clusters"
        return f"{'K-prototypes' if has_numbers else 'K-modes'} with {clusters}, a given number ({found.prepared})"


def _has_levels(feature: Feature) -> bool:
    return feature.traits.is_yes_no or feature.traits.is_nominal


def _said(has_numbers: bool, has_missing: bool) -> str:
    numbers = "; scores, counts and measurements as standardised numbers" if has_numbers else ""
    gaps = "; missing values were filled with the median or the most frequent level of the feature"
    return f"yes/no features and unordered levels as levels{numbers}{gaps if has_missing else ''}"
