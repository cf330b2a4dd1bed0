"""Compare outcomes between subtypes, adjusted or over time, and find what predicts who is in which subtype."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr, ndtri

from clinclust.arguments import OUTCOMES, accepting
from clinclust.arrays import Array, Code
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import clustered_features
from clinclust.outcomes.columns import (
    DENSITIES,
    NO_MAXIMUM,
    POISSON,
    Assigned,
    CohortColumns,
    Covariates,
    Density,
    Estimates,
    Method,
    Outcome,
    Periods,
    in_two_periods,
    outcome_by_subtype,
    predictors_of_subtype,
    standardised,
)

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel


_ESTIMATE = ("estimate", "se", "lower", "upper", "p")
_DTYPES = {
    **dict.fromkeys(("outcome", "kind", "event", "method", "term", "feature", "measure", "remark"), "string"),
    **dict.fromkeys(("n", "n_events"), "Int64"),
    **dict.fromkeys(_ESTIMATE, "float64"),
    "clustered_on": "bool",
}


def _tabulate(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=list(columns))
    has_grades = any(isinstance(code, str) for code in table["subtype"])
    of_codes = dict.fromkeys(("subtype", "versus"), "string" if has_grades else "Int64")
    return table.astype({name: (_DTYPES | of_codes)[name] for name in columns})


_OUTCOME_COLUMNS = ("outcome", "kind", "event", "method", "term", "subtype", "versus", "measure", *_ESTIMATE)


@accepting()
def compare_outcomes(
    model: SubtypeModel,
    frame: pd.DataFrame,
    outcome: str,
    *,
    time: str | None = None,
    entry: str | None = None,
    event: str | None = None,
    covariates: Sequence[str] = (),
    versus: Code = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare an outcome between subtypes, with the errors of assignment carried through.

    The outcome must have had no part in the subtypes. Differences between assigned subtypes are too small, because
    some subjects are assigned to the wrong one. BCH and maximum likelihood in three steps correct this (Bolck, Croon
    and Hagenaars 2004; Vermunt 2010; Bakk and Vermunt 2016); the naive answer, which takes assignments for known,
    is given too. BCH rests on fewer assumptions about the outcome, and is the one to report.

    Parameters
    ----------
    model : MAPDP, GibbsDP or another SubtypeModel
        A fitted model. Without probabilities, such as of a `Partition`, the answer is the naive one only.
    frame : DataFrame, N rows
        The cohort of the fit, with the further columns named here.
    outcome : str
        Column. Yes/no: odds ratios of `event` (in the result). Ordered levels: proportional odds. Counts: rate ratios
        (negative binomial). Measurements: differences of means. With `time`: hazard ratios.
    time, entry : str, optional
        Columns of the end of follow-up, at which the event happened or the subject was last seen, and of its begin (0).
        Hazards are proportional; the baseline is constant in at most twelve intervals between quantiles of event times.
    event : str, optional
        The value of `outcome` that is the event. Needed with `time`, unless the outcome is coded 0 and 1; all others
        are censored, so that hazards of competing events are cause-specific.
    covariates : list of str
        Columns to adjust for; levels without order have an indicator each.
    versus : int or str
        The subtype that others are compared with, as in `MAPDP.labels`: 2, or "1b".
    level : float
        Of the confidence intervals.

    Returns
    -------
    DataFrame
        For each `method` (``"bch"``, ``"ml"``, ``"naive"``): rows with `subtype` and no `versus` are levels (mean or
        share, at the mean of the covariates); rows with both are differences or ratios (`measure`); rows with `term`
        are of covariates; the row ``"all subtypes alike"`` is a Wald test with chi-squared as `estimate`. With `time`,
        hazard ratios until and after the median event time follow, ``"hazards proportional"`` tests whether they are
        the same, and ``"log-rank"`` is that test of the subtypes as assigned, not adjusted. `se` is that
        of a difference, of the logarithm of a ratio or of the linear predictor of a level, and robust. `n` are subjects
        with all values, `n_events` those with the event. Where nothing can be estimated, `remark` says why.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, `frame` is not its cohort, or columns cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(120) < 0.4
    >>> X = rng.normal(1.5 * frail[:, None], 1.0, (120, 5))
    >>> frame = pd.DataFrame(X, columns=["gait", "grip", "chair", "balance", "weight"])
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in frame]
    >>> schema = cc.FeatureSchema(features, other_columns="ignore")
    >>> model = cc.MAPDP(schema, random_state=0, progress=False).fit(frame)
    >>> frame["falls"] = np.where(rng.random(120) < np.where(frail, 0.5, 0.2), "yes", "no")
    >>> found = cc.compare_outcomes(model, frame, "falls")
    >>> found.query("method == 'bch' and subtype == '1b'")[["versus", "measure"]].to_numpy().tolist()
    [[<NA>, 'share'], ['1a', 'odds ratio']]
    """
    columns = CohortColumns.read(model, frame)
    return compare_outcome(
        columns, outcome, time=time, entry=entry, event=event, covariates=covariates, versus=versus, level=level
    )


