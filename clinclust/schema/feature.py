"""The declaration of one feature: what one column of a cohort table means."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from clinclust.errors import InputError, SchemaError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted
from clinclust.files.number_notation import DecimalMark, ThousandsMark
from clinclust.likelihoods import REGISTRY, Likelihood, name_meant, traits_of
from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.nearest import did_you_mean, nearest
from clinclust.roles import ROLES, Role, is_described, is_ignored
from clinclust.schema.field_types import (
    Censored,
    Codes,
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
)
from clinclust.schema.level_numbers import LevelNumbers, ends_in_words, numbers_of_levels
from clinclust.schema.rules import broken_rules

Transform = Literal["log", "log1p", "sqrt"]
_CHOICES = {
    "role": ROLES,
    "likelihood": tuple(REGISTRY),
    "transform": get_args(Transform),
    "contrast": get_args(ContrastKind),
    "decimal": get_args(DecimalMark),
    "thousands": get_args(ThousandsMark),
    "censored": get_args(Censored),
}


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
    role : {"cluster", "arm", "outcome", "time", "site", "describe", "id", "ignore"}
        ``cluster`` (the default): used in the clustering. ``describe``: only reported and tested; likewise ``arm``
        (treatment), ``outcome``, ``time`` (of follow-up, dates, visits) and ``site`` (centre, staff, device), which are
        ignored without a likelihood. ``id``: identifies the subject. ``ignore``: dropped; the column may be absent.
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
        from clinclust.schema.parts import parts_of

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
            known = f"must be one of {', '.join(_CHOICES[field])}, not {quoted(given)}"
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
                (of, rule) for of, rule in rules.by_field if of not in faulty and not (of in scale and faulty & scale)
            ]
    return problems


def _hint(field: str, given: object) -> str:
    if not isinstance(given, str):
        return ""
    meant = name_meant(given) if field == "likelihood" else None
    return did_you_mean(given, _CHOICES[field]) if meant is None else f" Did you mean {meant!r}?"
