"""`clinclust assign`: assign new subjects to subtypes, and compare them with the cohort of the fit."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.failures import PARTLY, sentence_of
from clinclust.cli.inputs import ModelOptions, RowOptions, about_table, read_model, read_new_table, read_table_of_model
from clinclust.cli.options import Commands, add_command, option, path_given, without
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.sharing import SuppressOptions, refuse_to_share
from clinclust.cli.streams import say, tell, write_data
from clinclust.cli.summary import SummaryOptions, record, record_failure, refuse_output
from clinclust.errors import CohortError, CohortWarning

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drift import Drift
    from clinclust.estimators.mapdp import MAPDP


_OF_DRIFT = ("subtypes", "tests", "features")


@dataclass(kw_only=True)
class _Options(SuppressOptions, ModelOptions, OutputOptions, SummaryOptions):
    unseen: str = option(
        "what to do with subjects who have a value that the model does not know, such as a step beyond a scale: "
        "leave them unassigned, or take the value for missing (default: leave-out)",
        "leave-out",
        choices=("leave-out", "missing"),
    )
    explain: bool = option("say in the last column which features speak most for the subtype of each subject", False)
    cohort: Path | None = option(
        "table of the fit, read with the same options but with the rows of the fit: say whether the new subjects "
        "differ from it in subtypes, missing values and distributions",
        type=path_given,
        metavar="TABLE",
    )


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "assign", "assign new subjects to subtypes", run, _Options)


def run(options: _Options) -> int:
    """Give each subject of a table its most probable subtype; 0 means none of these.

    The rows are chosen as for the fit, unless options choose others. Subjects with a value that the model does not
    know are listed, and not assigned. The subjects of the fit keep its subtypes and probabilities. With --cohort, new
    subjects are compared with the cohort.
    """
    from clinclust.reporting.assignments import write_inert_csv

    refuse_output(options, options.out)
    spare_file(options, (".csv", ".txt"), called="a table of assignments")
    if options.cohort is not None:
        options = refuse_to_share(options, options.model, "--cohort")
    model = read_model(options)
    frame = read_new_table(options, model)
    table, unread = _of_the_fit(options, model, frame), None
    if table is None:
        table, unread = _of_new_subjects(options, model, frame)
    drift = _drift(options, model, frame)
    sizes = table["subtype"].value_counts()
    record(
        out=None if options.out is None else str(options.out),
        subjects=len(table),
        not_assigned=int((table["assigned"] == "no").sum()),
        subtypes={str(subtype): int(sizes.get(subtype, 0)) for subtype in range(model.n_clusters_ + 1)},
        drift=None if drift is None else {name: getattr(drift, name).to_dict("records") for name in _OF_DRIFT},
    )
    if options.out is None:
        written = io.StringIO()
        write_inert_csv(table, written)
        write_data(written.getvalue())
    else:
        write_inert_csv(table, options.out)
        say(f"Wrote {options.out}: {len(table)} subjects")
    if drift is not None:
        _say_drift(options, drift)
    if unread is None:
        return 0
    n_left_out = int((table["assigned"] == "no").sum())
    one = n_left_out == 1
    record_failure(unread, sentence_of(unread), "the subtypes of some subjects")
    tell(
        f"clinclust: {n_left_out} of {len(table)} subjects {'was' if one else 'were'} not assigned (assigned: no), for "
        f"{'a value' if one else 'values'} that the model does not know. {sentence_of(unread)}"
    )
    return PARTLY


def _of_the_fit(options: _Options, model: MAPDP, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the assignments of the fit in the order of the table, with the columns of ``assignments.csv``, or None."""
    from clinclust.estimators.fitted_cohort import rows_of_the_fit
    from clinclust.reporting.assignments import assignments_of

    rows = rows_of_the_fit(model.fit_, frame)
    if rows is None:
        return None
    warnings.warn(
        f"{options.table}: this is the table of the fit; its subjects keep the subtypes and probabilities that the fit "
        "gave them, as in assignments.csv",
        CohortWarning,
        stacklevel=2,
    )
    in_table = rows.argsort()  # `rows` leads from the order of the fit to that of the table
    cohort = model.schema_.validate(frame, warn=False)
    table = assignments_of(model, cohort.iloc[rows], explained=options.explain)
    return table.iloc[in_table].reset_index(drop=True)


def _of_new_subjects(options: _Options, model: MAPDP, frame: pd.DataFrame) -> tuple[pd.DataFrame, CohortError | None]:
    """Return the assignments of new subjects, and the error of those not assigned; raise it if none can be."""
    import numpy as np

    from clinclust.estimators.explanation import reasons_of_new
    from clinclust.estimators.mapdp import NONE_OF_THESE
    from clinclust.estimators.new_subjects import notes_on_new_subjects, rows_at_fault, without_unseen
    from clinclust.files.opening import shown_name
    from clinclust.reporting.assignments import assignment_table

    known, note = frame, ""
    if options.unseen == "missing":
        known, note = without_unseen(model.schema_needed, frame)
    at_fault, error = rows_at_fault(model.schema_needed, known)
    known = known[~at_fault] if at_fault.any() and not at_fault.all() else known
    with about_table(options):
        probabilities = model.predict_proba(known)
    for told in [note] * bool(note) + list(notes_on_new_subjects(model.fit_, known)) + _on_the_score(options, model):
        warnings.warn(f"{options.table}: {told}", CohortWarning, stacklevel=2)
    labels = probabilities.argmax(axis=1)
    labels = np.where(labels == model.n_clusters_, NONE_OF_THESE, labels)
    reasons = None
    if options.explain:
        reasons = reasons_of_new(model.fit_, model.schema_needed.validate(known, warn=False))
    everybody = None if len(known) == len(frame) else ~at_fault
    table = assignment_table(
        frame,
        model.schema_,
        labels,
        probabilities[:, :-1],
        probabilities[:, -1],
        everybody,
        described_only=model.untested_,
        reasons=reasons,
    )
    return table, None if everybody is None else CohortError(error.failures, shown_name(options.table))


def _on_the_score(options: _Options, model: MAPDP) -> list[str]:
    from clinclust.reporting.divisions import n_parted

    if n_parted(model.fit_) != 1:
        return []
    beside = options.model / "assignments.csv"
    where = f"; those of the cohort are in {beside}" if beside.is_file() else ""
    return [
        "the cohort of the model looks like one continuum; new people have no continuum score, which needs the whole "
        f"cohort{where}"
    ]


def _drift(options: _Options, model: MAPDP, new: pd.DataFrame) -> Drift | None:
    if options.cohort is None:
        return None
    from clinclust.drift import assess_drift

    plain = without(options, RowOptions)
    of_cohort = replace(plain, table=options.cohort, only=(), drop=(), all_rows=False)
    frame = read_table_of_model(of_cohort, model)
    with about_table(of_cohort):
        return assess_drift(model, frame, new)


def _say_drift(options: _Options, drift: Drift) -> None:
    lines = drift.summary.split("\n")
    if options.out is not None:
        for line in lines:
            say(line)
    elif not options.quiet:
        tell("\n".join([f"clinclust: {lines[0]}", *lines[1:]]))
