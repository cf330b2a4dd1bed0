"""What a fit says in a few sentences, and its facts for a program.

3 subtypes among 527 subjects: 210 (39.8%), 180 (34.2%), 137 (26.0%)
Tested: these are more than one continuum: 3 distinct subtypes.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from clinclust.estimators.few_subjects import MEANING_OF_MARKS, n_standing
from clinclust.estimators.mapdp import MAPDP
from clinclust.files.listed import listed
from clinclust.reporting.divisions import distinct_in_words, divisions_of, n_parted
from clinclust.reporting.layout import percent
from clinclust.reporting.results import division_facts


def summarise_fit(model: MAPDP, n_stated: int | None = None) -> list[str]:
    """Return sentences on the subtypes of a fitted model, their sizes, and the test of its tree.

    `n_stated` subtypes were to be found.
    """
    n_subjects, n_subtypes, n_groups = model.cluster_sizes_.sum(), model.n_clusters_, model.subtype_of_.size
    marks = model.fit_.remarks_
    sizes = ", ".join(
        f"{size} ({'; '.join([f'{percent(int(size), n_subjects):.1f}%', *remarks])})"
        for size, remarks in zip(model.cluster_sizes_, marks, strict=True)
    )
    shortfall = f" ({n_stated} were asked for)" if n_stated is not None and n_stated > n_subtypes else ""
    few = [subtype for subtype, is_small in enumerate(model.untested_, start=1) if is_small]
    untested = f"; few subjects, untested: subtype{'' if len(few) == 1 else 's'} {listed(few)}" if few else ""
    subtypes = f"{n_subtypes} subtype{'' if n_subtypes == 1 else 's'}"
    lines = [f"{subtypes}{shortfall} among {n_subjects} subjects: {sizes}{untested}"]
    if any(marks):
        standing = n_standing(model.subtypes_)
        lines.append(f"{MEANING_OF_MARKS} Such subtypes may be noise; without them: {standing}.")
    n_before = n_groups if model.n_clusters is None else n_subtypes
    if isinstance(model.n_clusters, Integral):
        n_before = int(model.n_clusters)
    if n_before > n_subtypes:
        lines.append(
            f"{n_before - n_subtypes} fewer than without --min-size: groups of fewer than {model.min_size_} subjects "
            "were merged where they were hardly distinct from another."
        )
    test = model.fit_.tree_test_
    if test is None or test.joins.empty:
        return lines
    if n_subtypes == 1:
        return [
            *lines,
            f"Tested: the cohort looks like one continuum; the {n_groups} groups of the search were not "
            "shown to be more than slices of it.",
        ]
    clusters = f"; the {n_groups} clusters of the search were not shown to be" if n_groups > n_subtypes else ""
    grades = f": {distinct_in_words(model.fit_)}" if n_subtypes == n_parted(model.fit_) else ""
    return [*lines, f"Tested: these are more than one continuum{grades}{clusters}."]


def facts_of_fit(model: MAPDP, n_stated: int | None) -> dict[str, Any]:
    """Return the facts about a fitted model, for a program: subtypes, sizes, and p of every tested division."""
    titles = {subtype: f"Subtype {subtype}" for subtype in range(1, model.n_clusters_ + 1)}
    summary = model.summary().reset_index()
    marks = [" ".join(remarks) for remarks in model.fit_.remarks_]
    return {
        "subjects": int(model.cluster_sizes_.sum()),
        "n_subtypes": model.n_clusters_,
        "n_asked": n_stated,
        "n_clusters": int(model.subtype_of_.size),
        "subtypes": summary.assign(untested=model.untested_, remarks=marks).to_dict("records"),
        "divisions": [division_facts(division) for division in divisions_of(model.fit_, titles)],
        "uninformative": dict(model.uninformative_),
        "seed": model.random_seed_,
        "stopped_early": model.stopped_early_,
    }
