"""A feature: what a column means, the rules that its fields must meet, and the parts of one with a spike or a limit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.errors import InputError, SchemaError, did_you_mean, nearest
from clinclust.files.cell_text import NUMBER, canonical_text, compile_short, listed, quoted, shortened
from clinclust.files.notation import BEYOND_A_LIMIT, DecimalMark, ThousandsMark
from clinclust.likelihoods import REGISTRY, Likelihood, name_meant, traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.roles import NEEDS_LIKELIHOOD, REASONS, Role, is_described, is_ignored

# The types of the fields of a feature, and the values that each accepts from Python and files.

SENTENCES: dict[str, str] = data("remarks")["schema"]
_OF_NUMBERS = frozenset("0123456789.,-\u2212'’<>=≤≥ ")
"""The characters of numbers and of signs of limits."""


def check_text(value: object) -> str:
    """Return `value` if it is text that is not blank and can be encoded; raise ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {quoted(value)}")
    if not value.strip():
        raise ValueError("must not be empty")
    return str(_check_word(value))


def _check_word(value: Any) -> Any:
    """Return text that a file can store, or a number; raise ValueError otherwise."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"must be text or a number, not {quoted(value)}")
    try:
        str(value).encode()
    except UnicodeEncodeError:
        raise ValueError(SENTENCES["surrogate"].format(value=quoted(value))) from None
    return value


def _read_number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, str) and NUMBER.fullmatch(value.strip())):
        raise ValueError(f"must be a number, not {quoted(value)}")
    if not math.isfinite(number := float(value)):
        raise ValueError(f"must be a finite number, not {quoted(value)}")
    return number


def _read_list(value: object) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list, not {quoted(value)}")
    return list(value)


def _read_lone(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _read_levels(value: object) -> tuple[str, ...]:
    levels = _read_list(value)
    for level in levels:
        if not isinstance(level, str):
            text = shortened(canonical_text(level))
            raise ValueError(f'levels are text: write "{text}" in quotes, not {quoted(level)}')
        if level != level.strip():
            raise ValueError(f"level {quoted(level)} has white space at an end, which is stripped from every cell")
        _check_word(level)
    repeated = sorted(level for level, times in Counter(levels).items() if times > 1)
    if repeated:
        raise ValueError(f"every level must be listed once; repeated: {listed(map(quoted, repeated))}")
    return tuple(levels)


def read_codes(value: object) -> tuple[str, ...]:
    """Return missing codes, texts or numbers, as distinct texts; raise ValueError for anything else."""
    return tuple(dict.fromkeys(canonical_text(_check_word(code)) for code in _read_list(value)))


def _read_marks(value: object) -> tuple[str, ...]:
    for mark in (marks := _read_list(value)):
        if not isinstance(mark, str) or not mark.strip():
            raise ValueError(f'marks are text, such as "H" or "~", not {quoted(mark)}')
        if _OF_NUMBERS.issuperset(mark):
            raise ValueError(f"{quoted(mark)} could be a part of a number, and is no mark next to one")
    return tuple(dict.fromkeys(_check_word(mark.strip()) for mark in marks))


def _read_prior(value: object) -> dict[str, float | list[float]]:
    if not isinstance(value, dict):
        raise ValueError(f"must give values by name, such as {{a: 1, b: 1}}, not {quoted(value)}")
    prior: dict[str, float | list[float]] = {}
    for name, item in value.items():
        try:
            is_list = isinstance(item, (list, tuple))
            prior[str(name)] = [_read_number(number) for number in item] if is_list else _read_number(item)
        except ValueError as error:
            raise ValueError(f"{shortened(str(name))} {error}") from None
    return prior


def _read_synonyms(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f'must give what other texts mean, such as {{ja: "yes"}}, not {quoted(value)}')

    def text(word: object) -> str:
        _check_word(word)
        return word.strip() if isinstance(word, str) else canonical_text(word)

    return {text(word): text(meaning) for word, meaning in value.items()}


Censored = Literal["limit", "half", "missing"]
Transform = Literal["log", "log1p", "sqrt"]
if TYPE_CHECKING:
    LikelihoodName = str
else:
    LikelihoodName = Literal[tuple(REGISTRY)]
Text = Annotated[str, BeforeValidator(check_text)]
Number = Annotated[float, BeforeValidator(_read_number)]
Whole = Annotated[int, BeforeValidator(_read_number), Field(ge=1)]
Levels = Annotated[tuple[str, ...], BeforeValidator(_read_levels)]
Marks = Annotated[tuple[str, ...], BeforeValidator(_read_marks)]
Spikes = Annotated[
    tuple[float, ...], BeforeValidator(lambda value: tuple(sorted(set(map(_read_number, _read_lone(value))))))
]
Limits = Annotated[tuple[Literal["below", "above"], ...], BeforeValidator(_read_lone)]
Codes = Annotated[tuple[str, ...], BeforeValidator(read_codes)]
Synonyms = Annotated[dict[str, str], BeforeValidator(_read_synonyms)]
Prior = Annotated[dict[str, float | list[float]], BeforeValidator(_read_prior)]


# A transform, its inverse, and minus the logarithm of its slope, at values on the scale of the model.
_TRANSFORMS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array], Callable[[Array], Array]]] = {
    "log": (np.log, np.exp, lambda logs: logs),
    "log1p": (np.log1p, np.expm1, lambda logs: logs),
    # A Gaussian value may be negative, a root is not.
    "sqrt": (np.sqrt, lambda roots: np.square(np.maximum(roots, 0.0)), lambda roots: np.log(2.0 * roots)),
}


# The numbers in the levels of a scale (``60 %``, ``NYHA II``), and the scores of levels in words.

_AROUND = r"[^\W\d_]*[\s.:]*"
_NUMBERED = compile_short(
    rf"(?P<before>{_AROUND})(?P<number>[-+\u2212]?\d+(?:[.,]\d+)?)(?P<after>\s*(?:[%‰°]|[^\W\d_]*(?:[/ ][^\W\d_]+)?))"
)
_NUMERALS = ("0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


@dataclass(frozen=True)
class LevelNumbers:
    """The numbers of levels, in their order, and the step of which all differences are multiples."""

    numbers: tuple[float, ...]
    step: float

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number."""
        return min(self.numbers), max(self.numbers)


