"""Conversions, divisions and shifts at the edge of what is defined."""

import numpy as np

from tests.sanitizer.cases import clean, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32, uint8


@clean(
    launch=(1, 32),
    arguments=(ints(32), np.arange(32, dtype=np.int32) % 4, unwritten(32, dtype="i4")),
)
@cuda.jit
def guarded_division(x, sizes, out):
    """Only threads with a divisor other than zero divide."""
    t = cuda.threadIdx.x
    out[t] = x[t] // sizes[t] if sizes[t] != 0 else 0


@clean(launch=(1, 32), arguments=(ints(32), unwritten(32, dtype="int8")))
@cuda.jit
def results_that_fit_int8(x, out):
    """int64 results go into int8, and all of them fit: -128 to 120."""
    t = cuda.threadIdx.x
    out[t] = (x[t] - 1) * 8 - 128


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32, dtype="uint8")))
@cuda.jit
def brightness_clamped_to_a_pixel(x, out):
    """min and max keep the value in range before it is stored."""
    t = cuda.threadIdx.x
    out[t] = uint8(
        min(max(x[t] * float32(20) - float32(100), float32(0)), float32(255))
    )


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32, dtype="int32")))
@cuda.jit
def fraction_dropped_on_purpose(x, out):
    """A float to an integer drops the fraction, as meant."""
    t = cuda.threadIdx.x
    out[t] = int32(x[t] / float32(3))


@clean(launch=(1, 64), arguments=(unwritten(64, dtype="int64"),))
@cuda.jit
def shift_by_up_to_63(out):
    """Bit 63 is the last one of an int64."""
    t = cuda.threadIdx.x
    out[t] = 1 << t


@clean(launch=(1, 32), arguments=(floats(32, 8), unwritten(32)))
@cuda.jit
def accumulator_of_float32(x, out):
    """The start value is float32, and so is everything added to it."""
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(8):
        total += x[t, k] * float32(0.5)
    out[t] = total


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def float_division_by_zero(x, out):
    """Floats have an infinity: 1 / 0 is well defined for them."""
    t = cuda.threadIdx.x
    out[t] = x[t] / float32(t)


@clean(launch=(1, 32), arguments=(ints(32), unwritten(32, dtype="uint32")))
@cuda.jit
def hash_that_keeps_the_low_bits(x, out):
    """The high bits are masked away before the store."""
    t = cuda.threadIdx.x
    out[t] = (x[t] * 2654435761) & 0xFFFFFFFF


@clean(
    launch=(1, 32),
    arguments=(floats(32).astype(np.float64), unwritten(32, dtype="float64")),
)
@cuda.jit
def float64_on_purpose(x, out):
    """The arrays are float64, so float64 arithmetic is what is wanted."""
    t = cuda.threadIdx.x
    out[t] = x[t] * 0.1


@clean(launch=(1, 32), arguments=(zeros(32), unwritten(32, dtype="int32")))
@cuda.jit
def nan_only_where_not_taken(x, out):
    """0 / 0 is NaN, and the guard keeps it from the conversion."""
    t = cuda.threadIdx.x
    share = x[t] / x[0]
    out[t] = int32(share) if share == share else 0  # noqa: PLR0124  (the test for NaN)
