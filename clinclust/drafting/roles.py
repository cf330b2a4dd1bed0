"""What a column is for: a list of rules, each of which looks at a column and its neighbours and says why, or passes.

A column that must not form subtypes is recognised by whole words of its name or label, by values that only such columns
have, and by its neighbours: the event of a time, the visits of a subject, the baseline of a later measurement. The
words are in `clinclust/data/roles.toml`. One word of the user undoes a rule (`role: cluster`).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Array, Whole, mid_ranks
from clinclust.data import data
from clinclust.drafting.column import LOOKS, MOST_LEVELS, Column, DraftedColumn, surviving
from clinclust.drafting.kinds import looks_identifying, no_before_yes, step_of
from clinclust.drafting.redundancy import needed_evidence
from clinclust.errors import warn
from clinclust.files.cell_text import shortened
from clinclust.files.notation import folded, mentions, name_words, names_subjects, says_only, words_of
from clinclust.files.row_choice import noted_several_rows, repeated_subjects, rows_taken
from clinclust.likelihoods.bernoulli import Bernoulli

_LIMITS = SimpleNamespace(**data("drafting")["roles"])

# Which of the listed words count in a table.

_LANGUAGES = frozenset(["en", "zh", *data("roles")["language"]])
_NATURAL = _LANGUAGES - {"cdisc", "cbioportal", "datasus"}


def count_words(names: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the listed words that count in a table with these names.

    ``event`` are the words of a concept: English and long ones, and short ones of the languages of the table. A further
    list of a concept is ``event.names``.
    """
    of_language: dict[str, set[str]] = defaultdict(set)
    for lists in data("roles").values():
        for key, listed in lists.items():
            of_language[key] |= set(listed)
    split = [name_words(name) for name in names]
    accented = {word for name, words in zip(names, split, strict=True) if not name.isascii() for word in words}
    words = {word for name in split for word in (*name, "".join(name))} - of_language["en"]
    n_words = {language: len(words & of_language[language]) for language in data("roles")["language"]}
    spoken = {"en", "zh", *(language for language, n in n_words.items() if n >= _LIMITS.fewest_speaking)}
    counting: dict[str, frozenset[str]] = defaultdict(frozenset)
    for concept, lists in data("roles").items():
        for key, listed in lists.items():
            if key in spoken:
                counting[concept] |= frozenset(listed)
            elif key in _NATURAL:
                counting[concept] |= {word for word in listed if len(word) >= _LIMITS.long_word or word in accented}
            elif key not in _LANGUAGES:
                counting[f"{concept}.{key}"] = frozenset(listed)
    return counting


def _bare(words: Sequence[str]) -> str:
    """Return the words of a name without numbers."""
    return " ".join(word for word in words if not word.isdigit())


# A table whose columns have been drafted, each for itself, and the rules that look at it.


class Role(NamedTuple):
    """The role that a rule proposes for a column, and its evidence."""

    role: str
    reason: str
    look: str = ""


