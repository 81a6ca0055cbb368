"""The demo trains to the same losses with fused kernels, and pays a smaller bill."""

import pytest

from tinytorch_gpu.demo import run_demo


@pytest.fixture(scope="module")
def reports():
    return [run_demo(epochs=1, fused=fused) for fused in (False, True)]


def total(report, name):
    return report.to_dict()["totals"][name]


def test_the_losses_are_the_same_to_the_last_bit(reports):
    plain, fused = reports
    assert plain.simgpu.losses == fused.simgpu.losses
    assert plain.simgpu.accuracy == fused.simgpu.accuracy
    assert plain.cpu.losses == fused.cpu.losses
    assert fused.max_relative_loss_difference < 1e-5


def test_the_bill_is_smaller(reports):
    plain, fused = reports
    assert total(fused, "launches") < 0.7 * total(plain, "launches")
    assert total(fused, "modelled_us") < 0.75 * total(plain, "modelled_us")


def test_the_fused_kernels_are_in_the_bill(reports):
    rows = {row["op"]: row for row in reports[1].to_dict()["ops"]}
    assert rows["fused::bias_relu"]["launches"] == 46  # 45 steps and the test images
    assert rows["fused::sgd_step"]["launches"] == 45
