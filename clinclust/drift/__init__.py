"""Drift: whether a new batch of subjects differs from the cohort that the subtypes were found in."""

from __future__ import annotations

from clinclust.drift.assess import assess_drift
from clinclust.drift.result import Drift

__all__ = ["Drift", "assess_drift"]
