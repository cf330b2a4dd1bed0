"""The encoded cohort: codes of levels, standardised numbers, and blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import eigh

from clinclust.arrays import Array, Codes, Labels, Mask, Whole
from clinclust.engine.kernels.moves import CohortArrays
from clinclust.likelihoods import REGISTRY, Likelihood
from clinclust.schema import Feature

# The features of an encoded cohort as numeric columns, and the first principal axis of its subjects.

_POWER_ITERATIONS = 8
_NOMINAL = np.array([likelihood.kernel for likelihood in REGISTRY.values() if likelihood.is_nominal])
_MANY_COLUMNS = 500  # number of columns above which an eigenvector is found by Lanczos iterations


def numeric_columns(arrays: CohortArrays) -> tuple[Array, Whole]:
    """Return codes of ordered levels, values and nominal indicators, (N, C), NaN = missing, and their features (C,)."""
    table, nominal = encoded_table(arrays), nominal_features(arrays)
    if not nominal.any():
        return table, np.arange(nominal.size)
    of_levels = np.repeat(np.arange(arrays.codes.shape[1]), np.diff(arrays.level_start))
    ordered, levels = np.flatnonzero(~nominal), 1 + np.flatnonzero(nominal[of_levels])
    owners = of_levels[levels - 1]
    codes = np.take(arrays.codes, owners, axis=1)
    table = np.hstack([np.take(table, ordered, axis=1), codes == levels])
    np.copyto(table[:, ordered.size :], np.nan, where=codes == 0)
    return table, np.concatenate([ordered, owners])


def encoded_table(arrays: CohortArrays) -> Array:
    """Return the encoded values of all features, float64 (N, D), NaN = missing."""
    table = np.hstack([arrays.codes, arrays.values])
    np.copyto(table[:, : arrays.codes.shape[1]], np.nan, where=arrays.codes == 0)
    return table


def nominal_features(arrays: CohortArrays) -> Mask:
    """Return whether each feature is nominal, bool (D,)."""
    return np.asarray((arrays.kinds[:, None] == _NOMINAL).any(axis=1))


def principal_axis(arrays: CohortArrays, rng: np.random.Generator | None = None) -> Array:
    """Return the subjects' positions along their first principal axis, float64 (M,).

    With `rng`, positions along about this axis, by a few power iterations from a random start, so that searches that
    begin along it begin at different places.
    """
    table = numeric_columns(arrays)[0]
    missing = np.isnan(table)
    counts = np.maximum((~missing).sum(axis=0), 1)
    # Columns with mean 0 and one variance; a missing value counts as the mean of its column.
    np.copyto(table, 0.0, where=missing)
    table -= table.sum(axis=0) / counts
    np.copyto(table, 0.0, where=missing)
    table /= np.sqrt(np.maximum((table**2).sum(axis=0) / counts, 1e-12))
    if rng is not None:
        along: Array = np.asarray(rng.normal(size=table.shape[0]))
        for _ in range(_POWER_ITERATIONS):
            # einsum instead of table @ along: the last digits of a BLAS product depend on its number of threads.
            along = np.einsum("ij,j->i", table, np.einsum("ij,i->j", table, along))
            along /= max(float(np.sqrt((along**2).sum())), 1e-300)
        return along
    n_rows, size = table.shape
    if n_rows < size:  # the products of rows have the same eigenvalues
        loadings = table.T @ eigh(table @ table.T, subset_by_index=[n_rows - 1, n_rows - 1])[1][:, 0]
    elif size <= _MANY_COLUMNS:
        loadings = eigh(table.T @ table, subset_by_index=[size - 1, size - 1], check_finite=False)[1][:, 0]
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        products = LinearOperator((size, size), matvec=lambda vector: table.T @ (table @ vector), dtype=np.float64)
        loadings = eigsh(products, k=1, which="LA", v0=np.ones(size), tol=1e-8)[1][:, 0]
    return np.asarray(table @ (loadings * np.sign(loadings[np.abs(loadings).argmax()])))


# Blocks: named groups of features that depend on each other even within subtypes, and the power of each.
#
# At the power w, p features count for w p. In a multivariate Gaussian block, of power 1, each depends on those before
# it.


def likelihoods_of(features: Sequence[Feature]) -> tuple[Likelihood, ...]:
    """Return the likelihood of each feature, in its place in its block where that block has one likelihood."""
    sizes = Counter(feature.block for feature in features if feature.traits.is_chained)
    before: Counter[str | None] = Counter()
    likelihoods = []
    for feature in features:
        likelihood = feature.traits.of(feature)
        if likelihood.is_chained and feature.block is not None:
            likelihood = likelihood.in_block(before[feature.block], sizes[feature.block])
            before[feature.block] += 1
        likelihoods.append(likelihood)
    return tuple(likelihoods)


def members_of_chains(features: Sequence[Feature]) -> list[list[int]]:
    """Return the places of the features of each multivariate Gaussian block of several features, in their order."""
    chains: list[list[int]] = []
    for place, likelihood in enumerate(likelihoods_of(features)):
        if likelihood.n_before:
            chains[-1].append(place)
        elif likelihood.is_chained:
            chains.append([place])
    return [chain for chain in chains if len(chain) > 1]


def most_complete_first(
    features: Sequence[Feature], n_missing: Mapping[str, int], given: Mapping[str, Mapping[str, Any]]
) -> tuple[Feature, ...]:
    """Return the same features, those of each multivariate Gaussian block by their number of missing values.

    A value takes part only where those before it in the block are observed, so the most complete come first. Where the
    rows of a block's scatter matrix are stated, their lengths, 1 to p, give the order. The features of a block are
    adjacent; hyperparameters in `given` take precedence over those of the schema.
    """
    ordered = list(features)
    for members in members_of_chains(features):
        block = [features[place] for place in members]
        rows = [{**feature.stated, **given.get(feature.name, {})}.get("scatter") for feature in block]
        keys = [n_missing[feature.name] for feature in block]
        if any(row is not None for row in rows):
            lengths = [len(row) if isinstance(row, Sequence) else 0 for row in rows]
            is_order = sorted(lengths) == list(range(1, len(block) + 1))
            keys = lengths if is_order else [0] * len(block)
        for place, chosen in zip(members, np.argsort(keys, kind="stable").tolist(), strict=True):
            ordered[place] = block[chosen]
    return tuple(ordered)


def members_of_blocks(features: Sequence[Feature]) -> dict[str, Whole]:
    """Return the indices of the features of each block that has a power, int64 (p,), by its name."""
    members: dict[str, list[int]] = {}
    for place, feature in enumerate(features):
        if feature.block is not None and not feature.traits.is_chained:
            members.setdefault(feature.block, []).append(place)
    return {block: np.array(places, dtype=np.int64) for block, places in members.items()}


def powers_of_features(features: Sequence[Feature], powers: Mapping[str, float]) -> Array:
    """Return the power of each feature, float64 (D,), from the weights of blocks: 1 for others."""
    weights = [1.0 if feature.block is None else float(powers.get(feature.block, 1.0)) for feature in features]
    return np.array(weights, dtype=np.float64)


def powers_of_blocks(features: Sequence[Feature], powers: Array) -> dict[str, float]:
    """Return the power of each block by its name, from the powers of its features, float64 (D,)."""
    return {block: float(powers[places[0]]) for block, places in members_of_blocks(features).items()}


# Encoding of a validated cohort as the arrays of the engine, discrete features first.
#
# Discrete values become row numbers of a table of log predictives, continuous ones standardised floats. Subjects are
# sorted by their values, so that the order of the rows of the table does not change the result.

Scalar = TypeVar("Scalar", bound=np.generic)


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
        cls, features: tuple[Feature, ...], values: Mapping[str, Array], stated: Mapping[str, Mapping[str, Any]]
    ) -> Encoding:
        """Sort features by their likelihood and compute the centre and scale of each column of `ModelValues`."""
        n_missing = {feature.name: int(np.isnan(values[feature.name]).sum()) for feature in features}
        ordered = most_complete_first(in_encoded_order(features), n_missing, stated)
        standards = [feature.traits.of(feature).standardisation(values[feature.name]) for feature in ordered]
        centres, scales = np.array(standards, dtype=np.float64).reshape(-1, 2).T.copy()
        return cls(ordered, centres, scales)

    def theta(self, feature: int, prior: Array) -> Array:
        """Return the part of a flat prior (H,) that belongs to a feature, (P,)."""
        return prior[self.prior_start[feature] : self.prior_start[feature + 1]]

    def part(self, feature: int, prior: Array, statistics: Array) -> tuple[Array, Array]:
        """Return the parts of a prior (H,) and of statistics (..., S) that belong to a feature."""
        first, stop = self.statistic_start[feature : feature + 2]
        return self.theta(feature, prior), statistics[..., first:stop]

    def encode(
        self, values: Mapping[str, Array], prior: Array, levels_of_all: Mapping[str, Array] = MappingProxyType({})
    ) -> tuple[CohortArrays, float]:
        """Return columns of `ModelValues` as arrays, and the log base measure (`EncodedCohort`).

        `prior` (H,) is on the encoded scale; base measures may depend on it. `levels_of_all` are the levels of discrete
        features of which these subjects may have some only.
        """
        n_subjects = next(iter(values.values())).size
        likelihoods = self.likelihoods
        n_table = sum(not likelihood.is_continuous for likelihood in likelihoods)
        codes = np.empty((n_subjects, n_table), dtype=np.int32)
        encoded_values = np.empty((n_subjects, len(self.features) - n_table))
        level_start = [1]
        level_values, level_statistics, level_log_base = [np.zeros(1)], [np.zeros((1, 2))], [np.zeros(1)]
        log_base = 0.0
        for index, (feature, likelihood) in enumerate(zip(self.features, likelihoods, strict=True)):
            column, theta = values[feature.name], self.theta(index, prior)
            levels = levels_of_all[feature.name] if feature.name in levels_of_all else likelihood.levels(column)
            if levels is None:
                if likelihood.n_before:
                    # Given features one of which is missing, the value has no distribution: it takes no part.
                    column = np.where(np.isnan(encoded_values[:, index - n_table - 1]), np.nan, column)
                log_base -= float(np.log(self.scales[index]) * np.sum(~np.isnan(column)))
                column = (column - self.centres[index]) / self.scales[index]
                log_base += float(likelihood.log_base_measure(column, theta).sum())
                encoded_values[:, index - n_table] = likelihood.encoded(column)
                continue
            codes[:, index] = rows = rows_of(column, levels, level_start[-1])
            level_start.append(level_start[-1] + levels.size)
            level_values.append(levels)
            # A likelihood that counts its levels has L statistics of L levels, which no kernel reads from here.
            counted = np.zeros((levels.size, 2)) if likelihood.counts_levels else likelihood.statistics(levels)
            level_statistics.append(counted)
            level_log_base.append(likelihood.log_base_measure(levels, theta))
            counts = np.bincount(rows, minlength=level_start[-1])[level_start[-2] :]
            log_base += float((counts * level_log_base[-1]).sum())
        return CohortArrays(
            codes=codes,
            values=encoded_values,
            kinds=np.array([likelihood.kernel for likelihood in likelihoods], dtype=np.int64),
            level_start=np.array(level_start, dtype=np.int64),
            level_values=np.concatenate(level_values),
            level_statistics=np.ascontiguousarray(np.concatenate(level_statistics)),
            level_log_base=np.concatenate(level_log_base),
            statistic_start=self.statistic_start,
            prior_start=self.prior_start,
        ), log_base

    def log_jacobian(self, arrays: CohortArrays, powers: Array | float = 1.0) -> Array:
        """Return the log Jacobian of the standardisation of each subject's observed values, float64 (N,).

        Added to the log density of the encoded values, it gives that on the scale of the columns; with powers of the
        features (D,), each term to its power.
        """
        logs = (powers * np.log(self.scales))[arrays.codes.shape[1] :]
        some = np.array_split(arrays.values, 1 + len(arrays.values) // 4096)  # to save memory
        return -np.concatenate([np.where(np.isnan(values), 0.0, logs).sum(axis=1) for values in some])


@dataclass(frozen=True)
class EncodedCohort:
    """A cohort as arrays."""

    encoding: Encoding
    arrays: CohortArrays  # row p holds the subject in row order[p] of the table
    # Sum of the log base measures and log Jacobians of all observed values, each times the power of its feature.
    log_base: float
    order: Whole  # (N,) row of the table of each encoded subject

    @cached_property
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
        arrays, indices = self.arrays, np.flatnonzero(included)
        n_table = arrays.codes.shape[1]
        tabled, valued = indices[indices < n_table], indices[indices >= n_table] - n_table
        n_levels = np.diff(arrays.level_start)[tabled]
        level_start = 1 + starts(n_levels)
        # Rows of excluded features are removed, so that the row numbers of each kept feature decrease by a constant.
        shift = (arrays.level_start[tabled] - level_start[:-1]).astype(np.int32)
        rows = np.concatenate([[0], np.arange(level_start[-1] - 1) + 1 + np.repeat(shift, n_levels)])
        features = tuple(self.encoding.features[d] for d in indices)
        encoding = Encoding(features, self.encoding.centres[indices], self.encoding.scales[indices])
        kept_arrays = CohortArrays(
            codes=np.maximum(np.take(arrays.codes, tabled, axis=1) - shift, 0),
            values=np.take(arrays.values, valued, axis=1),
            kinds=arrays.kinds[indices],
            level_start=level_start,
            level_values=arrays.level_values[rows],
            level_statistics=arrays.level_statistics[rows],
            level_log_base=arrays.level_log_base[rows],
            statistic_start=encoding.statistic_start,
            prior_start=encoding.prior_start,
        )
        return EncodedCohort(encoding, kept_arrays, log_base, self.order)

    def with_prior(self, prior: Array, powers: Array) -> EncodedCohort:
        """Return the same cohort under other hyperparameters (H,), with the base measures that depend on them."""
        arrays, log_base = self.arrays, self.log_base
        level_log_base = arrays.level_log_base.copy()
        for feature, likelihood in enumerate(self.encoding.likelihoods):
            if likelihood.base_depends_on_prior:
                rows = slice(*arrays.level_start[feature : feature + 2].tolist())
                now = likelihood.log_base_measure(arrays.level_values[rows], self.encoding.theta(feature, prior))
                counts = np.bincount(arrays.codes[:, feature], minlength=rows.stop)[rows.start :]
                log_base += float(powers[feature]) * float((counts * (now - level_log_base[rows])).sum())
                level_log_base[rows] = now
        return replace(self, arrays=arrays._replace(level_log_base=level_log_base), log_base=log_base)

    def in_table_order(self, rows: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return an array with one row per subject in the order of the table."""
        back = np.empty_like(rows)
        back[self.order] = rows
        return back


