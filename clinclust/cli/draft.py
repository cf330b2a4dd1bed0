"""`clinclust draft`: propose a feature schema for a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from clinclust.cli.check import CheckedOptions, check_cohort, say_next
from clinclust.cli.failures import sentence_of
from clinclust.cli.inputs import (
    DictionaryOptions,
    RowOptions,
    TableOptions,
    about_table,
    check_dictionary,
    note_dictionary,
    read_table,
)
from clinclust.cli.options import Commands, add_command, in_options, next_command, without
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.partitions import naming_files, refuse_options, table_in_partitions
from clinclust.cli.roles import RoleOptions, roles_asked_for, say_unused
from clinclust.cli.streams import say, write_data
from clinclust.cli.summary import SummaryOptions, note, record, refuse_output
from clinclust.errors import InputError
from clinclust.files.parquet_partitions import is_in_partitions

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drafting.partitions import Draft
    from clinclust.schema import Feature, FeatureSchema


@dataclass(kw_only=True)
class DraftedOptions(CheckedOptions, DictionaryOptions):
    """The options of a command that drafts a schema."""


@dataclass(kw_only=True)
class _Options(DraftedOptions, OutputOptions, SummaryOptions):
    """The options of the command."""


Given = TypeVar("Given", bound=DraftedOptions)


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "draft", "propose a feature schema for a table", run, _Options)


def run(options: _Options) -> int:
    """Propose a likelihood for every column, with the reason; read and edit the result.

    The schema records the choice of rows for later commands. With --out, the table is then checked against it.
    """
    from clinclust.cli.check_report import looks_at_draft

    refuse_output(options, options.out)
    spare_file(options, (".yaml", ".yml"), called="a schema", holds="your edits")
    check_dictionary(options)
    roles_asked_for(options)  # raises what is wrong with them before anything is read
    schema, (frame, n_rows), refused = _draft(options)
    if refused is not None:
        note(f"the proposal refuses some rows, so edit it or them: {sentence_of(refused)}")
    if options.out is None:
        write_data(schema.to_yaml())
        return 0
    schema.to_yaml(options.out)
    path, options = options.out, said_by_schema(options)
    record(schema=str(path), columns=[_column(feature, schema.comments) for feature in schema])
    say(f"Wrote {path}: {len(schema)} columns. Read it through; it is a proposal.")
    if refused is not None:
        _say_next_check(options, schema)
        return 0
    try:
        check_cohort(options, schema, frame, path, looks_at_draft(schema), n_rows)
    except InputError as error:  # that there is nothing to find under a proposal is no failure of drafting
        note(f"the proposal finds nothing: {sentence_of(error)}")
        _say_next_check(options, schema)
    else:
        say_next(options, path)
    return 0


def _draft(options: _Options) -> Draft:
    from clinclust.drafting.partitions import Draft, draft_of_partitions
    from clinclust.schema.partitions import Sampled

    if not is_in_partitions(options.table):
        frame = read_table(options)
        return Draft(drafted_schema(options, frame), Sampled(frame, len(frame)), None)
    refuse_options(options, roles=False)
    with table_in_partitions(options.table) as (table, parts):
        found = draft_of_partitions(table, partial(_schema_of, options), progress=not options.quiet)
    return found if found.refused is None else found._replace(refused=naming_files(found.refused, options.table, parts))


def _say_next_check(options: _Options, schema: FeatureSchema) -> None:
    say_unused(schema)
    command = next_command("check", options, "--schema", str(options.out), repeated=(TableOptions,))
    say(f"next, after editing {options.out}: {command}")


def _column(feature: Feature, comments: Mapping[str, str]) -> dict[str, str | None]:
    about = {"column": feature.name, "role": feature.role, "likelihood": feature.likelihood}
    return {**about, "comment": comments.get(feature.name)}


def drafted_schema(options: DraftedOptions, table: pd.DataFrame) -> FeatureSchema:
    """Return the schema drafted for a table, with the dictionary and the roles of the options."""
    with about_table(options):
        return _schema_of(options, table)


def _schema_of(options: DraftedOptions, table: pd.DataFrame) -> FeatureSchema:
    from clinclust.drafting import draft_schema

    note_dictionary(options, table)
    schema = draft_schema(table, roles=roles_asked_for(options), progress=not options.quiet)
    schema.comments.update({name: in_options(comment) for name, comment in schema.comments.items()})
    return schema


def said_by_schema(options: Given) -> Given:
    """Return the options without rows and roles, which the drafted schema has."""
    return without(options, RowOptions, RoleOptions)
