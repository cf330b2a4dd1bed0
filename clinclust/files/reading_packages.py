"""Packages that read the formats of other programs: what is said if one is not installed, or a file is damaged."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from clinclust.errors import InputError, missing_package
from clinclust.files.listed import quoted

__all__ = ["guarded", "package"]


def package(name: str, what: str) -> Any:
    """Return an imported package, or raise MissingPackageError with how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise missing_package(f"reading {what}", name.replace("_", "-")) from None


@contextmanager
def guarded(what: str, repair: str) -> Iterator[None]:
    """Turn the errors that damaged files end in, which have many types, into InputError."""
    try:
        yield
    except (InputError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of a compiled reader is no Exception
        said = quoted(next(iter(str(error).splitlines()), ""))
        raise InputError(f"this {what} cannot be read ({type(error).__name__}: {said}): {repair}") from None
