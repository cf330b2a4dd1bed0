"""The text of a saved model: JSON as `json.dumps` writes it, and nothing that other readers understand differently."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import numpy as np

from clinclust.errors import InputError

__all__ = ["LARGEST", "read_text", "written_text"]

LARGEST = 256 * 2**20
"""The most bytes of a text that is read: 256 MiB."""


def written_text(value: object) -> str:
    """Return a value as JSON; NumPy numbers and arrays become plain numbers and lists.

    Raises
    ------
    TypeError
        If it holds a value of a type that JSON cannot represent.
    """
    return json.dumps(value, indent=1, allow_nan=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a model cannot be saved with {type(value).__name__} among its parameters")


def read_text(content: bytes) -> Any:
    """Return the value of a text.

    Raises
    ------
    ValueError
        If the text is not UTF-8 or not JSON, is nested too deeply, gives a name twice, or holds a number that is not
        finite.
    """
    try:
        return json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_named_once,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise InputError("model.json is nested too deeply") from None
    except UnicodeDecodeError:
        raise InputError("model.json is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError(f"model.json is not JSON: line {error.lineno}: {error.msg}") from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) != len(pairs):
        raise InputError("model.json gives a name twice in one object")
    return named


def _refuse_constant(text: str) -> NoReturn:
    raise InputError(f"model.json holds {text}, which is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError("model.json holds a number that is too large")
    return number
