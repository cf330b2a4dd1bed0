"""The exceptions and warnings that clinclust raises when its input is at fault, and texts of data in their messages."""

from __future__ import annotations

import difflib
import platform
import re
import sys
import traceback
import unicodedata
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FOLDER = str(Path(__file__).parent)
_SHOWN_FAILURES = 20
_LONGEST_LINE = 500
_LONGEST_NAME = 100
_LONGEST_LIST = 3000

# Replace characters of the data that hide, reorder or command others.

# C0 except tab and line feed, DEL, C1, surrogates, non-characters; the line separators of Unicode; what reorders
# (embeddings, overrides, isolates); what has no width and no use in any script (zero-width space, word joiner,
# byte-order mark, annotations, tags). Marks and joiners that Arabic, Hebrew, Persian and Indic texts need are kept.
_HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_BREAKING = re.compile("[\t\n]")
# What the scripts of the world need and a name on a terminal may hide behind: soft hyphen, joiners, marks of direction,
# fillers without width.
_UNSEEN = re.compile("[\t\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200c-\u200f\u3164\uffa0]")


def visible(text: str) -> str:
    """Return `text` with a visible sign for each character that XML forbids, or that hides or reorders others."""
    return _HIDING.sub(_sign, text)


def on_one_line(text: str) -> str:
    """Return `visible(text)` with signs for tabs and line feeds too."""
    return _BREAKING.sub(_sign, visible(text))


