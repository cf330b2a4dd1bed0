"""What a table shows of itself: a drafted schema, and what deserves a look before subtypes are searched."""

from __future__ import annotations

from clinclust.drafting.draft import draft_schema
from clinclust.drafting.look import Look

__all__ = ["Look", "draft_schema"]
