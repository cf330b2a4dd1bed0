"""Differences between subtypes in every feature, adjusted for covariates such as age and sex."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, NUMBER, TEXTS, WHOLE, accepting
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import clustered_features, require_fitted
from clinclust.outcomes.assigned import Assigned
from clinclust.outcomes.columns import CohortColumns
from clinclust.outcomes.compare import rows_of_outcome

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

_COLUMNS = {
    **dict.fromkeys(("feature", "kind"), "string"),
    "clustered_on": "bool",
    **dict.fromkeys(("subtype", "versus"), "Int64"),
    "measure": "string",
    **dict.fromkeys(("estimate", "se", "lower", "upper", "p"), "float64"),
    "n": "Int64",
    "remark": "string",
}


@accepting(model=MODEL, frame=FRAME, covariates=TEXTS, versus=WHOLE, level=NUMBER)
def adjusted_differences(
    model: SubtypeModel, frame: pd.DataFrame, covariates: Sequence[str], *, versus: int = 1, level: float = 0.95
) -> pd.DataFrame:
    """Compare every feature between the subtypes as assigned, adjusted for covariates.

    The regressions are those of `compare_outcomes`: linear for measurements, logistic for yes/no, proportional odds for
    ordered levels, negative binomial for counts. Standard errors are robust.

    Parameters
    ----------
    model, frame, covariates, versus, level
        As in `compare_outcomes`. Covariates may have formed the subtypes.

    Returns
    -------
    DataFrame
        For each clustered or described feature that is no covariate, and each other subtype than `versus`: the
        difference of means or the ratio (`measure`) with `se` (of the logarithm of a ratio), `lower`, `upper`, `p` and
        `n`. Of features that the subtypes were found from (`clustered_on`) there is no p: subtypes differ in these by
        construction. Where nothing can be estimated, `remark` says why; levels without order are left out so.

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
    >>> frail = rng.random(300) < 0.4
    >>> age = rng.normal(60 + 10 * frail, 8)
    >>> frame = pd.DataFrame({"gait": rng.normal(3 * frail), "grip": rng.normal(-3 * frail), "age": age})
    >>> frame["falls"] = rng.poisson(np.exp(0.02 * age))
    >>> features = [cc.Feature(name=name, likelihood="gaussian") for name in ("gait", "grip")]
    >>> features += [cc.Feature(name="age", likelihood="gaussian", role="describe")]
    >>> schema = cc.FeatureSchema([*features, cc.Feature(name="falls", likelihood="poisson", role="describe")])
    >>> model = cc.MAPDP(schema, n_clusters=2, random_state=0, progress=False).fit(frame)
    >>> found = cc.outcomes.adjusted_differences(model, frame, ["age"])
    >>> found[["feature", "measure", "clustered_on"]].to_numpy().tolist()[-1]
    ['falls', 'rate ratio', False]
    """
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(versus, level, [], "covariates")
    terms, values = columns.covariates(covariates, "covariates")
    if not covariates:
        columns.problems.append("covariates: name columns to adjust for, such as age and sex")
    columns.refuse()
    formed, rows = clustered_features(model), []
    for feature in model.schema_.reported:
        if feature.name in covariates:
            continue
        about = {"feature": feature.name, "clustered_on": feature.name in formed}
        for row in _of_feature(model, columns, feature.name, terms, values, versus, level):
            rows.append(about | row | ({"p": np.nan} if about["clustered_on"] else {}))
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def _of_feature(
    model: SubtypeModel,
    columns: CohortColumns,
    name: str,
    terms: list[str],
    values: np.ndarray,
    versus: int,
    level: float,
) -> Iterator[dict[str, Any]]:
    try:
        found = columns.outcome(name, None)
        columns.refuse()
        assert found is not None
        assigned = Assigned(model, found.is_known & ~np.isnan(values).any(axis=1), versus)
        columns.refuse_redundant(terms, values[assigned.chosen], "covariates")
        if np.ptp(found.observed[assigned.chosen]) == 0.0:
            raise InputError("the same in all subjects with all values")
    except InputError as error:
        columns.problems.clear()
        yield {"remark": str(error)}
        return
    for row in rows_of_outcome(found, assigned, terms, values[assigned.chosen], level, ("naive",)):
        if row.get("versus") is not None or row.get("remark") is not None:
            yield row
