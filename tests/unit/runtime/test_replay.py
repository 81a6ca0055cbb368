"""Counts that are taken over equal those that would be counted.

Each kernel is launched twice with other data or scalars; the second launch may reuse the
first one's counts only if counting it anew gives the same.
"""

import gc
from typing import NamedTuple

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, memory_allocated, profiler, settings
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.trace import LaunchRecord

N = 256
ZEROS, ONES = np.zeros(N, np.float32), np.ones(N, np.float32)
RAMP = np.linspace(-1, 1, N, dtype=np.float32)


@cuda.jit(device=True)
def cube_of_positive(x, i):
    if x[i] > 0:
        return x[i] * x[i] * x[i]
    return 0.0


@cuda.jit(device=True)
def through_another(x, i):
    return cube_of_positive(x, i)


@cuda.jit
def loads_in_a_device_function(x, out, s):
    i = cuda.grid(1)
    out[i] = cube_of_positive(x, i)


@cuda.jit
def loads_two_calls_down(x, out, s):
    i = cuda.grid(1)
    out[i] = through_another(x, i)


@cuda.jit
def annotated_value(x, out, s):
    i = cuda.grid(1)
    v: float = x[i]
    if v > 0:
        out[i] = v


@cuda.jit
def annotated_scalar(x, out, s):
    i = cuda.grid(1)
    m: int = s * 10
    if i < m:
        out[i] = x[i]


@cuda.jit
def scalar_stride(x, out, s):
    i = cuda.grid(1)
    out[i * s % N] = x[i]


@cuda.jit
def sign_of_a_zero(x, out, s):
    i = cuda.grid(1)
    if 1.0 / s < 0:
        out[i] = x[i]


@cuda.jit
def gather(x, out, s):
    i = cuda.grid(1)
    out[i] = x[int(x[i] * 100)]


@cuda.jit
def branch_on_shared(x, out, s):
    part = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if part[t] > 0:
        out[cuda.grid(1)] = part[t]


@cuda.jit
def lazily_compared(x, out, s):
    i = cuda.grid(1)
    if 0 < x[i] <= x[N - 1 - i]:
        out[i] = 1


@cuda.jit
def loop_over_data(x, out, s):
    i = cuda.grid(1)
    k = 0
    while k < x[i] * 3:
        out[i] = k
        k += 1


@cuda.jit
def only_shapes(x, out, s):
    i = cuda.grid(1)
    v = x[i]
    out[i] = v if v > 0 else float32(0)  # a select, not a branch


KERNELS = [
    loads_in_a_device_function,
    loads_two_calls_down,
    annotated_value,
    annotated_scalar,
    scalar_stride,
    sign_of_a_zero,
    gather,
    branch_on_shared,
    lazily_compared,
    loop_over_data,
    only_shapes,
]


