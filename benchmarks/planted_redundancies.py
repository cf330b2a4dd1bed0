"""Draw cohorts with one planted redundancy each, in shapes that hospitals export, and the same without any.

The seeds begin with a word that no other benchmark or test uses: the limits of the search were not set on these tables.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

SEED = int.from_bytes(b"planted", "big")
Array = np.ndarray
Planted = tuple[dict[str, Array], str]
_BACKGROUND = (
    "ferritin albumin sodium crp platelets lipase gait tremor sleep mood visits falls smoker fever rash ward tsh iron"
)
_ITEMS = "interest low sleepless tired appetite guilt focus slow harm worry restless dread numb tense"


def rng_of(*parts: int) -> np.random.Generator:
    """Return a generator of these seeds."""
    return np.random.default_rng([SEED % 2**32, *parts])


def background(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Return 18 columns of subtypes: measurements, counts, scales, yes/no and levels, some of them skewed."""
    labels = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    columns: dict[str, Array] = {}
    for place, name in enumerate(_BACKGROUND.split()):
        shift = rng.normal(0, 0.9, 3)[labels]
        latent = shift + rng.normal(size=n)
        if place < 4:
            columns[name] = np.exp(2.5 + 0.6 * latent).round(1)
        elif place < 7 or place > 15:
            columns[name] = (50 + 8 * latent).round(1)
        elif place < 10:
            columns[name] = np.clip(np.round(2 + latent), 0, 5)
        elif place < 12:
            columns[name] = rng.poisson(np.exp(0.5 + 0.5 * shift)).astype(float)
        elif place < 15:
            columns[name] = (latent > 0.4).astype(float)
        else:
            columns[name] = rng.choice(np.array(["north", "south", "west"], dtype=object), n)
    return columns


def items(rng: np.random.Generator, n: int, k: int, missing: float) -> Array:
    """Return k items of a questionnaire, scored 0 to 3, with missing answers."""
    severity = rng.normal(size=(n, 1))
    answers = np.clip(np.round(1.2 + 0.7 * severity + 0.9 * rng.normal(size=(n, k))), 0, 3)
    answers[rng.random((n, k)) < missing] = np.nan
    return answers


def named(rng: np.random.Generator, answers: Array) -> dict[str, Array]:
    """Return items by name: one stem and a number, or words that share none."""
    if rng.random() < 0.5:
        return {f"phq{place + 1}": column for place, column in enumerate(answers.T)}
    return dict(zip(_ITEMS.split(), answers.T, strict=False))


