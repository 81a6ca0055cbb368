"""Train a convolutional network on handwritten digits, on the CPU and on simgpu.

Two convolutions with pooling and one linear layer, for one epoch over all 1,797 digits.
Only `.to(device)` differs between the two trainings. Every digit is told before the
network learns from it, so the accuracy is that on digits it has not seen.

    python examples/cnn_digits.py            # one epoch
    python examples/cnn_digits.py --steps 5  # a first look

prints the losses of both, the accuracy, and what the training costs on the GPU.
"""

import argparse
import time

import numpy as np

import tinytorch_gpu
from tinytorch_gpu import profiler, tinytorch
from tinytorch_gpu.demo import load_digits
from tinytorch_gpu.tinytorch import (
    SGD,
    Conv2d,
    CrossEntropyLoss,
    Flatten,
    Linear,
    MaxPool2d,
    ReLU,
    Sequential,
    Tensor,
)

BATCH = 32


def network():
    """Return the network: images (N, 1, 8, 8) to scores (N, 10), always the same."""
    for module in (tinytorch.layers, tinytorch.spatial):
        module.rng = np.random.default_rng(7)
    return Sequential(
        Conv2d(1, 8, 3, padding=1), ReLU(), MaxPool2d(2),  # (N, 8, 4, 4)
        Conv2d(8, 16, 3, padding=1), ReLU(), MaxPool2d(2),  # (N, 16, 2, 2)
        Flatten(), Linear(64, 10),
    )  # fmt: skip


def batches(steps=None):
    """Yield images (N, 1, 8, 8) and labels (N,) of each step of an epoch."""
    digits = load_digits()
    images = np.concatenate([digits.train_images, digits.test_images])
    labels = np.concatenate([digits.train_labels, digits.test_labels])
    stop = len(labels) if steps is None else min(steps * BATCH, len(labels))
    for start in range(0, stop, BATCH):
        part = slice(start, min(start + BATCH, stop))
        yield Tensor(images[part].reshape(-1, 1, 8, 8)), Tensor(labels[part])


def train(device, steps=None):
    """Train for an epoch, or some steps of it.

    Returns:
        The loss of each step, the share of digits that were told right in the second
        half of the steps, and the trained network.
    """
    model = network().to(device)
    optimizer = SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses, is_right = [], []
    for images, labels in batches(steps):
        scores = model(images.to(device))
        loss = CrossEntropyLoss()(scores, labels.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        told = np.argmax(scores.cpu().numpy(), axis=1)
        is_right.append(told == labels.numpy())
    late = np.concatenate(is_right[len(is_right) // 2 :])
    return losses, float(np.mean(late)), model


def main():
    """Train twice and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpu", default="t4", help="the GPU to model")
    parser.add_argument("--steps", type=int, help="steps, where not the whole epoch")
    options = parser.parse_args()
    with tinytorch_gpu.installed(options.gpu, tinytorch.__name__):
        expected, right, _ = train("cpu", options.steps)
        began = time.perf_counter()
        with profiler.profile() as prof:
            losses, right_there, _ = train("simgpu", options.steps)
        wall_s = time.perf_counter() - began
    gaps = [abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True)]
    print(f"Losses       {len(losses)} steps, largest relative gap {max(gaps):.1e}")
    print(f"  cpu        {expected[0]:.6f} at first, {expected[-1]:.6f} at last")
    print(f"  simgpu     {losses[0]:.6f} at first, {losses[-1]:.6f} at last")
    print(f"Accuracy     cpu {right:.1%}, simgpu {right_there:.1%} (second half)")
    print(f"Wall time    {wall_s:.1f} s on simgpu (measured)\n")
    print(f"{prof.key_averages().table()}\n\n{prof.verdict()}")


if __name__ == "__main__":
    main()
