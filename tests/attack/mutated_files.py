"""Files of every format that is read, each changed at random, as by a bad disk, a bad program or an attacker."""

import functools
import io
import zipfile

import numpy as np
import pandas as pd

from attack.attempts import Attack
from attack.reading import outcome_of
from clinclust import FeatureSchema, draft_schema, read_cohort

_TOKENS = tuple(
    token.encode()
    for token in (
        *('"', "'", ",", ";", "\t", "\r", "\n", "\0", "\ufeff", "-1", "999999999", "1e999", "nan", "\ud7ff"),
        *("<", ">", "&", "/>", "</c>", "<c>", "</row>", "<row>", "<v>", "</v>", 't="s"', 't="b"', 'r="A1"'),
        *('r="XFD1"', "<f>", "&#0;", "<!--", "{", "}", "[", "]", ": ", "- ", "*a", "&a", "!!int", "|", "\n  - "),
        *("#", "? ", "%YAML", "---", "likelihood"),
    )
)


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
    elif kind == "yaml":
        return draft_schema(cohort).to_yaml().encode()
    else:
        cohort.to_csv(buffer, index=False, sep="\t" if kind == "tsv" else ",")
    return buffer.getvalue()


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


def _changed_inside(content, rng):
    """Return a workbook in which one part was changed before it was packed, so that the archive is sound."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    read = [name for name in parts if name.startswith(("xl/w", "xl/s", "xl/_", "_rels")) and "theme" not in name]
    name = read[int(rng.integers(0, len(read)))] if rng.random() < 0.4 else "xl/worksheets/sheet1.xml"
    parts[name] = changed(parts[name], rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, inside in parts.items():
            archive.writestr(part, inside)
    return buffer.getvalue()


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


def _bytes_of_workbooks(count, rng, folder):
    """Change bytes of the archive. Its checksums protect what is in it: what is read must be what was written."""
    path = folder / "cohort.xlsx"
    path.write_bytes(_sound("xlsx"))
    written = read_cohort(path)
    for number in range(count):
        path.write_bytes(changed(_sound("xlsx"), rng))
        found, _, _, broken = outcome_of(read_cohort, path)
        if broken is None and found is not None and not found.equals(written):
            broken = f"{path.name}: other cells than were written, without a word"
        yield broken and f"{broken} (try {number})"


ATTACKS = (
    *(
        Attack(f"mutated {kind} files", functools.partial(_tries, kind, changed), smoke=40, full=20_000)
        for kind in ("csv", "tsv", "parquet")
    ),
    Attack("mutated xlsx files: the archive", _bytes_of_workbooks, smoke=40, full=20_000),
    Attack(
        "mutated xlsx files: the XML inside", functools.partial(_tries, "xlsx", _changed_inside), smoke=40, full=20_000
    ),
    Attack("mutated schema files", functools.partial(_tries, "yaml", changed), smoke=40, full=20_000),
)
