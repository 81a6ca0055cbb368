"""Batches are where the Tensors of their dataset are."""

import numpy as np
import pytest

from tests.conformance.package import host
from tinytorch_gpu import profiler
from tinytorch_gpu.tinytorch import DataLoader, Tensor, TensorDataset

IMAGES, LABELS = np.arange(12, dtype=np.float32).reshape(4, 3), [0.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize("kind", [list, tuple])
def test_labels_on_a_device_go_back_there_by_one_copy_a_batch(kind, monkeypatch):
    plain = DataLoader._collate_batch
    monkeypatch.setattr(
        DataLoader, "_collate_batch", lambda self, s: plain(self, kind(s))
    )
    data = TensorDataset(Tensor(IMAGES).to("simgpu"), Tensor(LABELS).to("simgpu"))
    with profiler.profile() as prof:
        batches = list(DataLoader(data, 2))
    assert {t.device for batch in batches for t in batch} == {"simgpu:0"}
    assert [host(y).tolist() for _, y in batches] == [LABELS[:2], LABELS[2:]]
    copies = [r.reason for r in prof.events() if getattr(r, "direction", "") == "h2d"]
    assert copies == ["a batch of numbers"] * 2


def test_each_part_is_where_its_own_tensor_is():
    data = TensorDataset(Tensor(IMAGES).to("simgpu"), Tensor(LABELS))
    x, y = next(iter(DataLoader(data, 3)))
    assert (x.device, y.device) == ("simgpu:0", "cpu")


def test_a_dataset_without_tensors_gives_what_it_gives():
    samples = [(IMAGES[i], Tensor(LABELS[i])) for i in range(4)]
    x, y = next(iter(DataLoader(samples, 4)))
    assert (x.device, y.device) == ("cpu", "cpu")
    assert x.numpy().tolist() == IMAGES.tolist()
    assert y.numpy().tolist() == LABELS
