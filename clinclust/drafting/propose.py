"""The proposal for a column: what is written in it, its numbers, its levels."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import compress, permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import (
    DOUBTFUL,
    FOR_READERS,
    LOOKS,
    MOST_TEXTS,
    TWO_NUMBERS,
    Column,
    Look,
    Proposal,
    column_of,
    constant,
    dates_among_others,
    dates_in,
    identifies_rows,
    joined,
    leave_out,
    missing_numbers,
    missing_words,
)
from clinclust.drafting.levels import (
    MOST_LEVELS,
    Kind,
    Numbers,
    choose_likelihood,
    kinds_of_numbers,
    meaning,
    no_before_yes,
    numbers_on_grid,
    order_of,
    ordered_pair,
    without_number,
)
from clinclust.files import notation
from clinclust.files.cell_text import listed, number_of, numbers_of, quote_cell
from clinclust.files.notation import divided, may_mean_missing, means_missing, name_words, plain_text
from clinclust.files.text_table import ORDERED, ColumnNotes
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import LARGEST_MEASUREMENT
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.reading import number_meant

# How a column writes its numbers: decimal commas, thousands, a unit or flags in the cells, values beyond a limit.

_NEARLY_ALL = 0.9
"""The least share of the cells that must write numbers, and of the numbers with a unit that must have the same."""
_BUT_FOR_SLIPS = 0.99


@dataclass(frozen=True)
class Written:
    """How a column writes its numbers, and which they are. Arrays are (len(texts),)."""

    numbers: Array  # NaN for texts that write none; beyond a limit it is the limit
    beyond: NDArray[np.int8]  # -1 below a limit, 1 above one, and else 0
    fields: dict[str, Any] = field(default_factory=dict)  # of the feature: unit, marks, decimal, thousands, synonyms
    looks: tuple[str, ...] = ()  # what a person should decide
    fault: str = ""  # why the numbers cannot be compared, and how to repair it


def written_numbers(column: Column) -> Written | None:
    """Return how a column writes its numbers; None if fewer than nine cells in ten write a number in one way.

    Where other columns have decimal commas, `1.305` may be thousands.
    """
    within = np.zeros(len(column.texts), dtype=np.int8)
    if np.isfinite(column.numbers).all():
        if not column.has_decimal_commas or not notation.are_thousands(column.texts):
            return Written(column.numbers, within)
        if all(len(text.lstrip("-").partition(".")[0]) == 1 for text in column.texts):
            return Written(column.numbers, within, fault=LOOKS["undecided_comma"])
        numbers = numbers_of([text.replace(".", "") for text in column.texts])
        return Written(numbers, within, {"decimal": ",", "thousands": "."}, (LOOKS["points"],))
    if not any(character.isdigit() for text in column.texts for character in text):
        return None
    synonyms = notation.limits_in_words(column.texts, column.counts)
    marked = notation.without_flags([synonyms.get(text, text) for text in column.texts], column.counts)
    parts = [notation.parts_of(text) for text in marked.texts]
    unit, fault = _unit_of(column, parts)
    units = {"", notation.unit_key(unit or "")}
    marks = notation.marks_of(
        [part.number for part in parts if part is not None and notation.unit_key(part.unit) in units]
    )
    if marks.is_guess and marks.thousands == "," and column.has_decimal_commas:
        marks = notation.Marks(",")
    fields: dict[str, Any] = {
        "marks": list(marked.marks),
        "unit": unit,
        "decimal": marks.decimal,
        "thousands": marks.thousands,
        "synonyms": _in_unit(synonyms, units, marks.decimal, marks.thousands),
    }
    fields = {name: value for name, value in fields.items() if value}
    signs = [part.limit[:1] if part is not None else "" for part in parts]
    beyond = np.array([-1 if sign in ("<", "≤") else 1 if sign in (">", "≥") else 0 for sign in signs], dtype=np.int8)
    censored = {"censored": "limit"} if beyond.any() else {}
    feature = Feature(name="x", likelihood=Gaussian.name, **fields, **censored)
    values = [number_meant(feature, text) for text in column.texts]
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if fault:
        return Written(numbers, beyond, fields, fault=fault)
    undecided = marks.is_guess and marks.decimal is not None
    is_number = np.array([part is not None for part in parts]) if undecided else np.isfinite(numbers)
    if column.counts[is_number].sum() < _NEARLY_ALL * column.n_observed:
        return None
    looks = []
    if marked.marks:
        n = int(column.counts[marked.is_marked].sum())
        looks.append(LOOKS["marks"].format(n=n, example=quote_cell(marked.marks[0])))
    if marks.is_guess and not undecided:
        looks.append(LOOKS["commas"])
    beyond[~np.isfinite(numbers)] = 0
    return Written(numbers, beyond, fields, tuple(looks), LOOKS["undecided_comma"] if undecided else "")


def _unit_of(column: Column, parts: Sequence[notation.WrittenNumber | None]) -> tuple[str | None, str]:
    """Return the unit of the numbers, and why they cannot be compared if there are several."""
    pairs = zip(parts, column.counts.tolist(), strict=True)
    rows = [(notation.unit_key(part.unit), part.unit, count) for part, count in pairs if part is not None]
    written = pd.DataFrame(rows, columns=["key", "text", "cells"])
    n_bare = int(written.loc[written["text"] == "", "cells"].sum())
    of_unit = written[written["text"] != ""].groupby("key", sort=False)["cells"].agg(["sum", "size"])
    known = {
        str(key): int(n_cells)
        for key, n_cells, n_different in of_unit.itertuples()
        if notation.is_known_unit(key) or (notation.is_unit(key) and n_different > MOST_LEVELS)  # `3 cups`
    }
    if not known:
        return None, ""
    unit = max(known, key=lambda key: known[key])
    if len(known) > 1 or known[unit] < n_bare:
        # Of `72kg` in one cell among 400 numbers, that cell is odd, and not the column.
        is_odd = n_bare >= _BUT_FOR_SLIPS * column.n_observed or len(column.texts) <= MOST_LEVELS
        if is_odd or sum(known.values()) + n_bare < _NEARLY_ALL * column.n_observed:
            return None, ""
        shown = listed(f"{quote_cell(key)} ({n:,} cells)" for key, n in sorted(known.items(), key=lambda one: -one[1]))
        alone = f" and none ({n_bare:,} cells)" if n_bare else ""
        return None, LOOKS["several_units"].format(units=shown + alone)
    return str(written[written["key"] == unit].groupby("text", sort=False)["cells"].sum().idxmax()), ""


def _in_unit(synonyms: dict[str, str], units: set[str], decimal: Any, thousands: Any) -> dict[str, str]:
    """Return the texts with a limit in words whose number has the unit of the column or none, as a schema writes it."""
    parts = {text: notation.parts_of(meant) for text, meant in synonyms.items()}
    return {
        text: part.limit + number
        for text, part in parts.items()
        if part is not None
        and notation.unit_key(part.unit) in units
        and (number := notation.number_as_written(part.number, decimal, thousands)) is not None
    }


# The proposal for numbers: a scale, counts or a measurement, and how values beyond a limit are declared.

_MOST_CODES, _LONGEST_SCALE = 30, 10
_FAR_APART, _ROWS_OF_A_CODE, _LONG_CODE = (
    20.0,
    10.0,
    1_000.0,
)  # of the morphologies 8140, 8500, 8520 and 8522 in 400 rows
_ORDERED_CODES = 0.88  # how often whole numbers that code a few levels are ordered, in tables of the field
_MUCH_BEYOND = 0.05  # share beyond a limit from which on it is a part of the feature, whether a value was found


def proposal_of_numbers(column: Column, written: Written | None) -> Proposal | None:
    """Return the proposal for a column of numbers; None if they are none, or a few levels that are written in signs."""
    if written is None:
        return None
    if written.fault:
        return leave_out("numbers that cannot be compared", written.fault)
    beyond = written.beyond != 0
    if beyond.any() and len(column.texts) <= MOST_LEVELS:
        return None
    odd = list(compress(column.texts, ~np.isfinite(written.numbers)))
    if odd and len(column.texts) <= MOST_LEVELS:
        return None
    codes = missing_numbers(np.where(beyond, np.nan, written.numbers), column.counts, column.codes_of_table)
    coded = list(compress(column.texts, np.isin(written.numbers, list(codes))))
    looks = [*written.looks]
    for why, texts in (("no_numbers", odd), ("codes_apart", coded)):
        looks += [LOOKS[why].format(texts=listed(map(quote_cell, texts)))] if texts else []
    is_left = np.array([text not in {*odd, *coded} for text in column.texts], dtype=bool)
    left = column.without({*odd, *coded})
    values = written.numbers[is_left]
    if np.unique(values).size < 2:
        return constant(left)
    found = _of_values(left, values, written, beyond[is_left])
    return found.with_missing_codes([*odd, *coded]).extended(*looks)


def _of_values(column: Column, values: Array, written: Written, beyond: NDArray[np.bool_]) -> Proposal:
    exact = ~beyond if np.unique(values[~beyond]).size > 2 else np.ones(values.size, dtype=bool)
    numbers = numbers_on_grid(values[exact], column.counts[exact].astype(np.float64))
    if np.abs(numbers.values).max() > LARGEST_MEASUREMENT:
        return leave_out("numbers too large to be modelled", "check the unit")
    if numbers.values.size == 2 and not beyond.any():
        levels = [column.texts[int(np.argmax(values == value))] for value in numbers.values]
        meant = {text: levels[int(value > values.min())] for text, value in zip(column.texts, values, strict=True)}
        others = {text: level for text, level in meant.items() if text not in levels}  # `1` and `1.0`
        return two_levels(column, levels).extended(synonyms=others)
    is_plain = not written.fields and len(column.texts) == numbers.values.size
    if is_plain and numbers.values.size <= _MOST_CODES and numbers.are_whole and is_called_nominal(column):
        return nominal_of(column, f"{numbers.values.size} codes without order, by the name of the column")
    low, top, n_levels = numbers.values[0], numbers.values[-1], numbers.values.size
    are_far = (top - low) / numbers.step >= _FAR_APART * n_levels and column.n_observed >= _ROWS_OF_A_CODE * n_levels
    are_far &= top < 2.0 * low or low >= _LONG_CODE  # doses of 81, 160 and 325 mg have a ratio
    if is_plain and n_levels <= MOST_LEVELS and numbers.are_whole and are_far:
        return nominal_of(column, f"{n_levels} codes: whole numbers far apart, and none between them")
    low, high = column.notes.minimum or 0.0, column.notes.maximum
    is_unscaled = high is None or low % 1 or high % 1 or not 2 <= high - low <= _LONGEST_SCALE or written.fields
    if high is not None and not is_unscaled and numbers.are_whole and low <= numbers.values[0] and top <= high:
        fields = choose_likelihood("scale", np.repeat(values - low, column.counts), trials=int(high - low))
        if low != 0:
            fields = {"likelihood": fields["likelihood"], "minimum": low, "maximum": high}
        return Proposal(fields, f"a scale {low:g} to {high:g}, as the file declares")
    is_longer = high is not None and high > top  # the file declares more steps than the values show
    kinds = kinds_of_numbers(numbers, may_be_scale=is_plain and not is_longer)
    shares = softmax([kind.score for kind in kinds])
    proposal, probability = _of_kind(kinds[0], column, values, numbers), float(shares[0])
    other = float(shares[1]) if len(kinds) > 1 else 0.0
    is_other_scale = kinds[0].name == "scale" and other <= probability * (1.0 - _ORDERED_CODES)
    probability *= _ORDERED_CODES if kinds[0].name == "scale" else 1.0
    otherwise = ""
    if probability < DOUBTFUL and is_other_scale:
        otherwise = "likelihood: categorical, if they have no order"
    elif probability < DOUBTFUL and len(kinds) > 1:
        second = _of_kind(kinds[1], column, values, numbers).fields
        otherwise = ", ".join(f"{name}: {value}" for name, value in second.items() if name != "levels")
    fields = {**proposal.fields}
    if not {"levels", "trials"} & set(fields):
        fields |= written.fields
        fields |= _bounds(column.notes, numbers, fields["likelihood"])
    found = replace(proposal, fields=fields, probability=probability, otherwise=otherwise)
    if not beyond.any():
        return found
    share, example = float(column.counts[beyond].sum() / column.n_observed), column.texts[int(np.argmax(beyond))]
    many = f"{share:.1%} of the values lie beyond a limit, such as {quote_cell(example)}"
    if share < _MUCH_BEYOND:
        return found.extended(f"{many}: the limit replaces them (`censored`)", censored="limit")
    ends = [end for end, sign in (("below", -1), ("above", 1)) if (written.beyond == sign).any()]
    return found.extended(reason=f"{many}, which is a part of its own", limit=ends)


def _of_kind(kind: Kind, column: Column, values: Array, numbers: Numbers) -> Proposal:
    if kind.name == "scale":
        order = np.argsort(values, kind="stable").tolist()
        return scale_of(column, [column.texts[place] for place in order], f"{len(order)} steps of a scale")
    if kind.name == "count":
        return Proposal(choose_likelihood("count", np.repeat(values, column.counts)), "counts")
    what = str(kind.fields["likelihood"])
    if "transform" in kind.fields:
        what = f"right-skewed, {what} on the log scale"
    if "spike" in kind.fields:
        spike = kind.fields["spike"]
        share = float(numbers.counts[numbers.values == spike].sum() / numbers.counts.sum())
        what = f"{what} but for {spike:g} in {share:.0%}, which is a part of its own"
    return Proposal(kind.fields, f"a measurement, {what}")


def _bounds(notes: ColumnNotes, numbers: Numbers, likelihood: str) -> dict[str, float]:
    """Return the bounds that the file declares, if the likelihood takes them and all values satisfy them."""
    takes, low, high = traits_of(likelihood).takes, notes.minimum, notes.maximum
    if low is not None and high is not None and low >= high:
        return {}
    bounds = {"minimum": low} if low is not None and np.isfinite(low) and low <= numbers.values[0] else {}
    bounds |= {"maximum": high} if high is not None and np.isfinite(high) and numbers.values[-1] <= high else {}
    return {name: bound for name, bound in bounds.items() if name in takes}


# The proposal for levels: as the file declares them, two that are no and yes, ordered, or without order.

_LONG_TEXT = 30
_UNORDERED_TEXTS = 0.9  # how often texts without known order have none, in tables of the field
_MOSTLY = 0.9
_NOMINAL = frozenset(data("roles")["nominal"]["words"])
_LETTERED = re.compile(r"[^\W\d_]+ ?[0-9.]+")


def proposal_of_texts(column: Column) -> Proposal:
    """Return the proposal for a column of texts."""
    synonyms = _one_spelling(column)
    texts = [text for text in column.texts if text not in synonyms]
    spellings = listed(f"{quote_cell(text)} is read as {quote_cell(synonyms[text])}" for text in sorted(synonyms))
    look = f"other spellings: {spellings}" if synonyms else ""
    if len(texts) == 1:
        return constant(column).extended(look)
    if len(texts) == 2:
        return two_levels(column, texts).extended(look, *_misspelt(column, texts), synonyms=synonyms)
    is_coded = all(without_number(text) != text or _LETTERED.fullmatch(text) for text in texts)
    order = None if is_coded and is_called_nominal(column) else order_of(texts)
    n_numbers = int(column.counts[np.isfinite(column.numbers)].sum())
    if len(texts) > MOST_LEVELS and 2 * n_numbers > column.n_observed:
        others = listed(map(quote_cell, compress(column.texts, ~np.isfinite(column.numbers))))
        return leave_out("numbers and other texts", LOOKS["among_numbers"].format(texts=others))
    if np.mean([TWO_NUMBERS.fullmatch(text) is not None for text in texts]) > _MOSTLY:
        return leave_out("two numbers in each cell", "give each of the two numbers a column of its own")
    if len(texts) > MOST_TEXTS or (column.n_observed < 2 * len(texts) and order is None):
        is_long = np.mean([len(text) for text in texts]) > _LONG_TEXT or np.mean([" " in text for text in texts]) > 0.5
        kind = "free text" if is_long else "too many different values for levels"
        return leave_out(f"{kind} ({len(texts)} different among {column.n_observed})")
    levels = [text for text in column.order if text in texts]
    if len(levels) == len(texts):
        found = scale_of(column, levels, "an ordered categorical of the table", synonyms)
    elif order is not None:
        found = scale_of(column, [texts[place] for place in order], f"{len(texts)} ordered levels", synonyms)
    else:
        found = nominal_of(column, f"{len(texts)} levels without known order", texts)
    return found.extended(look, *_misspelt(column, texts), synonyms=synonyms)


def _misspelt(column: Column, texts: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each rare level that may be a frequent one.

    `Hispannic` differs from Hispanic by a letter, and f is the only level that begins as `femal` does.
    """
    cells = dict(zip(column.texts, column.counts.tolist(), strict=True))
    for rare, often in permutations(texts, 2):
        if cells[rare] * _TIMES_OFTENER > cells[often] or any(map(str.isdigit, rare + often)):
            continue
        short, long = sorted((rare.casefold(), often.casefold()), key=len)
        blocks = SequenceMatcher(None, short, long, autojunk=False).get_matching_blocks()
        is_but_for_a_letter = len(short) >= _SHORTEST_WORD and sum(block.size for block in blocks) >= len(long) - 1
        alike = [text for text in texts if text.casefold()[0] == short[0] and cells[text] > cells[rare]]
        is_longer = long.startswith(short) and len(long) >= _SHORTEST_LONG and len(set(long)) > 1
        if is_but_for_a_letter or (is_longer and alike == [often]):
            shown = {"rare": quote_cell(rare), "often": quote_cell(often), "rare_text": rare, "often_text": often}
            yield LOOKS["misspelt"].format(n=cells[rare], s="s" * (cells[rare] > 1), **shown)