def of_items(how: str, missing: float) -> Callable[[np.random.Generator, int], Planted]:
    """Return what plants a total, prorated total or mean of the available items, under a telling or a silent name."""

    def plant(rng: np.random.Generator, n: int) -> Planted:
        k = int(rng.integers(5, 13))
        answers = items(rng, n, k, missing)
        scored = answers.copy()
        if how == "reversed":
            scored[:, : k // 3] = 3 - scored[:, : k // 3]
        seen = (~np.isnan(scored)).sum(axis=1)
        total = np.nansum(scored, axis=1)
        result = {"total": total, "reversed": total, "mean": (total / np.maximum(seen, 1)).round(2)}
        result["prorated"] = np.round(total / np.maximum(seen, 1) * k, int(rng.integers(0, 2)))
        value = np.where(seen > 0, result[how], np.nan)
        name = str(rng.choice(["phq_total", "depression", "score_x"]))
        return {**named(rng, answers), name: value}, name

    return plant


def of_one(change: Callable[[np.random.Generator, Array], Array]) -> Callable[[np.random.Generator, int], Planted]:
    """Return what plants a column that is a function of one other."""

    def plant(rng: np.random.Generator, n: int) -> Planted:
        source = (rng.normal(120, 18, n)).round(int(rng.integers(0, 2)))
        source[rng.random(n) < 0.04] = np.nan
        result = change(rng, source)
        result = np.where(np.isnan(source) | (rng.random(n) < 0.03), np.nan, result)
        return {"marker_a": source, "zz": result}, "zz"

    return plant


def _bmi(rng: np.random.Generator, n: int) -> Planted:
    height, weight = rng.normal(170, 9, n).round(), np.exp(rng.normal(4.3, 0.2, n)).round(1)
    name = str(rng.choice(["bmi", "index", "k1"]))
    return {"height": height, "weight": weight, name: (weight / (height / 100) ** 2).round(1)}, name


def _change(rng: np.random.Generator, n: int) -> Planted:
    before = rng.normal(30, 6, n).round(1)
    after = (before * 0.7 + rng.normal(8, 4, n)).round(1)
    return {"first": before, "later": after, "shift": (after - before).round(1)}, "shift"


def _ratio(rng: np.random.Generator, n: int) -> Planted:
    one, other = np.exp(rng.normal(1, 0.5, n)).round(1) + 0.5, np.exp(rng.normal(2, 0.4, n)).round(1) + 0.5
    return {"neutrophils": one, "lymphocytes": other, "nlr": (one / other).round(2)}, "nlr"


def _levels(rng: np.random.Generator, n: int) -> Planted:
    site = rng.integers(0, 4, n)
    return {f"site_{place}": (site == place).astype(float) for place in range(4)}, "site_1"


def _recoded(rng: np.random.Generator, n: int) -> Planted:
    sex = rng.integers(0, 2, n)
    words = np.where(sex == 1, "m", "w").astype(object)
    return {"sex": words, "geschlecht": (sex + 1).astype(float)}, "geschlecht"


def _repeated(rng: np.random.Generator, n: int) -> Planted:
    true = rng.normal(size=n)
    both = [(130 + 15 * (np.sqrt(0.9) * true + np.sqrt(0.1) * rng.normal(size=n))).round() for _ in range(2)]
    return {"sbp_1": both[0], "sbp_2": both[1]}, "sbp_2"


KINDS: dict[str, Callable[[np.random.Generator, int], Planted]] = {
    "copy": of_one(lambda rng, x: x),
    "another unit, rounded": of_one(lambda rng, x: (x * 0.1333).round(2)),
    "reversed": of_one(lambda rng, x: 200 - x),
    "cut-off": of_one(lambda rng, x: (x > np.nanquantile(x, rng.uniform(0.3, 0.7))).astype(float)),
    "groups": of_one(lambda rng, x: np.digitize(x, np.nanquantile(x, [0.25, 0.6, 0.85])).astype(float)),
    "recoded sex": _recoded,
    "levels of one question": _levels,
    "index of height and weight": _bmi,
    "change": _change,
    "ratio": _ratio,
    "repetition": _repeated,
    "total, items complete": of_items("total", 0.0),
    "total of available items": of_items("total", 0.08),
    "total with reversed items": of_items("reversed", 0.08),
    "prorated total": of_items("prorated", 0.08),
    "mean of available items": of_items("mean", 0.08),
}


def planted_table(kind: str, seed: int) -> tuple[pd.DataFrame, str, set[str]]:
    """Return a table with one redundancy, the column that repeats others, and all columns concerned."""
    rng = rng_of(seed, list(KINDS).index(kind))
    n = int(rng.choice([150, 250, 500]))
    columns, result = KINDS[kind](rng, n)
    table = {**background(rng, n), **columns}
    names = rng.permutation(list(table)) if rng.random() < 0.3 else list(table)
    return pd.DataFrame({name: table[name] for name in names}), result, set(columns)


def clean_table(seed: int, *, has_items: bool) -> pd.DataFrame:
    """Return a table without redundancy; with or without a questionnaire, whose items share one severity."""
    rng = rng_of(seed, 999)
    n = int(rng.choice([150, 250, 500]))
    extra = named(rng, items(rng, n, 8, 0.08)) if has_items else {}
    return pd.DataFrame({**background(rng, n), **extra})


def separate_subtypes(seed: int, n: int, separation: float) -> pd.DataFrame:
    """Return 20 measurements, scales and yes/no features that depend on each other through subtypes alone."""
    rng = rng_of(seed, n, int(separation))
    k = int(rng.integers(2, 7))
    means = rng.normal(size=(k, 20)) * separation / np.sqrt(2.0)
    values = means[rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))] + rng.normal(size=(n, 20))
    columns = {}
    for place, column in enumerate(values.T):
        cuts = np.quantile(column, ([], [0.6], [0.3, 0.55, 0.75, 0.9])[place % 3])
        columns[f"c{place}"] = np.digitize(column, cuts).astype(float) if cuts.size else column.round(2)
    return pd.DataFrame(columns)
