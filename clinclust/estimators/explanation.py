"""Why a subject is in its subtype, which subjects are unusual there, and where each lies on the main axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arguments import accepting
from clinclust.arrays import Array, Code, Labels, RandomState
from clinclust.engine.continuum import null_cohorts
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Clusters, log_predictives, log_predictives_of
from clinclust.errors import on_one_line
from clinclust.estimators.fit import FEW_SUBJECTS, Fit
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, fitted_problem, require_search
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema.feature import mass_text, of_wholes

# Terms of the log odds of a subject's subtype, by feature, and their description in words.
#
# New subjects are compared with all clusters; subjects of the fit with the clusters without them (leave one out).


def left_out_scores(cohort: FittedCohort) -> Array:
    """Return `Clusters.scores` of the subjects of a fit, float64 (N, J + 1), each left out of its own cluster."""
    return _leave_one_out(cohort.fit, model_values(cohort.table, cohort.fit.clusters_.encoding.features))[0]


def _leave_one_out(fit: Fit, values: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Return these scores; and log predictives (D, N) and weights (N,) in the own cluster without the subject."""
    clusters, labels = fit.clusters_, fit.cluster_labels_
    is_held = ~fit.outliers_[:, fit.schema_.places(clusters.encoding.features)].T
    others = clusters.sizes[labels] - 1.0
    weights = np.log(np.where(others > 0.0, others, clusters.model.concentration))  # alone: those of a new cluster
    without = log_predictives(clusters, values, labels, np.asarray(is_held))
    change = clusters.model.exponents @ (without - log_predictives(clusters, values, labels))
    change += weights - _log_weights(clusters)[labels]
    scores = clusters.scores(values, coarsened=True)
    scores[np.arange(labels.size), labels] += change / clusters.temperature
    return scores, without, weights


def _log_weights(clusters: Clusters) -> Array:
    """Return the log prior weight of each cluster and of a new one, up to a constant, float64 (J + 1,)."""
    return np.asarray(np.log(np.append(clusters.sizes, clusters.model.concentration)), dtype=np.float64)


class Terms(NamedTuple):
    """The terms of n subjects, in nats, and the two subtypes, (n,) numbers from 1, or 0 for no subtype of the fit."""

    of_features: Array
    """(D, n) by feature, in the order of the encoding; 0 where a value is missing."""
    of_size: Array
    within: Array
    """(n,) of the other clusters of the two subtypes."""
    total: Array
    subtype: Labels
    against: Labels


def find_terms(fit: Fit, frame: pd.DataFrame, cohort: FittedCohort | None = None) -> Terms:
    """Return the terms of new subjects for their most probable subtype, or of a `cohort` for its own, leave one out."""
    subtypes, clusters, rows = fit.subtypes_, fit.clusters_, np.arange(len(frame))
    values = model_values(frame, clusters.encoding.features)
    of_cluster = np.append(subtypes.subtype_of, fit.n_clusters_)  # an empty cluster is a subtype of its own

    def find_leading(subtype: Labels) -> Labels:  # the cluster of each subject's subtype with the highest score
        return np.asarray(np.where(of_cluster == subtype[:, None], scores, -np.inf).argmax(axis=1))

    if cohort is not None:
        best, (scores, predictives, weights) = fit.labels_, _leave_one_out(fit, values)
    else:
        scores = clusters.scores(values, coarsened=True)
        best = subtypes.log_summed(scores).argmax(axis=1)
        first = find_leading(best)
        predictives, weights = log_predictives(clusters, values, first), _log_weights(clusters)[first]
    of_subtypes = subtypes.log_summed(scores)
    none, others = of_subtypes.shape[1] - 1, of_subtypes.copy()
    others[rows, best] = -np.inf
    if none > 1:  # without another subtype, the next is a new cluster
        others[:, none] = -np.inf
    other = others.argmax(axis=1)
    second = find_leading(other)
    differences = predictives - log_predictives(clusters, values, second)
    of_features = differences * clusters.model.exponents[:, None] / clusters.temperature
    of_size = (weights - _log_weights(clusters)[second]) / clusters.temperature
    total = of_subtypes[rows, best] - of_subtypes[rows, other]
    numbers = (np.where(subtype == none, 0, subtype + 1) for subtype in (best, other))
    return Terms(of_features, of_size, total - of_size - of_features.sum(axis=0), total, *numbers)


