"""`clinclust schemas`: ready schemas of instruments."""

from __future__ import annotations

from dataclasses import dataclass

from clinclust.cli.options import Command, Commands, add_command, option
from clinclust.cli.streams import say, write_data


@dataclass(kw_only=True)
class _Options(Command):
    instrument: str | None = option("instrument to print (default: list all)", positional=True, nargs="?")


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "schemas", "list or print ready schemas of instruments", run, _Options)


def run(options: _Options) -> int:
    """List the instruments with a ready schema, or print one as YAML, to be put among the features of your own."""
    from clinclust.schema import FeatureSchema
    from clinclust.schema.instruments import instruments, schema_of_instrument

    if options.instrument is not None:
        write_data(schema_of_instrument(options.instrument))
        return 0
    for name in instruments():
        schema = FeatureSchema.from_yaml(schema_of_instrument(name))
        say(f"{name}: {schema.title} ({len(schema)} columns)")
    say("print one: clinclust schemas NAME")
    return 0
