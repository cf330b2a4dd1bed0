"""Problems of the search for the tests of the engine, and the law that scores are differences of their log joints."""

import numpy as np
import pytest
from cohorts import gaussian_schema, mixed_cohort

from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.problem import joint_of, pose


def problem_of(frame, schema=None, hyperparameters=None, concentration=3.0, **numbers):
    """Return the problem of a table; without a schema, every column is Gaussian."""
    schema = schema or gaussian_schema(frame)
    return pose(schema.validate(frame, warn=False), schema, hyperparameters, concentration, **numbers)


def mixed_problem(seed, n, coarsening=1.0, **options):
    """Return the problem of a mixed cohort."""
    frame, schema, _, _ = mixed_cohort(seed, n, **options)
    return problem_of(frame, schema, coarsening=coarsening)


def scores_of(problem, labels):
    """Return the score of each subject in each cluster and in a new one, (N, K + 1)."""
    scores = np.zeros((labels.size, labels.max() + 2))
    write_scores(problem.cohort.arrays, problem.model, problem.partition(labels), scores)
    return scores


def joint_with_gaps(problem, labels):
    """Return the log joint of labels that may lack some numbers."""
    return joint_of(problem, np.unique(labels, return_inverse=True)[1])


def assert_scores_are_differences_of_the_joint(problem, labels, atol=1e-9, rtol=1e-8):
    """Two scores of a subject differ by as much as the log joints with the subject in either cluster."""
    scores, here = scores_of(problem, labels), joint_with_gaps(problem, labels)
    for subject, own in enumerate(labels):
        for cluster in range(scores.shape[1]):
            moved = labels.copy()
            moved[subject] = cluster
            if cluster == labels.max() + 1 and (labels == own).sum() == 1:
                moved = labels  # a new cluster instead of one's own changes nothing
            difference = joint_with_gaps(problem, moved) - here
            assert scores[subject, cluster] - scores[subject, own] == pytest.approx(difference, abs=atol, rel=rtol)