def launched(kernel, data, scalar, **switches):
    x, out = cuda.to_device(data), cuda.to_device(ZEROS)
    with settings.override(**switches), profiler.profile() as prof:
        kernel[4, 64](x, out, scalar)
    return prof.events()[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
@pytest.mark.parametrize("scalars", [(1, 8), (0.0, -0.0), (1.0, np.float32(1.0))])
def test_a_second_launch_has_its_own_counts(kernel, scalars):
    if kernel in {annotated_scalar, scalar_stride} and 0.0 in scalars:
        scalars = (1, 4)
    for data, scalar in [(ZEROS, scalars[0]), (ONES, scalars[1]), (RAMP, scalars[1])]:
        if kernel is scalar_stride:
            scalar = int(scalar)
        if kernel is gather:
            data = np.abs(data)
        given = launched(kernel, data, scalar)
        counted = launched(kernel, data, scalar, replay=False)
        assert given.counts == counted.counts
        assert given.duration_ns == counted.duration_ns


@cuda.jit
def product(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] * y[i]


def multiplied(x, y, out, **switches):
    with settings.override(**switches), profiler.profile() as prof:
        product[4, 64](x, y, out)
    return prof.events()[0]


def test_arguments_that_share_memory_have_counts_of_their_own():
    """What is read twice comes from DRAM once: `x * x`, or rows that overlap."""
    both = cuda.to_device(np.ones(2 * N, np.float32))
    out = cuda.to_device(ZEROS)
    pairs = [(0, 0), (0, N), (0, N // 2)]  # all alike in shape and alignment
    loaded = []
    for first, second in pairs:
        x, y = both[first : first + N], both[second : second + N]
        given, counted = multiplied(x, y, out), multiplied(x, y, out, replay=False)
        assert given.counts.reuse == counted.counts.reuse
        assert given.duration_ns == counted.duration_ns
        loads = [r for r in given.counts.reuse if r.kind == "load"]
        loaded.append(sum(r.together_sectors for r in loads))
    assert loaded == [N // 8, 2 * N // 8, 3 * N // 16]
    x, y = cuda.to_device(ONES), cuda.to_device(ONES)
    apart = multiplied(x, y, out)
    assert not apart.is_replayed
    assert multiplied(y, x, out).is_replayed
    assert sum(r.kind == "load" for r in apart.counts.reuse) == 2


def test_a_kernel_of_shapes_alone_is_replayed():
    launched(only_shapes, ZEROS, 1)
    assert launched(only_shapes, ONES, 2).is_replayed


@cuda.jit
def triangular(x, out, s):
    for q in range(cuda.blockIdx.x + 1):
        out[cuda.grid(1)] = q


@cuda.jit
def uniform(x, out, s):
    for q in range(3):
        out[cuda.grid(1)] = q


@cuda.jit
def by_lane(x, out, s):
    for q in range(3 + 0 * cuda.grid(1)):
        out[cuda.grid(1)] = q


@cuda.jit
def counted_by_hand(x, out, s):
    q = 0
    while q < 3:
        out[cuda.grid(1)] = q
        q += 1


@pytest.mark.parametrize("kernel", [triangular, uniform, by_lane, counted_by_hand])
def test_counts_do_not_depend_on_the_batch(kernel):
    counts = [
        launched(kernel, ZEROS, 1, replay=False, batch_lanes=lanes).counts
        for lanes in (32, 128, 16_384)
    ]
    assert counts[0] == counts[1] == counts[2]


def test_a_loop_counts_its_tests_however_it_is_written():
    branches = {
        launched(kernel, ZEROS, 1, replay=False).counts.total("branches")
        for kernel in (uniform, by_lane, counted_by_hand)
    }
    assert branches == {8 * 4}  # 8 warps, 3 tests that go on and 1 that ends


def test_a_shared_array_of_a_device_function_is_in_the_record():
    @cuda.jit(device=True)
    def scratch(v):
        part = cuda.shared.array(64, float32)
        part[cuda.threadIdx.x] = v
        return part[cuda.threadIdx.x]

    @cuda.jit
    def kernel(x, out, s):
        out[cuda.grid(1)] = scratch(x[cuda.grid(1)])

    assert launched(kernel, ONES, 1).shared_bytes == 64 * 4


def test_one_place_that_touches_two_arrays_counts_each():
    @cuda.jit
    def kernel(x, y, s):
        z = x
        for _ in range(2):
            z[cuda.grid(1)] = 1
            z = y

    x, y = cuda.to_device(ZEROS), cuda.to_device(np.zeros(2 * N, np.float32))
    with profiler.profile() as prof:
        kernel[1, 32](x, y, 1)
    accesses = prof.events()[0].counts.accesses
    assert sorted(a.array_bytes for a in accesses) == [4 * N, 8 * N]


@pytest.mark.parametrize("wrong", [None, 0.5, [1.0], np.ones(4), "shape"])
def test_a_registered_function_that_returns_something_else_is_refused(wrong):
    def returns_it(x):
        return cuda.device_array(3, np.float32) if isinstance(wrong, str) else wrong

    x = cuda.to_device(ONES)
    with (
        library.override("tinytorch::sigmoid", "simgpu", returns_it),
        pytest.raises((TypeError, ValueError), match="returned"),
    ):
        library.call("sigmoid", x)
    assert library.call("sigmoid", x).shape == (N,)


@pytest.mark.parametrize(("dtype", "passes"), [("float32", 1), ("float64", 2)])
@pytest.mark.parametrize("is_uniform", [True, False])
def test_one_shared_word_for_all_lanes_costs_the_same_however_it_is_indexed(
    dtype, passes, is_uniform
):
    kind = np.dtype(dtype)

    @cuda.jit
    def by_a_constant(x, out, s):
        part = cuda.shared.array(32, kind)
        part[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        out[cuda.threadIdx.x] = part[3]

    @cuda.jit
    def by_a_lane_value(x, out, s):
        part = cuda.shared.array(32, kind)
        part[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        out[cuda.threadIdx.x] = part[3 + 0 * cuda.threadIdx.x]

    kernel = by_a_constant if is_uniform else by_a_lane_value
    x, out = cuda.to_device(ZEROS), cuda.to_device(ZEROS)
    with profiler.profile() as prof:
        kernel[2, 32](x, out, 1)
    (load,) = (
        a
        for a in prof.events()[0].counts.accesses
        if (a.space, a.kind) == ("shared", "load")
    )
    assert load.wavefronts == passes * load.requests == passes * 2


class Bounds(NamedTuple):
    n: int
    array: np.ndarray


ON_DEVICE = None  # the test makes it: other tests free all memory of the device


@cuda.jit
def bound_in_a_transposed_array(x, p, out):
    for k in range(x.T[0, 0]):
        out[k] = 1


@cuda.jit
def bound_in_a_field(x, p, out):
    for k in range(p.n):
        out[k] = 1


@cuda.jit
def bound_in_an_array_of_a_field(x, p, out):
    for k in range(p.array[0]):
        out[k] = 1


@cuda.jit
def bound_in_a_captured_array(x, p, out):
    for k in range(ON_DEVICE.T[0, 0]):
        out[k] = 1


def counted(kernel, *arguments):
    """Launch one thread; return its record."""
    with profiler.profile() as prof:
        kernel[1, 1](*arguments)
    return next(e for e in prof.events() if isinstance(e, LaunchRecord))


@pytest.mark.parametrize(
    "kernel",
    [
        bound_in_a_transposed_array,
        bound_in_a_field,
        bound_in_an_array_of_a_field,
        bound_in_a_captured_array,
    ],
    ids=lambda k: k.__name__,
)
def test_what_looks_like_a_shape_but_is_data_has_its_own_counts(kernel, monkeypatch):
    monkeypatch.setitem(globals(), "ON_DEVICE", cuda.to_device(np.array([[3, 9]])))
    stores = []
    for n in (3, 20):
        ON_DEVICE.copy_to_device(np.array([[n, 9]]))
        given = Bounds(n, np.array([n, 0]))
        record = counted(kernel, np.array([[n, 1]]), given, np.zeros(64))
        stores.append([a.requests for a in record.counts.accesses if a.kind == "store"])
    assert stores == [[3], [20]]


def test_a_program_that_is_gone_keeps_nothing_alive():
    gc.collect()  # what earlier tests left
    before = memory_allocated()

    def once():
        table = cuda.to_device(np.zeros(1000))

        @cuda.jit
        def kernel(out):
            out[0] = table[3]

        kernel[1, 1](cuda.to_device(np.zeros(1)))

    once()
    gc.collect()
    assert memory_allocated() == before
