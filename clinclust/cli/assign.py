"""Commands on a fitted model: new subjects, missing values, outcomes, another cohort, other methods."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinclust.cli.inputs import (
    ModelOptions,
    RowOptions,
    about_table,
    read_cohort_of_model,
    read_model,
    read_new_table,
    read_table_of_model,
)
from clinclust.cli.options import Command, number, option, read_path, whole_number, without
from clinclust.cli.outputs import (
    PARTLY,
    OutputOptions,
    SummaryOptions,
    SuppressOptions,
    record,
    record_failure,
    refuse_output,
    refuse_to_share,
    say,
    say_what_is_withheld,
    sentence_of,
    spare_file,
    tell,
    write_data,
)
from clinclust.errors import CohortError, CohortWarning, InputError, refuse

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.drift import Drift
    from clinclust.estimators.mapdp import MAPDP


_OF_DRIFT = ("subtypes", "tests", "features")


@dataclass(kw_only=True)
class AssignOptions(SuppressOptions, ModelOptions, OutputOptions, SummaryOptions):
    """The options of `clinclust assign`."""

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
        type=read_path,
        metavar="TABLE",
    )


def run_assign(options: AssignOptions) -> int:
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
    was, values = ("was", "a value") if n_left_out == 1 else ("were", "values")
    record_failure(unread, sentence_of(unread), "the subtypes of some subjects")
    tell(
        f"clinclust: {n_left_out} of {len(table)} subjects {was} not assigned (assigned: no), for "
        f"{values} that the model does not know. {sentence_of(unread)}"
    )
    return PARTLY


def _of_the_fit(options: AssignOptions, model: MAPDP, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return the assignments of the fit in the order of the table, with the columns of ``assignments.csv``, or None."""
    from clinclust.estimators.fitted_cohort import FittedCohort, rows_of_the_fit
    from clinclust.reporting.assignments import tabulate_assignments

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
    cohort = FittedCohort(model, model.schema_.validate(frame, warn=False).iloc[rows])
    table = tabulate_assignments(cohort, explained=options.explain)
    return table.iloc[in_table].reset_index(drop=True)


def _of_new_subjects(
    options: AssignOptions, model: MAPDP, frame: pd.DataFrame
) -> tuple[pd.DataFrame, CohortError | None]:
    """Return the assignments of new subjects, and the error of those not assigned; raise it if none can be."""
    import numpy as np

    from clinclust.estimators.explanation import reasons_of_new
    from clinclust.estimators.mapdp import NONE_OF_THESE
    from clinclust.estimators.new_subjects import notes_on_new_subjects, rows_at_fault, without_unseen
    from clinclust.files.opening import shown_name
    from clinclust.reporting.assignments import assignment_table

    assignable, note = frame, ""
    if options.unseen == "missing":
        assignable, note = without_unseen(model.schema_needed, frame)
    at_fault, error = rows_at_fault(model.schema_needed, assignable)
    assignable = assignable[~at_fault] if at_fault.any() and not at_fault.all() else assignable
    with about_table(options):
        probabilities = model.predict_proba(assignable)
    for message in (
        [note] * bool(note) + list(notes_on_new_subjects(model.fit_, assignable)) + _on_the_score(options, model)
    ):
        warnings.warn(f"{options.table}: {message}", CohortWarning, stacklevel=2)
    labels = probabilities.argmax(axis=1)
    labels = np.where(labels == model.n_clusters_, NONE_OF_THESE, labels)
    reasons = None
    if options.explain:
        reasons = reasons_of_new(model.fit_, model.schema_needed.validate(assignable, warn=False))
    everybody = None if len(assignable) == len(frame) else ~at_fault
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


def _on_the_score(options: AssignOptions, model: MAPDP) -> list[str]:
    from clinclust.reporting.divisions import n_parted

    if n_parted(model.fit_) != 1:
        return []
    beside = options.model / "assignments.csv"
    where = f"; those of the cohort are in {beside}" if beside.is_file() else ""
    return [
        "the cohort of the model looks like one continuum; new people have no continuum score, which needs the whole "
        f"cohort{where}"
    ]


def _drift(options: AssignOptions, model: MAPDP, new: pd.DataFrame) -> Drift | None:
    if options.cohort is None:
        return None
    from clinclust.drift import assess_drift

    plain = without(options, RowOptions)
    of_cohort = replace(plain, table=options.cohort, only=(), drop=(), all_rows=False)
    frame = read_table_of_model(of_cohort, model)
    with about_table(of_cohort):
        return assess_drift(model, frame, new)


