"""The estimator `MAPDP`: its parameters, search, fitted results, saving and imputation."""

from clinclust.data import data


def say(what: str, /, **fields: object) -> str:
    """Return a sentence of `clinclust/data/fit_messages.toml` by its name, with its fields filled in."""
    return str(data("fit_messages")[what].format(**fields))
