"""Compare outcomes between subtypes, adjusted or over time, and find what predicts who is in which subtype."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, chdtri, ndtr, ndtri

from clinclust.arguments import OUTCOMES, accepting
from clinclust.arrays import Array, Code, Labels, Mask
from clinclust.comparisons.differences import contrast_of
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import SubtypeModel, clustered_features
from clinclust.outcomes.columns import (
    SCORE,
    Assigned,
    CohortColumns,
    Covariates,
    Event,
    Everybody,
    Outcome,
    standardised,
)
from clinclust.outcomes.estimates import (
    APART,
    DENSITIES,
    LARGEST,
    POISSON,
    Density,
    Estimates,
    Method,
    RiskSets,
    in_intervals,
    is_monotone,
    outcome_by_subtype,
    penalise,
    predictors_of_subtype,
    weigh,
)

_ESTIMATE = ("estimate", "se", "lower", "upper", "p")
_DTYPES = {
    **dict.fromkeys(("outcome", "kind", "event", "order", "method", "term", "feature", "measure", "remark"), "string"),
    **dict.fromkeys(("n", "n_events"), "Int64"),
    **dict.fromkeys(_ESTIMATE, "float64"),
    "clustered_on": "bool",
}


def _tabulate(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=list(columns))
    has_grades = any(isinstance(code, str) for code in table["subtype"])
    dtypes = _DTYPES | dict.fromkeys(("subtype", "versus"), "string" if has_grades else "Int64")
    return table.astype({name: dtypes[name] for name in columns})


_OUTCOME = ("outcome", "kind", "event", "order", "method", "term", "subtype", "versus", "measure", *_ESTIMATE)
_OUTCOME_COLUMNS = (*_OUTCOME, "n", "n_events", "remark")


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
        The value of `outcome` that is the event. Needed with `time`, unless the outcome is yes/no; all others
        are censored, so that hazards of competing events are cause-specific. True is the yes of a yes/no column.
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
    [[<NA>, 'share'], ['1a', 'odds ratio'], ['1a', 'risk difference']]
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
    event: Event = None,
    covariates: Sequence[str] = (),
    versus: Code = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the frame of `compare_outcomes` for the columns of a cohort."""
    score, names = columns.score_continuum(), [name for name in (outcome, time, entry) if name is not None]
    is_alone = score is not None and columns.n_subtypes == 1
    columns.check(versus, level, names, "outcome", alone=is_alone)
    if {outcome, time, entry} & set(covariates):
        columns.problems.append("covariates: leave out the outcome and its times")
    if time is None and entry is not None:
        columns.problems.append("entry needs time, the end of follow-up")
    values = columns.outcome(outcome, event) if time is None else columns.survival(outcome, time, entry, event)
    adjusted = columns.covariates(covariates, "covariates")
    columns.refuse()
    assert values is not None
    rows: list[dict[str, Any]] = []
    if not is_alone:
        assigned, complete = columns.assign(values.is_known, adjusted, versus, "covariates")
        observed = values.observed[assigned.rows]
        if np.ptp(observed) == 0.0 and not (time and observed.any()):
            raise InputError(f"outcome: {outcome!r} is the same in all subjects with all values")
        analysis = _Analysis(values, assigned, complete, level)
        rows += _tabulate_outcome(analysis, ("bch", "ml", "naive"))
        rows += _tabulate_features(analysis, columns.read_clustered(covariates).of(assigned.rows))
    if score is not None:
        rows.insert(0, _tabulate_score(columns, score, values, adjusted, level))
    return _tabulate(rows, _OUTCOME_COLUMNS)


_SLICES = "these subtypes were not shown to be more than slices of a continuum: {}"
_REPORT = "report this number, and of the subtypes what is as assigned, because slices have no corrected one"


