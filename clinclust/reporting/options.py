"""The options of a report, their check, and reports of tables in partitions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from clinclust.arguments import is_number, is_whole
from clinclust.arrays import Code
from clinclust.comparisons import compare_subtypes
from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.errors import CohortWarning, InputError, refuse
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.mixture import NO_FLOOR
from clinclust.estimators.partitioned.fit import PartitionedFit
from clinclust.estimators.subtype_model import SubtypeModel, cohort_problems, fewest_subjects, is_fitted
from clinclust.files.typed_files import Part, rows_of
from clinclust.methods.compare import FEWEST_SUBJECTS, MethodComparison
from clinclust.progress import Progress
from clinclust.stability import Stability

# The options of a report, and the check of all its arguments before the first search.

SUFFIXES = (".xlsx", ".html", ".json", ".csv", ".parquet")
"""How the file of a report may end: a workbook, a page, and for programs its sheets, or one table of all numbers."""


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """What a report shows, as in `write_report`; `whole_procedure` is that of `assess_stability`."""

    comparisons: pd.DataFrame | None = None
    associations: pd.DataFrame | Literal["refit"] | None = None
    stability: Stability | int | None = None
    names: Mapping[Any, str] = field(default_factory=dict)
    min_size: int = 3
    significance_level: float = 0.01
    suppress: int | None = None
    round_to: int | None = None
    missing_is_harmless: bool = False
    min_n: int | None = None
    whole_procedure: bool = False
    posterior: GibbsDP | bool = False
    other_methods: MethodComparison | bool = False
    n_jobs: int | None = None
    progress: bool = True

    def problems(self, called: Callable[[str], str] = str) -> list[str]:
        """Return which of them cannot be used, whatever the model; `called` says how a reader knows a name."""
        suppress = self.suppress if self.suppress is not None and is_whole(self.suppress, 2) else 2
        lowest = {
            "min_size": (1, "1 subject"),
            "suppress": (2, "2, because no count lies between 0 and 1"),
            "stability": (1, "1 sample"),
            "round_to": (3, "3"),
            "min_n": (suppress, f"{called('suppress')}, {suppress}"),
        }
        numbers = {name: number for name in lowest if (number := getattr(self, name)) is not None}
        if isinstance(self.stability, Stability):
            del numbers["stability"]
        problems = [
            f"{called(name)} must be at least {lowest[name][1]}, not {number!r}"
            for name, number in numbers.items()
            if not is_whole(number, lowest[name][0])
        ]
        if not (is_number(self.significance_level) and 0 < self.significance_level < 1):
            problems.append(f"{called('significance_level')} must lie between 0 and 1, not {self.significance_level!r}")
        if isinstance(self.associations, str) and self.associations != "refit":
            problems.append(f"associations must be 'refit', a frame or None, not {self.associations!r}")
        needs = {
            "round_to": "suppress",
            "missing_is_harmless": "suppress",
            "min_n": "suppress",
            "whole_procedure": "stability",
        }
        alone = {name: other for name, other in needs.items() if getattr(self, name) and getattr(self, other) is None}
        return problems + [
            f"{called(name)} can be used only together with {called(other)}" for name, other in alone.items()
        ]


def check_report(
    model: SubtypeModel, frame: pd.DataFrame, path: Path, options: ReportOptions, sizes: Mapping[int, int] | None = None
) -> None:
    """Check the arguments of `write_report`; the ValueError lists all problems.

    `sizes` are those of the subtypes among all subjects, if `frame` is a sample of a table in partitions.
    """
    problems = []
    if path.suffix.lower() not in SUFFIXES:
        formats = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        problems.append(f"a report ends in {formats}, not {path.suffix!r} ({path.name})")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        problems.append(f"{path.name} needs the package pyarrow: pip install pyarrow; or write .csv")
    problems += [*cohort_problems(model, frame), *options.problems()]
    if is_fitted(model):
        problems += unknown_names(options.names, model.codes_)
        if options.comparisons is not None:
            problems += _comparisons_problems(model, options.comparisons, sizes)
        problems += _stability_problems(model, options.stability)
        problems += _posterior_problems(model, options.posterior)
        problems += _other_methods_problems(model, options.other_methods)
    refuse(problems)


def _stability_problems(model: SubtypeModel, stability: Stability | int | None) -> list[str]:
    if not isinstance(stability, Stability):
        return []
    assessed, sizes = stability.subtypes["size"].tolist(), np.bincount(np.asarray(model.labels_)).tolist()
    if assessed == sizes:
        return []
    return [
        f"stability is that of subtypes of sizes {assessed}, and the model has sizes {sizes}; assess that of this model"
    ]


def _posterior_problems(model: SubtypeModel, posterior: GibbsDP | bool) -> list[str]:
    if isinstance(posterior, bool):
        return []
    if not is_fitted(posterior):
        return ["posterior is not fitted: call its fit with the cohort first"]
    n_drawn, n = posterior.draws_.shape[1], len(model.labels_)
    return [] if n_drawn == n else [f"posterior was drawn for {n_drawn} subjects, and the model has {n}"]


def _other_methods_problems(model: SubtypeModel, other_methods: MethodComparison | bool) -> list[str]:
    n = len(model.labels_)
    if isinstance(other_methods, bool):
        too_few = other_methods and n < FEWEST_SUBJECTS
        return [f"other_methods needs at least {FEWEST_SUBJECTS} subjects, and the model has {n}"] if too_few else []
    n_compared = {len(one.labels_) for one in other_methods.models.values()}
    return [] if n_compared == {n} else [f"other_methods were compared on other subjects than the {n} of the model"]


def unknown_names(names: Iterable[Code], codes: Sequence[Code], *, called: str = "names") -> list[str]:
    """Return the problem that names are of subtypes that do not exist; `called` is the name of the argument."""
    unknown = [str(code) for code in names if code not in codes]
    if not unknown:
        return []
    they = (
        f"they are {', '.join(map(str, codes))}" if isinstance(codes[0], str) else f"they are numbered 1 to {codes[-1]}"
    )
    return [f"{called}: there is no subtype {', '.join(unknown)}; {they}"]


def names_by_number(names: Mapping[Code, str], codes: Sequence[Code]) -> dict[int, str]:
    """Return names by the number of the subtype from 1, in the order of its code."""
    return {subtype: names[code] for subtype, code in enumerate(codes, start=1) if code in names}


def _comparisons_problems(model: SubtypeModel, comparisons: pd.DataFrame, sizes: Mapping[int, int] | None) -> list[str]:
    if comparisons["suppressed"].any():
        return ["comparisons hold withheld numbers; pass those of compare_subtypes, and ask for `suppress` here"]
    if ComparisonsFrame(comparisons).is_weighted:
        return ["comparisons have weights, and a report tests; write a table of them with subtype_table"]
    expected = {feature.name for feature in model.schema_.reported}
    different = sorted(expected ^ set(comparisons["feature"]))
    if different:
        return [f"comparisons and the model's schema differ in these features: {', '.join(different)}"]
    if sizes is None:
        subtypes, counts = np.unique(np.asarray(model.labels_) + 1, return_counts=True)
        sizes = dict(zip(subtypes.tolist(), counts.tolist(), strict=True))
    read = ComparisonsFrame(comparisons)
    for rows in (rows for levels in read.summaries.values() for rows in levels.values()):
        compared = {subtype: row["n"] + row["missing"] for subtype, row in rows.items() if subtype}
        if compared != sizes:
            return [
                f"comparisons hold subtypes of sizes {list(compared.values())}, the model of sizes "
                f"{list(sizes.values())}; compare the labels of this model"
            ]
    floor = fewest_subjects(model)
    tested = [subtype for subtype in read.tested if sizes[subtype] < floor]
    if tested:
        return [
            f"comparisons hold tests of subtypes that the model describes only (fewer than {floor} subjects): "
            f"{', '.join(map(str, tested))}; compare with min_size={floor}"
        ]
    return []


# Reports of a table in partitions: the comparisons are of all subjects, everything else of the sample of its fit.


def in_sample_of(model: SubtypeModel, table: Any) -> tuple[MAPDP, pd.DataFrame, dict[int, int]]:
    """Return the model in the sample of its table, the sample, and the sizes of the subtypes among all subjects.

    Raises InputError if the table is not that of the fit.
    """
    fit: Any = model.fit_
    if not (isinstance(fit, PartitionedFit) and isinstance(model, MAPDP)):
        raise InputError("the model was fitted on a table in memory, and this one is in partitions; give the former")
    if fit.labels_ is not None and fit.labels_.npartitions != table.npartitions:
        raise InputError(
            f"the table has {table.npartitions} partitions, and that of the fit had {fit.labels_.npartitions}; give "
            "the table that the model was fitted on"
        )
    return *model.in_sample(), dict(enumerate(model.cluster_sizes_.tolist(), start=1))


def comparisons_of_all(model: Any, table: Any, options: ReportOptions) -> pd.DataFrame | None:
    """Return comparisons of the subtypes in the sample, among all subjects of the table; None if all are in the sample.

    CohortWarning is issued if there are other subtypes, which are left out.
    """
    in_sample, sample = model.in_sample()
    n_subjects = int(model.cluster_sizes_.sum())
    if len(sample) == n_subjects:
        return None
    left_out = model.cluster_sizes_[in_sample.n_clusters_ :]
    if options.comparisons is not None and not left_out.size:
        return options.comparisons
    floor = in_sample.fit_.min_size_
    if floor > NO_FLOOR:
        floor = math.ceil(floor * n_subjects / len(sample))
    labels: Any = model.labels_
    if left_out.size:
        warnings.warn(
            f"the report leaves out {left_out.size} of {model.n_clusters_} subtypes, of {left_out.sum()} subjects in "
            "all: the sample has no subject of them",
            CohortWarning,
            stacklevel=3,
        )
        table, labels = (_sampled_subtypes(each, labels, in_sample.n_clusters_) for each in (table, labels))
    least, level = max(options.min_size, floor), options.significance_level
    with Progress(options.progress).stage("comparisons of all subjects"):
        return compare_subtypes(table, labels, model.schema_, min_size=least, significance_level=level)


def _sampled_subtypes(rows: Any, labels: Any, n_subtypes: int) -> Any:
    """Return the rows of the subtypes that have a subject in the sample, which are the first ones."""
    return rows.map_partitions(_below, labels, n_subtypes, meta=rows._meta)


def _below(rows: Any, labels: pd.Series[Any], n_subtypes: int) -> Any:
    return rows[labels.to_numpy() < n_subtypes]


def write_assignments(model: MAPDP, parts: list[Part], file: Path) -> None:
    """Write the identifiers and subtypes of all subjects as a parquet file, one partition after the other."""
    import pyarrow as pa
    from pyarrow import parquet

    ids = [feature.name for feature in model.schema_.ids]
    labels_of_all: Any = model.labels_
    codes = np.array(model.codes_)
    schema = pa.schema([*((name, pa.string()) for name in ids), ("subtype", pa.from_numpy_dtype(codes.dtype))])
    with parquet.ParquetWriter(file, schema) as writer:
        for part, labels in zip(parts, labels_of_all.to_delayed(), strict=True):
            rows = rows_of(part, ids).astype(str)
            rows["subtype"] = codes[labels.compute(scheduler="synchronous").to_numpy()]
            writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))
