# ruff: noqa: E501 - tables of cases read best with one case a line
"""Measure what a draft tells of odd numbers: suspected missing codes, and two units in one column.

    python benchmarks/odd_numbers.py               # 25 columns of each kind and size
    python benchmarks/odd_numbers.py --columns 100 # what results/odd_numbers.md holds

Every column is simulated; the last columns of the tables are rates of columns in which something is told.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from clinclust.drafting.missing_codes import outlying_codes
from clinclust.drafting.suspected_codes import suspected_codes
from clinclust.drafting.two_units import two_units

RESULTS = Path(__file__).parent / "results" / "odd_numbers.md"
Array = np.ndarray
Draw = Callable[[np.random.Generator, int], Array]


def lognormal(median: float, sd: float, decimals: int | None = None) -> Draw:
    """Return what draws lognormal values, rounded if so asked."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        values = np.exp(rng.normal(np.log(median), sd, n))
        return values if decimals is None else values.round(decimals)

    return draw


def normal(mean: float, sd: float, decimals: int | None = None) -> Draw:
    """Return what draws normal values, rounded if so asked."""

    def draw(rng: np.random.Generator, n: int) -> Array:
        values = rng.normal(mean, sd, n)
        return values if decimals is None else values.round(decimals)

    return draw


def mixed(share: float, one: Draw, other: Draw) -> Draw:
    """Return what draws a share of the subjects from one population, and the others from another."""
    return lambda rng, n: np.where(rng.random(n) < share, one(rng, n), other(rng, n))


def _child(rng: np.random.Generator, n: int) -> Array:
    return (18 * rng.beta(0.8, 1.2, n)).round(1).clip(0.1)


