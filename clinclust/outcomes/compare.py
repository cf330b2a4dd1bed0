"""Compare outcomes between subtypes, adjusted or over time, and find what predicts who is in which subtype."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtr, ndtri

from clinclust.arguments import OUTCOMES, accepting
from clinclust.arrays import Array, Code, Labels, Mask, mid_ranks
from clinclust.comparisons.differences import bound_share, contrast_of
from clinclust.errors import InputError, refuse
from clinclust.estimators.subtype_model import SubtypeModel, clustered_features
from clinclust.outcomes.columns import SCORE, Assigned, CohortColumns, Event, Everybody, Outcome, standardised
from clinclust.outcomes.estimates import (
    DENSITIES,
    LARGEST,
    POISSON,
    Estimates,
    Method,
    RiskSets,
    in_intervals,
    outcome_by_subtype,
    penalise,
    predictors_of_subtype,
)

APART = np.inf  # in place of the linear predictor of a subtype that has no ratio to others, although it has events
_ESTIMATE = ("estimate", "se", "lower", "upper", "p")
_ABOUT = ("kind", "event", "order")
_DTYPES = {
    **dict.fromkeys(("outcome", *_ABOUT, "method", "term", "feature", "measure", "remark"), "string"),
    **dict.fromkeys(("n", "n_events"), "Int64"),
    **dict.fromkeys(_ESTIMATE, "float64"),
    "clustered_on": "bool",
}
_Row: TypeAlias = dict[str, Any]
_Rows: TypeAlias = Iterator[_Row]


def _tabulate(rows: Iterable[_Row], *columns: str) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=list(columns))
    has_grades = any(isinstance(code, str) for code in table["subtype"])
    dtypes = _DTYPES | dict.fromkeys(("subtype", "versus"), "string" if has_grades else "Int64")
    return table.astype({name: dtypes[name] for name in columns})


@accepting()
def compare_outcomes(
    model: SubtypeModel,
    frame: pd.DataFrame,
    outcome: str,
    *,
    time: str | None = None,
    entry: str | None = None,
    event: Event = None,
    covariates: Sequence[str] = (),
    versus: Code = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare an outcome between subtypes, with the errors of assignment carried through.

    The outcome must have had no part in the subtypes. Differences between assigned subtypes are too small, because
    some subjects are assigned to the wrong one. BCH and maximum likelihood in three steps correct this (Bolck, Croon
    and Hagenaars 2004; Vermunt 2010; Bakk and Vermunt 2016); the naive answer, which takes assignments for known,
    is given too. Both assume that the outcome does not depend on the features inside subtypes. Where the row
    ``"no effects of features"`` has a p below .01, report the method ``"features"``; otherwise BCH. Where the subtypes
    may be slices of a continuum, the first row is of one SD of `continuum_score`: report that.

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
    event : str, float or bool, optional
        The value of `outcome` that is the event, True for the yes of a yes/no column. Needed with `time`, unless the
        outcome is yes/no; all others are censored, so that hazards of competing events are cause-specific.
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
        share, at the mean of the covariates); rows with both are differences or ratios (`measure`), of ordered levels
        those of a higher one in the `order`; rows with `term` are of covariates; the row ``"all subtypes alike"`` is a
        Wald test with chi-squared as `estimate`. A subtype in which fewer than one subject has the event, or none has
        not, has no ratio (`remark`), but a share, risk differences and, as assigned, a penalised ratio. With `time`,
        ``"hazards proportional"`` tests whether the ratios of the subtypes as assigned change over time, and
        ``"log-rank"`` is that test of the subtypes as assigned, not adjusted. `se` is that
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
    >>> frame = pd.DataFrame(rng.normal(2.0 * frail[:, None], size=(120, 5)), columns=list("abcde"))
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> frame["falls"] = np.where(rng.random(120) < np.where(frail, 0.5, 0.2), "yes", "no")
    >>> found = cc.compare_outcomes(model, frame, "falls")
    >>> found.query("method == 'bch' and subtype == 2")[["versus", "measure"]].to_numpy().tolist()
    [[<NA>, 'share'], [1, 'odds ratio'], [1, 'risk difference']]
    """
    columns = CohortColumns.read(model, frame)
    return compare_outcome(columns, outcome, time, entry, event, covariates, versus, level)


