"""Check the arguments of public functions, apart from what depends on the data.

A `Rule` completes the sentence "n_jobs must be ..." and decides which values meet it. `accepting` checks tables, models
and other objects by the rules of their annotations; `clinclust.estimators.parameters` declares the parameters of a
search with rules of their own.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, ParamSpec, Self, TypeGuard, TypeVar

from clinclust.errors import InputError, missing_package, refuse

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Tables of other libraries, which no other module knows.

TABLE = "a table of pandas, polars or pyarrow with one row for each subject"
"""What every function takes for a table; the end of the sentence "frame must be ..."."""


def is_partitioned(table: object) -> bool:
    """Return whether a table is a Dask DataFrame, without importing Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(table, dask.DataFrame)


def in_pandas(table: Any) -> Any:
    """Return a table of polars or pyarrow as a pandas DataFrame, and anything else unchanged.

    Whole numbers of a column with missing values stay exact; they would become floats by default.
    """
    library = type(table).__module__.partition(".")[0]
    if library not in ("polars", "pyarrow"):
        return table
    if type(table).__name__ == "LazyFrame":
        raise InputError("a LazyFrame of polars holds no rows yet: pass what its collect() returns")
    if not (hasattr(table, "to_pandas") and hasattr(table, "columns")):  # a Series or an array
        return table
    try:
        return table.to_pandas(integer_object_nulls=True)
    except ModuleNotFoundError as error:
        raise missing_package(f"a table of {library}", "pyarrow") from error


def is_numbered(table: Any) -> bool:
    """Return whether the columns of a pandas table are 0, 1, ..., as pandas calls those of an array."""
    return len(table.columns) > 0 and list(table.columns) == list(range(len(table.columns)))


# Rules, and the decorator that checks arguments by them.


@dataclass(frozen=True)
class Rule:
    """The values that an argument accepts."""

    allowed: str  # completes the sentence "n_jobs must be ..."
    accepts: Callable[[Any], bool]
    in_python: str = ""  # further values, which options of the command line cannot have
    read: Callable[[Any], Any] = in_pandas  # what a function gets for a value: of another library a table of pandas

    def problems(self, name: str, value: object, *, is_option: bool = False) -> list[str]:
        """Return one sentence for each problem of a value, or of an option; empty if it can be used."""
        if self.accepts(value):
            return []
        return [f"{name} must be {self.allowed}{'' if is_option else self.in_python}, not {_without_data(value)}"]

    def or_none(self) -> Self:
        """Return this rule with None accepted as well."""
        return replace(self, accepts=lambda it: it is None or self.accepts(it), in_python=f"{self.in_python} or None")


def accepting(**rules: Rule | None) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Return a decorator that refuses arguments that break a rule, all in one message; defaults are accepted.

    A parameter without a rule has that of its annotation, such as ``int`` or ``Sequence[str] | None``, if there is one.
    None: the function checks the argument itself.
    """

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        parameters = signature(function)
        defaults = {name: parameter.default for name, parameter in parameters.parameters.items()}
        of_annotations = {name: _rule_of(parameter.annotation) for name, parameter in parameters.parameters.items()}
        checks = {name: rule for name, rule in (of_annotations | rules).items() if rule is not None}

        @wraps(function)
        def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            bound = parameters.bind(*args, **kwargs)
            problems = list[str]()
            for name, value in bound.arguments.items():
                if name in checks and value is not defaults[name]:
                    bound.arguments[name] = checks[name].read(value)
                    problems += checks[name].problems(name, bound.arguments[name])
            refuse(problems)
            return function(*bound.args, **bound.kwargs)

        return checked

    return decorated


def _rule_of(annotation: object) -> Rule | None:
    rule = _BY_ANNOTATION.get(str(annotation).removesuffix(" | None"))
    return rule.or_none() if rule is not None and str(annotation).endswith(" | None") else rule


def one_of(*words: str) -> Rule:
    """Return the rule of an argument that is one of these words."""
    return Rule(" or ".join(map(repr, words)), lambda value: value in words)


def either(*rules: Rule) -> Rule:
    """Return the rule of values that one of these rules accepts."""
    return Rule(" or ".join(rule.allowed for rule in rules), lambda value: any(rule.accepts(value) for rule in rules))


def _without_data(value: object) -> str:
    """Return a number or short text unchanged; otherwise the type, because the value may hold data of patients."""
    if _is_frame(value):
        return f"a DataFrame of {value.shape[1]} columns"  # type: ignore[attr-defined]
    is_shown = value is None or (isinstance(value, bool | int | float | str) and len(repr(value)) <= 40)
    return repr(value) if is_shown else type(value).__name__


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or NumPy, and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object, lowest: float = -math.inf) -> bool:
    """Return whether a value is a whole number of Python or NumPy, of at least `lowest`, and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= lowest


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


