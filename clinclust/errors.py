"""What clinclust raises and warns with when its input is at fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CohortError", "CohortWarning", "InputError", "MissingPackageError", "SchemaError"]

_SHOWN_FAILURES = 20


class InputError(ValueError):
    """Input that cannot be used: a file, a table, a parameter.

    Its message says what was given, what was expected and how to repair it. A ValueError of another class that leaves
    the package is a bug of the package.
    """


class MissingPackageError(ImportError):
    """A package that an optional part needs is not installed; the message says which, and how to install it."""


class SchemaError(InputError):
    """A feature schema that cannot be used.

    Attributes
    ----------
    problems : tuple of str
        Everything that is wrong, one sentence each, with the line number when the schema came from a file.

    Examples
    --------
    >>> import clinclust as cc
    >>> try:
    ...     cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trial=4)])
    ... except cc.SchemaError as error:
    ...     print(error.problems[0])
    tremor: trial: unknown key. Did you mean 'trials'?
    """

    def __init__(self, problems: list[str] | str) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        count = len(self.problems)
        heading = "The feature schema has a problem:" if count == 1 else f"The feature schema has {count} problems:"
        super().__init__("\n".join([heading, *(f"  - {problem}" for problem in self.problems)]))


class CohortError(InputError):
    """A cohort table that does not fit its schema.

    Attributes
    ----------
    failures : pandas.DataFrame
        One row for each kind of failure in each column: ``column``, ``expected``, ``rows`` (how many),
        ``first_rows`` (index labels), ``examples`` (offending values) and ``repair`` (what to do about it).

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trials=4)])
    >>> try:
    ...     schema.validate(pd.DataFrame({"tremor": ["0", "3", "7", "7"]}))
    ... except cc.CohortError as error:
    ...     print(error.failures[["column", "expected", "rows", "examples"]])
       column                         expected  rows examples
    0  tremor  0 to 4 (binomial with 4 trials)     2      [7]
    """

    def __init__(self, failures: pd.DataFrame) -> None:
        self.failures = failures.reset_index(drop=True)
        super().__init__(self._message())

    def _message(self) -> str:
        count = len(self.failures)
        lines = [f"The cohort does not fit the schema; {count} problem{'' if count == 1 else 's'}:"]
        for failure in self.failures.head(_SHOWN_FAILURES).to_dict("records"):
            lines.append(f"  - {failure['column']}: expected {failure['expected']}")
            if failure["rows"]:
                rows = ", ".join(str(row) for row in failure["first_rows"])
                lines[-1] += f"; {failure['rows']} row{'' if failure['rows'] == 1 else 's'} (first: {rows})"
            if failure["examples"]:
                lines[-1] += " hold " if failure["rows"] != 1 else " holds "
                lines[-1] += ", ".join(repr(value) for value in failure["examples"])
            lines[-1] += f". {failure['repair']}"
        if count > _SHOWN_FAILURES:
            lines.append(f"  ... and {count - _SHOWN_FAILURES} more in the `failures` attribute of this error")
        return "\n".join(lines)


class CohortWarning(UserWarning):
    """Something in the cohort that the analysis can live with but its reader must know.

    Examples
    --------
    A feature with one value is kept out of the clustering, and said to be:

    >>> import warnings
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="poisson") for name in ("falls", "visits")])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", cc.CohortWarning)
    ...     model = cc.MAPDP(schema, random_state=0).fit(pd.DataFrame({"falls": [0, 1, 4, 0], "visits": 2}))
    >>> print(caught[0].message)
    1 column cannot inform a clustering: visits (the same value in every subject observed)
    """
