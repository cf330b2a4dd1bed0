"""Tests that stay valid after clustering: each feature against subtypes that it did not form."""

from __future__ import annotations

from clinclust.associations.associate import validated_associations

__all__ = ["validated_associations"]
