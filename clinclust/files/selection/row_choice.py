"""RowChoice: which rows of a table are the cohort, in words that a schema and a saved model can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast, get_args

from clinclust.control_characters import on_one_line
from clinclust.errors import InputError
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.condition import parsed
from clinclust.files.selection.dates import DATE_ORDERS, DateOrder
from clinclust.nearest import did_you_mean

__all__ = ["KEPT", "ChoiceError", "Keep", "RowChoice"]

Keep = Literal["first", "last", "mean"]
KEPT: tuple[str, ...] = get_args(Keep)
"""What may be kept of the rows of a subject."""
_MOST_NAMED = 6
_WORDS: Mapping[str, tuple[str, ...]] = {"keep": KEPT, "dates": DATE_ORDERS}


class ChoiceError(InputError):
    """Rows cannot be chosen as somebody asked."""


@dataclass(frozen=True)
class RowChoice:
    """Which rows to keep. Without any field, all are.

    Examples
    --------
    >>> from clinclust.files.selection.row_choice import RowChoice
    >>> choice = RowChoice(where="visit == 'baseline'")
    >>> choice.as_dict()
    {'where': "visit == 'baseline'"}
    >>> RowChoice.from_dict(choice.as_dict()) == choice, bool(choice), bool(RowChoice())
    (True, True, False)
    """

    where: str | None = None
    """A condition; see `clinclust.files.selection.condition`."""
    one_row_per: str | None = None
    """The column that says whose row it is."""
    keep: Keep = "first"
    """Which of the rows of one subject; ``mean`` is the first row, with the mean of all rows in some columns."""
    by: str | None = None
    """The column by whose numbers or dates the rows of a subject are ordered; otherwise by their order in the file."""
    dates: DateOrder | None = None
    """How dates such as 03/04/2020 are read, where no other date tells it."""
    rows: str | None = None
    """The rows of the sheet that hold the subjects, such as ``2-61,66-``. The other fields choose among these."""
    averaged: tuple[str, ...] | None = None
    """With ``keep="mean"``, the columns of which the mean is taken; None if the table decides."""

    def __bool__(self) -> bool:
        """Return whether any row is left out."""
        return self.rows is not None or self.by_values is not None

    @property
    def by_values(self) -> RowChoice | None:
        """The part of it that chooses rows by what they hold, in any sheet; None if it has none."""
        return replace(self, rows=None) if self.where is not None or self.one_row_per is not None else None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are not the default, by name."""
        said = {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}
        return said if self.averaged is None else said | {"averaged": list(self.averaged)}

    @classmethod
    def from_dict(cls, given: object) -> RowChoice:
        """Return the choice that `as_dict` wrote.

        Raises
        ------
        InputError
            If it is none. The message lists all problems.
        """
        problems = _problems(given)
        if problems:
            raise InputError("; ".join(problems))
        return cls(**_with_tuple(cast("Mapping[str, Any]", given)))

    def problems(self) -> list[str]:
        """Return what of it makes no sense without the rest."""
        problems = []
        if self.one_row_per is None:
            problems = [
                f"{option} says which row of a subject stays: give --one-row-per with the column of the subjects too"
                for option, is_given in (("--keep", self.keep != "first"), ("--by", self.by is not None))
                if is_given
            ]
        if self.averaged is not None and self.keep != "mean":
            problems.append("--averaged names the columns of which --keep mean takes the mean: give --keep mean too")
        if self.dates is not None and self.where is None and self.by is None:
            problems.append("--dates says how --where and --by read dates: give one of these too")
        return problems

    def agrees_with(self, other: RowChoice) -> bool:
        """Return whether both choose the same rows.

        Spaces in a condition make no difference, nor does what a table tells if only one of them says it: the order of
        dates, and the columns that are averaged.
        """
        same = (self.one_row_per, self.keep, self.by) == (other.one_row_per, other.keep, other.by)
        dates = {self.dates, other.dates} - {None}
        averaged = {frozenset(names) for names in (self.averaged, other.averaged) if names is not None}
        same &= len(dates) < 2 and len(averaged) < 2 and self.ranges() == other.ranges()
        return same and self.condition() == other.condition()

    def follows(self, said: RowChoice) -> bool:
        """Return whether it agrees with all that somebody said of the rows; what nobody said it may choose."""
        mine = self if said.by_values is not None else RowChoice(rows=self.rows)
        return (mine if said.rows is not None else replace(mine, rows=None)).agrees_with(said)

    def completed_by(self, said: RowChoice) -> RowChoice:
        """Return this choice, and what somebody said of the rows where it says nothing itself."""
        chosen = said if self.by_values is None and set(self.as_dict()) <= {"dates", "rows"} else self
        is_same = self.by_values is None or (said.by_values is not None and self.by_values.agrees_with(said.by_values))
        if is_same:  # what a table told of dates and columns when somebody said this
            averaged = chosen.averaged if chosen.averaged is not None else said.averaged
            chosen = replace(chosen, averaged=averaged)
        return replace(chosen, dates=self.dates or (said.dates if is_same else None), rows=self.rows or said.rows)

    def condition(self) -> object:
        """Return what the condition says, if there is one."""
        return None if self.where is None else parsed(self.where)

    def ranges(self) -> object:
        """Return the first and last rows of the ranges of the sheet, if there are any."""
        ranges = None if self.rows is None else RowRanges.parsed(self.rows)
        return ranges and (ranges.firsts, ranges.lasts)

    def in_words(self) -> str:
        """Return which rows they are, in words that follow "the rows taken are"."""
        return ", and ".join(self.phrases().values()) or "all rows"

    def phrases(self) -> dict[str, str]:
        """Return the words for the rows of the sheet, the condition and the row of each subject, by field, if any."""
        said = {}
        if self.rows is not None:
            said["rows"] = f"rows {on_one_line(self.rows)} of the sheet"
        if self.where is not None:
            said["where"] = f"those where {on_one_line(self.where.strip())}"
        if self.one_row_per is not None:
            said["one_row_per"] = f"one row for each {on_one_line(self.one_row_per)}, {self._which_row()}"
        return said

    def _which_row(self) -> str:
        by = "in the file" if self.by is None else f"by {on_one_line(self.by)}"
        if self.keep != "mean":
            return f"the {self.keep} {by}"
        names = list(map(on_one_line, self.averaged or ["every measurement"]))
        few = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        shown = few if len(names) <= _MOST_NAMED else listed(names)
        return f"the mean of its rows in {shown}, and the first {by} otherwise"


