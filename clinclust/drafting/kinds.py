"""The kinds that a column may be by its values: numbers by their probability, levels by their order."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from itertools import compress, permutations
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_ndtr, softmax

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import (
    DOUBTFUL,
    LOOKS,
    MOST_LEVELS,
    MOST_TEXTS,
    TWO_NUMBERS,
    Column,
    Proposal,
    Written,
    constant,
    dates_among_others,
    leave_out,
    leave_out_dates,
    missing_numbers,
    missing_words,
    propose_identifier,
    without_number,
)
from clinclust.files.cell_text import listed, quote_cell
from clinclust.files.notation import is_known_unit, marks_of, name_words, number_as_written, words_of
from clinclust.likelihoods import REGISTRY, traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import LARGEST_COUNT, LARGEST_MEASUREMENT, without_far_values
from clinclust.schema.feature import Feature

_LIMITS = SimpleNamespace(**data("drafting")["kinds"])

# How probable the numbers of a column are under each kind of distribution, on the grid on which they are written.
#
# A number that is written as 1.3 is any value that rounds to it. So the probability of the interval, and not a density,
# is compared between continuous and discrete distributions. With g the step of the grid of all numbers,
#
#     log p(x | kind) = sum_i log P(x_i - g / 2 <= X < x_i + g / 2 | estimates) - (number of parameters) / 2 * log n,
#
# where the second term approximates the integral over the parameters (Schwarz 1978, Annals of Statistics 6).

_TINY = 1e-300
_SCALES = tuple(name for name, likelihood in REGISTRY.items() if likelihood.is_scale)
_COUNTS = tuple(name for name, likelihood in REGISTRY.items() if likelihood.is_count)


class Numbers(NamedTuple):
    """The numbers of a column on their grid."""

    values: Array  # (m,) distinct, sorted
    counts: Array  # (m,) of subjects
    step: float

    @property
    def are_whole(self) -> bool:
        """Whether all numbers are whole."""
        return bool((self.values % 1.0 == 0.0).all())

    def in_subjects(self) -> Array:
        """Return the number of each subject, (n,)."""
        return np.repeat(self.values, self.counts.astype(np.int64))


def numbers_on_grid(values: Array, counts: Array) -> Numbers:
    """Return numbers (m,) with their counts (m,) on the grid on which they are written.

    >>> import numpy as np
    >>> from clinclust.drafting.kinds import numbers_on_grid
    >>> numbers_on_grid(np.array([0.5, 1.0, 2.5]), np.ones(3)).step
    0.5
    """
    distinct, place = np.unique(values, return_inverse=True)
    summed = np.bincount(place, weights=counts, minlength=distinct.size).astype(np.float64)
    largest = float(np.abs(distinct).max(initial=1.0))  # of 15 digits
    unit = step_of(distinct) or 10.0 ** max(-_LIMITS.most_decimals, math.ceil(math.log10(largest)) - 15)
    gaps = np.diff(np.rint(np.clip(distinct / unit, -(2.0**52), 2.0**52)).astype(np.int64))
    return Numbers(distinct, summed, float(np.gcd.reduce(gaps[gaps > 0]) if (gaps > 0).any() else 1) * unit)


def step_of(values: Array) -> float:
    """Return the unit of the last decimal place of these numbers (1 for whole ones), or 0 if they have none."""
    for decimals in range(_LIMITS.most_decimals + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) < 2.0**50 and np.abs(scaled - np.rint(scaled)).max(initial=0.0) < 1e-6:
            return float(10.0**-decimals)
    return 0.0


def log_probabilities(numbers: Numbers) -> dict[str, float]:
    """Return the log probability of the numbers under each kind of distribution that can have them.

    ``levels``: a probability for each number that occurs, if they are few. ``gaussian``, ``log`` (lognormal),
    ``exponential``. ``poisson``, ``geometric``, ``negative_binomial`` by the evidence of the likelihood, if the numbers
    are whole and not negative; those from 1 on may be counted from 1. ``spike_low_gaussian``, ``spike_low_log``,
    ``spike_high_gaussian``, ``spike_high_log``: the lowest or highest number has a probability of its own.
    """
    values, counts = numbers.values, numbers.counts
    n, kinds = float(counts.sum()), dict[str, tuple[float, int]]()  # each with its number of parameters
    if values.size <= _LIMITS.most_levels:
        kinds["levels"] = float((counts * np.log(counts / n)).sum()), values.size - 1
    kinds |= {name: (value, 2) for name, value in _log_normals(values, counts, numbers.step)}
    if values[0] >= 0.0:
        # In steps of the grid, exponential numbers x of mean m are geometric: sum of -x log(1 + 1/m) - log(1 + m).
        mean = max(float((values * counts).sum() / n) / numbers.step, _TINY)
        kinds[Exponential.name] = -n * (mean * math.log1p(1.0 / mean) + math.log1p(mean)), 1
    for spike, end in (("spike_low", 0), ("spike_high", -1)):
        if values.size > 3 and counts[end] >= _LIMITS.fewest_at_spike:
            mass = counts[end] * math.log(counts[end] / n) + (n - counts[end]) * math.log1p(-counts[end] / n)
            rest = _log_normals(np.delete(values, end), np.delete(counts, end), numbers.step)
            kinds |= {f"{spike}_{name}": (mass + value, 3) for name, value in rest}
    scores = {name: value - 0.5 * n_parameters * math.log(n) for name, (value, n_parameters) in kinds.items()}
    if numbers.are_whole and values[0] >= 0.0:
        starts, subjects = {0.0, float(values[0] == 1.0)}, numbers.in_subjects()
        scores |= {name: max(_log_evidence(name, subjects - start) for start in starts) for name in _COUNTS}
    return scores


def _log_normals(values: Array, counts: Array, step: float) -> Iterator[tuple[str, float]]:
    """Yield the log probability of values (m,) in so many subjects, and of their logarithms if all are positive."""
    low, high = values - step / 2.0, values + step / 2.0
    yield Gaussian.name, _log_normal(values, counts, low, high)
    if values[0] > 0.0:
        yield "log", _log_normal(np.log(values), counts, np.log(np.maximum(low, _TINY)), np.log(high))


def _log_normal(values: Array, counts: Array, low: Array, high: Array) -> float:
    mean = np.average(values, weights=counts)
    deviation = float(np.sqrt(max(np.average((values - mean) ** 2, weights=counts), _TINY)))
    low, high = (low - mean) / deviation, (high - mean) / deviation
    low, high = np.where(low > 0.0, -high, low), np.where(low > 0.0, -low, high)  # lower tails are exact
    log_shares = log_ndtr(high) + np.log(-np.expm1(log_ndtr(low) - log_ndtr(high)))
    return float((counts * np.fmax(log_shares, math.log(_TINY))).sum())


def _log_evidence(name: str, values: Array, **fields: Any) -> float:
    """Return the log marginal probability of values (n,) under a likelihood; -inf if it cannot be computed."""
    evidence = REGISTRY[name].of(Feature(name="x", likelihood=name, **fields)).evidence(values)
    return evidence if np.isfinite(evidence) else -math.inf


# The kinds that the numbers of a column may be, by the probability of the values and by what clinical tables hold.
#
# A few whole numbers from 0 or 1 on are mostly the steps of a scale, small numbers from 0 or 1 on of which few are
# large are mostly counts, and numbers that are large compared with their grid are mostly measurements. The constants
# were set on annotated tables of the field (`benchmarks/drafting.py`).

_MEASUREMENTS: dict[str, dict[str, Any]] = {
    Gaussian.name: {"likelihood": Gaussian.name},
    "log": {"likelihood": Gaussian.name, "transform": "log"},
    Exponential.name: {"likelihood": Exponential.name},
}
_LEAST = {Gaussian.name: -math.inf, "log": _TINY, Exponential.name: 0.0}


class Kind(NamedTuple):
    """One kind that a column may be."""

    name: str  # ``scale``, ``count`` or ``measurement``
    fields: dict[str, Any]  # of the feature
    score: float  # log probability, up to a constant


def kinds_of_numbers(numbers: Numbers, *, may_be_scale: bool) -> list[Kind]:
    """Return the kinds of numbers with at least three values, the most probable first; only levels may be a scale."""
    subjects = numbers.in_subjects()
    # Of many subjects, some evenly spaced in their order are judged, with the lowest and the highest.
    places = np.linspace(0.0, subjects.size - 0.5, min(subjects.size, _LIMITS.most)).astype(np.int64)
    usual = without_far_values(subjects[places])  # numbers so far from the others must be errors of entry
    values, counts = np.unique(usual if np.unique(usual).size > 2 else subjects[places], return_counts=True)
    scores = log_probabilities(Numbers(values, counts.astype(np.float64), numbers.step))
    kinds = [_best_measurement(numbers, scores)]
    low = float(numbers.values[0])
    above_zero = float(np.median(subjects[subjects != 0.0]))  # most of them never smoked: pack-years are no counts
    median = above_zero if above_zero > _LIMITS.large else float(np.median(subjects))
    # Counts whose tail is longer than that of every likelihood of counts are counts all the same.
    is_joined = numbers.values[1] - low <= 2.0 * numbers.step  # 0 far below all others is no count
    longer = ("log", "spike_low_log") if is_joined else ()
    of_counts = [scores[name] for name in (*_COUNTS, *longer) if name in scores and numbers.are_whole]
    if of_counts and low >= 0.0 and numbers.values[-1] <= LARGEST_COUNT:
        starts = _LIMITS.count_from if low > 1.0 else 0.0
        prior = _LIMITS.count_slope * float(np.log(_LIMITS.count_below / (1.0 + median))) - starts
        kinds.append(Kind("count", {}, _LIMITS.temper * max(of_counts) + prior))
    n_levels = numbers.values.size
    if may_be_scale and n_levels <= (MOST_LEVELS if numbers.step <= 1.0 else _LIMITS.most_steps):
        n_gaps = (numbers.values[-1] - low) / numbers.step + 1.0 - n_levels
        starts = _LIMITS.from_0_or_1 if low in (0.0, 1.0) and numbers.step == 1.0 else 0.0
        prior = _LIMITS.scale + starts - _LIMITS.each_level * n_levels - _LIMITS.gap * n_gaps / n_levels
        kinds.append(Kind("scale", {}, _LIMITS.temper * scores["levels"] + prior))
    return sorted(kinds, key=lambda kind: -kind.score)


def _best_measurement(numbers: Numbers, found: dict[str, float]) -> Kind:
    """Return the best distribution of a measurement; others than the Gaussian, and spikes, must be better by far.

    Enough subjects have the lowest or highest number, and it is near the others: farther away it is no value that
    subjects have, as 999 among weights, or 0 among blood pressures.
    """
    values, spikes, n = numbers.values, dict[str, dict[str, Any]]({"": {}}), numbers.counts.sum()
    for end, place in (("spike_low", 0), ("spike_high", -1)):
        n_equal, rest, of_rest = numbers.counts[place], np.delete(values, place), np.delete(numbers.counts, place)
        are_enough = n_equal >= max(_LIMITS.fewest_equal, _LIMITS.least_equal * n, _LIMITS.stands_out * of_rest.max())
        if values.size > MOST_LEVELS and are_enough:
            spread = float(np.sqrt(np.cov(rest, fweights=of_rest.astype(np.int64))))
            is_near = abs(values[place] - rest[place]) <= _LIMITS.near * spread
            spikes |= {end: {"spike": float(values[place])}} if is_near else {}
    options: list[tuple[float, Kind]] = []
    for name, score in found.items():
        end, _, kind = name.rpartition("_")
        if kind in _MEASUREMENTS and end in spikes and (end or values[0] >= _LEAST[kind]):
            needed = _LIMITS.spike * bool(end) + _LIMITS.log * (kind != Gaussian.name)
            fields = _MEASUREMENTS[kind] | spikes[end]
            options.append((score - needed, Kind("measurement", fields, _LIMITS.temper * score)))
    return max(options, key=lambda option: option[0])[1]


def choose_likelihood(kind: Literal["count", "scale"], values: Array, **steps: Any) -> dict[str, Any]:
    """Return the likelihood of counts (n,), or of the steps of a scale from 0, under which they are most probable.

    The levels or the trials of a scale are fields too.
    """
    if values.size > _LIMITS.enough:  # evenly spaced quantiles decide as well
        values = np.sort(values)[((np.arange(_LIMITS.enough) + 0.5) / _LIMITS.enough * values.size).astype(np.int64)]
    names = _COUNTS if kind == "count" else _SCALES
    return {"likelihood": max(names, key=lambda name: _log_evidence(name, values, **steps)), **steps}


# The proposal for numbers: a scale, counts or a measurement, and how values beyond a limit are declared.


def propose_numbers(column: Column) -> Proposal | None:
    """Propose a scale, counts or a measurement; pass on texts, and a few levels that are written in signs."""
    written = column.written
    if written is None:
        return None
    if written.fault:
        return leave_out("numbers that cannot be compared", written.fault)
    beyond = written.beyond != 0
    odd = list(compress(column.texts, ~np.isfinite(written.numbers)))
    if (beyond.any() or odd) and len(column.texts) <= MOST_LEVELS:
        return None
    codes = missing_numbers(np.where(beyond, np.nan, written.numbers), column.counts, column.codes_of_table)
    coded = list(compress(column.texts, np.isin(written.numbers, list(codes))))
    texts = {"no_numbers": odd, "codes_apart": coded}
    looks = [LOOKS[why].format(texts=listed(map(quote_cell, of))) for why, of in texts.items() if of]
    is_left = np.array([text not in {*odd, *coded} for text in column.texts], dtype=bool)
    rest, values = column.without({*odd, *coded}), written.numbers[is_left]
    if np.unique(values).size < 2:
        return constant(rest)
    proposal = _of_values(rest, values, written, beyond[is_left])
    return proposal.with_missing_codes([*odd, *coded]).extended(*written.looks, *looks)


def _of_values(column: Column, values: Array, written: Written, beyond: NDArray[np.bool_]) -> Proposal:
    exact = ~beyond if np.unique(values[~beyond]).size > 2 else np.ones(values.size, dtype=bool)
    numbers = numbers_on_grid(values[exact], column.counts[exact].astype(np.float64))
    low, top, n_levels = numbers.values[0], numbers.values[-1], numbers.values.size
    if np.abs(numbers.values).max() > LARGEST_MEASUREMENT:
        return leave_out("numbers too large to be modelled", "check the unit")
    if n_levels == 2 and not beyond.any():
        levels = [column.texts[int(np.argmax(values == value))] for value in numbers.values]
        meant = {text: levels[int(value > low)] for text, value in zip(column.texts, values, strict=True)}
        others = {text: level for text, level in meant.items() if text not in levels}  # `1` and `1.0`
        return _two_levels(column.rewritten(others)).extended(synonyms=others)
    is_plain = not written.fields and len(column.texts) == n_levels
    if is_plain and numbers.are_whole:
        are_far = (top - low) / numbers.step >= _LIMITS.far_apart * n_levels and n_levels <= MOST_LEVELS
        are_far &= top < 2.0 * low or low >= _LIMITS.long_code  # doses of 81, 160 and 325 mg have a ratio
        are_far &= column.n_observed >= _LIMITS.rows_of_a_code * n_levels
        if are_far or (n_levels <= _LIMITS.most_codes and _is_called_nominal(column)):
            why = "whole numbers far apart, and none between them" if are_far else "by the name of the column"
            return nominal_of(column, f"{n_levels} codes without order, {why}")
    least, most = column.notes.minimum or 0.0, column.notes.maximum
    is_scale = most is not None and least % 1 == most % 1 == 0 and 2 <= most - least <= _LIMITS.longest_scale
    if is_scale and most is not None and numbers.are_whole and least <= low and top <= most and not written.fields:
        fields = choose_likelihood("scale", np.repeat(values - least, column.counts), trials=int(most - least))
        if least != 0:
            fields = {"likelihood": fields["likelihood"], "minimum": least, "maximum": most}
        return Proposal(fields, f"a scale {least:g} to {most:g}, as the file declares")
    is_longer = most is not None and most > top  # the file declares more steps than the values show
    kinds = kinds_of_numbers(numbers, may_be_scale=is_plain and not is_longer)
    shares = softmax([kind.score for kind in kinds])
    proposal, probability, otherwise = _of_kind(kinds[0], column, values, numbers), float(shares[0]), ""
    is_order_doubtful = kinds[0].name == "scale" and shares[1] <= probability * (1.0 - _LIMITS.ordered_codes)
    probability *= _LIMITS.ordered_codes if kinds[0].name == "scale" else 1.0
    if probability < DOUBTFUL:
        second = _of_kind(kinds[1], column, values, numbers).fields
        otherwise = ", ".join(f"{name}: {value}" for name, value in second.items() if name != "levels")
        otherwise = "likelihood: categorical, if they have no order" if is_order_doubtful else otherwise
    fields = {**proposal.fields}
    if not {"levels", "trials"} & set(fields):
        fields |= written.fields
        takes, declared = traits_of(fields["likelihood"]).takes, column.notes.minimum
        if declared is not None and "minimum" in takes and -math.inf < declared <= low:
            fields["minimum"] = declared
        if most is not None and "maximum" in takes and top <= most < math.inf:
            fields["maximum"] = most
    proposal = replace(proposal, fields=fields, probability=probability, otherwise=otherwise)
    if not beyond.any():
        return proposal
    share, example = float(column.counts[beyond].sum() / column.n_observed), column.texts[int(np.argmax(beyond))]
    many = f"{share:.1%} of the values lie beyond a limit, such as {quote_cell(example)}"
    if share < _LIMITS.much_beyond:
        return proposal.extended(f"{many}: the limit replaces them (`censored`)", censored="limit")
    ends = [end for end, sign in (("below", -1), ("above", 1)) if (written.beyond == sign).any()]
    return proposal.extended(reason=f"{many}, which is a part of its own", limit=ends)


def _of_kind(kind: Kind, column: Column, values: Array, numbers: Numbers) -> Proposal:
    if kind.name == "scale":
        order = np.argsort(values, kind="stable").tolist()
        return scale_of(column, [column.texts[place] for place in order], f"{len(order)} steps of a scale")
    if kind.name == "count":
        return Proposal(choose_likelihood("count", np.repeat(values, column.counts)), "counts")
    what = str(kind.fields["likelihood"])
    what = f"right-skewed, {what} on the log scale" if "transform" in kind.fields else what
    if "spike" in kind.fields:
        spike = kind.fields["spike"]
        share = float(numbers.counts[numbers.values == spike].sum() / numbers.counts.sum())
        what = f"{what} but for {spike:g} in {share:.0%}, which is a part of its own"
    return Proposal(kind.fields, f"a measurement, {what}")


# The order of levels: by the number that they begin with, by ordered words, or none.

_NUMBER = r"[0-9]+(?:[., ']?[0-9]{3})*(?:[.,][0-9]+)?"
_FIRST = re.compile(rf"(?P<before>[^0-9]*?)(?P<number>-?{_NUMBER})(?P<after>.*)", re.DOTALL)
_ROMAN = re.compile(r"(?P<before>.*?)\b(?P<number>i{1,3}|iv|vi{0,3}|ix|x)(?P<after>[a-d]?)", re.IGNORECASE)
_ROMANS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def order_of(texts: Sequence[str]) -> list[int] | None:
    """Return the indices of levels from the lowest to the highest; None if they have no known order.

    Levels are ordered by ordered words, where all of them are of one order (`orders.toml`), and otherwise by the
    number that each begins with; one level without a number may say that there is nothing to grade, and is the lowest.

    >>> from clinclust.drafting.kinds import order_of
    >>> order_of(["25_to_29.9", "30_or_more", "18.5_to_24.9"]), order_of(["severe", "None", "mild"])
    ([2, 0, 1], [1, 2, 0])
    >>> print(order_of(["smallcell", "squamous", "adeno"]))
    None
    """
    if len(texts) < 2 or max(map(len, texts)) > _LIMITS.longest_level:
        return None
    split = [_phrase(text).split() for text in texts]
    for end in (-1, 0) * max(map(len, split)):  # the words with which all begin or end: `low risk` and `high risk`
        if all(len(words) > 1 for words in split) and len({words[end] for words in split}) == 1:
            split = [words[:-1] if end else words[1:] for words in split]
    phrases = [" ".join(words) for words in split]
    of_words = ([_rank(phrase, order) for phrase in phrases] for order in _orders())
    for ranks in (*of_words, _by_numbers(texts)):
        ranked = [rank for rank in ranks or () if rank is not None]
        if len(set(ranked)) == len(texts):
            return sorted(range(len(texts)), key=ranked.__getitem__)
    return None


def _phrase(text: str) -> str:
    """Return a text as words of orders are written; signs such as `++` as they are."""
    if not any(map(str.isalpha, text)):
        return text.strip()
    return " ".join(word for word in words_of(text) if word != "the")


@cache
def _orders() -> list[dict[str, int]]:
    """Return the rank of each word in each order; the absent are the lowest, unless an order ranks them itself."""
    absent = {_phrase(word): 0 for word in data("orders")["absent"]}
    ranked = [enumerate(order, start=1) for order in data("orders")["orders"]]
    return [absent | {_phrase(word): rank for rank, words in order for word in words} for order in ranked]


def _rank(phrase: str, order: dict[str, int]) -> int | None:
    """Return the rank of a phrase: of a listed word, or else of one that it begins or that is cut short."""
    is_cut = len(phrase) >= _LIMITS.shortest_cut and phrase not in order
    ranks = [rank for word, rank in order.items() if is_cut and word.startswith(phrase)]
    ranks = ranks or [0] * _says_absent(phrase)
    return order.get(phrase, max(ranks) if ranks else None)


def _by_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return the ranks of levels by the numbers that they begin with; None if more than one has no number."""
    folded = [" ".join(text.casefold().replace("_", " ").split()) for text in texts]
    matches = [_FIRST.fullmatch(text) or _ROMAN.fullmatch(text) for text in folded]
    numbered = [match for match in matches if match is not None]
    without = [text for text, match in zip(folded, matches, strict=True) if match is None]
    if len(numbered) < 2 or len(without) > 1 or not all(map(_says_absent, without)):
        return None
    below, above = (_beyond(end) for end in ("below", "above"))
    before = {frozenset(words_of(above.sub(" ", below.sub(" ", match["before"])))) for match in numbered}
    if len(before) > 1 or not next(iter(before)) <= set(data("orders")["graded"]):
        return None  # `School 1`, `A1` and `B2`: codes
    after = [re.sub(r"[\W\d_]+", " ", match["after"]).split() for match in numbered]
    units = {" ".join(words).removesuffix("s") for words in after if len("".join(words)) > 1} - {""}
    if len(units) > 1 and all(is_known_unit(unit) for unit in units):
        return None  # `2 weeks`, `6 months`: the numbers alone do not order them
    marks, ranks = marks_of([match["number"] for match in numbered]), list[float]()
    for text, match in zip(folded, matches, strict=True):
        if match is None:
            ranks.append(-math.inf)
            continue
        plain, rest = number_as_written(match["number"], marks.decimal, marks.thousands), match["after"]
        number = float(_ROMANS.index(match["number"])) if match["number"] in _ROMANS else float(plain or "nan")
        ends = text[: match.end("number")] + " " + text[match.end("number") :].split("-")[0]
        is_above = above.search(ends) is not None
        is_below = below.search(ends) is not None and not is_above
        is_above |= not is_below and text.rstrip().endswith("+")
        letter = (ord(rest) - ord("a") + 1) / 1e4 if len(rest) == 1 and "a" <= rest <= "z" else 0.0  # `2a` below `2b`
        ranks.append(number + _LIMITS.step * max(1.0, abs(number)) * (is_above - is_below) + letter * (not is_below))
    return ranks


