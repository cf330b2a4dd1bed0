"""Stability: whether the subtypes of a cohort come out again, and are the same in groups of subjects."""

from __future__ import annotations

from clinclust.stability.assess import Stability, Validation, assess_stability, validate_subtypes
from clinclust.stability.invariance import Invariance, assess_invariance

__all__ = ["Invariance", "Stability", "Validation", "assess_invariance", "assess_stability", "validate_subtypes"]
