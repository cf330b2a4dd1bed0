"""What subtypes are for: outcomes and predictors of subtypes, with the errors of assignment carried through."""

from __future__ import annotations

from clinclust.outcomes.columns import survival_curves
from clinclust.outcomes.compare import adjusted_differences, compare_outcomes, subtype_predictors

__all__ = ["adjusted_differences", "compare_outcomes", "subtype_predictors", "survival_curves"]
