"""The relaxation of DP-means is below all partitions, and its eigenvectors are those of the kernel matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import partitions

from clinclust import methods
from clinclust.errors import InputError
from clinclust.methods.dp_means import penalised_sum
from clinclust.methods.spectral_dp_means import relaxed_dp_means

EVERY = [np.array(one) for one in partitions(6)]


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 30.0))
def test_no_partition_is_below_the_bound(seed, penalty):
    rng = np.random.default_rng(seed)
    values = rng.normal(3.0 * rng.integers(3, size=(6, 1)), 1.0, (6, 3))
    relaxed = relaxed_dp_means(values, penalty, None)
    assert relaxed.bound <= min(penalised_sum(values, labels, penalty) for labels in EVERY) + 1e-9


@given(st.integers(0, 2**32 - 1), st.floats(0.5, 20.0))
def test_lemma_5_1_and_theorem_5_2(seed, penalty):
    values = np.random.default_rng(seed).normal(size=(8, 3))
    values -= values.mean(axis=0)
    kernel, relaxed = values @ values.T, relaxed_dp_means(values, penalty, None)
    eigenvalues = np.linalg.eigvalsh(kernel)[::-1]
    assert relaxed.rows.shape[1] == (eigenvalues > penalty).sum()
    np.testing.assert_allclose(relaxed.eigenvalues, eigenvalues[: relaxed.eigenvalues.size])
    y = np.column_stack([np.full(8, 8.0**-0.5), relaxed.rows])
    np.testing.assert_allclose(y.T @ y, np.eye(y.shape[1]), atol=1e-9)
    assert relaxed.bound == pytest.approx(np.trace(kernel) - np.trace(y.T @ (kernel - penalty * np.eye(8)) @ y))
    labels = np.random.default_rng(seed).integers(0, 3, 8)
    labels = np.unique(labels, return_inverse=True)[1]
    z = np.eye(labels.max() + 1)[labels]
    y = z / np.sqrt(z.sum(axis=0))
    by_trace = np.trace(kernel) - np.trace(y.T @ (kernel - penalty * np.eye(8)) @ y)
    assert penalised_sum(values, labels, penalty) == pytest.approx(by_trace)


def test_wished_numbers_and_what_cannot_be_had():
    rng = np.random.default_rng(0)
    values = rng.normal(6.0 * np.eye(3)[np.repeat(np.arange(3), 30)], 1.0)
    for k in (1, 2, 3):
        model = methods.SpectralDPMeans(n_clusters=k, random_state=0).fit(values)
        assert model.n_clusters_ == k
        assert model.bound_ <= model.objective_
        peer = methods.DPMeans(penalty=model.penalty_, random_state=0).fit(values)
        assert model.bound_ <= peer.objective_
    assert model.cluster_sizes_.tolist() == [30, 30, 30]
    with pytest.raises(InputError, match="n_clusters asks for 4 eigenvalues above 0, and there are 3"):
        methods.SpectralDPMeans(n_clusters=5).fit(values)
    with pytest.raises(InputError, match=r"give either penalty or n_clusters \(how many clusters are wished\)"):
        methods.SpectralDPMeans().fit(values)
