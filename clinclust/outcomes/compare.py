"""Compare outcomes between subtypes, adjusted or over time, and find what predicts who is in which subtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr, ndtri

from clinclust.arguments import FRAME, MODEL, NOTHING, NUMBER, TEXT, TEXTS, WHOLE, accepting, either
from clinclust.arrays import Array, Labels
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import clustered_features, require_fitted
from clinclust.outcomes.columns import Assigned, CohortColumns, Outcome, standardised
from clinclust.outcomes.three_step import (
    DENSITIES,
    NO_ESTIMATES,
    NO_MAXIMUM,
    POISSON,
    Density,
    Estimates,
    Method,
    Periods,
    in_two_periods,
    outcome_by_subtype,
    predictors_of_subtype,
)

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel


_OUTCOME_DTYPES = {
    **dict.fromkeys(("outcome", "kind", "event", "method", "term"), "string"),
    **dict.fromkeys(("subtype", "versus"), "Int64"),
    "measure": "string",
    **dict.fromkeys(("estimate", "se", "lower", "upper", "p"), "float64"),
    **dict.fromkeys(("n", "n_events"), "Int64"),
    "remark": "string",
}


@accepting(
    model=MODEL,
    frame=FRAME,
    outcome=TEXT,
    time=either(TEXT, NOTHING),
    entry=either(TEXT, NOTHING),
    event=either(TEXT, NOTHING),
    covariates=TEXTS,
    versus=WHOLE,
    level=NUMBER,
)
def compare_outcomes(
    model: SubtypeModel,
    frame: pd.DataFrame,
    outcome: str,
    *,
    time: str | None = None,
    entry: str | None = None,
    event: str | None = None,
    covariates: Sequence[str] = (),
    versus: int = 1,
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
    versus : int
        The subtype that others are compared with, from 1.
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
    >>> frail = rng.random(300) < 0.4
    >>> X = rng.normal(1.5 * frail[:, None], 1.0, (300, 5))
    >>> frame = pd.DataFrame(X, columns=["gait", "grip", "chair", "balance", "weight"])
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in frame]
    >>> schema = cc.FeatureSchema(features, other_columns="ignore")
    >>> model = cc.MAPDP(schema, random_state=0, progress=False).fit(frame)
    >>> frame["falls"] = np.where(rng.random(300) < np.where(frail, 0.5, 0.2), "yes", "no")
    >>> found = cc.compare_outcomes(model, frame, "falls")
    >>> found.query("method == 'bch' and subtype == 2")[["versus", "measure"]].to_numpy().tolist()
    [[<NA>, 'share'], [1, 'odds ratio']]
    """
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(versus, level, [name for name in (outcome, time, entry) if name is not None], "outcome")
    if {outcome, time, entry} & set(covariates):
        columns.problems.append("covariates: leave out the outcome and its times")
    if time is None and entry is not None:
        columns.problems.append("entry needs time, the end of follow-up")
    found = columns.outcome(outcome, event) if time is None else columns.survival(outcome, time, entry, event)
    terms, values = columns.covariates(covariates, "covariates")
    columns.refuse()
    assert found is not None
    assigned = Assigned(model, found.is_known & ~np.isnan(values).any(axis=1), versus)
    columns.refuse_redundant(terms, values[assigned.chosen], "covariates")
    if np.ptp(found.observed[assigned.chosen]) == 0.0 and not (time and found.observed[assigned.chosen].any()):
        raise InputError(f"outcome: {outcome!r} is the same in all subjects with all values")
    rows = list(rows_of_outcome(found, assigned, terms, values[assigned.chosen], level, ("bch", "ml", "naive")))
    return pd.DataFrame(rows, columns=list(_OUTCOME_DTYPES)).astype(_OUTCOME_DTYPES)


