"""Find the subtypes of a cohort, and write the folder of results."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.failures import BAD_INPUT, tell_failure
from clinclust.cli.found import say_dominant, say_found
from clinclust.cli.held_interrupts import interrupts_held
from clinclust.cli.next_command import next_command
from clinclust.cli.options import add_jobs, add_table
from clinclust.cli.outputs import FILES_OF_A_FIT, FILES_OF_A_MODEL, REPORTS, SHARING
from clinclust.cli.report_files import reports_placed
from clinclust.cli.report_options import (
    add_report,
    report_asked_for,
    report_problems,
    size_problems,
)
from clinclust.cli.role_options import say_unused
from clinclust.cli.search_options import model_asked_for, number_asked_for, search_problems
from clinclust.cli.sharing import record_sharing, sharing_in_words
from clinclust.cli.streams import say, tell
from clinclust.errors import InputError
from clinclust.files.writing import MANIFEST

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.findings import Findings
    from clinclust.schema import FeatureSchema

__all__ = ["check_options", "say_what_to_share", "write_results"]

_NOT_WRITTEN = f"{' and '.join(REPORTS)} were not written"


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


def write_results(options: argparse.Namespace, schema: FeatureSchema, frame: pd.DataFrame, table: pd.DataFrame) -> int:
    """Find the subtypes, write the folder ``options.out``, say what was found, and return the exit code.

    Parameters
    ----------
    options : argparse.Namespace
        `check_options` has checked them.
    schema : FeatureSchema
    frame : DataFrame
        The validated cohort.
    table : DataFrame
        The same rows with the columns that the schema ignores.
    """
    from clinclust.comparisons.cohort_columns import ignored_columns
    from clinclust.comparisons.dominance import dominant_in

    problems = size_problems(options, len(frame))
    if problems:
        raise InputError("; ".join(problems))
    is_saved = False
    try:
        with interrupts_held() as hold_interrupts:
            model, code_of_number = _written_model(options, model_asked_for(options, schema), frame, hold_interrupts)
            is_saved = True
        dominant = dominant_in(model, frame, ignored_columns(table, frame))
        reports, code = _reports_beside_model(options, model, frame, dominant)
    except KeyboardInterrupt:
        if is_saved:
            _tell_how_to_go_on(options)
        raise
    say_unused(schema)
    say_found(model, number_asked_for(options))
    say_dominant(options, schema, dominant)
    recorded = [] if options.suppress is None else [SHARING]
    say(f"Wrote {options.out}: {', '.join([*reports, *FILES_OF_A_MODEL, *recorded, MANIFEST])}")
    if reports:
        say_what_to_share(options, options.out)
    return max(code, code_of_number)


def _written_model(
    options: argparse.Namespace, model: MAPDP, frame: pd.DataFrame, hold_interrupts: Callable[[], None]
) -> tuple[MAPDP, int]:
    """Fit the model, and write it and its assignments to the folder; no earlier file stays beside them.

    The folder is written before the reports are made, which takes minutes for some cohorts: whatever stops them then
    costs no search. It is tried before the search whether the folder can be written.

    Returns
    -------
    model : MAPDP
        The fitted model.
    code : int
        The exit code; not 0 if the search found fewer subtypes than were asked for.
    """
    from clinclust.files.writing import write_manifest, write_together
    from clinclust.reporting.assignments import assignments_of, write_inert_csv

    with write_together(options.out, replacing=FILES_OF_A_FIT, last=MANIFEST) as folder:
        fitted, code = _fitted(options, model, frame)
        hold_interrupts()
        fitted.save(folder)
        write_inert_csv(assignments_of(fitted, frame), folder / "assignments.csv")
        write_manifest(folder, [*FILES_OF_A_MODEL, *record_sharing(options, folder)])
    return fitted, code


def _fitted(options: argparse.Namespace, model: MAPDP, frame: pd.DataFrame) -> tuple[MAPDP, int]:
    """Return the fitted model and an exit code. A search that found too few subtypes is told, and not lost."""
    from clinclust.estimators.cut import refuse_more_than_subjects

    asked = model.n_clusters
    if not isinstance(asked, int):
        return model.fit(frame), 0
    refuse_more_than_subjects(asked, len(frame))
    found = model.set_params(n_clusters=None).fit(frame)
    try:
        return found.cut(asked, min_size=found.min_size), 0
    except InputError as error:
        return found, tell_failure(error, options, f"the results show {_the_search(found)} (K = {found.n_clusters_})")


def _the_search(found: MAPDP) -> str:
    merged = found.n_clusters_ < found.subtype_of_.size
    return "the search with its small groups merged" if merged else "the search as it is"


def _tell_how_to_go_on(options: argparse.Namespace) -> None:
    """Say after an interruption that the search is not lost, and the command that makes the reports."""
    command = next_command("report", options, "--model", options.out, adders=(add_table, add_report, add_jobs))
    tell(
        f"clinclust: the search had ended: {options.out} is whole, with the model in it; "
        f"make the reports with: {command}"
    )


def say_what_to_share(options: argparse.Namespace, folder: Path) -> None:
    """Say which files of a folder may be passed on, if counts are withheld, and which must not leave the house."""
    if options.suppress is None:
        return
    say(f"For sharing: {' and '.join(REPORTS)} only.")
    kept = [name for name in FILES_OF_A_MODEL if (folder / name).exists()]
    if kept:
        say(
            f"Not for sharing: {', '.join(kept)} (one row for each subject) and {MANIFEST} (their checksums). "
            f"`clinclust report TABLE --model {folder} {sharing_in_words(options)} --out DIR` writes the reports to "
            "a folder of their own."
        )


def _reports_beside_model(
    options: argparse.Namespace, model: MAPDP, frame: pd.DataFrame, dominant: pd.DataFrame
) -> tuple[list[str], int]:
    """Write the reports to the folder of the model; return the names of those written, and the exit code."""
    try:
        with reports_placed(options.out) as folder:
            code = _write_reports(options, model, frame, dominant, folder)
            written = [name for name in REPORTS if (folder / name).exists()]
    except Exception as error:
        return [], tell_failure(error, options, _NOT_WRITTEN)
    return written, code


def _write_reports(
    options: argparse.Namespace, model: MAPDP, frame: pd.DataFrame, dominant: pd.DataFrame, folder: Path
) -> int:
    """Write the reports to a folder, print what could not be written, and return the exit code.

    If one report fails, the other is still written.
    """
    from clinclust.progress import Progress
    from clinclust.reporting.writing import write_findings

    codes = [0]
    try:
        findings = _findings(model, frame, options, dominant, codes)
    except Exception as error:
        return max(*codes, tell_failure(error, options, _NOT_WRITTEN))
    for name in REPORTS:
        try:
            write_findings(findings, folder / name, progress=Progress(not options.quiet))
        except Exception as error:
            codes.append(tell_failure(error, options, f"{name} was not written"))
    return max(codes)


def _findings(
    model: MAPDP, frame: pd.DataFrame, options: argparse.Namespace, dominant: pd.DataFrame, codes: list[int]
) -> Findings:
    """Return the findings of the reports; names of subtypes that were not found are told, and left out."""
    from clinclust.reporting.options import unknown_names
    from clinclust.reporting.writing import gathered_findings

    asked, subtypes = report_asked_for(options), range(1, model.n_clusters_ + 1)
    for problem in unknown_names(asked.names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        codes.append(BAD_INPUT)
    known = {subtype: name for subtype, name in asked.names.items() if subtype in subtypes}
    findings = gathered_findings(model, frame, replace(asked, names=known), dominant=dominant)
    return replace(findings, n_asked=number_asked_for(options))
