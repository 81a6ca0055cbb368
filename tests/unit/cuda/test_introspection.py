"""What can be asked of a kernel, and what is refused."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.introspection import dummy_of_type
from tinytorch_gpu.cuda.types import float32, int32, void
from tinytorch_gpu.errors import SharedMemoryLimitError, UnsupportedError


@cuda.jit("void(int32[:,::1])")
def declared(x):
    cells = cuda.shared.array(1024, cuda.int32)
    cells[0] = 1
    x[0, 0] = cells[0]


@cuda.jit
def plain(x):
    x[0] = 1


ASKS = [
    "inspect_llvm",
    "inspect_asm",
    "inspect_sass",
    "inspect_types",
    "get_regs_per_thread",
    "get_local_mem_per_thread",
]


@pytest.mark.parametrize("name", ASKS)
def test_there_is_no_machine_code_to_ask_about(name):
    with pytest.raises(UnsupportedError, match=name):
        getattr(plain, name)()
    assert getattr(plain, name).__name__ == name


def test_overloads_are_the_declared_signatures():
    assert declared.signatures == [(int32[:, ::1],)]
    assert list(declared.overloads) == declared.signatures
    assert declared.overloads[int32[:, ::1],].signature == void(int32[:, ::1])
    assert plain.signatures == []
    assert plain.overloads == {}


# By hand: a T4 has 40 SMs of 1,024 threads and 64 KiB of shared memory.
def test_blocks_of_a_cooperative_launch():
    assert plain.max_cooperative_grid_blocks(256) == 4 * 40
    assert plain.max_cooperative_grid_blocks((16, 16)) == 4 * 40
    assert plain.max_cooperative_grid_blocks(256, 20 * 1024) == 3 * 40
    overload = declared.overloads[int32[:, ::1],]
    assert overload.max_cooperative_grid_blocks(32) == 16 * 40  # 4 KiB static each
    assert overload.max_cooperative_grid_blocks(32, dynsmemsize=12 * 1024) == 4 * 40
    assert declared.max_cooperative_grid_blocks(32, 12 * 1024) == 4 * 40


def test_more_shared_memory_than_a_block_has_is_refused():
    with pytest.raises(SharedMemoryLimitError):
        plain.max_cooperative_grid_blocks(32, 48 * 1024 + 1)


def test_dummies_of_types():
    array = dummy_of_type(float32[:, :])
    assert (array.element_dtype, len(array.lengths)) == (np.float32, 2)
    assert dummy_of_type(int32) == np.int32(1)
    assert type(dummy_of_type(int32)) is np.int32
    assert dummy_of_type(void) is None