SIZE, WITHIN = "(size of the subtypes)", "(other clusters of the subtypes)"
"""Names of the rows that are not about a feature."""
_COLUMNS = ["subject", "subtype", "against", "feature", "value", "log_odds"]


def explanation(fit: Fit, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the terms of the log odds of validated subjects as `MAPDP.explain` does."""
    of_subjects = zip(frame.index, _list_terms(fit, frame, find_terms(fit, frame)), strict=True)
    rows = [(label, *both, *term) for label, (both, terms) in of_subjects for term in terms]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _list_terms(fit: Fit, frame: pd.DataFrame, terms: Terms) -> Iterator[tuple[tuple[Code, Code], list[Any]]]:
    """Yield the codes of both subtypes of each subject, and its terms, the strongest first: name, value, log odds."""
    features, of_features = of_wholes(fit.clusters_.encoding.features, terms.of_features)
    columns, codes = [frame[feature.name].tolist() for feature in features], [0, *fit.codes_]
    for subject, both in enumerate(zip(terms.subtype.tolist(), terms.against.tolist(), strict=True)):
        of_subject = [
            (feature.name, column[subject], float(log_odds))
            for feature, column, log_odds in zip(features, columns, of_features[:, subject], strict=True)
            if not pd.isna(column[subject])
        ]
        of_subject.append((SIZE, None, float(terms.of_size[subject])))
        of_subject += [(WITHIN, None, float(terms.within[subject]))] if fit.n_clusters_ < fit.subtype_of_.size else []
        yield (codes[both[0]], codes[both[1]]), sorted(of_subject, key=lambda term: -abs(term[2]))


_MOST_NAMED = 3
_AT_ONCE = 5_000
_NEARLY_EVEN = np.log(1.05)
"""Log odds of a term, in nats, below which it speaks for neither subtype."""


def name_reasons(fit: Fit, frame: pd.DataFrame, cohort: FittedCohort | None = None) -> list[str]:
    """Return the three strongest features for the subtype of each subject, as of `find_terms`.

    Such as ``against Subtype 1: gait 0.62 m/s (3.1 nats, 22 : 1); grip 21 kg (1.9 nats, 6.69 : 1)``.
    """
    if cohort is None and len(frame) > _AT_ONCE:  # not all at once, to save memory
        parts = [frame.iloc[first : first + _AT_ONCE] for first in range(0, len(frame), _AT_ONCE)]
        return [reason for part in parts for reason in name_reasons(fit, part)]
    reasons = []
    for (_, against), terms in _list_terms(fit, frame, find_terms(fit, frame, cohort)):
        named, strong = list[str](), [term for term in terms if term[1] is not None and term[2] >= _NEARLY_EVEN]
        for name, value, log_odds in strong[:_MOST_NAMED]:
            feature, ratio = fit.schema_[name], float(f"{np.exp(min(log_odds, 20.0)):.3g}")
            odds = "over 1,000,000" if ratio > 1e6 else f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:g}"
            text = value_text(value, f" {feature.unit}" if feature.unit else "")
            named.append(f"{feature.title} {text} ({log_odds:.1f} nats, {odds} : 1)")
        other = f"Subtype {against}" if against else "none of these"
        reasons.append(on_one_line(f"against {other}: {'; '.join(named) or 'no feature'}"))
    return reasons


def value_text(value: object, unit: str = "") -> str:
    """Return a value of a feature in at most six digits with its unit, or that it is beyond a limit of detection."""
    if isinstance(value, float) and math.isinf(value):
        return mass_text(value)
    return (f"{value:.6g}" if isinstance(value, float) else str(value)) + unit


# Subjects whose values are improbable in their own subtype.

_EXPECTED_BY_CHANCE = 0.05  # unusual subjects of a cohort under the model
MOST_LISTED = 30
"""Largest number of subjects that are compared with draws and listed, the least probable ones."""
_LEAST_DRAWS, _MOST_DRAWS, _PER_SUBJECT = 10_000, 200_000, 20
"""Number of draws for each subject of the cohort, within bounds: p can fall just below 0.05 / N."""
_LEAST_AT_ONCE, _MOST_AT_ONCE = 1_000, 8_000
_COLUMNS_OF_UNUSUAL = ["subject", "subtype", "compared_with", "p", "log_density", "expected", "features"]
NOBODY = pd.DataFrame(columns=_COLUMNS_OF_UNUSUAL)


@accepting()
def unusual_subjects(model: SubtypeModel, frame: pd.DataFrame, *, random_state: RandomState = 0) -> pd.DataFrame:
    """Return the subjects whose values are too improbable in their own subtype to be expected by chance.

    The log density of a subject under its cluster without the subject is compared with draws from the same predictive,
    with the same values missing: p is the share of less probable draws. Subjects in clusters of fewer than 5 are
    compared with their most probable cluster of 5 or more. A subject is unusual if p times N is at most 0.05; at most
    30 are listed. Features are independent given the cluster; dependence gives more unusual subjects. Outlying values
    (`MAPDP.outliers_`) are left out.

    The DataFrame has one row per unusual subject, the least probable first: subject (the index of `frame`), subtype
    (from 1), the subtype of the comparison, p, log_density in nats, expected (the mean of the draws), and the features
    that contribute most, with their values. CohortError is raised if `frame` does not fit the schema, ValueError if the
    model is not a fitted MAPDP or `frame` is not its cohort.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(50, 5, (80, 3)), columns=["age", "weight", "pulse"])
    >>> frame.loc[7, ["age", "weight"]] = 80.0, 75.0
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, random_state=0, progress=False).fit(frame)
    >>> cc.unusual_subjects(model, frame)["subject"].tolist()
    [7]
    """
    require_search(model, "unusual_subjects")
    return find_unusual(cohort_of(model, frame), np.random.default_rng(random_state)).reset_index(drop=True)


def find_unusual(cohort: FittedCohort, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table of `unusual_subjects`, indexed by positions in the order of the fit."""
    fit, clusters, encoding = cohort.fit, cohort.fit.clusters_, cohort.fit.clusters_.encoding
    if not encoding.features:
        return NOBODY
    reference, is_large = fit.cluster_labels_, clusters.sizes >= FEW_SUBJECTS
    if is_large.any():  # a subject of a small cluster is compared with the most probable large one
        scores = clusters.scores(model_values(cohort.table, encoding.features), coarsened=False)[:, :-1]
        reference = np.where(is_large[reference], reference, np.where(is_large, scores, -np.inf).argmax(axis=1))
    usual, is_member = cohort.usual_values(), reference == fit.cluster_labels_
    columns, terms = list[_Column](), list[Array]()
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.alone, strict=True)):
        values = (usual[feature.name] - encoding.centres[index]) / encoding.scales[index]
        theta, sums = clusters.of_feature(index)
        statistics = likelihood.statistics(values) * (is_member & clusters.included[index])[:, None]
        posteriors = likelihood.prior.posterior(theta[None, :], sums[reference] - statistics)
        columns.append((likelihood, theta, posteriors))
        logs = log_predictives_of(likelihood, values[:, None], posteriors, theta)
        terms.append(np.where(np.isnan(values), np.nan, logs))
    of_features = pd.DataFrame(terms).T
    medians = of_features.groupby(reference).transform("median")
    below = (medians - of_features).fillna(0.0).sum(axis=1).to_numpy()
    density, positions, rows = of_features.fillna(0.0).sum(axis=1).to_numpy(), [], []
    for subject in np.argsort(-below, kind="stable")[:MOST_LISTED].tolist():
        of_subject = of_features.loc[subject].to_numpy()
        p, expected = _compare_with_draws(columns, subject, of_subject, density.size, rng)
        if p > _EXPECTED_BY_CHANCE / density.size:
            continue
        wholes, shortfall = of_wholes(encoding.features, expected - np.nan_to_num(of_subject))
        order, enough = np.argsort(-shortfall, kind="stable")[:_MOST_NAMED], shortfall.max() / 10.0
        least = [place for place in order if shortfall[place] > enough]
        shown = cohort.table[[wholes[place].name for place in least]].iloc[subject].tolist()
        named = "; ".join(f"{wholes[at].title} {value_text(cell)}" for at, cell in zip(least, shown, strict=True))
        subtypes = fit.codes_[fit.labels_[subject]], fit.codes_[fit.subtype_of_[reference[subject]]]
        positions.append(subject)
        rows.append((cohort.table.index[subject], *subtypes, p, float(density[subject]), float(expected.sum()), named))
    table = pd.DataFrame(rows, columns=_COLUMNS_OF_UNUSUAL, index=positions)
    return table.sort_values(["p", "log_density"], kind="stable")


