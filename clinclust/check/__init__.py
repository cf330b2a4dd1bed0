"""Does the model fit? Likelihoods, replicated values, dependence inside subtypes, and the lines that mend them."""

from __future__ import annotations

from clinclust.check.check import ModelCheck, check_model

__all__ = ["ModelCheck", "check_model"]
