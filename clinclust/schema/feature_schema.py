"""What the columns of a cohort table mean, in order."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

import pandas as pd

from clinclust.nearest import did_you_mean
from clinclust.schema.feature import Feature
from clinclust.schema.pandera_extras import PanderaExtras
from clinclust.schema.schema_rules import settings_of

if TYPE_CHECKING:
    import pandera.pandas as pa

__all__ = ["FeatureSchema"]


class FeatureSchema:
    """The features of a cohort, in order: the one place that says what each column means.

    Parameters
    ----------
    features : iterable of Feature
        One for each column, names all different.
    title : str, optional
        Name of the cohort.
    missing_codes : sequence of str
        Values that mean missing in every column (an empty cell by default).
    other_columns : {"error", "ignore"}
        What to do about columns of the table that no feature names.

    Raises
    ------
    SchemaError
        Listing everything that is wrong.

    Attributes
    ----------
    comments : dict of str to str
        Remarks about features by name, written above them by `to_yaml`. No part of the schema's identity.

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
    ) -> None:
        self._features = tuple(features)
        self._settings = settings_of(self._features, title, missing_codes, other_columns)
        self._by_name = {feature.name: feature for feature in self._features}
        self._extras = PanderaExtras()
        self.comments: dict[str, str] = {}

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features, in order."""
        return self._features

    @property
    def title(self) -> str | None:
        """Name of the cohort."""
        return self._settings.title

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """Values that mean missing in every column."""
        return self._settings.missing_codes

    @property
    def other_columns(self) -> Literal["error", "ignore"]:
        """What happens to columns that no feature names."""
        return self._settings.other_columns

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(self._by_name)

    @property
    def clustered(self) -> tuple[Feature, ...]:
        """The features that the subtypes are found from."""
        return tuple(feature for feature in self._features if feature.role == "cluster")

    @property
    def described(self) -> tuple[Feature, ...]:
        """The features that are reported and tested, never clustered on."""
        return tuple(feature for feature in self._features if feature.role == "describe")

    @property
    def ids(self) -> tuple[Feature, ...]:
        """The features that name a subject."""
        return tuple(feature for feature in self._features if feature.role == "id")

    @property
    def extras(self) -> PanderaExtras:
        """What a user's own pandera schema asks for beyond the features."""
        return self._extras

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the schema's content, in hexadecimal."""
        from clinclust.schema.yaml_writer import yaml_text

        return hashlib.sha256((yaml_text(self, comments={}) + self._extras.described()).encode()).hexdigest()

    def missing_codes_of(self, feature: Feature) -> tuple[str, ...]:
        """Return every text that means missing in the column of `feature`."""
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
        return f"FeatureSchema({self.title or 'untitled'}: {len(self)} features; {summary})"

    def _repr_html_(self) -> str:
        from clinclust.schema.notebook_view import schema_html

        return schema_html(self)

    def restricted_to(self, names: Iterable[str]) -> FeatureSchema:
        """Return the schema of some of the features, in schema order; it ignores every other column.

        Checks of a pandera schema that look at several columns at once are left behind.

        Raises
        ------
        KeyError
            If a name is not a feature of this schema.
        """
        wanted = {self[name].name for name in names}
        return self._with_features(
            [feature for feature in self._features if feature.name in wanted], other_columns="ignore"
        )

    def _with_features(self, features: list[Feature], other_columns: Literal["error", "ignore"]) -> FeatureSchema:
        schema = FeatureSchema(
            features, title=self.title, missing_codes=self.missing_codes, other_columns=other_columns
        )
        schema._extras = self._extras.restricted_to(schema.names)
        schema.comments = {name: text for name, text in self.comments.items() if name in schema}
        return schema

    def validate(self, frame: pd.DataFrame, *, warn: bool = True) -> pd.DataFrame:
        """Convert and check a table, all of it at once.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (N, any)
            One row per subject; columns in any order, as text or typed. It is not changed.
        warn : bool
            Whether to warn of columns that cannot inform a clustering.

        Returns
        -------
        pandas.DataFrame
            Columns in schema order with roles id, cluster and describe; the index is kept. With levels:
            categorical; counts: ``Int64``; exponential and gaussian: ``float64``; id: text. In the
            units of the table, not transformed. Validating the result again returns an equal frame.

        Raises
        ------
        CohortError
            Listing every failure.
        TypeError
            If `frame` is not a DataFrame.

        Warns
        -----
        CohortWarning
            Naming the cluster columns without any observed value, or with one and the same in every subject.
        """
        from clinclust.schema.validation import validate

        return validate(self, frame, warn=warn)

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the schema as YAML, and write it to `path` when one is given.

        Raises
        ------
        SchemaError
            If the schema came from a pandera schema with checks of its own, which YAML cannot hold.
        """
        from clinclust.schema.yaml_writer import write_yaml, yaml_text

        self._extras.refuse_yaml()
        text = yaml_text(self, comments=self.comments)
        if path is not None:
            write_yaml(text, path)
        return text

    @classmethod
    def from_yaml(cls, path_or_text: str | os.PathLike[str]) -> FeatureSchema:
        """Read a schema from a YAML file, or from YAML text.

        Raises
        ------
        SchemaError
            Listing everything that is wrong, with line numbers.
        FileNotFoundError
            If there is no such file.
        """
        from clinclust.schema.yaml_reader import read_schema

        return read_schema(path_or_text)

    def to_pandera(self) -> pa.DataFrameSchema:
        """Return the pandera schema that converts and validates a table as this schema says."""
        from clinclust.schema.pandera_schema import to_pandera

        return to_pandera(self)

    @classmethod
    def from_pandera(cls, schema: pa.DataFrameSchema) -> FeatureSchema:
        """Read a pandera schema whose columns carry ``metadata={"clinclust": {...}}`` (fields of `Feature`).

        Columns without that metadata are ignored. Checks that a feature can express become its `minimum`,
        `maximum` or `levels`, and ``nullable=False`` becomes `complete`; all other checks stay in force in
        `validate`, where they see the validated column. Its dtype is that of the likelihood, whatever the
        pandera schema says, and columns may come in any order.

        Raises
        ------
        SchemaError
            Listing everything that is wrong.
        """
        from clinclust.schema.pandera_reader import from_pandera

        return from_pandera(schema)

    def with_extras(self, extras: PanderaExtras) -> FeatureSchema:
        """Return the same schema with the further checks of a pandera schema."""
        schema = self._with_features(list(self._features), self.other_columns)
        schema._extras = extras
        return schema