def compare_outcome(
    columns: CohortColumns,
    outcome: str,
    time: str | None = None,
    entry: str | None = None,
    event: Event = None,
    covariates: Sequence[str] = (),
    versus: Code = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the frame of `compare_outcomes` for the columns of a cohort."""
    score = columns.score_continuum()
    is_alone = score is not None and columns.n_subtypes == 1
    columns.check(versus, level, (outcome, time, entry), "outcome", alone=is_alone)
    if {outcome, time, entry} & set(covariates):
        columns.problems.append("covariates: leave out the outcome and its times")
    values = columns.outcome(outcome, time, entry, event)
    adjusted = columns.covariates(covariates, "covariates")
    refuse(columns.problems)
    assert values is not None
    rows: list[_Row] = []
    if not is_alone:
        assigned, complete = columns.assign(values.is_known, adjusted, versus, "covariates")
        observed = values.observed[assigned.rows]
        if np.ptp(observed) == 0.0 and not (time and observed.any()):
            raise InputError(f"outcome: {outcome!r} is the same in all subjects with all values")
        analysis = _Analysis(values, assigned, complete, level)
        rows += _tabulate_outcome(analysis, ("bch", "ml", "naive"))
        rows += _tabulate_features(analysis, columns.read_clustered(covariates)[assigned.rows])
    if score is not None:
        rows.insert(0, _tabulate_score(columns, score, values, adjusted, level))
    of_estimate = ("method", "term", "subtype", "versus", "measure", *_ESTIMATE, "n", "n_events", "remark")
    return _tabulate(rows, "outcome", *_ABOUT, *of_estimate)


_SLICES = "these subtypes were not shown to be more than slices of a continuum: {}"
_REPORT = "report this number, and of the subtypes what is as assigned, because slices have no corrected one"


def _tabulate_score(
    columns: CohortColumns, score: pd.DataFrame, outcome: Outcome, covariates: pd.DataFrame, level: float
) -> _Row:
    """Return the difference or ratio for one SD of the continuum score, where subtypes may be slices."""
    terms = score.join(covariates)
    rows = outcome.is_known & terms.notna().all(axis=1).to_numpy()
    analysis = _Analysis(outcome, Everybody(columns.cohort, rows), terms[rows], level)
    density = analysis.density
    estimates = outcome_by_subtype(density, analysis.y, analysis.covariates, np.eye(1), analysis.labels, "naive")
    row = analysis.about | {"method": "score", "measure": f"{density.measure} for {SCORE}"}
    if estimates is None:
        return row | {"remark": analysis.explain_estimate()}
    contrast = analysis.unit * np.eye(estimates.parameters.size)[1] / analysis.scales[SCORE]
    is_tested = columns.cohort.fit.tree_test_ is not None
    remark = _SLICES.format(_REPORT if is_tested else f"no test was made; unless this can be excluded, {_REPORT}")
    return row | {"remark": remark} | _estimate(estimates, contrast, density.on_difference, level)


_SUBJECTS_FOR_A_FEATURE = 10  # from which on effects of features inside subtypes are looked for
_FEWEST_EVENTS = 10  # for each term of a Cox regression (Peduzzi et al. 1995, Journal of Clinical Epidemiology 48)
_DIRECT, _NOT_PROPORTIONAL = 0.01, 0.05
"""p below which an outcome is said to depend on features inside subtypes, and hazards not to be proportional.

Memberships are estimates; what they miss looks like an effect of features. Without any, p was below .05 in 3% to 20%
of cohorts, by kind of outcome (30 to 40 each), and of measurements and yes/no outcomes below .01 in at most 3%."""


def _tabulate_features(analysis: _Analysis, features: pd.DataFrame) -> _Rows:
    """Yield differences or ratios of a mixture of regressions on the features, and the test that these have no effect.

    Memberships are known weights, and features are measured from their means in each subtype, so that the intercepts
    are those of subtypes (Bray, Lanza and Tan 2015; Vermunt and Magidson 2021). A missing value has the mean.
    """
    ends = analysis.find_ends(np.eye(analysis.n_subtypes))
    places, rows = np.flatnonzero(np.isnan(ends)), np.isnan(ends)[analysis.labels]
    features, (n_subtypes, n_features) = features[rows], (places.size, features.shape[1])
    n, is_large = len(features), len(features) >= _SUBJECTS_FOR_A_FEATURE * n_features > 0
    if analysis.assigned.errors_of("bch")[1] or not is_large or n_subtypes < 2:
        return
    membership = analysis.assigned.membership[rows][:, places]
    membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
    observed, values = features.notna().to_numpy(), np.ascontiguousarray(features.fillna(0.0), dtype=np.float64)
    means = membership.T @ values / np.maximum(membership.T @ observed, 1e-300)
    inside = np.where(observed[:, None], values[:, None] - means, 0.0)
    adjusted, y = np.repeat(analysis.covariates[rows][:, None], n_subtypes, axis=1), analysis.encode(rows)
    estimates, without = (
        outcome_by_subtype(analysis.density, y, terms, membership, analysis.labels[rows], "features")
        for terms in (np.concatenate([adjusted, inside], axis=2), adjusted)
    )
    if without is None or estimates is None:
        return
    about = analysis.about | {"method": "features"}
    yield from (about | row for row in _tabulate_estimates(analysis, estimates, places) if "versus" in row)
    # Bartlett's factor of linear regression: with ten subjects for each feature, 15% of p would be below .05.
    factor = 1.0 - (n_subtypes + 1.0 + n_features / 2.0) / n
    statistic = 2.0 * factor * (estimates.height - without.height)
    p = float(chdtrc(n_features, max(statistic, 0.0)))
    slopes = n_subtypes + analysis.covariates.shape[1] + np.arange(n_features)
    z = np.abs(estimates.parameters[slopes]) / np.sqrt(np.diag(estimates.covariance)[slopes])
    strong = np.flatnonzero(z > max(min(_quantile(1.0 - _DIRECT / n_features), float(z.max())) - 1e-12, 0.0))
    effects = ", ".join(features.columns[strong[np.argsort(-z[strong])]])
    remark = f"the outcome depends on features inside subtypes ({effects}), which BCH and ML do not allow for"
    test = {"measure": "no effects of features", "estimate": statistic, "p": p}
    yield about | test | ({"remark": remark} if p < _DIRECT else {})


class _Analysis:
    """The analysis of an outcome of the assigned subjects (n,), adjusted for covariates (n, C)."""

    def __init__(self, outcome: Outcome, assigned: Assigned, covariates: pd.DataFrame, level: float) -> None:
        self.outcome, self.assigned, self.level = outcome, assigned, level
        self.observed, self.density = outcome.observed[assigned.rows], DENSITIES[outcome.kind]
        self.labels, self.n_subtypes = assigned.labels, assigned.subtypes.size
        n_events = None if outcome.event is None else int((self.observed > 0.0).sum())
        self.about: _Row = {"outcome": outcome.name, "kind": outcome.kind, "event": outcome.event}
        self.about |= {"order": " < ".join(outcome.order) or None, "n": len(self.observed), "n_events": n_events}
        self.origin, self.unit = 0.0, 1.0
        if outcome.kind == "continuous":
            self.origin, self.unit = float(self.observed.mean()), max(float(self.observed.std()), 1e-300)
        self.covariates, scales = standardised(covariates)
        self.scales = dict(zip(map(str, covariates), scales.tolist(), strict=True))
        self.not_adjusted = ", not adjusted" if self.scales else ""
        self.times: tuple[Array, ...] = ()
        """Of survival: end of follow-up, event and begin."""
        if outcome.times:
            ends, begins = (part[assigned.rows] for part in outcome.times)
            self.times = ends, self.observed, begins
            self.risk_sets = RiskSets.from_subjects(ends, self.observed, begins, self.labels, self.n_subtypes)
        self.y = self.encode(np.ones(len(self.observed), dtype=bool))
        if outcome.kind == "count":
            naive, has_ratio = np.eye(self.n_subtypes), np.isnan(self.find_ends(np.eye(self.n_subtypes)))
            rows = has_ratio[self.labels]
            cases = self.y[rows], self.covariates[rows], naive, self.labels[rows]
            if has_ratio.any() and outcome_by_subtype(self.density, *cases, "naive", has_ratio) is None:
                self.density = POISSON  # without overdispersion, the size has no maximum

    def encode(self, rows: Mask) -> Array:
        """Return the outcomes of some subjects, bool (n,), for `outcome_by_subtype`."""
        if self.times:
            return in_intervals(*(part[rows] for part in self.times))
        if self.outcome.kind == "ordered":  # levels are numbered 0, 1, ... without a gap
            return np.unique(self.observed[rows], return_inverse=True)[1].astype(np.float64)
        return (self.observed[rows] - self.origin) / self.unit

    def find_ends(self, errors: Array) -> Array:
        """Return the linear predictors of subtypes in which fewer than one subject has the event, or no event, (K,).

        NaN for all others; the likelihood rises without end as these predictors go to infinity. Of ordered levels and
        counts, the event is anything above the lowest value.
        """
        kind, observed = self.outcome.kind, self.observed
        weights, ends = np.linalg.inv(errors)[self.labels], np.full(self.n_subtypes, np.nan)
        if kind != "continuous":
            lowest = observed.min() if kind == "ordered" else 0.0
            ends[weights.T @ (observed > lowest) < 1.0 - 1e-9] = -LARGEST
        if kind in ("binary", "ordered"):
            ends[weights.T @ (observed < observed.max()) < 1.0 - 1e-9] = LARGEST
        if self.times and (has_events := np.isnan(ends)).sum() > 1:
            groups = self.risk_sets.group_comparable()
            sizes = np.bincount(groups[has_events], minlength=groups.max() + 1)
            group = groups[self.assigned.versus]
            group = group if sizes[group] > 1 else int(sizes.argmax())
            ends[has_events & ((groups != group) | (sizes[group] < 2))] = APART
        return ends

    def explain_ratio(self, place: int, end: float, method: Method) -> str:
        """Return why a subtype has no ratio."""
        if end == APART:
            return "no hazard ratio: while it and the others are followed, only one side has events"
        kind, n = self.outcome.kind, int((self.labels == place).sum())
        of_levels = {"count": "a count above 0", "ordered": f"the {'lowest' if end < 0.0 else 'highest'} level"}
        what, is_all = of_levels.get(kind, repr(self.outcome.event)), end > 0.0 or kind == "ordered"
        if method == "bch":
            return f"no ratio: corrected, {'all but fewer' if is_all else 'fewer'} than one subject has {what}"
        return f"no ratio: {f'all of its {n} subjects have' if is_all else f'none of its {n} subjects has'} {what}"

    def explain_estimate(self) -> str:
        """Return why the likelihood has no maximum."""
        separates = ", or a covariate that separates them" if self.scales else ""
        return f"not estimated: too few subjects or events{separates}"


def _tabulate_outcome(analysis: _Analysis, methods: Sequence[Method]) -> _Rows:
    """Yield the rows of `compare_outcomes` by these methods."""
    for method in methods:
        errors, why = analysis.assigned.errors_of(method)
        reason = [{"measure": analysis.density.measure, "remark": why}]
        for row in reason if why else _tabulate_method(analysis, errors, method):
            yield analysis.about | {"method": method} | row
    for subtype in analysis.assigned.too_small:
        yield analysis.about | {"subtype": subtype, "remark": "left out: too few subjects"}


def _tabulate_method(analysis: _Analysis, errors: Array, method: Method) -> _Rows:
    """Yield levels, ratios or differences and tests; first of the subtypes that have ratios, then what others have."""
    kind, estimates, density = analysis.outcome.kind, None, analysis.density
    ends = analysis.find_ends(errors if method == "bch" else np.eye(len(errors)))
    places, has_ratio = np.flatnonzero(np.isnan(ends)), np.isnan(ends)
    rows = ~np.isin(analysis.labels, np.flatnonzero(ends == APART if method != "naive" else ~has_ratio))
    if places.size > 1:
        cases = analysis.encode(rows), analysis.covariates[rows], errors, analysis.labels[rows]
        estimates = outcome_by_subtype(density, *cases, method, has_ratio)
    if estimates is not None:
        yield from _tabulate_estimates(analysis, estimates, places)
        if analysis.times and method == "naive":
            yield _test_proportional(analysis, rows, places)
    elif places.size > 1:
        is_left_out = method == "ml" and not has_ratio.all()
        why = "not estimated: a subtype has no ratio" if is_left_out else analysis.explain_estimate()
        yield {"measure": density.measure, "remark": why}
    for place in np.flatnonzero(~has_ratio).tolist():
        why = analysis.explain_ratio(place, ends[place], method)
        yield {"subtype": analysis.assigned.names[place], "measure": density.measure, "remark": why}
    with_ratio = [] if estimates is None else places.tolist()
    is_whole = len(with_ratio) == analysis.n_subtypes
    if method == "naive" and not is_whole and kind in ("binary", "survival") and not (ends == APART).any():
        yield from _tabulate_penalised(analysis, with_ratio)
    if method != "ml" and kind == "binary":
        yield from _tabulate_shares(analysis, errors, method, with_ratio)
    if method == "naive" and analysis.times:
        yield from _tabulate_rates(analysis)


def _tabulate_estimates(analysis: _Analysis, estimates: Estimates, places: Labels) -> _Rows:
    """Yield the rows of the subtypes in some places; a unit of a term is 1 / its scale of the fitted one."""
    level, density, measure = analysis.level, analysis.density, {"measure": analysis.density.measure}
    units = analysis.unit * np.eye(estimates.parameters.size)
    on_scale = (lambda eta: analysis.origin + eta) if analysis.outcome.kind == "continuous" else density.on_scale
    for unit, place in zip(units, places.tolist() if density.level else [], strict=False):
        about = {"subtype": analysis.assigned.names[place], "measure": density.level, "p": None}
        yield _estimate(estimates, unit, on_scale, level) | about
    pairs, contrasts = analysis.assigned.compare_with(places)
    for pair, contrast in zip(pairs, analysis.unit * contrasts[:, places], strict=True):
        yield _estimate(estimates, contrast, density.on_difference, level) | pair | measure
    those = "all subtypes" if places.size == analysis.n_subtypes else "subtypes with a ratio"
    yield estimates.test(contrasts[:, places]) | {"measure": f"{those} alike"}
    for unit, (term, scale) in zip(units[places.size :], analysis.scales.items(), strict=False):
        yield _estimate(estimates, unit / scale, density.on_difference, level) | {"term": term} | measure


def _tabulate_penalised(analysis: _Analysis, with_ratio: Sequence[int]) -> _Rows:
    """Yield ratios of the penalised likelihood of the subtypes as assigned, apart from those among `with_ratio`."""
    assigned, every = analysis.assigned, np.arange(analysis.n_subtypes)
    penalised = penalise(analysis.y, analysis.covariates, analysis.labels, assigned.versus, every.size)
    if penalised is None:
        return
    pairs, contrasts = assigned.compare_with(every)
    is_new = (contrasts[:, np.setdiff1d(every, with_ratio)] != 0.0).any(axis=1).tolist() + [True] * len(analysis.scales)
    rows = [(pair, 1.0) for pair in pairs] + [({"term": term}, scale) for term, scale in analysis.scales.items()]
    for place, (row, scale) in enumerate(rows):
        if is_new[place]:
            *ends, p = penalised.bound(place, analysis.level)
            numbers = zip(("estimate", "lower", "upper"), np.exp(np.array(ends) / scale), strict=True)
            yield row | {"measure": f"penalised {analysis.density.measure}", **dict(numbers), "p": p}


def _tabulate_shares(analysis: _Analysis, errors: Array, method: Method, with_level: Sequence[int]) -> _Rows:
    """Yield shares of subtypes without a level from the model, and all differences of shares, not adjusted."""
    from scipy.stats import fisher_exact

    observed, labels, every = analysis.observed, analysis.labels, np.arange(analysis.n_subtypes)
    weights = np.linalg.inv(errors)[labels]
    n_effective = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)  # less with errors of assignment (Kish 1965)
    weights = np.round(weights / weights.sum(axis=0), 12)  # almost sure assignments leave weights such as 1e-24
    shares = observed @ weights
    of_subjects = weights * (observed[:, None] - shares)
    estimates = Estimates(shares, of_subjects.T @ of_subjects)
    se = np.sqrt(np.diag(estimates.covariance))
    margin = se * _quantile(analysis.level) if method == "bch" else 0.0 * se
    # Where all are assigned with certainty, 0 of 80 has no standard error: Wilson's limits are the wider ones.
    lower, upper = bound_share(np.clip(shares, 0.0, 1.0), n_effective, _quantile(analysis.level))
    lower = np.clip(np.minimum(lower, shares - margin), 0.0, 1.0)
    upper, shares = np.clip(np.maximum(upper, shares + margin), 0.0, 1.0), np.clip(shares, 0.0, 1.0)
    for place in np.setdiff1d(every, with_level).tolist():
        row = {"subtype": analysis.assigned.names[place], "measure": f"share{analysis.not_adjusted}", "se": se[place]}
        yield row | {"estimate": shares[place], "lower": lower[place], "upper": upper[place]}
    pairs, contrasts = analysis.assigned.compare_with(every)
    for pair, contrast in zip(pairs, contrasts, strict=True):
        place, versus = contrast.argmax(), contrast.argmin()
        below = np.hypot(shares[place] - lower[place], upper[versus] - shares[versus])  # Newcombe 1998, method 10
        above = np.hypot(upper[place] - shares[place], shares[versus] - lower[versus])
        row, difference = _estimate(estimates, contrast, np.asarray, analysis.level), shares[place] - shares[versus]
        ends = np.array([difference, difference - below, difference + above])
        if method == "bch":
            ends = np.array([difference, min(row["lower"], ends[1]), max(row["upper"], ends[2])])
        row |= dict(zip(("estimate", "lower", "upper"), np.clip(ends, -1.0, 1.0).tolist(), strict=True))
        if method == "naive":
            counts = [np.bincount(observed[labels == it].astype(np.int64), minlength=2) for it in (place, versus)]
            row["p"] = float(fisher_exact(np.array(counts)).pvalue)
        yield row | pair | {"measure": f"risk difference{analysis.not_adjusted}"}
    if len(with_level) < analysis.n_subtypes:
        exact = contrast_of(observed, labels, "counts")
        test = {"estimate": exact.statistic, "p": exact.p} if method == "naive" else estimates.test(contrasts)
        yield {"measure": f"shares alike{analysis.not_adjusted}"} | test


def _quantile(level: float) -> float:
    return float(ndtri(0.5 + level / 2.0))


def _tabulate_rates(analysis: _Analysis) -> _Rows:
    """Yield events for each unit of time, with exact limits (Garwood 1936), and the log-rank test, not adjusted."""
    from statsmodels.stats.rates import confint_poisson

    time, event, entry = analysis.times
    events, exposed = (np.bincount(analysis.labels, weights) for weights in (event, time - entry))
    limits = confint_poisson(events, exposed, method="exact-c", alpha=1.0 - analysis.level)
    for name, *rates in zip(analysis.assigned.names, events / exposed, *limits, strict=True):
        row = dict(zip(("estimate", "lower", "upper"), rates, strict=True))
        yield row | {"subtype": name, "measure": "events per unit of time"}
    test = analysis.risk_sets.test_log_rank()
    why = {"remark": "not tested: no other subject is at risk at any event"}
    yield {"measure": "log-rank"} | (test if np.isfinite(test["p"]) else why)


def _test_proportional(analysis: _Analysis, rows: Mask, places: Labels) -> _Row:
    """Return the test that hazard ratios of subtypes, as assigned, do not change over time.

    Schoenfeld's residuals of Cox regression must not go with the ranks of event times (Grambsch and Therneau 1994,
    Biometrika 81, 515-526).
    """
    from statsmodels.duration.hazard_regression import PHReg

    (time, event, entry), row = (part[rows] for part in analysis.times), {"measure": "hazards proportional"}
    is_event = event > 0.0
    if is_event.sum() < _FEWEST_EVENTS * (places.size - 1 + len(analysis.scales)):
        return row | {"remark": "not tested: too few events"}
    is_member = analysis.labels[rows][:, None] == places[1:]
    cox = PHReg(time, np.hstack([is_member, analysis.covariates[rows]]), status=event, entry=entry).fit(disp=0)
    ranks = mid_ranks(time[is_event]) - (is_event.sum() + 1.0) / 2.0
    lean = ranks @ cox.schoenfeld_residuals[is_event][:, : places.size - 1]
    covariance = cox.cov_params()[: places.size - 1, : places.size - 1]
    statistic = float(is_event.sum() * (lean @ covariance @ lean) / (ranks @ ranks))
    return row | {"estimate": statistic, "p": float(chdtrc(places.size - 1, statistic))}


def _estimate(estimates: Estimates, contrast: Array, scale: Callable[[Array], Array], level: float) -> _Row:
    """Return the estimate of a linear combination of the parameters with its interval on a scale, `se` and `p`."""
    places = slice(contrast.size)
    se = float(np.sqrt(contrast @ estimates.covariance[places, places] @ contrast))
    eta, margin = float(contrast @ estimates.parameters[places]), se * _quantile(level)
    with np.errstate(over="ignore"):
        ends = scale(np.array([eta, eta - margin, eta + margin])).tolist()
    row: _Row = {"se": se, "p": float(2.0 * ndtr(-abs(eta / se))) if se > 0.0 else np.nan}
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
    >>> old, falls = rng.random(120) < 0.4, cc.Feature(name="falls", likelihood="poisson", role="describe")
    >>> frame = pd.DataFrame({"age": rng.normal(60 + 20 * old, 8), "falls": rng.poisson(1 + 2 * old)})
    >>> groups = cc.Partition(old.astype(int), cc.FeatureSchema([falls], other_columns="ignore"), made_by="hand")
    >>> found = cc.outcomes.adjusted_differences(groups, frame, ["age"])
    >>> found[["feature", "measure", "clustered_on"]].to_numpy().tolist()
    [['falls', 'rate ratio', False]]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(versus, level, [], "covariates")
    adjusted = columns.covariates(covariates, "covariates")
    if not covariates:
        columns.problems.append("covariates: name columns to adjust for, such as age and sex")
    refuse(columns.problems)
    formed = clustered_features(model)
    rows: list[_Row] = []
    for feature in model.schema_.reported:
        if feature.name in covariates:
            continue
        about = {"feature": feature.name, "clustered_on": feature.name in formed}
        try:
            outcome = columns.outcome(feature.name)
            refuse(columns.problems)
            assert outcome is not None
            assigned, complete = columns.assign(outcome.is_known, adjusted, versus, "covariates")
            if np.ptp(outcome.observed[assigned.rows]) == 0.0:
                raise InputError("the same in all subjects with all values")
        except InputError as error:
            columns.problems.clear()
            rows.append(about | {"remark": str(error)})
            continue
        for row in _tabulate_outcome(_Analysis(outcome, assigned, complete, level), ("naive",)):
            if (row.get("versus") or row.get("remark")) and "not adjusted" not in row.get("measure", ""):
                rows.append(about | row | ({"p": np.nan} if about["clustered_on"] else {}))
    names = ("feature", *_ABOUT, "clustered_on", "subtype", "versus", "measure")
    return _tabulate(rows, *names, *_ESTIMATE, "n", "remark")


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
    >>> frame = pd.DataFrame(rng.normal(2.0 * frail[:, None], size=(120, 5)), columns=list("abcde"))
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> found = cc.subtype_predictors(model, frame.assign(age=age.round()), ["age"])
    >>> found[["method", "term", "subtype", "versus"]].to_numpy().tolist()
    [['ml', 'age', 2, 1], ['naive', 'age', 2, 1]]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(versus, level, [*predictors], "predictors")
    if len(predictors) == 0:
        columns.problems.append("predictors must name at least one column")
    terms = columns.covariates(predictors, "predictors")
    refuse(columns.problems)
    assigned, terms = columns.assign(np.ones(len(terms), dtype=bool), terms, versus, "predictors")
    (standard, scales), pairs = standardised(terms), assigned.compare_with(np.arange(assigned.subtypes.size))[0]
    rows: list[_Row] = []
    for method in ("ml", "naive"):
        about = {"method": method, "n": len(standard)}
        errors, why = assigned.errors_of(method)
        estimates = None if why else predictors_of_subtype(standard, errors, assigned.labels, assigned.versus)
        if estimates is None:
            separates = "not estimated: too few subjects, or a predictor that separates subtypes"
            rows.append(about | {"remark": why or separates})
            continue
        units = np.eye(estimates.parameters.size).reshape(len(pairs), 1 + len(scales), -1)
        for pair, of_terms in zip(pairs, units, strict=True):
            for term, contrast, scale in zip(terms, of_terms[1:], scales, strict=True):
                rows.append(about | pair | {"term": term} | _estimate(estimates, contrast / scale, np.exp, level))
    left_out = {"n": len(standard), "remark": "left out: too few subjects"}
    rows += [{"subtype": subtype} | left_out for subtype in assigned.too_small]
    return _tabulate(rows, "method", "term", "subtype", "versus", *_ESTIMATE, "n", "remark")


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
        predictors) with its interval and p, and as assigned. Then whether hazards are proportional, and why
        something was not estimated.

    Raises
    ------
    ValueError
        If the table is the result of another function.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> walks = [3.1, 4.2, 5.1, 3.4, 4.7, 5.3, 7.2, 8.8, 9.1, 7.5, 8.4, 9.6]
    >>> frame = pd.DataFrame({"x": range(12), "walks": walks})
    >>> groups = cc.Partition([0] * 6 + [1] * 6, cc.draft_schema(frame[["x"]]), made_by="hand")
    >>> cc.outcomes.summarise_outcomes(cc.compare_outcomes(groups, frame, "walks"))[0]
    'Subtype 2 against 1, mean difference: not corrected; as assigned 4.13 (3.04 to 5.23), p < .001'
    """
    if "feature" in table:
        return [
            f"{row['feature']}: {row['remark']}"
            if isinstance(row["remark"], str)
            else f"{row['feature']}, s{_write_difference(row)[1:]}"
            for row in table.to_dict("records")
        ]
    if "measure" not in table:
        table = table.assign(measure="odds ratio of " + table["term"])
    table = table.assign(method=table["method"].fillna(""))
    scores = table[(table["method"] == "score") & table["estimate"].notna()].to_dict("records")
    lines = [f"{describe_measure(row)}: {_write_estimate(row)}" for row in scores]
    for line in merge_methods(table):
        if line.assigned is not None or line.corrected is not None:
            pair = f"Subtype {line.subtype}" + ("" if line.versus is None else f" against {line.versus}")
            best = "not corrected" if line.corrected is None else _write_estimate(line.corrected)
            best = f"unless they are slices, {best}" if line.may_be_slices and line.versus and line.corrected else best
            as_assigned = "" if line.assigned is None else f"; as assigned {_write_estimate(line.assigned)}"
            lines.append(f"{pair}, {line.measure}: {best}{as_assigned}")
    tests = {row["measure"]: row for row in table[table["p"].notna()].drop_duplicates("measure").to_dict("records")}
    for measure, (question, no, yes, bound) in _QUESTIONS.items():
        if measure in tests:
            p = tests[measure]["p"]
            lines.append(f"{question} {yes if p < bound else no}{write_p(p)}")
    for why, rows in table[table["remark"].notna()].groupby("remark", sort=False):
        methods, subtypes = (list(dict.fromkeys(rows[name].dropna())) for name in ("method", "subtype"))
        who = [f"Subtype{'s' * (len(subtypes) > 1)} {', '.join(map(str, subtypes))}"] if subtypes else []
        who += [method.upper() for method in sorted(methods) if method]
        lines.append(f"{', '.join(who) or 'Subtypes'}: {why}")
    return lines


