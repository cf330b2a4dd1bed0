"""`clinclust check --model`: whether a model fits its cohort, and which lines of the schema would mend it."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING

from clinclust.cli.next_command import next_command
from clinclust.cli.options import about_table, read_model, read_table_of_model
from clinclust.cli.outputs import spare_file, spare_the_inputs
from clinclust.cli.streams import say, tell
from clinclust.control_characters import on_one_line

if TYPE_CHECKING:
    from clinclust.model_check import ModelCheck
    from clinclust.schema import FeatureSchema

__all__ = ["check_fitted"]

_WIDEST = 120


def check_fitted(options: argparse.Namespace) -> int:
    """Print the advice; with ``--out``, write a schema that follows it, and say how to fit with it."""
    from clinclust.estimators.fitted_cohort import cohort_of
    from clinclust.model_check import check_model
    from clinclust.progress import Progress

    spare_the_inputs(options, options.out, suffixes=(".yaml", ".yml"), called="a schema")
    spare_file(options, options.out, "your edits")
    model = read_model(options)
    frame = read_table_of_model(options, model)
    with about_table(options):
        frame = cohort_of(model, frame)
    with Progress(not options.quiet).stage("checking the model"):
        found = check_model(model, frame)
    for line in _lines(found, len(model.schema_.clustered)):
        say(line)
    _mend(options, found, model.schema_)
    return 0


def _lines(found: ModelCheck, n_features: int) -> list[str]:
    n = found.advice["feature"].nunique()
    if not n:
        return [found.summary]
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines = [f"{n} of {n_features} features {'is' if n == 1 else 'are'} not as the model says; what would mend it:"]
    for row in found.advice.to_dict("records"):
        said = on_one_line(f"{row['feature']}: {row['problem']} ({row['evidence']})")
        lines += textwrap.wrap(said, width, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
        line = f"      {row['line']}"  # in one piece, to be copied; one line may mend two problems
        lines += [line] if row["line"] and line not in lines else []
    return lines


def _mend(options: argparse.Namespace, found: ModelCheck, schema: FeatureSchema) -> None:
    """Write the schema that follows the advice, if it is asked for and says anything; say which command is next."""
    n = len(found.mended)
    if options.out is None:
        if n:
            say(f"To write a copy of the schema with {'this line' if n == 1 else 'these lines'}:")
            say(f"next: {next_command('check', options, '--model', options.model, '--out', 'mended.yaml')}")
        return
    if not n:
        tell(f"clinclust: note: there is no line to mend, so that {options.out} was not written")
        return
    found.applied_to(schema).to_yaml(options.out)
    say(f"Wrote {options.out}: a copy of the schema of the model, with {n} line{'' if n == 1 else 's'} changed.")
    say("Read them: follow the advice only where a line says what the column is.")
    folder = options.out.with_name(f"{options.out.stem}-subtypes")
    say(f"next: {next_command('fit', options, '--schema', options.out, '--out', folder)}")
