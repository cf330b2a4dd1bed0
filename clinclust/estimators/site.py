"""Site: rows that stay where they are, and answers to the questions of a search in sums of their clusters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.arguments import FRAME, SCHEMA, WHOLE, Rule, accepting
from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.continuum.tested_node import SMALLEST_NODE
from clinclust.engine.kernels.moves import Model
from clinclust.engine.problem.encoding import EncodedCohort, Encoding, model_values
from clinclust.engine.problem.problem import Problem, named_hyperparameters
from clinclust.engine.search.partitioned import Cells, Shard, assign, count, moved_one_by_one, together
from clinclust.engine.search.plan import Budget, SearchPlan
from clinclust.engine.search.settle import N_DIVIDED, compact, minimum_gain, resettle
from clinclust.errors import InputError, refuse
from clinclust.estimators.adjustment import refuse_adjustment
from clinclust.estimators.fitting import prepared, search
from clinclust.estimators.mapdp import PublishedMAPDP
from clinclust.estimators.partitioned import SampleFit, first_of_each, with_prior_of_all
from clinclust.estimators.settings import Settings
from clinclust.progress import SILENT

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

Answer = dict[str, Any]
_BITS = 17
"""Most bits of a count that a schema allows."""
_NOTHING = np.empty(0, dtype=np.int64)
_QUESTIONS = ("describe", "first", "encode", "begin", "move", "propose", "divide", "rename", "end", "keep")
_ONCE = {"first", "encode", "begin", "end"}
_AFTER = {**dict.fromkeys(_QUESTIONS[3:], ("encode",)), "end": ("first", "encode")}
"""The questions that must have been answered before a question."""
_MODEL = ("features", "centres", "scales", *Model._fields)
"""What is sent of a model, as `first` answers it."""
_FEWEST = Rule("a whole number from 1", lambda value: WHOLE.accepts(value) and value >= 1)


class Site:
    """The rows of one hospital, which answers questions about them with statistics; no row is sent.

    A coordinator asks (`examples/sites/`), here or elsewhere: questions and answers are names, numbers and arrays.
    docs/sites.md says what each answer holds and reveals.

    Parameters
    ----------
    table : DataFrame, shape (n, D)
        The rows; they are validated here.
    schema : FeatureSchema
        The schema, the same at all sites.
    fewest : int
        Fewest subjects, and fewest observed values of each feature, of a group whose sums can be computed from all
        sums that the site sends. A subject that would be in a smaller one is counted with others. 1: no threshold.

    Attributes
    ----------
    labels : Series of int64
        Subtype of each subject, 1 .. K, with the index of the table, after a fit; it stays here.

    Raises
    ------
    InputError
        If a parameter is of another kind; or if there are fewer subjects, or values of a feature, than `fewest`.
    CohortError
        If the table does not fit the schema. The values at fault are told here only.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name="crp", likelihood="gaussian")])
    >>> site = cc.Site(pd.DataFrame({"crp": np.arange(40.0)}), schema)
    >>> site.ask("describe")["n_observed"]
    [40]
    """

    labels: pd.Series[int]

    @accepting(table=FRAME, schema=SCHEMA, fewest=_FEWEST)
    def __init__(self, table: pd.DataFrame, schema: FeatureSchema, *, fewest: int = 10) -> None:
        refuse_adjustment(schema, "A fit over sites")
        self._schema, self._fewest = schema, fewest
        self._frame = schema.validate(table, warn=False)
        numbers = {"subjects": len(table)}
        for name, values in self._values().items():
            numbers[f"values of {name}"] = int((~np.isnan(values)).sum())
        few = ", ".join(f"{number} {name}" for name, number in numbers.items() if 0 < number < fewest)
        if few:
            raise InputError(
                f"the site has only {few}, and sums of fewer than {fewest} (`fewest`) are not sent; set these columns "
                "to missing here"
            )
        self._made: list[Labels] = []
        self._asked: set[str] = set()

    def ask(self, question: str, **sent: Any) -> Answer:
        """Return the answer to a question of a search: names, numbers and arrays, none of them one for each subject.

        Raises InputError for a question that is unknown, was answered before, comes before those that it needs, or
        lacks what must be sent.
        """
        if question not in _QUESTIONS:
            shown = repr(question[:40]) if isinstance(question, str) else type(question).__name__
            raise InputError(f"a site is asked {', '.join(_QUESTIONS)}, not {shown}")
        refuse(self._problems(question, sent))
        self._asked |= {question} & _ONCE
        answer: Answer = getattr(self, f"_{question}")(**sent)
        return answer

    def _problems(self, question: str, sent: dict[str, Any]) -> list[str]:
        """Return why a question cannot be answered now, or not with what was sent."""
        earlier = _AFTER.get(question, ())
        problems = [f"{question!r} is asked after {name!r}" for name in earlier if name not in self._asked]
        if question in self._asked or (question in _AFTER and not problems and not self._made):
            problems.append(
                f"{question!r} was asked before: a `Site` answers in one fit, because what differs between the answers "
                "in two fits may belong to one subject; make another `Site` if that is meant"
            )
        names = inspect.signature(getattr(self, f"_{question}")).parameters
        wanted = [*(name for name in names if name != "model"), *(_MODEL if "model" in names else ())]
        for what, which in (("lacks", set(wanted) - {*sent}), ("knows no", {*sent} - set(wanted))):
            problems += [f"{question!r} {what} {', '.join(sorted(which))}"] if which else []
        labels, n_made = sent.get("labels", 0), len(self._made)
        if n_made and not (WHOLE.accepts(labels) and 0 <= labels < n_made):
            problems.append(f"labels must be a number of labels that the site has answered, 0 to {n_made - 1}")
        return problems

    def _values(self) -> dict[str, Array]:
        return model_values(self._frame, self._schema.clustered_parts)

    def _describe(self) -> Answer:
        """Return numbers of subjects and observed values, and of counts the bits of the largest, instead of itself."""
        bits, values = [], self._values()
        for part in self._schema.clustered_parts:
            levels = part.traits.of(part).levels(np.empty(0))
            is_open = levels is not None and not levels.size
            bits.append(int(np.nanmax(values[part.name], initial=1.0)).bit_length() if is_open else 0)
        return {
            "schema": self._schema.fingerprint,
            "n_subjects": len(self._frame),
            "n_observed": [int((~np.isnan(column)).sum()) for column in values.values()],
            "bits": bits,
        }

    def _first(self, settings: dict[str, Any], n_observed: list[int]) -> Answer:
        """Return the model of a fit of the subjects here: scales, priors, weights and coarsening."""
        given = Settings.of(PublishedMAPDP(self._schema, **settings))
        names = [part.name for part in self._schema.clustered_parts]
        sample = with_prior_of_all(given, prepared(given, self._frame), dict(zip(names, n_observed, strict=True)))
        plan = given.search_plan(sample.problem, Event(), Budget(given.max_seconds), SILENT)
        self._sample = SampleFit.search(given, sample, plan)
        found = self._sample.fit.clusters_
        return {
            "features": [feature.name for feature in found.encoding.features],
            "centres": found.encoding.centres,
            "scales": found.encoding.scales,
            **found.model._asdict(),
        }

    def _encode(self, bits: list[int], **model: Any) -> Answer:
        """Return what the subjects add to the log base measure, and the numbers of values that take part."""
        self._problem = problem_of_model(self._schema, bits, model, self._values())
        arrays = self._problem.cohort.arrays
        # One subject for tables of clusters, whose values are missing where any are (`Shard.tables`).
        empty = np.where(np.isnan(arrays.values).any(axis=0), np.nan, 0.0)[None]
        tables = arrays._replace(codes=np.zeros_like(arrays.codes[:1]), values=empty)
        self._shard = Shard(tables, arrays.codes, arrays.values, len(self._frame))
        observed = np.concatenate([arrays.codes > 0, ~np.isnan(arrays.values)], axis=1)
        self._cells = Cells(observed, self._fewest)
        self._made = [np.zeros(len(self._frame), dtype=np.int64)]
        return {"log_base": self._problem.cohort.log_base, "n_observed": self._problem.cohort.n_observed}

    def _begin(self, n_restarts: int, seed: int) -> Answer:
        """Return sums of the clusters that a search among the subjects here finds, each with enough of them."""
        labels = search(self._problem, SearchPlan(seed=seed, n_restarts=n_restarts)).winner.labels
        while (small := self._cells.small_clusters(labels)).size and labels.any():
            labels = self._without(labels, labels == small[np.argmin(np.bincount(labels)[small])])
        return self._sent(self._cells.permitted(labels))

    def _move(self, labels: int, sizes: Array, statistics: Array, least: float) -> Answer:
        """Return sums after the subjects have moved one by one; new clusters come after the present ones."""
        before, arrays, n_clusters = self._made[labels], self._problem.cohort.arrays, sizes.size
        tables = replace(self._problem, cohort=replace(self._problem.cohort, arrays=self._shard.tables))
        subjects, clusters = together([arrays, self._shard.tables]), np.concatenate([before, np.arange(n_clusters)])
        moved = moved_one_by_one(tables, (sizes, statistics), subjects, clusters, least)
        after, numbers = np.split(moved.labels, [before.size])
        # Clusters keep their names, so that no answer tells which were emptied before some subjects were put back.
        # Of two with one number, the moves have emptied the one without subjects elsewhere.
        names = np.full(max(int(moved.n_clusters[0]), int(numbers.max()) + 1), -1)
        elsewhere = sizes - np.bincount(before, minlength=n_clusters) > 0.5
        for cluster in np.argsort(elsewhere, kind="stable").tolist():  # those with subjects elsewhere last
            names[numbers[cluster]] = cluster
        names[names < 0] = n_clusters + np.arange((names < 0).sum())
        return self._sent(self._cells.permitted(names[after]), n_clusters)

    def _propose(self, labels: int, n_clusters: int, seed: int) -> Answer:
        """Return sums of divisions of clusters that raise the joint of the subjects here."""
        now, rng, cluster = self._made[labels], np.random.default_rng(seed), list[int]()
        proposed = np.empty_like(now)
        for each in range(n_clusters):
            members, first = np.flatnonzero(now == each), len(cluster)
            some = np.sort(rng.choice(members, min(members.size, N_DIVIDED), replace=False))
            cluster.append(each)
            proposed[members] = first
            if some.size < 2:
                continue
            among = self._problem.restricted_to(some, n_clusters - 1)
            gain, division = resettle(among, rng, Event())
            if gain > minimum_gain(among):
                parts = among.partition(division)
                n_parts = int(parts.n_clusters[0])
                proposed[members] = first + self._best(members, parts.sizes[:n_parts], parts.statistics[:n_parts])
                cluster += [each] * (n_parts - 1)
        answer, of_parts = self._sent(self._cells.permitted(proposed), len(cluster)), np.array(cluster)
        held = answer["sizes"] > 0.0
        return {"cluster": of_parts[held], "sizes": answer["sizes"][held], "statistics": answer["statistics"][held]}

    def _divide(self, labels: int, cluster: Whole, sizes: Array, statistics: Array) -> Answer:
        """Return sums of the parts of divided clusters."""
        now = self._made[labels]
        divided = np.empty_like(now)
        for each in np.unique(now).tolist():
            members, parts = np.flatnonzero(now == each), np.flatnonzero(cluster == each)
            divided[members] = parts[self._best(members, sizes[parts], statistics[parts])]
        return self._sent(self._cells.permitted(divided), cluster.size)

    def _rename(self, labels: int, numbers: Whole) -> Answer:
        """Return the number of the new labels; clusters may only be merged."""
        self._made.append(np.asarray(numbers, dtype=np.int64)[self._made[labels]])
        return {"labels": len(self._made) - 1}

    def _end(self, labels: int, n_subjects: int) -> Answer:
        """Return the subtypes of the clusters with subjects here, whose tree is tested among them."""
        outlying = np.zeros((len(self._frame), len(self._problem.model.powers)), dtype=np.bool_)
        now = self._made[labels]
        few = np.bincount(now)[now] < SMALLEST_NODE
        if few.any() and not few.all():  # clusters of which there are too few here for a test are not in it
            now = np.unique(now[~few])[self._without(now, few)]
        fit = self._sample.with_clusters(now, outlying, n_subjects)
        return {
            "clusters": first_of_each(fit.cluster_labels_, now),
            "subtype_of": fit.subtype_of_,
            "joins": fit.tree_.joins,
            "evidence": fit.tree_.evidence,
            "temperature": fit.clusters_.temperature,
            "min_size": fit.min_size_,
        }

    def _keep(self, labels: int, subtype_of: Whole) -> Answer:
        """Keep the subtypes here."""
        self.labels = pd.Series(np.asarray(subtype_of)[self._made[labels]] + 1, self._frame.index, name="subtype")
        self._made = []
        return {}

    def _sent(self, labels: Labels, n_clusters: int = 0) -> Answer:
        """Return the sums of clusters, by which the cells are divided; labels stay here."""
        self._cells.divide(labels)
        self._made.append(labels)
        sizes, statistics = count(self._shard, labels, _NOTHING, max(n_clusters, int(labels.max()) + 1))
        return {"labels": len(self._made) - 1, "sizes": sizes, "statistics": statistics}

    def _without(self, labels: Labels, is_lost: Mask) -> Labels:
        """Return labels 0, 1, ... with subjects in the best of the clusters of the others."""
        kept = np.flatnonzero(~is_lost)
        after = np.empty_like(labels)
        after[kept] = compact(labels[kept])
        sums = self._problem.restricted_to(kept, 0).partition(after[kept]).sums
        after[is_lost] = self._best(np.flatnonzero(is_lost), *sums)
        return after

    def _best(self, rows: Whole, sizes: Array, statistics: Array) -> Labels:
        """Return the best of clusters with these sums for some subjects."""
        return assign(self._shard.some(rows), _NOTHING, self._problem.model, (sizes, statistics)).astype(np.int64)


def problem_of_model(
    schema: FeatureSchema, bits: Sequence[int], model: Mapping[str, Any], values: dict[str, Array]
) -> Problem:
    """Return the problem of columns of `model_values` under a model that was sent.

    Counts are encoded as 0 .. 2**bits - 1, so that the levels do not tell which of them occur.
    """
    parts = {part.name: part for part in schema.clustered_parts}
    levels = {name: np.arange(2.0 ** min(n, _BITS)) for name, n in zip(parts, bits, strict=True) if n}
    features = tuple(parts[name] for name in model["features"])
    encoding = Encoding(features, np.asarray(model["centres"]), np.asarray(model["scales"]))
    prior, powers = np.asarray(model["prior"]), np.asarray(model["powers"])
    numbers = (float(model[name]) for name in ("concentration", "discount", "coarsening"))
    arrays, log_base = encoding.encode({name: values[name] for name in model["features"]}, prior, levels_of_all=levels)
    cohort = EncodedCohort(encoding, arrays, log_base, np.arange(arrays.codes.shape[0]))
    in_full = Problem(cohort, named_hyperparameters(encoding, prior), Model(prior, np.ones_like(powers), *numbers), {})
    return in_full.with_powers(powers)
