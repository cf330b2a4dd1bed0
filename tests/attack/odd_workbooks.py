"""Sound workbooks that hold known cells in every way that programs write them: each cell must be read as it is."""

import datetime
import re
from functools import partial

from hostile_texts import IN_WORKBOOKS
from raw_workbook import MAIN, STRICT, shared_strings_xml, sheet_xml, workbook_bytes

from attack.attempts import Attack
from attack.reading import outcome_of
from clinclust import read_cohort
from clinclust.files.cell_text import canonical_text

_HINT = '<rPh sb="0" eb="1"><t>hint</t></rPh>'


def _escaped(value):
    value = value.replace("_x000D_", "_x005F_x000D_")
    return value.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "&#10;")


def _in_runs(value, rng):
    """Return the XML of a text: in one piece, or in runs with a phonetic hint."""
    cut = int(rng.integers(0, len(value) + 1))
    if rng.random() < 0.5:
        return f'<t xml:space="preserve">{_escaped(value)}</t>'
    if "_" in value:
        cut = 0
    runs = "".join(
        f'<r><rPr><b/></rPr><t xml:space="preserve">{_escaped(part)}</t></r>' for part in (value[:cut], value[cut:])
    )
    return runs + (_HINT if rng.random() < 0.5 else "")


def _text_cell(rng, shared):
    value = IN_WORKBOOKS[int(rng.integers(0, len(IN_WORKBOOKS)))]
    match int(rng.integers(0, 3)):
        case 0:
            return value, f't="inlineStr"><is>{_in_runs(value, rng)}</is>'
        case 1:
            shared.append(_in_runs(value, rng))
            return value, f't="s"><v>{len(shared) - 1}</v>'
        case _:
            formula = "<f>A1</f>" if rng.random() < 0.5 else ""
            return value, f't="str">{formula}<v xml:space="preserve">{_escaped(value)}</v>'


def _number_cell(rng):
    number = (
        int(rng.integers(-999, 10**6)),
        float(rng.normal()),
        float(rng.normal() * 10.0 ** rng.integers(-300, 300)),
        0.1 + 0.2,
        float(rng.integers(0, 2**60)),
    )[int(rng.integers(0, 5))]
    written = str(number) if rng.random() < 0.5 else f"{number:.17g}" if rng.random() < 0.5 else f"{number!r}".upper()
    space = " " if rng.random() < 0.2 else ""
    is_whole = isinstance(number, int) or written.lstrip("-").isdecimal()
    expected = str(int(written)) if is_whole else canonical_text(number)
    formula = '<f t="shared" si="0"/>' if rng.random() < 0.2 else ""
    style = (' s="0"', ' s="4"', "")[int(rng.integers(0, 3))]
    kind = ' t="n"' if rng.random() < 0.3 else ""
    return expected, f"{style}{kind}>{formula}<v>{space}{written}{space}</v>"


def _date_cell(rng, has_1904):
    day = datetime.datetime(1904, 1, 2) + datetime.timedelta(days=int(rng.integers(0, 80_000)))
    seconds = int(rng.integers(0, 86_400)) if rng.random() < 0.5 else 0
    moment = day + datetime.timedelta(seconds=seconds)
    expected = moment.isoformat() if seconds else day.date().isoformat()
    if rng.random() < 0.2:
        return expected, f't="d"><v>{moment.isoformat()}</v>'
    first = datetime.datetime(1904, 1, 1) if has_1904 else datetime.datetime(1899, 12, 30)
    days = (day - first).days + seconds / 86_400
    style = (1, 2, 5)[int(rng.integers(0, 3))]
    return expected, f's="{style}"><v>{days!r}</v>'


def _cell(rng, shared, has_1904):
    match int(rng.integers(0, 6)):
        case 0 | 1:
            return _text_cell(rng, shared)
        case 2 | 3:
            return _number_cell(rng)
        case 4:
            return _date_cell(rng, has_1904)
        case _:
            yes = rng.random() < 0.5
            return str(yes), f't="b"><v>{int(yes)}</v>'


def _workbook(rng):
    """Return the bytes of a workbook, its header, its cells, and the labels of its rows."""
    has_1904 = rng.random() < 0.5
    has_references = rng.random() < 0.8
    width, shared, cells, labels, rows = int(rng.integers(1, 7)), [], [], [], []
    header = [f"column {k}" for k in range(width)]
    at = int(rng.integers(1, 4)) if has_references else 1
    rows.append(_row(at, [f't="inlineStr"><is><t>{name}</t></is>' for name in header], has_references, rng))
    for _ in range(int(rng.integers(0, 9))):
        at += int(rng.integers(1, 4)) if has_references else 1
        made = [_cell(rng, shared, has_1904) if rng.random() < 0.8 else ("", "") for _ in header]
        rows.append(_row(at, [xml for _, xml in made], has_references, rng))
        if any(value.strip() for value, _ in made):
            cells.append([value for value, _ in made])
            labels.append(at - 2)
    dimension = '<dimension ref="A1:B1"/>' if rng.random() < 0.5 else ""
    xml = sheet_xml("".join(rows), before=dimension, namespace=STRICT if rng.random() < 0.3 else MAIN)
    if rng.random() < 0.3:
        xml = _prefixed(xml)
    book = '<workbookPr date1904="1"/>' if has_1904 else ""
    return workbook_bytes(xml, shared=shared_strings_xml(*shared), workbook=book), header, cells, labels


def _row(at, cells, has_references, rng):
    inside = ""
    for column, cell in enumerate(cells):
        place = f'r="{"ABCDEFG"[column]}{at}" ' if has_references else ""
        if cell:
            inside += f"<c {place}{cell}</c>"
        elif not has_references or rng.random() < 0.5:
            inside += f"<c {place}/>"
    number = f' r="{at}"' if has_references else ""
    return f'<row{number} spans="1:{len(cells)}">{inside}</row>'


def _prefixed(xml):
    """Return a sheet whose elements have a prefix, as some programs write it."""
    for name in ("worksheet", "dimension", "sheetData", "row", "c", "f", "v", "is", "t", "r", "rPr", "rPh", "b"):
        for end in (" ", ">", "/"):
            xml = xml.replace(f"<{name}{end}", f"<x:{name}{end}")
        xml = xml.replace(f"</{name}>", f"</x:{name}>")
    return xml.replace("xmlns=", "xmlns:x=")


def _tries(count, rng, folder):
    path = folder / "cohort.xlsx"
    for number in range(count):
        content, header, cells, labels = _workbook(rng)
        path.write_bytes(content)
        found, told, message, broken = outcome_of(read_cohort, path)
        all_rows = re.search(r"if all of them are subjects, say rows='([0-9,-]+)'", message or "")
        if all_rows:  # a row that could be a heading is asked about: the answer is that all are subjects
            found, told, message, broken = outcome_of(partial(read_cohort, rows=all_rows[1]), path)
            told = [text for text in told if f"are read as subjects, as rows={all_rows[1]!r} says" not in text]
        if broken is None and (message or told):
            broken = f"{message or told}"[:300]
        if broken is None and [found.columns.tolist(), found.to_numpy().tolist()] != [header, cells]:
            broken = f"read as {found.to_numpy().tolist()}, not {cells}"
        if broken is None and found.index.tolist() != labels:
            broken = f"rows {found.index.tolist()}, not {labels}"
        yield broken and f"{broken} (try {number})"


ATTACKS = (Attack("odd workbooks, cell by cell", _tries, smoke=50, full=5_000),)