_Column = tuple[Likelihood, Array, Array]
"""A feature's likelihood, prior, and posteriors (N, P) in the cluster of each subject without the subject."""


def _compare_with_draws(
    columns: list[_Column], subject: int, terms: Array, n_subjects: int, rng: np.random.Generator
) -> tuple[float, Array]:
    """Return the p of a subject, no smaller once it cannot be small, and the mean log predictive of each feature."""
    n_draws = int(np.clip(_PER_SUBJECT * n_subjects, _LEAST_DRAWS, _MOST_DRAWS))
    p, n_drawn, n_lower, sums = 0.0, 0, 0, np.zeros(len(columns))
    while n_drawn < n_draws and p <= _EXPECTED_BY_CHANCE / n_subjects:
        drawn = np.zeros(min(max(n_drawn, _LEAST_AT_ONCE), _MOST_AT_ONCE, n_draws - n_drawn))
        n_drawn += drawn.size
        for place in np.flatnonzero(~np.isnan(terms)).tolist():
            likelihood, theta, posteriors = columns[place]
            values = likelihood.levels(np.empty(0))  # all of them; none of a count, which has no largest
            if is_drawn := values is None or not values.size:
                values = likelihood.draw(posteriors[subject], drawn.size, rng)
            logs = log_predictives_of(likelihood, values[:, None], posteriors[[subject]], theta)
            of_feature = logs if is_drawn else rng.choice(logs, drawn.size, p=np.exp(logs) / np.exp(logs).sum())
            sums[place] += of_feature.sum()
            drawn += of_feature
        n_lower += int((drawn <= np.nansum(terms) + 1e-9).sum())
        p = (1 + n_lower) / (1 + n_draws)
    return p, sums / n_draws


