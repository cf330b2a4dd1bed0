"""Take eight tables from file to report by one command each, and compare the drafted types with types set by hand.

``python examples/first_table/run.py`` writes the tables, schemas and reports into a folder ``first_table`` where it is
run, and prints the table of `README.md`. Five tables come with scikit-learn and statsmodels; three are simulated
(`typed_tables.py`), as hospitals send them: decimal commas, units in the cells, codes for missing values, repeated
blood pressures.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from typed_tables import drafted, shipped, simulated

import clinclust as cc

SHIPPED = ("wine", "breast cancer", "diabetes", "anes96", "fair")
SIMULATED = ("german", "cardiology", "survey")
HEADING = "| table | rows × columns | types as by hand | blocks | described, ignored | looks | subtypes | seconds |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("first_table"), help="folder for everything that is written")
    folder = parser.parse_args().out
    folder.mkdir(exist_ok=True)
    chosen = [item for item in shipped() if item[0] in SHIPPED] + [item for item in simulated() if item[0] in SIMULATED]
    print(HEADING, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", sep="\n")
    for name, frame, types in chosen:
        table = folder / f"{name.replace(' ', '_')}.csv"
        frame.to_csv(table, index=False, sep=";" if name == "german" else ",")
        print(row(table, types), flush=True)


def row(table: Path, types: dict[str, str]) -> str:
    """Run the one command on a table, and return its line of the results."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "clinclust", "start", str(table), "--yes", "--no-open", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds = time.perf_counter() - started
    schema = cc.FeatureSchema.from_yaml(table.with_suffix(".yaml"))
    model = cc.MAPDP.load(table.parent / f"{table.stem}-subtypes")
    agree = sum(drafted(schema[name]) in typed for name, typed in types.items())
    blocks = len({feature.block for feature in schema if feature.block})
    aside = f"{len(schema.described)}, {sum(feature.role == 'ignore' for feature in schema)}"
    text = table.with_suffix(".yaml").read_text(encoding="utf-8")
    looks = text.count("# LOOK: ")
    shape = f"{model.labels_.size:,} × {len(types)}"
    counts = f"{agree} of {len(types)} | {blocks} | {aside} | {looks} | {model.n_clusters_}"
    return f"| {table.stem.replace('_', ' ')} | {shape} | {counts} | {seconds:.0f} |"


if __name__ == "__main__":
    main()
