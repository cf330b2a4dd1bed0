"""The table as Markdown: a pipe table, which GitHub and pandoc can read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinclust.reporting.subtype_table.table import Cell, SubtypeTable

__all__ = ["as_markdown"]

# Characters that begin markup, code, mathematics or a template in some flavour of Markdown. They are written as
# entities, which are text in all flavours; a backslash escape would begin mathematics in some. A full stop or a colon
# is escaped only where a bare address would become a link.
_MARKUP = re.compile(r"""[\\`*_{}\[\]<>#|~$^!&]|(?<=www)\.|:(?=//)|(?<=mailto):|(?<=xmpp):""", re.IGNORECASE)
# An entity does not prevent a link, because it is decoded before addresses are found. A comment divides the address.
_ADDRESS = re.compile(r"(?<=[\w.+-])@(?=[\w-])")
_SUPERSCRIPTS = str.maketrans("abcdefghijklm", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐ")
_INDENT = "&emsp;"


def as_markdown(table: SubtypeTable) -> str:
    """Return the table with its title and notes as Markdown."""
    return "\n".join(_lines(table)) + "\n"


def _lines(table: SubtypeTable) -> Iterator[str]:
    yield f"**{_text(table.title)}**\n"
    yield _row(["Feature", *("<br>".join(map(_text, heading.lines)) for heading in table.headings)])
    yield _row([":---", *["---:"] * len(table.headings)])
    section = ""
    for row in table.rows:
        if row.section != section:
            section = row.section
            yield _row([f"**{_text(section or 'No section')}**", *[""] * len(table.headings)])
        yield _row([(_INDENT if row.is_level else "") + _label(row.label), *map(_number, row.cells)])
    for note in table.notes:
        yield f"\n{_marks(note.mark)}{' ' if note.mark else ''}{_text(note.text)}"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _label(cell: Cell) -> str:
    return _text(cell.text) + _marks(cell.marks)


def _number(cell: Cell) -> str:
    """Return a cell of numbers. Its text is not from the data, so only < and > are escaped and it stays readable."""
    return cell.text.replace("<", "&lt;").replace(">", "&gt;") + _marks(cell.marks)


def _marks(marks: str) -> str:
    return marks.translate(_SUPERSCRIPTS)


def _text(text: str) -> str:
    """Return a text from the data escaped for Markdown. Every such text passes this function."""
    escaped = _MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)
    return _ADDRESS.sub("<!-- -->&#64;<!-- -->", escaped)
