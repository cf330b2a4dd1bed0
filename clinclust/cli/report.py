"""`clinclust report`: make the reports of a fit again, without a search for subtypes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.options import (
    Commands,
    about_table,
    add_jobs,
    add_model,
    add_table,
    path_given,
    read_model,
    read_table_of_model,
)
from clinclust.cli.outputs import (
    FILES_OF_A_FIT,
    FILES_OF_A_MODEL,
    REPORTS,
    add_overwrite,
    spare_folder,
    spare_the_inputs,
    tell_of_other_files,
)
from clinclust.cli.report_files import reports_placed
from clinclust.cli.report_options import (
    add_report,
    add_smallest_tested,
    report_asked_for,
    report_problems,
    size_problems,
)
from clinclust.cli.results import say_what_to_share
from clinclust.cli.sharing import as_the_fit_was_asked, follow_the_fit, say_what_is_withheld
from clinclust.cli.streams import add_quiet, say
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("report", help="make the reports of a fit again", description=run.__doc__)
    add_table(parser)
    add_model(parser)
    parser.add_argument(
        "--out", type=path_given, metavar="DIR", help="folder to write to (default: the folder of the model)"
    )
    add_overwrite(parser, "the reports in this folder")
    add_quiet(parser)
    add_report(parser, of_model=True)
    add_smallest_tested(parser)
    add_jobs(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make the reports again with other names, levels or suppression, from the model and the table of a fit."""
    from clinclust.comparisons.cohort_columns import ignored_columns
    from clinclust.comparisons.dominance import dominant_in
    from clinclust.estimators.fitted_cohort import cohort_of

    follow_the_fit(options)
    _check_options(options)
    folder = options.model if options.out is None else options.out
    _check_folder(options, folder)
    model = read_model(options)
    _check_names(options, model)
    table = read_table_of_model(options, model)
    with about_table(options):
        frame = cohort_of(model, table)
    dominant = dominant_in(model, frame, ignored_columns(table, frame))
    problems = size_problems(options, len(frame))
    if problems:
        raise InputError("; ".join(problems))
    tell_of_other_files(folder, FILES_OF_A_FIT)
    _write(options, model, frame, dominant, folder)
    say(f"Wrote {folder}: {', '.join(REPORTS)}, {MANIFEST}")
    say_what_is_withheld(options)
    say_what_to_share(options, folder)
    return 0


def _check_options(options: argparse.Namespace) -> None:
    from clinclust.estimators.parameters import RULES

    problems = report_problems(options) + RULES["n_jobs"].problems_of_option("--jobs", options.jobs)
    if problems:
        raise InputError("; ".join(problems) + as_the_fit_was_asked(options))


def _check_folder(options: argparse.Namespace, folder: Path) -> None:
    """Check that the reports replace nothing that they may not, and do not come to stand beside another model."""
    replaced = (*REPORTS, MANIFEST)
    spare_the_inputs(argparse.Namespace(table=options.table), *(folder / name for name in replaced))
    if _is_of_the_model(options, folder):
        spare_folder(folder, REPORTS, allowed=options.overwrite)
        return
    spare_folder(
        folder,
        FILES_OF_A_MODEL,
        allowed=False,
        instead="reports of this model would not belong to it; give another folder after --out",
    )
    spare_folder(folder, replaced, allowed=options.overwrite)


def _is_of_the_model(options: argparse.Namespace, folder: Path) -> bool:
    return folder.exists() and options.model.exists() and folder.samefile(options.model)


def _check_names(options: argparse.Namespace, model: MAPDP) -> None:
    from clinclust.reporting.options import unknown_names

    problems = unknown_names(report_asked_for(options).names, range(1, model.n_clusters_ + 1), called="--name")
    if problems:
        raise InputError("; ".join(problems))


def _write(
    options: argparse.Namespace, model: MAPDP, frame: pd.DataFrame, dominant: pd.DataFrame, folder: Path
) -> None:
    """Write both reports to the folder or none."""
    from clinclust.progress import Progress
    from clinclust.reporting.writing import gathered_findings, write_findings

    with reports_placed(folder) as new:
        findings = gathered_findings(model, frame, report_asked_for(options), dominant=dominant)
        for name in REPORTS:
            write_findings(findings, new / name, progress=Progress(not options.quiet))
