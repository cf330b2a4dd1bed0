"""What a column is for: identifiers, arms, outcomes, times, sites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import Column
from clinclust.drafting.levels import numbers_on_grid
from clinclust.files.dictionaries.words import words_of

# Why a column must not form subtypes: it is an identifier, an arm, an outcome, a time, or a matter of the site.
#
# A role is proposed by whole words of the name or label, by values that only such columns have, and by pairs of columns
# whose values show that one is the time of the other. One word undoes it (`role: cluster`).

_WORD = re.compile(r"[A-ZÄÖÜÀ-Þ]+(?![a-zß-ÿ])|[A-ZÄÖÜÀ-Þ]?[a-zß-ÿ]+|[0-9]+")
_ORDER = ("arm", "time", "outcome", "site")
_MOST_ARMS, _FEWEST_TIMES, _BALANCED = 8, 8, 1.15
_LONGEST_BEFORE_TIME, _FEWEST_DAYS = 6, 100
_FEWEST_ROWS, _FEWEST_TIES, _DISTINCT, _BEGINS_NEAR_ZERO = 30, 10, 15, 0.1
_MOST_LONG = 100  # columns that are compared in pairs: a wider table is one of genes or items, not of times
_NEARLY_ALL = 0.95


def name_words(name: str) -> list[str]:
    """Return the words of a name without case and accents: `LeftHand_größe2` holds left, hand, grosse and 2."""
    words = _WORD.findall(unicodedata.normalize("NFC", name))
    return [word for part in words for word in words_of(part)]


@cache
def _words(file: str, listed: str, part: str = "") -> frozenset[str]:
    found = data(file)[listed]
    return frozenset(found[part] if part else found)


def looks_identifying(name: str, *, is_unique: bool = False) -> bool:
    """Return whether a name is one of identifiers, such as `patient_id` or `CaseNo`, and says nothing else.

    Words such as `number` and `index` say so only of values that are all different.
    """
    words = [word for word in name_words(name) if not word.isdigit()]
    known, others = _words("names", "identifier"), _words("names", "beside_identifier")
    if is_unique:
        known = known | _words("names", "identifier_if_unique")
    return any(word in known for word in words) and all(word in known or word in others for word in words)


def named_role(column: Column, *, n_levels: int, is_number: bool) -> str:
    """Return the role that name, label or levels give a column of n_levels different values; empty if none does.

    An arm has few values; a time has many, or its values are numbers.
    """
    levels = {" ".join(words_of(text)) for text in column.texts} if len(column.texts) <= _MOST_ARMS else set()
    is_long = is_number or n_levels > _FEWEST_TIMES
    for role in _ORDER:
        listed = data("roles")[role]
        if role == "arm" and n_levels > _MOST_ARMS:
            continue
        if not levels.isdisjoint(listed.get("levels", ())):
            return role
        is_named = any(_is_named(role, name) for name in (column.name, column.notes.label) if name)
        if role == "arm" and _are_balanced(column):
            words = [word for word in name_words(column.name) if not word.isdigit()]
            groups = _words("roles", role, "balanced")
            # "study group", and no "age group"
            is_named |= bool(groups & set(words)) and groups | set(listed["beside"]) >= set(words)
        if is_named and (role != "time" or is_long):
            return role
        is_timed = is_number and n_levels > _FEWEST_TIMES and _counts_days(column)
        may_end = {"time": is_timed, "outcome": n_levels <= _MOST_ARMS}.get(role, False)
        if may_end and _ends_as(role, column.name):
            return role
    return ""


def _are_balanced(column: Column) -> bool:
    """Return whether all levels are nearly as frequent, as allocation makes them."""
    return bool(column.counts.size > 1 and column.counts.max() <= _BALANCED * column.counts.min())


def _is_named(role: str, name: str) -> bool:
    words = name_words(name)
    phrase = " ".join(words)
    bare = " ".join(word for word in words if not word.isdigit())
    padded = f" {phrase} "
    listed = data("roles")[role]
    if {phrase, bare} & _words("roles", role, "names") or "".join(bare.split()) in _words("roles", role, "words"):
        return True
    if any(f" {one} " in padded for one in listed.get("always", ())):
        return True
    if "beside" in listed:  # "prior treatment" and "hours at school" are of the patient
        known = _words("roles", role, "words")
        return any(word in known for word in words) and all(
            word in known or word in listed["beside"] or word.isdigit() for word in words
        )
    return any(f" {one} " in padded for one in listed["words"])


def _ends_as(role: str, name: str) -> bool:
    """Return whether the last word of a name is short and ends as those of a role do: `rfstime`, `etime1`, `pgstat`."""
    words = [word for word in name_words(name) if not word.isdigit()]
    if not words:
        return False
    ends = _words("roles", role, "endings")
    return any(words[-1].endswith(end) and 0 < len(words[-1]) - len(end) <= _LONGEST_BEFORE_TIME for end in ends)


def _counts_days(column: Column) -> bool:
    """Return whether whole numbers are as large as the days of a follow-up: a prothrombin time is not."""
    numbers = column.numbers[np.isfinite(column.numbers)]
    return bool(numbers.size and (numbers == np.floor(numbers)).all() and numbers.max() >= _FEWEST_DAYS)


def alike_named_pairs(columns: Sequence[Column]) -> dict[str, str]:
    """Return the columns that are called alike as a time (many numbers) and its event (two values): `t1` and `d1`."""
    by_name = {"".join(name_words(column.name)): column for column in columns}
    found: dict[str, str] = {}
    for called, time in by_name.items():
        numbers = time.numbers[np.isfinite(time.numbers)]
        if numbers.size < max(_DISTINCT, len(time.texts) / 2) or numbers.min() < 0:
            continue
        for before, instead in data("roles")["time"]["pairs"]:
            rest = called.removeprefix(before)
            event = by_name.get(instead + rest) if rest != called and rest else None
            if event is not None and event is not time and len(event.texts) == 2:
                found |= {time.name: "time", event.name: "outcome"}
    return found


def repeated_measurements(names: Sequence[str]) -> set[str]:
    """Return the later measurements of what was measured at baseline too: `bdi.4m` where there is `bdi.pre`.

    The baseline may be a number, if the others have the same word for visits: `x_t0` and `x_t1`, `x_week1`,
    `x_week12`.
    """
    base, later = _words("roles", "baseline", "words"), _words("roles", "baseline", "later")
    split = {name: name_words(name) for name in names}
    stems = {_stem(words, base) for words in split.values() if len(words) > 1 and base & set(words)}
    visits: dict[tuple[tuple[str, ...], frozenset[str]], dict[float, str]] = {}
    found = set()
    for name, words in split.items():
        stem, numbers = _stem(words, later), [float(word) for word in words if word.isdigit()]
        if not stem or stem == tuple(words) or base & set(words):
            continue
        if stem in stems:
            found.add(name)
        elif len(numbers) == 1:
            visits.setdefault((stem, later & set(words)), {})[numbers[0]] = name
    for (_, said), numbered in visits.items():
        first = min(numbered)
        if said and len(numbered) > 1 and (first == 0 or (first == 1 and len(max(said, key=len)) > 1)):
            found |= {name for number, name in numbered.items() if number != first}
    return found


def _stem(words: Sequence[str], of_visits: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a name without numbers and without those that say which visit it is."""
    return tuple(word for word in words if not word.isdigit() and word not in of_visits)


