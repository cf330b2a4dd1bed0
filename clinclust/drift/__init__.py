"""Drift: whether a new batch of subjects differs from the cohort that the subtypes were found in."""

from __future__ import annotations

from clinclust.drift.assess import Drift, assess_drift

__all__ = ["Drift", "assess_drift"]
