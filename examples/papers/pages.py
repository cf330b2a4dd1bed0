"""How the scripts of this folder run over processes, and write their pages."""

from __future__ import annotations

import argparse
import platform
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parents[2] / "reports" / "papers"


def arguments(description: str | None, repeated: str, default: int) -> argparse.ArgumentParser:
    """Return the parser of a script that repeats something `--<repeated>` times."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(f"--{repeated}", type=int, default=default, help=f"how many {repeated} (default: {default})")
    parser.add_argument("--n-jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--write", action="store_true", help="write the page of results instead of printing it")
    return parser


def gather(run: Callable[..., list[dict[str, object]]], tasks: Iterable[tuple[int, ...]], jobs: int) -> pd.DataFrame:
    """Return the rows that `run` gives for all tasks, in their order, from so many processes."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_quiet) as pool:
        return pd.DataFrame([row for found in pool.map(run, tasks) for row in found])


def _quiet() -> None:
    warnings.simplefilter("ignore")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a Markdown table as lines."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def finish(lines: Sequence[str], name: str, *, write: bool) -> None:
    """Print a page, or write it to `reports/papers/<name>.md`."""
    versions = ", ".join(f"{package} {version(package)}" for package in ("numpy", "scipy", "scikit-learn", "numba"))
    page = "\n".join([*lines, "", f"Python {platform.python_version()}, {versions}.", ""])
    if write:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    else:
        print(page)
