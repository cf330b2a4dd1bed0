"""A subtype as the mixture of its clusters, and marks of subtypes that may be noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.engine.search.settle import groups_by_decreasing_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.engine.problem.problem import Clusters
    from clinclust.likelihoods import Likelihood
    from clinclust.schema import Feature, FeatureSchema


# The parameters of the subtypes in each feature, with intervals (Raykov et al. 2016, appendix D and eq. 32).

_TAIL = 0.025
_COLUMNS = ("feature", "parameter", "level", "subtype", "estimate", "lower", "upper")


def cluster_parameters(subtypes: SubtypeMixture, schema: FeatureSchema) -> pd.DataFrame:
    """Return the table of `MAPDP.cluster_parameters_`."""
    encoding = subtypes.encoding
    of_part = {feature.name: index for index, feature in enumerate(encoding.features)}
    rows: list[tuple[Any, ...]] = []
    for part in schema.clustered_parts:
        if part.name in of_part:
            index, likelihood = of_part[part.name], encoding.alone[of_part[part.name]]
            posteriors = subtypes.pooled.posteriors(index)[:-1]
            centre, scale = encoding.standards_of(index, 0)
            stated = [likelihood.stated_hyperparameters(posterior, centre, scale) for posterior in posteriors]
            rows += _rows(part, likelihood, np.array(stated))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _rows(feature: Feature, likelihood: Likelihood, posteriors: Array) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each parameter, level and subtype."""
    for name, distribution in likelihood.parameters(posteriors).items():
        if name == "sd" and feature.transform is not None:
            continue  # no number in the unit of the column says it
        mean, lower, upper = distribution.mean(), distribution.ppf(_TAIL), distribution.ppf(1.0 - _TAIL)
        estimate = np.where(np.isfinite(mean), mean, distribution.median())  # few values may leave no finite mean
        numbers = np.stack([estimate, lower, upper])
        if name == "mean":
            numbers, name = _in_unit(feature, numbers)
        levels = _levels(feature, likelihood)
        for place, level in enumerate(levels):
            of_level = numbers[..., place] if numbers.ndim == 3 else numbers
            for subtype, row in enumerate(of_level.T.tolist(), start=1):
                yield feature.name, name, level, subtype, *row


def _in_unit(feature: Feature, numbers: Array) -> tuple[Array, str]:
    """Return means (3, K) in the unit of the column, and what they are called."""
    known = feature.level_numbers
    if known is not None and np.ptp(np.diff(known.numbers)) < 1e-9 * known.step:  # a scale of even steps
        ends = known.numbers[0] + numbers * (known.numbers[1] - known.numbers[0])
        return np.vstack([ends[:1], np.sort(ends[1:], axis=0)]), "mean"
    return feature.from_model_scale(numbers), "mean" if feature.transform is None else "back-transformed mean"


def _levels(feature: Feature, likelihood: Likelihood) -> list[str]:
    """Return the levels whose probabilities are parameters; an empty text for a mean."""
    if likelihood.is_yes_no:
        return [feature.levels[1] if feature.levels else "1"]
    if not likelihood.counts_levels:
        return [""]
    if feature.levels:
        return list(feature.levels)
    return [f"{feature.lowest + step:g}" for step in range((feature.n_trials or 0) + 1)]


# Mixtures of clusters: subtypes that are unions of clusters, and values and quantiles of a mixture of predictives.
#
# The predictive of a subtype is the sum of those of its clusters, weighted by their sizes.


