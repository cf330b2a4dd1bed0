"""Stability: whether the subtypes of a cohort would come out again, in its resamples and in other cohorts."""

from __future__ import annotations

from clinclust.stability.assess import Stability, Validation, assess_stability, validate_subtypes

__all__ = ["Stability", "Validation", "assess_stability", "validate_subtypes"]
