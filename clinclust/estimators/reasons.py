"""Which features speak for the subtype of each subject, on one line: for a table of many subjects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.control_characters import on_one_line
from clinclust.estimators.explained_terms import Terms, terms_of_cohort, terms_of_new
from clinclust.estimators.explanation import is_even, named, odds_in_words
from clinclust.schema.parts import mass_text, of_wholes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clinclust.estimators.fit import Fit
    from clinclust.schema import Feature

__all__ = ["reasons_of_cohort", "reasons_of_new"]

Array = NDArray[np.float64]

_MOST_NAMED = 3
_AT_ONCE = 5_000


def reasons_of_new(fit: Fit, frame: pd.DataFrame) -> list[str]:
    """Return what speaks for the most probable subtype of each new subject.

    The terms are those of `MAPDP.explain`, of which the strongest three features for the subtype are named, with value,
    log odds and odds: ``against Subtype 1: gait 0.62 m/s (3.1 nats, 22 : 1); grip 21 kg (1.9 nats, 6.69 : 1)``.

    Parameters
    ----------
    fit : Fit
    frame : DataFrame, n rows
        The subjects, as `schema_needed` has validated them.
    """
    found: list[str] = []
    for first in range(0, len(frame), _AT_ONCE):  # not all at once, to save memory
        some = frame.iloc[first : first + _AT_ONCE]
        found += _in_words(fit, some, terms_of_new(fit.subtypes_, some))
    return found


def reasons_of_cohort(fit: Fit, cohort: pd.DataFrame) -> list[str]:
    """Return the same for the subjects of a fit and the subtype that it gave them, each judged by all others.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    """
    return _in_words(fit, cohort, terms_of_cohort(fit, cohort))


def _in_words(fit: Fit, frame: pd.DataFrame, terms: Terms) -> list[str]:
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
    """Yield the features among these that speak for the subtype of a subject, with value and odds."""
    for place in places:
        log_odds = float(terms[place])
        if log_odds > 0.0 and not is_even(log_odds):
            value = _shown(columns[place][subject])
            has_unit = features[place].unit and not _is_beyond(columns[place][subject])
            unit = f" {features[place].unit}" if has_unit else ""
            yield f"{features[place].title} {value}{unit} ({log_odds:.1f} nats, {odds_in_words(log_odds)})"


def _is_beyond(value: object) -> bool:
    """Return whether a value is only known to lie beyond a limit of detection."""
    return isinstance(value, float) and math.isinf(value)


def _shown(value: object) -> str:
    if isinstance(value, float) and math.isinf(value):
        return mass_text(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
