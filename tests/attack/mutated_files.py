"""Files of every format that is read, each changed at random, as by a bad disk, a bad program or an attacker."""

import functools
import io
import re
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import read_beside
from old_and_open_workbooks import ods, xls
from raw_workbook import zipped

from attack.attempts import Attack
from attack.reading import outcome_of
from clinclust import FeatureSchema, draft_schema, read_cohort
from clinclust.cli.fit import table_in_partitions

_TOKENS = tuple(map(str.encode, read_beside(__file__)["tokens"]))
_FULL = {"xls": 2_000, "ods": 2_000}  # each file is read by a process of its own, in a third of a second
_SHEET = "xl/worksheets/sheet1.xml"
_PLACE = re.compile(rb' r="([A-F]?[0-9]+)"')
_VALUE = re.compile(rb'(?:\w="|<[vtf]>)([^"<&]*)')
_VALUES = read_beside(__file__)["values"]


def _cohort():
    rng = np.random.default_rng(5)
    words = rng.choice(["mild", "moderate", "very, very severe", ""], 12)
    return pd.DataFrame(
        {
            "id": [f"p{k:03}" for k in range(12)],
            "falls": rng.integers(0, 9, 12),
            "x": rng.normal(size=12),
            "words": words,
        }
    )


@functools.cache
def _sound(kind):
    """Return the bytes of a sound file of a format."""
    buffer, cohort = io.BytesIO(), _cohort()
    if kind == "xlsx":
        cohort.to_excel(buffer, index=False)
    elif kind == "parquet":
        cohort.set_index("id").to_parquet(buffer)
    elif kind in ("xls", "ods"):
        return _old_or_open(cohort, kind)
    elif kind in ("sav", "dta", "xpt"):
        return _statistical(cohort, kind)
    elif kind == "yaml":
        return draft_schema(cohort).to_yaml().encode()
    else:
        cohort.to_csv(buffer, index=False, sep="\t" if kind == "tsv" else ",")
    return buffer.getvalue()


def _old_or_open(cohort, kind):
    rows = [cohort.columns.tolist(), *cohort.to_numpy().tolist()]
    if kind == "ods":
        return ods(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cohort.xls"
        xls(rows)(path)
        return path.read_bytes()


def _statistical(cohort, kind):
    import pyreadstat

    write = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}[kind]
    cohort = cohort.set_axis([name.upper() for name in cohort], axis="columns")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"cohort.{kind}"
        getattr(pyreadstat, write)(cohort, str(path))
        return path.read_bytes()


def changed(content, rng):
    """Return the bytes after one to eight changes at random places."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        at, length = int(rng.integers(0, len(content) + 1)), int(rng.integers(1, 9))
        match int(rng.integers(0, 6)):
            case 0:
                content[at : at + 1] = bytes([int(rng.integers(0, 256))])
            case 1:
                del content[at : at + length]
            case 2:
                content[at:at] = content[at : at + 10 * length]
            case 3:
                content[at:at] = _TOKENS[int(rng.integers(0, len(_TOKENS)))]
            case 4:
                content[at : at + length] = _TOKENS[int(rng.integers(0, len(_TOKENS)))]
            case _:
                other = int(rng.integers(0, len(content) + 1))
                content[at : at + length] = content[other : other + length]
    return bytes(content[: int(rng.integers(0, len(content) + 1))] if rng.random() < 0.03 else content)


def _repacked(content, rng, change):
    """Return a workbook in which one part was changed before it was packed, so that the archive is sound."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    read = [name for name in parts if name.startswith(("xl/w", "xl/s", "xl/_", "_rels"))]
    name = read[int(rng.integers(0, len(read)))] if rng.random() < 0.4 else _SHEET
    parts[name] = change(parts[name], rng)
    return zipped(parts)


def _changed_inside(content, rng):
    return _repacked(content, rng, changed)


def _changed_values(content, rng):
    """Return a workbook whose XML is sound, but for some values of attributes and some texts."""

    def change(xml, rng):
        values = list(_VALUE.finditer(xml))
        for at in sorted(rng.integers(0, len(values), int(rng.integers(1, 5))).tolist(), reverse=True):
            start, end = values[at].span(1)
            xml = xml[:start] + _VALUES[int(rng.integers(0, len(_VALUES)))].encode() + xml[end:]
        return xml

    return _repacked(content, rng, change)


