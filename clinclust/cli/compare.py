"""`clinclust compare`: other methods of clustering beside a fit."""

from __future__ import annotations

import argparse

from clinclust.cli.options import (
    Commands,
    about_table,
    add_model,
    add_table,
    path_given,
    read_model,
    read_table_of_model,
    whole_number,
)
from clinclust.cli.outputs import add_overwrite, spare_file, spare_the_inputs
from clinclust.cli.sharing import AS_THE_FIT, add_suppress, refuse_to_share, say_what_is_withheld
from clinclust.cli.streams import add_quiet, say
from clinclust.errors import InputError

__all__ = ["add_parser", "run"]

_DEFAULTS = {"resamples": 10, "draws": 50}


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "compare", help="other methods of clustering beside a fit: why not K-means?", description=run.__doc__
    )
    add_table(parser)
    add_model(parser)
    parser.add_argument("--out", type=path_given, metavar="FILE", help="table to write: .csv (default: only say it)")
    add_overwrite(parser)
    add_quiet(parser)
    parser.add_argument(
        "--method",
        action="append",
        metavar="NAME",
        help='a method to run, as "Latent classes, K by BIC"; may be repeated (default: all)',
    )
    parser.add_argument(
        "--resamples", type=whole_number, default=_DEFAULTS["resamples"], help="half-samples (default: 10)"
    )
    parser.add_argument(
        "--draws", type=whole_number, default=_DEFAULTS["draws"], help="draws of one population (default: 50)"
    )
    parser.add_argument("--seed", type=whole_number, default=0, help="of starts, samples and draws (default: 0)")
    add_suppress(parser, f"nothing of the comparison can be shared, so it is refused; {AS_THE_FIT}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Cluster the cohort of a fit by K-means, mixtures, latent classes and others, and say of each what it found.

    For each method: the number of its clusters, how many of them are told from one continuum, how well they predict
    subjects held out, how half-samples agree, and how far they agree with the subtypes of the fit. A method whose
    package is not installed is left out, with the line that installs it.
    """
    from clinclust.estimators.fitted_cohort import cohort_of
    from clinclust.method_comparison import compare_methods
    from clinclust.reporting.assignments import write_inert_csv

    spare_the_inputs(options, options.out, suffixes=(".csv",), called="a table of methods")
    spare_file(options, options.out)
    if options.seed < 0:
        raise InputError(f"--seed must be at least 0, not {options.seed}")
    refuse_to_share(options, "compare")
    model = read_model(options)
    frame = read_table_of_model(options, model)
    with about_table(options):
        cohort = cohort_of(model, frame)
    found = compare_methods(
        cohort,
        model.schema_,
        model=model,
        methods=options.method,
        n_resamples=options.resamples,
        n_draws=options.draws,
        random_state=options.seed,
    )
    for line in found.summary.split("\n"):
        say(line)
    if options.out is not None:
        write_inert_csv(found.table, options.out)
        say(f"Wrote {options.out}: {len(found.table)} methods")
    say_what_is_withheld(options)
    return 0