def visible_to_people(text: str) -> str:
    """Return `visible(text)` with signs for all other invisible characters but the line feed."""
    return _UNSEEN.sub(_sign, visible(text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    # U+2400 to U+241F are symbols for the control characters; U+FFFD replaces characters without a symbol.
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def shortened(text: str, width: int) -> str:
    """Return `text` on one line, visible, and cut to `width` columns; wide characters (Chinese) take two."""
    text = visible(" ".join(text.split()))
    ends = list(accumulate(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text))
    is_short = text == "" or ends[-1] <= width
    return text if is_short else text[: sum(end < width for end in ends)].rstrip() + "…"


# Suggest the nearest name for a misspelt word.


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice closest to `word` but for case and white space (`difflib` ratio of at least .6), or None."""
    folded = {choice.strip().casefold(): choice for choice in reversed([*choices])}  # the first of those that are alike
    matches = difflib.get_close_matches(word.strip().casefold()[:200], folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or an empty text if no choice is close."""
    choice = nearest(word, choices)
    return "" if choice is None else f" Did you mean {choice[:_LONGEST_NAME]!r}?"


# Texts of cells in messages, which a summary for programs masks.

_CELLS: ContextVar[set[str] | None] = ContextVar("clinclust_cells", default=None)


def show_cells(text: str) -> str:
    """Return a part of a message that shows texts of cells, and that `mask_cells` masks."""
    if (texts := _CELLS.get()) is not None:
        texts.add(text)
    return text


def collect_cells() -> set[str]:
    """Return the set to which `show_cells` adds what it shows from now on in this context."""
    texts: set[str] = set()
    _CELLS.set(texts)
    return texts


def mask_cells(value: Any, texts: Iterable[str]) -> Any:
    """Return a text, or lists and dictionaries of texts, with ``***`` in the place of these texts."""
    if isinstance(value, dict):
        return {key: mask_cells(inner, texts) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_cells(inner, texts) for inner in value]
    if isinstance(value, str):
        for text in (texts := sorted(texts, key=len, reverse=True)):
            value = value.replace(text, "***")
        for cut in ("...", " ... (cut)"):  # a long message may end in the midst of a cell
            for text in texts if cut in value else ():
                for end in range(len(text) - 1, 1, -1):
                    value = value.replace(text[:end] + cut, f"***{cut}")
    return value


# Exceptions and warnings.


def _list_problems(heading: str, lines: Sequence[str], attribute: str) -> tuple[str, str]:
    """Return a message of the heading and the first lines, each cut, and where Python has all of them."""
    cut = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "..." for line in lines[:_SHOWN_FAILURES]]
    items = ["  - " + line.replace("\n", "\n      ") for line in cut]
    shown = [item for item, end in zip(items, accumulate(map(len, items)), strict=True) if end <= _LONGEST_LIST]
    if (n_more := len(lines) - len(shown)) == 0:
        return "\n".join([heading, *shown]), ""
    more = f"  ... and {n_more} more; repair these first, and look again"
    return "\n".join([heading, *shown, more]), f"\n  (the `{attribute}` attribute of this error holds all)"


class InputError(ValueError):
    """The input (a file, a table or a parameter) cannot be used; the message says how to repair it.

    `at_command_line` is the message without its end that only helps in Python.
    """

    def __init__(self, message: str = "", in_python: str = "") -> None:
        self.at_command_line = visible(str(message))
        super().__init__(self.at_command_line + visible(in_python))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let a process of its own hand its error over unchanged."""
        return type(self).__new__, (type(self), *self.args), self.__dict__


def refuse(problems: Iterable[str]) -> None:
    """Raise InputError with all problems, if there are any."""
    if message := "; ".join(problems):
        raise InputError(message)


class NotFittedError(InputError, AttributeError):
    """A fitted result was asked of a model before its fit; also scikit-learn's `NotFittedError` if that is imported."""


def not_fitted(message: str) -> NotFittedError:
    """Return the error, also as an instance of scikit-learn's `NotFittedError` if scikit-learn is imported."""
    exceptions = sys.modules.get("sklearn.exceptions")
    return NotFittedError(message) if exceptions is None else _both(exceptions.NotFittedError)(message)


@cache
def _both(theirs: type[Exception]) -> type[NotFittedError]:
    return type("NotFittedError", (NotFittedError, theirs), {"__reduce__": lambda error: (not_fitted, error.args)})


class MissingPackageError(ImportError):
    """An optional package is not installed. The message says how to install it."""


def missing_package(need: str, package: str) -> MissingPackageError:
    """Return the error that `need`, the subject of a sentence, needs this package of PyPI."""
    return MissingPackageError(f"{need} needs {package}: pip install {package}")


class SchemaError(InputError):
    """The feature schema cannot be used.

    Attributes
    ----------
    problems : tuple of str
        All problems, one sentence each, with the line number if the schema was read from a file.
    source : str or None
        The file that the schema was read from.

    Examples
    --------
    >>> import clinclust as cc
    >>> try:
    ...     cc.FeatureSchema([cc.Feature(name="tremor", likelihood="binomial", trial=4)])
    ... except cc.SchemaError as error:
    ...     print(error.problems[0])
    tremor: trial: unknown key. Did you mean 'trials'?
    """

    def __init__(self, problems: list[str] | str, source: str | None = None) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        self.source = source
        count = len(self.problems)
        subject = "The feature schema" if source is None else f"The feature schema {source}"
        heading = f"{subject} has {'a problem' if count == 1 else f'{count} problems'}:"
        super().__init__(*_list_problems(heading, self.problems, "problems"))


class CohortError(InputError):
    """The cohort table does not fit its schema.

    Attributes
    ----------
    failures : pandas.DataFrame
        One row per column and kind of failure: ``column``, ``expected``, ``rows`` (their number), ``first_rows`` (index
        labels), ``examples`` (values at fault) and ``repair``. Of a table in partitions also ``partition``, from 0; -1
        is all.
    failure_cases : pandas.DataFrame
        The first cell at fault of each failure under the names of pandera: ``schema_context``, ``column``, ``check``,
        ``failure_case`` and ``index``.

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

    def __init__(self, failures: pd.DataFrame, source: str | None = None) -> None:
        self.failures = failures.reset_index(drop=True)
        self.source = source
        count = len(self.failures)
        subject = "The cohort" if source is None else f"The cohort {source}"
        heading = f"{subject} does not fit the schema; {count} problem{'' if count == 1 else 's'}:"
        shown = [_describe(failure) for failure in self.failures.head(_SHOWN_FAILURES).to_dict("records")]
        super().__init__(*_list_problems(heading, shown + [""] * (count - len(shown)), "failures"))

    @property
    def failure_cases(self) -> pd.DataFrame:
        """The first cell at fault of each failure, under the names of pandera."""
        import pandas as pd

        contexts = ["DataFrameSchema" if column == "the table" else "Column" for column in self.failures["column"]]
        cases = {"schema_context": contexts, "column": self.failures["column"], "check": self.failures["expected"]}
        for name, cells in (("failure_case", self.failures["examples"]), ("index", self.failures["first_rows"])):
            cases[name] = [next(iter(of_failure), None) for of_failure in cells]
        return pd.DataFrame(cases, dtype=object)


def _describe(failure: dict[Hashable, Any]) -> str:
    partition = failure.get("partition", -1)
    where = "" if partition == -1 else f" ({partition if isinstance(partition, str) else f'partition {partition}'})"
    column, rows = shortened(str(failure["column"]), _LONGEST_NAME), failure["rows"]
    sentence = f"{column}{where}: expected {failure['expected']}"
    if rows:
        first = ", ".join(on_one_line(str(row)) for row in failure["first_rows"])
        sentence += f"; {rows} row{'' if rows == 1 else 's'} (first: {first})"
    if failure["examples"]:
        cells = ", ".join(repr(value) for value in failure["examples"])
        sentence += show_cells(f" hold{'s' if rows == 1 else ''} {cells}")
    return f"{sentence}. {failure['repair']}"


class CohortWarning(UserWarning):
    """A property of the cohort that does not stop the analysis, but limits its interpretation.

    Examples
    --------
    A feature with one value is uninformative:

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

    def __init__(self, message: str = "") -> None:
        super().__init__(visible(str(message)))


def warn(message: str) -> None:
    """Issue a CohortWarning that points to the line which called clinclust, whatever layers lie between."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, CohortWarning, stacklevel=level)


def describe_bug(error: BaseException, command: str, versions: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines to send about a bug, without messages or variables, which may hold data of patients."""
    yield "Please send the lines below to the maintainers of clinclust; they hold no value of your table."
    yield "-" * 40
    yield f"command: {command}"
    yield ", ".join(f"{name} {version}" for name, version in versions.items())
    yield f"{platform.system()} {platform.machine()}"
    cause: BaseException | None = error
    while cause is not None:
        yield type(cause).__name__
        for frame, line in traceback.walk_tb(cause.__traceback__):
            yield f"  {frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
        if cause is not None:
            yield "after"
    yield "-" * 40
    yield f"`clinclust --debug {command} ...` shows the whole message, which may hold values of your table."
