"""Whether there is a gap between two groups: few subjects between them, along the axis that tells them apart.

The axis is Fisher's linear discriminant of normal scores. Each subject's place on it comes from a discriminant that
was found without the subject (cross-fitting, ten folds, the mean of three foldings): a division of one population looks
like a gap to the subjects it was made from, and to no others. Silverman's test (1981, *Using kernel density estimates
to investigate multimodality*, Journal of the Royal Statistical Society B 43, 97-99) then asks whether the density of
these places has more than one peak: h is the smallest bandwidth at which the estimate has one, and p the share of
samples from this estimate, rescaled to the variance of the places, that have more at h.

This p is too large where one tail is long, as that of a severity that few have: of the axes of ten skewed severities
(60 cohorts each), 1% have a p below .05. It is too small where the top is flat, as that of a uniform severity: of 240
cohorts, 9% are below .017. Without a long tail, the dip must therefore also be larger than that of most uniform samples
(`TAIL_COUNTS`). Of 60 cohorts of each kind, a gap is seen in:

    a uniform severity, N 200 and 400 (12 measurements), 1,000, 300 (six)   .02  .02  .07  .08
    groups 3.3 SD apart, N 400; 3.6 SD, N 200; 4 SD in 2 of 8, N 200        .93  .87  .82
    a tenth 5 SD away, a fifth 4 SD, three tenths 3.5 SD; N 400             .92  .87  .70

The groups are those that are asked about. Divided anew in each fold, two diseases whose severity varies more than they
differ fall into mild and severe, between which there is no gap. Of 40 cohorts of 400 with 12 measurements and two
groups 3.3 SD apart, 72% have a gap at .02 so, and 53% divided anew; of one severity, normal or skewed, none.

A peak counts if 3% of the subjects lie between its valleys: outliers are no group.

The features are normal scores, in which a small group of high and scattered values has a peak, as liver enzymes in
cirrhosis. Ranks close a gap that one or two measurements have. Where a third of the features are measurements, it is
therefore also looked for among these alone, on their own scale: of 30 cohorts of 200 with eight measurements, of which
two tell groups 4 SD apart, 87% have a gap at .017 so, and 33% in normal scores; of 400 with 12 that differ little each,
3.3 SD in all, 93% and 87%; of one severity, normal or skewed, none.

Ranks that pile up, as those of a scale at its floor and its ceiling, have peaks of their own. Discrete features are
therefore left out of scores if they are a third or less. If they are more, h must also exceed those of cohorts drawn
from the subjects' own distribution, smoothed to one peak (`SmoothedPopulation`), in which the same axis is sought, and
the column of levels that the halves follow is left out. h, the dip and Silverman's p are each compared with a milder
level than alone (`MIXED`): together they have the errors of h above all cohorts, and more power. Of 20 cohorts of 200
with two groups 4 SD apart in mixed columns, 70% have a gap so, and 30% with a fifth of the values missing (55% and 10%
with h above all); of a uniform severity in mixed columns or scales, 1 of 240 (N 200 to 1,000; benchmarks/gaps.py).
Where it is so strong that features correlate by .6 and yes/no findings lie at its ends, it has one in 13% of 30.

All p are those of Besag and Clifford (1991, *Sequential Monte Carlo p-values*, Biometrika 78, 301-304): draws end once
enough were as extreme.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.engine.continuum.null_cohorts import (
    OnePopulation,
    in_score_steps,
    nearest_correlation,
    normal_scores,
    reliable_correlations,
    smoothed_population,
    whole_columns,
    with_expectations,
    with_unit_diagonal,
)
from clinclust.engine.kernels.modes import count_peaks, dip
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.problem.problem import Problem

_FOLDS = 10
_FOLDINGS = 3
"""How often the subjects are dealt into folds. In 120 cohorts of six kinds each (two groups 3.3 to 4 SD apart, uniform
and skewed severities; N 200 and 400, 12 measurements), two seeds disagree in 4.4% of verdicts with one folding, and in
2.2% with three or five; the rates are the same."""
_LEAST_MASS = 0.03
_NARROWEST, _WIDEST, _HALVINGS = 0.02, 2.5, 11
"""Bounds of h in standard deviations, and how often they are halved."""
_SAMPLES, _ENOUGH = 999, 30
"""Largest number of samples of Silverman's test, and as many with more peaks are enough."""
LONG_TAIL = 0.5
"""Absolute skewness of places above which one tail is long."""
TAIL_COUNTS = 0.6
"""Multiple of Silverman's p with a long tail, and of the p of h among cohorts: at a level of .03, .05 is enough."""
FLAT_TOP = 1.75, 0.1
"""Multiples of Silverman's p without a long tail, and of the p of the dip: at a level of .03, they are compared with
.017 and .3. A dip at .2 or .1 loses groups (3.3 SD, N 400: .90 and .78)."""
MIXED = 1.0, 0.3
"""The same where h is compared with cohorts too: .03 and .1. Of groups as above, a dip at .1 loses none."""
_COHORTS, _ENOUGH_COHORTS = 60, 3
"""Largest number of cohorts with which h is compared, and as many with as large an h are enough."""
_FEW_DISCRETE = 1.0 / 3.0
"""Share of discrete features up to which they are left out of scores, so that no cohorts need be drawn."""
_TELLS = 0.2
"""Share of variance within two halves below which a column of levels tells them: at .19, 19 of 20 have the level of
their half. It makes a gap by itself, as sex does between men and women."""
_LEAST_MEASURED = 1.0 / 3.0
"""Least share of measurements among the features."""
_SHRINKAGE = 0.1
"""Share of the diagonal in the covariance matrix within the two groups (Friedman 1989)."""
_ENDS = 4.0
"""Where measurements are cut, in robust standard deviations from the median, half the distance of the quantiles .16 and
.84: gross errors would be the axis."""


