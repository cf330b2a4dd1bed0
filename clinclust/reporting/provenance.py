"""Provenance of a report: the fingerprint of the data and the date."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["data_fingerprint", "date_of_report"]


def data_fingerprint(frame: pd.DataFrame) -> str:
    """Return the SHA-256 (hex) of the columns of a validated frame: names, types and values in order, without index."""
    import pandas as pd

    digest = hashlib.sha256()
    for name, column in frame.items():
        digest.update(f"{name!r} {column.dtype}\n".encode())
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()


def date_of_report(given: datetime | None) -> datetime:
    """Return the date of a report, with a time zone.

    It is `given`, or else the environment variable SOURCE_DATE_EPOCH (seconds since 1970, UTC), or else the present
    time.
    """
    if given is not None:
        return given if given.tzinfo else given.astimezone()
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now().astimezone()
