"""The examples say what they are there to say, and their models learn."""

import re

import numpy as np
import pytest


def test_cnn_digits_prints_both_losses_accuracy_and_bill(run_main, cnn_digits):
    out = run_main(cnn_digits, "--steps", "2")
    (gap,) = re.findall(r"2 steps, largest relative gap (\S+)", out)
    assert float(gap) < 1e-5
    cpu, simgpu = re.findall(r"(?:cpu|simgpu) +(\S+) at first", out)
    assert cpu == simgpu
    assert re.search(r"Accuracy +cpu \S+%, simgpu \S+%", out)
    assert "conv2d_kernels.py" in out
    assert "modelled on Tesla T4" in out


def test_tiny_gpt_prints_both_losses_accuracy_and_bill(run_main, tiny_gpt):
    out = run_main(tiny_gpt, "--steps", "1", "--gpu", "a100")
    assert re.search(r"1 steps, largest relative gap \d\.\de-0[5-9]", out)
    assert re.search(r"It writes +'the .{40}'", out)
    assert "layer_norm.py" in out
    assert "modelled on" in out


@pytest.mark.usefixtures("on_simgpu")  # for `.to`
def test_the_cnn_learns_an_epoch_of_all_digits(cnn_digits):
    losses, right, _ = cnn_digits.train("cpu")
    assert len(losses) == -(-1797 // cnn_digits.BATCH)
    assert np.mean(losses[-10:]) < 0.3 * np.mean(losses[:5])
    assert right > 0.7


@pytest.mark.usefixtures("on_simgpu")
def test_the_gpt_learns_the_text(tiny_gpt):
    losses, right, _ = tiny_gpt.train("cpu", 50)
    assert losses[-1] < 0.7 * losses[0]
    assert right > 0.3
    chance = np.log(len(tiny_gpt.LETTERS))
    assert abs(losses[0] - chance) < 0.5  # at first it knows nothing
