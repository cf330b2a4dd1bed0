"""Posterior: draws of partitions, and the chains of a fit of `GibbsDP`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.compiled import announcing_compilation
from clinclust.engine.joint_estimates.empirical_bayes import Hyperprior
from clinclust.engine.problem.posterior import clusters_of, probabilities
from clinclust.engine.sampling.chain import Unknown
from clinclust.engine.sampling.chains import SamplingPlan, overdispersed_starts, run_chains
from clinclust.engine.sampling.point_estimate import (
    CredibleBall,
    Loss,
    ball_around,
    membership_of_draws,
    point_estimate,
    same_cluster,
)
from clinclust.engine.search.plan import Budget, SearchPlan, n_threads
from clinclust.estimators.parameters import DRAWN, seed_of
from clinclust.estimators.preparation import Prepared, posed, several_subjects
from clinclust.estimators.settings import SamplerSettings
from clinclust.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike

    from clinclust.engine.kernels.partition import Model
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.sampling.chains import Chains


_MOST_FOR_NEW_SUBJECTS = 200
"""Number of draws for the predictive of new subjects."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of partitions, in the order of the table.

    Attributes
    ----------
    draws : int32 (S, N)
        Clusters of each kept draw, 0 .. K_s - 1.
    loss : str
        Loss of the point estimate.
    chains : Chains
        In the order of the encoded subjects.
    problem : Problem
    """

    draws: NDArray[np.int32]
    loss: Loss
    chains: Chains
    problem: Problem = field(repr=False)

    @classmethod
    def of(cls, chains: Chains, problem: Problem, loss: Loss) -> Posterior:
        """Return the draws of chains."""
        draws = np.empty_like(chains.labels)
        draws[:, problem.cohort.order] = chains.labels
        return cls(draws, loss, chains, problem)

    @cached_property
    def labels(self) -> Labels:
        """The point estimate, int64 (N,), clusters by decreasing size."""
        # In the encoded order, so that the order of the table changes nothing.
        return self.problem.cohort.in_table_order(point_estimate(self.chains.labels, self.loss))

    @cached_property
    def membership(self) -> Array:
        """The share of the draws in which each subject is in each cluster of the point estimate, float64 (N, K)."""
        return self.membership_in(self.labels)

    def membership_in(self, labels: Labels) -> Array:
        """Return the share of the draws in which each subject is in each cluster of a partition, float64 (N, K)."""
        return membership_of_draws(self.draws, np.ascontiguousarray(labels))

    @cached_property
    def n_clusters(self) -> pd.Series[float]:
        """The posterior probability of each number of clusters that was drawn."""
        counts = np.bincount(self.chains.traces["n_clusters"].astype(np.int64).ravel())
        drawn = np.flatnonzero(counts)
        index = pd.Index(drawn, name="n_clusters")
        return pd.Series(counts[drawn] / counts.sum(), index=index, name="probability")

    def similarity(self, subjects: Labels) -> Array:
        """Return the probability that each of these subjects is in one cluster with each subject, float64 (M, N)."""
        counts = np.zeros((subjects.size, self.draws.shape[1]))
        same_cluster(self.draws, subjects, counts)
        return counts / len(self.draws)

    def credible_ball(self, probability: float) -> CredibleBall:
        """Return the ball of this probability around the point estimate."""
        return ball_around(self.draws, self.labels, self.loss, probability)

    @property
    def concentration(self) -> float:
        """The posterior mean of the concentration."""
        return float(self.chains.traces["concentration"].mean())

    @property
    def convergence(self) -> pd.DataFrame:
        """R-hat and effective sample size of each traced quantity, and whether both are good enough."""
        rows = [
            (name, found.r_hat, found.effective_size, found.has_converged)
            for name, found in self.chains.diagnoses.items()
        ]
        return pd.DataFrame(rows, columns=["quantity", "r_hat", "effective_size", "converged"])

    @property
    def traces(self) -> pd.DataFrame:
        """The traced quantities after each sweep of the second half of each chain."""
        n_chains, n_kept = self.chains.traces["log_joint"].shape
        first = self.chains.n_sweeps - n_kept
        table = pd.DataFrame({name: trace.ravel() for name, trace in self.chains.traces.items()})
        table.insert(0, "chain", np.repeat(np.arange(1, n_chains + 1), n_kept))
        table.insert(1, "sweep", np.tile(np.arange(first + 1, first + n_kept + 1), n_chains))
        return table

    def probabilities_of_new(self, values: Mapping[str, Array]) -> Array:
        """Return the mean over draws of the probability of each cluster of the point estimate, float64 (n, K + 1).

        Drawn clusters count as the cluster with which they share most subjects; the last column is a new cluster.
        """
        n_clusters = int(self.labels.max()) + 1
        found: list[Array] = []
        for drawn, clusters in self._drawn_clusters():
            joint = np.zeros((drawn.max() + 1, n_clusters))
            np.add.at(joint, (drawn, self.labels), 1.0)
            of_draw = probabilities(clusters.scores(values, coarsened=True))
            summed = np.zeros((len(of_draw), n_clusters + 1))
            np.add.at(summed.T, joint.argmax(axis=1), of_draw[:, :-1].T)
            summed[:, -1] = of_draw[:, -1]
            found.append(summed)
        return np.asarray(np.mean(found, axis=0))

    def log_density_of_new(self, values: Mapping[str, Array]) -> Array:
        """Return the log of the mean predictive density of new subjects over draws, in nats, float64 (n,)."""
        from scipy.special import logsumexp

        each = [logsumexp(clusters.scores(values, coarsened=False), axis=1) for _, clusters in self._drawn_clusters()]
        return np.asarray(logsumexp(each, axis=0) - np.log(len(each)))

    def _drawn_clusters(self) -> Iterator[tuple[NDArray[np.int32], Clusters]]:
        """Yield evenly spaced draws with their clusters."""
        chosen = np.unique(np.linspace(0, len(self.draws) - 1, _MOST_FOR_NEW_SUBJECTS).astype(np.int64))
        for place in chosen.tolist():
            problem = _under(self.problem, self.chains.models[place])
            partition = problem.partition(self.chains.labels[place].astype(np.int64))
            yield self.draws[place], clusters_of(problem, partition)


def _under(problem: Problem, model: Model) -> Problem:
    """Return the problem with the concentration and the hyperparameters of a draw."""
    cohort = problem.cohort
    if model.prior is not problem.model.prior:
        cohort = cohort.with_prior(model.prior, model.powers)
    return replace(problem, cohort=cohort, model=model)


_MOST_DRAWS, _MOST_NUMBERS = 500, 25_000_000
"""Most draws of each chain that are kept, and most labels of all of them together: 100 MB."""


def checked(settings: SamplerSettings, X: pd.DataFrame | ArrayLike, *, stacklevel: int) -> Prepared:
    """Return the checked cohort with its problem; raises and warns as `GibbsDP.fit` does."""
    frame, schema = several_subjects(X, settings.schema, stacklevel=stacklevel + 1, progress=settings.progress)
    return posed(frame, schema, partial(settings.problem_of, frame, schema), stacklevel=stacklevel + 1)


def drawn_posterior(settings: SamplerSettings, cohort: Prepared, cancelled: Event) -> tuple[Posterior, int]:
    """Run the chains of a fit; return the posterior and the seed. SearchCancelled is raised if `cancelled` is set."""
    problem, seed = cohort.problem, seed_of(settings.random_state)
    hyperprior = Hyperprior.of(problem) if settings.hyperparameters == DRAWN else None
    progress, budget = Progress(bool(settings.progress)), Budget(settings.max_seconds)
    most_draws = max(min(_MOST_DRAWS, _MOST_NUMBERS // (settings.n_chains * problem.cohort.n_subjects)), 10)
    with announcing_compilation():
        quick = SearchPlan(seed, 1, refine=False, n_jobs=1, cancelled=cancelled, budget=budget)
        starts = overdispersed_starts(problem, settings.n_chains, quick)
        plan = SamplingPlan(
            seed=seed,
            max_sweeps=settings.max_sweeps,
            max_draws=most_draws,
            n_threads=n_threads(settings.n_jobs),
            unknown=Unknown(settings.concentration == DRAWN, hyperprior),
            cancelled=cancelled,
            budget=budget,
            progress=progress,
        )
        posterior = Posterior.of(run_chains(problem, starts, plan), problem, cast("Loss", settings.loss))
        _ = posterior.labels, posterior.membership  # here, where Ctrl-C ends them
    return posterior, seed
