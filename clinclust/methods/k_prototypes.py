"""KPrototypes: K-means for mixed data."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clinclust.arrays import RandomState
from clinclust.errors import InputError
from clinclust.methods.encoded import Encoded, filled, numbers_of, standardised
from clinclust.methods.method import AT_LEAST_ONE, Clustered, Method, needed, one_thread, seed_for_scikit_learn

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature, FeatureSchema

_GAMMA = 0.5  # half the standard deviation of the numbers, in the middle of what Huang (1997) advises


@dataclass(eq=False, repr=False)
class KPrototypes(Method):
    """K-prototypes (Huang 1997, PAKDD), through kmodes: K-means with means of numbers and modes of levels.

    It minimises sum_i (|x_i - mu_(z_i)|^2 + gamma * number of levels in which i differs from the mode of its cluster).
    Yes/no features and unordered levels are levels; scores of ordered levels, counts and measurements (after the
    transform of the schema) are numbers and standardised. A missing value becomes the median of its feature; of levels,
    the most frequent one. Where all features are levels it is K-modes.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    n_clusters : int
        K.
    gamma : float, optional
        Weight of a level relative to a standardised number; by default 0.5.
    n_restarts : int
        Random starts, of which the one with the lowest cost is kept.

    Attributes
    ----------
    cost_ : float
        The minimised sum.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> from clinclust import methods
    >>> tremor = cc.Feature(name="tremor", likelihood="bernoulli", levels=("no", "yes"))
    >>> schema = cc.FeatureSchema([cc.Feature(name="gait", likelihood="gaussian"), tremor])
    >>> cohort = pd.DataFrame({"gait": [1.0, 1.1, 1.2, 8.0, 8.1], "tremor": ["no", "no", "no", "yes", "yes"]})
    >>> methods.KPrototypes(schema, 2, random_state=0).fit(cohort).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    schema: FeatureSchema | None = None
    n_clusters: int | None = None
    _: KW_ONLY
    gamma: float | None = None
    n_restarts: int = 10
    random_state: RandomState = None

    cost_: float = field(init=False)

    _rules: ClassVar = MappingProxyType({"n_clusters": AT_LEAST_ONE})

    def _encoded(self, frame: pd.DataFrame, features: tuple[Feature, ...]) -> Encoded:
        levels = [feature for feature in features if _has_levels(feature)]
        numbers = [feature for feature in features if not _has_levels(feature)]
        if not levels:
            raise InputError("KPrototypes needs a yes/no feature or one with unordered levels; without, use KMeans")
        columns = [standardised(filled(numbers_of(frame, one), by_frequency=False)) for one in numbers]
        columns += [filled(numbers_of(frame, one), by_frequency=True) for one in levels]
        prepared = "yes/no features and unordered levels as levels"
        if numbers:
            prepared += "; scores, counts and measurements as standardised numbers"
        if frame[list({one.column for one in features})].isna().to_numpy().any():
            prepared += "; missing values were filled with the median or the most frequent level of the feature"
        return Encoded(np.column_stack(columns), prepared, n_levels=len(levels))

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        n_columns = table.values.shape[1]  # noqa: PD011
        n_numbers = n_columns - table.n_levels
        settings: dict[str, Any] = {"n_clusters": self.n_clusters, "init": "Huang", "n_init": int(self.n_restarts)}
        settings["random_state"] = seed_for_scikit_learn(seed)
        with one_thread("KPrototypes"):
            if n_numbers:
                gamma = _GAMMA if self.gamma is None else float(self.gamma)
                model = needed("kmodes.kprototypes", "KPrototypes").KPrototypes(gamma=gamma, **settings)
                model.fit(table.values, categorical=list(range(n_numbers, n_columns)))
            else:
                model = needed("kmodes.kmodes", "KPrototypes").KModes(**settings).fit(table.values)
        return Clustered(np.asarray(model.labels_, dtype=np.int64), facts={"cost_": float(model.cost_)})

    def _made_by(self) -> str:
        clustered = (one for one in self.schema_.clustered if one.name not in self.uninformative_)
        method = "K-modes" if all(map(_has_levels, clustered)) else "K-prototypes"
        return f"{method} with {self._counted()}, a given number"


def _has_levels(feature: Feature) -> bool:
    return feature.traits.is_yes_no or feature.traits.is_nominal
