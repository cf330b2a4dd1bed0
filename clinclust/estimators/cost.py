"""The memory that a fit will need, said before the fit.

A search turns every level of a nominal feature into a column of numbers, to find the principal axis of the subjects,
along which clusters are divided. These columns are what fills memory: a free-text column that is read as categorical
has thousands of levels.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.plan import n_threads
from clinclust.engine.search.sampled import LARGE, N_DIVIDED
from clinclust.errors import CohortWarning, InputError

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.settings import Settings

__all__ = ["machine_memory", "needed_memory", "refuse_or_warn_of_memory"]

_TABLES, _TABLES_OF_A_THREAD = 3.1, 0.6
"""Tables of the subjects by numeric columns that exist at the same time, and how many more with each further thread.

Measured as the rise of the peak resident memory of fits with 1,000 to 8,000 subjects and 3,000 to 20,000 levels: 3.0 to
3.1 tables on one thread, up to 3.6 on two.
"""
_TABLES_BESIDE = 4.6
"""Such tables of a search that also finds the coarsening or outlying values, on one thread.

Measured with 4,000 to 32,000 subjects and 500 to 2,000 levels: 4.3 to 5.2. They have all subjects, even where the
search begins in a sample.
"""
_CLUSTER_TABLES, _CLUSTERS = 4, 128
"""Tables of the clusters by levels in one partition, and a number of clusters that few searches exceed."""
_NUMBER = 8
_LARGE_SHARE = 0.25
"""Share of the machine's memory from which on a warning is issued."""
_LARGE_IF_UNKNOWN = 4e9
_NAMED = 5


def needed_memory(problem: Problem, settings: Settings) -> float:
    """Return about how many bytes the search of a fit will need beside the table itself.

    Parameters
    ----------
    problem : Problem
    settings : Settings
        They say how many subjects are searched together, and on how many threads.
    """
    arrays, threads = problem.cohort.arrays, n_threads(settings.n_jobs)
    subjects = problem.cohort.n_subjects
    if subjects >= LARGE and _searches_a_sample(settings):
        subjects = min(subjects, N_DIVIDED * threads)
    n_levels = int(_levels(problem).sum())
    n_columns = len(problem.cohort.encoding.features) + n_levels
    tables = _TABLES_BESIDE if settings.chooses_coarsening or settings.outlying_share else _TABLES
    axes = (tables + _TABLES_OF_A_THREAD * (threads - 1)) * subjects * n_columns
    partitions = threads * _CLUSTER_TABLES * min(subjects, _CLUSTERS) * int(arrays.level_start[-1])
    return _NUMBER * (axes + partitions)


def _searches_a_sample(settings: Settings) -> bool:
    """Return whether only a part of a large cohort is in memory as a table of levels.

    It is where the search begins in a sample, and finds nothing besides the partition (`clinclust.estimators.search`).
    """
    searches_more = settings.estimates_prior or settings.chooses_coarsening or settings.select_features
    return settings.starts_anywhere and not searches_more and not settings.outlying_share


def _levels(problem: Problem) -> NDArray[np.int64]:
    """Return the number of levels of each feature whose levels become columns, int64 (D,); 0 for all others."""
    likelihoods = problem.cohort.encoding.likelihoods
    return np.array([likelihood.n_statistics * likelihood.is_nominal for likelihood in likelihoods], dtype=np.int64)


def refuse_or_warn_of_memory(problem: Problem, settings: Settings, *, stacklevel: int) -> None:
    """Refuse a fit that needs more memory than the machine has; warn of one that needs a large share of it.

    Raises
    ------
    ValueError
        If the fit needs more memory than there is. The message names the columns that need most, and the repair.
    """
    needed, there = needed_memory(problem, settings), machine_memory()
    if needed < (_LARGE_IF_UNKNOWN if there is None else _LARGE_SHARE * there):
        return
    said = f"about {needed / 1e9:,.1f} GB of memory{_because(problem)}"
    if there is not None and needed > there:
        raise InputError(f"The fit would need {said}; this machine has {there / 1e9:,.1f} GB. {_REPAIR}")
    warnings.warn(f"The fit will need {said}, and may take long. {_REPAIR}", CohortWarning, stacklevel=stacklevel + 1)


_REPAIR = "Group rare levels under one name, or give such a column the role describe or ignore in the schema."


def _because(problem: Problem) -> str:
    levels = _levels(problem)
    most = [int(place) for place in np.argsort(-levels, kind="stable")[:_NAMED] if levels[place] > 0.1 * levels.sum()]
    features = problem.cohort.encoding.features
    named = ", ".join(f"{features[place].name} ({levels[place]:,} levels)" for place in most)
    return f" for {problem.cohort.n_subjects:,} subjects, most of it for {named}" if named else ""


def machine_memory() -> float | None:
    """Return the bytes of memory that this process may use; None if the system does not say."""
    limits = [limit for limit in (_physical(), _of_group(), _of_process()) if limit is not None]
    return min(limits, default=None)


def _physical() -> float | None:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None


def _of_group() -> float | None:
    """Return the limit of the control group, which a container sets."""
    try:
        return float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or "max"
        return None


def _of_process() -> float | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else float(limit)
