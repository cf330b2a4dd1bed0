"""Find the subtypes of a cohort, and write the folder of results."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.failures import BAD_INPUT, tell_failure
from clinclust.cli.outputs import FILES_OF_A_FIT, REPORTS
from clinclust.cli.report_options import report_asked_for, report_problems, suppression_problems
from clinclust.cli.search_options import model_asked_for, search_problems
from clinclust.cli.streams import say, tell
from clinclust.errors import InputError
from clinclust.files.manifest import MANIFEST

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.findings import Findings
    from clinclust.schema import FeatureSchema

__all__ = ["check_options", "say_what_to_share", "write_results"]


def check_options(options: argparse.Namespace) -> None:
    """Check the options of the search and of the reports.

    Raises
    ------
    InputError
        If an option cannot be used. The message lists all problems.
    """
    problems = search_problems(options) + report_problems(options)
    if problems:
        raise InputError("; ".join(problems))


def write_results(options: argparse.Namespace, schema: FeatureSchema, frame: pd.DataFrame) -> int:
    """Find the subtypes, write the folder ``options.out``, say what was found, and return the exit code.

    Parameters
    ----------
    options : argparse.Namespace
        `check_options` has checked them.
    schema : FeatureSchema
    frame : DataFrame
        The validated cohort.
    """
    from clinclust.files.manifest import write_manifest
    from clinclust.files.writing import write_together
    from clinclust.reporting.assignments import assignment_table, write_assignments

    problems = suppression_problems(options, len(frame))
    if problems:
        raise InputError("; ".join(problems))
    model = model_asked_for(options, schema)
    # A folder that mixes files of two runs would mislead, so the files of this run replace all files of an earlier run.
    with write_together(options.out, replacing=FILES_OF_A_FIT, last=MANIFEST) as folder:
        model.fit(frame)
        model.save(folder)
        write_assignments(assignment_table(frame, schema, model.labels_, model.membership_), folder / "assignments.csv")
        code = _write_reports(model, frame, folder, options)
        written = [name for name in FILES_OF_A_FIT if name != MANIFEST and (folder / name).exists()]
        write_manifest(folder, written)
    sizes = ", ".join(f"{size} ({size / len(frame):.1%})" for size in model.cluster_sizes_)
    say(f"{model.n_clusters_} subtype{'' if model.n_clusters_ == 1 else 's'} among {len(frame)} subjects: {sizes}")
    say(f"Wrote {options.out}: {', '.join([*written, MANIFEST])}")
    if set(REPORTS) & set(written):
        say_what_to_share(options)
    return code


def say_what_to_share(options: argparse.Namespace) -> None:
    """Say which files of a folder may be passed on, if counts are withheld."""
    if options.suppress is not None:
        say(f"For sharing: {' and '.join(REPORTS)} only. The other files hold one row for each subject.")


def _write_reports(model: MAPDP, frame: pd.DataFrame, folder: Path, options: argparse.Namespace) -> int:
    """Write the reports to a folder, print what could not be written, and return the exit code.

    If one report fails, the model and the other report are still written, because the search may have taken hours.
    """
    from clinclust.progress import Progress
    from clinclust.reporting.writing import write_findings

    codes = [0]
    try:
        findings = _findings(model, frame, options, codes)
    except Exception as error:
        return max(*codes, tell_failure(error, options, f"{' and '.join(REPORTS)} were not written"))
    for name in REPORTS:
        try:
            write_findings(findings, folder / name, progress=Progress(not options.quiet))
        except Exception as error:
            codes.append(tell_failure(error, options, f"{name} was not written"))
    return max(codes)


def _findings(model: MAPDP, frame: pd.DataFrame, options: argparse.Namespace, codes: list[int]) -> Findings:
    """Return the findings of the reports; names of subtypes that were not found are told, and left out."""
    from clinclust.reporting.checking import unknown_names
    from clinclust.reporting.gathering import gathered_findings

    asked, subtypes = report_asked_for(options), range(1, model.n_clusters_ + 1)
    for problem in unknown_names(asked.names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        codes.append(BAD_INPUT)
    known = {subtype: name for subtype, name in asked.names.items() if subtype in subtypes}
    return gathered_findings(model, frame, replace(asked, names=known))
