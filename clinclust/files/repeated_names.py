"""Names that several columns of a REDCap export with labels have: labels of fields, and ``Complete?`` of every form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from clinclust.files.listed import listed, quoted
from clinclust.files.text_table import TableRead

__all__ = ["with_distinct_names"]

_ONLY_REDCAP = ("Complete?", "Event Name", "Repeat Instrument", "Repeat Instance", "Data Access Group")
_CHOICE = "(choice="


def with_distinct_names(read: TableRead) -> TableRead:
    """Return an export of REDCap with labels so that no two columns have one name; any other table unchanged.

    The second column of a name gets ``(2)`` after it. In other tables a name that repeats is a fault, which whoever
    chooses columns refuses.
    """
    names = [str(name) for name in read.frame.columns]
    repeated = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if not repeated or not any(name.strip() in _ONLY_REDCAP or _CHOICE in name for name in names):
        return read
    frame = read.frame.copy(deep=False)
    frame.columns = pd.Index(_distinct(names), dtype=object)
    several = "1 name stands" if len(repeated) == 1 else f"{len(repeated)} names stand"
    told = (
        f"an export of REDCap with labels, in which {several} over several columns ({listed(map(quoted, repeated))}): "
        f"the second is called {quoted(f'{repeated[0]} (2)')}, and so on in the order of the file; an export with raw "
        "names has a name of its own for each field"
    )
    return replace(read, frame=frame, remarks=[*read.remarks, told])


def _distinct(names: Sequence[str]) -> list[str]:
    taken, seen, distinct = set(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        new = name
        while name.strip() and seen[name] > 1 and (new := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        taken.add(new)
        distinct.append(new)
    return distinct