_TIMES_OFTENER, _SHORTEST_WORD, _SHORTEST_LONG = 10, 5, 3  # AB is no A, III no I


def is_called_nominal(column: Column) -> bool:
    """Return whether the name or label is one of codes without order, such as race and region."""
    return not _NOMINAL.isdisjoint(name_words(f"{column.name} {column.notes.label or ''}"))


def two_levels(column: Column, texts: list[str] | None = None) -> Proposal:
    """Return the proposal for two levels; by default those of the column."""
    pair = list(texts or column.texts)
    numbers = [number_of(text) for text in pair]
    levels = sorted(pair, key=number_of) if not np.isnan(numbers).any() else ordered_pair(pair)
    known = "" if no_before_yes(levels) else f", of which {quote_cell(levels[1])} counts as yes"
    fields = {} if levels == ["0", "1"] else {"levels": levels}
    return Proposal({"likelihood": Bernoulli.name, **fields}, f"two values{known}")


def scale_of(column: Column, levels: list[str], what: str, synonyms: dict[str, str] | None = None) -> Proposal:
    """Return the proposal for levels from low to high, which other texts may mean too."""
    place = {level: float(score) for score, level in enumerate(levels)}
    place |= {text: place[level] for text, level in (synonyms or {}).items()}
    scores = np.repeat([place[text] for text in column.texts], column.counts)
    is_from_0 = levels == [str(step) for step in range(len(levels))]
    steps: dict[str, Any] = {"trials": len(levels) - 1} if is_from_0 else {"levels": levels}
    return Proposal(choose_likelihood("scale", scores, **steps), what)


