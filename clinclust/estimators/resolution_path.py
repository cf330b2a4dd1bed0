"""ResolutionPath: the best partition at each coarsening of a decreasing sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, SCHEMA, accepting
from clinclust.arrays import Labels, RandomState
from clinclust.errors import InputError
from clinclust.estimators.parameters import RULES, MAPDPParameters, check_parameters, rules_of, seed_of

if TYPE_CHECKING:
    from clinclust.engine.joint_estimates.resolution import ResolutionStep
from clinclust.schema import FeatureSchema


@dataclass(frozen=True, eq=False, repr=False)
class ResolutionPath:
    """The best partition found at each coarsening of a decreasing sequence, up to the first with one cluster.

    Attributes
    ----------
    steps : DataFrame
        One row per step, the largest coarsening first. Columns:

        - `coarsening` : power of the likelihood;
        - `n_clusters` : number of clusters;
        - `log_joint` : coarsened log joint in nats, which the step maximises;
        - `log_joint_uncoarsened`, `log_likelihood` : log joint at coarsening 1 and sum of the log marginals, in nats;
        - `independent_share` : the coarsening zeta that corrects for dependence within the clusters;
        - `n_outlying` : number of outlying values;
        - `ari_to_previous`, `ari_to_finest` : adjusted Rand index to the previous and the first step;
        - `start` : start of the search that found the partition.
    labels : int64 (steps, N)
        The partition of each step: clusters 0, 1, ... by decreasing size, subjects in the order of the table.
    chosen : float or None
        The coarsening that a fit with ``coarsening="auto"`` chose, if any.
    """

    steps: pd.DataFrame
    labels: Labels
    chosen: float | None = None

    def labels_at(self, coarsening: float) -> Labels:
        """Return the partition of one step, int64 (N,); ValueError if there is none at this coarsening."""
        at = np.flatnonzero(np.isclose(self.steps["coarsening"], coarsening, rtol=1e-9, atol=0.0))
        if at.size == 0:
            known = ", ".join(f"{value:g}" for value in self.steps["coarsening"])
            raise InputError(f"the path has no step at coarsening {coarsening!r}; it has {known}")
        found: Labels = self.labels[at[0]]
        return found

    def __repr__(self) -> str:
        shown = self.steps[["coarsening", "n_clusters", "log_joint", "ari_to_previous", "ari_to_finest"]]
        chosen = "" if self.chosen is None else f", coarsening {self.chosen:g} chosen"
        return f"ResolutionPath of {len(self.steps)} steps{chosen}\n{shown.to_string(index=False)}"


@accepting(frame=FRAME, schema=SCHEMA)
def resolution_path(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    hyperparameters: Mapping[str, Mapping[str, Any]] | None = None,
    concentration: float = 3.0,
    *,
    discount: float = 0.0,
    block_weights: Mapping[str, float] | str | None = "auto",
    coarsenings: Sequence[float] | None = None,
    outlying_share: float = 0.0,
    n_restarts: int = 10,
    n_fresh: int = 2,
    max_sweeps: int = 200,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> ResolutionPath:
    """Return the best partition at each coarsening of a decreasing sequence.

    Each step maximises the coarsened log joint ln p(z) + coarsening * sum_k sum_d ln m_d (Miller and Dunson 2019) with
    the search of `MAPDP`, from the partition of the step before and from fresh starts. A number of subtypes that stays
    the same over many steps does not depend on how closely the data follow the likelihoods.

    Parameters
    ----------
    frame : DataFrame, shape (N, D)
        A table that fits the schema.
    schema : FeatureSchema
    hyperparameters, concentration, discount, block_weights, outlying_share, max_sweeps, n_jobs, random_state
        As in `MAPDP`. Block weights are estimated once, at coarsening 1.
    coarsenings : sequence of float, optional
        Decreasing, each above 0 and at most 1; by default from 1 to 0.05.
    n_restarts, n_fresh : int
        Number of starts of the first step, and of fresh starts of each later step.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If a parameter cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> path = cc.resolution_path(frame, schema, random_state=0)
    >>> path.steps[["coarsening", "n_clusters"]].tail(2)
       coarsening  n_clusters
    5         0.4           2
    6         0.3           1
    """
    from clinclust.compiled import announcing_compilation
    from clinclust.engine.joint_estimates.resolution import resolution_steps
    from clinclust.engine.problem.problem import pose
    from clinclust.engine.search.plan import COARSENINGS, ResolutionPlan, SearchPlan
    from clinclust.engine.search.threads import interruptible
    from clinclust.estimators.search import with_powers_estimated
    from clinclust.schema.validation import warn_of_uninformative

    coarsenings = COARSENINGS if coarsenings is None else coarsenings
    check_parameters(
        RULES | {"block_weights": rules_of(MAPDPParameters)["block_weights"]},
        block_weights=block_weights,
        hyperparameters=hyperparameters,
        concentration=concentration,
        discount=discount,
        coarsenings=coarsenings,
        outlying_share=outlying_share,
        n_restarts=n_restarts,
        n_fresh=n_fresh,
        max_sweeps=max_sweeps,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    stated = None if isinstance(block_weights, str) else block_weights
    valid = schema.validate(frame, warn=False)
    problem = pose(valid, schema, hyperparameters, float(concentration), discount, block_weights=stated)
    warn_of_uninformative(problem.kept_out, problem.cohort.n_subjects, stacklevel=3)
    plan = SearchPlan(
        seed=seed_of(random_state),
        n_restarts=n_restarts,
        max_sweeps=max_sweeps,
        n_jobs=n_jobs,
        outlying_share=outlying_share,
        estimate_powers=isinstance(block_weights, str),
        resolution=ResolutionPlan(tuple(coarsenings), n_fresh),
    )

    def search() -> ResolutionPath:
        with announcing_compilation():
            posed = with_powers_estimated(problem, plan)
            return path_of(resolution_steps(posed, plan, np.random.SeedSequence(plan.seed)))

    return interruptible(search, plan.cancelled)


def path_of(steps: Sequence[ResolutionStep], chosen: float | None = None) -> ResolutionPath:
    """Return the steps of a search, with subjects in the order of the table."""
    from clinclust.engine.search.labels import adjusted_rand_index, by_decreasing_size

    found = [step.labels for step in steps]
    table = pd.DataFrame(
        {
            "coarsening": [step.coarsening for step in steps],
            "n_clusters": [int(labels.max()) + 1 for labels in found],
            "log_joint": [step.restarts[step.best].log_joint for step in steps],
            "log_joint_uncoarsened": [step.log_joint_uncoarsened for step in steps],
            "log_likelihood": [step.log_likelihood for step in steps],
            "independent_share": [step.independent_share for step in steps],
            "n_outlying": [int(step.outlying.sum()) for step in steps],
            "ari_to_previous": [adjusted_rand_index(found[max(i - 1, 0)], found[i]) for i in range(len(found))],
            "ari_to_finest": [adjusted_rand_index(found[0], labels) for labels in found],
            "start": [step.restarts[step.best].start for step in steps],
        }
    )
    in_order = [steps[0].problem.cohort.in_table_order(by_decreasing_size(labels)) for labels in found]
    return ResolutionPath(table, np.array(in_order), chosen)
