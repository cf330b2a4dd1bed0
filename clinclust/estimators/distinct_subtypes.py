"""The subtypes of a fit that are more than a continuum: its tree tested from the root against one population."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, MODEL, Rule, accepting, is_number, is_whole
from clinclust.arrays import Labels, RandomState
from clinclust.errors import refuse
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems
from clinclust.estimators.parameters import RULES, parameter_problems, seed_of
from clinclust.estimators.subtype_model import parameters_of, require_fitted, require_search
from clinclust.estimators.subtype_tree import DEFAULT_TEST, FEWEST_DRAWS, SubtypeTree, TreeTest
from clinclust.progress import Progress

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel


_RULES: Mapping[str, Rule] = {
    "n_draws": Rule(
        f"a whole number of at least {FEWEST_DRAWS}",
        lambda value: is_whole(value, FEWEST_DRAWS),
    ),
    "significance_level": Rule(
        "a number above 0 and below 1, such as 0.05", lambda value: is_number(value) and 0.0 < value < 1.0
    ),
    "random_state": RULES["random_state"],
    "n_jobs": RULES["n_jobs"],
}


@dataclass(frozen=True, eq=False, repr=False)
class DistinctSubtypes:
    """The tested subtypes of a fit: unions of its subtypes that are more than slices of one continuous population.

    Two subtypes are *distinct* if no continuum explains them, or *graded*: more than degrees of a continuum with the
    same correlations, but perhaps degrees of one of another shape.

    Attributes
    ----------
    labels : int64 (N,)
        Tested subtype of each subject, 0, 1, ... by decreasing size, in the order of the fit.
    distinct : int64 (N,)
        Distinct subtype of each subject, likewise; its grades are in `labels`.
    joins : DataFrame
        One row for each tested join, from the root on. Columns:

        - `first`, `second` : subtypes of the fit in the two groups, tuples counted from 1;
        - `first_size`, `second_size` : subjects in the two groups;
        - `n_tested` : subjects in the test; of 2,000 or more, 500, or 5,000 at most where these leave doubt;
        - `n_clusters` : subtypes of the fit in both groups;
        - `n_parts` : number of parts at which the gain exceeds its expectation most;
        - `gain` : log joint of this division less that of one cluster, in nats, at coarsening 1;
        - `expected`, `expected_sd` : mean and standard deviation of this gain in one continuous population, in nats;
        - `excess` : gain less its expectation, in nats;
        - `z`, `p` : the test (`distinct_subtypes`);
        - `accepted` : whether p is below the significance level, so that the two groups are subtypes;
        - `p_any_shape` : p against a continuum of any shape, of accepted joins below none but distinct ones; else NaN;
        - `distinct` : whether `p_any_shape` is below 0.01.
    tree : SubtypeTree
        The tested tree: that of the fit, or one with merged leaves.
    test : TreeTest
        The joins by their steps, and `n_draws`, `significance_level` and `random_seed`.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> distinct = cc.distinct_subtypes(cc.MAPDP(schema, random_state=0).fit(frame), frame)
    >>> isinstance(distinct, cc.estimators.distinct_subtypes.DistinctSubtypes), distinct.n_subtypes
    (True, 2)
    >>> distinct.joins[["first", "second", "first_size", "second_size", "accepted"]]
      first second  first_size  second_size  accepted
    0  (1,)   (2,)         130           70      True
    """

    tree: SubtypeTree
    test: TreeTest

    @cached_property
    def labels(self) -> Labels:
        """Tested subtype of each subject, int64 (N,)."""
        return self.test.parted_of(self.tree)[self.tree.labels]

    @cached_property
    def distinct(self) -> Labels:
        """Distinct subtype of each subject, int64 (N,)."""
        return self.test.parted_of(self.tree, "distinct")[self.tree.labels]

    @cached_property
    def joins(self) -> pd.DataFrame:
        """The joins that were tested."""
        members = self.tree.members()
        sides = [self.tree.joins[step - 1].tolist() for step in self.test.joins["step"].tolist()]
        joins = self.test.joins.drop(columns="step")
        for place, name in enumerate(("first", "second")):
            below = [tuple(label + 1 for label in members[pair[place]]) for pair in sides]
            joins.insert(place, name, pd.Series(below, dtype=object))
        return joins

    @property
    def n_subtypes(self) -> int:
        """Number of tested subtypes."""
        return int(self.labels.max()) + 1

    @property
    def n_distinct(self) -> int:
        """Number of distinct subtypes."""
        return int(self.distinct.max()) + 1

    @property
    def summary(self) -> str:
        """One sentence: how many of the subtypes of the fit are more than a continuum, and how many are distinct."""
        if self.tree.n_subtypes == 1:
            return "The fit found one subtype, so that no split was tested."
        of_fit = f"the {self.tree.n_subtypes} subtypes of the fit"
        if self.n_subtypes == 1:
            return f"One subtype: one continuous population explains {of_fit} as well."
        return f"{self.n_subtypes} subtypes, {in_words(self.distinct, self.labels)}, made of {of_fit}."

    def __repr__(self) -> str:
        lines = [
            f"DistinctSubtypes of {self.labels.size} subjects: {', '.join(map(str, np.bincount(self.labels)))}",
            self.summary,
        ]
        lines += [
            f"  {', '.join(map(str, row['first']))} with {', '.join(map(str, row['second']))}: {row['gain']:.1f} nats, "
            f"{row['expected']:.1f} expected, z {row['z']:.1f}, p {p_text(row['p'], self.test.n_draws)}, "
            f"{result_of(row)}"
            for row in self.joins.to_dict("records")
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html(self)


def _html(distinct: DistinctSubtypes) -> str:
    from clinclust.estimators.notebook_view import counted_subtypes, sizes_in_rows
    from clinclust.schema.notebook_view import block, paragraph, table

    tested = [
        (
            ", ".join(map(str, row["first"])),
            ", ".join(map(str, row["second"])),
            f"{row['gain']:,.1f}",
            f"{row['expected']:,.1f}",
            f"{row['z']:.1f}",
            p_text(row["p"], distinct.test.n_draws),
            result_of(row),
        )
        for row in distinct.joins.to_dict("records")
    ]
    header = (
        "Subtypes of the fit",
        "and",
        "Nats",
        "Expected in one population",
        "z",
        "p",
        "Result",
    )
    return block(
        f"Distinct subtypes: {counted_subtypes(distinct.n_subtypes)} of {distinct.labels.size:,} subjects",
        paragraph(distinct.summary),
        table(("Subtype", "Subjects", "%"), sizes_in_rows(np.bincount(distinct.labels))),
        *([table(header, tested)] if tested else []),
    )


def result_of(join: Mapping[Hashable, Any]) -> str:
    """Return the result of the test of a join."""
    if not join["accepted"]:
        return "one subtype"
    return "distinct" if join["distinct"] else "graded"


def in_words(distinct: Labels, labels: Labels) -> str:
    """Return how many subtypes are distinct, and in how many grades they are described, given those of subjects."""
    n_grades = [np.unique(labels[distinct == one]).size for one in range(int(distinct.max()) + 1)]
    graded = sorted((number for number in n_grades if number > 1), reverse=True)
    if len(n_grades) == 1:
        return "which may be grades of one"
    if not graded:
        return "all distinct"
    which = "one" if len(graded) == 1 else f"{len(graded)}"
    return f"{len(n_grades)} distinct, {which} in {_listed(graded)} grades"


def _listed(numbers: list[int]) -> str:
    return " and ".join(map(str, numbers)) if len(numbers) < 3 else f"{numbers[-1]} to {numbers[0]}"


def p_text(p: float, n_draws: int) -> str:
    """Return p with no more digits than its draws bear."""
    return f"< {1 / n_draws:g}" if p < 1.0 / n_draws else f"{p:.2f}"


@accepting(model=MODEL, frame=FRAME)
def distinct_subtypes(
    model: SubtypeModel,
    frame: pd.DataFrame,
    n_draws: int = DEFAULT_TEST["n_draws"],
    significance_level: float = DEFAULT_TEST["significance_level"],
    random_state: RandomState = None,
    n_jobs: int | None = -1,
) -> DistinctSubtypes:
    """Test along the tree of a fit which of its subtypes are more than slices of one continuous population.

    The null is a Gaussian copula with the margins, correlations and missing values of the subjects, as in SigClust (Liu
    et al. 2008) along a tree (Kimes et al. 2017). Accepted joins are tested again, against one population of
    any shape: the subjects' own distribution, smoothed until it has one peak (docs/number_of_subtypes.md).

    For the subjects below a join, G_k is the gain in log joint over one cluster of the best division into k parts,
    k = 2 .. k_max, that repeated two-way divisions find, and g_2 that of the best two-way division, with that of the
    tree. S_bk is G_k in the cohort b drawn from the one population, with mean m_k and standard deviation s_k:

        T   = max(max_k (G_k - m_k) / s_k, (g_2 - m_2) / s_2)
        M_b = max_k (S_bk - m_bk) / s_bk, with the mean and standard deviation of the other draws
        z   = (T - mean of M) / (standard deviation of M)
        p   = 1 - Phi(z), but at least the share of the draws with M_b >= T.

    Likewise with statistics of shape in the place of gains: the log of the dip (Hartigan and Hartigan 1985) of the log
    odds in the best two-way division, and the log likelihood ratio of two normal distributions to one along the first
    three principal components of normal scores. The p of a join is the smaller of that of the gains and twice that of
    the shape, and z that of the same.

    Parameters
    ----------
    model : MAPDP
        A fitted model.
    frame : DataFrame, N rows
        The cohort of the fit.
    n_draws : int
        Largest number of cohorts drawn at each join, at least 20; fewer if z is far from its value at the level.
    significance_level : float
        The level of each test, above 0 and below 1.
    random_state : int, numpy.random.Generator, RandomState or None
        Seed of the draws; None: that of the model.
    n_jobs : int, optional
        Number of threads; None or -1: one per processor.

    Returns
    -------
    DistinctSubtypes

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, `frame` is not its cohort, or a parameter cannot be used.

    Warns
    -----
    CohortWarning
        If the rows of `frame` were in another order than at the fit.

    References
    ----------
    Liu, Hayes, Nobel and Marron (2008), *Statistical significance of clustering for high-dimension, low-sample size
    data*, Journal of the American Statistical Association 103, 1281-1293.

    Kimes, Liu, Hayes and Marron (2017), *Statistical significance for hierarchical clustering*, Biometrics 73, 811-821.

    Hartigan and Hartigan (1985), *The dip test of unimodality*, Annals of Statistics 13, 70-84.

    Examples
    --------
    One severity runs through six measurements. The fit divides it, and the test does not:

    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> severity = rng.normal(size=(200, 1))
    >>> frame = pd.DataFrame(severity + 0.7 * rng.normal(size=(200, 6)), columns=list("abcdef"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, n_clusters=None, random_state=0).fit(frame)
    >>> distinct = cc.distinct_subtypes(model, frame)
    >>> model.n_clusters_, distinct.n_subtypes
    (4, 1)
    """
    from clinclust.compiled import announcing_compilation
    from clinclust.engine.search.threads import Cancelled, interruptible

    parameters: dict[str, Any] = {
        "n_draws": n_draws,
        "significance_level": significance_level,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    fit = _checked(model, frame, parameters)
    cohort = cohort_of(model, frame, stacklevel=3).table
    parameters["random_state"] = fit.random_seed_ if random_state is None else seed_of(random_state)
    cancelled = Cancelled()

    def walk() -> tuple[SubtypeTree, TreeTest]:
        from clinclust.estimators.tested_tree import tested_tree

        with announcing_compilation():
            progress = Progress(bool(parameters_of(model).get("progress")))
            return tested_tree(fit, cohort, parameters, progress, cancelled, with_grades=True)

    return DistinctSubtypes(*interruptible(walk, cancelled))


def _checked(model: SubtypeModel, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> Fit:
    """Return the fit; raise one error for all arguments that cannot be used."""
    problems = parameter_problems(parameters, _RULES)
    if not problems:
        require_fitted(model)
    if hasattr(model, "labels_") and model.fit_ is None:
        problems.append(f"distinct_subtypes needs a fitted MAPDP; these subtypes were made by {model.made_by}")
    problems += cohort_problems(model, frame)
    refuse(problems)
    return require_search(model, "distinct_subtypes")
