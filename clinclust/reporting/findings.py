"""The findings of a report, and the profiles of its subtypes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Code
from clinclust.check import ModelCheck
from clinclust.check.check import N_DRAWS, check_cohort
from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame, Record, is_missing
from clinclust.disclosure import suppress_small_cells, withhold_associations
from clinclust.disclosure.counts import Rule
from clinclust.disclosure.suppress import shown_sizes
from clinclust.errors import InputError
from clinclust.estimators.explanation import NOBODY, Continuum, find_continuum, find_unusual
from clinclust.estimators.fit import Fit
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.likelihood_check import NOTHING_COMPARED, compared_likelihoods
from clinclust.estimators.subtype_model import (
    CLEAR,
    FittedCohort,
    SubtypeModel,
    clustered_features,
    own_membership,
    parameters_of,
)
from clinclust.methods.compare import MethodComparison
from clinclust.reporting.divisions import Answer, Division, divisions_of, find_answer, n_parted
from clinclust.reporting.layout import WITHHELD, Column, Filled, Value, as_value, percent
from clinclust.reporting.subtype_table.plan import SDS_BETWEEN_QUARTILES, Compared, Summary, default_summary
from clinclust.schema import Feature
from clinclust.stability import Stability

# Findings: the subtypes, their cohort and their comparisons, from which every sheet of a report is made.

__all__ = ["Findings", "Row", "as_value", "number_of", "with_pooled_means"]


# Profiles: median, mean or share of every feature or level (R) in each subtype (K), as in the subtype table.


@dataclass(frozen=True, eq=False)
class Profiles:
    """Summaries of every subtype. A number is NaN if no value was observed or the number is withheld.

    `n`, `missing`, `centre` (median or mean) and `withheld` are (R, K + 1), the first column of all subjects. `spread`,
    (R,), is the SD of all subjects; for medians that of a normal distribution with their quartiles. `sizes` are by
    subtype, 0 = all subjects.
    """

    features: list[str]
    levels: list[str | None]
    labels: list[str]
    titles: list[str]
    subtypes: list[int]
    summaries: list[Summary]
    n: Array
    missing: Array
    centre: Array
    spread: Array
    withheld: NDArray[np.bool_]
    sizes: dict[int, int | None]
    is_rounded: bool

    @cached_property
    def standardised(self) -> Array:
        """(centre of the subtype - centre of all subjects) / spread, float64 (R, K); 0 if nothing varies."""
        difference, spread = self.centre[:, 1:] - self.centre[:, :1], self.spread[:, np.newaxis]
        with np.errstate(all="ignore"):
            return np.asarray(np.where((spread == 0) & (difference == 0), 0.0, difference / spread))

    @cached_property
    def withheld_features(self) -> set[str]:
        """The names of the features of which a number is withheld."""
        return {self.features[row] for row in np.flatnonzero(self.withheld.any(axis=1))}

    @property
    def prominence(self) -> dict[str, float]:
        """Root mean square of `standardised` over the subtypes, weighted by n; the maximum over levels, by feature."""
        largest: dict[str, float] = {}
        for feature, means, n in zip(self.features, self.standardised, self.n[:, 1:], strict=True):
            shown = ~np.isnan(means) & (n > 0)
            if shown.any():
                eta = math.sqrt(np.average(means[shown] ** 2, weights=n[shown]))
                largest[feature] = max(largest.get(feature, 0.0), eta)
        return largest

    def ranked_for(self, model: SubtypeModel) -> list[int]:
        """Return the rows, (R,), by decreasing relevance, or `prominence` without a search; withheld features last."""
        expected = set(clustered_features(model)) if model.fit_ is None else set(model.fit_.feature_relevance_.index)
        unknown = sorted(expected - set(self.features))
        if unknown:
            raise InputError(
                f"the comparisons hold nothing about {', '.join(map(str, unknown))}, which the model was fitted on; "
                "pass what compare_subtypes returns for this model's labels and schema"
            )
        if model.fit_ is None:
            return self.ranked(self.prominence)
        relevance = model.fit_.feature_relevance_.to_dict()
        return self.ranked({name: nats for name, nats in relevance.items() if name not in self.withheld_features})

    def observed_among(self, rows: Sequence[int], least: float) -> list[int]:
        """Return those of the rows of which at least this share of all subjects is known to have a value, or all."""
        n, missing = self.n[:, 0], self.missing[:, 0]
        # What is withheld is no reason to leave out a feature: that would say that many values are missing.
        observed = [row for row in rows if not n[row] < least * (n[row] + missing[row])]
        return observed or list(rows)

    def ranked(self, ranks: Mapping[Any, float]) -> list[int]:
        """Return the indices of the rows by decreasing rank of their features; features without a rank come last."""
        order = {name: place for place, name in enumerate(dict.fromkeys(self.features))}
        return sorted(
            range(len(self.features)),
            key=lambda row: (-ranks.get(self.features[row], -np.inf), order[self.features[row]], row),
        )


def profiles_of(compared: Compared) -> Profiles:
    """Return the summaries of a frame of `clinclust.compare_subtypes` as arrays; ValueError if it has none."""
    if not compared.rows("summary"):
        raise InputError("comparisons must be what compare_subtypes returns, with its rows of the kind 'summary'")
    parts = [part for feature in compared.features.values() for part in feature.parts]
    features = [part for part in parts for _ in part.summaries]
    levels = [level for part in parts for level in part.summaries]
    places = np.vstack([compared.places(part.summaries) for part in parts])
    summaries = [default_summary(feature) for feature in features]
    is_median = np.array([summary == "median" for summary in summaries])
    numbers = {name: compared.numbers(name, places) for name in ("n", "missing", "mean", "median")}
    # Where all groups have the same median, such as 0 falls, the means may still differ.
    is_hidden = is_median & (np.ptp(numbers["median"], axis=1) == 0) & (np.ptp(numbers["mean"], axis=1) > 0)
    is_median &= ~is_hidden
    summaries = ["mean" if hidden else each for hidden, each in zip(is_hidden, summaries, strict=True)]
    sd, q1, q3 = (compared.numbers(name, places[:, :1])[:, 0] for name in ("sd", "q1", "q3"))
    return Profiles(
        features=[feature.name for feature in features],
        levels=levels,
        labels=[feature.label for feature in features],
        titles=[feature.label + feature.suffix(level) for feature, level in zip(features, levels, strict=True)],
        subtypes=compared.subtypes,
        summaries=summaries,
        n=numbers["n"],
        missing=numbers["missing"],
        centre=np.where(is_median[:, np.newaxis], numbers["median"], numbers["mean"]),
        spread=np.where(is_median & (q3 != q1), (q3 - q1) / SDS_BETWEEN_QUARTILES, sd),
        withheld=compared.numbers("suppressed", places) == 1,
        sizes=compared.sizes,
        is_rounded=compared.is_rounded,
    )


Row: TypeAlias = Record

_NOT_IN_EVERY_FRAME = ("agreement", "effect", "effect_reported", "p_given_others", "p_whatever_is_missing")
"""Columns of the validated associations that a frame made elsewhere may lack."""
_MANY_PAIRS = 5_000
"""Comparisons of pairs of subtypes, above which only one sheet shows them: 10 subtypes in 110 features."""


@dataclass(frozen=True)
class Findings:
    """A partition with its validated cohort and the comparisons of its subtypes.

    `significance_level` is that of p in the comparisons and of q of validated features. A report made for sharing has a
    `rule`. `n_asked` is the number of subtypes asked for, if the model does not keep it.
    """

    cohort: FittedCohort
    comparisons: pd.DataFrame
    significance_level: float
    associations: pd.DataFrame | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    rule: Rule | None = None
    min_size: int = 3
    n_asked: int | None = None
    stability: Stability | None = None
    drawn: GibbsDP | None = None
    other_methods: MethodComparison | None = None
    dominant: pd.DataFrame | None = None
    telling: pd.DataFrame | None = None
    """`tell_divisions` of the accepted `divisions`, by their number; None in a shared report."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """How the command line goes on from this report, by the step that it proposes; without any, Python does."""
    sizes_of_all: Mapping[int, int] | None = None
    """Sizes of the subtypes in a table in partitions, of which the cohort is a sample; the comparisons are of all."""

    @property
    def of_the_sample(self) -> str:
        """What is added to the heading of numbers of subjects that are counted in the cohort, if that is a sample."""
        return "" if self.sizes_of_all is None else " of the sample"

    @cached_property
    def read(self) -> Compared:
        """The rows of the comparisons, grouped by kind, feature, level and subtype."""
        return Compared(self.comparisons)

    @cached_property
    def sheets(self) -> dict[str, Any]:
        """The sheets made of them, once for all files of a report."""
        return {}

    @cached_property
    def profiles(self) -> Profiles:
        """Where each subtype lies in every feature or level."""
        return profiles_of(self.read)

    @property
    def n_pairwise(self) -> int:
        """The number of comparisons of a pair of subtypes in a feature or level."""
        return sum(map(len, self.read.tests.values()))

    @property
    def has_many_pairs(self) -> bool:
        """Whether the pairs of subtypes are so many that only one sheet shows them."""
        return self.n_pairwise > _MANY_PAIRS

    def association_rows(self) -> list[Row]:
        """Return the rows of the validated associations; empty if there are none. A column that is absent is None."""
        if self.associations is None:
            return []
        rows = cast("list[Row]", self.associations.to_dict("records"))
        return [{**dict.fromkeys(_NOT_IN_EVERY_FRAME), **row} for row in rows]

    @property
    def fit(self) -> Fit | None:
        """Results of the MAP-DP search; None if no such search made the subtypes."""
        return self.cohort.model.fit_

    @property
    def formed(self) -> str:
        """Relative clause for the features whose p-values are descriptive and not inference."""
        return "that the subtypes may have been made from" if self.fit is None else "that were clustered on"

    @property
    def is_shared(self) -> bool:
        """Whether the report is made for sharing, so that numbers about few subjects are withheld."""
        return self.rule is not None

    @property
    def is_rounded(self) -> bool:
        """Whether all counts of a shared report are rounded; what is a function of exact counts is then withheld."""
        return self.rule is not None and self.rule.rounding is not None

    def code(self, subtype: int) -> Code:
        """Return what a subtype, numbered from 1, is called (`MAPDP.codes_`)."""
        codes = self.cohort.model.codes_
        return codes[subtype - 1] if subtype <= len(codes) else subtype  # of all subjects of a table in partitions

    def name(self, subtype: Code) -> str:
        """Return the title of a subtype, by number or code: its code and its name, or "Subtype" and its code."""
        if isinstance(subtype, str):
            subtype = self.cohort.model.codes_.index(subtype) + 1
        code = self.code(subtype)
        return f"{code} {self.names[subtype]}" if subtype in self.names else f"Subtype {code}"

    def title_of(self, column: str) -> str:
        """Return the title of a column of the table, which is its name where the schema does not have it."""
        schema = self.cohort.schema
        return schema[column].title if column in schema else str(column)

    def for_sharing(self, rule: Rule) -> Findings:
        """Return these findings with counts withheld or rounded; ValueError if the cohort is too small for that."""
        comparisons = suppress_small_cells(
            self.comparisons,
            threshold=rule.threshold,
            rounding=rule.rounding,
            missing_is_harmless=rule.missing_is_harmless,
            min_n=rule.min_n,
        )
        if rule.rounding is not None:
            comparisons = with_pooled_means(comparisons[comparisons["kind"] == "summary"].reset_index(drop=True))
        shared = replace(self, comparisons=comparisons, associations=None, rule=rule)
        # The labels of a given partition may be words of the table, which only these subjects have.
        names = {subtype: name for subtype, name in self.names.items() if shared.shown_sizes[subtype] is not None}
        shared = replace(shared, names=names)
        return shared if self.associations is None else shared.with_associations(self.associations)

    def with_associations(self, associations: pd.DataFrame) -> Findings:
        """Return these findings with validated associations, unless they would disclose what is withheld."""
        if self.is_rounded:
            return self
        if self.is_shared:
            associations = withhold_associations(associations, self.comparisons)
        return replace(self, associations=associations)

    def versus(self, subtype: int) -> str:
        """Return the title of the group with which a subtype is compared; 0 means all other subjects."""
        return self.name(subtype) if subtype else "All others"

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Exact number of subjects in each subtype, by number from 1. Sheets show `shown_sizes`."""
        if self.sizes_of_all is not None:
            return dict(self.sizes_of_all)
        subtypes, sizes = np.unique(self.cohort.labels + 1, return_counts=True)
        return dict(zip(subtypes.tolist(), sizes.tolist(), strict=True))

    @cached_property
    def shown_sizes(self) -> dict[int, int | None]:
        """Number of all subjects (0) and of the subjects in each subtype, as reported; None if it is withheld."""
        if self.rule is not None:
            return shown_sizes(self.sizes, self.rule.threshold, self.rule.rounding)
        return {0: sum(self.sizes.values()), **self.sizes}

    def size_of(self, subtypes: Iterable[int]) -> Value:
        """Return the number of subjects in some subtypes together, withheld if one of their sizes is."""
        sizes = [self.shown_sizes[subtype] for subtype in subtypes]
        return WITHHELD if None in sizes else sum(size for size in sizes if size is not None)

    def percent_of(self, subtypes: Iterable[int]) -> Value:
        """Return the percentage of all subjects that is in some subtypes together."""
        size = self.size_of(subtypes)
        return percent(size, self.n_subjects) if isinstance(size, int) else WITHHELD

    def percent_clear(self, subtypes: Sequence[int]) -> float | None:
        """Return the percentage of the members of some subtypes who are clearly in these; None if it is unknown."""
        if self.own_membership is None:
            return None
        places = np.array(subtypes) - 1
        members = np.asarray(self.cohort.model.membership_)[np.isin(self.cohort.labels, places)]
        return float(100 * (members[:, places].sum(axis=1) >= CLEAR).mean())

    def size_columns(self, title: str) -> list[Filled]:
        """Return the columns of tables of subtypes: its name, its number of subjects, and their percentage of all."""
        size: Filled = (Column(title, "0"), lambda subtype: self.size_of([subtype]))
        return [(Column("Subtype"), self.name), size, (Column("%", "0.0"), lambda subtype: self.percent_of([subtype]))]

    @property
    def n_subjects(self) -> int:
        """Number of all subjects as reported, which is never withheld."""
        return self.shown_sizes[0] or 0

    @cached_property
    def own_membership(self) -> NDArray[np.float64] | None:
        """Probability of each subject's own subtype; None if the model has none, or the report is shared."""
        return None if self.is_shared else own_membership(self.cohort.model)

    @property
    def posterior(self) -> GibbsDP | None:
        """Partitions drawn from the posterior: those given, or the model itself if it is a sampler."""
        if self.is_shared:
            return None
        model = self.cohort.model
        return model if self.drawn is None and isinstance(model, GibbsDP) else self.drawn

    @cached_property
    def answer(self) -> Answer:
        """How many kinds of subject there are; a shared report does not say which subtypes are too small to test."""
        codes = [self.code(subtype) for subtype in self.sizes]
        return find_answer(self.fit, codes, () if self.is_shared else self.untested)

    @cached_property
    def divisions(self) -> list[Division]:
        """The divisions of the tree that were tested, from the root down; empty if none was."""
        if self.fit is None:
            return []
        titles = {subtype: self.name(subtype) for subtype in self.sizes}
        return divisions_of(self.fit, titles if len(titles) > 1 else dict.fromkeys(titles, "the cohort"))

    @cached_property
    def marks(self) -> list[tuple[str, ...]]:
        """The marks of each subtype that may be noise (`MAPDP.remarks_`); empty without a search."""
        return [] if self.fit is None else self.fit.remarks_

    @cached_property
    def likelihoods(self) -> pd.DataFrame:
        """The declared likelihoods and their alternatives (`compared_likelihoods`); no rows without a search."""
        return NOTHING_COMPARED if self.fit is None else compared_likelihoods(self.fit, self.cohort.table)

    @cached_property
    def model_check(self) -> ModelCheck | None:
        """Where the model does not describe its cohort (`check_model`); None without a search or if shared."""
        if self.fit is None or self.is_shared or not self.fit.clusters_.encoding.features:
            return None
        rng = np.random.default_rng(self.fit.random_seed_)
        return check_cohort(self.cohort, self.likelihoods, N_DRAWS, rng)

    @cached_property
    def unusual(self) -> pd.DataFrame:
        """The subjects that are improbable in their own subtype; none without a search, or in a shared report."""
        if self.fit is None or self.is_shared:
            return NOBODY
        return find_unusual(self.cohort, np.random.default_rng(self.fit.random_seed_))

    @cached_property
    def continuum(self) -> Continuum | None:
        """The main axis of the cohort; None unless the test of the tree says that the cohort is one continuum."""
        if self.fit is None or n_parted(self.fit) != 1:
            return None
        return find_continuum(self.cohort)

    def is_withheld(self, feature: Feature) -> bool:
        """Return whether any number of the feature is withheld."""
        return feature.name in self.read.withheld

    @cached_property
    def features(self) -> list[Feature]:
        """Clustered and described features by section, in the order of the schema."""
        reported = self.cohort.schema.reported
        sections = list(dict.fromkeys(feature.section for feature in reported))
        return sorted(reported, key=lambda feature: sections.index(feature.section))

    def relevance(self, feature: Feature) -> float | None:
        """Return the relevance, in nats; None if no search clustered on the feature, or a number of it is withheld."""
        if self.fit is None or not self.clustered_on(feature) or self.is_withheld(feature):
            return None
        return float(self.fit.feature_relevance_[feature.name])

    @property
    def relevance_column(self) -> list[Filled]:
        """The column of the relevance in tables of features; empty without a search, or if it is withheld of all.

        That in a sample is withheld: it is a function of counts in the sample, and only those of all are shared.
        """

        def relevance(feature: Feature) -> Value:
            return WITHHELD if self.clustered_on(feature) and self.is_withheld(feature) else self.relevance(feature)

        is_of_sample = self.is_shared and self.sizes_of_all is not None
        if self.fit is None or self.is_rounded or is_of_sample:
            return []
        return [(Column("Relevance (nats, descriptive)", "0.0"), relevance)]

    @cached_property
    def by_relevance(self) -> list[Feature]:
        """Features by decreasing relevance, or `Profiles.prominence` without a search; those not clustered on last."""
        ranks = None if self.fit is not None else self.profiles.prominence

        def least_relevant_last(feature: Feature) -> float:
            rank = self.relevance(feature) if ranks is None else ranks.get(feature.name)
            return math.inf if rank is None else -rank

        return sorted(self.features, key=least_relevant_last)

    def clustered_on(self, feature: Feature) -> bool:
        """Return whether the feature formed, or may have formed, the subtypes; if rounded, by the schema alone."""
        return feature.is_clustered and (self.is_rounded or feature.name not in self.cohort.model.uninformative_)

    @cached_property
    def clustered(self) -> list[Feature]:
        """The features that were `clustered_on`, in the order of `features`."""
        return [feature for feature in self.features if self.clustered_on(feature)]

    @cached_property
    def n_missing(self) -> tuple[int, int]:
        """The exact number of missing values of the features clustered on, and of all their values."""
        cells = self.cohort.table[[feature.name for feature in self.clustered]]
        return int(cells.isna().to_numpy().sum()), cells.size

    def clustered_on_text(self, feature: Feature) -> str:
        """Return the text of the column "Clustered on"."""
        if not self.clustered_on(feature):
            return "no"
        return "perhaps" if self.fit is None else "yes"

    @cached_property
    def untested(self) -> list[int]:
        """The subtypes with too few subjects to be tested; empty if counts are rounded, and so none is tested."""
        if self.is_rounded:
            return []
        if self.read.tested:
            return [subtype for subtype in self.sizes if subtype not in self.read.tested]
        return [subtype for subtype, size in self.sizes.items() if size < self.min_size]

    def setting(self, fit: Fit, name: str) -> Value:
        """Return the concentration or the coarsening, by name; a shared report withholds one chosen by the data."""
        chosen = not isinstance(parameters_of(self.cohort.model)[name], Real)
        return WITHHELD if self.is_shared and chosen else as_value(getattr(fit, f"{name}_"))


