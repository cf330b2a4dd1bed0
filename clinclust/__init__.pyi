"""The public names of the package, each with its module; `clinclust/__init__.py` reads them here."""

from clinclust import check as check
from clinclust import comparisons as comparisons
from clinclust import disclosure as disclosure
from clinclust import drift as drift
from clinclust import methods as methods
from clinclust import outcomes as outcomes
from clinclust import plots as plots
from clinclust import stability as stability
from clinclust.associations import validated_associations as validated_associations
from clinclust.comparisons import compare_subtypes as compare_subtypes
from clinclust.disclosure import suppress_small_cells as suppress_small_cells
from clinclust.drafting import draft_schema as draft_schema
from clinclust.errors import CohortError as CohortError
from clinclust.errors import CohortWarning as CohortWarning
from clinclust.errors import SchemaError as SchemaError
from clinclust.estimators.distinct_subtypes import distinct_subtypes as distinct_subtypes
from clinclust.estimators.explanation import continuum_score as continuum_score
from clinclust.estimators.explanation import unusual_subjects as unusual_subjects
from clinclust.estimators.gibbs import GibbsDP as GibbsDP
from clinclust.estimators.imputation import pool_estimates as pool_estimates
from clinclust.estimators.mapdp import MAPDP as MAPDP
from clinclust.estimators.partitioned import Site as Site
from clinclust.estimators.subtype_model import Partition as Partition
from clinclust.estimators.subtype_model import information_criteria as information_criteria
from clinclust.estimators.subtype_model import log_joint as log_joint
from clinclust.files.tables import read_cohort as read_cohort
from clinclust.outcomes import compare_outcomes as compare_outcomes
from clinclust.outcomes import subtype_predictors as subtype_predictors
from clinclust.reporting import write_report as write_report
from clinclust.reporting.subtype_table import subtype_table as subtype_table
from clinclust.schema import Feature as Feature
from clinclust.schema import FeatureSchema as FeatureSchema

__version__: str
