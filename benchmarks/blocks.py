"""Compare what features of one block may count for: everything, what they are worth, or one of them.

    python benchmarks/blocks.py                                      # a first look: two cohorts of each setting
    python benchmarks/blocks.py --cohorts 3 --batteries 6 --jobs 2   # what results/blocks.md holds

Each cohort is fitted with blocks counted in full, for what they are worth (the default), with the whole likelihood
coarsened instead (``coarsening="auto"``), with both, and with only the first feature of each block. The schemas of the
data that scikit-learn ships declare as blocks what their documentation says is measured on one thing.

Batteries of items are drafted, and fitted by default with the blocks of the draft and without.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from clinclust import MAPDP, Feature, FeatureSchema, draft_schema
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.methods import PublishedMAPDP

sys.path.insert(0, str(Path(__file__).parent))
from block_cohorts import BATTERIES, SETTINGS, battery_cohort, block_cohort

RESULTS = Path(__file__).parent / "results" / "blocks.md"
WAYS: dict[str, dict[str, object]] = {
    "in full": {"block_weights": None},
    "worth": {"block_weights": "auto"},
    "coarsened": {"block_weights": None, "coarsening": "auto", "outlying_share": 0.0},
    "both": {"block_weights": "auto", "coarsening": "auto", "outlying_share": 0.0},
    "one kept": {"block_weights": None},
    "modelled": {},
}
MEANINGS = {
    "in full": "every feature counts in full: `PublishedMAPDP()`",
    "worth": "each block counts for what it is worth: `PublishedMAPDP(block_weights='auto')`",
    "coarsened": 'the whole likelihood is coarsened, no powers: `PublishedMAPDP(coarsening="auto", outlying_share=0)`',
    "both": 'powers and coarsening: `PublishedMAPDP(block_weights="auto", coarsening="auto", outlying_share=0)`',
    "one kept": "the other features of each block are left out",
    "modelled": "blocks of measurements are multivariate Gaussians: `likelihood: multivariate_gaussian`; "
    "only where all blocks hold measurements",
}
LIMITS = """\
Where powers do little: a fit on one feature of each block is about as good, unless the features of the block are
independent within subtypes, where leaving them out loses subtypes and powers do not. Small subtypes may be missed, as
they are with one feature of each block. Dependence that no block names stays: that between the blocks of the breast
cancer table still gives several subtypes for one diagnosis, where coarsening the whole likelihood does more. Modelled
blocks of two to four correlated measurements find as much as powers do. Of eight they find less, as each subtype then
has a covariance matrix of 36 parameters, and so they do where the measurements of a block are independent."""
BATTERY_TITLE = "## Batteries of items"
Cohort = tuple[pd.DataFrame, FeatureSchema, np.ndarray]


def breast_cancer(blocks: Callable[[str], str | None]) -> Cohort:
    """Return the breast cancer table of scikit-learn with its diagnoses, and with blocks by the name of a column."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    frame = data.data.rename(columns=lambda name: name.replace(" ", "_"))
    features = [
        Feature(name=name, likelihood="gaussian", transform="log1p", block=blocks(name)) for name in frame.columns
    ]
    return frame, FeatureSchema(features), data.target.to_numpy().astype(np.int64)


def _by_measure(name: str) -> str:
    """Return the measure of a column: mean, error and worst of one measure are one block."""
    return name.removeprefix("mean_").removeprefix("worst_").removesuffix("_error")


def _size_together(name: str) -> str:
    """Return the measure, with radius, perimeter and area, which measure the size of a nucleus, as one block."""
    measure = _by_measure(name)
    return "size" if measure in ("radius", "perimeter", "area") else measure


def wine() -> Cohort:
    """Return the wine table of scikit-learn with its cultivars; its three measures of phenols are one block."""
    from sklearn.datasets import load_wine

    data = load_wine(as_frame=True)
    frame = data.data.rename(columns=lambda name: name.replace("/", "_"))
    phenols = {"total_phenols", "flavanoids", "nonflavanoid_phenols"}
    features = [
        Feature(name=name, likelihood="gaussian", block="phenols" if name in phenols else None)
        for name in frame.columns
    ]
    return frame, FeatureSchema(features), data.target.to_numpy().astype(np.int64)


def _as_it_is(schema: FeatureSchema) -> FeatureSchema:
    return schema


