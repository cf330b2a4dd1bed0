"""A model as two files: how each of its fields is saved and checked, and the folder that holds them."""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import chain
from operator import methodcaller
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust import __version__
from clinclust.engine.kernels.moves import Model
from clinclust.engine.problem.encoding import Encoding, in_encoded_order, powers_of_features
from clinclust.engine.problem.problem import Clusters, flat_prior, named_hyperparameters, stated_hyperparameters
from clinclust.engine.search.settle import groups_by_decreasing_size
from clinclust.errors import InputError, did_you_mean, refuse, visible, warn
from clinclust.estimators import say
from clinclust.estimators.adjustment import Adjustment, Term
from clinclust.estimators.cohort_table import CohortFingerprint, salt_of, seal_of_subtypes
from clinclust.estimators.fit import JOIN_DTYPES, AllSubjects, Fit, PartitionedFit, SubtypeTree, TreeTest
from clinclust.estimators.parameters import RULES, MAPDPParameters, PublishedParameters, parameter_problems, rules_of
from clinclust.estimators.subtype_model import Estimator
from clinclust.files.row_choice import RowCounts
from clinclust.files.writing import MANIFEST, changed_files, naming, read_manifest, write_manifest, write_together
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema import Feature, FeatureSchema

# Write and read a fit as its classes declare it: text as JSON, numbers as arrays.
#
# The fields of a class and their types are its declaration: `sizes: Array` is an array, `tree_test_: TreeTest | None`
# the fields of another class or null. The classes of `HELD` alone are constructed. The archive of arrays is a zip file
# of ``.npy`` files, as `numpy.savez` writes it; nothing is unpickled.

Arrays = dict[str, NDArray[Any]]
Result = TypeVar("Result")

_OF_A_FIT = (Adjustment, Clusters, Encoding, Model, SubtypeTree, CohortFingerprint, RowCounts, TreeTest, AllSubjects)
HELD: dict[type, dict[str, Any]] = {kind: get_type_hints(kind) for kind in (Fit, Term, *_OF_A_FIT)}
"""The types of the fields of each class, in the order of reading: the schema before features, saved as names."""

_PLAIN, _ARRAY = (bool, int, float, str), get_origin(NDArray[np.float64])  # an alias of its own from numpy 2.5 on


def written_fields(result: object, arrays: Arrays, within: str = "") -> dict[str, Any]:
    """Return the fields of an instance of a class of `HELD` as values for JSON; arrays go to `arrays`, by field."""
    return {name: _written(getattr(result, name), arrays, f"{within}{name}") for name in HELD[type(result)]}


