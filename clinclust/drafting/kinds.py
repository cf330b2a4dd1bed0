"""What a column is by its values: dates, identifiers, missing codes, numbers by their probability, ordered levels."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import compress, permutations
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import pdtr, softmax

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import COMPUTE, LOOKS, MOST_LEVELS, MOST_TEXTS, Column, Proposal, Written, leave_out
from clinclust.files import notation
from clinclust.files.cell_text import compile_short, listed, number_of, quote_cell
from clinclust.files.notation import MISSING_SIGNS, means_missing, name_words, words_of
from clinclust.likelihoods import REGISTRY, traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.likelihood import LARGEST_COUNT, LARGEST_MEASUREMENT, without_far_values
from clinclust.schema.feature import Feature

_LIMITS = SimpleNamespace(**data("drafting")["kinds"])

# Whether a column holds dates or times, in whatever way they are written.

_CLOCK = compile_short(r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d)?(\s?[ap]\.?m\.?)?", re.IGNORECASE)
_WRITTEN = compile_short(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|(\d{1,2}|\d{4})[-/.](19|20)\d{2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[-/.\s]?[^\W\d]{3,10}\.?[-/.,\s]*(\d{4}|\d{2})"
    r"|[^\W\d]{3,10}\.?\s+\d{1,2},?\s+\d{4}|[^\W\d]{3,10}[-/.\s]+(\d{4}|\d{2})"
    r"|\d{1,2}(-|\.\s)[^\W\d]{3,4}\.?)([T\s].*)?"  # 1-5, which a spreadsheet writes 5-Jan, or 01. Mai
)
_MONTHS = re.compile(
    "jan|feb|m[aäé]r|apr|avr|ma[iyj]|jun|jul|juin|juil|aug|ao[uû]|ago|sep|o[ck]t|nov|de[czs]|dic|ene|gen", re.IGNORECASE
)


def leave_out_dates(column: Column) -> Proposal | None:
    """Leave out dates and times, however they are written: they are no measurements. What is wanted is no date."""
    if column.is_wanted:
        return None
    ways: dict[str, Callable[[str], object]] = {"times of day": _CLOCK.fullmatch, "dates": _is_written_date}
    for what, is_of_kind in {"dates or times": lambda _: column.is_time, **ways}.items():
        are_of_kind = np.array([bool(is_of_kind(text)) for text in column.texts])
        if column.counts[are_of_kind].sum() >= _LIMITS.nearly_all * column.n_observed:
            return leave_out(f"{what}: {COMPUTE}")
    texts = pd.Series([text for text in column.texts if text.isdigit()], dtype=object)
    if len(texts) < max(_LIMITS.fewest, _LIMITS.nearly_all * len(column.texts)):
        return None
    lengths = texts.str.len()
    # Whole numbers are dates if all are valid: of five or six digits, a third is by chance, and so e^-7 of eight.
    for form in ("%Y%m%d", "%d%m%Y", "%m%d%Y", "%y%m%d", "%m%d%y", "%d%m%y"):
        width = 8 if "Y" in form else 6
        if lengths.between(width - 1, width).all():
            days = pd.to_datetime(texts.str.zfill(width), format=form, errors="coerce")
            are_sound = days.notna().all() and (width == 6 or days.dt.year.between(*_LIMITS.years).all())
            # 100226, 100231, 100412: of identifiers that rise, the first digits are the same, and so are the days
            if are_sound and days.dt.day.nunique() >= min(_LIMITS.fewest, len(texts) // 3):
                return leave_out(f"dates without signs: {COMPUTE}")
    return None


def dates_among_others(column: Column) -> str:
    """Return what to look at, if a few cells of levels or small numbers are dates: a spreadsheet made 1-2 one."""
    numbers = column.numbers
    is_serial = (numbers % 1 == 0) & (numbers >= _LIMITS.serial[0]) & (numbers <= _LIMITS.serial[1])
    is_serial &= numbers[np.isfinite(numbers) & ~is_serial].max(initial=0.0) < _LIMITS.small
    texts = zip(column.texts, numbers, strict=True)
    is_date = is_serial | np.array([np.isnan(number) and _is_written_date(text) for text, number in texts], dtype=bool)
    n = int(column.counts[is_date].sum())
    if not 0 < n < column.n_observed / 2 or is_date.sum() > _LIMITS.most_made:
        return ""
    return LOOKS["dates_among"].format(texts=listed(map(quote_cell, compress(column.texts, is_date))))


def _is_written_date(text: str) -> bool:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return False
    if letters := re.sub(r"[\W\dT]", "", match[1]):
        return _MONTHS.match(letters) is not None
    parts, (first, last) = [int(part) for part in re.findall(r"\d+", match[1])], _LIMITS.years
    if len(parts) == 2:
        return bool(first <= max(parts) <= last and (1 <= min(parts) <= 12 or min(parts) >= first))
    day_month = parts[1:] if parts[0] > 31 else parts[:2]
    return 1 <= min(day_month) <= 12 and 1 <= max(day_month) <= 31


# Whether a column names the rows, by its name and values.

TWO_NUMBERS = re.compile(r"(?!1\s*/)[0-9]+(?:[.,][0-9]+)?\s*[/+|]\s*[0-9]+(?:[.,][0-9]+)?")
"""A cell of two numbers, such as a pressure of 120/80, and no titre of 1/80."""


def looks_identifying(name: str, *, is_unique: bool = False) -> bool:
    """Return whether a name is one of subjects or people, such as `patient_id`, `surname` or `phone`.

    Words such as `number` and `index` say so only of values that are all different.
    """
    subjects, people = data("tables")["subjects"], data("roles")["identifier"]
    unlisted = {"beside", *([] if is_unique else ["if_unique"])}
    words = frozenset(subjects["words"]).union(*(people[key] for key in people if key not in unlisted))
    return notation.says_only(name_words(name), words, frozenset([*subjects["beside"], *people["beside"]]))


def _identifies_rows(column: Column) -> bool:
    """Return whether nearly every cell has a value of its own, and they are no measurements.

    Texts identify, and whole numbers that rise from row to row, are drawn evenly, or repeat less than measurements.
    """
    n, n_different = column.n_observed, len(column.texts)
    is_named = looks_identifying(column.name, is_unique=True)
    if n < _LIMITS.fewest_cells or n - n_different > max(2, _LIMITS.most_shared * n) or n < 0.9 * column.codes.size:
        return n == n_different == column.codes.size > 1 and is_named
    numbers = column.numbers
    if not np.isfinite(numbers).all():
        are_pairs = not is_named and any(map(TWO_NUMBERS.fullmatch, column.texts[: _LIMITS.fewest_cells]))  # 120/80
        has_words = np.mean([" " in text for text in column.texts]) > 0.5
        are_texts = n_different == n and not are_pairs and np.isfinite(numbers).mean() < 0.5
        return bool(are_texts and (is_named or not has_words))
    if column.has_fractions:
        return False
    span = numbers.max() - numbers.min()
    steps = np.diff(column.in_rows(numbers)[column.codes >= 0])
    is_rising = (n >= _LIMITS.long or span <= _LIMITS.rising * n) and bool((steps > 0).all())
    if is_named or is_rising:
        return True
    step = int(np.gcd.reduce(np.diff(np.unique(np.clip(numbers, -(2.0**62), 2.0**62).astype(np.int64)))))
    # Of five digits or more, and drawn evenly: the log likelihood ratio to a normal distribution of their spread.
    evenly = n * (0.5 + 0.5 * np.log(2.0 * np.pi) + np.log(numbers.std() / max(span, 1.0)))
    if step == 1 and numbers.min() >= _LIMITS.many_digits and n == n_different and evenly >= _LIMITS.clear:
        return True
    # Of n measurements with standard deviation s, in steps, n^2 / (4 s sqrt(pi)) pairs are equal on average.
    pairs = n * (n - 1) / 2.0 / (2.0 * np.sqrt(np.pi) * max(float(numbers.std()) / max(step, 1), 1.0))
    return bool(pdtr(n - n_different, pairs) <= _LIMITS.by_chance)


def propose_identifier(column: Column) -> Proposal | None:
    """Propose the identifier of the rows, unless it is wanted or has units or marks."""
    has_marks = column.written is not None and bool(column.written.fields or column.written.fault)
    has_marks &= not looks_identifying(column.name, is_unique=True)  # `#17` of `Patient ID`
    if has_marks or column.is_wanted or not _identifies_rows(column):
        return None
    is_whole = len(column.texts) == column.codes.size
    lacks = "" if is_whole else "; rows without an identifier of their own: give each one, and role: id"
    return Proposal({"role": "id" if is_whole else "ignore"}, f"every row has a value of its own{lacks}")


# Which texts of a column mean a missing value: words, signs, and numbers that can be no values of it.

_ONLY_MARKS = re.compile("[-\u2013\u2014'`\".·?]{2,}")  # `'--`, as the Genomic Data Commons writes
_CODED = re.compile(r"\s*\(?-?[0-9]{1,4}\)?(?:\s*+[-_=:.)]\s*+|\s++)(?=[^\W\d_])")


def without_number(text: str) -> str:
    """Return a text without the code before its words: `0 - none`, `1_yes` and `(2) Good` are words with a code."""
    return _CODED.sub("", text, count=1) if _CODED.match(text) else text


def missing_words(column: Column) -> set[str]:
    """Return the texts of a column that say in words or signs that a value is missing."""
    if np.isfinite(column.numbers).all():
        return set()
    words_for_missing = set[str]()
    for text in compress(column.texts, np.isnan(column.numbers)):
        folded = " ".join(text.casefold().split())
        words = " ".join(dict.fromkeys(words_of(without_number(folded))))  # "NA_NA" too
        is_sign = folded in MISSING_SIGNS or _ONLY_MARKS.fullmatch(folded)
        if folded not in data("missing_words")["also_values"] and (is_sign or means_missing(words)):
            words_for_missing.add(text)
    rest = [text for text in column.texts if text not in words_for_missing]
    answers = [text for text in rest if text not in _LIMITS.initials]
    if max(map(len, rest), default=0) == 1 and _sides(answers, [*data("answers")["pairs"], data("answers")["sexes"]]):
        words_for_missing |= {*rest} - {*answers}  # U is unknown with Y and N, or F and M
    # `not done` is an answer where others are `done`, and N/A none where another is N.
    others = {word for text in rest for word in words_of(text) if len(word) > 1} - set(data("answers")["denials"])
    words_for_missing = {text for text in words_for_missing if others.isdisjoint(words_of(text))}
    rest = [text for text in column.texts if text not in words_for_missing]
    if any("+" in text for text in rest):  # among crosses, "-" is negative
        words_for_missing.discard("-")
    numbers = [text for text in rest if text in _LIMITS.among_words]
    if len(rest) - len(numbers) > 1 and all(np.isnan(number_of(text)) for text in rest if text not in numbers):
        words_for_missing |= set(numbers)  # 9 among words
    return words_for_missing


def missing_numbers(numbers: Array, counts: NDArray[np.int64], of_table: frozenset[float] = frozenset()) -> set[float]:
    """Return the numbers (m,), in so many cells, that surveys write for a missing value, and that lie apart.

    They lie far beyond the others, behind a gap of few answers and are rare or codes `of_table`, or are 0 far below.
    """
    finite = np.isfinite(numbers)
    numbers, counts = numbers[finite], counts[finite]
    gapped = gapped_codes(numbers)
    n_gapped = counts[np.isin(numbers, list(gapped))].sum()
    are_refusals = 9.0 in gapped <= set(_LIMITS.refusals) and n_gapped <= _LIMITS.most_refusals * counts.sum()
    codes = _far_codes(numbers, counts) | (gapped if are_refusals or of_table & gapped else set())  # 7 next to 9
    # Of 532 women near Phoenix, 35 have a diastolic pressure of 0, 11 a body mass index of 0, 5 a glucose of 0 (Smith
    # et al. 1988, Proceedings of the Annual Symposium on Computer Application in Medical Care). Pack-years and hormones
    # begin near 0, and years at school have few levels.
    rest, of_rest, n = numbers[numbers != 0.0], counts[numbers != 0.0], counts.sum()
    if rest.size > _LIMITS.fewest_others and rest.min() > 0.0 and 0 < n - of_rest.sum() <= _LIMITS.most_zeros * n:
        values = np.repeat(rest, of_rest)
        middle = float(np.median(values))
        is_far = rest.min() >= _LIMITS.far_from_zero * middle and middle >= _LIMITS.far_deviations * values.std()
        codes |= {0.0} if is_far else set()
    return codes


def gapped_codes(numbers: Array) -> set[float]:
    """Return what lies apart from answers from 0 or 1 on: 7 to 9 and 77 to 99 after a gap, and -1 and -3 below."""
    values = np.unique(numbers[np.isfinite(numbers)])
    below, rest = values[values < 0.0], values[values >= 0.0]
    answers = rest[~np.isin(rest, _LIMITS.unknown)]
    is_scale = below.size > 0 and below[0] == -below.size and below.size == rest.max(initial=0.0)  # -1, 0, 1
    if answers.size < 2 or (rest % 1).any() or rest[0] > 1.0 or is_scale or not np.isin(below, _LIMITS.below).all():
        return set()
    above = rest[rest > answers[-1]] if values.size <= _LIMITS.most_answered else rest[:0]
    return {*below.tolist(), *(above.tolist() if (above > answers[-1] + 1.0).all() else ())}


def codes_of_table(columns: Sequence[Column]) -> frozenset[float]:
    """Return the codes that in several columns are behind a gap, as 9 after 1 and 2, or labelled such as unknown."""
    n_columns: Counter[float] = Counter()
    for column in columns:
        named = {number_of(code) for code, label in column.notes.levels if means_missing(label)}
        gapped = gapped_codes(column.numbers)
        n_columns.update(gapped | named)  # texts that are no numbers have no codes
        n_columns.subtract(set(column.finite[column.finite < 0.0].tolist()) - gapped)  # changes may be -1 too
    return frozenset(code for code, n in n_columns.items() if n >= _LIMITS.fewest_with_code)


def _far_codes(numbers: Array, counts: NDArray[np.int64]) -> set[float]:
    """Return the numbers that are written as codes and lie apart: 99, -9, 998, 99.9; -1 too."""
    digits = re.compile(_LIMITS.digits)
    candidates = {n for n in numbers.tolist() if n == -1.0 or digits.fullmatch(f"{abs(n):g}".replace(".", ""))}
    usual = np.unique(numbers[~np.isin(numbers, list(candidates))])
    for code in sorted(candidates, key=abs):  # from the inside: 98 and 99 follow 97, and a scale may hold such numbers
        is_near = usual.size > 1 and usual.max() < code <= usual.max() + max(np.ptp(usual), _LIMITS.far)
        if usual.size < 2 or (is_near and code not in _LIMITS.refusals):
            usual = np.append(usual, code)
            candidates.discard(code)
    if not candidates:
        return set()
    low, high, gap = usual.min(), usual.max(), np.diff(np.sort(usual)).max() if usual.size <= 30 else 1.0
    n_cells = {code: int(counts[numbers == code].sum()) for code in candidates}
    codes = {code for code in candidates if code > high and code not in _LIMITS.refusals}
    below = -1.0 if usual.size > _LIMITS.fewest_others else -2.0  # of few values, -1 may be a T score
    if any(code <= below and low - code > gap and low >= 0.0 for code in candidates):
        codes |= {code for code in candidates if code < 0.0}
    if (usual % 1 != 0).any():  # of scores around 0, only a code that lies apart is one
        codes |= {code for code in candidates if code < low - (high - low) / 2.0 and n_cells[code] > 1}
    elif n_cells.get(-1.0, 0) > 1 and low == 0.0 and usual.size >= 4:
        codes.add(-1.0)
    return codes


# How probable the numbers of a column are under a likelihood, on the grid on which they are written.
#
# A number that is written as 1.3 is any value that rounds to it: the density of a measurement times the step of the
# grid is compared with the probability of a count or of a level. The parameters are integrated out.


class Numbers(NamedTuple):
    """The numbers of a column on their grid."""

    subjects: Array  # (n,) of each subject, sorted
    values: Array  # (m,) distinct, sorted
    counts: NDArray[np.int64]  # (m,) of subjects
    step: float


def numbers_on_grid(subjects: Array) -> Numbers:
    """Return numbers (n,) on the grid on which they are written: that of 0.5, 1 and 2.5 has steps of 0.5."""
    values, counts = np.unique(subjects, return_counts=True)
    largest = float(np.abs(values).max(initial=1.0))  # of 15 digits
    unit = step_of(values) or 10.0 ** max(-_LIMITS.most_decimals, math.ceil(math.log10(largest)) - 15)
    gaps = np.diff(np.rint(np.clip(values / unit, -(2.0**52), 2.0**52)).astype(np.int64))
    return Numbers(np.sort(subjects), values, counts, max(int(np.gcd.reduce(gaps)), 1) * unit)


def step_of(values: Array) -> float:
    """Return the unit of the last decimal place of these numbers (1 for whole ones), or 0 if they have none."""
    for decimals in range(_LIMITS.most_decimals + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) < 2.0**50 and np.abs(scaled - np.rint(scaled)).max(initial=0.0) < 1e-6:
            return float(10.0**-decimals)
    return 0.0


def log_probability(values: Array, step: float, fields: dict[str, Any]) -> float:
    """Return the log probability of numbers (n,) on a grid under a likelihood, transform and spike."""
    if "spike" in fields:
        rest = {name: value for name, value in fields.items() if name != "spike"}
        is_equal = values == fields["spike"]
        return _evidence(Bernoulli.name, is_equal.astype(float)) + log_probability(values[~is_equal], step, rest)
    if fields["likelihood"] == Exponential.name:  # in steps of the grid they are geometric
        return _evidence(Geometric.name, np.rint(values / step))
    n_steps = values.size * math.log(step)
    # Equal numbers were spread over a step: among 1,450 births, 1 child in 97% is no narrow peak of a measurement.
    different, times = np.unique(values, return_counts=True)
    places = np.concatenate([(np.arange(n) + 0.5) / n - 0.5 for n in times.tolist()])
    values = np.repeat(different, times) + step * places
    if "transform" in fields:
        return _evidence(Gaussian.name, np.log(values)) - float(np.log(values).sum()) + n_steps
    return _evidence(Gaussian.name, values) + n_steps


def _evidence(likelihood: str, values: Array, **fields: Any) -> float:
    """Return the log marginal probability of values (n,) under a likelihood; -inf if it cannot be computed."""
    evidence = REGISTRY[likelihood].of(Feature(name="x", likelihood=likelihood, **fields)).evidence(values)
    return evidence if np.isfinite(evidence) else -math.inf


def _most_probable(trait: str, values: Array, **fields: Any) -> tuple[float, dict[str, Any]]:
    """Return the evidence of values (n,) under the best of the likelihoods with a trait, and the fields of it."""
    names = [name for name, likelihood in REGISTRY.items() if getattr(likelihood, trait)]
    evidence, name = max((_evidence(name, values, **fields), name) for name in names)
    return evidence, {"likelihood": name, **fields}


# The kinds that the numbers of a column may be, by the probability of the values and by what clinical tables hold.
#
# A few whole numbers from 0 or 1 on are mostly the steps of a scale, small numbers from 0 or 1 on of which few are
# large are mostly counts, and numbers that are large compared with their grid are mostly measurements. The constants
# were set on annotated tables of the field (`benchmarks/drafting.py`).

_MEASUREMENTS: tuple[tuple[dict[str, Any], str, float], ...] = (  # fields, their words, and the least number
    ({"likelihood": Gaussian.name}, Gaussian.name, -math.inf),
    ({"likelihood": Gaussian.name, "transform": "log"}, f"right-skewed, {Gaussian.name} on the log scale", 1e-300),
    ({"likelihood": Exponential.name}, Exponential.name, 0.0),
)


class Kind(NamedTuple):
    """One kind that a column may be."""

    score: float  # log probability, up to a constant
    fields: dict[str, Any]  # of the feature
    what: str


def kinds_of_numbers(numbers: Numbers, levels: Sequence[str] = ()) -> list[Kind]:
    """Return the kinds of numbers with at least three values, the most probable first; a scale has the levels."""
    subjects, low, top, n_levels = numbers.subjects, numbers.values[0], numbers.values[-1], numbers.values.size
    # Of many subjects, some evenly spaced in their order are judged, with the lowest and the highest.
    sample = subjects[np.linspace(0.0, subjects.size - 0.5, min(subjects.size, _LIMITS.most)).astype(np.int64)]
    usual = without_far_values(sample)  # numbers so far from the others must be errors of entry
    sample = usual if np.unique(usual).size > 2 else sample
    kinds = [_best_measurement(numbers, sample)]
    if low >= 0.0 and top <= LARGEST_COUNT and not (numbers.values % 1.0).any():
        starts = [0.0, 1.0] if sample[0] == 1.0 else [0.0]  # those from 1 on may be counted from 1
        evidence, fields = max((_most_probable("is_count", sample - start) for start in starts), key=itemgetter(0))
        prior = _LIMITS.count_slope * math.log(_LIMITS.count_below / (1.0 + float(np.median(subjects))))
        prior -= _LIMITS.count_from * (low > 1.0)
        kinds.append(Kind(_LIMITS.temper * evidence + prior, fields, "counts"))
    if levels and n_levels <= MOST_LEVELS:
        fields = _steps_of_scale(levels, np.searchsorted(numbers.values, sample).astype(np.float64))
        _, n_equal = np.unique(sample, return_counts=True)
        shares = n_equal / sample.size  # a probability of its own for each level, which is a parameter (Schwarz 1978)
        evidence = float(n_equal @ np.log(shares)) - (n_equal.size - 1) / 2.0 * math.log(sample.size)
        n_gaps = (top - low) / numbers.step + 1.0 - n_levels
        starts_low = _LIMITS.from_0_or_1 * (low in (0.0, 1.0) and numbers.step == 1.0)
        prior = _LIMITS.scale + starts_low - _LIMITS.each_level * n_levels - _LIMITS.gap * n_gaps / n_levels
        kinds.append(Kind(_LIMITS.temper * evidence + prior, fields, f"{n_levels} steps of a scale"))
    return sorted(kinds, key=lambda kind: -kind.score)


def _best_measurement(numbers: Numbers, sample: Array) -> Kind:
    """Return the best distribution of a measurement; others than the Gaussian, and spikes, must be better by far."""
    options: list[tuple[float, Kind]] = []
    for place in (None, 0, -1) if numbers.values.size > MOST_LEVELS else (None,):
        rest, spike, what_else = numbers.values, dict[str, float](), ""
        if place is not None:
            value, n_equal, n = numbers.values[place], numbers.counts[place], numbers.subjects.size
            rest, of_rest = np.delete(numbers.values, place), np.delete(numbers.counts, place)
            spread = float(np.sqrt(np.cov(rest, fweights=of_rest)))
            fewest = max(_LIMITS.fewest_equal, _LIMITS.least_equal * n, _LIMITS.stands_out * of_rest.max())
            # A spike is near the others: 999 among weights, or 0 among blood pressures, is no value that subjects have.
            if n_equal < fewest or abs(value - np.clip(value, rest[0], rest[-1])) > _LIMITS.near * spread:
                continue
            what_else = f" but for {value:g} in {n_equal / n:.0%}, which is a part of its own"
            spike = {"spike": float(value)}
        for fields, what, least in _MEASUREMENTS:
            if rest[0] >= least:
                score = log_probability(sample, numbers.step, fields | spike)
                needed = _LIMITS.spike * bool(spike) + _LIMITS.log * (what != Gaussian.name)
                kind = Kind(_LIMITS.temper * score, fields | spike, f"a measurement, {what}{what_else}")
                options.append((score - needed, kind))
    return max(options, key=itemgetter(0))[1]


def _steps_of_scale(levels: Sequence[str], scores: Array) -> dict[str, Any]:
    """Return the fields of the feature under which the steps (n,) of a scale are most probable."""
    if list(levels) == [str(step) for step in range(len(levels))]:
        return _most_probable("is_scale", scores, trials=len(levels) - 1)[1]
    return _most_probable("is_scale", scores, levels=list(levels))[1]


def _constant(column: Column) -> Proposal:
    """Return the proposal for a column of at most one value; if other cells are empty, it may be a mark for yes."""
    if not column.texts:
        return leave_out("no observed value")
    value, share = quote_cell(column.texts[0]), column.n_observed / column.codes.size
    if share == 1.0:
        return leave_out(f"the same value in every subject observed: {value}")
    may_be_yes = column.texts[0] == "1" or not (np.isfinite(column.numbers[0]) or _is_written_date(column.texts[0]))
    return leave_out("one value, or none", *[LOOKS["mark_for_yes"].format(value=value, share=share)] * may_be_yes)


# The proposal for numbers: a scale, counts or a measurement, and how values beyond a limit are declared.


def propose_numbers(column: Column) -> Proposal | None:
    """Propose a scale, counts or a measurement; pass on texts, and a few levels that are written in signs."""
    written = column.written
    if written is None:
        return None
    if written.fault:
        return leave_out("numbers that cannot be compared", written.fault)
    beyond, is_number = written.beyond != 0, np.isfinite(written.numbers)
    if (beyond.any() or not is_number.all()) and len(column.texts) <= MOST_LEVELS:
        return None
    codes = missing_numbers(np.where(beyond, np.nan, written.numbers), column.counts, column.codes_of_table)
    is_code = np.isin(written.numbers, list(codes if _AMOUNTS.isdisjoint(column.words) else codes - {0.0}))
    odd, coded = list(compress(column.texts, ~is_number)), list(compress(column.texts, is_code))
    texts = {"no_numbers": odd, "codes_apart": coded}
    looks = [LOOKS[why].format(texts=listed(map(quote_cell, of))) for why, of in texts.items() if of]
    rest, is_left = column.without({*odd, *coded}), is_number & ~is_code
    values = written.numbers[is_left]
    if np.unique(values).size < 2:
        return _constant(rest)
    proposal = _of_values(rest, values, written, beyond[is_left])
    return proposal.extended(*written.looks, *looks, missing_codes=[*odd, *coded])


def _of_values(column: Column, values: Array, written: Written, beyond: NDArray[np.bool_]) -> Proposal:
    exact = ~beyond if np.unique(values[~beyond]).size > 2 else np.ones(values.size, dtype=bool)
    numbers = numbers_on_grid(np.repeat(values[exact], column.counts[exact]))
    low, top, n_levels = numbers.values[0], numbers.values[-1], numbers.values.size
    if np.abs(numbers.values).max() > LARGEST_MEASUREMENT:
        return leave_out("numbers too large to be modelled", "check the unit")
    if n_levels == 2 and not beyond.any():
        levels = [column.texts[int(np.argmax(values == value))] for value in numbers.values]
        meant = {text: levels[int(value > low)] for text, value in zip(column.texts, values, strict=True)}
        others = {text: level for text, level in meant.items() if text not in levels}  # `1` and `1.0`
        return _two_levels(column.rewritten(others)).extended(synonyms=others)
    is_plain = not written.fields and len(column.texts) == n_levels
    are_whole = is_plain and not (numbers.values % 1.0).any()
    if are_whole or (is_plain and not _WITH_POINTS.isdisjoint(column.words)):  # 250.00 and 486 of `icd9_code`
        are_far = are_whole and (top - low) / numbers.step >= _LIMITS.far_apart * n_levels and n_levels <= MOST_LEVELS
        are_far &= top < 2.0 * low or low >= _LIMITS.long_code  # doses of 81, 160 and 325 mg have a ratio
        are_far &= column.n_observed >= _LIMITS.rows_of_a_code * n_levels
        may_be_codes = n_levels <= min(_LIMITS.most_codes, column.n_observed / 2)
        if are_far or (may_be_codes and _is_called_nominal(column)):
            why = "whole numbers far apart, and none between them" if are_far else "by the name of the column"
            return nominal_of(column, f"{n_levels} codes without order, {why}")
    least, most = column.notes.minimum or 0.0, column.notes.maximum
    if are_whole and most is not None and least <= low and top <= most:
        steps = most - least
        if least % 1 == most % 1 == 0 and 2 <= steps <= _LIMITS.longest_scale:
            _, fields = _most_probable("is_scale", numbers.subjects - least, trials=int(steps))
            if least != 0:
                fields = {"likelihood": fields["likelihood"], "minimum": least, "maximum": most}
            return Proposal(fields, f"a scale {least:g} to {most:g}, as the file declares")
    is_longer = most is not None and most > top  # the file declares more steps than the values show
    levels = [column.texts[place] for place in np.argsort(values)] if is_plain and not is_longer else []
    kinds = kinds_of_numbers(numbers, levels)
    shares = softmax([kind.score for kind in kinds])
    fields, probability = dict(kinds[0].fields), float(shares[0])
    is_scale = traits_of(fields["likelihood"]).is_scale
    second = [f"{name}: {value}" for kind in kinds[1:2] for name, value in kind.fields.items() if name != "levels"]
    otherwise = ", ".join(second)
    if is_scale and shares[1] <= probability * (1.0 - _LIMITS.ordered_codes):
        otherwise = "likelihood: categorical, if they have no order"
    probability *= _LIMITS.ordered_codes if is_scale else 1.0
    if not is_scale:
        fields |= written.fields
        takes, declared = traits_of(fields["likelihood"]).takes, column.notes.minimum
        if declared is not None and "minimum" in takes and -math.inf < declared <= low:
            fields["minimum"] = declared
        if most is not None and "maximum" in takes and top <= most < math.inf:
            fields["maximum"] = most
    proposal = Proposal(fields, kinds[0].what, probability, otherwise)
    if not beyond.any():
        return proposal
    share, example = float(column.counts[beyond].sum() / column.n_observed), column.texts[int(np.argmax(beyond))]
    many = f"{share:.1%} of the values lie beyond a limit, such as {quote_cell(example)}"
    if share < _LIMITS.much_beyond:
        return proposal.extended(f"{many}: the limit replaces them (`censored`)", censored="limit")
    ends = [end for end, sign in (("below", -1), ("above", 1)) if (written.beyond == sign).any()]
    return proposal.extended(reason=f"{many}, which is a part of its own", limit=ends)


# The order of levels: by the number that they begin with, by ordered words, or none.

_NUMBER = r"[0-9]+(?:[., ']?[0-9]{3})*(?:[.,][0-9]+)?"
_FIRST = re.compile(rf"(?P<before>[^0-9]*?)(?P<number>-?{_NUMBER})(?P<after>.*)", re.DOTALL)
_ROMAN = re.compile(r"(?P<before>.*?)\b(?P<number>i{1,3}|iv|vi{0,3}|ix|x)(?P<after>[a-d]?)", re.IGNORECASE)
_TITRE = re.compile("([<>≤≥]=? ?)?1 ?[:/] ?(?=[0-9])")  # `<1:10`, `1:80`
_LETTER = re.compile(r"(?P<before>.*\w)[ -]*\b(?P<number>[a-e])(?P<after>)")  # `Child-Pugh B`
_ROMANS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")


def order_of(texts: Sequence[str]) -> list[int] | None:
    """Return the indices of levels from the lowest to the highest; None if they have no known order.

    Levels are ordered by ordered words, where all of them are of one order (`orders.toml`), by how often they say that
    something is, and otherwise by the number that each begins with; one level without a number may say that there is
    nothing to grade, and is the lowest.

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
    of_words = ([_rank(" ".join(words), order) for words in split] for order in _orders())
    for ranks in (*of_words, _by_periods(split), _by_numbers(texts)):
        ranked = [rank for rank in ranks or () if rank is not None]
        if len(set(ranked)) == len(texts):
            return sorted(range(len(texts)), key=ranked.__getitem__)
    return None