def paired_roles(numbers: dict[str, Array]) -> dict[str, str]:
    """Return the times and the event (as ``time`` and ``outcome``) of which one time ends the other without the event.

    The longer time is at least as large in every row; where they are equal the yes/no column is no, and elsewhere yes:
    death or the end of follow-up ends the time to relapse. Two times alone may be two ages, or a first and a highest
    value of a laboratory. Numbers are float64 (N,) by column, NaN = missing; yes/no is 1/0.
    """
    long, pairs = {}, {}
    for name, values in numbers.items():
        distinct = np.unique(values[np.isfinite(values)])
        if distinct.size == 2:
            pairs[name] = values == distinct[1]
        elif distinct.size >= _DISTINCT and 0.0 <= distinct[0] <= _BEGINS_NEAR_ZERO * distinct[-1]:
            long[name] = values
    found: dict[str, str] = {}
    for one, other in combinations(long if len(long) <= _MOST_LONG else (), 2):
        both = np.isfinite(long[one]) & np.isfinite(long[other])
        a, b = long[one][both], long[other][both]
        ties = a == b
        if both.sum() < _FEWEST_ROWS or not ((a <= b).all() or (a >= b).all()):
            continue
        if _FEWEST_TIES <= ties.sum() <= ties.size - _FEWEST_TIES and np.unique(a[ties]).size >= _FEWEST_TIES:
            events = [name for name, yes in pairs.items() if (ties != yes[both]).mean() >= _NEARLY_ALL]
            found |= dict.fromkeys(events, "outcome") | (dict.fromkeys((one, other), "time") if events else {})
    return found


# Columns that name a subject, a family or a place: by their names and values, or by what they determine.

Codes = NDArray[np.int64]

