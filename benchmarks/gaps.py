"""Measure how often two groups are called distinct, and how often a uniform severity is.

    python benchmarks/gaps.py --cohorts 6                                       # a first look
    python benchmarks/gaps.py --cohorts 60 --jobs 2 --keep FOLDER --write       # results/gaps.md

All subjects are tested, without a fit, as in `continuum_levels.py`: a division is called distinct with p < .05 against
one continuum with constant correlations, and p < .03 against one of any shape. Groups are equal but where it says so;
their distance is along the straight line between their means, in SD inside a group, before measurements become yes/no
findings, scales of five steps or counts. `--keep` keeps the rows of each kind, and a later run goes on from there.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
from commits import describe_commit
from continuum_levels import LEVEL, Row, at_the_root, collected, share
from one_population_cohorts import APART

from clinclust.estimators.fit import DISTINCT_LEVEL

RESULTS = Path(__file__).parent / "results" / "gaps.md"
N_SUBJECTS = (200, 400, 1000, 2000)


def tested(task: tuple[str, int, int]) -> list[Row]:
    """Test all subjects of a cohort."""
    warnings.simplefilter("ignore")
    return at_the_root(task)


def table(rows: pd.DataFrame) -> str:
    """Return the Markdown table of the share called distinct, with its standard error, by number of subjects."""
    called = rows.assign(is_distinct=(rows["p"] < LEVEL) & (rows["p_any_shape"] < DISTINCT_LEVEL))
    sizes = called["n"].unique()
    lines = [f"| cohorts | {' | '.join(map(str, sizes))} |", "| --- " * (1 + len(sizes)) + "|"]
    for kind in APART:
        cells = [share(called.loc[(called["kind"] == kind) & (called["n"] == n), "is_distinct"]) for n in sizes]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measure(
    about: str,
    work: Callable[[Any], list[Row]],
    kinds: list[Any],
    page: Callable[[pd.DataFrame, int], str],
    results: Path,
) -> None:
    """Work off the cohorts of each kind as the command line says, and print the page of their rows, or write it."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=6, help="cohorts of each kind; a third of 2,000 subjects")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="an existing folder for the rows of each kind, to go on from later")
    parser.add_argument("--write", action="store_true", help="write the page, instead of printing it only")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = collected(pool, work, kinds, options.cohorts, options.keep)
    text = f"{page(rows, options.cohorts)}\n\n{describe_commit()}\n"
    print(text)
    if options.write:
        results.write_text(text, encoding="utf-8")


def _page(rows: pd.DataFrame, n_cohorts: int) -> str:
    how = (
        f"{n_cohorts} cohorts of each kind, a third of 2,000 subjects; 12 features. The share called "
        "distinct, and its standard error, by the number of subjects. Made by `benchmarks/gaps.py`."
    )
    return f"# How often groups are called distinct\n\n{how}\n\n{table(rows)}"


if __name__ == "__main__":
    measure(__doc__ or "", tested, [(kind, n) for n in N_SUBJECTS for kind in APART], _page, RESULTS)
