"""Names of the elements of SpreadsheetML, of its transitional and its strict kind."""

from __future__ import annotations

__all__ = ["LOCAL", "is_true", "relation_id"]

_NAMESPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/package/2006/relationships",
)
_ELEMENTS = (
    *("worksheet", "cols", "col", "sheetData", "row", "c", "f", "v", "is", "t", "rPh", "mergeCell"),
    *("workbook", "workbookPr", "sheet", "calcPr", "sst", "si", "styleSheet", "numFmt", "cellXfs", "xf"),
    "Relationship",
)

LOCAL = {f"{namespace} {element}": element for namespace in _NAMESPACES for element in _ELEMENTS}
"""The names of the elements that are read, without namespace; elements of other namespaces are not read."""


def is_true(attribute: str | None) -> bool:
    """Return whether an attribute is given and says yes."""
    return attribute in ("1", "true", "on")


def relation_id(attributes: dict[str, str]) -> str:
    """Return the attribute `id` of the namespace of relationships, or an empty text."""
    return next((value for name, value in attributes.items() if name.endswith("/relationships id")), "")
