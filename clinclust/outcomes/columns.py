"""Outcomes, times and covariates of the cohort of a model, read as its schema or a draft says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from clinclust.arrays import Array, Mask
from clinclust.drafting import draft_schema
from clinclust.errors import InputError
from clinclust.estimators.fitted_cohort import cohort_of, rows_of_the_fit
from clinclust.estimators.subtype_model import clustered_features
from clinclust.nearest import did_you_mean
from clinclust.outcomes.densities import in_intervals
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

Kind: TypeAlias = Literal["continuous", "binary", "count", "ordinal", "survival"]

KINDS: dict[str, Kind] = {
    "bernoulli": "binary",
    "binomial": "ordinal",
    "ordinal": "ordinal",
    "poisson": "count",
    "geometric": "count",
    "negative_binomial": "count",
    "gaussian": "continuous",
    "multivariate_gaussian": "continuous",
    "exponential": "continuous",
}
"""The kind of an outcome by the likelihood of its column."""
_MOST_LEVELS = 10
"""Number of different values above which a scale counts as continuous."""


@dataclass(frozen=True)
class Outcome:
    """An outcome of N subjects."""

    name: str
    kind: Kind
    observed: Array
    """(N,), NaN = missing; of ``"survival"``, 1 for the event and 0 for none."""
    time: Array | None = None
    """(N,) end of follow-up, NaN = missing."""
    entry: Array | None = None
    """(N,) begin of follow-up."""

    @property
    def is_known(self) -> Mask:
        """Whether the outcome of a subject is observed, bool (N,)."""
        known = ~np.isnan(self.observed)
        return known if self.time is None or self.entry is None else known & ~np.isnan(self.time + self.entry)

    def modelled(self, chosen: Mask) -> Array:
        """Return the outcomes of some subjects, (n,), for `Density.terms`; (n, 2J) of times."""
        if self.time is None or self.entry is None:
            return self.observed[chosen] if self.kind != "ordinal" else _ranked(self.observed[chosen])
        return in_intervals(self.time[chosen], self.observed[chosen], self.entry[chosen])


def _ranked(values: Array) -> Array:
    """Return observed levels numbered 0, 1, ... without a gap."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)


