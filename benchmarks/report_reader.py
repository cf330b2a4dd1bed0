"""What anybody can read in the two files of a shared report: its workbook and its page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import openpyxl

__all__ = ["Cell", "SharedReport", "read_report", "rows_of_data", "tolerance"]

Cell = object
_GROUP = re.compile(r"(?:Subtype )?(\d+)(?: .*)?")  # "Subtype 2", or "2" and the name of this subtype
_ROW_LABEL = re.compile(r"<text style=\"[^\"]*text-anchor: end[^\"]*\" x=\"[^\"]*\" y=\"([0-9.]+)\"[^>]*>([^<]*)")


@dataclass(frozen=True)
class SharedReport:
    """The numbers of a shared report.

    Attributes
    ----------
    rows : list of dict
        The rows of the sheet Data by heading; ``Subtype`` and ``Versus`` are numbers (0 = all, or all others).
    sizes : dict of int to int or None
        The size of each group; None where it is withheld.
    relevance : dict of str to float
        The relevance that is shown, by title of the feature.
    order : list of str
        The features in the order of the figure of the profiles.
    """

    rows: list[dict[str, Cell]]
    sizes: dict[int, int | None]
    relevance: dict[str, float]
    order: list[str]

    def of(self, kind: str) -> list[dict[str, Cell]]:
        """Return the rows of one kind."""
        return [row for row in self.rows if row["Kind"] == kind]


def read_report(workbook: Path, page: Path) -> SharedReport:
    """Read the files of a report."""
    book = openpyxl.load_workbook(workbook, read_only=True)
    sheets = {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}
    book.close()
    rows = _with_numbered_groups(_records(sheets["Data"], "Kind"))
    return SharedReport(rows, _sizes(rows), _relevance(sheets), _order(page))


def rows_of_data(workbook: Path) -> list[dict[str, Cell]]:
    """Return the rows of the sheet Data by heading, as in `SharedReport.rows`."""
    book = openpyxl.load_workbook(workbook, read_only=True)
    rows = _records([list(row) for row in book["Data"].iter_rows(values_only=True)], "Kind")
    book.close()
    return _with_numbered_groups(rows)


def _with_numbered_groups(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    for row in rows:
        for name in ("Subtype", "Versus"):
            found = _GROUP.fullmatch(str(row[name]))
            row[name] = int(found[1]) if found else None if row[name] is None else 0
    return rows


def _records(sheet: list[list[Cell]], first: str) -> list[dict[str, Cell]]:
    start = next(place for place, line in enumerate(sheet) if line and line[0] == first)
    headings = [str(cell) for cell in sheet[start]]
    filled = [[*line, *[None] * (len(headings) - len(line))] for line in sheet[start + 1 :] if line and line[0]]
    return [dict(zip(headings, line, strict=False)) for line in filled]


def _sizes(rows: list[dict[str, Cell]]) -> dict[int, int | None]:
    sizes: dict[int, int | None] = {}
    for row in rows:
        if row["Kind"] == "Summary":
            group, n, missing = row["Subtype"], row["n"], row["missing"]
            known = int(n) + int(missing) if isinstance(n, int) and isinstance(missing, int) else None
            sizes[group] = sizes.get(group) or known
    return sizes


def _relevance(sheets: dict[str, list[list[Cell]]]) -> dict[str, float]:
    """Return the relevance of each feature from the section Associations."""
    found: dict[str, float] = {}
    place = None
    for line in sheets.get("Associations", []):
        if "Relevance (nats, descriptive)" in line:
            place = line.index("Relevance (nats, descriptive)")
        elif place is not None and len(line) > place and isinstance(line[place], (int, float)):
            found[str(line[0])] = float(line[place])
    return found


def _order(page: Path) -> list[str]:
    figures = page.read_text(encoding="utf-8").split("<figure ")[1:]
    of_profile = next(figure for figure in figures if "What marks each subtype" in figure)
    labels = sorted((float(y), unescape(text)) for y, text in _ROW_LABEL.findall(of_profile))
    return list(dict.fromkeys(text.removesuffix(" ‡").removesuffix(" †").partition(":")[0] for _, text in labels))


def tolerance(number: float) -> float:
    """Return how far the true number may lie from one that was stored with these decimals."""
    digits = len(f"{number:.15g}".partition(".")[2]) if "e" not in f"{number:.15g}" else 15
    return 1e-9 if digits > 8 else 0.5 * 10.0 ** -max(digits, 2) + 1e-9