_FEWEST_CELLS = 20
_NUMBERS = re.compile(r"[0-9]+\s*[/+|]\s*[0-9]+")
_COLLISIONS = 7.0  # the expected number of equal pairs from which on no pair at all is no chance (e^-7)
_CONSECUTIVE, _RISING, _LONG = 1.1, 10.0, 100
_FEWEST_KEYS, _MOST_KEY_ROWS = 20, 3.0
_SAME, _SAME_BY_CHANCE = 0.995, 0.9
_FEWEST_DETERMINED = 3
_MOST_VISITS, _MOSTLY_REPEATED = 30, 0.5


def identifies_rows(column: Column) -> bool:
    """Return whether every cell has a value of its own, and they are no measurements.

    Texts identify, and whole numbers that follow each other, rise from row to row, or are all different although as
    many measurements with their spread would not be (the expected number of equal pairs is at least 7).
    """
    n = column.n_observed
    if n < _FEWEST_CELLS or len(column.texts) < n or n < 0.9 * column.codes.size:
        return n == len(column.texts) == column.codes.size > 1 and looks_identifying(column.name, is_unique=True)
    numbers = column.numbers
    if not np.isfinite(numbers).all():
        if any(_NUMBERS.fullmatch(text) for text in column.texts[:_FEWEST_CELLS]):
            return False  # pressures such as 120/80
        has_words = np.mean([" " in text.strip() for text in column.texts]) > 0.5
        return bool(np.isfinite(numbers).mean() < 0.5) and (
            not has_words or looks_identifying(column.name, is_unique=True)
        )
    if not (numbers == np.floor(numbers)).all():
        return False
    span = numbers.max() - numbers.min()
    rows = column.in_rows(numbers)
    rows = rows[np.isfinite(rows)]
    is_rising = (n >= _LONG or span <= _RISING * n) and bool((np.diff(rows) > 0).all() or (np.diff(rows) < 0).all())
    if looks_identifying(column.name, is_unique=True) or span <= _CONSECUTIVE * n or is_rising:
        return True
    grid = numbers_on_grid(numbers, np.ones(numbers.size))
    spread = float(numbers.std()) / grid.step
    return bool(n * (n - 1) / 2.0 / (2.0 * np.sqrt(np.pi) * max(spread, 1.0)) >= _COLLISIONS)


def keys_of(columns: Sequence[Column]) -> set[str]:
    """Return the columns, as of families, whose values name a few rows each that agree in three other columns."""
    found = set()
    for column in columns:
        n, n_values = column.n_observed, len(column.texts)
        if min(n_values, n - n_values) < _FEWEST_KEYS or not n / _MOST_KEY_ROWS <= n_values <= 0.97 * n:
            continue
        numbers = column.numbers
        if np.isfinite(numbers).any() and not (numbers == np.floor(numbers)).all():
            continue
        determined = (other for other in columns if other is not column and _is_determined(column, other))
        if len(list(islice(determined, _FEWEST_DETERMINED))) == _FEWEST_DETERMINED:
            found.add(column.name)
    return found


def _is_determined(key: Column, other: Column) -> bool:
    """Return whether rows with the same key have the same value of another column, and that is no chance."""
    seen = (key.codes >= 0) & (other.codes >= 0)
    keys, values = key.codes[seen], other.codes[seen]
    if len(other.texts) < 2 or len(other.texts) > len(key.texts) / 2:
        return False
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    pair = keys[1:] == keys[:-1]
    if pair.sum() < _FEWEST_KEYS or (values[1:] == values[:-1])[pair].mean() < _SAME:
        return False
    shares = other.counts / other.counts.sum()
    if float((shares**2).sum()) > _SAME_BY_CHANCE:
        return False
    return not _is_coarser(key, keys, values)


def _is_coarser(key: Column, keys: Codes, values: Codes) -> bool:
    """Return whether values divide the numbers of the key into intervals, as groups of ages do."""
    if not np.isfinite(key.numbers).all():
        return False
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    in_order = values[firsts][np.argsort(key.numbers[keys[firsts]], kind="stable")]
    n_changes = int((in_order[1:] != in_order[:-1]).sum())
    return n_changes <= 2 * (np.unique(values).size - 1)


def visit_columns(subjects: Column, columns: Sequence[Column]) -> list[str]:
    """Return the columns that distinguish the rows of each subject, as visits, months and occasions do."""
    n_most, n_repeated = int(subjects.counts.max(initial=0)), int((subjects.counts > 1).sum())
    if n_repeated < _MOSTLY_REPEATED * len(subjects.texts):
        return []
    found = []
    for column in columns:
        if column is subjects or not 2 <= len(column.texts) <= _MOST_VISITS or len(column.texts) < n_most:
            continue
        seen = (subjects.codes >= 0) & (column.codes >= 0)
        pairs = subjects.codes[seen] * len(column.texts) + column.codes[seen]
        if seen.mean() > 0.99 and np.unique(pairs).size == pairs.size and n_most > 1:
            found.append(column.name)
    return found
