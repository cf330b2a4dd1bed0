"""Compare likelihoods for the observed values of one column, by their log marginals over all subjects together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.likelihoods import REGISTRY
from clinclust.schema.feature import Feature

__all__ = ["COUNTS", "SCALES", "Candidate", "candidate", "how_clear"]

SCALES = sorted(
    (name for name, traits in REGISTRY.items() if "scale" in traits.drafted_for and traits.is_scale),
    key=lambda name: not REGISTRY[name].counts_levels,
)
"""Likelihoods of ordered scales; those that allow any shape come first, and win ties."""
COUNTS = [name for name, traits in REGISTRY.items() if "count" in traits.drafted_for and traits.is_count]
"""Likelihoods of counts."""

_CLEAR, _BARE = 5.0, 1.0
"""Differences of log marginals, in nats, from which on a choice is clear, and up to which it is a bare one.

Kass and Raftery (1995, Journal of the American Statistical Association 90) call a Bayes factor above e^5 very strong
evidence, and one below e^1 not worth more than a bare mention."""


@dataclass(frozen=True)
class Candidate:
    """One way of modelling a column, and how well it does.

    Attributes
    ----------
    fields : dict
        The fields of the feature.
    called : str
        What it is called in a reason.
    evidence : float
        The log marginal of the values in one cluster under a weak prior, in nats; -inf where it cannot be computed.
    """

    fields: dict[str, Any]
    called: str
    evidence: float


def candidate(
    fields: dict[str, Any], values: NDArray[np.float64], log_jacobian: float = 0.0, called: str = ""
) -> Candidate:
    """Return a way of modelling a column.

    Parameters
    ----------
    fields : dict
        The fields of the feature, among them the likelihood.
    values : float64 (n,)
        The values on the scale of the likelihood: after the transform, and scales counted from 0.
    log_jacobian : float
        What the transform adds to the log density of all values.
    called : str
        The default is the name of the likelihood.
    """
    name = fields["likelihood"]
    declared = {key: value for key, value in fields.items() if key in ("levels", "trials", "minimum", "maximum")}
    try:
        likelihood = REGISTRY[name].of(Feature(name="x", likelihood=name, **declared))
        found = likelihood.evidence(values) + log_jacobian
    except (ValueError, OverflowError, ZeroDivisionError):  # numbers too large or too close together
        found = -np.inf
    return Candidate(fields, called or name.replace("_", " "), float(found) if np.isfinite(found) else -np.inf)


def how_clear(best: Candidate, others: list[Candidate]) -> tuple[str, bool]:
    """Return how the best candidate compares with the best other one, in words, and whether that is clear.

    The other one may have the higher log marginal, if the best is best for another reason.
    """
    if not others or best.evidence == -np.inf:
        return "", True
    next_best = max(others, key=lambda other: other.evidence)
    difference = best.evidence - next_best.evidence
    if difference >= _CLEAR:
        return f"clearly better than {next_best.called}", True
    if difference >= _BARE:
        return f"probably better than {next_best.called}", False
    if difference >= -_BARE:
        return f"about as good as {next_best.called}", False
    return f"{next_best.called} would fit better", False