def number_of(row: Row, name: str) -> Value:
    """Return a number of a row of the comparisons as a value, or `WITHHELD` if it was withheld."""
    value = as_value(row[name])
    return WITHHELD if value is None and row.get("suppressed") is True else value


def with_pooled_means(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return a rounded frame with mean and SD of all subjects, pooled from those of the subtypes if all are shown."""
    result = comparisons.copy()
    for levels in ComparisonsFrame(comparisons).summaries.values():
        rows = levels.get(None)
        pooled = None if rows is None else _pooled(rows)
        if rows is not None and pooled is not None:
            result.loc[rows[ALL_SUBJECTS]["place"], ["mean", "sd"]] = pooled
    return result


def _pooled(rows: Mapping[int, Record]) -> tuple[float, float] | None:
    """Return the mean and the SD of all values from n, mean and SD of each subtype; None if a number is withheld."""
    numbers = [[row["n"], row["mean"], row["sd"]] for group, row in rows.items() if group != ALL_SUBJECTS]
    if any(is_missing(number) for of_one in numbers for number in of_one):
        return None
    n, mean, sd = np.array(numbers, dtype=np.float64).T
    of_all = float(np.average(mean, weights=n))
    squares = (n - 1.0) * sd**2 + n * (mean - of_all) ** 2
    return of_all, float(np.sqrt(squares.sum() / (n.sum() - 1.0)))
