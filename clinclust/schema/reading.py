"""A column of text as values: what a schema expects of it, how its cells are read, and what it contains."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import SchemaError, did_you_mean
from clinclust.files import cell_text
from clinclust.files.cell_text import canonical_text, number_of, numbers_of, quoted, shortened
from clinclust.files.notation import BEYOND_A_LIMIT, TYPOGRAPHIC, number_as_written
from clinclust.files.row_choice import RowChoice
from clinclust.schema.feature import SENTENCES, Feature, FeatureError, check_text, read_codes

# The expectations of a feature for the cells of its column, in words and numbers.

Kind = Literal["observed", "level", "number", "finite", "whole", "range", "size", "transform"]

_LEVELS_SHOWN = 12


def limits(feature: Feature) -> tuple[float, float]:
    """Return the smallest and the largest allowed value of a feature without levels, in its own unit."""
    if feature.n_trials is not None:
        return feature.lowest, feature.lowest + feature.n_trials
    low, high = feature.traits.support()
    return (
        low if feature.minimum is None else max(feature.minimum, low),
        high if feature.maximum is None else min(feature.maximum, high),
    )


def largest(feature: Feature) -> float:
    """Return the largest absolute value that the likelihood can model; infinite for a scale."""
    return math.inf if feature.n_trials is not None else feature.traits.largest


def transform_limit(feature: Feature) -> tuple[float, bool]:
    """Return the lower limit of values that the transform accepts, and whether it is included."""
    if feature.transform == "log":
        return (0.0, False) if feature.traits.is_real else (1.0, True)
    if feature.transform == "log1p":
        return (-1.0, False) if feature.traits.is_real else (0.0, True)
    return (0.0, True) if feature.transform == "sqrt" else (-math.inf, True)


class Bounds(NamedTuple):
    """Between which numbers the cells of a feature lie for one reason, and what is expected of them."""

    kind: Kind
    low: float
    high: float
    words: str
    is_open: bool = False  # whether the lowest number is not allowed itself


def bounds_of(feature: Feature) -> list[Bounds]:
    """Return the range of a feature, the largest number of its likelihood, and the limit of its transform."""
    (low, high), bounds = limits(feature), []
    spikes = " or ".join(f"{value:.15g}" for value in feature.spike)
    or_spike = f", or {spikes} (spike)" if spikes else ""
    if (low, high) != (-math.inf, math.inf):
        kind = f"{feature.likelihood} with {feature.trials} trials" if feature.trials else f"{feature.likelihood}"
        words = f"at least {low:.15g}" if high == math.inf else f"{low:.15g} to {high:.15g}"
        words = f"at most {high:.15g}" if low == -math.inf else words
        bounds.append(Bounds("range", low, high, f"{words} ({kind}){or_spike}"))
    if not math.isinf(most := largest(feature)):
        sign, lowest = (" in absolute value", -most) if feature.traits.is_real else ("", -math.inf)
        bounds.append(Bounds("size", lowest, most, f"at most {most:,.15g}{sign} ({feature.likelihood})"))
    if feature.transform is not None:
        limit, usable = transform_limit(feature)
        words = f"{'at least' if usable else 'greater than'} {limit:g} (transform {feature.transform}){or_spike}"
        bounds.append(Bounds("transform", limit, math.inf, words, not usable))
    return bounds


def expectations(feature: Feature) -> dict[Kind, str]:
    """Return the conditions on every cell, in words; a cell is reported for the first that it fails."""
    if feature.is_ignored:
        return {}
    if feature.is_id:
        return {"observed": "an identifier in every row"}
    words: dict[Kind, str] = {"observed": "a value in every row (complete: true)"} if feature.complete else {}
    if feature.levels is not None:
        shown = ", ".join(map(repr, feature.levels[:_LEVELS_SHOWN]))
        more = f", ... ({len(feature.levels)} in all)" if len(feature.levels) > _LEVELS_SHOWN else ""
        return words | {"level": f"one of the levels {shown}{more}"}
    words |= {"number": "a number", "finite": "a finite number"}
    words |= {"whole": "a whole number"} if feature.traits.is_whole else {}
    return words | {bounds.kind: bounds.words for bounds in bounds_of(feature)}


# Read one column according to its feature: typed values, and the cells at fault.

_NUMBER_FIRST = cell_text.compile_short(r"(?P<number>[^0-9]*[0-9][0-9.,' ]*(?<! ))(?P<rest>.+)")
_ID_DTYPE = pd.StringDtype(na_value=np.nan)  # the dtype "str" of pandas 3


Faulty = dict[Kind, NDArray[np.bool_]]
"""Rows at fault, bool (N,), by kind, at most one kind per row."""


@dataclass(frozen=True)
class Reading:
    """A column (N,) as given, its typed values, and its faults: only the kinds that occur."""

    cells: pd.Series
    typed: pd.Series
    faults: Faulty = field(default_factory=dict)


@dataclass(frozen=True)
class TextCells:
    """A column as text: row i holds ``texts[codes[i]]``; -1 = no value. Texts may repeat."""

    codes: NDArray[np.intp]
    texts: list[str]

    def pick(self, of_text: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the rows whose text is marked in `of_text`, bool (N,); False for cells without a value."""
        return np.append(of_text, False)[self.codes]


