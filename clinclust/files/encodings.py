"""Decode the bytes of a text file."""

from __future__ import annotations

import codecs

from clinclust.errors import InputError
from clinclust.files.listed import quoted

__all__ = ["decoded"]

_MARK = "\ufeff"
_MARKED = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of utf-16-le, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 200


def decoded(content: bytes, encoding: str | None) -> tuple[str, list[str]]:
    """Return the text of a file, without byte order marks, and remarks on how it was decoded.

    Parameters
    ----------
    content : bytes
    encoding : str or None
        The encoding that the user gave. Without one, a byte order mark decides; then UTF-16 is recognised by the zeros
        of its Latin letters; then comes UTF-8, and for what is no UTF-8 Windows-1252, or else Latin-1.

    Raises
    ------
    InputError
        If the bytes are not text in this encoding, or hold NUL characters.
    """
    marked = next((name for mark, name in _MARKED if content.startswith(mark)), None)
    chosen = encoding or marked or _by_zeros(content)
    remarks = []
    if encoding is None and marked is None and chosen is not None:
        remarks.append(f"the file has no byte order mark: read as {chosen}. If letters look wrong, give --encoding")
    if chosen is not None:
        text = _in_encoding(content, chosen)
    else:
        text, taken = _guessed(content)
        if taken != "utf-8":
            remarks.append(f"the file is not UTF-8 text: read as {taken}. If letters look wrong, give --encoding")
    text = text.lstrip(_MARK)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(
            f"line {line} holds a NUL character, which no text does: the file is damaged, or in another encoding than "
            f"{chosen or 'UTF-8'}; give its encoding (--encoding)"
        )
    return text, remarks


def _by_zeros(content: bytes) -> str | None:
    """Return the kind of UTF-16 whose Latin letters have zeros where these bytes have them, or None."""
    start = content[: min(_LOOKED_AT, len(content) - len(content) % 2)]
    even, odd = start[0::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if half < 2 or max(even, odd) <= half / 2 or min(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _in_encoding(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"line {line} is not {quoted(encoding)[1:-1]} text; give its encoding (--encoding)") from None
    except (LookupError, ValueError):  # ValueError: a name with a NUL, or an encoding of host names
        raise InputError(f"there is no encoding {quoted(encoding)} of text; utf-8 and cp1252 are usual") from None


def _guessed(content: bytes) -> tuple[str, str]:
    for encoding in ("utf-8", "cp1252"):
        try:
            return content.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1"), "latin-1"
