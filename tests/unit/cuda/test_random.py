"""Kernels draw the numbers that numba draws, each thread from its own generator."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import random
from tinytorch_gpu.cuda.xoroshiro import first_states
from tinytorch_gpu.errors import (
    DtypeError,
    KernelTypeError,
    OutOfBoundsError,
    ShapeError,
)

# Read from numba-cuda 0.30.4: of four states with seed 1 each function of
# numba.cuda.random was called on the host for states 0 to 3, in this order.
NEXT = [
    0x22145BD91204B982, 0xE05863863B1A0286, 0xDEFFD0157988EAC6, 0xEFBD33EC49EB4AA2,
    0x60C88516F644812E, 0x35D4F476E08D5559, 0x7440E460BF94758F, 0xED8EF5C1B42D9B8E,
]  # fmt: skip
UNIFORM_32 = ["0x1.d82b7ep-3", "0x1.ad23a4p-2", "0x1.bbb4cap-1", "0x1.a345bcp-1"]
UNIFORM_64 = [
    "0x1.d77794357c9dap-2", "0x1.4a696847e78f0p-4",
    "0x1.308444807a225p-1", "0x1.91ecc7ca6153cp-1",
]  # fmt: skip
NORMAL_32 = [1.27061927318573, 1.0597236156463623, -0.2263726145029068, -0.424779087]
NORMAL_64 = [-1.115837369714288, 0.13002479342917764, 0.438082472918, -0.3711437250363]
AFTER_JUMP = [
    (0x0D55A149A983A5DF, 0x7B1B0803BFD83D14),
    (0x9644E776B3AF74E6, 0x4F165AB15D1B8A1A),
    (0x3CABF6EAA560BFA5, 0xE6DAA10A92E85093),
    (0xB36BA5347821FC62, 0xDC0BE56DEF236D40),
]


@cuda.jit
def draw_all(states, words, single, double, normal_single, normal_double):
    i = cuda.grid(1)
    if i < words.shape[0]:
        words[i, 0] = random.xoroshiro128p_next(states, i)
        words[i, 1] = random.xoroshiro128p_next(states, i)
        single[i] = random.xoroshiro128p_uniform_float32(states, i)
        double[i] = random.xoroshiro128p_uniform_float64(states, i)
        normal_single[i] = random.xoroshiro128p_normal_float32(states, i)
        normal_double[i] = random.xoroshiro128p_normal_float64(states, i)
        random.xoroshiro128p_jump(states, i)


def test_kernels_draw_numbas_numbers():
    states = random.create_xoroshiro128p_states(4, seed=1)
    words, single = np.zeros((4, 2), np.uint64), np.zeros(4, np.float32)
    double, normal_single, normal_double = np.zeros((3, 4))
    draw_all[1, 32](states, words, single, double, normal_single, normal_double)
    assert words.T.ravel().tolist() == NEXT
    assert single.tolist() == list(map(float.fromhex, UNIFORM_32))
    assert double.tolist() == list(map(float.fromhex, UNIFORM_64))
    # The logarithm and the cosine may differ in the last digit.
    assert normal_single == pytest.approx(NORMAL_32, rel=1e-6)
    assert normal_double == pytest.approx(NORMAL_64, rel=1e-6)
    assert [tuple(row) for row in states.copy_to_host().tolist()] == AFTER_JUMP


@cuda.jit
def fill(states, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(out.shape[1]):
            out[i, k] = random.xoroshiro128p_uniform_float32(states, i)


@cuda.jit
def fill_normal(states, out):
    i = cuda.grid(1)
    for k in range(out.shape[1]):
        out[i, k] = random.xoroshiro128p_normal_float64(states, i)


def test_numbers_are_uniform_and_normal():
    states = random.create_xoroshiro128p_states(256, seed=3)
    out = np.zeros((256, 64), np.float32)
    fill[4, 64](states, out)
    assert ((out >= 0) & (out < 1)).all()
    # Means of n numbers: 6 standard deviations of 1 / sqrt(12 n) and of 1 / sqrt(n).
    assert abs(out.mean() - 0.5) < 6 / np.sqrt(12 * out.size)
    normal = np.zeros((256, 64))
    fill_normal[4, 64](states, normal)
    assert abs(normal.mean()) < 6 / np.sqrt(normal.size)
    assert abs(normal.std() - 1) < 6 / np.sqrt(2 * normal.size)


def test_only_the_lanes_that_call_advance():
    states = random.create_xoroshiro128p_states(40, seed=8)
    fill[1, 64](states, np.zeros((3, 1), np.float32))
    before, after = first_states(40, seed=8), states.copy_to_host()
    assert (after[:3] != before[:3]).all()
    assert (after[3:] == before[3:]).all()


def test_states_can_be_set_again():
    states = random.create_xoroshiro128p_states(4, seed=1)
    random.init_xoroshiro128p_states(states, seed=-5, subsequence_start=2)
    expected = first_states(4, -5, 2)
    assert (states.copy_to_host() == expected).all()
    with pytest.raises(ShapeError):
        random.init_xoroshiro128p_states(cuda.device_array(4, np.uint64), seed=1)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint32])
def test_states_of_another_dtype_are_refused(dtype):
    states = cuda.to_device(np.zeros((4, 2), dtype))
    with pytest.raises(DtypeError):
        random.init_xoroshiro128p_states(states, seed=1)
    assert not states.copy_to_host().any()


def test_what_holds_no_states_is_refused():
    out = np.zeros((4, 1), np.float32)
    for wrong in (np.zeros(8, np.uint64), np.zeros((4, 2), np.int64)):
        with pytest.raises(KernelTypeError, match="no states") as caught:
            fill[1, 32](wrong, out)
        assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_a_generator_outside_the_array_is_a_fault():
    states = random.create_xoroshiro128p_states(4, seed=1)
    before = states.copy_to_host()
    with pytest.raises(OutOfBoundsError):
        fill[1, 32](states, np.zeros((5, 1), np.float32))
    assert (states.copy_to_host() == before).all()
