"""The packages of other methods: imported where they are used, on one thread, without their own warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from clinclust.errors import missing_package

__all__ = ["needed", "one_thread", "seed_for_scikit_learn"]

_PACKAGES = {"sklearn": "scikit-learn", "threadpoolctl": "scikit-learn"}
"""The name under which a module is installed, where it is another one."""


def needed(module: str, method: str) -> Any:
    """Return a module that a method needs.

    Parameters
    ----------
    module : str
        Its full name, as in ``sklearn.cluster``.
    method : str
        Name of the method in the error.

    Raises
    ------
    MissingPackageError
        If it is not installed; the message names the package.
    """
    top = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_package(method, _PACKAGES.get(top, top)) from error


@contextmanager
def one_thread(method: str) -> Iterator[None]:
    """Run foreign code on one thread, because sums on several have other last digits each time.

    Its warnings of runs that have not converged are not shown: methods read whether a run has, and choose among runs.
    """
    limits = needed("threadpoolctl", method).threadpool_limits
    unfinished = needed("sklearn.exceptions", method).ConvergenceWarning
    with limits(limits=1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", unfinished)
        yield


def seed_for_scikit_learn(seed: int) -> int:
    """Return a seed that scikit-learn and its relatives accept (below 2^32) for a seed of any size."""
    return int(np.random.default_rng(seed).integers(2**32))
