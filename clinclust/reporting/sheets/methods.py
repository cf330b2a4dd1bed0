"""The methods section, and the run: versions, seeds, parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from clinclust.data import data
from clinclust.disclosure.counts import are_small_rows
from clinclust.drafting.roles import looks_identifying
from clinclust.engine.continuum.tested_node import FIRST_SAMPLE, LARGEST_NODE, SMALLEST_NODE
from clinclust.errors import on_one_line
from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.saving import software_versions
from clinclust.estimators.subtype_model import parameters_of
from clinclust.estimators.subtype_tree import DISTINCT_LEVEL, GAP_COUNTS, SHAPE_COUNTS
from clinclust.files.conditions import Comparison, Condition, Joined, compared_columns, is_order, parsed
from clinclust.files.row_choice import RowChoice, RowCounts, noted_several_rows, rows_taken
from clinclust.likelihoods import REGISTRY
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import (
    WITHHELD,
    Column,
    References,
    Sheet,
    Table,
    Value,
    as_value,
    counted,
    listed,
    tests_in_words,
    was,
)
from clinclust.reporting.sheets.associations import methods_of_associations
from clinclust.reporting.sheets.divisions import is_sampled, measure_in_words
from clinclust.reporting.sheets.subtypes import (
    enough_subjects,
    groups_found,
    on_adjustment,
    on_merged_groups,
    sentence_on_unions,
)
from clinclust.schema import FeatureSchema

# What the Methods section says of the search and of the test of its tree.

_TEXTS = data("report")["methods"]
_BEGUN = {"single": "with all subjects in one subtype", "search": "different partitions"}


def concentration_in_words(findings: Findings, fit: Fit, asked: Any, references: References) -> str:
    """Return the sentence on the concentration; a shared report withholds one that was estimated."""
    concentration = findings.setting(fit, "concentration")
    value = concentration if isinstance(concentration, str) else f"{concentration:.3g}"
    one_of = f"the one of {len(fit.tuning_)} values"
    if isinstance(asked, str) and asked == "map":
        how = f"{value}, the mode of its posterior under a Gamma(1, 1/3) prior ({references.cite('map-dp')})"
    elif isinstance(asked, str):
        how = f"{value}, {one_of} with the highest density of held-out subjects"
    elif np.ndim(asked):
        how = f"{value}, {one_of} tried with the highest log joint"
    else:
        how = f"set to {value} in advance"
    return f"The concentration (prior count of a new subtype, in subjects) was {how}."


def search_in_words(findings: Findings, fit: Fit, asked: Mapping[str, Any]) -> list[str]:
    """Return the sentences on the search; in a shared report without how many searches ended where."""
    init = asked["init"]
    is_filled = fit.completed_log_joint_ is not None
    begun = "single" if is_filled and isinstance(init, str) else init
    where = _BEGUN[begun] if isinstance(begun, str) else "from a partition given in advance"
    highest = "the highest log joint with filled values" if is_filled else "the highest log joint"
    stopped = [f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []
    subjects = "all subjects" if len(findings.sizes) == 1 else f"{sizes_in_words(findings)} subjects"
    subtypes = f"{counted(len(findings.sizes), 'subtype')} of {subjects}"
    if findings.is_shared:
        sought = f"The partition with {highest} was sought ({where}; random seed {fit.random_seed_})."
        return [sought, *stopped, f"The best found has {subtypes}."]
    restarts = fit.restarts_
    refined = int(restarts["start"].isin(("recombined", "perturbed")).sum())
    started = len(restarts) - refined
    best = int((restarts["log_joint"].round(6) == round(float(restarts["log_joint"].max()), 6)).sum())
    sentences = [
        f"The partition with {highest} was sought from {counted(started, 'start')} ({where}; random seed "
        f"{fit.random_seed_})."
    ]
    if refined:
        sentences.append(f"The best were recombined and perturbed in {counted(refined, 'further search', 'es')}.")
    sentences += stopped
    of_observed = " of observed values" if is_filled else ""
    joint = f" (log joint{of_observed} {fit.log_joint_:.2f} nats)".replace("-", "−")
    n_groups = groups_found(fit)
    ended = f"{best} of {counted(len(restarts), 'search', 'es')} ended at the best, with"
    found = f"{subtypes}{joint}" if n_groups is None else f"{n_groups} groups{joint}, which make up {subtypes}"
    return [*sentences, f"{ended} {found}."]


def sizes_in_words(findings: Findings) -> str:
    """Return the sizes of the subtypes that are shown, in a list."""
    shown = [findings.shown_sizes[subtype] for subtype in findings.sizes]
    return listed([WITHHELD if size is None else f"{size:,}" for size in shown])


def methods_of_the_test(findings: Findings, references: References) -> list[str]:
    """Return the sentences on the test of the tree; empty if it was not tested."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None:
        return []
    test = fit.tree_test_
    accepted, n_tested = int(test.joins["accepted"].sum()), len(test.joins)
    fields: dict[str, Any] = {"n_draws": test.n_draws, "level": test.significance_level, "seed": test.random_seed}
    fields |= {"least": SMALLEST_NODE, "sample": FIRST_SAMPLE, "most": LARGEST_NODE, "distinct_level": DISTINCT_LEVEL}
    fields |= {"gaps": GAP_COUNTS, "shapes": SHAPE_COUNTS, "finding": findings.answer.words["finding"]}
    fields |= {"tested": counted(n_tested, "division"), "accepted": f"{accepted} {was(accepted)}"}
    names = ["tree", "gains", "level", *["sampled"] * is_sampled(findings, test)]
    names += [*["shapes"] * bool(test.joins["p_any_shape"].notna().any()), "result"]
    names = names if n_tested else ["nothing"]
    sentences = [references.cite_in(_TEXTS["test"][name], **fields) for name in names]
    if findings.continuum is not None:
        sentences.append(
            "The continuum score of a subject is the first principal component of the normal scores of mid-ranks "
            f"({references.cite('principal components')}), standardised; missing values were integrated out."
        )
    return sentences


