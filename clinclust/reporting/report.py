"""Write a report: check what was given, gather the findings, hand them to the writer of the file type."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.files.writing import check_place
from clinclust.reporting.checking import check_report
from clinclust.reporting.gathering import gathered_findings
from clinclust.reporting.writing import write_findings

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.associations.associate import Method
    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["write_report"]


def write_report(
    model: SubtypeModel,
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    comparisons: pd.DataFrame | None = None,
    associations: pd.DataFrame | Method | None = "refit",
    names: Mapping[int, str] | None = None,
    min_size: int = 3,
    significance_level: float = 0.01,
    suppress: int | None = None,
    generated: datetime | None = None,
) -> Path:
    """Write subtypes, and what sets them apart, as an Excel workbook or a web page.

    Both hold the same sheets: what was run, the profile of every subtype, the tests of every pair, the
    subtype of every subject, and the missing values. They contain one row per subject, with its identifiers
    (a page of a large cohort: of the first 2,000), unless the report is made for sharing by `suppress`.
    Everything given is checked before the first search starts.

    Parameters
    ----------
    model : MAPDP, Partition or another SubtypeModel
        Fitted. Of a partition that no MAP-DP search made, the parts that need one are left out, and the report says
        which.
    frame : pandas.DataFrame, N rows
        The cohort it was fitted on, same subjects in the same order.
    path : path
        Ends in ``.xlsx`` or ``.html``. An existing file is replaced, in one step.
    comparisons : pandas.DataFrame, optional
        From `compare_subtypes` for the same cohort and labels; made here otherwise.
    associations : {"refit", "cross-fit"}, pandas.DataFrame or None
        The method by which features are tested against subtypes that they did not form, or what
        `validated_associations` has found for the same model and cohort. None leaves the tests out, which are one
        search for each feature: half a minute for 527 subjects and 215 features, on two cores.
    names : dict, optional
        What subtypes are called, by number: ``{1: "Tremor dominant"}``. Those of a `Partition` are its labels.
    min_size : int
        Smallest subtype that is tested (where `comparisons` is not given).
    significance_level : float
        Level of p at which subtypes are said to differ.
    suppress : int, optional
        Withhold counts below this, as `suppress_small_cells` does, and everything about single subjects; 10 is usual.
    generated : datetime, optional
        Date on the report; otherwise the environment's SOURCE_DATE_EPOCH, otherwise now. With the same date
        the same results give the same bytes.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        Listing everything wrong: the suffix is another, the model is not fitted, `frame`, `comparisons` or `names`
        belong to something else, a number cannot be used, or numbers of `comparisons` are withheld already. Also if
        the cohort is too small to withhold counts in it, or the content does not fit in a workbook.
    OSError
        If nothing can be written there.

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
    >>> cc.write_report(model, frame, "subtypes.xlsx", names={1: "Robust", 2: "Frail"}).name
    'subtypes.xlsx'
    """
    path = Path(path)
    check_report(
        model,
        frame,
        path,
        comparisons=comparisons,
        associations=associations,
        names=names,
        min_size=min_size,
        significance_level=significance_level,
        suppress=suppress,
    )
    check_place(path)
    findings = gathered_findings(
        model,
        frame,
        comparisons=comparisons,
        associations=associations,
        names=names,
        min_size=min_size,
        significance_level=significance_level,
        suppress=suppress,
    )
    write_findings(findings, path, generated)
    return path