def _phrase(text: str) -> str:
    """Return a text as words of orders are written; signs such as `++` as they are."""
    words = " ".join(word for word in words_of(text) if word != "the")
    return words if any(map(str.isalpha, text)) else text.strip()


@cache
def _orders() -> list[dict[str, int]]:
    """Return the rank of each word in each order; the absent are the lowest, unless an order ranks them itself."""
    absent = {_phrase(word): 0 for word in data("orders")["absent"]}
    ranked = [enumerate(order, start=1) for order in data("orders")["orders"]]
    return [absent | {_phrase(word): rank for rank, words in order for word in words} for order in ranked]


def _rank(phrase: str, order: dict[str, int]) -> int | None:
    """Return the rank of a phrase: of a listed word, or else of one that it begins or that is cut short."""
    is_cut = len(phrase) >= _LIMITS.shortest_cut and phrase not in order
    ranks = [rank for word, rank in order.items() if is_cut and word.startswith(phrase)] or [0] * _says_absent(phrase)
    return order.get(phrase, max(ranks) if ranks else None)


def _by_periods(split: Sequence[Sequence[str]]) -> list[tuple[int, int]] | None:
    """Return the ranks of the words of phrases of frequency: `a few times a month`, `once a week`, `daily`."""
    periods, ranks = data("orders")["periods"], list[tuple[int, int]]()
    for words in split:
        forms = {*words, *(word.removesuffix("s") for word in words)}
        of = [rank for rank, period in enumerate(periods, 1) if not forms.isdisjoint(period)]
        if (len(of) != 1 or any(map(str.isdigit, words))) and not _says_absent(" ".join(words)):  # `2 weeks`
            return None
        ranks.append((max(of, default=0), int(words[0] not in data("orders")["once"])))
    return ranks if min(ranks)[0] == 0 and len({rank for rank, _ in ranks}) > 2 else None  # `never` is one of them


