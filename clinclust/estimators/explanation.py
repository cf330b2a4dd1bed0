"""Which features speak for the subtype of a subject, and how strongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.estimators.explained_terms import terms_of_new
from clinclust.schema.parts import of_wholes

if TYPE_CHECKING:
    from clinclust.estimators.subtype_mixture import SubtypeMixture
    from clinclust.schema import FeatureSchema

__all__ = ["SIZE", "WITHIN", "explanation", "is_even", "named", "odds_in_words"]

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
    """Return odds for the one of two subtypes for which a term, in nats, speaks."""
    odds = float(f"{np.exp(min(abs(log_odds), 20.0)):.3g}")
    return f"{'over 1,000,000' if odds > _MOST else f'{odds:,.0f}' if odds >= 100 else f'{odds:g}'} : 1"
