"""Make the pages of results anew, each at the size that it documents, and write below each the commit it was made on.

    python benchmarks/pages.py                        # all pages: many hours on one processor
    python benchmarks/pages.py gaps calibration       # some
    python benchmarks/pages.py --jobs 2 --log FILE    # goes on where an interrupted run of this commit ended

A page that fails is kept as it was. Speed is measured last, when nothing else runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from commits import commit_of_package, describe_commit

HERE = Path(__file__).parent
# The arguments with which each page is made, those that depend on the engine first, and those of time last.
PAGES = {
    "calibration": "--cohorts 12 --write",
    "gaps": "--cohorts 60 --write --jobs {jobs}",
    "distinct": "--cohorts 6 --write --jobs {jobs}",
    "robustness": "--cohorts 10 --jobs {jobs}",
    "adjusted": "--cohorts 20 --jobs {jobs}",
    "wide": "--jobs {jobs}",
    "continuum_levels": "--cohorts 20 --groups 20 --write --jobs {jobs}",
    "surveys": "--cohorts 20 --write --jobs {jobs}",
    "blocks": "--cohorts 3 --batteries 6 --jobs {jobs}",
    "feature_selection": "",
    "stability": "--cohorts 2 --write",
    "visits": "--write",
    "few_subjects": "--cohorts 6",
    "number_asked_for": "--cohorts 10 --jobs {jobs}",
    "model_check": "--cohorts 20 --right 100 --write",
    "noise": "--seconds 6 --processes {jobs}",
    "sum_scores": "",
    "far_values": "",
    "ordinal_prior": "",
    "hyperparameters": "",
    "search_quality": "--jobs {jobs}",
    "outcomes": "--cohorts 200 --write",
    "valid_tests": "--jobs {jobs}",
    "imputation": "",
    "pooled_imputation": "--cohorts 20 --write",
    "distinct_peers": "--cohorts 6 --write --jobs {jobs}",
    "disclosure": "--reports 120",
    "redundancy": "--tables 40",
    "sites": "--results",
    "report_size": "",
    "recommended": "--cohorts 3 --write",
    "from_table_to_report": "",
    "kernels": "",
    "scale": "--subjects 100000 1000000 10000000 --most-in-memory 1000000 --results",
    "registry": "--subjects 500000 1000000 2000000 --write",
}


def make(name: str, jobs: int) -> str:
    """Make a page, write the commit below it unless it stands there, and return how it went."""
    page, begun = HERE / "results" / f"{name}.md", time.monotonic()
    before = page.read_text(encoding="utf-8")
    command = [sys.executable, str(HERE / f"{name}.py"), *PAGES[name].format(jobs=jobs).split()]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    minutes, text = (time.monotonic() - begun) / 60.0, page.read_text(encoding="utf-8")
    if result.returncode or not text:
        page.write_text(before, encoding="utf-8")
        return f"failed after {minutes:.0f} min: {result.stderr[-500:]}"
    if f"at commit {commit_of_package()}" not in text:
        page.write_text(f"{text.rstrip()}\n\n{describe_commit()}\n", encoding="utf-8")
    return f"made in {minutes:.0f} min"


def main() -> None:
    """Make the pages that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", choices=[*PAGES, []], metavar="page", help="names of pages")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--log", type=Path, help="file with a line for each page; pages made on this commit are left")
    options = parser.parse_args()
    log = options.log.read_text(encoding="utf-8") if options.log and options.log.exists() else ""
    for name in options.pages or PAGES:
        if f"{name} at {commit_of_package()}: made" in log:
            continue
        line = f"{name} at {commit_of_package()}: {make(name, options.jobs)}"
        print(line, flush=True)
        if options.log:
            with options.log.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


if __name__ == "__main__":
    main()