def _by_numbers(texts: Sequence[str]) -> list[tuple[float, str, int]] | None:
    """Return the ranks of levels by the numbers that they begin with; None if more than one has no number."""
    folded = [" ".join(text.casefold().replace("_", " ").split()) for text in texts]
    folded = [_TITRE.sub(r"\1", text) for text in folded] if all(map(_TITRE.match, folded)) else folded
    matches = [_FIRST.fullmatch(text) or _ROMAN.fullmatch(text) or _LETTER.fullmatch(text) for text in folded]
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
    if len(units) > 1 and all(notation.is_known_unit(unit) for unit in units):
        return None  # `2 weeks`, `6 months`: the numbers alone do not order them
    marks, ranks = notation.marks_of([match["number"] for match in numbered]), list[tuple[float, str, int]]()
    for text, match in zip(folded, matches, strict=True):
        if match is None:
            ranks.append((-math.inf, "", 0))
            continue
        plain, letter = notation.number_as_written(match["number"], marks.decimal, marks.thousands), match["after"]
        step = _ROMANS.index(match["number"]) if match["number"] in _ROMANS else "abcde".find(match["number"])
        number = float(step) if match["number"].isalpha() else float(plain or "nan")
        ends = text[: match.end("number")] + " " + text[match.end("number") :].split("-")[0]
        side = 1 if above.search(ends) else -1 if below.search(ends) else int(text.endswith("+"))
        ranks.append((number, letter if re.fullmatch("[a-z]", letter) else "", side))  # `2a` below `2b`
    return ranks


