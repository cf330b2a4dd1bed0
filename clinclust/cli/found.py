"""What a command says of the subtypes that it found."""

from __future__ import annotations

import argparse
from numbers import Integral
from typing import TYPE_CHECKING

from clinclust.cli.next_command import next_command
from clinclust.cli.options import add_schema, add_table
from clinclust.cli.report_options import add_report
from clinclust.cli.role_options import add_roles, without_roles_of
from clinclust.cli.search_options import add_search
from clinclust.cli.streams import say

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_tree import TreeTest
    from clinclust.schema import FeatureSchema

__all__ = ["say_dominant", "say_found"]


def say_found(model: MAPDP, n_asked: int | None = None) -> None:
    """Say how many subtypes a fitted model has, their sizes, and what the test of its tree says of them.

    `n_asked` is the number that was asked for; it is told where the search found fewer.
    """
    from clinclust.estimators.few_subjects import MEANING_OF_MARKS, n_standing
    from clinclust.reporting.layout import percent

    n_subjects, n_subtypes, n_groups = model.labels_.size, model.n_clusters_, model.subtype_of_.size
    marks = model.fit_.remarks_
    sizes = ", ".join(
        f"{size} ({'; '.join([f'{percent(int(size), n_subjects):.1f}%', *of_one])})"
        for size, of_one in zip(model.cluster_sizes_, marks, strict=True)
    )
    found = f"{n_subtypes} subtype{'' if n_subtypes == 1 else 's'}"
    asked = f" ({n_asked} were asked for)" if n_asked is not None and n_asked > n_subtypes else ""
    say(f"{found}{asked} among {n_subjects} subjects: {sizes}{_few(model)}")
    if any(marks):
        say(f"{MEANING_OF_MARKS} Such subtypes may be noise; without them: {n_standing(model.subtypes_)}.")
    n_before = _n_before_the_floor(model)
    if n_before > n_subtypes:
        say(
            f"{n_before - n_subtypes} fewer than without --min-size: groups of fewer than {model.min_size_} subjects "
            "were merged where they were hardly distinct from another."
        )
    test = model.fit_.tree_test_
    if test is None or test.joins.empty:
        return
    if n_subtypes == 1:
        say(
            f"Tested: the cohort looks like one continuum; the {n_groups} groups that the search told apart were not "
            "shown to be more than slices of it."
        )
    else:
        finer = f"; the {n_groups} finer groups of the search were not shown to be" if n_groups > n_subtypes else ""
        say(f"Tested: these are more than one continuum{finer}.{_skewed(test)}")


def say_dominant(options: argparse.Namespace, schema: FeatureSchema, dominant: pd.DataFrame) -> None:
    """Say which columns nearly are the partition, with the command that fits without each, or in a part of it."""
    from clinclust.reporting.sheets.cautions import SHOWN, in_words, refit_options

    rows_are_chosen = bool(schema.rows) or options.where is not None
    adders = (add_table, add_schema, add_roles, add_search, add_report)
    for row in dominant.head(SHOWN).to_dict("records"):
        say(in_words(row, lambda name: name, "subtype {}".format))
        more = refit_options(row)
        if more and not (rows_are_chosen and more[0].startswith("--where")):
            given = without_roles_of(options, {row["column"], row["second"]})
            again = options.out.with_name(f"{options.out.name}-2")
            say(f"to see what else there is: {next_command('fit', given, *more, '--out', again, adders=adders)}")


def _few(model: MAPDP) -> str:
    """Return which subtypes are described only, to follow their sizes."""
    from clinclust.files.listed import listed

    few = [subtype for subtype, is_small in enumerate(model.untested_, start=1) if is_small]
    if not few:
        return ""
    return f"; few subjects, described only: subtype{'' if len(few) == 1 else 's'} {listed(few)}"


def _skewed(test: TreeTest) -> str:
    """Return at how many divisions a skewed severity would do as well; empty if at none."""
    accepted = test.joins[test.joins["accepted"]]
    n_open = int((accepted["p_unimodal"] >= test.significance_level).sum())
    if not n_open:
        return ""
    where = "" if n_open == len(accepted) else f" at {n_open} of {len(accepted)} divisions"
    return (
        f" Many mild and few severe subjects of one continuum would be parted as clearly{where}; see Divisions tested "
        "in the report."
    )


def _n_before_the_floor(model: MAPDP) -> int:
    """Return how many subtypes there were before those of few subjects were merged.

    Of distinct subtypes, none is merged because it is small.
    """
    if isinstance(model.n_clusters, Integral):
        return int(model.n_clusters)
    return model.subtype_of_.size if model.n_clusters is None else model.n_clusters_
