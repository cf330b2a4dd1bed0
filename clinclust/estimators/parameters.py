"""The parameters of the estimators: each is declared once, here.

A field of `MAPDPParameters` holds the name, type and default of a parameter, its `Rule`, the sentences that explain it,
and how the command line reads it. Everything else follows: the constructor (the estimators inherit the fields), the
checks, the section "Parameters" of the docstring (`documented`), the options of the command line with their help
(`declarations`), and their table in docs/command_line.md.

    n_restarts: int = parameter(10, _whole(1), "Largest number of starts of the search.", Option("whole number", "R"))

Only the standard library is imported here, because ``clinclust --help`` reads the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from inspect import cleandoc
from numbers import Integral
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar

from clinclust.arguments import ON_OR_OFF, RANDOM_STATE, SCHEMA, Rule, is_number, is_whole
from clinclust.errors import InputError, refuse
from clinclust.estimators import say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from clinclust.arrays import RandomState
    from clinclust.schema import FeatureSchema

Estimator = TypeVar("Estimator", bound=type)

DISTINCT, KINDS = "distinct", "kinds"
"""The values of `MAPDP.n_clusters` for the subtypes of the test, and for those of them that are no grades of one."""
LEAST_CONCENTRATION, MOST_CONCENTRATION = 1e-12, 1e12
"""Bounds of the concentration. Within them the log joint is accurate to ten digits."""
AUTOMATIC_SHARE = 0.01
"""Default of `outlying_share` with ``coarsening="auto"``."""
DRAWN = "drawn"
"""The value of `GibbsDP.concentration` that is drawn with the partition."""


@dataclass(frozen=True)
class Option:
    """How the command line reads a parameter."""

    reads: str = ""
    """"whole number", "number" or "share" (a number of subjects, or 0.02 or 2% of the cohort), besides `words`."""
    metavar: str | None = None
    """The name of the value in the help."""
    words: tuple[str, ...] = ()
    """Words that are values; ``none`` means None."""


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter; without an `option`, the command line does not have it."""

    name: str
    default: Any
    rule: Rule
    help: str
    option: Option | None


def parameter(default: Any, rule: Rule, help: str, option: Option | None = None) -> Any:
    """Declare a parameter as the field of a dataclass."""
    return field(default=default, metadata={"rule": rule, "help": help, "option": option})


def declarations(estimator: type) -> dict[str, Parameter]:
    """Return the declaration of each parameter of an estimator, by name, in the order of its constructor."""
    declared = [entry for entry in fields(estimator) if entry.metadata]
    return {entry.name: Parameter(entry.name, entry.default, **entry.metadata) for entry in declared}


def as_in(estimator: type, name: str, **changes: Any) -> Any:
    """Declare a parameter as another estimator does, with some changes: `default`, `rule`, `help` or `option`."""
    declared = declarations(estimator)[name]
    return parameter(**{key: changes.get(key, getattr(declared, key)) for key in ("default", "rule", "help", "option")})


def documented(estimator: Estimator) -> Estimator:
    """Write the declarations of an estimator into its docstring, in the place of ``{parameters}``."""
    lines = []
    for name, declared in declarations(estimator).items():
        default = "optional" if declared.default is None else f"default {declared.default!r}"
        lines += [f"{name} : {declared.rule.allowed}{declared.rule.in_python}; {default}"]
        lines += [fill(declared.help, 108, initial_indent=" " * 4, subsequent_indent=" " * 4)]
    estimator.__doc__ = cleandoc(estimator.__doc__ or "").replace("{parameters}", "\n".join(lines))  # as Python 3.13
    return estimator


@dataclass(frozen=True)
class _ByName(Rule):
    """A rule for a dictionary by name, whose values have a rule of their own."""

    of_each: Rule = field(kw_only=True)

    def problems(self, name: str, value: object, *, is_option: bool = False) -> list[str]:
        if not isinstance(value, Mapping):
            return super().problems(name, value, is_option=is_option)
        return [problem for key, of in value.items() for problem in self.of_each.problems(f"{name} of {key}", of)]


def _whole(lowest: int) -> Rule:
    return Rule(f"a whole number of at least {lowest}", lambda value: is_whole(value, lowest))