def _reader(kind):
    return FeatureSchema.from_yaml if kind == "yaml" else read_cohort


def _tries(kind, change, count, rng, folder):
    path = folder / f"cohort.{kind}"
    wanted = FeatureSchema if kind == "yaml" else pd.DataFrame
    for number in range(count):
        path.write_bytes(change(_sound(kind), rng))
        found, _, _, broken = outcome_of(_reader(kind), path)
        if broken is None and found is not None and not isinstance(found, wanted):
            broken = f"{path.name}: read as {type(found).__name__}"
        yield broken and f"{broken} (try {number})"


def _places_in_workbooks(count, rng, folder):
    """Change the places that rows and cells name: no cell may be lost, and none made up."""
    path = folder / "cohort.xlsx"
    path.write_bytes(_sound("xlsx"))
    written = sorted(filter(None, read_cohort(path).to_numpy().ravel().tolist()))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sound = parts[_SHEET]
    places = list(_PLACE.finditer(sound))
    for number in range(count):
        xml = sound
        for at in sorted(rng.integers(0, len(places), int(rng.integers(1, 4))).tolist(), reverse=True):
            start, end = places[at].span(1)
            place = str(int(rng.integers(0, 16)))
            if not places[at][1].isdigit():
                place = "ABCDEF"[int(rng.integers(0, 6))] + (
                    place if rng.random() < 0.3 else places[at][1].decode()[1:]
                )
            xml = xml[:start] + place.encode() + xml[end:]
        path.write_bytes(zipped({**parts, _SHEET: xml}))
        found, _, _, broken = outcome_of(read_cohort, path)
        if broken is None and found is not None and sorted(filter(None, found.to_numpy().ravel().tolist())) != written:
            broken = f"{path.name}: other cells than were written, without a word"
        yield broken and f"{broken} (try {number})"


def _bytes_of_workbooks(count, rng, folder):
    """Change bytes of the archive. Its checksums protect what is in it: what is read must be what was written."""
    path = folder / "cohort.xlsx"
    path.write_bytes(_sound("xlsx"))
    written = read_cohort(path)
    for number in range(count):
        path.write_bytes(changed(_sound("xlsx"), rng))
        found, told, _, broken = outcome_of(read_cohort, path)
        is_told = any("the file is text" in text for text in told)  # of a P that is left of it
        if broken is None and found is not None and not is_told and not found.equals(written):
            broken = f"{path.name}: other cells than were written, without a word"
        yield broken and f"{broken} (try {number})"


def _computed(path):
    with table_in_partitions(path) as (table, _):
        return table.compute()


def _parts(count, rng, folder):
    """Change a file of a table in partitions, next to a sound one."""
    pytest.importorskip("dask.dataframe")
    (folder / "0.parquet").write_bytes(_sound("parquet"))
    for number in range(count):
        (folder / "1.parquet").write_bytes(changed(_sound("parquet"), rng))
        _, _, _, broken = outcome_of(_computed, folder)
        yield broken and f"{broken} (try {number})"


ATTACKS = (
    *(
        Attack(f"mutated {kind} files", functools.partial(_tries, kind, changed), 15, _FULL.get(kind, 20_000))
        for kind in ("csv", "tsv", "parquet", "xls", "ods", "sav", "dta", "xpt")
    ),
    Attack("mutated parquet files of a table in partitions", _parts, smoke=15, full=20_000),
    *(
        Attack(f"mutated xlsx files: {what}", tries, smoke=15, full=20_000)
        for what, tries in {
            "the archive": _bytes_of_workbooks,
            "the XML inside": functools.partial(_tries, "xlsx", _changed_inside),
            "values in the XML": functools.partial(_tries, "xlsx", _changed_values),
            "places of cells": _places_in_workbooks,
        }.items()
    ),
    Attack("mutated schema files", functools.partial(_tries, "yaml", changed), smoke=15, full=20_000),
)
