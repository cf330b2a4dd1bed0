"""Texts that have an order: words, rates, quantities, intervals, grades, letters, crosses, numbered answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clinclust.drafting.orders.extensions import ranks_of_extensions, ranks_of_two_orders
from clinclust.drafting.orders.grades import ranks_of_crosses, ranks_of_grades, ranks_of_labels, ranks_of_letters
from clinclust.drafting.orders.intervals import ranks_of_intervals
from clinclust.drafting.orders.quantities import ranks_of_quantities
from clinclust.drafting.orders.rates import ranks_of_rates
from clinclust.drafting.orders.words import level_in_doubt, ranks_of_words
from clinclust.files.cell_text import number_of

__all__ = ["QUANTITIES", "in_order", "order_of"]

Ranks = list[float]

QUANTITIES = "quantities, compared in one unit"


def in_order(texts: Sequence[str], name: str) -> tuple[list[str], str] | None:
    """Return the texts from low to high, and what orders them; None if nothing does, several tie, or one is in doubt.

    Parameters
    ----------
    texts : sequence of str
        Distinct texts.
    name : str
        The name of the column. Numbered texts of a column of codes (`School 3` of `school`) have no order.

    Examples
    --------
    >>> from clinclust.drafting.orders import in_order
    >>> in_order(["high risk", "low risk", "intermediate risk"], "risk")
    (['low risk', 'intermediate risk', 'high risk'], 'words that have an order')
    >>> in_order(["tremor", "rigid", "mixed"], "phenotype") is None
    True
    """
    if level_in_doubt(texts) is not None:
        return None
    ways: tuple[tuple[Ranks | None, str], ...] = (
        (ranks_of_words(texts), "words that have an order"),
        (ranks_of_two_orders(texts), "words that have an order"),
        (ranks_of_extensions(texts), "words that deny or extend one another"),
        (ranks_of_crosses(texts), "crosses"),
        (ranks_of_rates(texts), "how often"),
        (ranks_of_quantities(texts), QUANTITIES),
        (ranks_of_intervals(texts), "intervals"),
        (ranks_of_grades(texts, name), "numbered grades"),
        (ranks_of_letters(texts, name), "letters that are grades, by the name"),
        (ranks_of_labels(texts, name), "texts that begin with a number"),
    )
    for ranks, what in ways:
        if ranks is not None and len(set(ranks)) == len(texts):
            ranked = sorted(zip(ranks, texts, strict=True))
            return [text for _, text in ranked], what
    return None


def order_of(labels: Sequence[str]) -> list[int] | None:
    """Return the indices of the labels of a dictionary from the low to the high end; None if they have no known order.

    Intervals must rise in the order in which the dictionary lists them, which else has a reason.

    Examples
    --------
    >>> from clinclust.drafting.orders import order_of
    >>> order_of(["severe", "mild", "none"])
    [2, 1, 0]
    >>> order_of(["Stage I", "Stage II", "Stage IV"])
    [0, 1, 2]
    """
    if len(labels) < 3:
        return None
    numbers = [number_of(label.strip()) for label in labels]
    if len(set(labels)) < len(labels) or not any(map(math.isnan, numbers)):
        return None if len(set(numbers)) < len(labels) else sorted(range(len(labels)), key=numbers.__getitem__)
    found = in_order(labels, "")
    if found is None:
        return None
    order = [list(labels).index(text) for text in found[0]]
    return order if found[1] != "intervals" or order == sorted(order) else None
