"""Check that the hyperparameters of a fit by name are possible, and are those of its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.engine.problem.hyperparameters import flat_prior, named_hyperparameters
from clinclust.likelihoods.likelihood import Likelihood

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["hyperparameters_problems"]


def hyperparameters_problems(fit: Fit) -> list[str]:
    """Return what is wrong with the hyperparameters, centres and scales of a fit; empty if nothing is."""
    encoding = fit.clusters_.encoding
    features = encoding.features
    if set(fit.hyperparameters_) != {feature.name for feature in features}:
        return ["hyperparameters_ are not of the encoded features"]
    for feature, likelihood in zip(features, encoding.likelihoods, strict=True):
        named = fit.hyperparameters_[feature.name]
        if _form(named) != _form(likelihood.as_dict(np.ones(likelihood.n_hyperparameters))):
            return [f"hyperparameters_ of {feature.name} are not those of its likelihood"]
        impossible = [key for key, value in named.items() if not _is_possible(likelihood, key, value)]
        if impossible:
            return [f"hyperparameters_ of {feature.name}: {', '.join(impossible)} cannot be what they are"]
    with np.errstate(all="ignore"):
        differing = _differing(fit)
    return [f"the prior, centre or scale of {name} is not that of its hyperparameters" for name in differing]


def _is_possible(likelihood: Likelihood, key: str, value: float | list[float]) -> bool:
    """Return whether a hyperparameter is finite and, unless it may be negative, above 0.

    The bounds of stated hyperparameters do not hold for estimated ones, nor for those set from the data.
    """
    values = np.atleast_1d(np.array(value, dtype=np.float64))
    may_be_negative = likelihood.bounds.get(key, likelihood.usual_bounds)[0] < 0.0
    positive = values[-1:] if key in likelihood.with_unit else values  # of a list with a unit, the last is its own
    return bool(np.isfinite(values).all() and (may_be_negative or (positive > 0.0).all()))


def _form(named: dict[str, Any]) -> dict[str, int | None]:
    """Return the length of each hyperparameter by name; None if it is a number, -1 if it is neither."""

    def length(value: object) -> int | None:
        if isinstance(value, list):
            return len(value) if all(type(item) in (int, float) for item in value) else -1
        return None if type(value) in (int, float) else -1

    return {name: length(value) for name, value in named.items()}


def _differing(fit: Fit) -> list[str]:
    """Return the features whose encoded prior is not that of their hyperparameters by name."""
    encoding, prior = fit.clusters_.encoding, fit.clusters_.model.prior
    flat, named = flat_prior(encoding, fit.hyperparameters_), named_hyperparameters(encoding, prior)
    found = []
    stop = 0
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        start, stop = stop, stop + likelihood.n_hyperparameters
        unknown = np.full(likelihood.n_hyperparameters, np.nan)
        stated, back = (likelihood.from_dict(some[feature.name], unknown) for some in (fit.hyperparameters_, named))
        # Either may have been computed from the other, and far from 0 the way back is not exact.
        agree = np.allclose(flat[start:stop], prior[start:stop], rtol=1e-6, atol=0.0) or np.allclose(
            stated, back, rtol=1e-6, atol=0.0, equal_nan=True
        )
        standard = type(likelihood).standardisation is not Likelihood.standardisation or (
            encoding.centres[index] == 0.0 and encoding.scales[index] == 1.0
        )
        if not standard or not agree:
            found.append(feature.name)
    return found
