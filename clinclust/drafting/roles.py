"""What a column is for: a list of rules, each of which looks at a column and its neighbours and says why, or passes.

A column that must not form subtypes is recognised by whole words of its name or label, by values that only such columns
have, and by its neighbours: the event of a time, the visits of a subject, the baseline of a later measurement. The
words are in `clinclust/data/roles.toml`. One word of the user undoes a rule (`role: cluster`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Array, Whole, mid_ranks
from clinclust.data import data
from clinclust.drafting.column import LOOKS, MOST_LEVELS, Column, DraftedColumn, looks_identifying, surviving
from clinclust.drafting.kinds import no_before_yes
from clinclust.files.cell_text import shortened
from clinclust.files.notation import folded, mentions, name_words, names_subjects, says_only, words_of
from clinclust.files.row_choice import noted_several_rows, repeated_subjects

# Columns that name a subject, a family or a place: by their names and values, or by what they determine.

_MOST_KEY_ROWS = 3.0
_SAME = 0.995
_FEWEST_MEASURED = 3
_MOST_VISITS, _MOSTLY_REPEATED = 30, 0.5
_FEWEST_CROSSED, _CROSSED = 20, 0.9


def _tells_apart(subjects: Column, visit: Column) -> bool:
    """Return whether no two rows of a subject have the same visit."""
    seen = (subjects.codes >= 0) & (visit.codes >= 0)
    pairs = subjects.codes[seen] * len(visit.texts) + visit.codes[seen]
    return bool(seen.mean() > 0.99 and np.unique(pairs).size == pairs.size)


# Which of the listed words count in a table.

_LONG_WORD, _FEWEST_SPEAKING = 5, 2  # letters, from which on a word of any language is no clinical abbreviation
_LANGUAGES = frozenset(["en", "zh", *data("roles")["language"]])
_NATURAL = _LANGUAGES - {"cdisc", "cbioportal", "datasus"}


def count_words(names: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the listed words that count in a table with these names.

    ``event`` are the words of a concept: English and long ones, and short ones of the languages of the table, which are
    ``language.spoken``. A further list of a concept is ``event.names``.
    """
    words = {word for name in names for split in [name_words(name)] for word in (*split, "".join(split))}
    accented = {word for name in names if not name.isascii() for word in name_words(name)}

    def list_words(language: str) -> set[str]:
        return {word for lists in data("roles").values() for word in lists.get(language, ())}

    words -= list_words("en")
    languages = (name for name in data("roles")["language"] if len(words & list_words(name)) >= _FEWEST_SPEAKING)
    spoken = {"en", "zh", *languages}
    counting = {"language.spoken": frozenset(spoken)}
    for concept, lists in data("roles").items():
        of_concept = set[str]()
        for key, listed in lists.items():
            if key not in _LANGUAGES:
                counting[f"{concept}.{key}"] = frozenset(listed)
            elif key in spoken:
                of_concept |= set(listed)
            elif key in _NATURAL:
                of_concept |= {word for word in listed if len(word) >= _LONG_WORD or word in accented}
        counting[concept] = frozenset(of_concept)
    return counting


def _is_called(names: Sequence[Sequence[str]], concept: str, table: Table, also: frozenset[str] = frozenset()) -> bool:
    """Return whether a name is listed for a concept, or holds one of its words and, but for some, no others."""
    beside, whole = (table.listed.get(f"{concept}.{key}", frozenset()) for key in ("beside", "names"))
    return any(_bare(words) in whole or says_only(words, table.listed[concept], beside | also) for words in names)


def _bare(words: Sequence[str]) -> str:
    """Return the words of a name without numbers."""
    return " ".join(word for word in words if not word.isdigit())


# A table whose columns have been drafted, each for itself.

_FEWEST_RARE = 4


class Role(NamedTuple):
    """The role that a rule proposes for a column, and its evidence."""

    role: str
    reason: str
    look: str = ""