class ModelValues(Mapping[str, Array]):
    """The columns of `model_values`, in an order of rows: each is computed when it is read, which saves memory."""

    def __init__(self, frame: pd.DataFrame, features: Iterable[Feature], order: Whole | slice = slice(None)) -> None:
        self._frame, self._order = frame, order
        self._features = {feature.name: feature for feature in features}

    def __getitem__(self, name: str) -> Array:
        feature = self._features[name]
        values = feature.transformed(self._frame[feature.column])[self._order]
        return values - feature.lowest + 0.0

    def __iter__(self) -> Iterator[str]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)


def model_values(frame: pd.DataFrame, features: tuple[Feature, ...]) -> dict[str, Array]:
    """Return the value x of the model for each feature of a validated frame: float64 (N,), NaN = missing."""
    return dict(ModelValues(frame, features))


def in_encoded_order(features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return features in the order of an encoding: by kind of levels, likelihood, number of trials, and block.

    Gaussian features without a block, which have the same power, are thereby adjacent and can be processed together.
    """

    def place(feature: Feature) -> tuple[bool, bool, int, float, str]:
        traits, trials = feature.traits, feature.n_trials
        steps = np.inf if trials is None else trials
        return traits.is_continuous, traits.is_nominal, traits.kernel, steps, feature.block or ""

    return tuple(sorted(features, key=place))


def rows_of(column: Array, levels: Array, first: int) -> Codes:
    """Return the table row of each value, int32 (N,): 0 for a missing value, `first` for the first level."""
    rows = (np.searchsorted(levels, column) + first).astype(np.int32)
    rows[np.isnan(column)] = 0
    return rows


def canonical_order(values: ModelValues) -> Whole:
    """Return the order of rows by a hash of their values, int64 (N,); only equal rows keep the order of the table."""
    # That of `pd.util.hash_pandas_object`, which needs all columns at once.
    hashes, factor = np.array([0x345678], dtype=np.uint64), 1_000_003
    for n_ahead, column in zip(range(len(values), 0, -1), values.values(), strict=True):
        hashes = (hashes ^ pd.util.hash_array(column)) * np.uint64(factor)
        factor += 82_520 + 2 * n_ahead
    return np.argsort(hashes + np.uint64(97_531), kind="stable")


def starts(lengths: Sequence[int] | Whole) -> Whole:
    """Return the start of each of several consecutive parts with these lengths, and the end of the last part."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def log_base_measures(cohort: EncodedCohort, prior: Array, subjects: Labels, features: Labels) -> Array:
    """Return the log base measure of values, by subject and encoded feature (M,), under a prior (H,); 0 = missing."""
    arrays = cohort.arrays
    n_table = arrays.codes.shape[1]
    measures, in_table = np.empty(subjects.size), features < n_table
    measures[in_table] = arrays.level_log_base[arrays.codes[subjects[in_table], features[in_table]]]
    for feature in np.unique(features[~in_table]).tolist():
        of_feature = features == feature
        column = arrays.values[subjects[of_feature], feature - n_table]
        theta = cohort.encoding.theta(feature, prior)
        measures[of_feature] = cohort.encoding.likelihoods[feature].log_base_measure(column, theta)
    return measures


def log_bases(cohort: EncodedCohort, prior: Array) -> Array:
    """Return what each feature adds to `EncodedCohort.log_base` at power 1, float64 (D,), under a prior (H,)."""
    scales, everybody = cohort.encoding.scales, np.arange(cohort.n_subjects)
    of_each = (log_base_measures(cohort, prior, everybody, np.full_like(everybody, d)) for d in range(scales.size))
    return np.array([measures.sum() for measures in of_each]) - np.log(scales) * cohort.n_observed
