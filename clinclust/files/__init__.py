"""Files: reading a cohort table, converting cells to and from text, and atomic writing."""

from clinclust.data import data


def say(what: str, /, **fields: object) -> str:
    """Return a sentence of `clinclust/data/file_messages.toml` by its name, with its fields filled in."""
    return str(data("file_messages")[what].format(**fields))