def nominal_of(column: Column, what: str, texts: list[str] | None = None) -> Proposal:
    """Return levels without order, in the order of the table."""
    in_table = [column.texts[code] for code in pd.unique(column.codes) if code >= 0]
    levels = in_table if texts is None else [text for text in in_table if text in texts]
    otherwise = "likelihood: ordinal, with its levels from low to high" if len(levels) <= 7 else ""
    return Proposal({"likelihood": Categorical.name, "levels": levels}, what, _UNORDERED_TEXTS, otherwise)


def _one_spelling(column: Column) -> dict[str, str]:
    """Return the most frequent spelling for each text that differs from another in case and inner white space only.

    Where several texts all mean no or yes, they are two.
    """
    by_count = sorted(zip(column.texts, column.counts.tolist(), strict=True), key=lambda pair: -pair[1])
    first: dict[str, str] = {}
    meant = {}
    for text, _ in by_count:
        seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")  # none that nobody sees
        target = first.setdefault(" ".join(seen.casefold().split()).rstrip("."), text)
        if target != text:
            meant[text] = target
    left = [text for text, _ in by_count if text not in meant]
    if 2 < len(left) <= 8:
        pairs = [*data("answers")["pairs"], data("answers")["sexes"]]
        for no, yes in ([meaning(words, left) for words in pair] for pair in pairs):
            # N, S and Y of an oedema are no answers in two languages: letters alone are of one.
            is_mixed = any(len({text.casefold() for text in side if len(text) == 1}) > 1 for side in (no, yes))
            if no and yes and len(no) + len(yes) == len(left) and not is_mixed:
                answers = dict.fromkeys(no[1:], no[0]) | dict.fromkeys(yes[1:], yes[0])
                return {text: answers.get(target, target) for text, target in meant.items()} | answers
    return meant