class Table:
    """The columns of a table with what they tell of each other."""

    def __init__(self, drafted: Sequence[DraftedColumn], frame: pd.DataFrame) -> None:
        self.drafted, self.frame = drafted, frame
        self.columns = [one.column for one in drafted]
        self.by_name = {one.column.name: one for one in drafted}
        self.listed = count_words(self.by_name)
        if any(mentions(column.words, self.listed["event"]) for column in self.columns):
            self.listed["survival"] |= self.listed["survival.with_event"]
        self.note = noted_several_rows(frame)
        self.has_row_names = any(one.feature.role == "id" for one in drafted)
        self.every = slice(None, None, 1 + len(frame) // _ROWS_COMPARED)  # row, of at most 4,000
        self.subjects: Column | None = None
        self.decided: list[DraftedColumn] = []  # the columns to which rules gave a role

    @cached_property
    def crossed(self) -> dict[str, str]:
        """The columns of subjects each of whom has one row at each visit, with the columns of the visits.

        ``s_1`` to ``s_40`` at baseline, V1 and V3, whatever the columns are called.
        """
        visits = [column for column in self.columns if 2 <= len(column.texts) <= _MOST_VISITS]
        return {
            subjects.name: visit.name
            for subjects in self.columns
            if _FEWEST_CROSSED <= len(subjects.texts) <= subjects.n_observed / 2 and subjects.are_codes
            for visit in reversed(visits)
            if subjects.n_observed >= _CROSSED * len(subjects.texts) * len(visit.texts)
            if subjects is not visit and _tells_apart(subjects, visit)
        }

    @cached_property
    def by_dictionary(self) -> dict[str, str]:
        """The roles of names in published data dictionaries that have several of the names; # is any number."""
        both = {name: (re.sub("[0-9]+", "#", folded(name)), folded(name)) for name in self.by_name}
        rare = {of for two in both.values() for of in two}.difference(data("sources")["common"]["cluster"])
        roles: dict[str, str] = {}
        for source in data("sources").values():
            if sum(len(rare.intersection(those)) for those in source.values()) >= _FEWEST_RARE:
                listed = {of: role for role, those in source.items() if role != "cluster" for of in those}
                roles |= {name: listed[of] for name, two in both.items() for of in two if of in listed}
        return roles

    @cached_property
    def numbers(self) -> dict[str, Array]:
        """The columns of many different numbers, each with those of `every` row, in which they are compared."""
        of_many = (column for column in self.columns if len(column.texts) >= _DISTINCT)
        numbers = {column.name: column.in_rows(column.numbers)[self.every] for column in of_many}
        return {name: of_rows for name, of_rows in numbers.items() if np.isfinite(of_rows).any()}

    @cached_property
    def pairs(self) -> dict[str, str]:
        """The times and events that are called alike, or whose values show that one ends the other."""
        numbers = {one.column.name: one.feature.scores(one.typed) for one in self.drafted if one.typed is not None}
        return {**ended_times(numbers), **dict(_alike_named_pairs(self))}

    @cached_property
    def later(self) -> set[str]:
        """The later measurements of what was measured at baseline too."""
        return set(_later_measurements(self))


Rule = Callable[[DraftedColumn, Table], Role | None]
"""Looks at a column and its neighbours; returns a role with its evidence, or None."""


def take_from(roles_of: Callable[[Table], dict[str, str]], reason: str) -> Rule:
    """Return the rule that takes the roles that all columns of a table together give to some of them."""

    def rule(one: DraftedColumn, table: Table) -> Role | None:
        role = roles_of(table).get(one.column.name)
        return None if role is None else Role(role, reason)

    return rule


# People: who a row is of.

_FEWEST_SUBJECTS = 10
_MOST_CHANCE_REPEATS = 0.05  # two people may have one first name
_LEAST_NUMBER = 100.0  # of `Kuh-Nr` 1001 to 9999, and not of `drug_id` 1 to 30


def subjects_with_several_rows(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise a column whose values name a few rows each: by its name, by what they share, or by their visits."""
    column, words = one.column, one.column.words
    is_of_site = "number" not in words and _is_place(words, table)  # "hospital id"; a "hospital number" is a patient's
    is_named = names_subjects(column.name) and not is_of_site and _may_name_subjects(one)
    is_named |= table.note is not None and table.note.column == column.name and not is_of_site
    if not is_named and column.name not in table.crossed:
        return None
    if not is_named and _is_place(words, table):
        return Role("site", "it names places or units, each with several rows")
    repeated = repeated_subjects(table.frame, column.name)
    if repeated is None:
        return None
    if table.has_row_names and repeated.n_repeated < _MOST_CHANCE_REPEATS * repeated.n_subjects:
        return Role("ignore", "it names subjects; a few names are shared")
    table.subjects = table.subjects or column
    return Role("ignore", "it names subjects, who have several rows", repeated.sentence())


def _may_name_subjects(one: DraftedColumn) -> bool:
    """Return whether values can name subjects: many, whole or texts, and not a count that begins at 0 (`falls`)."""
    finite = one.column.finite
    is_count = one.feature.traits.is_count and finite.min(initial=1.0) == 0.0
    return len(one.column.texts) >= _FEWEST_SUBJECTS and not is_count and not (finite % 1 != 0).any()


def people(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise names, telephone numbers and second identifiers, of which some cells may be empty or shared."""
    column, n_texts = one.column, len(one.column.texts)
    are_few_each = n_texts >= column.n_observed / _MOST_KEY_ROWS
    is_numbered = column.words[-1:] == ["id"] or column.name.casefold().endswith(("nr", "nummer"))  # `HADM_ID`, `lopnr`
    is_numbered &= are_few_each or bool((column.finite[:1] >= _LEAST_NUMBER).any())
    is_named = is_numbered or looks_identifying(column.name, is_unique=are_few_each)
    is_many = n_texts >= max(_FEWEST_SUBJECTS, min(2 * _FEWEST_SUBJECTS, 0.8 * column.n_observed))
    if is_named and is_many and _may_name_subjects(one) and not _is_place(column.words, table):
        return Role("ignore", "names or numbers of people or families")
    return None


# The trial: its arms.

_MOST_ARMS, _BALANCED = 8, 1.15


def arms(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise the arm of a trial, which has few values."""
    column = one.column
    if len(column.texts) > _MOST_ARMS:
        return None
    if not {" ".join(words_of(text)) for text in column.texts}.isdisjoint(table.listed["arm.levels"]):
        return Role("arm", "by its values")
    if _is_called(column.names, "arm", table):
        return Role("arm", "by its name")
    # Allocation makes all levels nearly as frequent: "study group", and no "age group".
    are_balanced = column.counts.size > 1 and column.counts.max() <= _BALANCED * column.counts.min()
    if are_balanced and says_only(column.words, table.listed["arm.balanced"], table.listed["arm.beside"]):
        return Role("arm", "by its name, and its groups are of one size")
    return None


# Times, and the events that end them.

_FEWEST_TIMES, _FEWEST_DAYS, _LONGEST_BEFORE_TIME = 8, 100, 6
_FEWEST_ROWS, _FEWEST_TIES, _DISTINCT, _BEGINS_NEAR_ZERO = 30, 10, 15, 0.1
_MOST_LONG = 100  # columns that are compared in pairs: a wider table is one of genes or items, not of times
_NEARLY_ALL, _NEARLY_EVERYBODY, _MOSTLY_ENDED = 0.95, 0.8, 0.8
_LONGEST_LEVEL = 100
_NEAR_ITS_LIMIT, _ROUNDING, _ROWS_COMPARED = 0.5, 1e-6, 2_000
_LEAST_NEVER = 0.1
_DATES = ("dates", "times of day")


def follow_up(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise times of follow-up by their names: `futime`, `time to death`, `OS`."""
    column, words = one.column, one.column.words
    is_long = one.is_number or len(column.texts) > _FEWEST_TIMES
    are_numbers = column.finite.size == len(column.texts) > 2
    units = table.listed["survival.beside"] - {"in", "status", "event", "stat"}
    for name in column.names:
        is_named = not {" ".join(name), _bare(name)}.isdisjoint(table.listed["time.names"])
        is_listed = _bare(name).replace(" ", "") in table.listed["time"] or mentions(name, table.listed["time"])
        is_listed |= _is_called([name], "survival", table)  # `OS months`
        is_listed |= len(name) > 1 and says_only(name, table.listed["survival.with_event"], units)
        is_listed |= mentions(name, table.listed["event"]) and not units.isdisjoint(name)  # `days to death`
        if (is_long and (is_named or is_listed)) or (are_numbers and " ".join(name) in table.listed["time.names"]):
            return Role("time", "by its name")
    finite, n_never = column.finite, column.counts[np.isinf(column.numbers)].sum()
    if n_never >= _LEAST_NEVER * max(column.n_observed, 1) and finite.size and (finite >= 0.0).all():
        return Role("time", "Inf where the event never came")
    counts_days = finite.size > 0 and (finite % 1 == 0).all() and finite.max() >= _FEWEST_DAYS  # no prothrombin time
    last = ["", *_bare(words).split()][-1]
    rests = [len(last) - len(end) for end in table.listed["time.endings"] if last.endswith(end)]
    is_time = any(0 < rest <= _LONGEST_BEFORE_TIME for rest in rests) and counts_days
    is_time &= one.is_number and len(column.texts) > _FEWEST_TIMES
    return Role("time", "by the end of its name") if is_time else None


def events(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise outcomes by names, as `death` and `NEW_TUMOR_EVENT`, or by values that only outcomes have."""
    column, words, listed = one.column, one.column.words, table.listed["event"]
    is_of_patient = table.listed["event.not_beside"].isdisjoint(words)
    texts = [text for text in column.texts[: _MOST_ARMS + 1] if len(text) <= _LONGEST_LEVEL]
    levels = [f"{_bare(name_words(text))} " for text in texts if len(column.texts) <= _MOST_ARMS]
    if levels and {level.strip() for level in levels} <= table.listed["event.exposures"]:
        return None  # a status that is called no more than that: "married", "never smoked"
    is_listed = _bare(words) in table.listed["event.names"] and (len(words) == 1 or words[0] != "y")  # y1, y2 are items
    if is_listed or (is_of_patient and mentions(words, listed)):
        return Role("outcome", "by its name")
    if column.notes.label and says_only(name_words(column.notes.label), listed, table.listed["event.beside"]):
        return Role("outcome", "by its label")
    ends = (listed - table.listed["event.not_levels"]) | table.listed["event.levels"]
    if is_of_patient and any(level.startswith(tuple(f"{end} " for end in ends)) for level in levels):
        return Role("outcome", "by its values")
    return None


def _alike_named_pairs(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the columns that are called alike but for a word of time or of status, as ``time`` and ``outcome``.

    `t1` and `d1`, `OS_MONTHS` and `OS_STATUS`, `dayslink` and `link`. Nearly everybody has a time above 0 at each level
    of the event, so that years of smoking are no time to a smoking status; and the event is no cut of the time, as a
    raised CA-125 is.
    """
    statuses, sure = table.listed["status"], table.listed["time.sure_affixes"]
    events: dict[str, list[Column]] = {}
    for column in table.columns:
        if 2 <= len(column.texts) <= 4:
            called = "".join(column.words)
            for stem in {called, *_stems(called, statuses)}:
                events.setdefault(stem, []).append(column)
    for column in table.columns:
        numbers, called = column.finite, "".join(column.words)
        if numbers.size < max(_DISTINCT, len(column.texts) / 2) or numbers.min() < 0:
            continue
        surely = _stems(called, sure)
        for stem in _stems(called, table.listed["time.affixes"] | sure) - {called}:
            for event in events.get(stem, ()):
                rest = "".join(event.words).replace(stem, "", 1)
                is_letter = len(rest) == 1 and event.words[1:][-1:] != [rest]  # `d1` of `t1`, not `sga` of `ga_weeks`
                if (not rest and stem not in surely) or (is_letter and len(called) - len(stem) > 1):
                    continue
                by_level = _by_level(column.in_rows(column.numbers), event.codes, len(event.texts))
                are_above = [np.mean(times > 0.0) > _NEARLY_EVERYBODY for times in by_level]
                if event is not column and all(are_above) and not _is_cut(by_level):
                    yield from ((column.name, "time"), (event.name, "outcome"))


def _stems(called: str, affixes: frozenset[str]) -> set[str]:
    """Return what is left of a name without one of some words at its beginning or end."""
    before = {called.removeprefix(affix) for affix in affixes if called.startswith(affix)}
    return before | {called.removesuffix(affix) for affix in affixes if called.endswith(affix)}


def _by_level(numbers: Array, codes: Whole, n_levels: int) -> list[Array]:
    seen = np.isfinite(numbers)
    return [numbers[seen & (codes == level)] for level in range(n_levels)]


def _is_cut(groups: Sequence[Array]) -> bool:
    """Return whether the numbers of one group lie beyond those of another, or a group has none."""
    return not all(map(np.size, groups)) or bool(max(map(np.min, groups)) >= min(map(np.max, groups)))


def ended_times(numbers: dict[str, Array]) -> dict[str, str]:
    """Return the times and the event (as ``time`` and ``outcome``) of which one time ends the other without the event.

    The longer time is at least as large in every row; where they are equal the yes/no column is no, and elsewhere yes:
    death or the end of follow-up ends the time to relapse. Two times alone may be two ages, or a first and a highest
    value of a laboratory. Numbers are float64 (N,) by column, NaN = missing; yes/no is 1/0.
    """
    long, answers = {}, {}
    for name, values in numbers.items():
        distinct = np.unique(values[np.isfinite(values)])
        if distinct.size == 2:
            answers[name] = values == distinct[1]
        elif distinct.size >= _DISTINCT and 0.0 <= distinct[0] <= _BEGINS_NEAR_ZERO * distinct[-1]:
            long[name] = values
    roles: dict[str, str] = {}
    for one, other in combinations(long if len(long) <= _MOST_LONG else (), 2):
        both = np.isfinite(long[one]) & np.isfinite(long[other])
        a, b = long[one][both], long[other][both]
        ties = a == b
        if both.sum() < _FEWEST_ROWS or max((a <= b).mean(), (a >= b).mean()) < _SAME:
            continue
        if _FEWEST_TIES <= ties.sum() <= ties.size - _FEWEST_TIES and np.unique(a[ties]).size >= _FEWEST_TIES:
            rows = {name: yes[both] for name, yes in answers.items() if (ties != yes[both]).mean() >= _NEARLY_ALL}
            ends = [name for name, yes in rows.items() if min(yes[~ties].mean(), (~yes[ties]).mean()) > _MOSTLY_ENDED]
            roles |= dict.fromkeys(ends, "outcome") | (dict.fromkeys((one, other), "time") if ends else {})
    return roles


def tied(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise what arithmetic ties to an outcome or a time, whatever it is called.

    An outcome may be a cut of it, as a low weight at birth is of the weight; it may be another column and a time, as
    the age at death is the age at entry and the follow-up; or never be later than a time.
    """
    numbers = table.numbers
    if one.column.name not in numbers:
        return None
    values = numbers[one.column.name]
    for other in table.decided:
        name, role = other.column.name, other.feature.role
        if role == "outcome" and len(other.column.texts) == 2:
            groups = _by_level(values, other.column.codes[table.every], 2)
            if min(map(np.size, groups)) >= _FEWEST_TIES and _is_cut(groups):
                return Role("outcome", f"{shortened(name)} is a cut of it")
        if role not in ("outcome", "time") or name not in numbers:
            continue
        seen = np.isfinite(values) & np.isfinite(numbers[name])
        if seen.sum() < _FEWEST_ROWS:
            continue
        is_near = np.median(values[seen]) >= _NEAR_ITS_LIMIT * np.median(numbers[name][seen])
        if is_near and (values <= numbers[name])[seen].all() and rise_together(one, other):
            return Role("time", f"never later than {shortened(name)}")
        rest, least = (values - numbers[name])[seen], _ROUNDING * np.abs(values[seen]).max()
        starts = numbers if role == "time" and len(numbers) <= _MOST_LONG else ()
        for start in (start for start in starts if start not in (name, one.column.name)):
            if (np.abs(rest - numbers[start][seen]) <= least).mean() >= _NEARLY_ALL:
                return Role("time", f"the sum of {shortened(start)} and {shortened(name)}")
    return None


# The calendar, and visits.

_YEARS, _FIRST_YEAR, _MOST_WORDS = (1900, 2035), 1850, 3
_CALENDAR = {"month": (1, 12), "week": (1, 53), "quarter": (1, 4), "weekday": (0, 7), "hour": (0, 24)}
_FEWEST_DAYS_NAMED, _MOST_DAYS_NAMED = 3, 24  # in two spellings


def calendar(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise dates and times of day, calendar years, months and weeks, by name and values."""
    if one.proposal.reason.startswith(_DATES):
        return Role("time", "dates or times of day")
    numbers, is_long = one.column.finite, one.is_number or len(one.column.texts) > _MOST_ARMS
    if is_long and not table.listed["date"].isdisjoint(one.column.words):
        return Role("time", "by its name")  # the days of a spreadsheet too
    are_few = _FEWEST_DAYS_NAMED <= len(one.column.texts) <= _MOST_DAYS_NAMED
    if are_few and {_bare(words_of(text)) for text in one.column.texts} <= table.listed["calendar.days"]:
        return Role("time", "days of the week or months")
    if not 0 < numbers.size == len(one.column.texts):
        return None
    low, high = float(numbers[0]), float(numbers[-1])
    if (numbers % 1 != 0).any():  # 1889.02, as registers and epidemiological packages count days
        is_decimal = low >= _FIRST_YEAR and high <= _YEARS[1] and numbers.size >= _FEWEST_ROWS
        return Role("time", "calendar years with fractions") if is_decimal else None
    words, parts = one.column.words, {unit: tuple(table.listed[f"calendar.{unit}"]) for unit in ("year", *_CALENDAR)}
    is_named = any(word.endswith(parts["year"]) or word.startswith(parts["year"]) for word in words if word[-1] != "s")
    if _YEARS[0] <= low and high <= _YEARS[1]:
        is_dense = numbers.size >= 0.5 * (high - low + 1)  # salaries of 1,950 to 2,030 leave most numbers out
        is_dense = is_dense and numbers.size > 2 and one.column.n_observed >= _FEWEST_ROWS
        return Role("time", "calendar years") if is_named or is_dense else None
    if not table.listed["calendar.not_beside"].isdisjoint(words):  # durations
        return None
    if is_named and low >= 40 and high <= 99:  # 83 for 1983
        return Role("time", "calendar years of two digits")
    for unit, (least, most) in _CALENDAR.items():
        is_of_unit = len(words) <= _MOST_WORDS and any(word.endswith(parts[unit]) for word in (*words, "".join(words)))
        if is_of_unit and low >= least and high <= most:
            return Role("time", f"{unit}, by name and values")
    return None


def visits(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise what tells the rows of a subject apart, and waves and visits by their names."""
    column, subjects, is_visit = one.column, table.subjects, one.column.name in table.crossed.values()
    if subjects is not None and subjects is not column and not is_visit:  # most of whom have several rows
        n_most, n_repeated = int(subjects.counts.max(initial=0)), int((subjects.counts > 1).sum())
        is_visit = 2 <= n_most <= len(column.texts) <= _MOST_VISITS and _tells_apart(subjects, column)
        is_visit &= n_repeated >= _MOSTLY_REPEATED * len(subjects.texts)
    if is_visit:
        return Role("time", "it tells the rows of a subject apart")
    is_count = one.feature.traits.is_count and column.numbers.min(initial=1.0) == 0.0  # visits to a doctor
    return Role("time", "by its name") if _is_called([column.words], "visit", table) and not is_count else None


# Places: sites, regions, the design of a survey.

_FEWEST_PLACES, _LONG_CODE, _LAST_DIGITS = 20, 10.0**5, 0.05


def places(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise sites, places, people who measured, and codes of the design of a survey."""
    column, words, finite = one.column, one.column.words, one.column.finite
    has_fractions = bool((finite % 1 != 0).any())
    starts = tuple(word for word in table.listed["sampling"] if " " not in word and len(word) > 3)
    for name in column.names:
        single = [word.removesuffix("s") for word in name]
        begins = any(piece.startswith(starts) for piece in (*single, "".join(single)))
        if begins or _is_called([name, single], "sampling", table):
            return Role("site", "the design of a survey")
    if "cdisc" in table.listed["language.spoken"] and words and words[-1].endswith("fl"):  # `SAFFL`
        return Role("describe", "a flag of sets for analysis, by its name")
    if not table.listed["place.coordinates"].isdisjoint(words):  # `lat` of left and right is a side
        is_coordinate = has_fractions and np.abs(finite).max(initial=0.0) <= 180.0
        return Role("site", "coordinates") if is_coordinate else None
    is_numbered = len(column.texts) > _MOST_ARMS and len(words) > 1 and words[-1].isdigit()  # `unit1` to `unit9`
    begins_at_0 = finite.min(initial=1.0) == 0.0  # as years at school and visits to hospitals do, and no centres
    if has_fractions or (one.is_number and (begins_at_0 or is_numbered)):
        return None  # `lab1` of 5.3 is a measurement
    is_dummy = len(column.texts) == 2 and (set(column.numbers) == {0.0, 1.0} or no_before_yes(column.texts) is not None)
    if any(_is_place(name, table, may_be_town=not is_dummy) for name in column.names):
        return Role("site", "by its name")
    are_long = finite.size == len(column.texts) >= _FEWEST_PLACES and finite.min() >= _LONG_CODE
    if are_long and np.ptp(finite) < _LAST_DIGITS * finite.min():  # 350010 to 350200
        return Role("site", "codes of many digits, of which only the last differ")
    return None


def _is_place(words: Sequence[str], table: Table, *, may_be_town: bool = True) -> bool:
    """Return whether a name is one of sites or places, and says nothing else; `city` of no and yes is no place."""
    is_site = _is_called([words], "site", table, also=table.listed["place"])
    return is_site or (may_be_town and _is_called([words], "place", table, also=table.listed["site"]))


# Later measurements: outcomes of a cohort whose baseline forms the subtypes.

_FEWEST_BOTH, _SURE, _LOST = 8, 2.0, 0.02
_FEWEST_SIBLINGS, _OFTEN_MISSING, _MOSTLY_RECORDED = 2, 0.3, 0.8


def later(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise later measurements of what was measured at baseline, and those of a trial with a time in the name.

    A number with a unit of time is `pain_30min` and `crp_day28`; what is recalled at baseline, as `falls_last_30d`, is
    no later measurement. In a cohort without arms it is one of yes and no, years ahead: `diabetes_5y`.
    """
    if one.column.name in table.later:
        return Role("outcome", "a later measurement of what was measured at baseline")
    words, units = one.column.words, table.listed["baseline.units"]
    ahead = {unit for number, unit in pairwise(words) if number.strip("0").isdigit() and unit in units}
    times = ahead | {unit for unit, number in pairwise(words) if number.strip("0").isdigit() and unit in units}
    is_measured = not all(word.isdigit() or word in units for word in words)
    is_recalled = not (table.listed["history.words"] | table.listed["baseline.words"]).isdisjoint(words)
    if not times or not is_measured or is_recalled:
        return None
    is_ahead = len(one.column.texts) == 2 and not ahead.isdisjoint(table.listed["baseline.years"])
    has_arm = any(other.feature.role == "arm" for other in table.decided)
    return Role("outcome", "measured after baseline, by its name") if has_arm or is_ahead else None


def _later_measurements(table: Table) -> Iterator[str]:
    """Yield later measurements of what was measured at baseline: `bdi.4m` with `bdi.pre`, `Postwt` with `Prewt`.

    The baseline may be the visit 0, or have no word for visits: `x_t0` with `x_t1`, `egfr` with `egfr_12m`. Both are of
    one kind, and rise with each other: of `m0x` to `m79x`, which are independent, some do by chance.
    """
    base, after = table.listed["baseline.words"], table.listed["baseline.later"]
    words = {column.name: column.words for column in table.columns}
    starts, later = dict[tuple[str, ...], str](), list[tuple[str, tuple[str, ...], bool, list[float]]]()
    for name, split in words.items():
        prefix = next((prefix for prefix in ("pre", "post") if split and split[0].startswith(prefix)), "")
        if prefix and split[0] not in base | after and len(split[0]) >= len(prefix) + 2:  # `prewt` is pre and wt
            split = [prefix, split[0].removeprefix(prefix), *split[1:]]
        stem = tuple(word for word in split if not word.isdigit() and word not in base | after)
        has_visit, numbers = not after.isdisjoint(split), [float(word) for word in split if word.isdigit()]
        is_visit_0 = "0" in split[-2:] and not after.isdisjoint(split[-2:])  # and not `m0x`
        if stem and (is_visit_0 or not base.isdisjoint(split)):
            starts.setdefault(stem, name)
        elif stem and stem != tuple(split):
            later.append((name, stem, has_visit, numbers))
    plain = {tuple(split): name for name, split in words.items()}
    series: dict[tuple[str, ...], dict[float, str]] = {}
    for name, stem, has_visit, numbers in later:
        start = starts.get(stem, plain.get(stem) if has_visit and numbers else None)
        if start is not None and rise_together(table.by_name[start], table.by_name[name]):
            yield name
        elif start is None and len(numbers) == 1 and not has_visit:
            series.setdefault(stem, {})[numbers[0]] = name
    alike: dict[tuple[float, ...], list[list[DraftedColumn]]] = {}
    for numbered in series.values():
        measured = [table.by_name[numbered[number]] for number in sorted(numbered)]
        if min(numbered) <= 1.0 and all(item.is_number for item in measured):
            alike.setdefault(tuple(sorted(numbered)), []).append(measured)
    for (first, *others), group in alike.items():  # of `prop1` to `prop3` and `masc1` to `masc3`, items lose no answers
        missing = np.mean([[np.mean(item.column.codes < 0) for item in measured] for measured in group], axis=0)
        rising = [item.column.name for measured in group for item in measured[1:] if rise_together(measured[0], item)]
        is_lost = len(group) >= _FEWEST_MEASURED and bool((np.diff(missing) >= _LOST).all())
        if is_lost and 2 * len(rising) > len(group) * len(others):  # so were the diagnoses `ypf1` to `ypf3`
            yield from (of[number] for of in series.values() if first in of for number in others if number in of)


def rise_together(first: DraftedColumn, second: DraftedColumn) -> bool:
    """Return whether two columns are of one kind, and their rank correlation is above 0 beyond chance."""
    if first.typed is None or second.typed is None or first.is_number != second.is_number:
        return False
    a, b = first.feature.scores(first.typed), second.feature.scores(second.typed)
    both = np.isfinite(a) & np.isfinite(b)
    n = int(both.sum())
    if n < _FEWEST_BOTH or np.ptp(a[both]) == 0.0 or np.ptp(b[both]) == 0.0:
        return False
    r = float(np.corrcoef(mid_ranks(a[both]), mid_ranks(b[both]))[0, 1])
    return bool(np.arctanh(min(r, 0.999999)) * np.sqrt(n - 3.0) > _SURE)


def siblings(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise a column that is called as several times or outcomes are: `etime5` as `etime1`, `d_dea` as `d_rel`."""
    words, affixes = one.column.words, table.listed["status"] | table.listed["time.affixes"]
    stem, first = _bare(words), words[0] if len(words) > 1 and words[0] in affixes else None
    if stem == " ".join(words) and first is None:
        return None
    # `VAR1` to `VAR9` of which two hold dates are no times: dates are times by their values alone.
    decided = [other for other in table.decided if other.column.name not in table.later]  # the first is the baseline
    named = [other for other in decided if not other.proposal.reason.startswith(_DATES)]
    called = [(other.column.words, other.feature.role) for other in named]
    alike = [role for words, role in called if _bare(words) == stem or (len(words) > 1 and words[0] == first)]
    if len(alike) >= _FEWEST_SIBLINGS and set(alike) in ({"time"}, {"outcome"}):
        return Role(alike[0], "called as others but for its number or the end of its name")
    return None


def recorded_with(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise what is recorded where a time to an event is, or at one level of an outcome, and only there.

    The kind of progression is such an outcome, and the cause of death of those who died.
    """
    is_seen = one.column.codes >= 0
    if not _FEWEST_ROWS <= is_seen.sum() <= (1.0 - _OFTEN_MISSING) * is_seen.size:
        return None
    for other in table.decided:
        codes, role = other.column.codes, other.feature.role
        if role == "time" and not one.is_number and np.array_equal(is_seen, codes >= 0):
            return Role("outcome", "recorded where a time to an event is, and only there")
        if role != "outcome" or not 2 <= len(other.column.texts) <= _MOST_ARMS:
            continue
        level = int(np.bincount(codes[is_seen] + 1, minlength=2).argmax()) - 1
        at_level = codes == level
        if level >= 0 and (is_seen & at_level).sum() >= _SAME * max(is_seen.sum(), _MOSTLY_RECORDED * at_level.sum()):
            return Role("outcome", f"recorded at one level of {shortened(other.column.name)}, and only there")
    return None


# The division of the subjects that is known already.

_MOST_ANSWERS = 30


def answers(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise a diagnosis, class or group that is known: it describes subtypes and does not form them."""
    column, words = one.column, one.column.words
    if not words or not 2 <= len(column.texts) <= _MOST_ANSWERS or one.is_number:
        return None
    is_answer = _is_called([words], "answer", table)
    is_answer |= not table.listed["answer.levels"].isdisjoint(_bare(words_of(text)) for text in column.texts)
    # A type that is no or yes is whether a subject has the disease.
    if set(words) <= table.listed["answer.if_yes_or_no"]:
        is_answer |= len(column.texts) == 2 and no_before_yes(column.texts) is not None
    return Role("describe", "a known answer", LOOKS["known_answer"]) if is_answer else None


# One measurement in two units: the first division of a report would be the unit.

_FEWEST_OF_A_UNIT, _LEAST_OF_A_UNIT = 5, 0.02
_OF_WEIGHTS = (2.2046, 1000.0)  # pounds and grams in a kilogram; of children and adults, other ratios are by chance
_SPREADS, _GAP_OF_UNITS, _GAP_OF_WEIGHTS, _APART, _ROUNDED, _LARGEST_ERROR = 2.0, 1.0, 0.4, 4.0, 0.02, 0.1


def mixed_units(one: DraftedColumn, table: Table) -> Role | None:
    """Recognise a measurement of which some values are in another unit, as haemoglobins of 13 and of 130.

    They part at the widest gap of their logarithms into two groups of which one is the other converted as in
    `clinclust/data/units.toml`: of one spread, with nobody between, and of some size. A marker that is high in one
    group of patients has no such conversion, another spread, or values between.
    """
    if one.typed is None or not one.feature.traits.is_continuous:
        return None
    values = one.typed.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers, cells = np.unique(values[np.isfinite(values)], return_counts=True)
    if numbers.size <= MOST_LEVELS or numbers[0] <= 0.0:
        return None
    n_below, n = np.cumsum(cells)[:-1], cells.sum()
    fewest = max(_FEWEST_OF_A_UNIT, _LEAST_OF_A_UNIT * n)
    are_some = np.minimum(n_below, n - n_below) >= fewest
    is_weight = not table.listed["measured.weights"].isdisjoint(one.column.words)  # in kg and lb two modes nearly meet
    gaps = np.where(are_some | (not is_weight), np.diff(np.log(numbers)), 0.0)
    cut = int(gaps.argmax()) + 1
    low, high = np.repeat(np.log(numbers[:cut]), cells[:cut]), np.repeat(np.log(numbers[cut:]), cells[cut:])
    least, most = sorted((float(low.std()), float(high.std())))
    step = float(np.median(high) - np.median(low))
    gap = (_GAP_OF_WEIGHTS if is_weight else _GAP_OF_UNITS) * most
    if min(low.size, high.size) < fewest or most > _SPREADS * least or gaps.max() < gap or step < _APART * most:
        return None
    # Three standard errors of the difference of two medians, that of each being sqrt(pi / 2 n) deviations.
    error = min(3.0 * most * math.sqrt(math.pi / 2.0 * (1.0 / low.size + 1.0 / high.size)), _LARGEST_ERROR)
    above_low = np.repeat(numbers[cut:], cells[cut:])
    off = {
        abs(float(np.log(np.median((above_low - start) / times))) - float(np.median(low))): (times, start)
        for times, start in data("units")["conversions"]
        if above_low[0] > start and (times in _OF_WEIGHTS or not is_weight)
    }
    if min(off) > max(error, _ROUNDED):
        return None
    times, start = off[min(off)]
    limit = f"{math.sqrt(numbers[cut - 1] * numbers[cut]):.3g}"
    if high.size < low.size:
        few, than, above, converted = high.size, "higher", ">", f"(x - {start:g}) / {times:g}"
    else:
        few, than, above, converted = low.size, "lower", "<", f"x * {times:g} + {start:g}"
    converted = converted.replace("(x - 0)", "x").replace(" + 0", "").replace("- -", "+ ").replace("+ -", "- ")
    column = f"frame[{one.column.name!r}]"
    numbers_of = f"{column}.str.replace(',', '.')" if one.feature.decimal == "," else column
    shown = {"few": few, "n": n, "than": than, "above": above, "limit": limit, "converted": converted}
    look = LOOKS["two_units"].format(numbers=numbers_of, column=column, **shown)
    return Role("describe", "two units, until its values have one", look)


RULES: tuple[Rule, ...] = (
    subjects_with_several_rows,
    people,
    take_from(lambda table: table.by_dictionary, "by the data dictionary of its source"),
    arms,
    answers,
    take_from(lambda table: table.pairs, "a time and its event, by their names or values"),
    calendar,
    follow_up,
    events,
    visits,
    places,
    later,
    siblings,
    recorded_with,
    tied,
    mixed_units,
)
"""In this order; each looks at every column that has no role yet: later rules know the roles that others gave."""


def assign_roles(drafted: Sequence[DraftedColumn], frame: pd.DataFrame) -> None:
    """Give roles to the drafted columns that must not form subtypes; what the file says of a column comes first."""
    table = Table(drafted, frame)
    may_change = [one for one in drafted if one.column.notes.role is None and one.column.texts]
    for rule in RULES:
        for one in may_change:
            if one.has_role or one.feature.role not in ("cluster", "ignore"):
                continue
            with np.errstate(all="ignore"), surviving(one.note_fault):  # cells may be of any size
                if (proposal := rule(one, table)) is not None:
                    one.take_role(*proposal)
                    table.decided.append(one)