_EFFECTS, _ALLOWED = "Effects of features inside subtypes?", "Yes, and the corrected numbers allow for them, "
# Of tests in the result: what is asked, the answers if p is at least a bound and if it is below, and the bound.
_QUESTIONS = {
    "no effects of features": (_EFFECTS, "Not shown, ", _ALLOWED, _DIRECT),
    "hazards proportional": ("Hazards proportional?", "Nothing speaks against it, ", "No, ", _NOT_PROPORTIONAL),
    "log-rank": ("Log-rank test:", "", "", 0.0),
}


class Line(NamedTuple):
    """What is reported of two subtypes, or of one; remarks say, by method, why there is no number."""

    subtype: Code | None
    versus: Code | None
    measure: str
    corrected: dict[Hashable, Any] | None
    assigned: dict[Hashable, Any] | None
    remarks: dict[str, str]
    may_be_slices: bool  # of a continuum: what is as assigned is to be reported


def merge_methods(table: pd.DataFrame) -> list[Line]:
    """Return differences and ratios, corrected and as assigned, from the frame of `compare_outcomes`.

    Where a subtype has no ratio, or nothing has one, shares or means of each subtype come first.
    """
    table = table.assign(method=table["method"].fillna(""))
    best = "bch" if (table["method"] == "bch").any() else "ml"
    if (table.loc[table["measure"] == "no effects of features", "p"] < _DIRECT).any():
        best = "features"
    may_be_slices = bool((table["method"] == "score").any())
    table = table[table["method"].isin([best, "naive"])]
    of_subtype, has_remark = table["subtype"].notna(), table["remark"].notna()
    has_levels = bool((has_remark & (of_subtype | (table["method"] == "naive"))).any())
    is_line = table["versus"].notna() | (of_subtype & (has_remark | has_levels))
    lines: dict[tuple[Any, ...], dict[str, dict[Hashable, Any]]] = {}
    rows_of_lines = table[is_line].sort_values("method", key=lambda method: method != "naive", kind="stable")
    for row in rows_of_lines.to_dict("records"):
        subtype, versus = (None if pd.isna(row[name]) else row[name] for name in ("subtype", "versus"))
        lines.setdefault((subtype, versus, describe_measure(row)), {})[str(row["method"])] = row
    merged = []
    for (subtype, versus, measure), rows in lines.items():
        remarks = {method: row["remark"] for method, row in rows.items() if isinstance(row["remark"], str)}
        numbers = {method: None if method in remarks else row for method, row in rows.items()}
        merged.append(Line(subtype, versus, measure, numbers.get(best), numbers.get("naive"), remarks, may_be_slices))
    levels = [line for line in merged if line.versus is None and not line.remarks]
    return sorted(levels, key=lambda line: line.subtype or 0) + [line for line in merged if line not in levels]


def describe_measure(row: dict[Hashable, Any]) -> str:
    """Return a measure with its event, or with the order of the levels, without which a ratio has no meaning."""
    of_event = f" of {row['event']!r}" if isinstance(row.get("event"), str) and "unit" not in row["measure"] else ""
    if isinstance(row.get("order"), str):
        of_event = f" of a higher level ({row['order']})"
    parts = [part for part in (f" for {SCORE}", ", not adjusted") if str(row["measure"]).endswith(part)]
    return str(row["measure"]).removesuffix("".join(parts)) + of_event + "".join(parts)


def _write_difference(row: dict[Hashable, Any]) -> str:
    return f"Subtype {row['subtype']} against {row['versus']}, {describe_measure(row)}: {_write_estimate(row)}"


def _write_estimate(row: dict[Hashable, Any]) -> str:
    if not np.isfinite(row["estimate"]):
        return "too large a unit"
    text = f"{row['estimate']:.3g}"
    if np.isfinite(row["lower"]):
        text += f" ({row['lower']:.3g} to {row['upper']:.3g})"
    return text if np.isnan(row["p"]) else f"{text}, {write_p(row['p'])}"


def write_p(p: float) -> str:
    """Return p as sentences write it."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
