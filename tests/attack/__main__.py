"""Carry out all attacks at full size, and write how many tries broke the package.

From the root of the repository, with the package installed::

    PYTHONPATH=tests python -m attack                      all of them: an hour or two on two cores
    PYTHONPATH=tests python -m attack --scale 0.1 xlsx     a tenth of those whose name holds "xlsx"
"""

import argparse
import platform
import tempfile
import time
from pathlib import Path

import numpy as np

import clinclust
from attack.attempts import carried_out
from attack.registry import ATTACKS

_RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "attack.md"


def main() -> int:
    """Carry out the attacks that were asked for; write the table only if all were, at full size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of the attacks to carry out (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of tries")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chosen = [a for a in ATTACKS if not options.names or any(part in a.name for part in options.names)]
    lines = []
    for attack in chosen:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            count = carried_out(
                attack, max(1, round(attack.full * options.scale)), np.random.default_rng(options.seed), Path(folder)
            )
        lines.append(f"| {count.name} | {count.tried:,} | {len(count.failures)} |")
        print(f"{lines[-1]} {time.perf_counter() - started:.0f} s", flush=True)
        for failure in count.failures[:10]:
            print(f"    {failure}", flush=True)
    if len(chosen) == len(ATTACKS) and options.scale >= 1:
        _RESULTS.write_text(_page(lines, options.seed), encoding="utf-8")
    return 0


def _page(lines: list[str], seed: int) -> str:
    return "\n".join(
        [
            "# Attacks",
            "",
            "What was tried to make the package silently wrong, lose a file, or end in a traceback. Made by",
            f"`PYTHONPATH=tests python -m attack --seed {seed}` with clinclust {clinclust.__version__}, Python",
            f"{platform.python_version()}. A smaller number of the same tries runs with the tests.",
            "",
            "| attack | tried | failed |",
            "| --- | ---: | ---: |",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
