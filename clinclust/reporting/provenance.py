"""Provenance of a result: versions of the software, fingerprint of the data, date of the report."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["data_fingerprint", "date_of_report", "software"]

_PACKAGES = ("numpy", "scipy", "pandas", "numba", "statsmodels", "pandera", "openpyxl")


def software() -> dict[str, str]:
    """Versions of clinclust, of Python and of the packages whose numbers are in a report."""
    from clinclust import __version__

    return {
        "clinclust": __version__,
        "Python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def data_fingerprint(frame: pd.DataFrame) -> str:
    """SHA-256 (hex) of a validated frame: names, types and values of its columns, in order; not its index."""
    import pandas as pd

    digest = hashlib.sha256()
    for name, column in frame.items():
        digest.update(f"{name!r} {column.dtype}\n".encode())
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()


def date_of_report(given: datetime | None) -> datetime:
    """Return `given`, else the environment's SOURCE_DATE_EPOCH, else now; with a time zone."""
    if given is not None:
        return given if given.tzinfo else given.astimezone()
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now().astimezone()