# The proposal for one column, from notes and values, and the columns whose schema contradicts it.

_MOST_STRANGERS = 5  # values that no choice names, beyond which the choices do not describe the column


def _name_levels(notes: ColumnNotes) -> tuple[list[str], list[str], list[str]]:
    """Return the codes and labels of the levels that a file lists, and what they are called in the schema."""
    codes = [code for code, _ in notes.levels]
    labels = [plain_text(label) or code for code, label in notes.levels]
    labels = [code if label in notes.missing_codes else label for code, label in zip(codes, labels, strict=True)]
    pairs = list(zip(codes, labels, strict=True))
    texts = [f"{label} ({code})" if labels.count(label) > 1 else label for code, label in pairs]
    is_ambiguous = any(text in codes and text != code for text, code in zip(texts, codes, strict=True))
    return codes, labels, list(codes) if is_ambiguous or len(set(texts)) < len(texts) else texts


def _match_texts(column: Column, *names: list[str]) -> tuple[dict[str, int], list[str]]:
    """Return which level each text of a column means, by its place, and the texts that mean none.

    `names` are codes, labels and texts of the levels. A text means the level of its code, its label, its number, or of
    either in any case, the surest first; of a question of yes and no, also a word for either.
    """
    codes, labels, _ = names
    place_of: dict[object, int] = {}
    for of_levels in (*names, map(number_of, codes), *(map(str.casefold, of) for of in names)):
        for level, name in enumerate(of_levels):
            place_of.setdefault(name, level)
    is_yes_no = column.notes.kind == "yes/no" and len(codes) == 2
    no, yes = (no_before_yes(labels) if is_yes_no else None) or (0, 1)
    meant, others = dict[str, int](), list[str]()
    for text in column.texts:
        number = number_of(text)
        forms = (text, None if math.isnan(number) else number, plain_text(text).casefold(), text.casefold())
        place: int | None = next((place_of[form] for form in forms if form in place_of), None)
        if place is None and is_yes_no:
            place = no if no_before_yes([text, "yes"]) else yes if no_before_yes(["no", text]) else None
        if place is None:
            others.append(text)
        else:
            meant[text] = place
    return meant, others


