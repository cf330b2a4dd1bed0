"""The findings of a report, and the profiles of its subtypes."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, reduce
from numbers import Real
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Code
from clinclust.check import ModelCheck
from clinclust.check.check import check_cohort
from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame, Record, is_missing
from clinclust.data import Language, Style
from clinclust.disclosure import suppress_small_cells, withhold_associations
from clinclust.disclosure.counts import Rule, are_small_rows
from clinclust.disclosure.suppress import shown_sizes
from clinclust.drafting.kinds import looks_identifying
from clinclust.errors import InputError, on_one_line
from clinclust.estimators.explanation import NOBODY, Continuum, find_continuum, find_unusual
from clinclust.estimators.fit import FEW, FEW_SUBJECTS, Fit
from clinclust.estimators.fitting import NOTHING_COMPARED, compared_likelihoods
from clinclust.estimators.gibbs import GibbsDP
from clinclust.estimators.subtype_model import (
    CLEAR,
    FittedCohort,
    SubtypeModel,
    clustered_features,
    own_membership,
    parameters_of,
)
from clinclust.files.conditions import ORDERS, Comparison, Condition, Joined, compared_columns, parsed
from clinclust.files.row_choice import RowChoice, RowCounts, rows_taken
from clinclust.methods.compare import MethodComparison
from clinclust.reporting.compared import SDS_BETWEEN_QUARTILES, Compared, Summary, default_summary
from clinclust.reporting.divisions import Answer, Division, divisions_of, find_answer, n_parted
from clinclust.reporting.layout import WITHHELD, WORDS, Value, Withheld, as_value, catalogue, percent, translate
from clinclust.schema import Feature, FeatureSchema
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
    def lacks(self) -> NDArray[np.bool_]:
        """Whether a number of a subtype is withheld, bool (R, K)."""
        # Every row of a rounded frame counts as withheld, whether or not its numbers are shown.
        return np.isnan(self.standardised) if self.is_rounded else self.withheld[:, :1] | self.withheld[:, 1:]

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


@dataclass(frozen=True)
class Findings:
    """A partition with its validated cohort and the comparisons of its subtypes: everything that a report prints.

    `significance_level` is that of p in the comparisons and of q of validated features. `n_asked` is the number of
    subtypes asked for, if the model does not keep it. Findings `for_sharing` lack what a shared report withholds, and
    nothing that prints them asks whether they are shared.
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
    language: Language = "en"
    style: Style | None = None
    decimal: str | None = None
    """Journal and decimal mark of the subtype table, in the notation of the language without them."""
    of_all: Mapping[int, int] | None = None
    """Sizes of the subtypes in a table in partitions, of which the cohort is a sample; the comparisons are of all."""

    _instead: ClassVar[Sequence[str]] = ()
    """The sections of the catalogue whose sentences take the place of others."""

    @cached_property
    def texts(self) -> dict[str, Any]:
        """The sentences of the report by section (`clinclust/data/report.toml`); an empty one is left out."""
        return reduce(_overlaid, map(catalogue().__getitem__, self._instead), catalogue())

    @cached_property
    def spoken(self) -> Findings:
        """These findings for a report in its language; of English ones the terminal prints the same words."""
        return self if self.language == "en" else replace(self)

    @property
    def made_by(self) -> str:
        """Who or what made the subtypes."""
        return str(translate(self.cohort.model.made_by))

    # What a report for sharing has not, or in other numbers: see `_SharedFindings`.

    @property
    def subjects(self) -> FittedCohort | None:
        """The cohort, for all that is printed of single subjects."""
        return self.cohort

    @property
    def of_the_sample(self) -> str:
        """What is added to the heading of numbers of subjects that are counted in the cohort, if that is a sample."""
        return "" if self.of_all is None else " of the sample"

    @cached_property
    def sizes(self) -> Mapping[int, int | Withheld]:
        """Number of subjects in each subtype, by number from 1."""
        return self._exact_sizes

    @property
    def n_subjects(self) -> int:
        """Number of all subjects as reported."""
        return sum(self._exact_sizes.values())

    @property
    def n_named(self) -> int:
        """Number of subjects of whom a share is named right by a column."""
        return self.cohort.labels.size

    @cached_property
    def own_membership(self) -> NDArray[np.float64] | None:
        """Probability of each subject's own subtype; None if the model has none."""
        return own_membership(self.cohort.model)

    @property
    def posterior(self) -> GibbsDP | None:
        """Partitions drawn from the posterior: those given, or the model itself if it is a sampler."""
        model = self.cohort.model
        return model if self.drawn is None and isinstance(model, GibbsDP) else self.drawn

    @property
    def untested(self) -> Sequence[int]:
        """The subtypes with too few subjects to be tested."""
        return self._untested

    @property
    def n_untested(self) -> int:
        """Number of subtypes with too few subjects to be tested."""
        return len(self._untested)

    @cached_property
    def marks(self) -> Mapping[int, tuple[str, ...]]:
        """The marks of each subtype that may be noise (`MAPDP.remarks_`); without a search only of its size."""
        if self.fit is not None:
            return dict(enumerate(self.fit.remarks_, start=1))
        return {subtype: (FEW,) * (size < FEW_SUBJECTS) for subtype, size in self._exact_sizes.items()}

    @cached_property
    def divisions(self) -> list[Division]:
        """The divisions of the tree that were tested, from the root down; empty if none was."""
        if self.fit is None:
            return []
        titles = {subtype: self.name(subtype) for subtype in self.sizes}
        return divisions_of(self.fit, titles if len(titles) > 1 else dict.fromkeys(titles, WORDS["answer"]["cohort"]))

    @property
    def evidence(self) -> Sequence[Division]:
        """The divisions whose evidence is reported."""
        return self.divisions

    @cached_property
    def likelihoods(self) -> pd.DataFrame:
        """The declared likelihoods and their alternatives (`compared_likelihoods`); no rows without a search."""
        return NOTHING_COMPARED if self.fit is None else compared_likelihoods(self.fit, self.cohort.table)

    @cached_property
    def model_check(self) -> ModelCheck | None:
        """Where the model does not describe its cohort (`check_model`); None without a search."""
        if self.fit is None or not self.fit.clusters_.encoding.features:
            return None
        return check_cohort(self.cohort, self.likelihoods, np.random.default_rng(self.fit.random_seed_))

    @cached_property
    def unusual(self) -> pd.DataFrame:
        """The subjects that are improbable in their own subtype; none without a search."""
        if self.fit is None:
            return NOBODY
        return find_unusual(self.cohort, np.random.default_rng(self.fit.random_seed_))

    @cached_property
    def continuum(self) -> Continuum | None:
        """The main axis of the cohort; None unless the test of the tree says that the cohort is one continuum."""
        if self.fit is None or n_parted(self.fit) != 1:
            return None
        return find_continuum(self.cohort)

    @property
    def searches(self) -> pd.DataFrame | None:
        """The restarts of the search, one a row; None without a search."""
        return None if self.fit is None else self.fit.restarts_

    def setting(self, fit: Fit, name: str) -> Value:
        """Return the concentration or the coarsening, by name."""
        return as_value(getattr(fit, f"{name}_"))

    @property
    def blocks(self) -> Mapping[str, tuple[int, float]]:
        """How many features each block of several has, and for how many it counts, by name."""
        if self.fit is None:
            return {}
        features = [feature for feature in self.fit.schema_.clustered if feature.name not in self.fit.uninformative_]
        sizes = Counter(feature.block for feature in features)
        weights = self.fit.block_weights_
        return {name: (sizes[name], power * sizes[name]) for name, power in weights.items() if sizes[name] > 1}

    @property
    def relevance_if_shown(self) -> Callable[[Feature], Value] | None:
        """The relevance of a feature in tables of features; None without a search."""

        def relevance(feature: Feature) -> Value:
            return WITHHELD if self.clustered_on(feature) and self.is_withheld(feature) else self.relevance(feature)

        return None if self.fit is None else relevance

    def clustered_on(self, feature: Feature) -> bool:
        """Return whether the feature formed, or may have formed, the subtypes."""
        return feature.is_clustered and feature.name not in self.cohort.model.uninformative_

    @cached_property
    def n_missing(self) -> tuple[int, int] | None:
        """The number of missing values of the features clustered on, and of all their values."""
        cells = self.cohort.table[[feature.name for feature in self.clustered]]
        return int(cells.isna().to_numpy().sum()), cells.size

    def observed(self, feature: Feature) -> tuple[Value, Value]:
        """Return how many subjects have a value of a feature, and how many have none."""
        if feature.is_clustered or feature.is_described:
            of_all = next(iter(self.read.summaries[feature.name].values()))[ALL_SUBJECTS]
            return (number_of(of_all, "n"), number_of(of_all, "missing"))
        if feature.name not in self.cohort.table or self.of_all is not None:  # not counted among all subjects
            return (None, None)
        missing = int(self.cohort.table[feature.name].isna().sum())
        return (len(self.cohort.table) - missing, missing)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """What tells whether two reports are of the same data and schema (SHA-256), by what it is of."""
        return {"data": data_fingerprint(self.cohort.table), "schema": self.cohort.schema.fingerprint}

    @property
    def row_choice(self) -> RowChoice | None:
        """Which rows of the table were taken."""
        chosen_rows = rows_taken(self.cohort.table)
        return self.cohort.schema.rows or (None if self.fit is not None or chosen_rows is None else chosen_rows.choice)

    @property
    def row_phrases(self) -> dict[str, str]:
        """The choice of rows in words, by the kind of choice."""
        return {} if self.row_choice is None else self.row_choice.phrases()

    @property
    def row_counts(self) -> RowCounts | None:
        """How many rows were taken, and left out for which reason; None if it was not recorded."""
        if self.fit is not None:
            return self.fit.row_counts_
        chosen_rows = rows_taken(self.cohort.table)
        return None if chosen_rows is None else chosen_rows.counts

    @property
    def numbers_of_rows(self) -> Mapping[str, int | Withheld]:
        """The `row_counts` that sentences name, by what becomes of the rows."""
        counts, n_subjects = self.row_counts, len(self.cohort.table)
        return {} if counts is None else {**asdict(counts), "after": counts.taken - n_subjects}

    # What follows from these, and is printed of all findings alike.

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
    def is_tested(self) -> bool:
        """Whether the features were tested between the subtypes, whatever the results."""
        return bool(self.read.contrasts)

    def association_rows(self) -> list[Row]:
        """Return the rows of the validated associations; empty without any. An absent column holds None."""
        if self.associations is None:
            return []
        rows = cast("list[Row]", self.associations.to_dict("records"))
        return [{**dict.fromkeys(_NOT_IN_EVERY_FRAME), **row} for row in rows]

    @property
    def fit(self) -> Fit | None:
        """Results of the MAP-DP search; None if no such search made the subtypes."""
        return self.cohort.model.fit_

    def code(self, subtype: int) -> Code:
        """Return what a subtype, numbered from 1, is called (`MAPDP.codes_`)."""
        codes = self.cohort.model.codes_
        return codes[subtype - 1] if subtype <= len(codes) else subtype  # of all subjects of a table in partitions

    def name(self, subtype: Code) -> str:
        """Return the title of a subtype, by number or code: its code and its name, or "Subtype" and its code."""
        if isinstance(subtype, str):
            subtype = self.cohort.model.codes_.index(subtype) + 1
        code = self.code(subtype)
        is_named = subtype in self.names
        return f"{code} {self.names[subtype]}" if is_named else WORDS["formed"]["subtype"].format(code=code)

    def title_of(self, column: str) -> str:
        """Return the title of a column of the table, which is its name where the schema does not have it."""
        schema = self.cohort.schema
        return schema[column].title if column in schema else str(column)

    def with_associations(self, associations: pd.DataFrame) -> Findings:
        """Return these findings with validated associations."""
        return replace(self, associations=associations)

    @cached_property
    def _exact_sizes(self) -> dict[int, int]:
        if self.of_all is not None:
            return dict(self.of_all)
        subtypes, sizes = np.unique(self.cohort.labels + 1, return_counts=True)
        return dict(zip(subtypes.tolist(), sizes.tolist(), strict=True))

    @cached_property
    def _untested(self) -> list[int]:
        if self.read.tested:
            return [subtype for subtype in self.sizes if subtype not in self.read.tested]
        return [subtype for subtype, size in self._exact_sizes.items() if size < self.min_size]

    def size_of(self, subtypes: Iterable[int]) -> int | Withheld:
        """Return the number of subjects in some subtypes together, withheld if one of their sizes is."""
        sizes = [size for size in map(self.sizes.__getitem__, subtypes) if not isinstance(size, Withheld)]
        return sum(sizes) if len(sizes) == len(list(subtypes)) else WITHHELD

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

    @cached_property
    def answer(self) -> Answer:
        """How many kinds of subject there are."""
        return find_answer(self.fit, [self.code(subtype) for subtype in self.sizes], self.untested)

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

    @cached_property
    def by_relevance(self) -> list[Feature]:
        """Features by decreasing relevance, or `Profiles.prominence` without a search; those not clustered on last."""
        ranks = None if self.fit is not None else self.profiles.prominence

        def least_relevant_last(feature: Feature) -> float:
            rank = self.relevance(feature) if ranks is None else ranks.get(feature.name)
            return math.inf if rank is None else -rank

        return sorted(self.features, key=least_relevant_last)

    @cached_property
    def clustered(self) -> list[Feature]:
        """The features that were `clustered_on`, in the order of `features`."""
        return [feature for feature in self.features if self.clustered_on(feature)]

    def clustered_on_text(self, feature: Feature) -> str:
        """Return the text of the column "Clustered on"."""
        return str(WORDS["words"][("perhaps" if self.fit is None else "yes") if self.clustered_on(feature) else "no"])

    def for_sharing(self, rule: Rule) -> Findings:
        """Return these findings without all that a shared report withholds, and with counts withheld or rounded.

        ValueError if the cohort is too small for that.
        """
        comparisons = suppress_small_cells(
            self.comparisons,
            threshold=rule.threshold,
            rounding=rule.rounding,
            missing_is_harmless=rule.missing_is_harmless,
            min_n=rule.min_n,
        )
        kind = _SharedFindings
        if rule.rounding is not None:
            kind, is_summary = _RoundedFindings, comparisons["kind"] == "summary"
            comparisons = with_pooled_means(comparisons[is_summary].reset_index(drop=True))
        lacking = ("stability", "drawn", "other_methods", "telling", "associations", "dominant")
        stated = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in lacking}
        shared = kind(**{**stated, "comparisons": comparisons, "rule": rule})
        # The labels of a given partition may be words of the table, which only these subjects have.
        names = {subtype: name for subtype, name in self.names.items() if shared.sizes[subtype] != WITHHELD}
        shared = replace(shared, names=names)
        if (dominant := self.dominant) is not None:  # what follows from the counts that are shown
            of_shares = [x.name for x in self.features if x.traits.is_share and not shared.is_withheld(x)]
            is_of_levels = (dominant["told_by"] == "value") & dominant["others"].isna()
            shared = replace(shared, dominant=dominant[is_of_levels & dominant["column"].isin(of_shares)])
        return shared if self.associations is None else shared.with_associations(self.associations)


