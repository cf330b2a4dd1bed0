"""Commands on a fitted model: reports and tables of a paper, new subjects, missing values, outcomes, other cohorts."""

from __future__ import annotations

import io
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clinclust.arrays import Code
from clinclust.associations import validated_associations
from clinclust.cli import commands, outputs
from clinclust.cli.commands import flag_of
from clinclust.cli.fit import (
    about_table,
    list_next,
    name_files,
    read_cohort_of_model,
    read_new_table,
    read_second_cohort,
    read_table_of_model,
    report_options,
    report_problems,
    say_next_step,
    say_what_to_share,
    warn,
)
from clinclust.cli.outputs import PARTLY, REPORTS, check_output, record, say, say_withheld, sentence_of
from clinclust.comparisons import compare_subtypes
from clinclust.data import counted, speaking
from clinclust.disclosure import suppress_small_cells, withhold_associations
from clinclust.drift.assess import find_drift
from clinclust.errors import InputError, did_you_mean, refuse
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.parameters import RULES
from clinclust.estimators.subtype_model import FittedCohort, rows_of_the_fit
from clinclust.files.writing import MANIFEST, rewrite_files
from clinclust.methods.compare import compare_methods
from clinclust.outcomes import adjusted_differences, compare_outcomes, subtype_predictors
from clinclust.outcomes.compare import describe_measure, merge_methods
from clinclust.reporting.assignments import (
    SUFFIXES,
    completed_table,
    problems_of_file,
    tabulate_assignments,
    tabulate_new_subjects,
    write_completed,
    write_inert_csv,
)
from clinclust.reporting.compared import Compared, p_text
from clinclust.reporting.divisions import n_parted
from clinclust.reporting.page import write_page
from clinclust.reporting.report import gather_findings, names_by_number, unknown_names, write_findings
from clinclust.reporting.sheets.model_check import validation_sheet
from clinclust.reporting.subtype_table import Choices, problems_of_columns, suffix_problems, table_of
from clinclust.schema import FeatureSchema
from clinclust.schema.feature_schema import instruments, schema_of_instrument
from clinclust.stability import assess_invariance
from clinclust.stability.assess import find_again

_MESSAGES: dict[str, str] = commands.TEXTS["messages"]


def run_report(options: commands.RepeatOptions) -> int:
    """Make the reports again with other names, levels or suppression, from the model and the table of a fit."""
    options = outputs.follow_the_fit(options, options.model)
    problems = report_problems(options) + RULES["n_jobs"].problems("--n-jobs", options.n_jobs, is_option=True)
    if problems:
        raise InputError("; ".join(problems) + outputs.because_of_the_fit(options))
    folder = options.model if options.out is None else options.out
    if folder.exists() and options.model.exists() and folder.samefile(options.model):
        outputs.check_folder(options, folder, REPORTS, allowed=options.overwrite)
    else:
        another = "reports of this model would not belong to it; give another folder after --out"
        outputs.check_folder(options, folder, outputs.FILES_OF_A_MODEL, allowed=False, instead=another)
        outputs.check_folder(options, folder, (*REPORTS, MANIFEST), allowed=options.overwrite)
    model, report = MAPDP.load(options.model), report_options(options)
    refuse(unknown_names(report.names, model.codes_, called="--name"))
    table, cohort = read_cohort_of_model(options, model)
    refuse(report.problems_of_size(len(cohort.table), flag_of))
    outputs.note_other_files(folder)
    with rewrite_files(folder, REPORTS) as new:  # all or none
        findings = gather_findings(cohort, cohort.in_order(table), report)
        findings = replace(findings, commands=list_next(options, options.model))
        for name in REPORTS:
            write_findings(findings, new / name, progress=options.progress)
    say(f"Wrote {folder}: {', '.join(REPORTS)}, {MANIFEST}")
    say_withheld(options)
    say_what_to_share(options, folder)
    say_next_step(findings, findings.commands)
    return 0


# The subtype table of a paper.