def _by_noted_levels(column: Column) -> Proposal:
    """Return the proposal for a column, without its missing codes, by the values that the file lists.

    A value that the file does not list becomes a level, and a column that contradicts the list is drafted by its
    values. Levels are called by their labels, or by their codes if a label is the code of another level.
    """
    notes = column.notes
    codes, labels, texts = _name_levels(notes)
    n_listed, (meant, others) = len(codes), _match_texts(column, codes, labels, texts)
    unsaid = [text for text in others if means_missing(text)]
    strangers = [text for text in others if text not in unsaid]
    left, reason = column.without(set(unsaid)), ""
    numbers = np.array([number_of(code) for code in (*codes, *strangers)])
    holds_numbers = np.isfinite(numbers[n_listed:]).all()
    if len(strangers) > n_listed and (holds_numbers or len(strangers) > _MOST_STRANGERS):
        found = _by_values(left).with_missing_codes(unsaid)
        return replace(found, reason=joined(f"but {len(strangers)} other values are in the column", found.reason))
    if unsaid:
        reason = f"{listed(map(quote_cell, unsaid))} taken for missing"
    order = order_of(labels)
    are_numbered = bool(np.isfinite(numbers[:n_listed]).all())
    is_graded = notes.kind == ORDERED or (are_numbered and 2 * sum(map(str.__eq__, labels, codes)) >= n_listed)
    if order is None and is_graded and n_listed > 1:
        order = np.argsort(numbers, kind="stable").tolist() if are_numbered else list(range(n_listed))
        order = [place for place in order if place < n_listed]
    if order is not None and strangers:
        by_number = np.argsort(numbers, kind="stable").tolist()
        is_rising = [place for place in by_number if place < n_listed] == order
        order = by_number if is_rising and np.isfinite(numbers).all() else None
    for names in (codes, labels, texts):
        names += strangers
    meant |= {text: place for place, text in enumerate(strangers, start=n_listed)}
    places: Sequence[int] = order or range(len(codes))
    if len(places) > MOST_TEXTS:
        reason = joined(reason, f"only those of its {len(places)} levels that the column holds are listed")
        places = [place for place in places if place in meant.values()]
    if len(places) > MOST_TEXTS:
        return leave_out(joined(reason, "too many different values for levels"))
    if strangers:
        shown = listed(map(quote_cell, strangers))
        reason = joined(reason, f"{shown} not among its choices, added as a level (or list it under missing_codes)")
    if len(places) == 2:
        pair = [labels[place] for place in places], [codes[place] for place in places]
        is_known = no_before_yes(pair[0]) is not None
        if not order and (turned := no_before_yes(pair[0]) or no_before_yes(pair[1])):
            places = [places[at] for at in turned]
        if not is_known:
            yes_text = quote_cell(texts[places[1]])
            reason = joined(reason, f"{yes_text} counts as yes (swap the levels to change that)")
    levels = [texts[place] for place in places]
    synonyms = {codes[place]: texts[place] for place in places} | {
        text: texts[place] for text, place in meant.items() if place in places
    }
    fields: dict[str, Any] = {"likelihood": Bernoulli.name if len(levels) == 2 else Categorical.name, "levels": levels}
    fields["synonyms"] = {other: text for other, text in synonyms.items() if other and other not in levels}
    meanings = [f"{texts[at]} = {labels[at]}" for at in places if texts[at] == codes[at] != labels[at]]
    fields["description"] = "; ".join(meanings)
    if order and len(levels) > 2:
        fields["likelihood"] = scale_of(left, levels, "", fields["synonyms"]).fields["likelihood"]
    return Proposal({name: value for name, value in fields.items() if value}, reason).with_missing_codes(unsaid)