def _with_tuple(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a choice with names of columns as a tuple, which can be hashed."""
    averaged = given.get("averaged")
    return {**given, "averaged": None if averaged is None else tuple(averaged)}


def _problems(given: object) -> list[str]:
    """Return one sentence for each part of a choice that cannot be used."""
    if not isinstance(given, Mapping):
        return [f"must say which rows are taken, such as {{where: \"visit == 'baseline'\"}}, not {quoted(given)}"]
    names = [field.name for field in fields(RowChoice)]
    problems = []
    for name, value in given.items():
        if name not in names:
            hint = did_you_mean(str(name), names)
            problems.append(f"{quoted(str(name))} is no part of it.{hint} Parts are {', '.join(names)}")
        elif value is None:
            continue
        elif name in _WORDS and value not in _WORDS[name]:
            problems.append(f"{name} must be {' or '.join(_WORDS[name])}, not {quoted(value)}")
        elif name == "averaged" and not (isinstance(value, list | tuple) and value and all(map(_is_text, value))):
            problems.append(f"averaged must be a list of names of columns, such as [sbp, crp], not {quoted(value)}")
        elif name in ("where", "one_row_per", "by", "rows") and not _is_text(value):
            problems.append(f"{name} must be a text that is not empty, not {quoted(value)}")
    if problems:
        return problems
    choice = RowChoice(**_with_tuple(given))
    problems = choice.problems()
    for read in (choice.condition, choice.ranges):
        try:
            read()
        except InputError as error:
            problems.append(str(error).replace("--rows", "rows", 1))
    return problems


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
