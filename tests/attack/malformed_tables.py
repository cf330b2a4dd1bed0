"""Tables that are malformed in ways that are known: each must be refused, or read with exactly the cells in it."""

import io
import os
import struct
from functools import partial, update_wrapper

import numpy as np
import pandas as pd
from cases import read_beside
from raw_workbook import number, row_xml, shared_strings_xml, sheet_xml, text, workbook_bytes, workbook_parts, zipped

from attack.attempts import Attack, ran
from attack.reading import message_fault, outcome_of
from clinclust import read_cohort

REFUSED = "refused"
_PLACES = ("folder", "pipe", "device", "nothing")
_WORDS = ("mild", "severe", "p01", "1.5", "0", "x y", "é", "12:30", "-9")


def _table(rng):
    """Return a table of words: its header and its rows, three columns wide."""
    rows = [[_WORDS[int(k)] for k in rng.integers(0, len(_WORDS), 3)] for _ in range(int(rng.integers(3, 9)))]
    return [["a", "b", "c"], *rows]


def _joined(table, mark=",", end="\n"):
    return end.join(mark.join(row) for row in table) + end


def _line(table, rng):
    """Return the number of a row below the header."""
    return int(rng.integers(1, len(table)))


# Each maker returns the suffix, the bytes, and the table that must be read, REFUSED, or None for either.


def _other_length(rng):
    table = _table(rng)
    at = _line(table, rng)
    table[at] = table[at][: int(rng.integers(1, 3))] if rng.random() < 0.5 else [*table[at], "more"]
    return ".csv", _joined(table).encode(), REFUSED


def _lone_quote(rng):
    table = _table(rng)
    table[_line(table, rng)][0] = '"open'
    return ".csv", _joined(table).encode(), REFUSED


def _quote_and_more(rng):
    table = _table(rng)
    table[_line(table, rng)][int(rng.integers(0, 3))] = '"closed" and more'
    return ".csv", _joined(table).encode(), REFUSED


def _nul(rng):
    content = bytearray(_joined(_table(rng)).encode())
    content.insert(int(rng.integers(0, len(content))), 0)
    return ".csv", bytes(content), REFUSED


def _zeros_at_the_end(rng):
    return ".csv", _joined(_table(rng)).encode() + b"\0" * 4096, REFUSED


def _long_cell(rng):
    table = _table(rng)
    table[int(rng.integers(0, len(table)))][1] = "x" * int(rng.integers(140_000, 3_000_000))
    return (".csv", ".tsv")[int(rng.integers(0, 2))], _joined(table, "\t").encode(), REFUSED


def _no_name(rng):
    table = _table(rng)
    place = int(rng.integers(0, 2))
    table[0][place] = (" ", "")[int(rng.integers(0, 2))]
    content = _joined(table).encode()
    table[0][place] = f"#{place + 1}"
    return ".csv", content, table


def _marks(rng):
    table = _table(rng)
    header = '"a","b",c\n' if rng.random() < 0.5 else "a,b,c\n"
    return ".csv", ("\ufeff" * int(rng.integers(1, 4)) + header + _joined(table[1:])).encode(), table


def _unicode_kinds(rng):
    table = _table(rng)
    kind = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")[int(rng.integers(0, 4))]
    return ".csv", ("\ufeff" + _joined(table)).encode(kind), table


def _line_ends(rng):
    table = _table(rng)
    lines = [",".join(row) + ("\n", "\r", "\r\n", "\n\n\r\n")[int(rng.integers(0, 4))] for row in table]
    return ".csv", "".join(lines).encode(), table


def _said_delimiter(rng):
    table, mark = _table(rng), ";|\t,"[int(rng.integers(0, 4))]
    return ".csv", f"sep={mark}\r\n{_joined(table, mark)}".encode(), table


def _other_delimiter(rng):
    table, mark = _table(rng), ";\t"[int(rng.integers(0, 2))]
    return ".csv", _joined(table, mark).encode(), table


def _delimiter_at_the_end(rng):
    table, mark = _table(rng), ",;"[int(rng.integers(0, 2))]
    return ".csv", _joined([[*row, *[""] * 2] for row in table], mark).encode(), table


