"""Write and read the fields of a result by their types: text as JSON, numbers as arrays.

A dataclass is written field by field and read back by the declared types of its fields. A field that is added to a
result is therefore saved with it, if it holds plain values, arrays, tables, features, or dataclasses of these. Only
declared types decide which classes are constructed; the content of a file never does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.schema import Feature, FeatureSchema

__all__ = ["Arrays", "read_fields", "written_fields"]

Arrays = dict[str, NDArray[Any]]
Result = TypeVar("Result")

_NAMES = {"Feature": Feature, "FeatureSchema": FeatureSchema}
"""Types that some modules import for type checkers only, so that their annotations need these names to resolve."""
_PLAIN = (bool, int, float, str)
_KEPT_BY_JSON = (np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float64))


def written_fields(result: object, arrays: Arrays, within: str = "") -> dict[str, Any]:
    """Return the fields of a dataclass or named tuple by name, as values that JSON can represent.

    Parameters
    ----------
    result : dataclass or named tuple
    arrays : dict
        Modified in place: arrays are added by the name of their field. The returned dictionary holds this name.
    within : str
        Prefix of the names of the arrays.

    Raises
    ------
    TypeError
        If a field holds a value of a type that cannot be written.
    """
    return {name: _written(getattr(result, name), arrays, f"{within}{name}") for name in _field_names(type(result))}


def _written(value: Any, arrays: Arrays, name: str) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[name] = value
        return name
    if isinstance(value, FeatureSchema):
        return value.to_yaml()
    if isinstance(value, Feature):
        return value.name
    if isinstance(value, pd.DataFrame):
        return {str(column): _written_column(value[column], arrays, f"{name}.{column}") for column in value}
    if isinstance(value, pd.Series):
        index = value.index.tolist()
        return {"name": value.name, "index": index, "values": _written_column(value, arrays, name)}
    if _has_fields(type(value)):
        return written_fields(value, arrays, f"{name}.")
    if isinstance(value, tuple):
        return [_written(item, arrays, f"{name}.{place}") for place, item in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (*_PLAIN, dict, list)):
        return value
    raise TypeError(f"a model cannot be saved with {type(value).__name__} as {name}")


def _written_column(column: pd.Series[Any], arrays: Arrays, name: str) -> str | list[Any]:
    """Return the values of a column; for numbers that JSON would change, add an array and return its name.

    Tables hold run times, which differ from run to run. Because these are written to JSON, equal fits have equal
    arrays.
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        if column.dtype in _KEPT_BY_JSON and column.size and np.isfinite(column).all():
            return column.tolist()
        arrays[name] = column.to_numpy()
        return name
    return [str(text) for text in column]


def read_fields(kind: type[Result], text: Any, arrays: Arrays) -> Result:
    """Return the dataclass or named tuple of class `kind` that `written_fields` wrote as `text` and `arrays`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a field is missing, or its value does not have the declared type.
    """
    return _Reader(arrays).with_fields(kind, text, "")


class _Reader:
    """Reads fields in the order in which the class declares them.

    A feature is saved as its name, so the schema must be read before the features.
    """

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays
        self._schema: FeatureSchema | None = None

    def with_fields(self, kind: type[Result], text: Any, within: str) -> Result:
        hints = get_type_hints(kind, localns=_NAMES)
        given, names = _checked(text, dict, within or "fit"), list(_field_names(kind))
        if set(given) != set(names):
            raise InputError(f"{within.rstrip('.') or 'fit'} does not hold {', '.join(names)} and nothing else")
        return kind(**{name: self._read(hints[name], given[name], f"{within}{name}") for name in names})

    def _read(self, hint: Any, text: Any, name: str) -> Any:
        """Return the value that was written as `text`, given the declared type of its field."""
        origin = get_origin(hint) or hint
        if origin in (Union, UnionType):
            (hint,) = (argument for argument in get_args(hint) if argument is not type(None))
            return None if text is None else self._read(hint, text, name)
        if origin is np.ndarray:
            return self._array(text, name)
        if origin is FeatureSchema:
            self._schema = _schema_of(_checked(text, str, name))
            return self._schema
        if origin is Feature and self._schema is not None:
            return self._schema[_checked(text, str, name)]
        if origin is pd.DataFrame:
            columns = _checked(text, dict, name)
            return pd.DataFrame({column: self._column(columns[column], f"{name}.{column}") for column in columns})
        if origin is pd.Series:
            given = _checked(text, dict, name)
            index = [_checked(label, str, name) for label in _checked(given["index"], list, name)]
            return pd.Series(self._column(given["values"], name), index=index, name=_checked(given["name"], str, name))
        if origin is tuple:
            items = enumerate(_checked(text, list, name))
            return tuple(self._read(get_args(hint)[0], item, f"{name}.{place}") for place, item in items)
        if _has_fields(origin):
            return self.with_fields(origin, text, f"{name}.")
        return _plain(hint, text, name)

    def _array(self, text: Any, name: str) -> NDArray[Any]:
        """Return the array of a field. It has the name of the field, so that no two fields share one."""
        if _checked(text, str, name) != name or name not in self._arrays:
            raise InputError(f"{name} has no array")
        return self._arrays[name]

    def _column(self, column: Any, name: str) -> NDArray[Any] | list[Any]:
        if isinstance(column, str):
            return self._array(column, name)
        kinds = {type(value) for value in _checked(column, list, name)}
        if len(kinds) > 1 or not kinds <= set(_PLAIN):
            raise InputError(f"{name} does not hold numbers, or texts, or truth values")
        return list(column)


def _schema_of(text: str) -> FeatureSchema:
    """Return the schema of a text; a text of one line, which could be taken for a path, gets a second line."""
    return FeatureSchema.from_yaml(f"{text}\n")


def _plain(hint: Any, text: Any, name: str) -> Any:
    """Return a value of plain types: a number, a text, a truth value, or a list or dictionary of such values."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin is Any:
        return text
    if origin is float:
        return float(_checked(text, (int, float), name))
    value = _checked(text, origin, name)
    if origin is list and arguments:
        return [_plain(arguments[0], item, name) for item in value]
    if origin is dict and arguments:
        return {key: _plain(arguments[1], item, f"{name}.{key}") for key, item in value.items()}
    return value


def _checked(text: Any, kind: Any, name: str) -> Any:
    # True is an int for Python, and no number in a file.
    if not isinstance(text, kind) or (isinstance(text, bool) and kind is not bool):
        raise InputError(f"{name.rstrip('.')[:80]} is {type(text).__name__}")
    return text


def _has_fields(kind: Any) -> bool:
    return is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _field_names(kind: Any) -> Iterator[str]:
    yield from (field.name for field in fields(kind)) if is_dataclass(kind) else kind._fields
