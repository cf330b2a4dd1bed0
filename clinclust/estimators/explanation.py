"""Terms of the log odds of a subject's subtype, by feature, and their description in words.

New subjects are compared with all clusters; subjects of the fit with the clusters without them (leave one out).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.control_characters import on_one_line
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.predictives import log_predictives
from clinclust.schema.feature import mass_text, of_wholes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.mixture import SubtypeMixture
    from clinclust.schema import Feature, FeatureSchema


def left_out_scores(fit: Fit, cohort: pd.DataFrame) -> Array:
    """Return ln p(z = j) + ln p(x | cluster j) of the subjects of a fit, each left out of its own cluster.

    Float64 (N, J + 1), in nats up to a constant for each subject; the last column is a new cluster. `cohort` is as
    `cohort_of` returns it. Outlying values and the temperature count as in
    `Clusters.scores`.
    """
    clusters, labels = fit.clusters_, fit.cluster_labels_
    values = model_values(cohort, clusters.encoding.features)
    without = log_predictives(clusters, values, labels, held_values(fit))
    change = clusters.model.exponents @ (without - log_predictives(clusters, values, labels))
    change += own_log_weights(clusters, labels) - log_weights(clusters)[labels]
    scores = clusters.scores(values, coarsened=True)
    scores[np.arange(labels.size), labels] += change / clusters.temperature
    return scores


def held_values(fit: Fit) -> NDArray[np.bool_]:
    """Return which values the statistics of the clusters include, bool (D, N): those that are not outlying."""
    places = fit.schema_.places(fit.clusters_.encoding.features)
    return np.asarray(~fit.outliers_[:, places].T)


def log_weights(clusters: Clusters) -> Array:
    """Return the log prior weight of each cluster and of a new one, up to a constant, float64 (J + 1,)."""
    model = clusters.model
    new = model.concentration + clusters.sizes.size * model.discount
    return np.asarray(np.log(np.append(clusters.sizes - model.discount, new)), dtype=np.float64)


def own_log_weights(clusters: Clusters, labels: Labels) -> Array:
    """Return the log prior weight of each subject's cluster without it, float64 (N,): that of a new one if empty.

    The constant is that of `log_weights`.
    """
    model = clusters.model
    others = clusters.sizes[labels] - 1.0
    new = model.concentration + (clusters.sizes.size - 1) * model.discount
    return np.asarray(np.log(np.where(others > 0.0, others - model.discount, new)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of n subjects, in nats.

    Attributes
    ----------
    of_features : float64 (D, n)
        By feature, in the order of the encoding; 0 where a value is missing.
    of_size : float64 (n,)
        Of the sizes.
    total : float64 (n,)
        Log odds of the two subtypes.
    subtype, against : int64 (n,)
        Numbers from 1 of the two subtypes; 0 is none of these.
    """

    of_features: Array
    of_size: Array
    total: Array
    subtype: Labels
    against: Labels

    @property
    def within(self) -> Array:
        """The term of the other clusters of the two subtypes, float64 (n,)."""
        return np.asarray(self.total - self.of_size - self.of_features.sum(axis=0))


def terms_of_new(subtypes: SubtypeMixture, frame: pd.DataFrame) -> Terms:
    """Return the terms of validated new subjects for their most probable subtype."""
    clusters, values = subtypes.clusters, model_values(frame, subtypes.encoding.features)
    scores = clusters.scores(values, coarsened=True)
    best = subtypes.log_summed(scores).argmax(axis=1)
    first = _leading_cluster(scores, subtypes, best)
    own = log_predictives(clusters, values, first)
    return _terms(subtypes, values, scores, best, own, log_weights(clusters)[first])


