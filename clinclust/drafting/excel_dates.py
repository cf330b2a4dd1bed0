"""Values such as 2/3 or 1-2 that a spreadsheet turned into dates, and wrote into text as ``02. Mrz`` or ``1-Feb``."""

from __future__ import annotations

import re

import pandas as pd

from clinclust.drafting.missing_codes import quoted
from clinclust.files.listed import listed

__all__ = ["turned_into_dates"]

_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|mrz|mär|mai|okt|dez|janv|févr|mars|avr|juin|juil|août|"
    r"déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott)\.?"
)
_TURNED = re.compile(rf"\d{{1,2}}[-. ]{{1,2}}{_MONTH}|{_MONTH}[-. ]{{1,2}}\d{{1,2}}", re.IGNORECASE)


def turned_into_dates(cells: pd.Series) -> str | None:
    """Return what to say of the cells of a column that are days of a month without a year; None if there are none.

    Examples
    --------
    >>> import pandas as pd
    >>> from clinclust.drafting.excel_dates import turned_into_dates
    >>> said = turned_into_dates(pd.Series(["4/5", "02. Mrz", "1-Feb"], index=[2, 3, 4]))
    >>> said[:55]
    "rows 3, 4 hold '02. Mrz', '1-Feb': a spreadsheet probab"
    """
    texts = cells.astype(str).str.strip()
    found = texts[texts.str.fullmatch(_TURNED.pattern, flags=re.IGNORECASE).fillna(False).astype(bool)]
    if found.empty:
        return None
    rows = f"row{'' if len(found) == 1 else 's'} {listed(found.index, len(found))}"
    verb, shown = "holds" if len(found) == 1 else "hold", quoted(list(dict.fromkeys(found)))
    return (
        f"{rows} {verb} {shown}: a spreadsheet probably turned values such as 2/3 or 1-2 into dates; format the column "
        "as text before the values are entered or imported, and export the table again"
    )
