"""`clinclust table`: write the subtype table of a paper."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clinclust.cli.options import (
    Commands,
    about_table,
    add_model,
    add_names,
    add_table,
    name_problems,
    names_of,
    number,
    path_given,
    read_model,
    read_table_of_model,
    whole_number,
)
from clinclust.cli.outputs import add_overwrite, spare_file, spare_the_inputs
from clinclust.cli.report_options import add_smallest_tested
from clinclust.cli.sharing import AS_THE_FIT, add_sharing, follow_the_fit, say_what_is_withheld
from clinclust.cli.streams import add_quiet, say
from clinclust.errors import InputError

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP

__all__ = ["add_parser", "run"]


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("table", help="write the subtype table of a paper", description=run.__doc__)
    add_table(parser)
    add_model(parser)
    parser.add_argument(
        "--out",
        type=path_given,
        required=True,
        metavar="FILE",
        help="file to write: .docx, .xlsx, .html, .tex, .md or .csv",
    )
    add_overwrite(parser)
    add_quiet(parser)
    parser.add_argument("--title", help="caption of the table (default: the title of the schema)")
    add_names(parser)
    parser.add_argument(
        "--between", type=whole_number, nargs=2, metavar=("A", "B"), help="p of these two subtypes, not of all at once"
    )
    parser.add_argument("--significant", action="store_true", help="only features whose descriptive p is significant")
    parser.add_argument(
        "--significance-level", type=number, default=0.01, metavar="P", help="of --significant (default: 0.01)"
    )
    add_smallest_tested(parser)
    add_sharing(parser, f"make a table that can be shared: counts below N (10) withheld; {AS_THE_FIT}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    from clinclust.comparisons import compare_subtypes
    from clinclust.disclosure import suppress_small_cells
    from clinclust.estimators.fitted_cohort import cohort_of
    from clinclust.reporting.subtype_table import subtype_table

    follow_the_fit(options)
    spare_the_inputs(options, options.out)
    _refuse(_problems_of_options(options))
    spare_file(options, options.out)
    model = read_model(options)
    _refuse(_problems_of_subtypes(options, model))
    frame = read_table_of_model(options, model)
    with about_table(options):
        frame = cohort_of(model, frame)
    comparisons = compare_subtypes(
        frame,
        model.labels_,
        model.schema_,
        min_size=max(options.smallest_tested, model.min_size_),
        significance_level=options.significance_level,
    )
    if options.suppress is not None:
        comparisons = suppress_small_cells(
            comparisons,
            threshold=options.suppress,
            rounding=options.round_to,
            missing_is_harmless=options.missing_is_harmless,
            min_n=options.min_n,
        )
    table = subtype_table(
        comparisons,
        names=names_of(options),
        features="significant" if options.significant else None,
        between=tuple(options.between) if options.between else None,
        title=options.title or model.schema_.title or None,
    )
    table.save(options.out)
    say(f"Wrote {options.out}: {len({row.feature for row in table.rows})} features")
    say_what_is_withheld(options)
    return 0


def _refuse(problems: list[str]) -> None:
    if problems:
        raise InputError("; ".join(problems))


def _problems_of_options(options: argparse.Namespace) -> list[str]:
    """Return what is wrong with the options, whatever the model."""
    from clinclust.reporting.options import ReportOptions
    from clinclust.reporting.subtype_table.table import suffix_problems

    asked = ReportOptions(
        min_size=options.smallest_tested,
        significance_level=options.significance_level,
        suppress=options.suppress,
        round_to=options.round_to,
        missing_is_harmless=options.missing_is_harmless,
        min_n=options.min_n,
    )
    return [*suffix_problems(options.out), *name_problems(options.name), *asked.problems(prefix="--")]


def _problems_of_subtypes(options: argparse.Namespace, model: MAPDP) -> list[str]:
    """Return which subtypes the options name that the model does not have, or that are not tested."""
    from clinclust.reporting.options import unknown_names

    subtypes = range(1, model.n_clusters_ + 1)
    problems = unknown_names(names_of(options), subtypes, called="--name")
    pair = options.between or []
    unknown = unknown_names(dict.fromkeys(pair, ""), subtypes, called="--between")
    if not unknown and len(set(pair)) < len(pair):
        unknown = [f"--between takes two different subtypes, not {pair[0]} twice"]
    return problems + unknown + ([] if unknown else _untested(pair, options, model))


def _untested(pair: list[int], options: argparse.Namespace, model: MAPDP) -> list[str]:
    """Return which subtypes of a pair have too few subjects to be tested, and what sets this number."""
    if model.min_size_ > options.smallest_tested:
        floor, why = model.min_size_, f"than the {model.min_size_} that the fit asks for, so it is described only"
        repair = "compare other subtypes, or fit again with a lower --min-size"
    else:
        floor, why = options.smallest_tested, f"than --min-size {options.smallest_tested}, so it is not tested"
        repair = "give a lower --min-size"
    sizes = {subtype: int(model.cluster_sizes_[subtype - 1]) for subtype in pair}
    return [
        f"--between: subtype {subtype} has {size} subject(s), fewer {why}; {repair}"
        for subtype, size in sizes.items()
        if size < floor
    ]
