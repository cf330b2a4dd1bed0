"""A batch of new subjects, as a fitted model reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import CohortError, InputError
from clinclust.estimators.new_subjects import about_new_subjects, unseen_rows, without_unseen

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP

__all__ = ["Batch", "batch_of"]


@dataclass(frozen=True, eq=False)
class Batch:
    """New subjects.

    Attributes
    ----------
    frame : DataFrame, n rows
        The columns that the clusters were found from, validated; values that the model does not know are missing.
    unseen : dict of str to bool (n,)
        The subjects with a value that the model does not know, by feature; features without any are absent.
    """

    frame: pd.DataFrame
    unseen: dict[str, NDArray[np.bool_]]


def batch_of(model: MAPDP, new: pd.DataFrame) -> Batch:
    """Return a table of new subjects as the model reads it.

    Raises
    ------
    CohortError
        If a column is absent.
    ValueError
        If the table has no rows, or is the cohort of the fit.
    """
    from clinclust.estimators.fitted_cohort import rows_of_the_fit

    if not len(new):
        raise InputError("new has no rows; give a table with one row for each new subject")
    if rows_of_the_fit(model.fit_, new) is not None:
        raise InputError("the table of new subjects is the cohort of the fit itself; give a table of other subjects")
    needed = model.schema_needed
    # What is missing is a result here, also where no value of the cohort might be missing.
    schema = needed.with_changed([feature.model_copy(update={"complete": False}) for feature in needed])
    known, _ = without_unseen(schema, new)
    try:
        validated = schema.validate(known, warn=False)
    except CohortError as error:
        raise CohortError(about_new_subjects(error.failures, schema)) from error
    return Batch(validated, unseen_rows(schema, new))
