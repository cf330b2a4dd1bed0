"""Impute missing values: how far off, and how often does a 90% interval hold the value, beside other imputers?

    python benchmarks/imputation.py              # what results/imputation.md holds
    python benchmarks/imputation.py --seeds 4    # more masks

All methods get the same numbers: laboratory values as logarithms, levels of a kind as indicators. miceforest takes part
if it is installed (6.0.5 needs lightgbm below 4.6), with one mask of each cohort; it takes the most time.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from imputation_cohorts import COHORTS, erased, levels_of
from scipy.stats import t as t_distribution
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import clinclust as cc

RESULTS = Path(__file__).parent / "results" / "imputation.md"
SHARES, MECHANISMS, LEVEL, NORMAL = (0.1, 0.3, 0.5), ("at random", "by size"), 0.9, 1.6449
HAS_FORESTS = importlib.util.find_spec("miceforest") is not None
SETTINGS = {"n_restarts": 3, "random_state": 0, "progress": False}
POOLED_COHORTS, POOLED_N, IMPUTATIONS, N_FORESTS = 40, 120, 20, 5


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
    kernel.mice(2, num_iterations=15, n_jobs=2, verbose=-1)
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


def judged(task: Task, found: Found) -> dict[str, float]:
    """Return the errors of one completed table, and how many of its intervals hold the value."""
    values, lower, upper = found
    errors, wrong, held, held_whole = [], [], [], []
    for feature in task.schema:
        rows = task.where[feature.name].to_numpy()
        true = feature.transformed(task.truth[feature.name])
        guess = values[feature.name].to_numpy(dtype=float)
        if levels_of(feature):
            wrong.append((guess != true)[rows])
            continue
        errors.append(np.sqrt(np.mean(np.square(guess - true)[rows])) / true.std())
        if lower is not None and upper is not None:
            within = (lower[feature.name].to_numpy(float) <= true) & (true <= upper[feature.name].to_numpy(float))
            (held_whole if feature.traits.is_whole else held).append(within[rows])
    return {
        "error": float(np.mean(errors)),
        "wrong": float(np.concatenate(wrong).mean()) if wrong else np.nan,
        "held": float(np.concatenate(held).mean()) if held else np.nan,
        "held, whole numbers": float(np.concatenate(held_whole).mean()) if held_whole else np.nan,
    }


def runs(n_seeds: int) -> Iterator[dict[str, Any]]:
    """Yield one row for each cohort, share, mechanism, mask and method."""
    for name, share, mechanism, seed in product(COHORTS, SHARES, MECHANISMS, range(n_seeds)):
        rng = np.random.default_rng([seed, round(100 * share), mechanism == "by size", len(name)])
        frame, schema = COHORTS[name](rng)
        seen, where = erased(frame, share, mechanism, rng)
        task = Task(schema.validate(seen, warn=False), schema.validate(frame, warn=False), where, schema)
        for method, function in METHODS.items():
            is_slow = method == "miceforest"
            if is_slow and not (HAS_FORESTS and (seed, share, mechanism) == (0, 0.3, "at random")):
                continue
            began = time.perf_counter()
            found = judged(task, function(task))
            seconds = time.perf_counter() - began
            yield {"cohort": name, "share": share, "mechanism": mechanism, "method": method, "s": seconds, **found}


def pooled(n_cohorts: int) -> pd.DataFrame:
    """Return how often 95% intervals of means hold the true mean, and their mean width, after each way to impute."""
    rows = []
    for seed in range(n_cohorts):
        rng = np.random.default_rng([7, seed])
        of_subject = rng.integers(2, size=POOLED_N)
        means = np.array([[0.0] * 6, [2.5, -2.5, 2.5, -2.5, 2.5, -2.5]])
        whole = pd.DataFrame(means[of_subject] + rng.normal(size=(POOLED_N, 6)), columns=[f"x{d}" for d in range(6)])
        seen = whole.mask(rng.random(whole.shape) < 0.4)
        schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in whole])
        model = cc.MAPDP(schema, **SETTINGS).fit(seen)
        tables = {
            "multiple_imputations": model.multiple_imputations(seen, m=IMPUTATIONS, random_state=seed),
            "impute(how='draw'), repeated": [
                model.impute(seen, how="draw", random_state=1000 * seed + number) for number in range(IMPUTATIONS)
            ],
            "impute, once, as if observed": [model.impute(seen)] * 2,
            "observed values alone": [seen] * 2,
        }
        true = means.mean(axis=0)
        for method, completed in tables.items():
            estimates = np.array([table.mean() for table in completed])
            variances = np.array([table.var() / table.notna().sum() for table in completed])
            found = cc.pool_estimates(estimates, variances, df_complete=POOLED_N - 1)
            held = (found["lower"] <= true) & (true <= found["upper"])
            width = (found["upper"] - found["lower"]).mean()
            off = np.sqrt(np.mean(np.square(found["estimate"] - true)))
            rows.append({"method": method, "held": held.mean(), "width": width, "error": off})
    return pd.DataFrame(rows).groupby("method", sort=False).mean()


def shown(value: float) -> str:
    """Return a number with two digits; nothing for a missing one."""
    return "" if np.isnan(value) else f"{value:.2f}"


def table_of(rows: pd.DataFrame, what: str, where: str) -> list[str]:
    """Return the lines of a table of one number: a row for each method, a column for each cohort and share."""
    part = rows[rows["mechanism"] == where]
    cells = part.groupby(["method", "cohort", "share"], sort=False)[what].mean().unstack(["cohort", "share"])
    cells = cells.dropna(axis=1, how="all").dropna(axis=0, how="all")
    heads = [f"{cohort} {share:.0%}" for cohort, share in cells.columns]
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    return [
        *lines,
        *(
            f"| {method} | {' | '.join(map(shown, row))} |"
            for method, row in zip(cells.index, cells.to_numpy(), strict=True)
        ),
    ]


def written(rows: pd.DataFrame, means: pd.DataFrame, n_seeds: int) -> str:
    """Return the page of results."""
    lines = [
        "# Imputed values and their intervals",
        "",
        f"Made by `benchmarks/imputation.py`: {n_seeds} masks of each kind (miceforest: one of 30%, at random; its intervals are those of Student's t from five imputations). *groups*: 300 subjects in "
        "four groups, 16 features of five likelihoods; *continuum*: 300 subjects of one population, two factors through "
        "the same features; *diabetes* (442 subjects, 10 features) and *wine* (178, 13) of scikit-learn. Values are missing "
        "completely at random, or *by size*: the larger, the more often.",
        "",
        "The three rows of clinclust are one fit: the mean or median of the mixture over all clusters, and the mean where "
        "the most probable subtype is taken for known.",
        "",
    ]
    for what, title in TITLES.items():
        for mechanism in MECHANISMS:
            lines += [f"## {title}, missing {mechanism}", "", *table_of(rows, what, mechanism), ""]
    lines += [
        "## Means after multiple imputation",
        "",
        f"{len(means.attrs['cohorts'])} cohorts of {POOLED_N} subjects in two groups, six measurements, 40% missing at random; 95% intervals of "
        f"the six means by `pool_estimates`, m = {IMPUTATIONS}.",
        "",
        "| method | intervals that hold the mean | width | error |",
        "| --- | --- | --- | --- |",
        *(
            f"| {method} | {row['held']:.3f} | {row['width']:.3f} | {row['error']:.3f} |"
            for method, row in means.iterrows()
        ),
        "",
        "## Seconds",
        "",
        ", ".join(
            f"{method}: {seconds:.2f}" for method, seconds in rows.groupby("method", sort=False)["s"].mean().items()
        )
        + "; the mean of one table, with the fit.",
    ]
    return "\n".join(lines) + "\n"


TITLES = {
    "error": "Error of numbers (root mean square, in standard deviations)",
    "wrong": "Share of wrong levels",
    "held": "90% intervals of measurements that hold the value",
    "held, whole numbers": "90% intervals of counts and scales that hold the value",
}


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="masks of each kind")
    parser.add_argument("--pooled", type=int, default=POOLED_COHORTS, help="cohorts whose means are pooled")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    rows = pd.DataFrame(list(runs(options.seeds)))
    means = pooled(options.pooled)
    means.attrs["cohorts"] = range(options.pooled)
    page = written(rows, means, options.seeds)
    print(page)
    print(f"{time.perf_counter() - began:.0f} s")
    RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
