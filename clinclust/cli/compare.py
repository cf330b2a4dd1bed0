"""`clinclust compare`: other methods of clustering on the cohort of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clinclust.cli.inputs import ModelOptions, read_cohort_of_model, read_model
from clinclust.cli.options import Commands, add_command, option, path_given, whole_number
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.sharing import SuppressOptions, refuse_to_share, say_what_is_withheld
from clinclust.cli.streams import say
from clinclust.errors import InputError


@dataclass(kw_only=True)
class _Options(SuppressOptions, ModelOptions, OutputOptions):
    out: Path | None = option("table to write: .csv (default: only say it)", type=path_given, metavar="FILE")
    method: tuple[str, ...] = option(
        'a method to run, as "Latent classes, K by BIC"; may be repeated (default: all)',
        (),
        action="append",
        metavar="NAME",
        parameter="methods",
    )
    resamples: int = option("half-samples (default: 10)", 10, type=whole_number, parameter="n_resamples")
    draws: int = option("draws of one population (default: 50)", 50, type=whole_number, parameter="n_draws")
    seed: int = option("of starts, samples and draws (default: 0)", 0, type=whole_number, parameter="random_state")


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "compare", "other methods of clustering compared with a fit: why not K-means?", run, _Options)


def run(options: _Options) -> int:
    """Cluster the cohort of a fit by K-means, mixtures, latent classes and other methods.

    For each method: the number of clusters, how many are distinct, how well they predict subjects held out, how far
    half-samples agree, and the agreement with the subtypes of the fit. A method whose package is missing is left out.
    """
    from clinclust.methods.compare import compare_methods
    from clinclust.reporting.assignments import write_inert_csv

    spare_file(options, (".csv",), called="a table of methods")
    if options.seed < 0:
        raise InputError(f"--seed must be at least 0, not {options.seed}")
    options = refuse_to_share(options, options.model, "compare")
    model = read_model(options)
    _, cohort = read_cohort_of_model(options, model)
    found = compare_methods(
        cohort,
        model.schema_,
        model=model,
        methods=options.method or None,
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
