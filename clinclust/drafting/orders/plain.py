"""The form in which levels that hold numbers are compared: without case, accents and outer space, with their signs."""

from __future__ import annotations

import unicodedata

__all__ = ["plain"]

_SIGNS = str.maketrans({"–": "-", "—": "-", "−": "-", "≤": "<", "≥": ">", "’": "'", "×": "x"})


def plain(text: str) -> str:
    """Return a text without case, accents and double spaces, its dashes and signs as on a keyboard.

    Examples
    --------
    >>> from clinclust.drafting.orders.plain import plain
    >>> plain(" 2–3 JOURS par  année ")
    '2-3 jours par annee'
    """
    apart = unicodedata.normalize("NFKD", text.translate(_SIGNS).casefold())
    return " ".join("".join(sign for sign in apart if not unicodedata.combining(sign)).split())
