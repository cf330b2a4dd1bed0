"""The sheet Methods: a methods section for a paper, and the works that it cites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from clinclust.estimators.fit import Fit
from clinclust.estimators.saving import software_versions
from clinclust.estimators.subtype_model import parameters_of
from clinclust.likelihoods import REGISTRY
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value
from clinclust.reporting.sheets.associations import methods_of_associations
from clinclust.reporting.sheets.charts import MEASURES
from clinclust.reporting.sheets.groups import enough_subjects, groups_found, on_merged_groups, sentence_on_unions
from clinclust.reporting.sheets.methods_of_search import (
    concentration_in_words,
    methods_of_the_test,
    search_in_words,
    sizes_in_words,
)
from clinclust.reporting.sheets.run import but_for_blocks, sentences_on_blocks, sentences_on_rows
from clinclust.reporting.words import References, counted, listed, tests_in_words, was

_INTERVALS = {
    "standardised_difference": "Bonett’s method for unequal variances (of shares, from Wilson’s limits)",
    "difference": "Welch’s method (of shares, Newcombe’s hybrid score method)",
    "ratio": "the score method (of means, in the logarithm)",
    "superiority": "the method of Brunner and Munzel, in the logit",
}
"""The methods of the confidence intervals; see `clinclust.compare_subtypes`."""


class Methods(NamedTuple):
    """The text of each paragraph of a methods section by its topic, in order, and the full references that it cites."""

    paragraphs: dict[str, str]
    references: list[str]


def methods(findings: Findings) -> Methods:
    """Return the methods section, which describes only what was run."""
    references, fit = References(), findings.fit
    asked = parameters_of(findings.cohort.model)
    written = {
        "Subjects": sentences_on_rows(findings),
        "Model": _given(findings) if fit is None else _model(findings, fit, asked, references),
        "Prior": [] if fit is None else _prior(findings, asked, references),
        "Missing values": [] if fit is None else _missing(findings, fit, references),
        "Search": [] if fit is None else search_in_words(findings, fit, asked),
        "Distinct subtypes": methods_of_the_test(findings, references),
        "Comparisons": _comparisons(findings, references),
        "Associations": methods_of_associations(findings, references),
        "Confidentiality": _confidentiality(findings),
        "Software": _software(),
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
    note = "What was run, in words that can be pasted into a paper; read them before you do."
    return Sheet("Methods", [note], tables)


def _given(findings: Findings) -> list[str]:
    model, n_subtypes = findings.cohort.model, len(findings.sizes)
    where = f" in {model.schema_.title}" if model.schema_.title else ""
    subjects = f"{counted(findings.n_subjects, 'subject')}: {sizes_in_words(findings)}"
    n_formed = len(findings.clustered)
    formed = (
        f"They may have been made from {counted(n_formed, 'feature')}; the other features are declared to have had no "
        "part in them."
    )
    return [
        f"The {counted(n_subtypes, 'subtype')}{where} ({subjects}) {was(n_subtypes)} made by {model.made_by}.",
        *([formed] if n_formed else []),
        "Missing values were left out of each summary and test, and were not imputed.",
    ]


def _model(findings: Findings, fit: Fit, given: Mapping[str, Any], references: References) -> list[str]:
    schema, clustered = fit.schema_, findings.clustered
    kinds = Counter(str(feature.likelihood) for feature in clustered)
    where = f"in {schema.title} " if schema.title else ""
    group = "subtype" if groups_found(fit) is None else "group"
    likelihoods = listed([f"{REGISTRY[kind].title}, {kinds[kind]}" for kind in REGISTRY if kinds[kind]], "; ")
    sentences = [
        f"Subtypes were found {where}({counted(findings.n_subjects, 'subject')}) from "
        f"{counted(len(clustered), 'feature')} with MAP-DP, maximum a posteriori inference in a Dirichlet process "
        f"mixture ({references.cite('map-dp')}), whose number of {group}s follows from the data.",
        f"Within a {group} features are independent{but_for_blocks(clustered)}, each with its likelihood and the "
        f"conjugate prior of this: {likelihoods}.",
    ]
    if in_parts := sum(bool(feature.point_masses) for feature in clustered):
        sentences.append(
            f"Of {counted(in_parts, 'feature')}, many values are exactly the same, or beyond a limit of detection: "
            "whether a value is one of these has a Bernoulli or categorical distribution of its own, and the "
            f"likelihood describes the other values ({references.cite('two-part')})."
        )
    sentences += [*sentence_on_unions(findings), *on_merged_groups(findings)]
    sentences += [concentration_in_words(findings, fit, given["concentration"], references)]
    if fit.discount_ > 0:
        sentences.append(
            f"A Pitman–Yor process ({references.cite('pitman-yor')}) with discount {fit.discount_:g} took the place "
            "of the Dirichlet process."
        )
    automatic = isinstance(given["coarsening"], str)
    if automatic or fit.coarsening_ < 1:
        found = findings.setting(fit, "coarsening")
        power = found if isinstance(found, str) else f"{found:.3g}"
        how = ", the first value that the dependence left between features within subtypes bore out"
        sentences.append(
            f"The likelihood was raised to the power {power}{how if automatic else ''} "
            f"({references.cite('coarsening')}), so that features that depend on each other within a subtype do not "
            "open subtypes of their own."
        )
    # Whether a block counted for less, by weights that the search chose, is a function of exact counts.
    if not (findings.is_rounded and given["block_weights"] == "auto"):
        sentences += sentences_on_blocks(findings, fit)
    if fit.outlying_share_ > 0:
        n_aside = int(fit.outliers_.sum())
        aside = "" if findings.is_shared else f"; {counted(n_aside, 'value')} {was(n_aside)} set aside"
        sentences.append(f"Each value was outlying with a prior probability of {fit.outlying_share_:g}{aside}.")
    if given["calibrate"] and fit.n_clusters_ > 1:
        divisor = "" if findings.is_shared else f", {fit.temperature_:.2f}"
        sentences.append(
            "Probabilities given one partition are too certain: log odds were divided by a temperature"
            f"{divisor} ({references.cite('temperature')}), which brings probabilities nearest to averages over "
            "partitions from a short run of Gibbs sampling."
        )
    if given["select_features"]:
        selected = WITHHELD if findings.withholds_evidence else str(len(fit.selected_features_))
        sentences.append(
            f"Features were selected together with the subtypes: {selected} of {len(clustered)} have a distribution in "
            f"each {group}, the others have one for all subjects."
        )
    return sentences


def _prior(findings: Findings, asked: Mapping[str, Any], references: References) -> list[str]:
    given = asked["hyperparameters"]
    stated = {feature.name for feature in findings.clustered if feature.prior}
    if given == "empirical":
        how = "were estimated, feature by feature, by maximising the marginal likelihood under a weak hyperprior"
    elif given == "greedy":
        how = f"were estimated by greedy coordinate search ({references.cite('map-dp')}, appendix G)"
    else:
        how = "were set from the data, each prior about as strong as one subject"
        stated |= {*(given or {})} & {feature.name for feature in findings.features}
    sentences = [f"The hyperparameters {how}."]
    if stated:
        sentences.append(f"Those of {counted(len(stated), 'feature')} were stated in advance, in whole or in part.")
    return sentences


def _missing(findings: Findings, fit: Fit, references: References) -> list[str]:
    treated = (
        "integrated out of the model, which assumes that they are missing at random, and were not imputed"
        if fit.completed_log_joint_ is None
        else f"filled in the search with modes, which counted as observed ({references.cite('map-dp')}, appendix F); "
        "this makes subtypes too certain. All that is said of them was computed from observed values alone, by which a "
        "subject may more probably belong to another subtype"
    )
    n_missing, n_values = findings.n_missing
    if findings.is_shared and findings.read.withheld:
        # That no value is missing would disclose the number of missing values where it is withheld.
        sentences = [f"Values of these features that were missing were {treated}."]
    elif n_missing:
        how_many = "Some" if findings.is_shared else f"{100 * (n_missing / n_values):.1f}%"
        sentences = [f"{how_many} of the values of these features were missing; they were {treated}."]
    else:
        sentences = ["No value of these features was missing."]
    without = "without an observed value, or with the same one throughout,"
    uninformative = sum(name in fit.schema_ for name in fit.uninformative_)  # not those of which one part was
    if findings.is_rounded:
        sentences.append(f"Features {without} were left out.")
    elif uninformative:
        sentences.append(f"{counted(uninformative, 'feature')} {without} {was(uninformative)} left out.")
    few = sum(name not in fit.schema_ for name in fit.uninformative_)
    if few and not findings.is_shared:
        sentences.append(
            f"Of {counted(few, 'feature')}, one part formed no subtypes, because it is the same throughout or few "
            "values are at no point mass."
        )
    return sentences


def _comparisons(findings: Findings, references: References) -> list[str]:
    if findings.is_rounded:
        return []
    sentences = []
    adjusted = f"adjusted by the Benjamini–Hochberg procedure ({references.cite('adjusted')})"
    # Over the tests that are withheld too, the ranks of those shown would enclose their p-values.
    shown = " that are shown in this report" if findings.is_shared else ""
    if len(findings.read.tested) > 1:
        sentences.append(
            f"Pairs of subtypes were compared feature by feature with Welch’s t-test ({references.cite('welch')}) "
            f"and Student’s ({references.cite('student')}), two-sided, at the level {findings.significance_level:g}; "
            f"q-values were {adjusted} over all tests of a name{shown}."
        )
    names = sorted({str(row["test"]) for row in findings.read.rows("contrast") if isinstance(row["test"], str)})
    if names:
        sentences.append(
            f"All subtypes{enough_subjects(findings)} at once were contrasted by {tests_in_words(names, references)}."
        )
    measures = list(dict.fromkeys(str(row["measure"]) for row in findings.read.rows("effect")))
    if measures:
        called = {measure: MEASURES.get(measure, (measure.replace("_", " "),))[0] for measure in measures}
        intervals = [f"{name} by {_INTERVALS[measure]}" for measure, name in called.items() if measure in _INTERVALS]
        how = f": those of the {listed(intervals, '; ')}" if intervals else ""
        sentences.append(f"Effect sizes ({listed([*called.values()])}) are given with 95% confidence intervals{how}.")
    if findings.untested:
        sentences.append("Smaller subtypes were not tested." if names else "Subtypes of few subjects were not tested.")
    if sentences:
        made = "may have been made" if findings.fit is None else "were found"
        sentences.append(
            f"For features from which the subtypes {made}, these numbers are descriptive and no inference: subtypes "
            "differ by construction in the features that they were made from."
        )
    return sentences


def _confidentiality(findings: Findings) -> list[str]:
    if not findings.comparisons["suppressed"].any():
        return []
    if findings.rule is not None and findings.is_rounded:
        return [f"Counts were rounded to multiples of {findings.rule.rounding}; tests and estimates were withheld."]
    return ["Numbers that few subjects are behind, and those from which they could be worked out, were withheld: [c]."]


def _software() -> list[str]:
    versions = software_versions()
    ours = versions.pop("clinclust")
    others = listed([f"{name} {version}" for name, version in versions.items()])
    return [f"The analysis was made with clinclust {ours} on {others}."]