NO_CODES: dict[str, Draw] = {
    "Poisson, mean 20 to 900": lambda rng, n: rng.poisson(rng.choice([20, 50, 90, 100, 150, 900]), n),
    "lognormal, whole": lambda rng, n: lognormal(rng.choice([9, 30, 90, 200, 900, 3000]), rng.choice([0.3, 0.8, 1.4]), 0)(rng, n),
    "lognormal, one decimal": lambda rng, n: lognormal(rng.choice([3, 9, 30, 90]), rng.choice([0.3, 0.8, 1.4]), 1)(rng, n),
    "normal, whole": lambda rng, n: normal(rng.choice([70, 95, 97, 100, 120]), rng.choice([3, 10, 18]), 0)(rng, n),
    "overdispersed count": lambda rng, n: rng.negative_binomial(1, 0.02, n),
    "heaped at fives": lambda rng, n: np.where(rng.random(n) < 0.35, 5 * normal(11, 3, 0)(rng, n), normal(55, 16, 0)(rng, n)).clip(18),
    "percentiles from 1 to 99": lambda rng, n: np.clip(np.round(100 * rng.beta(0.6, 0.6, n)), 1, 99),
    "score that ends at 99": lambda rng, n: np.clip(normal(75, 25, 0)(rng, n), 0, 99),
    "saturation": lambda rng, n: np.clip(100 - rng.gamma(1.5, 2, n), 60, 100).round(),
    "two groups": mixed(0.5, normal(60, 5, 0), normal(110, 5, 0)),
    "many zeros": lambda rng, n: (rng.random(n) < 0.7) * lognormal(40, 0.5, 0)(rng, n),
}  # fmt: skip
CODES: dict[str, tuple[Draw, float]] = {
    "platelets, 999": (lognormal(190, 0.5, 0), 999),
    "age, 99": (lambda rng, n: rng.integers(18, 90, n), 99),
    "weight, 99": (normal(75, 12, 0), 99),
    "weight, 88": (normal(75, 12, 0), 88),
    "systolic pressure, 99": (normal(130, 18, 0), 99),
    "ferritin, 999": (lognormal(300, 1, 0), 999),
    "BNP, 9999": (lognormal(900, 1.3, 0), 9999),
    "haemoglobin, 9.9": (normal(13, 1.5, 1), 9.9),
    "BMI, 0": (lognormal(26, 0.18, 1), 0),
    "month, 88": (lambda rng, n: rng.integers(1, 13, n), 88),
    "day, 99": (lambda rng, n: rng.integers(1, 32, n), 99),
    "year, 9999": (lambda rng, n: rng.integers(1950, 2020, n), 9999),
}
TWO_UNITS: dict[str, tuple[str, Draw, Callable[[Array], Array]]] = {
    "m and cm": ("height", normal(1.7, 0.09), lambda x: 100 * x),
    "inches and cm": ("height", normal(67, 3.5), lambda x: 2.54 * x),
    "kg and lb, SD 20%": ("weight", lognormal(75, 0.2), lambda x: 2.2046 * x),
    "kg and lb, SD 15%": ("weight", lognormal(75, 0.15), lambda x: 2.2046 * x),
    "creatinine": ("creatinine", lognormal(1, 0.35), lambda x: 88.42 * x),
    "glucose": ("glucose", lognormal(5.5, 0.25), lambda x: 18.016 * x),
    "cholesterol": ("cholesterol", lognormal(5, 0.2), lambda x: 38.67 * x),
    "HbA1c": ("HbA1c", lambda rng, n: 5 + rng.gamma(1.6, 0.8, n), lambda x: 10.929 * x - 23.5),
    "temperature": ("temperature", lambda rng, n: 36.3 + rng.gamma(1.5, 0.5, n), lambda x: 1.8 * x + 32),
    "haemoglobin, mmol/L and g/dL": ("hb", normal(8.4, 1), lambda x: 1.611 * x),
    "factor 10, unknown name": ("marker", lognormal(5, 0.3), lambda x: 10 * x),
}
ONE_UNIT: dict[str, tuple[str, Draw]] = {
    "ages of adults": ("age", normal(60, 14, 0)),
    "ages of children and adults": ("age", mixed(0.3, _child, normal(55, 12, 0))),
    "ages of children": ("age", _child),
    "heights of children and adults": ("height", mixed(0.3, normal(110, 15), normal(170, 9))),
    "weights of children and adults": ("weight", mixed(0.3, lognormal(20, 0.35), lognormal(75, 0.2))),
    "weights of adolescents and adults": ("weight", mixed(0.4, lognormal(33, 0.2), lognormal(75, 0.18))),
    "glucose with diabetes": ("glucose", mixed(0.3, lognormal(220, 0.3), lognormal(95, 0.1))),
    "creatinine with dialysis": ("creatinine", mixed(0.05, lognormal(8, 0.3), lognormal(1, 0.25))),
    "HbA1c with diabetes": ("hba1c", mixed(0.4, normal(9, 1.2), normal(5.4, 0.3))),
    "fever": ("temperature", mixed(0.2, normal(39, 0.6), normal(36.7, 0.3))),
    "bilirubin with liver failure": ("bilirubin", mixed(0.1, lognormal(8, 0.5), lognormal(0.7, 0.4))),
    "ferritin, groups 10 times apart": ("ferritin", mixed(0.3, lognormal(600, 0.5), lognormal(60, 0.5))),
    "hormone, groups 5 times apart": ("estradiol", mixed(0.5, lognormal(40, 0.4), lognormal(200, 0.4))),
    "hormone, groups 12 times apart": ("fsh", mixed(0.4, lognormal(70, 0.3), lognormal(6, 0.3))),
    "durations, groups 15 times apart": ("duration", mixed(0.4, lognormal(15, 0.4), lognormal(1, 0.4))),
    "durations": ("disease_duration", lambda rng, n: rng.exponential(8, n).round(1) + 0.1),
    "CRP": ("crp", lognormal(4, 1.3)),
}


def tells_code(values: Array, code: float | None) -> bool:
    """Return whether a code, or any code, is told of in a column."""
    numbers, counts = np.unique(values.astype(float), return_counts=True)
    told = outlying_codes(numbers, counts) | {one.code for one in suspected_codes(numbers, counts)}
    return bool(told) if code is None else code in told


def rate(columns: int, seed: int, told: Callable[[np.random.Generator], bool]) -> float:
    """Return the share of columns in which something is told."""
    return float(np.mean([told(np.random.default_rng([seed, column])) for column in range(columns)]))


def _with_code(draw: Draw, code: float, n: int, share: float, rng: np.random.Generator) -> bool:
    return tells_code(np.where(rng.random(n) < share, code, draw(rng, n)), code)


