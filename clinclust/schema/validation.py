"""Validation of a table, in memory or in partitions: failures with their repairs, and the validated table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import TABLE, in_pandas, is_numbered
from clinclust.arrays import Whole
from clinclust.data import data
from clinclust.errors import CohortError, InputError, did_you_mean, on_one_line, warn
from clinclust.files.cell_text import canonical_text, limited, number_of, quote_cell, shortened
from clinclust.files.notation import BEYOND_A_LIMIT, is_known_unit
from clinclust.files.row_choice import N_SAMPLED, ROWS_TAKEN, SEVERAL_ROWS, drawn
from clinclust.files.text_table import notes_of
from clinclust.likelihoods import traits_of
from clinclust.progress import Progress
from clinclust.schema.reading import Reading, SchemaContent, expectations, read_column, transform_limit

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature
    from clinclust.schema.reading import Kind


# Describe cells at fault as a table of failures, each with a repair.

_ROWS_SHOWN = 5
_EXAMPLES_SHOWN = 3
_CELLS_SEARCHED = 10_000  # the number of failing cells that are searched for distinct examples

_REPAIRS: dict[str, Any] = data("remarks")["repairs"]
_THOUSANDS = r"[+-]?[0-9]{1,3}(?:[,_' ][0-9]{3})+(?:\.[0-9]*)?|[+-]?[0-9]+(?:_[0-9]+)+"
_WRITTEN_AS = {
    "decimal_comma": re.compile(rf"(?!(?:{_THOUSANDS})\Z)[+-]?[0-9]+,[0-9]+"),  # 5,25; 5,250 may be thousands
    "thousands": re.compile(_THOUSANDS),
    "beyond_a_limit": BEYOND_A_LIMIT,
    "with_unit": re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?\s*(?P<unit>[^\W\d_].*|[%‰°].*)"),  # 5 mg/L
    "marked": re.compile(r"[^\w\s+.-]\s*[0-9]+(?:[.,][0-9]+)?|[0-9]+(?:[.,][0-9]+)?\s*[^\w\s]+(?:[A-Z]{1,2}[)\]])?"),
    "date_or_time": re.compile(r"[0-9]{1,4}[-/.:][0-9]{1,2}(?:[-/.:][0-9]{1,4})?.*"),
    "yes_or_no": re.compile("true|false|yes|no", re.IGNORECASE),
}
"""How texts that are no numbers are written, in the order in which their repairs are looked for."""


@dataclass(frozen=True)
class Failure:
    """One kind of failure in one column, or in the table; a row of `CohortError.failures`."""

    column: str  # or "the table"
    expected: str  # the expectation that failed, in words
    rows: int = 0  # how many are at fault; 0 if the failure concerns the column or the table as a whole
    first_rows: list[Any] = field(default_factory=list)  # index labels of the first of them
    examples: list[Any] = field(default_factory=list)  # some distinct values at fault
    repair: str = _REPAIRS["correct"]


def failures_frame(failures: Sequence[Failure]) -> pd.DataFrame:
    """Return `CohortError.failures`, one row per failure."""
    frame = pd.DataFrame([vars(failure) for failure in failures], columns=list(Failure.__annotations__), dtype=object)
    return frame.astype({"rows": np.int64})


def column_failures(feature: Feature, reading: Reading, index: pd.Index) -> list[Failure]:
    """Return one failure for each kind of expectation that cells of a column fail; `index` labels the rows."""
    failures = []
    for kind, expected in expectations(feature).items() if reading.faults else ():
        if (rows := reading.faults.get(kind)) is not None:
            examples = [] if kind == "observed" else _examples(reading.cells, rows)
            is_most = 2 * rows.sum() > reading.cells.notna().sum()
            repair = _repair(feature, kind, [canonical_text(value) for value in examples], is_most=is_most)
            failures.append(_failure_of_rows(feature.name, expected, rows, index, examples, repair))
    return failures


def _failure_of_rows(
    name: str, expected: str, rows: NDArray[np.bool_], index: pd.Index, examples: list[Any], repair: str
) -> Failure:
    first = list(index[np.flatnonzero(rows)[:_ROWS_SHOWN]])
    return Failure(name, expected, int(rows.sum()), first, examples, repair)


def _examples(column: pd.Series, rows: NDArray[np.bool_]) -> list[Any]:
    """Return a few distinct values at fault, as texts unless they are numbers."""
    distinct = {repr(value): value for value in column.iloc[np.flatnonzero(rows)[:_CELLS_SEARCHED]]}
    values = [value.item() if isinstance(value, np.generic) else value for value in distinct.values()]
    is_plain = (bool, int, float, complex, type(None))
    return [value if isinstance(value, is_plain) else shortened(str(value)) for value in values[:_EXAMPLES_SHOWN]]


def _repair(feature: Feature, kind: Kind, examples: list[str], *, is_most: bool) -> str:
    limit, is_allowed = transform_limit(feature)
    # Of texts that are no numbers, by how they are written; several units are no unit, nor is the o of a single 5o.
    for way, pattern in _WRITTEN_AS.items() if kind == "number" else ():
        matches = [match.groupdict() for match in map(pattern.fullmatch, examples) if match]
        units = {match.get("unit", "").strip() for match in matches}
        if len(units) == 1 and (way != "with_unit" or is_most or is_known_unit(*units)):
            unit = units.pop()
            return str(_REPAIRS["texts"][way].format(unit=quote_cell(unit) if unit else ""))
    if kind == "transform" and examples and all(number_of(text) == limit for text in examples) and not is_allowed:
        return str(_REPAIRS["spike"].format(limit=limit, transform=feature.transform))
    widen = "Raise `trials`" if feature.trials else "Change the likelihood"
    if feature.minimum is not None or feature.maximum is not None:
        widen = "Widen `minimum` and `maximum`"
    larger = [name for name in feature.traits.alternatives if traits_of(name).largest > feature.traits.largest]
    wider = " or ".join([*larger[:1], "gaussian with transform: log1p"])
    hints = "".join(sorted({did_you_mean(text, feature.levels or ()) for text in examples}))
    kind_or = "correct" if kind == "number" else kind
    sentence = _REPAIRS["large_counts" if kind == "size" and feature.traits.is_count else kind_or]
    return str(sentence.format(transform=feature.transform, widen=widen, wider=wider, hints=hints)).strip()


# Validate a cohort table in one pass, and find columns that cannot inform a clustering.

_NO_VALUE = "no observed value"
_NAMES_WARNED_OF = 20
_MOST_HINTS = 20  # a hint compares a name with all others, and a message shows 20 failures


def validate(schema: SchemaContent, frame: pd.DataFrame, *, warn: bool = True) -> pd.DataFrame:
    """Implement `FeatureSchema.validate`; each column is read once."""
    frame = in_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be {TABLE}, not {type(frame).__name__}")
    refuse_unusable(frame)
    if is_numbered(frame) and len(frame.columns) == len(schema):
        frame = frame.set_axis(schema.names, axis="columns")
    typed, readings = read_columns(schema, frame)
    failures = _failures_of_columns(schema, frame)
    for name, reading in readings.items():
        failures += column_failures(schema[name], reading, typed.index)
    ids = [feature.name for feature in schema.ids if feature.name in typed]
    keys = typed[ids]
    repeated = (keys.duplicated(keep=False) & keys.notna().all(axis="columns")).to_numpy()
    if ids and len(ids) == len(schema.ids) and repeated.any():
        joined = keys[repeated].head(_CELLS_SEARCHED).agg(" / ".join, axis="columns")
        repair = data("remarks")["schema"]["repeated"].format(id=ids[0])
        expected, examples = f"a different {' and '.join(ids)} in every row", list(joined.unique()[:_EXAMPLES_SHOWN])
        failures.append(_failure_of_rows(ids[0], expected, repeated, typed.index, examples, repair))
    if failures:
        order = {name: position for position, name in enumerate(schema.names)}
        failures.sort(key=lambda failure: order.get(failure.column, len(order)))
        raise CohortError(failures_frame(failures))
    typed.attrs |= {key: frame.attrs[key] for key in (ROWS_TAKEN, SEVERAL_ROWS) if key in frame.attrs}
    if warn:
        warn_of_uninformative(kept_out(typed, schema), len(typed))
    return typed


def read_columns(schema: SchemaContent, frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Reading]]:
    """Return the typed columns (missing where at fault), and the reading of each."""
    times = Counter(frame.columns)
    features = [feature for feature in schema if not feature.is_ignored and times[feature.name] == 1]
    bare = frame.copy(deep=False)
    bare.attrs = {}  # pandas copies them whenever a column is taken
    # The decimal mark is the file's: a new one may have commas where the cohort had points.
    commas = {name for name, notes in notes_of(frame).items() if notes.decimal}
    for at, feature in enumerate(features):
        if feature.name in commas and not (feature.decimal or feature.levels):
            features[at] = feature.model_copy(update={"decimal": ","})
    readings = {
        feature.name: read_column(feature, schema.missing_codes_of(feature), bare[feature.name]) for feature in features
    }
    typed = {name: reading.typed for name, reading in readings.items()}
    return pd.DataFrame(typed, index=frame.index, copy=False), readings


def refuse_unusable(frame: pd.DataFrame) -> None:
    """Raise CohortError for a table with column names in several rows (a MultiIndex), or without rows."""
    if isinstance(frame.columns, pd.MultiIndex):
        repair = "Join the names of each column into one, such as 'blood pressure, systolic'."
        refuse_faults([("the table", "one row of column names, not several (a MultiIndex)", repair)])
    if len(frame) == 0:
        refuse_faults([("the table", "at least one row; it has none", "Check how the file was read or filtered.")])


def refuse_faults(faults: Iterable[tuple[str, str, str]]) -> None:
    """Raise CohortError for columns, or the table, each with what was expected of it and its repair, if any."""
    if failures := [Failure(column, expected, repair=repair) for column, expected, repair in faults]:
        raise CohortError(failures_frame(failures))


def _failures_of_columns(schema: SchemaContent, frame: pd.DataFrame) -> list[Failure]:
    names = Counter(frame.columns)
    others = {name: str(name) for name in names if name not in schema}
    absent = [feature.name for feature in schema if feature.name not in names]
    failures: list[Failure] = []

    def hint(name: str, choices: Iterable[str]) -> str:
        return did_you_mean(name, choices) if len(failures) < _MOST_HINTS else ""

    for name, count in names.items():
        if count > 1 and (name in schema or schema.other_columns == "error"):
            repair = f"Rename or drop all but one of the {count} columns of this name."
            failures.append(Failure(str(name), "one column of this name", repair=repair))
    for name in absent:
        if not schema[name].is_ignored:
            repair = f"There is no such column.{hint(name, others.values())} Rename it, or remove the feature."
            failures.append(Failure(name, "a column of this name", repair=repair))
    for text in others.values() if schema.other_columns == "error" else ():
        nearest = hint(text, absent or schema.names)
        repair = f"{nearest} Drop it, give it role: ignore in the schema, or set other_columns: ignore."
        failures.append(Failure(text, "a column that the schema names", repair=repair.strip()))
    return failures


def kept_out(frame: pd.DataFrame, schema: SchemaContent) -> dict[str, str]:
    """Return the cluster features of a validated table that cannot inform a clustering, each with the reason."""
    return uninformative({feature.name: feature.scores(frame[feature.name]) for feature in schema.clustered})


def uninformative(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return the columns of scores with fewer than two distinct observed values, each with the reason."""
    reasons = {}
    for name, column in columns.items():
        lowest, highest = np.fmin.reduce(column), np.fmax.reduce(column)  # fmin and fmax ignore NaN
        if np.isnan(lowest):
            reasons[name] = _NO_VALUE
        elif lowest == highest:
            reasons[name] = "the same value in every subject observed"
    return reasons


