"""Draft a feature schema: what each column of a table is, by what its file says and by its values."""

from clinclust.drafting.draft import draft_schema

__all__ = ["draft_schema"]
