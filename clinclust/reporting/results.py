"""What programs read of a report: its numbers as JSON or one tidy table, the facts of a fit, and its sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust import __version__
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.mixture import MEANING_OF_MARKS, n_standing
from clinclust.files.cell_text import listed
from clinclust.files.writing import atomic_write, write_text
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.divisions import Division, distinct_in_words, divisions_of, n_parted
from clinclust.reporting.layout import Sheet, Table, percent

if TYPE_CHECKING:
    pass


# Write the numbers of a report for programs: all sheets and tested divisions as JSON, or one tidy table.


def write_results(sheets: Sequence[Sheet], path: Path, *, title: str, divisions: Sequence[Division]) -> None:
    """Write the sheets and the tested divisions to `path`, reproducibly; what is no number is null."""
    found = {
        "clinclust": __version__,
        "title": title,
        "divisions": [division_facts(division) for division in divisions],
        "sheets": {sheet.name: _content(sheet) for sheet in sheets},
    }
    write_text(json_text(found), path)


def write_tidy(sheet: Sheet, path: Path) -> None:
    """Write the sheet of all numbers, one summary, test or effect size a row, as csv or parquet.

    A column with withheld numbers is of texts, so that it has one type.
    """
    (table,) = sheet.tables
    columns = {}
    for place, column in enumerate(table.columns):
        values = [row[place] for row in table.rows]
        is_text = column.kind == "text" or any(isinstance(value, str) for value in values)
        cells = [None if value is None else str(value) for value in values] if is_text else values
        columns[column.title.lower().replace(" ", "_")] = pd.Series(cells, dtype=object if is_text else np.float64)
    found = pd.DataFrame(columns)
    if path.suffix.lower() == ".csv":
        write_inert_csv(found, path)
        return
    with atomic_write(path) as target:
        found.to_parquet(target, index=False)


def json_text(found: dict[str, Any]) -> str:
    """Return facts as JSON with a line end; what is no number is null."""
    return json.dumps(_finite(found), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def division_facts(division: Division) -> dict[str, Any]:
    """Return a tested division as facts for a program."""
    return {**asdict(division), "excess": division.excess, "result": division.result, "said": division.p_said}


def _content(sheet: Sheet) -> dict[str, Any]:
    return {"notes": [*sheet.notes, *sheet.explanations], "tables": [_table(table) for table in sheet.tables]}


def _table(table: Table) -> dict[str, Any]:
    columns = [": ".join(filter(None, (*column.group, column.title))) for column in table.columns]
    rows = list(map(list, table.rows))
    return {"caption": table.caption, "columns": columns, "rows": rows, "notes": list(table.notes)}


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# What a fit says in a few sentences, and its facts for a program.
#
#     3 subtypes among 527 subjects: 210 (39.8%), 180 (34.2%), 137 (26.0%)
#     Tested: these are more than one continuum: 3 distinct subtypes.


def summarise_fit(model: MAPDP, n_stated: int | None = None) -> list[str]:
    """Return sentences on the subtypes of a fitted model, their sizes, and the test of its tree.

    `n_stated` subtypes were to be found.
    """
    n_subjects, n_subtypes, n_groups = model.cluster_sizes_.sum(), model.n_clusters_, model.subtype_of_.size
    marks = model.fit_.remarks_
    sizes = ", ".join(
        f"{size} ({'; '.join([f'{percent(int(size), n_subjects):.1f}%', *remarks])})"
        for size, remarks in zip(model.cluster_sizes_, marks, strict=True)
    )
    shortfall = f" ({n_stated} were asked for)" if n_stated is not None and n_stated > n_subtypes else ""
    few = [str(code) for code, is_small in zip(model.codes_, model.untested_, strict=True) if is_small]
    untested = f"; few subjects, untested: subtype{'' if len(few) == 1 else 's'} {listed(few)}" if few else ""
    subtypes = f"{n_subtypes} subtype{'' if n_subtypes == 1 else 's'}"
    lines = [f"{subtypes}{shortfall} among {n_subjects} subjects: {sizes}{untested}"]
    if any(marks):
        standing = n_standing(model.subtypes_)
        lines.append(f"{MEANING_OF_MARKS} Such subtypes may be noise; without them: {standing}.")
    n_before = n_groups if model.n_clusters is None else n_subtypes
    if isinstance(model.n_clusters, Integral):
        n_before = int(model.n_clusters)
    if n_before > n_subtypes:
        lines.append(
            f"{n_before - n_subtypes} fewer than without --min-size: groups of fewer than {model.min_size_} subjects "
            "were merged where they were hardly distinct from another."
        )
    test = model.fit_.tree_test_
    if test is None or test.joins.empty:
        return lines
    if n_subtypes == 1:
        return [
            *lines,
            f"Tested: the cohort looks like one continuum; the {n_groups} groups of the search were not "
            "shown to be more than slices of it.",
        ]
    clusters = f"; the {n_groups} clusters of the search were not shown to be" if n_groups > n_subtypes else ""
    grades = f": {distinct_in_words(model.fit_)}" if n_subtypes == n_parted(model.fit_) else ""
    return [*lines, f"Tested: these are more than one continuum{grades}{clusters}."]


def facts_of_fit(model: MAPDP, n_stated: int | None) -> dict[str, Any]:
    """Return the facts about a fitted model, for a program: subtypes, sizes, and p of every tested division."""
    titles = {subtype: f"Subtype {code}" for subtype, code in enumerate(model.codes_, start=1)}
    summary = model.summary().reset_index()
    marks = [" ".join(remarks) for remarks in model.fit_.remarks_]
    return {
        "subjects": int(model.cluster_sizes_.sum()),
        "n_subtypes": model.n_clusters_,
        "n_asked": n_stated,
        "n_clusters": int(model.subtype_of_.size),
        "subtypes": summary.assign(untested=model.untested_, remarks=marks).to_dict("records"),
        "divisions": [division_facts(division) for division in divisions_of(model.fit_, titles)],
        "uninformative": dict(model.uninformative_),
        "seed": model.random_seed_,
        "stopped_early": model.stopped_early_,
    }