def _tabulate_score(
    columns: CohortColumns, score: Covariates, outcome: Outcome, covariates: Covariates, level: float
) -> dict[str, Any]:
    """Return the difference or ratio for one SD of the continuum score, where subtypes may be slices."""
    terms = Covariates([*score.terms, *covariates.terms], np.hstack([score.values, covariates.values]))
    rows = outcome.is_known & terms.is_known
    analysis = _Analysis(outcome, Everybody(columns.cohort, rows), terms.of(rows), level)
    density, estimates = analysis.fit(analysis.y, analysis.covariates, np.eye(1), analysis.labels, "naive")
    row = analysis.about | {"method": "score", "measure": f"{density.measure} for {SCORE}"}
    if estimates is None or analysis.monotone:
        return row | {"remark": analysis.explain_estimate()}
    contrast = analysis.unit * np.eye(estimates.parameters.size)[1] / analysis.scales[SCORE]
    is_tested = columns.cohort.fit.tree_test_ is not None
    remark = _SLICES.format(_REPORT if is_tested else f"no test was made; unless this can be excluded, {_REPORT}")
    return row | {"remark": remark} | _estimate(estimates, contrast, density.on_difference, level)


_SUBJECTS_FOR_A_FEATURE = 10
"""Subjects for each feature from which on effects of features inside subtypes are looked for."""
_DIRECT, _NOT_PROPORTIONAL = 0.01, 0.05
"""p below which an outcome is said to depend on features inside subtypes, and hazards not to be proportional.

Memberships are estimates; what they miss looks like an effect of features. Without any, p was below .05 in 3% to 20%
of cohorts, by kind of outcome (30 to 40 each), and of measurements and yes/no outcomes below .01 in at most 3%."""


def _tabulate_features(analysis: _Analysis, features: Covariates) -> Iterator[dict[str, Any]]:
    """Yield differences or ratios of a mixture of regressions on the features, and the test that these have no effect.

    Memberships are known weights, and features are measured from their means in each subtype, so that the intercepts
    are those of subtypes (Bray, Lanza and Tan 2015; Vermunt and Magidson 2021). A missing value has the mean.
    """
    (n, n_features), membership, labels = features.values.shape, analysis.assigned.membership, analysis.labels
    if analysis.assigned.errors_of("bch")[1] or not n_features or n < _SUBJECTS_FOR_A_FEATURE * n_features:
        return
    observed, values = ~np.isnan(features.values), np.nan_to_num(features.values)
    means = membership.T @ values / np.maximum(membership.T @ observed, 1e-300)
    inside = np.where(observed[:, None], values[:, None] - means, 0.0)
    adjusted = np.repeat(analysis.covariates[:, None], analysis.n_subtypes, axis=1)
    ends = analysis.find_ends(np.eye(analysis.n_subtypes), "naive")
    places = np.flatnonzero(np.isnan(ends)).astype(np.int64)
    if places.size < 2:
        return
    both = np.concatenate([adjusted, inside], axis=2)
    density, estimates = analysis.fit(analysis.y, both, membership, labels, "features", ends)
    without = outcome_by_subtype(density, analysis.y, adjusted, membership, labels, "features", ends)
    if without is None or estimates is None:
        return
    about = analysis.about | {"method": "features"}
    yield from (about | row for row in _tabulate_estimates(analysis, density, estimates, places) if "versus" in row)
    # Bartlett's factor of linear regression: with ten subjects for each feature, 15% of p would be below .05.
    factor = 1.0 - (analysis.n_subtypes + 1.0 + n_features / 2.0) / n
    statistic = 2.0 * factor * (estimates.height - without.height)
    p = float(chdtrc(n_features, max(statistic, 0.0)))
    slopes = analysis.n_subtypes + analysis.covariates.shape[1] + np.arange(n_features)
    z = np.abs(estimates.parameters[slopes]) / np.sqrt(np.diag(estimates.covariance)[slopes])
    strong = np.flatnonzero(z > max(min(_quantile(1.0 - _DIRECT / n_features), float(z.max())) - 1e-12, 0.0))
    effects = ", ".join(features.terms[place] for place in strong[np.argsort(-z[strong])])
    remark = f"the outcome depends on features inside subtypes ({effects}), which BCH and ML do not allow for"
    test = {"measure": "no effects of features", "estimate": statistic, "p": p}
    yield about | test | ({"remark": remark} if p < _DIRECT else {})