def _words(*words: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in words


def _none_or(*words: str) -> Callable[[object], bool]:
    return lambda value: value is None or _words(*words)(value)


def _word_or(accepts: Callable[[Any], bool], *words: str) -> Callable[[Any], bool]:
    """Return whether a value is one of these words or, if it is no text, accepted."""
    return lambda value: value in words if isinstance(value, str) else accepts(value)


def _is_concentration(value: object) -> bool:
    return is_number(value) and LEAST_CONCENTRATION <= value <= MOST_CONCENTRATION


def _is_power(value: object) -> bool:
    return is_number(value) and 0.0 < value <= 1.0


def _is_one_dimensional(value: Any) -> bool:
    import numpy as np

    try:
        return np.ndim(value) == 1
    except (ValueError, TypeError):  # lists of different lengths
        return False


_NUMBERS = f"a number from {LEAST_CONCENTRATION:g} to {MOST_CONCENTRATION:g}"
_SELECTION = Rule(f"'auto', {ON_OR_OFF.allowed}", _word_or(ON_OR_OFF.accepts, "auto"))
_SHARE = Rule("a number from 0 to below 1", lambda value: is_number(value) and 0.0 <= value < 1.0)
_POWER = Rule("a number above 0 and at most 1", _is_power)
_NAMED = Rule("a dictionary by name", lambda value: isinstance(value, Mapping))


@dataclass(eq=False, repr=False)
class MAPDPParameters:
    """The parameters of `MAPDP`."""

    schema: FeatureSchema | None = parameter(
        None, SCHEMA.or_none(), "Schema of the columns. By default one is drafted from the data (`schema_`); check it."
    )
    _: KW_ONLY
    n_clusters: int | str | None = parameter(
        DISTINCT,
        Rule(
            f"'{DISTINCT}', '{KINDS}' or a whole number of at least 1",
            _word_or(lambda value: value is None or is_whole(value, 1), DISTINCT, KINDS),
            ", or None",
        ),
        "Number of subtypes. 'distinct': clusters that one continuous population explains are merged "
        "(`distinct_subtypes`). 'kinds': grades of one kind are merged as well. A number: clusters are merged along "
        "their tree until so many are left. None: each cluster is a subtype.",
        Option("whole number", "K", (DISTINCT, KINDS, "none")),
    )
    min_size: float | None = parameter(
        None,
        Rule(
            "a whole number of at least 2 (subjects), or a number above 0 and at most 0.5 (share of the cohort)",
            lambda value: value is None or is_whole(value, 2) or (is_number(value) and 0.0 < value <= 0.5),
            ", or None",
        ),
        "Fewest subjects of a subtype that is tested. A smaller one is merged with another from which it is hardly "
        "distinct (below 5 nats, if the tree was not tested), and is else untested. By default there is no floor.",
        Option("share", "N|SHARE"),
    )
    concentration: float | str = parameter(
        3.0,
        Rule(f"'map' or {_NUMBERS}", _word_or(_is_concentration, "map")),
        "N0, the prior count of a new subtype, in subjects; larger values give more clusters. 'map' estimates it with "
        "the partition.",
        Option("number", "N0", ("map",)),
    )
    coarsening: float | str = parameter(
        "auto",
        Rule(f"'auto' or {_POWER.allowed}", _word_or(_is_power, "auto")),
        "Power of the likelihood (Miller and Dunson 2019). 'auto' finds it from the dependence left inside clusters, "
        "and sets outlying values aside; it cannot be combined with `select_features=True` or an estimated prior.",
        Option("number", "POWER", ("auto",)),
    )
    block_weights: Mapping[str, float] | str | None = parameter(
        "auto",
        _ByName("'auto'", _none_or("auto"), ", a dictionary by block or None", of_each=_POWER),
        "Weight of the features of each block of the schema: p features of weight w count for w p. 'auto' finds the "
        "weights from the correlations inside clusters; None counts each feature in full.",
        Option(words=("auto", "none")),
    )
    outlying_share: float | None = parameter(
        None,
        _SHARE.or_none(),
        "Prior probability that a value is outlying (`outliers_`) and adds nothing to its cluster's statistics. By "
        f"default {AUTOMATIC_SHARE} with coarsening='auto', else 0.",
    )
    select_features: bool | str = parameter(
        "auto",
        _SELECTION,
        "Leave out features that do not differ between clusters. 'auto': in tables of more than 20 features, select "
        "them, and find how strong the priors are, before the search.",
        Option(words=("auto", "yes", "no")),
    )
    calibrate: bool = parameter(
        True,
        ON_OR_OFF,
        "Divide log odds of clusters by `temperature_`, so that probabilities of 90% are right in 90%, of members and "
        "of new subjects. False: probabilities given the partition, as in the paper, which are too certain.",
    )
    n_restarts: int = parameter(
        10,
        _whole(1),
        "Largest number of starts of the search. Fewer are made if three have ended at the best partition; from 8,000 "
        "subjects on they are made in a sample of 5,000.",
        Option("whole number", "R"),
    )
    init: str | ArrayLike = parameter(
        "search",
        Rule("'search' or one label for each subject", _word_or(_is_one_dimensional, "search")),
        "Starts of several kinds, or these labels, shape (N,).",
    )
    hyperparameters: Mapping[str, Mapping[str, Any]] | str | None = parameter(
        None,
        _ByName("a dictionary by feature", _none_or(), " or None", of_each=_NAMED),
        "Hyperparameters by feature and name, on the scale after the transform; others are from the schema or the "
        "data.",
        Option(),
    )
    max_sweeps: int = parameter(200, _whole(1), "Largest number of sweeps of a start.", Option("whole number", "S"))
    max_seconds: float | None = parameter(
        None,
        Rule("a number of seconds above 0", lambda value: is_number(value) and 0.0 < value < float("inf")).or_none(),
        "Seconds after which the search ends with the best partition so far (`stopped_early_`), which then depends on "
        "the speed of the machine. By default there is no limit.",
        Option("number", "S"),
    )
    n_jobs: int | None = parameter(
        None,
        Rule(
            "a whole number of at least 1",
            lambda value: value is None or (is_whole(value, -1) and value != 0),
            ", or None or -1 for all",
        ),
        "Number of threads. By default one for each processor.",
        Option("whole number", "J"),
    )
    random_state: RandomState = parameter(
        None,
        RANDOM_STATE,
        "Seed of the search; without one, a seed is drawn (`random_seed_`).",
        Option("whole number", "SEED"),
    )
    progress: bool = parameter(
        True, ON_OR_OFF, "Show the stages of the search on the terminal and in the logger ``clinclust.progress``."
    )


@dataclass(eq=False, repr=False, kw_only=True)
class PublishedParameters(MAPDPParameters):
    """The parameters of `PublishedMAPDP`: those of `MAPDP`, with the values and the searches of the paper."""

    n_clusters: int | str | None = as_in(MAPDPParameters, "n_clusters", default=None)
    concentration: float | str = as_in(
        MAPDPParameters,
        "concentration",
        rule=Rule(f"'map', 'cross-validation' or {_NUMBERS}", _word_or(_is_concentration, "map", "cross-validation")),
        help="N0, the prior count of a new cluster, in subjects; larger values give more clusters. 'map' estimates it "
        "with the partition, 'cross-validation' by the density of subjects left out (0.1 to 30).",
        option=Option("number", "N0", ("map", "cross-validation")),
    )
    coarsening: float | str = as_in(MAPDPParameters, "coarsening", default=1.0)
    block_weights: Mapping[str, float] | str | None = as_in(MAPDPParameters, "block_weights", default=None)
    select_features: bool | str = as_in(MAPDPParameters, "select_features", default=False)
    calibrate: bool = as_in(MAPDPParameters, "calibrate", default=False)
    missing: str = parameter(
        "marginal",
        Rule("'marginal' or 'mode'", _words("marginal", "mode")),
        "'marginal' integrates missing values out. 'mode' fills them with modes (appendix F of the paper), which makes "
        "clusters too certain.",
    )
    init: str | ArrayLike = as_in(
        MAPDPParameters,
        "init",
        rule=Rule(
            "'search', 'single' or one label for each subject", _word_or(_is_one_dimensional, "search", "single")
        ),
        help="Starts of several kinds, a single cluster as in the paper, or these labels, shape (N,).",
    )
    hyperparameters: Mapping[str, Mapping[str, Any]] | str | None = as_in(
        MAPDPParameters,
        "hyperparameters",
        rule=_ByName("'greedy'", _none_or("greedy"), ", a dictionary by feature or None", of_each=_NAMED),
        help="Hyperparameters by feature and name, on the scale after the transform; others are from the schema or the "
        "data. 'greedy' is the coordinate search of the paper.",
        option=Option(words=("greedy",)),
    )


@dataclass(eq=False, repr=False)
class SamplerParameters:
    """The parameters of `GibbsDP`."""

    schema: FeatureSchema | None = as_in(MAPDPParameters, "schema")
    _: KW_ONLY
    concentration: float | str = as_in(
        MAPDPParameters,
        "concentration",
        rule=Rule(f"'{DRAWN}' or {_NUMBERS}", _word_or(_is_concentration, DRAWN)),
        help="N0. 'drawn': drawn with the partition, under the hyperprior Gamma(1, 1/3), whose mean is 3.",
    )
    coarsening: float = parameter(1.0, _POWER, "Power of the likelihood; it is not estimated.")
    block_weights: Mapping[str, float] | None = parameter(
        None,
        _ByName("a dictionary by block or None", _none_or(), of_each=_POWER),
        "Weight of the features of each block of the schema; None counts each feature in full.",
    )
    hyperparameters: Mapping[str, Mapping[str, Any]] | None = as_in(MAPDPParameters, "hyperparameters")
    n_chains: int = parameter(4, _whole(2), "Number of chains.")
    max_sweeps: int = parameter(12800, _whole(1), "Largest number of sweeps of each chain.")
    max_seconds: float | None = as_in(MAPDPParameters, "max_seconds", help="Seconds after which no more sweeps begin.")
    n_jobs: int | None = as_in(MAPDPParameters, "n_jobs")
    random_state: RandomState = as_in(MAPDPParameters, "random_state", help="Seed of the chains.")
    progress: bool = as_in(MAPDPParameters, "progress")


def rules_of(estimator: type) -> dict[str, Rule]:
    """Return the rule of each parameter of an estimator, by name."""
    return {name: declared.rule for name, declared in declarations(estimator).items()}


RULES: dict[str, Rule] = {
    **rules_of(MAPDPParameters),
    "schema": SCHEMA,
    "concentration": Rule(_NUMBERS, _is_concentration),
    "coarsening": _POWER,
    "outlying_share": _SHARE,
    "block_weights": declarations(SamplerParameters)["block_weights"].rule,
}
"""Rules by parameter for all functions other than the estimators."""


def parameter_problems(arguments: Mapping[str, Any], rules: Mapping[str, Rule] = RULES) -> list[str]:
    """Return one sentence for each problem of arguments by name; no cohort is needed."""
    return [problem for name, value in arguments.items() for problem in rules[name].problems(name, value)]


def check_estimator(estimator: type, parameters: Mapping[str, Any]) -> None:
    """Check the parameters of an estimator, and whether they can be combined; raise InputError with all problems."""
    from clinclust.files.cell_text import listed

    problems = parameter_problems(parameters, rules_of(estimator))
    if problems and not issubclass(estimator, PublishedParameters | SamplerParameters):
        rules, published = rules_of(estimator), rules_of(PublishedParameters)
        others = {name: value for name, value in parameters.items() if not rules[name].accepts(value)}
        if of_paper := [name for name, value in others.items() if published[name].accepts(value)]:
            problems.append(f"clinclust.methods.PublishedMAPDP has this {listed(of_paper)} of the paper")
    refuse(problems or combination_problems(parameters))


_PUBLISHED = {"missing": "mode", "init": "single", "hyperparameters": "greedy"}


def combination_problems(parameters: Mapping[str, Any]) -> list[str]:
    """Return the problems of a combination of `MAPDP` parameters, each of which can be used alone."""
    published = [name for name, value in _PUBLISHED.items() if _words(value)(parameters.get(name))]
    if published and isinstance(parameters["n_clusters"], str):
        stated = " and ".join(f"{name}={parameters[name]!r}" for name in published)
        return [say("published_with_a_test", stated=stated, n_clusters=parameters["n_clusters"])]
    is_searched = {
        "hyperparameters": isinstance(parameters.get("hyperparameters"), str),
        "concentration": not is_number(parameters["concentration"]),
        "select_features": parameters.get("select_features", False) not in ("auto", False),
        "coarsening": isinstance(parameters["coarsening"], str),
        "outlying_share": (parameters.get("outlying_share") or 0.0) > 0.0,
    }
    searches = {name: f"{name}={parameters[name]!r}" for name, is_asked in is_searched.items() if is_asked}
    problems = list[str]()
    if "missing" in published and searches:
        problems.append(say("modes_with_a_search", searches=", ".join(searches.values())))
    # Hyperparameters and the concentration form one search, and so do coarsening and outlying values.
    one_search = ({"hyperparameters", "concentration"}, {"coarsening", "outlying_share"})
    if len(searches) > 1 and searches.keys() not in one_search:
        *others, last = searches.values()
        repair = "leave out all but one"
        if is_searched["coarsening"]:
            repair = "coarsening='auto' is the default: state coarsening=1 as well"
        problems.append(f"{', '.join(others)} and {last} cannot be combined in one fit; {repair}")
    return problems


def seed_of(random_state: RandomState) -> int:
    """Return the seed of a `random_state`: the number, a draw of the generator, or system entropy for None."""
    import numpy as np

    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(np.random.default_rng(random_state).integers(2**31))


def cluster_codes(labels: ArrayLike, n_subjects: int, *, called: str) -> NDArray[np.int64]:
    """Return labels (N,) of any type as codes 0, 1, ... in order of first appearance, int64 (N,); else InputError."""
    import numpy as np
    import pandas as pd

    values = labels.to_numpy() if isinstance(labels, pd.Series) else np.asarray(labels)  # of nullable types
    if values.shape != (n_subjects,) or not all(isinstance(value, Hashable) for value in values.tolist()):
        needed = f"{n_subjects} labels, texts or numbers, one for each subject"
        raise InputError(f"{called} must be {needed}; these have shape {values.shape}")
    codes = pd.factorize(values)[0].astype(np.int64)
    if (codes < 0).any():
        raise InputError(f"{called}: the label of {int((codes < 0).sum())} subject(s) is missing")
    return codes
