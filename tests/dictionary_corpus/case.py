"""A data dictionary, the export of 60 subjects that it describes, and what must be understood of it.

A case of a toml has the keys of `Case`, and `fields` instead of a table if it is a REDCap project. Of a column of its
export it says the texts, of which the first are the most frequent; the one text of all, in which {} is the number of
the subject; a mean and an SD, and what the last subjects have instead; or the lowest and the highest whole number.
"""

import csv
import io
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import openpyxl

N = 60
HEADERS = {
    "name": ("Variable / Field Name", "field_name"),
    "form": ("Form Name", "form_name"),
    "section": ("Section Header", "section_header"),
    "type": ("Field Type", "field_type"),
    "label": ("Field Label", "field_label"),
    "choices": ("Choices, Calculations, OR Slider Labels", "select_choices_or_calculations"),
    "note": ("Field Note", "field_note"),
    "validation": ("Text Validation Type OR Show Slider Number", "text_validation_type_or_show_slider_number"),
    "minimum": ("Text Validation Min", "text_validation_min"),
    "maximum": ("Text Validation Max", "text_validation_max"),
    "identifier": ("Identifier?", "identifier"),
    "branching": ("Branching Logic (Show field only if...)", "branching_logic"),
    "required": ("Required Field?", "required_field"),
    "alignment": ("Custom Alignment", "custom_alignment"),
    "question": ("Question Number (surveys only)", "question_number"),
    "matrix": ("Matrix Group Name", "matrix_group_name"),
    "ranking": ("Matrix Ranking?", "matrix_ranking"),
    "annotation": ("Field Annotation", "field_annotation"),
}


@dataclass
class Case:
    """A dictionary, the export that it describes, and what must be understood.

    `notes` holds for each column the notes that are expected but their reason, `reasons` words of the reasons, and
    `drafted` fields of the drafted feature. A column of the export that `notes` does not name has none.
    """

    table: list
    export: dict
    notes: dict
    reasons: dict = field(default_factory=dict)
    drafted: dict = field(default_factory=dict)
    remarks: tuple = ()
    name: str = "dictionary.csv"
    encoding: str = "utf-8"
    delimiter: str = ","
    newline: str = "\r\n"
    quoting: int = csv.QUOTE_MINIMAL

    def write(self, folder):
        """Write the dictionary; return its path."""
        path = folder / self.name
        if path.suffix == ".xlsx":
            workbook = openpyxl.Workbook()
            for row in self.table:
                workbook.active.append([cell or None for cell in row])
            workbook.save(path)
            return path
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator=self.newline, quoting=self.quoting)
        writer.writerows(self.table)
        path.write_bytes(text.getvalue().encode(self.encoding))
        return path

    def write_export(self, folder):
        """Write the export; return its path."""
        path = folder / "export.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([list(self.export), *zip(*self.export.values(), strict=True)])
        return path


def project(*fields, api=False):
    """Return the rows of a REDCap data dictionary."""
    header = [names[api] for names in HEADERS.values()]
    return [header, *([entry.get(key, "") for key in HEADERS] for entry in fields)]


def asked(name, kind="text", label="", **more):
    return {"name": name, "form": "base", "type": kind, "label": label or name.title(), **more}


RECORD = asked("record_id", label="Record ID")
IDS = [str(number) for number in range(1, N + 1)]
SEX = asked("sex", "radio", choices="1, Male | 2, Female")
draw = np.random.default_rng(2024)


def project_case(fields, export, notes, *, api=False, **more):
    """Return the case of a project whose first field is the record; the site is in no section."""
    notes = {"record_id": {"label": "Record ID", "kind": "id"}, **notes}
    for name, note in notes.items():
        if "label" in note and note.get("role") != "site":
            notes[name] = {"section": "Base", **note}
    return Case(project(RECORD, *fields, api=api), {"record_id": IDS, **export}, notes, **more)


def stored(topic):
    """Return the cases of a toml by their names."""
    content = tomllib.loads(Path(__file__).with_name(f"{topic}.toml").read_text(encoding="utf-8"))
    return {name: _of_stored(**case) for name, case in content.items()}


def _of_stored(export, fields=None, drafted=None, **case):
    case["export"] = {name: _cells(described) for name, described in export.items()}
    case["drafted"] = {name: _typed(expected) for name, expected in (drafted or {}).items()}
    return Case(**case) if fields is None else project_case([asked(**entry) for entry in fields], **case)


def _typed(expected):
    """Return fields of a feature: a list is a tuple, and "" is None."""
    values = {name: None if value == "" else value for name, value in expected.items()}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _cells(described):
    if isinstance(described, list):
        return some(*described)
    if isinstance(described, str):
        return [described.format(number) for number in IDS]
    if "lowest" in described:
        return [str(value) for value in draw.integers(described["lowest"], described["highest"] + 1, N)]
    last = described.get("last", [])
    cells = around(described["mean"], described["sd"], described.get("digits", 1))[len(last) :]
    return [*(cell.replace(".", described.get("decimal", ".")) for cell in cells), *last]


def some(*texts):
    """Return 60 cells that hold each of the texts, more of the first."""
    shares = np.arange(len(texts), 0, -1.0)
    cells = [*texts, *draw.choice(texts, N - len(texts), p=shares / shares.sum())]
    return [str(cell) for cell in draw.permutation(cells)]


def around(mean, spread, digits=1):
    return [f"{number:.{digits}f}" for number in draw.normal(mean, spread, N)]
