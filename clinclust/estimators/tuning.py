"""From the parameters `hyperparameters` and `concentration` of `MAPDP` to a search under estimated ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.engine.beside.alternation import Estimated, Search, alternate, carry_on, index_of_best
from clinclust.engine.beside.concentration import DEFAULT
from clinclust.engine.beside.cross_validation import deal_folds, held_out_log_density, starts_among, training_problem
from clinclust.engine.beside.greedy import choose_greedily
from clinclust.engine.beside.hyperprior import Hyperprior

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import Restart
    from clinclust.engine.search.starts import Start

__all__ = ["CONCENTRATIONS", "N_FOLDS", "Tuner", "first_concentration", "named_hyperparameters_of", "tried_once"]

CONCENTRATIONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The concentrations that cross-validation chooses from."""
N_FOLDS = 5


def first_concentration(concentration: Any) -> float:
    """Return the concentration to begin with: the number itself, or the default."""
    return float(concentration) if isinstance(concentration, Real) else DEFAULT


def named_hyperparameters_of(hyperparameters: Any) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the hyperparameters that are stated by name, if they are."""
    return None if isinstance(hyperparameters, str) else hyperparameters


@dataclass(frozen=True)
class Tuner:
    """How to find partition, hyperparameters and concentration together.

    Attributes
    ----------
    hyperparameters, concentration
        As in `MAPDP`.
    search : callable
        `clinclust.engine.search.restarts.run_restarts` with everything but the problem and the starts settled.
    max_sweeps : int
    """

    hyperparameters: Any
    concentration: Any
    search: Search
    max_sweeps: int

    def tune(self, problem: Problem, starts: list[Start], seed: int) -> tuple[Problem, list[Restart], pd.DataFrame]:
        """Return the problem with the model in the end, the restarts under it, and what was tried.

        Parameters
        ----------
        problem : Problem
            With the default hyperparameters, or those stated.
        starts : list of Start
        seed : int
            Of the fit; here it deals the folds.
        """
        if isinstance(self.concentration, str) and self.concentration == "cross-validation":
            # One child more than there are restarts, so that the folds are dealt by none of theirs.
            rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(len(starts) + 1)[-1])
            tried = self._cross_validated(problem, starts, rng)
            chosen = float(tried["concentration"].iloc[tried["held_out_log_density"].argmax()])
            problem, restarts, _ = self._under(problem, starts, chosen)
        elif isinstance(self.concentration, Real | str):
            began = problem.model.concentration
            problem, restarts, _ = self._under(problem, starts, began)
            chosen = problem.model.concentration
            tried = tried_once(problem, restarts)
        else:
            # In ascending order, and the first of equals: in a tie the smaller concentration.
            results = [
                self._under(problem, starts, float(concentration)) for concentration in np.unique(self.concentration)
            ]
            tried = pd.DataFrame([_row(problem, restarts) for problem, restarts, _ in results])
            extended = [restarts[index_of_best(restarts)].log_joint + log_h for _, restarts, log_h in results]
            problem, restarts, _ = results[int(np.argmax(extended))]
            chosen = problem.model.concentration
        return problem, restarts, tried.assign(chosen=tried["concentration"] == chosen)

    def _under(
        self, problem: Problem, starts: list[Start], concentration: float, found: list[Restart] | None = None
    ) -> tuple[Problem, list[Restart], float]:
        """Search, and estimate what is to be estimated, from this concentration on; return also the log hyperprior.

        Restarts found at another concentration save most of the search: it goes on from the best of them.
        """
        problem = replace(problem, model=problem.model._replace(concentration=concentration))
        hyperprior = Hyperprior.of(problem) if self.hyperparameters == "empirical" else None
        estimated = Estimated(hyperprior, isinstance(self.concentration, str) and self.concentration == "map")
        restarts = self.search(problem, starts) if found is None else carry_on(problem, found, starts, self.search)
        if self.hyperparameters == "greedy":
            problem, restarts = choose_greedily(problem, restarts, starts, self.search, self.max_sweeps)
        problem, restarts = alternate(problem, restarts, starts, estimated, self.search)
        return problem, restarts, estimated.log_hyperprior(problem)

    def _cross_validated(self, problem: Problem, starts: list[Start], rng: np.random.Generator) -> pd.DataFrame:
        """Return the held-out density at each concentration, and the mean of what was found in the folds."""
        densities = np.empty((problem.cohort.n_subjects, len(CONCENTRATIONS)))
        n_clusters = [[] for _ in CONCENTRATIONS]  # type: list[list[int]]
        for training, held_out in deal_folds(problem.cohort.n_subjects, N_FOLDS, rng):
            part, part_starts = training_problem(problem, training), starts_among(starts, training)
            at_default = self.search(part, part_starts)
            for index, concentration in enumerate(CONCENTRATIONS):
                found, restarts, _ = self._under(part, part_starts, concentration, at_default)
                best = restarts[index_of_best(restarts)]
                densities[held_out, index] = held_out_log_density(found, best.labels, problem.cohort, held_out)
                n_clusters[index].append(int(best.labels.max()) + 1)
        return pd.DataFrame(
            {
                "concentration": CONCENTRATIONS,
                "held_out_log_density": densities.mean(axis=0),
                "n_clusters": [float(np.mean(found)) for found in n_clusters],
            }
        )


def tried_once(problem: Problem, restarts: list[Restart]) -> pd.DataFrame:
    """Return what was tried when one concentration was."""
    return pd.DataFrame([_row(problem, restarts)]).assign(chosen=True)


def _row(problem: Problem, restarts: list[Restart]) -> dict[str, float]:
    best = restarts[index_of_best(restarts)]
    return {
        "concentration": problem.model.concentration,
        "log_joint": best.log_joint,
        "n_clusters": int(best.labels.max()) + 1,
    }
