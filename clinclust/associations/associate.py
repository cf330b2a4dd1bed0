"""Test every feature against subtypes found without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import BY_FEATURE, FRAME, MODEL, accepting
from clinclust.errors import InputError
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems
from clinclust.estimators.subtype_model import require_fitted

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.associations.evidence import Part
    from clinclust.associations.residual_dependence import Dependence
    from clinclust.comparisons.contrasts import ContrastKind
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

__all__ = ["Method", "validated_associations"]

Method: TypeAlias = Literal["refit", "cross-fit"]

_DTYPES = {
    **dict.fromkeys(("feature", "label", "section", "role", "likelihood", "method"), "string"),
    "n_subtypes": "Int64",
    "test": "string",
    **dict.fromkeys(("statistic", "df", "df2", "p", "q"), "float64"),
    "n": "Int64",
    "left_out": "string",
    "seed": "string",
    "doubtful": "boolean",
    "remark": "string",
}

DOUBTFUL_BELOW = 0.01
"""An association is marked as doubtful if the p of the residual dependence is below this."""


@accepting(model=MODEL, frame=FRAME, contrasts=BY_FEATURE)
def validated_associations(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    method: Method = "refit",
    n_restarts: int = 6,
    n_folds: int = 2,
    min_size: int = 3,
    contrasts: Mapping[str, ContrastKind] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Test each feature for association with subtypes found without it.

    Subtypes found and tested in the same subjects differ in their features by construction. Here each feature with the
    role ``cluster`` is tested against subtypes found without it and without the other features of its block. The search
    begins from scratch, because one that begins at the subtypes of the model would use the feature. The test is the
    contrast of `compare_subtypes`. If the feature is independent of all others, the subtypes are independent of it, and
    its p is valid for any number of subtypes and any likelihoods. Features with the role ``describe`` are tested
    against the subtypes of the model, which were found without them. Subtypes that were not found by a MAP-DP search
    cannot be found again without a feature: for a `Partition`, only features with the role ``describe`` are tested.

    If features depend on each other within subtypes, this test is invalid, as is every other test after clustering.
    Declare such features as a `block`. `doubtful` marks features for which the subtypes do not explain all dependence.
    It cannot detect a continuum through all features, because a continuum looks like ordered subtypes.

    Parameters
    ----------
    model : MAPDP, Partition or another SubtypeModel
        A fitted model. The searches use its concentration, discount, coarsening, powers of blocks and share of
        outlying values (those chosen from the data, if they were), and its stated hyperparameters, but no
        hyperparameters that were estimated together with the subtypes.
    frame : DataFrame, N rows
        The cohort on which the model was fitted. Rows in another order than at the fit are put back into it; those of a
        `Partition` must be in the order of its labels.
    method : {"refit", "cross-fit"}
        ``"refit"``: for each feature, one search without it among all subjects. ``"cross-fit"``: for each fold, one
        search with all features among the subjects of the other folds; each subject of the fold then gets its most
        probable subtype, computed without the tested feature and its block, and the p-values of the folds are combined
        by the method of Fisher (1932). Cross-fitting needs fewer searches and has less power.
    n_restarts : int
        The number of restarts of each search. All are swept a few times, and the best two are searched to the end; all
        are if the model selects features or sets outlying values aside.
    n_folds : int
        The number of folds for ``"cross-fit"``.
    min_size : int
        Subtypes with fewer subjects take no part in the test.
    contrasts : dict, optional
        As in `compare_subtypes`.
    random_state : int, optional
        The seed of the searches; by default that of the model. Use one seed: the smallest p over several seeds is not a
        valid p.
    n_jobs : int, optional
        The number of threads; by default (or -1) one for each processor. The result does not depend on it.
    progress : bool
        Whether to tell the stage as `MAPDP` does, if the tests take longer than a second.

    Returns
    -------
    DataFrame
        One row for each feature with the role ``cluster`` or ``describe``, in the order of the schema.

        `feature`, `label`, `section`, `role` and `likelihood` describe the feature. `method` is ``"direct"`` for
        features with the role ``describe``. `n_subtypes` is the number of subtypes found without the feature (the
        largest over the folds). `test`, `statistic`, `df`, `df2` and `p` are the result of the test, and `n` is the
        number of subjects tested. `q` is the p-value adjusted as by Benjamini and Hochberg (1995) over the tests made.
        `left_out` names the other features of its block, if any, and `seed` is the seed of the searches.

        `doubtful` is whether the feature still depends on other features given the subtypes: whether p is below 0.01
        for the correlations of the residuals of the feature with those of the others, after regression on the
        probabilities of the subtypes. It is missing if this cannot be tested, and False for a tested feature with the
        role ``describe``, because no subtype was found from it.

        `remark` names the feature with the strongest such dependence, or says why there is no test. If all subjects
        belong to one subtype without the feature, there is no test: p is NaN and does not count among the tests made.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, if `frame` is not its cohort, or if a parameter cannot be used.

    Warns
    -----
    CohortWarning
        If the rows of `frame` were in another order than at the fit.

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
      feature  n_subtypes         test    p
    0    gait           2  Student's t  0.0
    1    grip           2  Student's t  0.0
    """
    import pandas as pd

    from clinclust.associations.cold_search import cold_plan
    from clinclust.associations.direct import rows_of_given
    from clinclust.comparisons.contrast_choice import checked_choice
    from clinclust.comparisons.t_tests import adjusted
    from clinclust.engine.kernels.announcement import announcing_compilation
    from clinclust.engine.search.threads import interruptible
    from clinclust.estimators.parameters import seed_of

    parameters = {
        "method": method,
        "n_restarts": n_restarts,
        "n_folds": n_folds,
        "min_size": min_size,
        "n_jobs": n_jobs,
        "random_state": random_state,
        "progress": progress,
    }
    _check(model, frame, parameters)
    chosen = checked_choice(contrasts, model.schema_)
    frame = cohort_of(model, frame, stacklevel=3)
    features = [feature for feature in model.schema_ if feature.role in ("cluster", "describe")]
    seed: int | None = None
    if model.fit_ is None:
        found = rows_of_given(model, frame, features, min_size, chosen)
    else:
        seed = model.fit_.random_seed_ if random_state is None else seed_of(random_state)
        searched = cast("MAPDP", model)
        plan = cold_plan(searched, seed, n_restarts)

        def search_and_test() -> list[dict[str, Any]]:
            with announcing_compilation():
                tests = _Tests(searched, frame, method, plan, n_folds, min_size, chosen)
                return _side_by_side(tests, features, n_jobs, progress)

        found = interruptible(search_and_test, plan.cancelled)
    rows = pd.DataFrame(found, columns=list(_DTYPES))
    rows["q"] = adjusted(rows["p"].to_numpy(dtype=np.float64))
    rows["seed"] = None if seed is None else str(seed)
    return rows.astype(_DTYPES)