def read_column(feature: Feature, missing_codes: tuple[str, ...], column: pd.Series) -> Reading:
    """Read one column of a table; `missing_codes` are all texts that mean missing."""
    values: Any
    faults: Faulty
    if feature.is_id:
        cells = text_cells(column)
        missing = (cells.codes < 0) | cells.pick(np.array([text in missing_codes for text in cells.texts], dtype=bool))
        texts = np.array([*cells.texts, None], dtype=object)[cells.codes]
        texts[missing] = None
        values, faults = pd.array(texts, dtype=_ID_DTYPE), {"observed": missing}
    elif feature.levels is not None:
        values, faults = _read_levels(feature, feature.levels, missing_codes, column)
    else:
        values, faults = _read_numbers(feature, missing_codes, column)
    typed = pd.Series(values, index=column.index, name=column.name, copy=False)
    return Reading(column, typed, {kind: rows for kind, rows in faults.items() if rows.any()})


def text_cells(column: pd.Series, *, truth_as_number: bool = False) -> TextCells:
    """Return a column as canonical text; with `truth_as_number`, True and False become ``1`` and ``0``."""

    def text(value: object) -> str:
        is_truth = truth_as_number and isinstance(value, (bool, np.bool_))
        return canonical_text(int(bool(value)) if is_truth else value)

    codes: Any
    uniques: Any
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, uniques = column.cat.codes, column.cat.categories
    elif column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        # 1, 1.0 and True are equal and have one hash, so convert them to text before the factorization.
        cells = [None if pd.api.types.is_scalar(value) and pd.isna(value) else text(value) for value in column]
        codes, uniques = pd.factorize(np.array(cells, dtype=object))
        return TextCells(np.asarray(codes, dtype=np.intp), uniques.tolist())
    else:
        codes, uniques = pd.factorize(column)
    # Texts of the type "str" of pandas are read five times as fast from an array of objects.
    return TextCells(np.asarray(codes, dtype=np.intp), [text(value) for value in np.asarray(uniques, dtype=object)])


