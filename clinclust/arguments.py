"""Check the arguments of public functions, apart from what depends on the data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

from clinclust.data_frames import TABLE, in_pandas
from clinclust.errors import refuse

__all__ = [
    "ANY_FRAME",
    "ANY_LABELS",
    "ASSOCIATIONS",
    "AXES",
    "BY_FEATURE",
    "COMPARISONS",
    "EXPLANATION",
    "FRAME",
    "FRAME_OF_TESTS",
]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Kind:
    """A kind of argument: the end of the sentence "frame must be ...", and whether a value is of this kind.

    The function gets what `read` returns, such as a table of another library as one of pandas.
    """

    allowed: str
    accepts: Callable[[Any], bool]
    read: Callable[[Any], Any] = lambda value: value


def accepting(**kinds: Kind) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator that refuses arguments of another kind, all in one message; defaults are accepted."""

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        parameters = signature(function)
        defaults = {name: parameter.default for name, parameter in parameters.parameters.items()}

        @wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            bound = parameters.bind(*args, **kwargs)
            given = bound.arguments
            for name, value in given.items():
                if name in kinds and value is not defaults[name]:
                    given[name] = kinds[name].read(value)
            problems = [
                f"{name} must be {kinds[name].allowed}, not {_shown(value)}"
                for name, value in given.items()
                if name in kinds and value is not defaults[name] and not kinds[name].accepts(value)
            ]
            refuse(problems)
            return function(*bound.args, **bound.kwargs)

        return checked

    return decorated


def either(*kinds: Kind) -> Kind:
    """Return the kind of values that are of one of these kinds."""
    return Kind(" or ".join(kind.allowed for kind in kinds), lambda value: any(kind.accepts(value) for kind in kinds))


def _shown(value: object) -> str:
    """Return a number or short text as it is; otherwise the type, because the value may hold data of patients."""
    if _is_frame(value):
        return f"a DataFrame of {value.shape[1]} columns"  # type: ignore[attr-defined]
    shown = isinstance(value, bool | int | float | str) and len(repr(value)) <= 40
    return repr(value) if shown else type(value).__name__


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_frame(value: object) -> bool:
    import pandas as pd

    return isinstance(value, pd.DataFrame)


def _has_columns(*names: str) -> Callable[[Any], bool]:
    return lambda value: _is_frame(value) and set(names) <= set(value.columns)


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in names)


def _is_column(value: object) -> bool:
    import numpy as np

    if isinstance(value, str | bytes | Mapping | set):
        return False
    try:
        return np.ndim(value) > 0  # type: ignore[arg-type]
    except (ValueError, TypeError):  # lists of different lengths
        return False


def _all_are(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_column(value) and all(map(kind, value))


def _maps(key: Callable[[Any], bool], to: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Mapping) and all(map(key, value)) and all(map(to, value.values()))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_random_state(value: object) -> bool:
    return value is None or (_is_whole(value) and value >= 0) or _has("bit_generator", "integers")(value)  # type: ignore[operator]


def _generator(random_state: Any) -> Any:
    """Return a generator seeded by a draw of a RandomState, which moves on as in scikit-learn; others unchanged."""
    import numpy as np

    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return random_state


NOTHING = Kind("None", lambda value: value is None)
FRAME = Kind(TABLE, _is_frame, in_pandas)
_is_partitioned = _has("to_delayed", "npartitions")
ANY_FRAME = Kind(f"{TABLE}, or a Dask DataFrame", lambda value: _is_frame(value) or _is_partitioned(value), in_pandas)
COMPARISONS = Kind("a DataFrame that compare_subtypes returned", _is_frame)
WHOLE_COMPARISONS = Kind(COMPARISONS.allowed, _has_columns("feature", "subtype", "kind", "suppressed"))
WITHHELD = Kind("a DataFrame that suppress_small_cells returned", _has_columns("feature", "suppressed"))
FRAME_OF_TESTS = Kind("a DataFrame that validated_associations returned", _is_frame)
ASSOCIATIONS = Kind(FRAME_OF_TESTS.allowed, _has_columns("feature", "p"))
EXPLANATION = Kind("a DataFrame that MAPDP.explain returned", _has_columns("subject", "label", "value", "log_odds"))
SCHEMA = Kind("a FeatureSchema", _has("clustered", "validate", "names"))
MODEL = Kind(
    "a fitted MAPDP or a Partition", lambda value: _has("labels_", "schema_")(value) or _has("fit", "get_params")(value)
)
RESOLUTION_PATH = Kind("a ResolutionPath", _has("steps", "labels_at"))
POSTERIOR = Kind("a GibbsDP", _has("membership_in", "credible_ball"))
METHOD_COMPARISON = Kind("a MethodComparison", _has("table", "models"))
STABILITY = Kind("a Stability", _has("subtypes", "same_number", "sensitivity"))
AXES = Kind("matplotlib Axes", _has("barh", "twinx", "figure"))
LABELS = Kind("one label for each subject", _is_column)
ANY_LABELS = Kind(LABELS.allowed, lambda value: _is_column(value) or _is_partitioned(value))
NAMES = Kind("a dictionary from the number of a subtype to its name", _maps(_is_whole, _is_text))
SIZES = Kind(
    "a dictionary from the number of a subtype to its size or None",
    _maps(_is_whole, lambda value: value is None or _is_whole(value)),
)
BY_FEATURE = Kind("a dictionary by feature", lambda value: isinstance(value, Mapping))
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool))
ON_OR_OFF = Kind("True or False", lambda value: isinstance(value, bool))
TEXT = Kind("a text", _is_text)
TEXTS = Kind("a list of texts", _all_are(_is_text))
WHOLES = Kind("a list of whole numbers", _all_are(_is_whole))
PATH = Kind("a path", lambda value: isinstance(value, str | os.PathLike))
RANDOM_STATE = Kind("a whole number from 0, a numpy Generator or RandomState, or None", _is_random_state, _generator)
MOMENT = Kind("a datetime", lambda value: isinstance(value, datetime))