def _say_drift(options: AssignOptions, drift: Drift) -> None:
    lines = drift.summary.split("\n")
    if options.out is not None:
        for line in lines:
            say(line)
    elif not options.quiet:
        tell("\n".join([f"clinclust: {lines[0]}", *lines[1:]]))


@dataclass(kw_only=True)
class ImputeOptions(ModelOptions, OutputOptions):
    """The options of `clinclust impute`."""

    out: Path = option("table to write: .csv, .xlsx or .parquet", type=read_path, required=True, metavar="FILE")
    tables: int = option(
        "number of completed tables, one below the other; 20 for standard errors (default: 1)",
        1,
        type=whole_number,
        metavar="M",
    )
    random_state: int = option("seed of the draws (default: 0)", 0, type=whole_number)


def run_impute(options: ImputeOptions) -> int:
    """Write the table of a fit with each missing value drawn, given what else is observed of the subject.

    Columns that the schema clusters on or describes are filled; others stay as they are. One table is enough to look
    at. Its analyses would count drawn values as observed: for standard errors draw 20 tables, analyse each, and pool
    the results by Rubin's rules (`pool_estimates` in Python, `pool` of mice in R).
    """
    from clinclust.reporting.completed_table import (
        SUFFIXES,
        completed_table,
        filled_cells,
        problems_of_file,
        write_completed,
    )
    from clinclust.reporting.words import counted

    least = {"--tables": (options.tables, 1), "--random-state": (options.random_state, 0)}
    refuse([f"{name} must be at least {most}, not {given}" for name, (given, most) in least.items() if given < most])
    spare_file(options, SUFFIXES, called="a completed table")
    model = read_model(options)
    frame = read_table_of_model(options, model)
    refuse(problems_of_file(options.out, len(frame) * options.tables))
    with about_table(options):
        tables = model.multiple_imputations(frame, options.tables, random_state=options.random_state)
        completed = completed_table(frame, model.schema_, tables)
        counts = filled_cells(frame, model.schema_, tables)
    write_completed(completed, counts, options.out)
    n_cells, n_columns = int(counts["filled"].sum()), len(counts)
    in_each = f" in each of {options.tables} tables" if options.tables > 1 else ""
    say(f"Wrote {options.out}: {len(frame)} rows, {n_cells:,} cells of {counted(n_columns, 'column')} filled{in_each}")
    return 0


_NOT_PROPORTIONAL = 0.05
"""p below which hazards are called not proportional."""


@dataclass(kw_only=True)
class OutcomesOptions(SuppressOptions, ModelOptions, OutputOptions):
    """The options of `clinclust outcomes`."""

    outcome: str | None = option("column to compare between subtypes", either=True, metavar="COLUMN")
    predictors: tuple[str, ...] = option(
        "columns that may predict who is in which subtype", (), either=True, nargs="+", metavar="COLUMN"
    )
    every_feature: bool = option("compare every feature, adjusted for --covariates", False, either=True)
    time: str | None = option("column with the end of follow-up, for hazard ratios", metavar="COLUMN")
    entry: str | None = option("column with the begin of follow-up (default: 0)", metavar="COLUMN")
    event: str | None = option("value of the outcome that is the event", metavar="VALUE")
    covariates: tuple[str, ...] = option("columns to adjust for", (), nargs="+", metavar="COLUMN")
    versus: int = option("subtype that others are compared with (default: 1)", 1, type=whole_number, metavar="N")
    level: float = option("of the confidence intervals (default: 0.95)", 0.95, type=number, metavar="SHARE")
    out: Path | None = option("table to write: .csv (default: only say it)", type=read_path, metavar="FILE")


