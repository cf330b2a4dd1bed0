"""`FeatureSchema`: its features, its files, and ready schemas of instruments."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError, SchemaError, did_you_mean, on_one_line, shortened
from clinclust.files.cell_text import numbers_of, quoted
from clinclust.files.row_choice import RowChoice
from clinclust.files.writing import write_text
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.roles import ROLES
from clinclust.schema.excel import read_excel, write_excel
from clinclust.schema.feature import Feature, FeatureError
from clinclust.schema.reading import SchemaContent, text_cells
from clinclust.schema.validation import validate
from clinclust.schema.yaml_files import read_yaml, yaml_text

if TYPE_CHECKING:
    import pandera.pandas as pa


# Schemas of instruments that many cohorts have, from `clinclust/data/instruments/`.

_FOLDER = files("clinclust.data") / "instruments"


def instruments() -> list[str]:
    """Return the names of the instruments, in alphabetical order."""
    return sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir())


def schema_of_instrument(name: str) -> str:
    """Return the schema of an instrument as YAML text, with its scoring and source as comments; InputError if none."""
    names = instruments()
    if name not in names:
        raise InputError(f"there is no instrument {name!r}.{did_you_mean(str(name), names)} Known: {', '.join(names)}")
    return (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def html_block(title: str, rows: pd.DataFrame | None, text: str) -> str:
    """Return the view of a model in a notebook: a title, a table of texts of at most 40 characters, and a paragraph."""
    table = "" if rows is None else rows.map(lambda cell: shortened(cell, 40)).to_html(index=False, border=0)
    title, text = escape(shortened(title, 200)), escape(shortened(text, 400))
    return f"<div><p><strong>{title}</strong></p>{table}<p>{text}</p></div>"


# The features of a cohort table, in order.


class FeatureSchema(SchemaContent):
    """The features of a cohort table, in order.

    Parameters
    ----------
    features : iterable of Feature
        One feature per column, with distinct names.
    title : str, optional
        Name of the cohort.
    missing_codes : sequence of str
        Values that mean missing in every column; by default an empty cell.
    other_columns : {"error", "ignore"}
        How to treat columns of the table without a feature.
    rows : RowChoice or dict, optional
        Arguments of `read_cohort` that choose rows: ``read_cohort(path, **schema.rows.as_dict())``. A fit refuses a
        table with another choice.
    comments : mapping of str to str, optional
        Remarks by feature name, for `to_yaml`; ignored in comparisons and in the fingerprint.

    Raises
    ------
    SchemaError
        If the schema cannot be used. The message lists all problems.

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

    @property
    def fingerprint(self) -> str:
        """The SHA-256 hash of the schema without comments, in hexadecimal."""
        return hashlib.sha256(yaml_text(self).encode()).hexdigest()

    def __repr__(self) -> str:
        kinds = pd.Series([feature.likelihood or feature.role for feature in self.features]).value_counts(sort=False)
        summary = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        return f"FeatureSchema({on_one_line(self.title or 'untitled')}: {len(self)} features; {summary})"

    def restricted_to(self, names: Iterable[str]) -> FeatureSchema:
        """Return a schema of only these features, in the order of this schema; it ignores all other columns.

        An unknown name is a KeyError.
        """
        wanted = {self[name].name for name in names}
        return replace(
            self,
            features=tuple(feature for feature in self.features if feature.name in wanted),
            other_columns="ignore",
            comments={name: text for name, text in self.comments.items() if name in wanted},
        )

    def with_rows(self, rows: RowChoice) -> FeatureSchema:
        """Return the same schema with another choice of rows."""
        return replace(self, rows=rows)

    def with_changed(self, features: Iterable[Feature]) -> FeatureSchema:
        """Return the same schema with its features declared anew; SchemaError for others or another order."""
        changed = tuple(features)
        if [feature.name for feature in changed] != self.names:
            raise SchemaError("the changed features must be those of the schema, in its order")
        return replace(self, features=changed)

    def with_roles(self, roles: Mapping[str, str] | None = None, /, **by_name: str) -> FeatureSchema:
        """Return the same schema with other roles for some features (see `Feature`).

        Parameters
        ----------
        roles, **by_name : mapping of str to str, optional
            Roles by name; the mapping is for names that are no Python identifiers.

        Raises
        ------
        SchemaError
            If a name or role is unknown, or the role needs a likelihood. The message lists all problems.

        Examples
        --------
        >>> import clinclust as cc
        >>> names = ("trt", "CRP (mg/L)", "age")
        >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in names])
        >>> [feature.role for feature in schema.with_roles({"CRP (mg/L)": "describe"}, trt="arm")]
        ['arm', 'describe', 'cluster']
        """
        wanted = {**(roles or {}), **by_name}
        problems, changed = role_problems(wanted, self.names), []
        for feature in self:
            role = wanted.get(feature.name, feature.role)
            try:
                changed.append(feature if role == feature.role else Feature(**{**feature.content(), "role": role}))
            except FeatureError as error:
                problems += error.problems if role in ROLES else []
        if problems:
            raise SchemaError(problems)
        return self.with_changed(changed)

    def replace(self, name: str, /, **fields: Any) -> FeatureSchema:
        """Return the same schema with other fields for one feature (see `Feature`).

        An unknown name is a KeyError; SchemaError lists all problems of the feature.

        Examples
        --------
        >>> import clinclust as cc
        >>> schema = cc.FeatureSchema([cc.Feature(name="crp", likelihood="gaussian")])
        >>> schema.replace("crp", transform="log", unit="mg/L")["crp"].transform
        'log'
        """
        if fields.get("name", name) != name:
            raise SchemaError(f"{name}: a feature cannot be renamed: it is found by its name; declare another Feature")
        changed = Feature(**{**self[name].content(), **fields})
        return self.with_changed(changed if feature.name == name else feature for feature in self)

    def validate(self, frame: pd.DataFrame, *, warn: bool = True) -> pd.DataFrame:
        """Convert a table to typed columns and check all of it.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (N, any)
            One row per subject; columns in any order, as text or typed.
        warn : bool
            Whether to warn of columns that cannot inform a clustering.

        Returns
        -------
        pandas.DataFrame
            The identifiers and the columns clustered on or described, in schema order, not transformed: categorical
            (levels), ``Int64`` (other whole numbers), ``float64`` (exponential, gaussian, `limit`), text (identifiers).

        Raises
        ------
        CohortError
            If the table does not fit the schema. The message lists all failures.
        TypeError
            If `frame` is not a DataFrame.

        Warns
        -----
        CohortWarning
            If cluster columns have fewer than two distinct observed values.
        """
        return validate(self, frame, warn=warn)

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the schema as YAML text, and write it to `path` if given."""
        text = yaml_text(self, self.comments)
        if path is not None:
            write_text(text, path)
        return text

    @classmethod
    def from_yaml(cls, path_or_text: str | os.PathLike[str]) -> FeatureSchema:
        """Read a schema from a YAML file, or from YAML text; SchemaError lists all problems with line numbers."""
        features, settings = read_yaml(path_or_text)
        return cls(features, **settings)

    def to_excel(self, path: str | os.PathLike[str], frame: pd.DataFrame | None = None) -> None:
        """Write the schema as an Excel workbook: a row for each feature, with lists of the words to choose from.

        Rows that a draft marked LOOK come first, at most ten, and in colour. A sheet explains each column and word.

        Parameters
        ----------
        path : path of the workbook
            An existing file is replaced.
        frame : pandas.DataFrame, shape (N, any), optional
            The table: the number of values, the share missing and frequent values are shown next to each feature.

        SchemaError lists all that a workbook cannot hold, such as control characters.
        """
        write_excel(self, Path(path), frame)

    @classmethod
    def from_excel(cls, path: str | os.PathLike[str]) -> FeatureSchema:
        """Read a schema from a workbook that `to_excel` wrote, in any order of rows and columns.

        SchemaError lists all problems with rows and cells; another file is an InputError.

        Examples
        --------
        >>> import tempfile
        >>> import clinclust as cc
        >>> schema = cc.FeatureSchema([cc.Feature(name="tremor", likelihood="bernoulli", levels=["no", "yes"])])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     schema.to_excel(f"{folder}/schema.xlsx")
        ...     cc.FeatureSchema.from_excel(f"{folder}/schema.xlsx") == schema
        True
        """
        features, settings = read_excel(Path(path))
        return cls(features, **settings)

    @classmethod
    def of_instrument(cls, name: str) -> FeatureSchema:
        """Return the ready schema of an instrument, such as ``"phq9"``; ``clinclust schemas`` lists them.

        Rename the columns of the cohort accordingly; ``FeatureSchema([*schema, ...])`` adds the rest of its columns. An
        unknown name is a ValueError that lists all.

        Examples
        --------
        >>> import clinclust as cc
        >>> schema = cc.FeatureSchema.of_instrument("gad7")
        >>> len(schema), schema["gad7_1"].trials, schema["gad7_1"].block
        (7, 3, 'GAD-7')
        """
        return cls.from_yaml(schema_of_instrument(name))

    def to_pandera(self) -> pa.DataFrameSchema:
        """Return the equivalent pandera schema, which converts and validates as `validate` does.

        It has the dtypes, checks, ranges and nullability of the validated table, so that pandera can write it out
        (``to_yaml``, ``to_script``) for tables that are validated already, and can be pickled. Of a raw table it raises
        the CohortError of `validate`.

        Examples
        --------
        >>> import clinclust as cc
        >>> schema = cc.FeatureSchema([cc.Feature(name="pain", likelihood="binomial", trials=10, complete=True)])
        >>> column = schema.to_pandera().columns["pain"]
        >>> str(column.dtype), column.nullable, column.checks[0].statistics
        ('Int64', False, {'min_value': 0.0, 'max_value': 10.0, 'include_min': True, 'include_max': True})
        """
        from clinclust.schema.pandera_schema import to_pandera

        return to_pandera(self)

    @classmethod
    def from_pandera(cls, schema: Any) -> FeatureSchema:
        """Read a pandera schema whose columns have ``metadata={"clinclust": {...}}`` (the fields of `Feature`).

        Columns without it are ignored, with a warning. Categories, checks and nullability become `levels`, `minimum`,
        `maximum` or `complete` where equivalent. A warning lists all other checks and parsers, which `validate` does
        not run: ``schema.validate(cohort.validate(frame))`` does.

        Parameters
        ----------
        schema : DataFrameSchema or DataFrameModel of pandera
            For pandas.

        Raises
        ------
        SchemaError
            If the schema cannot be used. The message lists all problems.
        TypeError
            If `schema` is neither a DataFrameSchema nor a DataFrameModel of pandera for pandas.

        Warns
        -----
        CohortWarning
            If columns have no metadata for clinclust, or checks are not taken over.

        Examples
        --------
        >>> import clinclust as cc
        >>> import pandera.pandas as pa
        >>> class Cohort(pa.DataFrameModel):
        ...     falls: int = pa.Field(le=50, metadata={"clinclust": {"likelihood": "poisson"}})
        >>> schema = cc.FeatureSchema.from_pandera(Cohort)
        >>> schema["falls"].maximum, schema["falls"].complete
        (50.0, True)
        """
        from clinclust.schema.pandera_schema import from_pandera

        features, settings = from_pandera(schema)
        return cls(features, **settings)


def role_problems(roles: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Return one sentence for each unknown role and each unknown column."""
    names, problems = tuple(names), []
    for name, role in roles.items():
        if name not in names:
            problems.append(f"{shortened(str(name), 60)}: there is no such column.{did_you_mean(str(name), names)}")
        if role not in ROLES:
            choices, hint = ", ".join(ROLES), did_you_mean(str(role), ROLES)
            problems.append(f"{shortened(str(name), 60)}: role: must be one of {choices}, not {quoted(role)}.{hint}")
    return problems


