"""Text of a csv field that no spreadsheet program opens as a formula, whatever separates its fields.

The rule: an apostrophe is put before each character that could begin a formula. It could where the text begins, and
after a comma, semicolon, bar, tab or line break inside, where a program may divide the field that takes another
separator or ignores the quotes. White space, quotes and characters that are not seen may stand between. `=`, `@`, `+`
and `-` begin formulas, and so do their wide and small forms; a signed number stays as it is. `original_text` takes the
apostrophes away again.
"""

from __future__ import annotations

import re

__all__ = ["inert_text", "original_text"]

_UNSEEN = "\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_PLACE = rf"(?:^|[,;|\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])[\s\"'{_UNSEEN}]*+"
_SIGNED_NUMBER = r"[+-](?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?=$|[,;|\t\n\r])"
_START = rf"(?!{_SIGNED_NUMBER})[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋]"
_LIVE = re.compile(rf"({_PLACE})(?={_START})")
_INERT = re.compile(rf"({_PLACE})(?<=')(?={_START})")


def inert_text(text: str) -> str:
    """Return the text with an apostrophe before each character that could begin a formula.

    Examples
    --------
    >>> from clinclust.files.inert_text import inert_text
    >>> inert_text("=1+1"), inert_text("a;=1+1"), inert_text("p-01"), inert_text("-3.5")
    ("'=1+1", "a;'=1+1", 'p-01', '-3.5')
    """
    return _LIVE.sub(r"\1'", text)


def original_text(text: str) -> str:
    """Return the text that `inert_text` was given.

    Examples
    --------
    >>> from clinclust.files.inert_text import original_text
    >>> original_text("'=1+1"), original_text("''=1+1"), original_text("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return _INERT.sub(lambda match: match[1][:-1], text)
