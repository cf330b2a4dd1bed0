"""A simulated cohort of 120 subjects, and a stand-in for a fitted model as reports read it."""

import re
import zipfile
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from types import SimpleNamespace

import numpy as np
import openpyxl
import pandas as pd

from clinclust import compare_subtypes, reporting
from clinclust.estimators.fit import SubtypeTree
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of
from clinclust.reporting.findings import Findings
from clinclust.reporting.report import ReportOptions, gather_findings
from clinclust.schema import FeatureSchema
from schemas import stored_schema

# A stand-in cannot be fitted again without one of its features.
write_report = partial(reporting.write_report, associations=None, overwrite=True)


def gathered(model, frame, **options):
    """Return the findings of a report of a model and its table."""
    return gather_findings(cohort_of(model, frame), frame, ReportOptions(**options))


def compared(model, frame, level=0.01, **more):
    """Return the findings of a model and its validated table with their comparisons alone."""
    options = {"min_size": more.get("min_size", 3), "significance_level": level}
    comparisons = compare_subtypes(frame, model.labels_, model.schema_, **options)
    return Findings(FittedCohort(model, frame), comparisons, level, **more)


def words_in(page):
    """What a page says, and how it names its figures, in one line."""
    page = re.sub(r'<[^>]*?aria-label="([^"]*)"[^>]*>', r" \1 ", page[max(0, page.find("<body")) :])
    return " ".join(unescape(re.sub(r"<script>.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def texts_of(path):
    """Every text of a report in one line: `words_in` a page, or the cells of a workbook."""
    if path.suffix == ".html":
        return words_in(path.read_text(encoding="utf-8"))
    rows = [row for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows(values_only=True)]
    return " ".join(" ".join(str(cell) for row in rows for cell in row if cell is not None).split())


def everything_in(path):
    """Every text of a file, of all parts of an archive, without the data of images."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            text = "\n".join(archive.read(name).decode("utf-8", "ignore") for name in archive.namelist())
    else:
        text = path.read_text(encoding="utf-8")
    return unescape(re.sub(r"base64,[A-Za-z0-9+/=]+", "", text))


class Section(list):
    """The rows of one section of a workbook, from its title to the next, read as a sheet of openpyxl is."""

    title = property(lambda self: list.__getitem__(self, 0)[0].value)

    def __getitem__(self, letter):
        return [row["ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter)] for row in self]

    def iter_rows(self, *, values_only=False):
        return (tuple(cell.value for cell in row) if values_only else row for row in self)


def sections_of(path):
    """The sections of a workbook by name; a sheet may hold several."""
    sections = {}
    for row in (row for sheet in openpyxl.load_workbook(path) for row in sheet.iter_rows()):
        if row[0].style == "clinclust title":
            sections[row[0].value] = section = Section()
        section.append(row)
    return sections


class AnyCohort:
    """Recognises every table: a stand-in was fitted on none."""

    def rows_of_fit(self, frame):
        return np.arange(len(frame))


@dataclass
class NoFeatures:
    """Clusters as the comparison of likelihoods reads them, of a stand-in that has no feature to compare."""

    sizes: np.ndarray
    statistics: np.ndarray
    n_subjects: int
    encoding: object = field(default_factory=lambda: SimpleNamespace(features=(), likelihoods=()))
    included: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def likelihood_terms(self):
        return np.zeros((self.sizes.size, 0))

    def pooled(self, into):
        return NoFeatures(np.bincount(into, self.sizes), self.statistics, self.n_subjects)

    def scores(self, values, *, coarsened):
        return np.tile(np.log(np.append(self.sizes, 1.0) / self.n_subjects), (self.n_subjects, 1))


@dataclass
class Fitted(SubtypeModel):
    """What `clinclust.MAPDP` has after `fit`, as far as reports use it."""

    schema_: FeatureSchema
    labels_: np.ndarray
    membership_: np.ndarray
    feature_relevance_: pd.Series
    uninformative_: dict
    restarts_: pd.DataFrame
    hyperparameters_: dict = field(default_factory=dict)
    log_joint_: float = -4321.098
    completed_log_joint_: float | None = None
    prior_strength_: float = 0.0
    random_seed_: int = 20160926
    concentration_: float = 3.0
    coarsening_: float = 1.0
    block_weights_: dict = field(default_factory=dict)
    outlying_share_: float = 0.0
    temperature_: float = 1.0
    given: dict = field(default_factory=dict)
    tuning_: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"concentration": [3.0]}))
    stopped_early_: bool = False
    min_size_: int = 1
    row_counts_: object = None
    tree_test_: object = None
    adjustment_: object = None
    made_by: str = "a MAP-DP search"
    cohort_fingerprint_: AnyCohort = field(default_factory=AnyCohort)

    @property
    def fit_(self):
        return self  # it has what a search found as attributes of its own

    @property
    def codes_(self):
        return [*range(1, int(np.max(self.labels_)) + 2)]

    def adjusted(self, frame):
        return frame

    def get_params(self):
        return {
            "n_clusters": None,
            "concentration": self.concentration_,
            "coarsening": self.coarsening_,
            "block_weights": "auto",
            "hyperparameters": None,
            "init": "search",
            "select_features": False,
            "calibrate": False,
        } | self.given

    @property
    def selected_features_(self):
        return list(self.feature_relevance_.index)

    @property
    def outliers_(self):
        return np.zeros((len(self.labels_), len(self.schema_)), dtype=bool)

    @property
    def tree_(self):
        K = self.n_clusters_
        joins = [(0, 1), *((K + step, step + 2) for step in range(K - 2))][: K - 1]
        return SubtypeTree(self.labels_, np.array(joins, dtype=int).reshape(-1, 2), 12.5 * np.arange(1, K))

    @property
    def subtype_of_(self):
        return np.arange(self.n_clusters_)

    @property
    def remarks_(self):
        return [()] * self.n_clusters_

    @property
    def cluster_labels_(self):
        return self.labels_

    @property
    def clusters_(self):
        return NoFeatures(self.cluster_sizes_.astype(float), np.zeros((self.n_clusters_, 0)), len(self.labels_))

    @property
    def untested_(self):
        return self.cluster_sizes_ < self.min_size_

    @property
    def cluster_sizes_(self):
        return np.bincount(self.labels_)


def fitted(schema, labels, *, kept_out=None):
    """A plausible fitted model of these labels."""
    labels = np.asarray(labels)
    rng = np.random.default_rng(0)
    K = labels.max() + 1
    membership = rng.dirichlet(np.full(K, 0.15), len(labels)) + 2 * np.eye(K)[labels] * rng.random((len(labels), 1))
    membership /= membership.sum(axis=1, keepdims=True)
    clustered = [feature.name for feature in schema.clustered if feature.name not in (kept_out or {})]
    relevance = pd.Series(np.sort(rng.normal(20, 15, len(clustered)))[::-1], index=rng.permutation(clustered))
    restarts = pd.DataFrame(
        {
            "restart": [1, 2, 3, 4],
            "start": ["single", "random", "k-means", "perturbed"],
            "log_joint": [-4321.6, -4388.25, -4321.098, -4321.6],
            "n_clusters": [K, K + 1, K, K],
            "sweeps": [9, 7, 12, 3],
            "converged": [True, False, True, True],
            "ari_to_best": [0.972, 0.61, 1.0, 0.972],
        }
    )
    hyperparameters = {name: {"a": 0.5, "b": 1.25} for name in clustered}
    return Fitted(schema, labels, membership, relevance, kept_out or {}, restarts, hyperparameters)


def cohort(N=120):
    """Frame, schema and labels: three subtypes, two sections, every likelihood, missing values."""
    rng = np.random.default_rng(120)
    labels = np.sort(rng.choice(3, N, p=[0.5, 0.35, 0.15]))
    stages = ("0", "1", "1.5", "2", "2.5", "3", "4", "5")

    def yes(*shares):
        return np.where(rng.random(N) < np.array(shares)[labels], "yes", "no")

    def score(trials, *shares):
        return rng.binomial(trials, np.array(shares)[labels])

    columns = {
        "tremor": yes(0.81, 0.91, 0.42),
        "bradykinesia": yes(0.7, 0.9, 0.95),
        "falls_ever": yes(0.1, 0.3, 0.6),
        "face": score(4, 0.3, 0.4, 0.6),
        "rigidity_right": score(4, 0.2, 0.33, 0.55),
        "rigidity_left": score(4, 0.15, 0.33, 0.5),
        "finger_taps": score(4, 0.16, 0.35, 0.6),
        "hoehn_yahr": np.array(stages)[score(7, 0.3, 0.45, 0.75)],
        "state": 1 + score(3, 0.4, 0.6, 0.8),
        "phenotype": rng.choice(["tremor dominant", "rigid", "mixed"], N),
        "falls": rng.poisson(np.array([0.3, 1, 3])[labels]),
        "sleep": yes(0.3, 0.5, 0.5),
        "constipation": yes(0.2, 0.4, 0.5),
        "depression": score(3, 0.2, 0.25, 0.4),
        "visits": rng.geometric(0.4, N) - 1,
        "years": rng.exponential(np.array([3, 6, 9])[labels]),
        "crp": rng.lognormal(0.5, 0.8, N),
        "systolic": rng.normal(np.array([132, 135, 141])[labels], 14),
        "copper": rng.normal(0.0121, 0.0018, N),
        "dementia": np.repeat("no", N),
        "probability_of_pd": np.clip(rng.normal(np.array([92, 88, 70])[labels], 6), 0, 100),
    }
    frame = pd.DataFrame(columns).astype(object)
    later = np.random.default_rng(121)  # so that the columns above stay as they were
    frame = frame.mask(rng.random(frame.shape) < rng.uniform(0, 0.15, frame.shape[1]))
    frame["pain"] = np.array(["none", "mild", "severe"])[later.binomial(2, np.array([0.1, 0.4, 0.7])[labels])]
    frame["admissions"] = later.negative_binomial(0.8, 0.8 / (0.8 + np.array([1.0, 2.0, 6.0])[labels]))
    frame.insert(0, "patient", [f"{i:04d}" for i in rng.permutation(N) + 1])
    return frame, stored_schema("parkinsonism"), labels


def fitted_cohort():
    """A fitted stand-in and the frame it was fitted on."""
    frame, schema, labels = cohort()
    return fitted(schema, labels, kept_out={"dementia": "the same value in every subject observed"}), frame


def associations_of(model, text="dependent on others"):
    """One row for each feature, as `validated_associations` gives them; the numbers are made up."""
    rng = np.random.default_rng(3)
    rows = []
    for place, feature in enumerate(model.schema_.reported):
        tested = feature.name not in model.uninformative_
        row = {name: getattr(feature, name) for name in ("section", "role", "likelihood")}
        row |= {"feature": feature.name, "label": feature.title}
        row |= {"method": ("direct" if feature.is_described else "refit") if tested else None}
        row |= {"test": "Welch's ANOVA" if tested else None, "n_subtypes": 3 if tested else None}
        for name in ("statistic", "df", "df2", "p", "q"):
            row[name] = rng.random() if tested else np.nan
        row |= {"n": 110 if tested else None, "seed": 7, "left_out": feature.name}
        row |= {"p_given_others": 0.5 if place == 2 else 0.001, "grade": "differs" if tested else "not tested"}
        rows.append(row | {"remark": text if place == 2 or not tested else None})
    kinds = dict.fromkeys(("n_subtypes", "n", "seed"), "Int64")
    kinds |= dict.fromkeys(("method", "test", "left_out", "grade", "remark"), "string")
    return pd.DataFrame(rows).astype(kinds)