def _side_by_side(tests: _Tests, features: list[Feature], n_jobs: int | None, progress: bool) -> list[dict[str, Any]]:
    """Return the row of each feature, in order; the tests run in parallel on threads."""
    from clinclust.engine.search.plan import n_threads
    from clinclust.engine.search.threads import Threads
    from clinclust.progress import Progress

    with Threads(n_threads(n_jobs)) as pool:
        futures = [pool.submit(tests.row, feature) for feature in features]
        try:
            found = []
            with Progress(bool(progress)).stage("associations", len(futures)) as advance:
                for future in futures:
                    found.append(future.result())
                    advance()
            return found
        except BaseException:
            tests.plan.cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Tests:
    """The tests of all features of one cohort, with the data that they share."""

    def __init__(
        self,
        model: MAPDP,
        frame: pd.DataFrame,
        method: Method,
        plan: SearchPlan,
        n_folds: int,
        min_size: int,
        contrasts: Mapping[str, ContrastKind],
    ) -> None:
        from clinclust.associations.cold_search import column_keys
        from clinclust.associations.cross_fitting import folds_of
        from clinclust.engine.problem.problem import pose
        from clinclust.estimators.from_parameters import stated_hyperparameters_of
        from clinclust.graded import graded, mid_ranks

        stated = stated_hyperparameters_of(model)
        self.problem: Problem = pose(
            frame,
            model.schema_,
            stated,
            model.concentration_,
            model.discount_,
            model.coarsening_,
            model.block_powers_,
        )
        self.model, self.frame, self.method, self.plan = model, frame, method, plan
        self.min_size, self.contrasts = min_size, contrasts
        self.encoded = self.problem.cohort.encoding.features
        self.places = {feature.name: place for place, feature in enumerate(self.encoded)}
        scores = [feature.scores(frame[feature.name]) for feature in self.encoded]
        is_nominal = [feature.traits.is_nominal for feature in self.encoded]
        self.graded = graded(zip(scores, is_nominal, strict=True), mid_ranks)
        # Keys use raw values: standardised values depend on the order of summation, and so on the other features.
        order = self.problem.cohort.order
        self.keys = column_keys([values[order] for values in scores]) if method == "refit" else None
        self.folds = folds_of(self.problem, n_folds, plan) if method == "cross-fit" else []

    def row(self, feature: Feature) -> dict[str, Any]:
        """Return the row of one feature as a dict, without q."""
        from clinclust.associations.direct import described, whole_cohort

        about = described(feature)
        if feature.name in self.model.kept_out_:
            return about | {"remark": f"not tested: it has {self.model.kept_out_[feature.name]}"}
        if feature.role == "describe":
            return about | self._tested(feature, whole_cohort(self.model), "direct")
        block = [other for other in self.encoded if feature.block is not None and other.block == feature.block]
        others = [other for other in block if other.name != feature.name]
        left_out = np.zeros(len(self.encoded), dtype=np.bool_)
        left_out[[self.places[other.name] for other in (feature, *others)]] = True
        about |= {"left_out": "; ".join(other.name for other in others) or None, "method": self.method}
        if left_out.all():
            return about | {"method": None, "remark": "not tested: without it (and its block) no feature is left"}
        parts = self._parts(left_out)
        found = self._tested(feature, parts, self.method)
        if found["method"] is not None:
            found |= self._doubts(feature, parts, ~left_out)
        return about | found

    def _parts(self, left_out: NDArray[np.bool_]) -> list[Part]:
        """Return the subtypes found without the features of `left_out`, bool (D,)."""
        from clinclust.associations.cold_search import search_cold, without
        from clinclust.associations.cross_fitting import parts_without
        from clinclust.associations.evidence import Part

        if self.keys is None:
            return parts_without(self.folds, left_out, self.plan.outlying_share)
        problem, order = without(self.problem, left_out, self.keys)
        subtypes = search_cold(problem, self.plan)
        return [Part(self.problem.cohort.order[order], subtypes.labels, subtypes.membership)]

    def _tested(self, feature: Feature, parts: list[Part], method: str) -> dict[str, Any]:
        """Return the test of a feature against these subtypes, as columns of the row."""
        from clinclust.associations.direct import tested

        return tested(feature, self.frame, parts, method, self.min_size, self.contrasts)

    def _doubts(self, feature: Feature, parts: list[Part], included: NDArray[np.bool_]) -> dict[str, Any]:
        """Return whether the feature depends, within subtypes, on the features in `included`, bool (D,), as columns."""
        from scipy.linalg import block_diag

        from clinclust.associations.residual_dependence import residual_dependence
        from clinclust.graded import Graded, graded, mid_ranks

        values = feature.scores(self.frame[feature.name])
        rows = np.concatenate([part.rows for part in parts])
        columns, weights, owners = self.graded
        kept = included[owners]
        others = Graded(columns[np.ix_(rows, np.flatnonzero(kept))], weights[kept], owners[kept])
        own = graded([(values[rows], feature.traits.is_nominal)], mid_ranks)
        found = residual_dependence(own, others, block_diag(*(part.membership for part in parts)))
        if np.isnan(found.p):
            return {"doubtful": None}
        if found.p >= DOUBTFUL_BELOW:
            return {"doubtful": False}
        return {"doubtful": True, "remark": _why_doubtful(found, self.encoded[found.strongest])}


def _why_doubtful(found: Dependence, other: Feature) -> str:
    return (
        f"doubtful: inside subtypes it depends on others, most on {other.title} (r = {found.correlation:.2f}); "
        "declare what belongs together as a block"
    )


def _check(model: SubtypeModel, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> None:
    """Raise one ValueError that lists all arguments that cannot be used."""
    from clinclust.estimators.parameters import parameter_problems

    require_fitted(model)
    problems = [*parameter_problems(parameters), *cohort_problems(model, frame)]
    if problems:
        raise InputError("; ".join(problems))