SCHEMA_SUFFIXES = (".yaml", ".yml", ".xlsx")
"""How the names of files end that `write_schema` writes."""


def read_schema(path: Path) -> FeatureSchema:
    """Read a schema from a file: an Excel workbook if its name ends in .xlsx, else YAML."""
    return FeatureSchema.from_excel(path) if path.suffix.lower() == ".xlsx" else FeatureSchema.from_yaml(path)


def write_schema(schema: FeatureSchema, path: Path, frame: pd.DataFrame | None = None) -> None:
    """Write a schema to a file: an Excel workbook with what `frame` holds if its name ends in .xlsx, else YAML."""
    if path.suffix.lower() == ".xlsx":
        schema.to_excel(path, frame)
    else:
        schema.to_yaml(path)


def schema_for_array(X: NDArray[Any]) -> FeatureSchema:
    """Return the schema of an array (N, D), features ``x0``, ``x1``, ...: bernoulli, gaussian or categorical.

    0 and 1 or booleans are bernoulli, other numbers gaussian, other texts categorical (ignored with fewer than two
    levels). NaN, None and empty texts are missing. Another number of dimensions is a ValueError.
    """
    X = np.asarray(X)
    if X.ndim != 2:
        raise InputError(f"a table needs two dimensions (subjects, features); this array has {X.ndim}")
    return FeatureSchema([_feature_of_array(f"x{index}", pd.Series(X[:, index])) for index in range(X.shape[1])])


def _feature_of_array(name: str, column: pd.Series) -> Feature:
    observed = column.dropna().infer_objects()
    if pd.api.types.is_bool_dtype(observed.dtype):
        return Feature(name=name, likelihood=Bernoulli.name)
    if pd.api.types.is_numeric_dtype(observed.dtype):
        binary = observed.size > 0 and observed.isin([0, 1]).all()
        return Feature(name=name, likelihood=Bernoulli.name if binary else Gaussian.name)
    levels = sorted({text for text in text_cells(observed).texts if text})
    if levels and np.isfinite(numbers_of(levels)).all():
        return _feature_of_array(name, pd.Series(numbers_of(levels)))
    if len(levels) < 2:
        return Feature(name=name, role="ignore")
    return Feature(name=name, likelihood=Categorical.name, levels=tuple(levels))
