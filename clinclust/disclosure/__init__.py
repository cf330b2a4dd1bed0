"""Statistical disclosure control: withhold small counts so that they cannot be inferred, and audit the result."""

from __future__ import annotations

from clinclust.disclosure.counts import withhold_associations
from clinclust.disclosure.suppress import audit_disclosure, suppress_small_cells

__all__ = ["audit_disclosure", "suppress_small_cells", "withhold_associations"]
