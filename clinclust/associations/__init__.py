"""Tests that remain valid after clustering: each feature is tested against subtypes found without it."""

from __future__ import annotations

from clinclust.associations.associate import validated_associations

__all__ = ["validated_associations"]
