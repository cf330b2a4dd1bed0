"""Count how often drafted schemas agree with annotations by hand, beside a plain baseline of sixty lines.

    python benchmarks/drafting.py [FOLDER] [--differences]

FOLDER (the default is `../shared/tables`) holds tables as NAME.csv, and in NAME.json the role and the kind of every
column, set by a person who read table and documentation. Columns marked as not sure are not scored.

Proof against learning by heart: the packages are two halves, and each is scored a second time without the listed words
that occur in its names only. What then is missed was learnt from the half itself, or is rare.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from pathlib import Path

import pandas as pd

import clinclust as cc
from clinclust.data import data
from clinclust.files import notation as names

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


def halves(folder: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """Return the tables of each half of the packages, by name: every second package in the order of the alphabet."""
    packages: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.json")):
        source = json.loads(path.read_text(encoding="utf-8")).get("source", path.stem)
        packages.setdefault(source.partition("::")[0].split("/")[0].split()[-1], []).append(path)
    of_half: tuple[dict[str, Path], dict[str, Path]] = ({}, {})
    for number, package in enumerate(sorted(packages)):
        of_half[number % 2].update({path.stem: path for path in packages[package]})
    return of_half


def share_clustered_on(paths: dict[str, Path]) -> str:
    """Return how many of the columns that are not for subtypes are clustered on, in these tables."""
    counted: Counter[str] = Counter()
    for path in paths.values():
        annotated = json.loads(path.read_text(encoding="utf-8"))["columns"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counted += scores(annotated, drafted(cc.read_cohort(path.with_suffix(".csv"))))[0]
    n, of = counted["clustered on"], counted["not for subtypes"]
    return f"{n} of {of} ({n / of:.1%})"


def held_out(of_half: tuple[dict[str, Path], dict[str, Path]]) -> list[str]:
    """Return a line for each half: scored as it is, and without the words that only its names have."""
    words = [
        {
            word
            for path in paths.values()
            for name in json.loads(path.read_text(encoding="utf-8"))["columns"]
            for word in (*names.name_words(name), names.folded(name))
        }
        for paths in of_half
    ]
    files = (data("roles"), data("sources"), {"subjects": {"words": data("tables")["subjects"]["words"]}})
    lists = [listed for file in files for concept in file.values() for listed in concept.values()]
    lines = []
    for number, paths in enumerate(of_half):
        whole = share_clustered_on(paths)
        before = [list(listed) for listed in lists]
        only_here = words[number] - words[1 - number]
        for listed in lists:
            listed[:] = [word for word in listed if word not in only_here]
        forget()
        lines.append(
            f"| {'first' if number == 0 else 'second'} | {len(paths)} | {whole} | {share_clustered_on(paths)} |"
        )
        for listed, words_before in zip(lists, before, strict=True):
            listed[:] = words_before
        forget()
    return lines


def forget() -> None:
    """Forget what was computed from the lists of words."""
    names._parted.cache_clear()


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
    lines += [
        "",
        "| half of the packages | tables | not for subtypes, but clustered on | without words of its names only |",
    ]
    lines += ["| --- | ---: | ---: | ---: |", *held_out(halves(options.folder))]
    lines += ["", "| table | features | kind right | lost | set aside | not for subtypes | clustered on |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    columns = ("features", "kind right", "lost", "set aside", "not for subtypes", "clustered on")
    lines += [f"| {name} | " + " | ".join(str(counted[part]) for part in columns) + " |" for name, counted in rows]
    if options.folder == parser.get_default("folder"):
        _RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines[: 11 + len(shown)]))


if __name__ == "__main__":
    main()
