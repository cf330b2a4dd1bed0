"""Write a report: check the arguments, gather the findings, and pass them to the writer of the file type."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

import pandas as pd

import clinclust.arguments as arguments
from clinclust.arguments import NOTHING, ON_OR_OFF, WHOLE, accepting, either
from clinclust.data_frames import is_partitioned
from clinclust.estimators.fitted_cohort import cohort_of
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.subtype_model import SubtypeModel, require_fitted
from clinclust.files.writing import check_place
from clinclust.methods.compare import MethodComparison
from clinclust.progress import Progress
from clinclust.reporting.in_partitions import comparisons_of_all, in_sample_of
from clinclust.reporting.options import ReportOptions, check_report
from clinclust.reporting.writing import gather_findings, write_findings
from clinclust.stability import Stability


@accepting(
    model=arguments.MODEL,
    frame=arguments.ANY_FRAME,
    path=arguments.PATH,
    comparisons=arguments.WHOLE_COMPARISONS,
    associations=either(arguments.ASSOCIATIONS, arguments.TEXT, NOTHING),
    stability=either(arguments.STABILITY, WHOLE, NOTHING),
    posterior=either(arguments.POSTERIOR, ON_OR_OFF),
    other_methods=either(arguments.METHOD_COMPARISON, ON_OR_OFF),
    names=arguments.NAMES,
    min_size=WHOLE,
    significance_level=arguments.NUMBER,
    suppress=WHOLE,
    round_to=WHOLE,
    missing_is_harmless=ON_OR_OFF,
    min_n=WHOLE,
    generated=arguments.MOMENT,
    progress=ON_OR_OFF,
)
def write_report(
    model: SubtypeModel,
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    comparisons: pd.DataFrame | None = None,
    associations: pd.DataFrame | Literal["refit"] | None = "refit",
    stability: Stability | int | None = None,
    posterior: GibbsDP | bool = False,
    other_methods: MethodComparison | bool = False,
    names: Mapping[int, str] | None = None,
    min_size: int = 3,
    significance_level: float = 0.01,
    suppress: int | None = None,
    round_to: int | None = None,
    missing_is_harmless: bool = False,
    min_n: int | None = None,
    generated: datetime | None = None,
    progress: bool = True,
) -> Path:
    """Write a report of the subtypes and their differences as an Excel workbook, a web page, or for programs.

    A workbook contains one row per subject with its identifiers, unless `suppress` makes the report for sharing. All
    arguments are checked before the first search starts.

    Parameters
    ----------
    model : MAPDP, Partition or another SubtypeModel
        A fitted model. If no MAP-DP search made the subtypes, the report says which parts it leaves out.
    frame : pandas.DataFrame or dask.dataframe.DataFrame, N rows
        The cohort of the fit, whose row order is restored; rows of a `Partition` must be in the order of its labels. Of
        a table in partitions, the comparisons are of all subjects and everything else is of the sample.
    path : path
        File to write; ends in ``.xlsx``, ``.html`` or, for programs, ``.json`` (all sheets and tested divisions),
        ``.csv`` or ``.parquet`` (all numbers in one table: a summary, test, effect size or tested division a row). An
        existing file is replaced in one step.
    comparisons : pandas.DataFrame, optional
        From `compare_subtypes` for the same cohort and labels; computed by default.
    associations : "refit", pandas.DataFrame or None
        "refit" tests features against subtypes that they did not form, by up to 24 searches; or the result of
        `validated_associations` for the same model and cohort. None leaves the tests out.
    stability : int, Stability or None
        The number of half-samples and bootstrap samples (100 is usual) in which the subtypes are searched for again, or
        the result of `assess_stability` for the same model and cohort. None leaves it out.
    posterior : GibbsDP or bool
        Partitions drawn from the posterior of the same cohort, or True to draw them with `GibbsDP.of(model)`. They say
        how many groups there could be, and how sure each subtype is. A report of a `GibbsDP` has its own.
    other_methods : MethodComparison or bool
        What `compare_methods` returned for the same cohort, or True to call it: K-means, latent classes and others
        compared with the subtypes of a `MAPDP`.
    names : dict, optional
        Names of subtypes by number: ``{1: "Tremor dominant"}``. The default names of a `Partition` are its labels.
    min_size : int
        Size of the smallest subtype that is tested, if `comparisons` is not given and `MAPDP.min_size` is not larger.
    significance_level : float
        Level of p in the descriptive comparisons, and of q of features that are called validated.
    suppress : int, optional
        Make the report for sharing: withhold counts below this number (10 is usual), as `suppress_small_cells` does,
        all data of single subjects, stability, posterior and other methods.
    round_to : int, optional
        With `suppress`: round every count to a multiple of this number, such as 5, compute percentages from these, and
        leave out or withhold all functions of exact counts: tests, effect sizes, results of the search.
    missing_is_harmless : bool
        With `suppress`: numbers of missing values are not sensitive by themselves, as in `suppress_small_cells`.
    min_n : int, optional
        With `suppress`: withhold means, SDs, medians and quartiles of fewer values than this; by default `suppress`.
    generated : datetime, optional
        Date of the report; by default the environment variable SOURCE_DATE_EPOCH, or else the present time. The same
        results with the same date give the same bytes.
    progress : bool
        Whether to report each stage that takes longer than a second, as `MAPDP` does.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If an argument cannot be used or does not belong to the model (the message lists all problems), the cohort is
        too small to withhold counts in it, or the content does not fit in a workbook.

    Warns
    -----
    CohortWarning
        If the rows of `frame` were in another order than at the fit.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0).fit(frame)
    >>> cc.write_report(model, frame, "subtypes.xlsx", names={1: "Robust", 2: "Frail"}).name
    'subtypes.xlsx'
    >>> numbers = pd.read_csv(cc.write_report(model, frame, "subtypes.csv", associations=None))
    >>> numbers.query("kind == 'Tested division'")[["subtype", "versus", "method", "n"]].values.tolist()[0]
    ['Subtype 1', 'Subtype 2', 'one continuum', 200.0]
    """
    require_fitted(model)
    path = Path(path)
    options = ReportOptions(
        comparisons,
        associations,
        stability,
        names or {},
        min_size,
        significance_level,
        suppress,
        round_to,
        missing_is_harmless,
        min_n,
        posterior=posterior,
        other_methods=other_methods,
        progress=progress,
    )
    if not is_partitioned(frame):
        check_report(model, frame, path, options)
        check_place(path)
        of_all = None
    else:
        whole, table = model, frame
        model, frame, sizes = in_sample_of(whole, table)
        check_report(model, frame, path, options, sizes)
        check_place(path)
        of_all = comparisons_of_all(whole, table, options)
    cohort = cohort_of(model, frame, stacklevel=3)
    findings = gather_findings(cohort, frame, options, of_all=of_all)
    write_findings(findings, path, generated, Progress(progress))
    return path