_COMPUTE = "compute what matters from them, such as a duration in years"


def proposed(column: Column) -> Proposal:
    """Return the proposal for a column, by what its file says of it and by its values."""
    if column.is_wanted:  # whatever its name or its file says
        kind = column.notes.kind if column.notes.kind not in ("date", "text", "id") else None
        column = replace(column, notes=replace(column.notes, role=None, kind=kind, reason=None))
    if column.notes == ColumnNotes():
        return _by_values(column)
    notes, looks = _without_missing_labels(column.notes)
    codes = {text for text in column.texts if _is_code(text, notes.missing_codes)}
    found = _as_noted(replace(column.without(codes), notes=notes)).extended(*looks)
    if notes.missing_codes:
        found = found.with_missing_codes([*notes.missing_codes, *sorted(codes)])
    is_left_out = found.fields.get("role") in ("id", "ignore")
    texts = FOR_READERS if is_left_out else (*FOR_READERS, "unit", "block")
    about = {name: text for name in texts if (text := getattr(notes, name)) is not None and text.strip()}
    role = {} if is_left_out or notes.role is None else {"role": notes.role}
    reason = notes.reason or (f"the file says: {notes.kind}" if notes.kind else "")
    return replace(found, fields=about | found.fields | role, reason=joined(reason, found.reason))


