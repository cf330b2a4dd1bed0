"""Encoding of a validated cohort as the arrays of the engine, discrete features first.

Discrete values become row numbers of a table of log predictives, continuous ones standardised floats. Subjects are
sorted by their values, so that the order of the rows of the table does not change the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Codes, Labels, Mask, Whole
from clinclust.engine.kernels.partition import CohortArrays
from clinclust.engine.problem.blocks import likelihoods_of, most_complete_first
from clinclust.likelihoods import Likelihood
from clinclust.schema import Feature

if TYPE_CHECKING:
    import pandas as pd

Scalar = TypeVar("Scalar", bound=np.generic)

_HASHED_AT_ONCE = 1_000_000
"""Number of values that are hashed together: fewer take longer, more take memory."""
_ROWS_AT_ONCE = 4_096


@dataclass(frozen=True)
class Encoding:
    """The encoding of columns as arrays, made from one cohort and also used for new subjects."""

    features: tuple[Feature, ...]
    """The parts of the clustered features (`Feature.parts`): discrete ones with ordered levels, nominal, then
    continuous ones; each group by likelihood, each multivariate Gaussian block by missing values."""
    centres: Array
    scales: Array
    """(D,) Gaussian values are encoded as (value - centre) / scale; 0 and 1 elsewhere."""

    @cached_property
    def likelihoods(self) -> tuple[Likelihood, ...]:
        """The likelihood of each feature, in its place in a block if it depends on the features before it."""
        return likelihoods_of(self.features)

    @cached_property
    def alone(self) -> tuple[Likelihood, ...]:
        """The likelihood of each feature when nothing is known of the others."""
        return tuple(likelihood.alone for likelihood in self.likelihoods)

    @cached_property
    def prior_start(self) -> Whole:
        """(D + 1,) index of the first hyperparameter of each feature; last, their number."""
        return starts([likelihood.n_hyperparameters for likelihood in self.likelihoods])

    @cached_property
    def statistic_start(self) -> Whole:
        """(D + 1,) index of the first sufficient statistic of each feature; last, their number."""
        return starts([likelihood.n_statistics for likelihood in self.likelihoods])

    def standards_of(self, index: int, n_before: int) -> tuple[Any, Any]:
        """Return the centre and scale of a feature; with features before it in its block, those of all, (n + 1,)."""
        where = slice(index - n_before, index + 1) if n_before else index
        return self.centres[where], self.scales[where]

    @classmethod
    def of(
        cls,
        features: tuple[Feature, ...],
        values: Mapping[str, Array],
        stated: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> Encoding:
        """Sort features by their likelihood and compute the centre and scale of each column of `model_values`."""
        n_missing = {feature.name: int(np.isnan(values[feature.name]).sum()) for feature in features}
        ordered = most_complete_first(in_encoded_order(features), n_missing, stated)
        standards = [feature.traits.of(feature).standardisation(values[feature.name]) for feature in ordered]
        centres, scales = np.array(standards, dtype=np.float64).reshape(-1, 2).T.copy()
        return cls(ordered, centres, scales)

    def encode(
        self,
        values: dict[str, Array],
        prior: Array,
        order: Whole | None = None,
        levels_of_all: Mapping[str, Array] = MappingProxyType({}),
    ) -> tuple[CohortArrays, float]:
        """Return columns of `model_values` as arrays, and the log base measure (`EncodedCohort`).

        Each column is removed from `values` when it has been encoded, to save memory. `prior` (H,) is on the encoded
        scale; base measures may depend on it. `order` (N,) is applied to discrete columns; continuous ones must already
        have it. `levels_of_all` are the levels of discrete features of which these subjects may have some only.
        """
        n_subjects = next(iter(values.values())).size
        likelihoods = self.likelihoods
        n_table = sum(not likelihood.is_continuous for likelihood in likelihoods)
        prior_start = self.prior_start
        codes: list[Codes] = []
        encoded_values = np.empty((n_subjects, len(self.features) - n_table))
        level_start = [1]
        level_values, level_statistics, level_log_base = [np.zeros(1)], [np.zeros((1, 2))], [np.zeros(1)]
        log_base = 0.0
        for index, (feature, likelihood) in enumerate(zip(self.features, likelihoods, strict=True)):
            column, theta = values.pop(feature.name), prior[prior_start[index] : prior_start[index + 1]]
            levels = levels_of_all.get(feature.name)
            levels = likelihood.levels(column) if levels is None else levels
            if levels is None:
                if likelihood.n_before:
                    # Given features one of which is missing, the value has no distribution: it takes no part.
                    column = np.where(np.isnan(encoded_values[:, index - n_table - 1]), np.nan, column)
                log_base -= float(np.log(self.scales[index]) * np.sum(~np.isnan(column)))
                column = (column - self.centres[index]) / self.scales[index]
                log_base += float(likelihood.log_base_measure(column, theta).sum())
                encoded_values[:, index - n_table] = likelihood.encoded(column)
                continue
            rows = rows_of(column, levels, level_start[-1])
            codes.append(rows if order is None else rows[order])
            level_start.append(level_start[-1] + levels.size)
            level_values.append(levels)
            # A likelihood that counts its levels has L statistics of L levels, which no kernel reads from here.
            counted = np.zeros((levels.size, 2)) if likelihood.counts_levels else likelihood.statistics(levels)
            level_statistics.append(counted)
            level_log_base.append(likelihood.log_base_measure(levels, theta))
            if level_log_base[-1].any():
                counts = np.bincount(rows, minlength=level_start[-1])[level_start[-2] :]
                log_base += float((counts * level_log_base[-1]).sum())
        return CohortArrays(
            codes=_side_by_side(codes, n_subjects),
            values=encoded_values,
            kinds=np.array([likelihood.kernel for likelihood in likelihoods], dtype=np.int64),
            level_start=np.array(level_start, dtype=np.int64),
            level_values=np.concatenate(level_values),
            level_statistics=np.ascontiguousarray(np.concatenate(level_statistics)),
            level_log_base=np.concatenate(level_log_base),
            statistic_start=self.statistic_start,
            prior_start=prior_start,
        ), log_base

    def log_jacobian(self, arrays: CohortArrays, powers: Array | None = None) -> Array:
        """Return the log Jacobian of the standardisation of each subject's observed values, float64 (N,).

        Added to the log density of the encoded values, it gives that on the scale of the columns; with powers of the
        features (D,), each term to its power.
        """
        n_table = arrays.codes.shape[1]
        logs = np.log(self.scales[n_table:])
        logs = logs if powers is None else powers[n_table:] * logs
        return np.asarray(-np.where(np.isnan(arrays.values), 0.0, logs).sum(axis=1))


@dataclass(frozen=True)
class EncodedCohort:
    """A cohort as arrays."""

    encoding: Encoding
    arrays: CohortArrays
    """Row p holds the subject in row order[p] of the table."""
    log_base: float
    """Sum of the log base measures and log Jacobians of all observed values, each times the power of its feature: the
    same for every partition."""
    order: Whole
    """(N,) row of the table of each encoded subject."""

    @property
    def n_subjects(self) -> int:
        """Number of subjects, N."""
        return int(self.order.size)

    @cached_property
    def n_observed(self) -> Whole:
        """Number of observed values of each feature, int64 (D,)."""
        arrays = self.arrays
        return np.concatenate([(arrays.codes > 0).sum(axis=0), (~np.isnan(arrays.values)).sum(axis=0)])

    @property
    def together(self) -> Labels:
        """Labels of one cluster of all subjects, int64 (N,)."""
        return np.zeros(self.n_subjects, dtype=np.int64)

    def with_features(self, included: Mask, log_base: float) -> EncodedCohort:
        """Return the same subjects with the included features, bool (D,), only, and with this log base measure."""
        arrays, kept = self.arrays, np.flatnonzero(included)
        n_table = arrays.codes.shape[1]
        tabled, valued = kept[kept < n_table], kept[kept >= n_table] - n_table
        n_levels = np.diff(arrays.level_start)[tabled]
        level_start = 1 + starts(n_levels)
        # Rows of excluded features are removed, so that the row numbers of each kept feature decrease by a constant.
        shift = (arrays.level_start[tabled] - level_start[:-1]).astype(np.int32)
        codes = arrays.codes[:, tabled]
        rows = np.concatenate([[0], np.arange(level_start[-1] - 1) + 1 + np.repeat(shift, n_levels)])
        features = tuple(self.encoding.features[d] for d in kept)
        encoding = Encoding(features, self.encoding.centres[kept], self.encoding.scales[kept])
        return EncodedCohort(
            encoding,
            CohortArrays(
                codes=np.ascontiguousarray(np.where(codes > 0, codes - shift, 0), dtype=np.int32),
                values=np.ascontiguousarray(arrays.values[:, valued]),  # noqa: PD011
                kinds=arrays.kinds[kept],
                level_start=level_start,
                level_values=arrays.level_values[rows],
                level_statistics=np.ascontiguousarray(arrays.level_statistics[rows]),
                level_log_base=arrays.level_log_base[rows],
                statistic_start=encoding.statistic_start,
                prior_start=encoding.prior_start,
            ),
            log_base,
            self.order,
        )

    def with_prior(self, prior: Array, powers: Array) -> EncodedCohort:
        """Return the same cohort under other hyperparameters (H,), with the base measures that depend on them."""
        arrays, log_base = self.arrays, self.log_base
        level_log_base = arrays.level_log_base.copy()
        for feature, likelihood in enumerate(self.encoding.likelihoods):
            if likelihood.base_depends_on_prior:
                rows = slice(arrays.level_start[feature], arrays.level_start[feature + 1])
                theta = prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
                now = likelihood.log_base_measure(arrays.level_values[rows], theta)
                rise = float((self.level_counts(feature) * (now - level_log_base[rows])).sum())
                log_base += float(powers[feature]) * rise
                level_log_base[rows] = now
        return replace(self, arrays=arrays._replace(level_log_base=level_log_base), log_base=log_base)

    def level_counts(self, feature: int) -> Whole:
        """Return the number of subjects at each level of a discrete feature, int64 (L,)."""
        arrays = self.arrays
        counts = np.bincount(arrays.codes[:, feature], minlength=int(arrays.level_start[feature + 1]))
        return counts[arrays.level_start[feature] :]

    def in_table_order(self, rows: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return an array with one row per subject in the order of the table."""
        back = np.empty_like(rows)
        back[self.order] = rows
        return back


