"""Carry out attacks, and write how many tries broke the package.

From the root of the repository, with the package installed::

    PYTHONPATH=tests python -m attack                      all of them at full size: about an hour
    PYTHONPATH=tests python -m attack xlsx                 those whose name holds "xlsx"; the other results stay
    PYTHONPATH=tests python -m attack --scale 0.1 xlsx     a tenth of their tries; no result is written
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from attack.attempts import ImpossibleHereError, carried_out
from attack.registry import ATTACKS

_RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "attack.md"


def main() -> int:
    """Carry out the attacks that were asked for; at full size, write each result into the table.

    Return 1 if a try broke the package.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of the attacks to carry out (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of tries")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = [a for a in ATTACKS if not options.names or any(part in a.name for part in options.names)]
    n_broken = 0
    for attack in chosen:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            number, rng = max(1, round(attack.full * options.scale)), np.random.default_rng(options.seed)
            try:
                n_tried, failures = carried_out(attack, number, rng, Path(folder))
            except ImpossibleHereError as error:
                print(f"| {attack.name} | not possible here: {error} | |", flush=True)
                continue
        row = f"| {attack.name} | {n_tried:,} | {len(failures)} |"
        print(f"{row} {time.perf_counter() - started:.0f} s", flush=True)
        for failure in failures[:10]:
            print(f"    {failure}", flush=True)
        if options.scale >= 1:
            _write(row)
        n_broken += len(failures)
    return min(n_broken, 1)


def _write(row: str) -> None:
    """Put one result into the table, in the place of an earlier one of the same attack."""
    rows = _RESULTS.read_text(encoding="utf-8").splitlines() if _RESULTS.exists() else []
    by_name = {line.split(" | ")[0].removeprefix("| "): line for line in (*rows, row)}
    known = [by_name[attack.name] for attack in ATTACKS if attack.name in by_name]
    _RESULTS.write_text("\n".join([*_HEADING, *known, ""]), encoding="utf-8")


_HEADING = (
    "# Attacks",
    "",
    "What was tried to make the package silently wrong, lose a file, hang, or end in a traceback, and how many of the",
    "tries did. A smaller number of the same tries runs with the tests (`tests/attack/`). To repeat one, or all:",
    "`PYTHONPATH=tests python -m attack [part of a name]`.",
    "",
    "| attack | tried | failed |",
    "| --- | ---: | ---: |",
)


if __name__ == "__main__":
    raise SystemExit(main())
