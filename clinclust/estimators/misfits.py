"""What whoever fitted a model is told of features that another likelihood describes clearly better."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from clinclust.files.cell_text import shortened
from clinclust.files.listed import limited, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["probably_too", "warning_of_misfits"]

_SHOWN, _LONGEST_LINE = 5, 400
_PROBABLE = 5.0
"""Nats from which on, beside clear misfits, another likelihood is named as probably better."""


def warning_of_misfits(compared: pd.DataFrame) -> str | None:
    """Return the warning, with the lines of the schema that mend it; None if no likelihood is clearly better.

    Parameters
    ----------
    compared : DataFrame
        From `compared_likelihoods`.
    """
    misfits = compared[compared["is_misfit"]]
    n = len(misfits)
    if not n:
        return None
    lines = "".join(f"\n  {_line(row)}" for row in misfits.iloc[:_SHOWN].to_dict("records"))
    more = f"\n  and {n - _SHOWN} more: the sheet Likelihoods of a report lists all" if n > _SHOWN else ""
    features, lines_of = ("1 feature is", "this line") if n == 1 else (f"{n} features are", "these lines")
    also = probably_too(compared)
    also = f"\n  {also}" if also else ""
    return limited(
        f"{features} described clearly better by another likelihood than the schema declares; this can invent "
        f"subtypes. Write {lines_of} into the schema instead, and fit again:{lines}{more}{also}"
    )


def probably_too(compared: pd.DataFrame) -> str:
    """Return the sentence on features that another likelihood describes better, but not clearly; empty without any.

    It is said only where another feature is a misfit, because clusters that one wrong likelihood has bought serve the
    others as well, and hide how wrong they are.
    """
    close = compared[~compared["is_misfit"] & (compared["evidence"] >= _PROBABLE)]
    if close.empty or not compared["is_misfit"].any():
        return ""
    named = listed((f"{row['feature']} ({row['better']})" for row in close.to_dict("records")), len(close))
    return f"Probably better otherwise too, but not clearly: {named}."


def _line(row: Mapping[Hashable, Any]) -> str:
    line = str(row["schema_line"])
    if len(line) > _LONGEST_LINE:  # many levels, or long texts
        line = f"- {shortened(str(row['feature']))}: see the sheet Likelihoods of a report"
    return f"{line}  # {row['better']} instead of {row['declared']}, by {row['evidence']:,.0f} nats"