def _read_levels(
    feature: Feature, levels: tuple[str, ...], missing_codes: tuple[str, ...], column: pd.Series
) -> tuple[Any, Faulty]:
    dtype = pd.CategoricalDtype(list(levels), ordered=not feature.traits.is_nominal)
    if isinstance(column.dtype, pd.CategoricalDtype) and list(column.cat.categories) == list(levels):
        codes, unknown = column.cat.codes.to_numpy(), np.zeros(len(column), dtype=bool)
    else:
        cells = text_cells(column)
        index_of = dict.fromkeys(missing_codes, -1) | {level: index for index, level in enumerate(levels)}
        index_of |= {word: index_of[level] for word, level in (feature.synonyms or {}).items()}
        index_of = {canonical_text(word): index for word, index in index_of.items()} | index_of
        # What each number means that one text writes: in a column with empty cells, pandas writes 2 as 2.0.
        of_number: dict[float, set[int]] = {}
        for word, index in index_of.items():
            of_number.setdefault(number_of(word), set()).add(index)
        single = {number: min(meant) for number, meant in of_number.items() if len(meant) == 1 and np.isfinite(number)}
        indices = [index_of[text] if text in index_of else single.get(number_of(text)) for text in cells.texts]
        level_of_text = [-1 if index is None else index for index in indices] + [index_of.get("", -1)]
        codes = np.array(level_of_text, dtype=np.intp)[cells.codes]
        unknown = cells.pick(np.array([index is None for index in indices], dtype=bool))
    faults: Faulty = {"observed": (codes < 0) & ~unknown} if feature.complete else {}
    return pd.Categorical.from_codes(codes, dtype=dtype), faults | {"level": unknown}


def _read_numbers(feature: Feature, missing_codes: tuple[str, ...], column: pd.Series) -> tuple[Any, Faulty]:
    if pd.api.types.is_any_real_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        missing, unreadable = np.isnan(numbers), np.zeros(len(column), dtype=bool)
    else:
        cells = text_cells(column, truth_as_number=feature.traits.is_yes_no)
        absent = np.array([text in missing_codes for text in cells.texts], dtype=bool)
        texts, of_text = list(compress(cells.texts, ~absent)), np.full(len(absent) + 1, np.nan)
        for_any_text = feature.synonyms or feature.decimal or feature.thousands or feature.marks
        for_some_texts = feature.unit or feature.censored or feature.limit
        if for_any_text or (for_some_texts and not cell_text.without_letters(texts)):
            meant = [number_meant(feature, text) for text in texts]
            of_text[:-1][~absent] = [np.nan if number is None else number for number in meant]
            absent[~absent] = [number is None for number in meant]
        else:
            of_text[:-1][~absent] = numbers_of(texts)
        numbers = of_text[cells.codes]
        missing = (cells.codes < 0) | cells.pick(absent)
        unreadable = np.isnan(numbers) & ~missing
    missing |= np.isin(numbers, [number for number in map(number_of, missing_codes) if not np.isnan(number)])
    # The values of point masses need not be in the range of the likelihood and its transform.
    sound = np.where(missing | np.isin(numbers, feature.point_masses), np.nan, numbers)
    faults: Faulty = {"finite": np.isinf(sound)}
    sound = np.where(faults["finite"], np.nan, sound)
    if feature.traits.is_whole:
        faults["whole"] = sound % 1 > 0
    for kind, low, high, _, is_open in bounds_of(feature):
        sound = np.where(np.logical_or.reduce(list(faults.values())), np.nan, sound)
        faults[kind] = ((sound <= low) if is_open else (sound < low)) | (sound > high)
    faults |= {"number": unreadable} | ({"observed": missing} if feature.complete else {})
    absent = missing | np.logical_or.reduce(list(faults.values()))
    is_whole = feature.traits.is_whole and not feature.limit
    if column.dtype == (pd.Int64Dtype() if is_whole else np.float64) and np.array_equal(absent, np.isnan(numbers)):
        return column.astype(column.dtype), faults  # from pandas 3 on, both share their memory until one is changed
    if is_whole:
        return pd.arrays.IntegerArray(np.where(absent, 0, numbers).astype(np.int64), absent), faults
    return np.where(absent, np.nan, numbers), faults