@cache
def _beyond(end: str) -> re.Pattern[str]:
    """Return the pattern of signs and words for values below or above a number."""
    words, links = ("|".join(data("orders")[listed]) for listed in (end, "links"))
    return re.compile(rf"{'<=?|≤' if end == 'below' else '>=?|≥'}|\b(?:{words})(?: (?:{links}))?\b")


def _says_absent(text: str) -> bool:
    phrase, absences = " ".join(words_of(text)), tuple(f"{words} " for words in data("orders")["absences"])
    return phrase in data("orders")["absent"] or phrase.startswith(absences)


def _sides(texts: Sequence[str], pairs: Iterable[Sequence[Sequence[str]]]) -> list[int] | None:
    """Return 0 or 1 for each text by the side of the first pair of answers that has all of them, and both; or None."""
    phrases = [_phrase(without_number(text)) for text in texts]
    for pair in pairs:
        sides = [side for phrase in phrases for side in (0, 1) if phrase in pair[side]]
        if len(sides) == len(texts) and len(set(sides)) == 2:
            return sides
    return None


def no_before_yes(pair: Sequence[str]) -> list[int] | None:
    """Return the indices of two labels, that for no first; None if neither is known to mean one of them.

    >>> from clinclust.drafting.kinds import no_before_yes
    >>> no_before_yes(["Ja", "Nein"]), no_before_yes(["1_yes", "2_no"]), no_before_yes(["left", "right"])
    ([1, 0], [1, 0], None)
    """
    sides = _sides(pair, data("answers")["pairs"])
    if sides is None:
        phrases, denials = [_phrase(without_number(text)).split() for text in pair], data("answers")["denials"]
        rest = [[word for word in words if word not in denials] for words in phrases]
        if phrases[0] != phrases[1] and rest[0] == rest[1] in phrases:  # `nicht tastbar` of `tastbar`
            sides = [int(words == rest[0]) for words in phrases]
    return None if sides is None else sorted((0, 1), key=sides.__getitem__)


