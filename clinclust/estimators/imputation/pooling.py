"""Estimates of several completed tables pooled by Rubin's rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from clinclust.arguments import NUMBER, accepting
from clinclust.arrays import Array
from clinclust.errors import InputError, refuse

if TYPE_CHECKING:
    import pandas as pd


@accepting(df_complete=NUMBER, level=NUMBER)
def pool_estimates(
    estimates: ArrayLike | Sequence[pd.Series[Any]],
    variances: ArrayLike | Sequence[pd.Series[Any]],
    *,
    df_complete: float | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Pool the estimates of m analyses of multiply imputed tables by Rubin's rules (Rubin 1987).

    With Q the mean of the estimates, U the mean of their variances and B the variance of the estimates (divisor m - 1):

        T = U + (1 + 1/m) B,  lambda = (1 + 1/m) B / T,  degrees of freedom = 1 / (1 / old + 1 / observed),
        old = (m - 1) / lambda^2,  observed = (c + 1) / (c + 3) c (1 - lambda)

    are the total variance, the share of it that is due to what is missing, and Barnard and Rubin's degrees of freedom
    (1999). c are the degrees of freedom of the analysis of a complete table; without c they are `old`. The estimates
    should be about normal: pool log odds ratios, log variances and Fisher's z of correlations.

    Parameters
    ----------
    estimates : array, shape (m,) or (m, p), or list of m Series
        p estimates from each imputation, named by the index of a Series or the columns of a DataFrame.
    variances : array, shape (m,) or (m, p), or list of m Series
        The squared standard error of each estimate.
    df_complete : float, optional
        Degrees of freedom without missing values, such as n - 1 for a mean. By default a large sample is assumed.
    level : float
        Level of the confidence intervals.

    Returns
    -------
    DataFrame
        One row per estimate: ``estimate``, ``se``, ``df``, ``t`` and two-sided ``p`` of the hypothesis 0, ``lower``,
        ``upper``, ``within`` (U), ``between`` (B), ``total`` (T), ``lambda``, ``fmi`` (fraction of missing information,
        (r + 2 / (df + 3)) / (r + 1) with r = (1 + 1/m) B / U), ``relative_efficiency`` (1 / (1 + fmi / m)), ``m``.

    Raises
    ------
    ValueError
        If there are fewer than two imputations, shapes differ, values are missing or not finite, a variance is not
        positive, or `df_complete` or `level` cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> pooled = cc.pool_estimates([2.0, 2.2, 1.8], [0.04, 0.05, 0.03], df_complete=99)
    >>> pooled[["estimate", "se", "df", "lower", "upper"]].round(3).to_numpy().tolist()
    [[2.0, 0.306, 5.339, 1.229, 2.771]]
    """
    import pandas as pd

    q, names = _table(estimates, "estimates")
    u, _ = _table(variances, "variances")
    _check(q, u, df_complete, level)
    m = len(q)
    within, between = u.mean(axis=0), q.var(axis=0, ddof=1)
    added = (1.0 + 1.0 / m) * between
    total = within + added
    share, increase = added / total, added / within
    df = _degrees_of_freedom(share, m, math.inf if df_complete is None else float(df_complete))
    information = (increase + 2.0 / (df + 3.0)) / (increase + 1.0)
    estimate, se = q.mean(axis=0), np.sqrt(total)
    t, p, margin = _tested(estimate, se, df, level)
    return pd.DataFrame(
        {
            "estimate": estimate,
            "se": se,
            "df": df,
            "t": t,
            "p": p,
            "lower": estimate - margin,
            "upper": estimate + margin,
            "within": within,
            "between": between,
            "total": total,
            "lambda": share,
            "fmi": information,
            "relative_efficiency": 1.0 / (1.0 + information / m),
            "m": m,
        },
        index=names,
    )


def _degrees_of_freedom(share: Array, m: int, complete: float) -> Array:
    """Return the degrees of freedom of Barnard and Rubin (1999, eqs. 3 and 4), float64 (p,)."""
    with np.errstate(divide="ignore"):
        old = (m - 1.0) / share**2  # infinite if all imputations gave the same estimate
    if math.isinf(complete):
        return old
    observed = (complete + 1.0) / (complete + 3.0) * complete * (1.0 - share)
    return np.asarray(1.0 / (1.0 / old + 1.0 / observed), dtype=np.float64)


def _tested(estimate: Array, se: Array, df: Array, level: float) -> tuple[Array, Array, Array]:
    """Return t, its two-sided p, and half the width of the confidence interval, each float64 (p,)."""
    from scipy.special import stdtr, stdtrit

    t = estimate / se
    return t, 2.0 * stdtr(df, -np.abs(t)), se * stdtrit(df, (1.0 + level) / 2.0)


def _table(given: Any, called: str) -> tuple[Array, Any]:
    """Return numbers as float64 (m, p), and the names of the p estimates."""
    import pandas as pd

    if isinstance(given, list | tuple) and given and all(isinstance(one, pd.Series) for one in given):
        if any(not one.index.equals(given[0].index) for one in given):
            raise InputError(f"{called}: the Series of all imputations need the same index, in the same order")
        given = pd.DataFrame([one.to_numpy() for one in given], columns=given[0].index)
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{called} must be numbers, of shape (m,) or (m, p), with m imputations") from error
    if table.ndim not in (1, 2) or table.size == 0:
        raise InputError(f"{called} must have the shape (m,) or (m, p), with m imputations, not {table.shape}")
    table = table.reshape(len(table), -1)
    return table, given.columns if isinstance(given, pd.DataFrame) else pd.RangeIndex(table.shape[1])


def _check(q: Array, u: Array, df_complete: float | None, level: float) -> None:
    problems = []
    if q.shape != u.shape:
        problems.append(f"estimates and variances must have one shape; they have {q.shape} and {u.shape}")
    if len(q) < 2:
        problems.append("estimates of at least two imputations are needed; one alone does not tell what is missing")
    problems += [
        f"{name} must be finite numbers" for name, it in (("estimates", q), ("variances", u)) if not _finite(it)
    ]
    if _finite(u) and not (u > 0.0).all():
        problems.append("variances must be above 0; give squared standard errors")
    if df_complete is not None and not df_complete > 0.0:
        problems.append(f"df_complete must be above 0, not {df_complete!r}")
    if not 0.0 < level < 1.0:
        problems.append(f"level must be above 0 and below 1, such as 0.95, not {level!r}")
    refuse(problems)


def _finite(table: Array) -> bool:
    return bool(np.isfinite(table).all())
