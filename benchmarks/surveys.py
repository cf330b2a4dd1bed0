"""Measure how often a default fit divides survey tables without kinds of people, and tables of two latent classes.

    python benchmarks/surveys.py --cohorts 4                                      # a first look
    python benchmarks/surveys.py --cohorts 20 --jobs 2 --keep FOLDER --write      # results/surveys.md

Without kinds: measurements with a common factor, of which one is years at school (half of the people have 12), two end
at a limit that 40% reach, or three are mostly rounded to tens; and ten nominal answers, each of which depends on the
one before, on another, or on two others alone, also with age and income. With two classes: ten nominal answers with
other shares in each class; the best rule of assignment is wrong in the share that is printed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from continuum_levels import Row, share
from gaps import measure
from numpy.typing import NDArray
from scipy.special import ndtr

from clinclust import MAPDP, Feature, FeatureSchema

Array = NDArray[np.float64]
Cohort = tuple[pd.DataFrame, float]
"""A table, and the share of people whom the best rule of assignment places wrongly; NaN without classes."""

RESULTS = Path(__file__).parent / "results" / "surveys.md"
N_SUBJECTS = (500, 2000)
_SCHOOL = (0.01, 0.03, 0.06, 0.10, 0.17, 0.25, 0.72, 0.78, 0.86, 0.89, 0.95, 0.97)
"""Shares of people with fewer than 7, 8, ... 18 years at school."""
_STRENGTH = 0.9  # SD of the effects of one answer on the log odds of another


def _measurements(heap: Callable[[Array, np.random.Generator], None]) -> Callable[[np.random.Generator, int], Cohort]:
    def drawn(rng: np.random.Generator, n: int) -> Cohort:
        values = np.sqrt(0.25) * rng.normal(size=(n, 1)) + np.sqrt(0.75) * rng.normal(size=(n, 8))
        heap(values, rng)
        return pd.DataFrame(values, columns=[f"m{place}" for place in range(8)]), np.nan

    return drawn


def _school(values: Array, rng: np.random.Generator) -> None:
    values[:, 0] = 6.0 + np.searchsorted(_SCHOOL, ndtr(values[:, 0]))


def _half_at_12(values: Array, rng: np.random.Generator) -> None:
    values[:, 0] = np.where(np.abs(values[:, 0]) < 0.69, 12.0, np.round(12.0 + 2.6 * values[:, 0]))


def _floor(values: Array, rng: np.random.Generator) -> None:
    values[:, :2] = np.maximum(values[:, :2], -0.25)


def _rounded(values: Array, rng: np.random.Generator) -> None:
    pressures = 120.0 + 15.0 * values[:, :3]
    values[:, :3] = np.where(rng.random(pressures.shape) < 0.6, 10.0 * np.round(pressures / 10.0), np.round(pressures))


def _answers(n_parents: int, *, is_chain: bool = False, has_age: bool = False) -> Callable[..., Cohort]:
    def drawn(rng: np.random.Generator, n: int) -> Cohort:
        answers = list[NDArray[np.int64]]()
        n_levels = rng.integers(2, 6, 10)
        for place, levels in enumerate(n_levels):
            odds = np.log(rng.dirichlet(np.full(levels, 3.0))) + np.zeros((n, 1))
            parents = [place - 1] if is_chain else rng.permutation(place)[:n_parents]
            for parent in parents if place else ():
                odds = odds + rng.normal(0.0, _STRENGTH, (n_levels[parent], levels))[answers[parent]]
            answers.append((odds + rng.gumbel(size=odds.shape)).argmax(axis=1))
        frame = _named(answers)
        if has_age:
            frame["age"] = np.round(45.0 + 8.0 * answers[0] + 15.0 * rng.normal(size=n))
            frame["log_income"] = 0.3 * answers[3] + 0.6 * rng.normal(size=n)
        return frame, np.nan

    return drawn


def _classes(apart: float) -> Callable[[np.random.Generator, int], Cohort]:
    """Return tables of two classes, whose log odds of an answer are this far apart (root mean square)."""

    def drawn(rng: np.random.Generator, n: int) -> Cohort:
        is_second, answers, odds = (rng.random(n) < 0.4).astype(np.int64), list[NDArray[np.int64]](), np.log(0.4 / 0.6)
        for levels in rng.integers(3, 6, 10):
            middle, effect = np.log(rng.dirichlet(np.full(levels, 3.0))), rng.normal(size=levels)
            effect *= apart / np.sqrt(levels * (effect**2).mean())
            both = np.array([middle - effect / 2.0, middle + effect / 2.0])
            both -= np.log(np.exp(both).sum(axis=1, keepdims=True))
            answers.append((both[is_second] + rng.gumbel(size=(n, levels))).argmax(axis=1))
            odds = odds + (both[1] - both[0])[answers[-1]]
        return _named(answers), float(((odds > 0.0) != is_second).mean())

    return drawn


def _named(answers: list[NDArray[np.int64]]) -> pd.DataFrame:
    return pd.DataFrame({f"answer {place}": [f"level {code}" for code in codes] for place, codes in enumerate(answers)})


KINDS: dict[str, Callable[[np.random.Generator, int], Cohort]] = {
    "years at school": _measurements(_school),
    "half of the people have one value": _measurements(_half_at_12),
    "two columns end at a limit": _measurements(_floor),
    "three columns rounded to tens": _measurements(_rounded),
    "answers that depend on the one before": _answers(1, is_chain=True),
    "answers that depend on another": _answers(1),
    "answers that depend on two others": _answers(2),
    "answers, age and income": _answers(2, has_age=True),
    "two classes, near": _classes(2.0),
    "two classes": _classes(2.5),
    "two classes, far": _classes(3.2),
}


def _feature(name: str, column: pd.Series) -> Feature:
    if pd.api.types.is_numeric_dtype(column):
        return Feature(name=name, likelihood="gaussian")
    levels = tuple(sorted(column.unique()))
    return Feature(name=name, likelihood="bernoulli" if len(levels) == 2 else "categorical", levels=levels)


def fitted(task: tuple[str, int, int]) -> list[Row]:
    """Fit a table with the default settings."""
    warnings.simplefilter("ignore")
    kind, n, seed = task
    frame, wrong = KINDS[kind](np.random.default_rng([seed, n, list(KINDS).index(kind)]), n)
    schema = FeatureSchema([_feature(name, frame[name]) for name in frame])
    model = MAPDP(schema, random_state=seed, n_jobs=1, progress=False).fit(frame)
    n_kinds = len(np.unique(model.kinds_))
    return [{"kind": kind, "n": n, "seed": seed, "n_subtypes": model.n_clusters_, "n_kinds": n_kinds, "wrong": wrong}]


def table(rows: pd.DataFrame) -> str:
    """Return the Markdown table of the shares divided and called kinds, with their standard errors."""
    lines = ["| tables | N | divided (SE) | two or more kinds (SE) | wrong at best |", "| --- " * 5 + "|"]
    for (kind, n), group in rows.groupby(["kind", "n"], sort=False):
        cells = [share(group["n_subtypes"] > 1), share(group["n_kinds"] > 1)]
        wrong = "" if group["wrong"].isna().all() else f"{group['wrong'].mean():.3f}"
        lines.append(f"| {kind} | {n} | {' | '.join(cells)} | {wrong} |")
    return "\n".join(lines)


def _page(rows: pd.DataFrame, n_cohorts: int) -> str:
    about = " ".join((__doc__ or "").split("\n\n", 2)[2].split())
    how = f"{n_cohorts} tables of each kind, a third of 2,000 people, fitted as by default. {about}"
    return f"# How often survey tables are divided\n\n{how}\n\n{table(rows)}"


if __name__ == "__main__":
    measure(__doc__ or "", fitted, [(kind, n) for n in N_SUBJECTS for kind in KINDS], _page, RESULTS)
