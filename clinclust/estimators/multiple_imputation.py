"""Missing values filled in several times, also for a regression, and estimates pooled over the tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from clinclust.arguments import NUMBER, accepting
from clinclust.arrays import Array
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import clusters_of, pose, probabilities
from clinclust.engine.search.plan import SearchCancelled
from clinclust.errors import InputError, refuse
from clinclust.estimators.imputation import Copula, cells_at_point_masses, cells_of, with_cells
from clinclust.estimators.subtype_model import cohort_of, cohort_problems, require_search, rows_of_the_fit
from clinclust.files.cell_text import listed

if TYPE_CHECKING:
    from clinclust.engine.problem.encoding import Encoding
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature, FeatureSchema


# Multiple imputations of a cohort.
#
# For each, the subtype of every subject is drawn from its membership; then rounds of a copula draw the margins of the
# subtypes, the correlations inside them, and the missing values of a subject jointly, given what is observed of it
# (Rubin 1987, *Multiple imputation for nonresponse in surveys*).

_FIRST = 5
"""How many times as many rounds precede the first draw."""


def multiple_imputations(
    model: SubtypeModel,
    frame: pd.DataFrame,
    m: int,
    n_sweeps: int,
    rng: np.random.Generator,
    cancelled: Event,
    formula: str | None = None,
) -> list[pd.DataFrame]:
    """Implement `Prediction.multiple_imputations`; raise SearchCancelled if `cancelled` is set."""
    fit = require_search(model, "multiple_imputations")
    rows = None if cohort_problems(model, frame) else rows_of_the_fit(fit, frame)
    if rows is None:
        cohort_of(model, frame)  # says why it is not the cohort
        raise AssertionError("a table without rows of the fit is no cohort")
    seen = fit.schema_.validate(frame, warn=False)
    observed, back, tables = seen.iloc[rows], np.argsort(rows), list[pd.DataFrame]()
    cohort = fit.adjusted(observed)
    outcome = None if formula is None else _read_outcome(formula, fit.schema_, observed)
    if outcome is not None:
        cohort = cohort.assign(**{outcome.name: cohort[outcome.name].mask(np.full(len(cohort), True))})
    with announcing_compilation():
        scores = fit.clusters_.scores(model_values(cohort, fit.clusters_.encoding.features), coarsened=True)
        membership = fit.subtypes_.summed(probabilities(scores[:, :-1]))
        copula, encoding = _copula(fit, cohort, rng)
        for number in range(m if outcome is None else _N_PROPOSALS):
            up_to = membership.cumsum(axis=1)
            copula.move((up_to[:, :-1] < rng.random((len(up_to), 1)) * up_to[:, -1:]).sum(axis=1))
            for _ in range(n_sweeps * _FIRST if not number else n_sweeps if outcome is None else 1):
                if cancelled.is_set():
                    raise SearchCancelled
                copula.round()
            table = fit.restored(_completed(cohort, encoding, copula, rng), observed)
            tables.append(_with_observed(table, fit.schema_, rng).iloc[back])
    if outcome is not None and formula is not None:
        return _draw_by_formula(tables, fit.schema_, outcome, seen[outcome.name], formula, m, rng)
    return tables


# Multiple imputations for one regression, such as pain ~ age + I(age ** 2), whose square the copula does not know.
#
# Bartlett, Seaman, White and Carpenter (2015, Statistical Methods in Medical Research 24, 462-487): the missing values
# of a subject are drawn without the outcome, and accepted in proportion to the density of its outcome given them.

_N_PROPOSALS = 50  # tables drawn without the outcome, one of which each subject's values are from
_N_ROUNDS = 10  # of choices and regressions before each table, and as many times `_FIRST` before the first


def _read_outcome(formula: str, schema: FeatureSchema, observed: pd.DataFrame) -> Feature:
    """Return the feature on the left side of a formula; raise InputError if either side cannot be used."""
    name = formula.partition("~")[0].strip()
    names = [feature.name for feature in schema.described if feature.traits.is_real or feature.traits.is_yes_no]
    names = [name for name in names if not schema[name].point_masses]
    if name not in names:
        there_are = f"; there are {listed(names)}" if names else ""
        raise InputError(f"formula: {name!r} must be a described measurement or yes/no column{there_are}")
    _read_terms(formula, schema, observed, "drop")
    return schema[name]


def _draw_by_formula(
    proposals: Sequence[pd.DataFrame],
    schema: FeatureSchema,
    outcome: Feature,
    column: pd.Series,
    formula: str,
    m: int,
    rng: np.random.Generator,
) -> list[pd.DataFrame]:
    """Return m tables of the subjects' rows in some proposals, and the `column` of the outcome with all values."""
    from statsmodels.api import GLM, families

    y, is_yes_no, tables = outcome.scores(column), outcome.traits.is_yes_no, list[pd.DataFrame]()
    family, is_known, subjects = (
        families.Binomial() if is_yes_no else families.Gaussian(),
        ~np.isnan(y),
        np.arange(len(y)),
    )
    rows, chosen = pd.concat(proposals, ignore_index=True), rng.integers(len(proposals), size=len(y))
    terms = _read_terms(formula, schema, rows, "raise").reshape(len(proposals), len(y), -1)
    for round_ in range(1, _N_ROUNDS * (m + _FIRST) + 1):
        fit = GLM(y[is_known], terms[chosen, subjects][is_known], family=family).fit()
        scale = 1.0 if is_yes_no else fit.scale * fit.df_resid / rng.chisquare(fit.df_resid)
        slopes = rng.multivariate_normal(fit.params, fit.normalized_cov_params * scale)
        means = family.fitted(terms @ slopes)
        heights = np.where(is_known, family.loglike_obs(np.where(is_known, y, 0.0), means, scale=scale), 0.0)
        chosen = (heights + rng.gumbel(size=heights.shape)).argmax(axis=0)  # in proportion to the densities
        if round_ > _N_ROUNDS * _FIRST and round_ % _N_ROUNDS == 0:
            table, at = rows.iloc[chosen * len(y) + subjects].set_axis(column.index), means[chosen, subjects]
            drawn = rng.random(len(y)) < at if is_yes_no else at + np.sqrt(scale) * rng.normal(size=len(y))
            cells = np.array(outcome.levels)[drawn.astype(int)] if outcome.levels else drawn * 1
            missing = np.flatnonzero(~is_known)
            tables.append(table.assign(**{outcome.name: with_cells(column, missing, cells[missing])}))
    return tables


