"""Bring the catalogues of the languages of reports in step with `clinclust/data/report.toml`.

    python benchmarks/catalogues.py          # writes the template, sentences that changed into each .po, and each .mo
    python benchmarks/catalogues.py --check  # only says which differ

A new sentence is empty in each .po until it is translated, and one whose English changed is marked as fuzzy.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from clinclust.data import data

LOCALE = Path(__file__).parents[1] / "clinclust" / "data" / "locale"
# Entries of report.toml that are no words: formats, names of sections in code, keys of references, and code.
NO_WORDS = re.compile(
    r"tables\.\w+\.columns\.\w+\.kind|workbook\.\w+\.sections\.\d+|figures\.\w+\.section|tests\..*\.1|overview\.python\..*"
)


def messages(held: object, *path: str) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yield each sentence of the catalogue with its place in it; nouns with a number have a singular and a plural."""
    if isinstance(held, dict):
        for key, part in held.items():
            yield from messages(part, *path, key)
    elif isinstance(held, list) and path[0] == "counted":
        yield ".".join(path), tuple(held)
    elif isinstance(held, list):
        for place, part in enumerate(held):
            yield from messages(part, *path, str(place))
    elif isinstance(held, str) and not NO_WORDS.fullmatch(".".join(path)):
        has_words = re.search(r"[^\W\d_]", re.sub(r"\{[^}]*\}", "", held))
        if has_words or held.count("{") > 1 or path[0] == "numbers":
            yield ".".join(path), held


def template() -> Catalog:
    """Return the template: the English sentences without translations."""
    catalog = Catalog(project="clinclust", charset="utf-8", fuzzy=False)
    for place, text in messages(data("report")):
        catalog.add(text, context=place)
    return catalog


def written(catalog: Catalog) -> bytes:
    """Return a catalogue as the text of a .pot or .po file."""
    file = io.BytesIO()
    write_po(file, catalog, width=120, omit_header=catalog.locale is None)
    # Of the header, the lines on dates, people and the version of Babel are left out.
    unsteady = rb"Project-Id-Version|Report-Msgid|POT-Creation|PO-Revision|Last-Translator|Language-Team|Generated-By"
    return re.sub(rb'(?m)^"(?:' + unsteady + rb")[A-Za-z-]*: .*\n", b"", file.getvalue())


def compiled(catalog: Catalog) -> bytes:
    """Return a catalogue as gettext reads it."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def files() -> Iterator[tuple[Path, bytes]]:
    """Yield each file with what it should hold."""
    english = template()
    yield LOCALE / "clinclust.pot", written(english)
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/clinclust.po")):
        with path.open("rb") as file:
            catalog = read_po(file, locale=path.parts[-3])
        catalog.update(english, update_header_comment=False)
        catalog.obsolete.clear()
        yield path, written(catalog)
        yield path.with_suffix(".mo"), compiled(catalog)


def is_stale(path: Path, content: bytes) -> bool:
    """Return whether a file lacks or differs from its content, of a .mo in anything but the header."""
    if not path.exists() or path.suffix != ".mo":
        return not path.exists() or path.read_bytes() != content
    ours, theirs = (GNUTranslations(io.BytesIO(each))._catalog for each in (path.read_bytes(), content))
    return {**ours, "": ""} != {**theirs, "": ""}


def main() -> int:
    """Write the files that differ, or with --check say which do."""
    stale = [(path, content) for path, content in files() if is_stale(path, content)]
    for path, content in stale:
        print(f"{path.relative_to(LOCALE)} {'differs' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            path.write_bytes(content)
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
