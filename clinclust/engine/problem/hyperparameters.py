"""Hyperparameters in two forms: by name for users, and as one flat array on the encoded scale for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.arrays import Array, Mask
from clinclust.engine.problem.encoding import members_of_chains
from clinclust.errors import InputError, SchemaError
from clinclust.likelihoods.likelihood import KNOWN_DEGREES, Likelihood
from clinclust.likelihoods.multivariate_gaussian import default_correlations
from clinclust.schema import Feature

if TYPE_CHECKING:
    from clinclust.engine.problem.encoding import Encoding


# Hyperparameters in two forms: by name for users, and as one flat array on the encoded scale for the engine.
#
# By name they refer to the validated column after its transform; the engine standardises Gaussian features.

Hyperparameters = dict[str, dict[str, Any]]


def default_hyperparameters(
    encoding: Encoding, values: Mapping[str, Array], given: Mapping[str, Mapping[str, Any]]
) -> Hyperparameters:
    """Return every feature's hyperparameters by name: those in `given`, in the schema's `prior`, or the default.

    The default is a prior around the observed mean that weighs about as much as one subject. Raises an InputError that
    lists all stated hyperparameters out of bounds.
    """
    complete: Hyperparameters = {}
    problems: list[str] = []
    before: dict[str, Any] = {}
    factor = np.empty(0)
    correlations = _correlations_of_blocks(encoding, values)
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        default = likelihood.default_hyperparameters(values[feature.name])
        if index in correlations:
            default = likelihood.correlated(default, *correlations[index])
        stated = {**feature.stated, **given.get(feature.name, {})}
        if likelihood.n_before:
            problems += _unlike_its_block(feature.name, likelihood.shared_in_block, stated, before)
            stated = {**{name: before[name] for name in likelihood.shared_in_block}, **stated}
        found = [f"{feature.name}: {problem}" for problem in likelihood.problems_of(stated)]
        problems += found
        if found:
            before, factor = likelihood.as_dict(default), likelihood.after(factor, default)
            continue
        theta = likelihood.from_dict(stated, default)
        problems += _out_of_bounds(feature.name, likelihood, theta, values[feature.name], stated)
        before = complete[feature.name] = likelihood.as_dict(theta)
        factor = likelihood.after(factor, theta)
        problems += [f"{feature.name}: {problem}" for problem in likelihood.problems_of_factor(factor)]
    _refuse(problems)
    return complete


def _correlations_of_blocks(encoding: Encoding, values: Mapping[str, Array]) -> dict[int, tuple[Array, Array]]:
    """Return what the default prior of each feature of a multivariate Gaussian block needs of the block, by its index.

    It is the square roots of the diagonal of the scatter matrix up to the feature, and its correlations.
    """
    found: dict[int, tuple[Array, Array]] = {}
    for members in members_of_chains(encoding.features):
        columns = [values[encoding.features[index].name] for index in members]
        correlations = default_correlations(np.column_stack(columns))
        diagonal = [
            encoding.likelihoods[index].default_hyperparameters(values[encoding.features[index].name])[-1]
            for index in members
        ]
        spreads = np.sqrt(np.array(diagonal))
        for place, index in enumerate(members):
            found[index] = spreads[: place + 1], correlations[place, : place + 1]
    return found


def _unlike_its_block(
    name: str, shared: tuple[str, ...], stated: Mapping[str, Any], before: Mapping[str, Any]
) -> list[str]:
    """Return a sentence for each shared hyperparameter that is not that of the feature before it in its block."""
    if before.get("degrees") == KNOWN_DEGREES and "scatter" not in stated:
        return [f"{name}: the covariance of its block is known: give its row of known_covariance too"]
    return [
        f"{name}: {key} {stated[key]:g} is not that of its block, {before[key]:g}; a block has one {key}"
        for key in shared
        if not np.isclose(stated.get(key, before[key]), before[key], rtol=1e-9, atol=0.0)
    ]


def _out_of_bounds(
    name: str, likelihood: Likelihood, theta: Array, values: Array, stated: Mapping[str, Any]
) -> list[str]:
    """Return one sentence for each stated hyperparameter with a unit that is out of its bounds."""
    if likelihood.with_unit.isdisjoint(stated):
        return []
    free = dict(zip(likelihood.hyperparameter_names, likelihood.unit_free(theta, values).tolist(), strict=True))
    problems = []
    for key in sorted(likelihood.with_unit & set(stated)):
        low, high = likelihood.bounds.get(key, likelihood.usual_bounds)
        if not low <= free[key] <= high:
            own = stated[key][-1] if isinstance(stated[key], list) else stated[key]
            called, unit = _as_stated(likelihood, key, stated)
            problems.append(
                f"{name}: {called} {float(own) / unit:g} cannot be used with the values of the column: in units of "
                f"their spread it is {free[key] / unit:g}, and must lie between {low / unit:g} and {high / unit:g}"
            )
    return problems


def _as_stated(likelihood: Likelihood, key: str, stated: Mapping[str, Any]) -> tuple[str, float]:
    """Return the name of the parameter that is known by a hyperparameter, and its factor; else the name itself, 1."""
    for known, (weight, scale) in likelihood.known.items():
        if key == scale and stated.get(weight) in (KNOWN_DEGREES, 0.5 * KNOWN_DEGREES):
            return known, float(stated[weight])
    return key, 1.0


def _refuse(problems: list[str]) -> None:
    if problems:
        raise InputError("\n  - ".join(["The hyperparameters cannot be used:", *problems]))


def flat_prior(encoding: Encoding, hyperparameters: Mapping[str, Mapping[str, Any]]) -> Array:
    """Return the hyperparameters of all features, one after the other, on the encoded scale, float64 (H,)."""
    parts: list[Array] = []
    theta = np.empty(0)
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        named = hyperparameters[feature.name]
        own = likelihood.from_dict(dict(named), np.full(likelihood.n_hyperparameters, np.nan))
        theta = likelihood.after(theta, own)
        parts.append(likelihood.encoded_hyperparameters(theta, *encoding.standards_of(index, likelihood.n_before)))
    return np.concatenate(parts) if parts else np.zeros(0)


def prior_of_features(encoding: Encoding, prior: Array, included: Mask) -> Array:
    """Return the part of a flat prior (H,) that belongs to the included features, bool (D,)."""
    parts: list[Array] = []
    of_block: list[bool] = []
    stop = 0
    for likelihood, is_included in zip(encoding.likelihoods, included.tolist(), strict=True):
        start, stop = stop, stop + likelihood.n_hyperparameters
        of_block = [*(of_block if likelihood.n_before else []), is_included]
        if is_included:
            parts.append(likelihood.without_before(prior[start:stop], np.array(of_block)))
    return np.concatenate(parts) if parts else np.zeros(0)


def named_hyperparameters(encoding: Encoding, prior: Array) -> Hyperparameters:
    """Return the hyperparameters of a flat prior by feature and name, on the scale of the columns."""
    named: Hyperparameters = {}
    stop = 0
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        start, stop = stop, stop + likelihood.n_hyperparameters
        standards = encoding.standards_of(index, likelihood.n_before)
        theta = likelihood.stated_hyperparameters(prior[start:stop], *standards)
        named[feature.name] = likelihood.as_dict(theta)
    return named


def stated_hyperparameters(given: Mapping[str, Mapping[str, Any]], features: tuple[Feature, ...]) -> Hyperparameters:
    """Check hyperparameters that a user gives in code, all problems at once; return them as plain numbers and lists."""
    by_name = {feature.name: feature for feature in features}
    stated: Hyperparameters = {}
    problems: list[str] = []
    for name, named in given.items():
        if name not in by_name:
            problems.append(f"{name}: no clustered feature has this name; they are {', '.join(by_name)}")
            continue
        stated[name] = {key: np.asarray(value).tolist() for key, value in named.items()}
        try:
            # A prior given here must satisfy the same rules as a prior in the schema.
            stated[name] = Feature(**{**by_name[name].content(), "prior": stated[name]}).stated
        except SchemaError as error:
            problems.extend(error.problems)
    _refuse(problems)
    return stated
