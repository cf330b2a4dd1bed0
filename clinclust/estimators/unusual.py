"""Subjects whose values are improbable in their own subtype."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import FRAME, MODEL, RANDOM_STATE, accepting
from clinclust.arrays import Array, Labels, RandomState
from clinclust.engine.problem.encoding import model_values
from clinclust.estimators.explanation import value_text
from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.estimators.subtype_model import require_search
from clinclust.schema.feature import of_wholes

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.likelihoods.likelihood import Likelihood

_Draws: TypeAlias = Callable[[int, np.random.Generator], Array]  # log predictives, float64 (n,), of n drawn values

_EXPECTED_BY_CHANCE = 0.05
"""Expected number of unusual subjects under the model."""
_SCREENED, _FIRST = 0.01, 400
"""The p up to which subjects are examined further, and the number of draws of the screening."""
MOST_LISTED = 30
"""Largest number of subjects that are listed, the least probable ones."""
_LEAST_DRAWS, _MOST_DRAWS, _PER_SUBJECT = 10_000, 200_000, 20
"""Number of further draws for each subject of the cohort, within bounds: p can fall just below 0.05 / N."""
_AT_ONCE = 10_000
_FEW_EDGES = 8
_ALL_LEVELS = 1.0 - 1e-12
"""The probability of some values from which on they are taken for all that a feature can have."""
_FEATURES = 3
_COLUMNS = ["subject", "subtype", "compared_with", "p", "log_density", "expected", "features"]
NOBODY = pd.DataFrame(columns=_COLUMNS)
"""The empty table of `unusual_of`."""


@accepting(model=MODEL, frame=FRAME, random_state=RANDOM_STATE)
def unusual_subjects(model: SubtypeModel, frame: pd.DataFrame, *, random_state: RandomState = 0) -> pd.DataFrame:
    """Return the subjects whose values are too improbable in their own subtype to be expected by chance.

    The log density of a subject under its cluster without the subject is compared with draws from the same predictive,
    with the same values missing: p is the share of less probable draws. Subjects in clusters of fewer than 5 are
    compared with their most probable cluster of 5 or more. A subject is unusual if p times N is at most 0.05; at most
    30 are listed. Features are independent given the cluster; dependence gives more unusual subjects. Outlying values
    (`MAPDP.outliers_`) are left out.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of the draws.

    Returns
    -------
    DataFrame
        One row per unusual subject, the least probable first: subject (the index of `frame`), subtype (from 1), the
        subtype of the comparison, p, log_density in nats, expected (the mean of the draws), and the features that
        contribute most, with their values.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, or `frame` is not its cohort.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(50, 5, (80, 3)), columns=["age", "weight", "pulse"])
    >>> frame.loc[7, ["age", "weight"]] = 80.0, 75.0
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, random_state=0, progress=False).fit(frame)
    >>> cc.unusual_subjects(model, frame)["subject"].tolist()
    [7]
    """
    from clinclust.estimators.fitted_cohort import cohort_of

    fit = require_search(model, "unusual_subjects")
    found = unusual_of(fit, cohort_of(model, frame, stacklevel=3).table, np.random.default_rng(random_state))
    return found.reset_index(drop=True)


def unusual_of(fit: Fit, cohort: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table of `unusual_subjects`, indexed by positions in the order of the fit."""
    if not fit.clusters_.encoding.features:
        return NOBODY
    reference = _reference(fit, cohort)
    columns = _columns(fit, cohort, reference)
    terms = np.array([column.left_out_logs() for column in columns]).reshape(len(columns), len(cohort))
    density = terms.sum(axis=0)
    positions, rows = [], []
    for subject in _screened(columns, density, reference, rng).tolist():
        found = _compared(columns, subject, density, rng)
        if found is not None:
            shortfall = found.expected_terms - terms[:, subject]
            named = _most_unusual(fit, cohort, subject, shortfall)
            subtypes = int(fit.labels_[subject]) + 1, int(fit.subtype_of_[reference[subject]]) + 1
            expected = float(found.expected_terms.sum())
            positions.append(subject)
            rows.append((cohort.index[subject], *subtypes, found.p, float(density[subject]), expected, named))
    table = pd.DataFrame(rows, columns=_COLUMNS, index=positions)
    return table.sort_values(["p", "log_density"], kind="stable")