@cache
def _beyond(end: str) -> re.Pattern[str]:
    """Return the pattern of signs and words for values below or above a number."""
    words, links = ("|".join(data("orders")[listed]) for listed in (end, "links"))
    return re.compile(rf"{'<=?|≤' if end == 'below' else '>=?|≥'}|\b(?:{words})(?: (?:{links}))?\b")


def _says_absent(text: str) -> bool:
    phrase, absences = " ".join(words_of(text)), tuple(f"{words} " for words in data("orders")["absences"])
    return phrase in data("orders")["absent"] or phrase.startswith(absences)


def no_before_yes(pair: Sequence[str]) -> list[int] | None:
    """Return the indices of two labels, that for no first; None if neither is known to mean one of them.

    >>> from clinclust.drafting.kinds import no_before_yes
    >>> no_before_yes(["Ja", "Nein"]), no_before_yes(["1_yes", "2_no"]), no_before_yes(["left", "right"])
    ([1, 0], [1, 0], None)
    """
    phrases = [_phrase(without_number(text)) for text in pair]
    for place in (0, 1):
        first, second = phrases[place], phrases[1 - place]
        denied = " ".join(word for word in first.split() if word not in data("answers")["denials"])
        is_denied = first != denied == second  # `nicht tastbar` of `tastbar`
        if is_denied or any(first in no and second in yes for no, yes in data("answers")["pairs"]):
            return [place, 1 - place]
    return None


