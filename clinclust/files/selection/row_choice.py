"""RowChoice: which rows of a table are the cohort, in words that a schema and a saved model can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from clinclust.control_characters import on_one_line
from clinclust.errors import InputError
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.listed import quoted
from clinclust.files.selection.condition import parsed
from clinclust.files.selection.dates import DATE_ORDERS, DateOrder
from clinclust.nearest import did_you_mean

__all__ = ["Keep", "RowChoice"]

Keep = Literal["first", "last"]
_TEXTS = ("where", "one_row_per", "by", "rows")
_WORDS = {"keep": ("first", "last"), "dates": DATE_ORDERS}


@dataclass(frozen=True)
class RowChoice:
    """Which rows to keep. Without any field, all are.

    Attributes
    ----------
    where : str or None
        A condition; see `clinclust.files.selection.condition`.
    one_row_per : str or None
        The column that says whose row it is.
    keep : {"first", "last"}
        Which of the rows of one subject.
    by : str or None
        The column by whose numbers or dates the rows of a subject are ordered; otherwise by their order in the file.
    dates : {"day-first", "month-first"} or None
        How dates such as 03/04/2020 are read, where no other date tells it.
    rows : str or None
        The rows of the sheet that hold the subjects, such as ``2-61,66-``; see
        `clinclust.files.layout.row_ranges`. The other fields choose among these.

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
    one_row_per: str | None = None
    keep: Keep = "first"
    by: str | None = None
    dates: DateOrder | None = None
    rows: str | None = None

    def __bool__(self) -> bool:
        """Return whether any row is left out."""
        return self.rows is not None or self.by_values is not None

    @property
    def by_values(self) -> RowChoice | None:
        """The part of it that chooses rows by what they hold, in any sheet; None if it has none."""
        return replace(self, rows=None) if self.where is not None or self.one_row_per is not None else None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are not the default, by name."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}

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
        return cls(**dict(given))  # type: ignore[call-overload]

    def problems(self) -> list[str]:
        """Return what of it makes no sense without the rest."""
        problems = []
        if self.one_row_per is None:
            problems = [
                f"{option} says which row of a subject stays: give --one-row-per with the column of the subjects too"
                for option, is_given in (("--keep", self.keep != "first"), ("--by", self.by is not None))
                if is_given
            ]
        if self.dates is not None and self.where is None and self.by is None:
            problems.append("--dates says how --where and --by read dates: give one of these too")
        return problems

    def agrees_with(self, other: RowChoice) -> bool:
        """Return whether both choose the same rows.

        Spaces in a condition make no difference, nor does the order of dates if only one of them says it.
        """
        same = replace(self, where=None, dates=None, rows=None) == replace(other, where=None, dates=None, rows=None)
        dates = {self.dates, other.dates} - {None}
        same &= len(dates) < 2 and self._ranges() == other._ranges()
        return same and self._condition() == other._condition()

    def follows(self, said: RowChoice) -> bool:
        """Return whether it agrees with all that somebody said of the rows; what nobody said it may choose."""
        mine = self if said.by_values is not None else RowChoice(rows=self.rows)
        return (mine if said.rows is not None else replace(mine, rows=None)).agrees_with(said)

    def completed_by(self, said: RowChoice) -> RowChoice:
        """Return this choice, and what somebody said of the rows where it says nothing itself."""
        chosen = said if self.by_values is None and set(self.as_dict()) <= {"dates", "rows"} else self
        is_same = self.by_values is None or (said.by_values is not None and self.by_values.agrees_with(said.by_values))
        return replace(chosen, dates=self.dates or (said.dates if is_same else None), rows=self.rows or said.rows)

    def _condition(self) -> object:
        return None if self.where is None else parsed(self.where)

    def _ranges(self) -> object:
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
            by = "in the file" if self.by is None else f"by {on_one_line(self.by)}"
            said["one_row_per"] = f"one row for each {on_one_line(self.one_row_per)}, the {self.keep} {by}"
        return said


def _problems(given: object) -> list[str]:
    """Return one sentence for each part of a choice that cannot be used."""
    if not isinstance(given, Mapping):
        return [f"must say which rows are taken, such as {{where: \"visit == 'baseline'\"}}, not {quoted(given)}"]
    names = [field.name for field in fields(RowChoice)]
    problems = [
        f"{quoted(str(key))} is no part of it.{did_you_mean(str(key), names)} Parts are {', '.join(names)}"
        for key in given
        if key not in names
    ]
    for name in _TEXTS:
        if given.get(name) is not None and not (isinstance(given[name], str) and given[name].strip()):
            problems.append(f"{name} must be a text that is not empty, not {quoted(given[name])}")
    for name, words in _WORDS.items():
        if name in given and given[name] is not None and given[name] not in words:
            problems.append(f"{name} must be {' or '.join(words)}, not {quoted(given[name])}")
    if problems:
        return problems
    problems = [*RowChoice(**dict(given)).problems(), *_problems_of_condition(given.get("where"))]
    return problems + _problems_of_ranges(given.get("rows"))


def _problems_of_ranges(rows: str | None) -> list[str]:
    try:
        RowRanges.parsed(rows or "1-")
    except InputError as error:
        return [str(error).removeprefix("--")]
    return []


def _problems_of_condition(where: Any) -> list[str]:
    try:
        parsed(where or "a == 1")
    except InputError as error:
        return [str(error)]
    return []
