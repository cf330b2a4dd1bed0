"""The seven likelihoods a feature can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.likelihoods.poisson import Poisson

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["REGISTRY", "Likelihood", "likelihood_of"]

REGISTRY: dict[str, type[Likelihood]] = {
    "bernoulli": Bernoulli,
    "binomial": Binomial,
    "categorical": Categorical,
    "poisson": Poisson,
    "geometric": Geometric,
    "exponential": Exponential,
    "gaussian": Gaussian,
}


def likelihood_of(feature: Feature) -> Likelihood:
    """Return the likelihood that a feature of a schema declares."""
    assert feature.likelihood is not None  # the schema refuses a clustered feature without
    return REGISTRY[feature.likelihood].of(feature)