class _Analysis:
    """The analysis of an outcome of the assigned subjects (n,), adjusted for covariates (n, C)."""

    def __init__(self, outcome: Outcome, assigned: Assigned, covariates: Covariates, level: float) -> None:
        self.outcome, self.assigned, self.level = outcome, assigned, level
        self.observed = outcome.observed[assigned.rows]
        self.labels, self.n_subtypes = assigned.labels, assigned.subtypes.size
        self.density = DENSITIES[outcome.kind]
        n_events = None if outcome.event is None else int((self.observed > 0.0).sum())
        self.about: dict[str, Any] = {"outcome": outcome.name, "kind": outcome.kind, "event": outcome.event}
        self.about |= {"order": " < ".join(outcome.order) or None, "n": len(self.observed), "n_events": n_events}
        self.origin, self.unit = 0.0, 1.0
        if outcome.kind == "continuous":
            self.origin, self.unit = float(self.observed.mean()), max(float(self.observed.std()), 1e-300)
        self.covariates, scales = standardised(covariates.values)
        self.scales = dict(zip(covariates.terms, scales.tolist(), strict=True))
        self.not_adjusted = ", not adjusted" if self.scales else ""
        self.times: tuple[Array, Array, Array] | None = None
        """Of survival: end of follow-up, event and begin."""
        self.monotone: list[str] = []
        if outcome.times:
            ends, begins = (part[assigned.rows] for part in outcome.times)
            self.times = ends, self.observed, begins
            self.risk_sets = RiskSets.from_subjects(*self.times, self.labels, self.n_subtypes)
            columns = zip(covariates.terms, self.covariates.T, strict=True)
            self.monotone = [term for term, column in columns if is_monotone(column, *self.times)]
        self.y = self.encode(np.ones(len(self.observed), dtype=bool))

    def encode(self, rows: Mask) -> Array:
        """Return the outcomes of some subjects, bool (n,), for `outcome_by_subtype`."""
        if self.times is not None:
            return in_intervals(*(part[rows] for part in self.times))
        if self.outcome.kind == "ordered":  # levels are numbered 0, 1, ... without a gap
            return np.unique(self.observed[rows], return_inverse=True)[1].astype(np.float64)
        return (self.observed[rows] - self.origin) / self.unit

    def fit(
        self, y: Array, covariates: Array, errors: Array, labels: Labels, method: Method, ends: Array | None = None
    ) -> tuple[Density, Estimates | None]:
        """Return `outcome_by_subtype` with its density: of counts without overdispersion, that of Poisson."""
        for density in [self.density] + [POISSON] * (self.outcome.kind == "count"):
            estimates = outcome_by_subtype(density, y, covariates, errors, labels, method, ends)
            if estimates is not None:
                return density, estimates
        return self.density, None

    def find_ends(self, errors: Array, method: Method) -> Array:
        """Return the linear predictors of subtypes in which fewer than one subject has the event, or no event, (K,).

        NaN for all others; the likelihood rises without end as these predictors go to infinity. Of ordered levels and
        counts, the event is anything above the lowest value.
        """
        kind, observed = self.outcome.kind, self.observed
        weights = weigh(errors, self.labels, "bch" if method == "bch" else "naive")
        ends = np.full(self.n_subtypes, np.nan)
        lowest = observed.min() if kind == "ordered" else 0.0
        if kind != "continuous":
            ends[weights.T @ (observed > lowest) < 1.0 - 1e-9] = -LARGEST
        if kind in ("binary", "ordered"):
            ends[weights.T @ (observed < observed.max()) < 1.0 - 1e-9] = LARGEST
        if self.times is not None and (has_events := np.isnan(ends)).sum() > 1:
            groups = self.risk_sets.group_comparable()
            sizes = np.bincount(groups[has_events], minlength=groups.max() + 1)
            group = groups[self.assigned.versus]
            group = group if sizes[group] > 1 else int(sizes.argmax())
            ends[has_events & ((groups != group) | (sizes[group] < 2))] = APART
        return ends

    def explain_ratio(self, place: int, end: float, method: Method) -> str:
        """Return why a subtype has no ratio."""
        n, what = int((self.labels == place).sum()), repr(self.outcome.event)
        if end == APART:
            return "no hazard ratio: while it and the others are followed, only one side has events"
        if self.outcome.kind == "count":
            what = "a count above 0"
        elif self.outcome.kind == "ordered":
            what = f"the {'lowest' if end < 0.0 else 'highest'} level"
        is_all = end > 0.0 or self.outcome.kind == "ordered"
        if method == "bch":
            return f"no ratio: corrected, {'all but fewer' if is_all else 'fewer'} than one subject has {what}"
        return f"no ratio: {f'all of its {n} subjects have' if is_all else f'none of its {n} subjects has'} {what}"

    def explain_estimate(self) -> str:
        """Return why the likelihood has no maximum."""
        if self.monotone:
            return f"not estimated: each event is of the subject at risk with the most or the least {self.monotone[0]}"
        separates = ", or a covariate that separates them" if self.scales else ""
        return f"not estimated: too few subjects or events{separates}"


