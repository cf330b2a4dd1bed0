"""`clinclust impute`: the table of a fit with its missing values drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clinclust.cli.inputs import ModelOptions, about_table, read_model, read_table_of_model
from clinclust.cli.options import Commands, add_command, option, path_given, whole_number
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.streams import say
from clinclust.errors import refuse


@dataclass(kw_only=True)
class _Options(ModelOptions, OutputOptions):
    out: Path = option("table to write: .csv, .xlsx or .parquet", type=path_given, required=True, metavar="FILE")
    tables: int = option(
        "number of completed tables, one below the other; 20 for standard errors (default: 1)",
        1,
        type=whole_number,
        metavar="M",
    )
    seed: int = option("seed of the draws (default: 0)", 0, type=whole_number)


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "impute", "the table with its missing values drawn", run, _Options)


def run(options: _Options) -> int:
    """Write the table of a fit with each missing value drawn, given what else is observed of the subject.

    Columns that the schema clusters on or describes are filled; others stay as they are. One table is enough to look
    at. Its analyses would count drawn values as observed: for standard errors draw 20 tables, analyse each, and pool
    the results by Rubin's rules (`pool_estimates` in Python, `pool` of mice in R).
    """
    from clinclust.reporting.completed_table import (
        SUFFIXES,
        completed_table,
        filled_cells,
        problems_of_file,
        write_completed,
    )
    from clinclust.reporting.words import counted

    least = {"--tables": (options.tables, 1), "--seed": (options.seed, 0)}
    refuse([f"{name} must be at least {most}, not {given}" for name, (given, most) in least.items() if given < most])
    spare_file(options, SUFFIXES, called="a completed table")
    model = read_model(options)
    frame = read_table_of_model(options, model)
    refuse(problems_of_file(options.out, len(frame) * options.tables))
    with about_table(options):
        tables = model.multiple_imputations(frame, options.tables, random_state=options.seed)
        completed = completed_table(frame, model.schema_, tables)
        counts = filled_cells(frame, model.schema_, tables)
    write_completed(completed, counts, options.out)
    n_cells, n_columns = int(counts["filled"].sum()), len(counts)
    each = f" in each of {options.tables} tables" if options.tables > 1 else ""
    say(f"Wrote {options.out}: {len(frame)} rows, {n_cells:,} cells of {counted(n_columns, 'column')} filled{each}")
    return 0
