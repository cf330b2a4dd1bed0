"""Other settings under which the whole cohort is searched again: concentration, strength of the prior, seed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["changed_settings"]

_CONCENTRATIONS = {"1/3": 1.0 / 3.0, "3": 3.0, "30": 30.0}
_NO_STRENGTH = ("mean", "dispersion")
"""Hyperparameters that say where values lie or how they scatter, and not how much the prior weighs."""


def changed_settings(problem: Problem, seed: int) -> list[tuple[str, Problem, int]]:
    """Return the changed settings of the sensitivity table: a name, the problem, and the seed of the search."""
    changed = [
        (f"concentration {called}", replace(problem, model=problem.model._replace(concentration=value)), seed)
        for called, value in _CONCENTRATIONS.items()
    ]
    changed += [(f"prior strength x {factor:g}", _with_prior_strength(problem, factor), seed) for factor in (0.5, 2.0)]
    return [*changed, *((f"seed {seed + step}", problem, seed + step) for step in (1, 2, 3))]


def _with_prior_strength(problem: Problem, factor: float) -> Problem:
    """Return the problem with a prior that weighs as so many times as many subjects, around the same values."""
    likelihoods = problem.cohort.encoding.likelihoods
    names = [name for likelihood in likelihoods for name in likelihood.hyperparameter_names]
    weighs = np.array([name not in _NO_STRENGTH for name in names])
    # Degrees of a block weigh by what they are above the number of features before the feature.
    before = np.repeat([likelihood.n_before for likelihood in likelihoods], np.diff(problem.cohort.arrays.prior_start))
    least = np.where(np.array(names) == "degrees", before, 0.0)
    prior = np.where(weighs, least + factor * (problem.model.prior - least), problem.model.prior)
    cohort = problem.cohort.with_prior(prior, problem.model.powers)
    return replace(problem, cohort=cohort, model=problem.model._replace(prior=prior))
