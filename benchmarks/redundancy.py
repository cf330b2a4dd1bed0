"""Measure the recognition of redundancy: what it finds, misses, and invents, what fits gain, and how long it takes.

    python benchmarks/redundancy.py                # a first look: two cohorts of each kind
    python benchmarks/redundancy.py --cohorts 3    # what results/redundancy.md holds
    python benchmarks/redundancy.py --planted 40   # what results/redundancy_planted.md holds: on unseen tables

The cohorts are simulated (redundant_cohorts.py), or ship with scikit-learn and statsmodels.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from planted_redundancies import KINDS, clean_table, planted_table
from redundant_cohorts import Drawn, drawn_cohort

from clinclust import MAPDP, draft_schema
from clinclust.drafting.draft import draft_columns
from clinclust.drafting.redundancy import Redundancy, applied, redundancies
from clinclust.engine.search.agreement import adjusted_rand_index
from clinclust.schema import FeatureSchema

RESULTS = Path(__file__).parent / "results" / "redundancy.md"
PLANTED = RESULTS.with_name("redundancy_planted.md")
SIZES = (100, 300, 1000)


def joined(found: list[Redundancy]) -> set[frozenset[str]]:
    """Return the pairs of columns that blocks join."""
    return {frozenset((a, b)) for one in found if one.block for a in one.columns for b in one.columns if a < b}


def false_findings(cohorts: int) -> pd.DataFrame:
    """Return the share of cohorts of subtypes alone in which a block, or a function, is found."""
    rows = []
    for separation in (2.0, 4.0, 8.0):
        for mixed in (False, True):
            for n in SIZES:
                found = [
                    redundancies(d.frame, d.schema)
                    for seed in range(cohorts)
                    for k in (1, 2, 4, 6)
                    for d in [drawn_cohort(seed, n, 20, k, separation, mixed=mixed)]
                ]
                rows.append(
                    {
                        "separation": f"{separation:g}",
                        "features": "mixed" if mixed else "numbers",
                        "N": n,
                        "cohorts": len(found),
                        "with a block": np.mean([bool(joined(one)) for one in found]),
                        "with anything else": np.mean([any(not r.block for r in one) for one in found]),
                    }
                )
    return pd.DataFrame(rows)


def missed_repetitions(cohorts: int) -> pd.DataFrame:
    """Return the share of pairs of repetitions that are missed, beside three to four subtypes."""
    rows = []
    for named in (False, True):
        for members in (2, 4, 8):
            row: dict[str, object] = {"names": "say so" if named else "do not", "repetitions": members}
            beside = []
            for rho in (0.5, 0.6, 0.7, 0.8, 0.95):
                missed = []
                for seed in range(cohorts):
                    for n in SIZES[1:]:
                        d = drawn_cohort(
                            seed,
                            n,
                            15,
                            3 + seed % 2,
                            4.0,
                            mixed=True,
                            members=members,
                            rho=rho,
                            named=named,
                            missing=0.05,
                        )
                        pairs = joined(redundancies(d.frame, d.schema))
                        true = {frozenset((a, b)) for a in d.repeated for b in d.repeated if a < b}
                        missed.append(len(true - pairs) / len(true))
                        beside.append(bool(pairs - true))
                row[f"rho {rho:g}"] = np.mean(missed)
            rows.append({**row, "cohorts with a wrong pair": np.mean(beside)})
    return pd.DataFrame(rows)


def _found(frame: pd.DataFrame) -> list[Redundancy]:
    schema, _ = draft_columns(frame)
    return redundancies(schema.validate(frame, warn=False), schema)


def planted(tables: int) -> pd.DataFrame:
    """Return how often each kind of planted redundancy is found, and how often anything else beside it is.

    A column that is computed from items is found if it is described; for other kinds, any of the columns concerned.
    """
    rows = []
    for kind in KINDS:
        hits, wrong = 0, 0
        for seed in range(tables):
            frame, result, concerned = planted_table(kind, seed)
            found = _found(frame)
            own = [one for one in found if result in one.columns and len(concerned & set(one.columns)) > 1]
            is_of_items = "total" in kind or "items" in kind
            hits += any(result in one.described if is_of_items else one.block or one.described for one in own)
            wrong += any(not set(one.columns) <= concerned for one in found)
        rows.append({"planted": kind, "tables": tables, "found": hits / tables, "with a wrong one": wrong / tables})
        print(rows[-1], flush=True)
    return pd.DataFrame([*rows, *(_clean(tables, has_items=has_items) for has_items in (False, True))])


def _clean(tables: int, *, has_items: bool) -> dict[str, object]:
    """Return the row of tables without redundancy. Blocks of items are no error: they share one severity."""
    wrong = sum(bool(_found(clean_table(seed, has_items=has_items))) for seed in range(tables))
    title = "nothing, beside a questionnaire (blocks of its items)" if has_items else "nothing"
    return {"planted": title, "tables": tables, "found": 0.0, "with a wrong one": wrong / tables}


def one_severity(cohorts: int) -> pd.DataFrame:
    """Return how many cohorts of one severity behind 20 features give blocks, by the correlation that it makes."""
    rows = []
    for severity in (0.3, 0.5, 0.7):
        found = [
            redundancies(d.frame, d.schema)
            for seed in range(cohorts)
            for d in [drawn_cohort(seed, 300, 20, 1, 0.0, severity=severity)]
        ]
        rows.append({"correlation": severity, "with a block": np.mean([bool(joined(one)) for one in found])})
    return pd.DataFrame(rows)


def copied(d: Drawn, seed: int) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return a cohort with four columns copied in another unit, and two cut-offs, as hospitals export them."""
    rng = np.random.default_rng(seed)
    frame = d.frame.copy()
    chosen = rng.permutation(frame.columns)[:4]
    for name in chosen:
        frame[f"{name}_si"] = (frame[name] * 2.5 + 1.0).round(3)
    for name in chosen[:2]:
        frame[f"high_{name}"] = (frame[name] > frame[name].quantile(0.7)).astype(int)
    schema, _ = draft_columns(frame)
    return schema.validate(frame, warn=False), schema


