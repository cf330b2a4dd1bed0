"""`clinclust table`: write the subtype table of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clinclust.cli.inputs import read_cohort_of_model, read_model
from clinclust.cli.options import Commands, add_command, option, path_given, whole_number
from clinclust.cli.outputs import OutputOptions, spare_file
from clinclust.cli.report import ModelComparisonOptions, named_subtypes, problems_of_names, report_problems
from clinclust.cli.sharing import follow_the_fit, say_what_is_withheld
from clinclust.cli.streams import say
from clinclust.errors import InputError, refuse
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.subtype_table.plan import ColumnName


@dataclass(kw_only=True)
class _Options(ModelComparisonOptions, OutputOptions):
    out: Path = option(
        "file to write: .docx, .xlsx, .html, .tex, .md or .csv", type=path_given, required=True, metavar="FILE"
    )
    title: str | None = option("caption of the table (default: the title of the schema)")
    between: tuple[int, int] | None = option(
        "p of these two subtypes, not of all at once", type=whole_number, nargs=2, metavar=("A", "B")
    )
    columns: tuple[str, ...] = option(
        "columns after the label, in this order: missing, all, subtypes, smd (standardised mean difference), p, "
        "validated (p and q of a search without each feature; takes time) (default: missing all subtypes p)",
        (),
        nargs="+",
        choices=("missing", "all", "subtypes", "smd", "p", "validated"),
        metavar="COLUMN",
    )
    decimals: int | None = option("decimals of means, medians and percentages", type=whole_number, metavar="N")
    missing_rows: bool = option("a row below each feature for the subjects without a value", False)
    weights: str | None = option(
        "column of sampling weights: percentages, means and quartiles of the population, without tests",
        metavar="COLUMN",
    )
    significant: bool = option("only features whose descriptive p is significant", False)


def add_parser(commands: Commands) -> None:
    """Add the command and its options."""
    add_command(commands, "table", "write the subtype table of a paper", run, _Options)


def run(options: _Options) -> int:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    from clinclust.associations import validated_associations
    from clinclust.comparisons import compare_subtypes
    from clinclust.disclosure import suppress_small_cells, withhold_associations
    from clinclust.reporting.subtype_table import subtype_table
    from clinclust.reporting.subtype_table.table import suffix_problems

    options = follow_the_fit(options, options.model)
    is_validated = "validated" in options.columns
    refuse(suffix_problems(options.out) + report_problems(options) + _problems_of_columns(options))
    spare_file(options)
    model = read_model(options)
    refuse(_problems_of_subtypes(options, model))
    table, frame = read_cohort_of_model(options, model)
    comparisons = compare_subtypes(
        frame,
        model.labels_,
        model.schema_,
        min_size=max(options.smallest_tested, model.min_size_),
        significance_level=options.significance_level,
        weights=None if options.weights is None else _weights(table, frame, model, options.weights),
    )
    if options.suppress is not None:
        comparisons = suppress_small_cells(
            comparisons,
            threshold=options.suppress,
            rounding=options.round_to,
            missing_is_harmless=options.missing_is_harmless,
            min_n=options.min_n,
        )
    associations = validated_associations(model, frame, progress=not options.quiet) if is_validated else None
    if associations is not None and options.suppress is not None:
        associations = withhold_associations(associations, comparisons)
    printed = subtype_table(
        comparisons,
        associations=associations,
        names=named_subtypes(options),
        features="significant" if options.significant else None,
        between=options.between,
        columns=cast("Sequence[ColumnName]", options.columns) or None,
        decimals=options.decimals,
        missing_rows=options.missing_rows,
        title=options.title or model.schema_.title or None,
    )
    printed.save(options.out)
    say(f"Wrote {options.out}: {len({row.feature for row in printed.rows})} features")
    say_what_is_withheld(options)
    return 0


def _weights(table: pd.DataFrame, frame: pd.DataFrame, model: MAPDP, name: str) -> pd.Series[Any]:
    """Return a column of the table as numbers, in the order of the cohort of the fit."""
    import pandas as pd

    from clinclust.estimators.fitted_cohort import rows_of_the_fit

    if name not in table:
        near = did_you_mean(name, [str(column) for column in table])
        raise InputError(f"--weights: the table has no column {name!r}.{near}".removesuffix("."))
    numbers = pd.to_numeric(table[name], errors="coerce")
    rows = rows_of_the_fit(model.fit_, table)
    return pd.Series((numbers if rows is None else numbers.iloc[rows]).to_numpy(dtype=float), index=frame.index)


def _problems_of_columns(options: _Options) -> list[str]:
    columns = options.columns
    problems = ["--columns takes each column once"] if len(set(columns)) < len(columns) else []
    if columns and not {"all", "subtypes"} & set(columns):
        problems.append("--columns must have all, subtypes or both")
    if "validated" in columns and options.round_to is not None:
        problems.append("--columns: validated cannot be used with --round-to, because every p is one of exact counts")
    if options.weights is not None and (options.suppress is not None or options.significant or options.between):
        problems.append("--weights cannot be used with --suppress, --significant or --between: nothing is tested")
    if options.decimals is not None and options.decimals > 6:
        problems.append(f"--decimals must be from 0 to 6, not {options.decimals}")
    return problems


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
