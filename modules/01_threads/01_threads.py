# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
"""
# Threads

> The ops `add` and `neg`: one thread for each element, guarded, and coalesced.

You write the first two GPU kernels of your tensor library: functions that thousands of
threads run at the same time, each for one element. Every exercise has four steps:
**predict** a number, **write** the code, read the **report**, **explain** the difference.
Counts in a report are exact. A time is modelled, and says so.
"""

# %% [markdown]
"""
## 🔗 Prerequisites & Progress

You know Python functions, NumPy arrays and shapes. You will build the kernels behind
`x + y` and `-x` on the device `simgpu`.
"""

# %% [markdown]
"""
## 🎯 Learning Objectives

1. guard a kernel, so that left-over threads do nothing
2. index a matrix with a two-dimensional grid
3. predict the sectors per request of an access: 4, 8 or 32
4. register a kernel as an op, so that `-x` on the device runs your function
"""

# %% [markdown]
"""
## 📦 Where This Code Lives in the Final Package

Cells marked `#| export` become `tinytorch_gpu/kernels/threads.py`; try
`from tinytorch_gpu.kernels.threads import add_kernel`.
"""

# %% [markdown]
"""
## 📋 Module Dependencies

- **Prerequisites**: none; this is the first lesson.
- **External Dependencies**: `numpy`
- **TinyTorch Dependencies**: none; a TinyTorch can be moved to the device later.
- **Dependency Flow**: cuda (the kernel language) → threads → library (ops by name)
"""

# %% nbgrader={"grade": false, "grade_id": "imports", "locked": false, "schema_version": 3, "solution": false, "task": false}
#| default_exp kernels.threads
#| export

# Kernels are written as students write them, without annotations.
# mypy: allow-untyped-defs, no-check-untyped-defs

from tinytorch_gpu import cuda, library
from tinytorch_gpu.kernels.operands import BinaryKernels, Operand
from tinytorch_gpu.kernels.operands import launch_binary, launch_unary
from tinytorch_gpu.kernels.scalar import add_scalar_kernel
from tinytorch_gpu.memory import DeviceArray

# %% nbgrader={"grade": false, "grade_id": "imports-lesson", "locked": false, "schema_version": 3, "solution": false, "task": false}
import numpy as np

from tinytorch_gpu import profiler
from tinytorch_gpu.errors import OutOfBoundsError


def counted(launch):
    """Run one launch and return its record."""
    with profiler.profile() as prof:
        launch()
    return next(record for record in prof.events() if hasattr(record, "grid"))


def report(record):
    """Print what a launch did to memory, access by access."""
    print(f"{record.kernel.name}: grid {record.grid}, block {record.block}")
    for a in record.counts.accesses:
        lanes = f"{a.kind:5} {a.array:3} {a.active_lanes:5} lanes"
        sectors = f"{a.sectors_per_request:4.1f} sectors for each"
        print(f"  {lanes} in {a.requests:3} requests, {sectors}")


def compare(what, count):
    """Print a prediction beside the count."""
    print(f"{what}: predicted {predicted[what]}, counted {count:g}")


