"""Numbers that do not fit where they go, and operations without a proper result."""

import numpy as np

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32, uint8


@faulty(
    "narrowing_loss",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int8")),
    array="out",
    thread=(12, 0, 0),
)
@cuda.jit
def products_in_int8(x, out):
    """Narrowing: from 13 times 10 on, products do not fit into int8."""
    t = cuda.threadIdx.x
    out[t] = x[t] * 10  # fault


@faulty(
    "narrowing_loss",
    launch=(1, 32),
    arguments=(zeros(32, dtype="uint8"), unwritten(32, dtype="uint8")),
    thread=(0, 0, 0),
)
@cuda.jit
def dark_pixels_wrap_to_bright(image, out):
    """Wrap: a pixel darker than 10 becomes a bright one, because uint8 has no sign."""
    t = cuda.threadIdx.x
    out[t] = image[t] - 10  # fault


@faulty(
    "narrowing_loss",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int64")),
    thread=(31, 0, 0),
)
@cuda.jit
def conversion_drops_digits(x, out):
    """Narrowing: a conversion keeps the low 8 bits of a larger number."""
    t = cuda.threadIdx.x
    out[t] = uint8(x[t] * 8)  # fault


@faulty(
    "narrowing_loss",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int32")),
    thread=(31, 0, 0),
)
@cuda.jit
def factorials_in_int32(x, out):
    """Narrowing: products beyond 2**31 do not fit into int32."""
    t = cuda.threadIdx.x
    out[t] = x[t] * 100_000_000  # fault


@faulty(
    "conversion_out_of_range",
    launch=(1, 32),
    arguments=(zeros(32), unwritten(32, dtype="int32")),
    thread=(0, 0, 0),
)
@cuda.jit
def nan_to_integer(x, out):
    """NaN: 0 / 0 is no number, and no integer either."""
    t = cuda.threadIdx.x
    share = x[t] / x[0]
    out[t] = int32(share)  # fault


@faulty(
    "conversion_out_of_range",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32, dtype="int32")),
    array="out",
    thread=(31, 0, 0),
)
@cuda.jit
def large_float_to_int32(x, out):
    """Out of range: 3e10 is beyond what int32 holds."""
    t = cuda.threadIdx.x
    out[t] = x[t] * float32(1e9)  # fault


@faulty(
    "conversion_out_of_range",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32, dtype="uint8")),
    thread=(0, 0, 0),
)
@cuda.jit
def negative_float_to_pixel(x, out):
    """Out of range: a brightness below zero is stored into uint8."""
    t = cuda.threadIdx.x
    out[t] = x[t] - float32(20)  # fault


@faulty(
    "division_by_zero",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int32")),
    thread=(0, 0, 0),
)
@cuda.jit
def division_by_thread_index(x, out):
    """Division by zero: thread 0 divides by its own index."""
    t = cuda.threadIdx.x
    out[t] = x[t] // t  # fault


@faulty(
    "division_by_zero",
    launch=(1, 32),
    arguments=(ints(32), np.arange(32, dtype=np.int32) % 4, unwritten(32, dtype="i4")),
    thread=(4, 0, 0),
)
@cuda.jit
def remainder_by_an_empty_group(x, sizes, out):
    """Remainder by zero: every fourth group is empty."""
    t = cuda.threadIdx.x
    out[t] = x[t] % sizes[t]  # fault


@faulty(
    "shift_count",
    launch=(1, 65),
    arguments=(unwritten(65, dtype="int64"),),
    thread=(64, 0, 0),
)
@cuda.jit
def shift_by_64(out):
    """Shift count: a 64-bit number has no bit 64."""
    t = cuda.threadIdx.x
    out[t] = 1 << t  # fault


@faulty(
    "shift_count",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int32")),
    thread=(3, 0, 0),
)
@cuda.jit
def negative_shift(x, out):
    """Shift count: counting down from 2 gets below zero at thread 3."""
    t = cuda.threadIdx.x
    out[t] = x[t] >> (2 - t)  # fault


@faulty(
    "float64_arithmetic",
    launch=(1, 32),
    arguments=(floats(32, 8), unwritten(32)),
)
@cuda.jit
def accumulator_of_float64(x, out):
    """float64: the literal 0.0 makes the accumulator float64, and every add with it."""
    t = cuda.threadIdx.x
    total = 0.0
    for k in range(8):
        total += x[t, k]  # fault
    out[t] = total


@faulty(
    "float64_arithmetic",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
)
@cuda.jit
def literal_of_float64(x, out):
    """float64: 0.1 is a float64, so the product is computed in float64."""
    t = cuda.threadIdx.x
    out[t] = x[t] * 0.1  # fault
