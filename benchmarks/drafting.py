"""Count how often the drafted schema agrees with types set by hand.

    python benchmarks/drafting.py

The tables and the types are those of `examples/first_table/typed_tables.py`, and the cohort of parkinsonism with its
schema, which a person wrote.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pandas as pd

import clinclust as cc

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "first_table"))
from typed_tables import drafted, shipped, simulated

_RESULTS = Path(__file__).parent / "results" / "drafting.md"
_NAMES = {"B": "yes/no", "S": "scale", "N": "levels without order", "C": "count", "M": "measurement"}
_NAMES |= {"I": "identifier", "X": "nothing to model"}


def main() -> None:
    """Draft every table, print where the draft differs, and write the results."""
    rows, by_type, differing = [], Counter[tuple[str, bool]](), []
    for kind, tables in (("shipped", shipped()), ("simulated", [*simulated(), _parkinsonism()])):
        for name, frame, types in tables:
            schema = cc.draft_schema(frame)
            found = {column: drafted(schema[column]) for column in types}
            agree = [found[column] in types[column] for column in types]
            rows.append((name, kind, len(types), sum(agree)))
            for column, is_it in zip(types, agree, strict=True):
                by_type[types[column][0], is_it] += 1
                if not is_it:
                    differing.append(
                        f"{name}: {column}: {found[column]} for {types[column]}: {schema.comments[column]}"
                    )
    print("\n".join(differing))
    total, agreeing = sum(row[2] for row in rows), sum(row[3] for row in rows)
    lines = [
        "# Drafted schemas",
        "",
        f"{agreeing} of {total} columns ({agreeing / total:.1%}) of {len(rows)} tables are drafted as a person typed "
        "them. `examples/first_table/typed_tables.py` holds the tables, and the types, set before any was drafted; "
        "those of the last are those of its schema.",
        "",
        "| type set by hand | columns | drafted so |",
        "| --- | ---: | ---: |",
    ]
    for letter, title in _NAMES.items():
        n = by_type[letter, True] + by_type[letter, False]
        lines.append(f"| {title} | {n} | {by_type[letter, True]} |")
    lines += ["", "| table | from | columns | drafted so |", "| --- | --- | ---: | ---: |"]
    lines += [f"| {name} | {kind} | {n} | {agree} |" for name, kind, n, agree in rows]
    _RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines[:12]))


def _parkinsonism() -> tuple[str, pd.DataFrame, dict[str, str]]:
    """Return the cohort of the example, and the type of each column by its schema."""
    root = Path(__file__).parents[1]
    by_hand = cc.FeatureSchema.from_yaml(root / "schemas" / "parkinsonism.yaml")
    frame = cc.read_cohort(root / "examples" / "parkinsonism" / "cohort.csv")
    return "parkinsonism (examples)", frame, {feature.name: drafted(feature) for feature in by_hand}


if __name__ == "__main__":
    main()
