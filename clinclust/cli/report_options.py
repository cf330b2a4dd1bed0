"""The options of the reports, and what they ask for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clinclust.cli.options import add_names, name_problems, names_of, number, whole_number
from clinclust.cli.sharing import AS_THE_FIT, add_sharing

if TYPE_CHECKING:
    from clinclust.reporting.options import ReportOptions

__all__ = [
    "add_report",
    "add_smallest_tested",
    "report_asked_for",
    "report_problems",
    "size_problems",
]


def add_report(parser: argparse.ArgumentParser, *, of_model: bool = False) -> None:
    """Add the options of the reports: of a fit, or of a model that was fitted before."""
    group = parser.add_argument_group("the reports")
    group.add_argument(
        "--significance-level",
        type=number,
        default=0.01,
        metavar="P",
        help="of p in the pairwise tests, and of q of features that are called validated (default: 0.01)",
    )
    group.add_argument(
        "--associations",
        choices=("refit", "cross-fit", "none"),
        default="refit",
        help="how each feature is tested against subtypes that it did not form: one more search without it (refit), "
        "fewer searches and less power (cross-fit), or not at all (default: refit)",
    )
    group.add_argument(
        "--stability",
        type=whole_number,
        metavar="N",
        help="search for the subtypes again in N halves and N bootstrap samples of the cohort, such as 100, and say "
        "which come out again (not in a report made for sharing)",
    )
    group.add_argument(
        "--whole-procedure",
        action="store_true",
        help="with --stability: choose everything anew in each sample, as the fit did (ten to thirty times as long)",
    )
    group.add_argument(
        "--posterior",
        action="store_true",
        help="draw partitions by their probability, and say how many groups there could be and how sure each subtype "
        "is (not in a report made for sharing)",
    )
    group.add_argument(
        "--other-methods",
        action="store_true",
        help="cluster the cohort by K-means, mixtures, latent classes and others too, and say what each found, as "
        "`clinclust compare` does (not in a report made for sharing)",
    )
    add_names(group)
    add_sharing(
        group,
        "make reports that can be shared: counts below N (10) withheld, and nothing about single subjects; "
        + (AS_THE_FIT if of_model else "later commands on the model do the same"),
    )


def add_smallest_tested(parser: argparse.ArgumentParser) -> None:
    """Add the option of the smallest subtype that is tested, for a command on a model that has its own floor."""
    parser.add_argument(
        "--min-size",
        dest="smallest_tested",
        type=whole_number,
        default=3,
        metavar="N",
        help="smallest subtype that is tested (default: 3); the --min-size of the fit applies where it is larger",
    )


def report_asked_for(options: argparse.Namespace) -> ReportOptions:
    """Return what the options ask of the reports. Call `report_problems` first: each name must be parsable.

    Without `add_smallest_tested` among the options, ``--min-size`` is that of the fit, which the model keeps.
    """
    from clinclust.reporting.options import ReportOptions

    tested = {"min_size": options.smallest_tested} if hasattr(options, "smallest_tested") else {}
    return ReportOptions(
        associations=None if options.associations == "none" else options.associations,
        stability=options.stability,
        whole_procedure=options.whole_procedure,
        posterior=options.posterior,
        other_methods=options.other_methods,
        names=names_of(options),
        **tested,
        significance_level=options.significance_level,
        suppress=options.suppress,
        round_to=options.round_to,
        missing_is_harmless=options.missing_is_harmless,
        min_n=options.min_n,
        n_jobs=options.jobs,
        progress=not options.quiet,
    )


def report_problems(options: argparse.Namespace) -> list[str]:
    """Return one sentence for each option of the reports that cannot be used, whatever the model."""
    problems = name_problems(options.name)
    if problems:
        options = argparse.Namespace(**{**vars(options), "name": []})
    return report_asked_for(options).problems(prefix="--") + problems


def size_problems(options: argparse.Namespace, n_subjects: int) -> list[str]:
    """Return one sentence for each option of the reports that cannot be used in so small a cohort."""
    from clinclust.method_comparison.compare import FEWEST_SUBJECTS

    problems = []
    if options.suppress is not None and n_subjects < options.suppress:
        problems.append(
            f"--suppress {options.suppress} withholds everything of {n_subjects} subjects; give a lower number"
        )
    if options.other_methods and n_subjects < FEWEST_SUBJECTS:
        problems.append(f"--other-methods needs at least {FEWEST_SUBJECTS} subjects, and there are {n_subjects}")
    return problems
