"""Cross-entropy and its gradient against NumPy in float64."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import OutOfBoundsError, ShapeError
from tinytorch_gpu.kernels.losses import (
    cross_entropy,
    cross_entropy_backward,
    cross_entropy_threads_kernel,
)

SHAPES = [(1, 1), (4, 3), (32, 10), (7, 33), (3, 700)]


def reference(logits, targets):
    shifted = logits - logits.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    rows = np.arange(len(targets))
    gradient = np.exp(logs)
    gradient[rows, targets] -= 1
    return -logs[rows, targets].mean(), gradient / len(targets)


@pytest.mark.parametrize("target_dtype", ["float32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_loss_and_gradient(shape, dtype, target_dtype, pair, close):
    a, x = pair(shape, dtype, low=-9, high=9)
    chosen = np.random.default_rng(0).integers(0, shape[1], shape[0])
    targets = cuda.to_device(chosen.astype(target_dtype))
    loss, gradient = reference(a.astype("f8"), chosen)
    grad = cuda.to_device(np.array(2.0, dtype))
    close(cross_entropy(x, targets), loss, dtype)
    close(cross_entropy_backward(grad, x, targets), 2 * gradient, dtype)


@pytest.mark.parametrize("shape", [(5, 4), (5, 40)], ids=str)
def test_transposed_logits(shape, pair, close):
    a, x = pair(shape, order=(1, 0))
    chosen = np.arange(5) % 4
    targets = cuda.to_device(chosen.astype(np.float32))
    loss, gradient = reference(a.astype("f8"), chosen)
    grad = cuda.to_device(np.float32([1]))
    close(cross_entropy(x, targets), loss)
    close(cross_entropy_backward(grad, x, targets), gradient)


@pytest.mark.parametrize("classes", [3, 70])
def test_unsigned_logits_do_not_wrap_around(classes, close):
    a = (np.arange(2 * classes, dtype=np.uint8) * 7 % 31).reshape(2, classes)
    x, targets = cuda.to_device(a), cuda.to_device(np.array([1, 2]))
    loss, gradient = reference(a.astype("f8"), [1, 2])
    grad = cuda.to_device(np.array(1.0))
    close(cross_entropy(x, targets), loss, "float64")
    close(cross_entropy_backward(grad, x, targets), gradient, "float64")


@pytest.mark.parametrize("classes", [10, 64])
def test_launches_and_replay(classes, launches, pair):
    _, x = pair((32, classes))
    targets, others = (cuda.to_device(np.full(32, i, np.float32)) for i in (1, 2))
    records = launches(lambda: cross_entropy(x, targets))
    assert len(records) == 2
    assert all(r.counts.total("fp64") == 0 for r in records)
    assert all(r.is_replayed for r in launches(lambda: cross_entropy(x, others)))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("classes", [10, 64])
@pytest.mark.parametrize("wrong", [10, 64, -1, 0.5, np.nan, np.inf, 2.0**40])
def test_a_target_that_is_no_class_is_told(wrong, classes, dtype, pair, launches):
    if (dtype == "int64" and wrong % 1 != 0) or wrong == 10 < classes:
        pytest.skip("it is no such number, or a class")
    _, x = pair((3, classes))
    targets = cuda.to_device(np.array([0, wrong, wrong]).astype(dtype))
    grad = cuda.to_device(np.float32([1]))
    for op in (
        lambda: cross_entropy(x, targets),
        lambda: cross_entropy_backward(grad, x, targets),
    ):
        with pytest.raises(
            OutOfBoundsError, match=f"none of {classes} classes"
        ) as told:
            op()
        assert told.value.place == 1
        assert told.value.index == pytest.approx(wrong, nan_ok=True)
        assert "cross_entropy" in told.value.kernel
        assert "thread" in told.value.where
        assert "number 1 of 3, and 1 more" in told.value.where


def test_a_target_that_is_no_class_changes_nothing(pair):
    _, x = pair((40, 3))
    targets = cuda.to_device(np.float32([0] * 39 + [3]))
    losses = cuda.to_device(np.full(40, 7, np.float32))
    with pytest.raises(AssertionError):
        cross_entropy_threads_kernel[2, 32](x, targets, losses)
    assert set(losses.copy_to_host()) == {7}


def test_no_rows(close):
    x, targets = cuda.device_array((0, 3), np.float32), cuda.device_array(0, np.float32)
    assert np.isnan(cross_entropy(x, targets).item())
    grad = cuda.to_device(np.array(1, np.float32))
    assert cross_entropy_backward(grad, x, targets).shape == (0, 3)


@pytest.mark.parametrize(
    ("logits", "targets"),
    [((4, 3), (3,)), ((4,), (4,)), ((4, 0), (4,)), ((2, 3), (2, 1))],
)
def test_shapes_are_refused_before_any_launch(logits, targets, launches):
    x, y = cuda.device_array(logits, np.float32), cuda.device_array(targets, np.float32)
    grad = cuda.device_array((2,), np.float32)

    def attempt():
        with pytest.raises(ShapeError, match="logits") as caught:
            cross_entropy(x, y)
        assert caught.value.shapes == (logits, targets)
        with pytest.raises(ShapeError, match="grad has shape"):
            cross_entropy_backward(
                grad, cuda.device_array((2, 3)), cuda.device_array((2,))
            )

    assert not launches(attempt)