def number_meant(feature: Feature, text: str) -> float | None:
    """Return the number that a cell in canonical text means; NaN if it is no number, None if missing."""
    meant = (feature.synonyms or {}).get(text)  # a plain number, whatever marks the column has
    if meant is None and len(text) > cell_text.LONGEST_NUMBER:
        return math.nan
    cell = _without_marks(text.translate(TYPOGRAPHIC), feature.marks) if meant is None else meant
    limit = BEYOND_A_LIMIT.fullmatch(cell) if feature.censored is not None or feature.limit else None
    written: str | None = limit[2] if limit else cell
    if meant is None and written is not None:
        plain, unit = number_as_written(written, feature.decimal, feature.thousands), feature.unit
        if plain is None and unit is not None:
            plain = number_as_written(_without_unit(written, unit), feature.decimal, feature.thousands)
        written = plain
    number = math.nan if written is None else number_of(written)
    if limit is None or math.isnan(number):
        return number
    is_upper = "<" in limit[1] or limit[1] == "≤"
    if feature.limit:
        beyond = -math.inf if is_upper else math.inf
        return beyond if beyond in feature.point_masses else math.nan
    if feature.censored == "missing":
        return None
    if feature.censored == "limit" or not is_upper:
        return number
    return math.floor(number / 2.0) if feature.traits.is_whole else number / 2.0


def _without_marks(cell: str, marks: Sequence[str]) -> str:
    """Return a cell without marks around its number; marks of letters are whole words (``H`` of ``137H``)."""
    before = None
    while before != cell:
        before = cell
        for mark in marks:
            rest = cell.removeprefix(mark)
            if rest != cell and not (mark[-1].isalpha() and rest[:1].isalpha()):
                cell = rest.lstrip()
            rest = cell.removesuffix(mark)
            if rest != cell and not (mark[0].isalpha() and rest[-1:].isalpha()):
                cell = rest.rstrip()
            match = _NUMBER_FIRST.match(cell)  # between number and unit: ``6.5* mg/l``, ``6.5 H mg/l``
            rest = match["rest"].lstrip() if match else ""
            if match and rest.startswith(mark) and rest[len(mark) :][:1].isspace():
                cell = match["number"] + rest[len(mark) :]
    return cell


def _without_unit(text: str, unit: str) -> str:
    """Return a text without the unit after it (``5 mg``) or before it (``€ 5``)."""
    unit = unit.rstrip(".") or unit
    stem = text.rstrip(".")
    if unit.casefold() == "°c" and stem.endswith("°"):  # people leave the letter out
        return stem.removesuffix("°").rstrip()
    if stem.casefold().endswith(unit.casefold()):
        return stem[: len(stem) - len(unit)].rstrip()
    return text[len(unit) :].lstrip() if text.casefold().startswith(unit.casefold()) else text


# What a feature schema holds: the features in order, and the settings of the whole table.

LOOK = "LOOK: "  # begins the lines of a comment that a person should decide
FORMAT_VERSION = 1
OTHER_COLUMNS = ("error", "ignore")
_TWICE = "two features have this name"