def _modelled(schema: FeatureSchema) -> FeatureSchema:
    """Return the schema with every feature of a block as part of a multivariate Gaussian."""
    modelled = {"likelihood": "multivariate_gaussian"}
    return FeatureSchema(
        [Feature(**{**feature.content(), **(modelled if feature.block else {})}) for feature in schema]
    )


SHIPPED: dict[str, Callable[[], Cohort]] = {
    "breast cancer, 10 blocks of 3": lambda: breast_cancer(_by_measure),
    "breast cancer, 7 blocks of 3 and one of 9": lambda: breast_cancer(_size_together),
    "wine, a block of 3": wine,
}


def fitted(task: tuple[int, str, int]) -> list[dict[str, object]]:
    """Return one row for each way to count blocks."""
    warnings.simplefilter("ignore")
    seed, setting, n_restarts = task
    frame, schema, truth = SHIPPED[setting]() if setting in SHIPPED else block_cohort(seed, setting)
    rows = []
    for way, options in WAYS.items():
        if way == "modelled" and any(feature.block and feature.likelihood != "gaussian" for feature in schema):
            continue
        asked = {"one kept": _one_of_each, "modelled": _modelled}.get(way, _as_it_is)(schema)
        began = time.perf_counter()
        model = PublishedMAPDP(asked, n_restarts=n_restarts, n_jobs=1, random_state=seed, progress=False, **options)
        model.fit(frame[list(asked.names)])
        powers = list(model.block_weights_.values())
        rows.append(
            {
                "seed": seed,
                "setting": setting,
                "way": way,
                "n_true": np.unique(truth).size,
                "n_found": model.n_clusters_,
                "ari": adjusted_rand_index(model.labels_, truth),
                "power": float(np.mean(powers)) if way == "worth" else np.nan,
                "seconds": time.perf_counter() - began,
            }
        )
    return rows


def _one_of_each(schema: FeatureSchema) -> FeatureSchema:
    """Return the schema with the first feature of each block only."""
    kept, seen = [], set()
    for feature in schema:
        if feature.block is None or feature.block not in seen:
            kept.append(feature.name)
        seen.add(feature.block)
    return schema.restricted_to(kept)


def drafted(task: tuple[int, str]) -> list[dict[str, object]]:
    """Return one row for the default fit of a drafted battery, and one for that without its blocks."""
    warnings.simplefilter("ignore")
    seed, setting = task
    frame, truth = battery_cohort(seed, setting)
    schema = draft_schema(frame, progress=False)
    unblocked = FeatureSchema([Feature(**(feature.content() | {"block": None})) for feature in schema])
    in_blocks = [feature.block is not None for feature in schema if feature.name[-1].isdigit()]
    rows = []
    for way, asked in {"no blocks": unblocked, "drafted": schema}.items():
        began = time.process_time()
        model = MAPDP(asked, n_jobs=1, random_state=seed, progress=False).fit(frame)
        rows.append(
            {
                "seed": seed,
                "setting": setting,
                "way": way,
                "n_true": np.unique(truth).size,
                "n_found": model.n_clusters_,
                "ari": adjusted_rand_index(model.labels_, truth),
                "in blocks": np.mean(in_blocks),
                "seconds": time.process_time() - began,
            }
        )
    return rows