def _tabulate_outcome(analysis: _Analysis, methods: Sequence[Method]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `compare_outcomes` by these methods."""
    for method in methods:
        errors, why = analysis.assigned.errors_of(method)
        reason = [{"measure": analysis.density.measure, "remark": why}]
        for row in reason if why else _tabulate_method(analysis, errors, method):
            yield analysis.about | {"method": method} | row
    for subtype in analysis.assigned.too_small:
        yield analysis.about | {"subtype": subtype, "remark": "left out: too few subjects"}


def _tabulate_method(analysis: _Analysis, errors: Array, method: Method) -> Iterator[dict[str, Any]]:
    """Yield levels, ratios or differences and tests; first of the subtypes that have ratios, then what others have."""
    assigned, density, ends = analysis.assigned, analysis.density, analysis.find_ends(errors, method)
    places, estimates = np.flatnonzero(np.isnan(ends)).astype(np.int64), None
    is_out = ends == APART if method != "naive" else ~np.isnan(ends)
    rows = ~np.isin(analysis.labels, np.flatnonzero(is_out))
    if places.size > 1 and not analysis.monotone:
        covariates, labels = analysis.covariates[rows], analysis.labels[rows]
        density, estimates = analysis.fit(analysis.encode(rows), covariates, errors, labels, method, ends)
    if estimates is not None:
        yield from _tabulate_estimates(analysis, density, estimates, places)
        if analysis.times is not None:
            yield from _tabulate_periods(analysis, rows, errors, method, ends)
    elif places.size > 1:
        yield {"measure": density.measure, "remark": analysis.explain_estimate()}
    for place in np.flatnonzero(~np.isnan(ends)).tolist():
        why = analysis.explain_ratio(place, ends[place], method)
        yield {"subtype": assigned.names[place], "measure": density.measure, "remark": why}
    is_whole = estimates is not None and places.size == analysis.n_subtypes
    kind, with_ratio = analysis.outcome.kind, [] if estimates is None else places.tolist()
    is_in_order = bool(analysis.monotone) or bool((ends == APART).any())
    if method == "naive" and not is_whole and kind in ("binary", "survival") and not is_in_order:
        yield from _tabulate_penalised(analysis, with_ratio)
    if method != "ml" and (kind == "binary" or (kind == "count" and not is_whole)):
        yield from _tabulate_shares(analysis, errors, method, with_ratio)
    if method == "naive" and analysis.times is not None:
        yield from _tabulate_rates(analysis)


def _tabulate_estimates(
    analysis: _Analysis, density: Density, estimates: Estimates, places: Labels
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the subtypes in some places; a unit of a term is 1 / its scale of the fitted one."""
    level, n_subtypes, measure = analysis.level, analysis.n_subtypes, {"measure": density.measure}
    units = analysis.unit * np.eye(estimates.parameters.size)
    on_scale = (lambda eta: analysis.origin + eta) if analysis.outcome.kind == "continuous" else density.on_scale
    for place in places.tolist() if density.level else []:
        about = {"subtype": analysis.assigned.names[place], "measure": density.level, "p": None}
        yield _estimate(estimates, units[place], on_scale, level) | about
    pairs, contrasts = analysis.assigned.compare_with(places)
    contrasts = contrasts @ units[:n_subtypes]
    for pair, contrast in zip(pairs, contrasts, strict=True):
        yield _estimate(estimates, contrast, density.on_difference, level) | pair | measure
    those = "all subtypes" if places.size == n_subtypes else "subtypes with a ratio"
    test = _test_alike(contrasts @ estimates.parameters, contrasts @ estimates.covariance @ contrasts.T)
    yield {"measure": f"{those} alike"} | test
    for place, (term, scale) in enumerate(analysis.scales.items(), n_subtypes):
        yield _estimate(estimates, units[place] / scale, density.on_difference, level) | {"term": term} | measure


def _test_alike(differences: Array, covariance: Array) -> dict[str, float]:
    """Return the Wald test that all differences (D,) are 0."""
    statistic = float(differences @ np.linalg.pinv(covariance, hermitian=True) @ differences)
    return {"estimate": statistic, "p": float(chdtrc(len(differences), statistic))}


def _tabulate_penalised(analysis: _Analysis, with_ratio: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield ratios of the penalised likelihood of the subtypes as assigned, apart from those among `with_ratio`."""
    assigned, measure = analysis.assigned, f"penalised {analysis.density.measure}"
    penalised = penalise(analysis.y, analysis.covariates, analysis.labels, assigned.versus, analysis.n_subtypes)
    if penalised is None:
        return
    pairs, contrasts = assigned.compare_with(np.arange(analysis.n_subtypes))
    has_ratio = [set(np.flatnonzero(contrast).tolist()) <= set(with_ratio) for contrast in contrasts]
    rows = [(pair, 1.0, is_done) for pair, is_done in zip(pairs, has_ratio, strict=True)]
    rows += [({"term": term}, scale, False) for term, scale in analysis.scales.items()]
    for place, (row, scale, is_done) in enumerate(rows):
        if not is_done:
            *ends, p = penalised.bound(place, analysis.level)
            numbers = zip(("estimate", "lower", "upper"), np.exp(np.array(ends) / scale), strict=True)
            yield row | {"measure": measure, **dict(numbers), "p": p}


def _tabulate_shares(
    analysis: _Analysis, errors: Array, method: Method, with_level: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield shares (means of counts) of subtypes without a level from the model, and all differences, not adjusted."""
    from scipy.stats import fisher_exact

    assigned, labels, quantile = analysis.assigned, analysis.labels, _quantile(analysis.level)
    is_share, events = analysis.outcome.kind == "binary", analysis.observed.astype(np.int64)
    weights = weigh(errors, labels, method)
    weights = np.round(weights / weights.sum(axis=0), 12)  # almost sure assignments leave weights such as 1e-24
    shares, least, most = analysis.observed @ weights, 0.0, 1.0 if is_share else np.inf
    of_subjects = weights * (analysis.observed[:, None] - shares)
    estimates = Estimates(shares, of_subjects.T @ of_subjects * labels.size / (labels.size - 1))
    se = np.sqrt(np.diag(estimates.covariance))
    lower, upper = shares - quantile * se, shares + quantile * se
    if is_share:
        bounds = _bound_shares(np.clip(shares, 0.0, 1.0), assigned.count_effective(method), quantile)
        # Where all are assigned with certainty, 0 of 80 has no standard error: Wilson's limits are the wider ones.
        lower, upper = bounds if method == "naive" else (np.minimum(lower, bounds[0]), np.maximum(upper, bounds[1]))
    lower, upper = np.clip(lower, least, most), np.clip(upper, least, most)
    for place in np.setdiff1d(np.arange(analysis.n_subtypes), with_level).tolist():
        limits = {"lower": float(lower[place]), "upper": float(upper[place])} if se[place] > 0.0 or is_share else {}
        row = {"estimate": float(np.clip(shares[place], least, most)), "se": float(se[place])}
        measure = ("share" if is_share else "mean") + analysis.not_adjusted
        yield row | limits | {"subtype": assigned.names[place], "measure": measure}
    measure = ("risk difference" if is_share else "mean difference") + analysis.not_adjusted
    pairs, contrasts = assigned.compare_with(np.arange(analysis.n_subtypes))
    for pair, contrast in zip(pairs, contrasts, strict=True):
        row = _estimate(estimates, contrast, np.asarray, analysis.level)
        if is_share:
            place, versus = int(contrast.argmax()), int(contrast.argmin())
            below, above = shares - lower, upper - shares
            newcombe = {  # 1998, method 10
                "lower": row["estimate"] - float(np.hypot(below[place], above[versus])),
                "upper": row["estimate"] + float(np.hypot(above[place], below[versus])),
            }
            if method == "naive":
                counts = [np.bincount(events[labels == it], minlength=2) for it in (place, versus)]
                row |= newcombe | {"p": float(fisher_exact(np.array(counts)).pvalue)}
            row["lower"], row["upper"] = min(row["lower"], newcombe["lower"]), max(row["upper"], newcombe["upper"])
            row |= {name: float(np.clip(row[name], -1.0, 1.0)) for name in ("estimate", "lower", "upper")}
        yield row | pair | {"measure": measure}
    if len(with_level) < analysis.n_subtypes:
        test = _test_alike(contrasts @ shares, contrasts @ estimates.covariance @ contrasts.T)
        if is_share and method == "naive":
            exact = contrast_of(analysis.observed, labels, "counts")
            test = {"estimate": exact.statistic, "p": exact.p}
        yield {"measure": ("shares" if is_share else "means") + " alike" + analysis.not_adjusted} | test


def _bound_shares(shares: Array, sizes: Array, quantile: float) -> tuple[Array, Array]:
    """Return the limits of Wilson (1927) of some shares."""
    squared = quantile**2
    middle, margin = shares + squared / (2 * sizes), np.sqrt(shares * (1 - shares) / sizes + squared / (4 * sizes**2))
    lower, upper = ((middle + sign * quantile * margin) / (1 + squared / sizes) for sign in (-1.0, 1.0))
    return np.where(shares == 0.0, 0.0, lower), np.where(shares == 1.0, 1.0, upper)


def _quantile(level: float) -> float:
    return float(ndtri(0.5 + level / 2.0))


def _tabulate_rates(analysis: _Analysis) -> Iterator[dict[str, Any]]:
    """Yield events for each unit of time, with exact limits (Garwood 1936), and the log-rank test, not adjusted."""
    assert analysis.times is not None
    time, event, entry = analysis.times
    tail = 0.5 - analysis.level / 2.0
    for place in range(analysis.n_subtypes):
        rows = analysis.labels == place
        events, exposed = float(event[rows].sum()), float((time - entry)[rows].sum())
        lower = chdtri(2.0 * events, 1.0 - tail) / 2.0 if events else 0.0
        yield {
            "subtype": analysis.assigned.names[place],
            "measure": "events per unit of time",
            "estimate": events / exposed,
            "lower": lower / exposed,
            "upper": chdtri(2.0 * events + 2.0, tail) / 2.0 / exposed,
        }
    statistic, p = analysis.risk_sets.test_log_rank()
    is_tested, why = np.isfinite(p), {"remark": "not tested: nobody else is at risk at any event"}
    yield {"measure": "log-rank"} | ({"estimate": statistic, "p": p} if is_tested else why)


def _tabulate_periods(
    analysis: _Analysis, rows: Mask, errors: Array, method: Method, ends: Array
) -> Iterator[dict[str, Any]]:
    """Yield the hazard ratios until and after the median event time, and the test that they are the same."""
    assert analysis.times is not None
    time, event, entry = (part[rows] for part in analysis.times)
    middle, test = float(np.median(time[event > 0.0])), {"measure": "hazards proportional"}
    pairs, contrasts = analysis.assigned.compare_with(np.flatnonzero(np.isnan(ends)))
    ratios, logs, covariances = [], [], []
    periods = {"until": (entry, np.minimum(time, middle)), "after": (np.maximum(entry, middle), time)}
    for period, (begins, stops) in periods.items():
        here = begins < stops
        happened = event * ((time > middle) == (period == "after"))
        parts, labels = (stops[here], happened[here], begins[here]), analysis.labels[rows][here]
        groups = RiskSets.from_subjects(*parts, labels, analysis.n_subtypes).group_comparable()
        terms, estimates = analysis.covariates[rows][here], None
        if np.unique(groups[np.isnan(ends)]).size == 1:
            estimates = outcome_by_subtype(analysis.density, in_intervals(*parts), terms, errors, labels, method, ends)
        if estimates is None:
            yield test | {"remark": "not tested: too few events in a half"}
            return
        of_pairs = contrasts @ np.eye(analysis.n_subtypes, estimates.parameters.size)
        for pair, contrast in zip(pairs, of_pairs, strict=True):
            about = pair | {"measure": f"hazard ratio {period} {middle:g}"}
            ratios.append(about | _estimate(estimates, contrast, np.exp, analysis.level))
        logs.append(of_pairs @ estimates.parameters)
        covariances.append(of_pairs @ estimates.covariance @ of_pairs.T)
    yield from ratios
    yield test | _test_alike(logs[1] - logs[0], covariances[0] + covariances[1])


def _estimate(estimates: Estimates, contrast: Array, scale: Callable[[Array], Array], level: float) -> dict[str, Any]:
    """Return the estimate of a linear combination of the parameters with its interval on a scale, `se` and `p`."""
    eta, se = estimates.of(contrast)
    margin = se * _quantile(level)
    with np.errstate(over="ignore"):
        ends = scale(np.array([eta, eta - margin, eta + margin])).tolist()
    row: dict[str, Any] = {"se": se, "p": float(2.0 * ndtr(-abs(eta / se))) if se > 0.0 else np.nan}
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
    formed = clustered_features(model)
    rows: list[dict[str, Any]] = []
    for feature in model.schema_.reported:
        if feature.name in covariates:
            continue
        about = {"feature": feature.name, "clustered_on": feature.name in formed}
        try:
            outcome = columns.outcome(feature.name, None)
            columns.refuse()
            assert outcome is not None
            assigned, complete = columns.assign(outcome.is_known, adjusted, versus, "covariates")
        except InputError as error:
            columns.problems.clear()
            rows.append(about | {"remark": str(error)})
            continue
        if np.ptp(outcome.observed[assigned.rows]) == 0.0:
            rows.append(about | {"remark": "the same in all subjects with all values"})
            continue
        for row in _tabulate_outcome(_Analysis(outcome, assigned, complete, level), ("naive",)):
            if (row.get("versus") or row.get("remark")) and "not adjusted" not in row.get("measure", ""):
                rows.append(about | row | ({"p": np.nan} if about["clustered_on"] else {}))
    names = ("feature", "kind", "event", "order", "clustered_on", "subtype", "versus", "measure")
    return _tabulate(rows, [*names, *_ESTIMATE, "n", "remark"])


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
    assigned, terms = columns.assign(terms.is_known, terms, versus, "predictors")
    (standard, scales), pairs = standardised(terms.values), assigned.compare_with(np.arange(assigned.subtypes.size))[0]
    rows: list[dict[str, Any]] = []
    for method in ("ml", "naive"):
        about = {"method": method, "n": len(standard)}
        errors, why = assigned.errors_of(method)
        estimates = why or predictors_of_subtype(standard, errors, assigned.labels, assigned.versus, method)
        if not isinstance(estimates, Estimates):
            why = why or "not estimated: too few subjects, or a predictor that separates subtypes"
            rows.append(about | {"remark": why})
            continue
        units = np.eye(estimates.parameters.size).reshape(len(pairs), 1 + len(scales), -1)
        for pair, of_terms in zip(pairs, units, strict=True):
            for term, contrast, scale in zip(terms.terms, of_terms[1:], scales, strict=True):
                rows.append(about | pair | {"term": term} | _estimate(estimates, contrast / scale, np.exp, level))
    left_out = {"n": len(standard), "remark": "left out: too few subjects"}
    rows += [{"subtype": subtype} | left_out for subtype in assigned.too_small]
    return _tabulate(rows, ["method", "term", "subtype", "versus", *_ESTIMATE, "n", "remark"])


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
        lines = []
        for row in table.to_dict("records"):
            text = f"{row['feature']}: {row['remark']}"
            if not isinstance(row["remark"], str):
                pair = f"{row['feature']}, subtype {row['subtype']} against {row['versus']}"
                text = f"{pair}, {describe_measure(row)}: {_write_estimate(row)}"
            lines.append(text)
        return lines
    if "measure" not in table:
        table = table.assign(measure="odds ratio of " + table["term"])
    table = table.assign(method=table["method"].fillna(""))
    scores = table[(table["method"] == "score") & table["estimate"].notna()].to_dict("records")
    lines = [f"{describe_measure(row)}: {_write_estimate(row)}" for row in scores]
    for line in merge_methods(table):
        if line.assigned is not None or line.corrected is not None:
            pair = f"Subtype {line.subtype}" + ("" if line.versus is None else f" against {line.versus}")
            best = "not corrected" if line.corrected is None else _write_estimate(line.corrected)
            as_assigned = "" if line.assigned is None else f"; as assigned {_write_estimate(line.assigned)}"
            lines.append(f"{pair}, {line.measure}: {best}{as_assigned}")
    tests = {row["measure"]: row for row in table[table["p"].notna()].drop_duplicates("measure").to_dict("records")}
    for measure, (question, no, yes, bound) in _QUESTIONS.items():
        if measure in tests:
            p, method = tests[measure]["p"], tests[measure]["method"]
            lines.append(f"{question} {yes if p < bound else no}{write_p(p)}")
            is_period = table["measure"].str.contains("until|after", na=False) & (table["method"] == method)
            for row in table[is_period & (measure == "hazards proportional") & (p < bound)].to_dict("records"):
                pair = f"Subtype {row['subtype']} against {row['versus']}"
                lines.append(f"{pair}, {row['measure']}: {_write_estimate(row)}")
    for why, rows in table[table["remark"].notna()].groupby("remark", sort=False):
        methods, subtypes = (list(dict.fromkeys(rows[name].dropna())) for name in ("method", "subtype"))
        who = [f"Subtype{'s' * (len(subtypes) > 1)} {', '.join(map(str, subtypes))}"] if subtypes else []
        who += [method.upper() for method in sorted(methods) if method]
        lines.append(f"{', '.join(who) or 'Subtypes'}: {why}")
    return lines


_EFFECTS, _ALLOWED = "Effects of features inside subtypes?", "Yes, and the corrected numbers allow for them, "
_QUESTIONS = {
    "no effects of features": (_EFFECTS, "Not shown, ", _ALLOWED, _DIRECT),
    "hazards proportional": ("Hazards proportional?", "Nothing speaks against it, ", "No, ", _NOT_PROPORTIONAL),
    "log-rank": ("Log-rank test:", "", "", 0.0),
}
"""Of tests in the result: what is asked, the answers if p is at least a bound and if it is below, and the bound."""


class Line(NamedTuple):
    """What is reported of two subtypes, or of one."""

    subtype: Code | None
    versus: Code | None
    measure: str
    corrected: dict[Hashable, Any] | None
    assigned: dict[Hashable, Any] | None
    remarks: dict[str, str]
    """Why there is no number, by method."""


def merge_methods(table: pd.DataFrame) -> list[Line]:
    """Return differences and ratios, corrected and as assigned, from the frame of `compare_outcomes`.

    Where a subtype has no ratio, or nothing has one, shares or means of each subtype come first.
    """
    table = table.assign(method=table["method"].fillna(""))
    best = "bch" if (table["method"] == "bch").any() else "ml"
    if (table.loc[table["measure"] == "no effects of features", "p"] < _DIRECT).any():
        best = "features"
    has_remark = table["remark"].notna() & (table["method"].isin(["naive"]) | table["subtype"].notna())
    has_levels = bool((has_remark & table["method"].isin([best, "naive"])).any())
    is_line = table["method"].isin([best, "naive"]) & (
        table["versus"].notna() | (table["subtype"].notna() & (table["remark"].notna() | has_levels))
    )
    is_line &= ~table["measure"].str.contains("until|after", na=False)
    lines: dict[tuple[Any, ...], dict[str, dict[Hashable, Any]]] = {}
    rows_of_lines = table[is_line].sort_values("method", key=lambda method: method != "naive", kind="stable")
    for row in rows_of_lines.to_dict("records"):
        subtype, versus = (None if pd.isna(row[name]) else row[name] for name in ("subtype", "versus"))
        lines.setdefault((subtype, versus, describe_measure(row)), {})[str(row["method"])] = row
    merged = []
    for (subtype, versus, measure), rows in lines.items():
        remarks = {method: row["remark"] for method, row in rows.items() if isinstance(row["remark"], str)}
        numbers = {method: None if method in remarks else row for method, row in rows.items()}
        merged.append(Line(subtype, versus, measure, numbers.get(best), numbers.get("naive"), remarks))
    levels = [line for line in merged if line.versus is None and not line.remarks]
    return sorted(levels, key=lambda line: line.subtype or 0) + [line for line in merged if line not in levels]


def describe_measure(row: dict[Hashable, Any]) -> str:
    """Return a measure with its event, or with the order of the levels, without which a ratio has no meaning."""
    of_event = f" of {row['event']!r}" if isinstance(row.get("event"), str) and "unit" not in row["measure"] else ""
    if isinstance(row.get("order"), str):
        of_event = f" of a higher level ({row['order']})"
    parts = [part for part in (f" for {SCORE}", ", not adjusted") if str(row["measure"]).endswith(part)]
    return str(row["measure"]).removesuffix("".join(parts)) + of_event + "".join(parts)


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
