"""Test every feature against subtypes found without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clinclust.arguments import BY_FEATURE, FRAME, LABELS, MODEL, NOTHING, NUMBER, TEXT, accepting, either
from clinclust.errors import InputError, refuse
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems
from clinclust.estimators.subtype_model import require_fitted

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from clinclust.associations.feature_tests import FeatureTests
    from clinclust.comparisons.contrasts import ContrastKind
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

_DTYPES = {
    **dict.fromkeys(("feature", "label", "section", "role", "likelihood", "method"), "string"),
    "n_subtypes": "Int64",
    "test": "string",
    **dict.fromkeys(("statistic", "df", "df2", "p", "q"), "float64"),
    "n": "Int64",
    **dict.fromkeys(("agreement", "effect", "effect_reported"), "float64"),
    "left_out": "string",
    "seed": "string",
    "grade": "string",
    **dict.fromkeys(("p_given_others", "p_whatever_is_missing"), "float64"),
    "remark": "string",
}


@accepting(
    model=MODEL, frame=FRAME, contrasts=BY_FEATURE, significance_level=NUMBER, persons=either(TEXT, LABELS, NOTHING)
)
def validated_associations(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    n_restarts: int = 6,
    min_size: int = 3,
    contrasts: Mapping[str, ContrastKind] | None = None,
    persons: str | ArrayLike | None = None,
    significance_level: float = 0.01,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Test each feature for association with subtypes found without it.

    Subtypes found and tested in the same subjects differ in their features by construction. Here each feature with the
    role ``cluster`` is tested against as many subtypes found, by a search from scratch, without it, the other features
    of its `block`, and, of more than 24 features, every 24th other one. The null hypothesis is that it is independent
    of the features that these subtypes are found from. p is valid if rows are independent and values are not missing
    because of their size. Features with the role ``describe`` are tested against the subtypes of the model (in the
    `block` of a clustered feature, against subtypes found without this block). Of subtypes that no MAP-DP search found,
    only described features are tested.

    The test is the contrast of `compare_subtypes`. Where a subtype has too few values for its p, p is by up to 9,999
    permutations and `df` is missing. Where persons have several rows, whole persons are permuted.

    Parameters
    ----------
    model : MAPDP, Partition or another SubtypeModel
        A fitted model, whose settings the searches use, without hyperparameters that were estimated with the subtypes.
    frame : DataFrame, N rows
        The cohort of the fit. Rows in another order are put back into that of the fit; those of a `Partition` must be
        in the order of its labels.
    n_restarts : int
        Restarts of each search.
    min_size : int
        Subtypes with fewer subjects, or fewer than `MAPDP.min_size`, are not tested.
    contrasts : dict, optional
        As in `compare_subtypes`.
    persons : str or array-like (N,), optional
        Whose row each is: a column, or an array. By default the column in which `read_cohort` noted persons with
        several rows, or else, of several features with the role ``id``, the repeating one with most different values.
    significance_level : float
        For `grade`: a feature differs if q is at most this.
    random_state : int, optional
        Seed of the searches; by default that of the model. The smallest p over several seeds is not a valid p.
    n_jobs, progress
        As in `MAPDP`.

    Returns
    -------
    DataFrame
        One row for each feature with the role ``cluster`` or ``describe``, in the order of the schema.

        `method` is ``"refit"``, or ``"direct"`` for described features; `n_subtypes` is the number of subtypes found
        without the feature; `test`, `statistic`, `df`, `df2`, `p` and `n` (subjects) are of the test;
        `q` is p adjusted as by Benjamini and Hochberg (1995). `left_out` names the features left out with it.

        `agreement` is the adjusted Rand index of the subtypes found without the feature with those of the model.
        `effect_reported` is the difference between the two subtypes of the model that are farthest apart, in SDs of all
        subjects (on the scale of the transform; without order, in the share of the level that differs most). `effect`
        is that between the subtypes found without the feature that share most subjects with these two.

        `grade` says what the test shows. ``"differs"``: q is at most the level, between the subtypes found without the
        feature (of a described one, those of the model). ``"differs beyond dependence"``: it differs by more than its
        relation to the other features explains (`p_given_others` is at most the level), and p could not be above the
        level if the missing values were known. ``"not shown"``: q is above the level. ``"not tested"``: `remark` says
        why; also where other subtypes were found without the feature (agreement below 0.5).

        `p_given_others` is of an analysis of covariance of ranks, adjusted for the features that the subtypes were
        found from, and their squares, as far as they are related to it; 1 where the subtypes then differ the other
        way, missing where the test of the tree
        found one continuum, of which the subtypes are slices. `p_whatever_is_missing`, of features with missing values,
        is an upper bound of p over all values that these can have. Of persons with several rows, both take one row.
        `remark` gives the reasons in words.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, `frame` is not its cohort, or a parameter cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> model = cc.MAPDP(schema, random_state=0).fit(frame)
    >>> associations = cc.validated_associations(model, frame)
    >>> associations[["feature", "n_subtypes", "test", "p"]].round(3)
      feature  n_subtypes       test    p
    0    gait           2  Welch's t  0.0
    1    grip           2  Welch's t  0.0
    """
    import pandas as pd

    from clinclust.associations.feature_tests import FeatureTests, rows_of_given
    from clinclust.associations.persons import persons_of
    from clinclust.associations.refit_without import refit_plan
    from clinclust.associations.tested_association import TestRules
    from clinclust.associations.validity import finds_one_population, grade_of, mark_slices
    from clinclust.comparisons.contrasts import checked_choice
    from clinclust.comparisons.t_tests import adjusted
    from clinclust.compiled import announcing_compilation
    from clinclust.engine.search.threads import interruptible
    from clinclust.estimators.parameters import parameter_problems, seed_of
    from clinclust.estimators.subtype_model import fewest_subjects

    require_fitted(model)
    if not 0 < significance_level < 1:
        raise InputError(f"significance_level must lie between 0 and 1, not {significance_level!r}")
    parameters: dict[str, Any] = {"n_restarts": n_restarts, "min_size": min_size}
    parameters |= {"n_jobs": n_jobs, "random_state": random_state, "progress": progress}
    refuse([*parameter_problems(parameters), *cohort_problems(model, frame)])
    chosen = checked_choice(contrasts, model.schema_)
    of_persons = persons_of(model, frame, persons)
    frame = cohort_of(model, frame, stacklevel=3).table
    rules = TestRules(min_size, fewest_subjects(model), significance_level, chosen, of_persons)
    features = list(model.schema_.reported)
    seed: int | None = None
    if model.fit_ is None:
        found = rows_of_given(model, frame, features, rules)
    else:
        seed = model.fit_.random_seed_ if random_state is None else seed_of(random_state)
        searched = cast("MAPDP", model)
        plan = refit_plan(searched, seed, n_restarts)

        def search_and_test() -> list[dict[str, Any]]:
            with announcing_compilation():
                tests = FeatureTests(searched, frame, plan, rules)
                return _side_by_side(tests, features, n_jobs, progress)

        found = interruptible(search_and_test, plan.cancelled)
    if finds_one_population(model):
        mark_slices(found)
    rows = pd.DataFrame(found, columns=list(_DTYPES))
    rows["q"] = adjusted(rows["p"].to_numpy(dtype=np.float64))
    rows["grade"] = [grade_of(row, significance_level) for row in cast("list[dict[str, Any]]", rows.to_dict("records"))]
    rows["seed"] = None if seed is None else str(seed)
    return rows.astype(_DTYPES)


def _side_by_side(
    tests: FeatureTests, features: list[Feature], n_jobs: int | None, progress: bool
) -> list[dict[str, Any]]:
    from clinclust.engine.search.plan import n_threads
    from clinclust.engine.search.threads import workers_or_threads
    from clinclust.progress import Progress

    found = {}
    with (
        workers_or_threads(n_threads(n_jobs), tests.plan.cancelled) as pool,
        Progress(bool(progress)).stage("associations", len(features)) as advance,
    ):
        groups = tests.sharing_a_search(features)
        futures = [pool.submit(tests.rows, group) for group in groups]
        for group, future in zip(groups, futures, strict=True):
            for feature, row in zip(group, future.result(), strict=True):
                found[feature.name] = row
                advance()
    return [found[feature.name] for feature in features]