@dataclass(frozen=True, eq=False)
class SubtypeMixture:
    """The subtypes of a fit. J is the number of clusters that the search found, K that of the subtypes.

    Attributes
    ----------
    clusters : Clusters
    subtype_of : int64 (J,)
        Subtype of each cluster, 0 .. K - 1.
    """

    clusters: Clusters
    subtype_of: Labels

    @property
    def encoding(self) -> Encoding:
        """The encoding of the features."""
        return self.clusters.encoding

    @property
    def is_merged(self) -> bool:
        """Whether a subtype holds several clusters."""
        return int(self.subtype_of.max()) + 1 < self.subtype_of.size

    @cached_property
    def pooled(self) -> Clusters:
        """The subtypes as single clusters, for evidence only."""
        return self.clusters if self._is_in_order else self.clusters.pooled(self.subtype_of)

    @property
    def sizes(self) -> Array:
        """Number of subjects in each subtype, float64 (K,)."""
        return self.pooled.sizes

    def summed(self, probabilities: Array) -> Array:
        """Return the probability of each subtype, float64 (n, K), from those of the clusters (n, J).

        Further columns, such as that of a new cluster, stay at the end.
        """
        # A sum of several probabilities may exceed 1 by a rounding error.
        return self._joined(probabilities, lambda columns: np.minimum(columns.sum(axis=1), 1.0))

    def log_summed(self, scores: Array) -> Array:
        """Return the log weight of each subtype from those of its clusters."""
        return self._joined(scores, lambda columns: np.logaddexp.reduce(columns, axis=1))

    def _joined(self, of_clusters: Array, join: Callable[[Array], Array]) -> Array:
        """Return the columns of each subtype combined; that of a single cluster is unchanged."""
        if self._is_in_order:
            return of_clusters
        members = [np.flatnonzero(self.subtype_of == subtype) for subtype in range(int(self.subtype_of.max()) + 1)]
        columns = [of_clusters[:, it[0]] if it.size == 1 else join(of_clusters[:, it]) for it in members]
        return np.column_stack([*columns, of_clusters[:, self.subtype_of.size :]])

    @property
    def _is_in_order(self) -> bool:
        """Whether each subtype is the cluster of the same number."""
        return np.array_equal(self.subtype_of, np.arange(self.subtype_of.size))


_ROUNDING = 1e-12
"""Tolerance for rounding errors of a distribution function."""
_MOST_STEPS = 2_000
"""Largest number of steps of the search of a root."""
_EVERY, _SPARSE = 2_048, 1_024
"""Every count below the first number may be an end of an interval; above it, a number of them."""
_AT_ONCE = 4_000_000
"""Largest number of values of distribution functions in memory."""


def mixture_quantiles(likelihood: Likelihood, posteriors: Array, weights: Array, share: float) -> Array:
    """Return the quantile of each mixture at a probability, float64 (n,).

    Posteriors are float64 (m, P), weights float64 (n, m) with rows that sum to 1.
    """
    used = weights > 0.0
    of_parts = np.array([likelihood.quantile(posterior, share) for posterior in posteriors])
    low = np.where(used, of_parts, np.inf).min(axis=1)
    high = np.where(used, of_parts, -np.inf).max(axis=1)
    if likelihood.is_continuous:
        return _roots(likelihood, posteriors, weights, share, low, high)
    while (low < high).any():
        middle = np.floor(low + (high - low) / 2.0)
        reached = mixture_cumulative(likelihood, posteriors, weights, middle) >= share - _ROUNDING
        low, high = np.where(reached, low, np.minimum(middle + 1.0, high)), np.where(reached, middle, high)
    return np.asarray(high, dtype=np.float64)


def _roots(likelihood: Likelihood, posteriors: Array, weights: Array, share: float, low: Array, high: Array) -> Array:
    """Return where continuous distribution functions reach a probability, between low and high (n,)."""
    from scipy.optimize import elementwise

    found, open_ = high.copy(), np.flatnonzero(low < high)
    # Rounding errors of the quantiles of the parts must not move the root out of the bracket.
    margin = 1e-9 * (high - low)[open_]
    bracket = (low[open_] - margin, high[open_] + margin)

    def excess(values: Array, rows: Array) -> Array:
        here = open_[rows.astype(np.int64)]
        return mixture_cumulative(likelihood, posteriors, weights[here], values) - share

    if open_.size:
        rows = np.arange(float(open_.size))
        result = elementwise.find_root(excess, bracket, args=(rows,), maxiter=_MOST_STEPS)
        found[open_] = np.clip(result.x, low[open_], high[open_])
    return found


