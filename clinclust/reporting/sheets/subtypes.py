"""The subtypes: their sizes, profiles and differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np

from clinclust.associations.associate import grade_of
from clinclust.comparisons.frame import ALL_SUBJECTS, is_suppressed
from clinclust.data import WORDS, counted, data, speaking
from clinclust.estimators.distinct_subtypes import WEAK_EVIDENCE
from clinclust.estimators.fit import FEW, FEW_SUBJECTS, NO_FLOOR, WEAK, WEAK_NATS, Fit, n_standing
from clinclust.estimators.subtype_model import parameters_of
from clinclust.reporting.compared import decimals_of, parts
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, list_first, listed, number_text, print_figure, translate
from clinclust.reporting.subtype_table import Choices, SubtypeTable, table_of

# The subtype table of a report.

_TEXTS, _UNIONS = WORDS["subtypes"], WORDS["unions"]


def descriptive(findings: Findings) -> str:
    """Return the note which p-values of a report are descriptive and which are inference."""
    return str(findings.texts["subtypes"]["descriptive_of_given" if findings.fit is None else "descriptive"])


def table_of_report(findings: Findings) -> SubtypeTable:
    """Return the subtype table of a report, in the order of the schema."""
    choices = Choices(
        associations=findings.associations if len(findings.sizes) > 1 else None,
        names=findings.names,
        codes={subtype: findings.code(subtype) for subtype in findings.sizes},
        marks={} if findings.fit is None else findings.marks,
        title=WORDS["subtype_table"]["title_of_report" if len(findings.sizes) > 1 else "title_of_one"],
    )
    with speaking(findings.language, findings.style, findings.decimal):
        return table_of(findings.read, choices)


# What marks a subtype: the features that the first page names.

_LEAST_MARK, _LEAST_NAME, _FAR = 0.25, 0.5, 1.0
"""Distances from all subjects, in standard deviations, below which a feature is no mark, and names no subtype (Cohen
1988: a medium effect): the healthy majority of a cohort, +0.3 in haemoglobin, is not "higher haemoglobin". From the
last on it is a mark although no test shows that it differs, as where the 24-year-olds are a subtype by their age."""
_LENGTHS = ((4, True), (3, True), (2, True), (2, False), (1, False))
"""Features named of each subtype, and whether they propose its name; the first that has room, else the last."""
_FEWEST_VALUES, _LEAST_SHARE = 10, 1 / 3
"""Values, and their share of the members, that a mark needs: a median of fewer, or of a minority, marks no subtype."""
_UP, _DOWN, _NOTHING = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}", "–"
_MARK_WORDS = WORDS["overview"]["marks"]
_ENGLISH = re.compile(r"(?=.*[a-z]{4}|\w+$)[A-Za-z][a-z]+(?:[ -][A-Za-z]{2,})*|[A-Z]{2,}")
"""A title that can stand in a phrase: "kidney disease" or "AST", but not "alk_1", "ank_gi" or "Falls (past)"."""


class Marks(NamedTuple):
    """The features in which a subtype lies farthest from all subjects."""

    marks: list[str]
    """Each as "↑Urea, 72 mmol/L (41 mmol/L)": the number in the subtype, and in brackets that of everybody."""
    name: str
    """The name proposed from the first ones, as "older, kidney disease"; empty without any, or without room for it."""
    otherwise: str
    """What the cell says without any: that numbers of the subtype are withheld, or that it has too few subjects."""

    @property
    def text(self) -> str:
        """The marks in one cell."""
        return "\n".join(self.marks) or self.otherwise


def _choose_rows(findings: Findings) -> list[int]:
    """Return the rows of the profiles that may mark a subtype: of relevant features, if any, that do differ."""
    profiles, fit = findings.profiles, findings.fit
    # Those of a search have a relevance above 0. Given subtypes have none; to leave one out whose relevance is withheld
    # would disclose its sign.
    relevance = {} if fit is None else fit.feature_relevance_.to_dict()
    relevant = {*profiles.withheld_features, *(feature for feature, nats in relevance.items() if nats > 0)}
    level, tested = findings.significance_level, [row for row in findings.association_rows() if not is_suppressed(row)]
    alike = {row["feature"] for row in tested if grade_of(row, level) == "not shown"}
    rows = [row for row, name in enumerate(profiles.features) if fit is None or name in relevant]
    is_far = np.abs(np.nan_to_num(profiles.standardised)).max(axis=1, initial=0.0) >= _FAR
    return [row for row in rows if is_far[row] or profiles.features[row] not in alike] or rows


def marks_of(findings: Findings, n_words: int) -> list[Marks]:
    """Return what marks each subtype, in their order, in at most `n_words` of cells of the subtype table."""
    profiles, rows = findings.profiles, _choose_rows(findings)
    farthest = [_farthest(findings, rows, place) for place in range(len(profiles.subtypes))]
    lacks, sizes = np.asarray(profiles.lacks.any(axis=0)), map(findings.size_of, zip(profiles.subtypes, strict=True))
    nothing = [_MARK_WORDS["few"] if isinstance(n, int) and n < _FEWEST_VALUES else _NOTHING for n in sizes]
    for most, is_named in _LENGTHS:
        shown = [marked[:most] for marked in farthest]
        named = [[words for *_, words in marked if words] for marked in shown]
        names = [", ".join(words[:n]) for words, n in zip(named, _telling_apart(named), strict=True)]
        names = [name if names.count(name) == 1 else "" for name in names]
        marks = [
            Marks([text for _, text, _ in marked], name * is_named, WITHHELD if lacks[place] else nothing[place])
            for place, (marked, name) in enumerate(zip(shown, names, strict=True))
        ]
        if sum(len(f"{mark.name} {mark.text}".split()) for mark in marks) <= n_words:
            break
    titles = [frozenset(text.rpartition(", ")[0] for _, text, _ in marked) for marked in shown]  # "↑Sex: male"
    for place, of_place in enumerate(titles):
        same = [other for other in range(place) if of_place and titles[other] == of_place]
        if same and (text := _tell_apart(findings, rows, place, same[0])):
            marks[place].marks.append(text)
    return marks


def _telling_apart(named: list[list[str]]) -> list[int]:
    """Return how many of its marks name each subtype: one, and more where others have the same."""
    numbers = [min(1, len(marks)) for marks in named]
    for _ in range(sum(map(len, named))):  # each round ends, or lengthens at least one
        called = [frozenset(marks[:number]) for marks, number in zip(named, numbers, strict=True)]
        more = (number + (called.count(name) > 1) for number, name in zip(numbers, called, strict=True))
        numbers = [min(number, len(marks)) for number, marks in zip(more, named, strict=True)]
    return numbers


def _farthest(findings: Findings, rows: list[int], place: int) -> list[tuple[tuple[str, bool], str, str]]:
    """Return the marks of a subtype, the farthest first, then the farthest to the other side: side, text, and phrase.

    There is one of each feature and direction; the phrase is empty where the title is no English one.
    """
    profiles = findings.profiles
    distances, subtype = profiles.standardised[:, place], profiles.subtypes[place]
    marks: dict[tuple[str, bool], tuple[str, str]] = {}
    far = [row for row in rows if abs(distances[row]) >= _LEAST_MARK and _has_values(findings, row, subtype)]
    for row in sorted(far, key=lambda row: -abs(distances[row])):
        is_higher = bool(distances[row] > 0)
        side = (profiles.features[row], is_higher)
        if side not in marks and (figures := _read_figures(findings, row, (subtype, ALL_SUBJECTS))):
            is_name, (here, there, unit) = abs(distances[row]) >= _LEAST_NAME, figures
            fields = {"arrow": _UP if is_higher else _DOWN, "title": profiles.titles[row], "unit": unit}
            text = _MARK_WORDS["mark"].format(here=here, there=there, **fields)
            marks[side] = (text, _name_mark(findings, row, place, is_higher=is_higher) if is_name else "")
    ranked = [(side, *texts) for side, texts in marks.items()]
    other = next((place for place, (side, *_) in enumerate(ranked) if side[1] != ranked[0][0][1]), 0)
    return [*ranked[:1], *([ranked.pop(other)] if other else []), *ranked[1:]]


def find_marks_of_kind(findings: Findings, kind: Sequence[int]) -> str:
    """Return what marks all grades of a kind: to each side, the feature in which the nearest grade lies farthest.

    In the liver panel, the two grades of the ill have an albumin of 24 and 32 g/L where everybody's is 42:
    "↓ALB, 24.48 to 31.76 (41.62)".
    """
    profiles, marks = findings.profiles, []
    places = [profiles.subtypes.index(subtype) for subtype in kind]
    for sign, arrow in ((1.0, _UP), (-1.0, _DOWN)):
        nearest = np.nan_to_num((sign * profiles.standardised[:, places]).min(axis=1))  # no value, or a withheld one: 0
        far = [row for row in _choose_rows(findings) if nearest[row] >= _LEAST_MARK]
        for row in sorted(far, key=lambda row: -nearest[row]):
            figures = _read_figures(findings, row, (*kind, ALL_SUBJECTS))
            if figures and _has_values(findings, row, *kind):
                order = np.argsort(profiles.centre[row, [place + 1 for place in places]])
                least, most = figures[order[0]], figures[order[-1]]
                here = least if least == most else _MARK_WORDS["from_to"].format(least=least, most=most)
                fields = {"arrow": arrow, "title": profiles.titles[row], "here": here, "there": figures[-2]}
                marks.append(str(_MARK_WORDS["mark"].format(unit=figures[-1], **fields)))
                break
    return "\n".join(marks)


def _has_values(findings: Findings, row: int, *subtypes: int) -> bool:
    profiles, size = findings.profiles, findings.size_of(subtypes)
    n = sum(profiles.n[row, profiles.subtypes.index(subtype) + 1] for subtype in subtypes)
    return bool(n >= _FEWEST_VALUES and n >= _LEAST_SHARE * (size if isinstance(size, int) else 0))


def _tell_apart(findings: Findings, rows: list[int], place: int, other: int) -> str:
    """Return where a subtype lies farthest from another one that has the same marks; empty if nothing tells them."""
    profiles, (here, there) = findings.profiles, (findings.profiles.subtypes[at] for at in (place, other))
    apart = profiles.standardised[:, place] - profiles.standardised[:, other]
    shown = [row for row in rows if abs(apart[row]) > 0 and _has_values(findings, row, here)]
    for row in sorted(shown, key=lambda row: -abs(apart[row])):
        figures = _read_figures(findings, row, (here, there))
        if figures and _has_values(findings, row, there):
            fields = dict(zip(("here", "there", "unit"), figures, strict=True)) | {"title": profiles.titles[row]}
            arrow, code = _UP if apart[row] > 0 else _DOWN, findings.code(there)
            return str(_MARK_WORDS["apart"].format(arrow=arrow, code=code, **fields))
    return ""


def _name_mark(findings: Findings, row: int, place: int, *, is_higher: bool) -> str:
    """Return a mark in words, as "older", "higher urea" or "mostly male"; empty where they would be no English."""
    profiles, schema = findings.profiles, findings.cohort.schema
    title, _, level = profiles.titles[row].replace("_", " ").partition(": ")
    share, levels = profiles.centre[row, place + 1], schema[profiles.features[row]].levels or ()
    others = [str(other) for other in levels if str(other) != level] if level and not is_higher else []
    if len(others) == 1 and share < 0.5:  # "mostly medical" for "less often surgical"
        level, is_higher, share = others[0], True, 1.0 - share
    is_english = _ENGLISH.fullmatch(title) and (not level or _ENGLISH.fullmatch(level))
    if not is_english or (not level and title.lower() in data("answers")["of_sex"]):  # not "more often sex"
        return ""
    words = level or title
    words = words.lower() if words[1:2].islower() and _MARK_WORDS["lowered"] == "yes" else words
    if (adjectives := _MARK_WORDS["adjectives"].get(title.lower())) and not level:
        return str(adjectives[is_higher])
    kind = "number"
    if profiles.summaries[row] == "n":
        kind = ("level_" if level else "") + (("most" if share >= 0.5 else "more") if is_higher else "less")
    return str(_MARK_WORDS[kind].format(words=words, way=_MARK_WORDS["ways"][is_higher]))


def _read_figures(findings: Findings, row: int, groups: Sequence[int]) -> list[str]:
    """Return the numbers of a feature in some groups, and the unit; empty if one is withheld, or all are the same."""
    profiles, compared = findings.profiles, findings.read
    level, summary = profiles.levels[row], profiles.summaries[row]
    feature = next(part for part in compared.features[profiles.features[row]].parts if level in part.summaries)
    sign, texts = print_figure("%") if summary == "n" else "", []
    for group in groups:
        cell = parts(feature.summaries[level][group], summary)
        number = None if cell is None else cell[summary == "n"]  # after the count comes the percentage
        text = "" if number is None else number_text(number, "measure", decimals_of(feature, summary))
        texts.append(text.replace("-", "\N{MINUS SIGN}"))
    unit = f" {feature.unit}" if feature.unit and not sign else ""
    return [*(text + sign for text in texts), unit] if all(texts) and len({*texts}) > 1 else []


# What a report says of subtypes of few subjects, and of those that are unions of the groups that the search found.

_LIMITS = {"least": FEW_SUBJECTS, "nats": WEAK_NATS}
_FEATURES_SHOWN = 5
_UNUSUAL = 10  # subjects, below which a subtype may be a few unusual records


def on_few_subjects(findings: Findings) -> list[str]:
    """Return the sentences on subtypes that are untested, few or weak."""
    fit, marks, texts, small = findings.fit, explained_marks(findings), findings.texts["untested"], findings.untested
    if fit is not None and marks:
        n = n_standing(fit.subtypes_)
        marks = [_TEXTS["noise"].format(marks=marks[0], left=_TEXTS["one_left" if n == 1 else "some_left"].format(n=n))]
    if not findings.n_untested:
        return marks
    sizes = [int(findings.sizes[subtype]) for subtype in small]
    named = [
        f"{findings.name(subtype)} ({counted(size, 'subject')})" for subtype, size in zip(small, sizes, strict=True)
    ]
    # They may be more than the report asks for, if its comparisons were given.
    below = texts["below" if all(size < findings.min_size for size in sizes) else "so_few"]
    is_long = len(named) > _FEATURES_SHOWN
    fields = {"named": list_first(named, _FEATURES_SHOWN) if is_long or not named else listed(named)}
    sentences = [texts["which"].format(below=below.format(least=findings.min_size), **fields)]
    if len(findings.sizes) - findings.n_untested < 2:
        sentences.append(texts["nothing_compared"])
    if small and max(sizes) < _UNUSUAL:
        sentences.append(texts["unusual"])
    return [" ".join(sentences), *marks]


def not_tested(findings: Findings) -> list[str]:
    """Return the note of a sheet of tests on the subtypes that take no part in them; empty if all do."""
    codes = list_first([str(findings.code(subtype)) for subtype in findings.untested], _FEATURES_SHOWN)
    note = findings.texts["untested"]["note" if findings.n_untested == 1 else "notes"]
    return [note.format(codes=codes)] if findings.n_untested else []


def explained_marks(findings: Findings) -> list[str]:
    """Return the sentence that explains the marks of subtypes that are few or weak; empty without such marks."""
    used = {mark for subtype in findings.sizes for mark in _marks(findings, subtype)}
    meanings = [_TEXTS[f"marked_{mark}"].format(**_LIMITS) for mark in (FEW, WEAK) if mark in used]
    return [_TEXTS["marks"].format(meanings="; ".join(meanings))] if meanings else []


def remark(findings: Findings, subtype: int) -> str | None:
    """Return the remark that a subtype is untested, few or weak; None if no remark applies or is reported."""
    untested = [_TEXTS["few_untested"]] if subtype in findings.untested else []
    return ", ".join([*untested, *map(translate, _marks(findings, subtype))]) or None


def _marks(findings: Findings, subtype: int) -> list[str]:
    return [mark for mark in findings.marks.get(subtype, ()) if mark != FEW or subtype not in findings.untested]


def remarks_on(findings: Findings) -> Callable[[int], str | None] | None:
    """Return the remark on a subtype by its number; None without one, or where none may be made."""
    remarks = {subtype: remark(findings, subtype) for subtype in findings.sizes}
    return remarks.get if any(remarks.values()) else None


def on_merged_groups(findings: Findings) -> list[str]:
    """Return the sentence on groups that were merged because they are small; empty without any."""
    fit, texts = findings.fit, findings.texts["subtypes"]
    if fit is None or fit.min_size_ == NO_FLOOR:
        return []
    number = parameters_of(findings.cohort.model).get("n_clusters")
    n_before = min(int(number), fit.subtype_of_.size) if isinstance(number, Integral) else fit.subtype_of_.size
    if isinstance(number, str) or fit.n_clusters_ >= n_before:
        return []
    hardly = texts["no_division" if fit.tree_test_ is not None else "little_evidence"].format(nats=WEAK_EVIDENCE)
    return [texts["merged"].format(least=fit.min_size_, hardly=hardly)]


def on_adjustment(findings: Findings) -> list[str]:
    """Return the sentence on the columns that measurements are adjusted for; empty without any."""
    if findings.fit is None or findings.fit.adjustment_ is None:
        return []
    schema, adjusted = findings.cohort.schema, set(findings.fit.adjustment_.coefficients)
    columns = listed([feature.title for feature in schema if feature.role == "adjust"])
    others = [feature.title for feature in findings.clustered if feature.name not in adjusted]
    named = list_first(others, _MOST_NAMED)
    return [_TEXTS["adjusted" if others else "all_adjusted"].format(columns=columns, others=named)]


_MOST_NAMED = 6


def groups_found(fit: Fit) -> int | None:
    """Return how many groups the search found, if they were merged to fewer subtypes; else None."""
    n_groups = int(fit.subtype_of_.size)
    return n_groups if n_groups > fit.n_clusters_ else None


def number_asked_for(findings: Findings) -> int | None:
    """Return the number of subtypes that was asked for; None if it follows from the data."""
    number = parameters_of(findings.cohort.model).get("n_clusters")
    return int(number) if isinstance(number, Integral) else findings.n_asked


def on_unions(findings: Findings) -> list[str]:
    """Return the sentences of the methods section on the number of subtypes; empty if it follows from the data."""
    n_asked, n_groups = number_asked_for(findings), None if findings.fit is None else groups_found(findings.fit)
    numbers = {"asked": n_asked, "merged": n_groups}
    return [_UNIONS[name].format(n=number) for name, number in numbers.items() if number is not None]
