"""A data dictionary, the export of 60 subjects that it describes, and what must be understood of it."""

import csv
import io
from dataclasses import dataclass, field

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
ID_NOTES = {"record_id": {"label": "Record ID", "section": "Base", "kind": "id"}}
draw = np.random.default_rng(2024)


def some(*texts):
    """Return 60 cells that hold each of the texts, more of the first."""
    shares = np.arange(len(texts), 0, -1.0)
    cells = [*texts, *draw.choice(texts, N - len(texts), p=shares / shares.sum())]
    return [str(cell) for cell in draw.permutation(cells)]


def around(mean, spread, digits=1):
    return [f"{number:.{digits}f}" for number in draw.normal(mean, spread, N)]


def noted(label, **more):
    return {"label": label, "section": "Base", **more}


def one_project(*fields, export, notes, **more):
    """Return the case of a project whose first field is the record."""
    api = more.pop("api", False)
    return Case(project(RECORD, *fields, api=api), {"record_id": IDS, **export}, {**ID_NOTES, **notes}, **more)


def lists(*pairs):
    return [list(pair) for pair in pairs]


YES_NO = lists(("0", "No"), ("1", "Yes"))
BOX = lists(("0", "Unchecked"), ("1", "Checked"))
SEX = asked("sex", "radio", choices="1, Male | 2, Female")
SEX_NOTES = noted("Sex", levels=lists(("1", "Male"), ("2", "Female")))
SEX_DRAFT = {"likelihood": "bernoulli", "levels": ("Male", "Female"), "synonyms": {"1": "Male", "2": "Female"}}
