"""Files: reading a cohort table, converting cells to and from text, and atomic writing."""

from collections.abc import Callable, Iterable
from string import Formatter
from typing import Any

from clinclust.data import data


class _Sentence(Formatter):
    """A field quotes a text (``!q``) or a cell (``!c``), and lists several of them or others (``!l``, ``!n``: rows)."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        from clinclust.files.cell_text import listed, quote_cell, quoted, rows_named  # which import pandas

        if conversion == "n":
            return rows_named([*value])
        conversions: dict[Any, Callable[[Any], str]] = {"q": quoted, "c": quote_cell, "l": str}
        if (show := conversions.get(conversion)) is None:
            return super().convert_field(value, conversion)
        return listed(map(show, value)) if isinstance(value, Iterable) and not isinstance(value, str) else show(value)


def say(what: str, /, **fields: object) -> str:
    """Return a sentence of `clinclust/data/file_messages.toml` by its name, with its fields filled in."""
    return _Sentence().vformat(data("file_messages")[what], (), fields)
