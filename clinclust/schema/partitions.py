"""Tables in partitions (Dask DataFrames): read and validate each of them, and draw a sample of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd

from clinclust.arrays import Whole
from clinclust.control_characters import on_one_line
from clinclust.errors import CohortError, InputError
from clinclust.files.listed import limited
from clinclust.files.selection.sampled_rows import N_SAMPLED, drawn
from clinclust.progress import Progress
from clinclust.schema.content import SchemaContent

Result = TypeVar("Result")


def results_of(
    reads: Iterable[Callable[[], Result]], is_raised: Callable[[Exception], bool] = lambda _: False
) -> list[Result]:
    """Return what functions that read a partition each return; InputError lists all that cannot be read.

    An error for which `is_raised` holds is raised as it is.
    """
    results, problems = [], []
    for number, read in enumerate(reads):
        try:
            results.append(read())
        except Exception as error:
            if is_raised(error):
                raise
            own = isinstance(error, InputError)
            problems.append(on_one_line(str(error) if own else f"partition {number}: {type(error).__name__}: {error}"))
    if problems:
        n = len(problems)
        raise InputError(limited(f"{n} partition{'' if n == 1 else 's'} cannot be read: {'; '.join(problems)}"))
    return results


def parts_of_one_column(table: Any) -> list[Any]:
    """Return the partitions of the first column; of parquet files, no other is read."""
    # Simplified, but not optimised: else Dask may read several files as one partition.
    return list(table[list(table.columns[:1])].simplify().to_delayed(optimize_graph=False))


def first_rows(lengths: Sequence[int]) -> Whole:
    """Return the number of the first row of each partition, and that of all rows; InputError if there are none."""
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if not first[-1]:
        raise InputError("the table has no rows in any of its partitions; check how the files were read or filtered")
    return first


class Sampled(NamedTuple):
    """A sample of the rows of a table in partitions as given, and the number of all rows."""

    rows: pd.DataFrame
    n_of_all: int


class Parts:
    """The partitions of a Dask DataFrame, on its workers or on threads."""

    def __init__(self, table: Any) -> None:
        # Not optimised: else Dask may read several files as one partition.
        self._parts = table.to_delayed(optimize_graph=False)
        narrow = parts_of_one_column(table)
        try:
            lengths = self._computed([len] * len(narrow), narrow)
        except Exception:
            lengths = results_of(partial(_length, part) for part in self._parts)
        self.first = first_rows(lengths).tolist()

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return int(self.first[-1])

    def each(self, function: Callable[..., Result], **arguments: Any) -> list[Result]:
        """Return what a function of the rows of a partition, and of the number of the first, returns for each."""
        return self._computed([partial(function, first=first, **arguments) for first in self.first[:-1]], self._parts)

    @staticmethod
    def _computed(functions: Sequence[Callable[[pd.DataFrame], Result]], parts: Sequence[Any]) -> list[Result]:
        from dask.base import compute
        from dask.delayed import delayed

        calls = (delayed(function, pure=False)(part) for function, part in zip(functions, parts, strict=True))
        return list(cast(Any, compute)(*calls))

    @property
    def share(self) -> float:
        """Share of the rows in the sample of a fit."""
        return N_SAMPLED / self.n_rows

    def sample(self) -> pd.DataFrame:
        """Return the sample of a fit without identifiers; the index is the number of the row, from 0."""
        return pd.concat(self.each(_sample, share=self.share))


def _length(part: Any) -> int:
    return len(part.compute())


def _sample(frame: pd.DataFrame, first: int, share: float) -> pd.DataFrame:
    return numbered(frame, first)[drawn(frame, (), first, share, 0)]


def numbered(frame: pd.DataFrame, first: int) -> pd.DataFrame:
    """Return the rows of a partition with their numbers in the table as the index."""
    return frame.set_axis(pd.RangeIndex(first, first + len(frame)), axis="index")


def validated_sample(table: Any, schema: SchemaContent, *, progress: bool = True) -> Sampled:
    """Return the sample of a fit with seed 0; CohortError has all failures of all partitions (`refuse_failures`)."""
    with Progress(progress).stage("checking partitions"):
        parts = Parts(table)
        found = parts.each(_validated, schema=schema, share=parts.share)
        refuse_failures({number: failures for number, (rows, failures) in enumerate(found) if rows is not None})
        return Sampled(pd.concat([rows for rows, _ in found if rows is not None]), parts.n_rows)


def _validated(
    frame: pd.DataFrame, first: int, schema: SchemaContent, share: float
) -> tuple[pd.DataFrame | None, pd.DataFrame | None]:
    """Return the rows of a partition in the sample (None: the partition has none) and its failures (None: none)."""
    from clinclust.schema.validation import validate

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
    found = [own.assign(partition=number) for number, own in failures.items() if own is not None]
    if not found:
        return
    together = pd.concat(found, ignore_index=True)
    kind = ["column", "expected", "repair"]
    is_in_all = together.groupby(kind)["partition"].transform("size") == len(failures)
    of_columns = (together["rows"] == 0) & is_in_all
    once = together[of_columns].drop_duplicates(kind).assign(partition=-1)
    raise CohortError(pd.concat([once, together[~of_columns]], ignore_index=True))