def _read_terms(formula: str, schema: FeatureSchema, table: pd.DataFrame, missing: str) -> Array:
    """Return the terms on the right side of a formula, float64 (N, P); rows that miss one are dropped or refused."""
    from statsmodels.api import GLM

    name, _, terms = formula.partition("~")
    columns = {
        feature.name: pd.Categorical(table[feature.name].astype(str), list(map(str, feature.levels or ())))
        if feature.traits.is_nominal
        else feature.scores(table[feature.name])
        for feature in schema.reported
        if feature.name != name.strip()
    }
    try:
        model = GLM.from_formula(f"_y ~ {terms}", pd.DataFrame(columns | {"_y": 0.0}), missing=missing)
    except Exception as error:  # of patsy or formulaic, whichever statsmodels has
        raise InputError(f"formula: {formula!r} cannot be used: {error}") from error
    return np.asarray(model.exog, dtype=np.float64)


def _copula(fit: Fit, cohort: pd.DataFrame, rng: np.random.Generator) -> tuple[Copula, Encoding]:
    """Return the copula of all features with a likelihood, clustered on or described, and their encoding."""
    schema = fit.schema_.with_roles({feature.name: "cluster" for feature in fit.schema_.described})
    problem = pose(cohort, schema, fit.hyperparameters_, fit.concentration_)
    encoding = problem.cohort.encoding
    # A described feature may differ between the clusters as one that was selected does.
    selected = dict(zip((f.name for f in fit.clusters_.encoding.features), fit.clusters_.included, strict=True))
    included = np.array([selected.get(feature.name, True) for feature in encoding.features])
    labels = np.asarray(fit.labels_, dtype=np.int64)
    clusters = clusters_of(problem, problem.partition(labels[problem.cohort.order]), included)
    values = model_values(cohort, encoding.features)
    standards = list(zip(encoding.features, encoding.centres, encoding.scales, strict=True))
    columns = [(values[feature.name] - centre) / scale for feature, centre, scale in standards]
    is_usual = ~fit.outliers_[:, fit.schema_.places(encoding.features)]
    limits = [
        _limits(feature, column, (centre, scale))
        for (feature, centre, scale), column in zip(standards, columns, strict=True)
    ]
    return Copula.of(clusters, columns, limits, is_usual, labels, rng), encoding