def blocks_for(elements, threads):
    """Return how many blocks cover the elements: divide and round up."""
    return -(-elements // threads)


def on_device(*shape):
    """Return 0, 1, 2, ... in a shape, as a host array and as a device array."""
    host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return host, cuda.to_device(host)


# %% [markdown]
"""
## 💡 Introduction: One Function, Many Threads

On the host, adding two arrays is a loop. On a GPU there is no loop: you write what *one*
thread does with *one* element, and launch as many threads as there are elements.

```python
for i in range(n):            # host: one after another
    out[i] = x[i] + y[i]

i = cuda.grid(1)              # kernel: thread number i, all at the same time
out[i] = x[i] + y[i]
```

The function is a **kernel**, the request to run it is a **launch**:
`kernel[grid, block](x, y, out)`. A kernel returns nothing: it writes into `out`.
"""

# %% [markdown]
"""
## 📐 Foundations: Blocks, Warps, Sectors

Threads come in **blocks** of equal size, at most 1024 threads. All blocks together are
the **grid**. A thread finds its number from where it stands:

$$i = \\text{blockIdx.x} \\times \\text{blockDim.x} + \\text{threadIdx.x}$$

`cuda.grid(1)` computes exactly that.

Within a block, 32 consecutive threads form a **warp**: they issue each instruction
together. When a warp loads `x[i]`, its 32 addresses are one **request**. Memory answers
in **sectors** of 32 bytes, always whole:

| the lanes of a warp read | bytes that lie between | sectors |
| --- | --- | --- |
| 32 neighbours of 4 bytes | 128 | 4 |
| every second element | 256 | 8 |
| every eighth element, or farther apart | 1024 or more | 32 |

4 is the minimum for 32 × 4 bytes. An access that needs no more is **coalesced**.

Before each exercise, write your prediction here. A wrong one costs nothing.
"""

# %% nbgrader={"grade": false, "grade_id": "predictions", "locked": false, "schema_version": 3, "solution": false, "task": false}
predicted = {
    "idle threads": 0,
    "requests of a store": 0,
    "blocks": 0,
    "requests of -x": 0,
    "sectors at stride": {1: 0, 2: 0, 8: 0, 16: 0},
}

# %% [markdown]
"""
## 🏗️ Implementation: The Guard

A grid covers n elements in whole blocks: `blocks_for(1000, 256)` is 4, so 1024 threads
start. Those without an element run the kernel too. Unless it stops them, they write past
the end of `out`, and hardware often damages what lies there without a word. The
**guard** is one `if` around the work: `if i < out.size:`.

**Predict**: how many threads idle? And how many requests does the guarded store make? A
warp with at least one active lane makes one.
"""

# %% nbgrader={"grade": false, "grade_id": "add-row", "locked": false, "schema_version": 3, "solution": true, "task": false}
@cuda.jit
def add_row_kernel(x, y, out):
    """Store x + y, for arrays of one axis.

    TODO: Add one element, guarded.

    APPROACH:
    1. Ask for the thread's number with `cuda.grid(1)`.
    2. Compare it with `out.size`.
    3. Inside the `if`: load, add, store.

    EXAMPLE:
    >>> add_row_kernel[blocks_for(1000, 256), 256](x, y, out)
    """
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]
    ### END SOLUTION


# %% [markdown]
"""
### 🧪 Unit Test: Guarded Addition

**What we're testing**: values, and that exactly 1000 lanes store.

**Why it matters**: a missing guard is the commonest mistake in a first kernel.

**Expected**: 1000 active lanes; without the guard, an error that names the idle threads.
"""

# %% nbgrader={"grade": true, "grade_id": "test-add-row", "locked": true, "points": 15, "schema_version": 3, "solution": false, "task": false}
@cuda.jit
def unguarded_kernel(x, y, out):
    """Store x + y; forgets the guard on purpose."""
    i = cuda.grid(1)
    out[i] = x[i] + y[i]


def test_unit_add_row():
    """Test the guarded kernel, and what happens without a guard."""
    print("🧪 Unit Test: Guarded Addition...")
    host, x = on_device(1000)
    out = cuda.device_array(1000, np.float32)
    record = counted(lambda: add_row_kernel[4, 256](x, x, out))
    assert np.array_equal(out.copy_to_host(), host + host), "out should be x + y"
    report(record)
    store = next(a for a in record.counts.accesses if a.kind == "store")
    assert store.active_lanes == 1000, f"{store.active_lanes} lanes store, not 1000"
    compare("idle threads", 4 * 256 - store.active_lanes)
    compare("requests of a store", store.requests)
    try:
        unguarded_kernel[4, 256](x, x, out)
    except OutOfBoundsError as error:
        print(f"Without the guard:\n{error}")
        assert error.lanes_at_fault == 24
    print("✅ add_row_kernel works!")


if __name__ == "__main__":
    test_unit_add_row()