@lru_cache(maxsize=1024)
def numbers_of_levels(levels: tuple[str, ...]) -> LevelNumbers | None:
    """Return the numbers of levels that rise or fall, with the same word or sign next to each; otherwise None.

    Roman numerals are numbers, and 0 may precede them: ``("0", "I", "II")``.
    """
    numbers, around = list[Decimal](), set[tuple[str, str]]()
    for level in map(str.strip, levels):
        before, _, numeral = level.rpartition(" ")
        if match := _NUMBERED.fullmatch(level):
            around.add((match["before"].strip(), match["after"].strip()))
            numbers.append(Decimal(match["number"].replace("\u2212", "-").replace(",", ".")))
        elif numeral in _NUMERALS:
            around.add((before.strip(), ""))
            numbers.append(Decimal(_NUMERALS.index(numeral)))
    if len(levels) < 2 or len(numbers) < len(levels) or len(around) > 1:
        return None
    steps = [later - earlier for earlier, later in pairwise(numbers)]
    if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return None
    places = 10 ** max(max(0, -int(number.as_tuple().exponent)) for number in numbers)
    step = math.gcd(*(int(step * places) for step in steps)) / places
    return LevelNumbers(tuple(map(float, numbers)), step)


class FeatureError(SchemaError):
    """One feature cannot be used; `by_field` lists (field or None for the whole feature, problem)."""

    def __init__(self, name: object, problems: list[tuple[str | None, str]]) -> None:
        self.by_field = problems
        feature = shortened(name) if isinstance(name, str) and name else "a feature without a name"
        super().__init__([f"{feature}: {field}: {text}" if field else f"{feature}: {text}" for field, text in problems])


