"""Measure reports of real and simulated cohorts: words, printed pages, megabytes, and processor seconds.

    python benchmarks/report_size.py                    # one row for each cohort; writes results/report_size.md
    python benchmarks/report_size.py --only kidney 5,000        # cohorts whose names hold one of these
    python benchmarks/report_size.py --associations none        # without the tests of features
    python benchmarks/report_size.py --profile 527              # where the time of one cohort goes

Real tables are those of a folder (`--tables`), with schemas as drafted; a folder that is not there is left out.

Words are those of the page without its navigation and without the labels in figures; page one is the first section.
Pages are A4 as Chromium prints them. Seconds are those of the processors, after a first report that imports and
compiles; no search is timed. Features are tested by searches without them (`refit`) where the subtypes were found and
there are at most 30 features, which takes no more than a minute; elsewhere the page has no such tests.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.estimators.subtype_model import SubtypeModel, cohort_of
from clinclust.reporting.report import ReportOptions, gather_findings, write_findings

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "report_size.md"
REAL = ("Melanoma", "birthwt", "Pima.tr2", "biopsy", "burn", "ICU", "hepatoCellular")
MOST_REFITS = 30
UNREAD = ("nav", "style", "svg", "title")
HEADINGS = (
    *("cohort", "subjects", "features", "subtypes", "words, page one", "words", "A4 pages"),
    *("page, MB", "workbook, MB", "comparisons, s", "page, s", "workbook, s"),
)

Reported = tuple[SubtypeModel, pd.DataFrame]


def simulated(
    n_subjects: int, n_features: int, n_subtypes: int, *, missing: float = 0.0, quick: bool = False
) -> Reported:
    """Return a cohort of mixed features, of which two of three differ between the subtypes, with a fit of it.

    Measurements, yes/no findings, counts and scales of five levels take turns. `quick`: it is fitted as in
    the paper.
    """
    rng = np.random.default_rng([n_subjects, n_features, n_subtypes])
    group = rng.permutation(np.arange(n_subjects) % n_subtypes)
    columns: dict[str, np.ndarray] = {}
    features = []
    for place in range(n_features):
        differs = n_subtypes > 1 and place % 3 < 2
        level = (rng.permutation(n_subtypes) / max(1, n_subtypes - 1) if differs else np.full(n_subtypes, 0.5))[group]
        values, kind = _column(place, level, rng)
        name = f"{kind['likelihood']}_{place + 1}"
        columns[name] = np.where(rng.random(n_subjects) < missing, np.nan, values.astype(float))
        features.append(cc.Feature(name=name, **kind))
    schema = cc.FeatureSchema(features)
    frame = schema.validate(pd.DataFrame(columns), warn=False)
    model = (cc.methods.PublishedMAPDP if quick else cc.MAPDP)(schema, random_state=0, progress=False)
    return model.fit(frame), frame


def _column(place: int, level: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, Any]]:
    """Return values (N,) and their likelihood; `level` (N,), from 0 to 1, says how high each subject tends to be."""
    if place % 4 == 0:
        return np.round(80.0 + 40.0 * level + rng.normal(0.0, 10.0, level.size), 1), {"likelihood": "gaussian"}
    if place % 4 == 1:
        return rng.random(level.size) < 0.1 + 0.8 * level, {"likelihood": "bernoulli"}
    if place % 4 == 2:
        return rng.poisson(1.0 + 6.0 * level), {"likelihood": "poisson"}
    return rng.binomial(4, 0.1 + 0.8 * level), {"likelihood": "binomial", "trials": 4}


def parkinsonism(*, given: bool) -> Reported:
    """Return the simulated cohort of the example with a quick fit of it, or with its five groups as they were drawn."""
    schema = cc.FeatureSchema.from_yaml(ROOT / "schemas" / "parkinsonism.yaml")
    folder = ROOT / "examples" / "parkinsonism"
    frame = schema.validate(cc.read_cohort(folder / "cohort.csv"), warn=False)
    if given:
        groups = pd.read_csv(folder / "true_groups.csv")["group"].to_numpy()
        return cc.Partition(groups, schema, made_by="a simulation"), frame
    return cc.methods.PublishedMAPDP(schema, random_state=2016, progress=False).fit(frame), frame


def real(path: Path) -> Reported:
    """Return a table with a fit of it, by the schema that is drafted."""
    table = cc.read_cohort(path)
    schema = cc.draft_schema(table)
    frame = schema.validate(table, warn=False)
    return cc.MAPDP(schema, random_state=0, progress=False).fit(frame), frame


def cohorts(tables: Path) -> dict[str, Callable[[], Reported]]:
    """Return what makes each cohort, by name."""
    if not tables.is_dir():
        print(f"no real tables: {tables} is not there (--tables)", flush=True)
    paths = [tables / f"{name}.csv" for name in REAL] if tables.is_dir() else []
    return {
        "one group": partial(simulated, 400, 12, 1),
        "two subtypes, mixed, 8% missing (kidney-like)": partial(simulated, 400, 24, 2, missing=0.08),
        "eight subtypes": partial(simulated, 800, 24, 8),
        "five features": partial(simulated, 300, 5, 3),
        "30 subjects": partial(simulated, 30, 8, 2),
        "527 x 215, five subtypes given": partial(parkinsonism, given=True),
        "527 x 215, five subtypes found": partial(parkinsonism, given=False),
        "5,000 x 70, four subtypes": partial(simulated, 5000, 70, 4, missing=0.05, quick=True),
        **{path.stem: partial(real, path) for path in paths},
    }


class Words(HTMLParser):
    """Counts the words of a page that are read, and those of its first section."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sections = self.all = self.of_page_one = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note elements whose text is no sentence, and where sections begin."""
        self.open += [tag] if tag in UNREAD else []
        self.sections += tag == "section"

    def handle_endtag(self, tag: str) -> None:
        """Note where such an element ends."""
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        """Count words."""
        if not self.open:
            self.all += len(data.split())
            self.of_page_one += len(data.split()) if self.sections <= 1 else 0


