"""What one column of a cohort table means."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from clinclust.errors import InputError, SchemaError
from clinclust.likelihoods import REGISTRY, Likelihood, traits_of
from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.nearest import did_you_mean, nearest
from clinclust.schema.feature_rules import broken_rules
from clinclust.schema.field_types import Codes, Levels, Number, Prior, Text, Whole, YesNo

__all__ = ["Feature", "FeatureError"]

Role = Literal["cluster", "describe", "id", "ignore"]
Transform = Literal["log", "log1p", "sqrt"]
_CHOICES = {
    "role": get_args(Role),
    "likelihood": tuple(REGISTRY),
    "transform": get_args(Transform),
    "contrast": get_args(ContrastKind),
}


def _registered(name: str) -> str:
    if name not in REGISTRY:
        raise PydanticCustomError("literal_error", "not a likelihood")
    return name


LikelihoodName = Annotated[str, AfterValidator(_registered)]


class FeatureError(SchemaError):
    """The problems of one feature, each with the field that it is about (None: the feature as a whole)."""

    def __init__(self, name: object, problems: list[tuple[str | None, str]]) -> None:
        self.by_field = problems
        feature = name if isinstance(name, str) and name else "a feature without a name"
        super().__init__([f"{feature}: {field}: {text}" if field else f"{feature}: {text}" for field, text in problems])


class Feature(BaseModel):
    """One column: its name, what it measures and the likelihood that models it.

    Parameters
    ----------
    name : str
        The column's name in the table, exactly as written there.
    role : {"cluster", "describe", "id", "ignore"}
        ``cluster`` (the default): the subtypes are found from it. ``describe``: reported and tested, never
        clustered on. ``id``: names the subject. ``ignore``: dropped; it need not be in the table.
    likelihood : str
        One of `clinclust.likelihoods.REGISTRY`: ``bernoulli``, ``binomial``, ``categorical``, ``poisson``,
        ``geometric``, ``exponential``, ``gaussian``, ...
    levels : tuple of str
        The values as the table writes them. For a yes/no feature no, then yes (without levels the column holds 0
        and 1); for a scale (binomial) from lowest to highest, scored 0, 1, ...; for a categorical in any order.
    trials : int
        Of a scale whose values are 0 to `trials`.
    minimum, maximum : float
        The smallest and largest value allowed. For a scale both, whole: values run from one to the other.
    transform : {"log", "log1p", "sqrt"}
        Of an exponential or gaussian: the scale on which it is modelled.
    contrast : {"student", "welch", "rank", "counts"}
        How all subtypes at once are contrasted in this feature, where the default will not do:
        `clinclust.compare_subtypes` says what each of them is.
    label, unit, section, block, description : str
        For readers of the report; `block` names features that depend on each other beyond the subtypes.
    missing_codes : tuple of str
        Values that mean missing, besides those of the whole schema.
    complete : bool
        Whether a missing value is an error (False: missing values are part of the data).
    prior : dict
        Hyperparameters by name; those left out are set from the data.

    Raises
    ------
    SchemaError
        Listing everything that is wrong with the feature.

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
    complete: YesNo = False
    prior: Prior | None = None

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise FeatureError(fields.get("name"), _problems(error, fields)) from None
        problems = list(broken_rules(self))
        if problems:
            raise FeatureError(self.name, [*problems])

    def __hash__(self) -> int:
        return hash((self.name, self.role, self.likelihood))

    @property
    def title(self) -> str:
        """The label, or the name where there is none."""
        return self.label or self.name

    @property
    def traits(self) -> type[Likelihood]:
        """What its likelihood says of it; that of a feature without likelihood has no trait."""
        return traits_of(self.likelihood)

    @property
    def n_trials(self) -> int | None:
        """The highest score, counted from 0: 1 for yes/no, the steps of a scale, None for others."""
        return self.traits.highest_score(self)

    @property
    def lowest(self) -> float:
        """The value that a scale scores 0: its minimum where it has one, else 0."""
        return self.minimum if self.traits.is_scale and self.minimum is not None else 0.0

    def scores(self, column: pd.Series) -> NDArray[np.float64]:
        """Return a validated column as numbers, as a reader would count them.

        Parameters
        ----------
        column : pandas.Series, shape (N,)
            The column as `FeatureSchema.validate` returned it.

        Returns
        -------
        numpy.ndarray, shape (N,)
            The index of each level where the feature has levels, otherwise the value in its own unit, not
            transformed. NaN where missing.
        """
        if self.likelihood is None:
            raise InputError(f"{self.name} has no likelihood (role {self.role}), so it has no scores")
        if self.levels is not None:
            codes = np.asarray(column.array.codes, dtype=np.float64)  # column.cat would be slower
            return np.where(codes < 0, np.nan, codes)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def transformed(self, column: pd.Series) -> NDArray[np.float64]:
        """Return the scores on the scale on which the feature is modelled (see `scores`)."""
        scores = self.scores(column)
        if self.transform is None:
            return scores
        functions = {"log": np.log, "log1p": np.log1p, "sqrt": np.sqrt}
        return np.asarray(functions[self.transform](scores), dtype=np.float64)

    def content(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, the name first."""
        return self.model_dump(exclude_defaults=True)


def _problems(error: ValidationError, fields: dict[str, object]) -> list[tuple[str | None, str]]:
    """Say in plain words what pydantic found, and what the fields that it accepted still lack."""
    problems: list[tuple[str | None, str]] = []
    meant: set[str | None] = set()  # known keys that unknown ones were probably meant to be
    for found in error.errors(include_url=False):
        field = str(found["loc"][0])
        if found["type"] == "missing":
            problems.append((None, f"{field} is missing"))
        elif found["type"] == "extra_forbidden":
            problems.append((field, f"unknown key.{did_you_mean(field, Feature.model_fields)}"))
            meant.add(nearest(field, Feature.model_fields))
        elif found["type"] == "literal_error":
            choices, given = _CHOICES[field], found["input"]
            hint = did_you_mean(given, choices) if isinstance(given, str) else ""
            problems.append((field, f"must be one of {', '.join(choices)}, not {given!r}.{hint}"))
        else:
            problems.append((field, found["msg"].removeprefix("Value error, ")))
    faulty = {field for field, _ in problems} | meant | {"name"}
    if "role" not in faulty and "likelihood" not in faulty:
        rest = {key: value for key, value in fields.items() if key not in faulty}
        try:
            Feature(name="x", **rest)
        except FeatureError as rules:
            scale = {"levels", "trials", "minimum", "maximum"} if _is_scale(fields.get("likelihood")) else set()
            for rule in rules.by_field:
                if rule[0] not in faulty and not (rule[0] in scale and faulty & scale):
                    problems.append(rule)
    return problems


def _is_scale(likelihood: object) -> bool:
    return isinstance(likelihood, str) and likelihood in REGISTRY and REGISTRY[likelihood].is_scale