def _decimal_commas(rng):
    table = [[cell.replace(".", ",") for cell in row] for row in _table(rng)]
    return ".csv", _joined(table, ";").encode(), table


def _noise(rng):
    suffix = (".csv", ".tsv", ".txt", ".xlsx", ".parquet")[int(rng.integers(0, 5))]
    return suffix, rng.bytes(int(rng.integers(1, 5000))), REFUSED if suffix in (".xlsx", ".parquet") else None


def _nothing(rng):
    suffix = (".csv", ".tsv", ".xlsx", ".parquet")[int(rng.integers(0, 4))]
    return suffix, b"\n" * int(rng.integers(0, 3)), REFUSED


def _many_columns(rng):
    names = [f"column {k}" for k in range(3000)]
    return ".csv", _joined([names, ["1"] * 3000, ["2"] * int(rng.integers(1, 2999))]).encode(), REFUSED


def _sheet(table, change=None, **more):
    """Return a workbook of the table, in which a row was changed: a pair of its number and its XML."""
    rows = {k: row_xml(k, *map(text, row)) for k, row in enumerate(table, 1)}
    if change is not None:
        rows[change[0]] = change[1]
    return workbook_bytes(sheet_xml("".join(rows.values())), **more)


_CELLS, _REFERENCES = (read_beside(__file__)[name] for name in ("cells", "references"))


def _wrong_cell(rng):
    table = _table(rng)
    at, column = _line(table, rng) + 1, int(rng.integers(0, 3))
    cells = [text(cell) for cell in table[at - 1]]
    cells[column] = _CELLS[int(rng.integers(0, len(_CELLS)))]
    return ".xlsx", _sheet(table, (at, row_xml(at, *cells)), shared=shared_strings_xml("<t>x</t>")), REFUSED


def _wrong_reference(rng):
    table = _table(rng)
    at = _line(table, rng) + 1
    first, second = (place.format(at=at, after=at + 1) for place in _REFERENCES[int(rng.integers(0, len(_REFERENCES)))])
    cells = f'<row r="{at}"><c r="{first}" {number(1)}</c><c r="{second}" {number(2)}</c></row>'
    return ".xlsx", _sheet(table, (at, cells)), REFUSED


def _wrong_row(rng):
    table = _table(rng)
    at = _line(table, rng) + 1
    given = (1, at - 1, 0, -1, 999_999_999, 10**30, "x", "", "1e3", "2.5")[int(rng.integers(0, 10))]
    return ".xlsx", _sheet(table, (at, row_xml(given, *map(text, table[at - 1])))), REFUSED


def _no_such_part(rng):
    table = _table(rng)
    parts = workbook_parts(
        sheet_xml("".join(row_xml(k, *map(text, row)) for k, row in enumerate(table, 1))),
        shared=shared_strings_xml("<t>x</t>"),
    )
    unread = ("[Content_Types].xml",)
    read = [name for name in parts if name not in unread]
    del parts[read[int(rng.integers(0, len(read)))]]
    return ".xlsx", zipped(parts), REFUSED


def _entities(rng):
    laughs = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in zip("abcdefgh", "bcdefghi", strict=True)
    )
    xml = sheet_xml(row_xml(1, text("a"))).replace("<sheetData>", "<sheetData>&i;")
    return ".xlsx", workbook_bytes(f"{laughs}]>{xml}"), REFUSED


def _cut_workbook(rng):
    content = _sheet(_table(rng))
    return ".xlsx", content[: int(rng.integers(1, len(content)))], REFUSED


def _locked_workbook(rng):
    content = bytearray(_sheet(_table(rng)))
    if rng.random() < 0.5:
        return (
            ".xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le") + bytes(content),
            REFUSED,
        )
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # the flag of a password in both headers of each part
        at = content.find(mark)
        while at >= 0:
            flags = struct.unpack_from("<H", content, at + offset)[0]
            struct.pack_into("<H", content, at + offset, flags | 1)
            at = content.find(mark, at + 4)
    return ".xlsx", bytes(content), REFUSED


