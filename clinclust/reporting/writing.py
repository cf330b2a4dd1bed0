"""Write findings to a file: make the sheets and pass them to the writer of the file type."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from clinclust.progress import SILENT, Progress
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Sheet
from clinclust.reporting.printed import as_printed
from clinclust.reporting.provenance import date_of_report
from clinclust.reporting.sheets import tables
from clinclust.reporting.sheets.associations import association_table
from clinclust.reporting.sheets.charts import charts
from clinclust.reporting.sheets.codebook import codebook
from clinclust.reporting.sheets.effect_sizes import effect_sizes
from clinclust.reporting.sheets.likelihoods import likelihoods_sheets
from clinclust.reporting.sheets.methods import methods_sheet
from clinclust.reporting.sheets.model_check import model_check_sheets
from clinclust.reporting.sheets.other_methods import other_methods_sheets
from clinclust.reporting.sheets.overview import overview
from clinclust.reporting.sheets.posterior import posterior_sheets
from clinclust.reporting.sheets.profile import profile
from clinclust.reporting.sheets.stability import stability_sheets
from clinclust.reporting.sheets.subtype_sheet import subtype_table_sheet
from clinclust.reporting.sheets.summary import summary
from clinclust.reporting.sheets.tidy_data import tidy_data
from clinclust.reporting.sheets.unusual import unusual_sheets
from clinclust.reporting.sheets.withheld import withheld

__all__ = ["write_findings"]

_SUBJECTS_ON_A_PAGE = 2000  # more rows make a browser slow; the workbook lists every subject


def write_findings(
    findings: Findings, path: Path, generated: datetime | None = None, progress: Progress = SILENT
) -> None:
    """Write a report to a path that ends in ``.xlsx`` or ``.html``. No search is run.

    Raises
    ------
    ValueError
        If the content does not fit in a workbook.
    OSError
        If the file cannot be written.
    """
    with progress.stage(f"report {path.suffix.lower()}"):
        _write(findings, path, date_of_report(generated))


def _write(findings: Findings, path: Path, moment: datetime) -> None:
    title = findings.model.schema_.title or "Subtype report"
    if path.suffix.lower() == ".xlsx":
        from clinclust.reporting.workbook import write_workbook

        sheets = _sheets(findings, moment, on_page=False)
        # A page holds the texts that are printed, and nothing more.
        sheets = [as_printed(sheet) for sheet in sheets] if findings.is_shared else sheets
        write_workbook(sheets, path, title=title, generated=moment)
    else:
        from clinclust.reporting.page import write_page
        from clinclust.reporting.page.illustrations import illustrations

        sheets = _sheets(findings, moment, on_page=True)
        write_page(sheets, path, title=title, illustrations=illustrations(findings))


def _sheets(findings: Findings, moment: datetime, *, on_page: bool) -> list[Sheet]:
    """Return the sheets in order: what was found comes first, and the settings of the run after all results.

    A page lists the first subjects only, and has figures in the place of tables that are for other programs.
    """
    in_workbook = not on_page
    return [
        overview(findings),
        *([withheld(findings)] if findings.is_shared else []),
        subtype_table_sheet(findings),
        tables.subtypes(findings),
        *([profile(findings), charts(findings)] if in_workbook else []),
        *([] if findings.associations is None else [association_table(findings)]),
        *([effect_sizes(findings)] if in_workbook and not findings.is_rounded else []),
        *([] if findings.is_rounded else [tables.pairwise_tests(findings)]),
        *([] if findings.is_shared else [tables.assignments(findings, _SUBJECTS_ON_A_PAGE if on_page else None)]),
        *unusual_sheets(findings),
        *likelihoods_sheets(findings),
        *model_check_sheets(findings),
        *stability_sheets(findings),
        *posterior_sheets(findings),
        *other_methods_sheets(findings),
        tables.missing_data(findings),
        summary(findings, moment),
        codebook(findings),
        methods_sheet(findings),
        *([tidy_data(findings)] if in_workbook else []),
    ]