def ordered_pair(pair: Sequence[str]) -> list[str]:
    """Return two levels, of which the second counts as yes: by their words, their order, or else by the alphabet."""
    pair = sorted(pair)
    places = no_before_yes(pair)
    if places is None:
        female, male = data("answers")["sexes"]
        words = [_phrase(without_number(text)) for text in pair]
        is_reversed = (words[1] in female and words[0] in male) or words[1] in data("orders")["absent"]
        places = [1, 0] if is_reversed else order_of(pair)
    return [pair[place] for place in places or [0, 1]]


# The proposal for levels: two that are no and yes, ordered, or without order.

_NOMINAL = frozenset(data("roles")["nominal"]["words"])
_LETTERED = re.compile(r"[^\W\d_]+ ?[0-9.]+")


def propose_levels(column: Column) -> Proposal:
    """Propose two levels, ordered ones, or levels without an order; leave out texts of many different values."""
    synonyms = _one_spelling(column)
    column = column.rewritten(synonyms)
    spellings = listed(f"{quote_cell(text)} is read as {quote_cell(synonyms[text])}" for text in sorted(synonyms))
    look = f"other spellings: {spellings}" if synonyms else ""
    texts, n_texts = column.texts, len(column.texts)
    if n_texts == 1:
        return constant(column).extended(look)
    if n_texts == 2:
        return _two_levels(column).extended(look, *_misspelt(column), synonyms=synonyms)
    is_coded = all(without_number(text) != text or _LETTERED.fullmatch(text) for text in texts)
    order = None if is_coded and _is_called_nominal(column) else order_of(texts)
    is_number = np.isfinite(column.numbers)
    if n_texts > MOST_LEVELS and 2 * column.counts[is_number].sum() > column.n_observed:
        others = listed(map(quote_cell, compress(texts, ~is_number)))
        return leave_out("numbers and other texts", LOOKS["among_numbers"].format(texts=others))
    if np.mean([TWO_NUMBERS.fullmatch(text) is not None for text in texts]) > _LIMITS.mostly:
        return leave_out("two numbers in each cell", "give each of the two numbers a column of its own")
    if n_texts > MOST_TEXTS or (column.n_observed < 2 * n_texts and order is None):
        is_long = np.mean(list(map(len, texts))) > _LIMITS.long_text or np.mean([" " in text for text in texts]) > 0.5
        kind = "free text" if is_long else "too many different values for levels"
        return leave_out(f"{kind} ({n_texts} different among {column.n_observed})")
    levels = [text for text in column.order if text in texts]
    if len(levels) == n_texts:
        proposal = scale_of(column, levels, "an ordered categorical of the table")
    elif order is not None:
        proposal = scale_of(column, [texts[place] for place in order], f"{n_texts} ordered levels")
    else:
        proposal = nominal_of(column, f"{n_texts} levels without known order")
    return proposal.extended(look, *_misspelt(column), synonyms=synonyms)


