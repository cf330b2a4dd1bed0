"""`clinclust report`: make the reports of a fit again; the options of reports."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.inputs import ModelOptions, read_cohort_of_model, read_model
from clinclust.cli.options import Command, Commands, add_command, called, number, option, path_given, whole_number
from clinclust.cli.outputs import (
    FILES_OF_A_FIT,
    FILES_OF_A_MODEL,
    REPORTS,
    REPORTS_IN_WORDS,
    overwrite,
    reports_placed,
    spare_folder,
    spare_the_inputs,
    tell_of_other_files,
)
from clinclust.cli.search_options import JobOptions
from clinclust.cli.sharing import (
    NOT_SHARED,
    SharingOptions,
    as_the_fit_was_asked,
    follow_the_fit,
    say_what_is_withheld,
    sharing_in_words,
)
from clinclust.cli.streams import say
from clinclust.errors import InputError, refuse
from clinclust.files.writing import MANIFEST

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.options import ReportOptions


@dataclass(kw_only=True)
class ComparisonOptions(SharingOptions):
    """The options of comparisons of subtypes: a report, and the table of a paper."""

    TITLE = "the reports"
    significance_level: float = option(
        "of p in the pairwise tests, and of q of features that are called validated (default: 0.01)",
        0.01,
        type=number,
        metavar="P",
    )
    name: tuple[str, ...] = option(
        "name of subtype K; may be given for each", (), action="append", metavar="K=NAME", parameter="names"
    )


@dataclass(kw_only=True)
class ModelComparisonOptions(ComparisonOptions, ModelOptions):
    """The options of a command on a model with its own smallest size of subtypes."""

    smallest_tested: int = option(
        "smallest subtype that is tested (default: 3); the --min-size of the fit applies where it is larger",
        3,
        name="min_size",
        type=whole_number,
        metavar="N",
        parameter="min_size",
    )


@dataclass(kw_only=True)
class FitReportOptions(ComparisonOptions, JobOptions, Command):
    """The options of the reports of a fit."""

    TITLE = "the reports"
    associations: str = option(
        "whether each feature is tested against subtypes that it did not form: by up to 24 searches without some "
        "features (refit), or not at all (none; default: refit)",
        "refit",
        choices=("refit", "none"),
    )
    stability: int | None = option(
        "search for the subtypes again in N halves and N bootstrap samples of the cohort, such as 100, and say "
        "which come out again (not in a report made for sharing)",
        type=whole_number,
        metavar="N",
    )
    whole_procedure: bool = option(
        "with --stability: choose everything anew in each sample, as the fit did (ten to thirty times as long)", False
    )
    posterior: bool = option(
        "draw partitions by their probability, and say how many groups there could be and how sure each subtype "
        "is (not in a report made for sharing)",
        False,
    )
    other_methods: bool = option(
        "cluster the cohort by K-means, mixtures, latent classes and others too, and say what each found, as "
        "`clinclust compare` does (not in a report made for sharing)",
        False,
    )


@dataclass(kw_only=True)
class _Options(FitReportOptions, ModelComparisonOptions):
    out: Path | None = option("folder to write to (default: the folder of the model)", type=path_given, metavar="DIR")
    overwrite: bool = overwrite("the reports in this folder")


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "report", "make the reports of a fit again", run, _Options)


def run(options: _Options) -> int:
    """Make the reports again with other names, levels or suppression, from the model and the table of a fit."""
    from clinclust.comparisons.cohort_columns import ignored_columns
    from clinclust.comparisons.dominance import dominant_in
    from clinclust.progress import Progress
    from clinclust.reporting.writing import gathered_findings, write_findings

    options = follow_the_fit(options, options.model)
    _check_options(options)
    folder = options.model if options.out is None else options.out
    _check_folder(options, folder)
    model = read_model(options)
    refuse(problems_of_names(options, model))
    table, frame = read_cohort_of_model(options, model)
    dominant = dominant_in(model, frame, ignored_columns(table, frame))
    refuse(size_problems(options, len(frame)))
    tell_of_other_files(folder, FILES_OF_A_FIT)
    with reports_placed(folder) as new:  # both or none
        findings = gathered_findings(model, frame, report_asked_for(options), dominant=dominant)
        for name in REPORTS:
            write_findings(findings, new / name, progress=Progress(not options.quiet))
    say(f"Wrote {folder}: {', '.join(REPORTS)}, {MANIFEST}")
    say_what_is_withheld(options)
    say_what_to_share(options, folder)
    return 0


def _check_options(options: _Options) -> None:
    from clinclust.estimators.parameters import RULES

    problems = report_problems(options) + RULES["n_jobs"].problems_of_option("--jobs", options.jobs)
    if problems:
        raise InputError("; ".join(problems) + as_the_fit_was_asked(options))


def _check_folder(options: _Options, folder: Path) -> None:
    replaced = (*REPORTS, MANIFEST)
    spare_the_inputs([("the table itself", options.table)], *(folder / name for name in replaced))
    if folder.exists() and options.model.exists() and folder.samefile(options.model):
        spare_folder(folder, REPORTS, allowed=options.overwrite)
        return
    spare_folder(
        folder,
        FILES_OF_A_MODEL,
        allowed=False,
        instead="reports of this model would not belong to it; give another folder after --out",
    )
    spare_folder(folder, replaced, allowed=options.overwrite)


def named_subtypes(options: ComparisonOptions) -> dict[int, str]:
    """Return the names of subtypes by number; `name_problems` must be empty."""
    parts = (text.partition("=") for text in options.name)
    return {int(subtype): name.strip() for subtype, _, name in parts}


def name_problems(options: ComparisonOptions) -> list[str]:
    """Return one sentence for each ``--name`` that cannot be parsed."""
    numbers = [text.partition("=")[0].strip() for text in options.name]
    repeated = sorted({number for number in numbers if numbers.count(number) > 1})
    return [f"--name: subtype {number} has more than one name" for number in repeated] + [
        f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}"
        for text in options.name
        if not text.partition("=")[0].strip().isdecimal() or not text.partition("=")[2].strip()
    ]


def problems_of_names(options: ComparisonOptions, model: MAPDP) -> list[str]:
    """Return which of the named subtypes the model does not have."""
    from clinclust.reporting.options import unknown_names

    return unknown_names(named_subtypes(options), range(1, model.n_clusters_ + 1), called="--name")


def report_asked_for(options: ComparisonOptions) -> ReportOptions:
    """Return the options of the report; `report_problems` must be empty."""
    from clinclust.reporting.options import ReportOptions

    names = {one.name for one in fields(ReportOptions)} - {"associations", "names", "min_size"}
    asked = {name: getattr(options, name) for name in names if hasattr(options, name)}
    if isinstance(options, FitReportOptions):
        asked["associations"] = None if options.associations == "none" else options.associations
        asked |= {"n_jobs": options.jobs, "progress": not options.quiet}
    if isinstance(options, ModelComparisonOptions):
        asked["min_size"] = options.smallest_tested
    return ReportOptions(names=named_subtypes(options), **asked)


def report_problems(options: ComparisonOptions) -> list[str]:
    """Return one sentence for each option of the report that cannot be used, whatever the model."""
    problems = name_problems(options)
    asked = report_asked_for(replace(options, name=()) if problems else options)
    private = ("stability", "posterior", "other_methods") if options.suppress is not None else ()
    return [
        *asked.problems(called),
        *(f"{called(name)} cannot be used with --suppress: {NOT_SHARED}" for name in private if getattr(asked, name)),
        *problems,
    ]


def size_problems(options: FitReportOptions, n_subjects: int) -> list[str]:
    """Return one sentence for each option of the reports that needs a larger cohort."""
    from clinclust.methods.compare import FEWEST_SUBJECTS

    problems = []
    if options.suppress is not None and n_subjects < options.suppress:
        problems.append(
            f"--suppress {options.suppress} withholds everything of {n_subjects} subjects; give a lower number"
        )
    if options.other_methods and n_subjects < FEWEST_SUBJECTS:
        problems.append(f"--other-methods needs at least {FEWEST_SUBJECTS} subjects, and there are {n_subjects}")
    return problems


def say_what_to_share(options: FitReportOptions, folder: Path) -> None:
    """Print which files of a folder may be shared, if counts are withheld, and which may not."""
    if options.suppress is None:
        return
    say(f"For sharing: {REPORTS_IN_WORDS} only.")
    kept = [name for name in FILES_OF_A_MODEL if (folder / name).exists()]
    if kept:
        say(
            f"Not for sharing: {', '.join(kept)} (one row for each subject) and {MANIFEST} (their checksums). "
            f"`clinclust report TABLE --model {folder} {sharing_in_words(options)} --out DIR` writes the reports to "
            "a folder of their own."
        )