def rows_of_outcome(
    outcome: Outcome,
    assigned: Assigned,
    terms: list[str],
    covariates: Array,
    level: float,
    methods: Sequence[Method],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `compare_outcomes` by these methods, for covariates (n, C) of the assigned subjects."""
    y, is_measured = outcome.modelled(assigned.chosen), outcome.kind == "continuous"
    about = {
        "outcome": outcome.name,
        "kind": outcome.kind,
        "event": outcome.event,
        "n": len(y),
        "n_events": None if outcome.event is None else int((outcome.observed[assigned.chosen] > 0.0).sum()),
    }
    origin, unit = (float(y.mean()), float(y.std())) if is_measured else (0.0, 1.0)
    standard, scales = standardised(covariates)
    y = standardised(y)[0] if is_measured else y
    for method in methods:
        errors, why = assigned.errors_of(method)
        density, found = DENSITIES[outcome.kind], NO_ESTIMATES
        if why is None:
            found = outcome_by_subtype(density, y, standard, errors, assigned.labels, method)
            if not found.found and outcome.kind == "count":
                density = POISSON
                found = outcome_by_subtype(density, y, standard, errors, assigned.labels, method)
            why = None if found.found else NO_MAXIMUM
        if why is not None:
            yield about | {"method": method, "measure": density.measure, "remark": why}
            continue
        on_scale = (lambda eta: origin + eta) if is_measured else density.on_scale
        of_terms = dict(zip(terms, scales.tolist(), strict=True))
        of_method = _rows_of_method(density, found, assigned, of_terms, level, unit, on_scale)
        yield from (about | {"method": method} | row for row in of_method)
        if outcome.time is not None and outcome.entry is not None:
            time, event, entry = (each[assigned.chosen] for each in (outcome.time, outcome.observed, outcome.entry))
            periods = in_two_periods(time, event, entry, standard, errors, assigned.labels, assigned.versus, method)
            yield from (about | {"method": method} | row for row in _rows_of_periods(periods, assigned, level))
            if method == "naive":
                yield about | {"method": method} | _log_rank(time, event, entry, assigned.labels)
    for subtype in assigned.too_small.tolist():
        yield about | {"subtype": subtype, "remark": "left out: too few subjects"}


def _rows_of_method(
    density: Density,
    found: Estimates,
    assigned: Assigned,
    scales: dict[str, float],
    level: float,
    unit: float,
    on_scale: Callable[[Array], Array],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one method; a unit of a term is 1 / `scales` of the fitted one, of the outcome `unit`."""
    subtypes, at = (assigned.subtypes + 1).tolist(), assigned.versus
    n = len(subtypes)
    units, on_ratio = unit * np.eye(found.parameters.size), np.exp if density.is_ratio else np.asarray
    for place, subtype in enumerate(subtypes):
        if density.level:
            row = estimate_row(found, units[place], on_scale, level)
            yield row | {"subtype": subtype, "measure": density.level, "p": None}
    others = [place for place in range(n) if place != at]
    about = {"versus": subtypes[at], "measure": density.measure}
    for place in others:
        row = estimate_row(found, units[place] - units[at], on_ratio, level)
        yield row | about | {"subtype": subtypes[place]}
    contrasts = units[others] - units[at]
    differences = contrasts @ found.parameters
    statistic = float(differences @ np.linalg.solve(contrasts @ found.covariance @ contrasts.T, differences))
    yield {"measure": "all subtypes alike", "estimate": statistic, "p": float(chdtrc(len(others), statistic))}
    for place, (term, scale) in enumerate(scales.items()):
        row = estimate_row(found, units[n + place] / scale, on_ratio, level)
        yield row | {"term": term, "measure": density.measure}


def _log_rank(time: Array, event: Array, entry: Array, labels: Labels) -> dict[str, Any]:
    """Return the log-rank test of the subtypes as assigned (Mantel 1966), by statsmodels."""
    from statsmodels.duration.survfunc import survdiff

    statistic, p = survdiff(time, event, labels, entry=entry if entry.any() else None)
    return {"measure": "log-rank", "estimate": float(statistic), "p": float(p)}


def _rows_of_periods(periods: Periods | None, assigned: Assigned, level: float) -> Iterator[dict[str, Any]]:
    """Yield the hazard ratios before and after a time, and the test that they are the same."""
    test = {"measure": "hazards proportional"}
    if periods is None:
        yield test | {"remark": "not tested: too few events in a half"}
        return
    subtypes = (assigned.subtypes + 1).tolist()
    for found, period in zip(periods.estimates, ("until", "after"), strict=True):
        about = {"versus": subtypes[assigned.versus], "measure": f"hazard ratio {period} {periods.until:g}"}
        units = np.eye(found.parameters.size)
        for place, subtype in enumerate(subtypes):
            if place != assigned.versus:
                row = estimate_row(found, units[place] - units[assigned.versus], np.exp, level)
                yield about | {"subtype": subtype} | row
    yield test | {"estimate": periods.statistic, "p": periods.p}


def estimate_row(found: Estimates, contrast: Array, scale: Callable[[Array], Array], level: float) -> dict[str, Any]:
    """Return the estimate of a linear combination of the parameters with its interval on a scale, `se` and `p`."""
    eta, se = found.of(contrast)
    margin = se * float(ndtri(0.5 + level / 2.0))
    with np.errstate(over="ignore"):
        ends = scale(np.array([eta, eta - margin, eta + margin])).tolist()
    row: dict[str, Any] = {"se": se, "p": float(2.0 * ndtr(-abs(eta / se)))}
    if not np.isfinite(ends).all():
        return row | {"remark": "one unit is too large a step for a ratio: take another unit"}
    return row | dict(zip(("estimate", "lower", "upper"), ends, strict=True))


_COLUMNS = {
    **dict.fromkeys(("feature", "kind"), "string"),
    "clustered_on": "bool",
    **dict.fromkeys(("subtype", "versus"), "Int64"),
    "measure": "string",
    **dict.fromkeys(("estimate", "se", "lower", "upper", "p"), "float64"),
    "n": "Int64",
    "remark": "string",
}


@accepting(model=MODEL, frame=FRAME, covariates=TEXTS, versus=WHOLE, level=NUMBER)
def adjusted_differences(
    model: SubtypeModel, frame: pd.DataFrame, covariates: Sequence[str], *, versus: int = 1, level: float = 0.95
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
    >>> frail = rng.random(300) < 0.4
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
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(versus, level, [], "covariates")
    terms, values = columns.covariates(covariates, "covariates")
    if not covariates:
        columns.problems.append("covariates: name columns to adjust for, such as age and sex")
    columns.refuse()
    formed, rows = clustered_features(model), []
    for feature in model.schema_.reported:
        if feature.name in covariates:
            continue
        about = {"feature": feature.name, "clustered_on": feature.name in formed}
        for row in _of_feature(model, columns, feature.name, terms, values, versus, level):
            rows.append(about | row | ({"p": np.nan} if about["clustered_on"] else {}))
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def _of_feature(
    model: SubtypeModel,
    columns: CohortColumns,
    name: str,
    terms: list[str],
    values: np.ndarray,
    versus: int,
    level: float,
) -> Iterator[dict[str, Any]]:
    try:
        found = columns.outcome(name, None)
        columns.refuse()
        assert found is not None
        assigned = Assigned(model, found.is_known & ~np.isnan(values).any(axis=1), versus)
        columns.refuse_redundant(terms, values[assigned.chosen], "covariates")
        if np.ptp(found.observed[assigned.chosen]) == 0.0:
            raise InputError("the same in all subjects with all values")
    except InputError as error:
        columns.problems.clear()
        yield {"remark": str(error)}
        return
    for row in rows_of_outcome(found, assigned, terms, values[assigned.chosen], level, ("naive",)):
        if row.get("versus") is not None or row.get("remark") is not None:
            yield row


_PREDICTOR_DTYPES = {
    **dict.fromkeys(("method", "term"), "string"),
    **dict.fromkeys(("subtype", "versus"), "Int64"),
    **dict.fromkeys(("estimate", "se", "lower", "upper", "p"), "float64"),
    "n": "Int64",
    "remark": "string",
}


@accepting(model=MODEL, frame=FRAME, predictors=TEXTS, versus=WHOLE, level=NUMBER)
def subtype_predictors(
    model: SubtypeModel,
    frame: pd.DataFrame,
    predictors: Sequence[str],
    *,
    versus: int = 1,
    level: float = 0.95,
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
    >>> age = rng.normal(60, 10, 300)
    >>> frail = rng.random(300) < 1 / (1 + np.exp((60 - age) / 5))
    >>> X = rng.normal(1.5 * frail[:, None], 1.0, (300, 5))
    >>> frame = pd.DataFrame(X, columns=["gait", "grip", "chair", "balance", "weight"])
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in frame]
    >>> model = cc.MAPDP(cc.FeatureSchema(features, other_columns="ignore"), random_state=0, progress=False).fit(frame)
    >>> found = cc.subtype_predictors(model, frame.assign(age=age.round()), ["age"])
    >>> found[["method", "term", "subtype", "versus"]].to_numpy().tolist()
    [['ml', 'age', 2, 1], ['naive', 'age', 2, 1]]
    """
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(versus, level, [*predictors], "predictors")
    if len(predictors) == 0:
        columns.problems.append("predictors must name at least one column")
    terms, values = columns.covariates(predictors, "predictors")
    columns.refuse()
    assigned = Assigned(model, np.asarray(~np.isnan(values).any(axis=1)), versus)
    columns.refuse_redundant(terms, values[assigned.chosen], "predictors")
    rows = list(_rows(assigned, terms, values[assigned.chosen], level))
    return pd.DataFrame(rows, columns=list(_PREDICTOR_DTYPES)).astype(_PREDICTOR_DTYPES)


def _rows(assigned: Assigned, terms: list[str], predictors: Array, level: float) -> Iterator[dict[str, Any]]:
    (standard, scales), subtypes, n_terms = standardised(predictors), assigned.subtypes, 1 + len(terms)
    for method in ("ml", "naive"):
        about = {"method": method, "n": len(predictors)}
        errors, why = assigned.errors_of(method)
        if why is None:
            found = predictors_of_subtype(standard, errors, assigned.labels, assigned.versus, method)
            why = None if found.found else NO_MAXIMUM
        if why is not None:
            yield about | {"remark": why}
            continue
        for place, subtype in enumerate(np.delete(subtypes, assigned.versus).tolist()):
            for at, term in enumerate(terms):
                contrast = np.zeros(found.parameters.size)
                contrast[place * n_terms + 1 + at] = 1.0 / scales[at]
                named = {"term": term, "subtype": subtype + 1, "versus": int(subtypes[assigned.versus]) + 1}
                yield about | named | estimate_row(found, contrast, np.exp, level)
    for subtype in assigned.too_small.tolist():
        yield {"subtype": subtype, "n": len(predictors), "remark": "left out: too few subjects"}


@accepting(
    model=MODEL,
    frame=FRAME,
    outcome=TEXT,
    time=TEXT,
    event=either(TEXT, NOTHING),
    competing=TEXTS,
    entry=either(TEXT, NOTHING),
    level=NUMBER,
)
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
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, `frame` is not its cohort, or columns cannot be used.

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
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(1, level, [name for name in (outcome, time, entry) if name is not None], "outcome", alone=True)
    found = columns.survival(outcome, time, entry, event)
    others = [columns.survival(outcome, time, entry, value) for value in competing]
    if found is not None and found.event in competing:
        columns.problems.append(f"competing: {found.event!r} is the event itself")
    columns.refuse()
    assert found is not None
    assert found.time is not None
    assert found.entry is not None
    labels, known = np.asarray(model.labels_), found.is_known
    happened = found.observed + 2.0 * sum(other.observed for other in others if other is not None)
    tables = [
        _curve(found.time[rows], happened[rows], found.entry[rows], level, bool(competing)).assign(subtype=subtype + 1)
        for subtype in range(int(labels.max()) + 1)
        if (rows := known & (labels == subtype)).any()
    ]
    if not tables:
        raise InputError(f"no subject has {outcome!r} and {time!r}")
    curves = pd.concat(tables, ignore_index=True)
    what = "incidence" if competing else "survival"
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
