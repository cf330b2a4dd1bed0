"""Reports of a table in partitions: comparisons of all subjects beside what the sample says."""

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit, schema_of

import clinclust as cc
from clinclust.estimators import partitioned as fitting

from .stand_in import sections_of, write_report

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

N, N_SAMPLED = 1_000, 300


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(5)
    groups = rng.choice(2, size=N, p=[0.6, 0.4])
    frame = pd.DataFrame({f"y{number}": rng.normal(3.0 * groups) for number in range(4)})
    frame["age"] = rng.normal(60 + groups, 8).round(1)
    return frame, schema_of(frame, age={"role": "describe"})


@pytest.fixture(scope="module")
def fitted(cohort):
    frame, schema = cohort
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "N_SAMPLED", N_SAMPLED)
        table = dd.from_pandas(frame, npartitions=3, sort=False)
        return quick_fit(table, schema, n_jobs=1, n_restarts=4), table


@pytest.mark.simulation
def test_the_numbers_of_a_report_are_those_of_all_subjects(fitted, cohort, tmp_path):
    model, _ = fitted
    frame, schema = cohort
    in_memory = cc.compare_subtypes(frame, model.labels_.compute().to_numpy(), schema)
    numbers = pd.read_csv(write_report(*fitted, tmp_path / "report.csv"))
    summaries = numbers[numbers["kind"] == "Summary"]
    means = in_memory[(in_memory["kind"] == "summary") & (in_memory["subtype"] > 0)]["mean"]
    for mean in means:
        assert np.isclose(summaries["mean"].dropna(), mean, rtol=1e-9).any()
    page = write_report(*fitted, tmp_path / "report.html").read_text()
    assert "among 1,000 subjects" in page
    n_sampled = len(model.in_sample()[1])
    assert (
        f"of all 1,000 rows of these subtypes, which are in partitions; everything else is of a sample of {n_sampled} "
        in page
    )
    for size in model.cluster_sizes_:
        assert f"{size:,}" in page


def test_a_shared_report_does_not_tell_the_size_of_the_sample(fitted, tmp_path):
    page = write_report(*fitted, tmp_path / "report.html", suppress=10).read_text()
    assert "everything else is of a sample of them" in page
    assert "Relevance (nats" not in page
    assert f" {len(fitted[0].in_sample()[1])} of them" not in page


def test_a_workbook_has_no_list_of_subjects(fitted, tmp_path):
    assert "Assignments" not in sections_of(write_report(*fitted, tmp_path / "report.xlsx"))


@pytest.mark.simulation
def test_a_table_that_is_its_own_sample_is_reported_as_in_memory(cohort, tmp_path):
    frame, schema = cohort
    table = dd.from_pandas(frame, npartitions=2, sort=False)
    model = quick_fit(table, schema, n_jobs=1)
    of_partitions = write_report(model, table, tmp_path / "a.csv").read_bytes()
    assert of_partitions == write_report(*model.in_sample(), tmp_path / "b.csv").read_bytes()
    assert "which are in partitions" not in write_report(model, table, tmp_path / "report.html").read_text()


def test_another_table_is_refused(fitted, cohort, tmp_path):
    model, _ = fitted
    frame, schema = cohort
    for table, of_model, said in (
        (dd.from_pandas(frame, npartitions=2, sort=False), model, "2 partitions, and that of the fit had 3"),
        (
            dd.from_pandas(frame, npartitions=3, sort=False),
            cc.Partition(np.zeros(N, int), schema, made_by="hand"),
            "in memory",
        ),
        (frame, model, "in_sample"),
    ):
        with pytest.raises(ValueError, match=said):
            cc.write_report(of_model, table, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_subtypes_without_a_subject_in_the_sample_are_left_out_with_a_warning(fitted, tmp_path):
    from clinclust.reporting.report import ReportOptions, comparisons_of_all

    model, table = fitted

    class WithAnother:
        n_clusters_, schema_, cluster_sizes_ = 3, model.schema_, np.append(model.cluster_sizes_, 2)
        labels_ = model.labels_.map_partitions(
            lambda own: own.where(own.index % 500 != 0, 2), meta=("subtype", "int64")
        )
        in_sample = model.in_sample

    with pytest.warns(cc.CohortWarning, match="1 of 3 subtypes, of 2 subjects in all"):
        found = comparisons_of_all(WithAnother(), table, ReportOptions(progress=False))
    assert set(found["subtype"].dropna()) == {0, 1, 2}
    assert found[(found["kind"] == "summary") & (found["subtype"] == 0)]["n"].eq(N - 2).all()