def ordered_pair(pair: Sequence[str]) -> list[str]:
    """Return two levels, of which the second counts as yes: by their words, their order, or else by the alphabet."""
    pair = sorted(pair)
    places = no_before_yes(pair) or _sides(pair, [data("answers")["sexes"]])
    if places is None:
        is_absent = _phrase(without_number(pair[1])) in data("orders")["absent"]
        places = [1, 0] if is_absent else order_of(pair)
    return [pair[place] for place in places or [0, 1]]


# The proposal for levels: two that are no and yes, ordered, or without order.

_NOMINAL, _NO_CODES, _WITH_POINTS, _AMOUNTS = (
    frozenset(data("roles")["nominal"][key]) for key in ("words", "not_beside", "with_points", "amounts")
)
_LETTERED = re.compile(r"[^\W\d_]+ ?[0-9.]+")


def propose_levels(column: Column) -> Proposal:
    """Propose two levels, ordered ones, or levels without an order; leave out texts of many different values."""
    synonyms = _one_spelling(column)
    column = column.rewritten(synonyms)
    spellings = listed(f"{quote_cell(text)} is read as {quote_cell(synonyms[text])}" for text in sorted(synonyms))
    look = f"other spellings: {spellings}" if synonyms else ""
    texts, n_texts = column.texts, len(column.texts)
    if n_texts == 1:
        return _constant(column).extended(look)
    if n_texts == 2:
        return _two_levels(column).extended(look, *_misspelt(column), synonyms=synonyms)
    is_coded = all(without_number(text) != text or _LETTERED.fullmatch(text) for text in texts)
    order = None if is_coded and _is_called_nominal(column) else order_of(texts)
    is_number = np.isfinite(column.numbers)
    if n_texts > MOST_LEVELS and max(is_number.mean(), column.counts[is_number].sum() / column.n_observed) > 0.5:
        others = listed(map(quote_cell, compress(texts, ~is_number)))
        return leave_out("numbers and other texts", LOOKS["among_numbers"].format(texts=others))
    are_pairs = np.mean([TWO_NUMBERS.fullmatch(text) is not None for text in texts]) > _LIMITS.mostly
    if are_pairs and n_texts > MOST_LEVELS:  # and no alleles such as 3/3 and 3/4
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
    """Yield a sentence for each rare level that may be a frequent one: `Hispannic`, and `femal` where others are f."""
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
    pair = sorted(cells, key=cells.__getitem__)[-2:]
    others = [text for text in cells if text not in pair and cells[text] <= _LIMITS.most_third * column.n_observed]
    if others and (no_before_yes(pair) or _sides(pair, [data("answers")["sexes"]])):
        yield LOOKS["third"].format(texts=listed(map(quote_cell, others)), pair=" and ".join(pair))