def _limits(feature: Feature, column: Array, standard: tuple[float, float]) -> tuple[float, float]:
    """Return between which encoded values a measurement is drawn: at most its range beyond the observed ones.

    Also within the declared range; not below 0 if nothing observed is; and not beyond a limit of detection, of which
    the most extreme measured value is the nearest known.
    """
    least, most = float(np.nanmin(column)), float(np.nanmax(column))
    lowest, highest = 2.0 * least - most, 2.0 * most - least
    low, high = feature.whole.minimum, feature.whole.maximum
    if low is None and feature.transform != "log" and least * standard[1] + standard[0] >= 0.0:
        low = 0.0
    with np.errstate(all="ignore"):
        at = [np.nan if end is None else feature.on_model_scale(np.array([end]))[0][0] for end in (low, high)]
    ends = (np.array(at, dtype=float) - standard[0]) / standard[1]
    lowest = least if "below" in feature.whole.limit else np.nanmax([lowest, min(ends[0], least)])
    highest = most if "above" in feature.whole.limit else np.nanmin([highest, max(ends[1], most)])
    return float(lowest), float(highest)


def _completed(cohort: pd.DataFrame, encoding: Encoding, copula: Copula, rng: np.random.Generator) -> pd.DataFrame:
    """Return the cohort with its missing values as the copula has drawn them."""
    filled = cohort.copy()
    for index, (feature, column) in enumerate(zip(encoding.features, copula.columns, strict=True)):
        rows = np.flatnonzero(column.is_missing & ~np.isnan(column.completed))
        if not rows.size:
            continue
        if feature.is_part and feature.levels:
            cells = cells_at_point_masses(feature.whole, cohort, column.completed[rows], rng)
        else:
            cells = cells_of(column.completed[rows], encoding, index)
        filled[feature.column] = with_cells(filled[feature.column], rows, cells)
    return filled


def _with_observed(table: pd.DataFrame, schema: FeatureSchema, rng: np.random.Generator) -> pd.DataFrame:
    """Fill columns that say nothing of a subject, such as those with one value: with observed values at random."""
    for feature in schema.reported:
        column = table[feature.name]
        rows, observed = np.flatnonzero(column.isna()), column.dropna()
        if rows.size and len(observed):
            table[feature.name] = with_cells(
                column, rows, observed.iloc[rng.integers(len(observed), size=rows.size)].array
            )
    return table


# Estimates of several completed tables pooled by Rubin's rules.


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
    t, margin = estimate / se, se * stdtrit(df, (1.0 + level) / 2.0)
    return pd.DataFrame(
        {
            "estimate": estimate,
            "se": se,
            "df": df,
            "t": t,
            "p": 2.0 * stdtr(df, -np.abs(t)),
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


def _table(given: Any, called: str) -> tuple[Array, Any]:
    """Return numbers as float64 (m, p), and the names of the p estimates."""
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
    are_finite = {name: bool(np.isfinite(table).all()) for name, table in (("estimates", q), ("variances", u))}
    problems += [f"{name} must be finite numbers" for name in are_finite if not are_finite[name]]
    if are_finite["variances"] and not (u > 0.0).all():
        problems.append("variances must be above 0; give squared standard errors")
    if df_complete is not None and not df_complete > 0.0:
        problems.append(f"df_complete must be above 0, not {df_complete!r}")
    if not 0.0 < level < 1.0:
        problems.append(f"level must be above 0 and below 1, such as 0.95, not {level!r}")
    refuse(problems)
