"""The methods section, and the run: versions, seeds, parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from clinclust.engine.continuum import tested_node as rule
from clinclust.estimators.distinct_subtypes import FAR, LEAST_CLEAR
from clinclust.estimators.fit import DISTINCT_LEVEL, SHAPE_COUNTS, STOPPED_EARLY, Fit
from clinclust.estimators.saving import software_versions
from clinclust.estimators.subtype_model import CLEAR, parameters_of
from clinclust.files.row_choice import noted_several_rows
from clinclust.likelihoods import REGISTRY
from clinclust.reporting.divisions import n_parted
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import (
    WORDS,
    References,
    Sheet,
    Value,
    as_value,
    counted,
    list_first,
    listed,
    measure_in_words,
    print_figure,
    tabulate,
    tests_in_words,
    translate,
)
from clinclust.reporting.sheets.associations import methods_of_associations
from clinclust.reporting.sheets.divisions import is_sampled
from clinclust.reporting.sheets.subtypes import groups_found, on_adjustment, on_merged_groups, on_unions

# What the Methods section says of the search and of the test of its tree.

_TEXTS = WORDS["methods"]


def _describe_search(findings: Findings, fit: Fit, asked: Mapping[str, Any]) -> list[str]:
    """Return the sentences on the search, and how many searches ended where if that is known."""
    init, is_filled = asked["init"], fit.completed_log_joint_ is not None
    texts, begun = findings.texts["methods"]["search"], "single" if is_filled and isinstance(init, str) else init
    subtypes = texts["of_all" if len(findings.sizes) == 1 else "of_sizes"]
    fields: dict[str, Any] = {name: texts[name] * is_filled for name in ("of_filled", "of_observed")}
    fields |= {"where": texts["begun"][begun if isinstance(begun, str) else "given"], "seed": fit.random_seed_}
    subtypes = subtypes.format(subtypes=counted(len(findings.sizes), "subtype"), sizes=_list_sizes(findings))
    fields |= {"subtypes": subtypes, "stopped": translate(STOPPED_EARLY)}
    fields |= {"joint": print_figure(f"{fit.log_joint_:.2f}"), "groups": groups_found(fit)}
    names = ["sought", *["stopped"] * fit.stopped_early_, "found"]
    if findings.searches is not None:
        joint = findings.searches["log_joint"].round(6)
        n_refined = int(findings.searches["start"].isin(("recombined", "perturbed")).sum())
        fields |= {"starts": counted(len(joint) - n_refined, "start"), "best": int((joint == joint.max()).sum())}
        fields |= {"refined": counted(n_refined, "further search"), "all": counted(len(joint), "search")}
        names = ["sought_from", *["refined"] * bool(n_refined), *["stopped"] * fit.stopped_early_]
        names += ["ended" if groups_found(fit) is None else "ended_in_groups"]
    return [texts[name].format(**fields) for name in names]


def _list_sizes(findings: Findings) -> str:
    """Return the sizes of the subtypes in a list."""
    return listed([print_figure(f"{size:,}") for size in findings.sizes.values()])


def _describe_test(findings: Findings, references: References) -> list[str]:
    """Return the sentences on the test of the tree; empty if it was not tested."""
    fit = findings.fit
    if fit is None or fit.tree_test_ is None:
        return []
    test = fit.tree_test_
    accepted, n_tested = int(test.joins["accepted"].sum()), len(test.joins)
    fields: dict[str, Any] = {"n_draws": test.n_draws, "level": test.significance_level, "seed": test.random_seed}
    fields |= {"least": rule.SMALLEST_NODE, "sample": rule.FIRST_SAMPLE, "most": rule.LARGEST_NODE}
    fields |= {"flat": rule.FLAT_TOP[0], "tail": rule.TAIL_COUNTS, "skewness": rule.LONG_TAIL, "shapes": SHAPE_COUNTS}
    fields |= {"distinct_level": DISTINCT_LEVEL, "dip_level": DISTINCT_LEVEL / rule.FLAT_TOP[1]}
    fields |= {"mixed": rule.MIXED[0], "mixed_dip": DISTINCT_LEVEL / rule.MIXED[1], "either": rule.EITHER_COUNTS}
    fields |= {"heap": rule.HEAP, "limit": rule.LIMIT, "clear": CLEAR, "few": LEAST_CLEAR, "far": FAR}
    fields["finding"] = findings.answer.words["finding"]
    fields |= {"tested": counted(n_tested, "division"), "accepted": accepted, "was": counted(accepted, "was")}
    names = ["tree", "gains", "level", *["sampled"] * is_sampled(test)]
    names += [*["shapes"] * bool(test.joins["p_any_shape"].notna().any()), "result"]
    names = names if n_tested else ["nothing"]
    names += ["score"] * (n_parted(fit) == 1)
    return [references.cite_in(text, **fields) for name in names if (text := findings.texts["methods"]["test"][name])]


# The sheet Methods: a methods section for a paper, and the works that it cites.


class Methods(NamedTuple):
    """The text of each paragraph of a methods section by its topic, in order, and the full references that it cites."""

    paragraphs: dict[str, str]
    references: list[str]


def methods(findings: Findings) -> Methods:
    """Return the methods section, which describes only what was run."""
    references, fit = References(), findings.fit
    parameters = parameters_of(findings.cohort.model)
    withheld = findings.texts["methods"]["confidentiality"].format(rule=findings.rule)
    has_weights = findings.row_choice is not None and findings.row_choice.draw_by is not None
    weighted = [references.cite_in(findings.texts["rows"]["weighted"])] if has_weights else []
    ours, *others = (f"{name} {version}" for name, version in software_versions().items())
    written = {
        "Subjects": [*sentences_on_rows(findings), *weighted],
        "Model": _given(findings) if fit is None else _model(findings, fit, parameters, references),
        "Prior": [] if fit is None else _prior(findings, fit, parameters, references),
        "Missing values": [] if fit is None else _missing(findings, fit, references),
        "Search": [] if fit is None else _describe_search(findings, fit, parameters),
        "Distinct subtypes": _describe_test(findings, references),
        "Comparisons": _comparisons(findings, references),
        "Associations": methods_of_associations(findings, references),
        "Confidentiality": [withheld] if findings.comparisons["suppressed"].any() else [],
        "Software": [_TEXTS["software"].format(ours=ours, others=listed(others))],
    }
    paragraphs = {about: " ".join(sentences) for about, sentences in written.items() if sentences}
    return Methods(paragraphs, references.listed())


def methods_sheet(findings: Findings) -> Sheet:
    """Return the sheet: each paragraph and each reference in one cell, so that it can be copied."""
    section = methods(findings)
    tables = [
        tabulate("methods", [(_TEXTS["about"][about], text) for about, text in section.paragraphs.items()]),
        tabulate("references", list(enumerate(section.references, start=1))),
    ]
    return Sheet("Methods", [_TEXTS["note"]], tables)


def _given(findings: Findings) -> list[str]:
    model, texts, n_subtypes = findings.cohort.model, _TEXTS["given"], len(findings.sizes)
    fields = {name: counted(n_subtypes, noun) for name, noun in (("subtypes", "subtype"), ("was", "was"))}
    fields["made_by"] = findings.made_by
    fields |= {"subjects": counted(findings.n_subjects, "subject"), "sizes": _list_sizes(findings)}
    fields["where"] = texts["where"].format(title=model.schema_.title) if model.schema_.title else ""
    fields["features"] = counted(len(findings.clustered), "feature")
    names = ["made", *["formed"] * bool(findings.clustered), "missing"]
    return [texts[name].format(**fields) for name in names]


def _model(findings: Findings, fit: Fit, given: Mapping[str, Any], references: References) -> list[str]:
    schema, clustered, texts = fit.schema_, findings.clustered, findings.texts["methods"]["model"]
    kinds = Counter(str(feature.likelihood) for feature in clustered)
    where = texts["where"].format(title=schema.title) if schema.title else ""
    group, groups = WORDS["formed"]["one_and_several" if groups_found(fit) is None else "group_and_groups"]
    titles = {kind: translate(likelihood.title) for kind, likelihood in REGISTRY.items() if kinds[kind]}
    likelihoods = listed([f"{title}, {kinds[kind]}" for kind, title in titles.items()], "; ")
    blocks = sorted({feature.block for feature in clustered if feature.traits.is_chained and feature.block is not None})
    but_for = texts["but_for"].format(blocks=listed(blocks)) if blocks else ""
    fields: dict[str, Any] = {"where": where, "subjects": counted(findings.n_subjects, "subject")}
    fields |= {"group": group, "groups": groups, "features": counted(len(clustered), "feature")}
    fields |= {"but_for": but_for, "likelihoods": likelihoods}

    def say(name: str, **more: object) -> str:
        return references.cite_in(texts[name], **fields, **more)

    sentences = [say("model"), say("features")]
    if in_parts := sum(bool(feature.point_masses) for feature in clustered):
        sentences.append(say("point_masses", some=counted(in_parts, "feature")))
    sentences += [*on_unions(findings), *on_merged_groups(findings), *on_adjustment(findings)]
    concentration, texts_of_it = given["concentration"], _TEXTS["concentration"]
    how = "tried" if np.ndim(concentration) else "stated"
    how = ("map" if concentration == "map" else "held_out") if isinstance(concentration, str) else how
    value = {"value": findings.setting(fit, "concentration"), "n": len(fit.tuning_)}
    sentences.append(texts_of_it["was"].format(how=references.cite_in(texts_of_it[how], **value)))
    automatic = isinstance(given["coarsening"], str)
    if automatic or fit.coarsening_ < 1:
        how = texts["automatic"] if automatic else ""
        sentences.append(say("coarsening", power=findings.setting(fit, "coarsening"), how=how))
    blocks = [f"{block}, {worth}" for block, worth in _describe_blocks(findings).items()]
    if blocks and any(power < 1.0 for power in fit.block_weights_.values()):
        which = list_first(blocks, _MOST_LISTED, "in_summary", "; ")
        sentences.append(
            say("blocks", how=texts["chosen" if given.get("block_weights") == "auto" else "stated"], blocks=which)
        )
    if fit.outlying_share_ > 0:
        n_aside = int(fit.outliers_.sum())
        fields |= {"aside": counted(n_aside, "value"), "was": counted(n_aside, "was")}
        sentences.append(say("outlying", share=fit.outlying_share_))
    if given["calibrate"] and fit.n_clusters_ > 1:
        sentences.append(say("temperatures", t=fit.temperature_))
    is_first = isinstance(given["select_features"], str)
    n_alike = sum(feature.name not in {*fit.uninformative_, *fit.selected_features_} for feature in clustered)
    if (n_alike or fit.prior_strength_) if is_first else given["select_features"]:
        name = "selected_before" if is_first else "selected"
        sentences.append(say(name, selected=len(fit.selected_features_), all=len(clustered)))
    return list(filter(None, sentences))


def _prior(findings: Findings, fit: Fit, asked: Mapping[str, Any], references: References) -> list[str]:
    hyperparameters, texts = asked["hyperparameters"], findings.texts["methods"]["prior"]
    stated = {feature.name for feature in findings.clustered if feature.prior}
    if hyperparameters != "greedy":
        stated |= {*(hyperparameters or {})} & {feature.name for feature in findings.features}
    how = texts["greedy" if hyperparameters == "greedy" else "from_data"]
    strength = counted(1 + round(fit.prior_strength_), "subject")
    sentences = [references.cite_in(how, strength=strength), texts["stated"]]
    return [text.format(features=counted(len(stated), "feature")) for text in sentences[: 1 + bool(stated)]]


def _missing(findings: Findings, fit: Fit, references: References) -> list[str]:
    treated = references.cite_in(_TEXTS["integrated" if fit.completed_log_joint_ is None else "filled"])
    texts, fields = findings.texts["methods"]["missing"], {"treated": treated}
    names = ["if_any"]
    if findings.n_missing is not None:
        n, n_values = findings.n_missing
        fields["share"], names = print_figure(f"{100 * (n / max(n_values, 1)):.1f}%"), ["some" if n else "none"]
    n_without = sum(name in fit.schema_ for name in fit.uninformative_)  # not those of which one part was
    n_in_part = len(fit.uninformative_) - n_without
    names += [*["in_any_case"], *["without"] * (n_without > 0), *["in_part"] * (n_in_part > 0)]
    fields |= {"without": counted(n_without, "feature"), "was": counted(n_without, "was")}
    fields["part"] = counted(n_in_part, "feature")
    return [texts[name].format(**fields) for name in names if texts[name]]


def _comparisons(findings: Findings, references: References) -> list[str]:
    texts, names = findings.texts["methods"]["comparisons"], ["pairs"] * (len(findings.read.tested) > 1)
    tests = sorted({str(row["test"]) for row in findings.read.rows("contrast") if isinstance(row["test"], str)})
    measures = list(dict.fromkeys(str(row["measure"]) for row in findings.read.rows("effect")))
    intervals = [text.format(measure_in_words(name)) for name in measures if (text := _TEXTS["intervals"].get(name))]
    names += [*["contrasts"] * bool(tests), *["effects"] * bool(measures)]
    names += ["smaller_untested" if tests else "untested"] * bool(findings.n_untested)
    names += ["descriptive_of_given" if findings.fit is None else "descriptive"] * bool(names)
    is_pooled = any(row["test"] == "student" for row in findings.read.rows("test"))
    fields = {
        "level": findings.significance_level,
        "pooled": references.cite_in(texts["pooled"]) if is_pooled else "",
        "enough": findings.texts["untested"]["enough"].format(least=findings.min_size) * bool(findings.n_untested),
        "tests": tests_in_words(tests, references) if tests else "",
        "measures": listed(list(map(measure_in_words, measures))) if measures else "",
        "how": texts["intervals"].format(intervals=listed(intervals, "; ")) if intervals else "",
    }
    return [references.cite_in(texts[name], **fields) for name in names]


# What a report says of the run: the rows analysed, what blocks counted for, and the settings of the search.


def sentences_on_rows(findings: Findings) -> list[str]:
    """Return which rows were analysed, and how many were left out for which reason."""
    texts, n_rows, numbers = findings.texts["rows"], len(findings.cohort.table), findings.numbers_of_rows
    phrases = {kind: translate(phrase) for kind, phrase in findings.row_phrases.items()}
    counts = findings.row_counts
    fields: dict[str, Any] = {"n": findings.n_subjects, "rows": n_rows, **numbers}
    if findings.of_all is not None:
        return [texts["of_all"].format(**fields)]
    if counts is None:
        # Whether any row was left out is a function of exact counts, unless the choice says so.
        return [texts["unknown"].format(selection=listed(list(phrases.values())))] if findings.row_choice else []
    if counts.in_table == n_rows and not findings.row_choice:
        return [texts["all"].format(**fields)]
    fields["of_unknown"] = texts["of_unknown"].format(**fields) if counts.unknown and numbers["unknown"] else ""
    reasons = [texts["left_out"][kind].format(phrase=phrase, **fields) for kind, phrase in phrases.items()]
    reasons += [texts["left_out"]["after"].format(**fields)] * (counts.taken > n_rows)
    return [texts["some"].format(reasons=listed(reasons), **fields)]


def sentences_on_visits(findings: Findings) -> list[str]:
    """Return that rows are not subjects, where that is known."""
    visits = noted_several_rows(findings.cohort.table)
    return [] if visits is None else [findings.texts["rows"]["visits"].format(warning=translate(visits.warning()))]


_MOST_LISTED = 10


def _describe_blocks(findings: Findings) -> dict[str, str]:
    """Return what each block counts for in words, by name: "8 features count for 1.6"."""
    text = _TEXTS["comparisons"]["worth"]
    return {block: text.format(n=n, worth=worth) for block, (n, worth) in findings.blocks.items()}


def search_facts(findings: Findings, fit: Fit) -> dict[str, Value]:
    """Return the settings and results of the search by name; see `clinclust.disclosure.counts` for those shared."""
    restarts, filled, names = fit.restarts_, fit.completed_log_joint_, WORDS["facts"]
    refinements = restarts["start"].isin(("recombined", "perturbed"))
    near = restarts["log_joint"] >= restarts["log_joint"].max() - 1.0
    facts = {
        "log_joint": as_value(fit.log_joint_),
        **({} if filled is None else {"filled_joint": as_value(filled)}),
        "concentration": findings.setting(fit, "concentration"),
        "n_concentrations": len(fit.tuning_),
        "coarsening": findings.setting(fit, "coarsening"),
        **_describe_blocks(findings),
        "outlying_share": as_value(fit.outlying_share_),
        "n_outlying": int(fit.outliers_.sum()),
        "n_relevant": int((fit.feature_relevance_ > 0.0).sum()),
        "seed": as_value(fit.random_seed_),
        "n_restarts": int((~refinements).sum()),
        "n_refinements": int(refinements.sum()),
        **({"search": translate(STOPPED_EARLY)} if fit.stopped_early_ else {}),
        "n_near": int(restarts["log_joint"].round(6)[near].nunique()),
    }
    blocks = {block: names["block"].format(block=block) for block in findings.blocks}
    return {blocks.get(name) or names[name]: fact for name, fact in facts.items()}
