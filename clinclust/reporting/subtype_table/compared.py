"""Read a comparisons frame feature by feature: levels, summaries and tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame, Record, is_missing
from clinclust.errors import InputError
from clinclust.likelihoods import Likelihood, traits_of
from clinclust.roles import is_described

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Compared", "ComparedFeature"]

_NEEDED = (
    *("kind", "feature", "label", "section", "unit", "role", "likelihood", "level", "subtype", "versus", "n"),
    *("missing", "mean", "sd", "median", "q1", "q3", "count", "percent", "test", "p", "significant"),
)


@dataclass
class ComparedFeature:
    """The rows of a comparisons frame about one feature.

    Attributes
    ----------
    name, label, section, unit, role, likelihood : str
        As in the schema.
    scored : str
        What the ends of a scale mean whose levels are words; empty for other features.
    summaries : dict
        Summaries by level (None for a feature without levels) and subtype (0: all subjects).
    contrast : dict
        The test of all subtypes at once; empty if there is none.
    tests : dict
        Student's t-tests by level and pair of subtypes, with the smaller number first.
    part : {"spike", "rest"} or None
        Which part of a feature with point masses it is (see `parts`).
    """

    name: str
    label: str
    section: str
    unit: str
    role: str
    likelihood: str
    scored: str
    summaries: dict[str | None, dict[int, Record]]
    contrast: Record
    tests: dict[tuple[str | None, int, int], Record]
    part: str | None = None

    @property
    def title(self) -> str:
        """The label with the unit, and with what the scores mean if levels are words: a mean is one of scores."""
        with_unit = f"{self.label} ({self.unit})" if self.unit else self.label
        return f"{with_unit}, {self.scored}" if self.scored else with_unit

    @property
    def is_described(self) -> bool:
        """Whether the subtypes were not found from the feature (see `Feature.is_described`)."""
        return is_described(self.role, self.likelihood)

    @property
    def parts(self) -> tuple[ComparedFeature, ...]:
        """The feature itself or, with point masses, its two parts; the test of both stands with the first."""
        if self.part is not None or not self.is_in_parts:
            return (self,)
        at = {level: records for level, records in self.summaries.items() if level is not None}
        first, second = ({level: self.summaries[level] for level in levels} for levels in (at, (None,)))
        return self._of(first, "spike"), replace(self._of(second, "rest"), contrast={})

    @property
    def is_in_parts(self) -> bool:
        """Whether the rows are those of a feature with point masses."""
        return not is_missing(self.any_level[ALL_SUBJECTS].get("part"))

    def _of(self, summaries: dict[str | None, dict[int, Record]], part: str) -> ComparedFeature:
        row = next(iter(summaries.values()))[ALL_SUBJECTS]
        about = {name: _text(row[name]) for name in ("label", "unit", "likelihood")}
        return replace(self, **about, summaries=summaries, part=part)  # type: ignore[arg-type]

    @property
    def traits(self) -> type[Likelihood]:
        """The likelihood class of the feature."""
        return traits_of(self.likelihood)

    @property
    def has_shares(self) -> bool:
        """Whether the means of the feature are shares of subjects, because it is yes/no or has levels."""
        return self.traits.is_share

    @property
    def any_level(self) -> dict[int, Record]:
        """Summaries of the first level by subtype. All levels have the same `n` and `missing`."""
        return next(iter(self.summaries.values()))


class Compared(ComparisonsFrame):
    """A comparisons frame as the subtype table shows it, feature by feature.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `clinclust.compare_subtypes`.

    Raises
    ------
    ValueError
        If the frame lacks columns of a frame of `compare_subtypes`.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        absent = [name for name in _NEEDED if name not in getattr(frame, "columns", ())]
        if absent:
            raise InputError(
                "comparisons must be what compare_subtypes returns, or a model that is given with its frame; it lacks "
                f"{', '.join(absent)}"
            )
        super().__init__(frame)

    @cached_property
    def features(self) -> dict[str, ComparedFeature]:
        """Each feature by name."""
        return {name: self._feature(name) for name in self.summaries}

    def _feature(self, name: str) -> ComparedFeature:
        summaries = self.summaries[name]
        row = next(iter(next(iter(summaries.values())).values()))
        if not is_missing(row.get("part")):  # what is said of the whole is said of its other values
            row = {**next(iter(summaries[None].values())), "label": row["label"]}
        return ComparedFeature(
            name=name,
            **{about: _text(row[about]) for about in ("label", "section", "unit", "role", "likelihood")},
            scored=_text(row.get("scored")),
            summaries=summaries,
            contrast=self.contrasts.get(name, {}),
            tests={
                (level, *pair): tests["student"]
                for level in summaries
                for pair, tests in self.tests.get((name, level), {}).items()
                if "student" in tests
            },
        )

    def are_tested(self, a: int, b: int) -> bool:
        """Return whether two subtypes were tested against each other, which needs both to be large enough."""
        pair = (min(a, b), max(a, b))
        return any(pair in pairs for pairs in self.tests.values())


def _text(value: object) -> str:
    return "" if is_missing(value) else str(value)
