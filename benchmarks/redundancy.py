"""Measure the recognition of redundancy: what it finds, misses and invents in unseen tables, and how long it takes.

    python benchmarks/redundancy.py                # a first look: five tables of each kind
    python benchmarks/redundancy.py --tables 40    # what results/redundancy.md holds

The tables are simulated (planted_redundancies.py), or ship with scikit-learn and statsmodels.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from planted_redundancies import KINDS, clean_table, planted_table, separate_subtypes

from clinclust import Feature, FeatureSchema
from clinclust.drafting.redundancy import Redundancy, redundancies

MOST_LEVELS = 60
RESULTS = Path(__file__).parent / "results" / "redundancy.md"


def declared(frame: pd.DataFrame) -> FeatureSchema:
    """Return a schema of texts as levels, 0/1 as yes/no and other numbers as measurements."""
    features = []
    for name, column in frame.items():
        values = pd.unique(column.dropna())
        if len(values) < 2 or (isinstance(values[0], str) and len(values) > MOST_LEVELS):
            features.append(Feature(name=str(name), role="ignore"))
        elif isinstance(values[0], str):
            features.append(Feature(name=str(name), likelihood="categorical", levels=sorted(values)))
        else:
            likelihood = "bernoulli" if set(values) == {0, 1} else "gaussian"
            features.append(Feature(name=str(name), likelihood=likelihood))
    return FeatureSchema(features)


def found_in(frame: pd.DataFrame) -> list[Redundancy]:
    """Return what is found in a table."""
    schema = declared(frame)
    return redundancies(schema.validate(frame, warn=False), schema)


def planted(tables: int) -> pd.DataFrame:
    """Return how often each kind of planted redundancy is found, and how often anything else beside it is.

    A column that is computed from items is found if it is described; of other kinds, any of the columns concerned.
    """
    rows = []
    for kind in KINDS:
        hits, wrong = 0, 0
        for seed in range(tables):
            frame, result, concerned = planted_table(kind, seed)
            found = found_in(frame)
            own = [one for one in found if set(one.columns) <= concerned and result in one.columns]
            is_of_items = "total" in kind or "items" in kind
            hits += any(result in one.described if is_of_items else one.block or one.described for one in own)
            wrong += any(not set(one.columns) <= concerned for one in found)
        rows.append({"planted": kind, "found": hits / tables, "with a wrong one": wrong / tables})
        print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def unplanted(tables: int) -> pd.DataFrame:
    """Return how often something is found where nothing is. Subtypes far apart make columns correlate, and so blocks.

    Such a block costs little: its power is estimated from what depends within clusters.
    """
    cohorts: dict[str, Callable[[int], pd.DataFrame]] = {
        "subtypes that overlap": partial(clean_table, has_items=False),
        "subtypes, and a questionnaire": partial(clean_table, has_items=True),
    }
    for apart in (2.0, 4.0, 8.0):
        draw = partial(separate_subtypes, n=300, separation=apart)
        cohorts[f"subtypes {apart:g} standard deviations apart"] = draw
    rows = []
    for title, draw in cohorts.items():
        found = [found_in(draw(seed)) for seed in range(tables)]
        described = np.mean([any(one.described for one in each) for each in found])
        blocks = np.mean([any(one.block for one in each) for each in found])
        rows.append({"cohort": title, "with a column described": described, "with a block": blocks})
    return pd.DataFrame(rows)


def seconds() -> pd.DataFrame:
    """Return how many seconds of one processor the search takes."""
    rows = []
    for n, c in ((300, 40), (200, 2000), (5000, 500), (200_000, 50)):
        rng = np.random.default_rng(0)
        values = (rng.normal(size=(n, 5)) @ rng.normal(size=(5, c)) + rng.normal(size=(n, c))).round(2)
        frame = pd.DataFrame(values, columns=[f"c{i}" for i in range(c)])
        frame.iloc[:, ::3] = (frame.iloc[:, ::3] > 0).astype(int)
        schema = declared(frame)
        valid = schema.validate(frame, warn=False)
        started = time.process_time()
        redundancies(valid, schema)
        rows.append({"N": n, "columns": c, "seconds": time.process_time() - started})
    return pd.DataFrame(rows)


def shipped() -> pd.DataFrame:
    """Return what is found in tables that ship with scikit-learn and statsmodels."""
    import statsmodels.api as sm
    from sklearn import datasets

    names = ("breast_cancer", "diabetes", "wine", "iris")
    tables = {name: getattr(datasets, f"load_{name}")(as_frame=True).frame for name in names}
    for name in ("fair", "anes96", "randhie", "heart", "spector", "cancer", "star98", "fertility", "scotland", "ccard"):
        tables[name] = getattr(sm.datasets, name).load_pandas().data
    rows = []
    for name, table in tables.items():
        for one in found_in(table) or [None]:
            reason = "nothing" if one is None else f"{one.kind}: {one.reason}"
            rows.append({"table": name, "found": reason, "described": "" if one is None else ", ".join(one.described)})
    return pd.DataFrame(rows)


def markdown(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    cells = table.map(lambda value: f"{value:.2f}" if isinstance(value, float) else str(value))
    lines = [list(cells.columns), ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Run and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=5)
    tables = parser.parse_args().tables
    warnings.simplefilter("ignore")
    parts = {
        "One planted redundancy": lambda: planted(tables),
        "Nothing planted": lambda: unplanted(tables),
        "Time": seconds,
        "Tables that ship with scikit-learn and statsmodels": shipped,
    }
    text = f"# Redundancy\n\n{tables} tables of each kind, by `benchmarks/redundancy.py`.\n"
    for title, part in parts.items():
        text += f"\n## {title}\n\n{markdown(part())}"
        print(text[text.rindex("## ") :], flush=True)
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