def _is_called_nominal(column: Column) -> bool:
    """Return whether the name or label is one of codes without order, such as race and region."""
    words = name_words(f"{column.name} {column.notes.label or ''}")
    return not _NOMINAL.isdisjoint(words) and _NO_CODES.isdisjoint(words)


def _two_levels(column: Column) -> Proposal:
    levels = ordered_pair(column.texts)
    meaning = "" if no_before_yes(levels) else f", of which {quote_cell(levels[1])} counts as yes"
    fields = {} if levels == ["0", "1"] else {"levels": levels}
    return Proposal({"likelihood": Bernoulli.name, **fields}, f"two values{meaning}")


def scale_of(column: Column, levels: list[str], what: str) -> Proposal:
    """Return the proposal for levels from low to high."""
    scores = [float(levels.index(text)) for text in column.texts]
    return Proposal(_steps_of_scale(levels, np.repeat(scores, column.counts)), what)


def nominal_of(column: Column, what: str) -> Proposal:
    """Return levels without order, in the order of the table."""
    levels = [column.texts[code] for code in pd.unique(column.codes) if code >= 0]
    otherwise = "likelihood: ordinal, with its levels from low to high" if len(levels) <= 7 else ""
    return Proposal({"likelihood": Categorical.name, "levels": levels}, what, _LIMITS.unordered_texts, otherwise)