def model_values(frame: pd.DataFrame, features: tuple[Feature, ...]) -> dict[str, Array]:
    """Return the value x of the model for each feature of a validated frame: float64 (N,), NaN = missing."""
    return {
        feature.name: np.ascontiguousarray(feature.transformed(frame[feature.column]) - feature.lowest + 0.0)
        for feature in features
    }


def in_encoded_order(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return features in the order of an encoding: one likelihood after the other, and in each the blocks."""
    return tuple(sorted(features, key=_place))


def _place(feature: Feature) -> tuple[bool, bool, int, float, str]:
    """Return the sort key of a feature: the kind of levels, the likelihood, the number of trials, the block.

    Binomials with the same number of trials are thereby adjacent, and can be processed together; so are Gaussian
    features without a block, which have the same power.
    """
    traits, trials = feature.traits, feature.n_trials
    steps = np.inf if trials is None else trials
    return traits.is_continuous, traits.is_nominal, traits.kernel, steps, feature.block or ""


def rows_of(column: Array, levels: Array, first: int) -> Codes:
    """Return the table row of each value, int32 (N,): 0 for a missing value, `first` for the first level."""
    missing = np.isnan(column)
    if levels.size == 0:
        return np.zeros(column.size, dtype=np.int32)
    places = np.where(missing, levels[0], column)
    if levels[0] != 0.0 or levels[-1] != levels.size - 1:  # not 0, 1, 2, ...
        places = np.searchsorted(levels, places)
    rows = places.astype(np.int32) + np.int32(first)
    rows[missing] = 0
    return rows


def _side_by_side(columns: list[Codes], n_rows: int) -> Codes:
    """Return the columns as one array, int32 (N, D), with contiguous rows."""
    table = np.empty((n_rows, len(columns)), dtype=np.int32)
    for first in range(0, n_rows if columns else 0, _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)  # few, so that they fit into the processor's cache
        table[rows] = np.array([column[rows] for column in columns]).T
    return table


def canonical_order(columns: Sequence[Array]) -> Whole:
    """Return the indices that sort the rows by a hash of their values, int64 (N,), whatever the order of the table.

    Only subjects with the same value in every feature keep the order of the table. The hash is that of
    `pandas.util.hash_pandas_object`, computed for many columns together.
    """
    from pandas.util import hash_array

    keys = np.full(columns[0].size, 0x345678, dtype=np.uint64)
    at_once = max(1, _HASHED_AT_ONCE // keys.size)
    factor = 1_000_003
    for first in range(0, len(columns), at_once):
        some = np.concatenate(columns[first : first + at_once])
        for place, hashes in enumerate(hash_array(some).reshape(-1, keys.size), first):
            keys ^= hashes
            keys *= np.uint64(factor)
            factor += 82_520 + 2 * (len(columns) - place)
    return np.argsort(keys, kind="stable")


def starts(lengths: Sequence[int] | Whole) -> Whole:
    """Return the start of each of several consecutive parts with these lengths, and the end of the last part."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def log_base_measures(cohort: EncodedCohort, prior: Array, subjects: Labels, features: Labels) -> Array:
    """Return the log base measure of values, by subject and encoded feature (M,), under a prior (H,); 0 = missing."""
    arrays = cohort.arrays
    n_table = arrays.codes.shape[1]
    found, in_table = np.empty(subjects.size), features < n_table
    found[in_table] = arrays.level_log_base[arrays.codes[subjects[in_table], features[in_table]]]
    for feature in np.unique(features[~in_table]).tolist():
        own = features == feature
        column = arrays.values[subjects[own], feature - n_table]  # noqa: PD011
        theta = prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
        found[own] = cohort.encoding.likelihoods[feature].log_base_measure(column, theta)
    return found


def log_bases(cohort: EncodedCohort, prior: Array) -> Array:
    """Return what each feature adds to `EncodedCohort.log_base` at power 1, float64 (D,), under a prior (H,)."""
    arrays, scales = cohort.arrays, cohort.encoding.scales
    everybody = np.arange(cohort.n_subjects)
    bases = [
        log_base_measures(cohort, prior, everybody, np.full_like(everybody, feature)).sum()
        for feature in range(scales.size)
    ]
    n_table = arrays.codes.shape[1]
    n_values = cohort.n_observed[n_table:]
    jacobian = np.concatenate([np.zeros(n_table), np.log(scales[n_table:]) * n_values])
    return np.asarray(np.array(bases) - jacobian)
