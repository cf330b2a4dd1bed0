"""Draft the schema of a table: a proposal for each column, what columns tell of each other, and partitions."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from itertools import compress, permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import softmax

from clinclust.arguments import TABLE, in_pandas, is_numbered, is_partitioned
from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import (
    DOUBTFUL,
    FOR_READERS,
    LOOKS,
    MOST_LEVELS,
    MOST_TEXTS,
    TWO_NUMBERS,
    Column,
    DraftedColumn,
    Look,
    Proposal,
    Written,
    codes_of_table,
    column_of,
    constant,
    dates_among_others,
    dates_in,
    identifies_rows,
    joined,
    leave_out,
    missing_numbers,
    missing_words,
    without_number,
)
from clinclust.drafting.levels import (
    Kind,
    Numbers,
    choose_likelihood,
    kinds_of_numbers,
    meaning,
    no_before_yes,
    numbers_on_grid,
    order_of,
    ordered_pair,
)
from clinclust.drafting.redundancy import applied, redundancies
from clinclust.drafting.roles import assign_roles, rise_together
from clinclust.errors import CohortError, SchemaError, warn
from clinclust.files.cell_text import listed, number_of, numbers_of, quote_cell, shortened
from clinclust.files.dictionaries import notes_without_dictionary
from clinclust.files.notation import Marks, divided, marks_of, may_mean_missing, means_missing, name_words, plain_text
from clinclust.files.row_choice import drawn, rows_taken
from clinclust.files.text_table import ORDERED, ColumnNotes, notes_of, refuse_many_columns
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.likelihood import LARGEST_MEASUREMENT
from clinclust.progress import Progress
from clinclust.roles import NEEDS_LIKELIHOOD
from clinclust.schema import validation
from clinclust.schema.feature import SENTENCES, Feature
from clinclust.schema.feature_schema import FeatureSchema, role_problems
from clinclust.schema.reading import block_key

# The proposal for numbers: a scale, counts or a measurement, and how values beyond a limit are declared.

_MOST_CODES, _LONGEST_SCALE = 30, 10
_FAR_APART, _ROWS_OF_A_CODE, _LONG_CODE = 20.0, 10.0, 1_000.0  # of the morphologies 8140, 8500, 8520 in 400 rows
_ORDERED_CODES = 0.88  # how often whole numbers that code a few levels are ordered, in tables of the field
_MUCH_BEYOND = 0.05  # share beyond a limit from which on it is a part of the feature, whether a value was found


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
    left, values = column.without({*odd, *coded}), written.numbers[is_left]
    if np.unique(values).size < 2:
        return constant(left)
    found = _of_values(left, values, written, beyond[is_left])
    return found.with_missing_codes([*odd, *coded]).extended(*written.looks, *looks)


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
        return _two_levels(column, levels).extended(synonyms=others)
    is_plain = not written.fields and len(column.texts) == n_levels
    if is_plain and numbers.are_whole:
        if n_levels <= _MOST_CODES and _is_called_nominal(column):
            return _nominal_of(column, f"{n_levels} codes without order, by the name of the column")
        are_far = (top - low) / numbers.step >= _FAR_APART * n_levels and n_levels <= MOST_LEVELS
        are_far &= top < 2.0 * low or low >= _LONG_CODE  # doses of 81, 160 and 325 mg have a ratio
        if are_far and column.n_observed >= _ROWS_OF_A_CODE * n_levels:
            return _nominal_of(column, f"{n_levels} codes: whole numbers far apart, and none between them")
    least, most = column.notes.minimum or 0.0, column.notes.maximum
    is_scale = most is not None and least % 1 == most % 1 == 0 and 2 <= most - least <= _LONGEST_SCALE
    if is_scale and most is not None and numbers.are_whole and least <= low and top <= most and not written.fields:
        fields = choose_likelihood("scale", np.repeat(values - least, column.counts), trials=int(most - least))
        if least != 0:
            fields = {"likelihood": fields["likelihood"], "minimum": least, "maximum": most}
        return Proposal(fields, f"a scale {least:g} to {most:g}, as the file declares")
    is_longer = most is not None and most > top  # the file declares more steps than the values show
    kinds = kinds_of_numbers(numbers, may_be_scale=is_plain and not is_longer)
    shares = softmax([kind.score for kind in kinds])
    found, probability, otherwise = _of_kind(kinds[0], column, values, numbers), float(shares[0]), ""
    other = float(shares[1]) if len(kinds) > 1 else 0.0
    is_other_scale = kinds[0].name == "scale" and other <= probability * (1.0 - _ORDERED_CODES)
    probability *= _ORDERED_CODES if kinds[0].name == "scale" else 1.0
    if probability < DOUBTFUL and is_other_scale:
        otherwise = "likelihood: categorical, if they have no order"
    elif probability < DOUBTFUL and len(kinds) > 1:
        second = _of_kind(kinds[1], column, values, numbers).fields
        otherwise = ", ".join(f"{name}: {value}" for name, value in second.items() if name != "levels")
    fields = {**found.fields}
    if not {"levels", "trials"} & set(fields):
        fields |= written.fields
        takes, declared = traits_of(fields["likelihood"]).takes, column.notes.minimum
        if declared is not None and "minimum" in takes and -math.inf < declared <= low:
            fields["minimum"] = declared
        if most is not None and "maximum" in takes and top <= most < math.inf:
            fields["maximum"] = most
    found = replace(found, fields=fields, probability=probability, otherwise=otherwise)
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
        return _scale_of(column, [column.texts[place] for place in order], f"{len(order)} steps of a scale")
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


# The proposal for levels: as the file declares them, two that are no and yes, ordered, or without order.

_LONG_TEXT = 30
_UNORDERED_TEXTS = 0.9  # how often texts without known order have none, in tables of the field
_MOSTLY = 0.9
_NOMINAL = frozenset(data("roles")["nominal"]["words"])
_LETTERED = re.compile(r"[^\W\d_]+ ?[0-9.]+")
_TIMES_OFTENER, _SHORTEST_WORD, _SHORTEST_LONG = 10, 5, 3  # AB is no A, III no I


def propose_levels(column: Column) -> Proposal:
    """Propose two levels, ordered ones, or levels without an order; leave out texts of many different values."""
    synonyms = _one_spelling(column)
    texts = [text for text in column.texts if text not in synonyms]
    spellings = listed(f"{quote_cell(text)} is read as {quote_cell(synonyms[text])}" for text in sorted(synonyms))
    look = f"other spellings: {spellings}" if synonyms else ""
    if len(texts) == 1:
        return constant(column).extended(look)
    if len(texts) == 2:
        return _two_levels(column, texts).extended(look, *_misspelt(column, texts), synonyms=synonyms)
    is_coded = all(without_number(text) != text or _LETTERED.fullmatch(text) for text in texts)
    order = None if is_coded and _is_called_nominal(column) else order_of(texts)
    is_number = np.isfinite(column.numbers)
    if len(texts) > MOST_LEVELS and 2 * column.counts[is_number].sum() > column.n_observed:
        others = listed(map(quote_cell, compress(column.texts, ~is_number)))
        return leave_out("numbers and other texts", LOOKS["among_numbers"].format(texts=others))
    if np.mean([TWO_NUMBERS.fullmatch(text) is not None for text in texts]) > _MOSTLY:
        return leave_out("two numbers in each cell", "give each of the two numbers a column of its own")
    if len(texts) > MOST_TEXTS or (column.n_observed < 2 * len(texts) and order is None):
        is_long = np.mean([len(text) for text in texts]) > _LONG_TEXT or np.mean([" " in text for text in texts]) > 0.5
        kind = "free text" if is_long else "too many different values for levels"
        return leave_out(f"{kind} ({len(texts)} different among {column.n_observed})")
    levels = [text for text in column.order if text in texts]
    if len(levels) == len(texts):
        found = _scale_of(column, levels, "an ordered categorical of the table", synonyms)
    elif order is not None:
        found = _scale_of(column, [texts[place] for place in order], f"{len(texts)} ordered levels", synonyms)
    else:
        found = _nominal_of(column, f"{len(texts)} levels without known order", texts)
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


def _is_called_nominal(column: Column) -> bool:
    """Return whether the name or label is one of codes without order, such as race and region."""
    return not _NOMINAL.isdisjoint(name_words(f"{column.name} {column.notes.label or ''}"))


def _two_levels(column: Column, texts: list[str] | None = None) -> Proposal:
    """Return the proposal for two levels; by default those of the column."""
    pair = list(texts or column.texts)
    numbers = [number_of(text) for text in pair]
    levels = sorted(pair, key=number_of) if not np.isnan(numbers).any() else ordered_pair(pair)
    known = "" if no_before_yes(levels) else f", of which {quote_cell(levels[1])} counts as yes"
    fields = {} if levels == ["0", "1"] else {"levels": levels}
    return Proposal({"likelihood": Bernoulli.name, **fields}, f"two values{known}")


def _scale_of(column: Column, levels: list[str], what: str, synonyms: Mapping[str, str] | None = None) -> Proposal:
    """Return the proposal for levels from low to high, which other texts may mean too."""
    place = {level: float(score) for score, level in enumerate(levels)}
    place |= {text: place[level] for text, level in (synonyms or {}).items()}
    scores = np.repeat([place[text] for text in column.texts], column.counts)
    is_from_0 = levels == [str(step) for step in range(len(levels))]
    steps: dict[str, Any] = {"trials": len(levels) - 1} if is_from_0 else {"levels": levels}
    return Proposal(choose_likelihood("scale", scores, **steps), what)


def _nominal_of(column: Column, what: str, texts: list[str] | None = None) -> Proposal:
    """Return levels without order, in the order of the table."""
    in_table = [column.texts[code] for code in pd.unique(column.codes) if code >= 0]
    levels = in_table if texts is None else [text for text in in_table if text in texts]
    otherwise = "likelihood: ordinal, with its levels from low to high" if len(levels) <= 7 else ""
    return Proposal({"likelihood": Categorical.name, "levels": levels}, what, _UNORDERED_TEXTS, otherwise)


def _one_spelling(column: Column) -> dict[str, str]:
    """Return the most frequent spelling for each text that differs from another in case and inner white space only.

    Where several texts all mean no or yes, they are two.
    """
    first, meant, left = dict[str, str](), dict[str, str](), list[str]()
    for place in np.argsort(-column.counts, kind="stable"):
        text = column.texts[place]
        seen = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")  # none that nobody sees
        target = first.setdefault(" ".join(seen.casefold().split()).rstrip("."), text)
        if target == text:
            left.append(text)
        else:
            meant[text] = target
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


def _by_noted_levels(column: Column) -> Proposal:
    """Return the proposal for a column, without its missing codes, by the values that the file lists.

    A cell means the level of its code, its label, its number, or of either in any case, the surest first. Other values
    become levels, unless they are more than the listed ones. Levels are called by their labels, or by their codes if
    two labels are the same or one is the code of another level.
    """
    notes = column.notes
    codes = [code for code, _ in notes.levels]
    labels = [plain_text(label) or code for code, label in notes.levels]
    labels = [code if label in notes.missing_codes else label for code, label in zip(codes, labels, strict=True)]
    place_of: dict[object, int] = {}
    for names in (codes, labels, map(number_of, codes), map(str.casefold, codes), map(str.casefold, labels)):
        for place, name in enumerate(names):
            place_of.setdefault(name, place)
    meant, others = dict[str, int](), list[str]()
    for text in column.texts:
        number = number_of(text)
        forms = (text, None if math.isnan(number) else number, plain_text(text).casefold(), text.casefold())
        known = [place_of[form] for form in forms if form in place_of]
        meant |= {text: known[0]} if known else {}
        others += [] if known else [text]
    unsaid = [text for text in others if means_missing(text)]
    strangers = [text for text in others if text not in unsaid]
    left = column.without(set(unsaid))
    if len(strangers) > len(codes):
        found = _by_values(left).with_missing_codes(unsaid)
        return replace(found, reason=joined(f"but {len(strangers)} other values are in the column", found.reason))
    reason = f"{listed(map(quote_cell, unsaid))} taken for missing" if unsaid else ""
    if strangers:
        shown = listed(map(quote_cell, strangers))
        reason = joined(reason, f"{shown} not among its choices, added as a level (or list it under missing_codes)")
    order, n_listed = order_of(labels), len(codes)
    numbers = numbers_of([*codes, *strangers])
    by_number: list[int] = np.argsort(numbers, kind="stable").tolist()
    of_listed = [place for place in by_number if place < n_listed]
    are_numbered = bool(np.isfinite(numbers[:n_listed]).all())
    is_graded = notes.kind == ORDERED or (are_numbered and 2 * sum(map(str.__eq__, labels, codes)) >= n_listed)
    if order is None and is_graded and n_listed > 1:
        order = of_listed if are_numbered else list(range(n_listed))
    if order is not None and strangers:
        order = by_number if of_listed == order and np.isfinite(numbers).all() else None
    codes, labels = [*codes, *strangers], [*labels, *strangers]
    meant |= {text: place for place, text in enumerate(strangers, start=n_listed)}
    is_ambiguous = any(label in codes and label != code for code, label in zip(codes, labels, strict=True))
    texts = codes if is_ambiguous or len(set(labels)) < len(labels) else labels
    places: Sequence[int] = order or range(len(codes))
    if len(places) > MOST_TEXTS:  # those that the column holds
        places = [place for place in places if place in meant.values()]
    if len(places) > MOST_TEXTS:
        return leave_out(joined(reason, "too many different values for levels"))
    if len(places) == 2:
        labels_of, codes_of = [labels[place] for place in places], [codes[place] for place in places]
        if not order and (turned := no_before_yes(labels_of) or no_before_yes(codes_of)):
            places = [places[at] for at in turned]
        if no_before_yes(labels_of) is None:
            yes_text = quote_cell(texts[places[1]])
            reason = joined(reason, f"{yes_text} counts as yes (swap the levels to change that)")
    levels = [texts[place] for place in places]
    synonyms = {codes[place]: texts[place] for place in places}
    synonyms |= {text: texts[place] for text, place in meant.items() if place in places}
    fields: dict[str, Any] = {"likelihood": Bernoulli.name if len(levels) == 2 else Categorical.name, "levels": levels}
    fields["synonyms"] = {other: text for other, text in synonyms.items() if other and other not in levels}
    fields["description"] = "; ".join(f"{codes[at]} = {labels[at]}" for at in places if texts[at] != labels[at])
    if order and len(levels) > 2:
        fields["likelihood"] = _scale_of(left, levels, "", fields["synonyms"]).fields["likelihood"]
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
        return leave_out("but subjects have several rows: choose one for each, and give role: id")
    if notes.levels and len(column.texts) > 1:
        return _by_noted_levels(column)
    if notes.kind == ORDERED and 2 < len(column.texts) <= MOST_TEXTS:
        are_numbers = np.isfinite(column.numbers).all()
        order = order_of(column.texts) or (np.argsort(column.numbers, kind="stable").tolist() if are_numbers else None)
        if order is not None:
            return _scale_of(column, [column.texts[place] for place in order], "its levels have an order")
        return _by_values(column).extended(reason="but not the order of its values; drafted by its values")
    # SPSS calls measurements nominal too: fractions, or more whole numbers than codes have, are no levels.
    are_codes = not np.isfinite(column.numbers).all() or (column.are_codes and len(column.texts) <= MOST_LEVELS)
    is_nominal = notes.kind == "nominal" and are_codes and column.n_observed >= 2 * len(column.texts)
    if is_nominal and 2 < len(column.texts) <= MOST_TEXTS:
        words = missing_words(column)
        return _nominal_of(column.without(words), "levels without order").with_missing_codes(sorted(words))
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


def leave_out_one_value(column: Column) -> Proposal | None:
    """Leave out a column that does not vary."""
    return constant(column) if len(column.texts) < 2 else None


def leave_out_dates(column: Column) -> Proposal | None:
    """Leave out dates and times, which are no measurements; what is wanted is no date."""
    what = "" if column.is_wanted else dates_in(column)
    return leave_out(f"{what}: {_COMPUTE}") if what else None


def propose_table_order(column: Column) -> Proposal | None:
    """Propose the levels of an ordered categorical of pandas, whatever they write."""
    return propose_levels(column) if len(column.order) > 2 and set(column.texts) <= set(column.order) else None


def propose_identifier(column: Column) -> Proposal | None:
    """Propose the identifier of the rows, unless it is wanted or has units or marks."""
    has_marks = column.written is not None and bool(column.written.fields or column.written.fault)
    if has_marks or column.is_wanted or not identifies_rows(column):
        return None
    is_whole = len(column.texts) == column.codes.size
    lacks = "" if is_whole else "; rows without an identifier of their own: give each one, and role: id"
    return Proposal({"role": "id" if is_whole else "ignore"}, f"every row has a value of its own{lacks}")


Kinds = tuple[Callable[[Column], Proposal | None], ...]
KINDS: Kinds = (
    leave_out_one_value,
    leave_out_dates,
    propose_table_order,
    propose_identifier,
    propose_numbers,
    propose_levels,
)
"""In this order; each looks at a column without its words for missing values, and the first proposal is taken."""


def _by_values(column: Column) -> Proposal:
    """Return the proposal for a column by its values alone."""
    words = sorted(missing_words(column))
    left = column.without(set(words))
    found = next(proposal for kind in KINDS if (proposal := kind(left)) is not None)
    found = found.extended(dates_among_others(left))
    if not words or "likelihood" not in found.fields:
        return found
    return found.with_missing_codes(words).extended(reason=f"{listed(map(quote_cell, words))} taken for missing")


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


# Propose a feature schema for a table, with a reason for each feature.


def with_wanted_roles(schema: FeatureSchema, frame: pd.DataFrame, roles: Mapping[str, str]) -> FeatureSchema:
    """Return the schema with these roles by name.

    A feature that needs a likelihood for its role and has none is drafted by the values of its column alone; its
    comment says so. SchemaError lists the unknown names and roles, and the columns whose values give no likelihood.
    """
    problems = role_problems(roles, schema.names)
    notes, drafts, comments = notes_of(frame), dict[str, Feature](), dict(schema.comments)
    for feature in schema:
        name, role = feature.name, roles.get(feature.name, feature.role)
        if role in NEEDS_LIKELIHOOD and feature.likelihood is None and name in frame:
            column = column_of(name, frame[name], notes.get(name, ColumnNotes()))
            with np.errstate(all="ignore"):
                drafted = proposed(replace(column.without(set(schema.missing_codes_of(feature))), is_wanted=True))
            if "likelihood" in drafted.fields:
                drafts[name] = Feature(**{**feature.content(), **drafted.fields, "name": name, "role": role})
                comments[name] = f"drafted by its values; {drafted.comment()}"
            else:
                lacks = f"role {role} needs a likelihood, and its values give none ({drafted.reason})"
                problems.append(f"{shortened(name)}: {lacks}: {SENTENCES['likelihood']}")
    if problems:
        raise SchemaError(problems)
    changed = schema.with_changed(drafts.get(feature.name, feature) for feature in schema)
    changed.comments.update(comments)
    return changed.with_roles(roles)


_MOST_COLUMNS = 5_000
"""Columns are compared in pairs: with 200 rows, 2,000 take 25 CPU seconds; 5,000 take 90, and 2.5 GB."""


def draft_schema(
    frame: pd.DataFrame, *, roles: Mapping[str, str] | None = None, progress: bool = True
) -> FeatureSchema:
    """Propose a schema for a table, as a starting point to read and correct. The table is valid under it.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        One row per subject, as text (from `read_cohort`) or typed. A Dask DataFrame is drafted from a sample of about
        50,000 rows with all levels; rows that the draft refuses are a CohortWarning.
    roles : mapping of str to str, optional
        Roles of columns by name, as ``{"trt": "cluster"}``. A column that is to be clustered on or described has the
        likelihood that its values show, whatever its name says.
    progress : bool
        Whether stages that take longer than a second are reported, as by `MAPDP`.

    Returns
    -------
    FeatureSchema
        One feature per column, in the order of the table. The attribute `comments` holds the reason for each, which
        `to_yaml` writes above the feature; where another kind is nearly as probable, it says which. Columns that
        repeat others form a `block`, or are not clustered on; identifiers, arms, outcomes, times and sites do not
        form subtypes, and their roles say why. What the file says of its columns (``frame.attrs["column_notes"]``,
        from `read_cohort`) comes before what the values show. `rows` says which rows `read_cohort` took.

    Raises
    ------
    TypeError
        If `frame` is not a DataFrame.
    CohortError
        If the table has no rows or no columns, or if a column name is empty, repeated or not text.
    InputError
        If the table has more than 5,000 columns.
    SchemaError
        If `roles` has an unknown name or role, or if no likelihood fits the values of a column that needs one.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> gait = np.random.default_rng(0).normal(1.1, 0.2, 100)
    >>> schema = cc.draft_schema(pd.DataFrame({"sex": ["f", "m"] * 50, "gait": gait}))
    >>> [(feature.name, feature.likelihood) for feature in schema.features]
    [('sex', 'bernoulli'), ('gait', 'gaussian')]
    >>> schema.comments["sex"]
    "two values, of which 'm' counts as yes"
    """
    if is_partitioned(frame):
        of_rows = partial(draft_schema, roles=roles, progress=progress)
        schema, _, refused = draft_of_partitions(frame, of_rows, progress=progress)
        if refused is not None:
            warn(f"the draft needs an edit: {refused}")
        return schema
    frame = in_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be {TABLE}, not {type(frame).__name__}")
    if is_numbered(frame):
        frame = frame.set_axis([f"x{place}" for place in range(frame.shape[1])], axis="columns")
    validation.refuse_unusable(frame)
    faults = [("the table", "at least one column; it has none", "Check how the file was read.")] * frame.columns.empty
    for name, n in frame.columns.value_counts(sort=False).items():
        if not isinstance(name, str) or not name.strip():
            repair = "Give it a name of letters in the first row of the table."
            faults.append((str(name), "a column name that is text", repair))
        elif n > 1:
            faults.append((name, "one column of this name", "Rename or drop all but one of them."))
    validation.refuse_faults(faults)
    refuse_many_columns(frame.shape[1], _MOST_COLUMNS, "drafted")
    roles = dict(roles or {})
    if problems := role_problems(roles, frame.columns):
        raise SchemaError(problems)
    stages = Progress(bool(progress))
    drafted = _draft_columns(frame, stages)
    with stages.stage("comparing columns"):
        blocks: dict[str, str] = {}  # a file may write the name of a block in several ways: `RR` and `rr`
        for one in drafted:
            block = one.feature.block
            if block is not None and blocks.setdefault(block_key(block), block) != block:
                one.extend(block=blocks[block_key(block)])
        _note_empty_forms(drafted)
        _take_skipped_for_missing(drafted)
        _agree_on_likelihoods(drafted)
        assign_roles(drafted, frame)
        taken = rows_taken(frame)
        schema = FeatureSchema([one.feature for one in drafted], rows=None if taken is None else taken.choice)
        schema.comments.update({one.column.name: one.proposal.comment() for one in drafted})
        if roles:
            schema = with_wanted_roles(schema, frame, roles)
        if len(schema.clustered) < 2:
            return schema
        values = {one.column.name: one.typed for one in drafted if one.typed is not None}
        of_draft = {name: values[name].set_axis(frame.index) for name in values if name not in roles}
        repeats = redundancies(pd.DataFrame(of_draft), schema)
        return applied(schema, [one for one in repeats if not set(one.described) & set(roles)])


def _draft_columns(frame: pd.DataFrame, stages: Progress) -> list[DraftedColumn]:
    """Return each column drafted for itself; a fault of one costs no other."""
    notes = {**notes_without_dictionary(frame), **notes_of(frame)}
    bare = frame.copy(deep=False)
    bare.attrs = {}  # pandas copies them whenever a column is taken
    columns, drafted = [], []
    with stages.stage("reading columns", frame.shape[1]) as advance:
        for name in frame.columns:
            columns.append(column_of(name, bare[name], notes.get(name, ColumnNotes())))
            advance()
    commas = any(column.notes.decimal == "," or marks_of(column.texts) == Marks(",") for column in columns)
    codes = codes_of_table(columns)
    with np.errstate(all="ignore"), stages.stage("drafting columns", len(columns)) as advance:
        for column in columns:
            column = replace(column, codes_of_table=codes, has_decimal_commas=commas)
            drafted.append(DraftedColumn(column, partial(proposed, column)))
            advance()
    return drafted


_BOX = re.compile(r"(?P<question>.+)___[^_]\w*", re.DOTALL)
_OFF = data("roles")["redcap"]["off"]


def _note_empty_forms(drafted: Sequence[DraftedColumn]) -> None:
    """Tell of check boxes of REDCap that are all 0 where their form was not completed: no answer looks like no.

    The boxes of a question are called ``comorb___1``, ``comorb___2``; the column of the state of a form,
    ``history_complete``, follows its fields.
    """
    boxes: dict[str, list[DraftedColumn]] = {}
    for one in drafted:
        name = one.column.name
        if match := _BOX.fullmatch(name):
            boxes.setdefault(match["question"], []).append(one)
        elif name.endswith("_complete"):
            not_completed = _is_off(one.column) | (one.column.codes < 0)
            for of_question in boxes.values():
                is_empty = not_completed & np.logical_and.reduce([_is_off(box.column) for box in of_question])
                if not is_empty.any() or is_empty.all():
                    continue
                names, off = [box.column.name for box in of_question], f".astype(str).isin({_OFF})"
                for box in of_question:
                    box.extend(LOOKS["empty_form"].format(n=is_empty.sum(), form=name, boxes=names, off=off))
            boxes = {}


def _is_off(column: Column) -> NDArray[np.bool_]:
    off = np.array([*(text.casefold() in _OFF for text in column.texts), False], dtype=bool)
    return np.asarray(off[column.codes], dtype=bool)


_ALIKE = 0.95
"""Least share of rows in both of two sets, of those in either, for the same subjects but for slips."""
_FEWEST_SKIPPED, _LEAST_SKIPPED = 10, 0.05
_ROWS_COMPARED = 20_000


def _take_skipped_for_missing(drafted: Sequence[DraftedColumn]) -> None:
    """Take 0 for missing where the same subjects have it in several columns, but for the first, which tells who.

    Who does not drink has 0 in the days, the glasses and the years of drinking: the questions were not asked. In each
    of them, these answers are the clearest subtypes of a survey. Where a yes/no column tells who, the first is taken
    for missing too.
    """
    zeros: list[tuple[DraftedColumn, NDArray[np.bool_]]] = []
    gates = list[NDArray[np.bool_]]()
    for item in drafted:
        column, codes = item.column, item.column.codes[:: max(1, item.column.codes.size // _ROWS_COMPARED)]
        is_zero = np.append(column.numbers == 0.0, False)[codes] if column.numbers.size else np.zeros(0, dtype=bool)
        if len(column.texts) == 2:
            gates += [codes == 0, codes == 1]
        elif (
            item.feature.is_clustered
            and item.is_number
            and min(is_zero.sum(), (~is_zero).sum()) >= max(_FEWEST_SKIPPED, _LEAST_SKIPPED * codes.size)
        ):
            zeros.append((item, is_zero))
    while zeros:
        (first, skipped), *others = zeros
        alike = [item for item, is_zero in others if _are_alike(skipped, is_zero)]
        zeros = [(item, is_zero) for item, is_zero in others if item not in alike]
        if len(alike) > 1:
            named = ", ".join(item.column.name for item in [first, *alike])
            has_gate = any(_are_alike(skipped, gate) for gate in gates)
            for item in [first] * has_gate + alike:
                texts = list(compress(item.column.texts, item.column.numbers == 0))
                rest = proposed(item.column.without(set(texts))).with_missing_codes(texts)
                item.make(partial(rest.extended, LOOKS["skipped"].format(share=skipped.mean(), names=named)))


def _are_alike(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> bool:
    return bool((first & second).sum() >= _ALIKE * (first | second).sum() > 0)


_SIDES = frozenset(data("roles")["sides"]["words"])


def _agree_on_likelihoods(drafted: Sequence[DraftedColumn]) -> None:
    """Give one measurement in several columns one likelihood, that of most of them: thresholds of both ears.

    The columns are called alike but for a number or a side, and rise with each other.
    """
    groups: dict[tuple[str, ...], list[DraftedColumn]] = {}
    for one in drafted:
        words = name_words(one.column.name)
        stem = tuple(word for word in words if not word.isdigit() and word not in _SIDES)
        if one.is_number and len(stem) < len(words) and set(one.proposal.fields) <= {"likelihood", "transform"}:
            groups.setdefault(stem, []).append(one)
    for group in groups.values():
        kinds = Counter(tuple(sorted(one.proposal.fields.items())) for one in group)
        if len(kinds) < 2 or not all(rise_together(group[0], one) for one in group[1:]):
            continue
        fields = dict(kinds.most_common(1)[0][0])
        if min(one.column.numbers.min() for one in group) <= 0.0:
            fields.pop("transform", None)
        for one in group:
            if one.proposal.fields != fields:
                reason = f"with the likelihood of {group[0].column.name} and others, which it measures too"
                one.make(partial(replace, one.proposal, fields=fields, reason=reason, probability=1.0, otherwise=""))


# Draft a schema for a table in partitions: from a sample of its rows, and a row of each level of each partition.


def draft_of_partitions(
    table: Any, draft: Callable[[pd.DataFrame], FeatureSchema], *, progress: bool = True
) -> tuple[FeatureSchema, validation.Sampled, CohortError | None]:
    """Return the schema that `draft` makes of a sample of a Dask DataFrame, the sample, and what it does not allow."""
    with Progress(progress).stage("drawing a sample"):
        parts = validation.Parts(table)
        rows = pd.concat(parts.each(_sample_rows, share=parts.share))
    schema, error = draft(rows), None
    try:
        validation.validated_sample(table, schema, progress=progress)
    except CohortError as refused:
        error = refused
    return schema, validation.Sampled(rows, parts.n_rows), error


def _sample_rows(frame: pd.DataFrame, first: int, share: float) -> pd.DataFrame:
    is_sampled = drawn(frame, (), first, share, 0)
    for name in frame:
        is_new = ~frame[name].duplicated().to_numpy()
        is_sampled |= is_new & (is_new.sum() <= MOST_TEXTS)
    return validation.numbered(frame, first)[is_sampled]
