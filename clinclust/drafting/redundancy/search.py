"""Find all kinds of redundancy in a table, the surest first; what one kind explains is not offered by the next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.arithmetic import computed_columns
from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.following import pairs_that_follow
from clinclust.drafting.redundancy.functions import columns_that_follow
from clinclust.drafting.redundancy.identical import identical_columns
from clinclust.drafting.redundancy.items import items_of_instruments
from clinclust.drafting.redundancy.one_question import levels_of_one_question
from clinclust.drafting.redundancy.outcomes import outcome_columns
from clinclust.drafting.redundancy.repeated import repeated_measurements
from clinclust.drafting.redundancy.screening import rank_dependence
from clinclust.drafting.redundancy.totals import totals_of_items

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["redundancies"]


def redundancies(frame: pd.DataFrame, schema: FeatureSchema) -> list[Redundancy]:
    """Return what the columns of a table repeat of each other, in the order of the table.

    Searches run on at most 4,000 subjects, drawn with a fixed seed. What is said of all subjects was seen in all,
    except for formulas and rank correlations, which are those of the sample.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        The table that `schema.validate` returned.
    schema : FeatureSchema
        Its features with role cluster or describe are compared. Columns with role id or ignore are not read.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> from clinclust.drafting.redundancy import applied, redundancies
    >>> nodes = np.random.default_rng(0).poisson(3, 200)
    >>> cohort = pd.DataFrame({"nodes": nodes, "four_or_more_nodes": (nodes >= 4).astype(int)})
    >>> schema = cc.FeatureSchema(
    ...     [
    ...         cc.Feature(name="nodes", likelihood="poisson"),
    ...         cc.Feature(name="four_or_more_nodes", likelihood="bernoulli"),
    ...     ]
    ... )
    >>> found = redundancies(schema.validate(cohort), schema)
    >>> [finding.reason for finding in found]
    ['four_or_more_nodes is a coarser form of nodes in all 200 subjects']
    >>> [feature.role for feature in applied(schema, found)]
    ['cluster', 'describe']
    """
    columns = Columns(frame, schema)
    taken = {feature.block for feature in schema if feature.block is not None}
    with np.errstate(all="ignore"):  # numbers may be of any size; what is not finite is no evidence
        found = _found(columns, taken)
    position = {name: place for place, name in enumerate(columns.names)}
    return sorted((_in_its_block(finding, schema) for finding in found), key=lambda one: position[one.columns[0]])


def _found(columns: Columns, taken: set[str]) -> list[Redundancy]:
    varying = columns.varying()
    if varying.size < 2:
        return []
    outcomes = outcome_columns(columns, varying)
    labels = _indices(columns, outcomes, described=True)
    twins, follows = pairs_that_follow(columns, rank_dependence(columns))
    found = outcomes + [_as_outcome(one, labels, columns) for one in identical_columns(columns, twins, taken)]
    gone = _indices(columns, found, described=True)
    found += [_as_outcome(one, labels, columns) for one in columns_that_follow(columns, follows, gone)]
    for search in (totals_of_items, computed_columns, levels_of_one_question):
        found += search(columns, _left(columns, varying, found), taken)
    found += items_of_instruments(columns, _left(columns, varying, found), taken, found)
    return found + repeated_measurements(columns, _left(columns, varying, found), taken)


def _left(columns: Columns, varying: NDArray[np.int64], found: list[Redundancy]) -> NDArray[np.int64]:
    """Return the columns that are neither described nor in a block yet."""
    gone = _indices(columns, found, described=True) | _indices(columns, found, described=False)
    return np.array([index for index in varying if index not in gone], dtype=np.int64)


def _as_outcome(finding: Redundancy, labels: set[int], columns: Columns) -> Redundancy:
    """Return a finding on the twins of an outcome, or on what follows from one, as a finding on outcomes."""
    told = [name for name in finding.columns if columns.names.index(name) in labels]
    if finding.kind == "outcome" or not told:
        return finding
    others = tuple(name for name in finding.columns if name not in told)
    if finding.kind == "function" and finding.described != others:
        return finding  # an outcome that follows from a feature is described as an outcome
    reason = f"{finding.reason}; {told[0]} is an outcome or a label"
    return replace(finding, kind="outcome", proposal="describe", keep=None, block=None, described=others, reason=reason)


def _indices(columns: Columns, found: list[Redundancy], *, described: bool) -> set[int]:
    """Return the columns that findings take out of the clustering, or those that they put into blocks."""
    names: set[str] = set()
    for finding in found:
        names.update(finding.described if described else finding.columns if finding.block else ())
    return {columns.names.index(name) for name in names}


def _in_its_block(finding: Redundancy, schema: FeatureSchema) -> Redundancy:
    """Return the finding with the name of the block that its columns have already, if they have one."""
    names = {block for name in finding.columns if (block := schema[name].block) is not None}
    return replace(finding, block=names.pop()) if finding.block is not None and len(names) == 1 else finding
