"""What `cuda` means to the one thread that runs."""

import functools
from types import SimpleNamespace

import numpy as np

from tests.reference import functions
from tests.reference.arithmetic import literal
from tests.reference.functions import converter
from tests.reference.memory import Array, lengths
from tinytorch_gpu import cuda

ARITHMETIC = ("popc", "clz", "ffs", "brev", "selp", "fma", "cbrt")
FENCES = ("threadfence", "threadfence_block", "threadfence_system")


class Triple(tuple):
    """`threadIdx` and the like."""

    x = property(lambda self: self[0])
    y = property(lambda self: self[1])
    z = property(lambda self: self[2])

    def __new__(cls, values):
        return super().__new__(cls, map(np.int32, values))


class Thread:
    """Has the names of `cuda`, with the values that they have for one thread.

    Args:
        grid: blocks along x, y, z.
        block: threads along x, y, z.
        shared_bytes: dynamic shared memory of each block.
    """

    def __init__(self, grid, block, shared_bytes=0):
        self.gridDim, self.blockDim = Triple(grid), Triple(block)
        self.warpsize = np.int32(32)
        self.shared_bytes = shared_bytes
        self.shared = SimpleNamespace(array=self._shared_array)
        self.local = SimpleNamespace(array=_local_array)
        self.const = SimpleNamespace(array_like=lambda host: Array(host.copy()))
        self.cg = SimpleNamespace(this_grid=lambda: "the grid; its sync is a request")
        self.atomic = _atomics()
        for name in ARITHMETIC:
            setattr(self, name, getattr(functions, name))
        for name in FENCES:
            setattr(self, name, lambda: None)
        for name in functions.NUMPY_TYPES.split():
            setattr(self, name, converter(name))

    def become(self, block, thread, memory):
        """Be the thread at these coordinates.

        Args:
            block: x, y, z of its block.
            thread: x, y, z within the block.
            memory: the block's shared arrays, by the place that asks for them.
        """
        self.blockIdx, self.threadIdx, self.memory = block, thread, memory
        self.laneid = np.int32(linear(thread, self.blockDim) % 32)

    def grid(self, ndim):
        triples = zip(self.threadIdx, self.blockIdx, self.blockDim, strict=True)
        values = tuple(np.int64(t) + np.int64(b) * np.int64(n) for t, b, n in triples)
        return values[0] if ndim == 1 else values[:ndim]

    def gridsize(self, ndim):
        pairs = zip(self.gridDim, self.blockDim, strict=True)
        sizes = tuple(np.int64(g) * np.int64(b) for g, b in pairs)
        return sizes[0] if ndim == 1 else sizes[:ndim]

    def lanemask_lt(self):
        return np.uint32((1 << int(self.laneid)) - 1)

    def _shared_array(self, place, shape, dtype):
        """Return the block's array of this place in the source.

        An array of 0 elements is all dynamic memory, seen in the dtype.
        """
        dtype = dtype.element_type
        if lengths(shape) == (0,):
            given = self.memory.setdefault("dynamic", np.zeros(self.shared_bytes, "u1"))
            count = self.shared_bytes // dtype.itemsize
            return Array(given[: count * dtype.itemsize].view(dtype))
        return self.memory.setdefault(place, Array(np.zeros(lengths(shape), dtype)))


def _local_array(_place, shape, dtype):
    return Array(np.zeros(lengths(shape), dtype.element_type))


def _atomics():
    """Make `cuda.atomic`."""

    def change(operation, array, index, value):
        return array.atomic(operation, index, value)

    names = {name: functools.partial(change, name) for name in functions.ATOMIC}
    return SimpleNamespace(
        **names,
        cas=lambda array, index, old, value: array.compare_and_swap(index, old, value),
        compare_and_swap=lambda array, old, value: array.compare_and_swap(
            0, old, value
        ),
    )


def linear(place, counts):
    """Number a thread or block; x is fastest."""
    x, y, z = map(int, place)
    return x + int(counts[0]) * (y + int(counts[1]) * z)


def replaced(value, thread):
    """Return what stands for a global of a kernel, or for an argument."""
    if value is cuda:
        return thread
    if isinstance(value, np.ndarray):
        return Array(value)
    for name, of_cuda in vars(cuda).items():
        if value is of_cuda and hasattr(thread, name):
            return getattr(thread, name)
    return literal(value)
