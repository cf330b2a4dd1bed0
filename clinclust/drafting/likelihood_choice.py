"""Choose a likelihood for the observed values of one column; of several that fit, the highest log marginal wins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import LARGEST_COUNT, LARGEST_MEASUREMENT, DraftedFor
from clinclust.schema.feature import Feature

__all__ = ["Draft", "likelihood_of_levels", "likelihood_of_numbers", "likelihood_of_texts"]

_LONGEST_SCALE = 11  # the most values of a scale: 0 to 10
_MOST_LEVELS = 50
_OPPOSITES = (
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("absent", "present"),
    ("negative", "positive"),
    ("neg", "pos"),
    ("-", "+"),
    ("never", "ever"),
    ("control", "case"),
    ("normal", "abnormal"),
    ("alive", "dead"),
    ("off", "on"),
)
_SCALES = (
    ("none", "absent", "normal", "minimal", "slight", "mild", "moderate", "marked", "severe", "very severe"),
    ("very low", "low", "medium", "high", "very high"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("poor", "fair", "good", "very good", "excellent"),
)

Draft = tuple[dict[str, Any], str]
"""The fields of a drafted feature, and the reason for them."""


def likelihood_of_numbers(texts: list[str], numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> Draft:
    """Draft the fields of a feature for a column of finite numbers.

    Parameters
    ----------
    texts : list of str
        The distinct texts of the column.
    numbers, counts : ndarray, shape (len(texts),)
        The number that each text writes, and the number of cells that hold the text.
    """
    distinct = np.unique(numbers)
    whole = bool((np.floor(numbers) == numbers).all()) and np.abs(numbers).max() <= LARGEST_COUNT
    as_levels = len(distinct) == len(texts)  # no number is written in two ways
    text_of = dict(zip(numbers.tolist(), texts, strict=True))
    if set(distinct) <= {0.0, 1.0}:
        return {"likelihood": Bernoulli.name}, "only 0 and 1"
    if whole and distinct[-1] - distinct[0] < _LONGEST_SCALE:
        return _scale(numbers, counts, text_of if as_levels else {})
    repeated = counts.sum() >= 3 * len(distinct)
    if as_levels and repeated and len(distinct) <= _LONGEST_SCALE and not whole:
        levels = [text_of[number] for number in distinct.tolist()]
        per_level = counts[np.argsort(numbers)].astype(np.float64)
        return likelihood_of_levels(levels, per_level, f"{len(levels)} different values, not all whole")
    return _measurement(np.repeat(numbers, counts), whole)


def likelihood_of_texts(texts: list[str], counts: NDArray[np.int64]) -> Draft:
    """Draft the fields of a feature for a column of texts; the role is ``ignore`` if the texts cannot be levels."""
    if len(texts) == 2:
        return _two_texts(texts)
    if len(texts) > _MOST_LEVELS or counts.sum() < 2 * len(texts):
        kind = "free text" if np.mean([len(text) for text in texts]) > 30 else "too many different values for levels"
        return {"role": "ignore"}, f"{kind} ({len(texts)} different among {counts.sum()})"
    levels = sorted(texts)
    folded = {text.casefold() for text in texts}
    remark = "; some differ in letter case only" if len(folded) < len(texts) else ""
    for scale in _SCALES:
        if folded <= set(scale) and len(folded) == len(texts):
            levels = sorted(texts, key=lambda text: scale.index(text.casefold()))
            per_level = np.array([counts[texts.index(level)] for level in levels], dtype=np.float64)
            return likelihood_of_levels(levels, per_level, f"{len(levels)} levels that have an order")
    return {"likelihood": Categorical.name, "levels": levels}, f"{len(levels)} different texts{remark}"


def _two_texts(texts: list[str]) -> Draft:
    pair = sorted(texts)
    for no, yes in _OPPOSITES:
        if {text.casefold() for text in texts} == {no, yes}:
            pair = sorted(texts, key=lambda text: text.casefold() == yes)
            break
    reason = f"two values, of which {pair[1]!r} counts as yes (swap the levels to change that)"
    return {"likelihood": Bernoulli.name, "levels": pair}, reason


def _scale(numbers: NDArray[np.float64], counts: NDArray[np.int64], text_of: dict[float, str]) -> Draft:
    """Draft a feature for whole numbers in a short range: a scale, levels, or a rare count.

    `text_of` maps each number to its text in the table. It is empty if some number is written in several ways; the
    numbers then cannot be levels.
    """
    low, high = int(numbers.min()), int(numbers.max())
    if len(text_of) == 2:
        return _two_texts([text_of[number] for number in sorted(text_of)])
    fields: dict[str, dict[str, Any]] = {}
    for name in _considered("scale"):
        traits = REGISTRY[name]
        if traits.is_nominal:
            if text_of:
                fields[name] = {"levels": [text_of.get(step, str(step)) for step in range(low, high + 1)]}
        elif traits.is_scale:
            fields[name] = {"trials": high} if low == 0 else {"minimum": low, "maximum": high}
        elif low >= 0:
            fields[name] = {}
    values = np.repeat(numbers, counts)
    evidence = {name: _evidence(name, declared, _scored(name, values, low)) for name, declared in fields.items()}
    return _best(fields, evidence, f"whole numbers {low} to {high}")


def _scored(name: str, values: NDArray[np.float64], low: int) -> NDArray[np.float64]:
    """Return the values on the scale of the likelihood: for a scale and for levels, counted from the lowest."""
    traits = REGISTRY[name]
    return values - low if traits.is_scale or traits.is_nominal else values


def likelihood_of_levels(levels: list[str], per_level: NDArray[np.float64], what: str) -> Draft:
    """Draft the fields of a feature whose levels have an order; `per_level` counts the cells of each."""
    scores = np.repeat(np.arange(len(levels), dtype=np.float64), per_level.astype(np.int64))
    # Likelihoods of levels without order come first and win ties (with two levels all are equal).
    names = sorted(_considered("levels"), key=lambda name: not REGISTRY[name].is_nominal)
    fields = {name: {"levels": levels} for name in names}
    evidence = {name: _evidence(name, declared, scores) for name, declared in fields.items()}
    return _best(fields, evidence, what)


def _measurement(values: NDArray[np.float64], whole: bool) -> Draft:
    """Draft a feature for measurements, or for counts without an upper end (`whole`)."""
    if np.abs(values).max() > LARGEST_MEASUREMENT:
        return {"role": "ignore"}, "numbers too large to be modelled; check the unit"
    low = values.min()
    fields: dict[str, dict[str, Any]] = {}
    evidence: dict[str, float] = {}
    try:
        for name in _considered("count" if whole else "measurement"):
            traits = REGISTRY[name]
            if (low >= 0 or traits.is_real) and values.max() <= traits.largest:
                fields[name], evidence[name] = {}, _evidence(name, {}, values)
            if traits.is_real and low >= 0:
                transform, called = ("log", "the log") if low > 0 else ("log1p", "log(1 + x)")
                logs = np.log(values) if low > 0 else np.log1p(values)
                key = f"{name} of {called}"
                fields[key] = {"likelihood": name, "transform": transform}
                evidence[key] = _evidence(name, {}, logs) - float(logs.sum())
    except (ValueError, OverflowError, ZeroDivisionError):  # the numbers are too large or too close together
        return {"likelihood": Gaussian.name}, "numbers of extreme size; check the unit"
    return _best(fields, evidence, "whole numbers" if whole else "numbers")


def _considered(kind: DraftedFor) -> list[str]:
    """Return the names of the likelihoods that are compared for this kind of column."""
    return [name for name, likelihood in REGISTRY.items() if kind in likelihood.drafted_for]


def _evidence(name: str, declared: dict[str, Any], values: NDArray[np.float64]) -> float:
    """Return the log marginal of all values in one cluster, under the weak prior for comparisons of likelihoods."""
    return REGISTRY[name].of(Feature(name="x", likelihood=name, **declared)).evidence(values)


def _best(fields: dict[str, dict[str, Any]], evidence: dict[str, float], what: str) -> Draft:
    """Return the draft of highest log marginal; the first one wins ties, and if no log marginal is finite."""
    finite = {name: value for name, value in evidence.items() if np.isfinite(value)}
    best = max(finite, key=lambda name: finite[name]) if finite else next(iter(fields))
    ranked = sorted(finite.items(), key=lambda item: -item[1])
    compared = ", ".join(f"{name} {value:.1f}" for name, value in ranked)
    reason = f"{what}; log marginal over all subjects together: {compared}" if len(ranked) > 1 else what
    return {"likelihood": best, **fields[best]}, reason
