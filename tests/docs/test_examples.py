"""The examples run, and show in numbers what they are there to show."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tinytorch_gpu import profiler
from tinytorch_gpu.trace import LaunchRecord

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def counts():
    """Run the examples; the counts of each kernel's only launch, by its name."""
    launches = []
    for name in ("reduction.py", "transpose.py"):
        with profiler.profile() as prof:
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        launches += [r for r in prof.events() if isinstance(r, LaunchRecord)]
    return {launch.kernel.name: launch.counts for launch in launches}


def _conflicts(counts):
    return sum(access.bank_conflicts for access in counts.accesses)


def _line(counts, text):
    """The counts of the only line that begins so."""
    (line,) = [line for line in counts.lines if line.line.text.startswith(text)]
    return line


# 100,000 elements: 391 blocks of 8 warps. Strides 1, 2, 4, 8 and 16 leave every warp
# some working and some idle lanes: 5 x 8 divergent warps of a block. At stride 32, 64
# and 128 the working threads are the first lanes of 4, 2 and 1 warps: 7 more.
def test_interleaved_sum_diverges(counts):
    line = _line(counts["sum_interleaved"], "if tid % (2 * stride)")
    assert (line.branches, line.divergent_branches) == (391 * 64, 391 * 47)
    assert _conflicts(counts["sum_interleaved"]) == 0


# Whole warps work at 128, 64 and 32 threads; one warp parts at 16, 8, 4, 2 and 1.
@pytest.mark.parametrize(
    ("kernel", "text"),
    [("sum_strided", "if left < BLOCK"), ("sum_sequential", "if tid < stride")],
)
def test_whole_warps_work(kernel, text, counts):
    line = _line(counts[kernel], text)
    assert (line.branches, line.divergent_branches) == (391 * 64, 391 * 5)


# Elements 2·stride apart share a bank when that is a multiple of 32 / n: passes of a
# request are min(2·stride, lanes). Stride 1: 4 warps x 2; 2: 2 x 4; 4: 1 x 8; 8: 16
# lanes in 2 banks, 8; 16: 8 lanes in 1 bank, 8; 32, 64, 128: 4, 2 and 1.
def test_strided_sum_has_bank_conflicts(counts):
    passes = 8 + 8 + 8 + 8 + 8 + 4 + 2 + 1
    requests = 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1
    accesses = 3  # tile[left] loaded and stored, tile[left + stride] loaded
    expected = 391 * accesses * (passes - requests)
    assert _conflicts(counts["sum_strided"]) == expected


def test_sequential_sum_has_no_conflict(counts):
    assert _conflicts(counts["sum_sequential"]) == 0


def test_shuffled_sum_needs_shared_memory_for_one_value_of_each_warp(counts):
    shared = [a for a in counts["sum_shuffled"].accesses if a.space == "shared"]
    assert sum(access.active_lanes for access in shared) == 391 * (8 + 8)


# 256 x 128 elements: 1,024 warps of 32 load and store.
@pytest.mark.parametrize(
    ("kernel", "store_sectors", "conflicts"),
    [
        ("transpose_naive", 32, 0),
        ("transpose_tile", 4, 1024 * 31),
        ("transpose_padded", 4, 0),
    ],
)
def test_transpose(kernel, store_sectors, conflicts, counts):
    sectors = {a.array: a.sectors_per_request for a in counts[kernel].global_accesses}
    assert sectors == {"a": 4, "out": store_sectors}
    assert _conflicts(counts[kernel]) == conflicts


@pytest.mark.parametrize(
    "command", [[], ["-m", "tinytorch_gpu.cli", "run"]], ids=["python", "simgpu"]
)
@pytest.mark.parametrize("name", ["reduction.py", "transpose.py"])
def test_an_example_runs_alone(command, name):
    words = [sys.executable, *command, str(EXAMPLES / name)]
    result = _run(words)
    assert (result.returncode, result.stderr) == (0, "")
    assert "NumPy" in result.stdout


# With only the import line changed; our names stand in for numba's where it is missing.
@pytest.mark.parametrize("name", ["reduction.py", "transpose.py"])
def test_an_example_runs_as_numba_s(name, tmp_path):
    text = (EXAMPLES / name).read_text("utf-8")
    ours = "from tinytorch_gpu import cuda"
    assert text.count(ours) == 1
    (tmp_path / name).write_text(text.replace(ours, "from numba import cuda"), "utf-8")
    words = ["-m", "tinytorch_gpu.cli", "run", str(tmp_path / name), "--trace"]
    result = _run([sys.executable, *words[:3], "--as-numba", *words[3:]])
    assert (result.returncode, result.stderr) == (0, "")
    assert max(map(len, result.stdout.splitlines())) <= 100


def _run(words):
    return subprocess.run(
        words,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
