"""A feature: what a column means, the rules that its fields must meet, and the parts of one with a spike or a limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from clinclust.arrays import Array
from clinclust.errors import InputError, SchemaError
from clinclust.files.cell_text import NUMBER, quoted, shortened
from clinclust.files.number_notation import BEYOND_A_LIMIT, DecimalMark, ThousandsMark
from clinclust.files.row_choice import RowChoice
from clinclust.likelihoods import REGISTRY, Likelihood, name_meant, traits_of
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.roles import NEEDS_LIKELIHOOD, REASONS, ROLES, Role, is_described, is_ignored
from clinclust.schema.field_types import (
    Censored,
    Codes,
    LevelNumbers,
    Levels,
    Limits,
    Marks,
    Number,
    Prior,
    Spikes,
    Synonyms,
    Text,
    Whole,
    YesNo,
    codes,
    ends_in_words,
    numbers_of_levels,
    text,
)
from clinclust.texts import did_you_mean, nearest

Transform = Literal["log", "log1p", "sqrt"]
CHOICES = {
    "role": ROLES,
    "likelihood": tuple(REGISTRY),
    "transform": get_args(Transform),
    "contrast": get_args(ContrastKind),
    "decimal": get_args(DecimalMark),
    "thousands": get_args(ThousandsMark),
    "censored": get_args(Censored),
}
"""The words that a field accepts, by its name."""


def _registered(name: str) -> str:
    if name not in REGISTRY:
        raise PydanticCustomError("literal_error", "not a likelihood")
    return name


LikelihoodName = Annotated[str, AfterValidator(_registered)]


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
    complete: YesNo = False
    prior: Prior | None = None

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise FeatureError(fields.get("name"), _problems(error, fields)) from None
        if problems := [*broken_rules(self)]:
            raise FeatureError(self.name, [*problems])

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
        known = self.level_numbers
        return (self.lowest, self.lowest + self.n_trials) if known is None else known.ends

    @property
    def scored(self) -> str | None:
        """The meaning of scores of a scale with levels in words, as ``0 (none)–3 (severe)``; None for others."""
        in_words = self.levels is not None and self.traits.is_scale and self.level_numbers is None
        return ends_in_words(self.levels or ()) if in_words else None

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
        scores, known = self.scores(column), self.level_numbers
        if known is None:
            return scores
        numbers = np.array([*known.numbers, np.nan])  # the last is of missing values
        return numbers[np.where(np.isnan(scores), len(known.numbers), scores).astype(np.int64)]

    def transformed(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the transformed scores (N,) on the scale of the model; NaN = missing or at a point mass."""
        scores = self.scores(column)
        if self.point_masses:
            scores = np.where(np.isin(scores, self.point_masses), np.nan, scores)
        if self.transform is None:
            return scores
        return np.asarray({"log": np.log, "log1p": np.log1p, "sqrt": np.sqrt}[self.transform](scores))

    def on_model_scale(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return observed scores (n,) on the scale of the model, and the log Jacobian of the transform, summed."""
        if self.transform is None:
            return scores - self.lowest, 0.0
        if self.transform == "sqrt":
            return np.sqrt(scores), -float(np.log(2.0 * np.sqrt(scores)).sum())
        logs = np.log(scores) if self.transform == "log" else np.log1p(scores)
        return logs, -float(logs.sum())

    def from_model_scale(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values (n,) on the scale of the model in the unit of the column, which may be beyond its range."""
        if self.transform is None:
            return values + self.lowest
        with np.errstate(over="ignore"):  # what overflows is beyond any range
            if self.transform == "sqrt":
                return np.square(np.maximum(values, 0.0))  # a Gaussian value may be negative, a root is not
            return np.asarray(np.exp(values) if self.transform == "log" else np.expm1(values))

    def content(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, the name first."""
        content = self.model_dump(exclude_defaults=True)
        single = {name: content[name][0] for name in ("spike", "limit") if len(content.get(name, ())) == 1}
        return content | single


def _problems(error: ValidationError, fields: dict[str, object]) -> list[tuple[str | None, str]]:
    problems: list[tuple[str | None, str]] = []
    meant: set[str | None] = set()  # the known keys that unknown keys probably stand for
    likelihood = fields.get("likelihood")
    for found in error.errors(include_url=False):
        field = str(found["loc"][0])
        if found["type"] == "missing":
            problems.append((None, f"{field} is missing"))
        elif found["type"] == "extra_forbidden":
            problems.append((field, f"unknown key.{did_you_mean(field, Feature.model_fields)}"))
            meant.add(nearest(field, Feature.model_fields))
        elif found["type"] == "literal_error":
            given = found["input"]
            known = f"must be one of {', '.join(CHOICES[field])}, not {quoted(given)}"
            problems.append((field, f"{known}.{_hint(field, given)}"))
        else:
            problems.append((field, found["msg"].removeprefix("Value error, ")))
    faulty = {field for field, _ in problems} | meant | {"name"}
    if "role" not in faulty and "likelihood" not in faulty:
        rest = {key: value for key, value in fields.items() if key not in faulty}
        try:
            Feature(name="x", **rest)
        except FeatureError as rules:
            is_scale = isinstance(likelihood, str) and REGISTRY[likelihood].is_scale
            scale = {"levels", "trials", "minimum", "maximum"} if is_scale else set()
            problems += [
                (of, rule)
                for of, rule in rules.by_field
                if of not in faulty
                and not (of in scale and faulty & scale)
                and not (of == "synonyms" and "levels" in faulty)
            ]
    return problems


def _hint(field: str, given: object) -> str:
    if not isinstance(given, str):
        return ""
    meant = name_meant(given) if field == "likelihood" else None
    return did_you_mean(given, CHOICES[field]) if meant is None else f" Did you mean {meant!r}?"


OTHER_COLUMNS = ("error", "ignore")
TWICE = "two features have this name"
_OF_A_SCALE = ("levels", "trials", "minimum", "maximum", "transform")
_OF_NUMBERS = ("decimal", "thousands", "censored", "spike", "limit", "marks")
_OF_A_LIKELIHOOD = ("likelihood", *_OF_A_SCALE, *_OF_NUMBERS, "synonyms", "contrast", "prior", "complete")

Problems = Iterator[tuple[str, str]]
"""The field or the feature, and a sentence."""


def broken_rules(feature: Feature) -> Problems:
    """Yield (field, sentence) for every rule between fields that `feature` breaks."""
    if feature.is_id:
        for field in _OF_A_LIKELIHOOD:
            if getattr(feature, field):
                yield field, "an id is not modelled; leave this out or give another role"
        return
    if feature.likelihood is None:
        if feature.role in NEEDS_LIKELIHOOD:
            known = ", ".join(REGISTRY)
            yield "likelihood", f"a feature with role {feature.role} needs one of: {known}"
        if feature.role in REASONS:
            for field in _OF_A_LIKELIHOOD:
                if getattr(feature, field):
                    yield field, "says nothing without a likelihood; give one, or leave this out"
        return
    yield from _rules_of_levels(feature)
    yield from _rules_of_numbers(feature)
    yield from _rules_of_point_masses(feature)
    yield from _rules_of_texts(feature)
    if feature.contrast is not None and feature.contrast not in feature.traits.contrasts:
        fitting = ", ".join(feature.traits.contrasts)
        yield "contrast", f"{feature.likelihood} cannot be contrasted by {feature.contrast} (only by {fitting})"
    yield from _rules_of_prior(feature)


def _rules_of_levels(feature: Feature) -> Problems:
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


def _rules_of_numbers(feature: Feature) -> Problems:
    traits, low, high = feature.traits, feature.minimum, feature.maximum
    for field in ("transform", "trials", "minimum", "maximum"):
        if field not in traits.takes and getattr(feature, field) is not None:
            yield field, f"{feature.likelihood} has no {field} (only {_that_take(field)})"
    if low is not None and high is not None and low >= high:
        yield "maximum", f"must be greater than the minimum, {low:g}"
    if traits.is_scale:
        yield from _rules_of_a_scale(feature)
    most, steps = traits.most_steps, feature.n_trials
    if most is not None and steps is not None and steps > most:
        yield (
            "trials",
            f"{feature.likelihood} has at most {most:,} steps, not {steps:,}; declare a longer scale gaussian",
        )


def _rules_of_a_scale(feature: Feature) -> Problems:
    bounds = {"minimum": feature.minimum, "maximum": feature.maximum}
    has_bounds = any(bound is not None for bound in bounds.values())
    if (feature.trials is not None) + (feature.levels is not None) + has_bounds != 1:
        yield (
            "trials",
            f"{feature.likelihood} needs exactly one of `trials` (values 0 to trials), `levels` (in order, lowest "
            "first) or whole `minimum` and `maximum`",
        )
    elif has_bounds:
        for field, bound in bounds.items():
            if bound is None:
                yield field, f"{feature.likelihood} needs both `minimum` and `maximum`, or `trials`"
            elif bound != math.floor(bound):
                yield field, f"{feature.likelihood} needs a whole number, not {bound:g}"


def _rules_of_point_masses(feature: Feature) -> Problems:
    for field in ("spike", "limit"):
        if getattr(feature, field) and feature.levels is None and "spike" not in feature.traits.takes:
            yield field, f"{feature.likelihood} has no {field} (only {_that_take('spike')})"
    if feature.limit and feature.censored is not None:
        yield (
            "limit",
            "a value beyond a limit is either modelled as not detected (limit) or replaced (censored); leave one out",
        )
    for value in feature.spike:
        if feature.traits.is_whole and value != math.floor(value):
            yield "spike", f"{feature.likelihood} has whole numbers only, not {value:g}"
        if f"{value:.15g}" in feature.missing_codes:
            yield "spike", f"{value:.15g} is also a missing code"


def _rules_of_texts(feature: Feature) -> Problems:
    for field in _OF_NUMBERS:
        if feature.levels is not None and getattr(feature, field):
            yield field, "a feature with levels has no numbers; leave this out"
    if feature.thousands is not None and feature.thousands == (feature.decimal or "."):
        mark, other = feature.decimal or ".", "." if feature.decimal == "," else ","
        needed = f'they must differ: write `decimal: "{other}"` as well'
        yield "thousands", f"the decimal mark is {quoted(mark)} too; {needed}"
    for given, meant in (feature.synonyms or {}).items():
        if given in (feature.levels or ()):
            yield "synonyms", f"{quoted(given)} is itself a level"
        elif given in feature.missing_codes:
            yield "synonyms", f"{quoted(given)} is also a missing code"
        elif feature.levels is not None and meant not in feature.levels:
            yield "synonyms", f"{quoted(given)} must mean a level, not {quoted(meant)}"
        elif feature.levels is None and not _means_number(feature, meant):
            yield "synonyms", f"{quoted(given)} must mean a number, not {quoted(meant)}"


def _means_number(feature: Feature, meant: str) -> bool:
    limit = BEYOND_A_LIMIT.fullmatch(meant) if feature.censored is not None or feature.limit else None
    return NUMBER.fullmatch(limit[2] if limit else meant) is not None


def _that_take(field: str) -> str:
    """Return the likelihoods that accept the field, and their verb: ``binomial and ordinal have``."""
    *first, last = [name for name, likelihood in REGISTRY.items() if field in likelihood.takes]
    return f"{', '.join(first)} and {last} have" if first else f"{last} has"


def _rules_of_prior(feature: Feature) -> Problems:
    lengths = feature.traits.hyperparameter_lengths(feature)
    lengths |= {name: lengths[scale] for name, (_, scale) in feature.traits.known.items()}
    for name, value in (feature.prior or {}).items():
        twice = [other for other in feature.traits.known.get(name, ()) if other in (feature.prior or {})]
        if twice:
            yield "prior", f"{name} says {' and '.join(feature.traits.known[name])} as well; leave out {twice[0]}"
        if name not in lengths:
            known = ", ".join(lengths)
            hint = did_you_mean(name, lengths)
            yield "prior", f"{feature.likelihood} has no hyperparameter {quoted(name)} ({known}).{hint}"
            continue
        length = lengths[name]
        if isinstance(value, list) != (length is not None):
            yield "prior", f"{name} must be {'one number' if length is None else 'a list of numbers'}"
        elif isinstance(value, list) and length and len(value) != length:
            yield "prior", f"{name} must be {length} numbers, {feature.traits.listed_by} in order"
        yield from _out_of_bounds(feature, name, value)


def _out_of_bounds(feature: Feature, name: str, value: float | list[float]) -> Problems:
    """Yield the problem of a hyperparameter out of its bounds; those with a unit must only be positive here."""
    low, high = feature.traits.bounds.get(name, feature.traits.usual_bounds)
    values = (value if isinstance(value, list) else [value]) or [1.0]
    if name in feature.traits.with_unit:
        if low > 0 and not values[-1] > 0:  # of a list, the last is the feature's own
            yield "prior", f"{name} must be greater than 0, not {values[-1]:g}"
        return
    outside = [number for number in values if not low <= number <= high]
    if outside:
        yield "prior", f"{name} must lie between {low:g} and {high:g}, not {outside[0]:g}"


def problems_of_settings(settings: Mapping[str, object]) -> list[str]:
    """Return one sentence for each argument of a schema, other than features, that cannot be used."""
    problems = []
    for name, check in (("title", text), ("missing_codes", codes), ("rows", rows_of)):
        try:
            if settings.get(name) is not None:
                check(settings[name])
        except ValueError as error:
            problems.append(f"{name}: {error}")
    other_columns = settings.get("other_columns", "error")
    if other_columns not in OTHER_COLUMNS:
        hint = did_you_mean(str(other_columns), OTHER_COLUMNS)
        problems.append(f"other_columns: must be error or ignore, not {quoted(other_columns)}.{hint}")
    return problems


def rows_of(value: object) -> RowChoice:
    """Return the choice of rows of a schema; raise InputError for any other value."""
    if value is None or isinstance(value, RowChoice):
        return value or RowChoice()
    return RowChoice.from_dict(value)


def problems_among(features: Sequence[Feature], missing_codes: object) -> Problems:
    """Yield (feature name, sentence) for each broken rule between features, and of missing codes."""
    known = missing_codes if isinstance(missing_codes, (list, tuple)) else ()
    for feature in features:
        for code in known:
            if feature.levels is not None and code in feature.levels:
                yield feature.name, f"level {quoted(code)} is also one of the missing_codes of the schema"
    of_parts = {part.name: feature.name for feature in features for part in feature.parts if part.is_part}
    for feature in features:
        if feature.name in of_parts:
            of = quoted(of_parts[feature.name])
            yield feature.name, f"has the name of a part of {of}, which has a spike; rename it"
    yield from _blocks_alike(features)
    yield from _mixed_blocks(features)


def _blocks_alike(features: Sequence[Feature]) -> Problems:
    """Yield each feature whose block differs from an earlier one by case and spaces only."""
    first: dict[str, str] = {}
    for feature in features:
        known = None if feature.block is None else first.setdefault(block_key(feature.block), feature.block)
        if known != feature.block:
            yield (
                feature.name,
                f"block: {quoted(feature.block)} differs from the block {quoted(known)} above by case or spaces "
                "only, and would be another block; write both in the same way, or give one of them another name",
            )


def _mixed_blocks(features: Sequence[Feature]) -> Problems:
    clustered = [feature for feature in features if feature.block is not None and feature.is_clustered]
    chained = {feature.block: feature for feature in clustered if feature.traits.is_chained}
    for feature in clustered:
        if feature.block in chained and not feature.traits.is_chained:
            yield (
                feature.name,
                f"block: {quoted(feature.block)} is a block of {chained[feature.block].likelihood} features, and "
                f"{feature.likelihood} cannot be among them; give it another block, or none",
            )


def block_key(block: str) -> str:
    """Return what names of blocks share that differ by case and spaces only."""
    return "".join(block.casefold().split())


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

    @property
    def is_spike(self) -> bool:
        """Whether this is the first part, the point mass of a value."""
        return self.levels is not None

    def scores(self, column: pd.Series) -> Array:
        """Return this part (N,) of a validated column of the whole feature."""
        values = self._whole.scores(column)
        places = place_at(values, self._whole.point_masses)
        return places if self.is_spike else np.where(places > 0.0, np.nan, values)


@lru_cache(maxsize=4096)
def parts_of(whole: Feature) -> tuple[Feature, ...]:
    """Return the two parts of a feature with point masses."""
    masses = whole.point_masses
    shared = {name: getattr(whole, name) for name in _OF_BOTH}
    first = Part(
        name=f"{whole.name}: spike",
        label=whole.title,
        likelihood=Bernoulli.name if len(masses) == 1 else Categorical.name,
        levels=(OTHER, *map(mass_text, masses)),
        **shared,
    )
    own = {name: getattr(whole, name) for name in _OF_THE_REST}
    second = Part(name=f"{whole.name}: rest", label=f"{whole.title}, {_if_other(masses)}", **shared, **own)
    first._whole = second._whole = whole
    if whole.traits.is_count:
        while second._lowest in masses:
            second._lowest += 1.0
    return first, second


def few_of_the_rest(rest: Feature, column: pd.Series) -> str:
    """Return why the values at no point mass are too few to form subtypes; empty if they are not."""
    n_all, n_rest = int(column.notna().sum()), int((~np.isnan(rest.scores(column))).sum())
    if not rest.is_part or rest.levels or n_rest == n_all or n_rest >= max(_FEWEST, _SMALLEST_SHARE * n_all):
        return ""
    return f"{n_rest} of {n_all} values only, which are described, while whether there is one still forms subtypes"


def place_at(values: Array, masses: Sequence[float]) -> Array:
    """Return 1, 2, ... for values (N,) at the first, second, ... point mass, 0 for others; NaN = missing."""
    places = np.where(np.isnan(values), np.nan, 0.0)
    for place, mass in enumerate(masses, start=1):
        places[values == mass] = float(place)
    return places


def mass_text(mass: float) -> str:
    """Return a point mass in words."""
    if math.isinf(mass):
        return "below the limit" if mass < 0.0 else "above the limit"
    return f"{mass:.15g}"


def _if_other(masses: Sequence[float]) -> str:
    if all(map(math.isinf, masses)):
        return "if detected" if masses == (-math.inf,) else "if within the limits"
    return f"if not {' or '.join(map(mass_text, masses))}"


def pairs_of_parts(features: Sequence[Feature]) -> list[tuple[int, int]]:
    """Return the places of the first and the second part of each feature of which both are present."""
    first = {feature.column: place for place, feature in enumerate(features) if feature.is_part and feature.levels}
    return [
        (first[feature.column], place)
        for place, feature in enumerate(features)
        if feature.is_part and not feature.levels and feature.column in first
    ]


def of_wholes(features: Iterable[Feature], terms: Array) -> tuple[list[Feature], Array]:
    """Return the whole features of these parts, and their terms (D, ...) summed over parts."""
    places: dict[Feature, list[int]] = {}
    for place, feature in enumerate(features):
        places.setdefault(feature.whole, []).append(place)
    if len(places) == len(terms):
        return list(places), terms
    return list(places), np.array([terms[members].sum(axis=0) for members in places.values()])
