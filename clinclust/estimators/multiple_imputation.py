"""Multiple imputations of a cohort, and Rubin's rules to pool analyses of them.

The imputations are proper (Rubin 1987, *Multiple imputation for nonresponse in surveys*): a Markov chain draws the
partition given the observed values; then the parameters of each cluster, and the missing values, are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import NUMBER, accepting
from clinclust.compiled import announcing_compilation
from clinclust.engine.problem.blocks import members_of_chains
from clinclust.engine.problem.posterior import clusters_of, partition_of
from clinclust.engine.problem.predictives import draw_in_block, drawn_moments, encoded_block
from clinclust.engine.sampling.chain import Chain
from clinclust.engine.search.threads import SearchCancelled
from clinclust.errors import CohortError, InputError
from clinclust.estimators.fitted_cohort import cohort_of, fitted_problem_of_all_features, rows_of_the_fit, with_selected
from clinclust.estimators.imputed_parts import cells_of, with_cells
from clinclust.estimators.subtype_model import require_search
from clinclust.schema.parts import pairs_of_parts

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_FIRST = 5
"""Rounds of sweeps before the first draw."""


def multiple_imputations(
    model: SubtypeModel, frame: pd.DataFrame, m: int, n_sweeps: int, rng: np.random.Generator, cancelled: Event
) -> list[pd.DataFrame]:
    """Implement `Prediction.multiple_imputations`; raise SearchCancelled if `cancelled` is set."""
    fit = require_search(model, "multiple_imputations")
    rows = _rows(model, fit, frame)
    seen = fit.schema_.validate(frame, warn=False)
    with announcing_compilation():
        draws = _draws(fit, seen.iloc[rows], m, n_sweeps, rng, cancelled)
        return [_completed(seen, clusters, _in_rows(labels, rows), rng) for clusters, labels in draws]


def _rows(model: SubtypeModel, fit: Fit, frame: pd.DataFrame) -> Labels:
    """Return the row of each subject of the fit, int64 (N,); raise if the table is not its cohort."""
    rows = rows_of_the_fit(fit, frame)
    if rows is None:
        try:
            cohort_of(model, frame)  # says why it is not the cohort
        except CohortError:
            raise
        except InputError as error:
            raise InputError(f"frame must be the cohort of the fit: {error}") from error
        raise AssertionError("a table without rows of the fit is no cohort")
    return rows


def _draws(
    fit: Fit, cohort: pd.DataFrame, m: int, n_sweeps: int, rng: np.random.Generator, cancelled: Event
) -> Iterator[tuple[Clusters, Labels]]:
    """Yield m partitions of the cohort: their clusters, and the cluster of each subject, int64 (N,)."""
    whole, included = fitted_problem_of_all_features(fit, cohort, fit.coarsening_)
    problem = with_selected(whole, included)
    order = whole.cohort.order
    chain = Chain(problem, fit.cluster_labels_[order], rng)
    for number in range(m):
        for _ in range(n_sweeps * (1 if number else _FIRST)):
            if cancelled.is_set():
                raise SearchCancelled
            labels = chain.step().labels
        clusters = clusters_of(whole, partition_of(whole, labels), included)
        yield clusters, whole.cohort.in_table_order(labels)


def _in_rows(labels: Labels, rows: Labels) -> Labels:
    """Return the labels of the fit in the order of the rows of the table, int64 (N,)."""
    placed = np.empty_like(labels)
    placed[rows] = labels
    return placed


def _completed(seen: pd.DataFrame, clusters: Clusters, labels: Labels, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with each missing value drawn, given the cluster of each row, int64 (N,)."""
    filled = seen.copy()
    encoding = clusters.encoding
    chains = members_of_chains(encoding.features)
    for members in chains:
        _complete_block(filled, clusters, members, labels, rng)
    in_chains = {index for members in chains for index in members}
    pairs = dict(pairs_of_parts(encoding.features))
    others: dict[int, NDArray[np.bool_]] = {}
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.alone, strict=True)):
        if index in in_chains:
            continue
        is_missing = seen[feature.column].isna().to_numpy()
        # The second part of a feature has a value only where the first says so.
        rows = np.flatnonzero(others.get(index, is_missing))
        posteriors = clusters.posteriors(index)
        # A feature that does not differ between the clusters has one distribution, whose parameters are drawn once.
        of_rows = labels[rows] if clusters.included[index] else np.zeros(rows.size, dtype=np.int64)
        values = np.empty(rows.size)
        for cluster in np.unique(of_rows):
            here = of_rows == cluster
            values[here] = likelihood.draw_jointly(posteriors[cluster], 1, int(here.sum()), rng)[0]
        if not rows.size:
            continue
        if feature.is_part and feature.levels:
            cells, is_other = _at_point_masses(feature.whole, seen, values, rng)
            others[pairs.get(index, -1)] = np.isin(np.arange(len(seen)), rows[is_other])
        else:
            cells = cells_of(values, encoding, index)
        filled[feature.column] = with_cells(filled[feature.column], rows, cells)
    return filled


def _at_point_masses(
    whole: Feature, seen: pd.DataFrame, levels: Array, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the drawn cells at point masses, and which levels (n,) are at none; these get an observed value first."""
    observed = whole.parts[-1].scores(seen[whole.name])
    observed = observed[~np.isnan(observed)]
    drawn = rng.choice(observed, levels.size) if observed.size else np.full(levels.size, np.nan)
    cells = np.where(levels == 0.0, drawn, np.array([np.nan, *whole.point_masses])[levels.astype(np.int64)])
    is_whole = whole.traits.is_whole and not whole.limit and np.isfinite(cells).all()
    return (cells.astype(np.int64) if is_whole else cells), levels == 0.0


def _complete_block(
    filled: pd.DataFrame, clusters: Clusters, members: list[int], labels: Labels, rng: np.random.Generator
) -> None:
    """Draw the missing values of a multivariate Gaussian block, jointly for each subject."""
    encoding = clusters.encoding
    values = encoded_block(filled, encoding, members)
    is_missing = np.isnan(values)
    drawn = values.copy()
    for cluster in np.unique(labels[is_missing.any(axis=1)]):
        rows = np.flatnonzero(labels == cluster)
        moments = drawn_moments(clusters, members, int(cluster), rng)
        drawn[rows] = draw_in_block(*moments, values[rows], rng)
    for place, index in enumerate(members):
        rows, name = np.flatnonzero(is_missing[:, place]), encoding.features[index].name
        if rows.size:
            filled[name] = with_cells(filled[name], rows, cells_of(drawn[rows, place], encoding, index))


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

        total variance            T = U + (1 + 1/m) B
        share due to what is missing  lambda = (1 + 1/m) B / T
        degrees of freedom        1 / (1 / old + 1 / observed),  old = (m - 1) / lambda^2,
                                  observed = (c + 1) / (c + 3) c (1 - lambda)   (Barnard and Rubin 1999)

    c are the degrees of freedom of the analysis of a complete table; without c they are `old`. The estimates should be
    about normal: pool log odds ratios, log variances and Fisher's z of correlations.

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
    if problems:
        raise InputError("; ".join(problems))


def _finite(table: Array) -> bool:
    return bool(np.isfinite(table).all())