# The continuum score: the position of each subject along the main axis, for a cohort without subtypes.

CONTINUUM_SCORE = "continuum_score"
_BEYOND_CHANCE = 1.25
"""Multiple of the share of the variance by chance below which the score says nothing."""
_DECIMALS = 6  # further ones depend on the order in which a linear algebra library sums


@dataclass(frozen=True)
class Continuum:
    """The main axis of a cohort: `score` (N,), normal scores' `correlations` with it, `share` of the variance."""

    score: Array
    correlations: pd.Series[float]
    share: float

    @property
    def share_by_chance(self) -> float:
        """The share of independent features, 0 to 1: that of the largest eigenvalue, about (1 + (D / N)^(1/2))^2."""
        n_features, n_subjects = len(self.correlations), int(np.isfinite(self.score).sum())
        return min(float((1.0 + np.sqrt(n_features / max(n_subjects, 1))) ** 2 / max(n_features, 1)), 1.0)

    @property
    def is_by_chance(self) -> bool:
        """Whether the features hardly depend on each other, so that the score orders subjects by chance."""
        return len(self.correlations) > 1 and self.share < _BEYOND_CHANCE * self.share_by_chance


@accepting()
def continuum_score(model: SubtypeModel, frame: pd.DataFrame) -> pd.Series[float]:
    """Return the position of each subject along the main axis of the cohort, such as its severity.

    It is the first principal component (Hotelling 1933, Journal of Educational Psychology 24, 417-441) of the normal
    scores of the features that were clustered on: the value with mid-rank r of n becomes Phi^-1((r - 1/2) / n). Most
    features increase with the score. Where values are missing or outlying, it is the expectation given the other
    values. The levels of a nominal feature are ordered along the axis. Scores of two cohorts do not compare.

    The Series has the index of the cohort in the order of the fit (a CohortWarning says if `frame` has another), mean 0
    and standard deviation 1; NaN for a subject of whom nothing is observed. CohortError is raised if `frame` does not
    fit the schema, ValueError if the model is not a fitted MAPDP or `frame` is not its cohort.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> severity = rng.normal(size=80)
    >>> frame = pd.DataFrame(severity[:, None] + 0.7 * rng.normal(size=(80, 6)), columns=list("abcdef"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, random_state=0).fit(frame)
    >>> score = cc.continuum_score(model, frame)
    >>> bool(np.corrcoef(score, severity)[0, 1] > 0.9)
    True
    """
    require_search(model, "continuum_score")
    cohort = cohort_of(model, frame)
    return pd.Series(find_continuum(cohort).score, index=cohort.table.index, name=CONTINUUM_SCORE)