_PLAIN_SIGNS = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | {"’": "'", "≥": ">=", "≤": "<="})
"""Signs that programs put in the place of those of the keyboard: "I–II" for "I-II"."""


def _one_spelling(column: Column) -> dict[str, str]:
    """Return the most frequent spelling for each text that differs from another in case, accents, blanks and signs."""
    first, meant, targets = dict[str, str](), dict[str, str](), list[str]()
    for place in np.argsort(-column.counts, kind="stable"):
        text = column.texts[place]
        seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")  # without invisible ones
        plain = unicodedata.normalize("NFKC", seen).translate(_PLAIN_SIGNS)
        plain = re.sub(r"(?<=[^\W\d_]) (?=\d)", "", " ".join(plain.casefold().split()).rstrip("."))  # `type 2`, `Type2`
        if plain.replace(" ", "").isalpha():  # `früher`, `frueher` and `fruher`
            plain = re.sub("([aou])e", r"\1", " ".join(words_of(plain)))
        target = first.setdefault(plain, text)
        if target == text:
            targets.append(text)
        else:
            meant[text] = target
    sides = _sides(targets, (*data("answers")["pairs"], data("answers")["sexes"])) if len(targets) > 2 else None
    # N, S and Y of an oedema are no answers in two languages: letters alone are of one.
    letters = {(side, text.casefold()) for text, side in zip(targets, sides or (), strict=False) if len(text) == 1}
    if sides is None or len(letters) > len({side for side, _ in letters}):
        return meant
    answers = {text: targets[sides.index(side)] for text, side in zip(targets, sides, strict=True)}
    return {text: answers[meant.get(text, text)] for text in (*meant, *targets) if answers.get(text) != text}


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
        return _constant(rest)
    is_ordered = len(rest.order) > 2 and set(rest.texts) <= set(rest.order)  # by pandas, whatever the levels write
    rules = (propose_levels,) if is_ordered else KINDS
    proposed = next(proposal for rule in rules if (proposal := rule(rest)) is not None)
    proposed = proposed.extended(dates_among_others(rest))
    if not words or "likelihood" not in proposed.fields:
        return proposed
    return proposed.extended(reason=f"{listed(map(quote_cell, words))} taken for missing", missing_codes=words)
