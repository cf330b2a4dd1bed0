"""Versions of the software that computed a result."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

_PACKAGES = ("numpy", "scipy", "pandas", "numba", "statsmodels", "pandera", "openpyxl")


def software_versions() -> dict[str, str]:
    """Return the versions of clinclust, Python and the required packages, by name."""
    return dict(_found())


@cache  # looking up all versions takes as long as a small fit
def _found() -> dict[str, str]:
    from clinclust import __version__

    return {
        "clinclust": __version__,
        "Python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }
