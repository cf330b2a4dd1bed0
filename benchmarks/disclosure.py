"""Attack simulated shared reports: the withheld counts that somebody finds who reads all of both files.

    python benchmarks/disclosure.py                # a first look: three reports of each design
    python benchmarks/disclosure.py --reports 50   # what results/disclosure.md holds
    python benchmarks/disclosure.py --reports 50 --json before.json    # only the counts, to be compared with
    python benchmarks/disclosure.py --reports 50 --before before.json  # a column more

The attacker (`report_attacker.py`) shares no code with the package and reads the workbook and the page, and no more.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from report_attacker import CHANNELS, KNOWLEDGE, attack
from report_reader import read_report
from shared_cohorts import DESIGNS, SharedCohort, shared_cohort

import clinclust as cc

__all__ = ["attacked"]

RESULTS = Path(__file__).parent / "results" / "disclosure.md"
THRESHOLD = 10
WAYS = {
    "everything": CHANNELS,
    "counts, shares and sizes alone": (),
    "and q": ("q",),
    "and the name of the contrast": ("names",),
    "and the order of features": ("order",),
    "and mean times n": ("totals",),
    "everything, and knowledge of the rule": (*CHANNELS, KNOWLEDGE),
}


def model_of(cohort: SharedCohort, seed: int) -> cc.MAPDP | cc.Partition:
    """Return the fit of every second cohort, if it finds several subtypes; else the groups as a given partition.

    Clusters of fewer subjects than the design has are merged with others.
    """
    if seed % 2 == 0:
        fit = cc.MAPDP.as_published(cohort.schema, n_restarts=2, random_state=seed, progress=False).fit(cohort.frame)
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
        for path in files:
            cc.write_report(model, cohort.frame, path, suppress=THRESHOLD, associations=None, progress=False)
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


def measured(n_reports: int) -> dict[str, dict[str, dict[str, int]]]:
    """Return the sums over the reports of each design, by way to attack."""
    sums = {design: {way: Counter() for way in WAYS} for design in DESIGNS}
    with tempfile.TemporaryDirectory() as folder:
        for design in DESIGNS:
            for seed in range(n_reports):
                for way, counts in attacked(design, seed, Path(folder)).items():
                    sums[design][way].update(counts)
    return {design: {way: dict(counts) for way, counts in ways.items()} for design, ways in sums.items()}


def written(now: dict, before: dict | None, n_reports: int, seconds: float) -> str:
    """Return the page of results."""
    lines = [
        "# Withheld counts that an attacker finds in shared reports",
        "",
        f"{n_reports * len(DESIGNS)} simulated reports with `suppress={THRESHOLD}`, {n_reports} of each design, half "
        f"of them of MAP-DP fits, half of given partitions; {seconds / 60:.0f} minutes on one core; made by "
        "`benchmarks/disclosure.py`. The attacker reads the workbook and the page, lists every table of counts that "
        "agrees with what is shown, and shares no code with the package. A small count (1 to "
        f"{THRESHOLD - 1}) is narrowed if the possible values lie less than {THRESHOLD} apart.",
        "",
        *(f"- {design}: {meaning}" for design, meaning in DESIGNS.items()),
        "",
        "| design | attacked by | small counts tried | narrowed | of these exactly |"
        + (" narrowed before | exactly before |" if before else ""),
        "| --- | --- | ---: | ---: | ---: |" + (" ---: | ---: |" if before else ""),
    ]
    for design, ways in now.items():
        for way, counts in ways.items():
            cells = [design, way, *(str(counts.get(name, 0)) for name in ("tried", "narrowed", "exact"))]
            if before:
                earlier = before[design].get(way)
                cells += ["" if earlier is None else str(earlier.get(name, 0)) for name in ("narrowed", "exact")]
            lines.append(f"| {' | '.join(cells)} |")
    untried = sum(ways["everything"].get("untried", 0) for ways in now.values())
    lines += [
        "",
        f"{untried} small counts were not tried, because the tables that agree with the counts alone are more than "
        "three million. “Before”: the same cohorts and the same attacker, when q was adjusted over withheld tests too, "
        "figures were ordered by the relevance of withheld features, withheld contrasts were named, and means of rare "
        "events were shown. Knowledge of the rule is none of the report: that where numbers of a feature are withheld, "
        "one of its counts is small. Suppression does not guard against it."
        if before
        else f"{untried} small counts were not tried: too many tables agree.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Attack the reports, and write the page of results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reports", type=int, default=3, help="reports of each design")
    parser.add_argument("--json", type=Path, help="write the counts to this file, and no page")
    parser.add_argument("--before", type=Path, help="counts of another version, for a column more")
    options = parser.parse_args()
    start = time.perf_counter()
    now = measured(options.reports)
    seconds = time.perf_counter() - start
    before = None if options.before is None else json.loads(options.before.read_text(encoding="utf-8"))
    page = written(now, before, options.reports, seconds)
    print(page)
    if options.json is not None:
        options.json.write_text(json.dumps(now), encoding="utf-8")
    elif options.reports > 3:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
