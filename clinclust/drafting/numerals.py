"""Words behind a number that multiply it by a thousand or a million: `12 Tsd`, `1.2 Mio`."""

from __future__ import annotations

__all__ = ["MILLION", "THOUSAND"]

THOUSAND = ("k", "tsd", "tausend", "thousand", "thsd", "mille", "mil", "miles", "mila")
MILLION = (
    *("mio", "mill", "million", "millions", "millionen", "millones", "milioni", "miljoen"),
    *("milhões", "milhoes"),
)