def run_table(options: commands.SubtypeTableOptions) -> int:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    options = outputs.follow_the_fit(options, options.model)
    refuse(suffix_problems(options.out) + report_problems(options) + _problems_of_columns(options))
    check_output(options, called="a table")
    model = MAPDP.load(options.model)
    refuse(_problems_of_subtypes(options, model))
    table, cohort = read_cohort_of_model(options, model)
    comparisons = compare_subtypes(
        cohort.table,
        cohort.labels,
        cohort.schema,
        min_size=max(options.min_size, model.min_size_),
        significance_level=options.significance_level,
        weights=None if options.weights is None else _weights(table, cohort, options.weights),
    )
    if options.suppress:
        comparisons = suppress_small_cells(
            comparisons,
            threshold=options.suppress,
            rounding=options.round_to,
            missing_is_harmless=options.missing_is_harmless,
            min_n=options.min_n,
        )
    associations = None
    if "validated" in options.columns:
        associations = validated_associations(model, cohort.table, progress=options.progress.shown)
        if options.suppress:
            associations = withhold_associations(associations, comparisons)
    codes = model.codes_
    choices = Choices(
        associations=associations,
        names=names_by_number(report_options(options).names, codes),
        between=options.between and (codes.index(options.between[0]) + 1, codes.index(options.between[1]) + 1),
        columns=options.columns or None,
        decimals=options.decimals,
        title=options.title or model.schema_.title or None,
        codes=dict(enumerate(codes, start=1)),
    )
    with speaking(options.language, options.style, options.report_decimal):
        printed = table_of(Compared(comparisons), choices)
    printed.save(options.out)
    say(f"Wrote {options.out}: {len({row.feature for row in printed.rows})} features")
    say_withheld(options)
    return 0


def _weights(table: pd.DataFrame, cohort: FittedCohort, name: str) -> pd.Series[Any]:
    """Return a column of the table as numbers, in the order of the cohort of the fit."""
    if name not in table:
        near = did_you_mean(name, [str(column) for column in table])
        raise InputError(f"--weights: the table has no column {name!r}.{near}".removesuffix("."))
    numbers = pd.to_numeric(cohort.in_order(table)[name], errors="coerce")
    return pd.Series(numbers.to_numpy(dtype=float), index=cohort.table.index)


def _problems_of_columns(options: commands.SubtypeTableOptions) -> list[str]:
    problems = [f"--{problem}" for problem in problems_of_columns(options.columns or None)]
    if "validated" in options.columns and options.round_to is not None:
        problems.append("--columns: validated cannot be used with --round-to, because every p is one of exact counts")
    if options.decimals is not None and options.decimals > 6:
        problems.append(f"--decimals must be from 0 to 6, not {options.decimals}")
    if options.weights is not None and (options.suppress or options.between):
        problems.append("--weights cannot be used with --suppress or --between: nothing is tested")
    return problems


def _problems_of_subtypes(options: commands.SubtypeTableOptions, model: MAPDP) -> list[str]:
    """Return the problems of ``--name`` and ``--between``, whose subtypes must be two that are tested."""
    pair: Sequence[Code] = options.between or ()
    codes, names = model.codes_, report_options(options).names
    problems = unknown_names(pair, codes, called="--between")
    if not problems and len(set(pair)) < len(pair):
        problems = [f"--between takes two different subtypes, not {pair[0]} twice"]
    if not problems:
        floor = max(options.min_size, model.min_size_)
        what = _MESSAGES["below_own_size" if floor == options.min_size else "below_size_of_fit"]
        sizes = {code: int(model.cluster_sizes_[codes.index(code)]) for code in pair}
        problems = [what.format(subtype=code, size=size, floor=floor) for code, size in sizes.items() if size < floor]
    return unknown_names(names, codes, called="--name") + problems


# New subjects.


def run_assign(options: commands.AssignOptions) -> int:
    """Give each subject of a table its most probable subtype."""
    check_output(options, ".csv", ".txt", called="a table of assignments", is_printed=True)
    if options.cohort is not None:
        options = outputs.follow_the_fit(options, options.model, without="--cohort")
    model = MAPDP.load(options.model)
    frame = read_new_table(options, model, model.schema_.rows.of_new_subjects)
    rows, unread = rows_of_the_fit(model.fit_, frame), None
    if rows is not None:
        warn(_MESSAGES["of_the_fit"].format(table=options.table))
        cohort = FittedCohort.of(model, model.schema_.validate(frame, warn=False).iloc[rows])
        # `rows` leads from the order of the fit to that of the table.
        table = tabulate_assignments(cohort, explained=options.explain).iloc[rows.argsort()].reset_index(drop=True)
    else:
        with about_table(options.table):
            table, unread, notes = tabulate_new_subjects(
                model, frame, take_for_missing=options.unseen == "missing", explained=options.explain
            )
        unread = None if unread is None else name_files(unread, options.table)
        if n_parted(model.fit_) == 1:
            scores = options.model / "assignments.csv"
            notes.append(_MESSAGES["of_a_continuum"] + f"; those of the cohort are in {scores}" * scores.is_file())
        for message in notes:
            warn(f"{options.table}: {message}")
    drift = None
    if options.cohort is not None:
        cohort = read_second_cohort(options, options.cohort, model)
        with about_table(options.table):
            drift = find_drift(cohort, frame)
    n_left_out = int((table["assigned"] == "no").sum())
    sizes = table["subtype"].astype(str).value_counts()
    record(
        out=None if options.out is None else str(options.out),
        subjects=len(table),
        not_assigned=n_left_out,
        subtypes={str(code): int(sizes.get(str(code), 0)) for code in (0, *model.codes_)},
        drift=drift and {name: getattr(drift, name).to_dict("records") for name in ("subtypes", "tests", "features")},
    )
    _write_table(table, options.out, "subjects")
    if drift is not None and options.out is not None:
        say(*drift.summary.split("\n"))
    elif drift is not None and not options.quiet:
        outputs.tell(f"clinclust: {drift.summary}")
    if unread is None:
        return 0
    outputs.record_failure(unread, sentence_of(unread), "the subtypes of some subjects")
    outputs.tell(_MESSAGES["unassigned"].format(n_left_out=n_left_out, n=len(table), reason=sentence_of(unread)))
    return PARTLY