def run_outcomes(options: OutcomesOptions) -> int:
    """Compare an outcome between the subtypes of a fit, or regress the subtypes on predictors.

    Some subjects are assigned to the wrong subtype, which makes differences too small. The errors of assignment are
    carried through (BCH, and maximum likelihood in three steps); the answer as assigned is given too.
    """
    from clinclust.outcomes import adjusted_differences, compare_outcomes, subtype_predictors
    from clinclust.reporting.assignments import write_inert_csv

    spare_file(options, (".csv",), called="a table of outcomes")
    of_outcome: dict[str, Any] = {"time": options.time, "entry": options.entry, "event": options.event}
    stated = [f"--{name}" for name, value in of_outcome.items() if value is not None]
    if options.every_feature and not options.covariates:
        raise InputError("--every-feature needs --covariates, such as age and sex")
    stated += ["--covariates"] * bool(options.covariates and options.predictors)
    if options.outcome is None and stated:
        other = "--predictors" if options.predictors else "--every-feature"
        raise InputError(f"{', '.join(stated)} belong to --outcome, not to {other}")
    options = refuse_to_share(options, options.model, "outcomes")
    model = read_model(options)
    table = read_table_of_model(options, model)
    shared: dict[str, Any] = {"versus": options.versus, "level": options.level}
    with about_table(options):
        if options.outcome is not None:
            shared |= of_outcome | {"covariates": list(options.covariates)}
            table_of_results = compare_outcomes(model, table, options.outcome, **shared)
        elif options.every_feature:
            table_of_results = adjusted_differences(model, table, list(options.covariates), **shared)
        else:
            table_of_results = subtype_predictors(model, table, list(options.predictors), **shared)
    for line in _lines_of_features(table_of_results) if options.every_feature else _lines_of_outcomes(table_of_results):
        say(line)
    if options.out is not None:
        write_inert_csv(table_of_results, options.out)
        say(f"Wrote {options.out}: {len(table_of_results)} rows")
    say_what_is_withheld(options)
    return 0


def _lines_of_outcomes(found: pd.DataFrame) -> Iterator[str]:
    """Yield each difference between subtypes, or each odds ratio of a predictor, and the one as assigned."""
    import pandas as pd

    best = "bch" if "outcome" in found else "ml"
    measures = found["measure"] if "measure" in found else pd.Series("", index=found.index)
    of_periods = measures.str.contains("until|after", na=False)
    rows = found[found["versus"].notna() & ~of_periods]
    for place, row in enumerate(rows[rows["method"] == "naive"].to_dict("records")):
        corrected = rows[rows["method"] == best].to_dict("records")
        what = row.get("measure") or f"odds ratio of {row['term']}"
        what = f"{what} of {row['event']!r}" if isinstance(row.get("event"), str) else what
        who = f"Subtype {row['subtype']} against {row['versus']}, {what}"
        best_of_it = _ratio(corrected[place]) if corrected else "not corrected"
        yield f"{who}: {best_of_it}; as assigned {_ratio(row)}"
    if of_periods.any():
        yield from _on_periods(found[of_periods], found)
    for why in dict.fromkeys(found["remark"].dropna()):
        of = sorted(set(found.loc[found["remark"] == why, "method"].dropna()))
        yield f"{', '.join(of).upper() or 'Subtypes'}: {why}"


def _lines_of_features(found: pd.DataFrame) -> Iterator[str]:
    """Yield each adjusted difference of a feature."""
    for row in found.to_dict("records"):
        if isinstance(row["remark"], str):
            yield f"{row['feature']}: {row['remark']}"
        else:
            yield f"{row['feature']}, subtype {row['subtype']} against {row['versus']}, {row['measure']}: {_ratio(row)}"


def _on_periods(of_periods: pd.DataFrame, found: pd.DataFrame) -> Iterator[str]:
    """Yield whether hazards are proportional, and the ratios of the two periods where they are not."""
    tests = found[(found["measure"] == "hazards proportional") & found["p"].notna()]
    for method in ("bch", "naive"):
        for p in tests.loc[tests["method"] == method, "p"]:
            yield f"Hazards proportional? {'No' if p < _NOT_PROPORTIONAL else 'Nothing speaks against it'}, p = {p:.2g}"
            if p < _NOT_PROPORTIONAL:
                for row in of_periods[of_periods["method"] == method].to_dict("records"):
                    yield f"Subtype {row['subtype']} against {row['versus']}, {row['measure']}: {_ratio(row)}"
            return


def _ratio(row: dict[Any, Any]) -> str:
    if not math.isfinite(row["estimate"]):
        return "too large a unit"
    if math.isnan(row["p"]):
        return f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g})"
    p = "< .001" if row["p"] < 0.001 else f"= {row['p']:.3f}".replace("0.", ".", 1)
    return f"{row['estimate']:.3g} ({row['lower']:.3g} to {row['upper']:.3g}), p {p}"


