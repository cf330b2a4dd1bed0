"""Settings: the checked parameters of an estimator, and what they ask of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import is_number
from clinclust.engine.joint_estimates.concentration import DEFAULT
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.plan import ResolutionPlan, SearchPlan
from clinclust.errors import InputError
from clinclust.estimators.parameters import (
    AUTOMATIC_SHARE,
    PublishedParameters,
    SamplerParameters,
    check_estimator,
    cluster_codes,
    seed_of,
)
from clinclust.files.listed import listed

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import Budget
    from clinclust.estimators.estimator import Parameterised
    from clinclust.progress import Progress
    from clinclust.schema import FeatureSchema


class Settings(PublishedParameters):
    """The checked parameters of a `MAPDP` or `PublishedMAPDP`; those of the paper have their defaults for `MAPDP`."""

    @classmethod
    def of(cls, model: Parameterised) -> Self:
        """Check the parameters of a model; raise InputError with all problems."""
        check_estimator(type(model), model.get_params())
        return cls(**model.get_params())

    @property
    def is_tested(self) -> bool:
        """Whether the tree of the fit is tested."""
        return isinstance(self.n_clusters, str)

    @property
    def chooses_coarsening(self) -> bool:
        """Whether the coarsening is estimated."""
        return isinstance(self.coarsening, str)

    @property
    def estimates_prior(self) -> bool:
        """Whether hyperparameters or the concentration are estimated."""
        return isinstance(self.hyperparameters, str) or not is_number(self.concentration)

    @property
    def fills_modes(self) -> bool:
        """Whether the search fills missing values with modes."""
        return self.missing == "mode"

    @property
    def starts_anywhere(self) -> bool:
        """Whether restarts begin at starts of several kinds."""
        return isinstance(self.init, str) and self.init == "search" and not self.fills_modes

    def problem_of(self, frame: pd.DataFrame, schema: FeatureSchema) -> Problem:
        """Return the problem of a validated cohort; estimated parameters begin at their defaults."""
        return pose(
            frame,
            schema,
            stated_hyperparameters(self.hyperparameters),
            self.concentration if is_number(self.concentration) else DEFAULT,
            self.discount,
            self.coarsening if is_number(self.coarsening) else 1.0,
            None if isinstance(self.block_weights, str) else self.block_weights,
        )

    def search_plan(self, problem: Problem, cancelled: Event, budget: Budget, progress: Progress) -> SearchPlan:
        """Return the plan of the search of a fit; InputError for unusable `init` or options that blocks cannot have."""
        self._refuse_with_blocks(problem)
        share = self.outlying_share
        if share is None:
            share = AUTOMATIC_SHARE if self.chooses_coarsening else 0.0
        start = self._start(problem)
        return SearchPlan(
            seed=seed_of(self.random_state),
            n_restarts=self.n_restarts,
            start="single" if self.fills_modes and isinstance(start, str) else start,  # the start of the paper
            max_sweeps=self.max_sweeps,
            n_jobs=self.n_jobs,
            refine=self.starts_anywhere,
            select_features=self.select_features,
            outlying_share=share,
            resolution=ResolutionPlan(choose=True) if self.chooses_coarsening else None,
            estimate_powers=isinstance(self.block_weights, str),
            hyperparameters=self.hyperparameters if isinstance(self.hyperparameters, str) else None,
            concentration=_choice_of(self.concentration),
            fill_modes=self.fills_modes,
            calibrate=self.calibrate,
            cancelled=cancelled,
            budget=budget,
            progress=progress,
        )

    def _refuse_with_blocks(self, problem: Problem) -> None:
        """Refuse what is not defined for multivariate Gaussian blocks, spikes and limits."""
        asked = ["select_features"] * bool(self.select_features) + ["missing='mode'"] * self.fills_modes
        features, likelihoods = problem.cohort.encoding.features, problem.cohort.encoding.likelihoods
        in_parts = sorted({feature.column for feature in features if feature.is_part})
        if self.fills_modes and in_parts:
            raise InputError(
                f"missing='mode' cannot be combined with a spike or a limit ({listed(in_parts)}): it would fill in an "
                "amount for values that have none; leave missing='mode' out"
            )
        blocks = {feature.block for feature, each in zip(features, likelihoods, strict=True) if each.n_before}
        if asked and blocks:
            raise InputError(
                f"{' and '.join(asked)} cannot be combined with a block of multivariate Gaussian features "
                f"({listed(sorted(map(str, blocks)))}): declare these as gaussian, or leave {' and '.join(asked)} out"
            )

    def _start(self, problem: Problem) -> str | NDArray[np.int64]:
        """Return the name of the starts, or clusters 0 .. K - 1, int64 (N,), in encoded order."""
        if isinstance(self.init, str):
            return self.init
        n_subjects = problem.cohort.n_subjects
        labels = cluster_codes(self.init, n_subjects, called="init")
        return cluster_codes(labels[problem.cohort.order], n_subjects, called="init")


class SamplerSettings(SamplerParameters):
    """The checked parameters of a `GibbsDP`."""

    @classmethod
    def of(cls, sampler: Parameterised) -> Self:
        """Check the parameters of a sampler; raise InputError with all problems."""
        check_estimator(cls, sampler.get_params())
        return cls(**sampler.get_params())

    def problem_of(self, frame: pd.DataFrame, schema: FeatureSchema) -> Problem:
        """Return the problem of a validated cohort; drawn parameters begin at their defaults."""
        return pose(
            frame,
            schema,
            stated_hyperparameters(self.hyperparameters),
            self.concentration if is_number(self.concentration) else DEFAULT,
            self.discount,
            self.coarsening,
            self.block_weights,
        )


def stated_hyperparameters(
    hyperparameters: Mapping[str, Mapping[str, Any]] | str | None,
) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the stated hyperparameters; None without any or if they are estimated."""
    return None if isinstance(hyperparameters, str) else hyperparameters


def _choice_of(concentration: float | ArrayLike) -> str | tuple[float, ...] | None:
    """Return the method or grid for the concentration; None for a number."""
    if isinstance(concentration, str) or is_number(concentration):
        return concentration if isinstance(concentration, str) else None
    return tuple(np.asarray(concentration, dtype=np.float64).tolist())