def _write_table(table: pd.DataFrame, out: Path | None, rows: str) -> None:
    """Write a result as csv, to a file or to standard output."""
    text = io.StringIO()
    write_inert_csv(table, text if out is None else out)
    if out is None:
        outputs.write_data(text.getvalue())
    else:
        say(f"Wrote {out}: {len(table)} {rows}")


def _say_and_write(
    options: commands.OutcomesOptions | commands.CompareOptions, summary: Sequence[str], table: pd.DataFrame, rows: str
) -> int:
    """Print a result, and write its table if there is a place for it."""
    say(*summary)
    if options.out is not None:
        _write_table(table, options.out, rows)
    say_withheld(options)
    return 0


# Missing values, outcomes, another cohort, other methods, ready schemas.


def run_impute(options: commands.ImputeOptions) -> int:
    """Write the table of a fit with each missing value drawn, given what else is observed of the subject."""
    least = {"--tables": (options.tables, 1), "--random-state": (options.random_state, 0)}
    refuse(f"{name} must be at least {most}, not {value}" for name, (value, most) in least.items() if value < most)
    check_output(options, *SUFFIXES, called="a completed table")
    model = MAPDP.load(options.model)
    frame = read_table_of_model(options, model)
    refuse(problems_of_file(options.out, len(frame) * options.tables))
    with about_table(options.table):
        tables = model.multiple_imputations(frame, options.tables, random_state=options.random_state)
        completed, counts = completed_table(frame, model.schema_, tables)
    write_completed(completed, counts, options.out)
    n_cells, columns = int(counts["filled"].sum()), counted(len(counts), "column")
    in_each = f" in each of {options.tables} tables" if options.tables > 1 else ""
    say(f"Wrote {options.out}: {len(frame)} rows, {n_cells:,} cells of {columns} filled{in_each}")
    return 0


def run_outcomes(options: commands.OutcomesOptions) -> int:
    """Compare an outcome between the subtypes of a fit, or regress the subtypes on predictors."""
    check_output(options, ".csv", called="a table of outcomes")
    if options.every_feature and not options.covariates:
        raise InputError("--every-feature needs --covariates, such as age and sex")
    of_outcome: dict[str, Any] = {"time": options.time, "entry": options.entry, "event": options.event}
    stated = [f"--{name}" for name, value in of_outcome.items() if value is not None]
    stated += ["--covariates"] * bool(options.covariates and options.predictors)
    if options.outcome is None and stated:
        other = "--every-feature" if options.every_feature else "--predictors"
        raise InputError(f"{', '.join(stated)} belong to --outcome, not to {other}")
    options = outputs.follow_the_fit(options, options.model, without="outcomes")
    model = MAPDP.load(options.model)
    table = read_table_of_model(options, model)
    with about_table(options.table):
        if options.outcome is not None:
            of_outcome |= {"covariates": list(options.covariates), "versus": options.versus}
            results = compare_outcomes(model, table, options.outcome, **of_outcome)
        elif options.every_feature:
            results = adjusted_differences(model, table, list(options.covariates), versus=options.versus)
        else:
            results = subtype_predictors(model, table, list(options.predictors), versus=options.versus)
    return _say_and_write(options, summarise_outcomes(results), results, "rows")