@dataclass(kw_only=True)
class ValidateOptions(SuppressOptions, ModelOptions, OutputOptions):
    """The options of `clinclust validate`."""

    cohort: Path = option(
        "table of the fit, read with the same options but with the rows of the fit",
        type=read_path,
        required=True,
        metavar="TABLE",
    )
    out: Path | None = option("page (.html) or table (.csv) to write", type=read_path, metavar="FILE")


def run_validate(options: ValidateOptions) -> int:
    """Look for the subtypes of a fit in another cohort.

    Its subjects are assigned by the model, and clustered again by the same procedure: a subtype is found again if
    mostly the same subjects come together. Sizes and profiles are compared.
    """
    from clinclust.reporting.assignments import write_inert_csv
    from clinclust.reporting.page.page import write_page
    from clinclust.reporting.sheets.validation import validation_sheet
    from clinclust.stability import validate_subtypes

    spare_file(options, (".html", ".csv"), called="a page or a table")
    options = refuse_to_share(options, options.model, "validate")
    model = read_model(options)
    other = read_new_table(options, model)
    of_cohort = replace(without(options, RowOptions), table=options.cohort, only=(), drop=(), all_rows=False)
    frame = read_table_of_model(of_cohort, model)
    with about_table(options):
        validation = validate_subtypes(model, frame, other, progress=not options.quiet)
    for line in validation.summary.split("\n"):
        say(line)
    if options.out is not None:
        if options.out.suffix.lower() == ".csv":
            write_inert_csv(validation.subtypes, options.out)
        else:
            write_page(
                [validation_sheet(validation)], options.out, title=model.schema_.title or "Subtypes in another cohort"
            )
        say(f"Wrote {options.out}")
    say_what_is_withheld(options)
    return 0


@dataclass(kw_only=True)
class CompareOptions(SuppressOptions, ModelOptions, OutputOptions):
    """The options of `clinclust compare`."""

    out: Path | None = option("table to write: .csv (default: only say it)", type=read_path, metavar="FILE")
    method: tuple[str, ...] = option(
        'a method to run, as "Latent classes, K by BIC"; may be repeated (default: all)',
        (),
        action="append",
        metavar="NAME",
        parameter="methods",
    )
    n_resamples: int = option("half-samples (default: 10)", 10, type=whole_number)
    n_draws: int = option("draws of one population (default: 50)", 50, type=whole_number)
    random_state: int = option("of starts, samples and draws (default: 0)", 0, type=whole_number)


def run_compare(options: CompareOptions) -> int:
    """Cluster the cohort of a fit by K-means, mixtures, latent classes and other methods.

    For each method: the number of clusters, how many are distinct, how well they predict subjects held out, how far
    half-samples agree, and the agreement with the subtypes of the fit. A method whose package is missing is left out.
    """
    from clinclust.methods.compare import compare_methods
    from clinclust.reporting.assignments import write_inert_csv

    spare_file(options, (".csv",), called="a table of methods")
    if options.random_state < 0:
        raise InputError(f"--random-state must be at least 0, not {options.random_state}")
    options = refuse_to_share(options, options.model, "compare")
    model = read_model(options)
    _, cohort = read_cohort_of_model(options, model)
    comparison = compare_methods(
        cohort.table,
        cohort.schema,
        model=model,
        methods=options.method or None,
        n_resamples=options.n_resamples,
        n_draws=options.n_draws,
        random_state=options.random_state,
    )
    for line in comparison.summary.split("\n"):
        say(line)
    if options.out is not None:
        write_inert_csv(comparison.table, options.out)
        say(f"Wrote {options.out}: {len(comparison.table)} methods")
    say_what_is_withheld(options)
    return 0


@dataclass(kw_only=True)
class SchemasOptions(Command):
    """The options of `clinclust schemas`."""

    instrument: str | None = option("instrument to print (default: list all)", positional=True, nargs="?")


def run_schemas(options: SchemasOptions) -> int:
    """List the instruments with a ready schema, or print one as YAML, to be put among the features of your own."""
    from clinclust.schema import FeatureSchema
    from clinclust.schema.instruments import instruments, schema_of_instrument

    if options.instrument is not None:
        write_data(schema_of_instrument(options.instrument))
        return 0
    for name in instruments():
        schema = FeatureSchema.from_yaml(schema_of_instrument(name))
        say(f"{name}: {schema.title} ({len(schema)} columns)")
    say("print one: clinclust schemas NAME")
    return 0