class _Values(NamedTuple):
    """Values (n,) of a feature, their sufficient statistics (n, S), and their log base measure (n,)."""

    values: Array
    statistics: Array
    base: Array


@dataclass(frozen=True)
class _Column:
    """The values of a feature, and its statistics in the clusters.

    Attributes
    ----------
    values : float64 (N,)
        On the encoded scale; NaN: missing or outlying.
    theta : float64 (H,)
        Hyperparameters of the prior.
    sums : float64 (K, S)
        Sufficient statistics of the clusters.
    labels : int64 (N,)
        The cluster of comparison of each subject.
    is_counted : bool (N,)
        Whether its statistics include the value of the subject.
    known : dict
        What draws, by the cluster and the value left out.
    """

    likelihood: Likelihood
    values: Array
    theta: Array
    sums: Array
    labels: Labels
    is_counted: NDArray[np.bool_]
    known: dict[tuple[int, float | None], _Draws] = field(default_factory=dict)

    @cached_property
    def levels(self) -> _Values | None:
        """The levels of a discrete feature."""
        levels = self.likelihood.levels(self.values)
        return None if levels is None else self._with_statistics(levels)

    def left_out_logs(self) -> Array:
        """Return ln p(x | the cluster of the subject without it), float64 (N,); 0 where the value is missing."""
        own = self.likelihood.statistics(self.values) * self.is_counted[:, None]
        without = self.likelihood.prior.posterior(self.theta[None, :], self.sums[self.labels] - own)
        return self._logs(without, self._with_statistics(self.values))

    def of_cluster(self, cluster: int) -> _Draws:
        """Return what draws the log predictives of values of a cluster with all its subjects."""
        return self._draws(self.likelihood.prior.posterior(self.theta, self.sums[cluster]))

    def without(self, subject: int) -> _Draws:
        """Return the same for the cluster of a subject without it; they are 0 where its value is missing."""
        value = self.values[subject : subject + 1]
        if np.isnan(value[0]):
            return lambda n, rng: np.zeros(n)
        of = int(self.labels[subject]), float(value[0]) if self.is_counted[subject] else None
        if of not in self.known:
            own = self.likelihood.statistics(value)[0] * self.is_counted[subject]
            self.known[of] = self._draws(self.likelihood.prior.posterior(self.theta, self.sums[of[0]] - own))
        return self.known[of]

    def _draws(self, posterior: Array) -> _Draws:
        if self.levels is not None:
            logs = self._logs(posterior[None, :], self.levels)
            up_to = np.exp(logs).cumsum()
            if up_to[-1] >= _ALL_LEVELS:
                return lambda n, rng: logs[_above(up_to[:-1], rng.random(n))]
        draw, known = self.likelihood.draw, self._with_statistics
        return lambda n, rng: self._logs(posterior[None, :], known(draw(posterior, n, rng)))

    def _with_statistics(self, values: Array) -> _Values:
        likelihood = self.likelihood
        return _Values(values, likelihood.statistics(values), likelihood.log_base_measure(values, self.theta))

    def _logs(self, posterior: Array, of: _Values) -> Array:
        prior = self.likelihood.prior
        rise = prior.log_normalizer(prior.posterior(posterior, of.statistics)) - prior.log_normalizer(posterior)
        return np.where(np.isnan(of.values), 0.0, rise + of.base)


def _above(edges: Array, values: Array) -> Labels:
    """Return how many of the ascending edges (L,) are not above each value, int64 (n,)."""
    if edges.size > _FEW_EDGES:
        return np.searchsorted(edges, values, side="right")
    return sum((values >= edge for edge in edges), start=np.zeros(values.size, dtype=np.int64))  # four times as fast


