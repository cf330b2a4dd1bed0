"""Adjustment: measurements as they would be at the average sex, age or site of the cohort.

Columns with the role ``adjust`` form no subtypes. Each clustered measurement is modelled given them, on the scale of
its model (after its transform) and with the subtype z of the subject:

    (y_id - c_d) / exp(g_di) = mu_d(z_i) + sum_c f_dc(x_ic) + error    g_di = sum_c g_dc(x_ic)     for measurements
    log E[y_id] = log mu_d(z_i) + sum_c f_dc(x_ic)                                                 for durations

A number has a restricted cubic spline with four knots as f (Harrell 2015, *Regression modeling strategies*, 2.4.4), or
a line if it has few values; a column of levels has one coefficient for each. A column of levels also has a spread, exp
g: the assay of one site may read a tenth higher from the mean c_d on than that of another. Terms are centred at their
means in the cohort, so that the adjusted table (`Adjustment.remove`) keeps its units and averages, and everything that
a fit needs of a table is done with the adjusted one. A missing x counts as the average. Counts, scales and levels are
not adjusted.

The coefficients are those within subtypes: where a subtype is more frequent in men, those of the whole cohort would
take a part of the difference between the subtypes for one between the sexes. They are therefore estimated in turns with
the partition, from those in the whole cohort and from those within the clusters of the unadjusted table, and the joint
of the cohort decides between the two (`estimate_adjustment`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clinclust.arrays import Array, Labels
from clinclust.engine.problem.encoding import model_values
from clinclust.errors import InputError
from clinclust.files.cell_text import listed
from clinclust.schema import Feature, FeatureSchema

_KNOTS = (0.05, 0.35, 0.65, 0.95)
"""Quantiles of the knots of a spline (Harrell 2015, table 2.3)."""
_FEW_VALUES = 10
"""Number of different values below which the term of a number is a line."""
_RIDGE = 5.0
"""Subjects without any effect that are added to those of the cohort, for levels that few have."""
_FARTHEST = 3.0
"""Standard deviations within clusters at which a residual is bounded: a gross value moves no coefficient by more."""
_STEPS, _TOLERANCE = 25, 1e-6
_ROUNDS = 4
"""Largest number of turns of partition and coefficients; measured, the second changes hardly anything."""


@dataclass(frozen=True, eq=False)
class Term:
    """The columns by which one column is adjusted for."""

    levels: list[float]
    """A column for each level but the first; none: a number."""
    knots: list[float]
    """Of the spline of a number; none: a line."""
    centres: list[float]
    scales: list[float]

    def columns(self, values: Array) -> Array:
        """Return its columns, (n, t): indicators of levels, or x and the cubes of a restricted spline."""
        columns = values[:, None]
        if self.levels:
            columns = np.where(np.isnan(columns), np.nan, columns == np.array(self.levels))
        elif self.knots:
            *knots, before, last = self.knots
            cubes = {knot: np.maximum(values - knot, 0.0) ** 3 for knot in self.knots}
            for knot in knots:
                bent = cubes[knot] - cubes[before] * (last - knot) / (last - before)
                columns = np.column_stack([columns, bent + cubes[last] * (before - knot) / (last - before)])
        return columns


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The estimated effects of the columns with the role ``adjust`` on the clustered measurements."""

    terms: dict[str, Term]
    """By the part of the column that is adjusted for."""
    coefficients: dict[str, list[float]]
    """The coefficients of each adjusted feature for all terms in their order, on the scale of its model."""
    spreads: dict[str, list[float]]
    """The coefficients of the log spread of each adjusted measurement, likewise."""
    middles: dict[str, list[float]]
    """The mean of each adjusted measurement in the cohort, c, and what becomes of it before effects are removed."""

    @classmethod
    def of(cls, frame: pd.DataFrame, schema: FeatureSchema) -> Adjustment:
        """Return the terms of a validated cohort with all coefficients 0."""
        terms = dict[str, Term]()
        for part, values in _covariates(frame, schema):
            observed = values[~np.isnan(values)]
            distinct = np.unique(observed)
            if distinct.size < 2:
                continue
            levels = distinct[1:].tolist() if part.traits.is_nominal or distinct.size == 2 else []
            knots = np.unique(np.quantile(observed, _KNOTS)).tolist()
            if levels or distinct.size < _FEW_VALUES or len(knots) < len(_KNOTS):
                knots = []
            columns = Term(levels, knots, [], []).columns(values)
            standards = np.nanmean(columns, axis=0).tolist(), np.nanstd(columns, axis=0).tolist()
            terms[part.name] = Term(levels, knots, *standards)
        n_terms = sum(len(term.centres) for term in terms.values())
        features = adjusted_features(schema) if n_terms else []
        coefficients = {feature.name: [0.0] * n_terms for feature in features}
        spreads = {feature.name: [0.0] * n_terms for feature in features if feature.traits.is_real}
        return cls(terms, coefficients, spreads, {name: [0.0, 0.0] for name in spreads})

    def problems(self, schema: FeatureSchema) -> list[str]:
        """Return why it cannot be the adjustment of a fit with this schema; empty if it can."""
        parts = {part.name for feature in schema if feature.role == "adjust" for part in feature.parts}
        is_measured = {feature.name: feature.traits.is_real for feature in adjusted_features(schema)}
        measured = {name for name in self.coefficients if is_measured.get(name)}
        are_named = self.terms.keys() <= parts and self.coefficients.keys() <= is_measured.keys()
        are_named &= self.spreads.keys() == self.middles.keys() == measured
        # The number of columns of each term: of a spline, two less than its knots and a line.
        sizes = [len(term.levels) or max(len(term.knots) - 2, 0) + 1 for term in self.terms.values()]
        are_sound = all(
            len(term.centres) == len(term.scales) == size and min(term.scales) > 0.0 and len(term.knots) in (0, 4)
            for term, size in zip(self.terms.values(), sizes, strict=True)
        )
        n_columns = ((self.coefficients, sum(sizes)), (self.spreads, sum(sizes)), (self.middles, 2))
        if are_named and are_sound and all(len(numbers) == size for of, size in n_columns for numbers in of.values()):
            return []
        return ["adjustment_ has other columns, terms or coefficients than its schema"]

    def design(self, frame: pd.DataFrame, schema: FeatureSchema) -> Array:
        """Return the terms of a validated table, float64 (n, T): mean 0 and one variance in the cohort, 0 = missing."""
        columns = [np.zeros((len(frame), 0))]
        for part, values in _covariates(frame, schema):
            if term := self.terms.get(part.name):
                standard = (term.columns(values) - term.centres) / term.scales
                columns.append(np.where(np.isnan(standard), 0.0, standard))
        return np.hstack(columns)

    def remove(self, frame: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
        """Return a validated table with the adjusted measurements, as they would be at the averages of the cohort."""
        return self._moved(frame, frame, schema, is_removed=True)

    def restore(self, completed: pd.DataFrame, frame: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
        """Return a completed adjusted table, any columns (n, ...), with the effects and observed values of `frame`."""
        restored = self._moved(completed, frame, schema, is_removed=False)
        for name in self.coefficients.keys() & set(completed.columns) & set(frame.columns):
            restored[name] = restored[name].where(frame[name].isna().to_numpy(), frame[name].to_numpy())
        return restored

    def log_jacobian(self, frame: pd.DataFrame, schema: FeatureSchema) -> Array:
        """Return what is added to the log density of an adjusted subject for that of the table, float64 (n,)."""
        total, design = np.zeros(len(frame)), self.design(frame, schema)
        for name, coefficients in (self.coefficients | self.spreads).items():  # divided by exp(effect) or exp(spread)
            total -= np.where(np.isnan(_measured(schema[name], frame)), 0.0, _summed(design, coefficients))
        return total

    def _moved(
        self, table: pd.DataFrame, frame: pd.DataFrame, schema: FeatureSchema, *, is_removed: bool
    ) -> pd.DataFrame:
        """Return a table whose measurements lose or get the effects of the columns of `frame`, in the same rows."""
        design, moved = self.design(frame, schema), table.copy()
        for name in self.coefficients.keys() & set(table.columns):
            feature, effects = schema[name], _summed(design, self.coefficients[name])
            values = _measured(feature, table)
            if not feature.traits.is_real:
                values = values * np.exp(-effects if is_removed else effects)
            else:
                (before, after), spread = self.middles[name], np.exp(_summed(design, self.spreads[name]))
                narrowed, widened = after + (values - before) / spread - effects, values + effects - after
                values = narrowed if is_removed else before + widened * spread
            column = table[name].to_numpy(dtype=np.float64, na_value=np.nan).copy()
            observed = ~np.isnan(values)  # not those at a point mass, such as 0 or beyond a limit of detection
            column[observed] = feature.parts[-1].from_model_scale(values[observed])
            moved[name] = column
        return moved


def _summed(design: Array, coefficients: list[float] | Array) -> Array:
    return np.asarray(np.einsum("nt,t->n", design, coefficients))


def adjusted_features(schema: FeatureSchema) -> list[Feature]:
    """Return the clustered features that are modelled given the columns with the role ``adjust``, if there are any."""
    if not any(feature.role == "adjust" for feature in schema):
        return []
    return [feature for feature in schema.clustered if feature.parts[-1].traits.is_continuous]


def refuse_adjustment(schema: FeatureSchema | None, what: str) -> None:
    """Raise InputError if a schema has columns to adjust for, which `what` cannot do."""
    if names := [feature.name for feature in schema or () if feature.role == "adjust"]:
        repair = "give the role describe, or fit a MAPDP on a table in memory"
        raise InputError(f"{what} cannot adjust measurements for {listed(names)}; {repair}")


def _covariates(frame: pd.DataFrame, schema: FeatureSchema) -> Iterator[tuple[Feature, Array]]:
    """Yield the parts of the columns with the role ``adjust``, and their values, float64 (n,)."""
    parts = tuple(part for feature in schema if feature.role == "adjust" for part in feature.parts)
    yield from zip(parts, model_values(frame, parts).values(), strict=True)


def _measured(feature: Feature, frame: pd.DataFrame) -> Array:
    """Return the amounts of a feature on the scale of its model, float64 (n,); NaN = missing or at a point mass."""
    part = feature.parts[-1]
    return model_values(frame, (part,))[part.name]


def within_clusters(adjustment: Adjustment, frame: pd.DataFrame, schema: FeatureSchema, labels: Labels) -> Adjustment:
    """Return the adjustment with the coefficients within these clusters, int64 (N,), of a validated table.

    They solve the normal equations of the module docstring by reweighting: residuals are bounded, as in Huber's
    regression (1981), and subjects without an effect are added. The log spread is that of the mean absolute residual.
    """
    design = adjustment.design(frame, schema)
    of_levels = np.concatenate([np.full(len(term.centres), bool(term.levels)) for term in adjustment.terms.values()])
    coefficients, spreads, middles = {}, {}, {}
    for feature in adjusted_features(schema):
        values = _measured(feature, frame)
        observed = ~np.isnan(values)
        values, terms = values[observed], design[observed]
        clusters = np.unique(labels[observed], return_inverse=True)[1]
        if not feature.traits.is_real:
            coefficients[feature.name] = _solve(values, terms, clusters, is_ratio=True).tolist()
            continue
        middle = float(values.mean()) if values.size else 0.0
        spread, narrowed = np.zeros(terms.shape[1]), values - middle
        for _ in range(2):  # where spreads differ, one effect does not fit all clusters, which widens the first rest
            rest = _rest(narrowed, terms, clusters, _solve(narrowed, terms, clusters))
            spread += _solve(np.abs(rest), terms * of_levels, clusters, is_ratio=True)
            narrowed = (values - middle) * np.exp(-_summed(terms, spread))
        coefficients[feature.name] = _solve(narrowed, terms, clusters).tolist()
        after = middle - (float(narrowed.mean()) if values.size else 0.0)
        spreads[feature.name], middles[feature.name] = spread.tolist(), [middle, after]
    return Adjustment(adjustment.terms, coefficients, spreads, middles)


def _rest(values: Array, design: Array, labels: Labels, coefficients: Array) -> Array:
    """Return y less its effects and the median of its cluster, float64 (N,)."""
    rest = values - _summed(design, coefficients)
    return np.asarray(rest - np.array([np.median(rest[labels == cluster]) for cluster in np.unique(labels)])[labels])


def _solve(values: Array, design: Array, labels: Labels, *, is_ratio: bool = False) -> Array:
    """Return the coefficients (T,) at which bounded residuals, or ratios, do not depend on the terms in clusters."""
    coefficients = np.zeros(design.shape[1])
    if not labels.size:
        return coefficients
    inside = design - _means(design, labels)[labels]
    inverse = np.linalg.inv(np.einsum("ns,nt->st", inside, inside) + _RIDGE * np.eye(design.shape[1]))
    for _ in range(_STEPS):
        if is_ratio:
            ratio = values * np.exp(-_summed(design, coefficients))
            mean = np.maximum(_means(ratio[:, None], labels)[labels, 0], 1e-300)
            rest = np.minimum(ratio / mean - 1.0, _FARTHEST)
        else:
            rest = _rest(values, design, labels, coefficients)
            bound = _FARTHEST * 1.4826 * float(np.median(np.abs(rest)))
            rest = np.clip(rest, -bound, bound) if bound > 0.0 else rest
        step = inverse @ (np.einsum("nt,n->t", inside, rest) - _RIDGE * coefficients)
        coefficients = coefficients + step
        if np.abs(step).max() <= _TOLERANCE * max(float(np.abs(coefficients).max()), 1e-12):
            break
    return coefficients


def _means(columns: Array, labels: Labels) -> Array:
    sums = np.zeros((int(labels.max()) + 1, columns.shape[1]))
    np.add.at(sums, labels, columns)
    return sums / np.maximum(np.bincount(labels), 1)[:, None]


def estimate_adjustment(
    frame: pd.DataFrame, schema: FeatureSchema, search: Callable[[pd.DataFrame], tuple[Labels, float]]
) -> Adjustment | None:
    """Return the adjustment of a validated cohort, or None if no column with the role ``adjust`` varies.

    `search` returns the clusters of an adjusted table, and its log joint. Two chains of turns begin with the effects in
    the whole cohort, and with none; each ends when its joint no longer rises.
    """
    none = Adjustment.of(frame, schema)
    if not none.coefficients:
        return None
    together = np.zeros(len(frame), dtype=np.int64)
    ends: list[tuple[float, Adjustment]] = []
    for first in (within_clusters(none, frame, schema, together), none):
        adjustment, best = first, (-np.inf, first)
        for _ in range(_ROUNDS):
            labels, joint = search(adjustment.remove(frame, schema))
            joint += float(adjustment.log_jacobian(frame, schema).sum())
            if joint <= best[0]:
                break
            best = joint, adjustment
            adjustment = within_clusters(adjustment, frame, schema, labels)
        ends.append(best)
    return max(ends, key=lambda end: end[0])[1]