def mixture_cumulative(likelihood: Likelihood, posteriors: Array, weights: Array, values: Array) -> Array:
    """Return P(x <= value) of the mixture of each subject, float64 (n,); arguments as in `mixture_quantiles`."""
    different, place = np.unique(values, return_inverse=True)
    total = np.zeros(values.size)
    for part in np.flatnonzero((weights > 0.0).any(axis=0)):
        total += weights[:, part] * likelihood.cumulative(posteriors[part], different)[place]
    return total


def shortest_intervals(
    likelihood: Likelihood, posteriors: Array, weights: Array, level: float, highest: float | None
) -> tuple[Array, Array]:
    """Return the ends of the shortest intervals of a discrete feature with at least a probability, float64 (n,).

    Arguments as in `mixture_quantiles`; `highest` is the highest value, if any. Intervals of counts above some
    thousands are approximate: slightly longer.
    """
    ends = _possible_ends(likelihood, posteriors, weights, level, highest)
    up_to = np.array([likelihood.cumulative(posterior, ends) for posterior in posteriors])
    below = np.concatenate([np.zeros((len(posteriors), 1)), up_to[:, :-1]], axis=1)
    gaps = np.flatnonzero(np.diff(ends) > 1.0) + 1
    if gaps.size:
        below[:, gaps] = [likelihood.cumulative(posterior, ends[gaps] - 1.0) for posterior in posteriors]
    lower, upper = np.zeros(len(weights)), np.full(len(weights), ends[-1])  # a tail may be too long for any interval
    at_once = max(1, _AT_ONCE // ends.size)
    for first in range(0, len(weights), at_once):
        rows = slice(first, first + at_once)
        for row, (reached, before) in enumerate(zip(weights[rows] @ up_to, weights[rows] @ below, strict=True), first):
            last = np.searchsorted(reached, before + level - _ROUNDING)
            begins = np.flatnonzero(last < ends.size)
            if begins.size:
                last = last[begins]
                best = np.lexsort((before[begins] - reached[last], ends[last] - ends[begins]))[0]
                lower[row], upper[row] = ends[begins[best]], ends[last[best]]
    return lower, upper


def _possible_ends(
    likelihood: Likelihood, posteriors: Array, weights: Array, level: float, highest: float | None
) -> Array:
    """Return the possible ends of the shortest intervals, ascending from 0."""
    if highest is not None:
        return np.arange(highest + 1.0)
    tails = mixture_quantiles(likelihood, posteriors, weights, (1.0 + level) / 2.0)
    longest = tails - mixture_quantiles(likelihood, posteriors, weights, (1.0 - level) / 2.0)
    top = float((mixture_quantiles(likelihood, posteriors, weights, 1.0 - level) + longest).max())
    top = max(top, float(tails.max()))
    if top < _EVERY:
        return np.arange(top + 1.0)
    return np.union1d(np.arange(float(_EVERY)), np.ceil(np.geomspace(_EVERY, top, _SPARSE)))


_CANDIDATES = 1025
"""Candidates for the mode of a mixture between the modes of the parts."""


def mixture_values(feature: Feature, likelihood: Likelihood, posteriors: Array, weights: Array, how: str) -> Array:
    """Return the mean, median or mode of a mixture for each subject, float64 (n,); arguments as in `mixture_quantiles`.

    Unordered levels get the most probable level; an infinite mean is replaced by the median.
    """
    parts = [likelihood.predictive(posterior) for posterior in posteriors]
    if how == "mode" or likelihood.is_nominal:
        return _modes(feature, likelihood, parts, posteriors, weights)
    if how == "mean":
        means = np.array([part.mean() for part in parts], dtype=np.float64)
        if np.isfinite(means).all():
            return np.asarray(weights @ means, dtype=np.float64)
    return mixture_quantiles(likelihood, posteriors, weights, 0.5)


def _modes(feature: Feature, likelihood: Likelihood, parts: list[Any], posteriors: Array, weights: Array) -> Array:
    """Return the most probable values."""
    levels = likelihood.levels(np.empty(0)) if likelihood.counts_levels else None
    if levels is None and feature.n_trials is not None:
        levels = np.arange(feature.n_trials + 1.0)
    if levels is None:
        of_parts = np.array([likelihood.mode(posterior) for posterior in posteriors])
        grid = np.linspace(of_parts.min(), of_parts.max(), _CANDIDATES)
        levels = np.union1d(of_parts, grid if likelihood.is_continuous else np.rint(grid))
    densities = np.array([part.pdf(levels) if likelihood.is_continuous else part.pmf(levels) for part in parts])
    return np.asarray(levels[(weights @ densities).argmax(axis=1)], dtype=np.float64)


# Marks of subtypes that may be noise: few subjects, or weak evidence to their nearest other.

NO_FLOOR = 1
"""Fewest subjects of a subtype without a floor."""
FEW, WEAK = "few", "weak"
"""The marks of a subtype that may be noise, wherever it is shown."""
FEW_SUBJECTS = 5
"""Number of subjects below which a subtype is marked as few."""
WEAK_NATS = 3.0
"""Evidence in nats to the nearest other below which a subtype is marked as weak."""
MEANING_OF_MARKS = (
    f"{FEW}: fewer than {FEW_SUBJECTS} subjects; {WEAK}: less than {WEAK_NATS:g} nats of evidence between a subtype "
    "and its nearest other."
)
"""The meaning of all marks."""


def marks_of(subtypes: SubtypeMixture) -> list[tuple[str, ...]]:
    """Return the marks of each subtype: `FEW` below 5 subjects, `WEAK` if a merger would cost less than 3 nats."""
    pairs, evidence = _all_pairs(subtypes)
    nearest = np.full(subtypes.sizes.size, np.inf)  # the evidence between each subtype and its nearest other
    for side in pairs.T:
        np.minimum.at(nearest, side, evidence)
    both = zip((subtypes.sizes < FEW_SUBJECTS).tolist(), (nearest < WEAK_NATS).tolist(), strict=True)
    return [((FEW,) if few else ()) + ((WEAK,) if weak else ()) for few, weak in both]


def n_standing(subtypes: SubtypeMixture) -> int:
    """Return the number of subtypes, at least 1, that are left without those that may be noise.

    Pairs with less than 3 nats between them are merged, the least first; then subtypes below 5 subjects do not count.
    """
    while True:
        pairs, evidence = _all_pairs(subtypes)
        if evidence.min(initial=np.inf) >= WEAK_NATS:
            return max(1, int((subtypes.sizes >= FEW_SUBJECTS).sum()))
        kept, lost = pairs[evidence.argmin()].tolist()
        groups = with_joined(subtypes.subtype_of, kept, lost, subtypes.clusters.sizes)
        subtypes = replace(subtypes, subtype_of=groups)


def with_joined(subtype_of: Labels, kept: int, lost: int, sizes: NDArray[np.float64]) -> Labels:
    """Return the subtype of each cluster, int64 (J,), with two subtypes merged; `sizes` (J,) are of the clusters."""
    return groups_by_decreasing_size(np.where(subtype_of == lost, kept, subtype_of), sizes.astype(np.int64))


def _all_pairs(subtypes: SubtypeMixture) -> tuple[Labels, NDArray[np.float64]]:
    """Return every pair of subtypes, int64 (P, 2), and the evidence between them in nats, float64 (P,)."""
    pairs = np.column_stack(np.triu_indices(subtypes.sizes.size, 1)).astype(np.int64)
    return pairs, evidence_between(subtypes.pooled, pairs) if len(pairs) else np.zeros(0)


def evidence_between(clusters: Clusters, pairs: Labels) -> NDArray[np.float64]:
    """Return the decrease of the log joint when each pair of clusters (P, 2) is merged, in nats, float64 (P,)."""
    first, second = pairs.T
    sizes, statistics = clusters.sizes, clusters.statistics
    together = replace(clusters, sizes=sizes[first] + sizes[second], statistics=statistics[first] + statistics[second])
    apart, model = clusters.log_joint_of_each(), clusters.model
    seat = np.log(model.concentration + model.discount * (sizes.size - 1))
    return np.asarray(apart[first] + apart[second] + seat - together.log_joint_of_each(), dtype=np.float64)
