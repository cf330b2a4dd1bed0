"""What subtypes are for: outcomes and predictors of subtypes, with the errors of assignment carried through."""

from __future__ import annotations

from clinclust.outcomes.adjusted import adjusted_differences
from clinclust.outcomes.compare import compare_outcomes
from clinclust.outcomes.curves import survival_curves
from clinclust.outcomes.predictors import subtype_predictors

__all__ = ["adjusted_differences", "compare_outcomes", "subtype_predictors", "survival_curves"]
