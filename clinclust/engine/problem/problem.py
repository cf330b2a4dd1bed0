"""The problem that the engine solves: find the partition of a cohort with the highest log joint under a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.partition import Model, Partition, log_marginals, new_partition
from clinclust.engine.problem.blocks import powers_of_features, refuse_unknown_blocks
from clinclust.engine.problem.encoding import EncodedCohort, Encoding, canonical_order, log_bases, model_values
from clinclust.engine.problem.hyperparameters import (
    Hyperparameters,
    default_hyperparameters,
    flat_prior,
    named_hyperparameters,
    prior_of_features,
    stated_hyperparameters,
)
from clinclust.errors import InputError
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.feature import few_of_the_rest
from clinclust.schema.validation import uninformative

if TYPE_CHECKING:
    import pandas as pd

_NARROWEST = 1e-100
"""Smallest standard deviation of a continuous feature, whose square is still a normal float64."""


@dataclass(frozen=True)
class Problem:
    """A cohort and its model."""

    cohort: EncodedCohort
    hyperparameters: Hyperparameters
    """Hyperparameters by feature and name, on the scale of the columns."""
    model: Model
    kept_out: dict[str, str]
    """Names of the features, or of one of their parts, that cannot inform a clustering, each with the reason."""

    def partition(self, labels: Labels, capacity: int = 0) -> Partition:
        """Return the partition with these labels, 0 .. K - 1, int64 (N,), and at least this number of columns."""
        return new_partition(self.cohort.arrays, labels, capacity)

    def with_features(self, included: Mask) -> Problem:
        """Return the problem in which only the included features, bool (D,), differ between clusters.

        The others have one distribution for all subjects. They are removed from the arrays, and their log marginals are
        added to the log base measure.
        """
        arrays, prior = self.cohort.arrays, self.model.prior
        together = self.partition(self.cohort.together).statistics[:1]
        shared = (self.model.powers * log_marginals(arrays, prior, together)[0])[~included].sum()
        cohort = self.cohort.with_features(included, self.cohort.log_base + float(shared))
        kept_prior = prior_of_features(self.cohort.encoding, prior, included)
        named = {feature.name: self.hyperparameters[feature.name] for feature in cohort.encoding.features}
        if any(likelihood.is_chained for likelihood in cohort.encoding.likelihoods):
            named = named_hyperparameters(cohort.encoding, kept_prior)
        return replace(
            self,
            cohort=cohort,
            hyperparameters=named,
            model=self.model._replace(prior=kept_prior, powers=self.model.powers[included]),
        )

    def with_powers(self, powers: Array) -> Problem:
        """Return the problem in which the likelihood of each feature counts to this power, float64 (D,)."""
        change = powers - self.model.powers
        if not change.any():
            return self
        more = float((change * log_bases(self.cohort, self.model.prior)).sum())
        cohort = replace(self.cohort, log_base=self.cohort.log_base + more)
        return replace(self, cohort=cohort, model=self.model._replace(powers=powers))

    def restricted_to(self, subjects: Whole, n_others: int) -> Problem:
        """Return the problem of a subset of the subjects, while n_others clusters hold all other subjects.

        A change of labels changes its log joint by as much as that of the whole cohort. `log_base` is 0.
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
    block_weights: Mapping[str, float] | None = None,
) -> Problem:
    """Return the problem of a validated cohort: encode it and complete the hyperparameters.

    Raises an InputError if no feature is left to cluster on, hyperparameters cannot be used, or a block is unknown.
    """
    values = model_values(frame, schema.clustered_parts)
    features, excluded = _informative(frame, schema, values)
    if not features:
        found = ", ".join(f"{name} has {reason}" for name, reason in excluded.items())
        raise InputError(f"No feature is left to cluster on: {found or 'the schema has none with role cluster'}")
    refuse_unknown_blocks(block_weights or {}, schema.clustered)
    stated = stated_hyperparameters(hyperparameters or {}, schema.clustered_parts)
    order = canonical_order([values[feature.name] for feature in features])
    # Sums of whole numbers do not depend on the order of the table, but sums of other numbers do, in the last digits.
    # Continuous columns are therefore sorted into the canonical order before anything is computed from them. Discrete
    # columns are sorted when they are encoded.
    for feature in features:
        if feature.traits.is_continuous:
            values[feature.name] = values[feature.name][order]
    _refuse_narrow(features, values)
    encoding = Encoding.of(features, values, stated)
    complete = default_hyperparameters(encoding, values, stated)
    prior = flat_prior(encoding, complete)
    arrays, log_base = encoding.encode(values, prior, order)
    cohort = EncodedCohort(encoding, arrays, log_base, order)
    model = Model(prior, np.ones(len(features)), float(concentration), float(discount), float(coarsening))
    problem = Problem(cohort, complete, model, excluded)
    return problem.with_powers(powers_of_features(encoding.features, block_weights or {}))


def _informative(
    frame: pd.DataFrame, schema: FeatureSchema, values: Mapping[str, Array]
) -> tuple[tuple[Feature, ...], dict[str, str]]:
    """Return the features to cluster on, and those that cannot inform a clustering by name, each with the reason."""
    reasons = uninformative(values)
    features: list[Feature] = []
    excluded: dict[str, str] = {}
    for feature in schema.clustered:
        for part in feature.parts:
            if part.is_part and part.name not in reasons and (few := few_of_the_rest(part, frame[feature.name])):
                reasons[part.name] = few
        kept = [part for part in feature.parts if part.name not in reasons]
        left_out = {part.name: reasons[part.name] for part in feature.parts if part.name in reasons}
        excluded |= left_out if kept or not left_out else {feature.name: next(iter(left_out.values()))}
        features += kept
    return tuple(features), excluded


def _refuse_narrow(features: tuple[Feature, ...], values: Mapping[str, Array]) -> None:
    """Raise InputError if the values of a continuous feature differ by so little that their squares underflow."""
    continuous = [feature for feature in features if feature.traits.is_continuous]
    spreads = {feature.name: float(np.nanstd(values[feature.name])) for feature in continuous}
    narrow = [f"{name} (standard deviation {spread:g})" for name, spread in spreads.items() if spread < _NARROWEST]
    if narrow:
        raise InputError(
            f"The values of {', '.join(narrow)} lie too close together to be modelled; give the column in a smaller "
            f"unit, so that its standard deviation is at least {_NARROWEST:g}"
        )
