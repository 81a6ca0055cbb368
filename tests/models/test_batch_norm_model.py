"""A network with batch norm, mean pooling and dropout: buffers, masks, evaluation."""

import numpy as np
import pytest

from tinytorch_gpu import profiler, tinytorch
from tinytorch_gpu.tinytorch import (
    AdamW,
    AvgPool2d,
    BatchNorm2d,
    Conv2d,
    CrossEntropyLoss,
    Dropout,
    Flatten,
    Linear,
    ReLU,
    Sequential,
)
from tinytorch_gpu.trace import CopyRecord, OpRecord

STEPS = 3


def train(device, batches):
    """Return losses, the norm's running means and variances, and scores in evaluation."""
    for module in (tinytorch.layers, tinytorch.spatial):
        module.rng = np.random.default_rng(2)
    # No bias: batch norm takes it away again, and AdamW would follow its rounding.
    conv, norm = Conv2d(1, 4, 3, stride=2, padding=1, bias=False), BatchNorm2d(4)
    parts = conv, norm, ReLU(), AvgPool2d(2)
    model = Sequential(*parts, Dropout(0.25), Flatten(), Linear(16, 10)).to(device)
    optimizer, losses = AdamW(model.parameters(), lr=0.01), []
    for images, labels in batches:
        loss = CrossEntropyLoss()(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    norm.eval()
    scores = model(batches[0][0].to(device), training=False).cpu().data
    model.to("cpu")
    return losses, norm.running_mean, norm.running_var, scores


@pytest.mark.usefixtures("on_simgpu")
def test_it_trains_as_on_the_cpu(cnn_digits):
    batches = list(cnn_digits.batches(STEPS))
    expected = train("cpu", batches)
    with profiler.profile() as prof:
        found = train("simgpu", batches)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
    records = list(prof.events())
    served = {r.op for r in records if isinstance(r, OpRecord) and r.key == "SimGPU"}
    for op in ("batch_norm", "avg_pool2d", "conv2d"):
        assert {f"tinytorch::{op}", f"tinytorch::{op}_backward"} <= served
    copies = [r for r in records if isinstance(r, CopyRecord)]
    mask = cnn_digits.BATCH * 16 * 4
    masks = [r for r in copies if (r.direction, r.bytes) == ("h2d", mask)]
    assert [r.op for r in masks] == [""] * STEPS
    assert all(r.reason for r in copies)