def _far_away(rng):
    table = _table(rng)
    cell = (("XFD2", 2), ("A1048576", 1_048_576))[int(rng.integers(0, 2))]
    xml = row_xml(1, *map(text, table[0])) + f'<row r="{cell[1]}"><c r="{cell[0]}"><v>7</v></c></row>'
    expected = [table[0], ["7", "", ""]] if cell[1] > 2 else [[*table[0], "#16384"], ["", "", "", "7"]]
    return ".xlsx", workbook_bytes(sheet_xml(xml)), expected


def _damaged_parquet(rng):
    buffer, table = io.BytesIO(), _table(rng)
    pd.DataFrame(table[1:], columns=table[0]).to_parquet(buffer)
    content = bytearray(buffer.getvalue())
    match int(rng.integers(0, 3)):
        case 0:
            return ".parquet", bytes(content[: int(rng.integers(1, len(content)))]), REFUSED
        case 1:  # the length of the footer
            content[-8:-4] = rng.bytes(4)
        case _:
            at = len(content) - int(rng.integers(9, min(len(content), 2500)))
            content[at : at + 6] = rng.bytes(6)
    return ".parquet", bytes(content), None


def _other_suffix(rng):
    table = _table(rng)
    suffix = (".xls", ".xlsm", ".xlsb", ".ods", ".sav", ".dta", "", ".csv.gz", "." + "x" * 200)[int(rng.integers(0, 9))]
    # Hospital systems send text under the name of the old Excel, and Excel opens it; under no other name of a workbook.
    return suffix, _joined(table).encode(), table if suffix == ".xls" else REFUSED


def _no_ordinary_file(rng, place):
    return (".csv", ".xlsx", ".parquet")[int(rng.integers(0, 3))], place, REFUSED


MAKERS = (
    *(_other_length, _lone_quote, _quote_and_more, _nul, _zeros_at_the_end, _long_cell, _no_name, _marks),
    *(_unicode_kinds, _line_ends, _said_delimiter, _other_delimiter, _delimiter_at_the_end, _decimal_commas, _noise),
    *(_nothing, _many_columns, _wrong_cell, _wrong_reference, _wrong_row, _no_such_part, _entities, _cut_workbook),
    *(_locked_workbook, _far_away, _damaged_parquet, _other_suffix),
    *(update_wrapper(partial(_no_ordinary_file, place=place), _no_ordinary_file) for place in _PLACES),
)


def _put(path, content):
    match content:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "nothing":
            pass
        case _:
            path.write_bytes(content)


def _tries(count, rng, folder):
    for place in range(count):
        maker = MAKERS[place % len(MAKERS)]
        suffix, content, expected = maker(rng)
        path = folder / f"cohort {place}{suffix}"
        _put(path, content)
        broken = _fault_of_reading(path, expected) or _fault_of_command(path, expected)
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        yield broken and f"{maker.__name__}: {broken} (try {place})"


def _fault_of_reading(path, expected):
    found, _, message, broken = outcome_of(read_cohort, path)
    if broken is None and expected == REFUSED and message is None:
        return f"{path.name}: read, not refused: {np.asarray(found)[:2].tolist()!r:.200}"
    if broken is None and isinstance(expected, list):
        if message is not None:
            return f"{path.name}: refused: {message:.200}"
        if [found.columns.tolist(), *found.to_numpy().tolist()] != expected:
            return f"{path.name}: read as {found.columns.tolist()} {found.to_numpy()[:2].tolist()!r:.200}"
    return broken


def _fault_of_command(path, expected):
    """Return what is wrong with how `clinclust draft` ends, or None."""
    ended, _, message, broken = outcome_of(lambda path: ran("draft", path), path)
    if broken or message:
        return f"draft: {broken or message}"
    code, _, said = ended
    if code not in (0, 2) or (expected == REFUSED and code != 2) or "Traceback" in said:
        return f"{path.name}: exit {code}: {said:.200}"
    return message_fault(said, path.name) if code == 2 else None


ATTACKS = (Attack("malformed tables", _tries, smoke=2 * len(MAKERS), full=620),)
