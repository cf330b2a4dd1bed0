"""A conditional test: whether a feature differs between subtypes by more than its relation to other features explains.

Subtypes found from features on which another one depends differ in that one too, through these alone. So the feature is
regressed on the others, and the subtypes are tested in an analysis of covariance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.comparisons.frame import is_missing

_SUBJECTS_PER_COLUMN = 5
"""With more related columns than this allows, those that correlate most are adjusted for."""
_SUBJECTS_PER_FEATURE = 20
"""As many of the other features as this allows are adjusted for, related or not: the test is then exact where features
are jointly normal."""
_LEAST_RELATED = 1.0
"""Further columns with a smaller n r^2 inside subtypes are not adjusted for one by one: all of a wide table would
explain every subtype."""
_LEAST_DF = 3


class GivenOthers(NamedTuple):
    """The test of one feature given the others."""

    p: float
    """NaN = untestable; 1 if, given the others, the subtypes differ the other way."""
    strongest: int
    """The column of the others that correlates most with the feature inside subtypes; -1 if there is none."""
    correlation: float


NOTHING = GivenOthers(np.nan, -1, np.nan)


def given_others(own: Array, others: Array, groups: Labels) -> GivenOthers:
    """Return the smallest p of the columns (N, C) of a feature, times C, given columns (N, D) of others; NaN = missing.

    Subjects of groups (N,) below 0 take no part. The N/20 others that correlate most are adjusted for, further ones and
    squares where n r^2 inside groups is above 1, and the sum of all others weighed by r (the first component of partial
    least squares). Their missing values are the means of the groups.
    """
    taking_part = groups >= 0
    member = np.eye(int(groups.max()) + 1)[groups[taking_part]]
    member = member[:, member.any(axis=0)]
    own, others = own[taking_part], others[taking_part]
    if member.shape[1] < 2 or not others.size:
        return NOTHING
    centred = others - np.nanmean(np.where(np.isnan(others).all(axis=0), 0.0, others), axis=0)
    columns = np.column_stack([centred, centred**2])
    found = [_of_column(column, columns, member, others.shape[1]) for column in own.T]
    tested = [each for each in found if not is_missing(each.p)]
    if not tested:
        return NOTHING
    best = min(tested)
    return best._replace(p=min(1.0, best.p * own.shape[1]))


def _inside(columns: Array, member: Array) -> tuple[Array, Array]:
    """Return the deviations of columns (n, D) from the means of groups, 0 where missing, and these means, (n, D)."""
    seen = ~np.isnan(columns)
    means = (member.T @ np.where(seen, columns, 0.0)) / np.maximum(member.T @ seen, 1.0)
    return np.where(seen, columns - member @ means, 0.0), member @ means


def _of_column(column: Array, others: Array, member: Array, n_others: int) -> GivenOthers:
    from scipy.special import fdtrc

    seen = ~np.isnan(column)
    if not seen.any():
        return NOTHING
    member = member[seen][:, member[seen].any(axis=0)]
    values = column[seen]
    inside, means = _inside(others[seen], member)
    own, raw = _inside(values[:, None], member)
    lengths = np.sqrt((inside**2).sum(axis=0) * (own**2).sum())
    r = np.where(lengths > 0.0, (own.T @ inside)[0] / np.maximum(lengths, 1e-300), 0.0)
    most = max(values.size // _SUBJECTS_PER_COLUMN - member.shape[1], 1)
    strength = r**2 * values.size
    strength[np.argsort(-strength[:n_others], kind="stable")[: values.size // _SUBJECTS_PER_FEATURE]] = np.inf
    related = np.count_nonzero(strength > _LEAST_RELATED)
    at = np.sort(np.argsort(-strength, kind="stable")[: min(most, related)])
    adjusting = inside + means
    scales = np.sqrt((inside[:, :n_others] ** 2).sum(axis=0))
    along = adjusting[:, :n_others] @ (r[:n_others] / np.where(scales > 0.0, scales, 1.0))
    adjusting = np.column_stack([adjusting[:, at], along])
    adjusting = adjusting - adjusting.mean(axis=0)
    slopes, rank, left = _fitted(np.column_stack([member, adjusting]), values)
    _, rank_without, left_without = _fitted(np.column_stack([np.ones(values.size), adjusting]), values)
    df, df2 = rank - rank_without, values.size - rank
    if df < 1 or df2 < _LEAST_DF or left <= 0.0:
        return NOTHING
    adjusted = member @ slopes[: member.shape[1]]
    same_way = float((raw[:, 0] - raw.mean()) @ (adjusted - adjusted.mean())) > 0.0
    p = float(fdtrc(df, df2, (left_without - left) / df / (left / df2))) if same_way else 1.0
    strongest = int(np.abs(r[:n_others]).argmax())
    return GivenOthers(p, strongest, float(r[strongest]))


def _fitted(columns: Array, values: Array) -> tuple[Array, int, float]:
    """Return the coefficients, the rank, and the squares left of a regression."""
    slopes, _, rank, _ = np.linalg.lstsq(columns, values)
    return np.asarray(slopes, dtype=np.float64), int(rank), float(((values - columns @ slopes) ** 2).sum())