def battery_table(rows: pd.DataFrame) -> str:
    """Return the Markdown table of the drafted batteries: mean K, mean ARI and mean CPU seconds of each fit."""
    lines = ["| battery | groups | items in a block | no blocks | as drafted |", "| --- |" + " --- |" * 4]
    for setting, of_setting in rows.groupby("setting", sort=False):
        means = of_setting.groupby("way")[["n_found", "ari", "seconds"]].mean()
        cells = [
            f"{means.loc[way, 'n_found']:.1f}, {means.loc[way, 'ari']:.2f}, {means.loc[way, 'seconds']:.1f} s"
            for way in ("no blocks", "drafted")
        ]
        n_true, share = of_setting["n_true"].iloc[0], of_setting["in blocks"].mean()
        lines.append(f"| {setting} | {n_true} | {share:.0%} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report_of_batteries(rows: pd.DataFrame) -> str:
    """Return the last section of the page."""
    about = (
        f"{rows['seed'].nunique()} cohorts in each setting, drafted, and fitted by default. 1,000 subjects have four "
        "scales of six items that share a factor, or eight items that are independent within three classes, and other "
        "columns. Each cell: mean number of groups, mean adjusted Rand index, mean CPU seconds."
    )
    return "\n".join([BATTERY_TITLE, "", about, "", battery_table(rows), ""])


def table(rows: pd.DataFrame, settings: list[str]) -> str:
    """Return the Markdown table: mean K found beyond the true, share of cohorts with K right, mean ARI."""
    rows = rows.assign(right=rows["n_found"] == rows["n_true"], beyond=rows["n_found"] - rows["n_true"])
    lines = ["| setting | " + " | ".join(WAYS) + " | power |", "| --- |" + " --- |" * (len(WAYS) + 1)]
    for setting in settings:
        cells = []
        for way in WAYS:
            part = rows[(rows["way"] == way) & (rows["setting"] == setting)]
            if part.empty:
                cells.append("-")
                continue
            ari = f", {part['ari'].mean():.3f}" if part["n_true"].max() > 1 else ""
            cells.append(f"{part['right'].mean():.0%} ({part['beyond'].mean():+.1f}){ari}")
        power = rows[(rows["way"] == "worth") & (rows["setting"] == setting)]["power"].mean()
        lines.append(f"| {setting} | " + " | ".join(cells) + f" | {power:.2f} |")
    return "\n".join(lines)


def _shipped_table(rows: pd.DataFrame, settings: list[str]) -> str:
    lines = ["| table | K true | " + " | ".join(WAYS) + " |", "| --- | --- |" + " --- |" * len(WAYS)]
    for setting in settings:
        part = rows[rows["setting"] == setting].set_index("way")
        cells = [f"{part.loc[way, 'n_found']}, {part.loc[way, 'ari']:.3f}" for way in WAYS]
        lines.append(f"| {setting} | {part['n_true'].iloc[0]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(rows: pd.DataFrame, n_restarts: int) -> str:
    """Return the page of results."""
    simulated = [setting for setting in SETTINGS if setting in set(rows["setting"])]
    shipped = [setting for setting in SHIPPED if setting in set(rows["setting"])]
    times = rows.pivot_table("seconds", ["setting", "seed"], "way")
    ratios = times.div(times["one kept"], axis=0).groupby("setting").median().reindex([*simulated, *shipped])
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn"))
    n_cohorts = rows[rows["setting"].isin(simulated)]["seed"].nunique()
    return "\n".join(
        [
            "# Subtypes found where features measure the same thing",
            "",
            f"{n_cohorts} cohorts in each setting, {n_restarts} restarts; made by `benchmarks/blocks.py`.",
            "",
            *[f"- {way}: {meaning}" for way, meaning in MEANINGS.items()],
            "",
            "Each cell: cohorts with the number of subtypes right (mean number too many), mean adjusted Rand index. "
            "Last column: mean power that the default chose.",
            "",
            table(rows, simulated),
            "",
            "Tables that scikit-learn ships; each cell: number of subtypes found, adjusted Rand index with the labels.",
            "",
            _shipped_table(rows, shipped),
            "",
            LIMITS,
            "",
            "Median time of a fit on one thread, relative to that with one feature of each block:",
            "",
            "| setting | " + " | ".join(WAYS) + " |",
            "| --- |" + " --- |" * len(WAYS),
            *[
                f"| {name} | " + " | ".join("-" if np.isnan(row[way]) else f"{row[way]:.1f}" for way in WAYS) + " |"
                for name, row in ratios.iterrows()
            ],
            "",
            f"Python {platform.python_version()}, {versions}.",
            "",
        ]
    )


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2, help="0: keep the first tables of the page")
    parser.add_argument("--batteries", type=int, default=1, help="cohorts of each battery")
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    tasks = [
        (options.first_seed + index, setting, options.restarts)
        for index in range(options.cohorts)
        for setting in SETTINGS
    ]
    tasks += [(0, setting, options.restarts) for setting in SHIPPED if tasks]
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for done in pool.map(fitted, tasks):
            rows += done
            print(pd.DataFrame(done).drop(columns="seed").round(3).to_string(index=False, header=False), flush=True)
        seeds = [options.first_seed + index for index in range(options.batteries)]
        battery_rows = []
        for done in pool.map(drafted, [(seed, setting) for setting in BATTERIES for seed in seeds]):
            battery_rows += done
            print(pd.DataFrame(done).drop(columns="seed").round(3).to_string(index=False, header=False), flush=True)
    page = report(pd.DataFrame(rows), options.restarts) if rows else RESULTS.read_text(encoding="utf-8")
    text = page.split(BATTERY_TITLE)[0].rstrip() + "\n\n" + report_of_batteries(pd.DataFrame(battery_rows))
    print("\n" + text)
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
