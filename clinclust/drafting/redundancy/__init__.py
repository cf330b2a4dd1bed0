"""Columns of a table that repeat what others say, and what a schema should do about them: one module a kind."""

from __future__ import annotations

from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.in_schema import applied, looks
from clinclust.drafting.redundancy.search import redundancies

__all__ = ["Redundancy", "applied", "looks", "redundancies"]
