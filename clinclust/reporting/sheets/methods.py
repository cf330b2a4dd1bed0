"""The sheet Methods: a methods section for a paper, and the works that it cites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.estimators.stopped_early import STOPPED_EARLY
from clinclust.estimators.subtype_model import parameters_of
from clinclust.estimators.versions import software_versions
from clinclust.likelihoods import REGISTRY
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value
from clinclust.reporting.sheets.associations import METHODS
from clinclust.reporting.sheets.blocks import sentences_on_blocks
from clinclust.reporting.sheets.effect_sizes import MEASURES
from clinclust.reporting.sheets.few_subjects import enough_subjects, on_merged_groups
from clinclust.reporting.sheets.methods_of_the_test import methods_of_the_test
from clinclust.reporting.sheets.references import References
from clinclust.reporting.sheets.rows import sentences_on_rows
from clinclust.reporting.sheets.unions import groups_found, sentence_on_unions, unions_in_words

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["Methods", "methods", "methods_sheet"]

_BY = {"refit": "by refitting", "cross-fit": "by cross-fitting", "direct": "directly"}
# Tests of all subtypes at once, by their name in the comparisons: name in a sentence, and key of the reference.
_CONTRASTS = {
    "Student's t": ("Student’s t-test", "student"),
    "Welch's t": ("Welch’s t-test", "welch"),
    "ANOVA": ("one-way analysis of variance", "anova"),
    "Welch's ANOVA": ("Welch’s analysis of variance", "welch anova"),
    "Mann-Whitney": ("the Mann–Whitney test", "mann-whitney"),
    "Kruskal-Wallis": ("the Kruskal–Wallis test", "kruskal"),
    "chi-squared": ("the chi-squared test", "chi-squared"),
    "Fisher's exact": ("Fisher’s exact test", "exact"),
    "Fisher's exact (simulated)": ("Fisher’s exact test, its p simulated", "exact tables"),
}


@dataclass(frozen=True)
class Methods:
    """A methods section.

    Attributes
    ----------
    paragraphs : dict of str to str
        Text of each paragraph by its topic, in reading order.
    references : list of str
        Full references of the works that the paragraphs cite, ordered by author and year.
    """

    paragraphs: dict[str, str]
    references: list[str]


def methods(findings: Findings) -> Methods:
    """Return the methods section, which describes only what was run."""
    references, fit = References(), findings.fit
    asked = parameters_of(findings.model)
    written = {
        "Subjects": sentences_on_rows(findings),
        "Model": _given(findings) if fit is None else _model(findings, fit, asked, references),
        "Prior": [] if fit is None else _prior(findings, asked, references),
        "Missing values": [] if fit is None else _missing(findings, fit),
        "Search": [] if fit is None else _search(findings, fit, asked),
        "Distinct subtypes": methods_of_the_test(findings, references),
        "Comparisons": _comparisons(findings, references),
        "Associations": _associations(findings, references),
        "Confidentiality": _confidentiality(findings),
        "Software": _software(findings),
    }
    paragraphs = {about: " ".join(sentences) for about, sentences in written.items() if sentences}
    return Methods(paragraphs, references.listed())


def methods_sheet(findings: Findings) -> Sheet:
    """Return the sheet: each paragraph and each reference in one cell, so that it can be copied."""
    found = methods(findings)
    texts: list[list[Value]] = [[about, text] for about, text in found.paragraphs.items()]
    works: list[list[Value]] = [[number, work] for number, work in enumerate(found.references, start=1)]
    tables = [
        Table("Text", [Column("About"), Column("Paragraph", widest=110)], texts),
        Table("References", [Column("Number", "0"), Column("Reference", widest=110)], works),
    ]
    return Sheet(
        "Methods", ["What was run, in words that can be pasted into a paper; read them before you do."], tables
    )


def _given(findings: Findings) -> list[str]:
    """Return the sentences about given subtypes, which were not found by a MAP-DP search."""
    schema, model = findings.model.schema_, findings.model
    where = f" in {schema.title}" if schema.title else ""
    sizes = _sizes(findings)
    n_formed = sum(map(findings.clustered_on, findings.features))
    sentences = [
        f"The {_count(len(findings.sizes), 'subtype')}{where} ({_count(len(findings.frame), 'subject')}: {sizes}) "
        f"{_was(len(findings.sizes))} made by {model.made_by}."
    ]
    if n_formed:
        sentences.append(
            f"They may have been made from {_count(n_formed, 'feature')}; the other features are declared to have had "
            "no part in them."
        )
    sentences.append("Missing values were left out of each summary and test, and were not imputed.")
    return sentences


def _model(findings: Findings, fit: Fit, given: Mapping[str, Any], references: References) -> list[str]:
    schema = fit.schema_
    clustered = [feature for feature in findings.features if findings.clustered_on(feature)]
    kinds = Counter(str(feature.likelihood) for feature in clustered)
    where = f"in {schema.title} " if schema.title else ""
    group = "subtype" if groups_found(fit) is None else "group"
    listed = _and([f"{REGISTRY[kind].title}, {kinds[kind]}" for kind in REGISTRY if kinds[kind]], "; ")
    sentences = [
        f"Subtypes were found {where}({_count(len(findings.frame), 'subject')}) from "
        f"{_count(len(clustered), 'feature')} with MAP-DP, maximum a posteriori inference in a Dirichlet process "
        f"mixture ({references.cite('map-dp')}), whose number of {group}s follows from the data.",
        f"Within a {group} features are independent, each with its likelihood and the conjugate prior of this: "
        f"{listed}.",
    ]
    sentences += [*sentence_on_unions(findings), *on_merged_groups(findings)]
    sentences += [_concentration(fit, given["concentration"], references)]
    if fit.discount_ > 0:
        sentences.append(
            f"A Pitman–Yor process ({references.cite('pitman-yor')}) with discount {fit.discount_:g} took the place "
            "of the Dirichlet process."
        )
    automatic = isinstance(given["coarsening"], str)
    if automatic or fit.coarsening_ < 1:
        how = (
            ", the first value that the dependence left between features within subtypes bore out" if automatic else ""
        )
        sentences.append(
            f"The likelihood was raised to the power {fit.coarsening_:.3g}{how} ({references.cite('coarsening')}), "
            "so that features that depend on each other within a subtype do not open subtypes of their own."
        )
    sentences += sentences_on_blocks(fit, given)
    if fit.outlying_share_ > 0:
        n_aside = int(fit.outlying_.sum())
        sentences.append(
            f"Each value was outlying with a prior probability of {fit.outlying_share_:g}"
            + ("." if findings.is_shared else f"; {_count(n_aside, 'value')} {_was(n_aside)} set aside.")
        )
    if given["select_features"]:
        selected = len(fit.selected_features_)
        sentences.append(
            f"Which features differ between the subtypes was found together with them: {selected} of "
            f"{len(clustered)} do, the others share one distribution."
        )
    return sentences


def _concentration(fit: Fit, asked: Any, references: References) -> str:
    value = f"{fit.concentration_:.3g}"
    if isinstance(asked, str) and asked == "map":
        how = f"{value}, the mode of its posterior under a Gamma(1, 1/3) prior ({references.cite('map-dp')})"
    elif isinstance(asked, str):
        how = f"{value}, the one of {len(fit.tuning_)} values with the highest density of held-out subjects"
    elif np.ndim(asked):
        how = f"{value}, the one of {len(fit.tuning_)} values tried with the highest log joint"
    else:
        how = f"set to {value} in advance"
    return f"The concentration (prior count of a new subtype, in subjects) was {how}."


def _prior(findings: Findings, asked: Mapping[str, Any], references: References) -> list[str]:
    given = asked["hyperparameters"]
    stated = {feature.name for feature in findings.features if findings.clustered_on(feature) and feature.prior}
    if given == "empirical":
        how = "were estimated, feature by feature, by maximising the marginal likelihood under a weak hyperprior"
    elif given == "greedy":
        how = f"were estimated by greedy coordinate search ({references.cite('map-dp')}, appendix G)"
    else:
        how = "were set from the data, each prior about as strong as one subject"
        stated |= {*(given or {})} & {feature.name for feature in findings.features}
    sentences = [f"The hyperparameters {how}."]
    if stated:
        sentences.append(f"Those of {_count(len(stated), 'feature')} were stated in advance, in whole or in part.")
    return sentences


def _missing(findings: Findings, fit: Fit) -> list[str]:
    clustered = [feature.name for feature in findings.features if findings.clustered_on(feature)]
    share = findings.frame[clustered].isna().to_numpy().mean() if clustered else 0.0
    sentences = []
    if share > 0:
        how_many = "Some" if findings.is_shared else f"{100 * share:.1f}%"
        sentences.append(
            f"{how_many} of the values of these features were missing; they were integrated out of the model, "
            "which assumes that they are missing at random, and were not imputed."
        )
    else:
        sentences.append("No value of these features was missing.")
    kept_out = len(fit.kept_out_)
    if kept_out:
        sentences.append(
            f"{_count(kept_out, 'feature')} without an observed value, or with the same one throughout, "
            f"{_was(kept_out)} left out."
        )
    return sentences


def _search(findings: Findings, fit: Fit, asked: Mapping[str, Any]) -> list[str]:
    restarts = fit.restarts_
    refined = int(restarts["start"].isin(("recombined", "perturbed")).sum())
    started = len(restarts) - refined
    best = int((restarts["log_joint"].round(6) == round(float(restarts["log_joint"].max()), 6)).sum())
    begun = {"single": "with all subjects in one subtype", "search": "different partitions"}
    init = asked["init"]
    where = begun[init] if isinstance(init, str) else "from a partition given in advance"
    sentences = [
        f"The partition with the highest log joint was sought from {_count(started, 'start')} ({where}; random seed "
        f"{fit.random_seed_})."
    ]
    if refined:
        sentences.append(f"The best were recombined and perturbed in {_count(refined, 'further search', 'es')}.")
    if fit.stopped_early_:
        sentences.append(f"The search was {STOPPED_EARLY}.")
    joint = "" if findings.is_shared else f" (log joint {fit.log_joint_:.2f} nats)".replace("-", "−")
    subjects = "all subjects" if len(findings.sizes) == 1 else f"{_sizes(findings)} subjects"
    subtypes, n_groups = f"{_count(len(findings.sizes), 'subtype')} of {subjects}", groups_found(fit)
    ended = f"{best} of {_count(len(restarts), 'search', 'es')} ended at the best, with"
    if n_groups is None:
        sentences.append(f"{ended} {subtypes}{joint}.")
    else:
        sentences.append(f"{ended} {n_groups} groups{joint}, which make up {subtypes}.")
    return sentences


def _sizes(findings: Findings) -> str:
    shown = [findings.shown_sizes[subtype] for subtype in findings.sizes]
    return _and([WITHHELD if size is None else f"{size:,}" for size in shown])


def _comparisons(findings: Findings, references: References) -> list[str]:
    sentences = []
    adjusted = f"adjusted by the Benjamini–Hochberg procedure ({references.cite('adjusted')})"
    if len(findings.compared) > 1:
        sentences.append(
            f"Pairs of subtypes were compared feature by feature with Student’s t-test ({references.cite('student')}) "
            f"and Welch’s ({references.cite('welch')}), two-sided, at the level {findings.significance_level:g}; "
            f"q-values were {adjusted} over all tests of a name."
        )
    names = sorted({str(row["test"]) for row in findings.rows("contrast") if isinstance(row["test"], str)})
    if names:
        sentences.append(
            f"All subtypes{enough_subjects(findings)} at once were contrasted by {_tests(names, references)}."
        )
    measures = list(dict.fromkeys(str(row["measure"]) for row in findings.rows("effect")))
    if measures:
        called = [MEASURES.get(measure, (measure.replace("_", " "),))[0] for measure in measures]
        sentences.append(f"Effect sizes ({_and(called)}) are given with 95% confidence intervals.")
    if findings.described_only:
        sentences.append(
            "Smaller subtypes were described only." if names else "Subtypes of few subjects were described only."
        )
    if sentences:
        sentences.append(
            "For features from which the subtypes were found, these numbers are descriptive and no inference: subtypes "
            "found and tested in the same subjects differ in these features by construction."
            if findings.fit is not None
            else "For features from which the subtypes may have been made, these numbers are descriptive and no "
            "inference: subtypes differ by construction in the features that they were made from."
        )
    return sentences


def _tests(names: Sequence[str], references: References) -> str:
    called = []
    for name in names:
        title, key = _CONTRASTS.get(name, (name, None))
        called.append(f"{title} ({references.cite(key)})" if key else title)
    return _and(called)


def _associations(findings: Findings, references: References) -> list[str]:
    rows = [row for row in findings.association_rows() if isinstance(row["method"], str)]
    if not rows:
        return []
    used = Counter(row["method"] for row in rows)
    ways = [
        f"{_count(number, 'feature')} {_BY.get(method, method)} ({METHODS.get(method, method)})"
        for method, number in used.items()
    ]
    how = _and(ways, "; ")
    names = sorted({row["test"] for row in rows if isinstance(row["test"], str)})
    seeds = sorted({str(row["seed"]) for row in rows})
    seed = f" (random seed {_and(seeds)})" if findings.fit is not None else ""
    sentences = [f"Associations of features with the subtypes were validated{seed}: {how}."]
    if {"refit", "cross-fit"} & set(used) and unions_in_words(findings):
        sentences.append("The groups that each search found were merged to the same number of subtypes.")
    if names:
        sentences.append(f"The tests were {_tests(names, references)}.")
    sentences.append(
        f"Their p-values were adjusted by the Benjamini–Hochberg procedure ({references.cite('adjusted')}) over the "
        "tests made."
    )
    doubtful = sum(row["doubtful"] is True for row in rows)
    if doubtful:
        sentences.append(
            f"{_count(doubtful, 'p-value')} {_was(doubtful)} marked as doubtful, because the feature depends on others "
            "that were not declared as one block with it."
        )
    return sentences


def _confidentiality(findings: Findings) -> list[str]:
    if not findings.comparisons["suppressed"].any():
        return []
    return ["Numbers that few subjects are behind, and those from which they could be worked out, were withheld: [c]."]


def _software(findings: Findings) -> list[str]:
    versions = software_versions()
    ours = versions.pop("clinclust")
    others = _and([f"{name} {version}" for name, version in versions.items()])
    return [f"The analysis was made with clinclust {ours} on {others}."]


def _count(number: int, noun: str, ending: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _and(parts: Sequence[str], comma: str = ", ") -> str:
    *most, last = parts
    return f"{comma.join(most)} and {last}" if most else last
