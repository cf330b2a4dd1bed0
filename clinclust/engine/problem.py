"""The question for the engine: the partition of this cohort that has the highest joint under these priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.encoding import EncodedCohort, Encoding, canonical_order, model_values
from clinclust.engine.hyperparameters import (
    Hyperparameters,
    default_hyperparameters,
    flat_prior,
    stated_hyperparameters,
)
from clinclust.engine.model import Model
from clinclust.schema.informative import kept_out

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = ["Problem", "pose"]


@dataclass(frozen=True)
class Problem:
    """A cohort and the model of it.

    Attributes
    ----------
    cohort : EncodedCohort
    hyperparameters : dict
        By feature and name, on the scale of the columns.
    model : Model
    kept_out : dict
        Features that cannot inform a clustering, with the reason.
    """

    cohort: EncodedCohort
    hyperparameters: Hyperparameters
    model: Model
    kept_out: dict[str, str]

    def restricted_to(self, subjects: NDArray[np.int64], n_others: int) -> Problem:
        """Return the problem of some of the subjects, beside n_others clusters that hold everybody else.

        Its joint changes by as much as that of the whole cohort; it lacks the base measures.
        """
        arrays = self.cohort.arrays
        arrays = arrays._replace(codes=arrays.codes[subjects], values=arrays.values[subjects])  # noqa: PD011
        cohort = EncodedCohort(self.cohort.encoding, arrays, 0.0, np.arange(subjects.size))
        concentration = self.model.concentration + n_others * self.model.discount
        return replace(self, cohort=cohort, model=self.model._replace(concentration=concentration))


def pose(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    hyperparameters: Mapping[str, Mapping[str, Any]] | None,
    concentration: float,
    discount: float = 0.0,
    coarsening: float = 1.0,
) -> Problem:
    """Pose the problem of a validated cohort.

    Raises
    ------
    ValueError
        If no feature is left to cluster on, or the hyperparameters cannot be used.
    """
    excluded = kept_out(frame, schema)
    features = tuple(feature for feature in schema.clustered if feature.name not in excluded)
    if not features:
        raise ValueError(
            "No feature is left to cluster on: the schema has none with role cluster, or each is constant or empty"
        )
    stated = stated_hyperparameters(hyperparameters or {}, schema.clustered)
    values = model_values(frame, features)
    order = canonical_order(values)
    values = {name: column[order] for name, column in values.items()}
    encoding = Encoding.of(features, values)
    complete = default_hyperparameters(encoding, values, stated)
    cohort = EncodedCohort(encoding, *encoding.encode(values), order)
    model = Model(flat_prior(encoding, complete), float(concentration), float(discount), float(coarsening))
    return Problem(cohort, complete, model, excluded)
