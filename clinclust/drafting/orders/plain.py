"""The form in which levels that hold numbers are compared: without case, accents and outer space, with their signs."""

from __future__ import annotations

import unicodedata

__all__ = ["plain"]

_SIGNS = str.maketrans({"_": " ", "–": "-", "—": "-", "−": "-", "≤": "<", "≥": ">", "’": "'", "×": "x"})
_SIGNS |= str.maketrans({"½": " 1/2", "¼": " 1/4", "¾": " 3/4"})  # `1½` is not 11/2


def plain(text: str) -> str:
    """Return a text without case, accents and double spaces, its dashes and signs as on a keyboard.

    Examples
    --------
    >>> from clinclust.drafting.orders.plain import plain
    >>> plain(" 2–3 JOURS par  année "), plain("1½ h")
    ('2-3 jours par annee', '1 1/2 h')
    """
    apart = unicodedata.normalize("NFKD", text.translate(_SIGNS).casefold())
    return " ".join("".join(sign for sign in apart if not unicodedata.combining(sign)).split())
