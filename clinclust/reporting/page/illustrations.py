"""Choose the figures of a page, and write the title, caption and alternative text of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from clinclust.comparisons import compare_subtypes
from clinclust.disclosure.released import FIGURES
from clinclust.estimators.fit import Fit
from clinclust.graded import mid_ranks
from clinclust.reporting.continuum_score import Continuum
from clinclust.reporting.figures.effects import effects_against, plot_effects
from clinclust.reporting.figures.heat_maps import plot_ordered, plot_profile
from clinclust.reporting.figures.tree import plot_tree
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import BELOW
from clinclust.reporting.profiles import Profiles, profiles_of
from clinclust.reporting.sheets.divisions import evidence_in_words
from clinclust.reporting.sheets.groups import groups_found
from clinclust.reporting.subtype_table.summaries import Compared

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_ROWS = 15  # of the heat map, so that it is seen at once with the answer
_MOST_NAMED = 6  # maximum number of subtypes that an alternative text names


@dataclass(frozen=True)
class Illustration:
    """A figure of a section with its identifier, title, caption and alternative text; `draw` draws a new figure."""

    section: str
    name: str
    title: str
    caption: str
    alternative: str
    draw: Callable[[], Axes]


def illustrations(findings: Findings) -> list[Illustration]:
    """Return the figures of a page; for sharing, only those that show neither single subjects nor small groups."""
    model, comparisons, fit = findings.cohort.model, findings.comparisons, findings.fit
    profiles = findings.profiles
    several = len(profiles.subtypes) > 1
    # No name, rather than that of the model, where the report withholds one.
    names = {subtype: findings.names.get(subtype, "") for subtype in findings.sizes}
    found: list[Illustration] = []

    def add(section: str, name: str, title: str, caption: str, alternative: str, draw: Callable[[], Axes]) -> None:
        found.append(Illustration(section, name, title, caption, alternative, draw))

    if fit is not None and several and findings.divisions and not findings.is_shared:
        # It shows sizes of parts of subtypes, which the rule of shared reports does not protect. Of one group the table
        # of divisions says the same.
        add(
            "Trust",
            "tree",
            "Which divisions are more than a continuum",
            "Left: the groups that the search found, with their sizes, and how they make up subtypes; thick lines are "
            "distinct divisions. Right: the evidence for each division (diamond; filled if it is distinct), compared "
            "with one continuous population (mean, and a bar from 2 SDs below to 2 SDs above it). A diamond far to the "
            "right of the bar speaks for a distinct division. One close to its end need not: p allows for the best of "
            "several numbers of parts having been taken.",
            _tested_alt(findings, fit),
            partial(plot_tree, model, names={subtype: findings.name(subtype) for subtype in findings.sizes}),
        )
    if several:
        add(
            "Overview",
            "profile",
            "What marks each subtype",
            f"Distance from all subjects, in standard deviations: above (blue) or below ({BELOW}).",
            _profile_alt(profiles, profiles.ranked_for(model)[:_MOST_ROWS], findings.name),
            partial(plot_profile, model, comparisons, names=names, at_most=_MOST_ROWS),
        )
    if findings.continuum is not None and not (several or findings.is_shared or findings.continuum.is_by_chance):
        along, titles = _fifths(findings, findings.continuum)
        rows = along.ranked(findings.continuum.correlations.abs().to_dict())[:_MOST_ROWS]
        add(
            "Overview",
            "continuum",
            "What changes along the continuum",
            f"Fifths of the subjects by their continuum score: distance from all subjects, in standard deviations, "
            f"above (blue) or below ({BELOW}).",
            _profile_alt(along, rows, titles.__getitem__),
            partial(plot_ordered, along, rows, titles),
        )
    if several and (comparisons["kind"] == "effect").any():
        add(
            "Subtype table",
            "effects",
            "How large the differences are (descriptive)",
            "Effect sizes with 95% intervals; a filled point has an interval that leaves out 0. Features that the "
            f"subtypes {'may have been made' if fit is None else 'were found'} from differ between them by "
            "construction: read how much, not whether.",
            _effects_alt(findings),
            partial(plot_effects, model, comparisons, names=names),
        )
    if fit is not None and fit.tree_test_ is None and not findings.is_shared and (several or groups_found(fit)):
        merged = groups_found(fit) is not None
        add(
            "Trust",
            "tree",
            f"Which {'groups' if merged else 'subtypes'} are near each other",
            f"{'The groups that the search found' if merged else 'Subtypes'} merged step by step, each join at the "
            "evidence against it: what joins far to the left is barely separated.",
            _tree_alt(fit),
            partial(plot_tree, model),
        )
    return [each for each in found if each.name in FIGURES or not findings.is_shared]


def _fifths(findings: Findings, continuum: Continuum) -> tuple[Profiles, dict[int, str]]:
    """Return the profiles of fifths of the subjects by their score, and what they are called; equal scores together."""
    seen = np.isfinite(continuum.score)
    ranks = mid_ranks(continuum.score[seen])
    fifths, labels = np.unique(np.ceil(5.0 * (ranks - 0.5) / ranks.size), return_inverse=True)
    untested = compare_subtypes(findings.cohort.table[seen], labels, findings.cohort.schema, min_size=ranks.size + 1)
    called = {1: "lowest fifth", 5: "highest fifth"}
    titles = {place: called.get(int(fifth), f"{fifth:.0f} of 5") for place, fifth in enumerate(fifths, start=1)}
    return profiles_of(Compared(untested)), titles


def _profile_alt(profiles: Profiles, rows: list[int], name: Callable[[int], str]) -> str:
    numbers = profiles.standardised[rows]
    said = [f"Heat map of {len(rows)} features or levels by {len(profiles.subtypes)} groups of subjects."]
    for place, subtype in enumerate(profiles.subtypes[:_MOST_NAMED]):
        column = numbers[:, place]
        if np.isfinite(column).any():
            high, low = int(np.nanargmax(column)), int(np.nanargmin(column))
            said.append(
                f"{name(subtype)}: highest in {profiles.titles[rows[high]]} ({column[high]:+.1f} SD), "
                f"lowest in {profiles.titles[rows[low]]} ({column[low]:+.1f} SD)."
            )
    return " ".join(said)


def _effects_alt(findings: Findings) -> str:
    effects, against, _ = effects_against(findings.comparisons)
    others = "all other subjects" if against == 0 else findings.name(against)
    said = [f"Forest plot with a panel for each of {len(effects)} subtypes, compared with {others}."]
    for subtype, of_subtype in [*effects.items()][:_MOST_NAMED]:
        finite = {key: effect for key, effect in of_subtype.items() if np.isfinite(effect.estimate)}
        if finite:
            (name, level), effect = max(finite.items(), key=lambda item: abs(item[1].estimate))
            title = findings.cohort.schema[name].title + (f" ({level})" if level else "")
            said.append(
                f"{findings.name(subtype)}, the largest: {title}, {effect.estimate:.1f} "
                f"({effect.lower:.1f} to {effect.upper:.1f})."
            )
    return " ".join(said)


def _tree_alt(fit: Fit) -> str:
    merges = fit.tree_.merges
    joins = [
        f"{', '.join(map(str, first))} with {', '.join(map(str, second))} at {evidence:,.0f}"
        for first, second, evidence in zip(merges["first"], merges["second"], merges["evidence"], strict=True)
    ]
    subtypes = ", ".join(str(subtype + 1) for subtype in fit.subtype_of_.tolist())
    tips = "subtypes" if groups_found(fit) is None else f"groups; their subtypes, in order: {subtypes}"
    return f"Tree of {len(joins) + 1} {tips}. Joins, in nats: {'; '.join(joins)}."


def _tested_alt(findings: Findings, fit: Fit) -> str:
    divisions = "; ".join(map(evidence_in_words, findings.divisions))
    return (
        f"Tree of {fit.tree_.n_subtypes} groups in {len(findings.sizes)} "
        f"subtype{'' if len(findings.sizes) == 1 else 's'}. Divisions tested, from the root: {divisions}."
    )