class CohortColumns:
    """The columns of the table of a cohort, in the order of the model."""

    def __init__(self, model: SubtypeModel, frame: pd.DataFrame) -> None:
        validated = cohort_of(model, frame, stacklevel=4)
        rows = None if model.fit_ is None else rows_of_the_fit(model.fit_, frame)
        self._table = frame if rows is None else frame.iloc[rows]
        self._model, self._validated, self._schema = model, validated, model.schema_
        self.problems: list[str] = []

    def refuse(self) -> None:
        """Raise InputError with all problems, if there are any."""
        if self.problems:
            raise InputError("; ".join(self.problems))

    def check(self, versus: int, level: float, names: Sequence[str], called: str, *, alone: bool = False) -> None:
        """Note what is wrong with the subtype to compare with, the level, and columns that formed the subtypes.

        With `alone`, one subtype is enough.
        """
        n_subtypes = int(np.asarray(self._model.labels_).max()) + 1
        if not 0.0 < level < 1.0:
            self.problems.append(f"level must lie between 0 and 1, not {level!r}")
        if n_subtypes == 1 and not alone:
            self.problems.append("there is one subtype, so nothing can be compared")
        elif not 1 <= versus <= n_subtypes:
            self.problems.append(f"versus must be a subtype from 1 to {n_subtypes}, not {versus}")
        formed = [repr(name) for name in names if name in clustered_features(self._model)]
        if formed:
            self.problems.append(f"{called}: the subtypes were found from {', '.join(formed)}")

    def read(self, name: str, called: str) -> tuple[Feature, pd.Series] | None:
        """Return the feature and the validated column of a name; None, and a problem, if there is no such column."""
        if name not in self._table.columns:
            near = did_you_mean(name, map(str, self._table.columns))
            self.problems.append(f"{called}: the table has no column {name!r}.{near}")
            return None
        if name in self._schema and self._schema[name].likelihood is not None:
            return self._schema[name], self._validated[name]
        column = self._table[[name]]
        drafted = draft_schema(column, roles={name: "describe"}, progress=False)
        if drafted[name].likelihood is None:
            self.problems.append(f"{called}: {name!r} has no two different values; name another column")
            return None
        return drafted[name], FeatureSchema([drafted[name]]).validate(column, warn=False)[name]

    def outcome(self, name: str, event: str | None) -> Outcome | None:
        """Return an outcome without a time; `event` is the level that counts as 1, of levels."""
        found = self.read(name, "outcome")
        if found is None:
            return None
        feature, column = found
        if event is not None:
            values = self._is_level(feature, column, event)
            return None if values is None else Outcome(name, "binary", values)
        if feature.likelihood not in KINDS:
            levels = ", ".join(map(str, feature.levels or ()))
            self.problems.append(f"outcome: {name!r} has levels without order; name one as the event: {levels}")
            return None
        values, kind = feature.scores(column), KINDS[feature.likelihood]
        if np.isinf(values).any():
            self.problems.append(f"outcome: {name!r} has values beyond a limit of detection; give them a number")
            return None
        if kind == "ordinal" and np.unique(values[~np.isnan(values)]).size > _MOST_LEVELS:
            kind = "continuous"
        return Outcome(name, kind, values)

    def survival(self, name: str, time: str, entry: str | None, event: str | None) -> Outcome | None:
        """Return an outcome with the time to it."""
        found = self.read(name, "outcome")
        ends, begins = self._number(time, "time"), None if entry is None else self._number(entry, "entry")
        if found is None or ends is None or (entry is not None and begins is None):
            return None
        feature, column = found
        if event is None and not feature.traits.is_yes_no:
            named = ", ".join(map(str, feature.levels or ())) or "it should have levels, not numbers"
            self.problems.append(f"event: say which level of {name!r} is the event: {named}")
            return None
        values = feature.scores(column) if event is None else self._is_level(feature, column, event)
        begins = np.zeros(ends.size) if begins is None else begins
        if (ends < 0.0).any():
            self.problems.append(f"time: {int((ends < 0.0).sum())} values of {time!r} are below 0")
        if (ends <= begins).any():
            n_early, begin = int((ends <= begins).sum()), "0" if entry is None else repr(entry)
            self.problems.append(f"time: {n_early} values of {time!r} are not above {begin}, where follow-up begins")
        return None if values is None else Outcome(name, "survival", values, ends, begins)

    def covariates(self, names: Sequence[str], called: str) -> tuple[list[str], Array]:
        """Return terms and their values, float64 (N, C), NaN = missing; levels without order have an indicator each."""
        terms: list[str] = []
        columns = [np.empty((len(self._table), 0))]
        for name in names:
            found = self.read(name, called)
            if found is None:
                continue
            feature, column = found
            scores, levels = feature.scores(column), [str(level) for level in feature.levels or ()]
            if feature.traits.is_nominal:
                others = np.arange(1, len(levels))
                terms += [f"{name}: {levels[level]}" for level in others]
                columns.append(np.where(np.isnan(scores)[:, None], np.nan, scores[:, None] == others))
            else:
                terms.append(f"{name}: {levels[-1]}" if feature.traits.is_yes_no and levels else name)
                columns.append(scores[:, None])
        return terms, np.hstack(columns)

    def _number(self, name: str, called: str) -> Array | None:
        found = self.read(name, called)
        if found is None:
            return None
        feature, column = found
        if feature.levels is not None:
            self.problems.append(f"{called}: {name!r} holds levels, not numbers")
            return None
        return feature.scores(column)

    def _is_level(self, feature: Feature, column: pd.Series, event: str) -> Array | None:
        """Return 1 for a level and 0 for others, NaN = missing, float64 (N,)."""
        scores = feature.scores(column)
        if feature.levels is None:
            values = column.astype("string").str.removesuffix(".0").to_numpy(dtype=object, na_value="")
            known, at = sorted(set(values) - {""}), values == event
        else:
            known = [str(level) for level in feature.levels]
            at = scores == (known.index(event) if event in known else -1)
        if event not in known:
            some = ", ".join(known[:8])
            self.problems.append(f"event: {feature.name!r} has no level {event!r}; it has {some}")
            return None
        return np.where(np.isnan(scores), np.nan, at)
