"""The ways to impute that `imputation.py` compares."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from imputation_cohorts import levels_of
from scipy.stats import t as t_distribution
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import clinclust as cc

__all__ = ["HAS_FORESTS", "LEVEL", "METHODS", "SETTINGS", "Found", "Task"]

LEVEL, NORMAL, N_FORESTS = 0.9, 1.6449, 5
HAS_FORESTS = importlib.util.find_spec("miceforest") is not None
SETTINGS = {"n_restarts": 3, "random_state": 0, "progress": False}


@dataclass(frozen=True)
class Task:
    """A table with missing values, its schema, the whole table, and which values were erased."""

    seen: pd.DataFrame
    truth: pd.DataFrame
    where: pd.DataFrame
    schema: cc.FeatureSchema

    @cached_property
    def model(self) -> cc.MAPDP:
        """The fit, which the first method that asks for it pays for."""
        return cc.MAPDP(self.schema, **SETTINGS).fit(self.seen)


def as_numbers(frame: pd.DataFrame, schema: cc.FeatureSchema) -> pd.DataFrame:
    """Return a validated table as peers get it: logarithms, scores, and indicators of unordered levels."""
    columns = {}
    for feature in schema:
        values = feature.transformed(frame[feature.name])
        if feature.likelihood == "categorical":
            for place in range(len(feature.levels)):
                columns[f"{feature.name}={place}"] = np.where(np.isnan(values), np.nan, values == place)
        else:
            columns[feature.name] = values
    return pd.DataFrame(columns, index=frame.index)


def from_numbers(numbers: pd.DataFrame, schema: cc.FeatureSchema) -> pd.DataFrame:
    """Return scores (transformed) of completed numbers; those of levels and whole numbers are rounded into range."""
    columns = {}
    for feature in schema:
        if feature.likelihood == "categorical":
            columns[feature.name] = numbers.filter(like=f"{feature.name}=").to_numpy().argmax(axis=1).astype(float)
        elif feature.traits.is_whole:
            most = feature.n_trials if feature.n_trials is not None else np.inf
            columns[feature.name] = np.clip(np.rint(numbers[feature.name]), 0.0, most)
        else:
            columns[feature.name] = numbers[feature.name]
    return pd.DataFrame(columns, index=numbers.index)


Found = tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame | None]
"""Scores of the completed table, and of the lower and upper ends, or None."""


def ours(**arguments: Any) -> Callable[[Task], Found]:
    """Return a method: imputation with these arguments."""

    def method(task: Task) -> Found:
        cells = task.model.impute(task.seen, interval=LEVEL, **arguments)
        tables = {}
        for column in ("value", "lower", "upper"):
            table = task.seen.astype(object)
            for name, part in cells.groupby("feature"):
                given = part[column] if part[column].notna().all() else part["value"]
                table.loc[part["row"].to_numpy(), name] = given.to_numpy()
            validated = task.schema.validate(table, warn=False)
            tables[column] = pd.DataFrame({f.name: f.transformed(validated[f.name]) for f in task.schema})
        return tables["value"], tables["lower"], tables["upper"]

    return method


def iterative(task: Task) -> Found:
    """Regress each column on the others in turn; intervals from the last regression of each column."""
    numbers = as_numbers(task.seen, task.schema)
    imputer = IterativeImputer(random_state=0).set_output(transform="pandas")
    filled = imputer.fit_transform(numbers)
    lower, upper = filled.copy(), filled.copy()
    for step in imputer.imputation_sequence_[-numbers.shape[1] :]:
        name = numbers.columns[step.feat_idx]
        rows = numbers[name].isna().to_numpy()
        if rows.any():
            others = filled.to_numpy()[rows][:, step.neighbor_feat_idx]
            _, spread = step.estimator.predict(others, return_std=True)
            lower.loc[rows, name] -= NORMAL * spread
            upper.loc[rows, name] += NORMAL * spread
    return tuple(from_numbers(table, task.schema) for table in (filled, lower, upper))


def nearest(task: Task) -> Found:
    """Average the five nearest neighbours, in standardised columns."""
    numbers = as_numbers(task.seen, task.schema)
    centre, spread = numbers.mean(), numbers.std().replace(0.0, 1.0)
    filled = KNNImputer().set_output(transform="pandas").fit_transform((numbers - centre) / spread)
    return from_numbers(filled * spread + centre, task.schema), None, None


def middle(task: Task) -> Found:
    """Fill in the mean, or the most frequent level."""
    numbers = as_numbers(task.seen, task.schema)
    return from_numbers(numbers.fillna(numbers.mean()), task.schema), None, None


def forests(task: Task) -> Found:
    """Chain gradient-boosted trees with predictive mean matching: means, and t intervals, of a few imputations."""
    import miceforest

    frame = pd.DataFrame({f.name: f.transformed(task.seen[f.name]) for f in task.schema})
    levels = [feature.name for feature in task.schema if levels_of(feature)]
    frame[levels] = frame[levels].astype("Int64").astype("category")
    kernel = miceforest.ImputationKernel(frame, num_datasets=N_FORESTS, random_state=0)
    kernel.mice(2, num_iterations=15, n_jobs=1)
    drawn = np.array([kernel.complete_data(number).astype(float).to_numpy() for number in range(N_FORESTS)])
    spread = drawn.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / N_FORESTS) * t_distribution.ppf(0.95, N_FORESTS - 1)
    values, lower, upper = (
        pd.DataFrame(drawn.mean(axis=0) + sign * spread, columns=frame.columns) for sign in (0.0, -1.0, 1.0)
    )
    for place, feature in enumerate(task.schema):
        if levels_of(feature):
            values[feature.name] = [float(np.bincount(row.astype(int)).argmax()) for row in drawn[:, :, place].T]
        elif feature.traits.is_whole:
            values[feature.name] = np.rint(values[feature.name])
    return values, lower, upper


METHODS: dict[str, Callable[[Task], Found]] = {
    "clinclust, mean": ours(how="mean"),
    "clinclust, median": ours(how="median"),
    "clinclust, subtype taken for known": ours(how="mean", within_subtype=True),
    "IterativeImputer": iterative,
    "KNNImputer": nearest,
    "miceforest": forests,
    "the column's mean": middle,
}
