"""`clinclust validate`: whether the subtypes of a fit are found again in another cohort."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from clinclust.cli.inputs import ModelOptions, RowOptions, about_table, read_model, read_new_table, read_table_of_model
from clinclust.cli.options import Commands, add_command, option, path_given, without
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.sharing import SuppressOptions, refuse_to_share, say_what_is_withheld
from clinclust.cli.streams import say


@dataclass(kw_only=True)
class _Options(SuppressOptions, ModelOptions, OutputOptions):
    cohort: Path = option(
        "table of the fit, read with the same options but with the rows of the fit",
        type=path_given,
        required=True,
        metavar="TABLE",
    )
    out: Path | None = option("page (.html) or table (.csv) to write", type=path_given, metavar="FILE")


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "validate", "are the subtypes found again in another cohort?", run, _Options)


def run(options: _Options) -> int:
    """Look for the subtypes of a fit in another cohort.

    Its subjects are assigned by the model, and clustered again by the same procedure: a subtype is found again if
    mostly the same subjects come together. Sizes and profiles are compared.
    """
    from clinclust.reporting.assignments import write_inert_csv
    from clinclust.reporting.page.page import write_page
    from clinclust.reporting.sheets.validation import validation_sheet
    from clinclust.stability import validate_subtypes

    spare_file(options, (".html", ".csv"), called="a page or a table")
    options = refuse_to_share(options, options.model, "validate")
    model = read_model(options)
    other = read_new_table(options, model)
    of_cohort = replace(without(options, RowOptions), table=options.cohort, only=(), drop=(), all_rows=False)
    frame = read_table_of_model(of_cohort, model)
    with about_table(options):
        found = validate_subtypes(model, frame, other, progress=not options.quiet)
    for line in found.summary.split("\n"):
        say(line)
    if options.out is not None:
        if options.out.suffix.lower() == ".csv":
            write_inert_csv(found.subtypes, options.out)
        else:
            write_page(
                [validation_sheet(found)], options.out, title=model.schema_.title or "Subtypes in another cohort"
            )
        say(f"Wrote {options.out}")
    say_what_is_withheld(options)
    return 0
