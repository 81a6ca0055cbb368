"""The demo: both trainings agree, and each figure is what was counted."""

import json
from pathlib import Path

import pytest

import tinytorch_gpu
from tinytorch_gpu import cli, cuda, library
from tinytorch_gpu.demo import run_demo
from tinytorch_gpu.runtime.device import current_device

PACKAGE = Path(tinytorch_gpu.__file__).parent


@pytest.fixture(scope="module")
def report():
    current_device().replays.clear()  # else an earlier test's launches are taken over
    return run_demo(epochs=1)


@pytest.fixture(scope="module")
def large_batches(report):
    """Six steps instead of 45, after the launches of `report` were kept to replay."""
    return run_demo(epochs=1, batch=256)


@pytest.fixture(scope="module")
def copied_and_resident():
    """Four epochs, whose images are copied batch by batch, or once."""
    return [run_demo(epochs=4, batch=256, resident=r) for r in (False, True)]


def test_one_epoch_learns_and_both_devices_agree(report):
    assert report.simgpu.accuracy == report.cpu.accuracy > 0.8
    assert report.max_relative_loss_difference < 1e-4
    assert len(report.simgpu.losses) == 45


def test_every_op_names_a_shipped_kernel_or_what_it_decomposed_into(report):
    for row in report.averages:
        if row.op in {"tinytorch::to", "tinytorch::item"}:
            assert row.h2d_bytes + row.d2h_bytes > 0
            assert not row.launches
        elif row.is_decomposed:
            assert row.decomposed_into
            assert not row.launches
        else:
            assert row.launches
            assert all(Path(k.file).parent == PACKAGE / "kernels" for k in row.kernels)


def test_bytes_are_those_of_the_data(report):
    to = next(row for row in report.averages if row.op == "tinytorch::to")
    parameters = (64 * 32 + 32 + 32 * 10 + 10) * 4
    batches = 1437 * 65 * 4  # 64 pixels and a label each, float32
    test_images = 360 * 64 * 4
    assert to.h2d_bytes == parameters + batches + test_images
    assert to.d2h_bytes == 360 * 10 * 4
    item = next(row for row in report.averages if row.op == "tinytorch::item")
    assert item.d2h_bytes == 45 * 4


def test_shares_add_up_and_launches_are_traced_or_replayed(report):
    figures = report.to_dict()
    assert sum(row["share"] for row in figures["ops"]) == pytest.approx(1.0)
    totals = figures["totals"]
    traced = totals["traced_launches"] + totals["replayed_launches"]
    assert traced == totals["launches"] == sum(r.launches for r in report.averages)
    assert 0 < totals["traced_launches"] < 100


def h2d_bytes(report):
    return sum(row.h2d_bytes for row in report.averages)


def test_a_larger_batch_needs_fewer_steps(report, large_batches):
    assert len(large_batches.simgpu.losses) == len(large_batches.cpu.losses) == 6
    assert large_batches.max_relative_loss_difference < 1e-4
    assert h2d_bytes(large_batches) == h2d_bytes(report)
    assert large_batches.verdict.elapsed_ns < report.verdict.elapsed_ns


def test_resident_images_are_copied_once(copied_and_resident):
    plain, resident = copied_and_resident
    assert resident.max_relative_loss_difference < 1e-4
    assert h2d_bytes(plain) - h2d_bytes(resident) == 3 * 1437 * 65 * 4
    assert resident.verdict.transfer_ns < plain.verdict.transfer_ns


def test_pinned_batches_are_copied_faster():
    plain, pinned = (
        run_demo(epochs=1, batch=1437, pinned=pinned) for pinned in (False, True)
    )
    assert pinned.simgpu.losses == plain.simgpu.losses
    assert h2d_bytes(pinned) == h2d_bytes(plain)
    assert pinned.verdict.transfer_ns < plain.verdict.transfer_ns


def test_replaying_changes_no_figure(large_batches):
    with tinytorch_gpu.settings.override(replay=False):
        traced = run_demo(epochs=1, batch=256).to_dict()
    replayed = large_batches.to_dict()
    assert replayed["totals"]["replayed_launches"] > 100
    assert traced["totals"]["replayed_launches"] == 0
    for figures in (traced, replayed):
        del figures["wall_s"], figures["totals"]["traced_launches"]
        del figures["totals"]["replayed_launches"]
    assert traced == replayed


def test_a_wrong_kernel_changes_the_named_file_and_the_loss(large_batches):
    @cuda.jit
    def wrong_relu_kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * x[i]

    def wrong_relu(x):
        out = cuda.device_array_like(x)
        wrong_relu_kernel[(x.size + 255) // 256, 256](x.reshape(-1), out.reshape(-1))
        return out

    with library.override("tinytorch::relu", "simgpu", wrong_relu):
        wrong = run_demo(epochs=1, batch=256)
    assert wrong.cpu.losses == large_batches.cpu.losses
    assert wrong.simgpu.losses != large_batches.simgpu.losses
    (kernel,) = next(r for r in wrong.averages if r.op == "tinytorch::relu").kernels
    assert (kernel.name, kernel.file) == ("wrong_relu_kernel", __file__)


def test_the_command_prints_and_writes_the_same_figures(tmp_path, capsys):
    path = tmp_path / "bill.json"
    words = ["demo", "--epochs", "1", "--gpu", "toy", "--batch", "64", "--resident"]
    assert cli.main([*words, "--json", str(path)]) == 0
    text = capsys.readouterr().out
    assert "batches of 64," in text
    figures = json.loads(path.read_text())
    assert "modelled on toy GPU" in text
    assert figures["verdict"] in text
    assert f"{figures['accuracy']['simgpu']:.1%}" in text
    keys = "op calls launches kernel decomposed sectors_per_request"
    keys += " h2d_bytes d2h_bytes modelled_us share"
    assert all(list(row) == keys.split() for row in figures["ops"])


def test_a_wrong_gpu_is_told_in_four_parts(capsys):
    assert cli.main(["demo", "--gpu", "voodoo2"]) == 2
    error = capsys.readouterr().err
    assert all(part in error for part in ("GPUNotFoundError", "where", "why", "fix"))


def test_devices_lists_every_preset(capsys):
    assert cli.main(["devices"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in tinytorch_gpu.gpu_names())


def test_devices_tells_everything_about_one(capsys):
    assert cli.main(["devices", "rtx 3090"]) == 0
    assert "num_sms                        82" in capsys.readouterr().out
    assert cli.main(["devices", "voodoo2"]) == 2
    assert "GPUNotFoundError" in capsys.readouterr().err


def test_the_verdict_moves_with_the_batch_and_where_the_data_lies(
    report, copied_and_resident
):
    """A small batch waits for the host; once the images stay, nothing says so again."""
    assert report.verdict.dominant == "launch overhead"
    assert run_demo(epochs=1, batch=1437).verdict.dominant == "kernels"
    kinds = [{f.kind for f in run.verdict.findings} for run in copied_and_resident]
    assert [("keep it on the device" in kind) for kind in kinds] == [True, False]
