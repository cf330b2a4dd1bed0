"""The comparisons frame by name: features, their levels, sizes of subtypes, tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_SUBJECTS", "Compared", "ComparedFeature", "Record", "is_missing", "is_suppressed"]

ALL_SUBJECTS = 0

Record: TypeAlias = dict[str, Any]

_NEEDED = (
    *("kind", "feature", "label", "section", "unit", "role", "likelihood", "level", "subtype", "versus", "n"),
    *("missing", "mean", "sd", "median", "q1", "q3", "count", "percent", "test", "p", "significant"),
)


def is_missing(value: Any) -> bool:
    """Whether there is no number (None, NaN, NA)."""
    import pandas as pd

    return bool(pd.isna(value))


def is_suppressed(record: Record) -> bool:
    """Whether numbers of this row were withheld."""
    withheld = record.get("suppressed", False)
    return not is_missing(withheld) and bool(withheld)


@dataclass
class ComparedFeature:
    """What the frame says about one feature.

    Attributes
    ----------
    name, label, section, unit, role, likelihood : str
        As in the schema.
    summaries : dict
        By level (None for a feature without levels) and subtype (0 = all subjects).
    contrast : dict
        The test of all subtypes at once; empty if there is none.
    tests : dict
        Student's t-tests by level and pair of subtypes, the smaller first.
    """

    name: str
    label: str
    section: str
    unit: str
    role: str
    likelihood: str
    summaries: dict[str | None, dict[int, Record]] = field(default_factory=dict)
    contrast: Record = field(default_factory=dict)
    tests: dict[tuple[str | None, int, int], Record] = field(default_factory=dict)

    @property
    def has_shares(self) -> bool:
        """Whether its means are shares of subjects: yes/no or levels."""
        return self.likelihood in ("bernoulli", "categorical")

    @property
    def any_level(self) -> dict[int, Record]:
        """Summaries by subtype of the first level; `n` and `missing` are those of every level."""
        return next(iter(self.summaries.values()))


class Compared:
    """A comparisons frame, read once.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        From `clinclust.compare_subtypes`.

    Raises
    ------
    ValueError
        If the frame is not one of these.
    """

    def __init__(self, comparisons: pd.DataFrame) -> None:
        absent = [name for name in _NEEDED if name not in getattr(comparisons, "columns", ())]
        if absent:
            raise ValueError(
                "comparisons must be what compare_subtypes returns, or a model that is given with its frame; it lacks "
                f"{', '.join(absent)}"
            )
        self.features: dict[str, ComparedFeature] = {}
        for record in comparisons.to_dict("records"):
            self._read({str(name): value for name, value in record.items()})

    def _read(self, record: Record) -> None:
        name = record["feature"]
        if name not in self.features:
            self.features[name] = ComparedFeature(
                name=name,
                label=_text(record["label"]),
                section=_text(record["section"]),
                unit=_text(record["unit"]),
                role=_text(record["role"]),
                likelihood=_text(record["likelihood"]),
            )
        feature = self.features[name]
        level = None if is_missing(record["level"]) else record["level"]
        if record["kind"] == "summary":
            feature.summaries.setdefault(level, {})[int(record["subtype"])] = record
        elif record["kind"] == "contrast":
            feature.contrast = record
        elif record["kind"] == "test" and record["test"] == "student":
            a, b = sorted((int(record["subtype"]), int(record["versus"])))
            feature.tests[level, a, b] = record

    @cached_property
    def sizes(self) -> dict[int, int | None]:
        """Subjects in each subtype (0 = in all), None where every number that tells was withheld."""
        found: dict[int, int | None] = {}
        for feature in self.features.values():
            for subtype, record in feature.any_level.items():
                known = not is_missing(record["n"]) and not is_missing(record["missing"])
                if found.get(subtype) is None:
                    found[subtype] = int(record["n"]) + int(record["missing"]) if known else None
        return found

    def are_tested(self, a: int, b: int) -> bool:
        """Whether these two subtypes, large enough both, were tested against each other."""
        pair = (min(a, b), max(a, b))
        return any((level, *pair) in found.tests for found in self.features.values() for level in found.summaries)

    @cached_property
    def tested(self) -> list[int]:
        """The subtypes that were large enough to be tested."""
        return sorted({subtype for found in self.features.values() for _, *pair in found.tests for subtype in pair})

    @property
    def subtypes(self) -> list[int]:
        """The subtypes, without 0."""
        return sorted(subtype for subtype in self.sizes if subtype != ALL_SUBJECTS)


def _text(value: object) -> str:
    return "" if is_missing(value) else str(value)
