"""Simulated mixed cohorts with known subtypes, of any size.

Fifty columns as a clinical cohort has them: 20 yes/no findings, 15 five-level scales, 5 nominal features with four
levels, 5 counts and 5 measurements. Of each kind 60% differ between the subtypes. There are five subtypes, with
weights .35, .3, .2, .1 and .05.

A scale is a normal latent variable cut at four thresholds: its levels are ordered, but no binomial. It is therefore
declared as categorical.

How far the subtypes are apart is set, for each seed anew, so that an oracle who knows every true parameter reaches a
given adjusted Rand index. A seed stands for a population: cohorts of different sizes with the same seed come from the
same one, and a cohort with missing values is the complete one with some of them erased.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, ndtri
from sklearn.metrics import adjusted_rand_score

from clinclust import Feature, FeatureSchema

__all__ = ["WEIGHTS", "PeerCohort", "peer_cohort", "peer_schema"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

WEIGHTS = np.array([0.35, 0.3, 0.2, 0.1, 0.05])
"""(K,) share of each subtype."""

N_BINARY, N_SCALES, N_NOMINAL, N_COUNTS, N_GAUSSIAN = 20, 15, 5, 5, 5
SCALE_LEVELS = ("1", "2", "3", "4", "5")
NOMINAL_LEVELS = ("a", "b", "c", "d")

_INFORMATIVE = 0.6
_CALIBRATION_SUBJECTS = 20_000
_BISECTIONS = 12


@dataclass(frozen=True)
class PeerCohort:
    """A simulated cohort and what is known about it."""

    frame: pd.DataFrame
    """(N, 50) 0 and 1, text levels, counts, measurements; NaN or None where missing."""
    schema: FeatureSchema
    groups: Labels
    """(N,) the true subtype of each subject, 0 .. 4."""
    oracle: Labels
    """(N,) the most probable subtype of each subject, given its observed values and all true parameters."""

    @property
    def oracle_ari(self) -> float:
        """The adjusted Rand index of the oracle: what to expect from the best method at most."""
        return float(adjusted_rand_score(self.groups, self.oracle))


@dataclass(frozen=True)
class _Population:
    """The true parameters of the five subtypes."""

    probabilities: tuple[Array, ...]
    """For each discrete feature the probability of each level, (K, L)."""
    rates: Array
    """(5, K) means of the counts."""
    means: Array
    """(5, K) means of the measurements, whose standard deviation within a subtype is 1."""

    def draw(self, n_subjects: int, rng: np.random.Generator) -> tuple[Labels, Array]:
        """Return subtypes (N,) and values (N, 50): codes from 0 of the discrete features, counts, measurements."""
        groups = rng.choice(WEIGHTS.size, size=n_subjects, p=WEIGHTS)
        columns = [_draw_levels(table, groups, rng) for table in self.probabilities]
        columns += [rng.poisson(rate[groups]) for rate in self.rates]
        columns += [rng.normal(mean[groups]) for mean in self.means]
        return groups, np.column_stack(columns).astype(np.float64)

    def most_probable(self, values: Array) -> Labels:
        """Return argmax over k of ln w_k + sum over the observed features of ln p(x_d | k), int64 (N,)."""
        scores = np.tile(np.log(WEIGHTS), (values.shape[0], 1))
        for column, table in zip(values.T, self.probabilities, strict=False):
            log_table = np.vstack([np.log(table).T, np.zeros(WEIGHTS.size)])  # the last row: missing
            scores += log_table[np.where(np.isnan(column), table.shape[1], column).astype(np.int64)]
        start = len(self.probabilities)
        for column, rate in zip(values.T[start:], self.rates, strict=False):
            log_predictive = column[:, None] * np.log(rate) - rate - gammaln(column + 1.0)[:, None]
            scores += np.where(np.isnan(log_predictive), 0.0, log_predictive)
        for column, mean in zip(values.T[start + len(self.rates) :], self.means, strict=True):
            log_predictive = -0.5 * (column[:, None] - mean) ** 2
            scores += np.where(np.isnan(log_predictive), 0.0, log_predictive)
        best: Labels = scores.argmax(axis=1).astype(np.int64)
        return best


def peer_cohort(n_subjects: int, seed: int, *, missing: float = 0.0, oracle_ari: float = 0.88) -> PeerCohort:
    """Draw a cohort.

    Parameters
    ----------
    n_subjects : int
        N.
    seed : int
        Of the population and of everything drawn from it.
    missing : float
        Share of the values that are erased, completely at random, in [0, 1).
    oracle_ari : float
        Adjusted Rand index, in (0, 1), that the oracle reaches in a large complete cohort of this population.
    """
    population = _population(seed, _separation(seed, oracle_ari))
    groups, values = population.draw(n_subjects, np.random.default_rng([seed, 1]))
    erased = np.random.default_rng([seed, 2]).random(values.shape) < missing
    values[erased] = np.nan
    return PeerCohort(_frame(values), peer_schema(), groups.astype(np.int64), population.most_probable(values))


def peer_schema() -> FeatureSchema:
    """Return the schema of these cohorts; the scales are categorical."""
    return FeatureSchema(
        [
            *(Feature(name=f"finding_{j}", likelihood="bernoulli") for j in range(N_BINARY)),
            *(Feature(name=f"scale_{j}", likelihood="categorical", levels=SCALE_LEVELS) for j in range(N_SCALES)),
            *(Feature(name=f"nominal_{j}", likelihood="categorical", levels=NOMINAL_LEVELS) for j in range(N_NOMINAL)),
            *(Feature(name=f"count_{j}", likelihood="poisson") for j in range(N_COUNTS)),
            *(Feature(name=f"measurement_{j}", likelihood="gaussian") for j in range(N_GAUSSIAN)),
        ]
    )


@lru_cache(maxsize=64)
def _separation(seed: int, oracle_ari: float) -> float:
    """Return the separation at which the oracle reaches this index in a large cohort, by bisection."""
    low, high = 0.0, 4.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        population = _population(seed, middle)
        groups, values = population.draw(_CALIBRATION_SUBJECTS, np.random.default_rng([seed, 3]))
        if adjusted_rand_score(groups, population.most_probable(values)) < oracle_ari:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _population(seed: int, separation: float) -> _Population:
    """Return a population; the same seed gives the same directions, and the separation only their length."""
    rng = np.random.default_rng([seed, 0])

    def effects(n_features: int, n_levels: int = 1) -> Array:
        """Return (n_features, K, n_levels) shifts, zero for the features that tell nothing."""
        shifts = rng.normal(size=(n_features, WEIGHTS.size, n_levels))
        shifts[round(_INFORMATIVE * n_features) :] = 0.0
        return separation * shifts

    probabilities = []
    for shift in effects(N_BINARY)[:, :, 0]:
        yes = 1.0 / (1.0 + np.exp(-rng.normal(0.0, 1.0) - shift))
        probabilities.append(np.column_stack([1.0 - yes, yes]))
    for shift in effects(N_SCALES)[:, :, 0]:
        thresholds = ndtri(rng.dirichlet(np.full(len(SCALE_LEVELS), 5.0)).cumsum()[:-1])
        below = ndtr(thresholds - shift[:, None])
        probabilities.append(np.diff(below, axis=1, prepend=0.0, append=1.0).clip(1e-12))
    for shift in effects(N_NOMINAL, len(NOMINAL_LEVELS)):
        odds = np.exp(rng.normal(0.0, 0.5, len(NOMINAL_LEVELS)) + shift)
        probabilities.append(odds / odds.sum(axis=1, keepdims=True))
    # A log rate counts for half: at a mean of 4, a count's standard deviation is half its mean.
    rates = rng.uniform(1.0, 6.0, (N_COUNTS, 1)) * np.exp(0.5 * effects(N_COUNTS)[:, :, 0])
    return _Population(tuple(probabilities), rates, effects(N_GAUSSIAN)[:, :, 0])


def _draw_levels(table: Array, groups: Labels, rng: np.random.Generator) -> Labels:
    """Return a level, counted from 0, for each subject, by inverting the distribution function of its subtype."""
    cumulative = table.cumsum(axis=1)[:, :-1]
    uniform = rng.random(groups.size)
    levels = np.zeros(groups.size, dtype=np.int64)
    for threshold in cumulative.T:
        levels += uniform > threshold[groups]
    return levels


def _frame(values: Array) -> pd.DataFrame:
    """Return the values as a table: levels as text, the rest as numbers."""
    columns: dict[str, object] = {}
    for feature, column in zip(peer_schema().features, values.T, strict=True):
        if feature.levels is None:
            columns[feature.name] = column
        else:
            texts = np.array([*feature.levels, None], dtype=object)
            columns[feature.name] = texts[np.where(np.isnan(column), len(feature.levels), column).astype(np.int64)]
    return pd.DataFrame(columns)
