"""Count how often drafted schemas agree with annotations by hand, beside a plain baseline of sixty lines.

    python benchmarks/drafting.py [FOLDER] [--differences]

FOLDER (the default is `../shared/tables`) holds tables as NAME.csv, and in NAME.json the role and the kind of every
column, set by a person who read table and documentation. Columns marked as not sure are not scored.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd

import clinclust as cc

_RESULTS = Path(__file__).parent / "results" / "drafting.md"
_NOT_FOR_SUBTYPES = ("id", "arm", "outcome", "time", "site", "admin", "date")
_KINDS = {"bernoulli": "binary", "binomial": "ordered", "ordinal": "ordered", "categorical": "nominal"}
_KINDS |= {"poisson": "count", "geometric": "count", "negative_binomial": "count"}


def plain(name: str, cells: pd.Series) -> tuple[str, str]:
    """Return the role and the kind of a column by plain rules: the peer that a drafter must beat."""
    values = cells[~cells.str.casefold().isin(["", "na", "n/a", "nan", "null", ".", "?", "unknown"])]
    texts, n = values.unique(), len(values)
    words = set(name.casefold().replace(".", "_").split("_"))
    if len(texts) < 2:
        return "ignore", "constant"
    if words & {"id", "pid", "obs", "patient", "subject"}:
        return "id", "identifier"
    if len(texts) == 2:
        return "cluster", "binary"
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().mean() < 0.02:
        numbers = numbers.dropna()
        is_whole = bool((numbers == numbers.round()).all())
        if is_whole and len(texts) == n and numbers.max() - numbers.min() == n - 1:
            return "id", "identifier"
        if not is_whole or numbers.min() < 0:
            return "cluster", "measure"
        if numbers.nunique() <= 10 and numbers.max() - numbers.min() < 12:
            return "cluster", "ordered"
        return "cluster", "count" if numbers.min() <= 1 and numbers.mean() < 5 else "measure"
    if pd.to_datetime(values, errors="coerce", format="mixed").notna().mean() > 0.95:
        return "ignore", "date"
    if len(texts) > max(20, n / 5):
        return ("id", "identifier") if len(texts) == n else ("ignore", "text")
    begins = pd.Series(texts).str.extract(r"^\D{0,2}(\d+)")[0]
    return "cluster", "ordered" if begins.notna().mean() > 0.7 else "nominal"


def drafted(frame: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the role and the kind of every column as clinclust drafts them."""
    schema = cc.draft_schema(frame, progress=False)
    return {feature.name: (feature.role, _KINDS.get(feature.likelihood or "", "measure")) for feature in schema}


def scores(annotated: dict[str, dict], found: dict[str, tuple[str, str]]) -> tuple[Counter[str], list[str]]:
    """Return the counts that are scored, and a line for each column in which draft and annotation differ."""
    counted: Counter[str] = Counter()
    differing = []
    for name, column in annotated.items():
        role, kind = found[name]
        if not column["sure"]:
            continue
        if column["role"] == "feature":
            counted["features"] += 1
            expected = "measure" if column["kind"] == "duration" else column["kind"]
            is_lost, is_aside = role in ("ignore", "id"), role not in ("ignore", "id", "cluster")
            counted["lost"] += is_lost
            counted["set aside"] += is_aside
            counted["kind right"] += kind == expected and not is_lost
            if is_lost or is_aside or kind != expected:
                differing.append(f"{name}: {expected} feature drafted as {role} {kind}")
        elif column["role"] in _NOT_FOR_SUBTYPES:
            counted[column["role"]] += 1
            counted["not for subtypes"] += 1
            if role == "cluster":
                counted[f"{column['role']} clustered on"] += 1
                counted["clustered on"] += 1
                differing.append(f"{name}: {column['role']} drafted as {kind} to cluster on")
    return counted, differing


def main() -> None:
    """Score both on all tables, print what differs, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[2] / "shared" / "tables")
    parser.add_argument("--differences", action="store_true", help="print every column that differs")
    options = parser.parse_args()
    totals = {"clinclust": Counter[str](), "plain rules": Counter[str]()}
    rows = []
    for path in sorted(options.folder.glob("*.json")):
        annotated = json.loads(path.read_text(encoding="utf-8"))["columns"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = cc.read_cohort(path.with_suffix(".csv"))
            both = {
                "clinclust": drafted(frame),
                "plain rules": {name: plain(name, frame[name]) for name in frame.columns},
            }
        for who, found in both.items():
            counted, differing = scores(annotated, found)
            totals[who] += counted
            if who == "clinclust":
                rows.append((path.stem, counted))
                if options.differences and differing:
                    print(f"{path.stem}\n  " + "\n  ".join(differing))
    if not rows:
        raise SystemExit(f"{options.folder} holds no annotated tables")
    shown = ["features", "kind right", "lost", "set aside"]
    shown += [part for role in _NOT_FOR_SUBTYPES for part in (role, f"{role} clustered on")]
    shown += ["not for subtypes", "clustered on"]
    lines = ["# Drafted schemas", "", f"{len(rows)} real tables, columns that the annotator is sure of.", ""]
    lines += ["| | clinclust | plain rules |", "| --- | ---: | ---: |"]
    lines += [f"| {what} | {totals['clinclust'][what]} | {totals['plain rules'][what]} |" for what in shown]
    lines += ["", "| table | features | kind right | lost | set aside | not for subtypes | clustered on |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    columns = ("features", "kind right", "lost", "set aside", "not for subtypes", "clustered on")
    lines += [f"| {name} | " + " | ".join(str(counted[part]) for part in columns) + " |" for name, counted in rows]
    if options.folder == parser.get_default("folder"):
        _RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines[: 6 + len(shown)]))


if __name__ == "__main__":
    main()
