"""Choose a likelihood for a column of texts that are levels: yes/no, an ordered scale, or levels without order."""

from __future__ import annotations

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.evidence import SCALES, candidate, how_clear
from clinclust.drafting.names import looks_coded
from clinclust.drafting.orders import in_order
from clinclust.drafting.orders.words import level_in_doubt
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.yes_no import ranked_pair
from clinclust.files.cell_text import shortened
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.schema.level_numbers import numbers_of_levels

__all__ = [
    "levels_in_order",
    "ordered_by_the_table",
    "plain_levels",
    "proposal_of_codes",
    "proposal_of_texts",
    "two_levels",
]

_MOST_LEVELS = 50
_LONG_TEXT = 30
_RARE = 5
"""Levels that fewer subjects have say little, and may be spelling mistakes."""


def proposal_of_texts(column: ObservedColumn) -> Proposal:
    """Propose a feature for a column of texts; the role is ``ignore`` if they cannot be levels."""
    texts = column.texts
    if len(texts) == 2:
        return two_levels(column)
    if len(texts) > _MOST_LEVELS or column.n_observed < 2 * len(texts):
        is_long = np.mean([len(text) for text in texts]) > _LONG_TEXT or np.mean([" " in text for text in texts]) > 0.5
        kind = "free text" if is_long else "too many different values for levels"
        return Proposal({"role": "ignore"}, f"{kind} ({len(texts)} different among {column.n_observed})")
    ordered = in_order(texts, column.name)
    if ordered is not None:
        return levels_in_order(column, ordered[0], f"{len(texts)} levels, {ordered[1]}")
    doubtful = None if looks_coded(column.name) else level_in_doubt(texts)
    why = (
        "without a known order"
        if doubtful is None
        else f"; the place of {shortened(doubtful)!r} among them is not certain"
    )
    return proposal_of_codes(column, sorted(texts), f"{len(texts)} different texts {why}".replace(" ;", ";"))


def two_levels(column: ObservedColumn) -> Proposal:
    """Propose a yes/no feature for two texts."""
    pair = sorted(column.texts)
    order = None if (known := ranked_pair(pair)) is not None else in_order(pair, column.name)
    pair = known or (order[0] if order is not None else pair)
    reason = f"two values, of which {pair[1]!r} counts as yes (swap the levels to change that)"
    return Proposal({"likelihood": Bernoulli.name, "levels": pair}, reason)


def ordered_by_the_table(column: ObservedColumn) -> Proposal | None:
    """Propose a scale for an ordered categorical of pandas; None for other columns, and for a column of codes."""
    levels = [text for text in column.order if text in column.texts]
    if not 3 <= len(levels) <= _MOST_LEVELS or len(levels) < len(column.texts) or looks_coded(column.name):
        return None
    known = in_order(levels, column.name)
    found = levels_in_order(column, levels, "an ordered categorical: the table gives its levels this order")
    if known is not None and known[0] in (levels, levels[::-1]):
        return found
    hint = "if they have no order, write `likelihood: categorical`"
    return Proposal(found.fields, joined(found.reason, hint), found.looks, False)


def levels_in_order(column: ObservedColumn, levels: list[str], what: str) -> Proposal:
    """Propose a scale for levels from low to high: binomial if they are spread as a binomial scale, or ordinal."""
    place = {level: score for score, level in enumerate(levels)}
    scores = np.repeat([float(place[text]) for text in column.texts], column.counts)
    options = [candidate({"likelihood": name, "levels": levels}, scores) for name in SCALES]
    best = max(options, key=lambda option: option.evidence)
    words, is_clear = how_clear(best, [option for option in options if option is not best])
    reason = joined(what, f"an ordered scale, {best.called}" + (f" ({words})" if words else ""))
    # A rare number is no misspelt one.
    looks = () if numbers_of_levels(tuple(levels)) is not None else _rare(column)
    return Proposal(best.fields, reason, looks, is_clear or best is options[0])


def proposal_of_codes(column: ObservedColumn, levels: list[str], what: str) -> Proposal:
    """Propose levels without order."""
    looks = _rare(column)
    is_short = 3 <= len(levels) <= 7 and not looks_coded(column.name)
    hint = "if they have an order, list them from low to high and write `likelihood: ordinal`" if is_short else ""
    return Proposal({"likelihood": Categorical.name, "levels": levels}, joined(what, hint), looks, not is_short)


def plain_levels(column: ObservedColumn, fault: str) -> Proposal:
    """Propose all texts of a column as levels without order, because of a fault of its draft; or ignore many texts."""
    n = len(column.texts)
    look = f"no better draft of this column was found, which is a fault of clinclust ({fault}): check its line"
    if not 2 <= n <= _MOST_LEVELS:
        return Proposal({"role": "ignore"}, f"{n} different values that could not be drafted", (look,))
    fields = {"likelihood": Categorical.name, "levels": column.texts}
    return Proposal(fields, f"{n} different values, taken for levels as they are", (look,), False)


def _rare(column: ObservedColumn) -> tuple[str, ...]:
    rare = [text for text, count in zip(column.texts, column.counts.tolist(), strict=True) if count < _RARE]
    if not rare or len(column.texts) < 3 or column.n_observed < 20 * _RARE:
        return ()
    shown = ", ".join(map(repr, rare[:3])) + (" ..." if len(rare) > 3 else "")
    return (f"fewer than {_RARE} subjects have {shown}: spelling mistakes, or levels to join (`synonyms`)?",)