def _misspelt(column: Column) -> Iterator[str]:
    """Yield a sentence for each rare level that may be a frequent one.

    `Hispannic` differs from Hispanic by a letter, and f is the only level that begins as `femal` does.
    """
    cells = dict(zip(column.texts, column.counts.tolist(), strict=True))
    for rare, often in permutations(cells, 2):
        if cells[rare] * _LIMITS.times_oftener > cells[often] or any(map(str.isdigit, rare + often)):
            continue
        short, long = sorted((rare.casefold(), often.casefold()), key=len)
        n_alike = SequenceMatcher(None, short, long, autojunk=False).ratio() * (len(short) + len(long)) / 2.0
        is_but_for_a_letter = len(short) >= _LIMITS.shortest_word and round(n_alike) >= len(long) - 1
        alike = [text for text in cells if text.casefold()[0] == short[0] and cells[text] > cells[rare]]
        is_longer = long.startswith(short) and len(long) >= _LIMITS.shortest_long and len(set(long)) > 1
        if is_but_for_a_letter or (is_longer and alike == [often]):
            shown = {"rare": quote_cell(rare), "often": quote_cell(often), "rare_text": rare, "often_text": often}
            yield LOOKS["misspelt"].format(n=cells[rare], s="s" * (cells[rare] > 1), **shown)