def _as_noted(column: Column) -> Proposal:
    notes = column.notes
    if notes.role == "ignore" or notes.kind in ("date", "text"):
        return leave_out(f"dates: {_COMPUTE}" if notes.kind == "date" else "")
    if notes.kind == "id":
        if len(column.texts) == column.n_observed == column.codes.size:
            return Proposal({"role": "id"})
        several = "but subjects have several rows: choose one for each, and give role: id; until then it is left out"
        return leave_out(several)
    if len(column.texts) < 2:
        return constant(column)
    if notes.levels:
        return _by_noted_levels(column)
    if notes.kind == "number" and not identifies_rows(column):
        found = proposal_of_numbers(column, written_numbers(column))
        return found if found is not None else _by_values(column)
    if notes.kind == "yes/no" and len(column.texts) == 2:
        return two_levels(column)
    if notes.kind == ORDERED and 2 < len(column.texts) <= MOST_TEXTS:
        are_numbers = np.isfinite(column.numbers).all()
        order = order_of(column.texts) or (np.argsort(column.numbers, kind="stable").tolist() if are_numbers else None)
        if order is not None:
            return scale_of(column, [column.texts[place] for place in order], "its levels have an order")
        return _by_values(column).extended(reason="but not the order of its values; drafted by its values")
    # SPSS calls measurements nominal too: fractions, or more whole numbers than codes have, are no levels.
    are_codes = not np.isfinite(column.numbers).all() or (
        len(column.texts) <= MOST_LEVELS and (column.numbers % 1 == 0).all()
    )
    is_nominal = notes.kind == "nominal" and are_codes and column.n_observed >= 2 * len(column.texts)
    if is_nominal and 2 < len(column.texts) <= MOST_TEXTS:
        words = missing_words(column)
        return nominal_of(column.without(words), "levels without order").with_missing_codes(sorted(words))
    return _by_values(column)


