"""Measure how long it takes from a table to its reports, and which stage takes it.

    python benchmarks/from_table_to_report.py

For each table of `raw_tables.py`: the stages of `clinclust start`, in its order, each with the seconds that passed and
the seconds of the processors (all threads together; on a quiet machine of two cores about half as many pass where
threads are used). Beside them stand two peers in the same process: pandas' own read of the file as text, and
scikit-learn's Gaussian mixture of every number of components from 1 to 15 (diagonal, one start), on the values coded as
numbers with means in the place of missing ones. The peer neither drafts nor tests nor reports.
"""

from __future__ import annotations

import platform
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from raw_tables import raw_tables

import clinclust as cc
from clinclust.check.check import look_at_table
from clinclust.estimators.fitting import prepared
from clinclust.estimators.settings import Settings, duration_sentence
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.files.tables import read_cohort
from clinclust.reporting.report import ReportOptions, gather_findings, write_findings

_RESULTS = Path(__file__).parent / "results" / "from_table_to_report.md"
_COMPONENTS = range(1, 16)

Result = TypeVar("Result")


class Clock:
    """Stages with their seconds."""

    def __init__(self) -> None:
        self.stages: dict[str, tuple[float, float]] = {}

    def __call__(self, stage: str, work: Callable[[], Result]) -> Result:
        """Return the result of the work, and note how long it took."""
        passed, used = time.perf_counter(), time.process_time()
        result = work()
        self.stages[stage] = time.perf_counter() - passed, time.process_time() - used
        print(f"  {stage}: {self.stages[stage][0]:.1f} s, processors {self.stages[stage][1]:.1f} s", flush=True)
        return result


def timed(frame: pd.DataFrame, schema: cc.FeatureSchema | None, folder: Path) -> tuple[Clock, Clock, str, int]:
    """Return the stages of the package, those of the peers, what was foreseen, and the number of subtypes."""
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    ours, peers = Clock(), Clock()
    peers("read by pandas", lambda: pd.read_csv(path, dtype=str, keep_default_na=False))
    table = ours("read", lambda: read_cohort(path))
    drafted = ours("draft", lambda: cc.draft_schema(table)) if schema is None else schema
    validated = ours("validate", lambda: drafted.validate(table, warn=False))
    model = cc.MAPDP(drafted, random_state=0, progress=False)
    settings = Settings.of(model)
    cohort = ours("prepare", lambda: prepared(settings, validated))
    ours("look at the columns", lambda: look_at_table(cohort, table))
    foreseen = duration_sentence(cohort.problem, settings)
    ours("fit", lambda: model.fit(validated))
    ours("save the model", lambda: model.save(folder / "model"))
    options = ReportOptions(associations=None, progress=False)
    findings = ours("comparisons", lambda: gather_findings(FittedCohort(model, validated), validated, options))
    associations = ours("associations", lambda: cc.validated_associations(model, validated, progress=False))
    findings = findings.with_associations(associations)
    ours("workbook", lambda: write_findings(findings, folder / "report.xlsx"))
    ours("page", lambda: write_findings(findings, folder / "report.html"))
    coded = _coded(validated)
    peers("Gaussian mixtures, 1 to 15", lambda: _mixtures(coded))
    return ours, peers, foreseen, model.n_clusters_


def _coded(frame: pd.DataFrame) -> np.ndarray:
    """Return the columns as standardised numbers, float64 (N, D), with means in the place of missing values."""
    columns = []
    for name in frame:
        column = frame[name]
        codes = column.cat.codes.where(column.notna()) if isinstance(column.dtype, pd.CategoricalDtype) else column
        values = codes.to_numpy(dtype=np.float64, na_value=np.nan)
        columns.append((values - np.nanmean(values)) / max(np.nanstd(values), 1e-12))
    return np.nan_to_num(np.column_stack(columns))


def _mixtures(values: np.ndarray) -> int:
    from sklearn.mixture import GaussianMixture

    bics = [
        GaussianMixture(number, covariance_type="diag", random_state=0).fit(values).bic(values)
        for number in _COMPONENTS
    ]
    return int(np.argmin(bics)) + 1


def _lines(name: str, ours: Clock, peers: Clock, foreseen: str, n_clusters: int) -> list[str]:
    passed, used = (sum(seconds[place] for seconds in ours.stages.values()) for place in (0, 1))
    (read, _), (_, mixtures) = peers.stages["read by pandas"], peers.stages["Gaussian mixtures, 1 to 15"]
    return [
        f"## {name}",
        "",
        f"{n_clusters} subtypes. Said before: {foreseen}.",
        "",
        "| stage | seconds | processor seconds |",
        "| --- | ---: | ---: |",
        *(f"| {stage} | {wall:.1f} | {cpu:.1f} |" for stage, (wall, cpu) in ours.stages.items()),
        f"| **all** | **{passed:.1f}** | **{used:.1f}** |",
        *(f"| peer: {stage} | {wall:.2f} | {cpu:.2f} |" for stage, (wall, cpu) in peers.stages.items()),
        "",
        f"The fit took {ours.stages['fit'][1] / mixtures:.1f} times the processor seconds of the peer's mixtures, and "
        f"reading {ours.stages['read'][0] / read:.1f} times the seconds of pandas' read.",
        "",
    ]


def main() -> None:
    """Time every table, print the stages, and write the results."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    cc.methods.PublishedMAPDP(random_state=0, progress=False).fit(rng.normal(size=(50, 2)))  # compiles
    lines = [
        "# From a table to its reports",
        "",
        f"{platform.machine()}, Python {platform.python_version()}. The seconds that pass depend on what else runs; "
        "the processor seconds are those of all threads.",
        "",
    ]
    for name, (frame, schema) in raw_tables().items():
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            lines += _lines(name, *timed(frame, schema, Path(folder)))
        _RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