@dataclass(frozen=True, init=False, repr=False)
class SchemaContent:
    """The content of a `FeatureSchema`, which documents it."""

    features: tuple[Feature, ...]
    title: str | None
    missing_codes: tuple[str, ...]
    other_columns: Literal["error", "ignore"]
    rows: RowChoice
    comments: dict[str, str] = field(compare=False)

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        title: str | None = None,
        missing_codes: Iterable[str] = ("",),
        other_columns: Literal["error", "ignore"] = "error",
        rows: RowChoice | Mapping[str, object] | None = None,
        comments: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise SchemaError(f"features must be a list of Feature, not {type(features).__name__}")
        features = tuple(features)
        problems: list[str] = []
        settings = {"title": title, "missing_codes": missing_codes, "other_columns": other_columns, "rows": rows}
        values = _read_settings(settings, lambda key, sentence: problems.append(f"{key}: {sentence}"))
        strangers = [stranger for stranger in features if not isinstance(stranger, Feature)]
        if strangers or not features:
            problems += [f"features: must be Feature objects, not {quoted(stranger)}" for stranger in strangers[:5]]
            problems += [] if features else ["features: there are no features"]
        else:
            times = Counter(feature.name for feature in features)
            problems += [f"{shortened(name)}: {_TWICE}" for name, n in times.items() for _ in range(n - 1)]
            among = _find_problems_among(features, values["missing_codes"])
            problems += [f"{shortened(feature.name)}: {sentence}" for feature, sentence in among]
        if problems:
            raise SchemaError(problems)
        self.__dict__.update(values, features=features, comments=dict(comments or {}))

    @cached_property
    def _by_name(self) -> dict[str, Feature]:
        return {feature.name: feature for feature in self.features}

    @property
    def names(self) -> list[str]:
        """The names of the features, in order: ``table[schema.names]`` are their columns in the raw table."""
        return list(self._by_name)

    @property
    def clustered(self) -> tuple[Feature, ...]:
        """The features that form subtypes (role ``cluster``)."""
        return tuple(feature for feature in self.features if feature.is_clustered)

    @property
    def described(self) -> tuple[Feature, ...]:
        """The features that are reported and tested, but not clustered on."""
        return tuple(feature for feature in self.features if feature.is_described)

    @property
    def reported(self) -> tuple[Feature, ...]:
        """The features that are clustered on or described, in order."""
        return tuple(feature for feature in self.features if feature.is_clustered or feature.is_described)

    @property
    def ids(self) -> tuple[Feature, ...]:
        """The features that identify a subject (role ``id``)."""
        return tuple(feature for feature in self.features if feature.is_id)

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The parts of all features, in order (`Feature.parts`)."""
        return tuple(part for feature in self.features for part in feature.parts)

    @property
    def clustered_parts(self) -> tuple[Feature, ...]:
        """The parts of the features that form subtypes."""
        return tuple(part for feature in self.clustered for part in feature.parts)

    def places(self, parts: Iterable[Feature]) -> list[int]:
        """Return the index of each of these among the `parts` of the schema."""
        place = {part.name: at for at, part in enumerate(self.parts)}
        return [place[part.name] for part in parts]

    def missing_codes_of(self, feature: Feature) -> tuple[str, ...]:
        """Return all texts that mean missing in the column of `feature`."""
        return (*self.missing_codes, *feature.missing_codes)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Feature:
        if name not in self._by_name:
            raise KeyError(f"the schema has no feature {name!r}.{did_you_mean(str(name), self._by_name)}")
        return self._by_name[name]


def _find_problems_among(features: Sequence[Feature], missing_codes: Sequence[str]) -> Iterator[tuple[Feature, str]]:
    """Yield (feature, sentence) for each broken rule between features, and of missing codes."""
    parts = {part.name: feature for feature in features for part in feature.parts if part.is_part}
    spellings: dict[str, str] = {}
    chained = {feature.block: feature for feature in features if feature.is_clustered and feature.traits.is_chained}
    for feature in features:
        for code in missing_codes:
            if code in (feature.levels or ()):
                yield feature, f"level {quoted(code)} is also one of the missing_codes of the schema"
        if feature.name in parts:
            whole = quoted(parts[feature.name].name)
            yield feature, f"has the name of a part of {whole}, which has a spike; rename it"
        if feature.block is None:
            continue
        spelling = spellings.setdefault(block_key(feature.block), feature.block)
        if spelling != feature.block:
            yield feature, SENTENCES["spelling"].format(block=quoted(feature.block), above=quoted(spelling))
        if feature.block in chained and feature.is_clustered and not feature.traits.is_chained:
            words = {"block": quoted(feature.block), "others": chained[feature.block].likelihood}
            yield feature, SENTENCES["chained"].format(likelihood=feature.likelihood, **words)


def block_key(block: str) -> str:
    """Return what names of blocks share that differ by case and spaces only."""
    return "".join(block.casefold().split())


def _check_other_columns(value: object) -> object:
    if value not in OTHER_COLUMNS:
        raise ValueError(f"must be error or ignore, not {quoted(value)}.{did_you_mean(str(value), OTHER_COLUMNS)}")
    return value


SETTINGS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "title": (None, check_text),
    "missing_codes": (("",), read_codes),
    "other_columns": ("error", _check_other_columns),
    "rows": (RowChoice(), lambda value: value if isinstance(value, RowChoice) else RowChoice.from_dict(value)),
}
"""The default of each setting, and what reads another value; it raises ValueError."""


def _read_settings(settings: Mapping[str, object], report: Callable[[str, str], None]) -> dict[str, Any]:
    """Return all settings, and report those that cannot be used, each with a sentence."""
    values = {key: default for key, (default, _) in SETTINGS.items()}
    for key, value in settings.items():
        try:
            values[key] = values[key] if value is None else SETTINGS[key][1](value)
        except ValueError as error:
            report(key, str(error))
    return values


# What the file of a schema declares: values with their places, and one check that reports all faults by place.


class Place(NamedTuple):
    """Where a file holds something: to sort by, and in words."""

    order: tuple[int, ...]
    words: str


Faults = list[tuple[Place, str]]
"""The faults of a file, each with a sentence."""


class Entry(NamedTuple):
    """A value of a file, why it is not one, and what helps if a feature cannot have it."""

    place: Place
    value: Any
    faults: Faults
    hint: str = ""


def read_declared(
    settings: dict[str, Entry], rows: Sequence[tuple[Place, dict[str, Entry]]], top: Place, faults: Faults
) -> tuple[list[Feature], dict[str, Any]]:
    """Return the features and the settings that a file declares; SchemaError lists all faults, a field once.

    `rows` are the features, `top` is the place of what the file lacks, and `faults` are those that its reader saw.
    """

    def report(key: str, sentence: str) -> None:
        if not settings[key].faults:
            faults.append((settings[key].place, f"{key}: {sentence}"))

    if "clinclust" not in settings:
        faults.append((top, f"`clinclust: {FORMAT_VERSION}`, the version of the format, is missing"))
    elif str(settings["clinclust"].value) != str(FORMAT_VERSION):
        report("clinclust", f"this program reads version {FORMAT_VERSION} of the format only")
    faults += [(place, f"{key}: {text}") for key, entry in settings.items() for place, text in entry.faults]
    values = _read_settings({key: settings[key].value for key in SETTINGS if key in settings}, report)
    features: dict[str, tuple[Place, Feature]] = {}
    names: set[str] = set()
    for place, entries in rows:
        name = entries["name"].value if "name" in entries else ""
        about = f"{shortened(name)}: " if isinstance(name, str) and name else ""
        if about and name in names:
            faults.append((place, f"{about}{_TWICE}"))
        names |= {name} if about else set()
        # Of an unknown key, its name is what is wrong.
        faulty = {key for key, entry in entries.items() if entry.faults and key in Feature.model_fields}
        faults += [(at, f"{about}{key}: {text}") for key in faulty for at, text in entries[key].faults]
        try:
            feature = Feature(**{key: entry.value for key, entry in entries.items()})
        except FeatureError as error:
            for key, sentence in error.by_field:
                if key not in faulty:
                    entry = entries.get(key or "", Entry(place, None, Faults()))
                    of_key = f"{shortened(key)}: " if key else ""
                    faults.append((entry.place, f"{about}{of_key}{sentence}{entry.hint}"))
        else:
            features |= {} if faulty else {feature.name: (place, feature)}
    in_order = [feature for _, feature in features.values()]
    for feature, sentence in _find_problems_among(in_order, values["missing_codes"]):
        faults.append((features[feature.name][0], f"{shortened(feature.name)}: {sentence}"))
    if faults:
        raise SchemaError(
            [f"{place.words}: {text}" for place, text in sorted(faults, key=lambda fault: fault[0].order)]
        )
    return in_order, values
