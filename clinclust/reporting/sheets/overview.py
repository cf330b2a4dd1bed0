"""The first pages: the answer, how far to trust it, and the summary of the whole report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Code
from clinclust.comparisons.dominance import NEARLY, least_explained
from clinclust.estimators.cohort_table import copied_rows
from clinclust.estimators.fit import STOPPED_EARLY, Fit
from clinclust.estimators.saving import software_versions
from clinclust.estimators.subtype_model import CLEAR, criteria_of
from clinclust.reporting.divisions import least_clear, n_parted
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import (
    WITHHELD,
    WORDS,
    Sheet,
    Table,
    Value,
    counted,
    list_first,
    listed,
    name_together,
    percent,
    print_figure,
    tabulate,
    translate,
)
from clinclust.reporting.sheets.associations import count_in_words
from clinclust.reporting.sheets.divisions import (
    divisions_table,
    on_posterior,
    on_stability,
    on_the_test,
    p_in_words,
    posterior_of,
    stability_of,
    verdict,
)
from clinclust.reporting.sheets.methods import search_facts, sentences_on_rows, sentences_on_visits
from clinclust.reporting.sheets.model_check import on_likelihoods, on_model_check
from clinclust.reporting.sheets.subjects import continuum_table, on_continuum_score, on_unusual_subjects
from clinclust.reporting.sheets.subtypes import (
    descriptive,
    explained_marks,
    find_marks_of_kind,
    groups_found,
    marks_of,
    number_asked_for,
    on_adjustment,
    on_few_subjects,
    on_merged_groups,
    remarks_on,
)
from clinclust.schema.yaml_files import on_unused
from clinclust.stability.assess import TOO_FEW

# The sheet Summary: settings and results of the run, and the terms of the report.

_TEXTS = WORDS["overview"]
_COLUMNS, _DOUBTS = _TEXTS["columns"], WORDS["trust"]["doubts"]


def summary(findings: Findings, generated: datetime) -> Sheet:
    """Return the sheet: everything that is needed to describe and to repeat the run."""
    model, texts, basis = findings.cohort.model, findings.texts["overview"], ""
    if findings.own_membership is not None:
        basis = texts["basis"].format(basis=translate(model.membership_basis))
    terms = filter(None, texts["how_to_read"].values())
    tables = [
        _what_was_run(findings, generated),
        tabulate("terms", [(name, text.format(basis=basis)) for name, text in terms if basis or "{basis}" not in text]),
        tabulate("software", list(software_versions().items())),
    ]
    maker = [] if model.fit_ is not None else [given_subtypes(findings)]
    on_rows = [*sentences_on_visits(findings), on_sharing(findings), *sentences_on_rows(findings)]
    return Sheet("Summary", [*on_rows, *maker, descriptive(findings), *explained_marks(findings)], tables)


def given_subtypes(findings: Findings) -> str:
    """Return who or what made given subtypes, and the parts that the report therefore leaves out."""
    has_membership = findings.cohort.model.membership_ is not None
    return str(_TEXTS["given" if has_membership else "given_alone"].format(made_by=findings.made_by))


def on_sharing(findings: Findings) -> str:
    """Return a sentence on whether the report may be shared, and on what is withheld in it."""
    return str(findings.texts["overview"]["sharing"].format(rule=findings.rule, sign=WITHHELD))


def _what_was_run(findings: Findings, generated: datetime) -> Table:
    schema, names = findings.cohort.schema, WORDS["facts"]
    fit, (n_missing, n_values) = findings.fit, findings.n_missing or (0, 0)
    n_uninformative = sum(name in fit.schema_ for name in fit.uninformative_) if fit else 0
    share = names["missing" if fit else "missing_of_given"]
    numbers = {"found" if fit else "given": len(findings.sizes), "asked_for": number_asked_for(findings)}
    numbers["groups"] = groups_found(fit) if fit else None
    facts: dict[str, Value] = {
        names["cohort"]: schema.title,
        names["subjects"]: findings.n_subjects,
        names["clustered_on" if fit else "perhaps"]: len(findings.clustered),
        **({names["uninformative"]: n_uninformative} if fit else {}),
        names["described"]: len(schema.described),
        share: percent(n_missing, n_values) if n_values else None,
        **{names[name]: number for name, number in numbers.items() if number is not None},
        **({} if fit else {names["made_by"]: findings.made_by}),
        **(search_facts(findings, fit) if fit else {}),
        **({names["level"]: findings.significance_level} if findings.is_tested else {}),
        names["untested"]: ", ".join(map(str, findings.untested)) or WORDS["words"]["none"],
        names["written"]: f"{generated:%Y-%m-%d %H:%M %Z}".strip(),
        **{names[f"fingerprint_of_{of}"]: digest for of, digest in findings.fingerprints.items()},
    }
    return tabulate("what_was_run", list(facts.items()))


# The section Trust: how far to trust the subtypes, in words for a clinician.

_SMALL = 10  # subjects, below which a subtype may be a few unusual subjects
_SHOWN = 5
_MANY = 8  # distinct subtypes, above which the report doubts that they are as many kinds
_CLEAR = 0.005  # p of a division, from which on the report warns that it is not clear
_MOST_UNUSED = 6


def trust(findings: Findings) -> Sheet:
    """Return the section: the test of one continuum first, then whatever speaks against the subtypes."""
    several, posterior = len(findings.sizes) > 1, posterior_of(findings)
    # Further than its membership says.
    how_sure = {"posterior": posterior, "stability": stability_of(findings)}
    has_more = several and any(how_sure.values())
    how_sure["remark"] = remarks_on(findings)
    tables = [
        *([tabulate("how_sure", findings.sizes, subtype=findings.name, **how_sure)] if has_more else []),
        *divisions_table(findings),
        *([] if findings.telling is None or findings.telling.empty else [_what_tells(findings, findings.telling)]),
        *continuum_table(findings),
    ]
    if findings.fit is not None and findings.subjects is not None and findings.fit.tree_.n_subtypes > 1:
        tables.append(tabulate("criteria", criteria_of(findings.subjects)))  # reviewers of latent classes ask for it
    explanations = [_TEXTS["clear"].format(clear=CLEAR)] * (several and findings.own_membership is not None)
    explanations += [WORDS["posterior"]["membership"]] * (posterior is not None)
    explanations += [*(on_stability(findings) if several else []), *on_the_test(findings)]
    return Sheet("Trust", _statements(findings), tables, explanations=explanations)


def _what_tells(findings: Findings, telling: pd.DataFrame) -> Table:
    """Return the table of the columns that tell the branches of each division best."""
    titles = {division.number: division.title for division in findings.divisions}
    return tabulate(
        "what_tells",
        telling,
        division=lambda row: f"{row['division']}: {titles[row['division']]}",
        column=lambda row: _COLUMNS[row["told_by"]].format(columns=findings.title_of(row["column"])),
        right=lambda row: 100 * row["named_right"],
        largest=lambda row: 100 * row["largest"],
        way=lambda row: _look_beyond(findings, row)[1],
    )


def _statements(findings: Findings) -> list[str]:
    fit = findings.fit
    of_the_search = [given_subtypes(findings)]
    if fit is not None:
        stopped = [_TEXTS["stopped"].format(stopped=translate(STOPPED_EARLY))] if fit.stopped_early_ else []
        searches = [] if findings.searches is None else [searches_sentence(fit, findings.searches)]
        of_the_search = [*searches, *stopped, *cautions(findings)]
    return [
        *verdict(findings),
        *say_differing(findings),
        *on_adjustment(findings),
        *(column.sentence for column in find_near_columns(findings)),
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
        *filter(None, [translate(on_unused(findings.cohort.schema, most=_MOST_UNUSED))] * (fit is not None)),
        *sentences_on_rows(findings),
        *of_the_search,
        on_sharing(findings),
    ]


def _on_copies(findings: Findings) -> list[str]:
    """Return the sentence on rows that are copies of others, and the subtypes of which at least half are copies."""
    cohort, names, texts = findings.subjects, [feature.name for feature in findings.clustered], _TEXTS["copies"]
    first = None if cohort is None else copied_rows(cohort.table, names)
    if cohort is None or first is None:
        return []
    is_copy, subtypes = first != np.arange(first.size), cohort.labels + 1
    made = [
        findings.name(subtype)
        for subtype in findings.sizes
        if 2 * is_copy[subtypes == subtype].sum() >= (subtypes == subtype).sum()
    ]
    fields = {"n": is_copy.sum(), "of": first.size, "subtypes": list_first(made, _SHOWN)}
    return [texts["in_subtypes" if made else "rows"].format(**fields)]


def _what_was_found(findings: Findings) -> str:
    n, n_missing, texts = len(findings.clustered), findings.n_missing, _TEXTS["found"]
    share = 0.0 if n_missing is None else percent(*n_missing)
    name = "withheld" if n_missing is None else "some" if share else "few" if n_missing[0] else "no"
    missing = _TEXTS["missing"][name].format(share=share, its=counted(n, "its")) if n else ""
    fields = {"n": findings.n_subjects, "features": counted(n, "feature"), "missing": missing}
    fields["subtypes"] = texts["several" if len(findings.sizes) > 1 else "one"].format(n=len(findings.sizes))
    n_groups = None if findings.fit is None else groups_found(findings.fit)
    fields["unions"] = "" if n_groups is None else texts["unions"].format(n=n_groups)
    return str(texts["given" if findings.fit is None else "search"].format(**fields))


def searches_sentence(fit: Fit, restarts: pd.DataFrame) -> str:
    """Return how many searches ended at the best partition, and how near the next best one is."""
    texts, joint = _TEXTS["searches"], restarts["log_joint"].round(6)
    if len(joint) == 1:
        return str(texts["one"])
    is_merged, n_subtypes = groups_found(fit) is not None, "subtypes" if fit.n_clusters_ > 1 else "group"
    fields = {"n": int((joint == joint.max()).sum()), "of": len(joint)}
    ended = texts["ended"].format(these=texts[f"{'groups_of_' * is_merged}{n_subtypes}"], **fields)
    others = restarts[joint < joint.max()]
    if others.empty:
        return f"{ended}."
    second = others.sort_values("log_joint", ascending=False, kind="stable").iloc[0]
    below = restarts["log_joint"].max() - second["log_joint"]
    nats = print_figure(f"{below:,.0f}" if below >= 10 else f"{below:.1g}" if below < 0.1 else f"{below:.1f}")
    # A joint of filled values says how well the search did, and not how probable a partition is.
    meaning = texts["nats" if fit.completed_log_joint_ is None else "filled"]
    same = texts["same_groups" if is_merged else "same_subtypes"]
    return str(texts["next"].format(ended=ended, meaning=meaning, nats=nats, ari=second["ari_to_best"], same=same))


def cautions(findings: Findings) -> list[str]:
    """Return what speaks against taking the subtypes of a search for kinds of a disease; empty if they were given.

    That is what the test leaves open, what only other data can tell, and which subtypes may be unusual subjects.
    """
    fit = findings.fit
    if fit is None:
        return []
    if len(findings.sizes) < 2:
        was_asked_for = n_parted(fit) != 1 and groups_found(fit) is not None  # such a group says nothing
        return [] if was_asked_for else [_DOUBTS["one_group"]]
    sentences = list[str]()
    is_of_the_test, weakest = findings.answer.is_of_the_test, least_clear(findings.evidence)
    if is_of_the_test:
        if weakest is not None and weakest.p >= _CLEAR:
            sentences.append(_DOUBTS["weakest"].format(p=weakest.p_said))
        if graded := [division for division in findings.divisions if division.is_accepted and not division.is_distinct]:
            named = [f"{division.number}: {division.title}" for division in graded]
            sentences.append(_DOUBTS["graded"].format(named=list_first(named, _SHOWN, "more", "; ")))
        if len(findings.sizes) > _MANY:
            sentences.append(_DOUBTS["many"].format(many=_MANY))
    sentences.append(_DOUBTS["kinds" if is_of_the_test else "kinds_or_degrees"])
    sizes = {subtype: size for subtype, size in findings.sizes.items() if subtype not in findings.untested}
    small = [findings.name(subtype) for subtype, size in sizes.items() if isinstance(size, int) and size < _SMALL]
    if small:
        sentences.append(_DOUBTS["small"].format(least=_SMALL, named=list_first(small, _SHOWN)))
    return [" ".join(sentences)]


_MOST_NAMED = 3  # columns that nearly make the subtypes or a division


class NearColumn(NamedTuple):
    """The sentence on a column that nearly makes the subtypes or a division, and the role that looks beyond it."""

    sentence: str
    role: str
    name: str
    is_described: bool
    """Whether it may be a diagnosis, which the subtypes agree with, and not what is of no interest."""


def find_near_columns(findings: Findings) -> list[NearColumn]:
    """Return which columns nearly make the subtypes or one division, said alike on page, in Trust and on a terminal."""
    n_named, divisions, schema = findings.n_named, findings.divisions, findings.cohort.schema
    rows: list[tuple[str, int, dict[Any, Any]]] = []
    for row in _dominant(findings)[:_MOST_NAMED]:
        title = " | ".join(name_together(list(map(findings.name, group)), _SHOWN) for group in row["groups"])
        rows.append(("" if all(len(group) == 1 for group in row["groups"]) else title, n_named, row))
    named, by_number = {row["column"] for *_, row in rows}, {division.number: division for division in divisions}
    for row in [] if findings.telling is None else findings.telling.to_dict("records"):
        name, division = row["column"], by_number[row["division"]]
        # A cut of a measurement often tells clear subtypes apart; a yes/no feature that does is another name of them.
        is_cut = name in schema and schema[name].is_clustered and not schema[name].traits.is_share
        is_told = row["explained"] >= least_explained(row["role"]) and (row["told_by"] == "missing" or not is_cut)
        # Some column or other tells 8 people from 2.
        if is_told and name not in named and min(map(int, division.sizes)) >= _SMALL:
            rows.append((division.title, division.n_subjects, row))
    by_value = {title for title, _, row in rows if row["told_by"] == "value"}
    near = []
    # Only men have a PSA, and only women births: where sex tells the subtypes, missing values say no more.
    for title, n, row in rows:
        if row["column"] == schema.rows.draw_by or (row["told_by"] != "value" and title in by_value):
            continue
        role, way = _look_beyond(findings, row)
        right = row["named_right"] if row["named_right"] == 1 else min(row["named_right"], 0.99)  # 100% means all
        fields = {"right": right, "largest": row["largest"], "n": n}
        fields["what"] = _COLUMNS["division" if title else "whole"].format(title=title)
        is_described = row["role"] == "describe"
        told_by = "described" if is_described and row["told_by"] == "value" else row["told_by"]
        fields["columns"] = _COLUMNS[told_by].format(columns=findings.title_of(row["column"]))
        fields["beyond"] = _COLUMNS["beyond_described" if is_described else "beyond"].format(way=way)
        how = "exactly" if right == 1 else "nearly" if row["explained"] >= NEARLY else "partly"
        near.append(NearColumn(_COLUMNS[how].format(**fields), role, row["column"], is_described))
    return near[:_MOST_NAMED]


def _look_beyond(findings: Findings, row: dict[Any, Any]) -> tuple[str, str]:
    """Return the role in which a column lets a fit show what else there is, "" of missing values, and the way there."""
    # Where the other features follow sex, as blood counts do, the division stays if only sex is left out.
    alone = {dominant["column"] for dominant in _dominant(findings) if dominant["others"] < NEARLY}  # not NaN
    role = "" if row["told_by"] == "missing" else "describe" if row["column"] in alone else "adjust"
    form = "leave_out" if not role else "option" if re.fullmatch(r"[\w.]+", row["column"]) else "role"
    return role, str(_COLUMNS[form].format(role=role, names=row["column"]))


def _dominant(findings: Findings) -> list[dict[Any, Any]]:
    return [] if findings.dominant is None else findings.dominant.to_dict("records")


# The first page, read in a minute: the answer, the subtypes, how far to trust them, and what to look at next.

_OF_MARKS = 46
"""Words of the marks and names of a page that is read in a minute, in some 160."""
_NEAR = 0.1
"""p of one group, below which a page says how near the division was."""
_FEW_CLEAR = 50.0
"""Percent of clear members, below which the answer says so: the typical member may then be in another subtype."""


def overview(findings: Findings) -> Sheet:
    """Return the first section: one sentence, a line for each subtype, three on trust, and what to look at next."""
    answer, division, often = findings.answer, least_clear(findings.evidence), ""
    texts, basis, near = findings.texts["overview"], answer.basis, find_near_columns(findings)
    questions = texts["more_than_a_continuum"]
    if division is not None:
        often = questions["often"].format(words=p_in_words(division.p, division.n_draws))
        basis = "nearly" if basis == "continuum" and division.p < _NEAR else basis
    of_kind = [[str(findings.code(subtype)) for subtype in kind] for kind in answer.graded]
    grades = questions["grades"].format(codes="; ".join(map(listed, of_kind))) if of_kind else ""
    is_more = questions[basis].format(often=often, **{**answer.words, "grades": grades})
    answers: dict[str, Value] = {"more_than_a_continuum": is_more}
    if len(findings.sizes) > 1:
        if findings.own_membership is not None:
            answers["clear"] = texts["clear_for"].format(share=np.mean(findings.own_membership >= CLEAR))
        names = list(dict.fromkeys(findings.title_of(column.name) for column in near if not column.is_described))
        if names or not near:
            answers["columns"] = texts["columns"]["one" if names else "no"].format(columns=", ".join(names))
        if findings.stability is not None:
            of_subtypes, again = findings.stability.subtypes, texts["found_again"]
            rated = of_subtypes[of_subtypes["band"] != TOO_FEW.name].sort_values("jaccard").to_dict("records")
            answers["found_again"] = again["too_few"]
            for row in rated[:1]:
                fields = {"name": findings.name(row["subtype"]), "band": translate(row["band"])}
                answers["found_again"] = again["least"].format(jaccard=row["jaccard"], **fields)
        answers["differing"] = count_in_words(findings)
    rows = [(texts["questions"][question], answer) for question, answer in answers.items()]
    clear = {findings.code(subtype): findings.percent_clear([subtype]) for subtype in findings.sizes}
    unsure = say_unsure({code: percent for code, percent in clear.items() if percent is not None})
    notes = [*sentences_on_visits(findings), answer_sentence(findings), *unsure, *(column.sentence for column in near)]
    notes += [*on_adjustment(findings), *_on_copies(findings)]
    what, step = next_step(findings)
    command = (findings.commands or texts["python"])[step]
    if step == "beyond" and not findings.commands:
        command = command.format(column=next(column for column in near if column.role))
    forms = filter(None, (texts["next"][name] for name in ("look", "run")))
    sentences = [form.format(what=what, command=command) for form in forms]
    return Sheet("Overview", notes, [*_subtypes(findings), tabulate("questions", rows)], explanations=sentences)


def say_unsure(clear: Mapping[Code, float]) -> list[str]:
    """Return the sentence on the subtypes of which few members are clear, given the percentage of each by its code."""
    few = {str(code): round(percent) for code, percent in clear.items() if percent < _FEW_CLEAR}
    least, most, texts = min(few.values(), default=0), max(few.values(), default=0), _TEXTS["unsure"]
    codes = texts["every"] if len(few) == len(clear) > 1 else list_first([*few], _SHOWN)
    return [texts["several" if least < most else "one"].format(least=least, most=most, codes=codes)] if few else []


def say_differing(findings: Findings | None) -> list[str]:
    """Return how many features differ, as a line of the terminal; none without a report or with one group."""
    n_subtypes = 0 if findings is None else len(findings.sizes)
    return [_TEXTS["differing"].format(differing=count_in_words(findings))] if findings and n_subtypes > 1 else []


def answer_sentence(findings: Findings) -> str:
    """Return the answer: how many kinds of subject there are, in how many grades, and p of the least clear division."""
    n_asked, made_by = number_asked_for(findings), findings.made_by
    return findings.answer.sentence(findings.n_subjects, findings.evidence, made_by=made_by, n_asked=n_asked)


def _subtypes(findings: Findings) -> list[Table]:
    """Return the table of the subtypes: a line for each kind, then one for each grade."""
    if len(findings.sizes) < 2:  # nothing marks one group
        return []
    kind_of = {kind[0]: kind for kind in findings.answer.graded}
    lines = [line for subtype in findings.sizes for line in (*filter(None, [kind_of.get(subtype)]), (subtype,))]
    of_kinds = {subtype: find_marks_of_kind(findings, kind) for subtype, kind in kind_of.items()}
    n_words = sum(len(text.split()) for text in of_kinds.values())
    marks = dict(zip(findings.sizes, marks_of(findings, _OF_MARKS - n_words), strict=True))
    is_proposed = any(marked.name and subtype not in findings.names for subtype, marked in marks.items())

    def name(subtypes: Sequence[int]) -> str:
        subtype, *others = subtypes
        code, proposed = findings.code(subtype), marks[subtype].name
        if others:
            return str(_TEXTS["kind"].format(code=str(code).rstrip(ascii_lowercase)))
        return findings.name(subtype) if subtype in findings.names else f"{code}: {proposed}" if proposed else str(code)

    table = tabulate(
        "subtypes",
        lines,
        name=None if is_proposed else name,
        proposed=name if is_proposed else None,
        size=findings.size_of,
        percent=findings.percent_of,
        marks=lambda subtypes: of_kinds[subtypes[0]] if len(subtypes) > 1 else marks[subtypes[0]].text,
        clear=None if findings.own_membership is None else findings.percent_clear,
    )
    return [table]


def next_step(findings: Findings) -> tuple[str, str]:
    """Return the first thing that a reader should look at, the gravest first, and the command that shows it."""
    fit, n_subtypes, texts = findings.fit, len(findings.sizes), _TEXTS["next"]
    if fit is not None and fit.stopped_early_:
        return texts["stopped"].format(how=translate(STOPPED_EARLY)), "table"
    beyond = [column for column in find_near_columns(findings) if column.role][:1]
    if beyond and not beyond[0].is_described and "beyond" in (findings.commands or ["beyond"]):
        return texts["columns"].format(column=beyond[0].name), "beyond"
    if fit is not None and n_subtypes > 1 and on_likelihoods(findings):
        return texts["likelihoods"], "check"
    small = [subtype for subtype, size in findings.sizes.items() if isinstance(size, int) and size < _SMALL]
    if n_subtypes > 1 and small and findings.subjects is not None:
        return texts["small"].format(name=name_together(list(map(findings.name, small)), _SHOWN)), "table"
    if fit is None or n_subtypes > 1:
        return texts["degrees" if findings.answer.basis == "degrees" else "table"], "table"
    score = "" if findings.continuum is None or findings.continuum.is_by_chance else texts["score"]
    return score + texts["one" if fit.subtype_of_.size < 2 else "two"], "table"
