"""Write a report: check what was given, make the sheets, hand them to the writer of the file type."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.comparisons import compare_subtypes
from clinclust.reporting import tables
from clinclust.reporting.findings import Findings
from clinclust.reporting.provenance import date_of_report
from clinclust.reporting.summary import summary

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.mapdp import MAPDP

__all__ = ["write_report"]

_SUBJECTS_ON_A_PAGE = 2000  # a browser is slow to show more, and nobody reads them there


def write_report(
    model: MAPDP,
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    comparisons: pd.DataFrame | None = None,
    min_size: int = 3,
    significance_level: float = 0.01,
    suppress: int | None = None,
    generated: datetime | None = None,
) -> Path:
    """Write what a fitted model found as an Excel workbook or a web page.

    Both hold the same sheets: what was run, the profile of every subtype, the tests of every pair, the
    subtype of every subject, and the missing values. They contain one row per subject, with its identifiers
    (a page of a large cohort: of the first 2,000), unless the report is made for sharing by `suppress`.

    Parameters
    ----------
    model : MAPDP
        Fitted.
    frame : pandas.DataFrame, N rows
        The cohort it was fitted on, same subjects in the same order.
    path : path
        Ends in ``.xlsx`` or ``.html``. An existing file is replaced, in one step.
    comparisons : pandas.DataFrame, optional
        From `compare_subtypes` for the same cohort and labels; made here otherwise.
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
        If the suffix is another, the model is not fitted, `frame` or `comparisons` belong to something else,
        numbers of `comparisons` are withheld already, the cohort is too small to withhold counts in it, or the content
        does not fit in a workbook.
    """
    path = Path(path)
    if path.suffix.lower() not in (".xlsx", ".html"):
        raise ValueError(f"a report ends in .xlsx or .html, not {path.suffix!r} ({path.name})")
    if not hasattr(model, "labels_"):
        raise ValueError("the model is not fitted; call model.fit(frame) before write_report")
    if len(frame) != len(model.labels_):
        raise ValueError(
            f"the frame has {len(frame)} rows, but the model was fitted on {len(model.labels_)} subjects; "
            "pass the frame that it was fitted on"
        )
    frame = model.schema_.validate(frame, warn=False)
    if comparisons is None:
        comparisons = compare_subtypes(
            frame, model.labels_, model.schema_, min_size=min_size, significance_level=significance_level
        )
    is_workbook = path.suffix.lower() == ".xlsx"
    findings = Findings(model, frame, comparisons, significance_level)
    findings.check_comparisons()
    if suppress is not None:
        findings = findings.for_sharing(suppress)
    moment = date_of_report(generated)
    sheets = [
        summary(findings, moment),
        tables.subtypes(findings),
        tables.pairwise_tests(findings),
        tables.missing_data(findings),
    ]
    if suppress is None:
        sheets.insert(-1, tables.assignments(findings, at_most=None if is_workbook else _SUBJECTS_ON_A_PAGE))
    title = model.schema_.title or "Subtype report"
    if is_workbook:
        from clinclust.reporting.workbook import write_workbook

        write_workbook(sheets, path, title=title, generated=moment)
    else:
        from clinclust.reporting.page import write_page

        write_page(sheets, path, title=title)
    return path
