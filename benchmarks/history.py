"""A few times that matter, each beside a peer's in the same run, kept as one line a run.

    python benchmarks/history.py             # measure, compare with the last line, add a line: a minute and a half
    python benchmarks/history.py --compare   # measure and compare only, to try a change

Ours and the peer take turns, with one thread each, and processor seconds are counted: other programs that run
meanwhile disturb these least. The ratio, ours by the peer's, is taken within each turn, because the speed of a machine
varies from minute to minute. `results/history.jsonl` holds medians, and the lowest and the highest ratio of the turns.
A change is marked where these ranges do not meet. Lines of other machines, or of other versions of the libraries, are
not quite comparable: both are in the line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import openpyxl
import pandas as pd
from commits import commit_of_package
from kernels import scanners
from peer_cohorts import peer_cohort
from speed import ORACLE, default_fit, k_means

import clinclust as cc

RESULTS = Path(__file__).parent / "results" / "history.jsonl"
EXAMPLE = Path(__file__).parents[1] / "examples" / "parkinsonism" / "cohort.csv"
SCHEMA = Path(__file__).parents[1] / "schemas" / "parkinsonism.yaml"
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "pandas", "scikit-learn", "openpyxl")

Turn = Callable[[], tuple[float, float]]
"""Returns one time of ours and one of the peer's."""


def seconds(run: Callable[[], object]) -> float:
    """Return the processor seconds that it takes."""
    began = time.process_time()
    run()
    return time.process_time() - began


def fitting(n_subjects: int) -> Turn:
    """Return the default fit, from the table to the labels, beside K-means that is given five clusters."""
    cohort = peer_cohort(n_subjects, 0, oracle_ari=ORACLE)
    ours, _ = default_fit(cohort, n_jobs=1)
    theirs, _ = k_means(cohort, 10)
    return lambda: (seconds(ours), seconds(theirs))


def scanning() -> Turn:
    """Return a scan of 20,000 subjects that moves nobody beside NumPy's sum of the same rows of its table."""
    kinds = ["yes or no"] * 20 + ["five-level scale"] * 15 + ["four unordered levels"] * 5 + ["count"] * 5
    ours, theirs = scanners(kinds)
    return lambda: (seconds(lambda: [ours() for _ in range(20)]) / 20, seconds(theirs))


def reporting(folder: Path) -> Turn:
    """Return comparisons and workbook of the parkinsonism example beside a plain sheet with as many cells."""
    schema = cc.FeatureSchema.from_yaml(SCHEMA)
    frame = schema.validate(cc.read_cohort(EXAMPLE))
    model = cc.methods.PublishedMAPDP(schema, random_state=2016, progress=False).fit(frame)

    def ours() -> None:
        cc.write_report(model, frame, folder / "ours.xlsx", associations=None, overwrite=True)

    ours()
    sheets = openpyxl.load_workbook(folder / "ours.xlsx", read_only=True).worksheets
    cells = sum(sum(cell.value is not None for cell in row) for sheet in sheets for row in sheet.iter_rows())
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(cells // 20, 20)))
    return lambda: (seconds(ours), seconds(lambda: table.to_excel(folder / "theirs.xlsx", index=False)))


def measure() -> dict[str, dict[str, Any]]:
    """Run everything."""
    with tempfile.TemporaryDirectory() as folder:
        plan: list[tuple[str, str, int, Callable[[], Turn]]] = [
            ("fit of 500 x 50", "scikit-learn's KMeans, ten starts, given K", 15, lambda: fitting(500)),
            ("fit of 5,000 x 50", "scikit-learn's KMeans, ten starts, given K", 7, lambda: fitting(5_000)),
            ("converged scan of 20,000 x 45", "NumPy's sum of table rows", 15, scanning),
            ("comparisons and workbook", "pandas and openpyxl, as many cells", 3, lambda: reporting(Path(folder))),
        ]
        found = {}
        for name, peer, n_turns, prepare in plan:
            turn = prepare()
            turn()  # compiles, imports, fills caches
            times = np.array([turn() for _ in range(n_turns)])
            ratios = times[:, 0] / times[:, 1]
            found[name] = {
                "peer": peer,
                "ours": _rounded(np.median(times[:, 0])),
                "theirs": _rounded(np.median(times[:, 1])),
                "ratio": _rounded(np.median(ratios)),
                "lowest": _rounded(ratios.min()),
                "highest": _rounded(ratios.max()),
            }
    return found


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def line_of(measured: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what is kept of a run."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "commit": commit_of_package(),
        "clinclust": cc.__version__,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
        "processors": os.cpu_count(),
        "measured": measured,
    }


def beside_the_last(line: dict[str, Any], last: dict[str, Any] | None) -> str:
    """Return a table of this run beside the last."""
    before = {} if last is None else last["measured"]
    rows = [("", "ours", "peer's", "ratio", "last", "change", "peer")]
    for name, now in line["measured"].items():
        times = (f"{now['ours']:.3g} s", f"{now['theirs']:.3g} s")
        then = before.get(name)
        if then is None:
            rows.append((name, *times, f"{now['ratio']:.3g}", "", "", now["peer"]))
            continue
        change = f"{100.0 * (now['ratio'] / then['ratio'] - 1.0):+.0f}%"
        if now["lowest"] > then["highest"]:
            change += " slower"
        elif now["highest"] < then["lowest"]:
            change += " faster"
        rows.append((name, *times, f"{now['ratio']:.3g}", f"{then['ratio']:.3g}", change, now["peer"]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if last is not None:
        shown.append(f"The last: {last['date']}, commit {last['commit']}, {last['processors']} processors.")
        for what in ("processors", "python", "versions"):
            if last[what] != line[what]:
                shown.append(f"Not quite comparable: {what} {line[what]}, in the last {last[what]}.")
    return "\n".join(shown)


def main() -> None:
    """Measure, print, and add a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="add no line")
    only_compare = parser.parse_args().compare
    warnings.simplefilter("ignore")
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    line = line_of(measure())
    print(beside_the_last(line, json.loads(lines[-1]) if lines else None))
    if not only_compare:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