def effect_on_fits(cohorts: int) -> pd.DataFrame:
    """Return K and agreement with the subtypes, of fits before and after the proposals are applied."""
    rows = []
    for separation in (1.5, 2.5):
        for seed in range(cohorts):
            d = drawn_cohort(seed, 400, 10, 3, separation)
            frame, schema = copied(d, seed)
            found = redundancies(frame, schema)
            for when, used in (("before", schema), ("after", applied(schema, found))):
                model = MAPDP(used, random_state=seed).fit(frame)
                agreement = adjusted_rand_index(model.labels_, d.labels)
                rows.append({"separation": separation, "when": when, "K": model.n_clusters_, "ARI": agreement})
    return pd.DataFrame(rows).groupby(["separation", "when"], sort=False).mean().reset_index()


def seconds() -> pd.DataFrame:
    """Return how long the search takes, beside one fit of K-means with ten starts on the same table."""
    from sklearn.cluster import KMeans

    rows = []
    for n, c in ((300, 40), (5000, 200), (5000, 500), (100_000, 50)):
        rng = np.random.default_rng(0)
        shared = rng.normal(size=(n, 5))
        values = (shared @ rng.normal(size=(5, c)) + rng.normal(size=(n, c))).round(2)
        frame = pd.DataFrame(values, columns=[f"c{i}" for i in range(c)])
        frame.iloc[:, ::3] = (frame.iloc[:, ::3] > 0).astype(int)
        sample = draft_schema(frame.iloc[:2000])
        valid = sample.validate(frame, warn=False)
        started = time.perf_counter()
        redundancies(valid, sample)
        ours = time.perf_counter() - started
        started = time.perf_counter()
        KMeans(5, n_init=10, random_state=0).fit(values)
        peer = time.perf_counter() - started
        rows.append({"N": n, "columns": c, "seconds": ours, "K-means, 10 starts": peer, "ratio": ours / peer})
    return pd.DataFrame(rows)


def shipped() -> pd.DataFrame:
    """Return what is found in tables that ship with scikit-learn and statsmodels."""
    import statsmodels.api as sm
    from sklearn import datasets

    tables = {name: getattr(datasets, f"load_{name}")(as_frame=True).frame for name in ("breast_cancer", "diabetes")}
    tables |= {name: getattr(datasets, f"load_{name}")(as_frame=True).frame for name in ("wine", "iris")}
    for name in ("fair", "anes96", "randhie", "heart", "spector", "cancer", "star98", "fertility", "scotland", "ccard"):
        tables[name] = getattr(sm.datasets, name).load_pandas().data
    rows = []
    for name, table in tables.items():
        frame = table.astype(str).replace("nan", "")
        schema, _ = draft_columns(frame)
        for one in redundancies(schema.validate(frame, warn=False), schema) or [None]:
            reason = "nothing" if one is None else f"{one.kind}: {one.reason}"
            rows.append({"table": name, "found": reason, "proposal": "" if one is None else one.proposal})
    return pd.DataFrame(rows)


def markdown(table: pd.DataFrame) -> str:
    """Return a table in Markdown."""
    cells = table.map(lambda value: f"{value:.2f}" if isinstance(value, float) else str(value))
    lines = [list(cells.columns), ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Run and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2)
    parser.add_argument("--planted", type=int, default=0, metavar="TABLES")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.planted:
        how = f"Drawn by `benchmarks/planted_redundancies.py`, {options.planted} tables a kind."
        head = f"# Planted redundancies\n\n{how}\n"
        PLANTED.write_text(f"{head}\n{markdown(planted(options.planted))}", encoding="utf-8")
        return
    parts = {
        "Subtypes and nothing else: what is found is wrong (20 features, K = 1, 2, 4, 6)": lambda: false_findings(
            options.cohorts
        ),
        "Repetitions beside subtypes: share of pairs missed (15 other features, mixed, 5% missing)": lambda: (
            missed_repetitions(options.cohorts)
        ),
        "One severity behind all features, no subtypes": lambda: one_severity(options.cohorts),
        "Fits before and after: four columns twice, two cut-offs (10 features, K = 3)": lambda: effect_on_fits(
            options.cohorts
        ),
        "Time": seconds,
        "Tables that ship with scikit-learn and statsmodels": shipped,
    }
    text = f"# Redundancy\n\nSimulated with {options.cohorts} seeds each by `benchmarks/redundancy.py`.\n"
    for title, part in parts.items():
        text += f"\n## {title}\n\n{markdown(part())}"
        print(text[text.rindex("## ") :], flush=True)
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
