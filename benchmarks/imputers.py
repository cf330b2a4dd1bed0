"""The ways to impute that `imputation.py` compares."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from imputation_cohorts import levels_of
from scipy.stats import t as t_distribution
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import clinclust as cc

__all__ = ["HAS_FORESTS", "LEVEL", "METHODS", "SETTINGS", "SLOW", "Found", "Task"]

LEVEL, N_IMPUTATIONS, N_DRAWS = 0.9, 5, 100
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
        return cc.methods.PublishedMAPDP(self.schema, **SETTINGS).fit(self.seen)


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


def ours(task: Task) -> Found:
    """Impute means, with intervals between quantiles of a hundred tables of `multiple_imputations`."""

    def scores(table: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({f.name: f.transformed(table[f.name]) for f in task.schema})

    tables = task.model.multiple_imputations(task.seen, N_DRAWS, random_state=0)
    draws = np.array([scores(table).to_numpy(dtype=float) for table in tables])
    value, ends = (
        scores(task.model.impute(task.seen)),
        np.quantile(draws, [0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0], axis=0),
    )
    return value, *(pd.DataFrame(end, value.index, value.columns) for end in ends)


def iterative(task: Task) -> Found:
    """Regress each column on the others in turn."""
    filled = (
        IterativeImputer(random_state=0)
        .set_output(transform="pandas")
        .fit_transform(as_numbers(task.seen, task.schema))
    )
    return from_numbers(filled, task.schema), None, None


def iterative_draws(task: Task) -> Found:
    """Draw from the posterior of each regression instead; means, and t intervals, of a few imputations."""
    numbers = as_numbers(task.seen, task.schema)
    imputers = [IterativeImputer(sample_posterior=True, random_state=seed) for seed in range(N_IMPUTATIONS)]
    drawn = [imputer.set_output(transform="pandas").fit_transform(numbers) for imputer in imputers]
    return tuple(from_numbers(table, task.schema) for table in of_draws(np.array(drawn), numbers.columns))


def of_draws(drawn: np.ndarray, columns: pd.Index) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the means of a few imputations (m, N, D), and the ends of Student's t intervals."""
    m = len(drawn)
    spread = drawn.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / m) * t_distribution.ppf((1.0 + LEVEL) / 2.0, m - 1)
    return tuple(pd.DataFrame(drawn.mean(axis=0) + sign * spread, columns=columns) for sign in (0.0, -1.0, 1.0))


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
    kernel = miceforest.ImputationKernel(frame, num_datasets=N_IMPUTATIONS, random_state=0)
    kernel.mice(2, num_iterations=15, n_jobs=1)
    drawn = np.array([kernel.complete_data(number).astype(float).to_numpy() for number in range(N_IMPUTATIONS)])
    values, lower, upper = of_draws(drawn, frame.columns)
    for place, feature in enumerate(task.schema):
        if levels_of(feature):
            values[feature.name] = [float(np.bincount(row.astype(int)).argmax()) for row in drawn[:, :, place].T]
        elif feature.traits.is_whole:
            values[feature.name] = np.rint(values[feature.name])
    return values, lower, upper


METHODS: dict[str, Callable[[Task], Found]] = {
    "clinclust": ours,
    "IterativeImputer": iterative,
    "KNNImputer": nearest,
    "IterativeImputer, 5 draws": iterative_draws,
    "miceforest, 5 draws": forests,
    "the column's mean": middle,
}
SLOW = ("IterativeImputer, 5 draws", "miceforest, 5 draws")
"""They are given one mask of each cohort."""