# %% [markdown]
"""
**Explain the difference**: 4 × 256 − 1000 = 24 threads are left over. 1000 = 31 × 32 + 8:
31 full warps and one with 8 active lanes make 32 requests. The last one needs 1 sector,
not 4, so the mean is below 4.0.
"""

# %% [markdown]
"""
## 🏗️ Implementation: Two-Dimensional Grids

A grid may have two axes, for matrices. `cuda.grid(2)` gives the thread's place along x
and along y, **x first**. Threads of a warp are neighbours along x. So x counts columns:
then the lanes of a warp stand side by side in a row of memory.

```python
col, row = cuda.grid(2)
```

**Predict**: a matrix of 70 rows × 100 columns, blocks of 32 × 8 threads (x, y). How many
blocks has the grid?
"""

# %% nbgrader={"grade": false, "grade_id": "add-kernel", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export


@cuda.jit
def add_kernel(x, y, out):
    """Store x + y, for matrices.

    TODO: Add one element of a matrix, guarded along both axes.

    APPROACH:
    1. `col, row = cuda.grid(2)`: x counts columns.
    2. Guard with `out.shape[0]` (rows) and `out.shape[1]` (columns).
    3. Store at `out[row, col]`.
    """
    ### BEGIN SOLUTION
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] + y[row, col]
    ### END SOLUTION


# %% [markdown]
"""
### 🧪 Unit Test: Matrix Addition

**What we're testing**: values for a matrix that no block size divides, and coalescing.

**Why it matters**: every element-wise op of a network, bias and activation, has this form.

**Expected**: 4.0 sectors for each request of a full warp.
"""

# %% nbgrader={"grade": true, "grade_id": "test-add-kernel", "locked": true, "points": 20, "schema_version": 3, "solution": false, "task": false}
def test_unit_add_kernel():
    """Test the two-dimensional kernel."""
    print("🧪 Unit Test: Matrix Addition...")
    for rows, cols in ((64, 64), (70, 100)):
        host, x = on_device(rows, cols)
        out = cuda.device_array((rows, cols), np.float32)
        grid = (blocks_for(cols, 32), blocks_for(rows, 8))
        record = counted(lambda: add_kernel[grid, (32, 8)](x, x, out))
        assert np.array_equal(out.copy_to_host(), host + host), "out should be x + y"
        report(record)
        sectors = record.counts.sectors_per_request
        assert sectors <= 4.0, f"{sectors} sectors, not 4.0: does x count the columns?"
    compare("blocks", record.grid[0] * record.grid[1])
    print("✅ add_kernel works!")


if __name__ == "__main__":
    test_unit_add_kernel()

# %% [markdown]
"""
**Explain the difference**: columns need ⌈100 / 32⌉ = 4 blocks, rows ⌈70 / 8⌉ = 9, 36 in
all. If x counted rows instead, the values would be right and every request would need 32
sectors: no test of values can see that, the report can.
"""

# %% [markdown]
"""
## 🏗️ Implementation: Coalesced and Strided Access

Now let the lanes of a warp read elements that lie apart: lane i reads `x[i * stride]`.

**Predict**: sectors per request for strides of 1, 2 and 8 elements of 4 bytes. And for
16?
"""

# %% nbgrader={"grade": false, "grade_id": "load-strided", "locked": false, "schema_version": 3, "solution": true, "task": false}
@cuda.jit
def load_strided_kernel(x, stride, out):
    """Store every stride-th element of x, for arrays of one axis.

    TODO: Load `x[i * stride]`, store `out[i]`, guarded.

    APPROACH: number the threads as in `add_row_kernel`; guard by `out`, the shorter.
    """
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * stride]
    ### END SOLUTION


# %% [markdown]
"""
### 🧪 Unit Test: Strided Loads

**What we're testing**: values, and the exact sectors per request for four strides.

**Why it matters**: most kernels wait for memory, and memory moves whole sectors.

**Expected**: a load that costs up to 8 times the store.
"""