def _without_missing_labels(notes: ColumnNotes) -> tuple[ColumnNotes, list[str]]:
    """Return notes of which labels that mean a missing value are missing codes, and what to look at."""
    codes = [code.strip() for code in notes.missing_codes if code.strip()]
    levels: dict[str, str] = {}
    for code, label in notes.levels:
        if code.strip() and not _is_code(code.strip(), codes):
            levels.setdefault(code.strip(), label)
    sound, missing = divided(list(levels.items()))
    short = [level for level in sound if may_mean_missing(level[1])]
    if len(sound) - len(short) == 1:  # `ref` with `alt` is an allele
        short = []
    codes += [code for code, _ in (*missing, *short)]
    left = tuple(level for level in sound if level not in short)
    labels = listed(quote_cell(label) for _, label in short)
    looks = [f"{labels}: taken for missing by the label; levels if they are answers"] if short else []
    return replace(notes, missing_codes=tuple(dict.fromkeys(codes)), levels=left), looks


def _is_code(text: str, codes: Sequence[str]) -> bool:
    """Return whether a text is one of the codes, or another way to write the number of one: ``-9.0`` for ``-9``."""
    number = number_of(text)
    return text in codes or (not np.isnan(number) and any(number_of(code) == number for code in codes))


def _by_values(column: Column) -> Proposal:
    """Return the proposal for a column by its values alone; one that is wanted is neither date nor identifier."""
    words = missing_words(column)
    left = column.without(words)
    if len(left.texts) < 2:
        return constant(left)
    if not column.is_wanted and (dates := dates_in(left)):
        return leave_out(f"{dates}: {_COMPUTE}")
    if len(left.order) > 2 and set(left.texts) <= set(left.order):
        return proposal_of_texts(left)
    written = written_numbers(left)
    has_marks = written is not None and bool(written.fields or written.fault)
    if not has_marks and not column.is_wanted and identifies_rows(left):
        is_whole = len(left.texts) == column.codes.size
        lacks = "" if is_whole else "; rows without an identifier of their own: give each one, and role: id"
        return Proposal({"role": "id" if is_whole else "ignore"}, f"every row has a value of its own{lacks}")
    found = proposal_of_numbers(left, written) or proposal_of_texts(left)
    found = found.extended(dates_among_others(left))
    if not words or "likelihood" not in found.fields:
        return found
    codes = sorted(words)
    return found.with_missing_codes(codes).extended(reason=f"{listed(map(quote_cell, codes))} taken for missing")


_SURE = 0.95


def looks_of(table: pd.DataFrame, schema: FeatureSchema) -> list[Look]:
    """Return the clustered features of a table, as it was read, that their values show to be of another kind.

    What the draft of a column by its values is sure of, and the schema contradicts, deserves a look.
    """
    looks: list[Look] = []
    for feature in schema.clustered:
        if feature.name not in table:
            continue
        column = column_of(feature.name, table[feature.name], ColumnNotes())
        with np.errstate(all="ignore"):
            draft = proposed(column.without(set(schema.missing_codes_of(feature))))
        if "likelihood" not in draft.fields:
            continue
        drafted, declared = traits_of(draft.fields["likelihood"]), feature.traits
        suspected = ", ".join(draft.fields.get("missing_codes", ()))
        if suspected and feature.levels is None:
            looks.append(Look((feature.name,), f"{suspected} may mean missing values", f"missing_codes: [{suspected}]"))
        kinds = (declared.is_continuous, declared.is_count), (drafted.is_continuous, drafted.is_count)
        if feature.levels is None and not declared.is_scale and kinds[0] != kinds[1] and draft.probability >= _SURE:
            repair = ", ".join(f"{name}: {value}" for name, value in draft.fields.items() if name != "missing_codes")
            looks.append(Look((feature.name,), f"by its values it is {draft.reason}", repair))
        elif "spike" in draft.fields and declared.is_continuous and not feature.spike:
            looks.append(Look((feature.name,), draft.reason, f"spike: {draft.fields['spike']:g}"))
    return looks
