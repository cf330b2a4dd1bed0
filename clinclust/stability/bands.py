"""Hennig's bands of the clusterwise Jaccard similarity, and what they mean in words."""

from __future__ import annotations

import math
from typing import NamedTuple

from clinclust.estimators.few_subjects import FEW_SUBJECTS

__all__ = ["BANDS", "DISSOLVED", "RECOVERED", "TOO_FEW", "Band", "band_of"]

DISSOLVED, RECOVERED = 0.5, 0.75
"""A subtype is dissolved in a refit whose nearest subtype has at most the first Jaccard, and found again from the
second on (Hennig 2007, 2008)."""


class Band(NamedTuple):
    """A band of the mean Jaccard similarity, from `least` on."""

    least: float
    name: str
    words: str


BANDS = (
    Band(0.85, "highly stable", "the same subjects come together again nearly always"),
    Band(0.75, "stable", "a valid, stable subtype: mostly the same subjects come together again"),
    Band(0.6, "a pattern", "there is a pattern, but which subjects belong to it is doubtful"),
    Band(0.5, "unstable", "not to be trusted: other subjects come together in other samples"),
    Band(0.0, "dissolved", "the subtype does not come out again: other samples divide its subjects otherwise"),
)
"""The bands of Hennig (2007, Computational Statistics and Data Analysis 52, 258-271), the most stable first."""


TOO_FEW = Band(0.0, "few subjects", "too few subjects to tell")
"""Of subtypes with hardly any subject: one who is alone comes out again alone, or not at all."""


def band_of(jaccard: float, n_subjects: int) -> Band:
    """Return the band of the mean Jaccard similarity of a subtype with this number of subjects."""
    if math.isnan(jaccard) or n_subjects < FEW_SUBJECTS:
        return TOO_FEW
    return next(band for band in BANDS if jaccard >= band.least)
