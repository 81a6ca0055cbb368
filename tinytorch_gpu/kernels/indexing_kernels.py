"""Kernels that find an element by an index: gather, scatter, and counting places.

Arrays are views (outer, n, inner); an index picks along n. One thread for each element
of the result, counted along one axis, so that neighbours store side by side; where
they load, the data decides. An index counts from the end if it is negative; any other
that is no place is a fault.

`..._put` stores: of two threads with the same index any may be last. `..._add` adds
with atomics: all of them count, in any order.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from tinytorch_gpu import cuda

__all__ = [
    "compact_kernel",
    "from_start",
    "gather_kernel",
    "index_add_kernel",
    "index_put_kernel",
    "index_select_kernel",
    "linear_index_kernel",
    "scan_step_kernel",
    "scatter_add_kernel",
]


@cuda.jit(device=True)
def from_start(index, length):
    """Return the place from the start of an index that may count from the end."""
    if -length <= index < 0:
        index += length
    return index


@cuda.jit
def index_select_kernel(x, index, out):
    """Store x[row, index[k], col] at out[row, k, col]."""
    element = cuda.grid(1)
    if element < out.size:
        row = element // (out.shape[1] * out.shape[2])
        k = element // out.shape[2] % out.shape[1]
        col = element % out.shape[2]
        found = from_start(int(index[k]), x.shape[1])
        out[row, k, col] = x[row, found, col]


@cuda.jit
def index_put_kernel(index, values, out):
    """Store values[row, k, col] at out[row, index[k], col]."""
    element = cuda.grid(1)
    if element < values.size:
        row = element // (values.shape[1] * values.shape[2])
        k = element // values.shape[2] % values.shape[1]
        col = element % values.shape[2]
        found = from_start(int(index[k]), out.shape[1])
        out[row, found, col] = values[row, k, col]


@cuda.jit
def index_add_kernel(index, values, out):
    """Add values[row, k, col] to out[row, index[k], col]."""
    element = cuda.grid(1)
    if element < values.size:
        row = element // (values.shape[1] * values.shape[2])
        k = element // values.shape[2] % values.shape[1]
        col = element % values.shape[2]
        found = from_start(int(index[k]), out.shape[1])
        cuda.atomic.add(out, (row, found, col), values[row, k, col])


@cuda.jit
def gather_kernel(x, index, out):
    """Store x[row, index[row, k, col], col] at out[row, k, col]."""
    element = cuda.grid(1)
    if element < out.size:
        row = element // (out.shape[1] * out.shape[2])
        k = element // out.shape[2] % out.shape[1]
        col = element % out.shape[2]
        found = from_start(int(index[row, k, col]), x.shape[1])
        out[row, k, col] = x[row, found, col]


@cuda.jit
def scatter_add_kernel(index, values, out):
    """Add values[row, k, col] to out[row, index[row, k, col], col]."""
    element = cuda.grid(1)
    if element < values.size:
        row = element // (values.shape[1] * values.shape[2])
        k = element // values.shape[2] % values.shape[1]
        col = element % values.shape[2]
        found = from_start(int(index[row, k, col]), out.shape[1])
        cuda.atomic.add(out, (row, found, col), values[row, k, col])


@cuda.jit
def linear_index_kernel(before, index, length, total, out):
    """Store before × length + index: two axes counted as one.

    An index that is no place becomes `total`, which is none of the joined axes either.
    """
    k = cuda.grid(1)
    if k < out.size:
        found = from_start(int(index[k]), length)
        is_place = 0 <= found < length and before[k] < total
        out[k] = before[k] * length + found if is_place else total


@cuda.jit
def scan_step_kernel(x, offset, out):
    """Store x[row, k, col] plus what stands `offset` before it along k."""
    element = cuda.grid(1)
    if element < out.size:
        row = element // (out.shape[1] * out.shape[2])
        k = element // out.shape[2] % out.shape[1]
        col = element % out.shape[2]
        value = x[row, k, col]
        if k >= offset:
            value += x[row, k - offset, col]
        out[row, k, col] = value


@cuda.jit
def compact_kernel(flags, counts, out):
    """Store k at the next free place of out for every flag that is set.

    `counts[k]` tells how many flags are set up to and with k.
    """
    k = cuda.grid(1)
    if k < flags.size and flags[k]:
        out[counts[k] - 1] = k
