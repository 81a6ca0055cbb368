"""Findings on layouts and lanes of kernels that run: what the cure then gives."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.profiler.cures import (  # noqa: F401  (t4 is a fixture)
    HALF,
    ONE,
    divided,
    finding,
    judged,
    t4,
)
from tinytorch_gpu import cuda


@cuda.jit
def rows(m, out):
    i = cuda.grid(1)
    sum_ = np.float32(0)
    for k in range(m.shape[1]):
        sum_ += m[i, k]
    out[i] = sum_


@cuda.jit
def columns(m, out):
    i = cuda.grid(1)
    sum_ = np.float32(0)
    for k in range(m.shape[0]):
        sum_ += m[k, i]
    out[i] = sum_


GPUS = ["t4", "a100", "h100"]


@pytest.mark.parametrize("gpu", GPUS)
def test_neighbours_in_a_row_save_what_they_give(gpu):
    """Each of their loads comes to new sectors, where one of 8 did before."""
    simgpu.install(gpu=gpu)
    tall = cuda.device_array((4096, 1024), np.float32)
    wide = cuda.device_array((1024, 4096), np.float32)
    for m in (tall, wide):
        m.copy_to_device(np.ones(m.shape, np.float32))
    out = cuda.device_array(4096, np.float32)
    before = judged(lambda: rows[16, 256](tall, out))
    after = judged(lambda: columns[16, 256](wide, out))
    found = finding(before, "uncoalesced")
    saved = before.elapsed_ns - after.elapsed_ns
    assert found.saves_ns == pytest.approx(saved, rel=0.1)
    assert finding(after, "uncoalesced") is None


@cuda.jit
def squares_of_a_field(p, out):
    i = cuda.grid(1)
    out[i] = p[i, 0] * p[i, 0]


@cuda.jit
def squares(p, out):
    i = cuda.grid(1)
    out[i] = p[0, i] * p[0, i]


@cuda.jit
def two_fields(p, out):
    i = cuda.grid(1)
    out[i] = p[i, 0] * p[i, 1]


@cuda.jit
def two_rows(p, out):
    i = cuda.grid(1)
    out[i] = p[0, i] * p[1, i]


@cuda.jit
def four_fields(p, out):
    i = cuda.grid(1)
    out[i] = p[i, 0] + p[i, 1] + p[i, 2] + p[i, 3]


@cuda.jit
def four_rows(p, out):
    i = cuda.grid(1)
    out[i] = p[0, i] + p[1, i] + p[2, i] + p[3, i]


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize(
    ("fields", "arrays"),
    [(squares_of_a_field, squares), (two_fields, two_rows), (four_fields, four_rows)],
)
def test_an_array_for_each_field_saves_what_it_gives(gpu, fields, arrays):
    """Fields that are all used come with the sector of the first."""
    simgpu.install(gpu=gpu)
    p = cuda.to_device(np.ones((2**20, 4), np.float32))
    q = cuda.to_device(np.ones((4, 2**20), np.float32))
    out = cuda.device_array(2**20, np.float32)
    before = judged(lambda: fields[2**12, 256](p, out))
    after = judged(lambda: arrays[2**12, 256](q, out))
    found = finding(before, "uncoalesced")
    saved = before.elapsed_ns - after.elapsed_ns
    promised = found.saves_ns if found else 0.0
    assert promised == pytest.approx(saved, rel=0.02, abs=0.02 * before.elapsed_ns)
    assert (found is None) is ("Let neighbouring lanes" not in before.sentences[1])


@cuda.jit
def multiplied(x, out, by):
    value, inverse = x[cuda.grid(1)], ONE / by
    for _ in range(100):
        value = value * inverse + HALF
    out[cuda.grid(1)] = value


@cuda.jit
def only_divided(x, out, by):
    value = x[cuda.grid(1)]
    for _ in range(100):
        value = value / by
    out[cuda.grid(1)] = value


@cuda.jit
def only_multiplied(x, out, by):
    value, inverse = x[cuda.grid(1)], ONE / by
    for _ in range(100):
        value = value * inverse
    out[cuda.grid(1)] = value


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize(
    ("slow", "fast"), [(divided, multiplied), (only_divided, only_multiplied)]
)
def test_products_save_what_they_give_in_place_of_divisions(gpu, slow, fast):
    """A product fuses with the sum that takes it, which a quotient does not."""
    simgpu.install(gpu=gpu)
    x = cuda.to_device(np.ones(2**20, np.float32))
    out = cuda.device_array(2**20, np.float32)
    by = np.float32(3)
    before = judged(lambda: slow[2**12, 256](x, out, by))
    after = judged(lambda: fast[2**12, 256](x, out, by))
    found = finding(before, "special functions")
    saved = before.elapsed_ns - after.elapsed_ns
    promised = found.saves_ns if found else 0.0
    assert promised == pytest.approx(saved, abs=0.03 * before.elapsed_ns)


@cuda.jit
def loads_by_lanes(x, out, turns):
    i, sum_ = cuda.grid(1), np.float32(0)
    if i % 2:
        for k in range(turns):
            sum_ += x[(i + k * 1024) % x.size]
    else:
        for k in range(turns):
            sum_ -= x[(i + k * 1024 + 512) % x.size]
    out[i] = sum_


@cuda.jit
def loads_by_warps(x, out, turns):
    i, sum_ = cuda.grid(1), np.float32(0)
    if (i // 32) % 2:
        for k in range(turns):
            sum_ += x[(i + k * 1024) % x.size]
    else:
        for k in range(turns):
            sum_ -= x[(i + k * 1024 + 512) % x.size]
    out[i] = sum_


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("blocks", [20, 2048])
def test_branches_by_warps_save_what_they_give_to_loads(gpu, blocks):
    """A warp's half-empty requests become whole ones, half as many."""
    simgpu.install(gpu=gpu)
    x = cuda.to_device(np.ones(2**20, np.float32))
    out = cuda.device_array(256 * blocks, np.float32)
    before = judged(lambda: loads_by_lanes[blocks, 256](x, out, 64))
    after = judged(lambda: loads_by_warps[blocks, 256](x, out, 64))
    found = finding(before, "divergence")
    saved = before.elapsed_ns - after.elapsed_ns
    assert found.saves_ns == pytest.approx(saved, rel=0.1)
    assert finding(before, "uncoalesced") is None
