"""Which features speak for the subtype of a subject, and how strongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.feature_predictives import log_predictives

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.subtype_mixture import SubtypeMixture
    from clinclust.schema import FeatureSchema

__all__ = ["SIZE", "WITHIN", "explanation"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

SIZE, WITHIN = "(size of the subtypes)", "(other clusters of the subtypes)"
"""Names of the rows that are not about a feature."""
_NEARLY_EVEN = 1.05
_MOST = 1e6


def explanation(subtypes: SubtypeMixture, frame: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the terms of the log odds of the subtype of each subject against the next one that was found.

    Parameters
    ----------
    subtypes : SubtypeMixture
        The subtypes of a fit; K is their number.
    frame : DataFrame, n rows
        The subjects, validated.
    schema : FeatureSchema

    Returns
    -------
    DataFrame
        As `MAPDP.explain` says.
    """
    values = model_values(frame, subtypes.encoding.features)
    scores = subtypes.finer.scores(values, coarsened=True)
    of_subtypes = subtypes.log_summed(scores)
    best, other = _compared(of_subtypes)
    rows = np.arange(len(frame))
    of_cluster = np.append(subtypes.subtype_of, int(subtypes.subtype_of.max()) + 1)  # the empty cluster is the last
    pair = [_leading_cluster(scores, of_cluster, subtype) for subtype in (best, other)]
    features = subtypes.encoding.features
    terms = _terms(subtypes.finer, values, *pair)
    of_sizes = _log_weights(subtypes.finer)
    size = of_sizes[pair[0]] - of_sizes[pair[1]]
    total = of_subtypes[rows, best] - of_subtypes[rows, other]
    within = total - size - terms.sum(axis=0)
    names = [*(feature.name for feature in features), SIZE, WITHIN]
    odds = np.vstack([terms, size, within if subtypes.is_merged else np.zeros(len(rows))])
    # Which features were observed differs between subjects; the size of the subtypes always speaks.
    observed = np.vstack([frame[name].notna().to_numpy() for name in names[:-2]])
    told = np.vstack([observed, np.ones(len(rows), dtype=bool), np.full(len(rows), subtypes.is_merged)])
    return _table(frame, schema, names, odds, told, _numbers(best, subtypes), _numbers(other, subtypes))


def _compared(of_subtypes: Array) -> tuple[Labels, Labels]:
    """Return the most probable subtype of each subject, and the next one that was found; if there is none, the new one.

    The last column is none of these subtypes.
    """
    rows, none = np.arange(len(of_subtypes)), of_subtypes.shape[1] - 1
    best = of_subtypes.argmax(axis=1)
    left = of_subtypes.copy()
    left[rows, best] = -np.inf
    if none > 1:
        left[:, none] = -np.inf
    return best, left.argmax(axis=1)


def _numbers(subtype: Labels, subtypes: SubtypeMixture) -> Labels:
    """Return the numbers of subtypes from 1; 0 is none of these."""
    n_subtypes = int(subtypes.subtype_of.max()) + 1
    return np.where(subtype == n_subtypes, 0, subtype + 1)


def _leading_cluster(scores: Array, of_cluster: Labels, subtype: Labels) -> Labels:
    """Return, for each subject, the cluster of this subtype with the highest score, int64 (n,)."""
    inside = of_cluster[None, :] == subtype[:, None]
    return np.asarray(np.where(inside, scores, -np.inf).argmax(axis=1))


def _terms(clusters: Clusters, values: Mapping[str, Array], first: Labels, second: Labels) -> Array:
    """Return the difference of the log predictives of each feature in two clusters, as it counts, float64 (D, n)."""
    logs = log_predictives(clusters, values)
    rows = np.arange(first.size)
    difference = logs[:, rows, first] - logs[:, rows, second]
    return np.asarray(difference * clusters.model.exponents[:, None], dtype=np.float64)


def _log_weights(clusters: Clusters) -> Array:
    """Return the log prior weight of each cluster and of a new one, up to a constant, float64 (J + 1,)."""
    model = clusters.model
    new = model.concentration + clusters.sizes.size * model.discount
    return np.asarray(np.log(np.append(clusters.sizes - model.discount, new)), dtype=np.float64)


def _table(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    names: list[str],
    odds: Array,
    told: NDArray[np.bool_],
    best: Labels,
    other: Labels,
) -> pd.DataFrame:
    parts = []
    for row, subject in enumerate(frame.index):
        places = np.flatnonzero(told[:, row])
        places = places[np.argsort(-np.abs(odds[places, row]), kind="stable")]
        parts.append(
            pd.DataFrame(
                {
                    "subject": [subject] * places.size,
                    "subtype": best[row],
                    "against": other[row],
                    "feature": [names[place] for place in places],
                    "label": [_label(schema, names[place]) for place in places],
                    "value": [_value(frame, row, names[place]) for place in places],
                    "log_odds": odds[places, row],
                    "words": [_in_words(odds[place, row], best[row], other[row]) for place in places],
                }
            )
        )
    columns = ["subject", "subtype", "against", "feature", "label", "value", "log_odds", "words"]
    return pd.concat(parts, ignore_index=True)[columns]


def _label(schema: FeatureSchema, name: str) -> str:
    return name if name in (SIZE, WITHIN) else schema[name].title


def _value(frame: pd.DataFrame, row: int, name: str) -> object:
    return None if name in (SIZE, WITHIN) else frame[name].iloc[row]


def _in_words(log_odds: float, best: int, other: int) -> str:
    """Return for which subtype a term speaks, and with which odds."""
    odds = float(np.exp(min(abs(log_odds), 20.0)))
    if odds < _NEARLY_EVEN:
        return "speaks for neither"
    called = best if log_odds > 0.0 else other
    named = f"Subtype {called}" if called else "none of these"
    return f"speaks for {named}, {'over 1,000,000' if odds > _MOST else f'{odds:,.3g}'} : 1"
