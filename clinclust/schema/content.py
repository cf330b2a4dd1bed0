"""What a feature schema holds: the features in order, and what is said of the whole table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from clinclust.errors import SchemaError
from clinclust.files.cell_text import shortened
from clinclust.files.listed import quoted
from clinclust.files.selection.row_choice import RowChoice
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import TWICE, Feature, problems_among, problems_of_settings, rows_of
from clinclust.schema.field_types import codes, text


@dataclass(frozen=True)
class PanderaExtras:
    """Checks and parsers of a user's own pandera schema that features cannot express.

    `checks` and `parsers` are by column, `unique` lists columns, and `frame` has the arguments of
    ``pandera.DataFrameSchema`` that concern the whole table.
    """

    checks: dict[str, list[Any]] = field(default_factory=dict)
    parsers: dict[str, list[Any]] = field(default_factory=dict)
    unique: list[str] = field(default_factory=list)
    frame: dict[str, Any] = field(default_factory=dict)

    def restricted_to(self, names: Collection[str]) -> PanderaExtras:
        """Return the requirements of these columns, without those of the whole table."""
        checks = {name: checks for name, checks in self.checks.items() if name in names}
        parsers = {name: parsers for name, parsers in self.parsers.items() if name in names}
        return PanderaExtras(checks, parsers, [name for name in self.unique if name in names])

    def described(self) -> str:
        """Return the requirements by name, one line each, for the fingerprint."""
        return "\n".join(f"{name}: {asked}" for name, asked in self._asked())

    def refuse_yaml(self) -> None:
        """Raise SchemaError if there are any requirements, which YAML cannot hold."""
        problems = [
            f"{name}: {asked} of the pandera schema cannot be written as YAML; keep the schema as pandera "
            "code, or remove it there (`levels`, `minimum` and `maximum` may say the same)"
            for name, asked in self._asked()
        ]
        if problems:
            raise SchemaError(problems)

    def _asked(self) -> list[tuple[str, str]]:
        asked = [
            (name, f"the check {check.error or check.name}") for name, all_ in self.checks.items() for check in all_
        ]
        asked += [(name, f"the parser {parser.name}") for name, all_ in self.parsers.items() for parser in all_]
        asked += [(name, "unique=True") for name in self.unique]
        return asked + [("the table", f"{key}={value}") for key, value in self.frame.items()]


@dataclass(frozen=True, init=False, repr=False)
class SchemaContent:
    """The content of a `FeatureSchema`, which documents it."""

    features: tuple[Feature, ...]
    title: str | None
    missing_codes: tuple[str, ...]
    other_columns: Literal["error", "ignore"]
    rows: RowChoice
    extras: PanderaExtras = field(hash=False)
    comments: dict[str, str] = field(compare=False)

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        title: str | None = None,
        missing_codes: Iterable[str] = ("",),
        other_columns: Literal["error", "ignore"] = "error",
        rows: RowChoice | Mapping[str, object] | None = None,
        extras: PanderaExtras | None = None,
        comments: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise SchemaError(f"features must be a list of Feature, not {type(features).__name__}")
        features = tuple(features)
        problems = problems_of_settings(title, missing_codes, other_columns, rows)
        of_table = () if any(problem.startswith("missing_codes:") for problem in problems) else codes(missing_codes)
        problems += _problems(features, of_table)
        if problems:
            raise SchemaError(problems)
        self.__dict__.update(
            features=features,
            title=None if title is None else text(title),
            missing_codes=of_table,
            other_columns=other_columns,
            rows=rows_of(rows),
            extras=extras or PanderaExtras(),
            comments=dict(comments or {}),
        )

    @cached_property
    def _by_name(self) -> dict[str, Feature]:
        return {feature.name: feature for feature in self.features}

    @property
    def names(self) -> list[str]:
        """The names of the features, in order: ``table[schema.names]`` are their columns in the raw table."""
        return list(self._by_name)

    @property
    def clustered(self) -> tuple[Feature, ...]:
        """The features that form subtypes (role ``cluster``)."""
        return tuple(feature for feature in self.features if feature.is_clustered)

    @property
    def described(self) -> tuple[Feature, ...]:
        """The features that are reported and tested, but not clustered on."""
        return tuple(feature for feature in self.features if feature.is_described)

    @property
    def reported(self) -> tuple[Feature, ...]:
        """The features that are clustered on or described, in order."""
        return tuple(feature for feature in self.features if feature.is_clustered or feature.is_described)

    @property
    def ids(self) -> tuple[Feature, ...]:
        """The features that identify a subject (role ``id``)."""
        return tuple(feature for feature in self.features if feature.is_id)

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The parts of all features, in order (`Feature.parts`)."""
        return tuple(part for feature in self.features for part in feature.parts)

    @property
    def clustered_parts(self) -> tuple[Feature, ...]:
        """The parts of the features that form subtypes."""
        return tuple(part for feature in self.clustered for part in feature.parts)

    def places(self, parts: Iterable[Feature]) -> list[int]:
        """Return the index of each of these among the `parts` of the schema."""
        place = {part.name: at for at, part in enumerate(self.parts)}
        return [place[part.name] for part in parts]

    def missing_codes_of(self, feature: Feature) -> tuple[str, ...]:
        """Return all texts that mean missing in the column of `feature`."""
        return (*self.missing_codes, *feature.missing_codes)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Feature:
        if name not in self._by_name:
            raise KeyError(f"the schema has no feature {name!r}.{did_you_mean(str(name), self._by_name)}")
        return self._by_name[name]


def _problems(features: tuple[Feature, ...], missing_codes: tuple[str, ...]) -> list[str]:
    strangers = [one for one in features if not isinstance(one, Feature)]
    if strangers or not features:
        problems = [f"features: must be Feature objects, not {quoted(stranger)}" for stranger in strangers[:5]]
        return problems or ["features: there is none"]
    times = Counter(feature.name for feature in features)
    repeated = [(name, TWICE) for name, n in times.items() for _ in range(n - 1)]
    found = [*repeated, *problems_among(features, missing_codes)]
    return [f"{shortened(name)}: {problem}" for name, problem in found]
