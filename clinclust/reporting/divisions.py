"""What the test of a tree says: how many kinds of subject there are, in how many grades, and each division."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clinclust.arrays import Code
from clinclust.estimators.distinct_subtypes import p_text
from clinclust.estimators.fit import DISTINCT_LEVEL, Fit
from clinclust.reporting.layout import WORDS, Withheld, counted, listed, name_together, print_figure

DISTINCT, GRADED, ONE_CONTINUUM = "distinct", "graded", "one continuum"
"""The results of a test."""
_MOST_NAMED = 6
"""Subtypes that the name of a branch lists."""


@dataclass(frozen=True)
class Division:
    """A tested division of a tree; `node` is numbered as in `SubtypeTree.joins`, and the evidence is in nats.

    `subtypes` are those in each branch, from 1, or None if a subtype has parts in both. `p_any_shape` (NaN: not tested)
    is about one continuum of any shape; `n_draws` is the largest number of draws behind a p. Shared findings withhold
    `sizes` of parts of subtypes, and have no evidence (NaN).
    """

    number: int
    node: int
    branches: tuple[str, str]
    subtypes: tuple[tuple[int, ...], tuple[int, ...]] | None
    sizes: tuple[int | Withheld, ...]
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
    def n_subjects(self) -> int:
        """Number of subjects in both branches, 0 if it is withheld."""
        return sum(size for size in self.sizes if isinstance(size, int))

    @property
    def result(self) -> str:
        """What the test says of the division."""
        return DISTINCT if self.is_distinct else GRADED if self.is_accepted else ONE_CONTINUUM

    @property
    def result_in_words(self) -> str:
        """What the test says of the division, in the language of the report."""
        return str(_ANSWERS["results"][self.result])

    @property
    def p_said(self) -> str:
        """Its p, as "p = 0.03" or "p < 0.01"."""
        p = p_text(self.p, self.n_draws)
        return print_figure(f"p {p}" if p.startswith("<") else f"p = {p}")

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
    for node in from_the_root(fit):
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


# How many kinds of subject there are is counted here, and said alike wherever it is said.

_ANSWERS = WORDS["answer"]
_COUNTED_OF_THE_TEST = ("kinds", "degrees", "untested")
"""The answers whose numbers leave out subtypes of too few subjects: of the others, the user chose the number."""


@dataclass(frozen=True)
class Answer:
    """How many kinds of subject there are, and in how many grades.

    `basis` is what the test says of the subtypes: a key of the table `answer` of `clinclust/data/report.toml`. `kinds`
    are the subtypes of each kind, from 1, and `not_counted` those of too few subjects to be tested. If another number
    was asked for, `kinds` are those of the test, and not of the subtypes shown.
    """

    basis: str
    kinds: Sequence[Sequence[int]]
    codes: Sequence[Code]
    not_counted: Sequence[Code] = ()

    @property
    def is_of_the_test(self) -> bool:
        """Whether the subtypes are those that the test leaves."""
        return self.basis in ("continuum", "kinds", "degrees", "alone")

    @property
    def graded(self) -> list[Sequence[int]]:
        """The kinds that have several grades, if there are several kinds."""
        return [kind for kind in self.kinds if len(kind) > 1 and self.basis == "kinds"]

    @cached_property
    def words(self) -> dict[str, str]:
        """The fields of sentences: "2 subtypes", "3 kinds", ", one of them in 2 grades", and what the test finds."""
        n, several = [len(kind) for kind in self.kinds], sorted(len(kind) for kind in self.kinds if len(kind) > 1)
        n_shown, grades = len(self.codes) - len(self.not_counted), ""
        if several and len(n) > 1:
            which = "of_all" if len(several) == len(n) else "of_one" if len(several) == 1 else "of_some"
            ends = _ANSWERS["from_to"].format(least=several[0], most=several[-1])
            numbers = str(several[0]) if several[0] == several[-1] else ends
            grades = _ANSWERS[which].format(n=len(several), grades=numbers)
        finding = "continuum" if sum(n) == 1 else "degrees" if len(n) == 1 else "kinds"
        finding = "alone" if self.basis == "alone" else finding
        words = {"kinds": counted(len(n), "kind"), "groups": counted(sum(n), "group"), "grades": grades}
        words["subtypes"] = counted(n_shown, "subtype") if n_shown > 1 else _ANSWERS["one_group"]
        division = _ANSWERS["each_division" if sum(n) > 2 else "one_division"]
        return {**words, "division": division, "finding": _ANSWERS[f"test_{finding}"].format(**words)}

    def sentence(
        self, n_subjects: int, divisions: Sequence[Division], *, made_by: str = "", n_asked: int | None = None
    ) -> str:
        """Return the answer in a sentence, with p of the least clear of the divisions, if there are any."""
        division = least_clear(divisions)
        p = "" if division is None else f" ({division.p_said})"
        number = "" if n_asked is None else _ANSWERS["as_asked" if n_asked == len(self.codes) else "fewer_than_asked"]
        number, n = number.format(n_asked=n_asked), print_figure(f"{n_subjects:,}")
        fields = {"level": print_figure(f"{DISTINCT_LEVEL:g}"), "made_by": made_by, **self.words}
        answer = str(_ANSWERS[self.basis].format(n=n, p=p, asked=number, **fields))
        if not self.not_counted:
            return answer
        few, codes = counted(len(self.not_counted), "subtype"), listed([str(code) for code in self.not_counted])
        return f"{answer} {_ANSWERS['not_counted'].format(few=few, codes=codes)}"

    def facts(self, **said: object) -> dict[str, Any]:
        """Return the answer for a program."""
        n_grades = [len(kind) for kind in self.kinds] if self.is_of_the_test or self.basis == "asked" else None
        return {"basis": self.basis, "n_grades": n_grades, "not_counted": list(self.not_counted), **said}


def find_answer(fit: Fit | None, codes: Sequence[Code], too_few: Collection[int] = ()) -> Answer:
    """Return how many kinds the subtypes of a fit are; `too_few` are subtypes, from 1, with too few subjects to test.

    They are counted nevertheless if there are no others.
    """
    basis, kinds = "given", [[subtype] for subtype in range(1, len(codes) + 1)]
    if fit is not None and (fit.tree_test_ is None or fit.tree_test_.joins.empty):
        basis = "untested" if len(codes) > 1 else "no_division"
    elif fit is not None and fit.tree_test_ is not None:
        kind_of, tested_of = (fit.tree_test_.parted_of(fit.tree_, by).tolist() for by in ("distinct", "accepted"))
        subtype_of = fit.subtype_of_.tolist()
        pairs = set(zip(subtype_of, tested_of, strict=True))
        is_shown = len(pairs) == len(set(subtype_of)) == len(set(tested_of))
        pairs = set(zip(kind_of, subtype_of if is_shown else tested_of, strict=True))
        kinds = [
            [subtype + 1 for kind, subtype in sorted(pairs) if kind == number] for number in range(max(kind_of) + 1)
        ]
        basis = (
            "asked" if not is_shown else "continuum" if len(codes) == 1 else "kinds" if len(kinds) > 1 else "degrees"
        )
    tested = [[subtype for subtype in kind if subtype not in too_few] for kind in kinds]
    if basis not in _COUNTED_OF_THE_TEST or not any(tested) or not too_few:
        return Answer(basis, kinds, codes)
    kinds, few = [kind for kind in tested if kind], [codes[subtype - 1] for subtype in sorted(too_few)]
    if len(kinds) == 1 and basis != "untested":
        basis = "degrees" if len(kinds[0]) > 1 else "alone"
    return Answer("alone" if sum(map(len, kinds)) == 1 else basis, kinds, codes, few)


def least_clear(divisions: Sequence[Division]) -> Division | None:
    """Return the least clear division between the subtypes, or the first one of one group; None without any."""
    accepted = [division for division in divisions if division.is_accepted]
    return max(accepted or divisions[:1], key=lambda division: division.p, default=None)


def from_the_root(fit: Fit) -> list[int]:
    """Return all nodes of the tree, each before those below it, the branch with the first subtype first."""
    tree, members, nodes = fit.tree_, fit.tree_.members(), list[int]()
    ahead = [2 * tree.n_subtypes - 2]
    while ahead:
        node = ahead.pop()
        nodes.append(node)
        if node >= tree.n_subtypes:
            branches = tree.joins[node - tree.n_subtypes].tolist()
            ahead += sorted(branches, key=lambda branch: fit.subtype_of_[[*members[branch]]].min(), reverse=True)
    return nodes


def _branches(
    subtype_of: Sequence[int], branches: Sequence[Sequence[int]], titles: Mapping[int, str]
) -> tuple[tuple[str, str], tuple[tuple[int, ...], tuple[int, ...]] | None]:
    """Return the names of the two branches of a division, and their subtypes; None if one has parts in both."""
    n_clusters = Counter(subtype_of)
    first, second = (Counter(subtype_of[cluster] for cluster in branch) for branch in branches)
    if len(first | second) == 1:
        (subtype,) = first
        title, is_whole = titles[subtype + 1], (first + second)[subtype] == n_clusters[subtype]
        parts = (_ANSWERS[name].format(title=title) for name in ("part", "rest" if is_whole else "another_part"))
        return (next(parts), next(parts)), None
    is_whole = all(branch[subtype] == n_clusters[subtype] for branch in (first, second) for subtype in branch)
    below, above = (tuple(sorted(subtype + 1 for subtype in branch)) for branch in (first, second))
    called = (_branch(branch, n_clusters, titles) for branch in (first, second))
    return (next(called), next(called)), (below, above) if is_whole else None


def _branch(branch: Mapping[int, int], n_clusters: Mapping[int, int], titles: Mapping[int, str]) -> str:
    named = [
        _ANSWERS["whole" if branch[subtype] == n_clusters[subtype] else "part"].format(title=titles[subtype + 1])
        for subtype in sorted(branch)
    ]
    return name_together(named, _MOST_NAMED)
