"""The feature schema: the features of a cohort table, in order."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pandas as pd

from clinclust.control_characters import on_one_line
from clinclust.errors import SchemaError
from clinclust.files.selection.row_choice import RowChoice
from clinclust.nearest import did_you_mean
from clinclust.schema.feature import Feature
from clinclust.schema.pandera_extras import PanderaExtras
from clinclust.schema.schema_rules import Settings, settings_of

if TYPE_CHECKING:
    import pandera.pandas as pa

__all__ = ["FeatureSchema"]


class FeatureSchema:
    """The features of a cohort table, in order: the single definition of what each column means.

    Parameters
    ----------
    features : iterable of Feature
        One feature for each column. Their names must differ.
    title : str, optional
        Name of the cohort.
    missing_codes : sequence of str
        Values that mean missing in every column (by default, an empty cell).
    other_columns : {"error", "ignore"}
        Whether columns of the table without a feature are an error or are ignored.
    rows : RowChoice or dict, optional
        Which rows of its file are the cohort: the arguments of `read_cohort` that choose them (``where``,
        ``one_row_per``, ``keep``, ``by``, ``dates``, ``rows``). A fit refuses a table that was read with
        another choice, and reports say which rows were taken. By default nothing is said.

    Raises
    ------
    SchemaError
        If the schema cannot be used. The message lists all problems.

    Attributes
    ----------
    comments : dict of str to str
        Remarks by feature name. `to_yaml` writes each above its feature. They do not count in comparisons of schemas or
        in the fingerprint.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema(
    ...     [
    ...         cc.Feature(name="patient", role="id"),
    ...         cc.Feature(name="falls", likelihood="poisson"),
    ...         cc.Feature(name="tremor", likelihood="bernoulli", levels=["no", "yes"]),
    ...     ],
    ...     missing_codes=["", "-9"],
    ... )
    >>> cohort = pd.DataFrame({"patient": ["a", "b", "c"], "falls": ["2", "-9", "0"], "tremor": ["no", "yes", ""]})
    >>> schema.validate(cohort)
      patient  falls tremor
    0       a      2     no
    1       b   <NA>    yes
    2       c      0    NaN
    """

    __slots__ = ("_by_name", "_extras", "_features", "_settings", "comments")

    def __init__(
        self,
        features: Iterable[Feature],
        *,
        title: str | None = None,
        missing_codes: Iterable[str] = ("",),
        other_columns: Literal["error", "ignore"] = "error",
        rows: RowChoice | Mapping[str, object] | None = None,
    ) -> None:
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise SchemaError(f"features must be a list of Feature, not {type(features).__name__}")
        self._features = tuple(features)
        self._settings = settings_of(self._features, title, missing_codes, other_columns, rows)
        self._by_name = {feature.name: feature for feature in self._features}
        self._extras = PanderaExtras()
        self.comments: dict[str, str] = {}

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features, in order."""
        return self._features

    @property
    def title(self) -> str | None:
        """The name of the cohort, or None."""
        return self._settings.title

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """Values that mean missing in every column."""
        return self._settings.missing_codes

    @property
    def other_columns(self) -> Literal["error", "ignore"]:
        """Whether columns without a feature are an error or are ignored."""
        return self._settings.other_columns

    @property
    def rows(self) -> RowChoice:
        """Which rows of its file are the cohort; without any field, nothing is said of them.

        ``read_cohort(path, **schema.rows.as_dict())`` reads these rows.
        """
        return self._settings.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(self._by_name)

    @property
    def clustered(self) -> tuple[Feature, ...]:
        """The features that the clustering uses (role ``cluster``)."""
        return tuple(feature for feature in self._features if feature.is_clustered)

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The parts of all features, in order: the features themselves, but two for one with point masses."""
        return tuple(part for feature in self._features for part in feature.parts)

    def places(self, parts: Iterable[Feature]) -> list[int]:
        """Return the place of each of these among the `parts` of the schema, such as its column in `outliers_`."""
        place = {part.name: at for at, part in enumerate(self.parts)}
        return [place[part.name] for part in parts]

    @property
    def clustered_parts(self) -> tuple[Feature, ...]:
        """The parts of the features that the clustering uses (`Feature.parts`)."""
        return tuple(part for feature in self.clustered for part in feature.parts)

    @property
    def described(self) -> tuple[Feature, ...]:
        """The features that are reported and tested, but not used in the clustering (see `Feature.is_described`)."""
        return tuple(feature for feature in self._features if feature.is_described)

    @property
    def reported(self) -> tuple[Feature, ...]:
        """The features that are clustered on or described, in order."""
        return tuple(feature for feature in self._features if feature.is_reported)

    @property
    def ids(self) -> tuple[Feature, ...]:
        """The features that identify a subject (role ``id``)."""
        return tuple(feature for feature in self._features if feature.is_id)

    @property
    def extras(self) -> PanderaExtras:
        """Checks and parsers of a user's own pandera schema that the features cannot express."""
        return self._extras

    @property
    def fingerprint(self) -> str:
        """The SHA-256 hash of the content of the schema, without comments, in hexadecimal."""
        from clinclust.schema.yaml_writer import yaml_text

        return hashlib.sha256((yaml_text(self, comments={}) + self._extras.described()).encode()).hexdigest()

    def missing_codes_of(self, feature: Feature) -> tuple[str, ...]:
        """Return all texts that mean missing in the column of `feature`: those of the schema, then its own."""
        return (*self.missing_codes, *feature.missing_codes)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Feature:
        if name not in self._by_name:
            raise KeyError(f"the schema has no feature {name!r}.{did_you_mean(str(name), self._by_name)}")
        return self._by_name[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureSchema):
            return NotImplemented
        return (self._features, self._settings, self._extras) == (
            other._features,
            other._settings,
            other._extras,
        )

    def __hash__(self) -> int:
        return hash((self._features, self._settings))

    def __repr__(self) -> str:
        kinds = pd.Series([feature.likelihood or feature.role for feature in self._features]).value_counts(sort=False)
        summary = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        return f"FeatureSchema({on_one_line(self.title or 'untitled')}: {len(self)} features; {summary})"

    def _repr_html_(self) -> str:
        from clinclust.schema.notebook_view import schema_html

        return schema_html(self)

    def restricted_to(self, names: Iterable[str]) -> FeatureSchema:
        """Return a schema of only these features, in the order of this schema; it ignores all other columns.

        Checks of a user's pandera schema that concern the whole table are dropped.

        Raises
        ------
        KeyError
            If a name is not a feature of this schema.
        """
        wanted = {self[name].name for name in names}
        return self._with_features(
            [feature for feature in self._features if feature.name in wanted],
            replace(self._settings, other_columns="ignore"),
        )

    def with_rows(self, rows: RowChoice) -> FeatureSchema:
        """Return the same schema with another choice of rows."""
        schema = self._with_features(list(self._features), replace(self._settings, rows=rows))
        schema._extras = self._extras
        return schema

    def with_changed(self, features: Iterable[Feature]) -> FeatureSchema:
        """Return the same schema with its features declared anew.

        Raises
        ------
        SchemaError
            If these are not the features of this schema, by name and in order.
        """
        changed = list(features)
        if tuple(feature.name for feature in changed) != self.names:
            raise SchemaError("the changed features must be those of the schema, in its order")
        return self._with_features(changed, self._settings)

    def with_roles(self, roles: Mapping[str, str] | None = None, /, **by_name: str) -> FeatureSchema:
        """Return the same schema with other roles for some features; see `Feature` for the roles.

        Parameters
        ----------
        roles : mapping of str to str, optional
            Roles by name, for names that are no Python identifiers.
        **by_name : str
            Roles by name.

        Raises
        ------
        SchemaError
            If a name or a role is unknown, or if a feature is to be clustered on or described that has no likelihood.
            The message lists all problems.

        Examples
        --------
        >>> import clinclust as cc
        >>> names = ("trt", "CRP (mg/L)", "age")
        >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in names])
        >>> [feature.role for feature in schema.with_roles({"CRP (mg/L)": "describe"}, trt="arm")]
        ['arm', 'describe', 'cluster']
        """
        from clinclust.schema.changed_roles import with_roles

        return with_roles(self, {**(roles or {}), **by_name})

    def _with_features(self, features: list[Feature], settings: Settings) -> FeatureSchema:
        schema = FeatureSchema(
            features,
            title=settings.title,
            missing_codes=settings.missing_codes,
            other_columns=settings.other_columns,
            rows=settings.rows,
        )
        schema._extras = self._extras.restricted_to(schema.names)
        schema.comments = {name: text for name, text in self.comments.items() if name in schema}
        return schema

    def validate(self, frame: pd.DataFrame, *, warn: bool = True) -> pd.DataFrame:
        """Convert a table to typed columns and check all of it.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (N, any)
            One row per subject. Columns may be in any order, as text or typed. The frame is not modified.
        warn : bool
            Whether to warn of columns that cannot inform a clustering.

        Returns
        -------
        pandas.DataFrame
            The columns with roles id, cluster and describe, in schema order, with the index of `frame`. The dtype is
            categorical for features with levels, ``Int64`` for other whole numbers, ``float64`` for exponential and
            gaussian features and those with a `limit` (infinite beyond it), and text for identifiers. Values are in
            the unit of the table, not transformed. Validating the result again returns an equal frame.

        Raises
        ------
        CohortError
            If the table does not fit the schema. The message lists all failures.
        TypeError
            If `frame` is not a DataFrame.

        Warns
        -----
        CohortWarning
            If cluster columns have no observed value, or the same value in every subject observed. It names them.
        """
        from clinclust.schema.validation import validate

        return validate(self, frame, warn=warn)

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the schema as YAML text, and write it to `path` if one is given.

        A comment at its top says which features are not clustered on, and why.

        Raises
        ------
        SchemaError
            If the schema came from a pandera schema with further checks, which YAML cannot hold.
        """
        from clinclust.schema.yaml_writer import write_yaml, yaml_heading, yaml_text

        self._extras.refuse_yaml()
        text = yaml_heading(self) + yaml_text(self, comments=self.comments)
        if path is not None:
            write_yaml(text, path)
        return text

    @classmethod
    def from_yaml(cls, path_or_text: str | os.PathLike[str]) -> FeatureSchema:
        """Read a schema from a YAML file, or from YAML text.

        Raises
        ------
        SchemaError
            If the schema cannot be used. The message lists all problems with line numbers.
        FileNotFoundError
            If the file does not exist.
        """
        from clinclust.schema.yaml_reader import read_schema

        return read_schema(path_or_text)

    def to_pandera(self) -> pa.DataFrameSchema:
        """Return the equivalent pandera schema, which converts and validates a table as `validate` does."""
        from clinclust.schema.pandera_schema import to_pandera

        return to_pandera(self)

    @classmethod
    def from_pandera(cls, schema: pa.DataFrameSchema) -> FeatureSchema:
        """Read a pandera schema whose columns have ``metadata={"clinclust": {...}}`` (the fields of `Feature`).

        Columns without that metadata are ignored. Checks that a feature can express become its `minimum`, `maximum` or
        `levels`, and ``nullable=False`` becomes `complete`. All other checks remain in force: `validate` runs them on
        the validated column. The dtype of a validated column follows from the likelihood, not from the pandera schema.
        Columns may be in any order.

        Raises
        ------
        SchemaError
            If the schema cannot be used. The message lists all problems.
        TypeError
            If `schema` is not a pandera DataFrameSchema.
        """
        from clinclust.schema.pandera_reader import from_pandera

        return from_pandera(schema)

    def with_extras(self, extras: PanderaExtras) -> FeatureSchema:
        """Return the same schema with these checks and parsers of a pandera schema instead of its own."""
        schema = self._with_features(list(self._features), self._settings)
        schema._extras = extras
        return schema
