"""Numbers that are multiplied in the cells: `5.1x10^3`, `8 Mio`, `2.1 Tsd`, `250K`, `2x25`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from clinclust.drafting.numerals import MILLION, THOUSAND
from clinclust.files.cell_text import number_of
from clinclust.files.number_notation import with_plain_spaces

__all__ = ["is_factor", "products_of"]

_SUPERSCRIPTS = str.maketrans({sign: str(digit) for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_FACTOR = re.compile(
    rf"(?:[x×*·]\s*10|10)\s*(?:\^|\*\*)?\s*(?P<power>[0-9]{{1,2}})|[x×*·]\s*(?P<times>[0-9]+(?:[.,][0-9]+)?)"
    rf"|(?P<thousand>{'|'.join(THOUSAND)})\.?|(?P<million>m|{'|'.join(MILLION)})\.?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<number>[-+]?[0-9]+(?:[.,][0-9]+)?)\s*(?P<rest>.*)")
_WIDER = 1.5
"""By which factor a product may exceed the range of the numbers that stand alone."""
_MOST = 500
"""The most distinct texts for which a schema lists what each means."""


def is_factor(unit: str) -> bool:
    """Return whether what stands behind a number multiplies it, such as ``x10^3`` or ``Mio``."""
    return _FACTOR.fullmatch(unit.translate(_SUPERSCRIPTS)) is not None


def products_of(texts: Sequence[str]) -> dict[str, str]:
    """Return the texts with a factor beside numbers without one, each with the number that it certainly means.

    It is certain if all products lie where the other numbers lie, and the numbers before the factors do not:
    ``5.1x10^3`` beside 4900, but not ``2.1 Tsd`` beside 2.1, where the factor may be the unit of all.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.

    Examples
    --------
    >>> from clinclust.drafting.products import products_of
    >>> products_of(["4900", "6100", "5.1x10^3"])
    {'5.1x10^3': '5100'}
    """
    read = {text: one for text in texts if (one := _parts(text)) is not None}
    alone = [number for number, factor in read.values() if factor is None]
    multiplied = {text: (number, factor) for text, (number, factor) in read.items() if factor is not None}
    if not alone or not 0 < len(multiplied) <= _MOST:
        return {}
    low, high = min(alone), max(alone)
    numbers = np.array([number for number, _ in multiplied.values()])
    products = np.array([number * factor for number, factor in multiplied.values()])
    are_there = low > 0 and bool(((products >= low / _WIDER) & (products <= high * _WIDER)).all())
    if not are_there or ((numbers >= low) & (numbers <= high)).any():
        return {}
    return {text: f"{product:.12g}" for text, product in zip(multiplied, products.tolist(), strict=True)}


def _parts(text: str) -> tuple[float, float | None] | None:
    """Return the number of a text and its factor, None if it has none; None for texts that are something else."""
    found = _NUMBER.fullmatch(with_plain_spaces(text).translate(_SUPERSCRIPTS))
    if found is None:
        return None
    number = number_of(found["number"].replace(",", "."))
    if not found["rest"]:
        return number, None
    factor = _FACTOR.fullmatch(found["rest"])
    if factor is None:
        return None
    if factor["power"]:
        return number, 10.0 ** int(factor["power"])
    if factor["times"]:
        return number, number_of(factor["times"].replace(",", "."))
    return number, 1e3 if factor["thousand"] else 1e6
