"""What a command says of the subtypes that it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.cli.streams import say

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["say_found"]


def say_found(model: MAPDP) -> None:
    """Say how many subtypes a fitted model has, their sizes, and what the test of its tree says of them."""
    n_subjects, n_subtypes, n_groups = model.labels_.size, model.n_clusters_, model.subtype_of_.size
    sizes = ", ".join(f"{size} ({size / n_subjects:.1%})" for size in model.cluster_sizes_)
    say(f"{n_subtypes} subtype{'' if n_subtypes == 1 else 's'} among {n_subjects} subjects: {sizes}")
    test = model.fit_.tree_test_
    if test is None or test.joins.empty:
        return
    if n_subtypes == 1:
        say(
            f"Tested: the cohort looks like one continuum; the {n_groups} groups that the search told apart are slices "
            "of it."
        )
    elif n_groups > n_subtypes:
        say(f"Tested: these are more than one continuum; the {n_groups} finer groups of the search are not.")
    else:
        say("Tested: these are more than one continuum.")
