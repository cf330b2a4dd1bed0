"""Withhold the validated associations of features in which a number is withheld."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.arguments import ASSOCIATIONS, WITHHELD, accepting
from clinclust.comparisons.t_tests import adjusted
from clinclust.disclosure.released import set_missing

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["withhold_associations"]

_WITHHELD = (
    *("n", "n_subtypes", "test", "statistic", "df", "df2", "p", "q", "agreement", "effect", "effect_reported"),
    *("doubtful", "p_whatever_is_missing", "remark"),
)


@accepting(associations=ASSOCIATIONS, suppressed=WITHHELD)
def withhold_associations(associations: pd.DataFrame, suppressed: pd.DataFrame) -> pd.DataFrame:
    """Withhold the validated associations of features in which a number is withheld.

    Parameters
    ----------
    associations : pandas.DataFrame
        The frame of `validated_associations`: one row per feature.
    suppressed : pandas.DataFrame
        The frame of `suppress_small_cells` for the same subtypes.

    Returns
    -------
    pandas.DataFrame
        The same rows with a column `suppressed`. For those features n, n_subtypes, the name of the test, statistic,
        df, df2, p, q, agreement, effects, doubtful, p_whatever_is_missing and remark are missing. q is adjusted over
        the tests that are shown, for the ranks of all would enclose the p-values that are withheld.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> associations = pd.DataFrame({"feature": ["fell", "cancer"], "n": 100, "statistic": [9.1, 4.2], "df": 1.0})
    >>> associations = associations.assign(df2=float("nan"), p=[0.003, 0.04], q=[0.006, 0.04])
    >>> suppressed = pd.DataFrame({"feature": ["fell", "cancer"], "suppressed": [False, True]})
    >>> cc.withhold_associations(associations, suppressed)[["feature", "p", "suppressed"]]
      feature      p  suppressed
    0    fell  0.003       False
    1  cancer    NaN        True
    """
    result = associations.reset_index(drop=True)
    if "suppressed" not in result:
        result["suppressed"] = np.zeros(len(result), dtype=bool)
        result["suppressed"] = result["suppressed"].astype("boolean")
    touched = set(suppressed.loc[suppressed["suppressed"].fillna(False), "feature"])
    lost = result["feature"].isin(touched).to_numpy()
    set_missing(result, lost, _WITHHELD)
    result.loc[lost, "suppressed"] = True
    if "q" in result:
        result["q"] = adjusted(result["p"].to_numpy(dtype=np.float64, na_value=np.nan))
    return result