# %% nbgrader={"grade": true, "grade_id": "test-load-strided", "locked": true, "points": 25, "schema_version": 3, "solution": false, "task": false}
def test_unit_load_strided():
    """Test the strided load."""
    print("🧪 Unit Test: Strided Loads...")
    host, x = on_device(16 * 1024)
    for stride, sectors in {1: 4, 2: 8, 8: 32, 16: 32}.items():
        out = cuda.device_array(1024, np.float32)
        run = load_strided_kernel[4, 256]
        record = counted(lambda: run(x, stride, out))
        expected = host[::stride][:1024]
        assert np.array_equal(out.copy_to_host(), expected), f"wrong for {stride}"
        per_kind = {a.kind: a.sectors_per_request for a in record.counts.accesses}
        assert per_kind == {"load": sectors, "store": 4}, f"{stride}: {per_kind}"
        guess = predicted["sectors at stride"][stride]
        print(f"stride {stride}: predicted {guess}, counted {per_kind['load']:g}")
    print("✅ load_strided_kernel works!")


if __name__ == "__main__":
    test_unit_load_strided()

# %% [markdown]
"""
**Explain the difference**: a warp spans 32 × 4 × stride bytes, and a sector is 32 bytes:
4 × stride sectors. From stride 8 on each lane has a sector of its own, and 32 lanes touch
no more than 32: stride 16 costs as much as stride 8.
"""

# %% [markdown]
"""
## 🔧 Integration: Kernels Become Ops

`x + y` on the device asks the **library** for the op `tinytorch::add` and calls the
function that was registered last. That function runs on the host. It allocates `out`,
launches, and returns it. Here is the one for `add`: `launch_binary` broadcasts the
operands to rows × columns, and chooses grid and block as you did above.
"""

# %% nbgrader={"grade": false, "grade_id": "add-op", "locked": false, "schema_version": 3, "solution": false, "task": false}
#| export


@library.impl("tinytorch::add", "simgpu")
def add(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return x + y, element by element; one operand may be a scalar.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.arange(3, dtype=np.float32))
        >>> add(x, 1).copy_to_host().tolist()
        [1.0, 2.0, 3.0]
    """
    kernels = BinaryKernels(add_kernel, add_scalar_kernel, add_scalar_kernel)
    return launch_binary("add", kernels, x, y, out)


# %% [markdown]
"""
**Predict**: `-x` for a matrix of 64 × 64: how many requests does its one launch make,
loads and stores together?
"""

# %% nbgrader={"grade": false, "grade_id": "neg-op", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export


@cuda.jit
def neg_kernel(x, out):
    """Store -x, for matrices.

    TODO: As `add_kernel`, with one operand.

    APPROACH: index, guard, load, negate, store.
    """
    ### BEGIN SOLUTION
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = -x[row, col]
    ### END SOLUTION


@library.impl("tinytorch::neg", "simgpu")
def neg(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return -x, element by element.

    TODO: Launch `neg_kernel` for x of any shape.

    APPROACH: call `launch_unary` with the op's name, the kernel, x and `out`.

    Example:
        >>> import numpy as np
        >>> neg(cuda.to_device(np.float32([1, -2]))).copy_to_host().tolist()
        [-1.0, 2.0]
    """
    ### BEGIN SOLUTION
    return launch_unary("neg", neg_kernel, x, out)
    ### END SOLUTION


# %% [markdown]
"""
### 🧪 Unit Test: Registered Ops

**What we're testing**: `-x` and `x + y` run the functions above, for any shape.

**Why it matters**: from here on TinyTorch's own code runs on your kernels.

**Expected**: values as NumPy's, and the kernel's name in the record.
"""

# %% nbgrader={"grade": true, "grade_id": "test-neg-op", "locked": true, "points": 20, "schema_version": 3, "solution": false, "task": false}
def test_unit_ops():
    """Test both ops through operators."""
    print("🧪 Unit Test: Registered Ops...")
    host, x = on_device(64, 64)
    record = counted(lambda: -x)
    report(record)
    assert record.kernel.name == "neg_kernel", f"{record.kernel.name} ran"
    compare("requests of -x", record.counts.requests)
    for shape in ((), (7,), (5, 3), (2, 3, 4)):
        host, x = on_device(*shape)
        assert np.array_equal((-x).copy_to_host(), -host), f"-x for shape {shape}"
        assert np.array_equal((1 + x + x).copy_to_host(), 1 + host + host), shape
    print("✅ add and neg are ops!")


