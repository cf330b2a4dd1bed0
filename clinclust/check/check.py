"""Check the fit of a model: likelihoods against their alternatives, replicated values, and dependence in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, RANDOM_STATE, WHOLE, accepting
from clinclust.arrays import RandomState
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import require_search

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature, FeatureSchema


@dataclass(frozen=True, eq=False, repr=False)
class ModelCheck:
    """Where a model does not fit, and what would mend it. Tables are tidy; `check_model` explains them.

    Attributes
    ----------
    likelihoods, checks, pairs, advice : DataFrame
    mended : mapping of str to Feature
        The features as the advice would have them, by name.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    >>> found = cc.check.check_model(model, frame)
    >>> isinstance(found, cc.check.ModelCheck), found.summary
    (True, 'Nothing speaks clearly against the model.')
    """

    likelihoods: pd.DataFrame
    checks: pd.DataFrame
    pairs: pd.DataFrame
    advice: pd.DataFrame
    mended: Mapping[str, Feature]

    def applied_to(self, schema: FeatureSchema) -> FeatureSchema:
        """Return a copy of the schema with every line of the advice; KeyError if it lacks a feature of the advice.

        Fit again with it and check again: a first mistake can hide others.
        """
        for name in self.mended:
            schema[name]
        return schema.with_changed([self.mended.get(feature.name, feature) for feature in schema])

    @property
    def summary(self) -> str:
        """The advice in words, a line for each problem."""
        if self.advice.empty:
            return "Nothing speaks clearly against the model."
        lines = []
        for row in self.advice.to_dict("records"):
            lines.append(f"{row['feature']}: {row['problem']} ({row['evidence']})")
            lines += [f"  {row['line']}"] if row["line"] else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        n = self.advice["feature"].nunique()
        return f"ModelCheck({'1 feature has' if n == 1 else f'{n} features have'} problems)"


N_DRAWS = 200  # replicates of each feature: the smallest p is then just below .01


@accepting(model=MODEL, frame=FRAME, n_draws=WHOLE, random_state=RANDOM_STATE)
def check_model(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    n_draws: int = N_DRAWS,
    random_state: RandomState = 0,
) -> ModelCheck:
    """Say where a fitted model does not describe its cohort, and which lines of the schema would mend it.

    Three questions are asked of every clustered feature, given the clusters that the search found:

    - Does another likelihood describe it better? The log marginals of its likelihood and of its alternatives are
      compared.
    - Would values drawn from the model scatter as the observed ones do? Posterior predictive checks (Gelman, Meng and
      Stern 1996, Statistica Sinica 6, 733-807) of the scatter, zeros, ends of a scale, tails and skewness. Their p
      is conservative, because the model has seen the same values.
    - Does it depend on another feature inside the clusters? Correlations of the residuals of all pairs.

    Clusters that a wrong likelihood or a dependence has made hide how wrong or strong it is: follow the advice, fit
    again, and check again. Dependence everywhere may not be seen at all: ``coarsening="auto"`` and `distinct_subtypes`
    are for such cohorts.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    n_draws : int
        Replicates of each feature.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of the replicates.

    Returns
    -------
    ModelCheck
        likelihoods: for each feature the declared likelihood, the better one if there is one, the evidence in nats, and
        whether it is clear (`is_misfit`).

        checks: for each feature and statistic the observed number, the mean of the replicates, the distance of both in
        standard deviations of the replicates, p, and words. Advice names those at least 5 away. Features of yes/no or
        of levels with a probability of their own can have any distribution, and are not checked.

        pairs: for each pair of features the correlation inside the clusters, its p, how often the largest of all pairs
        would be as large by chance, and the number of subjects with both.

        advice: one row for each problem: its kind (likelihood, dependence, values), the line of the schema that would
        mend it, if there is one, and the evidence. Features that all depend on each other (|r| of at least .5) are
        advised to be one block, unless they are more than half of all features. Where counts scatter less inside
        clusters than in all subjects, the line states a dispersion.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, `frame` is not its cohort, or `n_draws` is not above 0.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail, pressure = np.arange(150) % 3 == 0, rng.normal(size=150)
    >>> frame = pd.DataFrame(rng.normal(4.0 * frail[:, None], 1.0, (150, 4)), columns=list("abcd"))
    >>> frame["systolic"], frame["diastolic"] = (pressure + 0.7 * rng.normal(size=150) for _ in range(2))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, n_restarts=2, random_state=0, progress=False).fit(frame)
    >>> found = cc.check.check_model(model, frame)
    >>> found.advice["feature"].tolist()
    ['diastolic', 'systolic']
    >>> found.applied_to(schema)["systolic"].block
    'depends_1'
    """
    from clinclust.estimators.fitted_cohort import cohort_of
    from clinclust.estimators.likelihood_check import compared_likelihoods

    fit = require_search(model, "check_model")
    if n_draws < 1:
        raise InputError(f"n_draws must be a whole number of at least 1, not {n_draws!r}")
    cohort = cohort_of(model, frame, stacklevel=3).table
    rng = np.random.default_rng(random_state)
    return check_of(fit, cohort, compared_likelihoods(fit, cohort), int(n_draws), rng)


def check_of(
    fit: Fit, cohort: pd.DataFrame, likelihoods: pd.DataFrame, n_draws: int, rng: np.random.Generator
) -> ModelCheck:
    """Return the check of a fit, given the likelihoods of `compared_likelihoods` and the cohort of `cohort_of`."""
    from clinclust.check.advice import advice_of, better_priors
    from clinclust.check.dependence import residual_pairs
    from clinclust.check.predictive_checks import predictive_checks

    checks = predictive_checks(fit, cohort, n_draws, rng)
    pairs = residual_pairs(fit, cohort)
    advice, mended = advice_of(fit.schema_, likelihoods, checks, pairs, better_priors(fit, cohort))
    return ModelCheck(likelihoods, checks, pairs, advice, mended)