def summarise_outcomes(table: pd.DataFrame) -> list[str]:
    """Return the frame of a function of `clinclust.outcomes` in words: each difference or ratio, tests and remarks."""
    if "feature" in table:
        return [_describe_row(row) for row in table.to_dict("records")]
    if "measure" not in table:
        table = table.assign(measure="odds ratio of " + table["term"])
    table = table.assign(method=table["method"].fillna(""))
    scores = table[(table["method"] == "score") & table["estimate"].notna()].to_dict("records")
    lines = [f"{describe_measure(row)}: {_write_estimate(row)}" for row in scores]
    for line in merge_methods(table):
        subtype, versus, measure, may_be_slices, corrected, assigned, _ = line.values()
        if assigned or corrected:
            best = _write_estimate(corrected) if corrected else "not corrected"
            best = f"unless they are slices, {best}" if may_be_slices and versus and corrected else best
            best += f"; as assigned {_write_estimate(assigned)}" if assigned else ""
            lines.append(f"Subtype {subtype}{f' against {versus}' if versus else ''}, {measure}: {best}")
    is_test = table["measure"].isin(("no effects of features", "hazards proportional", "log-rank"))
    tests = table[is_test & table["p"].notna()].to_dict("records")
    lines += [f"{row['measure'].capitalize()}: {_write_p(row['p'])}" for row in tests]
    for why, rows in table[table["remark"].notna()].groupby("remark", sort=False):
        methods, subtypes = (list(dict.fromkeys(rows[name].dropna())) for name in ("method", "subtype"))
        who = [f"{'Subtypes' if len(subtypes) > 1 else 'Subtype'} {', '.join(map(str, subtypes))}"] if subtypes else []
        who += [method.upper() for method in sorted(methods) if method]
        lines.append(f"{', '.join(who) or 'Subtypes'}: {why}")
    return lines


def _describe_row(row: dict[Hashable, Any]) -> str:
    if not pd.isna(row["remark"]):
        return f"{row['feature']}: {row['remark']}"
    pair = f"subtype {row['subtype']} against {row['versus']}"
    return f"{row['feature']}, {pair}, {describe_measure(row)}: {_write_estimate(row)}"


def _write_estimate(row: dict[Hashable, Any]) -> str:
    interval = f" ({row['lower']:.3g} to {row['upper']:.3g})" if np.isfinite(row["lower"]) else ""
    return f"{row['estimate']:.3g}{interval}" + ("" if np.isnan(row["p"]) else f", {_write_p(row['p'])}")


def _write_p(p: float) -> str:
    return f"p = {p_text(p)}".replace("= <", "< ").replace("= >", "> ")


def run_validate(options: commands.ValidateOptions) -> int:
    """Look for the subtypes of a fit in another cohort, or compare them between groups of their own."""
    check_output(options, *[".html"] * (options.groups is None), ".csv", called="a page or a table")
    options = outputs.follow_the_fit(options, options.model, without="validate")
    model = MAPDP.load(options.model)
    if options.groups is not None:
        table = read_table_of_model(options, model)
        with about_table(options.table):
            invariance = assess_invariance(model, table, options.groups)
        say(*invariance.summary.split("\n"))
        if options.out is not None:
            _write_table(invariance.features, options.out, "rows")
        return 0
    other = read_new_table(options, model, model.schema_.rows)
    assert options.cohort is not None  # one of both is required
    cohort = read_second_cohort(options, options.cohort, model)
    with about_table(options.table):
        validation = find_again(cohort, other, progress=options.progress.shown)
    say(*validation.summary.split("\n"))
    if options.out is not None:
        if options.out.suffix.lower() == ".csv":
            write_inert_csv(validation.subtypes, options.out)
        else:
            title = model.schema_.title or "Subtypes in another cohort"
            write_page([validation_sheet(validation)], options.out, title=title)
        say(f"Wrote {options.out}")
    say_withheld(options)
    return 0


def run_compare(options: commands.CompareOptions) -> int:
    """Cluster the cohort of a fit by K-means, mixtures, latent classes and other methods."""
    check_output(options, ".csv", called="a table of methods")
    refuse([f"--random-state must be at least 0, not {options.random_state}"] * (options.random_state < 0))
    options = outputs.follow_the_fit(options, options.model, without="compare")
    model = MAPDP.load(options.model)
    _, cohort = read_cohort_of_model(options, model)
    comparison = compare_methods(
        cohort.table,
        cohort.schema,
        model=model,
        methods=options.method or None,
        n_resamples=options.n_resamples,
        random_state=options.random_state,
    )
    return _say_and_write(options, comparison.summary.split("\n"), comparison.table, "methods")


def run_schemas(options: commands.SchemasOptions) -> int:
    """List the instruments with a ready schema, or print one as YAML."""
    if options.instrument is not None:
        outputs.write_data(schema_of_instrument(options.instrument))
        return 0
    for name in instruments():
        schema = FeatureSchema.from_yaml(schema_of_instrument(name))
        say(f"{name}: {schema.title} ({len(schema)} columns)")
    say("print one: clinclust schemas NAME")
    return 0