def compare_outcome(
    columns: CohortColumns,
    outcome: str,
    *,
    time: str | None = None,
    entry: str | None = None,
    event: str | None = None,
    covariates: Sequence[str] = (),
    versus: Code = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the frame of `compare_outcomes` for the columns of a cohort."""
    columns.check(versus, level, [name for name in (outcome, time, entry) if name is not None], "outcome")
    if {outcome, time, entry} & set(covariates):
        columns.problems.append("covariates: leave out the outcome and its times")
    if time is None and entry is not None:
        columns.problems.append("entry needs time, the end of follow-up")
    values = columns.outcome(outcome, event) if time is None else columns.survival(outcome, time, entry, event)
    adjusted = columns.covariates(covariates, "covariates")
    columns.refuse()
    assert values is not None
    assigned, adjusted = columns.assign(values.is_known, adjusted, versus, "covariates")
    observed = values.observed[assigned.rows]
    if np.ptp(observed) == 0.0 and not (time and observed.any()):
        raise InputError(f"outcome: {outcome!r} is the same in all subjects with all values")
    rows = _rows_of_outcome(values, assigned, adjusted, level, ("bch", "ml", "naive"))
    return _tabulate(rows, [*_OUTCOME_COLUMNS, "n", "n_events", "remark"])


def _rows_of_outcome(
    outcome: Outcome, assigned: Assigned, covariates: Covariates, level: float, methods: Sequence[Method]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `compare_outcomes` by these methods, for covariates (n, C) of the assigned subjects."""
    y, is_measured = outcome.modelled(assigned.rows), outcome.kind == "continuous"
    about = {
        "outcome": outcome.name,
        "kind": outcome.kind,
        "event": outcome.event,
        "n": len(y),
        "n_events": None if outcome.event is None else int((outcome.observed[assigned.rows] > 0.0).sum()),
    }
    origin, unit = (float(y.mean()), float(y.std())) if is_measured else (0.0, 1.0)
    standard, scales = standardised(covariates.values)
    y = standardised(y)[0] if is_measured else y
    for method in methods:
        errors, why = assigned.errors_of(method)
        about["method"] = method
        density, estimates = DENSITIES[outcome.kind], None
        if why is None:
            estimates = outcome_by_subtype(density, y, standard, errors, assigned.labels, method)
            if estimates is None and outcome.kind == "count":
                density = POISSON
                estimates = outcome_by_subtype(density, y, standard, errors, assigned.labels, method)
        if estimates is None:
            yield about | {"measure": density.measure, "remark": why or NO_MAXIMUM}
            continue
        on_scale = (lambda eta: origin + eta) if is_measured else density.on_scale
        units = dict(zip(covariates.terms, scales.tolist(), strict=True))
        for row in _rows_of_method(density, estimates, assigned, units, level, unit, on_scale):
            yield about | row
        if outcome.time is not None and outcome.entry is not None:
            time, event, entry = (part[assigned.rows] for part in (outcome.time, outcome.observed, outcome.entry))
            periods = in_two_periods(time, event, entry, standard, errors, assigned.labels, assigned.versus, method)
            for row in _rows_of_periods(periods, assigned, level):
                yield about | row
            if method == "naive":  # the log-rank test (Mantel 1966) is of the subtypes as assigned
                from statsmodels.duration.survfunc import survdiff

                statistic, p = survdiff(time, event, assigned.labels, entry=entry if entry.any() else None)
                yield about | {"measure": "log-rank", "estimate": float(statistic), "p": float(p)}
    about["method"] = None
    for subtype in assigned.too_small:
        yield about | {"subtype": subtype, "remark": "left out: too few subjects"}


def _rows_of_method(
    density: Density,
    estimates: Estimates,
    assigned: Assigned,
    scales: dict[str, float],
    level: float,
    unit: float,
    on_scale: Callable[[Array], Array],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one method; a unit of a term is 1 / `scales` of the fitted one, of the outcome `unit`."""
    n_subtypes, units = assigned.subtypes.size, unit * np.eye(estimates.parameters.size)
    on_ratio = np.exp if density.is_ratio else np.asarray
    if density.level:
        for place, subtype in enumerate(assigned.subtypes.tolist()):
            row = _estimate(estimates, units[place], on_scale, level)
            yield row | {"subtype": assigned.codes[subtype], "measure": density.level, "p": None}
    contrasts = units[np.delete(np.arange(n_subtypes), assigned.versus)] - units[assigned.versus]
    for subtypes, contrast in zip(assigned.pairs, contrasts, strict=True):
        yield _estimate(estimates, contrast, on_ratio, level) | subtypes | {"measure": density.measure}
    differences = contrasts @ estimates.parameters
    statistic = float(differences @ np.linalg.solve(contrasts @ estimates.covariance @ contrasts.T, differences))
    yield {"measure": "all subtypes alike", "estimate": statistic, "p": float(chdtrc(n_subtypes - 1, statistic))}
    for place, (term, scale) in enumerate(scales.items(), n_subtypes):
        yield _estimate(estimates, units[place] / scale, on_ratio, level) | {"term": term, "measure": density.measure}


def _rows_of_periods(periods: Periods | None, assigned: Assigned, level: float) -> Iterator[dict[str, Any]]:
    """Yield the hazard ratios before and after a time, and the test that they are the same."""
    test = {"measure": "hazards proportional"}
    if periods is None:
        yield test | {"remark": "not tested: too few events in a half"}
        return
    others = np.delete(np.arange(assigned.subtypes.size), assigned.versus)
    for estimates, period in zip(periods.estimates, ("until", "after"), strict=True):
        units = np.eye(estimates.parameters.size)
        for subtypes, contrast in zip(assigned.pairs, units[others] - units[assigned.versus], strict=True):
            about = subtypes | {"measure": f"hazard ratio {period} {periods.until:g}"}
            yield about | _estimate(estimates, contrast, np.exp, level)
    yield test | {"estimate": periods.statistic, "p": periods.p}


def _estimate(estimates: Estimates, contrast: Array, scale: Callable[[Array], Array], level: float) -> dict[str, Any]:
    """Return the estimate of a linear combination of the parameters with its interval on a scale, `se` and `p`."""
    eta, se = estimates.of(contrast)
    margin = se * float(ndtri(0.5 + level / 2.0))
    with np.errstate(over="ignore"):
        ends = scale(np.array([eta, eta - margin, eta + margin])).tolist()
    row: dict[str, Any] = {"se": se, "p": float(2.0 * ndtr(-abs(eta / se)))}
    if not np.isfinite(ends).all():
        return row | {"remark": "one unit is too large a step for a ratio: take another unit"}
    return row | dict(zip(("estimate", "lower", "upper"), ends, strict=True))


@accepting()
def adjusted_differences(
    model: SubtypeModel, frame: pd.DataFrame, covariates: Sequence[str], *, versus: Code = 1, level: float = 0.95
) -> pd.DataFrame:
    """Compare every feature between the subtypes as assigned, adjusted for covariates.

    The regressions are those of `compare_outcomes`: linear for measurements, logistic for yes/no, proportional odds for
    ordered levels, negative binomial for counts. Standard errors are robust.

    Parameters
    ----------
    model, frame, covariates, versus, level
        As in `compare_outcomes`. Covariates may have formed the subtypes.

    Returns
    -------
    DataFrame
        For each clustered or described feature that is no covariate, and each other subtype than `versus`: the
        difference of means or the ratio (`measure`) with `se` (of the logarithm of a ratio), `lower`, `upper`, `p` and
        `n`. Of features that the subtypes were found from (`clustered_on`) there is no p: subtypes differ in these by
        construction. Where nothing can be estimated, `remark` says why; levels without order are left out so.

    Raises
    ------
    CohortError, ValueError
        As in `compare_outcomes`.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(120) < 0.4
    >>> age = rng.normal(60 + 10 * frail, 8)
    >>> frame = pd.DataFrame({"gait": rng.normal(3 * frail), "grip": rng.normal(-3 * frail), "age": age})
    >>> frame["falls"] = rng.poisson(np.exp(0.02 * age))
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in ("gait", "grip")]
    >>> features += [cc.Feature(name="age", likelihood="gaussian", role="describe")]
    >>> schema = cc.FeatureSchema([*features, cc.Feature(name="falls", likelihood="poisson", role="describe")])
    >>> model = cc.MAPDP(schema, n_clusters=2, random_state=0, progress=False).fit(frame)
    >>> found = cc.outcomes.adjusted_differences(model, frame, ["age"])
    >>> found[["feature", "measure", "clustered_on"]].to_numpy().tolist()[-1]
    ['falls', 'rate ratio', False]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(versus, level, [], "covariates")
    adjusted = columns.covariates(covariates, "covariates")
    if not covariates:
        columns.problems.append("covariates: name columns to adjust for, such as age and sex")
    columns.refuse()
    formed, rows = clustered_features(model), []
    for feature in model.schema_.reported:
        if feature.name in covariates:
            continue
        about = {"feature": feature.name, "clustered_on": feature.name in formed}
        for row in _adjust_feature(columns, feature.name, adjusted, versus, level):
            rows.append(about | row | ({"p": np.nan} if about["clustered_on"] else {}))
    names = ("feature", "kind", "clustered_on", "subtype", "versus", "measure")
    return _tabulate(rows, [*names, *_ESTIMATE, "n", "remark"])


def _adjust_feature(
    columns: CohortColumns, name: str, covariates: Covariates, versus: Code, level: float
) -> Iterator[dict[str, Any]]:
    try:
        outcome = columns.outcome(name, None)
        columns.refuse()
        assert outcome is not None
        assigned, covariates = columns.assign(outcome.is_known, covariates, versus, "covariates")
    except InputError as error:
        columns.problems.clear()
        yield {"remark": str(error)}
        return
    if np.ptp(outcome.observed[assigned.rows]) == 0.0:
        yield {"remark": "the same in all subjects with all values"}
        return
    for row in _rows_of_outcome(outcome, assigned, covariates, level, ("naive",)):
        if row.get("versus") is not None or row.get("remark") is not None:
            yield row


@accepting()
def subtype_predictors(
    model: SubtypeModel, frame: pd.DataFrame, predictors: Sequence[str], *, versus: Code = 1, level: float = 0.95
) -> pd.DataFrame:
    """Regress membership of subtypes on what may predict it, with the errors of assignment carried through.

    Multinomial logistic regression by maximum likelihood in three steps (Vermunt 2010), of all predictors together; the
    naive answer, which takes assignments for known, is given too.

    Parameters
    ----------
    model, frame, versus, level
        As in `compare_outcomes`.
    predictors : list of str
        Columns that had no part in the subtypes; levels without order have an indicator each.

    Returns
    -------
    DataFrame
        For each `method` (``"ml"``, ``"naive"``), subtype and term: the odds ratio (`estimate`) of the subtype against
        `versus` for one unit more, with its interval; `se` is that of the logarithm.

    Raises
    ------
    CohortError, ValueError
        As in `compare_outcomes`.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(60, 10, 120)
    >>> frail = rng.random(120) < 1 / (1 + np.exp((60 - age) / 5))
    >>> X = rng.normal(1.5 * frail[:, None], 1.0, (120, 5))
    >>> frame = pd.DataFrame(X, columns=["gait", "grip", "chair", "balance", "weight"])
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in frame]
    >>> model = cc.MAPDP(cc.FeatureSchema(features, other_columns="ignore"), random_state=0, progress=False).fit(frame)
    >>> found = cc.subtype_predictors(model, frame.assign(age=age.round()), ["age"])
    >>> found[["method", "term", "subtype", "versus"]].to_numpy().tolist()
    [['ml', 'age', '1b', '1a'], ['naive', 'age', '1b', '1a']]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(versus, level, [*predictors], "predictors")
    if len(predictors) == 0:
        columns.problems.append("predictors must name at least one column")
    terms = columns.covariates(predictors, "predictors")
    columns.refuse()
    rows = _rows_of_predictors(*columns.assign(terms.is_known, terms, versus, "predictors"), level)
    return _tabulate(rows, ["method", "term", "subtype", "versus", *_ESTIMATE, "n", "remark"])


def _rows_of_predictors(assigned: Assigned, predictors: Covariates, level: float) -> Iterator[dict[str, Any]]:
    (standard, scales), n_terms = standardised(predictors.values), 1 + len(predictors.terms)
    for method in ("ml", "naive"):
        about = {"method": method, "n": len(standard)}
        errors, why = assigned.errors_of(method)
        estimates = why or predictors_of_subtype(standard, errors, assigned.labels, assigned.versus, method)
        if not isinstance(estimates, Estimates):
            yield about | {"remark": why or NO_MAXIMUM}
            continue
        units = np.eye(estimates.parameters.size).reshape(len(assigned.pairs), n_terms, -1)
        for subtypes, of_terms in zip(assigned.pairs, units, strict=True):
            for term, contrast, scale in zip(predictors.terms, of_terms[1:], scales, strict=True):
                row = _estimate(estimates, contrast / scale, np.exp, level)
                yield about | subtypes | {"term": term} | row
    for subtype in assigned.too_small:
        yield {"subtype": subtype, "n": len(standard), "remark": "left out: too few subjects"}


_NOT_PROPORTIONAL = 0.05
"""p below which hazards are called not proportional."""


@accepting(table=OUTCOMES)
def summarise_outcomes(table: pd.DataFrame) -> list[str]:
    """Return the differences between subtypes in words, as `clinclust outcomes` prints them.

    Parameters
    ----------
    table : DataFrame
        The result of `compare_outcomes`, `subtype_predictors` or `adjusted_differences`.

    Returns
    -------
    list of str
        A sentence for each difference or ratio: corrected for the errors of assignment (BCH, or maximum likelihood for
        predictors) with its interval and p, and as assigned. Then whether hazards are proportional, with the ratios of
        both periods if p is below .05, and why something was not estimated.

    Raises
    ------
    ValueError
        If the table is the result of another function.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")
    >>> walks = [3.1, 4.2, 5.1, 3.4, 4.7, 5.3, 7.2, 8.8, 9.1, 7.5, 8.4, 9.6]
    >>> frame = pd.DataFrame({"x": range(12), "walks": walks})
    >>> groups = cc.Partition([0] * 6 + [1] * 6, schema, made_by="hand")
    >>> cc.outcomes.summarise_outcomes(cc.compare_outcomes(groups, frame, "walks"))[0]
    'Subtype 2 against 1, mean difference: not corrected; as assigned 4.13 (3.04 to 5.23), p < .001'
    """
    if "feature" in table:
        return [
            f"{row['feature']}: {row['remark']}"
            if isinstance(row["remark"], str)
            else f"{row['feature']}, subtype {_write_difference(row)}"
            for row in table.to_dict("records")
        ]
    if "term" in table and "measure" not in table:
        table = table.assign(measure="odds ratio of " + table["term"])
    differences = table[table["versus"].notna()]
    is_period = differences["measure"].str.contains("until|after", na=False)
    methods = {method: rows.to_dict("records") for method, rows in differences[~is_period].groupby("method")}
    corrected = methods.get("bch" if "outcome" in table else "ml")
    lines = []
    for place, row in enumerate(methods.get("naive", [])):
        event = f" of {row['event']!r}" if isinstance(row.get("event"), str) else ""
        pair = f"Subtype {row['subtype']} against {row['versus']}, {row['measure']}{event}"
        best = _write_estimate(corrected[place]) if corrected else "not corrected"
        lines.append(f"{pair}: {best}; as assigned {_write_estimate(row)}")
    tests = table[(table["measure"] == "hazards proportional") & table["p"].notna()].set_index("method")["p"]
    for method in [method for method in ("bch", "naive") if method in tests][:1]:
        is_rejected = tests[method] < _NOT_PROPORTIONAL
        answer = "No" if is_rejected else "Nothing speaks against it"
        lines.append(f"Hazards proportional? {answer}, p = {tests[method]:.2g}")
        periods = differences[is_period & (differences["method"] == method) & is_rejected]
        lines += [f"Subtype {_write_difference(row)}" for row in periods.to_dict("records")]
    for why, rows in table.groupby("remark", sort=False):
        lines.append(f"{', '.join(sorted(set(rows['method'].dropna()))).upper() or 'Subtypes'}: {why}")
    return lines


def _write_difference(row: dict[Hashable, Any]) -> str:
    return f"{row['subtype']} against {row['versus']}, {row['measure']}: {_write_estimate(row)}"


def _write_estimate(row: dict[Hashable, Any]) -> str:
    if not np.isfinite(row["estimate"]):
        return "too large a unit"
    text = f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g})"
    if np.isnan(row["p"]):
        return text
    p = "< .001" if row["p"] < 0.001 else f"= {row['p']:.3f}".replace("0.", ".", 1)
    return f"{text}, p {p}"


@accepting()
def survival_curves(
    model: SubtypeModel,
    frame: pd.DataFrame,
    outcome: str,
    time: str,
    *,
    event: str | None = None,
    competing: Sequence[str] = (),
    entry: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the survival of each subtype as assigned, by the product limit of Kaplan and Meier (1958).

    With competing events, the cumulative incidence of the event instead (Aalen and Johansen 1978): the share to whom it
    has happened, S(t-) d(t) / n(t) summed over times, where S is survival without any of the events. Curves of assigned
    subtypes lie too close together; `compare_outcomes` corrects their hazard ratios.

    Parameters
    ----------
    model, frame, outcome, time, event, entry, level
        As in `compare_outcomes`.
    competing : list of str
        Values of `outcome` that are competing events; all others than these and `event` are censored.

    Returns
    -------
    DataFrame
        One row for each subtype and time of an event or of the last visit of a subject: ``subtype``, ``time``,
        ``at_risk``, ``events``, ``survival``, ``lower`` and ``upper`` (of log(-log), with Greenwood's variance). With
        `competing`, ``incidence`` in the place of ``survival`` (its variance by the delta method, Marubini and
        Valsecchi 1995).

    Raises
    ------
    CohortError, ValueError
        As in `compare_outcomes`.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")
    >>> frame = pd.DataFrame({"x": [0.1, 0.4, 0.2, 9.1, 9.3, 9.9], "days": [5.0, 8.0, 12.0, 2.0, 3.0, 4.0]})
    >>> frame["died"] = [1, 0, 1, 1, 1, 0]
    >>> groups = cc.Partition([0, 0, 0, 1, 1, 1], schema, made_by="hand")
    >>> curves = cc.outcomes.survival_curves(groups, frame, "died", "days")
    >>> curves.query("subtype == 1")[["time", "at_risk", "survival"]].round(2).to_numpy().tolist()
    [[5.0, 3.0, 0.67], [8.0, 2.0, 0.67], [12.0, 1.0, 0.0]]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(1, level, [name for name in (outcome, time, entry) if name is not None], "outcome", alone=True)
    survival = columns.survival(outcome, time, entry, event)
    others = [columns.survival(outcome, time, entry, value) for value in competing]
    if survival is not None and survival.event in competing:
        columns.problems.append(f"competing: {survival.event!r} is the event itself")
    columns.refuse()
    assert survival is not None
    assert survival.time is not None
    assert survival.entry is not None
    labels, is_known, is_incidence = columns.cohort.labels, survival.is_known, bool(competing)
    happened = survival.observed + 2.0 * sum(other.observed for other in others if other is not None)
    tables = [
        _curve(survival.time[rows], happened[rows], survival.entry[rows], level, is_incidence).assign(subtype=code)
        for label, code in enumerate(columns.cohort.model.codes_)
        if (rows := is_known & (labels == label)).any()
    ]
    if not tables:
        raise InputError(f"no subject has {outcome!r} and {time!r}")
    curves = pd.concat(tables, ignore_index=True)
    what = "incidence" if is_incidence else "survival"
    return curves[["subtype", "time", "at_risk", "events", what, "lower", "upper"]]


def _curve(time: Array, happened: Array, entry: Array, level: float, is_incidence: bool) -> pd.DataFrame:
    """Return the survival or the incidence after each time of some subjects (n,); `happened`: 1 the event, 2 others."""
    times = np.unique(time)
    at_risk = ((entry[:, None] < times) & (time[:, None] >= times)).sum(axis=0)
    is_now = time[:, None] == times
    events, others = ((is_now & (happened == kind)[:, None]).sum(axis=0) for kind in (1.0, 2.0))
    survival = np.cumprod(1.0 - (events + others) / np.maximum(at_risk, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share, variance = survival, survival**2 * np.cumsum(events / (at_risk * (at_risk - events)))
        if is_incidence:
            share, variance = _incidence(at_risk, events, others, survival)
        margin = float(ndtri(0.5 + level / 2.0)) * np.sqrt(variance) / (-share * np.log(share))
        lower, upper = share ** np.exp(margin), share ** np.exp(-margin)
    is_open = (share <= 0.0) | (share >= 1.0)
    return pd.DataFrame(
        {
            "time": times,
            "at_risk": at_risk,
            "events": events,
            "incidence" if is_incidence else "survival": share,
            "lower": np.where(is_open, np.nan, lower),
            "upper": np.where(is_open, np.nan, upper),
        }
    )


def _incidence(at_risk: Array, events: Array, others: Array, survival: Array) -> tuple[Array, Array]:
    """Return the cumulative incidence after each time, and its variance; `survival` is that without any event.

    With I the incidence, S the survival before a time, d events and D of any kind of n at risk, the variance is
    sum_j (I - I_j)^2 D_j / (n_j (n_j - D_j)) + S_j^2 d_j (n_j - d_j) / n_j^3 - 2 (I - I_j) S_j d_j / n_j^2.
    """
    before, n = np.append(1.0, survival[:-1]), np.maximum(at_risk, 1).astype(np.float64)
    incidence = np.cumsum(before * events / n)
    any_event = events + others
    of_survival = np.where(any_event < n, any_event / (n * np.maximum(n - any_event, 1e-300)), 0.0)
    of_event, of_both = before**2 * events * (n - events) / n**3, before * events / n**2
    # (I - I_j)^2 and (I - I_j) multiplied out, so that each sum runs once over the times.
    variance = incidence**2 * np.cumsum(of_survival) - 2.0 * incidence * np.cumsum(incidence * of_survival)
    variance += np.cumsum(incidence**2 * of_survival) + np.cumsum(of_event)
    variance -= 2.0 * (incidence * np.cumsum(of_both) - np.cumsum(incidence * of_both))
    return incidence, np.maximum(variance, 0.0)
