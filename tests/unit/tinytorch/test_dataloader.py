"""Datasets and batches: order, sizes, stacking."""

import random

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.dataloader import DataLoader, Dataset, TensorDataset
from tinytorch_gpu.tinytorch.tensor import Tensor

X, Y = np.arange(14).reshape(7, 2), np.arange(7)


def dataset():
    return TensorDataset(Tensor(X), Tensor(Y))


def test_a_sample_is_a_row_of_each_tensor():
    row, label = dataset()[2]
    assert (row.data.tolist(), label.data.tolist(), label.shape) == ([4, 5], 2, ())
    assert len(dataset()) == 7
    with pytest.raises(IndexError):
        dataset()[7]


@pytest.mark.parametrize(
    "tensors", [(), (Tensor(X), Tensor([1])), (Tensor(1),)], ids=["no", "uneven", "0-d"]
)
def test_rows_of_one_length_are_needed(tensors):
    with pytest.raises(ValueError, match="one length"):
        TensorDataset(*tensors)


@pytest.mark.parametrize("size", [1, 3, 7, 10])
def test_batches_cover_the_data_in_order(size):
    loader = DataLoader(dataset(), batch_size=size)
    batches = list(loader)
    assert len(batches) == len(loader) == -(-7 // size)
    assert all(len(labels.data) == size for _, labels in batches[:-1])
    np.testing.assert_array_equal(np.concatenate([x.data for x, _ in batches]), X)
    np.testing.assert_array_equal(np.concatenate([y.data for _, y in batches]), Y)


def test_shuffled_passes_differ_and_keep_rows_together():
    loader = DataLoader(dataset(), batch_size=7, shuffle=True)
    random.seed(3)
    (first,), (second,) = list(loader), list(loader)
    random.seed(3)
    (again,) = list(loader)
    assert sorted(first[1].data) == Y.tolist()
    np.testing.assert_array_equal(first[0].data, X[first[1].data.astype(int)])
    assert not np.array_equal(first[1].data, second[1].data)
    np.testing.assert_array_equal(first[1].data, again[1].data)


def test_any_dataset_of_tuples_will_do():
    class Squares(Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, idx):
            return np.full(2, idx), float(idx**2)

    ((rows, squares),) = DataLoader(Squares(), batch_size=5)
    assert rows.data.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert squares.data.tolist() == [0, 1, 4]
    with pytest.raises(TypeError, match="abstract"):
        Dataset()


def test_an_empty_dataset_has_no_batches():
    assert list(DataLoader(TensorDataset(Tensor(np.ones((0, 2)))), batch_size=2)) == []


@pytest.mark.parametrize("size", [0, -2])
def test_the_batch_size_is_positive(size):
    with pytest.raises(ValueError, match="at least 1"):
        DataLoader(dataset(), batch_size=size)
