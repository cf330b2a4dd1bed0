"""Compare outcomes between subtypes, with the errors of assignment carried through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from clinclust.arguments import FRAME, MODEL, NOTHING, NUMBER, TEXT, TEXTS, WHOLE, accepting, either
from clinclust.arrays import Array, Labels, Mask
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import fewest_subjects, require_fitted
from clinclust.outcomes.columns import CohortColumns, Outcome
from clinclust.outcomes.densities import DENSITIES, Density
from clinclust.outcomes.three_step import Estimates, Method, assignment_errors, outcome_by_subtype

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

_DTYPES = {
    **dict.fromkeys(("outcome", "kind", "method", "term"), "string"),
    **dict.fromkeys(("subtype", "versus"), "Int64"),
    "measure": "string",
    **dict.fromkeys(("estimate", "se", "lower", "upper", "p"), "float64"),
    **dict.fromkeys(("n", "n_events"), "Int64"),
    "remark": "string",
}
_FEWEST = 5
"""Fewest subjects of a subtype with an outcome."""
_LEAST_TOLD_APART = 0.7
"""Share of the members of a subtype who are assigned to it, below which nothing is estimated."""


class Assigned:
    """The assignment of subjects to subtypes, and its errors: of the subtypes with enough of the chosen subjects."""

    def __init__(self, model: SubtypeModel, chosen: Mask) -> None:
        labels = np.asarray(model.labels_)
        counts = np.bincount(labels[chosen], minlength=int(labels.max()) + 1)
        self.subtypes = np.flatnonzero(counts >= max(_FEWEST, fewest_subjects(model)))
        self.too_small = np.setdiff1d(np.arange(counts.size), self.subtypes) + 1
        among = np.isin(labels, self.subtypes)
        self.chosen = chosen & among
        self.labels: Labels = np.searchsorted(self.subtypes, labels[self.chosen])
        self.errors: Array | None = None
        if model.membership_ is not None and self.subtypes.size > 1:
            membership = np.asarray(model.membership_)[among][:, self.subtypes]
            membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
            self.errors = assignment_errors(membership, np.searchsorted(self.subtypes, labels[among]))

    @property
    def not_told_apart(self) -> str | None:
        """Why errors of assignment cannot be carried through, if they cannot."""
        if self.errors is None:
            return "these subtypes have no probabilities"
        own = np.diag(self.errors)
        if own.min() >= _LEAST_TOLD_APART:
            return None
        worst = int(own.argmin())
        return (
            f"the subtypes are too hard to tell apart: {100 * own[worst]:.0f}% of the members of subtype "
            f"{self.subtypes[worst] + 1} are assigned to it (at least {100 * _LEAST_TOLD_APART:.0f}% are needed)"
        )


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
    stands beside them. BCH rests on fewer assumptions about the outcome, and is the one to report.

    Parameters
    ----------
    model : MAPDP, GibbsDP or another SubtypeModel
        A fitted model. Without probabilities, such as of a `Partition`, the answer is the naive one only.
    frame : DataFrame, N rows
        The cohort of the fit, with the further columns named here.
    outcome : str
        Column. Yes/no: odds ratios. Ordered levels: proportional odds. Counts: rate ratios (negative binomial).
        Measurements: differences of means. With `time`: hazard ratios.
    time, entry : str, optional
        Columns of the end of follow-up, at which the event happened or the subject was last seen, and of its begin (0).
        Hazards are proportional; the baseline is constant in at most six intervals between quantiles of event times.
    event : str, optional
        The level of `outcome` that is the event; with `time`, all others are censored, so that hazards of competing
        events are cause-specific.
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
        are of covariates; the row ``"all subtypes alike"`` is a Wald test with chi-squared as `estimate`. `se` is that
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
    n_subtypes = int(np.asarray(model.labels_).max()) + 1
    if not 0.0 < level < 1.0:
        columns.problems.append(f"level must lie between 0 and 1, not {level!r}")
    if not 1 <= versus <= n_subtypes:
        columns.problems.append(f"versus must be a subtype from 1 to {n_subtypes}, not {versus}")
    if n_subtypes == 1:
        columns.problems.append("there is one subtype, so nothing can be compared")
    if time is None and entry is not None:
        columns.problems.append("entry needs time, the end of follow-up")
    used = [name for name in {outcome, time, entry} - {None} if name in model.schema_.names]
    formed = [name for name in used if model.schema_[name].is_clustered]
    if formed:
        columns.problems.append(f"outcome: the subtypes were found from {', '.join(map(repr, formed))}")
    found = columns.outcome(outcome, event) if time is None else columns.survival(outcome, time, entry, event)
    terms, values = columns.covariates(covariates)
    columns.refuse()
    assert found is not None
    assigned = Assigned(model, found.is_known & ~np.isnan(values).any(axis=1))
    if assigned.subtypes.size < 2 or versus - 1 not in assigned.subtypes:
        raise InputError(
            f"at least two subtypes, among them subtype {versus}, need {max(_FEWEST, fewest_subjects(model))} subjects "
            "with the outcome and all covariates"
        )
    rows = list(_rows(found, assigned, terms, values[assigned.chosen], versus, level))
    return pd.DataFrame(rows, columns=list(_DTYPES)).astype(_DTYPES)


def _rows(
    outcome: Outcome, assigned: Assigned, terms: list[str], covariates: Array, versus: int, level: float
) -> Iterator[dict[str, Any]]:
    y, density = outcome.modelled(assigned.chosen), DENSITIES[outcome.kind]
    covariates = covariates - covariates.mean(axis=0)
    has_events = outcome.kind in ("binary", "survival")
    about = {
        "outcome": outcome.name,
        "kind": outcome.kind,
        "n": len(y),
        "n_events": int((outcome.observed[assigned.chosen] > 0.0).sum()) if has_events else None,
    }
    methods: tuple[Method, ...] = ("bch", "ml", "naive")
    for method in methods:
        why = None if method == "naive" else assigned.not_told_apart
        errors = np.eye(assigned.subtypes.size) if method == "naive" or assigned.errors is None else assigned.errors
        if why is None:
            found = outcome_by_subtype(density, y, covariates, errors, assigned.labels, method)
            why = None if found.found else "the estimates did not converge: too few events or subjects"
        if why is not None:
            yield about | {"method": method, "measure": density.measure, "remark": why}
            continue
        of_method = _rows_of_method(density, found, assigned.subtypes, terms, versus - 1, float(ndtri(0.5 + level / 2)))
        yield from (about | {"method": method} | row for row in of_method)
    for subtype in assigned.too_small.tolist():
        yield about | {"subtype": subtype, "remark": "left out: too few subjects with the outcome"}


def _rows_of_method(
    density: Density, found: Estimates, subtypes: Labels, terms: list[str], versus: int, quantile: float
) -> Iterator[dict[str, Any]]:
    n, at = subtypes.size, int(np.searchsorted(subtypes, versus))
    units = np.eye(found.parameters.size)
    on_ratio = np.exp if density.is_ratio else np.asarray

    def row(contrast: Array, scale: Any, **about: Any) -> dict[str, Any]:
        eta, se = float(contrast @ found.parameters), float(np.sqrt(contrast @ found.covariance @ contrast))
        ends = scale(np.array([eta, eta - quantile * se, eta + quantile * se]))
        return {**about, **dict(zip(("estimate", "lower", "upper"), map(float, ends), strict=True)), "se": se}

    for place, subtype in enumerate((subtypes + 1).tolist()):
        if density.level:
            yield row(units[place], density.on_scale, subtype=subtype, measure=density.level)
    others = [place for place in range(n) if place != at]
    for place in others:
        number = int(subtypes[place]) + 1
        found_row = row(units[place] - units[at], on_ratio, subtype=number, versus=versus + 1, measure=density.measure)
        z = float((units[place] - units[at]) @ found.parameters) / found_row["se"]
        yield found_row | {"p": float(2.0 * ndtr(-abs(z)))}
    contrasts = units[others] - units[at]
    differences = contrasts @ found.parameters
    statistic = float(differences @ np.linalg.solve(contrasts @ found.covariance @ contrasts.T, differences))
    yield {"measure": "all subtypes alike", "estimate": statistic, "p": float(chi2.sf(statistic, len(others)))}
    for place, term in enumerate(terms):
        of_term = row(units[n + place], on_ratio, term=term, measure=density.measure)
        yield of_term | {"p": float(2.0 * ndtr(-abs(found.parameters[n + place]) / of_term["se"]))}
