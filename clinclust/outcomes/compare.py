"""Compare outcomes between subtypes, adjusted or over time, and find what predicts who is in which subtype."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri

import clinclust.outcomes.estimates as models
from clinclust.arguments import accepting
from clinclust.arrays import Array, Code, Labels, Mask, mid_ranks
from clinclust.comparisons.differences import NORMAL_QUANTILE, bound_share, contrast_of
from clinclust.errors import InputError, refuse
from clinclust.estimators.subtype_model import SubtypeModel, clustered_features
from clinclust.outcomes.columns import SCORE, Assigned, CohortColumns, Event, Outcome, standardised

_APART = "no hazard ratio: while it and the others are followed, only one side has events"
_ESTIMATE = ("estimate", "se", "lower", "upper", "p")
_DTYPES = {"n": "Int64", "n_events": "Int64", "clustered_on": "bool", **dict.fromkeys(_ESTIMATE, "float64")}
_Row: TypeAlias = dict[str, Any]


def _tabulate(rows: Iterable[_Row], *columns: str) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=list(columns))
    has_grades = any(isinstance(code, str) for code in table["subtype"])
    dtypes = _DTYPES | dict.fromkeys(("subtype", "versus"), "string" if has_grades else "Int64")
    return table.astype({name: dtypes.get(name, "string") for name in columns})


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
) -> pd.DataFrame:
    """Compare an outcome between subtypes, with the errors of assignment carried through.

    Differences between assigned subtypes are too small, because some subjects are assigned to the wrong one. BCH and
    maximum likelihood in three steps correct this (Bolck, Croon and Hagenaars 2004; Vermunt 2010), if the outcome does
    not depend on the features inside subtypes: where the row ``"no effects of features"`` has a p below .01, report the
    method ``"features"``. Where the subtypes may be slices of a continuum, the first row is of one SD of
    `continuum_score`: report that.

    Parameters
    ----------
    model : MAPDP, GibbsDP or another SubtypeModel
        A fitted model. Without probabilities, such as of a `Partition`, the answer is the naive one only.
    frame : DataFrame, N rows
        The cohort of the fit, with further columns.
    outcome : str
        Column that had no part in the subtypes. Yes/no: odds ratios of `event`. Ordered levels: proportional odds.
        Counts: rate ratios (negative binomial). Measurements: differences of means. With `time`: hazard ratios.
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

    Returns
    -------
    DataFrame
        For each `method` (``"bch"``, ``"ml"``, ``"naive"``: as assigned): rows with `subtype` and no `versus` are means
        or shares, at the mean of the covariates; rows with both are differences or ratios (`measure`), of ordered
        levels those of a higher one in the `order`; rows with `term` are of covariates; ``"all subtypes alike"`` is a
        Wald test. A subtype in which fewer than one subject has the event, or none has not, has no ratio (`remark`),
        but a share, risk differences and, as assigned, a penalised ratio. With `time`, ``"hazards proportional"`` tests
        whether ratios change over time, ``"log-rank"`` is not adjusted; both are as assigned. `lower` and `upper` are
        95% limits; `se` is robust, of a difference, the logarithm of a ratio or the linear predictor of a level.

    Raises
    ------
    CohortError, ValueError
        If `frame` does not fit the schema or is not the cohort of the model, or columns cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": range(12), "walks": [3.1, 4.2, 5.1, 3.4, 4.7, 5.3, 7.2, 8.8, 9.1, 7.5, 8.4, 9.6]})
    >>> groups = cc.Partition([0] * 6 + [1] * 6, cc.draft_schema(frame[["x"]]), made_by="hand")
    >>> cc.compare_outcomes(groups, frame, "walks").query("versus == 1")["estimate"].round(2).tolist()
    [4.13]
    """
    of_event = {"time": time, "entry": entry, "event": event}
    return compare_outcome(CohortColumns.read(model, frame), outcome, of_event, covariates, versus)


def compare_outcome(
    columns: CohortColumns, outcome: str, of_event: dict[str, Any], covariates: Sequence[str] = (), versus: Code = 1
) -> pd.DataFrame:
    """Return the frame of `compare_outcomes` for the columns of a cohort; `of_event`: time, entry and event."""
    score, names = columns.continuum_score, [outcome, of_event.get("time"), of_event.get("entry")]
    is_alone = score is not None and columns.n_subtypes == 1
    columns.check(versus, names, "outcome", alone=is_alone)
    columns.problems += ["covariates: leave out the outcome and its times"] * (not {*names}.isdisjoint(covariates))
    values, adjusted = columns.outcome(outcome, **of_event), columns.covariates(covariates, "covariates")
    refuse(columns.problems)
    assert values is not None
    rows: list[_Row] = []
    if score is not None:
        analysis = _Analysis(columns, values, score.join(adjusted), None)
        measure = {"method": "score", "measure": f"{analysis.density.measure} for {SCORE}"}
        estimates = analysis.fit(np.ones(len(analysis.y), dtype=bool), np.zeros(1, dtype=np.int64), "naive")
        why = "these subtypes were not shown to be more than slices of a continuum: "
        why += "no test was made; unless this can be excluded, " * (columns.cohort.fit.tree_test_ is None)
        why += "report this number, and of the subtypes what is as assigned, because slices have no corrected one"
        row = analysis.about | measure | {"remark": why if estimates else analysis.without_maximum}
        if estimates is not None:
            contrast = analysis.unit * np.eye(estimates.parameters.size)[1] / analysis.scales[SCORE]
            row |= _estimate(estimates, contrast, analysis.density.on_difference)
        rows.append(row)
    if not is_alone:
        analysis = _Analysis(columns, values, adjusted, versus)
        for method in ("bch", "ml", "naive"):
            rows += (analysis.about | {"method": method} | row for row in _tabulate_method(analysis, method))
        rows += (analysis.about | {"subtype": it, "remark": "left out: too few subjects"} for it in analysis.too_small)
        rows += _tabulate_features(analysis, columns, covariates)
    about = ("outcome", "kind", "event", "order", "method", "term", "subtype", "versus", "measure")
    return _tabulate(rows, *about, *_ESTIMATE, "n", "n_events", "remark")


class _Analysis(Assigned):
    """The analysis of an outcome of the assigned subjects (n,), adjusted for covariates (n, C)."""

    def __init__(self, columns: CohortColumns, outcome: Outcome, terms: pd.DataFrame, versus: Code | None) -> None:
        is_known = np.asarray(~np.isnan([outcome.observed, *outcome.times]).any(axis=0))
        super().__init__(columns.cohort, is_known, terms, versus)
        self.outcome, self.density = outcome, models.DENSITIES[outcome.kind]
        self.observed, *self.times = (part[self.rows] for part in (outcome.observed, *outcome.times))
        if np.ptp(self.observed) == 0.0 and not (self.times and self.observed.any()):
            raise InputError(f"outcome: {outcome.name!r} is the same in all subjects with all values")
        n_events = None if outcome.event is None else int((self.observed > 0.0).sum())
        self.about: _Row = {"outcome": outcome.name, "kind": outcome.kind, "event": outcome.event}
        self.about |= {"order": " < ".join(outcome.order) or None, "n": len(self.observed), "n_events": n_events}
        self.origin, self.unit = 0.0, 1.0
        if outcome.kind == "continuous":
            self.origin, self.unit = float(self.observed.mean()), max(float(self.observed.std()), 1e-300)
        self.not_adjusted = ", not adjusted" if self.scales else ""
        self.without_maximum = "not estimated: too few subjects or events"
        self.without_maximum += ", or a covariate that separates them" if self.scales else ""
        if self.times:
            groups = models.group_comparable(self.labels, self.n_subtypes, self.observed, *self.times)
            self.groups, self.is_at_risk = groups
        self.y = self.encode(np.ones(len(self.observed), dtype=bool))
        has_ratio = pd.isna(self.explain_ratios("naive"))
        cases = has_ratio[self.labels], np.flatnonzero(has_ratio), "naive"
        if outcome.kind == "count" and has_ratio.any() and self.fit(*cases) is None:
            self.density = models.POISSON  # without overdispersion, the size has no maximum

    def encode(self, rows: Mask) -> Array:
        """Return the outcomes of some subjects, bool (n,), for `outcome_by_subtype`."""
        if self.times:
            return models.in_intervals(self.observed[rows], *(part[rows] for part in self.times))
        if self.outcome.kind == "ordered":  # levels are numbered 0, 1, ... without a gap
            return np.unique(self.observed[rows], return_inverse=True)[1].astype(np.float64)
        return (self.observed[rows] - self.origin) / self.unit

    def fit(self, rows: Mask, places: Labels, method: str) -> models.Estimates | None:
        """Return the estimates of the subtypes in some places from some subjects, bool (n,), if there is a maximum."""
        errors, labels, terms = self.errors, self.labels[rows], self.covariates[rows]
        cases = self.density, self.encode(rows), terms
        naive = models.outcome_by_subtype(*cases, np.eye(self.n_subtypes)[labels][:, places])
        start = None if naive is None else naive.parameters
        if method == "bch":  # weights below 0 make far parts of the objective rise without end
            return models.outcome_by_subtype(*cases, np.linalg.inv(errors)[labels][:, places].astype(float), start)
        if method == "naive" or places.size < self.n_subtypes:
            return naive if method == "naive" else None
        return models.outcome_by_subtype(*cases, errors.T[labels], start, np.insert(terms, 0, 1.0, axis=1))

    def explain_ratios(self, method: str) -> NDArray[np.object_]:
        """Return why a subtype has no ratio, (K,): fewer than one subject has the event, or has not; else None."""
        kind, observed, reasons = self.outcome.kind, self.observed, np.full(self.n_subtypes, None)
        weights = (np.linalg.inv(self.errors) if method == "bch" else np.eye(self.n_subtypes))[self.labels]
        is_above, is_top = observed > (observed.min() if kind == "ordered" else 0.0), observed == observed.max()
        words = {"count": ("a count above 0", ""), "ordered": ("more than the lowest level", "the highest level")}
        lowest, highest = words.get(kind, (repr(self.outcome.event),) * 2)
        ends = [(is_above, is_above, lowest)] * (kind != "continuous")
        ends += [(~is_top, is_top, highest)] * (kind in ("ordered", "binary"))
        corrected = "corrected, " if method == "bch" else ""
        for needed, counted, what in ends:
            for place in np.flatnonzero(weights.T @ needed < 1.0 - 1e-9).tolist():
                n, size = round(max(float((weights.T @ counted)[place]), 0.0), 1), (self.labels == place).sum()
                reasons[place] = f"no ratio: {corrected}{n:g} of its {size} subjects have {what}"
        if self.times and (has_events := pd.isna(reasons)).sum() > 1:
            groups, sizes = self.groups, np.bincount(self.groups[has_events], minlength=self.n_subtypes)
            group = groups[self.versus] if sizes[groups[self.versus]] > 1 else int(sizes.argmax())
            reasons[has_events & ((groups != group) | (sizes[group] < 2))] = _APART
        return reasons


def _estimate(estimates: models.Estimates, contrast: Array, scale: Callable[[Array], Array]) -> _Row:
    """Return the estimate of a linear combination of the parameters with its interval on a scale, `se` and `p`."""
    places = slice(contrast.size)
    se = float(np.sqrt(contrast @ estimates.covariance[places, places] @ contrast))
    eta, margin = float(contrast @ estimates.parameters[places]), se * NORMAL_QUANTILE
    with np.errstate(over="ignore"):
        ends = scale(np.array([eta, eta - margin, eta + margin])).tolist()
    row: _Row = {"se": se, "p": float(2.0 * ndtr(-abs(eta / se))) if se > 0.0 else np.nan}
    if not np.isfinite(ends).all():
        return row | {"remark": "one unit is too large a step for a ratio: take another unit"}
    return row | dict(zip(("estimate", "lower", "upper"), ends, strict=True))


_SUBJECTS_FOR_A_FEATURE = 10  # from which on effects of features inside subtypes are looked for
_FEWEST_EVENTS = 10  # for each term of a Cox regression (Peduzzi et al. 1995, Journal of Clinical Epidemiology 48)
# p below which an outcome is said to depend on features inside subtypes. Without such effects, p was below .05 in 3% to
# 20% of cohorts, by kind of outcome (30 to 40 each), and of measurements and yes/no below .01 in at most 3%.
_DIRECT = 0.01


def _tabulate_features(analysis: _Analysis, columns: CohortColumns, covariates: Sequence[str]) -> Iterator[_Row]:
    """Yield differences or ratios of a mixture of regressions on the features, and the test that these have no effect.

    Memberships are known weights, and features are measured from their means in each subtype, so that the intercepts
    are those of subtypes (Bray, Lanza and Tan 2015; Vermunt and Magidson 2021). A missing value has the mean.
    """
    has_ratio = pd.isna(analysis.explain_ratios("naive"))
    places, rows = np.flatnonzero(has_ratio), has_ratio[analysis.labels]
    formed = [name for name in clustered_features(columns.cohort.model) if name not in covariates]
    table = columns.covariates(formed, "features")
    values, scales = standardised(table)
    names, features = table.columns[scales > 1e-300], values[analysis.rows][rows][:, scales > 1e-300]
    n_subtypes, (n, n_features) = places.size, features.shape
    if analysis.why_not or not n >= _SUBJECTS_FOR_A_FEATURE * n_features > 0 or n_subtypes < 2:
        return
    membership = analysis.membership[rows][:, places]
    membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
    observed, values = ~np.isnan(features), np.nan_to_num(features)
    means = membership.T @ values / np.maximum(membership.T @ observed, 1e-300)
    inside = np.where(observed[:, None], values[:, None] - means, 0.0)
    adjusted, y = np.repeat(analysis.covariates[rows][:, None], n_subtypes, axis=1), analysis.encode(rows)
    estimates, without = (
        models.outcome_by_subtype(analysis.density, y, terms, membership, shares=np.empty((n, 0)))
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
    strong = np.flatnonzero(z > max(min(float(ndtri(1.0 - _DIRECT / n_features / 2.0)), z.max()) - 1e-12, 0.0))
    effects = ", ".join(names[strong[np.argsort(-z[strong])]])
    remark = f"the outcome depends on features inside subtypes ({effects}), which BCH and ML do not allow for"
    test = {"measure": "no effects of features", "estimate": statistic, "p": p}
    yield about | test | ({"remark": remark} if p < _DIRECT else {})


def _tabulate_method(analysis: _Analysis, method: str) -> Iterator[_Row]:
    """Yield levels, ratios or differences and tests; first of the subtypes that have ratios, then what others have."""
    kind, density, every = analysis.outcome.kind, analysis.density, np.arange(analysis.n_subtypes)
    if method != "naive" and analysis.why_not:
        yield {"measure": density.measure, "remark": analysis.why_not}
        return
    reasons = analysis.explain_ratios(method)
    has_ratio, is_apart = pd.isna(reasons), reasons == _APART
    places, rows = np.flatnonzero(has_ratio), ~(is_apart if method != "naive" else ~has_ratio)[analysis.labels]
    estimates = analysis.fit(rows, places, method) if places.size > 1 else None
    if estimates is not None:
        yield from _tabulate_estimates(analysis, estimates, places)
    elif places.size > 1:
        is_left_out = method == "ml" and not has_ratio.all()
        why = "not estimated: a subtype has no ratio" if is_left_out else analysis.without_maximum
        yield {"measure": density.measure, "remark": why}
    for place in np.flatnonzero(~has_ratio).tolist():
        yield {"subtype": analysis.names[place], "measure": density.measure, "remark": reasons[place]}
    with_ratio = [] if estimates is None else places.tolist()
    is_whole, penalised = len(with_ratio) == every.size, None
    if method == "naive" and not is_whole and kind in ("binary", "survival") and not is_apart.any():
        penalised = models.penalise(analysis.y, analysis.covariates, analysis.labels, analysis.versus, every.size)
    if penalised is not None:
        pairs, contrasts = analysis.compare_with(every)
        is_new = (contrasts[:, np.setdiff1d(every, with_ratio)] != 0.0).any(axis=1)
        terms = [(pair, 1.0) for pair in pairs] + [({"term": term}, scale) for term, scale in analysis.scales.items()]
        for place in np.flatnonzero([*is_new, *[True] * len(analysis.scales)]).tolist():
            (row, scale), (*ends, p) = terms[place], penalised(place)
            numbers = zip(("estimate", "lower", "upper"), np.exp(np.array(ends) / scale), strict=True)
            yield row | {"measure": f"penalised {density.measure}", **dict(numbers), "p": p}
    if method != "ml" and kind == "binary":
        yield from _tabulate_shares(analysis, method, with_ratio)
    if method == "naive" and analysis.times:
        yield from _tabulate_times(analysis, rows, with_ratio)


def _tabulate_estimates(analysis: _Analysis, estimates: models.Estimates, places: Labels) -> Iterator[_Row]:
    """Yield the rows of the subtypes in some places; a unit of a term is 1 / its scale of the fitted one."""
    density, measure = analysis.density, {"measure": analysis.density.measure}
    units = analysis.unit * np.eye(estimates.parameters.size)
    for unit, place in zip(units, places.tolist() if density.level else [], strict=False):
        row = _estimate(estimates, unit, lambda eta: analysis.origin + density.on_scale(eta))
        yield row | {"subtype": analysis.names[place], "measure": density.level, "p": None}
    pairs, contrasts = analysis.compare_with(places)
    for pair, contrast in zip(pairs, analysis.unit * contrasts[:, places], strict=True):
        yield _estimate(estimates, contrast, density.on_difference) | pair | measure
    those = "all subtypes" if places.size == analysis.n_subtypes else "subtypes with a ratio"
    yield estimates.test(contrasts[:, places]) | {"measure": f"{those} alike"}
    for unit, (term, scale) in zip(units[places.size :], analysis.scales.items(), strict=False):
        yield _estimate(estimates, unit / scale, density.on_difference) | {"term": term} | measure


def _tabulate_shares(analysis: _Analysis, method: str, with_level: Sequence[int]) -> Iterator[_Row]:
    """Yield shares of subtypes without a level from the model, and all differences of shares, not adjusted."""
    from scipy.stats import fisher_exact

    observed, labels, every = analysis.observed, analysis.labels, np.arange(analysis.n_subtypes)
    weights = (np.linalg.inv(analysis.errors) if method == "bch" else np.eye(every.size))[labels]
    n_effective = weights.sum(axis=0) ** 2 / (weights**2).sum(axis=0)  # less with errors of assignment (Kish 1965)
    weights = np.round(weights / weights.sum(axis=0), 12)  # almost sure assignments leave weights such as 1e-24
    shares = observed @ weights
    of_subjects = weights * (observed[:, None] - shares)
    estimates = models.Estimates(shares, of_subjects.T @ of_subjects)
    se = np.sqrt(np.diag(estimates.covariance))
    margin = se * NORMAL_QUANTILE if method == "bch" else 0.0 * se
    # Where all are assigned with certainty, 0 of 80 has no standard error: Wilson's limits are the wider ones.
    lower, upper = bound_share(np.clip(shares, 0.0, 1.0), n_effective)
    lower = np.clip(np.minimum(lower, shares - margin), 0.0, 1.0)
    upper, shares = np.clip(np.maximum(upper, shares + margin), 0.0, 1.0), np.clip(shares, 0.0, 1.0)
    for place in np.setdiff1d(every, with_level).tolist():
        row = {"subtype": analysis.names[place], "measure": f"share{analysis.not_adjusted}", "se": se[place]}
        yield row | {"estimate": shares[place], "lower": lower[place], "upper": upper[place]}
    pairs, contrasts = analysis.compare_with(every)
    for pair, contrast in zip(pairs, contrasts, strict=True):
        place, versus = contrast.argmax(), contrast.argmin()
        row, difference = _estimate(estimates, contrast, np.asarray), shares[place] - shares[versus]
        below = difference - np.hypot(shares[place] - lower[place], upper[versus] - shares[versus])
        above = difference + np.hypot(upper[place] - shares[place], shares[versus] - lower[versus])
        if method == "bch":  # Newcombe 1998, method 10, or the wider limits of the standard error
            below, above = min(row["lower"], below), max(row["upper"], above)
        else:
            counts = [np.bincount(observed[labels == it].astype(np.int64), minlength=2) for it in (place, versus)]
            row["p"] = float(fisher_exact(np.array(counts)).pvalue)
        row |= {"estimate": difference, "lower": max(below, -1.0), "upper": min(above, 1.0)}
        yield row | pair | {"measure": f"risk difference{analysis.not_adjusted}"}
    if len(with_level) < analysis.n_subtypes:
        exact = contrast_of(observed, labels, "counts")
        test = {"estimate": exact.statistic, "p": exact.p} if method == "naive" else estimates.test(contrasts)
        yield {"measure": f"shares alike{analysis.not_adjusted}"} | test


def _tabulate_times(analysis: _Analysis, rows: Mask, places: Sequence[int]) -> Iterator[_Row]:
    """Yield whether hazards are proportional, exact limits of rates (Garwood 1936), and the log-rank test, as assigned.

    Hazard ratios of the subtypes in some places change over time if Schoenfeld's residuals of Cox regression go with
    the ranks of event times (Grambsch and Therneau 1994, Biometrika 81, 515-526).
    """
    from statsmodels.duration.api import PHReg, survdiff
    from statsmodels.stats.rates import confint_poisson

    event, (time, entry), n_ratios = analysis.observed, analysis.times, len(places) - 1
    is_event = event[rows] > 0.0
    if places:
        row: _Row = {"measure": "hazards proportional", "remark": "not tested: too few events"}
        if is_event.sum() >= _FEWEST_EVENTS * (n_ratios + len(analysis.scales)):
            terms = np.hstack([analysis.labels[rows][:, None] == places[1:], analysis.covariates[rows]])
            cox = PHReg(time[rows], terms, status=event[rows], entry=entry[rows]).fit(disp=0)
            ranks = mid_ranks(time[rows][is_event]) - (is_event.sum() + 1.0) / 2.0
            lean = ranks @ cox.schoenfeld_residuals[is_event][:, :n_ratios]
            statistic = is_event.sum() * (lean @ cox.cov_params()[:n_ratios, :n_ratios] @ lean) / (ranks @ ranks)
            row |= {"estimate": float(statistic), "p": float(chdtrc(n_ratios, statistic)), "remark": None}
        yield row
    events, exposed = (np.bincount(analysis.labels, weights) for weights in (event, time - entry))
    limits = confint_poisson(events, exposed, method="exact-c")
    for name, *rates in zip(analysis.names, events / exposed, *limits, strict=True):
        row = dict(zip(("estimate", "lower", "upper"), rates, strict=True))
        yield row | {"subtype": name, "measure": "events per unit of time"}
    # Subtypes without a subject at risk at any event take no part.
    some, row = analysis.is_at_risk[analysis.labels], {"measure": "log-rank"}
    if analysis.is_at_risk.sum() > 1:
        statistic = float(survdiff(time[some], event[some], analysis.labels[some], entry=entry[some])[0])
        yield row | {"estimate": statistic, "p": float(chdtrc(analysis.is_at_risk.sum() - 1, statistic))}
    else:
        yield row | {"remark": "not tested: no other subject is at risk at any event"}


@accepting()
def adjusted_differences(
    model: SubtypeModel, frame: pd.DataFrame, covariates: Sequence[str], *, versus: Code = 1
) -> pd.DataFrame:
    """Compare every feature between the subtypes as assigned, by the regressions of `compare_outcomes`, adjusted.

    Parameters
    ----------
    model, frame, covariates, versus
        As in `compare_outcomes`. Covariates may have formed the subtypes.

    Returns
    -------
    DataFrame
        For each clustered or described feature that is no covariate: the differences of means or the ratios. Of
        features that formed the subtypes (`clustered_on`) there is no p: subtypes differ in these by construction.
        Where nothing can be estimated, as of levels without order, `remark` says why.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": range(12), "age": [58, 71, 49, 66, 73, 60, 64, 82, 75, 61, 79, 70]})
    >>> groups = cc.Partition([0] * 6 + [1] * 6, cc.draft_schema(frame[["x"]]), made_by="hand")
    >>> cc.outcomes.adjusted_differences(groups, frame, ["age"])[["feature", "measure"]].to_numpy().tolist()
    [['x', 'mean difference']]
    """
    columns, formed, rows = CohortColumns.read(model, frame), clustered_features(model), list[_Row]()
    columns.check(versus, [], "covariates")
    adjusted = columns.covariates(covariates, "covariates")
    columns.problems += ["covariates: name columns to adjust for, such as age and sex"] * (len(covariates) == 0)
    refuse(columns.problems)
    for name in (feature.name for feature in model.schema_.reported if feature.name not in covariates):
        about: _Row = {"feature": name, "clustered_on": name in formed}
        try:
            outcome = columns.outcome(name)
            refuse(columns.problems)
            assert outcome is not None
            analysis = _Analysis(columns, outcome, adjusted, versus)
        except InputError as error:
            columns.problems.clear()
            rows.append(about | {"remark": str(error)})
            continue
        for row in _tabulate_method(analysis, "naive"):
            if row.get("versus") or (row.get("remark") and "not adjusted" not in row.get("measure", "")):
                rows.append(about | analysis.about | row | ({"p": np.nan} if name in formed else {}))
        rows += (about | {"subtype": it, "remark": "left out: too few subjects"} for it in analysis.too_small)
    names = ("feature", "kind", "event", "order", "clustered_on", "subtype", "versus", "measure")
    return _tabulate(rows, *names, *_ESTIMATE, "n", "remark")


@accepting()
def subtype_predictors(
    model: SubtypeModel, frame: pd.DataFrame, predictors: Sequence[str], *, versus: Code = 1
) -> pd.DataFrame:
    """Regress membership of subtypes on what may predict it, with the errors of assignment carried through.

    Multinomial logistic regression by maximum likelihood in three steps (Vermunt 2010), of all predictors together.

    Parameters
    ----------
    model, frame, versus
        As in `compare_outcomes`.
    predictors : list of str
        Columns that had no part in the subtypes; levels without order have an indicator each.

    Returns
    -------
    DataFrame
        For each `method` (``"ml"``, ``"naive"``: as assigned), subtype and term: the odds ratio (`estimate`) of the
        subtype against `versus` for one unit more, with its interval; `se` is that of the logarithm.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": range(12), "age": [58, 71, 49, 66, 73, 60, 64, 82, 75, 61, 79, 70]})
    >>> groups = cc.Partition([0] * 6 + [1] * 6, cc.draft_schema(frame[["x"]]), made_by="hand")
    >>> cc.subtype_predictors(groups, frame, ["age"]).query("method == 'naive'")["estimate"].round(2).tolist()
    [1.15]
    """
    columns = CohortColumns.read(model, frame)
    columns.check(versus, [*predictors], "predictors")
    columns.problems += ["predictors must name at least one column"] * (len(predictors) == 0)
    terms = columns.covariates(predictors, "predictors")
    refuse(columns.problems)
    assigned = Assigned(columns.cohort, np.ones(len(terms), dtype=bool), terms, versus)
    scales, pairs = assigned.scales, assigned.compare_with(np.arange(assigned.n_subtypes))[0]
    n, rows = len(assigned.labels), list[_Row]()
    for method, errors in (("ml", assigned.errors.T), ("naive", np.eye(assigned.n_subtypes))):
        about, why = {"method": method, "n": n}, assigned.why_not if method == "ml" else None
        cases = assigned.covariates, errors[assigned.labels], assigned.versus
        estimates = None if why else models.predictors_of_subtype(*cases)
        if estimates is None:
            why = why or "not estimated: too few subjects, or a predictor that separates subtypes"
            rows.append(about | {"remark": why})
            continue
        units = np.eye(estimates.parameters.size).reshape(len(pairs), 1 + len(scales), -1)
        for pair, of_terms in zip(pairs, units, strict=True):
            for (term, scale), contrast in zip(scales.items(), of_terms[1:], strict=True):
                rows.append(about | pair | {"term": term} | _estimate(estimates, contrast / scale, np.exp))
    rows += [{"subtype": it, "n": n, "remark": "left out: too few subjects"} for it in assigned.too_small]
    return _tabulate(rows, "method", "term", "subtype", "versus", *_ESTIMATE, "n", "remark")


def merge_methods(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return differences and ratios from the frame of `compare_outcomes`: `subtype`, `versus` and `measure`.

    With the rows `corrected` and `assigned`, or None; `remarks` say, by method, why there is no number. Of slices of a
    continuum, what is as assigned is to be reported.
    """
    table = table.assign(method=table["method"].fillna(""))
    is_direct = (table.loc[table["measure"] == "no effects of features", "p"] < _DIRECT).any()
    best = "features" if is_direct else "bch" if (table["method"] == "bch").any() else "ml"
    may_be_slices = bool((table["method"] == "score").any())
    table = pd.concat([table[table["method"] == method] for method in ("naive", best)])
    of_subtype, has_remark = table["subtype"].notna(), table["remark"].notna()
    has_levels = bool((has_remark & (of_subtype | (table["method"] == "naive"))).any())
    is_line = table["versus"].notna() | (of_subtype & (has_remark | has_levels))
    lines: dict[tuple[Any, ...], dict[str, dict[Hashable, Any]]] = {}
    for row in table[is_line].to_dict("records"):
        subtype, versus = (None if pd.isna(row[name]) else row[name] for name in ("subtype", "versus"))
        lines.setdefault((subtype, versus, describe_measure(row)), {})[row["method"]] = row
    merged = []
    for key, rows in lines.items():
        remarks = {method: row["remark"] for method, row in rows.items() if isinstance(row["remark"], str)}
        corrected, assigned = (None if method in remarks else rows.get(method) for method in (best, "naive"))
        line = dict(zip(("subtype", "versus", "measure"), key, strict=True)) | {"may_be_slices": may_be_slices}
        merged.append(line | {"corrected": corrected, "assigned": assigned, "remarks": remarks})
    return sorted(merged, key=lambda it: (1, 0) if it["versus"] or it["remarks"] else (0, it["subtype"] or 0))


def describe_measure(row: dict[Hashable, Any]) -> str:
    """Return a measure with its event, or with the order of the levels, without which a ratio has no meaning."""
    of_event = f" of {row['event']!r}" if isinstance(row.get("event"), str) and "unit" not in row["measure"] else ""
    if isinstance(row.get("order"), str):
        of_event = f" of a higher level ({row['order']})"
    parts = [part for part in (f" for {SCORE}", ", not adjusted") if str(row["measure"]).endswith(part)]
    return str(row["measure"]).removesuffix("".join(parts)) + of_event + "".join(parts)