def _reference(fit: Fit, cohort: pd.DataFrame) -> Labels:
    """Return the cluster of comparison of each subject, int64 (N,): its own, unless that has few subjects."""
    clusters, labels = fit.clusters_, fit.cluster_labels_
    is_large = clusters.sizes >= FEW_SUBJECTS
    if not is_large.any():
        return labels
    scores = clusters.scores(model_values(cohort, clusters.encoding.features), coarsened=False)[:, :-1]
    nearest = np.where(is_large, scores, -np.inf).argmax(axis=1)
    return np.asarray(np.where(is_large[labels], labels, nearest), dtype=np.int64)


def _columns(fit: Fit, cohort: pd.DataFrame, reference: Labels) -> list[_Column]:
    clusters: Clusters = fit.clusters_
    encoding, values = clusters.encoding, model_values(cohort, clusters.encoding.features)
    is_own = reference == fit.cluster_labels_
    found = []
    places = fit.schema_.places(encoding.features)
    for index, (feature, likelihood, place) in enumerate(zip(encoding.features, encoding.alone, places, strict=True)):
        column = (values[feature.name] - encoding.centres[index]) / encoding.scales[index]
        column = np.where(fit.outliers_[:, place], np.nan, column)
        theta, sums = clusters.of_feature(index)
        found.append(_Column(likelihood, column, theta, sums, reference, is_own & clusters.included[index]))
    return found


def _screened(columns: list[_Column], density: Array, labels: Labels, rng: np.random.Generator) -> Labels:
    """Return the subjects less probable than nearly all of a few draws, the least probable first."""
    share, distance = np.ones(labels.size), np.zeros(labels.size)
    observed = np.array([~np.isnan(column.values) for column in columns]).reshape(len(columns), labels.size)
    for cluster in np.unique(labels).tolist():
        drawn = np.array([column.of_cluster(cluster)(_FIRST, rng) for column in columns])
        everybody = np.flatnonzero(labels == cluster)
        for first in range(0, everybody.size, _AT_ONCE):
            members = everybody[first : first + _AT_ONCE]
            sums = observed[:, members].T.astype(np.float64) @ drawn
            share[members] = (sums <= density[members, None]).mean(axis=1)
            distance[members] = (sums.mean(axis=1) - density[members]) / np.maximum(sums.std(axis=1), 1e-12)
    found = np.flatnonzero(share <= _SCREENED)
    return found[np.argsort(-distance[found], kind="stable")][:MOST_LISTED]


@dataclass(frozen=True)
class _Compared:
    p: float
    expected_terms: Array


def _compared(columns: list[_Column], subject: int, density: Array, rng: np.random.Generator) -> _Compared | None:
    """Return the p of a subject and the mean log predictive of each feature; None as soon as p cannot be small."""
    n_draws = int(np.clip(_PER_SUBJECT * density.size, _LEAST_DRAWS, _MOST_DRAWS))
    most_p = _EXPECTED_BY_CHANCE / density.size
    n_lower, sums = 0, np.zeros(len(columns))
    draws = [column.without(subject) for column in columns]
    done = 0
    while done < n_draws:
        n = min(max(done, _FIRST), _AT_ONCE, n_draws - done)
        drawn = np.zeros(n)
        done += n
        for place, draw in enumerate(draws):
            of_feature = draw(n, rng)
            sums[place] += of_feature.sum()
            drawn += of_feature
        n_lower += int((drawn <= density[subject] + 1e-9).sum())
        if (1 + n_lower) / (1 + n_draws) > most_p:
            return None
    return _Compared((1 + n_lower) / (1 + n_draws), sums / n_draws)


def _most_unusual(fit: Fit, cohort: pd.DataFrame, subject: int, shortfall: Array) -> str:
    """Return the least probable features and their values."""
    features, shortfall = of_wholes(fit.clusters_.encoding.features, shortfall)
    chosen = [place for place in np.argsort(-shortfall, kind="stable")[:_FEATURES] if shortfall[place] > 0.0]
    return "; ".join(
        f"{features[place].title} {value_text(cohort[features[place].name].iloc[subject])}" for place in chosen
    )