def _is_called_nominal(column: Column) -> bool:
    """Return whether the name or label is one of codes without order, such as race and region."""
    return not _NOMINAL.isdisjoint(name_words(f"{column.name} {column.notes.label or ''}"))


def _two_levels(column: Column) -> Proposal:
    levels = ordered_pair(column.texts)
    meaning = "" if no_before_yes(levels) else f", of which {quote_cell(levels[1])} counts as yes"
    fields = {} if levels == ["0", "1"] else {"levels": levels}
    return Proposal({"likelihood": Bernoulli.name, **fields}, f"two values{meaning}")


def scale_of(column: Column, levels: list[str], what: str) -> Proposal:
    """Return the proposal for levels from low to high."""
    place = {level: float(score) for score, level in enumerate(levels)}
    scores = np.repeat([place[text] for text in column.texts], column.counts)
    is_from_0 = levels == [str(step) for step in range(len(levels))]
    steps: dict[str, Any] = {"trials": len(levels) - 1} if is_from_0 else {"levels": levels}
    return Proposal(choose_likelihood("scale", scores, **steps), what)


def nominal_of(column: Column, what: str) -> Proposal:
    """Return levels without order, in the order of the table."""
    levels = [column.texts[code] for code in pd.unique(column.codes) if code >= 0]
    otherwise = "likelihood: ordinal, with its levels from low to high" if len(levels) <= 7 else ""
    return Proposal({"likelihood": Categorical.name, "levels": levels}, what, _LIMITS.unordered_texts, otherwise)


