"""Attack simulated shared reports: the withheld counts that somebody finds who reads all of both files.

    python benchmarks/disclosure.py                # a first look: three reports of each design
    python benchmarks/disclosure.py --reports 120  # what results/disclosure.md holds

The attackers (`report_attacker.py`, `leaks.py`, `sizes_attacker.py`) read the workbook and the page, and no more, and
share no code with what withholds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from leaks import LEAKS, leaks_found
from report_attacker import CHANNELS, KNOWLEDGE, attack
from report_reader import read_report
from shared_cohorts import DESIGNS, SharedCohort, shared_cohort

import clinclust as cc
from clinclust.associations.associate import _DTYPES as DTYPES

__all__ = ["attacked"]

RESULTS = Path(__file__).parent / "results" / "disclosure.md"
THRESHOLD = 10
WAYS = {"the report": CHANNELS, "the report, and knowledge of the rule": (*CHANNELS, KNOWLEDGE)}


def model_of(cohort: SharedCohort, seed: int) -> cc.MAPDP | cc.Partition:
    """Return the fit of every second cohort, if it finds several subtypes; else the groups as a given partition.

    Clusters of fewer subjects than the design has are merged with others.
    """
    if seed % 2 == 0:
        fit = cc.methods.PublishedMAPDP(cohort.schema, n_restarts=2, random_state=seed, progress=False).fit(
            cohort.frame
        )
        for n_subtypes in range(fit.n_clusters_, 1, -1):
            cut = fit.cut(n_subtypes)
            if np.bincount(cut.labels_).min() >= np.bincount(cohort.groups).min() // 2:
                return cut
    return cc.Partition(cohort.groups, cohort.schema, made_by="a simulation")


def attacked(design: str, seed: int, folder: Path) -> dict[str, Counter[str]]:
    """Return, for each way to attack a report, how many small counts are narrowed, found exactly, and were tried.

    Where the attacker excludes the truth, being misled by a report of other rules, nothing is found.
    """
    cohort = shared_cohort(design, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of(cohort, seed)
        files = [folder / f"report.{suffix}" for suffix in ("xlsx", "html")]
        # Without tests, which take long, but with the relevance of each feature.
        about = [{"feature": feature.name, "label": feature.title} for feature in cohort.schema.reported]
        untested = pd.DataFrame(about).reindex(columns=[*DTYPES]).astype(DTYPES)
        for path in files:
            cc.write_report(
                model, cohort.frame, path, suppress=THRESHOLD, associations=untested, progress=False, overwrite=True
            )
    report, truth = read_report(*files), true_counts(cohort, np.asarray(model.labels_))
    small = {key: count for key, count in truth.items() if 0 < count < THRESHOLD}
    found = {}
    for way, channels in WAYS.items():
        intervals = attack(report, channels)
        tried = {key: intervals[key] for key in small if key in intervals}
        right = {key: ends for key, ends in tried.items() if ends[0] <= small[key] <= ends[1]}
        lengths = [high - low for low, high in right.values()]
        found[way] = Counter(
            tried=len(tried),
            narrowed=sum(length < THRESHOLD for length in lengths),
            exact=sum(length == 0 for length in lengths),
            misled=len(tried) - len(right),
            untried=len(small) - len(tried),
        )
    return found


def true_counts(cohort: SharedCohort, labels: np.ndarray) -> dict[tuple[str, str, int], int]:
    """Return every count of every feature by row and group; 0 stands for all subjects."""
    counts: dict[tuple[str, str, int], int] = {}
    for feature in cohort.schema:
        column = cohort.frame[feature.name]
        for group in (0, *np.unique(labels) + 1):
            values = column if group == 0 else column[labels + 1 == group]
            own = {"missing": int(values.isna().sum()), "observed": int(values.notna().sum())}
            if feature.likelihood == "bernoulli":
                own |= {"1": int((values == 1).sum()), "not 1": int((values == 0).sum())}
            elif feature.likelihood == "categorical":
                own |= {level: int((values == level).sum()) for level in ("a", "b", "c")}
            elif feature.name.startswith(("events", "score")):
                own = {"events": int(values.sum())}
            else:
                own = {}
            counts |= {(feature.name, row, int(group)): number for row, number in own.items()}
    return counts


def measured(n_reports: int) -> dict[str, dict[str, Counter[str]]]:
    """Return the sums over the reports of each design, by way to attack."""
    sums = {design: {way: Counter() for way in WAYS} for design in DESIGNS}
    with tempfile.TemporaryDirectory() as folder:
        for design in DESIGNS:
            for seed in range(n_reports):
                for way, counts in attacked(design, seed, Path(folder)).items():
                    sums[design][way].update(counts)
    return sums


def measured_leaks(n_reports: int) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Return the sums by leak, in shared reports and in the reports of the same fits that are not for sharing."""
    sums = {leak: (Counter(), Counter()) for leak in LEAKS}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_reports):
            for place, suppress in enumerate((THRESHOLD, None)):
                for leak, counts in leaks_found(seed, Path(folder), suppress).items():
                    sums[leak][place].update(counts)
    return sums


def written(
    found: dict[str, dict[str, Counter[str]]],
    leaks: dict[str, tuple[Counter[str], Counter[str]]],
    n_reports: int,
    seconds: float,
) -> str:
    """Return the page of results."""
    of_all = sum((ways["the report"] for ways in found.values()), Counter())
    lines = [
        "# Withheld counts that an attacker finds in shared reports",
        "",
        f"{n_reports * len(DESIGNS)} simulated reports with `suppress={THRESHOLD}`, {n_reports} of each design, half "
        f"of them of MAP-DP fits, half of given partitions; {seconds / 60:.0f} minutes on one core; made by "
        "`benchmarks/disclosure.py`. The attacker reads the workbook and the page, lists every table of counts that "
        "agrees with what is shown, and shares no code with the package. A small count (1 to "
        f"{THRESHOLD - 1}) is narrowed if the possible values lie less than {THRESHOLD} apart.",
        "",
        f"**Of {of_all['tried']:,} small counts, {of_all['narrowed']} were narrowed and {of_all['exact']} found.** "
        f"{of_all['untried']:,} more were not tried: more than three million tables agree with the counts alone.",
        "",
        *(f"- {design}: {meaning}" for design, meaning in DESIGNS.items()),
        "",
        "| design | known | small counts tried | narrowed | of these exactly |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for design, ways in found.items():
        for way, counts in ways.items():
            cells = [design, way, *(f"{counts[name]:,}" for name in ("tried", "narrowed", "exact"))]
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "Knowledge of the rule is none of the report: that where numbers of a feature are withheld, one of its counts "
        "is small. Suppression does not guard against it.",
        "",
        f"## Other leaks, in {n_reports} reports of other cohorts",
        "",
        "| secret | attack | tried | found | found in reports that are not for sharing |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for leak, (shared, own) in leaks.items():
        of_own = "printed" if leak.startswith("exact sizes") else f"{own['found']:,}"
        lines.append(f"| {leak} | {LEAKS[leak]} | {shared['tried']:,} | {shared['found']:,} | {of_own} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Attack the reports, and write the page of results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reports", type=int, default=3, help="reports of each design")
    n_reports = parser.parse_args().reports
    start = time.perf_counter()
    found, leaks = measured(n_reports), measured_leaks(n_reports)
    page = written(found, leaks, n_reports, time.perf_counter() - start)
    print(page)
    if n_reports > 3:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