class Table:
    """The columns of a table with what they tell of each other."""

    def __init__(self, drafted: Sequence[DraftedColumn], frame: pd.DataFrame) -> None:
        self.drafted, self.frame = drafted, frame
        self.columns = [draft.column for draft in drafted]
        self.listed = count_words([column.name for column in self.columns])
        if any(mentions(column.words, self.listed["event"]) for column in self.columns):
            self.listed["survival"] |= self.listed["survival.with_event"]
        self.note = noted_several_rows(frame)
        self.has_row_names = any(draft.feature.role == "id" for draft in drafted)
        self.every = slice(None, None, 1 + len(frame) // _LIMITS.rows_compared)  # row, of at most 4,000
        self.subjects: Column | None = None
        rows = rows_taken(frame)
        self.drawn_by, self.has_weight = rows and rows.choice.draw_by, False
        self.decided: list[DraftedColumn] = []  # the columns to which rules gave a role
        self.baselines: set[str] = set()  # the columns of which others are later measurements
        self.roles: dict[str, Mapping[str, str]] = {}  # by name, of the columns together, for each reason

    def is_called(self, names: Sequence[Sequence[str]], concept: str, also: str = "") -> bool:
        """Return whether a name is listed for a concept, or holds one of its words and, but for some, no others."""
        beside = self.listed[f"{concept}.beside"] | self.listed[also]
        whole, words = self.listed[f"{concept}.names"], self.listed[concept]
        return any(_bare(name) in whole or says_only(name, words, beside) for name in names)

    def is_place(self, words: Sequence[str], *, may_be_town: bool = True) -> bool:
        """Return whether a name is one of sites or places, and says nothing else; `city` of no and yes is no place."""
        is_site = self.is_called([words], "site", also="place")
        return is_site or (may_be_town and self.is_called([words], "place", also="site"))

    @cached_property
    def crossed(self) -> dict[str, str]:
        """The columns of subjects each of whom has one row at each visit, whatever they are called, with the visits."""
        visits = [column for column in self.columns if 2 <= len(column.texts) <= _LIMITS.most_visits]
        return {
            subjects.name: visit.name
            for subjects in self.columns
            if _LIMITS.fewest_crossed <= len(subjects.texts) <= subjects.n_observed / 2 and not subjects.has_fractions
            for visit in reversed(visits)
            if subjects.n_observed >= _LIMITS.crossed * len(subjects.texts) * len(visit.texts)
            if subjects is not visit and _tells_apart(subjects, visit)
        }

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """The columns of many different numbers, each with those of `every` row, in which they are compared."""
        many = (item for item in self.drafted if len(item.column.texts) >= _LIMITS.distinct)
        numbers = {item.column.name: item.scores[self.every] for item in many}
        return {name: of_rows for name, of_rows in numbers.items() if np.isfinite(of_rows).any()}

    @cached_property
    def counts(self) -> str | None:
        """The column that says how many people each row is, as in R's ``as.data.frame(Titanic)``."""
        n_rows, row_numbers = len(self.frame), np.arange(1.0, len(self.frame) + 1.0)
        columns = [column for column in self.columns if not np.array_equal(column.finite, row_numbers)]
        for counts in columns if len(columns) <= n_rows.bit_length() + 1 else ():  # each column doubles the groups
            others = [column for column in columns if column is not counts]
            n_texts = [len(column.texts) for column in others]
            if len(others) < 2 or not 1 < min(n_texts) <= max(n_texts) <= MOST_LEVELS:
                continue
            n_groups = len({*zip(*(column.codes.tolist() for column in others), strict=True)})
            # Of the few levels of all others, nearly every combination is one row, and hardly any is two.
            is_each_once = n_groups >= _LIMITS.grouped * max(n_rows, math.prod(n_texts))
            are_counts = all(map(str.isdecimal, counts.texts)) and counts.n_observed == n_rows < counts.numbers.max()
            if is_each_once and are_counts and not any(names_subjects(column.name) for column in others):
                return counts.name
        return None

    @cached_property
    def measures(self) -> str | None:
        """The column that names genes or analytes, where all others are numbers of people: `gene`, `S001`, `S002`."""
        are_numbered = [draft.is_number and any(map(str.isdigit, draft.column.name)) for draft in self.drafted[1:]]
        if sum(are_numbered) < max(_LIMITS.fewest_subjects, 0.9 * len(are_numbered)):
            return None
        first = self.columns[0]
        are_names = len(first.texts) == first.n_observed and not self.listed["measure"].isdisjoint(first.words)
        return first.name if are_names else None


Rule = Callable[[DraftedColumn, Table], Role | None]
"""Looks at a column and its neighbours; returns a role with its evidence, or None."""


def take_from(roles_of: Callable[[Table], Mapping[str, str]], reason: str) -> Rule:
    """Return the rule that takes the roles that all columns of a table together give to some of them."""

    def rule(draft: DraftedColumn, table: Table) -> Role | None:
        if reason not in table.roles:
            table.roles[reason] = roles_of(table)
        role = table.roles[reason].get(draft.column.name)
        return None if role is None else Role(role, reason)

    return rule


def read_dictionaries(table: Table) -> dict[str, str]:
    """Return the roles of names in published data dictionaries that have several of the names; # is any number."""
    names = [column.name for column in table.columns]
    both = {name: (re.sub("[0-9]+", "#", folded(name)), folded(name)) for name in names}
    rare = {of for two in both.values() for of in two}.difference(data("sources")["common"]["cluster"])
    roles: dict[str, str] = {}
    for source in data("sources").values():
        if sum(len(rare.intersection(those)) for those in source.values()) >= _LIMITS.fewest_rare:
            listed = {of: role for role, those in source.items() if role != "cluster" for of in those}
            roles |= {name: listed[of] for name, two in both.items() for of in two if of in listed}
    return roles


def find_by_words(
    concept: str, role: str, is_such: Callable[[DraftedColumn], bool], look: str = "", also: str = ""
) -> Rule:
    """Return the rule that such columns have a role whose name or label is of a concept, or one of whose levels is."""

    def rule(draft: DraftedColumn, table: Table) -> Role | None:
        if not is_such(draft):
            return None
        if table.is_called(draft.column.names, concept, also):
            return Role(role, "by its name", look)
        levels = table.listed[f"{concept}.levels"]
        is_level = any(_bare(words_of(text)) in levels for text in draft.column.texts if levels)
        return Role(role, "by its values", look) if is_level else None

    return rule


def _is_long(draft: DraftedColumn) -> bool:
    return draft.is_number or len(draft.column.texts) > _LIMITS.few


def _is_balanced(draft: DraftedColumn) -> bool:
    """Return whether levels are nearly as frequent, as allocation makes them: "study group", and no "age group"."""
    counts = draft.column.counts
    return bool(1 < counts.size <= _LIMITS.few and counts.max() <= _LIMITS.balanced * counts.min())


def _is_yes_or_no(draft: DraftedColumn) -> bool:
    """Return whether a column says no or yes, in words or as 0 and 1."""
    levels = draft.feature.levels
    return draft.feature.likelihood == Bernoulli.name and (levels is None or no_before_yes(levels) is not None)


# People: who a row is of.


def _tells_apart(subjects: Column, visit: Column) -> bool:
    """Return whether no two rows of a subject have the same visit."""
    seen = (subjects.codes >= 0) & (visit.codes >= 0)
    pairs = subjects.codes[seen] * len(visit.texts) + visit.codes[seen]
    return bool(seen.mean() > 0.99 and np.unique(pairs).size == pairs.size)


def subjects_with_several_rows(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise a column whose values name a few rows each, by its name or visits, or count the people of a row."""
    column = draft.column
    if column.name == table.counts:
        return Role("ignore", "it counts the people of each row", LOOKS["grouped"].format(name=column.name))
    is_place = table.is_place(column.words)
    is_of_others = mentions(column.words, table.listed["identifier"] | table.listed["identifier.if_unique"])
    is_named = names_subjects(column.name) or (_is_numbered(column) and not is_of_others)  # of families, specimens
    is_named &= _may_name_subjects(draft)
    is_named |= table.note is not None and table.note.column == column.name
    is_named &= not is_place or "number" in column.words  # "hospital id" is a place's, "hospital number" a patient's
    if not is_named and column.name not in table.crossed:
        return None
    if not is_named and is_place:
        table.subjects = table.subjects or column
        return Role("site", "it names places or units, each with several rows")
    repeated = repeated_subjects(table.frame, column.name)
    if repeated is None:
        starts_anew = len(column.texts) < column.n_observed
        return Role("ignore", "numbers of subjects that start anew in each level of a column") if starts_anew else None
    is_by_chance = repeated.n_repeated < _LIMITS.most_chance_repeats * repeated.n_subjects
    if table.has_row_names and is_by_chance and column.words[-1:] != ["id"]:
        return Role("ignore", "it names subjects; a few names are shared")
    table.subjects = table.subjects or column
    return Role("ignore", "it names subjects, who have several rows", repeated.sentence())


def _may_name_subjects(draft: DraftedColumn) -> bool:
    """Return whether values can name subjects: many, whole or texts, and not a count that begins at 0 (`falls`)."""
    is_quantity = draft.is_count_from_0 or draft.column.has_fractions
    fewest = 3 if draft.column.words[-1:] == ["id"] else _LIMITS.fewest_subjects
    return len(draft.column.texts) >= fewest and not is_quantity


def _is_numbered(column: Column) -> bool:
    """Return whether a name ends as identifiers do, `HADM_ID`, `lopnr`, of few rows each, or high numbers."""
    is_called = column.words[-1:] in (["id"], ["pid"]) or column.name.casefold().endswith(("nr", "nummer"))
    are_few_each = len(column.texts) >= column.n_observed / _LIMITS.most_key_rows
    return is_called and (are_few_each or bool((column.finite[:1] >= _LIMITS.least_number).any()))


def people(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise names, telephone numbers and second identifiers, of which some cells may be empty or shared."""
    column, n_texts, subjects = draft.column, len(draft.column.texts), table.subjects
    if draft.feature.traits.is_nominal and subjects is not None and n_texts == len(subjects.texts):
        pairs = {*zip(column.codes.tolist(), subjects.codes.tolist(), strict=True)}
        if n_texts >= _LIMITS.fewest_subjects and len(pairs) == n_texts:
            return Role("ignore", f"another name of {shortened(subjects.name)}")
    are_few_each = n_texts >= column.n_observed / _LIMITS.most_key_rows
    is_named = _is_numbered(column) or looks_identifying(column.name, is_unique=are_few_each)
    is_many = n_texts >= 2 * _LIMITS.fewest_subjects and _may_name_subjects(draft)
    is_number_of_id = draft.is_number and column.words[-1:] == ["id"] and not column.has_fractions
    if (is_number_of_id or (is_named and is_many)) and not table.is_place(column.words):
        return Role("ignore", "names or numbers of people or families")
    return None


def visits(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise what tells the rows of a subject apart, or rises in each subject from row to row: starts, stops."""
    column, subjects, is_visit = draft.column, table.subjects, draft.column.name in table.crossed.values()
    if subjects is not None and subjects is not column and not is_visit:
        # Two rows of a subject differ by chance unless both have the same value, as measurements seldom do.
        n_pairs = (subjects.counts * (subjects.counts - 1)).sum() / 2
        alike = ((column.counts / column.n_observed) ** 2).sum()
        is_visit = alike < 1.0 and n_pairs * math.log1p(-alike) <= -_LIMITS.surely_apart
        is_visit = is_visit and len(column.texts) <= _LIMITS.most_visits and _tells_apart(subjects, column)
        steps = np.diff(column.in_rows(column.numbers))[(np.diff(subjects.codes) == 0) & (subjects.codes[1:] >= 0)]
        steps = steps[np.isfinite(steps)]
        is_rising = steps.size >= _LIMITS.fewest_rows and (steps > 0.0).mean() >= _LIMITS.same
        is_visit |= bool(is_rising) and draft.begins_near_zero  # and no child that grows
    return Role("time", "it tells the rows of a subject apart") if is_visit else None


# Times, and the events that end them, by their names.

_DATES = ("dates", "times of day")
_FOR_DATES = tuple(word for words in data("roles")["date"].values() for word in words if len(word) > 3)


def follow_up(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise times of follow-up by their names: `futime`, `time to death`, `OS`."""
    column, listed = draft.column, table.listed
    are_numbers = column.finite.size == len(column.texts) > 2
    for name in column.names:
        whole = " ".join(name) in listed["time.names"]
        is_time = whole or _bare(name) in listed["time.names"] or _bare(name).replace(" ", "") in listed["time"]
        is_time |= mentions(name, listed["time"]) and listed["time.not_to"].isdisjoint(name)  # no `time_to_peak`
        is_time |= table.is_called([name], "survival")  # `OS months`
        if (is_time and _is_long(draft)) or (are_numbers and whole):
            return Role("time", "by its name")
    finite, n_never = column.finite, column.counts[np.isinf(column.numbers)].sum()
    if n_never >= _LIMITS.least_never * max(column.n_observed, 1) and finite.size and finite[0] >= 0.0:
        return Role("time", "Inf where the event never came")
    # of days, and no prothrombin time
    is_long = finite.size > _LIMITS.few and not column.has_fractions and finite[-1] >= _LIMITS.fewest_days
    last = ["", *_bare(column.words).split()][-1]
    rests = {last.removesuffix(end) for end in listed["time.endings"] if last.endswith(end)} - listed["time.not_to"]
    is_time = draft.is_number and is_long and any(0 < len(rest) <= _LIMITS.longest_before_time for rest in rests)
    return Role("time", "by the end of its name") if is_time else None


def events(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise outcomes by names, as `death` and `NEW_TUMOR_EVENT`, or by values that only outcomes have."""
    column, words, listed = draft.column, draft.column.words, table.listed["event"]
    is_of_patient = table.listed["event.not_beside"].isdisjoint(words)
    texts = column.texts if len(column.texts) <= _LIMITS.few else ()
    levels = [f"{_bare(name_words(text))} " for text in texts if len(text) <= _LIMITS.longest_level]
    if levels and {level.strip() for level in levels} <= table.listed["event.exposures"]:
        return None  # a status that is called no more than that: "married", "never smoked"
    is_listed = _bare(words) in table.listed["event.names"] and (len(words) == 1 or words[0] != "y")  # y1, y2 are items
    if is_listed or (is_of_patient and mentions(words, listed)):
        return Role("outcome", "by its name")
    if says_only(name_words(column.notes.label or ""), listed, table.listed["event.beside"]):
        return Role("outcome", "by its label")
    ends = (listed - table.listed["event.not_levels"]) | table.listed["event.levels"]
    are_responses = len(texts) > 2 and {level.strip() for level in levels} <= table.listed["event.responses"]
    if are_responses or any(level.startswith(tuple(f"{end} " for end in ends)) for level in levels):
        return Role("outcome", "by its values")
    return None


def find_alike_named_pairs(table: Table) -> dict[str, str]:
    """Return the columns that are called alike but for a word of time or of status, as ``time`` and ``outcome``.

    `t1` and `d1`, `OS_MONTHS` and `OS_STATUS`, `dayslink` and `link`; of several alike, `srv` and `srvstat`. The event
    is no cut of the time, as a raised CA-125 is, and a smoking status of the years of smoking.
    """
    sure, roles, bare = table.listed["time.sure_affixes"], dict[str, str](), dict[str, str]()
    events: dict[str, list[Column]] = defaultdict(list)
    for column in (column for column in table.columns if 2 <= len(column.texts) <= 4):
        called = "".join(column.words)
        for stem in {called, *_stems(called, table.listed["status"])}:
            events[stem].append(column)
    for column in table.columns:
        numbers, called = column.finite, "".join(column.words)
        if numbers.size < max(_LIMITS.distinct, len(column.texts) / 2) or numbers[0] < 0:
            continue
        surely, has_parts = _stems(called, sure), (numbers % 1 > 0).mean() > _LIMITS.most_parts
        for stem in _stems(called, table.listed["time.affixes"] | sure) | {called}:
            for event in (event for event in events[stem] if event is not column):
                rest, is_bare = "".join(event.words).replace(stem, "", 1), stem == called
                is_letter = len(rest) == 1 and event.words[1:][-1:] != [rest]  # `d1` of `t1`, not `sga` of `ga_weeks`
                if (not rest and stem not in surely) or (is_letter and len(called) - len(stem) > 1):
                    continue
                if is_bare and (has_parts or len(event.texts) > 2 or rest not in table.listed["status.bare"]):
                    continue  # `wbc` with `wbc_flag`
                by_level = _by_level(column.in_rows(column.numbers), event.codes, len(event.texts))
                if not _is_cut(by_level):
                    (bare if is_bare else roles).update({column.name: "time", event.name: "outcome"})
    return roles | (bare if len(bare) >= 4 else {})


def find_days_of_events(table: Table) -> dict[str, str]:
    """Return the days until what a yes/no column says, recorded only with yes, and that column.

    `icu_enter_days` and `icu`. Of months and years, many are the history of a subject: `smoker_years` of `smoker`.
    """
    roles, events = dict[str, str](), [item for item in table.drafted if _is_yes_or_no(item)]
    for days in (item for item in table.drafted if item.is_number):
        words, is_seen = days.column.words, np.isfinite(days.scores)
        for event in events if not table.listed["time.sure_affixes"].isdisjoint(words[-1:]) else ():
            is_called = words[: len(event.column.words)] == event.column.words
            if is_called and 0 < is_seen.sum() < is_seen.size and (event.scores[is_seen] == 1.0).all():
                roles |= {days.column.name: "time", event.column.name: "outcome"}
    return roles


def _stems(called: str, affixes: frozenset[str]) -> set[str]:
    """Return what is left of a name without one of some words at its beginning or end."""
    before = {called.removeprefix(affix) for affix in affixes if called.startswith(affix)}
    return before | {called.removesuffix(affix) for affix in affixes if called.endswith(affix)}


def siblings(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise what is called as several times or outcomes: `etime5` as `etime1`, `d_dea` as `d_rel`, `TIMEAP`."""
    affixes = table.listed["status"] | table.listed["time.affixes"]

    def stems_of(column: Column) -> set[str]:
        words, is_glued = column.words, re.fullmatch("time[a-z]+", column.name, re.IGNORECASE)
        stems = {_bare(words), *(words[:1] if len(words) > 1 and words[0] in affixes else ())}
        return {"time"} if is_glued else stems  # `TIMEMI` and `TIMEDTH`, whose events have other names

    stems = stems_of(draft.column) - {" ".join(draft.column.words)}
    named = [other for other in table.decided if not other.proposal.reason.startswith(_DATES)]  # not by its values
    alike = [other.feature.role for other in named if not stems.isdisjoint(stems_of(other.column))]
    are_such = set(alike) in ({"time"}, {"outcome"}) or (stems == {"time"} and set(alike) == {"time", "outcome"})
    is_such = len(alike) >= 2 and are_such and draft.column.name not in table.baselines
    return Role(alike[-1], "called as others but for its number or the end of its name") if is_such else None


# Columns whose values tie them to times and outcomes, whatever they are called.


def _by_level(numbers: Array, codes: Array | Whole, n_levels: int) -> list[Array]:
    seen = np.isfinite(numbers)
    return [numbers[seen & (codes == level)] for level in range(n_levels)]


def _is_cut(groups: Sequence[Array]) -> bool:
    """Return whether the numbers of one group lie beyond those of another, or a group has none."""
    return not all(map(np.size, groups)) or bool(max(map(np.min, groups)) >= min(map(np.max, groups)))


def find_events_next_to_times(table: Table) -> dict[str, str]:
    """Return the yes/no columns next to times that are shorter with yes, and the times that no name tells.

    ``time`` and ``delta``, in a table whose event nothing names; ``edrel`` and ``rel``: whole numbers that begin near
    zero, and are shorter with the event in most pairs of subjects with it and without it. Of a cut it is all pairs.
    """
    roles: dict[str, str] = {}
    has_event = any(item.feature.role == "outcome" for item in table.decided)
    for pair in pairwise(table.drafted):
        for time, event in (pair, pair[::-1]):
            is_known, is_open = time.feature.role == "time", event.feature.role in ("cluster", "outcome")
            if time.column.name not in table.numbers or not (is_open and _is_yes_or_no(event)):
                continue
            if has_event if is_known else (time.column.has_fractions or not time.begins_near_zero):
                continue
            no, yes = _by_level(table.numbers[time.column.name], event.scores[table.every], 2)
            if min(no.size, yes.size) < _LIMITS.fewest_ties or _is_cut((no, yes)):
                continue
            # The share of pairs in which the time is longer with the event (Mann and Whitney 1947).
            ranks = mid_ranks(np.concatenate([yes, no]))[: yes.size]
            share = float(ranks.mean() - (yes.size + 1.0) / 2.0) / no.size
            z = (0.5 - share) * math.sqrt(12.0 * no.size * yes.size / (no.size + yes.size + 1.0))
            if z >= _LIMITS.surely and share <= (_LIMITS.longer if is_known else _LIMITS.seldom_longer):
                roles |= {time.column.name: "time", event.column.name: "outcome"}
    return roles


def tied(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise what arithmetic ties to an outcome or a time, whatever it is called.

    A low weight at birth is a cut of the weight; the age at death is the sum of the age at entry and the follow-up; a
    diagnosis is never later than the death; a change is the difference of two visits of which one is an outcome.
    """
    numbers = table.numbers
    if draft.column.name not in numbers:
        return None
    values = numbers[draft.column.name]
    least = step_of(values[np.isfinite(values)]) if draft.column.has_fractions else 0.5  # of what is rounded
    for other in table.decided:
        name, role = other.column.name, other.feature.role
        if role == "outcome" and len(other.column.texts) == 2:
            groups = _by_level(values, other.column.codes[table.every], 2)
            if min(map(np.size, groups)) >= _LIMITS.fewest_ties and _is_cut(groups):
                return Role("outcome", f"{shortened(name)} is a cut of it")
        if role not in ("outcome", "time") or name not in numbers:
            continue
        rest = values - numbers[name]
        seen = np.isfinite(rest)
        if seen.sum() < _LIMITS.fewest_rows:
            continue
        is_near = np.median(values[seen]) >= _LIMITS.near_its_limit * np.median(numbers[name][seen])
        is_visit = other.proposal.reason.endswith(_LATER)  # an age is no time because that a year later is higher
        if is_near and not is_visit and (rest[seen] <= 0.0).all() and rise_together(draft, other):
            return Role("time", f"never later than {shortened(name)}")
        for start, cells in numbers.items() if len(numbers) <= _LIMITS.most_long else ():
            is_change = role == "outcome" and np.nanmin(values) < 0.0 <= np.nanmin(cells)
            if not is_change and role == "outcome":
                continue
            offs = [rest + cells, values + numbers[name] - cells] if is_change else [rest - cells]
            is_exact = any((np.abs(off[seen]) <= least).mean() >= _LIMITS.nearly_all for off in offs)
            if is_exact and start not in (name, draft.column.name):
                how = "the change between" if is_change else "the sum of"
                return Role(role, f"{how} {shortened(start)} and {shortened(name)}")
    return None


def recorded_with(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise what is recorded where a time to an event is, or at one level of an outcome: the cause of death."""
    is_seen = draft.column.codes >= 0
    if not _LIMITS.fewest_rows <= is_seen.sum() <= (1.0 - _LIMITS.often_missing) * is_seen.size:
        return None
    for other in table.decided:
        codes, role = other.column.codes, other.feature.role
        if role == "time" and not draft.is_number and np.array_equal(is_seen, codes >= 0):
            return Role("outcome", "recorded where a time to an event is, and only there")
        if role == "outcome" and 2 <= len(other.column.texts) <= _LIMITS.few:
            level = pd.Series(codes[is_seen]).mode()[0]
            n_both, least = (codes[is_seen] == level).sum(), _LIMITS.mostly_recorded * (codes == level).sum()
            if level >= 0 and n_both >= _LIMITS.same * max(is_seen.sum(), least):
                return Role("outcome", f"recorded at one level of {shortened(other.column.name)}, and only there")
    return None


def determined(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise what has one value in each level of a known answer, outcome, arm or site: `colors` of `cluster`."""
    y = draft.scores[table.every]
    few = [other for other in table.decided if len(other.column.texts) <= _LIMITS.most_answers]
    for other in few[: _LIMITS.most_long] if 2 <= len(draft.column.texts) <= _LIMITS.most_answers else ():
        x, role = other.scores[table.every], other.feature.role
        seen = np.isfinite(x) & np.isfinite(y)
        n_levels, counts = np.unique(x[seen]).size, np.unique(y[seen], return_counts=True)[1]
        if role in ("time", "ignore") or not 2 <= counts.size <= n_levels:
            continue
        # The logarithm of the number of ways to spread its values over the subjects, less that of maps from the levels.
        ways = math.lgamma(seen.sum() + 1.0) - sum(map(math.lgamma, (counts + 1.0).tolist()))
        is_evident = ways - n_levels * math.log(counts.size) >= needed_evidence(len(table.columns))
        if is_evident and len(np.unique(np.column_stack([x, y])[seen], axis=0)) == n_levels:
            return Role(role, f"it has one value in each level of {shortened(other.column.name)}")
    return None


def rise_together(first: DraftedColumn, second: DraftedColumn) -> bool:
    """Return whether two columns are of one kind, and their rank correlation is above 0 beyond chance."""
    if first.typed is None or second.typed is None or first.is_number != second.is_number:
        return False
    both = np.isfinite(first.scores) & np.isfinite(second.scores)
    a, b, n = first.scores[both], second.scores[both], int(both.sum())
    if n < _LIMITS.fewest_both or np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        return False
    r = float(np.corrcoef(mid_ranks(a), mid_ranks(b))[0, 1])
    return bool(np.arctanh(min(r, 0.999999)) * np.sqrt(n - 3.0) > _LIMITS.sure)


# The calendar and places.


_PERIOD = re.compile(r"(19|20)\d\d([-/ ]?[QTWqtw][0-5]?\d|[-/](20)?\d\d)|[QTqt][1-4][-/ ]?(19|20)\d\d")


def calendar(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise dates, times of day, calendar years, months and weeks, by name and values: `2019-Q1`, `2018/19`."""
    column, words, numbers = draft.column, draft.column.words, draft.column.finite
    if draft.proposal.reason.startswith(_DATES) or (column.texts and all(map(_PERIOD.fullmatch, column.texts))):
        return Role("time", "dates or times of day")
    if _is_long(draft) and not table.listed["date"].isdisjoint(words):
        return Role("time", "by its name")
    # The days of a spreadsheet under a word of any language that holds a date: `Aufnahmedatum`, `dataprelievo`
    are_days = numbers.size == len(column.texts) > 0 and not column.has_fractions
    are_days = are_days and _LIMITS.serial_days[0] <= numbers[0] <= numbers[-1] <= _LIMITS.serial_days[1]
    if are_days and any(word.startswith(_FOR_DATES) or word.endswith(_FOR_DATES) for word in words):
        return Role("time", "days of a spreadsheet, by name and values")
    is_short = _LIMITS.days_named[0] <= len(column.texts) <= _LIMITS.days_named[1]
    if is_short and {_bare(words_of(text)) for text in column.texts} <= table.listed["calendar.days"]:
        return Role("time", "days of the week or months")
    if not 0 < numbers.size == len(column.texts):
        return None
    low, high = float(numbers[0]), float(numbers[-1])
    if column.has_fractions:  # 1889.02, as registers and epidemiological packages count days
        is_decimal = low >= _LIMITS.first_year and high <= _LIMITS.years[1] and numbers.size >= _LIMITS.fewest_rows
        return Role("time", "calendar years with fractions") if is_decimal else None
    parts = {unit: tuple(table.listed[f"calendar.{unit}"]) for unit in ("year", *_LIMITS.calendar)}
    is_named = any(word.endswith(parts["year"]) or word.startswith(parts["year"]) for word in words if word[-1] != "s")
    if _LIMITS.years[0] <= low and high <= _LIMITS.years[1]:
        is_dense = numbers.size >= max(3, 0.5 * (high - low + 1))  # salaries of 1,950 to 2,030 leave most numbers out
        return Role("time", "calendar years") if is_named or is_dense else None
    if not table.listed["calendar.not_beside"].isdisjoint(words):  # durations
        return None
    if is_named and low >= 40 and high <= 99:  # 83 for 1983
        return Role("time", "calendar years of two digits")
    ends = (*words, "".join(words)) if len(words) <= _LIMITS.most_words else ()
    for unit, (least, most) in _LIMITS.calendar.items():
        if not (least <= low and high <= most and any(word.endswith(parts[unit]) for word in ends)):
            continue
        # Counts in a month and weeks of a pregnancy seldom reach the end of a year, and their names say what they are.
        rest = {re.sub(f"({'|'.join(parts[unit])})$", "", word) for word in words if not word.isdigit()} - {""}
        if unit not in ("month", "week") or high >= 0.95 * most or rest <= table.listed["calendar.beside"]:
            return Role("time", f"{unit}, by name and values")
    return None


def places(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise sites, places, people who measured, and codes of the design of a survey."""
    column, words, finite = draft.column, draft.column.words, draft.column.finite
    starts = tuple(word for word in table.listed["sampling"] if " " not in word and len(word) > 3)
    for name in column.names:
        single = [word.removesuffix("s") for word in name]
        begins = any(piece.startswith(starts) for piece in (*single, "".join(single)))
        if begins or table.is_called([name, single], "sampling") or column.name == table.drawn_by:
            # Of a weight and its replicates, the first; strata and sampling units are whole numbers.
            is_weight = column.has_fractions and finite[0] >= 0.0 and not (table.has_weight or table.drawn_by)
            table.has_weight |= is_weight
            look = LOOKS["weight"].format(name=column.name) if is_weight else ""
            return Role("site", "the design of a survey", look)
    if not table.listed["place.coordinates"].isdisjoint(words):  # `lat` of left and right is a side
        is_coordinate = column.has_fractions and np.abs(finite).max(initial=0.0) <= 180.0
        return Role("site", "coordinates") if is_coordinate else None
    n_runs = 1 + np.count_nonzero(np.diff(column.codes))
    if not column.has_fractions and _LIMITS.fewest_sorted <= finite.size == len(column.texts) == n_runs:
        is_from_1 = 1.0 <= finite[0] <= max(1.0, _LIMITS.first_number * finite[-1]) and finite[-1] <= 2.0 * n_runs
        if is_from_1 and n_runs < column.n_observed:  # of districts, firms, mothers
            return Role("site", "numbers from 1 on, by which the rows are sorted")
    anywhere = table.listed["site.anywhere"]  # `tx_flag`
    are_five_digits = draft.is_number and 1e4 <= np.median(finite) < 1e5 and mentions(words[-2:], table.listed["place"])
    if draft.feature.traits.is_nominal or are_five_digits:  # `city_of_patient_route`; `city_size` has other levels
        anywhere |= table.listed["place"]
    levels = {_bare(words_of(text)) for text in column.texts[: _LIMITS.few]}
    if len(levels) > 1 and levels <= table.listed["split.levels"]:
        return Role("site", "parts of the table, as for training and for testing")
    is_numbered = len(column.texts) > _LIMITS.few and len(words) > 1 and words[-1].isdigit()  # `unit1` to `unit9`
    begins_at_0 = finite.min(initial=1.0) == 0.0  # as years at school and visits to hospitals do, and no centres
    if column.has_fractions or (draft.is_number and (begins_at_0 or is_numbered)):
        return None  # `lab1` of 5.3 is a measurement
    may_be_town = not _is_yes_or_no(draft)
    if any(table.is_place(name, may_be_town=may_be_town) or mentions(name, anywhere) for name in column.names):
        return Role("site", "by its name")
    are_long = finite.size == len(column.texts) >= _LIMITS.fewest_places and finite[0] >= _LIMITS.long_code
    if are_long and np.ptp(finite) < _LIMITS.last_digits * finite[0]:  # 350010 to 350200
        return Role("site", "codes of many digits, of which only the last differ")
    return None


# Later measurements: outcomes of a cohort whose baseline forms the subtypes.


def measured_after_baseline(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise measurements of a trial with a time in the name, `pain_30min`, not recalled ones, `falls_last_30d`.

    In a cohort without arms it is one of two values, at least a week ahead by the end of its name: `readmitted_90d`.
    """
    words = draft.column.words
    pairs = [sorted(pair) for pair in pairwise(words)]  # the number first
    is_timed = any(number.strip("0").isdigit() and unit in table.listed["baseline.units"] for number, unit in pairs)
    is_recalled = not (table.listed["history.words"] | table.listed["baseline.words"]).isdisjoint(words)
    if not is_timed or is_recalled:
        return None
    number, unit = pairs[-1]
    fewest = 7 if unit in table.listed["baseline.days"] else 1 if unit in table.listed["baseline.weeks"] else math.inf
    is_ahead = number.isdigit() and float(number) >= fewest and draft.feature.likelihood == Bernoulli.name
    is_ahead &= len("".join(words[:-2])) > 2 and (unit == words[-1] or len(unit) > 2)  # and no items `pc3m`, `mds_m1`
    has_arm = any(other.feature.role == "arm" for other in table.decided)
    return Role("outcome", "measured after baseline, by its name") if has_arm or is_ahead else None


_LATER = "a later measurement of what was measured at baseline"


def find_later_measurements(table: Table) -> dict[str, str]:
    """Return later measurements of what was measured at baseline: `bdi.4m` with `bdi.pre`, `Postwt` with `Prewt`.

    The baseline may be the visit 0, or have no word for visits: `x_t0` with `x_t1`, `egfr` with `egfr_12m`. Many pairs
    with the same ends are of one kind, and rise with each other: of `m0x` to `m79x`, which are independent, some do by
    chance. Changes, as `Δ bdi` with `bdi.pre`, are outcomes too.
    """
    base, after, change = (table.listed[f"baseline.{key}"] for key in ("words", "later", "change"))
    starts = dict[tuple[tuple[str, ...], bool], tuple[DraftedColumn, set[str]]]()
    rises = defaultdict[tuple[str, ...], dict[str, bool]](dict)  # of pairs with the same ends of names
    called = list[tuple[DraftedColumn, tuple[str, ...], set[str]]]()
    for item in table.drafted:
        words = item.column.words
        prefixed = re.fullmatch("(pre|post)(..+)", words[0]) if words and words[0] not in base | after else None
        words = [*prefixed.groups(), *words[1:]] if prefixed else words  # `prewt` is pre and wt
        end = {word for word in words if word.isdigit() or word in base | after | change}
        end |= {"pct", "percent"}.intersection(words) if not change.isdisjoint(end) else set()
        stem = tuple(word for word in words if word not in end)
        is_visit_0 = "0" in words[-2:] and not after.isdisjoint(words[-2:])  # and not `m0x`
        is_start = change.isdisjoint(end) and (is_visit_0 or not base.isdisjoint(end))
        if stem and (is_start or not end):
            starts.setdefault((stem, is_start), (item, end))
        elif stem:
            called.append((item, stem, end))
    for item, stem, end in called:
        is_numbered = not after.isdisjoint(end) and any(map(str.isdigit, end))
        start, of_start = starts.get((stem, True)) or starts.get((stem, not is_numbered)) or (None, set())
        if start is not None:
            table.baselines.add(start.column.name)
            ends = (*sorted(of_start - end), "to", *sorted(end - of_start))  # "0 to 1" of `IL 6 T0` and `IL 6 T1`
            rises[ends][item.column.name] = not change.isdisjoint(end) or rise_together(start, item)
    often = (names for names in rises.values() if sum(names.values()) >= _LIMITS.often_rising * len(names))
    return {name: "outcome" for names in often for name in names}


# One measurement in two units: the first division of a report would be the unit.


def mixed_units(draft: DraftedColumn, table: Table) -> Role | None:
    """Recognise a measurement of which some values are in another unit, as haemoglobins of 13 and of 130.

    They part at the widest gap of their logarithms into two groups of which one is the other converted as
    `clinclust/data/units.toml` says for its name: of one spread, with no value between, and of some size. A marker that
    is high in one group of patients has no such conversion, another spread, or values between.
    """
    if draft.typed is None or not draft.feature.traits.is_continuous:
        return None
    values = np.sort(draft.scores[np.isfinite(draft.scores)])
    if np.unique(values).size <= MOST_LEVELS or values[0] <= 0.0:
        return None
    conversions = [
        (times, start)
        for times, start, words in data("units")["conversions"]
        if not words or any(mentions(name, frozenset(words)) for name in draft.column.names)
    ]
    logs, n, n_below = np.log(values), values.size, np.arange(1, values.size)
    fewest = max(_LIMITS.fewest_of_a_unit, _LIMITS.least_of_a_unit * n)
    gaps = np.where(np.minimum(n_below, n - n_below) >= fewest, np.diff(logs), 0.0)
    cut = int(gaps.argmax()) + 1
    low, high = logs[:cut], logs[cut:]
    least, most = sorted((float(low.std()), float(high.std())))
    is_weight = any(times == _LIMITS.pounds for times, _ in conversions)  # modes in kg and lb nearly meet
    step, gap = np.median(high) - np.median(low), _LIMITS.gap_of_weights if is_weight else _LIMITS.gap_of_units
    is_apart = gaps.max() > 0.0 and gaps.max() >= gap * most and step >= _LIMITS.apart * most
    if most > _LIMITS.spreads * least or not is_apart:
        return None
    # Three standard errors of the difference of two medians, that of each being sqrt(pi / 2 n) deviations.
    error = min(3.0 * most * math.sqrt(math.pi / 2.0 * (1.0 / low.size + 1.0 / high.size)), _LIMITS.largest_error)
    off, times, start = min(
        (abs(float(np.log(np.median((values[cut:] - start) / times)) - np.median(low))), times, start)
        for times, start in conversions
        if values[cut] > start
    )
    if off > max(error, _LIMITS.rounded):
        return None
    is_high = high.size < low.size
    shown = {"few": min(low.size, high.size), "n": n, "limit": f"{math.sqrt(values[cut - 1] * values[cut]):.3g}"}
    shown |= {"than": "higher", "above": ">"} if is_high else {"than": "lower", "above": "<"}
    converted = f"(x{-start:+g}) / {times:g}" if is_high else f"x * {times:g}{start:+g}"
    converted = converted.replace("(x+0)", "x").removesuffix("+0")
    column = f"frame[{draft.column.name!r}]"
    numbers = f"{column}.str.replace(',', '.')" if draft.feature.decimal == "," else column
    look = LOOKS["two_units"].format(numbers=numbers, column=column, converted=converted, **shown)
    return Role("describe", "two units, until its values have one", look)


RULES: tuple[Rule, ...] = (
    subjects_with_several_rows,
    people,
    take_from(read_dictionaries, "by the data dictionary of its source"),
    find_by_words("arm", "arm", lambda draft: len(draft.column.texts) <= _LIMITS.few),
    find_by_words("allocation", "arm", _is_balanced, also="arm.beside"),
    find_by_words(
        "answer",
        "describe",
        lambda draft: not draft.is_number and 2 <= len(draft.column.texts) <= _LIMITS.most_answers,
        LOOKS["known_answer"],
    ),
    find_by_words("kind", "describe", _is_yes_or_no, LOOKS["known_answer"]),  # whether a subject has the disease
    take_from(find_alike_named_pairs, "a time and its event, by their names"),
    take_from(find_days_of_events, "days until an event, and the event, by name and values"),
    calendar,
    take_from(find_later_measurements, _LATER),
    follow_up,
    events,
    visits,
    find_by_words("visit", "time", lambda draft: not draft.is_count_from_0),  # of visits to a doctor
    take_from(find_events_next_to_times, "a time and the event next to it, by their values"),
    places,
    find_by_words("country", "site", lambda draft: draft.feature.traits.is_nominal),
    measured_after_baseline,
    siblings,
    recorded_with,
    determined,
    tied,
    mixed_units,
)
"""In this order; each looks at every column that has no role yet: later rules know the roles that others gave."""


def assign_roles(drafted: Sequence[DraftedColumn], frame: pd.DataFrame) -> None:
    """Give roles to the drafted columns that must not form subtypes; what the file says of a column comes first."""
    table = Table(drafted, frame)
    if table.counts is not None:
        warn(f"ROWS ARE NOT PATIENTS: {LOOKS['grouped'].format(name=table.counts)}")
    if table.measures is not None:
        warn(f"ROWS ARE NOT PATIENTS: {LOOKS['transposed'].format(name=table.measures)}")
    may_change = [draft for draft in drafted if draft.column.notes.role is None and draft.column.texts]
    for rule in RULES:
        for draft in may_change:
            if draft.has_role or draft.feature.role not in ("cluster", "ignore"):
                continue
            with np.errstate(all="ignore"), surviving():  # cells may be of any size
                if (proposal := rule(draft, table)) is not None:
                    draft.take_role(*proposal)
                    table.decided.append(draft)
