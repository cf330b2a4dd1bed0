"""Choose a likelihood for the total of a known instrument, whose range the name of the column says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.evidence import SCALES, Candidate, candidate, how_clear
from clinclust.drafting.instruments import Instrument
from clinclust.drafting.measurements import proposal_of_measurements
from clinclust.drafting.proposal import Proposal, joined
from clinclust.drafting.ties import are_dense, is_learnt
from clinclust.files.listed import listed
from clinclust.likelihoods.negative_binomial import NegativeBinomial

__all__ = ["off_scale", "proposal_of_total"]

Array = NDArray[np.float64]

_MOST_LEVELS = 200
_MOST_OFF = 0.2
"""The share of the values off the scale from which on the name means something else."""
_EXAMPLES = 3


def off_scale(instrument: Instrument, column: ObservedColumn, numbers: Array) -> tuple[str, bool]:
    """Return what is off the scale of an instrument, and whether it deserves a look; an empty text if nothing is."""
    is_off = (numbers < instrument.low) | (numbers > instrument.high)
    if instrument.step:
        steps = (numbers - instrument.low) / instrument.step
        is_off |= np.abs(steps - np.round(steps)) > 1e-9
    if not is_off.any():
        return "", False
    n = int(column.counts[is_off].sum())
    few = n <= _MOST_OFF * column.n_observed
    by = f" by {instrument.step:g}" if instrument.step not in (0, 1) else ""
    span = f"{instrument.called} is a scale {instrument.low:g} to {instrument.high:g}{by}"
    texts = [repr(text) for text, off in zip(column.texts, is_off, strict=True) if off]
    shown = listed(texts[:_EXAMPLES], len(texts))
    verb = "value" if n == 1 else "values"
    if not few:
        return f"the name is that of an instrument, but {n} {verb} are not on its scale", False
    return f"{span}, but the column holds {shown}: correct them, or list them in `missing_codes`", True


def proposal_of_total(column: ObservedColumn, numbers: Array, instrument: Instrument) -> Proposal:
    """Propose a feature for totals that are all on the scale of the instrument.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),)
        The number of each text.
    instrument : Instrument
    """
    values = np.repeat(numbers, column.counts)
    called = f"{instrument.called}, by the name of the column"
    if not instrument.step:
        found = proposal_of_measurements(column, values)
        return Proposal(found.fields, joined(called, found.reason), found.looks, found.is_clear)
    what = f"{called}: a scale {instrument.low:g} to {instrument.high:g}"
    n_levels = round((instrument.high - instrument.low) / instrument.step) + 1
    few = not is_learnt(values.size, n_levels)
    if (few and are_dense(values, step=instrument.step)) or n_levels > _MOST_LEVELS:
        found = proposal_of_measurements(column, values)
        why = f"with {values.size} subjects its {n_levels} levels make fewer subtypes as a measurement"
        return Proposal(found.fields, joined(what, why, found.reason), found.looks, found.is_clear)
    options = _scale(column, numbers, instrument)
    wide = few and instrument.low == 0 and instrument.step == 1
    counts = [candidate({"likelihood": NegativeBinomial.name}, values)] if wide else []
    best = max([*options, *counts], key=lambda option: option.evidence)
    words, is_clear = how_clear(best, [option for option in [*options, *counts] if option is not best])
    reason = joined(what, best.called + (f" ({words})" if words else ""))
    return Proposal(best.fields, reason, (), is_clear or best is options[0])


def _scale(column: ObservedColumn, numbers: Array, instrument: Instrument) -> list[Candidate]:
    """Return the ways of modelling totals as a scale with all steps of the instrument."""
    steps = np.round((np.repeat(numbers, column.counts) - instrument.low) / instrument.step)
    if instrument.step == 1:
        low, high = int(instrument.low), int(instrument.high)
        declared = {"trials": high} if low == 0 else {"minimum": low, "maximum": high}
        return [candidate({"likelihood": name, **declared}, steps) for name in SCALES]
    levels, synonyms = _written(column, numbers, instrument)
    options = [candidate({"likelihood": name, "levels": levels}, steps) for name in SCALES]
    if not synonyms:
        return options
    return [Candidate({**o.fields, "synonyms": synonyms}, o.called, o.evidence) for o in options]


def _written(column: ObservedColumn, numbers: Array, instrument: Instrument) -> tuple[list[str], dict[str, str]]:
    """Return all steps as the column writes them, and the other spellings of those that it writes in two ways."""
    text_of: dict[int, str] = {}
    synonyms: dict[str, str] = {}
    for text, number in zip(column.texts, numbers.tolist(), strict=True):
        step = round((number - instrument.low) / instrument.step)
        if text_of.setdefault(step, text) != text:
            synonyms[text] = text_of[step]
    mark = "," if any("," in text for text in column.texts) else "."
    n_levels = round((instrument.high - instrument.low) / instrument.step) + 1
    whole = any(mark in text for text, number in zip(column.texts, numbers, strict=True) if number % 1 == 0)
    levels = []
    for step in range(n_levels):
        number = instrument.low + step * instrument.step
        plain = f"{number:.1f}" if whole and number % 1 == 0 else f"{number:g}"
        levels.append(text_of.get(step, plain.replace(".", mark)))
    return levels, synonyms
