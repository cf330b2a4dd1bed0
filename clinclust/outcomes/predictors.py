"""Predictors of membership: who is in which subtype, with the errors of assignment carried through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, NUMBER, TEXTS, WHOLE, accepting
from clinclust.arrays import Array
from clinclust.estimators.subtype_model import require_fitted
from clinclust.outcomes.assigned import Assigned
from clinclust.outcomes.columns import CohortColumns, standardised
from clinclust.outcomes.compare import estimate_row
from clinclust.outcomes.three_step import NO_MAXIMUM, predictors_of_subtype

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

_DTYPES = {
    **dict.fromkeys(("method", "term"), "string"),
    **dict.fromkeys(("subtype", "versus"), "Int64"),
    **dict.fromkeys(("estimate", "se", "lower", "upper", "p"), "float64"),
    "n": "Int64",
    "remark": "string",
}


@accepting(model=MODEL, frame=FRAME, predictors=TEXTS, versus=WHOLE, level=NUMBER)
def subtype_predictors(
    model: SubtypeModel,
    frame: pd.DataFrame,
    predictors: Sequence[str],
    *,
    versus: int = 1,
    level: float = 0.95,
) -> pd.DataFrame:
    """Regress membership of subtypes on what may predict it, with the errors of assignment carried through.

    Multinomial logistic regression by maximum likelihood in three steps (Vermunt 2010), of all predictors together; the
    naive answer, which takes assignments for known, is given too.

    Parameters
    ----------
    model, frame, versus, level
        As in `compare_outcomes`.
    predictors : list of str
        Columns that had no part in the subtypes; levels without order have an indicator each.

    Returns
    -------
    DataFrame
        For each `method` (``"ml"``, ``"naive"``), subtype and term: the odds ratio (`estimate`) of the subtype against
        `versus` for one unit more, with its interval; `se` is that of the logarithm.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, `frame` is not its cohort, or columns cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(60, 10, 300)
    >>> frail = rng.random(300) < 1 / (1 + np.exp((60 - age) / 5))
    >>> X = rng.normal(1.5 * frail[:, None], 1.0, (300, 5))
    >>> frame = pd.DataFrame(X, columns=["gait", "grip", "chair", "balance", "weight"])
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in frame]
    >>> model = cc.MAPDP(cc.FeatureSchema(features, other_columns="ignore"), random_state=0, progress=False).fit(frame)
    >>> found = cc.subtype_predictors(model, frame.assign(age=age.round()), ["age"])
    >>> found[["method", "term", "subtype", "versus"]].to_numpy().tolist()
    [['ml', 'age', 2, 1], ['naive', 'age', 2, 1]]
    """
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(versus, level, [*predictors], "predictors")
    if len(predictors) == 0:
        columns.problems.append("predictors must name at least one column")
    terms, values = columns.covariates(predictors, "predictors")
    columns.refuse()
    assigned = Assigned(model, np.asarray(~np.isnan(values).any(axis=1)), versus)
    columns.refuse_redundant(terms, values[assigned.chosen], "predictors")
    rows = list(_rows(assigned, terms, values[assigned.chosen], level))
    return pd.DataFrame(rows, columns=list(_DTYPES)).astype(_DTYPES)


def _rows(assigned: Assigned, terms: list[str], predictors: Array, level: float) -> Iterator[dict[str, Any]]:
    (standard, scales), subtypes, n_terms = standardised(predictors), assigned.subtypes, 1 + len(terms)
    for method in ("ml", "naive"):
        about = {"method": method, "n": len(predictors)}
        errors, why = assigned.errors_of(method)
        if why is None:
            found = predictors_of_subtype(standard, errors, assigned.labels, assigned.versus, method)
            why = None if found.found else NO_MAXIMUM
        if why is not None:
            yield about | {"remark": why}
            continue
        for place, subtype in enumerate(np.delete(subtypes, assigned.versus).tolist()):
            for at, term in enumerate(terms):
                contrast = np.zeros(found.parameters.size)
                contrast[place * n_terms + 1 + at] = 1.0 / scales[at]
                named = {"term": term, "subtype": subtype + 1, "versus": int(subtypes[assigned.versus]) + 1}
                yield about | named | estimate_row(found, contrast, np.exp, level)
    for subtype in assigned.too_small.tolist():
        yield {"subtype": subtype, "n": len(predictors), "remark": "left out: too few subjects"}
