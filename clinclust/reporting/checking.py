"""Check the arguments of a report, as far as this is possible before a search starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.errors import InputError
from clinclust.estimators.fitted_cohort import cohort_problems
from clinclust.estimators.subtype_model import fewest_subjects, is_fitted
from clinclust.method_comparison.candidates import FEWEST_SUBJECTS
from clinclust.stability import Stability

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.gibbs import GibbsDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.method_comparison import MethodComparison
    from clinclust.reporting.options import ReportOptions

__all__ = ["check_report", "unknown_names"]

SUFFIXES = (".xlsx", ".html")


def check_report(model: SubtypeModel, frame: pd.DataFrame, path: Path, options: ReportOptions) -> None:
    """Check the arguments of `write_report`.

    Raises
    ------
    ValueError
        If an argument cannot be used. The message lists all problems.
    """
    problems = [] if path.suffix.lower() in SUFFIXES else [_wrong_suffix(path)]
    problems += cohort_problems(model, frame)
    problems += options.problems()
    if is_fitted(model):
        problems += unknown_names(options.names, np.unique(model.labels_) + 1)
        if options.comparisons is not None:
            problems += _comparisons_problems(model, options.comparisons)
        problems += _stability_problems(model, options.stability)
        problems += _posterior_problems(model, options.posterior)
        problems += _other_methods_problems(model, options.other_methods)
    if problems:
        raise InputError("; ".join(problems))


def _stability_problems(model: SubtypeModel, stability: Stability | int | None) -> list[str]:
    """Return why a given stability cannot be that of the subtypes of the model; empty if it can."""
    if not isinstance(stability, Stability):
        return []
    assessed, sizes = stability.subtypes["size"].tolist(), np.bincount(np.asarray(model.labels_)).tolist()
    if assessed == sizes:
        return []
    return [
        f"stability is that of subtypes of sizes {assessed}, and the model has sizes {sizes}; assess that of this model"
    ]


def _posterior_problems(model: SubtypeModel, posterior: GibbsDP | bool) -> list[str]:
    """Return why given draws cannot be those of the cohort of the model; empty if they can."""
    if isinstance(posterior, bool):
        return []
    if not is_fitted(posterior):
        return ["posterior is not fitted: call its fit with the cohort first"]
    n_drawn, n = posterior.draws_.shape[1], len(model.labels_)
    return [] if n_drawn == n else [f"posterior was drawn for {n_drawn} subjects, and the model has {n}"]


def _other_methods_problems(model: SubtypeModel, other_methods: MethodComparison | bool) -> list[str]:
    """Return why given methods cannot be of the cohort of the model, or cannot be run in it; empty if they can."""
    n = len(model.labels_)
    if isinstance(other_methods, bool):
        too_few = other_methods and n < FEWEST_SUBJECTS
        return [f"other_methods needs at least {FEWEST_SUBJECTS} subjects, and the model has {n}"] if too_few else []
    n_compared = {len(one.labels_) for one in other_methods.models.values()}
    return [] if n_compared == {n} else [f"other_methods were compared on other subjects than the {n} of the model"]


def unknown_names(names: Mapping[int, str], subtypes: Iterable[int], *, called: str = "names") -> list[str]:
    """Return the problem that names are given for subtypes that do not exist; empty if all exist.

    `called` is the name of the argument in the sentence.
    """
    known = [int(subtype) for subtype in subtypes]
    unknown = sorted(set(names) - set(known))
    if not unknown:
        return []
    return [f"{called}: there is no subtype {', '.join(map(str, unknown))}; they are numbered 1 to {max(known)}"]


def _wrong_suffix(path: Path) -> str:
    return f"a report ends in .xlsx or .html, not {path.suffix!r} ({path.name})"


def _comparisons_problems(model: SubtypeModel, comparisons: pd.DataFrame) -> list[str]:
    """Return why the comparisons do not belong to the features and subtypes of the model; empty if they do."""
    if comparisons["suppressed"].any():
        return ["comparisons hold withheld numbers; pass those of compare_subtypes, and ask for `suppress` here"]
    expected = {feature.name for feature in model.schema_.reported}
    different = sorted(expected ^ set(comparisons["feature"]))
    if different:
        return [f"comparisons and the model's schema differ in these features: {', '.join(different)}"]
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
