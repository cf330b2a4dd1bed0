"""An attacker of shared reports: enumerate all tables of counts that agree with all that a report shows.

Nothing here is taken from the code that withholds or that audits. For each feature whose counts are withheld all tables
of levels by subtypes are listed that agree with the sizes, counts, percentages and means; then those are struck out
that would give

- another name of the contrast (chi-squared, or Fisher's exact test where an expected count is below 5),
- other ranks of p among the tests shown: q times rank is p times the number of tests, so q tells how many p lie below,
- another place among the features that the figures order by relevance,
- no small count, where the attacker reckons that nothing is withheld of a feature without one (knowledge of the rule,
  and not of the report).

For counts of events the attacker multiplies the mean by n, and subtracts the subtypes from all subjects.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from report_reader import SharedReport, tolerance
from scipy.special import betaln, stdtr

__all__ = ["CHANNELS", "KNOWLEDGE", "attack"]

CHANNELS = ("names", "q", "order", "totals")
"""What the report shows besides counts, shares and sizes."""
KNOWLEDGE = "rule"
"""What the attacker knows besides: that where numbers are withheld, a count of 1 to 9 is among them."""
_THRESHOLD = 10
_MOST_TABLES = 3_000_000
_TESTS = ("student", "welch")

Key = tuple[str, str, int]
Intervals = dict[Key, tuple[float, float]]


@dataclass(frozen=True)
class _Shown:
    """What is shown of a feature: by level and group its count, percentage and mean, by group n and missing."""

    name: str
    levels: tuple[str, ...]
    is_yes_no: bool
    numbers: dict[tuple[str, int], dict[str, object]]


def attack(report: SharedReport, channels: Collection[str] = CHANNELS) -> Intervals:
    """Return the lowest and the highest possible value of each count of each feature that can be enumerated.

    A count is named by its feature, its row (a level, ``not`` and the level, ``missing``, ``observed`` or ``events``)
    and its group (0 = all subjects).
    """
    found: Intervals = {}
    for shown in _features(report):
        if not shown.levels:
            found |= _events(shown) if "totals" in channels else {}
            continue
        tables = _tables(shown, report.sizes)
        if tables is None:
            continue
        ways = {"names": _agree_in_name, "q": _agree_in_q, "order": _agree_in_order, KNOWLEDGE: _has_a_small_count}
        for channel, agrees in ways.items():
            if channel in channels and len(tables):
                kept = tables[agrees(shown, tables, report)]
                # If no table is left, the report does not follow the rule that the attacker supposes.
                tables = kept if len(kept) else tables
        found |= _ends(shown, tables)
    return found


def _features(report: SharedReport) -> list[_Shown]:
    found: dict[str, dict[tuple[str, int], dict[str, object]]] = {}
    for row in report.of("Summary"):
        found.setdefault(str(row["Column"]), {})[str(row["Level"] or ""), int(row["Subtype"])] = row
    shown = []
    for name, numbers in found.items():
        levels = tuple(dict.fromkeys(level for level, _ in numbers if level))
        shown.append(_Shown(name, levels, len(levels) == 1, numbers))
    return shown


def _tables(shown: _Shown, sizes: dict[int, int | None]) -> np.ndarray | None:
    """Return all tables, (tables, subtypes, rows: levels, the other level, missing); None if they are too many."""
    groups = sorted(group for group in sizes if group)
    total = sizes[0]
    if total is None or not groups:
        return None
    left = total - sum(sizes[group] or 0 for group in groups)
    possible = {group: range(1, left + 1) if sizes[group] is None else (sizes[group],) for group in groups}
    of_all = _whole_column(shown)
    tables = np.zeros((1, 0, len(shown.levels) + shown.is_yes_no + 1), dtype=np.int64)
    for group in groups if of_all is None else groups[:-1]:
        column = _columns(shown, group, possible[group])
        if column is None or len(tables) * len(column) > _MOST_TABLES:
            return None
        pairs = np.indices((len(tables), len(column))).reshape(2, -1)
        tables = np.concatenate([tables[pairs[0]], column[pairs[1]][:, np.newaxis]], axis=1)
        tables = tables[_agree(shown, 0, tables.sum(axis=1), at_most=group < groups[-1] or of_all is not None)]
    if of_all is not None:
        last = of_all - tables.sum(axis=1)
        fits = (last >= 0).all(axis=1) & np.isin(last.sum(axis=1), possible[groups[-1]])
        fits &= _agree(shown, groups[-1], last)
        tables = np.concatenate([tables[fits], last[fits][:, np.newaxis]], axis=1)
    tables = tables[_agree(shown, 0, tables.sum(axis=1))]
    by_size = tables.sum(axis=2)
    return tables[(by_size.sum(axis=1) == total) & (np.diff(by_size, axis=1) <= 0).all(axis=1)]


def _whole_column(shown: _Shown) -> np.ndarray | None:
    """Return the counts of all subjects, from which those of the last subtype follow; None if one is withheld."""
    rows = [shown.numbers[level, 0] for level in shown.levels]
    if not all(isinstance(row[name], int) for row in rows for name in ("n", "count", "missing")):
        return None
    counts = [row["count"] for row in rows]
    other = [rows[0]["n"] - sum(counts)] if shown.is_yes_no else []
    return np.array([*counts, *other, rows[0]["missing"]])


def _columns(shown: _Shown, group: int, sizes: Collection[int]) -> np.ndarray | None:
    """Return the possible columns of a group, (columns, rows)."""
    n_rows = len(shown.levels) + shown.is_yes_no + 1
    found = []
    for size in sizes:
        counts = np.indices((size + 1,) * (n_rows - 1)).reshape(n_rows - 1, -1).T
        if len(counts) > _MOST_TABLES:
            return None
        counts = counts[counts.sum(axis=1) <= size]
        columns = np.column_stack([counts, size - counts.sum(axis=1)])
        found.append(columns[_agree(shown, group, columns)])
    return np.concatenate(found)


def _agree(shown: _Shown, group: int, columns: np.ndarray, *, at_most: bool = False) -> np.ndarray:
    """Return which columns agree with what is shown of a group; `at_most`: which can still grow to agree."""
    n = columns[:, :-1].sum(axis=1)
    agrees = np.ones(len(columns), dtype=bool)
    for place, level in enumerate(shown.levels):
        numbers = shown.numbers[level, group]
        for name, counts in (("n", n), ("missing", columns[:, -1]), ("count", columns[:, place])):
            if isinstance(numbers[name], int):
                agrees &= counts <= numbers[name] if at_most else counts == numbers[name]
        if at_most:
            continue
        for name, unit in (("mean", 1.0), ("percent", 100.0)):
            number = numbers[name]
            if isinstance(number, (int, float)):
                share = unit * columns[:, place] / np.maximum(n, 1)
                agrees &= (n > 0) & (np.abs(share - number) <= tolerance(number))
    return agrees


def _agree_in_name(shown: _Shown, tables: np.ndarray, report: SharedReport) -> np.ndarray:
    """Return which tables give the name of the contrast that is shown."""
    row = next((row for row in report.of("Descriptive contrast") if row["Column"] == shown.name), None)
    if row is None or row["Method"] in (None, "[c]") or any(size is None for size in report.sizes.values()):
        return np.ones(len(tables), dtype=bool)
    counts = tables[:, :, :-1].astype(np.float64)
    rows, columns = counts.sum(axis=1), counts.sum(axis=2)
    expected = columns[:, :, np.newaxis] * rows[:, np.newaxis, :] / columns.sum(axis=1)[:, np.newaxis, np.newaxis]
    expected[np.broadcast_to((rows[:, np.newaxis, :] == 0) | (columns[:, :, np.newaxis] == 0), expected.shape)] = np.inf
    possible = ((rows > 0).sum(axis=1) > 1) & ((columns > 0).sum(axis=1) > 1)
    is_large = expected.min(axis=(1, 2)) >= 5.0
    return possible & (is_large == (row["Method"] == "chi-squared"))


def _has_a_small_count(shown: _Shown, tables: np.ndarray, report: SharedReport) -> np.ndarray:
    """Return which tables have a small count, for a feature with a withheld one and subtypes that are all large."""
    rows = shown.numbers.values()
    if not any("[c]" in (row["n"], row["count"]) for row in rows) or None in report.sizes.values():
        return np.ones(len(tables), dtype=bool)
    counts = np.concatenate([tables.sum(axis=1, keepdims=True), tables], axis=1)
    counts = np.concatenate([counts, counts[:, :, :-1].sum(axis=2, keepdims=True)], axis=2)
    return np.asarray(((counts > 0) & (counts < _THRESHOLD)).any(axis=(1, 2)))


def _agree_in_q(shown: _Shown, tables: np.ndarray, report: SharedReport) -> np.ndarray:
    """Return which tables have p-values that can take their place among the tests shown, for each name of test."""
    agrees = np.ones(len(tables), dtype=bool)
    if len(shown.levels) > 1:
        return agrees
    for name in _TESTS:
        rows = [row for row in report.of("Pairwise test") if row["Method"] == name]
        known = sorted((float(row["p"]), float(row["q"])) for row in rows if isinstance(row["p"], (int, float)))
        hidden = [row for row in rows if isinstance(row["p"], str)]
        own = [(int(row["Subtype"]), int(row["Versus"])) for row in hidden if row["Column"] == shown.name]
        p, q = np.array(known).reshape(-1, 2).T
        if not own or not p.size or _is_of_shown(p, q):
            continue
        of_tables = np.column_stack([_p(name, tables[:, a - 1], tables[:, b - 1]) for a, b in own])
        n_tests, n_others = p.size + len(hidden), len(hidden) - len(own)
        # A hidden test without spread does not count; the number of tests is that for which most ranks are whole.
        numbers = np.arange(p.size, n_tests + 1)
        with np.errstate(invalid="ignore"):  # a p of 0 has no rank
            n_tests = int(numbers[np.argmax([_whole(p * number / q).sum() for number in numbers])])
            ranks = p * n_tests / q
        for place in np.flatnonzero(_whole(ranks)):
            below = round(ranks[place]) - int((p <= p[place]).sum())
            own_below = (of_tables <= p[place] * (1 + 1e-9)).sum(axis=1)
            agrees &= (own_below <= below) & (own_below >= below - n_others)
    return agrees


def _whole(ranks: np.ndarray) -> np.ndarray:
    return np.abs(ranks - np.rint(ranks)) < 1e-6


def _is_of_shown(p: np.ndarray, q: np.ndarray) -> bool:
    """Return whether q follows from the p-values shown alone, as far as the digits stored tell."""

    def adjusted(values: np.ndarray) -> np.ndarray:
        values = np.clip(values, 0.0, 1.0) * p.size / np.arange(1, p.size + 1)
        return np.minimum(np.minimum.accumulate(values[::-1])[::-1], 1.0)

    error, of_q = (np.array([_half_a_digit(number) for number in numbers.tolist()]) for numbers in (p, q))
    return bool(((adjusted(p - error) - of_q <= q) & (q <= adjusted(p + error) + of_q)).all())


def _half_a_digit(number: float) -> float:
    """Return half of the last digit of a p: two or three decimals, or one digit below 0.001, unless it has more."""
    digits, _, power = f"{number:.14e}".partition("e")
    n_digits = len(digits.rstrip("0").rstrip(".").replace(".", ""))
    if n_digits > 4:
        return 1e-9 * number
    return 0.005 if number >= 0.1 else 0.0005 if number >= 0.001 else 0.5 * 10.0 ** int(power)


def _p(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the two-sided p of a t-test of shares; columns hold yes, no and missing. NaN if there is no spread."""
    n, m = a[:, :2].sum(axis=1).astype(float), b[:, :2].sum(axis=1).astype(float)
    with np.errstate(all="ignore"):
        x, y = a[:, 0] / n, b[:, 0] / m
        v, w = x * (1 - x) * n / (n - 1), y * (1 - y) * m / (m - 1)
        if name == "student":
            error, df = ((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m), n + m - 2
        else:
            error = v / n + w / m
            df = error**2 / ((v / n) ** 2 / (n - 1) + (w / m) ** 2 / (m - 1))
        return np.asarray(2 * stdtr(df, -np.abs((x - y) / np.sqrt(error))))


def _agree_in_order(shown: _Shown, tables: np.ndarray, report: SharedReport) -> np.ndarray:
    """Return which tables have a relevance that fits the place of the feature."""
    agrees = np.ones(len(tables), dtype=bool)
    order, relevance = report.order, report.relevance
    if not shown.is_yes_no or shown.name in relevance or not _knows_relevance(report):
        return agrees
    own = _relevance(tables)
    hidden = [name for name in order if name not in relevance]
    if shown.name in order and order[-len(hidden) :] != hidden:
        place = order.index(shown.name)
        above = [relevance[name] for name in order[:place] if name in relevance]
        below = [relevance[name] for name in order[place:] if name in relevance]
        agrees &= (own <= min(above, default=np.inf) + 1e-6) & (own >= max(below, default=-np.inf) - 1e-6)
    return agrees


def _knows_relevance(report: SharedReport) -> bool:
    """Return whether the relevance of the features that are shown whole follows from their counts as supposed."""
    own, groups = [], [group for group in report.sizes if group]
    for shown in _features(report):
        numbers = [shown.numbers[level, group] for level in shown.levels[:1] for group in groups]
        whole = all(isinstance(row[name], int) for row in numbers for name in ("n", "count"))
        if shown.is_yes_no and whole and shown.name in report.relevance:
            table = np.array([[[row["count"], row["n"] - row["count"], 0] for row in numbers]])
            own.append(abs(float(_relevance(table)[0]) - report.relevance[shown.name]) < 0.06)
    return bool(own) and all(own)


def _relevance(tables: np.ndarray) -> np.ndarray:
    """Return the evidence for shares of their own over one share, under the documented prior of the strength 2."""
    yes, no = tables[:, :, 0].astype(float), tables[:, :, 1].astype(float)
    of_all = yes.sum(axis=1), no.sum(axis=1)
    share = of_all[0] / np.maximum(of_all[0] + of_all[1], 1.0)
    a, b = (2 * side[:, np.newaxis] for side in (share, 1 - share))
    with np.errstate(all="ignore"):
        own = (betaln(a + yes, b + no) - betaln(a, b)).sum(axis=1)
        together = betaln(a[:, 0] + of_all[0], b[:, 0] + of_all[1]) - betaln(a[:, 0], b[:, 0])
    return np.asarray(own - together)


def _ends(shown: _Shown, tables: np.ndarray) -> Intervals:
    rows = [*shown.levels, *([f"not {shown.levels[0]}"] if shown.is_yes_no else []), "missing"]
    with_all = np.concatenate([tables.sum(axis=1, keepdims=True), tables], axis=1)
    found: Intervals = {}
    for group in range(with_all.shape[1]):
        counts = with_all[:, group]
        for place, row in enumerate(rows):
            found[shown.name, row, group] = (int(counts[:, place].min()), int(counts[:, place].max()))
        n = counts[:, :-1].sum(axis=1)
        found[shown.name, "observed", group] = (int(n.min()), int(n.max()))
    return found


def _events(shown: _Shown) -> Intervals:
    """Return the number of events of each group of a count, as mean times n."""
    found: Intervals = {}
    totals: dict[int, tuple[float, float]] = {}
    for (_, group), numbers in shown.numbers.items():
        mean, n = numbers["mean"], numbers["n"]
        if isinstance(mean, (int, float)) and isinstance(n, int):
            error = tolerance(mean)
            totals[group] = (float(np.ceil((mean - error) * n)), float(np.floor((mean + error) * n)))
    groups = [group for _, group in shown.numbers if group]
    unknown = [group for group in groups if group not in totals]
    if 0 in totals and len(unknown) == 1:
        known = [totals[group] for group in groups if group in totals]
        low, high = (sum(ends[side] for ends in known) for side in (0, 1))
        totals[unknown[0]] = (totals[0][0] - high, totals[0][1] - low)
    for group in (0, *groups):
        found[shown.name, "events", group] = totals.get(group, (0.0, np.inf))
    return found
