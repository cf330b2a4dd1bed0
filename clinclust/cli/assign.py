"""`clinclust assign`: assign new subjects to subtypes."""

from __future__ import annotations

import argparse
import io
import warnings

from clinclust.cli.options import (
    Commands,
    about_table,
    add_model,
    add_table,
    path_given,
    read_table,
    spare_the_inputs,
)
from clinclust.cli.streams import say, write_data
from clinclust.errors import CohortWarning

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("assign", help="assign new subjects to subtypes", description=run.__doc__)
    add_table(parser)
    add_model(parser)
    parser.add_argument("--out", type=path_given, metavar="CSV", help="file to write (default: standard output)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Give each subject of a table its most probable subtype; 0 means none of these.

    Rows without identifier, with the identifier of another row, or without any observed value are assigned and told.
    """
    import numpy as np

    from clinclust.estimators.mapdp import MAPDP, NONE_OF_THESE
    from clinclust.estimators.new_subjects import notes_on_new_subjects
    from clinclust.reporting.assignments import assignment_table, write_assignments

    spare_the_inputs(options, options.out, suffixes=(".csv", ".txt"), called="a table of assignments")
    model = MAPDP.load(options.model)
    frame = read_table(options)
    with about_table(options):
        probabilities = model.predict_proba(frame)
    for note in notes_on_new_subjects(model, frame):
        warnings.warn(f"{options.table}: {note}", CohortWarning, stacklevel=2)
    labels = probabilities.argmax(axis=1)
    labels = np.where(labels == model.n_clusters_, NONE_OF_THESE, labels)
    table = assignment_table(frame, model.schema_, labels, probabilities[:, :-1], probabilities[:, -1])
    if options.out is None:
        written = io.StringIO()
        write_assignments(table, written)
        write_data(written.getvalue())
    else:
        write_assignments(table, options.out)
        say(f"Wrote {options.out}: {len(table)} subjects")
    return 0