if __name__ == "__main__":
    test_unit_ops()

# %% [markdown]
"""
**Explain the difference**: 4096 elements are 128 warps, and each warp makes one load and
one store: 256 requests. The shape does not matter: contiguous rows are joined to one.
"""

# %% [markdown]
"""
## 📊 Systems Analysis: What a Transposed View Costs

A transpose moves nothing: it swaps the strides. Whoever reads the view pays: along a
column of `x.T` neighbours lie a whole row apart. Counts are exact, times are modelled.
At 512 × 512 both arrays fit into the L2 cache of the modelled GPU, which serves the extra
sectors; at 1024 × 1024 they do not, and DRAM has to.
"""

# %% nbgrader={"grade": false, "grade_id": "analyze-transpose", "locked": false, "schema_version": 3, "solution": false, "task": false}
def analyze_transpose():
    """Compare x + x with x + x.T."""
    for n in (512, 1024):
        _, x = on_device(n, n)
        for name, y in (("x + x", x), ("x + x.T", x.T)):
            record = counted(lambda: x + y)
            print(
                f"{n:4} {name:8} {record.counts.sectors:8,} sectors, "
                f"{record.counts.sectors_per_request:4.1f} for each request, "
                f"{record.duration_ns / 1000:6.1f} µs modelled"
            )


if __name__ == "__main__":
    analyze_transpose()

# %% [markdown]
"""
## 🧪 Module Integration Test
"""

# %% nbgrader={"grade": true, "grade_id": "test-module", "locked": true, "points": 10, "schema_version": 3, "solution": false, "task": false}
def test_module():
    """Run all unit tests, then a chain of ops."""
    test_unit_add_row()
    test_unit_add_kernel()
    test_unit_load_strided()
    test_unit_ops()
    print("🧪 Integration Test: A Chain of Ops...")
    host, x = on_device(33, 65)
    bias_host, bias = on_device(65)
    result = -(x + bias) + x.T.T
    assert np.array_equal(result.copy_to_host(), -(host + bias_host) + host)
    print("✅ All tests passed!")


# %% [markdown]
"""
## 🤔 ML Systems Reflection Questions

### Question 1: The Last Block

33 rows, 256 threads a block: how many threads idle? Does it matter? For 33 million rows?

### Question 2: Rows or Columns

An image is stored as (channel, row, column) or as (row, column, channel). One thread for
each pixel reads one of 3 float32 channels: how many sectors does a request need in each?
"""

# %% [markdown]
"""
## ⭐ Aha Moment: Same Values, Other Bill
"""

# %% nbgrader={"grade": false, "grade_id": "demo-threads", "locked": false, "schema_version": 3, "solution": false, "task": false}
def demo_threads():
    """Run your ops through operators, and read the bill."""
    _, x = on_device(256, 256)
    with profiler.profile() as prof:
        x + x
        x + x.T
        -x
    print(prof.key_averages())


# %%
if __name__ == "__main__":
    test_module()
    print("\n")
    demo_threads()

# %% [markdown]
"""
## 🚀 MODULE SUMMARY: Threads

### Key Accomplishments
- You launched grids of threads, with a guard for the ones left over.
- You wrote two kernels, and registered them as the ops `add` and `neg`.

### Systems Insights Discovered
- A request of a warp moves 4 sectors at best and 32 at worst, for the same 128 bytes.
- Which index x counts decides between the two. Values do not show it, counts do.

### Ready for Next Steps
Your kernels treat every element alone. A sum needs threads that work together.

Export with: `python scripts/build_notebooks.py`

**Next**: reductions, where the threads of a block share memory and wait for each other.
"""
