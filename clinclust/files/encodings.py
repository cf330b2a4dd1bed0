"""Decode the bytes of a text file."""

from __future__ import annotations

import codecs

from clinclust.errors import InputError
from clinclust.files.listed import quoted

__all__ = ["decoded"]

_MARKED = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of utf-16-le, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decoded(content: bytes, encoding: str | None) -> tuple[str, list[str]]:
    """Return the text of a file, without byte order marks, and remarks on how it was decoded.

    Without an `encoding` that the user gave, a byte order mark decides; else it is UTF-8 or, if not, Windows-1252.

    Raises
    ------
    InputError
        If the bytes are not text in this encoding, or hold NUL characters.
    """
    marked = next((name for mark, name in _MARKED if content.startswith(mark)), "utf-8")
    remarks = []
    try:
        text = content.decode(encoding or marked)
    except UnicodeDecodeError as error:
        if encoding is not None or marked != "utf-8":
            raise _not_text(content, error, encoding or marked) from None
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError as other:
            raise _not_text(content, other, "utf-8 or cp1252") from None
        remarks.append("the file is not UTF-8 text: read as cp1252. If letters look wrong, give --encoding")
    except (LookupError, ValueError):  # ValueError: a name with a NUL, or an encoding of host names
        raise InputError(f"there is no encoding {quoted(encoding)} of text; utf-8 and cp1252 are usual") from None
    text = text.lstrip("\ufeff")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(
            f"line {line} holds a NUL character, which no text does: the file is damaged, or in another encoding than "
            f"{encoding or marked}, such as utf-16; give its encoding (--encoding)"
        )
    return text, remarks


def _not_text(content: bytes, error: UnicodeDecodeError, encoding: str) -> InputError:
    line = content[: error.start].count(b"\n") + 1
    return InputError(f"line {line} is not {quoted(encoding)[1:-1]} text; give its encoding (--encoding)")