# Sharing is a stage: what follows is all that a shared report withholds beyond the numbers of its comparisons.


class _SharedFindings(Findings):
    """Findings made for sharing: small numbers are withheld, and all that is of single subjects or of exact counts."""

    _instead: ClassVar[Sequence[str]] = ("shared",)

    @cached_property
    def _shown_sizes(self) -> dict[int, int | None]:
        assert self.rule is not None
        return shown_sizes(self._exact_sizes, self.rule.threshold, self.rule.rounding)

    @cached_property
    def sizes(self) -> Mapping[int, int | Withheld]:
        """Number of subjects in each subtype, by number from 1, or withheld."""
        return {subtype: WITHHELD if size is None else size for subtype, size in self._shown_sizes.items() if subtype}

    @property
    def n_subjects(self) -> int:
        """Number of all subjects, which is never withheld."""
        return self._shown_sizes[ALL_SUBJECTS] or 0

    @property
    def n_named(self) -> int:
        """Number of all subjects."""
        return self.n_subjects

    # What is of single subjects, or made of all counts.
    of_the_sample = ""
    subjects = own_membership = posterior = model_check = searches = n_missing = None
    untested: Sequence[int] = ()
    evidence: Sequence[Division] = ()
    marks: Mapping[int, tuple[str, ...]] = {}
    fingerprints: Mapping[str, str] = {}  # either would confirm a right guess of what is withheld
    unusual = NOBODY

    @cached_property
    def divisions(self) -> list[Division]:
        """The divisions of the tree with their results, and the sizes of their branches where these are subtypes."""
        lacking: dict[str, Any] = dict.fromkeys(("gain", "expected", "expected_sd", "p", "p_any_shape"), math.nan)
        lacking["sizes"] = (WITHHELD, WITHHELD)
        shared = [replace(division, **lacking) for division in super().divisions]
        return [
            replace(division, sizes=tuple(map(self.size_of, division.subtypes))) if division.subtypes else division
            for division in shared
        ]

    @cached_property
    def likelihoods(self) -> pd.DataFrame:
        """The declared likelihoods of features without withheld numbers: what fits better follows from all counts."""
        compared = super().likelihoods
        shown = [not self.is_withheld(self.cohort.schema[name]) for name in compared["feature"]]
        return compared[np.array(shown, dtype=np.bool_)]

    @cached_property
    def continuum(self) -> Continuum | None:
        """The main axis without scores; the place and sign of a feature with a withheld number would disclose it."""
        axis = super().continuum
        if axis is None:
            return None
        shown = [not self.is_withheld(self.cohort.schema[str(name)]) for name in axis.correlations.index]
        return Continuum(np.empty(0), axis.correlations[shown], math.nan)

    def setting(self, fit: Fit, name: str) -> Value:
        """Return the concentration or the coarsening, by name; one chosen from the data is withheld."""
        is_stated = isinstance(parameters_of(self.cohort.model)[name], Real)
        return super().setting(fit, name) if is_stated else WITHHELD

    @property
    def relevance_if_shown(self) -> Callable[[Feature], Value] | None:
        """The relevance in tables of features; None in a sample, of whose exact counts it is a function."""
        return None if self.of_all is not None else super().relevance_if_shown

    def observed(self, feature: Feature) -> tuple[Value, Value]:
        """Return how many subjects have a value of a feature, and how many have none; withheld of other columns."""
        numbers, is_reported = super().observed(feature), feature.is_clustered or feature.is_described
        return numbers if is_reported or None in numbers else (WITHHELD, WITHHELD)

    @property
    def row_phrases(self) -> dict[str, str]:
        """The choice of rows in words, without rows chosen by hand and conditions that may be those of few people."""
        phrases, choice, texts = super().row_phrases, self.row_choice, self.texts["rows"]
        if "rows" in phrases:
            phrases["rows"] = texts["by_hand"]
        condition = parsed(choice.where) if choice is not None and choice.where is not None else None
        if condition is not None and not _may_be_named(condition, self.cohort.schema):
            columns = ", ".join(map(on_one_line, compared_columns(condition)))
            phrases["where"] = texts["condition"].format(columns=texts["on"].format(columns=columns) if columns else "")
        return phrases

    @property
    def numbers_of_rows(self) -> Mapping[str, int | Withheld]:
        """The `row_counts` that sentences name, all of them withheld if one is small."""
        numbers, counts, n_subjects = super().numbers_of_rows, self.row_counts, len(self.cohort.table)
        if self.rule is None or counts is None or not are_small_rows(counts, n_subjects, self.rule.threshold):
            return numbers
        return {**dict.fromkeys(numbers, WITHHELD), "unknown": 0}

    def with_associations(self, associations: pd.DataFrame) -> Findings:
        """Return these findings with the tests that disclose nothing of what is withheld.

        Of these, n and the statistic would say how many subjects are in other subtypes without the feature.
        """
        shown = withhold_associations(associations, self.comparisons)
        return super().with_associations(shown.drop(columns=_OF_OTHER_SUBTYPES, errors="ignore"))


