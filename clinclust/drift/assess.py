"""Does a new batch of subjects differ from the cohort? Subtypes, missing values and distributions of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from clinclust.arguments import FRAME, GENERATOR, MODEL, SEED, accepting, either
from clinclust.drift.result import Drift
from clinclust.estimators.subtype_model import require_search

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drift.batch import Batch
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["assess_drift"]


@accepting(model=MODEL, frame=FRAME, new=FRAME, random_state=either(GENERATOR, SEED))
def assess_drift(
    model: SubtypeModel,
    frame: pd.DataFrame,
    new: pd.DataFrame,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> Drift:
    """Say whether a new batch of subjects differs from the cohort that the subtypes were found in.

    Subtypes that were found in one cohort describe another badly if it has other patients, other instruments, or other
    gaps. A difference does not say which of these it is. Without a clear difference a small batch may still differ.

    Subjects are compared as if each were drawn independently; several visits of one person make p too small.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame, N rows
        The cohort of the fit.
    new : DataFrame, n rows
        The batch, of at least one subject. Identifiers and described columns may be absent. Values that the model
        cannot read, such as a step beyond a scale, are counted and taken for missing, as ``unseen="missing"`` of
        `MAPDP.predict` does.
    random_state : int, numpy.random.Generator or None
        Seed of the permutations.

    Returns
    -------
    Drift
        subtypes: how many subjects of cohort and batch get each subtype, and how many most probably belong to none of
        these (subtype 0). Members of the cohort are judged by all others, since a subject that has shaped its subtype
        fits it better than a new one; who is alone in a subtype therefore fits another or none. Subjects without any
        observed value are not counted.

        tests: Fisher's exact test of the share that fits no subtype, and a chi-squared test of the subtypes of all
        others, by permutation; effects are the difference of the shares (batch less cohort), and Cramer's V.

        features: for each clustered feature the shares that are missing, with Fisher's exact test; n_unseen, the number
        of subjects with a value that the model does not know; and a test of the observed values by the likelihood:
        Kolmogorov and Smirnov for measurements and counts, a trend over the steps of scales, chi-squared for yes/no and
        categories. Where values are tied the tests are by permutation, so that ties do not change the level. The effect
        is the difference of the means (batch less cohort) in standard deviations of the cohort, after the transform of
        the feature; Cramer's V for categories. A feature with a spike or a limit has two rows: whether a value is at
        it, and the other values. q_missing and q are those of Benjamini and Hochberg over all features.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema, or `new` lacks a column.
    ValueError
        If the model is not a fitted MAPDP, `frame` is not its cohort, or `new` has no rows or is the cohort itself.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(280) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> frame, new = frame.iloc[:200], frame.iloc[200:].assign(grip=lambda batch: batch["grip"] + 5)
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> drift = cc.assess_drift(model, frame, new)
    >>> drift.features.loc[drift.features["q"] < 0.05, "feature"].tolist()
    ['grip']
    """
    from clinclust.drift.batch import batch_of
    from clinclust.engine.kernels.announcement import announcing_compilation
    from clinclust.engine.search.threads import interruptible
    from clinclust.estimators.cohort_table import warn_of_other_rows
    from clinclust.estimators.fitted_cohort import cohort_of

    fit = require_search(model, "assess_drift")
    cohort = cohort_of(model, frame, stacklevel=3)
    warn_of_other_rows(fit.schema_, new, stacklevel=3)
    batch = batch_of(cast("MAPDP", model), new)

    def assessed() -> Drift:
        with announcing_compilation():
            return _assessed(fit, cohort, batch, np.random.default_rng(random_state))

    return interruptible(assessed)


def _assessed(fit: Fit, cohort: pd.DataFrame, batch: Batch, rng: np.random.Generator) -> Drift:
    from clinclust.drift.features import table_of_features
    from clinclust.drift.found_subtypes import (
        subtypes_of_batch,
        subtypes_of_cohort,
        table_of_subtypes,
        table_of_tests,
    )

    counts = subtypes_of_cohort(fit, cohort), subtypes_of_batch(fit, batch.frame)
    return Drift(
        subtypes=table_of_subtypes(*counts),
        tests=table_of_tests(*counts, rng),
        features=table_of_features(fit, cohort, batch, rng),
        n_cohort=len(cohort),
        n_batch=len(batch.frame),
    )