class Feature(BaseModel):
    """One feature: the name of its column, what it measures and the likelihood that models it.

    Parameters
    ----------
    name : str
        The name of the column, exactly as in the table.
    role : {"cluster", "adjust", "arm", "outcome", "time", "site", "describe", "id", "ignore"}
        ``cluster`` (the default): used in the clustering. ``adjust``: forms no subtypes, and measurements are clustered
        as they would be at its average (`clinclust.estimators.adjustment`). ``describe``: only reported and tested;
        likewise ``arm`` (treatment), ``outcome``, ``time`` (of follow-up, dates, visits) and ``site`` (centre, staff,
        device), which are ignored without a likelihood. ``id``: identifies the subject. ``ignore``: dropped; the column
        may be absent.
    likelihood : str
        A name in `clinclust.likelihoods.REGISTRY`: ``bernoulli``, ``binomial``, ``categorical``, ``poisson``,
        ``geometric``, ``exponential``, ``gaussian``, ...
    levels : tuple of str
        The values as in the table: no, then yes (bernoulli; default 0 and 1); from lowest to highest, scored 0, 1, ...
        (scales); in any order (categorical). A cell with the number of one level is this level: ``2.0`` is ``2``.
    trials : int
        The highest value of a scale from 0 to `trials`.
    minimum, maximum : float
        The smallest and the largest allowed value. A scale declared by its range needs both, as whole numbers.
    transform : {"log", "log1p", "sqrt"}
        Transform of an exponential or gaussian feature before it is modelled.
    contrast : {"welch", "student", "rank", "counts"}
        Test of all subtypes at once, if not the default; see `clinclust.compare_subtypes`.
    label, unit, section, description : str
        Texts for the report. Numbers in cells may have the unit, as ``5.2 mg/dL``.
    synonyms : dict of str to str
        Other texts in the column, and the level or number that each means, such as ``{ja: yes, Y: yes}``.
    decimal : {".", ","}
        Decimal mark of numbers written as text; by default the point.
    thousands : {".", ",", " ", "'"}
        Separator of thousands in numbers written as text.
    censored : {"limit", "half", "missing"}
        Value of cells such as ``<5`` and ``>200``: the limit, half of it (only below; counts rounded down), or missing.
        By default such cells are errors.
    spike : float or list of float
        Point masses, such as 0, of a measurement, duration or count. Each has its own probability in each subtype;
        likelihood, transform and prior apply to the other values.
    limit : {"below", "above"} or list of both
        The same for cells such as ``<5`` and ``>200``, which become minus and plus infinity. Excludes `censored`.
    marks : tuple of str
        Texts next to a number that do not change its value: flags such as ``H`` and ``*``, ``~``, ``ca.``, or the
        ``1:`` of titres.
    asked_if : str
        Who was asked the question, in words or branching logic. Recorded only: missing values are modelled as usual.
    block : str
        Name of a group of features that depend on each other within subtypes; see `block_weights` of `MAPDP`. With
        ``multivariate_gaussian``, two to four measurements that are correlated in each subtype.
    missing_codes : tuple of str
        Values that mean missing, in addition to those of the schema.
    complete : bool
        Whether a missing value is an error.
    prior : dict
        Hyperparameters by name (with point masses also ``crp: spike`` and ``crp: rest``); others are set from the data.

    Raises
    ------
    SchemaError
        If the feature cannot be used. The message lists all problems.

    Examples
    --------
    >>> import clinclust as cc
    >>> tremor = cc.Feature(name="tremor", likelihood="binomial", trials=4, label="Resting tremor", section="Motor")
    >>> tremor.title, tremor.n_trials, tremor.role
    ('Resting tremor', 4, 'cluster')
    >>> cc.Feature(name="crp", likelihood="gaussian", transform="log", unit="mg/L").content()
    {'name': 'crp', 'likelihood': 'gaussian', 'transform': 'log', 'unit': 'mg/L'}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    role: Role = "cluster"
    likelihood: LikelihoodName | None = None
    levels: Levels | None = None
    trials: Whole | None = None
    minimum: Number | None = None
    maximum: Number | None = None
    transform: Transform | None = None
    contrast: ContrastKind | None = None
    label: Text | None = None
    unit: Text | None = None
    section: Text | None = None
    block: Text | None = None
    description: Text | None = None
    missing_codes: Codes = ()
    synonyms: Synonyms | None = None
    decimal: DecimalMark | None = None
    thousands: ThousandsMark | None = None
    censored: Censored | None = None
    spike: Spikes = ()
    limit: Limits = ()
    marks: Marks = ()
    asked_if: Text | None = None
    complete: bool = False
    prior: Prior | None = None

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise FeatureError(fields.get("name"), _describe_faults(error, fields)) from None
        if problems := [*_find_broken_rules(self)]:
            raise FeatureError(self.name, problems)

    def __hash__(self) -> int:
        return hash((self.name, self.role, self.likelihood))

    @property
    def title(self) -> str:
        """The label, or the name if there is no label."""
        return self.label or self.name

    @property
    def stated(self) -> dict[str, Any]:
        """The hyperparameters of `prior`, with what is known spelled out (`Likelihood.spelled_out`)."""
        return self.traits.spelled_out(self.prior or {})

    @property
    def is_clustered(self) -> bool:
        """Whether the feature forms subtypes (role ``cluster``)."""
        return self.role == "cluster"

    @property
    def is_described(self) -> bool:
        """Whether the feature is reported and tested, but not clustered on."""
        return is_described(self.role, self.likelihood)

    @property
    def is_id(self) -> bool:
        """Whether the feature identifies the subject (role ``id``)."""
        return self.role == "id"

    @property
    def is_ignored(self) -> bool:
        """Whether the column is not read, and need not be in the table."""
        return is_ignored(self.role, self.likelihood)

    @property
    def whole(self) -> Feature:
        """The feature that this is a part of (see `parts`), or the feature itself."""
        return self

    @property
    def is_part(self) -> bool:
        """Whether this is one of the two `parts` of a feature."""
        return self.whole is not self

    @property
    def column(self) -> str:
        """The name of the column of the table."""
        return self.whole.name

    @property
    def point_masses(self) -> tuple[float, ...]:
        """The point masses of a validated column, ascending: `spike` and `limit`."""
        below, above = (-np.inf,) * ("below" in self.limit), (np.inf,) * ("above" in self.limit)
        return (*below, *self.spike, *above)

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The features that the engine models: this one, or the two parts of one with point masses."""
        return parts_of(self) if self.point_masses else (self,)

    @property
    def traits(self) -> type[Likelihood]:
        """The likelihood class; the base class if there is no likelihood."""
        return traits_of(self.likelihood)

    @property
    def n_trials(self) -> int | None:
        """The highest score: 1 for a yes/no feature, that of the last step for a scale, else None."""
        return self.traits.highest_score(self)

    @property
    def lowest(self) -> float:
        """The value of a scale that has score 0."""
        return self.minimum or 0.0 if self.traits.is_scale else 0.0

    @property
    def level_numbers(self) -> LevelNumbers | None:
        """The numbers in the levels of a scale, if they have any."""
        return numbers_of_levels(self.levels) if self.traits.is_scale and self.levels is not None else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest value of a scale as `described` returns them; None for other features."""
        if not self.traits.is_scale or self.n_trials is None:
            return None
        numbers = self.level_numbers
        return (self.lowest, self.lowest + self.n_trials) if numbers is None else numbers.ends

    @property
    def scored(self) -> str | None:
        """The meaning of scores of a scale with levels in words, as ``0 (none)–3 (severe)``; None for others."""
        if self.levels is None or not self.traits.is_scale or self.level_numbers is not None:
            return None
        return f"0 ({shortened(self.levels[0])})–{len(self.levels) - 1} ({shortened(self.levels[-1])})"

    def scores(self, column: pd.Series) -> NDArray[np.float64]:
        """Return a validated column as numbers, before any transform.

        Parameters
        ----------
        column : pandas.Series, shape (N,)
            The column as `FeatureSchema.validate` returned it.

        Returns
        -------
        numpy.ndarray, shape (N,)
            The index of the level, or the value in its own unit; NaN = missing.

        Raises
        ------
        ValueError
            If the feature has no likelihood.
        """
        if self.likelihood is None:
            raise InputError(f"{self.name} has no likelihood (role {self.role}), so it has no scores")
        if self.levels is not None:
            codes = np.asarray(column.array.codes, dtype=np.float64)  # faster than column.cat.codes
            return np.where(codes < 0, np.nan, codes)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def described(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the scores (N,) of a validated column, or the numbers in levels such as ``60 %``; NaN = missing."""
        scores, levels = self.scores(column), self.level_numbers
        if levels is None:
            return scores
        numbers = np.array([*levels.numbers, np.nan])  # the last is of missing values
        return numbers[np.where(np.isnan(scores), len(levels.numbers), scores).astype(np.int64)]

    def transformed(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the transformed scores (N,) on the scale of the model; NaN = missing or at a point mass."""
        scores = self.scores(column)
        if self.point_masses:
            scores = np.where(np.isin(scores, self.point_masses), np.nan, scores)
        return scores if self.transform is None else np.asarray(_TRANSFORMS[self.transform][0](scores))

    def on_model_scale(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return observed scores (n,) on the scale of the model, and the log Jacobian of the transform, summed."""
        if self.transform is None:
            return scores - self.lowest, 0.0
        forward, _, log_slope = _TRANSFORMS[self.transform]
        values = np.asarray(forward(scores))
        return values, -float(log_slope(values).sum())

    def from_model_scale(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values (n,) on the scale of the model in the unit of the column, which may be beyond its range."""
        if self.transform is None:
            return values + self.lowest
        with np.errstate(over="ignore"):  # what overflows is beyond any range
            return np.asarray(_TRANSFORMS[self.transform][1](values))

    def content(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, the name first."""
        content = self.model_dump(exclude_defaults=True)
        single = {name: content[name][0] for name in ("spike", "limit") if len(content.get(name, ())) == 1}
        return content | single


CHOICES: dict[str, tuple[str, ...]] = {"limit": ("below", "above")} | {
    name: get_args(kind)
    for name, field in Feature.model_fields.items()
    for kind in (field.annotation, *get_args(field.annotation))
    if get_origin(kind) is Literal
}
"""The words that a field accepts, by its name."""


def _describe_faults(error: ValidationError, fields: dict[str, Any]) -> list[tuple[str | None, str]]:
    """Return (field, sentence) for each fault that pydantic saw, and for each broken rule of the other fields."""
    problems: list[tuple[str | None, str]] = []
    faulty = {"name"}
    for fault in error.errors(include_url=False):
        field, value = str(fault["loc"][0]), fault["input"]
        if fault["type"] == "missing":
            problems.append((None, f"{field} is missing"))
        elif fault["type"] == "extra_forbidden":
            problems.append((field, f"unknown key.{did_you_mean(field, Feature.model_fields)}"))
            faulty.add(nearest(field, Feature.model_fields) or field)  # the key that it probably is
        elif fault["type"] == "literal_error":
            synonym = name_meant(value) if field == "likelihood" and isinstance(value, str) else None
            hint = f" Did you mean {synonym!r}?" if synonym else did_you_mean(str(value), CHOICES[field])
            problems.append((field, f"must be one of {', '.join(CHOICES[field])}, not {quoted(value)}.{hint}"))
        else:
            # "Input should be a valid integer, got a number with a fractional part" of pydantic
            is_of_pydantic = fault["msg"].startswith("Input should be ")
            words = fault["msg"].removeprefix("Input should be ").partition(",")[0]
            sentence = f"must be {words}, not {quoted(value)}"
            problems.append((field, sentence if is_of_pydantic else fault["msg"].removeprefix("Value error, ")))
    faulty |= {field for field, _ in problems if field}
    if faulty.isdisjoint(("role", "likelihood")):
        try:
            Feature(name="x", **{key: value for key, value in fields.items() if key not in faulty})
        except FeatureError as rules:
            if "levels" in faulty:
                faulty.add("synonyms")
            if traits_of(fields.get("likelihood")).is_scale and not faulty.isdisjoint(_OF_A_SCALE):
                faulty.update(_OF_A_SCALE)
            problems += [(field, rule) for field, rule in rules.by_field if field not in faulty]
    return problems


_OF_A_SCALE = ("levels", "trials", "minimum", "maximum")
_OF_NUMERIC_CELLS = ("decimal", "thousands", "censored", "spike", "limit", "marks")
_OF_A_LIKELIHOOD = (
    *("likelihood", *_OF_A_SCALE, "transform", *_OF_NUMERIC_CELLS),
    *("synonyms", "contrast", "prior", "complete"),
)

Problems = Iterator[tuple[str, str]]
"""A field, and a sentence."""


def _find_broken_rules(feature: Feature) -> Iterator[tuple[str | None, str]]:
    """Yield (field, sentence) for every rule between fields that `feature` breaks; no field is the whole feature."""
    if feature.is_id or (feature.likelihood is None and feature.role in REASONS):
        why = "says nothing without a likelihood; give one, or leave this out"
        why = "an id is not modelled; leave this out or give another role" if feature.is_id else why
        yield from ((field, why) for field in _OF_A_LIKELIHOOD if getattr(feature, field))
    elif feature.likelihood is None and feature.role in NEEDS_LIKELIHOOD:
        names = ", ".join(REGISTRY)
        yield None, f"role {feature.role} needs a likelihood, which is one of {names}: {SENTENCES['likelihood']}"
    elif feature.likelihood is not None:
        yield from _check_levels(feature)
        yield from _check_numbers(feature)
        yield from _check_cells(feature)
        if feature.contrast is not None and feature.contrast not in feature.traits.contrasts:
            fitting = ", ".join(feature.traits.contrasts)
            yield "contrast", f"{feature.likelihood} cannot be contrasted by {feature.contrast} (only by {fitting})"
        yield from _check_prior(feature)


def _check_levels(feature: Feature) -> Problems:
    levels, traits = feature.levels, feature.traits
    if levels is None:
        if traits.takes == {"levels"} and not traits.is_yes_no:
            yield "levels", f"{feature.likelihood} needs the list of its levels"
        return
    if "levels" not in traits.takes:
        yield "levels", f"{feature.likelihood} takes numbers, not levels (only {_that_take('levels')} levels)"
    elif traits.is_yes_no and len(levels) != 2:
        needed = "exactly two levels, the second one meaning yes"
        yield "levels", f"{feature.likelihood} needs {needed}; there are {len(levels)}"
    elif len(levels) < 2:
        yield "levels", f"{feature.likelihood} needs at least two levels"
    for code in feature.missing_codes:
        if code in levels:
            yield "missing_codes", f"{quoted(code)} is also one of the levels"
    for field in _OF_NUMERIC_CELLS:
        if getattr(feature, field):
            yield field, "a feature with levels has no numbers; leave this out"


def _that_take(field: str) -> str:
    """Return the likelihoods that accept the field, and their verb: ``binomial and ordinal have``."""
    *first, last = [name for name, likelihood in REGISTRY.items() if field in likelihood.takes]
    return f"{', '.join(first)} and {last} have" if first else f"{last} has"


def _check_numbers(feature: Feature) -> Problems:
    traits, bounds = feature.traits, {"minimum": feature.minimum, "maximum": feature.maximum}
    low, high = bounds.values()
    for field in ("transform", "trials", *bounds, *(("spike", "limit") if feature.levels is None else ())):
        needed = "spike" if field == "limit" else field
        if needed not in traits.takes and getattr(feature, field) not in (None, ()):
            yield field, f"{feature.likelihood} has no {field} (only {_that_take(needed)})"
    if low is not None and high is not None and low >= high:
        yield "maximum", f"must be greater than the minimum, {low:g}"
    has_bounds = low is not None or high is not None
    if traits.is_scale and (feature.trials is not None) + (feature.levels is not None) + has_bounds != 1:
        yield "trials", SENTENCES["trials"].format(likelihood=feature.likelihood)
    elif traits.is_scale and has_bounds:
        for field, bound in bounds.items():
            if bound is None:
                yield field, f"{feature.likelihood} needs both `minimum` and `maximum`, or `trials`"
            elif bound != math.floor(bound):
                yield field, f"{feature.likelihood} needs a whole number, not {bound:g}"
    most, steps = traits.most_steps, feature.n_trials
    if most is not None and steps is not None and steps > most:
        longest = f"{feature.likelihood} has at most {most:,} steps, not {steps:,}"
        yield "trials", f"{longest}; declare a longer scale gaussian"


def _check_cells(feature: Feature) -> Problems:
    """Yield the broken rules of what cells may hold other than plain numbers and levels."""
    if feature.limit and feature.censored is not None:
        yield "limit", SENTENCES["limit"]
    for value in feature.spike:
        if feature.traits.is_whole and value != math.floor(value):
            yield "spike", f"{feature.likelihood} has whole numbers only, not {value:g}"
        if f"{value:.15g}" in feature.missing_codes:
            yield "spike", f"{value:.15g} is also a missing code"
    mark, other = feature.decimal or ".", "." if feature.decimal == "," else ","
    if feature.thousands == mark:
        needed = f'they must differ: write `decimal: "{other}"` as well'
        yield "thousands", f"the decimal mark is {quoted(mark)} too; {needed}"
    for word, meaning in (feature.synonyms or {}).items():
        limit = BEYOND_A_LIMIT.fullmatch(meaning) if feature.censored is not None or feature.limit else None
        is_number = NUMBER.fullmatch(limit[2] if limit else meaning) is not None
        if word in (feature.levels or ()):
            yield "synonyms", f"{quoted(word)} is itself a level"
        elif word in feature.missing_codes:
            yield "synonyms", f"{quoted(word)} is also a missing code"
        elif not (is_number if feature.levels is None else meaning in feature.levels):
            needed = "number" if feature.levels is None else "level"
            yield "synonyms", f"{quoted(word)} must mean a {needed}, not {quoted(meaning)}"


def _check_prior(feature: Feature) -> Problems:
    traits, prior = feature.traits, feature.prior or {}
    lengths = traits.hyperparameter_lengths(feature)
    lengths |= {name: lengths[scale] for name, (_, scale) in traits.known_parameters.items()}
    for name, value in prior.items():
        if twice := [other for other in traits.known_parameters.get(name, ()) if other in prior]:
            yield "prior", f"{name} says {' and '.join(traits.known_parameters[name])} as well; leave out {twice[0]}"
        if name not in lengths:
            names, hint = ", ".join(lengths), did_you_mean(name, lengths)
            yield "prior", f"{feature.likelihood} has no hyperparameter {quoted(name)} ({names}).{hint}"
            continue
        length, values = lengths[name], value if isinstance(value, list) else [value]
        if isinstance(value, list) != (length is not None):
            yield "prior", f"{name} must be {'one number' if length is None else 'a list of numbers'}"
        elif length and len(values) != length:
            yield "prior", f"{name} must be {length} numbers, {traits.listed_by} in order"
        low, high = traits.bounds.get(name, traits.usual_bounds)
        if name in traits.with_unit:  # must only be positive here; of a list, the last is the feature's own
            if low > 0 and values and not values[-1] > 0:
                yield "prior", f"{name} must be greater than 0, not {values[-1]:g}"
        elif outside := [number for number in values if not low <= number <= high]:
            yield "prior", f"{name} must lie between {low:g} and {high:g}, not {outside[0]:g}"


# The parts of a feature with point masses: whether a value is at one, and the values at none.

_FEWEST, _SMALLEST_SHARE = 30, 0.1
"""Fewest values at no point mass, and their smallest share, for which their amount forms subtypes."""
OTHER = "other"
"""The level of values at no point mass."""
_OF_BOTH = ("role", "section", "block")
_OF_THE_REST = ("likelihood", "transform", "minimum", "maximum", "contrast", "unit", "prior")


class Part(Feature):
    """One of the two parts of a feature: its levels are ``other`` and the point masses, or its values all others."""

    _whole: Feature = PrivateAttr()
    _lowest: float = PrivateAttr(default=0.0)

    @property
    def whole(self) -> Feature:
        """The feature that this is a part of."""
        return self._whole

    @property
    def lowest(self) -> float:
        """The value that is 0 on the scale of the model: of counts without 0, the lowest possible one."""
        return self._lowest

    def scores(self, column: pd.Series) -> Array:
        """Return this part (N,) of a validated column: 1, 2, ... at the point masses and 0 elsewhere, or the rest."""
        values, masses = self._whole.scores(column), self._whole.point_masses
        if self.levels is None:
            return np.where(np.isin(values, masses), np.nan, values)
        places = np.where(np.isnan(values), np.nan, 0.0)
        for place, mass in enumerate(masses, start=1):
            places[values == mass] = float(place)
        return places


@lru_cache(maxsize=4096)
def parts_of(whole: Feature) -> tuple[Feature, ...]:
    """Return the two parts of a feature with point masses."""
    masses = whole.point_masses
    texts = tuple(map(mass_text, masses))
    others = f"if not {' or '.join(texts)}"
    if all(map(math.isinf, masses)):
        others = "if detected" if masses == (-math.inf,) else "if within the limits"
    shared = {name: getattr(whole, name) for name in _OF_BOTH}
    likelihood = Bernoulli.name if len(masses) == 1 else Categorical.name
    name, levels = f"{whole.name}: spike", (OTHER, *texts)
    first = Part(name=name, label=whole.title, likelihood=likelihood, levels=levels, **shared)
    shared |= {name: getattr(whole, name) for name in _OF_THE_REST}
    second = Part(name=f"{whole.name}: rest", label=f"{whole.title}, {others}", **shared)
    first._whole = second._whole = whole
    while whole.traits.is_count and second._lowest in masses:
        second._lowest += 1.0
    return first, second


def few_of_the_rest(rest: Feature, column: pd.Series) -> str:
    """Return why the values at no point mass are too few to form subtypes; empty if they are not."""
    n_all, n_rest = int(column.notna().sum()), int((~np.isnan(rest.scores(column))).sum())
    if not rest.is_part or rest.levels or n_rest == n_all or n_rest >= max(_FEWEST, _SMALLEST_SHARE * n_all):
        return ""
    return f"{n_rest} of {n_all} values only, which are described, while whether there is one still forms subtypes"


def mass_text(mass: float) -> str:
    """Return a point mass in words."""
    if math.isinf(mass):
        return "below the limit" if mass < 0.0 else "above the limit"
    return f"{mass:.15g}"


def pairs_of_parts(features: Sequence[Feature]) -> list[tuple[int, int]]:
    """Return the places of the first and the second part of each feature of which both are present."""
    parts = [(place, feature) for place, feature in enumerate(features) if feature.is_part]
    first = {feature.column: place for place, feature in parts if feature.levels}
    rest = [(place, feature.column) for place, feature in parts if not feature.levels]
    return [(first[column], place) for place, column in rest if column in first]


def of_wholes(features: Iterable[Feature], terms: Array) -> tuple[list[Feature], Array]:
    """Return the whole features of these parts, and their terms (D, ...) summed over parts."""
    places: dict[Feature, list[int]] = {}
    for place, feature in enumerate(features):
        places.setdefault(feature.whole, []).append(place)
    if len(places) == len(terms):
        return list(places), terms
    return list(places), np.array([terms[members].sum(axis=0) for members in places.values()])
