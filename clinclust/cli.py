"""The `clinclust` command: draft a schema, check a table, fit subtypes, tabulate them, assign new subjects.

Nothing heavy is imported before a command needs it, so that ``clinclust --help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = ["main"]

_BAD_INPUT = 2
_INTERRUPTED = 130
_OUTPUT_CLOSED = 141  # as if ended by SIGPIPE

_DESCRIPTION = "Find and describe disease subtypes in a clinical cohort table."
_EXAMPLES = """\
a first analysis, step by step:
  clinclust draft cohort.csv --out schema.yaml      propose what every column is; then edit schema.yaml
  clinclust check cohort.csv --schema schema.yaml   list every value that does not fit
  clinclust fit cohort.csv --schema schema.yaml --out subtypes
  clinclust table cohort.csv --model subtypes --out table.docx   the subtype table of a paper
  clinclust assign new.csv --model subtypes         subtypes of people who were not in the cohort

tables may be csv, tsv, xlsx or parquet (the last with: pip install "clinclust[parquet]")
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 with one clear message on standard error when the input is at fault."""
    from clinclust.errors import CohortWarning

    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=CohortWarning)
            warnings.showwarning = _show_warning
            options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read the output has seen enough; Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _OUTPUT_CLOSED
    except (ValueError, OSError, ImportError) as error:
        # Everything clinclust raises about its input is one of these: SchemaError and CohortError are ValueErrors.
        print(f"clinclust: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("clinclust: stopped", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _show_warning(message: Warning | str, *details: object, **more: object) -> None:
    print(f"clinclust: note: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    from clinclust import __version__

    parser = argparse.ArgumentParser(
        prog="clinclust",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"clinclust {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    draft = commands.add_parser("draft", help="propose a feature schema for a table", description=_draft.__doc__)
    _add_table(draft)
    draft.add_argument("--out", type=Path, metavar="SCHEMA", help="file to write (default: standard output)")
    draft.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    draft.set_defaults(run=_draft)

    check = commands.add_parser("check", help="check a table against a schema", description=_check.__doc__)
    _add_table(check)
    _add_schema(check)
    check.set_defaults(run=_check)

    fit = commands.add_parser("fit", help="find subtypes and write the report", description=_fit.__doc__)
    _add_table(fit)
    _add_schema(fit)
    fit.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for model, assignments and report")
    fit.add_argument(
        "--concentration",
        type=_number_or(("map", "cross-validation")),
        default=3.0,
        metavar="N0",
        help="prior count of a new subtype, 'map' or 'cross-validation' (default: 3)",
    )
    fit.add_argument(
        "--hyperparameters",
        choices=("empirical", "greedy"),
        help="estimate the other hyperparameters (default: weak ones from the data)",
    )
    fit.add_argument(
        "--coarsening",
        type=_number_or(("auto",)),
        default=1.0,
        metavar="POWER",
        help="power of the likelihood, or 'auto' where features depend on each other inside subtypes (default: 1)",
    )
    fit.add_argument(
        "--select-features", action="store_true", help="leave out features that do not differ between subtypes"
    )
    fit.add_argument("--restarts", type=int, default=10, metavar="R", help="starts of the search (default: 10)")
    fit.add_argument("--seed", type=int, default=0, help="seed of the search, printed in the report (default: 0)")
    fit.add_argument("--jobs", type=int, metavar="J", help="threads (default: one for each processor)")
    fit.add_argument(
        "--min-size", type=int, default=3, metavar="N", help="smallest subtype that is tested (default: 3)"
    )
    fit.add_argument(
        "--significance-level", type=float, default=0.01, metavar="P", help="of the pairwise tests (default: 0.01)"
    )
    fit.add_argument(
        "--associations",
        choices=("refit", "cross-fit", "none"),
        default="refit",
        help="how each feature is tested against subtypes that it did not form: one more search without it (refit), "
        "fewer searches and less power (cross-fit), or not at all (default: refit)",
    )
    _add_names(fit)
    fit.add_argument(
        "--suppress",
        type=int,
        nargs="?",
        const=10,
        metavar="N",
        help="make reports that can be shared: counts below N (10) withheld, and nothing about single subjects",
    )
    fit.set_defaults(run=_fit)

    assign = commands.add_parser("assign", help="assign new subjects to subtypes", description=_assign.__doc__)
    _add_table(assign)
    assign.add_argument("--model", type=Path, required=True, metavar="DIR", help="folder that `clinclust fit` wrote")
    assign.add_argument("--out", type=Path, metavar="CSV", help="file to write (default: standard output)")
    assign.set_defaults(run=_assign)

    table = commands.add_parser("table", help="write the subtype table of a paper", description=_table.__doc__)
    _add_table(table)
    table.add_argument("--model", type=Path, required=True, metavar="DIR", help="folder that `clinclust fit` wrote")
    table.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="file to write: .docx, .xlsx, .html, .tex, .md or .csv"
    )
    table.add_argument("--title", help="caption of the table (default: the title of the schema)")
    _add_names(table)
    table.add_argument(
        "--between", type=int, nargs=2, metavar=("A", "B"), help="p of these two subtypes instead of all at once"
    )
    table.add_argument("--significant", action="store_true", help="only features whose descriptive p is significant")
    table.add_argument(
        "--significance-level", type=float, default=0.01, metavar="P", help="of --significant (default: 0.01)"
    )
    table.set_defaults(run=_table)
    return parser


def _number_or(words: tuple[str, ...]) -> Callable[[str], float | str]:
    """Return what reads an option that is a number or one of these words."""

    def read(text: str) -> float | str:
        return text if text in words else float(text)

    read.__name__ = f"number or {' or '.join(words)}"  # argparse: "invalid number or auto value"
    return read


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", type=Path, metavar="TABLE", help="cohort table: csv, tsv, xlsx or parquet")
    parser.add_argument("--sheet", help="sheet of an xlsx file (default: the first)")
    parser.add_argument("--encoding", help="encoding of a text file (default: UTF-8, else Windows-1252)")


def _add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--name", action="append", default=[], metavar="K=NAME", help="name of subtype K; may be given for each"
    )


def _names(options: argparse.Namespace) -> dict[int, str]:
    """Return the names of subtypes by number."""
    names = {}
    for text in options.name:
        subtype, _, name = text.partition("=")
        if not subtype.strip().isdecimal() or not name.strip():
            raise ValueError(f"--name takes the number of a subtype and its name, as 1=Tremor, not {text!r}")
        names[int(subtype)] = name.strip()
    return names


def _add_schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schema", type=Path, required=True, help="feature schema (YAML)")


def _draft(options: argparse.Namespace) -> None:
    """Propose a likelihood for every column, with the reason; the result is there to be edited."""
    from clinclust.schema.draft import draft_schema

    _spare_the_table(options)
    if options.out is not None and options.out.exists() and not options.force:
        raise FileExistsError(f"{options.out} exists and may hold your edits; give --force to overwrite it")
    schema = draft_schema(_read(options))
    if options.out is None:
        sys.stdout.write(schema.to_yaml())
    else:
        schema.to_yaml(options.out)
        print(f"Wrote {options.out}: {len(schema)} columns. Read it through; it is a proposal.")


def _check(options: argparse.Namespace) -> None:
    """List everything in the table that does not fit the schema, all at once."""
    schema, frame = _schema(options), _read(options)
    frame = schema.validate(frame)
    print(
        f"{options.table} fits {options.schema}: {len(frame)} subjects, {len(schema.clustered)} features to cluster "
        f"on, {len(schema.described)} to describe, {frame.isna().to_numpy().mean():.1%} of the values missing."
    )


def _fit(options: argparse.Namespace) -> None:
    """Find the subtypes and write model.json, model.npz, assignments.csv, subtypes.xlsx and subtypes.html."""
    from clinclust.associations import validated_associations
    from clinclust.comparisons import compare_subtypes
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.files.writing import write_together
    from clinclust.reporting import write_report
    from clinclust.reporting.assignments import assignment_table, write_assignments

    if options.min_size < 1:
        raise ValueError(f"--min-size must be at least 1, not {options.min_size}")
    if not 0.0 < options.significance_level < 1.0:
        raise ValueError(f"--significance-level must lie between 0 and 1, not {options.significance_level}")
    if options.suppress is not None and options.suppress < 2:
        raise ValueError(f"--suppress must be at least 2, not {options.suppress}")
    tests = {"min_size": options.min_size, "significance_level": options.significance_level}
    names = _names(options)
    schema = _schema(options)
    frame = schema.validate(_read(options), warn=False)  # `fit` warns
    model = MAPDP(
        schema,
        concentration=options.concentration,
        hyperparameters=options.hyperparameters,
        coarsening=options.coarsening,
        select_features=options.select_features,
        n_restarts=options.restarts,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    # A report beside the model of another run would mislead: all files appear, or none.
    with write_together(options.out) as folder:
        model.fit(frame)
        model.save(folder)
        write_assignments(assignment_table(frame, schema, model.labels_, model.membership_), folder / "assignments.csv")
        found: dict[str, Any] = {"comparisons": compare_subtypes(frame, model.labels_, schema, **tests)}
        found["associations"] = None
        if options.associations != "none":
            found["associations"] = validated_associations(
                model, frame, method=options.associations, min_size=options.min_size, n_jobs=options.jobs
            )
        for name in ("subtypes.xlsx", "subtypes.html"):
            write_report(model, frame, folder / name, names=names, suppress=options.suppress, **found, **tests)
    sizes = ", ".join(f"{size} ({size / len(frame):.1%})" for size in model.cluster_sizes_)
    print(f"{model.n_clusters_} subtype{'' if model.n_clusters_ == 1 else 's'} among {len(frame)} subjects: {sizes}")
    print(f"Wrote {options.out}: subtypes.xlsx, subtypes.html, assignments.csv, model.json, model.npz")
    if options.suppress is not None:
        print("For sharing: subtypes.xlsx and subtypes.html only. The other files tell of single subjects.")


def _assign(options: argparse.Namespace) -> None:
    """Give each subject of a table its most probable subtype; 0 means none of these."""
    import numpy as np

    from clinclust.estimators.mapdp import MAPDP, NONE_OF_THESE
    from clinclust.reporting.assignments import assignment_table, write_assignments

    _spare_the_table(options)
    model = MAPDP.load(options.model)
    frame = _read(options)
    probabilities = model.predict_proba(frame)
    labels = probabilities.argmax(axis=1)
    labels = np.where(labels == model.n_clusters_, NONE_OF_THESE, labels)
    table = assignment_table(frame, model.schema_, labels, probabilities[:, :-1], probabilities[:, -1])
    if options.out is None:
        write_assignments(table, sys.stdout)
    else:
        write_assignments(table, options.out)
        print(f"Wrote {options.out}: {len(table)} subjects")


def _table(options: argparse.Namespace) -> None:
    """Write every feature in all subjects and in each subtype, as papers print it, for the cohort of a fit."""
    from clinclust.comparisons import compare_subtypes
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.reporting.subtype_table import subtype_table

    _spare_the_table(options)
    names = _names(options)
    model = MAPDP.load(options.model)
    frame = model.schema_.validate(_read(options), warn=False)
    if len(frame) != len(model.labels_):
        raise ValueError(
            f"{options.table} has {len(frame)} subjects, but the model was fitted on {len(model.labels_)}; "
            "give the table that it was fitted on"
        )
    comparisons = compare_subtypes(frame, model.labels_, model.schema_, significance_level=options.significance_level)
    table = subtype_table(
        comparisons,
        names=names,
        features="significant" if options.significant else None,
        between=tuple(options.between) if options.between else None,
        title=options.title or model.schema_.title or None,
    )
    table.save(options.out)
    print(f"Wrote {options.out}: {len({row.feature for row in table.rows})} features")


def _schema(options: argparse.Namespace) -> FeatureSchema:
    from clinclust.schema import FeatureSchema

    return FeatureSchema.from_yaml(options.schema)


def _read(options: argparse.Namespace) -> pd.DataFrame:
    import pandas as pd

    from clinclust.files.tables import read_cohort

    frame = read_cohort(options.table, sheet=options.sheet, encoding=options.encoding)
    if not pd.api.types.is_integer_dtype(frame.index):  # labels of a parquet file
        frame = frame.reset_index(drop=True)
    # Messages name rows as a spreadsheet shows them, the header being row 1.
    frame.index = frame.index + 2
    return frame


def _spare_the_table(options: argparse.Namespace) -> None:
    """Refuse to write over the table that is read."""
    there = options.out is not None and options.out.exists() and options.table.exists()
    if there and options.out.samefile(options.table):
        raise ValueError(f"--out {options.out} is the table itself; give another name")


if __name__ == "__main__":
    sys.exit(main())