def terms_of_cohort(fit: Fit, cohort: pd.DataFrame) -> Terms:
    """Return the leave-one-out terms of the subjects of a fit for their own subtypes.

    `cohort` is as `cohort_of` returns it.
    """
    clusters, first = fit.clusters_, fit.cluster_labels_
    scores, values = left_out_scores(fit, cohort), model_values(cohort, clusters.encoding.features)
    own = log_predictives(clusters, values, first, held_values(fit))
    return _terms(fit.subtypes_, values, scores, fit.labels_, own, own_log_weights(clusters, first))


def _terms(
    subtypes: SubtypeMixture, values: Mapping[str, Array], scores: Array, best: Labels, own: Array, own_weights: Array
) -> Terms:
    """Return the terms for subtypes (n,), given the log predictives (D, n) and weights (n,) of their clusters."""
    clusters, of_subtypes, rows = subtypes.clusters, subtypes.log_summed(scores), np.arange(len(scores))
    other = _next(of_subtypes, best)
    second = _leading_cluster(scores, subtypes, other)
    differences = own - log_predictives(clusters, values, second)
    return Terms(
        differences * clusters.model.exponents[:, None] / clusters.temperature,
        (own_weights - log_weights(clusters)[second]) / clusters.temperature,
        of_subtypes[rows, best] - of_subtypes[rows, other],
        _numbers(best, subtypes),
        _numbers(other, subtypes),
    )


def _next(of_subtypes: Array, best: Labels) -> Labels:
    """Return the most probable other subtype; without any, a new cluster (the last column)."""
    none = of_subtypes.shape[1] - 1
    left = of_subtypes.copy()
    left[np.arange(len(of_subtypes)), best] = -np.inf
    if none > 1:
        left[:, none] = -np.inf
    return np.asarray(left.argmax(axis=1))


def _numbers(subtype: Labels, subtypes: SubtypeMixture) -> Labels:
    n_subtypes = int(subtypes.subtype_of.max()) + 1
    return np.where(subtype == n_subtypes, 0, subtype + 1)


def _leading_cluster(scores: Array, subtypes: SubtypeMixture, subtype: Labels) -> Labels:
    """Return the cluster of each subject's subtype with the highest score, int64 (n,)."""
    # The empty cluster is the last, and a subtype of its own.
    of_cluster = np.append(subtypes.subtype_of, int(subtypes.subtype_of.max()) + 1)
    inside = of_cluster[None, :] == subtype[:, None]
    return np.asarray(np.where(inside, scores, -np.inf).argmax(axis=1))


SIZE, WITHIN = "(size of the subtypes)", "(other clusters of the subtypes)"
"""Names of the rows that are not about a feature."""
_COLUMNS = ["subject", "subtype", "against", "feature", "label", "value", "log_odds", "words"]
_NEARLY_EVEN = 1.05
_MOST = 1e6


