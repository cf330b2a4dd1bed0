"""What every array of a fit must be: its dtype, its shape in named axes, and the range of its values.

The compiled kernels do not check bounds, so that a saved model is checked by these rules before they see it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shape", "shape_problems", "value_problems"]

Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Rule:
    """The array of one field.

    Attributes
    ----------
    axes : tuple of str
        A name stands for the same number in all rules: N subjects, D parts of the features, F encoded features,
        K clusters, S statistics, H hyperparameters. A digit stands for itself.
    dtype : str
        As NumPy names it.
    lowest, highest : float or str
        Range of the values; the name of an axis as `highest` means below its number.
    """

    axes: tuple[str, ...]
    dtype: str = "float64"
    lowest: float = -np.inf
    highest: float | str = np.inf


_ABOVE_0 = float(np.nextafter(0.0, 1.0))
_RULES = {
    "cluster_labels_": _Rule(("N",), "int64", 0, "K"),
    "cluster_membership_": _Rule(("N", "K"), "float64", 0, 1),
    "log_joint_trace_": _Rule(("sweeps",)),
    "outliers_": _Rule(("N", "D"), "bool"),
    "clusters_.encoding.centres": _Rule(("F",)),
    "clusters_.encoding.scales": _Rule(("F",), lowest=_ABOVE_0),
    "clusters_.model.prior": _Rule(("H",)),
    "clusters_.model.powers": _Rule(("F",), lowest=_ABOVE_0, highest=1),
    "clusters_.sizes": _Rule(("K",), lowest=1),
    "clusters_.statistics": _Rule(("K", "S")),
    "clusters_.included": _Rule(("F",), "bool"),
    "subtype_of_": _Rule(("K",), "int64", 0, "K"),
    "tree_.labels": _Rule(("N",), "int64", 0, "K"),
    "tree_.joins": _Rule(("K - 1", "2"), "int64", 0),
    "tree_.evidence": _Rule(("K - 1",)),
    "cohort_fingerprint_.hidden_order": _Rule(("N",), "uint32"),
    "resolution_path_.labels": _Rule(("steps", "N"), "int64", 0, "N"),
    "init": _Rule(("given",), "int64", 0, "given"),
}
_OPTIONAL = ("resolution_path_.labels", "init")
_COLUMN = re.compile(r"(?:restarts_|tuning_|tree_test_\.joins|resolution_path_\.steps)\.[a-z_]+")
"""Columns of tables, which are arrays where JSON would change their numbers; the tables have rules of their own."""


def shape_problems(described: Mapping[str, tuple[np.dtype[Any], Shape]], axes: Mapping[str, int]) -> list[str]:
    """Return what is wrong with the dtypes and shapes of the arrays of a fit; empty if nothing is.

    Parameters
    ----------
    described : mapping
        The dtype and shape of each array by name.
    axes : mapping
        Numbers of axes that are known from elsewhere. The others are those of the first array that has them.
    """
    problems = [f"the array {name} is missing" for name in _RULES if name not in described and name not in _OPTIONAL]
    known = {digit: int(digit) for digit in "2"} | dict(axes)
    for name, rule in _RULES.items():
        if name in described:
            dtype, shape = described[name]
            if dtype.name != rule.dtype:
                problems.append(f"{name} holds {dtype.name}, not {rule.dtype}")
            problems += _wrong_axes(name, rule, shape, known)
    for name, (_, shape) in described.items():
        if name not in _RULES and not _COLUMN.fullmatch(name):
            problems.append(f"there is an array {name[:80]!r}, which no model has")
        elif name not in _RULES and len(shape) != 1:
            problems.append(f"{name} has shape {shape}, and a column has one axis")
    return problems


def _wrong_axes(name: str, rule: _Rule, shape: Shape, known: dict[str, int]) -> Iterator[str]:
    """Yield the problem of a shape; enter axes that are not known yet in `known`."""
    if len(shape) != len(rule.axes):
        yield f"{name} has shape {shape}, not ({', '.join(rule.axes)})"
        return
    for axis, size in zip(rule.axes, shape, strict=True):
        base, less = (axis.removesuffix(" - 1"), 1) if axis.endswith(" - 1") else (axis, 0)
        if size + less != known.setdefault(base, size + less):
            expected = ", ".join(f"{axis} = {known.get(axis, '?')}" for axis in rule.axes if not axis.isdigit())
            yield f"{name} has shape {shape}, not ({', '.join(rule.axes)}) with {expected}"
            return


def value_problems(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return which arrays of a fit, whose shapes are right, hold values that are not finite or not in their range."""
    sizes = {axis: size for name in arrays if name in _RULES for axis, size in _sizes(name, arrays[name])}
    problems = []
    for name, rule in _RULES.items():
        values = arrays.get(name)
        if values is None or values.size == 0 or values.dtype == np.bool_:
            continue
        highest = sizes[rule.highest] - 1 if isinstance(rule.highest, str) else rule.highest
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            problems.append(f"{name} holds values that are not finite")
        elif values.min() < rule.lowest or values.max() > highest:
            problems.append(
                f"{name} holds values from {values.min()} to {values.max()}, not {rule.lowest} to {highest}"
            )
    return problems


def _sizes(name: str, array: NDArray[Any]) -> Iterator[tuple[str, int]]:
    return zip(_RULES[name].axes, array.shape, strict=True)
