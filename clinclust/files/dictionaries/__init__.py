"""Data dictionaries: what a REDCap project or a codebook says of the columns of a table."""

from __future__ import annotations

from clinclust.files.dictionaries.dictionary import Dictionary, note_columns, read_dictionary

__all__ = ["Dictionary", "note_columns", "read_dictionary"]
