"""`clinclust fit`: find subtypes and write model, assignments and reports."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.failures import BAD_INPUT, tell_failure
from clinclust.cli.options import (
    FILES_OF_A_FIT,
    Commands,
    about_table,
    add_names,
    add_schema,
    add_table,
    name_problems,
    names_of,
    number_or,
    path_given,
    read_schema,
    read_table,
    spare_the_inputs,
)
from clinclust.cli.streams import say, tell
from clinclust.errors import InputError
from clinclust.progress import Progress, stages_told

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.options import ReportOptions

__all__ = ["add_parser", "run"]

_REPORTS = ("subtypes.xlsx", "subtypes.html")


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("fit", help="find subtypes and write the report", description=run.__doc__)
    add_table(parser)
    add_schema(parser)
    parser.add_argument(
        "--out", type=path_given, required=True, metavar="DIR", help="folder for model, assignments and report"
    )
    _add_search(parser)
    _add_report(parser)
    parser.set_defaults(run=run)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--concentration",
        type=number_or(("map", "cross-validation")),
        default=3.0,
        metavar="N0",
        help="prior count of a new subtype, 'map' or 'cross-validation' (default: 3)",
    )
    parser.add_argument(
        "--hyperparameters",
        choices=("empirical", "greedy"),
        help="estimate the other hyperparameters (default: weak priors set from the data)",
    )
    parser.add_argument(
        "--coarsening",
        type=number_or(("auto",)),
        default=1.0,
        metavar="POWER",
        help="power of the likelihood, or 'auto' where features depend on each other inside subtypes (default: 1)",
    )
    parser.add_argument(
        "--block-powers",
        choices=("auto", "none"),
        default="auto",
        help="count the features of a block of the schema for what they hold beside each other (auto), or each in full "
        "(none) (default: auto)",
    )
    parser.add_argument(
        "--select-features", action="store_true", help="leave out features that do not differ between subtypes"
    )
    parser.add_argument("--restarts", type=int, default=10, metavar="R", help="starts of the search (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the search, printed in the report (default: 0)")
    parser.add_argument("--jobs", type=int, metavar="J", help="threads (default: one for each processor)")


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--min-size", type=int, default=3, metavar="N", help="smallest subtype that is tested (default: 3)"
    )
    parser.add_argument(
        "--significance-level", type=float, default=0.01, metavar="P", help="of the pairwise tests (default: 0.01)"
    )
    parser.add_argument(
        "--associations",
        choices=("refit", "cross-fit", "none"),
        default="refit",
        help="how each feature is tested against subtypes that it did not form: one more search without it (refit), "
        "fewer searches and less power (cross-fit), or not at all (default: refit)",
    )
    add_names(parser)
    parser.add_argument(
        "--suppress",
        type=int,
        nargs="?",
        const=10,
        metavar="N",
        help="make reports that can be shared: counts below N (10) withheld, and nothing about single subjects",
    )


def run(options: argparse.Namespace) -> int:
    """Find the subtypes and write the model, the assignments, two reports, and a manifest of these files."""
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.files.manifest import MANIFEST, write_manifest
    from clinclust.files.writing import write_together
    from clinclust.reporting.assignments import assignment_table, write_assignments

    _check(options)
    spare_the_inputs(options, *(options.out / name for name in FILES_OF_A_FIT))
    schema = read_schema(options)
    frame = read_table(options)
    with about_table(options):
        frame = schema.validate(frame, warn=False)  # `MAPDP.fit` gives the warnings
    if options.suppress is not None and len(frame) < options.suppress:
        raise InputError(f"--suppress {options.suppress} withholds everything of {len(frame)} subjects")
    model = MAPDP(
        schema,
        concentration=options.concentration,
        hyperparameters=options.hyperparameters,
        coarsening=options.coarsening,
        block_powers=None if options.block_powers == "none" else options.block_powers,
        select_features=options.select_features,
        n_restarts=options.restarts,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    # A folder that mixes files of two runs would mislead, so the files of this run replace all files of an earlier run.
    in_lines = nullcontext() if sys.stderr.isatty() else stages_told(lambda line: tell(f"clinclust: {line}"))
    with in_lines, write_together(options.out, replacing=FILES_OF_A_FIT, last=MANIFEST) as folder:
        model.fit(frame)
        model.save(folder)
        write_assignments(assignment_table(frame, schema, model.labels_, model.membership_), folder / "assignments.csv")
        code = _write_reports(model, frame, folder, options)
        written = [name for name in FILES_OF_A_FIT if name != MANIFEST and (folder / name).exists()]
        write_manifest(folder, written)
    sizes = ", ".join(f"{size} ({size / len(frame):.1%})" for size in model.cluster_sizes_)
    say(f"{model.n_clusters_} subtype{'' if model.n_clusters_ == 1 else 's'} among {len(frame)} subjects: {sizes}")
    say(f"Wrote {options.out}: {', '.join([*written, MANIFEST])}")
    if options.suppress is not None and set(_REPORTS) & set(written):
        say("For sharing: subtypes.xlsx and subtypes.html only. The other files hold one row for each subject.")
    return code


def _check(options: argparse.Namespace) -> None:
    """Check the options of the reports.

    Raises
    ------
    ValueError
        If an option cannot be used. The message lists all problems.
    """
    problems = _asked_of_reports(options).problems(prefix="--")
    problems += name_problems(options.name)
    if problems:
        raise InputError("; ".join(problems))


def _asked_of_reports(options: argparse.Namespace) -> ReportOptions:
    from clinclust.reporting.options import ReportOptions

    return ReportOptions(
        associations=None if options.associations == "none" else options.associations,
        min_size=options.min_size,
        significance_level=options.significance_level,
        suppress=options.suppress,
        n_jobs=options.jobs,
    )


def _write_reports(model: MAPDP, frame: pd.DataFrame, folder: Path, options: argparse.Namespace) -> int:
    """Write the reports to a folder, print what could not be written, and return the exit code.

    If one report fails, the model and the other report are still written, because the search may have taken hours.
    """
    from clinclust.reporting.checking import unknown_names
    from clinclust.reporting.gathering import gathered_findings
    from clinclust.reporting.writing import write_findings

    names, subtypes = names_of(options), range(1, model.n_clusters_ + 1)
    codes = [0]
    for problem in unknown_names(names, subtypes, called="--name"):
        tell(f"clinclust: {problem}; the reports leave this name out")
        codes.append(BAD_INPUT)
    try:
        known = {subtype: name for subtype, name in names.items() if subtype in subtypes}
        findings = gathered_findings(model, frame, replace(_asked_of_reports(options), names=known))
    except Exception as error:
        return max(*codes, tell_failure(error, options, f"{' and '.join(_REPORTS)} were not written"))
    for name in _REPORTS:
        try:
            write_findings(findings, folder / name, progress=Progress())
        except Exception as error:
            codes.append(tell_failure(error, options, f"{name} was not written"))
    return max(codes)