# The sheet Methods: a methods section for a paper, and the works that it cites.

_INTERVALS = _TEXTS["intervals"]
"""The methods of the confidence intervals; see `clinclust.compare_subtypes`."""


class Methods(NamedTuple):
    """The text of each paragraph of a methods section by its topic, in order, and the full references that it cites."""

    paragraphs: dict[str, str]
    references: list[str]


def methods(findings: Findings) -> Methods:
    """Return the methods section, which describes only what was run."""
    references, fit = References(), findings.fit
    asked = parameters_of(findings.cohort.model)
    ours, *others = (f"{name} {version}" for name, version in software_versions().items())
    written = {
        "Subjects": sentences_on_rows(findings),
        "Model": _given(findings) if fit is None else _model(findings, fit, asked, references),
        "Prior": [] if fit is None else _prior(findings, fit, asked, references),
        "Missing values": [] if fit is None else _missing(findings, fit, references),
        "Search": [] if fit is None else search_in_words(findings, fit, asked),
        "Distinct subtypes": methods_of_the_test(findings, references),
        "Comparisons": _comparisons(findings, references),
        "Associations": methods_of_associations(findings, references),
        "Confidentiality": _confidentiality(findings),
        "Software": [f"The analysis was made with {ours} on {listed(others)}."],
    }
    paragraphs = {about: " ".join(sentences) for about, sentences in written.items() if sentences}
    return Methods(paragraphs, references.listed())