def explanation(subtypes: SubtypeMixture, frame: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the terms of the log odds of validated subjects as `MAPDP.explain` does."""
    terms = terms_of_new(subtypes, frame)
    features, of_features = of_wholes(subtypes.encoding.features, terms.of_features)
    names = [*(feature.name for feature in features), SIZE, WITHIN]
    everybody = np.ones(len(frame), dtype=bool)
    odds = np.vstack([of_features, terms.of_size, terms.within if subtypes.is_merged else 0.0 * terms.total])
    # Which features were observed differs between subjects; the size of the subtypes always speaks.
    observed = np.vstack([frame[name].notna().to_numpy() for name in names[:-2]])
    told = np.vstack([observed, everybody, everybody & subtypes.is_merged])
    return _table(frame, schema, names, odds, told, terms.subtype, terms.against)


def _table(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    names: list[str],
    odds: Array,
    told: NDArray[np.bool_],
    best: Labels,
    other: Labels,
) -> pd.DataFrame:
    rows: list[tuple[object, ...]] = []
    for row, subject in enumerate(frame.index):
        places = np.flatnonzero(told[:, row])
        places = places[np.argsort(-np.abs(odds[places, row]), kind="stable")]
        rows += [
            (
                subject,
                best[row],
                other[row],
                names[place],
                _label(schema, names[place]),
                _value(frame, row, names[place]),
                odds[place, row],
                _in_words(odds[place, row], best[row], other[row]),
            )
            for place in places
        ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _label(schema: FeatureSchema, name: str) -> str:
    return name if name in (SIZE, WITHIN) else schema[name].title


def _value(frame: pd.DataFrame, row: int, name: str) -> object:
    return None if name in (SIZE, WITHIN) else frame[name].iloc[row]


def _in_words(log_odds: float, best: int, other: int) -> str:
    """Return the subtype that a term favours, and the odds."""
    if is_even(log_odds):
        return "speaks for neither"
    return f"speaks for {named(best if log_odds > 0.0 else other)}, {odds_in_words(log_odds)}"


def is_even(log_odds: float) -> bool:
    """Return whether the odds of a term, in nats, are nearly 1 : 1."""
    return bool(abs(log_odds) < np.log(_NEARLY_EVEN))


def named(number: int) -> str:
    """Return the name of a subtype by its number from 1; 0 is none of these."""
    return f"Subtype {number}" if number else "none of these"


def odds_in_words(log_odds: float) -> str:
    """Return the odds of a term in nats, in favour of the subtype."""
    odds = float(f"{np.exp(min(abs(log_odds), 20.0)):.3g}")
    return f"{'over 1,000,000' if odds > _MOST else f'{odds:,.0f}' if odds >= 100 else f'{odds:g}'} : 1"


_MOST_NAMED = 3
_AT_ONCE = 5_000


def reasons_of_new(fit: Fit, frame: pd.DataFrame) -> list[str]:
    """Return the three strongest features for the most probable subtype of each new subject, validated.

    Such as ``against Subtype 1: gait 0.62 m/s (3.1 nats, 22 : 1); grip 21 kg (1.9 nats, 6.69 : 1)``.
    """
    found: list[str] = []
    for first in range(0, len(frame), _AT_ONCE):  # not all at once, to save memory
        some = frame.iloc[first : first + _AT_ONCE]
        found += _on_one_line(fit, some, terms_of_new(fit.subtypes_, some))
    return found


def reasons_of_cohort(fit: Fit, cohort: pd.DataFrame) -> list[str]:
    """Return the same for the subjects of a fit and their own subtypes, leave one out."""
    return _on_one_line(fit, cohort, terms_of_cohort(fit, cohort))


def _on_one_line(fit: Fit, frame: pd.DataFrame, terms: Terms) -> list[str]:
    features, of_features = of_wholes(fit.clusters_.encoding.features, terms.of_features)
    strongest = np.argsort(-of_features, axis=0, kind="stable")[:_MOST_NAMED]
    columns = [frame[feature.name].tolist() for feature in features]
    found = []
    for subject, against in enumerate(terms.against.tolist()):
        parts = _parts(features, columns, of_features[:, subject], subject, strongest[:, subject].tolist())
        found.append(on_one_line(f"against {named(against)}: {'; '.join(parts) or 'no feature'}"))
    return found


def _parts(
    features: list[Feature], columns: list[list[object]], terms: Array, subject: int, places: list[int]
) -> Iterator[str]:
    """Yield the features among these that favour the subtype of a subject, with value and odds."""
    for place in places:
        log_odds = float(terms[place])
        if log_odds > 0.0 and not is_even(log_odds):
            value = value_text(columns[place][subject])
            has_unit = features[place].unit and not _is_beyond(columns[place][subject])
            unit = f" {features[place].unit}" if has_unit else ""
            yield f"{features[place].title} {value}{unit} ({log_odds:.1f} nats, {odds_in_words(log_odds)})"


def _is_beyond(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)


def value_text(value: object) -> str:
    """Return a value of a feature in at most six digits, or that it is beyond a limit of detection."""
    if isinstance(value, float) and math.isinf(value):
        return mass_text(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
