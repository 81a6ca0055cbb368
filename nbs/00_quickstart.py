# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Quickstart: your own kernel in a training loop, and its bill
#
# A GPU runs a *kernel*: one function, run by thousands of threads. Here you write one for
# `sigmoid`, let TinyTorch train with it on `simgpu`, the simulated GPU, and read what it
# cost, line by line. You need no GPU.

# %%
import math

import numpy as np

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.tinytorch import SGD, Linear, MSELoss, Sequential, Sigmoid, Tensor

print(simgpu.install(gpu="t4"))

# %% [markdown]
# `install` added the device to TinyTorch (your own, if it finds one, and the core that
# ships here). The last two lines tell which ops have a kernel, and which *decompose*: they
# run as their own NumPy code, each step of which is a kernel again.
#
# ## 1. A kernel
#
# Every thread runs the same function and finds out by `cuda.grid(1)` which element is
# its own. There are more threads than elements (blocks are of 256), hence the guard.

# %%
@cuda.jit
def my_sigmoid_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 1 / (1 + math.exp(-x[i]))


x = cuda.to_device(np.linspace(-4, 4, 1000, dtype=np.float32))  # host → device
out = cuda.device_array_like(x)
my_sigmoid_kernel[4, 256](x, out)  # 4 blocks × 256 threads
print(out.copy_to_host()[:3])  # device → host

# %% [markdown]
# The array `x` is in device memory now. The host cannot read it without a copy; try
# `np.asarray(x)` and read the error: what, where, why, fix.

# %%
try:
    np.asarray(x)
except simgpu.errors.HostAccessError as error:
    print(error)

# %% [markdown]
# And without the guard? The 24 threads past the end are told by block, thread and lane.

# %%
@cuda.jit
def no_guard(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


try:
    no_guard[4, 256](x, out)
except simgpu.errors.OutOfBoundsError as error:
    print(error)

# %% [markdown]
# ## 2. Register it
#
# `library.impl` puts a function into the table op × device → kernel. From now on every
# `Sigmoid` of TinyTorch on `simgpu` launches *your* kernel. This is what `torch.library`
# does in PyTorch.

# %%
@library.impl("tinytorch::sigmoid", "simgpu")
def my_sigmoid(x):
    out = cuda.device_array_like(x)
    blocks = (x.size + 255) // 256
    my_sigmoid_kernel[blocks, 256](x.reshape(-1), out.reshape(-1))
    return out


# %% [markdown]
# ## 3. Train
#
# An ordinary loop. The only new words are `.to("simgpu")`, and the profiler around it.

# %%
x = Tensor([[0, 0], [0, 1], [1, 0], [1, 1]]).to("simgpu")
y = Tensor([[0], [1], [1], [0]]).to("simgpu")
model = Sequential(Linear(2, 8), Sigmoid(), Linear(8, 1)).to("simgpu")
optimizer = SGD(model.parameters(), lr=0.5, momentum=0.9)
with profiler.profile() as prof:
    for _step in range(200):
        loss = MSELoss()(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
print("loss", loss.item())

# %% [markdown]
# ## 4. Read the bill

# %%
averages = prof.key_averages()
print(averages.table())

# %% [markdown]
# How to read it:
#
# - **Title.** The GPU that is *modelled*, the modelled time of the whole loop, and how many
#   launches and copies there were. Counts are exact; time is a model.
# - **op, calls, launches.** `sigmoid` was called 200 times and launched its kernel 200
#   times. `matmul_backward` has no kernel of its own (`→ matmul`): it ran as further ops,
#   in whose rows its launches are.
# - **Below an op.** The functions that computed its values, with file and line. Below
#   `sigmoid` it is yours.
# - **sectors/ request.** A *request* is one memory instruction of a warp (32 threads). The
#   memory system moves whole *sectors* of 32 bytes. 32 threads × 4 bytes side by side are
#   4 sectors: the minimum for full warps. These arrays are smaller than a warp, so fewer.
# - **self CPU, self device.** Modelled time that the host was busy (it asks for each
#   launch) and that kernels and copies ran. Both go on at once.
# - **self time, share.** By how much the op lengthened the timeline; the shares add up
#   to 100 %.
# - **total time.** The same with all ops inside: `mse` itself does nothing, and takes the
#   time of its `sub`, `mul` and `mean`.
# - **Last lines.** How many launches were *traced* (every access counted) and how many
#   were *replayed*: the same kernel on the same shapes, whose addresses do not depend on
#   data, has the same counts. Values are always computed.

# %%
print(prof.verdict())

# %% [markdown]
# The verdict: four rows of data keep a GPU busy for no time at all. Each launch costs the
# host microseconds, whatever the kernel does. That is the first thing to know about GPUs:
# *give them enough to do*. The same loop, drawn:

# %%
ax = profiler.plot_bill(averages, row_limit=8)

# %% [markdown]
# ## Where this is in PyTorch
#
# | here | PyTorch on a real GPU |
# |---|---|
# | `x.to("simgpu")` | `x.to("cuda")` |
# | `@cuda.jit` kernel | the same text with `from numba import cuda`, or CUDA C++ |
# | `@library.impl("tinytorch::sigmoid", "simgpu")` | `torch.library.impl("aten::sigmoid", "cuda")` |
# | `profiler.profile()`, `key_averages().table()` | `torch.profiler.profile()`, the same |
# | `sectors/request` | Nsight Compute: `l1tex__average_t_sectors_per_request…` |
#
# `simgpu.uninstall()` takes the device away again and restores TinyTorch as it was.

# %%
simgpu.uninstall()
