"""Nothing that hides, reorders or commands is left in a text that is shown."""

import sys
import unicodedata

from clinclust import CohortError, SchemaError
from clinclust.errors import CohortWarning, InputError, on_one_line, visible, visible_to_people

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))
# Signs of Arabic, Syriac, Kaithi and Egyptian that Unicode calls formats, but that have a picture.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def hiding(text):
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(c) not in DRAWN}


def test_people_see_every_character_but_the_line_feed():
    assert hiding(visible_to_people(EVERY)) == {"\n"}
    assert len(visible_to_people(EVERY)) == len(EVERY)


def test_documents_keep_what_scripts_need():
    assert hiding(visible(EVERY)) == set("\t\n\xad\u061c\u200c\u200d\u200e\u200f")


def test_one_line_has_no_line_feed():
    assert on_one_line("a\nb\tc\r\x1b") == "a␊b␉c␍␛"


def test_messages_to_python_users_are_visible():
    import pandas as pd

    name = "x\x1b]0;owned\x07\u202e\nclinclust: note: forged"
    row = {"column": name, "expected": "a", "rows": 1, "first_rows": [name], "examples": [name], "repair": "b"}
    for error in (InputError(name), SchemaError([name]), CohortError(pd.DataFrame([row])), CohortWarning(name)):
        assert hiding(str(error)) <= {"\n"}
    assert not any(line.startswith("clinclust") for line in str(SchemaError([name])).splitlines())
    assert len(str(CohortError(pd.DataFrame([row]))).splitlines()) == 2
