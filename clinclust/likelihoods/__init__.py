"""The likelihoods that a feature can have."""

from __future__ import annotations

from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.likelihoods.multivariate_gaussian import MultivariateGaussian
from clinclust.likelihoods.negative_binomial import NegativeBinomial
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.likelihoods.poisson import Poisson

__all__ = ["REGISTRY", "Likelihood", "name_meant", "traits_of"]

REGISTRY: dict[str, type[Likelihood]] = {
    likelihood.name: likelihood
    for likelihood in (
        Bernoulli,
        Binomial,
        Ordinal,
        Categorical,
        Poisson,
        Geometric,
        NegativeBinomial,
        Exponential,
        Gaussian,
        MultivariateGaussian,
    )
}
"""Every likelihood by its name in a schema, in the order in which messages and documents list them."""


def name_meant(word: str) -> str | None:
    """Return the name of the likelihood that people mean by another word, such as ``normal``, or None."""
    folded = " ".join(word.replace("_", " ").casefold().split())
    return next((name for name, likelihood in REGISTRY.items() if folded in likelihood.also_called), None)


def traits_of(name: str | None) -> type[Likelihood]:
    """Return the likelihood class with this name. For None, a feature without likelihood, return the base class."""
    return Likelihood if name is None else REGISTRY[name]
