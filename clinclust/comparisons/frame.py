"""Access to the frame of `compare_subtypes`: its rows by kind, feature, level and subtype."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

ALL_SUBJECTS = 0  # the number for all subjects in the column `subtype`, and for all other subjects in `versus`
WITHHELD = "[c]"  # the sign (confidential) that replaces withheld numbers

Record: TypeAlias = dict[str, Any]
Level: TypeAlias = str | None


def is_missing(value: Any) -> bool:
    """Return whether the value is missing (None, NaN or NA)."""
    import pandas as pd

    return bool(pd.isna(value))


def is_suppressed(record: Record) -> bool:
    """Return whether numbers of this row were withheld."""
    withheld = record.get("suppressed", False)
    return not is_missing(withheld) and bool(withheld)


def _listed(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column; a missing one is NaN among floats, elsewhere None."""
    missing: Any = np.nan if isinstance(column.dtype, np.dtype) else None
    return column.to_numpy(dtype=object, na_value=missing).tolist()


class ComparisonsFrame:
    """The rows of a frame of `compare_subtypes` by name; each kind of row is read at its first use."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._rows: dict[str, list[Record]] = {}

    def rows(self, kind: str) -> list[Record]:
        """Return the rows of one kind, shared and in order; `place` is the row in the frame, and no level is None."""
        if kind not in self._rows:
            is_kind = (self.frame["kind"] == kind).to_numpy(dtype=bool)
            of_kind = self.frame[is_kind]
            # `to_dict("records")` takes three times as long.
            columns = {str(name): _listed(of_kind[name]) for name in of_kind}
            columns["level"] = [level if isinstance(level, str) else None for level in columns["level"]]
            columns["place"] = is_kind.nonzero()[0].tolist()
            self._rows[kind] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return self._rows[kind]

    @cached_property
    def summaries(self) -> dict[str, dict[Level, dict[int, Record]]]:
        """The summaries by feature, level (None for a feature without levels) and subtype (0 = all subjects)."""
        found: dict[str, dict[Level, dict[int, Record]]] = {}
        for row in self.rows("summary"):
            found.setdefault(row["feature"], {}).setdefault(row["level"], {})[int(row["subtype"])] = row
        return found

    def places(self, levels: Mapping[Level, Mapping[int, Record]]) -> NDArray[np.int64]:
        """Return the row numbers of these summaries, int64 (levels, 1 + subtypes); -1 where there is no row."""
        groups = (ALL_SUBJECTS, *self.subtypes)
        found = [[rows[group]["place"] if group in rows else -1 for group in groups] for rows in levels.values()]
        return np.array(found, dtype=np.int64).reshape(-1, len(groups))

    def numbers(self, name: str, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a column at these row numbers, float64 of the shape of `places`; NaN where a number is missing."""
        values = self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(places < 0, np.nan, values[places])

    @cached_property
    def contrasts(self) -> dict[str, Record]:
        """The test of all subtypes at once by feature."""
        return {row["feature"]: row for row in self.rows("contrast")}

    @cached_property
    def tests(self) -> dict[tuple[str, Level], dict[tuple[int, int], dict[str, Record]]]:
        """The tests by feature and level, then by pair of subtypes (smaller number first), then by name of the test."""
        found: dict[tuple[str, Level], dict[tuple[int, int], dict[str, Record]]] = {}
        for row in self.rows("test"):
            a, b = sorted((int(row["subtype"]), int(row["versus"])))
            found.setdefault((row["feature"], row["level"]), {}).setdefault((a, b), {})[row["test"]] = row
        return found

    @cached_property
    def effects(self) -> dict[str, list[Record]]:
        """The effect sizes by feature, in the order of the frame."""
        found: dict[str, list[Record]] = defaultdict(list)
        for row in self.rows("effect"):
            found[row["feature"]].append(row)
        return dict(found)

    @property
    def is_weighted(self) -> bool:
        """Whether the summaries have sampling weights, and nothing is tested therefore."""
        return not self.contrasts and bool(self.summaries) and not self.is_rounded

    @property
    def is_rounded(self) -> bool:
        """Whether the counts were rounded, and the tests therefore withheld."""
        return "size" in self.frame

    @cached_property
    def sizes(self) -> dict[int, int | None]:
        """The number of subjects, as rounded, in each subtype (0 = all); None if every n or missing is withheld."""
        if self.is_rounded:
            rows = next(iter(next(iter(self.summaries.values())).values()))
            return {group: None if is_missing(row["size"]) else int(row["size"]) for group, row in rows.items()}
        found: dict[int, int | None] = {}
        for levels in self.summaries.values():
            for subtype, row in next(iter(levels.values())).items():
                known = not is_missing(row["n"]) and not is_missing(row["missing"])
                if found.get(subtype) is None:
                    found[subtype] = int(row["n"]) + int(row["missing"]) if known else None
        return found

    @property
    def exact_sizes(self) -> dict[int, int]:
        """The number of subjects in each subtype, without 0, of a frame in which nothing is withheld."""
        return {subtype: size for subtype, size in self.sizes.items() if subtype != ALL_SUBJECTS and size is not None}

    @cached_property
    def subtypes(self) -> list[int]:
        """The subtypes in increasing order, without 0."""
        return sorted(subtype for subtype in self.sizes if subtype != ALL_SUBJECTS)

    @cached_property
    def tested(self) -> list[int]:
        """The subtypes that were tested, because they are large enough."""
        return sorted({subtype for pairs in self.tests.values() for pair in pairs for subtype in pair})

    @cached_property
    def withheld(self) -> set[str]:
        """The names of the features with at least one withheld number."""
        suppressed = self.frame["suppressed"].fillna(False).to_numpy(dtype=bool)
        return set(self.frame.loc[suppressed, "feature"])


def decimals_for(spread: float) -> int:
    """Return the number of decimals that shows a mean to about a hundredth of `spread`, the SD; 2 if there is none."""
    if not 0 < spread < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(spread)))


def decimals_of_mean(spreads: Iterable[float], *, is_scored: bool) -> int:
    """Return the decimals of mean and SD in every group: 2 for shares and scores, else by the first finite spread."""
    return 2 if is_scored else decimals_for(next((spread for spread in spreads if math.isfinite(spread)), math.nan))


def decimals_in(records: Mapping[int, Record], *, is_scored: bool) -> int:
    """Return the decimals of mean and SD of a feature from its summaries by group; of a rounded frame as it says."""
    said: Any = records[ALL_SUBJECTS].get("decimals")
    if not is_missing(said):
        return int(said)
    spreads = (row["sd"] for _, row in sorted(records.items()))
    return decimals_of_mean((math.nan if is_missing(sd) else float(sd) for sd in spreads), is_scored=is_scored)
