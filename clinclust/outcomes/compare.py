"""Compare outcomes between subtypes, with the errors of assignment carried through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr, ndtri

from clinclust.arguments import FRAME, MODEL, NOTHING, NUMBER, TEXT, TEXTS, WHOLE, accepting, either
from clinclust.arrays import Array, Labels
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import require_fitted
from clinclust.outcomes.assigned import Assigned
from clinclust.outcomes.columns import CohortColumns, Outcome, standardised
from clinclust.outcomes.densities import DENSITIES, POISSON, Density
from clinclust.outcomes.proportional import Periods, in_two_periods
from clinclust.outcomes.three_step import NO_ESTIMATES, NO_MAXIMUM, Estimates, Method, outcome_by_subtype

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

_DTYPES = {
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
    return pd.DataFrame(rows, columns=list(_DTYPES)).astype(_DTYPES)


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
