"""Tables of one row a subject: continuum scores, assignments, and completed tables."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import accepting
from clinclust.arrays import Array, Code
from clinclust.engine.continuum.null_cohorts import (
    expected_score,
    first_axis,
    nearest_correlation,
    normal_scores,
    reliable_correlations,
    whole_columns,
    with_unit_diagonal,
)
from clinclust.errors import CohortError, InputError
from clinclust.estimators.explanation import reasons_of_cohort, reasons_of_new
from clinclust.estimators.mapdp import MAPDP, NONE_OF_THESE
from clinclust.estimators.prediction import (
    NONE_COLUMN,
    notes_on_new_subjects,
    rows_at_fault,
    subtype_columns,
    without_unseen,
)
from clinclust.estimators.subtype_model import FittedCohort, cohort_of, fitted_problem, require_search
from clinclust.files.writing import atomic_write
from clinclust.reporting.divisions import n_parted
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel


# The continuum score: the position of each subject along the main axis of a cohort, for where subtypes are none.

CONTINUUM_SCORE = "continuum_score"
"""Name of the column of the score."""
_BEYOND_CHANCE = 1.25
"""Multiple of the share of the variance by chance below which the score says nothing."""
_DECIMALS = 6
"""Further decimals depend on the order in which a linear algebra library sums."""


@dataclass(frozen=True)
class Continuum:
    """The main axis of a cohort.

    `score` is (N,), mean 0 and SD 1, NaN where nothing is observed; `correlations` are of the normal scores of each
    feature with it, the strongest first; `share`, 0 to 1, is that of the variance along the axis.
    """

    score: Array
    correlations: pd.Series[float]
    share: float

    @property
    def share_by_chance(self) -> float:
        """The share of independent features, 0 to 1: that of the largest eigenvalue, about (1 + (D / N)^(1/2))^2."""
        n_features, n_subjects = len(self.correlations), int(np.isfinite(self.score).sum())
        return min(float((1.0 + np.sqrt(n_features / max(n_subjects, 1))) ** 2 / max(n_features, 1)), 1.0)

    @property
    def is_by_chance(self) -> bool:
        """Whether the features hardly depend on each other, so that the score orders subjects by chance."""
        return len(self.correlations) > 1 and self.share < _BEYOND_CHANCE * self.share_by_chance


@accepting()
def continuum_score(model: SubtypeModel, frame: pd.DataFrame) -> pd.Series[float]:
    """Return the position of each subject along the main axis of the cohort, such as its severity.

    It is the first principal component (Hotelling 1933, Journal of Educational Psychology 24, 417-441) of the normal
    scores of the features that were clustered on: the value with mid-rank r of n becomes Phi^-1((r - 1/2) / n).

    Parameters
    ----------
    model : MAPDP
        A fitted model.
    frame : DataFrame, N rows
        The cohort of the fit. Rows in another order than at the fit are put back into it.

    Returns
    -------
    Series, N rows
        Named `continuum_score`, with the index of the cohort in the order of the fit; mean 0, standard deviation 1.
        NaN for a subject of whom nothing is observed.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, or `frame` is not its cohort.

    Warns
    -----
    CohortWarning
        If the rows of `frame` were in another order than at the fit.

    Notes
    -----
    Most features increase with the score. Where values are missing or outlying, it is the expectation given the other
    values. The levels of a nominal feature are ordered along the axis. Scores of two cohorts do not compare.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> severity = rng.normal(size=80)
    >>> frame = pd.DataFrame(severity[:, None] + 0.7 * rng.normal(size=(80, 6)), columns=list("abcdef"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, random_state=0).fit(frame)
    >>> score = cc.continuum_score(model, frame)
    >>> bool(np.corrcoef(score, severity)[0, 1] > 0.9)
    True
    """
    require_search(model, "continuum_score")
    cohort = cohort_of(model, frame, stacklevel=3)
    return pd.Series(find_continuum(cohort).score, index=cohort.table.index, name=CONTINUUM_SCORE)


def find_continuum(cohort: FittedCohort) -> Continuum:
    """Return the main axis of the cohort of a MAP-DP search."""
    encoded = fitted_problem(cohort.fit, cohort.table, coarsening=1.0).cohort
    features = encoded.encoding.features
    if not features:
        return Continuum(np.full(len(cohort.table), np.nan), pd.Series(dtype=np.float64), 0.0)
    columns, members = whole_columns(encoded)
    scores = np.column_stack([normal_scores(column) for column in columns])
    correlation = nearest_correlation(with_unit_diagonal(reliable_correlations(scores)))
    axis, variance = first_axis(correlation)
    is_nominal = np.array([len(of) == 1 and features[of[0]].traits.is_nominal for of in members])
    axis = axis * _direction(axis[~is_nominal])
    score = _standardised(expected_score(scores, correlation, axis))
    found = np.array([_correlation(column, score) for column in scores.T])
    found = np.where(is_nominal, np.abs(found), found)  # the order of its levels has no direction of its own
    strongest = np.argsort(-np.abs(found), kind="stable")
    names = [features[members[place][0]].column for place in strongest]
    return Continuum(
        encoded.in_table_order(np.round(score, _DECIMALS)),
        pd.Series(found[strongest], index=names, name="correlation"),
        variance / len(members),
    )


def _direction(axis: Array) -> float:
    """Return the sign that lets most entries be positive; where as many are negative, their sum."""
    balance = float(np.sign(axis).sum()) or float(axis.sum())
    return -1.0 if balance < 0.0 else 1.0


def _standardised(score: Array) -> Array:
    seen = ~np.isnan(score)
    spread = float(score[seen].std()) if seen.any() else 0.0
    return (score - score[seen].mean()) / spread if spread > 0.0 else np.where(seen, 0.0, np.nan)


def _correlation(column: Array, score: Array) -> float:
    """Return the correlation of two columns where both are observed; 0 if one does not vary there."""
    both = ~np.isnan(column) & ~np.isnan(score)
    if not both.any():
        return 0.0
    one, other = column[both] - column[both].mean(), score[both] - score[both].mean()
    length = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / length if length > 0.0 else 0.0


# Write the subtype of each subject as a csv file for other programs.

# The rule: an apostrophe is put before each character that could begin a formula. It could where the text begins, and
# after a comma, semicolon, bar, tab or line break inside, where a program may divide the field that takes another
# separator or ignores the quotes. White space, quotes and characters that are not seen may come between. `=`, `@`, `+`
# and `-` begin formulas, and so do their wide and small forms; a signed number stays as it is.
_UNSEEN = "\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_PLACE = rf"(?:^|[,;|\t\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])[\s\"'{_UNSEEN}]*+"
_SIGNED_NUMBER = r"[+-](?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?=$|[,;|\t\n\r])"
_START = rf"(?!{_SIGNED_NUMBER})[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋]"
_LIVE = re.compile(rf"({_PLACE})(?={_START})")
SPEAKS_FOR_IT = "speaks_for_it"
"""Name of the column that says which features speak for the subtype of a subject."""
_NEEDS_QUOTES = re.compile('[",\r\n]|^\ufeff')  # a byte-order mark without a quote before it is read as none


def inert_text(text: str) -> str:
    """Return the text with an apostrophe before each character that could begin a formula."""
    return _LIVE.sub(r"\1'", text)


def assignment_table(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    labels: NDArray[np.int64],
    membership: NDArray[np.float64],
    none_of_these: NDArray[np.float64] | None = None,
    assigned: NDArray[np.bool_] | None = None,
    continuum_score: NDArray[np.float64] | None = None,
    described_only: NDArray[np.bool_] | None = None,
    reasons: Sequence[str] | None = None,
    codes: Sequence[Code] | None = None,
) -> pd.DataFrame:
    """Return one row for each subject: its identifiers, its subtype (0: none of these) and the probabilities.

    `labels` (N,) are from 0, -1 = none of these; `codes` (K,) are what the subtypes are called, by default 1 .. K;
    `membership` is (N, K). `assigned`, bool (rows of `frame`,), says which subjects these are of; `described_only`,
    bool (K,), marks subtypes with too few subjects to be tested. The columns are the same whatever is given, so that a
    program can read any such table.
    """
    n, n_subtypes = membership.shape
    codes = range(1, n_subtypes + 1) if codes is None else codes
    of_each = dict(zip(subtype_columns(codes), membership.T, strict=True))
    of_each[NONE_COLUMN] = np.zeros(n) if none_of_these is None else none_of_these
    every = np.column_stack(list(of_each.values()))
    few = np.zeros(n_subtypes + 1, dtype=np.bool_) if described_only is None else np.append(described_only, False)
    has_grades = isinstance(codes[0], str)
    found = pd.DataFrame(
        {
            "subtype": pd.array(np.array([*codes, 0])[labels], dtype="string" if has_grades else "Int64"),
            "probability": every[np.arange(n), labels],  # the label -1 indexes the last column, none of these
            "assigned": "yes",
            "few_subjects": np.where(few[labels], "yes", "no"),
            **of_each,
            CONTINUUM_SCORE: np.full(n, np.nan) if continuum_score is None else continuum_score,
            SPEAKS_FOR_IT: [""] * n if reasons is None else list(reasons),
        }
    )
    if assigned is not None:
        found = found.set_axis(np.flatnonzero(assigned), axis="index").reindex(np.arange(assigned.size))
        found["assigned"] = np.where(assigned, "yes", "no")
    # A name that two columns of the table share does not identify a column, so it is left out.
    names = [feature.name for feature in schema.ids if list(frame.columns).count(feature.name) == 1]
    identifiers = {f"{name}_id" if name in found else name: frame[name].to_numpy() for name in names}
    return pd.concat([pd.DataFrame(identifiers or {"row": frame.index.to_numpy()}), found], axis="columns")


def tabulate_assignments(cohort: FittedCohort, *, explained: bool = False) -> pd.DataFrame:
    """Return the assignment table of a fit; with `explained`, also the features that speak for the subtype of each."""
    fit = cohort.fit
    return assignment_table(
        cohort.table,
        cohort.schema,
        cohort.labels,
        fit.membership_,
        continuum_score=find_continuum(cohort).score if n_parted(fit) == 1 else None,
        described_only=fit.untested_,
        reasons=reasons_of_cohort(cohort) if explained else None,
        codes=fit.codes_,
    )


def tabulate_new_subjects(
    model: MAPDP, frame: pd.DataFrame, *, take_for_missing: bool = False, explained: bool = False
) -> tuple[pd.DataFrame, CohortError | None, list[str]]:
    """Return the assignment table of new subjects, the error of those not assigned, and notes on their table.

    Subjects with values that the model does not know are not assigned, unless these are to `take_for_missing`;
    CohortError if no subject can be assigned.
    """
    schema, notes = model.schema_needed, []
    assignable = frame
    if take_for_missing:
        assignable, note = without_unseen(schema, frame)
        notes = [note] * bool(note)
    at_fault, error = rows_at_fault(schema, assignable)
    is_part = bool(at_fault.any() and not at_fault.all())
    assignable = assignable[~at_fault] if is_part else assignable
    probabilities = model.predict_proba(assignable)
    labels = probabilities.argmax(axis=1)
    table = assignment_table(
        frame,
        model.schema_,
        np.where(labels == model.n_clusters_, NONE_OF_THESE, labels),
        probabilities[:, :-1],
        probabilities[:, -1],
        ~at_fault if is_part else None,
        described_only=model.untested_,
        reasons=reasons_of_new(model.fit_, schema.validate(assignable, warn=False)) if explained else None,
        codes=model.codes_,
    )
    return table, error if is_part else None, [*notes, *notes_on_new_subjects(model.fit_, assignable)]


def write_inert_csv(table: pd.DataFrame, target: str | os.PathLike[str] | TextIO) -> None:
    """Write a table as csv to a file or stream, so that no text is read as a formula (see `inert_text`)."""
    columns = [_fields(table.iloc[:, place]) for place in range(table.shape[1])]
    lines = (",".join(fields) + "\n" for fields in zip(*columns, strict=True))
    header = ",".join(_field(str(name)) for name in table.columns) + "\n"
    if isinstance(target, str | os.PathLike):
        with atomic_write(target) as path, path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(header)
            file.writelines(lines)
    else:
        target.write(header)
        target.writelines(lines)


def _fields(column: pd.Series) -> list[str]:
    missing = column.isna().to_numpy()
    is_number = pd.api.types.is_numeric_dtype(column)
    texts = (str(value) if is_number else _field(str(value)) for value in column.tolist())
    return ["" if absent else text for absent, text in zip(missing, texts, strict=True)]


def _field(text: str) -> str:
    text = inert_text(text)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


# Tables with missing values filled in, as files: with what was filled in each row.

IMPUTATION, FILLED = "imputation", "filled_columns"
"""Columns that are added: the number of the table, from 1, and the names of the columns filled in this row."""
SUFFIXES = (".csv", ".xlsx", ".parquet")
_DIGITS = 6
_MOST_ROWS = 1_048_576


def problems_of_file(path: Path, n_rows: int) -> list[str]:
    """Return why a file of this name cannot hold so many rows."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx" and n_rows >= _MOST_ROWS:
        return [f"{path} would have {n_rows:,} rows, and a sheet holds {_MOST_ROWS - 1:,}; write .csv or .parquet"]
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        return [f"{path} needs the package pyarrow: pip install pyarrow; or write .csv"]
    return []


def completed_table(frame: pd.DataFrame, schema: FeatureSchema, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the table as it was read with its missing cells filled, once for each imputation, one below the other.

    Columns that the schema does not model stay as they were read; the cells of others are those that it validates.
    """
    taken = [name for name in (IMPUTATION, FILLED) if name in frame]
    if taken:
        raise InputError(f"the table has a column {' and a column '.join(map(repr, taken))}, which is added; rename it")
    seen = schema.validate(frame, warn=False)
    missing = _filled(seen, schema, tables[0])
    names = np.array([""] * len(frame), dtype=object)
    for name, rows in missing.items():
        names[rows] = [f"{before}; {name}" if before else name for before in names[rows]]
    sources = []
    for number, table in enumerate(tables, start=1):
        filled = frame.copy()
        for name, rows in missing.items():
            column = table[name]
            if pd.api.types.is_float_dtype(column) and np.isinf(column).any():  # beyond a limit of detection
                cells = filled[name].astype(object)
                cells.iloc[rows] = _as_written(column.iloc[rows], seen[name], frame[name])
                filled[name] = cells.map(str)
            else:
                filled[name] = _in_few_digits(column, rows)
        filled.insert(0, IMPUTATION, number)
        filled[FILLED] = names
        sources.append(filled)
    return pd.concat(sources)


def _filled(seen: pd.DataFrame, schema: FeatureSchema, table: pd.DataFrame) -> dict[str, NDArray[np.int64]]:
    """Return the rows in which each column of a validated table is filled in a completed one, int64 (n,)."""
    return {
        feature.name: np.flatnonzero(seen[feature.name].isna() & table[feature.name].notna())
        for feature in schema.reported
    }


def _in_few_digits(column: pd.Series[Any], rows: NDArray[np.int64]) -> pd.Series[Any]:
    """Return a column of numbers with the drawn ones in six digits."""
    if not pd.api.types.is_float_dtype(column):
        return column
    column = column.copy()
    column.iloc[rows] = [float(f"{cell:.{_DIGITS}g}") for cell in column.iloc[rows]]
    return column


def _as_written(cells: pd.Series[Any], seen: pd.Series[Any], as_read: pd.Series[Any]) -> list[str]:
    """Return drawn cells in six digits; those beyond a limit of detection as an observed one is written."""
    limits = {cell: str(as_read[(seen == cell).to_numpy()].iloc[0]) for cell in seen.unique() if np.isinf(cell)}
    return [limits[cell] if np.isinf(cell) else f"{cell:.{_DIGITS}g}" for cell in cells]


def filled_cells(frame: pd.DataFrame, schema: FeatureSchema, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return how many cells of each column are filled in each completed table, of how many rows."""
    filled = _filled(schema.validate(frame, warn=False), schema, tables[0])
    rows = [(name, rows.size, len(frame)) for name, rows in filled.items() if rows.size]
    return pd.DataFrame(rows, columns=["column", "filled", "rows"])


def write_completed(table: pd.DataFrame, counts: pd.DataFrame, path: Path) -> None:
    """Write the table of `completed_table` as csv or parquet, or with its `filled_cells` as a workbook."""
    if path.suffix.lower() == ".csv":
        write_inert_csv(table, path)
    elif path.suffix.lower() == ".parquet":
        with atomic_write(path) as target:
            table.to_parquet(target, index=False)
    else:
        with atomic_write(path) as target:
            _write_sheets({"Completed": table, "Filled": counts}, target)


def _write_sheets(tables: dict[str, pd.DataFrame], path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    workbook = Workbook(write_only=True)
    for title, table in tables.items():
        sheet = workbook.create_sheet(title)
        sheet.freeze_panes = "A2"
        for row in [list(table.columns), *table.astype(object).where(table.notna(), None).to_numpy().tolist()]:
            cells = []
            for value in row:
                cell = WriteOnlyCell(sheet, str(value) if isinstance(value, str) else value)
                if isinstance(value, str):
                    cell.data_type = "s"  # never a formula
                cells.append(cell)
            sheet.append(cells)
    workbook.save(path)