@contextmanager
def printer() -> Iterator[Callable[[Path], int | None]]:
    """Give a function that returns how many A4 pages a page has on paper; None without Playwright or Chromium."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if found is None:
        print("pages are not counted: this needs Playwright, and Chromium on the PATH", flush=True)
        yield lambda path: None
        return
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        tab = browser.new_page()

        def pages(path: Path) -> int:
            tab.goto(path.as_uri())
            return len(re.findall(rb"/Type\s*/Page\b", tab.pdf(format="A4", prefer_css_page_size=True)))

        yield pages
        browser.close()


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result with the processor seconds that it took."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def measured(reported: Reported, associations: str, folder: Path, pages: Callable[[Path], int | None]) -> list[str]:
    """Return the cells of a row, without the name."""
    model, frame = reported
    options = ReportOptions(associations=None, progress=False)
    findings, comparing = seconds(lambda: gather_findings(cohort_of(model, frame), frame, options))
    n_features = len(model.schema_.reported)
    is_tested = associations == "refit" and model.fit_ is not None and n_features <= MOST_REFITS
    if is_tested or (associations == "refit" and model.fit_ is None):
        findings = findings.with_associations(cc.validated_associations(model, frame, progress=False))
    page, workbook = folder / "report.html", folder / "report.xlsx"
    # Each has findings of its own, as two calls of `write_report` have: what one computes is no gift to the other.
    takes = []
    for path in (page, workbook):
        fresh = replace(findings)
        takes.append(seconds(partial(write_findings, fresh, path))[1])
    words = Words(page.read_text(encoding="utf-8"))
    printed = pages(page)
    return [
        *(f"{number:,}" for number in (len(frame), n_features, model.n_clusters_, words.of_page_one, words.all)),
        "" if printed is None else str(printed),
        *(f"{path.stat().st_size / 1e6:.2f}" for path in (page, workbook)),
        *(f"{taken:.2f}" for taken in (comparing, *takes)),
    ]


def main() -> None:
    """Measure every cohort and print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=ROOT.parent / "shared" / "tables", help="folder of real tables")
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of cohorts")
    parser.add_argument("--associations", choices=("refit", "none"), default="refit")
    parser.add_argument("--profile", metavar="NAME", help="print the slowest functions of the report of one cohort")
    given = parser.parse_args()
    only = [given.profile] if given.profile else given.only
    chosen = {
        name: make for name, make in cohorts(given.tables).items() if not only or any(part in name for part in only)
    }
    warnings.simplefilter("ignore")
    lines = [f"| {' | '.join(HEADINGS)} |", f"| --- |{' ---: |' * (len(HEADINGS) - 1)}"]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as name, printer() as pages:
        measured(simulated(60, 5, 2), "none", Path(name), pages)  # imports and compiles
        for cohort, make in chosen.items():
            reported = make()
            with cProfile.Profile() if given.profile else nullcontext() as profile:
                row = measured(reported, given.associations, Path(name), pages)
            lines.append(f"| {cohort} | {' | '.join(row)} |")
            print(lines[-1], flush=True)
            if profile is not None:
                pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
    if not only:
        said = " ".join((__doc__ or "").split("\n\n")[-1].split())
        RESULTS.write_text("\n".join(["# The size of reports", "", said, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
