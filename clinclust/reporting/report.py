"""Write a report: check what was given, make the sheets, hand them to the writer of the file type."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.associations import validated_associations
from clinclust.comparisons import compare_subtypes
from clinclust.reporting.findings import Findings
from clinclust.reporting.provenance import date_of_report
from clinclust.reporting.sheets import tables
from clinclust.reporting.sheets.associations import association_table
from clinclust.reporting.sheets.charts import charts
from clinclust.reporting.sheets.codebook import codebook
from clinclust.reporting.sheets.effect_sizes import effect_sizes
from clinclust.reporting.sheets.methods import methods_sheet
from clinclust.reporting.sheets.profile import profile
from clinclust.reporting.sheets.subtype_sheet import subtype_table_sheet
from clinclust.reporting.sheets.summary import summary
from clinclust.reporting.sheets.tidy_data import tidy_data

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.associations.associate import Method
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["write_report"]

_SUBJECTS_ON_A_PAGE = 2000  # a browser is slow to show more, and nobody reads them there


def write_report(
    model: MAPDP,
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
    associations : {"refit", "cross-fit"}, pandas.DataFrame or None
        The method by which features are tested against subtypes that they did not form, or what
        `validated_associations` has found for the same model and cohort. None leaves the tests out, which are one
        search for each feature: half a minute for 527 subjects and 215 features, on two cores.
    names : dict, optional
        What subtypes are called, by number: ``{1: "Tremor dominant"}``.
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
    if isinstance(associations, str):
        associations = validated_associations(model, frame, method=associations, min_size=min_size)
    findings = Findings(model, frame, comparisons, significance_level, associations, names or {})
    findings.check_names()
    findings.check_comparisons()
    if suppress is not None:
        findings = findings.for_sharing(suppress)
    moment = date_of_report(generated)
    at_most = None if is_workbook else _SUBJECTS_ON_A_PAGE
    sheets = [
        summary(findings, moment),
        subtype_table_sheet(findings),
        tables.subtypes(findings),
        profile(findings),
        charts(findings),
        *([] if associations is None else [association_table(findings)]),
        effect_sizes(findings),
        tables.pairwise_tests(findings),
        *([] if findings.is_shared else [tables.assignments(findings, at_most)]),
        tables.missing_data(findings),
        codebook(findings),
        methods_sheet(findings),
        tidy_data(findings),
    ]
    title = model.schema_.title or "Subtype report"
    if is_workbook:
        from clinclust.reporting.workbook import write_workbook

        write_workbook(sheets, path, title=title, generated=moment)
    else:
        from clinclust.reporting.page import write_page
        from clinclust.reporting.page.illustrations import illustrations
        from clinclust.reporting.sheets.overview import overview

        shown = [overview(findings), *(sheet for sheet in sheets if not sheet.workbook_only)]
        write_page(shown, path, title=title, illustrations=illustrations(findings))
    return path
