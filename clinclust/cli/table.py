"""`clinclust table`: write the subtype table of a paper."""

from __future__ import annotations

import argparse

from clinclust.cli.options import (
    Commands,
    about_table,
    add_model,
    add_names,
    add_table,
    name_problems,
    names_of,
    path_given,
    read_model,
    read_table,
)
from clinclust.cli.outputs import add_overwrite, spare_file, spare_the_inputs
from clinclust.cli.streams import add_quiet, say
from clinclust.errors import InputError

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("table", help="write the subtype table of a paper", description=run.__doc__)
    add_table(parser)
    add_model(parser)
    parser.add_argument(
        "--out",
        type=path_given,
        required=True,
        metavar="FILE",
        help="file to write: .docx, .xlsx, .html, .tex, .md or .csv",
    )
    add_overwrite(parser)
    add_quiet(parser)
    parser.add_argument("--title", help="caption of the table (default: the title of the schema)")
    add_names(parser)
    parser.add_argument(
        "--between", type=int, nargs=2, metavar=("A", "B"), help="p of these two subtypes instead of all at once"
    )
    parser.add_argument("--significant", action="store_true", help="only features whose descriptive p is significant")
    parser.add_argument(
        "--significance-level", type=float, default=0.01, metavar="P", help="of --significant (default: 0.01)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    from clinclust.comparisons import compare_subtypes
    from clinclust.estimators.fitted_cohort import cohort_of
    from clinclust.reporting.subtype_table import subtype_table
    from clinclust.reporting.subtype_table.table import suffix_problems

    spare_the_inputs(options, options.out)
    problems = [*suffix_problems(options.out), *name_problems(options.name)]
    if problems:
        raise InputError("; ".join(problems))
    spare_file(options, options.out)
    model = read_model(options)
    frame = read_table(options)
    with about_table(options):
        frame = cohort_of(model, frame)
    comparisons = compare_subtypes(frame, model.labels_, model.schema_, significance_level=options.significance_level)
    table = subtype_table(
        comparisons,
        names=names_of(options),
        features="significant" if options.significant else None,
        between=tuple(options.between) if options.between else None,
        title=options.title or model.schema_.title or None,
    )
    table.save(options.out)
    say(f"Wrote {options.out}: {len({row.feature for row in table.rows})} features")
    return 0
