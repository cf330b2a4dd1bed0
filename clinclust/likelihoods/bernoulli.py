"""Bernoulli likelihood with a Beta(a, b) prior: yes or no (Raykov et al. 2016, appendix A, with two levels)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clinclust.likelihoods.binomial import Binomial

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Bernoulli"]


@dataclass(frozen=True)
class Bernoulli(Binomial):
    """A single trial: the binomial with one."""

    trials: int = 1

    name = "bernoulli"

    @classmethod
    def of(cls, feature: Feature) -> Bernoulli:
        """Return the likelihood of a yes-or-no feature."""
        return cls()