def places_on_axis(scores: Array, halves: Labels, rng: np.random.Generator, n_foldings: int = 1) -> Array:
    """Return the place of each subject along the axis between two groups, found without the subject, float64 (M,).

    `scores` are those of the features (M, D), NaN = missing; missing ones have their expectation given the others.
    """
    filled = scores
    if np.isnan(scores).any():
        correlation = nearest_correlation(with_unit_diagonal(reliable_correlations(scores)))
        filled = with_expectations(scores, correlation)
    places, first = np.zeros(len(filled)), None
    for number in range(n_foldings * _FOLDS):
        if number % _FOLDS == 0:
            fold = rng.permutation(len(filled)) % _FOLDS
        others, left_out = np.flatnonzero(fold != number % _FOLDS), np.flatnonzero(fold == number % _FOLDS)
        if not 0 < halves[others].sum() < others.size:
            return np.zeros(len(filled))
        axis, middle, spread = _discriminant(filled[others], halves[others])
        first = axis if first is None else first
        sign = -1.0 if float((axis * first).sum()) < 0.0 else 1.0
        places[left_out] += sign * (np.einsum("ij,j->i", filled[left_out], axis) - middle) / spread / n_foldings
    return places


def _discriminant(scores: Array, labels: Labels) -> tuple[Array, float, float]:
    """Return the discriminant axis of two groups (D,), the place midway between them, and the spread within them."""
    groups = [scores[labels == group] for group in (0, 1)]
    means = [group.mean(axis=0) for group in groups]
    within = np.zeros((scores.shape[1], scores.shape[1]))
    for group, mean in zip(groups, means, strict=True):
        off = group - mean
        within += np.einsum("ij,ik->jk", off, off)
    within /= max(len(scores) - 2, 1)
    within = (1.0 - _SHRINKAGE) * within + np.diag(_SHRINKAGE * np.diag(within) + 1e-9)
    axis = np.linalg.solve(within, means[1] - means[0])
    middle = float((axis * (means[0] + means[1])).sum()) / 2.0
    return axis, middle, max(float(np.sqrt(np.einsum("j,jk,k->", axis, within, axis))), 1e-12)


def distance_between(columns: Array, halves: Labels, rng: np.random.Generator) -> float:
    """Return how far apart two halves, int64 (M,), are on the axis between them, in standard deviations within them."""
    places = places_on_axis(columns, halves, rng)
    of_both = [places[halves == half] for half in (0, 1)]
    (first, second), variances = ([summary(part) for part in of_both] for summary in (np.mean, np.var))
    return float((second - first) / max(np.sqrt(np.mean(variances)), 1e-12))


