"""Texts that would become a formula, markup, a command or a script in something that the package writes."""

import contextlib
import csv
import html.parser
import io
import re
import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from functools import cache

import numpy as np
import openpyxl
import pandas as pd
import yaml
from hostile_texts import IN_OUTPUTS
from inert_texts import original_text
from reporting.stand_in import gathered

import clinclust as cc
from attack.attempts import Attack, ImpossibleHereError, ran
from attack.terminal import Terminal
from clinclust.errors import InputError
from clinclust.reporting.assignments import assignment_table, write_inert_csv
from clinclust.reporting.page import SCRIPT, as_svg
from clinclust.reporting.report import write_findings

_OF_DOCUMENTS = (
    "html head meta title style body main div section header footer nav h1 h2 h3 p br ul ol li dl dt dd a span b em"
)
_OF_TABLES = "table caption colgroup col thead tbody tr th td small sup strong details summary time button"
_OF_FIGURES = "figure figcaption svg g defs path use text tspan clippath rect image desc"
_HTML = {*_OF_DOCUMENTS.split(), *_OF_TABLES.split(), *_OF_FIGURES.split()}
_FORMULA = re.compile(r"[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def payloads_in_outputs(count, rng, folder):
    """Put each payload everywhere a text can stand, and look for it alive in every output."""
    number = 0
    while True:
        for payload in IN_OUTPUTS:
            try:
                made = _everywhere(payload)
            except InputError:
                continue  # no schema can hold it
            for output, alive in _OUTPUTS.items():
                if number == count:
                    return
                number += 1
                try:
                    fault = alive(made, folder)
                except InputError:
                    fault = None  # refused with a message
                except Exception as error:
                    fault = f"{type(error).__name__}: {str(error)[:80]}"
                yield f"{output} with {payload[:30]!r}: {fault}" if fault else None


def spreadsheets(count, rng, folder):
    """Open a csv with all payloads in LibreOffice under other separators and quotes, and count formulas."""
    program = shutil.which("soffice")
    if program is None:
        raise ImpossibleHereError("LibreOffice is not installed")
    settings = [(separator, quote) for separator in (44, 59, 9, 124) for quote in (34, 39, 0)]
    ids = [payload.replace("\x00", "") for payload in IN_OUTPUTS]
    table = pd.DataFrame({"who": ids, "then": ids[::-1], "=n": np.arange(len(ids)) - 5.5})
    write_inert_csv(table, folder / "t.csv")
    for number in range(count):
        separator, quote = settings[number % len(settings)]
        yield _formulas(program, folder, separator, quote)


def _formulas(program, folder, separator, quote):
    arguments = [program, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", "xlsx"]
    arguments += [f"--infilter=CSV:{separator},{quote},76,1", "--outdir", str(folder), str(folder / "t.csv")]
    subprocess.run(arguments, check=True, capture_output=True)
    with zipfile.ZipFile(folder / "t.xlsx") as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    found = re.findall(rb"<f[ >][^<]*", sheet)
    assert sheet.count(b"<row") > len(IN_OUTPUTS) // 2
    return f"separator {separator}, quote {quote}: {len(found)} formulas, as {found[0][:60]!r}" if found else None


@cache
def _everywhere(payload):
    """Return findings, tables and schema of a cohort that has the payload everywhere."""
    text = payload if payload.strip() else f"x{payload}"
    words = {"label": text, "section": text, "unit": text, "description": text}
    features = [
        cc.Feature(name=f"{text}0", role="id"),
        cc.Feature(name=f"{text}1", likelihood="poisson", **words),
        cc.Feature(name=f"{text}2", likelihood="categorical", levels=(f"{text.strip()}a", f"{text.strip()}b"), **words),
        cc.Feature(name="plain", likelihood="gaussian"),
    ]
    schema = cc.FeatureSchema(features, title=text)
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 8)
    frame = pd.DataFrame(
        {
            features[0].name: [f"{text}{row}" if row else text for row in range(16)],
            features[1].name: rng.poisson(1 + 6 * groups),
            features[2].name: [features[2].levels[group] for group in groups],
            "plain": rng.normal(size=16),
        }
    )
    clean = schema.validate(frame, warn=False)
    partition = cc.Partition(groups, schema, text)
    findings = gathered(partition, clean, names={1: text})
    table = cc.subtype_table(findings.comparisons, names={1: text}, title=text)
    return text, schema, frame, findings, table


def _in_report(made, folder):
    write_findings(made[3], folder / "r.xlsx", datetime(2026, 1, 2, tzinfo=UTC))
    return fault_in_workbook(folder / "r.xlsx")


def _in_table_workbook(made, folder):
    return fault_in_workbook(made[4].save(folder / "t.xlsx"))


def fault_in_workbook(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if not name.startswith("xl/charts/") and re.search(rb"<f[ >/]", content):
                return f"a formula in {name}"
            if b"ddeLink" in content or b'TargetMode="External"' in content or "external" in name.lower():
                return f"a link in {name}"
    with contextlib.closing(openpyxl.load_workbook(path, read_only=True)) as workbook:
        for cell in (cell for sheet in workbook for row in sheet.iter_rows() for cell in row):
            if isinstance(cell.value, str) and cell.data_type != "s":
                return f"{cell.coordinate} is no text"
    return None


def _in_page(made, folder):
    write_findings(made[3], folder / "r.html", datetime(2026, 1, 2, tzinfo=UTC))
    return fault_in_html((folder / "r.html").read_text(encoding="utf-8").replace(f"<script>{SCRIPT}</script>", "", 1))


class _Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.fault = None

    def handle_starttag(self, tag, attributes):
        if tag not in _HTML:
            self.fault = f"the element {tag}"
        for name, value in attributes:
            if name.startswith("on") or name == "src" or (name.endswith("href") and not value.startswith("#")):
                self.fault = f"the attribute {name}={value!r}"

    def handle_comment(self, data):
        self.fault = "a comment"


def fault_in_html(text):
    elements = _Elements()
    elements.feed(text)
    hidden = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    return elements.fault or (f"{hidden[0]!r} in the page" if hidden else None)


def _in_word(made, folder):
    return fault_in_document(made[4].save(folder / "t.docx"))


def fault_in_document(path):
    with zipfile.ZipFile(path) as archive:
        if b'TargetMode="External"' in archive.read("word/_rels/document.xml.rels"):
            return "a link"
        content = archive.read("word/document.xml")
    found = re.search(rb"<w:(instrText|fldChar|fldSimple|hyperlink|object|altChunk|pict)\b", content)
    return f"the element {found[1]!r}" if found else None


def _in_csv_table(made, folder):
    return fault_in_csv(made[4].save(folder / "t.csv").read_text(encoding="utf-8"))


def _in_assignments(made, folder):
    _, schema, frame, findings, _ = made
    model = findings.cohort.model
    table = assignment_table(frame, schema, model.labels_, np.eye(2)[model.labels_])
    write_inert_csv(table, folder / "a.csv")
    content = (folder / "a.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(content, newline="")))
    ids = [original_text(row[0]) for row in rows]
    if ids != [table.columns[0], *table.iloc[:, 0]]:
        return f"the identifiers did not come back: {ids[:2]}"
    return fault_in_csv(content)


def fault_in_csv(text):
    """Return the first field that begins a formula, however the file is divided."""
    readings = [re.split(f"[{separator}\r\n]", text) for separator in ",;\t|"]
    readings += [[cell for row in csv.reader(io.StringIO(text), delimiter=mark) for cell in row] for mark in ",;\t|"]
    for cell in (cell for reading in readings for cell in reading):
        seen = cell.strip(' \t\r\n\x0b\x0c\xa0\ufeff\u200b"')
        if _FORMULA.match(seen) and not _NUMBER.fullmatch(re.split(r"[,;|\t]", seen)[0]):
            return f"the field {cell[:40]!r}"
    return None


def _in_schema(made, folder):
    _, schema, *_ = made
    schema.to_yaml(folder / "s.yaml")
    schema.to_excel(folder / "s.xlsx")
    read = (cc.FeatureSchema.from_yaml(folder / "s.yaml"), cc.FeatureSchema.from_excel(folder / "s.xlsx"))
    if read != (schema, schema):
        return "another schema came back"
    yaml.safe_load((folder / "s.yaml").read_text(encoding="utf-8"))
    return None


def _in_notebook(made, folder):
    return fault_in_html(made[-1]._repr_html_())


def _in_figure(made, folder):
    text, _, _, findings, _ = made
    drawn = as_svg(
        lambda: cc.plots.plot_profile(findings.cohort.model, findings.comparisons, names={1: text}),
        name="x",
        title=text,
    )
    return fault_in_html(drawn)


def _on_the_terminal(made, folder):
    made[2].map(lambda value: str(value).replace("\x00", "")).to_csv(folder / "t.csv", index=False)
    code, out, err = ran("draft", folder / "t.csv", stream=Terminal)
    live = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", out + err)
    if code not in (0, 2):
        return f"exit {code}"
    return f"{live[0]!r} reached the terminal" if live else None


_OUTPUTS = {
    "report.xlsx": _in_report,
    "report.html": _in_page,
    "table.docx": _in_word,
    "table.xlsx": _in_table_workbook,
    "table.html": lambda made, folder: fault_in_html(made[4].save(folder / "t.html").read_text(encoding="utf-8")),
    "table.csv": _in_csv_table,
    "assignments.csv": _in_assignments,
    "schema.yaml": _in_schema,
    "notebook": _in_notebook,
    "figure.svg": _in_figure,
    "terminal": _on_the_terminal,
}

ATTACKS = (
    Attack("payloads: in every output", payloads_in_outputs, smoke=len(_OUTPUTS), full=len(_OUTPUTS) * len(IN_OUTPUTS)),
    Attack("payloads: csv opened by a spreadsheet program", spreadsheets, smoke=1, full=12),
)