_PLAIN_SIGNS = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | {"’": "'", "≥": ">=", "≤": "<="})
"""Signs that programs put in the place of those of the keyboard: "I–II" for "I-II"."""


def _one_spelling(column: Column) -> dict[str, str]:
    """Return the most frequent spelling for each text that differs from another in case, white space and signs only.

    Where several texts all mean no or yes, they are two.
    """
    first, meant, targets = dict[str, str](), dict[str, str](), list[str]()
    for place in np.argsort(-column.counts, kind="stable"):
        text = column.texts[place]
        seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")  # without invisible ones
        plain = unicodedata.normalize("NFKC", seen).translate(_PLAIN_SIGNS)
        target = first.setdefault(" ".join(plain.casefold().split()).rstrip("."), text)
        if target == text:
            targets.append(text)
        else:
            meant[text] = target
    if 2 < len(targets) <= 8:
        phrases = {text: _phrase(without_number(text)) for text in targets}
        for pair in (*data("answers")["pairs"], data("answers")["sexes"]):
            no, yes = ([text for text in targets if phrases[text] in words] for words in pair)
            # N, S and Y of an oedema are no answers in two languages: letters alone are of one.
            is_mixed = any(len({text.casefold() for text in side if len(text) == 1}) > 1 for side in (no, yes))
            if no and yes and len(no) + len(yes) == len(targets) and not is_mixed:
                answers = dict.fromkeys(no[1:], no[0]) | dict.fromkeys(yes[1:], yes[0])
                return {text: answers.get(target, target) for text, target in meant.items()} | answers
    return meant


# The proposal for a column by its values: the first of these rules that has one.

KINDS: tuple[Callable[[Column], Proposal | None], ...] = (
    leave_out_dates,
    propose_identifier,
    propose_numbers,
    propose_levels,
)
"""In this order; each looks at a column of several values, without words for missing ones. The first one counts."""


def propose_by_values(column: Column) -> Proposal:
    """Return the proposal for a column by its values alone."""
    words = sorted(missing_words(column))
    rest = column.without(set(words))
    if len(rest.texts) < 2:
        return constant(rest)
    is_ordered = len(rest.order) > 2 and set(rest.texts) <= set(rest.order)  # by pandas, whatever the levels write
    rules = (propose_levels,) if is_ordered else KINDS
    proposed = next(proposal for rule in rules if (proposal := rule(rest)) is not None)
    proposed = proposed.extended(dates_among_others(rest))
    if not words or "likelihood" not in proposed.fields:
        return proposed
    return proposed.with_missing_codes(words).extended(reason=f"{listed(map(quote_cell, words))} taken for missing")