def informative_parts(frame: pd.DataFrame, features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the parts of features (`Feature.parts`) with at least two distinct observed values."""
    return tuple(
        part
        for feature in features
        for part in feature.parts
        if not part.is_part or not uninformative({part.name: part.scores(frame[part.column])})
    )


def warn_of_uninformative(reasons: Mapping[str, str], n_subjects: int) -> None:
    """Issue one CohortWarning that names the columns with their reasons, if there are any."""
    if n_subjects == 1:  # with one subject every column is constant, so a warning would be of no use
        reasons = {name: reason for name, reason in reasons.items() if reason == _NO_VALUE}
    if not reasons:
        return
    listed = [f"{name} ({reason})" for name, reason in reasons.items()]
    more = f" and {len(listed) - _NAMES_WARNED_OF} more" if len(listed) > _NAMES_WARNED_OF else ""
    what = f"{len(listed)} column{'' if len(listed) == 1 else 's'} cannot inform a clustering"
    warn(f"{what}: {', '.join(listed[:_NAMES_WARNED_OF])}{more}")


# Tables in partitions (Dask DataFrames): read and validate each of them, and draw a sample of their rows.

Result = TypeVar("Result")


def results_of(
    reads: Iterable[Callable[[], Result]], is_raised: Callable[[Exception], bool] = lambda _: False
) -> list[Result]:
    """Return what functions that read a partition each return; InputError lists all that cannot be read.

    An error for which `is_raised` holds is raised unchanged.
    """
    results, problems = [], []
    for number, read in enumerate(reads):
        try:
            results.append(read())
        except Exception as error:
            if is_raised(error):
                raise
            message = f"partition {number}: {type(error).__name__}: {error}"
            problems.append(on_one_line(str(error) if isinstance(error, InputError) else message))
    if problems:
        n = len(problems)
        raise InputError(limited(f"{n} partition{'' if n == 1 else 's'} cannot be read: {'; '.join(problems)}"))
    return results


def parts_of_one_column(table: Any) -> list[Any]:
    """Return the partitions of the first column; of parquet files, no other is read."""
    # Simplified, but not optimised: else Dask may read several files as one partition.
    return list(table[list(table.columns[:1])].simplify().to_delayed(optimize_graph=False))


def first_rows(lengths: Sequence[int]) -> Whole:
    """Return the number of the first row of each partition, and that of all rows; InputError without rows."""
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if not first[-1]:
        raise InputError("the table has no rows in any of its partitions; check how the files were read or filtered")
    return first


class Sampled(NamedTuple):
    """A sample of the rows of a table in partitions as given, and the number of all rows."""

    rows: pd.DataFrame
    n_of_all: int


class Parts:
    """The partitions of a Dask DataFrame, on its workers or on threads.

    `first` are the numbers of the first row of each partition, and that of all rows; `share` is that of the rows in the
    sample of a fit.
    """

    def __init__(self, table: Any) -> None:
        # Not optimised: else Dask may read several files as one partition.
        self._parts = table.to_delayed(optimize_graph=False)
        narrow = parts_of_one_column(table)
        try:
            lengths = self._compute([len] * len(narrow), narrow)
        except Exception:
            lengths = results_of(partial(lambda part: len(part.compute()), part) for part in self._parts)
        self.first: list[int] = first_rows(lengths).tolist()
        self.n_rows = self.first[-1]
        self.share = N_SAMPLED / self.n_rows

    def each(self, function: Callable[..., Result], **arguments: Any) -> list[Result]:
        """Return what a function of the rows of a partition, and of the number of the first, returns for each."""
        return self._compute([partial(function, first=first, **arguments) for first in self.first[:-1]], self._parts)

    @staticmethod
    def _compute(functions: Sequence[Callable[[pd.DataFrame], Result]], parts: Sequence[Any]) -> list[Result]:
        from dask.base import compute
        from dask.delayed import delayed

        calls = (delayed(function, pure=False)(part) for function, part in zip(functions, parts, strict=True))
        return list(cast(Any, compute)(*calls))


def numbered(frame: pd.DataFrame, first: int) -> pd.DataFrame:
    """Return the rows of a partition with their numbers in the table as the index."""
    return frame.set_axis(pd.RangeIndex(first, first + len(frame)), axis="index")


def validated_sample(table: Any, schema: SchemaContent, *, progress: bool = True) -> Sampled:
    """Return the sample of a fit with seed 0; CohortError has all failures of all partitions (`refuse_failures`)."""
    with Progress(progress).stage("checking partitions"):
        parts = Parts(table)
        results = parts.each(_validate_rows, schema=schema, share=parts.share)
        refuse_failures({number: failures for number, (rows, failures) in enumerate(results) if rows is not None})
        return Sampled(pd.concat([rows for rows, _ in results if rows is not None]), parts.n_rows)


def _validate_rows(
    frame: pd.DataFrame, first: int, schema: SchemaContent, share: float
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """Return the rows of a partition in the sample (None: the partition has none) and its failures (None: none)."""
    if not len(frame):
        return None, None
    rows = numbered(frame, first)
    try:
        validated = validate(schema, frame, warn=False)
    except CohortError as error:
        return rows[:0], error.failures
    return rows[drawn(validated, [feature.name for feature in schema.ids], first, share, 0)], None


def refuse_failures(failures: Mapping[int, pd.DataFrame | None]) -> None:
    """Raise one CohortError with all failures of partitions, by number; those of a column in each of them once."""
    frames = [table.assign(partition=number) for number, table in failures.items() if table is not None]
    if not frames:
        return
    together = pd.concat(frames, ignore_index=True)
    kind = ["column", "expected", "repair"]
    is_in_all = together.groupby(kind)["partition"].transform("size") == len(failures)
    of_columns = (together["rows"] == 0) & is_in_all
    once = together[of_columns].drop_duplicates(kind).assign(partition=-1)
    raise CohortError(pd.concat([once, together[~of_columns]], ignore_index=True))
