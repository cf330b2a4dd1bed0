"""`clinclust table`: write the subtype table of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clinclust.cli.failures import refuse
from clinclust.cli.inputs import read_cohort_of_model, read_model
from clinclust.cli.options import Commands, add_command, option, path_given, whole_number
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.report import ModelComparisonOptions, named_subtypes, problems_of_names, report_problems
from clinclust.cli.sharing import follow_the_fit, say_what_is_withheld
from clinclust.cli.streams import say

if TYPE_CHECKING:
    from clinclust.estimators.mapdp import MAPDP


@dataclass(kw_only=True)
class _Options(ModelComparisonOptions, OutputOptions):
    out: Path = option(
        "file to write: .docx, .xlsx, .html, .tex, .md or .csv", type=path_given, required=True, metavar="FILE"
    )
    title: str | None = option("caption of the table (default: the title of the schema)")
    between: tuple[int, int] | None = option(
        "p of these two subtypes, not of all at once", type=whole_number, nargs=2, metavar=("A", "B")
    )
    significant: bool = option("only features whose descriptive p is significant", False)


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "table", "write the subtype table of a paper", run, _Options)


def run(options: _Options) -> int:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    from clinclust.comparisons import compare_subtypes
    from clinclust.disclosure import suppress_small_cells
    from clinclust.reporting.subtype_table import subtype_table
    from clinclust.reporting.subtype_table.table import suffix_problems

    options = follow_the_fit(options, options.model)
    refuse(suffix_problems(options.out) + report_problems(options))
    spare_file(options)
    model = read_model(options)
    refuse(_problems_of_subtypes(options, model))
    _, frame = read_cohort_of_model(options, model)
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
        names=named_subtypes(options),
        features="significant" if options.significant else None,
        between=options.between,
        title=options.title or model.schema_.title or None,
    )
    table.save(options.out)
    say(f"Wrote {options.out}: {len({row.feature for row in table.rows})} features")
    say_what_is_withheld(options)
    return 0


def _problems_of_subtypes(options: _Options, model: MAPDP) -> list[str]:
    from clinclust.reporting.options import unknown_names

    pair: Sequence[int] = options.between or ()
    unknown = unknown_names(dict.fromkeys(pair, ""), range(1, model.n_clusters_ + 1), called="--between")
    if not unknown and len(set(pair)) < len(pair):
        unknown = [f"--between takes two different subtypes, not {pair[0]} twice"]
    return problems_of_names(options, model) + unknown + ([] if unknown else _untested(pair, options, model))


def _untested(pair: Sequence[int], options: _Options, model: MAPDP) -> list[str]:
    if model.min_size_ > options.smallest_tested:
        floor, why = model.min_size_, f"than the {model.min_size_} that the fit asks for, so it is untested"
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
