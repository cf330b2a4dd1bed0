"""Names that several columns of a REDCap export have: labels of fields, and ``Complete?`` for every form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from clinclust.files.listed import listed, quoted
from clinclust.files.text_table import TableRead

__all__ = ["COMPLETE", "with_distinct_names"]

COMPLETE = "Complete?"
"""What an export with labels calls the status of every form."""
_ONLY_REDCAP = (COMPLETE, "Event Name", "Repeat Instrument", "Repeat Instance", "Data Access Group")
_CHOICE = "(choice="


def with_distinct_names(read: TableRead) -> TableRead:
    """Return an export of REDCap with labels so that no two columns have one name; any other table unchanged.

    The second column of a name gets ``(2)`` after it, in the order of the file. In other tables a name that repeats is
    a fault, which whoever chooses columns refuses.
    """
    names = [str(name) for name in read.frame.columns]
    counts = Counter(name for name in names if name.strip())
    repeated = [name for name, count in counts.items() if count > 1]
    is_export = any(name.strip() in _ONLY_REDCAP or _CHOICE in name for name in names)
    if not repeated or not is_export:
        return read
    distinct = _distinct(names)
    frame = read.frame.copy(deep=False)
    frame.columns = pd.Index(distinct, dtype=object)
    told = (
        f"an export of REDCap with labels, in which {len(repeated)} name{'' if len(repeated) == 1 else 's'} stand"
        f"{'s' if len(repeated) == 1 else ''} over several columns ({listed(map(quoted, repeated), len(repeated))}): "
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