def _written(value: Any, arrays: Arrays, name: str) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[name] = value
        return name
    if isinstance(value, FeatureSchema):
        return value.to_yaml()
    if isinstance(value, Feature):
        return value.name
    if isinstance(value, pd.DataFrame):
        table = dict[str, Any]()
        for column in value:
            cells = value[column].to_numpy()
            texts = None if cells.dtype.kind in "biuf" else [str(text) for text in cells]
            table[str(column)] = texts or _written(cells, arrays, f"{name}.{column}")
        return table
    if type(value) in HELD:
        return written_fields(value, arrays, f"{name}.")
    if isinstance(value, tuple):
        return [_written(item, arrays, f"{name}.{place}") for place, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _written(item, arrays, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (*_PLAIN, list)):
        return value
    raise TypeError(f"a model cannot be saved with {type(value).__name__} as {name}")


@dataclass
class Reader:
    """Reads what `written_fields` wrote, given all arrays by name; InputError for invalid fields."""

    arrays: Arrays
    schema: FeatureSchema | None = None

    def read_fields(self, kind: type[Result], text: Any, within: str = "") -> Result:
        """Return the instance of `kind`, a class of `HELD`."""
        texts, held = _checked(text, dict, within or "fit"), HELD[kind]
        if set(texts) != set(held):
            raise InputError(f"{within.rstrip('.') or 'fit'} does not hold {', '.join(held)} and nothing else")
        return kind(**{name: self._read(held[name], texts[name], f"{within}{name}") for name in held})

    def _read(self, kind: Any, text: Any, name: str) -> Any:
        outer, inner = get_origin(kind), get_args(kind)
        if kind is Any:
            return text
        if outer is UnionType:
            return None if text is None else self._read(inner[0], text, name)
        if outer in (tuple, list):
            places = enumerate(_checked(text, list, name))
            return outer(self._read(inner[0], item, f"{name}.{place}") for place, item in places)
        if outer is dict:
            items = _checked(text, dict, name).items()
            return {key: self._read(inner[1], item, f"{name}.{key}") for key, item in items}
        if outer is _ARRAY:
            if _checked(text, str, name) != name or name not in self.arrays:
                raise InputError(f"{name} has no array")
            return self.arrays[name]
        if kind is FeatureSchema:
            # A text of one line, which could be a path, gets a second line.
            self.schema = FeatureSchema.from_yaml(f"{_checked(text, str, name)}\n")
            return self.schema
        if kind is Feature and self.schema is not None:
            part = _checked(text, str, name)
            parts = {other.name: other for other in self.schema.parts}
            return parts[part] if part in parts else self.schema[part]
        if kind is pd.DataFrame:
            columns = _checked(text, dict, name)  # a column of numbers is an array, and one of texts a list
            kinds = {column: NDArray[Any] if isinstance(columns[column], str) else list[str] for column in columns}
            return pd.DataFrame({key: self._read(kinds[key], columns[key], f"{name}.{key}") for key in columns})
        if kind in HELD:
            return self.read_fields(kind, text, f"{name}.")
        if kind is float:
            return float(_checked(text, (int, float), name))
        return _checked(text, kind, name)


def _checked(text: Any, kind: type | tuple[type, ...], name: str) -> Any:
    # True is an int for Python, and no number in a file.
    if not isinstance(text, kind) or (isinstance(text, bool) and kind is not bool):
        raise InputError(f"{name.rstrip('.')[:80]} is {type(text).__name__}")
    return text


def read_arrays(content: bytes) -> Arrays:
    """Return the arrays of an archive by name, contiguous by rows; InputError if it is damaged or holds others."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            # Uncompressed and each with bytes of its own, as they were written: no small file holds large arrays.
            is_stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
            if not is_stored or sum(entry.file_size for entry in entries) > len(content):
                raise zipfile.BadZipFile("its entries are compressed, or share bytes")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    # A damaged archive also makes zipfile look for other compressions, passwords, or parts of other disks.
    except (zipfile.BadZipFile, EOFError, RuntimeError, OSError, KeyError, ValueError, MemoryError) as error:
        raise InputError(f"the archive of its arrays is damaged ({str(error)[:_LONGEST_SHOWN]})") from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            raise InputError(f"{name[:80]!r} is no array of numbers")
        if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
            raise InputError(f"{name[:80]} holds truth values other than 0 and 1")
        arrays[name] = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return arrays


# Check that a fit that was read from files is consistent with its schema and in itself.
#
# The compiled kernels do not check bounds, and checksums can be forged: every array has a rule for its dtype, its shape
# in named axes, and the range of its values.


class _Rule(NamedTuple):
    """The array of one field."""

    axes: str
    """Named axes: N subjects, D parts of the features, F encoded features, K clusters, A clusters of all subjects of a
    table in partitions, S statistics, H hyperparameters; or digits."""
    dtype: str = "float64"
    lowest: float = -np.inf
    highest: float | str = np.inf
    """Below the number of an axis, if it is the name of one."""


_ABOVE_0 = float(np.nextafter(0.0, 1.0))
_RULES = {
    "cluster_labels_": _Rule("N", "int64", 0, "K"),
    "cluster_membership_": _Rule("N, K", "float64", 0, 1),
    "log_joint_trace_": _Rule("sweeps"),
    "outliers_": _Rule("N, D", "bool"),
    "clusters_.encoding.centres": _Rule("F"),
    "clusters_.encoding.scales": _Rule("F", lowest=_ABOVE_0),
    "clusters_.model.prior": _Rule("H"),
    "clusters_.model.powers": _Rule("F", lowest=_ABOVE_0, highest=1),
    "clusters_.sizes": _Rule("K", lowest=1),
    "clusters_.statistics": _Rule("K, S"),
    "clusters_.included": _Rule("F", "bool"),
    "subtype_of_": _Rule("K", "int64", 0, "K"),
    "tree_.labels": _Rule("N", "int64", 0, "K"),
    "tree_.joins": _Rule("K - 1, 2", "int64", 0),
    "tree_.evidence": _Rule("K - 1"),
    "cohort_fingerprint_.hidden_order": _Rule("N", "uint32"),
    "init": _Rule("given", "int64", 0, "given"),
    "all_subjects.sizes": _Rule("A", lowest=1),
    "all_subjects.statistics": _Rule("A, S"),
    "all_subjects.log_joint_trace": _Rule("rounds"),
}
_OPTIONAL = ("init", *(name for name in _RULES if name.startswith("all_subjects.")))
_COLUMN = re.compile(r"(?:restarts_|tuning_|tree_test_\.joins)\.[a-z_]+")
"""Columns of tables."""


def _problems_of_shapes(fit: Fit, arrays: Arrays) -> list[str]:
    problems = [f"the array {name} is missing" for name in _RULES if name not in arrays and name not in _OPTIONAL]
    likelihoods = fit.clusters_.encoding.likelihoods
    numbers = {"2": 2, "D": len(fit.schema_.parts), "F": len(likelihoods)}
    numbers["S"] = sum(likelihood.n_statistics for likelihood in likelihoods)
    numbers["H"] = sum(likelihood.n_hyperparameters for likelihood in likelihoods)
    for name, rule in ((name, rule) for name, rule in _RULES.items() if name in arrays):
        dtype, shape, names = arrays[name].dtype.name, arrays[name].shape, rule.axes.split(", ")
        if dtype != rule.dtype:
            problems.append(f"{name} holds {dtype}, not {rule.dtype}")
        wrong = f"{name} has shape {shape}, not ({rule.axes})"
        if len(shape) != len(names):
            problems.append(wrong)
            continue
        for axis, size in zip(names, shape, strict=True):
            base, number = axis.removesuffix(" - 1"), size + axis.endswith(" - 1")
            if number != numbers.setdefault(base, number):
                expected = ", ".join(f"{axis} = {numbers.get(axis, '?')}" for axis in names if not axis.isdigit())
                problems.append(f"{wrong} with {expected}")
                break
    for name in sorted(arrays.keys() - _RULES.keys()):
        if not _COLUMN.fullmatch(name) or arrays[name].ndim != 1:
            problems.append(f"there is an array {name[:80]!r} of shape {arrays[name].shape}, which no model has")
    return problems


def _problems_of_features(fit: Fit, arrays: Arrays) -> Iterator[str]:
    features = fit.clusters_.encoding.features
    possible = fit.schema_.clustered_parts
    clustered = [part for part in possible if not {part.name, part.column} & set(fit.uninformative_)]
    expected = in_encoded_order(clustered)
    if set(features) != set(expected) or _names_or_blocks(features) != _names_or_blocks(expected) or not features:
        yield "the encoded features are not those that the schema clusters on, in the order of an encoding"
    unknown = sorted(set(fit.uninformative_) - {name for part in possible for name in (part.name, part.column)})
    if unknown:
        yield f"uninformative_ names {', '.join(unknown)}, on which the schema does not cluster"


def _names_or_blocks(features: Sequence[Feature]) -> list[str]:
    """Return the names of features, or of their multivariate Gaussian blocks, which have an order of their own."""
    return [str((feature.traits.is_chained and feature.block) or feature.name) for feature in features]


_DTYPES: dict[str, dict[str, str]] = {
    "restarts_": {
        **dict.fromkeys(("restart", "n_clusters", "sweeps"), "int64"),
        **dict.fromkeys(("log_joint", "ari_to_best"), "float64"),
        "start": "text",
        "converged": "bool",
    },
    "tuning_": {"concentration": "float64", "log_joint": "float64", "n_clusters": "int64", "chosen": "bool"},
    "tuning_ by cross-validation": {
        **dict.fromkeys(("concentration", "held_out_log_density", "n_clusters"), "float64"),
        "chosen": "bool",
    },
    "tree_test_.joins": JOIN_DTYPES,
}


def _problems_of_values(fit: Fit, arrays: Arrays) -> Iterator[str]:
    """Yield what is wrong with values of arrays, whose shapes are right, of tables, and of single numbers."""
    for name, rule in _RULES.items():
        values = arrays.get(name)
        if values is None or values.size == 0 or values.dtype == np.bool_:
            continue
        n_of = {"K": fit.clusters_.sizes.size, "N": fit.cluster_labels_.size, "given": values.size}
        highest = n_of[rule.highest] - 1 if isinstance(rule.highest, str) else rule.highest
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            yield f"{name} holds values that are not finite"
        elif values.min() < rule.lowest or values.max() > highest:
            yield f"{name} holds values from {values.min()} to {values.max()}, not {rule.lowest} to {highest}"
    test, tables = fit.tree_test_, {"restarts_": fit.restarts_}
    tables["tuning_ by cross-validation" if "held_out_log_density" in fit.tuning_ else "tuning_"] = fit.tuning_
    if test is not None and len(test.joins):
        tables["tree_test_.joins"] = test.joins
    for name, table in tables.items():
        are_texts = {name: all(isinstance(value, str) for value in table[name]) for name in table}
        dtypes = {str(name): "text" if are_texts[name] else str(table[name].dtype) for name in table}
        if dtypes != _DTYPES[name] or not len(table):
            yield f"{name} has {len(table)} rows of {str(dtypes)[:_LONGEST_SHOWN]}, not of {_DTYPES[name]}"
    clusters, model, n_subjects = fit.clusters_, fit.clusters_.model, fit.cluster_labels_.size
    for name in ("concentration", "coarsening"):
        yield from RULES[name].problems(name, getattr(model, name))
    yield from RULES["outlying_share"].problems("outlying_share", clusters.outlying_share)
    counts = fit.row_counts_
    faults = {
        f"the temperature is {clusters.temperature}": not 1.0 <= clusters.temperature < math.inf,
        f"min_size_ is {fit.min_size_}": not 1 <= fit.min_size_ <= n_subjects,
        f"prior_strength_ is {fit.prior_strength_}": not 0.0 <= fit.prior_strength_ < math.inf,
        f"random_seed_ is {fit.random_seed_}": fit.random_seed_ < 0,
        "the fingerprint has no digest of SHA-256": not re.fullmatch("[0-9a-f]{64}", fit.cohort_fingerprint_.digest),
        "row_counts_ are not those of a table with this cohort": counts is not None
        and not (counts.are_possible and counts.taken >= n_subjects),
    }
    yield from (fault for fault, is_so in faults.items() if is_so)


def _contradictions(fit: Fit, arrays: Arrays) -> Iterator[str]:
    """Yield which fields, each of which is possible, do not belong together."""
    clusters, labels, subtype_of = fit.clusters_, fit.cluster_labels_, fit.subtype_of_
    sizes = np.bincount(labels, minlength=subtype_of.size)  # whole numbers, whatever the file holds
    powers = powers_of_features(clusters.encoding.features, fit.block_weights_)
    faults = {
        "the sizes of the clusters are not the numbers of their labels": not np.array_equal(sizes, clusters.sizes),
        "the clusters are not numbered by decreasing size": (np.diff(sizes) > 0).any(),
        "cluster_membership_ has rows that do not sum to 1": not np.allclose(
            fit.cluster_membership_.sum(axis=1), 1.0, rtol=0.0, atol=1e-6
        ),
        "outliers_ marks values although none can be outlying": fit.outliers_.any() and clusters.outlying_share == 0.0,
        "the powers of the features are not those of their blocks": not np.array_equal(clusters.model.powers, powers),
        "the labels of the tree are not those of the fit": not np.array_equal(fit.tree_.labels, labels),
    }
    yield from (fault for fault, is_so in faults.items() if is_so)
    if len(set(subtype_of.tolist())) < int(subtype_of.max()) + 1:
        yield "the subtypes are not numbered without gaps"
    elif fit.grades is not None:
        if [*chain(*fit.grades)] != [*range(fit.n_clusters_)]:
            yield "the subtypes are not numbered kind by kind"
    elif not np.array_equal(subtype_of, groups_by_decreasing_size(subtype_of, sizes)):
        yield "the subtypes are not numbered by decreasing size"
    nodes = set(range(clusters.sizes.size))
    for step, pair in enumerate(fit.tree_.joins.tolist()):
        if len(set(pair)) != 2 or not nodes.issuperset(pair):
            yield f"step {step + 1} of the tree joins {pair[0]} and {pair[1]}, which are not two groups that are left"
            break
        nodes = nodes.difference(pair) | {clusters.sizes.size + step}
    else:
        yield from [] if fit.tree_test_ is None else fit.tree_test_.problems(fit.tree_)
    yield from [] if fit.adjustment_ is None else fit.adjustment_.problems(fit.schema_)
    yield from _hyperparameters_problems(fit)
    if fit.cohort_fingerprint_.salt != salt_of(fit.schema_, fit.random_seed_, labels, clusters):
        yield "the schema, the seed, the labels or the clusters are not those that the cohort was fitted with"


def _hyperparameters_problems(fit: Fit) -> list[str]:
    encoding, prior, named = fit.clusters_.encoding, fit.clusters_.model.prior, fit.hyperparameters_
    features = list(zip(encoding.features, encoding.likelihoods, strict=True))
    if set(named) != {feature.name for feature, _ in features}:
        return ["hyperparameters_ are not of the encoded features"]
    if stated_hyperparameters(named, encoding.features) != named:  # or InputError says what is wrong
        return ["hyperparameters_ are not numbers and lists of numbers"]
    problems, stop = [], 0
    with np.errstate(all="ignore"):
        flat, by_prior = flat_prior(encoding, named), named_hyperparameters(encoding, prior)
        for (feature, likelihood), centre, scale in zip(features, encoding.centres, encoding.scales, strict=True):
            start, stop = stop, stop + likelihood.n_hyperparameters
            unknown = np.full(likelihood.n_hyperparameters, np.nan)
            stated, back = (likelihood.from_dict(values[feature.name], unknown) for values in (named, by_prior))
            # Either may have been computed from the other, and far from 0 the way back is not exact.
            agree = np.allclose(flat[start:stop], prior[start:stop], rtol=1e-6, atol=0.0) or np.allclose(
                stated, back, rtol=1e-6, atol=0.0, equal_nan=True
            )
            is_standard = type(likelihood).standardisation is Likelihood.standardisation
            if not agree or (is_standard and (centre, scale) != (0.0, 1.0)):
                problems.append(f"the prior, centre or scale of {feature.name} is not that of its hyperparameters")
    return problems


# Save and load a fitted model without pickle: text as JSON, numbers as npz, the versions, and a manifest.

LARGEST = 256 * 2**20
"""Most bytes of a text: 256 MiB."""


def _in_json(value: object) -> bytes:
    """Return a value as text of JSON, NumPy numbers and arrays as plain ones; ValueError for NaN and infinities."""
    return json.dumps(value, indent=1, allow_nan=False, default=methodcaller("tolist")).encode()


_FORMAT = 1
_TEXT, _NUMBERS, _ = _FILES = ("model.json", "model.npz", MANIFEST)
_ASSIGNMENTS = "assignments.csv"
_INIT = "init"
"""Name of the array of the parameter `init`."""
_PARAMETERS: dict[str, type[MAPDPParameters]] = {"MAPDP": MAPDPParameters, "PublishedMAPDP": PublishedParameters}
"""The parameters of each estimator that can be saved."""


def save(model: Estimator, fit: Fit, folder: Path) -> Path:
    """Write the parameters of a model and its fit to a folder and return it; see `MAPDP.save`."""
    parameters, estimator = model.get_params(), type(model).__name__
    if problems := parameter_problems(parameters, rules_of(_PARAMETERS[estimator])):
        raise InputError(f"the model cannot be saved with these parameters: {'; '.join(problems)}")
    arrays: Arrays = {}
    more = dict[str, Any]()
    if isinstance(fit, PartitionedFit):
        more["all_subjects"], fit = written_fields(fit.all_subjects, arrays, "all_subjects."), fit.in_sample_
    # The schema is saved with the fit. JSON cannot represent a generator, so the seed that was used replaces it.
    written = {name: value for name, value in parameters.items() if name != "schema"}
    written["random_state"] = fit.random_seed_
    if isinstance(written["hyperparameters"], Mapping):
        written["hyperparameters"] = {name: dict(named) for name, named in written["hyperparameters"].items()}
    if isinstance(written["block_weights"], Mapping):
        written["block_weights"] = {str(block): float(weight) for block, weight in written["block_weights"].items()}
    if not isinstance(written[_INIT], str):
        # Labels matter only by which subjects share one, so codes replace them.
        arrays[_INIT] = pd.factorize(np.asarray(written.pop(_INIT)))[0].astype(np.int64)
    text = {"clinclust_model": _FORMAT, "clinclust_version": __version__, "estimator": estimator, "parameters": written}
    text |= {"fit": written_fields(fit, arrays), "seal_of_subtypes": _seal(fit), **more}
    content, numbers = _in_json(text), io.BytesIO()
    np.savez(numbers, **dict[str, Any](arrays))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; a model is saved to a folder")
    with write_together(folder) as new, naming(folder, instead_of=new):
        (new / _NUMBERS).write_bytes(numbers.getvalue())
        (new / _TEXT).write_bytes(content)
        write_manifest(new, [_TEXT, _NUMBERS])
        try:
            copy = load(new)[2]
        except InputError as error:
            raise RuntimeError(f"the model was not saved, because it cannot be read back: {error}") from error
        labels = (copy.in_sample_ if isinstance(copy, PartitionedFit) else copy).labels_
        if not np.array_equal(labels, fit.labels_):
            raise RuntimeError("the model was not saved, because other labels are read back")
    return folder


def _seal(fit: Fit) -> str:
    return seal_of_subtypes(fit.cohort_fingerprint_.salt, fit.subtype_of_, fit.min_size_)


def load(folder: Path) -> tuple[bool, dict[str, Any], Fit]:
    """Return whether a `PublishedMAPDP` was saved, its parameters and its fit from a folder; see `MAPDP.load`."""
    if not folder.exists():
        near = folder.parent.iterdir() if folder.parent.is_dir() else ()
        hint = did_you_mean(folder.name, sorted(other.name for other in near if other.is_dir()))
        raise FileNotFoundError(visible(say("no_such_folder", folder=folder, hint=f".{hint}" if hint else "")))
    if not folder.is_dir():
        what = "part_of_a_model" if folder.name in _FILES else "file_and_no_model"
        raise NotADirectoryError(visible(say(what, file=folder)))
    for name in _FILES:
        if not (folder / name).is_file():
            repair = f"; {_REPAIR}" if any((folder / part).is_file() for part in _FILES) else ""
            raise FileNotFoundError(visible(f"{folder} holds no saved model: {name} is missing{repair}"))
        if (folder / name).resolve().parent != folder.resolve():
            raise InputError(f"{folder / name} is a link to a file outside of the folder; put a copy in its place")
    size = (folder / _TEXT).stat().st_size
    if size > LARGEST:
        raise InputError(say("too_many_bytes", file=folder / _TEXT, n_bytes=size, largest=LARGEST))
    text, numbers, listed = (folder / _TEXT).read_bytes(), (folder / _NUMBERS).read_bytes(), read_manifest(folder)
    for name, content in ((_TEXT, text), (_NUMBERS, numbers)):
        if listed.get(name) != hashlib.sha256(content).hexdigest():
            raise InputError(say("not_the_listed_file", folder=folder, name=name, manifest=MANIFEST))
    model = _read(folder, text, numbers)
    assignments = {name: digest for name, digest in listed.items() if name == _ASSIGNMENTS}
    if (folder / _ASSIGNMENTS).is_file() and changed_files(folder, assignments):
        warn(say("other_assignments", file=folder / _ASSIGNMENTS))
    return model


_LONGEST_SHOWN = 2_000
_UNREADABLE = "holds no model that can be read"
_REPAIR = "copy the whole folder again, or fit the model again"


def _read(folder: Path, content: bytes, numbers: bytes) -> tuple[bool, dict[str, Any], Fit]:
    try:
        text = json.loads(content.decode())
        # It is refused as well if a name is there twice, or a number that JSON does not have.
        if _in_json(text) != content or not isinstance(text, dict) or "clinclust_model" not in text:
            raise InputError(f"{_TEXT} was not written by clinclust, or was edited")
        number, writer = text["clinclust_model"], str(text.get("clinclust_version", "unknown version"))
        if type(number) is not int or number != _FORMAT:
            raise InputError(say("other_format", number=str(number)[:20], readable=_FORMAT, writer=writer[:20]))
        arrays = read_arrays(numbers)
        reader = Reader(arrays)
        fit = reader.read_fields(Fit, text["fit"])
        # Shapes are checked after the features, values after the shapes, and consistency of fields last.
        checks = (_problems_of_features, _problems_of_shapes, _problems_of_values, _contradictions)
        problems = next(filter(None, (list(problems_of(fit, arrays)) for problems_of in checks)), [])
        if text["seal_of_subtypes"] != _seal(fit):
            problems.append("the subtypes are not those that the model was saved with")
        parameters = dict(text["parameters"])
        if _INIT in arrays and _INIT not in parameters:
            parameters[_INIT] = arrays[_INIT]
        if text["estimator"] not in list(_PARAMETERS):
            refuse([*problems, f"its estimator is not {' or '.join(_PARAMETERS)}"])
        rules = rules_of(_PARAMETERS[text["estimator"]])
        if rules.keys() - {"schema"} == parameters.keys():
            problems += parameter_problems(parameters, rules)
        else:
            problems.append(f"its parameters are not {', '.join(sorted(rules.keys() - {'schema'}))}")
        refuse(problems)
        whole = fit
        if "all_subjects" in text:
            whole = PartitionedFit.of(fit, reader.read_fields(AllSubjects, text["all_subjects"], "all_subjects."))
    except KeyError as error:
        raise InputError(f"{folder} {_UNREADABLE}: {str(error)[:200]} is missing") from error
    except (TypeError, ValueError, RecursionError) as error:
        more = " ..." if len(str(error)) > _LONGEST_SHOWN else ""
        raise InputError(f"{folder} {_UNREADABLE}: {str(error)[:_LONGEST_SHOWN]}{more}") from error
    return text["estimator"] == "PublishedMAPDP", {"schema": fit.schema_, **parameters}, whole


_PACKAGES = ("numpy", "scipy", "pandas", "numba", "statsmodels", "pandera", "openpyxl")


@cache  # looking up all of them takes as long as a small fit
def software_versions() -> dict[str, str]:
    """Return the versions of clinclust, Python and the required packages, by name."""
    versions = {"clinclust": __version__, "Python": platform.python_version()}
    return versions | {name: version(name) for name in _PACKAGES}