_OF_OTHER_SUBTYPES = ["n", "n_subtypes", "statistic", "df", "df2", "agreement"]


class _RoundedFindings(_SharedFindings):
    """Findings made for sharing with all counts rounded: what is a function of exact counts is left out."""

    continuum = row_counts = None
    relevance_if_shown = None
    n_untested = 0
    _instead = ("shared", "rounded")

    def clustered_on(self, feature: Feature) -> bool:
        """Return whether the schema asks that the feature form the subtypes."""
        return feature.is_clustered

    def with_associations(self, associations: pd.DataFrame) -> Findings:
        """Return these findings, for every association is a function of exact counts."""
        return self


def _overlaid(texts: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return texts with others in the place of those of the same key, at any depth."""
    nested = {key: _overlaid(texts[key], other) for key, other in others.items() if isinstance(other, dict)}
    return {**texts, **others, **nested}


def _may_be_named(condition: Condition, schema: FeatureSchema) -> bool:
    """Return whether all values in a condition are those of every subject analysed, or limits that all keep to.

    Other values, such as those that are excluded, may be those of few people, and a column may say who they are.
    """
    parts = condition.parts if isinstance(condition, Joined) and condition.word == "and" else (condition,)
    is_of_everybody = all(isinstance(part, Comparison) and (part.sign == "==" or part.sign in ORDERS) for part in parts)
    for column in compared_columns(condition):
        is_in_table = column in schema and not schema[column].is_ignored
        is_of_everybody &= not (schema[column].is_id if is_in_table else looks_identifying(column))
    return is_of_everybody


def data_fingerprint(frame: pd.DataFrame) -> str:
    """Return the SHA-256 (hex) of the columns of a validated frame: names, types and values in order, without index."""
    digest = hashlib.sha256()
    for name, column in frame.items():
        digest.update(f"{name!r} {column.dtype}\n".encode())
        digest.update(pd.util.hash_pandas_object(column, index=False).to_numpy().tobytes())
    return digest.hexdigest()


def number_of(row: Row, name: str) -> Value:
    """Return a number of a row as a value, or `WITHHELD` if it was withheld; None without such a column."""
    if name not in row:
        return None
    value = as_value(row[name])
    return WITHHELD if value is None and row.get("suppressed") is True else value


def with_pooled_means(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return a rounded frame with mean and SD of all subjects, pooled from those of the subtypes if all are shown."""
    result = comparisons.copy()
    for levels in ComparisonsFrame(comparisons).summaries.values():
        rows = levels.get(None, {})
        numbers = [[row["n"], row["mean"], row["sd"]] for group, row in rows.items() if group != ALL_SUBJECTS]
        if numbers and not any(is_missing(number) for of_subtype in numbers for number in of_subtype):
            n, mean, sd = np.array(numbers, dtype=np.float64).T
            of_all = float(np.average(mean, weights=n))
            squares = (n - 1.0) * sd**2 + n * (mean - of_all) ** 2
            pooled = (of_all, float(np.sqrt(squares.sum() / (n.sum() - 1.0))))
            result.loc[rows[ALL_SUBJECTS]["place"], ["mean", "sd"]] = pooled
    return result
