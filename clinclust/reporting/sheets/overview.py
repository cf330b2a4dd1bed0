"""The first pages: the answer, how far to trust it, and the summary of the whole report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from clinclust.arrays import Code
from clinclust.comparisons.dominance import NEARLY
from clinclust.comparisons.frame import is_missing
from clinclust.data import data
from clinclust.estimators.cohort_table import copied_rows
from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.saving import software_versions
from clinclust.estimators.subtype_model import CLEAR, basis_of_membership, criteria_of
from clinclust.estimators.subtype_tree import DISTINCT_LEVEL
from clinclust.reporting.divisions import least_clear, n_parted
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import (
    WITHHELD,
    Column,
    Filled,
    Sheet,
    Table,
    Value,
    counted,
    listed,
    percent,
    tabulated,
)
from clinclust.reporting.sheets.associations import count_in_words, sentences
from clinclust.reporting.sheets.divisions import (
    divisions_table,
    on_posterior,
    on_stability,
    on_the_test,
    p_in_words,
    posterior_column,
    stability_column,
    verdict,
)
from clinclust.reporting.sheets.methods import FILLED_JOINT, search_facts, sentences_on_rows, sentences_on_visits
from clinclust.reporting.sheets.model_check import on_likelihoods, on_model_check
from clinclust.reporting.sheets.subjects import certainty, continuum_table, on_continuum_score, on_unusual_subjects
from clinclust.reporting.sheets.subtypes import (
    descriptive,
    explained_marks,
    groups_found,
    marks_of,
    number_asked_for,
    on_adjustment,
    on_few_subjects,
    on_merged_groups,
    remark_column,
    unions_in_words,
)
from clinclust.schema.yaml_files import on_unused
from clinclust.stability.assess import TOO_FEW

# The sheet Summary: settings and results of the run, and the terms of the report.

_MISSING = "Values missing, of those clustered on (%)"
_PERHAPS = "Features that the subtypes may have been made from"
_MISSING_OF_GIVEN = "Values missing, of these features (%)"
_SETTINGS = ("Concentration", "Discount", "Coarsening", "Share of values expected to be outlying", "Significance level")
_MOST_PARTITIONS = 20
_UNTESTED = "Subtypes of few subjects, untested"
_TEXTS = data("report")["overview"]
_COLUMNS: dict[str, str] = _TEXTS["columns"]
_DOUBTS: dict[str, str] = data("report")["trust"]["doubts"]


def summary(findings: Findings, generated: datetime) -> Sheet:
    """Return the sheet: everything that is needed to describe and to repeat the run."""
    fit = findings.fit
    tables = [
        _what_was_run(findings, generated),
        *([_sizes(findings)] if len(findings.sizes) > 1 else []),
        _facts("How to read this report", ("Term", "Meaning"), _terms(findings)),
        *([] if fit is None or findings.searches is None else [_partitions(fit, findings.searches)]),
        _facts("Software", ("Package", "Version"), software_versions()),
    ]
    given = [] if fit is not None else [given_subtypes(findings)]
    on_rows = [*sentences_on_visits(findings), on_sharing(findings), *sentences_on_rows(findings)]
    return Sheet("Summary", [*on_rows, *given, descriptive(findings), *explained_marks(findings)], tables)


def given_subtypes(findings: Findings) -> str:
    """Return who or what made given subtypes, and the parts that the report therefore leaves out."""
    has_membership = findings.cohort.model.membership_ is not None
    return str(_TEXTS["given" if has_membership else "given_alone"].format(made_by=findings.cohort.model.made_by))


def _terms(findings: Findings) -> dict[str, Value]:
    """Return the terms that occur in this report, with their meanings."""
    texts, own = findings.texts["overview"], findings.own_membership
    absent = [*([] if own is not None else ["Membership probability"]), *([] if findings.blocks else ["Block"])]
    absent += [*([] if findings.fit is not None else texts["terms_of_a_search"])]
    terms: dict[str, Value] = {term: texts["how_to_read"][term] for term in texts["terms"] if term not in absent}
    if findings.fit is None:
        terms["Clustered on"] = texts["clustered_on_given"]
    if own is not None:
        terms["Membership probability"] = texts["membership"].format(basis=basis_of_membership(findings.cohort.model))
    return terms


def on_sharing(findings: Findings) -> str:
    """Return a sentence on whether the report may be shared, and on what is withheld in it."""
    return str(findings.texts["overview"]["sharing"].format(rule=findings.rule, sign=WITHHELD))


def _facts(
    caption: str, titles: tuple[str, str], facts: Mapping[str, Value], decimals: Mapping[str, int] | None = None
) -> Table:
    columns = [Column(titles[0]), Column(titles[1], "measure", overflow=True)]
    places = [(decimals or {}).get(name, 0) for name in facts]
    return Table(caption, columns, list(facts.items()), decimals=places)


def _what_was_run(findings: Findings, generated: datetime) -> Table:
    schema = findings.cohort.schema
    fit, (n_missing, n_values) = findings.fit, findings.n_missing or (0, 0)
    n_uninformative = sum(name in fit.schema_ for name in fit.uninformative_) if fit else 0
    facts: dict[str, Value] = {
        "Cohort": schema.title,
        "Subjects": findings.n_subjects,
        "Features clustered on" if fit else _PERHAPS: len(findings.clustered),
        **({"Features uninformative": n_uninformative} if fit else {}),
        "Features only described": len(schema.described),
        _MISSING if fit else _MISSING_OF_GIVEN: percent(n_missing, n_values) if n_values else None,
        **_how_many(findings),
        **({} if fit else {"Subtypes made by": findings.cohort.model.made_by}),
        **(search_facts(findings, fit) if fit else {}),
        **({"Significance level": findings.significance_level} if findings.is_tested else {}),
        _UNTESTED: ", ".join(map(str, findings.untested)) or "none",
        "Report written": f"{generated:%Y-%m-%d %H:%M %Z}".strip(),
        **{f"{of} fingerprint (SHA-256)": digest for of, digest in findings.fingerprints.items()},
    }
    decimals = {_MISSING: 1, _MISSING_OF_GIVEN: 1, "Log joint (nats)": 2}
    for name in (name for name in _SETTINGS if facts.get(name, WITHHELD) != WITHHELD):
        decimals[name] = min(len(f"{facts[name]:g}".partition(".")[2]), 6)
    return _facts("What was run", ("Item", "Value"), facts, decimals)


def _how_many(findings: Findings) -> dict[str, Value]:
    n = len(findings.sizes)
    if findings.fit is None:
        return {"Subtypes given": n}
    n_groups, n_asked = groups_found(findings.fit), number_asked_for(findings)
    if n_groups is None:
        return {"Subtypes found": n, **({} if n_asked is None else {"Subtypes asked for": n_asked})}
    return {"Number of subtypes": f"{n}{unions_in_words(findings)}", "Groups found by the search": n_groups}


def _sizes(findings: Findings) -> Table:
    labels, own = findings.cohort.labels, findings.own_membership
    columns = findings.size_columns("Subjects")
    if own is not None:
        members = {subtype: own[labels == subtype - 1].tolist() for subtype in findings.sizes}
        words = {subtype: [certainty(probability) for probability in members[subtype]] for subtype in members}
        group = (f"Certainty (subjects{findings.of_the_sample})", "")
        columns.append((Column("Mean membership probability", "0.000"), lambda subtype: np.mean(members[subtype])))
        columns += [
            (Column("clear", "0", group), lambda subtype: words[subtype].count("clear")),
            (Column("likely", "0", group), lambda subtype: words[subtype].count("likely")),
            (Column("uncertain", "0", group), lambda subtype: words[subtype].count("uncertain")),
        ]
    return tabulated("Subtypes", findings.sizes, [*columns, *remark_column(findings)])


def _partitions(fit: Fit, searches: pd.DataFrame) -> Table:
    # Searches with equal log joints (to 6 decimals) count as the same partition.
    restarts = searches.sort_values("log_joint", ascending=False, kind="stable")
    groups = restarts.assign(joint=restarts["log_joint"].round(6)).groupby("joint", sort=False)
    partitions = groups.first().assign(times=groups.size(), converged=groups["converged"].any())
    joint = "Log joint (nats)" if fit.completed_log_joint_ is None else FILLED_JOINT
    columns: list[Filled] = [
        (Column("Partition", "0"), "rank"),
        (Column("Searches that ended there", "0"), "times"),
        (Column("Start of the first"), "start"),
        (Column(joint, "0.00"), "log_joint"),
        (Column("Below the best (nats)", "0.00"), lambda row: restarts["log_joint"].max() - row["log_joint"]),
        (Column("Subtypes" if groups_found(fit) is None else "Groups", "0"), "n_clusters"),
        (Column("Converged"), lambda row: "yes" if row["converged"] else "no"),
        (Column("Agreement with the best", "0.000"), "ari_to_best"),
    ]
    some = f" ({_MOST_PARTITIONS} of {len(partitions)})" if len(partitions) > _MOST_PARTITIONS else ""
    ranked = partitions.assign(rank=range(1, len(partitions) + 1)).head(_MOST_PARTITIONS)
    return tabulated(f"Partitions found, the best first{some}", ranked, columns)


# The section Trust: how far to trust the subtypes, in words for a clinician.

_SMALL = 10  # subjects, below which a subtype may be a few unusual subjects
_SHOWN = 5
_MANY = 8  # distinct subtypes, above which the report doubts that they are as many kinds
_CLEAR = 0.005  # p of a division, from which on the report warns that it is not clear
_MOST_UNUSED = 6


def trust(findings: Findings) -> Sheet:
    """Return the section: the test of one continuum first, then whatever speaks against the subtypes."""
    several, posterior = len(findings.sizes) > 1, posterior_column(findings)
    further = [*posterior, *stability_column(findings), *remark_column(findings)]  # than its membership says
    how_sure: list[Filled] = [(Column("Subtype"), findings.name), *further]
    tables = [
        *([tabulated("How sure each subtype is", findings.sizes, how_sure)] if several and further else []),
        *divisions_table(findings),
        *_what_tells(findings),
        *continuum_table(findings),
        *_criteria(findings),
    ]
    explanations = [_TEXTS["clear"].format(clear=CLEAR)] * (several and findings.own_membership is not None)
    explanations += [data("report")["posterior"]["membership"]] * bool(posterior)
    explanations += [*(on_stability(findings) if several else []), *on_the_test(findings)]
    return Sheet("Trust", _statements(findings), tables, explanations=explanations)


def _criteria(findings: Findings) -> list[Table]:
    """Return the table that reviewers of latent classes ask for."""
    if findings.fit is None or findings.subjects is None or findings.fit.tree_.n_subtypes < 2:
        return []
    columns: list[Filled] = [
        (Column("Subtypes", "0"), "n_subtypes"),
        (Column("Parameters", "0"), "n_parameters"),
        (Column("Log likelihood", "0.0"), "log_likelihood"),
        (Column("BIC", "0.0"), "bic"),
        (Column("ICL", "0.0"), "icl"),
        (Column("Relative entropy", "0.00"), "relative_entropy"),
    ]
    caption = "Information criteria along the tree (they did not decide: a continuum often has many by them)"
    return [tabulated(caption, criteria_of(findings.subjects), columns)]


def _what_tells(findings: Findings) -> list[Table]:
    """Return the table of the columns that tell the branches of each division best; empty if there are none."""
    if findings.telling is None or findings.telling.empty:
        return []
    titles = {division.number: division.title for division in findings.divisions}

    def title(row: dict[str, Any]) -> str:
        return _COLUMNS[row["told_by"]].format(columns=findings.title_of(row["column"]))

    columns: list[Filled] = [
        (Column("Division"), lambda row: f"{row['division']}: {titles[row['division']]}"),
        (Column("Column"), title),
        (Column("Role"), "role"),
        (Column("Right (%)", "0"), lambda row: 100 * row["named_right"]),
        (Column("Largest branch (%)", "0"), lambda row: 100 * row["largest"]),
        (Column("If it is not of interest", widest=40), lambda row: _look_beyond(findings, {"second": None, **row})),
    ]
    return [tabulated("The columns that tell the branches of each division best", findings.telling, columns)]


def _statements(findings: Findings) -> list[str]:
    fit = findings.fit
    of_the_search = [given_subtypes(findings)]
    if fit is not None:
        stopped = [f"The search was {STOPPED_EARLY}."] if fit.stopped_early_ else []
        searches = [] if findings.searches is None else [searches_sentence(fit, findings.searches)]
        of_the_search = [*searches, *stopped, *cautions(findings)]
    return [
        *verdict(findings),
        *sentences(findings),
        *on_adjustment(findings),
        *on_dominant_columns(findings),
        *sentences_on_visits(findings),
        *_on_copies(findings),
        *on_posterior(findings),
        *on_merged_groups(findings),
        *on_few_subjects(findings),
        *on_likelihoods(findings),
        *on_model_check(findings),
        *on_unusual_subjects(findings),
        *on_continuum_score(findings),
        _what_was_found(findings),
        *filter(None, [on_unused(findings.cohort.schema, most=_MOST_UNUSED)] * (fit is not None)),
        *sentences_on_rows(findings),
        *of_the_search,
        on_sharing(findings),
    ]


def _on_copies(findings: Findings) -> list[str]:
    """Return the subtypes of which at least half are copies of rows."""
    cohort, names = findings.subjects, [feature.name for feature in findings.clustered]
    first = None if cohort is None else copied_rows(cohort.table, names)
    if cohort is None or first is None:
        return []
    is_copy, subtypes = first != np.arange(first.size), cohort.labels + 1
    made = [
        findings.name(subtype)
        for subtype in findings.sizes
        if 2 * is_copy[subtypes == subtype].sum() >= (subtypes == subtype).sum()
    ]
    copies = f"{is_copy.sum():,} of {first.size:,} rows are exact copies of an earlier row, more than chance explains"
    more = f" and {len(made) - _SHOWN} more" if len(made) > _SHOWN else ""
    consist = f"; at least half of {', '.join(made[:_SHOWN])}{more} are such copies" if made else ""
    return [f"{copies}{consist}."]


def _what_was_found(findings: Findings) -> str:
    features, n_subtypes = counted(len(findings.clustered), "feature"), len(findings.sizes)
    found = f"{n_subtypes} subtypes" if n_subtypes > 1 else "one group, no subtypes"
    n_subjects = f"{findings.n_subjects:,} subjects"
    n_missing, its = findings.n_missing, "its" if len(findings.clustered) == 1 else "their"
    share = 0.0 if n_missing is None else percent(*n_missing)
    name = "withheld" if n_missing is None else "some" if share else "few" if n_missing[0] else "no"
    missing = _TEXTS["missing"][name].format(share=share, its=its) if findings.clustered else ""
    if findings.fit is None:
        return f"Given: {found}, among {n_subjects}; {features} that they may have been made from{missing}."
    return f"Found: {found}{unions_in_words(findings)}, among {n_subjects}, from {features}{missing}."


def searches_sentence(fit: Fit, restarts: pd.DataFrame) -> str:
    """Return how many searches ended at the best partition, and how near the next best one is."""
    is_merged = groups_found(fit) is not None
    shown, made = ("these subtypes", "are") if fit.n_clusters_ > 1 else ("this one group", "is")
    these, same = (f"the groups that {shown} {made} made of", "groups") if is_merged else (shown, "subtypes")
    joint = restarts["log_joint"].round(6)
    at_best = int((joint == joint.max()).sum())
    if len(joint) == 1:
        return "One search was made."
    ended = f"{at_best} of {len(joint)} searches ended at {these}"
    others = restarts[joint < joint.max()]
    if others.empty:
        return f"{ended}."
    second = others.sort_values("log_joint", ascending=False, kind="stable").iloc[0]
    below = restarts["log_joint"].max() - second["log_joint"]
    nats = f"{below:,.0f}" if below >= 10 else f"{below:.1g}" if below < 0.1 else f"{below:.1f}"
    # A joint of filled values says how well the search did, and not how probable a partition is.
    meaning = "nats" if fit.completed_log_joint_ is None else "filled"
    texts, fields = _TEXTS["searches"], {"nats": nats, "ari": second["ari_to_best"], "same": same}
    return f"{ended}; {texts['next'].format(meaning=texts[meaning], **fields)}"


def cautions(findings: Findings) -> list[str]:
    """Return what speaks against taking the subtypes of a search for kinds of a disease; empty if they were given."""
    if findings.fit is None:
        return []
    if len(findings.sizes) < 2:
        # One group that was asked for says nothing.
        was_asked_for = n_parted(findings.fit) != 1 and groups_found(findings.fit) is not None
        return [] if was_asked_for else [_DOUBTS["one_group"]]
    return [" ".join(_doubts(findings, findings.fit))]


def _doubts(findings: Findings, fit: Fit) -> Iterator[str]:
    """Yield what the test leaves open, what only other data can tell, and which subtypes may be unusual subjects."""
    is_of_the_test, weakest = findings.answer.is_of_the_test, least_clear(findings.evidence)
    if is_of_the_test:
        if weakest is not None and weakest.p >= _CLEAR:
            yield _DOUBTS["weakest"].format(p=weakest.p_said)
        graded = [division for division in findings.divisions if division.is_accepted and not division.is_distinct]
        named = "; ".join(f"{division.number}: {division.title}" for division in graded[:_SHOWN])
        more = f"; {len(graded) - _SHOWN} more" if len(graded) > _SHOWN else ""
        if graded:
            yield _DOUBTS["graded"].format(named=f"{named}{more}")
        if len(findings.sizes) > _MANY:
            yield _DOUBTS["many"].format(many=_MANY)
    yield _DOUBTS["kinds" if is_of_the_test else "kinds_or_degrees"]
    sizes = {subtype: size for subtype, size in findings.sizes.items() if subtype not in findings.untested}
    small = [findings.name(subtype) for subtype, size in sizes.items() if isinstance(size, int) and size < _SMALL]
    if small:
        more = f" and {len(small) - _SHOWN} more" if len(small) > _SHOWN else ""
        yield _DOUBTS["small"].format(least=_SMALL, named=f"{', '.join(small[:_SHOWN])}{more}")


SHOWN = 3


def on_dominant_columns(findings: Findings) -> list[str]:
    """Return a sentence for each dominant column."""
    n, rows = findings.n_named, _dominant(findings)[:SHOWN]
    return [f"{in_words(row, n, findings.title_of, findings.name)} {_refit(row)}" for row in rows]


def on_columns(findings: Findings) -> list[str]:
    """Return which columns nearly make the subtypes or one division, and how to look beyond, for the first page."""
    rows: list[tuple[str, int, dict[Any, Any]]] = []
    for row in _dominant(findings)[:SHOWN]:
        title = " | ".join(", ".join(map(findings.name, group)) for group in row["groups"])
        is_whole = all(len(group) == 1 for group in row["groups"])
        rows.append(("" if is_whole else title, findings.n_named, row))
    named, divisions = {name for *_, row in rows for name in _names(row)}, findings.divisions
    by_number, schema = {division.number: division for division in divisions}, findings.cohort.schema
    for row in [] if findings.telling is None else findings.telling.to_dict("records"):
        name, division = row["column"], by_number[row["division"]]
        # A cut of a measurement often tells clear subtypes apart; a yes/no feature that does is another name of them.
        is_cut = name in schema and schema[name].is_clustered and not schema[name].traits.is_share
        is_told = row["explained"] >= NEARLY and (row["told_by"] == "missing" or not is_cut)
        # Some column or other tells 8 people from 2.
        if is_told and name not in named and min(map(int, division.sizes)) >= _SMALL:
            rows.append((division.title, division.n_subjects, {"second": None, **row}))
    said = []
    for title, n, row in rows[:SHOWN]:
        what = _COLUMNS["division" if title else "whole"].format(title=title)
        fields = {"right": row["named_right"], "largest": row["largest"], "n": n, "way": _look_beyond(findings, row)}
        columns = _COLUMNS[row["told_by"]].format(columns=listed(list(map(findings.title_of, _names(row)))))
        said.append(_COLUMNS["nearly"].format(what=what, columns=columns, **fields))
    return said


def _look_beyond(findings: Findings, row: dict[Any, Any]) -> str:
    """Return the option of a fit that shows what else there is than the columns of a row."""
    if row["told_by"] == "missing":
        return _COLUMNS["leave_out"]
    names, schema = _names(row), findings.cohort.schema
    role = "describe" if any(name in schema and schema[name].is_clustered for name in names) else "adjust"
    is_plain = all(re.fullmatch(r"[\w.]+", name) for name in names)
    return _COLUMNS["option" if is_plain else "role"].format(role=role, names=",".join(names))


def _dominant(findings: Findings) -> list[dict[Any, Any]]:
    return [] if findings.dominant is None else findings.dominant.to_dict("records")


def in_words(row: dict[Any, Any], n: int, title: Callable[[str], str], name: Callable[[int], str]) -> str:
    """Return a row of `dominant_columns` of n subjects as sentences, given titles of columns and names of subtypes."""
    columns, groups = " and ".join(map(title, _names(row))), row["groups"]
    is_whole, is_missing_told = all(len(group) == 1 for group in groups), row["told_by"] == "missing"
    united = " | ".join(", ".join(map(name, group)) for group in groups)
    which = "missing" if is_missing_told else "follow" if is_missing(row["others"]) else "formed"
    fields = {
        "what": _COLUMNS["whole" if is_whole else "division"].format(title=united),
        "columns": _COLUMNS[row["told_by"]].format(columns=columns),
        "more": f" (as {row['alike']} more columns)" if row["alike"] else "",
        "how": "hardly more than" if _is_alone(row) else "nearly",
        "alone": "both alone give" if len(_names(row)) > 1 else "it alone gives",
        "kind": "subtype" if is_whole else "branch",
        "others": None if which == "follow" else 1 - (1 - row["others"]) * (1 - row["largest"]),
    }
    return _COLUMNS[f"long_{which}"].format(right=row["named_right"], largest=row["largest"], n=n, **fields)


def fit_without(row: dict[Any, Any]) -> tuple[str, list[str]]:
    """Return the option of a fit without the columns of a row: ``describe`` and names, or ``where`` and a condition."""
    if _is_alone(row):
        return "describe", _names(row)
    return "where", [] if is_missing(row["part"]) else [row["part"]]


def _names(row: dict[Any, Any]) -> list[str]:
    return [row["column"]] if is_missing(row["second"]) else [row["column"], row["second"]]


def _is_alone(row: dict[Any, Any]) -> bool:
    return bool(row["others"] < NEARLY)  # NaN of columns that were not clustered on


def _refit(row: dict[Any, Any]) -> str:
    how, given = fit_without(row)
    if how == "where":
        return _COLUMNS["one_part"].format(such_as=f", such as those where {given[0]}" if given else "")
    roles = dict.fromkeys(given, "describe")
    by_name = all(map(str.isidentifier, roles))
    in_python = ", ".join(f"{name}='describe'" for name in roles) if by_name else repr(roles)
    return _COLUMNS["without"].format(in_python=in_python)


# The first page, read in a minute: the answer, the subtypes, how far to trust them, and what to look at next.

_NEAR = 0.2
"""p of one group, below which a page says how near the division was."""
_FEW_CLEAR = 50.0
"""Percent of clear members, below which the answer says so: the typical member may then be in another subtype."""


def overview(findings: Findings) -> Sheet:
    """Return the first section: one sentence, a line for each subtype, three on trust, and what to look at next."""
    questions = {"More than a continuum?": _more_than_a_continuum(findings)}
    if len(findings.sizes) > 1:
        is_told = "yes" if on_columns(findings) else "no"
        questions["A column you already have?"] = findings.texts["overview"]["columns"][is_told]
        questions["Found again in other halves?"] = _found_again(findings)
        questions["Which features differ?"] = count_in_words(findings)
    columns = [Column("Question"), Column("Answer", overflow=True)]
    tables = [*_subtypes(findings), Table("How far to trust it", columns, list(questions.items()))]
    clear = {findings.code(subtype): findings.percent_clear([subtype]) for subtype in findings.sizes}
    unsure = say_unsure({code: percent for code, percent in clear.items() if percent is not None})
    notes = [*sentences_on_visits(findings), answer_sentence(findings), *unsure, *on_columns(findings)]
    notes += on_adjustment(findings)
    what, step = next_step(findings)
    fields = {"what": what, "command": (findings.commands or _TEXTS["python"])[step]}
    sentences_on_it = filter(None, (findings.texts["overview"]["next"][name] for name in ("look", "run")))
    return Sheet("Overview", notes, tables, explanations=[text.format(**fields) for text in sentences_on_it])


def say_unsure(clear: Mapping[Code, float]) -> list[str]:
    """Return the sentence on the subtypes of which few members are clear, given the percentage of each by its code."""
    few = [f"{percent:.0f}% of {code}" for code, percent in clear.items() if percent < _FEW_CLEAR]
    more = [f"few of {len(few) - _SHOWN} more"] if len(few) > _SHOWN else []
    return [_TEXTS["unsure"].format(shares=listed([*few[:_SHOWN], *more]), clear=CLEAR)] if few else []


def say_differing(findings: Findings | None) -> list[str]:
    """Return how many features differ, as a line of the terminal; none without a report or with one group."""
    n_subtypes = 0 if findings is None else len(findings.sizes)
    return [_TEXTS["differing"].format(differing=count_in_words(findings))] if findings and n_subtypes > 1 else []


def answer_sentence(findings: Findings) -> str:
    """Return the answer: how many kinds of subject there are, in how many grades, and p of the least clear division."""
    made_by, n_asked = findings.cohort.model.made_by, number_asked_for(findings)
    return findings.answer.sentence(findings.n_subjects, findings.evidence, made_by=made_by, n_asked=n_asked)


def _subtypes(findings: Findings) -> list[Table]:
    """Return the table of the subtypes: a line for each kind, and beneath it one for each of its grades."""
    if len(findings.sizes) < 2:  # nothing marks one group
        return []
    marks = dict(zip(findings.sizes, marks_of(findings), strict=True))
    is_proposed = any(marked.name and subtype not in findings.names for subtype, marked in marks.items())
    kind_of = {kind[0]: kind for kind in findings.answer.graded}
    lines = [line for subtype in findings.sizes for line in (*filter(None, [kind_of.get(subtype)]), (subtype,))]

    def name(subtypes: Sequence[int]) -> str:
        subtype, *others = subtypes
        code, proposed = findings.code(subtype), marks[subtype].name
        if others:
            return str(_TEXTS["kind"].format(code=str(code).rstrip(ascii_lowercase)))
        return findings.name(subtype) if subtype in findings.names else f"{code}: {proposed}" if proposed else str(code)

    def mark(subtypes: Sequence[int]) -> str:
        grades = listed([str(findings.code(subtype)) for subtype in subtypes])
        return marks[subtypes[0]].text if len(subtypes) == 1 else _TEXTS["grades"].format(grades=grades)

    title = "Subtype (name proposed)" if is_proposed else "Subtype"
    columns: list[Filled] = [(Column(title, widest=33), name)]
    columns += [(Column("n", "0"), findings.size_of), (Column("%", "0.0"), findings.percent_of)]
    columns.append((Column("Marks (all subjects)", widest=60), mark))
    if findings.own_membership is not None:
        columns.append((Column("Clear (%)", "0"), findings.percent_clear))
    return [tabulated("The subtypes", lines, columns)]


def _more_than_a_continuum(findings: Findings) -> str:
    answer, division = findings.answer, least_clear(findings.evidence)
    texts, basis, often = _TEXTS["more_than_a_continuum"], answer.basis, ""
    if division is not None:
        often = texts["often"].format(words=p_in_words(division.p, division.n_draws))
    if basis == "continuum" and division is not None and division.p < _NEAR:
        basis = "nearly"
    return str(texts[basis].format(often=often, level=DISTINCT_LEVEL, **answer.words))


def _found_again(findings: Findings) -> str:
    if findings.stability is None:
        return "Not looked at (stability)."
    table = findings.stability.subtypes
    rated = table[table["band"] != TOO_FEW.name].sort_values("jaccard")
    if rated.empty:
        return "Too few subjects to tell."
    least = rated.iloc[0]
    return f"The least stable, {findings.name(least['subtype'])}: {least['band']} ({least['jaccard']:.2f} of 1)."


def next_step(findings: Findings) -> tuple[str, str]:
    """Return the first thing that a reader should look at, the gravest first, and the command that shows it."""
    fit, n_subtypes, texts = findings.fit, len(findings.sizes), _TEXTS["next"]
    if fit is not None and fit.stopped_early_:
        return texts["stopped"].format(how=STOPPED_EARLY), "table"
    if on_columns(findings):
        return texts["columns"], "table"
    if fit is not None and n_subtypes > 1 and on_likelihoods(findings):
        return texts["likelihoods"], "check"
    small = [subtype for subtype, size in findings.sizes.items() if isinstance(size, int) and size < _SMALL]
    if n_subtypes > 1 and small and findings.subjects is not None:
        return texts["small"].format(name=findings.name(small[0])), "table"
    if fit is None or n_subtypes > 1:
        return texts["table"], "table"
    score = "" if findings.continuum is None or findings.continuum.is_by_chance else texts["score"]
    return score + texts["one" if fit.subtype_of_.size < 2 else "two"], "table"
