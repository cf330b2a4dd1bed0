"""The divisions of a tree that were tested against one continuous population, in the terms of the subtypes shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clinclust.estimators.distinct_subtypes import in_words, p_text
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_tree import SubtypeTree

DISTINCT, GRADED, ONE_CONTINUUM = "distinct", "graded", "one continuum"
"""The results of a test."""
_MOST_NAMED = 6
"""Subtypes that the name of a branch lists."""


@dataclass(frozen=True)
class Division:
    """A tested division of a tree; `node` is numbered as in `SubtypeTree.joins`, and the evidence is in nats.

    `subtypes` are those in each branch, from 1, or None if a subtype has parts in both. `p_any_shape` (NaN: not tested)
    is about one continuum of any shape; `n_draws` is the largest number of draws behind a p.
    """

    number: int
    node: int
    branches: tuple[str, str]
    subtypes: tuple[tuple[int, ...], tuple[int, ...]] | None
    sizes: tuple[int, int]
    gain: float
    expected: float
    expected_sd: float
    p: float
    p_any_shape: float
    n_draws: int
    is_accepted: bool
    is_distinct: bool

    @property
    def excess(self) -> float:
        """Evidence beyond that of one continuous population, in nats."""
        return self.gain - self.expected

    @property
    def result(self) -> str:
        """What the test says of the division."""
        return DISTINCT if self.is_distinct else GRADED if self.is_accepted else ONE_CONTINUUM

    @property
    def p_said(self) -> str:
        """Its p, as "p = 0.03" or "p < 0.01"."""
        p = p_text(self.p, self.n_draws)
        return f"p {p}" if p.startswith("<") else f"p = {p}"

    @property
    def title(self) -> str:
        """The two branches in one line."""
        return f"{self.branches[0]} | {self.branches[1]}"


def divisions_of(fit: Fit, titles: Mapping[int, str]) -> list[Division]:
    """Return the tested divisions of the tree of a fit, from the root down; `titles` names the subtypes from 1."""
    if fit.tree_test_ is None:
        return []
    tree, tested = fit.tree_, {row["step"]: row for row in fit.tree_test_.joins.to_dict("records")}
    members = tree.members()
    divisions: list[Division] = []
    for node in from_the_root(tree):
        row = tested.get(node - tree.n_subtypes + 1)
        if row is not None:
            both = [members[branch] for branch in tree.joins[node - tree.n_subtypes].tolist()]
            branches, subtypes = _branches(fit.subtype_of_.tolist(), both, titles)
            divisions.append(
                Division(
                    number=len(divisions) + 1,
                    node=node,
                    branches=branches,
                    subtypes=subtypes,
                    sizes=(int(row["first_size"]), int(row["second_size"])),
                    **{name: float(row[name]) for name in ("gain", "expected", "expected_sd", "p", "p_any_shape")},
                    n_draws=fit.tree_test_.n_draws,
                    is_accepted=bool(row["accepted"]),
                    is_distinct=bool(row["distinct"]),
                )
            )
    return divisions


def n_parted(fit: Fit) -> int:
    """Return the number of subtypes in a tree that was tested, distinct or graded."""
    return 0 if fit.tree_test_ is None else len(fit.tree_test_.parted_nodes(fit.tree_))


def distinct_in_words(fit: Fit) -> str:
    """Return how many of the tested subtypes are distinct, and in how many grades they are described."""
    if fit.tree_test_ is None:
        return ""
    distinct, parted = (fit.tree_test_.parted_of(fit.tree_, by) for by in ("distinct", "accepted"))
    return in_words(distinct, parted)


def n_distinct(fit: Fit) -> int:
    """Return the number of distinct subtypes in a tree that was tested."""
    return 0 if fit.tree_test_ is None else len(fit.tree_test_.parted_nodes(fit.tree_, "distinct"))


def shows_tested_subtypes(fit: Fit) -> bool:
    """Return whether the subtypes of a fit are those that the test of its tree leaves."""
    if fit.tree_test_ is None:
        return False
    tested_of = fit.tree_test_.parted_of(fit.tree_)
    pairs = set(zip(fit.subtype_of_.tolist(), tested_of.tolist(), strict=True))
    return len(pairs) == fit.n_clusters_ == n_parted(fit)


def from_the_root(tree: SubtypeTree) -> list[int]:
    """Return all nodes, each before those below it, the first branch first: no lines of the tree cross."""
    found, ahead = list[int](), [2 * tree.n_subtypes - 2]
    while ahead:
        node = ahead.pop()
        found.append(node)
        if node >= tree.n_subtypes:
            ahead += reversed(tree.joins[node - tree.n_subtypes].tolist())
    return found


def _branches(
    subtype_of: Sequence[int], branches: Sequence[Sequence[int]], titles: Mapping[int, str]
) -> tuple[tuple[str, str], tuple[tuple[int, ...], tuple[int, ...]] | None]:
    """Return the names of the two branches of a division, and their subtypes; None if one has parts in both."""
    n_clusters = Counter(subtype_of)
    first, second = (Counter(subtype_of[cluster] for cluster in branch) for branch in branches)
    if len(first | second) == 1:
        (subtype,) = first
        title, is_whole = titles[subtype + 1], (first + second)[subtype] == n_clusters[subtype]
        return (f"a part of {title}", f"{'the rest' if is_whole else 'another part'} of {title}"), None
    is_whole = all(branch[subtype] == n_clusters[subtype] for branch in (first, second) for subtype in branch)
    below, above = (tuple(sorted(subtype + 1 for subtype in branch)) for branch in (first, second))
    called = (_branch(branch, n_clusters, titles) for branch in (first, second))
    return (next(called), next(called)), (below, above) if is_whole else None


def _branch(branch: Mapping[int, int], n_clusters: Mapping[int, int], titles: Mapping[int, str]) -> str:
    named = [
        titles[subtype + 1] if branch[subtype] == n_clusters[subtype] else f"a part of {titles[subtype + 1]}"
        for subtype in sorted(branch)
    ]
    more = [f"{len(named) - _MOST_NAMED} more"] if len(named) > _MOST_NAMED else []
    return ", ".join([*named[:_MOST_NAMED], *more])
