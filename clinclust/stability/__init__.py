"""Stability: whether the subtypes of a cohort would come out again."""

from __future__ import annotations

from clinclust.stability.assess import assess_stability
from clinclust.stability.result import Stability

__all__ = ["Stability", "assess_stability"]
