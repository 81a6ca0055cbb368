"""Names of the thread: geometry on the device, a clear refusal on the host."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import blockDim, blockIdx, grid, gridDim, threadIdx
from tinytorch_gpu.cuda.intrinsics import with_name
from tinytorch_gpu.errors import KernelSyntaxError, KernelTypeError


@cuda.jit
def bare_names(out):
    i = grid(1)
    out[i] = threadIdx.x + blockIdx.x * blockDim.x + gridDim.x * 1000


def test_names_imported_one_by_one():
    out = np.zeros(96, np.int32)
    bare_names[3, 32](out)
    assert out.tolist() == [i + 3000 for i in range(96)]


@cuda.jit
def lanes(out):
    i = cuda.grid(1)
    out[i] = cuda.laneid + cuda.warpsize * 100


def test_lane_ids_follow_the_linear_thread_number():
    out = np.zeros(80, np.int32)
    lanes[2, 40](out)
    assert out.tolist() == [t % 32 + 3200 for t in range(40)] * 2


@cuda.jit
def lanes_3d(out):
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    out[z, y, x] = cuda.laneid


def test_lane_ids_of_a_3d_block():
    out = np.zeros((2, 3, 7), np.int32)
    lanes_3d[1, (7, 3, 2)](out)
    assert out.ravel().tolist() == [t % 32 for t in range(42)]


@cuda.jit
def large_grid(out):
    if cuda.grid(1) == cuda.gridsize(1) - 1:
        out[0] = cuda.grid(1) * 2**20


def test_grid_indices_are_int64():
    out = np.zeros(1, np.int64)
    large_grid[2048, 32](out)
    assert out[0] == (2**16 - 1) * 2**20


HOST = {
    "grid": lambda: cuda.grid(1),
    "gridsize": lambda: cuda.gridsize(1),
    "syncthreads": lambda: cuda.syncthreads(),
    "shared.array": lambda: cuda.shared.array(3, cuda.float32),
}


@pytest.mark.parametrize(("name", "act"), HOST.items())
def test_the_host_has_no_thread(name, act):
    with pytest.raises(KernelSyntaxError) as caught:
        act()
    assert f"cuda.{name} called outside a kernel" in caught.value.what


def test_their_names_are_numbas():
    assert repr(cuda.grid) == "<cuda.grid>"
    assert repr(cuda.threadIdx.x) == "<cuda.threadIdx.x>"
    assert repr(cuda.laneid) == "<cuda.laneid>"
    assert "grid(n)" in cuda.grid.__doc__


@cuda.jit
def grid_of(n, out):
    out[0] = cuda.grid(n)


@pytest.mark.parametrize("n", [0, 4, -1])
def test_grid_takes_1_to_3(n):
    with pytest.raises(KernelTypeError) as caught:
        grid_of[1, 1](n, np.zeros(1))
    assert "1, 2 or 3" in caught.value.why


def test_a_name_comes_between_what_the_engine_gives_and_the_arguments():
    lower = with_name(lambda *given: given, "add")
    assert lower("b", "m", "s", 1, 2) == ("b", "m", "s", "add", 1, 2)
