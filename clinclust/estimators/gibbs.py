"""Partitions drawn from the posterior: `GibbsDP`, and what its draws say of the number of groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from clinclust.arguments import LABELS, accepting, in_pandas
from clinclust.arrays import Array, Labels
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Clusters, Problem, clusters_of, probabilities
from clinclust.engine.sampling import chains as sampling
from clinclust.engine.search.plan import Budget, SearchPlan, interruptible
from clinclust.errors import InputError, warn
from clinclust.estimators import say
from clinclust.estimators.adjustment import refuse_adjustment
from clinclust.estimators.cohort_table import cohort_and_schema, table_of_fitted
from clinclust.estimators.fit import Fit
from clinclust.estimators.fitting import posed
from clinclust.estimators.mapdp import NONE_OF_THESE, validate_subjects
from clinclust.estimators.parameters import DRAWN, SamplerParameters, check_estimator, cluster_codes, seed_of
from clinclust.estimators.subtype_model import FittedEstimator, SubtypeModel, require_search
from clinclust.progress import Progress

# Posterior: draws of partitions, and the chains of a fit of `GibbsDP`.

_MOST_FOR_NEW_SUBJECTS = 200
"""Number of draws for the predictive of new subjects."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of partitions, in the order of the table; a fitted `GibbsDP` has the attributes that end in `_`."""

    draws_: NDArray[np.int32]
    """(S, N)"""
    chains: sampling.Chains
    """In the order of the encoded subjects."""
    problem: Problem = field(repr=False)

    @cached_property
    def labels_(self) -> Labels:
        """The point estimate, int64 (N,): cluster of each subject, 0 .. K - 1 by decreasing size."""
        # In the encoded order, so that the order of the table changes nothing.
        return self.problem.cohort.in_table_order(sampling.point_estimate(self.chains.labels))

    @cached_property
    def membership_(self) -> Array:
        """Share of the draws in which each subject is in (most of) each cluster of the estimate, float64 (N, K)."""
        return sampling.membership_of_draws(self.draws_, np.ascontiguousarray(self.labels_))

    @cached_property
    def n_clusters_posterior_(self) -> pd.Series[float]:
        """Posterior probability of each number of clusters, a Series."""
        drawn = pd.Series(self.chains.traces["n_clusters"].astype(np.int64).ravel(), name="n_clusters")
        return drawn.value_counts(normalize=True).sort_index().rename("probability")

    @property
    def concentration_(self) -> float:
        """The posterior mean of the concentration."""
        return float(self.chains.traces["concentration"].mean())

    @property
    def convergence_(self) -> pd.DataFrame:
        """DataFrame: R-hat and effective sample size of each traced quantity, and whether both are good enough."""
        diagnoses = self.chains.diagnoses.items()
        rows = [(name, of.r_hat, of.effective_size, of.has_converged) for name, of in diagnoses]
        return pd.DataFrame(rows, columns=["quantity", "r_hat", "effective_size", "converged"])

    @property
    def converged_(self) -> bool:
        """Whether all traced quantities have converged."""
        return self.chains.has_converged

    @property
    def n_sweeps_(self) -> int:
        """Sweeps of each chain."""
        return self.chains.n_sweeps

    def drawn_clusters(self) -> Iterator[tuple[NDArray[np.int32], Clusters]]:
        """Yield evenly spaced draws with their clusters."""
        chosen = np.unique(np.linspace(0, len(self.draws_) - 1, _MOST_FOR_NEW_SUBJECTS).astype(np.int64))
        for place in chosen.tolist():
            problem = self.problem.under(concentration=self.chains.concentrations[place])
            partition = problem.partition(self.chains.labels[place].astype(np.int64))
            yield self.draws_[place], clusters_of(problem, partition)


_MOST_DRAWS, _MOST_NUMBERS = 500, 25_000_000
"""Most draws of each chain that are kept, and most labels of all of them together: 100 MB."""


