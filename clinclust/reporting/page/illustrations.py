"""Choose the figures of a page, and write the title, caption and alternative text of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.shareable import FIGURES
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_model import CLEAR, basis_of_membership
from clinclust.reporting.figures.effects import effects_against, plot_effects
from clinclust.reporting.figures.heat_maps import plot_missing, plot_profile
from clinclust.reporting.figures.search import plot_relevance, plot_resolution_path, plot_restarts
from clinclust.reporting.figures.subjects import plot_certainty
from clinclust.reporting.figures.tree import plot_tree
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import BELOW
from clinclust.reporting.profiles import Profiles
from clinclust.reporting.sheets.divisions import evidence_in_words
from clinclust.reporting.sheets.groups import groups_found
from clinclust.reporting.sheets.overview import searches_sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 6  # maximum number of subtypes that an alternative text names


@dataclass(frozen=True)
class Illustration:
    """A figure with its title, caption, alternative text and identifier; `draw` draws it on a new figure."""

    name: str
    title: str
    caption: str
    alternative: str
    draw: Callable[[], Axes]


def illustrations(findings: Findings) -> list[Illustration]:
    """Return the figures of a page; for sharing, only those that show neither single subjects nor small groups."""
    model, comparisons, fit = findings.model, findings.comparisons, findings.fit
    profiles = findings.profiles
    several = len(profiles.subtypes) > 1
    # No name, rather than that of the model, where the report withholds one.
    names = {subtype: findings.names.get(subtype, "") for subtype in findings.sizes}
    # Evidence is a function of all counts of a feature. With it a reader could find the last unknown count by trial.
    anything_withheld = findings.is_shared and any(map(findings.is_withheld, findings.features))
    found: list[Illustration] = []

    def add(name: str, title: str, caption: str, alternative: str, draw: Callable[[], Axes]) -> None:
        found.append(Illustration(name, title, caption, alternative, draw))

    if fit is not None and findings.divisions and not findings.is_shared:
        # It shows sizes of parts of subtypes, which the rule of shared reports does not protect.
        add(
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
            "profile",
            "What marks each subtype",
            f"Mean of each subtype, in standard deviations of all subjects above (blue) or below ({BELOW}) the "
            f"mean of all subjects; for yes/no features and levels the same of the shares.{_on_medians(profiles)} "
            "Descriptive: found in the same subjects as the subtypes.",
            _profile_alt(findings, profiles),
            partial(plot_profile, model, comparisons, names=names),
        )
    if fit is not None and several and not anything_withheld:
        add(
            "relevance",
            "How far the subtypes lie apart in each feature",
            "Relevance, in nats: how much better one distribution for each subtype describes the feature than one "
            "for all subjects, at 0 and below not at all. Descriptive: the subtypes were found from these features "
            "in the same subjects, so that a feature in which no true groups differ can have a long bar.",
            _relevance_alt(fit),
            partial(plot_relevance, model),
        )
    if several and (comparisons["kind"] == "effect").any():
        add(
            "effects",
            "How large the differences are (descriptive)",
            "Effect sizes with 95% intervals; a filled point has an interval that leaves out 0. Features that the "
            f"subtypes {'may have been made' if fit is None else 'were found'} from differ between them by "
            "construction: read how much, not whether.",
            _effects_alt(findings),
            partial(plot_effects, model, comparisons, names=names),
        )
    own = findings.own_membership
    if own is not None and several and not findings.is_shared:
        add(
            "certainty",
            "How sure each subject's subtype is",
            f"Subjects of each subtype by the probability of belonging to it, {basis_of_membership(model)}; the "
            "height of a bar is their share.",
            _certainty_alt(findings, own),
            partial(plot_certainty, model, names=names),
        )
    if fit is not None and fit.tree_test_ is None and not findings.is_shared and (several or groups_found(fit)):
        merged = groups_found(fit) is not None
        add(
            "tree",
            f"Which {'groups' if merged else 'subtypes'} are near each other",
            f"{'The groups that the search found' if merged else 'Subtypes'} merged step by step, each join at the "
            "evidence against it: what joins far to the left is barely separated.",
            _tree_alt(fit),
            partial(plot_tree, model),
        )
    if fit is not None:
        add(
            "restarts",
            "How far the searches agree",
            "Every partition that a search ended at. Points high up and far to the left would be different "
            "answers, nearly as good as the best.",
            searches_sentence(fit),
            partial(plot_restarts, model),
        )
    path = None if fit is None or findings.is_shared else fit.resolution_path_
    if fit is not None and path is not None and len(path.steps) > 1:
        steps = path.steps
        add(
            "resolution",
            "Subtypes along the coarsening",
            "Number of subtypes of the best partition at each coarsening, and how far these partitions agree.",
            f"From coarsening {steps['coarsening'].max():.2g} to {steps['coarsening'].min():.2g} the number of "
            f"subtypes goes from {steps['n_clusters'].iloc[0]} to {steps['n_clusters'].iloc[-1]}; "
            f"chosen: {fit.coarsening_:.2g}.",
            partial(plot_resolution_path, path),
        )
    add(
        "missing",
        "Where values are missing",
        "Percentage of the group without a value. Very different percentages in a row point to values that are "
        "not missing at random.",
        _missing_alt(profiles),
        partial(plot_missing, comparisons, names=names),
    )
    return [each for each in found if each.name in FIGURES or not findings.is_shared]


def _on_medians(profiles: Profiles) -> str:
    if not profiles.has_medians:
        return ""
    return (
        " ‡ Skewed or ordered levels: medians, as in the Subtype table, in standard deviations of a normal "
        "distribution with the same quartiles."
    )


def _profile_alt(findings: Findings, profiles: Profiles) -> str:
    rows = profiles.ranked_for(findings.model)[:30]
    numbers = profiles.standardised[rows]
    said = [f"Heat map of {len(rows)} features or levels by {len(profiles.subtypes)} subtypes."]
    for place, subtype in enumerate(profiles.subtypes[:_MOST_NAMED]):
        column = numbers[:, place]
        if np.isfinite(column).any():
            high, low = int(np.nanargmax(column)), int(np.nanargmin(column))
            said.append(
                f"{findings.name(subtype)}: highest in {profiles.titles[rows[high]]} ({column[high]:+.1f} SD), "
                f"lowest in {profiles.titles[rows[low]]} ({column[low]:+.1f} SD)."
            )
    return " ".join(said)


def _relevance_alt(fit: Fit) -> str:
    nats = fit.feature_relevance_.sort_values(ascending=False, kind="stable")
    first = [f"{fit.schema_[str(name)].title} ({value:.0f})" for name, value in nats.iloc[:3].items()]
    return f"Bars; the longest: {', '.join(first)} nats. {int((nats > 0).sum())} of {len(nats)} are above 0."


def _effects_alt(findings: Findings) -> str:
    effects, against, _ = effects_against(findings.comparisons)
    others = "all other subjects" if against == 0 else findings.name(against)
    said = [f"Forest plot with a panel for each of {len(effects)} subtypes, compared with {others}."]
    for subtype, of_subtype in [*effects.items()][:_MOST_NAMED]:
        finite = {key: effect for key, effect in of_subtype.items() if np.isfinite(effect.estimate)}
        if finite:
            (name, level), effect = max(finite.items(), key=lambda item: abs(item[1].estimate))
            title = findings.model.schema_[name].title + (f" ({level})" if level else "")
            said.append(
                f"{findings.name(subtype)}, the largest: {title}, {effect.estimate:.1f} "
                f"({effect.lower:.1f} to {effect.upper:.1f})."
            )
    return " ".join(said)


def _certainty_alt(findings: Findings, own: NDArray[np.float64]) -> str:
    labels, clear = np.asarray(findings.model.labels_), own >= CLEAR
    said = [f"{findings.name(subtype)} {100 * clear[labels == subtype - 1].mean():.0f}%" for subtype in findings.sizes]
    return f"A histogram for each subtype. Subjects whose membership is clear: {', '.join(said)}."


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


def _missing_alt(profiles: Profiles) -> str:
    percent = profiles.percent_missing
    if not np.isnan(percent).any() and not (percent > 0).any():
        return "No value is missing."
    if np.isnan(percent[:, 0]).all():
        return "Heat map of features by subtypes; how many values are missing in all subjects is withheld."
    most = int(np.nanargmax(percent[:, 0]))
    return (
        f"Heat map of features by subtypes. Most often missing in all: {profiles.titles[most]}, "
        f"{percent[most, 0]:.0f}%."
    )