def find_continuum(cohort: FittedCohort) -> Continuum:
    """Return the main axis of the cohort of a MAP-DP search."""
    encoded = fitted_problem(cohort.fit, cohort.table, coarsening=1.0).cohort
    features = encoded.encoding.features
    if not features:
        return Continuum(np.full(len(cohort.table), np.nan), pd.Series(dtype=np.float64), 0.0)
    scores, members = null_cohorts.scores_of(encoded), null_cohorts.parts_of_columns(encoded)
    correlation = null_cohorts.nearest_correlation(null_cohorts.reliable_correlations(scores))
    variances, axes = np.linalg.eigh(correlation)
    axis = axes[:, -1]
    is_nominal = np.array([len(of) == 1 and features[of[0]].traits.is_nominal for of in members])
    # Most entries are positive; where as many are negative, their sum is, or the largest entry.
    balance = np.sign(axis[~is_nominal]).sum() or axis[~is_nominal].sum() or axis[np.abs(axis).argmax()]
    expected = null_cohorts.with_expectations(scores, correlation)
    score = np.einsum("ij,j->i", expected, -axis if balance < 0.0 else axis)
    score = np.where(np.isnan(scores).all(axis=1), np.nan, score)
    spread = np.nanstd(score) if np.isfinite(score).any() else 0.0
    score = (score - np.nanmean(score)) / spread if spread > 0.0 else np.where(np.isnan(score), np.nan, 0.0)
    with np.errstate(all="ignore"):  # 0 for a feature that does not vary where both are observed
        loadings = pd.DataFrame(scores).corrwith(pd.Series(score)).fillna(0.0).to_numpy()
    loadings = np.where(is_nominal, np.abs(loadings), loadings)  # the order of its levels has no direction of its own
    strongest = np.argsort(-np.abs(loadings), kind="stable")
    names = [features[members[place][0]].column for place in strongest]
    correlations = pd.Series(loadings[strongest], index=names, name="correlation")
    share = float(variances[-1]) / len(members)
    return Continuum(encoded.in_table_order(np.round(score, _DECIMALS)), correlations, share)