def draw_posterior(sampler: SamplerParameters, problem: Problem, plan: SearchPlan) -> Posterior:
    """Run the chains of a fit; SearchCancelled is raised if that of the plan is set."""
    with announcing_compilation():
        starts = sampling.overdispersed_starts(problem, sampler.n_chains, plan)
        max_draws = max(min(_MOST_DRAWS, _MOST_NUMBERS // (sampler.n_chains * problem.cohort.n_subjects)), 10)
        is_drawn = sampler.concentration == DRAWN
        chains = sampling.run_chains(problem, starts, plan, max_draws, draws_concentration=is_drawn)
        draws = np.empty_like(chains.labels)
        draws[:, problem.cohort.order] = chains.labels
        posterior = Posterior(draws, chains, problem)
        _ = posterior.labels_, posterior.membership_  # here, where Ctrl-C ends them
    return posterior


# GibbsDP: draws from the posterior of the partition, whose mode `MAPDP` finds.


class GibbsDP(SamplerParameters, FittedEstimator, results=Posterior):
    """Dirichlet process mixture by collapsed Gibbs sampling: the posterior whose mode `MAPDP` finds.

    Partitions are drawn from p(z | X_obs), which is proportional to the joint of `MAPDP`, by Gibbs sweeps (Neal 2000,
    algorithm 3) with split and merge proposals (Jain and Neal 2004). Chains run until the rank-normalised R-hat of the
    log joint, the number of clusters and their sizes is at most 1.01 and their effective sample size at least 400
    (Vehtari et al. 2021), or a limit is reached, which issues a warning. The first half of each chain is discarded.
    The point estimate is the partition with the lowest posterior expected loss.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    draws_ : int32 (S, N)
        Cluster of each subject in each kept draw, in the order of the table.
    n_clusters_, cluster_sizes_, schema_, uninformative_, random_seed_ :
        As of `MAPDP`.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (40, 4))])
    >>> model = cc.GibbsDP(random_state=0, progress=False).fit(X)
    >>> model.cluster_sizes_.tolist(), bool(model.n_clusters_posterior_[2] > 0.5)
    ([60, 40], True)
    """

    posterior_: Posterior
    _results = "posterior_"
    made_by = "Gibbs sampling of a Dirichlet process mixture (GibbsDP), as the partition with the lowest expected loss"
    membership_basis = "averaged over partitions drawn from their posterior"
    fit_: Fit | None = None

    @classmethod
    def of(cls, model: SubtypeModel, **parameters: Any) -> Self:
        """Return a sampler, not fitted, of the posterior whose mode a fitted `MAPDP` found.

        It has the model of the fit, without outlying values and feature selection; `parameters` take precedence.
        """
        fit = require_search(model, "GibbsDP.of")
        of_fit: dict[str, Any] = {"concentration": fit.concentration_, "coarsening": fit.coarsening_}
        of_fit |= {"block_weights": fit.block_weights_ or None, "hyperparameters": fit.hyperparameters_}
        return cls(fit.schema_, **(of_fit | parameters))

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Draw partitions of a cohort, as `MAPDP.fit`; a CohortWarning says that the chains have not converged."""
        check_estimator(type(self), self.get_params())
        frame, schema = cohort_and_schema(in_pandas(X), self.schema, progress=self.progress)
        problem, seed = posed(self, frame, schema).problem, seed_of(self.random_state)
        refuse_adjustment(schema, "GibbsDP")
        plan = SearchPlan(seed=seed, max_sweeps=self.max_sweeps, n_jobs=self.n_jobs, budget=Budget(self.max_seconds))
        plan = replace(plan, progress=Progress(bool(self.progress)))
        self.posterior_ = interruptible(partial(draw_posterior, self, problem, plan), plan.cancelled)
        self.random_seed_, self.uninformative_ = seed, problem.kept_out
        self.schema_, self.n_features_in_ = schema, len(schema)
        self.index_ = X.index if isinstance(X, pd.DataFrame) else None
        if not self.converged_:
            rows = self.convergence_.query("~converged").itertuples()
            low = [f"{row.quantity} (R-hat {row.r_hat:.3f}, {row.effective_size:,.0f} effective draws)" for row in rows]
            warn(say("chains_differ", n_sweeps=self.n_sweeps_, quantities=", ".join(low)))
        return self

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the probability of each cluster and, last, of none of these for new subjects, float64 (n, K + 1)."""
        values, probabilities_of_draws = self._values(X), list[Array]()
        for drawn, clusters in self.posterior_.drawn_clusters():
            # A drawn cluster counts as the cluster of the point estimate with which it shares most subjects.
            joint = np.zeros((drawn.max() + 1, self.n_clusters_))
            np.add.at(joint, (drawn, self.labels_), 1.0)
            of_draw = probabilities(clusters.scores(values, coarsened=True))
            summed = np.zeros((len(of_draw), self.n_clusters_ + 1))
            np.add.at(summed.T, np.append(joint.argmax(axis=1), self.n_clusters_), of_draw.T)
            probabilities_of_draws.append(summed)
        return np.asarray(np.mean(probabilities_of_draws, axis=0))

    def predict(self, X: pd.DataFrame | ArrayLike) -> Labels:
        """Return the most probable cluster of new subjects, int64 (n,); -1 (`NONE_OF_THESE`) for none of them."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.where(best == self.n_clusters_, NONE_OF_THESE, best).astype(np.int64)

    def score_samples(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the log posterior predictive density of new subjects in nats, float64 (n,): averaged over draws."""
        values, drawn = self._values(X), self.posterior_.drawn_clusters()
        densities = [logsumexp(clusters.scores(values, coarsened=False), axis=1) for _, clusters in drawn]
        return np.asarray(logsumexp(densities, axis=0) - np.log(len(densities)))

    @accepting(labels=LABELS)
    def membership_in(self, labels: ArrayLike) -> Array:
        """Return the share of the draws in which each subject is in each group 0 .. G - 1 of `labels`, float64 (N, G).

        A drawn cluster counts as the group with which it shares most subjects.
        """
        codes, groups = cluster_codes(labels, self.draws_.shape[1], called="labels"), np.asarray(labels)
        if not np.issubdtype(groups.dtype, np.integer) or set(groups.tolist()) != set(range(int(codes.max()) + 1)):
            raise InputError("labels must be whole numbers 0, 1, ... without a gap")
        return sampling.membership_of_draws(self.draws_, groups.astype(np.int64))

    def _values(self, X: pd.DataFrame | ArrayLike) -> dict[str, Array]:
        schema, features = self.schema_, self.posterior_.problem.cohort.encoding.features
        needed = schema.restricted_to(feature.column for feature in features)
        return model_values(validate_subjects(needed, table_of_fitted(X, schema.names)), features)
