"""The subtypes of a fit that are more than a continuum, and cuts of its tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, wraps
from itertools import combinations
from numbers import Integral
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pandas as pd

import clinclust.engine.continuum.tested_node as nodes
from clinclust.arguments import Rule, accepting, is_number, is_whole
from clinclust.arrays import Labels, RandomState
from clinclust.engine.continuum.null_cohorts import are_nominal
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.problem.problem import Problem
from clinclust.engine.sampling.chains import average_membership
from clinclust.engine.search.plan import SearchPlan, Threads, interruptible, n_threads
from clinclust.engine.search.settle import groups_by_decreasing_size, merge_gains, merge_tree
from clinclust.errors import InputError, refuse
from clinclust.estimators.fit import (
    DISTINCT_LEVEL,
    FEWEST_DRAWS,
    JOIN_DTYPES,
    N_DRAWS,
    NO_FLOOR,
    SHAPE_COUNTS,
    SIGNIFICANCE_LEVEL,
    Fit,
    PartitionedFit,
    SubtypeTree,
    TreeTest,
    evidence_between,
    is_tested,
    with_joined,
)
from clinclust.estimators.parameters import DISTINCT, KINDS, RULES, parameter_problems, seed_of
from clinclust.estimators.subtype_model import (
    CLEAR,
    SubtypeModel,
    cohort_of,
    fitted_problem,
    parameters_of,
    require_search,
)
from clinclust.progress import Progress

# The walk along the tree of a fit, with the test of each join; leaves that are one continuum are merged.
#
# Where a tree divides by severity before disease, slices of one disease lie on different branches. Leaves are therefore
# tested pairwise after the walk, and the most clearly continuous are merged.
#
# The tree joins what costs the log joint least: women of two species first, if sex makes more measurements differ. No
# join of it then divides the species. A second tree joins the groups that are nearest on the axis between them, as both
# sexes of one species are, and replaces the first where its gaps divide the cohort into more kinds. Distances are those
# of all features: of 400 people with and without kidney disease, 13 of whose 24 features are answers, distances in
# measurements alone join the healthy with 54 of the ill.

Side: TypeAlias = frozenset[int]
"""Clusters of the fit."""
Join: TypeAlias = tuple[Side, Side]
Found = TypeVar("Found")

_BRANCH, _GAP, _AXIS = 1416, 1417, 1418
"""Spawn key of the draws of one population, and seeds of the tests of gaps and of the distances."""
_NEAREST = 3
"""Number of nearest groups with which each group is tested."""
FAR = 5.5
"""Distance from which on two groups are no neighbouring slices (`distance_in`), and draws count without a gap: of 400
pairs in 39 simulated cohorts of severities and groups, those that are one continuum at .05 have up to 4.6. Groups that
only draws part are 6.6 to 7.7 apart among skin diseases and animals, and up to 4.7 in a questionnaire of personality:
smoothed in 28 scales, people lose how far from the middle they answer. Along the axis, ten people are 7.3 away from 517
others, among whom so few can have no gap."""
LEAST_CLEAR = 0.5
"""Least share of members of distinct groups whose probability, averaged over partitions, is clear. Of 36 pairs of
simulated groups 3.3 SD apart 48 to 87% are, with a fifth of values missing or without, of benign and malignant tumours
in 30 measurements 85%, and of one of four groups in a survey of smoking habits 34%."""
_FEWEST_MEMBERS = 2
"""Number of subjects below which a side of a division is no subtype, but an unusual subject."""


def _once(find: Callable[[PairTests, Side, Side], Found]) -> Callable[[PairTests, Side, Side], Found]:
    """Return a method that finds something of two groups, in any order, once."""

    @wraps(find)
    def known(tests: PairTests, first: Side, second: Side) -> Found:
        key = find.__name__, frozenset((first, second))
        if key not in tests.known:
            tests.known[key] = find(tests, first, second)
        result: Found = tests.known[key]
        return result

    return known


class PairTests:
    """Cached tests of two groups of clusters; `cohort` is as in `fitted_problem`."""

    def __init__(self, fit: Fit, cohort: pd.DataFrame | Problem, plan: SearchPlan, draws: nodes.DrawPlan) -> None:
        self.problem = fitted_problem(fit, cohort, coarsening=1.0)
        self.labels = fit.cluster_labels_[self.problem.cohort.order]
        self.coarsened, self.search_plan = self.problem.under(coarsening=fit.coarsening_), plan
        self.plan, self.seed = draws, plan.seed
        self.discrete, self.nominal = nodes.is_discrete(self.problem.cohort), are_nominal(self.problem.cohort)
        self.scores = nodes.scores_on_own_scales(self.problem.cohort, self.discrete).astype(np.float32)  # whole steps
        self.known: dict[tuple[str, frozenset[Side]], Any] = {}  # of two groups, by the method

    @_once
    def distance(self, first: Side, second: Side) -> float:
        """Return how far apart two groups are where a gap between them is looked for (`distance_between`)."""
        rng = np.random.default_rng(_AXIS)
        node = self.node(first, second).sample(nodes.MANY, rng)
        scores = self.scores[node.members].astype(np.float64)
        columns = nodes.find_telling_scores(scores, self.discrete, self.nominal, node.halves)
        return nodes.distance_between(columns, node.halves, rng)

    def node(self, first: Side, second: Side) -> nodes.Node:
        """Return the subjects of two groups."""
        members = np.flatnonzero(np.isin(self.labels, list(first | second)))
        halves = np.isin(self.labels[members], list(second)).astype(np.int64)
        return nodes.Node(members, halves, len(first | second))

    @_once
    def begun(self, first: Side, second: Side) -> nodes.RunningTest:
        """Return the test of two groups against one continuum, with its first draws at least."""
        return self._begun(first, second, self.plan)

    def _begun(self, first: Side, second: Side, plan: nodes.DrawPlan) -> nodes.RunningTest:
        seed = np.random.SeedSequence(self.seed, spawn_key=(_BRANCH, *sorted(first | second)))
        return nodes.RunningTest(self.problem, self.node(first, second), plan, seed)

    @_once
    def p_of_any_shape(self, first: Side, second: Side) -> float:
        """Return p of two groups against a continuum of any shape, by a gap or draws; 1 if few are clearly of one."""
        if not self.are_clear(first, second):
            return 1.0
        p = self.p_of_gap(first, second)
        if p < DISTINCT_LEVEL or nodes.are_few(self.discrete):
            return p
        if max(nodes.distance_in(self.problem, self.node(first, second)), self.distance(first, second)) < FAR:
            return p
        plan = replace(self.plan, significance_level=DISTINCT_LEVEL / SHAPE_COUNTS, any_shape=True)
        straight, smoothed = self.begun(first, second).ended().p, self._begun(first, second, plan).ended().p
        return min(p, max(straight, SHAPE_COUNTS * smoothed))  # a population of any shape may be straight

    def are_clear(self, first: Side, second: Side) -> bool:
        """Return whether enough members of each of two groups are clearly of it, and not of the other."""
        places, averages = average_membership(self.coarsened, self.labels, self.search_plan)
        labels = self.labels[places]
        sides = [(list(side), averages[:, list(side)].sum(axis=1)) for side in (first, second)]
        of_both = sides[0][1] + sides[1][1]
        clear = [(p > CLEAR * of_both)[np.isin(labels, side)] for side, p in sides]
        return all(members.mean() >= LEAST_CLEAR for members in clear if members.size)

    @_once
    def p_of_gap(self, first: Side, second: Side) -> float:
        """Return p of no gap between two groups, in measurements or else in normal scores."""
        seed = np.random.SeedSequence(_GAP)  # one whatever the fit, so that its seed changes no verdict
        return nodes.p_of_gap_between(self.problem, self.node(first, second), seed, DISTINCT_LEVEL)

    def least_distinct(self, sides: Sequence[Side]) -> Join | None:
        """Return the most continuous of near groups that are not distinct; None if all are."""
        pairs = sorted(self.nearest_pairs(sides, 1), key=lambda pair: self.begun(*pair).found.z)
        return next((pair for pair in pairs if self.p_of_any_shape(*pair) >= DISTINCT_LEVEL), None)

    def most_continuous(self, sides: Sequence[Side]) -> Join | None:
        """Return the two groups that are most clearly one continuum; None without any.

        Only the test with the largest p goes on, until it has ended above the level; a gap makes them two.
        """
        candidates = {pair: self.begun(*pair) for pair in self.nearest_pairs(sides)}
        while candidates:
            best = max(candidates, key=lambda pair: candidates[pair].found.p)
            if not candidates[best].has_ended:
                candidates[best].go_on()
            elif candidates[best].found.p >= self.plan.significance_level and self.p_of_gap(*best) >= DISTINCT_LEVEL:
                return best
            else:
                del candidates[best]
        return None

    def nearest_pairs(self, sides: Sequence[Side], smallest: int = nodes.SMALLEST_NODE) -> Iterator[Join]:
        """Yield the pairs to test: each large enough group with its nearest ones, unless far away."""
        side_of = np.zeros(self.labels.max() + 1, dtype=np.int64)
        for place, side in enumerate(sides):
            side_of[list(side)] = place
        partition = new_partition(self.problem.cohort.arrays, side_of[self.labels])
        gains = merge_gains(self.problem, partition)
        gains = np.maximum(gains, gains.T)
        is_large = partition.sizes[: len(sides)] >= smallest
        gains[~is_large] = gains[:, ~is_large] = -np.inf
        nearest = [set(np.argsort(-row, kind="stable")[:_NEAREST].tolist()) for row in gains]
        for first, second in combinations(range(len(sides)), 2):
            is_near = gains[first, second] > -np.inf and (second in nearest[first] or first in nearest[second])
            if is_near and nodes.distance_in(self.problem, self.node(sides[first], sides[second])) < FAR:
                yield sides[first], sides[second]


def joined_groups(
    tree: SubtypeTree, ends: Sequence[int], choose: Callable[[Sequence[Side]], Join | None]
) -> tuple[list[Join], list[Side]]:
    """Return the first joins of a new tree, in which chosen leaves are joined, and the groups; no joins without any.

    `ends` are the nodes at which the walk ended. `choose` returns the groups to join next, or None.
    """
    members = [frozenset(side) for side in tree.members()]
    sides, all_joins = [members[end] for end in ends], [(members[a], members[b]) for a, b in tree.joins.tolist()]
    joins = [(first, second) for first, second in all_joins if any(first | second <= side for side in sides)]
    n_before = len(joins)
    while len(sides) > 2:  # two groups are the whole cohort, whose join is tested itself
        if (pair := choose(sides)) is None:
            break
        joins.append(pair)
        sides[sides.index(pair[0])] = pair[0] | pair[1]
        sides.remove(pair[1])
    return (joins if len(joins) > n_before else []), sides


def walk_tree(
    fit: Fit,
    cohort: pd.DataFrame | Problem,
    plan: SearchPlan,
    n_draws: int = N_DRAWS,
    significance_level: float = SIGNIFICANCE_LEVEL,
    *,
    with_grades: bool = True,
) -> tuple[SubtypeTree, TreeTest]:
    """Test the joins of a tree from its root; merge leaves that are one continuum, and walk the new tree once more.

    `cohort` is as in `fitted_problem`. The draws have the seed, threads and progress of a plan. With `with_grades`,
    accepted joins are also tested against one of any shape. Returns the tested tree and its test.
    """
    threads = Threads(n_threads(plan.n_jobs), plan.cancelled)
    with threads as pool, plan.progress.stage("draws of one population") as advance:
        draws = nodes.DrawPlan(int(n_draws), float(significance_level), pool, plan.cancelled, advance)
        return _tested(fit, cohort, plan, draws, with_grades=with_grades)


def _tested(
    fit: Fit, cohort: pd.DataFrame | Problem, plan: SearchPlan, draws: nodes.DrawPlan, *, with_grades: bool
) -> tuple[SubtypeTree, TreeTest]:
    tree = fit.tree_
    if not is_tested(tree):
        return tree, _test_of([], draws, plan.seed)
    tests, kinds = PairTests(fit, cohort, plan, draws), list[Side]()
    tiny = _joins_of_tiny_clusters(tree, tests)
    if tiny:
        tree = _joined_first(tree, tests, tiny)
    walked = _walked(tree, tests)
    # Slices of a severity that runs through several groups are joined to groups before these are distinguished.
    for choose in (tests.most_continuous, *([tests.least_distinct] if with_grades else [])):
        ends = _test_of(walked, draws, plan.seed).parted_nodes(tree)
        first, kinds = joined_groups(tree, ends, choose)
        is_there = choose == tests.least_distinct and {tuple(sorted(kind)) for kind in kinds} <= set(tree.members())
        if first and not is_there:
            tree = _joined_first(tree, tests, first)
            walked = _walked(tree, tests)
    if with_grades:
        _add_grades(walked, tree, tests, kinds)
    test = _test_of(walked, draws, plan.seed)
    distinct = _distinct_sides(tree, test)
    may_have_more = tree.n_subtypes > 2 and len(distinct) < tree.n_subtypes - len(tiny)
    if not with_grades or not may_have_more or not nodes.are_measurements(tests.discrete):
        return tree, test
    joins, kinds = _join_nearest_first(tree.n_subtypes, tests, tiny)
    if not _are_further_apart(kinds, distinct, tests):
        return tree, test
    nearest = _joined_first(tree, tests, joins)
    walked = _walked(nearest, tests)
    _add_grades(walked, nearest, tests, [])
    of_nearest = _test_of(walked, draws, plan.seed)
    are_kinds = _are_further_apart(_distinct_sides(nearest, of_nearest), distinct, tests)
    return (nearest, of_nearest) if are_kinds else (tree, test)


def _distinct_sides(tree: SubtypeTree, test: TreeTest) -> list[Side]:
    """Return the distinct groups of a tested tree."""
    members = tree.members()
    return [frozenset(members[node]) for node in test.parted_nodes(tree, "distinct")]


def _are_further_apart(kinds: Sequence[Side], others: Sequence[Side], tests: PairTests) -> bool:
    """Return whether these kinds are more than the others or, if they are as many, the nearest are further apart."""
    if len(kinds) != len(others) or set(kinds) == set(others):
        return len(kinds) > len(others)
    nearest = [min(tests.distance(*pair) for pair in combinations(groups, 2)) for groups in (kinds, others)]
    return nearest[0] > nearest[1]


def _join_nearest_first(n_clusters: int, tests: PairTests, first: Sequence[Join]) -> tuple[list[Join], list[Side]]:
    """Return the joins of a tree: the `first` ones, and then always those of the two groups nearest on their axis.

    Also its groups with gaps between them, from the root on.
    """
    ahead, joins, halves = [frozenset([cluster]) for cluster in range(n_clusters)], list[Join](), dict[Side, Join]()
    while len(ahead) > 1:
        if len(joins) < len(first):
            pair = first[len(joins)]
        else:
            pair = min(combinations(ahead, 2), key=lambda groups: tests.distance(*groups))
        joins.append(pair)
        ahead = [side for side in ahead if side not in pair] + [pair[0] | pair[1]]
        halves[ahead[-1]] = pair
    kinds, below = list[Side](), ahead
    while below:
        side = below.pop()
        has_gap = side in halves and tests.p_of_gap(*halves[side]) < DISTINCT_LEVEL
        below += halves[side] if has_gap else ()
        kinds += [] if has_gap else [side]
    return joins, kinds


def _joined_first(tree: SubtypeTree, tests: PairTests, first: Sequence[Join]) -> SubtypeTree:
    """Return the tree of the clusters that begins with these joins."""
    groups = [frozenset([cluster]) for cluster in range(tree.n_subtypes)] + [side | other for side, other in first]
    numbers = {node: number for number, node in enumerate(groups)}
    pairs = [(numbers[side], numbers[other]) for side, other in first]
    return SubtypeTree(tree.labels, *merge_tree(tests.coarsened, tests.labels, pairs))


def _joins_of_tiny_clusters(tree: SubtypeTree, tests: PairTests) -> list[Join]:
    """Return the joins of each cluster of one subject with its nearest other cluster: it is no subtype.

    A row of gross errors is a cluster of its own. Its division from all others would be the first of the tree, and the
    most clear.
    """
    partition = new_partition(tests.problem.cohort.arrays, tests.labels)
    sizes = partition.sizes[: tree.n_subtypes]
    if sizes.min() >= _FEWEST_MEMBERS or sizes.max() < _FEWEST_MEMBERS:
        return []
    gains = merge_gains(tests.problem, partition)
    gains = np.maximum(gains, gains.T)
    gains[:, sizes < _FEWEST_MEMBERS] = -np.inf
    groups, joins = [frozenset([cluster]) for cluster in range(tree.n_subtypes)], list[Join]()
    for cluster in np.flatnonzero(sizes < _FEWEST_MEMBERS).tolist():
        nearest = int(gains[cluster].argmax())
        joins.append((groups[nearest], groups[cluster]))
        groups[nearest] |= groups[cluster]
    return joins


def _test_of(rows: list[dict[str, Any]], plan: nodes.DrawPlan, seed: int) -> TreeTest:
    return TreeTest(
        joins=pd.DataFrame({name: np.array([row[name] for row in rows], kind) for name, kind in JOIN_DTYPES.items()}),
        n_draws=plan.n_draws,
        significance_level=plan.significance_level,
        random_seed=seed,
    )


def _walked(tree: SubtypeTree, tests: PairTests) -> list[dict[str, Any]]:
    """Return the rows of `TreeTest.joins`."""
    rows, members = list[dict[str, Any]](), tree.members()
    ahead = [2 * tree.n_subtypes - 2]
    while ahead:
        number = ahead.pop(0)
        if number < tree.n_subtypes:
            continue
        sides = [int(side) for side in tree.joins[number - tree.n_subtypes]]
        first, second = (frozenset(members[side]) for side in sides)
        node = tests.node(first, second)
        n_second = int(node.halves.sum())
        if node.members.size < nodes.SMALLEST_NODE or min(n_second, node.members.size - n_second) < _FEWEST_MEMBERS:
            continue
        test = tests.begun(first, second).ended()
        accepted = test.p < tests.plan.significance_level
        ahead += sides if accepted else []
        rows.append(
            {name: getattr(test, name) for name in ("n_parts", "gain", "expected", "expected_sd", "excess", "z", "p")}
            | {"step": number - tree.n_subtypes + 1, "n_tested": test.n_subjects, "n_clusters": node.n_clusters}
            | {"first_size": node.members.size - n_second, "second_size": n_second}
            | {"accepted": accepted, "p_any_shape": np.nan, "distinct": False}
        )
    return rows


def _add_grades(rows: list[dict[str, Any]], tree: SubtypeTree, tests: PairTests, kinds: Sequence[Side]) -> None:
    """Add to accepted joins, from the root on, their p against one of any shape, up to the first not distinct."""
    members, reached = tree.members(), {2 * tree.n_subtypes - 2}
    for row in rows:
        node = tree.n_subtypes + row["step"] - 1
        if row["accepted"] and node in reached:
            sides = tree.joins[row["step"] - 1].tolist()
            first, second = (frozenset(members[side]) for side in sides)
            # Of two unions of kinds, which are distinct, the largest p of near kinds in both.
            across = (
                frozenset((kind, other)) for kind in kinds for other in kinds if kind <= first and other <= second
            )
            values = [tests.known[key] for pair in across if (key := ("p_of_any_shape", pair)) in tests.known]
            row["p_any_shape"] = max(values) if values else tests.p_of_any_shape(first, second)
            row["distinct"] = row["p_any_shape"] < DISTINCT_LEVEL
            reached |= set(sides) if row["distinct"] else set()


# The subtypes of a fit that are more than a continuum: its tree tested from the root against one population.


@dataclass(frozen=True, eq=False, repr=False)
class DistinctSubtypes:
    """The tested subtypes of a fit: unions of its subtypes that are more than slices of one continuous population.

    Two subtypes are *distinct* if no continuum explains them, or *graded*: more than degrees of a continuum with the
    same correlations, but perhaps degrees of one of another shape.

    Attributes
    ----------
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
        - `p_any_shape` : p against a continuum of any shape, of accepted joins below none but distinct ones; else NaN.
          That of groups of several kinds is the largest between near kinds of both; 1 if few are clearly of a side;
        - `distinct` : whether `p_any_shape` is below 0.03.
    tree : SubtypeTree
        The tested tree: that of the fit, or one with merged leaves.
    test : TreeTest
        The joins by their steps, and `n_draws`, `significance_level` and `random_seed`.
    """

    tree: SubtypeTree
    test: TreeTest

    @cached_property
    def labels(self) -> Labels:
        """Tested subtype of each subject, 0, 1, ... by decreasing size, in the order of the fit, int64 (N,)."""
        return self.test.parted_of(self.tree)[self.tree.labels]

    @cached_property
    def distinct(self) -> Labels:
        """Distinct subtype of each subject, likewise; its grades are in `labels`."""
        return self.test.parted_of(self.tree, "distinct")[self.tree.labels]

    @cached_property
    def joins(self) -> pd.DataFrame:
        """The joins that were tested."""
        sides = self.tree.merges.set_index("step").loc[self.test.joins["step"], ["first", "second"]]
        return pd.concat([sides.reset_index(drop=True), self.test.joins.drop(columns="step")], axis=1)

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
        kinds = "which may be grades of one" if self.n_distinct == 1 else f"{self.n_distinct} distinct"
        return f"{self.n_subtypes} subtypes, {kinds}, made of {of_fit}."

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, np.bincount(self.labels)))
        joins = self.joins[["first", "second", "gain", "expected", "z", "p", "accepted", "distinct"]]
        text = joins.to_string(index=False, float_format="{:.3g}".format) if len(joins) else ""
        return f"DistinctSubtypes of {self.labels.size} subjects: {sizes}\n{self.summary}\n{text}".rstrip()


def p_text(p: float, n_draws: int) -> str:
    """Return p with no more digits than its draws bear."""
    return f"< {1 / n_draws:g}" if p < 1.0 / n_draws else f"{p:.2f}"


@accepting(
    n_draws=Rule(f"a whole number of at least {FEWEST_DRAWS}", lambda value: is_whole(value, FEWEST_DRAWS)),
    significance_level=Rule(
        "a number above 0 and below 1, such as 0.05", lambda value: is_number(value) and 0.0 < value < 1.0
    ),
    n_jobs=RULES["n_jobs"],
)
def distinct_subtypes(
    model: SubtypeModel,
    frame: pd.DataFrame,
    n_draws: int = N_DRAWS,
    significance_level: float = SIGNIFICANCE_LEVEL,
    random_state: RandomState = None,
    n_jobs: int | None = -1,
) -> DistinctSubtypes:
    """Test along the tree of a fit which of its subtypes are more than slices of one continuous population.

    The null is a Gaussian copula with the margins, correlations and missing values of the subjects, as in SigClust (Liu
    et al. 2008) along a tree (Kimes et al. 2017). Its groups are tested again, against one population of any shape:
    the subjects' own distribution, smoothed until it has one peak (docs/number_of_subtypes.md). Neighbours that are one
    by this test are joined, and the new tree is tested once more.

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
    >>> rng = np.random.default_rng(1)
    >>> severity = rng.normal(size=(100, 1))
    >>> frame = pd.DataFrame(severity + 0.7 * rng.normal(size=(100, 6)), columns=list("abcdef"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, n_clusters=None, random_state=0).fit(frame)
    >>> distinct = cc.distinct_subtypes(model, frame)
    >>> model.n_clusters_, distinct.n_subtypes
    (4, 1)
    """
    fit = require_search(model, "distinct_subtypes")
    cohort = cohort_of(model, frame).table
    seed = fit.random_seed_ if random_state is None else seed_of(random_state)
    plan = SearchPlan(seed=seed, n_jobs=n_jobs, progress=Progress(bool(parameters_of(model).get("progress"))))

    def walk() -> tuple[SubtypeTree, TreeTest]:
        with announcing_compilation():
            return walk_tree(fit, cohort, plan, n_draws, significance_level)

    return DistinctSubtypes(*interruptible(walk, plan.cancelled))


# Cut a fit to a number of subtypes: unions of the clusters that the search found, without another search.
#
# A subtype below the floor (`min_size`) is merged where it is hardly distinct, else it is described but not tested.

WEAK_EVIDENCE = 5.0
"""Evidence in nats below which two subtypes are hardly distinct (Kass and Raftery 1995: less than very strong)."""


def as_asked(fit: Fit, n_clusters: int | str | None, min_size: float | None = None) -> Fit:
    """Return the fit with `MAPDP.n_clusters` and then the floor `MAPDP.min_size`.

    InputError is raised if the search found fewer clusters, or the tree of distinct subtypes was not tested.
    """
    n_groups = fit.subtype_of_.size
    if n_clusters is None:
        groups = np.arange(n_groups)
    elif isinstance(n_clusters, str):
        if fit.tree_test_ is None:
            raise InputError(
                "which subtypes are distinct was not tested at the fit; fit with n_clusters='distinct', or give "
                "`cut` what `distinct_subtypes(model, frame)` returns"
            )
        groups = fit.tree_test_.parted_of(fit.tree_, "distinct" if n_clusters == KINDS else "accepted")
    elif n_clusters > n_groups:
        groups_found = "1 group" if n_groups == 1 else f"{n_groups} groups"
        fewer = "leave the number open" if n_groups == 1 else f"ask for at most {n_groups}, or leave the number open"
        finer = [f"a larger concentration (now {fit.concentration_:.3g})"]
        if fit.coarsening_ < 1.0:
            finer.append(f"a coarsening nearer to 1 (now {fit.coarsening_:.3g})")
        if fit.stopped_early_:
            finer.append("more time (its limit ended it)")
        raise InputError(
            f"{n_clusters} subtypes were asked for, and the search found {groups_found} of subjects. Subtypes are "
            f"unions of these groups, so that there can be no more; {fewer}. A search that finds more groups needs "
            f"{' or '.join(finer)}",
            in_python="; to keep a search whatever it finds, fit without `n_clusters`, and then call `model.cut`",
        )
    else:
        groups = fit.tree_.subtype_of(int(n_clusters))
    subtype_of = groups_by_decreasing_size(groups, fit.clusters_.sizes.astype(np.int64))
    return with_grades_in_order(with_floor(replace(fit, subtype_of_=subtype_of), min_size))


def with_grades_in_order(fit: Fit) -> Fit:
    """Return the fit with its subtypes numbered kind by kind if kinds have grades (`Fit.grades`), else unchanged.

    Kinds are numbered by decreasing size, and grades along the axis that parts them: the first principal component of
    their parameters, each in standard deviations between them, weighted by the relevance of its feature. The end with
    more subjects comes first: a liver panel has 1a (healthy donors) to 1c, and 2a to 2c (cirrhosis).
    """
    grades = fit.grades
    if grades is None:
        return fit
    order = list[int]()
    for grades_of_kind in grades:
        order += grades_of_kind if len(grades_of_kind) < 3 else _along_axis(fit, grades_of_kind)
    return replace(fit, subtype_of_=np.argsort(order)[fit.subtype_of_])


def _along_axis(fit: Fit, subtypes: Sequence[int]) -> list[int]:
    """Return subtypes along their first principal axis, from the end with more subjects on."""
    parameters = fit.cluster_parameters_.query("parameter != 'sd'")
    table = parameters.pivot_table(index=["feature", "parameter", "level"], columns="subtype", values="estimate")
    table = table[np.isfinite(table.to_numpy()).all(axis=1)]  # few values may leave a mean on another scale without end
    values, weights = table.to_numpy()[:, subtypes], fit.cluster_sizes_[subtypes] / fit.cluster_sizes_[subtypes].sum()
    off = values - (values @ weights)[:, None]
    spread = np.sqrt(off**2 @ weights)[:, None]
    nats = fit.feature_relevance_.reindex(table.index.get_level_values("feature")).fillna(0.0).clip(lower=0.0)
    scaled = np.where(spread > 0.0, off / np.where(spread > 0.0, spread, 1.0), 0.0) * np.sqrt(nats.to_numpy())[:, None]
    if not scaled.any():  # no feature tells the grades
        return list(subtypes)
    places = np.linalg.svd(scaled * np.sqrt(weights), full_matrices=False)[2][0] / np.sqrt(weights)
    ordered = [subtypes[place] for place in np.argsort(places, kind="stable").tolist()]
    first, last = fit.cluster_sizes_[[ordered[0], ordered[-1]]]
    return ordered if first >= last else ordered[::-1]


def cut_fit(fit: Fit, n_clusters: int | str | DistinctSubtypes | None, min_size: float | None = None) -> Fit:
    """Return a fit with `n_clusters` subtypes and a floor for their size; see `MAPDP.cut`."""
    if isinstance(n_clusters, DistinctSubtypes):
        tree, tested = fit.tree_, n_clusters.tree
        # The evidence of all joins is that of all clusters against one, whatever their order.
        is_same = np.array_equal(tree.labels, tested.labels) and np.isclose(tree.evidence.sum(), tested.evidence.sum())
        if not is_same:
            raise InputError(
                "the distinct subtypes are those of another fit; test this one: distinct_subtypes(model, frame)"
            )
        return cut_fit(replace(fit, tree_=tested, tree_test_=n_clusters.test), DISTINCT, min_size)
    refuse(parameter_problems({"n_clusters": n_clusters, "min_size": min_size}))
    n_subjects = int(fit.clusters_.sizes.sum())
    refuse_too_large_a_floor(min_size, n_subjects)
    if isinstance(fit, PartitionedFit):
        return fit.with_subtypes_of(cut_fit(fit.in_sample_, n_clusters, floor_as_share(min_size, n_subjects)))
    return as_asked(fit, n_clusters, min_size)


def refuse_too_large_a_floor(min_size: float | None, n_subjects: int) -> None:
    """Raise InputError, before a search, if no two subtypes can have `MAPDP.min_size` subjects."""
    floor = _in_subjects(min_size, n_subjects)
    if 2 * floor <= n_subjects:
        return
    most = n_subjects // 2
    repair = f"give at most {most}" if most >= 2 else "leave it out"
    raise InputError(
        f"at least {floor} subjects in a subtype were asked for (min_size), and the cohort has {n_subjects}, so that "
        f"no two subtypes can be compared; {repair}, or check how the table was read or filtered"
    )


def with_floor(fit: Fit, min_size: float | None) -> Fit:
    """Return the fit with a floor for the size of its subtypes.

    Repeatedly, of the pairs with a subtype below the floor that are hardly distinct, that with the least evidence is
    merged: of a tested tree, only parts of one tested subtype.
    """
    fit, test = replace(fit, min_size_=_in_subjects(min_size, fit.cluster_labels_.size)), fit.tree_test_
    while True:
        small, n_subtypes = set(np.flatnonzero(fit.untested_).tolist()), fit.n_clusters_
        pairs = [
            (other, lost) for lost in sorted(small) for other in range(n_subtypes) if other not in small or other < lost
        ]
        if test is not None:
            of_clusters = test.parted_of(fit.tree_)
            parents = [set(of_clusters[fit.subtype_of_ == subtype].tolist()) for subtype in range(n_subtypes)]
            pairs = [
                (other, lost) for other, lost in pairs if parents[other] == parents[lost] and len(parents[lost]) == 1
            ]
        if not pairs:
            return fit
        evidence = evidence_between(fit.subtypes_.pooled, np.array(pairs))
        if test is None and evidence.min() >= WEAK_EVIDENCE:
            return fit
        other, lost = pairs[int(evidence.argmin())]
        fit = replace(fit, subtype_of_=with_joined(fit.subtype_of_, other, lost, fit.clusters_.sizes))


def _in_subjects(min_size: float | None, n_subjects: int) -> int:
    """Return the floor in subjects, rounded up."""
    if min_size is None:
        return NO_FLOOR
    if isinstance(min_size, Integral):
        return int(min_size)
    # The decimal as it was written: in binary, a tenth of 30 subjects is a little more than 3.
    return max(NO_FLOOR, math.ceil(Fraction(repr(float(min_size))) * n_subjects))


def floor_as_share(min_size: float | None, n_subjects: int) -> float | None:
    """Return a `MAPDP.min_size` of all subjects as a share of them."""
    return min_size if min_size is None or isinstance(min_size, float) else min_size / n_subjects