def p_of_one_peak(places: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Return Silverman's p of one peak of places (M,), and their critical bandwidth in standard deviations."""
    spread = float(places.std())
    if spread <= 0.0:
        return 1.0, 0.0
    x = (places - places.mean()) / spread
    h = critical_bandwidth(x)
    shrink = 1.0 / np.sqrt(1.0 + h**2)

    def has_more() -> bool:
        sample = x[rng.integers(x.size, size=x.size)]
        mean = sample.mean()
        return count_peaks(mean + (sample - mean + h * rng.standard_normal(x.size)) * shrink, h, _LEAST_MASS) > 1

    return share_as_extreme(has_more, _SAMPLES, _ENOUGH), h


def share_as_extreme(draw: Callable[[], bool], most: int, enough: int) -> float:
    """Return the share of draws that are as extreme, which `draw` says of one; they end once enough were."""
    n_extreme = 0
    for n_drawn in range(1, most + 1):
        n_extreme += draw()
        if n_extreme == enough:
            return n_extreme / n_drawn
    return (n_extreme + 1) / (most + 1)


def p_of_flat_top(places: Array, rng: np.random.Generator) -> float:
    """Return the share of uniform samples with as large a dip as places (M,)."""
    distance = dip(np.sort(places))
    return share_as_extreme(lambda: dip(np.sort(rng.random(places.size))) >= distance, _SAMPLES, _ENOUGH)


def p_of_no_gap(
    places: Array, rng: np.random.Generator, level: float, counts: tuple[float, float] = FLAT_TOP
) -> tuple[float, float]:
    """Return p of no gap among places (M,), at this level (`TAIL_COUNTS`, `FLAT_TOP`), and their critical bandwidth."""
    p, h = p_of_one_peak(places, rng)
    from_mean = places - places.mean()
    if abs(float((from_mean**3).mean())) > LONG_TAIL * float(from_mean.std()) ** 3:
        return min(TAIL_COUNTS * p, 1.0), h
    p = min(counts[0] * p, 1.0)
    return (p if p >= level else max(p, counts[1] * p_of_flat_top(places, rng))), h


def critical_bandwidth(x: Array) -> float:
    """Return the smallest bandwidth at which the density estimate of standardised places (M,) has one peak."""
    low, high = _NARROWEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if count_peaks(x, middle, _LEAST_MASS) <= 1 else (middle, high)
    return high


def p_of_gap(
    population: OnePopulation,
    halves: Labels,
    divide: Callable[[Problem], Labels],
    rng: np.random.Generator,
    level: float,
) -> float:
    """Return p of no gap along the axis between the two halves, int64 (M,), of the subjects of a population.

    Above the level, the p of the places alone. `divide` divides a drawn cohort into two.
    """
    discrete = is_discrete(population.part.cohort)
    has_few = discrete.mean() <= _FEW_DISCRETE
    n_foldings = _FOLDINGS if has_few else 1  # h of one folding is compared with those of one in each cohort
    places = places_on_axis(find_telling_scores(population.scores, discrete, halves), halves, rng, n_foldings)
    p, h = p_of_no_gap(places, rng, level, FLAT_TOP if has_few else MIXED)
    if has_few or p >= level:
        return p
    of_one_peak = smoothed_population(population, rng)

    def has_wider() -> bool:
        drawn, scores = of_one_peak.draw(rng)
        parts = divide(drawn)
        places = places_on_axis(find_telling_scores(scores, discrete, parts), parts, rng)
        spread = float(places.std())
        return spread > 0.0 and critical_bandwidth((places - places.mean()) / spread) >= h

    return max(p, TAIL_COUNTS * share_as_extreme(has_wider, _COHORTS, _ENOUGH_COHORTS))


def is_discrete(cohort: EncodedCohort) -> NDArray[np.bool_]:
    """Return whether each feature is discrete, or has a discrete part, (D,)."""
    n_discrete = cohort.arrays.codes.shape[1]
    return np.array([min(parts) < n_discrete for parts in whole_columns(cohort)[1]])


def are_measurements(discrete: NDArray[np.bool_]) -> bool:
    """Return whether enough features are no discrete ones, (D,), for a gap to be looked for among these alone."""
    return bool(np.mean(~discrete) >= _LEAST_MEASURED)


def find_telling_scores(scores: Array, discrete: NDArray[np.bool_], halves: Labels) -> Array:
    """Return the scores (M, D) in which a gap between two halves, int64 (M,), is looked for.

    Without discrete features, (D,), if they are few, or else without the one that tells the halves nearly (`_TELLS`).
    """
    if discrete.mean() <= _FEW_DISCRETE:
        return scores[:, ~discrete]
    scattered, *within = (
        np.ma.masked_invalid(part).var(axis=0).filled(0.0) * len(part)
        for part in (scores, scores[halves == 0], scores[halves == 1])
    )
    share = np.where(discrete & (scattered > 0.0), sum(within) / np.maximum(scattered, 1e-12), 1.0)
    return np.delete(scores, share.argmin(), axis=1) if share.min() < _TELLS and share.size > 1 else scores


def scores_on_own_scales(cohort: EncodedCohort, discrete: NDArray[np.bool_]) -> Array:
    """Return the features of a cohort, float64 (N, D), NaN = missing: measurements on their own scale, else ranks.

    Measurements are cut far from the median, and then standardised; of other features these are normal scores.
    """
    scores = whole_columns(cohort)[0]
    for place, column in enumerate(scores):
        if discrete[place]:
            scores[place] = normal_scores(column)
        elif not np.isnan(column).all():
            low, middle, high = np.nanquantile(column, [0.16, 0.5, 0.84])
            reach = _ENDS * ((high - low) / 2.0 or np.nanstd(column))
            cut = np.clip(column, middle - reach, middle + reach)
            scores[place] = in_score_steps((cut - np.nanmean(cut)) / (np.nanstd(cut) or 1.0))
    return np.column_stack(scores)


def p_of_gap_in_measurements(cohort: EncodedCohort, halves: Labels, rng: np.random.Generator, level: float) -> float:
    """Return p of no gap along the axis between two halves, int64 (M,), on the scale of the measurements.

    1 with too few of them.
    """
    discrete = is_discrete(cohort)
    if not are_measurements(discrete):
        return 1.0
    scores = scores_on_own_scales(cohort, discrete)[:, ~discrete]
    return p_of_no_gap(places_on_axis(scores, halves, rng, _FOLDINGS), rng, level)[0]
