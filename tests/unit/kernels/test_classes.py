"""What is told of a number that is no class or row: all its digits, and the file."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.library import call

LOGITS = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (3.0, "3"),
        (2.9999998, "2.9999998"),
        (-1.0, "-1"),
        (1e10, "10000000000"),
        (np.nan, "nan"),
        (np.inf, "inf"),
        (-1e-7, "-0.0000001"),
    ],
)
def test_a_number_is_told_with_the_digits_that_tell_it_from_others(number, told):
    targets = cuda.to_device(np.float32([0, number]))
    with pytest.raises(OutOfBoundsError) as caught:
        call("cross_entropy", cuda.to_device(LOGITS), targets)
    assert caught.value.what == f"cross_entropy: {told} is none of 3 classes"


@pytest.mark.parametrize(
    ("op", "arrays", "parameters", "file"),
    [
        ("cross_entropy", (LOGITS, np.float32([0, 3])), {}, "losses.py"),
        (
            "cross_entropy_backward",
            (np.float32(1), LOGITS, np.float32([0, 3])),
            {},
            "losses.py",
        ),
        ("embedding", (LOGITS, np.int64([0, 2])), {}, "embedding.py"),
        (
            "embedding_backward",
            (LOGITS, np.int64([0, 2])),
            {"num_embeddings": 2},
            "embedding.py",
        ),
    ],
)
def test_the_file_of_the_kernel_is_told(op, arrays, parameters, file):
    there = [cuda.to_device(np.asarray(array)) for array in arrays]
    with pytest.raises(OutOfBoundsError) as caught:
        call(op, *there, **parameters)
    assert f"in tinytorch_gpu/kernels/{file}\n" in caught.value.where
    assert caught.value.facts["file"].endswith(file)
