"""Does the model fit? Likelihoods, replicated values, dependence inside subtypes, and the lines that mend them."""

from __future__ import annotations

from clinclust.model_check.check import check_model
from clinclust.model_check.result import ModelCheck

__all__ = ["ModelCheck", "check_model"]
