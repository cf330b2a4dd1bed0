"""`clinclust check`: check a table against a schema, or a fitted model against its table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.next_command import next_command, results_folder
from clinclust.cli.options import (
    Commands,
    about_table,
    add_model_folder,
    add_schema,
    add_table,
    path_given,
    read_schema,
    read_table_of_schema,
)
from clinclust.cli.outputs import add_overwrite
from clinclust.cli.role_options import add_roles, refuse_roles_of_model, say_unused, with_roles_asked
from clinclust.cli.row_options import add_all_rows
from clinclust.cli.streams import add_quiet, say
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drafting.column import Look
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.preparation import Prepared
    from clinclust.schema import FeatureSchema

__all__ = ["add_all", "add_parser", "check_cohort", "run", "say_next"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("check", help="check a table, or whether a model fits it", description=run.__doc__)
    add_table(parser)
    against = parser.add_mutually_exclusive_group(required=True)
    add_schema(against, required=False)
    add_model_folder(against, required=False)
    add_roles(parser)
    add_all(parser)
    of_model = parser.add_argument_group("with --model")
    of_model.add_argument(
        "--out", type=path_given, metavar="SCHEMA", help="file for a copy of the schema that follows the advice"
    )
    add_overwrite(of_model)
    add_all_rows(of_model)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check a table against a schema before a fit, or afterwards whether the model fits its table.

    With --schema: list everything that keeps the table from being fitted, values that do not fit the schema or nothing
    to find; if there is nothing, say what each column is for, how much is missing, and which command is next. With
    --model: say where the model does not describe the table that it was fitted on, and which lines of the schema would
    mend it.
    """
    if options.model is not None:
        from clinclust.cli.check_of_model import check_fitted

        refuse_roles_of_model(options)
        return check_fitted(options)
    _refuse_options_of_models(options)
    schema = read_schema(options)
    table = read_table_of_schema(options, schema)
    schema = with_roles_asked(options, schema, table)
    check_cohort(options, schema, table, options.schema)
    say_next(options, options.schema)
    return 0


def check_cohort(
    options: argparse.Namespace,
    schema: FeatureSchema,
    table: pd.DataFrame,
    path: Path,
    looks: Sequence[Look] | None = None,
) -> Prepared:
    """Check a table as a fit does before it searches, with the same verdict in the same words, and say what it holds.

    What a draft left to be decided is told as `looks`; without it, the columns are looked at again.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    InputError
        If there is nothing to find in it.
    """
    from clinclust.cli.check_report import check_lines, looks_at_table
    from clinclust.estimators.preparation import prepared
    from clinclust.progress import Progress

    progress = Progress(not getattr(options, "quiet", False))
    with about_table(options), progress.stage("checking values"):
        validated = schema.validate(table, warn=False)  # `prepared` gives the warnings
    model = _model_of_next(options, schema)
    cohort = prepared(model, validated, stacklevel=1)
    if looks is None:
        with progress.stage("comparing columns"):
            looks = looks_at_table(cohort, table)
    names = (str(options.table), str(path))
    say_unused(schema)
    for line in check_lines(cohort, table, names=names, looks=looks, is_all=options.all):
        say(line)
    say(f"{_duration(options, cohort, model)}.")
    return cohort


def add_all(parser: argparse.ArgumentParser) -> None:
    """Add the option to be told everything."""
    parser.add_argument("--all", action="store_true", help="tell all that could be decided, and not one screen of it")


def _refuse_options_of_models(options: argparse.Namespace) -> None:
    given = {"--out": options.out is not None, "--overwrite": options.overwrite, "--all-rows": options.all_rows}
    named = [name for name, is_given in given.items() if is_given]
    if named:
        raise InputError(f"{', '.join(named)} can be used only together with --model")


def _has_search_options(options: argparse.Namespace) -> bool:
    """Return whether the command goes on to the search itself; else the next command does, with options of its own."""
    return hasattr(options, "restarts")


def _model_of_next(options: argparse.Namespace, schema: FeatureSchema) -> MAPDP:
    """Return the estimator of the search that comes next: that of the options, or the default one."""
    from clinclust.cli.search_options import model_asked_for
    from clinclust.estimators.mapdp import MAPDP

    return model_asked_for(options, schema) if _has_search_options(options) else MAPDP(schema)


def _duration(options: argparse.Namespace, cohort: Prepared, model: MAPDP) -> str:
    from clinclust.estimators.duration import duration_sentence

    if not _has_search_options(options):
        return duration_sentence(cohort.problem, model, options="default options")
    return duration_sentence(cohort.problem, model, associations=options.associations, stability=options.stability)


def say_next(options: argparse.Namespace, schema: Path) -> None:
    """Say which command finds the subtypes of the table."""
    folder, adders = Path(results_folder(options.table).name), (add_table, add_roles)
    say(f"next: {next_command('fit', options, '--schema', schema, '--out', folder, adders=adders)}")