def methods_sheet(findings: Findings) -> Sheet:
    """Return the sheet: each paragraph and each reference in one cell, so that it can be copied."""
    section = methods(findings)
    paragraph, reference = Column("Paragraph", widest=110), Column("Reference", widest=110)
    tables = [
        Table("Text", [Column("About"), paragraph], list(section.paragraphs.items())),
        Table("References", [Column("Number", "0"), reference], list(enumerate(section.references, start=1))),
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
    blocks = sorted({feature.block for feature in clustered if feature.traits.is_chained and feature.block is not None})
    but_for = f", but for those of one multivariate Gaussian block ({listed(blocks)})" if blocks else ""
    fields: dict[str, Any] = {"where": where, "subjects": counted(findings.n_subjects, "subject"), "group": group}
    fields |= {"features": counted(len(clustered), "feature"), "but_for": but_for, "likelihoods": likelihoods}

    def say(name: str, **more: object) -> str:
        return references.cite_in(_TEXTS["model"][name], **fields, **more)

    sentences = [say("model"), say("features")]
    if in_parts := sum(bool(feature.point_masses) for feature in clustered):
        sentences.append(say("point_masses", some=counted(in_parts, "feature")))
    sentences += [*sentence_on_unions(findings), *on_merged_groups(findings), *on_adjustment(findings)]
    sentences += [concentration_in_words(findings, fit, given["concentration"], references)]
    if fit.discount_ > 0:
        sentences.append(say("discount", discount=fit.discount_))
    automatic = isinstance(given["coarsening"], str)
    if automatic or fit.coarsening_ < 1:
        coarsening = findings.setting(fit, "coarsening")
        power = coarsening if isinstance(coarsening, str) else f"{coarsening:.3g}"
        sentences.append(say("coarsening", power=power, how=_TEXTS["model"]["automatic"] if automatic else ""))
    # Whether a block counted for less, by weights that the search chose, is a function of exact counts.
    if not (findings.is_rounded and given["block_weights"] == "auto"):
        sentences += sentences_on_blocks(findings, fit)
    if fit.outlying_share_ > 0:
        n_aside = int(fit.outliers_.sum())
        aside = "" if findings.is_shared else f"; {counted(n_aside, 'value')} {was(n_aside)} set aside"
        sentences.append(say("outlying", share=fit.outlying_share_, aside=aside))
    if given["calibrate"] and fit.n_clusters_ > 1:
        sentences.append(say("temperatures", t="" if findings.is_shared else f", {fit.temperature_:.2f}"))
    is_first = isinstance(given["select_features"], str)
    n_alike = sum(feature.name not in {*fit.uninformative_, *fit.selected_features_} for feature in clustered)
    # Whether 'auto' selected features is a function of exact counts.
    if (n_alike or fit.prior_strength_) and not findings.is_rounded if is_first else given["select_features"]:
        # The number of features with a relevance above 0 would disclose one that is withheld.
        is_secret = any(findings.is_withheld(feature) for feature in clustered)
        selected = WITHHELD if is_secret else str(len(fit.selected_features_))
        when = "in a shorter search before" if is_first else "together with"
        sentences.append(say("selected", when=when, selected=selected, all=len(clustered)))
    return sentences


def _prior(findings: Findings, fit: Fit, asked: Mapping[str, Any], references: References) -> list[str]:
    given = asked["hyperparameters"]
    stated = {feature.name for feature in findings.clustered if feature.prior}
    if given == "greedy":
        how = f"were estimated by greedy coordinate search ({references.cite('map-dp')}, appendix G)"
    else:
        is_secret = findings.is_shared and isinstance(asked["select_features"], str)
        weight = "1 subject or a few" if is_secret else counted(1 + round(fit.prior_strength_), "subject")
        how = f"were set from the data, each prior about as strong as {weight}"
        stated |= {*(given or {})} & {feature.name for feature in findings.features}
    of_stated = f"Those of {counted(len(stated), 'feature')} were stated in advance, in whole or in part."
    return [f"The hyperparameters {how}.", *[of_stated] * bool(stated)]


def _missing(findings: Findings, fit: Fit, references: References) -> list[str]:
    treated = references.cite_in(_TEXTS["integrated" if fit.completed_log_joint_ is None else "filled"])
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
    # Over the tests that are withheld too, the ranks of those shown would enclose their p-values.
    shown = " that are shown in this report" if findings.is_shared else ""
    if len(findings.read.tested) > 1:
        is_pooled = any(row["test"] == "student" for row in findings.read.rows("test"))
        fields = {"pooled": references.cite_in(_TEXTS["pooled"]) if is_pooled else "", "shown": shown}
        sentences.append(references.cite_in(_TEXTS["pairs"], level=findings.significance_level, **fields))
    names = sorted({str(row["test"]) for row in findings.read.rows("contrast") if isinstance(row["test"], str)})
    if names:
        sentences.append(
            f"All subtypes{enough_subjects(findings)} at once were contrasted by {tests_in_words(names, references)}."
        )
    measures = list(dict.fromkeys(str(row["measure"]) for row in findings.read.rows("effect")))
    if measures:
        called = {measure: measure_in_words(measure) for measure in measures}
        intervals = [f"{name} by {_INTERVALS[measure]}" for measure, name in called.items() if measure in _INTERVALS]
        how = f": those of the {listed(intervals, '; ')}" if intervals else ""
        sentences.append(f"Effect sizes ({listed([*called.values()])}) are given with 95% confidence intervals{how}.")
    if findings.untested:
        sentences.append("Smaller subtypes were not tested." if names else "Subtypes of few subjects were not tested.")
    if sentences:
        made = "may have been made" if findings.fit is None else "were found"
        sentences.append(_TEXTS["descriptive"].format(made=made))
    return sentences


def _confidentiality(findings: Findings) -> list[str]:
    if not findings.comparisons["suppressed"].any():
        return []
    if findings.rule is not None and findings.is_rounded:
        return [f"Counts were rounded to multiples of {findings.rule.rounding}; tests and estimates were withheld."]
    return ["Numbers that few subjects are behind, and those from which they could be worked out, were withheld: [c]."]


# What a report says of the run: the rows analysed, what blocks counted for, and the settings of the search.


def sentences_on_rows(findings: Findings) -> list[str]:
    """Return which rows were analysed, and how many were left out for which reason; small numbers withheld."""
    choice, taken = findings.cohort.schema.rows, rows_taken(findings.cohort.table)
    counts = None if findings.fit is None else findings.fit.row_counts_
    if findings.fit is None and taken is not None:
        choice, counts = choice or taken.choice, taken.counts
    words = _words(findings, choice)
    n_subjects = len(findings.cohort.table)
    if findings.sizes_of_all is not None:
        # A number that is withheld could be the difference of those of a sample and of all.
        sampled = "a sample" if findings.is_shared else f"a sample of {n_subjects:,}"
        return [
            f"Sizes, summaries and tests of features are of all {findings.n_subjects:,} rows of these subtypes, which "
            f"are in partitions; everything else is of {sampled} of them. A subtype without a subject in the sample "
            "is left out. Columns of many values are rounded to a thousandth of their interquartile range for tests."
        ]
    if findings.is_rounded or counts is None:
        # Whether any row was left out is a function of exact counts, unless the choice says so.
        unknown = f"is withheld {WITHHELD}" if findings.is_rounded else "was not recorded"
        selection = ", and ".join(words.values())
        return [f"The schema takes {selection}; how many rows were left out {unknown}."] if choice else []
    if counts.in_table == n_subjects and not choice:
        return [f"All {n_subjects:,} rows of the table were analysed."]
    shown = _shown(findings, counts)
    reasons = []
    if "rows" in words:
        reasons.append(f"{words['rows']} ({shown['outside']} left out by hand)")
    if "where" in words:
        reasons.append(f"{words['where']} ({shown['not meeting']} left out{shown['unknown']})")
    if "one_row_per" in words:
        reasons.append(f"{words['one_row_per']} ({shown['further']} left out)")
    if counts.taken > n_subjects:
        reasons.append(f"without others ({shown['after']}) that were left out after the table was read")
    return [f"Of {shown['in table']} rows of the table, {n_subjects:,} were analysed: {', and '.join(reasons)}."]


def sentences_on_visits(findings: Findings) -> list[str]:
    """Return that rows are not subjects, where that is known; a shared report gives no numbers."""
    visits = noted_several_rows(findings.cohort.table)
    if visits is None:
        return []
    if findings.is_shared:
        return ["ROWS ARE NOT PATIENTS: subjects have several rows, and each counts as a subject of its own."]
    return [f"{visits.warning()}."]


def _shown(findings: Findings, counts: RowCounts) -> dict[str, str]:
    n_subjects = len(findings.cohort.table)
    numbers = {
        "in table": counts.in_table,
        "outside": counts.outside,
        "not meeting": counts.not_meeting,
        "further": counts.further,
        "after": counts.taken - n_subjects,
    }
    if findings.rule is not None and are_small_rows(counts, n_subjects, findings.rule.threshold):
        return {**dict.fromkeys(numbers, WITHHELD), "unknown": ""}
    unknown = f", {counts.unknown:,} of them without a value that could be compared" if counts.unknown else ""
    return {name: f"{number:,}" for name, number in numbers.items()} | {"unknown": unknown}


def _words(findings: Findings, choice: RowChoice) -> dict[str, str]:
    words = choice.phrases()
    if "rows" in words and findings.is_shared:
        words["rows"] = "rows of the sheet that were named by hand"
    if choice.where is not None and findings.is_shared:
        condition = parsed(choice.where)
        columns = compared_columns(condition)
        if not _holds_of_everybody(condition) or any(_names_subjects(findings.cohort.schema, name) for name in columns):
            on_columns = f" on {', '.join(map(on_one_line, columns))}" if columns else ""
            words["where"] = f"those that meet a condition{on_columns}, which is withheld {WITHHELD}"
    return words


def _holds_of_everybody(condition: Condition) -> bool:
    """Return whether all values in a condition are those of every subject analysed, or limits that all keep to."""
    # Other values, such as those that are excluded, may be those of few people.
    parts = condition.parts if isinstance(condition, Joined) and condition.word == "and" else (condition,)
    return all(isinstance(part, Comparison) and (part.sign == "==" or is_order(part.sign)) for part in parts)


def _names_subjects(schema: FeatureSchema, column: str) -> bool:
    if column in schema and not schema[column].is_ignored:
        return schema[column].is_id
    return looks_identifying(column)


_MOST_LISTED = 10


def worth_of_blocks(findings: Findings, fit: Fit) -> dict[str, str]:
    """Return the weight of each block in words, by name: "8 features count for 1.6"; withheld if shared and chosen."""
    clustered = [feature for feature in fit.schema_.clustered if feature.name not in fit.uninformative_]
    sizes = Counter(feature.block for feature in clustered)
    is_secret = findings.is_shared and _are_chosen(findings)
    return {
        block: f"{sizes[block]} features count for " + (WITHHELD if is_secret else f"{power * sizes[block]:.1f}")
        for block, power in fit.block_weights_.items()
        if sizes[block] > 1
    }


def sentences_on_blocks(findings: Findings, fit: Fit) -> Iterator[str]:
    """Yield the sentence of the methods section on blocks, if any counted for less than its features."""
    if not any(power < 1.0 for power in fit.block_weights_.values()):
        return
    worth = worth_of_blocks(findings, fit)
    listed_ones = [f"{block}, {counted}" for block, counted in worth.items()]
    if len(worth) > _MOST_LISTED:
        listed_ones[_MOST_LISTED:] = [f"and {len(worth) - _MOST_LISTED} more, listed in the summary"]
    chosen = "taken from the dependence that the subtypes left between them"
    how = chosen if _are_chosen(findings) else "set in advance"
    yield (
        "Features that were declared as one block, because they depend on each other beyond the subtypes, did not "
        f"count as independent: the likelihood of each was raised to a power that was {how} ({'; '.join(listed_ones)})."
    )


def _are_chosen(findings: Findings) -> bool:
    return bool(parameters_of(findings.cohort.model)["block_weights"] == "auto")


FILLED_JOINT = "Log joint with filled values (nats)"
"""What the joint of a completed table is called, where the search filled missing values with modes."""

_OUTLYING = "Share of values expected to be outlying"


def search_facts(findings: Findings, fit: Fit) -> dict[str, Value]:
    """Return the settings and results of the search by name; see `clinclust.disclosure.counts` for those shared."""
    restarts, filled = fit.restarts_, fit.completed_log_joint_
    refinements = restarts["start"].isin(("recombined", "perturbed"))
    near = restarts["log_joint"] >= restarts["log_joint"].max() - 1.0
    n_relevant = int((fit.feature_relevance_ > 0.0).sum())
    return {
        "Log joint (nats)": as_value(fit.log_joint_),
        **({} if filled is None else {FILLED_JOINT: as_value(filled)}),
        "Concentration": findings.setting(fit, "concentration"),
        "Concentrations tried": len(fit.tuning_),
        "Discount": as_value(fit.discount_),
        "Coarsening": findings.setting(fit, "coarsening"),
        **{f"Block {block}": worth for block, worth in worth_of_blocks(findings, fit).items()},
        _OUTLYING: as_value(fit.outlying_share_),
        "Values set aside as outlying": int(fit.outliers_.sum()),
        "Features with a relevance above 0 (descriptive)": n_relevant,
        "Random seed": as_value(fit.random_seed_),
        "Restarts": int((~refinements).sum()),
        "Recombinations and perturbations": int(refinements.sum()),
        **({"Search": STOPPED_EARLY} if fit.stopped_early_ else {}),
        "Partitions within 1 nat of the best": int(restarts["log_joint"].round(6)[near].nunique()),
    }
