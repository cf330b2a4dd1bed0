"""The option of `clinclust assign` that compares the new subjects with the cohort of the fit."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clinclust.cli.options import about_table, path_given, read_table_of_model
from clinclust.cli.row_options import forget_rows
from clinclust.cli.streams import say, tell

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drift import Drift
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["add_cohort", "drift_asked_for", "say_drift"]


def add_cohort(parser: argparse.ArgumentParser) -> None:
    """Add the option of the cohort."""
    parser.add_argument(
        "--cohort",
        type=path_given,
        metavar="TABLE",
        help="table of the fit, read with the same options but with the rows of the fit: say whether the new subjects "
        "differ from it in subtypes, missing values and distributions",
    )


def drift_asked_for(options: argparse.Namespace, model: MAPDP, new: pd.DataFrame) -> Drift | None:
    """Return how the new subjects differ from the cohort; None without ``--cohort``.

    Raises
    ------
    InputError
        If the cohort is not that of the fit, or the new subjects are the cohort.
    """
    if options.cohort is None:
        return None
    from clinclust.drift import assess_drift

    of_cohort = _options_of_cohort(options)
    frame = read_table_of_model(of_cohort, model)
    with about_table(of_cohort):
        return assess_drift(model, frame, new)


def say_drift(options: argparse.Namespace, drift: Drift) -> None:
    """Say what was found: on standard output, or on standard error if standard output holds the assignments."""
    lines = drift.summary.split("\n")
    if options.out is not None:
        for line in lines:
            say(line)
    elif not options.quiet:
        tell("\n".join([f"clinclust: {lines[0]}", *lines[1:]]))


def _options_of_cohort(options: argparse.Namespace) -> argparse.Namespace:
    """Return the options with which the cohort is read: its rows and columns are those of the fit."""
    plain = {"table": options.cohort, "only": None, "drop": None, "all_rows": False}
    return argparse.Namespace(**{**vars(forget_rows(options)), **plain})