def _of_two_units(name: str, draw: Draw, convert: Callable[[Array], Array], n: int, share: float, rng: np.random.Generator) -> bool:  # fmt: skip
    values = draw(rng, n)
    both = np.where(rng.random(n) < share, convert(values), values).round(2)
    return two_units(name, both[both > 0]) is not None


def _of_one_unit(name: str, draw: Draw, n: int, rng: np.random.Generator) -> bool:
    values = draw(rng, n)
    return two_units(name, values[values > 0]) is not None


def patients(columns: int, alike: bool, digits: str) -> dict[str, float | str]:
    """Return how often two groups of patients, 2 to 20 times apart, are taken for two units of an unknown marker."""
    rng = np.random.default_rng(0)
    apart = certain = told = 0
    for _ in range(40 * columns):
        n, factor = rng.choice([150, 300, 600]), np.exp(rng.uniform(np.log(2), np.log(20)))
        spreads = rng.uniform(0.08, 0.5, 2)
        spreads[1] = spreads[0] if alike else spreads[1]
        is_upper = rng.random(n) < rng.choice([0.1, 0.3, 0.5])
        middle = np.exp(rng.uniform(0, np.log(50))) * np.where(is_upper, factor, 1.0)
        values = middle * np.exp(rng.normal(0, np.where(is_upper, spreads[1], spreads[0])))
        values = values.round(1) if digits == "one decimal" else np.array([float(f"{x:.3g}") for x in values])
        values = values[values > 0]
        seen = two_units("marker", values)
        certain += seen is not None and seen.is_certain
        told += seen is not None and not seen.is_certain
        apart += bool(np.diff(np.sort(np.log(values))).max() >= 0.35)
    total = 40 * columns
    shape = "the same spread" if alike else "any spreads"
    return {"two groups of": f"{shape}, {digits}", "a gap of 30%": apart / total, "left out": certain / total, "told": told / total}  # fmt: skip


def tables(columns: int) -> dict[str, pd.DataFrame]:
    """Return the tables of rates, by their titles."""
    no_codes = [
        {"column": name, **{f"N = {n}": rate(columns, n, lambda rng, draw=draw, n=n: tells_code(draw(rng, n), None)) for n in (100, 300, 1000)}}
        for name, draw in NO_CODES.items()
    ]  # fmt: skip
    codes = [
        {"column": name, **{f"N = {n}, {share:.0%}": rate(columns, n, partial(_with_code, draw, code, n, share)) for n in (100, 300, 1000) for share in (0.02, 0.05)}}
        for name, (draw, code) in CODES.items()
    ]  # fmt: skip
    two = [
        {"column": label, **{f"N = {n}, {share:.0%}": rate(columns, n, partial(_of_two_units, *of, n, share)) for n in (100, 300) for share in (0.03, 0.1, 0.5)}}
        for label, of in TWO_UNITS.items()
    ]  # fmt: skip
    one = [
        {"column": label, **{f"N = {n}": rate(columns, n, partial(_of_one_unit, *of, n)) for n in (100, 300, 1000)}}
        for label, of in ONE_UNIT.items()
    ]
    return {
        "Codes where there are none": pd.DataFrame(no_codes),
        "Codes that are told, by their share": pd.DataFrame(codes),
        "Two units that are told, by the share of the second": pd.DataFrame(two),
        "Two units where there is one": pd.DataFrame(one),
        "Two groups of patients taken for two units": pd.DataFrame(
            [patients(columns, alike, digits) for alike in (True, False) for digits in ("one decimal", "three digits")]
        ),
    }


def markdown(table: pd.DataFrame) -> str:
    """Return a table of rates in Markdown."""
    cells = table.map(
        lambda value: (
            (f"{value:.2f}" if value >= 0.01 or not value else f"{value:.4f}")
            if isinstance(value, float)
            else str(value)
        )
    )
    lines = [list(cells.columns), ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Run, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=25)
    options = parser.parse_args()
    text = f"# Odd numbers\n\n{options.columns} columns each, simulated by `benchmarks/odd_numbers.py`.\n"
    for title, table in tables(options.columns).items():
        text += f"\n## {title}\n\n{markdown(table)}"
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