def _all_are(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_column(value) and all(map(accepts, value))


def _maps(key: Callable[[Any], bool], to: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, Mapping) and all(map(key, value)) and all(map(to, value.values()))


def _is_random_state(value: object) -> bool:
    is_generator = _has("bit_generator", "integers")(value) or _has("get_state", "randint")(value)
    return value is None or is_whole(value, 0) or is_generator


def _generator(random_state: Any) -> Any:
    """Return a generator seeded by a draw of a RandomState, which moves on as in scikit-learn; others unchanged."""
    import numpy as np

    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return random_state


NOTHING = Rule("None", lambda value: value is None)
FRAME = Rule(TABLE, _is_frame)
ANY_FRAME = Rule(f"{TABLE}, or a Dask DataFrame", lambda value: _is_frame(value) or is_partitioned(value))
COMPARISONS = Rule("a DataFrame that compare_subtypes returned", _is_frame)
WHOLE_COMPARISONS = Rule(COMPARISONS.allowed, _has_columns("feature", "subtype", "kind", "suppressed", "at_ends"))
WITHHELD = Rule("a DataFrame that suppress_small_cells returned", _has_columns("feature", "suppressed"))
FRAME_OF_TESTS = Rule("a DataFrame that validated_associations returned", _is_frame)
ASSOCIATIONS = Rule(FRAME_OF_TESTS.allowed, _has_columns("feature", "p"))
SCHEMA = Rule("a FeatureSchema", _has("clustered", "validate", "names"))
MODEL = Rule(
    "a fitted MAPDP or a Partition", lambda value: _has("labels_", "schema_")(value) or _has("fit", "get_params")(value)
)
POSTERIOR = Rule("a GibbsDP", _has("membership_in"))
METHOD_COMPARISON = Rule("a MethodComparison", _has("table", "models"))
STABILITY = Rule("a Stability", _has("subtypes", "same_number", "sensitivity"))
LABELS = Rule("one label for each subject", _is_column)
ANY_LABELS = Rule(LABELS.allowed, lambda value: _is_column(value) or _has("to_delayed", "npartitions")(value))
BY_FEATURE = Rule("a dictionary by feature", lambda value: isinstance(value, Mapping))
WHOLE = Rule("a whole number", is_whole)
SIZES = Rule("a dictionary from the number of a subtype to its size or None", _maps(is_whole, WHOLE.or_none().accepts))
NUMBER = Rule("a number", is_number)
ON_OR_OFF = Rule("True or False", lambda value: type(value).__name__ in ("bool", "bool_"))  # of Python or NumPy
TEXT = Rule("a text", lambda value: isinstance(value, str))
TEXTS = Rule("a list of texts", _all_are(TEXT.accepts))
PATH = Rule("a path", lambda value: isinstance(value, str | os.PathLike))
RANDOM_STATE = Rule(
    "a whole number from 0", _is_random_state, ", a numpy Generator or RandomState, or None", read=_generator
)

_BY_ANNOTATION = {
    "pd.DataFrame": FRAME,
    "SubtypeModel": MODEL,
    "FeatureSchema": SCHEMA,
    "RandomState": RANDOM_STATE,
    "Mapping[Any, str]": Rule(
        "a dictionary from the number or code of a subtype, such as 1 or '1b', to its name",
        _maps(either(WHOLE, TEXT).accepts, TEXT.accepts),
    ),
    "Axes": Rule("matplotlib Axes", _has("barh", "twinx", "figure")),
    "Sequence[str]": TEXTS,
    "Sequence[int]": Rule("a list of whole numbers", _all_are(is_whole)),
    "tuple[int, int]": Rule("a list of whole numbers", _all_are(is_whole)),
    "str | os.PathLike[str]": PATH,
    "datetime": Rule("a datetime", lambda value: isinstance(value, datetime)),
    "bool": ON_OR_OFF,
    "int": WHOLE,
    "float": NUMBER,
    "str": TEXT,
}
"""The rules of annotations, which are texts because every module imports `annotations`."""
